/* scf.h - electrons and electrostatic potential of a device, iterated until they agree.
 *
 * Each iteration counts the electrons of every atom in a potential (density.h), then solves the
 * Poisson equation in which they answer to a further change of the potential as those of the
 * perfect lead would: with N(mu) of the lead's bands and mu_b at which they are as many as those of
 * the block, an atom with share s of its block's electrons has n(U) = n + s (N(mu_b - U + U_old) -
 * N(mu_b)), so that a converged potential does not depend on that response. Chemical potentials:
 * the left lead's is that of its doping at U = 0, or given; the right lead's is lower by the drain
 * voltage. Ends of the grid let no field through: the potential of the leads is what makes them
 * neutral. */
#ifndef QT_SCF_H
#define QT_SCF_H
#include "model/electrostatics/bands.h"
#include "model/electrostatics/density.h"
#include "model/electrostatics/electrostatics.h"
#include "model/electrostatics/grid.h"
#include "model/electrostatics/poisson.h"

/* What scattering gives at a bias point; all NaN and 0 without it. */
typedef struct qt_scattered {
  double current;     /* A, from the left lead        */
  double power;       /* W, left in the device        */
  double temperature; /* K, highest of an atom        */
  int64_t iterations; /* of scattering, in the last potential or, inside, in all */
} qt_scattered;

/* What counts the electrons of a device in which they scatter. */
typedef struct qt_scf_scattering {
  /* A bias point begins. */
  void (*begin)(void *context);
  /* Adds to electrons [n_atoms], less holes below `reference` (eV), what scattering changes them by
   * in a device and its potential, NULL: that of the call before; *settled: scattering is
   * self-consistent there. */
  weir_status (*count)(void *context, const qt_system *shifted, const qt_reservoir *reservoir,
                       double reference, double *electrons, bool *settled);
  /* In the last potential. */
  weir_status (*finish)(void *context, qt_scattered *out);
  void *context;
} qt_scf_scattering;

/* What a device is computed with; borrowed. */
typedef struct qt_scf_spec {
  const qt_electrostatics_opts *opts;
  const weir_string_list *petsc;
  qt_lead_opts lead;
  int64_t n_k;
  const double (*k)[2], *weight;
  double mu, temperature;              /* eV, of the left lead where given; K */
  double shift;                        /* eV, qt_transport_spec */
  int threads;                         /* of this rank; 0: all */
  weir_comm *comm;                     /* all ranks of the run, which share the work; NULL: one */
  double budget;                       /* qt_density_spec */
  const qt_scf_scattering *scattering; /* NULL: none; of one rank */
} qt_scf_spec;

/* One iteration. */
typedef struct qt_scf_step {
  double change;    /* eV, largest of an atom's potential energy */
  double electrons; /* less holes, of the device                 */
  double current;   /* A                                         */
  double seconds;
  int64_t newton, energies;
} qt_scf_step;

/* A bias point; owns its arrays (qt_bias_fini). */
typedef struct qt_bias {
  double drain, gate; /* V */
  double current;     /* A, as qt_electron_current: without scattering */
  qt_scattered scattered;
  double electrons, donors, gate_charge; /* of the device, in elementary charges */
  double end_field;                      /* eV, largest change of U from an end block to the next */
  int64_t n_steps;
  qt_scf_step *step;               /* [n_steps] */
  double *u;                       /* [nodes] eV */
  double *atom_u, *atom_electrons; /* [n_atoms] eV; less holes */
} qt_bias;
void qt_bias_fini(qt_bias *b);

/* A device made ready; borrows the system and the spec. */
typedef struct qt_scf {
  const qt_system *s;
  qt_scf_spec spec;
  qt_grid grid;
  qt_bands bands[QT_LEADS];
  double *donors;         /* [n_atoms] */
  double fermi[QT_LEADS]; /* eV: mu that neutralises each lead at U = 0 */
  double mu;              /* eV, of the left lead */
  int64_t *block_of_atom; /* [n_atoms] */
} qt_scf;
/* Collective over spec->comm, as qt_scf_solve; all ranks give the same and get the same. Fails:
 * WEIR_ERR_UNSUPPORTED (a build without PETSc, a device without positions); WEIR_ERR_CONFIG naming
 * the key; WEIR_ERR_NUMERIC, WEIR_ERR_MEMORY. *out is finished by the caller, on failure too. */
weir_status qt_scf_create(const qt_system *s, const qt_scf_spec *spec, qt_scf *out) WEIR_CHECKED;
void qt_scf_fini(qt_scf *scf);
/* Electrons and holes are distinguished by an energy in the gap that the leads have in common, with
 * the device's potential: the device has no states of its own there. That is compared at U = 0, off
 * the edges of the gap by 15 % of it; a potential moves no state further than it varies. Fails:
 * WEIR_ERR_NUMERIC naming the atom with most of such a state, WEIR_ERR_MEMORY, WEIR_ERR_STOPPED. */
weir_status qt_scf_check_gap(const qt_scf *scf) WEIR_CHECKED;

/* Computes the bytes of qt_scf_create and qt_scf_solve on a rank: `kept`, of a device that is made
 * ready and of so many bias points; `peak` with what is freed again, at the drain voltage given,
 * without PETSc's; where the doping gives the Fermi level, with bands at as many wave vectors as
 * allowed. Local. Fails: as qt_grid_of_device; WEIR_ERR_CONFIG where the budget is too small. */
weir_status qt_scf_bytes(const qt_system *s, const qt_scf_spec *spec, int64_t n_points,
                         double drain, double *kept, double *peak) WEIR_CHECKED;

/* Solves for a bias. start: a bias nearby, NULL: begins from the response of perfect leads.
 * Fails: WEIR_ERR_NUMERIC with the history where it does not converge, WEIR_ERR_STOPPED; *out is
 * then empty. */
weir_status qt_scf_solve(qt_scf *scf, double drain, double gate, const qt_bias *start,
                         qt_bias *out) WEIR_CHECKED;

#endif
