/* nabla_test.c - derivatives of H of wires and slabs against differences of displaced crystals. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "model/device.h"
#include "model/silicon/silicon.h"

static const double a = 5.431;

static qt_silicon_opts defaults(const char *kind)
{
  const qt_device *d = qt_device_find(kind);
  qt_silicon_opts o;

  weir_opts_default(d->opts, sizeof o, &o);
  o.length = 3;
  o.height = o.width = 1;
  return o;
}

/* The system whose atom `moved` (and its copies in all cells) is displaced along an axis. */
static void build(const qt_silicon_opts *o, bool is_periodic, int64_t moved, int axis, double by,
                  qt_system *s)
{
  const bool periodic[3] = {true, false, is_periodic};
  qt_crystal c;
  qt_wire w;

  *s = (qt_system){.n = 0};
  assert_ok(
      qt_crystal_create((const int64_t[3]){1, 1, 1}, periodic, (const double[3]){a, a, a}, &c));
  c.atom[moved].position[axis] += by;
  for (int64_t i = 0; i < 4 * c.n; i++) {
    qt_bond *const bond = &c.atom[i / 4].bond[i % 4];

    bond->vector[axis] += bond->atom < 0 ? 0 : (bond->atom == moved) * by - (i / 4 == moved) * by;
  }
  assert_ok(qt_sp3d5s_wire(&c, &o->electrons, &w));
  assert_ok(qt_wire_create(&w, o->length, NULL, (const double[2]){0, 0}, s));
  qt_wire_fini(&w);
  qt_crystal_fini(&c);
}

/* Number of the pair seen from its other atom. */
static int64_t reverse_of(const qt_gradient *g, const qt_gradient_pair *p)
{
  for (int64_t k = 0; k < g->n_pairs; k++) {
    const qt_gradient_pair *q = &g->pair[k];

    if (q->from == p->to && q->to == p->from && q->image[0] == -p->image[0] &&
        q->image[1] == -p->image[1]) {
      return k;
    }
  }
  fail();
  return -1;
}

/* Central differences over 2e-4 Angstrom agree to 1e-7, whichever of the two atoms is displaced. */
static void check(const qt_silicon_opts *o, bool is_periodic)
{
  const double step = 1e-4;
  double mismatch = 0, worst = 0, max = 0;
  qt_gradient g, differences;
  qt_system s, plus, minus;

  build(o, is_periodic, 0, 0, 0, &s);
  assert_ok(qt_silicon_gradient(o, &s, &g));
  assert_ok(qt_gradient_complete(&g));
  assert_ok(qt_gradient_create(&s, 0, &differences));
  assert_int_equal(g.count, differences.count);
  for (int64_t i = 0; i < 3 * s.n_atoms / o->length; i++) {
    build(o, is_periodic, i / 3, (int)(i % 3), step, &plus);
    build(o, is_periodic, i / 3, (int)(i % 3), -step, &minus);
    assert_ok(qt_gradient_difference(&plus, &minus, &differences, &mismatch));
    qt_system_fini(&plus);
    qt_system_fini(&minus);
  }
  assert_ok(qt_gradient_complete(&differences));
  assert_true(mismatch < 1e-9); /* a shift of both atoms changes nothing */
  for (int64_t i = 0; i < g.count; i++) {
    worst = fmax(worst, hypot(g.value[i].re - differences.value[i].re,
                              g.value[i].im - differences.value[i].im));
    max = fmax(max, fabs(g.value[i].re));
  }
  assert_true(worst < 1e-7 && max > 1);
  for (int64_t k = 0; k < g.n_pairs; k++) { /* nabla H_la = -(nabla H_al)^H, to the bit */
    const qt_gradient_pair *p = &g.pair[k], *q = &g.pair[reverse_of(&g, p)];
    const int64_t n = s.atom[p->from].n_orbitals, m = s.atom[p->to].n_orbitals;

    for (int64_t i = 0; i < 3 * n * m; i++) {
      const int64_t axis = i / (n * m), row = i / m % n, column = i % m;

      assert_true(g.value[p->first + i].re ==
                  -g.value[q->first + axis * n * m + column * n + row].re);
    }
  }
  qt_gradient_fini(&g);
  qt_gradient_fini(&differences);
  qt_system_fini(&s);
}

static void derivatives_are_those_of_displaced_crystals(void **state)
{
  for (int exponents = 0; exponents < 2; exponents++) {
    qt_silicon_opts o = defaults("silicon_wire");

    o.electrons.exponents = exponents;
    check(&o, false);
    o.electrons.spin_orbit = true;
    o.length = 2;
    check(&o, exponents == 1);
  }
}

static void hydrogen_follows_its_atom(void **state)
{
  qt_silicon_opts o = defaults("silicon_wire");
  qt_gradient g;
  qt_system s;

  o.electrons.passivation = QT_HYDROGEN;
  build(&o, false, 0, 0, 0, &s);
  assert_ok(qt_silicon_gradient(&o, &s, &g));
  for (int64_t k = 0; k < g.n_pairs; k++) {
    const qt_gradient_pair *p = &g.pair[k];
    const int64_t count = s.atom[p->from].n_orbitals * s.atom[p->to].n_orbitals;
    const weir_c128 *value = g.value + p->first;
    double max = 0;

    for (int64_t i = 0; i < 3 * count; i++) {
      max = fmax(max, hypot(value[i].re, value[i].im));
    }
    assert_true(count == 100 ? max > 1 : count == 10 && max == 0);
  }
  qt_gradient_fini(&g);
  qt_system_fini(&s);
}

static qt_silicon_opts shared;

static weir_status make(void *system)
{
  qt_gradient g;

  WEIR_TRY(qt_silicon_gradient(&shared, system, &g));
  qt_gradient_fini(&g);
  return WEIR_OK;
}

static void missing_memory_is_reported(void **state)
{
  qt_system s;

  shared = defaults("silicon_wire");
  build(&shared, false, 0, 0, 0, &s);
  assert_true(weir_check_faults(make, &s) >= 4);
  qt_system_fini(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_those_of_displaced_crystals),
      cmocka_unit_test(hydrogen_follows_its_atom),
      cmocka_unit_test(missing_memory_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
