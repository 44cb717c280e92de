/* beat_clock.c - see beat_clock.h. */
#include "data/beat_clock.h"

weir_status ps_beat_clock_init(const ps_ecgsyn_opts *opts, uint64_t seed, double lead,
                               ps_beat_clock *out)
{
  *out = (ps_beat_clock){.lead = lead};
  return ps_rr_init(opts, seed, &out->rr);
}

void ps_beat_clock_fini(ps_beat_clock *c)
{
  ps_rr_fini(&c->rr);
}

double ps_beat_clock_next(ps_beat_clock *c)
{
  const double at = c->beat;

  c->beat += ps_rr_at(&c->rr, c->beat);
  return at - c->lead;
}
