/* network_measure.h - what weir_network_measure does with messages. */
#ifndef PLACE_NETWORK_MEASURE_H
#define PLACE_NETWORK_MEASURE_H
#include "comm/weir_inproc.h"

/* As weir_network_measure, without reduce_bw; simulated: on the clock of weir_inproc_run, whose
 * network is found again. */
weir_status place_network_measure(weir_comm *c, bool simulated, weir_network *n) WEIR_CHECKED;

#endif
