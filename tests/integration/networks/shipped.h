/* shipped.h - the shipped networks on shrunk shapes, and what two steps make of their parameters.
 */
#ifndef WEIR_NETWORKS_SHIPPED_H
#define WEIR_NETWORKS_SHIPPED_H
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "learner.h"
#include "model/nets.h"
#include "nn/weir_inception.h"
#include "nn/weir_unet.h"

enum { NETWORKS = 5, BATCH = 2, OUTPUTS = 2, PARAMETERS = 4 };

/* The networks' options, and the steps that train them. */
typedef struct shipped {
  weir_unet_opts unet;
  weir_inception_opts inception;
  cf_mlperf_opts cosmoflow;
  cf_oyama_opts oyama;
  cf_unet_opts segment;
  weir_exec_cfg exec;
  learner_job job[NETWORKS];
} shipped;

static inline weir_value build_unet(weir_net *net, const void *opts, weir_value x)
{
  return weir_unet(net, opts, OUTPUTS, x);
}

static inline weir_value build_incep(weir_net *net, const void *opts, weir_value x)
{
  return weir_inception(net, opts, OUTPUTS, x);
}

static inline weir_value build_cosmoflow(weir_net *net, const void *opts, weir_value x)
{
  return cf_mlperf(net, opts, PARAMETERS, x);
}

/* Means over windows that overlap, a convolution of stride 2. */
static inline weir_value build_oyama(weir_net *net, const void *opts, weir_value x)
{
  return cf_oyama(net, opts, PARAMETERS, x);
}

/* Moments of the batch, transposed convolutions. */
static inline weir_value build_segment(weir_net *net, const void *opts, weir_value x)
{
  return cf_unet(net, opts, OUTPUTS, x);
}

static inline void ship_cubes(shipped *s)
{
  weir_opts_default(cf_oyama_options, sizeof s->oyama, &s->oyama);
  weir_opts_default(cf_unet_options, sizeof s->segment, &s->segment);
  s->oyama.base = 2;
  s->oyama.pools = 1;
  s->oyama.hidden1 = 6;
  s->oyama.hidden2 = 5;
  s->segment.levels = 1;
  s->segment.base = 2;
  s->job[3].build = build_oyama;
  s->job[3].opts = &s->oyama;
  s->job[3].x = (weir_array_desc){WEIR_F32, 5, {BATCH, 7, 7, 7, 2}, 0};
  s->job[3].y = (weir_array_desc){WEIR_F32, 2, {BATCH, PARAMETERS}, 0};
  s->job[4].build = build_segment;
  s->job[4].opts = &s->segment;
  s->job[4].x = (weir_array_desc){WEIR_F32, 5, {BATCH, 4, 6, 4, 2}, 0};
  s->job[4].y = (weir_array_desc){WEIR_F32, 5, {BATCH, 4, 6, 4, OUTPUTS}, 0};
}

static inline void ship(shipped *s)
{
  weir_opts_default(weir_unet_options, sizeof s->unet, &s->unet);
  weir_opts_default(weir_inception_options, sizeof s->inception, &s->inception);
  weir_opts_default(cf_mlperf_options, sizeof s->cosmoflow, &s->cosmoflow);
  weir_opts_default(weir_exec_opts, sizeof s->exec, &s->exec);
  s->exec.tier = WEIR_TIER_VECTOR; /* every build has it, and no compiler is waited for */
  s->unet.preset = WEIR_UNET_TINY;
  s->unet.residual = true;
  s->unet.border.y = 2;
  s->unet.border.x = 1;
  s->inception.preset = WEIR_INCEPTION_TINY;
  s->inception.control = 2;
  s->cosmoflow.base = 3;
  s->cosmoflow.hidden1 = 6;
  s->cosmoflow.hidden2 = 5;
  const learner_job same = {.rate = 0.01, .seed = 7, .exec = &s->exec, .threads = 1};

  for (int k = 0; k < NETWORKS; k++) {
    s->job[k] = same;
  }
  s->job[0].build = build_unet;
  s->job[0].opts = &s->unet;
  s->job[0].x = (weir_array_desc){WEIR_F32, 5, {BATCH, 2, 6, 8, 3}, 0};
  s->job[0].y = (weir_array_desc){WEIR_F32, 5, {BATCH, 2, 6, 8, OUTPUTS}, 0};
  s->job[1].build = build_incep;
  s->job[1].opts = &s->inception;
  s->job[1].x = (weir_array_desc){WEIR_F32, 4, {BATCH, 5, 6, 4}, 0};
  s->job[1].y = (weir_array_desc){WEIR_F32, 4, {BATCH, 5, 6, OUTPUTS}, 0};
  s->job[2].build = build_cosmoflow;
  s->job[2].opts = &s->cosmoflow;
  s->job[2].x = (weir_array_desc){WEIR_F32, 5, {BATCH, 8, 8, 8, 4}, 0};
  s->job[2].y = (weir_array_desc){WEIR_F32, 2, {BATCH, PARAMETERS}, 0};
  ship_cubes(s);
}

/* Loss and parameters after two steps. */
typedef struct outcome {
  float *values;
  int64_t n;
} outcome;

static inline outcome outcome_of(const learner_job *job)
{
  outcome o;
  learner l;
  double loss = 0;

  assert_ok(learner_open(job, &l));
  assert_ok(learner_step(&l, &loss));
  assert_ok(learner_step(&l, &loss));
  o.n = weir_tensor_numel(&l.bank) + 1;
  assert_ok(weir_alloc(o.n, sizeof *o.values, (void **)&o.values));
  memcpy(o.values, l.bank.data, (size_t)(o.n - 1) * sizeof *o.values);
  o.values[o.n - 1] = (float)loss;
  learner_close(&l);
  return o;
}

#endif
