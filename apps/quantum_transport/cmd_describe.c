/* cmd_describe.c - the resolved configuration, the blocks of the device and what a run would
 * cost; runs nothing. */
#include <math.h>
#include <stdio.h>
#include "iv.h"
#include "model/electrostatics/grid.h"
#include "model/rgf/rgf.h"
#include "report/weir_report.h"
#include "scatter.h"
#include "study.h"
#include "study_run.h"
#include "commands.h"

/* The grid of the potential, how often it is solved for, and the memory of that. */
static weir_status print_electrostatics(const qt_study *s, double sweep_bytes)
{
  qt_iv iv = {.cfg = s->cfg};
  qt_grid g = {.n_atoms = 0};
  char text[WEIR_AMOUNT_SIZE];
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(qt_grid_of_device(&s->cfg->electrostatics, &s->system, &g), done);
  WEIR_TRY_GOTO(qt_iv_voltages(s->cfg, &iv), done);
  printf("# potential: %lld nodes (%lld x %lld x %lld), %lld bias points; %.4g Angstrom^3 of the "
         "semiconductor an atom\n",
         (long long)qt_grid_nodes(&g), (long long)g.n[0], (long long)g.n[1], (long long)g.n[2],
         (long long)(iv.n_drain * iv.n_gate), g.volume);
  printf("# memory of the sweep: %.0f bytes (%s), without that of PETSc\n", sweep_bytes,
         weir_amount(sweep_bytes, "B", text));
done:
  qt_grid_fini(&g);
  qt_iv_fini(&iv);
  return status;
}

static void print_bytes(const char *what, double bytes, double of_tiles, double of_points)
{
  char text[32] = "not known";

  if (!isnan(bytes)) {
    (void)snprintf(text, sizeof text, "%.0f", bytes);
  }
  printf("# %-6s %22s %22.0f %22.0f\n", what, text, of_tiles, of_points);
}

/* What an iteration moves among ranks, tensor by tensor. */
static void print_volume(const qt_born_size *size)
{
  if (size->tiles.ranks == 1) {
    return;
  }
  printf("# %d ranks: ", size->tiles.ranks);
  if (size->tiles.by_frequency) {
    printf("self-energies at the points of G, by frequency; an iteration sends\n");
  } else {
    printf("self-energies in %d ranges of atoms x %d of energies; an iteration sends\n",
           size->tiles.atoms, size->tiles.energies);
  }
  printf("# %-6s %22s %22s %22s\n", "", "bytes", "formula of tiles", "formula of points");
  for (int i = 0; i < QT_TENSORS; i++) {
    print_bytes(qt_tensor_names[i], size->volume.bytes[i], size->of_tiles.bytes[i],
                size->of_points.bytes[i]);
  }
  print_bytes("all", qt_volume_total(&size->volume), qt_volume_total(&size->of_tiles),
              qt_volume_total(&size->of_points));
}

/* What an iteration of scattering takes. */
static weir_status print_scattering(const qt_study *s, int threads)
{
  qt_scatter scatter = {.seconds = 0};
  const weir_status status = qt_scatter_open(s, threads, &scatter);
  const qt_born_size *size = &scatter.size;

  if (status == WEIR_OK) {
    char a[WEIR_AMOUNT_SIZE], b[WEIR_AMOUNT_SIZE], c[WEIR_AMOUNT_SIZE], d[WEIR_AMOUNT_SIZE];

    printf("# scattering: %lld pairs of atoms, %lld phonon energies, %.0f bytes (%s) more, and %s "
           "of PETSc and %s an iteration for checkpoints\n",
           (long long)size->n_pairs, (long long)s->cfg->scattering.phonons.frequencies, size->bytes,
           weir_amount(size->bytes, "B", a), weir_amount(size->petsc_bytes, "B", b),
           weir_amount(size->saved_bytes, "B", c));
    printf("# an iteration: Green's functions of electrons %s, of phonons %s; self-energies %s, "
           "which move %s, %lld atoms at once\n",
           weir_amount(size->electron_flops, "flop", a), weir_amount(size->phonon_flops, "flop", b),
           weir_amount(size->self_energy.flops, "flop", c),
           weir_amount(size->self_energy.traffic, "B", d), (long long)size->self_energy.n_atoms);
    print_volume(size);
  }
  qt_scatter_fini(&scatter);
  return status;
}

