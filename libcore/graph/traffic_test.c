/* traffic_test.c - bytes and flops of nodes and groups, and the dump that shows them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_check.h"
#include "support/graph/graph_toys.h"

static weir_value window(weir_graph *g, weir_value x, struct toy_window w)
{
  return weir_graph_add(g, &toy_window, &w, &x, 1, "stencil.c:3");
}

static const weir_array_desc line = {.dtype = WEIR_F32, .rank = 1, .shape = {100}};
static const weir_array_desc stream = {
    .dtype = WEIR_F64, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1};

static void stencil_reads_each_element_once(void **state)
{
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &line);
  const weir_value y = window(g, x, (struct toy_window){3, 1, -1, 100, WEIR_BORDER_ZERO});
  const weir_traffic t = weir_node_traffic(g, y.node, 1, NULL);
  assert_int_equal(t.read_bytes, 400);
  assert_int_equal(t.write_bytes, 400);
  assert_int_equal(t.volume_bytes, 3 * 400 + 400);
  assert_near(t.flops, 300, 0);
  const weir_value z = window(g, x, (struct toy_window){3, 1, -1, 100, WEIR_BORDER_ABSENT});
  assert_near(weir_node_traffic(g, z.node, 1, NULL).flops, 298, 0);
  const weir_value twice = toy_add(g, x, x, "s"); /* two operands on one array count once */
  assert_int_equal(weir_node_traffic(g, twice.node, 1, NULL).read_bytes, 400);
  assert_int_equal(weir_node_traffic(g, twice.node, 1, NULL).volume_bytes, 1200);
  weir_graph_destroy(&g);
}

static void group_counts_external_elements_only(void **state)
{
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &line);
  const weir_value y = window(g, x, (struct toy_window){3, 1, 0, 98, WEIR_BORDER_NEVER});
  const weir_value z = window(g, y, (struct toy_window){2, 4, 1, 24, WEIR_BORDER_NEVER});
  weir_output(g, "z", z);
  assert_ok(weir_graph_add_group(g, (int32_t[]){y.node, z.node}, 2));
  /* z needs y at 4 i + 1, 4 i + 2 for i < 24: iterations 1 .. 94 of y, x at 1 .. 96. */
  const weir_traffic t = weir_group_traffic(g, weir_graph_group(g, 0), 1, NULL);
  assert_true(weir_group_is_local(g, weir_graph_group(g, 0), weir_value_array(g, y)));
  assert_int_equal(t.read_bytes, 96 * 4);
  assert_int_equal(t.write_bytes, 24 * 4);
  assert_near(t.flops, 94 * 3 + 24 * 2, 0);
  /* As a result y leaves the group: written whole, and still not read back. */
  weir_output(g, "y", y);
  const weir_traffic u = weir_group_traffic(g, weir_graph_group(g, 0), 1, NULL);
  assert_false(weir_group_is_local(g, weir_graph_group(g, 0), weir_value_array(g, y)));
  assert_int_equal(u.read_bytes, 400);
  assert_int_equal(u.write_bytes, (24 + 98) * 4);
  weir_graph_destroy(&g);
}

static void unbounded_dimension_counts_as_slots(void **state)
{
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &stream);
  const weir_value y =
      window(g, x, (struct toy_window){5, 1, -2, WEIR_UNBOUNDED, WEIR_BORDER_REPLICATE});
  weir_output(g, "y", y);
  assert_ok(weir_graph_validate(g));
  const weir_traffic t = weir_node_traffic(g, y.node, 1000, NULL);
  assert_int_equal(t.read_bytes, 1004 * 8); /* two slots before the chunk, and two after */
  assert_int_equal(t.write_bytes, 1000 * 8);
  assert_near(t.flops, 5000, 0);
  assert_int_equal(weir_node_traffic(g, y.node, INT64_C(1) << 58, NULL).read_bytes,
                   8 * ((INT64_C(1) << 58) + 4));
  assert_int_equal(weir_node_traffic(g, y.node, INT64_C(1) << 59, NULL).volume_bytes, INT64_MAX);
  weir_graph_destroy(&g);
}

