/* transmission_priv.h - a computation under way: sizes, batches of points, checkpoints. */
#ifndef QT_TRANSMISSION_PRIV_H
#define QT_TRANSMISSION_PRIV_H
#include "exec/weir_plan.h"
#include "model/qtbm/qtbm.h"
#include "model/transmission.h"

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
  int64_t points, at_once;       /* at_once: of a rank, then of all of them              */
  int64_t *bounds;               /* [ranks + 1] of the batch                             */
  double *in[2];                 /* k and energy of this rank's points at once           */
  double *part[QT_POINT_ARRAYS]; /* their results, where they are not in `out`           */
  transport_batch batch;
  qt_qtbm *qtbm;       /* NULL: points are computed by Green's functions               */
  double factor_bytes; /* of its sparse factors, as they are estimated; NaN: not known */
  /* Of points in slabs, one at a time: */
  qt_slabs_spec division;
  int64_t *first; /* [slabs + 1] its first blocks */
  qt_slabs *slabs;
  void *scratch; /* of a point */
} transport_job;

/* ---- Sizes (transmission_size.c) ---- */

/* Ranks of the spec. */
void transport_take_ranks(transport_job *j);
/* Points, layout, bonds, the sparse matrix of QTBM, threads and points at once within spec->memory;
 * factors: their memory is estimated even without that limit. Fails: WEIR_ERR_CONFIG,
 * WEIR_ERR_SHAPE, WEIR_ERR_MEMORY, as qt_qtbm_create. */
weir_status transport_measure(transport_job *j, bool factors) WEIR_CHECKED;
/* Points at once on all ranks, where each has so many. */
int64_t transport_points_of_ranks(const transport_job *j, int64_t of_rank);

/* ---- Batches (transmission_batch.c) ---- */

/* Where array `which` of all points is; NULL of the numbers. */
double *transport_result_of(const qt_transport *t, int which);
/* Plans n points at once, cut over the ranks. Collective. */
weir_status transport_plan(transport_job *j, int64_t n) WEIR_CHECKED;
void transport_batch_fini(transport_batch *b);
/* Computes this rank's part of those from `first` on. Collective. */
weir_status transport_run(const transport_job *j, int64_t first) WEIR_CHECKED;
/* Results of all ranks to rank 0; *failed: the first point that failed, -1: none, and on other
 * ranks. Collective. */
weir_status transport_collect(const transport_job *j, int64_t first, int64_t *failed) WEIR_CHECKED;
/* Why the point failed: it is computed again. */
weir_status transport_tell_failure(const transport_job *j, int64_t point) WEIR_CHECKED;

/* ---- Points in slabs (transmission_slabs.c) ---- */

/* The division into spec->slabs slabs, for up to so many threads. Local. Fails: WEIR_ERR_CONFIG
 * (fewer blocks), WEIR_ERR_MEMORY. */
weir_status transport_divide(transport_job *j, int threads) WEIR_CHECKED;
/* Memory of the slabs. Local. */
weir_status transport_open_slabs(transport_job *j) WEIR_CHECKED;
void transport_close_slabs(transport_job *j);
/* Computes this rank's points of a batch, into arrays out. Local. */
void transport_run_slabs(const transport_job *j, double *const out[QT_POINT_ARRAYS]);

/* ---- Checkpoints (transmission_save.c), of rank 0 ---- */

/* Writes the points done. Fails: as save->begin, weir_checkpoint_save. */
weir_status transport_save(const transport_job *j, int64_t done) WEIR_CHECKED;
/* The points of the latest checkpoint, where save->resume says so; *done 0: there is none. Fails:
 * WEIR_ERR_CONFIG (of another computation), as weir_checkpoint_resume. */
weir_status transport_load(const transport_job *j, int64_t *done) WEIR_CHECKED;

#endif
