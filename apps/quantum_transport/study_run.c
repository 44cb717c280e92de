/* study_run.c - see study_run.h. */
#include "study_run.h"

#include <math.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_log.h"
#include "refine.h"

/* Means over k, and the densities of atoms. */
static weir_status average(qt_study *s)
{
  const qt_transport *t = &s->transport;
  const int64_t n_e = s->n_energies, n = s->system.n, n_a = s->system.n_atoms;
  double *orbital = NULL;

  WEIR_TRY(weir_alloc(n_e, sizeof *s->transmission, (void **)&s->transmission));
  WEIR_TRY(weir_alloc(n_e, sizeof *s->modes, (void **)&s->modes));
  qt_transport_average(s->n_k, s->weight, n_e, t->transmission, s->transmission);
  for (int64_t i = 0; i < s->n_k * n_e; i++) {
    s->modes[i % n_e] += s->weight[i / n_e] * (double)t->n_modes[QT_LEFT][i];
  }
  if (t->dos == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(n_e, sizeof *s->dos, (void **)&s->dos));
  WEIR_TRY(weir_alloc(n_e * n_a, sizeof *s->ldos, (void **)&s->ldos));
  WEIR_TRY(weir_alloc(n_e * n, sizeof *orbital, (void **)&orbital));
  qt_transport_average(s->n_k, s->weight, n_e * n, t->dos, orbital);
  for (int64_t i = 0; i < n_e; i++) {
    for (int64_t a = 0; a < n_a; a++) {
      const qt_atom *atom = &s->system.atom[a];

      for (int64_t o = atom->first; o < atom->first + atom->n_orbitals; o++) {
        s->ldos[i * n_a + a] += orbital[i * n + o];
        s->dos[i] += orbital[i * n + o];
      }
    }
  }
  weir_free(&orbital);
  return WEIR_OK;
}

/* The largest interval with energies of a window in which the transmission is a straight line; of
 * phonons that from 0, too. */
static double widest_step(const qt_study *s, const qt_window *w)
{
  double widest = s->system.particle == QT_PHONONS ? s->energy[0] : 0;

  for (int64_t i = 1; i < s->n_energies; i++) {
    if (s->energy[i] > w->low && s->energy[i - 1] < w->high) {
      widest = fmax(widest, s->energy[i] - s->energy[i - 1]);
    }
  }
  return widest;
}

/* Whether an integral over a window sees enough of the transmission to be given: a grid with fewer
 * than ten steps in it is no estimate, unless halved steps were seen to change nothing. At 0 K
 * occupations are steps. */
static bool resolves(const qt_study *s, const qt_window *w)
{
  return w->kt == 0 || s->is_refined || widest_step(s, w) <= (w->high - w->low) / 10;
}

/* Says what an integral over the energies lacks. Phonons below the first energy are counted, those
 * above the last are missed where the transmission ends before it. */
static void warn_of_grid(const qt_study *s, qt_window w)
{
  const bool phonons = s->system.particle == QT_PHONONS;
  const double transmits = 1e-6; /* what decimation gives outside of bands is less */
  const int64_t last = s->n_energies - 1;
  const double *e = s->energy;
  const bool above = w.high > e[last] && (!phonons || s->transmission[last] > transmits);

  if ((w.low < e[0] && !phonons) || above) {
    weir_warn(
        "run",
        "energy.min, energy.max: [%g, %g] eV do not hold the window of the leads, [%g, %g] "
        "eV: currents and conductances lack what is outside: extend them, unless the leads have "
        "no bands there",
        e[0], e[last], w.low, w.high);
  }
  if (w.kt > 0 && widest_step(s, &w) > w.kt && !s->is_refined) {
    weir_warn("run",
              "energy.points: energies lie %g eV apart, more than k_B T of %g eV: currents and "
              "conductances are not resolved, and not given where their window has fewer than ten "
              "steps: give at least %.0f energies%s",
              widest_step(s, &w), w.kt, ceil((e[last] - e[0]) / w.kt) + 1,
              phonons && e[0] > w.kt ? " and a lower energy.min" : "");
  }
}

static bool is_known(const qt_study *s, const qt_window *w)
{
  return qt_window_is_met(w, s->n_energies, s->energy) && resolves(s, w);
}

