/* transport_ribbon.c - the transmission of square ribbons with disorder on one core against kwant,
 * the same equations with the modes of the leads instead of decimation. */
#include "base/weir_log.h"
#include "reference.h"
#include "ribbon.h"

enum { ENERGIES = 8, RUNS = 3, REFERENCE_RUNS = 3 };

static void compare(int64_t width, int64_t length, double goal)
{
  ribbon r;
  char work[64], arguments[64];

  ribbon_make(width, length, ENERGIES, &r);
  double *onsite = ribbon_onsite(&r);
  const reference_input in[] = {{"onsite", "f8", onsite, r.system.n},
                                {"energy", "f8", r.energy, r.n_energies}};

  (void)snprintf(work, sizeof work, "square ribbon %lld x %lld: T(E)", (long long)width,
                 (long long)length);
  (void)snprintf(arguments, sizeof arguments, "width=%lld length=%lld", (long long)width,
                 (long long)length);
  reference_result reference =
      reference_run("transport_ribbon.py", "transmission", arguments, REFERENCE_RUNS, 1, in, 2);
  const double seconds = bench_best(RUNS, ribbon_run, &r);

  ribbon_must_agree(work, &r, "kwant", reference.data[0], 1e-3);
  reference_row_ms(work, "kwant", &reference, ENERGIES, seconds, goal);
  reference_free(&reference);
  weir_free(&onsite);
  ribbon_fini(&r);
}

int main(void)
{
  weir_log_set_level(WEIR_LOG_WARN);
  if (!reference_ready("kwant")) {
    return REFERENCE_SKIP;
  }
  (void)bench_pin();
  compare(50, 100, 3);
  compare(100, 200, 3);
  return 0;
}
