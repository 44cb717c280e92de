/* contour.c - see contour.h. */
#include "model/electrostatics/contour.h"

#include <math.h>
#include <stdlib.h>

#include "base/weir_alloc.h"
#include "base/weir_sort.h"
#include "model/units.h"

enum { MAX_ORDER = 64, BREAKS = 9 };

/* Newton's method on the Legendre polynomial. */
void qt_gauss_legendre(int64_t n, double *node, double *weight)
{
  for (int64_t i = 0; i < n; i++) {
    double x = cos(M_PI * ((double)i + 0.75) / ((double)n + 0.5)), slope = 1;

    for (int round = 0; round < 100; round++) {
      double last = 1, now = x;

      for (int64_t k = 2; k <= n; k++) {
        const double next = ((double)(2 * k - 1) * x * now - (double)(k - 1) * last) / (double)k;

        last = now;
        now = next;
      }
      slope = (double)n * (x * now - last) / (x * x - 1);
      const double step = now / slope;

      x -= step;
      if (fabs(step) < 1e-15) {
        break;
      }
    }
    node[i] = x;
    weight[i] = 2 / ((1 - x * x) * slope * slope);
  }
}

typedef struct maker {
  double kt, reference;
  const qt_reservoir *reservoir;
  int64_t order;
  double node[MAX_ORDER], weight[MAX_ORDER];
  qt_contour_point *point;
  int64_t count, capacity;
  weir_status status;
} maker;

static void add(maker *m, qt_contour_point p)
{
  if (m->status == WEIR_OK) {
    m->status = weir_reserve(&m->point, &m->capacity, m->count + 1, sizeof *m->point);
  }
  if (m->status == WEIR_OK) {
    m->point[m->count++] = p;
  }
}

/* From the reference straight up. */
static void add_rise(maker *m, double lo, double hi)
{
  for (int64_t i = 0; i < m->order; i++) {
    const double y = (lo + hi) / 2 + (hi - lo) / 2 * m->node[i];
    const weir_c128 w = {0, (hi - lo) / 2 * m->weight[i]};

    add(m, (qt_contour_point){{m->reference, y}, {w, w}});
  }
}

/* From lo to hi at a height, all of it on one side of the reference. */
static void add_level(maker *m, double lo, double hi, double height)
{
  for (int64_t i = 0; i < m->order; i++) {
    const double x = (lo + hi) / 2 + (hi - lo) / 2 * m->node[i];
    qt_contour_point p = {.energy = {x, height}};

    for (int c = 0; c < 2; c++) {
      const double far = (x - m->reservoir[c].mu) / m->kt;
      const double f = lo < m->reference ? -1 / (1 + exp(-far)) : 1 / (1 + exp(far));

      p.weight[c].re = (hi - lo) / 2 * m->weight[i] * f;
    }
    add(m, p);
  }
}

/* Segments that end at the reference and around the chemical potentials, none wider than twice the
 * height. */
static void add_levels(maker *m, double height)
{
  const double near = 10 * m->kt, far = 20 * m->kt;
  const double mu[] = {m->reservoir[0].mu, m->reservoir[1].mu};
  const double lo = fmin(m->reference, fmin(mu[0], mu[1]) - far);
  const double hi = fmax(m->reference, fmax(mu[0], mu[1]) + far);
  double at[BREAKS] = {lo,           hi,    m->reference, mu[0],       mu[0] - near,
                       mu[0] + near, mu[1], mu[1] - near, mu[1] + near};
  double last = lo;

  qsort(at, BREAKS, sizeof *at, weir_compare_f64);
  /* nothing is on the side of the reference where all states are as they are without charge */
  const double begin = fmin(mu[0], mu[1]) - far >= m->reference ? m->reference : lo;
  const double end = fmax(mu[0], mu[1]) + far <= m->reference ? m->reference : hi;

  last = begin;
  for (int i = 0; i < BREAKS; i++) {
    const bool must = at[i] == m->reference || at[i] == hi;

    if (at[i] <= last || at[i] > end || at[i] < begin ||
        (!must && (at[i] - last < m->kt || fabs(at[i] - m->reference) < m->kt))) {
      continue;
    }
    const int64_t pieces = (int64_t)fmax(1, ceil((at[i] - last) / (2 * height)));

    for (int64_t p = 0; p < pieces; p++) {
      const double step = (at[i] - last) / (double)pieces;

      add_level(m, last + step * (double)p, last + step * (double)(p + 1), height);
    }
    last = at[i];
  }
}

weir_status qt_contour_create(double reference, const qt_reservoir reservoir[2], int64_t order,
                              qt_contour_point **point, int64_t *count)
{
  const double min_kelvin = 1, min_height = 0.4; /* eV */
  maker m = {.kt = QT_BOLTZMANN * reservoir[0].temperature,
             .reference = reference,
             .reservoir = reservoir,
             .order = order < MAX_ORDER ? order : MAX_ORDER};

  *point = NULL;
  *count = 0;
  if (reservoir[0].temperature != reservoir[1].temperature ||
      !(reservoir[0].temperature >= min_kelvin)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "contact.temperature: a self-consistent potential needs leads of one "
                     "temperature of at least %g K, not %g K and %g K",
                     min_kelvin, reservoir[0].temperature, reservoir[1].temperature);
  }
  const double step = 2 * M_PI * m.kt, poles = ceil(min_height / step), height = poles * step;

  qt_gauss_legendre(m.order, m.node, m.weight);
  add_rise(&m, 0, height / 4);
  add_rise(&m, height / 4, height);
  add_levels(&m, height);
  for (int64_t j = 0; j < (int64_t)poles; j++) {
    for (int c = 0; c < 2; c++) {
      qt_contour_point p = {.energy = {reservoir[c].mu, ((double)j + 0.5) * step}};

      p.weight[c].im = -2 * M_PI * m.kt;
      if (c == 0 || reservoir[0].mu != reservoir[1].mu) {
        add(&m, p);
      } else if (m.status == WEIR_OK) {
        m.point[m.count - 1].weight[1] = p.weight[1];
      }
    }
  }
  if (m.status != WEIR_OK) {
    weir_free(&m.point);
    return m.status;
  }
  *point = m.point;
  *count = m.count;
  return WEIR_OK;
}
