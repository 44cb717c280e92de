/* access_lattice_test.c - counts that have closed forms against enumeration: strips, first hits,
 * and the coefficients that filters and resamplers touch. */
#include <time.h>

#include "base/weir_check.h"
#include "base/weir_random.h"
#include "graph/graph_priv.h"

static uint64_t run_seed;

struct dice {
  uint32_t number, at;
};

static int64_t roll(struct dice *d, int64_t lo, int64_t hi)
{
  return lo +
         (int64_t)(weir_random_bits(run_seed, d->number, 5, d->at++) % (uint64_t)(hi - lo + 1));
}

static int64_t roll_not_0(struct dice *d, int64_t max)
{
  const int64_t x = roll(d, 1, max);

  return roll(d, 0, 1) == 0 ? x : -x;
}

static void fail_case(const char *what, uint32_t number)
{
  print_message("%s: case %u of seed %llu\n", what, number, (unsigned long long)run_seed);
  fail();
}

static void strips_hold_the_points_that_enumeration_finds(void **state)
{
  for (uint32_t c = 0; c < 20000; c++) {
    struct dice d = {c, 0};
    const int64_t a = roll_not_0(&d, 30), b = roll_not_0(&d, 30), n = roll(&d, 1, 12),
                  m = roll(&d, 1, 12), lo = roll(&d, -300, 300), hi = roll(&d, lo, lo + 200);
    int64_t points = 0;
    for (int64_t i = 0; i < n; i++) {
      for (int64_t j = 0; j < m; j++) {
        points += a * i + b * j >= lo && a * i + b * j < hi;
      }
    }
    if (weir_strip_points(a, n, b, m, lo, hi) != points) {
      fail_case("strip", c);
    }
  }
}

static void large_strips_do_not_overflow(void **state)
{
  const weir_wide n = WEIR_UNBOUNDED, c = INT64_C(1) << 61;

  /* i + j < n: n of j = 0, n - 1 of j = 1, ...; the same with c as unit, and mirrored. */
  assert_true(weir_strip_points(1, n, 1, n, 0, n) == n * (n + 1) / 2);
  assert_true(weir_strip_points(c, n, c, n, 0, c * n) == n * (n + 1) / 2);
  assert_true(weir_strip_points(-c, n, c, n, -c * n, 1) == n * (n + 1) / 2);
  /* No point leaves: 2 i + 3 j <= 5 (n - 1). */
  assert_true(weir_strip_points(2, n, 3, n, -1, 5 * n) == n * n);
}

static void first_hits_are_those_of_enumeration(void **state)
{
  for (uint32_t c = 0; c < 20000; c++) {
    struct dice d = {c, 1000};
    const int64_t step = roll_not_0(&d, 60), start = roll(&d, -200, 200);
    const int64_t period = roll(&d, 2, 40), width = roll(&d, 1, period - 1), n = roll(&d, 1, 50);
    int64_t x = 0;
    while (x < n && weir_floor_mod(start + step * x, period) >= width) {
      x++;
    }
    if (weir_first_hit(step, start, period, width, n) != x) {
      fail_case("first hit", c);
    }
  }
}

static void far_hits_are_found_without_search(void **state)
{
  const weir_wide far = INT64_C(1) << 59;

  /* Modulo 2^60 - 3 the step is 2, and 2 + 2 x is its first multiple at x = 2^60 - 4. */
  assert_true(weir_first_hit(2 * far - 1, 2, 2 * far - 3, 1, 2 * far) == 2 * far - 4);
  assert_true(weir_first_hit(2 * far - 1, 2, 2 * far - 3, 1, 2 * far - 4) == 2 * far - 4);
  assert_true(weir_first_hit(2, 1, 2 * far, 1, 2 * far) == 2 * far); /* never even */
}

/* Index floor((c i + e k + offset) / div) over i and k: its range, what reaches an interval, and
 * how far it lies from c i / div. */
