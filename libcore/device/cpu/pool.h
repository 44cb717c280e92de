/* pool.h - worker threads that share the items of one call with its caller. */
#ifndef WEIR_DEVICE_POOL_H
#define WEIR_DEVICE_POOL_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"

/* Calls body(context, item, thread) once for each item of [0, n), n > 1, on the calling thread
 * (thread 0, item 0) and on those of threads 1 to team - 1 that get a processor in time: an item is
 * taken when a thread is ready for it. Waits for items under way, never for a thread that has
 * none, and while a worker under way has no processor lends it the caller's. Calls enter() on a
 * worker before its first item. seconds: as of weir_parallel_timed. Returns false, with nothing
 * done, where another thread's call is under way or there are no workers. */
bool pool_run(int64_t n, int team, void (*body)(void *context, int64_t item, int thread),
              void *context, void (*enter)(void), double *seconds);
/* Gives the calling thread a pool of its own for `threads` threads, whose workers pool_run starts
 * when first needed, until pool_disown, which ends them. Fails: WEIR_ERR_MEMORY. */
weir_status pool_own(int threads) WEIR_CHECKED;
void pool_disown(void);
/* Returns that number, 0: this thread has no pool of its own. */
int pool_own_threads(void);
/* Seconds for which a thread looks for work, or for the last items, before it sleeps. */
void pool_spin_set(double seconds);

#endif
