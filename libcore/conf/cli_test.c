/* cli_test.c - what the common command line accepts, refuses and answers. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "conf/conf_priv.h"
#include "conf/weir_cli.h"
#include "conf/weir_rundir.h"

struct grid {
  int by;
  int64_t across, along;
};

struct options {
  int64_t seed;
  double rate;
  struct grid grid;
};

static const weir_opt grid_rows[] = {
    WEIR_OPT_INT(struct grid, across, 0, 0, 8, "ranks", "the first"),
    WEIR_OPT_INT(struct grid, along, 5, 0, 8, "ranks", "the second"),
    WEIR_OPT_ENUM(struct grid, by, 0, "numbers|auto", "what says it"),
    WEIR_OPT_END,
};

static const weir_opt rows[] = {
    WEIR_OPT_INT(struct options, seed, 1, 0, 0x1p63, "1", "seed of the run"),
    WEIR_OPT_REAL(struct options, rate, 0.5, 0, 1, "1", "rate"),
    WEIR_OPT_TABLE(struct options, grid, grid_rows, "ranks"),
    WEIR_OPT_END,
};

/* What is set alone, or everything. */
static weir_status describe(const weir_cli *cli)
{
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  weir_config *config = NULL;
  struct options options;

  assert_non_null(out);
  assert_ok(weir_cli_config(cli, &options, &config));
  assert_ok(weir_cli_print_config(cli, config, out));
  (void)fclose(out);
  assert_int_equal(strstr(text, "rate: 0.5  # default") != NULL, cli->all);
  assert_int_equal(strstr(text, "across: 0  # default") != NULL, cli->all);
  assert_int_equal(strstr(text, "(--all prints them)") != NULL, !cli->all);
  if (cli->n_sets > 0) {
    assert_non_null(strstr(text, "grid:\n  "));
    assert_non_null(strstr(text, "along: 3  # --set grid.along=3"));
  } else {
    assert_true(cli->all || strstr(text, ":\n") == NULL);
  }
  free(text);
  weir_config_destroy(&config);
  return WEIR_OK;
}

/* `run` checks the command line of the first test; the others do what their names say. */
static weir_status run(const weir_cli *cli)
{
  weir_config *config = NULL;
  struct options options;

  assert_string_equal(cli->command, "run");
  assert_int_equal(cli->n_sets, 2);
  assert_string_equal(cli->sets[1], "rate=-0.25e1");
  assert_int_equal(cli->threads, 3);
  assert_int_equal(cli->seed, 7);
  assert_true(cli->has_seed && cli->overwrite);
  assert_string_equal(cli->device, "cuda");
  assert_int_equal(cli->log, WEIR_LOG_ERROR);
  assert_string_equal(cli->out, "somewhere");
  assert_int_equal(cli->argc, 16);
  assert_string_equal(cli->argv[1], "--set"); /* as it came, not as getopt ordered it */
  assert_int_equal(weir_cli_config(cli, &options, &config), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "rate: -0.25e1 is outside [0, 1]"));
  return WEIR_OK;
}

static weir_status seeded(const weir_cli *cli)
{
  weir_config *config = NULL;
  struct options options;

  WEIR_TRY(weir_cli_config(cli, &options, &config));
  assert_int_equal(options.seed, cli->has_seed ? 7 : 3);
  weir_config_destroy(&config);
  return WEIR_OK;
}

static weir_status gridded(const weir_cli *cli)
{
  weir_config *config = NULL;
  struct options options;

  WEIR_TRY(weir_cli_config(cli, &options, &config));
  assert_int_equal(options.grid.across, 3);
  assert_int_equal(options.grid.along, strcmp(cli->grid, "3") == 0 ? 5 : 2);
  weir_config_destroy(&config);
  return WEIR_OK;
}

/* Where a file says auto, numbers of the flag win; and auto of the flag over numbers. */
static weir_status chosen(const weir_cli *cli)
{
  weir_config *config = NULL;
  struct options options;

  WEIR_TRY(weir_cli_config(cli, &options, &config));
  assert_int_equal(options.grid.by, strcmp(cli->grid, "auto") == 0);
  assert_int_equal(options.grid.across, strcmp(cli->grid, "auto") == 0 ? 4 : 3);
  weir_config_destroy(&config);
  return WEIR_OK;
}

static weir_status bench(const weir_cli *cli)
{
  return cli->n_args == 1 && strcmp(cli->args[0], "peaks") == 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA, "no peaks");
}

static weir_status run_part(const weir_cli *cli)
{
  assert_int_equal(cli->n_args, 1);
  assert_string_equal(cli->args[0], "two");
  return WEIR_OK;
}

