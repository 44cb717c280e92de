/* commands_slow.c - the commands on small devices: closed forms, the same bits on any number of
 * threads, refusals. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "program.h"

/* Rows of DIR/spectra.csv, [energy, transmission, modes, dos]. */
static int64_t read_spectra(const char *dir, double (*row)[4], int64_t max_rows)
{
  FILE *file = fopen(in_scratch("%s/spectra.csv", dir), "r");
  char line[256];
  int64_t n = 0;

  assert_non_null(file);
  assert_non_null(fgets(line, sizeof line, file));
  for (; n < max_rows && fgets(line, sizeof line, file) != NULL; n++) {
    row[n][3] = 0; /* where output.dos is off */
    assert_true(sscanf(line, "%lf,%lf,%lf,%lf", &row[n][0], &row[n][1], &row[n][2], &row[n][3]) >=
                3);
  }
  (void)fclose(file);
  return n;
}

static void an_impurity_scatters_as_the_formula_says(void **state)
{
  double row[200][4];

  (void)state;
  assert_int_equal(program("run --config " WEIR_SOURCE_DIR
                           "/configs/quantum_transport/tiny.yaml --set lead.method=modes --out %s",
                           in_scratch("run")),
                   0);
  assert_int_equal(read_spectra("run", row, 200), 191);
  for (int i = 0; i < 191; i++) {
    const double e = row[i][0];

    assert_near(row[i][1], 1 / (1 + 0.49 / (4 - e * e)), 1e-10);
    assert_near(row[i][2], 1, 0);
  }
}

/* By wave functions the same, in a build that has PETSc; else what to set is said. Of options of
 * PETSc the one is warned of that nothing reads. */
static void wave_functions_scatter_alike(void **state)
{
  double row[200][4];

  (void)state;
  const int status = program("run --config " WEIR_SOURCE_DIR
                             "/configs/quantum_transport/tiny.yaml --set lead.method=modes "
                             "--set transport.method=qtbm --set output.channels=true "
                             "--set 'petsc=[\"-qtbm_mat_mumps_icntl_7 5\", \"-qtbm_no 1\"]' "
                             "--out %s",
                             in_scratch("waves"));

  if (status != 0) {
    assert_int_equal(status, 7);
    assert_non_null(strstr(printed(), "set transport.method: rgf"));
    return;
  }
  assert_non_null(strstr(printed(), "petsc: \"-qtbm_no 1\" was read by no solver"));
  assert_null(strstr(printed(), "icntl_7 5\" was read by no solver"));
  assert_true(event_number(in_scratch("waves"), "phases", "sparse_systems_s") > 0);
  assert_int_equal(read_spectra("waves", row, 200), 191);
  for (int i = 0; i < 191; i++) {
    assert_near(row[i][1], 1 / (1 + 0.49 / (4 - row[i][0] * row[i][0])), 1e-10);
    assert_near(row[i][2], 1, 0);
  }
}

static void current_of_an_open_channel_is_the_bias_by_the_quantum(void **state)
{
  (void)state;
  assert_int_equal(program("run --set device=chain --set energy.min=-1 --set energy.max=1 "
                           "--set energy.points=2001 --set contact.temperature=30 --set "
                           "lead.method=modes --out %s",
                           in_scratch("run")),
                   0);
  assert_near(event_number(in_scratch("run"), "run_end", "current_A"), 2 * 3.874045865e-5 * 0.1,
              1e-10);
  assert_near(event_number(in_scratch("run"), "run_end", "conductance_S"), 2 * 3.874045865e-5,
              1e-10);
  assert_non_null(strstr(printed(), ", 1 times 2e\xc2\xb2/h\n"));
}

/* T(E) = #{p: |E - 2 t cos(p pi / (W + 1))| < 2 |t|}, and the conductance of 36 modes at 0 K. */
static void the_paper_study_has_the_modes_of_the_formula(void **state)
{
  enum { WIDTH = 50, ROWS = 134 };
  static double row[ROWS + 1][4];

  (void)state;
  assert_int_equal(program("run --config " WEIR_SOURCE_DIR
                           "/configs/quantum_transport/paper.yaml --set output.bands=0 --set "
                           "output.dos=false --out %s",
                           in_scratch("run")),
                   0);
  assert_int_equal(read_spectra("run", row, ROWS + 1), ROWS);
  for (int i = 0; i < ROWS; i++) {
    int modes = 0;

    for (int p = 1; p <= WIDTH; p++) {
      modes += fabs(row[i][0] + 2 * cos(p * M_PI / (WIDTH + 1))) < 2;
    }
    assert_near(row[i][1], modes, 1e-10);
    assert_near(row[i][2], modes, 0);
  }
  assert_near(event_number(in_scratch("run"), "run_end", "conductance_S"), 72 * 3.874045865e-5,
              1e-12);
}

