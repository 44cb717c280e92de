/* library_batch_test.c - library operators in micro-batches and as streams of chunks: each point of
 * the batch has the bits that it has in one run of all of them. Time is the last dimension of a
 * stream's arrays, which those on stacks of matrices need: they are refused there. */
#include <stdlib.h>
#include <string.h>

#include "base/weir_random.h"
#include "exec/weir_plan.h"
#include "ops/eigen_general/weir_eigen_general.h"
#include "ops/eigen_hermitian/weir_eigen_hermitian.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/fft/weir_fft.h"
#include "ops/inverse/weir_inverse.h"
#include "support/ops/ops_check.h"
#include "ops/solve/weir_solve.h"
#include "support/pass/microbatch_check.h"

enum { POINTS = 11, N = 5, K = 3, MAX_RESULTS = 2 };

static const char *const results[] = {"y", "z"};

static weir_value build_solve(weir_graph *g, weir_value a, weir_value b)
{
  return weir_solve(g, a, b, NULL);
}

static weir_value build_inverse(weir_graph *g, weir_value a, weir_value b)
{
  (void)b;
  return weir_inverse(g, a);
}

static weir_value build_hermitian(weir_graph *g, weir_value a, weir_value b)
{
  (void)b;
  return weir_eigen_hermitian(g, a, NULL);
}

static weir_value build_general(weir_graph *g, weir_value a, weir_value b)
{
  (void)b;
  return weir_eigen_general(g, a, NULL);
}

static weir_value build_columns(weir_graph *g, weir_value a, weir_value b)
{
  (void)a;
  const weir_fft_spec s = {.n_dims = 1, .dim = {0}};

  return weir_fft(g, b, &s);
}

static weir_value build_planes(weir_graph *g, weir_value a, weir_value b)
{
  (void)b;
  const weir_fft_spec s = {.n_dims = 2, .dim = {0, 1}, .scale = 0.5};

  return weir_fft(g, a, &s);
}

static const struct {
  const char *op;
  weir_value (*build)(weir_graph *g, weir_value a, weir_value b);
} subjects[] = {
    {"solve", build_solve},
    {"inverse", build_inverse},
    {"eigen_hermitian", build_hermitian},
    {"eigen_general", build_general},
    {"fft", build_columns},
    {"fft", build_planes},
};
enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };

/* Points are the last dimension of what is transformed, the first of stacks of matrices. */
static bool points_last(int which)
{
  return strcmp(subjects[which].op, "fft") == 0;
}

static weir_array_desc shape_of(int which, weir_dtype dtype, int input, int64_t points)
{
  weir_array_desc d = {.dtype = dtype, .rank = 3};
  const int first = points_last(which) ? 0 : 1;

  d.shape[first] = N;
  d.shape[first + 1] = input == 0 ? N : K;
  d.shape[points_last(which) ? 2 : 0] = points;
  d.time = points == WEIR_UNBOUNDED ? (points_last(which) ? 3 : 1) : 0;
  return d;
}

/* All outputs of the operator as results; points are slots of time where `stream`. Something is
 * computed before, so that a micro-batch saves. */
static weir_graph *make(int which, weir_dtype dtype, bool stream)
{
  const int64_t points = stream ? WEIR_UNBOUNDED : POINTS;
  const weir_array_desc of_a = shape_of(which, dtype, 0, points);
  const weir_array_desc of_b = shape_of(which, dtype, 1, points);
  weir_graph *g = new_graph();
  const weir_value a = weir_input(g, "a", &of_a), b = weir_input(g, "b", &of_b);
  const weir_value v = subjects[which].build(g, weir_mul(g, a, a), weir_add(g, b, b));

  assert_ok(weir_graph_status(g));
  for (int o = 0; o < weir_graph_node(g, v.node)->n_out; o++) {
    weir_output(g, results[o], (weir_value){v.node, o});
  }
  return g;
}

