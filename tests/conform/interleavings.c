/* interleavings.c - exchange policies in every order of turns of two and three ranks, as far as
 * choices go, and in many drawn orders: no order loses a gradient or counts it twice, leaves
 * replicas apart, or ends in a deadlock. A rank passes its turn before each message that it sends,
 * and wherever it waits.
 *
 *   conform_interleavings                 a few seconds
 *   conform_interleavings TEST [POLICY]   this test, of all policies or of one, with longer
 *                                         sequences of choices, 10^4 drawn orders, or 10^5 steps */
#undef WEIR_HAVE_CMOCKA
#include <math.h>
#include <stdio.h>

#include "optim/exchange/adpsgd/adpsgd_priv.h"
#include "optim/exchange/dedloc/dedloc_priv.h"
#include "optim/exchange/eager/eager_priv.h"
#include "optim/exchange/local/local_priv.h"
#include "optim/exchange/moshpit/moshpit_priv.h"
#include "optim/exchange/sgp/sgp_priv.h"
#include "optim/exchange/wagma/wagma_priv.h"
#include "support/comm/turns_check.h"
#include "support/optim/replicas_check.h"

enum { STEPS = 3, COUNT = 4, MAX_CHOICES = 16, PERIOD = 2, MAX_RANKS = 5 };

/* What holds in every order. */
typedef enum law {
  CONSERVED, /* what a rank applies adds up to all gradients */
  AVERAGED,  /* weights of all ranks are equal every PERIOD steps, and in the end */
  FIXED,     /* nothing depends on the order */
  MEAN,      /* in the end all have the mean of what all have added to their weights */
  BETWEEN,   /* weights are means of some, and equal in the end */
  UPDATED,   /* each update is that of a batch, and all have the same ones in the end */
  ALIKE      /* all have the same updates in the end, each of part of a batch */
} law;

static const struct eager_opts solo = {.mode = EAGER_SOLO},
                               majority = {.mode = EAGER_MAJORITY, .seed = 3},
                               quorum = {.mode = EAGER_QUORUM},
                               limited = {.mode = EAGER_SOLO, .period = PERIOD},
                               all_of_them = {.mode = EAGER_SOLO, .period = 1};
static const struct wagma_opts groups = {.group = 2, .period = PERIOD};
static const struct local_opts every_second = {.period = PERIOD};
static const struct sgp_opts pushed = {.peers = 1}, next_step = {.peers = 1, .overlap = 1},
                             later = {.peers = 1, .overlap = 3};
static const struct adpsgd_opts pairs = {.partners = 4, .staleness = 4, .seed = 1},
                                waiting = {.partners = 0, .staleness = 1, .seed = 2};
static const struct moshpit_opts patient = {.period = 1, .timeout = 1e5},
                                 impatient = {.period = 1, .timeout = 1};
static const struct dedloc_opts one_batch = {.timeout = 1e5},
                                small_batch = {.target = 2, .timeout = 1};

static const struct {
  const char *name, *policy;
  const void *opts;
  law law;
  int fresh;   /* contributions of a version that are in time, in percent of the ranks: more than;
                  -1: there is not a version for each step */
  bool longer; /* the last step has more choices than are visited */
} cases[] = {
    {"eager, solo", "eager", &solo, CONSERVED, 0, false},
    {"eager, majority", "eager", &majority, CONSERVED, 0, false},
    {"eager, quorum", "eager", &quorum, CONSERVED, 50, false},
    {"eager, solo with a period", "eager", &limited, CONSERVED, 0, false},
    {"eager, all", "eager", &all_of_them, FIXED, 99, false},
    {"wagma", "wagma", &groups, AVERAGED, 0, false},
    {"local", "local", &every_second, FIXED, 99, false},
    {"dpsgd", "dpsgd", NULL, FIXED, 99, false},
    {"allreduce", "allreduce", NULL, FIXED, 99, false},
    {"sgp", "sgp", &pushed, FIXED, 99, false},
    {"sgp, merged in the next step", "sgp", &next_step, FIXED, -1, false},
    {"sgp, merged later", "sgp", &later, MEAN, -1, false},
    {"adpsgd", "adpsgd", &pairs, MEAN, -1, false},
    {"adpsgd that waits", "adpsgd", &waiting, MEAN, -1, true},
    {"moshpit", "moshpit", &patient, FIXED, 99, true},
    {"moshpit that leaves out silent ranks", "moshpit", &impatient, BETWEEN, -1, true},
    {"dedloc", "dedloc", &one_batch, UPDATED, -1, true},
    {"dedloc that leaves out silent ranks", "dedloc", &small_batch, ALIKE, -1, true},
};

