/* self_energy.h - self-energies of electrons and phonons by their coupling, in the self-consistent
 * Born approximation, written once as a graph.
 *
 * Of electrons, blocks of atoms a alone (hbar omega = (n + 1) dE, sums over neighbours l of a,
 * phonons q, omega and directions i, j; G beyond the grid of energies is 0 in both self-energies,
 * which keeps them conserving):
 *   Sigma^<>_a(E, k) = i / N_q sum dE / 2 pi nabla_i H_al
 *       [G^<>_l(E - hw, k - q) C^<>_ij + G^<>_l(E + hw, k + q) C^><_ji] nabla_j H_la,
 *   C^<>_ij(a, l) = Dhat_la - Dhat_l - Dhat_a + Dhat_al, each ij.
 * Of phonons, for every pair (a, l) with
 *   t^<>_ij(a, l) = s / N_k sum dE / 2 pi tr[nabla_i H_al G^<>_l(E + hw, k + q) nabla_j H_la
 *                                            G^><_a(E, k)],
 *   Pihat_a and Pihat_l += i t, Pihat_al and Pihat_la -= i t.
 * Of a neighbour that is an image of l, m cells away, Dhat_la has the phase exp(i q m).
 * Dhat_ab and Pihat_ab are D and Pi between displacements, hbar^2 / sqrt(M_a M_b) times those
 * between the displacements scaled by the root of the mass (Dhat; Pi is that times Pihat).
 *
 * Momenta k and q lie on periodic grids of one spacing; momentum 0 of q is 0. */
#ifndef QT_SELF_ENERGY_H
#define QT_SELF_ENERGY_H
#include "exec/weir_plan.h"
#include "model/execution.h"
#include "model/scattering/neighbours.h"
#include "model/scattering/papers/recipe_plan.h"
#include "model/scattering/tiles.h"
#include "ops/weir_builder.h"

/* ---- Operators of graphs; arrays are c128, [2] is lesser, greater ---- */

/* The sum above without -i / N_q dE / 2 pi, for phonons taken up (sign -1) or given away (1): a
 * plain product, with (nabla_j H_al)^H = -nabla_j H_la. */
typedef struct qt_electron_sum_spec {
  int64_t sign;
  int64_t first; /* frequency that c begins with */
} qt_electron_sum_spec;
extern const weir_op_desc qt_op_electron_sum;
/* green [2, k, energy, any atoms, orbital, orbital], gradient [atom, neighbour, direction, orbital,
 * orbital], c [2, q, frequency, atom, neighbour, direction, direction], atom i32 [atom, neighbour],
 * numbers of atoms of green. Result: as green, of the atoms of the lists. */
weir_value qt_electron_sum_at(weir_graph *g, weir_value green, weir_value gradient, weir_value c,
                              weir_value atom, const qt_electron_sum_spec *spec, const char *where);
#define qt_electron_sum(g, green, gradient, c, atom, plus_or_minus)                               \
  qt_electron_sum_at(g, green, gradient, c, atom, &(qt_electron_sum_spec){.sign = plus_or_minus}, \
                     WEIR_WHERE)

/* t above without -s / N_k dE / 2 pi, likewise. */
typedef struct qt_phonon_sum_spec {
  int64_t frequencies;
  int64_t first; /* of them */
} qt_phonon_sum_spec;
extern const weir_op_desc qt_op_phonon_sum;
/* Operands as above; own: G of the atoms of the lists alone. Result: [2, k, frequency, atom,
 * neighbour, direction, direction]. */
weir_value qt_phonon_sum_at(weir_graph *g, weir_value green, weir_value own, weir_value gradient,
                            weir_value atom, const qt_phonon_sum_spec *spec, const char *where);
#define qt_phonon_sum(g, green, own, gradient, atom, number)                                    \
  qt_phonon_sum_at(g, green, own, gradient, atom, &(qt_phonon_sum_spec){.frequencies = number}, \
                   WEIR_WHERE)

/* ---- All of it ---- */

/* How the retarded self-energy of electrons follows from Sigma^> - Sigma^<. */
typedef enum qt_retarded {
  QT_RETARDED_HALF, /* half of it, which keeps broadening alone                        */
  QT_RETARDED_FULL  /* with its Hilbert transform: also the shift of energies          */
} qt_retarded;

/* Builds Sigma^R of lesser and greater self-energies sigma [2, k, energy, ...], without the first
 * dimension. The Hilbert transform is the sum over samples at odd distances,
 * i / 2 pi sum over n - m odd of 2 / (n - m) (Sigma^> - Sigma^<)(E_m), by FFT of an array of at
 * least twice the energies. Over ranks sigma is sharded by points, the transform by atoms; shards
 * NULL: one rank. */
weir_value qt_retarded_build(weir_graph *g, weir_value sigma, qt_retarded kind, qt_shards *shards);

