/* confusion_test.c - scores worked out by hand, by the sums that bxb of WFDB 10.7 prints. */
#include "eval/confusion.h"
#include <math.h>
#include "base/weir_check.h"

/* Annotated N, S, V, F, Q and O (false detections), found as n, s, v, f, q and o (missed). */
static const ps_confusion table = {{{900, 20, 10, 5, 3, 2},
                                    {8, 40, 6, 1, 2, 3},
                                    {4, 7, 80, 2, 1, 6},
                                    {9, 2, 30, 11, 1, 1},
                                    {12, 5, 13, 2, 1, 3},
                                    {7, 3, 4, 1, 2, 0}}};

static void compare(ps_class_score s, int64_t beats, double tp, double fn, double fp, double tn)
{
  assert_int_equal(s.beats, beats);
  assert_near(s.se, 100 * tp / (tp + fn), 1e-12);
  assert_near(s.ppv, 100 * tp / (tp + fp), 1e-12);
  if (tn > 0) {
    assert_near(s.fpr, 100 * fp / (fp + tn), 1e-12);
  } else {
    assert_true(isnan(s.fpr));
  }
}

/* VTP = Vv; VFN = Vn + Vs + Vf + Vq + Vo; VFP = Nv + Sv + Ov, not Fv = 30 and not Qv = 13; VTN =
 * the n, s, f and q of rows N (928), S (51), F (23), Q (20) and O (13). */
static void ventricular_beats_forgive_fusion_and_unknown(void **state)
{
  compare(ps_confusion_score(&table, PS_CLASS_V), 100, 80, 4 + 7 + 2 + 1 + 6, 10 + 6 + 4,
          928 + 51 + 23 + 20 + 13);
}

/* STP = Ss; SFN = Sn + Sv + Sf + Sq + So; SFP = Ns + Vs + Fs + Os, not Qs = 5; STN = the n, v, f
 * and q of rows N (918), V (87), F (51), Q (28) and O (14). */
static void supraventricular_beats_forgive_unknown(void **state)
{
  compare(ps_confusion_score(&table, PS_CLASS_S), 60, 40, 8 + 6 + 1 + 2 + 3, 20 + 7 + 2 + 3,
          918 + 87 + 51 + 28 + 14);
}

static void normal_and_fusion_beats_are_against_all_others(void **state)
{
  compare(ps_confusion_score(&table, PS_CLASS_N), 940, 900, 40, 8 + 4 + 9 + 12 + 7,
          49 + 90 + 44 + 21 + 10);
  compare(ps_confusion_score(&table, PS_CLASS_F), 54, 11, 43, 5 + 1 + 2 + 2 + 1,
          933 + 56 + 92 + 31 + 16);
}

/* QTP: all pairs of beats; QFN = No + So + Vo + Fo + Qo; QFP = On + Os + Ov + Of + Oq. */
static void any_beat_is_found_or_missed(void **state)
{
  compare(ps_confusion_score(&table, PS_ANY_BEAT), 1190, 938 + 57 + 94 + 53 + 33, 2 + 3 + 6 + 1 + 3,
          7 + 3 + 4 + 1 + 2, 0);
}

/* Records 2 and 3 of three have beats of V: Se of 90 and 50 %; beats are found as V in each. */
static void averages_are_over_records_with_a_score(void **state)
{
  static const ps_confusion c[3] = {{{{50, 0, 2, 0, 0, 0}}},
                                    {{{5, 0, 10, 0, 0, 0}, {0}, {1, 0, 9, 0, 0, 0}}},
                                    {{{5, 0, 0, 0, 0, 0}, {0}, {0, 0, 2, 0, 0, 2}}}};
  const ps_class_score v = ps_confusion_average(c, 3, PS_CLASS_V);
  ps_confusion sum = {{{0}}};

  assert_int_equal(v.beats, 14);
  assert_near(v.se, 70, 1e-12);
  assert_near(v.ppv, (0 + 100.0 * 9 / 19 + 100) / 3, 1e-12);
  for (int i = 0; i < 3; i++) {
    ps_confusion_add(&sum, &c[i]);
  }
  assert_near(ps_confusion_score(&sum, PS_CLASS_V).se, 100.0 * 11 / 14, 1e-12);
  assert_near(ps_confusion_score(&sum, PS_CLASS_V).ppv, 100.0 * 11 / 23, 1e-12);
  assert_true(isnan(ps_confusion_score(&c[0], PS_CLASS_S).se));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ventricular_beats_forgive_fusion_and_unknown),
      cmocka_unit_test(supraventricular_beats_forgive_unknown),
      cmocka_unit_test(normal_and_fusion_beats_are_against_all_others),
      cmocka_unit_test(any_beat_is_found_or_missed),
      cmocka_unit_test(averages_are_over_records_with_a_score),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
