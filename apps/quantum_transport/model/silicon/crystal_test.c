/* crystal_test.c - counts of atoms and bonds, geometry. */
#include "model/silicon/crystal.h"

#include "base/weir_check.h"

static const double lattice[3] = {5.431, 5.5, 5.2};

/* Each bond leads to where its neighbour is, and that neighbour has the opposite bond. */
static void check_bonds(const qt_crystal *c)
{
  for (int64_t a = 0; a < c->n; a++) {
    for (int k = 0; k < 4; k++) {
      const qt_bond *b = &c->atom[a].bond[k];
      int mirrors = 0;

      if (b->atom < 0) {
        continue;
      }
      const qt_crystal_atom *other = &c->atom[b->atom];

      for (int i = 0; i < 3; i++) {
        assert_true(b->offset[i] == 0 || c->periodic[i]);
        assert_near(c->atom[a].position[i] + b->vector[i],
                    other->position[i] + (double)b->offset[i] * c->length[i], 1e-13);
      }
      for (int m = 0; m < 4; m++) {
        const qt_bond *back = &other->bond[m];

        mirrors += back->atom == a && back->vector[0] == -b->vector[0] &&
                   back->vector[1] == -b->vector[1] && back->vector[2] == -b->vector[2] &&
                   back->offset[0] == -b->offset[0] && back->offset[1] == -b->offset[1] &&
                   back->offset[2] == -b->offset[2];
      }
      assert_int_equal(mirrors, 1);
    }
  }
}

static void wires_slabs_and_crystals_have_their_atoms_and_bonds(void **state)
{
  const struct {
    int64_t cells[3];
    bool periodic[3];
    int64_t atoms, dangling;
  } cases[] = {
      {{1, 1, 1}, {true, true, true}, 8, 0},     {{2, 3, 1}, {true, true, true}, 48, 0},
      {{1, 1, 1}, {true, false, false}, 6, 10},  {{1, 2, 2}, {true, false, false}, 30, 26},
      {{1, 3, 3}, {true, false, false}, 70, 42}, {{1, 4, 4}, {true, false, false}, 126, 58},
      {{1, 3, 1}, {true, false, true}, 24, 8}, /* 2 sites a face of a cell, 2 bonds each */
  };

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    qt_crystal c;

    assert_ok(qt_crystal_create(cases[i].cells, cases[i].periodic, lattice, &c));
    assert_int_equal(c.n, cases[i].atoms);
    assert_int_equal(qt_crystal_dangling(&c), cases[i].dangling);
    check_bonds(&c);
    for (int64_t a = 1; a < c.n; a++) {
      assert_true(c.atom[a].position[0] >= c.atom[a - 1].position[0]);
    }
    qt_crystal_fini(&c);
  }
}

static weir_status make(void *context)
{
  qt_crystal c;

  const weir_status status =
      qt_crystal_create((const int64_t[3]){1, 2, 2}, (const bool[3]){true}, lattice, &c);

  qt_crystal_fini(&c);
  return status;
}

static void missing_memory_is_reported(void **state)
{
  assert_int_equal(weir_check_faults(make, NULL), 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wires_slabs_and_crystals_have_their_atoms_and_bonds),
      cmocka_unit_test(missing_memory_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
