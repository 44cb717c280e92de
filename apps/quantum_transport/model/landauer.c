/* landauer.c - see landauer.h. */
#include "model/landauer.h"

#include <math.h>

#include "model/units.h"

double qt_fermi(double energy, double mu, double temperature)
{
  const double x = energy - mu;

  return temperature > 0 ? 1 / (1 + exp(x / (QT_BOLTZMANN * temperature)))
         : x < 0         ? 1
         : x > 0         ? 0
                         : 0.5;
}

double qt_bose(double energy, double temperature)
{
  return temperature > 0 ? 1 / expm1(energy / (QT_BOLTZMANN * temperature)) : 0;
}

/* In units of k_B T, where occupations are exp(-10) from their limits. */
static const double tail = 10;

qt_window qt_electron_window(const qt_reservoir lead[2])
{
  const double a = tail * QT_BOLTZMANN * lead[0].temperature;
  const double b = tail * QT_BOLTZMANN * lead[1].temperature;

  return (qt_window){.low = fmin(lead[0].mu - a, lead[1].mu - b),
                     .high = fmax(lead[0].mu + a, lead[1].mu + b),
                     .kt = fmin(a, b) / tail};
}

qt_window qt_phonon_window(const qt_reservoir lead[2])
{
  const double a = QT_BOLTZMANN * lead[0].temperature, b = QT_BOLTZMANN * lead[1].temperature;

  return (qt_window){.low = 0, .high = tail * fmax(a, b), .kt = fmin(a, b)};
}

bool qt_window_is_met(const qt_window *w, int64_t n, const double *energy)
{
  return n > 1 && w->low <= energy[n - 1] && w->high >= energy[0];
}

/* x / 2 over sinh(x / 2), squared: -df/dE and dN/dT but for factors. */
static double peak(double x)
{
  const double half = fabs(x) / 2;

  return half < 1e-6 ? 1 : half > 300 ? 0 : pow(half / sinh(half), 2);
}

/* What an integrand depends on. */
typedef struct integrand {
  double (*weight)(const struct integrand *f, double energy);
  qt_reservoir lead[2];
} integrand;

/* In units of k_B T, where occupations are 0 or 1 to the last bit. */
static const double far = 40;

/* Integral over [from, to], where the transmission is t0 + slope (E - from), of what varies on no
 * smaller scale than `scale`: two points of Gauss and Legendre on each side of the middle of pieces
 * of half that length (Abramowitz and Stegun, 25.4.30). */
static double integrate_smooth(const integrand *f, double from, double to, double t0, double slope,
                               double scale)
{
  static const double x[] = {0.339981043584856, 0.861136311594053};
  static const double w[] = {0.652145154862546, 0.347854845137454};
  const double pieces = fmax(1, ceil(2 * (to - from) / scale)), width = (to - from) / pieces;
  double sum = 0;

  for (double piece = 0; piece < pieces; piece++) {
    for (int k = 0; k < 4; k++) {
      const double at = k % 2 ? x[k / 2] : -x[k / 2];
      const double e = from + width * (piece + 0.5 + 0.5 * at);

      sum += width / 2 * w[k / 2] * f->weight(f, e) * (t0 + slope * (e - from));
    }
  }
  return sum;
}

/* The smallest k_B T of a lead whose occupation changes at `energy`; infinite where none does. */
static double scale_at(const integrand *f, double energy)
{
  double scale = INFINITY;

  for (int c = 0; c < 2; c++) {
    const double kt = QT_BOLTZMANN * f->lead[c].temperature;

    if (fabs(energy - f->lead[c].mu) < far * kt) {
      scale = fmin(scale, kt);
    }
  }
  return scale;
}

/* Next energy above `from`, at most `to`, at which an occupation begins or ends to change, or is a
 * step. */
static double next_break(const integrand *f, double from, double to)
{
  for (int c = 0; c < 2; c++) {
    const double reach = far * QT_BOLTZMANN * f->lead[c].temperature;

    for (int side = -1; side <= 1; side++) {
      const double at = f->lead[c].mu + side * reach;

      to = at > from && at < to ? at : to;
    }
  }
  return to;
}

