/* study.c - see study.h. */
#include "study.h"

#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "device/weir_parallel.h"
#include "model/rgf/rgf.h"
#include "model/system_check.h"

#define USUAL "chain"

static const qt_device *device_of(const weir_one_of *kind)
{
  return qt_device_find(kind->name != NULL ? kind->name : USUAL);
}

const qt_device *qt_study_device(const qt_cfg *cfg)
{
  return device_of(&cfg->device);
}

weir_status qt_study_options(const weir_one_of *kind, void **defaults, const void **out)
{
  const qt_device *device = device_of(kind);

  if (kind->opts == NULL && device->opts_size > 0) {
    WEIR_TRY(weir_alloc(1, device->opts_size, defaults));
    weir_opts_default(device->opts, device->opts_size, *defaults);
  }
  *out = kind->opts != NULL ? kind->opts : *defaults;
  return WEIR_OK;
}

weir_status qt_study_build(const qt_cfg *cfg, const weir_one_of *kind, qt_system *out)
{
  const void *opts = NULL;
  void *defaults = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(qt_study_options(kind, &defaults, &opts));
  WEIR_TRY_GOTO(device_of(kind)->build(opts, (uint64_t)cfg->seed, out), done);
  status = qt_system_check(out, cfg->tolerance);
done:
  weir_free(&defaults);
  return status;
}

weir_status qt_study_check_size(const qt_cfg *cfg)
{
  const qt_device *device = qt_study_device(cfg);
  const double mib = 1 << 20, matrices = 3; /* at least: self-energies of both leads, G */
  const void *opts = NULL;
  void *defaults = NULL;

  if (device->rows == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(qt_study_options(&cfg->device, &defaults, &opts));
  const int64_t rows = device->rows(opts);
  const double min_mib = matrices * (double)sizeof(weir_c128) * (double)rows * (double)rows / mib;

  weir_free(&defaults);
  if (rows > QT_LAYOUT_MAX_ROWS) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "device.%s.{%s}: a cross-section of %lld orbitals, at most %d are possible: "
                     "give a smaller one",
                     device->name, device->row_keys, (long long)rows, QT_LAYOUT_MAX_ROWS);
  }
  if (cfg->memory.budget > 0 && min_mib > cfg->memory.budget) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "memory.budget: %g MiB do not hold three matrices of a cross-section of %lld "
                     "orbitals, %.4g MiB: give more, or a smaller cross-section (device.%s.{%s})",
                     cfg->memory.budget, (long long)rows, min_mib, device->name, device->row_keys);
  }
  return WEIR_OK;
}

weir_status qt_study_check_memory(double need)
{
  const double have = (double)weir_cpu_get()->constants.memory_bytes, mib = 1 << 20;

  if (have > 0 && need > have) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "memory.budget: %.4g MiB are predicted, this machine has %.4g MiB: set "
                     "memory.budget below that, so that fewer points are computed at once (not "
                     "with scattering), or give a smaller device, fewer energies or wave vectors",
                     need / mib, have / mib);
  }
  return WEIR_OK;
}

/* A uniform grid about 0, so that -k is in it with every k. */
static weir_status make_k(qt_study *s)
{
  const int64_t ny = s->cfg->k.ny, nz = s->cfg->k.nz;
  const bool *periodic = s->system.periodic;

  if ((ny > 1 && !periodic[1]) || (nz > 1 && !periodic[2])) {
    return weir_fail(
        WEIR_ERR_CONFIG, "k.%s is %lld, but the device is not periodic along %c: give 1",
        ny > 1 && !periodic[1] ? "ny" : "nz", (long long)(ny > 1 && !periodic[1] ? ny : nz),
        ny > 1 && !periodic[1] ? 'y' : 'z');
  }
  for (int i = 1; i < 3; i++) {
    if (periodic[i] && (i == 1 ? ny : nz) == 1) {
      weir_warn("run", "the device is periodic along %c and k.n%c is 1: only k%c = 0 is computed",
                "xyz"[i], "xyz"[i], "xyz"[i]);
    }
  }
  s->n_k = ny * nz;
  WEIR_TRY(weir_alloc(s->n_k, sizeof *s->k, (void **)&s->k));
  WEIR_TRY(weir_alloc(s->n_k, sizeof *s->weight, (void **)&s->weight));
  for (int64_t i = 0; i < s->n_k; i++) {
    const int64_t y = i / nz, z = i % nz;

    s->k[i][0] = ((double)(2 * y - ny + 1)) / (double)(2 * ny);
    s->k[i][1] = ((double)(2 * z - nz + 1)) / (double)(2 * nz);
    s->weight[i] = 1 / (double)s->n_k;
  }
  return WEIR_OK;
}

