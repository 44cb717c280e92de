/* layout_priv.h - the state of the pass that chooses orders of dimensions. */
#ifndef WEIR_LAYOUT_PRIV_H
#define WEIR_LAYOUT_PRIV_H
#include "pass/layout/layout_solve.h"
#include "pass/layout/weir_layout.h"
#include "pass/weir_pass.h"

#define LAYOUT_MAX_ORDERS 4 /* of one array */
#define LAYOUT_MAX_WAYS 16  /* of one node   */
#define LAYOUT_MAX_OPERANDS (WEIR_MAX_OPERANDS + WEIR_MAX_OUTPUTS)

/* Dimensions in memory, outermost first. */
typedef struct layout_order {
  int at[WEIR_MAX_RANK];
} layout_order;

/* What an array may be: written in one order, copied to others. Bits are orders. */
typedef struct layout_state {
  int primary;
  unsigned have;
} layout_state;

/* An array with its orders; the first is the one that it has. The first state is the graph as it
 * was built: `first` in it, copies where transposes were. */
typedef struct layout_array {
  int n_orders, n_states;
  layout_order order[LAYOUT_MAX_ORDERS];
  layout_state state[LAYOUT_MAX_STATES];
  int first;
  unsigned copies;
  bool local;   /* one group alone touches it                                  */
  bool kept;    /* its own order must be there: results, sources, what has no body */
  bool written; /* in any order: not by the world, nor by what has no body     */
  bool changed; /* accesses to it are others than before                       */
  int32_t variable;
} layout_array;

/* How a node runs: rows along an iteration dimension, or by a kernel that wants one order of each
 * operand. */
typedef struct layout_way {
  int row; /* -1: a kernel */
  double seconds;
  int8_t order[LAYOUT_MAX_OPERANDS];
} layout_way;

typedef struct layout_node {
  int n_ways;
  layout_way way[LAYOUT_MAX_WAYS];
  int8_t take[LAYOUT_MAX_OPERANDS]; /* the order in which it reads each operand */
  int32_t variable;
} layout_node;

typedef struct formatting {
  weir_graph *g;
  const weir_pass_opts *opts;
  const weir_constants *constants; /* of opts */
  int32_t n_arrays, n_nodes;
  layout_array *arrays;
  layout_node *nodes;
  int32_t *group;             /* by node: before this pass, -1: none */
  const weir_kernel **kernel; /* by node: who claimed it then        */
} formatting;

/* Operands of a node in one row: inputs, then outputs. */
static inline const weir_operand *layout_operand(const weir_node *n, int k)
{
  return k < n->n_in ? &n->access.in[k] : &n->access.out[k - n->n_in];
}
static inline int32_t layout_array_of(const weir_node *n, int k)
{
  return k < n->n_in ? n->in[k] : n->out[k - n->n_in];
}
/* As layout_permute_operand counts. */
static inline int layout_number(const weir_node *n, int k)
{
  return k < n->n_in ? k : -1 - (k - n->n_in);
}
static inline bool layout_is_live(const weir_node *n)
{
  return n->op != NULL && !n->dead;
}
/* What kernels are for: a sum over two operands. */
static inline bool layout_is_product(const weir_node *n)
{
  return layout_is_live(n) && n->access.maker == WEIR_MADE_BY_BODY &&
         n->access.combine == WEIR_COMBINE_SUM && n->n_in == 2 && n->n_out == 1;
}

/* ---- layout_graph.c ---- */

/* Returns whether an operand keeps its meaning when its dimensions are permuted. */
bool layout_may_move(const weir_access *a, const weir_operand *x);
/* Returns whether all who touch the array do; whether something other than the graph's nodes reads
 * it. */
bool layout_is_movable(const weir_graph *g, int32_t array);
bool layout_is_seen(const weir_graph *g, int32_t array);
/* Dimension order[k] of an operand (an output: -1 - its number) becomes dimension k. */
void layout_permute_operand(weir_access *a, int operand, const int *order);
void layout_permute_desc(weir_array_desc *d, const int *order);
void layout_invert(const int *order, int rank, int *inverse);

/* ---- layout_copies.c ---- */

/* Copies that only change the order of dimensions go: who reads what they make reads what they
 * read. Orders and the state as built are noted with the arrays. False: there was none. */
bool layout_absorb(formatting *f);
/* The array in another of its orders, by a new copy; *made: the new array. */
weir_status layout_add_copy(formatting *f, int32_t array, const layout_order *order,
                            int32_t *made) WEIR_CHECKED;

/* ---- layout.c ---- */

/* Reads the graph and its groups; g and opts are set. finish frees. Fails: WEIR_ERR_MEMORY. */
weir_status layout_begin(formatting *f) WEIR_CHECKED;
void layout_finish(formatting *f);

/* ---- layout_problem.c ---- */

/* States of arrays and ways of nodes, once orders are known. */
void layout_find_choices(formatting *f);
/* The cheapest states, [n_arrays]; all 0, the graph as built, where they save less than that share
 * of what depends on them. Fails: WEIR_ERR_MEMORY. */
weir_status layout_choose(formatting *f, double min_gain, int32_t *chosen) WEIR_CHECKED;
/* Notes which of the orders that are there every reader takes, in its best way. */
void layout_take_orders(formatting *f, const int32_t *chosen);
/* Returns whether a reader takes that order of the array, or the world does. */
bool layout_is_taken(const formatting *f, int32_t array, int order);
/* Seconds of everything that depends on the choice, without copies that no reader takes. Notes the
 * orders that readers take. */
double layout_total_seconds(formatting *f, const int32_t *chosen);

/* The cheapest way of a node, arrays in the chosen states; -1: it has none. seconds: may be NULL.
 */
int layout_best_way(const formatting *f, int32_t node, const int32_t *chosen, double *seconds);

/* ---- layout_apply.c ---- */

/* Changes the graph: chosen[a] is the state of array a. */
weir_status layout_apply(formatting *f, const int32_t *chosen) WEIR_CHECKED;

/* ---- layout_orders.c ---- */

/* The array dimension that lies innermost and is longer than 1, and the iteration dimension that
 * walks along it; -1. */
int layout_inner(const weir_operand *x, const int *order);
int layout_row(const weir_access *a, const weir_operand *x, const int *order);

/* Index of the order among those of the array, added where it is new; -1: no space. */
int layout_order_add(const formatting *f, int32_t array, const int *order);
/* Orders that rows of nodes without kernel would want, carried on from node to node. False: no
 * array has more than one. */
bool layout_find_orders(formatting *f);

/* ---- layout_cost.c ---- */

/* Fills the ways of a node, those of arrays with more than one order. */
void layout_find_ways(formatting *f, int32_t node);
/* Least seconds of the kernels that match the node with array arrays[i] in its order order[i]; -1:
 * none does. */
double layout_claim_seconds(formatting *f, int32_t node, const int32_t *arrays, const int *order,
                            int n);
/* Seconds that operand k takes in a way when it lies in that order; infinite where the way wants
 * another. */
double layout_seconds(const formatting *f, int32_t node, const layout_way *way, int k, int order);
/* Seconds to write the array once more in another order. */
double layout_copy_seconds(const formatting *f, int32_t array, int from, int to);
/* The order that a reader takes of those that are there. */
int layout_best_order(const formatting *f, int32_t node, const layout_way *way, int k,
                      unsigned have);
#endif
