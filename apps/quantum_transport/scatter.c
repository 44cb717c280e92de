/* scatter.c - see scatter.h. */
#include "scatter.h"

#include <math.h>
#include <unistd.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "device/weir_parallel.h"
#include "model/ranks.h"
#include "train/weir_checkpoint.h"
#include "commands.h"

void qt_scatter_fini(qt_scatter *s)
{
  qt_system_fini(&s->phonons);
  qt_gradient_fini(&s->gradient);
  qt_born_fini(&s->born);
  qt_born_moving_destroy(&s->moving);
}

/* What scattering does not go together with. */
static weir_status check(const qt_study *study)
{
  const qt_cfg *cfg = study->cfg;

  if (study->system.particle == QT_PHONONS) {
    return weir_fail(WEIR_ERR_CONFIG, "scattering.kind: the device has phonons; give electrons as "
                                      "`device` and phonons as scattering.phonons.device");
  }
  if (cfg->scattering.phonons.device.name == NULL) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "scattering.phonons.device is empty: name the same device as phonons, such as "
                     "{harmonic_chain: {sites: 20}} for a chain");
  }
  if (study->system.one_spin && cfg->scattering.phonons.state == QT_PHONONS_COUPLED) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "scattering.phonons.state: coupled: the matrices are those of one of two "
                     "spins, and both heat the phonons: set it to bath");
  }
  if (study->system.s.count > 0) {
    weir_warn("scattering", "the basis has an overlap: terms with its derivatives are left out");
  }
  if (cfg->electrostatics.enabled && qt_ranks_size(study->comm) > 1) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "scattering.kind: born with electrostatics.enabled is computed by one rank: "
                     "start one, or switch one of them off");
  }
  if (cfg->electrostatics.enabled && study->system.s.count > 0) {
    return weir_fail(
        WEIR_ERR_UNSUPPORTED,
        "scattering.kind: born with electrostatics.enabled needs an orthonormal basis: "
        "switch one of them off");
  }
  if (cfg->electrostatics.enabled && cfg->scattering.poisson == QT_SCATTERING_ONCE &&
      cfg->scattering.method != QT_BORN_SIMPLE) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "scattering.method: only simple goes together with scattering.poisson: inside; "
        "set scattering.poisson=outside, or scattering.method=simple");
  }
  if (cfg->scattering.tiles.scheme == QT_SCHEME_POINTS &&
      cfg->scattering.precision != WEIR_PRODUCTS_F64) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "scattering.precision: only f64 goes together with "
                     "scattering.tiles.scheme: points; set scattering.tiles.scheme=tiles");
  }
  if (cfg->energy.tolerance > 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "energy.tolerance: phonons change energies by whole steps of equal width: set "
                     "it to 0 and give energy.points, or set scattering.kind=none");
  }
  if (cfg->memory.budget > 0) {
    return weir_fail(WEIR_ERR_CONFIG, "memory.budget: scattering does not keep to a budget; "
                                      "remove it, or set scattering.kind=none");
  }
  return WEIR_OK;
}

/* nabla H: the device's own, or by the exponent. */
static weir_status find_gradient(const qt_study *study, qt_gradient *out)
{
  const qt_device *device = qt_study_device(study->cfg);
  const void *opts = NULL;
  void *defaults = NULL;

  if (device->gradient == NULL) {
    WEIR_TRY(qt_gradient_create(&study->system, 0, out));
    qt_gradient_scale(&study->system, study->cfg->scattering.gradient.exponent, out);
    return WEIR_OK;
  }
  WEIR_TRY(qt_study_options(&study->cfg->device, &defaults, &opts));
  const weir_status status = device->gradient(opts, &study->system, out);

  weir_free(&defaults);
  return status;
}

/* What moved among ranks. */
static void tell_ranks(const qt_born *b)
{
  if (b->tiles.ranks > 1) {
    weir_event("scattering_ranks", WEIR_INT("atoms", b->tiles.atoms),
               WEIR_INT("energies", b->tiles.energies), WEIR_REAL("sent_bytes", b->sent_bytes),
               WEIR_REAL("region_bytes", qt_volume_total(&b->volume)),
               WEIR_REAL("G_bytes", b->volume.bytes[QT_TENSOR_GREEN]),
               WEIR_REAL("Sigma_bytes", b->volume.bytes[QT_TENSOR_SIGMA]),
               WEIR_REAL("D_bytes", b->volume.bytes[QT_TENSOR_PHONONS]),
               WEIR_REAL("Pi_bytes", b->volume.bytes[QT_TENSOR_PI]));
    weir_info(
        "scattering",
        "%d ranks, self-energies in %d ranges of atoms x %d of energies%s: %.6g MB sent in an "
        "iteration",
        b->tiles.ranks, b->tiles.atoms, b->tiles.energies,
        b->tiles.by_frequency ? " by frequency" : "", 1e-6 * b->sent_bytes);
  }
}

