/* rank_clock.c - see rank_clock.h. */
#include "place/rank_clock.h"

#include <time.h>

#include "base/weir_clock.h"

double place_clock(const weir_comm *c, bool simulated)
{
  return simulated ? weir_inproc_clock(c) : weir_clock();
}

weir_status place_sleep(weir_comm *c, bool simulated, double seconds)
{
  if (simulated) {
    return weir_inproc_sleep(c, seconds);
  }
  const int64_t whole = (int64_t)seconds;
  const struct timespec t = {(time_t)whole, (long)((seconds - (double)whole) * 1e9)};

  (void)nanosleep(&t, NULL);
  return WEIR_OK;
}
