/* transmission.c - see transmission.h: all points, so many at once as threads and memory allow, by
 * the graph of one operator (point.h), in slabs or by wave functions (qtbm/qtbm.h). */
#include "model/transmission/transmission.h"

#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "comm/weir_request.h"
#include "model/transmission/transmission_priv.h"

/* Of all points, on rank 0. */
static weir_status make_results(const transport_job *j, qt_transport *out)
{
  const int64_t points = j->rank == 0 ? j->points : 0;
  double **const array[] = {&out->dos,
                            &out->lead_dos[QT_LEFT],
                            &out->lead_dos[QT_RIGHT],
                            &out->bond_current[QT_LEFT],
                            &out->bond_current[QT_RIGHT],
                            &out->channel};

  out->n_k = j->spec->n_k;
  out->n_energies = j->spec->n_energies;
  out->n = j->s->n;
  out->n_channels = j->point.n_channels;
  WEIR_TRY(weir_alloc(points, sizeof(double), (void **)&out->transmission));
  for (int c = 0; c < QT_LEADS; c++) {
    WEIR_TRY(weir_alloc(points, sizeof(int64_t), (void **)&out->n_modes[c]));
  }
  for (int i = QT_POINT_DOS; i < QT_POINT_ARRAYS; i++) {
    WEIR_TRY(weir_alloc(points * qt_point_count(&j->point, (qt_point_array)i), sizeof(double),
                        (void **)array[i - QT_POINT_DOS]));
  }
  return WEIR_OK;
}

/* ---- All of them ---- */

static weir_status agree(const transport_job *j, weir_status status)
{
  return j->ranks > 1 ? weir_comm_agree(j->spec->comm, status) : status;
}

/* Makes the number the minimum of all ranks. Collective. */
static weir_status agree_min(const transport_job *j, int64_t *value)
{
  weir_request *r = NULL;

  if (j->ranks == 1) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_allreduce_create(j->spec->comm, "points at once",
                                 weir_reducer_of(WEIR_REDUCE_MIN, WEIR_I64), value, 1, &r));
  WEIR_TRY(weir_request_run_once(&r));
  return WEIR_OK;
}

/* What needs no other rank. */
static weir_status prepare(transport_job *j)
{
  WEIR_TRY(transport_measure(j, false));
  return make_results(j, j->out);
}

/* Memory of a batch. */
static weir_status make_batch(transport_job *j)
{
  const int64_t n_points = transport_points_of_ranks(j, j->at_once);
  const int64_t share = (n_points + j->groups - 1) / j->groups;

  j->at_once = n_points;
  if (j->qtbm != NULL) {
    WEIR_TRY(qt_qtbm_open(j->qtbm, &j->point, j->threads));
  }
  WEIR_TRY(weir_alloc(j->groups + 1, sizeof *j->bounds, (void **)&j->bounds));
  WEIR_TRY(weir_alloc(2 * share, sizeof(double), (void **)&j->in[0]));
  WEIR_TRY(weir_alloc(share, sizeof(double), (void **)&j->in[1]));
  for (int i = 0; i < (j->ranks > 1 ? QT_POINT_ARRAYS : 1); i++) {
    WEIR_TRY(weir_alloc(share * qt_point_count(&j->point, (qt_point_array)i), sizeof(double),
                        (void **)&j->slice[i]));
  }
  return WEIR_OK;
}

/* Points from `first` on. Collective. */
static weir_status run_next(transport_job *j, int64_t first, int64_t *done)
{
  const int64_t left = j->points - first, n = left < j->at_once ? left : j->at_once;
  int64_t failed = -1;

  WEIR_TRY(transport_plan(j, n));
  WEIR_TRY(transport_run(j, first));
  WEIR_TRY(transport_collect(j, first, &failed));
  WEIR_TRY(agree(j, failed >= 0 ? transport_tell_failure(j, failed) : WEIR_OK));
  *done = first + n;
  if (j->rank == 0 && !j->spec->quiet) {
    weir_progress("transport", *done, j->points, "points");
  }
  return WEIR_OK;
}