static void tell(const qt_study *study, const qt_scatter *s)
{
  const int64_t frequencies = study->cfg->scattering.phonons.frequencies;
  const qt_born *b = &s->born;
  const qt_born_step *last = &b->step[b->n_steps - 1];

  weir_event("scattering", WEIR_INT("iterations", b->n_steps - 1),
             WEIR_REAL("change", last->change), WEIR_REAL("current_A", last->current[QT_LEFT]),
             WEIR_REAL("coherent_current_A", b->step[0].current[QT_LEFT]),
             WEIR_REAL("power_W", last->energy[QT_LEFT] + last->energy[QT_RIGHT]),
             WEIR_REAL("current_error", last->current_error),
             WEIR_REAL("energy_error", last->energy_error),
             WEIR_REAL("identity_error", last->identity_error), WEIR_REAL("seconds", s->seconds));
  weir_event("scattering_phases", WEIR_REAL("leads_s", b->seconds[QT_BORN_LEADS]),
             WEIR_REAL("electrons_s", b->seconds[QT_BORN_ELECTRONS]),
             WEIR_REAL("phonons_s", b->seconds[QT_BORN_PHONONS]),
             WEIR_REAL("self_energies_s", b->seconds[QT_BORN_SELF_ENERGIES]),
             WEIR_REAL("exchange_s", b->seconds[QT_BORN_EXCHANGE]),
             WEIR_REAL("iterations_s", b->seconds[QT_BORN_STEPS]),
             WEIR_REAL("electrons_gflop", 1e-9 * s->size.electron_flops),
             WEIR_REAL("phonons_gflop", 1e-9 * s->size.phonon_flops),
             WEIR_REAL("self_energies_gflop", 1e-9 * s->size.self_energy.flops),
             WEIR_REAL("self_energies_GB", 1e-9 * s->size.self_energy.traffic),
             WEIR_INT("atoms_at_once", s->size.self_energy.n_atoms));
  tell_ranks(b);
  if (b->truncated) {
    weir_warn(
        "scattering",
        "scattering.phonons.frequencies: phonons of the leads reach beyond the last of %lld "
        "frequencies, %g eV, and do not scatter there: raise it (highest phonon energy / step "
        "of energy, rounded up)",
        (long long)frequencies, (double)frequencies * (study->energy[1] - study->energy[0]));
  }
  if (b->n_shifted > 0) {
    weir_warn("scattering",
              "leads of %lld points could not be solved at their energies, as on a band edge, and "
              "were at energies energy.shift above: currents are not conserved there",
              (long long)b->n_shifted);
  }
}

static qt_born_spec spec_of(const qt_study *study, const qt_scatter *s, int threads)
{
  return (qt_born_spec){.electrons = &study->system,
                        .phonons = &s->phonons,
                        .gradient = &s->gradient,
                        .opts = &study->cfg->scattering,
                        .lead = &study->cfg->lead,
                        .n_k = study->n_k,
                        .k = (const double(*)[2])study->k,
                        .n_energies = study->n_energies,
                        .energy = study->energy,
                        .reservoir = study->reservoir,
                        .shift = study->cfg->energy.shift,
                        .petsc = &study->cfg->petsc,
                        .threads = threads,
                        .exec = &study->cfg->exec,
                        .clock = s->clock,
                        .comm = study->comm};
}

weir_status qt_scatter_open(const qt_study *study, int threads, qt_scatter *out)
{
  const qt_cfg *cfg = study->cfg;

  *out = (qt_scatter){.seconds = 0};
  WEIR_TRY(check(study));
  WEIR_TRY(qt_born_start(&cfg->scattering, &cfg->petsc));
  WEIR_TRY(qt_study_build(cfg, &cfg->scattering.phonons.device, &out->phonons));
  WEIR_TRY(find_gradient(study, &out->gradient));
  const qt_born_spec spec = spec_of(study, out, threads);

  return qt_born_size_of(&spec, &out->size);
}

