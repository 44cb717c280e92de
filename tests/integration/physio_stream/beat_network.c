/* beat_network.c - the network of beats on simulated patients, each with waves of their own: all
 * four classes are learnt from some and found in others, and the training stops by the patients
 * that it is validated on. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "io/weir_annotation.h"
#include "program.h"

#ifdef HAVE_CONFIG_FILES
enum { PATIENTS = 9, TESTED = 3, RATE = 250, BEATS = 130, SLOTS = BEATS * RATE * 5 / 4 };

static double uniform(int patient, uint32_t what, uint64_t i, double lo, double hi)
{
  return lo + (hi - lo) * weir_random_uniform(1000 + (uint64_t)patient, what, 0, i);
}

/* A Gaussian wave of `height` mV, `sd` s, at `at` s. */
static void add_wave(float *x, double at, double height, double sd)
{
  const int64_t lo = (int64_t)((at - 4 * sd) * RATE), hi = (int64_t)((at + 4 * sd) * RATE);

  for (int64_t t = lo > 0 ? lo : 0; t < hi && t < SLOTS; t++) {
    const double u = ((double)t / RATE - at) / sd;

    x[t] += (float)(height * exp(-u * u / 2));
  }
}

/* P, QRS and T of a patient, of strength `usual`; and a wide beat with T of the other sign. */
static void add_beat(float *x, int p, double at, double usual, double wide, bool p_wave)
{
  const double r = uniform(p, 1, 0, 0.9, 1.5), sd = uniform(p, 2, 0, 0.009, 0.012);
  const double v = uniform(p, 3, 0, 1, 1.6) * (p % 2 == 0 ? 1 : -1);

  if (p_wave) {
    add_wave(x, at - 0.16, uniform(p, 4, 0, 0.12, 0.2), 0.02);
  }
  add_wave(x, at - 0.025, -0.12 * usual * r, sd);
  add_wave(x, at, usual * r, sd);
  add_wave(x, at + 0.03, -0.2 * usual * r, sd);
  add_wave(x, at + uniform(p, 5, 0, 0.25, 0.29), usual * uniform(p, 6, 0, 0.2, 0.35), 0.045);
  add_wave(x, at, wide * v, uniform(p, 7, 0, 0.03, 0.04));
  add_wave(x, at + 0.3, -0.35 * wide * v, 0.06);
}

/* Normal beats with breathing; one of 8 is S (early, no P wave), V (early, wide) or F (both at
 * once, on time). */
static void simulate(int p, float *x, weir_annotation *a)
{
  static const int codes[] = {WEIR_ANN_NORMAL, WEIR_ANN_APC, WEIR_ANN_PVC, WEIR_ANN_FUSION};
  const double usual = uniform(p, 8, 0, 0.75, 1);
  double at = 0.8;

  for (int i = 0; i < BEATS; i++) {
    const int kind = i % 4 == 3 && i > 10 ? 1 + (int)uniform(p, 9, (uint64_t)i, 0, 2.99) : 0;
    const double rr = usual * (1 + 0.03 * sin(0.4 * i)) + uniform(p, 10, (uint64_t)i, -0.01, 0.01);
    const bool early = kind == 1 || kind == 2;
    const double own = at + (early ? uniform(p, 11, (uint64_t)i, 0.62, 0.72) : 1) * rr;

    add_beat(x, p, own,
             kind == 2   ? 0
             : kind == 3 ? 0.5
                         : 1,
             kind == 2   ? 1
             : kind == 3 ? uniform(p, 12, (uint64_t)i, 0.4, 0.6)
                         : 0,
             kind == 0 || kind == 3);
    a[i] = (weir_annotation){.time = llround(own * RATE), .code = codes[kind]};
    at = kind == 2 ? at + rr : own; /* a full pause after V: the next beat is on time */
  }
  for (int64_t t = 0; t < SLOTS; t++) {
    x[t] += (float)(0.015 * weir_random_normal(7, 13, (uint32_t)p, (uint64_t)t));
  }
}

