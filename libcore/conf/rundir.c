/* rundir.c - preparing the folder of a run. */
#include "conf/weir_rundir.h"
#include "base/weir_dir_lock.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "conf/conf_priv.h"
#include "conf/rundir_priv.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

weir_status conf_remove_below(int fd, const char *name)
{
  const char *slash = strchr(name, '/');
  char folder[NAME_MAX + 1];
  struct stat info;

  if (slash == NULL) {
    if (fstatat(fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode) &&
        unlinkat(fd, name, 0) != 0 && errno != ENOENT) {
      return weir_fail(WEIR_ERR_CONFIG, "%s of an earlier run cannot be removed: %s", name,
                       strerror(errno));
    }
    return WEIR_OK;
  }
  const int n = snprintf(folder, sizeof folder, "%.*s", (int)(slash - name), name);
  if (n <= 0 || n >= (int)sizeof folder || strcmp(folder, ".") == 0 || strcmp(folder, "..") == 0) {
    return WEIR_OK; /* no name that a run notes */
  }
  const int below = openat(fd, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (below < 0) { /* absent, or a link that leads elsewhere: nothing of ours lies there */
    return WEIR_OK;
  }
  const weir_status status = conf_remove_below(below, slash + 1);

  close(below);
  (void)unlinkat(fd, folder, AT_REMOVEDIR);
  return status;
}

/* Results are removed when this run has ended well: until then they have other names. */
static weir_status removal(int fd, const char *name, const char *of, void *context)
{
  const weir_run_dir *const dir = context;

  (void)of;
  return dir->replaces ? conf_set_aside(fd, dir->cli->out, name) : conf_remove_below(fd, name);
}

static weir_status remove_earlier(weir_run_dir *run)
{
  const char *const path = run->cli->out;
  DIR *dir = opendir(path);
  conf_earlier e = {.kept = run->log, .owner = run->owner, .act = removal, .context = run};

  if (dir == NULL) {
    return weir_fail(WEIR_ERR_CONFIG, "%s: the folder cannot be read: %s", path, strerror(errno));
  }
  weir_status status = WEIR_OK;
  WEIR_TRY_GOTO(conf_keep_notes(run), done);
  WEIR_TRY_GOTO(conf_walk_logs(dir, &e), done);
  WEIR_TRY_GOTO(removal(dirfd(dir), "resolved.yaml", "", run), done);
  WEIR_TRY_GOTO(removal(dirfd(dir), "provenance.json", "", run), done);
  if (!e.noted) {
    weir_warn("conf",
              "%s: the earlier run did not record its files: they are kept, unless this run writes "
              "files of the same names",
              path);
  }
done:
  closedir(dir);
  return status;
}

/* A file that this run would remove; its inputs are compared with it. */
typedef struct doomed {
  struct stat file;
  const char *out, *name;
} doomed;

static weir_status spare(void *context, const char *text)
{
  const doomed *const d = context;
  struct stat info;

  if (stat(text, &info) == 0 && info.st_dev == d->file.st_dev && info.st_ino == d->file.st_ino) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: an input of this run, which --overwrite would remove as %s of the "
                     "earlier run in %s: choose another --out, or copy the file elsewhere first",
                     text, d->name, d->out);
  }
  return WEIR_OK;
}

/* Compares a file that an earlier run noted with all that the configuration names. */
static weir_status compare(int fd, const char *name, const char *of, void *context)
{
  const weir_run_dir *const dir = context;
  const bool leads_away = name[0] == '/' || strstr(name, "..") != NULL; /* remove_below: it stays */
  doomed d = {.out = dir->cli->out, .name = name};

  (void)of;
  return !leads_away && fstatat(fd, name, &d.file, AT_SYMLINK_NOFOLLOW) == 0 &&
                 S_ISREG(d.file.st_mode)
             ? weir_conf_texts(dir->config, spare, &d)
             : WEIR_OK;
}

/* The command that a first event "start" names, in logs of earlier versions as "verb". */
static const char *command_of(char *line)
{
  const char *of = conf_log_text(line, "\"command\": \"");

  return of != NULL ? of : conf_log_text(line, "\"verb\": \"");
}

/* Whether the log is one of runs of `owner`: as its event "outputs" says; where that line is
 * damaged, as its first event "start" does. Lines that are no events are skipped. */
