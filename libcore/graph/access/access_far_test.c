/* access_far_test.c - accesses of unbounded streams, large counts, halos, and what is refused. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/weir_check.h"
#include "base/weir_random.h"
#include "graph/weir_access.h"

static uint64_t run_seed;

struct dice {
  uint32_t number, at;
};

static int64_t roll(struct dice *d, int64_t lo, int64_t hi)
{
  return lo +
         (int64_t)(weir_random_bits(run_seed, d->number, 9, d->at++) % (uint64_t)(hi - lo + 1));
}

/* x[floor((c t + e k + o) / div)] over time t and taps k, both arrays unbounded. */
static void random_stream(struct dice *d, weir_access *a)
{
  weir_access_init(a);
  a->n_dims = 2;
  a->dim[0] = (weir_dim){WEIR_PARALLEL, 0, WEIR_UNBOUNDED, true};
  a->dim[1] = (weir_dim){WEIR_REDUCED, 0, roll(d, 1, 5), false};
  assert_ok(weir_access_resize(a, 1, 1, 0));
  a->in[0] = (weir_operand){.rank = 1, .extent = {WEIR_UNBOUNDED}};
  a->in[0].index[0] = (weir_index){.coef = {roll(d, 1, 4), roll(d, -3, 3)},
                                   .offset = roll(d, -9, 9),
                                   .div = roll(d, 1, 4),
                                   .border = (weir_border)roll(d, 1, 6)};
  a->out[0] = (weir_operand){.rank = 1, .extent = {WEIR_UNBOUNDED}};
  a->out[0].index[0] = (weir_index){.coef = {1}};
}

static weir_box slots(const weir_access *a, int64_t lo, int64_t n)
{
  weir_box b = weir_iterations(a);

  b.lo[0] = lo;
  b.hi[0] = lo + n;
  return b;
}

static void far_slots_behave_like_near_ones(void **state)
{
  const int64_t near = 1200, shift = INT64_C(12) << 36; /* multiples of every divisor */

  for (uint32_t n = 0; n < 5000; n++) {
    struct dice d = {n, 0};
    weir_access a;
    random_stream(&d, &a);
    const weir_index *x = &a.in[0].index[0];
    const int64_t moved = shift * x->coef[0] / x->div, length = roll(&d, 0, 40);
    const weir_box here = slots(&a, near, length), there = slots(&a, near + shift, length);
    const weir_region p = weir_needed(&a, 0, &here), q = weir_needed(&a, 0, &there);
    assert_int_equal(p.n[0], q.n[0]);
    assert_int_equal(p.n[0], length > 0);
    if (length == 0) {
      weir_access_fini(&a);
      continue;
    }
    assert_int_equal(p.interval[0][0].lo + moved, q.interval[0][0].lo);
    assert_int_equal(p.interval[0][0].hi + moved, q.interval[0][0].hi);
    assert_int_equal(weir_distinct(&a, 0, &here), weir_distinct(&a, 0, &there));
    assert_int_equal(weir_surviving(&a, &there), length * a.dim[1].hi);
    const weir_box e = weir_region_hull(&p), f = weir_region_hull(&q);
    const weir_box u = weir_affected(&a, 0, &e), v = weir_affected(&a, 0, &f);
    /* A wrapped or mirrored stream comes back at its end: there the hull reaches far. */
    if (x->border != WEIR_BORDER_WRAP && x->border != WEIR_BORDER_REFLECT) {
      assert_int_equal(u.lo[0] + shift, v.lo[0]);
      assert_int_equal(u.hi[0] + shift, v.hi[0]);
    }
    assert_true(u.lo[0] <= near && u.hi[0] >= near + length);
    const weir_box w = weir_iterations_of(&a, 0, &(weir_box){1, {near}, {near + shift}});
    assert_true(w.lo[0] == near && w.hi[0] == near + shift);
    int64_t below, above;
    weir_halo(&a, 0, &there, &f, &below, &above);
    assert_true(below == 0 && above == 0);
    weir_access_fini(&a);
  }
}

