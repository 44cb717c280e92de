/* born.h - electrons and phonons with scattering in the self-consistent Born approximation:
 * Green's functions of all points, self-energies of these, and so on until neither changes.
 *
 * Everything of electrons counts all spins and is a mean over wave vectors; signs: what enters the
 * device from a contact is positive. */
#ifndef QT_BORN_H
#define QT_BORN_H
#include "model/execution.h"
#include "model/gradient.h"
#include "model/landauer.h"
#include "model/lead/lead.h"
#include "model/scattering/scattering.h"
#include "model/scattering/self_energy.h"
#include "model/scattering/volume.h"
#include "model/system.h"

/* Where and how often iterations are saved, for one that is stopped or killed. */
typedef struct qt_born_save {
  const char *dir;    /* of checkpoints alone; made with the first                           */
  double interval;    /* seconds between two; 0: not by time                                 */
  int64_t iterations; /* between two; 0: not by their number. One is written when stopped, too */
  int64_t keep;       /* newest that are kept, at least 1                                    */
  int format;         /* weir_checkpoint_format                                              */
  bool resume;        /* from the newest of dir; false: those of dir are removed             */
} qt_born_save;

/* What is computed; all borrowed. */
typedef struct qt_born_spec {
  const qt_system *electrons, *phonons;
  const qt_gradient *gradient; /* of electrons */
  const qt_scattering_opts *opts;
  const qt_lead_opts *lead;
  int64_t n_k;
  const double (*k)[2]; /* [n_k] a uniform grid; phonons: differences of them          */
  int64_t n_energies;
  const double *energy;          /* [n_energies] eV, at equal distances                 */
  const qt_reservoir *reservoir; /* [QT_LEADS]; phonons: the temperatures                */
  double shift;                  /* eV, where a lead cannot be solved (open_points.h)    */
  const weir_string_list *petsc; /* options of PETSc; NULL: none                          */
  const qt_born_save *save;      /* NULL: nothing is saved                                */
  int threads;                   /* 0: all                                               */
  const qt_exec_opts *exec;      /* of plans; NULL: on the cpu                           */
  bool quiet;                    /* no line an iteration                                 */
  double (*clock)(void);         /* seconds, of phases; NULL: elapsed ones               */
  weir_comm *comm;               /* ranks that share all of it; NULL: this one           */
} qt_born_spec;

/* An iteration. */
typedef struct qt_born_step {
  double change;            /* of Sigma^<, relative; 1 of the first                 */
  double current[QT_LEADS]; /* A                                                    */
  double energy[QT_LEADS];  /* W, of electrons                                      */
  double heat[QT_LEADS];    /* W, of phonons                                        */
  double gain_of_electrons; /* W, from phonons, of unmixed self-energies            */
  double gain_of_phonons;   /* W, opposite whatever is computed; NaN: not computed  */
  double current_error;     /* |I_L + I_R| / |I_L|                                  */
  double energy_error;      /* of energy: what contacts of electrons, from the mean chemical
                               potential, and of phonons give, of the largest of these; with
                               a bath gain_of_electrons takes the place of phonons     */
  double identity_error;    /* largest net rate of electrons at an energy that contacts and
                               scattering do not balance, relative                  */
} qt_born_step;

/* What time is spent on: leads once, the rest in every step. */
typedef enum qt_born_phase {
  QT_BORN_LEADS,
  QT_BORN_ELECTRONS, /* Green's functions of them */
  QT_BORN_PHONONS,   /* the same of phonons       */
  QT_BORN_SELF_ENERGIES,
  QT_BORN_EXCHANGE, /* of self-energies: waiting for other ranks, elapsed seconds */
  QT_BORN_STEPS,    /* all of this, what else there is, of steps after step 0     */
  QT_BORN_PHASES
} qt_born_phase;

/* Owns its arrays (qt_born_fini); all zero is none. Step 0 is without scattering. */
typedef struct qt_born {
  int64_t n_steps, n_energies, n_cuts, n_atoms;
  int64_t n_shifted;  /* points whose leads were solved at a shifted energy */
  bool truncated;     /* phonons propagate at the last frequency: those above it are left out */
  qt_born_step *step; /* [n_steps]                                                 */
  double seconds[QT_BORN_PHASES]; /* of all steps                                      */
  qt_tiles tiles;                 /* of its ranks                                      */
  qt_volume volume;          /* bytes that self-energies of a step move among them, by regions */
  double sent_bytes;         /* the same, counted: of the last step               */
  double *flow[QT_LEADS];    /* [n_energies] current spectra of the contacts, A / eV    */
  double *cut;               /* [n_energies, n_cuts] of the coupling between blocks, A / eV */
  double *elastic;           /* [n_cuts] A: the integral of these                         */
  double *hop;               /* [n_cuts] A: currents by emission and absorption on the way */
  double *gain_of_electrons; /* [n_atoms] W, from phonons                           */
  double *gain_of_phonons;   /* [n_atoms] W                                         */
  double *temperature; /* [n_atoms] K, at which phonons in equilibrium have the energy of those of
                          the atom; NaN: none does                                  */
} qt_born;