static bool log_is_of(const char *path, const char *owner)
{
  static const char outputs[] = "{\"event\": \"outputs\"", start[] = "{\"event\": \"start\"";
  char line[PATH_MAX + 256];
  bool known = false, ours = false;
  FILE *log = fopen(path, "r");

  while (log != NULL && !known && fgets(line, sizeof line, log) != NULL) {
    const bool owned = strncmp(line, outputs, sizeof outputs - 1) == 0;
    const char *of = owned ? conf_log_text(line, "\"of\": \"")
                     : strncmp(line, start, sizeof start - 1) == 0 ? command_of(line)
                                                                   : NULL;

    known = of != NULL;
    ours = known && strcmp(of, owner) == 0;
  }
  if (log != NULL) {
    (void)fclose(log);
  }
  return ours;
}

/* A folder of data has a log, too: what made them, and where that would resume. */
static weir_status refuse_own_folder(const weir_run_dir *dir)
{
  doomed d = {.out = dir->cli->out, .name = "run.jsonl"};
  char log[PATH_MAX];

  WEIR_TRY(weir_path_join(d.out, d.name, log, sizeof log));
  return weir_file_exists(log) && !log_is_of(log, dir->owner) && stat(d.out, &d.file) == 0
             ? weir_conf_texts(dir->config, spare, &d)
             : WEIR_OK;
}

/* Inputs among what would be removed, in any spelling or by a link, are refused before anything
 * happens: they are still read when it goes. */
static weir_status refuse_own_inputs(weir_run_dir *dir)
{
  DIR *const folder = opendir(dir->cli->out);
  conf_earlier e = {.owner = dir->owner, .act = compare, .context = dir};

  if (folder == NULL) {
    return WEIR_OK; /* said when it is used */
  }
  const weir_status status = conf_walk_logs(folder, &e);

  closedir(folder);
  return status == WEIR_OK ? refuse_own_folder(dir) : status;
}

static bool holds(const char *path, const char *name)
{
  char file[PATH_MAX];

  return snprintf(file, sizeof file, "%s/%s", path, name) < (int)sizeof file &&
         weir_file_exists(file);
}

/* The log of a run that is over and failed: its last line says so. A run under way has no such. */
static bool log_ends_in_failure(const char *path)
{
  static const char failed[] = "{\"event\": \"failed\"";
  char file[PATH_MAX], piece[256];
  bool at_start = true, found = false;

  if (snprintf(file, sizeof file, "%s/run.jsonl", path) >= (int)sizeof file) {
    return false;
  }
  FILE *log = fopen(file, "r");
  if (log == NULL) {
    return false;
  }
  while (fgets(piece, sizeof piece, log) != NULL) {
    found = at_start ? strncmp(piece, failed, sizeof failed - 1) == 0 : found;
    at_start = strchr(piece, '\n') != NULL;
  }
  (void)fclose(log);
  return found;
}

/* Nothing but logs and configuration. */
static bool holds_logs_only(const char *path)
{
  DIR *dir = opendir(path);
  const struct dirent *entry;
  bool none = dir != NULL;

  while (none && (entry = readdir(dir)) != NULL) {
    const char *const name = entry->d_name;

    none = strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || conf_is_log(name) ||
           strcmp(name, "resolved.yaml") == 0 || strcmp(name, WEIR_DIR_LOCK_NAME) == 0;
  }
  if (dir != NULL) {
    closedir(dir);
  }
  return none;
}

/* Killed before its first result was due: it left the log that it had begun, at most. */
static bool holds_a_beginning(const char *path)
{
  return holds_logs_only(path) && !holds(path, "run.jsonl");
}

/* Nothing but what a failed run leaves: there is no result that a new run could replace. */
static bool holds_no_result(const char *path)
{
  return holds_a_beginning(path) || (holds_logs_only(path) && log_ends_in_failure(path));
}

