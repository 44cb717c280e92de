/* ribbon_test.c - bands of leads in closed form, gauge invariance, energies of sites. */
#include "model/ribbon.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "model/device.h"
#include "model/system_check.h"
#include "ops/weir_dense.h"

enum { CAPACITY = 48 };

static const char *const kinds[] = {"square", "agnr", "zgnr"};

static qt_ribbon_opts defaults(const char *kind)
{
  const qt_device *d = qt_device_find(kind);
  qt_ribbon_opts o;

  assert_non_null(d);
  weir_opts_default(d->opts, sizeof o, &o);
  return o;
}

static void build(const char *kind, const qt_ribbon_opts *o, uint64_t seed, qt_system *s)
{
  *s = (qt_system){.n = 0};
  assert_ok(qt_device_find(kind)->build(o, seed, s));
}

static int64_t eigenvalues(weir_c128 *a, int64_t n, double *value)
{
  weir_c128 v[CAPACITY * CAPACITY];

  assert_true(n <= CAPACITY);
  weir_dense_hermitian(a, n, value, v);
  return n;
}

/* Eigenvalues of cell + next exp(i k) + its adjoint. */
static int64_t bands(const qt_lead *lead, double k, double *value)
{
  const int64_t n = lead->n;
  weir_c128 h[CAPACITY * CAPACITY] = {{0, 0}}, next[CAPACITY * CAPACITY] = {{0, 0}};

  assert_true(n <= CAPACITY);
  qt_bloch_add(&lead->cell, (const double[2]){0, 0}, (weir_c128){1, 0}, h);
  qt_bloch_add(&lead->next, (const double[2]){0, 0}, (weir_c128){cos(k), sin(k)}, next);
  for (int64_t i = 0; i < n * n; i++) {
    const weir_c128 x = next[i], y = next[i % n * n + i / n];

    h[i].re += x.re + y.re;
    h[i].im += x.im - y.im;
  }
  return eigenvalues(h, n, value);
}

static void sort(double *value, int64_t n)
{
  for (int64_t i = 1; i < n; i++) {
    for (int64_t j = i; j > 0 && value[j] < value[j - 1]; j--) {
      const double x = value[j];

      value[j] = value[j - 1];
      value[j - 1] = x;
    }
  }
}

static void expect(double *actual, double *expected, int64_t n)
{
  sort(expected, n);
  for (int64_t i = 0; i < n; i++) {
    assert_near(actual[i], expected[i], 1e-11);
  }
}

static void square_leads_have_the_modes_of_a_hard_wall_box(void **state)
{
  qt_ribbon_opts o = defaults("square");
  double value[CAPACITY], expected[CAPACITY];
  qt_system s;

  o.onsite = 0.3;
  for (o.width = 1; o.width < 8; o.width += 2) {
    build("square", &o, 0, &s);
    for (double k = -3; k < 3; k += 0.7) {
      for (int64_t p = 0; p < o.width; p++) {
        expected[p] = o.onsite + 2 * o.hopping * cos(k) +
                      2 * o.hopping * cos((double)(p + 1) * M_PI / (double)(o.width + 1));
      }
      assert_int_equal(bands(&s.lead[QT_LEFT], k, value), o.width);
      expect(value, expected, o.width);
    }
    qt_system_fini(&s);
  }
}

/* E = +-t sqrt(1 + 4 c cos(k / 2) + 4 c^2), c = cos(r pi / (N + 1)), r = 1 ... N. */
static void armchair_leads_have_the_bands_and_gaps_of_the_closed_form(void **state)
{
  const double gap[] = {0.49396, 0.46927, 0};
  qt_ribbon_opts o = defaults("agnr");
  double value[CAPACITY], expected[CAPACITY];
  qt_system s;

  for (o.width = 6; o.width <= 8; o.width++) {
    build("agnr", &o, 0, &s);
    assert_near(s.lead[QT_RIGHT].length, 4.26, 1e-12);
    for (double k = 0; k < 6; k += 0.9) {
      for (int64_t r = 0; r < o.width; r++) {
        const double c = cos((double)(r + 1) * M_PI / (double)(o.width + 1));
        const double e = o.hopping * sqrt(1 + 4 * c * cos(k / 2) + 4 * c * c);

        expected[2 * r] = e;
        expected[2 * r + 1] = -e;
      }
      assert_int_equal(bands(&s.lead[QT_RIGHT], k, value), 2 * o.width);
      expect(value, expected, 2 * o.width);
    }
    (void)bands(&s.lead[QT_LEFT], 0, value);
    assert_near((value[o.width] - value[o.width - 1]) / -o.hopping, gap[o.width - 6], 1e-5);
    qt_system_fini(&s);
  }
}

