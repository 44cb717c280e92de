/* sliding_test.c - sums of products at sliding positions against their definition, on every
 * instruction set. */
#include "ops/contract/sliding.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_clock.h"
#include "base/weir_random.h"
#include "device/weir_parallel.h"
#include "ops/ops_cases.h"
#include "support/ops/ops_check.h"
#include "ops/weir_builder.h"

enum { MAX = 12000 };

/* C[s, k, x, n] = sum over q, y of A[s, q, y] B[list[s, q], k, x + slope y, n]; its extents. */
enum { S, K, X, N, Q, Y, LABELS };

typedef struct subject {
  int64_t extent[LABELS], slope;
  weir_dtype dtype;
  bool conj[2], gathers, apart; /* apart: columns of B are its first dimension */
  weir_access a;
  weir_view v[4];
  int32_t list[80];
  weir_c128 memory[3][MAX], expected[MAX];
  double size[MAX]; /* of each sum: the sum of the sizes of its products */
} subject;

static void map(weir_operand *o, weir_dtype dtype, const int64_t *extent, int n, const int *dims)
{
  weir_array_desc d = {.dtype = dtype, .rank = n};

  for (int i = 0; i < n; i++) {
    d.shape[i] = extent[dims[i]];
  }
  weir_map_operand(o, &d);
  for (int i = 0; i < n; i++) {
    o->index[i].coef[dims[i]] = 1;
  }
}

static void view_of(weir_view *v, const weir_operand *o, void *memory)
{
  int64_t stride = 1;

  *v = (weir_view){.data = memory, .dtype = o->dtype, .rank = o->rank};
  for (int d = o->rank - 1; d >= 0; d--) {
    v->extent[d] = o->extent[d];
    v->stride[d] = stride;
    stride *= o->extent[d];
  }
  assert_true(stride <= MAX);
}

static int64_t span(const subject *s)
{
  return s->extent[X] + llabs(s->slope) * (s->extent[Y] - 1);
}

/* B is read at x + slope y, and where lists say. */
static void map_b(subject *s)
{
  weir_operand *b = &s->a.in[1];
  const int along = s->apart ? 3 : 2;

  if (s->apart) {
    map(b, s->dtype, s->extent, 4, (const int[]){N, S, K, X});
  } else {
    map(b, s->dtype, s->extent, 4, (const int[]){S, K, X, N});
  }
  b->index[along].coef[Y] = s->slope;
  b->index[along].offset = s->slope < 0 ? -s->slope * (s->extent[Y] - 1) : 0;
  b->extent[along] = span(s);
  if (s->gathers) {
    b->extent[s->apart] = 4;
    b->index[s->apart] = (weir_index){.gather = 3, .gather_hi = 4};
    map(&s->a.in[2], WEIR_I32, s->extent, 2, (const int[]){S, Q});
  }
}

static int32_t factor(subject *s, int k)
{
  const int32_t x = weir_body_load(&s->a.body, k, s->dtype);

  return s->conj[k] ? weir_body_unary(&s->a.body, WEIR_CODE_CONJ, x) : x;
}

static void begin(subject *s, uint64_t seed)
{
  weir_access_init(&s->a);
  for (int k = 0; k < LABELS; k++) {
    (void)weir_map_dim(&s->a, k < Q ? WEIR_PARALLEL : WEIR_REDUCED, s->extent[k]);
  }
  assert_ok(weir_access_resize(&s->a, 2 + s->gathers, 1, 0));
  map(&s->a.in[0], s->dtype, s->extent, 3, (const int[]){S, Q, Y});
  map(&s->a.out[0], s->dtype, s->extent, 4, (const int[]){S, K, X, N});
  map_b(s);
  s->a.n_values = 1;
  s->a.value[0] = weir_body_binary(&s->a.body, WEIR_CODE_MUL, factor(s, 0), factor(s, 1));
  s->a.combine = WEIR_COMBINE_SUM;
  s->a.accumulator = s->dtype;
  for (int k = 0; k < 3; k++) {
    view_of(&s->v[k], k < 2 ? &s->a.in[k] : &s->a.out[0], s->memory[k]);
    for (int64_t i = 0; i < MAX; i++) {
      const weir_c128 z = {weir_random_uniform(seed, (uint32_t)k, 0, 2 * (uint64_t)i) - 0.5,
                           weir_random_uniform(seed, (uint32_t)k, 0, 2 * (uint64_t)i + 1) - 0.5};

      weir_dtype_store_complex(s->dtype, s->memory[k], i, z);
    }
  }
  for (int64_t i = 0; i < s->extent[S] * s->extent[Q]; i++) {
    s->list[i] = (int32_t)((5 * i + 3) % 4);
  }
  if (s->gathers) {
    view_of(&s->v[3], &s->a.in[2], s->list);
  }
}

