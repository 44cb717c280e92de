/* classifier_test.c - what follows the end of a recording never matters, every sample of it does;
 * recordings are as asked for; gradients. */
#include "rhythm/classifier.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "support/graph/store_check.h"

enum { TRAIN = 9, VALID = 3, SEED = 7 };

/* Recordings of 2 to 12 windows of 64 samples, with which a test fetches batches. */
typedef struct padded {
  ps_recordings recordings;
  float padding;  /* of windows that a recording does not have */
  int64_t change; /* 1 + a training recording whose last sample is another; 0: none */
} padded;

static ps_rhythm_opts small(void)
{
  ps_rhythm_opts o;

  weir_opts_default(ps_rhythm_options, sizeof o, &o);
  o.train = TRAIN;
  o.valid = VALID;
  o.length.median = 5;
  o.length.min = 1.5;
  o.length.max = 12;
  o.window = 1;
  o.filters = 3;
  o.hidden = 4;
  return o;
}

static ps_synth_opts heart(void)
{
  ps_synth_opts ecg;

  weir_opts_default(ps_synth_options, sizeof ecg, &ecg);
  ecg.model.rate = 64;
  ecg.model.calibration = 5;
  ecg.model.rr_points = 256;
  return ecg;
}

static weir_status fetch(void *context, const weir_train_batch *want, weir_tensor *const *tensor)
{
  padded *const p = context;
  float *const x = tensor[PS_CLASSIFIER_X]->data;
  const float *const present = tensor[PS_CLASSIFIER_PRESENT]->data;
  const int64_t window = p->recordings.window, windows = tensor[PS_CLASSIFIER_X]->shape[1];

  WEIR_TRY(ps_classifier_fetch(&p->recordings, want, tensor));
  for (int64_t i = 0; i < want->n * windows * window; i++) {
    x[i] = present[i / window] > 0 ? x[i] : p->padding;
  }
  for (int64_t i = 0; i < want->n; i++) {
    if (want->split == WEIR_TRAIN_SAMPLES && want->sample[i] == p->change - 1) {
      const int64_t own = ps_recordings_windows(&p->recordings, want->sample[i]);

      x[(i * windows + own) * window - 1] += 1;
    }
  }
  return WEIR_OK;
}

/* Trains for two epochs of 3 steps; the weights are to be freed. */
static float *train(float padding, int64_t more_windows, int64_t change, int64_t *n, double *loss)
{
  const ps_rhythm_opts o = small();
  const ps_synth_opts ecg = heart();
  padded p = {.padding = padding, .change = change};
  ps_classifier c;
  weir_exec_cfg exec;
  weir_train_cfg cfg;
  weir_train_result result;
  weir_config *config = NULL;
  char dir[256];
  float *weights = NULL;
  const char *const sets[] = {"epochs=2", "batch=3", "optim.rule=momentum"};

  weir_check_mkdir(dir, sizeof dir);
  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = WEIR_TIER_VECTOR; /* no compiler */
  assert_ok(weir_config_load(weir_train_opts, sizeof cfg, NULL, 0, sets, 3, &cfg, &config));
  assert_ok(ps_recordings_make(&o, &ecg, SEED, &p.recordings));
  assert_ok(
      ps_classifier_open(&o, &p.recordings, p.recordings.max_windows + more_windows, SEED, &c));
  c.task.fetch = fetch;
  c.task.context = &p;
  assert_ok(weir_train_run(&c.task, &cfg, &(weir_plan_opts){.exec = &exec, .threads = 1}, c.params,
                           c.store, dir, &result));
  assert_int_equal(result.step, 6);
  *n = weir_params_elements(c.params);
  *loss = result.valid_loss;
  assert_ok(weir_alloc(*n, sizeof *weights, (void **)&weights));
  memcpy(weights, check_stored(c.store, WEIR_PARAMS_FLAT)->data, (size_t)*n * sizeof *weights);
  ps_classifier_close(&c);
  ps_recordings_fini(&p.recordings);
  weir_config_destroy(&config);
  weir_check_rmdir(dir);
  return weights;
}

/* Whatever the padding has in it, NaN too: the same bits. However much there is: the same but for
 * the order of sums. */
static void padding_changes_nothing(void **state)
{
  static const float padding[] = {7, (float)NAN, -1e30f};
  int64_t n, m;
  double loss, own;
  float *plain = train(0, 0, 0, &n, &loss);

  (void)state;
  assert_true(isfinite(loss));
  for (size_t k = 0; k < sizeof padding / sizeof padding[0]; k++) {
    float *weights = train(padding[k], 0, 0, &m, &own);

    assert_int_equal(m, n);
    assert_memory_equal(weights, plain, (size_t)n * sizeof *plain);
    assert_true(own == loss);
    weir_free(&weights);
  }
  float *longer = train(3, 5, 0, &m, &own);

  assert_int_equal(m, n);
  assert_int_equal(
      weir_compare("weights", WEIR_F32, longer, plain, n, (weir_tolerance){1e-6, 1e-5}), 0);
  assert_near(own, loss, 1e-6);
  weir_free(&longer);
  weir_free(&plain);
}

