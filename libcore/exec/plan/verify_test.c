/* verify_test.c - the oracle after every pass: right passes stand, a wrong one is found; and the
 * bytes that nodes and groups claim are those that their iterations touch. */
#include "support/exec/draw_run.h"
#include "exec/plan/plan_priv.h"
#include "support/exec/count_check.h"

static const weir_pass nameless = {.name = "planted", .cite = "", .order = 99};

/* Sub where the graph adds: the mistake of a careless pass. */
static bool plant(weir_graph *g)
{
  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    weir_node *node = weir_graph_node_mut(g, i);

    for (int32_t k = 0; k < node->access.body.n && node->op != NULL; k++) {
      if (node->access.body.exprs[k].code == WEIR_CODE_ADD) {
        node->access.body.exprs[k].code = WEIR_CODE_SUB;
        return true;
      }
    }
  }
  return false;
}

static void a_planted_mistake_is_found(void **state)
{
  const weir_array_desc line = {.dtype = WEIR_F32, .rank = 1, .shape = {57}};
  weir_graph *g, *wrong;
  weir_plan p = {.threads = 1};

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &line);

  weir_output(g, "y", weir_tanh(g, weir_add(g, x, weir_shift(g, x, 0, 2))));
  weir_opts_default(weir_exec_opts, sizeof(p.cfg), &p.cfg);
  p.built = g;
  assert_ok(weir_graph_copy(g, &wrong));
  assert_ok(exec_verify(&p, &nameless, wrong));
  assert_true(plant(wrong));
  assert_int_equal(exec_verify(&p, &nameless, wrong), WEIR_ERR_NUMERIC);
  assert_non_null(strstr(weir_last_message(), "planted"));
  weir_graph_destroy(&wrong);
  weir_graph_destroy(&g);
}

static void passes_stand_on_random_graphs(void **state)
{
  for (uint64_t seed = 100; seed < 106; seed++) {
    draw_graph d = draw_make(seed, seed % 2 != 0, true);
    const draw_way way = {
        .tier = WEIR_TIER_REFERENCE, .fusion = true, .threads = 1, .chunk = 64, .verify = 1};
    draw_outcome o;

    assert_ok(draw_run(&d, &way, NULL, &o));
    weir_free(&o.values);
    weir_graph_destroy(&d.g);
  }
}

static int64_t array_elements(const weir_graph *g, int32_t array)
{
  const weir_array_desc *d = &weir_graph_get_array(g, array)->desc;
  int64_t n = 1;

  for (int k = 0; k < d->rank; k++) {
    n *= d->shape[k];
  }
  return n;
}

/* Bytes of one array that the members touch, by counting; *exact is false at gathers. */
static int64_t counted(const weir_graph *g, const weir_group *group, int32_t array, bool *exact)
{
  const int64_t elements = array_elements(g, array);
  int64_t n = 0;
  void *marks = NULL;

  assert_ok(weir_alloc(elements, 1, &marks));
  for (int64_t i = 0; i < group->n_nodes; i++) {
    const weir_node *node = weir_graph_node(g, group->nodes[i]);
    const weir_box box = weir_iterations(&node->access);

    for (int k = 0; k < node->n_in; k++) {
      for (int d = 0; d < node->access.in[k].rank && node->in[k] == array; d++) {
        *exact = *exact && node->access.in[k].index[d].gather == 0;
      }
      n += node->in[k] == array ? count_touched(&node->access, k, &box, NULL, marks) : 0;
    }
  }
  weir_free(&marks);
  return n * (int64_t)weir_dtype_size(weir_graph_get_array(g, array)->desc.dtype);
}

/* Bytes of all arrays that come from outside. */
static int64_t counted_reads(const weir_graph *g, const weir_group *group, bool *exact)
{
  int64_t bytes = 0;

  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    bool outside = true;

    for (int64_t i = 0; i < group->n_nodes; i++) {
      const weir_node *node = weir_graph_node(g, group->nodes[i]);

      for (int o = 0; o < node->n_out; o++) {
        outside = outside && node->out[o] != a;
      }
    }
    bytes += outside ? counted(g, group, a, exact) : 0;
  }
  return bytes;
}

static void claimed_bytes_are_touched_bytes(void **state)
{
  int64_t fused = 0, alone = 0;

  for (uint64_t seed = 0; seed < 24; seed++) {
    for (int fusion = 0; fusion < 2; fusion++) {
      draw_graph d = draw_make(seed, false, false);
      const weir_pass_opts opts = {.no_fusion = fusion == 0};

      assert_ok(weir_passes_run(d.g, &opts, NULL, NULL));
      for (int32_t i = 0; i < weir_graph_groups(d.g); i++) {
        const weir_group *group = weir_graph_group(d.g, i);
        const weir_traffic t = weir_group_traffic(d.g, group, 1, NULL);
        bool exact = true;
        const int64_t bytes = counted_reads(d.g, group, &exact);

        /* Members of a larger group may run less than their whole boxes. */
        assert_true(t.read_bytes <= bytes || !exact);
        assert_true(group->n_nodes > 1 || t.read_bytes == bytes || !exact);
        fused += exact && group->n_nodes > 1;
        alone += exact && group->n_nodes == 1;
      }
      weir_graph_destroy(&d.g);
    }
  }
  assert_true(fused > 20 && alone > 100);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_planted_mistake_is_found),
      cmocka_unit_test(passes_stand_on_random_graphs),
      cmocka_unit_test(claimed_bytes_are_touched_bytes),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
