/* slabs.h - the planes of a mesh divided into slabs over ranks, and buffers between all of them. */
#ifndef CF_SLABS_H
#define CF_SLABS_H
#include <stdint.h>
#include "comm/weir_comm.h"

/* Planes [first, first + count). */
typedef struct cf_range {
  int64_t first, count;
} cf_range;

/* Returns the planes of a rank, of n: in the order of the ranks, numbers that differ by one at
 * most. */
cf_range cf_slab(int64_t n, int ranks, int rank);
/* Returns the rank of a plane of n. */
int cf_slab_owner(int64_t n, int ranks, int64_t plane);

typedef struct cf_buffer {
  void *data;
  int64_t bytes;
} cf_buffer;

/* Sends to[r] to every rank r of comm, itself included, and receives from[r], [ranks], whose bytes
 * both ends know. A failure ends the run (weir_comm_abort), since other ranks wait. Collective. */
void cf_slabs_exchange(weir_comm *comm, const cf_buffer *to, const cf_buffer *from);
/* Tells every rank r the number to[r], [ranks], and gets theirs. Likewise. */
void cf_slabs_announce(weir_comm *comm, const int64_t *to, int64_t *from);
#endif
