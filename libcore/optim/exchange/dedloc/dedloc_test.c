/* dedloc_test.c - batches of a target size from unequal ranks: shares by bandwidth, the same
 * updates whoever contributes, and ranks that fall silent, die or come late. */
#include "optim/exchange/dedloc/dedloc_priv.h"
#include <math.h>
#include "support/optim/replicas_check.h"

extern const weir_exchange_desc weir_exchange_dedloc;

/* ---- Shares ---- */

static double time_of(const double *bandwidth, int n, const double *share)
{
  double most = 0;

  for (int i = 0; i < n; i++) {
    if (bandwidth[i] > 0) {
      most = fmax(most, (1 + (n - 2) * share[i]) / bandwidth[i]);
    }
  }
  return most;
}

/* The least time over the simplex of shares in steps of 1 / STEPS. */
enum { SIMPLEX = 40 };

static double search(const double *bandwidth, int n, double *share, int at, int left)
{
  double best = INFINITY;

  if (at == n - 1) {
    share[at] = (double)left / SIMPLEX;
    return bandwidth[at] > 0 || left == 0 ? time_of(bandwidth, n, share) : INFINITY;
  }
  for (int k = 0; k <= (bandwidth[at] > 0 ? left : 0); k++) {
    share[at] = (double)k / SIMPLEX;
    best = fmin(best, search(bandwidth, n, share, at + 1, left - k));
  }
  return best;
}

/* No point of the grid is faster, and the nearest one is slower by no more than its step allows. */
static void shares_are_the_fastest_of_all(void **state)
{
  (void)state;
  for (uint64_t k = 0; k < 40; k++) {
    const int n = 2 + (int)(k % 4);
    double bandwidth[5], share[5], point[5], sum = 0, least = INFINITY;

    for (int i = 0; i < n; i++) {
      bandwidth[i] = i > 0 && weir_random_uniform(k, 1, 0, (uint64_t)i) < 0.2
                         ? 0
                         : 0.2 + 3 * weir_random_uniform(k, 2, 0, (uint64_t)i);
      least = bandwidth[i] > 0 ? fmin(least, bandwidth[i]) : least;
    }
    const double xi = dedloc_shares(bandwidth, n, share);
    const double found = search(bandwidth, n, point, 0, SIMPLEX);
    double level = 0;

    for (int i = 0; i < n; i++) {
      assert_true(share[i] >= 0 && (bandwidth[i] > 0 || share[i] == 0));
      sum += share[i];
      /* Who has a share is as slow as all others that have one; else it is slower without. */
      if (n > 2 && share[i] > 0) {
        const double time = (1 + (n - 2) * share[i]) / bandwidth[i];

        assert_true(level == 0 || fabs(time - level) < 1e-9);
        level = time;
      }
    }
    assert_true(n == 2 || fabs(fmax(level, 1 / least) - xi) < 1e-9);
    assert_true(fabs(sum - 1) < 1e-9);
    assert_true(fabs(time_of(bandwidth, n, share) - xi) < 1e-9);
    assert_true(xi <= found + 1e-9);
    assert_true(found - xi <= (double)(n - 1) * (n - 2) / SIMPLEX / least + 1e-9);
  }
}

static void equal_ranks_share_evenly_and_one_fast_rank_serves_all(void **state)
{
  const double equal[4] = {3, 3, 3, 3}, fast[4] = {100, 1, 1, 1};
  double share[4];
  int64_t counts[4];

  (void)state;
  (void)dedloc_shares(equal, 4, share);
  dedloc_split(share, 4, 10, counts);
  assert_int_equal(counts[0] + counts[1] + counts[2] + counts[3], 10);
  for (int i = 0; i < 4; i++) {
    assert_true(fabs(share[i] - 0.25) < 1e-12);
    assert_true(counts[i] == 2 || counts[i] == 3);
  }
  (void)dedloc_shares(fast, 4, share);
  dedloc_split(share, 4, 10, counts);
  assert_true(share[0] == 1 && share[1] == 0);
  assert_int_equal(counts[0], 10);
}

