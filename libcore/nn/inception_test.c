/* inception_test.c - the count of the published network for the standard deviation, shapes,
 * refusals. */
#include "nn/weir_inception.h"
#include <string.h>
#include "base/weir_check.h"

/* Declares the network and returns the elements of its parameters, or -1 and the status. */
static int64_t declare(const weir_inception_opts *opts, weir_array_desc in, int64_t outputs,
                       weir_status *status)
{
  weir_params *params;
  weir_graph *g;
  weir_net net;

  assert_ok(weir_params_create(WEIR_F32, &params));
  assert_ok(weir_graph_create(&g));
  weir_net_init(&net, g, params, true);
  const weir_value y = weir_inception(&net, opts, outputs, weir_input(g, "x", &in));

  *status = weir_graph_status(g);
  if (*status == WEIR_OK) {
    const weir_array_desc *out = weir_value_desc(g, y);

    assert_int_equal(out->rank, in.rank);
    assert_memory_equal(out->shape, in.shape, (size_t)(in.rank - 1) * sizeof(int64_t));
    assert_int_equal(out->shape[out->rank - 1], outputs);
  }
  const int64_t elements = *status == WEIR_OK ? weir_params_elements(params) : -1;

  weir_net_fini(&net);
  weir_graph_destroy(&g);
  weir_params_destroy(&params);
  return elements;
}

static weir_inception_opts usual(int preset)
{
  weir_inception_opts o;

  weir_opts_default(weir_inception_options, sizeof o, &o);
  o.preset = preset;
  return o;
}

/* 42 channels of 361 x 720, here smaller: 7.40 million, counted from the released code. */
static void the_spread_net_has_its_count(void **state)
{
  const weir_inception_opts o = usual(WEIR_INCEPTION_PAPER);
  weir_status status;

  assert_int_equal(declare(&o, (weir_array_desc){WEIR_F32, 4, {1, 8, 16, 42}, 0}, 1, &status),
                   7398490);
}

static void other_shapes_are_taken(void **state)
{
  static const int64_t shape[] = {3, 5, 7};
  weir_status status;

  for (int dims = 1; dims <= 3; dims++) {
    weir_inception_opts o = usual(WEIR_INCEPTION_TINY);
    weir_array_desc in = {.dtype = WEIR_F32, .rank = dims + 2, .shape = {2}};

    memcpy(in.shape + 1, shape, (size_t)dims * sizeof *shape);
    in.shape[dims + 1] = 6;
    o.control = 3 - dims;
    o.paths = dims;
    o.carry = dims - 2;
    o.block.norm = dims;
    o.border.x = dims;
    assert_true(declare(&o, in, dims, &status) > 0);
    assert_ok(status);
  }
}

static void wrong_inputs_are_refused(void **state)
{
  weir_inception_opts o = usual(WEIR_INCEPTION_TINY);
  weir_status status;

  assert_int_equal(declare(&o, (weir_array_desc){WEIR_F32, 4, {1, 8, 16, 21}, 0}, 1, &status), -1);
  assert_int_equal(status, WEIR_ERR_SHAPE);
  assert_non_null(strstr(weir_last_message(), "besides those of the control run"));
  assert_int_equal(declare(&o, (weir_array_desc){WEIR_F32, 2, {8, 42}, 0}, 1, &status), -1);
  assert_int_equal(status, WEIR_ERR_SHAPE);
  o.carry = 42;
  assert_int_equal(declare(&o, (weir_array_desc){WEIR_F32, 4, {1, 8, 16, 42}, 0}, 1, &status), -1);
}

static void options_are_complete(void **state)
{
  assert_int_equal(weir_opts_incomplete(weir_inception_options), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_spread_net_has_its_count),
      cmocka_unit_test(other_shapes_are_taken),
      cmocka_unit_test(wrong_inputs_are_refused),
      cmocka_unit_test(options_are_complete),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
