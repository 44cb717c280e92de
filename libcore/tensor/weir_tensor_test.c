/* weir_tensor_test.c - views against index arithmetic, copies against element-wise loads. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "tensor/weir_tensor.h"

/* Small random number in [lo, hi]; one stream of draws per test run, the same every time. */
static int64_t draw(int64_t lo, int64_t hi)
{
  static uint64_t n;

  return lo + (int64_t)(weir_random_bits(77, 0, 0, n++) % (uint64_t)(hi - lo + 1));
}

static void fill_with_index(weir_tensor *t)
{
  const int64_t count = weir_tensor_numel(t);

  for (int64_t i = 0; i < count; i++) {
    if (weir_dtype_is_complex(t->dtype)) {
      weir_dtype_store_complex(t->dtype, t->data, i, (weir_c128){(double)(i % 100), (double)-i});
      continue;
    }
    weir_dtype_store_int(t->dtype, t->data, i, t->dtype == WEIR_BOOL ? i % 3 == 0 : i % 100);
  }
}

static void random_tensor(weir_tensor *t, weir_dtype dtype, int min_rank, int64_t min_extent)
{
  int64_t shape[WEIR_MAX_RANK] = {0};
  const int rank = (int)draw(min_rank, 4);

  for (int d = 0; d < rank; d++) {
    shape[d] = draw(min_extent, 5);
  }
  assert_ok(weir_tensor_init(t, dtype, rank, shape));
  fill_with_index(t);
}

/* Element at an index vector. */
static double element(const weir_tensor *t, const int64_t *index)
{
  int64_t at = 0;

  for (int d = 0; d < t->rank; d++) {
    at += index[d] * t->stride[d];
  }
  return weir_dtype_load_real(t->dtype, t->data, at);
}

/* Next index vector in row-major order; false after the last. */
static bool next(const weir_tensor *t, int64_t *index)
{
  for (int d = t->rank - 1; d >= 0; d--) {
    if (++index[d] < t->shape[d]) {
      return true;
    }
    index[d] = 0;
  }
  return false;
}

static void new_tensor_is_zero_and_contiguous(void **state)
{
  const int64_t shape[] = {3, 4, 5};
  weir_tensor t;

  assert_ok(weir_tensor_init(&t, WEIR_F64, 3, shape));
  assert_int_equal(weir_tensor_numel(&t), 60);
  assert_true(weir_tensor_is_contiguous(&t));
  assert_int_equal(t.stride[0], 20);
  assert_int_equal(t.stride[2], 1);
  for (int64_t i = 0; i < 60; i++) {
    assert_true(((double *)t.data)[i] == 0);
  }
  weir_tensor_fini(&t);
  assert_null(t.data);
  weir_tensor_fini(&t);
}

static void rank_zero_and_empty_are_tensors(void **state)
{
  weir_tensor scalar, empty, view;

  assert_ok(weir_tensor_init(&scalar, WEIR_I32, 0, NULL));
  assert_int_equal(weir_tensor_numel(&scalar), 1);

  assert_ok(weir_tensor_init(&empty, WEIR_F32, 3, (int64_t[]){4, 0, 3}));
  assert_null(empty.data);
  assert_int_equal(weir_tensor_numel(&empty), 0);
  assert_true(weir_tensor_is_contiguous(&empty));
  assert_ok(weir_tensor_slice(&empty, 0, 1, 3, 1, &view));
  assert_ok(weir_tensor_slice(&view, 1, 0, 0, -1, &view));
  assert_ok(weir_tensor_transpose(&view, (int[]){2, 0, 1}, &view));
  assert_ok(weir_tensor_copy(&empty, &empty));
  weir_tensor_fini(&scalar);
  weir_tensor_fini(&empty);
}

static void impossible_shapes_are_refused(void **state)
{
  const int64_t big = INT64_C(1) << 40;
  const int64_t shapes[][3] = {
      {-1, 1, 1}, {big, big, 1}, {INT64_MAX, 1, 1}, {INT64_MAX / 4 + 1, 1, 1}, {0, big, big}};
  weir_tensor t;

  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    assert_int_equal(weir_tensor_init(&t, WEIR_F64, 3, shapes[i]), WEIR_ERR_SHAPE);
    assert_null(t.data);
    weir_tensor_fini(&t);
  }
  assert_int_equal(weir_tensor_init(&t, WEIR_F64, WEIR_MAX_RANK + 1, shapes[0]), WEIR_ERR_SHAPE);
  assert_int_equal(weir_tensor_init(&t, WEIR_F64, -1, shapes[0]), WEIR_ERR_SHAPE);
}

