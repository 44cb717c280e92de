/* scf_petsc_test.c - self-consistent potentials of chains: neutrality, flat bands, a transistor. */
#include "model/electrostatics/scf.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "model/device.h"
#include "model/units.h"

static const double origin[1][2] = {{0, 0}}, one = 1;
static const weir_string_list no_options = {NULL, 0};

/* A chain with the mass of 0.19 electrons: t = hbar^2 / (2 m a^2), a = 3 Angstrom; band from 0. */
static void make_chain(int64_t sites, double impurity, qt_system *s)
{
  const qt_device *device = qt_device_find("chain");
  char text[240];
  void *opts = NULL;
  weir_config *config = NULL;
  const double t = 3.80998211 / 0.19 / 9;

  (void)snprintf(
      text, sizeof text,
      "{sites: %lld, onsite: %.12g, hopping: %.12g, spacing: 3, impurity: %g, impurity_site: "
      "%lld}",
      (long long)sites, 2 * t, -t, impurity, (long long)sites / 2);
  assert_ok(weir_alloc(1, device->opts_size, &opts));
  assert_ok(weir_opts_parse(device->opts, device->opts_size, text, opts, &config));
  *s = (qt_system){.n = 0};
  assert_ok(device->build(opts, 1, s));
  weir_config_destroy(&config);
  weir_free(&opts);
}

/* What a text of options says, and a spec of it. */
typedef struct set_up {
  qt_system s;
  qt_electrostatics_opts opts;
  weir_config *config;
  qt_scf_spec spec;
  qt_scf scf;
} set_up;

static weir_status open_device(double kelvin, double impurity, int64_t sites, const char *text,
                               set_up *out)
{
  memset(out, 0, sizeof *out);
  make_chain(sites, impurity, &out->s);
  assert_ok(
      weir_opts_parse(qt_electrostatics_options, sizeof out->opts, text, &out->opts, &out->config));
  out->spec = (qt_scf_spec){.opts = &out->opts,
                            .petsc = &no_options,
                            .n_k = 1,
                            .k = origin,
                            .weight = &one,
                            .temperature = kelvin,
                            .shift = 1e-6,
                            .threads = 1};
  weir_opts_default(qt_lead_options, sizeof out->spec.lead, &out->spec.lead);
  return qt_scf_create(&out->s, &out->spec, &out->scf);
}

static weir_status open_with(double impurity, int64_t sites, const char *text, set_up *out)
{
  return open_device(300, impurity, sites, text, out);
}

static weir_status open(int64_t sites, const char *text, set_up *out)
{
  return open_with(0, sites, text, out);
}

static void close(set_up *p)
{
  qt_scf_fini(&p->scf);
  qt_system_fini(&p->s);
  weir_config_destroy(&p->config);
}

#define CHAIN "mid_gap: -1, semiconductor: {margin: 4, permittivity: 10}, oxide: {thickness: 6}, "

/* Doping all along, gates at flat band: nothing bends, and every atom is neutral. */
static void a_uniform_wire_stays_flat(void **state)
{
  set_up p;
  qt_bias b;

  assert_ok(
      open(24, "{" CHAIN "spacing: 3, doping: [{from: 0, to: 72, concentration: 1e20}]}", &p));
  assert_ok(qt_scf_solve(&p.scf, 0, 0, NULL, &b));
  assert_near(b.donors, 24 * 1e20 * 1e-24 * 3 * 8 * 8, 1e-9);
  assert_near(b.electrons / b.donors, 1, 1e-3);
  for (int64_t a = 0; a < 24; a++) {
    assert_near(b.atom_u[a], 0, 2e-3);
    assert_near(b.atom_electrons[a] / p.scf.donors[a], 1, 1e-3);
  }
  assert_near(b.current, 0, 0);
  assert_near(b.gate_charge, 0, 0); /* there is none */
  qt_bias_fini(&b);
  close(&p);
}

/* Without doping and bias, mu far in the gap: no charge, and U is that of the gate all along. */
static void an_undoped_wire_follows_its_gate(void **state)
{
  set_up p;
  qt_bias b;

  assert_ok(open(16,
                 "{" CHAIN "spacing: 3, fermi_level: given, gates: [{from: 0, to: 48, voltage: "
                 "0.2, flat_band: 0.05}]}",
                 &p));
  p.scf.mu -= 1; /* contact.mu */
  assert_ok(qt_scf_solve(&p.scf, 0, 0.1, NULL, &b));
  for (int64_t a = 0; a < 16; a++) {
    assert_near(b.atom_u[a], -0.25, 1e-6);
    assert_near(b.atom_electrons[a], 0, 1e-6);
  }
  qt_bias_fini(&b);
  close(&p);
}

