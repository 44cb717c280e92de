/* recipe_test.c - counts from the accesses of the graph against closed forms, at sizes of a test
 * and of the published device; what is left out at the ends of the grid of energies is exact. */
#include "model/scattering/papers/recipe.h"

#include <math.h>
#include <string.h>

#include "base/weir_check.h"
#include "model/scattering/papers/papers.h"

/* Atoms, neighbours, orbitals, directions, k, E, w. */
static qt_recipe_sizes sizes_of(const int64_t *n)
{
  return (qt_recipe_sizes){.n_atoms = n[0],
                           .n_neighbours = n[1],
                           .n_orbitals = n[2],
                           .n_directions = n[3],
                           .n_k = n[4],
                           .n_energies = n[5],
                           .n_frequencies = n[6]};
}

static const int64_t small[][7] = {
    {6, 2, 3, 3, 1, 20, 5}, {3, 2, 4, 1, 3, 9, 4}, {5, 1, 2, 3, 2, 4, 7}, {1, 1, 2, 1, 1, 3, 1}};
enum { SMALL = sizeof small / sizeof *small, SPLIT = SMALL - 1 }; /* the last stays as written */

static qt_recipe_count counted(const qt_recipe_sizes *s, qt_recipe_step step, qt_recipe_sum sum)
{
  qt_recipe_count c;

  assert_ok(qt_recipe_count_of(s, step, sum, &c));
  return c;
}

static void assert_same(const char *what, double value, double expected)
{
  if (!(fabs(value - expected) <= 1e-14 * fabs(expected))) {
    fail_msg("%s: %.17g in place of %.17g", what, value, expected);
  }
}

/* Pairs of an energy and a frequency that stay inside the grid: those beyond scatter nothing. */
static double inside(const qt_recipe_sizes *s)
{
  double pairs = 0;

  for (int64_t w = 1; w <= s->n_frequencies && w < s->n_energies; w++) {
    pairs += (double)(s->n_energies - w);
  }
  return pairs;
}

/* Pairs of atoms and of lesser and greater; momenta; orbitals; directions. */
typedef struct unit {
  double pairs, k, o, d, e, w;
} unit;

static unit unit_of(const qt_recipe_sizes *s)
{
  return (unit){.pairs = 2.0 * (double)s->n_atoms * (double)s->n_neighbours,
                .k = (double)s->n_k,
                .o = (double)s->n_orbitals,
                .d = (double)s->n_directions,
                .e = (double)s->n_energies,
                .w = (double)s->n_frequencies};
}

/* A complex product and sum are 8 flops, a conjugate is 1, three products and one of each 21. */
static void as_written_four_orbitals_are_summed(void **state)
{
  (void)state;
  for (int i = 0; i <= SMALL; i++) {
    const qt_recipe_sizes s = i < SMALL ? sizes_of(small[i]) : qt_papers_device(7);
    const unit u = unit_of(&s);
    const double each = 21 * u.pairs * u.k * u.k * inside(&s) * u.d * u.d * pow(u.o, 4);
    const qt_recipe_count c = counted(&s, QT_RECIPE_WRITTEN, QT_RECIPE_ELECTRONS);

    assert_same("electrons", c.flops, 2 * each);
    assert_same("phonons", counted(&s, QT_RECIPE_WRITTEN, QT_RECIPE_PHONONS).flops, each);
    assert_near(c.largest, 0, 0);
    assert_near(c.between, 0, 0);
  }
}

/* The published flops of the original, less what lies beyond the grid, and the products of nabla H
 * with C, which do not depend on k and E. */
static void fission_takes_the_flops_of_the_original(void **state)
{
  (void)state;
  for (int i = 0; i <= SPLIT; i++) {
    const qt_recipe_sizes s = i < SPLIT ? sizes_of(small[i]) : qt_papers_device(7);
    const unit u = unit_of(&s);
    const double share = inside(&s) / (u.e * u.w);
    const double phonons = 9 * 2 * u.pairs * u.k * u.w * u.d * u.d * u.o * u.o;
    const double traces =
        u.pairs * u.k * u.k * inside(&s) * (8 * u.d * pow(u.o, 3) + 8 * u.d * u.d * u.o * u.o);

    assert_same("electrons", counted(&s, QT_RECIPE_FISSIONED, QT_RECIPE_ELECTRONS).flops,
                share * qt_papers_original_flops(&s) + phonons);
    assert_same("phonons", counted(&s, QT_RECIPE_FISSIONED, QT_RECIPE_PHONONS).flops,
                traces + 9 * u.pairs * u.k * u.e * u.d * pow(u.o, 3));
  }
}

/* Both terms of the published flops of the restructured solver: the leading one less what lies
 * beyond the grid, the other of all energies but the one that no hbar omega reaches. Conjugates of
 * nabla H are taken once. */
