/* lanes.c - sorts cases side by side on any processor. */
#define NAME sort_lanes_plain
#include "eval/sort/lanes_kernel.h"