/* An impurity of energy u binds a state at 2 t - sqrt(4 t^2 + u^2) below the band, which begins at
 * 0; a repulsive one binds it above the band. */
static void a_bound_state_in_the_gap_is_refused_by_atom(void **state)
{
  static const struct {
    double impurity;
    bool bound;
  } cases[] = {{0, false}, {-2, true}, {-3, true}, {2, false}, {0.5, false}};
  char atom[64];

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    set_up p;

    assert_ok(open_with(cases[i].impurity, 24,
                        "{" CHAIN "spacing: 3, doping: [{from: 0, to: 72, concentration: 1e20}]}",
                        &p));
    const weir_status status = qt_scf_check_gap(&p.scf);

    assert_int_equal(status, cases[i].bound ? WEIR_ERR_NUMERIC : WEIR_OK);
    if (cases[i].bound) {
      (void)snprintf(atom, sizeof atom, "most of them at atom 12 (X, block 12");
      assert_non_null(strstr(weir_last_message(), atom));
      weir_clear_failure();
    }
    close(&p);
  }
}

static const char transistor[] =
    "{" CHAIN "spacing: 3, tolerance: 1e-4, doping: [{from: 0, to: 96, concentration: 3e20}, "
    "{from: 144, to: 240, concentration: 3e20}], gates: [{from: 96, to: 144}]}";

/* n-i-n with a gate around the middle: charge is balanced, the barrier follows the gate below
 * threshold, currents are ordered, and a bias found from its neighbour is that found alone. */
static void a_transistor_switches(void **state)
{
  enum { SITES = 80 };
  const double gate[] = {-0.4, -0.2, 0.2};
  qt_bias b[3], alone;
  set_up p;

  assert_ok(open(SITES, transistor, &p));
  for (int i = 0; i < 3; i++) {
    assert_ok(qt_scf_solve(&p.scf, 0.1, gate[i], i > 0 ? &b[i - 1] : NULL, &b[i]));
    assert_near(b[i].gate_charge, b[i].electrons - b[i].donors, 5e-3);
    assert_true(b[i].n_steps < 40 && b[i].step[b[i].n_steps - 1].change < 1e-4);
    /* ends are neutral and flat; where no electrons come through, the right one is lower by the
     * drain voltage */
    assert_near(b[i].atom_electrons[0] / p.scf.donors[0], 1, 5e-2);
    assert_true(b[i].end_field < 5e-3);
    assert_near(b[i].atom_u[0], 0, i < 2 ? 5e-3 : 0.06);
    assert_near(b[i].atom_u[SITES - 1], -0.1, i < 2 ? 5e-3 : 0.06);
  }
  /* off: the gate moves the barrier one to one, so that the current changes by kT ln 10 / e */
  const double decades = log10(b[1].current / b[0].current);
  const double ideal = 0.2 / (QT_BOLTZMANN * 300 * log(10));

  assert_true(decades > 0.8 * ideal && decades <= ideal);
  assert_true(b[2].current > b[1].current && b[2].current < 2 * QT_CONDUCTANCE * 0.1);
  assert_ok(qt_scf_solve(&p.scf, 0.1, gate[2], NULL, &alone));
  for (int64_t a = 0; a < SITES; a++) {
    assert_near(alone.atom_u[a], b[2].atom_u[a], 1e-3);
  }
  assert_near(alone.current / b[2].current, 1, 5e-3);
  qt_bias_fini(&alone);
  for (int i = 0; i < 3; i++) {
    qt_bias_fini(&b[i]);
  }
  close(&p);
}

/* Gates so high that electrons are bound below the bands of both leads. */
static void a_deep_channel_converges(void **state)
{
  const double gate[] = {0, 0.2, 0.5};
  qt_bias b[3];
  set_up p;

  assert_ok(open(40,
                 "{" CHAIN
                 "spacing: 3, doping: [{from: 0, to: 48, concentration: 3e20}, {from: 72, "
                 "to: 120, concentration: 3e20}], gates: [{from: 48, to: 72}]}",
                 &p));
  for (int i = 0; i < 3; i++) {
    assert_ok(qt_scf_solve(&p.scf, 0.1, gate[i], i > 0 ? &b[i - 1] : NULL, &b[i]));
    assert_near(b[i].gate_charge, b[i].electrons - b[i].donors, 2e-2);
  }
  assert_true(b[2].electrons > b[1].electrons && b[1].electrons > b[0].electrons);
  for (int i = 0; i < 3; i++) {
    qt_bias_fini(&b[i]);
  }
  close(&p);
}

