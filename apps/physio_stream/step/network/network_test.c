/* network_test.c - results of windows are those of PyTorch, whatever the chunks; gaps; refusals. */
#include "support/io/onnx_make.h"
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

/* Writes a network of x [1, 2, 4] and p [1, 1, 4] whose result y is [x, p], by rows, then q [1, 4].
 */
static void write_inputs(const char *path)
{
  const int64_t x[] = {1, 2, 4}, p[] = {1, 1, 4}, q[] = {1, 4}, y[] = {1, 16}, axis = 1;
  onnx_made graph = {.size = 0}, part = onnx_make_value("x", 3, x);

  onnx_put_message(&graph, 11, &part);
  part = onnx_make_value("p", 3, p);
  onnx_put_message(&graph, 11, &part);
  part = onnx_make_value("q", 2, q);
  onnx_put_message(&graph, 11, &part);
  part = onnx_make_value("y", 2, y);
  onnx_put_message(&graph, 12, &part);
  part = onnx_make_node("Concat", "xp", "a");
  onnx_put_attribute(&part, "axis", &axis, 1, false);
  onnx_put_message(&graph, 1, &part);
  part = onnx_make_node("Flatten", "a", "b");
  onnx_put_message(&graph, 1, &part);
  part = onnx_make_node("Concat", "bq", "y");
  onnx_put_attribute(&part, "axis", &axis, 1, false);
  onnx_put_message(&graph, 1, &part);
  const onnx_made model = onnx_make_model(&graph, 17);
  FILE *const file = fopen(path, "wb");

  assert_non_null(file);
  assert_int_equal(fwrite(model.bytes, 1, model.size, file), model.size);
  assert_int_equal(fclose(file), 0);
}

