/* host_kernel.c - the threads of a block as fibers of one host thread. */
#include <dlfcn.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "base/weir_alloc.h"
#include "device/host_fiber.h"
#include "device/host_kernel.h"

/* What CUDA C has and C11 lacks. weir_ids is struct ids below. */
static const char prelude[] =
    "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n"
    "struct weir_three { unsigned x, y, z; };\n"
    "struct weir_ids { struct weir_three thread, block, threads, blocks; };\n"
    "struct weir_ids weir_ids;\n"
    "void (*weir_barrier)(void *);\nvoid *weir_barrier_context;\n"
    "#define threadIdx weir_ids.thread\n#define blockIdx weir_ids.block\n"
    "#define blockDim weir_ids.threads\n#define gridDim weir_ids.blocks\n"
    "#define __device__ static\n"
    "#define __shared__ static __attribute__((section(\"weir_shared\")))\n"
    "#define __syncthreads() weir_barrier(weir_barrier_context)\n"
    "extern char __start_weir_shared[] __attribute__((weak));\n"
    "extern char __stop_weir_shared[] __attribute__((weak));\n"
    "char *weir_shared_start(void) { return __start_weir_shared; }\n"
    "char *weir_shared_stop(void) { return __stop_weir_shared; }\n";

struct ids {
  unsigned thread[3], block[3], threads[3], blocks[3];
};

struct host_kernel {
  void *library;
  void (*call)(const char *args);
  struct ids *ids;
  void (**barrier)(void *);
  void **barrier_context;
  char *shared;
  int64_t shared_bytes;
  bool has_barriers;
};

/* ---- Making one. ---- */

static weir_status full_text(const weir_device_source *source, char **out)
{
  weir_status status = WEIR_OK;
  char *text = NULL, *whole = NULL;
  size_t size = 0;
  int64_t offset = 0;

  WEIR_TRY(weir_device_source_text(source, prelude, "static", &text));
  FILE *file = open_memstream(&whole, &size);
  if (file == NULL) {
    status = weir_fail(WEIR_ERR_MEMORY, "text of the kernel %s", source->name);
    goto done;
  }
  fprintf(file, "%svoid weir_call(const char *args)\n{\n  %s(", text, source->name);
  for (int k = 0; k < source->n_params; k++) { /* offsets as in device_kernel.c */
    offset = (offset + 15) / 16 * 16;
    fprintf(file, "%s*(%s *)(args + %" PRId64 ")", k > 0 ? ", " : "", source->params[k].type,
            offset);
    offset += source->params[k].bytes;
  }
  fprintf(file, ");\n}\n");
  if (fclose(file) != 0) {
    status = weir_fail(WEIR_ERR_MEMORY, "text of the kernel %s", source->name);
  }
done:
  weir_free(&text);
  *out = whole; /* of malloc */
  return status;
}

static void *symbol(const host_kernel *kernel, const char *name)
{
  return dlsym(kernel->library, name);
}

static void bind(host_kernel *k)
{
  char *(*start)(void), *(*stop)(void);
  void *address = symbol(k, "weir_call");

  memcpy(&k->call, &address, sizeof address);
  address = symbol(k, "weir_shared_start");
  memcpy(&start, &address, sizeof address);
  address = symbol(k, "weir_shared_stop");
  memcpy(&stop, &address, sizeof address);
  k->ids = symbol(k, "weir_ids");
  k->barrier = symbol(k, "weir_barrier");
  k->barrier_context = symbol(k, "weir_barrier_context");
  k->shared = start();
  k->shared_bytes = stop() - start();
}

weir_status host_kernel_create(const weir_device_source *source, host_kernel **out)
{
  weir_status status = WEIR_OK;
  char *text = NULL;
  void *memory = NULL;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(host_kernel), &memory));
  host_kernel *kernel = memory;

  WEIR_TRY_GOTO(full_text(source, &text), failed);
  WEIR_TRY_GOTO(host_compile(text, &kernel->library), failed);
  free(text);
  bind(kernel);
  kernel->has_barriers =
      strstr(source->body, "__syncthreads") != NULL ||
      (source->helpers != NULL && strstr(source->helpers, "__syncthreads") != NULL);
  *out = kernel;
  return WEIR_OK;
