/* parity_slow.c - twenty steps of a U-Net, a transformer and CosmoFlow's networks, by Weir and by
 * PyTorch, from the same parameters and data: every loss, and the parameters afterwards. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_log.h"
#include "model/nets.h"
#include "nn/weir_loss.h"
#include "nn/weir_transformer.h"
#include "nn/weir_unet.h"
#include "ops/elementwise/weir_elementwise.h"
#include "reference.h"
#include "learner.h"
#include "train_jobs.h"

enum { STEPS = 20, BATCH = 2, THREADS = 2, OUTPUTS = 3, PARAMETERS = 4 };

/* Of losses, relative, the first one that of the same parameters (the acceptance of the engine); of
 * parameters, in parts of the largest one's movement being of order 1. */
#define FIRST_TOLERANCE 1e-5
#define LOSS_TOLERANCE 1e-4
#define BANK_TOLERANCE 1e-4

static weir_value unet(weir_net *net, const void *opts, weir_value x)
{
  return weir_unet(net, opts, OUTPUTS, x);
}

static weir_value cosmoflow(weir_net *net, const void *opts, weir_value x)
{
  return cf_mlperf(net, opts, PARAMETERS, x);
}

/* Losses of all steps, and the bank before and after. */
typedef struct course {
  double loss[STEPS];
  float *before, *after;
  float *x, *y;
  int64_t elements, in, out;
} course;

static float *copy_of(const weir_tensor *t)
{
  const size_t size = (size_t)weir_tensor_numel(t) * sizeof(float);
  float *to = malloc(size);

  assert_non_null(to);
  return memcpy(to, t->data, size);
}

static void run_weir(const learner_job *job, course *c)
{
  learner t;

  assert_ok(learner_open(job, &t));
  c->elements = weir_tensor_numel(&t.bank);
  c->in = weir_tensor_numel(&t.x);
  c->out = weir_tensor_numel(&t.y);
  c->before = copy_of(&t.bank);
  c->x = copy_of(&t.x);
  c->y = copy_of(&t.y);
  for (int i = 0; i < STEPS; i++) {
    assert_ok(learner_step(&t, &c->loss[i]));
  }
  c->after = copy_of(&t.bank);
  learner_close(&t);
}

/* How far the bank went, as a share of its own length: a run that learnt nothing compares nothing.
 */
static double movement(const course *c)
{
  double moved = 0, length = 0;

  for (int64_t i = 0; i < c->elements; i++) {
    moved += pow((double)c->after[i] - (double)c->before[i], 2);
    length += pow((double)c->before[i], 2);
  }
  return sqrt(moved / length);
}

static void same_course(const learner_job *job, const char *function, const char *arguments)
{
  course c;

  if (!reference_has("torch")) {
    fprintf(stderr, "SKIP: Python with torch and numpy is needed (Debian: python3-torch)\n");
    skip();
  }
  run_weir(job, &c);
  assert_true(movement(&c) > 1e-2);
  assert_true(c.loss[STEPS - 1] < 0.95 * c.loss[0]);
  const reference_input in[] = {
      {"bank", "f4", c.before, c.elements}, {"x", "f4", c.x, c.in}, {"y", "f4", c.y, c.out}};
  reference_result r = reference_run("train_step.py", function, arguments, 0, THREADS, in, 3);
  const double *theirs = r.data[0];

  assert_int_equal(r.bytes[0], STEPS * sizeof *theirs);
  for (int i = 0; i < STEPS; i++) {
    const double tolerance = i == 0 ? FIRST_TOLERANCE : LOSS_TOLERANCE;

    if (!(fabs(c.loss[i] - theirs[i]) <= tolerance * fabs(theirs[i]))) {
      fail_msg("%s: loss %d is %.9g, PyTorch's %.9g", function, i, c.loss[i], theirs[i]);
    }
  }
  reference_same_f32(function, &r, 1, c.after, c.elements, BANK_TOLERANCE);
  reference_free(&r);
  free(c.before);
  free(c.after);
  free(c.x);
  free(c.y);
}

/* A latitude and a longitude, an odd extent that pooling cuts, all in three dimensions. */
static void unet_follows_pytorch(void **state)
{
  weir_unet_opts opts;
  learner_job job = {.build = unet,
                     .opts = &opts,
                     .x = {WEIR_F32, 5, {BATCH, 4, 7, 8, 4}, 0},
                     .y = {WEIR_F32, 5, {BATCH, 4, 7, 8, OUTPUTS}, 0},
                     .rate = 0.05,
                     .seed = 3,
                     .threads = THREADS};

  weir_opts_default(weir_unet_options, sizeof opts, &opts);
  opts.preset = WEIR_UNET_TINY;
  opts.levels = 2;
  opts.block.groups = 2;
  opts.border.y = 2;
  opts.border.x = 1;
  same_course(
      &job, "unet",
      "batch=2 channels=4 outputs=3 depth=4 height=7 width=8 kernel=3 base=4 levels=2 "
      "groups=2 border_z=0 border_y=2 border_x=1 rate=0.05 momentum=0.9 threads=2 steps=20");
}

