/* window_argmax_test.c - positions in windows, in one wording or another, and what is none. */
#include "graph/weir_window_argmax.h"

#include "base/weir_check.h"

/* (argmax[i / 2, j / 3] is `position` of i, j) ? dy : 0 over 4 x 6, all of them loads. */
static void make(weir_access *a, int32_t (*position)(weir_body *))
{
  weir_body *const b = &a->body;

  weir_access_init(a);
  a->n_dims = 2;
  a->dim[0] = (weir_dim){WEIR_PARALLEL, 0, 4, false};
  a->dim[1] = (weir_dim){WEIR_PARALLEL, 0, 6, false};
  a->n_values = 1;
  const int32_t at = weir_body_cast(b, WEIR_I64, weir_body_load(b, 1, WEIR_U8));
  const int32_t same = weir_body_binary(b, WEIR_CODE_EQ, at, position(b));

  a->value[0] =
      weir_body_select(b, same, weir_body_load(b, 0, WEIR_F32), weir_body_real(b, WEIR_F32, 0));
}

static int32_t number(weir_body *b, int64_t v)
{
  return weir_body_int(b, WEIR_I64, v);
}

/* (i + by) - (i + by) / m * m, counted from another window on. */
static int32_t rest(weir_body *b, int dim, int64_t m, int64_t by)
{
  const int32_t i = weir_body_binary(b, WEIR_CODE_ADD, weir_body_index(b, dim), number(b, by));
  const int32_t whole = weir_body_binary(b, WEIR_CODE_MUL, number(b, m),
                                         weir_body_binary(b, WEIR_CODE_DIV, i, number(b, m)));

  return weir_body_binary(b, WEIR_CODE_SUB, i, whole);
}

static int32_t sum(weir_body *b, int32_t x, int64_t times, int32_t y)
{
  return weir_body_binary(b, WEIR_CODE_ADD, y,
                          weir_body_binary(b, WEIR_CODE_MUL, number(b, times), x));
}

static int32_t row_major(weir_body *b)
{
  return sum(b, rest(b, 0, 2, 0), 3, rest(b, 1, 3, 0));
}

static int32_t from_another_window(weir_body *b)
{
  return sum(b, rest(b, 0, 2, 4), 3, rest(b, 1, 3, 9));
}

static int32_t column_major(weir_body *b)
{
  return sum(b, rest(b, 1, 3, 0), 2, rest(b, 0, 2, 0));
}

static int32_t shifted(weir_body *b)
{
  return sum(b, rest(b, 0, 2, 1), 3, rest(b, 1, 3, 0));
}

static int32_t another_window(weir_body *b)
{
  return sum(b, rest(b, 0, 2, 0), 3, rest(b, 1, 2, 0));
}

static int32_t one_more(weir_body *b)
{
  return weir_body_binary(b, WEIR_CODE_ADD, row_major(b), number(b, 1));
}

static int32_t right_but_at_one_position(weir_body *b)
{
  const int32_t last = weir_body_binary(b, WEIR_CODE_GE, weir_body_index(b, 1), number(b, 5));

  return weir_body_binary(b, WEIR_CODE_ADD, row_major(b),
                          weir_body_select(b, last, number(b, 1), number(b, 0)));
}

static int32_t of_what_is_read(weir_body *b)
{
  return weir_body_cast(b, WEIR_I64, weir_body_load(b, 0, WEIR_F32));
}

static bool chooses(int32_t (*position)(weir_body *))
{
  const int64_t window[] = {2, 3};
  weir_access a;

  make(&a, position);
  assert_ok(a.body.failed);
  const int32_t chosen = weir_window_argmax(&a, 1, false, window, 2);
  const bool yes = chosen >= 0;

  assert_true(!yes ||
              (a.body.exprs[chosen].code == WEIR_CODE_LOAD && a.body.exprs[chosen].integer == 0));
  weir_access_fini(&a);
  return yes;
}

static void positions_are_known_by_their_values(void **state)
{
  assert_true(chooses(row_major));
  assert_true(chooses(from_another_window));
}

static void others_are_none(void **state)
{
  assert_false(chooses(column_major));
  assert_false(chooses(shifted));
  assert_false(chooses(another_window));
  assert_false(chooses(one_more));
  assert_false(chooses(right_but_at_one_position));
  assert_false(chooses(of_what_is_read));
}

static bool is_index(const weir_expr *e, const void *iteration, int64_t *v)
{
  const bool is = e->code == WEIR_CODE_INDEX;

  *v = is ? ((const int64_t *)iteration)[e->integer] : 0;
  return is;
}

/* What is made of indices has a value, and nothing else has, nor what would wrap. */
static void whole_numbers_are_computed(void **state)
{
  const int64_t at[] = {7, -3};
  weir_access a;
  int64_t v;

  weir_access_init(&a);
  weir_body *const b = &a.body;
  const int32_t i = weir_body_index(b, 0), j = weir_body_index(b, 1);
  const int32_t square = weir_body_binary(b, WEIR_CODE_MUL, i, j);
  const int32_t less = weir_body_binary(b, WEIR_CODE_LT, square, number(b, -20));
  const int32_t even = weir_body_binary(b, WEIR_CODE_EQ, rest(b, 0, 2, 1), number(b, 0));
  const int32_t both = weir_body_binary(b, WEIR_CODE_AND, less, even);
  const int32_t chosen = weir_body_select(b, both, i, j);
  const int32_t never = weir_body_select(b, weir_body_unary(b, WEIR_CODE_NOT, both), i, j);
  const int32_t large = weir_body_binary(b, WEIR_CODE_MUL, number(b, INT32_MAX), i);
  const int32_t loaded = weir_body_cast(b, WEIR_I64, weir_body_load(b, 0, WEIR_U8));

  assert_true(weir_body_whole(b, square, is_index, at, &v) && v == -21);
  assert_true(weir_body_whole(b, chosen, is_index, at, &v) && v == 7);
  assert_true(weir_body_whole(b, never, is_index, at, &v) && v == -3);
  assert_false(weir_body_whole(b, large, is_index, at, &v));
  assert_false(weir_body_whole(b, loaded, is_index, at, &v));
  weir_access_fini(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole_numbers_are_computed),
      cmocka_unit_test(positions_are_known_by_their_values),
      cmocka_unit_test(others_are_none),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
