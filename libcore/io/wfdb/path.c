/* path.c - what the name of a WFDB record stands for, and what its header alone says. */
#include <string.h>
#include "base/weir_file.h"
#include "io/wfdb/wfdb_priv.h"

enum { PATH_SIZE = 4096 };

static bool ends_with(const char *text, const char *suffix)
{
  const size_t n = strlen(text);
  const size_t m = strlen(suffix);

  return n > m && strcmp(text + n - m, suffix) == 0;
}

bool weir_wfdb_claims(const char *path)
{
  char header[PATH_SIZE];

  if (ends_with(path, ".hea")) {
    return true;
  }
  if (strlen(path) + 5 > sizeof header) {
    return false;
  }
  strcpy(header, path);
  strcat(header, ".hea");
  return weir_file_exists(header);
}

weir_status weir_wfdb_split_path(const char *path, char *dir, char *header, size_t size)
{
  const char *const slash = strrchr(path, '/');
  const size_t length = slash ? (size_t)(slash - path) : 0;

  if (strlen(path) + 5 > size) {
    return weir_fail(WEIR_ERR_DATA, "%.64s...: the path is too long", path);
  }
  memcpy(dir, path, length + (slash == path));
  dir[length + (slash == path)] = 0;
  strcpy(header, path);
  if (!ends_with(path, ".hea")) {
    strcat(header, ".hea");
  }
  return WEIR_OK;
}

weir_status weir_wfdb_clock(const char *path, weir_record_clock *out)
{
  char dir[PATH_SIZE];
  char header[PATH_SIZE];
  weir_wfdb_header h;

  WEIR_TRY(weir_wfdb_split_path(path, dir, header, sizeof header));
  WEIR_TRY(weir_wfdb_header_read(header, true, &h));
  *out = (weir_record_clock){.fs_num = h.fs_num, .fs_den = h.fs_den, .frames = h.frames};
  weir_wfdb_header_fini(&h);
  return WEIR_OK;
}
