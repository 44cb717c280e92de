/* memory_slow.c - the shipped networks under memory budgets, with plain and with weighted losses:
 * any budget from the least on is kept, and changes rounding only. */
#include <stdlib.h>
#include "nn/weir_loss.h"
#include "ops/elementwise/weir_elementwise.h"
#include "shipped.h"

enum { BUDGETS = 3 };

/* Weights that follow from the data, and are 0 for some. */
static weir_value weighted(weir_graph *g, weir_value made, weir_value y)
{
  return weir_loss_mse(g, made, y, weir_max_scalar(g, y, 0));
}

/* Shapes twice as long between sample and channel: arrays too small are never computed twice. */
static void enlarge(learner_job *job)
{
  for (int d = 1; d + 1 < job->x.rank; d++) {
    job->x.shape[d] *= 2;
  }
  for (int d = 1; d + 1 < job->y.rank; d++) {
    job->y.shape[d] *= 2;
  }
}

/* Arena within that budget, 0: none; where it is refused the least, negative. */
static int64_t arena_within(shipped *s, int k, int64_t budget)
{
  static const char least[] = "the smallest arena that was found is ";
  learner_job job = s->job[k];
  learner l;

  s->exec.memory = budget;
  job.sizes_only = true;
  const weir_status status = learner_open(&job, &l);
  const char *text = status == WEIR_OK ? NULL : strstr(weir_last_message(), least);

  assert_true(status == WEIR_OK || text != NULL);
  const int64_t bytes =
      text != NULL ? -strtoll(text + strlen(least), NULL, 10) : weir_plan_arena_bytes(l.plan);

  weir_clear_failure();
  learner_close(&l);
  return bytes;
}

static void check(shipped *s, int k)
{
  const weir_tolerance rounding = {1e-5, 1e-5};
  const int64_t whole = arena_within(s, k, 0), least = -arena_within(s, k, 1);

  assert_in_range(least, 1, whole);
  s->exec.memory = 0;
  outcome expected = outcome_of(&s->job[k]);

  for (int i = 0; i < BUDGETS; i++) {
    const int64_t budget = least + (whole - least) * i / BUDGETS;

    assert_in_range(arena_within(s, k, budget), 1, budget);
    outcome actual = outcome_of(&s->job[k]);

    assert_int_equal(
        weir_compare("budget", WEIR_F32, actual.values, expected.values, expected.n, rounding), 0);
    weir_free(&actual.values);
  }
  weir_free(&expected.values);
  printf("network %d: arena %lld, least %lld\n", k, (long long)whole, (long long)least);
  /* Where dense layers end a network, copies of weights and their gradients fill the arena. */
  assert_true(s->job[k].y.rank == 2 || least < whole);
}

static void every_network_keeps_budgets(void **state)
{
  shipped s;

  ship(&s);
  for (int k = 0; k < NETWORKS; k++) {
    enlarge(&s.job[k]);
    check(&s, k);
    s.job[k].loss = weighted;
    check(&s, k);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_network_keeps_budgets)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
