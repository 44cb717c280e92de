/* weir_origin.c - see weir_origin.h. */
#include "base/weir_origin.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"

enum { DIGEST = 64 };

weir_status weir_origin_text(weir_origin *o, const char *name, const char *text)
{
  WEIR_ASSERT(o->n < WEIR_ORIGIN_MAX && strlen(name) < WEIR_ORIGIN_NAME);
  WEIR_TRY(weir_strdup(text, &o->line[o->n].text));
  (void)snprintf(o->line[o->n].name, WEIR_ORIGIN_NAME, "%s", name);
  o->n++;
  return WEIR_OK;
}

static weir_status add(weir_origin *o, const char *what, const char *ending, const char *text)
{
  char name[WEIR_ORIGIN_NAME];

  (void)snprintf(name, sizeof name, "%s_%s", what, ending);
  return weir_origin_text(o, name, text);
}

static const char *find(const weir_origin *o, const char *what, const char *ending)
{
  char name[WEIR_ORIGIN_NAME];

  (void)snprintf(name, sizeof name, "%s_%s", what, ending);
  return weir_origin_find(o, name);
}

static weir_status digest_file(const char *path, char hex[DIGEST + 1])
{
  int64_t bytes = 0;

  return weir_file_sha256(path, hex, &bytes)
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA, "%s: cannot be read completely to compute its SHA-256",
                         path);
}

/* Of the digests one after another: that of one file is its own, as sha256sum prints it. */
static weir_status digest_files(const char *const *paths, int64_t n, char hex[DIGEST + 1])
{
  char *all = NULL, one[DIGEST + 1];
  weir_status status = WEIR_OK;

  if (n == 1) {
    return digest_file(paths[0], hex);
  }
  WEIR_TRY(weir_alloc(n, DIGEST, (void **)&all));
  for (int64_t i = 0; i < n && status == WEIR_OK; i++) {
    status = digest_file(paths[i], one);
    if (status == WEIR_OK) {
      memcpy(all + i * DIGEST, one, DIGEST);
    }
  }
  if (status == WEIR_OK) {
    weir_sha256(all, (size_t)n * DIGEST, hex);
  }
  weir_free(&all);
  return status;
}

weir_status weir_origin_file(weir_origin *o, const char *what, const char *path)
{
  char hex[DIGEST + 1], real[PATH_MAX];

  WEIR_TRY(digest_file(path, hex));
  WEIR_TRY(add(o, what, "file", realpath(path, real) != NULL ? real : path));
  return add(o, what, "sha256", hex);
}

weir_status weir_origin_files(weir_origin *o, const char *what, const char *const *paths, int64_t n)
{
  char hex[DIGEST + 1];

  WEIR_TRY(digest_files(paths, n, hex));
  return add(o, what, "sha256", hex);
}

const char *weir_origin_find(const weir_origin *o, const char *name)
{
  for (int i = 0; i < o->n; i++) {
    if (strcmp(o->line[i].name, name) == 0) {
      return o->line[i].text;
    }
  }
  return NULL;
}

void weir_origin_fini(weir_origin *o)
{
  for (int i = 0; i < o->n; i++) {
    weir_free(&o->line[i].text);
  }
  o->n = 0;
}

weir_belongs weir_origin_check_file(const weir_origin *o, const char *what)
{
  const char *const path = find(o, what, "file"), *const was = find(o, what, "sha256");
  char hex[DIGEST + 1];
  int64_t bytes = 0;

  if (path == NULL || was == NULL) {
    return WEIR_BELONGS_UNKNOWN;
  }
  /* A result may name anything: a pipe would be waited for, and a device never ends. */
  if (weir_file_size(path, &bytes) != WEIR_OK || !weir_file_sha256(path, hex, &bytes)) {
    weir_clear_failure();
    return WEIR_BELONGS_UNKNOWN;
  }
  return strcmp(hex, was) == 0 ? WEIR_BELONGS : WEIR_BELONGS_NOT;
}

weir_status weir_origin_check_files(const weir_origin *o, const char *what,
                                    const char *const *paths, int64_t n, weir_belongs *out)
{
  const char *const was = find(o, what, "sha256");
  char hex[DIGEST + 1];

  *out = WEIR_BELONGS_UNKNOWN;
  if (was == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(digest_files(paths, n, hex));
  *out = strcmp(hex, was) == 0 ? WEIR_BELONGS : WEIR_BELONGS_NOT;
  return WEIR_OK;
}
