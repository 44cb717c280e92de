/* exchange_segment.h - the mean of one segment of exchange_butterfly.h, in steps, so that those of
 * several segments are under way at once. */
#ifndef WEIR_EXCHANGE_SEGMENT_H
#define WEIR_EXCHANGE_SEGMENT_H
#include "comm/weir_request.h"
#include "optim/exchange_share.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct exchange_segment exchange_segment;

typedef struct exchange_segment_spec {
  weir_comm *comm; /* outlives it */
  weir_dtype dtype;
  int64_t begin, count;  /* elements of all */
  const int64_t *shares; /* [ranks] that each rank reduces, `count` in all. Copied */
  double timeout_s;
  double late; /* < 1: fraction of it by which its contributions may come later: those of earlier
                  segments go before them */
} exchange_segment_spec;

/* Creates it. share [ranks], which outlives it, has what became of its shares. Collective. Fails on
 * all ranks alike: WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL. */
weir_status exchange_segment_create(const exchange_segment_spec *spec, exchange_share *share,
                                    exchange_segment **out) WEIR_CHECKED;
/* Destroys it; accepts NULL and nulls. Local. */
void exchange_segment_destroy(exchange_segment **s);
/* As exchange_butterfly_look, _expect and _drain. */
weir_status exchange_segment_look(exchange_segment *s, int64_t *newest) WEIR_CHECKED;
void exchange_segment_expect(exchange_segment *s, int rank);
weir_status exchange_segment_drain(exchange_segment *s, int64_t *newest) WEIR_CHECKED;
/* Begins a version. */
void exchange_segment_begin(exchange_segment *s, int64_t version);
/* Sends and takes what it can; given, mean: all elements. Contributions follow those of `before`, a
 * segment or NULL, to the same rank, so that means of earlier segments go in between. *ended: the
 * version has; otherwise *until: the time of the next timeout. Local. Fails: WEIR_ERR_EXTERNAL. */
weir_status exchange_segment_step(exchange_segment *s, const exchange_segment *before,
                                  const void *given, double weight, void *mean, bool *ended,
                                  double *until) WEIR_CHECKED;
/* Ends a version after its last step. Local. Fails: WEIR_ERR_EXTERNAL. */
weir_status exchange_segment_end(exchange_segment *s) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
