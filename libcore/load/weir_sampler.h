/* weir_sampler.h - which samples training visits, when, and in which group of ranks: the one
 * statement of it. Training takes its batches from here, and the loader what comes next.
 *
 * An epoch visits positions [0, weir_sampler_epoch) in order, `batch` of them at once; the groups
 * of a batch share its positions. Every position is known without those before it. */
#ifndef WEIR_SAMPLER_H
#define WEIR_SAMPLER_H
#include <stdbool.h>
#include "load/weir_shuffle.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_sampler {
  int64_t samples; /* of the set */
  int64_t batch;   /* computed at once, by all groups together; above 0 */
  int64_t step;    /* of an update: a multiple of batch */
  bool shuffle;    /* else each epoch is 0, 1, 2 ... */
  bool drop_last;  /* an epoch ends with its last whole update */
  uint64_t seed;
} weir_sampler;

/* Samples that an epoch visits. */
int64_t weir_sampler_epoch(const weir_sampler *o);
/* sample[n]: those at positions [at, at + n) of an epoch. */
void weir_sampler_take(const weir_sampler *o, int64_t epoch, int64_t at, int64_t n,
                       int64_t *sample);

/* Positions [*lo, *hi) of n that are computed at once which group `at` of `of` has; none where n is
 * below `of` and others have them. Counts differ by one at most. */
void weir_sampler_share(int64_t n, int64_t at, int64_t of, int64_t *lo, int64_t *hi);

/* What one group visits: visit 0, 1, 2 ... of a whole training, epoch after epoch. */
typedef struct weir_access_stream {
  weir_sampler order;
  int64_t at, of;        /* this group, of all groups */
  int64_t each;          /* visits of an epoch; 0: there are more groups than samples */
  int64_t batches;       /* whole ones of an epoch */
  int64_t lo, whole;     /* positions of this group in a whole batch: first, how many */
  int64_t tail_lo, tail; /* and in the rest after them */
} weir_visits;

/* Of group `at` of `of`. */
weir_visits weir_visits_of(const weir_order *o, int64_t at, int64_t of);
/* The first visit at or after a position of an epoch where a batch begins. */
int64_t weir_visits_from(const weir_visits *v, int64_t epoch, int64_t position);
/* Position of a visit in its epoch, visit / each; its sample. Only where there are any. */
int64_t weir_access_stream_position(const weir_access_stream *v, int64_t visit);
int64_t weir_access_stream_sample(const weir_access_stream *v, int64_t visit);

#ifdef __cplusplus
}
#endif
#endif
