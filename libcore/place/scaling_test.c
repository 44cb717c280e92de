/* scaling_test.c - simulated steps against closed forms and max-plus recursions; the same steps on
 * the clock of the machine. */
#include "place/weir_scaling.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "optim/exchange/eager/eager_priv.h"
#include "optim/exchange/local/local_priv.h"
#include "optim/exchange/wagma/wagma_priv.h"

enum { MAX_RANKS = 64 };

/* Messages that take no time. */
static const weir_network nothing = {.eager_max_bytes = 1e18};

static weir_scaling prepare(const char *policy, const void *opts, int64_t steps)
{
  weir_scaling s = {.opts = opts, .bytes = 1 << 20, .steps = steps, .compute_s = 0.31};

  weir_opts_default(weir_imbalance_opts, sizeof s.imbalance, &s.imbalance);
  weir_opts_default(weir_comm_opts, sizeof s.comm, &s.comm);
  assert_ok(weir_exchange_find(policy, &s.policy));
  return s;
}

/* Who must have posted a version before it begins. */
typedef enum rule { ALL, FIRST, DRAWN, NOBODY } rule;

/* Version v is over once the one before it is, and its initiator has posted v; a rank goes on when
 * both its own step and the version are over. The mean over ranks and steps. */
static double by_recursion(const weir_scaling *s, int ranks, rule (*rule_of)(int64_t version),
                           uint64_t seed)
{
  double posted[MAX_RANKS], free_s[MAX_RANKS] = {0}, over = 0, sum = 0;

  for (int64_t v = 0; v < s->steps; v++) {
    double first = INFINITY, last = 0;
    const int drawn = (int)(weir_random_uniform(seed, 0, 0, (uint64_t)v) * ranks);

    for (int r = 0; r < ranks; r++) {
      posted[r] = free_s[r] + s->compute_s +
                  weir_imbalance_delay(&s->imbalance, s->run, s->compute_s, r, ranks, v);
      first = fmin(first, posted[r]);
      last = fmax(last, posted[r]);
    }
    const rule by = rule_of(v);

    over = by == NOBODY ? 0 : fmax(over, by == ALL ? last : by == FIRST ? first : posted[drawn]);
    for (int r = 0; r < ranks; r++) {
      free_s[r] = fmax(posted[r], over);
    }
  }
  for (int r = 0; r < ranks; r++) {
    sum += free_s[r];
  }
  return sum / ranks / (double)s->steps;
}

static rule by_all(int64_t version)
{
  (void)version;
  return ALL;
}

static rule by_first(int64_t version)
{
  (void)version;
  return FIRST;
}

static rule by_drawn(int64_t version)
{
  (void)version;
  return DRAWN;
}

static rule every_fifth_by_all(int64_t version)
{
  return version % 5 == 4 ? ALL : FIRST;
}

static rule seldom(int64_t version)
{
  return version % 5 == 4 ? ALL : NOBODY;
}

/* Without costs of messages, on numbers of ranks and for imbalances of several kinds. */
static void steps_take_what_max_plus_says(void **state)
{
  static const struct eager_opts solo = {.mode = EAGER_SOLO, .seed = 1};
  static const struct eager_opts majority = {.mode = EAGER_MAJORITY, .seed = 3};
  static const struct wagma_opts wagma = {.period = 5};
  static const struct local_opts local = {.period = 5};
  const struct {
    const char *policy;
    const void *opts;
    rule (*rule_of)(int64_t version);
    uint64_t seed;
  } cases[] = {{"allreduce", NULL, by_all, 0},
               {"eager", &solo, by_first, 0},
               {"eager", &majority, by_drawn, 3},
               {"wagma", &wagma, every_fifth_by_all, 0},
               {"local", &local, seldom, 0}};
  const weir_imbalance_family families[] = {WEIR_IMBALANCE_RANDOM, WEIR_IMBALANCE_TAIL,
                                            WEIR_IMBALANCE_BURSTS, WEIR_IMBALANCE_FIXED};

  (void)state;
  for (int k = 0; k < 5; k++) {
    for (int f = 0; f < 4; f++) {
      const int ranks = 4 << f;
      weir_scaling s = prepare(cases[k].policy, cases[k].opts, 20);
      weir_scaling_result r;

      s.imbalance.family = (int)families[f];
      s.run = f;
      const double expected = by_recursion(&s, ranks, cases[k].rule_of, cases[k].seed);

      assert_ok(weir_scaling_simulate(&s, &nothing, ranks, &r));
      assert_near(r.step_s, expected, 1e-9);
      assert_true(r.slowest_s >= r.step_s - 1e-9);
    }
  }
}

