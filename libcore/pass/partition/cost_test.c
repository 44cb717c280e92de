/* cost_test.c - predicted times and bytes of hand-made graphs against closed forms, and what must
 * hold for any machine. */
#include "pass/partition/weir_cost.h"

#include <math.h>
#include <string.h>

#include "base/weir_check.h"
#include "ops/conv/weir_conv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "support/ops/ops_check.h"
#include "ops/reduce/weir_reduce.h"
#include "pass/autodiff/weir_gradients.h"
#include "pass/partition/weir_spmd.h"

enum { SAMPLES = 4, LENGTH = 16, CHANNELS = 3, TAPS = 3 };

static const weir_machine usual = {.kernels = 1,
                                   .flops = 1e9,
                                   .bandwidth = 1e10,
                                   .latency = 1e-5,
                                   .link_bw = 1e8,
                                   .reduce_bw = 1e9,
                                   .overlap = 0,
                                   .tree = 64};

/* y = a convolution of x [samples, length, channels] of f64, sharded on a grid of samples and
 * length; with its gradient by w: a sum over all ranks. */
typedef struct problem {
  weir_graph *g;
  weir_partition *p;
} problem;

static problem make_sharded(int samples, int length, bool gradient, const int64_t *at)
{
  const weir_grid grid = {2, {samples, length}};
  const weir_array_desc x = {WEIR_F64, 3, {SAMPLES, LENGTH, CHANNELS}, 0};
  const weir_array_desc w = {WEIR_F64, 3, {TAPS, CHANNELS, CHANNELS}, 0};
  int64_t bounds[2][LENGTH + 1];
  problem c = {.g = new_graph()};
  const weir_value in = weir_input(c.g, "x", &x), filter = weir_input(c.g, "w", &w);
  const weir_value y = weir_conv(
      c.g, (&(weir_conv_spec){.pad_before = {TAPS / 2}, .pad_after = {TAPS / 2}}), in, filter);
  weir_value grad;

  if (gradient) {
    assert_ok(weir_gradients(c.g, weir_sum(c.g, y, -1), &filter, 1, &grad));
    weir_output(c.g, "grad", grad);
  } else {
    weir_output(c.g, "y", y);
  }
  for (int q = 0; q <= samples; q++) {
    bounds[0][q] = q * SAMPLES / samples;
  }
  for (int q = 0; q <= length; q++) {
    bounds[1][q] = at != NULL ? at[q] : q * LENGTH / length;
  }
  const int32_t array = weir_value_array(c.g, in);
  const weir_shard shards[] = {{array, 0, 0, bounds[0], 0, 0, false},
                               {array, 1, 1, bounds[1], 0, 0, false}};

  assert_ok(weir_partition_create(c.g, &grid, shards, 2, &c.p));
  return c;
}

static problem make(int samples, int length, bool gradient)
{
  return make_sharded(samples, length, gradient, NULL);
}

static void drop(problem *c)
{
  weir_partition_destroy(&c->p);
  weir_graph_destroy(&c->g);
}

static weir_cost cost_of(int samples, int length, bool gradient, const weir_machine *m)
{
  problem c = make(samples, length, gradient);
  weir_cost cost = {.seconds = NAN};

  assert_ok(weir_cost_of_grid(c.p, m, &(weir_pass_opts){.kernel = "none"}, &cost));
  drop(&c);
  return cost;
}

/* An inner rank of a sharded convolution has one element of each neighbour, the outer ones of one.
 */
static void a_halo_is_timed_by_its_messages(void **state)
{
  const int64_t face = SAMPLES * CHANNELS * 8;
  const weir_machine free_work = {.kernels = 1,
                                  .flops = INFINITY,
                                  .bandwidth = INFINITY,
                                  .latency = 1e-5,
                                  .link_bw = 1e8,
                                  .reduce_bw = INFINITY,
                                  .overlap = 0};
  weir_cost c = cost_of(1, 4, false, &free_work);

  assert_int_equal(c.halo_bytes, 2 * face);
  assert_int_equal(c.sum_bytes, 0);
  assert_int_equal(c.messages, 2);
  assert_near(c.waited_s, 2 * (1e-5 + (double)face * 1e-8), 1e-15);
  assert_near(c.seconds, c.waited_s, 1e-15);
  c = cost_of(1, 2, false, &free_work);
  assert_int_equal(c.halo_bytes, face);
  assert_near(c.seconds, 1e-5 + (double)face * 1e-8, 1e-15);
  c = cost_of(4, 1, false, &free_work); /* samples need nothing of one another */
  assert_int_equal(c.messages, 0);
  assert_near(c.seconds, 0, 0);
}

