/* backend_spread_test.c - how many iterations the threads of a map have. */
#include "base/weir_check.h"
#include "exec/backend/device/backend.h"

/* y[r, c] = x[r, c] + b, where b depends on the dimensions that are set in `bias`. */
static void make_map(int64_t rows, int64_t columns, unsigned bias, weir_dtype dtype, weir_access *a)
{
  weir_access_init(a);
  assert_ok(weir_access_resize(a, 2, 1, 0));
  a->n_dims = 2;
  a->dim[0] = (weir_dim){.kind = WEIR_PARALLEL, .hi = rows};
  a->dim[1] = (weir_dim){.kind = WEIR_PARALLEL, .hi = columns};
  a->out[0] = (weir_operand){.dtype = dtype, .rank = 2, .extent = {rows, columns}};
  a->out[0].index[0].coef[0] = a->out[0].index[1].coef[1] = 1;
  a->in[0] = a->in[1] = a->out[0];
  for (int d = 0; d < 2; d++) {
    if ((bias >> d & 1) == 0) {
      a->in[1].index[d].coef[d] = 0;
      a->in[1].extent[d] = 1;
    }
  }
  a->n_values = 1;
  a->value[0] = weir_body_binary(&a->body, WEIR_CODE_ADD, weir_body_load(&a->body, 0, dtype),
                                 weir_body_load(&a->body, 1, dtype));
}

static exec_layout spread(const weir_access *a, int64_t enough)
{
  exec_layout l;
  native_form form;

  assert_ok(native_form_of(a, &form));
  assert_ok(exec_layout_of(&form, false, &l));
  l.dense = true;
  exec_layout_spread(&form, enough, &l);
  assert_int_equal(exec_mapping_workers(&l.parallel) * exec_mapping_repeats(&l.parallel),
                   exec_extent(a, 0) * exec_extent(a, 1));
  assert_int_equal(l.blocks, (exec_mapping_workers(&l.parallel) + l.threads - 1) / l.threads);
  for (int d = 0; d < 2; d++) {
    assert_int_equal(exec_mapping_shape(&l.parallel, d), exec_extent(a, d));
  }
  return l;
}

static void check(int64_t rows, int64_t columns, unsigned bias, weir_dtype dtype, int64_t enough,
                  int wide, int64_t repeats)
{
  weir_access a;

  make_map(rows, columns, bias, dtype, &a);
  const exec_layout l = spread(&a, enough);

  assert_int_equal(l.wide, wide);
  assert_int_equal(exec_mapping_repeats(&l.parallel), repeats);
  weir_access_fini(&a);
}

static void the_fewest_accesses_are_chosen(void **state)
{
  enum { BOTH = 3, ROW = 1, COLUMN = 2, ENOUGH = 512 };

  (void)state;
  check(4096, 4096, BOTH, WEIR_F32, ENOUGH, 4, 4); /* 16 bytes */
  check(4096, 4096, BOTH, WEIR_F64, ENOUGH, 2, 2);
  check(4096, 4096, BOTH, WEIR_BF16, ENOUGH, 8, 8);
  check(4096, 4098, BOTH, WEIR_F32, ENOUGH, 2, 2); /* what divides the last extent */
  check(4096, 4095, BOTH, WEIR_F32, ENOUGH, 1, 1);
  check(4096, 4096, COLUMN, WEIR_F32, ENOUGH, 4, 16); /* rows share their b */
  check(4096, 4096, ROW, WEIR_F32, ENOUGH, 8, 8);     /* elements do */
  check(4098, 4096, COLUMN, WEIR_F32, ENOUGH, 4, 8);
  check(4095, 4096, COLUMN, WEIR_F32, ENOUGH, 4, 4);
  check(1, 4096 * 64, BOTH, WEIR_F32, ENOUGH, 4, 4); /* 512 blocks are left */
  check(1, 4096 * 63, BOTH, WEIR_F32, ENOUGH, 2, 2);
  check(1, 4096, BOTH, WEIR_F32, ENOUGH, 1, 1);
  check(1, 4096, BOTH, WEIR_F32, 1, 4, 4);
  check(1, 1, BOTH, WEIR_F32, 1, 1, 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_fewest_accesses_are_chosen)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
