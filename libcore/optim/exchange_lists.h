/* exchange_lists.h - lists of elements between ranks: those of all ranks on each, and the sum of
 * all of a region on the rank that owns it. */
#ifndef WEIR_EXCHANGE_LISTS_H
#define WEIR_EXCHANGE_LISTS_H
#include "optim/exchange_sparse.h"

/* An allgather of blocks whose sizes change from run to run. */
typedef struct exchange_gather {
  weir_varying_message *list;
  weir_request *request;
  int64_t *bytes, *index_bytes; /* [ranks] of each block, the same on all ranks; set before place */
  int64_t *at;                  /* [ranks + 1] blocks in data, multiples of 8 bytes; set by place */
  char *data;
  int64_t capacity;
} exchange_gather;

/* Opens it over the ranks of c. Collective. Fails on all ranks alike: WEIR_ERR_MEMORY,
 * WEIR_ERR_EXTERNAL. */
weir_status exchange_gather_open(weir_comm *c, exchange_gather *out) WEIR_CHECKED;
void exchange_gather_close(exchange_gather *g);
/* Finds places for the blocks, after which this rank writes its own. Local. Fails: WEIR_ERR_MEMORY
 * where they are more bytes than ever before. */
weir_status exchange_gather_place(weir_comm *c, exchange_gather *g) WEIR_CHECKED;
/* Blocks that are lists. Sets the sizes of that of a rank, which has n elements; returns it, once
 * it has its place; makes the sum of those of all ranks that of the parts, in the order of ranks.
 */
void exchange_gather_expect(const exchange_sparse *x, exchange_gather *g, int rank, int64_t n);
exchange_list exchange_gather_block(const exchange_sparse *x, const exchange_gather *g, int rank);
void exchange_gather_sum(const exchange_sparse *x, const exchange_gather *g);

/* An allgather of a few numbers of each rank. */
typedef struct exchange_numbers {
  int64_t *n; /* [ranks, each] */
  weir_request *request;
} exchange_numbers;

/* Opens it over the ranks of c. Collective. Fails on all ranks alike: WEIR_ERR_MEMORY,
 * WEIR_ERR_EXTERNAL. */
weir_status exchange_numbers_open(weir_comm *c, int64_t each, exchange_numbers *out) WEIR_CHECKED;
void exchange_numbers_close(exchange_numbers *x);

/* A sum by regions: every rank owns one, gets what all have selected of it and adds it up. Messages
 * go in batches of a few ranks, in another order on each rank, and one batch is added while the
 * next one is on its way (Li and Hoefler 2022, section 3.1.1). */
typedef struct exchange_split {
  const exchange_sparse *x;
  int64_t *first;       /* [ranks + 1] regions: elements first[r] to first[r + 1] of rank r; set
                           before run, the same on all ranks */
  int64_t *give, *take; /* [ranks] elements for each rank and from it */
  int64_t *at;          /* [ranks] of messages in `out`, or in `in` */
  char *out, *in;       /* messages; `in`: of two batches */
  int64_t out_capacity, in_capacity, sum_capacity;
  weir_varying_message *list; /* [ranks - 1, 2] to receive and to send, batch by batch */
  weir_request *counts;       /* exchanges give and take */
  weir_request **batch;
  int n_batches;
  void *sum; /* of this rank's region, dense: element first[rank] is its first */
} exchange_split;

/* Opens it for the lists of x; regions are equal at first. Collective. Fails on all ranks alike:
 * WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL. */
weir_status exchange_split_open(const exchange_sparse *x, exchange_split *out) WEIR_CHECKED;
void exchange_split_close(exchange_split *s);
/* Sums up x->own of all ranks. Collective. Fails: as weir_request_run; WEIR_ERR_MEMORY where a rank
 * gets more than ever before. */
weir_status exchange_split_run(exchange_split *s) WEIR_CHECKED;
/* Returns the elements of this rank's region. */
int64_t exchange_split_length(const exchange_split *s);

#endif
