/* energies_test.c - grids that are refined: currents and conductances of resonances and band edges
 * within the tolerance, spectra with the bits of a grid that was given as a whole. */
#include "model/energies.h"

#include <stdio.h>

#include "base/weir_log.h"
#include "support/quantum_transport/transmission_test.h"
#include "model/units.h"
#include "train/weir_checkpoint.h"

enum { FINE = 400001 };

/* A grid, what it gave, and what it is refined for. */
typedef struct subject {
  qt_system system;
  qt_transport_spec spec;
  qt_integral integral[2];
  double *energy;
  int64_t n;
  qt_transport transport;
  double *mean; /* [n] */
} subject;

static const double whole[] = {1};

static void begin(const ribbon *r, int64_t n, double low, double high, subject *s)
{
  memset(s, 0, sizeof *s);
  ribbon_create(r, &s->system);
  assert_ok(weir_alloc(n, sizeof *s->energy, (void **)&s->energy));
  for (int64_t i = 0; i < n; i++) {
    s->energy[i] = low + (high - low) / (double)(n - 1) * (double)i;
  }
  s->n = n;
  s->spec = ribbon_spec(QT_LEAD_MODES, n, s->energy);
  s->spec.shift = 1e-7;
}

static weir_status refine_to(subject *s, double min_width, double tolerance, int64_t max_points,
                             const double *weight, qt_energies_end *end)
{
  const qt_energies_spec rule = {.tolerance = tolerance,
                                 .min_width = min_width,
                                 .max_points = max_points,
                                 .n_integrals = 2,
                                 .integral = s->integral,
                                 .weight = weight};

  WEIR_TRY(qt_transport_create(&s->system, &s->spec, &s->transport));
  return qt_energies_refine(&s->system, &s->spec, &rule, &s->energy, &s->n, &s->transport, end);
}

static weir_status refine(subject *s, double tolerance, int64_t max_points, const double *weight,
                          qt_energies_end *end)
{
  return refine_to(s, 1e-6, tolerance, max_points, weight, end);
}

static void finish(subject *s)
{
  qt_transport_fini(&s->transport);
  qt_system_fini(&s->system);
  weir_free(&s->energy);
}

static void electrons(subject *s, double mu, double bias, double kelvin)
{
  s->integral[0] =
      (qt_integral){QT_ELECTRON_CURRENT, {{mu + bias / 2, kelvin}, {mu - bias / 2, 1.2 * kelvin}}};
  s->integral[1] = (qt_integral){QT_ELECTRON_CONDUCTANCE, {{mu, kelvin}, {0, 0}}};
}

/* Current and conductance of a transmission. */
static void integrals(const subject *s, int64_t n, const double *energy, const double *t,
                      double out[2])
{
  const qt_reservoir *lead = s->integral[0].lead;
  const qt_reservoir one = s->integral[1].lead[0];
  const bool phonons = s->system.particle == QT_PHONONS;

  out[0] =
      phonons ? qt_phonon_current(n, energy, t, lead) : qt_electron_current(n, energy, t, lead, 1);
  out[1] = phonons ? qt_phonon_conductance(n, energy, t, one.temperature)
                   : qt_electron_conductance(n, energy, t, one.mu, one.temperature, 1);
}

/* Refines to several tolerances: integrals are within them of those of the formula, more so with
 * more energies, of which there are few. */
static void check_formula(const ribbon *r, int64_t n, double low, double high, subject *s,
                          double (*formula)(double))
{
  static double fine[FINE], t[FINE];
  double exact[2], got[2];
  int64_t before = n;

  for (int64_t i = 0; i < FINE; i++) {
    fine[i] = low + (high - low) / (FINE - 1) * (double)i;
    t[i] = formula(fine[i]);
  }
  integrals(s, FINE, fine, t, exact);
  for (double tolerance = 1e-2; tolerance > 0.5e-4; tolerance /= 10) {
    const subject kept = *s;
    qt_energies_end end;

    begin(r, n, low, high, s);
    memcpy(s->integral, kept.integral, sizeof kept.integral);
    assert_ok(refine(s, tolerance, 4000, whole, &end));
    assert_true(end == QT_ENERGIES_MET && s->n > before && s->n < 40 * n &&
                s->transport.n_energies == s->n);
    integrals(s, s->n, s->energy, s->transport.transmission, got);
    for (int i = 0; i < 2; i++) {
      assert_true(fabs(got[i] / exact[i] - 1) < tolerance);
    }
    for (int64_t i = 1; i < s->n; i++) {
      assert_true(s->energy[i] > s->energy[i - 1]);
    }
    before = s->n;
    finish(s);
  }
}