/* ---- Ranks ---- */

/* The gradient of a sample at weights: of neither in proportion. */
static int64_t of_sample(int64_t sample, int i, int64_t weight)
{
  return 840 * ((int64_t)(weir_random_bits(7, 3, (uint32_t)sample, (uint64_t)i) >> 44) +
                (weight >> 3) % 1000);
}

static int64_t weight_of(const replicas *r, int rank, int step, int i)
{
  return step > 0 ? r->weights[rank][step - 1][i] : 0;
}

/* Two samples of each rank make a batch of eight. */
static int64_t of_equal_ranks(const replicas *r, int rank, int step, int i, int64_t was)
{
  (void)was;
  return step < 0
             ? 0
             : of_sample(8 * (step / 2) + 4 * (step % 2) + rank, i, weight_of(r, rank, step, i));
}

/* Five samples of rank 0 and one of each other rank make the same batch. */
static int64_t of_unequal_ranks(const replicas *r, int rank, int step, int i, int64_t was)
{
  const int64_t sample = rank == 0 ? 8 * (step / 5) + step % 5 : 8 * step + 4 + rank;

  (void)was;
  return step < 0 ? 0 : of_sample(sample, i, weight_of(r, rank, step, i));
}

static double alike(const replicas *r, int rank, int step)
{
  (void)r;
  (void)rank;
  (void)step;
  return 1;
}

/* Rank 0 is five times as fast. */
static double one_fast(const replicas *r, int rank, int step)
{
  (void)r;
  (void)step;
  return rank == 0 ? 1 : 4.5;
}

static replicas prepare(const struct dedloc_opts *opts, int ranks, int steps)
{
  return (replicas){.policy = &weir_exchange_dedloc,
                    .opts = opts,
                    .ranks = ranks,
                    .steps = steps,
                    .count = 7,
                    .computes_s = alike,
                    .element = of_equal_ranks};
}

/* The weights after each update of a rank, in order; returns how many. */
static int list_updates(const replicas *r, int rank, int64_t updates[][REPLICAS_COUNT])
{
  int n = 0;

  for (int step = 0; step < r->steps; step++) {
    const int64_t *before = step > 0 ? r->weights[rank][step - 1] : NULL;
    bool changed = before == NULL;

    for (int i = 0; i < r->count && before != NULL; i++) {
      changed = changed || before[i] != r->weights[rank][step][i];
    }
    if (changed && (before != NULL || r->weights[rank][step][0] != 0)) {
      memcpy(updates[n++], r->weights[rank][step], sizeof r->weights[rank][step]);
    }
  }
  return n;
}

/* The updates by hand: the mean of eight samples at the weights before, times four ranks. */
static void check_updates(const replicas *r, int n, int64_t updates[][REPLICAS_COUNT])
{
  for (int v = 0; v < n; v++) {
    for (int i = 0; i < r->count; i++) {
      const int64_t before = v > 0 ? updates[v - 1][i] : 0;
      int64_t sum = 0;

      for (int s = 0; s < 8; s++) {
        sum += of_sample(8 * v + s, i, before);
      }
      assert_int_equal(updates[v][i], before - 4 * (sum / 8));
    }
  }
}

/* Four equal ranks, and one fast and three slow ones: the same updates, bit by bit. */
static void updates_do_not_depend_on_who_contributes(void **state)
{
  static replicas equal, unequal;
  static int64_t of_equal[REPLICAS_STEPS][REPLICAS_COUNT],
      of_unequal[REPLICAS_STEPS][REPLICAS_COUNT];
  const struct dedloc_opts opts = {.target = 8, .timeout = 20};

  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    equal = prepare(&opts, 4, 12);
    equal.seed = seed;
    replicas_run(&equal);
    const int n = list_updates(&equal, 0, of_equal);

    assert_int_equal(n, 6);
    check_updates(&equal, n, of_equal);
    unequal = prepare(&opts, 4, 30);
    unequal.seed = seed;
    unequal.computes_s = one_fast;
    unequal.element = of_unequal_ranks;
    replicas_run(&unequal);
    assert_int_equal(list_updates(&unequal, 0, of_unequal), 6);
    assert_memory_equal(of_unequal, of_equal, (size_t)n * sizeof of_equal[0]);
  }
}

