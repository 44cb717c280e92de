/* plan_fftw_test.c - against sums over exponentials, on random shapes and strides; back after
 * forward; the same bits twice; refusals. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "device/weir_parallel.h"
#include "ops/fft/weir_fft_plan.h"

#define PI 3.14159265358979323846
enum { CAPACITY = 1 << 14, CASES = 60 };

static int64_t pick(uint32_t test_case, uint64_t index, int64_t lo, int64_t hi)
{
  return lo + (int64_t)(weir_random_uniform(11, 1, test_case, index) * (double)(hi - lo + 1));
}

/* The complex elements per row of one side. */
static int64_t row(const weir_fft_plan_spec *s, bool out)
{
  const int64_t n = s->dim[s->rank - 1].n;

  return s->kind == (out ? WEIR_FFT_REAL : WEIR_FFT_TO_REAL) ? n / 2 + 1 : n;
}

/* One or two dimensions and a loop, with gaps between rows and fields. */
static weir_fft_plan_spec draw(uint32_t test_case)
{
  const int64_t n0 = pick(test_case, 0, 1, 9), n1 = pick(test_case, 1, 1, 13),
                n2 = pick(test_case, 2, 1, 4);
  weir_fft_plan_spec s = {.dtype = test_case % 2 ? WEIR_F32 : WEIR_F64,
                          .kind = (weir_fft_kind)(test_case / 2 % 4),
                          .rank = test_case % 3 == 0 ? 1 : 2,
                          .loops = 1};
  const int last = s.rank - 1;

  s.dim[0] = (weir_fft_dim){n0, 0, 0};
  s.dim[last] = (weir_fft_dim){n1, 1, 1};
  const int64_t in = row(&s, false) + pick(test_case, 3, 0, 2),
                out = row(&s, true) + pick(test_case, 4, 0, 2);

  if (s.rank == 2) {
    s.dim[0] = (weir_fft_dim){n0, in, out};
  }
  s.loop[0] = (weir_fft_dim){n2, in * n0 + 1, out * n0 + 2};
  return s;
}

static double get(const weir_fft_plan_spec *s, const void *a, int64_t at)
{
  return s->dtype == WEIR_F32 ? (double)((const float *)a)[at] : ((const double *)a)[at];
}

/* Element (j, i) of field l; the half that is not stored mirrored from the one that is. */
static void element(const weir_fft_plan_spec *s, const void *a, int64_t l, int64_t j, int64_t i,
                    double z[2])
{
  const int64_t n0 = s->rank == 2 ? s->dim[0].n : 1, n1 = s->dim[s->rank - 1].n;
  const bool mirrored = s->kind == WEIR_FFT_TO_REAL && i > n1 / 2;
  const int64_t y = mirrored ? (n0 - j) % n0 : j, x = mirrored ? n1 - i : i;
  const int64_t at = l * s->loop[0].in + (s->rank == 2 ? y * s->dim[0].in : 0) + x;

  if (s->kind == WEIR_FFT_REAL) {
    z[0] = get(s, a, at);
    z[1] = 0;
  } else {
    z[0] = get(s, a, 2 * at);
    z[1] = mirrored ? -get(s, a, 2 * at + 1) : get(s, a, 2 * at + 1);
  }
}

static void sum_up(const weir_fft_plan_spec *s, const void *in, int64_t l, int64_t ky, int64_t kx,
                   double z[2])
{
  const int64_t n0 = s->rank == 2 ? s->dim[0].n : 1, n1 = s->dim[s->rank - 1].n;
  const double sign = s->kind == WEIR_FFT_FORWARD || s->kind == WEIR_FFT_REAL ? -1 : 1;

  z[0] = z[1] = 0;
  for (int64_t j = 0; j < n0; j++) {
    for (int64_t i = 0; i < n1; i++) {
      const double phase =
          sign * 2 * PI * ((double)(j * ky % n0) / (double)n0 + (double)(i * kx % n1) / (double)n1);
      double e[2];

      element(s, in, l, j, i, e);
      z[0] += e[0] * cos(phase) - e[1] * sin(phase);
      z[1] += e[0] * sin(phase) + e[1] * cos(phase);
    }
  }
}

