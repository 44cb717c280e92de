/* weir_access.h - access
 * of an operator: maps a box of its iterations to the boxes of its operands.
 *
 * Declared once per operator (docs/design: iterations, index maps, border rules, monoids).
 * Everything else - regions, bytes, flops, halos, fusion, stream buffers - is derived from it by
 * the functions below. */
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

/* Border rule of an index outside the array's [0, extent). */
typedef enum weir_border {
  WEIR_BORDER_NEVER,     /* proved at build time that it does not                   */
  WEIR_BORDER_ABSENT,    /* the whole iteration is excluded */
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
  int part; /* in loops of engines: 1 real, 2 imaginary parts of complex elements; else 0 */
  weir_index index[WEIR_MAX_RANK];
  int64_t extent[WEIR_MAX_RANK];
} weir_operand;

/* Monoid that merges reduced iterations. Inputs are the body's values, outputs the node's outputs,
 * in order. Complex numbers can only be summed. */
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

/* How the outputs are computed. */
typedef enum weir_maker {
  WEIR_MADE_BY_BODY,    /* by an engine or a kernel, from the expressions of the body */
  WEIR_MADE_BY_LIBRARY, /* by weir_op_desc.run or a kernel: a function of its inputs, point by point
                           of the parallel dimensions (a batch), which are tiled, threaded, sharded
                           and chunked as usual; its reduced dimensions are read and written
                           completely */
  WEIR_MADE_BY_CALL /* by weir_op_desc.run, with a state and in order: on one thread, never merged,
                       sharded or recomputed */
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

/* The declaration. Owns `body` and the tables of operands and states (weir_access_fini). */
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
  /* Scans that skip gaps: after `settle` consecutive iterations in which input operand `presence -
   * 1` (bool) is 0, the state is a fixed point and every DATA output is 0, so that further absent
   * slots may be skipped exactly. presence 0: no such guarantee. */
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

/* Region of an array that a box needs, per dimension: up to two disjoint ascending intervals
 * (wrap); n[d] == 0: empty (a region of rank 0 always has its one element). exact is false where a
 * gather of unknown indices made the region an upper bound. */
typedef struct weir_region {
  int rank;
  int n[WEIR_MAX_RANK];
  weir_interval interval[WEIR_MAX_RANK][2];
  bool exact;
} weir_region;

/* Initialises an access without dimensions, operands or expressions; free it with fini. Zeroed
 * memory needs no init. */
void weir_access_init(weir_access *a);
/* Frees the tables and the body; `a` is then empty. */
void weir_access_fini(weir_access *a);
/* Copies deeply into storage that needs no init and is unchanged on failure. Fails:
 * WEIR_ERR_MEMORY. */
weir_status weir_access_copy(const weir_access *from, weir_access *to) WEIR_CHECKED;
/* Resizes `a` to that many inputs, outputs and states. Existing ones are kept, new ones are zero;
 * all may move, so pointers to them are invalid. To drop trailing entries, lower n_in, n_out or
 * n_states directly. Fails: WEIR_ERR_MEMORY; `a` is then unchanged. */
weir_status weir_access_resize(weir_access *a, int n_in, int n_out, int n_states) WEIR_CHECKED;
/* Shifts the origin of an iteration dimension: index expressions of the body are corrected by `by`,
 * so that the results are unchanged. Fails: WEIR_ERR_MEMORY. */
weir_status weir_access_shift_index(weir_access *a, int k, int64_t by) WEIR_CHECKED;
/* Renumbers the expressions that values and next states are: i becomes number[i]. */
void weir_access_renumber(weir_access *a, const int32_t *number);
/* Puts a parallel dimension [0, extent) in front of all others, and a dimension of that extent in
 * front of every operand (inputs, then outputs) for which varies[k] says so: that of each other
 * iteration repeats what `a` was, with the elements of its own slices. Random bits of every slice
 * are those of `a`. Fails: WEIR_ERR_SHAPE (more dimensions than an access or an array may have). */
weir_status weir_access_add_outer(weir_access *a, int64_t extent, const bool *varies) WEIR_CHECKED;
/* Takes such a dimension out again, whatever order the arrays are in now: `a` becomes the access of
 * one slice, and from[k] the dimension that operand k had for it, -1: none. false, and `a` is
 * unchanged: dimension 0 is no such dimension. */
bool weir_access_take_outer(weir_access *a, int8_t *from);
/* Restricts `a` to the iterations of the box, renumbered from the start of those of `a`; they read
 * and write the same elements. Fails: WEIR_ERR_MEMORY; only weir_access_fini may then be called on
 * `a`. */
weir_status weir_access_narrow(weir_access *a, const weir_box *box) WEIR_CHECKED;
/* Restricts the operand's array to elements [lo, lo + extent) along dimension d, counted from lo.
 */
void weir_operand_narrow(weir_operand *x, int d, int64_t lo, int64_t extent);
/* Checks the access: ranks, divisors, expressions and states in range, consistent dtypes, no
 * iteration across a NEVER border, no overflow. Fails: WEIR_ERR_SHAPE, naming operand and
 * dimension. */
weir_status weir_access_check(const weir_access *a) WEIR_CHECKED;

/* Returns the box of all iterations. */
weir_box weir_iterations(const weir_access *a);
bool weir_box_empty(const weir_box *b);
int64_t weir_box_volume(const weir_box *b); /* saturates at INT64_MAX */
/* Returns the bytes of elements of that dtype; saturates likewise. */
int64_t weir_box_bytes(const weir_box *b, weir_dtype dtype);
weir_box weir_box_intersect(const weir_box *a, const weir_box *b);
/* Extends *box to the smallest one that contains it and `more`; to `more` if *any is false. Sets
 * *any. */
void weir_box_grow(weir_box *box, const weir_box *more, bool *any);
/* Returns whether `outer` contains `inner`, per dimension; an empty interval is contained in any
 * other. */
bool weir_box_within(const weir_box *inner, const weir_box *outer);
/* Returns the smallest box that contains the region. */
weir_box weir_region_hull(const weir_region *r);
int64_t weir_region_volume(const weir_region *r);
bool weir_region_empty(const weir_region *r);

/* Computes the region of input `operand` that the iterations of `box` read, after the border rule:
 * corner rule, then clip (absent, zero, value), touched edge (replicate), mirrored intervals
 * (reflect), one interval per shift (wrap). Exact per dimension except for gathers and for
 * coefficients that leave holes (then the hull). */
weir_region weir_needed(const weir_access *a, int operand, const weir_box *box);
/* Computes that region as one box, for the owner of a subset of the array: the whole extent along
 * dimensions in which indices wrap or reflect (weir_index_turns), all slots of a state; along the
 * others the needed interval, even if another dimension is empty. */
weir_box weir_needed_box(const weir_access *a, int operand, const weir_box *box);
/* Computes the region of output `output` that the iterations of `box` write. Empty reduced
 * dimensions still write: the neutral element. */
weir_region weir_written(const weir_access *a, int output, const weir_box *box);
/* Computes the smallest iteration box with every iteration that writes into `elements` of `output`
 * (complete reduced dimensions). */
weir_box weir_iterations_of(const weir_access *a, int output, const weir_box *elements);
/* Computes the smallest iteration box with every iteration that reads `elements` of input `operand`
 * (for wrap and reflect the hull of the union). */
weir_box weir_affected(const weir_access *a, int operand, const weir_box *elements);
/* Counts the distinct elements of an input that the iterations of `box` read, after the border
 * rule, excluded iterations omitted. An upper bound for gathers, and where there is no closed form
 * and enumeration would visit over four million points. */
int64_t weir_distinct(const weir_access *a, int operand, const weir_box *box);
/* Counts the elements of the union of several uses of one array: use k is operand[k] of access[k]
 * over box[k]; operand[k] < 0 is output -1 - operand[k]. */
int64_t weir_distinct_union(const weir_access *const *access, const int *operand,
                            const weir_box *box, int n);
/* The elements that an operand reads along a dimension whose indices are gathered from a constant
 * (weir_node_named): ascending intervals with gaps between them. dim -1: there is no such
 * dimension, or the values do not determine them alone (wrap, replicate, reflect, or the list is
 * read with a zero or value border). */
typedef struct weir_named {
  int dim;
  int64_t n;
  weir_interval *interval; /* [n], owned */
} weir_named;
/* Counts as weir_distinct_union, use k reading the elements named[k] along its gathered dimension.
 */
int64_t weir_distinct_named(const weir_access *const *access, const int *operand,
                            const weir_box *box, const weir_named *named, int n);
/* Counts the iterations of `box` not excluded by ABSENT borders (those of gathered indices are
 * unknown and exclude none here). */
int64_t weir_surviving(const weir_access *a, const weir_box *box);
/* Counts flops: remaining iterations x flops of the body and the monoid; without a body: points x
 * point_flops. */
double weir_flops(const weir_access *a, const weir_box *box);
/* Computes the halo: how far needed(iterations) reaches below and above the owned elements, per
 * array dimension (0 when inside); for WRAP before the index is wrapped, so that a neighbour across
 * the seam counts as near. */
void weir_halo(const weir_access *a, int operand, const weir_box *iterations, const weir_box *owned,
               int64_t *below, int64_t *above);

/* Reference definition for all engines and tests: an array index of one iteration, before the
 * border rule (gathered: the element of the gather operand, or 0) and after it. *inside is false
 * when the load gives its fill or, for ABSENT, the iteration is excluded; the returned index is
 * then 0. */
int64_t weir_index_raw(const weir_index *x, int n_dims, const int64_t *iteration, int64_t gathered);
int64_t weir_index_border(const weir_index *x, int64_t raw, int64_t extent, bool *inside);
/* Returns div, with 0 replaced by 1. */
static inline int64_t weir_index_divisor(const weir_index *x)
{
  return x->div > 1 ? x->div : 1;
}
/* Returns whether both indices are equal for every iteration of n_dims dimensions. */
bool weir_index_same(const weir_index *a, const weir_index *b, int n_dims);
/* Returns the iteration dimension that the index equals, without offset, or -1. */
int weir_index_follows(const weir_index *x, int n_dims);
/* Returns whether some index of the iterations, a non-empty box, leaves the array at one end and
 * wraps to the other, or is reflected. */
bool weir_index_turns(const weir_index *x, int64_t extent, const weir_box *iterations);
/* Returns the change of the index when the iteration moves by step[k] along every dimension k. */
double weir_index_advance(const weir_index *x, int n_dims, const double *step);
/* Computes the minimum and maximum index over a non-empty box, before the border rule; a gathered
 * value takes its whole declared range. Limited to 2^62. */
void weir_index_range(const weir_index *x, const weir_box *box, int64_t *min, int64_t *max);
/* Shrinks *iterations, of dimension k, to those whose index before the border rule may be in [lo,
 * hi) while the other dimensions are anywhere in `box`, which is not empty along them; false when
 * there are none. coef[k] is not 0, the index gathers nothing. */
bool weir_index_solve(const weir_index *x, int k, const weir_box *box, int64_t lo, int64_t hi,
                      weir_interval *iterations);

/* Returns the elements from one index of dimension d to the next in a row-major array. */
int64_t weir_operand_stride(const weir_operand *o, int d);
/* Returns the dimension of the operand that moves with iteration dimension k, -1: none, -2:
 * several. */
int weir_operand_moves(const weir_operand *o, int k);
/* Returns the dimension of the operand that is iteration dimension k (weir_index_follows), or -1.
 */
int weir_operand_follows(const weir_operand *o, const weir_access *a, int k);
/* Returns the iteration dimension that is dimension d of the operand, completely, or -1. */
int weir_operand_dim(const weir_operand *o, const weir_access *a, int d);
/* Returns the dimension of the operand whose slices correspond to slices of iteration dimension k;
 * -1: independent of k, -2: no such dimension. */
int weir_operand_pieces(const weir_operand *o, const weir_access *a, int k);
/* Returns whether each iteration reads (writes) a different element of the operand: array dimension
 * d is iteration dimension order[d], completely, and the other dimensions have one iteration. */
bool weir_operand_is_one_to_one(const weir_operand *o, const weir_access *a, int *order);
/* The same for data with all dimensions of the iterations. */
bool weir_operand_is_permutation(const weir_operand *o, const weir_access *a, int *order);
/* The same in their order: each iteration reads (writes) the element of the same number. */
bool weir_operand_is_identity(const weir_operand *o, const weir_access *a);
/* Returns whether no element of the operand is read by two iterations: adjacent windows, or one
 * element each. Elementwise producers may then be computed where they are read. */
bool weir_operand_reads_once(const weir_operand *o, const weir_access *a);
/* Returns the iteration dimension that is time, or -1. */
int weir_access_time(const weir_access *a);
/* Returns whether the operator is elementwise: no reduction, no state, a body, all dimensions
 * parallel. */
bool weir_access_is_pointwise(const weir_access *a);

/* Rate of an array relative to an iteration dimension: its dimension `dim` (the first that moves,
 * -1: none) moves by up / down elements per iteration. */
typedef struct weir_step_rate {
  int dim;
  int64_t up, down;
} weir_step_rate;
weir_step_rate weir_operand_step_rate(const weir_operand *x, int k);
/* Computes the bounds, both attained, of down * index - up * i over all iterations i of dimension
 * k, the others in `box`, which is not empty along them; before the border rule. Limited to 2^62.
 */
void weir_operand_lag(const weir_operand *x, int k, const weir_box *box, int64_t *min,
                      int64_t *max);
/* Returns the first iteration from 0 on whose index may reach `index`, where `max` is the greatest
 * lag: as weir_index_solve, from a lag computed earlier; with most 0, the number of iterations that
 * `index` elements allow. up > 0, index >= 0; at most WEIR_UNBOUNDED. */
int64_t weir_step_rate_first(const weir_step_rate *rate, int64_t max, int64_t index);

#ifdef __cplusplus
}
#endif
#endif