enum { CASES = sizeof cases / sizeof cases[0] };

/* As the arguments say. */
static bool full;
static const char *only; /* policy, NULL: all */

static bool is_asked_for(int k)
{
  return only == NULL || strcmp(cases[k].policy, only) == 0;
}

/* Gradients and weights by which each rank, step and element is told from all others; multiples of
 * 6^6, so that the averages of few steps are whole. */
static int64_t number(const replicas *r, int rank, int step, int i, int64_t was)
{
  const bool weights = r->policy->what == WEIR_EXCHANGE_WEIGHTS;

  if (step < 0) {
    return weights ? (int64_t)46656 * (1 + rank * 37 + i) : 0;
  }
  return (weights ? was : 0) + (int64_t)46656 * (1 + ((int64_t)1 << (8 * rank)) * (step + 1) + i);
}

/* Weights to which each step adds a multiple of 2^44, of which few steps have few halves, and of
 * all numbers of ranks. */
static int64_t add_own(const replicas *r, int rank, int step, int i, int64_t was)
{
  (void)r;
  return (step < 0 ? 0 : was) + ((int64_t)60 << 44) * (rank + step * (i + 1) % 5 + 1);
}

/* Weights that no rank changes. */
static int64_t leave(const replicas *r, int rank, int step, int i, int64_t was)
{
  return step < 0 ? number(r, rank, step, i, was) : was;
}

/* The gradient of any rank in any step. */
static int64_t alike(const replicas *r, int rank, int step, int i, int64_t was)
{
  (void)r, (void)rank, (void)was;
  return step < 0 ? 0 : 840 * (i + 1);
}

/* Now and then a step takes longer: ranks are in several steps at once. */
static double uneven(const replicas *r, int rank, int step)
{
  const uint64_t at = (uint64_t)(rank * REPLICAS_STEPS + step);

  return r->seed == 0 || weir_random_uniform(r->seed, 2, 0, at) < 0.6
             ? 0
             : weir_random_uniform(r->seed, 1, 0, at) * 3;
}

static bool has_ranks(int k, int ranks)
{
  return strcmp(cases[k].policy, "wagma") != 0 || (ranks & (ranks - 1)) == 0;
}

static replicas prepare(int k, int ranks, weir_inproc_script *script)
{
  static int64_t (*const elements[])(const replicas *r, int rank, int step, int i, int64_t was) = {
      [CONSERVED] = number, [AVERAGED] = number, [FIXED] = number, [MEAN] = add_own,
      [BETWEEN] = leave,    [UPDATED] = alike,   [ALIKE] = alike};
  replicas r = {.opts = cases[k].opts,
                .ranks = ranks,
                .steps = STEPS,
                .count = COUNT,
                .computes_s = uneven,
                .element = elements[cases[k].law],
                .script = script};

  assert_ok(weir_exchange_find(cases[k].policy, &r.policy));
  return r;
}

static void check_conserved(const replicas *r)
{
  for (int rank = 0; rank < r->ranks; rank++) {
    for (int i = 0; i < r->count; i++) {
      int64_t posted = 0, applied = r->after[rank][r->steps][i];

      for (int step = 0; step < r->steps; step++) {
        applied += r->after[rank][step][i];
        for (int q = 0; q < r->ranks; q++) {
          posted += r->before[q][step][i];
        }
      }
      assert_int_equal(applied, posted);
    }
  }
}

/* Weights as old as the period are in no average. */
static void check_averaged(const replicas *r)
{
  for (int rank = 0; rank < r->ranks; rank++) {
    for (int step = PERIOD - 1; step <= r->steps; step += step < r->steps - 1 ? PERIOD : 1) {
      const bool average = step == r->steps || step % PERIOD == PERIOD - 1;

      assert_true(!average || memcmp(r->after[rank][step], r->after[0][step],
                                     (size_t)r->count * sizeof r->after[0][0][0]) == 0);
    }
    assert_true(r->counts[rank][r->steps].max_age < PERIOD);
  }
}

