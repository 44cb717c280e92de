/* weir_comm.h - communicators: the processes of a run, groups of them, and agreement among them. A
 * program started alone is one rank and initialises no library. Array transfers: weir_request.h.
 *
 * A collective call that waits for other ranks may meanwhile progress the schedules of this rank
 * that run in the background (weir_schedule.h), for which these ranks may wait: it may call their
 * begin and end functions, on this thread or on the background thread. A failure of such a schedule
 * does not change the result of the call; calls that progress requests return it from then on. */
#ifndef WEIR_COMM_H
#define WEIR_COMM_H
#include <stdint.h>
#include <stdio.h>
#include "base/weir_status.h"
#include "conf/weir_opt.h"
#ifdef __cplusplus
extern "C" {
#endif

/* All ranks of a run, or a group of them. */
typedef struct weir_comm weir_comm;

/* What a rank does in a wait that lasts much longer than those before it. */
enum { WEIR_STALL_IGNORE, WEIR_STALL_REPORT, WEIR_STALL_FAIL };

/* The section `comm:` of a configuration; rows in weir_comm_opts. */
typedef struct weir_comm_cfg {
  int64_t max_message_bytes; /* maximum message size in bytes */
  int64_t tree_max_bytes;    /* maximum bytes of a tree reduction */
  double timeout;            /* seconds a rank waits without progress, 0: indefinitely */
  int stall;                 /* WEIR_STALL_.. */
  double stall_floor;        /* seconds of the shortest stall */
  double stall_deviations;   /* median absolute deviations above the median wait */
} weir_comm_cfg;
extern const weir_opt weir_comm_opts[];

/* Opens the communicator of all ranks started by mpiexec or srun; once per process. Collective.
 * Fails: WEIR_ERR_CONFIG where srun started several tasks that are not MPI ranks,
 * WEIR_ERR_UNSUPPORTED with several ranks in a build without MPI, WEIR_ERR_EXTERNAL where MPI does
 * not start or reports another number of ranks than the launcher, WEIR_ERR_MEMORY. */
weir_status weir_comm_open(weir_comm **out) WEIR_CHECKED;
/* Sets the configuration of requests made from now on, of this run and all its groups; before: the
 * defaults. The same on all ranks. Local. */
void weir_comm_configure(weir_comm *c, const weir_comm_cfg *cfg);
/* Creates the group of the ranks of c with this colour, numbered in their order in c; a colour
 * below 0: no group, *out is NULL. Close it before c. Collective over c. Fails on all ranks alike:
 * WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL. */
weir_status weir_comm_split(weir_comm *c, int colour, weir_comm **out) WEIR_CHECKED;
/* Closes a communicator of open or split; accepts NULL and nulls. Collective. */
void weir_comm_close(weir_comm **c);

/* Return the number of this rank, from 0, and of all ranks. Local. */
int weir_comm_rank(const weir_comm *c);
int weir_comm_size(const weir_comm *c);
/* Returns the seconds on the clock that timeouts are measured by: of the machine, or of a script
 * (weir_inproc.h). Local. */
double weir_comm_clock(const weir_comm *c);

/* Returns the worst (largest) status of all ranks on every rank; a rank with a better status fails
 * with the message of the first rank with the worst one, and one that has it keeps its own message.
 * Call it after operations that can fail on a single rank, so that no other rank waits
 * indefinitely. Collective. Fails: with that status, WEIR_ERR_EXTERNAL. */
weir_status weir_comm_agree(weir_comm *c, weir_status status) WEIR_CHECKED;
/* Returns the result of the last agreement on this rank, of weir_comm_agree or within another
 * collective call; WEIR_OK before the first. Whether all ranks know of a failure. Local. */
weir_status weir_comm_agreed(const weir_comm *c);
/* Last resort where other ranks wait for messages that this rank cannot send: reports its failure
 * and ends all ranks of the run with that status. Returns `status` if there is only one rank.
 * Local. */
weir_status weir_comm_abort(weir_comm *c, weir_status status);
/* Barrier: returns once all ranks have called it. Collective. Fails: WEIR_ERR_EXTERNAL. */
weir_status weir_comm_barrier(weir_comm *c) WEIR_CHECKED;
/* Gathers n bytes of each rank on rank 0, concatenated in rank order: *all, of *total bytes; the
 * caller frees it (weir_free). NULL and 0 on the other ranks. Collective. Fails on all ranks alike:
 * WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL. */
weir_status weir_comm_gather(weir_comm *c, const void *bytes, int64_t n, void **all,
                             int64_t *total) WEIR_CHECKED;

/* Borrows the right to call the library that connects the ranks (MPI), for PETSc or parallel I/O:
 * until weir_comm_return, which the same thread calls, no other thread of Weir calls it. Waits
 * while another one does. Nothing progresses in between but what this thread calls itself. c: NULL
 * where the caller does not know the ranks: those of this program, if any. May be nested. Do not
 * wait for other threads while it is borrowed: these may need it. Local. */
void weir_comm_borrow(weir_comm *c);
void weir_comm_return(weir_comm *c);

/* Purposes of the messages of requests. */
typedef enum weir_comm_use {
  WEIR_COMM_SETUP, /* comparison of both ends of an exchange */
  WEIR_COMM_EXCHANGE,
  WEIR_COMM_REDUCE,     /* allreduce and reduce-scatter */
  WEIR_COMM_ALLGATHER,  /* allgather */
  WEIR_COMM_ACTIVATION, /* of versions of a schedule */
  WEIR_COMM_VARYING,    /* messages of varying size */
  WEIR_COMM_USES
} weir_comm_use;

/* Statistics of this rank since the communicator was created, of its requests and of those of all
 * groups split from it; copies within a rank are not messages. */
typedef struct weir_comm_count {
  int64_t sent, sent_bytes, received, received_bytes;
  int64_t sent_index_bytes, received_index_bytes; /* of these, those of positions in sparse data */
  int64_t rounds;  /* of messages of a request that are under way together */
  double waited_s; /* seconds in weir_request_wait and weir_schedule_wait: exposed communication
                      time */
} weir_comm_count;
weir_comm_count weir_comm_counted(const weir_comm *c, weir_comm_use use);

#ifdef __cplusplus
}
#endif
#endif
