/* cmd_run.c - computes transmission, density of states and currents of a device, or resumes an
 * earlier run of the folder. */
#include <math.h>
#include <stdio.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "closed.h"
#include "comm/weir_comm.h"
#include "iv.h"
#include "out_spectra.h"
#include "petsc/petsc_options.h"
#include "page/run_page.h"
#include "scatter.h"
#include "study_run.h"
#include "train/weir_checkpoint.h"
#include "commands.h"

enum { VALUE = 64 };

/* Value and unit, or why there is none. */
static const char *value_text(double value, const char *unit, char text[VALUE])
{
  if (isnan(value)) {
    (void)snprintf(text, VALUE, "unknown (too few energies in the window)");
  } else {
    (void)snprintf(text, VALUE, "%.5g %s", value, unit);
  }
  return text;
}

/* What was computed, what came out, and how exactly the leads were solved. */
static void print_results(const qt_study *s, const char *dir)
{
  const qt_device *const device = qt_study_device(s->cfg);
  char current[VALUE], conductance[VALUE], quanta[VALUE];

  printf("%s: %s\n", device->name, device->help);
  if (s->system.particle == QT_PHONONS) {
    for (int64_t i = 0; i < s->cfg->contact.conductance_temperatures.count; i++) {
      printf("thermal conductance at %g K: %s\n", s->heat[i].temperature,
             value_text(s->heat[i].conductance, "W/K", conductance));
    }
  } else {
    printf("%scurrent %s, conductance %s, %s\n", s->scatter != NULL ? "coherent " : "",
           value_text(s->current, "A", current), value_text(s->conductance, "S", conductance),
           value_text(s->conductance / (2 * QT_CONDUCTANCE), "times 2e\xc2\xb2/h", quanta));
  }
  if (s->scatter != NULL) {
    const qt_born *b = &s->scatter->born;

    const double scattered = isnan(s->current) ? NAN : b->step[b->n_steps - 1].current[QT_LEFT];

    printf("current with scattering %s (%lld iterations)\n", value_text(scattered, "A", current),
           (long long)(b->n_steps - 1));
  }
  printf("largest residual of a lead %.1e; energies that were shifted: %lld of %lld\n",
         s->transport.residual, (long long)s->transport.n_shifted,
         (long long)(s->n_k * s->n_energies));
  printf("report: %s/report.html\n", dir);
}

/* What rank 0 does alone. */
static weir_status write_results(weir_job *j, const qt_study *s)
{
  qt_closed_warn(s);
  WEIR_TRY(weir_run_dir_commit(&j->dir));
  WEIR_TRY(qt_write_provenance(j));
  WEIR_TRY(qt_out_spectra(s, j->cli->out));
  if (s->scatter != NULL) {
    WEIR_TRY(qt_scatter_write(s, j->cli->out));
  }
  WEIR_TRY(qt_run_page(s, j->cli->out));
  const double of_sweep = s->iv != NULL ? s->iv->predicted_bytes : 0;
  const double of_scattering = s->scatter != NULL ? s->scatter->size.bytes : 0;

  weir_event("memory",
             WEIR_REAL("predicted_bytes", fmax(fmax(s->predicted_bytes, of_sweep), of_scattering)),
             WEIR_INT("peak_bytes", weir_alloc_peak()), WEIR_REAL("factor_bytes", s->factor_bytes));
  WEIR_TRY(weir_checkpoint_prune(j->cli->out, 0));
  WEIR_TRY(qt_scatter_clear(j->cli->out));
  print_results(s, j->cli->out);
  return WEIR_OK;
}

/* What the run replaces goes; checkpoints that no log noted would be taken for its own. */
static weir_status begin_saving(void *context)
{
  weir_run_dir *dir = context;

  if (dir->waits && !dir->continues) {
    WEIR_TRY(weir_run_dir_commit(dir));
    return weir_checkpoint_prune(dir->cli->out, 0);
  }
  return weir_run_dir_commit(dir);
}

/* Bias points that are found stay, whatever happens to the run. Collective. */
static weir_status sweep(weir_job *j, qt_study *s, qt_iv *iv, qt_scatter *scatter)
{
  const bool scatters = s->cfg->scattering.kind != QT_SCATTERING_NONE;
  const char *out = j->cli->out;
  const bool leads = weir_comm_rank(j->comm) == 0;
  const char *earlier = leads && j->dir.continues ? out : NULL;

  if (scatters) {
    WEIR_TRY(qt_scatter_begin_sweep(s, j->cli->threads, scatter));
  }
  WEIR_TRY(
      qt_iv_open(s, j->config, earlier, j->cli->threads, scatters ? &scatter->counting : NULL, iv));
  WEIR_TRY(weir_comm_agree(j->comm, leads ? weir_run_dir_commit(&j->dir) : WEIR_OK));
  if (leads) {
    weir_run_dir_keep();
  }
  WEIR_TRY(qt_iv_solve(s, out, iv));
  qt_scatter_end_sweep(scatter);
  return weir_comm_agree(j->comm, leads ? qt_iv_write(iv, out) : WEIR_OK);
}

