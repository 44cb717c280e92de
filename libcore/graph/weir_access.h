/* weir_access.h - the access of an operator: which box of each operand a box of its iterations
 * touches.
 *
 * Stated once per operator (docs/design: iterations, index maps, border rules, monoids). Everything
 * else - regions, bytes, flops, halos, fusion, stream buffers - is derived from it by the functions
 * below. */
#ifndef WEIR_ACCESS_H
#define WEIR_ACCESS_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_dtype.h"
#include "base/weir_integer.h"
#include "base/weir_status.h"
#include "graph/weir_body.h"
#include "tensor/weir_tensor.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_MAX_DIMS 16     /* iteration dimensions                              */
#define WEIR_MAX_OPERANDS 16 /* arrays read by one node or one lowered loop       */
#define WEIR_MAX_OUTPUTS 8   /* arrays written                                    */
#define WEIR_MAX_STATES 48   /* state scalars of a scan                           */
/* Extent of the unbounded dimension, time; far from overflow in sums and doubled values. */
#define WEIR_UNBOUNDED (INT64_MAX / 8)
/* Iterations over time for which sums of indices must fit 64 bits: at 1 GHz 18 minutes, at 1 kHz
 * 35 years. So an index may advance by at most WEIR_LONGEST_STEP from one to the next. */
#define WEIR_LONGEST_STREAM (INT64_C(1) << 40)
#define WEIR_LONGEST_STEP (INT64_MAX / 2 / WEIR_LONGEST_STREAM)

typedef enum weir_dim_kind {
  WEIR_PARALLEL,
  WEIR_REDUCED,
  WEIR_FORWARD, /* sequential, index ascending  */
  WEIR_BACKWARD /* sequential, index descending */
} weir_dim_kind;

/* One iteration dimension, [lo, hi). A `time` dimension has hi == WEIR_UNBOUNDED while planning;
 * its real bounds are run-time values. */
typedef struct weir_dim {
  weir_dim_kind kind;
  int64_t lo, hi;
  bool time;
} weir_dim;

/* What happens when an index leaves the array's [0, extent). */
typedef enum weir_border {
  WEIR_BORDER_NEVER,     /* proved at build time that it does not                   */
  WEIR_BORDER_ABSENT,    /* the whole iteration is dropped                          */
  WEIR_BORDER_ZERO,      /* the load gives 0                                        */
  WEIR_BORDER_VALUE,     /* the load gives `fill`                                   */
  WEIR_BORDER_WRAP,      /* index modulo extent                                     */
  WEIR_BORDER_REPLICATE, /* nearest edge                                            */
  WEIR_BORDER_REFLECT    /* mirrored about the edge elements: period 2 (extent - 1) */
} weir_border;

/* Index of one array dimension: floor((sum_k coef[k] * i_k + offset + g) / div), then the border
 * rule. div 0 means 1. g is 0, or, when gather > 0, the element of input operand gather - 1 (an
 * integer array) at that operand's own index in the same iteration, a value of [gather_lo,
 * gather_hi). */
typedef struct weir_index {
  int64_t coef[WEIR_MAX_DIMS];
  int64_t offset, div;
  weir_border border;
  int gather;
  double fill; /* of complex arrays the real part, with 0 i */
  int64_t gather_lo, gather_hi;
} weir_index;

typedef enum weir_role {
  WEIR_ROLE_DATA,
  WEIR_ROLE_STATE /* initial or final state of a scan, [slots, parallel dims...]; index[0] is the
                     slot */
} weir_role;

/* One array read or written. extent: the array's shape (time: WEIR_UNBOUNDED while planning). */
typedef struct weir_operand {
  weir_dtype dtype;
  weir_role role;
  int rank;
  weir_index index[WEIR_MAX_RANK];
  int64_t extent[WEIR_MAX_RANK];
} weir_operand;

/* How reduced iterations merge. Inputs are the body's values, outputs the node's outputs, in order.
 * Of complex numbers there is the sum alone. */
typedef enum weir_monoid {
  WEIR_COMBINE_NONE,    /* no reduced dimension                                               */
  WEIR_COMBINE_SUM,     /* (x) -> (sum)                             neutral 0                 */
  WEIR_COMBINE_PROD,    /* (x) -> (product)                         neutral 1                 */
  WEIR_COMBINE_MAX,     /* (x) -> (maximum, NaN if any is NaN)      neutral -inf or the least */
  WEIR_COMBINE_MIN,     /* (x) -> (minimum, NaN if any is NaN)      neutral +inf or greatest  */
  WEIR_COMBINE_ARGMAX,  /* (x) -> (maximum, i64 position row-major over the reduced dimensions);
                           first on  ties, NaN is never chosen; neutral (-inf or the least, -1)  */
  WEIR_COMBINE_MOMENTS, /* (x, bool present) -> (n, mean, M2), Chan et al. 1983; neutral 0    */
  WEIR_COMBINE_SOFTMAX, /* (x) -> (max, sum of exp(x - max))        neutral (-inf, 0)         */
  WEIR_COMBINE_FIRST,   /* (x, bool present) -> (x, present) of the first present; neutral 0  */
  WEIR_COMBINE_LAST     /* likewise of the last                                               */
} weir_monoid;

