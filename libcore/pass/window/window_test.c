/* window_test.c - margins in place of borders: the arrays, the numbers, and what must stay. */
#include <math.h>

#include "base/weir_clock.h"
#include "support/exec/draw_product.h"
#include "pass/weir_pass.h"

extern const weir_pass weir_pass_window;

enum { NE = 7, NW = 3, NR = 2 };

static const weir_op_desc op = {.name = "test"};

/* y[e] = sum over w, r of g[e + sign w, r] d[w, r]. */
static weir_value sum(weir_graph *g, weir_value x, weir_value d, int sign, weir_border border)
{
  const weir_value in[] = {x, d};
  weir_access a;

  weir_access_init(&a);
  (void)weir_map_dim(&a, WEIR_PARALLEL, NE);
  (void)weir_map_dim(&a, WEIR_REDUCED, NW);
  (void)weir_map_dim(&a, WEIR_REDUCED, NR);
  assert_ok(weir_access_resize(&a, 2, 1, 0));
  weir_map_operand(&a.in[0], weir_value_desc(g, x));
  a.in[0].index[0].coef[0] = 1;
  a.in[0].index[0].coef[1] = sign;
  a.in[0].index[0].border = border;
  a.in[0].index[1].coef[2] = 1;
  weir_map_operand(&a.in[1], weir_value_desc(g, d));
  a.in[1].index[0].coef[1] = 1;
  a.in[1].index[1].coef[2] = 1;
  weir_map_operand(&a.out[0], &(weir_array_desc){.dtype = WEIR_F64, .rank = 1, .shape = {NE}});
  a.out[0].index[0].coef[0] = 1;
  a.n_values = 1;
  a.value[0] = weir_body_binary(&a.body, WEIR_CODE_MUL, weir_body_load(&a.body, 0, WEIR_F64),
                                weir_body_load(&a.body, 1, WEIR_F64));
  a.combine = WEIR_COMBINE_SUM;
  a.accumulator = WEIR_F64;
  const weir_value y = weir_graph_add_access(g, &op, &a, in, 2, WEIR_WHERE);

  weir_access_fini(&a);
  return y;
}

/* A copy that a node of the graph makes. */
static weir_value made(weir_graph *g, weir_value x)
{
  const weir_array_desc *d = weir_value_desc(g, x);
  weir_access a;

  weir_access_init(&a);
  weir_map_dims(&a, d);
  assert_ok(weir_access_resize(&a, 1, 1, 0));
  weir_map_identity(&a.in[0], d);
  weir_map_identity(&a.out[0], d);
  a.n_values = 1;
  a.value[0] = weir_body_unary(&a.body, WEIR_CODE_NEG, weir_body_load(&a.body, 0, WEIR_F64));
  const weir_value y = weir_graph_add_access(g, &op, &a, &x, 1, WEIR_WHERE);

  weir_access_fini(&a);
  return y;
}

static weir_graph *graph_of(bool own, int sign, weir_border border, weir_value *y)
{
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  const weir_value x =
      weir_input(g, "g", &(weir_array_desc){.dtype = WEIR_F64, .rank = 2, .shape = {NE, NR}});
  const weir_value d =
      weir_input(g, "d", &(weir_array_desc){.dtype = WEIR_F64, .rank = 2, .shape = {NW, NR}});

  *y = sum(g, own ? made(g, x) : x, d, sign, border);
  weir_output(g, "y", *y);
  assert_ok(weir_graph_status(g));
  return g;
}

/* Runs the pass; returns the number of operators. */
static int widened(weir_graph *g)
{
  int n = 0;

  assert_ok(weir_pass_window.run(g, &(weir_pass_opts){.window = true}));
  assert_ok(weir_graph_validate(g));
  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    n += weir_graph_node(g, i)->op != NULL && !weir_graph_node(g, i)->dead;
  }
  return n;
}

static void no_border_is_left(void **state)
{
  static const weir_border borders[] = {WEIR_BORDER_ABSENT, WEIR_BORDER_ZERO, WEIR_BORDER_WRAP};

  for (int i = 0; i < 3; i++) {
    for (int sign = -1; sign <= 1; sign += 2) {
      for (int own = 0; own < 2; own++) {
        weir_value y;
        weir_graph *g = graph_of(own, sign, borders[i], &y);

        assert_true(same_numbers(g, y, (drawn_passes){WEIR_FISSION_OFF, true}));
        assert_int_equal(widened(g), own ? 3 : 2); /* who fills the margin, or copies */
        const weir_node *node = weir_graph_node(g, y.node);

        assert_int_equal(node->access.in[0].index[0].border, WEIR_BORDER_NEVER);
        assert_int_equal(node->access.in[0].extent[0], NE + NW - 1);
        assert_int_equal(weir_value_desc(g, y)->shape[0], NE);
        weir_graph_destroy(&g);
      }
    }
  }
}

/* Indices that stay inside, turn at an end or clamp are none of its business. */
static void other_borders_stay(void **state)
{
  static const weir_border borders[] = {WEIR_BORDER_REPLICATE, WEIR_BORDER_REFLECT};

  for (int i = 0; i < 2; i++) {
    weir_value y;
    weir_graph *g = graph_of(true, -1, borders[i], &y);

    assert_int_equal(widened(g), 2);
    assert_int_equal(weir_graph_node(g, y.node)->access.in[0].extent[0], NE);
    weir_graph_destroy(&g);
  }
}

/* An array that somebody else reads, or that is a result, is copied. */
static void a_shared_array_stays_as_it_is(void **state)
{
  for (int result = 0; result < 2; result++) {
    weir_value y;
    weir_graph *g = graph_of(true, -1, WEIR_BORDER_ABSENT, &y);
    const weir_value x = weir_array_value(g, weir_graph_node(g, y.node)->in[0]);

    weir_output(g, "x", result ? x : made(g, x));
    assert_ok(weir_graph_status(g));
    assert_true(same_numbers(g, y, (drawn_passes){WEIR_FISSION_OFF, true}));
    assert_int_equal(widened(g), 3 + !result);
    assert_int_equal(weir_value_desc(g, x)->shape[0], NE);
    weir_graph_destroy(&g);
  }
}

static void random_sums_keep_their_numbers(void **state)
{
  const uint64_t fresh = (uint64_t)(weir_clock() * 1e9);
  int changed = 0;

  for (uint64_t seed = 0; seed < 400; seed++) {
    weir_draw w = {seed < 200 ? seed : fresh + seed, 0};
    weir_graph *g, *copy;
    weir_value y;

    assert_ok(weir_graph_create(&g));
    if (add_random(&w, g, &y)) {
      weir_output(g, "y", y);
      assert_ok(weir_graph_copy(g, &copy));
      changed += widened(copy) > 1;
      weir_graph_destroy(&copy);
      for (int mode = WEIR_FISSION_OFF; mode <= WEIR_FISSION_REASSOCIATE; mode++) {
        if (!same_numbers(g, y, (drawn_passes){(weir_fission)mode, true})) {
          print_message("seed %llu, fission %d\n", (unsigned long long)w.seed, mode);
          fail();
        }
      }
    }
    weir_graph_destroy(&g);
  }
  assert_true(changed > 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_border_is_left),
      cmocka_unit_test(other_borders_stay),
      cmocka_unit_test(a_shared_array_stays_as_it_is),
      cmocka_unit_test(random_sums_keep_their_numbers),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
