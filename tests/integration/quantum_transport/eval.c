/* eval.c - transmissions compared with those of files. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "program.h"

/* A table of the closed form, on another scale of energies and with both spins. */
static void transmissions_are_compared_with_a_reference(void **state)
{
  const char *const reference = in_scratch("reference.dat");

  (void)state;
  FILE *const file = fopen(reference, "w");

  assert_non_null(file);
  fprintf(file, "## E (eV)  G (e^2/h)\n");
  for (int i = 0; i <= 380; i++) {
    const double e = -1.9 + 0.01 * i;

    fprintf(file, " %.9f  %.12f\n", e + 3, 2 / (1 + 0.49 / (4 - e * e)));
  }
  (void)fclose(file);
  assert_int_equal(program("run --config " WEIR_SOURCE_DIR
                           "/configs/quantum_transport/tiny.yaml --set lead.method=modes --out %s",
                           in_scratch("run")),
                   0);
  assert_int_equal(program("eval --set eval.result=%s --set eval.reference=%s --set "
                           "'eval={shift: -3, factor: 0.5, tolerance: 1e-9}' --out %s",
                           in_scratch("run/spectra.csv"), reference, in_scratch("score")),
                   0);
  assert_near(event_number(in_scratch("score"), "eval_end", "energies"), 191, 0);
  assert_true(event_number(in_scratch("score"), "eval_end", "max_error") < 1e-9);
  assert_int_equal(access(in_scratch("score/scores.csv"), F_OK), 0);
  assert_int_equal(access(in_scratch("score/figures/error.svg"), F_OK), 0);
  assert_int_equal(program("eval --set eval.result=%s --set eval.reference=%s --set "
                           "'eval={shift: -30, tolerance: 1e-9}' --overwrite --out %s",
                           in_scratch("run/spectra.csv"), in_scratch("run/spectra.csv"),
                           in_scratch("score")),
                   6); /* nothing is compared */
  assert_non_null(strstr(printed(), "eval.tolerance: no energy is compared"));
  assert_int_equal(program("eval --set eval.result=%s --set eval.reference=%s --set "
                           "'eval={factor: 1.01, tolerance: 1e-3}' --out %s",
                           in_scratch("run/spectra.csv"), in_scratch("run/spectra.csv"),
                           in_scratch("far")),
                   6);
  assert_non_null(strstr(printed(), "more than 0.001"));
  assert_int_equal(access(in_scratch("far/scores.csv"), F_OK), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(transmissions_are_compared_with_a_reference),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
