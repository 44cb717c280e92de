/* scf.c - see scf.h. */
#include "model/electrostatics/scf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "model/electrostatics/mixing.h"
#include "model/electrostatics/potential.h"
#include "model/electrostatics/scf_priv.h"
#include "model/ranks.h"
#include "model/units.h"

void qt_bias_fini(qt_bias *b)
{
  weir_free(&b->step);
  weir_free(&b->u);
  weir_free(&b->atom_u);
  weir_free(&b->atom_electrons);
  *b = (qt_bias){.n_steps = 0};
}

void qt_scf_fini(qt_scf *scf)
{
  qt_grid_fini(&scf->grid);
  for (int c = 0; c < QT_LEADS; c++) {
    qt_bands_fini(&scf->bands[c]);
  }
  weir_free(&scf->donors);
  weir_free(&scf->block_of_atom);
}

/* Donors of all atoms; those of the end blocks fix the chemical potentials of the leads. */
static weir_status dope(const qt_bands_spec *bands, qt_scf *scf)
{
  const qt_system *s = scf->s;
  const double kt = QT_BOLTZMANN * scf->spec.temperature;
  double of_lead[QT_LEADS] = {0, 0};
  int64_t block = 0;

  WEIR_TRY(weir_alloc(s->n_atoms, sizeof *scf->donors, (void **)&scf->donors));
  WEIR_TRY(weir_alloc(s->n_atoms, sizeof *scf->block_of_atom, (void **)&scf->block_of_atom));
  for (int64_t a = 0; a < s->n_atoms; a++) {
    while (s->atom[a].first >= s->block[block + 1]) {
      block++;
    }
    scf->block_of_atom[a] = block;
    scf->donors[a] = qt_grid_doping(&scf->grid, scf->spec.opts, s->atom[a].position[0]);
    of_lead[QT_LEFT] += block == 0 ? scf->donors[a] : 0;
    of_lead[QT_RIGHT] += block == s->n_blocks - 1 ? scf->donors[a] : 0;
  }
  for (int c = 0; c < QT_LEADS; c++) {
    if (scf->spec.opts->fermi_level == QT_FERMI_DOPING) {
      WEIR_TRY(qt_bands_find_mu(&s->lead[c], scf->spec.k, bands, of_lead[c], kt, &scf->bands[c],
                                &scf->fermi[c]));
    } else {
      scf->fermi[c] = scf->spec.mu;
    }
  }
  return WEIR_OK;
}

/* What no bands are needed for. Collective. */
static weir_status check(const qt_system *s, const qt_scf_spec *spec, qt_grid *grid)
{
  qt_poisson *poisson = NULL;

  if (s->one_spin) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "electrostatics: the matrices are those of one of two spins: the charge of "
                     "both is needed");
  }
  if (!(spec->temperature >= 1)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "contact.temperature: %g K; electrostatics needs at least 1 K",
                     spec->temperature);
  }
  WEIR_TRY(qt_ranks_agree(spec->comm, qt_grid_of_device(spec->opts, s, grid)));
  /* A build without PETSc, or its options, are refused before what takes time. */
  WEIR_TRY(qt_poisson_create(grid, spec->petsc, spec->comm, spec->opts->poisson_ranks, &poisson));
  qt_poisson_destroy(&poisson);
  return WEIR_OK;
}

/* Levels and edges of rank 0 to all: they decide where contours have points, and processors of
 * other kinds may round differently. Collective. */
static weir_status share_levels(qt_scf *scf)
{
  double level[QT_LEADS][3];

  for (int c = 0; c < QT_LEADS; c++) {
    level[c][0] = scf->fermi[c];
    level[c][1] = scf->bands[c].valence;
    level[c][2] = scf->bands[c].conduction;
  }
  WEIR_TRY(qt_ranks_broadcast(scf->spec.comm, "levels of leads", level, sizeof level));
  for (int c = 0; c < QT_LEADS; c++) {
    scf->fermi[c] = level[c][0];
    scf->bands[c].valence = level[c][1];
    scf->bands[c].conduction = level[c][2];
  }
  scf->mu = scf->fermi[QT_LEFT];
  return WEIR_OK;
}

