/* blocks_choose.c - the choice of blocks to make again: all of them are tried. */
#include <string.h>

#include "pass/recompute_blocks/weir_recompute_blocks.h"

/* first[b]: position in the gradient from which the results of block b are there again, for the
 * blocks of `again`: that of the first reader of the block, or of another that is made of it. */
static void find_firsts(const weir_blocks *b, uint32_t again, int32_t *first)
{
  for (int k = 0; k < b->n; k++) {
    first[k] = b->n_groups;
  }
  for (int64_t i = 0; i < b->n_kept; i++) {
    const weir_block_array *x = &b->kept[i];

    first[x->block] = x->first < first[x->block] ? x->first : first[x->block];
  }
  for (int k = b->n - 1; k >= 0; k--) {
    for (int from = 0; from < b->n && (again >> k & 1) != 0; from++) {
      if ((b->reads[k] >> from & 1) != 0 && first[k] < first[from]) {
        first[from] = first[k];
      }
    }
  }
}

/* Most bytes live with that choice; gives up at `most` or more. */
static int64_t peak_of(const weir_blocks *b, uint32_t again, int64_t most)
{
  int32_t first[WEIR_MAX_BLOCKS];
  int64_t peak = 0, sum = 0;

  find_firsts(b, again, first);
  memset(b->change, 0, (size_t)(b->n_groups + 1) * sizeof *b->change);
  for (int64_t i = 0; i < b->n_kept; i++) {
    const weir_block_array *x = &b->kept[i];

    if ((again >> x->block & 1) != 0 && x->last + 1 < first[x->block]) {
      b->change[x->last + 1] -= x->bytes;
      b->change[first[x->block]] += x->bytes;
    }
  }
  for (int k = 0; k < b->n; k++) {
    if ((again >> k & 1) != 0 && first[k] < b->n_groups) {
      b->change[first[k]] += b->within[k];
      b->change[first[k] + 1] -= b->within[k];
    }
  }
  for (int32_t t = 0; t < b->n_groups && peak < most; t++) {
    sum += b->change[t];
    peak = b->live[t] + sum > peak ? b->live[t] + sum : peak;
  }
  return peak;
}

int64_t weir_blocks_peak(const weir_blocks *b, uint32_t again)
{
  return peak_of(b, again, INT64_MAX);
}

static double seconds_of(const weir_blocks *b, uint32_t again)
{
  double seconds = 0;

  for (int k = 0; k < b->n; k++) {
    seconds += (again >> k & 1) != 0 ? b->seconds[k] : 0;
  }
  return seconds;
}

weir_block_choice weir_blocks_choice(const weir_blocks *b, uint32_t again)
{
  weir_block_choice c = {.block = b->block, .n_nodes = b->n_nodes, .again = again};
  int32_t first[WEIR_MAX_BLOCKS];

  find_firsts(b, again, first);
  for (int k = 0; k < b->n; k++) {
    c.late[k] = 1;
    for (int other = 0; other < b->n; other++) {
      c.late[k] = (int8_t)(c.late[k] + ((again >> other & 1) != 0 && first[other] < first[k]));
    }
  }
  return c;
}

int64_t weir_blocks_choose(const weir_blocks *b, int64_t bytes, weir_block_choice *out)
{
  const uint32_t all = (uint32_t)1 << b->n;
  uint32_t best = 0, least = 0;
  int64_t peak = -1, min = INT64_MAX;
  double fewest = 0;

  for (uint32_t again = 0; again < all; again++) {
    const double seconds = seconds_of(b, again);

    if (peak >= 0 && seconds >= fewest) {
      continue;
    }
    const int64_t here = peak_of(b, again, peak >= 0 ? bytes + 1 : min);

    if (here <= bytes) {
      best = again;
      peak = here;
      fewest = seconds;
    } else if (peak < 0 && here < min) {
      least = again;
      min = here;
    }
  }
  *out = weir_blocks_choice(b, peak >= 0 ? best : least);
  return peak >= 0 ? peak : min;
}
