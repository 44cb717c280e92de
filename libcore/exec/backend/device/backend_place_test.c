/* backend_place_test.c - indices in 32 bits: the same values as in 64, and only where they fit. */
#include <string.h>

#include "base/weir_check.h"
#include "base/weir_random.h"
#include "exec/backend/device/backend.h"
#include "exec/backend/device/backend_kernel.h"

static void rules_are_those_of_64_bits(void **state)
{
  (void)state;
  for (int32_t extent = 0; extent < 9; extent++) {
    for (int32_t at = -40; at <= 40; at++) {
      assert_int_equal(narrow_outside(at, extent), native_outside(at, extent));
      assert_int_equal(narrow_wrap(at, extent), native_wrap(at, extent));
      assert_int_equal(narrow_replicate(at, extent), native_replicate(at, extent));
      assert_int_equal(narrow_reflect(at, extent), native_reflect(at, extent));
      if (extent > 0) {
        assert_int_equal(narrow_div(at, extent), native_div(at, extent));
        assert_int_equal(narrow_mod(at, extent), native_mod(at, extent));
      }
      if (extent > 0 && at >= 0) {
        assert_int_equal(upward_div(at, extent), native_div(at, extent));
        assert_int_equal(upward_mod(at, extent), native_mod(at, extent));
      }
    }
  }
}

static int64_t magnitude_of(int64_t a)
{
  return a < 0 ? -a : a;
}

/* Of about 2^most at the most, of either sign if it may be negative. */
static int64_t draw(uint64_t *n, int most, bool negative)
{
  const uint64_t bits = weir_random_bits(3, 0, 0, (*n)++);
  const int64_t value = (int64_t)((bits >> 8) >> (56 - (int)(bits % (uint64_t)(most + 1))));

  return negative && (bits & 128) != 0 ? -value : value;
}

/* An operand with sizes around the limit, its first index inside where the iterations allow it. */
static void draw_access(uint64_t *n, weir_access *a)
{
  weir_operand *x = &a->in[0];

  a->n_dims = 3;
  for (int k = 0; k < a->n_dims; k++) {
    a->dim[k] = (weir_dim){.kind = WEIR_PARALLEL, .lo = draw(n, 4, true)};
    a->dim[k].hi = a->dim[k].lo + 1 + draw(n, 22, false);
  }
  *x = (weir_operand){.dtype = WEIR_F32, .rank = 2};
  for (int d = 0; d < x->rank; d++) {
    x->extent[d] = 1 + draw(n, 22, false);
    x->index[d] = (weir_index){.offset = draw(n, d == 0 ? 6 : 32, d > 0),
                               .div = draw(n, 3, false),
                               .border = (weir_border)(draw(n, 30, false) % 7)};
    x->index[d].coef[draw(n, 30, false) % 3] = draw(n, d == 0 ? 1 : 16, true);
    x->index[d].coef[draw(n, 30, false) % 3] = draw(n, 2, true);
  }
}

static bool fits(int64_t value)
{
  return value >= -INT32_MAX && value <= INT32_MAX;
}

/* All partial sums of index d at the iterations of a corner of the box: they are linear in each, so
 * that corners have the extremes. Sets the numerator. */
static bool corner_fits(const weir_access *a, int d, unsigned corner, int64_t *numerator)
{
  const weir_index *x = &a->in[0].index[d];
  bool all = fits(x->offset);

  *numerator = x->offset;
  for (int k = 0; k < a->n_dims; k++) {
    const int64_t i = (corner >> k & 1) != 0 ? a->dim[k].hi - 1 : a->dim[k].lo;

    *numerator += x->coef[k] * i;
    all = all && fits(x->coef[k] * i) && fits(*numerator);
  }
  return all;
}

static void what_is_narrow_fits(void **state)
{
  const exec_layout layout = {.dense = true, .chunks = 1};
  int narrow = 0, inside = 0, upward = 0;
  weir_access a;
  uint64_t n = 0;

  (void)state;
  weir_access_init(&a);
  assert_ok(weir_access_resize(&a, 1, 0, 0));
  for (int draws = 0; draws < 4000; draws++) {
    exec_places places;

    draw_access(&n, &a);
    exec_places_of(&a, &layout, &places);
    const native_place *p = &places.in[0];
    const weir_operand *x = &a.in[0];

    narrow += p->narrow;
    for (int d = 0; d < x->rank; d++) {
      inside += p->inside[d];
      upward += p->upward[d] && p->narrow;
      for (unsigned corner = 0; corner < 8; corner++) {
        int64_t numerator;
        const bool all = corner_fits(&a, d, corner, &numerator);
        const int64_t raw = native_div(numerator, weir_index_divisor(&x->index[d]));

        assert_true(all || !p->narrow);
        assert_true(!p->inside[d] || (raw >= 0 && raw < x->extent[d]));
        assert_true(!p->upward[d] || numerator >= 0);
      }
    }
    assert_true(!p->narrow || (x->extent[0] * x->extent[1] - 1 <= INT32_MAX &&
                               fits(2 * x->extent[0]) && fits(2 * x->extent[1])));
  }
  print_message("%d narrow, %d inside, %d upward\n", narrow, inside, upward);
  assert_true(narrow > 400 && narrow < 3600 && inside > 100 && upward > 100);
  weir_access_fini(&a);
}

/* 2^31 elements are the last that fit; a gathered index may be any number; strides that are words
 * of a run have no bound. */
