/* volume_list.c - which files are a set of samples, and what tells one set from another. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "data/digests.h"
#include "data/volume/volume_priv.h"

enum { HEAD = 16, MAX_LIST_BYTES = 1 << 28 };

static bool ends(const char *path, const char *ending, size_t n)
{
  const size_t length = strlen(path);

  return length > n && strncmp(path + length - n, ending, n) == 0;
}

static const cf_volume_format *by_name(const char *path)
{
  for (const cf_volume_format *const *f = cf_volume_format_table; *f; f++) {
    for (const char *at = (*f)->endings; *at;) {
      const size_t n = strcspn(at, "|");

      if (ends(path, at, n)) {
        return *f;
      }
      at += n + (at[n] == '|');
    }
  }
  return NULL;
}

/* The format of a file, by its first bytes, else by its name. */
static const cf_volume_format *format_of(const char *path)
{
  uint8_t head[HEAD];
  FILE *const in = fopen(path, "rb");
  const int64_t n = in ? (int64_t)fread(head, 1, sizeof head, in) : 0;

  if (in) {
    (void)fclose(in);
  }
  for (const cf_volume_format *const *f = cf_volume_format_table; *f; f++) {
    if ((*f)->knows && (*f)->knows(head, n)) {
      return *f;
    }
  }
  return by_name(path);
}

static weir_status add(cf_volumes *v, const char *path, const cf_volume_format *format)
{
  WEIR_TRY(weir_reserve(&v->entries, &v->capacity, v->n + 1, sizeof *v->entries));
  WEIR_TRY(weir_strdup(path, &v->entries[v->n].path));
  v->entries[v->n++].format = format;
  return WEIR_OK;
}

static weir_status add_file(cf_volumes *v, const char *path)
{
  const cf_volume_format *const format = format_of(path);
  char names[512] = "";

  if (format) {
    return add(v, path, format);
  }
  if (!weir_file_exists(path)) {
    return weir_fail(WEIR_ERR_DATA, "%s: no such file", path);
  }
  for (const cf_volume_format *const *f = cf_volume_format_table; *f; f++) {
    const size_t n = strlen(names);

    (void)snprintf(names + n, sizeof names - n, "%s%s (%s)", n > 0 ? ", " : "", (*f)->name,
                   (*f)->endings);
  }
  return weir_fail(WEIR_ERR_DATA, "%s: is of no format that is read; formats and their names: %s",
                   path, names);
}

static int compare(const void *a, const void *b)
{
  return strcmp(((const cf_volume_entry *)a)->path, ((const cf_volume_entry *)b)->path);
}

static weir_status add_folder(cf_volumes *v, const char *path)
{
  const int64_t first = v->n;
  DIR *const folder = opendir(path);
  weir_status status = WEIR_OK;
  char file[CF_MAX_LOCATION];

  if (!folder) {
    return weir_fail(WEIR_ERR_DATA, "%s: the folder cannot be read", path);
  }
  for (const struct dirent *e = readdir(folder); e && status == WEIR_OK; e = readdir(folder)) {
    const cf_volume_format *const format = by_name(e->d_name);

    if (format) {
      status = weir_path_join(path, e->d_name, file, sizeof file);
      status = status == WEIR_OK ? add(v, file, format) : status;
    }
  }
  (void)closedir(folder);
  if (status == WEIR_OK && v->n == first) {
    return weir_fail(WEIR_ERR_DATA, "%s: the folder has no file of samples", path);
  }
  status = status == WEIR_OK ? cf_digests_complete(path) : status;
  if (v->n > first) {
    qsort(v->entries + first, (size_t)(v->n - first), sizeof *v->entries, compare);
  }
  return status;
}

/* A path a line, relative to the folder of the list. */
static weir_status add_list(cf_volumes *v, const char *path)
{
  char *text = NULL, *rest = NULL, file[CF_MAX_LOCATION];
  int64_t size = 0;
  const char *const slash = strrchr(path, '/');
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_file_read(path, MAX_LIST_BYTES, &text, &size));
  for (char *line = strtok_r(text, "\r\n", &rest); line && status == WEIR_OK;
       line = strtok_r(NULL, "\r\n", &rest)) {
    const int folder = slash && line[0] != '/' ? (int)(slash - path) + 1 : 0;

    if (snprintf(file, sizeof file, "%.*s%s", folder, path, line) >= (int)sizeof file) {
      status = weir_fail(WEIR_ERR_DATA, "%s: a line is longer than a path", path);
    } else {
      status = add_file(v, file);
    }
  }
  weir_free(&text);
  return status;
}

