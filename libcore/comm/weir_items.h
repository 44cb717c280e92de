/* weir_items.h - a list of items, such as samples, records or files, of which each rank processes
 * its share; rank 0 receives the results in the order of the items. */
#ifndef WEIR_ITEMS_H
#define WEIR_ITEMS_H
#include "comm/weir_comm.h"
#ifdef __cplusplus
extern "C" {
#endif

/* A result as bytes; all zero: empty. */
typedef struct weir_bytes {
  char *data;
  int64_t count, capacity;
} weir_bytes;

/* Appends n bytes. Fails: WEIR_ERR_MEMORY. */
weir_status weir_bytes_put(weir_bytes *b, const void *data, int64_t n) WEIR_CHECKED;
/* Copies n bytes from *at on and advances *at: the inverse of weir_bytes_put. Fails:
 * WEIR_ERR_SHAPE where fewer are left, up to `end`. */
weir_status weir_bytes_get(const char **at, const char *end, void *data, int64_t n) WEIR_CHECKED;

/* What is done with the items of a list. */
typedef struct weir_items {
  weir_comm *comm;         /* NULL: one rank */
  const char *what, *unit; /* for messages: "predict", "samples" */
  int64_t n;
  /* Processes item i and appends its result to *out, which is empty. On the rank of the item. */
  weir_status (*make)(void *context, int64_t i, weir_bytes *out);
  /* Takes the result of item i: n bytes, borrowed. On rank 0, in the order of the items, so that
   * files and sums are those of one rank to the bit. NULL: there is nothing to take. */
  weir_status (*take)(void *context, int64_t i, const char *data, int64_t n);
} weir_items;

/* Processes all items, the ranks in turn: rounds of one item per rank, whose results rank 0 takes
 * before the next round begins, so that memory holds one result per rank. Messages of other ranks
 * appear while they process their items. Items are taken up to the first that fails; its failure is
 * that of all ranks. Collective; begins with weir_comm_agree (weir_job_run_shared: other ranks may
 * have failed before). Fails on all ranks: as make and take; WEIR_ERR_STOPPED once a stop was
 * requested on any rank (weir_signal.h), WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL. */
weir_status weir_items_run(const weir_items *w, void *context) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
