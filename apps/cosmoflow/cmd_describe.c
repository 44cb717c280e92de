/* cmd_describe.c - the resolved configuration, what prepare would write and take, and what the
 * network costs; nothing is simulated, nothing is trained. */
#include <stdio.h>
#include "check.h"
#include "data/universe_write.h"
#include "estimator.h"
#include "model/summary.h"
#include "ranks.h"
#include "commands.h"

static weir_status print_universes(const cf_universe_opts *o, const cf_universe_facts *f)
{
  const int64_t files = (o->universes + o->file - 1) / o->file;
  int64_t memory = 0;
  const int64_t workers = cf_universe_workers(o, f, &memory);

  printf(
      "# %lld universes in %lld files, %.4g MB before compression; %lld samples of %lld^3 cells, "
      "%lld channels, %s\n",
      (long long)o->universes, (long long)files, (double)o->universes * (double)f->bytes / 1e6,
      (long long)(o->universes * f->samples), (long long)f->side, (long long)f->channels,
      weir_dtype_name(f->dtype));
  printf("# %lld at a time, in %.4g MB\n", (long long)workers, (double)memory / 1e6);
  for (int k = 0; k < f->n_labels; k++) {
    printf("# label %s: %g to %g\n", cf_parameter_name[f->label[k]], f->lo[f->label[k]],
           f->hi[f->label[k]]);
  }
  for (int64_t c = 0; c < o->redshifts.count; c++) {
    double moved = 0;

    WEIR_TRY(cf_universe_motion(o, f, o->redshifts.items[c], &moved));
    printf("# channel %lld: z = %g, rms displacement %.2f particle spacings\n", (long long)c,
           o->redshifts.items[c], moved);
  }
  return WEIR_OK;
}

static int64_t or_else(int64_t given, int64_t usual)
{
  return given > 0 ? given : usual;
}

static weir_status print_network(const cf_cfg *cfg, const cf_universe_facts *f)
{
  const bool segments = cf_model_net(&cfg->model)->target == CF_SEGMENT;
  const cf_shape shape = {or_else(cfg->describe.side, f->side),
                          or_else(cfg->describe.channels, segments ? f->channels - 1 : f->channels),
                          or_else(cfg->describe.outputs, segments ? CF_CLASSES : f->n_labels)};
  cf_loss loss;
  cf_summary sheet;

  WEIR_TRY(cf_check_channels(&cfg->model, shape.channels));
  WEIR_TRY(cf_model_loss_kind(&cfg->model, &loss));
  WEIR_TRY(cf_summary_make(&cfg->model, &shape, &sheet));
  printf("# network %s (%s)\n", cf_model_net(&cfg->model)->name, cf_model_net(&cfg->model)->cite);
  cf_summary_print(&sheet, stdout);
  return WEIR_OK;
}

/* Prints the share of each rank of the grid in a step, or the predicted step of each grid, for the
 * samples of the network. */
static weir_status print_grid(const weir_cli *cli, const cf_cfg *cfg, const cf_universe_facts *f)
{
  const int64_t side = or_else(cfg->describe.side, f->side);
  const cf_volume_info info = {
      .lengths = {side, side, side, or_else(cfg->describe.channels, f->channels)},
      .n_labels = (int)or_else(cfg->describe.outputs, f->n_labels)};
  const cf_estimator_spec spec = {
      .model = &cfg->model, .scale = cfg->data.scale, .info = &info, .dtype = f->dtype};
  const int ranks = (int)cf_check_ranks(cfg);
  cf_estimator e = {.params = NULL};
  weir_status status = WEIR_OK;
  weir_grid grid;

  WEIR_TRY_GOTO(cf_estimator_open(&spec, 0, &e), done);
  weir_train_gather(&cfg->grid, e.task.gather);
  if (cfg->grid.by == WEIR_GRID_BY_AUTO) {
    WEIR_TRY_GOTO(cf_grid_choice_print(cfg, cli->threads, &e.task, ranks, stdout), done);
  } else {
    WEIR_TRY_GOTO(cf_check_grid(cfg, ranks, &grid), done);
    WEIR_TRY_GOTO(cf_grid_print(cfg, &grid, &e.task, stdout), done);
  }
done:
  cf_estimator_close(&e);
  return status;
}

weir_status cf_cmd_describe(const weir_cli *cli)
{
  weir_config *config = NULL;
  cf_universe_facts facts;
  weir_status status = WEIR_OK;
  cf_cfg cfg;

  WEIR_TRY(cf_configure(cli, &cfg, &config));
  WEIR_TRY_GOTO(cf_universe_check(&cfg.simulate, &facts), done);
  WEIR_TRY_GOTO(print_universes(&cfg.simulate, &facts), done);
  WEIR_TRY_GOTO(print_network(&cfg, &facts), done);
  WEIR_TRY_GOTO(print_grid(cli, &cfg, &facts), done);
  printf("\n");
  WEIR_TRY_GOTO(weir_cli_print_config(cli, config, stdout), done);
done:
  weir_config_destroy(&config);
  return status;
}
