/* comm_priv.h - a way to reach other ranks, one a folder; the build lists them. Requests consist
 * of its messages. */
#ifndef COMM_PRIV_H
#define COMM_PRIV_H
#include <stdbool.h>
#include "base/weir_lock.h"
#include "comm/weir_request.h"
#include "comm/weir_schedule.h"

enum {
  COMM_TEXT = 512, /* bytes of a message of failure for other ranks */
  COMM_ANY = -1    /* peer of a message that is received from any rank */
};

/* One message, at most INT_MAX bytes. Of a tag, a rank receives all from any rank, or none. */
typedef struct comm_message {
  int round, peer;
  bool receive;
  void *data;
  int64_t bytes;
  bool control;                        /* of a schedule, not of what it exchanges */
  const weir_varying_message *varying; /* data and bytes at each start, in place of these; or NULL.
                                          All messages of a request have one, or none */
} comm_message;

static inline void *comm_message_data(const comm_message *m)
{
  return m->varying != NULL ? m->varying->data : m->data;
}

static inline int64_t comm_message_bytes(const comm_message *m)
{
  return m->varying != NULL ? m->varying->bytes : m->bytes;
}

typedef struct weir_comm_kind {
  bool several; /* it serves more than one rank */
  /* Sets rank, size and state of *c. NULL: no launcher starts such ranks (weir_inproc.h). */
  weir_status (*open)(weir_comm *c);
  /* Likewise of a group of c; colour below 0: size 0 and no state. */
  weir_status (*split)(const weir_comm *c, int colour, weir_comm *sub);
  void (*close)(weir_comm *c); /* of all, and of a group */
  void (*end)(weir_comm *c, int status);
  int (*run_rank)(const weir_comm *c, int rank); /* number in the run of a rank of c */
  /* allreduce_max and barrier wait for ranks that may wait for this one: while the engine has
   * background users, they progress in the background, or lend the right to progress to a thread
   * that does; begin and end of schedules run meanwhile. The others wait only for ranks that come:
   * they follow an agreement, or have waited likewise before. */
  /* The highest status of all ranks and the first rank that has it. */
  weir_status (*allreduce_max)(weir_comm *c, int status, int *worst, int *rank);
  /* The text of one rank becomes that of all. */
  weir_status (*bcast_text)(weir_comm *c, int rank, char text[COMM_TEXT]);
  weir_status (*barrier)(weir_comm *c);
  /* Bytes of all ranks, on rank 0. */
  weir_status (*sizes)(weir_comm *c, int64_t n, int64_t *sizes);
  /* Collects the bytes of every rank into `all` of rank 0, concatenated; sizes[] per rank. */
  weir_status (*gatherv)(weir_comm *c, const void *bytes, int64_t n, void *all,
                         const int64_t *sizes);
  /* Messages that may be started again and again. A message matches that of its peer which has the
   * same tag and was started as often before; started without bytes, it is none. The list outlives
   * what was prepared. release: also those that are under way. */
  int (*tags)(const weir_comm *c); /* how many there are */
  weir_status (*prepare)(weir_comm *c, const comm_message *list, int64_t n, int tag,
                         void **messages);
  weir_status (*start)(void *messages, int64_t first, int64_t n);
  weir_status (*finished)(void *messages, int64_t first, int64_t n, bool *all);
  void (*release)(void **messages, const comm_message *list, int64_t n);
  /* Seconds on the clock that timeouts are measured by. */
  double (*clock)(const weir_comm *c);
  /* An attempt to progress changed nothing. waits: this rank has nothing else to do. */
  void (*pause)(const weir_comm *c, bool waits);
  /* Likewise, with nothing else to do until that time of the clock. NULL: as pause. */
  void (*pause_until)(const weir_comm *c, double until);
  /* Both NULL, except where times are simulated: progresses everything until done(what), and
   * fails where it never will be; is told of a reduction of that many bytes. */
  weir_status (*await)(weir_comm *c, const void *what, bool (*done)(const void *what));
  void (*reduced)(weir_comm *c, int64_t bytes);
} weir_comm_kind;

