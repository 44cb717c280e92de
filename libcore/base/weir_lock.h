/* weir_lock.h - what threads must not do at the same time: short updates of tables, calls of a
 * library with global state; and waiting for what another thread changes. */
#ifndef WEIR_LOCK_H
#define WEIR_LOCK_H
#include <pthread.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_lock {
  pthread_mutex_t mutex;
} weir_lock;
#define WEIR_LOCK_INIT                  \
  {                                     \
    .mutex = PTHREAD_MUTEX_INITIALIZER, \
  }

/* Waits until no other thread holds it. Not twice by one thread. */
static inline void weir_lock_take(weir_lock *lock)
{
  (void)pthread_mutex_lock(&lock->mutex);
}
/* By the thread that took it. */
static inline void weir_lock_give(weir_lock *lock)
{
  (void)pthread_mutex_unlock(&lock->mutex);
}

/* What is rung when something under a lock has changed. */
typedef struct weir_cond {
  pthread_cond_t changed;
} weir_cond;
#define WEIR_BELL_INIT                   \
  {                                      \
    .changed = PTHREAD_COND_INITIALIZER, \
  }

/* Gives the lock, which this thread has, until the bell rings, and has it again; it may return
 * without a ring: call it in a loop that looks. */
static inline void weir_cond_wait(weir_cond *bell, weir_lock *lock)
{
  (void)pthread_cond_wait(&bell->changed, &lock->mutex);
}
/* Wakes all that wait. */
static inline void weir_cond_broadcast(weir_cond *bell)
{
  (void)pthread_cond_broadcast(&bell->changed);
}

#ifdef __cplusplus
}
#endif
#endif
