/* weir_comm.h - the processes of one run, groups of them, and what they must agree on. A program
 * that was started alone is one rank and starts no library. What moves arrays: weir_request.h. */
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

/* The section `comm:` of a configuration; rows in weir_comm_opts. */
typedef struct weir_comm_cfg {
  int64_t max_message_bytes; /* bytes of the largest message                       */
  int64_t tree_max_bytes;    /* bytes up to which a reduction goes along its tree  */
  double timeout;            /* seconds without any progress that a rank waits, 0: indefinitely */
} weir_comm_cfg;
extern const weir_opt weir_comm_opts[];

/* All ranks that mpiexec or srun started with this one; once in a process. Collective.
 * Fails: WEIR_ERR_CONFIG where srun started several tasks that are no ranks, WEIR_ERR_UNSUPPORTED
 * where there are several ranks and this build has no MPI, WEIR_ERR_EXTERNAL where MPI does not
 * start or knows of another number of ranks than the launcher, WEIR_ERR_MEMORY. */
weir_status weir_comm_open(weir_comm **out) WEIR_CHECKED;
/* For requests made from now on, of this run and all its groups; before: the defaults. The same on
 * all ranks. Local. */
void weir_comm_configure(weir_comm *c, const weir_comm_cfg *cfg);
/* The group of the ranks of c that gave this colour, numbered in the order that they have in c; a
 * colour below 0: in none, and *out is NULL. It is closed before c is. Collective over c. Fails on
 * all ranks alike: WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL. */
weir_status weir_comm_split(weir_comm *c, int colour, weir_comm **out) WEIR_CHECKED;
/* Ends what open or split started; accepts NULL and nulls. Collective. */
void weir_comm_close(weir_comm **c);

/* Number of this process, from 0, and of all. Local. */
int weir_comm_rank(const weir_comm *c);
int weir_comm_size(const weir_comm *c);

/* Every rank gets the worst (largest) status of all; a rank whose own is better fails with the
 * message of the first rank that has it. What can fail on one rank alone stands before a call of
 * this, so that no other waits for it in vain. Collective. Fails: with that status,
 * WEIR_ERR_EXTERNAL. */
weir_status weir_comm_agree(weir_comm *c, weir_status status) WEIR_CHECKED;
/* The last resort, where others wait for messages that this rank cannot send: tells its failure and
 * ends all ranks of the run with that status. Returns `status` where there is one rank only. Local.
 */
weir_status weir_comm_abort(weir_comm *c, weir_status status);
/* Returns once all ranks have called it. Collective. Fails: WEIR_ERR_EXTERNAL. */
weir_status weir_comm_barrier(weir_comm *c) WEIR_CHECKED;
/* On rank 0, *all is what the ranks gave, n bytes each, one after the other in their order, and
 * *total its bytes; the caller frees it (weir_free). NULL and 0 on the others. Collective. Fails on
 * all ranks alike: WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL. */
weir_status weir_comm_gather(weir_comm *c, const void *bytes, int64_t n, void **all,
                             int64_t *total) WEIR_CHECKED;

/* What the messages of requests are for. */
typedef enum weir_comm_use {
  WEIR_COMM_SETUP, /* that both ends of an exchange say the same */
  WEIR_COMM_EXCHANGE,
  WEIR_COMM_REDUCE,    /* allreduce and reduce-scatter */
  WEIR_COMM_ALLGATHER, /* allgather */
  WEIR_COMM_USES
} weir_comm_use;

/* Of this rank, since open, in the run and all its groups; what a rank has of itself is no message.
 */
typedef struct weir_comm_count {
  int64_t sent, sent_bytes, received, received_bytes;
  double waited_s; /* seconds in weir_request_wait: exposed communication time */
} weir_comm_count;
weir_comm_count weir_comm_counted(const weir_comm *c, weir_comm_use use);

#ifdef __cplusplus
}
#endif
#endif
