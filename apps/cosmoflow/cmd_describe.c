/* cmd_describe.c - the resolved configuration, the samples of source.input or what prepare would
 * write and take, and what the network costs; nothing is simulated, nothing is trained. */
#include <stdio.h>
#include "check.h"
#include "described.h"
#include "model/summary.h"
#include "ranks.h"
#include "commands.h"

static weir_status print_network(const cf_cfg *cfg, const cf_described *d)
{
  const cf_shape shape = cf_described_shape(cfg, d);
  cf_loss loss;
  cf_summary sheet;

  WEIR_TRY(cf_check_channels(&cfg->model, shape.channels));
  if (shape.outputs == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "describe.outputs: the samples of source.input have no labels: state how many "
                     "parameters are to be estimated");
  }
  WEIR_TRY(cf_model_loss_kind(&cfg->model, &loss));
  WEIR_TRY(cf_summary_make(&cfg->model, &shape, &sheet));
  printf("# network %s (%s)\n", cf_model_net(&cfg->model)->name, cf_model_net(&cfg->model)->cite);
  cf_summary_print(&sheet, stdout);
  return WEIR_OK;
}

/* Prints the share of each rank of the grid in a step, or the predicted step of each grid, for the
 * samples of the network. */
static weir_status print_grid(const weir_cli *cli, const cf_cfg *cfg, cf_described *d)
{
  const int ranks = (int)cf_check_ranks(cfg);
  cf_estimator e;
  weir_status status = WEIR_OK;
  weir_grid grid;

  WEIR_TRY_GOTO(cf_described_open(cfg, d, &e), done);
  weir_grid_replicate_below(&cfg->grid, e.task.replicate_below);
  if (cfg->describe.grids.count > 0) {
    WEIR_TRY_GOTO(
        cf_grid_list_print(cfg, cli->threads, &e.task, weir_params_elements(e.params), stdout),
        done);
  } else if (cfg->grid.by == WEIR_GRID_BY_AUTO) {
    WEIR_TRY_GOTO(cf_grid_choice_print(cfg, cli->threads, &e.task, ranks, stdout), done);
  } else {
    WEIR_TRY_GOTO(cf_check_grid(cfg, ranks, &grid), done);
    WEIR_TRY_GOTO(cf_grid_print(cfg, &grid, &e.task, stdout), done);
  }
done:
  cf_estimator_close(&e);
  return status;
}

static weir_status describe(weir_job *j)
{
  cf_cfg *const cfg = j->cfg;
  cf_universe_facts facts;
  cf_described samples;

  WEIR_TRY(cf_universe_check(&cfg->simulate, &facts));
  WEIR_TRY(cf_described_find(cfg, &facts, &samples));
  WEIR_TRY(print_network(cfg, &samples));
  WEIR_TRY(print_grid(j->cli, cfg, &samples));
  printf("\n");
  return weir_cli_print_config(j->cli, j->config, stdout);
}

weir_status cf_cmd_describe(const weir_cli *cli)
{
  cf_cfg cfg;

  return weir_job_run(cli, &cf_program, &cfg, describe);
}
