/* fission_priv.h - a sum of products as a tree of smaller ones: shared by the files of the pass. */
#ifndef FISSION_PRIV_H
#define FISSION_PRIV_H
#include "pass/weir_pass.h"

/* Factors of one product, at most: the orders of all subsets are compared. */
enum { FISSION_FACTORS = 8, FISSION_SETS = 1 << FISSION_FACTORS };

/* A set of factors, iteration dimensions or operands: bit i is number i. */
typedef uint32_t fission_set;

/* One factor of the product: an expression that is no product itself. */
typedef struct fission_factor {
  int32_t expr;
  fission_set operands; /* that it loads, and those that their indices are gathered from */
  fission_set loads;    /* that it loads                                              */
  fission_set dims;     /* iteration dimensions that it depends on                   */
  double flops;         /* of one evaluation                                          */
} fission_factor;

/* One dimension of an intermediate array: a dimension of the iterations, or the value of a linear
 * form of several, such as E - w, which the result does not distinguish. */
typedef struct fission_axis {
  fission_set dims;
  bool is_form;
  int64_t coef[WEIR_MAX_DIMS]; /* of the form, by iteration dimension         */
  int64_t lo, hi;              /* values that are made                        */
  weir_border border;          /* of who reads it: NEVER, ABSENT or WRAP      */
} fission_axis;

/* The partial product of a set of factors. */
typedef struct fission_partial {
  bool possible; /* as a separate array */
  int n_axes;
  fission_axis axis[WEIR_MAX_DIMS];
  fission_set summed; /* reduced dimensions that the array lacks */
  fission_set masks;  /* operands with an ABSENT border that drops iterations of who reads it */
  double cost;        /* of making it, with all its operands */
  fission_set left; /* is the product of this set and the rest; 0: of all its factors in one loop */
  bool inlined[2];  /* left, rest: a single factor that is read where it is used */
} fission_partial;

typedef struct fission_plan {
  const weir_access *a;
  weir_fission mode;
  int n_factors;
  fission_factor factor[FISSION_FACTORS];
  int n_products; /* of the body, as written; the last one is the whole */
  fission_set product[FISSION_FACTORS], product_left[FISSION_FACTORS];
  fission_partial *partial; /* [FISSION_SETS] */
} fission_plan;

/* Factors and products of the body. False: the access is no sum of products that can be split. */
bool fission_read_factors(fission_plan *p);
/* A node that sums over the sum or difference of two terms becomes one node for each and one that
 * adds them up; *taken: it did. */
weir_status fission_take_terms(weir_graph *g, int32_t node, bool *taken) WEIR_CHECKED;
/* Fills axes, summed dimensions and masks of the partial product of a set. */
void fission_find_axes(const fission_plan *p, fission_set set, fission_partial *partial);
/* Fills every partial product that may be made; true when splitting the whole pays. */
bool fission_choose(fission_plan *p);
/* Replaces the node by the chosen tree. */
weir_status fission_build(weir_graph *g, int32_t node, const fission_plan *p) WEIR_CHECKED;

/* Flops of a product, and of adding it to a sum. */
double fission_product_flops(const fission_plan *p);
double fission_sum_flops(const fission_plan *p);
/* Iterations along a dimension. */
int64_t fission_extent(const fission_plan *p, int dim);

#endif