/* Element r of slot t of an input. */
static void store(weir_dtype dtype, void *data, int64_t at, uint32_t input, int64_t t, int64_t r)
{
  const uint64_t key = (uint64_t)(t * N * N + r);
  const weir_c128 z = {weir_random_uniform(3, input, 0, key),
                       weir_random_uniform(3, input, 1, key)};

  if (weir_dtype_is_complex(dtype)) {
    weir_dtype_store_complex(dtype, data, at, z);
  } else {
    weir_dtype_store_real(dtype, data, at, z.re);
  }
}

/* What a result has of each point, element by element. */
typedef struct outcome {
  int64_t n[MAX_RESULTS], slots[MAX_RESULTS]; /* elements of a point, points so far */
  weir_c128 value[MAX_RESULTS][POINTS * N * N];
} outcome;

static int64_t elements(int input)
{
  return N * (input == 0 ? N : K);
}

static weir_plan *plan_of(const weir_graph *g, const char *kernel, bool stream)
{
  const weir_chunk_bound bounds[] = {{"a", POINTS}, {"b", POINTS}};
  weir_exec_cfg cfg;
  weir_plan *p;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  cfg.kernel = kernel;
  const weir_plan_opts opts = {
      .exec = &cfg, .threads = 2, .bounds = bounds, .n_bounds = stream ? 2 : 0};

  assert_ok(weir_plan_create(g, NULL, &opts, &p));
  return p;
}

static bool has_result(const weir_graph *g, const char *result)
{
  bool any = false;

  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const char *name = weir_graph_get_array(g, a)->output;

    any = any || (name != NULL && strcmp(name, result) == 0);
  }
  return any;
}

/* New points of the results. */
static void keep(int which, const weir_graph *g, const weir_plan *p, bool stream, outcome *o)
{
  for (int k = 0; k < MAX_RESULTS && has_result(g, results[k]); k++) {
    int64_t lo, hi;
    weir_view v;

    assert_ok(weir_plan_result(p, results[k], &v, &lo, &hi));
    const int time = points_last(which) ? v.rank - 1 : 0, first = points_last(which) ? 0 : 1;
    const int64_t columns = v.rank > 2 ? v.extent[first + 1] : 1;

    lo = stream ? lo : 0;
    hi = stream ? hi : POINTS;
    assert_int_equal(lo, o->slots[k]);
    o->n[k] = v.extent[first] * columns;
    for (int64_t i = lo * o->n[k]; i < hi * o->n[k]; i++) {
      int64_t at[WEIR_MAX_RANK] = {0};

      at[first] = i % o->n[k] / columns;
      at[first + 1] = i % columns;
      at[time] = i / o->n[k];
      o->value[k][i] = weir_dtype_load_complex(v.dtype, weir_view_at(&v, at), 0);
    }
    o->slots[k] = hi;
  }
}

static outcome *run_whole(int which, const weir_graph *g, weir_dtype dtype, const char *kernel)
{
  weir_plan *p = plan_of(g, kernel, false);
  outcome *o = calloc(1, sizeof *o);
  weir_tensor t[2];

  assert_non_null(o);
  for (int k = 0; k < 2; k++) {
    const weir_array_desc d = shape_of(which, dtype, k, POINTS);
    const bool last = points_last(which);

    assert_ok(weir_tensor_init(&t[k], dtype, 3, d.shape));
    for (int64_t i = 0; i < POINTS * elements(k); i++) {
      store(dtype, t[k].data, i, (uint32_t)k, last ? i % POINTS : i / elements(k),
            last ? i / POINTS : i % elements(k));
    }
  }
  const weir_binding bindings[] = {{"a", &t[0]}, {"b", &t[1]}};

  assert_ok(weir_plan_run(p, bindings, 2));
  keep(which, g, p, false, o);
  for (int k = 0; k < 2; k++) {
    weir_tensor_fini(&t[k]);
  }
  weir_plan_destroy(&p);
  return o;
}

