/* leads_test.c - marks of several leads: the rule, leads that are copies of one, and leads of a
 * heart's vector, which differ in shape. */
#include "step/delineate/waves.h"
#include "support/physio_stream/waves_check.h"

extern const weir_series_op ps_step_delineate;

enum { LEADS = 12 };

static double combined(ps_mark_kind kind, const double *marks, int n, int agree)
{
  double copy[12];

  memcpy(copy, marks, (size_t)n * sizeof *copy);
  return ps_waves_combine(kind, copy, n, agree, 0.012);
}

static void leads_are_combined_as_stated(void **state)
{
  static const double marks[6] = {-0.09, NAN, -0.05, -0.048, -0.044, -0.039};

  assert_near(combined(PS_QRS_ON, marks, 6, 3), -0.05, 1e-12);  /* three follow within 12 ms */
  assert_near(combined(PS_QRS_ON, marks, 6, 4), -0.048, 1e-12); /* none has four: median     */
  assert_near(combined(PS_QRS_ON, marks, 6, 0), -0.09, 1e-12);  /* the first                 */
  assert_near(combined(PS_T_OFF, marks, 6, 3), -0.039, 1e-12);
  assert_near(combined(PS_T, marks, 6, 3), -0.048, 1e-12);
  assert_true(isnan(combined(PS_T, marks + 1, 1, 0)));
}

/* Twelve leads, two of which are wrong: the others decide. In one, waves begin earlier, which no
 * other lead confirms. */
static void twelve_leads_are_judged_together(void **state)
{
  step_signal in[LEADS + 1], one[2];
  step_result alone, all;

  simulate(20, 500, 0.8, usual, one);
  step_run(&ps_step_delineate, NULL, one, 2, (step_how){0}, &alone);
  for (int k = 0; k < LEADS; k++) {
    bump bumps[BUMPS];
    step_signal own[2];

    memcpy(bumps, usual, sizeof usual);
    for (int b = 0; b < BUMPS; b++) {
      bumps[b].height *= (k % 2 == 0 ? 1 : -1) * (0.5 + 0.1 * k);
      bumps[b].at -= k == 3 && b != R_BUMP ? 0.03 : 0;
    }
    simulate(20, 500, 0.8, bumps, own);
    in[k] = own[0];
    step_signal_free(&own[1]);
    memset(in[k].present, k == 5 ? 0 : 1, (size_t)in[k].n); /* off */
  }
  in[LEADS] = one[1];
  step_check_chunks(&ps_step_delineate, NULL, in, LEADS + 1, &all);
  for (int k = 0; k < all.n; k++) {
    assert_near(mean_of(&all, all.out[k].name, 22, 0.003),
                mean_of(&alone, alone.out[k].name, 22, 0.003), 0.002);
  }
  step_result_free(&alone);
  step_result_free(&all);
  free_all(in, LEADS + 1);
  step_signal_free(&one[0]);
}

/* Standard leads of Frank's x (left), y (down) and z (back) by Dower, Machado and Osborne, Clin.
 * Cardiol. 3 (1980) 87: I, II, V1 to V6; the others follow from I and II. */
static void heights_of_leads(const double vector[BUMPS][3], double height[LEADS][BUMPS])
{
  static const double dower[8][3] = {{0.632, -0.235, 0.059},  {0.235, 1.066, -0.132},
                                     {-0.515, 0.157, -0.917}, {0.044, 0.164, -1.387},
                                     {0.882, 0.098, -1.277},  {1.213, 0.127, -0.601},
                                     {1.125, 0.127, -0.086},  {0.831, 0.076, 0.23}};

  for (int b = 0; b < BUMPS; b++) {
    for (int k = 0; k < 8; k++) {
      double sum = 0;

      for (int axis = 0; axis < 3; axis++) {
        sum += dower[k][axis] * vector[b][axis];
      }
      height[k < 2 ? k : k + 4][b] = sum;
    }
    const double i = height[0][b], ii = height[1][b];

    height[2][b] = ii - i;        /* III */
    height[3][b] = -(i + ii) / 2; /* aVR */
    height[4][b] = i - ii / 2;    /* aVL */
    height[5][b] = ii - i / 2;    /* aVF */
  }
}

/* The rule of several leads, term by term: an onset is the first mark with which three later ones
 * agree within 12 ms, an end the last with which three earlier ones do. */
