/* detect_decide.c - beats among candidates, by adaptive levels and rhythm: Pan and Tompkins 1985
 * with medians in place of running means (Hamilton and Tompkins 1986), levels learnt from the first
 * seconds and applied to them too, and a search in missed intervals that waits for the next sure
 * beat, so that it knows both neighbours. In noise a candidate must also resemble the mean beat
 * (detect_shape.c). The noise level is that of the signal between candidates,
 * which beats that are missed, or false, do not change. */
#include <math.h>
#include <string.h>
#include "model/detect_priv.h"

/* The value at quantile `rank` of n values; sorts them. */
static double quantile(double *v, int64_t n, double rank)
{
  for (int64_t i = 1; i < n; i++) {
    const double x = v[i];
    int64_t k = i;

    for (; k > 0 && v[k - 1] > x; k--) {
      v[k] = v[k - 1];
    }
    v[k] = x;
  }
  return v[(int64_t)floor(rank * (double)(n - 1) + 0.5)];
}

static double rank_of_memory(const double *memory, double rank)
{
  double copy[PS_DETECT_MEMORY];

  memcpy(copy, memory, sizeof copy);
  return quantile(copy, PS_DETECT_MEMORY, rank);
}

static double between(const ps_detector *d, double share)
{
  const double noise = fmin(d->noise, d->opts.noise_max * d->level);

  return noise + share * (d->level - noise);
}

/* Added to that share for a candidate whose shape is not that of a beat: `weight` of the noise over
 * the signal level, up to `most` of it. */
static double penalty(const ps_detector *d, double weight, double most, float likeness)
{
  const double noise = d->level > 0.0 ? fmin(d->noise / d->level, most) : 0.0;

  return weight * noise * (1.0 - (double)likeness);
}

/* Share of that way from which a candidate is a sure beat, `since` samples after the last one. */
static double sure_share(const ps_detector *d, int64_t since, float likeness)
{
  const ps_detect_opts *o = &d->opts;
  const double noise = d->level > 0.0 ? fmin(d->noise / d->level, o->early_max) : 0.0;
  const double soon = fmax(0.0, 1.0 - (double)since / (o->early_until * d->interval));

  return o->threshold + penalty(d, o->template_penalty, o->template_penalty_max, likeness) +
         (d->has_beat ? o->early * noise * soon : 0.0);
}

/* Noise around a candidate, where that is known. */
static double noise_at(const ps_detector *d, const ps_candidate *c)
{
  return d->opts.noise_ratio * (double)c->low;
}

static void emit(ps_detector *d, const ps_candidate *c, ps_beat_out *out)
{
  if (!d->muted && c->at > d->emitted && out->n < out->capacity) {
    if (out->fractions != NULL) {
      out->fractions[out->n] = c->fraction;
    }
    out->beats[out->n++] = c->at;
    d->emitted = c->at;
  }
}

static double clamp(double x, double low, double high)
{
  return x < low ? low : x > high ? high : x;
}

/* Takes c as a beat. Amplitude and interval move the levels by at most threefold and by half, so
 * that one artefact cannot. */
static void accept(ps_detector *d, const ps_candidate *c, ps_beat_out *out)
{
  emit(d, c, out);
  ps_shape_learn(d, c);
  if (d->has_beat) {
    d->intervals[d->interval_at] =
        clamp((double)(c->at - d->beat.at), 0.5 * d->interval, 1.5 * d->interval);
    d->interval_at = (d->interval_at + 1) % PS_DETECT_MEMORY;
    d->interval = rank_of_memory(d->intervals, d->opts.interval_rank);
  }
  d->amps[d->amp_at] = fmin((double)c->amp, 3 * d->level);
  d->amp_at = (d->amp_at + 1) % PS_DETECT_MEMORY;
  d->level = fmax(rank_of_memory(d->amps, d->opts.level_rank), d->opts.floor);
  d->beat = *c;
  d->has_beat = 1;
  d->anchor = c->at;
}

/* Whether c is as smooth as T waves are. */
static int is_smooth(const ps_detector *d, const ps_candidate *c)
{
  return (double)c->sharp * d->root_window < d->opts.t_wave_smooth * (double)c->height;
}

