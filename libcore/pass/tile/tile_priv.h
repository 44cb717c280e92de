/* tile_priv.h - what the sources that choose tiles share. */
#ifndef WEIR_TILE_PRIV_H
#define WEIR_TILE_PRIV_H
#include "pass/tile/weir_tile.h"

/* Members whose tile is chosen, the anchor last; buffered: [n]; reach: [n], scratch. slots: what
 * stands for an unbounded extent; cache: bytes that local buffers are to fit. */
typedef struct tile_choice {
  const weir_member *members;
  const bool *buffered;
  weir_reach *reach;
  int32_t n;
  const weir_constants *device;
  int64_t slots, cache;
} tile_choice;

void tile_measure(const tile_choice *c, const int64_t *tile, weir_tile_cost *cost);
#endif