/* Its two inputs apart, and as the members of a set. */
static weir_value transformer(weir_net *net, const void *opts, weir_value x)
{
  return weir_transformer(net, opts, 0, OUTPUTS, x);
}

static weir_value transformer_of_sets(weir_net *net, const void *opts, weir_value x)
{
  return weir_transformer(net, opts, BATCH, OUTPUTS, x);
}

/* Normalised before and after each part; with the inputs joined at the end, round a circle, and
 * without. */
static void transformer_follows_pytorch(void **state)
{
  for (int round = 0; round < 4; round++) {
    const bool first = round % 2 == 1, sets = round > 1;
    weir_transformer_opts opts;
    char arguments[512];
    learner_job job = {.build = sets ? transformer_of_sets : transformer,
                       .opts = &opts,
                       .x = {WEIR_F32, 4, {BATCH, 6, 12, 4}, 0},
                       .y = {WEIR_F32, 4, {BATCH, 6, 12, OUTPUTS}, 0},
                       .rate = 0.05,
                       .seed = 9,
                       .threads = THREADS};

    weir_opts_default(weir_transformer_options, sizeof opts, &opts);
    opts.width = 12;
    opts.heads = 3;
    opts.layers = 2;
    opts.dropout = 0;
    opts.patch = (weir_transformer_patch){.y = 2, .x = 3};
    opts.norm_first = opts.skip = first;
    opts.border.x = 1;
    train_job_transformer_arguments(&job, arguments, sizeof arguments);
    strcpy(strstr(arguments, " steps=1"), sets ? " steps=20 members=2" : " steps=20");
    same_course(&job, "transformer", arguments);
  }
}

static void follow_cosmoflow(int kernel)
{
  cf_mlperf_opts cfg;
  char arguments[256];
  learner_job job = {.build = cosmoflow,
                     .opts = &cfg,
                     .x = {WEIR_F32, 5, {BATCH, 16, 16, 16, 4}, 0},
                     .y = {WEIR_F32, 2, {BATCH, PARAMETERS}, 0},
                     .rate = 0.005,
                     .seed = 4,
                     .threads = THREADS};

  weir_opts_default(cf_mlperf_options, sizeof cfg, &cfg);
  cfg.kernel = kernel;
  cfg.base = 8;
  cfg.dropout = 0;
  (void)snprintf(arguments, sizeof arguments,
                 "batch=2 channels=4 outputs=4 size=16 kernel=%d blocks=2 base=8 most=512 "
                 "hidden1=128 hidden2=64 rate=0.005 momentum=0.9 threads=2 steps=20",
                 kernel);
  same_course(&job, "cosmoflow", arguments);
}

static void cosmoflow_follows_pytorch(void **state)
{
  follow_cosmoflow(3);
}

/* Of v0.7: an even kernel pads one element after and none before. */
static void cosmoflow_with_kernel_2_follows_pytorch(void **state)
{
  follow_cosmoflow(2);
}

static weir_value oyama(weir_net *net, const void *opts, weir_value x)
{
  return cf_oyama(net, opts, PARAMETERS, x);
}

static weir_value lbann(weir_net *net, const void *opts, weir_value x)
{
  return cf_lbann(net, opts, PARAMETERS, x);
}

static weir_value gap(weir_net *net, const void *opts, weir_value x)
{
  return cf_gap(net, opts, PARAMETERS, x);
}

static weir_value sc18(weir_net *net, const void *opts, weir_value x)
{
  return cf_sc18(net, opts, PARAMETERS, x);
}

/* The vector engine, so that no compiler is waited for. */
static void follow_fast(learner_job job, const char *function, const char *arguments)
{
  weir_exec_cfg exec;

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = WEIR_TIER_VECTOR;
  job.exec = &exec;
  job.threads = THREADS;
  same_course(&job, function, arguments);
}

