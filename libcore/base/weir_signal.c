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

static weir_status install(int signal, int flags)
{
  struct sigaction action;

  memset(&action, 0, sizeof action);
  action.sa_handler = ask;
  /* SA_RESTART: reads and writes of the step under way are not cut short. */
  action.sa_flags = (int)((unsigned)flags | (unsigned)SA_RESTART);
  (void)sigemptyset(&action.sa_mask);
  if (sigaction(signal, &action, NULL) != 0) {
    return weir_fail(WEIR_ERR_EXTERNAL, "signal handlers cannot be installed: %s", strerror(errno));
  }
  return WEIR_OK;
}

/* As nohup leaves it. */
static bool is_ignored(int signal)
{
  struct sigaction action;

  return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

weir_status weir_signal_install(void)
{
  /* A limit on the size of files (ulimit -f) makes writes fail instead, which are checked. */
  (void)signal(SIGXFSZ, SIG_IGN);
  /* SA_RESETHAND: a second Ctrl-C finds the default action, so work that hangs can still be ended.
   * Of SIGTERM several come for one request: a batch system signals all processes of a job, and its
   * launcher passes on its own. */
  WEIR_TRY(install(SIGINT, (int)SA_RESETHAND));
  WEIR_TRY(install(SIGTERM, 0));
  return is_ignored(SIGHUP) ? WEIR_OK : install(SIGHUP, 0);
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
