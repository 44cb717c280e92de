/* classes_test.c - the discriminant of simulated beats, and their files. */
#include "eval/classes.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "io/weir_annotation.h"

enum { BEATS = 6000, RECORDS = 3 };

/* Means of the classes; within a class features 0 and 1 have the covariance {{1, 0.5}, {0.5, 1}},
 * the others are independent, of standard deviation 2. */
static const double means[PS_CLASSES][PS_FEATURES] = {
    {0}, {3, 0, 0, 0, 0, 0, 1}, {0, 4, 0, 2, 0, 0, 0}, {-3, 0, 1, 0, 0, -5, 0}};

static ps_labelled *simulate(int classes)
{
  ps_labelled *v = calloc(BEATS, sizeof *v);

  assert_non_null(v);
  for (int64_t i = 0; i < BEATS; i++) {
    double z[PS_FEATURES];

    v[i].kind = (int)(i % classes);
    v[i].record = v[i].patient = i / classes % RECORDS;
    for (int k = 0; k < PS_FEATURES; k++) {
      z[k] = weir_random_normal(7, 71, (uint32_t)k, (uint64_t)i);
    }
    z[1] = 0.5 * z[0] + sqrt(0.75) * z[1];
    for (int k = 0; k < PS_FEATURES; k++) {
      v[i].x[k] = means[v[i].kind][k] + (k < 2 ? 1 : 2) * z[k];
    }
  }
  return v;
}

/* S^-1 m: of features 0 and 1 by the inverse {{4, -2}, {-2, 4}} / 3, of the others m / 4. */
static void weights_are_those_of_the_distribution(void **state)
{
  double w[PS_CLASS_WEIGHTS];
  ps_labelled *v = simulate(PS_CLASSES);
  int64_t right = 0;

  assert_ok(ps_discriminant_fit(v, BEATS, -1, 10, w));
  for (int c = 0; c < PS_CLASSES; c++) {
    const double *m = means[c], *own = w + (ptrdiff_t)c * (1 + PS_FEATURES);
    double sum = 0;

    for (int k = 0; k < PS_FEATURES; k++) {
      const double expected = k == 0   ? (4 * m[0] - 2 * m[1]) / 3
                              : k == 1 ? (4 * m[1] - 2 * m[0]) / 3
                                       : m[k] / 4;

      assert_near(own[1 + k], expected, 0.12);
      sum += expected * m[k];
    }
    assert_near(own[0], -sum / 2, 0.25);
  }
  for (int64_t i = 0; i < BEATS; i++) {
    right += ps_discriminant_class(w, v[i].x) == v[i].kind;
  }
  assert_true(right > BEATS * 85 / 100);
  free(v);
}

/* LinearDiscriminantAnalysis(solver='lsqr') of scikit-learn 1.9.1 on the same 80 beats: its rows
 * intercept_ - ln(n_k / n) and coef_ times (n - K) / n, since its covariance has the divisor n. All
 * features are multiples of 1/8. */
static void weights_are_those_of_scikit_learn(void **state)
{
  enum { N = 80 };
  static const int kinds[10] = {0, 0, 0, 0, 1, 1, 1, 2, 2, 3};
  static const double expected[PS_CLASS_WEIGHTS] = {
      -20.879201882827946, 0.99463060889948085, 1.0264949948320392, 0.8419632060317398,
      0.9733377040027309,  0.91523515542061229, 1.1706658625923734, 0.64026386107476851,
      -24.163082694822165, 0.61839564888749676, 1.5356755186933901, 0.84872027811561257,
      1.2910681731627123,  0.81716022796681864, 1.2902724375716401, 0.74574172620430146,
      -25.300036106761944, 0.69337901257015311, 1.1360475570874,    1.4687752144822821,
      1.2103696617193422,  0.7296039459451904,  1.1858106783611959, 0.71762849786910532,
      -24.416430853331509, 0.4217500675172049,  1.2176968396177748, 0.97885088440755585,
      1.6694231127652952,  1.0628895915807179,  1.2578616232926358, 0.44854066648072366,
  };
  ps_labelled v[N + 2] = {{.kind = 0}};
  double w[PS_CLASS_WEIGHTS], worst = 0;

  for (int i = 0; i < N; i++) {
    v[i].kind = kinds[i % 10];
    for (int k = 0; k < PS_FEATURES; k++) {
      v[i].x[k] = (double)((i * i * (k + 2) + 7 * i * (k + 1) + 13 * k) % 97) / 8.0 +
                  (v[i].kind == k ? 6 : 0) - (v[i].kind + 3 == k ? 3 : 0);
    }
  }
  v[N].kind = PS_LABEL_Q; /* beats of no class, and false ones, are not learnt */
  v[N + 1].kind = PS_LABEL_O;
  assert_ok(ps_discriminant_fit(v, N + 2, -1, 8, w));
  for (int k = 0; k < PS_CLASS_WEIGHTS; k++) {
    worst = fmax(worst, fabs(w[k] / expected[k] - 1));
  }
  printf("scikit-learn 1.9.1: relative difference %.2g at most\n", worst);
  assert_true(worst < 1e-13);
}

