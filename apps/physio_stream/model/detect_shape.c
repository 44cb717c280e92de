/* detect_shape.c - likeness of candidates to the mean beats of three kinds: a matched filter (Xue,
 * Hu and Tompkins, IEEE Trans. Biomed. Eng. 39 (1992) 317-329) over slopes, whose templates are
 * learnt from the beats that are found. Slopes instead of values, because noise of electrode motion
 * falls with frequency. */
#include <math.h>
#include <string.h>
#include "model/detect_priv.h"

enum { SHIFTS = 2 * PS_DETECT_SHIFT + 1, LANES = 8 };

/* A candidate against one kind. */
typedef struct match {
  int kind, shift;         /* first slope of the candidate that lies in the beat */
  double projection, like; /* at the shift where it is largest; correlation there */
} match;

static double energy(const float *x)
{
  double sum = 0.0;

  for (int k = 0; k < PS_DETECT_BEAT; k++) {
    sum += (double)x[k] * (double)x[k];
  }
  return sum;
}

/* Products of the beat with the candidate at every shift: eight shifts side by side, whose sums
 * stay in registers, and the last. */
static void correlate(const float *beat, const float *x, float sum[SHIFTS])
{
  float last = 0.0f;

  for (int first = 0; first < SHIFTS - 1; first += LANES) {
    float lane[LANES] = {0.0f};

    for (int k = 0; k < PS_DETECT_BEAT; k++) {
      for (int l = 0; l < LANES; l++) {
        lane[l] += beat[k] * x[first + k + l];
      }
    }
    memcpy(sum + first, lane, sizeof lane);
  }
  for (int k = 0; k < PS_DETECT_BEAT; k++) {
    last += beat[k] * x[SHIFTS - 1 + k];
  }
  sum[SHIFTS - 1] = last;
}

static match match_kind(const ps_detector *d, const ps_candidate *c, int kind)
{
  const float *beat = d->kinds[kind].shape;
  match m = {.kind = kind, .shift = PS_DETECT_SHIFT};
  float sum[SHIFTS], best = 0.0f;

  correlate(beat, c->shape, sum);
  for (int shift = 0; shift < SHIFTS; shift++) {
    if (sum[shift] > best) {
      best = sum[shift];
      m.shift = shift;
    }
  }
  const double norm = d->kinds[kind].norm, own = energy(c->shape + m.shift);

  m.projection = norm > 0.0 ? (double)best / norm : 0.0;
  m.like = own > 0.0 ? fmin(m.projection / sqrt(own), 1.0) : 0.0;
  return m;
}

/* The kind that is most alike, of those with a beat; there is one. */
static match match_best(const ps_detector *d, const ps_candidate *c)
{
  match best = match_kind(d, c, 0);

  for (int kind = 1; kind < PS_DETECT_KINDS && d->kinds[kind].n > 0; kind++) {
    const match m = match_kind(d, c, kind);

    best = m.like > best.like ? m : best;
  }
  return best;
}

/* Share of a correlation that counts for a candidate much lower than beats of its kind: noise
 * resembles them at some shift. */
static double share_of_height(const ps_detector *d, const ps_candidate *c, int kind)
{
  const double full = d->opts.template_height * d->kinds[kind].height;

  return full > 0.0 ? fmin(1.0, (double)c->height / full) : 1.0;
}

void ps_shape_weigh(const ps_detector *d, ps_candidate *c)
{
  c->amp = c->height;
  c->correlation = c->likeness = 1.0f;
  if (d->kinds[0].n < 2) {
    return;
  }
  const match m = match_best(d, c);
  const double size = d->kinds[m.kind].size, height = (double)c->height;
  const double projected = size > 0.0 ? fmin(m.projection / size, height) : height;

  c->amp = (float)(height + d->opts.template_share * (projected - height));
  c->correlation = (float)m.like;
  c->likeness = (float)(m.like * share_of_height(d, c, m.kind));
}

/* The first kind without a beat, or PS_DETECT_KINDS. */
static int free_kind(const ps_detector *d)
{
  int kind = 0;

  while (kind < PS_DETECT_KINDS && d->kinds[kind].n > 0) {
    kind++;
  }
  return kind;
}

void ps_shape_learn(ps_detector *d, const ps_candidate *c)
{
  const int unused = free_kind(d);
  match m = {.shift = PS_DETECT_SHIFT};

  if (unused > 0) {
    m = match_best(d, c);
    if (m.like < d->opts.template_min_correlation && unused < PS_DETECT_KINDS) {
      m = (match){.kind = unused, .shift = PS_DETECT_SHIFT};
    }
  }
  const float *x = c->shape + m.shift;
  const double root = sqrt(energy(x));

  if (!(root > 0.0 && c->height > 0.0f)) {
    return;
  }
  ps_beat_kind *kind = &d->kinds[m.kind];
  const double weight = fmax(1.0 / (double)++kind->n, d->opts.template_weight);
  const double size = (kind->n > 1 ? m.projection : root) / (double)c->height;

  kind->size += weight * (size - kind->size);
  kind->height += weight * ((double)c->height - kind->height);
  for (int k = 0; k < PS_DETECT_BEAT; k++) {
    const double old = (double)kind->shape[k];

    kind->shape[k] = (float)(old + weight * ((double)x[k] / root - old));
  }
  kind->norm = sqrt(energy(kind->shape));
}
