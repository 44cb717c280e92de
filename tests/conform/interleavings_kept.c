/* interleavings_kept.c - exchange policies that leave something out of each sum and keep it, in
 * every order of turns of two ranks, as far as choices go, in many drawn orders, and resumed on the
 * way: the result of every step is the same on all ranks and in every order, to the bit, and what
 * was given is what was returned and is kept.
 *
 *   conform_interleavings_kept                 a few seconds
 *   conform_interleavings_kept TEST [POLICY]   this test, of all policies or of one, with longer
 *                                              sequences of choices, 10^4 drawn orders, or 10^5
 *                                              steps */
#undef WEIR_HAVE_CMOCKA
#include <stdio.h>

#include "optim/exchange/gaussiank/gaussiank_priv.h"
#include "optim/exchange/oktopk/oktopk_priv.h"
#include "optim/exchange/onebit/onebit_priv.h"
#include "optim/exchange/powersgd/powersgd_priv.h"
#include "support/comm/turns_check.h"
#include "support/optim/compressed_check.h"

enum { STEPS = 6, RESUMED = 3, COUNT = 24, MAX_CHOICES = 16, MAX_RANKS = 5, SOAKED = 3 };

static const struct exchange_sparse_opts few = {.density = 0.2},
                                         dense = {.density = 0.2, .dense_steps = 2};
static const struct gaussiank_opts fitted = {
    .density = 0.2, .reselect_factor = 2, .scale = 1.012, .max_scalings = 20};
static const struct oktopk_opts balanced = {.density = 0.2,
                                            .reselect_factor = 2,
                                            .threshold_period = 2,
                                            .region_period = 3,
                                            .local_scale = 1.025,
                                            .global_scale = 1.025,
                                            .band = 1.1,
                                            .regions = OKTOPK_BALANCED};
static const struct powersgd_opts low_rank = {.rank = 1, .seed = 3, .warm_start = true},
                                  drawn = {.rank = 1, .seed = 3};
static const struct onebit_opts signs_of_velocity = {
    .freeze_step = 1, .block = 5, .momentum = 0.5, .values = SIGNS_MAGNITUDE};

static const struct {
  const char *name, *policy;
  const void *opts;
} cases[] = {{"topka", "topka", &few},
             {"topkdsa", "topkdsa", &few},
             {"gtopk", "gtopk", &few},
             {"gtopk after dense steps", "gtopk", &dense},
             {"gaussiank", "gaussiank", &fitted},
             {"oktopk", "oktopk", &balanced},
             {"powersgd", "powersgd", &low_rank},
             {"powersgd, factors drawn anew", "powersgd", &drawn},
             {"onebit", "onebit", &signs_of_velocity}};

enum { CASES = sizeof cases / sizeof cases[0] };

/* As the arguments say. */
static bool full;
static const char *only; /* policy, NULL: all */

static bool is_asked_for(int k)
{
  return only == NULL || strcmp(cases[k].policy, only) == 0;
}

static compressed prepare(int k, int ranks)
{
  compressed r = {.opts = cases[k].opts,
                  .dtype = WEIR_F32,
                  .ranks = ranks,
                  .steps = STEPS,
                  .resumed = RESUMED,
                  .count = COUNT,
                  .seed = 7,
                  .rate = 0.1,
                  .gradient = compressed_random};

  assert_ok(weir_exchange_find(cases[k].policy, &r.policy));
  return r;
}

static void check(int k, const compressed *r, const compressed *first)
{
  assert_conserved(r, 1e-5);
  for (int rank = 0; rank < r->ranks; rank++) {
    const size_t bytes = (size_t)r->count * sizeof(double);

    if (memcmp(r->weights[rank], first->weights[rank], bytes) != 0 ||
        memcmp(r->last[rank], first->last[rank], bytes) != 0 ||
        memcmp(r->kept[rank], first->kept[rank], bytes) != 0) {
      fail_msg("%s, rank %d of %d: other bits in another order", cases[k].name, rank, r->ranks);
    }
  }
}

