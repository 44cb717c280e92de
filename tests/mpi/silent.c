/* silent.c - a program of which the last rank fails. The argument says how:
 *
 *   agree     it fails by itself; all end with its message
 *   silent    it sends nothing more; the others give up, and end it too
 *   killed    it is gone
 *   stopped   it is stopped after some sums; the others notice that they wait longer than usual */
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "base/weir_check.h"
#include "comm/weir_request.h"

/* How the last rank falls silent. */
static void fall_silent(const char *how)
{
  (void)(strcmp(how, "killed") == 0    ? raise(SIGKILL)
         : strcmp(how, "stopped") == 0 ? raise(SIGSTOP)
                                       : pause());
}

static void configure(weir_comm *c, double timeout, int stall)
{
  weir_comm_configure(c, &(weir_comm_cfg){.max_message_bytes = 1 << 20,
                                          .timeout = timeout,
                                          .stall = stall,
                                          .stall_floor = 0.5,
                                          .stall_deviations = 5});
}

static weir_status step(weir_comm *c, const char *how)
{
  const bool last = weir_comm_rank(c) == weir_comm_size(c) - 1;
  const bool stops = strcmp(how, "stopped") == 0;
  double x = 1;
  weir_request *r = NULL;

  configure(c, stops ? 600 : 1, WEIR_STALL_IGNORE);
  WEIR_TRY(weir_allreduce_create(c, "sum of a step", weir_reducer_of(WEIR_REDUCE_SUM, WEIR_F64), &x,
                                 1, &r));
  for (int k = 0; k < 20 && stops; k++) {
    WEIR_TRY(weir_request_run(r));
  }
  if (stops && !last) { /* until here any of them may be late where the machine is busy */
    configure(c, 600, WEIR_STALL_FAIL);
  }
  if (last && strcmp(how, "agree") != 0) {
    fall_silent(how);
  }
  weir_status status = weir_request_start(r);

  if (status == WEIR_OK) {
    status = weir_request_wait(r);
  }
  if (status != WEIR_OK) {
    return weir_comm_abort(c, status);
  }
  weir_request_destroy(&r);
  status = last ? weir_fail(WEIR_ERR_NUMERIC, "loss of step 7 is no number") : WEIR_OK;
  WEIR_TRY(weir_comm_agree(c, status));
  return WEIR_OK;
}

int main(int argc, char **argv)
{
  weir_comm *c = NULL;

  if (weir_comm_open(&c) != WEIR_OK) {
    weir_print_trace(stderr);
    return 1;
  }
  const weir_status status = step(c, argc > 1 ? argv[1] : "agree");

  if (status != WEIR_OK) {
    weir_print_failure(stderr);
  }
  weir_comm_close(&c);
  return (int)status;
}
