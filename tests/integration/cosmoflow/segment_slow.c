/* segment_slow.c - the U-Net learns where the matter of today is void, filament or halo from how it
 * lay before: trained through the program on small universes, against what is seen taken for what
 * will be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "data/source.h"
#include "data/split.h"
#include "exec/weir_plan.h"
#include "model/segment.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reshape/weir_reshape.h"
#include "needs.h"
#include "program.h"

enum { SIDE = 16, CHANNELS = 2, UNIVERSES = 32, VOXELS = SIDE * SIDE * SIDE * CHANNELS };
enum { VALID = 8, BATCH = 4 };

#define SAMPLES                                                                             \
  "--set source.input=[synth://] --set simulate.universes=32 --set simulate.side=16 --set " \
  "simulate.particles=32 --set simulate.box=64 --set simulate.preset=wide2 --set "          \
  "simulate.redshifts=[0,2] --set data.split.valid=8 --set data.split.test=0 --seed 3 "
#define NETWORK                                                                               \
  "--set 'model.net={unet: {levels: 1, base: 4, momentum: 0.3}}' --set train.epochs=9 --set " \
  "train.batch=4 "                                                                            \
  "--set train.optim.rule=adam --set train.optim.schedule.lr=0.01 --set exec.tier=vector "

/* Accuracy and iou of persistence: means over the batches of the validation, as the network's.
 */
typedef struct quality {
  float accuracy, iou;
} quality;

/* 1 for the class that a voxel has in the channel that is seen, as logits. */
static weir_value persistence(weir_graph *g, const cf_segment_opts *o, weir_value counts)
{
  int32_t number[] = {0, 1, 2};
  const int64_t classes = CF_CLASSES;
  const weir_tensor t = weir_tensor_wrap(number, WEIR_I32, 1, &classes);
  cf_segment_opts other = *o;

  other.channel = 1 - other.channel;
  const weir_value now =
      weir_reshape(g, cf_segment_truth(g, &other, counts),
                   &((weir_reshape_spec){.rank = 5, .shape = {BATCH, SIDE, SIDE, SIDE, 1}}));

  return weir_cast(g, WEIR_F32, weir_eq(g, now, weir_constant(g, &t)));
}

/* The universes of SAMPLES that are validated on. */
static void read_valid(int16_t *to)
{
  static double redshifts[CHANNELS] = {0, 2};
  static const char *paths[] = {CF_SOURCE_SYNTH};
  cf_universe_opts simulate;
  cf_volume_opts files;
  cf_source_opts from;
  cf_source *source;
  int64_t universe[UNIVERSES];
  cf_split_opts o;
  cf_split split;

  weir_opts_default(cf_universe_options, sizeof simulate, &simulate);
  simulate.universes = UNIVERSES;
  simulate.side = SIDE;
  simulate.particles = 2 * SIDE;
  simulate.box = 64;
  simulate.preset = CF_PRESET_WIDE2;
  simulate.redshifts = (weir_real_list){redshifts, CHANNELS};
  weir_opts_default(cf_volume_options, sizeof files, &files);
  weir_opts_default(cf_source_options, sizeof from, &from);
  from.input = (weir_string_list){paths, 1};
  const cf_source_spec spec = {&from, &files, &simulate, 3};

  assert_ok(cf_source_open(&spec, &source));
  for (int64_t i = 0; i < UNIVERSES; i++) {
    assert_ok(cf_source_universe(source, i, &universe[i]));
  }
  weir_opts_default(cf_split_options, sizeof o, &o);
  o.valid = VALID;
  o.test = 0;
  assert_ok(cf_split_create(&o, universe, UNIVERSES, &split));
  assert_int_equal(split.n[CF_VALID], VALID);
  for (int64_t i = 0; i < VALID; i++) {
    assert_ok(
        cf_source_read(source, split.sample[CF_VALID][i], 0, SIDE, WEIR_I16, to + i * VOXELS));
  }
  cf_split_fini(&split);
  cf_source_close(&source);
}