failed:
  free(text);
  weir_free(&kernel);
  return status;
}

void host_kernel_destroy(host_kernel **kernel)
{
  if (*kernel != NULL) {
    dlclose((*kernel)->library);
    weir_free(kernel);
  }
}

int64_t host_kernel_shared_bytes(const host_kernel *kernel)
{
  return kernel->shared_bytes;
}

/* ---- Running one. ---- */

enum { STACK = 64 * 1024 };

typedef struct fiber {
  host_place at;
  bool ended;
} fiber;

typedef struct runner {
  host_kernel *kernel;
  const host_run *run;
  host_place home;
  ucontext_t before; /* all fibers; where a fault leads */
  fiber *fibers;
  int64_t n_fibers, n_threads, current;
  char *stacks;
} runner;

/* Where a fault inside a kernel leads. */
struct guard {
  ucontext_t *home; /* NULL: no kernel runs guarded */
  bool faulted;
  const void *address; /* NULL also where the system does not say it: on x86-64 for every address
                        * that no pointer can be */
};
static struct guard *guard_of(void)
{
  static _Thread_local struct guard guard;

  return &guard;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
  struct guard *guard = guard_of();

  (void)context;
  if (guard->home == NULL) { /* another thread, or not a kernel: end as without a handler */
    signal(number, SIG_DFL);
    return;
  }
  guard->faulted = true;
  guard->address = info->si_addr;
  setcontext(guard->home);
}

static int64_t product(const int n[3])
{
  return (int64_t)n[0] * n[1] * n[2];
}

static void unravel(int64_t index, const int n[3], unsigned out[3])
{
  const int64_t row = n[1] > 1 || n[2] > 1 ? index / n[0] : 0; /* divisions at every barrier */

  out[0] = (unsigned)(index - row * n[0]);
  out[1] = row > 0 ? (unsigned)(row % n[1]) : 0;
  out[2] = row > 0 ? (unsigned)(row / n[1]) : 0;
}

static void begin_block(runner *r, int64_t k)
{
  const device_op *op = r->run->op;
  const int64_t n = product(op->grid);

  unravel(r->run->descending ? n - 1 - k : k, op->grid, r->kernel->ids->block);
  if (r->kernel->shared_bytes > 0) {
    memset(r->kernel->shared, r->run->poison, (size_t)r->kernel->shared_bytes);
  }
}

/* Threads without barriers, all blocks. */
static void run_plain(runner *r)
{
  const device_op *op = r->run->op;
  const int64_t blocks = product(op->grid);

  for (int64_t b = 0; b < blocks; b++) {
    begin_block(r, b);
    for (int64_t k = 0; k < r->n_threads; k++) {
      unravel(r->run->descending ? r->n_threads - 1 - k : k, op->block, r->kernel->ids->thread);
      r->kernel->call(op->args);
    }
  }
}

static HOST_ON_FIBER void leave(runner *r)
{
  host_fiber_change(&r->fibers[r->current].at, &r->home);
}

static void at_barrier(void *context)
{
  leave(context);
}

/* Runs one thread of each block, or all where there are no barriers. */
static HOST_ON_FIBER void fiber_main(void *argument)
{
  runner *r = argument;

  for (;;) {
    leave(r);
    if (r->kernel->has_barriers) {
      r->kernel->call(r->run->op->args);
    } else {
      run_plain(r);
    }
    r->fibers[r->current].ended = true;
  }
}

static void begin_fibers(runner *r)
{
  for (r->current = 0; r->current < r->n_fibers; r->current++) {
    host_fiber_begin(&r->home, r->stacks + r->current * STACK, STACK, fiber_main,
                     r); /* to `leave` */
  }
}

