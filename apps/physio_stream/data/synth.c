/* synth.c - see synth.h. */
#include "data/synth.h"
#include <math.h>
#include "base/weir_alloc.h"

const weir_opt ps_synth_options[] = {
    WEIR_OPT_REAL(ps_synth_opts, duration, 1800, 0.1, 1e8, "s",
                  "length of the recording (records of MIT-BIH: 30 min)"),
    WEIR_OPT_TABLE(ps_synth_opts, model, ps_ecgsyn_options, "the heart"),
    WEIR_OPT_TABLE(ps_synth_opts, noise, ps_noise_options, "what is added to its signal"),
    WEIR_OPT_TABLE(ps_synth_opts, gaps, ps_gap_options, "where the ECG is missing"),
    WEIR_OPT_TABLE(ps_synth_opts, saturation, ps_gap_options,
                   "where the amplifier of the ECG is at its rail, which is as good as missing"),
    WEIR_OPT_REAL(ps_synth_opts, rail, 5, 0.001, 1000, "mV", "that rail"),
    WEIR_OPT_TABLE(ps_synth_opts, abp, ps_abp_options, "arterial pressure recorded with the ECG"),
    WEIR_OPT_END,
};

/* Samples made at once where no caller asks for marks. */
enum { BLOCK = 4096, MAX_DENOMINATOR = 1000000 };

struct ps_synth {
  ps_ecgsyn *ecg;
  ps_noise *noise;
  ps_gaps gaps, ahead; /* the second one answers ps_synth_next_run */
  ps_gaps saturation;
  double rail;
  int64_t fs_num, fs_den, count;
  int64_t at; /* next sample */
  ps_mark *scratch;
};

/* `rate` as a fraction in lowest terms: the smallest denominator that gives the same double. */
static weir_status find_fraction(double rate, int64_t *num, int64_t *den)
{
  for (int64_t d = 1; d <= MAX_DENOMINATOR; d++) {
    const double n = floor(rate * (double)d + 0.5);

    if (n < 0x1p53 && n / (double)d == rate) {
      *num = (int64_t)n;
      *den = d;
      return WEIR_OK;
    }
  }
  return weir_fail(WEIR_ERR_CONFIG,
                   "ecgsyn.model.rate: %.17g Hz is no fraction with a denominator up to %d", rate,
                   MAX_DENOMINATOR);
}

weir_status ps_synth_create(const ps_synth_opts *opts, uint64_t seed, ps_synth **out)
{
  ps_synth *s = NULL;
  weir_status status = WEIR_OK;
  const double rate = opts->model.rate, count = floor(opts->duration * rate + 0.5);

  *out = NULL;
  if (!(count >= 1 && count < 0x1p53)) {
    return weir_fail(WEIR_ERR_CONFIG, "ecgsyn.duration: %g s are %g samples at %g Hz",
                     opts->duration, count, rate);
  }
  WEIR_TRY(weir_alloc(1, sizeof *s, (void **)&s));
  WEIR_TRY_GOTO(find_fraction(rate, &s->fs_num, &s->fs_den), done);
  s->count = (int64_t)count;
  WEIR_TRY_GOTO(ps_ecgsyn_create(&opts->model, seed, &s->ecg), done);
  WEIR_TRY_GOTO(ps_noise_create(&opts->noise, seed, rate, ps_ecgsyn_variance(s->ecg), &s->noise),
                done);
  ps_gaps_init(&opts->gaps, seed, PS_CHANNEL_ECG, rate, &s->gaps);
  ps_gaps_init(&opts->saturation, seed, PS_CHANNEL_SATURATION, rate, &s->saturation);
  s->rail = opts->rail;
  s->ahead = s->gaps;
  WEIR_TRY_GOTO(
      weir_alloc(ps_ecgsyn_capacity(s->ecg, BLOCK), sizeof *s->scratch, (void **)&s->scratch),
      done);
  *out = s;
  return WEIR_OK;
done:
  ps_synth_destroy(&s);
  return status;
}

void ps_synth_destroy(ps_synth **s)
{
  if (*s == NULL) {
    return;
  }
  ps_ecgsyn_destroy(&(*s)->ecg);
  ps_noise_destroy(&(*s)->noise);
  weir_free(&(*s)->scratch);
  weir_free(s);
}

void ps_synth_rate(const ps_synth *s, int64_t *fs_num, int64_t *fs_den)
{
  *fs_num = s->fs_num;
  *fs_den = s->fs_den;
}

int64_t ps_synth_count(const ps_synth *s)
{
  return s->count;
}

int64_t ps_synth_marks(const ps_synth *s, int64_t n)
{
  return ps_ecgsyn_capacity(s->ecg, n);
}

void ps_synth_chunk(ps_synth *s, int64_t n, float *x, uint8_t *present, ps_mark *marks,
                    int64_t *n_marks)
{
  if (marks != NULL) {
    ps_ecgsyn_chunk(s->ecg, n, x, marks, n_marks);
  }
  for (int64_t i = 0; marks == NULL && i < n; i += BLOCK) {
    int64_t ignored = 0;

    ps_ecgsyn_chunk(s->ecg, n - i < BLOCK ? n - i : BLOCK, x + i, s->scratch, &ignored);
  }
  ps_noise_add(s->noise, n, x);
  ps_gaps_fill(&s->saturation, s->at, n, present);
  for (int64_t i = 0; i < n; i++) {
    x[i] = present[i] ? x[i] : (float)s->rail;
  }
  ps_gaps_fill(&s->gaps, s->at, n, present);
  for (int64_t i = 0; i < n; i++) {
    x[i] = present[i] ? x[i] : 0.0f;
  }
  s->at += n;
}

const ps_ecgsyn *ps_synth_ecg(const ps_synth *s)
{
  return s->ecg;
}

void ps_synth_next_run(ps_synth *s, int64_t t, int64_t *lo, int64_t *hi)
{
  *lo = *hi = s->count;
  if (t < s->count) {
    ps_gaps_at(&s->ahead, t, lo, hi);
    *lo = *lo < t ? t : *lo;
    *lo = *lo < s->count ? *lo : s->count;
    *hi = *hi < s->count ? *hi : s->count;
  }
}