static quality score_persistence(void)
{
  const weir_array_desc d = {WEIR_I16, 5, {BATCH, SIDE, SIDE, SIDE, CHANNELS}, 0};
  int16_t *const counts = malloc(sizeof *counts * VALID * VOXELS);
  cf_segment_opts o;
  weir_store *store;
  weir_plan *plan;
  weir_graph *g;
  quality q, sum = {0, 0};
  weir_tensor a = weir_tensor_wrap(&q.accuracy, WEIR_F32, 0, NULL);
  weir_tensor b = weir_tensor_wrap(&q.iou, WEIR_F32, 0, NULL);

  weir_opts_default(cf_segment_options, sizeof o, &o);
  assert_ok(weir_graph_create(&g));
  assert_ok(weir_store_create(&store));
  const weir_value in = weir_input(g, "x", &d), truth = cf_segment_truth(g, &o, in);
  const weir_value same = cf_segment_classes(g, persistence(g, &o, in));
  weir_value iou = weir_scalar(g, WEIR_F32, 0);

  for (int k = 0; k < CF_CLASSES; k++) {
    iou = weir_add(g, iou, cf_segment_iou(g, same, truth, k));
  }
  weir_output(g, "a", cf_segment_accuracy(g, same, truth));
  weir_output(g, "b", weir_scale(g, iou, 1.0 / CF_CLASSES));
  assert_ok(weir_plan_create(g, store, NULL, &plan));
  assert_non_null(counts);
  read_valid(counts);
  for (int i = 0; i < VALID / BATCH; i++) {
    weir_tensor x = weir_tensor_wrap(counts + (int64_t)i * BATCH * VOXELS, WEIR_I16, 5, d.shape);

    assert_ok(weir_plan_run(plan, (weir_binding[]){{"x", &x}, {"a", &a}, {"b", &b}}, 3));
    sum.accuracy += q.accuracy * BATCH / VALID;
    sum.iou += q.iou * BATCH / VALID;
  }
  free(counts);
  weir_plan_destroy(&plan);
  weir_store_destroy(&store);
  weir_graph_destroy(&g);
  return sum;
}

static void the_unet_sees_what_will_be(void **state)
{
  NEEDS_LIBRARIES();
  const quality same = score_persistence();

  assert_int_equal(program("run " SAMPLES NETWORK "--out %s", in_scratch("a")), 0);
  const double accuracy = event_number(in_scratch("a"), "epoch_end", "accuracy");
  const double iou = event_number(in_scratch("a"), "epoch_end", "mean_iou");

  print_message("accuracy %.3f, persistence %.3f; mean IoU %.3f, persistence %.3f\n", accuracy,
                (double)same.accuracy, iou, (double)same.iou);
  assert_true(accuracy > (double)same.accuracy + 0.1);
  assert_true(iou > (double)same.iou + 0.1);
  assert_true(event_number(in_scratch("a"), "run_end", "best_accuracy") > 0.5);
  assert_string_equal(cell_after(in_scratch("a"), "summary", "network"), "unet");
  /* predict reports for the same universes what the validation reported. */
  assert_int_equal(program("predict " SAMPLES "--set predict.part=valid --set predict.weights=%s "
                           "--out %s",
                           in_scratch("a/weights.nc"), in_scratch("b")),
                   0);
  assert_near(event_number(in_scratch("b"), "predicted", "accuracy"),
              event_number(in_scratch("a"), "run_end", "best_accuracy"), 1e-4);
  char *const table = contents(in_scratch("b/classes.csv"));

  assert_non_null(strstr(table, "valid,persistence,accuracy,all,"));
  free(table);
}

static void one_channel_is_refused(void **state)
{
  if (!weir_fft_plan_available()) {
    printf("skipped: this build has no FFTW\n");
    skip();
  }
  assert_int_equal(
      program("run " SAMPLES NETWORK "--set simulate.redshifts=[0] --out %s", in_scratch("a")), 2);
  assert_non_null(strstr(printed(), "unet sees other channels than the one that it classifies"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(the_unet_sees_what_will_be),
      TEST(one_channel_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
