/* ranks.c - see ranks.h. */
#include "ranks.h"
#include <string.h>
#include "base/weir_log.h"
#include "check.h"
#include "place/weir_grid_select.h"
#include "place/weir_machine_measure.h"

weir_status cf_ranks_open(weir_comm *comm, const cf_cfg *cfg, cf_ranks *out)
{
  *out = (cf_ranks){.dist = {.comm = comm}, .leads = weir_comm_rank(comm) == 0};
  weir_comm_configure(comm, &cfg->comm);
  return cf_check_grid(cfg, weir_comm_size(comm), &out->dist.grid);
}

weir_status cf_agree(const cf_ranks *r, weir_status status)
{
  return weir_comm_agree(r->dist.comm, status);
}

/* ---- A grid by prediction ---- */

static void tell_grid_choice(const weir_grid_choice *p, const weir_machine *m)
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

weir_status cf_ranks_select_grid(cf_ranks *r, cf_cfg *cfg, int threads, const weir_train_cfg *train,
                                 weir_train_task *task)
{
  const weir_plan_opts exec = {.exec = &cfg->exec, .threads = threads};
  weir_comm *const comm = r->dist.comm;
  weir_machine m = cfg->grid.machine;
  weir_grid_choice p;

  if (cfg->grid.by != WEIR_GRID_BY_AUTO) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_machine_measure(comm, &cfg->comm, &exec, &m));
  WEIR_TRY(weir_grid_select(task, train, &exec, &m, comm, weir_comm_size(comm), &p));
  const weir_grid_candidate *const row = &p.row[p.best];

  r->dist.grid = row->grid;
  cfg->grid.samples = row->grid.extent[WEIR_ALONG_SAMPLES];
  cfg->grid.depth = row->grid.extent[WEIR_ALONG_DEPTH];
  cfg->grid.height = row->grid.extent[WEIR_ALONG_HEIGHT];
  cfg->grid.width = row->grid.extent[WEIR_ALONG_WIDTH];
  cfg->grid.replicate_below.depth = row->replicate_below[WEIR_ALONG_DEPTH];
  cfg->grid.replicate_below.height = row->replicate_below[WEIR_ALONG_HEIGHT];
  cfg->grid.replicate_below.width = row->replicate_below[WEIR_ALONG_WIDTH];
  memcpy(task->replicate_below, row->replicate_below, sizeof task->replicate_below);
  task->predicted_s = row->cost.seconds;
  if (r->leads) {
    weir_machine_print(&m, stderr);
    weir_grid_choice_print(&p, stderr);
    tell_grid_choice(&p, &m);
  }
  weir_grid_choice_fini(&p);
  return WEIR_OK;
}

weir_status cf_grid_choice_print(const cf_cfg *cfg, int threads, const weir_train_task *task,
                                 int ranks, FILE *out)
{
  const weir_plan_opts exec = {.exec = &cfg->exec, .threads = threads};
  weir_machine m = cfg->grid.machine;
  weir_grid_choice p;

  WEIR_TRY(weir_machine_measure(NULL, &cfg->comm, &exec, &m));
  WEIR_TRY(weir_grid_select(task, &cfg->train, &exec, &m, NULL, ranks, &p));
  (void)fprintf(out, "grids of %d ranks, a step of %lld samples\n", ranks,
                (long long)(cfg->train.batch * cfg->train.accumulate));
  weir_machine_print(&m, out);
  weir_grid_choice_print(&p, out);
  weir_grid_choice_fini(&p);
  return WEIR_OK;
}

weir_status cf_grid_print(const cf_cfg *cfg, const weir_grid *grid, const weir_train_task *task,
                          FILE *out)
{
  const weir_plan_opts exec = {.exec = &cfg->exec};

  return weir_grid_size(grid) > 1 ? weir_train_describe_grid(task, &cfg->train, &exec, grid, out)
                                  : WEIR_OK;
}