static void unbounded_boxes_do_not_overflow(void **state)
{
  for (uint32_t n = 0; n < 5000; n++) {
    struct dice d = {n, 5000};
    weir_access a;
    random_stream(&d, &a);
    const weir_box whole = weir_iterations(&a);
    const weir_region r = weir_needed(&a, 0, &whole);
    const weir_box hull = weir_region_hull(&r), users = weir_affected(&a, 0, &hull);
    int64_t below, above;
    weir_halo(&a, 0, &whole, &hull, &below, &above);
    assert_true(r.n[0] >= 1 && hull.hi[0] <= WEIR_UNBOUNDED);
    assert_true(users.hi[0] > WEIR_UNBOUNDED / 8);
    assert_true(weir_distinct(&a, 0, &whole) > WEIR_UNBOUNDED / 8);
    assert_true(weir_surviving(&a, &whole) > WEIR_UNBOUNDED / 8);
    assert_true(weir_flops(&a, &whole) >= 0);
    weir_access_fini(&a);
  }
}

static weir_access convolution(int64_t n, int64_t size, int64_t stride, weir_border border)
{
  weir_access a;

  weir_access_init(&a);
  a.n_dims = 2;
  a.dim[0] = (weir_dim){WEIR_PARALLEL, 0, n / stride, false};
  a.dim[1] = (weir_dim){WEIR_REDUCED, 0, size, false};
  assert_ok(weir_access_resize(&a, 2, 0, 0));
  a.in[0] = (weir_operand){.rank = 1, .extent = {n}};
  a.in[0].index[0] = (weir_index){.coef = {stride, 1}, .offset = -(size / 2), .border = border};
  a.in[1] = (weir_operand){.rank = 1, .extent = {size}};
  a.in[1].index[0] = (weir_index){.coef = {0, 1}};
  return a;
}

static void large_counts_have_closed_forms(void **state)
{
  const int64_t n = INT64_C(1) << 40;
  weir_access dense = convolution(n, 9, 1, WEIR_BORDER_ABSENT);
  const weir_box whole = weir_iterations(&dense);
  assert_int_equal(weir_distinct(&dense, 0, &whole), n);
  assert_int_equal(weir_distinct(&dense, 1, &whole), 9);
  assert_int_equal(weir_surviving(&dense, &whole), 9 * n - 2 * (1 + 2 + 3 + 4));

  /* Steps wider than the window leave holes: 2^32 / 5 windows of 3, inside the array. */
  weir_access sparse = convolution(INT64_C(5) << 30, 3, 5, WEIR_BORDER_ZERO);
  sparse.in[0].index[0].offset = 0;
  const weir_box all = weir_iterations(&sparse);
  assert_int_equal(weir_distinct(&sparse, 0, &all), INT64_C(3) << 30);
  weir_access_fini(&dense);
  weir_access_fini(&sparse);
}

static void halo_is_what_neighbours_own(void **state)
{
  int64_t below, above;
  weir_access a = convolution(64, 5, 1, WEIR_BORDER_ZERO);
  const weir_box middle = {2, {16, 0}, {32, 5}}, left = {2, {0, 0}, {16, 5}};
  const weir_box owned = {1, {16}, {32}}, first = {1, {0}, {16}};

  weir_halo(&a, 0, &middle, &owned, &below, &above);
  assert_true(below == 2 && above == 2);
  weir_halo(&a, 0, &left, &first, &below, &above);
  assert_true(below == 0 && above == 2);
  a.in[0].index[0].border = WEIR_BORDER_WRAP;
  weir_halo(&a, 0, &left, &first, &below, &above);
  assert_true(below == 2 && above == 2);
  weir_access_fini(&a);
}

static void flops_count_what_survives(void **state)
{
  weir_access a = convolution(100, 3, 1, WEIR_BORDER_ABSENT);
  const weir_box box = weir_iterations(&a);
  const int32_t x = weir_body_load(&a.body, 0, WEIR_F32), w = weir_body_load(&a.body, 1, WEIR_F32);

  a.n_values = 1;
  a.value[0] = weir_body_binary(&a.body, WEIR_CODE_MUL, x, w);
  (void)weir_body_unary(&a.body, WEIR_CODE_EXP, x); /* nobody reads it */
  a.combine = WEIR_COMBINE_SUM;
  assert_near(weir_flops(&a, &box), 298 * 2, 0);
  a.maker = WEIR_MADE_BY_CALL;
  a.point_flops = 7;
  assert_near(weir_flops(&a, &box), 700, 0);
  weir_access_fini(&a);
}

