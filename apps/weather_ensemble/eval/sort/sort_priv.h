/* sort_priv.h - wx_sort_lanes by instruction set. */
#ifndef WX_SORT_PRIV_H
#define WX_SORT_PRIV_H
#include "eval/sort/sort.h"

void sort_lanes_plain(double *x, int64_t n);
#if defined(__x86_64__)
void sort_lanes_avx2(double *x, int64_t n);
#endif
#endif
