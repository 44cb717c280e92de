/* moshpit_test.c - averages in groups along the axes of a grid: when all have the mean, how fast
 * many peers that fail now and then come together, and what silent ranks change. */
#include "optim/exchange/moshpit/moshpit_priv.h"
#include <math.h>
#include "base/weir_alloc.h"
#include "support/optim/replicas_check.h"

extern const weir_exchange_desc weir_exchange_moshpit;

/* ---- Many peers: groups alone ---- */

enum { PEERS = 1024, RESTARTS = 10, MAX_ROUNDS = 50 };

typedef struct peers {
  int n, side, axes;
  double fails; /* probability that a peer fails in a round */
  uint64_t seed;
  uint64_t draws;
  int64_t cell[PEERS];
  double x[PEERS];
  bool alive[PEERS];
} peers;

static double draw(peers *p)
{
  return weir_random_uniform(p->seed, 5, 0, p->draws++);
}

static double draw_normal(peers *p)
{
  const double u = 1 - draw(p), v = draw(p);

  return sqrt(-2 * log(u)) * cos(2 * acos(-1.0) * v);
}

static void swap(int64_t *a, int64_t *b)
{
  const int64_t t = *a;

  *a = *b;
  *b = t;
}

/* Draws `n` of the numbers 0 .. of - 1, in any order. */
static void draw_cells(peers *p, int64_t *cell, int of)
{
  for (int i = 0; i < of; i++) {
    cell[i] = i;
  }
  for (int i = 0; i < p->n; i++) {
    swap(&cell[i], &cell[i + (int)(draw(p) * (of - i))]);
  }
}

static double variance(const peers *p)
{
  double sum = 0, squares = 0;

  for (int i = 0; i < p->n; i++) {
    sum += p->x[i];
  }
  for (int i = 0; i < p->n; i++) {
    squares += (p->x[i] - sum / p->n) * (p->x[i] - sum / p->n);
  }
  return squares / p->n;
}

/* Peers that are alive take the mean of those of their group; group[i]: its number, below PEERS. */
static void average_groups(peers *p, const int64_t *group)
{
  double sum[PEERS] = {0};
  int count[PEERS] = {0};

  for (int i = 0; i < p->n; i++) {
    sum[group[i]] += p->alive[i] ? p->x[i] : 0;
    count[group[i]] += p->alive[i];
  }
  for (int i = 0; i < p->n; i++) {
    p->x[i] = p->alive[i] ? sum[group[i]] / count[group[i]] : p->x[i];
  }
}

static void moshpit_round(peers *p, int round)
{
  int64_t group[PEERS];

  for (int i = 0; i < p->n; i++) {
    group[i] = moshpit_group(p->cell[i], p->side, round % p->axes);
  }
  average_groups(p, group);
}

/* Groups of `side` peers that are alive, drawn anew; what remains joins the first groups. */
static void random_round(peers *p, int round)
{
  int64_t order[PEERS], group[PEERS] = {0};
  int at = 0, alive = 0;

  (void)round;
  for (int i = 0; i < p->n; i++) {
    alive += p->alive[i];
  }
  draw_cells(p, order, p->n);
  const int groups = alive / p->side;

  for (int k = 0; k < p->n; k++) {
    const int64_t i = order[k];

    if (p->alive[i]) {
      group[i] = at < groups * p->side ? at / p->side : at % groups;
      at++;
    }
  }
  average_groups(p, group);
}

/* Means of three neighbours in a ring, without those that failed. */
static void gossip_round(peers *p, int round)
{
  double next[PEERS];

  (void)round;
  for (int i = 0; i < p->n; i++) {
    double sum = 0;
    int count = 0;

    for (int k = p->n - 1; k <= p->n + 1; k++) {
      sum += p->alive[(i + k) % p->n] ? p->x[(i + k) % p->n] : 0;
      count += p->alive[(i + k) % p->n];
    }
    next[i] = p->alive[i] ? sum / count : p->x[i];
  }
  memcpy(p->x, next, sizeof next);
}

static void allreduce_round(peers *p, int round)
{
  const int64_t group[PEERS] = {0};

  (void)round;
  for (int i = 0; i < p->n; i++) {
    if (!p->alive[i]) {
      return;
    }
  }
  average_groups(p, group);
}

