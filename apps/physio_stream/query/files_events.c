/* files_events.c - STREAM_events.nc: a row for each slot with a value, as beats and alarms have
 * few. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/record_time.h"
#include "query/files_priv.h"

enum { BLOCK = 4096 };

typedef struct table {
  ps_files *files;
  const weir_query_output *output;
  weir_netcdf *nc;
  int64_t count;
  int time, var[WEIR_QUERY_COLUMNS];
  int64_t us[BLOCK];
  float value[WEIR_QUERY_COLUMNS][BLOCK];
} table;

static const weir_query_column *column_of(const table *t, int k)
{
  return &t->files->run->query.columns[t->output->column[k]];
}

static weir_status count_rows(table *t)
{
  weir_status status = WEIR_OK;
  ps_rows rows;

  WEIR_TRY(ps_rows_open(t->files->run, t->output, &rows));
  for (; rows.slot != INT64_MAX; t->count++) {
    WEIR_TRY_GOTO(ps_rows_next(&rows), done);
  }
done:
  ps_rows_close(&rows);
  return status;
}

static weir_status define(table *t)
{
  const ps_input_info *const facts = t->files->run->facts;
  const char *names[] = {facts->name};
  const float fill = NAN;
  int dim = 0, record = 0;

  WEIR_TRY(weir_netcdf_dim(t->nc, "event", t->count > 0 ? t->count : WEIR_NETCDF_UNLIMITED, &dim));
  WEIR_TRY(weir_netcdf_var(t->nc, "time", WEIR_I64, 1, &dim, &t->time));
  WEIR_TRY(ps_time_describe(facts, t->nc, t->time));
  for (int k = 0; k < t->output->n; k++) {
    const weir_query_column *const c = column_of(t, k);

    WEIR_TRY(weir_netcdf_var(t->nc, t->output->n == 1 ? "value" : c->part, WEIR_F32, 1, &dim,
                             &t->var[k]));
    WEIR_TRY(weir_netcdf_put_numbers(t->nc, t->var[k], "_FillValue", WEIR_F32, &fill, 1));
    WEIR_TRY(weir_netcdf_put_text(t->nc, t->var[k], "long_name", c->name));
    WEIR_TRY(weir_netcdf_put_text(t->nc, t->var[k], "coordinates", "time record"));
    if (c->unit[0] != 0) {
      const bool bits = strcmp(c->unit, "flags") == 0 || strcmp(c->unit, "bits") == 0;

      WEIR_TRY(weir_netcdf_put_text(t->nc, t->var[k], "units", bits ? "1" : c->unit));
    }
  }
  WEIR_TRY(weir_netcdf_text_var(t->nc, "record", 0, NULL, &record));
  WEIR_TRY(weir_netcdf_put_text(t->nc, record, "long_name", "name of the recording"));
  return weir_netcdf_write_texts(t->nc, record, NULL, NULL, names);
}

static weir_status write_rows(table *t)
{
  const weir_query_column *const clock = column_of(t, 0);
  weir_status status = WEIR_OK;
  ps_rows rows;

  WEIR_TRY(ps_rows_open(t->files->run, t->output, &rows));
  for (int64_t first = 0; rows.slot != INT64_MAX;) {
    int64_t n = 0;

    for (; n < BLOCK && rows.slot != INT64_MAX; n++) {
      t->us[n] = ps_time_us(t->files->run->facts, clock->rate_num, clock->rate_den, rows.slot);
      for (int k = 0; k < rows.n; k++) {
        const ps_column_reader *const r = &rows.reader[k];

        t->value[k][n] = r->slot == rows.slot ? r->value : NAN;
      }
      WEIR_TRY_GOTO(ps_rows_next(&rows), done);
    }
    WEIR_TRY_GOTO(weir_netcdf_write(t->nc, t->time, &first, &n, t->us), done);
    for (int k = 0; k < rows.n; k++) {
      WEIR_TRY_GOTO(weir_netcdf_write(t->nc, t->var[k], &first, &n, t->value[k]), done);
    }
    first += n;
  }
done:
  ps_rows_close(&rows);
  return status;
}

weir_status ps_files_events(ps_files *f, int i, const char *path)
{
  weir_status status = WEIR_OK;
  table *t = NULL;

  WEIR_TRY(weir_alloc(1, sizeof *t, (void **)&t));
  t->files = f;
  t->output = &f->run->query.outputs[i];
  WEIR_TRY_GOTO(count_rows(t), done);
  WEIR_TRY_GOTO(weir_netcdf_create_cf(path, "physio_stream: events of one query", &f->events[i]),
                done);
  t->nc = f->events[i];
  WEIR_TRY_GOTO(define(t), done);
  WEIR_TRY_GOTO(write_rows(t), done);
done:
  weir_free(&t);
  return status;
}
