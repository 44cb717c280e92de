/* weir_grid_options.h - the section `grid:` of a configuration: the process grid by numbers, or by
 * selection with the machine constants given here. */
#ifndef WEIR_GRID_OPTIONS_H
#define WEIR_GRID_OPTIONS_H
#include "conf/weir_opt.h"
#include "perf/weir_machine.h"
#include "train/weir_train.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Choice of the grid: by the numbers, or by the caller with weir_grid_select. */
typedef enum weir_grid_by { WEIR_GRID_BY_NUMBERS, WEIR_GRID_BY_AUTO } weir_grid_by;

/* The section `grid:` of a configuration; rows in weir_grid_opts. */
typedef struct weir_grid_cfg {
  int64_t samples, depth, height, width; /* ranks along each dimension; 0: remaining ranks */
  int by;                                /* weir_grid_by */
  struct {
    int64_t depth, height, width;
  } replicate_below;    /* as in weir_train_task */
  weir_machine machine; /* as weir_machine_measure takes it */
} weir_grid_cfg;
extern const weir_opt weir_grid_opts[];

/* Returns the replication thresholds of the numbers. */
void weir_grid_replicate_below(const weir_grid_cfg *cfg, int64_t replicate_below[WEIR_ALONG_DIMS]);
/* Returns the grid of so many ranks by the numbers. Fails: WEIR_ERR_CONFIG (another number of
 * ranks, or two dimensions are 0). */
weir_status weir_grid_from_cfg(const weir_grid_cfg *cfg, int ranks, weir_grid *out) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
