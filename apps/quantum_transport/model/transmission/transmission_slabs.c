/* transmission_slabs.c - points one at a time, each in slabs that threads of a rank and ranks
 * share.
 */
#include <stdio.h>

#include "base/weir_alloc.h"
#include "model/transmission/transmission_priv.h"
#include "ops/linear/weir_linear.h"

int64_t transport_slabs_of(const qt_transport_spec *spec)
{
  const int64_t min_slabs = spec->ranks_per_point > 1 ? spec->ranks_per_point : 1;

  return spec->slabs > 1 ? spec->slabs : min_slabs;
}

weir_status transport_check_ranks(const qt_transport_spec *spec, int ranks)
{
  const int64_t of_point = spec->ranks_per_point;

  if (of_point <= 1) {
    return WEIR_OK;
  }
  if (spec->method == QT_TRANSPORT_QTBM) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "parallel.ranks_per_point: %lld ranks share Green's functions alone: give 1, "
                     "or set transport.method: rgf",
                     (long long)of_point);
  }
  if (ranks % of_point != 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "parallel.ranks_per_point: groups of %lld ranks cannot be made of %d: start a "
                     "multiple of that number with mpiexec or srun, or give a divisor of %d",
                     (long long)of_point, ranks, ranks);
  }
  return WEIR_OK;
}

static weir_status check_slabs(const transport_job *j, int64_t n_slabs)
{
  const int64_t n_blocks = j->layout.n_blocks, of_point = j->spec->ranks_per_point;

  if (of_point > n_blocks) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "parallel.ranks_per_point: %lld ranks share a device of %lld blocks: give at "
                     "most as many",
                     (long long)of_point, (long long)n_blocks);
  }
  if (n_slabs > n_blocks) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "parallel.slabs: %lld slabs of a device of %lld blocks: give at most as many",
                     (long long)n_slabs, (long long)n_blocks);
  }
  if (n_slabs < of_point) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "parallel.slabs: %lld slabs for %lld ranks (parallel.ranks_per_point): give "
                     "one for each rank, or 1, which does so",
                     (long long)n_slabs, (long long)of_point);
  }
  return WEIR_OK;
}

weir_status transport_divide(transport_job *j, int threads)
{
  const int64_t n_slabs = transport_slabs_of(j->spec);

  WEIR_TRY(check_slabs(j, n_slabs));
  j->division = qt_point_division(&j->point, n_slabs, threads);
  j->division.max_error = j->spec->slab_error;
  j->division.n_ranks = j->ranks / j->groups;
  j->division.rank = j->rank % j->division.n_ranks;
  WEIR_TRY(weir_alloc(n_slabs + 1, sizeof *j->first, (void **)&j->first));
  qt_slabs_split(&j->division, j->first);
  j->division.first = j->first;
  j->point.division = &j->division;
  return WEIR_OK;
}

/* The ranks that share this rank's points, and what they exchange. Collective. */
static weir_status open_ranks(transport_job *j)
{
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_comm_split(j->spec->comm, j->group, &j->group_comm));
  j->division.comm = j->group_comm;
  status = weir_alloc(qt_point_scratch(&j->point), 1, &j->scratch);
  WEIR_TRY(weir_comm_agree(j->group_comm, status));
  WEIR_TRY(qt_point_open_ranks(&j->point, j->scratch, &j->point_ranks));
  j->point.ranks = &j->point_ranks;
  return WEIR_OK;
}

weir_status transport_open_slabs(transport_job *j)
{
  if (j->first == NULL) {
    return WEIR_OK;
  }
  if (j->groups < j->ranks) {
    WEIR_TRY(open_ranks(j));
  } else {
    WEIR_TRY(weir_alloc(qt_point_scratch(&j->point), 1, &j->scratch));
  }
  WEIR_TRY(qt_slabs_create(&j->division, &j->slabs));
  j->point.slabs = j->slabs;
  weir_linear_start();
  return WEIR_OK;
}

void transport_close_slabs(transport_job *j)
{
  qt_slabs_destroy(&j->slabs);
  qt_point_ranks_fini(&j->point_ranks);
  weir_comm_close(&j->group_comm);
  weir_free(&j->scratch);
  weir_free(&j->first);
}

static weir_status solve_point(const transport_job *j, const double k[2], double energy,
                               qt_point_leads *leads, double *const out[QT_POINT_ARRAYS])
{
  WEIR_TRY(qt_point_ranks_agree(&j->point_ranks, qt_point_leads_set(j->s, k, leads)));
  return qt_point_solve(&j->point, leads, energy, j->scratch, out);
}

static void run_point(const transport_job *j, int64_t i, qt_point_leads *leads,
                      double *const out[QT_POINT_ARRAYS])
{
  const weir_status status = solve_point(j, j->in[0] + 2 * i, j->in[1][i], leads, out);

  if (status != WEIR_OK) { /* who reads it computes the point again, and learns why */
    qt_point_fail(&j->point, status, out);
    weir_clear_failure();
  }
}

void transport_run_slabs(const transport_job *j, double *const out[QT_POINT_ARRAYS])
{
  qt_point_leads leads = {.same = false};

  for (int64_t i = 0; i < j->batch.hi - j->batch.lo; i++) {
    double *of_point[QT_POINT_ARRAYS] = {NULL};

    for (int a = 0; a < QT_POINT_ARRAYS; a++) {
      const int64_t count = qt_point_count(&j->point, (qt_point_array)a);

      of_point[a] = count > 0 ? out[a] + i * count : NULL;
    }
    run_point(j, i, &leads, of_point);
  }
  qt_point_leads_fini(&leads);
}

weir_status transport_repeat_in_slabs(const transport_job *j, const double k[2], double energy)
{
  qt_point_leads leads = {.same = false};
  double *out[QT_POINT_ARRAYS] = {NULL};

  for (int a = 0; a < QT_POINT_ARRAYS; a++) {
    if (qt_point_count(&j->point, (qt_point_array)a) > 0) {
      out[a] = transport_slice_of(j, a, 0);
    }
  }
  const weir_status status = solve_point(j, k, energy, &leads, out);

  qt_point_leads_fini(&leads);
  return status;
}

const char *transport_failure_text(const transport_job *j)
{
  const char *text = weir_last_message();
  int rank, ranks, length = 0;

  if (j->group_comm != NULL) { /* as weir_comm_agree writes it */
    (void)sscanf(text, "rank %d of %d failed: %n", &rank, &ranks, &length);
  }
  return text + length;
}

weir_status transport_share_failed(const transport_job *j, int64_t *failed)
{
  weir_request *r = NULL;

  if (j->point.ranks == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_allreduce_create(j->spec->comm, "points that failed",
                                 weir_reducer_of(WEIR_REDUCE_MAX, WEIR_I64), failed, 1, &r));
  const weir_status status = weir_request_run_once(&r);

  if (j->group > 0) {
    *failed = -1;
  }
  return status;
}