/* Who makes the outputs. */
typedef enum weir_maker {
  WEIR_MADE_BY_BODY,    /* an engine or a kernel, of the expressions of the body               */
  WEIR_MADE_BY_LIBRARY, /* weir_op_desc.run or a kernel: a function of what it reads, point by point
                           of the parallel dimensions (those of a batch), which are tiled, run by
                           threads, cut over ranks and chunked like any; its reduced dimensions are
                           read and written whole */
  WEIR_MADE_BY_CALL     /* weir_op_desc.run, with a state and in order: on one thread, never merged,
                           cut or made again */
} weir_maker;

/* One state scalar of a scan, per point of the parallel dimensions. */
typedef struct weir_state {
  weir_dtype dtype;
  int init;       /* 1 + input operand that holds it before the first iteration, 0: `initial` */
  int final;      /* 1 + output operand that receives it after the last, 0: none              */
  int slot;       /* index along dimension 0 of those operands                                */
  double initial; /* of complex states the real part, with 0 i */
  int32_t next;   /* expression: value after this iteration                                   */
} weir_state;

/* THE statement. Owns `body` and the tables of operands and states (weir_access_fini). */
typedef struct weir_access {
  int n_dims, n_in, n_out, n_states;
  weir_dim dim[WEIR_MAX_DIMS];
  weir_operand *in, *out; /* [n_in], [n_out]; weir_access_resize */
  weir_state *state;      /* [n_states]                          */
  weir_body body;
  int n_values; /* without combine: one per DATA output, in order; with: the monoid's inputs */
  int32_t value[WEIR_MAX_OUTPUTS];
  weir_monoid combine;
  weir_dtype accumulator; /* dtype the monoid computes in */
  /* Scans that skip gaps: after `settle` iterations in a row in which input operand `presence - 1`
   * (bool) is 0, the state is a fixed point and every DATA output is 0, so that further absent
   * slots may be skipped exactly. presence 0: no such promise. */
  int presence;
  int64_t settle;
  weir_maker maker;
  double point_flops; /* without a body: per point of the parallel and sequential dimensions */
} weir_access;

/* A half-open box. rank counts iteration dimensions (iterations) or array dimensions (elements). */
typedef struct weir_box {
  int rank;
  int64_t lo[WEIR_MAX_DIMS], hi[WEIR_MAX_DIMS];
} weir_box;

typedef struct weir_interval {
  int64_t lo, hi;
} weir_interval;

/* What a box needs of an array, per dimension: up to two disjoint ascending intervals (wrap); n[d]
 * == 0: nothing (a region of rank 0 always holds its one element). exact is false where a gather of
 * unknown indices made the region an upper bound.
 */
typedef struct weir_region {
  int rank;
  int n[WEIR_MAX_RANK];
  weir_interval part[WEIR_MAX_RANK][2];
  bool exact;
} weir_region;

/* An access without dimensions, operands or expressions: init before use, fini when done. Zeroed
 * memory needs no init. */
void weir_access_init(weir_access *a);
/* Frees the tables and the body; `a` then has no dimensions, operands or expressions. */
void weir_access_fini(weir_access *a);
/* Deep copy into storage that needs no init and is untouched on failure. Fails: WEIR_ERR_MEMORY. */
weir_status weir_access_copy(const weir_access *from, weir_access *to) WEIR_CHECKED;
/* Gives `a` that many inputs, outputs and states. The first of each stay as they are, new ones are
 * zero; all of them move, so pointers to them are stale. To drop trailing entries, lower n_in,
 * n_out or n_states directly. Fails: WEIR_ERR_MEMORY; `a` is then as it was. */
weir_status weir_access_resize(weir_access *a, int n_in, int n_out, int n_states) WEIR_CHECKED;
/* For an iteration dimension that is counted from another place: bodies read `by` more of it, and
 * so what they did. Fails: WEIR_ERR_MEMORY. */
weir_status weir_access_shift_index(weir_access *a, int k, int64_t by) WEIR_CHECKED;
/* The iterations of the box alone, counted from where those of `a` begin; they read and write what
 * they did. Fails: WEIR_ERR_MEMORY; `a` is then good for weir_access_fini alone. */
