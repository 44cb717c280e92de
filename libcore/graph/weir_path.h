/* weir_path.h - how an array of a stream graph follows one of its inputs: rate, look-back and
 * look-ahead, and how long the absence of samples takes to pass.
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
  double behind; /* slots before one of the array that it needs, not below 0    */
  double ahead;  /* likewise beyond it                                          */
  double settle; /* absent slots until the array is constant; < 0: never        */
  double hold;   /* absent slots that scans and calls on the way wait for       */
} weir_path;

/* The input's own. */
weir_path weir_path_start(void);
/* From the arrays that a member reads to those that it writes, paths[a] being that of array a; what
 * the input does not reach stays as it is. Members come in the order in which they run. */
void weir_path_through(const weir_member *m, weir_path *paths);
/* Whole slots, rounded up. */
int64_t weir_path_behind(const weir_path *p);
int64_t weir_path_ahead(const weir_path *p);
/* Of n arrays together: absent slots after which the rest of a gap may be left out exactly, -1:
 * never; and slots from which on none of them depends on the input. */
int64_t weir_path_settle(const weir_path *paths, int32_t n);
int64_t weir_path_margin(const weir_path *paths, int32_t n);

#ifdef __cplusplus
}
#endif
#endif