static double or_none(bool known, double value)
{
  return known ? value : NAN;
}

static void integrate_phonons(qt_study *s)
{
  const weir_real_list *list = &s->cfg->contact.conductance_temperatures;
  const int64_t n = s->n_energies;
  const double *e = s->energy, *t = s->transmission;
  qt_window w = qt_phonon_window(s->reservoir);

  s->energy_current = or_none(is_known(s, &w), qt_phonon_current(n, e, t, s->reservoir));
  for (int64_t i = 0; i < list->count; i++) {
    const double kelvin = list->items[i];
    const qt_window one = qt_phonon_window((const qt_reservoir[]){{0, kelvin}, {0, kelvin}});

    s->heat[i] =
        (qt_study_heat){kelvin, or_none(is_known(s, &one), qt_phonon_conductance(n, e, t, kelvin))};
    w.high = fmax(w.high, one.high);
    w.kt = fmin(w.kt, one.kt);
  }
  warn_of_grid(s, w);
}

/* Currents and conductances; NaN where no energies are in the window, or too few. */
static void integrate(qt_study *s)
{
  const qt_contact_opts *c = &s->cfg->contact;
  const int64_t n = s->n_energies;
  const double *e = s->energy, *t = s->transmission;
  const qt_reservoir middle = {s->mu, c->temperature};
  const qt_window w = qt_electron_window(s->reservoir);
  const qt_window linear = qt_electron_window((const qt_reservoir[]){middle, middle});

  if (s->system.particle == QT_PHONONS) {
    integrate_phonons(s);
    return;
  }
  const bool known = is_known(s, &w);

  s->current = or_none(known, qt_electron_current(n, e, t, s->reservoir, s->spin));
  s->energy_current = or_none(known, qt_electron_energy_current(n, e, t, s->reservoir, s->spin));
  s->conductance = or_none(is_known(s, &linear),
                           qt_electron_conductance(n, e, t, s->mu, c->temperature, s->spin));
  warn_of_grid(s, w);
}

/* Held when the spectra begin. */
static double allocated_bytes(const qt_study *s)
{
  return (double)weir_alloc_bytes() + s->reserved;
}

static qt_transport_spec spec_of(const qt_study *s, int threads)
{
  const double mib = 1 << 20, budget = s->cfg->memory.budget * mib;

  return (qt_transport_spec){.method = s->cfg->transport.method,
                             .channels = s->cfg->output.channels,
                             .petsc = &s->cfg->petsc,
                             .lead = s->cfg->lead,
                             .n_k = s->n_k,
                             .k = s->k,
                             .n_energies = s->n_energies,
                             .energy = s->energy,
                             .dos = s->cfg->output.dos,
                             .lead_dos = s->cfg->output.dos,
                             .bond_currents = s->cfg->output.bond_currents,
                             .shift = s->cfg->energy.shift,
                             .threads = threads,
                             .exec = &s->cfg->exec,
                             .slabs = s->cfg->parallel.slabs,
                             .slab_error = s->cfg->parallel.slab_error,
                             .ranks_per_point = s->cfg->parallel.ranks_per_point,
                             .comm = s->comm,
                             .factor_bytes = s->factor_bytes,
                             .save = s->save,
                             .memory = budget > 0 ? fmax(budget - allocated_bytes(s), 1) : 0};
}

/* Held when the means are made of the results, and with the text of an energy when they are
 * written. */
static double means_bytes(const qt_study *s)
{
  const double n_e = (double)s->n_energies, n = (double)s->system.n, text = 112;
  const double of_energy = s->cfg->output.dos ? n + (double)s->system.n_atoms + 1 : 0;

  return n_e * (2 * sizeof(double) + fmax(text, sizeof(double) * of_energy));
}

