/* cmd_bench.c - time and data movement of the detection from samples in memory, without input and
 * output files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_sort.h"
#include "pipeline.h"
#include "commands.h"

/* Longest stretch of signal that is made; a longer measurement repeats it. */
#define MADE_SECONDS 600.0

/* The samples, and what the runs found. */
typedef struct bench {
  const ps_cfg *cfg;
  float *x;
  uint8_t *present;
  int64_t made, count; /* samples made; samples of the measurement */
  int64_t fs_num, fs_den;
  int64_t beats;
  ps_pipeline pipeline;
  weir_stream_report report;
} bench;

static weir_status read_slots(void *context, int64_t lo, int64_t hi, float *x, uint8_t *present)
{
  const bench *b = context;

  for (int64_t t = lo; t < hi;) {
    const int64_t at = t % b->made, left = b->made - at;
    const int64_t n = hi - t < left ? hi - t : left;

    memcpy(x + (t - lo), b->x + at, (size_t)n * sizeof *x);
    memcpy(present + (t - lo), b->present + at, (size_t)n);
    t += n;
  }
  return WEIR_OK;
}

static weir_status take_beats(void *context, const weir_view *view, int64_t lo, int64_t hi,
                              bool last)
{
  (void)lo;
  (void)hi;
  (void)last;
  ((bench *)context)->beats += *(const int64_t *)view->data;
  return WEIR_OK;
}

static weir_status make_samples(bench *b)
{
  ps_synth_opts opts = b->cfg->ecgsyn;
  ps_synth *synth = NULL;

  opts.duration = fmin(b->cfg->bench.duration, MADE_SECONDS);
  WEIR_TRY(ps_synth_create(&opts, (uint64_t)b->cfg->seed, &synth));
  b->made = ps_synth_count(synth);
  ps_synth_rate(synth, &b->fs_num, &b->fs_den);
  b->count = (int64_t)(b->cfg->bench.duration * opts.model.rate + 0.5);
  weir_status status = weir_alloc(b->made, sizeof *b->x, (void **)&b->x);
  if (status == WEIR_OK) {
    status = weir_alloc(b->made, sizeof *b->present, (void **)&b->present);
  }
  if (status == WEIR_OK) {
    ps_synth_chunk(synth, b->made, b->x, b->present, NULL, NULL);
  }
  ps_synth_destroy(&synth);
  return status;
}

static weir_status run_once(bench *b, double *seconds)
{
  WEIR_TRY(ps_graph_reset(&b->pipeline.graph));
  weir_stream_rewind(b->pipeline.stream);
  b->beats = 0;
  WEIR_TRY(weir_stream_run(b->pipeline.stream, &b->report));
  *seconds = b->report.seconds;
  return WEIR_OK;
}

/* Median of the repeats, after one run that is not measured. */
static weir_status measure(bench *b, double *median)
{
  const int64_t n = b->cfg->bench.repeats;
  double *seconds = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(n + 1, sizeof *seconds, (void **)&seconds));
  for (int64_t i = 0; i <= n; i++) {
    WEIR_TRY_GOTO(run_once(b, &seconds[i]), done);
  }
  qsort(seconds + 1, (size_t)n, sizeof *seconds, weir_compare_f64);
  *median = n % 2 ? seconds[1 + n / 2] : (seconds[n / 2] + seconds[1 + n / 2]) / 2;
done:
  weir_free(&seconds);
  return status;
}

enum { COLUMNS = 3 };
static const char *const head[COLUMNS] = {"quantity", "value", "unit"};

static void put(weir_table *c, const char *quantity, double value, const char *unit)
{
  weir_table_add(c, "%s", quantity);
  weir_table_add(c, "%.6g", value);
  weir_table_add(c, "%s", unit);
}

static weir_status report(const weir_cli *cli, const bench *b, double plan_s, double median)
{
  const double count = (double)b->count;
  weir_table cells = {0}, groups = {0};
  struct rusage usage = {0};
  weir_status status = WEIR_OK;

  (void)getrusage(RUSAGE_SELF, &usage);
  put(&cells, "samples", count, "1");
  put(&cells, "beats", (double)b->beats, "1");
  put(&cells, "tier", weir_tier_number(b->report.tier), "1");
  put(&cells, "stages", b->report.stages, "1");
  put(&cells, "window", b->report.window_s, "s");
  put(&cells, "latency", b->report.latency_s, "s");
  put(&cells, "planning", plan_s, "s");
  put(&cells, "time", median, "s");
  put(&cells, "speed", count / median, "samples/s");
  put(&cells, "buffers", (double)b->report.buffer_bytes, "bytes");
  put(&cells, "peak_memory", 1024.0 * (double)usage.ru_maxrss, "bytes");
  ps_stream_groups(b->pipeline.stream, PS_GROUP_COLUMNS, &groups);
  weir_event("bench_end", WEIR_REAL("samples", count), WEIR_INT("beats", b->beats),
             WEIR_REAL("planning_s", plan_s), WEIR_REAL("median_s", median),
             WEIR_REAL("samples_per_s", count / median),
             WEIR_INT("tier", weir_tier_number(b->report.tier)));
  WEIR_TRY_GOTO(cells.status, done);
  WEIR_TRY_GOTO(groups.status, done);
  WEIR_TRY_GOTO(weir_table_write_csv(&cells, cli->out, "bench.csv", COLUMNS, head), done);
  weir_table_print(&cells, COLUMNS, head, stdout);
  fputs("\n", stdout);
  weir_table_print(&groups, PS_GROUP_COLUMNS, ps_group_head, stdout);
done:
  weir_table_fini(&cells);
  weir_table_fini(&groups);
  return status;
}

static weir_status measure_all(const weir_cli *cli, bench *b)
{
  const weir_stream_sink sink = {PS_RESULT_BEATS, take_beats, b};
  double median = 0;

  WEIR_TRY(make_samples(b));
  const weir_stream_source source = {.rate_num = b->fs_num,
                                     .rate_den = b->fs_den,
                                     .count = b->count,
                                     .read = read_slots,
                                     .context = b};
  const double start = weir_clock();

  WEIR_TRY(ps_pipeline_create(b->cfg, source, NULL, false, &sink, 1, cli->threads, &b->pipeline));
  const double plan_s = weir_clock() - start;

  WEIR_TRY(measure(b, &median));
  WEIR_TRY(ps_write_provenance(cli, b->cfg, NULL, 0));
  return report(cli, b, plan_s, median);
}

static weir_status perform(weir_job *j)
{
  bench b = {.cfg = j->cfg};

  WEIR_TRY(ps_start(j, "bench"));
  const weir_status status = measure_all(j->cli, &b);

  ps_pipeline_destroy(&b.pipeline);
  weir_free(&b.x);
  weir_free(&b.present);
  return status;
}

weir_status ps_cmd_bench(const weir_cli *cli)
{
  ps_cfg cfg;

  return weir_job_run(cli, &ps_program, &cfg, perform);
}
