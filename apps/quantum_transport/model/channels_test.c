/* channels_test.c - perfect devices transmit as many electrons or phonons as their bands have
 * channels; the conductances that follow in closed form. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "model/device.h"
#include "model/landauer.h"
#include "model/ribbon.h"
#include "model/silicon/silicon.h"
#include "support/quantum_transport/transmission_test.h"
#include "model/units.h"
#include "ops/weir_dense.h"

enum { MAX_ORBITALS = 60 };

static void *defaults(const char *kind, size_t size, void *opts)
{
  const qt_device *d = qt_device_find(kind);

  assert_non_null(d);
  assert_int_equal(d->opts_size, size);
  weir_opts_default(d->opts, size, opts);
  return opts;
}

static void build(const char *kind, const void *opts, qt_system *s)
{
  *s = (qt_system){.n = 0};
  assert_ok(qt_device_find(kind)->build(opts, 5, s));
}

/* Energies of the bands of a lead's wire at the Bloch phase kx, transverse wave vector k. */
static void bands(const qt_lead *lead, double kx, const double k[2], double *value)
{
  static weir_c128 h[MAX_ORBITALS * MAX_ORBITALS], next[MAX_ORBITALS * MAX_ORBITALS];
  static weir_c128 v[MAX_ORBITALS * MAX_ORBITALS];
  const int64_t n = lead->n;

  assert_true(n <= MAX_ORBITALS);
  memset(h, 0, sizeof h);
  memset(next, 0, sizeof next);
  qt_bloch_add(&lead->cell, k, (weir_c128){1, 0}, h);
  qt_bloch_add(&lead->next, k, (weir_c128){cos(kx), sin(kx)}, next);
  for (int64_t i = 0; i < n * n; i++) {
    const weir_c128 x = next[i], y = next[i % n * n + i / n];

    h[i].re += x.re + y.re;
    h[i].im += x.im - y.im;
  }
  weir_dense_hermitian(h, n, value, v);
}

/* Bands that cross an energy upwards as kx goes once round, which is counted in `steps` steps: the
 * waves that move to the right. */
static void count_channels(const qt_lead *lead, const double k[2], int steps, int64_t n,
                           const double *energy, int64_t *channels)
{
  int64_t below[2][8] = {{0}};
  double value[MAX_ORBITALS];

  assert_true(n <= 8);
  memset(channels, 0, (size_t)n * sizeof *channels);
  for (int step = 0; step <= steps; step++) {
    bands(lead, 2 * M_PI * (step + 0.31) / steps, k, value);
    for (int64_t i = 0; i < n; i++) {
      int64_t *now = &below[step % 2][i];
      const int64_t before = below[1 - step % 2][i];

      *now = 0;
      for (int64_t b = 0; b < lead->n; b++) {
        *now += value[b] < energy[i];
      }
      channels[i] += step > 0 && *now < before ? before - *now : 0;
    }
  }
}

/* T of the device by modes (1e-10) and by decimation (1e-4) is the number of channels. */
static void check_channels(const qt_system *s, const double k[2], int64_t n, const double *energy,
                           const int64_t *channels)
{
  for (int method = 0; method < 2; method++) {
    qt_transport_spec spec =
        ribbon_spec(method == 0 ? QT_LEAD_MODES : QT_LEAD_DECIMATION, n, energy);
    qt_transport out;

    spec.k = (const double(*)[2])k;
    assert_ok(qt_transport_create(s, &spec, &out));
    assert_int_equal(out.n_shifted, 0);
    for (int64_t i = 0; i < n; i++) {
      assert_near(out.transmission[i], (double)channels[i], method == 0 ? 1e-10 : 1e-4);
      assert_int_equal(out.n_modes[QT_LEFT][i], channels[i]);
    }
    qt_transport_fini(&out);
  }
}

static int64_t sum(int64_t n, const int64_t *x)
{
  int64_t all = 0;

  for (int64_t i = 0; i < n; i++) {
    all += x[i];
  }
  return all;
}

/* c_r = cos(r pi / (N + 1)): channel r is open where |E / t| lies between sqrt(1 + 4 c_r^2) and
 * |1 + 2 c_r|; the gap is 2 |t| min |1 + 2 c_r|. */
