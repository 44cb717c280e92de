/* contour.c - self-energies from the Bloch modes of a lead (bloch_modes.h) whose lambda lies
 * between two circles, found by contour integrals: Beyn, Linear Algebra Appl. 436, 3839 (2012),
 * algorithm 2; for leads Brueck et al., J. Chem. Phys. 147, 074116 (2017).
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
 * Modes that decay so fast that they are not found count as lambda = 0; the fixed point of g makes
 * up for them: the error shrinks by |lambda| a step. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "graph/weir_complex_scalar.h"
#include "model/lead/subcells.h"
#include "ops/linear/weir_linear.h"

/* What is left of the moments below this share of the largest is noise. */
static const double rank_tolerance = 1e-13;
typedef struct contour {
  lead_subcells t;       /* the sub-cells, and T                                */
  int64_t columns, side; /* of Y; blocks of a row of a Hankel matrix            */
  int64_t points;        /* N, more than the powers of z in moments             */
  int64_t rank;          /* c                                                   */
  weir_c128 *point, *weight, *y, *moment;
  weir_c128 *rest;       /* [side n, side columns] B0 in elimination; then the first rows of
                            B0[:,J], [n, c] */
  int64_t *row, *column; /* I and J                                             */
  weir_c128 *b0, *b1, *alpha, *beta, *vector; /* of the reduced problem            */
  weir_c128 *v; /* [n] an eigenvector of T                             */
  void *work;
} contour;

static void destroy(contour *c)
{
  weir_c128 **const arrays[] = {&c->point, &c->weight, &c->y,    &c->moment, &c->rest, &c->b0,
                                &c->b1,    &c->alpha,  &c->beta, &c->vector, &c->v};

  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
    weir_free(arrays[i]);
  }
  weir_free(&c->row);
  weir_free(&c->column);
  weir_free(&c->work);
  lead_subcells_fini(&c->t);
}

/* Both circles, of radii that make lambda = z^p those of the options; Y random. */
static weir_status make_points(const qt_lead_opts *o, contour *c)
{
  const int64_t n = c->points;
  const double radius[2] = {pow(o->contour.outer, 1.0 / (double)c->t.cells),
                            pow(o->contour.inner, 1.0 / (double)c->t.cells)};

  WEIR_TRY(weir_alloc(2 * n, sizeof *c->point, (void **)&c->point));
  WEIR_TRY(weir_alloc(2 * n, sizeof *c->weight, (void **)&c->weight));
  WEIR_TRY(weir_alloc(c->t.n * c->columns, sizeof *c->y, (void **)&c->y));
  for (int64_t j = 0; j < 2 * n; j++) {
    const double angle = 2 * M_PI * ((double)(j % n) + 0.5) / (double)n, r = radius[j / n];

    c->point[j] = (weir_c128){r * cos(angle), r * sin(angle)};
    c->weight[j] = (weir_c128){(j < n ? 1.0 : -1.0) / (double)n, 0};
  }
  for (int64_t i = 0; i < c->t.n * c->columns; i++) {
    c->y[i] = (weir_c128){weir_random_uniform(1, 0, 0, (uint64_t)i) - 0.5,
                          weir_random_uniform(1, 0, 1, (uint64_t)i) - 0.5};
  }
  return WEIR_OK;
}

/* r: of A+. */
static weir_status create(const qt_lead_opts *o, const lead_blocks *b, int64_t r, contour *c)
{
  const size_t size = sizeof *c->v;

  WEIR_TRY(lead_subcells_create(o->contour.max_cells, b, &c->t));
  c->columns = r < c->t.n ? r : c->t.n;
  c->side = 2 * c->t.degree;
  c->points = o->contour.points > 2 * c->side ? o->contour.points : 2 * c->side;
  const int64_t rows = c->side * c->t.n, columns = c->side * c->columns, n = c->t.n;
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
  return weir_alloc(moments > pair ? moments : pair, 1, &c->work);
}

/* Element of the Hankel matrix that begins with moment `first`. */
static weir_c128 hankel(const contour *c, int64_t first, int64_t row, int64_t column)
{
  const int64_t k = first + row / c->t.n + column / c->columns;

  return c->moment[(k * c->t.n + row % c->t.n) * c->columns + column % c->columns];
}

