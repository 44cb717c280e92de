/* verb_run.c - computes transmission, density of states and currents of a device. */
#include <stdio.h>
#include "base/weir_log.h"
#include "out_spectra.h"
#include "run_page.h"
#include "verbs.h"

static void print_results(const qt_study *s, const char *dir)
{
  if (s->system.particle == QT_PHONONS) {
    for (int64_t i = 0; i < s->cfg->contact.conductance_temperatures.count; i++) {
      printf("thermal conductance at %g K: %.5g W/K\n", s->heat[i].temperature,
             s->heat[i].conductance);
    }
  } else {
    printf("current %.5g A, conductance %.5g S\n", s->current, s->conductance);
  }
  printf("report: %s/report.html\n", dir);
}

static weir_status run(const weir_cli *cli, const qt_cfg *cfg, weir_run_dir *dir, qt_study *s)
{
  WEIR_TRY(qt_study_open(cfg, s));
  weir_info("run", "%lld orbitals in %lld blocks, %lld points", (long long)s->system.n,
            (long long)s->system.n_blocks, (long long)(s->n_k * s->n_energies));
  WEIR_TRY(qt_study_run(s, cli->threads));
  WEIR_TRY(weir_run_dir_accept(dir));
  WEIR_TRY(qt_write_provenance(cli, cfg));
  WEIR_TRY(qt_out_spectra(s, cli->out));
  WEIR_TRY(qt_run_page(s, cli->out));
  print_results(s, cli->out);
  return WEIR_OK;
}

weir_status qt_verb_run(const weir_cli *cli)
{
  weir_config *config = NULL;
  weir_run_dir dir = {.cli = cli};
  qt_study s = {.cfg = NULL};
  weir_status status = WEIR_OK;
  qt_cfg cfg;

  WEIR_TRY(qt_configure(cli, &cfg, &config));
  WEIR_TRY_GOTO(qt_begin(cli, "run", &cfg, config, &dir), done);
  WEIR_TRY_GOTO(run(cli, &cfg, &dir, &s), done);
done:
  if (status != WEIR_OK) {
    qt_abandon(&dir);
  }
  qt_study_fini(&s);
  weir_config_destroy(&config);
  return status;
}