static void redundancy_removal_takes_the_flops_of_the_restructured(void **state)
{
  (void)state;
  for (int64_t n_k = 3; n_k <= 11; n_k += 2) {
    const qt_recipe_sizes s = qt_papers_device(n_k);
    const unit u = unit_of(&s);
    const double all = u.pairs * u.k * u.e * u.d * pow(u.o, 3), share = inside(&s) / (u.e * u.w);
    const double first = 16 * all * (u.e - 1) / u.e;
    const double phonons = 8 * 2 * u.pairs * u.k * u.w * u.d * u.d * u.o * u.o;
    const double conjugates = u.pairs * u.d * u.o * u.o;

    assert_same("electrons", counted(&s, QT_RECIPE_HOISTED, QT_RECIPE_ELECTRONS).flops,
                16 * all * u.k * u.w * share + first + phonons + conjugates);
    assert_same("restructured", qt_papers_restructured_flops(&s), 16 * all * (u.k * u.w + 1));
    /* windows: every hbar omega of every energy, and nabla H G of 2 N_k - 1 momenta in place of
     * N_k, so that none is reached around the end of the grid */
    assert_same("windows", counted(&s, QT_RECIPE_WINDOWED, QT_RECIPE_ELECTRONS).flops,
                16 * all * u.k * u.w + first * (2 * u.k - 1) / u.k + phonons + conjugates);
  }
}

/* The arrays between loops are those of the published table, of lesser and greater, without the
 * energy that emission or absorption does not reach; of one atom at a time, those of its pairs. */
static void arrays_are_those_of_the_table(void **state)
{
  const qt_recipe_sizes devices[] = {qt_papers_device(7), qt_papers_large()};

  (void)state;
  for (int i = 0; i < 2; i++) {
    const qt_recipe_sizes *s = &devices[i];
    const double reached = (double)(s->n_energies - 1) / (double)s->n_energies;
    qt_recipe_sizes atom = *s;

    atom.n_atoms = 1;
    atom.n_others = s->n_neighbours;
    assert_same("fission", counted(s, QT_RECIPE_FISSIONED, QT_RECIPE_ELECTRONS).largest,
                2 * qt_papers_bytes(s, QT_PAPERS_FISSION));
    assert_same("redundancy removal", counted(s, QT_RECIPE_HOISTED, QT_RECIPE_ELECTRONS).largest,
                2 * reached * qt_papers_bytes(s, QT_PAPERS_HOISTED));
    assert_same("pairs of an atom", counted(&atom, QT_RECIPE_HOISTED, QT_RECIPE_ELECTRONS).largest,
                2 * reached * qt_papers_bytes(s, QT_PAPERS_PAIR) * (double)s->n_neighbours);
  }
}

/* Sums of a device are those of its atoms, one after another, but for what they read in common. */
static void counts_are_those_of_all_atoms(void **state)
{
  (void)state;
  for (int step = 0; step < QT_RECIPE_STEPS; step++) {
    for (int sum = 0; sum < 2; sum++) {
      const qt_recipe_sizes s = qt_papers_device(5);
      const double atoms = (double)s.n_atoms;
      qt_recipe_sizes one = s;

      one.n_atoms = 1;
      one.n_others = s.n_neighbours;
      const qt_recipe_count all = counted(&s, (qt_recipe_step)step, (qt_recipe_sum)sum);
      const qt_recipe_count c = counted(&one, (qt_recipe_step)step, (qt_recipe_sum)sum);

      assert_same("flops", all.flops, atoms * c.flops);
      assert_same("largest", all.largest, atoms * c.largest);
      assert_true(all.bytes <= atoms * c.bytes);
    }
  }
}

/* G but the energy that is not reached, nabla H, C and the list are read, the sum is written; by
 * emission and by absorption. */
static void bytes_as_written_are_those_of_the_operands(void **state)
{
  const qt_recipe_sizes s = qt_papers_device(3);
  const unit u = unit_of(&s);
  const double pairs = u.pairs / 2, green = 2 * u.k * u.e * (double)s.n_atoms * u.o * u.o;
  const double numbers =
      green * (u.e - 1) / u.e + pairs * u.d * u.o * u.o + 2 * u.k * u.w * pairs * u.d * u.d + green;

  (void)state;
  assert_same("bytes", counted(&s, QT_RECIPE_WRITTEN, QT_RECIPE_ELECTRONS).bytes,
              2 * (16 * numbers + 4 * pairs));
}

/* At 12 orbitals the products cost less than the convolution with nabla H G nabla H, whose elements
 * serve one sum each. */
static void the_order_of_products_stays_at_many_orbitals(void **state)
{
  const qt_recipe_sizes s = qt_papers_device(7);

  (void)state;
  assert_same("flops", counted(&s, QT_RECIPE_REORDERED, QT_RECIPE_ELECTRONS).flops,
              counted(&s, QT_RECIPE_WINDOWED, QT_RECIPE_ELECTRONS).flops);
}

static void too_many_iterations_are_refused(void **state)
{
  qt_recipe_sizes s = qt_papers_large();
  qt_recipe_count c;

  (void)state;
  s.n_energies *= 2;
  assert_int_equal(qt_recipe_count_of(&s, QT_RECIPE_HOISTED, QT_RECIPE_ELECTRONS, &c),
                   WEIR_ERR_SHAPE);
  assert_non_null(strstr(weir_last_message(), "10240 atoms have 8.02e+18 iterations"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_written_four_orbitals_are_summed),
      cmocka_unit_test(fission_takes_the_flops_of_the_original),
      cmocka_unit_test(redundancy_removal_takes_the_flops_of_the_restructured),
      cmocka_unit_test(arrays_are_those_of_the_table),
      cmocka_unit_test(counts_are_those_of_all_atoms),
      cmocka_unit_test(bytes_as_written_are_those_of_the_operands),
      cmocka_unit_test(the_order_of_products_stays_at_many_orbitals),
      cmocka_unit_test(too_many_iterations_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
