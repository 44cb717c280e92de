/* cmd_prepare.c - imports files, or writes the built-in simulation as two archives. */
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "data/simulation/qg_write.h"
#include "io/weir_netcdf.h"
#include "commands.h"

static weir_status simulate(const weir_cli *cli, const wx_cfg *cfg)
{
  char forecast[WX_PATH], truth[WX_PATH];

  WEIR_TRY(weir_path_join(cli->out, "forecast.nc", forecast, sizeof forecast));
  WEIR_TRY(weir_path_join(cli->out, "truth.nc", truth, sizeof truth));
  WEIR_TRY(wx_qg_write(&cfg->simulate, (uint64_t)cfg->seed, forecast, truth));
  weir_event("prepare_end", WEIR_INT("starts", cfg->simulate.init_times),
             WEIR_TEXT("output", forecast));
  weir_info("prepare", "wrote %s and truth.nc: %lld initialisation times", forecast,
            (long long)cfg->simulate.init_times);
  return wx_write_provenance(cli, cfg, NULL, 0);
}

weir_status wx_cmd_prepare(const weir_cli *cli)
{
  weir_config *config = NULL;
  weir_run_dir dir = {.cli = cli};
  weir_status status = WEIR_OK;
  wx_cfg cfg;

  WEIR_TRY(wx_configure(cli, &cfg, &config));
  if (!weir_netcdf_available()) {
    status = weir_fail(WEIR_ERR_UNSUPPORTED,
                       "prepare writes NetCDF, which this build does not have: install the library "
                       "and build again; check and describe make up numbers without it");
    goto done;
  }
  WEIR_TRY_GOTO(weir_run_dir_begin(cli, config, "prepare", &dir), done);
  wx_tell_start(cli, &cfg);
  if (cfg.data.forecast.count > 0 || cfg.data.truth.count > 0) {
    WEIR_TRY_GOTO(wx_prepare_import(cli, &cfg, &dir), done);
  } else {
    WEIR_TRY_GOTO(weir_run_dir_commit(&dir), done);
    WEIR_TRY_GOTO(simulate(cli, &cfg), done);
  }
done:
  if (status != WEIR_OK) {
    wx_abandon(&dir);
  }
  weir_config_destroy(&config);
  return status;
}
