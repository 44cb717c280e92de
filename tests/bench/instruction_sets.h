/* instruction_sets.h - programs of tests/bench with one instruction set of this processor or
 * another: in processes of their own, since libraries choose once. */
#ifndef INSTRUCTION_SETS_H
#define INSTRUCTION_SETS_H
#include <stddef.h>

/* As exec.machine, oneDNN and OpenBLAS name it. */
typedef struct bench_set {
  const char *name, *dnnl, *openblas;
} bench_set;

enum { BENCH_SETS = 2 };
extern const bench_set bench_sets[BENCH_SETS];

/* Writes the command that runs this program, without arguments, limited to the set, by a file of
 * machine constants that says so to Weir. */
void bench_set_command(const bench_set *set, const char *machine, char *command, size_t size);

/* Prints `rows` with the instructions that WEIR_MACHINE allows, and where it is not set and they go
 * beyond AVX2, once more with these alone (tests/machines/avx2.yaml). To be called first. Returns
 * the exit status of the program, that of the first `rows` which is not 0. */
int bench_each_set(int (*rows)(void));
/* A name that ends in " (AVX2)" where these are the widest instructions: rows of both sets differ
 * in it. Borrowed until the next call. */
const char *bench_set_row(const char *name);
#endif
