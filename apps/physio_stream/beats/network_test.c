/* network_test.c - the network of beats equals its formulas, its gradient finite differences; it
 * learns what it is shown, and what is no file of its weights is refused. */
#include "beats/network.h"
#include "base/weir_file.h"
#include "io/weir_netcdf.h"
#include "support/graph/store_check.h"
#include "support/physio_stream/beat_weights.h"

enum { MOST = 4096 };

/* ---- The formulas, in double ---- */

static const float *param(const ps_beat_classifier *c, const char *name)
{
  const int64_t row = weir_params_find(c->params, name);

  assert_true(row >= 0);
  return (const float *)check_stored(c->store, WEIR_PARAMS_FLAT)->data +
         weir_params_get(c->params, row)->first;
}

/* One convolution of `kernel` samples of x [n, in], ReLU, maximum of pairs: y [n / 2, out]. */
static void convolve(const ps_beat_classifier *c, const char *name, int64_t kernel, int64_t n,
                     int64_t in, int64_t out, const double *x, double *y)
{
  char weight[64], bias[64];

  (void)snprintf(weight, sizeof weight, "%s/weight", name);
  (void)snprintf(bias, sizeof bias, "%s/bias", name);
  const float *const w = param(c, weight), *const b = param(c, bias);

  for (int64_t o = 0; o < out; o++) {
    for (int64_t t = 0; t < n / 2 * 2; t++) {
      double sum = (double)b[o];

      for (int64_t k = 0; k < kernel; k++) {
        const int64_t s = t + k - (kernel - 1) / 2;

        for (int64_t i = 0; i < in && s >= 0 && s < n; i++) {
          sum += x[s * in + i] * (double)w[(k * in + i) * out + o];
        }
      }
      sum = fmax(sum, 0);
      y[t / 2 * out + o] = t % 2 == 0 ? sum : fmax(sum, y[t / 2 * out + o]);
    }
  }
}

static void dense(const ps_beat_classifier *c, const char *name, int64_t in, int64_t out,
                  const double *x, double *y)
{
  char weight[64], bias[64];

  (void)snprintf(weight, sizeof weight, "%s/weight", name);
  (void)snprintf(bias, sizeof bias, "%s/bias", name);
  for (int64_t o = 0; o < out; o++) {
    y[o] = (double)param(c, bias)[o];
    for (int64_t i = 0; i < in; i++) {
      y[o] += x[i] * (double)param(c, weight)[i * out + o];
    }
  }
}

static void reference(const ps_beat_classifier *c, double *logits)
{
  const ps_beat_network *const is = &c->is;
  const int64_t n = ps_beat_window_samples(&is->window), f = is->filters;
  const float *const mean = check_stored(c->store, "features/mean")->data;
  const float *const sd = check_stored(c->store, "features/sd")->data;
  double x[MOST], y[MOST], h[MOST];

  for (int64_t i = 0; i < n * is->leads; i++) {
    x[i] = (double)((const float *)c->x.data)[i];
  }
  convolve(c, "conv1", 7, n, is->leads, f, x, y);
  convolve(c, "conv2", 5, n / 2, f, 2 * f, y, x);
  convolve(c, "conv3", 5, n / 4, 2 * f, 2 * f, x, y);
  const int64_t flat = n / 8 * 2 * f;

  for (int64_t k = 0; k < is->features; k++) {
    y[flat + k] = ((double)((const float *)c->f.data)[k] - (double)mean[k]) / (double)sd[k];
  }
  dense(c, "hidden", flat + is->features, is->hidden, y, h);
  for (int64_t k = 0; k < is->hidden; k++) {
    h[k] = fmax(h[k], 0);
  }
  dense(c, "logits", is->hidden, PS_CLASSES, h, logits);
}

/* ---- Tests ---- */