static void check_fixed(const replicas *r, const replicas *first)
{
  for (int rank = 0; rank < r->ranks; rank++) {
    for (int step = 0; step <= r->steps; step++) {
      assert_memory_equal(r->after[rank][step], first->after[rank][step],
                          (size_t)r->count * sizeof r->after[0][0][0]);
    }
  }
}

static void check_mean(const replicas *r)
{
  for (int i = 0; i < r->count; i++) {
    int64_t sum = 0;

    for (int rank = 0; rank < r->ranks; rank++) {
      for (int step = -1; step < r->steps; step++) {
        sum += add_own(r, rank, step, i, 0);
      }
    }
    for (int rank = 0; rank < r->ranks; rank++) {
      assert_int_equal(r->after[rank][r->steps][i], sum / r->ranks);
    }
  }
}

/* Within what rounding to whole numbers adds. */
static void check_between(const replicas *r)
{
  for (int i = 0; i < r->count; i++) {
    int64_t least = r->before[0][0][i], most = least;

    for (int rank = 1; rank < r->ranks; rank++) {
      least = r->before[rank][0][i] < least ? r->before[rank][0][i] : least;
      most = r->before[rank][0][i] > most ? r->before[rank][0][i] : most;
    }
    for (int rank = 0; rank < r->ranks; rank++) {
      for (int step = 0; step <= r->steps; step++) {
        assert_true(r->after[rank][step][i] >= least - step - 1);
        assert_true(r->after[rank][step][i] <= most + step + 1);
      }
      assert_int_equal(r->after[rank][r->steps][i], r->after[0][r->steps][i]);
    }
  }
}

/* The mean of any contributions, times the ranks. */
static void check_updated(const replicas *r)
{
  const int64_t update = r->ranks * alike(r, 0, 0, 0, 0), n = -r->weights[0][r->steps][0] / update;

  assert_true(n > 0 && n <= r->steps + 1);
  for (int i = 0; i < r->count; i++) {
    assert_int_equal(r->weights[0][r->steps][i], -n * update * (i + 1));
  }
}

/* No more than all contributions. */
static void check_alike(const replicas *r)
{
  for (int i = 0; i < r->count; i++) {
    const int64_t all = (int64_t)r->ranks * r->steps * alike(r, 0, 0, i, 0);

    for (int rank = 0; rank < r->ranks; rank++) {
      assert_int_equal(r->weights[rank][r->steps][i], r->weights[0][r->steps][i]);
    }
    if (!(r->weights[0][r->steps][i] <= 0 && r->weights[0][r->steps][i] >= -r->ranks * all)) {
      fail_msg("element %d: %lld of %lld", i, (long long)r->weights[0][r->steps][i],
               (long long)all);
    }
  }
}

static void check_counts(int k, const replicas *r)
{
  int64_t fresh = 0;

  for (int rank = 0; rank < r->ranks; rank++) {
    const weir_exchange_counts *c = &r->counts[rank][r->steps];

    assert_true(c->versions == r->steps || cases[k].fresh < 0);
    assert_true(c->fresh + c->stale <= c->versions && c->max_age <= r->steps);
    fresh += c->fresh;
  }
  assert_true(fresh >= r->steps || cases[k].fresh < 0);
  assert_true(100 * fresh > (int64_t)cases[k].fresh * r->ranks * r->steps);
}

static void check(int k, const replicas *r, const replicas *first)
{
  check_counts(k, r);
  switch (cases[k].law) {
  case CONSERVED:
    check_conserved(r);
    break;
  case AVERAGED:
    check_averaged(r);
    break;
  case FIXED:
    check_fixed(r, first);
    break;
  case MEAN:
    check_mean(r);
    break;
  case BETWEEN:
    check_between(r);
    break;
  case UPDATED:
    check_updated(r);
    check_alike(r);
    break;
  case ALIKE:
    check_alike(r);
    break;
  }
}

/* Every sequence of the first n choices from a step on. Returns how many there are. *complete: no
 * run has more choices. */
static int64_t explore(int k, int ranks, int step, int64_t n, bool *complete)
{
  static replicas r, first;
  int choice[MAX_CHOICES] = {0}, ready[MAX_CHOICES];
  int64_t runs = 0, most = 0;
  bool more = true;

  while (more) {
    weir_inproc_script script = {.choice = choice, .ready = ready, .n = n};

    r = prepare(k, ranks, &script);
    r.script_step = step;
    replicas_run(&r);
    if (runs == 0) {
      first = r;
    }
    check(k, &r, &first);
    runs++;
    most = script.taken > most ? script.taken : most;
    more = turns_next(choice, &script);
  }
  *complete = most <= n;
  fprintf(stderr, "%s, %d ranks, from step %d: %lld orders, %s\n", cases[k].name, ranks, step,
          (long long)runs, *complete ? "all there are" : "all of the first choices");
  return runs;
}