/* Starts the library that the method needs, before all else. Collective. Fails:
 * WEIR_ERR_UNSUPPORTED where the build lacks it; WEIR_ERR_CONFIG, WEIR_ERR_EXTERNAL. */
weir_status qt_born_start(const qt_scattering_opts *o, const weir_string_list *petsc) WEIR_CHECKED;
/* Iterates to convergence; the library of the method is started. All ranks have the results, which
 * the sums over ranks change in their last digits. With s->save it is resumed from the newest
 * checkpoint, of any number of ranks, on as many to the same bits as if it had not been stopped.
 * Collective. Fails on all ranks alike: WEIR_ERR_NUMERIC (no convergence, reported with the remedy
 * and saved: max_iterations may be raised; a point or a lead that cannot be solved),
 * WEIR_ERR_CONFIG (energies not at equal distances; devices whose atoms are not the same; a
 * checkpoint of another configuration), WEIR_ERR_DATA (a damaged checkpoint), WEIR_ERR_UNSUPPORTED
 * (wave vectors along two directions; an atom in two blocks; atoms coupled beyond the next block),
 * WEIR_ERR_STOPPED, what was iterated being saved, WEIR_ERR_MEMORY, as weir_checkpoint_save; *out
 * is then empty. */
weir_status qt_born_create(const qt_born_spec *s, qt_born *out) WEIR_CHECKED;
void qt_born_fini(qt_born *b);

/* ---- In an electrostatic potential that is iterated, too ---- */

typedef struct qt_born_moving qt_born_moving;
/* Creates it for a device whose potential is not the last one: s->electrons and s->reservoir are
 * read here alone, all else is borrowed; s->save is NULL, and so is s->comm or it is of one rank.
 * Fails: as qt_born_create. */
weir_status qt_born_moving_create(const qt_born_spec *s, qt_born_moving **out) WEIR_CHECKED;
void qt_born_moving_destroy(qt_born_moving **m);
/* Begins without scattering, as at another bias. */
void qt_born_moving_begin(qt_born_moving *m);
/* Adds to count [n_atoms], electrons less holes below the energy `reference`, what scattering
 * changes them by in a device and its potential, which outlives calls without one (NULL): the
 * difference of the sums over the energies with and without, which has the error of neither sum
 * alone. `once`: one iteration, of simple mixing, from the self-energies there are; *settled: they
 * are self-consistent in this potential. Else all, from none. Fails: likewise. */
weir_status qt_born_moving_count(qt_born_moving *m, const qt_system *electrons,
                                 const qt_reservoir *reservoir, double reference, bool once,
                                 double *count, bool *settled) WEIR_CHECKED;
/* Results of the last of these, borrowed until the next call. Fails: WEIR_ERR_MEMORY, as
 * weir_plan_run. */
weir_status qt_born_moving_finish(qt_born_moving *m, const qt_born **out) WEIR_CHECKED;

/* What an iteration takes, of the ranks of comm, or of opts->tiles.ranks where that is NULL. */
typedef struct qt_born_size {
  int64_t n_pairs;                 /* of atoms that electrons couple                           */
  double bytes;                    /* of a rank at a time, about, without PETSc              */
  double petsc_bytes;              /* of its vectors, about                                  */
  double saved_bytes;              /* that each iteration adds where it is saved             */
  qt_self_energy_size self_energy; /* of an iteration                                   */
  double electron_flops, phonon_flops; /* of Green's functions of an iteration on all ranks,
                                          matrices as full                                */
  qt_tiles tiles;
  qt_volume volume;    /* that ranks move for self-energies, by regions; NaN: not known, of very
                         many ranks */
  qt_volume of_tiles;  /* the same by the formula of tiles                                  */
  qt_volume of_points; /* and by that of ranks which keep their points                      */
} qt_born_size;
/* Computes the size alone. Local. Fails: WEIR_ERR_CONFIG, WEIR_ERR_UNSUPPORTED, WEIR_ERR_MEMORY, as
 * qt_born_create. */
weir_status qt_born_size_of(const qt_born_spec *s, qt_born_size *out) WEIR_CHECKED;

#endif
