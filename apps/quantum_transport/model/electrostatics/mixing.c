/* mixing.c - see mixing.h. */
#include "model/electrostatics/mixing.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"

weir_status qt_mixing_create(int64_t n, int64_t depth, double damping, qt_mixing *out)
{
  weir_status status = WEIR_OK;

  *out = (qt_mixing){
      .n = n, .depth = depth < QT_MIXING_MAX ? depth : QT_MIXING_MAX, .damping = damping};
  WEIR_TRY_GOTO(weir_alloc((out->depth + 1) * n, sizeof *out->u, (void **)&out->u), done);
  WEIR_TRY_GOTO(weir_alloc((out->depth + 1) * n, sizeof *out->u, (void **)&out->residual), done);
done:
  if (status != WEIR_OK) {
    qt_mixing_fini(out);
  }
  return status;
}

void qt_mixing_fini(qt_mixing *m)
{
  weir_free(&m->u);
  weir_free(&m->residual);
  *m = (qt_mixing){.n = 0};
}

static double dot(int64_t n, const double *a, const double *b)
{
  double sum = 0;

  for (int64_t i = 0; i < n; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

/* Solves a x = b, a [n, n] positive definite but for rounding, which a part of its diagonal keeps
 * from harm. */
static void solve_small(int n, double a[][QT_MIXING_MAX], double *x)
{
  const double ridge = 1e-12;

  for (int i = 0; i < n; i++) {
    a[i][i] *= 1 + ridge;
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++) {
        a[i][j] -= a[i][k] * a[j][k];
      }
      a[i][j] /= a[j][j];
    }
    for (int k = 0; k < i; k++) {
      a[i][i] -= a[i][k] * a[i][k];
    }
    a[i][i] = a[i][i] > 0 ? sqrt(a[i][i]) : INFINITY; /* dependent: takes no part */
    for (int k = 0; k < i; k++) {
      x[i] -= a[i][k] * x[k];
    }
    x[i] /= a[i][i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) {
      x[i] -= a[k][i] * x[k];
    }
    x[i] /= a[i][i];
  }
}

void qt_mixing_next(qt_mixing *m, const double *g, double *u)
{
  const int64_t n = m->n;
  double a[QT_MIXING_MAX][QT_MIXING_MAX], x[QT_MIXING_MAX];
  const int known = (int)m->count;

  /* the newest pair first; those before it move one on */
  memmove(m->u + n, m->u, (size_t)(m->depth * n) * sizeof *m->u);
  memmove(m->residual + n, m->residual, (size_t)(m->depth * n) * sizeof *m->u);
  memcpy(m->u, u, (size_t)n * sizeof *u);
  for (int64_t i = 0; i < n; i++) {
    m->residual[i] = g[i] - u[i];
  }
  m->count = m->count < m->depth ? m->count + 1 : m->depth;
  for (int i = 0; i < known; i++) { /* least squares of r - sum x_i (r - r_i) */
    const double *ri = m->residual + (i + 1) * n, *r = m->residual;

    x[i] = dot(n, r, r) - dot(n, r, ri);
    for (int j = 0; j <= i; j++) {
      const double *rj = m->residual + (j + 1) * n;

      a[i][j] = dot(n, r, r) - dot(n, r, ri) - dot(n, r, rj) + dot(n, ri, rj);
    }
  }
  solve_small(known, a, x);
  for (int64_t i = 0; i < n; i++) {
    u[i] += m->damping * m->residual[i];
  }
  for (int j = 0; j < known; j++) {
    for (int64_t i = 0; i < n; i++) {
      u[i] -= x[j] * (m->u[i] - m->u[(j + 1) * n + i] +
                      m->damping * (m->residual[i] - m->residual[(j + 1) * n + i]));
    }
  }
}