static weir_status stop(const weir_cli *cli)
{
  (void)cli;
  assert_false(weir_stop_requested());
  assert_int_equal(raise(SIGTERM), 0);
  assert_int_equal(raise(SIGTERM), 0); /* of all processes of a job, and from its launcher */
  assert_true(weir_stop_requested());
  assert_int_equal(weir_stop_signal(), SIGTERM);
  return weir_fail(WEIR_ERR_STOPPED, "stopped");
}

static weir_status threaded(const weir_cli *cli)
{
  assert_int_equal(cli->ranks, 3);
  return WEIR_OK;
}

static const weir_command commands[] = {
    {.name = "run", .help = "runs", .run = run, .resumes = true},
    {.name = "seeded", .help = "seeds", .run = seeded},
    {.name = "describe", .help = "prints", .run = describe},
    {.name = "gridded", .help = "ranks", .run = gridded, .ranks = WEIR_LAUNCHED_RANKS},
    {.name = "threaded", .help = "ranks", .run = threaded, .ranks = WEIR_THREAD_RANKS},
    {.name = "chosen", .help = "ranks", .run = chosen},
    {.name = "bench", .help = "measures", .args = "[peaks]", .run = bench},
    {.name = "part", .help = "does a part", .args = "one|two|three", .run = run_part},
    {.name = "stop", .help = "stops", .run = stop},
    {.name = NULL},
};
static const weir_app app = {.name = "demo",
                             .summary = "a program",
                             .commands = commands,
                             .opts = rows,
                             .opts_size = sizeof(struct options)};

enum { WORDS = 24 };

/* The allocation that fails in the next command (0: none), and how many it made. */
static int64_t fail_at, allocations;

/* Runs a command line given as one text; what it printed is in *out and *err (free both). */
static int command(const char *line, char **out, char **err)
{
  size_t out_size = 0, err_size = 0;
  char *argv[WORDS + 1], *copy = strdup(line), *save = NULL;
  FILE *o = open_memstream(out, &out_size), *e = open_memstream(err, &err_size);
  int argc = 0;

  assert_true(copy != NULL && o != NULL && e != NULL);
  for (char *w = strtok_r(copy, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save)) {
    assert_true(argc < WORDS);
    argv[argc++] = w;
  }
  argv[argc] = NULL;
  weir_alloc_fail_after(fail_at);
  const int status = weir_cli_run(argc, argv, &app, o, e);
  allocations = weir_alloc_count();
  weir_alloc_fail_after(0);
  assert_int_equal(fclose(o), 0);
  assert_int_equal(fclose(e), 0);
  free(copy);
  weir_log_set_level(WEIR_LOG_INFO);
  return status;
}

/* Runs and expects `status` and `text` in what is printed (stderr for a failure). */
static void expect(const char *line, int status, const char *text)
{
  char *out = NULL, *err = NULL;

  assert_int_equal(command(line, &out, &err), status);
  const char *printed = status == 0 ? out : err;
  if (strstr(printed, text) == NULL) {
    fprintf(stderr, "%s\nprints: %s\nexpected: %s\n", line, printed, text);
  }
  assert_non_null(strstr(printed, text));
  free(out);
  free(err);
}

static void flags_reach_the_command(void **state)
{
  (void)state;
  expect("demo --set seed=3 --set=rate=-0.25e1 run --threads 3 --seed 7 --device cuda --log error "
         "--out somewhere --overwrite",
         0, "");
  expect("demo bench peaks --set seed=1 --set seed=2", 0, "");
  expect("demo bench -- peaks", 0, "");
  expect("demo part two", 0, "");
  expect("demo seeded --set seed=3", 0, "");
  expect("demo seeded --seed 7 --set seed=3", 0, "");
  expect("demo gridded --grid 3x2 --set grid.across=1", 0, "");
  expect("demo gridded --grid 3", 0, "");
  expect("demo chosen --grid auto --set grid.across=4", 0, "");
  expect("demo chosen --grid 3x1 --set grid.by=auto", 0, "");
}

static void all_of_a_configuration_is_printed_on_request(void **state)
{
  (void)state;
  expect("demo describe", 0, "");
  expect("demo describe --set grid.along=3", 0, "");
  expect("demo describe --all --set grid.along=3", 0, "");
}