/* A window of 8 slots every 4th: a chunk of the stream holds a quarter as many results. */
static void slower_streams_count_at_their_own_rate(void **state)
{
  weir_graph *g;
  weir_rate rates[4];

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &stream);
  const weir_value y =
      window(g, x, (struct toy_window){8, 4, 0, WEIR_UNBOUNDED, WEIR_BORDER_REPLICATE});
  const weir_value z = toy_add(g, y, y, "here");
  weir_output(g, "z", z);
  assert_ok(weir_graph_validate(g));
  assert_true(weir_graph_arrays(g) <= 4);
  weir_graph_rates(g, rates);
  const weir_rate r = weir_node_rate(g, weir_graph_node(g, z.node), rates);

  assert_int_equal(r.base, weir_value_array(g, x));
  assert_true(r.up == 1 && r.down == 4);
  const weir_traffic t = weir_node_traffic(g, y.node, 1000, rates);

  assert_int_equal(t.read_bytes, 1004 * 8);
  assert_int_equal(t.write_bytes, 250 * 8);
  assert_near(t.flops, 250 * 8, 0);
  assert_int_equal(weir_node_traffic(g, z.node, 1000, rates).read_bytes, 250 * 8);
  /* Chunks of 6 slots hold one result or two, those of 1 slot hold one in four. */
  assert_int_equal(weir_node_traffic(g, y.node, 6, rates).write_bytes, 12);
  assert_int_equal(weir_node_traffic(g, y.node, 6, rates).read_bytes, (8 + 12) * 8 / 2);
  assert_int_equal(weir_node_traffic(g, y.node, 1, rates).read_bytes, 8 * 8 / 4);
  weir_graph_destroy(&g);
}

/* Slot k of a stream is [k, k + 1) * down / up slots of the fastest input. */
static void slots_are_those_that_have_begun_or_passed(void **state)
{
  for (int64_t up = 1; up < 6; up++) {
    for (int64_t down = up; down < 9; down++) {
      const weir_rate r = {.up = up, .down = down};

      for (int64_t n = 0; n < 30; n++) {
        int64_t begun = 0, passed = 0, fastest = 0;

        for (int64_t k = 0; k < n; k++) {
          begun += k * down < n * up;
          passed += (k + 1) * down <= n * up;
        }
        assert_int_equal(weir_rate_slots(&r, n, true), begun);
        assert_int_equal(weir_rate_slots(&r, n, false), passed);
        while (weir_rate_slots(&r, fastest, false) < n) {
          fastest++;
        }
        assert_int_equal(weir_rate_fastest(&r, n), fastest);
      }
    }
  }
  const weir_rate rates[] = {{.up = 1, .down = 4}, {.up = 5, .down = 6}, {.base = -1}};

  assert_int_equal(weir_rates_period(rates, 3), 12);
}

static void dump_shows_maps_bodies_and_bytes(void **state)
{
  static const char *const expected[] = {
      "node 0: input a0 'x' f32[100]",
      "node 1: toy_window 'smooth' (stencil.c:3)",
      "iterations: i0 parallel [0, 48) i1 reduced [0, 3)",
      "in0: a0 'x' f32[100] at [2*i0 + i1 - 1 (zero)]",
      "out0: a1 f32[48] at [i0]",
      "body: v0 = in0; sum in f32",
      "flops 144, read 384 B, written 192 B",
      "body: t2 = add(in0, in1); out0 = t2;",
      "result 'y': a2",
      "group 0: nodes 1 2, tile [whole], generated, saved 0 B",
  };
  char *text;
  size_t size;
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &line);
  const weir_value s =
      weir_label(g, window(g, x, (struct toy_window){3, 2, -1, 48, WEIR_BORDER_ZERO}), "smooth");
  const weir_value y = toy_add(g, s, s, "sum.c:1");
  weir_output(g, "y", y);
  assert_ok(weir_graph_add_group(g, (int32_t[]){s.node, y.node}, 2));
  FILE *out = open_memstream(&text, &size);
  weir_graph_print(g, 1, out);
  fclose(out);
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    if (strstr(text, expected[i]) == NULL) {
      fail_msg("no '%s' in\n%s", expected[i], text);
    }
  }
  free(text);
  weir_graph_destroy(&g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stencil_reads_each_element_once),
      cmocka_unit_test(group_counts_external_elements_only),
      cmocka_unit_test(unbounded_dimension_counts_as_slots),
      cmocka_unit_test(slower_streams_count_at_their_own_rate),
      cmocka_unit_test(slots_are_those_that_have_begun_or_passed),
      cmocka_unit_test(dump_shows_maps_bodies_and_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