/* Rounds until the variance is below 1e-9, MAX_ROUNDS + 1 where it is not; mean of restarts. */
static double rounds_of(peers p, void (*average)(peers *p, int round))
{
  double sum = 0;

  for (int k = 0; k < RESTARTS; k++) {
    int round = 0;
    int64_t cells[PEERS];

    p.draws = 0;
    p.seed = (uint64_t)k;
    draw_cells(&p, cells, (int)pow(p.side, p.axes));
    memcpy(p.cell, cells, sizeof cells);
    for (int i = 0; i < p.n; i++) {
      p.x[i] = draw_normal(&p);
    }
    for (; round <= MAX_ROUNDS && variance(&p) >= 1e-9; round++) {
      for (int i = 0; i < p.n; i++) {
        p.alive[i] = draw(&p) >= p.fails;
      }
      average(&p, round + 1);
    }
    sum += round;
  }
  return sum / RESTARTS;
}

/* The same experiment as that of the authors, by whose rules the numbers were made; cells are
 * drawn.
 */
static void peers_come_together_in_as_many_rounds_as_published(void **state)
{
  static const struct {
    int n, side, axes;
    double fails, random_groups, moshpit;
  } row[] = {{1024, 32, 2, 0, 6.4, 2.0},    {1024, 32, 2, 0.005, 6.7, 5.1},
             {1024, 32, 2, 0.01, 6.8, 5.8}, {768, 32, 2, 0, 6.2, 6.0},
             {768, 32, 2, 0.01, 7.0, 7.0},  {512, 32, 2, 0, 6.2, 8.3}};

  (void)state;
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    const peers p = {
        .n = row[i].n, .side = row[i].side, .axes = row[i].axes, .fails = row[i].fails};
    const double moshpit = rounds_of(p, moshpit_round), groups = rounds_of(p, random_round);

    print_message("%4d peers, p = %g: %.1f rounds, %.1f in random groups\n", p.n, p.fails, moshpit,
                  groups);
    assert_true(fabs(moshpit - row[i].moshpit) <= 0.5);
    assert_true(fabs(groups - row[i].random_groups) <= 0.5);
    assert_true(rounds_of(p, gossip_round) > MAX_ROUNDS);
    assert_true(p.fails > 0 || rounds_of(p, allreduce_round) == 1);
  }
  /* Where half of the cells would be empty, a grid of more axes is full. */
  assert_true(rounds_of((peers){.n = 512, .side = 8, .axes = 3}, moshpit_round) == 3);
}

/* ---- Ranks ---- */

/* Weights that no rank changes: multiples of all group sizes of a few rounds. */
static int64_t keep(const replicas *r, int rank, int step, int i, int64_t was)
{
  const int64_t unit = (int64_t)840 * 840 * 840 * 840;

  (void)r;
  return step >= 0 ? was : unit * (rank * rank + 3 * i + 1);
}

static double alike(const replicas *r, int rank, int step)
{
  (void)r;
  (void)rank;
  (void)step;
  return 1;
}

static replicas prepare(const struct moshpit_opts *opts, int ranks, int steps)
{
  return (replicas){.policy = &weir_exchange_moshpit,
                    .opts = opts,
                    .ranks = ranks,
                    .steps = steps,
                    .count = 7,
                    .computes_s = alike,
                    .element = keep};
}

static int64_t sum_over(const replicas *r, int step, int i, bool after)
{
  int64_t sum = 0;

  for (int rank = 0; rank < r->ranks; rank++) {
    sum += after ? r->after[rank][step][i] : r->before[rank][step][i];
  }
  return sum;
}

/* Groups by hand: the ranks that differ in one digit; period 2. */
static void groups_differ_in_the_position_along_one_axis(void **state)
{
  static replicas r;
  const struct moshpit_opts opts = {.group = 2, .period = 2, .timeout = 5};

  (void)state;
  r = prepare(&opts, 8, 6);
  replicas_run(&r);
  for (int rank = 0; rank < 8; rank++) {
    for (int i = 0; i < r.count; i++) {
      for (int step = 0; step < 6; step++) {
        const int other = rank ^ (1 << step / 2);
        const int64_t mean = (r.before[rank][step][i] + r.before[other][step][i]) / 2;

        assert_int_equal(r.after[rank][step][i], step % 2 == 1 ? mean : r.before[rank][step][i]);
      }
      assert_int_equal(r.after[rank][5][i], sum_over(&r, 0, i, false) / 8);
    }
    assert_int_equal(r.counts[rank][6].fresh, 3);
  }
}

