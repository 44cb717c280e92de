/* rundir_logs.c - the logs of runs in a folder, and the files that they note. */
#include "conf/rundir_priv.h"
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool conf_is_log(const char *name)
{
  return strcmp(name, "run.jsonl") == 0 || fnmatch("run-rank[0-9]*.jsonl", name, 0) == 0 ||
         fnmatch("run.jsonl.tmp-[0-9]*", name, 0) == 0;
}

char *conf_log_text(char *line, const char *key)
{
  char *text = strstr(line, key);
  char *end = text == NULL ? NULL : strchr(text + strlen(key), '"');

  if (end == NULL) {
    return NULL;
  }
  *end = 0;
  text += strlen(key);
  return strchr(text, '\\') == NULL ? text : NULL;
}

enum { OF_SIZE = 64 };

/* Acts on the file that a line notes: of this log's run, or left of an earlier one, which is said
 * after its name. */
static weir_status walk_line(int fd, char *line, const char *own, conf_earlier *e)
{
  static const char left[] = "{\"event\": \"left\"";
  char of[OF_SIZE];
  const char *said =
      strncmp(line, left, sizeof left - 1) == 0 ? conf_log_text(line, "\"of\": \"") : own;

  if (said == NULL) {
    return WEIR_OK;
  }
  (void)snprintf(of, sizeof of, "%s", said);
  const char *name = conf_log_text(line, "\"name\": \"");
  const bool meant = e->all || (of[0] != 0 && strcmp(of, e->owner) == 0);

  return name != NULL && meant ? e->act(fd, name, of, e->context) : WEIR_OK;
}

/* Acts on what one log notes. */
static weir_status walk_log(int fd, FILE *log, conf_earlier *e)
{
  static const char file[] = "{\"event\": \"file\"", left[] = "{\"event\": \"left\"";
  static const char outputs[] = "{\"event\": \"outputs\"";
  char line[PATH_MAX + 256], own[OF_SIZE] = "";
  bool at_start = true, owned = false;

  while (fgets(line, sizeof line, log) != NULL) {
    const bool whole = at_start && strchr(line, '\n') != NULL;

    at_start = strchr(line, '\n') != NULL;
    if (whole && strncmp(line, outputs, sizeof outputs - 1) == 0) {
      const char *of = conf_log_text(line, "\"of\": \"");

      e->noted = owned = true;
      (void)snprintf(own, sizeof own, "%s", of == NULL ? "" : of);
    } else if (whole && owned &&
               (strncmp(line, file, sizeof file - 1) == 0 ||
                strncmp(line, left, sizeof left - 1) == 0)) {
      WEIR_TRY(walk_line(fd, line, own, e));
    }
  }
  return WEIR_OK;
}

static weir_status open_log(int fd, const char *name, conf_earlier *e)
{
  const int file = openat(fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  FILE *log = file < 0 ? NULL : fdopen(file, "r");
  weir_status status = WEIR_OK;

  if (log == NULL) {
    if (file >= 0) {
      close(file);
    }
    return WEIR_OK;
  }
  status = walk_log(fd, log, e);
  (void)fclose(log);
  WEIR_TRY(status);
  return e->act(fd, name, "", e->context);
}

weir_status conf_walk_logs(DIR *dir, conf_earlier *e)
{
  const struct dirent *entry;

  while ((entry = readdir(dir)) != NULL) {
    if (conf_is_log(entry->d_name) && (e->kept == NULL || strcmp(entry->d_name, e->kept) != 0)) {
      e->logs = true;
      WEIR_TRY(open_log(dirfd(dir), entry->d_name, e));
    }
  }
  return WEIR_OK;
}
