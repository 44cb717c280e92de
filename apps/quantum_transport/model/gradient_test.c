/* gradient_test.c - scaled and displaced Hamiltonians of random sites; what is refused. */
#include "model/gradient.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "model/wire.h"

enum { SITES = 3, CELLS = 3, ORBITALS = SITES + 1 /* two of site 0 */ };
static const double length = 4, exponent = 2.3;

/* What a wire of random sites has. */
typedef struct design {
  int64_t moved; /* site that is displaced; SITES: all, -1: none */
  int axis;
  double by;
  bool copies;     /* a site couples to its copy in the next cell      */
  double absolute; /* eV / Angstrom: how elements depend on x itself   */
} design;

static int64_t site_of(int64_t orbital)
{
  return orbital < 2 ? 0 : orbital - 1;
}

static void locate(const design *d, int64_t site, double out[3])
{
  for (uint32_t i = 0; i < 3; i++) {
    out[i] = (i == 0 ? 1.2 * (double)site : 0) + weir_random_uniform(9, i, 0, (uint64_t)site) +
             (((int64_t)d->axis == i && (d->moved == site || d->moved == SITES)) ? d->by : 0);
  }
}

/* Adds an element and its conjugate: V |r|^-exponent between orbitals at different positions. */
static void add(const design *d, int64_t a, int64_t b, const int64_t offset[3], qt_wire *w)
{
  const double *from = w->atom[site_of(a)].position, *to = w->atom[site_of(b)].position;
  const double r[3] = {to[0] - from[0] + (double)offset[0] * length, to[1] - from[1],
                       to[2] - from[2] + (double)offset[2] * length};
  const uint64_t key = (uint64_t)(a * ORBITALS + b + 100 * offset[0] + 1000 * offset[2]);
  const double scale = pow(r[0] * r[0] + r[1] * r[1] + r[2] * r[2], -exponent / 2);
  const weir_c128 v = {weir_random_uniform(9, 3, 0, key) * scale + d->absolute * to[0],
                       weir_random_uniform(9, 4, 0, key) * scale};

  qt_elements_add(&w->elements, a, b, offset, v);
  qt_elements_add(&w->elements, b, a, (const int64_t[3]){-offset[0], 0, -offset[2]},
                  (weir_c128){v.re, -v.im});
}

static void build(const design *d, qt_system *s)
{
  qt_wire w = {.n = ORBITALS,
               .n_atoms = SITES,
               .cell = {{length, 0, 0}, {0, length, 0}, {0, 0, length}},
               .periodic = {false, false, true}};

  *s = (qt_system){.n = 0};
  assert_ok(weir_alloc(SITES, sizeof *w.atom, (void **)&w.atom));
  for (int64_t i = 0; i < SITES; i++) {
    w.atom[i] = (qt_atom){.first = i == 0 ? 0 : i + 1, .n_orbitals = i == 0 ? 2 : 1, .symbol = "X"};
    locate(d, i, w.atom[i].position);
  }
  for (int64_t i = 0; i < ORBITALS * ORBITALS; i++) {
    const int64_t a = i / ORBITALS, b = i % ORBITALS;
    const bool copies = site_of(a) == site_of(b);

    if (a < b && !copies) {
      add(d, a, b, (const int64_t[3]){0, 0, 0}, &w);
    }
    if (!copies || d->copies) {
      add(d, a, b, (const int64_t[3]){1, 0, 0}, &w);
    }
    if (!copies) {
      add(d, a, b, (const int64_t[3]){0, 0, 1}, &w);
    }
  }
  assert_ok(qt_wire_create(&w, CELLS, NULL, (const double[2]){0, 0}, s));
  qt_wire_fini(&w);
}

/* Differences over all sites and axes. */
static double take_differences(design d, double step, qt_gradient *g)
{
  double mismatch = 0;

  for (d.moved = 0; d.moved < SITES; d.moved++) {
    for (d.axis = 0; d.axis < 3; d.axis++) {
      qt_system plus, minus;

      d.by = step;
      build(&d, &plus);
      d.by = -step;
      build(&d, &minus);
      assert_ok(qt_gradient_difference(&plus, &minus, g, &mismatch));
      qt_system_fini(&plus);
      qt_system_fini(&minus);
    }
  }
  return mismatch;
}

static void scaled_elements_have_the_derivatives_of_differences(void **state)
{
  const design d = {.moved = -1};
  qt_gradient scaled, differences;
  qt_system s;

  build(&d, &s);
  assert_ok(qt_gradient_create(&s, 0.1, &scaled));
  assert_ok(qt_gradient_create(&s, 0.1, &differences));
  /* 6 ordered pairs in a cell, 6 to each of 2 images, 6 to the next cell and back */
  assert_int_equal(scaled.n_pairs, 18 * CELLS + 12 * (CELLS - 1));
  qt_gradient_scale(&s, exponent, &scaled);
  assert_ok(qt_gradient_complete(&scaled));
  assert_int_equal(qt_gradient_complete(&differences), WEIR_ERR_DATA);
  assert_true(take_differences(d, 1e-4, &differences) < 1e-9);
  assert_ok(qt_gradient_complete(&differences));
  for (int64_t i = 0; i < scaled.count; i++) {
    assert_true(fabs(scaled.value[i].re - differences.value[i].re) < 1e-7);
    assert_true(fabs(scaled.value[i].im - differences.value[i].im) < 1e-7);
  }
  assert_true(fabs(scaled.value[0].re) > 1e-3);
  qt_gradient_fini(&scaled);
  qt_gradient_fini(&differences);
  qt_system_fini(&s);
}

