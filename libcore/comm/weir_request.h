/* weir_request.h - persistent communication requests: prepared once, started repeatedly, overlapped
 * with computation.
 *
 * A request is a list of rounds: local work (packing, merging), then messages that the next round
 * waits for. It progresses whenever any request of the run is tested or waited for, or
 * weir_requests_progress is called: long computations call it between their steps. Several requests
 * may be active at once, started in a different order on every rank.
 *
 * All ranks of a group create the same requests in the same order. Buffers of a request must not
 * move until it is destroyed, and must not be accessed between start and completion. Only one
 * thread of a rank calls; one that belongs to schedules (weir_schedule.h) may progress the requests
 * in addition. */
#ifndef WEIR_REQUEST_H
#define WEIR_REQUEST_H
#include <stdbool.h>
#include <stddef.h>
#include "base/weir_dtype.h"
#include "comm/weir_comm.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_BLOCK_DIMS 10

typedef struct weir_request weir_request;

/* A box of an array in memory: count[d] elements of `size` bytes along dimension d, stride[d]
 * elements apart. data: its first element. */
typedef struct weir_block {
  void *data;
  size_t size;
  int rank;
  int64_t count[WEIR_BLOCK_DIMS], stride[WEIR_BLOCK_DIMS];
} weir_block;

/* A box that is sent to a rank of the group, or received from it. */
typedef struct weir_transfer {
  int peer;
  bool receive;
  weir_block block;
} weir_transfer;

/* Creates an exchange of boxes. Boxes from one rank to another travel in one message, in the order
 * of the list on both sides; empty boxes need no partner. From a rank to itself: a copy. name: for
 * messages, outlives the request. Collective. Fails on all ranks alike: WEIR_ERR_SHAPE (an invalid
 * peer or box; a rank sends another number of bytes than its peer receives), WEIR_ERR_MEMORY,
 * WEIR_ERR_EXTERNAL. */
weir_status weir_exchange_create(weir_comm *c, const char *name, const weir_transfer *list,
                                 int64_t n, weir_request **out) WEIR_CHECKED;

/* A contiguous buffer for another rank of the group, or from it. */
typedef struct weir_message {
  int peer;
  bool receive;
  void *data;
  int64_t bytes;
} weir_message;

/* Creates an exchange whose messages both ends know in advance, for example computed from the same
 * plan: nothing is compared. Between two ranks, the lists of both must have the same messages in
 * the same order; else one waits until the timeout. Local, but as for any request all ranks of the
 * group create one, possibly empty. Fails: WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL; the other ranks are
 * not informed. */
weir_status weir_messages_create(weir_comm *c, const char *name, const weir_message *list,
                                 int64_t n, weir_request **out) WEIR_CHECKED;

/* A message whose place and size may differ from one start of its request to the next. */
typedef struct weir_varying_message {
  int peer;
  bool receive;
  void *data;
  int64_t bytes;       /* at most INT_MAX; 0: no message */
  int64_t index_bytes; /* of these, those of indices: for weir_comm_counted alone */
} weir_varying_message;

/* Creates an exchange of such messages: their data and bytes are read from the list when the
 * request is started, their peers and directions now. The list outlives the request and does not
 * change while that is active. Both ends know the bytes: ranks exchange these before, where they do
 * not follow from what all know. Messages are not segmented. Otherwise as weir_messages_create. */
weir_status weir_varying_create(weir_comm *c, const char *name, const weir_varying_message *list,
                                int64_t n, weir_request **out) WEIR_CHECKED;

/* Reduction operator: `into` holds the result of lower ranks, `from` of higher ones. */
typedef struct weir_reducer {
  const char *name;
  size_t size;   /* bytes of an element */
  bool commutes; /* merge gives the same with both exchanged, NaN aside */
  void (*merge)(void *into, const void *from, int64_t count);
} weir_reducer;

typedef enum weir_reduce_op {
  WEIR_REDUCE_SUM,
  WEIR_REDUCE_PROD,
  WEIR_REDUCE_MAX, /* NaN if any is NaN */
  WEIR_REDUCE_MIN  /* likewise */
} weir_reduce_op;
/* Returns the reduction operator. NULL for bool, bf16 and f16, whose partial results have other
 * dtypes, and for complex numbers except sums. */
const weir_reducer *weir_reducer_of(weir_reduce_op merge, weir_dtype dtype);