weir_status qt_scf_create(const qt_system *s, const qt_scf_spec *spec, qt_scf *out)
{
  const qt_bands_spec bands = {.points = spec->opts->band_points,
                               .spin = qt_system_spin(s),
                               .mid_gap = spec->opts->mid_gap,
                               .tolerance = spec->opts->fermi_tolerance,
                               .max_points = spec->opts->max_band_points};
  weir_status status = WEIR_OK;

  *out = (qt_scf){.s = s, .spec = *spec};
  WEIR_TRY(check(s, spec, &out->grid));
  for (int c = 0; c < QT_LEADS && status == WEIR_OK; c++) {
    status = qt_bands_create(&s->lead[c], spec->n_k, spec->k, &bands, &out->bands[c]);
  }
  WEIR_TRY(qt_ranks_agree(spec->comm, status));
  WEIR_TRY(qt_ranks_agree(spec->comm, dope(&bands, out)));
  return share_levels(out);
}

/* A bias point while it is solved. */
typedef struct run {
  qt_scf *scf;
  qt_bias *bias;
  double mu[QT_LEADS];
  qt_poisson *poisson; /* one for each point: its solvers hold numbers drawn at random */
  scf_response response;
  qt_mixing mixing;
  double *next;      /* [nodes] */
  double *electrons; /* [n_atoms] */
  bool moved;        /* the potential is not that of the iteration before */
  qt_system shifted; /* the device in it                                  */
  double *coherent;  /* [n_atoms] electrons without scattering            */
  int64_t steps_capacity;
  bool settled; /* scattering is self-consistent in the last potential */
} run;

static void fill_gates(const run *r, double *u)
{
  const qt_grid *g = &r->scf->grid;
  const qt_gate_opts *gate = r->scf->spec.opts->gates.items;

  for (int64_t i = 0; i < qt_grid_nodes(g); i++) {
    if (g->gate[i] >= 0) {
      const qt_gate_opts *at = &gate[g->gate[i]];

      u[i] = -(at->voltage + (at->swept ? r->bias->gate : 0) - at->flat_band);
    }
  }
}

static void read_atoms(const qt_scf *scf, const double *u, double *out)
{
  for (int64_t a = 0; a < scf->s->n_atoms; a++) {
    out[a] = qt_grid_read(&scf->grid, u, a);
  }
}

/* The gap that all of the device has in common: no state moves further than its potential, and at
 * U = 0 the device has none in the gap of the leads, as qt_scf_check_gap says; and an energy in it,
 * near the chemical potentials but off its edges. */
static weir_status find_gap(const run *r, const double *u, double gap[2], double *reference)
{
  const double edge = 0.5, rounding = 0.01; /* eV; of edges of sampled bands */
  const qt_bands *b = r->scf->bands;
  double lowest = INFINITY, highest = -INFINITY;

  for (int64_t a = 0; a < r->scf->s->n_atoms; a++) {
    lowest = fmin(lowest, u[a]);
    highest = fmax(highest, u[a]);
  }
  gap[0] = fmax(b[QT_LEFT].valence, b[QT_RIGHT].valence) + highest + rounding;
  gap[1] = fmin(b[QT_LEFT].conduction, b[QT_RIGHT].conduction) + lowest - rounding;
  if (!(gap[0] < gap[1])) {
    return weir_fail(
        WEIR_ERR_NUMERIC,
        "drain %g V, gate %g V: the potential energy varies by %g eV along the device, "
        "more than the gap of %g eV: the valence band of one part reaches the "
        "conduction band of another. Band-to-band tunnelling is not computed: "
        "electrons and holes cannot be distinguished there. Lower the voltages; or, "
        "where the iteration overshoots (events scf_step), electrostatics.damping, now %g",
        r->bias->drain, r->bias->gate, highest - lowest, gap[1] - lowest - gap[0] + highest,
        r->scf->spec.opts->damping);
  }
  const double off = fmin(edge, (gap[1] - gap[0]) / 2);

  *reference = fmin(fmax((r->mu[0] + r->mu[1]) / 2, gap[0] + off), gap[1] - off);
  return WEIR_OK;
}

