/* score_sums_patches.c - scores of squares of points taken together: each by itself, then added up
 * in order. */
#include <math.h>
#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "eval/ensemble.h"
#include "eval/score/score_sums_priv.h"

/* What a square gives; weight 0: nothing. */
typedef struct wx_patch {
  double weight, energy, fair, variogram;
  uint64_t mask; /* regions that hold all of it */
} patch;

static int64_t across(const wx_score_sums *t)
{
  return t->grid->n_lon / t->opts->patch;
}

static int64_t patches(const wx_score_sums *t)
{
  const int64_t edge = t->opts->patch;

  return t->members == 0 || edge == 0 || t->grid->kind == WX_GRID_SITES
             ? 0
             : across(t) * (t->grid->n_lat / edge);
}

static int64_t patch_scratch_length(const wx_score_sums *t)
{
  return t->opts->patch * t->opts->patch * (t->members + 1);
}

weir_status wx_score_sums_patches_create(wx_score_sums *t)
{
  const int64_t n = patches(t);

  if (n == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(n, sizeof *t->patch, (void **)&t->patch));
  return weir_alloc(weir_threads_get() * patch_scratch_length(t), sizeof(double),
                    (void **)&t->patch_scratch);
}

void wx_score_sums_patches_fini(wx_score_sums *t)
{
  weir_free(&t->patch);
  weir_free(&t->patch_scratch);
}

typedef struct job {
  const wx_score_sums *t;
  const wx_start_case *c;
  const wx_given *g;
} job;

/* Values of point k of a square; false where it is not used or a member is missing. */
static bool load_patch(const job *j, int64_t i, int64_t k, int64_t d, double *x, double *y)
{
  if (!j->c->use[i]) {
    return false;
  }
  y[k] = (double)j->c->truth[i];
  for (int64_t m = 0; m < j->g->members; m++) {
    x[m * d + k] = (double)j->g->member[m * j->t->cells + i];
    if (!isfinite(x[m * d + k])) {
      return false;
    }
  }
  return true;
}

static void score(void *context, int64_t number, int thread)
{
  const job *const j = context;
  const wx_score_sums *const t = j->t;
  const int64_t edge = t->opts->patch, d = edge * edge, m = j->g->members;
  const int64_t row = number / across(t) * edge, column = number % across(t) * edge;
  double *const y = t->patch_scratch + thread * patch_scratch_length(t), *const x = y + d;
  patch p = {.mask = ~(uint64_t)0};
  double weight = 0;

  t->patch[number] = (patch){.weight = 0};
  for (int64_t k = 0; k < d; k++) {
    const int64_t i = (row + k / edge) * t->grid->n_lon + column + k % edge;

    if (!load_patch(j, i, k, d, x, y)) {
      return;
    }
    p.mask &= t->regions->mask[i];
    weight += (t->grid->weight != NULL ? t->grid->weight[i] : 1) / (double)d;
  }
  const wx_energy e = wx_energy_score(x, m, d, y, d);

  p.weight = weight;
  p.energy = e.empirical;
  p.fair = e.fair;
  p.variogram = wx_variogram_score(x, m, d, y, d, t->opts->order);
  t->patch[number] = p;
}

static void add(const patch *p, double weight, double *sum)
{
  sum[WX_SUM_PATCH] += weight;
  sum[WX_SUM_ENERGY] += weight * p->energy;
  sum[WX_SUM_ENERGY_FAIR] += weight * p->fair;
  sum[WX_SUM_VARIOGRAM] += weight * p->variogram;
}

void wx_score_sums_patches(const wx_score_sums *t, const wx_start_case *c, const wx_given *g,
                           double *blocks)
{
  job j = {t, c, g};

  weir_parallel(patches(t), 0, score, &j);
  for (int64_t k = 0; k < patches(t); k++) {
    const patch *const p = &t->patch[k];

    for (int64_t r = 0; r < t->regions->n && p->weight > 0; r++) {
      if (p->mask >> r & 1) {
        add(p, p->weight, blocks + (r * WX_WEIGHTINGS + WX_BY_AREA) * t->at.size);
        add(p, 1, blocks + (r * WX_WEIGHTINGS + WX_BY_POINT) * t->at.size);
      }
    }
  }
}