static double integrate(int64_t n, const double *energy, const double *transmission,
                        const integrand *f)
{
  double sum = 0;

  for (int64_t i = 0; i + 1 < n; i++) {
    const double slope = (transmission[i + 1] - transmission[i]) / (energy[i + 1] - energy[i]);
    double from = energy[i];

    while (from < energy[i + 1]) {
      const double to = next_break(f, from, energy[i + 1]);
      const double t0 = transmission[i] + slope * (from - energy[i]);

      sum += integrate_smooth(f, from, to, t0, slope, scale_at(f, (from + to) / 2));
      from = to;
    }
  }
  return sum;
}

/* The same from 0, where the transmission is taken for that of the first energy. */
static double integrate_from_zero(int64_t n, const double *energy, const double *transmission,
                                  const integrand *f)
{
  const double first[2] = {0, energy[0]}, same[2] = {transmission[0], transmission[0]};

  return integrate(2, first, same, f) + integrate(n, energy, transmission, f);
}

static double electrons(const integrand *f, double energy)
{
  return qt_fermi(energy, f->lead[0].mu, f->lead[0].temperature) -
         qt_fermi(energy, f->lead[1].mu, f->lead[1].temperature);
}

static double electron_energy(const integrand *f, double energy)
{
  return energy * electrons(f, energy);
}

/* -df/dE = 1 / (4 kT cosh^2(x / 2)), x = (E - mu) / kT. */
static double thermal_window(const integrand *f, double energy)
{
  const double kt = QT_BOLTZMANN * f->lead[0].temperature;
  const double half = fabs(energy - f->lead[0].mu) / kt / 2;

  return half > 300 ? 0 : pow(cosh(half), -2) / (4 * kt);
}

/* At 0 both are k_B T. */
static double phonons(const integrand *f, double energy)
{
  const double t[2] = {f->lead[0].temperature, f->lead[1].temperature};

  return energy > 0 ? energy * (qt_bose(energy, t[0]) - qt_bose(energy, t[1]))
                    : QT_BOLTZMANN * (t[0] - t[1]);
}

/* E dN/dT = k x^2 exp(x) / (exp(x) - 1)^2, x = E / kT. */
static double heat_capacity(const integrand *f, double energy)
{
  return QT_BOLTZMANN * peak(energy / (QT_BOLTZMANN * f->lead[0].temperature));
}

double qt_electron_current(int64_t n, const double *energy, const double *transmission,
                           const qt_reservoir lead[2], double spin)
{
  const integrand f = {electrons, {lead[0], lead[1]}};

  return spin * QT_CONDUCTANCE * integrate(n, energy, transmission, &f);
}

double qt_electron_energy_current(int64_t n, const double *energy, const double *transmission,
                                  const qt_reservoir lead[2], double spin)
{
  const integrand f = {electron_energy, {lead[0], lead[1]}};

  return spin * QT_CONDUCTANCE * integrate(n, energy, transmission, &f);
}

double qt_electron_conductance(int64_t n, const double *energy, const double *transmission,
                               double mu, double temperature, double spin)
{
  const integrand f = {thermal_window, {{mu, temperature}}};
  double sum = 0;

  if (temperature > 0) {
    return spin * QT_CONDUCTANCE * integrate(n, energy, transmission, &f);
  }
  for (int64_t i = 0; i + 1 < n; i++) {
    if (energy[i] <= mu && mu <= energy[i + 1]) {
      const double share = (mu - energy[i]) / (energy[i + 1] - energy[i]);

      sum = (1 - share) * transmission[i] + share * transmission[i + 1];
    }
  }
  return spin * QT_CONDUCTANCE * sum;
}

double qt_phonon_current(int64_t n, const double *energy, const double *transmission,
                         const qt_reservoir lead[2])
{
  const integrand f = {phonons, {lead[0], lead[1]}};

  return QT_CONDUCTANCE * integrate_from_zero(n, energy, transmission, &f); /* 1 / h in W / eV^2 */
}

double qt_phonon_conductance(int64_t n, const double *energy, const double *transmission,
                             double temperature)
{
  const integrand f = {heat_capacity, {{0, temperature}}};

  return temperature > 0 ? QT_CONDUCTANCE * integrate_from_zero(n, energy, transmission, &f) : 0;
}
