/* weir_cli.h - the command line of all programs of the suite: commands and common flags. */
#ifndef WEIR_CLI_H
#define WEIR_CLI_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "base/weir_status.h"
#include "conf/weir_opt.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_cli weir_cli;

/* How many ranks a command may have; one of another number is refused. */
typedef enum weir_command_ranks {
  WEIR_ONE_RANK,
  WEIR_LAUNCHED_RANKS, /* those that mpiexec or srun starts */
  WEIR_THREAD_RANKS    /* also --ranks N: threads of one process */
} weir_command_ranks;

/* A command of a program. */
typedef struct weir_command {
  const char *name; /* NULL ends the array */
  const char *help; /* one line            */
  /* Arguments of the command, such as "[peaks]"; "a|b|c": one of these words; NULL: none. */
  const char *args;
  weir_status (*run)(const weir_cli *cli);
  weir_command_ranks ranks;
  /* What is repeated in the folder of an interrupted run of this command resumes it; false: it
   * starts again. */
  bool resumes;
} weir_command;

/* A program. The command `options` and the flags --help and --version need no row. */
typedef struct weir_app {
  const char *name, *summary;
  const weir_command *commands;
  const weir_opt *opts; /* its option table */
  size_t opts_size;     /* bytes of the struct that the table fills */
  /* Returns the key of the option set by `--input VALUE`, static text; with "[]" appended: a list
   * of this value. NULL: the program has no --input. */
  const char *(*input_key)(const char *value);
  const char *inputs_key; /* key of the option that names several inputs; NULL: there is none */
  weir_status (*print_machine)(FILE *out); /* output added to --version; NULL: none */
} weir_app;

/* A parsed command line. Everything is borrowed from argv and lives as long as weir_cli_main. */
struct weir_cli {
  const weir_app *app;
  const char *command;
  const char *const *configs; /* --config FILE, in order */
  int n_configs;
  const char *const *sets; /* --set key=value, in order */
  int n_sets;
  const char *const *args; /* arguments of the command */
  int n_args;
  const char *out; /* --out DIR, NULL when not given */
  int64_t seed;    /* --seed N, at least 0 */
  bool has_seed;
  const char *grid;   /* --grid NxM.. or auto, NULL when not given */
  const char *input;  /* --input VALUE, NULL when not given */
  const char *device; /* --device NAME, NULL when not given */
  int threads;        /* --threads N, of each rank; 0: all cores */
  int ranks;          /* --ranks N: that many threads of this process are ranks; 0: not given */
  weir_log_level log;
  bool overwrite;
  bool all; /* --all: describe prints everything */
  int argc; /* the original command line, for provenance */
  const char *const *argv;
};

/* Parses the command line, installs the handlers of weir_signal.h, sets the log level and calls the
 * command; on failure writes the event "failed" (status, message), prints the trace to stderr and
 * removes temporary files; closes the event file. The command passes `threads` on.
 * Returns the exit status of the program: the weir_status of the command, 2 for an invalid command
 * line. */
int weir_cli_main(int argc, char **argv, const weir_app *app);

/* Whether the command has this name. */
bool weir_cli_is(const weir_cli *cli, const char *command);
/* Loads the configuration with the table, files and sets of the command line; --seed counts as
 * `--set seed=N` after them when the table has a key `seed`, --input as one for the key of
 * app->input_key, --grid as one for the first rows of the section `grid`, and --device as one for
 * `exec.device` where there is such a key. `options` is the struct to fill, app->opts_size bytes.
 * Fails: as weir_config_load. */
weir_status weir_cli_config(const weir_cli *cli, void *options, weir_config **config) WEIR_CHECKED;

/* Prints the configuration for `describe`: with --all as weir_config_print, else only options set
 * by files and flags. Fails: WEIR_ERR_DATA when it cannot be written. */
weir_status weir_cli_print_config(const weir_cli *cli, const weir_config *config,
                                  FILE *out) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