/* Where the points begin: on rank 0 the checkpoint says it. Collective. */
static weir_status find_start(const transport_job *j, int64_t *done)
{
  const bool reads = j->rank == 0 && j->spec->save != NULL;

  *done = j->rank == 0 ? 0 : j->points;
  WEIR_TRY(agree(j, reads ? transport_load(j, done) : WEIR_OK));
  return agree_min(j, done);
}

static weir_status save_or_not(const transport_job *j, int64_t done)
{
  return j->rank == 0 && j->spec->save != NULL ? transport_save(j, done) : WEIR_OK;
}

/* Between two batches: a checkpoint where one is due, and the end where a rank is to stop.
 * Collective. */
static weir_status pause(const transport_job *j, int64_t done, double *saved)
{
  const double interval = j->spec->save != NULL ? j->spec->save->interval : 0;
  weir_status status = WEIR_OK;

  if (interval > 0 && weir_clock() - *saved >= interval) {
    status = save_or_not(j, done);
    *saved = weir_clock();
  }
  if (status == WEIR_OK && weir_stop_requested()) {
    status = weir_fail(WEIR_ERR_STOPPED, "stopped");
  }
  status = agree(j, status);
  if (status != WEIR_ERR_STOPPED) {
    return status;
  }
  WEIR_TRY(agree(j, save_or_not(j, done)));
  return weir_fail(WEIR_ERR_STOPPED, "stopped after %lld of %lld points: %s", (long long)done,
                   (long long)j->points,
                   j->spec->save != NULL ? "repeat the command to resume it"
                                         : "nothing is written");
}

static weir_status run_all(transport_job *j)
{
  double saved = weir_clock();
  int64_t done;

  WEIR_TRY(agree(j, prepare(j)));
  WEIR_TRY(agree_min(j, &j->at_once));
  WEIR_TRY(agree(j, make_batch(j)));
  WEIR_TRY(agree(j, transport_open_slabs(j)));
  WEIR_TRY(find_start(j, &done));
  while (done < j->points) {
    WEIR_TRY(run_next(j, done, &done));
    if (done < j->points) {
      WEIR_TRY(pause(j, done, &saved));
    } else if (j->spec->save != NULL && j->spec->save->whole) {
      WEIR_TRY(agree(j, save_or_not(j, done)));
    }
  }
  return WEIR_OK;
}

weir_status qt_transport_start(const qt_transport_spec *spec)
{
  static const weir_string_list none = {.count = 0};

  WEIR_TRY(qt_lead_start(&spec->lead, spec->petsc != NULL ? spec->petsc : &none));
  return spec->method == QT_TRANSPORT_QTBM ? qt_qtbm_start(&spec->lead, spec->petsc) : WEIR_OK;
}

weir_status qt_transport_create(const qt_system *s, const qt_transport_spec *spec,
                                qt_transport *out)
{
  transport_job j = {.s = s, .spec = spec, .out = out, .ranks = 1};

  *out = (qt_transport){.n = 0};
  WEIR_TRY(transport_check_ranks(spec, spec->comm != NULL ? weir_comm_size(spec->comm) : 1));
  transport_take_ranks(&j);
  const weir_status status = run_all(&j);

  out->n_in_order = j.slabs != NULL ? qt_slabs_in_order(j.slabs) : 0;
  transport_batch_fini(&j.batch);
  transport_close_slabs(&j);
  qt_qtbm_destroy(&j.qtbm);
  weir_free(&j.bounds);
  weir_free(&j.in[0]);
  weir_free(&j.in[1]);
  for (int i = 0; i < QT_POINT_ARRAYS; i++) {
    weir_free(&j.slice[i]);
  }
  qt_layout_fini(&j.layout);
  if (status != WEIR_OK) {
    qt_transport_fini(out);
  }
  return status;
}

void qt_transport_average(int64_t n_k, const double *weight, int64_t count, const double *values,
                          double *out)
{
  memset(out, 0, (size_t)count * sizeof *out);
  for (int64_t k = 0; k < n_k; k++) {
    for (int64_t i = 0; i < count; i++) {
      out[i] += weight[k] * values[k * count + i];
    }
  }
}