/* The last window of a recording counts, as the others do. */
static void the_last_sample_matters(void **state)
{
  int64_t n;
  double loss;
  float *plain = train(0, 0, 0, &n, &loss);

  (void)state;
  for (int64_t i = 0; i < TRAIN; i += 4) {
    float *weights = train(0, 0, 1 + i, &n, &loss);

    assert_true(memcmp(weights, plain, (size_t)n * sizeof *plain) != 0);
    weir_free(&weights);
  }
  weir_free(&plain);
}

static void windows_cover_a_recording(void **state)
{
  const ps_rhythm_opts o = small();
  const ps_synth_opts ecg = heart();
  ps_recordings r;
  float x[64 * 13];

  (void)state;
  assert_ok(ps_recordings_make(&o, &ecg, SEED, &r));
  assert_int_equal(r.window, 64);
  assert_in_range(r.max_windows, 2, 12);
  for (int64_t i = 0; i < TRAIN + VALID; i++) {
    const ps_recording *const one = &r.recording[i];
    const int64_t windows = ps_recordings_windows(&r, i), whole = one->count / r.window;

    assert_true(windows * 64 >= one->count && (windows - 1) * 64 < one->count);
    assert_near(ps_recordings_length(&r, i), (double)one->count / 64, 1e-12);
    assert_int_equal(one->fibrillates, i % 2);
    ps_recordings_copy(&r, i, x);
    assert_memory_equal(x, r.x + one->first, (size_t)(whole * 64) * sizeof *x);
    assert_memory_equal(x + (windows - 1) * 64, r.x + one->first + one->count - 64, 64 * sizeof *x);
  }
  ps_recordings_fini(&r);
}

static double mean_log(const ps_recordings *r, int64_t n, double *std)
{
  double sum = 0, square = 0;

  for (int64_t i = 0; i < n; i++) {
    const double z = log(ps_recordings_length(r, i));

    sum += z / (double)n;
    square += z * z / (double)n;
  }
  *std = sqrt(square - sum * sum);
  return sum;
}

/* Log-normal within the limits, functions of seed and number alone. */
static void lengths_are_as_asked(void **state)
{
  ps_rhythm_opts o = small();
  const ps_synth_opts ecg = heart();
  ps_recordings few, many;
  double std;

  (void)state;
  o.length.sigma = 0.3;
  assert_ok(ps_recordings_make(&o, &ecg, SEED, &few));
  o.train = 120;
  assert_ok(ps_recordings_make(&o, &ecg, SEED, &many));
  assert_near(mean_log(&many, 120, &std), log(5), 0.1);
  assert_near(std, 0.3, 0.06);
  assert_memory_equal(few.x, many.x,
                      (size_t)(few.recording[TRAIN].first + few.recording[TRAIN].count) *
                          sizeof *few.x);
  ps_recordings_fini(&few);
  ps_recordings_fini(&many);
}

static void what_cannot_be_is_refused(void **state)
{
  const ps_synth_opts ecg = heart();
  ps_rhythm_opts o = small();

  (void)state;
  o.length.median = 13;
  assert_int_equal(ps_recordings_check(&o, &ecg), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "the median, 13 s, is not between"));
  o = small();
  o.window = 2;
  assert_int_equal(ps_recordings_check(&o, &ecg), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "2 s are more than the shortest recording"));
  o.window = 0.25;
  assert_int_equal(ps_recordings_check(&o, &ecg), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "16 samples at 64 Hz"));
  o = small();
  o.heart_rate.min = 100;
  assert_int_equal(ps_recordings_check(&o, &ecg), WEIR_ERR_CONFIG);
}

static void gradients_are_derivatives(void **state)
{
  const ps_rhythm_opts o = small();
  const ps_synth_opts ecg = heart();
  ps_recordings r;
  ps_classifier c;
  weir_exec_cfg exec;
  weir_train_check_cfg cfg;
  double worst = 1;
  FILE *const null = fopen("/dev/null", "w");

  (void)state;
  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = WEIR_TIER_VECTOR;
  weir_opts_default(weir_train_check_opts, sizeof cfg, &cfg);
  assert_ok(ps_recordings_make(&o, &ecg, SEED, &r));
  assert_ok(ps_classifier_open(&o, &r, r.max_windows, SEED, &c));
  assert_ok(weir_train_check(&c.task, &cfg, &(weir_plan_opts){.exec = &exec, .threads = 1}, null,
                             &worst));
  ps_classifier_close(&c);
  ps_recordings_fini(&r);
  fclose(null);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(padding_changes_nothing),   cmocka_unit_test(the_last_sample_matters),
      cmocka_unit_test(windows_cover_a_recording), cmocka_unit_test(lengths_are_as_asked),
      cmocka_unit_test(what_cannot_be_is_refused), cmocka_unit_test(gradients_are_derivatives),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
