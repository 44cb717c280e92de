/* exchange_buffer.h - the parts of an exchange as one buffer, for policies that keep copies. */
#ifndef WEIR_EXCHANGE_BUFFER_H
#define WEIR_EXCHANGE_BUFFER_H
#include "comm/weir_request.h"
#include "optim/weir_exchange.h"

/* Parts of one dtype, all over the same dimensions of the grid. */
typedef struct exchange_buffer {
  weir_exchange_part *part; /* [n] */
  int n;
  weir_dtype dtype;
  int64_t count;
  const weir_reducer *sum;
  weir_comm *group; /* of the replicas */
} exchange_buffer;

/* Copies the list of parts, and makes the group of ranks that exchange them. policy: for messages.
 * Collective. Fails on all ranks alike: WEIR_ERR_UNSUPPORTED (several dtypes or dimensions),
 * WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL. */
weir_status exchange_buffer_open(const weir_exchange_args *a, const char *policy,
                                 exchange_buffer *out) WEIR_CHECKED;
void exchange_buffer_close(exchange_buffer *b);
/* Allocates `count` elements, zero; the caller frees them. Fails: WEIR_ERR_MEMORY. */
weir_status exchange_buffer_alloc(const exchange_buffer *b, void **out) WEIR_CHECKED;
/* Checks the dtype for policies that keep what rounding leaves out. Fails: WEIR_ERR_UNSUPPORTED
 * (whole numbers). */
weir_status exchange_buffer_rounds(const exchange_buffer *b, const char *policy) WEIR_CHECKED;
/* Sets `count` elements to zero. */
void exchange_buffer_clear(const exchange_buffer *b, void *data);
/* Copies the parts to `to`, or `from` to the parts; adds the parts to `into`. */
void exchange_buffer_get(const exchange_buffer *b, void *to);
void exchange_buffer_put(const exchange_buffer *b, const void *from);
void exchange_buffer_add(const exchange_buffer *b, void *into);
/* Sets all elements of the parts to 0. */
void exchange_buffer_clear_parts(const exchange_buffer *b);
/* Adds n values, of ascending indices, to the elements of the parts. */
void exchange_buffer_scatter(const exchange_buffer *b, const void *value, const uint32_t *index,
                             int64_t n);
/* Adds values of all indices from lo to hi - 1. */
void exchange_buffer_add_range(const exchange_buffer *b, const void *value, int64_t lo, int64_t hi);
/* Adds to `into` by how much the parts differ from `before`: an update of the optimiser. */
void exchange_buffer_add_change(const exchange_buffer *b, const void *before, void *into);
/* Divides `count` elements of the dtype of the parts, or of f32, f64 or i64. Whole numbers are
 * rounded toward 0. */
void exchange_buffer_divide(const exchange_buffer *b, void *data, double divisor);
void exchange_divide(weir_dtype dtype, void *data, int64_t count, double divisor);
void exchange_buffer_multiply(const exchange_buffer *b, void *data, int factor);
/* Puts the mean over all replicas into the parts. sum: the allreduce of `data`, `count` elements,
 * in place. Collective. Fails: as requests. */
weir_status exchange_buffer_average(const exchange_buffer *b, weir_request *sum,
                                    void *data) WEIR_CHECKED;
/* into += now - before, likewise. */
void exchange_add_change(weir_dtype dtype, const void *now, const void *before, void *into,
                         int64_t count);
/* mean = (weight mean + one) / (weight + 1), likewise. */
void exchange_mean(weir_dtype dtype, void *mean, double weight, const void *one, int64_t count);
/* Reads `count` numbers of f32 or f64 as f64, and writes them. */
void exchange_load(weir_dtype dtype, const void *from, int64_t count, double *to);
void exchange_store(weir_dtype dtype, const double *from, int64_t count, void *to);

#endif
