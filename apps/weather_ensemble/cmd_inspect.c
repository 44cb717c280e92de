/* cmd_inspect.c - what archives hold: grid, times, quantities with their statistics, and what is
 * missing; as text, and with --out as tables. */
#include <math.h>
#include <stdio.h>
#include "base/weir_alloc.h"
#include "data/archive/timeline.h"
#include "data/date.h"
#include "report/weir_report.h"
#include "commands.h"

enum { TEXT = 64, PERCENT = 100, QUANTITY_COLUMNS = 19, RUN_COLUMNS = 7 };

/* One side: data.forecast or data.truth. */
typedef struct side {
  const char *name;
  const weir_string_list *paths;
  wx_archive *archive; /* NULL: not given */
  wx_inventory inventory;
  wx_timeline times;
} side;

static const char *const quantity_head[QUANTITY_COLUMNS] = {
    "archive", "quantity", "variable", "standard_name", "level",  "level_units",
    "units",   "method",   "lead_h",   "period_h",      "fields", "fields_expected",
    "values",  "missing",  "share",    "min",           "mean",   "max",
    "sd"};
static const char *const run_head[RUN_COLUMNS] = {"archive", "first",  "last",           "times",
                                                  "state",   "fields", "fields_expected"};

/* ---- Text ---- */

/* The distance of rows or columns where all are equally far apart; else the range of distances. */
static void spacing_text(const double *x, int64_t n, char *text, size_t size)
{
  double lo = INFINITY, hi = 0;

  for (int64_t i = 1; i < n; i++) {
    lo = fmin(lo, fabs(x[i] - x[i - 1]));
    hi = fmax(hi, fabs(x[i] - x[i - 1]));
  }
  if (n < 2) {
    (void)snprintf(text, size, "one");
  } else if (hi - lo <= 1e-3 * hi) {
    (void)snprintf(text, size, "%.6g", fabs(x[n - 1] - x[0]) / (double)(n - 1));
  } else {
    (void)snprintf(text, size, "%.6g to %.6g", lo, hi);
  }
}

static void print_resolution(const wx_grid *g)
{
  char rows[TEXT], columns[TEXT];

  if (g->kind != WX_GRID_LATLON && g->kind != WX_GRID_PLANE) {
    return;
  }
  spacing_text(g->lat, g->n_lat, rows, sizeof rows);
  spacing_text(g->lon, g->n_lon, columns, sizeof columns);
  printf("#   resolution: %s %s between rows, %s %s between columns%s\n", rows,
         g->kind == WX_GRID_LATLON ? "degrees" : g->units[0], columns,
         g->kind == WX_GRID_LATLON ? "degrees" : g->units[1],
         g->wraps ? "; full circle of longitude" : "");
}

static void print_leads(const wx_archive_info *f)
{
  char each[TEXT];

  spacing_text(f->lead, f->n_leads, each, sizeof each);
  if (f->n_leads > 2) {
    printf("#   lead times: %s h apart\n", each);
  }
}

/* Intervals of initialisation times, the most frequent ones by name. */
static void print_intervals(const wx_timeline *t, int64_t listed)
{
  char each[TEXT];

  if (t->step == 0) {
    return;
  }
  wx_timeline_interval_text(t, t->step, each, sizeof each);
  printf("#   every %s, %lld missing", each, (long long)t->missing);
  for (int64_t i = 0; t->n_intervals > 1 && i < t->n_intervals && i < listed; i++) {
    wx_timeline_interval_text(t, t->interval[i].length, each, sizeof each);
    printf("%s %s (%lld times)", i == 0 ? "; intervals:" : ",", each,
           (long long)t->interval[i].count);
  }
  printf(t->n_intervals > 1 && t->n_intervals > listed ? ", ...\n" : "\n");
}

