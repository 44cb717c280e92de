/* conv_form_limits_test.c - what is read of bodies, borders and extents of a convolution, and which
 * nodes are none. */
#include "support/ops/conv_form_check.h"
#include "ops/conv/conv_form.h"

#include <string.h>

#include "ops/conv/weir_conv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "support/ops/ops_check.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"
#include "ops/slice/weir_slice.h"

static void extents_and_steps_are_told(void **state)
{
  const weir_array_desc x = {.dtype = WEIR_F32, .rank = 5, .shape = {2, 9, 8, 12, 6}};
  const weir_array_desc w = {.dtype = WEIR_F32, .rank = 5, .shape = {3, 2, 3, 3, 10}};
  const weir_conv_spec spec = {.stride = {2, 1, 3},
                               .dilation = {2, 1, 1},
                               .pad_before = {1, 0, 2},
                               .pad_after = {2, 1, 0},
                               .border = {WEIR_BORDER_ZERO, WEIR_BORDER_ZERO, WEIR_BORDER_WRAP},
                               .groups = 2};
  subject s;

  make_subject(&s, &x, &w, &spec);
  const weir_value nodes[] = {s.y, s.gx, s.gw};

  for (int k = 0; k < 3; k++) {
    conv_form f;

    assert_true(reads_node(weir_graph_node(s.g, nodes[k].node), &f));
    assert_int_equal(f.kind, k);
    assert_int_equal(f.d, 3);
    assert_true(f.n == 2 && f.groups == 2 && f.in == 3 && f.out == 5);
    assert_true(f.stride[0] == 2 && f.stride[1] == 1 && f.stride[2] == 3);
    assert_true(f.dilation[0] == 2 && f.dilation[1] == 1);
    assert_true(f.kernel_size[0] == 3 && f.kernel_size[1] == 2 && f.kernel_size[2] == 3);
    assert_true(f.lo[0] == 1 && f.lo[1] == 0 && f.lo[2] == 2);
    assert_true(f.hi[0] == 1 && f.hi[1] == 1 && f.hi[2] == -2); /* 4 outputs reach 11 of 12 + 2 */
    assert_true(f.border[0] == WEIR_BORDER_ABSENT && f.border[2] == WEIR_BORDER_WRAP);
    assert_near(conv_form_flops(&f), 2.0 * 2 * 4 * 8 * 4 * 18 * 3 * 5 * 2, 1e-9);
  }
  weir_graph_destroy(&s.g);
}

/* What a gradient by x is where a tap is alone, and so what kernels take first. */
static void the_gradient_of_one_tap_is_a_convolution(void **state)
{
  const weir_array_desc x = {.dtype = WEIR_F32, .rank = 4, .shape = {2, 9, 8, 6}};
  const weir_array_desc w = {.dtype = WEIR_F32, .rank = 4, .shape = {1, 1, 6, 10}};
  subject s;
  conv_form f;

  make_subject(&s, &x, &w, &(weir_conv_spec){.groups = 0});
  assert_true(reads_node(weir_graph_node(s.g, s.gx.node), &f));
  assert_true(f.kind == CONV_FORWARD && f.in == 10 && f.out == 6 && f.y == CONV_FORM_OUTPUT);
  weir_graph_destroy(&s.g);
}

/* Weights that are a piece of a bank stay a node of their own, an array like any other. */
static void weights_of_a_bank_are_read(void **state)
{
  const weir_reshape_spec shape = {.rank = 4, .shape = {3, 3, 4, 8}};
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F32, 1, 6, 7, 4), bank = GIVEN(g, "bank", WEIR_F32, 500);
  const weir_conv_spec spec = {.pad_before = {1, 1}, .pad_after = {1, 1}};
  const weir_value w = weir_reshape(g, weir_slice(g, bank, 0, 100, 388, 1), &shape);
  const weir_value y = weir_conv(g, &spec, x, w);
  weir_access a;
  conv_form f;

  assert_ok(weir_graph_status(g));
  assert_true(reads_node(weir_graph_node(g, y.node), &f));
  /* The same with the copies folded into the map. */
  assert_ok(weir_access_copy(access_of(g, y), &a));
  a.in[1].rank = 1;
  a.in[1].extent[0] = 500;
  a.in[1].index[0] = (weir_index){.offset = 100};
  for (int k = 5; k < 8; k++) {
    a.in[1].index[0].coef[k] = k == 5 ? 96 : k == 6 ? 32 : 8;
  }
  a.in[1].index[0].coef[3] = 8; /* the group, of which there is one */
  a.in[1].index[0].coef[4] = 1;
  assert_ok(weir_access_check(&a));
  const weir_derivation derivation = weir_node_derivation(weir_graph_node(g, y.node));

  assert_true(conv_form_of(&a, &derivation, &f));
  const weir_view view = {.rank = 1, .stride = {1}, .extent = {500}};
  const conv_weight_strides p = conv_form_weights(&f, &view);

  assert_true(p.base == 100 && p.tap[0] == 96 && p.tap[1] == 32 && p.in == 8 && p.out == 1);
  weir_access_fini(&a);
  weir_graph_destroy(&g);
}

