/* points.h - the values that many fields have at each point of a plane, sorted point by point: of
 * as many points at a time as a memory holds. */
#ifndef WX_POINTS_H
#define WX_POINTS_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"

typedef struct wx_points {
  int64_t cells;          /* of the plane */
  int64_t lo, n;          /* the points at hand are [lo, lo + n) of it */
  int64_t wide, capacity; /* maximum points at a time, and values of a point */
  int64_t fields;         /* of which there are values */
  float *value;           /* [capacity, wide] */
  double *lanes, *sorted; /* [threads, capacity, WX_LANES], [threads, capacity] */
} wx_points;

/* Allocates `capacity` values per point, for as many points as fit in `bytes`, at least one.
 * Fails: WEIR_ERR_MEMORY; wx_points_fini is to be called either way. */
weir_status wx_points_init(int64_t cells, int64_t capacity, int64_t bytes,
                           wx_points *p) WEIR_CHECKED;
void wx_points_fini(wx_points *p);
/* Goes to the first, then to the next points, which have no values yet; false after the last: the
 * next call begins again. */
bool wx_points_next(wx_points *p);
/* Takes the values of a field[cells] at the points at hand, of at most `capacity` fields. */
void wx_points_put(wx_points *p, const float *field);
/* Calls each(context, i, x, n) for the points at hand, on all threads: i of the plane, whose finite
 * values are x[n] ascending. */
typedef void wx_point_fn(void *context, int64_t i, const double *x, int64_t n);
void wx_points_each(const wx_points *p, wx_point_fn *each, void *context);
#endif
