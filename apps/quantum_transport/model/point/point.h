/* point.h - coherent transport at one point, a wave vector and an energy; and the operator of
 * graphs that computes points, which passes shard over ranks and threads run one by one. */
#ifndef QT_POINT_H
#define QT_POINT_H
#include "model/lead/lead.h"
#include "model/point/point_ranks.h"
#include "model/rgf/slabs.h"
#include "ops/weir_builder.h"

/* Where the time of a point goes. Blocks of fewer than 256 elements are too small to be timed:
 * their assembly counts as recursion. */
typedef enum qt_phase {
  QT_PHASE_LEADS,     /* self-energies                                         */
  QT_PHASE_RECURSION, /* blocks of G and G^<; of wave functions sparse systems */
  QT_PHASE_ASSEMBLY,  /* of E S - H, of densities of states and bond currents  */
  QT_PHASES
} qt_phase;

/* Numbers of a point. */
enum {
  QT_POINT_TRANSMISSION,
  QT_POINT_MODES, /* of each lead                                          */
  QT_POINT_RESIDUAL = QT_POINT_MODES + QT_LEADS,
  QT_POINT_STATUS,      /* weir_status; the others are then NaN                  */
  QT_POINT_SHIFTED,     /* 1: the energy was shifted                             */
  QT_POINT_FLOPS,       /* of the recursion, by formula                          */
  QT_POINT_LEADS_FLOPS, /* of the leads, as qt_lead_result.flops                 */
  QT_POINT_SECONDS,     /* of each phase, measured                               */
  QT_POINT_NUMBERS = QT_POINT_SECONDS + QT_PHASES
};

/* Arrays of a point. */
typedef enum qt_point_array {
  QT_POINT_NUMBER, /* [QT_POINT_NUMBERS]      */
  QT_POINT_DOS,    /* [n] of each orbital     */
  QT_POINT_DOS_LEFT,
  QT_POINT_DOS_RIGHT,
  QT_POINT_BOND_LEFT, /* [bonds] */
  QT_POINT_BOND_RIGHT,
  QT_POINT_CHANNEL, /* [n_channels] eigenvalues of t^H t, descending, then 0 */
  QT_POINT_ARRAYS
} qt_point_array;

/* What is computed; all borrowed. */
typedef struct qt_point_spec {
  const qt_system *system;
  const qt_layout *layout; /* of its blocks                                   */
  const qt_lead_opts *lead;
  const qt_sparse *bonds; /* currents along them; without elements: none     */
  double shift;           /* eV, where an energy fails; 0: that is a failure */
  bool dos, lead_dos;     /* lead_dos includes dos                           */
  int64_t n_channels;     /* eigenvalues of the transmission: wave functions alone (qtbm/qtbm.h)
                           */
  const qt_slabs_spec *division; /* slabs that threads share at each point, for its sizes; NULL: the
                                    recursion on one thread */
  qt_slabs *slabs; /* the same, prepared; points are then computed one at a time, outside of
                      threads and graphs */
  qt_point_ranks
      *ranks; /* that share the slabs, with one scratch (qt_point_open_ranks); NULL: one */
} qt_point_spec;
/* Returns a division of points into n_slabs slabs of this process, without their blocks (first). */
qt_slabs_spec qt_point_division(const qt_point_spec *s, int64_t n_slabs, int threads);
/* Returns the number of elements of an array, 0: it is not computed; its name. */
int64_t qt_point_count(const qt_point_spec *s, qt_point_array which);
const char *qt_point_name(qt_point_array which);
/* Returns the flops of the recursion of a point, blocks taken as full; bytes of scratch, without
 * slabs; bytes that a point takes for a while in addition: cells and work of the leads, at most. */
double qt_point_flops(const qt_point_spec *s);
int64_t qt_point_scratch(const qt_point_spec *s);
double qt_point_bytes(const qt_point_spec *s);
/* For points in that scratch, which the ranks of division->comm compute together; s has its slabs.
 * Collective. Fails on all ranks alike: as qt_point_ranks_create. */
weir_status qt_point_open_ranks(const qt_point_spec *s, void *scratch,
                                qt_point_ranks *out) WEIR_CHECKED;

/* Marks a point that failed: NaN in all arrays, the status in the number QT_POINT_STATUS. */
void qt_point_fail(const qt_point_spec *s, weir_status status, double *const out[QT_POINT_ARRAYS]);

/* Cells of both leads at a wave vector; all zero is none. */
typedef struct qt_point_leads {
  double k[2];
  qt_cell cell[QT_LEADS];
  bool same; /* both have the same bits */
} qt_point_leads;
/* Makes them those of k, where they are not yet. Fails: WEIR_ERR_MEMORY. */
weir_status qt_point_leads_set(const qt_system *s, const double k[2],
                               qt_point_leads *leads) WEIR_CHECKED;
void qt_point_leads_fini(qt_point_leads *leads);
/* Returns the flops of both at an energy, as qt_lead_flops; where they have the same bits they are
 * solved at once. */
qt_lead_work qt_point_leads_flops(const qt_lead_opts *o, const qt_system *s,
                                  const qt_point_leads *leads);
/* Computes a point at the wave vector of the leads; energy: eV, of phonons hbar omega. out[i]:
 * memory for array i, or NULL where there is none. Fails: WEIR_ERR_NUMERIC, WEIR_ERR_MEMORY; the
 * number QT_POINT_STATUS says so, too. Of ranks that share points, collective: the first one gets
 * the arrays, the others their numbers; they fail alike. */
weir_status qt_point_solve(const qt_point_spec *s, const qt_point_leads *leads, double energy,
                           void *scratch, double *const out[QT_POINT_ARRAYS]) WEIR_CHECKED;

/* k f64 [points, 2], energy f64 [points]. Results, by number of the node's output: the arrays that
 * are computed, each [points, elements]. A point that fails says so in its number QT_POINT_STATUS.
 * What the spec points to outlives the graph. */
weir_value qt_points_at(weir_graph *g, weir_value k, weir_value energy, const qt_point_spec *spec,
                        const char *where);
#define qt_points(g, k, energy, spec) qt_points_at(g, k, energy, spec, WEIR_WHERE)
extern const weir_op_desc qt_op_points;

#endif
