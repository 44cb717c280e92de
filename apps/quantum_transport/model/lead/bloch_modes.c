/* bloch_modes.c - see bloch_modes.h. */
#include "model/lead/bloch_modes.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "graph/weir_complex_scalar.h"
#include "ops/linear/weir_linear.h"
#include "ops/weir_dense.h"

/* Elements of A+ below this share of the largest count as 0. */
static const double rank_tolerance = 1e-13;
/* Modes whose lambda are nearer than this are distinguished by their velocities. */
static const double same_lambda = 1e-8;

/* A+ = W Z^H by elimination with complete pivoting, W and Z of equal size. */
static void factor_coupling(lead_bloch_modes *m, const weir_c128 *up)
{
  const int64_t n = m->n;
  weir_c128 *rest = m->a;
  double max = 0;

  memcpy(rest, up, (size_t)(n * n) * sizeof *rest);
  for (m->r = 0; m->r < n; m->r++) {
    const int64_t pivot = lead_largest(n * n, rest), row = pivot / n, column = pivot % n;
    const weir_c128 x = rest[pivot];
    const double size = weir_abs_c128(x), root = sqrt(size);

    max = fmax(max, size);
    if (size <= rank_tolerance * max) {
      return;
    }
    for (int64_t i = 0; i < n; i++) {
      const weir_c128 y = weir_div_c128(rest[row * n + i], x), s = rest[i * n + column];

      m->w[i * n + m->r] = (weir_c128){s.re / root, s.im / root};
      m->z[i * n + m->r] = (weir_c128){root * y.re, -root * y.im};
    }
    for (int64_t i = 0; i < n; i++) {
      const weir_c128 s = m->w[i * n + m->r];

      for (int64_t j = 0; j < n; j++) {
        const weir_c128 y = weir_mul_c128(s, weir_conj_c128(m->z[j * n + m->r]));

        rest[i * n + j] = weir_sub_c128(rest[i * n + j], y);
      }
    }
  }
}

double lead_bloch_modes_work(int64_t n, int64_t r)
{
  const double size = (double)n, rank = (double)r;

  return size * size * rank +
         2 * (lead_solve_work(rank, rank) + size * rank * rank + size * size * rank);
}

weir_status lead_bloch_modes_create(const qt_cell *c, const lead_blocks *b, lead_bloch_modes *m)
{
  const int64_t n = b->n;
  const size_t size = sizeof *m->w;

  m->cell = c;
  m->n = n;
  WEIR_TRY(weir_alloc(n * n, size, (void **)&m->w));
  WEIR_TRY(weir_alloc(n * n, size, (void **)&m->z));
  WEIR_TRY(weir_alloc(n * n, size, (void **)&m->a));
  factor_coupling(m, b->up);
  const int64_t both = 2 * m->r, solve = weir_linear_solve_work(n, both);
  const int64_t pair = weir_linear_pair_work(both);

  WEIR_TRY(weir_alloc(n * both, size, (void **)&m->f));
  WEIR_TRY(weir_alloc(n * both, size, (void **)&m->g));
  WEIR_TRY(weir_alloc(both * both, size, (void **)&m->m0));
  WEIR_TRY(weir_alloc(both * both, size, (void **)&m->m1));
  WEIR_TRY(weir_alloc(both, size, (void **)&m->alpha));
  WEIR_TRY(weir_alloc(both, size, (void **)&m->beta));
  WEIR_TRY(weir_alloc(both * both, size, (void **)&m->vector));
  WEIR_TRY(weir_alloc(both, sizeof *m->direction, (void **)&m->direction));
  return weir_alloc(solve > pair ? solve : pair, 1, &m->work);
}

void lead_bloch_modes_fini(lead_bloch_modes *m)
{
  weir_free(&m->w);
  weir_free(&m->z);
  weir_free(&m->a);
  weir_free(&m->f);
  weir_free(&m->g);
  weir_free(&m->m0);
  weir_free(&m->m1);
  weir_free(&m->alpha);
  weir_free(&m->beta);
  weir_free(&m->vector);
  weir_free(&m->mode);
  weir_free(&m->direction);
  weir_free(&m->work);
}

