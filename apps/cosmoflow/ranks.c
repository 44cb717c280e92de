/* ranks.c - see ranks.h. */
#include "ranks.h"
#include "check.h"
#include "place/weir_grid_choose.h"
#include "place/weir_grid_list.h"
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

/* Messages of the network: L and both overheads, and its rates, where they are not given. */
static void take_network(const weir_network *n, weir_machine *m)
{
  m->latency = m->latency > 0 ? m->latency : n->latency + 2 * n->overhead;
  m->link_bw = m->link_bw > 0 ? m->link_bw : n->link_bw;
  m->reduce_bw = m->reduce_bw > 0 ? m->reduce_bw : n->reduce_bw;
}

weir_status cf_grid_list_print(const cf_cfg *cfg, int threads, const weir_train_task *task,
                               int64_t parameters, FILE *out)
{
  const weir_plan_opts exec = {.exec = &cfg->exec, .threads = threads};
  weir_machine m = cfg->grid.machine;
  weir_grid_choice p;

  take_network(&cfg->scaling.network, &m);
  WEIR_TRY(weir_machine_measure(NULL, &cfg->comm, &exec, &m));
  WEIR_TRY(weir_grid_list_predict("describe.grids", &cfg->describe.grids, task, &cfg->train, &exec,
                                  &m, &p));
  (void)fprintf(out, "grids, a step of %lld samples\n",
                (long long)(cfg->train.batch * cfg->train.accumulate));
  weir_machine_print(&m, out);
  const weir_status status = weir_grid_list_print(&p, &cfg->train, parameters, out);

  weir_grid_choice_fini(&p);
  return status;
}

weir_status cf_grid_print(const cf_cfg *cfg, const weir_grid *grid, const weir_train_task *task,
                          FILE *out)
{
  const weir_plan_opts exec = {.exec = &cfg->exec};

  return weir_grid_size(grid) > 1 ? weir_train_describe_grid(task, &cfg->train, &exec, grid, out)
                                  : WEIR_OK;
}
