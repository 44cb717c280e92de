/* weir_parallel.h - the one place where threads compute. */
#ifndef WEIR_PARALLEL_H
#define WEIR_PARALLEL_H
#include <stddef.h>
#include <stdint.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Calls body(context, item, thread) once for each item of [0, n), on up to `threads` threads (0:
 * all that weir_threads_set allows); returns when all are done. Items must not depend on one
 * another's order. A nested call runs on the calling thread, and so does what a library shares out
 * by OpenMP inside an item. `thread` is in [0, threads). */
void weir_parallel(int64_t n, int threads, void (*body)(void *context, int64_t item, int thread),
                   void *context);
/* Threads that weir_parallel may use; default: the processors this process may run on. */
void weir_threads_set(int threads);
int weir_threads_get(void);

/* Facts of the processor and the memory beside it, read once. */
typedef struct weir_cpu {
  char model[64];
  int cores;
  int sse42, avx2, fma, avx512; /* avx512: F, DQ, BW and VL */
  int64_t l1_bytes, l2_bytes, l3_bytes;
  int64_t memory_bytes; /* 0: not known */
} weir_cpu;
/* Borrowed for the life of the program. */
const weir_cpu *weir_cpu_get(void);

#ifdef __cplusplus
}
#endif
#endif
