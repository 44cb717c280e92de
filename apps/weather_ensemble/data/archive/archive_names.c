/* archive_names.c - what the fields of files are called in an archive: by the tables, by the rows
 * of data.names.rename, in the units of the tables. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "data/archive/archive_cube.h"

enum { LEVELS_STATED, LEVELS_HPA, LEVELS_PA, LEVELS_M, MOST_RENAMES = 256 };

static const weir_opt rename_options[] = {
    WEIR_OPT_STRING(wx_rename, from, "",
                    "name of the variable in the file, or the short name that it has otherwise"),
    WEIR_OPT_STRING(wx_rename, to, "",
                    "ECMWF short name, as z or 2t; values are converted from the units of the file "
                    "(a geopotential height gh to the geopotential z by 9.80665 m s-2); empty: "
                    "keeps its name"),
    WEIR_OPT_STRING(wx_rename, units, "", "units of files that state none"),
    WEIR_OPT_REAL(wx_rename, level, 0, 0, 2000, "hPa",
                  "pressure level of files that have no level coordinate; 0: surface"),
    WEIR_OPT_END,
};

const weir_opt wx_archive_names_options[] = {
    WEIR_OPT_LIST(wx_archive_names, rename, wx_rename, rename_options, MOST_RENAMES,
                  "names, units and levels for fields of forecast and truth that files state "
                  "otherwise or not at all, as [{from: gh, to: z}]"),
    WEIR_OPT_ENUM(wx_archive_names, level_units, LEVELS_STATED, "stated|hPa|Pa|m",
                  "units of level coordinates that have no attribute units (WeatherBench 2: hPa); "
                  "stated: such files are refused"),
    WEIR_OPT_END,
};

static const wx_archive_names *names_of(const wx_index *index)
{
  static const wx_archive_names none = {.level_units = LEVELS_STATED};

  return index->how->names != NULL ? index->how->names : &none;
}

const char *wx_index_level_units(const wx_index *index)
{
  static const char *const units[] = {"", "hPa", "Pa", "m"};

  return units[names_of(index)->level_units];
}

/* The row of a field: by the name in the file, else by the name that the tables give it. */
static const wx_rename *row_of(const wx_archive_names *names, const char *own,
                               const wx_quantity *complete)
{
  const wx_rename *const rows = names->rename.items;

  for (int64_t i = 0; i < names->rename.count; i++) {
    if (strcmp(rows[i].from, own) == 0) {
      return &rows[i];
    }
  }
  for (int64_t i = 0; i < names->rename.count; i++) {
    if (strcmp(rows[i].from, complete->variable) == 0) {
      return &rows[i];
    }
  }
  return NULL;
}

/* What the file does not say. */
static void take_row(const wx_rename *row, wx_quantity *q)
{
  if (q->units[0] == 0) {
    (void)snprintf(q->units, sizeof q->units, "%s", row->units);
  }
  if (row->level > 0 && q->kind == WX_LEVEL_SURFACE) {
    q->kind = WX_LEVEL_PRESSURE;
    q->level = row->level;
  }
}

weir_status wx_index_name(const wx_index *index, const char *own, wx_quantity *q, wx_naming *out)
{
  const char *const path = index->a->files[index->now].path;
  wx_quantity complete = *q;
  char stated[WX_SHORT];

  *out = (wx_naming){.by = {1, 0}};
  wx_quantity_complete(&complete);
  const wx_rename *const row = row_of(names_of(index), own, &complete);

  if (row == NULL) {
    *q = complete;
    (void)snprintf(stated, sizeof stated, "%s", q->units);
    out->by = wx_quantity_convert(q);
  } else {
    take_row(row, q);
    (void)snprintf(stated, sizeof stated, "%s", q->units);
    out->renamed = true;
    if (row->to[0] == 0) {
      wx_quantity_complete(q);
      out->by = wx_quantity_convert(q);
    } else if (!wx_quantity_rename(q, row->to, &out->by)) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: %s: data.names.rename makes it %s, and its units '%s' are none that %s "
                       "is converted from%s",
                       path, own, row->to, stated, row->to,
                       stated[0] == 0 ? ": state them in the row, as units: m" : "");
    }
  }
  if (out->by.scale != 1 || out->by.offset != 0) {
    weir_debug("archive", "%s: %s in %s becomes %s in %s: times %.9g, plus %.9g", path, own, stated,
               q->name, q->units, out->by.scale, out->by.offset);
  }
  return WEIR_OK;
}

static const wx_converted *find(const wx_file *f, int64_t quantity)
{
  for (int64_t i = 0; i < f->n_converted; i++) {
    if (f->converted[i].quantity == quantity) {
      return &f->converted[i];
    }
  }
  return NULL;
}

const wx_naming *wx_archive_converted(const wx_file *f, int64_t quantity)
{
  const wx_converted *const c = find(f, quantity);

  return c != NULL && (c->as.renamed || c->as.by.scale != 1 || c->as.by.offset != 0) ? &c->as
                                                                                     : NULL;
}

weir_status wx_archive_convert(wx_file *f, const wx_quantity *q, int64_t quantity,
                               const wx_naming *as)
{
  const wx_converted *const before = find(f, quantity);

  if (before != NULL) {
    return before->as.by.scale == as->by.scale && before->as.by.offset == as->by.offset
               ? WEIR_OK
               : weir_fail(WEIR_ERR_DATA,
                           "%s: %s stands in it under two names, in two units: leave one out",
                           f->path, q->name);
  }
  WEIR_TRY(weir_reserve(&f->converted, &f->converted_capacity, f->n_converted + 1,
                        sizeof *f->converted));
  f->converted[f->n_converted++] = (wx_converted){.quantity = quantity, .as = *as};
  return WEIR_OK;
}

/* A quantity of that variable on the level of a name, which is variable and level; -1: none. */
static int64_t find_on_level(const wx_archive_info *f, int64_t param, const char *level)
{
  for (int64_t k = 0; k < f->n_quantities; k++) {
    const wx_quantity *const q = &f->quantity[k];

    if (q->param == param && strcmp(q->name + strlen(q->variable), level) == 0) {
      return k;
    }
  }
  return -1;
}

void wx_archive_hint(const wx_archive_info *f, const char *name, char *text, size_t size)
{
  const bool is_height = strncmp(name, "gh", 2) == 0;
  const char *const letters = "abcdefghijklmnopqrstuvwxyz";
  const size_t n = strspn(name, letters);
  const int64_t other = is_height || strncmp(name, "z", 1) == 0
                            ? find_on_level(f, is_height ? WX_GRIB_GEOPOTENTIAL : WX_GRIB_HEIGHT,
                                            name + (is_height ? 2 : 1))
                            : -1;

  text[0] = 0;
  if (other >= 0) {
    (void)snprintf(text, size,
                   "; %s is there: --set data.names.rename='[{from: %s, to: %s}]' converts it",
                   f->quantity[other].name, is_height ? "z" : "gh", is_height ? "gh" : "z");
    return;
  }
  for (int64_t k = 0; k < f->n_quantities; k++) {
    const wx_quantity *const q = &f->quantity[k];

    if (q->kind == WX_LEVEL_SURFACE && strlen(q->variable) == n && name[n] != 0 &&
        strncmp(q->variable, name, n) == 0) {
      (void)snprintf(text, size,
                     "; %s is there without a level: --set data.names.rename='[{from: %s, level: "
                     "%s}]' says which it is on",
                     q->name, q->variable, name + n);
    }
  }
}