/* Sizes and constants; borrowed. */
typedef struct qt_self_energy_spec {
  const qt_neighbours *neighbours;
  int64_t n_k, n_energies, n_frequencies;
  double step;              /* eV: dE                              */
  double spin;              /* s: electrons of a state             */
  qt_retarded retarded;     /* of electrons                        */
  bool phonons;             /* Pi, C and t are wanted, too         */
  int threads;              /* 0: all                              */
  const qt_exec_opts *exec; /* of plans; NULL: on the cpu         */
  int fission;              /* weir_fission: how the sums are split, pass/fission */
  bool window;              /* sums over E +- hw as sliding windows, pass/window  */
  int precision;            /* weir_products: operands of their largest products, pass/precision  */
  bool unscaled;            /* these are not scaled                                               */
  double memory; /* bytes of a plan, which so many atoms at once do not exceed, at least one;
                    0: all atoms at once                               */
  const qt_tiles *tiles;      /* NULL: one rank */
  const qt_recipe_plan *plan; /* passes and kernels in place of fission and window; NULL: all */
  bool explain;               /* bytes that its loops move are counted as they run           */
} qt_self_energy_spec;

/* Arrays that a run reads and writes. */
typedef enum qt_self_energy_array {
  QT_GREEN,          /* in:  G [2, k, energy, atom, orbital, orbital]                           */
  QT_PHONON_SELF,    /* in:  Dhat_a [2, k, frequency, atom, direction, direction]               */
  QT_PHONON_PAIR,    /* in:  Dhat_la [2, k, frequency, atom, neighbour, direction, direction]   */
  QT_SIGMA,          /* out: as G, exactly anti-Hermitian                                       */
  QT_SIGMA_RETARDED, /* out: the same without [2]                                              */
  QT_PI_SELF,        /* out: Pihat_a, as Dhat_a                                                */
  QT_PI_PAIR,        /* out: Pihat_al = Pihat_la, as Dhat_la                                   */
  QT_COUPLING,       /* out: C_ij(a, l), as Dhat_la                                            */
  QT_EMISSION,       /* out: t_ij(a, l), as Dhat_la                                            */
  QT_SELF_ENERGY_ARRAYS
} qt_self_energy_array;
extern const char *const qt_self_energy_names[QT_SELF_ENERGY_ARRAYS];
/* What nodes of graphs are labelled with: what they make or serve to make. */
typedef enum qt_tensor {
  QT_TENSOR_GREEN,
  QT_TENSOR_SIGMA,
  QT_TENSOR_PHONONS,
  QT_TENSOR_PI,
  QT_TENSORS
} qt_tensor;
extern const char *const qt_tensor_names[QT_TENSORS];
/* Returns the shape of an array; empty (rank 0, shape[0] 0) where it is not there. */
weir_array_desc qt_self_energy_desc(const qt_self_energy_spec *s, qt_self_energy_array which);

/* Returns the same of this rank: its points alone, which are all without tiles. */
weir_array_desc qt_self_energy_own_desc(const qt_self_energy_spec *s, qt_self_energy_array which);
/* Returns the box of points of this rank. */
qt_point_box qt_self_energy_points(const qt_self_energy_spec *s, int kind);

/* Builds the graph of all atoms; names of inputs and results are those above. shards, of s->tiles,
 * gets the shards of its arrays: all that runs read and write by points. NULL: of one rank. Fails:
 * WEIR_ERR_MEMORY, as the builders. */
weir_status qt_self_energy_graph(const qt_self_energy_spec *s, qt_shards *shards,
                                 weir_graph **out) WEIR_CHECKED;

/* Atoms of a plan at once: a range of the device, with all their neighbours, whose G and Dhat_a are
 * copied together. */
typedef struct qt_atom_range {
  int64_t n, n_local; /* atoms; the most that they are with their neighbours               */
  int32_t *local;     /* [ranges, n_local] those, the range itself first; others are 0     */
  int32_t *atom;      /* [ranges, n, n_neighbours] neighbours, as numbers in `local`       */
  int64_t n_ranges;   /* the last one ends with the last atom, and may overlap the one before */
} qt_atom_range;

/* Returns the first atom of range r of all of n_atoms. */
static inline int64_t qt_atom_range_first(const qt_atom_range *a, int64_t n_atoms, int64_t r)
{
  return r * a->n + a->n > n_atoms ? n_atoms - a->n : r * a->n;
}

/* Creates ranges of n atoms. Fails: WEIR_ERR_MEMORY; *out is then empty. */
weir_status qt_atom_range_create(const qt_neighbours *n, int64_t n_at_once,
                                 qt_atom_range *out) WEIR_CHECKED;
