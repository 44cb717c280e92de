/* comm.c - see weir_comm.h. Whether there are other ranks is read from what the launcher sets, so
 * that a program that was started alone does not start MPI. */
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "comm/comm_priv.h"
#include "conf/weir_launch.h"

/* The kind that serves so many ranks of a launcher, or NULL. */
static const weir_comm_kind *kind_for(int ranks)
{
  const weir_comm_kind *const *kind = weir_comm_kind_table;

  while (*kind != NULL && ((*kind)->open == NULL || (*kind)->several != (ranks > 1))) {
    kind++;
  }
  return *kind;
}

/* Starts the library and compares its ranks with those of the launcher. */
static weir_status start(weir_comm *c, int ranks)
{
  WEIR_TRY(c->kind->open(c));
  if (c->size != ranks) {
    const int found = c->size;

    c->kind->close(c);
    return weir_fail(WEIR_ERR_EXTERNAL,
                     "the launcher reports %d ranks, MPI reports %d: this MPI was built for "
                     "another launcher (with srun, choose --mpi=pmix or --mpi=pmi2)",
                     ranks, found);
  }
  return WEIR_OK;
}

weir_status comm_new(const weir_comm_kind *kind, weir_comm **out)
{
  weir_status status = WEIR_OK;
  comm_engine *engine = NULL;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *engine, (void **)&engine));
  weir_opts_default(weir_comm_opts, sizeof engine->cfg, &engine->cfg);
  engine->right = (weir_lock)WEIR_LOCK_INIT_RECURSIVE;
  engine->threads = true;
  WEIR_TRY_GOTO(weir_alloc(1, sizeof **out, (void **)out), fail);
  (*out)->kind = kind;
  (*out)->engine = engine;
  (*out)->owns = true;
  return WEIR_OK;
fail:
  weir_free(&engine);
  return status;
}

void comm_delete(weir_comm **c)
{
  if (*c != NULL && (*c)->owns) {
    comm_forget((*c)->engine);
    weir_free(&(*c)->engine);
  }
  weir_free(c);
}

weir_status weir_comm_open(weir_comm **out)
{
  const int ranks = weir_launch_ranks(), apart = weir_launch_tasks();
  const weir_comm_kind *kind = kind_for(ranks);
  weir_status status = WEIR_OK;

  *out = NULL;
  if (apart > 1) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "srun started this as one of %d tasks but not as an MPI rank, so that each task would do "
        "the whole work: use --mpi=pmix (--mpi=list prints the types of this Slurm), or one task",
        apart);
  }
  if (kind == NULL) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "started as one of %d ranks, but this build has no MPI, so that each rank "
                     "would do the whole work: start one process, or build with MPI",
                     ranks);
  }
  WEIR_TRY(comm_new(kind, out));
  WEIR_TRY_GOTO(start(*out, ranks), fail);
  comm_set_program((*out)->engine);
  return WEIR_OK;
fail:
  comm_delete(out);
  return status;
}

void weir_comm_configure(weir_comm *c, const weir_comm_cfg *cfg)
{
  weir_comm_borrow(c);
  c->engine->cfg = *cfg;
  weir_comm_return(c);
}

static weir_status agree(weir_comm *c, weir_status status)
{
  int worst = (int)status, rank = 0;
  char text[COMM_TEXT] = "", own[COMM_TEXT] = "";

  if (status != WEIR_OK) { /* a failure in the background clears the record of this thread */
    (void)snprintf(own, sizeof own, "%s", weir_last_message());
  }
  WEIR_TRY(c->kind->allreduce_max(c, (int)status, &worst, &rank));
  c->agreed = (weir_status)worst;
  if (worst == (int)WEIR_OK) {
    return WEIR_OK;
  }
  if (rank == c->rank) {
    memcpy(text, own, sizeof text);
  }
  WEIR_TRY(c->kind->bcast_text(c, rank, text));
  if (worst > (int)status) {
    return weir_fail((weir_status)worst, "rank %d of %d failed: %s", rank, c->size,
                     text[0] != 0 ? text : weir_status_text((weir_status)worst));
  }
  return weir_last_message()[0] == 0 && own[0] != 0 ? weir_fail(status, "%s", own) : status;
}

static weir_status split(weir_comm *c, int colour, weir_comm **out)
{
  weir_comm *sub = NULL;
  weir_status status = weir_alloc(1, sizeof *sub, (void **)&sub);

  *out = NULL;
  WEIR_TRY_GOTO(agree(c, status), done);
  sub->kind = c->kind;
  sub->engine = c->engine;
  sub->parent = c;
  WEIR_TRY_GOTO(agree(c, c->kind->split(c, colour, sub)), done);
  if (sub->size > 0) {
    *out = sub;
    return WEIR_OK;
  }
done:
  if (sub != NULL && sub->size > 0) { /* another rank failed */
    sub->kind->close(sub);
  }
  weir_free(&sub);
  return status;
}

