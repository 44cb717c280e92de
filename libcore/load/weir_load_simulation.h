/* weir_load_simulation.h - time of a training under policies of loading, without reading a sample:
 * the performance model of NoPFS (Dryden et al., SC'21, arXiv:2101.08734, sections 4 and 6) on the
 * access stream of the loader itself (weir_sampler.h), with its options and tables (weir_load.h).
 *
 * Worker i fetches access f into its staging buffer by p_0 threads and computes it at c MB/s:
 *
 *   t_f     = max(avail_f, t_(f-1) + s / c)                          begin of the computation
 *   avail_f = max(avail_(f-1), end of access f - slots) + read_f / p_0
 *   read_f  = fetch_f + max(s / beta, s / (w_0(p_0) / p_0))
 *   fetch_f = s over MB/s of one thread: r_j(p_j) / p_j of a local tier j, at most the network of
 * one of another worker, t(g) / g / p_0 of the source with g workers that read
 *
 * Samples have one size s; slots: samples of the staging buffer (the paper has no limit there). In
 * the paper a thread has t(g) / g by itself (source_per_thread), so that p_0 threads exceed the
 * share of their worker. */
#ifndef WEIR_LOAD_SIMULATION_H
#define WEIR_LOAD_SIMULATION_H
#include "load/weir_load.h"
#ifdef __cplusplus
extern "C" {
#endif

/* The section `loading:` of a configuration; rows in weir_load_simulation_opts. */
typedef struct weir_load_simulation {
  weir_int_list workers;
  weir_string_list policies; /* empty: all */
  int64_t samples, sample_bytes, batch, epochs, seed;
  double compute_speed, preprocess_speed, network_speed; /* MB/s */
  bool source_per_thread;
} weir_load_simulation;
extern const weir_opt weir_load_simulation_opts[];

/* Results of all workers. */
typedef struct weir_load_simulated {
  double seconds;                /* until the last worker has computed its last sample */
  double bound_s;                /* the same without waiting for samples */
  double staged_s;               /* part of `seconds` before the first step (sharding) */
  double stalled_s;              /* waiting for samples, mean over workers */
  int64_t from[WEIR_LOAD_TIERS]; /* accesses by where the sample came from */
  double touched;                /* share of the samples that a worker accesses, mean */
  double reached;                /* share of the samples that any worker accesses */
} weir_load_simulated;

/* Checks what does not depend on the policy, and the names of policies. Fails: WEIR_ERR_CONFIG,
 * naming the key. */
weir_status weir_load_simulation_check(const weir_load_cfg *load,
                                       const weir_load_simulation *s) WEIR_CHECKED;
/* Returns the number of the policy of this name; -1: there is none. */
int weir_load_policy(const char *name);
/* Returns the name of policy k, in the order of the table; NULL: there are no more. */
const char *weir_load_policy_name(int k);
/* Returns what it does, as a sentence. */
const char *weir_load_policy_help(int k);
/* Simulates a training under policy k on so many workers. Local. Fails: WEIR_ERR_CONFIG where the
 * policy cannot hold the samples (LBANN's store: beyond the memory of all workers; shards without
 * storage); WEIR_ERR_MEMORY; WEIR_ERR_STOPPED after a signal. */
weir_status weir_load_simulate(const weir_load_cfg *load, const weir_load_simulation *s, int k,
                               int64_t workers, weir_load_simulated *out) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
