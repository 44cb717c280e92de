/* weir_lock.h - mutual exclusion of threads (short updates of tables, calls of a library with
 * global state) and condition variables. */
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

/* A lock that its holder may take again, and gives as often. */
#define WEIR_LOCK_INIT_RECURSIVE                     \
  {                                                  \
    .mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, \
  }

/* Waits until no other thread holds the lock. */
static inline void weir_lock_take(weir_lock *lock)
{
  (void)pthread_mutex_lock(&lock->mutex);
}
/* Releases the lock; called by the thread that holds it. */
static inline void weir_lock_give(weir_lock *lock)
{
  (void)pthread_mutex_unlock(&lock->mutex);
}

/* Condition variable: signals a change under a lock. */
typedef struct weir_cond {
  pthread_cond_t changed;
} weir_cond;
#define WEIR_COND_INIT                   \
  {                                      \
    .changed = PTHREAD_COND_INITIALIZER, \
  }

/* Releases the lock, which this thread holds, waits for a broadcast, and locks again; spurious
 * wake-ups are possible: call it in a loop that checks the condition. */
static inline void weir_cond_wait(weir_cond *cond, weir_lock *lock)
{
  (void)pthread_cond_wait(&cond->changed, &lock->mutex);
}
/* Wakes all waiting threads. */
static inline void weir_cond_broadcast(weir_cond *cond)
{
  (void)pthread_cond_broadcast(&cond->changed);
}

#ifdef __cplusplus
}
#endif
#endif
