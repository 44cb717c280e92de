/* worker.c - see weir_worker.h: one thread, one job at a time, handed over under a lock. */
#include "device/weir_worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "device/weir_parallel.h"

enum { MESSAGE_SIZE = 2048 };

typedef enum phase {
  IDLE,
  GIVEN, /* to be done, or under way */
  DONE,  /* its status is still to be read */
  LEAVE, /* the thread is to end */
} phase;

struct weir_worker {
  bool own_thread;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  phase phase; /* under the lock, as the rest */
  weir_status (*job)(void *context);
  void *context;
  weir_status status;
  char message[MESSAGE_SIZE]; /* a failure's text is its thread's own */
};

static void do_job(void *worker, int64_t item, int thread)
{
  weir_worker *const l = worker;

  (void)item;
  (void)thread;
  l->status = l->job(l->context);
  if (l->status != WEIR_OK) {
    (void)snprintf(l->message, sizeof l->message, "%s", weir_last_message());
  }
}

/* As one item of weir_parallel, so that nested calls and libraries stay on this thread. */
static void run(weir_worker *l)
{
  weir_parallel(1, 1, do_job, l);
}

static void *serve(void *worker)
{
  weir_worker *const l = worker;

  (void)pthread_mutex_lock(&l->lock);
  for (;;) {
    while (l->phase != GIVEN && l->phase != LEAVE) {
      (void)pthread_cond_wait(&l->changed, &l->lock);
    }
    if (l->phase == LEAVE) {
      break;
    }
    (void)pthread_mutex_unlock(&l->lock);
    run(l);
    (void)pthread_mutex_lock(&l->lock);
    l->phase = DONE;
    (void)pthread_cond_broadcast(&l->changed);
  }
  (void)pthread_mutex_unlock(&l->lock);
  return NULL;
}

/* Signals are blocked in the new thread: handlers run, and system calls are cut short, elsewhere.
 */
static int begin_thread(weir_worker *l)
{
  sigset_t all, before;

  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  const int code = pthread_create(&l->thread, NULL, serve, l);

  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  return code;
}

weir_status weir_worker_create(bool own_thread, weir_worker **out)
{
  void *memory = NULL;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(weir_worker), &memory));
  weir_worker *l = memory;

  l->own_thread = own_thread;
  if (own_thread) {
    (void)pthread_mutex_init(&l->lock, NULL);
    (void)pthread_cond_init(&l->changed, NULL);
    const int code = begin_thread(l);

    if (code != 0) {
      (void)pthread_cond_destroy(&l->changed);
      (void)pthread_mutex_destroy(&l->lock);
      weir_free(&l);
      return weir_fail(WEIR_ERR_EXTERNAL, "no thread can be started: %s", strerror(code));
    }
  }
  *out = l;
  return WEIR_OK;
}

void weir_worker_start(weir_worker *l, weir_status (*job)(void *context), void *context)
{
  if (!l->own_thread) {
    WEIR_ASSERT(l->phase == IDLE);
    l->job = job;
    l->context = context;
    run(l);
    l->phase = DONE;
    return;
  }
  (void)pthread_mutex_lock(&l->lock);
  WEIR_ASSERT(l->phase == IDLE);
  l->job = job;
  l->context = context;
  l->phase = GIVEN;
  (void)pthread_cond_broadcast(&l->changed);
  (void)pthread_mutex_unlock(&l->lock);
}

/* Until there is no job under way; true where one was done. */
static bool settle(weir_worker *l)
{
  if (l->own_thread) {
    (void)pthread_mutex_lock(&l->lock);
    while (l->phase == GIVEN) {
      (void)pthread_cond_wait(&l->changed, &l->lock);
    }
  }
  const bool done = l->phase == DONE;

  l->phase = IDLE;
  if (l->own_thread) {
    (void)pthread_mutex_unlock(&l->lock);
  }
  return done;
}

weir_status weir_worker_wait(weir_worker *l)
{
  return settle(l) && l->status != WEIR_OK ? weir_fail(l->status, "%s", l->message) : WEIR_OK;
}

void weir_worker_destroy(weir_worker **worker)
{
  weir_worker *const l = *worker;

  if (l == NULL) {
    return;
  }
  (void)settle(l);
  if (l->own_thread) {
    (void)pthread_mutex_lock(&l->lock);
    l->phase = LEAVE;
    (void)pthread_cond_broadcast(&l->changed);
    (void)pthread_mutex_unlock(&l->lock);
    (void)pthread_join(l->thread, NULL);
    (void)pthread_cond_destroy(&l->changed);
    (void)pthread_mutex_destroy(&l->lock);
  }
  weir_free(worker);
}