/* A chain of 2 N sites across with alternating hopping 2 t cos(k / 2) and t; at k = pi the two end
 * sites are alone. */
static void zigzag_leads_have_the_bands_of_a_dimerised_chain(void **state)
{
  qt_ribbon_opts o = defaults("zgnr");
  double value[CAPACITY], expected[CAPACITY];
  qt_system s;

  for (o.width = 1; o.width < 7; o.width++) {
    const int64_t n = 2 * o.width;

    build("zgnr", &o, 0, &s);
    for (double k = 0; k < 6; k += 0.9) {
      weir_c128 h[CAPACITY * CAPACITY] = {{0, 0}};

      for (int64_t i = 0; i + 1 < n; i++) {
        const double t = i % 2 ? o.hopping : 2 * o.hopping * cos(k / 2);

        h[i * n + i + 1].re = h[(i + 1) * n + i].re = t;
      }
      (void)eigenvalues(h, n, expected);
      assert_int_equal(bands(&s.lead[QT_LEFT], k, value), n);
      expect(value, expected, n);
    }
    (void)bands(&s.lead[QT_LEFT], M_PI, value);
    for (int64_t i = 0; i < n; i++) {
      const int64_t half = o.width;

      assert_near(value[i], i < half - 1 ? o.hopping : i > half ? -o.hopping : 0, 1e-11);
    }
    qt_system_fini(&s);
  }
}

/* Eigenvalues of the device without leads. */
static void spectrum(const qt_system *s, double *value)
{
  weir_c128 h[CAPACITY * CAPACITY] = {{0, 0}};

  qt_bloch_add(&s->h, (const double[2]){0, 0}, (weir_c128){1, 0}, h);
  (void)eigenvalues(h, s->n, value);
}

/* The same device and flux in the gauge A = (0, x), from the positions of the sites alone. */
static void other_gauge(const qt_system *s, const qt_ribbon_opts *o, double area, double *value)
{
  weir_c128 h[CAPACITY * CAPACITY] = {{0, 0}};

  for (int64_t i = 0; i < s->n * s->n; i++) {
    const double *a = s->atom[i / s->n].position, *b = s->atom[i % s->n].position;

    if (fabs(hypot(a[0] - b[0], a[1] - b[1]) - o->bond) < 1e-6) {
      const double angle = M_PI * o->flux / area * (a[0] + b[0]) * (b[1] - a[1]);

      h[i] = (weir_c128){o->hopping * cos(angle), o->hopping * sin(angle)};
    }
  }
  (void)eigenvalues(h, s->n, value);
}

static double distance(const double *a, const double *b, int64_t n)
{
  double max = 0;

  for (int64_t i = 0; i < n; i++) {
    max = fmax(max, fabs(a[i] - b[i]));
  }
  return max;
}

static void flux_changes_spectra_alike_in_each_gauge(void **state)
{
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const double flux[] = {0, 0.13, 1.13, -0.13};
    double value[4][CAPACITY], expected[CAPACITY];
    qt_ribbon_opts o = defaults(kinds[i]);

    o.width = o.length = i == 0 ? 6 : 4;
    for (int k = 0; k < 4; k++) {
      const double area = i == 0 ? o.bond * o.bond : 1.5 * sqrt(3) * o.bond * o.bond;
      qt_system s;

      o.flux = flux[k];
      build(kinds[i], &o, 0, &s);
      spectrum(&s, value[k]);
      other_gauge(&s, &o, area, expected);
      assert_true(distance(value[k], expected, s.n) < 1e-11);
      assert_true(distance(value[1], value[k], s.n) < 1e-11 || k == 0);
      qt_system_fini(&s);
    }
    assert_true(distance(value[0], value[1], o.width * o.width) > 0.01);
  }
}

static void everything(const char *kind, qt_ribbon_opts *o, qt_barrier *barriers)
{
  *o = defaults(kind);
  o->width = 3;
  o->length = 5;
  o->onsite = 0.1;
  o->drop = -0.4;
  o->disorder = 0.2;
  o->flux = 0.21;
  barriers[0] = (qt_barrier){.first = 1, .last = 1, .height = 3};
  barriers[1] = (qt_barrier){.first = 1, .last = 4, .height = 5};
  o->barriers = (weir_struct_list){.items = barriers, .count = 2};
}

