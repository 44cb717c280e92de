/* slab_growth.c - rounding of a separator's G that the way back through a slab enlarges: see
 * slabs_priv.h.
 *
 * G[n,n] = g_n + y_n G[m,m] x_n: where the blocks before the cut between n and m, cut off, have a
 * state near the energy, as a surface has, g_n, y_n and x_n are large, and most of the sum cancels.
 * An error D of G[m,m] becomes y_n D x_n. Only its imaginary part counts, of densities of states
 * and of G^<: in a gap real parts, of which G consists there, lose digits that no result shows. */
#include <math.h>

#include "model/rgf/slabs_priv.h"

/* The largest 2-norms of rows, or columns, of the real and of the imaginary part. */
static void add_norms(int64_t rows, int64_t columns, weir_linear_factor of, bool by_column,
                      double largest[2])
{
  const int64_t n = by_column ? columns : rows, inner = by_column ? rows : columns;
  const int64_t step = by_column ? of.stride : 1, next = by_column ? 1 : of.stride;

  for (int64_t i = 0; i < n; i++) {
    double re = 0, im = 0;

    for (int64_t j = 0; j < inner; j++) {
      const weir_c128 x = of.data[i * next + j * step];

      re += x.re * x.re;
      im += x.im * x.im;
    }
    largest[0] = fmax(largest[0], sqrt(re));
    largest[1] = fmax(largest[1], sqrt(im));
  }
}

static void add_largest(int64_t count, const weir_c128 *a, double largest[2])
{
  for (int64_t i = 0; i < count; i++) {
    largest[0] = fmax(largest[0], fabs(a[i].re));
    largest[1] = fmax(largest[1], fabs(a[i].im));
  }
}

bool qt_slab_forward(const qt_rgf_job *job, int64_t n, int64_t m, qt_slab_growth *w,
                     qt_rgf_space *s)
{
  const int64_t rows = qt_rows_of(job->layout, n), next = qt_rows_of(job->layout, m);

  add_largest(rows * rows, s->factors, w->a);
  w->fills = w->fills ||
             (job->sigma.read != NULL && qt_rgf_largest(rows, rows, qt_factor(s->s, rows)) > 0);
  if (!qt_rgf_forward(job, n, m, s)) {
    return false;
  }
  if (next > 0) {
    add_norms(rows, next, s->from_y, false, w->y);
    add_norms(next, rows, qt_factor(s->x, rows), true, w->x);
  }
  return true;
}

bool qt_slab_is_stable(const qt_slabs *s, int64_t slab)
{
  const qt_slab_growth *w = &s->growth[slab];
  const double rounding = 2e-17; /* of a sum in random order: densities of states of the devices
                                    tried differ by 0.5 to 5 times what follows */
  const double filled = 5;       /* of G^<, of which g^<_n is as large as y_n squared */
  double g[2] = {0, 0};

  add_largest(s->reduced.count, s->g, g);
  const double grown = (w->y[0] * w->x[0] + w->y[1] * w->x[1]) * g[1] +
                       (w->y[0] * w->x[1] + w->y[1] * w->x[0]) * g[0];
  const double eliminated = w->a[1] * (g[0] * g[0] + g[1] * g[1]) + 2 * w->a[0] * g[0] * g[1];
  const double error = rounding * (w->fills ? filled : 1) * (grown + eliminated);

  return error <= s->spec.max_error * fmax(g[0], g[1]);
}
