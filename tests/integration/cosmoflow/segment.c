/* segment.c - the U-Net learns where the matter of today is void, filament and halo from how it lay
 * before: small universes made on the fly, trained by the trainer, scored on others. */
#include <stdio.h>
#include "base/weir_check.h"
#include "base/weir_log.h"
#include "data/source.h"
#include "model/network.h"
#include "model/nets.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/fft/weir_fft.h"
#include "ops/reshape/weir_reshape.h"
#include "program.h"
#include "train/weir_train.h"

enum { SIDE = 16, CHANNELS = 2, TRAIN = 24, VALID = 8, VOXELS = SIDE * SIDE * SIDE * CHANNELS };

static const char *const metric[] = {"accuracy", "overlap"};

static weir_status build(weir_net *net, const void *opts, const weir_value *in, weir_value *loss)
{
  const cf_model_opts *const o = opts;
  weir_graph *const g = net->graph;
  const weir_value truth = cf_segment_truth(g, &o->segment, in[0]);
  const weir_value seen = cf_segment_seen(g, &o->segment, in[0]);
  const weir_value made =
      cf_model_apply(net, o, CF_CLASSES, weir_log(g, weir_add_scalar(g, seen, 1)));

  weir_output(g, metric[0], cf_segment_accuracy(g, made, truth));
  weir_output(g, metric[1], cf_segment_overlap(g, made, truth));
  *loss = cf_model_loss(g, o, made, truth, WEIR_NO_VALUE);
  return weir_graph_status(g);
}

static weir_status fetch(void *context, const weir_train_batch *want, weir_tensor *const *tensor)
{
  int16_t *const to = tensor[0]->data;

  for (int64_t i = 0; i < want->n; i++) {
    const int64_t number = want->sample[i] + (want->split == WEIR_VALID_SAMPLES ? TRAIN : 0);

    WEIR_TRY(cf_source_read(context, number, 0, SIDE, WEIR_I16, to + i * VOXELS));
  }
  return WEIR_OK;
}

/* Accuracy and overlap of the network, and of taking what is seen for what will be, on the
 * validation's universes. */
typedef struct quality {
  float network[2], persistence[2];
} quality;

/* 1 for the class that a voxel has in the channel that is seen, as logits. */
static weir_value persistence(weir_graph *g, const cf_model_opts *o, weir_value counts)
{
  const weir_array_desc d = {WEIR_I32, 1, {CF_CLASSES}, 0};
  int32_t number[] = {0, 1, 2};
  const int64_t classes = CF_CLASSES;
  const weir_tensor t = weir_tensor_wrap(number, d.dtype, 1, &classes);
  cf_segment_opts other = o->segment;

  other.channel = 1 - other.channel;
  const weir_value now =
      weir_reshape(g, cf_segment_truth(g, &other, counts),
                   &((weir_reshape_spec){.rank = 5, .shape = {VALID, SIDE, SIDE, SIDE, 1}}));

  return weir_cast(g, WEIR_F32, weir_eq(g, now, weir_constant(g, &t)));
}