static void every_order_of_turns(void **state)
{
  bool complete = false;

  (void)state;
  for (int k = 0; k < CASES; k++) {
    for (int step = full ? 0 : STEPS - 2; step < STEPS - 1 && is_asked_for(k); step++) {
      assert_true(explore(k, 2, step, full ? 9 : 6, &complete) >= 4);
      if (has_ranks(k, 3)) {
        assert_true(explore(k, 3, step, full ? 5 : 4, &complete) >= 16);
      }
    }
    if (full && is_asked_for(k)) {
      (void)explore(k, 2, STEPS - 1, cases[k].longer ? 12 : MAX_CHOICES, &complete);
      assert_true(complete || cases[k].longer);
    }
  }
}

/* Half of the orders with messages that overtake one another. */
static void drawn_orders_of_turns(void **state)
{
  static const weir_inproc_fault late = {
      .event = WEIR_INPROC_DELAY, .from = -1, .to = -1, .share = 0.3, .min_s = 0.01, .max_s = 4};
  static replicas r, first[MAX_RANKS + 1];
  const uint64_t orders = full ? 10000 : 32;

  (void)state;
  for (int k = 0; k < CASES; k++) {
    for (uint64_t seed = 0; seed < orders && is_asked_for(k); seed++) {
      const int ranks = 2 + (int)(seed % (MAX_RANKS - 1));
      weir_inproc_script script = {.n = 0};

      if (!has_ranks(k, ranks)) {
        continue;
      }
      r = prepare(k, ranks, &script);
      r.seed = seed;
      r.steps = 6;
      r.faults = &late;
      r.n_faults = seed / MAX_RANKS % 2 == 1;
      replicas_run(&r);
      if (seed < MAX_RANKS) {
        first[ranks] = r;
      }
      check(k, &r, &first[ranks]);
    }
  }
}

/* ---- Many steps ---- */

/* Sums over the steps of each rank. */
typedef struct soak {
  const weir_exchange_desc *policy;
  const void *opts;
  int64_t steps, posted[MAX_RANKS], applied[MAX_RANKS];
  weir_exchange_counts counts[MAX_RANKS];
} soak;

static weir_status many_steps(weir_comm *c, void *context)
{
  soak *s = context;
  const int rank = weir_comm_rank(c);
  const weir_grid grid = {.dims = 1, .extent = {weir_comm_size(c)}};
  weir_comm_cfg cfg;
  int64_t buffer = 0;
  const weir_exchange_part part = {&buffer, WEIR_I64, 1, 1};
  const weir_exchange_args args = {
      .opts = s->opts, .comm = c, .grid = &grid, .part = &part, .n = 1};
  weir_status status = WEIR_OK;
  weir_exchange x;

  weir_opts_default(weir_comm_opts, sizeof cfg, &cfg);
  cfg.stall = WEIR_STALL_IGNORE; /* seconds are simulated */
  weir_comm_configure(c, &cfg);
  WEIR_TRY(weir_exchange_open(s->policy, &args, &x));
  for (int64_t step = 0; step < s->steps; step++) {
    const uint64_t at = (uint64_t)(rank * s->steps + step);

    buffer = (int64_t)(weir_random_bits(9, 0, 0, at) >> 32);
    s->posted[rank] += buffer;
    WEIR_TRY_GOTO(weir_inproc_sleep(c, weir_random_uniform(9, 1, 0, at)), done);
    WEIR_TRY_GOTO(weir_exchange_run(&x), done);
    s->applied[rank] += buffer;
  }
  WEIR_TRY_GOTO(weir_exchange_settle(&x), done);
  s->applied[rank] += buffer;
  s->counts[rank] = weir_exchange_count(&x);
done:
  weir_exchange_close(&x);
  return status;
}