static void one_index_equals_enumeration(void **state)
{
  for (uint32_t n = 0; n < 4000; n++) {
    struct dice d = {n, 4000};
    weir_operand o = {.rank = 1, .extent = {1}};
    weir_index *x = &o.index[0];
    *x = (weir_index){.coef = {roll_not_0(&d, 9), roll(&d, -9, 9)},
                      .offset = roll(&d, -30, 30),
                      .div = roll(&d, 0, 9)};
    const int64_t c = x->coef[0], div = weir_index_divisor(x), lo = roll(&d, -40, 40),
                  hi = roll(&d, lo + 1, lo + 40);
    const weir_box box = {2, {-90, roll(&d, -3, 3)}, {90, roll(&d, 4, 9)}};
    int64_t range[2] = {INT64_MAX, INT64_MIN}, lag[2] = {INT64_MAX, INT64_MIN};
    weir_interval users = {INT64_MAX, INT64_MIN}, found = {-90, 90};
    for (int64_t i = -90; i < 90; i++) {
      int64_t min = INT64_MAX, max = INT64_MIN; /* with the other term anywhere */
      for (int64_t k = box.lo[1]; k < box.hi[1]; k++) {
        const int64_t raw = weir_index_raw(x, 2, (int64_t[]){i, k}, 0), off = div * raw - c * i;
        min = raw < min ? raw : min;
        max = raw > max ? raw : max;
        lag[0] = off < lag[0] ? off : lag[0];
        lag[1] = off > lag[1] ? off : lag[1];
      }
      range[0] = min < range[0] ? min : range[0];
      range[1] = max > range[1] ? max : range[1];
      if (min < hi && max >= lo) {
        users.lo = i < users.lo ? i : users.lo;
        users.hi = i + 1;
      }
    }
    int64_t min, max, behind, ahead;
    weir_index_range(x, &box, &min, &max);
    weir_operand_lag(&o, 0, &box, &behind, &ahead);
    const bool any = weir_index_solve(x, 0, &box, lo, hi, &found);
    if (c > 0 && lo >= 0) {
      const weir_step_rate rate = weir_operand_step_rate(&o, 0);
      weir_interval from = {0, 1000};
      (void)weir_index_solve(x, 0, &box, lo, WEIR_UNBOUNDED, &from);
      assert_int_equal(weir_step_rate_first(&rate, ahead, lo), from.lo);
      assert_int_equal(weir_step_rate_first(&rate, 0, lo), weir_wide_ceil_div(lo * div, c));
    }
    if (min != range[0] || max != range[1] || behind != lag[0] || ahead != lag[1] ||
        any != (users.lo < users.hi) || (any && (found.lo != users.lo || found.hi != users.hi))) {
      fail_case("one index", n);
    }
  }
}

/* y[t] = sum over k of h[k, (down t + delay) mod up] x[floor((down t + delay) / up) - k], and what
 * is present there. */
static weir_access resampler(int64_t up, int64_t down, int64_t delay, int64_t taps, int64_t n)
{
  weir_access a;

  weir_access_init(&a);
  assert_ok(weir_access_resize(&a, 3, 0, 0));
  a.n_dims = 2;
  a.dim[0] = (weir_dim){WEIR_PARALLEL, 0, WEIR_UNBOUNDED, true};
  a.dim[1] = (weir_dim){WEIR_REDUCED, 0, taps, false};
  a.in[0] = (weir_operand){.rank = 1, .extent = {n}};
  a.in[0].index[0] =
      (weir_index){.coef = {down, -up}, .offset = delay, .div = up, .border = WEIR_BORDER_ABSENT};
  a.in[1] = (weir_operand){.rank = 2, .extent = {taps, up}};
  a.in[1].index[0].coef[1] = 1;
  a.in[1].index[1] = (weir_index){.coef = {down}, .offset = delay, .border = WEIR_BORDER_WRAP};
  a.in[2] = a.in[0];
  return a;
}

