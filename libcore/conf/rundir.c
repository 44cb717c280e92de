/* rundir.c - preparing the folder of a run. */
#include "conf/weir_rundir.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const always_known[] = {"run.jsonl", "resolved.yaml", "provenance.json", NULL};

/* `name` matches the pattern, or is the unfinished file of a name that does. */
static bool matches(const char *pattern, const char *name)
{
  char unfinished[NAME_MAX + 1];

  if (fnmatch(pattern, name, FNM_PERIOD) == 0) {
    return true;
  }
  const int n = snprintf(unfinished, sizeof unfinished, "%s.tmp-[0-9]*", pattern);
  return n > 0 && n < (int)sizeof unfinished && fnmatch(unfinished, name, FNM_PERIOD) == 0;
}

/* Removes what matches in an open folder, which is closed. A symbolic link is removed, not
 * followed. */
static weir_status remove_matches(int fd, const char *path, const char *pattern)
{
  DIR *dir = fdopendir(fd);
  const struct dirent *entry;
  weir_status status = WEIR_OK;

  if (dir == NULL) {
    status = weir_fail(WEIR_ERR_CONFIG, "%s: the folder cannot be read: %s", path, strerror(errno));
    close(fd);
    return status;
  }
  while (status == WEIR_OK && (entry = readdir(dir)) != NULL) {
    if (matches(pattern, entry->d_name) && unlinkat(fd, entry->d_name, 0) != 0 && errno != ENOENT) {
      status = weir_fail(WEIR_ERR_CONFIG, "%s/%s of an earlier run cannot be removed: %s", path,
                         entry->d_name, strerror(errno));
    }
  }
  closedir(dir);
  return status;
}

/* One pattern, "leaf" or "folder/leaf"; the folder goes too once it is empty. */
static weir_status remove_known(const char *path, const char *pattern)
{
  const char *slash = strchr(pattern, '/');
  char folder[PATH_MAX];

  if (slash == NULL) {
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0) {
      return weir_fail(WEIR_ERR_CONFIG, "%s: the folder cannot be read: %s", path, strerror(errno));
    }
    return remove_matches(fd, path, pattern);
  }
  const int n = snprintf(folder, sizeof folder, "%s/%.*s", path, (int)(slash - pattern), pattern);
  if (n < 0 || n >= (int)sizeof folder) {
    return weir_fail(WEIR_ERR_CONFIG, "%s: the name of the folder is too long", path);
  }
  const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) { /* absent, or a link that leads elsewhere: nothing of ours lies there */
    return WEIR_OK;
  }
  WEIR_TRY(remove_matches(fd, folder, slash + 1));
  (void)rmdir(folder);
  return WEIR_OK;
}

static weir_status remove_all(const char *path, const char *const *known)
{
  for (int i = 0; known != NULL && known[i] != NULL; i++) {
    WEIR_TRY(remove_known(path, known[i]));
  }
  return WEIR_OK;
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
  char file[PATH_MAX], part[256];
  bool at_start = true, found = false;

  if (snprintf(file, sizeof file, "%s/run.jsonl", path) >= (int)sizeof file) {
    return false;
  }
  FILE *log = fopen(file, "r");
  if (log == NULL) {
    return false;
  }
  while (fgets(part, sizeof part, log) != NULL) {
    found = at_start ? strncmp(part, failed, sizeof failed - 1) == 0 : found;
    at_start = strchr(part, '\n') != NULL;
  }
  (void)fclose(log);
  return found;
}

/* Nothing but what a failed run leaves: there is no result that a new run could replace. */
static bool holds_no_result(const char *path)
{
  DIR *dir = opendir(path);
  const struct dirent *entry;
  bool none = dir != NULL;

  while (none && (entry = readdir(dir)) != NULL) {
    const char *const name = entry->d_name;

    none = strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, "run.jsonl") == 0 ||
           strcmp(name, "resolved.yaml") == 0;
  }
  if (dir != NULL) {
    closedir(dir);
  }
  return none && log_ends_in_failure(path);
}

weir_status weir_run_dir_prepare(const char *path, bool overwrite, const char *const *known)
{
  struct stat info;

  if (stat(path, &info) == 0 && !S_ISDIR(info.st_mode)) {
    return weir_fail(WEIR_ERR_CONFIG, "%s: a file has this name; choose another --out", path);
  }
  if (!weir_dir_has_entries(path)) {
    if (weir_dir_create(path) != WEIR_OK) {
      char reason[512];

      (void)snprintf(reason, sizeof reason, "%s", weir_last_message());
      return weir_fail(WEIR_ERR_CONFIG, "--out: %s", reason);
    }
    return WEIR_OK;
  }
  if (!overwrite && !holds_no_result(path)) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "%s: the output folder is not empty; choose another --out, or give --overwrite "
        "to replace an earlier run",
        path);
  }
  if (holds(path, "run.jsonl") || holds(path, "resolved.yaml")) {
    WEIR_TRY(remove_all(path, known));
    WEIR_TRY(remove_all(path, always_known));
  }
  return WEIR_OK;
}

weir_status weir_run_dir_open(const weir_cli *cli, const weir_config *config,
                              const char *const *known)
{
  char file[PATH_MAX];

  if (cli->out == NULL) {
    return weir_fail(WEIR_ERR_CONFIG, "%s %s: give the folder of the results with --out DIR",
                     cli->app->name, cli->verb);
  }
  WEIR_TRY(weir_run_dir_prepare(cli->out, cli->overwrite, known));
  WEIR_TRY(weir_path_join(cli->out, "run.jsonl", file, sizeof file));
  WEIR_TRY(weir_events_open(file));
  WEIR_TRY(weir_path_join(cli->out, "resolved.yaml", file, sizeof file));
  WEIR_TRY(weir_config_write(config, file));
  return WEIR_OK;
}
