/* access_range.c - regions by corner rules: needed, written, and their inverses. */
#include "graph/graph_priv.h"

weir_wide weir_wide_floor_div(weir_wide a, weir_wide b)
{
  return a / b - (a % b < 0);
}

void weir_index_span(const weir_index *x, const weir_box *box, weir_wide *lo, weir_wide *hi)
{
  *lo = *hi = x->offset;
  if (x->gather > 0) {
    *lo += x->gather_lo;
    *hi += (weir_wide)x->gather_hi - 1;
  }
  for (int k = 0; k < box->rank; k++) {
    const weir_wide c = x->coef[k];
    const weir_wide first = c * box->lo[k], last = c * ((weir_wide)box->hi[k] - 1);
    *lo += c >= 0 ? first : last;
    *hi += c >= 0 ? last : first;
  }
}
