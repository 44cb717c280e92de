/* ranks_self.c - the only rank there is. */
#include <string.h>
#include "base/weir_clock.h"
#include "comm/comm_priv.h"

static weir_status open(weir_comm *c)
{
  c->rank = 0;
  c->size = 1;
  return WEIR_OK;
}

static weir_status split(const weir_comm *c, int colour, weir_comm *sub)
{
  sub->rank = c->rank;
  sub->size = colour < 0 ? 0 : c->size;
  return WEIR_OK;
}

static void close(weir_comm *c)
{
  (void)c;
}

static weir_status allreduce_max(weir_comm *c, int status, int *max, int *rank)
{
  *max = status;
  *rank = c->rank;
  return WEIR_OK;
}

static weir_status tell(weir_comm *c, int rank, char text[COMM_TEXT])
{
  (void)c;
  (void)rank;
  (void)text;
  return WEIR_OK;
}

static weir_status barrier(weir_comm *c)
{
  (void)c;
  return WEIR_OK;
}

static weir_status sizes(weir_comm *c, int64_t n, int64_t *of)
{
  of[c->rank] = n;
  return WEIR_OK;
}

static weir_status collect(weir_comm *c, const void *bytes, int64_t n, void *all, const int64_t *of)
{
  (void)c;
  (void)of;
  if (n > 0) {
    memcpy(all, bytes, (size_t)n);
  }
  return WEIR_OK;
}

static int tags(const weir_comm *c)
{
  return c->size;
}

static double seconds(const weir_comm *c)
{
  (void)c;
  return weir_clock();
}

static void rest(const weir_comm *c, bool waits)
{
  (void)c;
  (void)waits;
}

/* There is no other rank to end or to wait for, and no message has a peer: end, run_rank, and
 * prepare to release, are not called. */
const weir_comm_kind weir_comm_kind_ranks_self = {.several = false,
                                                  .open = open,
                                                  .split = split,
                                                  .close = close,
                                                  .allreduce_max = allreduce_max,
                                                  .bcast_text = tell,
                                                  .barrier = barrier,
                                                  .sizes = sizes,
                                                  .gatherv = collect,
                                                  .tags = tags,
                                                  .clock = seconds,
                                                  .pause = rest};
