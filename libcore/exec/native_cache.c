/* native_cache.c - compiled objects by content, and their way into this process.
 *
 * An object is the file of the compiler followed by a trailer: a mark and a digest over the file
 * and its key. What is loaded is the descriptor whose bytes had the right digest, never a name. A
 * folder or an object that another user could have written is refused, and what is refused or
 * damaged is compiled anew: the cache can make a program slow, not wrong. */
#include "exec/native_priv.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "conf/weir_opt.h"

#define MARK "weirobj1"
enum { MARK_SIZE = 8, TRAILER = MARK_SIZE + 64, PATH_ROOM = 4096 };
static const int64_t largest = INT64_C(64) << 20;

static void refuse(const char *what, const char *reason)
{
  weir_event("cache_refused", WEIR_TEXT("path", what), WEIR_TEXT("reason", reason));
  weir_warn("exec", "cache of compiled loops: %s: %s", what, reason);
}

/* ---- The folder. ---- */

/* Makes every missing folder of `path`, for this user alone. */
static void make_folders(const char *path)
{
  char part[PATH_ROOM];
  const size_t n = strlen(path);

  memcpy(part, path, n + 1);
  for (size_t i = 1; i <= n; i++) {
    if (part[i] == '/' || part[i] == 0) {
      const char kept = part[i];
      part[i] = 0;
      (void)mkdir(part, 0700); /* opening it will tell */
      part[i] = kept;
    }
  }
}

static bool folder_path(const weir_engine_opts *opts, char path[PATH_ROOM])
{
  const char *base = weir_env("XDG_CACHE_HOME"), *tail = "/weir";

  if (opts->cache_dir != NULL && opts->cache_dir[0] != 0) {
    base = opts->cache_dir;
    tail = "";
  } else if (base == NULL || base[0] != '/') {
    base = weir_env("HOME");
    tail = "/.cache/weir";
  }
  return base != NULL && snprintf(path, PATH_ROOM, "%s%s", base, tail) < PATH_ROOM;
}

/* Descriptor of the user's folder, -1: there is none that may be trusted. */
static int open_folder(const weir_engine_opts *opts)
{
  char path[PATH_ROOM];
  struct stat info;

  if (!folder_path(opts, path)) {
    weir_event("cache_none",
               WEIR_TEXT("reason", "no folder: neither cache_dir, XDG_CACHE_HOME nor HOME"));
    return -1;
  }
  make_folders(path);
  const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    refuse(path, errno == ELOOP || errno == ENOTDIR ? "is a link, or no folder" : strerror(errno));
    return -1;
  }
  const char *reason = NULL;
  if (fstat(fd, &info) != 0) {
    reason = "cannot be looked at";
  } else if (info.st_uid != geteuid()) {
    reason = "belongs to another user";
  } else if ((info.st_mode & 022) != 0) {
    reason = "others may write into it (chmod 700 it)";
  }
  if (reason != NULL) {
    refuse(path, reason);
    close(fd);
    return -1;
  }
  return fd;
}

/* ---- Objects. ---- */

static void digest_of(const char *key, const char *bytes, int64_t n, char hex[65])
{
  char both[128];

  weir_sha256(bytes, (size_t)n, hex);
  memcpy(both, key, 64);
  memcpy(both + 64, hex, 64);
  weir_sha256(both, sizeof both, hex);
}

/* Reads n bytes from the start of the file. */
static bool read_whole(int fd, char *bytes, int64_t n)
{
  int64_t done = 0;

  while (done < n) {
    const ssize_t got = pread(fd, bytes + done, (size_t)(n - done), done);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return false;
    }
    done += got;
  }
  return true;
}

/* Bytes of an open file that this user alone could write. Fails: WEIR_ERR_MEMORY; *reason is set
 * where the file is refused, *bytes NULL then. */
static weir_status read_object(int fd, char **bytes, int64_t *n, const char **reason)
{
  struct stat info;
  void *memory;

  *bytes = NULL;
  *reason = NULL;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    *reason = "no plain file";
  } else if (info.st_uid != geteuid()) {
    *reason = "belongs to another user";
  } else if ((info.st_mode & 07777) != 0600) {
    *reason = "has another mode than 0600";
  } else if (info.st_size <= TRAILER || info.st_size > largest) {
    *reason = "has a size that no object has";
  }
  if (*reason != NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(info.st_size, 1, &memory));
  *bytes = memory;
  *n = info.st_size;
  if (!read_whole(fd, *bytes, *n)) {
    *reason = "cannot be read whole";
    weir_free(bytes);
  }
  return WEIR_OK;
}

