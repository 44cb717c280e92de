/* check_slow.c - `check` on the shipped network: derivatives against differences, and its kinks. */
#include <stdio.h>
#include <string.h>
#include "program.h"

static void gradients_of_the_shipped_network_are_checked(void **state)
{
#ifndef HAVE_CONFIG_FILES
  printf("skipped: this build reads no YAML\n");
  skip();
#endif
#define CHECK "check --config " CONFIGS "/tiny.yaml --set exec.tier=vector "
  assert_int_equal(program(CHECK), 0);
  assert_non_null(
      strstr(printed(), "others were excluded, because the loss has a kink within the step"));
  assert_non_null(strstr(printed(), "largest relative difference"));
  assert_int_equal(program(CHECK "--set check.step=0.3"), 6);
  assert_non_null(strstr(printed(), "has a kink within the step of 0.3"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(gradients_of_the_shipped_network_are_checked),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
