/* slabs.c - see slabs.h. */
#include "data/simulation/slabs.h"
#include <string.h>
#include "base/weir_alloc.h"
#include "comm/weir_request.h"

cf_range cf_slab(int64_t n, int ranks, int rank)
{
  const int64_t first = n * rank / ranks;

  return (cf_range){first, n * (rank + 1) / ranks - first};
}

int cf_slab_owner(int64_t n, int ranks, int64_t plane)
{
  return (int)(((plane + 1) * ranks - 1) / n); /* the last one that begins at or before it */
}

/* Receives before sends, and the next rank first, so that not all begin with the same one. */
static int64_t list_messages(const weir_comm *comm, const cf_buffer *to, const cf_buffer *from,
                             weir_message *list)
{
  const int ranks = weir_comm_size(comm), rank = weir_comm_rank(comm);
  int64_t n = 0;

  for (int k = 1; k < ranks; k++) {
    const int peer = (rank + ranks - k) % ranks;

    if (from[peer].bytes > 0) {
      list[n++] = (weir_message){peer, true, from[peer].data, from[peer].bytes};
    }
  }
  for (int k = 1; k < ranks; k++) {
    const int peer = (rank + k) % ranks;

    if (to[peer].bytes > 0) {
      list[n++] = (weir_message){peer, false, to[peer].data, to[peer].bytes};
    }
  }
  return n;
}

static weir_status exchange(weir_comm *comm, const cf_buffer *to, const cf_buffer *from)
{
  const int ranks = weir_comm_size(comm), rank = weir_comm_rank(comm);
  weir_message *list = NULL;
  weir_request *r = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(2 * (int64_t)ranks, sizeof *list, (void **)&list));
  const int64_t n = list_messages(comm, to, from, list);

  WEIR_TRY_GOTO(weir_messages_create(comm, "slabs", list, n, &r), done);
  if (to[rank].bytes > 0) {
    memmove(from[rank].data, to[rank].data, (size_t)to[rank].bytes);
  }
  WEIR_TRY_GOTO(weir_request_run_once(&r), done);
done:
  weir_free(&list);
  return status;
}

void cf_slabs_exchange(weir_comm *comm, const cf_buffer *to, const cf_buffer *from)
{
  const weir_status status = exchange(comm, to, from);

  if (status != WEIR_OK) {
    (void)weir_comm_abort(comm, status);
  }
}

static weir_status announce(weir_comm *comm, const int64_t *to, int64_t *from)
{
  const int ranks = weir_comm_size(comm);
  cf_buffer *list = NULL;

  WEIR_TRY(weir_alloc(2 * (int64_t)ranks, sizeof *list, (void **)&list));
  for (int r = 0; r < ranks; r++) {
    list[r] = (cf_buffer){(void *)&to[r], sizeof to[r]};
    list[ranks + r] = (cf_buffer){&from[r], sizeof from[r]};
  }
  const weir_status status = exchange(comm, list, list + ranks);

  weir_free(&list);
  return status;
}

void cf_slabs_announce(weir_comm *comm, const int64_t *to, int64_t *from)
{
  const weir_status status = announce(comm, to, from);

  if (status != WEIR_OK) {
    (void)weir_comm_abort(comm, status);
  }
}