static weir_c128 element(const subject *s, int k, const int64_t *i)
{
  const weir_operand *o = k < 2 ? &s->a.in[k] : &s->a.out[0];
  int64_t at[WEIR_MAX_RANK];

  for (int d = 0; d < o->rank; d++) {
    const int64_t listed = o->index[d].gather > 0 ? s->list[i[S] * s->extent[Q] + i[Q]] : 0;

    at[d] = weir_index_raw(&o->index[d], LABELS, i, listed);
  }
  const weir_c128 z = weir_dtype_load_complex(s->dtype, weir_view_at(&s->v[k], at), 0);

  return (weir_c128){z.re, k < 2 && s->conj[k] ? -z.im : z.im};
}

static void define(subject *s)
{
  int64_t i[WEIR_MAX_DIMS] = {0};
  const weir_box all = weir_iterations(&s->a);

  memset(s->expected, 0, sizeof s->expected);
  memset(s->size, 0, sizeof s->size);
  for (int64_t n = weir_box_volume(&all); n > 0; n--) {
    const weir_c128 x = element(s, 0, i), y = element(s, 1, i);
    const int64_t to = ((i[S] * s->extent[K] + i[K]) * s->extent[X] + i[X]) * s->extent[N] + i[N];

    s->expected[to].re += x.re * y.re - x.im * y.im;
    s->expected[to].im += x.re * y.im + x.im * y.re;
    s->size[to] += hypot(x.re, x.im) * hypot(y.re, y.im);
    for (int k = LABELS - 1; k >= 0 && ++i[k] == s->extent[k]; k--) {
      i[k] = 0;
    }
  }
}

static int64_t results(const subject *s)
{
  return s->extent[S] * s->extent[K] * s->extent[X] * s->extent[N];
}

static void run(subject *s, const sliding_form *f)
{
  void *scratch = malloc((size_t)sliding_scratch(f));

  assert_non_null(scratch);
  memset(scratch, 0xff, (size_t)sliding_scratch(f));
  for (int64_t p = sliding_pieces(f) - 1; p >= 0; p--) {
    sliding_run(f, s->v, p, scratch);
  }
  free(scratch);
}

/* A sum of n complex products is off by at most sqrt(2) 2 (n + 1) half-units of the sum of their
 * sizes (Higham, Accuracy and Stability, section 3.6), and so is its definition in f64. */
static void compare(const subject *s, uint64_t seed)
{
  const double unit = s->dtype == WEIR_C64 ? 0x1p-24 : 0x1p-53;
  const double share = sqrt(2) * 2 * ((double)(s->extent[Q] * s->extent[Y]) + 1);

  for (int64_t i = 0; i < results(s); i++) {
    const weir_c128 z = weir_dtype_load_complex(s->dtype, s->memory[2], i), e = s->expected[i];
    const double most = share * (unit + 0x1p-53) * s->size[i];

    if (!(hypot(z.re - e.re, z.im - e.im) <= most)) {
      fail_msg("seed %" PRIu64 ", sum %" PRId64
               ": (%.17g, %.17g) is more than %.3g from (%.17g, %.17g)",
               seed, i, z.re, z.im, most, e.re, e.im);
    }
  }
}

/* With the same bits on every instruction set; false: no such sum to this processor. */
static bool check(subject *s, uint64_t seed)
{
  static weir_c128 first[MAX];
  sliding_form f;

  begin(s, seed);
  define(s);
  const bool taken = sliding_form_of(&s->a, &f);

  if (taken) {
    run(s, &f);
    compare(s, seed);
    memcpy(first, s->memory[2], sizeof first);
#if defined(__x86_64__)
    const int64_t strips = packed_ceil_div(f.columns.count, 4);

    f.kernels = s->dtype == WEIR_C64 ? &weir_sliding_c64_avx2 : &weir_sliding_c128_avx2;
    f.strips = 1; /* the narrowest pieces, too */
    f.chunks = s->dtype == WEIR_C64 ? packed_ceil_div(strips, 2) : strips;
    run(s, &f);
    assert_memory_equal(first, s->memory[2], (size_t)results(s) * weir_dtype_size(s->dtype));
#endif
  }
  weir_access_fini(&s->a);
  return taken;
}

static bool has_vectors(void)
{
  return weir_cpu_get()->avx2 && weir_cpu_get()->fma;
}