static void score(const cf_model_opts *o, weir_params *params, weir_store *store, cf_source *source,
                  quality *out)
{
  static const char *const name[] = {"a", "b", "c", "d"};
  const weir_array_desc d = {WEIR_I16, 5, {VALID, SIDE, SIDE, SIDE, CHANNELS}, 0};
  float *const to[] = {out->network, out->network + 1, out->persistence, out->persistence + 1};
  weir_binding bindings[5];
  weir_tensor x, y[4];
  weir_plan *plan;
  weir_graph *g;
  weir_net net;

  assert_ok(weir_graph_create(&g));
  weir_net_init(&net, g, params, false);
  const weir_value in = weir_input(g, "x", &d), truth = cf_segment_truth(g, &o->segment, in);
  const weir_value seen = cf_segment_seen(g, &o->segment, in);
  const weir_value made =
      cf_model_apply(&net, o, CF_CLASSES, weir_log(g, weir_add_scalar(g, seen, 1)));
  const weir_value same = persistence(g, o, in);

  weir_output(g, name[0], cf_segment_accuracy(g, made, truth));
  weir_output(g, name[1], cf_segment_overlap(g, made, truth));
  weir_output(g, name[2], cf_segment_accuracy(g, same, truth));
  weir_output(g, name[3], cf_segment_overlap(g, same, truth));
  assert_ok(weir_plan_create(g, store, NULL, &plan));
  assert_ok(weir_tensor_init(&x, WEIR_I16, 5, d.shape));
  bindings[0] = (weir_binding){"x", &x};
  for (int k = 0; k < 4; k++) {
    y[k] = weir_tensor_wrap(to[k], WEIR_F32, 0, NULL);
    bindings[k + 1] = (weir_binding){name[k], &y[k]};
  }
  for (int64_t i = 0; i < VALID; i++) {
    assert_ok(cf_source_read(source, TRAIN + i, 0, SIDE, WEIR_I16, (int16_t *)x.data + i * VOXELS));
  }
  assert_ok(weir_plan_run(plan, bindings, 5));
  weir_tensor_fini(&x);
  weir_plan_destroy(&plan);
  weir_net_fini(&net);
  weir_graph_destroy(&g);
}

static void the_unet_sees_what_will_be(void **state)
{
  static double redshifts[CHANNELS] = {0, 2};
  static const char *paths[] = {CF_SOURCE_SYNTH};
  static const char *const sets[] = {"epochs=8", "batch=4", "optim.schedule.lr=0.01"};
  cf_unet_opts unet;
  const weir_train_input input = {
      .name = "x", .dtype = WEIR_I16, .rank = 4, .shape = {SIDE, SIDE, SIDE, CHANNELS}};
  cf_model_opts model;
  cf_universe_opts simulate;
  cf_volume_opts files;
  cf_source_opts from;
  cf_source *source;
  weir_params *params;
  weir_store *store;
  weir_config *config;
  weir_train_cfg cfg;
  weir_exec_cfg exec;
  weir_train_result result;
  quality before, after;

  if (!weir_fft_available()) {
    printf("skipped: this build has no FFTW\n");
    skip();
  }
  weir_opts_default(cf_unet_options, sizeof unet, &unet);
  unet.levels = 1;
  unet.base = 4;
  weir_opts_default(cf_model_options, sizeof model, &model);
  model.net = (weir_one_of){"unet", &unet};
  weir_opts_default(cf_universe_options, sizeof simulate, &simulate);
  simulate.universes = TRAIN + VALID;
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
  const weir_train_task task = {.name = "unet",
                                .dtype = WEIR_F32,
                                .input = &input,
                                .n_inputs = 1,
                                .n_train = TRAIN,
                                .n_valid = VALID,
                                .opts = &model,
                                .build = build,
                                .metric = metric,
                                .n_metrics = 2,
                                .fetch = fetch,
                                .context = source};

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = 2; /* no compiler is waited for */
  assert_ok(weir_config_load(weir_train_opts, sizeof cfg, NULL, 0, sets, 3, &cfg, &config));
  assert_ok(weir_params_create(WEIR_F32, &params));
  assert_ok(weir_store_create(&store));
  assert_ok(weir_train_prepare(&task, cfg.seed, params, store));
  score(&model, params, store, source, &before);
  assert_ok(weir_train_run(&task, &cfg, &(weir_plan_opts){.exec = &exec}, params, store,
                           in_scratch("unet"), &result));
  score(&model, params, store, source, &after);
  print_message("accuracy %.3f to %.3f, persistence %.3f; overlap %.3f to %.3f, persistence %.3f\n",
                before.network[0], after.network[0], after.persistence[0], before.network[1],
                after.network[1], after.persistence[1]);
  assert_true(after.network[0] > after.persistence[0] + 0.1f);
  assert_true(after.network[1] > after.persistence[1] + 0.1f);
  weir_store_destroy(&store);
  weir_params_destroy(&params);
  weir_config_destroy(&config);
  cf_source_close(&source);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(the_unet_sees_what_will_be),
  };

  weir_log_set_level(WEIR_LOG_WARN);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
