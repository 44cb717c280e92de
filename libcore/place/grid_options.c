/* grid_options.c - the section `grid:` and the grid by its numbers. */
#include <inttypes.h>

#include "place/weir_grid_options.h"

const weir_opt weir_grid_opts[] = {
    WEIR_OPT_INT(weir_grid_cfg, samples, 0, 0, 1000000, "ranks",
                 "ranks along the samples of a batch; 0: remaining ranks"),
    WEIR_OPT_INT(
        weir_grid_cfg, depth, 1, 0, 1000000, "ranks",
        "ranks along the depth of a sample: shard this first, its slabs are contiguous in files"),
    WEIR_OPT_INT(weir_grid_cfg, height, 1, 0, 1000000, "ranks",
                 "ranks along the height of a sample"),
    WEIR_OPT_INT(weir_grid_cfg, width, 1, 0, 1000000, "ranks", "ranks along the width of a sample"),
    WEIR_OPT_ENUM(
        weir_grid_cfg, by, WEIR_GRID_BY_NUMBERS, "numbers|auto",
        "choice of the grid: numbers: samples, depth, height and width; auto: grid with the "
        "smallest predicted time per step of all possible ones; the numbers are ignored"),
    WEIR_OPT_INT(weir_grid_cfg, replicate_below.depth, 0, 0, 1000000, "elements",
                 "replicate feature maps with at most this extent along the depth: the layers "
                 "after them run redundantly on all ranks along it, without halos and reductions; "
                 "0: maps stay sharded to the last layer; set by auto",
                 .alias = "gather.depth"),
    WEIR_OPT_INT(weir_grid_cfg, replicate_below.height, 0, 0, 1000000, "elements",
                 "the same for the height", .alias = "gather.height"),
    WEIR_OPT_INT(weir_grid_cfg, replicate_below.width, 0, 0, 1000000, "elements",
                 "the same for the width", .alias = "gather.width"),
    WEIR_OPT_REAL(weir_grid_cfg, machine.kernels, 0, 0, 1e6, "1",
                  "for auto: kernel speed of a rank, with its threads, relative to the prediction "
                  "of the kernels; 0: measured"),
    WEIR_OPT_REAL(weir_grid_cfg, machine.flops, 0, 0, 1e18, "flop/s",
                  "for auto: compute rate of a rank without kernels; 0: measured"),
    WEIR_OPT_REAL(weir_grid_cfg, machine.bandwidth, 0, 0, 1e18, "bytes/s",
                  "for auto: memory bandwidth of a rank, read plus write; 0: measured"),
    WEIR_OPT_REAL(weir_grid_cfg, machine.group_overhead, 0, 0, 1000, "s",
                  "for auto: overhead per group of operators; 0: measured",
                  .alias = "machine.launch"),
    WEIR_OPT_REAL(
        weir_grid_cfg, machine.latency, 0, 0, 1000, "s",
        "for auto: latency of a message; 0: measured between pairs of ranks, 5e-6 with one rank"),
    WEIR_OPT_REAL(weir_grid_cfg, machine.link_bw, 0, 0, 1e18, "bytes/s",
                  "for auto: bandwidth between two ranks; 0: measured between pairs of ranks, 5e9 "
                  "with one rank",
                  .alias = "machine.message"),
    WEIR_OPT_REAL(weir_grid_cfg, machine.reduce_bw, 0, 0, 1e18, "bytes/s",
                  "for auto: bandwidth of a reduction over ranks; 0: measured in reductions over "
                  "all ranks, a third of machine.bandwidth with one rank",
                  .alias = "machine.merge"),
    WEIR_OPT_REAL(weir_grid_cfg, machine.overlap, -1, -1, 1, "1",
                  "for auto: fraction of compute time in which messages progress; below 0: "
                  "measured, 1 with one rank",
                  .alias = "machine.hidden"),
    WEIR_OPT_PATH(
        weir_grid_cfg, machine.profile, "",
        "for auto: file of measured times of operator groups; missing ones are measured in a few "
        "steps on every grid and added, also by describe; empty: predict from the rates alone",
        .alias = "machine.table"),
    WEIR_OPT_END,
};

weir_status weir_grid_from_cfg(const weir_grid_cfg *cfg, int ranks, weir_grid *out)
{
  const int64_t asked[WEIR_ALONG_DIMS] = {cfg->samples, cfg->depth, cfg->height, cfg->width};
  int64_t product = 1;
  int open = -1;

  for (int d = 0; d < WEIR_ALONG_DIMS; d++) {
    if (asked[d] == 0 && open >= 0) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "grid: %s and %s are both 0: give one of them as a number of ranks",
                       weir_along_names[open], weir_along_names[d]);
    }
    open = asked[d] == 0 ? d : open;
    product = asked[d] == 0 || product > ranks ? product : product * asked[d];
  }
  if (open >= 0 ? product > ranks || ranks % product != 0 : product != ranks) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "grid: %" PRId64 " x %" PRId64 " x %" PRId64 " x %" PRId64
                     " (samples, depth, height, width; 0: remaining) does not fit %d rank%s",
                     asked[0], asked[1], asked[2], asked[3], ranks, ranks == 1 ? "" : "s");
  }
  *out = (weir_grid){.dims = WEIR_ALONG_DIMS};
  for (int d = 0; d < WEIR_ALONG_DIMS; d++) {
    out->extent[d] = (int)(d == open ? ranks / product : asked[d]);
  }
  return WEIR_OK;
}

void weir_grid_replicate_below(const weir_grid_cfg *cfg, int64_t replicate_below[WEIR_ALONG_DIMS])
{
  replicate_below[WEIR_ALONG_SAMPLES] = 0;
  replicate_below[WEIR_ALONG_DEPTH] = cfg->replicate_below.depth;
  replicate_below[WEIR_ALONG_HEIGHT] = cfg->replicate_below.height;
  replicate_below[WEIR_ALONG_WIDTH] = cfg->replicate_below.width;
}
