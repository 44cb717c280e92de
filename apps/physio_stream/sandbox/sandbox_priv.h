/* sandbox_priv.h - the parts of the sandbox: inside, filter, watch. */
#ifndef PS_SANDBOX_PRIV_H
#define PS_SANDBOX_PRIV_H
#include <stdbool.h>
#include <sys/types.h>
#include "sandbox/sandbox.h"

/* Identity of the program inside, and, where this program is root, outside (nobody). */
enum { SANDBOX_ID = 1000, SANDBOX_NOBODY = 65534 };

/* Messages from the first process inside (PID 1 of its namespace) to this program. */
typedef struct sandbox_message {
  enum { SANDBOX_FAILED, SANDBOX_READY, SANDBOX_ENDED } kind;
  bool refused;   /* FAILED: by the kernel, not for the sake of a path or program */
  int code;       /* FAILED: errno; ENDED: status as of wait() */
  char what[256]; /* FAILED: at what                    */
} sandbox_message;

/* What the first process is given. */
typedef struct sandbox_inside {
  const ps_sandbox_job *job;
  const char *root; /* mount point                                */
  int control, log; /* socket to this program; where output goes  */
  bool as_root;     /* this program is root: identities are mapped, and changed at the end */
} sandbox_inside;

/* Is the first process: prepares the sandbox, starts the program and waits for it. Sends READY with
 * the descriptor of the folder of results once everything stands, then ENDED; or FAILED. */
_Noreturn void sandbox_inside_main(const sandbox_inside *s);

/* Installs the filter of system calls in this process and those it starts. Returns false with errno
 * on failure. */
bool sandbox_filter_install(void);

/* Sums over the processes below `init`, itself included. */
typedef struct sandbox_use {
  double memory, cpu; /* MiB, s */
  int64_t processes;  /* with threads */
} sandbox_use;
/* Counting ends beyond max_processes. */
void sandbox_watch(pid_t init, int64_t max_processes, sandbox_use *out);
#endif
