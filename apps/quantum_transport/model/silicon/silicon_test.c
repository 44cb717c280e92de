/* silicon_test.c - wires and slabs as open systems: sizes, symmetry, what options change. */
#include "model/silicon/silicon.h"

#include <math.h>
#include <string.h>

#include "base/weir_check.h"
#include "model/device.h"
#include "model/system_check.h"

static const char *const kinds[] = {"silicon_wire", "silicon_fin"};

static qt_silicon_opts defaults(const char *kind)
{
  const qt_device *d = qt_device_find(kind);
  qt_silicon_opts o;

  assert_non_null(d);
  weir_opts_default(d->opts, sizeof o, &o);
  o.length = 3;
  return o;
}

static void build(const char *kind, const qt_silicon_opts *o, qt_system *s)
{
  *s = (qt_system){.n = 0};
  assert_ok(qt_device_find(kind)->build(o, 0, s));
  assert_ok(qt_system_check(s, 0)); /* Hermitian to the bit */
}

static void atoms_have_their_orbitals(void **state)
{
  qt_silicon_opts o = defaults("silicon_wire");
  qt_system s;

  for (int spin_orbit = 0; spin_orbit < 2; spin_orbit++) {
    for (int passivation = 0; passivation < 3; passivation++) {
      const int64_t hydrogen = passivation == QT_HYDROGEN ? 26 : 0, spins = 1 + spin_orbit;
      int64_t first = 0, found = 0;

      o.electrons.spin_orbit = spin_orbit == 1;
      o.electrons.passivation = passivation;
      build("silicon_wire", &o, &s);
      assert_int_equal(s.lead[0].n, spins * (300 + hydrogen));
      assert_int_equal(s.n_atoms, 3 * (30 + hydrogen));
      for (int64_t a = 0; a < s.n_atoms; a++) {
        const bool is_hydrogen = strcmp(s.atom[a].symbol, "H") == 0;

        assert_int_equal(s.atom[a].first, first);
        assert_int_equal(s.atom[a].n_orbitals, spins * (is_hydrogen ? 1 : 10));
        first += s.atom[a].n_orbitals;
        found += is_hydrogen;
        if (is_hydrogen) { /* it follows its silicon atom, or another of the same */
          const double *x = s.atom[a].position, *y = s.atom[a - 1].position;
          const double r = sqrt((x[0] - y[0]) * (x[0] - y[0]) + (x[1] - y[1]) * (x[1] - y[1]) +
                                (x[2] - y[2]) * (x[2] - y[2]));

          assert_true(r < 1);
        }
      }
      assert_int_equal(found, 3 * hydrogen);
      assert_int_equal(first, s.n);
      qt_system_fini(&s);
    }
  }
}

/* Place of an orbital of spin 0 or 1 among those of both. */
static int64_t with_spin(const qt_system *plain, const qt_system *both, int64_t orbital,
                         int64_t spin)
{
  int64_t a = 0;

  while (orbital >= plain->atom[a].first + plain->atom[a].n_orbitals) {
    a++;
  }
  return both->atom[a].first + spin * plain->atom[a].n_orbitals + orbital - plain->atom[a].first;
}

static void spins_without_coupling_are_alike(void **state)
{
  qt_silicon_opts o = defaults("silicon_wire");
  qt_system plain, both;

  o.height = o.width = 1;
  o.electrons.passivation = QT_HYDROGEN;
  build("silicon_wire", &o, &plain);
  o.electrons.spin_orbit = true;
  o.electrons.energy.spin_orbit = 0;
  build("silicon_wire", &o, &both);
  for (int64_t i = 0; i < plain.n * plain.n; i++) {
    const int64_t row = i / plain.n, column = i % plain.n;
    const double h = qt_sparse_get(&plain.h.matrix[0], row, column).re;

    for (int64_t spin = 0; spin < 4; spin++) {
      const weir_c128 x = qt_sparse_get(&both.h.matrix[0], with_spin(&plain, &both, row, spin % 2),
                                        with_spin(&plain, &both, column, spin / 2));

      assert_true(x.re == (spin % 2 == spin / 2 ? h : 0) && x.im == 0);
    }
  }
  qt_system_fini(&plain);
  qt_system_fini(&both);
}