void qt_scatter_warn_memory(const qt_study *study, const qt_scatter *s, double predicted)
{
  const qt_scattering_opts *o = &study->cfg->scattering;
  const double have = (double)weir_cpu_get()->constants.memory_bytes;
  const double kept = s->size.saved_bytes * (double)o->max_iterations;

  if (have > 0 && predicted <= have && predicted + kept > have) {
    weir_warn("scattering",
              "scattering.method: %.4g GB are predicted and %.4g GB more for each iteration, to "
              "resume it; this machine has %.4g GB, which %.0f iterations fill: lower "
              "scattering.max_iterations (%lld), start more ranks, or set scattering.method=simple",
              1e-9 * predicted, 1e-9 * s->size.saved_bytes, 1e-9 * have,
              floor((have - predicted) / s->size.saved_bytes), (long long)o->max_iterations);
  }
}

/* ---- In potentials of bias points ---- */

static void begin(void *context)
{
  qt_born_moving_begin(((qt_scatter *)context)->moving);
}

static weir_status count_in_each(void *context, const qt_system *shifted,
                                 const qt_reservoir *reservoir, double reference, double *electrons,
                                 bool *settled)
{
  return qt_born_moving_count(((qt_scatter *)context)->moving, shifted, reservoir, reference, false,
                              electrons, settled);
}

static weir_status count_once(void *context, const qt_system *shifted,
                              const qt_reservoir *reservoir, double reference, double *electrons,
                              bool *settled)
{
  return qt_born_moving_count(((qt_scatter *)context)->moving, shifted, reservoir, reference, true,
                              electrons, settled);
}

static weir_status finish(void *context, qt_scattered *out)
{
  const qt_born *b = NULL;

  WEIR_TRY(qt_born_moving_finish(((qt_scatter *)context)->moving, &b));
  const qt_born_step *last = &b->step[b->n_steps - 1];

  *out = (qt_scattered){.current = last->current[QT_LEFT],
                        .power = last->energy[QT_LEFT] + last->energy[QT_RIGHT],
                        .temperature = NAN,
                        .iterations = b->n_steps - 1};
  for (int64_t a = 0; a < b->n_atoms; a++) {
    out->temperature = fmax(out->temperature, b->temperature[a]); /* of numbers */
  }
  return WEIR_OK;
}

weir_status qt_scatter_begin_sweep(const qt_study *study, int threads, qt_scatter *s)
{
  const qt_born_spec spec = spec_of(study, s, threads);
  const bool once = study->cfg->scattering.poisson == QT_SCATTERING_ONCE;

  s->counting = (qt_scf_scattering){
      .begin = begin, .count = once ? count_once : count_in_each, .finish = finish, .context = s};
  return qt_born_moving_create(&spec, &s->moving);
}

void qt_scatter_end_sweep(qt_scatter *s)
{
  qt_born_moving_destroy(&s->moving);
}

static const char folder[] = "scattering"; /* of checkpoints, in that of the run */

weir_status qt_scatter_solve(const qt_study *study, int threads, qt_scatter *s)
{
  qt_born_spec spec = spec_of(study, s, threads);
  qt_born_save save = {.dir = NULL};
  const double began = weir_clock();
  char dir[QT_PATH];

  if (study->save != NULL) {
    WEIR_TRY(weir_path_join(study->save->dir, folder, dir, sizeof dir));
    save = (qt_born_save){.dir = dir,
                          .interval = study->save->interval,
                          .iterations = study->cfg->checkpoint.iterations,
                          .keep = study->save->keep,
                          .format = study->save->format,
                          .resume = study->save->resume};
    spec.save = &save;
  }
  WEIR_TRY(qt_born_create(&spec, &s->born));
  s->seconds = weir_clock() - began;
  tell(study, s);
  return WEIR_OK;
}

weir_status qt_scatter_clear(const char *dir)
{
  char path[QT_PATH];

  WEIR_TRY(weir_path_join(dir, folder, path, sizeof path));
  WEIR_TRY(weir_checkpoint_prune(path, 0));
  (void)rmdir(path); /* there is none, or it holds files of others */
  return WEIR_OK;
}
