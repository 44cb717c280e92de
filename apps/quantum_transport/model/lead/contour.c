/* contour.c - self-energies from the Bloch waves of a lead (waves.h) whose lambda lies between two
 * circles, found by contour integrals: Beyn, Linear Algebra Appl. 436, 3839 (2012), algorithm 2;
 * for leads Brueck et al., J. Chem. Phys. 147, 074116 (2017).
 *
 * A cell that repeats p sub-cells of n / p orbitals gives T(z) = sum over |m| <= d of z^m A_m of
 * sub-cells, lambda = z^p, u = (v, z v, z^2 v, ...). The trapezoidal rule of N points on circles of
 * radii R and r gives, with w of the left eigenvectors,
 *   M_k = sum over eigenvalues of f(z) z^k v w^H Y,
 *   f(z) = 1 / (1 - (z / R)^N) - 1 / (1 - (z / r)^N):
 * the same f for all k, nearly 1 between the circles. It falls off outside, where eigenvalues lose
 * digits but are no error. Of the block Hankel matrices B0 = (M_{i+j}) and B1 = (M_{i+j+1}), i and
 * j < 2 d, with c independent rows I and columns J of B0,
 *   B1[I,J] x = z B0[I,J] x,  v = the first rows of B0[:,J] x.
 * Waves that decay so fast that they are not found count as lambda = 0; the fixed point of g makes
 * up for them: the error shrinks by |lambda|^2 a step. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "graph/weir_complex_scalar.h"
#include "model/lead/moments.h"
#include "model/lead/waves.h"
#include "ops/linear/weir_linear.h"

/* What is left of the moments below this share of the largest is noise. */
static const double rank_tolerance = 1e-13;
/* Sub-cells are equal where elements differ by less, relative to the largest. */
static const double same_cell = 1e-12;

typedef struct contour {
  int64_t cells, n, degree; /* p, orbitals of a sub-cell, d                        */
  int64_t columns, side;    /* of Y; blocks of a row of a Hankel matrix            */
  int64_t points;           /* N, more than the powers of z in moments             */
  int64_t rank;             /* c                                                   */
  weir_c128 *matrix;        /* [2 p + 1, n, n] A_m, m = -p ... p                   */
  weir_c128 *point, *weight, *y, *moment;
  weir_c128 *rest;       /* [side n, side columns] B0 in elimination; then the first rows of
                            B0[:,J], [n, c] */
  int64_t *row, *column; /* I and J                                             */
  weir_c128 *b0, *b1, *alpha, *beta, *vector; /* of the reduced problem            */
  weir_c128 *v, *image; /* [n] and T v                                         */
  weir_c128 *t;         /* [n, n] T at an eigenvalue                           */
  double *size;         /* [2 d + 1] norms of A_m                              */
  void *work;
} contour;

static void destroy(contour *c)
{
  weir_c128 **const arrays[] = {&c->matrix, &c->point, &c->weight, &c->y,     &c->moment,
                                &c->rest,   &c->b0,    &c->b1,     &c->alpha, &c->beta,
                                &c->vector, &c->v,     &c->image,  &c->t};

  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
    weir_free(arrays[i]);
  }
  weir_free(&c->row);
  weir_free(&c->column);
  weir_free(&c->size);
  weir_free(&c->work);
}

/* Element (i, j) from sub-cell a of a cell to sub-cell a + offset, wherever that lies. */
static weir_c128 element(const lead_blocks *b, int64_t p, int64_t a, int64_t offset, int64_t i,
                         int64_t j)
{
  const int64_t n = b->n / p, to = a + offset;
  const weir_c128 *m = to < 0 ? b->down : to >= p ? b->up : b->a0;

  return m[(a * n + i) * b->n + (to + p) % p * n + j];
}

/* Whether a cell repeats p sub-cells: what a sub-cell couples to does not depend on which it is. */
static bool repeats(const lead_blocks *b, int64_t p, double tolerance)
{
  const int64_t n = b->n / p;

  for (int64_t a = 0; a < p; a++) {
    for (int64_t offset = -p - a; offset < 2 * p - a; offset++) {
      /* beyond p sub-cells the first would couple to a cell that is no neighbour */
      const bool beyond = offset > p || offset < -p;

      for (int64_t e = 0; e < n * n; e++) {
        const int64_t first = offset < 0 ? p - 1 : 0, i = e / n, j = e % n;
        const weir_c128 x = element(b, p, a, offset, i, j);
        const weir_c128 y = beyond ? (weir_c128){0, 0} : element(b, p, first, offset, i, j);

        if (!(weir_abs_c128(weir_sub_c128(x, y)) <= tolerance)) {
          return false;
        }
      }
    }
  }
  return true;
}

