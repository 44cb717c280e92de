/* host_fiber.c - see host_fiber.h. A file of its own: a compiler that saw the callers would let
 * them keep values in registers that others use in the meantime. */
#include "device/host_fiber.h"

#include <stdint.h>
#include <ucontext.h>

static HOST_ON_FIBER void jump(host_place *to)
{
  __builtin_longjmp(to->words, 1);
}

HOST_ON_FIBER void host_fiber_change(host_place *from, host_place *to)
{
  if (__builtin_setjmp(from->words) == 0) {
    jump(to);
  }
}

typedef struct start {
  void (*body)(void *argument);
  void *argument;
} start;

static HOST_ON_FIBER void enter(unsigned high, unsigned low)
{
  const start *s = (const start *)((uintptr_t)high << 32 | (uintptr_t)low);

  s->body(s->argument);
}

HOST_ON_FIBER void host_fiber_begin(host_place *from, char *stack, size_t bytes,
                                    void (*body)(void *argument), void *argument)
{
  const start s = {body, argument};
  ucontext_t context;

  getcontext(&context);
  context.uc_stack.ss_sp = stack;
  context.uc_stack.ss_size = bytes;
  context.uc_link = NULL;
  makecontext(&context, (void (*)(void))enter, 2, (unsigned)((uintptr_t)&s >> 32),
              (unsigned)(uintptr_t)&s);
  if (__builtin_setjmp(from->words) == 0) {
    setcontext(&context);
  }
}
