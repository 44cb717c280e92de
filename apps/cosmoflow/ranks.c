/* ranks.c - see ranks.h. */
#include "ranks.h"
#include "check.h"
#include "place/weir_grid_choose.h"
#include "place/weir_grid_select.h"
#include "place/measure/weir_machine_measure.h"

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

weir_status cf_ranks_select_grid(cf_ranks *r, cf_cfg *cfg, int threads, const weir_train_cfg *train,
                                 weir_train_task *task)
{
  const weir_plan_opts exec = {.exec = &cfg->exec, .threads = threads};

  return weir_grid_choose(&cfg->grid, r->dist.comm, &cfg->comm, &exec, train, task, &r->dist.grid,
                          stderr);
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
