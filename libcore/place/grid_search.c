/* grid_search.c - see grid_search.h: one level of feature maps more, as long as it pays. */
#include "place/grid_search.h"

#include <string.h>

/* Better replication thresholds have never saved half of a step. */
#define HOPELESS 2.0

/* The number of coarsest levels that one attempt replicates, along each dimension. */
typedef struct chosen_levels {
  int n[WEIR_ALONG_DIMS];
} chosen_levels;

/* One level more along the dimensions of the set, where there are any: never that of the inputs. */
static bool go_up(const weir_train_levels *levels, unsigned along, chosen_levels *e)
{
  bool moved = false;

  for (int d = WEIR_ALONG_DEPTH; d < WEIR_ALONG_DIMS; d++) {
    if ((along >> d & 1) != 0 && e->n[d] + 1 < levels->n[d]) {
      e->n[d]++;
      moved = true;
    }
  }
  return moved;
}

static weir_status try_thresholds(const place_model *m, const weir_train_levels *levels,
                                  const chosen_levels *e, int rank, weir_grid_candidate *row)
{
  for (int d = WEIR_ALONG_DEPTH; d < WEIR_ALONG_DIMS; d++) {
    row->replicate_below[d] = e->n[d] > 0 ? levels->extent[d][e->n[d] - 1] : 0;
  }
  row->tried++;
  return place_predict(m, rank, row);
}

/* The best of one level more along one dimension that has several ranks, and along all of them. */
static weir_status try_next(const place_model *m, const weir_train_levels *levels, int rank,
                            chosen_levels *e, weir_grid_candidate *row)
{
  const chosen_levels from = *e;
  weir_grid_candidate best = {.refused = true};
  unsigned all = 0;

  for (int d = WEIR_ALONG_DEPTH; d < WEIR_ALONG_DIMS; d++) {
    all |= row->grid.extent[d] > 1 ? 1U << d : 0;
  }
  for (unsigned along = 1; along <= all; along++) {
    const bool one = (along & (along - 1)) == 0;
    weir_grid_candidate next = *row;
    chosen_levels to = from;

    if ((along & ~all) == 0 && (one || along == all) && go_up(levels, along, &to)) {
      WEIR_TRY(try_thresholds(m, levels, &to, rank, &next));
      row->tried = next.tried;
      if (place_is_better(&next, &best)) {
        best = next;
        *e = to;
      }
    }
  }
  best.tried = row->tried;
  *row = best;
  return WEIR_OK;
}

/* From the coarsest maps on, as long as a step is not longer for it: beyond
 * the level where sharding ends, a level more costs more than the one before and saves
 * less, as maps grow from level to level. The rank that was slowest stands for all; what is best
 * for it is predicted for all, and stays where it is. */
static weir_status search(const place_model *m, weir_grid_candidate *all)
{
  const int rank = all->cost.slowest;
  weir_grid_candidate row = *all, *const best = &(weir_grid_candidate){.refused = true};
  weir_train_levels levels;
  chosen_levels e = {.n = {0}};

  WEIR_TRY(weir_train_step_levels(m->step, &all->grid, &levels));
  WEIR_TRY(place_predict(m, rank, &row));
  *best = row;
  for (bool continues = true; continues;) {
    weir_grid_candidate next = row;

    WEIR_TRY(try_next(m, &levels, rank, &e, &next));
    continues = !next.refused && !place_is_better(&row, &next);
    row = continues ? next : row;
    if (continues && place_is_better(&next, best)) {
      *best = next;
    }
    best->tried = next.tried;
  }
  all->tried = best->tried;
  if (memcmp(best->replicate_below, all->replicate_below, sizeof all->replicate_below) != 0) {
    WEIR_TRY(place_predict(m, -1, best));
    *all = place_is_better(best, all) ? *best : *all;
    all->tried = best->tried;
  }
  return WEIR_OK;
}

weir_status place_evaluate(const place_model *m, double best_s, weir_grid_candidate *row)
{
  const weir_train_levels none = {.n = {0}};
  int space = 1;

  WEIR_TRY(try_thresholds(m, &none, &(chosen_levels){.n = {0}}, place_middle(&row->grid), row));
  if (row->refused || (row->fits && row->cost.seconds > HOPELESS * best_s)) {
    return WEIR_OK;
  }
  WEIR_TRY(place_predict(m, -1, row));
  for (int d = WEIR_ALONG_DEPTH; d < WEIR_ALONG_DIMS; d++) {
    space *= row->grid.extent[d];
  }
  return row->refused || space == 1 ? WEIR_OK : search(m, row);
}
