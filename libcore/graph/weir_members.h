/* weir_members.h - members
 * of a group that run in order, each over its own box: iterations they need of each other, and
 * elements they transfer.
 *
 * Only needed boxes are composed, from the last member backwards, never index maps: what later
 * members need of an array is what the one that writes it must iterate over. */
#ifndef WEIR_MEMBERS_H
#define WEIR_MEMBERS_H
#include "graph/weir_graph.h"
#ifdef __cplusplus
extern "C" {
#endif

/* A node or a lowered loop: operand k reads array in[k], output k writes array out[k]. */
typedef struct weir_member {
  const weir_access *access;
  const int32_t *in, *out;
} weir_member;

/* Computes the iterations of member k that produce the elements read by the later members, whose
 * boxes are known; an empty box and false if they read none. boxes: [n]. */
bool weir_members_asked(const weir_member *members, int32_t n, int32_t k, const weir_box *boxes,
                        weir_box *asked);
/* Computes the boxes of all members from boxes[n - 1], set by the caller. */
void weir_members_compose(const weir_member *members, int32_t n, weir_box *boxes);
/* Counts the distinct elements of the array that all members read (write) over their boxes. g: its
 * constants bound gathered indices; NULL: any index is possible. */
int64_t weir_members_distinct(const weir_graph *g, const weir_member *members, int32_t n,
                              const weir_box *boxes, int32_t array, bool write);
/* Returns whether no input (output) of the members before `operand` of member k is on the same
 * array, so that each array is counted once. */
bool weir_members_first(const weir_member *members, int32_t k, int operand, bool write);
/* Returns the number of members that write the array. */
int32_t weir_members_writers(const weir_member *members, int32_t n, int32_t array);

#ifdef __cplusplus
}
#endif
#endif
