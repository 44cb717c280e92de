/* bands.c - see bands.h: occupations of given bands. */
#include "model/electrostatics/bands.h"

#include <math.h>

#include "base/weir_alloc.h"

void qt_bands_fini(qt_bands *b)
{
  weir_free(&b->energy);
  *b = (qt_bands){.count = 0};
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
