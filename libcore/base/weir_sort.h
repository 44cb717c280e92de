/* weir_sort.h - comparison functions for qsort. */
#ifndef WEIR_SORT_H
#define WEIR_SORT_H
#include <stdint.h>

/* Compare numbers, ascending; they must not be NaN. */
static inline int weir_compare_f64(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static inline int weir_compare_f32(const void *a, const void *b)
{
  const float x = *(const float *)a, y = *(const float *)b;

  return (x > y) - (x < y);
}

static inline int weir_compare_i64(const void *a, const void *b)
{
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

  return (x > y) - (x < y);
}

#endif
