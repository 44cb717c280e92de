/* cmd_paint.c - samples from snapshots of simulations. */
#include "base/weir_log.h"
#include "base/weir_alloc.h"
#include "data/snapshot/paint.h"
#include "data/volume/volume.h"
#include "io/weir_netcdf.h"
#include "commands.h"

/* The first snapshot in the folder of the results; NULL: none. */
static const char *own_input(char *const *paths, int64_t n, const char *out)
{
  for (int64_t i = 0; out != NULL && i < n; i++) {
    if (cf_path_within(paths[i], out)) {
      return paths[i];
    }
  }
  return NULL;
}

static weir_status paint_all(const weir_job *j, char *const *paths, int64_t n)
{
  const cf_cfg *const cfg = j->cfg;
  const weir_cli *const cli = j->cli;
  cf_painted done;
  char text[64];

  WEIR_TRY(cf_paint(&cfg->paint, &cfg->snapshot, (const char *const *)paths, n, cli->out, &done));
  if (cfg->paint.parameters.table[0] == 0) {
    weir_warn("paint", "the samples have no labels, and are of unknown universes: "
                       "paint.parameters.table names the table of the simulations");
  }
  weir_event("paint_end", WEIR_INT("samples", done.samples), WEIR_INT("kept", done.kept),
             WEIR_INT("damaged", done.damaged), WEIR_REAL("particles", done.particles));
  weir_info("paint", "%lld snapshots with %.9g particles painted; %lld files existed already: %s",
            (long long)done.samples, done.particles, (long long)done.kept, cli->out);
  (void)snprintf(text, sizeof text, "%lld", (long long)n);
  return cf_write_provenance(j, true, "snapshots", text);
}

static weir_status paint(weir_job *j)
{
  const char *const out = j->cli->out;
  const cf_cfg *const cfg = j->cfg;
  char **paths = NULL;
  int64_t n = 0;
  weir_status status = WEIR_OK;

  if (!weir_netcdf_available()) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "paint reads HDF5 and writes NetCDF by the NetCDF library, which this build "
                     "does not have: install the library and build again");
  }
  WEIR_TRY(cf_snapshot_list(&cfg->source.input, &paths, &n));
  WEIR_TRY_GOTO(cf_refuse_own_input(out, own_input(paths, n, out)), done);
  WEIR_TRY_GOTO(cf_begin_resumed(j, "paint"), done);
  WEIR_TRY_GOTO(weir_job_commit(j, "paint"), done);
  WEIR_TRY_GOTO(paint_all(j, paths, n), done);
done:
  for (int64_t i = 0; i < n; i++) {
    weir_free(&paths[i]);
  }
  weir_free(&paths);
  return status;
}

weir_status cf_cmd_paint(const weir_cli *cli)
{
  cf_cfg cfg;

  return weir_job_run(cli, &cf_program, &cfg, paint);
}
