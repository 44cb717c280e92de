/* weir_inproc.h - ranks that are threads of one process: programs run on ranks without MPI; with
 * scripted faults, communication is tested reproducibly or under the thread sanitizer. */
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
/* Takes that many seconds on the clock of the run: imitates a computation. Local. Fails:
 * WEIR_ERR_EXTERNAL where the run or this rank has ended. */
weir_status weir_inproc_sleep(weir_comm *c, double seconds) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
