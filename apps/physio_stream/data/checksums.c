/* checksums.c - see checksums.h. */
#include "data/checksums.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "io/weir_record.h"

enum { PATH_SIZE = 4096, HEX = 64, LIST_LIMIT = 256 << 20, LEVELS = 9 };
#define LIST_NAME "SHA256SUMS.txt"

/* One line of a list, without its end: where its path begins; 0 if it is none. */
static int64_t path_in_line(const char *line, int64_t size)
{
  for (int i = 0; i < HEX; i++) {
    if (i >= size || strchr("0123456789abcdefABCDEF", line[i]) == NULL || line[i] == 0) {
      return 0;
    }
  }
  if (size < HEX + 2 || line[HEX] != ' ') {
    return 0;
  }
  if (line[HEX + 1] != ' ' && line[HEX + 1] != '*') {
    return HEX + 1; /* one blank, as in the lists of PhysioNet */
  }
  return size > HEX + 2 ? HEX + 2 : 0;
}

weir_status ps_checksums_find(const char *text, int64_t size, const char *where, const char *name,
                              char hex[65], bool *found)
{
  const size_t length = strlen(name);
  const char *const end = text + size;
  int64_t number = 0;

  *found = false;
  for (const char *line = text, *next; line < end; line = next) {
    const char *const stop = memchr(line, '\n', (size_t)(end - line));
    int64_t n = (stop != NULL ? stop : end) - line;

    next = stop != NULL ? stop + 1 : end;
    n -= n > 0 && line[n - 1] == '\r';
    number++;
    if (n == 0) {
      continue;
    }
    int64_t at = path_in_line(line, n);

    if (at == 0 || memchr(line, 0, (size_t)n) != NULL) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s:%lld: expected a SHA-256 of 64 hexadecimal digits and a path: fetch the "
                       "list again",
                       where, (long long)number);
    }
    at += n - at > 2 && memcmp(line + at, "./", 2) == 0 ? 2 : 0;
    if (n - at != (int64_t)length || memcmp(line + at, name, length) != 0) {
      continue;
    }
    if (*found && strncasecmp(hex, line, HEX) != 0) {
      return weir_fail(WEIR_ERR_DATA, "%s:%lld: a second digest of %s", where, (long long)number,
                       name);
    }
    memcpy(hex, line, HEX);
    hex[HEX] = 0;
    *found = true;
  }
  return WEIR_OK;
}

/* A list and what it is relative to. */
typedef struct list {
  char folder[PATH_SIZE], path[PATH_SIZE + 32];
  char *text;
  int64_t size;
} list;

/* The nearest list in the folder of `file`, an absolute path, or above; size 0 without one. */
static weir_status find_list(const char *file, list *l)
{
  (void)snprintf(l->folder, sizeof l->folder, "%s", file);
  for (int level = 0; level < LEVELS; level++) {
    char *const slash = strrchr(l->folder, '/');

    if (slash == NULL) {
      break;
    }
    *slash = 0;
    (void)snprintf(l->path, sizeof l->path, "%s/" LIST_NAME, l->folder);
    if (weir_file_exists(l->path)) {
      return weir_file_read(l->path, LIST_LIMIT, &l->text, &l->size);
    }
  }
  return WEIR_OK;
}

static weir_status compare(int mode, const list *l, const char *file, const char *full,
                           int64_t *verified)
{
  char stated[HEX + 1], own[HEX + 1];
  const char *const name = full + strlen(l->folder) + 1;
  int64_t bytes = 0;
  bool found = false;

  WEIR_TRY(ps_checksums_find(l->text, l->size, l->path, name, stated, &found));
  if (!found) {
    return mode == PS_CHECKSUMS_REQUIRED
               ? weir_fail(WEIR_ERR_DATA, "%s: not listed in %s (input.checksums)", file, l->path)
               : WEIR_OK;
  }
  if (!weir_file_sha256(file, own, &bytes)) {
    return weir_fail(WEIR_ERR_DATA, "%s: cannot be read to the end", file);
  }
  if (strcasecmp(own, stated) != 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: its SHA-256 is %s, and %s states %s: the file is damaged or of another "
                     "version: fetch it again",
                     file, own, l->path, stated);
  }
  ++*verified;
  return WEIR_OK;
}

