/* volume_write.c - samples to files, by the formats' own functions. */
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/volume/volume.h"
#include "data/volume/volume_format.h"

struct cf_volume_writer {
  const cf_volume_format *format;
  cf_volume_out out;
  char *path;
};

/* Of the formats that are written. */
static const cf_volume_format *find(const char *name)
{
  for (const cf_volume_format *const *f = cf_volume_format_table; *f; f++) {
    if (strcmp((*f)->name, name) == 0 && (*f)->create != NULL) {
      return *f;
    }
  }
  return NULL;
}

static weir_status no_format(const char *name)
{
  char names[256] = "";

  for (const cf_volume_format *const *f = cf_volume_format_table; *f; f++) {
    const size_t n = strlen(names);

    if ((*f)->create != NULL) {
      (void)snprintf(names + n, sizeof names - n, "%s%s", n > 0 ? ", " : "", (*f)->name);
    }
  }
  return weir_fail(WEIR_ERR_CONFIG, "there is no format '%s' of samples to write; there are %s",
                   name, names);
}

weir_status cf_volume_format_check(const char *format)
{
  return find(format) != NULL ? WEIR_OK : no_format(format);
}

void cf_volume_endings(const char *format, char *text, size_t size)
{
  const cf_volume_format *const f = find(format);

  (void)snprintf(text, size, "%s%s%s", f ? f->suffix : "", f && f->companions ? "|" : "",
                 f && f->companions ? f->companions : "");
}

weir_status cf_volume_create(const char *format, const char *path, const cf_volume_info *info,
                             int64_t count, int level, cf_volume_writer **out)
{
  const cf_volume_format *const f = find(format);
  cf_volume_writer *w = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_ASSERT(info->dtype == WEIR_I16 || info->dtype == WEIR_F32);
  WEIR_TRY(cf_volume_format_check(format));
  if (f->single && count != 1) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: a file of format %s has one sample; give convert.per_file=1, not %lld",
                     path, format, (long long)count);
  }
  if (info->n_classes > 0 && !f->holds_classes) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "the samples have classes of voxels, which format %s does not support: "
                     "convert.format=netcdf",
                     format);
  }
  WEIR_TRY(weir_alloc(1, sizeof *w, (void **)&w));
  w->format = f;
  w->out = (cf_volume_out){.info = *info, .count = count, .level = level};
  const size_t size = strlen(path) + strlen(f->suffix) + 1;

  WEIR_TRY_GOTO(weir_alloc((int64_t)size, 1, (void **)&w->path), done);
  (void)snprintf(w->path, size, "%s%s", path, f->suffix);
  w->out.path = w->path;
  WEIR_TRY_GOTO(f->create(&w->out), done);
  *out = w;
  return WEIR_OK;
done:
  weir_free(&w->path);
  weir_free(&w);
  return status;
}

weir_status cf_volume_append(cf_volume_writer *w, const void *voxels, const cf_volume_about *about)
{
  WEIR_ASSERT(w->out.done < w->out.count);
  WEIR_TRY(w->format->append(&w->out, voxels, about));
  w->out.done++;
  return WEIR_OK;
}

weir_status cf_volume_commit(cf_volume_writer **w)
{
  WEIR_ASSERT((*w)->out.done == (*w)->out.count);
  const weir_status status = (*w)->format->commit(&(*w)->out);

  cf_volume_destroy(w);
  return status;
}

void cf_volume_destroy(cf_volume_writer **w)
{
  if (*w) {
    (*w)->format->destroy(&(*w)->out);
    weir_free(&(*w)->path);
  }
  weir_free(w);
}