/* Opens the object of this key when every byte of it is right; *fd is -1 when it is not there, or
 * refused. */
static weir_status open_object(int folder, const char *key, int *fd)
{
  char name[80], hex[65], *bytes = NULL;
  const char *reason = NULL;
  int64_t n = 0;

  snprintf(name, sizeof name, "%s.so", key);
  *fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (*fd < 0) {
    if (errno != ENOENT) {
      refuse(name, errno == ELOOP ? "is a link" : strerror(errno));
    }
    return WEIR_OK;
  }
  const weir_status status = read_object(*fd, &bytes, &n, &reason);
  if (status == WEIR_OK && reason == NULL) {
    digest_of(key, bytes, n - TRAILER, hex);
    if (memcmp(bytes + n - TRAILER, MARK, MARK_SIZE) != 0 ||
        memcmp(bytes + n - TRAILER + MARK_SIZE, hex, 64) != 0) {
      reason = "its bytes do not have their digest";
    }
  }
  weir_free(&bytes);
  if (status != WEIR_OK || reason != NULL) {
    close(*fd);
    *fd = -1;
  }
  if (reason != NULL) {
    refuse(name, reason);
  }
  return status == WEIR_OK ? WEIR_OK : weir_trace_at(status, __FILE__, __LINE__, __func__);
}

/* Writes object and trailer under the key's name, whole or not at all. */
static void store_object(int folder, const char *key, const char *bytes, int64_t n)
{
  char name[80], unfinished[128], trailer[TRAILER], hex[65];
  int fd = -1;

  snprintf(name, sizeof name, "%s.so", key);
  memcpy(trailer, MARK, MARK_SIZE);
  digest_of(key, bytes, n, hex);
  memcpy(trailer + MARK_SIZE, hex, 64);
  for (int attempt = 0; fd < 0 && attempt < 100; attempt++) {
    snprintf(unfinished, sizeof unfinished, "%s.tmp-%ld-%d", name, (long)getpid(), attempt);
    fd = openat(folder, unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 && errno != EEXIST) {
      break;
    }
  }
  if (fd < 0) {
    refuse(name, strerror(errno));
    return;
  }
  bool right = fchmod(fd, 0600) == 0 && native_write(fd, bytes, n) &&
               native_write(fd, trailer, TRAILER) && fsync(fd) == 0;
  right = close(fd) == 0 && right;
  if (!right || renameat(folder, unfinished, folder, name) != 0) {
    refuse(name, strerror(errno));
    (void)unlinkat(folder, unfinished, 0);
  }
}

/* ---- Loading. ---- */

/* Handle of the file behind fd, NULL: failed. The loader knows objects by name, and the name of a
 * descriptor is its number: an object still loaded under this number, whose own descriptor is
 * closed, would be returned instead. Its source then tells, and another number is tried. */
static void *load_descriptor(int *fd, const char *source)
{
  int wrong[16], n_wrong = 0;
  void *handle = NULL;

  while (handle == NULL && n_wrong < 16) {
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", *fd);
    handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
      break;
    }
    const char *found = dlsym(handle, "weir_native_source");
    if (found == NULL || strcmp(found, source) != 0) {
      dlclose(handle);
      handle = NULL;
      wrong[n_wrong++] = *fd;
      *fd = fcntl(*fd, F_DUPFD_CLOEXEC, *fd + 1);
      if (*fd < 0) {
        break;
      }
    }
  }
  while (n_wrong > 0) {
    close(wrong[--n_wrong]);
  }
  return handle;
}

