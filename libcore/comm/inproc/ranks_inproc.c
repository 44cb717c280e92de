/* ranks_inproc.c - ranks that are threads of one process. Calls of all ranks are meetings: each
 * rank gives a pointer, reads those of the others and meets them once more before its own ends. */
#include <limits.h>
#include <sched.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "comm/inproc/inproc_priv.h"

static weir_status allreduce_max(weir_comm *c, int status, int *max, int *rank)
{
  const void *const *given = NULL;

  WEIR_TRY(inproc_meet(c, &status, &given));
  int best = 0;

  for (int r = 1; r < c->size; r++) {
    if (*(const int *)given[r] > *(const int *)given[best]) {
      best = r;
    }
  }
  *max = *(const int *)given[best];
  *rank = best;
  inproc_meet_again(c, NULL, &given);
  return WEIR_OK;
}

static weir_status bcast_text(weir_comm *c, int rank, char text[COMM_TEXT])
{
  const void *const *given = NULL;

  WEIR_TRY(inproc_meet(c, text, &given));
  if (rank != c->rank) {
    memcpy(text, given[rank], COMM_TEXT);
  }
  inproc_meet_again(c, NULL, &given);
  return WEIR_OK;
}

static weir_status barrier(weir_comm *c)
{
  const void *const *given = NULL;

  WEIR_TRY(inproc_meet(c, NULL, &given));
  return WEIR_OK;
}

static weir_status sizes(weir_comm *c, int64_t n, int64_t *of)
{
  const void *const *given = NULL;

  WEIR_TRY(inproc_meet(c, &n, &given));
  for (int r = 0; r < c->size && c->rank == 0; r++) {
    of[r] = *(const int64_t *)given[r];
  }
  inproc_meet_again(c, NULL, &given);
  return WEIR_OK;
}

static weir_status gatherv(weir_comm *c, const void *bytes, int64_t n, void *all, const int64_t *of)
{
  const void *const *given = NULL;
  char *to = all;

  (void)n;
  WEIR_TRY(inproc_meet(c, bytes, &given));
  for (int r = 0; r < c->size && c->rank == 0; r++) {
    if (of[r] > 0) {
      memcpy(to, given[r], (size_t)of[r]);
      to += of[r];
    }
  }
  inproc_meet_again(c, NULL, &given);
  return WEIR_OK;
}

/* The first rank of each colour makes the group of all: *made, NULL where memory lacks. */
static weir_status make_group(const weir_comm *c, const void *const *colours, inproc_group **made)
{
  const inproc_group *all = c->state;
  const int colour = *(const int *)colours[c->rank];
  int *member = NULL, n = 0;
  weir_status status = WEIR_OK;

  for (int r = 0; r < c->rank; r++) {
    if (*(const int *)colours[r] == colour) {
      return WEIR_OK;
    }
  }
  WEIR_TRY(weir_alloc(c->size, sizeof *member, (void **)&member));
  for (int r = c->rank; r < c->size; r++) {
    if (*(const int *)colours[r] == colour) {
      member[n++] = all->member[r];
    }
  }
  weir_lock_take(&all->world->lock);
  status = inproc_group_create(all->world, member, n, made);
  weir_lock_give(&all->world->lock);
  weir_free(&member);
  return status;
}

static weir_status split(const weir_comm *c, int colour, weir_comm *sub)
{
  weir_comm *const all = (weir_comm *)(uintptr_t)c; /* a meeting changes only what it leads to */
  const void *const *given = NULL;
  inproc_group *made = NULL;
  int leader = 0;

  WEIR_TRY(inproc_meet(all, &colour, &given));
  const weir_status status = colour < 0 ? WEIR_OK : make_group(c, given, &made);

  for (int r = 0; r < c->rank && colour >= 0; r++) {
    sub->rank += *(const int *)given[r] == colour;
  }
  while (*(const int *)given[leader] != colour) {
    leader++;
  }
  inproc_meet_again(all, &made, &given); /* others read it until the next meeting */
  inproc_group *const group = *(inproc_group *const *)given[leader];

  if (group != NULL) {
    sub->size = group->size;
    sub->state = group;
  }
  inproc_meet_again(all, NULL, &given);
  WEIR_TRY(status);
  return group != NULL || colour < 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_MEMORY, "rank %d could not create the group", leader);
}

static void close(weir_comm *c)
{
  inproc_group *g = c->state;
  inproc_world *const w = g->world;

  weir_lock_take(&w->lock);
  g->users--;
  if (g->users == 0) {
    inproc_group_destroy(&g);
  }
  weir_lock_give(&w->lock);
}

static void end(weir_comm *c, int status)
{
  inproc_rank *const self = inproc_self(c);

  (void)status;
  weir_lock_take(&self->world->lock);
  if (self->world->ended_by < 0) {
    self->world->ended_by = self->number;
    self->world->aborted = true;
  }
  inproc_notify(self->world);
  weir_lock_give(&self->world->lock);
}

static int run_rank(const weir_comm *c, int rank)
{
  const inproc_group *g = c->state;

  return g->member[rank];
}

static int tags(const weir_comm *c)
{
  (void)c;
  return INT_MAX;
}

static void rest(const weir_comm *c, bool waits)
{
  inproc_rank *const self = inproc_self(c);

  if (self->world->run->concurrent) {
    if (waits) {
      (void)sched_yield(); /* there may be more ranks than cores */
    }
    return;
  }
  weir_lock_take(&self->world->lock);
  const bool again = self->polled_at == self->world->now;

  self->polled_at = self->world->now;
  inproc_pause(self, waits ? INPROC_WAITS : again ? INPROC_POLLS : INPROC_READY);
  weir_lock_give(&self->world->lock);
}

static void rest_until(const weir_comm *c, double until)
{
  inproc_rank *const self = inproc_self(c);

  if (self->world->run->concurrent) {
    (void)sched_yield();
    return;
  }
  weir_lock_take(&self->world->lock);
  inproc_pause_until(self, until);
  weir_lock_give(&self->world->lock);
}

const weir_comm_kind weir_comm_kind_ranks_inproc = {.several = true,
                                                    .split = split,
                                                    .close = close,
                                                    .end = end,
                                                    .run_rank = run_rank,
                                                    .allreduce_max = allreduce_max,
                                                    .bcast_text = bcast_text,
                                                    .barrier = barrier,
                                                    .sizes = sizes,
                                                    .gatherv = gatherv,
                                                    .tags = tags,
                                                    .prepare = inproc_prepare,
                                                    .start = inproc_start,
                                                    .finished = inproc_finished,
                                                    .release = inproc_release,
                                                    .clock = weir_inproc_clock,
                                                    .pause = rest,
                                                    .pause_until = rest_until};