static weir_c128 times_i(weir_c128 z)
{
  return (weir_c128){-z.im, z.re};
}

/* -i (q_a^H p_b - p_a^H q_b): the flux where a is b. */
static weir_c128 flux(const lead_bloch_modes *m, int64_t a, int64_t b)
{
  const weir_c128 *x = m->vector + a * 2 * m->r, *y = m->vector + b * 2 * m->r;
  weir_c128 sum = {0, 0};

  for (int64_t i = 0; i < m->r; i++) {
    sum = weir_add_c128(sum, weir_mul_c128(weir_conj_c128(x[m->r + i]), y[i]));
    sum = weir_sub_c128(sum, weir_mul_c128(weir_conj_c128(x[i]), y[m->r + i]));
  }
  return weir_neg_c128(times_i(sum));
}

/* u of a mode in u, S(lambda) u in su; |lambda| = 1. */
static void make_mode(const lead_bloch_modes *m, int64_t mode, weir_c128 lambda, weir_c128 *u,
                      weir_c128 *su)
{
  const int64_t n = m->n, r = m->r;
  const weir_c128 *p = m->vector + mode * 2 * r, *q = p + r, *s0 = m->cell->s0, *s1 = m->cell->s1;

  if (m->mode != NULL) {
    memcpy(u, m->mode + mode * n, (size_t)n * sizeof *u);
  }
  for (int64_t i = 0; i < n && m->mode == NULL; i++) {
    u[i] = (weir_c128){0, 0};
    for (int64_t j = 0; j < r; j++) {
      const weir_c128 w = weir_mul_c128(lambda, weir_sub_c128(times_i(q[j]), p[j]));
      const weir_c128 z = weir_sub_c128(times_i(p[j]), q[j]), *g = m->g + i * 2 * r + j;

      u[i] = weir_add_c128(u[i], weir_add_c128(weir_mul_c128(g[0], w), weir_mul_c128(g[r], z)));
    }
  }
  for (int64_t i = 0; i < n; i++) {
    su[i] = s0 == NULL ? u[i] : (weir_c128){0, 0};
    for (int64_t j = 0; j < n && (s0 != NULL || s1 != NULL); j++) {
      weir_c128 s = s0 != NULL ? s0[i * n + j] : (weir_c128){0, 0};

      if (s1 != NULL) {
        const weir_c128 back = weir_mul_c128(lambda, s1[j * n + i]);

        s = weir_add_c128(s, weir_mul_c128(lambda, s1[i * n + j]));
        s = weir_add_c128(s, weir_conj_c128(back));
      }
      su[i] = weir_add_c128(su[i], weir_mul_c128(s, u[j]));
    }
  }
}

/* Memory of n modes of one lambda: [n, n], modes [n + 1, orbitals of a cell], row [n, 2 r or
 * orbitals of a cell]. */
typedef struct cluster {
  weir_c128 *metric, *flux, *basis, *rotation, *mode, *row;
  double *value; /* [n] */
} cluster;

static weir_status make_cluster(const lead_bloch_modes *m, int64_t n, cluster *c)
{
  WEIR_TRY(weir_alloc(n * n, sizeof *c->metric, (void **)&c->metric));
  WEIR_TRY(weir_alloc(n * n, sizeof *c->flux, (void **)&c->flux));
  WEIR_TRY(weir_alloc(n * n, sizeof *c->basis, (void **)&c->basis));
  WEIR_TRY(weir_alloc(n * n, sizeof *c->rotation, (void **)&c->rotation));
  WEIR_TRY(weir_alloc((n + 1) * m->n, sizeof *c->mode, (void **)&c->mode));
  WEIR_TRY(weir_alloc(n * (m->n > 2 * m->r ? m->n : 2 * m->r), sizeof *c->row, (void **)&c->row));
  return weir_alloc(n, sizeof *c->value, (void **)&c->value);
}

