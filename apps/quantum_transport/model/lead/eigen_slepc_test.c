/* eigen_slepc_test.c - modes that SLEPc finds against all modes by LAPACK: random cells, degenerate
 * modes, a silicon wire. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "model/device.h"
#include "model/lead/lead.h"
#include "model/silicon/silicon.h"

/* A random Hermitian cell of n orbitals, the coupling of some rank, with a small overlap where
 * wanted. */
static void make_random(int64_t n, int64_t rank, bool overlap, uint64_t seed, qt_cell *c)
{
  const size_t size = sizeof *c->h0;

  *c = (qt_cell){.n = n};
  assert_ok(weir_alloc(n * n, size, (void **)&c->h0));
  assert_ok(weir_alloc(n * n, size, (void **)&c->h1));
  if (overlap) {
    assert_ok(weir_alloc(n * n, size, (void **)&c->s0));
    assert_ok(weir_alloc(n * n, size, (void **)&c->s1));
  }
  for (int64_t i = 0; i < n * n; i++) {
    const int64_t a = i / n < i % n ? i : i % n * n + i / n;
    const double re = weir_random_uniform(seed, 0, 0, (uint64_t)a) - 0.5;
    const double im =
        i / n == i % n ? 0
                       : (i == a ? 1 : -1) * (weir_random_uniform(seed, 1, 0, (uint64_t)a) - 0.5);

    c->h0[i] = (weir_c128){2 * re, 2 * im};
    if (overlap) {
      c->s0[i] = (weir_c128){i / n == i % n ? 1 : 0.02 * re, 0.02 * im};
    }
    for (int64_t k = 0; k < rank; k++) {
      const double x = weir_random_uniform(seed, 2, 0, (uint64_t)(i / n * n + k)) - 0.5;
      const double y = weir_random_uniform(seed, 3, 0, (uint64_t)(k * n + i % n)) - 0.5;
      const double z = weir_random_uniform(seed, 4, 0, (uint64_t)(k * n + i % n)) - 0.5;

      c->h1[i] = (weir_c128){c->h1[i].re + 2 * x * y, c->h1[i].im + 2 * x * z};
      if (overlap) {
        c->s1[i] = (weir_c128){c->s1[i].re + 0.01 * x * y, c->s1[i].im + 0.01 * x * z};
      }
    }
  }
}

/* Both methods at an energy. Returns the modes. */
static int64_t compare(const qt_cell *c, double energy)
{
  const int64_t count = c->n * c->n;
  qt_lead_result r[2] = {{.residual = 0}, {.residual = 0}};
  qt_lead_opts o;

  weir_opts_default(qt_lead_options, sizeof o, &o);
  for (int i = 0; i < 2; i++) {
    for (int side = 0; side < QT_LEADS; side++) {
      assert_ok(weir_alloc(count, sizeof(weir_c128), (void **)&r[i].sigma[side]));
      assert_ok(weir_alloc(count, sizeof(weir_c128), (void **)&r[i].incoming[side]));
    }
    o.method = i == 0 ? QT_LEAD_MODES : QT_LEAD_SLEPC;
    assert_ok(qt_lead_solve(&o, c, energy, 0, &r[i]));
  }
  assert_int_equal(r[1].method, QT_LEAD_SLEPC);
  assert_int_equal(r[0].n_modes, r[1].n_modes);
  for (int side = 0; side < QT_LEADS; side++) {
    double worst = 0, size = 0;

    for (int64_t i = 0; i < count; i++) {
      const weir_c128 x = r[0].sigma[side][i], y = r[1].sigma[side][i];

      worst = fmax(worst, hypot(x.re - y.re, x.im - y.im));
      size = fmax(size, hypot(x.re, x.im));
    }
    assert_true(worst <= 1e-8 * size);
    for (int i = 0; i < 2; i++) {
      weir_free(&r[i].sigma[side]);
      weir_free(&r[i].incoming[side]);
    }
  }
  return r[1].n_modes;
}

static void random_cells(void **state)
{
  int64_t modes = 0;

  for (uint64_t seed = 0; seed < 12; seed++) {
    const int64_t n = 1 + (int64_t)(seed % 12), rank = seed % 3 == 0 ? n : (n + 1) / 2;
    qt_cell c;

    make_random(n, rank, seed % 2, seed, &c);
    modes += compare(&c, -1.513 + 0.3 * (double)seed);
    qt_cell_fini(&c);
  }
  assert_true(modes >= 5);
}

/* Chains side by side: three modes of each lambda, which one Krylov space does not tell apart. */
static void degenerate_modes(void **state)
{
  qt_cell c;

  make_random(6, 0, false, 1, &c);
  memset(c.h0, 0, 36 * sizeof *c.h0);
  for (int64_t i = 0; i < 6; i++) {
    c.h1[i * 6 + i].re = i < 3 ? 1 : -1;
  }
  assert_int_equal(compare(&c, 0.4), 6);
  qt_cell_fini(&c);
}

static weir_status solve(void *context)
{
  qt_lead_result r = {.residual = 0};
  qt_lead_opts o;
  weir_c128 sigma[QT_LEADS][4];

  weir_opts_default(qt_lead_options, sizeof o, &o);
  o.method = QT_LEAD_SLEPC;
  o.slepc.targets = 3;
  for (int side = 0; side < QT_LEADS; side++) {
    r.sigma[side] = sigma[side];
  }
  WEIR_TRY(qt_lead_solve(&o, context, 0.3, 0, &r));
  assert_int_equal(r.method, QT_LEAD_SLEPC);
  assert_int_equal(r.n_modes, 2);
  return WEIR_OK;
}

static void missing_memory_is_reported(void **state)
{
  qt_cell c;

  make_random(2, 0, false, 1, &c);
  memset(c.h0, 0, 4 * sizeof *c.h0);
  c.h1[0].re = -1;
  c.h1[3].re = -1.2;
  assert_ok(solve(&c)); /* once, so that PETSc has started */
  assert_true(weir_check_faults(solve, &c) > 30);
  qt_cell_fini(&c);
}

static void silicon_wires(void **state)
{
  const qt_device *d = qt_device_find("silicon_wire");
  const double none[2] = {0, 0};
  qt_silicon_opts o;
  qt_system s = {.n = 0};
  qt_cell c;

  weir_opts_default(d->opts, sizeof o, &o);
  o.length = 1;
  o.height = 2;
  assert_ok(d->build(&o, 1, &s));
  assert_ok(qt_cell_create(&s.lead[QT_LEFT], none, &c));
  assert_true(compare(&c, 2.8) > 0);
  qt_cell_fini(&c);
  qt_system_fini(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_cells),
      cmocka_unit_test(degenerate_modes),
      cmocka_unit_test(silicon_wires),
      cmocka_unit_test(missing_memory_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