/* Electrons of all atoms in a potential, without scattering. */
static weir_status count_coherent(run *r, const double *u, const qt_density_spec *of,
                                  qt_scf_step *step)
{
  const qt_system *s = r->scf->s;
  qt_density d = {.electrons = NULL};
  weir_status status = WEIR_OK;

  qt_system_fini(&r->shifted);
  r->shifted = (qt_system){.n = 0};
  WEIR_TRY(qt_ranks_agree(of->comm, qt_system_shift(s, u, &r->shifted)));
  WEIR_TRY_GOTO(qt_density_create(&r->shifted, of, &d), done);
  for (int64_t a = 0; a < s->n_atoms; a++) {
    r->coherent[a] = 0;
    for (int64_t i = 0; i < s->atom[a].n_orbitals; i++) {
      r->coherent[a] += d.electrons[s->atom[a].first + i];
    }
  }
  step->current = d.current;
  step->energies = d.n_contour + d.n_real;
done:
  qt_density_fini(&d);
  return status;
}

/* Electrons of all atoms in a potential. */
static weir_status count_electrons(run *r, const double *u, qt_scf_step *step)
{
  const qt_scf_spec *spec = &r->scf->spec;
  const qt_scf_scattering *scattering = spec->scattering;
  const qt_system *s = r->scf->s;
  qt_density_spec of = {.lead = spec->lead,
                        .n_k = spec->n_k,
                        .k = spec->k,
                        .weight = spec->weight,
                        .spin = qt_system_spin(s),
                        .order = spec->opts->contour_points,
                        .tolerance = spec->opts->integral_tolerance,
                        .broadening = spec->opts->broadening,
                        .shift = spec->shift,
                        .threads = spec->threads,
                        .comm = spec->comm,
                        .budget = spec->budget};

  WEIR_TRY(find_gap(r, u, of.gap, &of.reference));
  for (int c = 0; c < QT_LEADS; c++) {
    of.reservoir[c] = (qt_reservoir){r->mu[c], spec->temperature};
  }
  if (r->moved) {
    WEIR_TRY(count_coherent(r, u, &of, step));
  } else {
    step->current = r->bias->current;
  }
  memcpy(r->electrons, r->coherent, (size_t)s->n_atoms * sizeof *r->electrons);
  if (scattering != NULL) {
    WEIR_TRY(scattering->count(scattering->context, r->moved ? &r->shifted : NULL, of.reservoir,
                               of.reference, r->electrons, &r->settled));
  }
  step->electrons = 0;
  for (int64_t a = 0; a < s->n_atoms; a++) {
    step->electrons += r->electrons[a];
  }
  return WEIR_OK;
}

static weir_status solve_poisson(run *r, double *u, qt_poisson_result *result)
{
  return qt_poisson_solve(r->poisson, r->scf->donors,
                          (qt_response){scf_response_electrons, &r->response}, u, result);
}

/* The potential of perfect leads' electrons, from which a first bias begins. */
static weir_status guess(run *r)
{
  const qt_grid *g = &r->scf->grid;
  const double end[QT_LEADS] = {r->mu[QT_LEFT] - r->scf->fermi[QT_LEFT],
                                r->mu[QT_RIGHT] - r->scf->fermi[QT_RIGHT]};
  const double length = g->x[0][g->n[0] - 1] - g->x[0][0];
  qt_poisson_result result;

  for (int64_t i = 0; i < qt_grid_nodes(g); i++) {
    const double share = (g->x[0][i % g->n[0]] - g->x[0][0]) / length;

    r->bias->u[i] = (1 - share) * end[QT_LEFT] + share * end[QT_RIGHT];
  }
  fill_gates(r, r->bias->u);
  scf_response_begin(&r->response, r->mu);
  return solve_poisson(r, r->bias->u, &result);
}

/* That of the bias before, whose electrons answer to the change of gates and leads. */
static weir_status follow(run *r, const qt_bias *start)
{
  const double mu = r->scf->mu, before = mu - start->drain;
  const double by[QT_LEADS] = {0, r->mu[QT_RIGHT] - before};
  qt_poisson_result result;

  memcpy(r->bias->u, start->u, (size_t)qt_grid_nodes(&r->scf->grid) * sizeof *start->u);
  fill_gates(r, r->bias->u);
  scf_response_set(&r->response, start->atom_electrons, start->atom_u, fmin(mu, before),
                   fmax(mu, before));
  scf_response_shift(&r->response, by);
  return solve_poisson(r, r->bias->u, &result);
}

