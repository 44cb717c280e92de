/* landauer.h - currents and conductances of a transmission: the formulas of Landauer.
 *
 * Integrals over the energies given, ascending, of transmissions averaged over wave vectors, which
 * go in lines from one energy to the next; occupations are integrated to rounding, steps at 0 K
 * too. The grid covers where the integrand is not 0 (qt_window) and resolves the transmission.
 * Those of phonons begin at 0, up to the first energy with the transmission there. */
#ifndef QT_LANDAUER_H
#define QT_LANDAUER_H
#include <stdbool.h>
#include <stdint.h>

/* A lead in equilibrium. */
typedef struct qt_reservoir {
  double mu;          /* eV; not read for phonons */
  double temperature; /* K, at least 0            */
} qt_reservoir;

/* Energies between which leads differ in occupation, or theirs changes with temperature, but for
 * exp(-10): 10 k_B T beyond the chemical potentials; of phonons from 0. eV. */
typedef struct qt_window {
  double low, high;
  double kt; /* k_B T of the colder lead, which steps of the grid do not exceed; 0 at 0 K */
} qt_window;
qt_window qt_electron_window(const qt_reservoir lead[2]);
qt_window qt_phonon_window(const qt_reservoir lead[2]);
/* Returns whether an integral over the energies given holds any of the window. */
bool qt_window_is_met(const qt_window *w, int64_t n, const double *energy);

/* Returns the occupation of a state at `energy` (eV): Fermi's function; Bose's, energy > 0. */
double qt_fermi(double energy, double mu, double temperature);
double qt_bose(double energy, double temperature);

/* Electrons; spin: states of an energy that the transmission counts once, 2 where it knows no spin.
 * Current (A): e times the flow of electrons from lead[0] to lead[1], positive where mu of lead[0]
 * is higher, opposite to the conventional current. Current of energy (W) likewise, energies from
 * the zero of H. Conductance (S) at zero bias, at 0 K the transmission at mu between its
 * neighbours. */
double qt_electron_current(int64_t n, const double *energy, const double *transmission,
                           const qt_reservoir lead[2], double spin);
double qt_electron_energy_current(int64_t n, const double *energy, const double *transmission,
                                  const qt_reservoir lead[2], double spin);
double qt_electron_conductance(int64_t n, const double *energy, const double *transmission,
                               double mu, double temperature, double spin);

/* Phonons; energy: hbar omega > 0. Heat (W) from lead[0] to lead[1], thermal conductance (W/K). */
double qt_phonon_current(int64_t n, const double *energy, const double *transmission,
                         const qt_reservoir lead[2]);
double qt_phonon_conductance(int64_t n, const double *energy, const double *transmission,
                             double temperature);

#endif
