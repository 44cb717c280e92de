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
/* Copies the parts to `to`, or `from` to the parts; adds the parts to `into`. */
void exchange_buffer_get(const exchange_buffer *b, void *to);
void exchange_buffer_put(const exchange_buffer *b, const void *from);
void exchange_buffer_add(const exchange_buffer *b, void *into);
/* Sets all elements of the parts to 0. */
void exchange_buffer_clear(const exchange_buffer *b);
/* Adds n values, of ascending indices, to the elements of the parts. */
void exchange_buffer_scatter(const exchange_buffer *b, const void *value, const uint32_t *index,
                             int64_t n);
/* Adds values of all indices from lo to hi - 1. */
void exchange_buffer_add_range(const exchange_buffer *b, const void *value, int64_t lo, int64_t hi);
/* Divides `count` elements of the dtype of the parts. Whole numbers are rounded toward 0. */
void exchange_buffer_divide(const exchange_buffer *b, void *data, int divisor);

#endif