/* P = M^d, and also where the last row is missing; on other grids the total stays. */
static void full_grids_have_the_exact_mean_after_a_round_for_each_axis(void **state)
{
  static replicas r;

  (void)state;
  for (int ranks = 1; ranks <= REPLICAS_MAX; ranks++) {
    const struct moshpit_opts opts = {.period = 1, .timeout = 5};
    const int side = ranks > 4 ? 3 : ranks > 1 ? 2 : 1;

    r = prepare(&opts, ranks, 4);
    replicas_run(&r);
    for (int i = 0; i < r.count; i++) {
      for (int step = 0; step < r.steps; step++) {
        assert_int_equal(sum_over(&r, step, i, true), sum_over(&r, 0, i, false));
      }
      for (int rank = 0; rank < ranks; rank++) {
        if (ranks % side == 0) {
          assert_int_equal(r.after[rank][1][i], sum_over(&r, 0, i, false) / ranks);
        }
        assert_int_equal(r.after[rank][r.steps][i], sum_over(&r, 0, i, false) / ranks);
      }
    }
  }
}

static double uneven(const replicas *r, int rank, int step)
{
  return weir_random_uniform(r->seed, 1, 0, (uint64_t)(rank * REPLICAS_STEPS + step));
}

/* No order of ranks or messages changes anything while nobody is silent for too long. */
static void results_do_not_depend_on_who_is_first(void **state)
{
  static replicas r, first;
  const struct moshpit_opts opts = {.group = 2, .period = 1, .timeout = 50};
  const weir_inproc_fault slow = {
      .event = WEIR_INPROC_DELAY, .from = -1, .to = -1, .share = 0.3, .min_s = 0, .max_s = 4};

  (void)state;
  for (uint64_t seed = 0; seed < 200; seed++) {
    r = prepare(&opts, 4, 5);
    r.seed = seed;
    r.computes_s = uneven;
    r.faults = &slow;
    r.n_faults = 1;
    replicas_run(&r);
    if (seed == 0) {
      first = r;
    }
    assert_memory_equal(r.after, first.after, sizeof r.after);
  }
}

enum { SILENT = 2 };

/* Three ranks of one group; SILENT dies before its first message of the third round, of its fifth
 * message to any rank. */
static void a_dead_rank_is_left_out_and_waited_for_once(void **state)
{
  static replicas r;
  const struct moshpit_opts opts = {.group = 3, .period = 1, .timeout = 5};
  const weir_inproc_fault death = {
      .event = WEIR_INPROC_DEATH, .from = SILENT, .to = 0, .first = 4, .count = 1};

  (void)state;
  r = prepare(&opts, 3, 8);
  r.faults = &death;
  r.n_faults = 1;
  r.unsettled = true;
  r.count = 6;
  replicas_run(&r);
  /* Rounds 0 and 1 have the mean; then the weights of both others stay at that mean. */
  for (int rank = 0; rank < 2; rank++) {
    int late = 0;

    for (int i = 0; i < r.count; i++) {
      assert_int_equal(r.after[rank][0][i], sum_over(&r, 0, i, false) / 3);
      assert_int_equal(r.after[rank][7][i], r.after[rank][0][i]);
    }
    for (int step = 0; step < r.steps; step++) {
      const double waited = r.done_s[rank][step] - r.posted_s[rank][step];

      assert_true(waited <= 2 * opts.timeout + 1e-9);
      late += waited > 0.5;
    }
    assert_int_equal(late, 1);
    assert_int_equal(r.counts[rank][7].versions, 8);
  }
}

/* Elements by which the survivors differ again in each step. */
static int64_t differ(const replicas *r, int rank, int step, int i, int64_t was)
{
  (void)r;
  (void)was;
  return (int64_t)840 * (rank * rank * 5 + 7 * step + 3 * i + 40);
}

/* In the round of the death, shares with a living reducer are the mean of the survivors, and the
 * others stay; so the mean of the survivors does not move. Later it is another share that stays. */
static void survivors_take_their_mean(void **state)
{
  static replicas r;
  const struct moshpit_opts opts = {.group = 3, .period = 1, .timeout = 5};
  const weir_inproc_fault death = {
      .event = WEIR_INPROC_DEATH, .from = SILENT, .to = -1, .first = 4, .count = 1};
  bool stayed[REPLICAS_COUNT] = {false}, met[REPLICAS_COUNT] = {false};

  (void)state;
  r = prepare(&opts, 3, 8);
  r.faults = &death;
  r.n_faults = 1;
  r.unsettled = true;
  r.count = 6;
  r.element = differ;
  replicas_run(&r);
  for (int step = 2; step < r.steps; step++) {
    int means = 0;

    for (int i = 0; i < r.count; i++) {
      const int64_t sum = r.before[0][step][i] + r.before[1][step][i];
      const bool mean = r.after[0][step][i] == sum / 2;

      assert_int_equal(r.after[0][step][i] + r.after[1][step][i], sum);
      assert_int_equal(r.after[0][step][i], mean ? r.after[1][step][i] : r.before[0][step][i]);
      means += mean;
      stayed[i] = stayed[i] || !mean;
      met[i] = met[i] || mean;
    }
    assert_int_equal(means, 4);
  }
  for (int i = 0; i < r.count; i++) {
    assert_true(stayed[i] && met[i]);
  }
}

