/* sandbox.h - runs a third-party program on data that must not leave: without network, with
 * nothing of this machine but what is named, read-only, within limits. Linux namespaces (user,
 * mount, PID, network, IPC, UTS), a filter of system calls, resource limits, and a watch over the
 * sums of all processes. Needs no privileges where the kernel allows user namespaces; there is no
 * weaker form for where it does not. */
#ifndef PS_SANDBOX_H
#define PS_SANDBOX_H
#include <stdint.h>
#include "base/weir_status.h"
#include "conf/weir_opt.h"

/* Limits of all processes of a program together. */
typedef struct ps_sandbox_limits {
  double memory;     /* MiB, resident; also the address space of each process               */
  double cpu, wall;  /* s                                                                   */
  double output;     /* MiB in PS_SANDBOX_OUT; /tmp has as much                              */
  int64_t files;     /* files and folders in PS_SANDBOX_OUT; /tmp has as many                */
  int64_t processes; /* and threads                                                         */
} ps_sandbox_limits;
extern const weir_opt ps_sandbox_options[];

/* Where the program finds what it reads, and the one folder besides /tmp that it can write to:
 * paths as MLCube's runner gives them (mlcube_docker, shell.py: /mlcube_ioN). */
#define PS_SANDBOX_DATA "/mlcube_io0"
#define PS_SANDBOX_OUT "/mlcube_io1"
#define PS_SANDBOX_MODEL "/model"

/* A file or folder of this machine, and its path inside. */
typedef struct ps_sandbox_bind {
  const char *from, *to;
} ps_sandbox_bind;

/* What is run; all borrowed. Inside are these paths, /dev/{null,zero,random,urandom} and an empty
 * /tmp. The environment is PATH, HOME, TMPDIR and LC_ALL; the folder is that of `folder`. */
typedef struct ps_sandbox_job {
  const char *const *argv;      /* paths inside; NULL-terminated                    */
  const char *folder;           /* current folder inside                            */
  const char *scratch;          /* existing folder of this machine for a mount point */
  const ps_sandbox_bind *binds; /* `to` absolute; folders with all that is mounted in them */
  int64_t n_binds;
  const ps_sandbox_limits *limits;
} ps_sandbox_job;

typedef enum ps_sandbox_end {
  PS_SANDBOX_EXIT,      /* by itself, `code` is its status                        */
  PS_SANDBOX_SIGNAL,    /* by signal `code`                                       */
  PS_SANDBOX_NETWORK,   /* it opened a network socket: killed by the filter        */
  PS_SANDBOX_MEMORY,    /* it exceeded a limit and was killed                      */
  PS_SANDBOX_CPU,       /* ..                                                     */
  PS_SANDBOX_WALL,      /* ..                                                     */
  PS_SANDBOX_PROCESSES, /* ..                                                     */
  PS_SANDBOX_OUTPUT     /* it exceeded a limit of what it may write, or filled it  */
} ps_sandbox_end;

enum { PS_SANDBOX_LOG = 16384 };

typedef struct ps_sandbox_result {
  ps_sandbox_end end;
  int code;
  double wall, cpu, memory; /* s, s, largest MiB seen */
  int out; /* descriptor of the folder PS_SANDBOX_OUT, which lives as long; -1: none */
  char log[PS_SANDBOX_LOG]; /* last bytes of what the program printed: may tell of the data */
} ps_sandbox_result;

/* Runs a program to its end or to its first excess; no process of it is left. The files that it
 * wrote are not to be trusted: open them by openat(out, ..) with O_NOFOLLOW | O_NONBLOCK, and read
 * them as such. The caller frees *r with ps_sandbox_result_fini in any case. Fails:
 * WEIR_ERR_UNSUPPORTED where the kernel refuses a part of the sandbox, naming it; WEIR_ERR_DATA for
 * a path that cannot be shown inside or a program that cannot be started; WEIR_ERR_STOPPED after a
 * signal. */
weir_status ps_sandbox_run(const ps_sandbox_job *job, ps_sandbox_result *r) WEIR_CHECKED;
void ps_sandbox_result_fini(ps_sandbox_result *r);
/* Writes in words how the program ended into `text`, which it returns. */
const char *ps_sandbox_text(const ps_sandbox_result *r, const ps_sandbox_limits *limits, char *text,
                            size_t size);
#endif
