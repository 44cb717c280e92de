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
  WEIR_TRY(wx_qg_write(&cfg->simulate, &cfg->exec, (uint64_t)cfg->seed, forecast, truth));
  weir_event("prepare_end", WEIR_INT("starts", cfg->simulate.init_times),
             WEIR_TEXT("output", forecast));
  weir_info("prepare", "wrote %s and truth.nc: %lld initialisation times", forecast,
            (long long)cfg->simulate.init_times);
  return wx_write_provenance(cli, cfg, NULL, 0);
}

static weir_status prepare(weir_job *j)
{
  const wx_cfg *const cfg = j->cfg;

  if (!weir_netcdf_available()) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "prepare writes NetCDF, which this build does not have: install the library "
                     "and build again; check and describe make up numbers without it");
  }
  WEIR_TRY(weir_job_begin(j, "prepare", false));
  if (cfg->data.forecast.count > 0 || cfg->data.truth.count > 0) {
    return wx_prepare_import(j->cli, cfg, &j->dir);
  }
  WEIR_TRY(weir_run_dir_commit(&j->dir));
  return simulate(j->cli, cfg);
}

weir_status wx_cmd_prepare(const weir_cli *cli)
{
  wx_cfg cfg;

  return weir_job_run(cli, &wx_program, &cfg, prepare);
}
