/* precision_priv.h - which operators and arrays the pass turns to bf16, and the change itself; and
 * operands of products of f64 that are rounded. */
#ifndef WEIR_PRECISION_PRIV_H
#define WEIR_PRECISION_PRIV_H
#include "pass/weir_pass.h"

/* What the pass finds out before it changes anything. */
typedef struct precision_plan {
  weir_graph *g;
  const weir_pass_opts *opts;
  int32_t n_nodes, n_arrays;
  bool *heavy;   /* [nodes] a kernel multiplies its operands sooner in bf16               */
  bool *claimed; /* [nodes] a kernel takes it as it is                                     */
  bool *rounds;  /* [nodes] a kernel takes it with its result in bf16, too                 */
  bool *widens;  /* [nodes, 2] a kernel takes it with that operand in bf16, too            */
  bool *half;    /* [arrays] of bf16 from now on: who writes it rounds, who reads it widens */
  bool *aside;   /* [arrays] stays; a copy of it in bf16 is made for the heavy readers      */
} precision_plan;

/* The operands of `mask` are of bf16: what the body loads of them is cast to f32. Fails:
 * WEIR_ERR_MEMORY. */
weir_status precision_widen_loads(weir_access *a, uint32_t mask) WEIR_CHECKED;
/* Output operand k is of bf16: its value is rounded. */
void precision_round_output(weir_access *a, int k);
/* Changes the graph as planned. Fails: WEIR_ERR_MEMORY. */
weir_status precision_apply(precision_plan *p) WEIR_CHECKED;

/* ---- Products of f64 and c128 (precision_products.c, precision_scale.c) ---- */

/* Numbers whose sum an operand is rounded to at most, and products of them that are added up. */
enum { PRECISION_PARTS = 2, PRECISION_SUMS = PRECISION_PARTS * (PRECISION_PARTS + 1) / 2 };

/* An array rounded as an operand, by its own scales along the dimensions `kept`. */
typedef struct precision_rounded {
  int32_t array;
  uint32_t kept;
  weir_value part[PRECISION_PARTS]; /* the rounded array, and what rounding drops, rounded */
  weir_value scale;                 /* none where products are unscaled                    */
} precision_rounded;

typedef struct precision_products {
  weir_graph *g;
  int32_t n_nodes;
  weir_dtype format;
  int parts; /* of an operand */
  bool scaled;
  int64_t n_made, capacity;
  precision_rounded *made; /* [n_made] so that an operand of several products is rounded once */
} precision_products;

/* Changes the graph as opts->products asks. Fails: WEIR_ERR_MEMORY. */
weir_status precision_round_products(weir_graph *g, const weir_pass_opts *opts) WEIR_CHECKED;
/* A node that is a product of the operands factor[2]. Fails: likewise. */
weir_status precision_change_product(precision_products *p, int32_t number,
                                     const int factor[2]) WEIR_CHECKED;
#endif