/* Multiply-adds of the convolution and nothing else, by the share that the largest rank has. */
static void work_is_that_of_the_largest_share(void **state)
{
  const weir_machine m = {.kernels = 1,
                          .flops = 1e9,
                          .bandwidth = INFINITY,
                          .link_bw = INFINITY,
                          .reduce_bw = INFINITY};
  const double whole = cost_of(1, 1, false, &m).flops;

  assert_near(cost_of(1, 1, false, &m).seconds, whole / 1e9, 1e-15);
  assert_true(whole <= 2.0 * SAMPLES * LENGTH * TAPS * CHANNELS * CHANNELS);
  assert_true(whole >= 1.8 * SAMPLES * (LENGTH - 1) * TAPS * CHANNELS * CHANNELS);
  assert_near(cost_of(4, 1, false, &m).seconds, whole / 4 / 1e9, 1e-15);
  assert_true(cost_of(3, 1, false, &m).seconds > 1.9 * whole / 4 / 1e9); /* 1, 1 and 2 samples */
}

static void gradients_are_summed_over_all_ranks(void **state)
{
  const int64_t bytes = (int64_t)TAPS * CHANNELS * CHANNELS * 8;
  const weir_machine m = {.kernels = 1,
                          .flops = INFINITY,
                          .bandwidth = INFINITY,
                          .latency = 1e-5,
                          .link_bw = 1e8,
                          .reduce_bw = 1e9};
  const weir_cost c = cost_of(4, 1, true, &m);

  assert_true(c.sum_bytes >= bytes && c.sum_bytes <= bytes + 8); /* the loss may be one, too */
  assert_true(c.seconds >= weir_allreduce_seconds(&m, 4, bytes) - 1e-15);
}

/* More of anything never makes a run shorter, and what is hidden is never more than there is. */
static void times_grow_with_latency_and_bytes(void **state)
{
  static const int grids[][2] = {{1, 4}, {2, 2}, {4, 1}};

  for (size_t i = 0; i < sizeof grids / sizeof grids[0]; i++) {
    for (int hidden = 0; hidden < 2; hidden++) {
      double last = 0;

      for (int step = 0; step < 8; step++) {
        weir_machine m = usual;

        m.overlap = hidden;
        m.latency *= 1 << (step + 1) / 2 * 2;
        m.link_bw /= 1 << step / 2 * 2;
        const weir_cost c = cost_of(grids[i][0], grids[i][1], true, &m);

        assert_true(c.seconds >= last);
        assert_near(c.seconds, c.compute_s + c.waited_s, 1e-15 + 1e-12 * c.seconds);
        last = c.seconds;
        m.overlap = 0;
        assert_true(c.seconds <= cost_of(grids[i][0], grids[i][1], true, &m).seconds * (1 + 1e-12));
      }
    }
  }
}

/* Free messages: the share of the work decides. Dear ones: their number. */
static void messages_and_shares_decide(void **state)
{
  weir_machine m = usual;

  m.latency = 0;
  m.link_bw = m.reduce_bw = INFINITY;
  assert_true(cost_of(2, 2, false, &m).seconds < cost_of(3, 1, false, &m).seconds);
  m = usual;
  m.latency = 1;
  assert_true(cost_of(4, 1, false, &m).seconds < cost_of(2, 2, false, &m).seconds);
  assert_true(cost_of(2, 2, false, &m).seconds < cost_of(1, 4, false, &m).seconds);
}

/* The result is all that is kept, and each rank has its share of it. */
static void memory_is_that_of_the_share(void **state)
{
  const int64_t bytes = (int64_t)SAMPLES * LENGTH * CHANNELS * 8;

  assert_int_equal(cost_of(1, 1, false, &usual).arena, bytes);
  assert_int_equal(cost_of(4, 1, false, &usual).arena, bytes / 4);
}

/* Whoever is first or last: of mirrored shardings the costs are the same. */
static void numbers_of_ranks_do_not_matter(void **state)
{
  static const int64_t at[2][4] = {{0, 2, 7, LENGTH}, {0, LENGTH - 7, LENGTH - 2, LENGTH}};
  weir_cost cost[2];

  for (int k = 0; k < 2; k++) {
    problem c = make_sharded(2, 3, false, at[k]);

    assert_ok(weir_cost_of_grid(c.p, &usual, &(weir_pass_opts){.kernel = "none"}, &cost[k]));
    drop(&c);
  }
  assert_near(cost[0].seconds, cost[1].seconds, 1e-15);
  assert_int_equal(cost[0].halo_bytes, cost[1].halo_bytes);
  assert_int_equal(cost[0].arena, cost[1].arena);
}

