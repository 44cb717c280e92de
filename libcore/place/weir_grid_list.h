/* weir_grid_list.h - predicted steps on listed grids, of any numbers of ranks, none of which is
 * needed. */
#ifndef WEIR_GRID_LIST_H
#define WEIR_GRID_LIST_H
#include <stdio.h>
#include "place/weir_grid_select.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Predicts a step of cfg->batch times cfg->accumulate samples on each grid of the list, with the
 * replication thresholds of the task, as weir_grid_select does, but of the rank in its middle
 * alone, which has as many neighbours as any: a grid of a thousand ranks takes no longer than one
 * of ten. Free out->row by weir_grid_choice_fini; out->best is -1. Local. Fails: WEIR_ERR_CONFIG,
 * naming `key`, for a text that is no grid as --grid takes it, "16x4x2", and where cfg->batch is no
 * multiple of the ranks along samples; as weir_grid_select. */
weir_status weir_grid_list_predict(const char *key, const weir_string_list *grids,
                                   const weir_train_task *task, const weir_train_cfg *cfg,
                                   const weir_plan_opts *exec, const weir_machine *machine,
                                   weir_grid_choice *out) WEIR_CHECKED;
/* Prints a line for each grid, in the order of the list, the fastest of each number of ranks
 * marked. elements: of the parameters. Fails: as weir_optim_rule. */
weir_status weir_grid_list_print(const weir_grid_choice *p, const weir_train_cfg *cfg,
                                 int64_t elements, FILE *out) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
