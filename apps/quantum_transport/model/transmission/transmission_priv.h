/* transmission_priv.h - a computation under way: sizes, batches of points, checkpoints. */
#ifndef QT_TRANSMISSION_PRIV_H
#define QT_TRANSMISSION_PRIV_H
#include "exec/weir_plan.h"
#include "model/qtbm/qtbm.h"
#include "model/transmission/transmission.h"

/* Points at once, as they are planned and run. */
typedef struct transport_batch {
  int64_t n; /* 0: none planned */
  weir_graph *graph;
  weir_plan *plan;
  int64_t lo, hi; /* of them, on this rank */
} transport_batch;

typedef struct transport_job {
  const qt_system *s;
  const qt_transport_spec *spec;
  qt_transport *out;
  qt_layout layout;
  qt_point_spec point;
  int rank, ranks, threads;
  int group, groups;              /* of ranks_per_point ranks: points are sharded over groups */
  int64_t points, at_once;        /* at_once: of a rank, then of all of them              */
  int64_t *bounds;                /* [groups + 1] of the batch                            */
  double *in[2];                  /* k and energy of this rank's points at once           */
  double *slice[QT_POINT_ARRAYS]; /* their results, where they are not in `out`           */
  transport_batch batch;
  qt_qtbm *qtbm;       /* NULL: points are computed by Green's functions               */
  double factor_bytes; /* of its sparse factors, as they are estimated; NaN: not known */
  /* Of points in slabs, one at a time: */
  qt_slabs_spec division;
  int64_t *first; /* [slabs + 1] its first blocks */
  qt_slabs *slabs;
  void *scratch;         /* of a point */
  weir_comm *group_comm; /* ranks that share each point; NULL: this one alone */
  qt_point_ranks point_ranks;
} transport_job;

/* ---- Sizes (transmission_size.c) ---- */

/* Ranks of the spec, and their groups. */
void transport_take_ranks(transport_job *j);
/* Points, layout, bonds, the sparse matrix of QTBM, threads and points at once within spec->memory;
 * factors: their memory is estimated even without that limit. Fails: WEIR_ERR_CONFIG,
 * WEIR_ERR_SHAPE, WEIR_ERR_MEMORY, as qt_qtbm_create. */
weir_status transport_measure(transport_job *j, bool factors) WEIR_CHECKED;
/* Returns the points at once on all ranks, where each group has so many. */
int64_t transport_points_of_ranks(const transport_job *j, int64_t of_rank);

/* ---- Results (transmission_results.c) ---- */

/* Where array `which` of all points is; NULL of the numbers. */
double *transport_result_of(const qt_transport *t, int which);
/* Where this rank's results of a batch go: on a rank alone where they stay. */
double *transport_slice_of(const transport_job *j, int which, int64_t first);

/* ---- Batches (transmission_batch.c) ---- */

/* Plans n points at once, sharded over the groups of ranks. Collective. */
weir_status transport_plan(transport_job *j, int64_t n) WEIR_CHECKED;
void transport_batch_fini(transport_batch *b);
/* Computes this rank's share of those from `first` on. Collective. */
weir_status transport_run(const transport_job *j, int64_t first) WEIR_CHECKED;
/* Results of all ranks to rank 0; *failed: the first point that failed, -1: none, and on other
 * ranks. Collective. */
weir_status transport_collect(const transport_job *j, int64_t first, int64_t *failed) WEIR_CHECKED;
/* Why the point failed: it is computed again. Collective over the ranks that share it. */
weir_status transport_tell_failure(const transport_job *j, int64_t point) WEIR_CHECKED;

/* ---- Points in slabs (transmission_slabs.c) ---- */

/* Slabs of each point; 1: it is not divided. */
int64_t transport_slabs_of(const qt_transport_spec *spec);
/* Whether so many ranks can share points. Local. Fails: WEIR_ERR_CONFIG. */
weir_status transport_check_ranks(const qt_transport_spec *spec, int ranks) WEIR_CHECKED;
/* The division into slabs, for up to so many threads. Local. Fails: WEIR_ERR_CONFIG (fewer blocks;
 * fewer slabs than ranks), WEIR_ERR_MEMORY. */
weir_status transport_divide(transport_job *j, int threads) WEIR_CHECKED;
/* Memory of the slabs, and the groups of ranks. Collective. Fails: WEIR_ERR_MEMORY,
 * WEIR_ERR_EXTERNAL, on all ranks of a group alike. */
weir_status transport_open_slabs(transport_job *j) WEIR_CHECKED;
/* Collective over a group. */
void transport_close_slabs(transport_job *j);
/* Computes this group's points of a batch, into arrays out of its first rank. Collective over the
 * group. */
void transport_run_slabs(const transport_job *j, double *const out[QT_POINT_ARRAYS]);
/* Computes a point, to learn why it fails; results are lost. Collective over the group. */
weir_status transport_repeat_in_slabs(const transport_job *j, const double k[2],
                                      double energy) WEIR_CHECKED;
/* Returns the last failure, without the number that the rank it was met on has in its group. */
const char *transport_failure_text(const transport_job *j);
/* The point that failed, which rank 0 knows, for all ranks of its group; -1 on others. Collective.
 */
weir_status transport_share_failed(const transport_job *j, int64_t *failed) WEIR_CHECKED;

/* ---- Checkpoints (transmission_save.c), of rank 0 ---- */

/* Writes the points done. Fails: as save->begin, weir_checkpoint_save. */
weir_status transport_save(const transport_job *j, int64_t done) WEIR_CHECKED;
/* The points of the latest checkpoint, where save->resume says so; *done 0: there is none. Fails:
 * WEIR_ERR_CONFIG (of another computation), as weir_checkpoint_resume. */
weir_status transport_load(const transport_job *j, int64_t *done) WEIR_CHECKED;

#endif