/* Whether the weights of a rank after a step are those that `of` had after some step, or at first.
 */
static bool has_had(const replicas *r, int of, const int64_t *weights)
{
  const size_t bytes = (size_t)r->count * sizeof *weights;
  static const int64_t first[REPLICAS_COUNT];
  bool found = memcmp(first, weights, bytes) == 0;

  for (int step = 0; step <= r->steps; step++) {
    found = found || memcmp(r->weights[of][step], weights, bytes) == 0;
  }
  return found;
}

/* The same gradient on all ranks in all steps, of which any mean is the same. */
static int64_t constant(const replicas *r, int rank, int step, int i, int64_t was)
{
  (void)r;
  (void)rank;
  (void)was;
  return step < 0 ? 0 : 840 * (int64_t)(i + 1);
}

static double uneven(const replicas *r, int rank, int step)
{
  return 0.1 + weir_random_uniform(r->seed, 1, 0, (uint64_t)(rank * REPLICAS_STEPS + step));
}

/* Any ranks, targets, shares and delays: an update is a mean of contributions, whoever gave them,
 * and all replicas make the same ones. */
static void every_update_is_a_mean_of_contributions(void **state)
{
  static replicas r;
  double speed[4] = {3, 1, 0, 2};
  const weir_inproc_fault slow = {
      .event = WEIR_INPROC_DELAY, .from = -1, .to = -1, .share = 0.3, .min_s = 0, .max_s = 2};

  (void)state;
  for (uint64_t seed = 0; seed < 40; seed++) {
    const int ranks = 1 + (int)(seed % 4);
    const struct dedloc_opts opts = {.target = (int64_t)(seed % 3) * 4,
                                     .timeout = 100,
                                     .bandwidth = {speed, seed % 2 == 0 ? 0 : ranks}};

    r = prepare(&opts, ranks, 12);
    r.seed = seed;
    r.computes_s = uneven;
    r.element = constant;
    r.faults = &slow;
    r.n_faults = 1;
    replicas_run(&r);
    for (int rank = 0; rank < ranks; rank++) {
      for (int step = 0; step <= r.steps; step++) {
        const int64_t updates = -r.weights[rank][step][0] / (840 * ranks);

        for (int i = 0; i < r.count; i++) {
          assert_int_equal(r.weights[rank][step][i], -updates * 840 * ranks * (i + 1));
        }
      }
      assert_memory_equal(r.weights[rank][r.steps], r.weights[0][r.steps],
                          (size_t)r.count * sizeof r.weights[0][0][0]);
    }
  }
}

enum { SILENT = 2 };

/* Asleep in its third step, or before its first one. */
static double one_sleeps(const replicas *r, int rank, int step)
{
  return rank == SILENT && step == (r->seed % 2 == 0 ? 2 : 0) ? 40 : 1;
}

static int64_t of_any_rank(const replicas *r, int rank, int step, int i, int64_t was)
{
  (void)was;
  return step < 0 ? 0 : of_sample(3 * step + rank, i, weight_of(r, rank, step, i));
}

/* The others go on after the timeout. The sleeper then takes the state of one of them: whatever
 * weights it has, others had them; its gradients count again; in the end all are equal. */
static void a_late_rank_takes_the_state_of_another(void **state)
{
  static replicas r;
  const struct dedloc_opts opts = {.timeout = 5};

  (void)state;
  for (uint64_t seed = 0; seed < 8; seed++) {
    int64_t fresh = 0;

    r = prepare(&opts, 3, 60);
    r.seed = seed;
    r.computes_s = one_sleeps;
    r.element = of_any_rank;
    replicas_run(&r);
    for (int step = 0; step < r.steps && r.done_s[SILENT][step] < r.done_s[0][r.steps - 1];
         step++) {
      assert_true(has_had(&r, 0, r.weights[SILENT][step]) ||
                  has_had(&r, 1, r.weights[SILENT][step]));
    }
    fresh = r.counts[SILENT][20].fresh - r.counts[SILENT][5].fresh;
    assert_true(fresh > 5);
    assert_true(r.done_s[0][5] < 25);
    for (int rank = 1; rank < 3; rank++) {
      assert_memory_equal(r.weights[rank][r.steps], r.weights[0][r.steps],
                          (size_t)r.count * sizeof r.weights[0][0][0]);
    }
  }
}

