/* file.c - files of a set, mapped. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "io/grib/grib_priv.h"
#include "io/io_priv.h"

static int64_t nanoseconds(const struct stat *info)
{
  return (int64_t)info->st_mtim.tv_sec * 1000000000 + info->st_mtim.tv_nsec;
}

weir_status weir_grib_file_open(const char *path, weir_grib_file *f)
{
  weir_status status = WEIR_OK;
  struct stat info;
  int fd = -1;

  WEIR_TRY(weir_strdup(path, &f->path));
  WEIR_TRY(weir_io_open(path, &fd, &f->size));
  if (f->size == 0) {
    status = weir_fail(WEIR_ERR_DATA, "%s: the file is empty: it has no GRIB message", path);
  } else if (fstat(fd, &info) != 0) {
    status = weir_fail(WEIR_ERR_DATA, "%s: cannot be read: %m", path);
  } else {
    /* Writable and private: the library may note something in a message, the file stays. */
    void *const bytes =
        mmap(NULL, (size_t)f->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);

    f->mtime = nanoseconds(&info);
    f->bytes = bytes == MAP_FAILED ? NULL : bytes;
    if (bytes == MAP_FAILED) {
      status = weir_fail(WEIR_ERR_DATA, "%s: cannot be mapped: %m", path);
    }
  }
  close(fd);
  return status;
}

weir_status weir_grib_file_reopen(const weir_grib_file *f, int *fd)
{
  struct stat info;
  int64_t size = 0;

  WEIR_TRY(weir_io_open(f->path, fd, &size));
  if (fstat(*fd, &info) != 0 || size != f->size || nanoseconds(&info) != f->mtime) {
    close(*fd);
    return weir_fail(WEIR_ERR_DATA, "%s: the file changed while it was open: open it again",
                     f->path);
  }
  return WEIR_OK;
}

void weir_grib_file_close(weir_grib_file *f)
{
  if (f->bytes) {
    munmap(f->bytes, (size_t)f->size);
  }
  f->bytes = NULL;
  weir_free(&f->path);
}