/* Trains a network on cubes; `options` are the arguments of PyTorch's network. */
static void follow_cubes(const char *function, learner_job job, int side, const char *options)
{
  char arguments[256];

  job.x = (weir_array_desc){WEIR_F32, 5, {BATCH, side, side, side, 2}, 0};
  job.y = (weir_array_desc){WEIR_F32, 2, {BATCH, PARAMETERS}, 0};
  (void)snprintf(arguments, sizeof arguments,
                 "batch=2 channels=2 outputs=4 size=%d rate=%g momentum=0.9 threads=2 steps=20 %s",
                 side, job.rate, options);
  follow_fast(job, function, arguments);
}

/* Odd extents too: 22, 11, 6, 3. */
static void oyama_follows_pytorch(void **state)
{
  cf_oyama_opts o;

  weir_opts_default(cf_oyama_options, sizeof o, &o);
  o.base = 3;
  o.pools = 2;
  o.hidden1 = 16;
  o.hidden2 = 8;
  o.dropout = 0;
  follow_cubes("oyama", (learner_job){.build = oyama, .opts = &o, .rate = 0.005, .seed = 5}, 22,
               "base=3 pools=2 hidden1=16 hidden2=8 norm=0 bias=1 epsilon=1e-5");
}

static void lbann_with_norm_follows_pytorch(void **state)
{
  cf_lbann_opts o;

  weir_opts_default(cf_lbann_options, sizeof o, &o);
  o.base = 4;
  o.hidden1 = 16;
  o.hidden2 = 8;
  o.dropout = 0;
  o.norm = 1;
  follow_cubes("lbann", (learner_job){.build = lbann, .opts = &o, .rate = 0.01, .seed = 6}, 16,
               "base=4 most=256 blocks=2 hidden1=16 hidden2=8 norm=1 bias=0 epsilon=1e-5");
}

static void gap_with_periodic_borders_follows_pytorch(void **state)
{
  cf_gap_opts o;

  weir_opts_default(cf_gap_options, sizeof o, &o);
  o.base = 4;
  o.border = 1;
  o.hidden1 = 16;
  o.hidden2 = 8;
  follow_cubes("gap", (learner_job){.build = gap, .opts = &o, .rate = 0.05, .seed = 9}, 16,
               "base=4 blocks=3 border=1 hidden1=16 hidden2=8");
}

static void sc18_follows_pytorch(void **state)
{
  int64_t units[] = {16, 8};
  cf_sc18_opts o;

  weir_opts_default(cf_sc18_options, sizeof o, &o);
  o.base = 2;
  o.hidden = (weir_int_list){units, 2};
  o.dropout = 0;
  follow_cubes("sc18", (learner_job){.build = sc18, .opts = &o, .rate = 0.005, .seed = 7}, 64,
               "layout=64 base=2 hidden1=16 hidden2=8 norm=1 bias=1 epsilon=1e-4");
}

static weir_value unet3d(weir_net *net, const void *opts, weir_value x)
{
  return cf_unet(net, opts, OUTPUTS, x);
}

/* Classes 0, 1, 2 from numbers in [-1, 1]. */
static weir_value entropy(weir_graph *g, weir_value made, weir_value y)
{
  const weir_value third = weir_scale(g, weir_add_scalar(g, y, 1), 1.5);

  return weir_loss_categorical(g, &(weir_categorical_spec){.smoothing = 0}, made,
                               weir_cast(g, WEIR_I32, third), WEIR_NO_VALUE);
}

/* U of arXiv:2007.12856 with its cross entropy over the classes of every voxel. */
static void segmentation_follows_pytorch(void **state)
{
  cf_unet_opts o;
  learner_job job = {.build = unet3d,
                     .opts = &o,
                     .loss = entropy,
                     .x = {WEIR_F32, 5, {BATCH, 8, 12, 16, 2}, 0},
                     .y = {WEIR_F32, 4, {BATCH, 8, 12, 16}, 0},
                     .rate = 0.05,
                     .seed = 8};

  weir_opts_default(cf_unet_options, sizeof o, &o);
  o.levels = 2;
  o.base = 4;
  follow_fast(job, "unet3d",
              "batch=2 channels=2 outputs=3 depth=8 height=12 width=16 base=4 levels=2 rate=0.05 "
              "momentum=0.9 threads=2 steps=20");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unet_follows_pytorch),
      cmocka_unit_test(transformer_follows_pytorch),
      cmocka_unit_test(cosmoflow_follows_pytorch),
      cmocka_unit_test(cosmoflow_with_kernel_2_follows_pytorch),
      cmocka_unit_test(oyama_follows_pytorch),
      cmocka_unit_test(lbann_with_norm_follows_pytorch),
      cmocka_unit_test(gap_with_periodic_borders_follows_pytorch),
      cmocka_unit_test(sc18_follows_pytorch),
      cmocka_unit_test(segmentation_follows_pytorch),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
