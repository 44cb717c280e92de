/* run.c - see run.h. */
#include "query/run.h"
#include <errno.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "data/checksums.h"

/* A signal that is not there is the query's fault: its location precedes the message. */
static weir_status with_location(weir_status status, const weir_query_source *source)
{
  char reason[1024];

  if (status != WEIR_ERR_CONFIG) {
    return status;
  }
  (void)snprintf(reason, sizeof reason, "%s", weir_last_message());
  return weir_fail(status, "%s%sstream '%s': %s", source->location,
                   source->location[0] != 0 ? ": " : "", source->name, reason);
}

static weir_status open_inputs(const ps_query_job *job, ps_query_run *r)
{
  const ps_query_stream *streams = job->query->streams.items;
  for (int64_t i = 0; i < r->text.spec.n_sources && i < WEIR_QUERY_SOURCES; i++) {
    ps_input_opts opts = *job->input;

    opts.signal = streams[i].signal;
    opts.unit = streams[i].unit;
    opts.checksums = i == 0 ? opts.checksums : PS_CHECKSUMS_IGNORED; /* once is enough */
    const weir_status status =
        i > 0 && job->input->live[0] != 0
            ? ps_input_join(r->input[0], streams[i].signal, streams[i].unit, &r->input[i])
            : ps_input_open(&opts, job->synth, job->seed, &r->input[i]);

    WEIR_TRY(with_location(status, &r->text.sources[i]));
    const ps_input_info *facts = ps_input_get(r->input[i]);

    r->text.sources[i].rate_num = facts->fs_num;
    r->text.sources[i].rate_den = facts->fs_den;
    r->text.sources[i].unit = facts->units;
  }
  return WEIR_OK;
}

/* Signals that nothing needs are not read. */
static void close_unused(ps_query_run *r)
{
  for (int i = WEIR_QUERY_SOURCES - 1; i >= 0; i--) {
    if (!r->query.source_used[i]) {
      ps_input_close(&r->input[i]);
    } else {
      r->facts = ps_input_get(r->input[i]);
    }
  }
}

static weir_status print_line(FILE *out, const char *line)
{
  if (fputs(line, out) < 0 || fflush(out) != 0) {
    return weir_output_failed("query", errno);
  }
  return WEIR_OK;
}

/* The first line of docs/reference/live.md, and a #stream line for each column. */
static weir_status begin_follow(FILE *out, ps_query_run *r)
{
  char line[WEIR_WIRE_LINE];

  weir_wire_print_hello(r->facts->name, r->facts->start_kind, r->facts->start_us, line,
                        sizeof line);
  WEIR_TRY(print_line(out, line));
  for (int64_t i = 0; i < r->query.n_columns; i++) {
    WEIR_TRY(ps_column_follow(&r->columns[i], out));
  }
  r->follow = out;
  return WEIR_OK;
}

/* The last line: results may end before the recording, and a run that reads them must not. */
static weir_status end_follow(const ps_query_run *r)
{
  char line[WEIR_WIRE_LINE];

  weir_wire_print_end(r->facts->end_ns, line, sizeof line);
  return print_line(r->follow, line);
}

static weir_status take_shown(void *context, const weir_view *view, int64_t lo, int64_t hi,
                              bool last)
{
  const ps_query_shown_column *const s = context;

  WEIR_TRY(ps_column_take(s->column, view, lo, hi, last));
  return hi > lo ? ps_live_page_take(s->page, s->number, lo, hi, weir_view_at(view, &lo), NULL)
                 : WEIR_OK;
}

/* Sinks of the columns, in their order, then of what is undefined in them. */
static weir_status open_columns(const ps_query_job *job, ps_query_run *r, weir_stream_sink *sinks,
                                int *n)
{
  WEIR_TRY(weir_alloc(r->query.n_columns, sizeof *r->columns, (void **)&r->columns));
  for (int64_t i = 0; i < r->query.n_columns; i++) {
    WEIR_TRY(ps_column_init(&r->query.columns[i], job->start, job->strip, &r->columns[i]));
    WEIR_TRY(ps_live_page_add(r->page, r->query.columns[i].name, r->query.columns[i].unit,
                              r->query.columns[i].rate_num, r->query.columns[i].rate_den, true,
                              &r->shown_columns[i].number));
    r->shown_columns[i].column = &r->columns[i];
    r->shown_columns[i].page = r->page;
    sinks[i] = (weir_stream_sink){r->query.columns[i].name, take_shown, &r->shown_columns[i]};
  }
  if (r->facts->live != NULL && job->follow != NULL) {
    WEIR_TRY(begin_follow(job->follow, r));
  }
  *n = (int)r->query.n_columns;
  for (int64_t i = 0; i < r->query.n_columns; i++) {
    if (r->query.columns[i].undefined[0] != 0) {
      sinks[(*n)++] = (weir_stream_sink){r->query.columns[i].undefined, ps_column_take_undefined,
                                         &r->columns[i]};
    }
  }
  return WEIR_OK;
}

static weir_status read_shown(void *context, int64_t lo, int64_t hi, float *x, uint8_t *present)
{
  const ps_query_shown *const s = context;

  WEIR_TRY(ps_input_read(s->input, lo, hi - lo, x, present));
  ps_viewer_take(s->viewer, s->number, lo, hi, x, present);
  return ps_live_page_take(s->page, s->number_live, lo, hi, x, present);
}