int ps_decide_t_wave(const ps_detector *d, const ps_candidate *before, const ps_candidate *c)
{
  const ps_detect_opts *o = &d->opts;

  return !o->at_once && c->at - before->at < d->t_wave &&
         (double)c->sharp < o->sharp_ratio * (double)before->sharp && is_smooth(d, c);
}

/* Whether c resembles beats in shape but is lower than `template_height` of them, and smooth:
 * ventricular beats are as smooth as T waves, but much higher. Only a search takes it for a beat;
 * where none is made, it stays one. */
static int resembles_t_wave(const ps_detector *d, const ps_candidate *c)
{
  return !d->opts.at_once && c->likeness < c->correlation && is_smooth(d, c);
}

/* Whether a search finds the candidate, where nothing is near. */
static int is_found(const ps_detector *d, const ps_candidate *c)
{
  const ps_detect_opts *o = &d->opts;
  const double share = o->searchback_threshold +
                       penalty(d, o->searchback_penalty, o->searchback_penalty_max, c->correlation);

  return (double)c->amp >= between(d, share);
}

/* The candidate among pending[from, to) that is the beat where c is its T wave, the sharpest, or
 * -1. A normal beat among large ectopic ones may be lower than its T wave. */
static int64_t beat_before(const ps_detector *d, int64_t from, int64_t to, const ps_candidate *c)
{
  const ps_candidate *pending = ps_detect_pending(d);
  int64_t best = -1;

  for (int64_t i = from; i < to; i++) {
    if (ps_decide_t_wave(d, &pending[i], c) && is_found(d, &pending[i]) &&
        (best < 0 || pending[i].sharp > pending[best].sharp)) {
      best = i;
    }
  }
  return best;
}

/* The missed beats among pending[from, to), which lie between the last beat (or the start of the
 * rhythm) and `end`: the largest candidate first, then what is missing on either side of it.
 * `before_beat`: a beat stands at `end`. Returns the index after the last one taken, or `from`. */
static int64_t search(ps_detector *d, int64_t from, int64_t to, int64_t end, int before_beat,
                      ps_beat_out *out)
{
  const ps_candidate *pending = ps_detect_pending(d);
  const int64_t start = d->anchor;
  const double away = fmax((double)d->t_wave, d->opts.away * d->interval);
  int64_t best = -1;

  if (d->opts.at_once || (double)(end - start) <= d->opts.searchback_rr_factor * d->interval) {
    return from;
  }
  for (int64_t i = from; i < to; i++) {
    const int near = (d->has_beat && (double)(pending[i].at - start) < away) ||
                     (before_beat && (double)(end - pending[i].at) < away);

    if (!near && is_found(d, &pending[i]) && (best < 0 || pending[i].amp > pending[best].amp)) {
      best = i;
    }
  }
  if (best < 0) {
    return from;
  }
  const int64_t before = beat_before(d, from, best, &pending[best]);

  if (before >= 0 && !(d->has_beat && (double)(pending[before].at - start) < away)) {
    best = before;
  }
  search(d, from, best, pending[best].at, 1, out);
  accept(d, &pending[best], out);
  const int64_t after = search(d, best + 1, to, end, before_beat, out);

  return after > best + 1 ? after : best + 1;
}

static void drop_pending(ps_detector *d, int64_t count)
{
  ps_candidate *pending = ps_detect_pending(d);

  d->n_pending -= count;
  memmove(pending, pending + count, (size_t)d->n_pending * sizeof *pending);
}

static void hold(ps_detector *d, const ps_candidate *c)
{
  ps_candidate *pending = ps_detect_pending(d);

  if (d->n_pending == d->pending_capacity) {
    drop_pending(d, 1);
  }
  pending[d->n_pending++] = *c;
}

/* No rhythm across a gap: what was missed before it is searched, then the count starts anew. */
static void end_rhythm(ps_detector *d, int64_t resume, ps_beat_out *out)
{
  if (d->n_pending > 0) {
    search(d, 0, d->n_pending, ps_detect_pending(d)[d->n_pending - 1].at, 0, out);
  }
  d->n_pending = 0;
  d->has_beat = 0;
  d->anchor = resume;
}

