/* segment_test.c - classes of voxels against a count by hand, what the network sees, scores of a
 * table; refusals. */
#include "model/segment.h"
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "exec/weir_plan.h"

enum { N = 2, D = 3, H = 4, W = 5, C = 3, CELLS = D * H * W, ALL = N * CELLS * C };

static cf_segment_opts usual(void)
{
  cf_segment_opts o;

  weir_opts_default(cf_segment_options, sizeof o, &o);
  return o;
}

/* Runs a graph of one input and one result. */
static void run(weir_graph *g, weir_tensor *x, weir_value y, weir_tensor *out)
{
  const weir_binding bindings[] = {{"x", x}, {"y", out}};
  weir_store *store;
  weir_plan *plan;

  weir_output(g, "y", y);
  assert_ok(weir_store_create(&store));
  assert_ok(weir_plan_create(g, store, &(weir_plan_opts){.threads = 1}, &plan));
  assert_ok(weir_plan_run(plan, bindings, 2));
  weir_plan_destroy(&plan);
  weir_store_destroy(&store);
}

/* The density of voxel i of a sample, in units of its mean. */
static double density(const int16_t *sample, int i, int channel, int reach, double *mean)
{
  const int z = i / (H * W), y = i / W % H, x = i % W;
  double sum = 0, n = 0;

  *mean = 0;
  for (int k = 0; k < CELLS; k++) {
    const int a = k / (H * W) - z, b = k / W % H - y, c = k % W - x;
    const double v = sample[k * C + channel];

    *mean += v / CELLS;
    if (abs(a) <= reach && abs(b) <= reach && abs(c) <= reach) {
      sum += v;
      n++;
    }
  }
  return sum / n;
}

static void classes_are_those_counted_by_hand(void **state)
{
  const int64_t shape[] = {N, D, H, W, C}, voxels[] = {N, D, H, W};
  int16_t counts[ALL];
  int seen[CF_CLASSES] = {0};

  for (int i = 0; i < ALL; i++) { /* many zeros, few large */
    counts[i] = (int16_t)(9 * weir_random_uniform(5, 1, 0, (uint64_t)i) *
                          weir_random_uniform(5, 2, 0, (uint64_t)i));
  }
  memset(counts + CELLS * C, 0, sizeof counts / 2); /* a sample without matter */
  for (int channel = 0; channel < C; channel++) {
    for (int reach = 0; reach < 4; reach += 1 + reach / 2) {
      const weir_array_desc d = {WEIR_I16, 5, {N, D, H, W, C}, 0};
      int32_t made[N * CELLS];
      weir_tensor x = weir_tensor_wrap(counts, WEIR_I16, 5, shape);
      weir_tensor y = weir_tensor_wrap(made, WEIR_I32, 4, voxels);
      cf_segment_opts o = usual();
      weir_graph *g;

      o.channel = channel;
      o.reach = reach;
      assert_ok(weir_graph_create(&g));
      run(g, &x, cf_segment_truth(g, &o, weir_input(g, "x", &d)), &y);
      for (int i = 0; i < N * CELLS; i++) {
        double mean;
        const double is = density(counts + i / CELLS * CELLS * C, i % CELLS, channel, reach, &mean);

        assert_int_equal(made[i], (is > 0.7 * mean + 1e-6) + (is > 1.5 * mean + 1e-6));
        seen[made[i]]++;
      }
      weir_graph_destroy(&g);
    }
  }
  assert_true(seen[0] > 0 && seen[1] > 0 && seen[2] > 0);
}

