/* depend_test.c - lists of writers and readers against the graph's own search, array by array, in
 * graphs of networks and as nodes die. */
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "support/exec/train_nets.h"
#include "pass/weir_depend.h"

static void expect_list(const int32_t *first, const int32_t *list, int32_t array,
                        const int32_t *wanted, int32_t n)
{
  assert_int_equal(first[array + 1] - first[array], n);
  for (int32_t i = 0; i < n; i++) {
    assert_int_equal(list[first[array] + i], wanted[i]);
  }
}

/* What runs before a node: who writes what it reads, operand by operand. */
static void expect_before(const weir_graph *g, const weir_depend *d, int32_t *nodes)
{
  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    const weir_node *node = weir_graph_node(g, i);
    int32_t at = d->first[i];

    for (int k = 0; k < node->n_in && node->op != NULL && !node->dead; k++) {
      const int32_t n = weir_graph_writers(g, node->in[k], nodes, weir_graph_nodes(g));

      for (int32_t j = 0; j < n; j++) {
        assert_int_equal(d->before[at++], nodes[j]);
      }
    }
    assert_int_equal(at, d->first[i + 1]);
  }
}

static void lists_are_those_of_the_graph(void **state)
{
  for (int round = 0; round < 4; round++) {
    train_net net;
    weir_users u;
    weir_depend d;
    void *memory = NULL;

    assert_ok(round % 2 == 0 ? train_cosmo(&net, 2, 8, 2) : train_unet(&net, 2, 8, 2));
    for (int32_t i = 5; i < weir_graph_nodes(net.g) && round >= 2; i += 7) {
      weir_graph_node_mut(net.g, i)->dead = true;
    }
    assert_ok(weir_alloc(weir_graph_nodes(net.g), sizeof(int32_t), &memory));
    assert_ok(weir_users_make(net.g, &u));
    assert_ok(weir_depend_make(net.g, &d));
    for (int32_t a = 0; a < weir_graph_arrays(net.g); a++) {
      const int32_t capacity = weir_graph_nodes(net.g);

      expect_list(u.first_writer, u.writers, a, memory,
                  weir_graph_writers(net.g, a, memory, capacity));
      expect_list(u.first_reader, u.readers, a, memory,
                  weir_graph_readers(net.g, a, memory, capacity));
    }
    expect_before(net.g, &d, memory);
    weir_users_fini(&u);
    weir_depend_fini(&d);
    weir_free(&memory);
    train_fini(&net);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(lists_are_those_of_the_graph)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