static weir_status compare_files(int mode, const weir_record_paths *files, list *l,
                                 int64_t *verified)
{
  for (int64_t i = 0; i < files->count; i++) {
    char *const full = realpath(files->items[i], NULL);

    if (full == NULL || strlen(full) >= PATH_SIZE) {
      free(full);
      return weir_fail(WEIR_ERR_DATA, "%s: cannot be found", files->items[i]);
    }
    weir_status status = i == 0 ? find_list(full, l) : WEIR_OK;
    const size_t n = strlen(l->folder);

    if (status == WEIR_OK && l->text == NULL) {
      free(full);
      return mode == PS_CHECKSUMS_REQUIRED
                 ? weir_fail(WEIR_ERR_DATA,
                             "%s: there is no " LIST_NAME " in its folder or above, and checksums "
                             "are required (input.checksums)",
                             files->items[i])
                 : WEIR_OK;
    }
    if (status == WEIR_OK && (strncmp(full, l->folder, n) != 0 || full[n] != '/')) {
      status =
          weir_fail(WEIR_ERR_DATA, "%s: leads out of the folder of %s", files->items[i], l->path);
    }
    status = status == WEIR_OK ? compare(mode, l, files->items[i], full, verified) : status;
    free(full);
    WEIR_TRY(status);
  }
  return WEIR_OK;
}

/* The 16-bit checksums of a WFDB header, of signals that have one. */
static weir_status compare_header(const char *path)
{
  const weir_record_opts opts = {.zero_gain = 1};
  weir_record *r = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_record_open(path, &opts, &r));
  for (int i = 0; status == WEIR_OK && i < weir_record_signals(r); i++) {
    const weir_signal_info *const s = weir_record_signal(r, i);
    int sum = 0;

    if (!s->has_checksum || weir_record_checksum(r, i, &sum) == WEIR_ERR_UNSUPPORTED) {
      weir_clear_failure();
      continue;
    }
    if (((sum ^ s->checksum) & 0xFFFF) != 0) {
      status = weir_fail(WEIR_ERR_DATA,
                         "record %s: signal %s: the sum of its samples is %d, and the header "
                         "states %d: fetch its files again (input.checksums)",
                         weir_record_name(r), s->name, sum & 0xFFFF, s->checksum & 0xFFFF);
    }
  }
  weir_record_close(&r);
  return status;
}

static weir_status verify(int mode, const char *path, const weir_record_paths *files)
{
  list *l = NULL;
  int64_t verified = 0;

  WEIR_TRY(weir_alloc(1, sizeof *l, (void **)&l));
  const weir_status status = compare_files(mode, files, l, &verified);

  if (status == WEIR_OK && verified > 0) {
    weir_info("input", "%s: %lld files have the digests of %s", path, (long long)verified, l->path);
  }
  weir_free(&l->text);
  weir_free(&l);
  return status;
}

weir_status ps_checksums_verify_file(int mode, const char *path)
{
  char *item = (char *)path;
  const weir_record_paths one = {.items = &item, .count = 1};

  return mode == PS_CHECKSUMS_IGNORED ? WEIR_OK : verify(mode, path, &one);
}

weir_status ps_checksums_verify(int mode, const char *path)
{
  weir_record_paths files = {0};
  weir_status status = WEIR_OK;

  if (mode == PS_CHECKSUMS_IGNORED) {
    return WEIR_OK;
  }
  WEIR_TRY_GOTO(weir_record_files(path, &files), done);
  WEIR_TRY_GOTO(verify(mode, path, &files), done);
  status = mode == PS_CHECKSUMS_REQUIRED ? compare_header(path) : WEIR_OK;
done:
  weir_record_paths_fini(&files);
  return status;
}
