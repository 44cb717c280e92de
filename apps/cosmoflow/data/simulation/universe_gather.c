/* universe_gather.c - see universe_gather.h. */
#include "data/simulation/universe_gather.h"
#include "base/weir_alloc.h"
#include "comm/weir_request.h"

/* Bytes of a plane of x. */
static int64_t plane_bytes(const cf_gather *g)
{
  const cf_universe_facts *const f = g->f;

  return g->opts->side * g->opts->side * f->channels * (int64_t)weir_dtype_size(f->dtype);
}

static weir_status write_slab(const cf_gather *g, int64_t sample, cf_range slab, const char *counts)
{
  const cf_universe_facts *const f = g->f;
  const int64_t cell = f->channels * (int64_t)weir_dtype_size(f->dtype);

  for (int64_t i = 0; i < cf_universe_boxes(g->opts, f, slab); i++) {
    const cf_universe_box b = cf_universe_box_of(g->opts, f, slab, i);
    const int64_t start[5] = {sample + b.sample, b.x, 0, 0, 0};
    const int64_t count[5] = {1, b.planes, f->side, f->side, f->channels};

    WEIR_TRY(weir_netcdf_write(g->nc, g->full, start, count, counts + b.at * cell));
  }
  return WEIR_OK;
}

/* Moves `bytes` from rank `from` to the first one; a failure ends the run, for others wait. */
static weir_status move(weir_comm *comm, int from, void *data, int64_t bytes)
{
  const bool receives = weir_comm_rank(comm) == 0;
  const weir_message m = {receives ? from : 0, receives, data, bytes};
  weir_request *r = NULL;
  weir_status status =
      weir_messages_create(comm, "universe", &m, receives || weir_comm_rank(comm) == from, &r);

  if (status == WEIR_OK) {
    status = weir_request_run_once(&r);
  }
  return status == WEIR_OK ? WEIR_OK : weir_comm_abort(comm, status);
}

/* A failure to write is remembered until all have sent their counts. */
static weir_status gather(const cf_gather *g, int64_t sample, const void *own, void *buffer)
{
  const int ranks = weir_comm_size(g->comm), rank = weir_comm_rank(g->comm);
  weir_status status =
      rank == 0 ? write_slab(g, sample, cf_slab(g->opts->side, ranks, 0), own) : WEIR_OK;

  for (int r = 1; r < ranks; r++) {
    const cf_range slab = cf_slab(g->opts->side, ranks, r);

    WEIR_TRY(
        move(g->comm, r, rank == 0 ? buffer : (void *)(uintptr_t)own, slab.count * plane_bytes(g)));
    if (rank == 0 && status == WEIR_OK) {
      status = write_slab(g, sample, slab, buffer);
    }
  }
  return status;
}

weir_status cf_universe_gather(const cf_gather *g, int64_t sample, const void *own)
{
  void *buffer = NULL;

  if (g->comm == NULL) {
    return write_slab(g, sample, (cf_range){0, g->opts->side}, own);
  }
  const int64_t bytes = weir_comm_rank(g->comm) == 0 ? g->f->slab_bytes : 0;

  WEIR_TRY(weir_comm_agree(g->comm, weir_alloc(bytes, 1, &buffer)));
  const weir_status status = gather(g, sample, own, buffer);

  weir_free(&buffer);
  return status;
}
