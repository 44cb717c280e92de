/* pool.c - see pool.h. The offer of a call is one word: how many threads may take part and how many
 * items are still free. Taking one is a compare-and-swap on that word, so that a worker is part
 * of a call from the moment it has an item, and one that wakes late finds nothing and touches
 * nothing of the call. */
#include "pool.h"

#include <linux/futex.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "device/weir_parallel.h"

enum { MAX_WORKERS = 1023, LINE = 64, PAUSES = 16 };
#define MIN_REST 0.5e-3
#define MAX_REST 64e-3
/* Seconds to wake a worker that are believed, at most: a caller may lose its processor there. */
#define MAX_WAKE 50e-6
/* Nanoseconds for which a caller sleeps until it looks again whether its workers run. */
#define LOOK_NS 300000
#define ITEMS_BITS 48
#define ITEMS_MASK ((UINT64_C(1) << ITEMS_BITS) - 1)

/* A thread that may sleep, on separate cache lines. */
typedef struct sleeper {
  _Alignas(LINE) atomic_uint asleep; /* 1: to be woken by who has something for it */
  atomic_int cpu;                    /* where it ran last when it had something to do */
  atomic_bool took;                  /* an item of the call under way */
  struct pool *of;
  atomic_bool works;  /* on items of the call under way */
  pid_t number;       /* a worker's thread id and the clock of its processor time: */
  clockid_t clock;    /* by the worker, before it works                            */
  pthread_t id;       /* of a worker that is joined */
  double rest, until; /* by the owner: not woken before the clock says so */
} sleeper;

typedef struct pool {
  pthread_mutex_t owner; /* held by the caller whose call is under way */
  /* team << ITEMS_BITS | free items */
  _Alignas(LINE) _Atomic uint64_t offer;
  _Alignas(LINE) _Atomic int64_t unfinished; /* items of the call that are not done */
  _Atomic double help;                       /* seconds that workers took for theirs */
  /* The call: written by its caller while there is no offer, read by who has taken an item. */
  _Alignas(LINE) int64_t n;
  void (*body)(void *context, int64_t item, int thread);
  void *context;
  void (*enter)(void);
  _Atomic double spin;
  int workers;   /* by the owner, as the next */
  double wake_s; /* seconds to wake a worker, mean of the last times; 0: not known */
  bool knows_forks;
  int own; /* threads of a pool of one thread, whose workers are joined; 0: of all */
  atomic_bool ends;
  sleeper thread[MAX_WORKERS + 1]; /* 0: the caller */
} pool;

static pool *common_pool(void)
{
  static pool workers = {.owner = PTHREAD_MUTEX_INITIALIZER, .spin = WEIR_THREADS_SPIN};

  return &workers;
}

static pool **own_pool(void)
{
  static _Thread_local pool *own;

  return &own;
}

/* The pool of this thread's calls. */
static pool *the_pool(void)
{
  return *own_pool() != NULL ? *own_pool() : common_pool();
}

void pool_spin_set(double seconds)
{
  atomic_store(&common_pool()->spin, seconds);
}

static void pause_briefly(void)
{
  for (int i = 0; i < PAUSES; i++) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
  }
}

