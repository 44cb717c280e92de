/* mesh_test.c - transforms against sums over exponentials, there and back, and on several threads.
 */
#include "support/cosmoflow/mesh_check.h"
#include <string.h>
#include "base/weir_random.h"
#include "device/weir_parallel.h"

static float *random_field(const cf_mesh *m, uint32_t draw_no)
{
  const int64_t n = cf_mesh_side(m);
  float *f = NULL;

  assert_ok(cf_mesh_field(m, &f));
  for (int64_t row = 0; row < n * n; row++) {
    for (int64_t z = 0; z < n; z++) {
      f[row * cf_mesh_pitch(m) + z] =
          (float)weir_random_normal(5, 1, draw_no, (uint64_t)(row * n + z));
    }
  }
  return f;
}

/* Coefficient of waves (i, j, k) by its definition. */
static void by_sum(const float *f, int64_t n, int64_t pitch, const int64_t at[3], double c[2])
{
  c[0] = c[1] = 0;
  for (int64_t i = 0; i < n * n * n; i++) {
    const int64_t x = i / (n * n), y = i / n % n, z = i % n;
    const double phase = 2 * PI * (double)((at[0] * x + at[1] * y + at[2] * z) % n) / (double)n;
    const double value = (double)f[(x * n + y) * pitch + z] / pow((double)n, 3);

    c[0] += value * cos(phase);
    c[1] -= value * sin(phase);
  }
}

/* Of a map, [1, n, n], the waves (0, j, k): the coefficients of a cube of equal planes. */
static void maps_have_the_coefficients_of_equal_planes(void **state)
{
  static const int64_t sides[] = {2, 5, 8};

  NEEDS_FFTW();
  for (uint32_t s = 0; s < 3; s++) {
    const int64_t n = sides[s];
    cf_mesh *cube = NULL, *map = NULL;
    float *plane = NULL;

    assert_ok(cf_mesh_create(n, &cube));
    assert_ok(cf_mesh_create_map(n, &map));
    const int64_t floats = n * cf_mesh_pitch(map);
    float *all = random_field(cube, s);

    assert_int_equal(cf_mesh_depth(map), 1);
    assert_ok(cf_mesh_field(map, &plane));
    memcpy(plane, all, (size_t)floats * sizeof *plane);
    for (int64_t x = 1; x < n; x++) {
      memcpy(all + x * floats, plane, (size_t)floats * sizeof *plane);
    }
    cf_mesh_forward(cube, all);
    cf_mesh_forward(map, plane);
    for (int64_t i = 0; i < n * (n / 2 + 1); i++) {
      const int64_t at = i / (n / 2 + 1) * cf_mesh_pitch(map) + 2 * (i % (n / 2 + 1));

      assert_near((double)plane[at], (double)all[at], 1e-6);
      assert_near((double)plane[at + 1], (double)all[at + 1], 1e-6);
    }
    cf_mesh_backward(cube, all);
    cf_mesh_backward(map, plane);
    for (int64_t i = 0; i < n * n; i++) {
      const int64_t at = i / n * cf_mesh_pitch(map) + i % n;

      assert_near((double)plane[at], (double)all[at], 1e-5);
    }
    weir_free(&plane);
    weir_free(&all);
    cf_mesh_destroy(&map);
    cf_mesh_destroy(&cube);
  }
}

static void coefficients_are_sums(void **state)
{
  static const int64_t sides[] = {2, 3, 4, 5, 7, 8};

  NEEDS_FFTW();
  for (uint32_t s = 0; s < sizeof sides / sizeof sides[0]; s++) {
    const int64_t n = sides[s];
    cf_mesh *m = NULL;

    assert_ok(cf_mesh_create(n, &m));
    const int64_t pitch = cf_mesh_pitch(m);
    float *f = random_field(m, s), *c = random_field(m, s);

    cf_mesh_forward(m, c);
    for (int64_t i = 0; i < n * n * (n / 2 + 1); i++) {
      const int64_t at[3] = {i / (n / 2 + 1) / n, i / (n / 2 + 1) % n, i % (n / 2 + 1)};
      const float *const found = c + (at[0] * n + at[1]) * pitch + 2 * at[2];
      double sum[2];

      by_sum(f, n, pitch, at, sum);
      assert_near((double)found[0], sum[0], 1e-6);
      assert_near((double)found[1], sum[1], 1e-6);
    }
    cf_mesh_backward(m, c);
    for (int64_t row = 0; row < n * n; row++) {
      for (int64_t z = 0; z < n; z++) {
        assert_near((double)c[row * pitch + z], (double)f[row * pitch + z], 3e-6);
      }
    }
    weir_free(&f);
    weir_free(&c);
    cf_mesh_destroy(&m);
  }
}

static void threads_make_no_difference(void **state)
{
  cf_mesh *m = NULL;

  NEEDS_FFTW();
  assert_ok(cf_mesh_create(18, &m));
  const size_t bytes = (size_t)(18 * 18 * cf_mesh_pitch(m)) * sizeof(float);
  float *one = random_field(m, 9);

  weir_threads_set(1);
  cf_mesh_forward(m, one);
  for (int threads = 2; threads <= 4; threads++) {
    float *f = random_field(m, 9);

    weir_threads_set(threads);
    cf_mesh_forward(m, f);
    assert_memory_equal(f, one, bytes);
    weir_free(&f);
  }
  weir_threads_set(0);
  weir_free(&one);
  cf_mesh_destroy(&m);
}

static void sides_that_cannot_be_are_refused(void **state)
{
  static const int64_t bad[] = {-1, 0, 1, CF_MAX_MESH + 1, INT64_MAX};
  cf_mesh *m = NULL;

  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_int_equal(cf_mesh_create(bad[i], &m), WEIR_ERR_CONFIG);
    assert_null(m);
  }
}

static weir_status make(void *context)
{
  cf_power power = {.box = 0};
  cf_mesh *m = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(cf_mesh_create(6, &m));
  status = cf_power_init(&power, m, 1, cf_mesh_side(m) / 2);
  cf_power_fini(&power);
  cf_mesh_destroy(&m);
  (void)context;
  return status;
}

static void every_allocation_may_fail(void **state)
{
  NEEDS_FFTW();
  assert_true(weir_check_faults(make, NULL) > 10);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(coefficients_are_sums),
      cmocka_unit_test(maps_have_the_coefficients_of_equal_planes),
      cmocka_unit_test(threads_make_no_difference),
      cmocka_unit_test(sides_that_cannot_be_are_refused),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