/* Mean noise around the pending candidates. */
static double learn_noise(const ps_detector *d)
{
  const ps_candidate *pending = ps_detect_pending(d);
  double sum = 0.0;
  int64_t n = 0;

  for (int64_t i = 0; i < d->n_pending; i++) {
    if (pending[i].low >= 0.0f) {
      sum += noise_at(d, &pending[i]);
      n++;
    }
  }
  return n > 0 ? sum / (double)n : 0.0;
}

/* Signal level of the pending candidates: the median of those that are the largest within a second
 * on either side, which at 30 beats a minute and more are beats. */
static double learn_level(const ps_detector *d)
{
  const ps_candidate *pending = ps_detect_pending(d);
  const int64_t around = (int64_t)d->rate;
  double tops[64];
  int64_t n_tops = 0;

  for (int64_t i = 0; i < d->n_pending && n_tops < 64; i++) {
    int is_top = 1;

    for (int64_t k = 0; k < d->n_pending; k++) {
      if (pending[k].at > pending[i].at - around && pending[k].at < pending[i].at + around &&
          pending[k].amp > pending[i].amp) {
        is_top = 0;
      }
    }
    if (is_top) {
      tops[n_tops++] = (double)pending[i].amp;
    }
  }
  /* Stretches between gaps may hold no beat: what is far below most of the others does not count.
   */
  const double high = n_tops > 0 ? quantile(tops, n_tops, d->opts.learn_rank) : 0.0;
  int64_t first = 0;

  while (first < n_tops - 1 && tops[first] < d->opts.threshold * high) {
    first++;
  }
  return n_tops > 0 ? quantile(tops + first, n_tops - first, d->opts.level_rank) : 0.0;
}

/* Usual interval among pending candidates that are sure beats; one second where there are too few.
 */
static double learn_interval(const ps_detector *d, const ps_candidate *pending)
{
  const double sure = between(d, sure_share(d, INT64_MAX, 1.0f));
  double gaps[PS_DETECT_MEMORY];
  int64_t n = 0, last = -1;

  for (int64_t i = 0; i < d->n_pending && n < PS_DETECT_MEMORY; i++) {
    if ((double)pending[i].amp < sure) {
      continue;
    }
    if (last >= 0 && !pending[i].breaks) {
      gaps[n++] = (double)(pending[i].at - pending[last].at);
    }
    last = i;
  }
  return n > 0 ? quantile(gaps, n, 0.5) : d->rate;
}

static void feed_learnt(ps_detector *d, ps_candidate *c, ps_beat_out *out);

/* Present samples since learning began. */
static int64_t heard(const ps_detector *d)
{
  return d->heard + d->next - d->segment;
}

/* Levels and interval from the pending candidates. */
static void set_levels(ps_detector *d)
{
  d->level = fmax(learn_level(d), d->opts.floor);
  d->noise = fmin(learn_noise(d), d->level);
  d->interval = clamp(learn_interval(d, ps_detect_pending(d)), 0.3 * d->rate, 2 * d->rate);
  for (int k = 0; k < PS_DETECT_MEMORY; k++) {
    d->amps[k] = d->level;
    d->intervals[k] = d->interval;
  }
}

/* Sets levels, then decides the pending candidates. */
static void end_learning(ps_detector *d, ps_beat_out *out)
{
  ps_candidate *pending = ps_detect_pending(d);
  const int64_t n = d->n_pending;

  if (heard(d) >= d->learn_least || d->level == 0.0) {
    set_levels(d);
  }
  d->learning = 0;
  d->anchor = d->origin;
  /* Replays the list in place: deciding leaves pending at most as many as it has been fed. */
  d->n_pending = 0;
  d->muted = d->opts.at_once;
  for (int64_t i = 0; i < n; i++) {
    ps_candidate c = pending[i];

    feed_learnt(d, &c, out);
  }
  d->muted = 0;
}

