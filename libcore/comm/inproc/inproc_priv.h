/* inproc_priv.h - the state that ranks of one process share. */
#ifndef INPROC_PRIV_H
#define INPROC_PRIV_H
#include "base/weir_lock.h"
#include "comm/comm_priv.h"
#include "comm/weir_inproc.h"

/* Messages of one tag from one rank of a group to another. The n-th send matches the n-th receive,
 * so a lost message leaves a gap. */
typedef struct inproc_channel {
  int64_t group;
  int from, to, tag; /* ranks of the group */
  int64_t ends;      /* prepared messages that use it, and packets that are under way */
  int64_t sent, received;
  struct inproc_mailbox *mailbox;
  struct inproc_channel *next; /* in that */
} inproc_channel;

/* The bytes of a message from its start to its receipt. */
typedef struct inproc_packet {
  inproc_channel *channel;        /* while it is under way */
  char *bytes;                    /* [capacity], of which `size` count */
  int64_t capacity, size, number; /* number: of the message on its channel */
  double arrival;                 /* on the clock of the run; INFINITY: not known yet */
  bool under_way;                 /* in the list of its mailbox */
  bool orphan;                    /* its sender released it: freed on receipt */
  /* On a network: ranks of the run; bytes that it stands for; when the sender is done with it;
   * delay by faults; it is the question of a long message; its sender waits to send it again. */
  int from, to;
  double stands_for, left, delay;
  bool asks, wanted;
  struct inproc_packet *next;
} inproc_packet;

/* Channels and packets to one rank of a group under one tag, and those of some others. */
typedef struct inproc_mailbox {
  inproc_channel *channels;
  inproc_packet *packets;
} inproc_mailbox;

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
  bool over; /* its body has returned */
  inproc_rest rest;
  double wakes;     /* end of its sleep */
  bool listens;     /* a change ends the sleep, too */
  double polled_at; /* time of its last look at messages: one look takes no time */
  /* On a network: until when its processor of messages and its interface are busy; the number of
   * its rests, which events that end one have; what it waits for. */
  double busy, send_free, receive_free;
  int64_t rests, notified; /* notified: the last one that a notice ends */
  int64_t looks;           /* in a row at messages, without a rest of another kind */
  const void *what;
  bool (*done)(const void *what);
} inproc_rank;

/* What happens at a time on a network; among equal times in the order in which it was announced. */
typedef enum inproc_event_kind {
  INPROC_WAKE,       /* a rank goes on */
  INPROC_LOOK_AGAIN, /* one that polls does */
  INPROC_LOOK,       /* a rank may find a message */
  INPROC_ARRIVE,     /* the first byte of a packet is at its receiver's interface */
  INPROC_READ        /* the receiver's answer to a packet that asked is at its sender's */
} inproc_event_kind;
typedef struct inproc_event {
  double at;
  int64_t order;
  inproc_event_kind kind;
  int rank;              /* wake, look */
  int64_t rest;          /* wake, look again: that it ends */
  inproc_packet *packet; /* arrive, read */
} inproc_event;

/* Everything below is guarded by the lock, except what does not change during a run. */
typedef struct inproc_world {
  const weir_inproc *run;
  weir_status (*body)(weir_comm *c, void *context);
  void *context;
  weir_lock lock;
  inproc_rank *rank;
  int64_t *started; /* [ranks, ranks] messages so far, from and to; NULL: there are no faults */
  inproc_mailbox *mailboxes; /* [n_mailboxes], a power of 2: by hashes of group, tag and receiver */
  int64_t n_mailboxes;
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
  /* On a network: its kind, and events to come, [n_events], the earliest first in the order of a
   * binary heap. */
  weir_comm_kind kind;
  inproc_event *events; /* for one of each rank at least */
  int64_t n_events, event_capacity, announced;
  bool lacks_memory; /* for an event */
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
  int absent; /* the first rank that did not come to one, or -1; the others then meet no more */
} inproc_group;

/* world.c. All with the lock held, except inproc_meet.. and those of weir_inproc.h. */
static inline inproc_rank *inproc_self(const weir_comm *c)
{
  const inproc_group *g = c->state;

  return &g->world->rank[g->member[c->rank]];
}
double inproc_now(const inproc_world *w);
/* Fails: WEIR_ERR_EXTERNAL where this rank died or the run was ended; on a network WEIR_ERR_STOPPED
 * after a signal. */
weir_status inproc_check(const inproc_rank *self) WEIR_CHECKED;
/* Something changed that ranks at rest may wait for. */
void inproc_notify(inproc_world *w);
/* Lets other ranks run, and returns once it is this one's turn again. Concurrent ranks: waits for a
 * change if it gathers. */
void inproc_pause(inproc_rank *self, inproc_rest rest);
/* Likewise, for a message: at most until that time. */
void inproc_pause_until(inproc_rank *self, double until);
/* Returns once it is this rank's turn. */
void inproc_await_turn(inproc_rank *self);
/* Ends this rank by a fault. Returns WEIR_ERR_EXTERNAL. */
weir_status inproc_die(inproc_rank *self);
/* Creates a group of ranks of the run; members [size] is copied. Fails: WEIR_ERR_MEMORY. */
weir_status inproc_group_create(inproc_world *w, const int *member, int size,
                                inproc_group **out) WEIR_CHECKED;
void inproc_group_destroy(inproc_group **g);
/* Begins a call of all ranks: returns once all ranks of the group have called it; *given: what each
 * gave, valid until this rank meets them again. Meanwhile schedules progress in the background: for
 * that, concurrent ranks return the right to progress once, so that a caller that has borrowed it
 * twice keeps its thread from it. Takes the lock. Fails: WEIR_ERR_EXTERNAL where a rank can no
 * longer come. */
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
/* Frees all mailboxes, with messages that were not received. */
void inproc_mailboxes_destroy(inproc_world *w);

/* network.c: ranks on a network. All with the lock held, except those of weir_comm_kind. */
/* Sends a packet whose bytes are there. */
void inproc_network_send(inproc_world *w, inproc_packet *p);
/* A packet that arrived was found by its receiver: true: it is the message, and to be taken. */
bool inproc_network_receive(inproc_world *w, inproc_packet *p);
/* Ranks at rest that gather go on. */
void inproc_network_notify(inproc_world *w);
/* As inproc_pause; as sleeping for that long. */
void inproc_network_pause(inproc_rank *self, inproc_rest rest);
weir_status inproc_network_sleep(weir_comm *c, inproc_rank *self, double seconds) WEIR_CHECKED;
/* All ranks begin. */
void inproc_network_begin(inproc_world *w);
/* Lets events happen until it is the turn of a rank, if any is left, and wakes it. */
void inproc_network_pass(inproc_world *w);
weir_status inproc_network_await(weir_comm *c, const void *what, bool (*done)(const void *what));
void inproc_network_reduced(weir_comm *c, int64_t bytes);

extern const weir_comm_kind weir_comm_kind_ranks_inproc;
#endif
