/* published.c - the table of bench.papers: what is published next to what is counted and measured.
 */
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

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(published_numbers_stand_next_to_counts),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
