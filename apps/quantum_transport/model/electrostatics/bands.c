/* bands.c - see bands.h. */
#include "model/electrostatics/bands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "model/band_structure.h"

void qt_bands_fini(qt_bands *b)
{
  weir_free(&b->energy);
  *b = (qt_bands){.count = 0};
}

static int ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
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

/* Energies of all wave vectors, [n_k, points, n] */
static weir_status compute(const qt_lead *lead, int64_t n_k, const double (*k)[2], int64_t points,
                           double *energy)
{
  for (int64_t i = 0; i < n_k; i++) {
    qt_band_structure bands = {.n = 0};
    qt_cell cell = {.n = 0};

    WEIR_TRY(qt_cell_create(lead, k[i], &cell));
    /* Both ends of the zone are the same wave vector: one of them counts. */
    const weir_status status = qt_band_structure_create(&cell, QT_ELECTRONS, points + 1, 0, &bands);

    if (status == WEIR_OK) {
      memcpy(energy + i * points * lead->n, bands.energy,
             (size_t)(points * lead->n) * sizeof *energy);
    }
    qt_band_structure_fini(&bands);
    qt_cell_fini(&cell);
    WEIR_TRY(status);
  }
  return WEIR_OK;
}

weir_status qt_bands_create(const qt_lead *lead, int64_t n_k, const double (*k)[2],
                            const qt_bands_spec *spec, qt_bands *out)
{
  const int64_t points = spec->points + spec->points % 2; /* k_x = 0 is one of them */
  weir_status status = WEIR_OK;
  int64_t n_points, count;

  *out = (qt_bands){.count = 0};
  if (!weir_mul_ok(n_k, points, &n_points) || !weir_mul_ok(n_points, lead->n, &count)) {
    return weir_fail(WEIR_ERR_CONFIG, "electrostatics.band_points %lld: too many",
                     (long long)spec->points);
  }
  WEIR_TRY_GOTO(weir_alloc(count, sizeof *out->energy, (void **)&out->energy), done);
  WEIR_TRY_GOTO(compute(lead, n_k, k, points, out->energy), done);
  WEIR_TRY_GOTO(find_edges(out->energy, lead->n, n_points, spec->mid_gap, out), done);
  qsort(out->energy, (size_t)count, sizeof *out->energy, ascending);
  out->count = count;
  while (out->first < count && out->energy[out->first] < spec->mid_gap) {
    out->first++;
  }
  out->weight = spec->spin / (double)n_points;
done:
  if (status != WEIR_OK) {
    qt_bands_fini(out);
  }
  return status;
}

double qt_bands_electrons(const qt_bands *b, double mu, double kt, double *slope)
{
  const double far = 40; /* k_B T beyond which exp underflows what is summed */
  double sum = 0, of_slope = 0;

  for (int64_t i = b->first; i < b->count && b->energy[i] < mu + far * kt; i++) {
    const double f = 1 / (1 + exp((b->energy[i] - mu) / kt));

    sum += f;
    of_slope += f * (1 - f);
  }
  for (int64_t i = b->first - 1; i >= 0 && b->energy[i] > mu - far * kt; i--) {
    const double f = 1 / (1 + exp((mu - b->energy[i]) / kt));

    sum -= f;
    of_slope += f * (1 - f);
  }
  *slope = b->weight * of_slope / kt;
  return b->weight * sum;
}

weir_status qt_bands_find_mu(const qt_bands *b, double electrons, double kt, double *mu)
{
  const double wide = 20 * kt, enough = 1e-10; /* eV */
  double lo = b->energy[0] - wide, hi = b->energy[b->count - 1] + wide, slope;

  if (!(qt_bands_electrons(b, lo, kt, &slope) < electrons) ||
      !(qt_bands_electrons(b, hi, kt, &slope) > electrons)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "electrostatics.doping: no chemical potential gives a cell of a lead %g "
                     "electrons more than holes: dope both ends of the device, or set "
                     "electrostatics.fermi_level=given and contact.mu",
                     electrons);
  }
  while (hi - lo > enough) {
    const double middle = (lo + hi) / 2;

    if (middle <= lo || middle >= hi) {
      break;
    }
    if (qt_bands_electrons(b, middle, kt, &slope) < electrons) {
      lo = middle;
    } else {
      hi = middle;
    }
  }
  *mu = (lo + hi) / 2;
  return WEIR_OK;
}
