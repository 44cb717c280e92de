/* validate_test.c - what the validator proves, and what it refuses by name. */
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "support/graph/graph_toys.h"
#include "ops/ops_cases.h"

static const weir_array_desc vector = {.dtype = WEIR_F32, .rank = 1, .shape = {12}};

static weir_array_desc of_length(int64_t n)
{
  weir_array_desc desc = vector;
  desc.shape[0] = n;
  return desc;
}

static void refused_with(const weir_graph *g, const char *a, const char *b)
{
  assert_int_equal(weir_graph_validate(g), WEIR_ERR_SHAPE);
  if (strstr(weir_last_message(), a) == NULL || strstr(weir_last_message(), b) == NULL) {
    fail_msg("'%s' lacks '%s' or '%s'", weir_last_message(), a, b);
  }
}

/* Writes pieces of the lengths given into one array, in order; piece `moved` one element late. */
static weir_graph *joined(const int64_t *lengths, int n, int moved)
{
  weir_graph *g;
  int64_t at = 0;
  char name[16];

  assert_ok(weir_graph_create(&g));
  const int32_t whole = weir_graph_array(g, &vector);
  for (int i = 0; i < n; i++) {
    const weir_array_desc desc = of_length(lengths[i]);
    snprintf(name, sizeof name, "x%d", i);
    const weir_value v =
        toy_write(g, weir_input(g, name, &desc), whole, at + (i == moved), "piece.c:1");
    at += lengths[i];
    if (i == n - 1) {
      weir_output(g, "whole", v);
    }
  }
  return g;
}

static void disjoint_covering_writers_are_accepted(void **state)
{
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  const int32_t whole = weir_graph_array(g, &vector);
  const weir_array_desc five = of_length(5), seven = of_length(7), none = of_length(0);
  toy_write(g, weir_input(g, "a", &seven), whole, 5, "p:1");
  toy_write(g, weir_input(g, "e", &none), whole, 3, "p:2");
  const weir_value v = toy_write(g, weir_input(g, "b", &five), whole, 0, "p:3");
  weir_output(g, "whole", toy_add(g, v, v, "p:4"));
  assert_ok(weir_graph_validate(g));
  int32_t order[8], n;
  assert_ok(weir_graph_order(g, order, &n));
  assert_int_equal(order[n - 1], weir_graph_nodes(g) - 1);
  weir_graph_destroy(&g);
}

static void overlapping_or_missing_pieces_are_refused(void **state)
{
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  const int32_t whole = weir_graph_array(g, &vector);
  const weir_array_desc six = of_length(6), five = of_length(5);
  const weir_value x = weir_input(g, "x", &six), y = weir_input(g, "y", &five);
  toy_write(g, x, whole, 0, "first.c:1");
  weir_graph *overlap, *hole;
  assert_ok(weir_graph_copy(g, &overlap));
  assert_ok(weir_graph_copy(g, &hole));
  toy_write(overlap, x, whole, 5, "second.c:2");
  refused_with(overlap, "second.c:2", "is written here and by node 2 too");
  toy_write(hole, y, whole, 7, "second.c:2");
  refused_with(hole, "second.c:2", "is not completely written");
  weir_graph_destroy(&g);
  weir_graph_destroy(&overlap);
  weir_graph_destroy(&hole);
}

static void random_cuts_pass_and_shifted_ones_do_not(void **state)
{
  for (uint32_t c = 0; c < 200; c++) {
    int64_t lengths[12], left = 12, n = 0;
    while (left > 0) {
      lengths[n] = 1 + (int64_t)(weir_random_bits(5, c, 0, (uint64_t)n) % (uint64_t)left);
      left -= lengths[n++];
    }
    weir_graph *good = joined(lengths, (int)n, -1),
               *bad = joined(lengths, (int)n, (int)(c % (uint32_t)n));
    assert_ok(weir_graph_validate(good));
    assert_int_equal(weir_graph_validate(bad), WEIR_ERR_SHAPE);
    weir_graph_destroy(&good);
    weir_graph_destroy(&bad);
  }
}

static void access_that_writes_twice_or_leaves_holes_is_refused(void **state)
{
  for (int what = 0; what < 2; what++) {
    weir_graph *g;
    assert_ok(weir_graph_create(&g));
    weir_output(g, "y",
                toy_add(g, weir_input(g, "x", &vector), weir_input(g, "z", &vector), "w:1"));
    weir_index *x = &weir_graph_node_mut(g, 2)->access.out[0].index[0];
    x->div = what == 0 ? 2 : 1;
    if (what == 1) {
      x->coef[0] = 2;
      weir_graph_node_mut(g, 2)->access.dim[0].hi = 6;
    }
    refused_with(g, "w:1", what == 0 ? "more than once" : "some elements are not written");
    weir_graph_destroy(&g);
  }
}

