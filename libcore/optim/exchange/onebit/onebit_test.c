/* onebit_test.c - sums of signs: against both sides of the papers in plain loops, what is kept,
 * bytes, the dense beginning, convergence. */
#include "optim/exchange/onebit/onebit_priv.h"
#include "support/optim/compressed_check.h"

extern const weir_exchange_desc weir_exchange_onebit;

enum { COUNT = 211 };
static compressed r, other;

static compressed prepare(const struct onebit_opts *opts, weir_dtype dtype, int ranks, int steps)
{
  return (compressed){.policy = &weir_exchange_onebit,
                      .opts = opts,
                      .dtype = dtype,
                      .ranks = ranks,
                      .steps = steps,
                      .count = COUNT,
                      .seed = 5,
                      .gradient = compressed_random};
}

static void what_is_given_is_returned_or_kept(void **state)
{
  (void)state;
  for (int ranks = 1; ranks <= 5; ranks++) {
    for (int way = 0; way < 8; way++) {
      const struct onebit_opts opts = {.freeze_step = way % 2 * 4,
                                       .block = way % 3 * 16,
                                       .momentum = way / 2 % 2 * 0.9,
                                       .values = way / 4};

      r = prepare(&opts, WEIR_F64, ranks, 20);
      compressed_run(&r);
      assert_conserved(&r, 1e-12);
      r = prepare(&opts, WEIR_F32, ranks, 20);
      compressed_run(&r);
      assert_conserved(&r, 1e-5);
    }
  }
  const struct onebit_opts opts = {.momentum = 0.9};

  for (int64_t count = 0; count < 3; count++) { /* ranks without a share */
    r = prepare(&opts, WEIR_F64, 4, 5);
    r.count = count;
    compressed_run(&r);
    assert_conserved(&r, 1e-12);
  }
}

static void the_first_steps_are_sums(void **state)
{
  const struct onebit_opts opts = {.freeze_step = 6, .block = 16, .momentum = 0.9};

  (void)state;
  r = prepare(&opts, WEIR_F64, 4, 6);
  compressed_run(&r);
  for (int64_t i = 0; i < COUNT; i++) {
    const double given = r.given[0][i] + r.given[1][i] + r.given[2][i] + r.given[3][i];

    assert_true(fabs(given - r.returned[0][i]) < 1e-13);
    assert_true(r.kept[0][i] == 0);
  }
  assert_int_equal(r.sent[0][WEIR_COMM_EXCHANGE].sent, 0);
  r = prepare(&opts, WEIR_F64, 4, 7);
  compressed_run(&r);
  assert_int_equal(r.sent[0][WEIR_COMM_EXCHANGE].sent, 3);
  assert_true(r.kept[0][0] != 0);
}

/* To each other rank its share of 53 or 52 elements, and to all the own one. */
static void bytes_are_those_of_bits_and_blocks(void **state)
{
  const struct onebit_opts opts = {.block = 25};

  (void)state;
  r = prepare(&opts, WEIR_F32, 4, 10);
  compressed_run(&r);
  for (int q = 0; q < 4; q++) {
    const int64_t share = 3 * 8 + 7; /* (53 + 7) / 8 is (52 + 7) / 8 */

    assert_int_equal(r.sent[q][WEIR_COMM_EXCHANGE].sent_bytes, 10 * 3 * share);
    assert_int_equal(r.sent[q][WEIR_COMM_ALLGATHER].sent_bytes, 10 * 3 * share);
    assert_int_equal(r.sent[q][WEIR_COMM_REDUCE].sent_bytes, 0);
  }
}

/* ---- The papers in plain loops: errors of workers and of servers apart ---- */

enum { RANKS = 3 };
typedef struct oracle {
  double worker[RANKS][COUNT], server[COUNT], m[COUNT], sum[COUNT];
} oracle;

/* x <- its signs times the mean magnitude of [lo, hi), as f32. */
static void round_to_signs(double *x, int64_t lo, int64_t hi)
{
  double mean = 0;

  for (int64_t i = lo; i < hi; i++) {
    mean += fabs(x[i]) / (double)(hi - lo);
  }
  for (int64_t i = lo; i < hi; i++) {
    x[i] = x[i] >= 0 ? (float)mean : -(float)mean;
  }
}

/* Moments (1 - beta) v; returns what a rule with this beta makes the same moments of. */
static void follow(oracle *o, const compressed *c, int step, double beta, double back[COUNT])
{
  double g[COUNT], sent[COUNT], all[COUNT] = {0};

  for (int q = 0; q < RANKS; q++) {
    compressed_random(c, q, step, NULL, g);
    for (int64_t i = 0; i < COUNT; i++) {
      g[i] = (1 - beta) * g[i] + beta * o->m[i] / RANKS + o->worker[q][i];
      sent[i] = g[i];
    }
    for (int owner = 0; owner < RANKS; owner++) {
      const int64_t lo = owner * (COUNT / RANKS) + (owner < COUNT % RANKS ? owner : COUNT % RANKS);
      const int64_t hi = lo + COUNT / RANKS + (owner < COUNT % RANKS);

      if (owner != q) { /* what a rank gives itself does not travel */
        round_to_signs(sent, lo, hi);
      }
    }
    for (int64_t i = 0; i < COUNT; i++) {
      o->worker[q][i] = g[i] - sent[i];
      all[i] += sent[i];
    }
  }
  for (int64_t i = 0; i < COUNT; i++) {
    all[i] += o->server[i];
    sent[i] = all[i];
  }
  for (int owner = 0; owner < RANKS; owner++) {
    const int64_t lo = owner * (COUNT / RANKS) + (owner < COUNT % RANKS ? owner : COUNT % RANKS);

    round_to_signs(sent, lo, lo + COUNT / RANKS + (owner < COUNT % RANKS));
  }
  for (int64_t i = 0; i < COUNT; i++) {
    o->server[i] = all[i] - sent[i];
    back[i] = (sent[i] - beta * o->m[i]) / (1 - beta);
    o->m[i] = sent[i];
  }
}

