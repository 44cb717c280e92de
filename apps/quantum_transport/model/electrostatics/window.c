/* window.c - see density.h: energies at which the leads differ, by Simpson's rule on intervals that
 * are halved where the transmission, or the states that both leads fill, need it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "model/electrostatics/density.h"
#include "model/units.h"

/* Spectra at one energy, means over wave vectors: states [2, n] per spin that a lead fills. */
typedef struct sample {
  double energy, transmission, used; /* used: sum over orbitals of what limits accuracy */
  double *states;
} sample;

/* Number of its first, middle and last sample. */
typedef struct interval {
  int64_t at[3];
  bool done;
} interval;

typedef struct window {
  const qt_system *s;
  const qt_density_spec *spec;
  sample *sample;
  int64_t n_samples, samples_capacity, computed;
  interval *interval;
  int64_t n_intervals, intervals_capacity;
  double *injected[QT_LEADS]; /* [n] so far */
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
  return WEIR_OK;
}

/* Spectra of all samples that have none. */
static weir_status compute(window *w)
{
  const qt_density_spec *spec = w->spec;
  const int64_t n = w->s->n, count = w->n_samples - w->computed;
  qt_transport_spec t = {.lead = spec->lead,
                         .n_k = spec->n_k,
                         .k = spec->k,
                         .n_energies = count,
                         .lead_dos = true,
                         .shift = spec->shift,
                         .threads = spec->threads,
                         .quiet = true};
  qt_transport got = {.n = 0};
  double *energy = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(count, sizeof *energy, (void **)&energy), done);
  for (int64_t i = 0; i < count; i++) {
    energy[i] = w->sample[w->computed + i].energy;
  }
  t.energy = energy;
  WEIR_TRY_GOTO(qt_transport_create(w->s, &t, &got), done);
  for (int64_t k = 0; k < spec->n_k; k++) {
    for (int64_t e = 0; e < count; e++) {
      sample *s = &w->sample[w->computed + e];
      const int64_t item = k * count + e;

      s->transmission += spec->weight[k] * got.transmission[item];
      for (int c = 0; c < QT_LEADS; c++) {
        for (int64_t i = 0; i < n; i++) {
          s->states[c * n + i] += spec->weight[k] * got.lead_dos[c][item * n + i];
        }
      }
    }
  }
  w->computed = w->n_samples;
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

/* What leads inject, and the current, of all intervals. */
static void sum(window *w, double *current)
{
  const double rule[3] = {1.0 / 6, 4.0 / 6, 1.0 / 6};
  const double spin = w->spec->spin;
  const int64_t n = w->s->n;

  *current = 0;
  memset(w->injected[QT_LEFT], 0, (size_t)n * sizeof *w->injected[0]);
  memset(w->injected[QT_RIGHT], 0, (size_t)n * sizeof *w->injected[0]);
  for (int64_t i = 0; i < w->n_intervals; i++) {
    const interval *at = &w->interval[i];
    const double width = w->sample[at->at[2]].energy - w->sample[at->at[0]].energy;

    for (int p = 0; p < 3; p++) {
      const sample *s = &w->sample[at->at[p]];
      const double by = rule[p] * width * spin * difference(w, s->energy);

      *current += QT_CONDUCTANCE * by * s->transmission;
      for (int64_t o = 0; o < n; o++) {
        w->injected[QT_LEFT][o] += by * s->states[QT_LEFT * n + o];
        w->injected[QT_RIGHT][o] += by * s->states[QT_RIGHT * n + o];
      }
    }
  }
}

/* States of each sample by whose error the electrons err: of an orbital that the left lead fills
 * those of the right, and the other way round. */
static void weigh(window *w)
{
  const int64_t n = w->s->n;
  double current;

  sum(w, &current);
  for (int64_t i = 0; i < w->n_samples; i++) {
    sample *s = &w->sample[i];

    s->used = 0;
    for (int64_t o = 0; o < n; o++) {
      const double share = qt_density_share(w->injected[QT_LEFT][o], w->injected[QT_RIGHT][o]);

      s->used += share * fabs(s->states[QT_RIGHT * n + o]) +
                 (1 - share) * fabs(s->states[QT_LEFT * n + o]);
    }
  }
}

