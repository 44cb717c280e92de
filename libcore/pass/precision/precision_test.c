/* precision_test.c - what becomes bf16 and what must not, by a kernel that only says what it takes.
 */
#include <math.h>

#include "base/weir_check.h"
#include "ops/conv/conv_form.h"
#include "ops/conv/weir_conv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/pool/weir_pool.h"
#include "ops/reduce/weir_reduce.h"
#include "pass/weir_pass.h"

extern const weir_pass weir_pass_precision;

/* Takes convolutions, twice as fast in bf16; those with SLOW channels in, in f32 alone. */
enum { SLOW = 3, CHANNELS = 8, SIDE = 6 };

static double match(const weir_graph *g, const weir_group *group)
{
  conv_form f;

  if (!conv_form_of_group(g, group, &f)) {
    return -1;
  }
  if (conv_form_is(&f, WEIR_F32)) {
    return 1;
  }
  return f.in == SLOW ? -1 : 0.5;
}

static const weir_kernel kernel = {.name = "pretended", .device = "cpu", .match = match};
static const weir_kernel *const kernels[] = {&kernel, NULL};

/* Takes sums that make MID channels, of weights in f32 alone: with x in bf16 or, `strict`, in f32
 * alone, too. The result may be of bf16. */
enum { MID = 5 };

static double match_sum(const weir_graph *g, const weir_group *group, bool strict)
{
  const weir_access *a = &weir_graph_node(g, group->nodes[0])->access;

  if (a->n_in != 2 || a->combine != WEIR_COMBINE_SUM ||
      a->out[0].extent[a->out[0].rank - 1] != MID) {
    return match(g, group);
  }
  return a->in[1].dtype != WEIR_F32 || (strict && a->in[0].dtype != WEIR_F32) ? -1 : 1;
}

static double match_mixed(const weir_graph *g, const weir_group *group)
{
  return match_sum(g, group, false);
}

static double match_strict(const weir_graph *g, const weir_group *group)
{
  return match_sum(g, group, true);
}

static const weir_kernel mixed = {.name = "mixed", .device = "cpu", .match = match_mixed};
static const weir_kernel strict = {.name = "strict", .device = "cpu", .match = match_strict};

static weir_dtype dtype_of(const weir_graph *g, weir_value v)
{
  return weir_value_desc(g, v)->dtype;
}

static weir_graph *new_graph(void)
{
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  return g;
}

static void run(weir_graph *g, weir_precision precision, const weir_kernel *const *table)
{
  const weir_pass_opts opts = {.precision = precision, .kernels = table};

  assert_ok(weir_graph_status(g));
  assert_ok(weir_pass_precision.run(g, &opts));
  assert_ok(weir_graph_validate(g));
}

static weir_value image(weir_graph *g, const char *name, int64_t channels)
{
  const weir_array_desc d = {
      .dtype = WEIR_F32, .rank = 5, .shape = {1, SIDE, SIDE, SIDE, channels}};

  return weir_input(g, name, &d);
}

static weir_value convolved_to(weir_graph *g, weir_value x, const char *weights, int64_t made)
{
  const int64_t channels = weir_value_desc(g, x)->shape[4];
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 5, .shape = {3, 3, 3, channels, made}};
  const weir_conv_spec s = {.pad_before = {1, 1, 1}, .pad_after = {1, 1, 1}};

  return weir_conv(g, &s, x, weir_input(g, weights, &d));
}

static weir_value convolved(weir_graph *g, weir_value x, const char *weights)
{
  return convolved_to(g, x, weights, CHANNELS);
}

