/* ranks_mpi.c - ranks that MPI connects. */
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "comm/comm_priv.h"
#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_log.h"
#include "conf/weir_launch.h"

enum { TAG = 1, FIRST_TAG = 2, PIECE = 1 << 30 }; /* counts of MPI are int */

static weir_status check(int code, const char *call)
{
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;

  if (code == MPI_SUCCESS) {
    return WEIR_OK;
  }
  (void)MPI_Error_string(code, text, &length);
  return weir_fail(WEIR_ERR_EXTERNAL, "%s: %s", call, text);
}

#define WEIR_MPI(call) WEIR_TRY(check(call, #call))

static MPI_Comm comm_of(const weir_comm *c)
{
  return *(const MPI_Comm *)c->state;
}

/* Libraries that know MPI, as parallel NetCDF does, may call it from the thread that writes. */
static weir_status start(weir_comm *c)
{
  int given = 0;

#ifdef OPEN_MPI /* it may end the process itself, and does not say what to do instead */
  if (weir_launch_leads_pmi2()) {
    weir_info("comm", "started by srun --mpi=pmi2: an Open MPI that exits here needs --mpi=pmix");
  }
#endif
  WEIR_MPI(MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &given));
  if (given < MPI_THREAD_SERIALIZED) {
    return weir_fail(WEIR_ERR_EXTERNAL,
                     "this MPI serves one thread only: MPI_THREAD_SERIALIZED is needed");
  }
  WEIR_MPI(MPI_Comm_dup(MPI_COMM_WORLD, c->state));
  WEIR_MPI(MPI_Comm_set_errhandler(comm_of(c), MPI_ERRORS_RETURN));
  WEIR_MPI(MPI_Comm_rank(comm_of(c), &c->rank));
  WEIR_MPI(MPI_Comm_size(comm_of(c), &c->size));
  return WEIR_OK;
}

static weir_status open(weir_comm *c)
{
  WEIR_TRY(weir_alloc(1, sizeof(MPI_Comm), &c->state));
  const weir_status status = start(c);

  if (status != WEIR_OK) {
    weir_free(&c->state);
  }
  return status;
}

static weir_status sub_of(const weir_comm *c, int colour, weir_comm *sub)
{
  WEIR_MPI(MPI_Comm_split(comm_of(c), colour < 0 ? MPI_UNDEFINED : colour, c->rank, sub->state));
  if (comm_of(sub) == MPI_COMM_NULL) {
    return WEIR_OK;
  }
  WEIR_MPI(MPI_Comm_set_errhandler(comm_of(sub), MPI_ERRORS_RETURN));
  WEIR_MPI(MPI_Comm_rank(comm_of(sub), &sub->rank));
  WEIR_MPI(MPI_Comm_size(comm_of(sub), &sub->size));
  return WEIR_OK;
}

/* Allocates before all ranks split together; the caller agrees on a failure. */
static weir_status split(const weir_comm *c, int colour, weir_comm *sub)
{
  MPI_Comm none = MPI_COMM_NULL;
  weir_status status = weir_alloc(1, sizeof(MPI_Comm), &sub->state);

  if (status != WEIR_OK) {
    (void)MPI_Comm_split(comm_of(c), MPI_UNDEFINED, c->rank, &none);
    return status;
  }
  status = sub_of(c, colour, sub);
  if (status != WEIR_OK || sub->size == 0) {
    weir_free(&sub->state);
  }
  return status;
}

static void finalize(void)
{
  (void)MPI_Finalize();
}

/* MPI_Finalize waits for all ranks, and once one has exited with a failure mpiexec kills those that
 * still write: at exit all have written what they say about it. */
static void close(weir_comm *c)
{
  (void)MPI_Comm_free(c->state);
  if (c->owns && atexit(finalize) != 0) {
    finalize();
  }
  weir_free(&c->state);
}

static void end(weir_comm *c, int status)
{
  (void)MPI_Abort(comm_of(c), status);
}