static weir_status make_energies(qt_study *s)
{
  const qt_energy_opts *o = &s->cfg->energy;
  const double step = o->points > 1 ? (o->max - o->min) / (double)(o->points - 1) : 0;

  if (s->system.particle == QT_PHONONS && o->min <= 0) {
    return weir_fail(WEIR_ERR_CONFIG, "energy.min is %g eV: of phonons it is hbar omega, above 0",
                     o->min);
  }
  s->n_energies = o->points;
  WEIR_TRY(weir_alloc(o->points, sizeof *s->energy, (void **)&s->energy));
  for (int64_t i = 0; i < o->points; i++) {
    s->energy[i] = o->min + step * (double)i;
  }
  return WEIR_OK;
}

static weir_status check_particle(const qt_study *s)
{
  return s->cfg->electrostatics.enabled && s->system.particle == QT_PHONONS
             ? weir_fail(
                   WEIR_ERR_CONFIG,
                   "electrostatics.enabled is true, but device: %s gives phonons, which carry "
                   "no charge: set electrostatics.enabled=false, or give a device of "
                   "electrons",
                   qt_study_device(s->cfg)->name)
             : WEIR_OK;
}

weir_status qt_study_open(const qt_cfg *cfg, qt_study *out)
{
  const qt_contact_opts *c = &cfg->contact;
  const weir_real_list *list = &c->conductance_temperatures;
  qt_study *s = out;

  *s = (qt_study){.cfg = cfg};
  WEIR_TRY(qt_study_build(cfg, &cfg->device, &s->system));
  WEIR_TRY(check_particle(s));
  WEIR_TRY(make_k(s));
  WEIR_TRY(make_energies(s));
  const bool phonons = s->system.particle == QT_PHONONS;

  s->spin = qt_system_spin(&s->system);
  s->mu = c->mu;
  s->reservoir[QT_LEFT] = (qt_reservoir){c->mu + c->bias / 2, c->temperature};
  s->reservoir[QT_RIGHT] = (qt_reservoir){c->mu - c->bias / 2, c->temperature};
  if (phonons) {
    s->reservoir[QT_LEFT].temperature = c->temperature + c->difference / 2;
    s->reservoir[QT_RIGHT].temperature = c->temperature - c->difference / 2;
    WEIR_TRY(weir_alloc(list->count, sizeof *s->heat, (void **)&s->heat));
  }
  if (s->reservoir[QT_RIGHT].temperature < 0 || s->reservoir[QT_LEFT].temperature < 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "contact.difference %g K is more than twice contact.temperature %g K",
                     c->difference, c->temperature);
  }
  return WEIR_OK;
}

static bool sums_spins(const qt_study *s)
{
  return s->system.particle == QT_ELECTRONS && !s->system.has_spin;
}

const char *qt_study_per_spin(const qt_study *s)
{
  return sums_spins(s) ? " per spin" : "";
}

const char *qt_study_both_spins(const qt_study *s)
{
  return !sums_spins(s) ? "" : s->system.one_spin ? ", one spin" : ", both spins";
}

const char *qt_study_per_cell(const qt_study *s)
{
  static const char *const text[2][2] = {{"", ", per cell along z"},
                                         {", per cell along y", ", per cell along y and z"}};

  return text[s->system.periodic[1]][s->system.periodic[2]];
}

void qt_study_fini(qt_study *s)
{
  qt_transport_fini(&s->transport);
  qt_system_fini(&s->system);
  weir_free(&s->k);
  weir_free(&s->weight);
  weir_free(&s->energy);
  weir_free(&s->transmission);
  weir_free(&s->modes);
  weir_free(&s->dos);
  weir_free(&s->ldos);
  weir_free(&s->heat);
}
