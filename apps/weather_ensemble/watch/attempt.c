/* attempt.c - see attempt.h. */
#include "watch/attempt.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <libgen.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"

enum { PATH_SIZE = 4096, LOG_SIZE = 1 << 24, OPEN = 16, FIXED = 24 };

static const char *const level[] = {[WEIR_LOG_ERROR] = "error",
                                    [WEIR_LOG_WARN] = "warn",
                                    [WEIR_LOG_INFO] = "info",
                                    [WEIR_LOG_DEBUG] = "debug"};

/* The words of a command line. */
typedef struct words {
  const char **word;
  char seed[32], threads[32];
  int n;
} words;

static void add(words *w, const char *flag, const char *value)
{
  w->word[w->n++] = flag;
  w->word[w->n++] = value;
}

/* A plain prediction of the same configuration. */
static weir_status make_words(const weir_cli *cli, const char *input, const char *out, words *w)
{
  WEIR_TRY(weir_alloc(2 * ((int64_t)cli->n_configs + cli->n_sets) + FIXED, sizeof *w->word,
                      (void **)&w->word));
  add(w, cli->app->name, cli->command);
  for (int i = 0; i < cli->n_configs; i++) {
    add(w, "--config", cli->configs[i]);
  }
  for (int i = 0; i < cli->n_sets; i++) {
    add(w, "--set", cli->sets[i]);
  }
  add(w, "--set", "predict.watch.directory=''");
  add(w, "--input", input);
  if (cli->has_seed) {
    (void)snprintf(w->seed, sizeof w->seed, "%lld", (long long)cli->seed);
    add(w, "--seed", w->seed);
  }
  if (cli->threads > 0) {
    (void)snprintf(w->threads, sizeof w->threads, "%d", cli->threads);
    add(w, "--threads", w->threads);
  }
  if (cli->device != NULL) {
    add(w, "--device", cli->device);
  }
  add(w, "--log", level[cli->log]);
  add(w, "--out", out);
  w->word[w->n] = NULL;
  return WEIR_OK;
}

/* In the new process: calls that are safe after fork alone. */
static void become(const words *w, int log, pid_t parent)
{
  sigset_t stops;

  (void)sigemptyset(&stops); /* the parent decides when to end: after this file */
  (void)sigaddset(&stops, SIGTERM);
  (void)sigaddset(&stops, SIGINT);
  (void)sigaddset(&stops, SIGHUP);
  (void)sigprocmask(SIG_BLOCK, &stops, NULL);
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a second instance would work beside it */
  if (getppid() == parent && dup2(log, STDOUT_FILENO) >= 0 && dup2(log, STDERR_FILENO) >= 0) {
    (void)execv("/proc/self/exe", (char *const *)(uintptr_t)w->word);
  }
  _exit(WEIR_ERR_EXTERNAL);
}

static weir_status wait_for(pid_t child, weir_status *result, char *reason, size_t size)
{
  int code = 0;

  while (waitpid(child, &code, 0) < 0) {
    if (errno != EINTR) {
      return weir_fail(WEIR_ERR_EXTERNAL, "the process of a prediction is lost: %s",
                       strerror(errno));
    }
  }
  reason[0] = 0;
  if (WIFSIGNALED(code)) {
    *result = WEIR_ERR_EXTERNAL;
    (void)snprintf(reason, size, "ended by signal %d (%s)", WTERMSIG(code),
                   strsignal(WTERMSIG(code)));
  } else {
    *result = (weir_status)WEXITSTATUS(code);
  }
  return WEIR_OK;
}

/* The last failure that a log has: "error: TEXT", up to the line with its kind. */
static void find_reason(const char *log, char *reason, size_t size)
{
  static const char mark[] = "error: ";
  char *text = NULL, *found = NULL;
  int64_t bytes = 0;

  if (weir_file_read(log, LOG_SIZE, &text, &bytes) == WEIR_OK) {
    for (char *at = strstr(text, mark); at != NULL; at = strstr(at + 1, mark)) {
      found = at == text || at[-1] == '\n' ? at : found;
    }
  }
  if (found != NULL) {
    char *const end = strstr(found, "\n  (");

    if (end != NULL) {
      *end = 0;
    }
    (void)snprintf(reason, size, "%s", found + sizeof mark - 1);
  } else {
    (void)snprintf(reason, size, "failed without a message");
  }
  weir_free(&text);
}

weir_status wx_attempt_run(const weir_cli *cli, const char *input, const char *out, const char *log,
                           weir_status *result, char *reason, size_t size)
{
  words w = {.n = 0};
  weir_status status = WEIR_OK;
  const pid_t self = getpid();
  const int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

  if (fd < 0) {
    return weir_write_failed(log, errno, WEIR_ERR_DATA);
  }
  WEIR_TRY_GOTO(make_words(cli, input, out, &w), done);
  (void)fflush(NULL);
  const pid_t child = fork();

  if (child == 0) {
    become(&w, fd, self);
  }
  if (child < 0) {
    status = weir_fail(WEIR_ERR_EXTERNAL, "no process can be started for %s: %s", input,
                       strerror(errno));
    goto done;
  }
  WEIR_TRY_GOTO(wait_for(child, result, reason, size), done);
  if (*result != WEIR_OK && reason[0] == 0) {
    find_reason(log, reason, size);
  }
done:
  (void)close(fd);
  weir_free(&w.word);
  return status;
}

/* ---- Folders ---- */

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
  (void)info;
  (void)type;
  (void)where;
  return remove(path);
}

weir_status wx_attempt_remove(const char *dir)
{
  struct stat info;

  if (lstat(dir, &info) != 0 && errno == ENOENT) {
    return WEIR_OK;
  }
  return nftw(dir, remove_one, OPEN, FTW_DEPTH | FTW_PHYS) == 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA, "%s: cannot be removed: %s", dir, strerror(errno));
}

/* Names of a folder reach the disk with it. */
static void sync_folder(const char *path)
{
  const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  if (fd >= 0) {
    (void)fsync(fd);
    (void)close(fd);
  }
}

weir_status wx_attempt_publish(const char *from, const char *to)
{
  char parent[PATH_SIZE];

  sync_folder(from);
  if (rename(from, to) != 0) { /* onto a folder with files it fails */
    return weir_write_failed(to, errno, WEIR_ERR_DATA);
  }
  (void)snprintf(parent, sizeof parent, "%s", to);
  sync_folder(dirname(parent));
  return WEIR_OK;
}
