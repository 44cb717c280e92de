/* study.c - numbers of the simulation that take minutes: `perfect` (a perfect model's spread and
 * error), `real` (the imperfect one at 48 h), `climate`. Prints them, and ends with 1 where one is
 * not what the reference (docs/science/weather_ensemble.md) found. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "data/simulation/qg_ensemble.h"
#include "ops/fft/weir_fft_plan.h"

enum { MOST_LEADS = 11, MOST_MEMBERS = 64, LAT = 64, LON = 128, CELLS = LAT * LON, SKIP = 77 };
enum { Z500, T500, U250, U750, QUANTITIES };

static const char *quantities[QUANTITIES] = {"z500", "t500", "u250", "u750"};
static int wrong;
static uint64_t seed = 1;

static void must(weir_status status)
{
  if (status != WEIR_OK) {
    weir_print_trace(stderr);
    exit((int)status);
  }
}

/* A line: what was found, and whether it is where it should be. */
static void expect(const char *what, double found, double lo, double hi)
{
  const bool good = found >= lo && found <= hi;

  printf("%-48s %10.4g   [%g, %g]%s\n", what, found, lo, hi, good ? "" : "   WRONG");
  wrong += !good;
}

/* Sums over initialisation times and cells of one quantity and lead. */
typedef struct sums {
  double error, variance, fair, n; /* of the mean, all members; CRPS, fair */
  double control;                  /* error of member 0 */
  double others, spread;           /* error of the mean and variance of the perturbed members */
  double rank[MOST_MEMBERS];       /* of the truth among them */
} sums;

static int by_value(const void *a, const void *b)
{
  const float x = *(const float *)a, y = *(const float *)b;

  return (x > y) - (x < y);
}

/* Mean, and variance with the divisor n - 1. */
static void moments_of(const float *x, int64_t n, double *mean, double *variance)
{
  *mean = *variance = 0;
  for (int64_t m = 0; m < n; m++) {
    *mean += (double)x[m] / (double)n;
  }
  for (int64_t m = 0; m < n; m++) {
    *variance += pow((double)x[m] - *mean, 2) / (double)(n - 1);
  }
}

/* One cell. */
static void add(sums *s, const float *member, int64_t members, double truth)
{
  float sorted[MOST_MEMBERS];
  double mean, variance, near = 0, apart = 0;
  int64_t rank = 0;

  memcpy(sorted, member, (size_t)members * sizeof *sorted);
  qsort(sorted, (size_t)members, sizeof *sorted, by_value);
  for (int64_t m = 0; m < members; m++) {
    rank += m > 0 && (double)member[m] < truth;
    near += fabs((double)sorted[m] - truth) / (double)members;
    apart += (double)(2 * m + 1 - members) * (double)sorted[m];
  }
  moments_of(member, members, &mean, &variance);
  s->error += pow(mean - truth, 2);
  s->variance += variance;
  moments_of(member + 1, members - 1, &mean, &variance);
  s->others += pow(mean - truth, 2);
  s->spread += variance;
  s->control += pow((double)member[0] - truth, 2);
  s->fair += near - apart / (double)(members * (members - 1));
  s->rank[rank]++;
  s->n++;
}

/* All initialisation times; s [leads][2] of z500 and t500. */
static void verify(const wx_qg_opts *o, sums (*s)[2])
{
  const int64_t members = o->members;
  float *fields = NULL, truth[CELLS], cell[MOST_MEMBERS];
  wx_qg_ensemble *e = NULL;

  must(wx_qg_ensemble_create(o, NULL, seed, &e));
  must(weir_alloc(members * CELLS, sizeof *fields, (void **)&fields));
  for (int64_t start = 0; start < o->init_times; start++) {
    must(wx_qg_ensemble_compute(e, start, 1, NULL, NULL));
    for (int64_t i = 0; i < o->leads.count * 2; i++) {
      const int64_t l = i / 2, q = i % 2;

      must(wx_qg_ensemble_true_field(
          e, wx_archive_find_truth(wx_qg_ensemble_truth(e), wx_qg_ensemble_forecasts(e), start, l),
          q, truth));
      for (int64_t m = 0; m < members; m++) {
        must(wx_qg_ensemble_field(e, start, l, q, m, fields + m * CELLS));
      }
      for (int64_t c = 0; c < CELLS; c++) {
        for (int64_t m = 0; m < members; m++) {
          cell[m] = fields[m * CELLS + c];
        }
        add(&s[l][q], cell, members, (double)truth[c]);
      }
    }
  }
  weir_free(&fields);
  wx_qg_ensemble_destroy(&e);
}

