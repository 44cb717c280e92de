/* items.c - see weir_items.h. */
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "comm/weir_items.h"

/* Precedes the result of an item on its way to rank 0. */
typedef struct head {
  int64_t count;
  int status;
  char message[1024]; /* of a failure */
} head;

weir_status weir_bytes_put(weir_bytes *b, const void *data, int64_t n)
{
  WEIR_TRY(weir_reserve(&b->data, &b->capacity, b->count + n, 1));
  if (n > 0) {
    memcpy(b->data + b->count, data, (size_t)n);
  }
  b->count += n;
  return WEIR_OK;
}

weir_status weir_bytes_get(const char **at, const char *end, void *data, int64_t n)
{
  if (n < 0 || n > end - *at) {
    return weir_fail(WEIR_ERR_SHAPE, "the result of an item has %lld bytes, %lld are expected",
                     (long long)(end - *at), (long long)n);
  }
  if (n > 0) {
    memcpy(data, *at, (size_t)n);
  }
  *at += n;
  return WEIR_OK;
}

static int rank_of(const weir_comm *c)
{
  return c != NULL ? weir_comm_rank(c) : 0;
}

static int size_of(const weir_comm *c)
{
  return c != NULL ? weir_comm_size(c) : 1;
}

static weir_status check_stop(const weir_items *w, int64_t done)
{
  return !weir_stop_requested()
             ? WEIR_OK
             : weir_fail(WEIR_ERR_STOPPED, "%s: stopped by signal %d after %lld of %lld %s",
                         w->what, weir_stop_signal(), (long long)done, (long long)w->n, w->unit);
}

static weir_status take(const weir_items *w, void *context, int64_t i, const char *data, int64_t n)
{
  return w->take != NULL ? w->take(context, i, data, n) : WEIR_OK;
}

/* Item `first` + rank of this rank, if there is one: its result, preceded by what became of it. */
static weir_status make_own(const weir_items *w, void *context, int64_t first, weir_bytes *out)
{
  const int64_t i = first + rank_of(w->comm);
  head h;

  memset(&h, 0, sizeof h);
  out->count = 0;
  WEIR_TRY(weir_bytes_put(out, &h, sizeof h));
  if (i < w->n) {
    weir_bytes result = {.data = NULL};
    const weir_log_level level = weir_log_set_thread_level(WEIR_LOG_DEBUG);

    weir_status status = w->make(context, i, &result);
    (void)weir_log_set_thread_level(level);
    h.status = (int)status;
    if (status != WEIR_OK) {
      (void)snprintf(h.message, sizeof h.message, "%s", weir_last_message());
      result.count = 0;
    }
    h.count = result.count;
    status = weir_bytes_put(out, result.data, result.count);
    weir_free(&result.data);
    WEIR_TRY(status);
  }
  memcpy(out->data, &h, sizeof h);
  return WEIR_OK;
}

/* Results of a round, in order, up to the first item that failed. */
static weir_status take_round(const weir_items *w, void *context, int64_t first, const char *all,
                              int64_t total)
{
  const int64_t end = first + size_of(w->comm) < w->n ? first + size_of(w->comm) : w->n;
  const char *at = all;
  head h;

  for (int64_t i = first; i < end; i++) {
    WEIR_TRY(weir_bytes_get(&at, all + total, &h, sizeof h));
    if (h.status != WEIR_OK) {
      return i == first ? (weir_status)h.status : weir_fail((weir_status)h.status, "%s", h.message);
    }
    WEIR_TRY(take(w, context, i, at, h.count));
    at += h.count;
  }
  return WEIR_OK;
}

static weir_status share_round(const weir_items *w, void *context, int64_t first, weir_bytes *own)
{
  void *all = NULL;
  int64_t total = 0;

  WEIR_TRY(weir_comm_agree(w->comm, check_stop(w, first)));
  WEIR_TRY(weir_comm_agree(w->comm, make_own(w, context, first, own)));
  WEIR_TRY(weir_comm_gather(w->comm, own->data, own->count, &all, &total));
  const weir_status status =
      rank_of(w->comm) == 0 ? take_round(w, context, first, all, total) : WEIR_OK;

  weir_free(&all);
  return weir_comm_agree(w->comm, status);
}

static weir_status do_alone(const weir_items *w, void *context, int64_t i, weir_bytes *own)
{
  own->count = 0;
  WEIR_TRY(check_stop(w, i));
  WEIR_TRY(w->make(context, i, own));
  return take(w, context, i, own->data, own->count);
}

weir_status weir_items_run(const weir_items *w, void *context)
{
  const int64_t ranks = size_of(w->comm);
  weir_bytes own = {.data = NULL};
  weir_status status = WEIR_OK;

  for (int64_t first = 0; first < w->n && status == WEIR_OK; first += ranks) {
    status = ranks == 1 ? do_alone(w, context, first, &own) : share_round(w, context, first, &own);
  }
  weir_free(&own.data);
  return status;
}