static void sum_over_nothing_still_writes(void **state)
{
  weir_access a = convolution(10, 0, 1, WEIR_BORDER_ZERO);
  const weir_box all = weir_iterations(&a);

  assert_ok(weir_access_resize(&a, 2, 1, 0));
  a.out[0] = (weir_operand){.rank = 1, .extent = {10}};
  a.out[0].index[0].coef[0] = 1;
  const weir_region r = weir_written(&a, 0, &all);
  assert_int_equal(weir_region_volume(&r), 10);
  const weir_access *const accesses[1] = {&a};
  assert_int_equal(weir_distinct_union(accesses, &(int){-1}, &all, 1), 10);
  assert_int_equal(weir_distinct(&a, 0, &all), 0);
  const weir_box w = weir_iterations_of(&a, 0, &(weir_box){1, {3}, {7}});
  assert_true(w.lo[0] == 3 && w.hi[0] == 7 && w.lo[1] == 0 && w.hi[1] == 0);
  weir_access_fini(&a);
}

/* A small valid access: y[i] = x[i] + x[i]. */
static void valid(weir_access *a)
{
  weir_access_init(a);
  assert_ok(weir_access_resize(a, 1, 1, 0));
  a->n_dims = a->n_values = 1;
  a->dim[0] = (weir_dim){WEIR_PARALLEL, 0, 8, false};
  a->in[0] = (weir_operand){.rank = 1, .extent = {8}};
  a->in[0].index[0].coef[0] = 1;
  a->out[0] = a->in[0];
  const int32_t x = weir_body_load(&a->body, 0, WEIR_F32);
  a->value[0] = weir_body_binary(&a->body, WEIR_CODE_ADD, x, x);
}

static void check_refusal(weir_access *a, const char *says)
{
  assert_int_equal(weir_access_check(a), WEIR_ERR_SHAPE);
  if (strstr(weir_last_message(), says) == NULL) {
    fail_msg("'%s' lacks '%s'", weir_last_message(), says);
  }
  a->n_dims = 1;
  weir_access_fini(a);
}

/* The valid access `a`, whose first index is `*x`, after a change. */
#define assert_refused(says, change)   \
  do {                                 \
    weir_access a;                     \
                                       \
    valid(&a);                         \
    weir_index *x = &a.in[0].index[0]; \
                                       \
    assert_ok(weir_access_check(&a));  \
    (void)x;                           \
    change;                            \
    check_refusal(&a, says);           \
  } while (0)

static void indices_that_cannot_be_right_are_refused(void **state)
{
  assert_refused("reaches index 8 of extent 8", x->offset = 1);
  assert_refused("reaches index -1", x->offset = -1);
  assert_refused("divisor -2", x->div = -2);
  assert_refused("the index overflows", x->coef[0] = INT64_C(1) << 59);
  assert_refused("gather by operand 4", x->gather = 5);
  assert_refused("cannot have a border", a.out[0].index[0].border = WEIR_BORDER_WRAP);
}

static void loops_and_bodies_that_cannot_be_right_are_refused(void **state)
{
  assert_refused("is not a range", a.dim[0].lo = 9);
  assert_refused("17 iteration dimensions", a.n_dims = 17);
  assert_refused("reduced dimensions need a monoid", a.dim[0].kind = WEIR_REDUCED;
                 a.out[0].rank = 0);
  assert_refused("17 inputs", assert_ok(weir_access_resize(&a, 17, 1, 0)));
  assert_refused("state 0", assert_ok(weir_access_resize(&a, 1, 1, 1)));
  assert_refused("value 0 is expression 9", a.value[0] = 9);
  assert_refused("value 0 is f32, output 0 is f64", a.out[0].dtype = WEIR_F64);
  assert_refused("load 3 of dtype f32", a.body.exprs[0].integer = 3);
  assert_refused("result f32 of arguments", a.body.exprs[0].dtype = a.in[0].dtype = WEIR_F64);
  assert_refused("could not be appended", (void)weir_body_unary(&a.body, WEIR_CODE_ADD, 0));
}