static void threads_do_not_change_a_bit(void **state)
{
  static const char *const runs[] = {"one", "two"};

  (void)state;
  for (int t = 0; t < 2; t++) {
    assert_int_equal(program("run --set 'device={agnr: {width: 7, length: 6, disorder: 1}}' "
                             "--set energy.points=40 --threads %d --out %s",
                             t + 1, in_scratch("%s", runs[t])),
                     0);
  }
  assert_true(same_contents(in_scratch("one/spectra.csv"), in_scratch("two/spectra.csv")));
}

static void heat_of_a_chain_at_low_temperature_is_the_quantum(void **state)
{
  static const char *const methods[] = {"modes", "decimation"};

  (void)state; /* pi^2 k_B^2 T / (3 h) = 9.4643e-13 W/K^2 T for one branch */
  for (int m = 0; m < 2; m++) {
    for (double t = 10; t > 0.1; t /= 10) {
      const char *const run = in_scratch("%s%g", methods[m], t);

      assert_int_equal(
          program("run --set device=harmonic_chain --set energy.min=%g --set energy.max=%g --set "
                  "energy.points=2000 --set lead.method=%s --set "
                  "'contact.conductance_temperatures=[%g]' --set output.dos=false --out %s",
                  1e-7 * t, 2e-3 * t, methods[m], t, run),
          0);
      assert_near(event_number(run, "thermal_conductance", "conductance_W_per_K"), 9.4643e-13 * t,
                  0.01 * 9.4643e-13 * t);
    }
  }
}

/* Steps of 2 meV: k_B T at 23 K. Below that nothing is given, above it what the step allows. */
static void thermal_conductance_is_not_given_where_the_grid_is_coarse(void **state)
{
  (void)state;
  assert_int_equal(program("run --set device=harmonic_chain --set 'energy={min: 0.001, max: 0.061, "
                           "points: 31}' --set lead.method=modes --set "
                           "'contact.conductance_temperatures=[10, 22, 24]' --out %s",
                           in_scratch("run")),
                   0);
  assert_non_null(strstr(printed(), "thermal conductance at 10 K: unknown (too few energies"));
  assert_non_null(strstr(printed(), "thermal conductance at 22 K: unknown"));
  assert_null(strstr(printed(), "thermal conductance at 24 K: unknown"));
  assert_non_null(strstr(printed(), "at least 71 energies"));
  assert_near(event_number(in_scratch("run"), "thermal_conductance", "conductance_W_per_K"),
              24 * 9.4643e-13, 0.02 * 24 * 9.4643e-13);
}

static void grids_that_miss_the_window_are_named(void **state)
{
  const struct {
    const char *arguments, *text, *conductance;
  } cases[] = {
      {"--set device=chain --set contact.mu=1.9", "do not hold the window of the leads", NULL},
      {"--set device=chain --set contact.mu=9", "do not hold the window of the leads", "-"},
      {"--set device=chain --set energy.points=1", "do not hold the window of the leads", "-"},
      {"--set device=chain --set energy.points=81", "more than k_B T", NULL},
      {"--set device=chain --set energy.points=51", "give at least 176 energies", "-"},
      {"--set device=chain --set contact.mu=9 --set contact.temperature=0", "do not hold", "-"},
      {"--set device=chain --set energy.points=51 --set energy.tolerance=1e-3 --set "
       "energy.shift=0.05",
       "energy.shift: intervals of the energies narrower than 0.2 eV are not halved, and "
       "currents or conductances depend on them by more than energy.tolerance 0.001: give a "
       "smaller "
       "energy.shift, or a larger energy.tolerance",
       "-"},
      {"--set device=harmonic_chain --set energy.min=1e-4", "do not hold the window of the leads",
       NULL},
      {"--set device=harmonic_chain --set energy.min=1e-2 --set 'contact={temperature: 50, "
       "conductance_temperatures: [50]}'",
       "more than k_B T", NULL},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *const run = in_scratch("window%zu", i);

    assert_int_equal(program("run --set energy.max=%s %s --out %s", i == 7 ? "0.01" : "2",
                             cases[i].arguments, run),
                     0);
    assert_non_null(strstr(printed(), cases[i].text));
    if (cases[i].conductance != NULL) {
      assert_string_equal(cell_after(run, "summary", "conductance at zero bias, both spins"),
                          cases[i].conductance);
      assert_non_null(strstr(printed(), "conductance unknown"));
    }
  }
  assert_non_null(strstr(printed(), "and a lower energy.min"));
  assert_non_null(strstr(printed(), "thermal conductance at 50 K: unknown"));
  assert_int_equal(program("run --out %s", in_scratch("usual")), 0);
  assert_null(strstr(printed(), "window"));
  assert_null(strstr(printed(), "k_B T"));
}