/* The access, a changed copy of the node's, as what the node says it is. */
static bool reads(const weir_graph *g, weir_value v, const weir_access *a)
{
  const weir_derivation derivation = weir_node_derivation(weir_graph_node(g, v.node));
  conv_form f;

  return conv_form_of(a, &derivation, &f);
}

/* Small changes make a node something else. */
static void what_is_no_convolution_is_refused(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F32, 2, 9, 7, 4), w = GIVEN(g, "w", WEIR_F32, 3, 3, 4, 8);
  const weir_conv_spec spec = {.pad_before = {1, 1}, .pad_after = {1, 1}, .stride = {2}};
  const weir_value y = weir_conv(g, &spec, x, w);
  weir_access a;

  assert_ok(weir_access_copy(access_of(g, y), &a));
  assert_true(reads(g, y, &a));
  a.combine = WEIR_COMBINE_MAX;
  assert_false(reads(g, y, &a));
  a.combine = WEIR_COMBINE_SUM;
  a.in[1].index[0].coef[1] = 1; /* weights that differ from position to position */
  assert_false(reads(g, y, &a));
  a.in[1].index[0].coef[1] = 0;
  a.in[0].index[3].offset = 1; /* other channels */
  assert_false(reads(g, y, &a));
  a.in[0].index[3].offset = 0;
  a.in[0].index[2].coef[1] = 1; /* a skewed window */
  assert_false(reads(g, y, &a));
  a.in[0].index[2].coef[1] = 0;
  a.out[0].index[1].coef[1] = -1; /* written backwards */
  a.out[0].index[1].offset = 4;
  assert_false(reads(g, y, &a));
  a.out[0].index[1].coef[1] = 1;
  a.out[0].index[1].offset = 0;
  a.dim[5].hi = 2; /* not all kernel elements of the array: fewer kernel elements, all the same */
  assert_true(reads(g, y, &a));
  a.body.exprs[a.value[0]].code = WEIR_CODE_ADD;
  assert_false(reads(g, y, &a));
  weir_access_fini(&a);
  weir_graph_destroy(&g);
}

/* The gradient of a strided convolution without the condition on its steps reads others' values. */
static void conditions_are_part_of_the_form(void **state)
{
  const weir_array_desc x = {.dtype = WEIR_F32, .rank = 3, .shape = {2, 9, 4}};
  const weir_array_desc w = {.dtype = WEIR_F32, .rank = 3, .shape = {3, 4, 8}};
  subject s;
  weir_access a;

  make_subject(&s, &x, &w, &(weir_conv_spec){.stride = {2}, .pad_before = {1}, .pad_after = {1}});
  assert_ok(weir_access_copy(access_of(s.g, s.gx), &a));
  assert_true(reads(s.g, s.gx, &a));
  weir_expr *e = &a.body.exprs[a.value[0]];

  assert_int_equal(e->code, WEIR_CODE_SELECT);
  a.value[0] = e->b;
  assert_false(reads(s.g, s.gx, &a));
  weir_access_fini(&a);
  weir_graph_destroy(&s.g);
}

static bool is_commutative(weir_code code)
{
  return code == WEIR_CODE_ADD || code == WEIR_CODE_MUL || code == WEIR_CODE_AND ||
         code == WEIR_CODE_OR || code == WEIR_CODE_EQ;
}

/* Terms, factors and sides are exchanged; a >= b is not a < b; all of it is multiplied with 1. */
static void reword(weir_access *a)
{
  weir_body *b = &a->body;

  for (int32_t i = 0; i < b->n; i++) {
    weir_expr *e = &b->exprs[i];
    const int32_t first = e->a;

    if (is_commutative(e->code)) {
      e->a = e->b;
      e->b = first;
    }
  }
  weir_expr *value = &b->exprs[a->value[0]];

  if (value->code == WEIR_CODE_SELECT) {
    const weir_expr select = *value;
    const int32_t not = weir_body_unary(b, WEIR_CODE_NOT, select.a);

    a->value[0] = weir_body_select(b, not, select.c, select.b);
  }
  a->value[0] = weir_body_binary(b, WEIR_CODE_MUL, weir_body_real(b, WEIR_F32, 1), a->value[0]);
}