/* 33 samples of two leads: pairs leave samples over. */
static void logits_equal_the_formulas(void **state)
{
  ps_beat_network_opts o = beat_opts();
  const char *two[2] = {"a", "b"};
  char dir[256], path[320];
  ps_beat_network is;
  ps_beat_classifier c;

  o.after = 0.265;
  o.features = PS_BEAT_FEATURES_ALL;
  o.signals = (weir_string_list){.items = two, .count = 2};
  assert_ok(ps_beat_network_of(&o, &is));
  assert_int_equal(ps_beat_window_samples(&is.window), 33);
  beat_examples e = beat_examples_new(60, &is);

  weir_check_mkdir(dir, sizeof dir);
  beat_weights_make(&o, &e, 5, dir, path, sizeof path);
  assert_ok(ps_beat_classifier_open(path, &c));
  assert_int_equal(c.is.leads, 2);
  assert_int_equal(c.is.features, PS_FEATURES);
  for (int64_t i = 0; i < 12; i++) {
    double want[PS_CLASSES];

    memcpy(c.x.data, e.window + i * 66, 66 * sizeof(float));
    for (int k = 0; k < PS_FEATURES; k++) {
      ((float *)c.f.data)[k] = (float)e.beat[i].x[k];
    }
    assert_ok(ps_beat_classifier_run(&c));
    reference(&c, want);
    for (int k = 0; k < PS_CLASS_F; k++) {
      assert_near((double)((float *)c.logits.data)[k], want[k], 1e-5);
    }
    assert_true(((float *)c.logits.data)[PS_CLASS_F] < -9e8); /* no beat is of it */
  }
  ps_beat_classifier_close(&c);
  beat_examples_free(&e);
  weir_check_rmdir(dir);
}

static void gradients_equal_differences(void **state)
{
  ps_beat_network_opts o = beat_opts();
  weir_train_check_cfg cfg;
  weir_exec_cfg exec;
  ps_beat_network is;
  ps_beat_training t;
  FILE *const null = fopen("/dev/null", "w");
  double worst = 0;

  assert_ok(ps_beat_network_of(&o, &is));
  beat_examples e = beat_examples_new(60, &is);
  const ps_beat_set set = {.beat = e.beat, .window = e.window};
  const ps_beat_split split = {.beat = e.number, .n_train = 60};

  weir_opts_default(weir_train_check_opts, sizeof cfg, &cfg);
  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  cfg.batch = 5;
  exec.tier = WEIR_TIER_VECTOR;
  assert_ok(ps_beat_training_open(&o, &set, &split, 2, 3, &t));
  assert_ok(weir_train_check(&t.task, &cfg, &(weir_plan_opts){.exec = &exec, .threads = 1}, null,
                             &worst));
  (void)fclose(null);
  assert_true(worst < 1e-5);
  ps_beat_training_close(&t);
  beat_examples_free(&e);
}

/* After 60 steps it tells the beats apart that it has not seen, the last 30. */
static void beats_are_learnt(void **state)
{
  const ps_beat_network_opts o = beat_opts();
  char dir[256], path[320];
  ps_beat_network is;
  ps_beat_classifier c;
  int right = 0;

  assert_ok(ps_beat_network_of(&o, &is));
  const int64_t size = ps_beat_window_samples(&is.window);
  beat_examples e = beat_examples_new(150, &is);

  weir_check_mkdir(dir, sizeof dir);
  beat_weights_make(&o, &e, 60, dir, path, sizeof path);
  assert_ok(ps_beat_classifier_open(path, &c));
  for (int64_t i = 120; i < 150; i++) {
    memcpy(c.x.data, e.window + i * size, (size_t)size * sizeof(float));
    for (int64_t k = 0; k < c.is.features; k++) {
      ((float *)c.f.data)[k] = (float)e.beat[i].x[k];
    }
    assert_ok(ps_beat_classifier_run(&c));
    right += ps_beat_classifier_class(&c) == e.beat[i].kind;
  }
  assert_true(right >= 29);
  ps_beat_classifier_close(&c);
  beat_examples_free(&e);
  weir_check_rmdir(dir);
}

/* Weights never mix what they were trained on, not even where no step is left. */
static void a_run_resumes_on_its_own_beats_alone(void **state)
{
  const ps_beat_network_opts o = beat_opts();
  ps_beat_network is;
  char dir[256];

  assert_ok(ps_beat_network_of(&o, &is));
  beat_examples e = beat_examples_new(60, &is);

  weir_check_mkdir(dir, sizeof dir);
  assert_ok(beat_weights_train(&o, &e, 3, dir));
  assert_ok(beat_weights_train(&o, &e, 5, dir));
  const float own = e.window[7];

  e.window[7] = own + 1;
  for (int64_t steps = 5; steps < 8; steps += 2) {
    assert_int_equal(beat_weights_train(&o, &e, steps, dir), WEIR_ERR_CONFIG);
    assert_non_null(strstr(weir_last_message(), "was trained on other beats"));
  }
  e.window[7] = own;
  assert_ok(beat_weights_train(&o, &e, 7, dir));
  e.beat[59].x[PS_FEATURE_POST] += 1; /* of the validation */
  assert_int_equal(beat_weights_train(&o, &e, 8, dir), WEIR_ERR_CONFIG);
  beat_examples_free(&e);
  weir_check_rmdir(dir);
}

