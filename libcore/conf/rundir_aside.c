/* rundir_aside.c - other names for the files of an earlier run until the run that replaces them has
 * ended well. Renaming needs no space. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "conf/conf_priv.h"
#include "conf/rundir_priv.h"
#include "conf/weir_rundir.h"

static void aside_name(const char *name, char *text, size_t size)
{
  (void)snprintf(text, size, "%s.earlier-%ld", name, (long)getpid());
}

/* The folder that holds `name`, below an open one, and its last part. -1: absent, or reached by a
 * link. */
static int open_parent(int fd, const char *name, const char **last)
{
  char folder[NAME_MAX + 1];
  int at = dup(fd);

  for (const char *slash; at >= 0 && (slash = strchr(name, '/')) != NULL; name = slash + 1) {
    const int n = snprintf(folder, sizeof folder, "%.*s", (int)(slash - name), name);
    const bool plain =
        n > 0 && n < (int)sizeof folder && strcmp(folder, ".") != 0 && strcmp(folder, "..") != 0;
    const int below =
        plain ? openat(at, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;

    close(at);
    at = below;
  }
  *last = name;
  return at;
}

static bool rename_below(int fd, const char *from, const char *to)
{
  const char *old = from, *new = strrchr(to, '/') == NULL ? to : strrchr(to, '/') + 1;
  const int at = open_parent(fd, from, &old);
  struct stat info;

  if (at < 0) {
    errno = ENOENT;
    return false;
  }
  const bool plain = fstatat(at, old, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode);

  if (!plain) {
    errno = ENOENT;
  }
  const bool done = plain && renameat(at, old, at, new) == 0;
  const int reason = errno;

  close(at);
  errno = reason;
  return done;
}

static bool is_file_below(int fd, const char *name)
{
  const char *last = name;
  const int at = open_parent(fd, name, &last);
  struct stat info;
  const bool plain =
      at >= 0 && fstatat(at, last, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode);

  if (at >= 0) {
    close(at);
  }
  return plain;
}

weir_status conf_set_aside(int fd, const char *out, const char *name)
{
  char aside[PATH_MAX + 32], path[PATH_MAX], before[PATH_MAX + 32];

  if (!is_file_below(fd, name)) { /* noting it would lengthen its name run by run */
    return WEIR_OK;
  }
  aside_name(name, aside, sizeof aside);
  WEIR_TRY(weir_path_join(out, name, path, sizeof path));
  WEIR_TRY(weir_path_join(out, aside, before, sizeof before));
  weir_event("file",
             WEIR_TEXT("name", aside)); /* a later run finds it, should this one be killed */
  if (!rename_below(fd, name, aside)) {
    return errno == ENOENT
               ? WEIR_OK
               : weir_fail(WEIR_ERR_CONFIG, "%s of an earlier run cannot be renamed: %s", name,
                           strerror(errno));
  }
  const weir_status status = weir_writer_replaces(path, before);

  if (status != WEIR_OK) {
    (void)rename_below(fd, aside, name);
  }
  return status;
}

void weir_run_dir_keep(void)
{
  weir_writer_remember(false);
}