static void slices_pick_the_elements_they_name(void **state)
{
  for (int trial = 0; trial < 500; trial++) {
    weir_tensor t, view;
    int64_t index[WEIR_MAX_RANK] = {0}, source[WEIR_MAX_RANK];
    random_tensor(&t, WEIR_I16, 1, 1);
    const int dim = (int)draw(0, t.rank - 1);
    const int64_t lo = draw(0, t.shape[dim]), hi = draw(lo, t.shape[dim]);
    const int64_t steps[] = {1, 2, 3, -1, -2, INT64_MAX, -INT64_MAX};
    const int64_t step = steps[draw(0, 6)];
    int64_t count = 0;
    assert_ok(weir_tensor_slice(&t, dim, lo, hi, step, &view));
    const int64_t first = step > 0 ? lo : hi - 1;
    const int64_t width = step > 0 ? step : -step;
    for (int64_t left = hi - lo; left > 0; left -= width < left ? width : left) {
      count++;
    }
    assert_int_equal(view.shape[dim], count);
    assert_null(view.owned);
    if (weir_tensor_numel(&view) > 0) {
      do {
        memcpy(source, index, sizeof source);
        source[dim] = index[dim] == 0 ? first : first + index[dim] * step;
        assert_true(element(&view, index) == element(&t, source));
      } while (next(&view, index));
    }
    weir_tensor_fini(&t);
  }
}

static void bad_slices_are_refused(void **state)
{
  const int64_t cases[][3] = {{-1, 2, 1}, {2, 1, 1},         {0, 6, 1},
                              {0, 5, 0},  {0, 5, INT64_MIN}, {INT64_MIN, 5, 1}};
  weir_tensor t, view = {.rank = 99};

  assert_ok(weir_tensor_init(&t, WEIR_F32, 1, (int64_t[]){5}));
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const int64_t *c = cases[i];
    assert_int_equal(weir_tensor_slice(&t, 0, c[0], c[1], c[2], &view), WEIR_ERR_SHAPE);
  }
  assert_int_equal(weir_tensor_slice(&t, 1, 0, 1, 1, &view), WEIR_ERR_SHAPE);
  assert_int_equal(weir_tensor_slice(&t, -1, 0, 1, 1, &view), WEIR_ERR_SHAPE);
  assert_int_equal(view.rank, 99);
  weir_tensor_fini(&t);
}

static void transposes_permute_indices(void **state)
{
  for (int trial = 0; trial < 300; trial++) {
    weir_tensor t, view;
    int64_t index[WEIR_MAX_RANK] = {0}, source[WEIR_MAX_RANK] = {0};
    int order[WEIR_MAX_RANK];
    random_tensor(&t, WEIR_F32, 0, 1);
    for (int d = 0; d < t.rank; d++) { /* Fisher and Yates, inside out */
      const int at = (int)draw(0, d);
      order[d] = order[at];
      order[at] = d;
    }
    assert_ok(weir_tensor_transpose(&t, order, &view));
    do {
      for (int d = 0; d < t.rank; d++) {
        source[order[d]] = index[d];
      }
      assert_true(element(&view, index) == element(&t, source));
    } while (next(&view, index));
    weir_tensor_fini(&t);
  }
}

static void bad_transposes_are_refused(void **state)
{
  weir_tensor t, view;

  assert_ok(weir_tensor_init(&t, WEIR_I32, 2, (int64_t[]){3, 4}));
  assert_ok(weir_tensor_transpose(&t, (int[]){1, 0}, &view));
  assert_false(weir_tensor_is_contiguous(&view));
  assert_int_equal(weir_tensor_transpose(&t, (int[]){0, 0}, &view), WEIR_ERR_SHAPE);
  assert_int_equal(weir_tensor_transpose(&t, (int[]){0, 2}, &view), WEIR_ERR_SHAPE);
  weir_tensor_fini(&t);
}

