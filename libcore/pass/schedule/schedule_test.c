/* schedule_test.c - random graphs: groups after what they wait for, and no two live arrays in
 * the same memory. */
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "support/exec/draw_graph.h"
#include "support/graph/store_check.h"
#include "exec/weir_plan.h"
#include "pass/schedule/schedule_priv.h"
#include "pass/weir_pass.h"

/* Position in the order of the first and the last group that knows the array. */
static void life_of(const weir_graph *g, const weir_schedule *s, int32_t array, bool keep,
                    int32_t *first, int32_t *last)
{
  *first = s->n_groups;
  *last = -1;
  for (int32_t t = 0; t < s->n_groups; t++) {
    if (schedule_touches(g, weir_graph_group(g, s->order[t]), array)) {
      *first = t < *first ? t : *first;
      *last = t;
    }
  }
  *first = keep ? 0 : *first;
  *last = keep ? s->n_groups - 1 : *last;
}

static int index_of(const weir_graph *g, const weir_schedule *s, int32_t node)
{
  for (int32_t t = 0; t < s->n_groups; t++) {
    const weir_group *group = weir_graph_group(g, s->order[t]);

    for (int64_t k = 0; k < group->n_nodes; k++) {
      if (group->nodes[k] == node) {
        return t;
      }
    }
  }
  return -1;
}

static void check_order(const weir_graph *g, const weir_schedule *s)
{
  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    const weir_node *node = weir_graph_node(g, i);

    for (int k = 0; k < node->n_in && node->op != NULL && !node->dead; k++) {
      int32_t writers[8];
      const int32_t n = weir_graph_writers(g, node->in[k], writers, 8);

      for (int32_t w = 0; w < n && w < 8; w++) {
        assert_true(index_of(g, s, writers[w]) <= index_of(g, s, i));
      }
    }
  }
}

/* One begins where the other ends, in its memory, and the group at t allows it. */
static bool lies_in_place(const weir_graph *g, const weir_schedule *s, int32_t a, int32_t b,
                          int32_t t)
{
  bool one = false, two = false;

  if (t < 0 || s->offset[b] != s->offset[a]) {
    return false;
  }
  schedule_loops of = {.group = weir_graph_group(g, s->order[t])};

  assert_ok(schedule_may_share(g, &of, a, b, &one));
  assert_ok(schedule_may_share(g, &of, b, a, &two));
  weir_loops_free(&of.loops, of.n);
  return one || two;
}

static void check_offsets(const weir_graph *g, const weir_schedule *s, const int64_t *bytes,
                          const bool *keep)
{
  for (int32_t a = 0; a < s->n_arrays; a++) {
    int32_t first, last, other, end;

    if (s->offset[a] < 0) {
      continue;
    }
    life_of(g, s, a, keep[a], &first, &last);
    assert_int_equal(s->offset[a] % 64, 0);
    assert_true(s->offset[a] + bytes[a] <= s->arena_bytes);
    for (int32_t b = 0; b < a; b++) {
      life_of(g, s, b, keep[b], &other, &end);
      if (lies_in_place(g, s, a, b, first == end ? first : other == last ? last : -1)) {
        continue;
      }
      if (s->offset[b] >= 0 && first <= end && other <= last) {
        assert_true(s->offset[a] + bytes[a] <= s->offset[b] ||
                    s->offset[b] + bytes[b] <= s->offset[a]);
      }
    }
  }
  assert_true(s->arena_bytes >= s->lower_bound);
}

static void live_arrays_never_share_memory(void **state)
{
  const weir_pass_opts opts = {.no_fusion = true};

  for (uint64_t seed = 0; seed < 40; seed += 2) {
    draw_graph d = draw_make(seed, false, false);
    int64_t bytes[DRAW_POOL * 8];
    bool keep[DRAW_POOL * 8];
    weir_schedule s;

    assert_ok(weir_passes_run(d.g, &opts, NULL, NULL));
    assert_true(weir_graph_arrays(d.g) <= DRAW_POOL * 8);
    for (int32_t a = 0; a < weir_graph_arrays(d.g); a++) {
      bytes[a] = 1 + weir_draw_int(&d.w, 0, 1000);
      keep[a] = weir_graph_get_array(d.g, a)->output != NULL;
    }
    assert_ok(weir_schedule_make(d.g, bytes, keep, &s));
    check_order(d.g, &s);
    check_offsets(d.g, &s, bytes, keep);
    weir_schedule_fini(&s);
    weir_graph_destroy(&d.g);
  }
}

