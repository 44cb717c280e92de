/* points_test.c - every point once, its finite values sorted, whatever the memory. */
#include "eval/score/points.h"
#include <math.h>
#include <stdlib.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "device/weir_parallel.h"

enum { CELLS = 700, FIELDS = 9 };

static float field[FIELDS][CELLS];

/* What came of a point. */
typedef struct seen {
  int times[CELLS];
  int64_t n[CELLS];
  double x[CELLS][FIELDS];
} seen;

static void keep(void *context, int64_t i, const double *x, int64_t n)
{
  seen *const s = context;

  s->times[i]++;
  s->n[i] = n;
  for (int64_t k = 0; k < n; k++) {
    s->x[i][k] = x[k];
  }
}

static int ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

/* Some values are missing, at point 3 all of them. */
static void make_fields(void)
{
  for (uint32_t f = 0; f < FIELDS; f++) {
    for (uint64_t i = 0; i < CELLS; i++) {
      const double u = weir_random_uniform(9, f, 0, i);

      field[f][i] = i == 3 || u < 0.1 ? NAN : u < 0.15 ? INFINITY : (float)u;
    }
  }
}

static void assert_seen(const seen *s, int times)
{
  for (int i = 0; i < CELLS; i++) {
    double x[FIELDS];
    int64_t n = 0;

    for (int f = 0; f < FIELDS; f++) {
      if (isfinite(field[f][i])) {
        x[n++] = (double)field[f][i];
      }
    }
    qsort(x, (size_t)n, sizeof *x, ascending);
    assert_int_equal(s->times[i], times);
    assert_int_equal(s->n[i], n);
    assert_int_equal(i == 3 && n > 0, 0);
    for (int64_t k = 0; k < n; k++) {
      assert_true(s->x[i][k] == x[k]);
    }
  }
}

static void every_point_comes_once(void **state)
{
  const int64_t bytes[] = {0, 4 * FIELDS * 300, 4 * FIELDS * CELLS, 1 << 20};
  const int64_t wide[] = {1, 300, CELLS, CELLS};

  make_fields();
  for (int k = 0; k < 4; k++) {
    seen *const s = calloc(1, sizeof *s);
    wx_points p;
    int tiles = 0;

    weir_threads_set(1 + k % 2);
    assert_non_null(s);
    assert_ok(wx_points_init(CELLS, FIELDS, bytes[k], &p));
    assert_int_equal(p.wide, wide[k]);
    for (int pass = 1; pass <= 2; pass++) { /* and begins again */
      while (wx_points_next(&p)) {
        for (int f = 0; f < FIELDS; f++) {
          wx_points_put(&p, field[f]);
        }
        wx_points_each(&p, keep, s);
        tiles++;
      }
      assert_seen(s, pass);
    }
    assert_int_equal(tiles, 2 * ((CELLS + wide[k] - 1) / wide[k]));
    wx_points_fini(&p);
    free(s);
  }
}

static void an_allocation_failure_is_reported(void **state)
{
  for (int k = 1; k < 4; k++) {
    const int64_t before = weir_alloc_bytes();
    wx_points p;

    weir_alloc_fail_after(k);
    assert_int_equal(wx_points_init(CELLS, FIELDS, 1 << 20, &p), WEIR_ERR_MEMORY);
    weir_alloc_fail_after(0);
    wx_points_fini(&p);
    assert_int_equal(weir_alloc_bytes(), before);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_point_comes_once),
      cmocka_unit_test(an_allocation_failure_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