/* WFDB record pN, format 16, and its annotations. */
static void write_patient(int p)
{
  float *const x = calloc(SLOTS, sizeof *x);
  weir_annotation *const a = calloc(BEATS, sizeof *a);
  FILE *const header = fopen(in_scratch("p%d.hea", p), "w");
  FILE *const data = fopen(in_scratch("p%d.dat", p), "wb");

  assert_true(x != NULL && a != NULL && header != NULL && data != NULL);
  simulate(p, x, a);
  (void)fprintf(header, "p%d 1 %d %d\np%d.dat 16 1000/mV 16 0 0 0 0 MLII\n", p, RATE, (int)SLOTS,
                p);
  for (int64_t t = 0; t < SLOTS; t++) {
    const int v = (int)lrint(1000 * (double)x[t]);

    (void)fputc(v & 255, data);
    (void)fputc(v >> 8 & 255, data);
  }
  (void)fclose(header);
  (void)fclose(data);
  assert_ok(weir_annotations_write(in_scratch("p%d.atr", p),
                                   &(weir_annotations){.count = BEATS, .items = a}));
  free(x);
  free(a);
}

/* Sensitivity and positive predictivity of a class, as the network has it, %. */
static void scores_of(char kind, double *se, double *ppv)
{
  char *text = contents(in_scratch("trained/scores.csv")), start[32];
  double fpr = 0;
  int beats = 0;

  (void)snprintf(start, sizeof start, "\nnetwork,%c,", kind);
  const char *row = strstr(text, start);

  assert_non_null(row);
  assert_int_equal(sscanf(row + strlen(start), "%d,%lf,%lf,%lf", &beats, se, ppv, &fpr), 4);
  assert_true(beats > 10);
  printf("%c: %d beats, Se %.2f, +P %.2f %%\n", kind, beats, *se, *ppv);
  free(text);
}

static int train_on(const char *how, const char *learnt, const char *tested, int epochs)
{
  return program("train %s --config %s/beats_ds1_ds2.yaml --set 'beats.records=[%s]' --set "
                 "'beats.test=[%s]' --set beats.folder=%s --set train.epochs=%d --set "
                 "exec.tier=vector --out %s",
                 how, CONFIGS, learnt, tested, in_scratch("features"), epochs,
                 in_scratch("trained"));
}

static void all_classes_are_found_in_other_patients(void **state)
{
  char lists[2][2048] = {"", ""};

  for (int p = 0; p < PATIENTS; p++) {
    char *const list = lists[p < TESTED];

    write_patient(p);
    (void)snprintf(list + strlen(list), 300, "%s%s", list[0] != 0 ? "," : "", in_scratch("p%d", p));
  }
  assert_int_equal(program("run --overwrite --config %s/beats_ds1_ds2.yaml --set "
                           "'input.records=[%s,%s]' --out %s",
                           CONFIGS, lists[0], lists[1], in_scratch("features")),
                   0);
  assert_int_equal(train_on("--overwrite", lists[0], lists[1], 10), 0);
  assert_int_equal(train_on("", lists[0], lists[1], 12), 0);
  assert_non_null(strstr(printed(), "resumed after step"));
  for (const char *kind = "NSVF"; *kind != 0; kind++) {
    double se = 0, ppv = 0;

    scores_of(*kind, &se, &ppv);
    assert_true(se > 90 && ppv > 90);
  }
  char *text = contents(in_scratch("trained/trainings.csv")), valid[64] = "";

  assert_int_equal(sscanf(strchr(text, '\n') + 1, "none,%63[^,]", valid), 1);
  assert_true(valid[0] == 'p' && strchr(valid, ' ') == NULL && valid[1] - '0' >= TESTED);
  free(text);
  assert_int_equal(train_on("", lists[1], in_scratch("p%d", TESTED), 12), 2);
  assert_non_null(strstr(printed(), "or another folder"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {TEST(all_classes_are_found_in_other_patients)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
  printf("skipped: this build reads no YAML\n");
  return 77;
}
#endif