static void random_sums(void **state)
{
  const uint64_t fresh = (uint64_t)(weir_clock() * 1e9);
  static subject s;
  int taken = 0;

  for (uint64_t seed = 0; seed < 300; seed++) {
    weir_draw w = {seed < 150 ? seed : fresh + seed, 0};

    memset(&s, 0, sizeof s);
    s.extent[S] = weir_draw_int(&w, 1, 3);
    s.extent[K] = weir_draw_int(&w, 1, 2);
    s.extent[X] = weir_draw_int(&w, 1, 21);
    s.extent[N] = weir_draw_int(&w, 1, 37);
    s.extent[Q] = weir_draw_int(&w, 1, 3);
    s.extent[Y] = weir_draw_int(&w, 1, 9);
    s.slope = weir_draw_int(&w, 0, 1) ? -weir_draw_int(&w, 1, 2) : weir_draw_int(&w, 1, 2);
    s.dtype = weir_draw_int(&w, 0, 1) ? WEIR_C64 : WEIR_C128;
    s.conj[0] = weir_draw_int(&w, 0, 1);
    s.conj[1] = weir_draw_int(&w, 0, 1);
    s.gathers = weir_draw_int(&w, 0, 1);
    s.apart = weir_draw_int(&w, 0, 1);
    if (check(&s, w.seed)) {
      taken++;
    }
  }
  assert_true(taken > 100 || !has_vectors());
}

/* Several tiles along x; one column, one k. */
static void long_sums(void **state)
{
  static subject s;

  s = (subject){.extent = {1, 1, 150, 5, 2, 70}, .slope = -1, .dtype = WEIR_C128};
  assert_int_equal(check(&s, 1), has_vectors());
  s = (subject){.extent = {1, 1, 65, 1, 1, 2}, .slope = 1, .dtype = WEIR_C64};
  (void)check(&s, 2);
}

/* Taps are summed over what B does not have, and B is brought to planar form once. */
static void taps_are_merged(void **state)
{
  static subject s;
  sliding_form f, once;

  s = (subject){.extent = {1, 1, 12, 5, 1, 4}, .slope = 1, .dtype = WEIR_C128};
  begin(&s, 6);
  if (!sliding_form_of(&s.a, &once)) {
    assert_false(has_vectors());
    skip();
  }
  weir_access_fini(&s.a);
  for (int gathers = 0; gathers < 2; gathers++) {
    s = (subject){
        .extent = {1, 1, 12, 5, 70, 4}, .slope = 1, .dtype = WEIR_C128, .gathers = gathers};
    begin(&s, 7);
    assert_true(sliding_form_of(&s.a, &f));
    weir_access_fini(&s.a);
    assert_int_equal(f.merged, gathers ? 1 : 70);
    assert_int_equal(f.depth.count, gathers ? 70 : 1);
    assert_true(sliding_work(&f) == sliding_work(&once) * (gathers ? 70 : 1));
    assert_true(sliding_moves(&f) == sliding_moves(&once) * (gathers ? 70 : 1));
    assert_true(check(&s, 8));
  }
}

/* A value that is not finite reaches the sums that it belongs to, and no other. */
static void nan_stays_where_it_is_read(void **state)
{
  static subject s;
  sliding_form f;

  s = (subject){.extent = {1, 1, 20, 13, 1, 3}, .slope = 1, .dtype = WEIR_C128};
  begin(&s, 3);
  s.memory[1][7 * 13 + 12].im = NAN;      /* position 7: outputs 5 to 7 */
  s.memory[1][21 * 13 + 2].re = INFINITY; /* position 21: output 19 */
  if (sliding_form_of(&s.a, &f)) {
    run(&s, &f);
    for (int64_t i = 0; i < 20 * 13; i++) {
      const int64_t x = i / 13, n = i % 13;
      const bool reached = (n == 12 && x >= 5 && x <= 7) || (n == 2 && x == 19);

      assert_int_equal(isfinite(s.memory[2][i].re) && isfinite(s.memory[2][i].im), !reached);
    }
  }
  weir_access_fini(&s.a);
}

/* No position is read twice, the sum is empty, or several rows of A share what is read. */
static void others_are_not_taken(void **state)
{
  static subject s;
  sliding_form f;
  const int64_t extents[][LABELS] = {
      {2, 1, 1, 9, 2, 5}, {2, 1, 9, 9, 2, 1}, {2, 1, 9, 9, 0, 5}, {1, 1, 0, 9, 2, 5}};

  for (int i = 0; i < 4; i++) {
    s = (subject){.slope = 1, .dtype = WEIR_C128};
    memcpy(s.extent, extents[i], sizeof s.extent);
    begin(&s, 4);
    assert_false(sliding_form_of(&s.a, &f));
    weir_access_fini(&s.a);
  }
  s = (subject){.extent = {3, 1, 9, 9, 2, 5}, .slope = 1, .dtype = WEIR_C128};
  begin(&s, 5);
  s.a.in[1].index[0].coef[S] = 0;
  assert_false(sliding_form_of(&s.a, &f));
  weir_access_fini(&s.a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_sums),          cmocka_unit_test(long_sums),
      cmocka_unit_test(taps_are_merged),      cmocka_unit_test(nan_stays_where_it_is_read),
      cmocka_unit_test(others_are_not_taken),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