static double one_sleeps(const replicas *r, int rank, int step)
{
  (void)r;
  return rank == SILENT && step == 2 ? 40 : 1;
}

static int64_t add_own(const replicas *r, int rank, int step, int i, int64_t was)
{
  (void)r;
  return (step < 0 ? 0 : was) + (int64_t)10080 * 10080 * (rank * rank + step * (i + 1) + 2);
}

/* It sleeps for longer than the others wait; it then joins their round, first with the mean of
 * theirs and its own, and in the end all are equal. */
static void a_late_rank_comes_back(void **state)
{
  static replicas r;
  const struct moshpit_opts opts = {.group = 3, .period = 1, .timeout = 5};

  (void)state;
  r = prepare(&opts, 3, 60);
  r.computes_s = one_sleeps;
  r.element = add_own;
  replicas_run(&r);
  for (int rank = 0; rank < 3; rank++) {
    assert_memory_equal(r.after[rank][r.steps], r.after[0][r.steps],
                        (size_t)r.count * sizeof r.after[0][0][0]);
  }
  int fresh = 0;

  for (int step = 10; step < r.steps; step++) {
    fresh += r.counts[SILENT][step].fresh > r.counts[SILENT][step - 1].fresh;
  }
  assert_true(fresh > 10); /* its contributions count again */
  int waited = 0;

  for (int step = 0; step < r.steps; step++) {
    waited += r.done_s[0][step] - r.posted_s[0][step] >= opts.timeout;
  }
  assert_int_equal(waited, 1);
}

/* Where all meet, messages may be under way for much longer than a silent rank is waited for. */
static void late_messages_are_waited_for_in_the_end(void **state)
{
  static replicas r;
  const struct moshpit_opts opts = {.group = 2, .period = 1, .timeout = 1};
  const weir_inproc_fault slow = {
      .event = WEIR_INPROC_DELAY, .from = -1, .to = -1, .share = 0.3, .min_s = 5, .max_s = 40};

  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    r = prepare(&opts, 4, 6);
    r.seed = seed;
    r.faults = &slow;
    r.n_faults = 1;
    replicas_run(&r);
    for (int rank = 0; rank < 4; rank++) {
      assert_memory_equal(r.after[rank][r.steps], r.after[0][r.steps],
                          (size_t)r.count * sizeof r.after[0][0][0]);
    }
  }
}

static double a_few_ms(const replicas *r, int rank, int step)
{
  return 0.004 * uneven(r, rank, step);
}

static void threads_at_once_have_the_mean(void **state)
{
  static replicas r;
  const struct moshpit_opts opts = {.group = 2, .period = 1, .timeout = 30};

  (void)state;
  r = prepare(&opts, 4, 20);
  r.concurrent = true;
  r.computes_s = a_few_ms;
  replicas_run(&r);
  for (int rank = 0; rank < 4; rank++) {
    for (int i = 0; i < r.count; i++) {
      assert_int_equal(r.after[rank][1][i], sum_over(&r, 0, i, false) / 4);
    }
  }
}

static void groups_without_others_are_refused(void **state)
{
  static replicas r;
  const int64_t groups[] = {1, 5};

  (void)state;
  for (int k = 0; k < 2; k++) {
    const struct moshpit_opts opts = {.group = groups[k], .period = 1, .timeout = 5};
    const weir_inproc run = {.ranks = 4};

    r = prepare(&opts, 4, 1);
    assert_int_equal(weir_inproc_run(&run, replicas_body, &r), WEIR_ERR_CONFIG);
    assert_non_null(strstr(weir_last_message(), "is not from 2 to the number of replicas, 4"));
    weir_clear_failure();
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(peers_come_together_in_as_many_rounds_as_published),
      cmocka_unit_test(groups_differ_in_the_position_along_one_axis),
      cmocka_unit_test(full_grids_have_the_exact_mean_after_a_round_for_each_axis),
      cmocka_unit_test(results_do_not_depend_on_who_is_first),
      cmocka_unit_test(a_dead_rank_is_left_out_and_waited_for_once),
      cmocka_unit_test(survivors_take_their_mean),
      cmocka_unit_test(a_late_rank_comes_back),
      cmocka_unit_test(late_messages_are_waited_for_in_the_end),
      cmocka_unit_test(threads_at_once_have_the_mean),
      cmocka_unit_test(groups_without_others_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
