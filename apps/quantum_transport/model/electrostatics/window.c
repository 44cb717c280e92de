/* window.c - see density.h: energies at which the leads differ, by Simpson's rule on intervals that
 * are halved where the transmission, or the states that both leads fill, need it. All ranks compute
 * spectra; rank 0 has them, and says where more are needed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "model/electrostatics/density.h"
#include "model/ranks.h"
#include "model/units.h"

/* Spectra at one energy, means over wave vectors: states [2, n] per spin that a lead fills. */
typedef struct sample {
  double energy, transmission, used; /* used: sum over orbitals of what limits accuracy */
  int64_t intervals;                 /* that are not done and have it */
  double *states;                    /* NULL where there are none */
} sample;

/* Number of its first, middle and last sample. */
typedef struct interval {
  int64_t at[3];
} interval;

typedef struct window {
  const qt_system *s;
  const qt_density_spec *spec;
  sample *sample;
  int64_t n_samples, samples_capacity, computed;
  interval *interval; /* those that are not done */
  int64_t n_intervals, intervals_capacity;
  struct {
    double *injected[QT_LEADS]; /* [n] */
    double current, total[2];   /* total: as of `integrate` */
  } done;
  double *injected[QT_LEADS]; /* [n] of all intervals */
  double current;
} window;

/* f_L - f_R, without the loss of digits where both are nearly 1. */
static double difference(const window *w, double energy)
{
  const qt_reservoir *r = w->spec->reservoir;
  double f[QT_LEADS], holes[QT_LEADS];

  for (int c = 0; c < QT_LEADS; c++) {
    f[c] = qt_fermi(energy, r[c].mu, r[c].temperature);
    holes[c] = qt_fermi(2 * r[c].mu - energy, r[c].mu, r[c].temperature);
  }
  return f[QT_LEFT] < 0.5 ? f[QT_LEFT] - f[QT_RIGHT] : holes[QT_RIGHT] - holes[QT_LEFT];
}

static weir_status new_sample(window *w, double energy, int64_t *number)
{
  WEIR_TRY(weir_reserve(&w->sample, &w->samples_capacity, w->n_samples + 1, sizeof *w->sample));
  *number = w->n_samples++;
  w->sample[*number] = (sample){.energy = energy};
  return weir_alloc(QT_LEADS * w->s->n, sizeof *w->sample->states,
                    (void **)&w->sample[*number].states);
}

/* An interval between two samples, with a new one in the middle. */
static weir_status new_interval(window *w, int64_t first, int64_t last)
{
  const double middle = (w->sample[first].energy + w->sample[last].energy) / 2;
  interval i = {.at = {first, 0, last}};

  WEIR_TRY(new_sample(w, middle, &i.at[1]));
  WEIR_TRY(
      weir_reserve(&w->interval, &w->intervals_capacity, w->n_intervals + 1, sizeof *w->interval));
  w->interval[w->n_intervals++] = i;
  for (int p = 0; p < 3; p++) {
    w->sample[i.at[p]].intervals++;
  }
  return WEIR_OK;
}

/* Samples whose spectra are computed at once; of a big device as many as points at once of
 * qt_transport_create. */
static int64_t samples_at_once(const qt_system *s, const qt_density_spec *spec)
{
  const int64_t of_thread = 4;
  const double left = qt_density_left(spec), mib = 1 << 20;
  const double small = left > 0 ? fmin(mib, left / 8) : mib; /* results that do not matter */
  const int64_t threads = spec->threads > 0 ? spec->threads : weir_threads_get();
  const double fit = small / ((double)(3 * s->n * spec->n_k) * sizeof(double));
  const int64_t min_points = of_thread * threads * qt_ranks_size(spec->comm);

  return fit > (double)min_points ? (int64_t)fmin(fit, 1e6) : min_points;
}

static qt_transport_spec spec_of(const qt_density_spec *spec, int64_t count)
{
  return (qt_transport_spec){.lead = spec->lead,
                             .n_k = spec->n_k,
                             .k = spec->k,
                             .n_energies = count,
                             .lead_dos = true,
                             .shift = spec->shift,
                             .threads = spec->threads,
                             .comm = spec->comm,
                             .memory = qt_density_left(spec),
                             .quiet = true};
}

