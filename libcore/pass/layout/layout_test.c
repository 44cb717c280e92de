/* layout_test.c - transposes go or move, kernels get the orders that they take, and what is chosen
 * costs as little as anything that could be. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "support/exec/draw_graph.h"
#include "ops/conv/weir_conv.h"
#include "pass/layout/layout_priv.h"

static const int to_last[] = {0, 2, 3, 1}, to_first[] = {0, 3, 1, 2};

static weir_value turned(weir_graph *g, weir_value x, const int *order)
{
  weir_transpose_spec s = {{0}};

  memcpy(s.order, order, sizeof(*order) * 4);
  return weir_transpose(g, x, &s);
}

static weir_graph *make_graph(void)
{
  weir_graph *g = NULL;

  assert_ok(weir_graph_create(&g));
  return g;
}

static weir_value image(weir_graph *g, const char *name, int64_t channels, bool last)
{
  const weir_array_desc d = {
      .dtype = WEIR_F32, .rank = 4, .shape = {2, last ? 32 : channels, 32, last ? channels : 32}};

  return weir_input(g, name, &d);
}

/* Claims sums of products that read operand 0 and write with the channel innermost. */
static double match_last(const weir_graph *g, const weir_group *group)
{
  const weir_access *a = &weir_graph_node(g, group->nodes[0])->access;

  return a->combine == WEIR_COMBINE_SUM && a->n_in == 2 && a->in[0].rank == 4 &&
                 a->in[0].extent[3] == 8 && a->out[0].extent[3] == 8
             ? 1e-5
             : -1;
}

static const weir_kernel last_only = {.name = "last.only", .device = "cpu", .match = match_last};
static const weir_kernel *const kernels[] = {&last_only, NULL};

/* Runs the passes; how many live nodes do nothing but copy, and how many the kernel claims. */
static void plan(weir_graph *g, const char *skip, int *copies, int *claimed)
{
  const weir_pass_opts opts = {.skip = skip, .kernels = kernels};

  assert_ok(weir_graph_status(g));
  assert_ok(weir_passes_run(g, &opts, NULL, NULL));
  *copies = *claimed = 0;
  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    const weir_node *n = weir_graph_node(g, i);

    *copies += layout_is_live(n) && n->access.n_in == 1 && n->access.body.n == 1 &&
               n->access.combine == WEIR_COMBINE_NONE;
  }
  for (int32_t i = 0; i < weir_graph_groups(g); i++) {
    *claimed += weir_graph_group(g, i)->n_claims;
  }
}

static weir_value convolve(weir_graph *g, weir_value x)
{
  weir_tensor w;

  assert_ok(weir_tensor_init(&w, WEIR_F32, 4, (int64_t[]){3, 3, 8, 8}));
  const weir_value v = weir_constant(g, &w);

  weir_tensor_fini(&w);
  return weir_conv(g, &((weir_conv_spec){.pad_before = {1, 1}, .pad_after = {1, 1}}), x, v);
}

/* Three layers channels first, each with its two transposes. */
static weir_graph *layers(void)
{
  weir_graph *g = make_graph();
  weir_value x = image(g, "x", 8, false);

  for (int k = 0; k < 3; k++) {
    x = weir_tanh(g, turned(g, convolve(g, turned(g, x, to_last)), to_first));
  }
  weir_output(g, "y", x);
  return g;
}

static void transposes_between_layers_go(void **state)
{
  int copies, claimed;
  weir_graph *g = layers();

  plan(g, "layout", &copies, &claimed);
  assert_int_equal(copies, 6);
  assert_int_equal(claimed, 3);
  weir_graph_destroy(&g);
  g = layers();
  plan(g, NULL, &copies, &claimed);
  assert_int_equal(claimed, 3);
  assert_true(copies <= 2); /* at the ends */
  weir_graph_destroy(&g);
}