static void free_cluster(cluster *c)
{
  weir_free(&c->metric);
  weir_free(&c->flux);
  weir_free(&c->basis);
  weir_free(&c->rotation);
  weir_free(&c->mode);
  weir_free(&c->row);
  weir_free(&c->value);
}

/* Columns of basis: combinations of the modes that are orthonormal by S(lambda). */
static void find_basis(const lead_bloch_modes *m, const int64_t *member, int64_t n, cluster *c)
{
  const weir_c128 lambda = weir_div_c128(m->alpha[member[0]], m->beta[member[0]]);
  weir_c128 *su = c->mode + n * m->n;

  for (int64_t j = 0; j < n; j++) {
    make_mode(m, member[j], lambda, c->mode + j * m->n, su);
    for (int64_t i = 0; i <= j; i++) {
      weir_c128 sum = {0, 0};

      for (int64_t l = 0; l < m->n; l++) {
        const weir_c128 x = weir_conj_c128(c->mode[i * m->n + l]);

        sum = weir_add_c128(sum, weir_mul_c128(x, su[l]));
      }
      c->metric[j * n + i] = weir_conj_c128(sum); /* the lower triangle is read */
    }
  }
  weir_dense_hermitian(c->metric, n, c->value, c->basis);
  for (int64_t i = 0; i < n * n; i++) {
    const double size = sqrt(fmax(c->value[i % n], 1e-300));

    c->basis[i] = (weir_c128){c->basis[i].re / size, c->basis[i].im / size};
  }
}

static void set_direction(lead_bloch_modes *m, int64_t mode, double velocity)
{
  m->direction[mode] = velocity > 0 ? QT_RIGHT : QT_LEFT;
  m->moving[m->direction[mode]]++;
}

/* Rows `member` of an array [.., length] become their combinations by the columns of metric. */
static void combine(const int64_t *member, int64_t n, int64_t length, cluster *c, weir_c128 *array)
{
  memset(c->row, 0, (size_t)(n * length) * sizeof *c->row);
  for (int64_t k = 0; k < n; k++) {
    for (int64_t i = 0; i < n; i++) {
      for (int64_t j = 0; j < length; j++) {
        const weir_c128 x = weir_mul_c128(c->metric[i * n + k], array[member[i] * length + j]);

        c->row[k * length + j] = weir_add_c128(c->row[k * length + j], x);
      }
    }
  }
  for (int64_t k = 0; k < n; k++) {
    memcpy(array + member[k] * length, c->row + k * length, (size_t)length * sizeof *c->row);
  }
}

/* Makes modes of one lambda eigenvectors of the velocity, and tells their directions. */
static weir_status orient(lead_bloch_modes *m, const int64_t *member, int64_t n)
{
  cluster c = {.metric = NULL};
  weir_status status = WEIR_OK;

  if (n == 1) {
    set_direction(m, member[0], flux(m, member[0], member[0]).re);
    return WEIR_OK;
  }
  WEIR_TRY_GOTO(make_cluster(m, n, &c), done);
  find_basis(m, member, n, &c);
  const weir_linear_factor basis = {c.basis, n, false}, turned = {c.basis, n, true};

  for (int64_t i = 0; i < n * n; i++) {
    c.flux[i] = flux(m, member[i / n], member[i % n]);
  }
  weir_linear_multiply(n, n, n, 1, turned, (weir_linear_factor){c.flux, n, false}, 0, c.metric, n);
  weir_linear_multiply(n, n, n, 1, (weir_linear_factor){c.metric, n, false}, basis, 0, c.flux, n);
  weir_dense_hermitian(c.flux, n, c.value, c.rotation);
  weir_linear_multiply(n, n, n, 1, basis, (weir_linear_factor){c.rotation, n, false}, 0, c.metric,
                       n);
  combine(member, n, 2 * m->r, &c, m->vector);
  if (m->mode != NULL) {
    combine(member, n, m->n, &c, m->mode);
  }
  for (int64_t k = 0; k < n; k++) {
    set_direction(m, member[k], c.value[k]);
  }
done:
  free_cluster(&c);
  return status;
}

