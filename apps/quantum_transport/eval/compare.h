/* compare.h - the difference of two transmissions, away from their steps. */
#ifndef QT_COMPARE_H
#define QT_COMPARE_H
#include "conf/weir_opt.h"
#include "eval/curve.h"

/* The section `eval` of the configuration. */
typedef struct qt_compare_opts {
  const char *result, *reference; /* files */
  double shift, factor;           /* eV added to energies, of the reference; factor of its T    */
  double margin, step;            /* eV; change of T that is a step                              */
  double tolerance;               /* maximum difference of T; 0: any */
} qt_compare_opts;
extern const weir_opt qt_compare_options[];

typedef struct qt_scores {
  int64_t compared, near_steps, outside; /* energies of the result                    */
  double bias, mae, rmse;                /* mean, mean absolute and root of the mean square error;
                                            NaN where nothing is compared                */
  double max_error, max_at;              /* largest |error| and its energy, eV        */
} qt_scores;

/* Compares at the energies of the result; the reference is interpolated in lines. An energy is near
 * a step where it is no more than opts->margin beyond an interval of either curve's energies over
 * which T changes by more than opts->step. difference [result->n] takes T less the reference, NaN
 * where it is not compared. */
void qt_compare(const qt_compare_opts *opts, const qt_curve *result, const qt_curve *reference,
                double *difference, qt_scores *out);

#endif