static void armchair_ribbons_have_the_channels_of_the_closed_form(void **state)
{
  static const double none[2] = {0, 0}, gaps[] = {0.49396, 0.46927, 0};

  for (int64_t width = 6; width <= 8; width++) {
    qt_ribbon_opts o;
    qt_system s;
    double gap = INFINITY;

    defaults("agnr", sizeof o, &o);
    o.width = width;
    o.length = 4;
    build("agnr", &o, &s);
    for (double from = -3.1; from < 3; from += 1.03) {
      double energy[5];
      int64_t channels[5] = {0};

      for (int i = 0; i < 5; i++) {
        energy[i] = (from + 0.2071 * i) * o.hopping;
        for (int64_t r = 1; r <= width; r++) {
          const double c = cos((double)r * M_PI / (double)(width + 1)), e = energy[i] / o.hopping;
          const double one = sqrt(1 + 4 * c * c), other = fabs(1 + 2 * c);

          assert_true(fabs(fabs(e) - one) > 1e-4 && fabs(fabs(e) - other) > 1e-4);
          channels[i] += fabs(e) > fmin(one, other) && fabs(e) < fmax(one, other);
          gap = fmin(gap, 2 * other);
        }
      }
      check_channels(&s, none, 5, energy, channels);
    }
    assert_true(fabs(gap - gaps[width - 6]) < 1e-5);
    qt_system_fini(&s);
  }
}

static void other_wires_have_the_channels_of_their_bands(void **state)
{
  static const double none[2] = {0, 0}, across[2] = {0, 0.29},
                      energy[] = {-2.61, -1.37, 0.23, 0.91};
  static const double silicon[] = {-3.6, -2.4, 5.6, 9.6},
                      thermal[] = {0.0013, 0.0093, 0.0133, 0.0563};
  const ribbon r = {.width = 4, .length = 4, .hopping = -1, .periodic = -0.6};
  int64_t channels[4];
  double squares[4];
  qt_ribbon_opts o;
  qt_silicon_opts wire;
  qt_system s;

  ribbon_create(&r, &s);
  count_channels(&s.lead[QT_LEFT], across, 400, 4, energy, channels);
  check_channels(&s, across, 4, energy, channels);
  qt_system_fini(&s);
  defaults("zgnr", sizeof o, &o);
  o.width = 4;
  o.length = 4;
  o.flux = 0.03;
  build("zgnr", &o, &s);
  count_channels(&s.lead[QT_LEFT], none, 400, 4, energy, channels);
  assert_true(sum(4, channels) >= 4);
  check_channels(&s, none, 4, energy, channels);
  qt_system_fini(&s);
  for (int particle = 0; particle < 2; particle++) {
    defaults("silicon_wire", sizeof wire, &wire);
    wire.particle = particle;
    wire.length = 2;
    wire.height = wire.width = 1;
    build("silicon_wire", &wire, &s);
    for (int i = 0; i < 4; i++) {
      squares[i] = thermal[i] * thermal[i];
    }
    count_channels(&s.lead[QT_LEFT], none, 120, 4, particle == QT_PHONONS ? squares : silicon,
                   channels);
    assert_true(sum(4, channels) >= 5);
    check_channels(&s, none, 4, particle == QT_PHONONS ? thermal : silicon, channels);
    qt_system_fini(&s);
  }
}

/* G = (2 e^2 / h) integral T (-df/dE) dE of the chain, T = 1 between -2 |t| and 2 |t|: the
 * difference of the occupations of its edges. Energies, mu and H shifted alike change nothing. */
static void chains_conduct_between_their_band_edges(void **state)
{
  enum { N = 8 };
  const double t = 0.03, edge = 1e-6 * t, mu = 0.011;
  const double relative[N] = {-2 * t - 1, -2 * t - edge, -2 * t + edge, -0.7 * t,
                              0.3 * t,    2 * t - edge,  2 * t + edge,  2 * t + 1};
  double energy[N], first[3] = {0};

  for (int shifted = 0; shifted < 2; shifted++) {
    const double shift = shifted ? 0.5 : 0;
    const ribbon r = {.width = 1, .length = 4, .onsite = shift, .hopping = -t};
    const qt_transport_spec spec = ribbon_spec(QT_LEAD_MODES, N, energy);
    const qt_reservoir lead[] = {{mu + shift + 0.02, 310}, {mu + shift - 0.02, 290}};
    qt_transport out;

    for (int i = 0; i < N; i++) {
      energy[i] = relative[i] + shift;
    }
    assert_ok(ribbon_transport(&r, &spec, &out));
    for (double kelvin = 30; kelvin < 2000; kelvin *= 3) {
      const double g = qt_electron_conductance(N, energy, out.transmission, mu + shift, kelvin, 2);
      const double expected = qt_fermi(-2 * t, mu, kelvin) - qt_fermi(2 * t, mu, kelvin);

      assert_near(g / 7.748091730e-5, expected, 1e-6);
    }
    const double now[3] = {
        qt_electron_current(N, energy, out.transmission, lead, 2) / QT_CONDUCTANCE,
        qt_electron_conductance(N, energy, out.transmission, mu + shift, 300, 2) / QT_CONDUCTANCE,
        out.transmission[3]};

    for (int i = 0; i < 3; i++) {
      first[i] = shifted ? first[i] : now[i];
      assert_near(now[i], first[i], 1e-12);
    }
    qt_transport_fini(&out);
  }
}