/* What is real in the row direction at both ends of a half spectrum, so that it is one of reals. */
static void make_hermitian(const weir_fft_plan_spec *s, double *a)
{
  const int64_t n0 = s->rank == 2 ? s->dim[0].n : 1, n1 = s->dim[s->rank - 1].n;

  for (int64_t l = 0; l < s->loop[0].n; l++) {
    for (int64_t j = 0; j < n0; j++) {
      for (int64_t i = 0; i <= n1 / 2; i += n1 % 2 == 0 && n1 > 1 ? n1 / 2 : n1) {
        const int64_t base = l * s->loop[0].in + i, step = s->rank == 2 ? s->dim[0].in : 0;
        double *const here = a + 2 * (base + j * step);
        const double *const there = a + 2 * (base + (n0 - j) % n0 * step);

        here[0] = there[0];
        here[1] = (n0 - j) % n0 == j ? 0 : -there[1];
      }
    }
  }
}

static void check_sums(const weir_fft_plan_spec *s, const void *in, const void *out)
{
  const int64_t n0 = s->rank == 2 ? s->dim[0].n : 1;
  const double tolerance = s->dtype == WEIR_F32 ? 2e-5 : 1e-12;

  for (int64_t l = 0; l < s->loop[0].n; l++) {
    for (int64_t j = 0; j < n0; j++) {
      for (int64_t i = 0; i < row(s, true); i++) {
        const int64_t at = l * s->loop[0].out + (s->rank == 2 ? j * s->dim[0].out : 0) + i;
        double z[2];

        sum_up(s, in, l, j, i, z);
        if (s->kind == WEIR_FFT_TO_REAL) {
          assert_near(get(s, out, at), z[0], tolerance);
        } else {
          assert_near(get(s, out, 2 * at), z[0], tolerance);
          assert_near(get(s, out, 2 * at + 1), z[1], tolerance);
        }
      }
    }
  }
}

static void transforms_are_sums_of_exponentials(void **state)
{
  double *wide = NULL;
  void *in = NULL, *kept = NULL, *out = NULL;

  assert_ok(weir_alloc(CAPACITY, sizeof(double), (void **)&wide));
  assert_ok(weir_alloc(CAPACITY, sizeof(double), &in));
  assert_ok(weir_alloc(CAPACITY, sizeof(double), &kept));
  assert_ok(weir_alloc(CAPACITY, sizeof(double), &out));
  for (uint32_t test_case = 0; test_case < CASES; test_case++) {
    const weir_fft_plan_spec s = draw(test_case);
    weir_fft_plan *plan = NULL;

    for (int64_t i = 0; i < CAPACITY; i++) {
      wide[i] = weir_random_normal(3, 2, test_case, (uint64_t)i);
    }
    if (s.kind == WEIR_FFT_TO_REAL) {
      make_hermitian(&s, wide);
    }
    for (int64_t i = 0; i < CAPACITY; i++) {
      if (s.dtype == WEIR_F32) {
        ((float *)kept)[i] = (float)wide[i];
      } else {
        ((double *)kept)[i] = wide[i];
      }
    }
    memcpy(in, kept, CAPACITY * sizeof(double));
    assert_ok(weir_fft_plan_create(&s, &plan));
    weir_fft_plan_run(plan, in, out);
    assert_true(s.kind == WEIR_FFT_TO_REAL || memcmp(in, kept, CAPACITY * sizeof(float)) == 0);
    check_sums(&s, kept, out);
    weir_fft_plan_destroy(&plan);
  }
  weir_free(&wide);
  weir_free(&in);
  weir_free(&kept);
  weir_free(&out);
}

enum { N0 = 12, N1 = 20, FIELDS = 5 };