weir_status weir_comm_split(weir_comm *c, int colour, weir_comm **out)
{
  weir_comm_borrow(c);
  const weir_status status = split(c, colour, out);

  weir_comm_return(c);
  return status;
}

void weir_comm_close(weir_comm **c)
{
  if (*c != NULL) {
    weir_comm_borrow(*c);
    (*c)->kind->close(*c);
    weir_comm_return(*c);
    comm_delete(c);
  }
}

int weir_comm_rank(const weir_comm *c)
{
  return c->rank;
}

int weir_comm_size(const weir_comm *c)
{
  return c->size;
}

double weir_comm_clock(const weir_comm *c)
{
  return c->kind->clock(c);
}

weir_status weir_comm_agree(weir_comm *c, weir_status status)
{
  weir_comm_borrow(c);
  const weir_status all = agree(c, status);

  weir_comm_return(c);
  return all;
}

weir_status weir_comm_agreed(const weir_comm *c)
{
  return c->agreed;
}

weir_status weir_comm_abort(weir_comm *c, weir_status status)
{
  if (c->size > 1) {
    weir_error("comm", "rank %d of %d ends the run: %s", c->rank, c->size, weir_last_message());
    weir_comm_borrow(c);
    c->kind->end(c, (int)status);
    weir_comm_return(c);
  }
  return status;
}

int comm_run_rank(const weir_comm *c, int rank)
{
  return rank < 0 || c->owns ? rank : c->kind->run_rank(c, rank);
}

int comm_run_size(const weir_comm *c)
{
  while (c->parent != NULL) {
    c = c->parent;
  }
  return c->size;
}

void comm_count_add(weir_comm *c, weir_comm_use use, const weir_comm_count *more)
{
  for (; c != NULL; c = c->parent) {
    weir_comm_count *const sum = &c->count[use];

    sum->sent += more->sent;
    sum->sent_bytes += more->sent_bytes;
    sum->received += more->received;
    sum->received_bytes += more->received_bytes;
    sum->sent_index_bytes += more->sent_index_bytes;
    sum->received_index_bytes += more->received_index_bytes;
    sum->rounds += more->rounds;
    sum->waited_s += more->waited_s;
  }
}

weir_comm_count weir_comm_counted(const weir_comm *c, weir_comm_use use)
{
  weir_lock_take(&c->engine->right);
  const weir_comm_count count = c->count[use];

  weir_lock_give(&c->engine->right);
  return count;
}

weir_status weir_comm_barrier(weir_comm *c)
{
  weir_comm_borrow(c);
  const weir_status status = c->kind->barrier(c);

  weir_comm_return(c);
  return status;
}

/* Room for all of them, where they go. */
static weir_status alloc_buffers(const weir_comm *c, const int64_t *sizes, void **all,
                                 int64_t *total)
{
  int64_t sum = 0;

  for (int i = 0; i < c->size; i++) {
    if (sizes[i] > INT64_MAX - sum) {
      return weir_fail(WEIR_ERR_MEMORY, "the sum over %d ranks exceeds 64 bits", c->size);
    }
    sum += sizes[i];
  }
  WEIR_TRY(weir_alloc(sum, 1, all));
  *total = sum;
  return WEIR_OK;
}

static weir_status gather(weir_comm *c, const void *bytes, int64_t n, void **all, int64_t *total)
{
  int64_t *sizes = NULL;
  weir_status status = WEIR_OK;

  *all = NULL;
  *total = 0;
  status = weir_alloc(c->size, sizeof *sizes, (void **)&sizes);
  WEIR_TRY_GOTO(agree(c, status), done);
  WEIR_TRY_GOTO(c->kind->sizes(c, n, sizes), done);
  if (c->rank == 0) {
    status = alloc_buffers(c, sizes, all, total);
  }
  WEIR_TRY_GOTO(agree(c, status), done);
  WEIR_TRY_GOTO(c->kind->gatherv(c, bytes, n, *all, sizes), done);
done:
  weir_free(&sizes);
  if (status != WEIR_OK) {
    weir_free(all);
    *total = 0;
  }
  return status;
}

weir_status weir_comm_gather(weir_comm *c, const void *bytes, int64_t n, void **all, int64_t *total)
{
  weir_comm_borrow(c);
  const weir_status status = gather(c, bytes, n, all, total);

  weir_comm_return(c);
  return status;
}
