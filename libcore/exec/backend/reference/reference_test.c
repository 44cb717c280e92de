/* reference_test.c - the oracle against results by hand, and the counting interpreter against
 * enumeration. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "support/exec/count_check.h"
#include "exec/weir_engine.h"

static void identity(weir_operand *x, weir_dtype dtype, int64_t extent, weir_border border)
{
  *x = (weir_operand){.dtype = dtype, .rank = 1, .extent = {extent}};
  x->index[0].coef[0] = 1;
  x->index[0].border = border;
}

static weir_view view_of(void *data, weir_dtype dtype, int64_t n)
{
  return (weir_view){.data = data, .dtype = dtype, .rank = 1, .stride = {1}, .extent = {n}};
}

static void run_loop(const weir_loop *loop, const weir_view *in, const weir_view *out,
                     weir_state_table *cells)
{
  const weir_engine_opts opts = {.compiler = "", .cache_dir = "", .threads = 1};
  const weir_loop_run run = {weir_iterations(&loop->access), in, out, cells, 0};
  void *context;

  assert_ok(weir_access_check(&loop->access));
  assert_ok(weir_engine_reference.prepare(&loop, 1, &opts, &context));
  weir_engine_reference.run(context, &run);
  weir_engine_reference.release(context);
}

static weir_loop loop_over(int64_t n, weir_dim_kind kind, weir_dtype in, weir_dtype out)
{
  weir_loop l;

  memset(&l, 0, sizeof l);
  weir_access_init(&l.access);
  assert_ok(weir_access_resize(&l.access, 1, 1, 0));
  l.access.n_dims = l.access.n_values = 1;
  l.access.dim[0] = (weir_dim){kind, 0, n, false};
  identity(&l.access.in[0], in, n, WEIR_BORDER_NEVER);
  identity(&l.access.out[0], out, n, WEIR_BORDER_NEVER);
  return l;
}

static void borders_by_hand(void **state)
{
  const float expected[][6] = {
      [WEIR_BORDER_ZERO] = {0, 0, 1, 2, 3, 0},    [WEIR_BORDER_VALUE] = {7, 7, 1, 2, 3, 7},
      [WEIR_BORDER_WRAP] = {2, 3, 1, 2, 3, 1},    [WEIR_BORDER_REPLICATE] = {1, 1, 1, 2, 3, 3},
      [WEIR_BORDER_REFLECT] = {3, 2, 1, 2, 3, 2}, [WEIR_BORDER_ABSENT] = {0, 0, 1, 2, 3, 0}};

  for (int border = WEIR_BORDER_ABSENT; border <= WEIR_BORDER_REFLECT; border++) {
    weir_loop l = loop_over(6, WEIR_PARALLEL, WEIR_F32, WEIR_F32);
    float x[3] = {1, 2, 3}, y[6];
    const weir_view in = view_of(x, WEIR_F32, 3), out = view_of(y, WEIR_F32, 6);

    identity(&l.access.in[0], WEIR_F32, 3, (weir_border)border);
    l.access.in[0].index[0].offset = -2;
    l.access.in[0].index[0].fill = 7;
    l.access.value[0] = weir_body_load(&l.access.body, 0, WEIR_F32);
    run_loop(&l, &in, &out, NULL);
    assert_memory_equal(y, expected[border], sizeof y);
    weir_access_fini(&l.access);
  }
}

static void backward_scan_by_hand(void **state)
{
  weir_loop l = loop_over(5, WEIR_BACKWARD, WEIR_I16, WEIR_F64);
  int16_t x[5] = {1, 2, 3, 4, 5};
  double y[5];
  uint64_t cell;
  const double initial = 100;
  weir_state_table cells = {&cell, 1};
  const weir_view in = view_of(x, WEIR_I16, 5), out = view_of(y, WEIR_F64, 5);
  weir_body *b = &l.access.body;

  assert_ok(weir_access_resize(&l.access, 1, 1, 1));
  l.access.state[0] = (weir_state){.dtype = WEIR_F64, .initial = initial};
  const int32_t load = weir_body_cast(b, WEIR_F64, weir_body_load(b, 0, WEIR_I16));
  const int32_t sum = weir_body_binary(b, WEIR_CODE_ADD, weir_body_state(b, 0, WEIR_F64), load);
  l.access.state[0].next = l.access.value[0] = sum;
  memcpy(&cell, &initial, sizeof cell);
  run_loop(&l, &in, &out, &cells);
  assert_true(y[4] == 105 && y[3] == 109 && y[0] == 115);
  memcpy(&y[0], &cell, sizeof cell);
  assert_true(y[0] == 115);
  weir_access_fini(&l.access);
}

static void moments_by_hand(void **state)
{
  weir_loop l = loop_over(4, WEIR_REDUCED, WEIR_F32, WEIR_F64);
  float x[4] = {1, NAN, 3, 8};
  double y[3];
  weir_view out[3];
  const weir_view in = view_of(x, WEIR_F32, 4);
  weir_access *a = &l.access;

  assert_ok(weir_access_resize(a, 1, 3, 0));
  a->n_values = 2;
  a->combine = WEIR_COMBINE_MOMENTS;
  a->accumulator = WEIR_F64;
  for (int k = 0; k < 3; k++) {
    a->out[k] = (weir_operand){.dtype = WEIR_F64};
    out[k] = (weir_view){.data = &y[k], .dtype = WEIR_F64};
  }
  a->value[0] = weir_body_load(&a->body, 0, WEIR_F32);
  a->value[1] = weir_body_unary(&a->body, WEIR_CODE_NOT,
                                weir_body_unary(&a->body, WEIR_CODE_ISNAN, a->value[0]));
  run_loop(&l, &in, out, NULL);
  assert_true(y[0] == 3);
  assert_near(y[1], 4, 1e-15);
  assert_near(y[2], 26, 1e-14);
  weir_access_fini(a);
}

static void count_marks_each_element_once(void **state)
{
  uint8_t marks[20];

  for (int64_t coef = -2; coef <= 2; coef++) {
    for (int border = WEIR_BORDER_ABSENT; border <= WEIR_BORDER_REFLECT; border++) {
      for (int64_t offset = -9; offset <= 9; offset += 3) {
        weir_loop l = loop_over(7, WEIR_PARALLEL, WEIR_F32, WEIR_F32);
        int64_t expected = 0;
        identity(&l.access.in[0], WEIR_F32, 20, (weir_border)border);
        l.access.in[0].index[0].coef[0] = coef;
        l.access.in[0].index[0].offset = offset;
        const weir_box box = weir_iterations(&l.access);
        for (int64_t e = 0; e < 20; e++) {
          bool touched = false;
          for (int64_t i = 0; i < 7; i++) {
            bool inside;
            const int64_t at =
                weir_index_border(&l.access.in[0].index[0], coef * i + offset, 20, &inside);
            touched = touched || (inside && at == e);
          }
          expected += touched;
        }
        memset(marks, 0, sizeof marks);
        assert_int_equal(count_touched(&l.access, 0, &box, NULL, marks), expected);
        assert_int_equal(count_touched(&l.access, 0, &box, NULL, marks), 0);
        weir_access_fini(&l.access);
      }
    }
  }
}

static void what_has_no_order_is_refused(void **state)
{
  weir_loop l = loop_over(4, WEIR_REDUCED, WEIR_F32, WEIR_F32);
  const weir_loop *loop = &l;
  const weir_engine_opts opts = {.compiler = "", .cache_dir = "", .threads = 1};
  void *context = &l;

  l.access.n_dims = 2;
  l.access.dim[1] = (weir_dim){WEIR_FORWARD, 0, 3, false};
  assert_int_equal(weir_engine_reference.prepare(&loop, 1, &opts, &context), WEIR_ERR_SHAPE);
  assert_null(context);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(borders_by_hand),
      cmocka_unit_test(backward_scan_by_hand),
      cmocka_unit_test(moments_by_hand),
      cmocka_unit_test(count_marks_each_element_once),
      cmocka_unit_test(what_has_no_order_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
