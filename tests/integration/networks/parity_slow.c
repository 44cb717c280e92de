/* parity_slow.c - twenty steps of a U-Net and of CosmoFlow's network, by Weir and by PyTorch, from
 * the same parameters and data: every loss, and the parameters afterwards. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_log.h"
#include "model/nets.h"
#include "nn/weir_unet.h"
#include "peer.h"
#include "learner.h"

enum { STEPS = 20, BATCH = 2, THREADS = 2, OUTPUTS = 3, PARAMETERS = 4 };

/* Of losses, relative (the acceptance of the engine); of parameters, in parts of the largest one's
 * movement being of order 1. */
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
  const size_t size = (size_t)weir_tensor_count(t) * sizeof(float);
  float *to = malloc(size);

  assert_non_null(to);
  return memcpy(to, t->data, size);
}

static void run_weir(const learner_job *job, course *c)
{
  learner t;

  assert_ok(learner_open(job, &t));
  c->elements = weir_tensor_count(&t.bank);
  c->in = weir_tensor_count(&t.x);
  c->out = weir_tensor_count(&t.y);
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

  if (!peer_ready("torch", "python3-torch")) {
    skip();
  }
  run_weir(job, &c);
  assert_true(movement(&c) > 1e-2);
  assert_true(c.loss[STEPS - 1] < 0.95 * c.loss[0]);
  const peer_input in[] = {
      {"bank", "f4", c.before, c.elements}, {"x", "f4", c.x, c.in}, {"y", "f4", c.y, c.out}};
  peer_result r = peer_run("train_step.py", function, arguments, 0, THREADS, in, 3);
  const double *theirs = r.data[0];

  assert_int_equal(r.bytes[0], STEPS * sizeof *theirs);
  for (int i = 0; i < STEPS; i++) {
    if (!(fabs(c.loss[i] - theirs[i]) <= LOSS_TOLERANCE * fabs(theirs[i]))) {
      fail_msg("%s: loss %d is %.9g, PyTorch's %.9g", function, i, c.loss[i], theirs[i]);
    }
  }
  peer_same_f32(function, &r, 1, c.after, c.elements, BANK_TOLERANCE);
  peer_free(&r);
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
                     .x = {WEIR_F32, 5, {BATCH, 4, 11, 16, 4}, 0},
                     .y = {WEIR_F32, 5, {BATCH, 4, 11, 16, OUTPUTS}, 0},
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
      "batch=2 channels=4 outputs=3 depth=4 height=11 width=16 kernel=3 base=4 levels=2 "
      "groups=2 border_z=0 border_y=2 border_x=1 rate=0.05 momentum=0.9 threads=2 steps=20");
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

/* Of v0.7: an even kernel pads one behind and none before. */
static void cosmoflow_with_kernel_2_follows_pytorch(void **state)
{
  follow_cosmoflow(2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unet_follows_pytorch),
      cmocka_unit_test(cosmoflow_follows_pytorch),
      cmocka_unit_test(cosmoflow_with_kernel_2_follows_pytorch),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
