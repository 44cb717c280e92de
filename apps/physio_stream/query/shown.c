/* shown.c - see shown.h. */
#include "query/shown.h"
#include <stdio.h>
#include "base/weir_decimal.h"
#include "query/files.h"
#include "query/files_priv.h"

static bool is_event(const ps_column *c)
{
  return ps_column_is_events((double)c->what->rate_num / (double)c->what->rate_den, c->present,
                             c->slots);
}

/* Whether an output is marks: events of one column whose values differ are a trend, a signal. */
static bool are_marks(const ps_query_run *r, const weir_query_output *o, bool annotations)
{
  const ps_column *const first = &r->columns[o->column[0]];

  if (annotations) {
    return true;
  }
  for (int k = 0; k < o->n; k++) {
    if (!is_event(&r->columns[o->column[k]])) {
      return false;
    }
  }
  return o->n > 1 || !(first->min < first->max);
}

/* "VALUE" of one column, "PART VALUE, PART VALUE" of several. */
static void describe(const ps_rows *rows, char *text, size_t size)
{
  size_t used = 0;

  text[0] = 0;
  for (int k = 0; k < rows->n && used < size; k++) {
    const ps_column_reader *const reader = &rows->reader[k];
    char value[WEIR_DECIMAL_FLOAT_SIZE];

    if (reader->slot != rows->slot) {
      continue;
    }
    (void)weir_decimal_float(reader->value, value);
    used += (size_t)snprintf(text + used, size - used, "%s%s%s%s", used > 0 ? ", " : "",
                             rows->n > 1 ? reader->column->what->part : "", rows->n > 1 ? " " : "",
                             value);
  }
}

/* Named as the annotation file of the stream. `format: annotations` gives the marks of the file
 * that is written, other formats comments with the values. */
static weir_status add_events(ps_query_run *r, const weir_query_output *o, bool annotations)
{
  const weir_query_column *const c = &r->query.columns[o->column[0]];
  const ps_query_output file = {.stream = o->name, .format = PS_QUERY_ANNOTATIONS};
  char text[WEIR_ANNOTATION_MAX_AUX + 1] = "", name[WEIR_RECORD_NAME + 4 * WEIR_QUERY_NAME];
  int64_t most = 0; /* no more than values of all columns */
  weir_status status = WEIR_OK;
  ps_marks m;
  ps_rows rows;

  for (int k = 0; k < o->n; k++) {
    most += r->columns[o->column[k]].present;
  }
  ps_query_file_name(&file, r->facts->name, name, sizeof name);
  if (ps_viewer_has(r->viewer, name) || !ps_viewer_takes_marks(r->viewer, name, most)) {
    return WEIR_OK;
  }
  ps_marks_begin(name, c->rate_num, c->rate_den, &m);
  WEIR_TRY(ps_rows_open(r, o, &rows));
  while (rows.slot != INT64_MAX) {
    if (!annotations) {
      describe(&rows, text, sizeof text);
    }
    WEIR_TRY_GOTO(ps_marks_add(&m, rows.slot, annotations ? WEIR_ANN_NORMAL : WEIR_ANN_NOTE, text),
                  done);
    WEIR_TRY_GOTO(ps_rows_next(&rows), done);
  }
  ps_marks_end(&m);
  ps_viewer_add_marks(r->viewer, &m);
done:
  ps_rows_close(&rows);
  ps_marks_fini(&m);
  return status;
}

static weir_status add_signal(ps_query_run *r, const ps_column *c)
{
  const weir_query_column *const w = c->what;
  const int number = r->viewer->n_signals;
  ps_column_reader reader;

  if (ps_viewer_has(r->viewer, w->name)) {
    return WEIR_OK; /* of another output, or as it was read */
  }
  WEIR_TRY(ps_viewer_add_signal(r->viewer, w->name, w->unit, w->rate_num, w->rate_den, c->slots));
  r->viewer->signal[number].sparse = is_event(c);
  WEIR_TRY(ps_column_open(c, &reader));
  while (reader.slot != INT64_MAX) {
    const uint8_t present = 1;

    ps_viewer_take(r->viewer, number, reader.slot, reader.slot + 1, &reader.value, &present);
    WEIR_TRY(ps_column_next(&reader));
  }
  ps_viewer_end(r->viewer, number, c->slots);
  return WEIR_OK;
}

static weir_status add_outputs(const ps_query_cfg *query, ps_query_run *r)
{
  const ps_query_output *const outputs = query->outputs.items;

  for (int64_t i = 0; i < r->query.n_outputs; i++) {
    const weir_query_output *const o = &r->query.outputs[i];
    const bool annotations = outputs[i].format == PS_QUERY_ANNOTATIONS;

    if (are_marks(r, o, annotations)) {
      WEIR_TRY(add_events(r, o, annotations));
      continue;
    }
    for (int k = 0; k < o->n; k++) {
      WEIR_TRY(add_signal(r, &r->columns[o->column[k]]));
    }
  }
  return WEIR_OK;
}

weir_status ps_query_shown_write(const ps_query_cfg *query, ps_query_run *r,
                                 const ps_input_opts *input, const char *dir)
{
  if (r->viewer == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(ps_query_show_rest(r));
  WEIR_TRY(add_outputs(query, r));
  for (int i = 0; i < WEIR_QUERY_SOURCES && ps_input_rereads(input); i++) {
    if (r->input[i] != NULL) {
      WEIR_TRY(ps_viewer_read_samples(r->viewer, r->shown[i].number, r->input[i]));
    }
  }
  return ps_viewer_write(r->viewer, r->facts, dir);
}
