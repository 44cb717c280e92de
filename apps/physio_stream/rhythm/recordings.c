/* recordings.c - see recordings.h. */
#include "rhythm/recordings.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "report/weir_report.h"

enum { PURPOSE_SEED = 0x50530050, PURPOSE_LENGTH, PURPOSE_RATE };
enum { MIN_WINDOW = 32, COLUMNS = 4 };

const weir_opt ps_rhythm_options[] = {
    WEIR_OPT_INT(ps_rhythm_opts, train, 192, 1, 1000000, "recordings", "that are trained on"),
    WEIR_OPT_INT(ps_rhythm_opts, valid, 64, 1, 1000000, "recordings", "of the validation"),
    WEIR_OPT_REAL(ps_rhythm_opts, length.median, 30, 1, 86400, "s",
                  "median length of a recording; lengths are log-normal"),
    WEIR_OPT_REAL(ps_rhythm_opts, length.sigma, 0.6, 0, 3, "1",
                  "standard deviation of the logarithm of the length; 0: all have the median"),
    WEIR_OPT_REAL(ps_rhythm_opts, length.min, 8, 1, 86400, "s", "shortest; drawn ones below: this"),
    WEIR_OPT_REAL(ps_rhythm_opts, length.max, 120, 1, 86400, "s",
                  "longest; drawn ones above: this"),
    WEIR_OPT_REAL(ps_rhythm_opts, heart_rate.min, 55, 25, 220, "1/min",
                  "lowest mean heart rate; each recording has its own, uniform between both"),
    WEIR_OPT_REAL(ps_rhythm_opts, heart_rate.max, 95, 25, 220, "1/min", "highest one"),
    WEIR_OPT_REAL(ps_rhythm_opts, fibrillation.share, 0.5, 0, 1, "1",
                  "recordings with atrial fibrillation: weak or no P waves, irregular beats"),
    WEIR_OPT_REAL(ps_rhythm_opts, fibrillation.irregular, 0.2, 0, 0.5, "1",
                  "ecgsyn.model.irregular of these"),
    WEIR_OPT_REAL(ps_rhythm_opts, fibrillation.p, 0, 0, 1, "1",
                  "strength of their P wave, as a share of ecgsyn.model.p.strength"),
    WEIR_OPT_REAL(ps_rhythm_opts, window, 4, 0.1, 3600, "s",
                  "windows that the network sees one by one; its features are averaged over those "
                  "of a recording"),
    WEIR_OPT_INT(ps_rhythm_opts, filters, 4, 1, 1024, "1",
                 "channels of the first convolution; the second and third have twice as many"),
    WEIR_OPT_INT(ps_rhythm_opts, hidden, 8, 1, 1024, "1", "units of the hidden layer"),
    WEIR_OPT_END,
};

/* ---- What is asked for ---- */

/* Samples of a window. */
static int64_t window_of(const ps_rhythm_opts *o, const ps_synth_opts *ecg)
{
  return llround(o->window * ecg->model.rate);
}

weir_status ps_recordings_check(const ps_rhythm_opts *o, const ps_synth_opts *ecg)
{
  if (!(o->length.min <= o->length.median && o->length.median <= o->length.max)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "rhythm.length: the median, %g s, is not between min, %g s, and max, %g s",
                     o->length.median, o->length.min, o->length.max);
  }
  if (o->heart_rate.min > o->heart_rate.max) {
    return weir_fail(WEIR_ERR_CONFIG, "rhythm.heart_rate: min, %g, is above max, %g",
                     o->heart_rate.min, o->heart_rate.max);
  }
  if (o->window > o->length.min) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "rhythm.window: %g s are more than the shortest recording, rhythm.length.min: "
                     "%g s",
                     o->window, o->length.min);
  }
  return window_of(o, ecg) >= MIN_WINDOW
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "rhythm.window: %g s are %lld samples at %g Hz: the network needs %d",
                         o->window, (long long)window_of(o, ecg), ecg->model.rate, MIN_WINDOW);
}

/* ---- Recordings ---- */

/* What recording i is made of; seed: that of all. */
static ps_synth_opts draw(const ps_rhythm_opts *o, const ps_synth_opts *ecg, uint64_t seed,
                          int64_t i, bool *fibrillates)
{
  const double u = weir_random_uniform(seed, PURPOSE_RATE, 0, (uint64_t)i);
  const double z = weir_random_normal(seed, PURPOSE_LENGTH, 0, (uint64_t)i);
  const double length = o->length.median * exp(o->length.sigma * z);
  ps_synth_opts own = *ecg;

  /* Evenly among the numbers, so that every subset has its share. */
  *fibrillates =
      floor((double)(i + 1) * o->fibrillation.share) > floor((double)i * o->fibrillation.share);
  own.duration = fmin(fmax(length, o->length.min), o->length.max);
  own.model.heart_rate = o->heart_rate.min + u * (o->heart_rate.max - o->heart_rate.min);
  if (*fibrillates) {
    own.model.irregular = o->fibrillation.irregular;
    own.model.p.strength *= o->fibrillation.p;
  }
  return own;
}

