/* rates_test.c - intervals and differences against statsmodels and SciPy, and what is withheld. */
#include <math.h>
#include <string.h>
#include "base/weir_check.h"
#include "site/model.h"

enum { MAX = 8 };

/* Records with x of n beats. */
typedef struct site {
  int64_t m;
  int x[MAX], n[MAX];
} site;

static const site sites[] = {
    {6, {90, 45, 199, 70, 38, 110}, {100, 60, 200, 80, 40, 150}},
    {5, {50, 48, 95, 20, 77}, {50, 52, 100, 20, 80}},
    {3, {30, 20, 25}, {30, 20, 25}},
};

static ps_cell cell_of(const site *s)
{
  ps_cell c = {.records = 0};

  for (int64_t i = 0; i < s->m; i++) {
    const ps_score score = {.tp = s->x[i], .fn = s->n[i] - s->x[i], .fp = s->n[i] - s->x[i]};

    ps_cell_add(&c, &score);
  }
  return c;
}

/* Wilson's interval of effective counts. The variance over records is that of
 * statsmodels 0.15.0 GLM(x of n, Binomial).fit(cov_type="cluster"), the interval
 * proportion_confint(method="wilson") with alpha of Student's quantile (SciPy 1.10.1). */
static void intervals_are_those_of_statsmodels(void **state)
{
  static const double expected[][4] = {/* value, lo, hi, design effect */
                                       {87.619047619, 66.4031421491, 96.2034286273, 19.2359452142},
                                       {96.0264900662, 91.5346624488, 98.1822227638, 1.02010542742},
                                       {100, 80.2029064973, 100, 1}};

  (void)state;
  for (int i = 0; i < 3; i++) {
    const ps_cell c = cell_of(&sites[i]);
    const ps_rate se = ps_cell_sensitivity(&c), ppv = ps_cell_predictivity(&c);

    assert_near(se.value, expected[i][0], 1e-9);
    assert_near(se.lo, expected[i][1], 1e-8);
    assert_near(se.hi, expected[i][2], 1e-8);
    assert_near(se.design, expected[i][3], 1e-8);
    assert_near(ppv.lo, se.lo, 1e-12); /* as many false beats as missed ones */
  }
  const ps_rate large = ps_rate_of(9500, 10000, 0, 0, 0, 301);

  assert_near(large.lo, 94.55341466757406, 1e-7);
  assert_near(large.hi, 95.41174504446753, 1e-7);
  assert_true(isnan(ps_rate_of(0, 0, 0, 0, 0, 12).value));
  assert_true(isnan(ps_rate_of(5, 6, 25, 30, 36, 1).value));
}

/* scipy.stats.chi2_contingency(correction=False) of the effective counts. */
static void differences_are_those_of_scipy(void **state)
{
  ps_rate rates[4];

  (void)state;
  for (int i = 0; i < 3; i++) {
    const ps_cell c = cell_of(&sites[i]);

    rates[i] = ps_cell_sensitivity(&c);
  }
  rates[3] = (ps_rate){.value = NAN}; /* withheld */
  const ps_heterogeneity h = ps_rates_compare(rates, 4);

  assert_int_equal(h.dof, 2);
  assert_near(h.chi2, 9.29322134071, 1e-8);
  assert_near(h.p, 0.00959406433324, 1e-10);
  assert_near(h.i2, 78.4789372094, 1e-7);
  assert_true(isnan(ps_rates_compare(rates, 1).p));
  const ps_rate same[] = {rates[2], rates[2]};

  assert_near(ps_rates_compare(same, 2).p, 1, 0);
}

/* Cells of so many records, each of 100 beats. */
static void expect_withheld(const char *expected, int n, const int *records)
{
  ps_cell all = {.records = 0}, cells[MAX];
  char found[MAX + 1] = "";

  for (int i = 0; i < n; i++) {
    cells[i] = (ps_cell){.records = 0};
    for (int k = 0; k < records[i]; k++) {
      const ps_score score = {.tp = 90, .fn = 10};

      ps_cell_add(&cells[i], &score);
      ps_cell_add(&all, &score);
    }
  }
  ps_cells_withhold(&all, cells, n, 10, 0.5);
  for (int i = 0; i < n; i++) {
    found[i] = cells[i].withheld ? 'w' : '-';
  }
  assert_string_equal(found, expected);
}

static void no_withheld_cell_follows_from_the_others(void **state)
{
  (void)state;
  expect_withheld("---", 3, (const int[]){10, 20, 0}); /* none of nobody */
  expect_withheld("ww-", 3, (const int[]){3, 10, 20}); /* 3 = 33 - 10 - 20 */
  expect_withheld("ww-", 3, (const int[]){5, 5, 20});  /* 10 together */
  expect_withheld("www", 3, (const int[]){5, 4, 20});  /* 9 together */
  expect_withheld("ww", 2, (const int[]){9, 30});
  expect_withheld("ww", 2, (const int[]){4, 5}); /* all of them are too few */
}

/* A day among short records would tell its own score. */
static void a_record_that_dominates_is_not_told(void **state)
{
  ps_cell all = {.records = 0}, cells[2] = {{.records = 0}, {.records = 0}};

  (void)state;
  for (int k = 0; k < 40; k++) {
    const ps_score score = {.tp = k == 0 ? 1100 : 90, .fn = 10};

    ps_cell_add(&cells[k / 12 < 1 ? 0 : 1], &score);
    ps_cell_add(&all, &score);
  }
  ps_cells_withhold(&all, cells, 2, 10, 0.5);
  assert_false(all.withheld);
  assert_true(cells[0].withheld);
  assert_true(cells[1].withheld);
  ps_cells_withhold(&all, cells, 2, 10, 0.6);
  assert_false(cells[0].withheld);
}

/* 20 records; the second division is that of the first but for `off` records, or another one. */
static void expect_divisions(const char *expected, int off, bool other)
{
  static const int64_t n_cells[] = {2, 3};
  int64_t cell[2][20];
  uint8_t selected[20];
  ps_cell cells[5] = {{.withheld = false}};
  char found[6] = "";

  for (int i = 0; i < 20; i++) {
    selected[i] = i != 19;
    cell[0][i] = i < 10 ? 0 : 1;
    cell[1][i] = other ? i % 2 : i < 10 - off ? 0 : 2;
  }
  ps_divisions_withhold(
      &(ps_divisions){
          .n_cells = n_cells, .cell = &cell[0][0], .selected = selected, .n = 2, .records = 20},
      cells, 5);
  for (int i = 0; i < 5; i++) {
    found[i] = cells[i].withheld ? 'w' : '-';
  }
  assert_string_equal(found, expected);
}

/* age < 65 and age < 66 would tell of those of 65 years. */
static void divisions_that_are_nearly_the_same_are_not_told(void **state)
{
  (void)state;
  expect_divisions("-----", 0, false);
  expect_divisions("--www", 1, false);
  expect_divisions("--www", 4, false);
  expect_divisions("-----", 5, false);
  expect_divisions("-----", 0, true);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(intervals_are_those_of_statsmodels),
      cmocka_unit_test(differences_are_those_of_scipy),
      cmocka_unit_test(no_withheld_cell_follows_from_the_others),
      cmocka_unit_test(a_record_that_dominates_is_not_told),
      cmocka_unit_test(divisions_that_are_nearly_the_same_are_not_told),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
