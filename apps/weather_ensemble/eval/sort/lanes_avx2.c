/* lanes_avx2.c - sorts cases side by side, 256 bits at a time. */
#if defined(__x86_64__)
#define NAME sort_lanes_avx2
#include "eval/sort/lanes_kernel.h"
#endif
