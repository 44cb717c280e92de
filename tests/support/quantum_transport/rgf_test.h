/* rgf_test.h - random block-tridiagonal matrices and their dense inverses. Tests only. */
#ifndef QT_RGF_TEST_H
#define QT_RGF_TEST_H
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "model/rgf/rgf.h"
#include "ops/linear/weir_linear.h"

enum { RGF_ROWS = 40, RGF_DENSE = RGF_ROWS * RGF_ROWS };

/* Matrices of up to RGF_ROWS rows: as banks (all have memory for a full matrix) and dense. */
typedef struct rgf_case {
  qt_layout layout;
  weir_c128 a[RGF_DENSE], sigma[RGF_DENSE];
  weir_c128 dense_a[RGF_DENSE], dense_sigma[RGF_DENSE];
  weir_c128 g[RGF_DENSE], lesser[RGF_DENSE]; /* dense: the inverse, G Sigma G^H */
  weir_c128 factors[RGF_DENSE];              /* memory of the dense answers */
  char work[1 << 20];
} rgf_case;

static inline weir_c128 rgf_draw(uint64_t seed, uint32_t which, int64_t i)
{
  return (weir_c128){weir_random_uniform(seed, which, 0, (uint64_t)i) - 0.5,
                     weir_random_uniform(seed, which, 1, (uint64_t)i) - 0.5};
}

/* Bank to dense or back, off-diagonal blocks included where wanted. */
static inline void rgf_copy(const qt_layout *l, bool tridiagonal, weir_c128 *bank, weir_c128 *dense,
                            bool to_dense)
{
  for (int64_t row = 0; row < l->n_blocks; row++) {
    for (int64_t column = row - 1; column <= row + 1; column++) {
      if (column < 0 || column >= l->n_blocks || (column != row && !tridiagonal)) {
        continue;
      }
      const int64_t columns = qt_layout_rows(l, column);

      for (int64_t i = 0; i < qt_layout_rows(l, row) * columns; i++) {
        weir_c128 *x = &bank[qt_layout_at(l, row, column) + i];
        weir_c128 *y =
            &dense[(l->block[row] + i / columns) * l->n + l->block[column] + i % columns];

        *(to_dense ? y : x) = *(to_dense ? x : y);
      }
    }
  }
}

static inline weir_linear_factor rgf_factor(const weir_c128 *m, int64_t n, bool adjoint)
{
  return (weir_linear_factor){m, n, adjoint};
}

/* The dense answers. */
static inline void rgf_answer(rgf_case *c)
{
  weir_c128 *factors = c->factors;
  const int64_t n = c->layout.n;

  assert_true(weir_linear_solve_work(n, n) <= (int64_t)sizeof c->work);
  memcpy(factors, c->dense_a, sizeof c->factors);
  memset(c->g, 0, sizeof c->g);
  for (int64_t i = 0; i < n; i++) {
    c->g[i * n + i].re = 1;
  }
  assert_true(weir_linear_solve(n, n, factors, c->g, c->work));
  weir_linear_multiply(n, n, n, 1, rgf_factor(c->g, n, false), rgf_factor(c->dense_sigma, n, false),
                       0, factors, n);
  weir_linear_multiply(n, n, n, 1, rgf_factor(factors, n, false), rgf_factor(c->g, n, true), 0,
                       c->lesser, n);
}

/* Random blocks, diagonal ones well conditioned; sigma anti-Hermitian. sparse: of ten elements of
 * off-diagonal blocks nine are 0. */
static inline void rgf_case_create(rgf_case *c, int64_t n_blocks, const int64_t *block,
                                   bool tridiagonal, bool sparse, uint64_t seed)
{
  memset(c, 0, sizeof *c);
  assert_ok(qt_layout_create(n_blocks, block, &c->layout));
  const qt_layout *l = &c->layout;

  assert_true(l->n <= RGF_ROWS);
  for (int64_t i = 0; i < l->count; i++) {
    c->a[i] = rgf_draw(seed, 0, i);
  }
  for (int64_t b = 0; b < n_blocks; b++) {
    const int64_t rows = qt_layout_rows(l, b),
                  next = b + 1 < n_blocks ? qt_layout_rows(l, b + 1) : 0;

    for (int64_t i = 0; i < rows; i++) {
      c->a[l->offset[b] + i * (rows + 1)].re += 2 + (double)rows / 4;
    }
    for (int64_t i = 0; i < 2 * rows * next && sparse; i++) {
      if (weir_random_uniform(seed, 5, 0, (uint64_t)(l->offset[b] + i)) < 0.95) {
        c->a[l->offset[b] + rows * rows + i] = (weir_c128){0, 0};
      }
    }
  }
  for (int64_t i = 0; i < l->n; i++) {
    for (int64_t j = 0; j < l->n; j++) {
      const weir_c128 x = rgf_draw(seed, 2, i * l->n + j), y = rgf_draw(seed, 2, j * l->n + i);

      c->dense_sigma[i * l->n + j] = (weir_c128){x.re - y.re, x.im + y.im};
    }
  }
  rgf_copy(l, tridiagonal, c->sigma, c->dense_sigma, false);
  memset(c->dense_sigma, 0, sizeof c->dense_sigma);
  rgf_copy(l, tridiagonal, c->sigma, c->dense_sigma, true);
  rgf_copy(l, true, c->a, c->dense_a, true);
  rgf_answer(c);
}

static inline double rgf_distance(int64_t count, const weir_c128 *a, const weir_c128 *b)
{
  double worst = 0;

  for (int64_t i = 0; i < count; i++) {
    const double d = hypot(a[i].re - b[i].re, a[i].im - b[i].im);

    worst = d > worst || isnan(d) ? d : worst;
  }
  return isnan(worst) ? INFINITY : worst;
}

static inline double rgf_size(int64_t count, const weir_c128 *a)
{
  static const weir_c128 none[1];
  double worst = 0;

  for (int64_t i = 0; i < count; i++) {
    worst = fmax(worst, rgf_distance(1, &a[i], none));
  }
  return worst;
}

/* qt_blocks.read of a bank in the layout of a case. */
typedef struct rgf_reader {
  const qt_layout *layout;
  const weir_c128 *bank;
} rgf_reader;
static inline void rgf_read(const void *context, int64_t row, int64_t column, weir_c128 *out)
{
  const rgf_reader *r = context;
  const int64_t count = qt_layout_rows(r->layout, row) * qt_layout_rows(r->layout, column);

  memcpy(out, r->bank + qt_layout_at(r->layout, row, column), (size_t)count * sizeof *out);
}
#endif
