/* decimation.c - surface Green's functions by decimation: Lopez Sancho, Lopez Sancho and Rubio, J.
 * Phys. F 15, 851 (1985). Every step removes every other cell:
 *   X = e^-1;  e_R -= a X c;  e_L -= c X a;  e -= a X c + c X a;  a <- a X a;  c <- c X c
 * from e = e_L = e_R = A0, a = A+, c = A-; in the end e_R = A0 - Sigma_R, e_L = A0 - Sigma_L. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "model/lead/lead_priv.h"
#include "ops/linear/weir_linear.h"

/* Matrices of a decimation, [n, n], and pairs of them side by side, [n, 2 n]. */
typedef struct decimation {
  int64_t n;
  weir_c128 *e, *a, *c, *factors;
  weir_c128 *both, *by_a, *by_c;
  void *work;
} decimation;

static weir_status create(const lead_blocks *b, decimation *d)
{
  const int64_t count = b->n * b->n;
  const size_t size = sizeof *d->e;

  d->n = b->n;
  WEIR_TRY(weir_alloc(count, size, (void **)&d->e));
  WEIR_TRY(weir_alloc(count, size, (void **)&d->a));
  WEIR_TRY(weir_alloc(count, size, (void **)&d->c));
  WEIR_TRY(weir_alloc(count, size, (void **)&d->factors));
  WEIR_TRY(weir_alloc(2 * count, size, (void **)&d->both));
  WEIR_TRY(weir_alloc(2 * count, size, (void **)&d->by_a));
  WEIR_TRY(weir_alloc(2 * count, size, (void **)&d->by_c));
  WEIR_TRY(weir_alloc(weir_linear_solve_work(b->n, 2 * b->n), 1, &d->work));
  memcpy(d->e, b->a0, (size_t)count * size);
  memcpy(d->a, b->up, (size_t)count * size);
  memcpy(d->c, b->down, (size_t)count * size);
  return WEIR_OK;
}

static void destroy(decimation *d)
{
  weir_free(&d->e);
  weir_free(&d->a);
  weir_free(&d->c);
  weir_free(&d->factors);
  weir_free(&d->both);
  weir_free(&d->by_a);
  weir_free(&d->by_c);
  weir_free(&d->work);
}

static void add(weir_c128 *to, weir_c128 x, double sign)
{
  to->re += sign * x.re;
  to->im += sign * x.im;
}

/* One step; sigma gains what e_L, e_R lose. False where e is singular. */
static bool step(decimation *d, weir_c128 *const sigma[2])
{
  const int64_t n = d->n, wide = 2 * n;
  const size_t row = (size_t)n * sizeof *d->a;
  const weir_linear_factor a = {d->a, n, false}, c = {d->c, n, false}, x = {d->both, wide, false};

  memcpy(d->factors, d->e, (size_t)n * row);
  for (int64_t i = 0; i < n; i++) {
    memcpy(d->both + i * wide, d->a + i * n, row);
    memcpy(d->both + i * wide + n, d->c + i * n, row);
  }
  if (!weir_linear_solve(n, wide, d->factors, d->both, d->work)) {
    return false;
  }
  weir_linear_multiply(n, wide, n, 1, a, x, 0, d->by_a, wide); /* a X a, a X c */
  weir_linear_multiply(n, wide, n, 1, c, x, 0, d->by_c, wide); /* c X a, c X c */
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      const int64_t at = i * n + j, first = i * wide + j, second = first + n;

      add(&sigma[QT_RIGHT][at], d->by_a[second], 1);
      add(&sigma[QT_LEFT][at], d->by_c[first], 1);
      add(&d->e[at], d->by_a[second], -1);
      add(&d->e[at], d->by_c[first], -1);
      d->a[at] = d->by_a[first];
      d->c[at] = d->by_c[second];
    }
  }
  return true;
}

double lead_decimation_work(int64_t n)
{
  const double size = (double)n;

  return lead_solve_work(size, 2 * size) + 2 * size * size * 2 * size;
}

weir_status lead_decimate(const qt_lead_opts *o, const lead_blocks *b, weir_c128 *const sigma[2],
                          lead_outcome *out)
{
  const int64_t count = b->n * b->n;
  const double enough = o->tolerance * lead_norm(count, b->up);
  decimation d = {.n = 0};
  weir_status status = WEIR_OK;
  double left = INFINITY;

  *out = (lead_outcome){.found = false};
  WEIR_TRY_GOTO(create(b, &d), done);
  for (int side = 0; side < QT_LEADS; side++) {
    memset(sigma[side], 0, (size_t)count * sizeof **sigma);
  }
  for (int64_t i = 0; i < o->max_steps && !(left <= enough); i++) {
    out->work += lead_decimation_work(b->n);
    if (!step(&d, sigma)) {
      break;
    }
    left = (lead_norm(count, d.a) + lead_norm(count, d.c)) / 2;
    if (!isfinite(left)) {
      break;
    }
  }
  out->found = left <= enough;
done:
  destroy(&d);
  return status;
}

/* Two cells as one: [A0 A+; A- A0], [0 0; A+ 0], [0 A-; 0 0]. */
static void join_cells(const lead_blocks *b, lead_blocks *two)
{
  const int64_t n = b->n, wide = 2 * n;
  const size_t row = (size_t)n * sizeof *b->a0;

  for (int64_t i = 0; i < n; i++) {
    weir_c128 *upper = two->a0 + i * wide, *lower = two->a0 + (n + i) * wide;

    memcpy(upper, b->a0 + i * n, row);
    memcpy(upper + n, b->up + i * n, row);
    memcpy(lower, b->down + i * n, row);
    memcpy(lower + n, b->a0 + i * n, row);
    memcpy(two->up + (n + i) * wide, b->up + i * n, row);
    memcpy(two->down + i * wide + n, b->down + i * n, row);
  }
}

weir_status lead_decimate_double(const qt_lead_opts *o, const lead_blocks *b,
                                 weir_c128 *const sigma[2], lead_outcome *out)
{
  const int64_t n = b->n, wide = 2 * n;
  lead_blocks two = {.n = 0};
  weir_c128 *of_two[QT_LEADS] = {NULL, NULL};
  weir_status status = WEIR_OK;

  *out = (lead_outcome){.found = false};
  WEIR_TRY_GOTO(lead_blocks_create(wide, &two), done);
  for (int side = 0; side < QT_LEADS; side++) {
    WEIR_TRY_GOTO(weir_alloc(wide * wide, sizeof **of_two, (void **)&of_two[side]), done);
  }
  join_cells(b, &two);
  WEIR_TRY_GOTO(lead_decimate(o, &two, of_two, out), done);
  for (int64_t i = 0; i < n;
       i++) { /* the left lead meets the first of the two, the right the last */
    memcpy(sigma[QT_LEFT] + i * n, of_two[QT_LEFT] + i * wide, (size_t)n * sizeof **sigma);
    memcpy(sigma[QT_RIGHT] + i * n, of_two[QT_RIGHT] + (n + i) * wide + n,
           (size_t)n * sizeof **sigma);
  }
done:
  lead_blocks_fini(&two);
  weir_free(&of_two[QT_LEFT]);
  weir_free(&of_two[QT_RIGHT]);
  return status;
}
