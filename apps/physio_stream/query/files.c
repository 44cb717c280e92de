/* files.c - see files.h. */
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_decimal.h"
#include "base/weir_log.h"
#include "query/files_priv.h"

static void find_first(ps_rows *rows)
{
  rows->slot = INT64_MAX;
  for (int i = 0; i < rows->n; i++) {
    const int64_t slot = rows->reader[i].slot;

    rows->slot = slot < rows->slot ? slot : rows->slot;
  }
}

weir_status ps_rows_open(const ps_query_run *run, const weir_query_output *output, ps_rows *rows)
{
  weir_status status = WEIR_OK;

  *rows = (ps_rows){.n = output->n};
  WEIR_TRY(weir_alloc(output->n, sizeof *rows->reader, (void **)&rows->reader));
  for (int i = 0; i < output->n; i++) {
    WEIR_TRY_GOTO(ps_column_open(&run->columns[output->column[i]], &rows->reader[i]), fail);
  }
  find_first(rows);
  return WEIR_OK;
fail:
  ps_rows_close(rows);
  return status;
}

weir_status ps_rows_next(ps_rows *rows)
{
  const int64_t slot = rows->slot;

  for (int i = 0; i < rows->n; i++) {
    if (rows->reader[i].slot == slot) {
      WEIR_TRY(ps_column_next(&rows->reader[i]));
    }
  }
  find_first(rows);
  return WEIR_OK;
}

void ps_rows_close(ps_rows *rows)
{
  weir_free(&rows->reader);
}

/* A stream's name as part of the name of a file. */
static void flat_name(const char *stream, char *text, size_t size)
{
  (void)snprintf(text, size, "%s", stream);
  for (char *c = text; *c != 0; c++) {
    *c = *c == '.' ? '_' : *c;
  }
}

void ps_query_file_name(const ps_query_output *output, const char *record, char *text, size_t size)
{
  char flat[2 * WEIR_QUERY_NAME];

  flat_name(output->stream, flat, sizeof flat);
  switch ((ps_query_format)output->format) {
  case PS_QUERY_TABLE:
  case PS_QUERY_CSV:
    (void)snprintf(text, size, "%s.csv", flat);
    break;
  case PS_QUERY_ANNOTATIONS:
    (void)snprintf(text, size, "%s.%s", record, flat);
    break;
  case PS_QUERY_WFDB:
    (void)snprintf(text, size, "%s.hea", flat);
    break;
  case PS_QUERY_EVENTS:
    (void)snprintf(text, size, "%s_events.nc", flat);
    break;
  case PS_QUERY_NETCDF:
    (void)snprintf(text, size, "%s", "");
    break;
  }
}

bool ps_files_in_netcdf(const ps_query_output *output)
{
  return output->format == PS_QUERY_NETCDF ||
         (output->format == PS_QUERY_TABLE && weir_netcdf_available());
}

weir_status ps_query_files_check(const ps_query_cfg *cfg)
{
  const ps_query_output *outputs = cfg->outputs.items;

  for (int64_t i = 0; i < cfg->outputs.count; i++) {
    const bool events = outputs[i].format == PS_QUERY_EVENTS;

    if ((events || outputs[i].format == PS_QUERY_NETCDF) && !weir_netcdf_available()) {
      return weir_fail(WEIR_ERR_UNSUPPORTED,
                       "query.outputs[%lld]: this build has no NetCDF, so %s cannot be written; "
                       "format: csv can",
                       (long long)i, events ? "a table of events" : "results.nc");
    }
  }
  return WEIR_OK;
}

static weir_status write_head(weir_writer *csv, const weir_query *query,
                              const weir_query_output *output)
{
  WEIR_TRY(weir_writer_printf(csv, "time_s"));
  for (int i = 0; i < output->n; i++) {
    const char *part = query->columns[output->column[i]].part;

    WEIR_TRY(weir_writer_printf(csv, ",%s", output->n == 1 ? "value" : part));
  }
  return weir_writer_printf(csv, "\n");
}

/* The time, and after a comma each, the values that the slot has. */
static weir_status write_row(weir_writer *csv, const ps_rows *rows)
{
  char text[WEIR_DECIMAL_SIZE];
  size_t length = weir_decimal_micro(ps_column_time(rows->reader[0].column, rows->slot), text);

  for (int i = 0; i < rows->n; i++) {
    const ps_column_reader *reader = &rows->reader[i];

    text[length] = ',';
    WEIR_TRY(weir_writer_write(csv, text, length + 1));
    length = reader->slot == rows->slot ? weir_decimal_float(reader->value, text) : 0;
  }
  text[length] = '\n';
  return weir_writer_write(csv, text, length + 1);
}

