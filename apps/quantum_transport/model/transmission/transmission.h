/* transmission.h - coherent transport, without scattering: transmission and density of states of an
 * open system over wave vectors and energies.
 *
 * T = Tr[Gamma_L G Gamma_R G^H], G = (E S - H - Sigma_L - Sigma_R)^-1, in which E is real:
 * broadening is in the leads alone. Energies of phonons are hbar omega, E above its square. All per
 * spin. */
#ifndef QT_TRANSMISSION_H
#define QT_TRANSMISSION_H
#include "comm/weir_comm.h"
#include "model/bonds.h"
#include "model/execution.h"
#include "model/point/point.h"

/* Where and how often the points done are saved, for a computation that is stopped or killed. */
typedef struct qt_transport_save {
  const char *dir;
  double interval; /* seconds between two checkpoints; 0: one when stopped, alone */
  int64_t keep;    /* newest that are kept, at least 1                            */
  int format;      /* weir_checkpoint_format                                      */
  bool resume;     /* resume from the latest checkpoint of dir                    */
  bool whole;      /* one of all points, too, for others follow                   */
  weir_status (*begin)(void *context); /* called on rank 0 once a checkpoint has been read, and
                                          before each is written; NULL: nothing */
  void *context;
} qt_transport_save;

/* By which equations. */
typedef enum qt_transport_method {
  QT_TRANSPORT_RGF,  /* recursive Green's functions                                  */
  QT_TRANSPORT_QTBM, /* wave functions (qtbm/qtbm.h), where the build has PETSc      */
} qt_transport_method;

/* What is computed; everything is borrowed. */
typedef struct qt_transport_spec {
  int method; /* qt_transport_method */
  qt_lead_opts lead;
  int64_t n_k;
  const double (*k)[2]; /* [n_k] in reciprocal lattice vectors */
  int64_t n_energies;
  const double *energy; /* [n_energies] eV; of phonons hbar omega > 0 */
  bool dos;             /* density of states                            */
  bool lead_dos;        /* the same, and the share injected from each lead */
  bool bond_currents;   /* currents from orbital to orbital             */
  double shift;         /* eV by which an energy is shifted at which a Green's function cannot be
                           computed; 0: that is a failure */
  int threads;          /* of this rank; 0: all                         */
  const qt_exec_opts *exec; /* of the plan of points of their own; NULL: on the cpu */
  int64_t slabs;     /* > 1: they share each point in so many slabs, one point at a time; else
                        each computes points of its own */
  double slab_error; /* qt_slabs_spec.max_error of slabs             */
  /* > 1: so many ranks of comm, one after another, share each point, in slabs (where slabs is 1:
   * one each), which change the last digits of results. */
  int64_t ranks_per_point;
  weir_comm *comm; /* ranks that share the points; NULL: this one does all of them */
  double memory;   /* maximum bytes that this rank allocates of it, 0: no limit; beyond it, for a
                      while, a lead whose chosen method fails */
  double factor_bytes; /* of QTBM, what qt_transport_size_of says of factors; 0: it is asked for
                          again where memory is limited */
  const qt_transport_save *save; /* NULL: nothing is saved */
  bool quiet;                    /* no line of progress */
  bool channels;                 /* eigenvalues of the transmission, of QTBM */
  const weir_string_list *petsc; /* options of PETSc, of QTBM; NULL: none    */
} qt_transport_spec;

/* [n_k, n_energies, ...]; owns its arrays, which rank 0 alone has. */
typedef struct qt_transport {
  int64_t n_k, n_energies, n;
  double *transmission;       /* 0 where a lead has no propagating mode (decimation: where it is
                                 not broadened by eta)                                         */
  int64_t *n_modes[QT_LEADS]; /* propagating modes of each lead                                */
  int64_t n_channels;         /* at most; 0: not computed                                      */
  double *channel;            /* [.., n_channels] eigenvalues of t^H t, descending, then 0     */
  double *dos;                /* [.., n] of each orbital, 1/eV: -Im (G S + S G)[i,i] / 2 pi, of
                                 phonons 2 hbar omega times that; NULL where not computed      */
  double *lead_dos[QT_LEADS]; /* [.., n] left: injected from the left lead, A_L / 2 pi,
                                 A_L = Re (G Gamma_L G^H S)[i,i], of phonons 2 hbar omega times
                                 that; right: what remains of dos, A_R / 2 pi                  */
  qt_sparse bonds;            /* orbitals that currents flow between (bonds.h); empty where not
                                 computed */
  double *bond_current[QT_LEADS]; /* [.., bonds] of the states that a lead fills, likewise    */
  double residual;           /* largest of a lead (qt_lead_result)                            */
  int64_t n_shifted;         /* points whose energy was shifted                               */
  int64_t n_in_order;        /* of this rank, in this run: points whose slabs did not run at once,
                                as one, cut off, is singular (slabs.h)                        */
  double seconds[QT_PHASES]; /* of each phase, summed over threads and ranks; of points that
                                ranks share, of the first one                         */
  double flops;              /* of the recursion, by formula, all blocks taken as full; with those
                                of points that were shifted once more                        */
  double leads_flops;        /* of the leads, by formula, likewise; NaN: not known, by SLEPc */
} qt_transport;

/* Before all others: starts the libraries that leads and the method need. Collective over
 * spec->comm. Fails: as qt_lead_start and qt_qtbm_start. */
weir_status qt_transport_start(const qt_transport_spec *spec) WEIR_CHECKED;
/* Computes all points in parallel, after those of a checkpoint, where there is one; results do not
 * depend on the number of threads or ranks. Collective over spec->comm: all ranks give the same
 * system and spec. With an overlap matrix the density of states lacks what end cells share with the
 * leads. With QTBM the density of states is the sum of the shares of the leads: states that no wave
 * reaches are not in it (qtbm/qtbm.h). Fails: WEIR_ERR_NUMERIC and WEIR_ERR_MEMORY, naming wave
 * vector and energy; WEIR_ERR_CONFIG where spec.memory is too little, or a checkpoint of another
 * computation, or QTBM with lead.method decimation or slabs; WEIR_ERR_UNSUPPORTED (QTBM in a build
 * without PETSc); WEIR_ERR_STOPPED after a signal, the points done being saved; WEIR_ERR_SHAPE; as
 * weir_checkpoint_save and weir_checkpoint_resume; *out is then empty. */
weir_status qt_transport_create(const qt_system *s, const qt_transport_spec *spec,
                                qt_transport *out) WEIR_CHECKED;
void qt_transport_fini(qt_transport *t);
/* What a computation takes in addition to the system. */
typedef struct qt_transport_size {
  double peak;        /* maximum bytes, where the method of the leads succeeds; without factors */
  double factors;     /* of sparse factors and their work space, as MUMPS estimates them, which
                         weir_alloc does not count; 0: there are none; NaN: not known */
  double kept;        /* of the results                                             */
  int threads;        /* as many as spec.memory and slabs allow                     */
  int64_t at_once;    /* points, of all ranks                                       */
  double point_flops; /* of the recursion of a point                             */
} qt_transport_size;
/* Of this rank; comm NULL: of the first of ranks_per_point. Not read of spec: k, energy. Local.
 * Fails: as qt_transport_create. */
weir_status qt_transport_size_of(const qt_system *s, const qt_transport_spec *spec,
                                 qt_transport_size *out) WEIR_CHECKED;

/* out [count] = sum over k of weight[k] values[k, ..], each [count]. */
void qt_transport_average(int64_t n_k, const double *weight, int64_t count, const double *values,
                          double *out);

#endif
