/* apply_test.c - the network of beats in a stream: what it gives is what the classifier gives of
 * the window of each beat, whatever the chunks; gaps, and what does not fit. */
#include "beats/apply.h"
#include "beats/onnx.h"
#include "support/physio_stream/beat_weights.h"
#include "support/physio_stream/step_check.h"

extern const weir_series_op ps_step_beat_class;
extern const weir_series_op ps_step_network;

enum { RATE = 250, N = 40 * RATE, LEADS = 2, INPUTS = 4 + LEADS - 1 };

/* A network that PyTorch exported, with metadata: two leads, three features. */
static const char onnx[] = WEIR_SOURCE_DIR "/tests/fuzz/seeds/onnx/beat_network20.onnx";

/* Weights of a network of two leads, in a folder of their own. */
typedef struct scene {
  char dir[256], path[320], set[360];
  const char *sets[2];
} scene;

static int make_weights(void **state)
{
  static scene s;
  const char *two[LEADS] = {"a", "b"};
  ps_beat_network_opts o = beat_opts();
  ps_beat_network is;

  o.signals = (weir_string_list){.items = two, .count = LEADS};
  assert_ok(ps_beat_network_of(&o, &is));
  beat_examples e = beat_examples_new(60, &is);

  weir_check_mkdir(s.dir, sizeof s.dir);
  beat_weights_make(&o, &e, 10, s.dir, s.path, sizeof s.path);
  (void)snprintf(s.set, sizeof s.set, "network=%s", s.path);
  s.sets[0] = s.set;
  beat_examples_free(&e);
  *state = &s;
  return 0;
}

static int drop_weights(void **state)
{
  const scene *const s = *state;

  weir_check_rmdir(s->dir);
  return 0;
}

/* Beats of 0.7 to 0.9 s, every seventh wide. in: the ECG, intervals, widths, P waves, a lead. */
static void simulate(step_signal in[INPUTS])
{
  static const char *const units[INPUTS] = {"mV", "s", "s", "s", "mV"};
  int64_t at = RATE, last = -1;

  for (int k = 0; k < INPUTS; k++) {
    in[k] = step_signal_new(N, RATE, 1);
    in[k].unit = units[k];
    memset(in[k].present, k % 4 == 0, N);
  }
  for (int64_t b = 0; at < N - RATE; b++) {
    for (int64_t t = at - 50; t <= at + 50; t++) {
      const double u = (double)(t - at) / (b % 7 == 6 ? 9 : 3);

      in[0].x[t] += (float)exp(-u * u / 2);
      in[4].x[t] += (float)(-0.4 * exp(-u * u / 4));
    }
    if (last >= 0) {
      in[1].present[at] = in[2].present[at] = 1;
      in[1].x[at] = (float)(at - last) / RATE;
      in[2].x[at] = 0.1f;
    }
    last = at;
    at += RATE * 4 / 5 + (int64_t)(20 * weir_random_normal(1, 1, 0, (uint64_t)b));
  }
}

static void free_all(step_signal *in)
{
  for (int k = 0; k < INPUTS; k++) {
    step_signal_free(&in[k]);
  }
}

/* Those of beat_class with the network of a file. */
static void check_results(const char *path)
{
  char set[400];
  const char *const sets[] = {set, NULL};
  step_signal in[INPUTS];
  ps_beat_classifier c;
  step_result r;
  int64_t n = 0;

  (void)snprintf(set, sizeof set, "network=%s", path);
  simulate(in);
  assert_ok(path == onnx ? ps_beat_onnx_open(path, &c) : ps_beat_classifier_open(path, &c));
  const int64_t behind = ps_beat_window_behind(&c.is.window, RATE);

  step_check_chunks(&ps_step_beat_class, sets, in, INPUTS, &r);
  assert_int_equal(r.n, PS_FEATURES + 2);
  for (int64_t t = 0; t < N; t++) {
    const float *const logits = c.logits.data;
    double sum = 0;

    assert_int_equal(step_get(&r, "class")->present[t], r.out[0].present[t]);
    if (!r.out[0].present[t]) {
      continue;
    }
    for (int k = 0; k < LEADS; k++) {
      ps_beat_window_take(&c.is.window, RATE, in[4 * k].x + t - behind, LEADS,
                          (float *)c.x.data + k);
    }
    for (int64_t k = 0; k < c.is.features; k++) {
      ((float *)c.f.data)[k] = r.out[k].x[t];
    }
    assert_ok(ps_beat_classifier_run(&c));
    const int found = ps_beat_classifier_class(&c);

    for (int k = 0; k < PS_CLASSES; k++) {
      sum += exp((double)logits[k] - (double)logits[found]);
    }
    assert_int_equal(step_get(&r, "class")->x[t], 1 + found);
    assert_near((double)step_get(&r, "probability")->x[t], 1 / sum, 1e-6);
    n++;
  }
  assert_true(n > 35);
  step_result_free(&r);
  ps_beat_classifier_close(&c);
  free_all(in);
}