/* Every sequence of the first n choices from a step on. Returns how many there are. */
static int64_t explore(int k, int ranks, int step, int64_t n)
{
  static compressed r, first;
  int choice[MAX_CHOICES] = {0}, ready[MAX_CHOICES];
  int64_t runs = 0;
  bool more = true;

  while (more) {
    weir_inproc_script script = {.choice = choice, .ready = ready, .n = n};

    r = prepare(k, ranks);
    r.script = &script;
    r.script_step = step;
    compressed_run(&r);
    if (runs == 0) {
      first = r;
    }
    check(k, &r, &first);
    runs++;
    more = turns_next(choice, &script);
  }
  fprintf(stderr, "%s, %d ranks, from step %d: %lld orders\n", cases[k].name, ranks, step,
          (long long)runs);
  return runs;
}

/* In a step, and where the policy is closed and opened with what it kept. */
static void every_order_of_turns(void **state)
{
  (void)state;
  for (int k = 0; k < CASES; k++) {
    for (int step = RESUMED - 1; step <= RESUMED && is_asked_for(k); step++) {
      assert_true(explore(k, 2, step, full ? 10 : 4) >= 4);
      assert_true(explore(k, 3, step, full ? 6 : 2) >= 4);
    }
  }
}

/* Half of the orders with messages that overtake one another. */
static void drawn_orders_of_turns(void **state)
{
  static const weir_inproc_fault late = {
      .event = WEIR_INPROC_DELAY, .from = -1, .to = -1, .share = 0.3, .min_s = 0.01, .max_s = 4};
  static compressed r, first[MAX_RANKS + 1];
  const uint64_t orders = full ? 10000 : 40;

  (void)state;
  for (int k = 0; k < CASES; k++) {
    for (uint64_t turns = 0; turns < orders && is_asked_for(k); turns++) {
      const int ranks = 2 + (int)(turns % (MAX_RANKS - 1));

      r = prepare(k, ranks);
      r.turns = turns;
      r.faults = &late;
      r.n_faults = turns / MAX_RANKS % 2 == 1;
      compressed_run(&r);
      if (turns < MAX_RANKS - 1) {
        first[ranks] = r;
      }
      check(k, &r, &first[ranks]);
    }
  }
}

/* Towards targets that differ from rank to rank. Rates below those at which a gradient that comes
 * 1 / density steps late overshoots. */
static void many_steps_end(void **state)
{
  static compressed r;

  (void)state;
  for (int k = 0; k < CASES; k++) {
    if (!is_asked_for(k)) {
      continue;
    }
    r = prepare(k, SOAKED);
    r.steps = full ? 100000 : 400;
    r.resumed = r.steps / 2;
    r.rate = 0.01;
    r.gradient = compressed_quadratic;
    const double before = compressed_distance(&r);

    compressed_run(&r);
    assert_conserved(&r, full ? 1e-3 : 1e-4);
    fprintf(stderr, "%s: %d steps, distance %.3g of %.3g\n", cases[k].name, r.steps,
            compressed_distance(&r), before);
    assert_true(compressed_distance(&r) < 0.2 * before);
  }
}

/* One of these by its name. */
static int run_one(const struct CMUnitTest *tests, size_t n, const char *name)
{
  for (size_t k = 0; k < n; k++) {
    if (strcmp(tests[k].name, name) == 0) {
      return weir_run_tests("interleavings_kept", &tests[k], 1, NULL, NULL);
    }
  }
  fprintf(stderr, "there is no test %s\n", name);
  return 2;
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_order_of_turns),
      cmocka_unit_test(drawn_orders_of_turns),
      cmocka_unit_test(many_steps_end),
  };
  const size_t n = sizeof tests / sizeof tests[0];

  full = argc > 1;
  only = argc > 2 ? argv[2] : NULL;
  return full ? run_one(tests, n, argv[1])
              : weir_run_tests("interleavings_kept", tests, n, NULL, NULL);
}
