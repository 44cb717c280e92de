/* multipoles_test.c - the estimator against sums over waves and Pylians, the Kaiser limit of linear
 * fields and of simulated universes, and refusals. */
#include "eval/summary/multipoles.h"
#include <complex.h>
#include <string.h>
#include "data/simulation/universe.h"
#include "support/cosmoflow/mesh_check.h"
#include "base/weir_random.h"

enum { MAX = 32, CELLS = MAX * MAX * MAX };
static double rho[CELLS];

static cf_multipole_opts options(int axis)
{
  cf_multipole_opts o;

  weir_opts_default(cf_multipole_options, sizeof o, &o);
  o.line_of_sight = axis;
  return o;
}

static void measure(const cf_multipoles *s, double *out)
{
  cf_multipoles_slot r;

  assert_ok(cf_multipoles_slot_init(s, &r));
  cf_multipoles_measure(s, &r, rho);
  memcpy(out, r.p, (size_t)(CF_MULTIPOLES * s->bins) * sizeof *out);
  cf_multipoles_slot_fini(&r);
}

/* |delta(w)|^2 by a direct sum. */
static double power_of(int64_t n, const int64_t w[3])
{
  double complex sum = 0;

  for (int64_t i = 0; i < n * n * n; i++) {
    const int64_t turns = (w[0] * (i / (n * n)) + w[1] * (i / n % n) + w[2] * (i % n)) % n;

    sum += (rho[i] - 1) * cexp(-2 * PI * I * (double)turns / (double)n);
  }
  return pow(cabs(sum) / (double)(n * n * n), 2);
}

/* All waves one by one, with +w and -w. */
static void check_definition(const cf_multipole_opts *o, int64_t n)
{
  double found[CF_MULTIPOLES * MAX], sum[CF_MULTIPOLES * MAX] = {0}, modes[MAX] = {0};
  cf_multipoles s;

  for (int64_t i = 0; i < n * n * n; i++) {
    rho[i] = 1 + 0.3 * weir_random_normal(7, 1, 0, (uint64_t)i);
  }
  assert_ok(cf_multipoles_init(o, n, &s));
  measure(&s, found);
  for (int64_t i = 0; i < n * n * n; i++) {
    const int64_t w[3] = {cf_wave(i / (n * n), n), cf_wave(i / n % n, n), cf_wave(i % n, n)};
    const double size = sqrt((double)(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]));
    const int64_t bin = (int64_t)floor((size - o->from) / (double)o->width);
    double window = 1;

    if (size < o->from || bin >= s.bins) {
      continue;
    }
    for (int a = 0; a < 3; a++) {
      const double x = PI * (double)w[a] / (double)n;

      window *= w[a] == 0 ? 1 : pow(sin(x) / x, 2 * o->window);
    }
    const double mu = (double)w[o->line_of_sight] / size, p = power_of(n, w) / window;

    modes[bin] += 1;
    sum[bin] += p;
    sum[s.bins + bin] += 5 * p * (1.5 * pow(mu, 2) - 0.5);
    sum[2 * s.bins + bin] += 9 * p * (4.375 * pow(mu, 4) - 3.75 * pow(mu, 2) + 0.375);
  }
  for (int64_t b = 0; b < s.bins; b++) {
    assert_near(s.modes[b], modes[b], 0);
    for (int l = 0; l < CF_MULTIPOLES; l++) {
      const double scale = (double)(n * n * n) / modes[b];

      assert_near(found[l * s.bins + b], scale * sum[l * s.bins + b], 1e-5 * scale * sum[b]);
    }
  }
  cf_multipoles_fini(&s);
}

static void estimates_are_sums_over_waves(void **state)
{
  NEEDS_FFTW();
  for (int axis = 0; axis < 3; axis++) {
    cf_multipole_opts o = options(axis);

    o.window = axis + 1; /* NGP, CIC, TSC */
    o.reach = axis == 1 ? 1.7321 : 1;
    o.width = 1 + axis / 2;
    check_definition(&o, 8);
    check_definition(&o, 7);
    o.from = 1 + 0.25 * axis;
    check_definition(&o, 7);
  }
}

/* Pk_library.Pk of Pylians 0.12 (single precision, NumPy 2.4.6; tests/bench/cosmo_pylians.py): P_0,
 * P_2 and P_4 of bins that begin at whole numbers. */
