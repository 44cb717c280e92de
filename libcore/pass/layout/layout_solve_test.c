/* layout_solve_test.c - elimination against every choice there is, and where it gives up. */
#include "pass/layout/layout_solve.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"

enum { MAX = 9, CASES = 300 };

static int32_t draw(uint64_t *at, int32_t lo, int32_t hi)
{
  return lo + (int32_t)(weir_random_uniform(7, 0, 0, (*at)++) * (hi - lo + 1));
}

/* Costs are multiples of 1/8: sums are exact in any order. Some combinations are forbidden. */
static void add(layout_problem *p, const int32_t *var, int n, uint64_t *at)
{
  double *cost = NULL;
  int64_t size = 1;

  for (int i = 0; i < n; i++) {
    size *= p->size[var[i]];
  }
  assert_ok(layout_factor_add(p, var, n, &cost));
  for (int64_t i = 0; i < size; i++) {
    cost[i] = i > 0 && draw(at, 0, 5) == 0 ? 1e9 : draw(at, 0, 80) * 0.125;
  }
}

/* A chain with some arcs over it. */
static void make(layout_problem *p, int32_t *size, int arcs, uint64_t *at)
{
  *p = (layout_problem){.n = draw(at, 1, MAX), .size = size};
  for (int32_t v = 0; v < p->n; v++) {
    size[v] = draw(at, 1, 4);
  }
  for (int32_t v = 0; v < p->n; v++) {
    add(p, &v, 1, at);
    if (v + 1 < p->n) {
      add(p, (const int32_t[]){v, v + 1}, 2, at);
    }
  }
  for (int i = 0; i < arcs && p->n > 3; i++) {
    const int32_t from = draw(at, 0, p->n - 3), to = draw(at, from + 2, p->n - 1);

    add(p, (const int32_t[]){from, from + 1, to}, to > from + 1 ? 3 : 2, at);
  }
}

static double least_of_all(const layout_problem *p)
{
  int32_t choice[MAX] = {0};
  double min = INFINITY;

  for (;;) {
    int32_t v = 0;

    min = fmin(min, layout_cost_of(p, choice));
    for (; v < p->n && ++choice[v] == p->size[v]; v++) {
      choice[v] = 0;
    }
    if (v == p->n) {
      return min;
    }
  }
}

/* Solves a copy of the factors, so that the cost can be asked afterwards. */
static double solve(const layout_problem *p, int64_t max, bool *exact, int32_t *choice)
{
  layout_problem copy = {.n = p->n, .size = p->size};

  for (int64_t k = 0; k < p->n_factors; k++) {
    const layout_factor *f = &p->factors[k];
    double *cost = NULL;
    int64_t size = 1;

    for (int i = 0; i < f->n; i++) {
      size *= p->size[f->var[i]];
    }
    assert_ok(layout_factor_add(&copy, f->var, f->n, &cost));
    memcpy(cost, f->cost, sizeof(*cost) * (size_t)size);
  }
  assert_ok(layout_solve(&copy, max, choice, exact));
  layout_problem_fini(&copy);
  return layout_cost_of(p, choice);
}

static void elimination_finds_the_least_of_all(void **state)
{
  uint64_t at = 0;

  for (int i = 0; i < CASES; i++) {
    int32_t size[MAX], choice[MAX] = {0}, again[MAX] = {0};
    layout_problem p;
    bool exact;

    make(&p, size, i % 4, &at);
    const double min = least_of_all(&p);

    assert_true(solve(&p, 1 << 16, &exact, choice) == min);
    assert_true(exact);
    assert_true(solve(&p, 1 << 16, &exact, again) == min);
    assert_memory_equal(choice, again, sizeof(choice));
    layout_problem_fini(&p);
  }
}

/* Tables too small for arcs: no worse than the choice that it starts from, and said to be so. */
static void what_is_too_wide_is_improved(void **state)
{
  uint64_t at = 0;
  int wide = 0;

  for (int i = 0; i < CASES; i++) {
    int32_t size[MAX], choice[MAX] = {0};
    layout_problem p;
    bool exact;

    make(&p, size, 3, &at);
    const double first = layout_cost_of(&p, choice), min = least_of_all(&p);
    const double found = solve(&p, 4, &exact, choice);

    assert_true(found <= first && found >= min && (!exact || found == min));
    wide += !exact;
    layout_problem_fini(&p);
  }
  assert_true(wide > 20);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(elimination_finds_the_least_of_all),
      cmocka_unit_test(what_is_too_wide_is_improved),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