/* A random view of a larger tensor: sliced with either sign, transposed. Owned memory in *base. */
static void random_view(weir_tensor *base, weir_tensor *view, weir_dtype dtype, int rank,
                        const int64_t *shape)
{
  int64_t around[WEIR_MAX_RANK] = {0};
  int order[WEIR_MAX_RANK];
  const int turn = rank > 0 ? (int)draw(0, rank - 1) : 0;

  for (int d = 0; d < rank; d++) {
    order[d] = (d + turn) % rank;
  }
  for (int d = 0; d < rank; d++) {
    around[order[d]] = shape[d] * 2 + 1;
  }
  assert_ok(weir_tensor_init(base, dtype, rank, around));
  fill_with_index(base);
  assert_ok(weir_tensor_transpose(base, order, view));
  for (int d = 0; d < rank; d++) {
    const int64_t steps[] = {1, 2, -1, -2};
    const int64_t step = steps[draw(0, 3)];
    const int64_t span = shape[d] * (step > 0 ? step : -step);
    assert_ok(weir_tensor_slice(view, d, 1, 1 + span, step, view));
    assert_int_equal(view->shape[d], shape[d]);
  }
}

static bool differ(weir_c128 a, weir_c128 b)
{
  return a.re != b.re || a.im != b.im;
}

/* Number of an element of the view in the array that it is a view of. */
static int64_t offset_of(const weir_tensor *base, const weir_tensor *view, const int64_t *index)
{
  int64_t at = ((char *)view->data - (char *)base->data) / (int64_t)weir_dtype_size(base->dtype);

  for (int d = 0; d < view->rank; d++) {
    at += index[d] * view->stride[d];
  }
  return at;
}

/* An element of the view as the dtype holds it. */
static weir_c128 converted(const weir_tensor *view, const int64_t *index, weir_dtype to)
{
  const weir_tensor whole = {.data = view->data, .dtype = view->dtype};
  const int64_t at = offset_of(&whole, view, index);
  const weir_c128 z = weir_dtype_load_complex(view->dtype, view->data, at);
  weir_c128 cell = {0, 0};

  if (weir_dtype_is_complex(to)) {
    weir_dtype_store_complex(to, &cell, 0, z);
  } else {
    weir_dtype_store_real(to, &cell, 0, z.re);
  }
  return weir_dtype_load_complex(to, &cell, 0);
}

static void copies_convert_between_any_views(void **state)
{
  for (int trial = 0; trial < 2000; trial++) {
    const weir_dtype from_type = (weir_dtype)(trial % WEIR_DTYPE_COUNT);
    const weir_dtype to_type = (weir_dtype)(trial / WEIR_DTYPE_COUNT % WEIR_DTYPE_COUNT);
    weir_tensor from_base, to_base, from, to;
    int64_t shape[WEIR_MAX_RANK] = {0}, index[WEIR_MAX_RANK] = {0};
    const int rank = (int)draw(0, 4);
    for (int d = 0; d < rank; d++) {
      shape[d] = draw(d == 0 && trial % 7 == 0 ? 0 : 1, 4);
    }
    random_view(&from_base, &from, from_type, rank, shape);
    random_view(&to_base, &to, to_type, rank, shape);
    int64_t outside = 0, changed = 0; /* the copy must not write around the view */
    weir_c128 *before;
    const int64_t n = weir_tensor_numel(&to_base);
    assert_ok(weir_alloc(n, sizeof *before, (void **)&before));
    for (int64_t i = 0; i < n; i++) {
      before[i] = weir_dtype_load_complex(to_type, to_base.data, i);
    }
    const bool loses = weir_dtype_is_complex(from_type) && !weir_dtype_is_complex(to_type);
    assert_int_equal(weir_tensor_copy(&from, &to), loses ? WEIR_ERR_SHAPE : WEIR_OK);
    for (int64_t i = 0; i < n; i++) {
      outside += differ(before[i], weir_dtype_load_complex(to_type, to_base.data, i));
    }
    if (weir_tensor_numel(&to) > 0 && !loses) {
      do {
        const int64_t at = offset_of(&to_base, &to, index);
        const weir_c128 has = weir_dtype_load_complex(to_type, to_base.data, at);

        assert_false(differ(has, converted(&from, index, to_type)));
        changed += differ(before[at], has);
      } while (next(&to, index));
    }
    assert_int_equal(outside, changed);
    weir_free(&before);
    weir_tensor_fini(&from_base);
    weir_tensor_fini(&to_base);
  }
}

