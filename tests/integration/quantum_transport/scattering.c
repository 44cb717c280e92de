/* scattering.c - the commands on a chain whose electrons scatter: its table, files, report, what
 * describe says. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "program.h"
#include "train/weir_checkpoint.h"

#define CHAIN "--config " WEIR_SOURCE_DIR "/configs/quantum_transport/chain20.yaml "

/* The last number of column `name` of DIR/scattering.csv. */
static double last_of(const char *dir, const char *name, int *rows)
{
  FILE *file = fopen(in_scratch("%s/scattering.csv", dir), "r");
  char line[1024], *at = line;
  int column = 0;
  double value = 0;

  assert_non_null(file);
  assert_non_null(fgets(line, sizeof line, file));
  for (const char *end = strstr(line, name); at < end; at++) {
    column += *at == ',';
  }
  for (*rows = 0; fgets(line, sizeof line, file) != NULL; ++*rows) {
    at = line;
    for (int c = 0; c < column; c++) {
      at = strchr(at, ',') + 1;
    }
    value = strtod(at, NULL);
  }
  (void)fclose(file);
  return value;
}

static void the_chain_has_the_current_of_its_table(void **state)
{
  int rows;

  (void)state;
  assert_int_equal(program("run " CHAIN "--out %s", in_scratch("run")), 0);
  assert_non_null(strstr(printed(), "current with scattering 4.2895e-06 A (30 iterations)"));
  assert_near(event_number(in_scratch("run"), "scattering", "current_A") * 1e6, 4.2894523, 1e-6);
  assert_near(event_number(in_scratch("run"), "scattering", "coherent_current_A") * 1e6, 7.0360739,
              1e-7);
  assert_near(event_number(in_scratch("run"), "scattering", "iterations"), 30, 0);
  assert_near(last_of("run", "current_left", &rows) * 1e6, 4.2894523, 1e-6);
  assert_int_equal(rows, 31);
  assert_near(last_of("run", "heat_right", &rows) * 1e6, -0.0124452, 1e-7);
  assert_true(event_number(in_scratch("run"), "scattering_phases", "self_energies_s") > 0);
  assert_near(event_number(in_scratch("run"), "scattering_phases", "self_energies_gflop"), 0.004608,
              1e-5);
}

static void threads_do_not_change_a_bit(void **state)
{
  (void)state;
  for (int t = 1; t <= 2; t++) {
    assert_int_equal(program("run " CHAIN "--set scattering.tolerance=1e-3 --threads %d --out %s",
                             t, in_scratch(t == 1 ? "one" : "two")),
                     0);
  }
  assert_true(same_contents(in_scratch("one/scattering.csv"), in_scratch("two/scattering.csv")));
}

static void describe_says_what_an_iteration_takes(void **state)
{
  (void)state;
  assert_int_equal(program("describe " CHAIN), 0);
  assert_non_null(strstr(printed(), "# scattering: 38 pairs of atoms, 12 phonon energies"));
  assert_non_null(strstr(printed(), "self-energies 4.608 Mflop"));
  assert_non_null(strstr(printed(), "20 atoms at once"));
  assert_int_equal(program("describe " CHAIN "--set scattering.memory=0.1"), 0);
  assert_null(strstr(printed(), "20 atoms at once"));
  assert_null(strstr(printed(), " ranges of atoms x "));
}

/* 4 ranks by the regions and formulas of 20 atoms, 121 energies and 12 frequencies; many by the
 * formulas alone. */
static void describe_says_what_ranks_send(void **state)
{
  (void)state;
  assert_int_equal(
      program("describe " CHAIN "--set scattering.tiles.ranks=4 --set scattering.tiles.atoms=4"),
      0);
  assert_non_null(strstr(printed(), "# 4 ranks: self-energies in 4 ranges of atoms x 1 of energi"));
  assert_non_null(strstr(printed(), "# Sigma                   58080                 129920 "));
  assert_int_equal(program("describe " CHAIN
                           "--set scattering.tiles.ranks=4 --set scattering.tiles.scheme=points"),
                   0);
  assert_non_null(strstr(printed(), "# 4 ranks: self-energies at the points of G, by frequency"));
  assert_int_equal(program("describe " CHAIN "--set scattering.tiles.ranks=1000"), 0);
  assert_non_null(strstr(printed(), "# Sigma               not known "));
  assert_int_equal(
      program("describe " CHAIN "--set scattering.tiles.ranks=4 --set scattering.tiles.atoms=3"),
      2);
  assert_non_null(strstr(printed(), "scattering.tiles.atoms: 3 does not divide"));
}

/* Hundreds of iterations, so that a signal comes before the last, each saved. */
#define SLOWLY                                                                                   \
  CHAIN "--set scattering.mixing=0.1 --set scattering.max_iterations=2000 --set "                \
        "scattering.tolerance=1e-4 --set checkpoint.iterations=1 --set checkpoint.keep=1000000 " \
        "--threads 1 "

/* Sends it once a few iterations are saved; returns how the run ends. */
static int interrupt(const char *dir, int number)
{
  const char *saved = in_scratch("%s/scattering", dir);
  const pid_t process = program_start("run " SLOWLY "--out %s", in_scratch("%s", dir));
  int64_t newest = -1;
  int status = 0;

  for (int i = 0; i < 30000 && newest < 5; i++) {
    (void)usleep(1000);
    assert_ok(weir_checkpoint_newest(saved, &newest));
  }
  (void)kill(process, number);
  assert_int_equal(waitpid(process, &status, 0), process);
  assert_true(newest >= 5);
  return status;
}

static void a_killed_iteration_is_resumed_to_the_same_bits(void **state)
{
  (void)state;
  assert_int_equal(program("run " SLOWLY "--out %s", in_scratch("whole")), 0);
  assert_int_equal(access(in_scratch("whole/scattering"), F_OK), -1); /* nothing is left */
  assert_true(WIFSIGNALED(interrupt("killed", SIGKILL)));
  const int status = interrupt("stopped", SIGTERM);

  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 9);
  assert_non_null(strstr(printed(), "of scattering: repeat the command to resume it"));
  for (int i = 0; i < 2; i++) {
    const char *name = i == 0 ? "killed" : "stopped";

    assert_int_equal(
        program("run " SLOWLY "--set scattering.mixing=0.2 --out %s", in_scratch("%s", name)), 2);
    assert_non_null(strstr(printed(), "a checkpoint of a run with other options of scattering"));
    assert_int_equal(program("run " SLOWLY "--out %s", in_scratch("%s", name)), 0);
    assert_non_null(strstr(printed(), "resumed after iteration "));
    assert_true(
        same_contents(in_scratch("whole/scattering.csv"), in_scratch("%s/scattering.csv", name)));
    assert_int_equal(access(in_scratch("%s/scattering", name), F_OK), -1);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(the_chain_has_the_current_of_its_table),
      TEST(threads_do_not_change_a_bit),
      TEST(a_killed_iteration_is_resumed_to_the_same_bits),
      TEST(describe_says_what_an_iteration_takes),
      TEST(describe_says_what_ranks_send),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