static void phonons_move_the_same_atoms(void **state)
{
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    qt_silicon_opts o = defaults(kinds[i]);
    qt_system e, p;

    build(kinds[i], &o, &e);
    o.particle = QT_PHONONS;
    build(kinds[i], &o, &p);
    assert_true(e.particle == QT_ELECTRONS && p.particle == QT_PHONONS);
    assert_int_equal(p.n_atoms, e.n_atoms);
    assert_int_equal(p.n, 3 * p.n_atoms);
    assert_int_equal(p.n_blocks, e.n_blocks);
    assert_int_equal(p.h.count, i == 0 ? 1 : 3);
    for (int64_t a = 0; a < p.n_atoms; a++) {
      assert_memory_equal(p.atom[a].position, e.atom[a].position, sizeof e.atom[a].position);
      assert_int_equal(p.atom[a].first, 3 * a);
    }
    qt_system_fini(&e);
    qt_system_fini(&p);
  }
}

static void slabs_have_images_along_z(void **state)
{
  qt_silicon_opts o = defaults("silicon_fin");
  qt_system s;

  build("silicon_fin", &o, &s);
  assert_int_equal(s.h.count, 3);
  for (int64_t i = 0; i < 3; i++) {
    assert_int_equal(s.h.image[i][0], 0);
    assert_true(s.h.image[i][1] >= -1 && s.h.image[i][1] <= 1);
    assert_true(qt_sparse_count(&s.h.matrix[i]) > 0);
  }
  assert_true(s.periodic[2] && !s.periodic[1]);
  assert_near(s.cell[2][2], 5.431, 1e-12);
  assert_int_equal(s.lead[0].n, 160);
  qt_system_fini(&s);
  o = defaults("silicon_wire");
  build("silicon_wire", &o, &s);
  assert_int_equal(s.h.count, 1);
  assert_true(!s.periodic[2]);
  qt_system_fini(&s);
}

static void strain_scales_positions_and_integrals(void **state)
{
  qt_silicon_opts o = defaults("silicon_wire");
  qt_system plain, strained;

  build("silicon_wire", &o, &plain);
  o.strain.x = o.strain.y = o.strain.z = 0.02; /* bonds keep their directions */
  build("silicon_wire", &o, &strained);
  assert_near(strained.lead[0].length, 5.431 * 1.02, 1e-12);
  for (int64_t i = 0; i < plain.n_atoms; i++) {
    const qt_atom *a = &plain.atom[i], *b = &strained.atom[i];

    assert_near(b->position[1], 1.02 * a->position[1], 1e-12);
    for (int64_t j = 0; j < plain.n_atoms; j++) {
      const double ss = qt_sparse_get(&plain.h.matrix[0], a->first, plain.atom[j].first).re;

      if (j != i) {
        assert_near(qt_sparse_get(&strained.h.matrix[0], b->first, strained.atom[j].first).re,
                    ss * pow(1.02, -0.562469), 1e-12);
      }
    }
  }
  qt_system_fini(&plain);
  qt_system_fini(&strained);
}

static weir_status make(void *context)
{
  qt_silicon_opts o = defaults(context);
  qt_system s = {.n = 0};

  o.height = o.width = 1;
  o.electrons.passivation = QT_HYDROGEN;
  const weir_status status = qt_device_find(context)->build(&o, 7, &s);

  qt_system_fini(&s);
  return status;
}

static void missing_memory_is_reported(void **state)
{
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    char name[16];

    strcpy(name, kinds[i]);
    assert_true(weir_check_faults(make, name) > 20);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(atoms_have_their_orbitals),
      cmocka_unit_test(spins_without_coupling_are_alike),
      cmocka_unit_test(phonons_move_the_same_atoms),
      cmocka_unit_test(slabs_have_images_along_z),
      cmocka_unit_test(strain_scales_positions_and_integrals),
      cmocka_unit_test(missing_memory_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
