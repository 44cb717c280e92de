/* sweep_slow.c - current-voltage characteristics of a chain n-i-n: files, resumption, refusals. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "program.h"

/* 0.19 electron masses, doped ends, a gate around the middle. */
#define OPTIONS                                                                                \
  "--set energy.min=-0.5 --set energy.max=0.7 --set energy.points=25 "                         \
  "--set electrostatics.enabled=true --set electrostatics.mid_gap=-1 "                         \
  "--set electrostatics.spacing=3 "                                                            \
  "--set 'electrostatics.semiconductor={margin: 4, permittivity: 10}' "                        \
  "--set electrostatics.oxide.thickness=6 "                                                    \
  "--set 'electrostatics.doping=[{from: 0, to: 48, concentration: 3e20}, {from: 72, to: 120, " \
  "concentration: 3e20}]' --set 'electrostatics.gates=[{from: 48, to: 72}]' "
#define CHAIN \
  "--set 'device={chain: {sites: 40, onsite: 4.4561, hopping: -2.22806, spacing: 3}}' " OPTIONS
#define SWEEP "--set 'sweep.drain=[0.05, 0.15]' --set 'sweep.gate=[-0.4, -0.2, 0]' "

/* Skips where the program says that its build has no PETSc. */
static void need_petsc(void)
{
  const int status = program("run " CHAIN "--set 'sweep.gate=[-0.4]' --out %s", in_scratch("try"));

  if (status == 7) {
    assert_non_null(strstr(printed(), "this build has no PETSc"));
    print_message("this build has no PETSc\n");
    skip();
  }
  assert_int_equal(status, 0);
}

static void currents_grow_with_both_voltages(void **state)
{
  double row[6][3];
  char line[512];

  (void)state;
  need_petsc();
  assert_int_equal(program("run " CHAIN SWEEP "--out %s", in_scratch("run")), 0);
  FILE *file = fopen(in_scratch("run/iv.csv"), "r");

  assert_non_null(file);
  assert_non_null(fgets(line, sizeof line, file));
  assert_memory_equal(line, "drain_V,gate_V,current_A,", 25);
  for (int i = 0; i < 6; i++) {
    assert_non_null(fgets(line, sizeof line, file));
    assert_int_equal(sscanf(line, "%lf,%lf,%lf", &row[i][0], &row[i][1], &row[i][2]), 3);
    assert_true(row[i][2] > 0);
    assert_true(i % 3 == 0 || row[i][2] > 5 * row[i - 1][2]);
    assert_true(i < 3 || row[i][2] > row[i - 3][2]);
  }
  (void)fclose(file);
  assert_near(event_number(in_scratch("run"), "run_end", "current_A") / row[5][2], 1, 1e-12);
  assert_int_equal(event_count(in_scratch("run"), "bias_point"), 6);
  /* charges of device and gates add to 0 */
  const char *dir = in_scratch("run");

  assert_near(event_number(dir, "bias_point", "gate_charge") -
                  event_number(dir, "bias_point", "electrons") +
                  event_number(dir, "bias_point", "donors"),
              0, 5e-3);
  assert_true(event_number(dir, "bias_point", "change_eV") < 1e-3);
}

static void a_killed_sweep_is_resumed_to_the_same_bits(void **state)
{
  const char *names[] = {"iv.csv", "convergence.csv", "spectra.csv"};

  (void)state;
  need_petsc();
  assert_int_equal(program("run " CHAIN SWEEP "--threads 1 --out %s", in_scratch("whole")), 0);
  const pid_t process = program_start("run " CHAIN SWEEP "--threads 1 --out %s", in_scratch("cut"));

  for (int i = 0; i < 3000 && access(in_scratch("cut/bias/0001.npy"), F_OK) != 0; i++) {
    (void)usleep(10000);
  }
  assert_int_equal(access(in_scratch("cut/bias/0001.npy"), F_OK), 0);
  (void)kill(process, SIGKILL);
  (void)waitpid(process, NULL, 0);
  assert_int_equal(program("run " CHAIN SWEEP "--threads 1 --out %s", in_scratch("cut")), 0);
  assert_non_null(strstr(printed(), "of an earlier run"));
  assert_null(strstr(printed(), " 0 of an earlier run"));
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    assert_true(same_contents(in_scratch("whole/%s", names[i]), in_scratch("cut/%s", names[i])));
  }
  /* points of another configuration are not taken for its own */
  assert_int_equal(unlink(in_scratch("cut/report.html")), 0);
  assert_int_equal(
      program("run " CHAIN SWEEP "--set contact.temperature=310 --out %s", in_scratch("cut")), 2);
  assert_non_null(strstr(printed(), "another configuration"));
  assert_true(same_contents(in_scratch("whole/iv.csv"), in_scratch("cut/iv.csv")));
}