/* p, the matrices of T, and d. */
static weir_status make_polynomial(const qt_lead_opts *o, const lead_blocks *b, contour *c)
{
  double most = 0;

  for (int64_t i = 0; i < b->n * b->n; i++) {
    most = fmax(most, fmax(weir_abs_c128(b->a0[i]), weir_abs_c128(b->up[i])));
  }
  for (c->cells = o->contour.max_cells < b->n ? o->contour.max_cells : b->n; c->cells > 1;
       c->cells--) {
    if (b->n % c->cells == 0 && repeats(b, c->cells, same_cell * most)) {
      break;
    }
  }
  const int64_t p = c->cells, n = b->n / p, all = 2 * p + 1;

  c->n = n;
  c->degree = 1;
  WEIR_TRY(weir_alloc(all * n * n, sizeof *c->matrix, (void **)&c->matrix));
  for (int64_t i = 0; i < all * n * n; i++) {
    const int64_t offset = i / (n * n) - p, e = i % (n * n);
    weir_c128 *to = &c->matrix[i];

    *to = element(b, p, offset < 0 ? p - 1 : 0, offset, e / n, e % n);
    if (weir_abs_c128(*to) > same_cell * most && (offset > c->degree || -offset > c->degree)) {
      c->degree = offset < 0 ? -offset : offset;
    }
  }
  return WEIR_OK;
}

static lead_polynomial polynomial(const contour *c)
{
  const int64_t skipped = c->cells - c->degree;

  return (lead_polynomial){c->n, -c->degree, 2 * c->degree + 1, c->matrix + skipped * c->n * c->n};
}

/* Both circles, of radii that make lambda = z^p those of the options; Y random. */
static weir_status make_points(const qt_lead_opts *o, contour *c)
{
  const int64_t n = c->points;
  const double radius[2] = {pow(o->contour.outer, 1.0 / (double)c->cells),
                            pow(o->contour.inner, 1.0 / (double)c->cells)};

  WEIR_TRY(weir_alloc(2 * n, sizeof *c->point, (void **)&c->point));
  WEIR_TRY(weir_alloc(2 * n, sizeof *c->weight, (void **)&c->weight));
  WEIR_TRY(weir_alloc(c->n * c->columns, sizeof *c->y, (void **)&c->y));
  for (int64_t j = 0; j < 2 * n; j++) {
    const double angle = 2 * M_PI * ((double)(j % n) + 0.5) / (double)n, r = radius[j / n];

    c->point[j] = (weir_c128){r * cos(angle), r * sin(angle)};
    c->weight[j] = (weir_c128){(j < n ? 1.0 : -1.0) / (double)n, 0};
  }
  for (int64_t i = 0; i < c->n * c->columns; i++) {
    c->y[i] = (weir_c128){weir_random_uniform(1, 0, 0, (uint64_t)i) - 0.5,
                          weir_random_uniform(1, 0, 1, (uint64_t)i) - 0.5};
  }
  return WEIR_OK;
}

/* r: of A+. */
static weir_status create(const qt_lead_opts *o, const lead_blocks *b, int64_t r, contour *c)
{
  const size_t size = sizeof *c->v;

  WEIR_TRY(make_polynomial(o, b, c));
  c->columns = r < c->n ? r : c->n;
  c->side = 2 * c->degree;
  c->points = o->contour.points > 2 * c->side ? o->contour.points : 2 * c->side;
  const int64_t rows = c->side * c->n, columns = c->side * c->columns, n = c->n;
  const int64_t moments = lead_moments_work(n, c->columns), pair = weir_linear_pair_work(columns);

  WEIR_TRY(make_points(o, c));
  WEIR_TRY(weir_alloc(2 * c->side * n * c->columns, size, (void **)&c->moment));
  WEIR_TRY(weir_alloc(rows * columns, size, (void **)&c->rest));
  WEIR_TRY(weir_alloc(columns, sizeof *c->row, (void **)&c->row));
  WEIR_TRY(weir_alloc(columns, sizeof *c->column, (void **)&c->column));
  WEIR_TRY(weir_alloc(columns * columns, size, (void **)&c->b0));
  WEIR_TRY(weir_alloc(columns * columns, size, (void **)&c->b1));
  WEIR_TRY(weir_alloc(columns, size, (void **)&c->alpha));
  WEIR_TRY(weir_alloc(columns, size, (void **)&c->beta));
  WEIR_TRY(weir_alloc(columns * columns, size, (void **)&c->vector));
  WEIR_TRY(weir_alloc(n, size, (void **)&c->v));
  WEIR_TRY(weir_alloc(n, size, (void **)&c->image));
  WEIR_TRY(weir_alloc(n * n, size, (void **)&c->t));
  WEIR_TRY(weir_alloc(c->side + 1, sizeof *c->size, (void **)&c->size));
  return weir_alloc(moments > pair ? moments : pair, 1, &c->work);
}