static weir_status run(weir_job *j, qt_study *s, qt_iv *iv, qt_scatter *scatter)
{
  const qt_cfg *const cfg = j->cfg;
  const qt_transport_save save = {.dir = j->cli->out,
                                  .interval = cfg->checkpoint.interval,
                                  .keep = cfg->checkpoint.keep,
                                  .format = cfg->checkpoint.format,
                                  .resume = j->dir.continues,
                                  .whole = cfg->energy.tolerance > 0 ||
                                           cfg->scattering.kind != QT_SCATTERING_NONE,
                                  .begin = begin_saving,
                                  .context = &j->dir};
  char ranks[32] = "";

  s->save = &save;
  if (weir_comm_size(j->comm) > 1) {
    (void)snprintf(ranks, sizeof ranks, ", %d ranks", weir_comm_size(j->comm));
  }
  weir_info("run", "%lld orbitals in %lld blocks, %lld points%s", (long long)s->system.n,
            (long long)s->system.n_blocks, (long long)(s->n_k * s->n_energies), ranks);
  if (cfg->electrostatics.enabled) {
    WEIR_TRY(sweep(j, s, iv, scatter));
  }
  WEIR_TRY(qt_study_run(s, j->cli->threads));
  if (cfg->scattering.kind != QT_SCATTERING_NONE) {
    WEIR_TRY(qt_scatter_solve(s, j->cli->threads, scatter));
    s->scatter = scatter;
  }
  qt_petsc_warn_unused(&cfg->petsc); /* all that could read them have run */
  if (s->iv != NULL) {               /* by energies chosen for it, not those of the spectra */
    s->current = iv->bias[iv->n_found - 1].current;
  }
  return weir_comm_agree(j->comm, weir_comm_rank(j->comm) == 0 ? write_results(j, s) : WEIR_OK);
}

/* Before there is a folder: what cannot be right leaves none. Local. */
static weir_status open_study(const qt_cfg *cfg, weir_comm *comm, int threads, qt_study *s,
                              qt_scatter *scatter)
{
  WEIR_TRY(qt_study_check_size(cfg));
  WEIR_TRY(qt_study_open(cfg, s));
  s->comm = comm;
  return cfg->scattering.kind != QT_SCATTERING_NONE ? qt_scatter_open(s, threads, scatter)
                                                    : WEIR_OK;
}

/* Of the sweep, of the spectra, which both fit in memory.budget, and of scattering. Local. */
static weir_status find_sizes(qt_study *s, const qt_scatter *scatter, int threads,
                              qt_transport_size *size)
{
  double peak = 0;

  if (s->cfg->electrostatics.enabled) {
    WEIR_TRY(qt_iv_size(s, threads, &peak, &s->reserved));
  }
  if (s->cfg->scattering.kind != QT_SCATTERING_NONE) {
    peak = (peak > 0 ? peak : (double)weir_alloc_bytes()) + scatter->size.bytes +
           scatter->size.petsc_bytes;
    qt_scatter_warn_memory(s, scatter, peak);
  }
  WEIR_TRY(qt_study_size(s, threads, size));
  WEIR_TRY(qt_study_check_memory(peak));
  return qt_study_check_memory(size->peak + (isnan(size->factors) ? 0 : size->factors));
}

static weir_status perform(weir_job *j)
{
  const qt_cfg *const cfg = j->cfg;
  const int threads = j->cli->threads;
  weir_comm *const comm = j->comm;
  qt_study s = {.cfg = NULL};
  qt_iv iv = {.cfg = NULL};
  qt_scatter scatter = {.seconds = 0};
  qt_transport_size size;
  weir_status status = WEIR_OK;

  if (weir_comm_rank(comm) > 0) { /* warnings are those of rank 0 */
    weir_log_set_level(WEIR_LOG_ERROR);
  }
  weir_comm_configure(comm, &cfg->comm);
  WEIR_TRY_GOTO(weir_comm_agree(comm, open_study(cfg, comm, threads, &s, &scatter)), done);
  WEIR_TRY_GOTO(weir_comm_agree(comm, qt_study_start(&s)), done);
  WEIR_TRY_GOTO(weir_comm_agree(comm, find_sizes(&s, &scatter, threads, &size)), done);
  s.factor_bytes = size.factors;
  status = weir_comm_rank(comm) == 0 ? qt_begin(j, "run") : WEIR_OK;
  WEIR_TRY_GOTO(weir_comm_agree(comm, status), done);
  WEIR_TRY_GOTO(run(j, &s, &iv, &scatter), done);
done:
  qt_study_fini(&s);
  qt_iv_fini(&iv);
  qt_scatter_fini(&scatter);
  return status;
}

weir_status qt_cmd_run(const weir_cli *cli)
{
  return weir_job_run_on_ranks(cli, &qt_program, perform);
}
