/* allreduce_mpi.c - sums of 1 to 64 MB of f32 over 2 ranks, in place: weir_allreduce_create,
 * started and waited for, against MPI_Allreduce of the same MPI. The program starts itself by
 * mpiexec; both sums are checked before they are timed, and their runs alternate.
 *
 *   allreduce_mpi [RANKS] */
#include <mpi.h>
#include <string.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "comm/weir_request.h"
#include "reference.h"
#include "weir_bench.h"

enum { MB = 1000000, MAX_MB = 64, RUNS = 9 };

#define GOAL (1 / 1.2) /* at most 1.2 times the seconds */

typedef struct subject {
  float *x;
  int64_t count;
  weir_request *request;
} subject;

static void sum_by_mpi(void *context)
{
  const subject *s = context;

  if (MPI_Allreduce(MPI_IN_PLACE, s->x, (int)s->count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD) !=
      MPI_SUCCESS) {
    bench_must(weir_fail(WEIR_ERR_EXTERNAL, "MPI_Allreduce failed"));
  }
}

static void sum_by_weir(void *context)
{
  const subject *s = context;

  bench_must(weir_request_start(s->request));
  bench_must(weir_request_wait(s->request));
}

/* Sums small integers, which are exact. */
static void check(subject *s, int rank, int ranks, void (*sum)(void *context))
{
  for (int64_t i = 0; i < s->count; i++) {
    s->x[i] = (float)(rank + i % 1000);
  }
  sum(s);
  for (int64_t i = 0; i < s->count; i++) {
    const float wanted = (float)(ranks * (ranks - 1) / 2 + ranks * (i % 1000));

    if (s->x[i] != wanted) {
      bench_must(weir_fail(WEIR_ERR_NUMERIC, "element %lld is %g, not %g", (long long)i,
                           (double)s->x[i], (double)wanted));
    }
  }
}

/* A row of one size, printed by rank 0. */
static void row(weir_comm *c, int64_t mb, float *x)
{
  const int rank = weir_comm_rank(c), ranks = weir_comm_size(c);
  subject s = {.x = x, .count = mb * MB / (int64_t)sizeof *x};
  char work[64];
  double seconds[2];

  bench_must(weir_allreduce_create(c, "bench", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_F32), x,
                                   s.count, &s.request));
  check(&s, rank, ranks, sum_by_mpi);
  check(&s, rank, ranks, sum_by_weir);
  memset(x, 0, (size_t)s.count * sizeof *x); /* sums of zeros stay */
  bench_must(weir_comm_barrier(c));
  bench_best_pair(RUNS, sum_by_mpi, &s, sum_by_weir, &s, seconds);
  weir_request_destroy(&s.request);
  (void)snprintf(work, sizeof work, "allreduce of %lld MB f32 on %d ranks", (long long)mb, ranks);
  if (rank == 0) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING], version[32];
    int length;

    (void)MPI_Get_library_version(text, &length);
    bench_word(text, 2, version);
    bench_row_of(work, "MPI_Allreduce", version, seconds[0] * 1e3, seconds[1] * 1e3, "ms", 0, GOAL);
  }
}

/* This program again, as ranks. Returns where that cannot be. */
static int start(char **argv)
{
  /* Of Open MPI; others know no such names. */
  (void)setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  (void)setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  (void)setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
  (void)setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
  (void)setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 1);
  (void)execlp("mpiexec", "mpiexec", "-n", argv[1] != NULL ? argv[1] : "2", argv[0], "ranks",
               "started", (char *)NULL);
  fprintf(stderr, "allreduce_mpi: there is no mpiexec\n");
  return REFERENCE_SKIP;
}

int main(int argc, char **argv)
{
  weir_comm *c = NULL;
  void *x = NULL;

  if (argc != 3) {
    return start(argv);
  }
  bench_must(weir_comm_open(&c));
  if (weir_comm_size(c) < 2) {
    fprintf(stderr, "allreduce_mpi: mpiexec started no two ranks\n");
    weir_comm_close(&c);
    return REFERENCE_SKIP;
  }
  bench_must(weir_alloc((int64_t)MAX_MB * MB, 1, &x));
  for (int64_t mb = 1; mb <= MAX_MB; mb *= 4) {
    row(c, mb, x);
  }
  weir_free(&x);
  weir_comm_close(&c);
  return 0;
}
