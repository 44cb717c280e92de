/* exchange_sparse.h - what policies have in common that exchange the largest elements of a gradient
 * alone (Aji and Heafield 2017, arXiv:1704.05021): a rank adds its gradient to the residual, gives
 * elements selected from there, and keeps those that went into no sum for later steps. Thresholds
 * and residuals are in units of the gradient; the update rule with its learning rate follows. */
#ifndef WEIR_EXCHANGE_SPARSE_H
#define WEIR_EXCHANGE_SPARSE_H
#include "optim/exchange_buffer.h"
#include "optim/exchange_select.h"

/* Option rows of all of them: members double density and int64_t dense_steps. */
#define EXCHANGE_SPARSE_ROWS(type)                                                             \
  WEIR_OPT_REAL(type, density, 0.01, 1e-9, 1, "1",                                             \
                "fraction k / n of the n elements of a gradient that a rank gives in a step"), \
      WEIR_OPT_INT(type, dense_steps, 0, 0, 1e9, "steps",                                      \
                   "first steps of a training, in which all elements are summed")
/* Row of those with a threshold: member double reselect_factor. */
#define EXCHANGE_RESELECT_ROW(type)                                                         \
  WEIR_OPT_REAL(type, reselect_factor, 2, 1.25, 1e6, "1",                                   \
                "a threshold that selects more or fewer than k elements by this factor is " \
                "replaced by the exact one; bounds memory and messages")

struct exchange_sparse_opts {
  double density;
  int64_t dense_steps;
};
/* Rows of a policy that has no others. */
extern const weir_opt exchange_sparse_options[];

typedef struct exchange_sparse {
  exchange_buffer b;
  int64_t k;        /* elements that a rank gives in a step: density times count, at least 1 */
  int64_t capacity; /* maximum elements of a list */
  int64_t step, dense_steps;
  void *residual;      /* [count]; within a step with the gradient added */
  exchange_list own;   /* elements selected from there */
  weir_request *dense; /* sum of `residual` over the ranks; NULL: no dense step is to come */
  int64_t bins[EXCHANGE_BINS];
} exchange_sparse;

/* Opens what such a policy needs. factor: a list has at most so many times k elements. Collective.
 * Fails on all ranks alike: as exchange_buffer_open; WEIR_ERR_UNSUPPORTED (2^32 elements or more).
 */
weir_status exchange_sparse_open(const weir_exchange_args *a, const char *policy,
                                 const struct exchange_sparse_opts *opts, double factor,
                                 exchange_sparse *out) WEIR_CHECKED;
void exchange_sparse_close(exchange_sparse *x);
/* Begins a step: adds the gradient to the residual. A dense step is then *done: the parts have the
 * sum of the residuals of all ranks, and these are 0. Collective. Fails: as weir_request_run. */
weir_status exchange_sparse_begin(exchange_sparse *x, bool *done) WEIR_CHECKED;
/* Selects the k elements of largest magnitude, of equal ones those of lower indices; returns the
 * key of the smallest. Local. */
uint64_t exchange_sparse_top(exchange_sparse *x);
/* Selects the elements other than 0 of this key or a larger one; returns false where these are more
 * than a list has space for, or fewer than `min`, and selects none. Local. */
bool exchange_sparse_above(exchange_sparse *x, uint64_t key, int64_t min);
/* Sets the residual of the selected elements to 0: the sum that the parts get contains them. */
void exchange_sparse_clear(exchange_sparse *x);
/* Lists the residual, as weir_exchange_desc.keep does; returns 1. */
int exchange_sparse_keep(const exchange_sparse *x, weir_exchange_kept *kept);

/* Lists of n elements in messages: values, then indices. Bytes of one; a view of one in memory that
 * is aligned to the values; elements [at, at + n) of a list as one. */
int64_t exchange_list_bytes(const exchange_sparse *x, int64_t n);
exchange_list exchange_list_view(const exchange_sparse *x, void *bytes, int64_t n);
void exchange_list_pack(const exchange_sparse *x, const exchange_list *list, int64_t at, int64_t n,
                        void *bytes);

#endif
