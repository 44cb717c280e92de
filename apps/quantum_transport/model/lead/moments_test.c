/* moments_test.c - the kernel contour_integral of npbench at its sizes S and M against a plain
 * evaluation; moments of polynomials whose eigenvalues are known. */
#include "model/lead/moments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_check.h"
#include "base/weir_random.h"
#include "graph/weir_complex_scalar.h"
#include "ops/weir_dense.h"

enum { POINTS = 32, MATRICES = 3 };

static weir_c128 *draw(uint32_t which, int64_t count)
{
  weir_c128 *out = malloc((size_t)count * sizeof *out);

  assert_non_null(out);
  for (int64_t i = 0; i < count; i++) {
    out[i] = (weir_c128){weir_random_uniform(42, which, 0, (uint64_t)i),
                         weir_random_uniform(42, which, 1, (uint64_t)i)};
  }
  return out;
}

/* As npbench writes it, for the first `columns` of nm columns: T = Ham[0] z + Ham[1] + Ham[2] / z,
 * P0 += X, P1 += z X, both -X inside the unit circle. */
static void integrate_plainly(int64_t nr, int64_t nm, int64_t columns, const weir_c128 *ham,
                              const weir_c128 *point, const weir_c128 *y, weir_c128 *p0,
                              weir_c128 *p1)
{
  weir_c128 *t = malloc((size_t)(nr * nr) * sizeof *t);
  weir_c128 *x = malloc((size_t)(nr * columns) * sizeof *x);
  int64_t *row = malloc((size_t)nr * sizeof *row);

  assert_true(t != NULL && x != NULL && row != NULL);
  memset(p0, 0, (size_t)(nr * columns) * sizeof *p0);
  memset(p1, 0, (size_t)(nr * columns) * sizeof *p1);
  for (int j = 0; j < POINTS; j++) {
    const weir_c128 z = point[j];

    for (int64_t i = 0; i < nr * nr; i++) {
      const weir_c128 up = weir_mul_c128(ham[i], z);
      const weir_c128 down = weir_div_c128(ham[2 * nr * nr + i], z);

      t[i] = weir_add_c128(weir_add_c128(up, ham[nr * nr + i]), down);
    }
    for (int64_t i = 0; i < nr * columns; i++) {
      x[i] = y[i / columns * nm + i % columns];
    }
    assert_true(weir_dense_factor(t, nr, row));
    weir_dense_substitute(t, nr, row, x, columns);
    for (int64_t i = 0; i < nr * columns; i++) {
      const weir_c128 signed_x = weir_abs_c128(z) < 1 ? weir_neg_c128(x[i]) : x[i];

      p0[i] = weir_add_c128(p0[i], signed_x);
      p1[i] = weir_add_c128(p1[i], weir_mul_c128(z, signed_x));
    }
  }
  free(t);
  free(x);
  free(row);
}

/* Largest difference in the first `columns` of nm columns, of the largest element. */
static double compare(int64_t nr, int64_t nm, int64_t columns, const weir_c128 *a,
                      const weir_c128 *plain)
{
  double max = 0, worst = 0;

  for (int64_t i = 0; i < nr * columns; i++) {
    const weir_c128 x = a[i / columns * nm + i % columns];

    worst = fmax(worst, weir_abs_c128(weir_sub_c128(x, plain[i])));
    max = fmax(max, weir_abs_c128(plain[i]));
  }
  return worst / max;
}

static void check_npbench(int64_t nr, int64_t nm, int64_t columns)
{
  weir_c128 *point = draw(0, POINTS), *ham = draw(1, MATRICES * nr * nr), *y = draw(2, nr * nm);
  weir_c128 *turned = malloc((size_t)(MATRICES * nr * nr) * sizeof *turned);
  weir_c128 *moment = malloc((size_t)(2 * nr * nm) * sizeof *moment);
  weir_c128 *p0 = malloc((size_t)(nr * columns) * sizeof *p0);
  weir_c128 *p1 = malloc((size_t)(nr * columns) * sizeof *p1);
  void *work = malloc((size_t)lead_moments_work(nr, nm));
  weir_c128 weight[POINTS];

  assert_true(turned != NULL && moment != NULL && p0 != NULL && p1 != NULL && work != NULL);
  for (int j = 0; j < POINTS; j++) {
    weight[j] = (weir_c128){weir_abs_c128(point[j]) < 1 ? -1 : 1, 0};
  }
  for (int m = 0; m < MATRICES; m++) { /* npbench counts powers down */
    memcpy(turned + m * nr * nr, ham + (MATRICES - 1 - m) * nr * nr,
           (size_t)(nr * nr) * sizeof *ham);
  }
  const lead_polynomial t = {nr, -1, MATRICES, turned};
  const lead_moments m = {.n_points = POINTS,
                          .point = point,
                          .weight = weight,
                          .columns = nm,
                          .y = y,
                          .n_moments = 2,
                          .moment = moment};

  assert_true(lead_moments_compute(&t, &m, work));
  integrate_plainly(nr, nm, columns, ham, point, y, p0, p1);
  assert_true(compare(nr, nm, columns, moment, p0) < 1e-10);
  assert_true(compare(nr, nm, columns, moment + nr * nm, p1) < 1e-10);
  free(point);
  free(ham);
  free(y);
  free(turned);
  free(moment);
  free(p0);
  free(p1);
  free(work);
}

static void contour_integral_of_npbench(void **state)
{
  (void)state;
  check_npbench(50, 150, 150); /* S */
  check_npbench(200, 400, 16); /* M; all columns are computed, the first 16 compared */
}

/* T = z - a: moments over a circle are a^k inside, what is left of them outside shrinks by
 * (R / |a|)^points. */
static void poles_inside_give_their_powers(void **state)
{
  const weir_c128 a = {0.3, -0.6}, polynomial[2] = {{-0.3, 0.6}, {1, 0}}, y = {1, 0};
  weir_c128 point[POINTS], weight[POINTS], moment[4];
  static char work[1 << 18];

  (void)state;
  assert_true(lead_moments_work(1, 1) <= (int64_t)sizeof work);
  for (int outside = 0; outside < 2; outside++) {
    const double radius = outside ? 0.2 : 2;

    for (int j = 0; j < POINTS; j++) {
      const double angle = 2 * M_PI * (j + 0.5) / POINTS;

      point[j] = (weir_c128){radius * cos(angle), radius * sin(angle)};
      weight[j] = (weir_c128){1.0 / POINTS, 0};
    }
    const lead_polynomial t = {1, 0, 2, polynomial};
    const lead_moments m = {.n_points = POINTS,
                            .point = point,
                            .weight = weight,
                            .columns = 1,
                            .y = &y,
                            .first = 1,
                            .n_moments = 4,
                            .moment = moment};
    weir_c128 expected = {!outside, 0};

    assert_true(lead_moments_compute(&t, &m, work));
    for (int k = 0; k < 4; k++) {
      assert_true(weir_abs_c128(weir_sub_c128(moment[k], expected)) < 1e-13);
      expected = weir_mul_c128(expected, a);
    }
  }
  point[3] = a; /* singular there */
  const lead_polynomial t = {1, 0, 2, polynomial};
  const lead_moments m = {POINTS, point, weight, 1, &y, 0, 1, moment};

  assert_false(lead_moments_compute(&t, &m, work));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(contour_integral_of_npbench),
      cmocka_unit_test(poles_inside_give_their_powers),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
