/* native_compile.c - the system's C compiler as a child process, in a private folder. */
#include "exec/native_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "conf/weir_opt.h"
#include "device/weir_parallel.h"

extern char **environ;

/* Contraction and the like would change bits. The first N_TUNING are gcc's names: compilers that
 * refuse them are asked again without. With them, gcc -O1 makes code as fast as -O2 in three
 * quarters of the time, and -O3 slower code: it unrolls blocks of lanes out of their registers. */
#define FLAGS(march)                                                                              \
  {                                                                                               \
    "-ftree-vectorize", "-fvect-cost-model=dynamic", "-fopenmp-simd", "-O1", "-std=gnu11", march, \
        "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fno-strict-aliasing",     \
        "-fwrapv", "-w", "-fPIC", "-shared", "-nostdlib"                                          \
  }
enum { N_FLAGS = 15, N_TUNING = 3, PATH_ROOM = 4096 };
#if defined(__x86_64__)
#define BASE "-march=x86-64"
#else
#define BASE "-w"
#endif
static const char *const flags[][N_FLAGS] = {
    [WEIR_SIMD_AUTO] = FLAGS("-march=native"),
    [WEIR_SIMD_BASE] = FLAGS(BASE),
    [WEIR_SIMD_AVX2] = FLAGS("-march=x86-64-v3"),
    [WEIR_SIMD_AVX512] = FLAGS("-march=x86-64-v4"),
};

const char *const *native_compiler_flags(int *n)
{
  *n = N_FLAGS;
  return flags[weir_cpu_get()->simd];
}

static bool is_program(const char *path)
{
  struct stat info;

  return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

static bool search(const char *command, const char *folders, char path[4096])
{
  while (*folders != 0) {
    const size_t n = strcspn(folders, ":");
    const int need = snprintf(path, PATH_ROOM, "%.*s/%s", (int)n, folders, command);
    if (n > 0 && need < PATH_ROOM && is_program(path)) {
      return true;
    }
    folders += n + (folders[n] == ':');
  }
  return false;
}

weir_status native_compiler_find(const char *command, char path[4096], char identity[256])
{
  struct stat info;
  char *real;

  command = command == NULL || command[0] == 0 ? "cc" : command;
  const char *folders = weir_env("PATH");
  folders = folders == NULL ? "/usr/local/bin:/usr/bin:/bin" : folders;
  if (strchr(command, '/') != NULL) {
    if (snprintf(path, PATH_ROOM, "%s", command) >= PATH_ROOM || !is_program(path)) {
      return weir_fail(WEIR_ERR_UNSUPPORTED, "no C compiler: '%s' is no program", command);
    }
  } else if (!search(command, folders, path)) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "no C compiler: '%s' is in no folder of PATH (%s)",
                     command, folders);
  }
  real = realpath(path, NULL);
  if (real == NULL || stat(real, &info) != 0) {
    free(real);
    return weir_fail(WEIR_ERR_UNSUPPORTED, "no C compiler: '%s': %m", path);
  }
  char hex[65];
  weir_sha256(real, strlen(real), hex);
  free(real);
  snprintf(identity, 256, "%s %" PRId64 " %" PRId64 ".%09ld %" PRIu64 ":%" PRIu64, hex,
           (int64_t)info.st_size, (int64_t)info.st_mtim.tv_sec, info.st_mtim.tv_nsec,
           (uint64_t)info.st_dev, (uint64_t)info.st_ino);
  return WEIR_OK;
}

void native_cpu_identity(char *text, size_t size)
{
  static const char *const keys[] = {"vendor_id", "cpu family", "model",           "stepping",
                                     "flags",     "Features",   "CPU implementer", "CPU part"};
  char block[8192];
  size_t n = 0, used = 0;
  const int fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);

  while (fd >= 0 && n < sizeof block - 1) {
    const ssize_t got = read(fd, block + n, sizeof block - 1 - n);
    if (got <= 0) {
      break;
    }
    n += (size_t)got;
  }
  if (fd >= 0) {
    close(fd);
  }
  block[n] = 0;
  text[0] = 0;
  for (const char *line = block; *line != 0 && *line != '\n';) { /* the first processor */
    const size_t length = strcspn(line, "\n");
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
      if (strncmp(line, keys[k], strlen(keys[k])) == 0 && used < size) {
        const int put = snprintf(text + used, size - used, "%.*s\n", (int)length, line);
        used += put > 0 ? (size_t)put : 0;
        break;
      }
    }
    line += length + (line[length] == '\n');
  }
}

