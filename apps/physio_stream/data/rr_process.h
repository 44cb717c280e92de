/* rr_process.h - an endless series of RR intervals with the two-peaked spectrum of ECGSYN, and
 * with changes from beat to beat where these are asked for. */
#ifndef PS_RR_PROCESS_H
#define PS_RR_PROCESS_H
#include <stdint.h>
#include "data/ecgsyn_options.h"

/* Blocks of the process that one moment can need. */
#define PS_RR_BLOCKS 3

typedef struct ps_rr_process {
  const ps_ecgsyn_opts *opts; /* borrowed */
  uint64_t seed;
  int64_t points;               /* of one block, a multiple of 4                 */
  int64_t cached[PS_RR_BLOCKS]; /* index of the block in each slot, -1 for none */
  double *block[PS_RR_BLOCKS];  /* points values each: zero mean, unit variance  */
  double *cosine;               /* cos(2 pi k / points)                          */
} ps_rr_process;

/* Initialises the process. Fails: WEIR_ERR_MEMORY; fini is then still due. */
weir_status ps_rr_init(const ps_ecgsyn_opts *opts, uint64_t seed, ps_rr_process *rr) WEIR_CHECKED;
void ps_rr_fini(ps_rr_process *rr);
/* Returns the RR interval (s) of a beat that starts at `time` s >= 0; times of successive calls
 * ascend. */
double ps_rr_at(ps_rr_process *rr, double time);

/* Bounds of an interval, s: 300 and 20 beats a minute. */
#define PS_RR_SHORTEST 0.2
#define PS_RR_LONGEST 3.0
#endif