/* Two streams for the first input, one for each of the others, in chunks of every kind. */
static void inputs_take_the_streams_in_order(void **state)
{
  char dir[256], path[320], text[340];
  const char *const sets[] = {text, "fs=20", "hop=0.1", NULL};
  step_signal in[4];
  step_result r;

  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/inputs.onnx", dir);
  (void)snprintf(text, sizeof text, "file=%s", path);
  write_inputs(path);
  draw(in, 4, 0);
  drop(&in[1], 300, 301);
  drop(&in[3], 500, 530);
  step_check_chunks(&ps_step_network, sets, in, 4, &r);
  assert_int_equal(r.n, 16);
  for (int64_t j = 0; j < r.out[0].n; j++) {
    const int64_t end = 2 * (j + 1), begin = end - 4;
    const bool whole = begin >= 0 && !(begin <= 300 && end > 300) && !(begin < 530 && end > 500);

    assert_int_equal(r.out[0].present[j], whole);
    for (int k = 0; whole && k < 16; k++) {
      assert_true(r.out[k].x[j] == in[k / 4].x[begin + k % 4]);
    }
  }
  step_result_free(&r);
  for (int c = 0; c < 4; c++) {
    step_signal_free(&in[c]);
  }
  weir_check_rmdir(dir);
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

/* ---- States ---- */

enum { OF_WINDOW = 12, OF_ALL = 48 };

/* The named states of the network that has them as inputs. */
static step_sets *sets_of_states(const char *name, const char *a, const char *b)
{
  step_sets *const s = sets_of(name, a, b, NULL);

  if (strncmp(name, "carry_inputs", 12) == 0) {
    const int n = b != NULL ? 4 : 3;

    s->text[n] = "state_in=[past, h0, c0]";
    s->text[n + 1] = "state_out=[present, hn, cn]";
    s->text[n + 2] = NULL;
  }
  return s;
}

/* Output k at sample i of one of onnx_expected.h, or of window i. */
static double expected(const char *name, int k, int64_t i)
{
  return strncmp(name, "carry_windows", 13) == 0   ? onnx_carry_windows[4 * k + i]
         : strncmp(name, "carry_samples", 13) == 0 ? onnx_carry_samples[OF_ALL * k + i]
                                                   : onnx_carry_inputs[OF_ALL * k + i];
}

static const char *const carry_names[] = {"carry_samples17", "carry_samples20", "carry_windows17",
                                          "carry_windows20", "carry_inputs17",  "carry_inputs20"};

/* Window by window with the state carried: PyTorch on all samples at once. */
static void carried_states_equal_the_whole_sequence(void **state)
{
  step_signal in[2];
  step_result r;

  draw(in, 2, 0);
  for (int f = 0; f < 6; f++) {
    const char *const name = carry_names[f];
    const bool windows = strncmp(name, "carry_windows", 13) == 0;

    step_run(
        &ps_step_network,
        sets_of_states(name, "state=carry", windows ? "results=window" : "results=samples")->text,
        in, 2, (step_how){.window = 0.7}, &r);
    for (int k = 0; k < 2; k++) {
      for (int64_t i = 0; i < (windows ? OF_ALL / OF_WINDOW : OF_ALL); i++) {
        assert_true(r.out[k].present[i]);
        assert_near((double)r.out[k].x[i], expected(name, k, i), 3e-7);
      }
    }
    step_result_free(&r);
  }
  for (int c = 0; c < 2; c++) {
    step_signal_free(&in[c]);
  }
}

/* The first window is the same, the others are not. */
static void a_state_is_reset_in_each_window(void **state)
{
  step_signal in[2];
  step_result r;

  draw(in, 2, 0);
  for (int f = 0; f < 6; f += 4) { /* of the layers, and of the file */
    double differ = 0;

    step_run(&ps_step_network, sets_of_states(carry_names[f], "results=samples", NULL)->text, in, 2,
             (step_how){0}, &r);
    for (int64_t i = 0; i < OF_WINDOW; i++) {
      const double here = expected(carry_names[f], 0, OF_WINDOW + i);

      assert_near((double)r.out[0].x[i], expected(carry_names[f], 0, i), 3e-7);
      differ = fmax(differ, fabs((double)r.out[0].x[OF_WINDOW + i] - here));
    }
    assert_true(differ > 1e-4);
    step_result_free(&r);
  }
  for (int c = 0; c < 2; c++) {
    step_signal_free(&in[c]);
  }
}

/* Windows 5 and 6 of GRU have a gap: window 7 begins anew, or with what window 4 left, in chunks of
 * every kind. */
static void gaps_reset_a_carried_state(void **state)
{
  const char *const after[] = {"reset_after=0", "reset_after=0.6", "reset_after=1.19",
                               "reset_after=1.2"};
  const step_how hows[] = {
      {.window = 0.31}, {.window = 7, .skip = true}, {.window = 3, .cut_seed = 5}, {.threads = 2}};
  step_signal in[2], cut[2];
  step_result r, fresh, joined;

  draw(in, 2, 0);
  drop(&in[0], 63, 75);
  for (int c = 0; c < 2; c++) { /* windows 7 and on, and 0 to 4 followed by these */
    cut[c] = step_signal_new(N - 24, RATE, 1);
    memcpy(cut[c].x, in[c].x + 84, (N - 84) * sizeof(float));
  }
  step_run(&ps_step_network, sets_of("carry_windows17", "state=carry", NULL, NULL)->text, cut, 2,
           (step_how){0}, &fresh);
  for (int c = 0; c < 2; c++) {
    memcpy(cut[c].x, in[c].x, 60 * sizeof(float));
    memcpy(cut[c].x + 60, in[c].x + 84, (N - 84) * sizeof(float));
  }
  step_run(&ps_step_network, sets_of("carry_windows17", "state=carry", NULL, NULL)->text, cut, 2,
           (step_how){0}, &joined);
  for (int k = 0; k < 4; k++) {
    step_run(&ps_step_network, sets_of("carry_windows17", "state=carry", after[k], NULL)->text, in,
             2, hows[k], &r);
    assert_false(r.out[0].present[5] || r.out[0].present[6]);
    for (int64_t j = 0; 7 + j < r.out[0].n; j++) {
      const float want = k < 3 ? fresh.out[0].x[j] : joined.out[0].x[5 + j];

      assert_true(r.out[0].x[7 + j] == want);
    }
    assert_true(fresh.out[0].x[0] != joined.out[0].x[5]);
    step_result_free(&r);
  }
  step_result_free(&fresh);
  step_result_free(&joined);
  for (int c = 0; c < 2; c++) {
    step_signal_free(&in[c]);
    step_signal_free(&cut[c]);
  }
}

/* Also where a chunk ends within a window. */
static void chunks_do_not_change_carried_states(void **state)
{
  step_signal in[2];
  step_result r;

  draw(in, 2, 0);
  drop(&in[0], 130, 135);
  drop(&in[1], 400, 640);
  step_check_chunks(&ps_step_network,
                    sets_of_states("carry_samples17", "state=carry", "results=samples")->text, in,
                    2, &r);
  assert_true(step_count(&r.out[0]) > 500);
  step_result_free(&r);
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
  assert_true(
      step_check_garbage(
          &ps_step_network,
          sets_of("carry_samples20", "state=carry", "results=samples", "reset_after=3")->text,
          &garbage, 1) > 0);
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
  step_signal in[3];

  draw(in, 3, 0);
  assert_sets_refused(sets_of("beat_network17", NULL, NULL, NULL), in, 3,
                      "input \"f\" has 3 samples, one before it 33");
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
                      "fs, window, hop, results and label are not for it");
  assert_sets_refused(sets_of("x", "file=RUN/weights.nc", "fs=0", "label=end"), in, 1,
                      "label are not for it");
  assert_sets_refused(sets_of("x", "file=RUN/weights.nc", "fs=0", "state=carry"), in, 1,
                      "a network of beats, which has no state");
  assert_sets_refused(sets_of("x", "file=RUN/weights.nc", "fs=0", "state_out=[hn]"), in, 1,
                      "a network of beats, which has no state");
  assert_sets_refused(sets_of("absent", NULL, NULL, NULL), in, 1, "absent.onnx");
  for (int c = 0; c < 3; c++) {
    step_signal_free(&in[c]);
  }
}