/* A record that is left out, and a class of too few beats, change nothing. */
static void what_is_left_out_is_not_learnt(void **state)
{
  double w[PS_CLASS_WEIGHTS], other[PS_CLASS_WEIGHTS];
  ps_labelled *v = simulate(2);

  assert_ok(ps_discriminant_fit(v, BEATS, 1, 10, w));
  for (int64_t i = 0; i < BEATS; i++) {
    v[i].x[3] += v[i].record == 1 ? 100 : 0;
  }
  v[0].kind = PS_CLASS_F;
  v[0].record = v[0].patient = 1;
  assert_ok(ps_discriminant_fit(v, BEATS, 1, 10, other));
  assert_near(w[1], other[1], 0.01);
  assert_true(other[PS_CLASS_F * (1 + PS_FEATURES)] < -1e29);
  assert_int_equal(ps_discriminant_class(other, v[2].x) < PS_CLASS_V, 1);
  for (int64_t i = 0; i < BEATS; i++) {
    v[i].x[6] = 1;
  }
  assert_int_equal(ps_discriminant_fit(v, BEATS, -1, 10, w), WEIR_ERR_NUMERIC);
  assert_int_equal(ps_discriminant_fit(v, BEATS, -1, BEATS, w), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "beats.min_beats"));
  free(v);
}

static void write_text(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");

  assert_non_null(file);
  fputs(text, file);
  (void)fclose(file);
}

/* Beats at 1, 2, 3, 4 s: N, V, paced, F; features of three of them, in other columns, and of none.
 */
static void beats_take_the_classes_of_annotations(void **state)
{
  static const int codes[] = {WEIR_ANN_NORMAL, WEIR_ANN_RHYTHM, WEIR_ANN_PVC, WEIR_ANN_PACE,
                              WEIR_ANN_FUSION};
  static const int64_t times[] = {100, 150, 200, 300, 400};
  weir_annotation items[5] = {{0}};
  weir_annotations a = {.count = 5, .items = items};
  ps_labelled_list list = {0};
  char dir[256], csv[320], atr[320];
  int64_t missed[PS_LABELS];

  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(csv, sizeof csv, "%s/f.csv", dir);
  (void)snprintf(atr, sizeof atr, "%s/f.atr", dir);
  for (int i = 0; i < 5; i++) {
    items[i].code = codes[i];
    items[i].time = times[i];
  }
  assert_ok(weir_annotations_write(atr, &a));
  write_text(csv, "time_s,post,pre,before,width,shape,height,p,class\n"
                  "1.05,2,1,3,4,5,6,7,1\n1.5,0,0,0,0,0,0,0,\n2.1,20,10,30,40,50,60,70,3\n"
                  "3.0,0,0,0,0,0,0,0,1\n");
  assert_ok(ps_labelled_read(csv, atr, 100, 0.15, 4, &list, missed));
  assert_int_equal(list.n, 4);
  for (int k = 0; k < 4; k++) {
    static const int kinds[] = {PS_CLASS_N, PS_LABEL_O, PS_CLASS_V, PS_LABEL_Q};

    assert_int_equal(list.v[k].kind, kinds[k]);
    assert_int_equal(list.v[k].record, 4);
  }
  for (int k = 0; k < PS_LABELS; k++) {
    assert_int_equal(missed[k], k == PS_CLASS_F);
  }
  for (int k = 0; k < PS_FEATURES; k++) {
    assert_near(list.v[0].x[k], k + 1, 0);
  }
  write_text(csv, "time_s,pre,post,before,width,shape,height,p\n1,2,3\n");
  assert_int_equal(ps_labelled_read(csv, atr, 100, 0.15, 0, &list, missed), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "f.csv:2"));
  write_text(csv, "time_s,value\n1,2\n");
  assert_int_equal(ps_labelled_read(csv, atr, 100, 0.15, 0, &list, missed), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "no column 'pre'"));
  a.fs_num = INT64_C(1) << 30; /* more units than an integer counts */
  a.fs_den = 1;
  assert_ok(weir_annotations_write(atr, &a));
  write_text(csv, "time_s,pre,post,before,width,shape,height,p\n1e12,1,2,3,4,5,6,7\n");
  assert_int_equal(ps_labelled_read(csv, atr, 100, 0.15, 0, &list, missed), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "1e+12 s is no time at"));
  ps_labelled_fini(&list);
  weir_check_rmdir(dir);
}

