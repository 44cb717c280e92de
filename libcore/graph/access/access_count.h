/* access_count.h - one use of an array, for counting the elements it touches. Private. */
#ifndef WEIR_ACCESS_COUNT_H
#define WEIR_ACCESS_COUNT_H
#include "graph/graph_priv.h"

/* Iterations that one exact count may visit; beyond, an upper bound is taken. */
enum { WEIR_MAX_POINTS = 1 << 22 };

/* Operand x of an access over a box, already shrunk by the limits that cut cleanly. */
struct weir_use {
  const weir_access *access;
  const weir_operand *x;
  weir_box box;
  struct weir_limits limits;
  bool empty;
  const weir_named *named; /* NULL: not known */
};

/* Bitmap of a window of some dimensions of an array. */
struct weir_marks {
  weir_box window;
  uint64_t *bits;
  int64_t count;
  int64_t *points_left; /* iterations that may still be visited */
};

void weir_use_init(const weir_access *a, int operand, const weir_box *box, struct weir_use *u);
/* Iteration dimensions that decide array dimension d, those after a gathered value included. */
uint32_t weir_use_dims(const struct weir_use *u, int d);
/* Intervals per array dimension; true when the touched elements are exactly their product. */
bool weir_use_region(const struct weir_use *u, weir_region *r);
/* Distinct elements; an upper bound for gathers whose values are not known or which share
 * iterations with other dimensions, and beyond the bounds of enumeration. */
int64_t weir_use_count(const struct weir_use *u);

/* False when the window is too large or memory is exhausted. */
bool weir_marks_init(struct weir_marks *m, const weir_box *window);
void weir_marks_fini(struct weir_marks *m);
/* Marks what the use touches in the array dimensions `elements` (bits), which are those of the
 * window in order. False when that would take too long; some may then be marked. */
bool weir_use_mark(const struct weir_use *u, uint32_t elements, const struct weir_limits *limits,
                   struct weir_marks *m);
#endif
