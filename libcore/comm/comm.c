/* comm.c - see weir_comm.h. Whether there are other ranks is read from what the launcher sets, so
 * that a program that was started alone does not start MPI. */
#include <limits.h>
#include <stdlib.h>
#include "comm/comm_priv.h"
#include "base/weir_alloc.h"
#include "conf/weir_opt.h"

static int number_of(const char *variable)
{
  const char *text = weir_env(variable);
  const long n = text == NULL ? 1 : strtol(text, NULL, 10);

  return n > 1 && n <= INT_MAX ? (int)n : 1;
}

/* Ranks that Open MPI, MPICH or srun started. A batch script of Slurm has SLURM_NTASKS too, but no
 * rank of its own. */
static int launched(void)
{
  const bool of_slurm = weir_env("PMI_RANK") != NULL || weir_env("PMIX_RANK") != NULL;
  const int ompi = number_of("OMPI_COMM_WORLD_SIZE"), pmi = number_of("PMI_SIZE");

  return ompi > 1 ? ompi : pmi > 1 ? pmi : of_slurm ? number_of("SLURM_NTASKS") : 1;
}

weir_status weir_comm_open(weir_comm **out)
{
  const int ranks = launched();
  const weir_comm_kind *const *kind = weir_comm_kind_table;
  weir_status status = WEIR_OK;

  *out = NULL;
  while (*kind != NULL && (*kind)->several != (ranks > 1)) {
    kind++;
  }
  if (*kind == NULL) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "one of %d ranks: this build has no MPI, so that each would do the whole "
                     "work; start the program alone or build it with MPI",
                     ranks);
  }
  WEIR_TRY(weir_alloc(1, sizeof **out, (void **)out));
  (*out)->kind = *kind;
  WEIR_TRY_GOTO((*kind)->open(*out), fail);
  return WEIR_OK;
fail:
  weir_free(out);
  return status;
}

void weir_comm_close(weir_comm **c)
{
  if (*c != NULL) {
    (*c)->kind->close(*c);
    weir_free(c);
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

weir_status weir_comm_agree(weir_comm *c, weir_status status)
{
  int worst = (int)status, rank = 0;

  WEIR_TRY(c->kind->worst(c, (int)status, &worst, &rank));
  if (worst > (int)status) {
    return weir_fail((weir_status)worst, "rank %d of %d failed: %s", rank, c->size,
                     weir_status_text((weir_status)worst));
  }
  return status;
}

weir_status weir_comm_barrier(weir_comm *c)
{
  WEIR_TRY(c->kind->barrier(c));
  return WEIR_OK;
}

/* Room for all of them, where they go. */
static weir_status make_room(const weir_comm *c, const int64_t *sizes, void **all, int64_t *total)
{
  int64_t sum = 0;

  for (int i = 0; i < c->size; i++) {
    if (sizes[i] > INT64_MAX - sum) {
      return weir_fail(WEIR_ERR_MEMORY, "what %d ranks give is beyond 64 bits", c->size);
    }
    sum += sizes[i];
  }
  WEIR_TRY(weir_alloc(sum, 1, all));
  *total = sum;
  return WEIR_OK;
}

weir_status weir_comm_gather(weir_comm *c, const void *bytes, int64_t n, void **all, int64_t *total)
{
  int64_t *sizes = NULL;
  weir_status status = WEIR_OK;

  *all = NULL;
  *total = 0;
  status = weir_alloc(c->size, sizeof *sizes, (void **)&sizes);
  WEIR_TRY_GOTO(weir_comm_agree(c, status), done);
  WEIR_TRY_GOTO(c->kind->sizes(c, n, sizes), done);
  if (c->rank == 0) {
    status = make_room(c, sizes, all, total);
  }
  WEIR_TRY_GOTO(weir_comm_agree(c, status), done);
  WEIR_TRY_GOTO(c->kind->collect(c, bytes, n, *all, sizes), done);
done:
  weir_free(&sizes);
  if (status != WEIR_OK) {
    weir_free(all);
    *total = 0;
  }
  return status;
}