/* Energies are added for every temperature of the table, however long it is. */
static void energies_are_added_for_all_temperatures(void **state)
{
  char list[1024] = "[300";
  int64_t added[3];

  (void)state;
  for (int i = 0; i < 3; i++) { /* 300 K, with 20 K at its end, with others between them */
    const char *const run = in_scratch("table%d", i);
    char end[16] = "";

    for (int n = 0; i == 2 && n < 80; n++) {
      (void)strcat(list, ", 300");
    }
    (void)snprintf(end, sizeof end, i > 0 ? ", 20]" : "]");
    assert_int_equal(
        program("run --set 'device={harmonic_chain: {defect_mass: 90, defect_site: 5}}'"
                " --set 'energy={min: 1e-3, max: 0.061, points: 3, tolerance: 1e-4}' "
                "--set 'contact={temperature: 300, conductance_temperatures: %s%s}' "
                "--set lead.method=modes --set output.dos=false --out %s",
                list, end, run),
        0);
    const char *const text = strstr(printed(), "energy.tolerance: ");

    assert_non_null(text);
    added[i] = strtoll(text + strlen("energy.tolerance: "), NULL, 10);
  }
  assert_true(added[0] > 0 && added[1] > added[0]);
  assert_int_equal(added[2], added[1]);
}

/* No time is known beforehand: rows of all phases, and the rates that belong together. */
static void phases_are_timed_relative_to_products(void **state)
{
  (void)state;
  assert_int_equal(program("bench --set 'device={silicon_wire: {length: 2, height: 1, width: 1}}' "
                           "--set 'energy={min: 4, max: 5, points: 3}' --set bench.repeats=2 --set "
                           "bench.zgemm=0.01 --out %s",
                           in_scratch("bench")),
                   0);
  const char *const dir = in_scratch("bench");

  assert_near(event_number(dir, "bench_end", "block"), 60, 0);
  assert_true(event_number(dir, "bench_end", "zgemm_gflop_per_s") > 0);
  assert_true(event_number(dir, "bench_end", "lead_decimation_s") > 0);
  assert_true(event_number(dir, "bench_end", "transmission_s") > 0);
  char *const text = contents(in_scratch("bench/bench.csv"));

  assert_non_null(strstr(text, "phase,time_s,gflop,gflop_per_s,relative_to_zgemm\n"));
  assert_non_null(strstr(text, "zgemm of 60 x 60"));
  free(text);
  /* of phonons the energy is hbar omega, within the band */
  assert_int_equal(
      program("bench --set device=harmonic_chain --set 'energy={min: 0.019, max: 0.021, "
              "points: 3}' --set bench.repeats=1 --set bench.zgemm=0.01 --out %s",
              in_scratch("phonons")),
      0);
  assert_near(event_number(in_scratch("phonons"), "bench_end", "modes"), 1, 0);
  const int refused = program("bench --set lead.method=slepc --set 'petsc=[wrong]' --out %s",
                              in_scratch("refused"));

  assert_true(refused == 2 || refused == 7); /* 7: this build has no SLEPc */
  assert_int_equal(program("run --out %s", in_scratch("run")), 0);
  assert_non_null(cell_after(in_scratch("run"), "speed", "zgemm of 1 x 1"));
}

/* Both runs have the same transmissions, modes and densities of states. */
static void assert_same_spectra(const char *a, const char *b, int64_t rows)
{
  static double x[64][4], y[64][4];

  assert_int_equal(read_spectra(a, x, 64), rows);
  assert_int_equal(read_spectra(b, y, 64), rows);
  for (int64_t i = 0; i < 4 * rows; i++) {
    assert_near((&x[0][0])[i], (&y[0][0])[i], 1e-10);
  }
}

/* A line of sites with an overlap, as Matrix Market files. */
static void write_chain(const char *path, double diagonal, double next)
{
  enum { SITES = 9 };
  FILE *const file = fopen(path, "w");

  assert_non_null(file);
  fprintf(file, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", SITES, SITES,
          3 * SITES - 2);
  for (int i = 1; i <= SITES; i++) {
    for (int j = i > 1 ? i - 1 : 1; j <= i + 1 && j <= SITES; j++) {
      fprintf(file, "%d %d %.17g\n", i, j, i == j ? diagonal + (i == 5) * 0.4 * diagonal : next);
    }
  }
  (void)fclose(file);
}

