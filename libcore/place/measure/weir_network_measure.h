/* weir_network_measure.h - parameters of the network between ranks by measurement. */
#ifndef WEIR_NETWORK_MEASURE_H
#define WEIR_NETWORK_MEASURE_H
#include "comm/weir_inproc.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Measures latency, overhead, gap and bandwidth between ranks 0 and 1 of c, of which there are at
 * least two, by round trips of several messages (PRTT; Hoefler, Lichei and Rehm, "Low-overhead
 * LogGP parameter assessment for modern interconnection networks", IPDPS 2007), and reduce_bw by
 * sums of arrays beyond the caches; eager_max_bytes is that of *n, and the overhead of bytes is 0:
 * they are in the bandwidth. The least of several times counts. The same numbers on all ranks.
 * Collective; takes about a second. Fails: WEIR_ERR_MEMORY, as requests. */
weir_status weir_network_measure(weir_comm *c, weir_network *n) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
