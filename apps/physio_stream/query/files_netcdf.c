/* files_netcdf.c - results.nc: a variable a stream, a time dimension a clock. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/record_time.h"
#include "model/beat_features.h"
#include "query/files_priv.h"

enum { BLOCK = 16384, MAX_CLOCKS = WEIR_QUERY_COLUMNS };

/* A clock: the dimension, and its coordinate. */
typedef struct time_axis {
  int64_t rate_num, rate_den, slots;
  int dim, var;
  char name[64];
} time_axis;

typedef struct results {
  ps_files *files;
  time_axis clock[MAX_CLOCKS];
  int n_clocks;
  bool wanted[WEIR_QUERY_COLUMNS];
  int var[WEIR_QUERY_COLUMNS];
  float block[BLOCK];
  int64_t time[BLOCK];
} results;

static time_axis *clock_of(results *w, const weir_query_column *c)
{
  for (int i = 0; i < w->n_clocks; i++) {
    if (w->clock[i].rate_num == c->rate_num && w->clock[i].rate_den == c->rate_den) {
      return &w->clock[i];
    }
  }
  time_axis *t = &w->clock[w->n_clocks++];

  *t = (time_axis){.rate_num = c->rate_num, .rate_den = c->rate_den};
  if (c->rate_den == 1) {
    (void)snprintf(t->name, sizeof t->name, "time_%lld", (long long)c->rate_num);
  } else {
    (void)snprintf(t->name, sizeof t->name, "time_%lld_%lld", (long long)c->rate_num,
                   (long long)c->rate_den);
  }
  return t;
}

/* Which columns are written, and how long the clocks run. */
static bool find_wanted(results *w)
{
  const ps_query_output *outputs = w->files->cfg->outputs.items;
  const ps_query_run *run = w->files->run;
  bool any = false;

  for (int64_t i = 0; i < run->query.n_outputs; i++) {
    const weir_query_output *o = &run->query.outputs[i];

    for (int k = 0; k < o->n && ps_files_in_netcdf(&outputs[i]); k++) {
      const ps_column *c = &run->columns[o->column[k]];
      time_axis *t = clock_of(w, c->what);

      w->wanted[o->column[k]] = any = true;
      t->slots = c->slots > t->slots ? c->slots : t->slots;
    }
  }
  return any;
}

static weir_status describe_file(weir_netcdf *nc, const ps_query_run *run, int n_clocks)
{
  const char *names[] = {run->facts->name};
  int record = 0;

  if (n_clocks == 1) { /* CF has one clock for all features of a file */
    WEIR_TRY(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "featureType", "timeSeries"));
  }
  WEIR_TRY(weir_netcdf_text_var(nc, "record", 0, NULL, &record));
  WEIR_TRY(weir_netcdf_put_text(nc, record, "cf_role", "timeseries_id"));
  WEIR_TRY(weir_netcdf_put_text(nc, record, "long_name", "name of the recording"));
  return weir_netcdf_write_texts(nc, record, NULL, NULL, names);
}

static weir_status chunk(weir_netcdf *nc, int var, int64_t slots)
{
  const int64_t size = slots < BLOCK ? slots : BLOCK;

  return size > 0 ? weir_netcdf_chunk(nc, var, &size, 1) : WEIR_OK;
}

static weir_status define_clock(weir_netcdf *nc, time_axis *t, const ps_input_info *facts)
{
  WEIR_TRY(weir_netcdf_dim(nc, t->name, t->slots > 0 ? t->slots : WEIR_NETCDF_UNLIMITED, &t->dim));
  WEIR_TRY(weir_netcdf_var(nc, t->name, WEIR_I64, 1, &t->dim, &t->var));
  WEIR_TRY(chunk(nc, t->var, t->slots));
  return ps_time_describe(facts, nc, t->var);
}

/* Points become underscores, as CF has names; not where another stream has that name. */
static void name_variable(const weir_query *q, int64_t column, char *text, size_t size)
{
  (void)snprintf(text, size, "%s", q->columns[column].name);
  for (char *c = text; *c != 0; c++) {
    *c = *c == '.' ? '_' : *c;
  }
  for (int64_t i = 0; i < q->n_columns; i++) {
    if (i != column && strcmp(q->columns[i].name, text) == 0) {
      (void)snprintf(text, size, "%s", q->columns[column].name);
    }
  }
}

