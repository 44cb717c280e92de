/* volume_test.c - the closed formulas against the tables of Ziogas et al. (SC 19), and bytes from
 * regions against counts by hand and against the formulas. */
#include "model/scattering/volume.h"

#include <math.h>

#include "base/weir_check.h"

/* 4,864 atoms of 12 orbitals with 34 neighbours; TiB of all processes. */
static void check_row(double n_k, double atoms, double energies, double points, double tiles)
{
  const qt_volume_sizes n = {n_k, 706, 70, 4864, 34, 12, 3};
  const double digits = 0.006; /* 1.475 is printed as 1.48 */
  const qt_volume p = qt_volume_of_points(&n, atoms * energies);
  const qt_volume t = qt_volume_formula(&n, atoms, energies);

  assert_true(fabs(qt_volume_total(&p) * 0x1p-40 - points) <= digits);
  assert_true(fabs(qt_volume_total(&t) * 0x1p-40 - tiles) <= digits);
}

static void tables_of_the_paper_are_reproduced(void **state)
{
  static const double weak[][3] = {
      {3, 32.11, 0.54}, {5, 89.18, 1.22}, {7, 174.80, 2.17}, {9, 288.95, 3.38}, {11, 431.65, 4.86}};
  static const double strong[][3] = {{224, 108.24, 0.95},
                                     {448, 117.75, 1.13},
                                     {896, 136.76, 1.48},
                                     {1792, 174.80, 2.17},
                                     {2688, 212.84, 2.87}};

  (void)state;
  for (int i = 0; i < 5; i++) {
    check_row(weak[i][0], 256, weak[i][0], weak[i][1], weak[i][2]);
    check_row(7, strong[i][0] / 7, 7, strong[i][1], strong[i][2]);
  }
}

/* ---- A chain whose atoms have both next ones as neighbours ---- */

enum { ATOMS = 12, WIDTH = 2, ORBITALS = 2, ENERGIES = 24, FREQUENCIES = 4 };

static int32_t atom_list[ATOMS * WIDTH], reverse_list[ATOMS * WIDTH];
static int64_t image_list[ATOMS * WIDTH][2];
static weir_c128 gradient_list[ATOMS * WIDTH * ORBITALS * ORBITALS];

/* The ends have themselves in place of what they lack. */
static qt_neighbours chain(void)
{
  for (int32_t a = 0; a < ATOMS; a++) {
    const bool first = a == 0, last = a == ATOMS - 1;

    atom_list[WIDTH * a] = first ? a : a - 1;
    atom_list[WIDTH * a + 1] = last ? a : a + 1;
    reverse_list[WIDTH * a] = first ? WIDTH * a : WIDTH * (a - 1) + 1;
    reverse_list[WIDTH * a + 1] = last ? WIDTH * a + 1 : WIDTH * (a + 1);
  }
  return (qt_neighbours){.n_atoms = ATOMS,
                         .n_neighbours = WIDTH,
                         .n_orbitals = ORBITALS,
                         .n_directions = 1,
                         .atom = atom_list,
                         .reverse = reverse_list,
                         .image = image_list,
                         .gradient = gradient_list};
}

static qt_self_energy_spec spec_of(const qt_neighbours *list)
{
  return (qt_self_energy_spec){.neighbours = list,
                               .n_k = 1,
                               .n_energies = ENERGIES,
                               .n_frequencies = FREQUENCIES,
                               .step = 0.1,
                               .spin = 2,
                               .retarded = QT_RETARDED_HALF,
                               .phonons = true,
                               .threads = 1};
}

/* Bytes of lesser and greater blocks of so many atoms at one point. */
static double green(double atoms)
{
  return 2 * atoms * ORBITALS * ORBITALS * (double)sizeof(weir_c128);
}
static double pair(double atoms)
{
  return 2 * atoms * WIDTH * (double)sizeof(weir_c128);
}

/* Two ranks that halve the energies: G of the lost and gained energies, all of the other half of C,
 * and their part of t of the other's frequencies. Sigma stays. */
static void halves_of_energies_are_counted_by_hand(void **state)
{
  const qt_neighbours list = chain();
  const qt_self_energy_spec s = spec_of(&list);
  const qt_tiles t = qt_tiles_of(2, 1, s.n_k, s.n_energies, s.n_frequencies);
  qt_volume v;

  (void)state;
  assert_ok(qt_volume_of_tiles(&s, &t, &v));
  assert_true(v.bytes[QT_TENSOR_GREEN] == 2 * FREQUENCIES * green(ATOMS));
  assert_true(v.bytes[QT_TENSOR_SIGMA] == 0);
  assert_true(v.bytes[QT_TENSOR_PHONONS] == FREQUENCIES * pair(ATOMS));
  assert_true(v.bytes[QT_TENSOR_PI] == FREQUENCIES * pair(ATOMS));
}

/* Two ranks that halve the atoms: of G half of it in the tile, then the neighbour at all energies;
 * half of Sigma comes back; of C the other frequencies of half the atoms, and half of t. */
static void halves_of_atoms_are_counted_by_hand(void **state)
{
  const qt_neighbours list = chain();
  const qt_self_energy_spec s = spec_of(&list);
  const qt_tiles t = qt_tiles_of(2, 2, s.n_k, s.n_energies, s.n_frequencies);
  const double half = ATOMS / 2.0;
  qt_volume v;

  (void)state;
  assert_ok(qt_volume_of_tiles(&s, &t, &v));
  assert_true(v.bytes[QT_TENSOR_GREEN] == ENERGIES * green(half) + 2 * ENERGIES * green(1));
  assert_true(v.bytes[QT_TENSOR_SIGMA] == ENERGIES * green(half));
  assert_true(v.bytes[QT_TENSOR_PHONONS] == FREQUENCIES * pair(half));
  assert_true(v.bytes[QT_TENSOR_PI] == FREQUENCIES * pair(half));
}

/* Every tensor of every sharding of up to 12 ranks, and the search. */
static void formulas_are_bounds(void **state)
{
  const qt_neighbours list = chain();
  qt_self_energy_spec s = spec_of(&list);
  const qt_volume_sizes n = qt_volume_sizes_of(&s);

  (void)state;
  for (int ranks = 2; ranks <= 12; ranks += 2) {
    double min = INFINITY;
    qt_tiles found;

    for (int atoms = 1; atoms <= ranks; atoms++) {
      const qt_tiles t = qt_tiles_of(ranks, atoms, s.n_k, s.n_energies, s.n_frequencies);
      const qt_volume bound = qt_volume_formula(&n, atoms, t.energies);
      qt_volume v;

      if (ranks % atoms == 0) {
        assert_ok(qt_volume_of_tiles(&s, &t, &v));
        for (int i = 0; i < QT_TENSORS; i++) {
          assert_true(v.bytes[i] <= bound.bytes[i]);
        }
        min = fmin(min, qt_volume_total(&v));
      }
    }
    qt_volume best;

    assert_ok(qt_tiles_search(&s, ranks, &found));
    assert_ok(qt_volume_of_tiles(&s, &found, &best));
    assert_true(qt_volume_total(&best) == min);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tables_of_the_paper_are_reproduced),
      cmocka_unit_test(halves_of_energies_are_counted_by_hand),
      cmocka_unit_test(halves_of_atoms_are_counted_by_hand),
      cmocka_unit_test(formulas_are_bounds),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
