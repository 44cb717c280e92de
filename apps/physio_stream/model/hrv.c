/* hrv.c - see hrv.h. */
#include "model/hrv.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_sort.h"
#include "model/hrv_priv.h"

/* s of a segment whose mean enters SDANN, and the share of it that its NN intervals must cover:
 * Vest et al., Physiol. Meas. 39 (2018) 105004, analyse no window of which over 20 % is rejected.
 */
#define SEGMENT 300.0
#define COVERED 0.8
/* s of NN intervals up to which VLF is not given: "dubious" from 5 minutes or less (Task Force). */
#define MIN_VLF 300.0

const weir_opt ps_hrv_options[] = {
    WEIR_OPT_ENUM(
        ps_hrv_opts, definitions, PS_HRV_TASK_FORCE, "task_force|neurokit2",
        "where the two differ: pNN50, SDANN, VLF, LF, HF, alpha 1 and alpha 2 as the Task Force "
        "(1996) and the papers of docs/science/physio_stream.md define them, or as NeuroKit2 0.3.0 "
        "computes them; neurokit2 refuses spectrum: lomb and ignores bridge, dfa.ratio and "
        "dfa.overlap"),
    WEIR_OPT_REAL(ps_hrv_opts, exclude, 0.25, 0, 1, "1",
                  "an interval further from the median than this share of it does not count (20 to "
                  "30 %; Task Force 1996); 0: all count"),
    WEIR_OPT_REAL(ps_hrv_opts, bridge, 5, 0, 60, "s",
                  "longest stretch of intervals that do not count across which the spectrum "
                  "interpolates; gaps are never bridged"),
    WEIR_OPT_ENUM(
        ps_hrv_opts, spectrum, PS_HRV_WELCH, "welch|lomb",
        "welch: intervals at 4 Hz by a cubic spline, 256 points, half overlapping, no VLF; "
        "lomb: intervals as they are"),
    WEIR_OPT_TABLE(ps_hrv_opts, entropy, ps_hrv_entropy_options,
                   "approximate, sample and multiscale entropy"),
    WEIR_OPT_TABLE(ps_hrv_opts, dfa, ps_hrv_dfa_options, "detrended fluctuation analysis"),
    WEIR_OPT_END,
};

void ps_hrv_exclude(double exclude, ps_interval *v, int64_t n, double *scratch)
{
  int64_t m = 0;

  for (int64_t i = 0; i < n; i++) {
    if (v[i].counts) {
      scratch[m++] = v[i].length;
    }
  }
  if (m == 0 || exclude <= 0) {
    return;
  }
  qsort(scratch, (size_t)m, sizeof *scratch, weir_compare_f64);
  const double median = 0.5 * (scratch[(m - 1) / 2] + scratch[m / 2]);

  for (int64_t i = 0; i < n; i++) {
    v[i].counts = v[i].counts && fabs(v[i].length - median) <= exclude * median;
  }
}

/* Sums of one pass; the second pass is around the mean of the first. */
typedef struct moments {
  int64_t n;
  double sum, square;
} moments;

static void add(moments *m, double x, double around)
{
  m->n++;
  m->sum += x;
  m->square += (x - around) * (x - around);
}

static double mean_of(const moments *m)
{
  return m->n > 0 ? m->sum / (double)m->n : NAN;
}

static double deviation(const moments *m)
{
  return m->n > 1 ? sqrt(m->square / (double)(m->n - 1)) : NAN;
}

static moments lengths(const ps_interval *v, int64_t n, double around)
{
  moments m = {0};

  for (int64_t i = 0; i < n; i++) {
    if (v[i].counts) {
      add(&m, v[i].length, around);
    }
  }
  return m;
}

/* Means of the lengths in each segment of time that they cover. */
static moments segment_means(const ps_interval *v, int64_t n, double samples, double around)
{
  moments all = {0};

  for (int64_t i = 0; i < n;) {
    const double segment = floor(v[i].end / samples);
    moments one = {0};

    for (; i < n && floor(v[i].end / samples) == segment; i++) {
      if (v[i].counts) {
        add(&one, v[i].length, 0);
      }
    }
    if (one.sum >= COVERED * samples) {
      add(&all, mean_of(&one), around);
    }
  }
  return all;
}