/* The initialisation times that are not complete. */
static void print_runs(const wx_timeline *t, int64_t listed)
{
  char first[32], last[32];
  int64_t seen = 0;

  for (int64_t i = 0; i < t->n_runs; i++) {
    const wx_time_run *const r = &t->run[i];

    if (r->is == WX_COMPLETE || seen++ >= listed) {
      continue;
    }
    wx_date_text((double)r->first / 86400, first, sizeof first);
    wx_date_text((double)r->last / 86400, last, sizeof last);
    printf("#   %s: %s%s%s, %lld time%s", wx_presence_name[r->is], first, r->n > 1 ? " to " : "",
           r->n > 1 ? last : "", (long long)r->n, r->n > 1 ? "s" : "");
    printf(r->is == WX_INCOMPLETE ? ", %lld fields absent\n" : "\n", (long long)r->absent);
  }
  if (seen > listed) {
    printf("#   and %lld more such times in a row (inspect.listed; --out DIR writes all)\n",
           (long long)(seen - listed));
  }
}

static void print_notes(const wx_attrs *notes)
{
  for (int i = 0; notes != NULL && i < notes->n; i++) {
    if (notes->note[i].text[0] != 0) {
      printf("#   %s: %s\n", notes->note[i].name, notes->note[i].text);
    }
  }
}

static weir_status print_size(const side *s)
{
  const wx_archive_info *f = wx_archive_get(s->archive);
  wx_file_names files = {.n = 0};
  char disk[WEIR_AMOUNT_SIZE], memory[WEIR_AMOUNT_SIZE];
  int64_t fields = 0, expected = 0;

  WEIR_TRY(wx_file_names_find(s->paths->items, s->paths->count, &files));
  for (int64_t i = 0; i < s->inventory.n; i++) {
    fields += s->inventory.line[i].fields;
    expected += s->inventory.line[i].expected;
  }
  printf("#   %lld of %lld fields of %lld values: %s as 32-bit numbers, %s on disk\n",
         (long long)fields, (long long)expected, (long long)wx_grid_cells(&f->grid),
         weir_amount_bytes(4 * (double)fields * (double)wx_grid_cells(&f->grid), memory),
         weir_amount_bytes((double)wx_file_names_bytes(&files), disk));
  wx_file_names_fini(&files);
  return WEIR_OK;
}

/* ---- Tables ---- */

static void level_text(const wx_quantity *q, char *text, size_t size)
{
  if (q->kind == WX_LEVEL_SURFACE) {
    (void)snprintf(text, size, "surface");
  } else {
    (void)snprintf(text, size, "%g %s", q->level, q->kind == WX_LEVEL_PRESSURE ? "hPa" : "m");
  }
}

/* Hours that values cover, of one lead or of all: "", "6", "0 to 48", "unstated". */
static void period_text(const wx_archive_info *f, const wx_inventory_line *l, char *text,
                        size_t size)
{
  double lo = INFINITY, hi = -INFINITY;

  for (int64_t k = 0; k < f->n_leads; k++) {
    const double p = wx_archive_period(f, l->quantity, k);

    if (l->lead < 0 || l->lead == k) {
      lo = isnan(p) ? p : fmin(lo, p);
      hi = fmax(hi, p);
    }
    if (isnan(lo)) {
      (void)snprintf(text, size, "unstated");
      return;
    }
  }
  text[0] = 0;
  if (hi > 0) {
    (void)snprintf(text, size, lo == hi ? "%g" : "%g to %g", lo, hi);
  }
}

static double share(const wx_inventory_line *l, bool read)
{
  const double all = (double)(l->values + l->missing);

  return read && all > 0 ? (double)l->missing / all : NAN;
}