/* Means over wave vectors, on rank 0. */
static void take(window *w, const qt_transport *got)
{
  const qt_density_spec *spec = w->spec;
  const int64_t n = w->s->n, count = got->n_energies;

  for (int64_t k = 0; k < spec->n_k; k++) {
    for (int64_t e = 0; e < count; e++) {
      sample *s = &w->sample[w->computed + e];
      const int64_t item = k * count + e;

      s->transmission += spec->weight[k] * got->transmission[item];
      for (int c = 0; c < QT_LEADS; c++) {
        for (int64_t i = 0; i < n; i++) {
          s->states[c * n + i] += spec->weight[k] * got->lead_dos[c][item * n + i];
        }
      }
    }
  }
  w->computed += count;
}

/* Spectra of the next samples that have none; *left false: all have. Collective. */
static weir_status compute(window *w, bool *left)
{
  weir_comm *comm = w->spec->comm;
  int64_t count = w->n_samples - w->computed, max_points = samples_at_once(w->s, w->spec);
  qt_transport got = {.n = 0};
  double *energy = NULL;
  weir_status status = WEIR_OK;

  count = count < max_points ? count : max_points;
  WEIR_TRY(qt_ranks_broadcast(comm, "energies", &count, sizeof count));
  *left = count > 0;
  if (!*left) {
    return WEIR_OK;
  }
  status = weir_alloc(count, sizeof *energy, (void **)&energy);
  WEIR_TRY_GOTO(qt_ranks_agree(comm, status), done);
  for (int64_t i = 0; i < count && qt_ranks_rank(comm) == 0; i++) {
    energy[i] = w->sample[w->computed + i].energy;
  }
  WEIR_TRY_GOTO(qt_ranks_broadcast(comm, "energies", energy, count * (int64_t)sizeof *energy),
                done);
  qt_transport_spec spec = spec_of(w->spec, count);

  spec.energy = energy;
  WEIR_TRY_GOTO(qt_transport_create(w->s, &spec, &got), done);
  if (qt_ranks_rank(comm) == 0) {
    take(w, &got);
  }
done:
  weir_free(&energy);
  qt_transport_fini(&got);
  return status;
}

/* What is integrated: of an interval Simpson's and the trapezoidal rule. */
static void integrate(const window *w, const interval *i, bool charge, double *simpson,
                      double *trapezoid)
{
  double y[3];

  for (int p = 0; p < 3; p++) {
    const sample *s = &w->sample[i->at[p]];

    y[p] = fabs(difference(w, s->energy)) * (charge ? s->used : s->transmission);
  }
  const double width = w->sample[i->at[2]].energy - w->sample[i->at[0]].energy;

  *simpson = width / 6 * (y[0] + 4 * y[1] + y[2]);
  *trapezoid = width / 4 * (y[0] + 2 * y[1] + y[2]);
}

/* Adds what leads inject, and the current, of an interval. */
static void add(const window *w, const interval *at, double *const injected[QT_LEADS],
                double *current)
{
  const double rule[3] = {1.0 / 6, 4.0 / 6, 1.0 / 6};
  const double width = w->sample[at->at[2]].energy - w->sample[at->at[0]].energy;
  const int64_t n = w->s->n;

  for (int p = 0; p < 3; p++) {
    const sample *s = &w->sample[at->at[p]];
    const double by = rule[p] * width * w->spec->spin * difference(w, s->energy);

    *current += QT_CONDUCTANCE * by * s->transmission;
    for (int64_t o = 0; o < n; o++) {
      injected[QT_LEFT][o] += by * s->states[QT_LEFT * n + o];
      injected[QT_RIGHT][o] += by * s->states[QT_RIGHT * n + o];
    }
  }
}

/* Of all intervals. */
static void sum(window *w)
{
  for (int c = 0; c < QT_LEADS; c++) {
    memcpy(w->injected[c], w->done.injected[c], (size_t)w->s->n * sizeof *w->injected[c]);
  }
  w->current = w->done.current;
  for (int64_t i = 0; i < w->n_intervals; i++) {
    add(w, &w->interval[i], w->injected, &w->current);
  }
}

/* States of each sample by whose error the electrons err: of an orbital that the left lead fills
 * those of the right, and the other way round. */