/* Sleeps until another thread wakes the thread. */
static void sleep_on(sleeper *s)
{
  while (atomic_load(&s->asleep) == 1) {
    (void)syscall(SYS_futex, &s->asleep, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
  }
}

/* Returns whether the thread was asleep. */
static bool wake(sleeper *s)
{
  if (atomic_load(&s->asleep) == 0 || atomic_exchange(&s->asleep, 0) == 0) {
    return false;
  }
  (void)syscall(SYS_futex, &s->asleep, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  return true;
}

static bool is_offered(const pool *p, int thread)
{
  const uint64_t offer = atomic_load(&p->offer);

  return (offer & ITEMS_MASK) > 0 && (int)(offer >> ITEMS_BITS) > thread;
}

/* Takes an item; -1: there is none for this thread. */
static int64_t take(pool *p, int thread)
{
  uint64_t offer = atomic_load(&p->offer);

  do {
    if ((offer & ITEMS_MASK) == 0 || (int)(offer >> ITEMS_BITS) <= thread) {
      return -1;
    }
  } while (!atomic_compare_exchange_weak(&p->offer, &offer, offer - 1));
  return p->n - (int64_t)(offer & ITEMS_MASK);
}

static void wait_for_offer(pool *p, int thread)
{
  sleeper *const me = &p->thread[thread];
  const double until = weir_clock() + atomic_load(&p->spin);

  while (!is_offered(p, thread) && !atomic_load(&p->ends)) {
    /* The caller cannot offer anything while this thread has its processor. */
    if (sched_getcpu() == atomic_load(&p->thread[0].cpu) || weir_clock() >= until) {
      break;
    }
    pause_briefly();
  }
  atomic_store(&me->asleep, 1);
  if (is_offered(p, thread) || atomic_load(&p->ends)) {
    atomic_store(&me->asleep, 0);
    return;
  }
  sleep_on(me);
}

/* Moves a worker that was woken on the caller's processor to another one that it may use, where
 * there is one: on the caller's processor it would only compete with the caller. Which processor is
 * up to the system again after that. */
static void leave_caller(pool *p)
{
  const int caller = atomic_load(&p->thread[0].cpu);
  cpu_set_t allowed, others;

  if (sched_getcpu() != caller || sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    return;
  }
  others = allowed;
  CPU_CLR((size_t)caller, &others);
  if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0) {
    (void)sched_setaffinity(0, sizeof allowed, &allowed);
  }
}

/* Items from the one that was taken on; returns how many they were. */
static int64_t work(pool *p, int thread, int64_t item)
{
  sleeper *const me = &p->thread[thread];
  const double start = weir_clock();
  int64_t done = 0;
  double help;

  atomic_store(&me->works, true);
  atomic_store(&me->cpu, sched_getcpu());
  atomic_store(&me->took, true);
  for (; item >= 0; item = take(p, thread)) {
    p->body(p->context, item, thread);
    done++;
  }
  help = atomic_load(&p->help);
  while (!atomic_compare_exchange_weak(&p->help, &help, help + weir_clock() - start)) {
  }
  atomic_store(&me->works, false);
  return done;
}

static void *serve(void *slot)
{
  sleeper *const me = slot;
  pool *const p = me->of;
  const int thread = (int)(me - p->thread);
  bool entered = false;

  me->number = (pid_t)syscall(SYS_gettid);
  (void)pthread_getcpuclockid(pthread_self(), &me->clock);
  while (!atomic_load(&p->ends)) {
    wait_for_offer(p, thread);
    leave_caller(p);
    const int64_t item = take(p, thread);

    if (item >= 0 && !entered) {
      p->enter();
      entered = true;
    }
    const int64_t done = item >= 0 ? work(p, thread, item) : 0;

    if (done > 0 && atomic_fetch_sub(&p->unfinished, done) == done) {
      (void)wake(&p->thread[0]);
    }
  }
  return NULL;
}

/* In the child of a fork there are no workers, and no call is under way. */
static void forget(void)
{
  pool *const p = common_pool();

  *own_pool() = NULL;
  (void)pthread_mutex_init(&p->owner, NULL);
  atomic_store(&p->offer, 0);
  atomic_store(&p->unfinished, 0);
  for (int i = 0; i <= MAX_WORKERS; i++) {
    atomic_store(&p->thread[i].asleep, 0);
  }
  p->workers = 0;
}

/* Workers take no signals except those of their own faults: handlers run in threads of the program.
 */
static void block_signals(sigset_t *before)
{
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
  sigset_t max;

  (void)sigfillset(&max);
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    (void)sigdelset(&max, faults[i]);
  }
  (void)pthread_sigmask(SIG_SETMASK, &max, before);
}

/* Starts workers until there are `wanted`, or as many as the system gives. */
static void start_workers(pool *p, int wanted)
{
  pthread_attr_t detached;
  sigset_t before;
  bool started = true;

  if (p->workers >= wanted || (!p->knows_forks && pthread_atfork(NULL, NULL, forget) != 0)) {
    return;
  }
  p->knows_forks = true;
  if (pthread_attr_init(&detached) != 0) {
    return;
  }
  (void)pthread_attr_setdetachstate(&detached,
                                    p->own > 0 ? PTHREAD_CREATE_JOINABLE : PTHREAD_CREATE_DETACHED);
  block_signals(&before);
  while (p->workers < wanted && started) {
    sleeper *const s = &p->thread[p->workers + 1];

    s->of = p;
    started = pthread_create(&s->id, &detached, serve, s) == 0;
    p->workers += started;
  }
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  (void)pthread_attr_destroy(&detached);
}

static void wake_workers(pool *p, int team, int64_t n)
{
  const double now = weir_clock();
  int woken = 0;

  for (int i = 1; i < team && i < n; i++) {
    if (p->thread[i].until <= now) {
      woken += wake(&p->thread[i]);
    }
  }
  if (woken > 0) {
    const double each = fmin((weir_clock() - now) / woken, MAX_WAKE);

    p->wake_s += p->wake_s > 0 ? (each - p->wake_s) / 8 : each;
  }
}

/* A worker that was put on the caller's own processor has only been in its way: the others are
 * busy. It is let sleep for a while, longer each time. */
static void judge_workers(pool *p, int team)
{
  const int cpu = atomic_load(&p->thread[0].cpu);

  for (int i = 1; i < team; i++) {
    sleeper *const w = &p->thread[i];

    if (atomic_load(&w->took)) {
      atomic_store(&w->took, false);
      if (atomic_load(&w->cpu) == cpu) {
        w->rest = w->rest < MIN_REST ? MIN_REST : w->rest < MAX_REST ? 2 * w->rest : w->rest;
        w->until = weir_clock() + w->rest;
      } else {
        w->rest = 0;
      }
    }
  }
}

