/* moshpit_priv.h - options of the policy, and its groups. */
#ifndef WEIR_MOSHPIT_PRIV_H
#define WEIR_MOSHPIT_PRIV_H
#include "optim/weir_exchange.h"

struct moshpit_opts {
  int64_t group, period;
  double timeout;
};

/* Returns the group of a cell in a round over that axis of a grid with `side` positions along each:
 * the number of the cells that differ in the position along the axis alone. */
static inline int64_t moshpit_group(int64_t cell, int64_t side, int axis)
{
  int64_t below = 1; /* cells that differ in lower axes alone */

  for (int a = 0; a < axis; a++) {
    below *= side;
  }
  return cell / (below * side) * below + cell % below;
}

#endif
