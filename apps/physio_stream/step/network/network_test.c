/* network_test.c - results of windows are those of PyTorch, whatever the chunks; gaps; refusals. */
#include "support/nn/onnx_expected.h"
#include "support/physio_stream/step_check.h"

extern const weir_series_op ps_step_network;

enum { N = 900, RATE = 20, SETS = 8 };

/* "key=value" texts: the file of that name in the seeds, then others, NULL at the end. */
typedef struct step_sets {
  char file[512];
  const char *text[SETS];
} step_sets;

static step_sets *sets_of(const char *name, const char *a, const char *b, const char *c)
{
  static step_sets s;

  (void)snprintf(s.file, sizeof s.file, "file=%s/tests/fuzz/seeds/onnx/%s.onnx", WEIR_SOURCE_DIR,
                 name);
  const char *const text[SETS] = {s.file, "fs=20", a, b, c};

  memcpy(s.text, text, sizeof text);
  return &s;
}

/* Signals of onnx_export.py, from slot `from` on. */
static void draw(step_signal *in, int n_in, int64_t from)
{
  for (int c = 0; c < n_in; c++) {
    in[c] = step_signal_new(N, RATE, 1);
    in[c].unit = "mV";
    for (int64_t i = 0; i < N; i++) {
      const double t = (double)(i - from);

      in[c].x[i] = (float)(sin(0.7 * t + 1.3 * c) + 0.25 * cos(2.9 * t));
    }
  }
}

static void drop(step_signal *s, int64_t lo, int64_t hi)
{
  for (int64_t t = lo; t < hi; t++) {
    s->present[t] = 0;
    s->x[t] = 0;
  }
}

static void windows_equal_pytorch(void **state)
{
  step_signal in[2];
  step_result r;

  draw(in, 2, 12);
  step_run(&ps_step_network, sets_of("rhythm17", "hop=0.6", NULL, NULL)->text, in, 1, (step_how){0},
           &r);
  assert_int_equal(r.n, 1);
  assert_null(r.out[0].name);
  assert_int_equal(r.out[0].rate_num * 3, r.out[0].rate_den * 5);
  for (int64_t j = 0; j < r.out[0].n; j++) { /* windows [12 (j + 1) - 48, 12 (j + 1)) */
    assert_int_equal(r.out[0].present[j], j >= 3);
  }
  assert_near((double)r.out[0].x[4], onnx_rhythm[0], 3e-7);
  step_result_free(&r);
  step_run(&ps_step_network, sets_of("blocks20", "hop=1", "label=end", "outputs=[a, b, c]")->text,
           in, 2, (step_how){0}, &r);
  assert_int_equal(r.n, 3);
  for (int k = 0; k < 3; k++) { /* the window [12, 40) ends with hop 1 */
    assert_near((double)r.out[k].x[2], onnx_blocks[k], 3e-7);
  }
  step_result_free(&r);
  step_run(&ps_step_network, sets_of("samples17", "results=samples", "hop=1.2", NULL)->text, in, 1,
           (step_how){0}, &r);
  assert_int_equal(r.n, 2);
  assert_int_equal(r.out[0].n, N);
  for (int64_t t = 0; t < N; t++) { /* hops [24 j, 24 (j + 1)) of windows that begin 8 before */
    assert_int_equal(r.out[0].present[t], t >= 24 && t < 24 * ((N - 8 - 40 + 16) / 24 + 1));
  }
  step_result_free(&r);
  for (int c = 0; c < 2; c++) {
    step_signal_free(&in[c]);
  }
}

/* Each hop of samples is the middle of its window: that of onnx_export.py begins at slot 16. */
static void samples_equal_pytorch(void **state)
{
  step_signal in;
  step_result r;

  draw(&in, 1, 16);
  step_run(&ps_step_network, sets_of("samples17", "results=samples", "hop=1.2", NULL)->text, &in, 1,
           (step_how){0}, &r);
  for (int64_t i = 8; i < 32; i++) {
    for (int k = 0; k < 2; k++) {
      assert_near((double)r.out[k].x[16 + i], onnx_samples[40 * k + i], 3e-7);
    }
  }
  step_result_free(&r);
  step_signal_free(&in);
}

/* A window with a gap has no result, one with a number that is not finite is one. */
static void windows_with_gaps_have_no_result(void **state)
{
  step_signal in[2];
  step_result r;

  draw(in, 2, 0);
  drop(&in[0], 300, 301);
  drop(&in[1], 500, 650);
  in[1].x[100] = NAN;
  step_run(&ps_step_network, sets_of("blocks17", "hop=0.5", NULL, NULL)->text, in, 2, (step_how){0},
           &r);
  for (int64_t j = 0; j < r.out[0].n; j++) {
    const int64_t end = 10 * (j + 1), begin = end - 28;
    const bool whole = begin >= 0 && end <= N && !(begin <= 300 && end > 300) &&
                       !(begin <= 100 && end > 100) && !(begin < 650 && end > 500);

    assert_int_equal(r.out[0].present[j], whole);
  }
  step_result_free(&r);
  for (int c = 0; c < 2; c++) {
    step_signal_free(&in[c]);
  }
}

