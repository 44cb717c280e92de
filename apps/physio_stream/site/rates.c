/* rates.c - sums over records, what of them is withheld, and proportions of clustered counts. */
#include <math.h>
#include "base/special/weir_gamma.h"
#include "site/model.h"

/* ---- Cells ---- */

void ps_cell_add(ps_cell *c, const ps_score *s)
{
  const double tp = (double)s->tp, ref = tp + (double)s->fn, test = tp + (double)s->fp;

  c->records++;
  c->tp += s->tp;
  c->fn += s->fn;
  c->fp += s->fp;
  c->largest = s->tp + s->fn > c->largest ? s->tp + s->fn : c->largest;
  c->tp_tp += tp * tp;
  c->tp_ref += tp * ref;
  c->ref_ref += ref * ref;
  c->tp_test += tp * test;
  c->test_test += test * test;
}

/* Whether the figures of such a cell would tell of few records. */
static bool is_small(int64_t records, int64_t beats, int64_t largest, int64_t min_records,
                     double max_share)
{
  return records < min_records || (double)largest > max_share * (double)beats;
}

static bool cell_is_small(const ps_cell *c, int64_t min_records, double max_share)
{
  return is_small(c->records, c->tp + c->fn, c->largest, min_records, max_share);
}

/* Whether the withheld cells are safe together, or there are none. */
static bool rest_is_safe(const ps_cell *cells, int64_t n, int64_t min_records, double max_share)
{
  int64_t records = 0, beats = 0, largest = 0, count = 0;

  for (int64_t i = 0; i < n; i++) {
    if (cells[i].withheld) {
      count++;
      records += cells[i].records;
      beats += cells[i].tp + cells[i].fn;
      largest = cells[i].largest > largest ? cells[i].largest : largest;
    }
  }
  return count == 0 || !is_small(records, beats, largest, min_records, max_share);
}

void ps_cells_withhold(ps_cell *all, ps_cell *cells, int64_t n, int64_t min_records,
                       double max_share)
{
  all->withheld = cell_is_small(all, min_records, max_share);
  for (int64_t i = 0; i < n; i++) {
    cells[i].withheld =
        all->withheld || (cells[i].records > 0 && cell_is_small(&cells[i], min_records, max_share));
  }
  while (!all->withheld && !rest_is_safe(cells, n, min_records, max_share)) {
    int64_t next = -1;

    for (int64_t i = 0; i < n; i++) {
      if (!cells[i].withheld && cells[i].records > 0 &&
          (next < 0 || cells[i].records < cells[next].records)) {
        next = i;
      }
    }
    if (next < 0) {
      return; /* all are withheld, and their sum is `all`, which is told */
    }
    cells[next].withheld = true;
  }
}

/* ---- Cells of two divisions ---- */

/* The number under which the sum of a cell is known: its own, or, withheld, that of all such. */
static int64_t unit_of(const ps_cell *cells, int64_t n, int64_t cell)
{
  return cells[cell].withheld ? n : cell;
}

/* Records by which the unit `unit` of division a differs from the nearest sum of units of b. */
static int64_t distance(const ps_divisions *d, const ps_cell *const cells[2], const int64_t of[2],
                        int64_t unit)
{
  const int64_t n = d->n_cells[of[0]], m = d->n_cells[of[1]];
  int64_t sum = 0;

  for (int64_t k = 0; k <= m; k++) {
    int64_t inside = 0, outside = 0;

    for (int64_t i = 0; i < d->records; i++) {
      const int64_t *cell = d->cell + i;

      if (d->selected[i] && unit_of(cells[1], m, cell[of[1] * d->records]) == k) {
        const bool in = unit_of(cells[0], n, cell[of[0] * d->records]) == unit;

        inside += in;
        outside += !in;
      }
    }
    sum += inside < outside ? inside : outside;
  }
  return sum;
}

static bool is_near(const ps_divisions *d, const ps_cell *const cells[2], const int64_t of[2],
                    int64_t min_records)
{
  for (int64_t unit = 0; unit <= d->n_cells[of[0]]; unit++) {
    const int64_t records = distance(d, cells, of, unit);

    if (records > 0 && records < min_records) {
      return true;
    }
  }
  return false;
}

void ps_divisions_withhold(const ps_divisions *d, ps_cell *cells, int64_t min_records)
{
  ps_cell *second = cells;

  for (int64_t b = 0; b < d->n; second += d->n_cells[b++]) {
    const ps_cell *first = cells;
    bool near = false;

    for (int64_t a = 0; a < b; first += d->n_cells[a++]) {
      near =
          near ||
          is_near(d, (const ps_cell *const[]){first, second}, (const int64_t[]){a, b},
                  min_records) ||
          is_near(d, (const ps_cell *const[]){second, first}, (const int64_t[]){b, a}, min_records);
    }
    for (int64_t k = 0; near && k < d->n_cells[b]; k++) {
      second[k].withheld = true;
    }
  }
}

