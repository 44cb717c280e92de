/* weir_worker.h - background worker thread for input and output: files are read and written while
 * the caller computes. Parallel arithmetic uses weir_parallel only. */
#ifndef WEIR_WORKER_H
#define WEIR_WORKER_H
#include <stdbool.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_worker weir_worker;

/* Creates a worker with its own thread; or, for comparison and for single-threaded programs,
 * without one: then weir_worker_start runs the job before it returns. Signals are handled by other
 * threads. Fails: WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL where the system creates no thread; *out is
 * then NULL. */
weir_status weir_worker_create(bool own_thread, weir_worker **out) WEIR_CHECKED;
/* Starts job(context). weir_parallel calls of the job run on its thread. The previous job must have
 * been waited for. The job sees all earlier writes of the caller. */
void weir_worker_start(weir_worker *worker, weir_status (*job)(void *context), void *context);
/* Waits for the job and returns its status, once: a failure becomes one of this thread. The caller
 * then sees all writes of the job. WEIR_OK without a job. */
weir_status weir_worker_wait(weir_worker *lane) WEIR_CHECKED;
/* Waits for the job, whatever its status, and ends the thread; accepts NULL. */
void weir_worker_destroy(weir_worker **worker);

#ifdef __cplusplus
}
#endif
#endif
