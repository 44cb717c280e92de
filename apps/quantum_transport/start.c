/* start.c - how the commands of the program start (app/weir_job.h), and their provenance. */
#include "base/weir_log.h"
#include "iv.h"
#include "train/weir_checkpoint.h"
#include "commands.h"

/* What no single row can refuse. */
static weir_status complete(weir_job *j)
{
  const qt_cfg *const cfg = j->cfg;

  j->seed = cfg->seed;
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

const weir_program qt_program = {.complete = complete};

weir_status qt_begin(weir_job *j, const char *owner)
{
  const weir_cli *const cli = j->cli;
  const qt_cfg *const cfg = j->cfg;
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

  return weir_job_begin(j, owner, begun);
}

weir_status qt_write_provenance(const weir_job *job)
{
  weir_inputs read = {.n = 0};
  weir_status status = weir_config_files(job->config, weir_inputs_add, &read);

  weir_inputs_sort(&read);
  status = status == WEIR_OK
               ? weir_job_provenance(job->cli, job->seed,
                                     &(weir_provenance){.inputs = (const char *const *)read.path,
                                                        .n_inputs = (int)read.n})
               : status;
  weir_inputs_fini(&read);
  return status;
}