void qt_atom_range_fini(qt_atom_range *a);
/* Computes the maximum of atoms at once whose plan keeps to s->memory; n_atoms: all. Memory grows
 * with atoms no faster than they do. Tiles of some atoms are planned whole. Local. Fails: as the
 * builders. */
weir_status qt_self_energy_atoms_at_once(const qt_self_energy_spec *s, int64_t *out) WEIR_CHECKED;

/* Build the graph of a range: also inputs `atom`, `gradient`; Sigma, C and t of its atoms. The
 * graph of what is made of t of all atoms: Pihat. Both fail as qt_self_energy_graph. */
weir_status qt_self_energy_range_graph(const qt_self_energy_spec *s, const qt_atom_range *a,
                                       qt_shards *shards, weir_graph **out) WEIR_CHECKED;
weir_status qt_self_energy_pair_graph(const qt_self_energy_spec *s, qt_shards *shards,
                                      weir_graph **out) WEIR_CHECKED;
/* Builds the graph of Sigma^R of a Sigma of all atoms. Fails: likewise. */
weir_status qt_self_energy_retarded_graph(const qt_self_energy_spec *s, qt_shards *shards,
                                          weir_graph **out) WEIR_CHECKED;
/* Build the graphs of ranks that compute them frequency by frequency (qt_tiles.by_frequency): C; of
 * one frequency its part of Sigma, and t, of that frequency alone, whole on every rank. Both fail:
 * likewise. */
weir_status qt_self_energy_coupling_graph(const qt_self_energy_spec *s, qt_shards *shards,
                                          weir_graph **out) WEIR_CHECKED;
weir_status qt_self_energy_frequency_graph(const qt_self_energy_spec *s, int64_t frequency,
                                           qt_shards *shards, weir_graph **out) WEIR_CHECKED;
extern const char qt_self_energy_atom[], qt_self_energy_gradient[]; /* names of those inputs */
/* Returns the shape of an array of so many atoms. */
weir_array_desc qt_self_energy_desc_of(const qt_self_energy_spec *s, qt_self_energy_array which,
                                       int64_t n_atoms);

/* The plan of all atoms or of ranges of them (self_energy_plan.c); owned. */
typedef struct qt_self_energy {
  qt_self_energy_spec spec;
  weir_plan *plan, *pairs;                  /* pairs: of Pihat, where ranges have t */
  qt_atom_range range;                      /* all zero: all atoms at once          */
  weir_plan **of_frequency, *retarded;      /* [n_frequencies] by_frequency, after `plan` of C */
  weir_tensor slice[QT_SELF_ENERGY_ARRAYS]; /* of a range, or of a frequency        */
} qt_self_energy;
/* Creates the plans. Fails: as qt_self_energy_graph and weir_plan_create; *out is then empty. */
weir_status qt_self_energy_create(const qt_self_energy_spec *s, qt_self_energy *out) WEIR_CHECKED;
/* Creates plans of ranges of n atoms, whatever they take. Fails: likewise. */
weir_status qt_self_energy_create_ranges(const qt_self_energy_spec *s, int64_t n_at_once,
                                         qt_self_energy *out) WEIR_CHECKED;
void qt_self_energy_fini(qt_self_energy *s);
/* Computes Sigma, C and t of one of its ranges. Fails: as weir_plan_run. */
weir_status qt_self_energy_run_range(qt_self_energy *s, int64_t range,
                                     weir_tensor *tensors) WEIR_CHECKED;
/* Creates the plan of the retarded self-energy alone, of a QT_SIGMA that is mixed: inputs and
 * results as above. Fails: likewise. */
weir_status qt_self_energy_create_retarded(const qt_self_energy_spec *s,
                                           qt_self_energy *out) WEIR_CHECKED;
weir_status qt_self_energy_run_retarded(const qt_self_energy *s, weir_tensor *tensors) WEIR_CHECKED;
/* Computes the results of the tensors [QT_SELF_ENERGY_ARRAYS]. Dhat and G are anti-Hermitian.
 * Fails: as weir_plan_run. */
weir_status qt_self_energy_run(qt_self_energy *s, weir_tensor *tensors) WEIR_CHECKED;
/* Returns the seconds of all runs in which this rank waited for others. */
double qt_self_energy_waited(const qt_self_energy *s);

/* What a run takes, after the passes, on all ranks; memory is that of one. */
typedef struct qt_self_energy_size {
  double flops, traffic;    /* traffic: bytes that its loops and kernels move          */
  double memory;            /* bytes of plans and copies, without the arrays of a run  */
  int64_t n_atoms, n_times; /* at once, and how often                                  */
} qt_self_energy_size;
/* Computes the size alone. Fails: as qt_self_energy_create. */
weir_status qt_self_energy_size_of(const qt_self_energy_spec *s,
                                   qt_self_energy_size *out) WEIR_CHECKED;

#endif
