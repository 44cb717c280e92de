/* transport_wannier.c - transmission and density of states of a perfect square ribbon of 100 sites
 * on one core against wannier90's own transport: decimation at the same broadening. */
#include <math.h>

#include "base/weir_log.h"
#include "reference.h"
#include "ribbon.h"

enum { WIDTH = 100, ENERGIES = 40, RUNS = 3 };

static const double eta = 5e-4, first = -3.871, step = 0.193; /* eV; eta: wannier90's */

/* A cell of the ribbon, and its transmission and density of states. */
typedef struct bulk {
  qt_system system;
  qt_lead_opts lead;
  double energy[ENERGIES], transmission[ENERGIES], dos[ENERGIES];
} bulk;

static void make(bulk *b)
{
  const qt_device *device = qt_device_find("square");
  qt_ribbon_opts o;

  *b = (bulk){.system = {.n = 0}};
  weir_opts_default(device->opts, sizeof o, &o);
  o.width = WIDTH;
  o.length = 1;
  bench_must(device->build(&o, 1, &b->system));
  weir_opts_default(qt_lead_options, sizeof b->lead, &b->lead);
  b->lead.eta = eta;
  b->lead.mode_error = 1; /* wannier90 knows no other method near band edges */
  for (int i = 0; i < ENERGIES; i++) {
    b->energy[i] = first + step * i;
  }
}

static void compute(void *context)
{
  bulk *b = context;
  const qt_transport_spec spec = {.lead = b->lead,
                                  .n_k = 1,
                                  .k = ribbon_no_k,
                                  .n_energies = ENERGIES,
                                  .energy = b->energy,
                                  .dos = true,
                                  .threads = 1};
  qt_transport t;

  bench_must(qt_transport_create(&b->system, &spec, &t));
  for (int i = 0; i < ENERGIES; i++) {
    b->transmission[i] = t.transmission[i];
    b->dos[i] = 0;
    for (int64_t orbital = 0; orbital < WIDTH; orbital++) {
      b->dos[i] += t.dos[i * WIDTH + orbital];
    }
  }
  qt_transport_fini(&t);
}

/* Distance from the nearest edge of a band 2 t cos k + 2 t cos(p pi / (W + 1)), |t| = 1 eV. */
static double from_edge(double energy)
{
  double least = INFINITY;

  for (int p = 1; p <= WIDTH; p++) {
    const double middle = 2 * cos(p * M_PI / (WIDTH + 1));

    least = fmin(least, fmin(fabs(energy - middle - 2), fabs(energy - middle + 2)));
  }
  return least;
}

/* More than 10 eta off band edges, to 1e-3 a channel. */
static void must_agree(const bulk *b, const reference_result *reference)
{
  enum { WRONG = 6 };
  const double *t = reference->data[0], *dos = reference->data[1];
  int compared = 0;

  for (int i = 0; i < ENERGIES; i++) {
    if (from_edge(b->energy[i]) < 10 * eta) {
      continue;
    }
    compared++;
    if (!(fabs(t[i] - b->transmission[i]) < 1e-3 * fmax(1, t[i])) ||
        !(fabs(dos[i] - b->dos[i]) < 1e-2 * fmax(1, dos[i]))) {
      fprintf(stderr, "at %g eV T is %.9g, wannier90's %.9g; density of states %.9g and %.9g\n",
              b->energy[i], b->transmission[i], t[i], b->dos[i], dos[i]);
      exit(WRONG);
    }
  }
  if (compared < ENERGIES / 2) {
    fprintf(stderr, "%d of %d energies lie off band edges\n", compared, ENERGIES);
    exit(WRONG);
  }
}

int main(void)
{
  static bulk b;
  char arguments[128];

  weir_log_set_level(WEIR_LOG_WARN);
  if (!reference_ready("numpy")) {
    return REFERENCE_SKIP;
  }
  if (system("command -v wannier90.x >/dev/null 2>&1") != 0) {
    fprintf(stderr, "SKIP: wannier90.x is needed (Debian: wannier90)\n");
    return REFERENCE_SKIP;
  }
  (void)bench_pin();
  make(&b);
  (void)snprintf(arguments, sizeof arguments, "width=%d start=%g step=%g n=%d", WIDTH, first, step,
                 ENERGIES);
  reference_result reference =
      reference_run("transport_wannier.py", "conduct", arguments, RUNS, 1, NULL, 0);
  const double seconds = bench_best(RUNS, compute, &b);

  must_agree(&b, &reference);
  reference.seconds = *(const double *)reference.data[2]; /* without starting the program */
  reference_row_ms("square ribbon 100 wide: T(E) and density of states", "wannier90 bulk transport",
                   &reference, ENERGIES, seconds, 1);
  reference_free(&reference);
  qt_system_fini(&b.system);
  return 0;
}
