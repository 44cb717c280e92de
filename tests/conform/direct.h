/* direct.h - what operators that move elements mean, written without index maps: where each element
 * of the output comes from. New operators need none; they are then measured by the oracle alone. */
#ifndef WEIR_CONFORM_DIRECT_H
#define WEIR_CONFORM_DIRECT_H
#include "batch.h"

/* Fills got[tier] of the case from its inputs and spec; false where no formula stands here. */
bool direct_compute(batch_case *k, int tier);

#endif
