/* cmd_snapshots.c - commands on snapshots of simulations: paint makes samples of them, haloes finds
 * their haloes. */
#include <math.h>
#include <stdio.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "data/snapshot/haloes.h"
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

/* Lists the snapshots of source.input. */
static weir_status list(const weir_job *j, char ***paths, int64_t *n)
{
  const cf_cfg *const cfg = j->cfg;

  return weir_netcdf_available()
             ? cf_snapshot_list(&cfg->source.input, paths, n)
             : weir_fail(WEIR_ERR_UNSUPPORTED,
                         "%s reads HDF5 by the NetCDF library, which this build does not have: "
                         "install the library and build again",
                         j->cli->command);
}

static void free_list(char ***paths, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    weir_free(&(*paths)[i]);
  }
  weir_free(paths);
}

/* Opens a snapshot, before anything of an earlier run is removed. */
static weir_status try_open(const cf_cfg *cfg, const char *path)
{
  cf_snapshot *s = NULL;
  const weir_status status = cf_snapshot_open(path, &cfg->snapshot, &s);

  cf_snapshot_close(&s);
  return status;
}

static weir_status paint(weir_job *j)
{
  const char *const out = j->cli->out;
  char **paths = NULL;
  int64_t n = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY(list(j, &paths, &n));
  WEIR_TRY_GOTO(cf_refuse_own_input(out, own_input(paths, n, out)), done);
  WEIR_TRY_GOTO(n > 0 ? try_open(j->cfg, paths[0]) : WEIR_OK, done);
  WEIR_TRY_GOTO(cf_begin_resumed(j, "paint"), done);
  WEIR_TRY_GOTO(weir_job_commit(j, "paint"), done);
  WEIR_TRY_GOTO(paint_all(j, paths, n), done);
done:
  free_list(&paths, n);
  return status;
}

weir_status cf_cmd_paint(const weir_cli *cli)
{
  cf_cfg cfg;

  return weir_job_run(cli, &cf_program, &cfg, paint);
}

/* ---- Haloes ---- */

/* Writes the table of a snapshot, and adds a row to that of all. Nothing of an earlier run is
 * removed before the haloes of the first snapshot are known. */
static weir_status write_haloes(weir_job *j, int64_t number, const char *path, weir_table *all)
{
  const cf_cfg *const cfg = j->cfg;
  weir_table rows = {0};
  char name[64];
  cf_haloes h;
  weir_status status = WEIR_OK;

  (void)snprintf(name, sizeof name, "haloes-%08lld.csv", (long long)number);
  WEIR_TRY_GOTO(cf_haloes_find(&cfg->haloes, &cfg->snapshot, path, &h), done);
  WEIR_TRY_GOTO(weir_run_dir_commit(&j->dir), done);
  cf_haloes_table(&h, &rows);
  WEIR_TRY_GOTO(weir_table_write_csv(&rows, j->cli->out, name, CF_HALO_COLUMNS, cf_halo_head),
                done);
  weir_table_add(all, "%s", name);
  weir_table_add(all, "%s", path);
  weir_table_add(all, "%lld", (long long)h.particles);
  weir_table_add(all, "%.9g", h.link);
  weir_table_add(all, "%lld", (long long)h.n);
  weir_table_add_number(all, "%.9g", h.n > 0 ? h.halo[0].mass : (double)NAN, "");
  weir_event("haloes", WEIR_TEXT("snapshot", path), WEIR_INT("haloes", h.n));
done:
  cf_haloes_fini(&h);
  weir_table_fini(&rows);
  return status;
}

static weir_status write_all(weir_job *j, char *const *paths, int64_t n)
{
  static const char *const head[] = {"file",   "snapshot",      "particles", "linking_length_Mpc_h",
                                     "haloes", "largest_Msun_h"};
  weir_table all = {0};
  char text[64];
  weir_status status = WEIR_OK;

  for (int64_t i = 0; i < n && status == WEIR_OK; i++) {
    status = weir_stop_requested()
                 ? weir_fail(WEIR_ERR_STOPPED, "haloes: stopped by signal %d", weir_stop_signal())
                 : write_haloes(j, i, paths[i], &all);
    weir_progress("haloes", i + 1, n, "snapshots");
  }
  WEIR_TRY_GOTO(status, done);
  weir_table_print(&all, 6, head, stdout);
  WEIR_TRY_GOTO(weir_table_write_csv(&all, j->cli->out, "snapshots.csv", 6, head), done);
  (void)snprintf(text, sizeof text, "%lld", (long long)n);
  status = cf_write_provenance(j, true, "snapshots", text);
done:
  weir_table_fini(&all);
  return status;
}

static weir_status haloes(weir_job *j)
{
  char **paths = NULL;
  int64_t n = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY(list(j, &paths, &n));
  WEIR_TRY_GOTO(cf_refuse_own_input(j->cli->out, own_input(paths, n, j->cli->out)), done);
  WEIR_TRY_GOTO(weir_job_begin(j, "haloes", false), done);
  WEIR_TRY_GOTO(write_all(j, paths, n), done);
done:
  free_list(&paths, n);
  return status;
}

weir_status cf_cmd_haloes(const weir_cli *cli)
{
  cf_cfg cfg;

  return weir_job_run(cli, &cf_program, &cfg, haloes);
}
