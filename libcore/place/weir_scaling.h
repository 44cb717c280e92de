/* weir_scaling.h - time of a training step of replicas under an exchange policy: simulated for
 * ranks of a network, or measured on those of a communicator. Both run the policy itself, its
 * requests and schedules; computations are waiting times of drawn length. */
#ifndef WEIR_SCALING_H
#define WEIR_SCALING_H
#include "comm/weir_inproc.h"
#include "optim/weir_exchange.h"
#include "place/weir_imbalance.h"
#ifdef __cplusplus
extern "C" {
#endif

/* The section `scaling:` of a configuration; rows in weir_scaling_opts. */
typedef struct weir_scaling_cfg {
  weir_int_list ranks;
  weir_string_list policies; /* empty: all that weir_scaling_check admits */
  int64_t steps, runs, bytes;
  double compute_s;
  weir_imbalance imbalance;
  weir_network network;
} weir_scaling_cfg;
extern const weir_opt weir_scaling_opts[];

/* Steps of replicas. */
typedef struct weir_scaling {
  const weir_exchange_desc *policy;
  const void *opts; /* of the policy, NULL: its defaults */
  int64_t bytes;    /* of the gradient or the weights, in f32: a multiple of 4 */
  int64_t steps;
  double compute_s; /* of a step, without delay */
  weir_imbalance imbalance;
  int64_t run;        /* of several runs that differ in what is drawn */
  weir_comm_cfg comm; /* messages */
} weir_scaling;

/* Means over ranks and steps. */
typedef struct weir_scaling_result {
  double step_s;     /* from the begin of a step to that of the next one */
  double slowest_s;  /* the same of the rank that ends last */
  double waited_s;   /* of it in the exchange */
  double sent;       /* messages a rank sends, without those by which a version begins */
  double sent_bytes; /* bytes of these */
  double fresh;      /* fraction of contributions that were in the exchange of their own step */
} weir_scaling_result;

/* Whether steps under the policy can be simulated and measured: ranks here have zeros in place of
 * gradients, and simulated ones fewer of them. Local. Fails: WEIR_ERR_UNSUPPORTED, where the bytes
 * of its messages are not in proportion to the number of elements alone. */
weir_status weir_scaling_check(const weir_exchange_desc *policy) WEIR_CHECKED;
/* Simulates the steps on so many ranks of the network. Local; uses a thread for each rank, of which
 * one runs at a time, and about 0.3 GB of memory for 1024 ranks, 2 GB for 4096. Fails:
 * WEIR_ERR_STOPPED after a signal; as weir_scaling_check, weir_exchange_open and weir_inproc_run.
 */
weir_status weir_scaling_simulate(const weir_scaling *s, const weir_network *network, int ranks,
                                  weir_scaling_result *out) WEIR_CHECKED;
/* Measures them on the ranks of c, each of which sleeps while it is to compute. The same result on
 * all ranks. Collective. Fails: as weir_scaling_check, weir_exchange_open and weir_exchange_run; a
 * signal to any rank ends all by weir_comm_abort with WEIR_ERR_STOPPED. */
weir_status weir_scaling_measure(const weir_scaling *s, weir_comm *c,
                                 weir_scaling_result *out) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