static void wrong_command_lines_are_refused(void **state)
{
  static const char *const cases[][2] = {
      {"demo run --device a'b", "--device: a'b: is not the name of a device"},
      {"demo", "no command given (demo --help lists commands and flags)"},
      {"demo rnu", "command line: rnu: unknown command (nearest: run)"},
      {"demo option", "command line: option: unknown command (nearest: options)"},
      {"demo xyzzy", "command line: xyzzy: unknown command (demo"},
      {"demo run --confg a", "command line: --confg: unknown flag (nearest: --config)"},
      {"demo run --over", "command line: --over: unknown flag"},
      {"demo run --conf=a", "command line: --conf=a: unknown flag (nearest: --config)"},
      {"demo run -x", "command line: -x: unknown flag (demo"},
      {"demo run -xy", "command line: -x: unknown flag (demo"},
      {"demo run --overwrite=1", "command line: --overwrite=1: takes no value"},
      {"demo run --seed", "command line: --seed: needs a value"},
      {"demo run --input x", "--input: x: this program takes no input"},
      {"demo run --seed 1 --seed 2", "--seed: 2: is given twice: give it once"},
      {"demo run --out a --overwrite --out=b", "--out: b: is given twice"},
      {"demo run --seed 1x", "--seed: 1x: has characters after the number"},
      {"demo run --seed -1", "--seed: -1: is outside [0, 9223372036854775807]"},
      {"demo run --grid 2x", "--grid: 2x: is not a grid"},
      {"demo run --grid x2", "--grid: x2: is not a grid"},
      {"demo run --grid 2x2x2", "--grid: 2x2x2: is not a grid"},
      {"demo run --grid 2y2", "--grid: 2y2: is not a grid"},
      {"demo run --grid=", "--grid: : is not a grid"},
      {"demo run --grid autox2", "--grid: autox2: is not a grid"},
      {"demo gridded --grid 9x1", "grid={by: numbers, across: 9, along: 1}"},
      {"demo run --threads 5000", "--threads: 5000: is outside [0, 4096]"},
      {"demo run --threads two", "--threads: two: is not a whole number"},
      {"demo run --log loud", "loud"},
      {"demo run --out=", "--out: \"\": is not a folder"},
      {"demo run 100", "run: 100: the command takes no arguments"},
      {"demo run --all", "run: --all: is a flag of the command describe"},
      {"demo run --yaml", "run: --yaml: is a flag of the command options"},
      {"demo run --man", "run: --man: is a flag of the command options"},
      {"demo run --completion zsh", "run: --completion: is a flag of the command options"},
      {"demo options --completion fish", "--completion: fish: is no shell: give bash or zsh"},
      {"demo options --man --yaml", "options: give one of --yaml, --markdown, --man and"},
      {"demo options more", "options: more: the command takes no arguments (demo"},
      {"demo part", "part: an argument is missing: give one of one|two|three"},
      {"demo part twe", "part: twe: is unknown: give one of one|two|three (nearest: two)"},
      {"demo part xyzzy", "part: xyzzy: is unknown: give one of one|two|three (demo"},
      {"demo part two more", "part: more: takes one argument only"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    expect(cases[i][0], WEIR_ERR_CONFIG, cases[i][1]);
  }
}

static void questions_are_answered(void **state)
{
  (void)state;
  expect("demo --help", 0, "usage: demo COMMAND [flags]");
  expect("demo --help", 0, "\n  resumes: run\n  starts again: seeded, describe, gridded, ");
  expect("demo --help", 0, "\n  share the work of: gridded, threaded\n");
  expect("demo --help", 0, "\n  are refused by: run, seeded, ");
  expect("demo run --help", 0, "  bench      measures (takes [peaks])\n");
  expect("demo --version", 0, "demo ");
  expect("demo options", 0, "  rate=0.5  (number [0, 1])\n        rate\n");
  expect("demo options --yaml", 0, "# rate; [0, 1]\nrate: 0.5\n");
  expect("demo options --markdown", 0, "# Options of demo\n");
  expect("demo options --markdown", 0, "\n| run | runs | one | resumes |\n");
  expect("demo options --markdown", 0, "\n| gridded | ranks | several | starts again |\n");
  expect("demo options --man", 0, ".TH \"DEMO\" 1 ");
  expect("demo options --man", 0, "\\fB\\&grid.by\\fR \\fI\\&choice\\fR\n\\&what says it\n");
  expect("demo options --man", 0, ".TP\n\\fB\\&rate\\fR \\fI\\&number\\fR\n\\&rate\n");
  expect("demo options --completion bash", 0, "\n  grid.by) words='numbers auto' ;;\n");
  expect("demo options --completion bash", 0, "\n  part) words='one two three' ;;\n");
  expect("demo options --completion zsh", 0, "    grid.by) compadd -- numbers auto ;;\n");
}

static void help_lists_every_exit_status(void **state)
{
  char line[128];

  (void)state;
#define X(name, code, text)                                        \
  (void)snprintf(line, sizeof line, "\n  %-10d %s\n", code, text); \
  expect("demo --help", 0, line);
  WEIR_STATUS_LIST(X)
#undef X
}

static void status_of_the_command_is_the_exit_status(void **state)
{
  (void)state;
  expect("demo bench", WEIR_ERR_DATA, "no peaks");
  weir_stop_request(0);
  expect("demo stop", WEIR_ERR_STOPPED, "stopped");
  weir_stop_request(0);
  signal(SIGTERM, SIG_DFL);
  signal(SIGINT, SIG_DFL);
}

/* The command line, the printers and the run folder, with the k-th allocation failing, for all k.
 */
/* mpiexec and srun would start the work once a rank. */
static void commands_for_one_process_are_refused_on_ranks(void **state)
{
  static const char *const launchers[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};

  (void)state;
  for (int i = 0; i < 2; i++) {
    assert_int_equal(setenv(launchers[i], "3", 1), 0);
    expect("demo seeded --set seed=3", WEIR_ERR_CONFIG,
           "demo seeded: started as 3 processes, each of which would do the whole work: start it "
           "as one, without mpiexec or srun (made for several ranks: gridded, threaded)");
    expect("demo gridded --grid 3", 0, "");
    expect("demo options", 0, "");
    assert_int_equal(setenv(launchers[i], "1", 1), 0);
    expect("demo seeded --set seed=3", 0, "");
    assert_int_equal(unsetenv(launchers[i]), 0);
  }
}

static void thread_ranks_are_for_commands_that_say_so(void **state)
{
  (void)state;
  expect("demo threaded --ranks 3", 0, "");
  expect("demo threaded --ranks 0", WEIR_ERR_CONFIG, "--ranks: 0: is no number of ranks");
  expect("demo threaded --ranks 1025", WEIR_ERR_CONFIG, "is outside [0, 1024]");
  expect("demo threaded --ranks 3 --ranks 3", WEIR_ERR_CONFIG, "is given twice");
  expect("demo gridded --ranks 3", WEIR_ERR_CONFIG, "demo gridded: --ranks is a flag of: threaded");
  expect("demo seeded --ranks 3", WEIR_ERR_CONFIG, "demo seeded: --ranks is a flag of: threaded");
  assert_int_equal(setenv("OMPI_COMM_WORLD_SIZE", "2", 1), 0);
  expect("demo threaded --ranks 3", WEIR_ERR_CONFIG,
         "demo threaded --ranks 3: started as one of 2 processes by mpiexec or srun: leave out "
         "--ranks, or start one process");
  assert_int_equal(unsetenv("OMPI_COMM_WORLD_SIZE"), 0);
}

static void every_allocation_may_fail(void **state)
{
  static const char *const lines[] = {
      "demo seeded --set seed=3",     "demo options",       "demo options --yaml",
      "demo options --markdown",      "demo options --man", "demo options --completion bash",
      "demo options --completion zsh"};
  const int64_t before = weir_alloc_bytes();

  (void)state;
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    bool done = false;

    for (int64_t k = 1; !done; k++) {
      char *out = NULL, *err = NULL;

      fail_at = k;
      const int status = command(lines[i], &out, &err);
      fail_at = 0;
      done = allocations < k;
      assert_int_equal(status, done ? WEIR_OK : WEIR_ERR_MEMORY);
      assert_int_equal(weir_alloc_bytes(), before);
      free(out);
      free(err);
    }
  }
}

