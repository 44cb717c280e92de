/* bands.c - see bands.h: between two wave vectors a band is the cubic of Hermite with slopes from
 * its four neighbours, of error h^4, in the form of Bezier: its control values bound it. */
#include "model/electrostatics/bands.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "graph/weir_complex_scalar.h"
#include "model/band_structure.h"

void qt_bands_fini(qt_bands *b)
{
  weir_free(&b->energy);
  weir_free(&b->low);
  weir_free(&b->high);
  *b = (qt_bands){.n = 0};
}

/* Band number j, counted from 0, fills an interval: those that leave a gap around mid_gap. */
static weir_status find_edges(const double *of_k, int64_t n, int64_t n_points, double mid_gap,
                              qt_bands *out)
{
  double below = -INFINITY, above = INFINITY; /* edges of the gaps nearest to mid_gap */
  double top = -INFINITY;

  out->valence = -INFINITY;
  out->conduction = INFINITY;
  for (int64_t j = 0; j < n; j++) {
    double lo = INFINITY, hi = -INFINITY;

    for (int64_t i = 0; i < n_points; i++) {
      lo = fmin(lo, of_k[i * n + j]);
      hi = fmax(hi, of_k[i * n + j]);
    }
    if (lo > top && (lo + top) / 2 < mid_gap) {
      below = j > 0 ? (lo + top) / 2 : lo - 1;
    }
    if (lo > top && (lo + top) / 2 > mid_gap && isinf(above)) {
      above = (lo + top) / 2;
    }
    top = fmax(top, hi);
    if (hi < mid_gap) {
      out->valence = fmax(out->valence, hi);
    } else if (lo > mid_gap) {
      out->conduction = fmin(out->conduction, lo);
    } else {
      out->conduction = NAN;
    }
  }
  if (isnan(out->conduction)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "electrostatics.mid_gap %g eV lies in a band of the leads: the middle of the "
                     "next gap below is %g eV, above %g eV",
                     mid_gap, below, isinf(above) ? top + 1 : above);
  }
  return WEIR_OK;
}

/* At `points` wave vectors along x from `offset` spacings above -pi on, into every `stride`-th of
 * b->energy from `first` on. */
static weir_status compute(const qt_lead *lead, const double (*k)[2], int64_t points, double offset,
                           int64_t first, int64_t stride, qt_bands *b)
{
  const double phase = 2 * M_PI * offset / (double)points;
  const weir_c128 factor = {cos(phase), sin(phase)};
  const int64_t n = lead->n;

  for (int64_t i = 0; i < b->n_k; i++) {
    qt_band_structure bands = {.n = 0};
    qt_cell cell = {.n = 0};

    WEIR_TRY(qt_cell_create(lead, k[i], &cell));
    for (int64_t j = 0; j < n * n && offset != 0; j++) {
      cell.h1[j] = weir_mul_c128(factor, cell.h1[j]);
      if (cell.s1 != NULL) {
        cell.s1[j] = weir_mul_c128(factor, cell.s1[j]);
      }
    }
    /* Both ends of the zone are the same wave vector: one of them counts. */
    const weir_status status = qt_band_structure_create(&cell, QT_ELECTRONS, points + 1, 0, &bands);

    for (int64_t j = 0; j < points && status == WEIR_OK; j++) {
      memcpy(b->energy + (i * b->points + first + j * stride) * n, bands.energy + j * n,
             (size_t)n * sizeof *bands.energy);
    }
    qt_band_structure_fini(&bands);
    qt_cell_fini(&cell);
    WEIR_TRY(status);
  }
  return WEIR_OK;
}

/* Control values of band j from point i to point i + step. */
static void get_cubic(const qt_bands *b, int64_t k, int64_t i, int64_t step, int64_t j, double c[4])
{
  const double *e = b->energy + k * b->points * b->n + j;
  double at[6]; /* two points before, both ends, two points after */

  for (int64_t a = 0; a < 6; a++) {
    at[a] = e[((i + (a - 2) * step + 2 * b->points) % b->points) * b->n];
  }
  c[0] = at[2];
  c[1] = at[2] + (8 * (at[3] - at[1]) - at[4] + at[0]) / 36;
  c[2] = at[3] - (8 * (at[4] - at[2]) - at[5] + at[1]) / 36;
  c[3] = at[3];
}

static double lowest(const double c[4])
{
  return fmin(fmin(c[0], c[1]), fmin(c[2], c[3]));
}

static double highest(const double c[4])
{
  return fmax(fmax(c[0], c[1]), fmax(c[2], c[3]));
}

