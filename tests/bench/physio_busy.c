/* physio_busy.c - beats of one recording in a file found on two threads against one thread, on an
 * idle machine and next to a process that occupies one processor. Goal in that case: two threads
 * are not slower than one. The processors must be idle otherwise: with other load, rows say
 * something else.
 *
 *   physio_busy [RUNS] */
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_log.h"
#include "busy.h"
#include "data/ecgsyn.h"
#include "io/weir_record_writer.h"
#include "pipeline.h"
#include "page/run_quality.h"

enum { RUNS = 31, RATE = 360, PERIOD = RATE * 600, PERIODS = 40, SAMPLES = PERIOD * PERIODS };

/* A recording, opened and planned, and what a run counts of its samples. */
typedef struct detection {
  ps_cfg cfg;
  ps_input *input;
  ps_quality quality;
  ps_pipeline pipeline;
  int64_t beats;
} detection;

static weir_status read_slots(void *context, int64_t lo, int64_t hi, float *x, uint8_t *present)
{
  detection *d = context;

  WEIR_TRY(ps_input_read(d->input, lo, hi - lo, x, present));
  ps_quality_take(&d->quality, lo, hi, x, present);
  return WEIR_OK;
}

static weir_status count_beats(void *context, const weir_view *view, int64_t lo, int64_t hi,
                               bool last)
{
  (void)lo;
  (void)hi;
  (void)last;
  ((detection *)context)->beats += *(const int64_t *)view->data;
  return WEIR_OK;
}

static void write_record(const char *path)
{
  const weir_record_channel channel = {.name = "ECG", .gain = 5000};
  const weir_record_spec spec = {
      .fs_num = RATE, .fs_den = 1, .n_channels = 1, .channels = &channel, .format = 16};
  ps_ecgsyn_opts opts;
  ps_ecgsyn *gen = NULL;
  weir_record_writer *w = NULL;
  float *x = NULL;
  ps_mark *marks = NULL;
  int64_t n_marks = 0;

  weir_opts_default(ps_ecgsyn_options, sizeof opts, &opts);
  opts.rate = RATE;
  bench_must(ps_ecgsyn_create(&opts, 1, &gen));
  bench_must(weir_alloc(PERIOD, sizeof *x, (void **)&x));
  bench_must(weir_alloc(ps_ecgsyn_capacity(gen, PERIOD), sizeof *marks, (void **)&marks));
  ps_ecgsyn_chunk(gen, PERIOD, x, marks, &n_marks);
  bench_must(weir_record_writer_open(path, &spec, &w));
  for (int i = 0; i < PERIODS; i++) {
    bench_must(weir_record_writer_append(w, PERIOD, (const float *const *)&x, NULL));
  }
  bench_must(weir_record_writer_commit(&w));
  weir_free(&x);
  weir_free(&marks);
  ps_ecgsyn_destroy(&gen);
}

static void begin(detection *d, const char *record, int threads)
{
  const weir_stream_sink sink = {PS_RESULT_BEATS, count_beats, d};

  ps_cfg *cfg = &d->cfg;

  weir_opts_default(ps_input_options, sizeof cfg->input, &cfg->input);
  weir_opts_default(ps_detect_options, sizeof cfg->detect, &cfg->detect);
  weir_opts_default(weir_stream_opts, sizeof cfg->stream, &cfg->stream);
  weir_opts_default(weir_exec_opts, sizeof cfg->exec, &cfg->exec);
  d->cfg.input.record = record;
  bench_must(ps_input_open(&d->cfg.input, &d->cfg.ecgsyn, 1, &d->input));
  weir_stream_source source = ps_input_source(d->input);

  source.read = read_slots;
  source.next_run = NULL;
  source.context = d;
  bench_must(ps_pipeline_create(&d->cfg, source, NULL, false, &sink, 1, threads, &d->pipeline));
}

static void end(detection *d)
{
  ps_pipeline_destroy(&d->pipeline);
  ps_input_close(&d->input);
}

static void run(void *context)
{
  detection *d = context;
  weir_stream_report report;

  d->beats = 0;
  bench_must(ps_quality_init(ps_input_get(d->input), &d->quality));
  bench_must(ps_graph_reset(&d->pipeline.graph));
  weir_stream_rewind(d->pipeline.stream);
  bench_must(weir_stream_run(d->pipeline.stream, &report));
  ps_quality_fini(&d->quality);
}

static void row(const char *work, const char *reference, const double seconds[2], double goal)
{
  bench_row(work, reference, SAMPLES / seconds[0] * 1e-6, SAMPLES / seconds[1] * 1e-6,
            "M samples/s", 1, goal);
}

static void measure(const char *record, int runs)
{
  static detection d[2];
  double idle[2], busy[2];
  pid_t process;

  for (int i = 0; i < 2; i++) {
    begin(&d[i], record, i + 1);
  }
  busy_median_pair(runs, run, &d[0], run, &d[1], idle);
  busy_start(1, &process);
  busy_median_pair(runs, run, &d[0], run, &d[1], busy);
  busy_stop(1, &process);
  /* One beat a second is what the signal has: a run that finds nothing is no measurement. */
  if (d[0].beats != d[1].beats || d[0].beats < SAMPLES / RATE * 9 / 10) {
    fprintf(stderr, "physio_busy: %lld and %lld beats found\n", (long long)d[0].beats,
            (long long)d[1].beats);
    exit(6);
  }
  row("detection in one recording on 2 threads", "1 thread", idle, 1.15);
  row("detection in one recording on 2 threads beside a busy process", "1 thread beside it", busy,
      1);
  end(&d[0]);
  end(&d[1]);
}

int main(int argc, char **argv)
{
  const int64_t asked = argc > 1 ? strtoll(argv[1], NULL, 10) : RUNS;
  const int runs = asked > 0 && asked <= BUSY_MOST_RUNS ? (int)asked : RUNS;
  char dir[256], record[300];
  cpu_set_t allowed;

  weir_log_set_level(WEIR_LOG_WARN);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) {
    fprintf(stderr, "physio_busy: one processor: there are no two threads\n");
    return 77;
  }
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(record, sizeof record, "%s/ecg", dir);
  write_record(record);
  measure(record, runs);
  weir_check_rmdir(dir);
  return 0;
}
