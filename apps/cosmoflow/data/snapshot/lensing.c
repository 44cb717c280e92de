/* lensing.c - see lensing.h. */
#include "data/snapshot/lensing.h"
#include <math.h>

enum { STEPS = 1000 };

/* Comoving distance to a redshift, Mpc/h: c / H0 int dz / E(z) by Simpson's rule. */
static double distance(double omega_m, double redshift)
{
  const double step = redshift / STEPS, hubble = 2997.92458; /* c / (100 km/s), Mpc/h */
  double sum = 0;

  for (int i = 0; i <= STEPS; i++) {
    const double a = 1 + i * step, weight = i == 0 || i == STEPS ? 1 : i % 2 == 1 ? 4 : 2;

    sum += weight / sqrt(omega_m * a * a * a + 1 - omega_m);
  }
  return hubble * sum * step / 3;
}

double cf_lensing_factor(double omega_m, double redshift, double source, double thickness)
{
  const double lens = distance(omega_m, redshift), far = distance(omega_m, source);
  const double per_hubble = 1 / 2997.92458;

  return 1.5 * omega_m * per_hubble * per_hubble * lens * (far - lens) / far * (1 + redshift) *
         thickness;
}
