/* dataset.c - a folder of records and its digest. */
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "io/weir_record.h"
#include "site/site.h"

enum { RECORDS_LIMIT = 16 << 20, DIGEST = 64 };

static bool is_name(const char *text, size_t size)
{
  return size < PS_SITE_NAME && weir_record_is_name(text, size) && memchr(text, '.', size) == NULL;
}

static weir_status add_lines(const char *path, const char *text, ps_dataset *d)
{
  for (int64_t line = 1; *text != 0; line++) {
    const size_t size = strcspn(text, "\r\n");

    if (size > 0) {
      if (!is_name(text, size)) {
        return weir_fail(WEIR_ERR_DATA,
                         "%s:%lld: a record name has letters, digits, '_' and '-', at most %d",
                         path, (long long)line, PS_SITE_NAME - 1);
      }
      WEIR_TRY(weir_reserve(&d->names, &d->capacity, d->n + 1, sizeof *d->names));
      memcpy(d->names[d->n], text, size);
      d->names[d->n++][size] = 0;
    }
    text += size;
    text += text[0] == '\r';
    text += text[0] == '\n';
  }
  return WEIR_OK;
}

weir_status ps_dataset_open(const char *folder, ps_dataset *out)
{
  ps_dataset d = {.folder = folder};
  char path[PS_SITE_PATH], *text = NULL;
  int64_t size = 0;

  if (folder[0] == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "site.dataset names no folder: give one that `site prepare` made");
  }
  WEIR_TRY(weir_path_join(folder, "RECORDS", path, sizeof path));
  if (!weir_file_exists(path)) {
    return weir_fail(
        WEIR_ERR_DATA,
        "site.dataset: there is no file %s: give a folder that `site prepare` made; it "
        "takes your records by site.records",
        path);
  }
  WEIR_TRY(weir_file_read(path, RECORDS_LIMIT, &text, &size));
  weir_status status = add_lines(path, text, &d);

  weir_free(&text);
  if (status == WEIR_OK && d.n == 0) {
    status = weir_fail(WEIR_ERR_DATA, "%s: names no record", path);
  }
  if (status != WEIR_OK) {
    ps_dataset_fini(&d);
    return status;
  }
  *out = d;
  return WEIR_OK;
}

void ps_dataset_fini(ps_dataset *d)
{
  weir_free(&d->names);
  *d = (ps_dataset){0};
}

weir_status ps_dataset_path(const ps_dataset *d, int64_t i, const char *suffix,
                            char path[PS_SITE_PATH])
{
  char name[PS_SITE_NAME + 32];

  (void)snprintf(name, sizeof name, "%s%s", d->names[i], suffix);
  return weir_path_join(d->folder, name, path, PS_SITE_PATH);
}

static int compare(const void *a, const void *b)
{
  return memcmp(a, b, DIGEST);
}

weir_status ps_dataset_digest(const ps_dataset *d, const char *annotator, char hex[65])
{
  const char *suffixes[] = {".hea", ".dat", NULL};
  char(*all)[DIGEST] = NULL, one[65], path[PS_SITE_PATH], last[PS_SITE_NAME];
  int64_t n = 0, bytes;
  weir_status status = WEIR_OK;

  (void)snprintf(last, sizeof last, ".%s", annotator);
  suffixes[2] = last;
  WEIR_TRY(weir_alloc(3 * d->n, DIGEST, (void **)&all));
  for (int64_t i = 0; i < d->n; i++) {
    for (int k = 0; k < 3; k++) {
      WEIR_TRY_GOTO(ps_dataset_path(d, i, suffixes[k], path), done);
      if (!weir_file_sha256(path, one, &bytes)) {
        status = weir_fail(WEIR_ERR_DATA, "%s: cannot read: %m", path);
        goto done;
      }
      memcpy(all[n++], one, DIGEST);
    }
  }
  qsort(all, (size_t)n, DIGEST, compare);
  weir_sha256(all, (size_t)n * DIGEST, hex);
done:
  weir_free(&all);
  return status;
}