static void a_network_sees_the_other_channels(void **state)
{
  const int64_t shape[] = {1, 1, 1, 2, C}, rest[] = {1, 1, 1, 2, C - 1};
  const weir_array_desc d = {WEIR_I16, 5, {1, 1, 1, 2, C}, 0};
  static const float wanted[C][4] = {{2, 3, 5, 6}, {1, 3, 4, 6}, {1, 2, 4, 5}};
  int16_t counts[] = {1, 2, 3, 4, 5, 6};

  for (int channel = 0; channel < C; channel++) {
    float made[4];
    weir_tensor x = weir_tensor_wrap(counts, WEIR_I16, 5, shape);
    weir_tensor y = weir_tensor_wrap(made, WEIR_F32, 5, rest);
    cf_segment_opts o = usual();
    weir_graph *g;

    o.channel = channel;
    assert_ok(weir_graph_create(&g));
    run(g, &x, cf_segment_seen(g, &o, weir_input(g, "x", &d)), &y);
    assert_memory_equal(made, wanted[channel], sizeof made);
    weir_graph_destroy(&g);
  }
}

/* Six voxels: 0 is predicted for 0, 0 and 1; 1 for 1 and 0; 2 never; truth has no 2, or one. */
static void scores_are_those_of_a_table(void **state)
{
  static const float logits[] = {3, 1, 2, 0.1f, 0, -1, 9, 8, 7, -3, -2, -4, 1, 2, 0, 5, 4, 4};
  static const int32_t truths[2][6] = {{0, 0, 1, 1, 0, 0}, {0, 0, 1, 1, 0, 2}};
  static const float accuracy[] = {4.0f / 6, 3.0f / 6};
  /* 0: 3 of 5, then 2 of 5; 1: 1 of 3; 2: none at all, then none of 1. */
  static const float iou[][3] = {{3.0f / 5, 1.0f / 3, 1}, {2.0f / 5, 1.0f / 3, 0}};
  const int64_t shape[] = {6, 3};
  const weir_array_desc d = {WEIR_F32, 2, {6, 3}, 0};

  for (int k = 0; k < 2; k++) {
    for (int what = 0; what < 4; what++) {
      const int64_t six = 6;
      float in[18], made = -1;
      int32_t classes[6];
      weir_graph *g;

      memcpy(in, logits, sizeof in);
      memcpy(classes, truths[k], sizeof classes);
      weir_tensor x = weir_tensor_wrap(in, WEIR_F32, 2, shape);
      weir_tensor t = weir_tensor_wrap(classes, WEIR_I32, 1, &six);
      weir_tensor y = weir_tensor_wrap(&made, WEIR_F32, 0, NULL);

      assert_ok(weir_graph_create(&g));
      const weir_value predicted = cf_segment_classes(g, weir_input(g, "x", &d));
      const weir_value truth = weir_constant(g, &t);

      run(g, &x,
          what == 0 ? cf_segment_accuracy(g, predicted, truth)
                    : cf_segment_iou(g, predicted, truth, what - 1),
          &y);
      assert_near(made, what == 0 ? accuracy[k] : iou[k][what - 1], 1e-6);
      weir_graph_destroy(&g);
    }
  }
}

static void refuse(cf_segment_opts o, int64_t channels, weir_status status, const char *word)
{
  const weir_array_desc d = {WEIR_I16, 5, {1, 2, 2, 2, channels}, 0};
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  assert_true(cf_segment_truth(g, &o, weir_input(g, "x", &d)).node < 0);
  assert_int_equal(weir_graph_status(g), status);
  assert_non_null(strstr(weir_last_message(), word));
  weir_graph_destroy(&g);
}

static void what_cannot_be_is_refused(void **state)
{
  cf_segment_opts o = usual();

  refuse(o, 1, WEIR_ERR_SHAPE, "samples have 1");
  o.channel = 2;
  refuse(o, 2, WEIR_ERR_SHAPE, "channel 2");
  o.low = 2;
  refuse(o, 3, WEIR_ERR_CONFIG, "2 is above model.segment.high, 1.5");
}

static void options_are_complete(void **state)
{
  assert_int_equal(weir_opts_incomplete(cf_segment_options), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(classes_are_those_counted_by_hand),
      cmocka_unit_test(a_network_sees_the_other_channels),
      cmocka_unit_test(scores_are_those_of_a_table),
      cmocka_unit_test(what_cannot_be_is_refused),
      cmocka_unit_test(options_are_complete),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