static void pylians_has_the_same(void **state)
{
  enum { SIDE = 8, BINS = 3 };
  static const double pylians[3][CF_MULTIPOLES * BINS] = {
      {0.0656823956, 0.101319609, 0.150955703, 0.0149875938, -0.0340311959, -0.0359590363,
       -0.138997439, 0.0154794674, 0.0082337875},
      {0.0736155071, 0.135874977, 0.284682101, -0.0114323622, 0.0801974503, 0.0633726748,
       -0.0756624623, 0.0730422862, -0.0167896182},
      {0.0825882005, 0.182640558, 0.542665504, -0.00694432003, -0.0452715335, 0.000995158607,
       -0.0764011248, -0.0925031101, -0.293995447},
  };

  NEEDS_FFTW();
  golden_density(SIDE, rho);
  for (int axis = 0; axis < 3; axis++) {
    cf_multipole_opts o = options(axis);
    double found[CF_MULTIPOLES * MAX];
    cf_multipoles s;

    o.from = 1;
    o.window = axis + 1; /* NGP, CIC, TSC */
    assert_ok(cf_multipoles_init(&o, SIDE, &s));
    assert_int_equal(s.bins, BINS);
    measure(&s, found);
    for (int i = 0; i < CF_MULTIPOLES * BINS; i++) {
      assert_near(found[i], pylians[axis][i], 2e-6);
    }
    cf_multipoles_fini(&s);
  }
}

/* P_l of (1 + f mu^2)^2 P: the numbers of Kaiser (1987) as in Hamilton (1998), eqs. 5.5 and 5.6. */
static void kaiser(double f, double out[CF_MULTIPOLES])
{
  out[0] = 1 + 2 * f / 3 + f * f / 5;
  out[1] = 4 * f / 3 + 4 * f * f / 7;
  out[2] = 8 * f * f / 35;
}