static weir_status print_quantities(const side *s, bool read)
{
  static const char *const head[] = {"quantity",  "level", "units", "period h", "fields", "absent",
                                     "missing %", "min",   "mean",  "max",      "stdev"};
  const wx_archive_info *f = wx_archive_get(s->archive);
  weir_table t = {.count = 0};
  char text[TEXT];

  for (int64_t k = 0; k < f->n_quantities; k++) {
    const wx_quantity *const q = &f->quantity[k];
    const wx_inventory_line l = wx_inventory_pool(&s->inventory, k);
    const double value[] = {PERCENT * share(&l, read), l.min, l.mean, l.max, l.sd};

    weir_table_add(&t, "%s", q->name);
    level_text(q, text, sizeof text);
    weir_table_add(&t, "%s", text);
    weir_table_add(&t, "%s", q->units);
    period_text(f, &l, text, sizeof text);
    weir_table_add(&t, "%s%s%s", q->method, q->method[0] != 0 ? " " : "", text);
    weir_table_add(&t, "%lld", (long long)l.fields);
    weir_table_add(&t, "%lld", (long long)(l.expected - l.fields));
    for (size_t i = 0; i < sizeof value / sizeof value[0]; i++) {
      weir_table_add_number(&t, "%.6g", value[i], "-");
    }
  }
  const weir_status status = t.status;

  if (status == WEIR_OK) {
    weir_table_print(&t, (int)(sizeof head / sizeof head[0]), head, stdout);
  }
  weir_table_fini(&t);
  return status;
}

/* A row of inspect.csv. */
static void add_line(weir_table *t, const side *s, const wx_inventory_line *l, bool read)
{
  const wx_archive_info *f = wx_archive_get(s->archive);
  const wx_quantity *const q = &f->quantity[l->quantity];
  const double value[] = {share(l, read), l->min, l->mean, l->max, l->sd};
  char text[TEXT];

  weir_table_add(t, "%s", s->name);
  weir_table_add(t, "%s", q->name);
  weir_table_add(t, "%s", q->variable);
  weir_table_add(t, "%s", q->standard_name);
  weir_table_add_number(t, "%g", q->kind == WX_LEVEL_SURFACE ? NAN : q->level, "");
  weir_table_add(t, "%s",
                 q->kind == WX_LEVEL_SURFACE    ? ""
                 : q->kind == WX_LEVEL_PRESSURE ? "hPa"
                                                : "m");
  weir_table_add(t, "%s", q->units);
  weir_table_add(t, "%s", q->method);
  if (l->lead < 0) {
    weir_table_add(t, "all");
  } else {
    weir_table_add(t, "%.9g", f->lead[l->lead]);
  }
  period_text(f, l, text, sizeof text);
  weir_table_add(t, "%s", text);
  weir_table_add(t, "%lld", (long long)l->fields);
  weir_table_add(t, "%lld", (long long)l->expected);
  weir_table_add(t, "%lld", (long long)l->values);
  weir_table_add(t, "%lld", (long long)l->missing);
  for (size_t i = 0; i < sizeof value / sizeof value[0]; i++) {
    weir_table_add_number(t, "%.9g", value[i], "");
  }
}

static void add_quantities(weir_table *t, const side *s, bool read)
{
  const wx_archive_info *f = wx_archive_get(s->archive);

  for (int64_t k = 0; k < f->n_quantities; k++) {
    const wx_inventory_line all = wx_inventory_pool(&s->inventory, k);

    add_line(t, s, &all, read);
    for (int64_t i = 0; i < s->inventory.n; i++) {
      const wx_inventory_line *const l = &s->inventory.line[i];

      if (l->quantity == k && l->fields > 0) {
        add_line(t, s, l, read);
      }
    }
  }
}

/* Rows of init_times.csv. */
static void add_runs(weir_table *t, const side *s)
{
  const wx_archive_info *f = wx_archive_get(s->archive);
  int64_t each = 0;
  char first[32], last[32];

  for (int64_t i = 0; i < s->inventory.n; i++) {
    each += s->inventory.line[i].fields > 0 ? f->n_members : 0;
  }
  for (int64_t i = 0; i < s->times.n_runs; i++) {
    const wx_time_run *const r = &s->times.run[i];
    const int64_t expected = r->n * each;

    wx_date_text((double)r->first / 86400, first, sizeof first);
    wx_date_text((double)r->last / 86400, last, sizeof last);
    weir_table_add(t, "%s", s->name);
    weir_table_add(t, "%s", first);
    weir_table_add(t, "%s", last);
    weir_table_add(t, "%lld", (long long)r->n);
    weir_table_add(t, "%s", wx_presence_name[r->is]);
    weir_table_add(t, "%lld", (long long)(r->is == WX_MISSING ? 0 : expected - r->absent));
    weir_table_add(t, "%lld", (long long)expected);
  }
}