/* With both atoms of a pair shifted H is the same; where it is not the mismatch tells. */
static void shifts_of_both_atoms_are_seen(void **state)
{
  const design d = {.moved = -1, .absolute = 0.3}, copies = {.moved = -1, .copies = true};
  qt_gradient g;
  qt_system s;

  build(&d, &s);
  assert_ok(qt_gradient_create(&s, 0.1, &g));
  assert_near(take_differences(d, 1e-4, &g), 0.15, 1e-7);
  qt_gradient_fini(&g);
  qt_system_fini(&s);
  build(&copies, &s);
  assert_ok(qt_gradient_create(&s, 0.1, &g));
  (void)take_differences(copies, 1e-4, &g);
  assert_int_equal(qt_gradient_complete(&g), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "between atoms 0 and 3 along x is not known"));
  qt_gradient_scale(&s, exponent, &g);
  assert_ok(qt_gradient_complete(&g));
  qt_gradient_fini(&g);
  qt_system_fini(&s);
}

/* Sites at one position are one atom. */
static void near_sites_are_one_atom(void **state)
{
  const design d = {.moved = -1};
  qt_gradient g;
  qt_system s;

  build(&d, &s);
  for (int64_t a = 0; a < s.n_atoms; a++) {
    memcpy(s.atom[a].position, s.atom[a / SITES * SITES].position, sizeof s.atom[a].position);
  }
  assert_ok(qt_gradient_create(&s, 0.1, &g));
  assert_int_equal(g.n_pairs, 12 * CELLS + 12 * (CELLS - 1)); /* those of other cells remain */
  qt_gradient_fini(&g);
  qt_system_fini(&s);
}

static void expect(const qt_system *plus, const qt_system *minus, qt_gradient *g, const char *said)
{
  double mismatch = 0;

  assert_int_not_equal(qt_gradient_difference(plus, minus, g, &mismatch), WEIR_OK);
  if (strstr(weir_last_message(), said) == NULL) {
    fprintf(stderr, "%s\n", weir_last_message());
    fail();
  }
}

static void systems_that_are_not_displaced_ones_are_refused(void **state)
{
  const design d = {.moved = -1}, one = {.moved = 1, .by = 1e-3}, all = {.moved = SITES, .by = 1};
  qt_system s, plus, minus, shifted;
  double mismatch = 0;
  qt_gradient g;

  build(&d, &s);
  build(&d, &minus);
  build(&one, &plus);
  build(&all, &shifted);
  assert_ok(qt_gradient_create(&s, 0.1, &g));
  expect(&s, &minus, &g, "no atom is displaced");
  plus.atom[2].position[1] += 1e-3;
  expect(&plus, &minus, &g,
         "atom 1 is displaced by 0.001 Angstrom along x, atom 2 by 0.001 along y");
  plus.atom[2].position[1] -= 1e-3;
  plus.n_atoms--;
  expect(&plus, &minus, &g, "of 8 and 9 atoms: displaced systems have those of the device");
  plus.n_atoms++;
  plus.h.image[1][1] = 7;
  expect(&plus, &minus, &g, "a displaced system has no image (0, 1)");
  assert_ok(qt_gradient_difference(&shifted, &s, &g, &mismatch)); /* tells nothing */
  assert_int_equal(qt_gradient_complete(&g), WEIR_ERR_DATA);
  qt_gradient_fini(&g);
  s.is_schematic = true;
  assert_int_equal(qt_gradient_create(&s, 0.1, &g), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "holds no atoms"));
  qt_system_fini(&s);
  qt_system_fini(&plus);
  qt_system_fini(&minus);
  qt_system_fini(&shifted);
}

static weir_status make(void *systems)
{
  const qt_system *s = systems;
  double mismatch = 0;
  qt_gradient g;

  WEIR_TRY(qt_gradient_create(&s[0], 0.1, &g));
  const weir_status status = qt_gradient_difference(&s[1], &s[0], &g, &mismatch);

  qt_gradient_fini(&g);
  return status;
}

static void missing_memory_is_reported(void **state)
{
  const design d = {.moved = -1}, one = {.moved = 1, .by = 1e-3};
  qt_system s[2];

  build(&d, &s[0]);
  build(&one, &s[1]);
  assert_true(weir_check_faults(make, s) >= 5);
  qt_system_fini(&s[0]);
  qt_system_fini(&s[1]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scaled_elements_have_the_derivatives_of_differences),
      cmocka_unit_test(shifts_of_both_atoms_are_seen),
      cmocka_unit_test(near_sites_are_one_atom),
      cmocka_unit_test(systems_that_are_not_displaced_ones_are_refused),
      cmocka_unit_test(missing_memory_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