/* Element of the Hankel matrix that begins with moment `first`. */
static weir_c128 hankel(const contour *c, int64_t first, int64_t row, int64_t column)
{
  const int64_t k = first + row / c->n + column / c->columns;

  return c->moment[(k * c->n + row % c->n) * c->columns + column % c->columns];
}

/* I, J and c by elimination of B0 with complete pivoting, at most `most` of each. */
static void find_rank(int64_t most, contour *c)
{
  const int64_t rows = c->side * c->n, columns = c->side * c->columns;
  weir_c128 *rest = c->rest;
  double largest = 0;

  for (int64_t i = 0; i < rows * columns; i++) {
    rest[i] = hankel(c, 0, i / columns, i % columns);
  }
  for (c->rank = 0; c->rank < most && c->rank < columns; c->rank++) {
    const int64_t pivot = lead_largest(rows * columns, rest);
    const weir_c128 *from = rest + pivot / columns * columns, x = rest[pivot];
    const double size = weir_abs_c128(x);

    largest = fmax(largest, size);
    if (!(size > rank_tolerance * largest)) {
      return;
    }
    c->row[c->rank] = pivot / columns;
    c->column[c->rank] = pivot % columns;
    for (int64_t i = 0; i < rows; i++) {
      weir_c128 *to = rest + i * columns;
      const weir_c128 factor = weir_div_c128(to[pivot % columns], x);

      for (int64_t j = 0; j < columns && to != from; j++) {
        to[j] = weir_sub_c128(to[j], weir_mul_c128(factor, from[j]));
      }
      to[pivot % columns] = (weir_c128){0, 0};
    }
    memset(rest + pivot / columns * columns, 0, (size_t)columns * sizeof *rest);
  }
}

/* The reduced problem, the first rows of B0[:,J], and norms. */
static void reduce(contour *c)
{
  const lead_polynomial t = polynomial(c);

  for (int64_t i = 0; i < c->rank * c->rank; i++) {
    const int64_t row = c->row[i / c->rank], column = c->column[i % c->rank];

    c->b0[i] = hankel(c, 0, row, column);
    c->b1[i] = hankel(c, 1, row, column);
  }
  for (int64_t i = 0; i < c->n * c->rank; i++) {
    c->rest[i] = hankel(c, 0, i / c->rank, c->column[i % c->rank]);
  }
  for (int64_t m = 0; m < t.count; m++) {
    c->size[m] = lead_norm(t.n * t.n, t.matrix + m * t.n * t.n);
  }
}

/* out [rows] = a [rows, columns] x. */
static void apply(int64_t rows, int64_t columns, const weir_c128 *a, const weir_c128 *x,
                  weir_c128 *out)
{
  for (int64_t i = 0; i < rows; i++) {
    out[i] = (weir_c128){0, 0};
    for (int64_t j = 0; j < columns; j++) {
      out[i] = weir_add_c128(out[i], weir_mul_c128(a[i * columns + j], x[j]));
    }
  }
}

/* z and v of eigenpair k; false where they solve nothing. */
static bool get_pair(const qt_lead_opts *o, contour *c, int64_t k, weir_c128 *z)
{
  const lead_polynomial t = polynomial(c);
  const int64_t n = c->n;
  double size = 0; /* |T| without what cancels */

  if (!(weir_abs_c128(c->beta[k]) > 0)) {
    return false;
  }
  *z = weir_div_c128(c->alpha[k], c->beta[k]);
  apply(n, c->rank, c->rest, c->vector + k * c->rank, c->v);
  lead_polynomial_at(&t, *z, c->t);
  apply(n, n, c->t, c->v, c->image);
  for (int64_t m = 0; m < t.count; m++) {
    size += c->size[m] * pow(weir_abs_c128(*z), (double)(t.lowest + m));
  }
  const double length = lead_norm(n, c->v);

  return length > 0 && lead_norm(n, c->image) <= o->contour.residual * size * length;
}

