/* fof_test.c - groups of random and clustered particles against all pairs, through the faces of the
 * box, and at any linking length. */
#include "data/snapshot/fof.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"

enum { N = 600 };

static const double box = 20;

/* Half of the particles are around 12 centres. */
static void scatter(uint32_t draw, double *position, double *mass)
{
  for (int64_t i = 0; i < N; i++) {
    const uint64_t at = (uint64_t)(i % 2 == 0 ? i : i % 12 + N);

    mass[i] = 0.5 + weir_random_uniform(9, 3, draw, (uint64_t)i);
    for (uint32_t d = 0; d < 3; d++) {
      const double x = box * weir_random_uniform(9, d, draw, at) +
                       (i % 2 == 0 ? 0 : 0.4 * weir_random_normal(9, 4 + d, draw, (uint64_t)i));

      position[3 * i + d] = x - box * floor(x / box);
    }
  }
}

static double distance(const double *a, const double *b)
{
  double sum = 0;

  for (int d = 0; d < 3; d++) {
    const double x = b[d] - a[d] - box * floor((b[d] - a[d]) / box + 0.5);

    sum += x * x;
  }
  return sqrt(sum);
}

/* The first particle of the group of each, by all pairs until nothing changes. */
static void group_by_pairs(const double *position, double link, int64_t *group)
{
  bool changed = true;

  for (int64_t i = 0; i < N; i++) {
    group[i] = i;
  }
  while (changed) {
    changed = false;
    for (int64_t i = 0; i < N; i++) {
      for (int64_t k = 0; k < N; k++) {
        if (group[k] < group[i] && distance(position + 3 * i, position + 3 * k) <= link) {
          group[i] = group[k];
          changed = true;
        }
      }
    }
  }
}

static int compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return x > y ? -1 : x < y;
}

static void groups_are_those_of_all_pairs(void **state)
{
  static const double links[] = {0.01, 0.3, 0.475, 1.1, 6, 10};
  static double position[3 * N], mass[N];
  static int64_t group[N];

  (void)state;
  for (uint32_t draw = 0; draw < 12; draw++) {
    const double link = links[draw % 6];
    double of[N] = {0}, all = 0, found = 0;
    cf_halo *h = NULL;
    int64_t n = 0, groups = 0;

    scatter(draw, position, mass);
    group_by_pairs(position, link, group);
    for (int64_t i = 0; i < N; i++) {
      groups += group[i] == i;
      of[group[i]] += mass[i];
      all += mass[i];
    }
    qsort(of, N, sizeof *of, compare);
    assert_ok(cf_fof(box, link, N, position, mass, 1, &h, &n));
    assert_int_equal(n, groups);
    for (int64_t i = 0; i < n; i++) {
      assert_near(h[i].mass, of[i], 1e-10);
      found += h[i].mass;
    }
    assert_near(found / all, 1, 1e-13);
    weir_free(&h);
  }
}

/* Of two particles a little less than the linking length apart, wherever they are in their cells.
 */
static void friends_are_found_at_any_linking_length(void **state)
{
  (void)state;
  for (double link = 1; link <= 10; link += 0.05) {
    for (double x = 0; x < box; x += 0.11) {
      const double mass[] = {1, 1}, end = x + 0.999 * link;
      double position[] = {1, 2, x, 1, 2, end < box ? end : end - box};
      cf_halo *h = NULL;
      int64_t n = 0;

      assert_ok(cf_fof(box, link, 2, position, mass, 2, &h, &n));
      assert_int_equal(n, 1);
      weir_free(&h);
    }
  }
}

/* Three around a corner of the box, a pair half-way, one alone. */
static void centres_are_of_mass_through_faces(void **state)
{
  const double position[] = {0.1, 19.9, 0.0, 19.9, 0.1, 0.1, 0.2, 0.2, 19.9,
                             10,  10,   10,  10.2, 10,  10,  5,   5,   5};
  const double mass[] = {1, 1, 2, 3, 1, 9};
  cf_halo *h = NULL;
  int64_t n = 0;

  (void)state;
  assert_ok(cf_fof(box, 0.5, 6, position, mass, 2, &h, &n));
  assert_int_equal(n, 2);
  assert_true(h[0].mass == 4 && h[1].mass == 4 && h[0].particles == 3 && h[1].particles == 2);
  assert_near(h[1].centre[0], 10.05, 1e-12);
  assert_near(h[0].centre[0], 0.1, 1e-12);
  assert_near(h[0].centre[2], 20 - 0.025, 1e-12);
  weir_free(&h);
}

static void a_failed_allocation_leaves_nothing(void **state)
{
  static double position[3 * N], mass[N];
  const int64_t before = weir_alloc_bytes();
  weir_status status = WEIR_ERR_MEMORY;

  (void)state;
  scatter(1, position, mass);
  for (int64_t k = 1; status == WEIR_ERR_MEMORY; k++) {
    cf_halo *h = NULL;
    int64_t n = 0;

    weir_alloc_fail_after(k);
    status = cf_fof(box, 0.3, N, position, mass, 2, &h, &n);
    weir_alloc_fail_after(0);
    assert_true((h != NULL) == (status == WEIR_OK));
    weir_free(&h);
    assert_int_equal(weir_alloc_bytes(), before);
  }
  assert_ok(status);
  cf_halo *none = NULL;
  int64_t n = 1;

  assert_ok(cf_fof(box, 0.3, 0, position, mass, 2, &none, &n));
  assert_true(none == NULL && n == 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(groups_are_those_of_all_pairs),
      cmocka_unit_test(friends_are_found_at_any_linking_length),
      cmocka_unit_test(centres_are_of_mass_through_faces),
      cmocka_unit_test(a_failed_allocation_leaves_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