/* conv, relu, maximum, conv: what lies between is moved to the second one. */
static void what_products_read_is_kept_in_bf16(void **state)
{
  const weir_pool_spec two = {.kernel_size = {2, 2, 2}};
  weir_graph *g = new_graph();
  const weir_value x = image(g, "x", CHANNELS), y = convolved(g, x, "v");
  const weir_value r = weir_max_scalar(g, y, 0), p = weir_pool_max(g, &two, r);
  const weir_value z = convolved(g, p, "w");

  weir_output(g, "z", z);
  run(g, WEIR_PRECISION_BF16, kernels);
  assert_int_equal(dtype_of(g, x), WEIR_F32);  /* an input, of which a copy is made */
  assert_int_equal(dtype_of(g, y), WEIR_BF16); /* leads to a product */
  assert_int_equal(dtype_of(g, r), WEIR_BF16);
  assert_int_equal(dtype_of(g, p), WEIR_BF16);
  assert_int_equal(dtype_of(g, z), WEIR_F32);
  const weir_access *a = &weir_graph_node(g, y.node)->access;

  assert_int_equal(a->in[0].dtype, WEIR_BF16);
  assert_int_equal(a->in[1].dtype, WEIR_BF16);
  assert_int_equal(a->accumulator, WEIR_F32);
  weir_graph_destroy(&g);
}

/* As in the gradient of an activation: numbers of bf16 or zeros are, scaled ones are not. */
static void what_is_chosen_among_numbers_of_bf16_is_kept_in_it(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x = image(g, "x", CHANNELS), y = convolved(g, x, "v");
  const weir_value t = image(g, "t", CHANNELS), below = weir_lt_scalar(g, t, 0);
  const weir_value turned = weir_neg(g, y), chosen = weir_select(g, below, turned, y);
  const weir_value zeros = weir_max_scalar(g, y, 0), tenths = weir_max_scalar(g, y, 0.1);
  const weir_value scaled = weir_select(g, below, weir_scale(g, y, 0.3), y);
  const weir_value sum = weir_add(g, weir_add(g, zeros, tenths), weir_add(g, chosen, scaled));
  const weir_value z = convolved(g, weir_mul(g, sum, t), "w");

  weir_output(g, "z", z);
  run(g, WEIR_PRECISION_BF16, kernels);
  assert_int_equal(dtype_of(g, y), WEIR_BF16);
  assert_int_equal(dtype_of(g, chosen), WEIR_BF16);
  assert_int_equal(dtype_of(g, zeros), WEIR_BF16);
  assert_int_equal(dtype_of(g, tenths), WEIR_F32);
  assert_int_equal(dtype_of(g, scaled), WEIR_F32);
  assert_int_equal(dtype_of(g, sum), WEIR_F32);
  weir_graph_destroy(&g);
}

static void nothing_changes_where_nothing_is_gained(void **state)
{
  for (int way = 0; way < 3; way++) {
    weir_graph *g = new_graph();
    const weir_value x = image(g, "x", way == 2 ? SLOW : CHANNELS);
    const weir_value r = weir_max_scalar(g, x, 0), y = convolved(g, r, "w");

    weir_output(g, "y", y);
    const int32_t n = weir_graph_nodes(g);

    run(g, way == 0 ? WEIR_PRECISION_F32 : WEIR_PRECISION_BF16, way == 1 ? NULL : kernels);
    assert_int_equal(weir_graph_nodes(g), n);
    assert_int_equal(dtype_of(g, r), WEIR_F32);
    weir_graph_destroy(&g);
  }
}

/* A result, and what a kernel reads in f32 alone, stay; so does what a loss is a sum of. */
static void what_others_need_stays_f32(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x = image(g, "x", SLOW), t = image(g, "t", CHANNELS);
  const weir_value r = weir_max_scalar(g, x, 0), y = convolved(g, r, "v");
  const weir_value shown = weir_max_scalar(g, y, 0), z = convolved(g, shown, "w");
  const weir_value off = weir_sub(g, z, t), loss = weir_sum(g, weir_square(g, off), -1);

  weir_output(g, "shown", shown);
  weir_output(g, "loss", loss);
  run(g, WEIR_PRECISION_BF16, kernels);
  assert_int_equal(dtype_of(g, r), WEIR_F32);
  assert_int_equal(dtype_of(g, y), WEIR_F32);
  assert_int_equal(dtype_of(g, shown), WEIR_F32);
  assert_int_equal(dtype_of(g, off), WEIR_F32);
  assert_int_equal(dtype_of(g, loss), WEIR_F32);
  assert_int_equal(weir_graph_node(g, y.node)->access.in[0].dtype, WEIR_F32);
  assert_int_equal(weir_graph_node(g, z.node)->access.in[0].dtype, WEIR_BF16);
  weir_graph_destroy(&g);
}

