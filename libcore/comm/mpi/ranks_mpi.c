/* ranks_mpi.c - ranks that MPI connects. */
#include <mpi.h>
#include <string.h>
#include "comm/comm_priv.h"
#include "base/weir_alloc.h"

enum { TAG = 1, PIECE = 1 << 30 }; /* counts of MPI are int */

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

  WEIR_MPI(MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &given));
  if (given < MPI_THREAD_SERIALIZED) {
    return weir_fail(WEIR_ERR_EXTERNAL, "this MPI serves one thread only");
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

static void close(weir_comm *c)
{
  (void)MPI_Comm_free(c->state);
  (void)MPI_Finalize();
  weir_free(&c->state);
}

static weir_status worst(weir_comm *c, int status, int *most, int *rank)
{
  const struct {
    int value, rank;
  } mine = {status, c->rank};
  struct {
    int value, rank;
  } all = {status, c->rank};

  WEIR_MPI(MPI_Allreduce(&mine, &all, 1, MPI_2INT, MPI_MAXLOC, comm_of(c)));
  *most = all.value;
  *rank = all.rank;
  return WEIR_OK;
}

static weir_status barrier(weir_comm *c)
{
  WEIR_MPI(MPI_Barrier(comm_of(c)));
  return WEIR_OK;
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

const weir_comm_kind weir_comm_kind_ranks_mpi = {.several = true,
                                                 .open = open,
                                                 .close = close,
                                                 .worst = worst,
                                                 .barrier = barrier,
                                                 .sizes = sizes,
                                                 .collect = collect};
