/* class_maps_read.c - classes.nc read again, and judged. */
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_sort.h"
#include "data/predicted.h"
#include "data/volume/class_maps.h"

bool cf_class_maps_are(const char *path)
{
  char name[260] = "";
  weir_netcdf *nc = NULL;
  bool are = false;
  int n = 0;

  weir_status status = weir_netcdf_open(path, &nc);

  status = status == WEIR_OK ? weir_netcdf_count(nc, &n) : status;
  for (int i = 0; i < n && status == WEIR_OK && !are; i++) {
    status = weir_netcdf_name(nc, i, name, sizeof name);
    are = status == WEIR_OK && strcmp(name, "classes") == 0;
  }
  weir_netcdf_close(&nc);
  if (status != WEIR_OK) {
    weir_clear_failure(); /* the reader reports the error */
  }
  return are;
}

/* [n] numbers of the rows. */
static weir_status take_rows(cf_read_maps *m, const char *name, weir_dtype dtype, void *rows)
{
  weir_netcdf_shape s;
  int var = 0;

  WEIR_TRY(cf_predicted_find(m->nc, m->path, name, dtype, false, 1, &m->n, &var, &s));
  return dtype == WEIR_I64 ? weir_netcdf_read_whole(m->nc, var, &s, (int64_t[]){0}, &m->n, rows)
                           : weir_netcdf_read(m->nc, var, (int64_t[]){0}, &m->n, rows);
}

static weir_status judge_rows(const cf_read_maps *m)
{
  int64_t *sorted = NULL;
  weir_status status = WEIR_OK;

  for (int64_t i = 0; i < m->n; i++) {
    if (m->sample[i] < 0 || m->universe[i] < 0 || m->subset[i] >= CF_SUBSETS) {
      return weir_fail(WEIR_ERR_DATA, "%s: row %lld is of sample %lld, universe %lld, subset %d",
                       m->path, (long long)i + 1, (long long)m->sample[i],
                       (long long)m->universe[i], m->subset[i]);
    }
  }
  WEIR_TRY(weir_alloc(m->n, sizeof *sorted, (void **)&sorted));
  memcpy(sorted, m->sample, (size_t)m->n * sizeof *sorted);
  qsort(sorted, (size_t)m->n, sizeof *sorted, weir_compare_i64);
  for (int64_t i = 1; i < m->n && status == WEIR_OK; i++) {
    if (sorted[i] == sorted[i - 1]) {
      status =
          weir_fail(WEIR_ERR_DATA, "%s: sample %lld comes twice", m->path, (long long)sorted[i]);
    }
  }
  weir_free(&sorted);
  return status;
}

static weir_status take_all(cf_read_maps *m)
{
  static const int64_t any[] = {-1, -1, -1, -1};
  weir_netcdf_shape s;

  WEIR_TRY(weir_netcdf_open(m->path, &m->nc));
  WEIR_TRY(cf_predicted_find(m->nc, m->path, "classes", WEIR_U8, false, 4, any, &m->classes, &s));
  m->n = s.lengths[0];
  memcpy(m->lengths, s.lengths + 1, sizeof m->lengths);
  WEIR_TRY(weir_alloc(m->n, sizeof *m->sample, (void **)&m->sample));
  WEIR_TRY(weir_alloc(m->n, sizeof *m->universe, (void **)&m->universe));
  WEIR_TRY(weir_alloc(m->n, sizeof *m->subset, (void **)&m->subset));
  WEIR_TRY(take_rows(m, "sample_number", WEIR_I64, m->sample));
  WEIR_TRY(take_rows(m, "universe", WEIR_I64, m->universe));
  WEIR_TRY(take_rows(m, "part", WEIR_U8, m->subset));
  WEIR_TRY(cf_predicted_text(m->nc, "source", m->source, sizeof m->source));
  WEIR_TRY(cf_origin_take(m->nc, &m->origin));
  return judge_rows(m);
}

weir_status cf_class_maps_open(const char *path, cf_read_maps *out)
{
  *out = (cf_read_maps){.path = path};
  const weir_status status = take_all(out);

  if (status != WEIR_OK) {
    cf_class_maps_close(out);
  }
  return status;
}

weir_status cf_class_maps_read(cf_read_maps *m, int64_t row, int64_t d0, int64_t d1, uint8_t *out)
{
  WEIR_ASSERT(0 <= row && row < m->n && 0 <= d0 && d0 <= d1 && d1 <= m->lengths[0]);
  return weir_netcdf_read(m->nc, m->classes, (int64_t[]){row, d0, 0, 0},
                          (int64_t[]){1, d1 - d0, m->lengths[1], m->lengths[2]}, out);
}

void cf_class_maps_close(cf_read_maps *m)
{
  weir_netcdf_close(&m->nc);
  weir_free(&m->sample);
  weir_free(&m->universe);
  weir_free(&m->subset);
  weir_origin_fini(&m->origin);
}