/* What all groups of a run share. */
typedef struct comm_engine {
  weir_comm_cfg cfg;
  weir_request *active;
  weir_schedule *schedules;
  /* Taken for every call of a kind, and for the lists of what is active and its progress. A
   * collective call of ranks that are threads may return it and take it again (inproc_meet): what
   * it guards may differ afterwards. */
  weir_lock right;
  bool threads; /* a second thread of this rank may have the right */
  struct weir_worker *background;
  int background_users;
  bool background_stops;
  weir_status background_status; /* failure of comm_progress_background, for calls that progress */
  char background_text[COMM_TEXT];
} comm_engine;

struct weir_comm {
  const weir_comm_kind *kind;
  comm_engine *engine;
  bool owns;         /* the engine: it is the run, not a group of it */
  weir_comm *parent; /* that it was split from; NULL: it is the run */
  weir_comm_count count[WEIR_COMM_USES];
  int rank, size, next_tag;
  weir_status agreed; /* by all ranks, last */
  void *state;
};

/* All kinds of this build, NULL at the end: generated. */
extern const weir_comm_kind *const weir_comm_kind_table[];

/* comm.c: creates the communicator of all ranks of a run, without rank, size and state, with the
 * default options. Free it with comm_delete. Fails: WEIR_ERR_MEMORY. */
weir_status comm_new(const weir_comm_kind *kind, weir_comm **out) WEIR_CHECKED;
void comm_delete(weir_comm **c);

/* comm.c: the number in the run of a rank of c, for messages; that of all ranks. */
int comm_run_rank(const weir_comm *c, int rank);
int comm_run_size(const weir_comm *c);
/* comm.c: adds to the statistics of the communicator and of all that it was split from. With the
 * right to progress. */
void comm_count_add(weir_comm *c, weir_comm_use use, const weir_comm_count *more);

/* progress.c: whose right weir_comm_borrow(NULL) takes: that of the program, or for ranks that are
 * threads that of the thread. Until comm_forget, or NULL. */
void comm_set_program(comm_engine *e);
void comm_set_thread(comm_engine *e);
void comm_forget(comm_engine *e);

/* Work that needs no other rank: of a round, before its messages start. */
typedef enum comm_task { COMM_PACK, COMM_UNPACK, COMM_MERGE, COMM_COPY } comm_task;
typedef struct comm_work {
  comm_task task;
  int round;
  weir_block block;            /* pack: from it; unpack: into it        */
  const weir_reducer *reducer; /* merge                                 */
  void *bytes;                 /* pack: into; unpack, merge, copy: from */
  void *into;                  /* merge, copy                           */
  int64_t count;               /* merge: elements; copy: bytes          */
} comm_work;

/* How long the last waits for the same data lasted. */
enum { COMM_WAITS = 32, COMM_WAITS_MIN = 8 }; /* kept; before a stall is told from them */
typedef struct comm_waits {
  float s[COMM_WAITS];
  int64_t n; /* so far */
} comm_waits;

struct weir_request {
  weir_comm *comm;
  const char *name;
  weir_comm_use use;
  comm_message *messages; /* rounds ascending */
  comm_work *works;       /* likewise         */
  int64_t n_messages, n_works, message_capacity, work_capacity;
  char *scratch;
  bool lent; /* scratch is the caller's */
  void *prepared;
  bool active;
  int round; /* that is under way, with its messages and the works that come next */
  int64_t first, count, next_work;
  comm_waits waits;
  weir_request *next; /* in the list of those under way */
};

/* request.c: a request in the making. Messages and works are added round by round; messages longer
 * than comm.max_message_bytes are split. An empty one is none. */
weir_status comm_request_new(weir_comm *c, const char *name, weir_comm_use use,
                             weir_request **out) WEIR_CHECKED;
weir_status comm_request_message(weir_request *r, const comm_message *m) WEIR_CHECKED;
weir_status comm_request_work(weir_request *r, const comm_work *w) WEIR_CHECKED;
/* Takes a tag that no other request has. Local, but the same on all ranks. */
int comm_take_tag(weir_comm *c);
/* Makes its messages ready to start, under that tag. Local. */
weir_status comm_request_prepare(weir_request *r, int tag) WEIR_CHECKED;
/* Ends the making, on all ranks alike: status is this rank's so far. *r becomes *out, or where a
 * rank failed is destroyed. Collective. */
weir_status comm_request_seal(weir_comm *c, weir_status status, weir_request **r,
                              weir_request **out) WEIR_CHECKED;