static double ratio_of(const sums *s, int64_t members)
{
  return sqrt((double)(members + 1) / (double)members * s->variance / s->error);
}

static wx_qg_opts standard(double *leads, int64_t n)
{
  wx_qg_opts o;

  weir_opts_default(wx_qg_options, sizeof o, &o);
  o.leads = (weir_real_list){leads, n};
  o.quantities = (weir_string_list){quantities, QUANTITIES};
  return o;
}

static void study_perfect(void)
{
  static const double known[8] = {66, 79, 117, 180, 260, 360, 494, 661};
  double leads[MOST_LEADS], ratio = 0, low = 1, high = 0;
  sums s[MOST_LEADS][2];
  char what[64];

  for (int l = 0; l < MOST_LEADS; l++) {
    leads[l] = 24 * l;
  }
  memset(s, 0, sizeof s);
  wx_qg_opts o = standard(leads, MOST_LEADS);

  o.forecast.preset = WX_QG_PERFECT;
  o.init_times = 60;
  verify(&o, s);
  for (int l = 0; l < MOST_LEADS; l++) {
    const double error = sqrt(s[l][0].error / s[l][0].n);

    (void)snprintf(what, sizeof what, "z500 %3.0f h: RMSE of the mean, m2/s2", leads[l]);
    expect(what, error, l < 8 ? 0.75 * known[l] : 500, l < 8 ? 1.25 * known[l] : 1400);
    (void)snprintf(what, sizeof what, "z500 %3.0f h: spread / error, all members", leads[l]);
    expect(what, ratio_of(&s[l][0], o.members), 0.88, 1.05);
    ratio = sqrt((double)o.members / (double)(o.members - 1) * s[l][0].spread / s[l][0].others);
    (void)snprintf(what, sizeof what, "z500 %3.0f h: spread / error, perturbed members", leads[l]);
    expect(what, ratio, 0.92, 1.08);
  }
  for (int64_t k = 0; k < o.members; k++) {
    double share = 0;

    for (int l = 0; l < MOST_LEADS; l++) {
      share += s[l][0].rank[k] / s[l][0].n / MOST_LEADS;
    }
    low = fmin(low, share);
    high = fmax(high, share);
  }
  expect("z500: least share of ranks, of 0.1", low, 0.08, 0.1);
  expect("z500: greatest share of ranks", high, 0.1, 0.12);
  ratio = sqrt(s[10][0].control / s[10][0].n);
  expect("z500 240 h: RMSE of the control, m2/s2", ratio, 950, 1550);
}

static void study_real(void)
{
  double leads[1] = {48};
  sums s[1][2];

  memset(s, 0, sizeof s);
  const wx_qg_opts o = standard(leads, 1);

  verify(&o, s);
  const double n = s[0][0].n;

  expect("z500 48 h: RMSE of the mean, m2/s2", sqrt(s[0][0].error / n), 128, 157);
  expect("z500 48 h: spread", sqrt(s[0][0].variance / n), 98, 119);
  expect("z500 48 h: spread / error", ratio_of(&s[0][0], o.members), 0.74, 0.85);
  expect("z500 48 h: fair CRPS", s[0][0].fair / n, 66, 81);
  expect("t500 48 h: RMSE of the mean, K", sqrt(s[0][1].error / n), 0.35, 0.43);
  expect("t500 48 h: spread", sqrt(s[0][1].variance / n), 0.27, 0.335);
  expect("t500 48 h: fair CRPS", s[0][1].fair / n, 0.169, 0.207);
}