static double agreed(const double *mark, int n, int way)
{
  double best = NAN;

  for (int k = 0; k < n; k++) {
    int others = 0;

    for (int j = 0; j < n; j++) {
      const double inwards = way * (mark[k] - mark[j]);

      others += j != k && inwards >= 0 && inwards <= 0.012;
    }
    if (others >= 3 && (isnan(best) || way * (mark[k] - best) > 0)) {
      best = mark[k];
    }
  }
  return best;
}

static const char *const names[] = {"qrs_on", "qrs_off", "t_on", "t_off"};

/* Lead k of these heights, with noise of a key (-1: none), and medians and standard deviations of
 * its marks; the T wave of a lead may be too small. */
static void measure_alone(const double height[BUMPS], int64_t key, int k, step_signal *in,
                          double mark[4][LEADS], double spread[4][LEADS])
{
  bump bumps[BUMPS];
  step_signal own[2];
  step_result one;

  memcpy(bumps, usual, sizeof usual);
  for (int b = 0; b < BUMPS; b++) {
    bumps[b].height = height[b];
  }
  simulate(20, 500, 0.8, bumps, own);
  if (key >= 0) {
    add_noise(&own[0], 0.02, key);
  }
  step_run(&ps_step_delineate, NULL, own, 2, (step_how){0}, &one);
  for (int m = 0; m < 4; m++) {
    const bool there = step_count(step_get(&one, names[m])) >= 20;

    mark[m][k] = there ? median_of(&one, names[m], 20, &spread[m][k]) : NAN;
    spread[m][k] = there ? spread[m][k] : 0;
  }
  step_result_free(&one);
  in[k] = own[0];
  if (k == 0) {
    in[LEADS] = own[1];
  } else {
    step_signal_free(&own[1]);
  }
}

/* The largest of x[n] but for the `but` largest. */
static double worst_but(const double *x, int n, int but)
{
  double sorted[LEADS];

  memcpy(sorted, x, (size_t)n * sizeof *x);
  qsort(sorted, (size_t)n, sizeof *sorted, weir_compare_f64);
  return sorted[n - 1 - but];
}

/* Waves of a heart's vector with a direction each, so that leads differ in shape: V1 has an S, V6 a
 * Q and an R wave. All leads together have the complex that most of them see, which in noise varies
 * less than that of one lead. */
static void leads_of_a_vector_are_judged_together(void **state)
{
  static const double vector[BUMPS][3] = {{0.08, 0.12, -0.03},
                                          {-0.15, 0.05, -0.2},
                                          {1.1, 0.8, 0.5},
                                          {-0.1, -0.25, 0.35},
                                          {0.25, 0.2, -0.15}};
  double height[LEADS][BUMPS], clean[4] = {0};

  heights_of_leads(vector, height);
  for (int noise = 0; noise < 2; noise++) {
    step_signal in[LEADS + 1];
    double mark[4][LEADS], spread[4][LEADS];
    step_result all;

    for (int k = 0; k < LEADS; k++) {
      measure_alone(height[k], noise ? k : -1, k, in, mark, spread);
    }
    step_run(&ps_step_delineate, NULL, in, LEADS + 1, (step_how){0}, &all);
    for (int m = 0; m < 4; m++) {
      const double rule = agreed(mark[m], LEADS, m % 2 == 0 ? -1 : 1);
      double sd = 0;
      const double together = median_of(&all, names[m], 20, &sd);

      assert_near(together, rule, noise ? 0.008 : 1e-4); /* beat by beat the outermost of noise */
      clean[m] = noise ? clean[m] : together;
      assert_true(!noise || sd < (m < 2 ? 0.004 : 0.7 * worst_but(spread[m], LEADS, 1)));
      assert_near(together, clean[m], m < 2 ? 0.004 : 0.01);
    }
    /* Leads whose first wave is small see a shorter complex. */
    assert_true(fabs(mark[0][3] - median_of(&all, "qrs_on", 20, spread[0])) > 0.02);
    assert_true(fabs(mark[1][0] - median_of(&all, "qrs_off", 20, spread[0])) > 0.02);
    step_result_free(&all);
    free_all(in, LEADS + 1);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(leads_are_combined_as_stated),
      cmocka_unit_test(twelve_leads_are_judged_together),
      cmocka_unit_test(leads_of_a_vector_are_judged_together),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
