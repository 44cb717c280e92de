/* path.c - what the name of a WFDB record stands for, and what its header alone says. */
#include <stdio.h>
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

/* dir/name, where that is a file. */
static weir_status add_file(const char *dir, const char *name, const char *suffix,
                            weir_record_paths *out)
{
  char path[PATH_SIZE];
  const int n = snprintf(path, sizeof path, "%s%s%s%s", dir, dir[0] && strcmp(dir, "/") ? "/" : "",
                         name, suffix);

  if (n < 0 || n >= (int)sizeof path) {
    return weir_fail(WEIR_ERR_DATA, "%.64s...: the path is too long", path);
  }
  return weir_file_exists(path) ? weir_record_paths_add(out, path) : WEIR_OK;
}

/* The signal files of a header; neighbours share one. */
static weir_status add_signals(const char *dir, const weir_wfdb_header *h, weir_record_paths *out)
{
  const char *last = "";

  for (int64_t i = 0; i < h->n_listed; i++) {
    const char *const file = h->signals[i].file;

    if (file && strcmp(file, last) != 0) {
      last = file;
      WEIR_TRY(add_file(dir, file, "", out));
    }
  }
  return WEIR_OK;
}

static weir_status add_segment(const char *dir, const char *name, weir_record_paths *out)
{
  const int64_t before = out->count;
  weir_wfdb_header h = {0};

  WEIR_TRY(add_file(dir, name, ".hea", out));
  if (out->count == before) {
    return WEIR_OK; /* a gap */
  }
  WEIR_TRY(weir_wfdb_header_read(out->items[before], true, &h));
  const weir_status status = add_signals(dir, &h, out);

  weir_wfdb_header_fini(&h);
  return status;
}

weir_status weir_wfdb_files(const char *path, weir_record_paths *out)
{
  char dir[PATH_SIZE];
  char header[PATH_SIZE];
  weir_wfdb_header h;

  WEIR_TRY(weir_wfdb_split_path(path, dir, header, sizeof header));
  WEIR_TRY(weir_wfdb_header_read(header, true, &h));
  weir_status status = weir_record_paths_add(out, header);

  for (int64_t i = 0; status == WEIR_OK && i < h.n_segments; i++) {
    status = h.segments[i].name ? add_segment(dir, h.segments[i].name, out) : WEIR_OK;
  }
  status = status == WEIR_OK ? add_signals(dir, &h, out) : status;
  weir_wfdb_header_fini(&h);
  return status;
}
