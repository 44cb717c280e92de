/* born_priv.h - an iteration of born.h under way. */
#ifndef QT_BORN_PRIV_H
#define QT_BORN_PRIV_H
#include "model/scattering/born.h"
#include "model/scattering/open_points.h"
#include "model/scattering/self_energy.h"

/* Where the atoms of a system lie in its blocks. */
typedef struct born_atoms {
  int64_t *first; /* [n_blocks + 1] first atom of each block */
  int64_t *block; /* [n_atoms]                               */
} born_atoms;

/* Arrays of points, of every point of all ranks (flow, gross, cut, scattered), are complete after
 * born_measure; tensors are those of this rank's points. */
typedef struct born_job {
  const qt_born_spec *spec;
  qt_born *out;
  qt_tiles tiles;
  qt_point_box own[2]; /* points of this rank                      */
  double *energy[2];   /* [energies], [frequencies] eV, of all     */
  qt_neighbours list;
  qt_self_energy self;                     /* of each iteration                        */
  weir_tensor t[QT_SELF_ENERGY_ARRAYS];    /* Green's functions, and what follows      */
  weir_tensor used[QT_SELF_ENERGY_ARRAYS]; /* self-energies that the Green's functions are with */
  bool scatters;                           /* they are: after the first time        */
  qt_open_points electrons, phonons;
  born_atoms of_electrons, of_phonons;
  double *mass_factor; /* [atoms] hbar / root of the mass: root of eV Angstrom^2   */
  double *flow[2];     /* [points, QT_LEADS] of electrons and phonons              */
  double *gross[2];    /* likewise                                                 */
  double *cut;         /* [points of electrons, n_cuts]                            */
  double *scattered;   /* [points of electrons] that scattering adds, less those it takes */
  int64_t capacity;    /* steps that there is memory for                           */
  weir_c128 *room;     /* [threads, 2, max, max] of qt_open_points_cuts            */
} born_job;

enum { BORN_ELECTRONS = QT_POINTS_OF_ELECTRONS, BORN_PHONONS = QT_POINTS_OF_PHONONS };

/* ---- What is computed (born.c) ---- */

/* Fails: WEIR_ERR_CONFIG, WEIR_ERR_UNSUPPORTED: devices and grids that cannot be. */
weir_status born_check(const qt_born_spec *s) WEIR_CHECKED;
/* How so many ranks share the work, into j->tiles, with the lists of j. Local. Fails:
 * WEIR_ERR_CONFIG (scattering.tiles), as qt_tiles_search. */
weir_status born_find_tiles(born_job *j, int ranks) WEIR_CHECKED;
/* Of j->spec, with the lists and tiles of j. */
qt_self_energy_spec born_self_energy(const born_job *j);
/* Energies or frequencies of all points; points; the number among them of a point of this rank. */
int64_t born_energies(const born_job *j, int particle);
int64_t born_points(const born_job *j, int particle);
int64_t born_point(const born_job *j, int particle, int64_t own);
/* Whether an iteration has that array; whether it is mixed. */
bool born_has(const born_job *j, qt_self_energy_array which);
bool born_mixes(qt_self_energy_array which);

/* ---- Green's functions (born_solve.c) ---- */

/* Atoms of each block. Fails: WEIR_ERR_UNSUPPORTED (an atom in two blocks), WEIR_ERR_MEMORY. */
weir_status born_find_atoms(const qt_system *s, born_atoms *out) WEIR_CHECKED;
void born_atoms_fini(born_atoms *a);
/* G of all points with the self-energies used; flows, and cuts. Fails: as qt_open_points_solve. */
weir_status born_solve_electrons(born_job *j) WEIR_CHECKED;
/* Dhat likewise. */
weir_status born_solve_phonons(born_job *j) WEIR_CHECKED;

/* ---- Steps (born_iterate.c) ---- */

/* Both: of electrons, and of phonons unless they are a bath that is solved already. Collective. */
weir_status born_solve(born_job *j) WEIR_CHECKED;
/* Self-energies of the Green's functions there are, how far they are from those used, and what they
 * exchange. Collective. Fails: WEIR_ERR_NUMERIC (not finite), as qt_self_energy_run. */
weir_status born_renew(born_job *j, qt_born_step *step) WEIR_CHECKED;
/* Appends a step, and says so. Fails: WEIR_ERR_MEMORY, WEIR_ERR_STOPPED (a signal). */
weir_status born_add_step(born_job *j, const qt_born_step *step) WEIR_CHECKED;
/* Whether the last two steps are near enough. */
bool born_is_converged(const born_job *j);
/* The failure of an iteration that has not converged. */
weir_status born_fail(const born_job *j) WEIR_CHECKED;
/* All steps, and the results. */
weir_status born_iterate(born_job *j) WEIR_CHECKED;
/* Iterates by Anderson's method, after the first step (born_petsc.c), PETSc being started. Both
 * fail: WEIR_ERR_UNSUPPORTED in a build without PETSc, WEIR_ERR_EXTERNAL; as qt_petsc_start and the
 * functions above. */
weir_status born_start_petsc(const weir_string_list *options) WEIR_CHECKED;
weir_status born_accelerate(born_job *j) WEIR_CHECKED;

/* ---- What follows (born_results.c) ---- */

/* Integrals of the flows of a step, and how far it is from conserving. Collective. Fails: as
 * qt_ranks_sum. */
weir_status born_measure(born_job *j, qt_born_step *step) WEIR_CHECKED;
/* The largest of the energies that contacts give, of a step that is measured: of electrons, from
 * the mean chemical potential, so that no current that is not conserved yet counts with the zero of
 * H; of phonons of each lead; with a bath what electrons gain from it. *sum: all of them. */
double born_largest_energy(const born_job *j, const qt_born_step *step, double *sum);
/* Everything of qt_born but its steps, of the last Green's functions. Collective. Fails:
 * WEIR_ERR_MEMORY, as qt_self_energy_create. */
weir_status born_finish(born_job *j) WEIR_CHECKED;

#endif