static void tell_step(const run *r, const qt_scf_step *step)
{
  weir_event("scf_step", WEIR_REAL("drain_V", r->bias->drain), WEIR_REAL("gate_V", r->bias->gate),
             WEIR_INT("iteration", r->bias->n_steps), WEIR_REAL("change_eV", step->change),
             WEIR_REAL("electrons", step->electrons), WEIR_REAL("current_A", step->current),
             WEIR_INT("newton", step->newton), WEIR_INT("energies", step->energies),
             WEIR_REAL("seconds", step->seconds));
}

/* One iteration: *change in eV. All ranks begin with the potential of rank 0, and take its word for
 * how far it changes: processors of other kinds may round differently. Collective. */
static weir_status iterate(run *r, double *change)
{
  const double began = weir_clock();
  weir_comm *comm = r->scf->spec.comm;
  qt_bias *b = r->bias;
  const int64_t n_atoms = r->scf->s->n_atoms, nodes = qt_grid_nodes(&r->scf->grid);
  qt_poisson_result result;
  qt_scf_step step = {.change = 0};

  WEIR_TRY(qt_ranks_broadcast(comm, "potential", b->u, nodes * (int64_t)sizeof *b->u));
  read_atoms(r->scf, b->u, b->atom_u);
  WEIR_TRY(count_electrons(r, b->atom_u, &step));
  scf_response_set(&r->response, r->electrons, b->atom_u, fmin(r->mu[0], r->mu[1]),
                   fmax(r->mu[0], r->mu[1]));
  memcpy(r->next, b->u, (size_t)nodes * sizeof *r->next);
  WEIR_TRY(solve_poisson(r, r->next, &result));
  for (int64_t a = 0; a < n_atoms; a++) {
    step.change = fmax(step.change, fabs(qt_grid_read(&r->scf->grid, r->next, a) - b->atom_u[a]));
  }
  step.newton = result.newton;
  step.seconds = weir_clock() - began;
  WEIR_TRY(qt_ranks_broadcast(comm, "iteration", &step, sizeof step));
  WEIR_TRY(qt_ranks_agree(
      comm, weir_reserve(&b->step, &r->steps_capacity, b->n_steps + 1, sizeof *b->step)));
  b->step[b->n_steps++] = step;
  tell_step(r, &step);
  *change = step.change;
  b->current = step.current;
  b->electrons = step.electrons;
  b->gate_charge = result.gate_charge;
  memcpy(b->atom_electrons, r->electrons, (size_t)n_atoms * sizeof *r->electrons);
  return WEIR_OK;
}

static weir_status fail(const run *r)
{
  const qt_bias *b = r->bias;
  char history[256] = "";
  size_t used = 0;

  for (int64_t i = b->n_steps > 8 ? b->n_steps - 8 : 0; i < b->n_steps; i++) {
    const int more = snprintf(history + used, sizeof history - used, " %.2g", b->step[i].change);

    used += more > 0 && (size_t)more < sizeof history - used ? (size_t)more : 0;
  }
  return weir_fail(WEIR_ERR_NUMERIC,
                   "drain %g V, gate %g V: no self-consistent potential after %lld iterations, "
                   "changes of the last ones in eV:%s; give electrostatics.damping below %g, "
                   "another electrostatics.history than %lld, smaller steps of the sweep, or more "
                   "electrostatics.max_iterations%s",
                   b->drain, b->gate, (long long)b->n_steps, history, r->scf->spec.opts->damping,
                   (long long)r->scf->spec.opts->history,
                   r->settled ? "" : ": scattering is not self-consistent yet");
}

/* Largest change of the mean potential from an end block to the next. */
static double find_end_field(const qt_scf *scf, const double *u)
{
  const qt_system *s = scf->s;
  double mean[4] = {0, 0, 0, 0}, count[4] = {0, 0, 0, 0};
  const int64_t block[4] = {0, 1, s->n_blocks - 2, s->n_blocks - 1};

  for (int64_t a = 0; a < s->n_atoms && s->n_blocks > 1; a++) {
    for (int i = 0; i < 4; i++) {
      if (scf->block_of_atom[a] == block[i]) {
        mean[i] += u[a];
        count[i]++;
      }
    }
  }
  for (int i = 0; i < 4; i++) {
    mean[i] /= fmax(1, count[i]);
  }
  return fmax(fabs(mean[1] - mean[0]), fabs(mean[3] - mean[2]));
}