/* Chunks of `max` slots; of a feed, the slots of an element lie together. */
static outcome *run_stream(int which, const weir_graph *g, weir_dtype dtype, const char *kernel,
                           int64_t max)
{
  static weir_c128 data[2][POINTS * N * N];
  weir_plan *p = plan_of(g, kernel, true);
  outcome *o = calloc(1, sizeof *o);

  assert_non_null(o);
  for (int64_t from = 0, to; from < POINTS; from = to) {
    to = from + max < POINTS ? from + max : POINTS;
    for (int k = 0; k < 2; k++) {
      for (int64_t i = 0; i < elements(k) * (to - from); i++) {
        store(dtype, data[k], i, (uint32_t)k, from + i % (to - from), i / (to - from));
      }
    }
    const weir_feed feeds[] = {{"a", data[0], from, to}, {"b", data[1], from, to}};

    assert_ok(weir_plan_feed(p, feeds, 2, to == POINTS));
    keep(which, g, p, true, o);
  }
  weir_plan_destroy(&p);
  return o;
}

static void check_same(const outcome *whole, outcome *other, const char *op)
{
  for (int k = 0; k < MAX_RESULTS; k++) {
    const int64_t n = whole->n[k] * POINTS;

    assert_int_equal(other->n[k], whole->n[k]);
    assert_int_equal(other->slots[k], whole->slots[k]);
    for (int64_t i = 0; i < n; i++) {
      const weir_c128 x = whole->value[k][i], y = other->value[k][i];

      if (memcmp(&x, &y, sizeof x) != 0) {
        print_error("%s, result %d, element %lld: %.17g %.17g, whole %.17g %.17g\n", op, k,
                    (long long)i, y.re, y.im, x.re, x.im);
        assert_true(0);
      }
    }
  }
  free(other);
}

static const weir_dtype dtypes[] = {WEIR_F64, WEIR_C64, WEIR_C128};

/* fft of real arrays is another kind. */
static bool serves(int which, weir_dtype dtype)
{
  return weir_dtype_is_complex(dtype) || strcmp(subjects[which].op, "fft") != 0;
}

static void check_microbatches(int which, weir_dtype dtype, const char *kernel)
{
  weir_graph *g = make(which, dtype, false);
  outcome *whole = run_whole(which, g, dtype, kernel);

  for (int64_t n = 2; n <= POINTS; n += 3) {
    weir_graph *batched = microbatch_copy(g, n);

    /* Columns are batched along the other dimension of their batch, which comes first. */
    const bool few = subjects[which].build == build_columns && n > K;

    assert_int_equal(microbatch_count(batched, subjects[which].op), few ? K : n);
    check_same(whole, run_whole(which, batched, dtype, kernel), subjects[which].op);
    weir_graph_destroy(&batched);
  }
  free(whole);
  weir_graph_destroy(&g);
}

static void check_stream(int which, weir_dtype dtype, const char *kernel)
{
  weir_graph *bounded = make(which, dtype, false), *g = make(which, dtype, true);
  weir_plan *p;

  if (!points_last(which)) {
    assert_int_equal(weir_plan_create(g, NULL, &(weir_plan_opts){.threads = 1}, &p),
                     WEIR_ERR_SHAPE);
    assert_non_null(strstr(weir_last_message(), "time must be the last dimension"));
    weir_clear_failure();
  } else {
    outcome *whole = run_whole(which, bounded, dtype, kernel);

    for (int64_t max = 1; max <= POINTS; max += max < 4 ? 1 : 7) {
      check_same(whole, run_stream(which, g, dtype, kernel, max), subjects[which].op);
    }
    free(whole);
  }
  weir_graph_destroy(&bounded);
  weir_graph_destroy(&g);
}

static void for_all(void (*check)(int, weir_dtype, const char *))
{
  for (int i = 0; i < SUBJECTS * 6; i++) {
    if (serves(i / 6, dtypes[i / 2 % 3])) {
      check(i / 6, dtypes[i / 2 % 3], i % 2 == 0 ? "none" : "auto");
    }
  }
}

static void micro_batches_have_the_bits_of_the_whole(void **state)
{
  for_all(check_microbatches);
}

static void chunks_have_the_bits_of_the_whole(void **state)
{
  for_all(check_stream);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(micro_batches_have_the_bits_of_the_whole),
      cmocka_unit_test(chunks_have_the_bits_of_the_whole),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
