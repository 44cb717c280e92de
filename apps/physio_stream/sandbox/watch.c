/* watch.c - what the processes of a sandbox use together, from proc(5) of this machine. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sandbox/sandbox_priv.h"

enum { MAX_PROCESSES = 4096, PATH = 128, TEXT = 16 * MAX_PROCESSES };

typedef struct tree {
  pid_t pid[MAX_PROCESSES];
  int n;
} tree;

/* Reads a file of proc(5), which gives no more than a block at a time. */
static bool read_text(const char *path, char text[TEXT])
{
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  size_t size = 0;

  if (file < 0) {
    return false; /* it has ended meanwhile */
  }
  for (ssize_t n = 0; (n = read(file, text + size, TEXT - 1 - size)) > 0;) {
    size += (size_t)n;
  }
  (void)close(file);
  text[size] = 0;
  return size > 0;
}

/* Adds times, resident memory and threads of one process: fields 14 to 17, 20 and 24 of
 * /proc/PID/stat, counted behind the name in parentheses, which is field 2. */
static void add_process(pid_t pid, sandbox_use *use)
{
  char path[PATH], text[TEXT];
  double field[25] = {0};

  (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  if (!read_text(path, text)) {
    return;
  }
  char *at = strrchr(text, ')');

  if (at == NULL || strlen(at) < 4) {
    return;
  }
  at += 4; /* ") S" */
  for (int k = 4; k < 25; k++) {
    field[k] = strtod(at, &at);
  }
  const double ticks = (double)sysconf(_SC_CLK_TCK), page = (double)sysconf(_SC_PAGESIZE);

  use->cpu += (field[14] + field[15] + field[16] + field[17]) / ticks;
  use->memory += field[24] * page / (1 << 20);
  use->processes += (int64_t)field[20];
}

static void add_children(tree *t, const char *path)
{
  char text[TEXT];

  if (!read_text(path, text)) {
    return;
  }
  for (char *at = text, *end = NULL; t->n < MAX_PROCESSES; at = end) {
    const long pid = strtol(at, &end, 10);

    if (end == at || pid <= 0) {
      return;
    }
    t->pid[t->n++] = (pid_t)pid;
  }
}

/* Children are those of each thread. */
static void add_threads(tree *t, pid_t pid)
{
  char path[PATH];

  (void)snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
  DIR *folder = opendir(path);

  if (folder == NULL) {
    return;
  }
  for (const struct dirent *e = readdir(folder); e != NULL; e = readdir(folder)) {
    if (e->d_name[0] != '.' && strlen(e->d_name) < 32) {
      (void)snprintf(path, sizeof path, "/proc/%d/task/%.32s/children", (int)pid, e->d_name);
      add_children(t, path);
    }
  }
  (void)closedir(folder);
}

void sandbox_watch(pid_t init, int64_t max_processes, sandbox_use *out)
{
  tree t = {.pid = {init}, .n = 1};
  sandbox_use use = {0};

  for (int i = 0; i < t.n && use.processes <= max_processes; i++) {
    add_process(t.pid[i], &use);
    add_threads(&t, t.pid[i]);
  }
  *out = use;
}