/* A ribbon with flux (complex), a slab at a wave vector, a chain with overlap. */
static void prepared_matrices_are_the_device(void **state)
{
  char chain[512];

  (void)state;
  write_chain(in_scratch("h.mtx"), 0.3, -1);
  write_chain(in_scratch("s.mtx"), 1, 0.08);
  (void)snprintf(chain, sizeof chain,
                 "matrices: {h: %s, s: %s, left: {layer: 1}, right: {layer: 1}}",
                 in_scratch("h.mtx"), in_scratch("s.mtx"));
  const struct {
    const char *device, *k, *prepare;
  } cases[] = {
      {"agnr: {width: 4, length: 3, flux: 0.07, drop: 0.2, disorder: 0.3}", "{}", "{}"},
      {"silicon_fin: {length: 2, height: 1}", "{nz: 2}", "{kz: 0.25}"}, /* kz and -kz alike */
      {chain, "{}", "{}"},
  };

  for (int i = 0; i < 3; i++) {
    const char *const energies = i == 1 ? "{min: 2, max: 4, points: 9}" : "{points: 21}";

    assert_int_equal(program("run --set 'device={%s}' --set 'k=%s' --set 'energy=%s' --out %s",
                             cases[i].device, cases[i].k, energies, in_scratch("direct%d", i)),
                     0);
    assert_int_equal(program("prepare --set 'device={%s}' --set 'prepare=%s' --out %s",
                             cases[i].device, cases[i].prepare, in_scratch("prepared%d", i)),
                     0);
    assert_int_equal(program("run --config %s --set 'energy=%s' --out %s",
                             in_scratch("prepared%d/device.yaml", i), energies,
                             in_scratch("again%d", i)),
                     0);
    char direct[32], again[32];

    (void)snprintf(direct, sizeof direct, "direct%d", i);
    (void)snprintf(again, sizeof again, "again%d", i);
    assert_same_spectra(direct, again, i == 1 ? 9 : 21);
    assert_int_equal(access(in_scratch("prepared%d/bands.csv", i), F_OK), 0);
  }
  assert_int_equal(program("prepare --out \"%s\"", in_scratch("it's")), 0);
  assert_int_equal(program("run --config \"%s\" --set energy.points=3 --out %s",
                           in_scratch("it's/device.yaml"), in_scratch("of_it")),
                   0);
  char *const text = contents(in_scratch("prepared0/device.csv"));

  assert_non_null(strstr(text, "orbitals,24,1\n"));
  assert_non_null(strstr(text, "orbitals of a cell of the left lead,8,1\n"));
  free(text);
  assert_int_equal(program("prepare --set prepare.kz=0.1 --out %s", in_scratch("wrong")), 2);
  assert_non_null(strstr(printed(), "prepare.kz is 0.1"));
  assert_int_equal(program("prepare --set device=harmonic_chain --set energy.min=0.01 --out %s",
                           in_scratch("phonons")),
                   2);
}

static void what_is_wrong_is_refused_by_name(void **state)
{
  const struct {
    const char *arguments, *text;
    int status;
  } cases[] = {
      {"--set device=nothing", "device", 2},
      {"--set energy.min=1 --set energy.max=0", "energy.min", 2},
      {"--set k.nz=3", "not periodic along z", 2},
      {"--set device=harmonic_chain", "hbar omega", 2},
      {"--set 'device={chain: {hopping: 0}}'", "device.chain.hopping", 2},
      {"--set 'device={agnr: {width: 1}}'", "device.agnr.width", 2},
      {"--set 'device={wannier: {seed: nowhere}}'", "nowhere", 3},
      {"--set transport.method=qtbm", "set lead.method: modes", 2},
      {"--set output.channels=true", "transport.method: qtbm", 2},
      {"--device cuda", "cpu", 7},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(program("run %s --out %s", cases[i].arguments, in_scratch("wrong%zu", i)),
                     cases[i].status);
    assert_non_null(strstr(printed(), cases[i].text));
  }
}

