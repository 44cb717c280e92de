/* weir_sort.h - comparison functions for qsort. */
#ifndef WEIR_SORT_H
#define WEIR_SORT_H

/* Compares doubles, ascending; they must not be NaN. */
static inline int weir_compare_f64(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

#endif