static weir_status write_csv(ps_files *f, int i, const char *path)
{
  const weir_query_output *output = &f->run->query.outputs[i];
  weir_status status = WEIR_OK;
  ps_rows rows;

  WEIR_TRY(weir_writer_open(path, &f->csv[i]));
  WEIR_TRY(write_head(f->csv[i], &f->run->query, output));
  WEIR_TRY(ps_rows_open(f->run, output, &rows));
  while (rows.slot != INT64_MAX) {
    WEIR_TRY_GOTO(write_row(f->csv[i], &rows), done);
    WEIR_TRY_GOTO(ps_rows_next(&rows), done);
  }
done:
  ps_rows_close(&rows);
  return status;
}

/* Annotations are for events: a signal, present in more than half of its slots, gives thousands. */
static void warn_of_signal(const ps_query_run *run, const ps_column *c, const char *path)
{
  if (c->present > c->slots / 2 && c->slots > 1) {
    weir_warn("query",
              "%s of %s: format: annotations marks each slot that is present, which are %lld of "
              "%lld: %s has %lld annotations; is it beats or other events that are wanted? A "
              "signal is kept by format: wfdb, csv or netcdf",
              c->what->name, run->facts->name, (long long)c->present, (long long)c->slots, path,
              (long long)c->present);
  }
}

/* The stream's clock is stated: it need not be the record's. */
static weir_status write_marks(ps_files *f, int i, const char *path)
{
  const weir_query_output *output = &f->run->query.outputs[i];
  const weir_query_column *c = &f->run->query.columns[output->column[0]];
  const weir_annotations head = {.fs_num = c->rate_num, .fs_den = c->rate_den};
  weir_status status = WEIR_OK;
  ps_rows rows;

  warn_of_signal(f->run, &f->run->columns[output->column[0]], path);
  WEIR_TRY(weir_annotation_writer_open(path, &head, &f->marks[i]));
  WEIR_TRY(ps_rows_open(f->run, output, &rows));
  while (rows.slot != INT64_MAX) {
    const weir_annotation mark = {.time = rows.slot, .code = WEIR_ANN_NORMAL};

    WEIR_TRY_GOTO(weir_annotation_writer_append(f->marks[i], &mark), done);
    WEIR_TRY_GOTO(ps_rows_next(&rows), done);
  }
done:
  ps_rows_close(&rows);
  return status;
}

static weir_status write_output(ps_files *f, int i)
{
  const ps_query_output *output = (const ps_query_output *)f->cfg->outputs.items + i;
  char name[4 * WEIR_QUERY_NAME], path[PS_FILES_PATH];

  ps_query_file_name(output, f->run->facts->name, name, sizeof name);
  WEIR_TRY(weir_path_join(f->dir, name, path, sizeof path));
  switch ((ps_query_format)output->format) {
  case PS_QUERY_TABLE:
  case PS_QUERY_CSV:
    return write_csv(f, i, path);
  case PS_QUERY_ANNOTATIONS:
    return write_marks(f, i, path);
  case PS_QUERY_WFDB:
    return ps_files_wfdb(f, i);
  case PS_QUERY_EVENTS:
    return ps_files_events(f, i, path);
  case PS_QUERY_NETCDF:
    break;
  }
  return WEIR_OK;
}

static weir_status commit(ps_files *f)
{
  for (int64_t i = 0; i < f->cfg->outputs.count; i++) {
    if (f->csv[i] != NULL) {
      WEIR_TRY(weir_writer_commit(&f->csv[i]));
    }
    if (f->marks[i] != NULL) {
      WEIR_TRY(weir_annotation_writer_commit(&f->marks[i]));
    }
    if (f->record[i] != NULL) {
      WEIR_TRY(weir_record_writer_commit(&f->record[i]));
    }
    if (f->events[i] != NULL) {
      WEIR_TRY(weir_netcdf_commit(&f->events[i]));
    }
  }
  if (f->nc != NULL) {
    WEIR_TRY(weir_netcdf_commit(&f->nc));
  }
  return WEIR_OK;
}

weir_status ps_query_files_write(const ps_query_cfg *cfg, const ps_query_run *r, const char *dir)
{
  ps_files f = {.cfg = cfg, .run = r, .dir = dir};
  weir_status status = WEIR_OK;

  WEIR_ASSERT(cfg->outputs.count <= WEIR_QUERY_COLUMNS);
  for (int i = 0; i < (int)cfg->outputs.count; i++) {
    WEIR_TRY_GOTO(write_output(&f, i), done);
  }
  WEIR_TRY_GOTO(ps_files_netcdf(&f), done);
  WEIR_TRY_GOTO(commit(&f), done);
done:
  for (int64_t i = 0; i < cfg->outputs.count; i++) {
    weir_writer_destroy(&f.csv[i]);
    weir_annotation_writer_destroy(&f.marks[i]);
    weir_record_writer_destroy(&f.record[i]);
    weir_netcdf_close(&f.events[i]);
  }
  weir_netcdf_close(&f.nc);
  return status;
}
