/* backend_systems_test.c - systems of equations and inverses on devices, against the reference of
 * the cpu: random stacks, singular matrices and numbers that are not finite. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/weir_random.h"
#include "ops/inverse/weir_inverse.h"
#include "ops/solve/weir_solve.h"
#include "support/exec/backend_check.h"
#include "support/ops/ops_check.h"

typedef struct drawn {
  uint64_t seed, n;
} drawn;

static int64_t draw_in(drawn *d, int64_t lo, int64_t hi)
{
  return lo + (int64_t)(weir_random_bits(d->seed, 0, 0, d->n++) % (uint64_t)(hi - lo + 1));
}

/* What is planted in one matrix, or in one right side. */
typedef enum spoilt { SOUND, SINGULAR, NOT_FINITE, SIDE_NOT_FINITE, SPOILT } spoilt;

/* A graph with inputs a and b, or a alone. */
typedef struct stacks {
  weir_graph *g;
  weir_dtype dtype;
  int64_t rows, sides, a_count; /* a_count: matrices */
  bool texts;                   /* for conform/device_kernels.sh */
} stacks;

/* n: largest rows. */
static stacks draw_stacks(drawn *d, int64_t n, bool inverse)
{
  static const weir_dtype dtypes[] = {WEIR_F32, WEIR_F64, WEIR_C64, WEIR_C128};
  stacks s = {.g = new_graph(),
              .dtype = dtypes[draw_in(d, 0, 3)],
              .rows = draw_in(d, 1, n),
              .sides = draw_in(d, 1, 7)};
  const int64_t outer = draw_in(d, 1, 3), inner = draw_in(d, 1, 3);
  /* Batches are repeated by numpy's rule. */
  const int64_t a[] = {draw_in(d, 0, 1) ? outer : 1, inner, s.rows, s.rows};
  const int64_t b[] = {outer, draw_in(d, 0, 1) ? inner : 1, s.rows, s.sides};
  const weir_solve_spec spec = {.transposed = (int32_t)draw_in(d, 0, 1),
                                .conjugated =
                                    weir_dtype_is_complex(s.dtype) && draw_in(d, 0, 1) == 1};
  const weir_value in = given(s.g, "a", s.dtype, 4, a);

  s.a_count = a[0] * a[1];
  weir_output(s.g, "x",
              inverse ? weir_inverse(s.g, in)
                      : weir_solve(s.g, in, given(s.g, "b", s.dtype, 4, b), &spec));
  assert_ok(weir_graph_status(s.g));
  return s;
}

/* The first matrix, or right side, is not what it was. */
static void spoil(const stacks *s, spoilt how, weir_tensor *a, weir_tensor *b)
{
  const weir_dtype part = weir_dtype_part(s->dtype);
  const int64_t parts = weir_dtype_parts(s->dtype);

  for (int64_t i = 0; i < s->rows * s->rows * parts && how == SINGULAR; i++) {
    weir_dtype_store_real(part, a->data, i, 0);
  }
  if (how == NOT_FINITE) {
    weir_dtype_store_real(part, a->data, 0, INFINITY);
  } else if (how == SIDE_NOT_FINITE) {
    weir_dtype_store_real(part, b->data, 0, NAN);
  }
}

/* Diagonals are large, so that no system is near a singular one; then the first and the last row
 * change places, for pivots. */
static void strengthen(const stacks *s, weir_tensor *a)
{
  const weir_dtype part = weir_dtype_part(s->dtype);
  const int64_t parts = weir_dtype_parts(s->dtype), n = s->rows;

  for (int64_t i = 0; i < s->a_count * n; i++) {
    const int64_t at = (i / n * n * n + i % n * (n + 1)) * parts;

    weir_dtype_store_real(part, a->data, at,
                          weir_dtype_load_real(part, a->data, at) + 2.0 * (double)n);
  }
  for (int64_t m = 0; m < s->a_count && n > 1; m++) {
    for (int64_t i = 0; i < n * parts; i++) {
      const int64_t first = m * n * n * parts + i, last = first + (n - 1) * n * parts;
      const double x = weir_dtype_load_real(part, a->data, first);

      weir_dtype_store_real(part, a->data, first, weir_dtype_load_real(part, a->data, last));
      weir_dtype_store_real(part, a->data, last, x);
    }
  }
}

