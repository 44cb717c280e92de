/* axes.c - see axes.h. */
#include "data/axes.h"

#include <math.h>
#include <stdlib.h>

#include "base/weir_alloc.h"

static double dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
  for (int i = 0; i < 3; i++) {
    out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
  }
}

void qt_axes_position(const qt_axes *a, const double position[3], double out[3])
{
  for (int i = 0; i < 3; i++) {
    out[i] = dot(position, a->unit[i]);
  }
}

weir_status qt_axes_set(const double (*cell)[3], int64_t direction, const char *name, qt_axes *out)
{
  static const double cube[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const double(*const c)[3] = cell ? cell : cube;

  for (int i = 0; i < 3; i++) {
    out->vector[i] = (int)(direction - 1 + i) % 3;
  }
  const double *const along = c[out->vector[0]], *const first = c[out->vector[1]];

  cross(first, c[out->vector[2]], out->unit[0]);
  const double volume = dot(out->unit[0], along);
  const double area = copysign(sqrt(dot(out->unit[0], out->unit[0])), volume);
  const double length = sqrt(dot(first, first));

  if (!(fabs(volume) > 1e-6) || !isfinite(volume)) {
    return weir_fail(WEIR_ERR_DATA, "%s: the cell has a volume of %g Angstrom^3", name, volume);
  }
  for (int i = 0; i < 3; i++) {
    out->unit[0][i] /= area;
    out->unit[1][i] = first[i] / length;
  }
  cross(out->unit[0], out->unit[1], out->unit[2]);
  for (int v = 0; v < 3; v++) {
    qt_axes_position(out, c[out->vector[v]], out->cell[v]);
  }
  return WEIR_OK;
}

typedef struct site {
  double x;
  int64_t which;
} site;

static int by_x(const void *a, const void *b)
{
  const site *const p = a, *const q = b;

  if (p->x != q->x) {
    return p->x < q->x ? -1 : 1;
  }
  return (p->which > q->which) - (p->which < q->which);
}

weir_status qt_axes_sort(const double *x, int64_t n, int64_t *order)
{
  site *sites = NULL;

  WEIR_TRY(weir_alloc(n, sizeof *sites, (void **)&sites));
  for (int64_t i = 0; i < n; i++) {
    sites[i] = (site){x[i], i};
  }
  qsort(sites, (size_t)n, sizeof *sites, by_x);
  for (int64_t i = 0; i < n; i++) {
    order[sites[i].which] = i;
  }
  weir_free(&sites);
  return WEIR_OK;
}