weir_status ps_query_show_rest(ps_query_run *r)
{
  for (int i = 0; i < WEIR_QUERY_SOURCES && r->viewer != NULL; i++) {
    const ps_query_shown *const s = &r->shown[i];

    if (r->input[i] == NULL) {
      continue;
    }
    const int64_t count = ps_input_get(s->input)->count;

    if (r->rereads) {
      WEIR_TRY(ps_viewer_read(r->viewer, s->number, s->input));
    }
    ps_viewer_end(r->viewer, s->number, count);
  }
  return WEIR_OK;
}

static weir_status next_shown(void *context, int64_t at, int64_t *lo, int64_t *hi)
{
  return ps_input_next_run(((ps_query_shown *)context)->input, at, lo, hi);
}

static weir_status show_source(ps_query_run *r, int i)
{
  const ps_input_info *const info = ps_input_get(r->input[i]);
  const char *const name = r->text.sources[i].name;

  r->shown[i] = (ps_query_shown){
      .input = r->input[i], .viewer = r->rereads ? NULL : r->viewer, .page = r->page};
  WEIR_TRY(ps_live_page_add(r->page, name, info->units, info->fs_num, info->fs_den, false,
                            &r->shown[i].number_live));
  WEIR_TRY(ps_viewer_add_signal(r->viewer, name, info->units, info->fs_num, info->fs_den,
                                info->live != NULL ? -1 : info->count));
  r->shown[i].number = r->viewer != NULL ? r->viewer->n_signals - 1 : 0;
  return WEIR_OK;
}

/* Pages of all signals that are used, under the names that the query gives them. */
static weir_status open_pages(const ps_query_job *job, ps_query_run *r)
{
  r->rereads = ps_input_rereads(job->input);
  if (job->viewer != NULL) {
    WEIR_TRY(ps_viewer_create(job->viewer, &r->viewer));
  }
  if (job->page != NULL) {
    WEIR_TRY(ps_live_page_open(job->page, r->facts, &r->page));
  }
  for (int i = 0; i < WEIR_QUERY_SOURCES; i++) {
    if (r->input[i] != NULL) {
      WEIR_TRY(show_source(r, i));
    }
  }
  return ps_viewer_add_files(r->viewer, job->input);
}

/* The input of stream i, whose samples the viewer takes too. */
static weir_stream_source source_of(ps_query_run *r, int i)
{
  weir_stream_source source = ps_input_source(r->input[i]);

  source.read = read_shown;
  source.next_run = next_shown;
  source.context = &r->shown[i];
  source.value = r->text.sources[i].name;
  source.present = r->present[i];
  return source;
}

static weir_status open_stream(const ps_query_job *job, ps_query_run *r)
{
  weir_stream_source sources[WEIR_QUERY_SOURCES];
  weir_stream_sink sinks[2 * WEIR_QUERY_COLUMNS];
  const weir_stream_live *live = NULL;
  int n = 0, n_sinks = 0;

  for (int i = 0; i < WEIR_QUERY_SOURCES; i++) {
    if (r->input[i] == NULL) {
      continue;
    }
    live = ps_input_live(r->input[i]);
    weir_query_present_name(r->text.sources[i].name, r->present[i], sizeof r->present[i]);
    sources[n++] = source_of(r, i);
  }
  WEIR_TRY(open_columns(job, r, sinks, &n_sinks));
  const weir_stream_job stream = {.graph = r->query.graph,
                                  .store = r->query.store,
                                  .sources = sources,
                                  .n_sources = n,
                                  .sinks = sinks,
                                  .n_sinks = n_sinks,
                                  .stream = job->stream,
                                  .exec = job->exec,
                                  .threads = job->threads,
                                  .live = live};
  return weir_stream_create(&stream, &r->stream);
}

weir_status ps_query_open(const ps_query_job *job, ps_query_run *out)
{
  ps_query_run *r = out;
  weir_status status = WEIR_OK;

  memset(r, 0, sizeof *r);
  WEIR_TRY_GOTO(ps_query_read(job->query, job->config, &r->text), fail);
  WEIR_TRY_GOTO(open_inputs(job, r), fail);
  WEIR_TRY_GOTO(weir_query_build(&r->text.spec, &r->query), fail);
  close_unused(r);
  WEIR_TRY_GOTO(open_pages(job, r), fail);
  WEIR_TRY_GOTO(open_stream(job, r), fail);
  return WEIR_OK;
fail:
  ps_query_close(r);
  return status;
}

weir_status ps_query_perform(ps_query_run *r)
{
  WEIR_TRY(weir_stream_run(r->stream, &r->report));
  for (int i = 0; i < WEIR_QUERY_SOURCES; i++) {
    if (r->input[i] != NULL) {
      WEIR_TRY(ps_input_verify(r->input[i]));
    }
  }
  return r->follow != NULL ? end_follow(r) : WEIR_OK;
}

void ps_query_close(ps_query_run *r)
{
  weir_stream_destroy(&r->stream);
  for (int64_t i = 0; r->columns != NULL && i < r->query.n_columns; i++) {
    ps_column_fini(&r->columns[i]);
  }
  weir_free(&r->columns);
  weir_query_fini(&r->query);
  ps_viewer_destroy(&r->viewer);
  ps_live_page_close(&r->page);
  for (int i = 0; i < WEIR_QUERY_SOURCES; i++) {
    ps_input_close(&r->input[i]);
  }
  ps_query_text_fini(&r->text);
  r->facts = NULL;
}