/* Returns the groups on the host. */
static int run(const stacks *s, const char *device, const char *kernel, spoilt how,
               weir_tensor *tensors, int *n)
{
  weir_exec_cfg cfg = backend_config(device);
  weir_binding bindings[BACKEND_MAX];
  weir_plan *p = NULL;
  int host = 0;

  cfg.kernel = kernel;
  cfg.kernel_dir = s->texts ? cfg.kernel_dir : "";
  assert_ok(weir_plan_create(s->g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &p));
  *n = backend_bind(s->g, tensors, bindings);
  strengthen(s, &tensors[0]);
  spoil(s, how, &tensors[0], &tensors[1]);
  for (int twice = 0; twice < 2; twice++) {
    assert_ok(weir_plan_run(p, bindings, *n));
  }
  for (int32_t i = 0; i < weir_plan_groups(p); i++) {
    host += weir_plan_group(p, i).on_host;
  }
  weir_plan_destroy(&p);
  return host;
}

/* As on the cpu, by its reference. Returns NaNs of the result. */
static int64_t check(const stacks *s, const char *device, spoilt how, int on_host)
{
  weir_tensor there[BACKEND_MAX], here[BACKEND_MAX];
  const double tolerance = weir_dtype_part(s->dtype) == WEIR_F32 ? 1e-4 : 1e-12;
  int64_t none = 0;
  int n;

  assert_int_equal(run(s, device, "auto", how, there, &n), on_host);
  assert_int_equal(run(s, "cpu", "none", how, here, &n), 0);
  const weir_tensor *x = &here[n - 1];
  const int64_t count = weir_tensor_numel(x);

  assert_int_equal(weir_compare(device, s->dtype, there[n - 1].data, x->data, count,
                                (weir_tolerance){tolerance, tolerance}),
                   0);
  for (int64_t i = 0; i < count; i++) {
    none += isnan(weir_dtype_load_complex(s->dtype, x->data, i).re);
  }
  for (int k = 0; k < n; k++) {
    weir_tensor_fini(&there[k]);
    weir_tensor_fini(&here[k]);
  }
  return none;
}

static void check_device(const char *device)
{
  drawn d = {.seed = (uint64_t)time(NULL)};

  print_message("seed %llu\n", (unsigned long long)d.seed);
  for (int k = 0; k < 40; k++) {
    const bool inverse = k % 3 == 2;
    stacks s = draw_stacks(&d, k < 36 ? 12 : 90, inverse);
    const spoilt how = k < 36 ? (spoilt)(k % SPOILT) : SOUND;
    s.texts = k < 8;
    const int64_t none = check(&s, device, inverse && how == SIDE_NOT_FINITE ? SOUND : how, 0);

    assert_true((none > 0) == (how != SOUND && !(inverse && how == SIDE_NOT_FINITE)));
    weir_graph_destroy(&s.g);
  }
}

/* More than shared memory has. */
static void check_large(const char *device)
{
  const int64_t a[] = {2, 100, 100}, b[] = {2, 100, 3};
  stacks s = {
      .g = new_graph(), .dtype = WEIR_F64, .rows = 100, .sides = 3, .a_count = 2, .texts = true};
  const weir_value matrix = given(s.g, "a", WEIR_F64, 3, a);

  weir_output(s.g, "x", weir_solve(s.g, matrix, given(s.g, "b", WEIR_F64, 3, b), NULL));
  assert_int_equal(check(&s, device, SOUND, 0), 0);
  assert_int_equal(check(&s, device, SINGULAR, 0), 300);
  weir_graph_destroy(&s.g);
}

static void large_systems_run_in_the_workspace(void **state)
{
  backend_each(check_large);
}

static void systems_run_on_the_device(void **state)
{
  backend_each(check_device);
}

/* More rows than the kernel takes, and none. */
static void check_others(const char *device)
{
  const int64_t rows[] = {257, 0};

  for (int k = 0; k < 2; k++) {
    const int64_t a[] = {1, rows[k], rows[k]}, b[] = {1, rows[k], 1};
    stacks s = {.g = new_graph(), .dtype = WEIR_F64, .rows = rows[k], .sides = 1, .a_count = 1};
    const weir_value matrix = given(s.g, "a", WEIR_F64, 3, a);

    weir_output(s.g, "x", weir_solve(s.g, matrix, given(s.g, "b", WEIR_F64, 3, b), NULL));
    assert_int_equal(check(&s, device, SOUND, 1), 0);
    weir_graph_destroy(&s.g);
  }
}

static void others_are_calls_of_the_host(void **state)
{
  backend_each(check_others);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(systems_run_on_the_device),
      cmocka_unit_test(large_systems_run_in_the_workspace),
      cmocka_unit_test(others_are_calls_of_the_host),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
