/* class_maps.c - see class_maps.h. */
#include "data/volume/class_maps.h"
#include <string.h>
#include "base/weir_alloc.h"
#include "io/weir_netcdf.h"

enum { CHUNK = 1 << 20 /* bytes that are compressed together, about */, LEVEL = 1 };

struct cf_class_maps {
  cf_class_maps_spec is; /* source and origin are not kept */
  weir_netcdf *nc;
  int number, universe, subset, classes, probability; /* variables */
  int64_t done;
};

/* Planes of a sample that are stored together. */
static int64_t planes_of(const cf_class_maps *m, int64_t bytes_of_voxel)
{
  const int64_t *const l = m->is.lengths, n = CHUNK / (l[1] * l[2] * bytes_of_voxel);

  return n < 1 ? 1 : n < l[0] ? n : l[0];
}

static weir_status define(cf_class_maps *m, const cf_class_maps_spec *spec)
{
  static const char *const names[] = {"x", "y", "z"};
  const int64_t *const l = m->is.lengths;
  const int64_t bytes = m->is.classes * (int64_t)sizeof(float);
  const int64_t chunks[4] = {1, planes_of(m, 1), l[1], l[2]};
  const int64_t wide[5] = {1, planes_of(m, bytes), l[1], l[2], m->is.classes};
  int dims[5];

  WEIR_TRY(weir_netcdf_dim(m->nc, "sample", m->is.n, &dims[0]));
  for (int d = 0; d < 3; d++) {
    WEIR_TRY(weir_netcdf_dim(m->nc, names[d], l[d], &dims[d + 1]));
  }
  WEIR_TRY(weir_netcdf_dim(m->nc, "class", m->is.classes, &dims[4]));
  WEIR_TRY(weir_netcdf_whole_var(m->nc, "sample_number", INT32_MAX, 1, dims, &m->number));
  WEIR_TRY(weir_netcdf_var(m->nc, "universe", WEIR_I64, 1, dims, &m->universe));
  WEIR_TRY(weir_netcdf_var(m->nc, "part", WEIR_U8, 1, dims, &m->subset));
  WEIR_TRY(weir_netcdf_put_text(m->nc, m->subset, "long_name", "0 train, 1 valid, 2 test"));
  WEIR_TRY(weir_netcdf_var(m->nc, "classes", WEIR_U8, 4, dims, &m->classes));
  WEIR_TRY(weir_netcdf_put_text(m->nc, m->number, "long_name", "number of the sample, from 0"));
  WEIR_TRY(weir_netcdf_put_text(m->nc, m->universe, "long_name", "number of the universe"));
  WEIR_TRY(weir_netcdf_put_text(m->nc, m->classes, "long_name", "predicted class of a voxel"));
  WEIR_TRY(weir_netcdf_chunk(m->nc, m->classes, chunks, LEVEL));
  if (m->is.probabilities) {
    WEIR_TRY(weir_netcdf_var(m->nc, "probability", WEIR_F32, 5, dims, &m->probability));
    WEIR_TRY(weir_netcdf_put_text(m->nc, m->probability, "long_name", "probability of a class"));
    WEIR_TRY(weir_netcdf_put_text(m->nc, m->probability, "units", "1"));
    WEIR_TRY(weir_netcdf_chunk(m->nc, m->probability, wide, LEVEL));
  }
  WEIR_TRY(weir_netcdf_put_text(m->nc, WEIR_NETCDF_FILE, "model", "network"));
  WEIR_TRY(weir_netcdf_put_text(m->nc, WEIR_NETCDF_FILE, "source", spec->source));
  return spec->origin != NULL ? cf_origin_put(m->nc, spec->origin) : WEIR_OK;
}

weir_status cf_class_maps_create(const char *path, const cf_class_maps_spec *spec,
                                 cf_class_maps **out)
{
  cf_class_maps *m = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *m, (void **)&m));
  m->is = *spec;
  m->is.source = NULL;
  m->is.origin = NULL;
  WEIR_TRY_GOTO(weir_netcdf_create_cf(path, "cosmoflow: predicted classes of voxels", &m->nc),
                done);
  WEIR_TRY_GOTO(define(m, spec), done);
  *out = m;
  m = NULL;
done:
  cf_class_maps_destroy(&m);
  return status;
}

weir_status cf_class_maps_add(cf_class_maps *m, const cf_class_map *row)
{
  const int64_t *const l = m->is.lengths;
  const int64_t start[5] = {m->done}, count[5] = {1, l[0], l[1], l[2], m->is.classes};
  const uint8_t subset = (uint8_t)row->subset;

  WEIR_ASSERT(m->done < m->is.n);
  WEIR_TRY(weir_netcdf_write(m->nc, m->number, start, count, &row->sample));
  WEIR_TRY(weir_netcdf_write(m->nc, m->universe, start, count, &row->universe));
  WEIR_TRY(weir_netcdf_write(m->nc, m->subset, start, count, &subset));
  WEIR_TRY(weir_netcdf_write(m->nc, m->classes, start, count, row->classes));
  if (m->is.probabilities) {
    WEIR_TRY(weir_netcdf_write(m->nc, m->probability, start, count, row->probability));
  }
  m->done++;
  return WEIR_OK;
}

weir_status cf_class_maps_commit(cf_class_maps **m)
{
  WEIR_ASSERT((*m)->done == (*m)->is.n);
  const weir_status status = weir_netcdf_commit(&(*m)->nc);

  cf_class_maps_destroy(m);
  return status;
}

void cf_class_maps_destroy(cf_class_maps **m)
{
  if (*m) {
    weir_netcdf_close(&(*m)->nc);
  }
  weir_free(m);
}