/* Two sums follow a product and lead to another, as interpolations do: both are rounded, and what
 * the first reads, where their kernel takes it. */
static void sums_between_products_are_rounded(void **state)
{
  const weir_kernel *const both[][2] = {{&mixed, NULL}, {&strict, NULL}};

  for (int way = 0; way < 2; way++) {
    weir_graph *g = new_graph();
    const weir_value y = convolved(g, image(g, "x", CHANNELS), "v");
    const weir_value first = convolved_to(g, y, "p", MID),
                     second = convolved_to(g, first, "q", MID);
    const weir_value z = convolved(g, second, "w");

    weir_output(g, "z", z);
    run(g, WEIR_PRECISION_BF16, both[way]);
    assert_int_equal(dtype_of(g, y), way == 0 ? WEIR_BF16 : WEIR_F32);
    assert_int_equal(dtype_of(g, first), way == 0 ? WEIR_BF16 : WEIR_F32);
    assert_int_equal(dtype_of(g, second), WEIR_BF16);
    assert_int_equal(weir_graph_node(g, second.node)->access.in[1].dtype, WEIR_F32);
    assert_int_equal(dtype_of(g, z), WEIR_F32);
    weir_graph_destroy(&g);
  }
}

/* A fill that bf16 does not hold would be another number. */
static void borders_keep_their_value(void **state)
{
  static const double fills[] = {0.5, 0.1, (double)NAN, (double)-INFINITY};

  for (int i = 0; i < 4; i++) {
    weir_graph *g = new_graph();
    const weir_value r = weir_max_scalar(g, image(g, "x", CHANNELS), 0);
    const weir_value y = convolved(g, r, "w"), s = weir_exp(g, r);

    weir_index *x = &weir_graph_node_mut(g, s.node)->access.in[0].index[1];
    x->border = WEIR_BORDER_VALUE;
    x->fill = fills[i];
    weir_output(g, "y", y);
    weir_output(g, "s", s);
    run(g, WEIR_PRECISION_BF16, kernels);
    assert_int_equal(dtype_of(g, r), i == 1 ? WEIR_F32 : WEIR_BF16);
    weir_graph_destroy(&g);
  }
}

static weir_status make(void *context)
{
  weir_graph *g = NULL;
  const weir_pass_opts opts = {.precision = WEIR_PRECISION_BF16, .kernels = kernels};

  WEIR_TRY(weir_graph_copy(context, &g));
  const weir_status status = weir_pass_precision.run(g, &opts);

  weir_graph_destroy(&g);
  return status;
}

static void every_failed_allocation_is_reported(void **state)
{
  weir_graph *g = new_graph();

  weir_output(g, "y",
              convolved(g, weir_max_scalar(g, convolved(g, image(g, "x", CHANNELS), "v"), 0), "w"));
  assert_true(weir_check_faults(make, g) > 0);
  weir_graph_destroy(&g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_products_read_is_kept_in_bf16),
      cmocka_unit_test(what_is_chosen_among_numbers_of_bf16_is_kept_in_it),
      cmocka_unit_test(nothing_changes_where_nothing_is_gained),
      cmocka_unit_test(what_others_need_stays_f32),
      cmocka_unit_test(sums_between_products_are_rounded),
      cmocka_unit_test(borders_keep_their_value),
      cmocka_unit_test(every_failed_allocation_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
