/* feed_priv.h - what the feeds of a plan share: arrays by their names, and windows of streams. */
#ifndef EXEC_FEED_PRIV_H
#define EXEC_FEED_PRIV_H
#include "exec/plan/plan_priv.h"

/* Returns the input, the result of that name, or -1. */
int32_t exec_find_input(const weir_plan *p, const char *name);
int32_t exec_find_result(const weir_plan *p, const char *name);
/* window.c: drops the slots of windows that nothing reads any more. */
void exec_windows_slide(weir_plan *p);
/* Moves the windows past a gap, slots of which repeat the newest one; input_front[n_arrays]: first
 * slot after it of each input, below 0 of other arrays. Fails: WEIR_ERR_CONFIG where another stream
 * lags behind by more than a window. */
weir_status exec_windows_skip(weir_plan *p, const int64_t *input_front) WEIR_CHECKED;

#endif