/* As a folder of any other run: it is not computed again, nor lost. */
static void a_complete_sweep_is_not_repeated(void **state)
{
  (void)state;
  need_petsc();
  assert_int_equal(program("run " CHAIN "--set 'sweep.gate=[-0.4]' --out %s", in_scratch("try")),
                   2);
  assert_non_null(strstr(printed(), "the sweep there is complete"));
  assert_non_null(strstr(printed(), "--overwrite"));
  assert_int_equal(access(in_scratch("try/report.html"), F_OK), 0);
  assert_int_equal(
      program("run " CHAIN "--set 'sweep.gate=[-0.4]' --overwrite --out %s", in_scratch("try")), 0);
  assert_non_null(strstr(printed(), " 0 of an earlier run"));
}

/* What stays of an interrupted sweep is said, and how to go on. */
static void an_interrupted_sweep_says_what_stays(void **state)
{
  int status = 0;

  (void)state;
  need_petsc();
  char gates[1024] = "0";

  for (int i = 1; i < 120; i++) { /* more than it will do before it is asked to stop */
    const size_t used = strlen(gates);

    (void)snprintf(gates + used, sizeof gates - used, ",%.3f", -0.003 * i);
  }
  const pid_t process = program_start("run " CHAIN "--set 'sweep.gate=[%s]' --threads 1 --out %s",
                                      gates, in_scratch("stopped"));

  for (int i = 0; i < 60000 && access(in_scratch("stopped/bias/0001.npy"), F_OK) != 0; i++) {
    (void)usleep(1000);
  }
  (void)kill(process, SIGINT);
  assert_int_equal(waitpid(process, &status, 0), process);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 9);
  assert_non_null(strstr(printed(), " of 120 bias points are kept in "));
  assert_non_null(strstr(printed(), "repeat the command to compute the next"));
}