ps_hrv_times ps_hrv_time_domain(int definitions, const ps_interval *v, int64_t n, double rate)
{
  const bool neurokit2 = definitions == PS_HRV_NEUROKIT2;
  const double ms = 1000.0 / rate;
  const moments first = lengths(v, n, 0), all = lengths(v, n, mean_of(&first));
  const moments means = segment_means(v, n, SEGMENT * rate, 0);
  const moments segments = segment_means(v, n, SEGMENT * rate, mean_of(&means));
  double square = 0;
  int64_t pairs = 0, far = 0;

  for (int64_t i = 1; i < n; i++) {
    if (v[i].joined && v[i].counts && v[i - 1].counts) {
      const double step = v[i].length - v[i - 1].length;

      square += step * step;
      far += neurokit2 ? hrv_neurokit2_is_far(v + i, rate) : fabs(step) > 0.05 * rate + 1e-3;
      pairs++;
    }
  }
  return (ps_hrv_times){
      .n = all.n,
      .mean = ms * mean_of(&all),
      .sd = ms * deviation(&all),
      .rmssd = pairs > 0 ? ms * sqrt(square / (double)pairs) : NAN,
      .pnn50 = pairs > 0 ? 100.0 * (double)far / (double)(pairs + neurokit2) : NAN,
      .segments = segments.n,
      .sdann = neurokit2 ? hrv_neurokit2_sdann(v, n, rate) : ms * deviation(&segments),
  };
}

double ps_hrv_span(const ps_interval *v, int64_t n, double rate)
{
  return n > 0 ? (v[n - 1].end - v[0].end + v[0].length) / rate : 0;
}

/* Points of the spline, four numbers each, then the series; or points, then the grid. */
size_t ps_hrv_scratch(const ps_hrv_opts *opts, int64_t n, double seconds)
{
  return opts->definitions == PS_HRV_NEUROKIT2 ? 4 * (size_t)n + hrv_grid_scratch(seconds + 1)
         : opts->spectrum == PS_HRV_LOMB       ? 2 * (size_t)n + hrv_grid_scratch(seconds)
                                               : 4 * (size_t)n + (size_t)(seconds * HRV_RATE) + 8;
}

/* Intervals v[from, n) up to a gap or a stretch that is too long to bridge, as points (s, ms).
 * Returns the index after the last one looked at. */
static int64_t collect(const ps_hrv_opts *opts, const ps_interval *v, int64_t from, int64_t n,
                       double rate, hrv_points *p)
{
  int64_t i = from;

  p->n = 0;
  for (; i < n && (i == from || v[i].joined); i++) {
    const double end = v[i].end / rate;

    if (!v[i].counts || (p->n > 0 && end <= p->t[p->n - 1])) {
      continue;
    }
    /* What lies between two counted intervals is what the later one does not cover. */
    if (p->n > 0 && end - v[i].length / rate - p->t[p->n - 1] > opts->bridge) {
      break;
    }
    p->t[p->n] = end;
    p->y[p->n++] = 1000.0 * v[i].length / rate;
  }
  return i > from ? i : i + 1;
}

static void sum_pieces(const ps_hrv_opts *opts, const ps_interval *v, int64_t n, double rate,
                       double *scratch, hrv_density *density)
{
  hrv_points p = {.t = scratch, .y = scratch + n, .bend = scratch + 2 * n, .work = scratch + 3 * n};

  for (int64_t i = 0; i < n;) {
    i = collect(opts, v, i, n, rate, &p);
    hrv_welch(&p, scratch + 4 * n, density);
  }
}

/* All that count, gaps included. */
static void collect_all(const ps_interval *v, int64_t n, double rate, hrv_points *p)
{
  p->n = 0;
  for (int64_t i = 0; i < n; i++) {
    if (v[i].counts) {
      p->t[p->n] = v[i].end / rate;
      p->y[p->n++] = 1000.0 * v[i].length / rate;
    }
  }
}

ps_hrv_bands ps_hrv_spectrum(const ps_hrv_opts *opts, const ps_interval *v, int64_t n, double rate,
                             double *scratch)
{
  hrv_density density = {0};

  if (opts->definitions == PS_HRV_NEUROKIT2) {
    hrv_points p = {
        .t = scratch, .y = scratch + n, .bend = scratch + 2 * n, .work = scratch + 3 * n};

    collect_all(v, n, rate, &p);
    return hrv_neurokit2(&p, scratch + 4 * n);
  }
  if (opts->spectrum == PS_HRV_LOMB) {
    hrv_points p = {.t = scratch, .y = scratch + n};

    collect_all(v, n, rate, &p);
    ps_hrv_bands bands = hrv_lomb(&p, scratch + 2 * n);

    bands.vlf = lengths(v, n, 0).sum > MIN_VLF * rate ? bands.vlf : NAN;
    return bands;
  }
  sum_pieces(opts, v, n, rate, scratch, &density);
  ps_hrv_bands bands = hrv_bands_of(&density);

  bands.vlf = NAN; /* two bins of 1/64 Hz, none of them below 0.0156 Hz */
  return bands;
}

bool ps_hrv_density(const ps_hrv_opts *opts, const ps_interval *v, int64_t n, double rate,
                    double *scratch, double density[PS_HRV_BINS])
{
  hrv_density sum = {0};

  sum_pieces(opts, v, n, rate, scratch, &sum);
  for (int k = 0; k < PS_HRV_BINS && sum.pieces > 0; k++) {
    density[k] = sum.sum[k + 1] / (double)sum.pieces;
  }
  return sum.pieces > 0;
}
