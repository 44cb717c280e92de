/* score_sums_patches.c - scores of squares of points, and of several quantities, taken together:
 * each square by itself, then added up in order. */
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

int64_t wx_score_sums_patches_edge(const wx_score_sums *t)
{
  return t->members == 0 || t->grid->kind == WX_GRID_SITES ? 0 : t->opts->patch;
}

static int64_t across(const wx_score_sums *t, int64_t edge)
{
  return t->grid->n_lon / edge;
}

static int64_t patches(const wx_score_sums *t, int64_t edge)
{
  return edge == 0 ? 0 : across(t, edge) * (t->grid->n_lat / edge);
}

static int64_t scratch_length(const wx_score_sums *t, int64_t edge, int64_t n)
{
  return n * edge * edge * (t->members + 1);
}

weir_status wx_score_sums_patches_reserve(wx_score_sums *t, int64_t edge, int64_t n)
{
  const int64_t scratch = weir_threads_get() * scratch_length(t, edge, n);

  WEIR_TRY(weir_reserve(&t->patch, &t->patch_capacity, patches(t, edge), sizeof *t->patch));
  return weir_reserve(&t->patch_scratch, &t->patch_scratch_capacity, scratch, sizeof(double));
}

void wx_score_sums_patches_fini(wx_score_sums *t)
{
  weir_free(&t->patch);
  weir_free(&t->patch_scratch);
  t->patch_capacity = t->patch_scratch_capacity = 0;
}

typedef struct job {
  const wx_score_sums *t;
  const wx_joint_case *c;
  int64_t edge;
} job;

/* Numbers k, k + points, .. of a square, those of a point; false where it is not used or a member
 * is missing. */
static bool load_point(const job *j, int64_t i, int64_t k, double *x, double *y)
{
  const wx_joint_case *const c = j->c;
  const int64_t points = j->edge * j->edge, d = c->n * points, cells = j->t->cells;

  if (!c->use[i]) {
    return false;
  }
  for (int64_t q = 0; q < c->n; q++) {
    y[q * points + k] = (double)c->truth[q * cells + i] / c->scale[q];
    for (int64_t m = 0; m < c->members; m++) {
      const double value = (double)c->member[(q * c->members + m) * cells + i];

      x[m * d + q * points + k] = value / c->scale[q];
      if (!isfinite(value)) {
        return false;
      }
    }
  }
  return true;
}

static void score(void *context, int64_t number, int thread)
{
  const job *const j = context;
  const wx_score_sums *const t = j->t;
  const int64_t edge = j->edge, points = edge * edge, d = j->c->n * points, m = j->c->members;
  const int64_t row = number / across(t, edge) * edge, column = number % across(t, edge) * edge;
  double *const y = t->patch_scratch + thread * scratch_length(t, edge, j->c->n), *const x = y + d;
  patch p = {.mask = ~(uint64_t)0};
  double weight = 0;

  t->patch[number] = (patch){.weight = 0};
  for (int64_t k = 0; k < points; k++) {
    const int64_t i = (row + k / edge) * t->grid->n_lon + column + k % edge;

    if (!load_point(j, i, k, x, y)) {
      return;
    }
    p.mask &= t->regions->mask[i];
    weight += (t->grid->weight != NULL ? t->grid->weight[i] : 1) / (double)points;
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

void wx_score_sums_patches(const wx_score_sums *t, const wx_joint_case *c, int64_t edge,
                           double *blocks)
{
  job j = {t, c, edge};

  weir_parallel(patches(t, edge), 0, score, &j);
  for (int64_t k = 0; k < patches(t, edge); k++) {
    const patch *const p = &t->patch[k];

    for (int64_t r = 0; r < t->regions->n && p->weight > 0; r++) {
      if (p->mask >> r & 1) {
        add(p, p->weight, blocks + (r * WX_WEIGHTINGS + WX_BY_AREA) * t->at.size);
        add(p, 1, blocks + (r * WX_WEIGHTINGS + WX_BY_POINT) * t->at.size);
      }
    }
  }
}