enum { PROPAGATES = -1 };

/* The direction in which a mode decays, or PROPAGATES. */
static int decay(const qt_lead_opts *o, const lead_bloch_modes *m, int64_t k)
{
  const double above = weir_abs_c128(m->alpha[k]), below = weir_abs_c128(m->beta[k]);

  return above < below * (1 - o->unit_circle)   ? QT_RIGHT
         : above > below * (1 + o->unit_circle) ? QT_LEFT
                                                : PROPAGATES;
}

/* Directions of those that decay; the others await orient. Vectors get length 1. */
static int64_t classify(const qt_lead_opts *o, lead_bloch_modes *m)
{
  const int64_t both = 2 * m->r;
  int64_t n = 0;

  for (int64_t k = 0; k < m->count; k++) {
    const double length = lead_norm(both, m->vector + k * both);

    m->direction[k] = decay(o, m, k);
    n += m->direction[k] == PROPAGATES;
    for (int64_t i = 0; i < both && length > 0; i++) {
      m->vector[k * both + i].re /= length;
      m->vector[k * both + i].im /= length;
    }
  }
  return n;
}

weir_status lead_bloch_modes_sort(const qt_lead_opts *o, lead_bloch_modes *m, int64_t *n_modes,
                                  bool *found)
{
  const int64_t propagating = classify(o, m);
  int64_t right = 0, *member = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(propagating, sizeof *member, (void **)&member), done);
  for (int64_t k = 0; k < m->count; k++) {
    int64_t n = 0;

    for (int64_t i = k; i < m->count && m->direction[k] == PROPAGATES; i++) {
      const weir_c128 x = weir_mul_c128(m->alpha[i], m->beta[k]);
      const weir_c128 y = weir_mul_c128(m->alpha[k], m->beta[i]);
      const double scale = weir_abs_c128(m->beta[i]) * weir_abs_c128(m->beta[k]);

      if (m->direction[i] == PROPAGATES &&
          (i == k || weir_abs_c128(weir_sub_c128(x, y)) < same_lambda * scale)) {
        member[n++] = i;
      }
    }
    if (n > 0) {
      WEIR_TRY_GOTO(orient(m, member, n), done);
    }
    right += m->direction[k] == QT_RIGHT;
  }
  *n_modes = propagating / 2;
  *found = right <= m->r && m->count - right <= m->r;
done:
  weir_free(&member);
  return status;
}

/* A- u / lambda = Z q, or lambda A+ u = lambda W p. */
static void make_coupling(const lead_bloch_modes *m, int64_t mode, int side, weir_c128 *out)
{
  const int64_t n = m->n, r = m->r;
  const weir_c128 *p = m->vector + mode * 2 * r, *x = side == QT_LEFT ? p + r : p;
  const weir_c128 lambda = weir_div_c128(m->alpha[mode], m->beta[mode]);
  const weir_c128 factor = side == QT_LEFT ? (weir_c128){1, 0} : lambda;

  for (int64_t i = 0; i < n; i++) {
    const weir_c128 *row = (side == QT_LEFT ? m->z : m->w) + i * n;
    weir_c128 sum = {0, 0};

    for (int64_t j = 0; j < r; j++) {
      sum = weir_add_c128(sum, weir_mul_c128(row[j], x[j]));
    }
    out[i] = weir_mul_c128(factor, sum);
  }
}