/* What the three operands touch over the box, and iterations that survive, by visiting all. */
static void visit(const weir_access *a, const weir_box *box, int64_t distinct[3], int64_t *alive)
{
  static bool marks[3][64 * 64];

  memset(marks, 0, sizeof marks);
  *alive = distinct[0] = distinct[1] = distinct[2] = 0;
  for (int64_t t = box->lo[0]; t < box->hi[0]; t++) {
    for (int64_t k = box->lo[1]; k < box->hi[1]; k++) {
      int64_t at[3] = {0};
      bool inside = true;
      for (int i = 0; i < 3; i++) {
        for (int d = 0; d < a->in[i].rank; d++) {
          bool in;
          const int64_t raw = weir_index_raw(&a->in[i].index[d], 2, (int64_t[]){t, k}, 0);
          at[i] = at[i] * 64 + weir_index_border(&a->in[i].index[d], raw, a->in[i].extent[d], &in);
          inside = inside && in;
        }
      }
      for (int i = 0; i < 3 && inside; i++) {
        distinct[i] += !marks[i][at[i]];
        marks[i][at[i]] = true;
      }
      *alive += inside;
    }
  }
}

static void coefficients_of_random_resamplers_equal_enumeration(void **state)
{
  for (uint32_t c = 0; c < 4000; c++) {
    struct dice d = {c, 2000};
    const int64_t up = roll(&d, 1, 9), down = roll(&d, 1, 9), taps = roll(&d, 1, 20);
    weir_access a = resampler(up, down, roll(&d, -20, 60), taps, roll(&d, 1, 500));
    const int64_t from = roll(&d, 0, 3) == 0 ? roll(&d, 0, 60) : 0, first = roll(&d, 0, taps - 1);
    const weir_box box = {2, {from, first}, {from + roll(&d, 1, 80), roll(&d, first + 1, taps)}};
    int64_t distinct[3], alive;
    if (roll(&d, 0, 1) == 0) { /* two operands that end apart: what both have counts */
      a.in[2].extent[0] = roll(&d, 1, 500);
      a.in[2].index[0].offset += roll(&d, -5, 5);
    }
    visit(&a, &box, distinct, &alive);
    for (int i = 0; i < 3; i++) {
      if (weir_distinct(&a, i, &box) != distinct[i]) {
        fail_case("distinct", c);
      }
    }
    if (weir_surviving(&a, &box) != alive) {
      fail_case("surviving", c);
    }
    weir_access_fini(&a);
  }
}

static void long_filters_are_counted_at_once(void **state)
{
  const int64_t n = INT64_C(1) << 40, taps = INT64_C(1) << 20;
  weir_access fir = resampler(1, 1, 0, taps, WEIR_UNBOUNDED);
  weir_access both = resampler(24989, 3125, 0, taps, WEIR_UNBOUNDED);
  const weir_box start = {2, {0, 0}, {n, taps}}, brief = {2, {0, 0}, {4096, 9}};

  assert_int_equal(weir_distinct(&fir, 0, &start), n);
  assert_int_equal(weir_distinct(&fir, 1, &start), taps);
  assert_int_equal(weir_surviving(&fir, &start), n * taps - taps * (taps - 1) / 2);
  assert_int_equal(weir_distinct(&both, 1, &start), 24989 * taps);
  /* 4096 phases, all different; tap k from slot ceil(24989 k / 3125) on. */
  int64_t used = 0;
  for (int64_t k = 0; k < 9; k++) {
    used += 4096 - (24989 * k + 3124) / 3125;
  }
  assert_int_equal(weir_distinct(&both, 1, &brief), used);
  assert_int_equal(weir_surviving(&both, &brief), used);
  weir_access_fini(&fir);
  weir_access_fini(&both);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(strips_hold_the_points_that_enumeration_finds),
      cmocka_unit_test(large_strips_do_not_overflow),
      cmocka_unit_test(first_hits_are_those_of_enumeration),
      cmocka_unit_test(far_hits_are_found_without_search),
      cmocka_unit_test(one_index_equals_enumeration),
      cmocka_unit_test(coefficients_of_random_resamplers_equal_enumeration),
      cmocka_unit_test(long_filters_are_counted_at_once),
  };
  run_seed = (uint64_t)time(NULL);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