/* Bounds of every band, of all points and of every second. */
static void find_bounds(qt_bands *b)
{
  for (int64_t j = 0; j < b->n; j++) {
    b->low[j] = INFINITY;
    b->high[j] = -INFINITY;
    for (int64_t a = 0; a < 2 * b->n_k * b->points; a++) {
      double c[4];

      get_cubic(b, a / 2 / b->points, a / 2 % b->points, 1 + a % 2, j, c);
      b->low[j] = fmin(b->low[j], lowest(c));
      b->high[j] = fmax(b->high[j], highest(c));
    }
  }
}

/* What follows from the energies. */
static weir_status finish(const qt_bands_spec *spec, qt_bands *b)
{
  WEIR_TRY(find_edges(b->energy, b->n, b->n_k * b->points, spec->mid_gap, b));
  b->first = 0;
  while (b->first < b->n && b->energy[b->first] < spec->mid_gap) {
    b->first++;
  }
  find_bounds(b);
  return WEIR_OK;
}

static weir_status make(int64_t n_k, int64_t points, int64_t n, double spin, qt_bands *out)
{
  int64_t n_points, count;

  *out = (qt_bands){.n_k = n_k, .points = points, .n = n, .spin = spin};
  if (!weir_mul_ok(n_k, points, &n_points) || !weir_mul_ok(n_points, n, &count)) {
    return weir_fail(WEIR_ERR_CONFIG, "electrostatics.band_points %lld: too many",
                     (long long)points);
  }
  WEIR_TRY(weir_alloc(count, sizeof *out->energy, (void **)&out->energy));
  WEIR_TRY(weir_alloc(n, sizeof *out->low, (void **)&out->low));
  return weir_alloc(n, sizeof *out->high, (void **)&out->high);
}

weir_status qt_bands_create(const qt_lead *lead, int64_t n_k, const double (*k)[2],
                            const qt_bands_spec *spec, qt_bands *out)
{
  const int64_t points = spec->points + spec->points % 2; /* k_x = 0 is one of them */
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(make(n_k, points, lead->n, spec->spin, out), done);
  WEIR_TRY_GOTO(compute(lead, k, points, 0, 0, 1, out), done);
  WEIR_TRY_GOTO(finish(spec, out), done);
done:
  if (status != WEIR_OK) {
    qt_bands_fini(out);
  }
  return status;
}

/* Twice as many points: those half-way are new. */
static weir_status refine(const qt_lead *lead, const double (*k)[2], const qt_bands_spec *spec,
                          qt_bands *b)
{
  qt_bands fine;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(make(b->n_k, 2 * b->points, b->n, b->spin, &fine), done);
  for (int64_t i = 0; i < b->n_k * b->points; i++) {
    memcpy(fine.energy + 2 * i * b->n, b->energy + i * b->n, (size_t)b->n * sizeof *b->energy);
  }
  WEIR_TRY_GOTO(compute(lead, k, b->points, 0.5, 1, 2, &fine), done);
  WEIR_TRY_GOTO(finish(spec, &fine), done);
  qt_bands_fini(b);
  *b = fine;
  return WEIR_OK;
done:
  qt_bands_fini(&fine);
  return status;
}

/* In units of k_B T, where exp no longer changes a sum. */
static const double far = 40;

/* Means over a piece of a band. */
typedef struct occupation {
  double filled, slope; /* of 1 / (1 + exp x), and minus its derivative by x */
} occupation;

/* Adds `share` of the occupation of a cubic x: Gauss and Legendre's rule of three points where
 * x changes by 2 at most, else halves of it. */
static void occupy(const double x[4], double share, double end, occupation *out)
{
  static const double at[] = {0.112701665379258, 0.5, 0.887298334620742};
  static const double weight[] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
  const double lo = lowest(x), hi = highest(x);

  if (lo > end) {
    return;
  }
  if (hi < -far) {
    out->filled += share;
    return;
  }
  if (hi - lo > 2) { /* de Casteljau */
    const double a = (x[0] + x[1]) / 2, b = (x[1] + x[2]) / 2, c = (x[2] + x[3]) / 2;
    const double middle = (a + 2 * b + c) / 4;

    occupy((const double[]){x[0], a, (a + b) / 2, middle}, share / 2, end, out);
    occupy((const double[]){middle, (b + c) / 2, c, x[3]}, share / 2, end, out);
    return;
  }
  for (int i = 0; i < 3; i++) {
    const double t = at[i], u = 1 - t;
    const double f =
        1 / (1 + exp(u * u * (u * x[0] + 3 * t * x[1]) + t * t * (3 * u * x[2] + t * x[3])));

    out->filled += share * weight[i] * f;
    out->slope += share * weight[i] * f * (1 - f);
  }
}