/* Halves the intervals whose rules differ by more than the tolerance. */
static weir_status refine(window *w, bool *changed)
{
  const double least_width = 1e-9, least_charge = 1e-2; /* eV, electrons */
  const int64_t count = w->n_intervals;
  double total[2] = {0, least_charge}, simpson, trapezoid;

  *changed = false;
  weigh(w);
  for (int64_t i = 0; i < count; i++) {
    for (int what = 0; what < 2; what++) {
      integrate(w, &w->interval[i], what, &simpson, &trapezoid);
      total[what] += simpson;
    }
  }
  for (int64_t i = 0; i < count; i++) {
    const interval at = w->interval[i];
    bool enough = w->sample[at.at[2]].energy - w->sample[at.at[0]].energy < least_width;

    for (int what = 0; what < 2 && !at.done && !enough; what++) {
      integrate(w, &at, what, &simpson, &trapezoid);
      if (fabs(simpson - trapezoid) > w->spec->tolerance * total[what]) {
        WEIR_TRY(new_sample(w, (w->sample[at.at[0]].energy + w->sample[at.at[1]].energy) / 2,
                            &w->interval[i].at[1]));
        w->interval[i].at[2] = at.at[1];
        WEIR_TRY(new_interval(w, at.at[1], at.at[2]));
        *changed = true;
        break;
      }
    }
    w->interval[i].done = w->interval[i].at[2] == at.at[2];
  }
  return WEIR_OK;
}

/* Intervals of at most `step` behind the sample *last. */
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

/* Steps of 2 k_B T near the chemical potentials, wider ones beyond: where a barrier keeps off what
 * is near, the current flows over it, however few electrons are there. */
static weir_status begin(window *w)
{
  const qt_reservoir *r = w->spec->reservoir;
  const double kt = QT_BOLTZMANN * r[QT_LEFT].temperature, near = 12 * kt, far = 36 * kt;
  const double mu[2] = {fmin(r[0].mu, r[1].mu), fmax(r[0].mu, r[1].mu)};
  const double *gap = w->spec->gap;
  double lo = mu[0] - far, hi = mu[1] + far;
  int64_t last = 0;

  lo = lo > gap[0] && lo < gap[1] ? gap[1] : lo; /* leads without states there carry nothing */
  hi = hi > gap[0] && hi < gap[1] ? gap[0] : hi;
  if (!(lo < hi)) {
    return WEIR_OK;
  }
  WEIR_TRY(new_sample(w, lo, &last));
  WEIR_TRY(add_range(w, fmin(hi, fmax(lo, mu[0] - near)), 4 * kt, &last));
  WEIR_TRY(add_range(w, fmin(hi, fmax(lo, mu[1] + near)), 2 * kt, &last));
  return add_range(w, hi, 4 * kt, &last);
}

weir_status qt_density_window(const qt_system *s, const qt_density_spec *spec,
                              double *const injected[QT_LEADS], double *current,
                              int64_t *n_energies)
{
  window w = {.s = s, .spec = spec, .injected = {injected[QT_LEFT], injected[QT_RIGHT]}};
  weir_status status = WEIR_OK;
  bool changed = false;

  WEIR_TRY_GOTO(begin(&w), done);
  changed = w.n_intervals > 0;
  while (changed) {
    WEIR_TRY_GOTO(compute(&w), done);
    WEIR_TRY_GOTO(refine(&w, &changed), done);
  }
  sum(&w, current);
  *n_energies = w.n_samples * spec->n_k;
done:
  for (int64_t i = 0; i < w.n_samples; i++) {
    weir_free(&w.sample[i].states);
  }
  weir_free(&w.sample);
  weir_free(&w.interval);
  return status;
}