/* Claims products whose result has the stack of matrices outermost. */
static double match_stack(const weir_graph *g, const weir_group *group)
{
  const weir_access *a = &weir_graph_node(g, group->nodes[0])->access;

  return a->combine == WEIR_COMBINE_SUM && a->n_in == 2 && a->out[0].extent[0] == 7 ? 1e-5 : -1;
}

static void a_kernel_gets_the_order_it_asks_for(void **state)
{
  static const weir_kernel stacks = {.name = "stack", .device = "cpu", .match = match_stack};
  static const weir_kernel *const table[] = {&stacks, NULL};
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 3, .shape = {64, 7, 32}};
  const weir_pass_opts opts = {.kernels = table};
  weir_graph *g = make_graph();
  const weir_value a = weir_input(g, "a", &d), b = weir_input(g, "b", &d);
  const weir_value c = weir_contract(g, "qbd,kbd->qkb", a, b);

  weir_output(g, "sum", weir_sum(g, weir_tanh(g, c), -1));
  assert_ok(weir_passes_run(g, &opts, NULL, NULL));
  const weir_array *x = weir_graph_get_array(g, weir_graph_node(g, c.node)->out[0]);

  assert_true(x->reordered && x->desc.shape[0] == 7);
  assert_ptr_equal(weir_graph_group(g, 0)->claims[0].kernel, &stacks);
  weir_graph_destroy(&g);
}

/* Inputs and results keep their order, whatever lies between. */
static void ends_keep_their_order(void **state)
{
  int copies, claimed;
  weir_graph *g = layers();

  plan(g, NULL, &copies, &claimed);
  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const weir_array *x = weir_graph_get_array(g, a);

    if (x->kind == WEIR_ARRAY_INPUT || x->output != NULL) {
      assert_true(!x->reordered && x->desc.shape[1] == 8 && x->desc.shape[3] == 32);
    }
  }
  weir_graph_destroy(&g);
}

static void what_needs_no_change_gets_none(void **state)
{
  int copies, claimed;
  weir_graph *g = make_graph();
  weir_value x = image(g, "x", 8, true);

  for (int k = 0; k < 3; k++) {
    x = weir_tanh(g, convolve(g, x));
  }
  weir_output(g, "y", x);
  plan(g, NULL, &copies, &claimed);
  assert_int_equal(copies, 0);
  assert_int_equal(claimed, 3);
  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    assert_false(weir_graph_get_array(g, a)->reordered);
  }
  weir_graph_destroy(&g);
}

/* Both orders are wanted: a transpose of an input into a result stays. */
static void a_transpose_of_the_ends_stays(void **state)
{
  int copies, claimed;
  weir_graph *g = make_graph();

  weir_output(g, "y", turned(g, image(g, "x", 8, false), to_last));
  plan(g, NULL, &copies, &claimed);
  assert_int_equal(copies, 1);
  weir_graph_destroy(&g);
}

/* A transpose that rows do not notice is read past: as built, nothing copies for nobody. */
static void a_copy_that_nobody_reads_is_not_made(void **state)
{
  static const int rows_stay[] = {0, 2, 1, 3};
  const weir_pass_opts before = {.skip = "layout,tile"}, opts = {.min_layout_bytes = 1};
  weir_graph *g = make_graph();
  formatting f = {.g = g, .opts = &opts, .constants = weir_pass_constants(&opts)};
  void *as_built = NULL;

  weir_output(g, "y",
              weir_scale(g, turned(g, weir_tanh(g, image(g, "x", 8, false)), rows_stay), 2));
  assert_ok(weir_passes_run(g, &before, NULL, NULL));
  assert_ok(layout_begin(&f));
  assert_true(layout_absorb(&f));
  (void)layout_find_orders(&f);
  layout_find_choices(&f);
  assert_ok(weir_alloc(f.n_arrays, sizeof(int32_t), &as_built));
  const double seconds = layout_total_seconds(&f, as_built);

  assert_ok(layout_choose(&f, 0, as_built));
  assert_near(layout_total_seconds(&f, as_built), seconds, 1e-12 * seconds);
  memset(as_built, 0, (size_t)f.n_arrays * sizeof(int32_t));
  assert_ok(layout_apply(&f, as_built));
  assert_int_equal(weir_graph_nodes(g), f.n_nodes);
  weir_free(&as_built);
  layout_finish(&f);
  weir_graph_destroy(&g);
}

