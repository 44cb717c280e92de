/* energies.h - a grid of energies that is refined where currents and conductances need it. */
#ifndef QT_ENERGIES_H
#define QT_ENERGIES_H
#include "model/landauer.h"
#include "model/transmission/transmission.h"

/* An integral of the transmission over energies. */
typedef enum qt_integral_kind {
  QT_ELECTRON_CURRENT,     /* of both reservoirs                            */
  QT_ELECTRON_CONDUCTANCE, /* of the chemical potential and temperature of the first */
  QT_PHONON_CURRENT,
  QT_PHONON_CONDUCTANCE,
} qt_integral_kind;

typedef struct qt_integral {
  qt_integral_kind kind;
  qt_reservoir lead[QT_LEADS];
} qt_integral;

typedef struct qt_energies_spec {
  double
      tolerance; /* largest change of each integral, relative, that halving all intervals makes */
  double min_width;   /* eV, of the halves of an interval: narrower ones are not made    */
  int64_t max_points; /* energies                                                        */
  int n_integrals;
  const qt_integral *integral;
  const double *weight; /* [n_k] of wave vectors, sum 1 */
} qt_energies_spec;

/* Why a grid is refined no further. */
typedef enum qt_energies_end {
  QT_ENERGIES_MET, /* the tolerance is met                                                   */
  QT_ENERGIES_MAX_POINTS, /* the next energies would be more than spec->max_points */
  QT_ENERGIES_MIN_WIDTH,  /* all intervals but those too narrow to be halved are as they need to be;
                         halving these may change an integral by more than the tolerance: where the
                         middle of one that was given transmits one wave more or less than its ends,
                         of another as much as either end                                       */
} qt_energies_end;

/* Halves intervals of the ascending grid *energy [*n] until halving all would change no integral by
 * more than the tolerance, and adds what is computed to *t, which spec gave at *energy. A peak that
 * lies between energies and is narrower than half their distance is not seen. Nothing is saved;
 * t_spec->memory limits the memory in addition to *t. Collective over t_spec->comm; *energy and
 * *n are the same on all ranks. Fails: as qt_transport_create; *t is then fit for qt_transport_fini
 * alone. */
weir_status qt_energies_refine(const qt_system *s, const qt_transport_spec *t_spec,
                               const qt_energies_spec *spec, double **energy, int64_t *n,
                               qt_transport *t, qt_energies_end *end) WEIR_CHECKED;

#endif
