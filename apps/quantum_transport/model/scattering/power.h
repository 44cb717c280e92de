/* power.h - energy that electrons and phonons exchange, atom by atom:
 *   P_e = s / hbar N_k sum over k of int dE / 2 pi E tr[Sigma^< G^> - Sigma^> G^<],
 *   P_ph = 1 / N_q sum over q of int d(hw) / 2 pi hbar hw tr[Pi^> D^< - Pi^< D^>],
 * what electrons and what phonons gain. Their sums over the device are opposite for self-energies
 * of these G and D, whatever G and D are. */
#ifndef QT_POWER_H
#define QT_POWER_H
#include "model/scattering/self_energy.h"

/* Computes power [atoms] in W of arrays of qt_self_energy_own_desc: what the points of this rank
 * give; energy [n_energies] in eV, of all, counted from `zero`: atoms exchange electrons by
 * phonons, too, so that the power of an atom depends on it, while the sum over the device does not,
 * but for rounding, which is smallest where `zero` lies amid the energies. */
void qt_power_of_electrons(const qt_self_energy_spec *s, const double *energy, double zero,
                           const weir_c128 *green, const weir_c128 *sigma, double *power);
void qt_power_of_phonons(const qt_self_energy_spec *s, const weir_c128 *phonon_self,
                         const weir_c128 *phonon_pair, const weir_c128 *pi_self,
                         const weir_c128 *pi_pair, double *power);

/* Returns Re tr[a b] of a [rows, columns] and b [columns, rows]. */
double qt_trace_of_product(int64_t rows, int64_t columns, const weir_c128 *a, const weir_c128 *b);

#endif
