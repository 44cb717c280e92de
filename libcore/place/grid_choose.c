/* grid_choose.c - see weir_grid_choose.h. */
#include "place/weir_grid_choose.h"

#include <string.h>

#include "base/weir_log.h"
#include "place/measure/weir_machine_measure.h"
#include "place/weir_grid_select.h"

static void tell_choice(const weir_grid_choice *p, const weir_machine *m)
{
  const weir_grid_candidate *const row = &p->row[p->best];
  const int *const n = row->grid.extent;
  const int64_t *const end = row->replicate_below;

  weir_event("grid_choice", WEIR_INT("samples", n[0]), WEIR_INT("depth", n[1]),
             WEIR_INT("height", n[2]), WEIR_INT("width", n[3]), WEIR_INT("gather_depth", end[1]),
             WEIR_INT("gather_height", end[2]), WEIR_INT("gather_width", end[3]),
             WEIR_INT("candidates", p->n), WEIR_REAL("predicted_s", row->cost.seconds),
             WEIR_REAL("computes_s", row->cost.compute_s), WEIR_REAL("waits_s", row->cost.waited_s),
             WEIR_INT("halo_bytes", row->cost.halo_bytes),
             WEIR_INT("sum_bytes", row->cost.sum_bytes), WEIR_INT("arena_bytes", row->cost.arena),
             WEIR_REAL("kernels", m->kernels), WEIR_REAL("flops", m->flops),
             WEIR_REAL("bandwidth", m->bandwidth), WEIR_REAL("latency", m->latency),
             WEIR_REAL("message", m->link_bw), WEIR_REAL("merge", m->reduce_bw),
             WEIR_REAL("hidden", m->overlap), WEIR_REAL("launch", m->group_overhead),
             WEIR_INT("untimed", row->cost.untimed));
  weir_info("grid", "%dx%dx%dx%d of %lld: %.3g s a step are predicted", n[0], n[1], n[2], n[3],
            (long long)p->n, row->cost.seconds);
}

/* The numbers of the section become those of the candidate. */
static void take_numbers(const weir_grid_candidate *row, weir_grid_cfg *cfg)
{
  const int *const n = row->grid.extent;

  cfg->samples = n[WEIR_ALONG_SAMPLES];
  cfg->depth = n[WEIR_ALONG_DEPTH];
  cfg->height = n[WEIR_ALONG_HEIGHT];
  cfg->width = n[WEIR_ALONG_WIDTH];
  cfg->replicate_below.depth = row->replicate_below[WEIR_ALONG_DEPTH];
  cfg->replicate_below.height = row->replicate_below[WEIR_ALONG_HEIGHT];
  cfg->replicate_below.width = row->replicate_below[WEIR_ALONG_WIDTH];
}

weir_status weir_grid_choose(weir_grid_cfg *cfg, weir_comm *comm, const weir_comm_cfg *messages,
                             const weir_plan_opts *exec, const weir_train_cfg *train,
                             weir_train_task *task, weir_grid *grid, FILE *out)
{
  weir_machine m = cfg->machine;
  weir_grid_choice p;

  if (cfg->by != WEIR_GRID_BY_AUTO) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_machine_measure(comm, messages, exec, &m));
  WEIR_TRY(weir_grid_select(task, train, exec, &m, comm, weir_comm_size(comm), &p));
  const weir_grid_candidate *const row = &p.row[p.best];

  *grid = row->grid;
  take_numbers(row, cfg);
  memcpy(task->replicate_below, row->replicate_below, sizeof task->replicate_below);
  task->predicted_s = row->cost.seconds;
  if (weir_comm_rank(comm) == 0) {
    weir_machine_print(&m, out);
    weir_grid_choice_print(&p, out);
    tell_choice(&p, &m);
  }
  weir_grid_choice_fini(&p);
  return WEIR_OK;
}
