/* compile.c - texts compiled by child processes in a private folder. */
#include "device/weir_compile.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "conf/weir_opt.h"
#include "device/weir_objects.h"

extern char **environ;

enum { PATH_CAPACITY = 4096, MAX_FLAGS = 32 };

static bool write_file(const char *path, const void *data, size_t bytes)
{
  const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;

  if (file == NULL) {
    if (fd >= 0) {
      close(fd);
    }
    return false;
  }
  const bool written = fwrite(data, 1, bytes, file) == bytes;
  return fclose(file) == 0 && written;
}

/* ---- Libraries of this process, by text. ---- */

/* Where these bytes do not suffice, the newest are forgotten. */
enum { KEPT_BYTES = 32 << 20 };

typedef struct library {
  struct library *next;
  const char *const *flags; /* of the compiler */
  char *text, *file;
  int64_t bytes;
} library;

static struct {
  pthread_mutex_t lock;
  library *first;
  int64_t bytes;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Memory of the system: what stays until the end is not that of a plan, nor of its limits. */
static void release(library *l)
{
  if (l != NULL) {
    free(l->text);
    free(l->file);
    free(l);
  }
}

static library *copy(const weir_compiler *compiler, const char *text, const char *file,
                     int64_t bytes)
{
  library *l = calloc(1, sizeof *l);

  if (l == NULL || (l->text = strdup(text)) == NULL || (l->file = malloc((size_t)bytes)) == NULL) {
    release(l);
    return NULL;
  }
  memcpy(l->file, file, (size_t)bytes);
  l->flags = compiler->flags;
  l->bytes = bytes;
  return l;
}

/* Writes the library of a text that was compiled before; false: there is none. */
static bool write_kept(const weir_compiler *compiler, const char *text, const char *path)
{
  bool written = false;

  pthread_mutex_lock(&kept.lock);
  for (const library *l = kept.first; l != NULL && !written; l = l->next) {
    written = l->flags == compiler->flags && strcmp(l->text, text) == 0 &&
              write_file(path, l->file, (size_t)l->bytes);
  }
  pthread_mutex_unlock(&kept.lock);
  return written;
}

static weir_status keep(const weir_compiler *compiler, const char *text, const char *path)
{
  char *file = NULL;
  int64_t bytes = 0;

  WEIR_TRY(weir_file_read(path, KEPT_BYTES, &file, &bytes));
  library *l = copy(compiler, text, file, bytes);

  weir_free(&file);
  if (l == NULL) {
    return WEIR_OK; /* it is compiled once more */
  }
  pthread_mutex_lock(&kept.lock);
  while (kept.bytes + bytes > KEPT_BYTES && kept.first != NULL) {
    library *first = kept.first;

    kept.first = first->next;
    kept.bytes -= first->bytes;
    release(first);
  }
  l->next = kept.first;
  kept.first = l;
  kept.bytes += bytes;
  pthread_mutex_unlock(&kept.lock);
  return WEIR_OK;
}

/* ---- Libraries of earlier programs, by name. ---- */

/* A digest of text, compiler and flags; empty where there is no such compiler. */
static void name_object(const weir_compiler *compiler, const char *text, char name[65])
{
  char path[PATH_CAPACITY], identity[256], digest[65], all[PATH_CAPACITY];

  name[0] = 0;
  if (weir_compiler_find(compiler->command, path, identity) != WEIR_OK) {
    weir_clear_failure(); /* to start it will tell */
    return;
  }
  weir_sha256(text, strlen(text), digest);
  size_t n = (size_t)snprintf(all, sizeof all, "weir text %s\ncompiler %s\npointer %zu\n", digest,
                              identity, sizeof(void *));
  for (int i = 0; i < compiler->n_flags && n < sizeof all; i++) {
    n += (size_t)snprintf(all + n, sizeof all - n, "%s\n", compiler->flags[i]);
  }
  if (n < sizeof all) {
    weir_sha256(all, n, name);
  }
}

/* Copies an object to `path`: the loader takes two kernels in one file for the same. */
static weir_status take_object(int folder, const char *name, const char *path, bool *found)
{
  char opened[64], *file = NULL;
  int64_t bytes = 0;
  int fd = -1;

  WEIR_TRY(weir_objects_find(folder, name, &fd));
  if (fd < 0) {
    return WEIR_OK;
  }
  snprintf(opened, sizeof opened, "/proc/self/fd/%d", fd);
  const weir_status status = weir_file_read(opened, KEPT_BYTES, &file, &bytes);
  close(fd);
  if (status == WEIR_ERR_MEMORY) {
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  if (status != WEIR_OK) {
    weir_clear_failure();
    return WEIR_OK;
  }
  *found = write_file(path, file, (size_t)bytes);
  if (!*found) {
    unlink(path);
  }
  weir_free(&file);
  return WEIR_OK;
}

static weir_status put_object(int folder, const char *name, const char *path)
{
  const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  weir_status status = WEIR_OK;
  int64_t bytes;
  bool there;

  if (fd >= 0 && fchmod(fd, 0600) == 0) {
    status = weir_objects_keep(folder, fd, name, &there, &bytes);
    if (status == WEIR_ERR_UNSUPPORTED) { /* it is not kept */
      weir_clear_failure();
      status = WEIR_OK;
    }
  }
  if (fd >= 0) {
    close(fd);
  }
  return status == WEIR_OK ? WEIR_OK : weir_trace_at(status, __FILE__, __LINE__, __func__);
}

/* ---- The compiler. ---- */

/* One start of the compiler. */
typedef struct job {
  char source[PATH_CAPACITY], object[PATH_CAPACITY], errors[PATH_CAPACITY];
  pid_t child;
  int first_flag, code; /* code: wait status  */
  int failed;           /* to start, an errno */
  bool wanted;          /* in this round */
  bool known;           /* compiled before, by this process */
  bool found;           /* by another */
  char name[65];        /* of its object; empty: none is kept */
} job;

/* The command with the flags of the job: libraries among them follow the source. */
static void put_arguments(const weir_compiler *compiler, const job *j, const char **args)
{
  int n = 0;

  args[n++] = compiler->command;
  args[n++] = "-o";
  args[n++] = j->object;
  args[n++] = j->source;
  for (int i = j->first_flag; i < compiler->n_flags; i++) {
    args[n++] = compiler->flags[i];
  }
  args[n] = NULL;
}

static void start(const weir_compiler *compiler, job *j)
{
  const char *args[MAX_FLAGS + 5];
  posix_spawn_file_actions_t actions;

  put_arguments(compiler, j, args);
  j->failed = posix_spawn_file_actions_init(&actions);
  if (j->failed != 0) {
    return;
  }
  int failed = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  failed = failed != 0 ? failed
                       : posix_spawn_file_actions_addopen(&actions, 1, j->errors,
                                                          O_WRONLY | O_CREAT | O_TRUNC, 0600);
  failed = failed != 0 ? failed : posix_spawn_file_actions_adddup2(&actions, 1, 2);
  if (failed == 0) {
    failed = posix_spawnp(&j->child, args[0], &actions, NULL, (char *const *)(const void *)args,
                          environ);
  }
  posix_spawn_file_actions_destroy(&actions);
  j->failed = failed;
}

static void await(job *j)
{
  while (j->failed == 0 && waitpid(j->child, &j->code, 0) < 0) {
    if (errno != EINTR) {
      j->failed = errno;
    }
  }
}

/* Starts all jobs that are wanted, and waits for them. */
static void run_jobs(const weir_compiler *compiler, job *jobs, int n)
{
  for (int k = 0; k < n; k++) {
    if (jobs[k].wanted) {
      start(compiler, &jobs[k]);
    }
  }
  for (int k = 0; k < n; k++) {
    if (jobs[k].wanted) {
      await(&jobs[k]);
    }
  }
}

/* First kilobyte of what the compiler said, in one line. */
static void read_errors(const char *path, char *text, size_t size)
{
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t n = fd >= 0 ? read(fd, text, size - 1) : -1;

  if (fd >= 0) {
    close(fd);
  }
  text[n > 0 ? n : 0] = 0;
  for (char *c = text; *c != 0; c++) {
    *c = *c == '\n' ? ' ' : *c;
  }
}

static weir_status judge(const char *compiler, const job *j)
{
  char text[1024];

  if (j->failed != 0) {
    errno = j->failed;
    return weir_fail(WEIR_ERR_UNSUPPORTED, "the C compiler %s does not start: %m", compiler);
  }
  if (j->code != 0) {
    read_errors(j->errors, text, sizeof text);
    return weir_fail(WEIR_ERR_UNSUPPORTED, "the C compiler %s ended with %s %d: %s", compiler,
                     WIFEXITED(j->code) ? "status" : "signal",
                     WIFEXITED(j->code) ? WEXITSTATUS(j->code) : WTERMSIG(j->code), text);
  }
  return WEIR_OK;
}

static weir_status make_folder(char folder[4096])
{
  const char *parent = weir_env("TMPDIR");

  parent = parent == NULL ? "/tmp" : parent;
  if (snprintf(folder, PATH_CAPACITY - 32, "%s/weir-XXXXXX", parent) >= PATH_CAPACITY - 32 ||
      mkdtemp(folder) == NULL) {
    const weir_status status =
        weir_fail(WEIR_ERR_UNSUPPORTED, "%s: cannot create a folder to compile in: %m", parent);
    folder[0] = 0;
    return status;
  }
  return WEIR_OK;
}

static void path_of(const char *folder, const char *name, int k, const char *suffix,
                    char path[4096])
{
  snprintf(path, PATH_CAPACITY, "%.*s/%s%d%s", PATH_CAPACITY - 32, folder, name, k, suffix);
}

void weir_compiled_path(const char *folder, int k, char path[4096])
{
  path_of(folder, "text", k, ".so", path);
}

/* Looks for what was compiled before, or writes the source. */
static weir_status prepare(const weir_compiler *compiler, int objects, const char *text, job *j)
{
  j->known = compiler->keep && write_kept(compiler, text, j->object);
  if (!j->known && objects >= 0) {
    name_object(compiler, text, j->name);
  }
  if (j->name[0] != 0) {
    WEIR_TRY(take_object(objects, j->name, j->object, &j->found));
  }
  j->wanted = !j->known && !j->found;
  if (j->wanted && !write_file(j->source, text, strlen(text))) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "%s: cannot write: %m", j->source);
  }
  return WEIR_OK;
}