/* A dimension of many ranks has its largest costs at the coordinates that are looked at. */
static void few_places_stand_for_many(void **state)
{
  problem c = make(1, 8, false);
  weir_cost grid, one, max = {.seconds = 0};

  assert_ok(weir_cost_of_grid(c.p, &usual, &(weir_pass_opts){.kernel = "none"}, &grid));
  for (int rank = 0; rank < 8; rank++) {
    assert_ok(weir_cost_of_rank(c.p, rank, &usual, &(weir_pass_opts){.kernel = "none"}, &one));
    max = one.seconds > max.seconds ? one : max;
  }
  assert_near(grid.seconds, max.seconds, 1e-15);
  assert_int_equal(grid.halo_bytes, max.halo_bytes);
  drop(&c);
}

/* Nothing takes time but that there is a group, or an end of a move. */
static void every_group_and_every_end_of_a_move_is_launched(void **state)
{
  const weir_machine m = {.kernels = 1,
                          .flops = INFINITY,
                          .bandwidth = INFINITY,
                          .group_overhead = 1,
                          .link_bw = INFINITY,
                          .reduce_bw = INFINITY};

  assert_near(cost_of(4, 1, false, &m).seconds, 1, 1e-15); /* the convolution */
  assert_near(cost_of(1, 2, false, &m).seconds, 3, 1e-15); /* and its halo, sent and received */
}

/* Every group of every rank gets this time. */
static void know_groups(const problem *c, int ranks, double seconds, weir_profile *t)
{
  for (int rank = 0; rank < ranks; rank++) {
    weir_spmd_graph local;

    assert_ok(weir_spmd_lower(c->p, rank, &local));
    assert_ok(weir_passes_run(local.g, &(weir_pass_opts){.kernel = "none"}, NULL, NULL));
    for (int32_t i = 0; i < weir_graph_groups(local.g); i++) {
      char digest[65];

      assert_ok(weir_spmd_graph_digest(local.g, weir_graph_group(local.g, i), digest));
      assert_int_equal(strlen(digest), 64); /* ends of moves have one, too */
      assert_ok(weir_profile_add(t, weir_profile_key(t, digest), seconds));
    }
    weir_spmd_graph_fini(&local);
  }
}

/* Measured times replace computed ones, group by group; the rest is counted. */
static void measured_groups_take_what_was_measured(void **state)
{
  weir_profile times = {.setting = "here"};
  weir_machine m = usual;
  problem c = make(1, 2, false);
  weir_cost cost;

  m.times = &times;
  assert_ok(weir_cost_of_grid(c.p, &m, &(weir_pass_opts){.kernel = "none"}, &cost));
  assert_int_equal(cost.untimed, 3);
  assert_near(cost.seconds, cost_of(1, 2, false, &usual).seconds, 1e-15);
  know_groups(&c, 2, 0.25, &times);
  assert_ok(weir_cost_of_grid(c.p, &m, &(weir_pass_opts){.kernel = "none"}, &cost));
  assert_int_equal(cost.untimed, 0);
  assert_near(cost.compute_s, 0.75, 1e-12);
  assert_near(cost.waited_s, weir_message_seconds(&usual, SAMPLES * CHANNELS * 8), 1e-12);
  (void)strcpy(times.setting, "elsewhere");
  assert_ok(weir_cost_of_grid(c.p, &m, &(weir_pass_opts){.kernel = "none"}, &cost));
  assert_int_equal(cost.untimed, 3);
  drop(&c);
  weir_profile_fini(&times);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_halo_is_timed_by_its_messages),
      cmocka_unit_test(work_is_that_of_the_largest_share),
      cmocka_unit_test(gradients_are_summed_over_all_ranks),
      cmocka_unit_test(times_grow_with_latency_and_bytes),
      cmocka_unit_test(messages_and_shares_decide),
      cmocka_unit_test(memory_is_that_of_the_share),
      cmocka_unit_test(numbers_of_ranks_do_not_matter),
      cmocka_unit_test(few_places_stand_for_many),
      cmocka_unit_test(every_group_and_every_end_of_a_move_is_launched),
      cmocka_unit_test(measured_groups_take_what_was_measured),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
