/* onnx_test.c - networks of beats of ONNX files: PyTorch's logits by way of the metadata, classes
 * and features in any order, a network of the window alone, and metadata that are refused. */
#include "beats/onnx.h"
#include <math.h>
#include <stdio.h>
#include "base/weir_alloc.h"
#include "beats/apply.h"
#include "io/io_priv.h"
#include "support/io/onnx_make.h"
#include "support/nn/onnx_expected.h"
#include "support/physio_stream/step_check.h"

extern const weir_series_op ps_step_network;

#define SEEDS WEIR_SOURCE_DIR "/tests/fuzz/seeds/onnx/"
enum { SAMPLES = 33, LEADS = 2, OF_BEAT = 3, KEYS = 9 };

typedef struct entry {
  const char *key, *value;
} entry;

/* Of beat_network20.onnx (onnx_export.py). */
static const entry entries[KEYS] = {{"version", "1"},
                                    {"rate_hz", "128"},
                                    {"before", "16"},
                                    {"after", "17"},
                                    {"unit", "mV"},
                                    {"normalization", "zscore"},
                                    {"features", "pre,post,before"},
                                    {"classes", "N,S,V,F"},
                                    {"output", "logits"}};

static char dir[256], path[320];

static int make_dir(void **state)
{
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/network.onnx", dir);
  return 0;
}

static int drop_dir(void **state)
{
  weir_check_rmdir(dir);
  return 0;
}

/* Writes a model and the entries, one of whose values is replaced: NULL leaves it out. */
static void write_model(const void *model, int64_t size, const entry *of, int n,
                        const char *replaced, const char *by)
{
  onnx_made more = {.size = 0};
  FILE *const f = fopen(path, "wb");

  for (int k = 0; k < n; k++) {
    const char *const value =
        replaced != NULL && strcmp(of[k].key, replaced) == 0 ? by : of[k].value;
    onnx_made one = {.size = 0};
    char key[64];

    (void)snprintf(key, sizeof key, PS_BEAT_ONNX "%s", of[k].key);
    onnx_put_text(&one, 1, key);
    if (value != NULL) {
      onnx_put_text(&one, 2, value);
      onnx_put_message(&more, 14, &one);
    }
  }
  assert_non_null(f);
  assert_int_equal(fwrite(model, 1, (size_t)size, f), size);
  assert_int_equal(fwrite(more.bytes, 1, more.size, f), more.size);
  assert_int_equal(fclose(f), 0);
}

/* The older file of the same network has no metadata: gives it those. */
static void describe(const entry *of, int n, const char *replaced, const char *by)
{
  char *bytes = NULL;
  int64_t size = 0;

  assert_ok(weir_io_read(SEEDS "beat_network17.onnx", 1 << 20, &bytes, &size));
  write_model(bytes, size, of, n, replaced, by);
  weir_free(&bytes);
}

/* The inputs of onnx_export.py; feature k of the network is number order[k] of them. */
static void draw(const ps_beat_classifier *c, const int *order)
{
  for (int t = 0; t < SAMPLES; t++) {
    for (int k = 0; k < LEADS; k++) {
      ((float *)c->x.data)[t * LEADS + k] = (float)(sin(0.7 * t + 1.3 * k) + 0.25 * cos(2.9 * t));
    }
  }
  for (int k = 0; k < OF_BEAT; k++) {
    ((float *)c->f.data)[k] = (float)(sin(0.7 * order[k]) + 0.25 * cos(2.9 * order[k]));
  }
}

static void logits_equal_pytorch(void **state)
{
  static const int plain[OF_BEAT] = {0, 1, 2}, classes[] = {0, 1, 2, 3}, back[] = {3, 2, 1, 0};
  ps_beat_classifier c;

  for (int k = 0; k < 2; k++) {
    describe(entries, KEYS, "classes", "F,V,S,N");
    assert_ok(ps_beat_onnx_open(k == 0 ? SEEDS "beat_network20.onnx" : path, &c));
    assert_int_equal(c.is.window.before, 16);
    assert_int_equal(c.is.window.after, 17);
    assert_near(c.is.window.rate, 128, 0);
    assert_false(c.is.window.as_is);
    assert_int_equal(c.is.leads, LEADS);
    assert_int_equal(c.is.features, OF_BEAT);
    draw(&c, plain);
    assert_ok(ps_beat_classifier_run(&c));
    for (int i = 0; i < PS_CLASSES; i++) {
      assert_near((double)((float *)c.logits.data)[i],
                  onnx_beat_network[k == 0 ? classes[i] : back[i]], 1e-6);
    }
    ps_beat_classifier_close(&c);
  }
}

