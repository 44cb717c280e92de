/* lead_test.h - cells of leads at which methods are tried. Tests only. */
#ifndef QT_LEAD_TEST_H
#define QT_LEAD_TEST_H
#include <math.h>
#include <string.h>

#include "base/weir_check.h"
#include "base/weir_random.h"
#include "model/lead/lead.h"

enum { CAPACITY = 24 };

/* Memory of a cell's matrices, and what a solve gave. */
typedef struct subject {
  qt_lead_opts opts;
  weir_c128 h0[CAPACITY * CAPACITY], h1[CAPACITY * CAPACITY], s0[CAPACITY * CAPACITY],
      s1[CAPACITY * CAPACITY];
  weir_c128 sigma[QT_LEADS][CAPACITY * CAPACITY], incoming[QT_LEADS][CAPACITY * CAPACITY];
  qt_cell cell;
  qt_lead_result got;
} subject;

static inline void begin(subject *s, int64_t n)
{
  memset(s, 0, sizeof *s);
  weir_opts_default(qt_lead_options, sizeof s->opts, &s->opts);
  s->cell = (qt_cell){.n = n, .h0 = s->h0, .h1 = s->h1};
}

static inline weir_status solve(subject *s, int method, double energy, double eta)
{
  s->opts.method = method;
  s->got = (qt_lead_result){.sigma = {s->sigma[QT_LEFT], s->sigma[QT_RIGHT]}};
  return qt_lead_solve(&s->opts, &s->cell, energy, eta, &s->got);
}

/* A random Hermitian cell and coupling of some rank, with a small overlap where wanted. */
static inline void make_random(subject *s, int64_t n, int64_t rank, bool overlap, uint64_t seed)
{
  begin(s, n);
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      const int64_t a = i < j ? i : j, b = i < j ? j : i;
      const double re = weir_random_uniform(seed, 0, 0, (uint64_t)(a * n + b)) - 0.5;
      const double im = a == b ? 0 : weir_random_uniform(seed, 1, 0, (uint64_t)(a * n + b)) - 0.5;

      s->h0[i * n + j] = (weir_c128){2 * re, i < j ? im : -im};
      s->s0[i * n + j] = (weir_c128){i == j ? 1 : 0.05 * re, (i < j ? 0.05 : -0.05) * im};
      for (int64_t k = 0; k < rank; k++) {
        const double x = weir_random_uniform(seed, 2, 0, (uint64_t)(i * n + k)) - 0.5;
        const double y = weir_random_uniform(seed, 3, 0, (uint64_t)(k * n + j)) - 0.5;
        const double z = weir_random_uniform(seed, 4, 0, (uint64_t)(k * n + j)) - 0.5;

        s->h1[i * n + j].re += 2 * x * y;
        s->h1[i * n + j].im += 2 * x * z;
        s->s1[i * n + j].re += 0.02 * x * y;
        s->s1[i * n + j].im += 0.02 * x * z;
      }
    }
  }
  if (overlap) {
    s->cell.s0 = s->s0;
    s->cell.s1 = s->s1;
  }
}

static inline double distance(int64_t count, const weir_c128 *a, const weir_c128 *b)
{
  double worst = 0;

  for (int64_t i = 0; i < count; i++) {
    worst = fmax(worst, hypot(a[i].re - b[i].re, a[i].im - b[i].im));
  }
  return worst;
}

static inline double size_of(int64_t count, const weir_c128 *a)
{
  double worst = 0;

  for (int64_t i = 0; i < count; i++) {
    worst = fmax(worst, hypot(a[i].re, a[i].im));
  }
  return worst;
}

#endif