bool native_write(int fd, const char *bytes, int64_t n)
{
  int64_t done = 0;

  while (done < n) {
    const ssize_t put = write(fd, bytes + done, (size_t)(n - done));
    if (put < 0 && errno == EINTR) {
      continue;
    }
    if (put <= 0) {
      return false;
    }
    done += put;
  }
  return true;
}

static bool write_file(const char *path, const native_text *text)
{
  const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  const bool written = fd >= 0 && native_write(fd, text->text, text->n);

  return fd >= 0 && close(fd) == 0 && written;
}

/* One start of the compiler. */
typedef struct job {
  char source[PATH_ROOM], object[PATH_ROOM], errors[PATH_ROOM];
  pid_t child;
  int first_flag, code; /* code: wait status  */
  int failed;           /* to start, an errno */
} job;

static void start(const char *compiler, job *j)
{
  const char *args[N_FLAGS + 5];
  posix_spawn_file_actions_t actions;
  int n = 0, n_flags = 0;
  const char *const *chosen = native_compiler_flags(&n_flags);

  args[n++] = compiler;
  for (int i = j->first_flag; i < n_flags; i++) {
    args[n++] = chosen[i];
  }
  args[n++] = "-o";
  args[n++] = j->object;
  args[n++] = j->source;
  args[n] = NULL;
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
    failed = posix_spawn(&j->child, compiler, &actions, NULL, (char *const *)(const void *)args,
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

/* Starts all jobs that have not ended well, and waits for them. */
static void run_jobs(const char *compiler, job *jobs, int n)
{
  bool again[NATIVE_PIECES];

  for (int k = 0; k < n; k++) {
    again[k] = jobs[k].failed == 0 && jobs[k].code != 0;
    if (again[k]) {
      start(compiler, &jobs[k]);
    }
  }
  for (int k = 0; k < n; k++) {
    if (again[k]) {
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
  if (snprintf(folder, PATH_ROOM - 32, "%s/weir-XXXXXX", parent) >= PATH_ROOM - 32 ||
      mkdtemp(folder) == NULL) {
    const weir_status status =
        weir_fail(WEIR_ERR_UNSUPPORTED, "%s: no folder to compile in: %m", parent);
    folder[0] = 0;
    return status;
  }
  return WEIR_OK;
}

static void path_of(const char *folder, const char *name, int k, const char *suffix,
                    char path[4096])
{
  snprintf(path, PATH_ROOM, "%.*s/%s%d%s", PATH_ROOM - 32, folder, name, k, suffix);
}

void native_compiled_path(const char *folder, int k, char path[4096])
{
  path_of(folder, "loops", k, ".so", path);
}

weir_status native_compile(const char *compiler, const native_text *sources, int n,
                           char folder[4096])
{
  weir_status status = WEIR_OK;
  job *jobs = NULL;
  void *memory;

  folder[0] = 0;
  WEIR_TRY(weir_alloc(n, sizeof *jobs, &memory));
  jobs = memory;
  WEIR_TRY_GOTO(make_folder(folder), done);
  for (int k = 0; k < n; k++) {
    job *j = &jobs[k];

    path_of(folder, "loops", k, ".c", j->source);
    path_of(folder, "errors", k, "", j->errors);
    native_compiled_path(folder, k, j->object);
    j->code = -1; /* not run */
    if (!write_file(j->source, &sources[k])) {
      status = weir_fail(WEIR_ERR_UNSUPPORTED, "%s: cannot write: %m", j->source);
      goto done;
    }
  }
  run_jobs(compiler, jobs, n);
  for (int k = 0; k < n; k++) {
    /* One that was killed is asked for the same once more: the cache would keep slower code. */
    jobs[k].first_flag = WIFEXITED(jobs[k].code) ? N_TUNING : 0;
  }
  run_jobs(compiler, jobs, n);
  for (int k = 0; k < n; k++) {
    WEIR_TRY_GOTO(judge(compiler, &jobs[k]), done);
  }
done:
  weir_free(&jobs);
  return status;
}

void native_folder_remove(const char *folder, int n)
{
  static const char *const names[][2] = {{"loops", ".c"}, {"loops", ".so"}, {"errors", ""}};
  char path[PATH_ROOM];

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
