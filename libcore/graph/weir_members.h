/* weir_members.h - members of a group that run one after the other, each over a box of its own:
 * which iterations they need of one another, and which elements they move.
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

/* Iterations of member k that make what the later ones, whose boxes are known, read; an empty box
 * and false where they read nothing. boxes: [n]. */
bool weir_members_asked(const weir_member *members, int32_t n, int32_t k, const weir_box *boxes,
                        weir_box *asked);
/* The boxes of all members from boxes[n - 1], which the caller has set. */
void weir_members_compose(const weir_member *members, int32_t n, weir_box *boxes);
/* Distinct elements of the array that all members read (write) over their boxes. g: whose constants
 * say what gathered indices name; NULL: they may name anything. */
int64_t weir_members_distinct(const weir_graph *g, const weir_member *members, int32_t n,
                              const weir_box *boxes, int32_t array, bool write);
/* True when no input (output) of the members before `operand` of member k is on the same array: so
 * each array counts once. */
bool weir_members_first(const weir_member *members, int32_t k, int operand, bool write);
/* How many of the members write the array. */
int32_t weir_members_writers(const weir_member *members, int32_t n, int32_t array);

#ifdef __cplusplus
}
#endif
#endif
