/* simulation_priv.h - a simulated training, and what a policy of loading is. */
#ifndef SIMULATION_PRIV_H
#define SIMULATION_PRIV_H
#include "load/load_priv.h"
#include "load/weir_load_simulation.h"

/* Where a sample is fetched from: a weir_load_tier, or the directory of another worker. */
enum { LOAD_FAR_DIRECTORY = WEIR_LOAD_TIERS, LOAD_ORIGINS };

/* What a worker has of a sample: the tier of its plan, and flags. */
enum { LOAD_HAS_TIER = 3, LOAD_HAS = 4, LOAD_WANTS_COPY = 8, LOAD_HAS_COPY = 16 };

typedef struct load_simulation {
  const weir_load_cfg *load;
  const weir_load_simulation *s;
  weir_sampler order;
  int64_t workers, batches;       /* batches of the whole training */
  int64_t capacity[LOAD_CLASSES]; /* of a worker, in samples */
  double fetch_s[LOAD_ORIGINS];   /* seconds of a thread, with all workers reading; INFINITY: not
                                     available */
  load_owners owners;
  bool remote;                 /* policy weir: owners send their samples */
  uint8_t *state;              /* [workers, samples] of a plan; or NULL */
  int32_t *held[LOAD_CLASSES]; /* [samples] workers that have it in a tier; or NULL */
  int64_t *count;              /* [workers] accesses, cached samples; or NULL */
  int64_t *scratch;            /* [batch] */
  double staged_s;
} load_simulation;

/* A policy. `prepare` refuses with WEIR_ERR_CONFIG where it cannot work. */
typedef struct load_policy {
  const char *name, *help;
  bool waits; /* reads a sample when it is due, by one thread; else ahead by those of staging */
  weir_status (*prepare)(load_simulation *l);
  /* Reorders the samples of a batch among the workers. */
  void (*share)(load_simulation *l, int64_t batch, int64_t n, int64_t *sample);
  /* Returns where worker i has a sample from in a batch; *sample may be another one (sharding). */
  int (*origin)(load_simulation *l, int64_t batch, int64_t i, int64_t *sample);
} load_policy;
extern const load_policy load_policies[];

/* Returns seconds of a fetch from the source by one thread while so many workers read. */
double load_source_s(const load_simulation *l, int64_t readers);
#endif