/* k of P ranks that are late by d: c + d, and without waiting c + d k / P. */
static void late_ranks_cost_what_closed_forms_say(void **state)
{
  static const struct eager_opts solo = {.mode = EAGER_SOLO, .seed = 1};

  (void)state;
  for (int k = 1; k <= 4; k *= 2) {
    for (int ranks = 8; ranks <= MAX_RANKS; ranks *= 8) {
      weir_scaling s = prepare("allreduce", NULL, 25);
      weir_scaling_result r;

      s.imbalance.ranks = k;
      assert_ok(weir_scaling_simulate(&s, &nothing, ranks, &r));
      assert_near(r.step_s, s.compute_s + s.imbalance.delay_s, 1e-9);
      assert_near(r.waited_s, s.imbalance.delay_s * (ranks - k) / ranks, 1e-9);
      assert_true(r.fresh == 1);
      s = prepare("eager", &solo, 25);
      s.imbalance.ranks = k;
      assert_ok(weir_scaling_simulate(&s, &nothing, ranks, &r));
      assert_near(r.step_s, s.compute_s + s.imbalance.delay_s * k / ranks, 1e-9);
      assert_near(r.waited_s, 0, 1e-9);
    }
  }
}

/* A sum of bytes in halves on a network, of which a part is simulated. */
static void a_network_adds_its_time(void **state)
{
  const weir_network n = {.latency = 1e-6,
                          .overhead = 3e-7,
                          .gap = 1e-7,
                          .link_bw = 1e9,
                          .eager_max_bytes = 1e18,
                          .reduce_bw = 2e9};

  (void)state;
  for (int ranks = 1; ranks <= MAX_RANKS; ranks *= 4) {
    weir_scaling s = prepare("allreduce", NULL, 4);
    double expected = s.compute_s;
    weir_scaling_result r;

    s.imbalance.family = WEIR_IMBALANCE_NONE;
    for (int k = 2; k <= ranks; k *= 2) {
      const double bytes = (double)s.bytes / k;

      expected += 2 * (2 * n.overhead + n.latency + (bytes - 1) / n.link_bw) + bytes / n.reduce_bw;
    }
    assert_ok(weir_scaling_simulate(&s, &n, ranks, &r));
    assert_near(r.step_s, expected, 1e-12);
    assert_near(r.slowest_s, expected, 1e-12);
    assert_near(r.waited_s, expected - s.compute_s, 1e-12);
    assert_near(r.sent_bytes, 2.0 * (double)s.bytes * (ranks - 1) / ranks, 1e-9);
    assert_near(r.sent, 2 * log2(ranks), 1e-12);
  }
}

/* The time of a sum of few bytes is that of the tree, whatever stands for them. */
static void the_path_of_a_sum_is_that_of_its_real_size(void **state)
{
  const weir_network n = {.latency = 1e-3, .eager_max_bytes = 1e18};
  weir_scaling s = prepare("allreduce", NULL, 1);
  weir_scaling_result r;

  (void)state;
  s.imbalance.family = WEIR_IMBALANCE_NONE;
  s.bytes = s.comm.tree_max_bytes;
  assert_ok(weir_scaling_simulate(&s, &n, 16, &r));
  assert_near(r.sent, 2 * 15.0 / 16, 1e-12);
  s.bytes += 4;
  assert_ok(weir_scaling_simulate(&s, &n, 16, &r));
  assert_near(r.sent, 8, 1e-12);
}

static weir_status measure(weir_comm *c, void *context)
{
  const weir_scaling *s = context;
  weir_scaling_result r;

  WEIR_TRY(weir_scaling_measure(s, c, &r));
  const double least = s->compute_s + s->imbalance.delay_s;

  assert_true(r.step_s >= least && r.slowest_s >= r.step_s);
  assert_true(r.waited_s >= 0.4 * s->imbalance.delay_s && r.fresh == 1);
  assert_near(r.sent_bytes, 2.0 * (double)s->bytes * 3 / 4, 1e-9);
  return WEIR_OK;
}