static void energies_of_sites_add_up(void **state)
{
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    qt_barrier barriers[2];
    qt_ribbon_opts o;
    qt_system s;

    everything(kinds[i], &o, barriers);
    build(kinds[i], &o, 7, &s);
    assert_ok(qt_system_check(&s, 0)); /* Hermitian to the bit */
    assert_int_equal(s.n_blocks, 5);
    for (int64_t r = 0; r < s.n; r++) {
      const int64_t cell = r / s.lead[0].n;
      const double step = (cell == 1 ? 8 : cell > 1 ? 5 : 0);
      const double x = s.atom[r].position[0] / s.cell[0][0];
      const double random = 0.2 * (weir_random_uniform(7, 1, 0, (uint64_t)r) - 0.5);

      assert_true(x >= 0 && x < 1);
      assert_near(qt_sparse_get(&s.h.matrix[0], r, r).re, 0.1 - 0.4 * x + step + random, 1e-12);
    }
    assert_near(qt_sparse_get(&s.lead[QT_LEFT].cell.matrix[0], 2, 2).re, 0.1, 1e-15);
    assert_near(qt_sparse_get(&s.lead[QT_RIGHT].cell.matrix[0], 2, 2).re, -0.3, 1e-15);
    qt_system_fini(&s);
  }
}

static void seeds_decide_the_disorder_alone(void **state)
{
  qt_ribbon_opts o = defaults("zgnr");
  qt_system a, b, c;

  o.disorder = 1;
  build("zgnr", &o, 3, &a);
  o.length++;
  build("zgnr", &o, 3, &b);
  build("zgnr", &o, 4, &c);
  int64_t same = 0;

  for (int64_t r = 0; r < a.n; r++) {
    const double x = qt_sparse_get(&a.h.matrix[0], r, r).re;

    assert_true(x == qt_sparse_get(&b.h.matrix[0], r, r).re);
    assert_true(fabs(x) <= 0.5);
    same += x == qt_sparse_get(&c.h.matrix[0], r, r).re;
  }
  assert_int_equal(same, 0);
  qt_system_fini(&a);
  qt_system_fini(&b);
  qt_system_fini(&c);
}

static void bad_ribbons_are_refused_by_key(void **state)
{
  qt_barrier barriers[] = {{.first = 0, .last = 1}, {.first = 3, .last = 20}};
  qt_ribbon_opts o = defaults("agnr");
  qt_system s = {.n = 0};

  o.barriers = (weir_struct_list){.items = barriers, .count = 2};
  assert_int_equal(qt_device_find("agnr")->build(&o, 0, &s), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "device.agnr.barriers[1]: cells 3 to 20 of"));
  barriers[1] = (qt_barrier){.first = 3, .last = 2};
  assert_int_equal(qt_device_find("agnr")->build(&o, 0, &s), WEIR_ERR_CONFIG);
  o = defaults("square");
  o.hopping = 0;
  assert_int_equal(qt_device_find("square")->build(&o, 0, &s), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "device.square.hopping is 0"));
  qt_system_fini(&s);
}

static weir_status make(void *context)
{
  qt_barrier barriers[2];
  qt_ribbon_opts o;
  qt_system s = {.n = 0};

  everything(context, &o, barriers);
  const weir_status status = qt_device_find(context)->build(&o, 7, &s);

  qt_system_fini(&s);
  return status;
}

static void missing_memory_is_reported(void **state)
{
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    char name[8];

    strcpy(name, kinds[i]);
    assert_true(weir_check_faults(make, name) > 20);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(square_leads_have_the_modes_of_a_hard_wall_box),
      cmocka_unit_test(armchair_leads_have_the_bands_and_gaps_of_the_closed_form),
      cmocka_unit_test(zigzag_leads_have_the_bands_of_a_dimerised_chain),
      cmocka_unit_test(flux_changes_spectra_alike_in_each_gauge),
      cmocka_unit_test(energies_of_sites_add_up),
      cmocka_unit_test(seeds_decide_the_disorder_alone),
      cmocka_unit_test(bad_ribbons_are_refused_by_key),
      cmocka_unit_test(missing_memory_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
