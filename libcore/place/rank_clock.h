/* rank_clock.h - seconds of a rank: of the machine, or of a simulation (weir_inproc.h). */
#ifndef PLACE_RANK_CLOCK_H
#define PLACE_RANK_CLOCK_H
#include "comm/weir_inproc.h"

/* Returns the time; simulated: c is of weir_inproc_run. */
double place_clock(const weir_comm *c, bool simulated);
/* Lets that many seconds pass. Fails: as weir_inproc_sleep. */
weir_status place_sleep(weir_comm *c, bool simulated, double seconds) WEIR_CHECKED;

#endif
