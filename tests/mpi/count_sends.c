/* count_sends.c - MPI's profiling interface: these functions stand before MPI's own. */
#include "count_sends.h"

#include <mpi.h>
#include <stdlib.h>

enum { MOST_REQUESTS = 1 << 12 };

/* Requests of sends that have been made. */
static struct {
  MPI_Request request;
  int64_t bytes;
} made[MOST_REQUESTS];
static int n_made;
static sends total;

sends sends_so_far(void)
{
  return total;
}

int MPI_Send_init(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
  int size = 0;
  const int status = PMPI_Send_init(data, count, type, to, tag, comm, request);

  if (PMPI_Type_size(type, &size) != MPI_SUCCESS || n_made == MOST_REQUESTS) {
    abort();
  }
  made[n_made].request = *request;
  made[n_made++].bytes = (int64_t)size * count;
  return status;
}

static void add(MPI_Request request)
{
  for (int k = n_made - 1; k >= 0; k--) { /* the last of a handle that came again */
    if (made[k].request == request) {
      total.messages += made[k].bytes > 0;
      total.bytes += made[k].bytes;
      return;
    }
  }
}

int MPI_Startall(int n, MPI_Request requests[])
{
  for (int k = 0; k < n; k++) {
    add(requests[k]);
  }
  return PMPI_Startall(n, requests);
}

int MPI_Start(MPI_Request *request)
{
  add(*request);
  return PMPI_Start(request);
}

/* Of messages that are started once. */
int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  int size = 0;

  if (PMPI_Type_size(type, &size) != MPI_SUCCESS) {
    abort();
  }
  total.messages += count > 0;
  total.bytes += (int64_t)size * count;
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Recv_init(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
  const int status = PMPI_Recv_init(data, count, type, from, tag, comm, request);

  for (int k = 0; k < n_made; k++) { /* a handle that was a send's before */
    made[k].bytes = made[k].request == *request ? 0 : made[k].bytes;
  }
  return status;
}
