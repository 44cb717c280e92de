/* weir_worker.h - a thread for what waits: files are read and written in a lane while the caller
 * computes. Arithmetic is shared out by weir_parallel alone. */
#ifndef WEIR_WORKER_H
#define WEIR_WORKER_H
#include <stdbool.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_worker weir_worker;

/* A lane with a thread of its own; or, for comparison and for programs that may have one thread
 * only, without: then weir_worker_start does the job before it returns. Signals go to other
 * threads. Fails: WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL where the system gives no thread; *out is then
 * NULL. */
weir_status weir_worker_create(bool own_thread, weir_worker **out) WEIR_CHECKED;
/* Begins job(context). What it shares out by weir_parallel, it does by itself. The one before has
 * to have been waited for. What the caller wrote before, the job sees. */
void weir_worker_start(weir_worker *lane, weir_status (*job)(void *context), void *context);
/* Waits for the job and returns its status, once: a failure becomes one of this thread. What the
 * job wrote, the caller sees. WEIR_OK where there is no job. */
weir_status weir_worker_wait(weir_worker *lane) WEIR_CHECKED;
/* Waits for the job, whatever its status, and ends the thread; accepts NULL. */
void weir_worker_destroy(weir_worker **lane);

#ifdef __cplusplus
}
#endif
#endif
