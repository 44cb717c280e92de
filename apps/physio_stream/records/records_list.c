/* records_list.c - see records_list.h. */
#include "records/records_list.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "commands.h"
#include "data/checksums.h"

enum { LIST_LIMIT = 16 << 20 };

/* What follows the last '/', without ".hea". */
static weir_status name_of(const char *path, char **name)
{
  const char *slash = strrchr(path, '/');

  WEIR_TRY(weir_strdup(slash == NULL ? path : slash + 1, name));
  char *suffix = strstr(*name, ".hea");

  if (suffix != NULL && suffix[4] == 0) {
    *suffix = 0;
  }
  return WEIR_OK;
}

static weir_status add_record(ps_records *list, const char *key, const char *path)
{
  WEIR_TRY(weir_reserve(&list->items, &list->capacity, list->count + 1, sizeof *list->items));
  ps_record *r = &list->items[list->count++];

  WEIR_TRY(weir_strdup(path, &r->path));
  WEIR_TRY(name_of(path, &r->name));
  if (r->name[0] == 0 || r->name[0] == '.') {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "%s: '%s' ends in '%s', which cannot be the name of its results: give the path of "
        "a recording",
        key, path, r->name);
  }
  for (int64_t i = 0; i < list->count - 1; i++) {
    if (strcmp(list->items[i].name, r->name) == 0) {
      return weir_fail(WEIR_ERR_CONFIG, "%s: %s and %s would share the folder %s: run them apart",
                       key, list->items[i].path, path, r->name);
    }
  }
  return WEIR_OK;
}

/* A file RECORDS, as PhysioNet has it: a line a record, relative to its folder. */
static weir_status add_line(ps_records *list, const char *key, const char *file, char *line,
                            int number)
{
  char path[PS_PATH];
  const char *slash = strrchr(file, '/');

  line += strspn(line, " \t");
  line[strcspn(line, " \t\r")] = 0;
  if (line[0] == 0 || line[0] == '#') {
    return WEIR_OK;
  }
  if (line[0] == '/' || strstr(line, "..") != NULL) {
    return weir_fail(WEIR_ERR_DATA, "%s:%d: '%s' leads out of the folder of the list", file, number,
                     line);
  }
  const int n = snprintf(path, sizeof path, "%.*s%s", slash == NULL ? 0 : (int)(slash - file) + 1,
                         file, line);
  if (n < 0 || n >= (int)sizeof path) {
    return weir_fail(WEIR_ERR_DATA, "%s:%d: the path is too long", file, number);
  }
  return add_record(list, key, path);
}

static weir_status add_list(ps_records *list, const char *key, const char *file)
{
  char *text = NULL;
  int64_t size = 0;
  weir_status status = WEIR_OK;
  int number = 0;

  WEIR_TRY(weir_file_read(file, LIST_LIMIT, &text, &size));
  for (char *line = text + weir_text_mark(text, size), *next; line != NULL; line = next) {
    next = strchr(line, '\n');
    if (next != NULL) {
      *next++ = 0;
    }
    WEIR_TRY_GOTO(add_line(list, key, file, line, ++number), done);
  }
done:
  weir_free(&text);
  return status;
}

/* A text whose first line is the name of a recording next to it; that of a header says more. */
static bool is_list(const char *path)
{
  const char *slash = strrchr(path, '/');
  char line[PS_PATH] = "", record[PS_PATH + 8];
  FILE *file = fopen(path, "r");
  bool found = false;

  if (file == NULL) {
    return false;
  }
  if (fgets(line, sizeof line, file) != NULL) {
    line[strcspn(line, "\r\n")] = 0;
    const int n = snprintf(record, sizeof record, "%.*s%s.hea",
                           slash == NULL ? 0 : (int)(slash - path) + 1, path, line);

    if (line[0] != 0 && line[0] != '.' && n > 0 && n < (int)sizeof record) {
      found = weir_file_exists(record);
      record[n - 4] = 0;
      found = found || weir_file_exists(record);
    }
  }
  (void)fclose(file);
  return found;
}

static weir_status add_path(ps_records *list, const char *key, const char *path)
{
  const char *slash = strrchr(path, '/');
  char header[PS_PATH + 8];

  if (strcmp(slash == NULL ? path : slash + 1, "RECORDS") == 0) {
    return add_list(list, key, path);
  }
  (void)snprintf(header, sizeof header, "%s.hea", path);
  if (!weir_file_exists(header) && is_list(path)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: %s lists recordings, but a list is read only from a file that is named "
                     "RECORDS: rename it",
                     key, path);
  }
  return add_record(list, key, path);
}

int ps_record_stem(const char *path)
{
  static const char *const suffixes[] = {".hea", ".nc",    ".edf", ".bdf", ".xml",
                                         ".dcm", ".dicom", ".csv", ".txt"};
  const size_t n = strlen(path);

  for (size_t k = 0; k < sizeof suffixes / sizeof suffixes[0]; k++) {
    const size_t m = strlen(suffixes[k]);

    if (n > m && strcasecmp(path + n - m, suffixes[k]) == 0) {
      return (int)(n - m);
    }
  }
  return (int)n;
}

weir_status ps_records_list(const char *key, const weir_string_list *from, const char *root,
                            ps_records *list)
{
  char path[PS_PATH];

  for (int64_t i = 0; i < from->count; i++) {
    WEIR_TRY(ps_physionet_path(root, from->items[i], path, sizeof path));
    WEIR_TRY(add_path(list, key, path));
  }
  if (list->count == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "%s names no recording", key);
  }
  return WEIR_OK;
}

static void record_fini(ps_record *r)
{
  weir_free(&r->path);
  weir_free(&r->name);
  weir_free(&r->rows);
}

static bool is_there(const char *path)
{
  char header[PS_PATH + 8];

  (void)snprintf(header, sizeof header, "%s.hea", path);
  return weir_file_exists(path) || weir_file_exists(header);
}

weir_status ps_records_leave_out_missing(const char *key, const ps_input_opts *in, ps_records *list)
{
  const int64_t all = list->count;
  char names[1024] = "";

  if (in->missing != PS_MISSING_LEFT_OUT) {
    return WEIR_OK;
  }
  list->count = 0;
  for (int64_t i = 0; i < all; i++) {
    ps_record *const r = &list->items[i];
    const size_t used = strlen(names);

    if (is_there(r->path)) {
      list->items[list->count++] = *r;
    } else {
      (void)snprintf(names + used, sizeof names - used, " %s", r->name);
      record_fini(r);
    }
  }
  if (list->count == 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: there is no file of any of its %lld recordings: fetch the database, or "
                     "give the folder in which it is",
                     key, (long long)all);
  }
  if (names[0] != 0) {
    weir_warn("records", "%s: %lld of %lld recordings are used; missing:%s", key,
              (long long)list->count, (long long)all, names);
  }
  return WEIR_OK;
}

void ps_records_fini(ps_records *list)
{
  for (int64_t i = 0; i < list->count; i++) {
    record_fini(&list->items[i]);
  }
  weir_free(&list->items);
  *list = (ps_records){0};
}
