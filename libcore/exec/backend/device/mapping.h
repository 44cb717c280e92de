/* mapping.h - task mappings: which tasks of a grid each worker takes, and in which order.
 *
 * A mapping is a product of atoms, outermost first: spatial(d...) gives each of d0 d1 ... workers
 * one task, in row-major order; repeat(d...) gives one worker all tasks, in that order. (f g) has
 * the workers of f times those of g: worker w takes, for each task a of f's worker w / (workers of
 * g), all tasks a * shape(g) + b of g's worker w mod (workers of g). Y. Ding et al., Hidet, ASPLOS
 * 2023. */
#ifndef EXEC_MAPPING_H
#define EXEC_MAPPING_H
#include "exec/backend/native/native_priv.h"

enum { EXEC_MAPPING_ATOMS = 6 };

typedef struct exec_atom {
  bool spatial; /* else repeat */
  int64_t extent[WEIR_MAX_DIMS];
} exec_atom;
typedef struct exec_mapping {
  int rank, n;
  exec_atom atom[EXEC_MAPPING_ATOMS];
} exec_mapping;

/* One atom; extents [rank], each at least 1. */
exec_mapping exec_spatial(int rank, const int64_t *extent);
exec_mapping exec_repeat(int rank, const int64_t *extent);
/* outer inner: of the same rank, at most EXEC_MAPPING_ATOMS atoms together. */
exec_mapping exec_compose(const exec_mapping *outer, const exec_mapping *inner);
/* Workers; tasks of each; tasks of the grid along dimension d. The first two fit where the product
 * of the grid's extents does. */
int64_t exec_mapping_workers(const exec_mapping *m);
int64_t exec_mapping_repeats(const exec_mapping *m);
int64_t exec_mapping_shape(const exec_mapping *m, int d);
/* Writes the n-th task of a worker: task[rank]. */
void exec_mapping_task(const exec_mapping *m, int64_t worker, int64_t n, int64_t *task);

/* Emits constants s<atom>_<d>, digits of the worker `number`, an expression of a value that is not
 * negative; then exec_mapping_put_first writes the worker's first task along dimension d: a sum of
 * these. Digits of extent 1 are left out. */
void exec_mapping_put_digits(const exec_mapping *m, const char *number, native_text *t);
void exec_mapping_put_first(const exec_mapping *m, int d, native_text *t);
#endif
