/* density.h - electrons less holes of every orbital of an open system, and the current, at two
 * reservoirs.
 *
 * With G on a contour (contour.h) as if the whole device were in equilibrium with either lead, n_L
 * and n_R, and on the real axis what each lead injects between the chemical potentials,
 *   c_L = int A_L (f_L - f_R) dE / 2 pi,  c_R = int A_R (f_L - f_R) dE / 2 pi,
 * the number is n_R + c_L = n_L - c_R where no state is bound in the device, for n_L - n_R is c_L +
 * c_R. It is computed as n_R + (n_L - n_R) c_L / (c_L + c_R), in which errors of the integrals over
 * sharp edges and resonances cancel. Where n_L - n_R is more than c_L + c_R and these errors, by
 * states that are bound or too narrow for the integrals, it goes over to n_R + c_L + s (n_L - n_R -
 * c_L - c_R): s is the left lead's share of the sum of G Gamma G^H of both leads at energies 2 k_B
 * T above the real axis between the chemical potentials. That changes smoothly with the potential,
 * while c_L / (c_L + c_R) is of other states than those that are missing (cf. Brandbyge et al.,
 * Phys. Rev. B 65, 165401, 2002, with other weights). */
#ifndef QT_DENSITY_H
#define QT_DENSITY_H
#include "model/landauer.h"
#include "model/transmission/transmission.h"

typedef struct qt_density_spec {
  qt_lead_opts lead; /* decimation is used where energies are complex */
  int64_t n_k;
  const double (*k)[2]; /* [n_k] in reciprocal lattice vectors     */
  const double *weight; /* [n_k]                                   */
  double spin;          /* qt_system_spin                          */
  double reference;     /* eV, in the gap all along the device     */
  double gap[2];        /* eV: no states between; equal: not known */
  qt_reservoir reservoir[QT_LEADS];
  int64_t order;     /* of the segments of the contour              */
  double tolerance;  /* relative, of integrals over the bias window */
  double broadening; /* eV: charges that leads inject are those so far above the real axis; 0: on it
                      */
  double shift;      /* qt_transport_spec                           */
  int threads;       /* of this rank; 0: all                        */
  weir_comm *comm;   /* ranks that share the energies; NULL: one    */
  double budget;     /* maximum of weir_alloc_bytes of this rank: fewer energies at once, on fewer
                        threads, where more would exceed it; 0: no limit */
} qt_density_spec;

/* Owns its arrays; of all ranks alike. */
typedef struct qt_density {
  double *electrons;         /* [n] of an orbital, holes negative */
  double current;            /* A, as qt_electron_current         */
  int64_t n_contour, n_real; /* energies that were computed */
} qt_density;
/* Computes the density: the same bits on any number of ranks and threads, and within any budget.
 * Collective over spec->comm. Fails on all ranks alike: WEIR_ERR_CONFIG (temperatures; a broadening
 * that takes more than 1e6 energies; the budget is too small), WEIR_ERR_NUMERIC, WEIR_ERR_STOPPED,
 * WEIR_ERR_MEMORY; *out is then empty. */
weir_status qt_density_create(const qt_system *s, const qt_density_spec *spec,
                              qt_density *out) WEIR_CHECKED;
void qt_density_fini(qt_density *d);

/* Computes the temporary bytes of this rank, within the budget; reference and gap are not read.
 * Local. Fails: WEIR_ERR_CONFIG (the budget is too small), WEIR_ERR_MEMORY. */
weir_status qt_density_bytes(const qt_system *s, const qt_density_spec *spec,
                             double *bytes) WEIR_CHECKED;

/* Integrates over the real axis alone: corrections [n] of each lead; *current in A. Collective. */
weir_status qt_density_window(const qt_system *s, const qt_density_spec *spec,
                              double *const correction[QT_LEADS], double *current,
                              int64_t *n_energies) WEIR_CHECKED;
/* Its part of qt_density_bytes. */
weir_status qt_density_window_bytes(const qt_system *s, const qt_density_spec *spec,
                                    double *bytes) WEIR_CHECKED;
/* Returns the bytes that the budget leaves; 0: there is none. */
double qt_density_left(const qt_density_spec *spec);

/* Returns the weight of the left lead's form, given the corrections of both. */
double qt_density_share(double left, double right);

#endif
