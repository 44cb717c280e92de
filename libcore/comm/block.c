/* block.c - boxes of arrays, packed and unpacked. */
#include <string.h>
#include "base/weir_alloc.h"
#include "comm/comm_priv.h"

weir_status comm_block_bytes(const weir_block *b, int64_t *bytes)
{
  int64_t sum = (int64_t)b->size;
  bool fits = b->size > 0 && b->size <= INT32_MAX, empty = false;

  if (b->rank < 0 || b->rank > WEIR_BLOCK_DIMS) {
    return weir_fail(WEIR_ERR_SHAPE, "a box of rank %d", b->rank);
  }
  for (int d = 0; d < b->rank; d++) {
    empty = empty || b->count[d] == 0;
    fits = fits && b->count[d] >= 0;
  }
  for (int d = 0; d < b->rank && !empty && fits; d++) {
    fits = weir_mul_ok(sum, b->count[d], &sum);
  }
  *bytes = empty ? 0 : sum;
  return fits ? WEIR_OK
              : weir_fail(WEIR_ERR_SHAPE,
                          "a box of elements of %zu bytes has a negative extent, or its size "
                          "exceeds 64 bits",
                          b->size);
}

/* Bytes that follow one another, over the innermost dimensions; *dims: the others. */
static int64_t run_of(const weir_block *b, int *dims)
{
  int64_t elements = 1;
  int d = b->rank;

  while (d > 0 && (b->count[d - 1] == 1 || b->stride[d - 1] == elements)) {
    elements *= b->count[--d];
  }
  *dims = d;
  return elements * (int64_t)b->size;
}

bool comm_block_is_dense(const weir_block *b)
{
  int dims;

  (void)run_of(b, &dims);
  return dims == 0;
}

/* Copies between the box and the bytes, one run after the other. */
static void move(const weir_block *b, char *bytes, bool pack)
{
  int64_t at[WEIR_BLOCK_DIMS] = {0};
  int dims, d;
  const int64_t run = run_of(b, &dims), size = (int64_t)b->size;
  char *array = b->data;

  for (int k = 0; k < b->rank; k++) {
    if (b->count[k] == 0) {
      return;
    }
  }
  do {
    memcpy(pack ? bytes : array, pack ? array : bytes, (size_t)run);
    bytes += run;
    for (d = dims - 1; d >= 0; d--) {
      array += b->stride[d] * size;
      if (++at[d] < b->count[d]) {
        break;
      }
      array -= at[d] * b->stride[d] * size;
      at[d] = 0;
    }
  } while (d >= 0);
}

void comm_block_pack(const weir_block *b, void *bytes)
{
  move(b, bytes, true);
}

void comm_block_unpack(const weir_block *b, const void *bytes)
{
  move(b, (char *)(uintptr_t)bytes, false); /* only read */
}