static void states_that_cannot_be_carried_are_refused(void **state)
{
  step_signal in[2];
  step_sets *s;

  draw(in, 2, 0);
  assert_sets_refused(sets_of("carry_windows17", "state=carry", "hop=0.3", NULL), in, 2,
                      "state: carry: windows of 12 samples begin every 6");
  assert_sets_refused(sets_of("carry_windows17", "state=carry", "hop=1.2", NULL), in, 2,
                      "each must begin where the one before ends");
  assert_sets_refused(sets_of("blocks17", "state=carry", NULL, NULL), in, 2,
                      "has no recurrent layer, and state_in names no input");
  assert_sets_refused(sets_of("lstm17", "state=carry", NULL, NULL), in, 2,
                      "a layer that reads a window backward has no state to carry");
  assert_sets_refused(sets_of("carry_windows17", "reset_after=1", NULL, NULL), in, 2,
                      "reset_after: state: reset carries no state");
  assert_sets_refused(sets_of("carry_inputs17", "results=samples", NULL, NULL), in, 2,
                      "the network has 4 inputs and 4 outputs");
  assert_sets_refused(sets_of("carry_inputs17", "state_in=[past, h0, c0]", NULL, NULL), in, 2,
                      "state_in has 3 names, state_out 0");
  s = sets_of_states("carry_inputs17", "state=carry", "results=samples");
  s->text[5] = "state_out=[present, hn, y]";
  assert_sets_refused(s, in, 2, "what a window leaves as state 2 is not of the shape");
  s->text[4] = "state_in=[past, h0, q]";
  assert_sets_refused(s, in, 2, "input \"c0\" must be of floats and state its shape");
  for (int c = 0; c < 2; c++) {
    step_signal_free(&in[c]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(windows_equal_pytorch),
      cmocka_unit_test(inputs_take_the_streams_in_order),
      cmocka_unit_test(samples_equal_pytorch),
      cmocka_unit_test(windows_with_gaps_have_no_result),
      cmocka_unit_test(chunks_change_nothing),
      cmocka_unit_test(carried_states_equal_the_whole_sequence),
      cmocka_unit_test(a_state_is_reset_in_each_window),
      cmocka_unit_test(gaps_reset_a_carried_state),
      cmocka_unit_test(chunks_do_not_change_carried_states),
      cmocka_unit_test(whatever_comes_in_results_are_sound),
      cmocka_unit_test(what_does_not_fit_is_refused),
      cmocka_unit_test(states_that_cannot_be_carried_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
