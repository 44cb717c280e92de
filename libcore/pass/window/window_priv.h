/* window_priv.h - shared by the files of the pass. */
#ifndef WINDOW_PRIV_H
#define WINDOW_PRIV_H
#include "pass/weir_pass.h"

/* An index that slides over an array and leaves it: elements that it reaches below and above. */
typedef struct window_slide {
  int operand, dim;
  int64_t below, above;
  weir_border border; /* ZERO or WRAP: what lies there */
} window_slide;

/* The array of the slide grows by its margins, filled as the border says, and the node reads inside
 * it. In place where its one writer makes it for this node alone, else as a copy. */
weir_status window_widen(weir_graph *g, int32_t node, const window_slide *s) WEIR_CHECKED;

#endif
