/* weir_inproc.h - ranks that are threads of one process: programs run on ranks without MPI; with
 * scripted faults, communication is tested reproducibly or under the thread sanitizer. With a
 * network, its times on many ranks are simulated. */
#ifndef WEIR_INPROC_H
#define WEIR_INPROC_H
#include "comm/weir_comm.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_inproc_event {
  WEIR_INPROC_DELAY, /* the message arrives later; delays of several faults add up */
  WEIR_INPROC_LOSS,  /* the message never arrives; its sender does not notice */
  WEIR_INPROC_DEATH  /* the sender ends before the message: its calls fail from then on */
} weir_inproc_event;

/* A fault of messages of requests. Those from one rank of the run to another are numbered from 0 as
 * they start, over all groups and requests; each piece of a segmented message counts. Calls such as
 * weir_comm_agree have no faults of their own. */
typedef struct weir_inproc_fault {
  weir_inproc_event event;
  int from, to;         /* ranks of the run, below 0: any */
  int64_t first, count; /* message numbers [first, first + count), count 0: all from `first` on */
  double share;         /* fraction of these messages that is affected, drawn by seed; 0: all */
  double min_s, max_s;  /* delay in seconds: uniform in [min_s, max_s), or min_s */
} weir_inproc_fault;

/* Turns by a script, so that a test can visit every order of turns: where several ranks may run,
 * the choice[k]-th of them in order of their numbers does, from 0, in the k-th such case. Turns
 * then also pass before each message that is sent. */
typedef struct weir_inproc_script {
  const int *choice; /* [n] below ready[k]; beyond them turns are drawn by seed */
  int *ready;        /* [n] returns how many ranks might run */
  int64_t n, taken;  /* taken: cases so far, also beyond n */
  bool begins;       /* a rank sets it in its turn where the script begins */
} weir_inproc_script;
/* A network by the LogGOPS model (Hoefler, Schneider and Lumsdaine, HPDC 2010; LogGP: Alexandrov et
 * al., SPAA 1995), without contention between pairs of ranks. Of a message of s bytes, s <=
 * eager_max_bytes, that is sent at t, the first byte leaves the sender's interface at t + o, the
 * last one is at the receiver's L + (s - 1) G later, and its processor takes another o: 2 o + L +
 * (s - 1) G. The processors are busy for o + (s - 1) O at each end, and the interfaces for g +
 * (s - 1) G. Of a longer message the receiver first learns, and reads it once it has started to
 * receive: 3 (o + L) + (s - 1) G. A reduction of b bytes takes the processor b / reduce_bw. */
typedef struct weir_network {
  double latency;           /* L: seconds from one interface to another */
  double overhead;          /* o: seconds of the processor a message, at each end */
  double gap;               /* g: seconds of the interface a message */
  double link_bw;           /* 1 / G: bytes/s of an interface, in each direction; 0: no limit */
  double overhead_per_byte; /* O: seconds of the processor a byte */
  double eager_max_bytes;   /* S */
  double reduce_bw;         /* bytes/s that a processor reduces; 0: no limit */
} weir_network;
/* Rows of a weir_network. */
extern const weir_opt weir_network_opts[];

typedef struct weir_inproc {
  int ranks;
  /* False: one rank runs at a time, until it waits or tests a request; the next one is drawn by
   * seed. Seconds pass only where all ranks wait: up to the next arrival or the end of a
   * weir_inproc_sleep, else in steps of 1 s. Script and seed determine the run. True: all run at
   * once, and seconds are those of the machine; the faults are the same. */
  bool concurrent;
  bool fails_together; /* a rank that fails ends the others, as weir_comm_abort does */
  int threads;         /* of each rank, for weir_parallel (weir_threads_own); 0: its own alone */
  uint64_t seed;
  const weir_inproc_fault *faults; /* [n_faults] */
  int n_faults;
  weir_inproc_script *script; /* NULL: all turns are drawn; not for concurrent ranks */
  /* Not NULL, and then not concurrent: messages and reductions take their time on this network, in
   * the order of its events, and nothing is drawn. The processor of messages is not that of
   * weir_inproc_sleep: where a schedule has a background thread, both go on together. */
  const weir_network *network; /* a signal ends such a run (weir_signal.h): WEIR_ERR_STOPPED */
  const double *rank_link_bw;  /* [ranks] on a network: that of each rank's interface; NULL: as
                                  network->link_bw */
  double link_bw; /* bytes/s at which each of concurrent ranks sends, one message after the other;
                     0: as fast as memory is copied */
  double scale;   /* on a network every byte of a message or reduction stands for so many, except in
                     messages of schedules; 0: 1 */
} weir_inproc;

/* Runs body(c, context) on every rank, each a thread with a communicator of its own, and closes
 * these. Only rank 0 writes events and messages below warnings. Unless fails_together, a rank that
 * fails does not end the others: these fail in the next collective call that lacks it, or after
 * comm.timeout. Returns the status of the rank that called weir_comm_abort, else of the rank that
 * failed first, with its message, or that of a lower rank with the same status; ranks that a fault
 * ended do not count.
 * Fails also: WEIR_ERR_CONFIG (fewer than 1 rank), WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL (the system
 * creates no thread). */
weir_status weir_inproc_run(const weir_inproc *run,
                            weir_status (*body)(weir_comm *c, void *context),
                            void *context) WEIR_CHECKED;
/* Returns the seconds since the start of the run, on its clock. c: of weir_inproc_run, or a group
 * of it. */
double weir_inproc_clock(const weir_comm *c);
/* Takes that many seconds on the clock of the run: imitates a computation. 0: lets others run, if
 * their turn comes. Local. Fails:
 * WEIR_ERR_EXTERNAL where the run or this rank has ended. */
weir_status weir_inproc_sleep(weir_comm *c, double seconds) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
