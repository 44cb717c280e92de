/* subcells.c - see subcells.h. */
#include "model/lead/subcells.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "graph/weir_complex_scalar.h"

/* Sub-cells are equal where elements differ by less, relative to the largest. */
static const double same_cell = 1e-12;

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

weir_status lead_subcells_create(int64_t max_cells, const lead_blocks *b, lead_subcells *c)
{
  double max = 0;

  *c = (lead_subcells){.degree = 1};
  for (int64_t i = 0; i < b->n * b->n; i++) {
    max = fmax(max, fmax(weir_abs_c128(b->a0[i]), weir_abs_c128(b->up[i])));
  }
  for (c->cells = max_cells < b->n ? max_cells : b->n; c->cells > 1; c->cells--) {
    if (b->n % c->cells == 0 && repeats(b, c->cells, same_cell * max)) {
      break;
    }
  }
  const int64_t p = c->cells, n = b->n / p, all = 2 * p + 1;

  c->n = n;
  WEIR_TRY(weir_alloc(all * n * n, sizeof *c->matrix, (void **)&c->matrix));
  for (int64_t i = 0; i < all * n * n; i++) {
    const int64_t offset = i / (n * n) - p, e = i % (n * n);
    weir_c128 *to = &c->matrix[i];

    *to = element(b, p, offset < 0 ? p - 1 : 0, offset, e / n, e % n);
    if (weir_abs_c128(*to) > same_cell * max && (offset > c->degree || -offset > c->degree)) {
      c->degree = offset < 0 ? -offset : offset;
    }
  }
  WEIR_TRY(weir_alloc(2 * c->degree + 1, sizeof *c->size, (void **)&c->size));
  WEIR_TRY(weir_alloc(n * n, sizeof *c->t, (void **)&c->t));
  WEIR_TRY(weir_alloc(n, sizeof *c->image, (void **)&c->image));
  const lead_polynomial t = lead_subcells_polynomial(c);

  for (int64_t m = 0; m < t.count; m++) {
    c->size[m] = lead_norm(n * n, t.matrix + m * n * n);
  }
  return WEIR_OK;
}

void lead_subcells_fini(lead_subcells *c)
{
  weir_free(&c->matrix);
  weir_free(&c->size);
  weir_free(&c->t);
  weir_free(&c->image);
}

lead_polynomial lead_subcells_polynomial(const lead_subcells *c)
{
  const int64_t skipped = c->cells - c->degree;

  return (lead_polynomial){c->n, -c->degree, 2 * c->degree + 1, c->matrix + skipped * c->n * c->n};
}

double lead_subcells_residual(lead_subcells *c, weir_c128 z, const weir_c128 *v)
{
  const lead_polynomial t = lead_subcells_polynomial(c);
  const int64_t n = c->n;
  double size = 0;

  lead_polynomial_at(&t, z, c->t);
  for (int64_t i = 0; i < n; i++) {
    c->image[i] = (weir_c128){0, 0};
    for (int64_t j = 0; j < n; j++) {
      c->image[i] = weir_add_c128(c->image[i], weir_mul_c128(c->t[i * n + j], v[j]));
    }
  }
  for (int64_t m = 0; m < t.count; m++) {
    size += c->size[m] * pow(weir_abs_c128(z), (double)(t.lowest + m));
  }
  const double length = lead_norm(n, v);

  return length > 0 ? lead_norm(n, c->image) / (size * length) : INFINITY;
}

void lead_subcells_add(const lead_subcells *c, weir_c128 z, const weir_c128 *v, lead_bloch_modes *m)
{
  const int64_t n = m->n, r = m->r;
  weir_c128 *u = m->mode + m->count * n, *p = m->vector + m->count * 2 * r, *q = p + r;
  weir_c128 factor = {1, 0};

  for (int64_t i = 0; i < n; i++) {
    u[i] = weir_mul_c128(factor, v[i % c->n]);
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

  for (int64_t i = 0; i < n && length > 0; i++) { /* lead_bloch_modes_sort divides p and q by it */
    u[i] = (weir_c128){u[i].re / length, u[i].im / length};
  }
  m->alpha[m->count] = factor;
  m->beta[m->count] = (weir_c128){1, 0};
  m->count += length > 0 && isfinite(length);
}