static void tables_keep_what_stays(void **state)
{
  static const weir_operand nothing;
  static const weir_state no_state;
  weir_access a;

  valid(&a);
  const weir_operand x = a.in[0];

  assert_ok(weir_access_resize(&a, 3, 2, 1));
  assert_true(a.n_in == 3 && a.n_out == 2 && a.n_states == 1);
  assert_memory_equal(&a.in[0], &x, sizeof x);
  assert_memory_equal(&a.in[2], &nothing, sizeof nothing);
  assert_memory_equal(&a.out[0], &x, sizeof x);
  assert_memory_equal(&a.out[1], &nothing, sizeof nothing);
  assert_memory_equal(&a.state[0], &no_state, sizeof no_state);
  a.in[1] = a.in[2] = x;
  a.n_in = 1; /* what was dropped does not come back */
  assert_ok(weir_access_resize(&a, 2, 0, 0));
  assert_memory_equal(&a.in[0], &x, sizeof x);
  assert_memory_equal(&a.in[1], &nothing, sizeof nothing);
  assert_true(a.n_in == 2 && a.n_out == 0 && a.n_states == 0);
  weir_access_fini(&a);
  assert_true(a.n_in == 0 && a.in == NULL && a.out == NULL && a.state == NULL);
}

/* A copy that grows; where memory is missing the copy is as it was. */
static weir_status copy_and_resize(void *context)
{
  const weir_access *from = context;
  weir_access a;

  WEIR_TRY(weir_access_copy(from, &a));
  const weir_status status = weir_access_resize(&a, 3, 2, 2);

  if (status != WEIR_OK) {
    assert_true(a.n_in == 1 && a.n_out == 1 && a.n_states == 1);
  }
  assert_memory_equal(a.in, from->in, sizeof *a.in);
  assert_memory_equal(a.out, from->out, sizeof *a.out);
  assert_memory_equal(a.state, from->state, sizeof *a.state);
  weir_access_fini(&a);
  return status;
}

static void missing_memory_changes_nothing(void **state)
{
  weir_access a;

  valid(&a);
  assert_ok(weir_access_resize(&a, 1, 1, 1));
  assert_int_equal(weir_check_faults(copy_and_resize, &a), 7); /* three tables, body; the tables */
  weir_access_fini(&a);
}

static void bodies_infer_dtypes_and_remember_failure(void **state)
{
  weir_body b = {0};
  const int32_t x = weir_body_load(&b, 0, WEIR_F32), y = weir_body_real(&b, WEIR_F32, 2.5);
  const int32_t c = weir_body_binary(&b, WEIR_CODE_LT, x, y);

  assert_int_equal(b.exprs[c].dtype, WEIR_BOOL);
  const int32_t chosen = weir_body_select(&b, c, x, y),
                nan = weir_body_unary(&b, WEIR_CODE_ISNAN, x);
  const int32_t three = weir_body_real(&b, WEIR_I8, 3);
  assert_int_equal(b.exprs[chosen].dtype, WEIR_F32);
  assert_int_equal(weir_body_cast(&b, WEIR_F32, x), x);
  assert_int_equal(b.exprs[nan].dtype, WEIR_BOOL);
  assert_int_equal(b.exprs[three].integer, 3);
  assert_false(b.failed);
  assert_int_equal(weir_body_binary(&b, WEIR_CODE_ADD, x, 99), -1);
  assert_int_equal(weir_body_load(&b, 0, WEIR_F32), -1);
  assert_true(b.failed);
  weir_body_fini(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(far_slots_behave_like_near_ones),
      cmocka_unit_test(unbounded_boxes_do_not_overflow),
      cmocka_unit_test(large_counts_have_closed_forms),
      cmocka_unit_test(halo_is_what_neighbours_own),
      cmocka_unit_test(sum_over_nothing_still_writes),
      cmocka_unit_test(flops_count_what_survives),
      cmocka_unit_test(indices_that_cannot_be_right_are_refused),
      cmocka_unit_test(loops_and_bodies_that_cannot_be_right_are_refused),
      cmocka_unit_test(tables_keep_what_stays),
      cmocka_unit_test(missing_memory_changes_nothing),
      cmocka_unit_test(bodies_infer_dtypes_and_remember_failure),
  };
  run_seed = (uint64_t)time(NULL);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
