/* score.c - see weir_score.h. */
#include <math.h>
#include "app/weir_score.h"

double weir_percentile(const double *sorted, int64_t n, double share)
{
  const double at = fmax(0, fmin(1, share)) * (double)(n - 1);
  const int64_t i = (int64_t)at;

  return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

void weir_score_add(weir_table *c, double value)
{
  weir_table_add_number(c, "%.9g", value, "nan");
}

void weir_score_add_estimate(weir_table *c, const weir_estimate *e, double scale)
{
  weir_score_add(c, e->value * scale);
  weir_score_add(c, e->lo * scale);
  weir_score_add(c, e->hi * scale);
}

weir_status weir_score_write(const weir_table *c, const char *dir, const char *name,
                             const char *const *head)
{
  int columns = 0;

  while (head[columns] != NULL) {
    columns++;
  }
  return weir_table_write_csv(c, dir, name, columns, head);
}