static void write_file(const char *name, const char *text)
{
  FILE *file = fopen(in_scratch("%s", name), "w");

  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

/* The same chain as files of Wannier90. */
static void write_seed(double hopping)
{
  char text[512];

  (void)snprintf(text, sizeof text,
                 "chain\n1\n3\n1 1 1\n-1 0 0 1 1 %.6f 0\n0 0 0 1 1 %.6f 0\n1 0 0 1 1 %.6f 0\n",
                 hopping, -2 * hopping, hopping);
  write_file("chain_hr.dat", text);
  write_file("chain.win", "begin unit_cell_cart\nAng\n3 0 0\n0 20 0\n0 0 20\nend unit_cell_cart\n");
  write_file("chain_centres.xyz", "2\ncentres\nX 0 0 0\nSi 0 0 0\n");
}

/* The configuration is the same, its files are not: no points of the old device in a new table. */
static void points_of_changed_files_are_not_resumed(void **state)
{
  char seed[512];

  (void)state;
  need_petsc();
  write_seed(-2.22806);
  (void)snprintf(seed, sizeof seed, "%s", in_scratch("chain"));
  for (int round = 0; round < 3; round++) {
    if (round > 0) { /* as of a run that was stopped before its report */
      assert_int_equal(unlink(in_scratch("files/report.html")), 0);
    }
    const int status = program("run --set 'device={wannier: {seed: %s, cells: 40}}' " OPTIONS
                               "--set 'sweep.gate=[-0.4]' --out %s",
                               seed, in_scratch("files"));

    assert_int_equal(status, round < 2 ? 0 : 2);
    assert_true(round != 1 || strstr(printed(), " 1 of an earlier run") != NULL);
    if (round == 1) {
      write_seed(-2);
    }
  }
  assert_non_null(strstr(printed(), "of another device in the same files"));
}

/* As describe says it: the peak of a sweep whose blocks take the most, without and with a budget.
 */
static void memory_is_what_describe_says(void **state)
{
  const char *const device =
      "--set 'device={square: {width: 40, length: 26, onsite: 8.8, hopping: -2.2}}' "
      "--set energy.min=0.1 --set energy.max=0.2 --set energy.points=2 "
      "--set electrostatics.enabled=true --set electrostatics.mid_gap=-1 "
      "--set electrostatics.spacing=4 --set electrostatics.tolerance=1 "
      "--set electrostatics.max_band_points=128 --set electrostatics.semiconductor.margin=4 "
      "--set 'electrostatics.doping=[{from: 0, to: 26, concentration: 3e20}]' "
      "--set 'sweep.drain=[0.1]' --threads 2";
  double budget = 0; /* MiB; 0: none */

  (void)state;
  need_petsc();
  for (int i = 0; i < 2; i++) {
    const char *const run = in_scratch("memory%d", i), *const key = "# memory of the sweep: ";

    assert_int_equal(program("describe %s --set memory.budget=%.6f", device, budget), 0);
    const char *const line = strstr(printed(), key);

    assert_non_null(line);
    const double predicted = strtod(line + strlen(key), NULL);

    assert_int_equal(program("run %s --set memory.budget=%.6f --out %s", device, budget, run), 0);
    const double peak = event_number(run, "memory", "peak_bytes");

    assert_near(predicted / peak, 1, 0.05);
    assert_near(event_number(run, "memory", "predicted_bytes") / peak, 1, 0.05);
    assert_true(i == 0 || peak <= budget * (1 << 20));
    budget = 0.75 * peak / (1 << 20);
  }
  assert_true(same_contents(in_scratch("memory0/iv.csv"), in_scratch("memory1/iv.csv")));
  assert_int_equal(program("run %s --set memory.budget=4 --out %s", device, in_scratch("less")), 2);
  assert_non_null(strstr(printed(), "memory.budget: "));
  assert_int_equal(access(in_scratch("less"), F_OK), -1);
}

static void what_cannot_be_is_refused(void **state)
{
  (void)state;
  need_petsc();
  assert_int_equal(program("run " CHAIN "--set electrostatics.mid_gap=1 --out %s", in_scratch("a")),
                   2);
  assert_non_null(strstr(printed(), "electrostatics.mid_gap 1 eV lies in a band"));
  assert_int_equal(program("run " CHAIN SWEEP "--set electrostatics.max_iterations=1 "
                           "--set electrostatics.tolerance=1e-9 --out %s",
                           in_scratch("b")),
                   6);
  assert_non_null(strstr(printed(), "no self-consistent potential after 1 iterations"));
  assert_int_equal(
      program("run --set 'device={agnr: {width: 7, length: 8}}' --set electrostatics.enabled=true "
              "--set electrostatics.mid_gap=0 --set 'electrostatics.doping=[{from: 0, to: 40, "
              "concentration: 1e20}]' --set 'sweep.drain=[4]' --out %s",
              in_scratch("d")),
      6);
  assert_non_null(strstr(printed(), "drain 4 V, gate 0 V: the potential energy varies by "));
  assert_non_null(strstr(printed(), "Band-to-band tunnelling is not computed"));
  assert_int_equal(program("run --set 'device={harmonic_chain: {}}' --set energy.min=0.001 --set "
                           "energy.max=0.01 --set electrostatics.enabled=true --out %s",
                           in_scratch("c")),
                   2);
  assert_non_null(strstr(printed(), "electrostatics.enabled is true, but device: harmonic_chain"));
  assert_int_equal(access(in_scratch("c"), F_OK), -1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(currents_grow_with_both_voltages),
      TEST(a_killed_sweep_is_resumed_to_the_same_bits),
      TEST(a_complete_sweep_is_not_repeated),
      TEST(an_interrupted_sweep_says_what_stays),
      TEST(points_of_changed_files_are_not_resumed),
      TEST(memory_is_what_describe_says),
      TEST(what_cannot_be_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