/* ---- Proportions ---- */

#define Z 1.959963984540054 /* 97.5 % of the normal distribution */
#define PI 3.14159265358979323846

/* The probability that |t| of Student's distribution does not exceed t, for whole degrees of
 * freedom: the finite series of Abramowitz & Stegun 26.7.3 and 26.7.4. */
static double student_within(double t, int64_t dof)
{
  const double angle = atan(t / sqrt((double)dof)), c = cos(angle), s = sin(angle);
  const bool odd = dof % 2 == 1;
  double term = odd ? c : 1, sum = dof > 1 ? term : 0;

  for (int64_t k = odd ? 3 : 2; k <= dof - 2; k += 2) {
    term *= (double)(k - 1) / (double)k * c * c;
    sum += term;
  }
  return odd ? 2 / PI * (angle + s * sum) : s * sum;
}

/* 97.5 % of Student's distribution: above 200 degrees of freedom by its expansion about the normal
 * one (26.7.5, error 1e-9). */
static double student(int64_t dof)
{
  const double z = Z, z2 = z * z, n = (double)dof;
  double lo = Z, hi = 13;

  if (dof > 200) {
    const double g1 = z * (z2 + 1) / 4, g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
    const double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;

    return z + (g1 + (g2 + g3 / n) / n) / n;
  }
  for (int i = 0; i < 60; i++) {
    const double t = (lo + hi) / 2;

    *(student_within(t, dof) < 0.95 ? &lo : &hi) = t;
  }
  return (lo + hi) / 2;
}

/* Variance of the ratio x / n over m records as clusters (Cochran 1977, 6.3), as a multiple of that
 * of n independent beats: the design effect. Effective counts are divided by it (Rao & Scott 1992,
 * Biometrics 48:577). The interval is Wilson's (1927, JASA 22:209) of the effective counts, with
 * Student's quantile of m - 1 degrees of freedom (Korn & Graubard 1998). */
ps_rate ps_rate_of(double x, double n, double xx, double xn, double nn, int64_t m)
{
  ps_rate r = {.value = NAN, .lo = NAN, .hi = NAN, .design = NAN};

  if (!(n > 0) || m < 2) {
    return r;
  }
  const double p = x / n, records = (double)m;
  const double square = xx - 2 * p * xn + p * p * nn;
  const double variance = records / (records - 1) * fmax(square, 0) / (n * n);
  const double binomial = p * (1 - p) / n;

  r.design = binomial > 0 ? fmax(variance / binomial, 1) : 1;
  r.events = x / r.design;
  r.trials = n / r.design;
  const double t = student(m - 1), t2 = t * t / r.trials;
  const double middle = (p + t2 / 2) / (1 + t2);
  const double half = t / (1 + t2) * sqrt(p * (1 - p) / r.trials + t2 / (4 * r.trials));

  r.value = 100 * p;
  r.lo = 100 * fmax(middle - half, 0);
  r.hi = 100 * fmin(middle + half, 1);
  return r;
}

ps_rate ps_cell_sensitivity(const ps_cell *c)
{
  return ps_rate_of((double)c->tp, (double)(c->tp + c->fn), c->tp_tp, c->tp_ref, c->ref_ref,
                    c->records);
}

ps_rate ps_cell_predictivity(const ps_cell *c)
{
  return ps_rate_of((double)c->tp, (double)(c->tp + c->fp), c->tp_tp, c->tp_test, c->test_test,
                    c->records);
}

/* Rao & Scott 1992: Pearson's chi-square of the effective counts; I^2: Higgins & Thompson 2002
 * (Statistics in Medicine 21:1539), the share of the variation that is not by chance. */
ps_heterogeneity ps_rates_compare(const ps_rate *rates, int64_t n)
{
  ps_heterogeneity h = {.chi2 = NAN, .p = NAN, .i2 = NAN};
  double events = 0, trials = 0;

  for (int64_t i = 0; i < n; i++) {
    events += isnan(rates[i].value) ? 0 : rates[i].events;
    trials += isnan(rates[i].value) ? 0 : rates[i].trials;
    h.dof += !isnan(rates[i].value);
  }
  h.dof--;
  if (h.dof < 1) {
    h.dof = 0;
    return h;
  }
  const double p = events / trials;

  h.chi2 = 0;
  for (int64_t i = 0; i < n && p * (1 - p) > 0; i++) {
    if (!isnan(rates[i].value)) {
      const double off = rates[i].events - p * rates[i].trials;

      h.chi2 += off * off / (rates[i].trials * p * (1 - p));
    }
  }
  h.p = h.chi2 > 0 ? weir_gamma_above((double)h.dof / 2, h.chi2 / 2) : 1;
  h.i2 = h.chi2 > 0 ? 100 * fmax(0, (h.chi2 - (double)h.dof) / h.chi2) : 0;
  return h;
}
