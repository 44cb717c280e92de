/* weir_schedule.h - a request that is run again and again, version by version, when a rank of the
 * group triggers it: partial and asynchronous collectives for the exchange between replicas.
 *
 * A rank posts when its contribution is ready. The posts of some ranks begin a version on all: each
 * rank that learns of it, by its own post or by a message, notifies its neighbours in the group,
 * runs the request and goes on to the next version. So ranks contribute what they have by then, and
 * no rank waits for the slowest one. Versions run in order, one at a time, and on every rank.
 *
 * A schedule progresses with the requests of the run (weir_request.h), by the same calls; so that a
 * rank takes part while it computes, by a thread of its own (`background`). Calls of all ranks
 * (weir_comm_barrier, weir_comm_agree, creation of a request) progress schedules only while one of
 * this rank has such a thread: finish others before. */
#ifndef WEIR_SCHEDULE_H
#define WEIR_SCHEDULE_H
#include "comm/weir_request.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_schedule weir_schedule;

enum {
  WEIR_ANY_RANK = -1,  /* the first post of any rank begins the version */
  WEIR_ALL_RANKS = -2, /* every rank begins the version by its own post: nothing more is sent */
  WEIR_QUORUM = -3     /* the post of the quorum-th rank begins it, whichever ranks these are */
};

typedef struct weir_schedule_spec {
  const char *name;   /* for messages, outlives the schedule */
  weir_request *body; /* run once a version; outlives the schedule, which alone starts it */
  /* Returns what a version runs in place of `body`, over ranks of which this is one: groups that
   * change from version to version. Every rank of such a group has the same one. They outlive the
   * schedule. NULL: `body`. */
  weir_request *(*body_of)(void *context, int64_t version);
  /* Returns the rank whose post begins the version, or one of the above; the same on all ranks.
   * NULL: WEIR_ANY_RANK. */
  int (*initiator)(void *context, int64_t version);
  int quorum; /* ranks that begin a version of WEIR_QUORUM, from 1 to all; 0: there are none */
  /* Called before the body starts: fills its buffers. posted: this rank has posted the version. */
  void (*begin)(void *context, int64_t version, bool posted);
  /* Called once the body is complete: takes its results. May be NULL. */
  void (*end)(void *context, int64_t version);
  void *context;
  /* A thread of this rank progresses all requests and schedules of the run while the rank computes,
   * so that other ranks need not wait for its next call. Data that begin and end share with the
   * rank then need a lock of their own. Where one rank runs at a time (weir_inproc.h),
   * weir_inproc_sleep does that instead. */
  bool background; /* do not hold such a lock in a call of comm, collective ones included: begin and
                      end would wait for it */
} weir_schedule_spec;

/* Creates a schedule over the ranks of c, none of which has posted. begin and end are called in
 * whatever call progresses requests, with `background` also in collective calls, and call none
 * themselves. Collective. Fails on all ranks alike: WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL. */
weir_status weir_schedule_create(weir_comm *c, const weir_schedule_spec *spec,
                                 weir_schedule **out) WEIR_CHECKED;
/* Destroys it; accepts NULL and nulls. Local, after weir_schedule_finish or a failure. */
void weir_schedule_destroy(weir_schedule **s);
/* Posts the next version of this rank: its k-th post belongs to version k, counted from 0, also
 * where that version is over. Local. Fails: WEIR_ERR_EXTERNAL; with the status of a failure in the
 * background. */
weir_status weir_schedule_post(weir_schedule *s) WEIR_CHECKED;
/* Returns how many versions are complete on this rank. Local. */
int64_t weir_schedule_completed(const weir_schedule *s);
/* Waits until that many versions are complete. Fails: as weir_request_wait. */
weir_status weir_schedule_wait(weir_schedule *s, int64_t versions) WEIR_CHECKED;
/* Completes all versions that the posts of any rank begin, and receives what was sent for them.
 * Collective. Fails: as weir_request_wait. */
weir_status weir_schedule_finish(weir_schedule *s) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
