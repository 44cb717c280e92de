/* fuzz_triplets.h - what holds for every matrix that is read: elements lie inside and are finite.
 */
#ifndef WEIR_FUZZ_TRIPLETS_H
#define WEIR_FUZZ_TRIPLETS_H
#include <math.h>
#include <stdbool.h>
#include "base/weir_alloc.h"
#include "fuzz_folder.h"
#include "io/weir_triplets.h"
#include "weir_fuzz.h"

static inline void fuzz_triplets_check(const weir_triplets *t)
{
  for (int64_t i = 0; i < t->count; i++) {
    const weir_triplet *const e = &t->item[i];

    if (e->row < 0 || e->row >= t->rows || e->column < 0 || e->column >= t->columns ||
        !isfinite(e->value.re) || !isfinite(e->value.im)) {
      abort();
    }
  }
}

/* Reads the bytes with one reader; true where it takes them. */
static inline bool fuzz_triplets_read(const uint8_t *data, size_t size,
                                      weir_status (*read)(const char *, weir_triplets *))
{
  const int64_t before = weir_alloc_bytes();
  weir_triplets t;
  const weir_status status = read(fuzz_folder_write(0, "x", data, size), &t);

  if (status == WEIR_OK) {
    fuzz_triplets_check(&t);
  } else if (status != WEIR_ERR_DATA) {
    abort();
  }
  weir_triplets_fini(&t);
  if (weir_alloc_bytes() != before) {
    abort();
  }
  return status == WEIR_OK;
}
#endif