/* Runs every fiber to its end or to the next barrier; how many have ended. */
static int64_t run_phase(runner *r)
{
  const bool threads = r->kernel->has_barriers;
  int64_t ended = 0;

  for (int64_t k = 0; k < r->n_fibers; k++) {
    fiber *f;

    r->current = r->run->descending ? r->n_fibers - 1 - k : k;
    f = &r->fibers[r->current];
    if (!f->ended) {
      if (threads) {
        unravel(r->current, r->run->op->block, r->kernel->ids->thread);
      }
      host_fiber_change(&r->home, &f->at);
    }
    ended += f->ended;
  }
  return ended;
}

static weir_status fail_fault(const runner *r)
{
  const void *address = guard_of()->address;

  return weir_fail(WEIR_ERR_EXTERNAL, "launch of %s: it must not access address %p%s",
                   r->run->op->kernel->name, address,
                   address != NULL ? ""
                                   : " (NULL, or far outside of all memory): look for an argument "
                                     "that is NULL, or an uninitialised index");
}

static weir_status run_fibers(runner *r)
{
  const int64_t blocks = r->kernel->has_barriers ? product(r->run->op->grid) : 1;

  begin_fibers(r);
  for (int64_t b = 0; b < blocks; b++) {
    int64_t ended = 0;

    if (r->kernel->has_barriers) {
      begin_block(r, b);
    }
    for (int64_t k = 0; k < r->n_fibers; k++) {
      r->fibers[k].ended = false;
    }
    while (ended == 0) {
      ended = run_phase(r);
    }
    if (ended < r->n_fibers) {
      return weir_fail(WEIR_ERR_EXTERNAL,
                       "launch of %s: %" PRId64 " of %" PRId64
                       " threads of a block end before a barrier at which the others wait",
                       r->run->op->kernel->name, ended, r->n_fibers);
    }
  }
  return WEIR_OK;
}

static weir_status run_guarded(runner *r, const void **fault)
{
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
  struct sigaction segv, bus;

  sigemptyset(&action.sa_mask);
  *guard_of() = (struct guard){.home = &r->before};
  sigaction(SIGSEGV, &action, &segv);
  sigaction(SIGBUS, &action, &bus);
  getcontext(&r->before); /* a fault comes back here */
  const weir_status status = guard_of()->faulted ? fail_fault(r) : run_fibers(r);

  sigaction(SIGSEGV, &segv, NULL);
  sigaction(SIGBUS, &bus, NULL);
  *fault = guard_of()->address;
  *guard_of() = (struct guard){.home = NULL};
  return status;
}

weir_status host_kernel_run(host_kernel *kernel, const host_run *run, bool guarded,
                            const void **fault)
{
  weir_status status = WEIR_OK;
  runner r = {.kernel = kernel, .run = run, .n_threads = product(run->op->block)};
  void *memory = NULL;

  *fault = NULL;
  for (int k = 0; k < 3; k++) {
    kernel->ids->threads[k] = (unsigned)run->op->block[k];
    kernel->ids->blocks[k] = (unsigned)run->op->grid[k];
  }
  *kernel->barrier = at_barrier;
  *kernel->barrier_context = &r;
  if (!guarded && !kernel->has_barriers) {
    run_plain(&r);
    return WEIR_OK;
  }
  r.n_fibers = kernel->has_barriers ? r.n_threads : 1;
  WEIR_TRY(weir_alloc(r.n_fibers, sizeof(fiber), &memory));
  r.fibers = memory;
  r.stacks = mmap(NULL, (size_t)r.n_fibers * STACK, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (r.stacks == MAP_FAILED) {
    weir_free(&r.fibers);
    return weir_fail(WEIR_ERR_MEMORY, "launch of %s: stacks of %" PRId64 " threads",
                     run->op->kernel->name, r.n_fibers);
  }
  status = guarded ? run_guarded(&r, fault) : run_fibers(&r);
  munmap(r.stacks, (size_t)r.n_fibers * STACK);
  weir_free(&r.fibers);
  return status;
}
