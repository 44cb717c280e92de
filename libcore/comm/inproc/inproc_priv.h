/* inproc_priv.h - the state that ranks of one process share. */
#ifndef INPROC_PRIV_H
#define INPROC_PRIV_H
#include "base/weir_lock.h"
#include "comm/comm_priv.h"
#include "comm/weir_inproc.h"

/* The bytes of a message from its start to its receipt. */
typedef struct inproc_packet {
  char *bytes;
  int64_t size, number; /* of the message on its channel */
  double arrival;       /* on the clock of the run */
  bool under_way;       /* in the list of its channel */
  bool orphan;          /* its sender released it: freed on receipt */
  struct inproc_packet *next;
} inproc_packet;

/* Messages of one tag from one rank of a group to another. The n-th send matches the n-th receive,
 * so a lost message leaves a gap. */
typedef struct inproc_channel {
  int64_t group;
  int from, to, tag; /* ranks of the group */
  int64_t ends;      /* prepared messages that use it */
  int64_t sent, received;
  inproc_packet *packets;
  struct inproc_channel *next;
} inproc_channel;

/* Why a rank passes on its turn. */
typedef enum inproc_rest {
  INPROC_READY,
  INPROC_POLLS,  /* it tests a request, and may go on without a change */
  INPROC_WAITS,  /* for a message */
  INPROC_GATHERS /* for the other ranks of a group */
} inproc_rest;

typedef enum inproc_life { INPROC_RUNS, INPROC_DIED, INPROC_LEFT } inproc_life;

typedef struct inproc_rank {
  struct inproc_world *world;
  int number;
  weir_comm *comm;
  weir_cond wake;
  inproc_life life;
  inproc_rest rest;
  double wakes; /* end of its sleep */
  bool listens; /* a change ends the sleep, too */
} inproc_rank;

/* Everything below is guarded by the lock, except what does not change during a run. */
typedef struct inproc_world {
  const weir_inproc *run;
  weir_status (*body)(weir_comm *c, void *context);
  void *context;
  weir_lock lock;
  inproc_rank *rank;
  int64_t *started; /* [ranks, ranks] messages so far, from and to */
  inproc_channel *channels;
  int64_t groups; /* so far */
  int turn;       /* the rank that runs; not if they are concurrent */
  uint64_t draws;
  double now, begin; /* seconds of the script; of the machine at the start */
  bool stuck;        /* every rank waits for others */
  int ended_by;      /* rank that called weir_comm_abort or ended the others by a failure, or -1 */
  bool aborted;      /* by weir_comm_abort */
  /* Why the run failed, WEIR_OK: it did not; of which rank. */
  weir_status status;
  int of;
  char text[COMM_TEXT];
} inproc_world;

/* A communicator's ranks; shared by them, freed by the last. */
typedef struct inproc_group {
  inproc_world *world;
  int64_t id;
  int size, users;
  int *member; /* ranks of the run */
  /* A meeting of all ranks: its number, and of each rank the meetings it has come to and what it
   * gave to this one and to the one before, [2, size]. */
  int64_t meeting, *met;
  const void **given;
  int arrived;
} inproc_group;

/* world.c. All with the lock held, except inproc_meet.. and those of weir_inproc.h. */
static inline inproc_rank *inproc_self(const weir_comm *c)
{
  const inproc_group *g = c->state;

  return &g->world->rank[g->member[c->rank]];
}
double inproc_now(const inproc_world *w);
/* Fails: WEIR_ERR_EXTERNAL where this rank died or the run was ended. */
weir_status inproc_check(const inproc_rank *self) WEIR_CHECKED;
/* Something changed that ranks at rest may wait for. */
void inproc_notify(inproc_world *w);
/* Lets other ranks run, and returns once it is this one's turn again. Concurrent ranks: waits for a
 * change if it gathers. */
void inproc_pause(inproc_rank *self, inproc_rest rest);
/* Ends this rank by a fault. Returns WEIR_ERR_EXTERNAL. */
weir_status inproc_die(inproc_rank *self);
/* Creates a group of ranks of the run; members [size] is copied. Fails: WEIR_ERR_MEMORY. */
weir_status inproc_group_create(inproc_world *w, const int *member, int size,
                                inproc_group **out) WEIR_CHECKED;
void inproc_group_destroy(inproc_group **g);
/* Begins a call of all ranks: returns once all ranks of the group have called it; *given: what each
 * gave, valid until this rank meets them again. Takes the lock. Fails: WEIR_ERR_EXTERNAL where a
 * rank can no longer come. */
weir_status inproc_meet(weir_comm *c, const void *mine, const void *const **given) WEIR_CHECKED;
/* Likewise within a call, whose ranks all come: they do nothing that can fail since inproc_meet,
 * and may read what this rank gave until they are here. So neither an end of the run nor a death is
 * looked at before the next call. Takes the lock. */
void inproc_meet_again(weir_comm *c, const void *mine, const void *const **given);

/* message.c: those of weir_comm_kind. */
weir_status inproc_prepare(weir_comm *c, const comm_message *list, int64_t n, int tag,
                           void **messages);
weir_status inproc_start(void *messages, int64_t first, int64_t n);
weir_status inproc_finished(void *messages, int64_t first, int64_t n, bool *all);
void inproc_release(void **messages, const comm_message *list, int64_t n);
/* Frees all channels, with messages that were not received. */
void inproc_channels_destroy(inproc_world *w);

extern const weir_comm_kind weir_comm_kind_ranks_inproc;
#endif
