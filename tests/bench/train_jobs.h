/* train_jobs.h - the training steps that benches measure: U-Net lite, transformer lite and
 * CosmoFlow, batches of two. */
#ifndef WEIR_BENCH_TRAIN_JOBS_H
#define WEIR_BENCH_TRAIN_JOBS_H
#include <stdio.h>
#include "learner.h"
#include "model/nets.h"
#include "nn/weir_transformer.h"
#include "nn/weir_unet.h"

enum { TRAIN_JOB_BATCH = 2, TRAIN_JOB_UNET_OUTPUTS = 7, TRAIN_JOB_COSMO_OUTPUTS = 4 };
#define TRAIN_JOB_RATE 0.001
#define TRAIN_JOB_MOMENTUM 0.9

static inline weir_value train_job_build_unet(weir_net *net, const void *opts, weir_value x)
{
  return weir_unet(net, opts, TRAIN_JOB_UNET_OUTPUTS, x);
}

/* The U-Net `lite` on 8 x 64 x 128: seven fields of an analysis and seven of a forecast in, seven
 * out. Sets its options, which the job borrows. */
static inline learner_job train_job_unet(weir_unet_opts *opts)
{
  enum { D = 8, H = 64, W = 128, N = TRAIN_JOB_BATCH, OUT = TRAIN_JOB_UNET_OUTPUTS };

  weir_opts_default(weir_unet_options, sizeof *opts, opts);
  return (learner_job){.build = train_job_build_unet,
                       .opts = opts,
                       .x = {WEIR_F32, 5, {N, D, H, W, 2 * OUT}, 0},
                       .y = {WEIR_F32, 5, {N, D, H, W, OUT}, 0},
                       .rate = TRAIN_JOB_RATE,
                       .seed = 1};
}

/* The arguments of `unet` in train_step.py for that job, a step a call. */
static inline void train_job_unet_arguments(const learner_job *job, char *text, size_t size)
{
  const weir_unet_opts *opts = job->opts;
  const int64_t *x = job->x.shape;

  (void)snprintf(text, size,
                 "batch=%d channels=%d outputs=%d depth=%d height=%d width=%d kernel=3 base=16 "
                 "levels=2 groups=%d border_z=0 border_y=0 border_x=0 rate=%g momentum=%g "
                 "threads=%d steps=1",
                 (int)x[0], (int)x[4], (int)job->y.shape[4], (int)x[1], (int)x[2], (int)x[3],
                 (int)opts->block.groups, job->rate, TRAIN_JOB_MOMENTUM, job->threads);
}

static inline weir_value train_job_build_transformer(weir_net *net, const void *opts, weir_value x)
{
  return weir_transformer(net, opts, 0, TRAIN_JOB_UNET_OUTPUTS, x);
}

/* The transformer `lite` on 64 x 128, as a layer of the U-Net's fields: 512 tokens of patches of
 * 4 x 4; without dropout, whose random numbers are each program's own. Sets its options, which the
 * job borrows. */
static inline learner_job train_job_transformer(weir_transformer_opts *opts)
{
  enum { H = 64, W = 128, N = TRAIN_JOB_BATCH, OUT = TRAIN_JOB_UNET_OUTPUTS };

  weir_opts_default(weir_transformer_options, sizeof *opts, opts);
  opts->dropout = 0;
  opts->width = 128;
  opts->heads = opts->layers = 4;
  return (learner_job){.build = train_job_build_transformer,
                       .opts = opts,
                       .x = {WEIR_F32, 4, {N, H, W, 2 * OUT}, 0},
                       .y = {WEIR_F32, 4, {N, H, W, OUT}, 0},
                       .rate = TRAIN_JOB_RATE,
                       .seed = 1};
}

/* The arguments of `transformer` in train_step.py for that job, whose width, heads and layers are
 * given. */
static inline void train_job_transformer_arguments(const learner_job *job, char *text, size_t size)
{
  const weir_transformer_opts *opts = job->opts;
  const int64_t *x = job->x.shape;

  (void)snprintf(text, size,
                 "batch=%d channels=%d outputs=%d height=%d width=%d tokens=%d heads=%d layers=%d "
                 "hidden=%d patch_y=%d patch_x=%d first=%d features=%d kernel=%d border_y=%d "
                 "border_x=%d rate=%g momentum=%g threads=%d steps=1",
                 (int)x[0], (int)x[3], (int)job->y.shape[3], (int)x[1], (int)x[2], (int)opts->width,
                 (int)opts->heads, (int)opts->layers,
                 (int)(opts->hidden > 0 ? opts->hidden : 4 * opts->width), (int)opts->patch.y,
                 (int)opts->patch.x, opts->norm_first, opts->skip ? (int)opts->features : 0,
                 (int)opts->head_kernel, opts->border.y, opts->border.x, job->rate,
                 TRAIN_JOB_MOMENTUM, job->threads);
}

static inline weir_value train_job_build_cosmoflow(weir_net *net, const void *opts, weir_value x)
{
  return cf_mlperf(net, opts, TRAIN_JOB_COSMO_OUTPUTS, x);
}

/* MLPerf's network on side^3 voxels of four channels, without dropout, whose random numbers are
 * each program's own. Sets its options, which the job borrows. */
static inline learner_job train_job_cosmoflow(cf_mlperf_opts *opts, int64_t side)
{
  enum { N = TRAIN_JOB_BATCH, CHANNELS = 4 };

  weir_opts_default(cf_mlperf_options, sizeof *opts, opts);
  opts->dropout = 0;
  return (learner_job){.build = train_job_build_cosmoflow,
                       .opts = opts,
                       .x = {WEIR_F32, 5, {N, side, side, side, CHANNELS}, 0},
                       .y = {WEIR_F32, 2, {N, TRAIN_JOB_COSMO_OUTPUTS}, 0},
                       .rate = TRAIN_JOB_RATE,
                       .seed = 1};
}

/* The arguments of `cosmoflow` in train_step.py for that job. */
static inline void train_job_cosmoflow_arguments(const learner_job *job, char *text, size_t size)
{
  const cf_mlperf_opts *cfg = job->opts;
  const int64_t side = job->x.shape[1];

  (void)snprintf(text, size,
                 "batch=%d channels=%d outputs=%d size=%d kernel=%d blocks=%d base=%d most=%d "
                 "hidden1=%d hidden2=%d rate=%g momentum=%g threads=%d steps=1",
                 (int)job->x.shape[0], (int)job->x.shape[4], (int)job->y.shape[1], (int)side,
                 (int)cfg->kernel, (int)cf_mlperf_blocks(cfg, side), (int)cfg->base,
                 (int)cfg->max_filters, (int)cfg->hidden1, (int)cfg->hidden2, job->rate,
                 TRAIN_JOB_MOMENTUM, job->threads);
}
#endif