/* -1 where MPI does not say. */
static int run_rank(const weir_comm *c, int rank)
{
  MPI_Group all, group;
  int number = -1;

  if (MPI_Comm_group(MPI_COMM_WORLD, &all) != MPI_SUCCESS) {
    return -1;
  }
  if (MPI_Comm_group(comm_of(c), &group) == MPI_SUCCESS) {
    (void)MPI_Group_translate_ranks(group, 1, &rank, all, &number);
    (void)MPI_Group_free(&group);
  }
  (void)MPI_Group_free(&all);
  return number;
}

/* There may be more ranks than cores. */
static void rest(const weir_comm *c, bool waits)
{
  (void)c;
  if (waits) {
    (void)sched_yield();
  }
}

/* Waits for all ranks. Meanwhile this one takes part in what has a background thread, for which one
 * that is to come may wait. A failure of that is kept for a later call: the others do not know of
 * it, and the call ends alike on all ranks. */
static weir_status await(weir_comm *c, MPI_Request *r)
{
  int done = 0;

  for (;;) {
    bool moved = false;

    WEIR_MPI(MPI_Test(r, &done, MPI_STATUS_IGNORE));
    if (done) {
      return WEIR_OK;
    }
    if (c->engine->background_users > 0) {
      comm_progress_background(c->engine, &moved);
    }
    rest(c, !moved);
  }
}

static weir_status allreduce_max(weir_comm *c, int status, int *max, int *rank)
{
  const struct {
    int value, rank;
  } mine = {status, c->rank};
  struct {
    int value, rank;
  } all = {status, c->rank};

  MPI_Request all_have;

  WEIR_MPI(MPI_Iallreduce(&mine, &all, 1, MPI_2INT, MPI_MAXLOC, comm_of(c), &all_have));
  WEIR_TRY(await(c, &all_have));
  *max = all.value;
  *rank = all.rank;
  return WEIR_OK;
}

static weir_status tell(weir_comm *c, int rank, char text[COMM_TEXT])
{
  WEIR_MPI(MPI_Bcast(text, COMM_TEXT, MPI_CHAR, rank, comm_of(c)));
  return WEIR_OK;
}

static weir_status barrier(weir_comm *c)
{
  MPI_Request all_came;

  WEIR_MPI(MPI_Ibarrier(comm_of(c), &all_came));
  return await(c, &all_came);
}

static weir_status sizes(weir_comm *c, int64_t n, int64_t *of)
{
  WEIR_MPI(MPI_Gather(&n, 1, MPI_INT64_T, of, 1, MPI_INT64_T, 0, comm_of(c)));
  return WEIR_OK;
}

static int piece_of(int64_t left)
{
  return left < PIECE ? (int)left : PIECE;
}

static weir_status collect(weir_comm *c, const void *bytes, int64_t n, void *all, const int64_t *of)
{
  const char *from = bytes;
  char *to = all;

  if (c->rank != 0) {
    for (int64_t at = 0; at < n; at += PIECE) {
      WEIR_MPI(MPI_Send(from + at, piece_of(n - at), MPI_BYTE, 0, TAG, comm_of(c)));
    }
    return WEIR_OK;
  }
  if (n > 0) {
    memcpy(to, from, (size_t)n);
    to += n;
  }
  for (int rank = 1; rank < c->size; to += of[rank++]) {
    for (int64_t at = 0; at < of[rank]; at += PIECE) {
      WEIR_MPI(MPI_Recv(to + at, piece_of(of[rank] - at), MPI_BYTE, rank, TAG, comm_of(c),
                        MPI_STATUS_IGNORE));
    }
  }
  return WEIR_OK;
}

/* The standard promises 32767 tags. */
static int tags(const weir_comm *c)
{
  int *max_tag = NULL, given = 0;

  if (MPI_Comm_get_attr(comm_of(c), MPI_TAG_UB, &max_tag, &given) != MPI_SUCCESS || !given) {
    return 32767 - FIRST_TAG;
  }
  return *max_tag - FIRST_TAG;
}

/* Messages of one request. Those of fixed size are persistent at MPI; others are started anew,
 * whose requests are MPI_REQUEST_NULL in between. */
typedef struct prepared {
  MPI_Comm comm;
  int tag;
  bool varies;
  const comm_message *list;
  MPI_Request request[];
} prepared;

