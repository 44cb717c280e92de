/* pipeline.c - see pipeline.h. */
#include "pipeline.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_log.h"

/* Slots of one chunk at most: the options, or the maximum of the planner (2^16), with a margin
 * for what filters delay. */
static int64_t max_slots(const ps_cfg *cfg, bool live, double rate)
{
  const weir_stream_cfg *stream = &cfg->stream;
  const double asked = ceil(fmax(stream->window, live ? stream->live_window : 0) * rate);

  return (asked > 65536 ? (int64_t)asked : 65536) + 4096;
}

weir_status ps_pipeline_create(const ps_cfg *cfg, weir_stream_source source,
                               const weir_stream_live *live, bool features,
                               const weir_stream_sink *sinks, int n_sinks, int threads,
                               ps_pipeline *out)
{
  ps_pipeline p = {0};
  const double rate = (double)source.rate_num / (double)source.rate_den;

  *out = p;
  source.value = PS_INPUT_X;
  source.present = PS_INPUT_PRESENT;
  WEIR_TRY(ps_graph_create(&cfg->detect, source.rate_num, source.rate_den,
                           max_slots(cfg, live != NULL, rate), features, &p.graph));
  const weir_stream_job job = {.graph = p.graph.graph,
                               .store = p.graph.store,
                               .sources = &source,
                               .n_sources = 1,
                               .sinks = sinks,
                               .n_sinks = n_sinks,
                               .stream = &cfg->stream,
                               .exec = &cfg->exec,
                               .threads = threads,
                               .live = live};
  const weir_status status = weir_stream_create(&job, &p.stream);

  if (status != WEIR_OK) {
    ps_pipeline_destroy(&p);
    return status;
  }
  *out = p;
  return WEIR_OK;
}

void ps_pipeline_destroy(ps_pipeline *p)
{
  weir_stream_destroy(&p->stream);
  ps_graph_destroy(&p->graph);
}

const char *const ps_group_head[PS_GROUP_COLUMNS] = {
    "stage",         "steps",         "kernel",          "work (flop)",  "moved (bytes)",
    "saved (bytes)", "predicted (s)", "counted (bytes)", "measured (s)", "calls"};

static void add_group(int stage, const weir_group_report *r, int columns, weir_table *cells)
{
  const int max_letters = columns > PS_GROUP_PLANNED ? INT_MAX : 32; /* letters of all members */

  weir_event("group", WEIR_INT("stage", stage), WEIR_TEXT("members", r->members),
             WEIR_TEXT("kernel", r->kernel), WEIR_REAL("flops", r->flops),
             WEIR_REAL("bytes", r->bytes), WEIR_REAL("counted_bytes", r->counted_bytes),
             WEIR_REAL("saved_bytes", r->saved_bytes), WEIR_REAL("predicted_s", r->predicted_s),
             WEIR_REAL("measured_s", r->measured_s), WEIR_INT("calls", r->calls));
  weir_table_add(cells, "%d", stage);
  weir_table_add(cells, (int)strlen(r->members) > max_letters ? "%.*s..." : "%.*s", max_letters,
                 r->members);
  weir_table_add(cells, "%s", r->kernel);
  weir_table_add(cells, "%.0f", r->flops);
  weir_table_add(cells, "%.0f", r->bytes);
  weir_table_add(cells, "%.0f", r->saved_bytes);
  weir_table_add(cells, "%.3g", r->predicted_s);
  if (columns > PS_GROUP_PLANNED) {
    weir_table_add_real(cells, r->measured_s > 0 ? r->counted_bytes : NAN);
    weir_table_add_real(cells, r->measured_s > 0 ? r->measured_s : NAN);
    weir_table_add(cells, "%lld", (long long)r->calls);
  }
}

void ps_stream_groups(const weir_stream *stream, int columns, weir_table *cells)
{
  for (int stage = 0; stage < weir_stream_stages(stream); stage++) {
    const weir_plan *plan = weir_stream_plan(stream, stage);

    for (int32_t k = 0; k < weir_plan_groups(plan); k++) {
      const weir_group_report r = weir_plan_group(plan, k);

      add_group(stage, &r, columns, cells);
    }
  }
}

/* A line, broken at blanks; what follows the first break is indented deeper. */
static void print_broken(const char *line, FILE *out)
{
  enum { WIDTH = 110, DEEPER = 4 };
  const int indent = (int)strspn(line, " ") + DEEPER;
  int width = WIDTH, min_break = indent;

  while ((int)strlen(line) > width) {
    int n = width;

    while (n > min_break && line[n] != ' ') {
      n--;
    }
    if (n <= min_break) { /* a word that is longer than a line */
      break;
    }
    fprintf(out, "%.*s\n%*s", n, line, indent, "");
    line += n + 1;
    width = WIDTH - indent;
    min_break = 0;
  }
  fprintf(out, "%s\n", line);
}

weir_status ps_stream_print(const weir_stream *stream, FILE *out)
{
  for (int stage = 0; stage < weir_stream_stages(stream); stage++) {
    char *text = NULL, *rest = NULL;
    size_t size = 0;
    FILE *plan = open_memstream(&text, &size);

    if (plan == NULL) {
      return weir_fail(WEIR_ERR_MEMORY, "describe: no memory for the plan");
    }
    weir_plan_print(weir_stream_plan(stream, stage), plan);
    (void)fclose(plan);
    fprintf(out, "\n# stage %d\n", stage);
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
      print_broken(line, out);
    }
    free(text);
  }
  return WEIR_OK;
}