static void chunks_change_nothing(void **state)
{
  static const char *const hops[] = {"hop=0.05", "hop=0.35", "hop=3"}; /* the last skips samples */
  step_signal in[2];
  step_result r;

  draw(in, 2, 0);
  drop(&in[0], 130, 135);
  drop(&in[1], 400, 640);
  for (int k = 0; k < 3; k++) {
    step_check_chunks(&ps_step_network, sets_of("blocks17", hops[k], "scores=sigmoid", NULL)->text,
                      in, 2, &r);
    assert_true(step_count(&r.out[0]) > 5);
    step_result_free(&r);
  }
  for (int k = 0; k < 2; k++) {
    step_check_chunks(&ps_step_network,
                      sets_of("samples17", hops[k], "results=samples", "scores=softmax")->text, in,
                      1, &r);
    assert_true(step_count(&r.out[1]) > N / 2);
    step_result_free(&r);
  }
  for (int c = 0; c < 2; c++) {
    step_signal_free(&in[c]);
  }
}

static void whatever_comes_in_results_are_sound(void **state)
{
  const step_garbage_opts garbage = {.n_in = 2, .n = N, .rate = RATE, .scale = 3, .unit = "mV"};

  assert_true(step_check_garbage(&ps_step_network,
                                 sets_of("blocks20", "hop=0.25", NULL, NULL)->text, &garbage,
                                 3) > 0);
}

static void assert_sets_refused(const step_sets *s, const step_signal *in, int n_in,
                                const char *text)
{
  step_frame f;

  assert_true(step_build(&ps_step_network, s->text, in, n_in, &f) != WEIR_OK);
  if (strstr(weir_last_message(), text) == NULL) {
    fail_msg("\"%s\" does not say \"%s\"", weir_last_message(), text);
  }
  step_frame_fini(&f);
}

static void what_does_not_fit_is_refused(void **state)
{
  step_signal in[2];

  draw(in, 2, 0);
  assert_sets_refused(sets_of("rhythm17", "fs=25", NULL, NULL), in, 1,
                      "fs: the network takes 25 Hz, 'a' has 20 Hz");
  assert_sets_refused(sets_of("rhythm17", "fs=0", NULL, NULL), in, 1,
                      "fs: state the sampling rate");
  assert_sets_refused(sets_of("rhythm17", "unit=uV", NULL, NULL), in, 1,
                      "unit: the network takes uV, 'a' is in mV");
  assert_sets_refused(sets_of("rhythm17", NULL, NULL, NULL), in, 2,
                      "the network takes 1 signals, 'from' has 2");
  assert_sets_refused(sets_of("rhythm17", "window=2", NULL, NULL), in, 1,
                      "window: 2 s are not the 48 samples");
  assert_sets_refused(sets_of("rhythm17", "hop=0.07", NULL, NULL), in, 1, "hop");
  assert_sets_refused(sets_of("samples17", NULL, NULL, NULL), in, 1, "needs results: samples");
  assert_sets_refused(sets_of("rhythm17", "results=samples", NULL, NULL), in, 1,
                      "results: samples: the output of");
  assert_sets_refused(sets_of("samples17", "results=samples", "hop=3", NULL), in, 1,
                      "the hop is at most the window");
  assert_sets_refused(sets_of("blocks17", "outputs=[one]", NULL, NULL), in, 2,
                      "outputs: 1 names for the 3 numbers");
  assert_sets_refused(sets_of("rhythm17", "scores=softmax", NULL, NULL), in, 1,
                      "gives one number, whose softmax is 1 always");
  assert_sets_refused(sets_of("x", "file=RUN/weights.nc", NULL, NULL), in, 1,
                      "fs, window, hop and results are not for it");
  assert_sets_refused(sets_of("absent", NULL, NULL, NULL), in, 1, "absent.onnx");
  for (int c = 0; c < 2; c++) {
    step_signal_free(&in[c]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(windows_equal_pytorch),
      cmocka_unit_test(samples_equal_pytorch),
      cmocka_unit_test(windows_with_gaps_have_no_result),
      cmocka_unit_test(chunks_change_nothing),
      cmocka_unit_test(whatever_comes_in_results_are_sound),
      cmocka_unit_test(what_does_not_fit_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