/* The folder may be used; *taken: it holds files already, *has_results: perhaps results as well. */
static weir_status prepare(const weir_cli *cli, bool *taken, bool *has_results)
{
  const char *path = cli->out;
  struct stat info;

  if (stat(path, &info) == 0 && !S_ISDIR(info.st_mode)) {
    return weir_fail(WEIR_ERR_CONFIG, "%s is a file, not a folder: choose another --out", path);
  }
  *taken = weir_dir_has_entries(path);
  *has_results = *taken && !holds_no_result(path);
  const weir_status made = *taken ? WEIR_OK : weir_dir_create(path);
  if (made == WEIR_ERR_SPACE) {
    return weir_trace_at(made, __FILE__, __LINE__, __func__);
  }
  if (made != WEIR_OK) {
    char reason[512];

    (void)snprintf(reason, sizeof reason, "%s", weir_last_message());
    return weir_fail(WEIR_ERR_CONFIG, "--out: %s", reason);
  }
  if (*has_results && !cli->overwrite) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: the output folder is not empty: choose another --out, or give "
                     "--overwrite to replace an earlier run",
                     path);
  }
  return WEIR_OK;
}

/* Locks the folder for this process; one that is not locked and may not be used stays as it is. */
static weir_status lock(const weir_cli *cli, bool create)
{
  char who[128];

  (void)snprintf(who, sizeof who, "%s %s", cli->app->name, cli->command);
  return weir_dir_lock_take(cli->out, who, create);
}

/* As prepare, with the folder locked: another run may have written into it meanwhile. */
static weir_status prepare_locked(const weir_cli *cli, bool *taken, bool *has_results)
{
  WEIR_TRY(lock(cli, false));
  WEIR_TRY(prepare(cli, taken, has_results));
  WEIR_TRY(lock(cli, true));
  return prepare(cli, taken, has_results);
}

weir_status weir_run_dir_begin(const weir_cli *cli, const weir_config *config, const char *owner,
                               weir_run_dir *dir)
{
  char file[PATH_MAX];
  bool taken = false, has_results = false;

  *dir = (weir_run_dir){.cli = cli, .config = config, .owner = owner == NULL ? "" : owner};
  if (cli->out == NULL) {
    return weir_fail(WEIR_ERR_CONFIG, "%s %s: no output folder: give one with --out DIR",
                     cli->app->name, cli->command);
  }
  WEIR_TRY(prepare_locked(cli, &taken, &has_results));
  weir_writer_spare_none();
  WEIR_TRY(has_results ? refuse_own_inputs(dir) : WEIR_OK);
  WEIR_TRY(has_results ? conf_spare_others(dir) : WEIR_OK);
  (void)snprintf(dir->log, sizeof dir->log, "run.jsonl.tmp-%ld", (long)getpid());
  WEIR_TRY(weir_path_join(cli->out, dir->log, file, sizeof file));
  WEIR_TRY(weir_events_open(file));
  weir_event("outputs", WEIR_TEXT("of", dir->owner));
  const weir_status logged = weir_events_status();
  if (logged != WEIR_OK) {
    weir_events_close();
    (void)unlink(file);
    return weir_trace_at(logged, __FILE__, __LINE__, __func__);
  }
  dir->waits = true;
  dir->cleans = taken && (!has_results || holds(cli->out, "run.jsonl"));
  dir->replaces = has_results;
  return has_results ? WEIR_OK : weir_run_dir_commit(dir);
}

/* Whether the name is that of an unfinished file ("NAME.tmp-PID") of another process. */
static bool is_unfinished(const char *name)
{
  const char *const mark = strstr(name, ".tmp-");
  const char *const pid = mark == NULL ? NULL : mark + strlen(".tmp-");

  return pid != NULL && pid[0] != 0 && pid[strspn(pid, "0123456789")] == 0 &&
         strtol(pid, NULL, 10) != (long)getpid();
}

/* Removes unfinished files of a killed run, in the folder and in those within, `below` deep.
 */