/* A field whose waves all have modulus 1 + f mu^2: in a bin of many waves the closed form. */
static void linear_fields_have_the_multipoles_of_kaiser(void **state)
{
  const double f = 0.7;
  double found[CF_MULTIPOLES * MAX], expected[CF_MULTIPOLES];

  NEEDS_FFTW();
  check_box b = check_open(MAX, 1);

  kaiser(f, expected);
  for (int axis = 0; axis < 3; axis++) {
    cf_multipole_opts o = options(axis);
    cf_multipoles s;

    o.width = 7; /* the second bin has 11,000 waves */
    for (int64_t i = 0; i < CELLS; i++) {
      b.delta[i / MAX * b.pitch + i % MAX] = (float)weir_random_normal(2, 1, 0, (uint64_t)i);
    }
    cf_mesh_forward(b.m, b.delta);
    for (int64_t i = 0; i < MAX * MAX * (MAX / 2 + 1); i++) {
      const int64_t row = i / (MAX / 2 + 1), z = i % (MAX / 2 + 1);
      const int64_t w[3] = {cf_wave(row / MAX, MAX), cf_wave(row % MAX, MAX), z};
      const double square = (double)(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
      const double mu2 = square > 0 ? (double)(w[axis] * w[axis]) / square : 0;
      float *const c = b.delta + row * b.pitch + 2 * z;
      const double size = hypot((double)c[0], (double)c[1]);
      const double by = square > 0 ? 1e-3 * (1 + f * mu2) / size : 0;

      c[0] = (float)(by * (double)c[0]);
      c[1] = (float)(by * (double)c[1]);
    }
    cf_mesh_backward(b.m, b.delta);
    for (int64_t i = 0; i < CELLS; i++) {
      rho[i] = 1 + (double)b.delta[i / MAX * b.pitch + i % MAX];
    }
    assert_ok(cf_multipoles_init(&o, MAX, &s));
    measure(&s, found);
    assert_int_equal(s.bins, 2);
    for (int l = 0; l < CF_MULTIPOLES; l++) {
      printf("l = %d: %.5f, of the closed form %.5f\n", 2 * l, found[2 * l + 1] / (1e-6 * CELLS),
             expected[l]);
      assert_near(found[2 * l + 1] / (1e-6 * CELLS), expected[l], 0.02);
    }
    cf_multipoles_fini(&s);
  }
  check_close(&b);
}

/* Sums of P_l over the first bins of universe 0 of a large box at z = 1. */
static void simulate(const cf_universe_opts *o, const cf_multipoles *s, int64_t bins,
                     double out[CF_MULTIPOLES], double theory[CF_MULTIPOLES])
{
  double p[CF_MULTIPOLES * MAX], linear[CF_MULTIPOLES * MAX], unit[CF_PARAMETERS];
  cf_generator *g = NULL;
  cf_generator_workspace *r = NULL;
  float *counts = NULL;
  cf_cosmology c;
  cf_linear l;

  assert_ok(cf_generator_create(o, 5, &g));
  assert_ok(cf_generator_workspace_create(g, &r));
  assert_ok(weir_alloc(cf_generator_facts(g)->bytes, 1, (void **)&counts));
  assert_ok(cf_generator_make(g, r, 0, counts));
  for (int64_t i = 0; i < CELLS; i++) {
    rho[i] = (double)counts[i] / 27;
  }
  measure(s, p);
  cf_generator_draw(g, 0, &c, unit);
  assert_ok(cf_linear_init(&c, CF_TRANSFER_FULL, &l));
  cf_multipoles_kaiser(s, &l, 0.5, o->box, linear);
  for (int i = 0; i < CF_MULTIPOLES; i++) {
    out[i] = theory[i] = 0;
    for (int64_t b = 0; b < bins; b++) {
      out[i] += p[i * s->bins + b] * s->modes[b] * pow(o->box / MAX, 3);
      theory[i] += linear[i * s->bins + b] * s->modes[b];
    }
  }
  weir_free(&counts);
  cf_generator_workspace_destroy(&r);
  cf_generator_destroy(&g);
}

/* Waves of a simulated box in redshift space, 1000 Mpc/h and longer. */
static void universes_have_the_multipoles_of_kaiser(void **state)
{
  enum { BINS = 5 };
  double z = 1, found[CF_MULTIPOLES], expected[CF_MULTIPOLES];
  cf_multipole_opts of = options(1);
  cf_universe_opts o;
  cf_multipoles s;

  NEEDS_FFTW();
  weir_opts_default(cf_universe_options, sizeof o, &o);
  o.side = MAX;
  o.box = 3000;
  o.particles = 3 * MAX; /* one that hardly moves is seen by its nearest point alone */
  o.fixed = true;
  o.counts = CF_COUNTS_CIC;
  o.values = CF_VALUES_F32;
  o.redshifts = (weir_real_list){&z, 1};
  o.line_of_sight = CF_SIGHT_Y;
  of.window = CF_CIC;
  assert_ok(cf_multipoles_init(&of, MAX, &s));
  simulate(&o, &s, BINS, found, expected);
  printf("P0, P2, P4 / linear: %.4f, %.4f, %.4f; P2 / P0 %.4f, of linear theory %.4f\n",
         found[0] / expected[0], found[1] / expected[1], found[2] / expected[2],
         found[1] / found[0], expected[1] / expected[0]);
  assert_near(found[0] / expected[0], 1, 0.03);
  assert_near(found[1] / expected[1], 1, 0.05);
  assert_near(found[2] / expected[0], expected[2] / expected[0], 0.02);
  cf_multipoles_fini(&s);
}

static void what_cannot_be_is_refused(void **state)
{
  cf_multipole_opts o = options(0);
  cf_multipoles s;

  NEEDS_FFTW();
  o.width = 5;
  assert_int_equal(cf_multipoles_init(&o, 8, &s), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "samples of 8^3 voxels have no bin 5"));
  o.width = 1;
  o.from = 3.5;
  assert_int_equal(cf_multipoles_init(&o, 8, &s), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "wide from 3.5 to 4 of them"));
}

static weir_status make(void *context)
{
  cf_multipoles s;
  cf_multipoles_slot r;

  WEIR_TRY(cf_multipoles_init(context, 8, &s));
  const weir_status status = cf_multipoles_slot_init(&s, &r);

  if (status == WEIR_OK) {
    cf_multipoles_slot_fini(&r);
  }
  cf_multipoles_fini(&s);
  return status;
}

static void every_allocation_may_fail(void **state)
{
  cf_multipole_opts o = options(0);

  NEEDS_FFTW();
  assert_true(weir_check_faults(make, &o) > 6);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(estimates_are_sums_over_waves),
      cmocka_unit_test(pylians_has_the_same),
      cmocka_unit_test(linear_fields_have_the_multipoles_of_kaiser),
      cmocka_unit_test(universes_have_the_multipoles_of_kaiser),
      cmocka_unit_test(what_cannot_be_is_refused),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
