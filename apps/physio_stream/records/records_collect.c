/* records_collect.c - what became of each recording, from the rank that ran it to rank 0. */
#include <string.h>
#include "base/weir_alloc.h"
#include "records/records_pool.h"

/* What stands before the rows of a recording. */
typedef struct head {
  int64_t index, n_rows;
  int status;
  char message[sizeof((ps_record *)0)->message];
} head;

typedef struct bytes {
  char *data;
  int64_t count, capacity;
} bytes;

static weir_status put(bytes *b, const void *data, int64_t n)
{
  WEIR_TRY(weir_reserve(&b->data, &b->capacity, b->count + n, 1));
  if (n > 0) {
    memcpy(b->data + b->count, data, (size_t)n);
  }
  b->count += n;
  return WEIR_OK;
}

/* The recordings of this rank. */
static weir_status pack(const weir_comm *comm, const ps_records *list, bytes *b)
{
  for (int64_t i = 0; i < list->count; i++) {
    const ps_record *r = &list->items[i];
    head h;

    if (ps_records_share(i, weir_comm_size(comm), 1).rank != weir_comm_rank(comm)) {
      continue;
    }
    memset(&h, 0, sizeof h);
    h.index = i;
    h.n_rows = r->n_rows;
    h.status = (int)r->status;
    (void)snprintf(h.message, sizeof h.message, "%s", r->message);
    WEIR_TRY(put(b, &h, sizeof h));
    WEIR_TRY(put(b, r->rows, r->n_rows * (int64_t)sizeof *r->rows));
  }
  return WEIR_OK;
}

/* Those of all ranks; rank 0's own are there already. */
static weir_status unpack(const char *data, int64_t count, ps_records *list)
{
  for (int64_t at = 0; at < count;) {
    head h;

    memcpy(&h, data + at, sizeof h);
    at += (int64_t)sizeof h;
    ps_record *r = &list->items[h.index];

    r->status = (weir_status)h.status;
    memcpy(r->message, h.message, sizeof r->message);
    WEIR_TRY(weir_reserve(&r->rows, &r->capacity, h.n_rows, sizeof *r->rows));
    r->n_rows = h.n_rows;
    if (h.n_rows > 0) {
      memcpy(r->rows, data + at, (size_t)h.n_rows * sizeof *r->rows);
    }
    at += h.n_rows * (int64_t)sizeof *r->rows;
  }
  return WEIR_OK;
}

weir_status ps_records_collect(weir_comm *comm, ps_records *list)
{
  bytes mine = {NULL, 0, 0};
  int64_t count = 0;
  void *all = NULL;
  weir_status status = pack(comm, list, &mine);

  WEIR_TRY_GOTO(weir_comm_agree(comm, status), done);
  WEIR_TRY_GOTO(weir_comm_gather(comm, mine.data, mine.count, &all, &count), done);
  status = unpack(all, count, list);
  WEIR_TRY_GOTO(weir_comm_agree(comm, status), done);
done:
  weir_free(&mine.data);
  weir_free(&all);
  return status;
}
