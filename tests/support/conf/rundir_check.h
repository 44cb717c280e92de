/* rundir_check.h - an app whose runs begin in folders. Tests only. */
#ifndef RUNDIR_CHECK_H
#define RUNDIR_CHECK_H

#include "base/weir_check.h"
#include "base/weir_dir_lock.h"
#include "base/weir_file.h"
#include "conf/weir_cli.h"
#include "conf/weir_rundir.h"

struct file_options {
  const char *file;
};
struct options {
  const char *file;
  weir_string_list files;
  weir_struct_list steps;
  weir_one_of use;
};

static const weir_opt file_rows[] = {
    WEIR_OPT_PATH(struct file_options, file, "", "a file"),
    WEIR_OPT_END,
};
static inline bool reader(int64_t i, weir_opt_choice *entry)
{
  *entry = (weir_opt_choice){"reader", "reads", file_rows, sizeof(struct file_options)};
  return i == 0;
}
static const weir_opt rows[] = {
    WEIR_OPT_PATH(struct options, file, "", "an input"),
    WEIR_OPT_STRING_LIST(struct options, files, "", "inputs"),
    WEIR_OPT_LIST(struct options, steps, struct file_options, file_rows, 9, "more of them"),
    WEIR_OPT_ONE_OF(struct options, use, reader, "what reads"),
    WEIR_OPT_END,
};
static const weir_app app = {.name = "demo", .opts = rows, .opts_size = sizeof(struct options)};

static inline void touch(const char *dir, const char *name)
{
  char path[1024];

  assert_ok(weir_path_join(dir, name, path, sizeof path));
  FILE *out = fopen(path, "w");
  assert_non_null(out);
  fclose(out);
}

static inline bool exists(const char *dir, const char *name)
{
  char path[1024];

  assert_ok(weir_path_join(dir, name, path, sizeof path));
  return weir_file_exists(path);
}

/* A run of `owner`, configured by a --set (or NULL), begins in `out`, accepted where no results
 * wait. */
static inline weir_status begin_set(const char *set, const char *out, bool overwrite,
                                    const char *owner, weir_run_dir *dir)
{
  static struct options options;
  static weir_config *config;
  static weir_cli cli;

  cli = (weir_cli){.app = &app,
                   .command = "run",
                   .out = out,
                   .overwrite = overwrite,
                   .sets = &set,
                   .n_sets = set != NULL};
  weir_config_destroy(&config);
  assert_ok(weir_cli_config(&cli, &options, &config));
  const weir_status status = weir_run_dir_begin(&cli, config, owner, dir);

  if (status != WEIR_OK || !dir->waits) {
    weir_config_destroy(&config);
  }
  return status;
}

static inline weir_status begin(const char *out, bool overwrite, const char *owner,
                                weir_run_dir *dir)
{
  return begin_set(NULL, out, overwrite, owner, dir);
}

static inline void write_log(const char *dir, const char *lines)
{
  char path[1024];
  FILE *log;

  assert_ok(weir_path_join(dir, "run.jsonl", path, sizeof path));
  log = fopen(path, "w");
  assert_non_null(log);
  assert_true(fputs(lines, log) >= 0);
  assert_int_equal(fclose(log), 0);
}

static inline void write_result(const char *dir, const char *name)
{
  char path[1024];
  weir_writer *w = NULL;

  assert_ok(weir_path_join(dir, name, path, sizeof path));
  assert_ok(weir_writer_open(path, &w));
  assert_ok(weir_writer_printf(w, "x"));
  assert_ok(weir_writer_commit(&w));
}

/* A run that leaves a result at the top and one in a folder. */
static inline void run_once(const char *out)
{
  char folder[700];
  weir_run_dir d;

  assert_ok(begin(out, false, "run", &d));
  (void)snprintf(folder, sizeof folder, "%s/figures", out);
  assert_ok(weir_dir_create(folder));
  write_result(out, "100.c");
  write_result(out, "figures/a.svg");
  weir_events_close();
}

static inline weir_status start(const char *out, weir_run_dir *dir)
{
  static struct options options;
  static weir_config *config;
  static weir_cli cli;

  cli = (weir_cli){.app = &app, .command = "run", .out = out};
  weir_config_destroy(&config);
  assert_ok(weir_cli_config(&cli, &options, &config));
  const weir_status status = weir_run_dir_start(&cli, config, "run", true, dir);

  if (status == WEIR_OK) {
    assert_ok(weir_run_dir_commit(dir));
    weir_event("next", WEIR_INT("n", 1));
  }
  weir_events_close();
  weir_dir_lock_release();
  weir_config_destroy(&config);
  return status;
}
#endif
