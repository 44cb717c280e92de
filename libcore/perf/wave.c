/* wave.c - see weir_wave.h. */
#include <math.h>
#include "base/weir_status.h"
#include "perf/weir_wave.h"

static void check(const weir_wave_device *d)
{
  WEIR_ASSERT(d->processors > 0 && isfinite(d->processors));
  WEIR_ASSERT(d->resident_blocks > 0 && isfinite(d->resident_blocks));
  WEIR_ASSERT(d->rate > 0 && isfinite(d->rate));
  WEIR_ASSERT(d->bandwidth > 0 && isfinite(d->bandwidth));
  WEIR_ASSERT(d->flop_rate > 0 && isfinite(d->flop_rate));
}

static double wave(const weir_wave_device *d)
{
  return d->processors * d->resident_blocks;
}

/* gamma */
static double memory_share(const weir_wave_work *w, const weir_wave_device *d)
{
  if (w->flops == 0 || w->bytes == 0) {
    return w->flops == 0;
  }
  const double relative = w->flops / w->bytes / (d->flop_rate / d->bandwidth);

  return relative <= 1 ? 1 - 0.5 * relative : 0.5 / relative;
}

double weir_wave_seconds(const weir_wave_work *w, const weir_wave_device *here,
                         const weir_wave_device *there)
{
  const double gamma = memory_share(w, there);

  check(here);
  check(there);
  WEIR_ASSERT(w->flops >= 0 && w->bytes >= 0 && w->blocks >= 0);
  if (w->flops == 0 && w->bytes == 0) {
    return w->seconds * (here->bandwidth / there->bandwidth);
  }
  if (w->blocks > 0 && w->blocks < wave(here) && w->blocks < wave(there)) {
    const double turns = ceil(w->blocks / there->processors) / ceil(w->blocks / here->processors);

    return w->seconds * pow(here->rate / there->rate * turns, 1 - gamma);
  }
  return w->seconds * pow(here->bandwidth / there->bandwidth, gamma) *
         pow(here->rate / there->rate * (here->processors / there->processors), 1 - gamma);
}