/* Electrons (sign 1) or holes (-1) of band j, of every step-th point. */
static void fill_band(const qt_bands *b, int64_t step, int64_t j, double mu, double kt, double end,
                      occupation *out)
{
  const double sign = j < b->first ? -1 : 1, share = b->spin / (double)(b->n_k * b->points / step);
  const double near = sign > 0 ? b->low[j] - mu : mu - b->high[j];
  const double away = sign > 0 ? b->high[j] - mu : mu - b->low[j];

  if (near > end * kt) {
    return;
  }
  if (away < -far * kt) {
    out->filled += b->spin;
    return;
  }
  for (int64_t k = 0; k < b->n_k; k++) {
    for (int64_t i = 0; i < b->points; i += step) {
      double c[4];

      get_cubic(b, k, i, step, j, c);
      for (int a = 0; a < 4; a++) {
        c[a] = sign * (c[a] - mu) / kt;
      }
      occupy(c, share, end, out);
    }
  }
}

/* qt_bands_electrons of every step-th point. */
static double count(const qt_bands *b, int64_t step, double mu, double kt, double *slope)
{
  const double electrons_end = fmax(0, (b->conduction - mu) / kt) + far;
  const double holes_end = fmax(0, (mu - b->valence) / kt) + far;
  occupation electrons = {0, 0}, holes = {0, 0};

  for (int64_t j = 0; j < b->n; j++) {
    if (j < b->first) {
      fill_band(b, step, j, mu, kt, holes_end, &holes);
    } else {
      fill_band(b, step, j, mu, kt, electrons_end, &electrons);
    }
  }
  *slope = (electrons.slope + holes.slope) / kt;
  return electrons.filled - holes.filled;
}

double qt_bands_electrons(const qt_bands *b, double mu, double kt, double *slope)
{
  return count(b, 1, mu, kt, slope);
}

/* The chemical potential above which there are more than `electrons`; below which there are fewer,
 * where `fewer`: they differ in a gap whose electrons and holes are too few for a number. */
static double search(const qt_bands *b, int64_t step, double electrons, double kt, double lo,
                     double hi, bool fewer)
{
  const double enough = 1e-10; /* eV */

  while (hi - lo > enough) {
    const double middle = (lo + hi) / 2;
    double slope;

    if (middle <= lo || middle >= hi) {
      break;
    }
    const double now = count(b, step, middle, kt, &slope);

    if (fewer ? now < electrons : now <= electrons) {
      lo = middle;
    } else {
      hi = middle;
    }
  }
  return (lo + hi) / 2;
}

/* The chemical potential of every step-th point, to 1e-10 eV. */
static weir_status find_mu(const qt_bands *b, int64_t step, double electrons, double kt, double *mu)
{
  const double wide = 20 * kt;
  double lo = INFINITY, hi = -INFINITY, slope;

  for (int64_t j = 0; j < b->n; j++) {
    lo = fmin(lo, b->low[j] - wide);
    hi = fmax(hi, b->high[j] + wide);
  }
  if (!(count(b, step, lo, kt, &slope) < electrons) ||
      !(count(b, step, hi, kt, &slope) > electrons)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "electrostatics.doping: no chemical potential gives a cell of a lead %g "
                     "electrons more than holes: dope both ends of the device, or set "
                     "electrostatics.fermi_level=given and contact.mu",
                     electrons);
  }
  *mu = (search(b, step, electrons, kt, lo, hi, true) +
         search(b, step, electrons, kt, lo, hi, false)) /
        2;
  return WEIR_OK;
}

weir_status qt_bands_find_mu(const qt_lead *lead, const double (*k)[2], const qt_bands_spec *spec,
                             double electrons, double kt, qt_bands *b, double *mu)
{
  for (;;) {
    double coarse = NAN;

    WEIR_TRY(find_mu(b, 1, electrons, kt, mu));
    WEIR_TRY(find_mu(b, 2, electrons, kt, &coarse));
    if (fabs(*mu - coarse) <= spec->tolerance) {
      return WEIR_OK;
    }
    if (2 * b->points > spec->max_points) {
      return weir_fail(WEIR_ERR_NUMERIC,
                       "electrostatics.fermi_tolerance: from %lld to %lld wave vectors along x the "
                       "Fermi level of a lead moves by %g eV, more than %g eV: give a larger "
                       "tolerance or more electrostatics.max_band_points than %lld",
                       (long long)b->points / 2, (long long)b->points, fabs(*mu - coarse),
                       spec->tolerance, (long long)spec->max_points);
    }
    WEIR_TRY(refine(lead, k, spec, b));
  }
}
