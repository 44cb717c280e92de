/* weir_request.h - communication that is prepared once and started as often as wanted, while the
 * ranks compute.
 *
 * A request is a list of rounds: local work (packing, merging), then messages that the next round
 * waits for. It moves on whenever any request of the run is tested or waited for, or
 * weir_requests_progress is called: a long computation calls that between its pieces. Several may
 * be under way at once, started in another order on every rank.
 *
 * All ranks of a group create the same requests in the same order. Memory that a request is given
 * stays where it is until the request is destroyed, and is not touched between start and the end.
 * Calls must not run concurrently in two threads. */
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

/* A box that goes to a rank of the group, or comes from it. */
typedef struct weir_transfer {
  int peer;
  bool receive;
  weir_block block;
} weir_transfer;

/* Sends and receives boxes. What goes from one rank to another travels together, in the order of
 * the list on both sides; boxes without elements need no partner. From a rank to itself is a copy.
 * name: for messages, outlives the request. Collective. Fails on all ranks alike: WEIR_ERR_SHAPE (a
 * peer or box that cannot be; a rank sends another number of bytes than its peer receives),
 * WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL. */
weir_status weir_exchange_create(weir_comm *c, const char *name, const weir_transfer *list,
                                 int64_t n, weir_request **out) WEIR_CHECKED;

/* A dense piece of memory for a rank of the group, another one than this, or from it. */
typedef struct weir_message {
  int peer;
  bool receive;
  void *data;
  int64_t bytes;
} weir_message;

/* Sends and receives what both ends know to come, such as what they worked out from the same plan:
 * nothing is asked or compared before. Between two ranks, the lists of both have the same messages
 * in the same order; else one waits in vain. Local, but a request as any other: all ranks of the
 * group create one, be it empty. Fails: WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL; the others do not
 * learn of it. */
weir_status weir_messages_create(weir_comm *c, const char *name, const weir_message *list,
                                 int64_t n, weir_request **out) WEIR_CHECKED;

/* How elements of ranks are merged. `into` holds what lower ranks gave, `from` higher ones. */
typedef struct weir_reducer {
  const char *name;
  size_t size; /* bytes of an element */
  void (*merge)(void *into, const void *from, int64_t count);
} weir_reducer;

typedef enum weir_reduce_op {
  WEIR_REDUCE_SUM,
  WEIR_REDUCE_PROD,
  WEIR_REDUCE_MAX, /* NaN if any is NaN */
  WEIR_REDUCE_MIN  /* likewise */
} weir_reduce_op;
/* NULL for bool, bf16 and f16, whose partial results are made in other dtypes, and for every merge
 * of complex numbers but the sum. */
const weir_reducer *weir_reducer_of(weir_reduce_op merge, weir_dtype dtype);

/* All ranks get the merge of their `count` elements, in place. The tree of merges is that of the
 * rank numbers, T(lo, n) = T(lo, h) T(lo + h, n - h) with h the largest power of 2 below n,
 * whatever messages carry it: the same bits on every rank, in every run and for every size of
 * message. Collective. Fails as an exchange. */
weir_status weir_allreduce_create(weir_comm *c, const char *name, const weir_reducer *reducer,
                                  void *data, int64_t count, weir_request **out) WEIR_CHECKED;
/* How the messages of an allreduce of that many bytes follow one another, where comm.tree_max_bytes
 * is `tree`. Along the tree everything goes up to rank 0 and down again; else each rank merges its
 * share, which all others send it and get back. Nothing is sent where there are no bytes. */
typedef struct weir_allreduce_way {
  bool tree;
  int64_t steps; /* messages one after another, every second to be merged; no rank sends more */
  double bytes;  /* of each of these */
} weir_allreduce_way;
weir_allreduce_way weir_allreduce_way_of(int ranks, int64_t bytes, int64_t tree);
/* The same, where rank r gets its counts[r] elements only, which lie at their place in `data` (all
 * blocks, one after the other); the others stay as they were. counts: [ranks], the same on all,
 * not kept. Collective. Fails as an exchange. */
weir_status weir_reduce_scatter_create(weir_comm *c, const char *name, const weir_reducer *reducer,
                                       void *data, const int64_t *counts,
                                       weir_request **out) WEIR_CHECKED;
/* All ranks get all blocks: rank r gives counts[r] elements of `size` bytes, at their place in
 * `data`. counts as above. Collective. Fails as an exchange. */
weir_status weir_allgather_create(weir_comm *c, const char *name, size_t size, void *data,
                                  const int64_t *counts, weir_request **out) WEIR_CHECKED;

/* Accepts NULL and nulls. Local, once all ranks are done with it or have failed. */
void weir_request_destroy(weir_request **r);
/* Not while it is under way. Local. Fails: WEIR_ERR_EXTERNAL. */
weir_status weir_request_start(weir_request *r) WEIR_CHECKED;
/* Moves all requests on; *done when this one is finished, or was never started. Local. Fails:
 * WEIR_ERR_EXTERNAL. */
weir_status weir_request_test(weir_request *r, bool *done) WEIR_CHECKED;
/* Returns when it is finished. Fails: WEIR_ERR_EXTERNAL, also when nothing has moved for as long as
 * comm.timeout, naming the ranks it waits for; then weir_comm_abort is all that is left. */
weir_status weir_request_wait(weir_request *r) WEIR_CHECKED;
/* Moves all requests of the run on. Local. Fails: WEIR_ERR_EXTERNAL. */
weir_status weir_requests_progress(weir_comm *c) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