/* Flops of the leads at all energies, as far as they are known before. */
static weir_status print_leads(const qt_study *s)
{
  const qt_lead_opts *o = &s->cfg->lead;
  const double scale = (double)s->n_energies;
  char fixed[WEIR_AMOUNT_SIZE], step[WEIR_AMOUNT_SIZE];
  qt_point_leads leads = {.same = false};
  qt_lead_work sum = {0, 0};
  weir_status status = WEIR_OK;

  for (int64_t k = 0; k < s->n_k && status == WEIR_OK; k++) {
    status = qt_point_leads_set(&s->system, s->k[k], &leads);
    const qt_lead_work one = qt_point_leads_flops(o, &s->system, &leads);

    sum.fixed += one.fixed;
    sum.step += one.step;
  }
  qt_point_leads_fini(&leads);
  WEIR_TRY(status);
  if (isnan(sum.fixed)) {
    printf("# leads of all points: flops are not known before, of contour integrals and SLEPc\n");
  } else if (o->method == QT_LEAD_DECIMATION) {
    printf("# leads of all points: %s and %s a step of decimation, of which there are at most "
           "%lld; how many is not known before\n",
           weir_amount(scale * sum.fixed, "flop", fixed),
           weir_amount(scale * sum.step, "flop", step), (long long)o->max_steps);
  } else {
    printf("# leads of all points: %s, where one step of the fixed point is enough\n",
           weir_amount(scale * sum.fixed, "flop", fixed));
  }
  return WEIR_OK;
}

/* Of wave functions. */
static void print_waves(const qt_study *s, const qt_transport_size *size)
{
  char text[WEIR_AMOUNT_SIZE];

  printf("# %lld wave vectors, %lld energies; wave functions, whose sparse systems have flops that "
         "are not known before\n",
         (long long)s->n_k, (long long)s->n_energies);
  printf("# memory: %.0f bytes (%s) without sparse factors, %lld points at once on %d thread%s\n",
         size->peak, weir_amount(size->peak, "B", text), (long long)size->at_once, size->threads,
         size->threads > 1 ? "s" : "");
  if (isnan(size->factors)) {
    printf("# sparse factors: not known of a solver other than MUMPS\n");
  } else {
    printf("# sparse factors: %s more, as MUMPS estimates them\n",
           weir_amount(size->factors, "B", text));
  }
}

static weir_status print(qt_study *s, int threads)
{
  const qt_system *d = &s->system;
  int64_t min = d->n, max = 0;
  double sweep_bytes = 0;
  qt_transport_size size;

  for (int64_t b = 0; b < d->n_blocks; b++) {
    const int64_t n = d->block[b + 1] - d->block[b];

    min = n < min ? n : min;
    max = n > max ? n : max;
  }
  printf("# %s: %lld orbitals of %lld atoms in %lld blocks of %lld to %lld\n",
         d->particle == QT_PHONONS ? "phonons" : "electrons", (long long)d->n,
         (long long)d->n_atoms, (long long)d->n_blocks, (long long)min, (long long)max);
  printf("# leads: cells of %lld and %lld orbitals\n", (long long)d->lead[QT_LEFT].n,
         (long long)d->lead[QT_RIGHT].n);
  if (s->cfg->energy.tolerance > 0) {
    printf("# energy.tolerance adds energies, %lld at most in all; flops and memory are those "
           "without them\n",
           (long long)s->cfg->energy.max_points);
  }
  if (s->cfg->electrostatics.enabled) {
    WEIR_TRY(qt_iv_size(s, threads, &sweep_bytes, &s->reserved));
  }
  WEIR_TRY(qt_study_size(s, threads, &size));
  if (s->cfg->transport.method == QT_TRANSPORT_QTBM) {
    print_waves(s, &size);
  } else {
    char flops[WEIR_AMOUNT_SIZE], bytes[WEIR_AMOUNT_SIZE];

    printf("# %s%lld wave vectors, %lld energies; Green's functions of all points: %s\n",
           s->cfg->electrostatics.enabled ? "spectra of the last bias point: " : "",
           (long long)s->n_k, (long long)s->n_energies,
           weir_amount((double)(s->n_k * s->n_energies) * size.point_flops, "flop", flops));
    printf("# memory: %.0f bytes (%s), %lld points at once on %d thread%s\n", size.peak,
           weir_amount(size.peak, "B", bytes), (long long)size.at_once, size.threads,
           size.threads > 1 ? "s" : "");
  }
  WEIR_TRY(print_leads(s));
  if (s->cfg->scattering.kind != QT_SCATTERING_NONE) {
    WEIR_TRY(print_scattering(s, threads));
  }
  return s->cfg->electrostatics.enabled ? print_electrostatics(s, sweep_bytes) : WEIR_OK;
}

static weir_status describe(weir_job *j)
{
  qt_study s = {.cfg = NULL};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(qt_study_check_size(j->cfg), done);
  WEIR_TRY_GOTO(qt_study_open(j->cfg, &s), done);
  WEIR_TRY_GOTO(qt_study_start(&s), done);
  WEIR_TRY_GOTO(print(&s, j->cli->threads), done);
  printf("\n");
  WEIR_TRY_GOTO(weir_cli_print_config(j->cli, j->config, stdout), done);
done:
  qt_study_fini(&s);
  return status;
}

weir_status qt_cmd_describe(const weir_cli *cli)
{
  qt_cfg cfg;

  return weir_job_run(cli, &qt_program, &cfg, describe);
}