static void describe_says_what_a_run_would_cost(void **state)
{
  (void)state;
  assert_int_equal(program("describe --set 'device={agnr: {width: 7}}'"), 0);
  assert_non_null(strstr(printed(), "280 orbitals of 280 atoms in 20 blocks of 14 to 14"));
  assert_non_null(strstr(printed(), "flop\n"));
  assert_non_null(strstr(printed(), "points at once on "));
  const int status = program("describe --set transport.method=qtbm --set lead.method=modes");

  assert_true(status == 0 || status == 7); /* 7: this build has no PETSc */
  assert_non_null(strstr(printed(), status == 0 ? "# sparse factors: " : "transport.method: rgf"));
  assert_int_equal(program("describe --set 'device={silicon_fin: {}}'"), 0);
  assert_non_null(strstr(printed(), "periodic along z and k.nz is 1"));
}

/* As describe says it: the peak of the run, without and with a budget of 3/4 of it. */
static void memory_is_what_describe_says(void **state)
{
  const char *const device =
      "--set 'device={agnr: {width: 12, length: 40}}' --set energy.points=41";
  double budget = 0; /* MiB; 0: none */

  (void)state;
  for (int i = 0; i < 2; i++) {
    const char *const run = in_scratch("budget%d", i);

    assert_int_equal(program("describe %s --set memory.budget=%.6f --threads 2", device, budget),
                     0);
    const char *const line = strstr(printed(), "# memory: ");

    assert_non_null(line);
    const double predicted = strtod(line + strlen("# memory: "), NULL);

    assert_int_equal(
        program("run %s --set memory.budget=%.6f --threads 2 --out %s", device, budget, run), 0);
    const double peak = event_number(run, "memory", "peak_bytes");

    assert_true(fabs(predicted - peak) <= 0.05 * peak);
    assert_true(i == 0 || peak <= budget * (1 << 20));
    budget = 0.75 * peak / (1 << 20);
  }
  assert_true(same_contents(in_scratch("budget0/spectra.csv"), in_scratch("budget1/spectra.csv")));
  assert_int_equal(program("run %s --set memory.budget=1 --out %s", device, in_scratch("less")), 2);
  assert_non_null(strstr(printed(), "memory.budget: "));
  assert_int_equal(access(in_scratch("less"), F_OK), -1);
}

/* Seconds of the phases of one thread are no more than what elapsed; flops are those of describe.
 */
static void phases_are_timed(void **state)
{
  static const char *const more[] = {"", "--set output.dos=false"};
  const char *const device = "--set 'device={agnr: {width: 20, length: 9}}' --set energy.points=21 "
                             "--set energy.shift=0 --set energy.min=-2.437 --set energy.max=2.211";

  (void)state;
  for (int i = 0; i < 2; i++) {
    const char *const run = in_scratch("phases%d", i);

    assert_int_equal(program("describe %s %s", device, more[i]), 0);
    const char *const line = strstr(printed(), "Green's functions of all points: ");

    assert_non_null(line);
    const double flops = 1e9 * strtod(line + strlen("Green's functions of all points: "), NULL);

    assert_int_equal(program("run %s %s --threads 1 --out %s", device, more[i], run), 0);
    const double leads = event_number(run, "phases", "leads_s");
    const double recursion = event_number(run, "phases", "recursion_s");
    const double assembly = event_number(run, "phases", "assembly_s");

    assert_near(event_number(run, "phases", "recursion_flops"), flops, 1e-3 * flops);
    assert_near(event_number(run, "phases", "leads_flops") /
                    event_number(run, "phases", "leads_flop_per_s"),
                leads, 1e-9 * leads);
    assert_true(leads > 0 && recursion > 0 && assembly > 0);
    assert_true(leads + recursion + assembly <= event_number(run, "phases", "elapsed_s"));
    assert_near(event_number(run, "phases", "threads"), 1, 0);
    assert_near(event_number(run, "phases", "ranks"), 1, 0);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(an_impurity_scatters_as_the_formula_says),
      TEST(wave_functions_scatter_alike),
      TEST(current_of_an_open_channel_is_the_bias_by_the_quantum),
      TEST(the_paper_study_has_the_modes_of_the_formula),
      TEST(threads_do_not_change_a_bit),
      TEST(heat_of_a_chain_at_low_temperature_is_the_quantum),
      TEST(thermal_conductance_is_not_given_where_the_grid_is_coarse),
      TEST(grids_that_miss_the_window_are_named),
      TEST(energies_are_added_for_all_temperatures),
      TEST(phases_are_timed_relative_to_products),
      TEST(prepared_matrices_are_the_device),
      TEST(what_is_wrong_is_refused_by_name),
      TEST(describe_says_what_a_run_would_cost),
      TEST(memory_is_what_describe_says),
      TEST(phases_are_timed),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