static void sweep(int fd, int below)
{
  DIR *const dir = fdopendir(fd);
  const struct dirent *entry;
  struct stat info;

  if (dir == NULL) {
    close(fd);
    return;
  }
  while ((entry = readdir(dir)) != NULL) {
    const char *const name = entry->d_name;

    if (name[0] == '.' || fstatat(fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
      continue;
    }
    if (S_ISREG(info.st_mode) && is_unfinished(name)) {
      (void)unlinkat(fd, name, 0);
    }
    const int inner = S_ISDIR(info.st_mode) && below > 0
                          ? openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                          : -1;
    if (inner >= 0) {
      sweep(inner, below - 1);
    }
  }
  closedir(dir);
}

/* Whoever wrote unfinished files into a folder that this process has locked is gone. */
static void remove_unfinished(const char *path)
{
  const int fd = weir_dir_is_locked(path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

  if (fd >= 0) {
    sweep(fd, 1);
  }
}

weir_status weir_run_dir_commit(weir_run_dir *dir)
{
  char from[PATH_MAX], to[PATH_MAX];

  if (dir == NULL || !dir->waits) {
    return WEIR_OK;
  }
  dir->waits = false;
  const char *out = dir->cli->out;
  if (dir->continues) {
    remove_unfinished(out);
    WEIR_TRY(weir_path_join(out, "resolved.yaml", to, sizeof to));
    WEIR_TRY(weir_config_write(dir->config, to));
    return WEIR_OK;
  }
  WEIR_TRY(weir_path_join(out, dir->log, from, sizeof from));
  WEIR_TRY(weir_path_join(out, "run.jsonl", to, sizeof to));
  const weir_status removed = dir->cleans ? remove_earlier(dir) : WEIR_OK;
  if (dir->cleans) {
    remove_unfinished(out);
  }
  /* Even then: what is left says why it is not whole. */
  if (rename(from, to) != 0 && removed == WEIR_OK) {
    return weir_write_failed(to, errno, WEIR_ERR_DATA);
  }
  WEIR_TRY(removed);
  WEIR_TRY(weir_path_join(out, "resolved.yaml", to, sizeof to));
  WEIR_TRY(weir_config_write(dir->config, to));
  weir_writer_remember(true); /* log and configuration of a run that fails stay */
  return WEIR_OK;
}

bool weir_run_dir_rollback(weir_run_dir *dir)
{
  char log[PATH_MAX];

  if (!dir->waits) {
    return false;
  }
  dir->waits = false;
  if (dir->continues) { /* its log has what went wrong */
    return true;
  }
  if (snprintf(log, sizeof log, "%s/%s", dir->cli->out, dir->log) < (int)sizeof log) {
    (void)unlink(log);
  }
  return true;
}

weir_status weir_run_dir_resume(const weir_cli *cli, const weir_config *config, const char *owner,
                                weir_run_dir *dir)
{
  char file[PATH_MAX];

  *dir = (weir_run_dir){.cli = cli, .config = config, .owner = owner, .continues = true};
  weir_writer_spare_none();
  WEIR_TRY(weir_path_join(cli->out, "run.jsonl", file, sizeof file));
  WEIR_TRY(lock(cli, false));
  if (!log_is_of(file, owner)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: no log of an earlier '%s' that could be resumed: choose another --out, "
                     "or give --overwrite to replace the contents",
                     cli->out, owner);
  }
  WEIR_TRY(lock(cli, true));
  WEIR_TRY(weir_events_append(file));
  dir->waits = true;
  return WEIR_OK;
}

weir_status weir_run_dir_join(const weir_cli *cli, const weir_config *config, const char *owner,
                              int rank)
{
  const weir_run_dir dir = {.cli = cli, .config = config, .owner = owner == NULL ? "" : owner};
  char name[64], path[PATH_MAX];

  weir_writer_spare_none();
  WEIR_TRY(cli->overwrite ? conf_spare_others(&dir) : WEIR_OK);
  (void)snprintf(name, sizeof name, "run-rank%d.jsonl", rank);
  WEIR_TRY(weir_path_join(cli->out, name, path, sizeof path));
  WEIR_TRY(weir_file_exists(path) ? weir_events_append(path) : weir_events_open(path));
  weir_event("outputs", WEIR_TEXT("of", dir.owner));
  weir_writer_remember(true); /* as weir_run_dir_commit does on rank 0 */
  return weir_events_status();
}

weir_status weir_run_dir_start(const weir_cli *cli, const weir_config *config, const char *owner,
                               bool resume, weir_run_dir *dir)
{
  const bool goes_on = resume && cli->out != NULL && !cli->overwrite &&
                       weir_dir_has_entries(cli->out) && !holds_a_beginning(cli->out);

  return goes_on ? weir_run_dir_resume(cli, config, owner, dir)
                 : weir_run_dir_begin(cli, config, owner, dir);
}
