/* weir_order.h - the
 * sample order of training: which sample is accessed when and by which group of ranks. Training
 * takes its batches from it, and the loader its access stream.
 *
 * An
 * epoch accesses positions [0, weir_sampler_epoch) in order, `batch` of them at once; the groups of
 * a batch share its positions. Every position is computed independently of the others. */
#ifndef WEIR_ORDER_H
#define WEIR_ORDER_H
#include <stdbool.h>
#include "load/weir_shuffle.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_sampler {
  int64_t samples; /* of the data set */
  int64_t batch;   /* computed at once, by all groups together; above 0 */
  int64_t step;    /* of an update: a multiple of batch */
  bool shuffle;    /* else each epoch is 0, 1, 2 ... */
  bool drop_last;  /* an epoch ends with its last complete update */
  uint64_t seed;
} weir_sampler;

/* Returns the number of samples of an epoch. */
int64_t weir_sampler_epoch(const weir_sampler *o);
/* Writes sample[n]: those at positions [at, at + n) of an epoch. */
void weir_sampler_take(const weir_sampler *o, int64_t epoch, int64_t at, int64_t n,
                       int64_t *sample);

/* Returns the positions [*lo, *hi) of a batch of n for group `at` of `of`; none for some groups
 * where n is below `of`. Counts differ by at most one. */
void weir_sampler_share(int64_t n, int64_t at, int64_t of, int64_t *lo, int64_t *hi);

/* Access stream of one group: access 0, 1, 2 ... of a whole training, epoch after epoch. */
typedef struct weir_access_stream {
  weir_sampler order;
  int64_t at, of;        /* this group, of all groups */
  int64_t each;          /* accesses per epoch; 0: there are more groups than samples */
  int64_t batches;       /* complete ones of an epoch */
  int64_t lo, whole;     /* positions of this group in a complete batch: first, number */
  int64_t tail_lo, tail; /* and in the remaining one */
} weir_access_stream;

/* Initialises the access stream of group `at` of `of`. */
weir_access_stream weir_access_stream_of(const weir_sampler *o, int64_t at, int64_t of);
/* Returns the first access at or after a position of an epoch where a batch begins. */
int64_t weir_access_stream_from(const weir_access_stream *v, int64_t epoch, int64_t position);
/* Return the position of an access in its epoch, access / each; its sample. Only where there are
 * any. */
int64_t weir_access_stream_position(const weir_access_stream *v, int64_t visit);
int64_t weir_access_stream_sample(const weir_access_stream *v, int64_t visit);

#ifdef __cplusplus
}
#endif
#endif
