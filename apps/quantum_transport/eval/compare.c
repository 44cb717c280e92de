/* compare.c - see compare.h. */
#include "eval/compare.h"

#include <math.h>

const weir_opt qt_compare_options[] = {
    WEIR_OPT_PATH(qt_compare_opts, result, "",
                  "transport.nc, spectra.csv or transport.TBT.nc of a run"),
    WEIR_OPT_PATH(qt_compare_opts, reference, "",
                  "the same of another run, .TBT.nc or .PHT.nc of TBtrans, or text whose first two "
                  "columns are energy (eV) and transmission: _qc.dat of Wannier90, .AVTRANS of "
                  "TBtrans"),
    WEIR_OPT_REAL(qt_compare_opts, shift, 0, -1e6, 1e6, "eV",
                  "added to the energies of the reference, as its Fermi energy"),
    WEIR_OPT_REAL(qt_compare_opts, factor, 1, -1e6, 1e6, "1",
                  "factor of the reference's transmission, as 0.5 where it sums both spins"),
    WEIR_OPT_REAL(qt_compare_opts, margin, 5e-3, 0, 1e6, "eV",
                  "distance from a step of either transmission within which energies are left out"),
    WEIR_OPT_REAL(qt_compare_opts, step, 0.5, 0, 1e6, "1",
                  "change of a transmission from one energy to the next that is a step"),
    WEIR_OPT_REAL(
        qt_compare_opts, tolerance, 0, 0, 1e6, "1",
        "maximum absolute error that is accepted; beyond it the exit status is 6; 0: any"),
    WEIR_OPT_END,
};

/* Whether `energy` is within the margin of a step of c. */
static bool is_near_step(const qt_compare_opts *o, const qt_curve *c, double shift, double factor,
                         double energy)
{
  int64_t lo = 0, hi = c->n; /* energies from lo on may end an interval that counts */

  while (lo < hi) {
    const int64_t middle = lo + (hi - lo) / 2;

    if (c->energy[middle] + shift < energy - o->margin) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  for (int64_t i = lo > 0 ? lo : 1; i < c->n && c->energy[i - 1] + shift <= energy + o->margin;
       i++) {
    if (fabs(factor * (c->transmission[i] - c->transmission[i - 1])) > o->step) {
      return true;
    }
  }
  return false;
}

void qt_compare(const qt_compare_opts *opts, const qt_curve *result, const qt_curve *reference,
                double *difference, qt_scores *out)
{
  const double first = reference->energy[0] + opts->shift;
  const double last = reference->energy[reference->n - 1] + opts->shift;
  double sum = 0, absolute = 0, square = 0;

  *out = (qt_scores){.max_error = NAN, .max_at = NAN};
  for (int64_t i = 0; i < result->n; i++) {
    const double e = result->energy[i];

    difference[i] = NAN;
    if (e < first || e > last) {
      out->outside++;
    } else if (is_near_step(opts, result, 0, 1, e) ||
               is_near_step(opts, reference, opts->shift, opts->factor, e)) {
      out->near_steps++;
    } else {
      const double d =
          result->transmission[i] - opts->factor * qt_curve_at(reference, e - opts->shift);

      difference[i] = d;
      sum += d;
      absolute += fabs(d);
      square += d * d;
      out->compared++;
      if (!(fabs(d) <= out->max_error)) {
        out->max_error = fabs(d);
        out->max_at = e;
      }
    }
  }
  const double n = out->compared > 0 ? (double)out->compared : NAN;

  out->bias = sum / n;
  out->mae = absolute / n;
  out->rmse = sqrt(square / n);
}