/* The samples of one, which are appended. present: scratch for as many as the longest has. */
static weir_status make_one(const ps_synth_opts *o, uint64_t seed, uint8_t *present, float *x,
                            int64_t *count)
{
  ps_synth *synth = NULL;

  WEIR_TRY(ps_synth_create(o, seed, &synth));
  *count = ps_synth_count(synth);
  ps_synth_chunk(synth, *count, x, present, NULL, NULL);
  ps_synth_destroy(&synth);
  return WEIR_OK;
}

static weir_status make_all(const ps_rhythm_opts *o, const ps_synth_opts *ecg, uint64_t seed,
                            ps_recordings *out, uint8_t *present)
{
  int64_t at = 0;

  for (int64_t i = 0; i < o->train + o->valid; i++) {
    ps_recording *const r = &out->recording[i];
    const ps_synth_opts own = draw(o, ecg, seed, i, &r->fibrillates);

    r->first = at;
    WEIR_TRY(make_one(&own, weir_random_bits(seed, PURPOSE_SEED, 0, (uint64_t)i), present,
                      out->x + at, &r->count));
    at += r->count;
    const int64_t windows = ps_recordings_windows(out, i);

    out->max_windows = windows > out->max_windows ? windows : out->max_windows;
  }
  return WEIR_OK;
}

weir_status ps_recordings_make(const ps_rhythm_opts *o, const ps_synth_opts *ecg, uint64_t seed,
                               ps_recordings *out)
{
  const int64_t n = o->train + o->valid;
  const int64_t longest = (int64_t)ceil(o->length.max * ecg->model.rate) + 1;
  double total = 0;
  uint8_t *present = NULL;
  weir_status status = WEIR_OK;

  *out = (ps_recordings){.n_train = o->train,
                         .n_valid = o->valid,
                         .rate = ecg->model.rate,
                         .window = window_of(o, ecg)};
  WEIR_TRY(ps_recordings_check(o, ecg));
  for (int64_t i = 0; i < n; i++) {
    bool fibrillates;

    total += ceil(draw(o, ecg, seed, i, &fibrillates).duration * ecg->model.rate) + 1;
  }
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *out->recording, (void **)&out->recording), done);
  WEIR_TRY_GOTO(weir_alloc((int64_t)total, sizeof *out->x, (void **)&out->x), done);
  WEIR_TRY_GOTO(weir_alloc(longest, sizeof *present, (void **)&present), done);
  WEIR_TRY_GOTO(make_all(o, ecg, seed, out, present), done);
done:
  weir_free(&present);
  return status;
}

void ps_recordings_fini(ps_recordings *r)
{
  weir_free(&r->recording);
  weir_free(&r->x);
}

double ps_recordings_length(const ps_recordings *r, int64_t i)
{
  return (double)r->recording[i].count / r->rate;
}

int64_t ps_recordings_windows(const ps_recordings *r, int64_t i)
{
  return (r->recording[i].count + r->window - 1) / r->window;
}

void ps_recordings_copy(const ps_recordings *r, int64_t i, float *x)
{
  const ps_recording *const one = &r->recording[i];
  const int64_t windows = ps_recordings_windows(r, i), last = one->count - r->window;

  for (int64_t k = 0; k < windows; k++) {
    const int64_t at = k * r->window < last ? k * r->window : last;

    memcpy(x + k * r->window, r->x + one->first + at, (size_t)r->window * sizeof *x);
  }
}

weir_status ps_recordings_write(const ps_recordings *r, const char *dir)
{
  static const char *const head[COLUMNS] = {"recording", "subset", "rhythm", "length (s)"};
  weir_table t = {0};

  for (int64_t i = 0; i < r->n_train + r->n_valid; i++) {
    weir_table_add(&t, "%lld", (long long)i);
    weir_table_add(&t, "%s", i < r->n_train ? "train" : "valid");
    weir_table_add(&t, "%s", r->recording[i].fibrillates ? "atrial fibrillation" : "sinus");
    weir_table_add_number(&t, "%.9g", ps_recordings_length(r, i), "nan");
  }
  const weir_status status = weir_table_write_csv(&t, dir, "recordings.csv", COLUMNS, head);

  weir_table_fini(&t);
  return status;
}
