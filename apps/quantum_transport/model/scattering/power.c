/* power.c - see power.h. */
#include "model/scattering/power.h"

#include <math.h>
#include <string.h>

#include "model/units.h"

double qt_trace_of_product(int64_t rows, int64_t columns, const weir_c128 *a, const weir_c128 *b)
{
  double sum = 0;

  for (int64_t i = 0; i < rows * columns; i++) {
    const weir_c128 y = b[i % columns * rows + i / columns];

    sum += a[i].re * y.re - a[i].im * y.im;
  }
  return sum;
}

/* tr[a^< b^> - a^> b^<] of blocks of the lesser function, `half` elements before the greater. */
static double net(int64_t n, int64_t half, const weir_c128 *a, const weir_c128 *b)
{
  return qt_trace_of_product(n, n, a, b + half) - qt_trace_of_product(n, n, a + half, b);
}

void qt_power_of_electrons(const qt_self_energy_spec *s, const double *energy, double zero,
                           const weir_c128 *green, const weir_c128 *sigma, double *power)
{
  const int64_t n = s->neighbours->n_orbitals, atoms = s->neighbours->n_atoms;
  const qt_point_box own = qt_self_energy_points(s, QT_POINTS_OF_ELECTRONS);
  const int64_t points = qt_point_box_count(&own), n_e = own.e[1] - own.e[0];
  const int64_t half = points * atoms * n * n;
  const double unit = s->spin * QT_CONDUCTANCE * s->step / (double)s->n_k;

  memset(power, 0, (size_t)atoms * sizeof *power);
  for (int64_t i = 0; i < points * atoms; i++) {
    power[i % atoms] += unit * (energy[own.e[0] + i / atoms % n_e] - zero) *
                        net(n, half, sigma + i * n * n, green + i * n * n);
  }
}

void qt_power_of_phonons(const qt_self_energy_spec *s, const weir_c128 *phonon_self,
                         const weir_c128 *phonon_pair, const weir_c128 *pi_self,
                         const weir_c128 *pi_pair, double *power)
{
  const qt_neighbours *list = s->neighbours;
  const int64_t n = list->n_directions, atoms = list->n_atoms, width = list->n_neighbours;
  const qt_point_box own = qt_self_energy_points(s, QT_POINTS_OF_PHONONS);
  const int64_t points = qt_point_box_count(&own) * atoms, n_w = own.e[1] - own.e[0];
  const int64_t half = points * n * n;
  const double unit = QT_CONDUCTANCE * s->step / (double)s->n_k;

  memset(power, 0, (size_t)atoms * sizeof *power);
  for (int64_t i = 0; i < points; i++) {
    const double energy = s->step * (double)(own.e[0] + i / atoms % n_w + 1);
    double sum = net(n, half, pi_self + i * n * n, phonon_self + i * n * n);

    for (int64_t b = 0; b < width; b++) {
      const int64_t at = (i * width + b) * n * n;

      if (qt_neighbours_is_pair(list, i % atoms, b)) {
        sum += net(n, width * half, pi_pair + at, phonon_pair + at);
      }
    }
    power[i % atoms] -= unit * energy * sum;
  }
}