static void weigh(window *w)
{
  const int64_t n = w->s->n;

  sum(w);
  for (int64_t i = 0; i < w->n_samples; i++) {
    sample *s = &w->sample[i];

    if (s->states == NULL) {
      continue;
    }
    s->used = 0;
    for (int64_t o = 0; o < n; o++) {
      const double share = qt_density_share(w->injected[QT_LEFT][o], w->injected[QT_RIGHT][o]);

      s->used += share * fabs(s->states[QT_RIGHT * n + o]) +
                 (1 - share) * fabs(s->states[QT_LEFT * n + o]);
    }
  }
}

/* An interval is done: its sums stay, its samples go where no other has them. */
static void settle(window *w, const interval *at)
{
  double trapezoid, simpson;

  add(w, at, w->done.injected, &w->done.current);
  for (int what = 0; what < 2; what++) {
    integrate(w, at, what, &simpson, &trapezoid);
    w->done.total[what] += simpson;
  }
  for (int p = 0; p < 3; p++) {
    sample *s = &w->sample[at->at[p]];

    if (--s->intervals == 0) {
      weir_free(&s->states);
    }
  }
}

static bool is_accurate(const window *w, const interval *at, const double total[2])
{
  const double min_width = 1e-9; /* eV */
  double simpson, trapezoid;

  if (w->sample[at->at[2]].energy - w->sample[at->at[0]].energy < min_width) {
    return true;
  }
  for (int what = 0; what < (w->spec->broadening > 0 ? 1 : 2); what++) {
    integrate(w, at, what, &simpson, &trapezoid);
    if (fabs(simpson - trapezoid) > w->spec->tolerance * total[what]) {
      return false;
    }
  }
  return true;
}

/* Both halves of an interval, the first in its place. */
static weir_status halve(window *w, int64_t number)
{
  const interval at = w->interval[number];
  int64_t middle;

  WEIR_TRY(new_sample(w, (w->sample[at.at[0]].energy + w->sample[at.at[1]].energy) / 2, &middle));
  w->interval[number] = (interval){{at.at[0], middle, at.at[1]}};
  w->sample[middle].intervals++;
  w->sample[at.at[2]].intervals--; /* the second half has it */
  return new_interval(w, at.at[1], at.at[2]);
}

/* Halves the intervals whose rules differ by more than the tolerance; the others are done. On rank
 * 0. */
static weir_status refine(window *w)
{
  const double min_charge = 1e-2; /* electrons */
  const int64_t count = w->n_intervals;
  double simpson, trapezoid, total[2] = {w->done.total[0], min_charge + w->done.total[1]};
  int64_t kept = 0;

  weigh(w);
  for (int64_t i = 0; i < count; i++) {
    for (int what = 0; what < 2; what++) {
      integrate(w, &w->interval[i], what, &simpson, &trapezoid);
      total[what] += simpson;
    }
  }
  for (int64_t i = 0; i < count; i++) {
    const interval at = w->interval[i];

    if (is_accurate(w, &at, total)) {
      settle(w, &at);
    } else {
      w->interval[kept++] = at;
    }
  }
  w->n_intervals = kept;
  for (int64_t i = 0; i < kept; i++) {
    WEIR_TRY(halve(w, i));
  }
  return WEIR_OK;
}

/* Intervals of at most `step` after the sample *last. */
static weir_status add_range(window *w, double to, double step, int64_t *last)
{
  const double from = w->sample[*last].energy;
  const int64_t count = (int64_t)ceil((to - from) / step - 1e-9);

  for (int64_t i = 1; i <= count; i++) {
    const int64_t first = *last;

    WEIR_TRY(new_sample(w, from + (to - from) * (double)i / (double)count, last));
    WEIR_TRY(new_interval(w, first, *last));
  }
  return WEIR_OK;
}

/* Energies with wide steps beyond `near` of the chemical potentials, and their widths. */
static const double near = 12, far = 36, narrow = 2, wide = 4; /* k_B T */

/* Steps of 2 k_B T near the chemical potentials, wider ones beyond: where a barrier keeps off what
 * is near, the current flows over it, however few electrons are there. */
