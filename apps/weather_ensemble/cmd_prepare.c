/* cmd_prepare.c - imports files, or writes the built-in simulation as two archives. */
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "data/simulation/qg_write.h"
#include "io/weir_netcdf.h"
#include "commands.h"

static weir_status simulate(const weir_job *j)
{
  const weir_cli *const cli = j->cli;
  const wx_cfg *const cfg = j->cfg;
  char forecast[WX_PATH], truth[WX_PATH], invariants[WX_PATH], stations[WX_PATH];

  WEIR_TRY(weir_path_join(cli->out, "forecast.nc", forecast, sizeof forecast));
  WEIR_TRY(weir_path_join(cli->out, "truth.nc", truth, sizeof truth));
  WEIR_TRY(weir_path_join(cli->out, "invariants.nc", invariants, sizeof invariants));
  WEIR_TRY(weir_path_join(cli->out, "stations.nc", stations, sizeof stations));
  const wx_qg_files files = {forecast, truth, invariants, stations};

  WEIR_TRY(wx_qg_write(&cfg->simulate, &cfg->exec, (uint64_t)cfg->seed, j->comm, &files));
  if (!weir_job_leads(j)) {
    return WEIR_OK;
  }
  weir_event("prepare_end", WEIR_INT("starts", cfg->simulate.init_times),
             WEIR_TEXT("output", forecast));
  weir_info("prepare", "wrote %s and truth.nc: %lld initialisation times", forecast,
            (long long)cfg->simulate.init_times);
  return wx_write_provenance(cli, cfg, NULL, 0);
}

/* Files are copied in their order: by rank 0. */
static weir_status import(weir_job *j)
{
  if (!weir_job_leads(j)) {
    return WEIR_OK;
  }
  if (j->comm != NULL && weir_comm_size(j->comm) > 1) {
    weir_warn("prepare", "import: rank 0 does all of the work: start one process");
  }
  return wx_prepare_import(j->cli, j->cfg, &j->dir);
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
    return import(j);
  }
  WEIR_TRY(weir_run_dir_commit(&j->dir));
  return simulate(j);
}

weir_status wx_cmd_prepare(const weir_cli *cli)
{
  return weir_job_run_shared(cli, &wx_program, prepare);
}