static void results_are_those_of_windows(void **state)
{
  check_results(((const scene *)*state)->path);
  check_results(onnx);
}

/* The step `network` with the same file, given leads and features: the largest of its probabilities
 * is that of beat_class, and of its class. */
static void check_step_network(const char *path)
{
  char file[400], network[400];
  const char *const classes_sets[] = {network, NULL};
  const char *const sets[] = {file, "scores=softmax", NULL}, *const hop[] = {file, "hop=1", NULL};
  step_signal in[INPUTS], own[LEADS + 3];
  step_result r, classes;
  step_frame f;

  (void)snprintf(file, sizeof file, "file=%s", path);
  (void)snprintf(network, sizeof network, "network=%s", path);
  simulate(in);
  step_run(&ps_step_beat_class, classes_sets, in, INPUTS, (step_how){0}, &classes);
  own[0] = in[0];
  own[1] = in[4];
  for (int k = 0; k < 3; k++) {
    own[LEADS + k] =
        (step_signal){classes.out[k].x, classes.out[k].present, N, RATE, 1, classes.out[k].unit};
  }
  step_check_chunks(&ps_step_network, sets, own, LEADS + 3, &r);
  assert_int_equal(r.n, PS_CLASSES);
  for (int64_t t = 0; t < N; t++) {
    const step_stream *const found = step_get(&classes, "class");

    assert_int_equal(r.out[0].present[t], found->present[t]);
    if (found->present[t]) {
      const int c = (int)found->x[t] - 1;
      const double sum = (double)r.out[0].x[t] + (double)r.out[1].x[t] + (double)r.out[2].x[t];

      assert_near((double)r.out[c].x[t], (double)step_get(&classes, "probability")->x[t], 0);
      assert_near(sum, 1, 1e-6);
    }
  }
  assert_int_equal(step_build(&ps_step_network, hop, own, LEADS + 3, &f), WEIR_ERR_CONFIG);
  step_frame_fini(&f);
  assert_int_equal(step_build(&ps_step_network, sets, own, 2, &f), WEIR_ERR_CONFIG);
  step_frame_fini(&f);
  step_result_free(&r);
  step_result_free(&classes);
  free_all(in);
}

static void the_step_network_takes_the_file(void **state)
{
  check_step_network(((const scene *)*state)->path);
  check_step_network(onnx);
}

/* A sample of a lead that is missing in the window of one beat. */
static void gaps_have_no_class(void **state)
{
  const scene *const s = *state;
  step_signal in[INPUTS];
  step_result r;
  int64_t beats = 0, at = 0;

  simulate(in);
  for (int64_t t = 0; t < N; t++) {
    beats += in[1].present[t];
    at = beats == 20 && in[1].present[t] ? t : at;
  }
  in[4].present[at + 40] = 0; /* 0.16 s after it: the features are of the other lead */
  step_check_chunks(&ps_step_beat_class, s->sets, in, INPUTS, &r);
  assert_true(r.out[0].present[at]);
  assert_false(step_get(&r, "class")->present[at]);
  assert_int_equal(step_count(step_get(&r, "class")), step_count(&r.out[0]) - 1);
  step_result_free(&r);
  free_all(in);
}

static void assert_refused(const char *const *sets, const step_signal *in, int n_in,
                           const char *text)
{
  step_frame f;

  assert_true(step_build(&ps_step_beat_class, sets, in, n_in, &f) != WEIR_OK);
  if (strstr(weir_last_message(), text) == NULL) {
    fail_msg("\"%s\" does not say \"%s\"", weir_last_message(), text);
  }
  step_frame_fini(&f);
}

static void what_does_not_fit_is_refused(void **state)
{
  const scene *const s = *state;
  const char *const both[] = {s->set, "weights=[1, 2]", NULL}, *const none[] = {"network=no.nc",
                                                                                NULL};
  step_signal in[INPUTS];

  simulate(in);
  assert_refused(s->sets, in, 4, "was trained on 2 leads");
  assert_refused(NULL, in, INPUTS, "are for a network");
  assert_refused(both, in, INPUTS, "give one of them");
  assert_refused(none, in, INPUTS, "no.nc");
  in[4].unit = "mmHg";
  assert_refused(s->sets, in, INPUTS, "takes leads in mV, not in mmHg");
  in[4].unit = "mV";
  in[4].rate_num = 125;
  assert_refused(s->sets, in, INPUTS, "have one rate: 250 and 125 Hz");
  free_all(in);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_are_those_of_windows),
      cmocka_unit_test(the_step_network_takes_the_file),
      cmocka_unit_test(gaps_have_no_class),
      cmocka_unit_test(what_does_not_fit_is_refused),
  };

  return cmocka_run_group_tests(tests, make_weights, drop_weights);
}
