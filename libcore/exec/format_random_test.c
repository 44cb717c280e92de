/* format_random_test.c - dimensions of every temporary in a random order: no result changes, in any
 * engine, to the bit. */
#include "device/weir_parallel.h"
#include "support/exec/draw_run.h"
#include "exec/weir_engine.h"
#include "pass/layout/weir_layout.h"

#ifndef FORMAT_GRAPHS
#define FORMAT_GRAPHS 8
#endif
#ifndef FORMAT_FIRST
#define FORMAT_FIRST 200
#endif

static bool has_tier(weir_tier tier)
{
  for (int i = 0; weir_engine_table[i] != NULL; i++) {
    if (weir_engine_table[i]->tier == tier) {
      return true;
    }
  }
  return false;
}

/* Every free array in a random order; every other node iterates as its result lies. Returns how
 * many arrays there were. */
static int shuffle(draw_graph *d, weir_draw *w)
{
  int n = 0;

  for (int32_t a = 0; a < weir_graph_arrays(d->g); a++) {
    const int rank = weir_graph_get_array(d->g, a)->desc.rank;
    int order[WEIR_MAX_RANK];

    if (!weir_layout_is_free(d->g, a) || rank < 2) {
      continue;
    }
    for (int k = 0; k < rank; k++) {
      const int other = (int)weir_draw_int(w, 0, k);

      order[k] = order[other];
      order[other] = k;
    }
    weir_layout_set(d->g, a, order);
    n++;
  }
  for (int32_t i = 0; i < weir_graph_nodes(d->g); i++) {
    if (weir_graph_node(d->g, i)->op != NULL && weir_draw_one_in(w, 2)) {
      (void)weir_layout_follow(d->g, i);
    }
  }
  return n;
}

static int compare(uint64_t seed, bool stream)
{
  draw_graph d = draw_make(seed, stream, false);
  weir_draw w = {.seed = seed + 1};
  draw_outcome expected[3], actual;
  const draw_way ways[] = {
      {.tier = WEIR_TIER_REFERENCE, .kernel = "none", .threads = 1, .chunk = DRAW_SLOTS},
      {.tier = WEIR_TIER_VECTOR, .kernel = "none", .fusion = true, .threads = 2, .chunk = 37},
      {.tier = WEIR_TIER_NATIVE,
       .kernel = "none",
       .fusion = true,
       .threads = 1,
       .chunk = 100,
       .cache_bytes = 640}};

  for (int k = 0; k < 3; k++) {
    if (has_tier(ways[k].tier)) {
      assert_ok(draw_run(&d, &ways[k], NULL, &expected[k]));
    }
  }
  const int n = shuffle(&d, &w);

  assert_ok(weir_graph_validate(d.g));
  for (int k = 0; k < 3; k++) {
    if (!has_tier(ways[k].tier)) {
      continue;
    }
    assert_ok(draw_run(&d, &ways[k], NULL, &actual));
    const int64_t at = draw_difference(&actual, &expected[k], 0);

    if (at >= 0) {
      print_error("graph %llu, %s engine: element %lld of %lld (%lld): %.9g, expected %.9g\n",
                  (unsigned long long)seed, weir_tier_name(ways[k].tier), (long long)at,
                  (long long)actual.n, (long long)expected[k].n, (double)actual.values[at],
                  (double)expected[k].values[at]);
      weir_graph_print(d.g, 64, stderr);
    }
    assert_true(at < 0);
    weir_free(&actual.values);
    weir_free(&expected[k].values);
  }
  weir_graph_destroy(&d.g);
  return n;
}

static void any_order_gives_the_same_bits(void **state)
{
  int n = 0;

  for (uint64_t seed = FORMAT_FIRST; seed < FORMAT_FIRST + FORMAT_GRAPHS; seed++) {
    n += compare(seed, seed % 5 == 0);
  }
  assert_true(n > FORMAT_GRAPHS); /* arrays of two dimensions and more do occur */
}

/* What the pass chooses, of arrays of any size, against graphs without it. (Where loops are fused
 * the oracle does not round what they hand each other.) */
static void compare_pass(uint64_t seed, weir_tier tier)
{
  draw_graph d = draw_make(seed, false, false);
  draw_way way = {.tier = tier,
                  .fusion = tier != WEIR_TIER_REFERENCE,
                  .threads = 1,
                  .kernel = "none",
                  .skip = "layout",
                  .min_layout_bytes = 1};
  draw_outcome expected, actual;

  assert_ok(draw_run(&d, &way, NULL, &expected));
  way.skip = NULL;
  way.verify = tier == WEIR_TIER_REFERENCE;
  assert_ok(draw_run(&d, &way, NULL, &actual));
  const int64_t at = draw_difference(&actual, &expected, 0);

  if (at >= 0) {
    print_error("graph %llu: element %lld of %lld: %.9g, expected %.9g\n", (unsigned long long)seed,
                (long long)at, (long long)actual.n, (double)actual.values[at],
                (double)expected.values[at]);
    weir_graph_print(d.g, 64, stderr);
  }
  assert_true(at < 0);
  weir_free(&actual.values);
  weir_free(&expected.values);
  weir_graph_destroy(&d.g);
}

static void what_the_pass_chooses_gives_the_same_bits(void **state)
{
  for (uint64_t seed = FORMAT_FIRST; seed < FORMAT_FIRST + 5 * FORMAT_GRAPHS; seed++) {
    const bool oracle = seed % 3 == 0 || !has_tier(WEIR_TIER_VECTOR);

    compare_pass(seed, oracle ? WEIR_TIER_REFERENCE : WEIR_TIER_VECTOR);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_order_gives_the_same_bits),
      cmocka_unit_test(what_the_pass_chooses_gives_the_same_bits),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
