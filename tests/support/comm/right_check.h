/* right_check.h - calls of libraries that call MPI themselves wait while another thread of the rank
 * has the right to (weir_comm_borrow), as the thread of a schedule has. Tests only. */
#ifndef RIGHT_CHECK_H
#define RIGHT_CHECK_H
#include <stdatomic.h>
#include <time.h>
#include "comm/weir_inproc.h"
#include "device/weir_worker.h"

typedef struct right_check {
  weir_comm *comm;
  weir_status (*call)(void *context);
  void *context;
  atomic_bool taken, given;
  bool waited;
} right_check;

static inline void right_rest(long ms)
{
  (void)nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static inline weir_status right_hold(void *check)
{
  right_check *k = check;

  weir_comm_borrow(k->comm);
  atomic_store(&k->taken, true);
  right_rest(50);
  atomic_store(&k->given, true);
  weir_comm_return(k->comm);
  return WEIR_OK;
}

static inline weir_status right_rank(weir_comm *c, void *check)
{
  right_check *k = check;
  weir_worker *holder = NULL;

  k->comm = c;
  WEIR_TRY(weir_worker_create(true, &holder));
  weir_worker_start(holder, right_hold, k);
  while (!atomic_load(&k->taken)) {
    right_rest(1);
  }
  const weir_status status = k->call(k->context);

  k->waited = atomic_load(&k->given);
  weir_worker_destroy(&holder);
  return status;
}

/* Whether a call waits, in *waits. Fails as it does. */
static inline weir_status right_check_call(weir_status (*call)(void *context), void *context,
                                           bool *waits)
{
  const weir_inproc run = {.ranks = 1, .concurrent = true};
  right_check k = {.call = call, .context = context};
  const weir_status status = weir_inproc_run(&run, right_rank, &k);

  *waits = k.waited;
  return status;
}
#endif