/* True when the worker has an item and no processor: another program has it. */
static bool is_waiting(const sleeper *w)
{
  struct timespec before, after;

  return atomic_load(&w->works) && clock_gettime(w->clock, &before) == 0 &&
         clock_gettime(w->clock, &after) == 0 && before.tv_nsec == after.tv_nsec &&
         before.tv_sec == after.tv_sec;
}

/* Moves a worker that waits for a processor to the caller's, which has nothing else to do:
 * elsewhere it waits for the end of another program's time slice, milliseconds. It may leave it at
 * once. No worker that works is in leave_caller meanwhile: there is no other offer before the call
 * ends. */
static void bring_worker(pool *p, int team)
{
  const int cpu = sched_getcpu();
  cpu_set_t allowed, here;

  for (int i = 1; i < team; i++) {
    const sleeper *w = &p->thread[i];

    if (is_waiting(w)) {
      CPU_ZERO(&here);
      if (cpu >= 0 && sched_getaffinity(w->number, sizeof allowed, &allowed) == 0 &&
          CPU_ISSET((size_t)cpu, &allowed)) {
        CPU_SET((size_t)cpu, &here);
        if (sched_setaffinity(w->number, sizeof here, &here) == 0) {
          (void)sched_setaffinity(w->number, sizeof allowed, &allowed);
        }
      }
      return;
    }
  }
}

static void wait_for_items(pool *p, int team)
{
  const struct timespec look = {.tv_nsec = LOOK_NS};
  sleeper *const me = &p->thread[0];
  const double until = weir_clock() + atomic_load(&p->spin);

  while (atomic_load(&p->unfinished) > 0) {
    if (weir_clock() < until) {
      pause_briefly();
      continue;
    }
    bring_worker(p, team);
    atomic_store(&me->asleep, 1);
    if (atomic_load(&p->unfinished) > 0) {
      (void)syscall(SYS_futex, &me->asleep, FUTEX_WAIT_PRIVATE, 1, &look, NULL, 0);
    }
    atomic_store(&me->asleep, 0);
  }
}

bool pool_run(int64_t n, int team, void (*body)(void *context, int64_t item, int thread),
              void *context, void (*enter)(void), double *seconds)
{
  pool *const p = the_pool();
  const double start = weir_clock();
  int64_t done = 0;

  if (pthread_mutex_trylock(&p->owner) != 0) {
    return false;
  }
  start_workers(p, team - 1 < MAX_WORKERS ? team - 1 : MAX_WORKERS);
  team = team - 1 < p->workers ? team : p->workers + 1;
  p->n = n;
  p->body = body;
  p->context = context;
  p->enter = enter;
  atomic_store(&p->unfinished, n);
  atomic_store(&p->help, 0);
  atomic_store(&p->thread[0].cpu, sched_getcpu());
  /* Item 0 is the caller's: stages of a pipeline stay on their threads where these are ready. */
  atomic_store(&p->offer, (uint64_t)team << ITEMS_BITS | (uint64_t)(n - 1));
  if (seconds == NULL || *seconds <= 0 || *seconds >= WEIR_THREADS_WAKES * p->wake_s) {
    wake_workers(p, team, n);
  }
  for (int64_t item = 0; item >= 0; item = take(p, 0)) {
    body(context, item, 0);
    done++;
  }
  const double own = weir_clock() - start;

  if (atomic_fetch_sub(&p->unfinished, done) != done) {
    wait_for_items(p, team);
  }
  if (seconds != NULL) {
    *seconds = own + atomic_load(&p->help);
  }
  judge_workers(p, team);
  (void)pthread_mutex_unlock(&p->owner);
  return true;
}

int pool_own_threads(void)
{
  return *own_pool() != NULL ? (*own_pool())->own : 0;
}

weir_status pool_own(int threads)
{
  pool *p = NULL;

  WEIR_ASSERT(*own_pool() == NULL);
  WEIR_TRY(weir_alloc(1, sizeof *p, (void **)&p));
  (void)pthread_mutex_init(&p->owner, NULL);
  atomic_store(&p->spin, atomic_load(&common_pool()->spin));
  p->own = threads;
  p->knows_forks = true; /* forget drops it in the child */
  *own_pool() = p;
  return WEIR_OK;
}

void pool_disown(void)
{
  pool *p = *own_pool();

  atomic_store(&p->ends, true);
  for (int i = 1; i <= p->workers; i++) {
    (void)wake(&p->thread[i]);
    (void)pthread_join(p->thread[i].id, NULL);
  }
  (void)pthread_mutex_destroy(&p->owner);
  *own_pool() = NULL;
  weir_free(&p);
}