/* Mean and square of every cell, and the means along a row. */
typedef struct moments {
  double sum[QUANTITIES][CELLS], square[QUANTITIES][CELLS];
} moments;

static double spread_of_row(const moments *m, int q, int64_t row, double n)
{
  double variance = 0;

  for (int64_t c = row * LON; c < (row + 1) * LON; c++) {
    variance += m->square[q][c] / n - pow(m->sum[q][c] / n, 2);
  }
  return sqrt(variance / LON);
}

static double mean_of_row(const moments *m, int q, int64_t row, double n)
{
  double sum = 0;

  for (int64_t c = row * LON; c < (row + 1) * LON; c++) {
    sum += m->sum[q][c] / n / LON;
  }
  return sum;
}

static void gather(const wx_qg_opts *o, moments *m)
{
  float field[CELLS];
  wx_qg_ensemble *e = NULL;

  must(wx_qg_ensemble_create(o, NULL, seed, &e));
  memset(m, 0, sizeof *m);
  for (int64_t i = 0; i < o->init_times; i++) {
    must(wx_qg_ensemble_compute(e, i, 1, NULL, NULL));
    for (int64_t q = 0; q < QUANTITIES; q++) {
      must(wx_qg_ensemble_true_field(e, i, q, field));
      for (int64_t c = 0; c < CELLS; c++) {
        m->sum[q][c] += (double)field[c];
        m->square[q][c] += (double)field[c] * (double)field[c];
      }
    }
  }
  wx_qg_ensemble_destroy(&e);
}

static void study_climate(void)
{
  const int64_t axis = LAT / 2 - 1, edge = 0; /* rows from north to south */
  double leads[1] = {0}, all[2] = {0, 0}, waves = 0;
  wx_qg_opts o = standard(leads, 1);
  moments *m = NULL;

  must(weir_alloc(1, sizeof *m, (void **)&m));
  o.init_times = 600;
  o.every = 48;
  o.members = 1;
  o.library.states = 2;
  gather(&o, m);
  const double n = (double)o.init_times, mean = mean_of_row(m, Z500, axis, n);

  for (int64_t row = 0; row < LAT; row++) {
    all[0] += pow(spread_of_row(m, Z500, row, n), 2) / LAT;
    all[1] += pow(spread_of_row(m, T500, row, n), 2) / LAT;
  }
  for (int64_t c = axis * LON; c < (axis + 1) * LON; c++) {
    waves += pow(m->sum[Z500][c] / n - mean, 2) / LON;
  }
  expect("z500: standard deviation at the axis, m2/s2", spread_of_row(m, Z500, axis, n), 1940,
         2380);
  expect("z500: at the edge", spread_of_row(m, Z500, edge, n), 730, 950);
  expect("z500: everywhere", sqrt(all[0]), 1250, 1600);
  expect("t500: at the axis, K", spread_of_row(m, T500, axis, n), 5.4, 6.8);
  expect("t500: everywhere", sqrt(all[1]), 3.2, 4.2);
  expect("z500: standing waves at the axis", sqrt(waves), 230, 440);
  o.mountain = 0.3;
  gather(&o, m);
  expect("mountain 0.3: u1 at the axis", mean_of_row(m, U250, axis, n) / 25, 0.95, 1.25);
  expect("mountain 0.3: u2 at the axis", mean_of_row(m, U750, axis, n) / 25, 0.25, 0.45);
  weir_free(&m);
}

int main(int argc, char **argv)
{
  static const struct {
    const char *name;
    void (*run)(void);
  } studies[] = {{"perfect", study_perfect}, {"real", study_real}, {"climate", study_climate}};

  if (!weir_fft_plan_available()) {
    return SKIP;
  }
  if (argc == 3) {
    seed = strtoull(argv[2], NULL, 10);
  }
  for (size_t i = 0; argc > 1 && argc < 4 && i < sizeof studies / sizeof studies[0]; i++) {
    if (strcmp(argv[1], studies[i].name) == 0) {
      studies[i].run();
      return wrong > 0;
    }
  }
  fprintf(stderr, "usage: %s perfect|real|climate [SEED]\n", argv[0]);
  return 2;
}
