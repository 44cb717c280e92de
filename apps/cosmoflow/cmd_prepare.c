/* cmd_prepare.c - writes the built-in universes, or resumes an interrupted run. */
#include "base/weir_log.h"
#include "data/simulation/universe_write.h"
#include "io/weir_netcdf.h"
#include "commands.h"

/* Particles that hardly leave their cells are counted where they began, whatever the field. */
static weir_status warn_of_rest(const cf_universe_opts *o, const cf_universe_facts *f)
{
  const double min_moved = 0.5; /* of a cell: to the border */

  for (int64_t c = 0; c < o->redshifts.count && o->counts == CF_COUNTS_NGP; c++) {
    double moved = 0;

    WEIR_TRY(cf_universe_motion(o, f, o->redshifts.items[c], &moved));
    if (moved < min_moved) {
      weir_warn(
          "prepare",
          "at z = %g the rms displacement of particles is %.2g particle spacings: ngp counts "
          "tell little of the field there; more simulate.particles, a smaller simulate.box or "
          "simulate.counts=cic would",
          o->redshifts.items[c], moved);
    }
  }
  return WEIR_OK;
}

static void tell(const weir_cli *cli, const cf_universe_facts *f, const cf_written *done)
{
  weir_event("prepare_end", WEIR_INT("universes", done->universes), WEIR_INT("files", done->files),
             WEIR_INT("kept", done->kept), WEIR_INT("again", done->again),
             WEIR_INT("samples", done->universes * f->samples),
             WEIR_REAL("seconds_of_a_universe",
                       done->universes > 0 ? done->seconds / (double)done->universes : 0));
  weir_info("prepare", "%lld universes in %lld files; %lld files existed already: %s",
            (long long)done->universes, (long long)done->files, (long long)done->kept, cli->out);
}

static weir_status simulate(const weir_job *j, const cf_universe_facts *f)
{
  const cf_cfg *const cfg = j->cfg;
  char text[CF_TEXT];
  cf_written done;

  WEIR_TRY(warn_of_rest(&cfg->simulate, f));
  weir_comm_configure(j->comm, &cfg->comm);
  cf_universe_text(&cfg->simulate, f, (uint64_t)cfg->seed, text, sizeof text);
  if (weir_job_leads(j)) {
    WEIR_TRY(cf_write_provenance(j, false, "simulation", text));
  }
  WEIR_TRY(cf_universe_write(&cfg->simulate, (uint64_t)cfg->seed, j->cli->out, j->comm, &done));
  if (weir_job_leads(j)) {
    tell(j->cli, f, &done);
  }
  return WEIR_OK;
}

static weir_status prepare(weir_job *j)
{
  const char *const out = j->cli->out;
  cf_cfg *const cfg = j->cfg;
  cf_universe_facts facts;

  if (!weir_netcdf_available()) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "prepare writes NetCDF, which this build does not have: install the library "
                     "and build again");
  }
  WEIR_TRY(cf_universe_check(&cfg->simulate, &facts));
  WEIR_TRY(cf_universe_check_ranks(&cfg->simulate, weir_comm_size(j->comm)));
  WEIR_TRY(weir_job_begin(j, "prepare", true));
  if (j->dir.continues) {
    WEIR_TRY(cf_universe_check_folder(&cfg->simulate, &facts, (uint64_t)cfg->seed, out));
  }
  WEIR_TRY(weir_job_commit(j, "prepare"));
  return simulate(j, &facts);
}

weir_status cf_cmd_prepare(const weir_cli *cli)
{
  return weir_job_run_shared(cli, &cf_program, prepare);
}
