/* weir_imbalance.h - how unevenly ranks compute: delays drawn for every step and rank, the same
 * whether a step is simulated or really waits. */
#ifndef WEIR_IMBALANCE_H
#define WEIR_IMBALANCE_H
#include "conf/weir_opt.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_imbalance_family {
  WEIR_IMBALANCE_NONE,
  WEIR_IMBALANCE_FIXED,  /* the first `ranks` ranks, by delay_s in every step */
  WEIR_IMBALANCE_RANDOM, /* `ranks` ranks drawn for each step, by delay_s */
  WEIR_IMBALANCE_TAIL,   /* every rank, by exp(mu + sigma N) seconds, N standard normal, at most
                            max_s */
  WEIR_IMBALANCE_SLOW,   /* the first `ranks` ranks, to `factor` times the computing time */
  WEIR_IMBALANCE_BURSTS  /* `ranks` neighbours, drawn every `length` steps, by delay_s */
} weir_imbalance_family;

/* Rows in weir_imbalance_opts. */
typedef struct weir_imbalance {
  int family; /* weir_imbalance_family */
  int64_t ranks, length, seed;
  double delay_s, mu, sigma, max_s, factor;
} weir_imbalance;
extern const weir_opt weir_imbalance_opts[];

/* Returns the seconds by which a rank of so many is late in a step, counted from 0, that computes
 * for compute_s; a function of its arguments (weir_random.h). run: of several runs with the same
 * options, from 0. */
double weir_imbalance_delay(const weir_imbalance *m, int64_t run, double compute_s, int rank,
                            int ranks, int64_t step);

#ifdef __cplusplus
}
#endif
#endif