/* I, J and c by elimination of B0 with complete pivoting, at most `max_rank` of each. */
static void find_rank(int64_t max_rank, contour *c)
{
  const int64_t rows = c->side * c->t.n, columns = c->side * c->columns;
  weir_c128 *rest = c->rest;
  double largest = 0;

  for (int64_t i = 0; i < rows * columns; i++) {
    rest[i] = hankel(c, 0, i / columns, i % columns);
  }
  for (c->rank = 0; c->rank < max_rank && c->rank < columns; c->rank++) {
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

/* The reduced problem, the first rows of B0[:,J]. */
static void reduce(contour *c)
{
  for (int64_t i = 0; i < c->rank * c->rank; i++) {
    const int64_t row = c->row[i / c->rank], column = c->column[i % c->rank];

    c->b0[i] = hankel(c, 0, row, column);
    c->b1[i] = hankel(c, 1, row, column);
  }
  for (int64_t i = 0; i < c->t.n * c->rank; i++) {
    c->rest[i] = hankel(c, 0, i / c->rank, c->column[i % c->rank]);
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
  if (!(weir_abs_c128(c->beta[k]) > 0)) {
    return false;
  }
  *z = weir_div_c128(c->alpha[k], c->beta[k]);
  apply(c->t.n, c->rank, c->rest, c->vector + k * c->rank, c->v);
  return lead_subcells_residual(&c->t, *z, c->v) <= o->contour.residual;
}

/* Modes between the circles. False where T is singular on them, or the reduced problem fails. */
static bool find_modes(const qt_lead_opts *o, contour *c, lead_bloch_modes *m)
{
  const lead_polynomial t = lead_subcells_polynomial(&c->t);
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
      lead_subcells_add(&c->t, z, c->v, m);
    }
  }
  return true;
}

/* Multiplications of find_modes: T at all points, its systems, the moments; elimination, the
 * reduced problem, and the test of every mode. */
static double work_of(const contour *c)
{
  const double n = (double)c->t.n, columns = (double)c->columns, side = (double)c->side;
  const double powers = (double)(2 * c->t.degree + 1), rank = (double)c->rank;
  const double at_point = powers * n * n + lead_solve_work(n, columns) + 2 * side * n * columns;
  const double of_mode = n * rank + (powers + 1) * n * n;

  return 2 * (double)c->points * at_point + rank * side * n * side * columns +
         lead_pair_work(rank) + rank * of_mode;
}

weir_status lead_contour(const qt_lead_opts *o, const qt_cell *cell, const lead_blocks *b,
                         weir_c128 *const sigma[2], const lead_incoming *incoming,
                         lead_outcome *out)
{
  contour c = {.rank = 0};
  lead_bloch_modes m = {.n = 0};
  weir_status status = WEIR_OK;

  *out = (lead_outcome){.found = false};
  WEIR_TRY_GOTO(lead_bloch_modes_create(cell, b, &m), done);
  WEIR_TRY_GOTO(weir_alloc(2 * m.r * m.n, sizeof *m.mode, (void **)&m.mode), done);
  WEIR_TRY_GOTO(create(o, b, m.r, &c), done);
  if (m.r == 0) {
    goto done;
  }
  const bool solved = find_modes(o, &c, &m);

  out->work = lead_bloch_modes_work(m.n, m.r) + work_of(&c);
  if (!solved) {
    goto done;
  }
  WEIR_TRY_GOTO(lead_bloch_modes_sort(o, &m, &out->n_modes, &out->found), done);
  WEIR_TRY_GOTO(lead_bloch_modes_incoming(o, &m, incoming), done);
  out->found = out->found && m.moving[QT_LEFT] == m.moving[QT_RIGHT] &&
               lead_bloch_modes_sigma(&m, QT_LEFT, sigma[QT_LEFT]) &&
               lead_bloch_modes_sigma(&m, QT_RIGHT, sigma[QT_RIGHT]);
done:
  lead_bloch_modes_fini(&m);
  destroy(&c);
  return status;
}
