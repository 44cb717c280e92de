/* plan_random_test.c - random graphs: whatever the passes do, results stay the same to the bit. */
#include "support/exec/draw_run.h"
#include "device/weir_parallel.h"
#include "exec/weir_engine.h"
#include "pass/weir_pass.h"

#ifndef DRAW_GRAPHS
#define DRAW_GRAPHS 6
#endif
#ifndef DRAW_FIRST
#define DRAW_FIRST 0
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

static void print_graph(const draw_graph *d, uint64_t seed, const draw_way *way)
{
  print_error("graph %llu%s: fusion %d, %s engine, %d threads, cache %lld, chunk %lld\n",
              (unsigned long long)seed, d->stream ? ", stream" : "", way->fusion,
              weir_tier_name(way->tier), way->threads, (long long)way->cache_bytes,
              (long long)way->chunk);
  weir_graph_print(d->g, 64, stderr);
}

/* Fusion, tiles, threads and chunks of the stream against every node by itself in one piece. */
static void compare_ways(uint64_t seed, bool stream, weir_tier tier, double tolerance)
{
  static const int64_t caches[] = {0, 64, 640, 4096};
  draw_graph d = draw_make(seed, stream, tolerance > 0);
  const draw_way plain = {.tier = tier, .threads = 1, .chunk = DRAW_SLOTS};
  draw_outcome expected, actual;

  weir_status status = draw_run(&d, &plain, NULL, &expected);

  if (status != WEIR_OK) {
    print_graph(&d, seed, &plain);
  }
  assert_ok(status);
  for (int k = 0; k < 4; k++) {
    const draw_way way = {.tier = tier,
                          .fusion = k != 1,
                          .threads = 1 + k % 2,
                          .cache_bytes = caches[k],
                          .chunk = k == 0 ? DRAW_SLOTS : (int64_t[]){1, 37, 100, 11}[k]};

    status = draw_run(&d, &way, NULL, &actual);
    const int64_t at = status == WEIR_OK ? draw_difference(&actual, &expected, tolerance) : -1;

    if (at >= 0 || status != WEIR_OK) {
      print_graph(&d, seed, &way);
    }
    assert_ok(status);
    if (at >= 0) {
      print_error("element %lld of %lld (%lld): %.9g, expected %.9g\n", (long long)at,
                  (long long)actual.n, (long long)expected.n, (double)actual.values[at],
                  (double)expected.values[at]);
    }
    assert_true(at < 0);
    weir_free(&actual.values);
  }
  weir_free(&expected.values);
  weir_graph_destroy(&d.g);
}

static void passes_keep_every_bit(void **state)
{
  const bool vector = has_tier(WEIR_TIER_VECTOR);
  const weir_tier tier = vector ? WEIR_TIER_VECTOR : WEIR_TIER_REFERENCE;

  for (uint64_t seed = DRAW_FIRST; seed < DRAW_FIRST + DRAW_GRAPHS; seed++) {
    compare_ways(seed, seed % 2 != 0, tier, vector ? 0 : 2e-5);
  }
}

/* Compilers like to make one rounding of a cast to an integer and back, which keeps the sign of
 * zero where the cast does not. */
static void casts_forget_the_sign_of_zero(void **state)
{
  const weir_array_desc line = {.dtype = WEIR_F32, .rank = 1, .shape = {333}};

  for (weir_tier tier = WEIR_TIER_REFERENCE; tier <= WEIR_TIER_NATIVE; tier++) {
    draw_graph d = {.w = {.seed = 1}};
    const draw_way way = {.tier = tier, .fusion = true, .threads = 1};
    draw_outcome o;

    if (!has_tier(tier)) {
      continue;
    }
    assert_ok(weir_graph_create(&d.g));
    const weir_value x = weir_input(d.g, "x", &line);

    weir_output(d.g, "y",
                weir_cast(d.g, WEIR_F32, weir_cast(d.g, WEIR_I32, weir_scale(d.g, x, 3))));
    assert_ok(draw_run(&d, &way, NULL, &o));
    for (int64_t i = 333; i < o.n; i++) { /* the input comes first */
      assert_true(o.values[i] != 0 || !signbit(o.values[i]));
    }
    assert_int_equal(o.n, 666);
    weir_free(&o.values);
    weir_graph_destroy(&d.g);
  }
}

/* The oracle computes in double: within rounding. The others to the bit, for every graph. */
static void engines_agree(void **state)
{
  const bool vector = has_tier(WEIR_TIER_VECTOR), native = has_tier(WEIR_TIER_NATIVE);

  for (uint64_t seed = 50; seed < 54; seed++) {
    const bool smooth = seed % 4 < 2;
    draw_graph d = draw_make(seed, seed % 2 != 0, smooth);
    draw_outcome o[WEIR_TIER_NATIVE + 1];

    for (weir_tier tier = WEIR_TIER_REFERENCE; tier <= WEIR_TIER_NATIVE; tier++) {
      const draw_way way = {.tier = tier, .fusion = true, .threads = 2, .chunk = 100};

      if (has_tier(tier)) {
        assert_ok(draw_run(&d, &way, NULL, &o[tier]));
      }
    }
    assert_true(!smooth || !vector ||
                draw_difference(&o[WEIR_TIER_VECTOR], &o[WEIR_TIER_REFERENCE], 2e-5) < 0);
    assert_true(!vector || !native ||
                draw_difference(&o[WEIR_TIER_NATIVE], &o[WEIR_TIER_VECTOR], 0) < 0);
    for (weir_tier tier = WEIR_TIER_REFERENCE; tier <= WEIR_TIER_NATIVE; tier++) {
      if (has_tier(tier)) {
        weir_free(&o[tier].values);
      }
    }
    weir_graph_destroy(&d.g);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(casts_forget_the_sign_of_zero),
      cmocka_unit_test(engines_agree),
      cmocka_unit_test(passes_keep_every_bit),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