static weir_status make(const weir_comm *c, const comm_message *m, int tag, MPI_Request *out)
{
  if (m->varying != NULL) {
    return WEIR_OK;
  }
  if (m->receive) {
    const int from = m->peer == COMM_ANY ? MPI_ANY_SOURCE : m->peer;

    WEIR_MPI(MPI_Recv_init(m->data, (int)m->bytes, MPI_BYTE, from, tag, comm_of(c), out));
  } else {
    WEIR_MPI(MPI_Send_init(m->data, (int)m->bytes, MPI_BYTE, m->peer, tag, comm_of(c), out));
  }
  return WEIR_OK;
}

static void release(void **messages, const comm_message *list, int64_t n)
{
  prepared *const p = *messages;
  MPI_Request *const r = p->request;

  for (int64_t i = 0; i < n; i++) {
    int done = 1;

    if (r[i] == MPI_REQUEST_NULL) {
      continue;
    }
    if (list[i].receive && MPI_Test(&r[i], &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
      (void)MPI_Cancel(&r[i]);
    }
    if (r[i] != MPI_REQUEST_NULL) { /* the test above frees those that are not persistent */
      (void)MPI_Request_free(&r[i]);
    }
  }
  weir_free(messages);
}

static weir_status prepare(weir_comm *c, const comm_message *list, int64_t n, int tag,
                           void **messages)
{
  weir_status status = WEIR_OK;
  prepared *made = NULL;

  if (n > INT_MAX) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "%lld messages in one request are too many",
                     (long long)n);
  }
  WEIR_TRY(weir_alloc(1, sizeof *made + (size_t)n * sizeof made->request[0], (void **)&made));
  made->comm = comm_of(c);
  made->tag = FIRST_TAG + tag;
  made->varies = list[0].varying != NULL;
  made->list = list;
  for (int64_t i = 0; i < n; i++) {
    made->request[i] = MPI_REQUEST_NULL;
  }
  *messages = made;
  for (int64_t i = 0; i < n; i++) {
    WEIR_TRY_GOTO(make(c, &list[i], made->tag, &made->request[i]), fail);
  }
  return WEIR_OK;
fail:
  release(messages, list, n);
  return status;
}

static weir_status begin_varying(prepared *p, int64_t i)
{
  const comm_message *m = &p->list[i];
  const int64_t bytes = comm_message_bytes(m);

  if (bytes > INT_MAX) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "a message of %lld bytes is too long for MPI",
                     (long long)bytes);
  }
  if (bytes > 0 && m->receive) {
    WEIR_MPI(MPI_Irecv(comm_message_data(m), (int)bytes, MPI_BYTE, m->peer, p->tag, p->comm,
                       &p->request[i]));
  } else if (bytes > 0) {
    WEIR_MPI(MPI_Isend(comm_message_data(m), (int)bytes, MPI_BYTE, m->peer, p->tag, p->comm,
                       &p->request[i]));
  }
  return WEIR_OK;
}

static weir_status begin(void *messages, int64_t first, int64_t n)
{
  prepared *const p = messages;

  if (!p->varies) {
    WEIR_MPI(MPI_Startall((int)n, p->request + first));
  }
  for (int64_t i = first; i < first + n && p->varies; i++) {
    WEIR_TRY(begin_varying(p, i));
  }
  return WEIR_OK;
}

static weir_status finished(void *messages, int64_t first, int64_t n, bool *all)
{
  int done = 0;

  WEIR_MPI(
      MPI_Testall((int)n, ((prepared *)messages)->request + first, &done, MPI_STATUSES_IGNORE));
  *all = done != 0;
  return WEIR_OK;
}

static double seconds(const weir_comm *c)
{
  (void)c;
  return weir_clock();
}

const weir_comm_kind weir_comm_kind_ranks_mpi = {.several = true,
                                                 .open = open,
                                                 .split = split,
                                                 .close = close,
                                                 .end = end,
                                                 .run_rank = run_rank,
                                                 .allreduce_max = allreduce_max,
                                                 .bcast_text = tell,
                                                 .barrier = barrier,
                                                 .sizes = sizes,
                                                 .gatherv = collect,
                                                 .tags = tags,
                                                 .prepare = prepare,
                                                 .start = begin,
                                                 .finished = finished,
                                                 .release = release,
                                                 .clock = seconds,
                                                 .pause = rest};