/* x -> a -> b -> c; groups as given by the member lists, ended by -1. */
static void grouped(const int32_t (*members)[4], int n, const char *expected)
{
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  weir_value v = weir_input(g, "x", &vector);
  for (int i = 0; i < 3; i++) {
    v = toy_add(g, v, v, "chain.c:9");
  }
  weir_output(g, "y", v);
  for (int k = 0; k < n; k++) {
    int length = 0;
    while (members[k][length] >= 0) {
      length++;
    }
    assert_ok(weir_graph_add_group(g, members[k], length));
  }
  if (expected == NULL) {
    assert_ok(weir_graph_validate(g));
  } else {
    refused_with(g, "chain.c:9", expected);
  }
  weir_graph_destroy(&g);
}

static void groups_cover_once_in_order_and_without_cycles(void **state)
{
  grouped((const int32_t[][4]){{1, 2, 3, -1}}, 1, NULL);
  grouped((const int32_t[][4]){{3, -1}, {1, 2, -1}}, 2, NULL);
  grouped((const int32_t[][4]){{1, 3, -1}, {2, -1}}, 2, "cycle");
  grouped((const int32_t[][4]){{1, 2, -1}, {2, 3, -1}}, 2, "a member of group 0 and of group 1");
  grouped((const int32_t[][4]){{1, 2, -1}}, 1, "a member of no group");
  grouped((const int32_t[][4]){{2, 1, -1}, {3, -1}}, 2, "before its inputs are computed");
}

static void used_array_without_writer_is_refused(void **state)
{
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  weir_output(g, "y", toy_add(g, weir_input(g, "x", &vector), weir_input(g, "z", &vector), "w:1"));
  assert_ok(weir_graph_validate(g));
  weir_graph_node_mut(g, 2)->dead = true;
  refused_with(g, "'y'", "not written by any node");
  weir_graph_destroy(&g);
}

static void every_failed_allocation_is_reported(void **state)
{
  weir_graph *g;
  weir_status status = WEIR_ERR_MEMORY;

  assert_ok(weir_graph_create(&g));
  weir_value v = weir_input(g, "x", &vector);
  weir_output(g, "y", toy_add(g, toy_add(g, v, v, "a"), v, "b"));
  assert_ok(weir_graph_add_group(g, (int32_t[]){1, 2}, 2));
  const int64_t before = weir_alloc_bytes();
  for (int64_t k = 1; status != WEIR_OK; k++) {
    weir_alloc_fail_after(k);
    status = weir_graph_validate(g);
    weir_alloc_fail_after(0);
    assert_true(status == WEIR_OK || k < 50);
    assert_int_equal(weir_alloc_bytes(), before);
  }
  weir_graph_destroy(&g);
}

/* Random cases of every operator of this build, empty extents included. */
static void random_nodes_of_every_operator_are_valid(void **state)
{
  FILE *out = fopen("/dev/null", "w");
  static weir_op_case c;

  assert_non_null(out);
  for (int o = 0; weir_op_table[o] != NULL; o++) {
    const weir_op_desc *op = weir_op_table[o];
    for (uint64_t seed = 0; seed < 100; seed++) {
      weir_value in[WEIR_MAX_OPERANDS];
      char name[16];
      weir_graph *g;
      weir_op_draw(op, seed, &c);
      assert_ok(weir_graph_create(&g));
      for (int k = 0; k < c.n_in; k++) {
        snprintf(name, sizeof name, "x%d", k);
        in[k] = weir_input(g, name, &c.in[k]);
      }
      const weir_value v = weir_graph_add(g, op, &c.spec, in, c.n_in, op->name);
      assert_ok(weir_graph_validate(g));
      weir_graph_print(g, 100, out);
      const weir_traffic t = weir_node_traffic(g, v.node, 100, NULL);
      assert_true(t.read_bytes + t.write_bytes <= t.volume_bytes || op->run != NULL);
      weir_graph_destroy(&g);
    }
  }
  fclose(out);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(disjoint_covering_writers_are_accepted),
      cmocka_unit_test(overlapping_or_missing_pieces_are_refused),
      cmocka_unit_test(random_cuts_pass_and_shifted_ones_do_not),
      cmocka_unit_test(access_that_writes_twice_or_leaves_holes_is_refused),
      cmocka_unit_test(groups_cover_once_in_order_and_without_cycles),
      cmocka_unit_test(used_array_without_writer_is_refused),
      cmocka_unit_test(random_nodes_of_every_operator_are_valid),
      cmocka_unit_test(every_failed_allocation_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
