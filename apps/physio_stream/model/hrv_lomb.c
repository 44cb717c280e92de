/* hrv_lomb.c - the periodogram of Lomb, Astrophys. Space Sci. 39 (1976) 447-462, at all frequencies
 * at once: its four sums are two transforms (Press and Rybicki, Astrophys. J. 338 (1989) 277-280),
 * of the values and of ones, here of points spread over a grid by Gaussians (Greengard and Lee,
 * SIAM Review 46 (2004) 443-454), which is exact to 1e-12 of the sum of what is spread. */
#include <math.h>
#include <string.h>
#include "model/hrv_priv.h"

/* Grid points for each frequency of either sign, and to how many on either side a point is spread.
 */
enum { FINER = 2, SPREAD = 12 };
#define PI 3.14159265358979323846

/* Points of the grid for frequencies k / seconds below the highest, and twice as high ones. */
static int64_t points(double seconds)
{
  const double max_modes = 2 * ceil(HRV_HIGHEST * seconds);
  int64_t m = 64;

  while ((double)m < FINER * (2 * max_modes + 2)) {
    m *= 2;
  }
  return m;
}

size_t hrv_grid_scratch(double seconds)
{
  return 3 * (size_t)points(seconds);
}

void hrv_grid_begin(double seconds, double *scratch, hrv_grid *g)
{
  const int64_t m = points(seconds);
  const double modes = (double)m / FINER;

  *g = (hrv_grid){.m = m,
                  .width = PI * SPREAD / (modes * modes * FINER * (FINER - 0.5)),
                  .z = scratch,
                  .root = scratch + 2 * m};
  hrv_grid_clear(g);
  for (int64_t k = 0; k < m / 2; k++) {
    g->root[2 * k] = cos(2 * PI * (double)k / (double)m);
    g->root[2 * k + 1] = -sin(2 * PI * (double)k / (double)m);
  }
}

void hrv_grid_clear(hrv_grid *g)
{
  memset(g->z, 0, 2 * (size_t)g->m * sizeof *g->z);
}

/* Spreads y + i. */
void hrv_grid_add(const hrv_grid *g, double x, double y)
{
  const double h = 2 * PI / (double)g->m;
  const int64_t at = (int64_t)floor(x / h);

  for (int64_t l = 1 - SPREAD; l <= SPREAD; l++) {
    const double d = x - h * (double)(at + l), weight = exp(-d * d / (4 * g->width));
    double *z = g->z + 2 * ((at + l) & (g->m - 1));

    z[0] += weight * y;
    z[1] += weight;
  }
}

static void swap(double *a, double *b)
{
  for (int i = 0; i < 2; i++) {
    const double x = a[i];

    a[i] = b[i];
    b[i] = x;
  }
}

/* The grid becomes sum of z[j] e^(-2 pi i j k / m). */
void hrv_grid_transform(const hrv_grid *g)
{
  for (int64_t i = 1, j = 0; i < g->m; i++) {
    int64_t bit = g->m / 2;

    for (; j & bit; bit /= 2) {
      j ^= bit;
    }
    j |= bit;
    if (i < j) {
      swap(g->z + 2 * i, g->z + 2 * j);
    }
  }
  for (int64_t half = 1; half < g->m; half *= 2) {
    for (int64_t from = 0; from < g->m; from += 2 * half) {
      for (int64_t k = 0; k < half; k++) {
        const double *w = g->root + 2 * (k * (g->m / 2 / half));
        double *a = g->z + 2 * (from + k), *b = a + 2 * half;
        const double re = b[0] * w[0] - b[1] * w[1], im = b[0] * w[1] + b[1] * w[0];

        b[0] = a[0] - re;
        b[1] = a[1] - im;
        a[0] += re;
        a[1] += im;
      }
    }
  }
}

/* Sums over the points of (y or 1) times cos and sin of k x: the transform of either component,
 * without the Gaussian. */
void hrv_grid_sums(const hrv_grid *g, int64_t k, bool ones, double *cosine, double *sine)
{
  const double *z = g->z + 2 * k, *mirror = g->z + 2 * (g->m - k);
  const double scale = sqrt(PI / g->width) * exp((double)(k * k) * g->width) / (double)g->m / 2;

  *cosine = scale * (ones ? z[1] + mirror[1] : z[0] + mirror[0]);
  *sine = scale * (ones ? z[0] - mirror[0] : mirror[1] - z[1]);
}

/* Power at frequency k of n points. */
static double power_at(const hrv_grid *g, int64_t k, int64_t n)
{
  double yc = 0, ys = 0, c2 = 0, s2 = 0;

  hrv_grid_sums(g, k, false, &yc, &ys);
  hrv_grid_sums(g, 2 * k, true, &c2, &s2);
  const double tau = atan2(s2, c2) / 2, c = cos(tau), s = sin(tau), both = hypot(c2, s2);
  const double cc = ((double)n + both) / 2, ss = ((double)n - both) / 2;
  const double along = yc * c + ys * s, across = ys * c - yc * s;

  /* Where all points lie at the cosine's tops the sine is 0 at all of them. */
  return 0.5 * (along * along / cc + (ss > 1e-9 * (double)n ? across * across / ss : 0));
}

ps_hrv_bands hrv_lomb(const hrv_points *p, double *scratch)
{
  double power[HRV_BANDS] = {0}, mean = 0;

  if (p->n < 4 || !(p->t[p->n - 1] > p->t[0])) {
    return (ps_hrv_bands){NAN, NAN, NAN};
  }
  const double seconds = p->t[p->n - 1] - p->t[0];
  hrv_grid g;

  hrv_grid_begin(seconds, scratch, &g);
  for (int64_t i = 0; i < p->n; i++) {
    mean += p->y[i] / (double)p->n;
  }
  for (int64_t i = 0; i < p->n; i++) {
    hrv_grid_add(&g, 2 * PI * (p->t[i] - p->t[0]) / seconds, p->y[i] - mean);
  }
  hrv_grid_transform(&g);
  for (int64_t k = 1; (double)k / seconds < HRV_HIGHEST; k++) {
    const int b = hrv_band_of((double)k / seconds);

    if (b >= 0) { /* a sine of amplitude a gives n a^2 / 4, and has the power a^2 / 2 */
      power[b] += power_at(&g, k, p->n) * 2 / (double)p->n;
    }
  }
  return (ps_hrv_bands){power[0], power[1], power[2]};
}
