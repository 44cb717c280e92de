/* transmission_slabs.c - points one at a time, each in slabs that the threads of a rank share. */
#include "base/weir_alloc.h"
#include "model/transmission_priv.h"
#include "ops/linear/weir_linear.h"

weir_status transport_divide(transport_job *j, int threads)
{
  const int64_t n_slabs = j->spec->slabs;

  if (n_slabs > j->layout.n_blocks) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "parallel.slabs: %lld slabs of a device of %lld blocks: give at most as many",
                     (long long)n_slabs, (long long)j->layout.n_blocks);
  }
  j->division = qt_point_division(&j->point, n_slabs, threads);
  WEIR_TRY(weir_alloc(n_slabs + 1, sizeof *j->first, (void **)&j->first));
  qt_slabs_split(&j->division, j->first);
  j->division.first = j->first;
  j->point.division = &j->division;
  return WEIR_OK;
}

weir_status transport_open_slabs(transport_job *j)
{
  if (j->first == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(qt_point_scratch(&j->point), 1, &j->scratch));
  WEIR_TRY(qt_slabs_create(&j->division, &j->slabs));
  j->point.slabs = j->slabs;
  weir_linear_start();
  return WEIR_OK;
}

void transport_close_slabs(transport_job *j)
{
  qt_slabs_destroy(&j->slabs);
  weir_free(&j->scratch);
  weir_free(&j->first);
}

static void run_point(const transport_job *j, int64_t i, qt_point_leads *leads,
                      double *const out[QT_POINT_ARRAYS])
{
  weir_status status = qt_point_leads_set(j->s, j->in[0] + 2 * i, leads);

  if (status == WEIR_OK) {
    status = qt_point_solve(&j->point, leads, j->in[1][i], j->scratch, out);
  }
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
