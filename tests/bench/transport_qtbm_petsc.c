/* transport_qtbm_petsc.c - the transmission of square ribbons with disorder, and of a silicon wire,
 * on one core by wave functions, against recursive Green's functions with the same leads (modes)
 * and against kwant. */
#include "base/weir_log.h"
#include "model/silicon/silicon.h"
#include "reference.h"
#include "ribbon.h"

enum { ENERGIES = 8, RUNS = 3, REFERENCE_RUNS = 3 };

/* waves and a ribbon or wire like it by Green's functions. */
static void compare_rgf(const char *work, ribbon *waves, double goal)
{
  static ribbon green;
  double seconds[2];

  green = *waves; /* borrows its system */
  green.method = QT_TRANSPORT_RGF;
  bench_best_pair(RUNS, ribbon_run, &green, ribbon_run, waves, seconds);
  ribbon_must_agree(work, waves, "recursive Green's functions", green.transmission, 1e-8);
  bench_row(work, "recursive Green's functions", seconds[0] * 1e3 / (double)waves->n_energies,
            seconds[1] * 1e3 / (double)waves->n_energies, "ms an energy", 0, goal);
}

static void compare_kwant(const char *work, ribbon *waves)
{
  double *onsite = ribbon_onsite(waves);
  char arguments[64];
  const reference_input in[] = {{"onsite", "f8", onsite, waves->system.n},
                                {"energy", "f8", waves->energy, waves->n_energies}};

  (void)snprintf(arguments, sizeof arguments, "width=%lld length=%lld",
                 (long long)waves->opts.width, (long long)waves->opts.length);
  reference_result reference =
      reference_run("transport_ribbon.py", "transmission", arguments, REFERENCE_RUNS, 1, in, 2);
  const double seconds = bench_best(RUNS, ribbon_run, waves);

  ribbon_must_agree(work, waves, "kwant", reference.data[0], 1e-8);
  reference_row_ms(work, "kwant", &reference, ENERGIES, seconds, 1);
  reference_free(&reference);
  weir_free(&onsite);
}

static void compare(int64_t width, int64_t length, int kwant)
{
  static ribbon waves;
  char work[64];

  ribbon_make(width, length, ENERGIES, &waves);
  waves.lead.method = QT_LEAD_MODES;
  waves.method = QT_TRANSPORT_QTBM;
  (void)snprintf(work, sizeof work, "square ribbon %lld x %lld: T(E) by waves", (long long)width,
                 (long long)length);
  compare_rgf(work, &waves, 0);
  if (kwant) {
    compare_kwant(work, &waves);
  }
  ribbon_fini(&waves);
}

/* A silicon wire of 300 orbitals a cell, most elements of whose blocks are 0. */
static void compare_wire(int64_t cells)
{
  enum { N = 3 };
  const qt_device *device = qt_device_find("silicon_wire");
  static ribbon waves;
  qt_silicon_opts opts;
  char work[64];

  waves = (ribbon){.threads = 1, .method = QT_TRANSPORT_QTBM, .n_energies = N};
  weir_opts_default(qt_lead_options, sizeof waves.lead, &waves.lead);
  waves.lead.method = QT_LEAD_MODES;
  weir_opts_default(device->opts, sizeof opts, &opts);
  opts.length = cells;
  bench_must(device->build(&opts, 1, &waves.system));
  for (int i = 0; i < N; i++) {
    waves.energy[i] = 2.5 + 0.2 * i;
  }
  (void)snprintf(work, sizeof work, "silicon wire of %lld x 300 orbitals: T(E) by waves",
                 (long long)cells);
  compare_rgf(work, &waves, 2);
  ribbon_fini(&waves);
}

int main(void)
{
  weir_log_set_level(WEIR_LOG_WARN);
  const int kwant = reference_ready("kwant");

  (void)bench_pin();
  compare(50, 100, kwant);
  compare(100, 200, kwant);
  compare(10, 2000, kwant);
  compare_wire(40);
  return 0;
}
