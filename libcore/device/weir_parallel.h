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
 * by OpenMP inside an item, and a call made while another thread's is under way. `thread` is in
 * [0, threads); the caller, which takes item 0 first, is thread 0. Items are taken by threads that
 * run: a caller that gets no help does all of them, and waits for items under way only. */
void weir_parallel(int64_t n, int threads, void (*body)(void *context, int64_t item, int thread),
                   void *context);
/* Threads that weir_parallel may use; default: the processors this process may run on, as its
 * affinity mask and the limits of its control groups say. */
void weir_threads_set(int threads);
int weir_threads_get(void);
/* How long a thread without work looks for some before it sleeps; default WEIR_THREADS_SPIN. */
void weir_threads_spin_set(double seconds);
#define WEIR_THREADS_SPIN 20e-6

/* Instruction sets that Weir's own kernels and compiled loops may use. */
typedef enum weir_simd {
  WEIR_SIMD_AUTO,   /* all that the processor has              */
  WEIR_SIMD_BASE,   /* what every processor of this family has */
  WEIR_SIMD_AVX2,   /* x86-64-v3                               */
  WEIR_SIMD_AVX512, /* x86-64-v4                               */
} weir_simd;

/* Constants of the machine: those of a file where one was loaded, else detected. */
typedef struct weir_cpu {
  char model[64];
  int cores;
  int sse42, avx2, fma, avx512; /* avx512: F, DQ, BW and VL; none beyond `simd` */
  weir_simd simd;
  int64_t l1_bytes, l2_bytes, l3_bytes; /* of one core; l3: as far as it is shared */
  int64_t memory_bytes;                 /* 0: not known */
  double bandwidth;                     /* bytes/s copied by one core; 0: not measured */
  double flop_rate;                     /* f32 flop/s of one core; 0: not measured */
} weir_cpu;
/* Borrowed for the life of the program. Where nothing was loaded, the first call reads the file
 * that the environment variable WEIR_MACHINE names, and ends the program where it is malformed. */
const weir_cpu *weir_cpu_get(void);
/* Takes what the file `path` states of the machine, the rest as detected; "" or NULL: the file that
 * WEIR_MACHINE names, or none. Call before plans are made and threads started. Fails, leaving the
 * constants as they were: WEIR_ERR_CONFIG (no such file, a malformed row, an instruction set that
 * the processor lacks), WEIR_ERR_UNSUPPORTED (a build without libyaml). */
weir_status weir_cpu_load(const char *path) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
