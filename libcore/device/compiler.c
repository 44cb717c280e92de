/* compiler.c - where the C compiler is, and what tells it from another. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/weir_file.h"
#include "conf/weir_opt.h"
#include "device/weir_compile.h"

enum { PATH_CAPACITY = 4096 };

static bool is_program(const char *path)
{
  struct stat info;

  return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

static bool search(const char *command, const char *folders, char path[4096])
{
  while (*folders != 0) {
    const size_t n = strcspn(folders, ":");
    const int need = snprintf(path, PATH_CAPACITY, "%.*s/%s", (int)n, folders, command);
    if (n > 0 && need < PATH_CAPACITY && is_program(path)) {
      return true;
    }
    folders += n + (folders[n] == ':');
  }
  return false;
}

weir_status weir_compiler_find(const char *command, char path[4096], char identity[256])
{
  struct stat info;
  char *real;

  command = command == NULL || command[0] == 0 ? "cc" : command;
  const char *folders = weir_env("PATH");
  folders = folders == NULL ? "/usr/local/bin:/usr/bin:/bin" : folders;
  if (strchr(command, '/') != NULL) {
    if (snprintf(path, PATH_CAPACITY, "%s", command) >= PATH_CAPACITY || !is_program(path)) {
      return weir_fail(WEIR_ERR_UNSUPPORTED, "no C compiler: '%s' is not a program", command);
    }
  } else if (!search(command, folders, path)) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "no C compiler: '%s' is not in a folder of PATH (%s)",
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