/* Every sleep takes at least its time; how much longer depends on the machine. */
static void ranks_are_measured(void **state)
{
  weir_scaling s = prepare("allreduce", NULL, 8);
  const weir_inproc run = {.ranks = 4, .concurrent = true};

  (void)state;
  s.compute_s = 0.002;
  s.imbalance.delay_s = 0.01;
  assert_ok(weir_inproc_run(&run, measure, &s));
}

/* Two steps of a policy on a buffer of zeros or of drawn numbers; bytes that each rank sends. */
enum { FEW = 4 };
typedef struct sending {
  const weir_exchange_desc *policy;
  int64_t count;
  bool drawn;
  int64_t bytes[FEW];
} sending;

static weir_status send_twice(weir_comm *c, void *context)
{
  sending *const s = context;
  const weir_grid grid = {.dims = 1, .extent = {weir_comm_size(c)}};
  float *data = NULL;
  weir_exchange x = {.policy = NULL};
  weir_status status;

  WEIR_TRY(weir_alloc(s->count, sizeof *data, (void **)&data));
  for (int64_t i = 0; i < s->count && s->drawn; i++) {
    data[i] = (float)weir_random_normal(1, 0, (uint32_t)weir_comm_rank(c), (uint64_t)i);
  }
  const weir_exchange_part part = {data, WEIR_F32, s->count, 1};
  const weir_exchange_args args = {.comm = c, .grid = &grid, .part = &part, .n = 1};

  WEIR_TRY_GOTO(weir_exchange_open(s->policy, &args, &x), done);
  WEIR_TRY_GOTO(weir_exchange_run(&x), done);
  WEIR_TRY_GOTO(weir_exchange_run(&x), done);
  WEIR_TRY_GOTO(weir_exchange_settle(&x), done);
  const weir_exchange_counts counts = weir_exchange_count(&x);

  s->bytes[weir_comm_rank(c)] = counts.payload_bytes + counts.index_bytes;
done:
  weir_exchange_close(&x);
  weir_free(&data);
  return status;
}

static int64_t bytes_of(const weir_exchange_desc *policy, int64_t count, bool drawn)
{
  sending s = {.policy = policy, .count = count, .drawn = drawn};
  const weir_inproc run = {.ranks = FEW, .network = &nothing};
  int64_t sum = 0;

  assert_ok(weir_inproc_run(&run, send_twice, &s));
  for (int r = 0; r < FEW; r++) {
    sum += s.bytes[r];
  }
  return sum;
}

/* What a simulation relies on: four times the elements are four times the bytes, whatever they are;
 * a policy of which that does not hold is refused. */
static void bytes_of_simulated_policies_are_in_proportion(void **state)
{
  enum { N = 16384 }; /* above the size up to which sums go along a tree */
  int admitted = 0;

  (void)state;
  for (int i = 0; weir_exchange_table[i] != NULL; i++) {
    const weir_exchange_desc *policy = weir_exchange_table[i];
    const weir_scaling s = prepare(policy->name, NULL, 2);
    weir_scaling_result r;

    if (weir_scaling_check(policy) != WEIR_OK) {
      assert_non_null(strstr(weir_last_message(), policy->name));
      assert_int_equal(weir_scaling_simulate(&s, &nothing, FEW, &r), WEIR_ERR_UNSUPPORTED);
      weir_clear_failure();
      continue;
    }
    const double zeros = (double)bytes_of(policy, N, false);

    assert_true(zeros > 0);
    assert_near((double)bytes_of(policy, N, true), zeros, 0);
    assert_near((double)bytes_of(policy, 4 * N, true), 4 * zeros, 0.01 * 4 * zeros);
    admitted++;
  }
  assert_true(admitted > 0);
  weir_clear_failure();
}

static void errors_of_policies_are_reported(void **state)
{
  const weir_scaling s = prepare("wagma", NULL, 2);
  weir_scaling_result r;

  (void)state;
  assert_int_equal(weir_scaling_simulate(&s, &nothing, 6, &r), WEIR_ERR_CONFIG);
  weir_clear_failure();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_take_what_max_plus_says),
      cmocka_unit_test(late_ranks_cost_what_closed_forms_say),
      cmocka_unit_test(a_network_adds_its_time),
      cmocka_unit_test(the_path_of_a_sum_is_that_of_its_real_size),
      cmocka_unit_test(ranks_are_measured),
      cmocka_unit_test(bytes_of_simulated_policies_are_in_proportion),
      cmocka_unit_test(errors_of_policies_are_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