static weir_status define_column(results *w, int64_t i)
{
  const weir_query *q = &w->files->run->query;
  const weir_query_column *c = &q->columns[i];
  const time_axis *t = clock_of(w, c);
  const float fill = NAN;
  weir_netcdf *nc = w->files->nc;
  char name[2 * WEIR_QUERY_NAME];

  name_variable(q, i, name, sizeof name);
  WEIR_TRY(weir_netcdf_var(nc, name, WEIR_F32, 1, &t->dim, &w->var[i]));
  WEIR_TRY(chunk(nc, w->var[i], t->slots));
  WEIR_TRY(weir_netcdf_put_numbers(nc, w->var[i], "_FillValue", WEIR_F32, &fill, 1));
  WEIR_TRY(weir_netcdf_put_text(nc, w->var[i], "long_name", c->name));
  WEIR_TRY(weir_netcdf_put_text(nc, w->var[i], "coordinates", "record"));
  WEIR_TRY(weir_netcdf_put_rate(nc, w->var[i], c->rate_num, c->rate_den));
  return c->unit[0] == 0
             ? WEIR_OK
             : weir_netcdf_put_text(nc, w->var[i], "units",
                                    strcmp(c->unit, "flags") == 0 || strcmp(c->unit, "bits") == 0 ||
                                            strcmp(c->unit, PS_CLASS_UNIT) == 0
                                        ? "1"
                                        : c->unit);
}

static weir_status write_time(results *w, const time_axis *t)
{
  for (int64_t first = 0; first < t->slots; first += BLOCK) {
    const int64_t n = t->slots - first < BLOCK ? t->slots - first : BLOCK;

    for (int64_t k = 0; k < n; k++) {
      w->time[k] = ps_time_us(w->files->run->facts, t->rate_num, t->rate_den, first + k);
    }
    WEIR_TRY(weir_netcdf_write(w->files->nc, t->var, &first, &n, w->time));
  }
  return WEIR_OK;
}

/* Blocks without a value are left as they are: absent. */
static weir_status write_column(results *w, int64_t i)
{
  const ps_column *c = &w->files->run->columns[i];
  ps_column_reader r;

  WEIR_TRY(ps_column_open(c, &r));
  while (r.slot != INT64_MAX) {
    const int64_t first = r.slot / BLOCK * BLOCK;
    const int64_t n = c->slots - first < BLOCK ? c->slots - first : BLOCK;

    for (int64_t k = 0; k < n; k++) {
      w->block[k] = NAN;
    }
    while (r.slot < first + n) {
      w->block[r.slot - first] = r.value;
      WEIR_TRY(ps_column_next(&r));
    }
    WEIR_TRY(weir_netcdf_write(w->files->nc, w->var[i], &first, &n, w->block));
  }
  return WEIR_OK;
}

static weir_status write_all(results *w)
{
  const ps_query_run *run = w->files->run;
  char path[PS_FILES_PATH];

  WEIR_TRY(weir_path_join(w->files->dir, "results.nc", path, sizeof path));
  WEIR_TRY(weir_netcdf_create_cf(path, "physio_stream: results of one query", &w->files->nc));
  for (int i = 0; i < w->n_clocks; i++) {
    WEIR_TRY(define_clock(w->files->nc, &w->clock[i], run->facts));
  }
  for (int64_t i = 0; i < run->query.n_columns; i++) {
    if (w->wanted[i]) {
      WEIR_TRY(define_column(w, i));
    }
  }
  WEIR_TRY(describe_file(w->files->nc, run, w->n_clocks));
  for (int i = 0; i < w->n_clocks; i++) {
    WEIR_TRY(write_time(w, &w->clock[i]));
  }
  for (int64_t i = 0; i < run->query.n_columns; i++) {
    if (w->wanted[i]) {
      WEIR_TRY(write_column(w, i));
    }
  }
  return WEIR_OK;
}

weir_status ps_files_netcdf(ps_files *f)
{
  results *w = NULL;

  WEIR_TRY(weir_alloc(1, sizeof *w, (void **)&w));
  w->files = f;
  const weir_status status = find_wanted(w) ? write_all(w) : WEIR_OK;

  weir_free(&w);
  return status;
}