/* n / (K n_c) of the classes that are learnt, 0 of others. */
static void rare_classes_weigh_more(void **state)
{
  ps_beat_network_opts o = beat_opts();
  ps_beat_network is;
  ps_beat_training t;

  assert_ok(ps_beat_network_of(&o, &is));
  beat_examples e = beat_examples_new(60, &is);
  const ps_beat_set set = {.beat = e.beat, .window = e.window};
  const ps_beat_split split = {.beat = e.number, .n_train = 60};

  for (int i = 0; i < 45; i++) {
    e.beat[i].kind = PS_CLASS_N; /* 50 N, 5 S, 5 V */
  }
  assert_ok(ps_beat_training_open(&o, &set, &split, 5, 1, &t));
  assert_near(t.class_weight[PS_CLASS_N], 60.0 / (3 * 50), 1e-12);
  assert_near(t.class_weight[PS_CLASS_V], 60.0 / (3 * 5), 1e-12);
  assert_near(t.class_weight[PS_CLASS_F], 0, 0);
  ps_beat_training_close(&t);
  o.class_weights = PS_BEAT_WEIGHTS_NONE;
  assert_ok(ps_beat_training_open(&o, &set, &split, 5, 1, &t));
  assert_near(t.class_weight[PS_CLASS_S], 1, 0);
  ps_beat_training_close(&t);
  assert_int_equal(ps_beat_training_open(&o, &set, &split, 6, 1, &t), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "two are needed"));
  ps_beat_training_close(&t);
  beat_examples_free(&e);
}

static void assert_refused(const char *path, weir_status status)
{
  ps_beat_classifier c;

  assert_int_equal(ps_beat_classifier_open(path, &c), status);
  assert_non_null(strstr(weir_last_message(), path));
  ps_beat_classifier_close(&c);
}

static void other_files_are_refused(void **state)
{
  ps_beat_network_opts o = beat_opts();
  const int64_t count = 12, other = 3;
  char dir[256], path[320];
  ps_beat_network is;
  weir_tensor *t = NULL;
  weir_store *store = NULL;

  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/none.nc", dir);
  assert_refused(path, WEIR_ERR_DATA);
  assert_ok(weir_store_create(&store));
  assert_ok(weir_store_add(store, "other", WEIR_F64, 1, &other));
  (void)snprintf(path, sizeof path, "%s/other.nc", dir);
  assert_ok(weir_checkpoint_save(&(weir_checkpoint){.store = store}, WEIR_CHECKPOINT_AUTO, path));
  assert_refused(path, weir_netcdf_available() ? WEIR_ERR_SHAPE : WEIR_ERR_DATA);
  assert_ok(weir_store_add(store, PS_BEAT_NETWORK_ARRAY, WEIR_F64, 1, &count));
  assert_ok(weir_store_write(store, PS_BEAT_NETWORK_ARRAY, &t));
  ((double *)t->data)[0] = 1;
  (void)snprintf(path, sizeof path, "%s/zero.nc", dir);
  assert_ok(weir_checkpoint_save(&(weir_checkpoint){.store = store}, WEIR_CHECKPOINT_AUTO, path));
  assert_refused(path, WEIR_ERR_DATA);
  for (int k = 0; k < 4; k++) { /* a rate that no window has; seconds; more weights than bytes */
    static const double numbers[4][12] = {{1, 1e-300, 20, 20, 1, 3, 8, 32, 1, 1, 1, 1},
                                          {1, 1, 2000, 20, 1, 3, 8, 32, 1, 1, 1, 1},
                                          {1, NAN, 20, 20, 1, 3, 8, 32, 1, 1, 1, 1},
                                          {1, 1000, 2000, 2000, 1, 3, 1024, 4096, 1, 1, 1, 1}};

    memcpy(t->data, numbers[k], sizeof numbers[k]);
    (void)snprintf(path, sizeof path, "%s/wrong%d.nc", dir, k);
    assert_ok(weir_checkpoint_save(&(weir_checkpoint){.store = store}, WEIR_CHECKPOINT_AUTO, path));
    assert_refused(path, WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), k < 3 ? "of this version" : "bytes can have"));
  }
  weir_store_destroy(&store);
  weir_check_rmdir(dir);
  o.before = 0.01;
  o.after = 0.02;
  assert_int_equal(ps_beat_network_of(&o, &is), WEIR_ERR_CONFIG);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(logits_equal_the_formulas),
      cmocka_unit_test(gradients_equal_differences),
      cmocka_unit_test(beats_are_learnt),
      cmocka_unit_test(a_run_resumes_on_its_own_beats_alone),
      cmocka_unit_test(rare_classes_weigh_more),
      cmocka_unit_test(other_files_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
