/* digests.c - see digests.h. */
#include "data/digests.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"

enum { DIGITS = 64, PATH = 4352, MAX_LIST_BYTES = 1 << 30 /* bytes of a list */ };

typedef struct entry {
  const char *name;
  int64_t line;
  char hex[DIGITS + 1];
} entry;

struct cf_digests {
  const char *folder;
  char path[PATH], made_of[128];
  char *text;     /* the list as it was */
  entry *entries; /* [n] of capacity, by name and line */
  int64_t n, capacity;
  bool torn; /* the list does not end with a whole line */
};

static int by_name(const void *a, const void *b)
{
  const entry *const x = a, *const y = b;
  const int order = strcmp(x->name, y->name);

  return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

/* Of several lines of a file the last counts. */
static const entry *find(const cf_digests *d, const char *name)
{
  int64_t lo = 0, hi = d->n;

  while (lo < hi) { /* the first after that name */
    const int64_t middle = lo + (hi - lo) / 2;

    if (strcmp(d->entries[middle].name, name) <= 0) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  return lo > 0 && strcmp(d->entries[lo - 1].name, name) == 0 ? &d->entries[lo - 1] : NULL;
}

static weir_status put(cf_digests *d, const char *name, const char *hex)
{
  WEIR_TRY(weir_reserve(&d->entries, &d->capacity, d->n + 1, sizeof *d->entries));
  entry *const e = &d->entries[d->n];

  *e = (entry){.name = name, .line = d->n++};
  memcpy(e->hex, hex, DIGITS);
  return WEIR_OK;
}

/* Lines of 64 digits, two spaces and a name; what a run that was killed did not end is passed over.
 */
static weir_status take_lines(cf_digests *d, const char *made_of, const char *what)
{
  char *at = d->text;

  if (made_of != NULL &&
      (strncmp(at, "# ", 2) != 0 || strncmp(at + 2, made_of, strlen(made_of)) != 0 ||
       at[2 + strlen(made_of)] != '\n')) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: the folder was begun with another %s than this: choose another --out, or "
                     "give --overwrite to replace what is there",
                     d->folder, what);
  }
  for (at = made_of != NULL ? strchr(at, '\n') + 1 : at; *at;) {
    char *const end = strchr(at, '\n');

    d->torn = end == NULL;
    if (d->torn) {
      break;
    }
    *end = 0;
    if (end - at > DIGITS + 2 && strspn(at, "0123456789abcdef") == DIGITS) {
      WEIR_TRY(put(d, at + DIGITS + 2, at));
    }
    at = end + 1;
  }
  if (d->n > 0) {
    qsort(d->entries, (size_t)d->n, sizeof *d->entries, by_name);
  }
  return WEIR_OK;
}

static weir_status begin(const cf_digests *d)
{
  weir_writer *w = NULL;

  WEIR_TRY(weir_writer_open(d->path, &w));
  weir_status status = weir_writer_write(w, "# ", 2);

  status = status == WEIR_OK ? weir_writer_write(w, d->made_of, strlen(d->made_of)) : status;
  status = status == WEIR_OK ? weir_writer_write(w, "\n", 1) : status;
  if (status != WEIR_OK) {
    weir_writer_destroy(&w);
    return status;
  }
  return weir_writer_commit(&w);
}

weir_status cf_digests_open(const char *folder, const char *made_of, const char *what,
                            cf_digests **out)
{
  cf_digests *d = NULL;
  int64_t size = 0;
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *d, (void **)&d));
  d->folder = folder;
  WEIR_TRY_GOTO(weir_path_join(folder, CF_DIGESTS_FILE, d->path, sizeof d->path), done);
  (void)snprintf(d->made_of, sizeof d->made_of, "%s", made_of != NULL ? made_of : "");
  if (weir_file_exists(d->path)) {
    WEIR_TRY_GOTO(weir_file_read(d->path, MAX_LIST_BYTES, &d->text, &size), done);
    WEIR_TRY_GOTO(take_lines(d, made_of, what), done);
  }
  *out = d;
  d = NULL;
done:
  cf_digests_close(&d);
  return status;
}

void cf_digests_close(cf_digests **d)
{
  if (*d) {
    weir_free(&(*d)->text);
    weir_free(&(*d)->entries);
  }
  weir_free(d);
}

cf_digested cf_digests_check(cf_digests *d, const char *name)
{
  const entry *const e = find(d, name);
  char path[PATH], hex[DIGITS + 1];
  int64_t bytes = 0;

  if (e == NULL) {
    return CF_DIGEST_NONE;
  }
  if (weir_path_join(d->folder, name, path, sizeof path) != WEIR_OK || !weir_file_exists(path)) {
    return CF_DIGEST_MISSING;
  }
  return weir_file_sha256(path, hex, &bytes) && strcmp(hex, e->hex) == 0 ? CF_DIGEST_WHOLE
                                                                         : CF_DIGEST_DAMAGED;
}

weir_status cf_digests_complete(const char *folder)
{
  cf_digests *d = NULL;
  char path[PATH];
  weir_status status = WEIR_OK;

  WEIR_TRY(cf_digests_open(folder, NULL, "", &d));
  for (int64_t i = 0; i < d->n; i++) {
    WEIR_TRY_GOTO(weir_path_join(folder, d->entries[i].name, path, sizeof path), done);
    if (!weir_file_exists(path)) {
      status = weir_fail(WEIR_ERR_DATA,
                         "%s: is not there, and " CF_DIGESTS_FILE
                         " lists it: the same command that wrote the folder makes it whole; where "
                         "less is meant, remove its line, or name the files that are",
                         path);
      goto done;
    }
  }
done:
  cf_digests_close(&d);
  return status;
}

weir_status cf_digests_add(cf_digests *d, const char *name)
{
  char path[PATH], hex[DIGITS + 1];
  int64_t bytes = 0;

  WEIR_TRY(weir_path_join(d->folder, name, path, sizeof path));
  if (!weir_file_sha256(path, hex, &bytes)) {
    return weir_fail(WEIR_ERR_DATA, "%s: cannot be read after it was written", path);
  }
  if (!weir_file_exists(d->path)) {
    WEIR_TRY(begin(d));
  }
  FILE *const out = fopen(d->path, "ab");

  if (out == NULL) {
    return weir_write_failed(d->path, errno, WEIR_ERR_DATA);
  }
  const bool written =
      fprintf(out, "%s%s  %s\n", d->torn ? "\n" : "", hex, name) > 0 && fflush(out) == 0;
  const int reason = errno;

  if (fclose(out) != 0 || !written) {
    return weir_write_failed(d->path, written ? errno : reason, WEIR_ERR_DATA);
  }
  d->torn = false;
  return WEIR_OK;
}

void cf_digests_add_input(const char *path, char hex[65])
{
  char text[PATH_MAX + 256], absolute[PATH_MAX];
  struct stat info = {.st_size = -1};
  const char *const name = realpath(path, absolute) != NULL ? absolute : path;

  (void)stat(name, &info);
  (void)snprintf(text, sizeof text, "%s %lld %lld.%09ld %s", hex, (long long)info.st_size,
                 (long long)info.st_mtim.tv_sec, (long)info.st_mtim.tv_nsec, name);
  weir_sha256(text, strlen(text), hex);
}