static void steps_are_those_of_the_papers(void **state)
{
  (void)state;
  for (int k = 0; k < 2; k++) {
    const struct onebit_opts opts = {.momentum = k * 0.75};
    oracle o;
    double back[COUNT];

    memset(&o, 0, sizeof o);
    for (int steps = 1; steps <= 12; steps++) {
      r = prepare(&opts, WEIR_F64, RANKS, steps);
      follow(&o, &r, steps - 1, opts.momentum, back);
      compressed_run(&r);
      for (int64_t i = 0; i < COUNT; i++) {
        assert_true(fabs(r.last[0][i] - back[i]) < 1e-5 * (1 + fabs(back[i])));
      }
    }
  }
}

/* ---- Resumption ---- */

static void a_resumed_policy_goes_on(void **state)
{
  (void)state;
  for (int at = 2; at <= 6; at += 4) { /* before and after the first compressed step */
    const struct onebit_opts opts = {.freeze_step = 4, .block = 16, .momentum = 0.9};

    r = prepare(&opts, WEIR_F32, 3, 9);
    compressed_run(&r);
    other = prepare(&opts, WEIR_F32, 3, 9);
    other.resumed = at;
    compressed_run(&other);
    assert_memory_equal(r.returned[0], other.returned[0], sizeof r.returned[0]);
    assert_memory_equal(r.kept, other.kept, sizeof r.kept);
  }
}

/* ---- Convergence ---- */

enum { FREEZE = 40 };
static double first[COMPRESSED_RANKS][COUNT], second[COMPRESSED_RANKS][COUNT];

/* The rate goes to 0, since what the bits leave out is as large as it. */
static double rate_of(const compressed *c, int step)
{
  return c->rate * (1 - (double)step / c->steps);
}

static void descend(const compressed *c, int rank, int step, const double *g, double *w)
{
  (void)rank;
  for (int64_t i = 0; i < c->count; i++) {
    w[i] -= rate_of(c, step) * g[i];
  }
}

/* Adam whose second moment stays after FREEZE steps. */
static void adam(const compressed *c, int rank, int step, const double *g, double *w)
{
  const int seen = step < FREEZE ? step + 1 : FREEZE;

  for (int64_t i = 0; i < c->count; i++) {
    double *const m = &first[rank][i], *const v = &second[rank][i];

    *m = 0.9 * *m + 0.1 * g[i];
    *v = step < FREEZE ? 0.99 * *v + 0.01 * g[i] * g[i] : *v;
    w[i] -= rate_of(c, step) * *m / (1 - pow(0.9, step + 1)) /
            (sqrt(*v / (1 - pow(0.99, seen))) + 1e-8);
  }
}

static double train(const struct onebit_opts *opts, bool with_adam, double rate)
{
  memset(first, 0, sizeof first);
  memset(second, 0, sizeof second);
  r = prepare(opts, WEIR_F64, 4, 300);
  r.gradient = compressed_quadratic;
  r.rate = rate;
  r.update = with_adam ? adam : descend;
  const double before = compressed_distance(&r);

  compressed_run(&r);
  return compressed_distance(&r) / before;
}

static void a_quadratic_converges_to_the_minimum_of_all(void **state)
{
  const struct onebit_opts sums = {.freeze_step = 1000000}, bits = {.block = 32},
                           adam_bits = {.freeze_step = FREEZE, .block = 32, .momentum = 0.9};
  const double dense = train(&sums, false, 0.05), rounded = train(&bits, false, 0.05);
  const double dense_adam = train(&sums, true, 0.1), rounded_adam = train(&adam_bits, true, 0.1);

  (void)state;
  print_message("distance of the start that is left: %.3g, of sums %.3g; adam %.3g, of sums %.3g\n",
                rounded, dense, rounded_adam, dense_adam);
  assert_true(dense < 0.001 && rounded < 0.02);
  assert_true(dense_adam < 0.001 && rounded_adam < 0.1);
}

/* The rule's first moment is the one that ranks agreed on: signs times magnitudes of blocks. */
static void the_rule_has_the_moments_that_travelled(void **state)
{
  const struct onebit_opts bits = {.freeze_step = FREEZE, .block = 1000, .momentum = 0.9};

  (void)state;
  (void)train(&bits, true, 0.1);
  for (int q = 0; q < 4; q++) { /* one magnitude for each share, after steps of rounding */
    const int64_t lo = q * (COUNT / 4) + (q < COUNT % 4 ? q : COUNT % 4);

    for (int64_t i = 1; i < COUNT / 4; i++) {
      assert_true(fabs(fabs(first[0][lo + i]) / fabs(first[0][lo]) - 1) < 1e-9);
    }
  }
}

static void whole_numbers_are_refused(void **state)
{
  const struct onebit_opts opts = {.block = 16};

  (void)state;
  r = prepare(&opts, WEIR_I64, 2, 1);
  assert_int_equal(compressed_try(&r), WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(), "onebit: approximates f32 or f64"));
  weir_clear_failure();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_given_is_returned_or_kept),
      cmocka_unit_test(the_first_steps_are_sums),
      cmocka_unit_test(bytes_are_those_of_bits_and_blocks),
      cmocka_unit_test(steps_are_those_of_the_papers),
      cmocka_unit_test(a_resumed_policy_goes_on),
      cmocka_unit_test(a_quadratic_converges_to_the_minimum_of_all),
      cmocka_unit_test(the_rule_has_the_moments_that_travelled),
      cmocka_unit_test(whole_numbers_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