static void what_does_not_converge_says_how_it_went(void **state)
{
  set_up p;
  qt_bias b;

  assert_ok(open(80, transistor, &p));
  p.opts.max_iterations = 2;
  p.opts.tolerance = 1e-9;
  assert_int_equal(qt_scf_solve(&p.scf, 0.2, 0, NULL, &b), WEIR_ERR_NUMERIC);
  assert_non_null(strstr(weir_last_message(), "after 2 iterations"));
  assert_non_null(strstr(weir_last_message(), "electrostatics.damping"));
  assert_null(b.u);
  weir_clear_failure();
  close(&p);
}

static void wrong_geometry_is_refused_by_key(void **state)
{
  static const char *const text[][2] = {
      {"{" CHAIN "doping: [{from: 0, to: 72, concentration: 1e20}], gates: [{from: 90, to: 95}]}",
       "electrostatics.gates[0]"},
      {"{mid_gap: 1, doping: [{from: 0, to: 72, concentration: 1e20}]}", "electrostatics.mid_gap"},
      {"{" CHAIN "doping: [{from: 10, to: 72, concentration: 1e20}]}", "electrostatics.doping"},
      {"{" CHAIN "doping: [{from: 0, to: 72, concentration: -1e20}]}", "electrostatics.doping"},
  };

  for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
    set_up p;

    assert_int_equal(open(24, text[i][0], &p), WEIR_ERR_CONFIG);
    assert_non_null(strstr(weir_last_message(), text[i][1]));
    weir_clear_failure();
    close(&p);
  }
}

/* Cold leads, whose Fermi level needs bands at more wave vectors: what is predicted holds them
 * while they are doubled as often as they may be. The first test, as peaks are those of the
 * process. */
static void bands_are_predicted_as_often_as_they_are_doubled(void **state)
{
  enum { MAX_POINTS = 1 << 16 };
  const double of_point = 2 * sizeof(double); /* both leads, of one band */
  double kept, peak, few;
  set_up p;

  assert_ok(open_device(3, 0, 24,
                        "{" CHAIN "spacing: 3, max_band_points: 65536, fermi_tolerance: 2e-9, "
                        "doping: [{from: 0, to: 72, concentration: 1e20}]}",
                        &p));
  const int64_t points = p.scf.bands[QT_LEFT].points, all = weir_alloc_bytes();

  assert_true(points > 64 && p.scf.bands[QT_RIGHT].points == points);
  qt_scf_fini(&p.scf);
  const int64_t ready = all - weir_alloc_bytes();

  p.opts.max_band_points = points;
  assert_ok(qt_scf_bytes(&p.s, &p.spec, 0, 0, &kept, &peak));
  assert_near(kept / (double)ready, 1, 0.02);
  p.opts.max_band_points = 2 * points - 1;
  assert_ok(qt_scf_bytes(&p.s, &p.spec, 0, 0, &few, &peak));
  assert_near(few, kept, 0);
  p.opts.max_band_points = MAX_POINTS;
  assert_ok(qt_scf_bytes(&p.s, &p.spec, 0, 0, &few, &peak));
  assert_near(few - kept, of_point * (double)(MAX_POINTS - points), 0.5);
  const int64_t before = weir_alloc_bytes();

  p.opts.fermi_tolerance = -1; /* the left lead's are doubled until no more are allowed */
  assert_int_equal(qt_scf_create(&p.s, &p.spec, &p.scf), WEIR_ERR_NUMERIC);
  const double allocated = (double)(weir_alloc_peak() - before),
               right = of_point / 2 * (MAX_POINTS - 64);

  assert_near(peak / (allocated + right), 1, 0.02);
  weir_clear_failure();
  p.opts.fermi_level = QT_FERMI_GIVEN; /* nothing is doubled */
  assert_ok(qt_scf_bytes(&p.s, &p.spec, 0, 0, &few, &peak));
  assert_near(kept - few, of_point * (double)(points - 64), 0.5);
  p.opts.fermi_level = QT_FERMI_DOPING;
  p.spec.budget = (double)before + of_point * 1.4 * MAX_POINTS;
  assert_int_equal(qt_scf_bytes(&p.s, &p.spec, 0, 0, &kept, &peak), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "electrostatics.max_band_points"));
  weir_clear_failure();
  close(&p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bands_are_predicted_as_often_as_they_are_doubled),
      cmocka_unit_test(a_uniform_wire_stays_flat),
      cmocka_unit_test(an_undoped_wire_follows_its_gate),
      cmocka_unit_test(a_bound_state_in_the_gap_is_refused_by_atom),
      cmocka_unit_test(a_transistor_switches),
      cmocka_unit_test(a_deep_channel_converges),
      cmocka_unit_test(what_does_not_converge_says_how_it_went),
      cmocka_unit_test(wrong_geometry_is_refused_by_key),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
