/* transmission_results.c - the arrays of results, and where those of a rank are kept. */
#include "base/weir_alloc.h"
#include "model/transmission/transmission_priv.h"

double *transport_result_of(const qt_transport *t, int which)
{
  switch (which) {
  case QT_POINT_NUMBER:
    return NULL;
  case QT_POINT_DOS:
    return t->dos;
  case QT_POINT_DOS_LEFT:
  case QT_POINT_DOS_RIGHT:
    return t->lead_dos[which - QT_POINT_DOS_LEFT];
  case QT_POINT_CHANNEL:
    return t->channel;
  default:
    return t->bond_current[which - QT_POINT_BOND_LEFT];
  }
}

/* Where this rank's results of a batch go: on a rank alone where they stay. */
double *transport_slice_of(const transport_job *j, int which, int64_t first)
{
  return j->slice[which] != NULL ? j->slice[which]
                                 : transport_result_of(j->out, which) +
                                       first * qt_point_count(&j->point, (qt_point_array)which);
}

void qt_transport_fini(qt_transport *t)
{
  weir_free(&t->transmission);
  weir_free(&t->channel);
  weir_free(&t->dos);
  qt_sparse_fini(&t->bonds);
  for (int c = 0; c < QT_LEADS; c++) {
    weir_free(&t->n_modes[c]);
    weir_free(&t->bond_current[c]);
    weir_free(&t->lead_dos[c]);
  }
  *t = (qt_transport){.n = 0};
}
