/* triplets.c - elements by row and column. */
#include "base/weir_alloc.h"
#include "io/weir_triplets.h"

void weir_triplets_fini(weir_triplets *t)
{
  weir_free(&t->item);
  *t = (weir_triplets){.rows = 0};
}

weir_status weir_triplets_add(weir_triplets *t, int64_t row, int64_t column, weir_c128 value)
{
  WEIR_TRY(weir_reserve(&t->item, &t->capacity, t->count + 1, sizeof *t->item));
  t->item[t->count++] = (weir_triplet){row, column, value};
  return WEIR_OK;
}