static void features_have_their_order(void **state)
{
  ps_beat_classifier c;

  describe(entries, KEYS, "features", "p,width,post");
  assert_ok(ps_beat_onnx_open(path, &c));
  assert_int_equal(c.feature[0], PS_FEATURE_P);
  assert_int_equal(c.feature[1], PS_FEATURE_WIDTH);
  assert_int_equal(c.feature[2], PS_FEATURE_POST);
  ps_beat_classifier_close(&c);
}

/* ---- A network of the window alone: sums of 16 samples, N of one lead and V of another ---- */

static onnx_made sums(void)
{
  static const int64_t in[] = {-1, 2, 16}, out[] = {1, 2}, axis = 2;
  onnx_made graph = {.size = 0}, part = onnx_make_ints("a", &axis, 1);

  onnx_put_message(&graph, 5, &part);
  part = onnx_make_node("ReduceSum", "xa", "y");
  onnx_put_attribute(&part, "keepdims", &(int64_t){0}, 1, false);
  onnx_put_message(&graph, 1, &part);
  part = onnx_make_value("x", 3, in);
  onnx_put_message(&graph, 11, &part);
  part = onnx_make_value("y", 2, out);
  onnx_put_message(&graph, 12, &part);
  return onnx_make_model(&graph, 17);
}

static const entry of_sums[KEYS] = {
    {"version", "1"},     {"rate_hz", "100"}, {"before", "4"},
    {"after", "12"},      {"unit", "mV"},     {"normalization", "none"},
    {"features", "none"}, {"classes", "V,N"}, {"output", "logits"}};

/* The logits are the sums of the samples from 4 before the beat on, in mV; beats are where the last
 * stream is present. */
static void windows_alone_are_taken_as_they_are(void **state)
{
  enum { N = 300 };
  const onnx_made model = sums();
  step_signal in[LEADS + 1];
  char file[360];
  const char *const sets[] = {file, NULL};
  step_result r;

  write_model(model.bytes, (int64_t)model.size, of_sums, KEYS, NULL, NULL);
  (void)snprintf(file, sizeof file, "file=%s", path);
  for (int k = 0; k <= LEADS; k++) {
    in[k] = step_signal_new(N, 100, 1);
    in[k].unit = k < LEADS ? "mV" : "s";
    memset(in[k].present, k < LEADS, N);
    for (int t = 0; t < N; t++) {
      in[k].x[t] = (float)(sin(0.1 * t * (k + 1)) + k);
    }
  }
  for (int t = 40; t < N; t += 50) {
    in[LEADS].present[t] = 1;
  }
  step_check_chunks(&ps_step_network, sets, in, LEADS + 1, &r);
  for (int t = 0; t < N; t++) { /* the window of the last beat ends after the signal */
    const bool is_beat = t % 50 == 40 && t < N - 12;

    assert_int_equal(step_get(&r, "n")->present[t], is_beat);
    for (int k = 0; k < LEADS && is_beat; k++) {
      double sum = 0;

      for (int i = -4; i < 12; i++) {
        sum += (double)in[k].x[t + i];
      }
      assert_near((double)step_get(&r, k == 0 ? "v" : "n")->x[t], sum, 1e-5);
    }
    assert_true(!is_beat || step_get(&r, "s")->x[t] < -9e8F);
  }
  step_result_free(&r);
  for (int k = 0; k <= LEADS; k++) {
    step_signal_free(&in[k]);
  }
}

/* ---- What is refused ---- */

static void assert_refused(const char *file, weir_status status, const char *text)
{
  ps_beat_classifier c;

  assert_int_equal(ps_beat_onnx_open(file, &c), status);
  if (strstr(weir_last_message(), text) == NULL) {
    fail_msg("\"%s\" does not say \"%s\"", weir_last_message(), text);
  }
  ps_beat_classifier_close(&c);
}