/* Wave m->count: u, lambda, p and q of z and v. */
static void add_wave(const contour *c, weir_c128 z, lead_waves *m)
{
  const int64_t n = m->n, r = m->r;
  weir_c128 *u = m->wave + m->count * n, *p = m->vector + m->count * 2 * r, *q = p + r;
  weir_c128 factor = {1, 0};

  for (int64_t i = 0; i < n; i++) {
    u[i] = weir_mul_c128(factor, c->v[i % c->n]);
    factor = (i + 1) % c->n == 0 ? weir_mul_c128(factor, z) : factor;
  }
  memset(p, 0, (size_t)(2 * r) * sizeof *p);
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = 0; i < r; i++) {
      const weir_c128 x = weir_conj_c128(m->z[j * n + i]), y = weir_conj_c128(m->w[j * n + i]);

      p[i] = weir_add_c128(p[i], weir_mul_c128(x, u[j]));
      q[i] = weir_add_c128(q[i], weir_mul_c128(y, u[j]));
    }
  }
  for (int64_t i = 0; i < r; i++) {
    q[i] = weir_div_c128(q[i], factor);
  }
  const double length = lead_norm(2 * r, p);

  for (int64_t i = 0; i < n && length > 0; i++) { /* lead_waves_sort divides p and q by it */
    u[i] = (weir_c128){u[i].re / length, u[i].im / length};
  }
  m->alpha[m->count] = factor;
  m->beta[m->count] = (weir_c128){1, 0};
  m->count += length > 0 && isfinite(length);
}

/* Waves between the circles. False where T is singular on them, or the reduced problem fails. */
static bool find_waves(const qt_lead_opts *o, contour *c, lead_waves *m)
{
  const lead_polynomial t = polynomial(c);
  const lead_moments moments = {.n_points = 2 * c->points,
                                .point = c->point,
                                .weight = c->weight,
                                .columns = c->columns,
                                .y = c->y,
                                .first = 1 - c->side,
                                .n_moments = 2 * c->side,
                                .moment = c->moment};

  if (!lead_moments_compute(&t, &moments, c->work)) {
    return false;
  }
  find_rank(2 * m->r, c);
  reduce(c);
  if (!weir_linear_pair(c->rank, c->b1, c->b0, c->alpha, c->beta, c->vector, c->work)) {
    return false;
  }
  for (int64_t k = 0; k < c->rank; k++) {
    weir_c128 z;

    if (get_pair(o, c, k, &z)) {
      add_wave(c, z, m);
    }
  }
  return true;
}

weir_status lead_contour(const qt_lead_opts *o, const qt_cell *cell, const lead_blocks *b,
                         weir_c128 *const sigma[2], const lead_incoming *incoming, int64_t *n_modes,
                         bool *found)
{
  contour c = {.n = 0};
  lead_waves m = {.n = 0};
  weir_status status = WEIR_OK;

  *found = false;
  *n_modes = 0;
  WEIR_TRY_GOTO(lead_waves_create(cell, b, &m), done);
  WEIR_TRY_GOTO(weir_alloc(2 * m.r * m.n, sizeof *m.wave, (void **)&m.wave), done);
  WEIR_TRY_GOTO(create(o, b, m.r, &c), done);
  if (m.r == 0 || !find_waves(o, &c, &m)) {
    goto done;
  }
  WEIR_TRY_GOTO(lead_waves_sort(o, &m, n_modes, found), done);
  WEIR_TRY_GOTO(lead_waves_incoming(o, &m, incoming), done);
  *found = *found && m.moving[QT_LEFT] == m.moving[QT_RIGHT] &&
           lead_waves_sigma(&m, QT_LEFT, sigma[QT_LEFT]) &&
           lead_waves_sigma(&m, QT_RIGHT, sigma[QT_RIGHT]);
done:
  lead_waves_fini(&m);
  destroy(&c);
  return status;
}