/* Every node of the convolution and its gradients, in other words. */
static void check_reworded(weir_border rule)
{
  const weir_array_desc x = {.dtype = WEIR_F32, .rank = 4, .shape = {2, 9, 8, 6}};
  const weir_array_desc w = {.dtype = WEIR_F32, .rank = 4, .shape = {3, 2, 3, 10}};
  const weir_conv_spec spec = {
      .stride = {2, 3}, .pad_before = {1, 1}, .pad_after = {1, 1}, .border = {rule}, .groups = 2};
  subject s;
  int nodes = 0;

  make_subject(&s, &x, &w, &spec);
  for (int32_t i = 0; i < weir_graph_nodes(s.g); i++) {
    const weir_derivation derivation = weir_node_derivation(weir_graph_node(s.g, i));
    conv_form before, after;
    weir_access a;

    if (derivation.of != &weir_op_conv) {
      continue;
    }
    memset(&before, 0, sizeof before);
    memset(&after, 0, sizeof after);
    assert_ok(weir_access_copy(&weir_graph_node(s.g, i)->access, &a));
    assert_true(conv_form_of(&a, &derivation, &before));
    reword(&a);
    assert_ok(weir_access_check(&a));
    assert_true(conv_form_of(&a, &derivation, &after));
    assert_memory_equal(&before, &after, sizeof before);
    weir_access_fini(&a);
    nodes++;
  }
  assert_int_equal(nodes, rule == WEIR_BORDER_REFLECT ? 4 : 3);
  weir_graph_destroy(&s.g);
}

/* Other words for the same do not make it something else. */
static void equivalent_bodies_are_read_alike(void **state)
{
  check_reworded(WEIR_BORDER_ZERO);
  check_reworded(WEIR_BORDER_WRAP);
  check_reworded(WEIR_BORDER_REPLICATE);
  check_reworded(WEIR_BORDER_REFLECT);
}

/* Without the conditions of its border, or with another element as the end, a gradient through a
 * repeated or mirrored end is another sum. */
static void borders_are_part_of_the_form(void **state)
{
  const weir_border borders[] = {WEIR_BORDER_REPLICATE, WEIR_BORDER_REFLECT};
  const weir_array_desc x = {.dtype = WEIR_F32, .rank = 3, .shape = {2, 9, 4}};
  const weir_array_desc w = {.dtype = WEIR_F32, .rank = 3, .shape = {3, 4, 8}};

  for (int b = 0; b < 2; b++) {
    const weir_conv_spec spec = {.pad_before = {1}, .pad_after = {1}, .border = {borders[b]}};
    int conditional = 0;
    subject s;

    make_subject(&s, &x, &w, &spec);
    for (int32_t i = 0; i < weir_graph_nodes(s.g); i++) {
      const weir_value v = {i, 0};
      weir_access a;

      if (weir_node_derivation(weir_graph_node(s.g, i)).made != 0 ||
          weir_graph_node(s.g, i)->derivation.of != &weir_op_conv) {
        continue;
      }
      assert_ok(weir_access_copy(&weir_graph_node(s.g, i)->access, &a));
      assert_true(reads(s.g, v, &a));
      const weir_expr value = a.body.exprs[a.value[0]];

      for (int32_t e = 0; e < a.body.n && value.code == WEIR_CODE_SELECT; e++) {
        weir_expr *last = &a.body.exprs[e];

        if (last->code == WEIR_CODE_CONST && last->dtype == WEIR_I64 && last->integer == 8) {
          last->integer = 7;
          assert_false(reads(s.g, v, &a));
          last->integer = 8;
          conditional++;
        }
      }
      a.value[0] = value.code == WEIR_CODE_SELECT ? value.b : a.value[0];
      assert_true(reads(s.g, v, &a) == (value.code != WEIR_CODE_SELECT));
      weir_access_fini(&a);
    }
    assert_true(conditional > 0);
    weir_graph_destroy(&s.g);
  }
}

/* A condition whose numbers are beyond what lines are reckoned with is not followed. */
static void numbers_beyond_reckoning_are_refused(void **state)
{
  const weir_array_desc x = {.dtype = WEIR_F32, .rank = 3, .shape = {2, 9, 4}};
  const weir_array_desc w = {.dtype = WEIR_F32, .rank = 3, .shape = {3, 4, 8}};
  const int64_t huge[] = {INT64_MIN, INT64_MAX, INT64_C(1) << 40};
  subject s;

  make_subject(&s, &x, &w, &(weir_conv_spec){.stride = {2}, .pad_before = {1}, .pad_after = {1}});
  for (int i = 0; i < 3; i++) {
    for (int32_t k = 0; k < access_of(s.g, s.gx)->body.n; k++) {
      weir_access a;

      assert_ok(weir_access_copy(access_of(s.g, s.gx), &a));
      if (a.body.exprs[k].code == WEIR_CODE_CONST && weir_dtype_is_whole(a.body.exprs[k].dtype)) {
        a.body.exprs[k].integer = huge[i];
        assert_false(reads(s.g, s.gx, &a));
      }
      weir_access_fini(&a);
    }
  }
  weir_graph_destroy(&s.g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(extents_and_steps_are_told),
      cmocka_unit_test(the_gradient_of_one_tap_is_a_convolution),
      cmocka_unit_test(weights_of_a_bank_are_read),
      cmocka_unit_test(what_is_no_convolution_is_refused),
      cmocka_unit_test(conditions_are_part_of_the_form),
      cmocka_unit_test(equivalent_bodies_are_read_alike),
      cmocka_unit_test(borders_are_part_of_the_form),
      cmocka_unit_test(numbers_beyond_reckoning_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
