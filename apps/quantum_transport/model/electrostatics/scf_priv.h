/* scf_priv.h - the response of electrons, between scf.c and response.c. */
#ifndef QT_SCF_PRIV_H
#define QT_SCF_PRIV_H
#include "model/electrostatics/scf.h"

/* Electrons of the atoms near a potential; owns its arrays. */
typedef struct scf_response {
  const qt_scf *scf;
  double kt;
  double *n, *u,
      *share;     /* [n_atoms] electrons at potential u; of the block, by orbitals of a lead */
  double *mu;     /* [n_atoms] at which the lead holds those of the block */
  double *before; /* [n_atoms] of a cell of the lead at the mu that n belongs to */
} scf_response;
weir_status scf_response_create(const qt_scf *scf, scf_response *out) WEIR_CHECKED;
void scf_response_fini(scf_response *r);
/* Sets it to electrons n at potentials u; low, high: chemical potentials of the leads. */
void scf_response_set(scf_response *r, const double *n, const double *u, double low, double high);
/* Sets it to those of perfect leads at U = 0, of the nearer one each. */
void scf_response_begin(scf_response *r, const double mu[QT_LEADS]);
/* Moves the chemical potentials of the atoms nearer to each lead. */
void scf_response_shift(scf_response *r, const double by[QT_LEADS]);
/* qt_response.electrons, context scf_response. */
void scf_response_electrons(const void *context, int64_t atom, double u, double *n, double *slope);

#endif