static int64_t by_rank(const replicas *r, int rank, int step, int i, int64_t was)
{
  (void)r;
  (void)was;
  return step < 0 ? 0 : 840 * (int64_t)(rank * rank + 1) * (i + 1);
}

/* Whether an element of an update is of so many contributions: three times their mean. */
static bool is_mean(int64_t update, int i, const int64_t n[3])
{
  int64_t sum = 0, all = 0;

  for (int rank = 0; rank < 3; rank++) {
    sum += n[rank] * 840 * (rank * rank + 1) * (i + 1);
    all += n[rank];
  }
  return -update == 3 * (sum / all);
}

/* Of survivors alone, each with one or more. */
static bool is_mean_of_survivors(int64_t update, int i)
{
  bool found = false;

  for (int64_t a = 1; a <= 4; a++) {
    for (int64_t b = 1; b <= 4; b++) {
      found = found || is_mean(update, i, (int64_t[]){a, b, 0});
    }
  }
  return found;
}

/* SILENT dies in its fourth update: rank 0 has its contribution, rank 1 has not. The update is
 * there within the timeout of means; elements that the dead rank reduces stay. Updates go on, of as
 * many contributions as before. */
static void a_rank_that_dies_in_an_update_is_left_out(void **state)
{
  static replicas r;
  const struct dedloc_opts opts = {.timeout = 5};
  const weir_inproc_fault death = {
      .event = WEIR_INPROC_DEATH, .from = SILENT, .to = 1, .first = 10, .count = 1};
  static int64_t of[2][REPLICAS_STEPS][REPLICAS_COUNT];
  bool stayed[REPLICAS_COUNT] = {false};
  int n_stayed = 0;

  (void)state;
  r = prepare(&opts, 3, 24);
  r.count = 6;
  r.element = by_rank;
  r.faults = &death;
  r.n_faults = 1;
  r.unsettled = true;
  replicas_run(&r);
  const int n0 = list_updates(&r, 0, of[0]), n1 = list_updates(&r, 1, of[1]);
  const int n = n0 < n1 ? n0 : n1; /* one may stop before the other */

  assert_memory_equal(of[0], of[1], (size_t)n * sizeof of[0][0]);
  assert_true(n >= 10);
  for (int v = 0; v < n; v++) {
    int all = 0, survivors = 0;

    for (int i = 0; i < r.count; i++) {
      const int64_t update = of[0][v][i] - (v > 0 ? of[0][v - 1][i] : 0);
      const bool no_mean = update == 0;

      all += is_mean(update, i, (int64_t[]){1, 1, 1});
      survivors += is_mean_of_survivors(update, i);
      assert_true(!(stayed[i] && no_mean)); /* the next one has the gradients of both */
      stayed[i] = no_mean;
      n_stayed += no_mean;
    }
    assert_int_equal(all, v < 3 ? 6 : v == 3 ? 2 : 0);
    assert_true(survivors >= (v < 3 ? 0 : 2));
    assert_int_equal(n_stayed, v < 3 ? 0 : 2 * (v - 2));
  }
  const double ends[2] = {r.done_s[0][r.steps - 1], r.done_s[1][r.steps - 1]};
  const double end = fmin(ends[0], ends[1]); /* then the other waits for this one, too */

  for (int rank = 0; rank < 2; rank++) {
    int late = 0;

    for (int step = 0; step < r.steps && r.done_s[rank][step] < end; step++) {
      const double waited = r.done_s[rank][step] - r.posted_s[rank][step];

      assert_true(waited <= 2 * opts.timeout + 1e-9);
      late += waited >= opts.timeout;
    }
    assert_int_equal(late, 1);
  }
}