/* Creates an allreduce of `count` elements, in place. The reduction tree follows the rank numbers,
 * T(lo, n) = T(lo, h) T(lo + h, n - h) with h the largest power of 2 below n, whatever messages
 * carry it: bitwise identical results on every rank, in every run and for every message size.
 * Collective. Fails as an exchange. */
weir_status weir_allreduce_create(weir_comm *c, const char *name, const weir_reducer *reducer,
                                  void *data, int64_t count, weir_request **out) WEIR_CHECKED;
/* Creates an allreduce that works in the caller's memory: `scratch` of so many elements as
 * weir_allreduce_scratch returns for large messages, which nothing else uses while the request
 * runs. One of small messages may take memory of its own in addition. */
weir_status weir_allreduce_create_in(weir_comm *c, const char *name, const weir_reducer *reducer,
                                     void *data, int64_t count, void *scratch,
                                     weir_request **out) WEIR_CHECKED;
/* Returns the elements of scratch that an allreduce of large messages takes; 0 of one rank. */
int64_t weir_allreduce_scratch(int ranks, int64_t count);
typedef enum weir_allreduce_path {
  WEIR_ALLREDUCE_TREE,   /* everything is reduced to rank 0 along the tree, and broadcast */
  WEIR_ALLREDUCE_HALVES, /* recursive halving and doubling: a power of 2 of ranks */
  WEIR_ALLREDUCE_SHARES  /* each rank reduces its share, which all others send and get back */
} weir_allreduce_path;
/* Message pattern of an allreduce of that many bytes, where comm.tree_max_bytes is `tree`: up to it
 * the tree, above it that of few bytes with the fewest messages. Without bytes nothing is sent. */
typedef struct weir_allreduce_way {
  weir_allreduce_path path;
  int64_t steps; /* messages one after another, every second to be merged; no rank sends more */
  double bytes;  /* of each of these, on average */
} weir_allreduce_way;
weir_allreduce_way weir_allreduce_way_of(int ranks, int64_t bytes, int64_t tree);
/* Creates a reduce-scatter: rank r receives only its counts[r] elements, at their position in
 * `data` (all blocks concatenated); the others are unchanged. counts: [ranks], the same on all
 * ranks, copied. Collective. Fails as an exchange. */
weir_status weir_reduce_scatter_create(weir_comm *c, const char *name, const weir_reducer *reducer,
                                       void *data, const int64_t *counts,
                                       weir_request **out) WEIR_CHECKED;
/* Creates an allgather: rank r gives counts[r] elements of `size` bytes, at their position in
 * `data`. counts as above. Collective. Fails as an exchange. */
weir_status weir_allgather_create(weir_comm *c, const char *name, size_t size, void *data,
                                  const int64_t *counts, weir_request **out) WEIR_CHECKED;

/* Destroys the request; accepts NULL and nulls. Local, once all ranks have completed it or failed.
 */
void weir_request_destroy(weir_request **r);
/* Starts the request, which must not be active. Local. Fails: WEIR_ERR_EXTERNAL. */
weir_status weir_request_start(weir_request *r) WEIR_CHECKED;
/* Progresses all requests; sets *done when this one is complete, or was never started. Local.
 * Fails: WEIR_ERR_EXTERNAL. */
weir_status weir_request_test(weir_request *r, bool *done) WEIR_CHECKED;
/* Returns whether the request is complete, or was never started, without progress. Local. */
bool weir_request_is_done(const weir_request *r);
/* Waits for completion. Fails: WEIR_ERR_EXTERNAL, also after comm.timeout without progress, naming
 * the missing ranks; then only weir_comm_abort is possible. */
weir_status weir_request_wait(weir_request *r) WEIR_CHECKED;
/* Starts the request and waits for its completion. Fails as these do. */
weir_status weir_request_run(weir_request *r) WEIR_CHECKED;
/* The same for a request that is needed once: destroys it and nulls, also on failure. */
weir_status weir_request_run_once(weir_request **r) WEIR_CHECKED;
/* Progresses all requests of the run. Local. Fails: WEIR_ERR_EXTERNAL. */
weir_status weir_requests_progress(weir_comm *c) WEIR_CHECKED;
/* Likewise; where none gets further, this rank has nothing else to do until one does, or until
 * weir_comm_clock is `until`: 0 only looks. It may return earlier: call it in a loop. Local. Fails:
 * WEIR_ERR_EXTERNAL. */
weir_status weir_requests_pause(weir_comm *c, double until) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