/* Both bonds of site 3 are weak. */
static double weak(int64_t x, int64_t y)
{
  return x == 2 || x == 3 ? 0.1 + 0 * (double)y : 1;
}

static double resonance(double e)
{
  const double gamma = e > -2 && e < 2 ? 0.01 * sqrt(4 - e * e) : 0;

  return gamma == 0 ? 0 : gamma * gamma / (0.9801 * e * e + gamma * gamma);
}

/* Breit-Wigner of a width of 0.02 eV about 0, energies 0.05 eV apart. */
static void resonances_are_resolved(void **state)
{
  const ribbon r = {.width = 1, .length = 7, .hopping = -1, .bond = weak};
  subject s = {.n = 0};

  (void)state;
  electrons(&s, 0.013, 0.05, 30);
  check_formula(&r, 41, -1.013, 0.987, &s, resonance);
}

static double modes_of_five(double e)
{
  double open = 0;

  for (int p = 1; p <= 5; p++) {
    open += fabs(e + 2 * cos(p * M_PI / 6)) < 2;
  }
  return open;
}

/* Steps of the transmission, which no line follows. */
static void band_edges_are_found(void **state)
{
  const ribbon r = {.width = 5, .length = 3, .hopping = -1};
  subject s = {.n = 0};

  (void)state;
  electrons(&s, 1.05, 0.1, 60);
  check_formula(&r, 30, -0.5, 3.2, &s, modes_of_five);
}

static double heavy_site(int64_t x, int64_t y)
{
  return x == 3 ? 2 / 3.0 - 2 + 0 * (double)y : 0;
}

static double heavy_bond(int64_t x, int64_t y)
{
  return x == 2 || x == 3 ? 1 / sqrt(3) + 0 * (double)y : 1;
}

/* T = 1 / (1 + (r - 1)^2 w^2 / (4 - w^2)) of a mass of r = 3. */
static double heavy(double w)
{
  return w < 2 ? 1 / (1 + 4 * w * w / (4 - w * w)) : 0;
}

static void heat_is_resolved(void **state)
{
  const ribbon r = {.width = 1,
                    .length = 7,
                    .onsite = 2,
                    .hopping = -1,
                    .particle = QT_PHONONS,
                    .site = heavy_site,
                    .bond = heavy_bond};
  const double kelvin = 0.3 / QT_BOLTZMANN;
  subject s = {.n = 0};

  (void)state;
  s.integral[0] = (qt_integral){QT_PHONON_CURRENT, {{0, 1.4 * kelvin}, {0, 0.6 * kelvin}}};
  s.integral[1] = (qt_integral){QT_PHONON_CONDUCTANCE, {{0, kelvin}, {0, 0}}};
  s.system.particle = QT_PHONONS;
  check_formula(&r, 8, 0.013, 2.1, &s, heavy);
}

/* All spectra have the bits of a computation that is given the refined grid, in its order, also at
 * several wave vectors, whose weights decide where energies are added. */