weir_status lead_bloch_modes_incoming(const qt_lead_opts *o, lead_bloch_modes *m,
                                      const lead_incoming *out)
{
  const int64_t n = m->n;
  int64_t count[QT_LEADS] = {0, 0};
  weir_c128 *su = NULL;

  if (out->mode[QT_LEFT] == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(n, sizeof *su, (void **)&su));
  for (int64_t k = 0; k < m->count; k++) {
    const int side = m->direction[k] == QT_RIGHT ? QT_LEFT : QT_RIGHT; /* where it comes from */

    if (decay(o, m, k) == PROPAGATES && count[side] < n) {
      weir_c128 *u = out->mode[side] + count[side] * n,
                *x = out->coupling[side] + (u - out->mode[side]);
      const double scale = 1 / sqrt(fabs(flux(m, k, k).re));

      make_mode(m, k, weir_div_c128(m->alpha[k], m->beta[k]), u, su);
      make_coupling(m, k, side, x);
      for (int64_t i = 0; i < n; i++) {
        u[i] = (weir_c128){scale * u[i].re, scale * u[i].im};
        x[i] = (weir_c128){scale * x[i].re, scale * x[i].im};
      }
      count[side]++;
    }
  }
  weir_free(&su);
  return WEIR_OK;
}

/* The coordinate with the smallest weight in `rows` orthonormal vectors. */
static int64_t find_outside(int64_t r, int64_t rows, const weir_c128 *basis)
{
  int64_t found = 0;
  double lowest = INFINITY;

  for (int64_t i = 0; i < r; i++) {
    double weight = 0;

    for (int64_t k = 0; k < rows; k++) {
      weight += weir_abs2_c128(basis[k * r + i]);
    }
    found = weight < lowest ? i : found;
    lowest = fmin(weight, lowest);
  }
  return found;
}

/* x [r, r], of which `rows` are given: others are added that are orthogonal to them. `basis` [r, r]
 * is memory. */
static void complete(int64_t r, int64_t rows, weir_c128 *x, weir_c128 *basis)
{
  enum { TWICE = 2 }; /* is enough: Giraud et al., Numer. Math. 101, 87 (2005) */

  for (int64_t k = 0; k < r && rows < r; k++) {
    weir_c128 *to = basis + k * r;

    if (k < rows) {
      memcpy(to, x + k * r, (size_t)r * sizeof *to);
    } else {
      memset(to, 0, (size_t)r * sizeof *to);
      to[find_outside(r, k, basis)].re = 1;
    }
    for (int pass = 0; pass < TWICE; pass++) {
      for (int64_t i = 0; i < k; i++) {
        lead_remove_component(r, basis + i * r, to);
      }
      const double length = lead_norm(r, to);

      for (int64_t i = 0; i < r && length > 0; i++) {
        to[i] = (weir_c128){to[i].re / length, to[i].im / length};
      }
    }
    if (k >= rows) {
      memcpy(x + k * r, to, (size_t)r * sizeof *to);
    }
  }
}

bool lead_bloch_modes_sigma(lead_bloch_modes *m, int side, weir_c128 *sigma)
{
  const int64_t n = m->n, r = m->r, both = 2 * r;
  const weir_linear_factor w = {side == QT_RIGHT ? m->w : m->z, n, false};
  const weir_linear_factor turned = {w.data, n, true};
  weir_c128 *x = m->m0, *y = m->m1; /* x [r, r]^T y^T = of the other half */
  int64_t row = 0;

  for (int64_t k = 0; k < m->count; k++) {
    const weir_c128 *p = m->vector + k * both, *q = p + r;

    if (m->direction[k] == side && row < r) {
      for (int64_t i = 0; i < r; i++) {
        x[row * r + i] = side == QT_RIGHT ? q[i] : p[i];
        y[row * r + i] = weir_neg_c128(side == QT_RIGHT ? p[i] : q[i]);
      }
      row++;
    }
  }
  memset(y + row * r, 0, (size_t)((r - row) * r) * sizeof *y);
  complete(r, row, x, m->g);
  if (!weir_linear_solve(r, r, x, y, m->work)) {
    return false;
  }
  for (int64_t i = 0; i < r * r; i++) { /* x = y^T */
    x[i] = y[i % r * r + i / r];
  }
  weir_linear_multiply(n, r, r, 1, w, (weir_linear_factor){x, r, false}, 0, m->g, r);
  weir_linear_multiply(n, n, r, 1, (weir_linear_factor){m->g, r, false}, turned, 0, sigma, n);
  return true;
}
