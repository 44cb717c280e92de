/* count_sends.h - the bytes that this rank gives to MPI in messages, counted at MPI itself. Tests
 * only. */
#ifndef COUNT_SENDS_H
#define COUNT_SENDS_H
#include <stdint.h>

/* Of messages prepared once, each time they are started, and of those started once; messages of no
 * bytes are none. */
typedef struct sends {
  int64_t messages, bytes;
} sends;

sends sends_so_far(void);

#endif