static void spectra_are_those_of_the_grid(void **state)
{
  static const double k[][2] = {{0, 0}, {0, 0.13}, {0, 0.4}}, weight[] = {0.5, 0.3, 0.2};
  const ribbon r = {.width = 3, .length = 6, .hopping = -1, .periodic = -0.7, .disorder = 1.5};
  qt_transport again;
  subject s;
  qt_energies_end end;

  (void)state;
  begin(&r, 17, -1.11, 1.31, &s);
  electrons(&s, 0.2, 0.3, 90);
  s.spec.n_k = 3;
  s.spec.k = k;
  s.spec.threads = 2;
  s.spec.dos = s.spec.lead_dos = s.spec.bond_currents = true;
  assert_ok(refine(&s, 1e-3, 1000, weight, &end));
  assert_true(end == QT_ENERGIES_MET && s.n > 25);
  s.spec.energy = s.energy;
  s.spec.n_energies = s.n;
  assert_ok(qt_transport_create(&s.system, &s.spec, &again));
  const qt_transport *t = &s.transport;
  const size_t points = (size_t)(3 * s.n), n = (size_t)s.system.n;

  assert_memory_equal(t->transmission, again.transmission, points * sizeof(double));
  assert_memory_equal(t->dos, again.dos, points * n * sizeof(double));
  for (int c = 0; c < QT_LEADS; c++) {
    const size_t bonds = (size_t)qt_sparse_count(&t->bonds);

    assert_memory_equal(t->n_modes[c], again.n_modes[c], points * sizeof(int64_t));
    assert_memory_equal(t->lead_dos[c], again.lead_dos[c], points * n * sizeof(double));
    assert_memory_equal(t->bond_current[c], again.bond_current[c], points * bonds * sizeof(double));
  }
  assert_true(t->residual == again.residual && t->n_shifted == again.n_shifted);
  assert_near(t->flops / again.flops, 1, 1e-12);
  qt_transport_fini(&again);
  finish(&s);
}

/* Nothing is added where nothing is integrated, and no more than is allowed. */
static void additions_end(void **state)
{
  const ribbon r = {.width = 1, .length = 7, .hopping = -1, .bond = weak};
  subject s;
  qt_energies_end end;

  (void)state;
  begin(&r, 41, -1.013, 0.987, &s); /* no electrons are at 0 K at these energies */
  electrons(&s, 30, 0.1, 0);
  assert_ok(refine(&s, 1e-3, 1000, whole, &end));
  assert_true(end == QT_ENERGIES_MET && s.n == 41);
  finish(&s);
  begin(&r, 41, 2.1, 3, &s); /* above the band */
  electrons(&s, 2.5, 0.1, 300);
  assert_ok(refine(&s, 1e-3, 1000, whole, &end));
  assert_true(end == QT_ENERGIES_MET && s.n <= 81);
  finish(&s);
  begin(&r, 41, -1.013, 0.987, &s);
  electrons(&s, 0.013, 0.05, 30);
  assert_ok(refine(&s, 1e-6, 60, whole, &end));
  assert_true(end == QT_ENERGIES_MAX_POINTS && s.n <= 60 && s.n == s.transport.n_energies);
  finish(&s);
}

/* Intervals too narrow to be halved are no reason to take the tolerance for met: those of a grid
 * that cannot be refined at all, those about a resonance that are left. */
static void narrow_intervals_are_counted(void **state)
{
  static const struct {
    double min_width, tolerance;
    qt_energies_end end;
  } c[] = {{0.05, 1e-3, QT_ENERGIES_MIN_WIDTH},  {0.02, 1e-3, QT_ENERGIES_MIN_WIDTH},
           {0.004, 1e-3, QT_ENERGIES_MIN_WIDTH}, {1e-7, 1e-3, QT_ENERGIES_MET},
           {2e-6, 1e-3, QT_ENERGIES_MET},        {0.05, 1, QT_ENERGIES_MIN_WIDTH},
           {1e-4, 0.1, QT_ENERGIES_MET}};
  const ribbon r = {.width = 1, .length = 7, .hopping = -1, .bond = weak};
  qt_energies_end end;
  subject s;

  (void)state;
  for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
    begin(&r, 41, -1.013, 0.987, &s);
    electrons(&s, 0.013, 0.05, 30);
    assert_ok(refine_to(&s, c[i].min_width, c[i].tolerance, 4000, whole, &end));
    assert_int_equal(end, c[i].end);
    assert_true(s.n == 41 || c[i].min_width < 0.025);
    for (int64_t j = 1; j < s.n; j++) {
      assert_true(s.energy[j] - s.energy[j - 1] > 0.999 * fmin(c[i].min_width, 0.05));
    }
    finish(&s);
  }
  begin(&r, 41, -1.013, 0.987, &s); /* where no electrons are, nothing depends on them */
  electrons(&s, 30, 0.1, 0);
  assert_ok(refine_to(&s, 1, 1e-3, 1000, whole, &end));
  assert_true(end == QT_ENERGIES_MET && s.n == 41);
  finish(&s);
}

