/* start.c - what every command begins and ends with. */
#include <stdio.h>
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "base/weir_provenance.h"
#include "device/weir_device.h"
#include "device/weir_parallel.h"
#include "iv.h"
#include "train/weir_checkpoint.h"
#include "commands.h"

/* What no single row can refuse. */
static weir_status check(const qt_cfg *cfg)
{
  if (!(cfg->energy.min < cfg->energy.max) && cfg->energy.points > 1) {
    return weir_fail(WEIR_ERR_CONFIG, "energy.min %g eV is not below energy.max %g eV",
                     cfg->energy.min, cfg->energy.max);
  }
  if (cfg->output.channels && cfg->transport.method != QT_TRANSPORT_QTBM) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "output.channels: eigenvalues of the transmission are computed by "
                     "transport.method: qtbm alone; set it, or leave output.channels out");
  }
  const qt_electrostatics_opts *e = &cfg->electrostatics;
  const bool voltages = cfg->sweep.drain.count + cfg->sweep.gate.count > 0;

  if (!e->enabled && (voltages || e->gates.count + e->doping.count > 0)) {
    weir_warn("run", "%s: not used, as electrostatics.enabled is false: set it to true",
              voltages             ? "sweep"
              : e->gates.count > 0 ? "electrostatics.gates"
                                   : "electrostatics.doping");
  }
  return WEIR_OK;
}

weir_status qt_configure(const weir_cli *cli, qt_cfg *cfg, weir_config **config)
{
  WEIR_TRY(weir_device_accept(cli->device, "quantum_transport"));
  if (cli->threads > 0) {
    weir_threads_set(cli->threads);
  }
  WEIR_TRY(weir_cli_config(cli, cfg, config));
  const weir_status status = check(cfg);

  if (status != WEIR_OK) {
    weir_config_destroy(config);
  }
  return status;
}

weir_status qt_begin(const weir_cli *cli, const char *owner, const qt_cfg *cfg,
                     const weir_config *config, weir_run_dir *dir)
{
  int64_t newest = -1;

  if (cli->out != NULL && cfg->checkpoint.resume) {
    WEIR_TRY(weir_checkpoint_newest(cli->out, &newest));
  }
  const bool sweeps = cfg->checkpoint.resume && cfg->electrostatics.enabled && cli->out != NULL;

  if (sweeps && newest < 0 && !cli->overwrite && qt_iv_is_complete(cli->out)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: the sweep there is complete: iv.csv and report.html have its results; "
                     "choose another --out, or give --overwrite to replace it",
                     cli->out);
  }
  const bool begun = newest >= 0 || (sweeps && qt_iv_is_begun(cli->out));

  WEIR_TRY(weir_run_dir_start(cli, config, owner, begun, dir));
  weir_event("start", WEIR_TEXT("program", "quantum_transport"), WEIR_TEXT("command", cli->command),
             WEIR_INT("seed", cfg->seed));
  return WEIR_OK;
}

void qt_abandon(weir_run_dir *dir)
{
  if (weir_run_dir_rollback(dir)) {
    weir_info(dir->cli->command, "the earlier results in %s are unchanged", dir->cli->out);
  }
}

weir_status qt_write_provenance(const weir_cli *cli, const qt_cfg *cfg)
{
  char program[64], path[QT_PATH];

  (void)snprintf(program, sizeof program, "quantum_transport %s", cli->command);
  WEIR_TRY(weir_path_join(cli->out, "provenance.json", path, sizeof path));
  return weir_provenance_write(path, &(weir_provenance){.program = program,
                                                        .argc = cli->argc,
                                                        .argv = cli->argv,
                                                        .seed = (uint64_t)cfg->seed,
                                                        .threads = weir_threads_get()});
}
