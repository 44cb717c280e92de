/* apart.c - a training on ranks that train apart, of which the last one gets into trouble:
 *
 *   mpi_apart RANKS FOLDER POLICY fails     it cannot read its samples
 *   mpi_apart RANKS FOLDER POLICY stopped   it is stopped, and the others notice that they wait
 *                                           longer than usual */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "train_session.h"

enum { TROUBLE = 15 }; /* calls for samples until then */

static bool stops;

static weir_status get_into_trouble(volume *v)
{
  if (weir_comm_rank(comm) < weir_comm_size(comm) - 1 || v->fetched != TROUBLE) {
    return WEIR_OK;
  }
  if (stops) {
    (void)raise(SIGSTOP);
    return WEIR_OK;
  }
  return weir_fail(WEIR_ERR_DATA, "sample %d is not there", TROUBLE);
}

static int run_training(const char *policy)
{
  const weir_grid grid = {4, {weir_comm_size(comm), 1, 1, 1}};
  char exchange[128];
  volume v = {.dtype = WEIR_F32, .size = {8, 6, 8}, .blocks = 2, .before = get_into_trouble};

  (void)snprintf(exchange, sizeof exchange, "optim.exchange=%s", policy);
  session s = train_on(&grid, &v, 16,
                       SETS("steps=60", "batch=4", "validate_every=100", "agree_every=100",
                            "checkpoint.every=100", "keep_best=false", exchange));

  if (s.status != WEIR_OK) {
    weir_print_failure(stderr);
  }
  const int status = (int)s.status;

  close_session(&s);
  return status;
}

int main(int argc, char **argv)
{
  weir_comm_cfg cfg;

  if (argc < 5) {
    fprintf(stderr, "mpi_apart RANKS FOLDER POLICY fails|stopped\n");
    return 2;
  }
  folder = argv[2];
  stops = strcmp(argv[4], "stopped") == 0;
  if (weir_comm_open(&comm) != WEIR_OK) {
    weir_print_trace(stderr);
    return 1;
  }
  weir_opts_default(weir_comm_opts, sizeof cfg, &cfg);
  /* the last rank may find the others late where the machine is busy */
  cfg.stall = stops && weir_comm_rank(comm) < weir_comm_size(comm) - 1 ? WEIR_STALL_FAIL
                                                                       : WEIR_STALL_IGNORE;
  cfg.stall_floor = 0.5;
  weir_comm_configure(comm, &cfg);
  const int status = run_training(argv[3]);

  weir_comm_close(&comm);
  return status;
}
