/* autodiff_priv.h - the adjoint of one input of one node. */
#ifndef WEIR_AUTODIFF_PRIV_H
#define WEIR_AUTODIFF_PRIV_H
#include "graph/weir_graph.h"

/* What is known while going back: the adjoint of each array, and what the loss is derived by. */
typedef struct derive_walk {
  weir_graph *g;
  weir_value *adjoint; /* [arrays], node < 0: none yet */
  bool *wanted;        /* [arrays]: what `wrt` reaches */
  int32_t n_arrays;    /* when the walk began          */
} derive_walk;

/* One node to be derived: arrays of its operands and of the adjoints of its outputs (seeded: which
 * of them there are). */
typedef struct derive_site {
  const weir_access *access;
  int32_t in[WEIR_MAX_OPERANDS], made[WEIR_MAX_OUTPUTS], adjoint[WEIR_MAX_OUTPUTS];
  unsigned seeded;
  const char *where, *name;   /* of the node */
  weir_derivation derivation; /* likewise */
} derive_site;

/* autodiff_maxima.c: maxima over windows are taken before functions that rise, where nothing but
 * them reads what is between; what `wrt` names stays. */
weir_status derive_maxima(weir_graph *g, const weir_value *wrt, int n) WEIR_CHECKED;
/* Argmax that fit a byte once more as bytes, part of the graph that is derived: one is
 * kept until the derivative reads it, not eight. -1, no argmax, becomes 255. byte_of: the array of
 * bytes, or -1. */
weir_status derive_bytes(weir_graph *g) WEIR_CHECKED;
int32_t derive_byte_of(const weir_graph *g, int32_t argmax);

/* autodiff_walk.c: adds to an array's adjoint; a node of an access, whose inputs are those arrays;
 * what input `operand` gets from a node without states. */
void derive_contribute(derive_walk *w, int32_t array, weir_value v);
weir_status derive_add(derive_walk *w, const weir_access *a, const int32_t *array,
                       const char *where, int32_t *node) WEIR_CHECKED;
weir_status derive_input(derive_walk *w, const derive_site *site, int operand) WEIR_CHECKED;
/* autodiff_scan.c: what all inputs get from a node with states. Fails: WEIR_ERR_UNSUPPORTED. */
weir_status derive_scan(derive_walk *w, const derive_site *site) WEIR_CHECKED;

/* An iteration dimension of the node over those of the adjoint: (coef . i + offset) / den, a whole
 * number wherever the iteration counts; or its floor, where another dimension is what is left. */
typedef struct derive_form {
  int64_t coef[WEIR_MAX_DIMS], offset, den;
} derive_form;

/* The adjoint's access in the making. Operands of `to`: the node's inputs, then extra ones that lie
 * where output out[k] does. */
typedef struct derive_adjoint {
  const weir_access *from;
  int operand;     /* of `from`: the input whose adjoint it is                        */
  unsigned mirror; /* REFLECT: array dimensions whose reflected elements it looks at  */
  unsigned seeded; /* outputs whose adjoints are read                                 */
  weir_access *to;
  derive_form dim[WEIR_MAX_DIMS];
  int left_by[WEIR_MAX_DIMS]; /* dimension of the node to be added: what dividing for it leaves, -1
                               */
  int solver[WEIR_MAX_RANK];  /* dimension that array dimension d is solved for, -1: a condition */
  derive_form raw[WEIR_MAX_RANK];  /* its index before the border rule                        */
  derive_form rest[WEIR_MAX_RANK]; /* the remainder of its division                          */
  int shift[WEIR_MAX_RANK]; /* dimension of `to`: how far beyond the edge, or -1: REPLICATE  */
  int32_t condition;        /* expression of `to`, -1: none                            */
  const int *saved;         /* operand of `to` that holds each state, NULL: there are none */
  bool overflow;
} derive_adjoint;

/* autodiff_solve.c: dimensions, forms and operands; *nothing: no iteration reads the input. Fails:
 * WEIR_ERR_UNSUPPORTED. */
weir_status derive_solve(derive_adjoint *d, bool *nothing) WEIR_CHECKED;
/* Appends an operand of `to` where output `output` of the node lies; its number, or -1. */
int derive_aux(derive_adjoint *d, int output, weir_dtype dtype);
/* The iteration counts only where the expression, a bool of `to`, holds. */
void derive_demand(derive_adjoint *d, int32_t condition);
/* Numerator of a form, as an expression of `to`. */
int32_t derive_put_form(derive_adjoint *d, const derive_form *f);
/* The index of an operand before its division and border rule, over the dimensions of `to`. */
bool derive_substitute(derive_adjoint *d, const weir_index *x, derive_form *out);

/* autodiff_body.c: iteration dimension `dim` of the node as an expression of `to`. */
int32_t derive_put_index(derive_adjoint *d, int dim);
/* The body of `to`. seed[e]: adjoint of expression e of the node, or -1; expr[e]
 * receives its number in `to`. Returns the derivative by the operand, -1: 0 everywhere. */
weir_status derive_forward(derive_adjoint *d, int32_t *expr) WEIR_CHECKED;
int32_t derive_backward(derive_adjoint *d, const int32_t *expr, int32_t *seed);

/* autodiff_seed.c: the operands in addition to the outputs of the node: operands of `to` and their
 * arrays. */
typedef struct derive_aux_arrays {
  const int32_t *made, *adjoint; /* [n_out]: arrays of the outputs and of their adjoints */
  int32_t best;                  /* array of the positions that the results come from, or -1 */
  weir_dtype argmax_dtype;       /* of that array: u8 where the positions fit              */
  int32_t zeros, others;         /* PROD: arrays of the numbers of zeros, products of the rest */
  int32_t *array;                /* [WEIR_MAX_OPERANDS] of the operands of `to`          */
} derive_aux_arrays;
/* Turns a copy of the node's access into that of the positions that its results come from (output
 * *output); *asks is false where the rule of its monoid does not ask for them. Fails:
 * WEIR_ERR_MEMORY. */
weir_status derive_find_best(weir_access *a, bool *asks, int *output) WEIR_CHECKED;
/* Number of positions that a result of the access may come from, INT64_MAX: more than fit. */
int64_t derive_positions(const weir_access *a);
/* Likewise for PROD: the number of zeros among the values, or the product of the others. */
bool derive_find_product(weir_access *a, bool zeros);
/* Where the derivative of the node's function is one of its result, exp and tanh, the result is
 * read instead of computed again: what it was computed from need not be kept. */
void derive_read_result(derive_adjoint *d, const derive_aux_arrays *aux, int32_t *expr);
/* Adjoints of the outputs become those of the values that the monoid merges: seed[], as above.
 * expr: of derive_forward. Fails: WEIR_ERR_UNSUPPORTED. */
weir_status derive_seed(derive_adjoint *d, const derive_aux_arrays *aux, const int32_t *expr,
                        int32_t *seed) WEIR_CHECKED;

/* ---- autodiff_saved.c ---- */

/* An array that is made before the last weir_gradients of the graph and read by what that added:
 * memory that lives from the one to the other. maker: node, the first where there are several. */
typedef struct derive_saved {
  int32_t array, maker;
  int64_t bytes;
} derive_saved;

/* Those of the graph that no group keeps to itself, the largest first; the caller frees *list.
 * Fails: WEIR_ERR_MEMORY. */
weir_status derive_find_saved(const weir_graph *g, derive_saved **list, int32_t *n) WEIR_CHECKED;

#endif
