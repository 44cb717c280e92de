/* weir_signal.c - the flag that handlers set. */
#include "base/weir_signal.h"
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

/* Written by a handler in one thread and read in others: sig_atomic_t is for one thread alone. */
static atomic_int asked;
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a handler must not wait for a lock");

static void ask(int signal)
{
  atomic_store(&asked, signal);
}

weir_status weir_signal_install(void)
{
  struct sigaction action;

  memset(&action, 0, sizeof action);
  action.sa_handler = ask;
  /* SA_RESETHAND: the second signal of a kind finds the default action, so work that hangs can
   * still be ended. SA_RESTART: reads and writes of the step under way are not cut short. */
  action.sa_flags = (int)((unsigned)SA_RESETHAND | (unsigned)SA_RESTART);
  (void)sigemptyset(&action.sa_mask);
  /* A limit on the size of files (ulimit -f) makes writes fail instead, which are checked. */
  (void)signal(SIGXFSZ, SIG_IGN);
  if (sigaction(SIGINT, &action, NULL) != 0 || sigaction(SIGTERM, &action, NULL) != 0) {
    return weir_fail(WEIR_ERR_EXTERNAL, "signal handlers cannot be installed: %s", strerror(errno));
  }
  return WEIR_OK;
}

bool weir_stop_requested(void)
{
  return atomic_load(&asked) != 0;
}

void weir_stop_request(int signal)
{
  atomic_store(&asked, signal);
}

int weir_stop_signal(void)
{
  return atomic_load(&asked);
}