static weir_status write_tables(const char *dir, const side *sides, int n, bool read)
{
  weir_table quantities = {.count = 0}, runs = {.count = 0};
  weir_status status = WEIR_OK;

  for (int k = 0; k < n; k++) {
    if (sides[k].archive != NULL) {
      add_quantities(&quantities, &sides[k], read);
      add_runs(&runs, &sides[k]);
    }
  }
  WEIR_TRY_GOTO(
      weir_table_write_csv(&quantities, dir, "inspect.csv", QUANTITY_COLUMNS, quantity_head), done);
  WEIR_TRY_GOTO(weir_table_write_csv(&runs, dir, "init_times.csv", RUN_COLUMNS, run_head), done);
done:
  weir_table_fini(&quantities);
  weir_table_fini(&runs);
  return status;
}

/* ---- The command ---- */

static weir_status inspect_side(const wx_cfg *cfg, side *s)
{
  const bool read = cfg->inspect.statistics;
  const wx_archive_info *const f = wx_archive_get(s->archive);

  wx_print_archive(f, s->name);
  print_resolution(&f->grid);
  (void)fflush(stdout); /* reading takes its time */
  WEIR_TRY(read ? wx_inventory_take(s->archive, NULL, &s->inventory)
                : wx_inventory_count(s->archive, &s->inventory));
  WEIR_TRY(wx_timeline_create(f->start, f->n_init_times, s->inventory.absent_at, &s->times));
  print_intervals(&s->times, cfg->inspect.listed);
  print_runs(&s->times, cfg->inspect.listed);
  print_leads(f);
  WEIR_TRY(print_size(s));
  print_notes(f->notes);
  return print_quantities(s, read);
}

static weir_status inspect_sides(weir_job *j, side *sides, int n)
{
  const wx_cfg *const cfg = j->cfg;
  wx_archive_in how = cfg->data.grib;

  how.regrid = true; /* what prepare can bring to a grid is shown as it is */
  for (int k = 0; k < n; k++) {
    if (sides[k].paths->count > 0) {
      WEIR_TRY((k == 0 ? wx_archive_open_as : wx_archive_open_truth)(
          sides[k].paths->items, (int)sides[k].paths->count, &how, &sides[k].archive));
    }
  }
  WEIR_TRY(j->cli->out != NULL ? weir_run_dir_commit(&j->dir) : WEIR_OK);
  for (int k = 0; k < n; k++) {
    WEIR_TRY(sides[k].archive != NULL ? inspect_side(cfg, &sides[k]) : WEIR_OK);
  }
  return j->cli->out != NULL ? write_tables(j->cli->out, sides, n, cfg->inspect.statistics)
                             : WEIR_OK;
}

static weir_status inspect(weir_job *j)
{
  const wx_cfg *const cfg = j->cfg;
  side sides[] = {{.name = "forecast", .paths = &cfg->data.forecast},
                  {.name = "truth", .paths = &cfg->data.truth}};
  enum { N = sizeof sides / sizeof sides[0] };

  WEIR_TRY(j->cli->out != NULL ? weir_job_begin(j, "inspect", false) : WEIR_OK);
  const weir_status status = inspect_sides(j, sides, N);

  for (int k = 0; k < N; k++) {
    wx_timeline_fini(&sides[k].times);
    wx_inventory_fini(&sides[k].inventory);
    wx_archive_close(&sides[k].archive);
  }
  return status;
}

weir_status wx_cmd_inspect(const weir_cli *cli)
{
  wx_cfg cfg;

  return weir_job_run(cli, &wx_program, &cfg, inspect);
}