weir_status qt_study_size(const qt_study *s, int threads, qt_transport_size *out)
{
  const qt_transport_spec spec = spec_of(s, threads);
  const double allocated = allocated_bytes(s), mib = 1 << 20;

  WEIR_TRY(qt_transport_size_of(&s->system, &spec, out));
  const double after = out->kept + means_bytes(s); /* factors are freed by then */

  if (spec.memory > 0 && after > spec.memory) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "memory.budget: %g MiB do not hold results and their means, %.4g MiB: give "
                     "that, or fewer energies or wave vectors, or switch output.dos or "
                     "output.bond_currents off",
                     s->cfg->memory.budget, (allocated + after) / mib);
  }
  /* A checkpoint is read into memory of its own. */
  const double loading = s->save != NULL && s->save->resume ? 2 * out->kept : 0;

  out->peak = allocated + fmax(fmax(out->peak, after), loading);
  return WEIR_OK;
}

/* Where the time of all threads and ranks went. */
static void tell_phases(const qt_study *s)
{
  const qt_transport *t = &s->transport;
  const double recursion = t->seconds[QT_PHASE_RECURSION], leads = t->seconds[QT_PHASE_LEADS];
  const double leads_rate = leads > 0 ? t->leads_flops / leads : NAN;

  if (s->cfg->transport.method == QT_TRANSPORT_QTBM) {
    weir_event("phases", WEIR_REAL("leads_s", leads), WEIR_REAL("leads_flops", t->leads_flops),
               WEIR_REAL("leads_flop_per_s", leads_rate), WEIR_REAL("sparse_systems_s", recursion),
               WEIR_REAL("assembly_s", t->seconds[QT_PHASE_ASSEMBLY]),
               WEIR_REAL("elapsed_s", s->seconds), WEIR_INT("threads", s->threads),
               WEIR_INT("ranks", s->comm != NULL ? weir_comm_size(s->comm) : 1));
    return;
  }
  weir_event("phases", WEIR_REAL("leads_s", leads), WEIR_REAL("leads_flops", t->leads_flops),
             WEIR_REAL("leads_flop_per_s", leads_rate), WEIR_REAL("recursion_s", recursion),
             WEIR_REAL("assembly_s", t->seconds[QT_PHASE_ASSEMBLY]),
             WEIR_REAL("recursion_flops", t->flops),
             WEIR_REAL("recursion_flop_per_s", recursion > 0 ? t->flops / recursion : NAN),
             WEIR_REAL("elapsed_s", s->seconds), WEIR_INT("threads", s->threads),
             WEIR_INT("ranks", s->comm != NULL ? weir_comm_size(s->comm) : 1));
}

weir_status qt_study_start(const qt_study *s)
{
  const qt_transport_spec spec = spec_of(s, 1);

  return qt_transport_start(&spec);
}

/* What rank 0 does alone: warnings, means, currents. */
static weir_status finish(qt_study *s)
{
  tell_phases(s);
  if (s->transport.n_shifted > 0) {
    weir_warn("run",
              "%lld of %lld points lie on a band edge or a localized (bound or surface) state: "
              "computed %g eV above (energy.shift)",
              (long long)s->transport.n_shifted, (long long)(s->n_k * s->n_energies),
              s->cfg->energy.shift);
  }
  if (s->transport.n_in_order > 0) {
    weir_warn(
        "run",
        "%lld points of this rank took one thread, rank after rank: one of their slabs "
        "(parallel.slabs, parallel.ranks_per_point), cut off from the others, or a surface of the "
        "leads has a state near that energy (parallel.slab_error)",
        (long long)s->transport.n_in_order);
  }
  WEIR_TRY(average(s));
  integrate(s);
  return WEIR_OK;
}

weir_status qt_study_run(qt_study *s, int threads)
{
  const qt_transport_spec spec = spec_of(s, threads);
  const double began = weir_clock();
  const bool leads = s->comm == NULL || weir_comm_rank(s->comm) == 0;
  qt_transport_size size = {.threads = 0};
  const weir_status status = leads ? qt_study_size(s, threads, &size) : WEIR_OK;

  WEIR_TRY(s->comm != NULL ? weir_comm_agree(s->comm, status) : status);
  s->predicted_bytes = size.peak;
  WEIR_TRY(qt_transport_create(&s->system, &spec, &s->transport));
  const qt_transport_spec more = spec_of(s, threads);

  WEIR_TRY(qt_refine(s, &more));
  s->seconds = weir_clock() - began;
  s->threads = size.threads;
  const weir_status done = leads ? finish(s) : WEIR_OK;

  return s->comm != NULL ? weir_comm_agree(s->comm, done) : done;
}