/* Whether the weights of a rank change in steps (from, to]. */
static bool has_updates(const replicas *r, int rank, int from, int to)
{
  return memcmp(r->weights[rank][from], r->weights[rank][to],
                (size_t)r->count * sizeof r->weights[0][0][0]) != 0;
}

/* One message of each rank comes after the other has gone on without it, as where both have been
 * suspended: each takes itself for late, and nobody has a state to give. From where they settle
 * they make updates again. */
static void ranks_that_left_each_other_out_go_on(void **state)
{
  enum { FIRST = 12, STEPS = 24 };
  static replicas r;
  const struct dedloc_opts opts = {.timeout = 5};
  int stopped = 0;

  (void)state;
  for (int message = 0; message < 24; message++) {
    const weir_inproc_fault late = {.event = WEIR_INPROC_DELAY,
                                    .from = -1,
                                    .to = -1,
                                    .first = message,
                                    .count = 1,
                                    .min_s = 1.5 * opts.timeout};

    r = prepare(&opts, 2, STEPS);
    r.element = of_any_rank;
    r.faults = &late;
    r.n_faults = 1;
    r.settles_after = FIRST;
    replicas_run(&r);
    stopped +=
        !has_updates(&r, 0, FIRST - 4, FIRST - 2) && !has_updates(&r, 1, FIRST - 4, FIRST - 2);
    for (int step = FIRST + 1; step < STEPS - 1; step += 2) {
      assert_true(has_updates(&r, 0, step, step + 2) || step + 2 >= STEPS);
    }
    assert_memory_equal(r.weights[1][STEPS], r.weights[0][STEPS],
                        (size_t)r.count * sizeof r.weights[0][0][0]);
  }
  assert_true(stopped > 0);
}

static double a_few_ms(const replicas *r, int rank, int step)
{
  return 0.004 * uneven(r, rank, step);
}

static void threads_at_once_make_the_same_updates(void **state)
{
  static replicas r;
  const struct dedloc_opts opts = {.target = 6, .timeout = 30};

  (void)state;
  r = prepare(&opts, 4, 24);
  r.concurrent = true;
  r.computes_s = a_few_ms;
  r.element = constant;
  replicas_run(&r);
  for (int rank = 0; rank < 4; rank++) {
    assert_true(r.counts[rank][r.steps].versions > 3);
    assert_memory_equal(r.weights[rank][r.steps], r.weights[0][r.steps],
                        (size_t)r.count * sizeof r.weights[0][0][0]);
  }
}

static void bandwidths_of_other_numbers_of_ranks_are_refused(void **state)
{
  static replicas r;
  double speed[4] = {0, 0, 0, 0};

  (void)state;
  for (int64_t n = 3; n <= 4; n++) {
    const struct dedloc_opts opts = {.timeout = 5, .bandwidth = {speed, n}};
    const weir_inproc run = {.ranks = 4};

    r = prepare(&opts, 4, 1);
    assert_int_equal(weir_inproc_run(&run, replicas_body, &r), WEIR_ERR_CONFIG);
    assert_non_null(strstr(weir_last_message(), "one for each of the 4 replicas"));
    weir_clear_failure();
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shares_are_the_fastest_of_all),
      cmocka_unit_test(equal_ranks_share_evenly_and_one_fast_rank_serves_all),
      cmocka_unit_test(updates_do_not_depend_on_who_contributes),
      cmocka_unit_test(every_update_is_a_mean_of_contributions),
      cmocka_unit_test(a_late_rank_takes_the_state_of_another),
      cmocka_unit_test(a_rank_that_dies_in_an_update_is_left_out),
      cmocka_unit_test(ranks_that_left_each_other_out_go_on),
      cmocka_unit_test(threads_at_once_make_the_same_updates),
      cmocka_unit_test(bandwidths_of_other_numbers_of_ranks_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