static void copies_keep_what_a_double_cannot_hold(void **state)
{
  int64_t from_data[] = {INT64_MAX, INT64_MIN, 9007199254740993, -1}, to_data[4];
  const float specials[] = {NAN, INFINITY, -0.0f, 1e-45f};
  float floats[4];
  weir_tensor from = weir_tensor_wrap(from_data, WEIR_I64, 1, (int64_t[]){4});
  weir_tensor to = weir_tensor_wrap(to_data, WEIR_I64, 1, (int64_t[]){4});

  assert_ok(weir_tensor_slice(&from, 0, 0, 4, -1, &from));
  assert_ok(weir_tensor_copy(&from, &to));
  for (int i = 0; i < 4; i++) {
    assert_true(to_data[i] == from_data[3 - i]);
  }
  memcpy(floats, specials, sizeof floats);
  from = weir_tensor_wrap(floats, WEIR_F32, 1, (int64_t[]){4});
  assert_ok(weir_tensor_slice(&from, 0, 0, 4, 1, &to));
  assert_ok(weir_tensor_copy(&from, &to));
  assert_memory_equal(floats, specials, sizeof floats);
}

static void copies_repeat_what_has_stride_0(void **state)
{
  const double row[] = {1, 2, 3};
  float to_data[12], column[4];
  weir_tensor from = {(void *)row, WEIR_F64, 2, {4, 3}, {0, 1}, NULL};
  weir_tensor to = weir_tensor_wrap(to_data, WEIR_F32, 2, from.shape);

  assert_false(weir_tensor_is_contiguous(&from));
  assert_ok(weir_tensor_copy(&from, &to));
  for (int i = 0; i < 12; i++) {
    assert_true(to_data[i] == (float)row[i % 3]);
  }
  from = (weir_tensor){(void *)&row[1], WEIR_F64, 1, {4}, {0}, NULL}; /* along the last dimension */
  to = weir_tensor_wrap(column, WEIR_F32, 1, from.shape);
  assert_ok(weir_tensor_copy(&from, &to));
  for (int i = 0; i < 4; i++) {
    assert_true(column[i] == 2);
  }
}

static void copies_of_other_shapes_are_refused(void **state)
{
  float data[12] = {0};
  const weir_tensor a = weir_tensor_wrap(data, WEIR_F32, 2, (int64_t[]){3, 4});
  weir_tensor b = weir_tensor_wrap(data, WEIR_F32, 2, (int64_t[]){4, 3});
  weir_tensor c = weir_tensor_wrap(data, WEIR_F32, 1, (int64_t[]){12});

  assert_int_equal(weir_tensor_copy(&a, &b), WEIR_ERR_SHAPE);
  assert_int_equal(weir_tensor_copy(&a, &c), WEIR_ERR_SHAPE);
}

static weir_status make_tensor(void *context)
{
  weir_tensor t;

  WEIR_TRY(weir_tensor_init(&t, WEIR_F32, 2, (int64_t[]){30, 20}));
  weir_tensor_fini(&t);
  return WEIR_OK;
}

static void faults_are_reported(void **state)
{
  assert_int_equal(weir_check_faults(make_tensor, NULL), 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(new_tensor_is_zero_and_contiguous),
      cmocka_unit_test(rank_zero_and_empty_are_tensors),
      cmocka_unit_test(impossible_shapes_are_refused),
      cmocka_unit_test(slices_pick_the_elements_they_name),
      cmocka_unit_test(bad_slices_are_refused),
      cmocka_unit_test(transposes_permute_indices),
      cmocka_unit_test(bad_transposes_are_refused),
      cmocka_unit_test(copies_convert_between_any_views),
      cmocka_unit_test(copies_keep_what_a_double_cannot_hold),
      cmocka_unit_test(copies_repeat_what_has_stride_0),
      cmocka_unit_test(copies_of_other_shapes_are_refused),
      cmocka_unit_test(faults_are_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
