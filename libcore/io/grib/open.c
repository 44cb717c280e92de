/* open.c - a set of files: what is asked of its index. */
#include <stdio.h>
#include "base/weir_alloc.h"
#include "io/grib/grib_priv.h"

int64_t weir_grib_fields(const weir_grib *g)
{
  return g->n_fields;
}

int64_t weir_grib_grids(const weir_grib *g)
{
  return g->n_grids;
}

const weir_grib_field *weir_grib_field_get(const weir_grib *g, int64_t i)
{
  return &g->fields[i];
}

const weir_grib_kind *weir_grib_kind_get(const weir_grib *g, int64_t i)
{
  return &g->kinds[i];
}

const weir_grib_grid *weir_grib_grid_get(const weir_grib *g, int64_t i)
{
  return &g->grids[i];
}

int64_t weir_grib_damaged(const weir_grib *g)
{
  return g->damaged;
}

void weir_grib_locate(const weir_grib *g, int64_t i, char *text, size_t size)
{
  const weir_grib_field *const f = &g->fields[i];

  snprintf(text, size, "%s: message %lld (byte %lld)", g->files[f->file].path,
           (long long)f->message, (long long)f->offset);
}

void weir_grib_close(weir_grib **set)
{
  weir_grib *const g = set ? *set : NULL;

  if (!g) {
    return;
  }
  weir_grib_forget(g);
  for (int64_t i = 0; i < g->n_files; i++) {
    weir_grib_file_close(&g->files[i]);
  }
  weir_free(&g->files);
  weir_free(&g->kinds);
  weir_free(&g->grids);
  weir_free(&g->fields);
  weir_free(&g->values);
  weir_free(&g->message);
  weir_free(&g->copy);
  weir_free(set);
}
