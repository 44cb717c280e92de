/* published_slow.c - the tables of bench.papers and bench.recipe: what is published next to what is
 * counted and measured. */
#include <stdlib.h>
#include <string.h>
#include "program.h"

/* Counts of the published devices do not depend on the device that is measured. */
static void published_numbers_stand_next_to_counts(void **state)
{
  static const char *const rows[] = {
      "flops,\"self-energies of electrons, original; here: map fission\",\"4864 atoms, N_kz "
      "7\",Pflop,132.9,132.9,126.2,0.9496\n",
      "memory,nabla H G^< after map fission,\"10240 atoms, N_kz 21\",PB,-,74.29,74.29,1\n",
      "exchange,tiles of atoms and energies; here: tiles that exchange least,\"4864 atoms, N_kz 3, "
      "768 ranks\",TiB,0.54,0.5364,0.5331,0.9872\n",
      "measured,an iteration; formula: predicted,\"this device, 20 atoms, 121 energies, 1 "
      "thread\",s,",
      "measured,Green's functions and self-energies: rate; formula: of products,\"this device, 20 "
      "atoms, 121 energies, 1 thread\",Gflop/s,",
      "time,\"an iteration, original / restructured, published rates of a node\",most of all "
      "settings; published: Piz Daint,1,16.3,-,17.86,1.096\n",
      "time,\"an iteration, restructured\",\"10240 atoms, N_kz 21, 27360 ranks\",s,-,-,",
  };

  (void)state;
  assert_int_equal(
      program("bench --config " WEIR_SOURCE_DIR "/configs/quantum_transport/chain20.yaml "
              "--set bench.papers=true --set bench.repeats=1 --set bench.zgemm=0.01 --out %s",
              in_scratch("papers")),
      0);
  char *const text = contents(in_scratch("papers/papers.csv"));

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_non_null(strstr(text, rows[i]));
  }
  free(text);
}

static double cell(const char *line, int column)
{
  const char *at = line;

  for (int i = 0; i < column; i++) {
    at = strchr(at, ',');
    assert_non_null(at);
    at++;
  }
  return strtod(at, NULL);
}

/* All atoms of a small wire: every step has the result of the sums as written, moves the bytes that
 * are predicted, and once split takes the flops that are counted from accesses, but for what
 * follows from the sums. */
static void steps_of_the_recipe_agree(void **state)
{
  enum { STEPS = 8, GFLOP = 3, COUNTED, PREDICTED_MB = 6, COUNTED_MB, DIFFERENCE = 11 };
  static const char *const names[STEPS] = {
      "as written",         "fission into products",
      "redundancy removal", "layout and batched products",
      "sliding windows",    "fusion and tiling",
      "order of products",  "\"fusion and tiling, atom by atom\""};

  (void)state;
  assert_int_equal(
      program("bench --config " WEIR_SOURCE_DIR "/configs/quantum_transport/heating.yaml "
              "--set 'device={silicon_wire: {length: 2, height: 1, width: 1}}' --set "
              "'scattering.phonons.device={silicon_wire: {particle: phonons, length: 2, height: 1, "
              "width: 1}}' --set scattering.method=simple "
              "--set energy.points=5 --set scattering.phonons.frequencies=1 "
              "--set bench.recipe=true --set bench.repeats=1 --set bench.zgemm=0.01 --out %s",
              in_scratch("recipe")),
      0);
  char *const text = contents(in_scratch("recipe/recipe.csv"));
  char *line = strchr(text, '\n');

  for (int i = 0; i < STEPS; i++) {
    assert_non_null(line);
    line++;
    assert_memory_equal(line, names[i], strlen(names[i]));
    char *const values = i == STEPS - 1 ? strchr(line, ',') + 1 : line;

    assert_true(cell(values, DIFFERENCE) <= 1e-12);
    assert_near(cell(values, PREDICTED_MB), cell(values, COUNTED_MB),
                0.05 * cell(values, COUNTED_MB));
    assert_near(cell(values, GFLOP), cell(values, COUNTED), 0.1 * cell(values, COUNTED));
    line = strchr(line, '\n');
  }
  free(text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(published_numbers_stand_next_to_counts),
      TEST(steps_of_the_recipe_agree),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
