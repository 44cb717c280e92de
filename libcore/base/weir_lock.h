/* weir_lock.h - what threads must not do at the same time: short updates of tables, calls of a
 * library with global state. */
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

#ifdef __cplusplus
}
#endif
#endif