weir_status weir_access_narrow(weir_access *a, const weir_box *box) WEIR_CHECKED;
/* The operand's array has elements [lo, lo + extent) alone along dimension d, counted from lo. */
void weir_operand_narrow(weir_operand *x, int d, int64_t lo, int64_t extent);
/* Refuses what cannot be right: ranks, divisors, expressions and states out of range, dtypes that
 * do not agree, a NEVER border that an iteration leaves, overflow. Fails: WEIR_ERR_SHAPE, naming
 * operand and dimension. */
weir_status weir_access_check(const weir_access *a) WEIR_CHECKED;

/* The whole iteration box. */
weir_box weir_iterations(const weir_access *a);
bool weir_box_empty(const weir_box *b);
int64_t weir_box_volume(const weir_box *b); /* saturates at INT64_MAX */
/* Of elements of that dtype, likewise. */
int64_t weir_box_bytes(const weir_box *b, weir_dtype dtype);
weir_box weir_box_intersect(const weir_box *a, const weir_box *b);
/* Makes *box the smallest that holds it and `more`; where *any is false, `more` as it is. Sets
 * *any. */
void weir_box_grow(weir_box *box, const weir_box *more, bool *any);
/* Dimension by dimension: along one where `inner` has nothing, it lies in any other. */
bool weir_box_within(const weir_box *inner, const weir_box *outer);
/* Smallest box that holds the region. */
weir_box weir_region_hull(const weir_region *r);
int64_t weir_region_volume(const weir_region *r);
bool weir_region_empty(const weir_region *r);

/* Region of input `operand` that the iterations of `box` read, after the border rule: corner rule,
 * then clip (absent, zero, value), touched edge (replicate), mirrored intervals (reflect), one
 * interval per shift (wrap). Exact per dimension but for gathers and for coefficients that leave
 * holes (then the hull). */
weir_region weir_needed(const weir_access *a, int operand, const weir_box *box);
/* The same in one box, as who owns a part of the array has to get it: all along dimensions in which
 * indices turn at an end (weir_index_turns), all slots of a state; along the others what is needed
 * there, even where nothing is along one of them. */
weir_box weir_needed_box(const weir_access *a, int operand, const weir_box *box);
/* Region of output `output` that the iterations of `box` write. Empty reduced dimensions still
 * write: the neutral element. */
weir_region weir_written(const weir_access *a, int output, const weir_box *box);
/* Smallest iteration box that holds every iteration which writes into `elements` of `output`
 * (reduced dimensions whole). */
weir_box weir_iterations_of(const weir_access *a, int output, const weir_box *elements);
/* Smallest iteration box that holds every iteration which reads `elements` of input `operand` (for
 * wrap and reflect the hull of the union). */
weir_box weir_affected(const weir_access *a, int operand, const weir_box *elements);
/* Number of distinct elements of an input that the iterations of `box` touch, after the border
 * rule, dropped iterations left out. An upper bound for gathers, and where no closed form serves
 * and enumeration would visit over four million points. */
int64_t weir_distinct(const weir_access *a, int operand, const weir_box *box);
/* The same for the union of several uses of one array: use k is operand[k] of access[k] over
 * box[k]; operand[k] < 0 is output -1 - operand[k]. */
int64_t weir_distinct_union(const weir_access *const *access, const int *operand,
                            const weir_box *box, int n);
/* The elements that an operand reads along a dimension whose indices are gathered from a constant
 * (weir_node_named): ascending intervals with gaps between them. dim -1: there is no such
 * dimension, or the values do not say it alone (wrap, replicate, reflect, or the list is read with
 * a zero or value border). */
typedef struct weir_named {
  int dim;
  int64_t n;
  weir_interval *part; /* [n], owned */
} weir_named;
/* As weir_distinct_union, use k reading what named[k] says along its gathered dimension. */
int64_t weir_distinct_named(const weir_access *const *access, const int *operand,
                            const weir_box *box, const weir_named *named, int n);
/* Iterations of `box` that survive ABSENT borders (those of gathered indices are not known and drop
 * nothing here). */
int64_t weir_surviving(const weir_access *a, const weir_box *box);
/* Surviving iterations x flops of the body and the monoid; without a body: points x
 * point_flops. */
double weir_flops(const weir_access *a, const weir_box *box);
/* How far needed(iterations) reaches below and above the owned elements, per array dimension (0
 * when inside); for WRAP before the index is wrapped, so that a neighbour across the seam counts as
 * near. */
void weir_halo(const weir_access *a, int operand, const weir_box *iterations, const weir_box *owned,
               int64_t *below, int64_t *above);

