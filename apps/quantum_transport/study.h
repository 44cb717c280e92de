/* study.h - a device of the configuration and what is computed of it. */
#ifndef QT_STUDY_H
#define QT_STUDY_H
#include "model/landauer.h"
#include "model/system_check.h"
#include "model/transmission/transmission.h"
#include "options.h"

/* One temperature of the thermal conductance of phonons. */
typedef struct qt_study_heat {
  double temperature, conductance; /* K, W/K */
} qt_study_heat;

/* All zero is none; owns all but the configuration. Spectra are per spin. */
typedef struct qt_study {
  const qt_cfg *cfg;
  weir_comm *comm; /* ranks that share the points, set after qt_study_open; NULL: there is one */
  const qt_transport_save *save; /* set likewise; NULL: a run that is stopped saves nothing */
  qt_system system;
  int64_t n_k, n_energies;
  double (*k)[2]; /* [n_k] reciprocal lattice vectors along y and z, sum of weights 1 */
  double *weight; /* [n_k]                                                            */
  double *energy; /* [n_energies] eV; phonons: hbar omega                             */
  qt_transport transport;
  double *transmission; /* [n_energies] mean over k                                        */
  double *modes;        /* [n_energies] of the left lead, mean over k                      */
  double *dos;          /* [n_energies] of all orbitals, mean over k, 1/eV; NULL: none     */
  double *ldos;         /* [n_energies, n_atoms] of each atom, likewise                    */
  qt_reservoir reservoir[QT_LEADS];
  double mu;   /* eV, at which conductances are taken */
  double spin; /* as qt_system_spin                   */
  /* From left to right; of electrons e times their flow and energies from the zero of H. */
  double current, energy_current, conductance; /* A, W, S; phonons: heat current in W; NaN where
                                                  no energies are in the window of the leads */
  qt_study_heat *heat;                         /* [cfg->contact.conductance_temperatures] */
  bool is_refined;                             /* energies are as energy.tolerance needs them */
  double seconds;                              /* elapsed; those of phases are in transport */
  int threads;                                 /* of rank 0                                 */
  double predicted_bytes;                      /* as qt_study_size of this run */
  double factor_bytes; /* the same of sparse factors, set after qt_study_size; 0: not known yet */
  double reserved;     /* bytes a sweep will hold in addition to the spectra; 0 once it does */
  const struct qt_iv *iv; /* where the system is in a self-consistent potential; borrowed */
  const struct qt_scatter *scatter; /* where electrons scatter; borrowed                  */
} qt_study;

/* Returns the device that a configuration names, or else the usual one. */
const qt_device *qt_study_device(const qt_cfg *cfg);
/* Refuses, before it is built, a device whose blocks are too large to be computed, or for
 * memory.budget. Fails: WEIR_ERR_CONFIG naming the keys of its size; WEIR_ERR_MEMORY. */
weir_status qt_study_check_size(const qt_cfg *cfg) WEIR_CHECKED;
/* Refuses a run that is predicted to need more bytes than this machine has. Fails:
 * WEIR_ERR_CONFIG. */
weir_status qt_study_check_memory(double need) WEIR_CHECKED;
/* The options of a device, of the usual one where none is named; *defaults: memory of these, to be
 * freed by the caller, NULL before. Fails: WEIR_ERR_MEMORY. */
weir_status qt_study_options(const weir_one_of *kind, void **defaults,
                             const void **out) WEIR_CHECKED;
/* Builds a device that the configuration names, or else the usual one; *out as in qt_device. Fails:
 * as qt_device.build and qt_system_check. */
weir_status qt_study_build(const qt_cfg *cfg, const weir_one_of *kind, qt_system *out) WEIR_CHECKED;
/* Builds the device, wave vectors and energies. Fails: WEIR_ERR_CONFIG naming the key; as
 * qt_device.build and qt_system_check. *out is finished by the caller, on failure too. */
weir_status qt_study_open(const qt_cfg *cfg, qt_study *out) WEIR_CHECKED;
/* What to add to the name of a spectrum, of a current or conductance, and of either: " per spin",
 * ", both spins", nothing of phonons and where the basis has spin; ", per cell along y", ... where
 * the device is periodic. Static. */
const char *qt_study_per_spin(const qt_study *s);
const char *qt_study_both_spins(const qt_study *s);
const char *qt_study_per_cell(const qt_study *s);
void qt_study_fini(qt_study *s);

#endif
