/* calls.c - see calls.h. */
#include "api/calls.h"
#include <limits.h>
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "eval/score.h"
#include "pipeline.h"

static weir_status load(const char *const *sets, int64_t n, ps_cfg *cfg, weir_config **config)
{
  if (n < 0 || n > INT_MAX) {
    return weir_fail(WEIR_ERR_CONFIG, "%lld options", (long long)n);
  }
  return weir_config_load(ps_options, sizeof *cfg, NULL, 0, sets, (int)n, cfg, config);
}

static weir_status read_slots(void *context, int64_t lo, int64_t hi, float *x, uint8_t *present)
{
  const ps_call_signal *s = context;

  for (int64_t i = lo; i < hi; i++) {
    const float v = (float)s->mv[i];

    present[i - lo] = isfinite(v) != 0;
    x[i - lo] = isfinite(v) ? v : 0;
  }
  return WEIR_OK;
}

static weir_status take_beats(void *context, const weir_view *view, int64_t lo, int64_t hi,
                              bool last)
{
  ps_call_beats *b = context;
  const int64_t *result = view->data, columns = view->extent[1], n = result[0];
  int64_t capacity = b->capacity;

  (void)lo;
  (void)hi;
  (void)last;
  if (b->n + n > b->capacity) {
    WEIR_TRY(weir_reserve(&b->sample, &capacity, b->n + n, sizeof *b->sample));
    capacity = b->capacity;
    WEIR_TRY(weir_reserve(&b->position, &capacity, b->n + n, sizeof *b->position));
    capacity = b->capacity;
    WEIR_TRY(weir_reserve(&b->gap, &capacity, b->n + n, sizeof *b->gap));
    b->capacity = capacity;
  }
  for (int64_t i = 1; i <= n; i++, b->n++) {
    const double fraction = (double)result[2 * columns + i] / PS_DETECT_PER_SAMPLE;

    b->sample[b->n] = result[i];
    b->gap[b->n] = result[columns + i];
    b->position[b->n] = (double)result[i] + fraction;
  }
  return WEIR_OK;
}

static weir_status find(const ps_call_signal *signal, const ps_cfg *cfg, ps_call_beats *out)
{
  const weir_stream_source source = {.rate_num = signal->fs_num,
                                     .rate_den = signal->fs_den,
                                     .count = signal->n,
                                     .read = read_slots,
                                     .context = (void *)signal};
  const weir_stream_sink sink = {PS_RESULT_BEATS, take_beats, out};
  weir_stream_report report;
  ps_pipeline p = {0};

  WEIR_TRY(ps_pipeline_create(cfg, source, NULL, false, &sink, 1, (int)signal->threads, &p));
  const weir_status status = weir_stream_run(p.stream, &report);

  ps_pipeline_destroy(&p);
  return status;
}

weir_status ps_call_detect(const ps_call_signal *signal, ps_call_beats *out)
{
  weir_status status = WEIR_OK;
  weir_config *config = NULL;
  ps_cfg cfg;

  *out = (ps_call_beats){0};
  if (signal->n < 0 || signal->fs_num <= 0 || signal->fs_den <= 0 || signal->threads < 0 ||
      signal->threads > 4096) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%lld samples at %lld/%lld Hz on %lld threads: the numbers must not be "
                     "negative, the rate positive, the threads at most 4096",
                     (long long)signal->n, (long long)signal->fs_num, (long long)signal->fs_den,
                     (long long)signal->threads);
  }
  WEIR_TRY_GOTO(load(signal->sets, signal->n_sets, &cfg, &config), done);
  WEIR_TRY_GOTO(find(signal, &cfg, out), done);
done:
  weir_config_destroy(&config);
  if (status != WEIR_OK) {
    ps_call_beats_free(out);
  }
  return status;
}

void ps_call_beats_free(ps_call_beats *beats)
{
  weir_free(&beats->sample);
  weir_free(&beats->position);
  weir_free(&beats->gap);
  *beats = (ps_call_beats){0};
}

static int64_t end_of(const int64_t *beats, int64_t n)
{
  return n > 0 ? beats[n - 1] + 1 : 0;
}

weir_status ps_call_compare(const ps_call_pair *pair, ps_call_score *out)
{
  const int64_t a = end_of(pair->reference, pair->n_reference);
  const int64_t b = end_of(pair->test, pair->n_test);
  weir_status status = WEIR_OK;
  weir_config *config = NULL;
  ps_score score = {0};
  ps_cfg cfg;

  WEIR_TRY_GOTO(load(pair->sets, pair->n_sets, &cfg, &config), done);
  const ps_score_opts opts = {.start = cfg.eval.start, .window = cfg.eval.window};
  const ps_score_input in = {.reference = pair->reference,
                             .n_reference = pair->n_reference,
                             .test = pair->test,
                             .n_test = pair->n_test,
                             .rate = pair->fs,
                             .length = pair->length > 0 ? pair->length
                                       : a > b          ? a
                                                        : b};

  WEIR_TRY_GOTO(ps_score_record(&opts, &in, &score), done);
  *out = (ps_call_score){.tp = score.tp,
                         .fn = score.fn,
                         .fp = score.fp,
                         .sensitivity = ps_score_sensitivity(&score),
                         .predictivity = ps_score_predictivity(&score),
                         .rr_error = ps_score_rr_error(&score)};
done:
  weir_config_destroy(&config);
  return status;
}
