/* born_priv.h - an iteration of born.h under way. */
#ifndef QT_BORN_PRIV_H
#define QT_BORN_PRIV_H
#include "base/weir_clock.h"
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
  bool has_phonons;                        /* Dhat was computed: of a bath that is once */
  qt_open_points electrons, phonons;
  born_atoms of_electrons, of_phonons;
  double *mass_factor; /* [atoms] hbar / root of the mass: root of eV Angstrom^2   */
  double *flow[2];     /* [points, QT_LEADS] of electrons and phonons              */
  double *gross[2];    /* likewise                                                 */
  double *cut;         /* [points of electrons, n_cuts]                            */
  double *scattered;   /* [points of electrons] that scattering adds, less those it takes */
  int64_t capacity;    /* steps that there is memory for                           */
  weir_c128 *scratch;  /* [threads, 2, max, max] of qt_open_points_cuts            */
  /* Of checkpoints. A solver of PETSc does not tell its history, but is given the same residuals
   * again, and then has it. */
  double *residual; /* [n_residuals, born_residual_count] of all evaluations, if saved */
  int64_t n_residuals, residual_capacity;
  qt_born_step *earlier; /* [n_earlier] steps of an earlier run after step 0, whose residuals
                            are there */
  int64_t n_earlier;
  double saved_at;     /* s, by weir_clock         */
  int64_t saved_steps; /* in the newest checkpoint */
} born_job;

enum { BORN_ELECTRONS = QT_POINTS_OF_ELECTRONS, BORN_PHONONS = QT_POINTS_OF_PHONONS };

/* ---- What is computed (born.c) ---- */

/* Results without memory. A job of j->spec and j->out, all else of which is zero, and its end.
 * Fails: as qt_born_create. */
qt_born born_empty(const qt_born_spec *s);
weir_status born_open(born_job *j) WEIR_CHECKED;
void born_fini(born_job *j);
/* Recreates the leads of electrons of another device or other reservoirs. Fails: as
 * qt_open_points_create. */
weir_status born_move(born_job *j) WEIR_CHECKED;
/* Checks devices and grids. Fails: WEIR_ERR_CONFIG, WEIR_ERR_UNSUPPORTED. */
weir_status born_check(const qt_born_spec *s) WEIR_CHECKED;
/* Finds how so many ranks share the work, into j->tiles, with the lists of j. Local. Fails:
 * WEIR_ERR_CONFIG (scattering.tiles), as qt_tiles_search. */
weir_status born_find_tiles(born_job *j, int ranks) WEIR_CHECKED;
/* Returns the self-energies of j->spec, with the lists and tiles of j. */
qt_self_energy_spec born_self_energy(const born_job *j);
/* Returns the seconds of the clock of phases. */
static inline double born_clock(const born_job *j)
{
  return j->spec->clock != NULL ? j->spec->clock() : weir_clock();
}

/* Returns whether an iteration mixes that array. */
bool born_mixes(qt_self_energy_array which);

/* ---- Points and arrays (born_points.c) ---- */

/* Returns the energies or frequencies of all points; points; the number among them of a point of
 * this rank. */
int64_t born_energies(const born_job *j, int particle);
int64_t born_points(const born_job *j, int particle);
int64_t born_point(const born_job *j, int particle, int64_t own);
/* Returns whether an iteration has that array. */
bool born_has(const born_job *j, qt_self_energy_array which);

/* ---- Green's functions (born_solve.c) ---- */

/* Finds the atoms of each block. Fails: WEIR_ERR_UNSUPPORTED (an atom in two blocks),
 * WEIR_ERR_MEMORY. */
weir_status born_find_atoms(const qt_system *s, born_atoms *out) WEIR_CHECKED;
void born_atoms_fini(born_atoms *a);
/* Computes G of all points with the self-energies used; flows, and cuts. Fails: as
 * qt_open_points_solve. */
weir_status born_solve_electrons(born_job *j) WEIR_CHECKED;
/* Computes Dhat likewise. */
weir_status born_solve_phonons(born_job *j) WEIR_CHECKED;

/* ---- Steps (born_iterate.c) ---- */

/* Computes both: of electrons, and of phonons unless they are a bath that is solved already.
 * Collective. */
weir_status born_solve(born_job *j) WEIR_CHECKED;
/* Computes self-energies of the present Green's functions, how far they are from those used, and
 * what they exchange. Collective. Fails: WEIR_ERR_NUMERIC (not finite), as qt_self_energy_run. */
weir_status born_renew(born_job *j, qt_born_step *step) WEIR_CHECKED;
/* Takes the share `mixing` of new self-energies. */
void born_mix(born_job *j);
/* Appends a step. Fails: WEIR_ERR_MEMORY. */
weir_status born_add_step(born_job *j, const qt_born_step *step) WEIR_CHECKED;
/* Says what the last step gave. */
void born_tell_step(const born_job *j);
/* Returns whether the last two steps are near enough. */
bool born_is_converged(const born_job *j);
/* Saves an iteration that has not converged and returns its failure. */
weir_status born_fail(born_job *j) WEIR_CHECKED;
/* Runs all steps. */
weir_status born_iterate(born_job *j) WEIR_CHECKED;
/* Iterates by a method of PETSc's, after the first step (born_petsc.c), PETSc being started. Both
 * fail: WEIR_ERR_UNSUPPORTED in a build without PETSc, WEIR_ERR_EXTERNAL; as qt_petsc_start and the
 * functions above. */
weir_status born_start_petsc(const weir_string_list *options) WEIR_CHECKED;
weir_status born_accelerate(born_job *j) WEIR_CHECKED;

/* ---- Checkpoints (born_save.c) ---- */

/* Steps and self-energies, or residuals, of the newest checkpoint; n_steps stays 0 where there is
 * none. Fails: WEIR_ERR_CONFIG, WEIR_ERR_DATA as qt_born_create. */
weir_status born_load(born_job *j) WEIR_CHECKED;
/* Saves, after a step that has not converged, where it is time to, or where a signal came, which
 * is then a failure, WEIR_ERR_STOPPED. */
weir_status born_pause(born_job *j) WEIR_CHECKED;
/* Saves what has been iterated, if anything has been since and it is to be. */
weir_status born_save(born_job *j) WEIR_CHECKED;

/* Numbers of a residual that are saved: of the upper halves of anti-Hermitian matrices. */
int64_t born_residual_count(const born_job *j);
/* Appends a residual, which the caller fills. Fails: WEIR_ERR_MEMORY. */
weir_status born_add_residual(born_job *j, double **out) WEIR_CHECKED;

/* ---- What follows (born_results.c) ---- */

/* Integrals of the flows of a step, and how far it is from conserving. Collective. Fails: as
 * qt_ranks_sum. */
weir_status born_measure(born_job *j, qt_born_step *step) WEIR_CHECKED;
/* Returns the largest of the energies that contacts give, of a step that is measured: of electrons,
 * from the mean chemical potential, so that no current that is not conserved yet counts with the
 * zero of H; of phonons of each lead; with a bath what electrons gain from it. *sum: all of them.
 */
double born_largest_energy(const born_job *j, const qt_born_step *step, double *sum);
/* Computes everything of qt_born but its steps, of the last Green's functions. Collective. Fails:
 * WEIR_ERR_MEMORY, as qt_self_energy_create. */
weir_status born_finish(born_job *j) WEIR_CHECKED;

#endif
