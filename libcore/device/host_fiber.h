/* host_fiber.h - stacks that one host thread changes between, without a call of the system. */
#ifndef HOST_FIBER_H
#define HOST_FIBER_H
#include <stddef.h>

/* Where a stack goes on. */
typedef struct host_place {
  void *words[5]; /* of __builtin_setjmp */
} host_place;

/* Frames that are left for ever: what a sanitizer would note of them would outlive their stack. */
#define HOST_ON_FIBER __attribute__((noinline, no_sanitize("address")))

/* Begins body(argument) on `stack`, of `bytes` bytes; returns when that changes to *from. body must
 * not return. */
void host_fiber_begin(host_place *from, char *stack, size_t bytes, void (*body)(void *argument),
                      void *argument);
/* Goes on at *to; returns when another changes to *from. */
void host_fiber_change(host_place *from, host_place *to);
#endif
