/* weir_lane.h - a thread for what waits: files are read and written in a lane while the caller
 * computes. Arithmetic is shared out by weir_parallel alone. */
#ifndef WEIR_LANE_H
#define WEIR_LANE_H
#include <stdbool.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_lane weir_lane;

/* A lane with a thread of its own; or, for comparison and for programs that may have one thread
 * only, without: then weir_lane_start does the job before it returns. Signals go to other threads.
 * Fails: WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL where the system gives no thread; *out is then NULL. */
weir_status weir_lane_create(bool own_thread, weir_lane **out) WEIR_CHECKED;
/* Begins job(context). What it shares out by weir_parallel, it does by itself. The one before has
 * to have been waited for. What the caller wrote before, the job sees. */
void weir_lane_start(weir_lane *lane, weir_status (*job)(void *context), void *context);
/* Waits for the job and returns its status, once: a failure becomes one of this thread. What the
 * job wrote, the caller sees. WEIR_OK where there is no job. */
weir_status weir_lane_wait(weir_lane *lane) WEIR_CHECKED;
/* Waits for the job, whatever its status, and ends the thread; accepts NULL. */
void weir_lane_destroy(weir_lane **lane);

#ifdef __cplusplus
}
#endif
#endif