static void full_output_is_a_failure(void **state)
{
  char name[] = "demo", chosen[] = "options", flag[] = "--help";
  char *options[] = {name, chosen, NULL}, *help[] = {name, flag, NULL};
  char *err = NULL;
  size_t size = 0;
  FILE *e = open_memstream(&err, &size);

  (void)state;
  FILE *full = fopen("/dev/full", "w");
  assert_true(e != NULL);
  if (full != NULL) {
    assert_int_equal(weir_cli_run(2, options, &app, full, e), WEIR_ERR_SPACE);
    assert_int_equal(weir_cli_run(2, help, &app, full, e), WEIR_ERR_SPACE);
    fclose(full);
  }
  fclose(e);
  free(err);
}

static void environment_is_read_here(void **state)
{
  (void)state;
  assert_int_equal(setenv("WEIR_CONF_TEST", "", 1), 0);
  assert_null(weir_env("WEIR_CONF_TEST"));
  assert_int_equal(setenv("WEIR_CONF_TEST", "x", 1), 0);
  assert_string_equal(weir_env("WEIR_CONF_TEST"), "x");
  assert_int_equal(unsetenv("WEIR_CONF_TEST"), 0);
  assert_null(weir_env("WEIR_CONF_TEST"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flags_reach_the_command),
      cmocka_unit_test(all_of_a_configuration_is_printed_on_request),
      cmocka_unit_test(wrong_command_lines_are_refused),
      cmocka_unit_test(questions_are_answered),
      cmocka_unit_test(help_lists_every_exit_status),
      cmocka_unit_test(status_of_the_command_is_the_exit_status),
      cmocka_unit_test(commands_for_one_process_are_refused_on_ranks),
      cmocka_unit_test(thread_ranks_are_for_commands_that_say_so),
      cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(full_output_is_a_failure),
      cmocka_unit_test(environment_is_read_here),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
