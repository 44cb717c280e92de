/* grid_cost.c - see grid_cost.h: the sum over the graphs of a step and the exchange between them.
 */
#include "place/grid_cost.h"

#include "base/weir_signal.h"

static void add_cost(weir_cost *sum, const weir_cost *one, double times)
{
  sum->seconds += times * one->seconds;
  sum->compute_s += times * one->compute_s;
  sum->waited_s += times * one->waited_s;
  sum->flops += times * one->flops;
  sum->halo_bytes += (int64_t)times * one->halo_bytes;
  sum->sum_bytes += (int64_t)times * one->sum_bytes;
  sum->messages += (int64_t)times * one->messages;
  sum->arena = one->arena > sum->arena ? one->arena : sum->arena;
  sum->untimed += one->untimed;
  sum->slowest = one->seconds * times >= sum->seconds / 2 ? one->slowest : sum->slowest;
}

/* All graphs of an update, and the sums between them. */
static weir_status cost_of_step(const place_model *m, const weir_train_sharded *step, int rank,
                                weir_cost *sum)
{
  for (int i = 0; i < step->n; i++) {
    const weir_partition *p = step->partition[i];
    weir_cost one;

    WEIR_TRY(rank < 0 ? weir_cost_of_grid(p, m->machine, &m->passes, &one)
                      : weir_cost_of_rank(p, rank, m->machine, &m->passes, &one));
    add_cost(sum, &one, (double)step->runs[i]);
    for (int k = 0; i == 0 && k < step->n_sums; k++) {
      weir_cost_add_allreduce(m->machine, step->sum[k].ranks, step->sum[k].bytes, sum);
    }
  }
  return WEIR_OK;
}

weir_status place_predict(const place_model *m, int rank, weir_grid_candidate *row)
{
  weir_train_sharded sharded;

  if (weir_stop_requested()) {
    return weir_fail(WEIR_ERR_STOPPED, "stopped by signal %d during the comparison of grids",
                     weir_stop_signal());
  }
  row->cost = (weir_cost){.seconds = 0};
  weir_status status = weir_train_step_shard(m->step, &row->grid, row->replicate_below, &sharded);

  if (status == WEIR_OK) {
    status = cost_of_step(m, &sharded, rank, &row->cost);
  }
  weir_train_sharded_fini(&sharded);
  if (status == WEIR_ERR_CONFIG || status == WEIR_ERR_UNSUPPORTED) { /* others may do */
    row->refused = true;
    weir_clear_failure();
    return WEIR_OK;
  }
  row->fits = m->memory == 0 || row->cost.arena <= m->memory;
  return status;
}

int place_middle(const weir_grid *g)
{
  int coords[WEIR_GRID_DIMS] = {0};

  for (int d = 0; d < g->dims; d++) {
    coords[d] = g->extent[d] / 2;
  }
  return weir_grid_rank(g, coords);
}

bool place_is_better(const weir_grid_candidate *a, const weir_grid_candidate *b)
{
  return a->refused != b->refused ? b->refused
         : a->fits != b->fits     ? a->fits
         : a->fits                ? a->cost.seconds < b->cost.seconds
                                  : a->cost.arena < b->cost.arena;
}
