/* filter.c - the system calls that a program in the sandbox does not have (seccomp(2)). Namespaces
 * already take network and files away; the filter takes away what would open a way around them:
 * other namespaces, mounts, other processes' memory, kernel interfaces with a history of flaws. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include "sandbox/sandbox_priv.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE
/* They fail with EPERM, as in the filters of container programs. */
static const unsigned denied[] = {
    __NR_mount,
    __NR_umount2,
    __NR_pivot_root,
    __NR_chroot,
    __NR_unshare,
    __NR_setns,
    __NR_ptrace,
    __NR_process_vm_readv,
    __NR_kexec_load,
    __NR_init_module,
    __NR_process_vm_writev,
    __NR_finit_module,
    __NR_bpf,
    __NR_delete_module,
    __NR_perf_event_open,
    __NR_userfaultfd,
    __NR_keyctl,
    __NR_add_key,
    __NR_request_key,
    __NR_open_by_handle_at,
    __NR_quotactl,
    __NR_swapon,
    __NR_swapoff,
    __NR_reboot,
    __NR_acct,
    __NR_settimeofday,
    __NR_clock_settime,
    __NR_name_to_handle_at,
    __NR_sethostname,
    __NR_setdomainname,
    __NR_adjtimex,
    __NR_clock_adjtime,
    __NR_syslog,
    __NR_fanotify_init,
    __NR_personality,
    __NR_lookup_dcookie,
    __NR_open_tree,
    __NR_move_mount,
    __NR_fsopen,
    __NR_fsconfig,
    __NR_fsmount,
    __NR_fspick,
    __NR_mount_setattr,
    __NR_pidfd_getfd,
    __NR_migrate_pages,
    __NR_move_pages,
};
/* They fail with ENOSYS, and libraries do without: take the older call, whose arguments the filter
 * can see, or a file. The memory of the last ones is no process's, so that the watch misses it. */
static const unsigned absent[] = {
    __NR_clone3,       __NR_io_uring_setup, __NR_memfd_create, __NR_shmget, __NR_msgget,
#ifdef __NR_memfd_secret
    __NR_memfd_secret,
#endif
};

enum {
  N_DENIED = sizeof denied / sizeof denied[0],
  N_ABSENT = sizeof absent / sizeof absent[0],
  SIZE = 32 + 2 * (N_DENIED + N_ABSENT),
  X32 = 0x40000000, /* bit of the numbers of a second table of calls */
};
#define NAMESPACES                                                                       \
  ((unsigned)(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | \
              CLONE_NEWNET | CLONE_NEWCGROUP))
#define ARGUMENT_0                                                              \
  (offsetof(struct seccomp_data, args)) /* its low half: both are little-endian \
                                         */

typedef struct program {
  struct sock_filter code[SIZE];
  unsigned short n;
} program;

static void put(program *p, unsigned code, unsigned k, unsigned yes, unsigned no)
{
  p->code[p->n++] = (struct sock_filter){
      .code = (unsigned short)code, .jt = (unsigned char)yes, .jf = (unsigned char)no, .k = k};
}

/* Ends with `action` where the loaded number is nr. */
static void put_rule(program *p, unsigned nr, unsigned action)
{
  put(p, BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1);
  put(p, BPF_RET | BPF_K, action, 0, 0);
}

static void build(program *p)
{
  const unsigned load = BPF_LD | BPF_W | BPF_ABS, number = offsetof(struct seccomp_data, nr);
  const unsigned refuse = SECCOMP_RET_ERRNO | EPERM;

  put(p, load, offsetof(struct seccomp_data, arch), 0, 0);
  put(p, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
  put(p, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
  put(p, load, number, 0, 0);
  put(p, BPF_JMP | BPF_JGE | BPF_K, X32, 0, 1);
  put(p, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
  for (int i = 0; i < N_DENIED; i++) {
    put_rule(p, denied[i], refuse);
  }
  for (int i = 0; i < N_ABSENT; i++) {
    put_rule(p, absent[i], SECCOMP_RET_ERRNO | ENOSYS);
  }
  put(p, BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 0, 4);
  put(p, load, ARGUMENT_0, 0, 0);
  put(p, BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0);
  put(p, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
  put(p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
  put(p, BPF_JMP | BPF_JEQ | BPF_K, __NR_clone, 0, 3);
  put(p, load, ARGUMENT_0, 0, 0);
  put(p, BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 0, 1);
  put(p, BPF_RET | BPF_K, refuse, 0, 0);
  put(p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

bool sandbox_filter_install(void)
{
  program p = {.n = 0};

  build(&p);
  const struct sock_fprog filter = {.len = p.n, .filter = p.code};

  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}
#else
bool sandbox_filter_install(void)
{
  errno = ENOSYS; /* the numbers of the calls of this processor are not known here */
  return false;
}
#endif
