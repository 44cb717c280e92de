/* train_jobs.h - the training steps that benches measure: U-Net lite and CosmoFlow, batches of two.
 */
#ifndef WEIR_BENCH_TRAIN_JOBS_H
#define WEIR_BENCH_TRAIN_JOBS_H
#include "learner.h"
#include "model/nets.h"
#include "nn/weir_unet.h"

enum { TRAIN_JOB_BATCH = 2, TRAIN_JOB_UNET_OUTPUTS = 7, TRAIN_JOB_COSMO_OUTPUTS = 4 };
#define TRAIN_JOB_RATE 0.001

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
#endif
