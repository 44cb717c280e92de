/* weights.c - see weights.h. */
#include "data/regrid/weights.h"
#include <math.h>
#include "base/weir_alloc.h"

/* Weights that should add up to 1 differ from it by less. */
static const double rounding = 1e-9;

weir_status wx_weights_start(int64_t n_from, int64_t n_to, wx_weights *out)
{
  *out = (wx_weights){.n_from = n_from, .n_to = n_to};
  return weir_alloc(n_to + 1, sizeof *out->begin, (void **)&out->begin);
}

weir_status wx_weights_add(wx_weights *w, int64_t from, double weight)
{
  WEIR_TRY(weir_reserve(&w->from, &w->capacity[0], w->n + 1, sizeof *w->from));
  WEIR_TRY(weir_reserve(&w->weight, &w->capacity[1], w->n + 1, sizeof *w->weight));
  w->from[w->n] = from;
  w->weight[w->n++] = weight;
  return WEIR_OK;
}

void wx_weights_end_row(wx_weights *w)
{
  w->begin[++w->row] = w->n;
}

void wx_weights_fini(wx_weights *w)
{
  weir_free(&w->begin);
  weir_free(&w->from);
  weir_free(&w->weight);
}

int64_t wx_weights_empty(const wx_weights *w)
{
  int64_t empty = 0;

  for (int64_t t = 0; t < w->n_to; t++) {
    empty += w->begin[t] == w->begin[t + 1];
  }
  return empty;
}

void wx_weights_apply(const wx_weights *w, double missing, const float *from, float *to)
{
  for (int64_t t = 0; t < w->n_to; t++) {
    double sum = 0, there = 0;

    for (int64_t e = w->begin[t]; e < w->begin[t + 1]; e++) {
      const double x = (double)from[w->from[e]];

      if (!isnan(x)) {
        sum += w->weight[e] * x;
        there += w->weight[e];
      }
    }
    const double lack = fabs(1 - there);

    to[t] = lack <= rounding                          ? (float)sum
            : lack <= missing + rounding && there > 0 ? (float)(sum / there)
                                                      : NAN;
  }
}
