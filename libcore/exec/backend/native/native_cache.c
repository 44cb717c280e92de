/* native_cache.c - which object of the user's folder holds a kernel.
 *
 * An object (device/weir_objects.h) holds kernels of several loops. For every kernel there is a
 * note, a file of the kernel's key that names the object; the object says itself which kernels it
 * holds. */
#include "exec/backend/native/native_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/weir_clock.h"
#include "device/weir_objects.h"

enum { NAME_SIZE = 64 };

bool native_cache_find(int folder, const char *key, char name[65])
{
  char file[80], text[NAME_SIZE + 2];
  int64_t n = 0;

  snprintf(file, sizeof file, "%s.in", key);
  const int fd = openat(folder, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return false;
  }
  while (n < (int64_t)sizeof text) {
    const ssize_t got = read(fd, text + n, sizeof text - (size_t)n);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    n += got;
  }
  close(fd);
  if (n != NAME_SIZE + 1 || strspn(text, "0123456789abcdef") != NAME_SIZE ||
      text[NAME_SIZE] != '\n') {
    weir_objects_refuse(file, "names no object");
    return false;
  }
  memcpy(name, text, NAME_SIZE);
  name[NAME_SIZE] = 0;
  return true;
}

weir_status native_cache_keep(int folder, int fd, const char *name,
                              const native_kernel *const *kernels, int n, int64_t *bytes)
{
  char file[80];
  bool kept = false;

  WEIR_TRY(weir_objects_keep(folder, fd, name, &kept, bytes));
  for (int k = 0; k < n && kept; k++) {
    snprintf(file, sizeof file, "%s.in", kernels[k]->key);
    kept = weir_objects_note(folder, file, name);
  }
  return WEIR_OK;
}

/* ---- Turns. ---- */

/* One lock for each first byte of a key: at most 256 files, and two keys that share one only wait.
 * Nobody waits longer than patience_s: the holder may be stopped. */
bool native_cache_turn(int folder, const char *key, int *turn)
{
  static const double patience_s = 60;
  const struct timespec step = {.tv_nsec = 5000000};
  const double start = weir_clock();
  char file[16];
  bool waited = false;

  snprintf(file, sizeof file, "%.2s.turn", key);
  *turn = folder < 0 ? -1 : openat(folder, file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  while (*turn >= 0 && flock(*turn, LOCK_EX | LOCK_NB) != 0) {
    if ((errno != EWOULDBLOCK && errno != EINTR) || weir_clock() - start > patience_s) {
      native_cache_turn_end(turn); /* a file system without locks, say */
      break;
    }
    waited = true;
    (void)nanosleep(&step, NULL);
  }
  return waited;
}

void native_cache_turn_end(int *turn)
{
  if (*turn >= 0) {
    close(*turn);
  }
  *turn = -1;
}