/* At the shift of energies that is usual, 1e-6 eV, steps of the transmission in the middle of the
 * window are resolved to usual tolerances, above a band edge and on one, cold and warm. */
static void steps_are_resolved_at_the_usual_shift(void **state)
{
  const ribbon r = {.width = 5, .length = 3, .hopping = -1};
  qt_energies_end end;
  subject s;

  (void)state;
  for (int i = 0; i < 8; i++) {
    begin(&r, 30, -0.5, 3.2, &s);
    electrons(&s, i % 2 == 0 ? 1 : 1.01, i % 4 < 2 ? 0.05 : 1e-3, i < 4 ? 30 : 300);
    assert_ok(refine_to(&s, 2e-6, 1e-3, 10000, whole, &end));
    assert_int_equal(end, QT_ENERGIES_MET);
    finish(&s);
  }
}

/* What was computed before energies are added is resumed where the save says that more follows. */
static void the_first_grid_is_saved(void **state)
{
  const ribbon r = {.width = 2, .length = 5, .hopping = -1, .disorder = 1};
  char dir[256];
  qt_transport_save save = {.dir = dir, .keep = 1, .format = WEIR_CHECKPOINT_RAW};
  int64_t newest;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  for (int whole_too = 0; whole_too < 2; whole_too++) {
    qt_transport again;
    subject s;

    begin(&r, 9, -1, 1, &s);
    save.whole = whole_too == 1;
    save.resume = false;
    s.spec.save = &save;
    assert_ok(qt_transport_create(&s.system, &s.spec, &s.transport));
    assert_ok(weir_checkpoint_newest(dir, &newest));
    assert_int_equal(newest, whole_too ? 9 : -1);
    save.resume = true;
    assert_ok(qt_transport_create(&s.system, &s.spec, &again));
    assert_memory_equal(s.transport.transmission, again.transmission, 9 * sizeof(double));
    qt_transport_fini(&again);
    finish(&s);
  }
  weir_check_rmdir(dir);
}

/* A plan makes do without memory for its own reports. */
static void missing_memory_is_reported(void **state)
{
  const ribbon r = {.width = 1, .length = 7, .hopping = -1, .bond = weak};
  int64_t failures = 0;
  qt_energies_end end;
  bool hit = true;
  subject s;

  (void)state;
  for (int64_t k = 1; hit; k += 7) {
    const int64_t allocated = weir_alloc_bytes();

    begin(&r, 9, -0.4, 0.41, &s);
    electrons(&s, 0.013, 0.05, 30);
    s.spec.lead_dos = true;
    weir_alloc_fail_after(k);
    const weir_status status = refine(&s, 0.3, 1000, whole, &end);

    hit = weir_alloc_count() >= k;
    weir_alloc_fail_after(0);
    assert_true(status == WEIR_OK || (hit && status == WEIR_ERR_MEMORY));
    failures += status != WEIR_OK;
    finish(&s);
    assert_int_equal(weir_alloc_bytes(), allocated);
  }
  assert_true(failures > 40);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(resonances_are_resolved),
      cmocka_unit_test(band_edges_are_found),
      cmocka_unit_test(heat_is_resolved),
      cmocka_unit_test(spectra_are_those_of_the_grid),
      cmocka_unit_test(additions_end),
      cmocka_unit_test(narrow_intervals_are_counted),
      cmocka_unit_test(steps_are_resolved_at_the_usual_shift),
      cmocka_unit_test(the_first_grid_is_saved),
      cmocka_unit_test(missing_memory_is_reported),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
