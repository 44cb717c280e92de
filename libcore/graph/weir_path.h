/* weir_path.h - path
 * from an input of a stream graph to an array: rate, look-back and look-ahead, and settling time in
 * gaps.
 *
 * Composed from accesses, member by member from the input on; what was composed over one graph is
 * continued in the next, where that reads what the first one makes. Slots are those of the input.
 */
#ifndef WEIR_PATH_H
#define WEIR_PATH_H
#include "graph/weir_members.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_path {
  bool reached;  /* the array depends on the input                              */
  double ratio;  /* slots of the array per slot of the input                    */
  double behind; /* slots needed before one of the array, at least 0 */
  double ahead;  /* likewise beyond it                                          */
  double settle; /* absent slots until the array is constant; < 0: never */
  double hold;   /* absent slots until scans and calls on the path settle */
} weir_path;

/* Returns the path of the input itself. */
weir_path weir_path_start(void);
/* Propagates paths from the arrays that a member reads to those that it writes, paths[a] being that
 * of array a; arrays that the input does not reach are unchanged. Members come in execution order.
 */
void weir_path_through(const weir_member *m, weir_path *paths);
/* Return complete slots, rounded up. */
int64_t weir_path_behind(const weir_path *p);
int64_t weir_path_ahead(const weir_path *p);
/* Returns, of n arrays together, absent slots after which the rest of a gap may be skipped exactly,
 * -1: never; and slots from which on none of them depends on the input. */
int64_t weir_path_settle(const weir_path *paths, int32_t n);
int64_t weir_path_margin(const weir_path *paths, int32_t n);

#ifdef __cplusplus
}
#endif
#endif
