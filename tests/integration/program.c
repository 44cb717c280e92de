/* program.c - see program.h. */
#include "program.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"

enum { COMMAND = 8192, PATHS = 64 };

/* One test runs at a time. */
static char folder[PATH];
static char paths[PATHS][PATH]; /* what in_scratch and others return, used in turn */
static int next_path;
static char *text_printed;

int drop_scratch(void **state)
{
  (void)state;
  if (folder[0] != 0) {
    weir_check_rmdir(folder);
    folder[0] = 0;
  }
  free(text_printed);
  text_printed = NULL;
  return 0;
}

int make_scratch(void **state)
{
  (void)drop_scratch(state);
  weir_check_mkdir(folder, sizeof folder);
  return 0;
}

static int run_shell(const char *before, const char *format, va_list args)
{
  char words[COMMAND], command[2 * COMMAND];

  (void)vsnprintf(words, sizeof words, format, args);
  (void)snprintf(command, sizeof command, "%s '%s' %s >'%s/log' 2>&1", before, PROGRAM, words,
                 folder);
  const int status = system(command);
  assert_true(status != -1);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int program(const char *format, ...)
{
  va_list args;

  va_start(args, format);
  const int status = run_shell("", format, args);
  va_end(args);
  return status;
}

int program_under(const char *before, const char *format, ...)
{
  va_list args;

  va_start(args, format);
  const int status = run_shell(before, format, args);
  va_end(args);
  return status;
}

pid_t program_start(const char *format, ...)
{
  char words[COMMAND], command[2 * COMMAND];
  va_list args;

  va_start(args, format);
  (void)vsnprintf(words, sizeof words, format, args);
  va_end(args);
  (void)snprintf(command, sizeof command, "exec '%s' %s >'%s/log' 2>&1", PROGRAM, words, folder);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
  }
  return child;
}

const char *printed(void)
{
  free(text_printed);
  text_printed = contents(in_scratch("log"));
  return text_printed;
}

const char *in_scratch(const char *format, ...)
{
  char *path = paths[next_path++ % PATHS];
  va_list args;

  const int n = snprintf(path, PATH, "%s/", folder);
  va_start(args, format);
  (void)vsnprintf(path + n, (size_t)(PATH - n), format, args);
  va_end(args);
  return path;
}

const char *in_data(const char *name)
{
  char *path = paths[next_path++ % PATHS];

  weir_check_shared(path, PATH, "physio/%s", name);
  return path;
}

char *contents(const char *path)
{
  char *text = NULL;
  int64_t size = 0;

  assert_ok(weir_file_read(path, (int64_t)256 << 20, &text, &size));
  char *copy = malloc((size_t)size + 1);
  assert_non_null(copy);
  memcpy(copy, text, (size_t)size + 1);
  weir_free(&text);
  return copy;
}

bool same_contents(const char *a, const char *b)
{
  int64_t na = 0, nb = 0;
  char *ta = NULL, *tb = NULL;

  assert_ok(weir_file_read(a, (int64_t)256 << 20, &ta, &na));
  assert_ok(weir_file_read(b, (int64_t)256 << 20, &tb, &nb));
  const bool same = na == nb && memcmp(ta, tb, (size_t)na) == 0;
  weir_free(&ta);
  weir_free(&tb);
  return same;
}

bool only_log(const char *dir)
{
  DIR *d = opendir(dir);
  bool only = true;

  assert_non_null(d);
  for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
    const bool known = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
                       strcmp(e->d_name, "run.jsonl") == 0 ||
                       strcmp(e->d_name, "resolved.yaml") == 0;

    if (!known) {
      printf("left behind: %s/%s\n", dir, e->d_name);
      only = false;
    }
  }
  (void)closedir(d);
  return only;
}

static void read_log(const char *dir, weir_run_log *log)
{
  char path[PATH];

  (void)snprintf(path, sizeof path, "%s/run.jsonl", dir);
  assert_ok(weir_run_log_read(path, log));
}

double event_number(const char *dir, const char *event, const char *key)
{
  weir_run_log log = {0};

  read_log(dir, &log);
  const weir_run_event *e = weir_run_log_last(&log, event);
  assert_non_null(e);
  const weir_field *f = weir_run_event_field(e, key);
  assert_true(f != NULL && (f->kind == 'i' || f->kind == 'r'));
  const double value = f->real;
  weir_run_log_fini(&log);
  return value;
}

int event_count(const char *dir, const char *event)
{
  weir_run_log log = {0};
  int n = 0;

  read_log(dir, &log);
  for (int64_t i = 0; i < log.count; i++) {
    n += strcmp(log.events[i].name, event) == 0;
  }
  weir_run_log_fini(&log);
  return n;
}

const char *cell_after(const char *dir, const char *id, const char *key)
{
  char *found = paths[next_path++ % PATHS], path[PATH], what[128];

  (void)snprintf(path, sizeof path, "%s/report.html", dir);
  char *page = contents(path);
  (void)snprintf(what, sizeof what, "<table id=\"%s\">", id);
  const char *at = strstr(page, what);
  assert_non_null(at);
  const char *end = strstr(at, "</table>");
  (void)snprintf(what, sizeof what, "<td>%s</td>", key);
  at = strstr(at, what);
  assert_true(at != NULL && at < end);
  const char *const cell = at + strlen(what);
  const char *const exact = strstr(cell, "data-value=\"");

  at = strchr(cell + 1, '>') + 1;
  if (exact != NULL && exact < at) { /* a power of ten, which is typeset */
    (void)snprintf(found, PATH, "%.*s", (int)strcspn(exact + 12, "\""), exact + 12);
  } else {
    (void)snprintf(found, PATH, "%.*s", (int)strcspn(at, "<"), at);
  }
  free(page);
  return found;
}

scores read_scores(const char *dir)
{
  char path[PATH];
  scores s = {0};

  (void)snprintf(path, sizeof path, "%s/scores.csv", dir);
  char *text = contents(path);
  const char *head = "record,tp,fn,fp,se,ppv,excluded,rr_rms_ms,fn_in_gaps\n";
  assert_true(strncmp(text, head, strlen(head)) == 0);
  assert_int_equal(sscanf(text + strlen(head), "%63[^,],%lld,%lld,%lld,%15[^,],%15[^,]", s.record,
                          &s.tp, &s.fn, &s.fp, s.se, s.ppv),
                   6);
  free(text);
  return s;
}