/* Takes over fd. */
static weir_status load_object(int fd, const char *source, int32_t n, native_object **out)
{
  void *memory;

  *out = NULL;
  const weir_status status = weir_alloc(1, sizeof(native_object), &memory);
  if (status != WEIR_OK) {
    close(fd);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  native_object *object = memory;
  object->handle = load_descriptor(&fd, source);
  object->fd = fd;
  atomic_init(&object->users, 1);
  if (object->handle != NULL) {
    const int *abi = dlsym(object->handle, "weir_native_abi");
    const int *count = dlsym(object->handle, "weir_native_count");
    object->kernels = dlsym(object->handle, "weir_native_kernels");
    if (abi != NULL && *abi == NATIVE_ABI && count != NULL && *count == n &&
        object->kernels != NULL) {
      *out = object;
      return WEIR_OK;
    }
  }
  const char *reason = dlerror();
  const weir_status failed = weir_fail(WEIR_ERR_UNSUPPORTED, "compiled loops cannot be loaded: %s",
                                       reason != NULL ? reason : "they are not what was compiled");
  native_object_release(object);
  return failed;
}

void native_object_release(native_object *object)
{
  if (object == NULL || atomic_fetch_sub(&object->users, 1) > 1) {
    return;
  }
  if (object->handle != NULL) {
    dlclose(object->handle);
  }
  if (object->fd >= 0) {
    close(object->fd);
  }
  weir_free(&object);
}

/* Compiles, keeps the result in the folder (-1: nowhere) and opens it. */
static weir_status build_object(const native_text *source, const char *compiler, const char *key,
                                int folder, int *fd)
{
  char private[PATH_ROOM], path[PATH_ROOM], *bytes = NULL;
  const char *reason = NULL;
  const double start = weir_clock();
  weir_status status;
  int64_t n = 0;

  *fd = -1;
  WEIR_TRY_GOTO(native_compile(compiler, source, private, path), done);
  *fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (*fd < 0 || fchmod(*fd, 0600) != 0) {
    status = weir_fail(WEIR_ERR_UNSUPPORTED, "%s: what was compiled is not there: %m", path);
    goto done;
  }
  WEIR_TRY_GOTO(read_object(*fd, &bytes, &n, &reason), done);
  if (reason != NULL) {
    status = weir_fail(WEIR_ERR_UNSUPPORTED, "%s: %s", path, reason);
    goto done;
  }
  if (folder >= 0) {
    store_object(folder, key, bytes, n);
  }
  weir_event("cache_compiled", WEIR_TEXT("key", key), WEIR_REAL("seconds", weir_clock() - start),
             WEIR_INT("bytes", n));
done:
  weir_free(&bytes);
  native_folder_remove(private);
  if (status != WEIR_OK && *fd >= 0) {
    close(*fd);
    *fd = -1;
  }
  return status;
}

/* Everything that the bytes of an object depend on. */
static weir_status key_of(const char *source, const char *identity, char key[65])
{
  char cpu[8192], text[10240];
  int n_flags;
  const char *const *flags = native_compiler_flags(&n_flags);
  size_t used;

  native_cpu_identity(cpu, sizeof cpu);
  used =
      (size_t)snprintf(text, sizeof text, "weir native %d\nsource %s\ncompiler %s\npointer %zu\n%s",
                       NATIVE_ABI, source, identity, sizeof(void *), cpu);
  for (int i = 0; i < n_flags && used < sizeof text; i++) {
    used += (size_t)snprintf(text + used, sizeof text - used, "%s\n", flags[i]);
  }
  if (used >= sizeof text) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "the key of compiled loops is too long");
  }
  weir_sha256(text, used, key);
  return WEIR_OK;
}

weir_status native_object_get(native_text *source, int32_t n, const weir_engine_opts *opts,
                              native_object **out)
{
  char compiler[PATH_ROOM], identity[256], digest[65], key[65];
  weir_status status;
  int fd = -1;

  *out = NULL;
  WEIR_TRY(native_compiler_find(opts->compiler, compiler, identity));
  weir_sha256(source->text, (size_t)source->n, digest);
  native_put(source, "const char weir_native_source[] = \"%s\";\n", digest);
  WEIR_TRY(source->status);
  WEIR_TRY(key_of(digest, identity, key));
  const int folder = open_folder(opts);
  if (folder >= 0) {
    WEIR_TRY_GOTO(open_object(folder, key, &fd), done);
  }
  if (fd < 0) {
    WEIR_TRY_GOTO(build_object(source, compiler, key, folder, &fd), done);
  } else {
    weir_event("cache_hit", WEIR_TEXT("key", key));
  }
  status = load_object(fd, digest, n, out);
done:
  if (folder >= 0) {
    close(folder);
  }
  return status;
}
