/* weir_machine_measure.h - machine constants by measurement. */
#ifndef WEIR_MACHINE_MEASURE_H
#define WEIR_MACHINE_MEASURE_H
#include "comm/weir_comm.h"
#include "exec/weir_plan.h"
#include "perf/weir_machine.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Measures the constants that are 0 (overlap: below 0), with all ranks of comm at the same time,
 * and takes tree from the section comm: a convolution with its gradients, additions, exchanges and
 * reductions of pairs and of all ranks. comm NULL, or of one rank: messages are assumed to take 5
 * us and 5 GB/s, as in the memory of one machine. The same numbers on all ranks. Collective; takes
 * about a second. Fails: as plans and requests. */
weir_status weir_machine_measure(weir_comm *comm, const weir_comm_cfg *messages,
                                 const weir_plan_opts *exec, weir_machine *m) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