/* Judges what was compiled, and keeps it for later. */
static weir_status finish(const weir_compiler *compiler, int objects, const char *text, job *j)
{
  WEIR_TRY(judge(compiler->command, j));
  if (j->name[0] != 0 && !j->found) {
    WEIR_TRY(put_object(objects, j->name, j->object));
  }
  if (compiler->keep && !j->known) {
    WEIR_TRY(keep(compiler, text, j->object));
  }
  return WEIR_OK;
}

weir_status weir_compile(const weir_compiler *compiler, const char *const *texts, int n,
                         char folder[4096])
{
  const int objects = compiler->keep ? weir_objects_open(NULL) : -1;
  weir_status status = WEIR_OK;
  job *jobs = NULL;
  void *memory;

  folder[0] = 0;
  WEIR_ASSERT(compiler->n_flags <= MAX_FLAGS);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *jobs, &memory), done);
  jobs = memory;
  WEIR_TRY_GOTO(make_folder(folder), done);
  for (int k = 0; k < n; k++) {
    job *j = &jobs[k];

    path_of(folder, "text", k, ".c", j->source);
    path_of(folder, "errors", k, "", j->errors);
    weir_compiled_path(folder, k, j->object);
    WEIR_TRY_GOTO(prepare(compiler, objects, texts[k], j), done);
  }
  run_jobs(compiler, jobs, n);
  for (int k = 0; k < n; k++) {
    /* One that was killed is asked for the same again: the cache would keep slower code. */
    const bool killed = !WIFEXITED(jobs[k].code);

    jobs[k].first_flag = killed ? 0 : compiler->n_tuning;
    jobs[k].wanted = jobs[k].failed == 0 && jobs[k].code != 0 && (killed || compiler->n_tuning > 0);
  }
  run_jobs(compiler, jobs, n);
  for (int k = 0; k < n; k++) {
    WEIR_TRY_GOTO(finish(compiler, objects, texts[k], &jobs[k]), done);
  }
done:
  if (objects >= 0) {
    close(objects);
  }
  weir_free(&jobs);
  return status;
}

void weir_compile_remove(const char *folder, int n)
{
  static const char *const names[][2] = {{"text", ".c"}, {"text", ".so"}, {"errors", ""}};
  char path[PATH_CAPACITY];

  if (folder[0] == 0) {
    return;
  }
  for (int k = 0; k < n; k++) {
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
      path_of(folder, names[i][0], k, names[i][1], path);
      unlink(path);
    }
  }
  rmdir(folder);
}