/* Borders that fill with different values look at dimensions in their order. */
static void fills_that_differ_keep_the_order(void **state)
{
  weir_graph *g = make_graph();
  const weir_value x = weir_tanh(g, image(g, "x", 8, true));
  weir_value y = weir_shift_with(
      g, x, &((weir_shift_spec){.dim = 1, .by = 1, .border = WEIR_BORDER_VALUE, .fill = 0.5}));

  weir_output(g, "y", y);
  const int32_t array = weir_value_array(g, x);

  assert_true(weir_layout_is_free(g, array));
  weir_index *other = &weir_graph_node_mut(g, y.node)->access.in[0].index[2];

  other->border = WEIR_BORDER_ZERO;
  assert_false(weir_layout_is_free(g, array));
  weir_graph_destroy(&g);
}

/* Least total over all states, or -1 where there are more than `max` combinations. */
static double least_of_all(formatting *f, int64_t max)
{
  int32_t *state = NULL;
  void *memory = NULL;
  int64_t count = 1;
  double min = INFINITY;

  for (int32_t a = 0; a < f->n_arrays; a++) {
    count = count > max ? count : count * f->arrays[a].n_states;
  }
  if (count > max) {
    return -1;
  }
  assert_ok(weir_alloc(f->n_arrays, sizeof(int32_t), &memory));
  state = memory;
  for (int64_t i = 0; i < count; i++) {
    int64_t left = i;

    for (int32_t a = 0; a < f->n_arrays; a++) {
      state[a] = (int32_t)(left % f->arrays[a].n_states);
      left /= f->arrays[a].n_states;
    }
    min = fmin(min, layout_total_seconds(f, state));
  }
  weir_free(&memory);
  return min;
}

/* Random graphs, as they are when the pass meets them; 1 when there was something to choose. */
static int compare_with_all(uint64_t seed)
{
  const weir_pass_opts before = {.skip = "layout,tile"}, opts = {.min_layout_bytes = 1};
  draw_graph d = draw_make(seed, false, false);
  formatting f = {.g = d.g, .opts = &opts, .constants = weir_pass_constants(&opts)};
  void *memory = NULL;
  int found = 0;

  assert_ok(weir_passes_run(d.g, &before, NULL, NULL));
  assert_ok(layout_begin(&f));
  (void)layout_absorb(&f);
  (void)layout_find_orders(&f);
  layout_find_choices(&f);
  const double min = least_of_all(&f, 20000);

  assert_ok(weir_alloc(f.n_arrays, sizeof(int32_t), &memory));
  if (min >= 0) {
    const double first = layout_total_seconds(&f, memory);

    assert_ok(layout_choose(&f, 0, memory));
    assert_true(fabs(layout_total_seconds(&f, memory) - min) <= 1e-12 * min);
    found = min < first;
  }
  weir_free(&memory);
  layout_finish(&f);
  weir_graph_destroy(&d.g);
  return found;
}

static void nothing_costs_less_than_what_is_chosen(void **state)
{
  int found = 0;

  for (uint64_t seed = 600; seed < 690; seed++) {
    found += compare_with_all(seed);
  }
  assert_true(found >= 4);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(transposes_between_layers_go),
      cmocka_unit_test(a_kernel_gets_the_order_it_asks_for),
      cmocka_unit_test(ends_keep_their_order),
      cmocka_unit_test(what_needs_no_change_gets_none),
      cmocka_unit_test(a_transpose_of_the_ends_stays),
      cmocka_unit_test(a_copy_that_nobody_reads_is_not_made),
      cmocka_unit_test(fills_that_differ_keep_the_order),
      cmocka_unit_test(nothing_costs_less_than_what_is_chosen),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