weir_status cf_volumes_add(cf_volumes *v, const char *path)
{
  struct stat info;

  if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
    return add_folder(v, path);
  }
  return ends(path, ".lst", 4) ? add_list(v, path) : add_file(v, path);
}

weir_status cf_volumes_list(const char *const *paths, int64_t n,
                            weir_status (*visit)(void *context, const char *path), void *context)
{
  cf_volumes v = {.n = 0};
  weir_status status = WEIR_OK;

  for (int64_t i = 0; i < n && status == WEIR_OK; i++) {
    status = cf_volumes_add(&v, paths[i]);
  }
  for (int64_t i = 0; i < v.n; i++) {
    status = status == WEIR_OK ? visit(context, v.entries[i].path) : status;
    weir_free(&v.entries[i].path);
  }
  weir_free(&v.entries);
  return status;
}

bool cf_path_within(const char *path, const char *folder)
{
  char above[PATH_MAX], file[PATH_MAX];

  if (realpath(folder, above) == NULL || realpath(path, file) == NULL) {
    return false;
  }
  const size_t n = strlen(above);

  return strncmp(file, above, n) == 0 && (file[n] == '/' || n == 1);
}

const char *cf_volumes_within(const cf_volumes *v, const char *folder)
{
  for (int64_t i = 0; i < v->n; i++) {
    if (cf_path_within(v->entries[i].path, folder)) {
      return v->entries[i].path;
    }
  }
  return NULL;
}

/* Extends the digest by what options state in place of the files; nothing where they state nothing.
 */
static void add_stated(const cf_volumes *v, char hex[65])
{
  const cf_parameters_opts *const p = &v->opts.parameters;
  char text[256];

  if (v->info.unit > 0 || v->opts.box > 0) {
    (void)snprintf(text, sizeof text, "%s %.17g %.17g", hex, v->info.unit, v->opts.box);
    weir_sha256(text, strlen(text), hex);
  }
  if (v->table == NULL) {
    return;
  }
  cf_digests_add_input(p->table, hex);
  for (int64_t k = 0; k < v->info.n_labels; k++) {
    (void)snprintf(text, sizeof text, "%s %.*s %.17g %.17g %lld", hex, CF_MAX_NAME,
                   v->info.label[k], v->info.lo[k], v->info.hi[k],
                   (long long)v->opts.samples_per_line);
    weir_sha256(text, strlen(text), hex);
  }
}

void cf_volumes_key(const cf_volumes *v, char hex[65])
{
  char text[256];

  (void)snprintf(text, sizeof text, "%.64s %.64s %lld %d %lld %.64s %.16s %lld", v->opts.volume,
                 v->opts.labels, (long long)v->opts.channels, v->opts.dtype,
                 (long long)v->opts.per_file, v->opts.segmentation, v->opts.axes,
                 (long long)v->opts.classes);
  weir_sha256(text, strlen(text), hex);
  for (int64_t i = 0; i < v->n; i++) {
    cf_digests_add_input(v->entries[i].path, hex);
  }
  add_stated(v, hex);
}

/* Lists the files, and after them the table of their labels. */
static weir_status list_paths(const cf_volumes *v, const char ***out, int64_t *n)
{
  WEIR_TRY(weir_alloc(v->n + 1, sizeof **out, (void **)out));
  for (int64_t i = 0; i < v->n; i++) {
    (*out)[i] = v->entries[i].path;
  }
  *n = v->n + (v->table != NULL);
  (*out)[v->n] = v->opts.parameters.table;
  return WEIR_OK;
}

weir_status cf_volumes_origin(const cf_volumes *v, const char *what, weir_origin *to)
{
  const char **path = NULL;
  int64_t n = 0;

  WEIR_TRY(list_paths(v, &path, &n));
  const weir_status status = weir_origin_files(to, what, path, n);

  weir_free(&path);
  return status;
}

weir_status cf_volumes_belongs(const cf_volumes *v, const char *what, const weir_origin *o,
                               weir_belongs *out)
{
  const char **path = NULL;
  int64_t n = 0;

  WEIR_TRY(list_paths(v, &path, &n));
  const weir_status status = weir_origin_check_files(o, what, path, n, out);

  weir_free(&path);
  return status;
}