static void wrong_metadata_are_refused(void **state)
{
  static const struct {
    const char *key, *value, *text;
    weir_status status;
  } rows[] = {
      {"version", "2", "beat_network.version as \"2\": 1 is supported", WEIR_ERR_DATA},
      {"rate_hz", "128 Hz", "beat_network.rate_hz as \"128 Hz\": a number", WEIR_ERR_DATA},
      {"rate_hz", "0", "out of range", WEIR_ERR_DATA},
      {"before", "16.5", "an integer is needed", WEIR_ERR_DATA},
      {"before", "-1", "beat_network.before as \"-1\": it is out of range", WEIR_ERR_DATA},
      {"after", "", "an integer is needed", WEIR_ERR_DATA},
      {"unit", "uV", "beat_network.unit as \"uV\": mV is supported", WEIR_ERR_DATA},
      {"normalization", "minmax", "zscore and none are supported", WEIR_ERR_DATA},
      {"features", "pre,post,rr", "a name is not known", WEIR_ERR_DATA},
      {"features", "pre,post,pre", "a name is there twice", WEIR_ERR_DATA},
      {"features", "", "a name is not known", WEIR_ERR_DATA},
      {"classes", "N", "two classes or more", WEIR_ERR_DATA},
      {"classes", "N,S,V,Q", "a name is not known", WEIR_ERR_DATA},
      {"output", "probabilities", "logits is supported", WEIR_ERR_DATA},
      {"before", "17", "window [batch, leads, 34]", WEIR_ERR_SHAPE},
      {"features", "pre,post", "as many as are named", WEIR_ERR_SHAPE},
      {"features", "none", "alone", WEIR_ERR_SHAPE},
      {"classes", "N,S,V", "its output is not [batch, 3]", WEIR_ERR_SHAPE},
  };
  entry more[KEYS + 1];

  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    describe(entries, KEYS, rows[k].key, rows[k].value);
    assert_refused(path, rows[k].status, rows[k].text);
  }
  for (int k = 0; k < KEYS; k++) {
    char text[96];

    (void)snprintf(text, sizeof text, "do not state " PS_BEAT_ONNX "%s:", entries[k].key);
    describe(entries, KEYS, entries[k].key, NULL);
    assert_refused(path, WEIR_ERR_DATA, text);
  }
  memcpy(more, entries, sizeof entries);
  more[KEYS] = (entry){"rate", "128"};
  describe(more, KEYS + 1, NULL, NULL);
  assert_refused(path, WEIR_ERR_DATA, "beat_network.rate, which is none of a network of beats");
  more[KEYS] = entries[1];
  describe(more, KEYS + 1, NULL, NULL);
  assert_refused(path, WEIR_ERR_DATA, "beat_network.rate_hz, which is there twice");
  assert_refused(SEEDS "rhythm20.onnx", WEIR_ERR_DATA, "do not state beat_network.version");
  assert_refused("absent.onnx", WEIR_ERR_DATA, "absent.onnx");
}

/* The step `network` on streams of these names. */
static weir_status build_step(const char *const *names, int n, const char *unit)
{
  const char *sets[] = {"file=" SEEDS "beat_network20.onnx", unit, NULL};
  weir_series_keeper keeper = {NULL};
  weir_series_result result = {.n = 0};
  weir_series in[LEADS + OF_BEAT];
  weir_config *config = NULL;
  weir_graph *g = NULL;
  weir_store *store = NULL;
  union {
    long double align;
    char bytes[8192];
  } opts;

  assert_true(ps_step_network.opts_size <= sizeof opts);
  assert_ok(weir_config_load(ps_step_network.opts, ps_step_network.opts_size, NULL, 0, sets, 2,
                             &opts, &config));
  assert_ok(weir_graph_create(&g));
  assert_ok(weir_store_create(&store));
  for (int k = 0; k < n; k++) {
    char value[16], present[16];

    (void)snprintf(value, sizeof value, "x%d", k);
    (void)snprintf(present, sizeof present, "p%d", k);
    in[k] = weir_series_input(g, value, present, 250, 1);
    weir_series_set_unit(&in[k], k < LEADS ? "mV" : "1");
  }
  const weir_series_use use = {.graph = g,
                               .store = store,
                               .step = "step",
                               .opts = &opts,
                               .in = in,
                               .in_name = names,
                               .n_in = n,
                               .keeper = &keeper};
  const weir_status status = ps_step_network.build(&use, &result);

  weir_config_destroy(&config);
  weir_graph_destroy(&g);
  weir_store_destroy(&store);
  weir_series_keeper_fini(&keeper);
  return status;
}

static void features_in_the_place_of_others_are_refused(void **state)
{
  static const char *const right[] = {"ecg", "v1", "b.pre", "b.post", "b.before"},
                           *const wrong[] = {"ecg", "v1", "b.post", "b.pre", "b.before"},
                           *const other[] = {"pre", "v1", "one", "two", "three"};

  assert_ok(build_step(right, 5, "unit=mV"));
  assert_ok(build_step(other, 5, "unit=\"\""));
  assert_int_equal(build_step(wrong, 5, "unit=\"\""), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "the feature pre of each beat where 'from' has "
                                              "b.post"));
  assert_int_equal(build_step(right, 4, "unit=\"\""), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "takes 2 leads, then 3 features of each beat: 'from' "
                                              "has 4 streams"));
  assert_int_equal(build_step(right, 5, "unit=uV"), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "takes leads in mV"));
  assert_int_equal(build_step(right, 5, "fs=128"), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "results and label are not for it"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(logits_equal_pytorch),
      cmocka_unit_test(features_have_their_order),
      cmocka_unit_test(windows_alone_are_taken_as_they_are),
      cmocka_unit_test(wrong_metadata_are_refused),
      cmocka_unit_test(features_in_the_place_of_others_are_refused),
  };

  return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