static void limits_are_exact(void **state)
{
  exec_layout layout = {.dense = true, .chunks = 1};
  weir_access a;
  exec_places places;

  (void)state;
  weir_access_init(&a);
  assert_ok(weir_access_resize(&a, 1, 0, 0));
  a.n_dims = 1;
  a.dim[0] = (weir_dim){.kind = WEIR_PARALLEL, .hi = 2};
  a.in[0] = (weir_operand){.dtype = WEIR_F32, .rank = 2, .extent = {2, INT64_C(1) << 30}};
  a.in[0].index[0].coef[0] = 1;
  exec_places_of(&a, &layout, &places);
  assert_false(places.in[0].narrow); /* reflected indices take twice an extent */
  a.in[0].extent[0] = 1 << 8;
  a.in[0].extent[1] = 1 << 23;
  exec_places_of(&a, &layout, &places);
  assert_true(places.in[0].narrow);
  a.in[0].extent[1]++;
  exec_places_of(&a, &layout, &places);
  assert_false(places.in[0].narrow);
  a.in[0].extent[1] = 1;
  a.in[0].index[0].gather = 1;
  exec_places_of(&a, &layout, &places);
  assert_false(places.in[0].narrow);
  a.in[0].index[0].gather = 0;
  layout.dense = false;
  exec_places_of(&a, &layout, &places);
  assert_false(places.in[0].narrow);
  weir_access_fini(&a);
}

/* A number that is often a multiple of 8. */
static int64_t draw_multiple(uint64_t *n)
{
  return draw(n, 3, true) * (int64_t[]){1, 2, 4, 8}[draw(n, 30, false) % 4];
}

/* An operand that a vector of `wide` iterations of dimension 2 may be loaded from. */
static void draw_vector(uint64_t *n, int wide, weir_access *a)
{
  weir_operand *x = &a->in[0];

  a->n_dims = 3;
  for (int k = 0; k < a->n_dims; k++) {
    a->dim[k] = (weir_dim){.kind = WEIR_PARALLEL, .lo = draw_multiple(n)};
    a->dim[k].hi = a->dim[k].lo + (k == 2 ? 2 * wide : 1 + draw(n, 2, false));
  }
  *x = (weir_operand){.dtype = WEIR_F32, .rank = 2};
  for (int d = 0; d < x->rank; d++) {
    const bool quotient = draw(n, 30, false) % (d == 0 ? 2 : 8) == 0;

    x->extent[d] = 1 + draw(n, 3, false);
    x->extent[d] *= (int64_t[]){1, 2, 4, 8}[draw(n, 30, false) % 4];
    x->index[d] =
        (weir_index){.offset = draw_multiple(n),
                     .div = quotient ? magnitude_of(draw_multiple(n)) : 1,
                     .border = (weir_border)(WEIR_BORDER_ABSENT + draw(n, 30, false) % 6)};
    x->index[d].coef[0] = draw_multiple(n);
    x->index[d].coef[1] = draw_multiple(n);
    x->index[d].coef[2] = d == 1 || quotient ? 1 : draw(n, 30, false) % 4 == 0;
  }
}

/* The element of the operand at an iteration, -1: outside. */
static int64_t element_at(const weir_operand *x, const int64_t *i)
{
  int64_t at = 0;

  for (int d = 0; d < x->rank; d++) {
    const weir_index *index = &x->index[d];
    const int64_t sum =
        index->offset + index->coef[0] * i[0] + index->coef[1] * i[1] + index->coef[2] * i[2];
    int64_t e = native_div(sum, weir_index_divisor(index));

    e = index->border == WEIR_BORDER_WRAP        ? native_wrap(e, x->extent[d])
        : index->border == WEIR_BORDER_REPLICATE ? native_replicate(e, x->extent[d])
        : index->border == WEIR_BORDER_REFLECT   ? native_reflect(e, x->extent[d])
                                                 : e;
    if (native_outside(e, x->extent[d])) {
      return -1;
    }
    at = at * x->extent[d] + e;
  }
  return at;
}

/* All vectors of the iterations: successive elements from a multiple of `wide` on, or none. */
static bool are_vectors(const weir_access *a, int wide)
{
  bool all = true;
  int64_t i[3];

  for (i[0] = a->dim[0].lo; i[0] < a->dim[0].hi; i[0]++) {
    for (i[1] = a->dim[1].lo; i[1] < a->dim[1].hi; i[1]++) {
      for (int64_t from = a->dim[2].lo; from < a->dim[2].hi; from += wide) {
        i[2] = from;
        const int64_t first = element_at(&a->in[0], i);

        all = all && (first < 0 || first % wide == 0);
        for (int v = 1; v < wide; v++) {
          i[2] = from + v;
          all = all && element_at(&a->in[0], i) == (first < 0 ? -1 : first + v);
        }
      }
    }
  }
  return all;
}

static void vectors_are_aligned_elements(void **state)
{
  int taken = 0, possible = 0;
  weir_access a;
  uint64_t n = 0;

  (void)state;
  weir_access_init(&a);
  assert_ok(weir_access_resize(&a, 1, 0, 0));
  for (int draws = 0; draws < 40000; draws++) {
    const int wide = 2 << (draws % 3);
    const exec_layout layout = {.dense = true,
                                .chunks = 1,
                                .n_repeats = 1,
                                .repeat = {{.dim = 2, .n = wide}},
                                .wide = wide};
    exec_places places;

    draw_vector(&n, wide, &a);
    exec_places_of(&a, &layout, &places);
    const bool are = are_vectors(&a, wide);

    assert_true(are || places.in[0].wide == 1);
    taken += places.in[0].wide > 1;
    possible += are;
  }
  print_message("%d of %d\n", taken, possible);
  assert_true(taken > 1000);
  weir_access_fini(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rules_are_those_of_64_bits),
      cmocka_unit_test(what_is_narrow_fits),
      cmocka_unit_test(limits_are_exact),
      cmocka_unit_test(vectors_are_aligned_elements),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