static void there_and_back_in_place_is_the_number_of_points(void **state)
{
  weir_fft_plan_spec s = {.dtype = WEIR_F64,
                          .kind = WEIR_FFT_FORWARD,
                          .rank = 2,
                          .loops = 1,
                          .dim = {{N0, N1, N1}, {N1, 1, 1}},
                          .loop = {{FIELDS, N0 * N1, N0 * N1}},
                          .in_place = true};
  weir_fft_plan *there = NULL, *back = NULL;
  double *a = NULL;

  assert_ok(weir_alloc(2 * N0 * N1 * FIELDS, sizeof *a, (void **)&a));
  for (int64_t i = 0; i < 2 * N0 * N1 * FIELDS; i++) {
    a[i] = (double)(i % 17);
  }
  assert_ok(weir_fft_plan_create(&s, &there));
  s.kind = WEIR_FFT_BACKWARD;
  assert_ok(weir_fft_plan_create(&s, &back));
  weir_fft_plan_run(there, a, a);
  weir_fft_plan_run(back, a, a);
  for (int64_t i = 0; i < 2 * N0 * N1 * FIELDS; i++) {
    assert_near(a[i] / (N0 * N1), (double)(i % 17), 1e-13);
  }
  weir_fft_plan_destroy(&there);
  weir_fft_plan_destroy(&back);
  weir_fft_plan_destroy(&back); /* NULL */
  weir_free(&a);
}

/* Each item plans for itself and transforms the same field. */
static void plan_and_run(void *context, int64_t item, int thread)
{
  float *const all = context;
  const weir_fft_plan_spec s = {.dtype = WEIR_F32,
                                .kind = WEIR_FFT_FORWARD,
                                .rank = 1,
                                .loops = 1,
                                .dim = {{64, 7, 7}},
                                .loop = {{7, 1, 1}}};
  weir_fft_plan *plan = NULL;
  float *in = NULL;

  (void)thread;
  assert_ok(weir_alloc(2 * 64 * 7, sizeof *in, (void **)&in));
  for (int64_t i = 0; i < 2 * 64 * 7; i++) {
    in[i] = (float)(i % 23) / 7;
  }
  assert_ok(weir_fft_plan_create(&s, &plan));
  weir_fft_plan_run(plan, in, all + item * 1024);
  weir_fft_plan_destroy(&plan);
  weir_free(&in);
}

static void threads_get_the_same_bits(void **state)
{
  float *out = NULL;

  assert_ok(weir_alloc(16 * 1024, sizeof *out, (void **)&out));
  weir_threads_set(4);
  weir_parallel(16, 0, plan_and_run, out);
  weir_threads_set(0);
  for (int64_t i = 1; i < 16; i++) {
    assert_memory_equal(out, out + i * 1024, 2 * 64 * 7 * sizeof *out);
  }
  weir_free(&out);
}

static void what_cannot_be_is_refused(void **state)
{
  const weir_fft_plan_spec good = {
      .dtype = WEIR_F32, .kind = WEIR_FFT_FORWARD, .rank = 1, .dim = {{8, 1, 1}}};
  weir_fft_plan_spec bad[5];
  weir_fft_plan *plan = NULL;

  for (int i = 0; i < 5; i++) {
    bad[i] = good;
  }
  bad[0].rank = 3;
  bad[1].dtype = WEIR_I32;
  bad[2].dim[0].n = 0;
  bad[3].dim[0].in = -1;
  bad[4].dim[0] = (weir_fft_dim){INT64_MAX, INT64_MAX / 2, 1};
  for (int i = 0; i < 5; i++) {
    assert_int_equal(weir_fft_plan_create(&bad[i], &plan), WEIR_ERR_SHAPE);
    assert_null(plan);
  }
}

static weir_status make(void *context)
{
  weir_fft_plan *plan = NULL;
  const weir_status status = weir_fft_plan_create(context, &plan);

  weir_fft_plan_destroy(&plan);
  return status;
}

static void every_allocation_may_fail(void **state)
{
  weir_fft_plan_spec s = {.dtype = WEIR_F32, .kind = WEIR_FFT_REAL, .rank = 1, .dim = {{8, 1, 1}}};

  assert_int_equal(weir_check_faults(make, &s), 3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(transforms_are_sums_of_exponentials),
      cmocka_unit_test(there_and_back_in_place_is_the_number_of_points),
      cmocka_unit_test(threads_get_the_same_bits),
      cmocka_unit_test(what_cannot_be_is_refused),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
