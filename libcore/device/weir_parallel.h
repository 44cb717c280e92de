/* weir_parallel.h - thread parallelism of all computations. */
#ifndef WEIR_PARALLEL_H
#define WEIR_PARALLEL_H
#include <stddef.h>
#include <stdint.h>
#include "base/weir_status.h"
#include "conf/weir_opt.h"
#include "device/weir_constants.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Calls body(context, item, thread) once for each item of [0, n), on up to `threads` threads (0:
 * the number of weir_threads_set); returns when all are done. Items must be independent of each
 * other's order. Nested calls, OpenMP regions of libraries inside an item, and calls made while
 * another thread's call is active run on the calling thread. `thread` is in [0, threads); the
 * caller, which takes item 0 first, is thread 0. Idle threads take the next item: a caller without
 * help processes all items itself, and waits only for active ones. */
void weir_parallel(int64_t n, int threads, void (*body)(void *context, int64_t item, int thread),
                   void *context);
/* The same for a call that is repeated. seconds: those of all its items together, 0 where they are
 * not known; a call on several threads measures and sets them. Threads that sleep are not woken
 * for less than WEIR_THREADS_WAKES times the seconds that waking one takes, as measured: 1 to 10
 * us of the caller; on a virtual machine it takes its first item 20 us later. */
void weir_parallel_timed(int64_t n, int threads,
                         void (*body)(void *context, int64_t item, int thread), void *context,
                         double *seconds);
#define WEIR_THREADS_WAKES 6
/* Set and get the number of threads of weir_parallel; default: the processors available to this
 * process by affinity mask and control groups. */
void weir_threads_set(int threads);
int weir_threads_get(void);
/* Gives the calling thread, such as a rank that is one, `threads` >= 1 threads for its own calls,
 * the number that weir_threads_get then returns on it, until weir_threads_end_own, which ends them
 * where there are any. Calls of other threads compete for the same workers. Local to the thread.
 * Fails: WEIR_ERR_MEMORY. */
weir_status weir_threads_own(int threads) WEIR_CHECKED;
void weir_threads_end_own(void);
/* Sets the polling time of an idle thread before it sleeps; default WEIR_THREADS_SPIN. */
void weir_threads_spin_set(double seconds);
#define WEIR_THREADS_SPIN 20e-6

/* Instruction sets for Weir's own kernels and compiled loops. */
typedef enum weir_simd {
  WEIR_SIMD_AUTO,   /* all that the processor supports */
  WEIR_SIMD_BASE,   /* baseline of this processor family */
  WEIR_SIMD_AVX2,   /* x86-64-v3                               */
  WEIR_SIMD_AVX512, /* x86-64-v4                               */
} weir_simd;

/* The processor, as detected, and its constants: from a file if one was loaded. */
typedef struct weir_cpu {
  char model[64];
  int cores;
  int sse42, avx2, fma, avx512; /* avx512: F, DQ, BW and VL; none beyond constants.simd */
  int avx512bf16, amx;          /* products of bf16, too; amx: by tiles, which the system allows */
  weir_constants constants;
} weir_cpu;
/* Returns the constants, borrowed for the life of the program. If nothing was loaded, the first
 * call reads the file named by the environment variable WEIR_MACHINE, and ends the program where it
 * is malformed. */
const weir_cpu *weir_cpu_get(void);
/* Loads the constants stated in the file `path`, the rest as detected; "" or NULL: the file named
 * by WEIR_MACHINE, or none. Call before plans are made and threads started. Fails, leaving the
 * constants unchanged: WEIR_ERR_CONFIG (no such file, a malformed row, an instruction set that the
 * processor lacks), WEIR_ERR_UNSUPPORTED (a build without libyaml). */
weir_status weir_cpu_load(const char *path) WEIR_CHECKED;
/* Rows of such a file: members of weir_constants; docs/reference/machine.md. */
extern const weir_opt weir_constants_opts[];

#ifdef __cplusplus
}
#endif
#endif
