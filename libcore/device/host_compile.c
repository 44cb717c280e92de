/* host_compile.c - the system's C compiler makes a library of a text. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/weir_opt.h"
#include "device/host_kernel.h"

extern char **environ;

enum { PATH_ROOM = 512 };

typedef struct folder {
  char path[PATH_ROOM], source[PATH_ROOM + 16], object[PATH_ROOM + 16], errors[PATH_ROOM + 16];
} folder;

static weir_status make_folder(folder *f)
{
  const char *parent = weir_env("TMPDIR");
  const int n =
      snprintf(f->path, sizeof f->path, "%s/weir-device-XXXXXX", parent == NULL ? "/tmp" : parent);

  if (n < 0 || n >= (int)sizeof f->path || mkdtemp(f->path) == NULL) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "%s: no folder to compile kernels in: %s", f->path,
                     strerror(errno));
  }
  (void)snprintf(f->source, sizeof f->source, "%s/kernel.c", f->path);
  (void)snprintf(f->object, sizeof f->object, "%s/kernel.so", f->path);
  (void)snprintf(f->errors, sizeof f->errors, "%s/errors", f->path);
  return WEIR_OK;
}

static void remove_folder(const folder *f)
{
  unlink(f->source);
  unlink(f->object);
  unlink(f->errors);
  rmdir(f->path);
}

static weir_status write_text(const char *path, const char *text)
{
  FILE *file = fopen(path, "wxe");
  bool written = file != NULL && fputs(text, file) >= 0;

  written = file != NULL && fclose(file) == 0 && written;
  return written ? WEIR_OK
                 : weir_fail(WEIR_ERR_SPACE, "%s: cannot write: %s", path, strerror(errno));
}

/* Contraction would change bits; the rest is as the library itself is compiled. */
static int spawn(const folder *f, pid_t *child)
{
  const char *args[] = {"cc",
                        "-O1",
                        "-std=gnu11",
                        "-ffp-contract=off",
                        "-fno-math-errno",
                        "-fno-trapping-math",
                        "-fno-strict-aliasing",
                        "-w",
                        "-fPIC",
                        "-shared",
                        "-o",
                        f->object,
                        f->source,
                        "-lm",
                        NULL};
  posix_spawn_file_actions_t actions;
  int failed = posix_spawn_file_actions_init(&actions);

  if (failed != 0) {
    return failed;
  }
  failed = posix_spawn_file_actions_addopen(&actions, 1, f->errors, O_WRONLY | O_CREAT, 0600);
  failed = failed != 0 ? failed : posix_spawn_file_actions_adddup2(&actions, 1, 2);
  if (failed == 0) {
    failed =
        posix_spawnp(child, args[0], &actions, NULL, (char *const *)(const void *)args, environ);
  }
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

static void read_errors(const char *path, char *text, size_t size)
{
  FILE *file = fopen(path, "re");
  const size_t n = file != NULL ? fread(text, 1, size - 1, file) : 0;

  text[n] = 0;
  if (file != NULL) {
    fclose(file);
  }
}

static weir_status compile(const folder *f)
{
  char said[1024];
  pid_t child = 0;
  int code = 0;
  const int failed = spawn(f, &child);

  if (failed != 0) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "the C compiler cc, which compiles kernels for the host, does not start: %s",
                     strerror(failed));
  }
  while (waitpid(child, &code, 0) < 0) {
    if (errno != EINTR) {
      return weir_fail(WEIR_ERR_UNSUPPORTED, "the C compiler cc: %s", strerror(errno));
    }
  }
  if (code != 0) {
    read_errors(f->errors, said, sizeof said);
    return weir_fail(WEIR_ERR_UNSUPPORTED, "a kernel does not compile for the host: %s", said);
  }
  return WEIR_OK;
}

weir_status host_compile(const char *text, void **handle)
{
  weir_status status = WEIR_OK;
  folder f;

  *handle = NULL;
  WEIR_TRY(make_folder(&f));
  WEIR_TRY_GOTO(write_text(f.source, text), done);
  WEIR_TRY_GOTO(compile(&f), done);
  *handle = dlopen(f.object, RTLD_NOW | RTLD_LOCAL);
  if (*handle == NULL) {
    status = weir_fail(WEIR_ERR_UNSUPPORTED, "a kernel compiled for the host: %s", dlerror());
  }
done:
  remove_folder(&f);
  return status;
}
