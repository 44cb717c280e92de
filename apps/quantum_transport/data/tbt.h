/* tbt.h - results in the NetCDF layout of TBtrans (NAME.TBT.nc; NAME.PHT.nc for phonons), which
 * sisl reads: energies in Rydberg, lengths in Bohr, indices from 1, one group for each lead. */
#ifndef QT_TBT_H
#define QT_TBT_H
#include "model/system.h"

/* What is known of a lead. Arrays are borrowed, [n_k, n_energies, ...], row-major. */
typedef struct qt_tbt_lead {
  double mu, kT, eta;         /* eV; phonons: mu 0, eta in eV^2                           */
  const double *dos;          /* [.., n] injected from this lead, 1/eV; or NULL           */
  const double *bond_current; /* [.., bonds] from the lower to the higher orbital; or NULL */
  const int64_t *modes;       /* [..] that propagate: the transmission of the perfect lead */
} qt_tbt_lead;

/* All borrowed. Densities of states are per spin and orbital. */
typedef struct qt_tbt {
  const qt_system *system;
  int64_t n_k, n_energies;
  const double (*k)[2];       /* [n_k] reciprocal lattice vectors along y and z */
  const double *weight;       /* [n_k] sum 1                                     */
  const double *energy;       /* [n_energies] eV, ascending; phonons: hbar omega */
  const double *transmission; /* [n_k, n_energies] from left to right            */
  const double *dos;          /* [n_k, n_energies, n] 1/eV; or NULL              */
  const double *channel;      /* [n_k, n_energies, n_channels] eigenvalues of the transmission */
  int64_t n_channels;         /* 0: not known                                    */
  double eta;                 /* of the device, eV                               */
  const qt_sparse *bonds;     /* of bond_current, see model/bonds.h; or NULL   */
  qt_tbt_lead lead[QT_LEADS];
} qt_tbt;

/* Writes the file atomically. Fails: as weir_netcdf.h;
 * WEIR_ERR_UNSUPPORTED (no NetCDF). */
weir_status qt_tbt_write(const char *path, const qt_tbt *t) WEIR_CHECKED;

#endif