static void leads_alike_drive_no_current(void **state)
{
  const double energy[] = {0.01, 0.02, 0.03, 0.5}, t[] = {1, 0.3, 2.2, 1};

  for (double kelvin = 0; kelvin < 1000; kelvin += 150) {
    const qt_reservoir lead[] = {{0.1, kelvin}, {0.1, kelvin}};

    assert_true(qt_electron_current(4, energy, t, lead, 2) == 0);
    assert_true(qt_electron_energy_current(4, energy, t, lead, 2) == 0);
    assert_true(qt_phonon_current(4, energy, t, lead) == 0);
  }
}

/* The four acoustic branches of a wire of 2 x 2 cells carry 4 pi^2 k_B^2 T / (3 h) where no other
 * is reached. */
static void cold_wires_conduct_four_quanta_of_heat(void **state)
{
  enum { N = 9 };
  const double highest = 0.0011; /* hbar omega, eV */
  double energy[N];
  qt_silicon_opts o;
  qt_system s;

  for (int i = 0; i < N; i++) {
    energy[i] = highest * (i + 0.1) / (N - 0.9);
  }
  for (int model = 0; model < 2; model++) {
    qt_transport_spec spec = ribbon_spec(QT_LEAD_MODES, N, energy);
    qt_transport out;

    defaults("silicon_wire", sizeof o, &o);
    o.particle = QT_PHONONS;
    o.length = 3;
    o.phonons.model = model;
    build("silicon_wire", &o, &s);
    assert_ok(qt_transport_create(&s, &spec, &out));
    for (int i = 0; i < N; i++) {
      assert_near(out.transmission[i], 4, 1e-8);
    }
    for (double kelvin = 0.1; kelvin < 0.7; kelvin *= 2) { /* 20 k_B T is 1.03 meV at 0.6 K */
      const double g = qt_phonon_conductance(N, energy, out.transmission, kelvin);

      assert_near(g / (4 * 9.4643e-13 * kelvin), 1, 1e-5);
    }
    qt_transport_fini(&out);
    qt_system_fini(&s);
  }
}

/* Peak of memory by decimation, also where it fails at some energies and modes take over, as near
 * band edges of phonons. */
static void memory_of_silicon_is_predicted(void **state)
{
  enum { N = 15 };
  double energy[N];

  for (int particle = 0; particle < 2; particle++) {
    qt_transport_spec spec = ribbon_spec(QT_LEAD_DECIMATION, N, energy);
    qt_transport_size size;
    qt_transport out;
    qt_silicon_opts o;
    qt_system s;

    for (int i = 0; i < N; i++) {
      energy[i] = particle == QT_PHONONS ? 0.008 + 0.0005 * i : 2.35 + 0.05 * i;
    }
    defaults("silicon_wire", sizeof o, &o);
    o.particle = particle;
    o.length = 4;
    o.height = o.width = 1 + particle;
    build("silicon_wire", &o, &s);
    spec.threads = 1;
    spec.lead_dos = true;
    const int64_t before = weir_alloc_bytes();

    assert_ok(qt_transport_size_of(&s, &spec, &size));
    assert_ok(qt_transport_create(&s, &spec, &out));
    const double peak = (double)(weir_alloc_peak() - before);

    print_message("%.0f bytes are predicted, %.0f were allocated\n", size.peak, peak);
    assert_true(fabs(size.peak - peak) <= 0.05 * peak);
    qt_transport_fini(&out);
    qt_system_fini(&s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_of_silicon_is_predicted), /* before what takes more */
      cmocka_unit_test(armchair_ribbons_have_the_channels_of_the_closed_form),
      cmocka_unit_test(other_wires_have_the_channels_of_their_bands),
      cmocka_unit_test(chains_conduct_between_their_band_edges),
      cmocka_unit_test(leads_alike_drive_no_current),
      cmocka_unit_test(cold_wires_conduct_four_quanta_of_heat),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