/* The definition that all engines and tests share: one array index of one iteration, before the
 * border rule (gathered: the element of the gather operand, or 0) and after it. *inside is false
 * when the load gives its fill or, for ABSENT, the iteration is dropped; the returned index is then
 * 0. */
int64_t weir_index_raw(const weir_index *x, int n_dims, const int64_t *iteration, int64_t gathered);
int64_t weir_index_border(const weir_index *x, int64_t raw, int64_t extent, bool *inside);
/* div, or the 1 that 0 stands for. */
static inline int64_t weir_index_divisor(const weir_index *x)
{
  return x->div > 1 ? x->div : 1;
}
/* True when both say the same of every iteration of n_dims dimensions. */
bool weir_index_same(const weir_index *a, const weir_index *b, int n_dims);
/* The iteration dimension whose number the index is, nothing added, or -1. */
int weir_index_follows(const weir_index *x, int n_dims);
/* Whether some index of the iterations, a box that is not empty, leaves the array at one end and
 * comes back from where the other end is, or is folded at it (wrap, reflect). */
bool weir_index_turns(const weir_index *x, int64_t extent, const weir_box *iterations);
/* How far the index moves when the iteration moves by step[k] along every dimension k. */
double weir_index_advance(const weir_index *x, int n_dims, const double *step);
/* Least and greatest index over a box that is not empty, before the border rule; a gathered value
 * takes its whole declared range. Cut at 2^62. */
void weir_index_range(const weir_index *x, const weir_box *box, int64_t *least, int64_t *most);
/* Shrinks *iterations, of dimension k, to those whose index before the border rule may lie in
 * [lo, hi) while the other dimensions are anywhere in `box`, which is not empty along them; false
 * when there are none. coef[k] is not 0, the index gathers nothing. */
bool weir_index_solve(const weir_index *x, int k, const weir_box *box, int64_t lo, int64_t hi,
                      weir_interval *iterations);

/* Dimension of the operand that moves with iteration dimension k, -1: none, -2: several do. */
int weir_operand_moves(const weir_operand *o, int k);
/* Dimension of the operand that is iteration dimension k (weir_index_follows), or -1. */
int weir_operand_follows(const weir_operand *o, const weir_access *a, int k);
/* The iteration dimension that is dimension d of the operand, all of it, or -1. */
int weir_operand_dim(const weir_operand *o, const weir_access *a, int d);
/* Dimension of the operand of which pieces of iteration dimension k are pieces; -1: it knows
 * nothing of k, -2: neither. */
int weir_operand_pieces(const weir_operand *o, const weir_access *a, int k);
/* True when the operand reads (writes), at each iteration, an element of its own: array dimension d
 * is iteration dimension order[d], all of it, and no others go beyond one iteration. */
bool weir_operand_is_one_to_one(const weir_operand *o, const weir_access *a, int *order);
/* The same for data that has all dimensions of the iterations. */
bool weir_operand_is_permutation(const weir_operand *o, const weir_access *a, int *order);
/* And in their order: each iteration reads (writes) the element of the same number. */
bool weir_operand_is_identity(const weir_operand *o, const weir_access *a);
/* True when no element of the operand is read by two iterations: whole windows side by side, or one
 * element each. What is made element by element may then be made where it is read. */
bool weir_operand_reads_once(const weir_operand *o, const weir_access *a);
/* The iteration dimension that is time, or -1. */
int weir_access_time(const weir_access *a);
/* True when each iteration makes its own elements from those that it reads: no reduction, no state,
 * a body, all dimensions parallel. */
bool weir_access_is_pointwise(const weir_access *a);

/* How an array moves with one iteration dimension: its dimension `dim` (the first that does, -1:
 * none) by up / down elements an iteration. */
typedef struct weir_pace {
  int dim;
  int64_t up, down;
} weir_pace;
weir_pace weir_operand_pace(const weir_operand *x, int k);
/* Bounds, both of them reached, of down * index - up * i over all iterations i of dimension k, the
 * others in `box`, which is not empty along them; before the border rule. Cut at 2^62. */
void weir_operand_lag(const weir_operand *x, int k, const weir_box *box, int64_t *least,
                      int64_t *most);
/* The first iteration from 0 on whose index may reach `index`, where `most` is the greatest lag: as
 * weir_index_solve finds it, from a lag computed earlier; with most 0, the iterations that `index`
 * elements allow. up > 0, index >= 0; WEIR_UNBOUNDED at most. */
int64_t weir_pace_first(const weir_pace *pace, int64_t most, int64_t index);

#ifdef __cplusplus
}
#endif
#endif
