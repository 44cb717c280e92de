/* ranks.c - see ranks.h. */
#include "ranks.h"
#include "base/weir_log.h"

weir_status cf_ranks_open(const weir_cli *cli, const cf_cfg *cfg, cf_ranks *out)
{
  weir_comm *comm = NULL;

  *out = (cf_ranks){.leads = false};
  WEIR_TRY(weir_comm_open(&comm));
  weir_comm_configure(comm, &cfg->comm);
  out->spread.comm = comm;
  out->leads = weir_comm_rank(comm) == 0;
  if (!out->leads && cli->log > WEIR_LOG_WARN) {
    weir_log_set_level(WEIR_LOG_WARN);
  }
  const weir_status status = weir_train_grid(&cfg->grid, weir_comm_size(comm), &out->spread.grid);

  if (status != WEIR_OK) {
    cf_ranks_close(out);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  return WEIR_OK;
}

void cf_ranks_close(cf_ranks *r)
{
  weir_comm_close(&r->spread.comm);
}

weir_status cf_agree(const cf_ranks *r, weir_status status)
{
  return weir_comm_agree(r->spread.comm, status);
}

weir_status cf_grid_print(const cf_cfg *cfg, const weir_train_task *task, FILE *out)
{
  const int64_t asked[] = {cfg->grid.samples, cfg->grid.depth, cfg->grid.height, cfg->grid.width};
  weir_grid grid = {.dims = WEIR_ALONG_DIMS};

  for (int d = 0; d < WEIR_ALONG_DIMS; d++) {
    grid.extent[d] = asked[d] > 0 ? (int)asked[d] : 1;
  }
  if (weir_grid_size(&grid) > 1) {
    WEIR_TRY(weir_train_describe_grid(task, &cfg->train, &grid, out));
  }
  return WEIR_OK;
}