/* request.c: as weir_request_start, with the right to progress. */
weir_status comm_request_start(weir_request *r) WEIR_CHECKED;
/* request.c: goes on to the next rounds as far as possible. *moved: it got at least one further. */
weir_status comm_request_advance(weir_request *r, bool *moved) WEIR_CHECKED;
/* request.c: writes "rank 3 (4096 bytes to come), ... in round 1" of the messages under way, as far
 * as there is space. */
void comm_request_missing(const weir_request *r, char *text, size_t size);
/* progress.c: returns the failure that comm_progress_background kept, if any. With the right to
 * progress. */
weir_status comm_progress_check(const weir_comm *c) WEIR_CHECKED;
/* progress.c: likewise, or progresses all requests and schedules of the run. *moved: one of them
 * got further. With the right to progress. */
weir_status comm_progress(weir_comm *c, bool *moved) WEIR_CHECKED;
/* progress.c: progresses them on behalf of other ranks, which may wait for this one: in a
 * background thread, a call of all ranks, or the pause of a simulated rank. Such a caller has no
 * one to return a failure to: it is kept for each later comm_progress_check, nothing progresses
 * from then on, and the failure record of this thread is cleared. With the right to progress, or
 * where one rank runs at a time. */
void comm_progress_background(comm_engine *e, bool *moved);
/* progress.c: starts a thread that progresses while this rank does something else, or counts one
 * more user of it; ends it with the last user. Fails: WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL. */
weir_status comm_background_start(weir_comm *c) WEIR_CHECKED;
void comm_background_stop(weir_comm *c);
/* What a rank waits for: a request or a schedule. */
typedef struct comm_awaited {
  const void *what;
  bool (*done)(const void *what);
  /* Writes its name, and the ranks and messages that it lacks. */
  void (*describe)(const void *what, char name[COMM_TEXT / 4], char missing[COMM_TEXT / 2]);
  comm_waits *waits;
  weir_comm_use use; /* that its seconds are counted for */
} comm_awaited;
/* wait.c: progresses all requests and schedules until it is done. Fails: WEIR_ERR_EXTERNAL, also
 * after comm.timeout without progress, or twice a stall with comm.stall `fail`, naming what is
 * missing. */
weir_status comm_wait(weir_comm *c, const comm_awaited *a) WEIR_CHECKED;

/* What ranks agree on when they finish a schedule. */
typedef struct comm_finish {
  int64_t last;    /* versions to come: the most */
  int64_t reports; /* sent of posts: the sum */
} comm_finish;

/* A report of posts to rank 0: that rank has posted so many versions. */
typedef struct comm_report {
  int64_t rank, posted;
} comm_report;

struct weir_schedule {
  weir_comm *comm;
  weir_schedule_spec spec;
  weir_request *notify, *listen; /* activations, to neighbours and from any rank; NULL: one rank */
  weir_request *report, *count; /* reports of posts, to rank 0 and from any rank; NULL: no quorum */
  weir_request *settle;         /* agreement on `finish` */
  int64_t notified, arrived;    /* their messages: versions */
  comm_report own, reported;    /* likewise */
  comm_finish finish;
  int64_t *posted_by; /* [ranks] versions, as rank 0 knows; NULL elsewhere */
  int64_t reports, reports_taken;
  int64_t version;                        /* that runs, or is next */
  weir_request *runs;                     /* the body of the version that runs; NULL: none does */
  int64_t posted, known;                  /* versions that this rank posted; that it learnt of */
  int64_t neighbours, expected, received; /* activations so far */
  int64_t wanted;
  comm_waits waits[2]; /* for versions that some ranks begin, and that all begin */
  bool background;
  weir_schedule *next;
};
/* schedule.c: begins and ends versions as far as possible. *moved: it did. */
weir_status comm_schedule_advance(weir_schedule *s, bool *moved) WEIR_CHECKED;

/* block.c: bytes of a box, and its elements row-major into bytes or out of them. Fails:
 * WEIR_ERR_SHAPE. */
weir_status comm_block_bytes(const weir_block *b, int64_t *bytes) WEIR_CHECKED;
bool comm_block_is_dense(const weir_block *b);
void comm_block_pack(const weir_block *b, void *bytes);
void comm_block_unpack(const weir_block *b, const void *bytes);
#endif
