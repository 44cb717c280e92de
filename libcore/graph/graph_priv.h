/* graph_priv.h - what the sources of the module share. */
#ifndef WEIR_GRAPH_PRIV_H
#define WEIR_GRAPH_PRIV_H
#include <string.h>
#include "graph/weir_graph.h"

typedef __int128 weir_wide; /* sums of products of 64-bit numbers do not overflow */

/* Nodes and arrays are allocated one by one: pointers to them stay valid while the graph grows. */
struct weir_graph {
  weir_node **nodes;
  weir_array **arrays;
  weir_group *groups;
  char **strings; /* names, labels: live as long as the graph, so that passes may move pointers */
  int32_t n_nodes, n_arrays, n_groups;
  int64_t n_strings, node_capacity, array_capacity, group_capacity, string_capacity;
  int32_t next_random;
  weir_status status; /* first error of the builders */
  char message[2048];
};

/* Heap copy of text that lives as long as the graph; NULL gives NULL. Fails: WEIR_ERR_MEMORY. */
weir_status weir_graph_intern(weir_graph *g, const char *text, const char **out) WEIR_CHECKED;
/* Appends a node that weir_alloc made and takes it: *node is then NULL. Fails: WEIR_ERR_MEMORY. */
weir_status weir_graph_take_node(weir_graph *g, weir_node **node) WEIR_CHECKED;
/* Appends a zeroed node / array and returns it in *out. Fails: WEIR_ERR_MEMORY. */
weir_status weir_graph_push_node(weir_graph *g, weir_node **out) WEIR_CHECKED;
weir_status weir_graph_push_array(weir_graph *g, const weir_array_desc *desc, weir_array_kind kind,
                                  int32_t *out) WEIR_CHECKED;
/* Frees what a node owns and the node. */
void weir_node_destroy(weir_node **node);
/* "node 7 'label' op (file:line)" into text. */
void weir_node_describe(const weir_graph *g, int32_t node, char *text, size_t size);
/* Fails: WEIR_ERR_SHAPE, naming the first way in which the access and the node's arrays differ. */
weir_status weir_node_match(const weir_graph *g, const weir_node *node) WEIR_CHECKED;
/* named.c: weir_node_named of an access that reads these arrays. Fails: WEIR_ERR_MEMORY. */
weir_status weir_access_named(const weir_graph *g, const weir_access *a, const int32_t *in,
                              int operand, const weir_box *box, weir_named *out) WEIR_CHECKED;
bool weir_desc_equal(const weir_array_desc *a, const weir_array_desc *b);

/* Quotients rounded down and up; b > 0. Nearly all operands are short, and their division is
 * several times as fast; most divisors are 1. */
static inline weir_wide weir_wide_floor_div(weir_wide a, weir_wide b)
{
  if (b == 1) {
    return a;
  }
  if (a == (int64_t)a && b == (int64_t)b) {
    return weir_floor_div((int64_t)a, (int64_t)b);
  }
  return a / b - (a % b < 0);
}
static inline weir_wide weir_wide_ceil_div(weir_wide a, weir_wide b)
{
  return -weir_wide_floor_div(-a, b);
}

/* access_lattice.c: points of 0 <= i < n, 0 <= j < m with lo <= a i + b j < hi; n, m > 0, a and b
 * not 0, lo <= hi. */
weir_wide weir_strip_points(weir_wide a, weir_wide n, weir_wide b, weir_wide m, weir_wide lo,
                            weir_wide hi);
/* Least x of [0, n) with (start + c x) mod period < width, n where there is none; 0 < width <
 * period, n > 0. */
weir_wide weir_first_hit(weir_wide c, weir_wide start, weir_wide period, weir_wide width,
                         weir_wide n);

/* Least and greatest sum of coef[k] * i_k over a box that is not empty. */
void weir_form_span(const int64_t *coef, const weir_box *box, weir_wide *lo, weir_wide *hi);
/* Least and greatest index of `x` over a box that is not empty, after the division and before the
 * border rule, in wide arithmetic; a gathered value takes its whole declared range. */
void weir_index_span(const weir_index *x, const weir_box *box, weir_wide *lo, weir_wide *hi);
/* Elements that the raw indices [first, last] reach after the border rule: ascending disjoint
 * intervals; returns how many (0 to 2). */
int weir_border_image(weir_border border, weir_wide first, weir_wide last, int64_t extent,
                      weir_interval interval[2]);
/* Shrinks `box` to hold every iteration with lo <= sum of coef[k] * i_k < hi; false when none is.
 */
bool weir_form_tighten(const int64_t *coef, weir_wide lo, weir_wide hi, weir_box *box);
/* access_inverse.c: shrinks the box to the hull of its iterations whose index of `x` falls into
 * `elements`; to nothing, at the start of the box, when there are none. */
void weir_operand_invert(const weir_operand *x, const weir_box *elements, weir_box *box);
/* A library operator makes its whole dimensions at once: the box then has all of them. */
void weir_whole_dims(const weir_access *a, weir_box *box);
/* First array dimension with a separate index (dimension 0 of a state is the slot). */
static inline int weir_operand_first(const weir_operand *x)
{
  return x->role == WEIR_ROLE_STATE ? 1 : 0;
}

/* `box` as an output sees it: an output without iterations still gets the neutral element (a final
 * state: the initial one), so that empty dimensions which merely feed it count as one point. */
weir_box weir_output_box(const weir_access *a, const weir_operand *output, const weir_box *box);

/* lo <= sum of coef[k] * i_k < hi, else the iteration is dropped. */
struct weir_limit {
  const int64_t *coef;
  weir_wide lo, hi;
};

/* That the index lies inside an array dimension; it gathers nothing. */
static inline struct weir_limit weir_limit_of(const weir_index *x, int64_t extent)
{
  const weir_wide end = (weir_wide)extent * weir_index_divisor(x);

  return (struct weir_limit){x->coef, -(weir_wide)x->offset, end - x->offset};
}

static inline bool weir_same_form(const int64_t *a, const int64_t *b, int n_dims)
{
  return memcmp(a, b, (size_t)n_dims * sizeof *a) == 0;
}

enum { WEIR_MAX_LIMITS = WEIR_MAX_OPERANDS * WEIR_MAX_RANK };

/* The limits that cut something off a box. */
struct weir_limits {
  int n;
  struct weir_limit at[WEIR_MAX_LIMITS];
};

/* The ABSENT borders of `a` that drop iterations of `box`, one for each form; `box` is shrunk where
 * that is exact. false: none survives. Borders of gathered indices are left out: what they drop is
 * not known. */
bool weir_limits_collect(const weir_access *a, weir_box *box, struct weir_limits *out);
/* Iterations of `box` within all limits, counted over the dimensions of `mask`; with `any`, 1 when
 * there is one. *budget bounds the work: when it is spent, the count is an upper bound. */
int64_t weir_limits_count(const struct weir_limits *limits, const weir_box *box, uint32_t mask,
                          bool any, int64_t *budget);
/* Returns whether an iteration lies within all limits. */
bool weir_limits_hold(const struct weir_limits *limits, const int64_t *at, int n_dims);
/* Points of the box in the dimensions of `mask`; saturates at INT64_MAX. */
int64_t weir_box_points(const weir_box *box, uint32_t mask);
/* Elements in the union of regions of one array. */
weir_wide weir_regions_union(const weir_region *r, int n);
#endif