static weir_status make_arrays(run *r)
{
  const qt_electrostatics_opts *o = r->scf->spec.opts;
  const int64_t nodes = qt_grid_nodes(&r->scf->grid), n_atoms = r->scf->s->n_atoms;
  qt_bias *b = r->bias;

  WEIR_TRY(weir_alloc(nodes, sizeof *b->u, (void **)&b->u));
  WEIR_TRY(weir_alloc(n_atoms, sizeof *b->atom_u, (void **)&b->atom_u));
  WEIR_TRY(weir_alloc(n_atoms, sizeof *b->atom_u, (void **)&b->atom_electrons));
  WEIR_TRY(weir_alloc(nodes, sizeof *r->next, (void **)&r->next));
  WEIR_TRY(weir_alloc(n_atoms, sizeof *r->electrons, (void **)&r->electrons));
  WEIR_TRY(weir_alloc(n_atoms, sizeof *r->coherent, (void **)&r->coherent));
  WEIR_TRY(scf_response_create(r->scf, &r->response));
  return qt_mixing_create(nodes, o->history, o->damping, &r->mixing);
}

static weir_status make_run(run *r)
{
  const qt_scf_spec *spec = &r->scf->spec;

  WEIR_TRY(qt_poisson_create(&r->scf->grid, spec->petsc, spec->comm, spec->opts->poisson_ranks,
                             &r->poisson));
  return qt_ranks_agree(spec->comm, make_arrays(r));
}

/* Whether a rank is asked to stop. Collective. */
static weir_status look_for_stop(const run *r)
{
  const qt_bias *b = r->bias;

  return qt_ranks_agree(
      r->scf->spec.comm,
      weir_stop_requested()
          ? weir_fail(WEIR_ERR_STOPPED, "stopped at drain %g V, gate %g V", b->drain, b->gate)
          : WEIR_OK);
}

static weir_status converge(run *r, const qt_bias *start)
{
  const qt_electrostatics_opts *o = r->scf->spec.opts;
  const qt_scf_scattering *scattering = r->scf->spec.scattering;
  qt_bias *b = r->bias;
  double change = INFINITY;

  r->settled = scattering == NULL;
  r->moved = true;
  if (scattering != NULL) {
    scattering->begin(scattering->context);
  }
  WEIR_TRY(start == NULL ? guess(r) : follow(r, start));
  while (b->n_steps < o->max_iterations) {
    WEIR_TRY(iterate(r, &change));
    if (change < o->tolerance && r->settled) {
      break;
    }
    WEIR_TRY(look_for_stop(r));
    r->moved = change >= o->tolerance; /* else scattering alone is not self-consistent yet */
    if (r->moved) {
      qt_mixing_next(&r->mixing, r->next, b->u);
    }
  }
  if (!(change < o->tolerance && r->settled)) {
    return fail(r);
  }
  b->end_field = find_end_field(r->scf, b->atom_u);
  b->donors = 0;
  for (int64_t a = 0; a < r->scf->s->n_atoms; a++) {
    b->donors += r->scf->donors[a];
  }
  return scattering != NULL ? scattering->finish(scattering->context, &b->scattered) : WEIR_OK;
}

weir_status qt_scf_solve(qt_scf *scf, double drain, double gate, const qt_bias *start, qt_bias *out)
{
  run r = {.scf = scf, .bias = out, .mu = {scf->mu, scf->mu - drain}};
  weir_status status = WEIR_OK;

  *out = (qt_bias){.drain = drain, .gate = gate, .scattered = {NAN, NAN, NAN, 0}};
  WEIR_TRY_GOTO(make_run(&r), done);
  status = converge(&r, start);
done:
  qt_poisson_destroy(&r.poisson);
  scf_response_fini(&r.response);
  qt_mixing_fini(&r.mixing);
  weir_free(&r.next);
  weir_free(&r.electrons);
  weir_free(&r.coherent);
  qt_system_fini(&r.shifted);
  if (status != WEIR_OK) {
    qt_bias_fini(out);
  }
  return status;
}