static weir_status begin(window *w)
{
  const qt_reservoir *r = w->spec->reservoir;
  const double kt = QT_BOLTZMANN * r[QT_LEFT].temperature;
  const double mu[2] = {fmin(r[0].mu, r[1].mu), fmax(r[0].mu, r[1].mu)};
  const double *gap = w->spec->gap;
  double lo = mu[0] - far * kt, hi = mu[1] + far * kt;
  int64_t last = 0;

  for (int c = 0; c < QT_LEADS; c++) {
    WEIR_TRY(weir_alloc(w->s->n, sizeof(double), (void **)&w->done.injected[c]));
  }
  lo = lo > gap[0] && lo < gap[1] ? gap[1] : lo; /* leads without states there carry nothing */
  hi = hi > gap[0] && hi < gap[1] ? gap[0] : hi;
  if (!(lo < hi)) {
    return WEIR_OK;
  }
  WEIR_TRY(new_sample(w, lo, &last));
  WEIR_TRY(add_range(w, fmin(hi, fmax(lo, mu[0] - near * kt)), wide * kt, &last));
  WEIR_TRY(add_range(w, fmin(hi, fmax(lo, mu[1] + near * kt)), narrow * kt, &last));
  return add_range(w, hi, wide * kt, &last);
}

/* Samples of `begin`, where one chemical potential lies so far in a band as by doping. */
static double first_samples(const qt_density_spec *spec)
{
  const double in_band = 4; /* k_B T */
  const qt_reservoir *r = spec->reservoir;
  const double kt = QT_BOLTZMANN * r[QT_LEFT].temperature;
  const double bias = fabs(r[QT_LEFT].mu - r[QT_RIGHT].mu) / kt;

  return 1 + 2 * (ceil((far - near) / wide) + ceil((near + bias + in_band) / narrow));
}

weir_status qt_density_window_bytes(const qt_system *s, const qt_density_spec *spec, double *bytes)
{
  const bool leads = qt_ranks_rank(spec->comm) == 0;
  const double of_sample = (double)(QT_LEADS * s->n) * sizeof(double) + sizeof(sample);
  const double samples = leads ? (first_samples(spec) + QT_LEADS) * of_sample : 0;
  qt_transport_spec t = spec_of(spec, samples_at_once(s, spec));
  qt_transport_size size;

  t.memory = t.memory > 0 ? fmax(1, t.memory - samples) : 0;
  WEIR_TRY(qt_transport_size_of(s, &t, &size));
  *bytes = size.peak + samples;
  return WEIR_OK;
}

/* All ranks have what rank 0 has found. Collective. */
static weir_status tell_all(window *w, int64_t *n_energies)
{
  weir_comm *comm = w->spec->comm;
  const int64_t bytes = w->s->n * (int64_t)sizeof(double);

  *n_energies = w->n_samples * w->spec->n_k;
  for (int c = 0; c < QT_LEADS; c++) {
    WEIR_TRY(qt_ranks_broadcast(comm, "injected electrons", w->injected[c], bytes));
  }
  WEIR_TRY(qt_ranks_broadcast(comm, "current", &w->current, sizeof w->current));
  return qt_ranks_broadcast(comm, "energies", n_energies, sizeof *n_energies);
}

weir_status qt_density_window(const qt_system *s, const qt_density_spec *spec,
                              double *const injected[QT_LEADS], double *current,
                              int64_t *n_energies)
{
  window w = {.s = s, .spec = spec, .injected = {injected[QT_LEFT], injected[QT_RIGHT]}};
  const bool leads = qt_ranks_rank(spec->comm) == 0;
  bool left = true;
  weir_status status = leads ? begin(&w) : WEIR_OK;

  WEIR_TRY_GOTO(qt_ranks_agree(spec->comm, status), done);
  while (left) {
    WEIR_TRY_GOTO(compute(&w, &left), done);
    status = leads && left && w.computed == w.n_samples ? refine(&w) : WEIR_OK;
    WEIR_TRY_GOTO(qt_ranks_agree(spec->comm, status), done);
  }
  if (leads) {
    sum(&w);
  }
  WEIR_TRY_GOTO(tell_all(&w, n_energies), done);
  *current = w.current;
done:
  for (int64_t i = 0; i < w.n_samples; i++) {
    weir_free(&w.sample[i].states);
  }
  weir_free(&w.sample);
  weir_free(&w.interval);
  weir_free(&w.done.injected[QT_LEFT]);
  weir_free(&w.done.injected[QT_RIGHT]);
  return status;
}
