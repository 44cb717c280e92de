/* haloes.c - see haloes.h. */
#include "data/snapshot/haloes.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"

const weir_opt cf_haloes_options[] = {
    WEIR_OPT_INT(cf_haloes_opts, type, 1, 0, CF_PARTICLE_TYPES - 1, "1",
                 "type of the particles that are linked: 1, dark matter"),
    WEIR_OPT_REAL(cf_haloes_opts, link, 0.2, 0.01, 1, "1",
                  "linking length, in mean separations of the particles (b)"),
    WEIR_OPT_INT(cf_haloes_opts, particles, 20, 2, 1e9, "1", "particles of the smallest halo"),
    WEIR_OPT_END,
};

const char *const cf_halo_head[CF_HALO_COLUMNS] = {"mass_Msun_h", "particles", "x_Mpc_h", "y_Mpc_h",
                                                   "z_Mpc_h"};

/* All particles of a type. */
typedef struct gathered {
  double *position, *mass;
  int64_t n;
} gathered;

static weir_status take(void *context, int64_t n, const double *position, const double *mass)
{
  gathered *const g = context;

  memcpy(g->position + 3 * g->n, position, (size_t)n * 3 * sizeof *position);
  memcpy(g->mass + g->n, mass, (size_t)n * sizeof *mass);
  g->n += n;
  return WEIR_OK;
}

static weir_status find(const cf_haloes_opts *opts, cf_snapshot *s, const char *path, gathered *g,
                        cf_haloes *out)
{
  const cf_snapshot_info *const info = cf_snapshot_get(s);
  const int64_t n = info->count[opts->type];

  if (n == 0) {
    return weir_fail(WEIR_ERR_DATA, "%s: has no particles of type %lld (haloes.type)", path,
                     (long long)opts->type);
  }
  if (isnan(info->mass)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: does not state its unit of mass: set snapshot.mass_unit to 1e10Msun/h, "
                     "Msun/h, 1e10Msun or Msun, as the simulation is described",
                     path);
  }
  WEIR_TRY(weir_alloc(n, 3 * sizeof *g->position, (void **)&g->position));
  WEIR_TRY(weir_alloc(n, sizeof *g->mass, (void **)&g->mass));
  WEIR_TRY(cf_snapshot_read(s, (int)opts->type, take, g));
  out->particles = n;
  out->link = fmin(opts->link * info->box / cbrt((double)n), info->box / 2);
  WEIR_TRY(
      cf_fof(info->box, out->link, n, g->position, g->mass, opts->particles, &out->halo, &out->n));
  for (int64_t i = 0; i < out->n; i++) {
    out->halo[i].mass *= info->mass;
  }
  return WEIR_OK;
}

weir_status cf_haloes_find(const cf_haloes_opts *opts, const cf_snapshot_opts *snapshot,
                           const char *path, cf_haloes *out)
{
  cf_snapshot *s = NULL;
  gathered g = {.n = 0};

  *out = (cf_haloes){.n = 0};
  WEIR_TRY(cf_snapshot_open(path, snapshot, &s));
  const weir_status status = find(opts, s, path, &g, out);

  weir_free(&g.position);
  weir_free(&g.mass);
  cf_snapshot_close(&s);
  return status;
}

void cf_haloes_fini(cf_haloes *h)
{
  weir_free(&h->halo);
}

void cf_haloes_table(const cf_haloes *h, weir_table *out)
{
  for (int64_t i = 0; i < h->n; i++) {
    weir_table_add(out, "%.9g", h->halo[i].mass);
    weir_table_add(out, "%lld", (long long)h->halo[i].particles);
    for (int d = 0; d < 3; d++) {
      weir_table_add(out, "%.9g", h->halo[i].centre[d]);
    }
  }
}