/* Without a beat for long: levels anew from the candidates since, unless that is far below the
 * old level; then the level only sinks, and silence stays silence. */
static void recover(ps_detector *d, int64_t now, ps_beat_out *out)
{
  if (learn_level(d) >= d->opts.lost_floor * d->level) {
    d->origin = d->anchor;
    d->heard = d->learn;
    end_learning(d, out);
    if (d->anchor > d->origin) {
      return;
    }
  }
  for (int k = 0; k < PS_DETECT_MEMORY; k++) {
    d->amps[k] *= 0.5;
  }
  d->level = fmax(0.5 * d->level, d->opts.floor);
  d->noise = fmin(d->noise, 0.5 * d->level);
  d->n_pending = 0;
  d->anchor = now;
  d->has_beat = 0;
}

static void feed_learnt(ps_detector *d, ps_candidate *c, ps_beat_out *out)
{
  ps_shape_weigh(d, c);
  if (c->breaks) {
    end_rhythm(d, c->at, out);
  }
  const int64_t since = c->at - d->anchor;
  const int t_zone = d->has_beat && since < d->t_wave;

  if (c->low >= 0.0f) {
    d->noise += d->opts.noise_weight * (fmin(noise_at(d, c), d->level) - d->noise);
  }
  if (t_zone && ((double)c->amp < d->opts.t_wave_ratio * (double)d->beat.amp ||
                 (double)c->sharp < d->opts.sharp_ratio * (double)d->beat.sharp)) {
    return;
  }
  const int sure =
      (double)c->amp >= fmax(between(d, sure_share(d, since, c->likeness)), d->opts.floor);
  const int64_t before = sure ? beat_before(d, 0, d->n_pending, c) : -1;

  if (before >= 0 || (sure && !resembles_t_wave(d, c))) {
    const ps_candidate beat = before < 0 ? *c : ps_detect_pending(d)[before];

    search(d, 0, before < 0 ? d->n_pending : before, beat.at, 1, out);
    accept(d, &beat, out);
    d->n_pending = 0;
    return;
  }
  hold(d, c);
  if (since > d->wait) {
    drop_pending(d, search(d, 0, d->n_pending, c->at, 0, out));
  }
}

void ps_decide_feed(ps_detector *d, ps_candidate c, ps_beat_out *out)
{
  ps_candidate *pending = ps_detect_pending(d);

  /* Only short gaps bring two candidates this close; the larger stays. */
  if (d->has_beat && c.at - d->beat.at < d->refractory) {
    return;
  }
  if (d->n_pending > 0 && c.at - pending[d->n_pending - 1].at < d->refractory) {
    if (c.amp <= pending[d->n_pending - 1].amp) {
      return;
    }
    c.breaks |= pending[d->n_pending - 1].breaks;
    d->n_pending--;
  }
  if (!d->learning) {
    feed_learnt(d, &c, out);
    if (c.at - d->anchor > d->lost) {
      recover(d, c.at, out);
    }
    return;
  }
  hold(d, &c);
  if (heard(d) >= d->learn || d->n_pending == d->pending_capacity) {
    end_learning(d, out);
  }
}

int64_t ps_decide_deadline(const ps_detector *d)
{
  /* At once, candidates are pending for levels alone. */
  return d->n_pending > 0 && !d->opts.at_once ? ps_detect_pending(d)[0].at + d->decide : INT64_MAX;
}

void ps_decide_due(ps_detector *d, int64_t now, ps_beat_out *out)
{
  while (ps_decide_deadline(d) <= now) {
    if (d->learning) {
      end_learning(d, out);
      continue;
    }
    drop_pending(d, search(d, 0, d->n_pending, ps_detect_pending(d)[d->n_pending - 1].at, 0, out));
    if (ps_decide_deadline(d) <= now) {
      drop_pending(d, 1); /* no beat */
    }
  }
}

void ps_decide_finish(ps_detector *d, ps_beat_out *out)
{
  if (d->learning) {
    end_learning(d, out);
  }
  end_rhythm(d, 0, out);
  memset(d->kinds, 0, sizeof d->kinds);
  d->learning = 1;
  d->heard = 0;
}