/* Beats found in a flutter are not compared, and beats that descend are no record. */
static void a_flutter_is_left_out(void **state)
{
  weir_annotation items[4] = {{.code = WEIR_ANN_NORMAL, .time = 100},
                              {.code = WEIR_ANN_VFON, .time = 150},
                              {.code = WEIR_ANN_VFOFF, .time = 350},
                              {.code = WEIR_ANN_PVC, .time = 400}};
  weir_annotations a = {.count = 4, .items = items};
  ps_labelled_list list = {0};
  char dir[256], csv[320], atr[320];
  int64_t missed[PS_LABELS];

  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(csv, sizeof csv, "%s/f.csv", dir);
  (void)snprintf(atr, sizeof atr, "%s/f.atr", dir);
  assert_ok(weir_annotations_write(atr, &a));
  write_text(csv, "time_s,pre,post,before,width,shape,height,p\n1,0,0,0,0,0,0,0\n"
                  "2,0,0,0,0,0,0,0\n3,0,0,0,0,0,0,0\n4,0,0,0,0,0,0,0\n5,0,0,0,0,0,0,0\n");
  assert_ok(ps_labelled_read(csv, atr, 100, 0.15, 0, &list, missed));
  assert_int_equal(list.n, 3);
  assert_int_equal(list.v[1].kind, PS_CLASS_V);
  assert_int_equal(list.v[2].kind, PS_LABEL_O);
  items[3].code = WEIR_ANN_VFON; /* and from there to the end */
  assert_ok(weir_annotations_write(atr, &a));
  ps_labelled_fini(&list);
  assert_ok(ps_labelled_read(csv, atr, 100, 0.15, 0, &list, missed));
  assert_int_equal(list.n, 1);
  write_text(csv, "time_s,pre,post,before,width,shape,height,p\n2,0,0,0,0,0,0,0\n"
                  "1,0,0,0,0,0,0,0\n");
  assert_int_equal(ps_labelled_read(csv, atr, 100, 0.15, 0, &list, missed), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "f.csv:3"));
  ps_labelled_fini(&list);
  weir_check_rmdir(dir);
}

static void codes_are_those_of_de_chazal(void **state)
{
  assert_int_equal(ps_class_of_code(WEIR_ANN_LBBB), PS_CLASS_N);
  assert_int_equal(ps_class_of_code(WEIR_ANN_ABERR), PS_CLASS_S);
  assert_int_equal(ps_class_of_code(WEIR_ANN_VESC), PS_CLASS_V);
  assert_int_equal(ps_class_of_code(WEIR_ANN_UNKNOWN), PS_LABEL_Q);
  assert_int_equal(ps_class_of_code(WEIR_ANN_PACE), PS_LABEL_Q);
  assert_int_equal(ps_class_of_code(WEIR_ANN_NOISE), -1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_are_those_of_the_distribution),
      cmocka_unit_test(weights_are_those_of_scikit_learn),
      cmocka_unit_test(what_is_left_out_is_not_learnt),
      cmocka_unit_test(beats_take_the_classes_of_annotations),
      cmocka_unit_test(a_flutter_is_left_out),
      cmocka_unit_test(codes_are_those_of_de_chazal),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