static void whole_arrays_are_what_is_placed_by_default(void **state)
{
  draw_graph d = draw_make(6, false, false);
  int64_t bytes[DRAW_POOL * 8];
  const bool keep[DRAW_POOL * 8] = {false};
  weir_schedule stated, found;

  assert_ok(weir_passes_run(d.g, &(weir_pass_opts){.no_fusion = true}, NULL, NULL));
  for (int32_t a = 0; a < weir_graph_arrays(d.g); a++) {
    bytes[a] = weir_desc_bytes(&weir_graph_get_array(d.g, a)->desc);
  }
  assert_ok(weir_schedule_make(d.g, bytes, keep, &stated));
  assert_ok(weir_schedule_make(d.g, NULL, NULL, &found));
  assert_true(found.arena_bytes > 0 && found.arena_bytes == stated.arena_bytes);
  check_offsets(d.g, &found, bytes, keep);
  weir_schedule_fini(&stated);
  weir_schedule_fini(&found);
  weir_graph_destroy(&d.g);
}

static weir_plan *plan_of(weir_graph *g)
{
  weir_plan *p;

  assert_ok(weir_plan_create(g, NULL, NULL, &p));
  return p;
}

/* exp(x) is read for the last time by what doubles it, and twice by what shifts it. */
static void results_lie_where_operands_did(void **state)
{
  const weir_array_desc line = {.dtype = WEIR_F32, .rank = 1, .shape = {1000}};

  for (int shifted = 0; shifted < 2; shifted++) {
    weir_exec_cfg cfg;
    weir_graph *g;
    weir_plan *p;

    weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
    cfg.fusion = false;
    assert_ok(weir_graph_create(&g));
    const weir_value e = weir_exp(g, weir_input(g, "x", &line));

    weir_output(g, "y", weir_add(g, e, shifted ? weir_shift(g, e, 0, 1) : e));
    assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg}, &p));
    /* Memory for the sum and its operand, and for what is shifted. */
    assert_int_equal(weir_plan_arena_bytes(p), (1 + shifted) * 4032);
    weir_plan_destroy(&p);
    weir_graph_destroy(&g);
  }
}

/* A long chain next to a short one: whichever is begun, it is to be ended before the other. */
static void order_lowers_the_peak(void **state)
{
  const weir_array_desc line = {.dtype = WEIR_F32, .rank = 1, .shape = {1600}};
  weir_value sums[4];
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &line);

  for (int k = 0; k < 4; k++) {
    const weir_value y = weir_exp(g, weir_scale(g, x, k + 1));

    sums[k] = weir_sum(g, weir_mul(g, weir_shift(g, y, 0, 1), weir_cumsum(g, y, 0)), -1);
  }
  weir_output(g, "y", weir_add(g, weir_add(g, sums[0], sums[1]), weir_add(g, sums[2], sums[3])));
  weir_plan *p = plan_of(g);

  assert_true(weir_plan_arena_bytes(p) <= 2 * 6400 + 8 * 64);
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
}

static void stored_arrays_are_exchanged(void **state)
{
  weir_store *store;
  weir_graph *g;
  weir_plan *p;

  assert_ok(weir_store_create(&store));
  assert_ok(weir_store_add(store, "a", WEIR_F32, 0, NULL));
  assert_ok(weir_store_add(store, "b", WEIR_F32, 0, NULL));
  *(float *)check_stored(store, "a")->data = 1;
  *(float *)check_stored(store, "b")->data = 2;
  assert_ok(weir_graph_create(&g));
  const weir_value a = weir_stored(g, store, "a"), b = weir_stored(g, store, "b");

  weir_update(g, a, b);
  weir_update(g, b, a);
  weir_output(g, "sum", weir_add(g, a, b));
  assert_ok(weir_plan_create(g, store, NULL, &p));
  assert_ok(weir_plan_run(p, NULL, 0));
  assert_near(*(float *)check_stored(store, "a")->data, 2, 0);
  assert_near(*(float *)check_stored(store, "b")->data, 1, 0);
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
  weir_store_destroy(&store);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(live_arrays_never_share_memory),
      cmocka_unit_test(whole_arrays_are_what_is_placed_by_default),
      cmocka_unit_test(results_lie_where_operands_did),
      cmocka_unit_test(order_lowers_the_peak),
      cmocka_unit_test(stored_arrays_are_exchanged),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