static void many_steps_end(void **state)
{
  static const struct eager_opts mixed = {.mode = EAGER_QUORUM, .period = 32};
  const weir_inproc run = {.ranks = 3, .seed = 5};
  soak s = {.opts = &mixed, .steps = full ? 100000 : 1000};
  int64_t posted = 0;

  (void)state;
  assert_ok(weir_exchange_find("eager", &s.policy));
  assert_ok(weir_inproc_run(&run, many_steps, &s));
  for (int rank = 0; rank < run.ranks; rank++) {
    posted += s.posted[rank];
  }
  for (int rank = 0; rank < run.ranks; rank++) {
    assert_int_equal(s.applied[rank], posted);
    assert_int_equal(s.counts[rank].versions, s.steps);
  }
}

/* A weight to which each rank adds what it draws. */
typedef struct averages {
  int k; /* case */
  int64_t steps;
  double added[MAX_RANKS], weight[MAX_RANKS];
} averages;

static weir_status many_averages(weir_comm *c, void *context)
{
  averages *a = context;
  const int rank = weir_comm_rank(c);
  const weir_grid grid = {.dims = 1, .extent = {weir_comm_size(c)}};
  const weir_exchange_part part = {&a->weight[rank], WEIR_F64, 1, 1};
  const weir_exchange_args args = {
      .opts = cases[a->k].opts, .comm = c, .grid = &grid, .part = &part, .n = 1};
  const weir_exchange_desc *policy = NULL;
  weir_comm_cfg cfg;
  weir_status status = WEIR_OK;
  weir_exchange x;

  weir_opts_default(weir_comm_opts, sizeof cfg, &cfg);
  cfg.stall = WEIR_STALL_IGNORE; /* seconds are simulated */
  weir_comm_configure(c, &cfg);
  WEIR_TRY(weir_exchange_find(cases[a->k].policy, &policy));
  WEIR_TRY(weir_exchange_open(policy, &args, &x));
  for (int64_t step = 0; step < a->steps; step++) {
    const uint64_t at = (uint64_t)(rank * a->steps + step);
    const double draw = weir_random_uniform(10, 0, 0, at) - 0.5;

    a->weight[rank] += draw;
    a->added[rank] += draw;
    WEIR_TRY_GOTO(weir_inproc_sleep(c, weir_random_uniform(10, 1, 0, at)), done);
    WEIR_TRY_GOTO(weir_exchange_run(&x), done);
  }
  WEIR_TRY_GOTO(weir_exchange_settle(&x), done);
done:
  weir_exchange_close(&x);
  return status;
}

/* All have the mean of what all have added, or with late averages at least the same. */
static void many_averages_end(void **state)
{
  static const char *const policies[] = {"adpsgd", "dpsgd", "local", "moshpit", "sgp", "wagma"};
  const weir_inproc run = {.ranks = 4, .seed = 6};

  (void)state;
  for (int k = 0; k < CASES; k++) {
    averages a = {.k = k, .steps = full ? 100000 : 200};
    const bool late = cases[k].law == AVERAGED || cases[k].law == BETWEEN;
    double sum = 0;
    bool known = false;

    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
      known = known || strcmp(policies[i], cases[k].policy) == 0;
    }
    if (!known || !is_asked_for(k)) {
      continue;
    }
    assert_ok(weir_inproc_run(&run, many_averages, &a));
    for (int rank = 0; rank < run.ranks; rank++) {
      sum += a.added[rank];
    }
    for (int rank = 0; rank < run.ranks; rank++) {
      assert_true(a.weight[rank] == a.weight[0]);
    }
    fprintf(stderr, "%s: %lld steps, %.17g of %.17g\n", cases[k].name, (long long)a.steps,
            a.weight[0], sum / run.ranks);
    assert_true(late ? fabs(a.weight[0]) < (double)a.steps
                     : fabs(a.weight[0] - sum / run.ranks) < 1e-12 * (double)a.steps);
  }
}

/* One of these by its name. */
static int run_one(const struct CMUnitTest *tests, size_t n, const char *name)
{
  for (size_t k = 0; k < n; k++) {
    if (strcmp(tests[k].name, name) == 0) {
      return weir_run_tests("interleavings", &tests[k], 1, NULL, NULL);
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
      cmocka_unit_test(many_averages_end),
  };

  full = argc > 1;
  only = argc > 2 ? argv[2] : NULL;
  return full ? run_one(tests, sizeof tests / sizeof tests[0], argv[1])
              : weir_run_tests("interleavings", tests, sizeof tests / sizeof tests[0], NULL, NULL);
}
