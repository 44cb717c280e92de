/* ops_cases.h - random valid cases of operators, for the conformance suite and other tests: the
 * file NAME_cases.c in an operator's folder defines weir_op_cases_NAME. Tests only. */
#ifndef OPS_CASES_H
#define OPS_CASES_H
#include "graph/weir_op.h"
#include "ops/weir_combine.h"

typedef struct weir_op_case {
  int n_in;
  weir_array_desc in[WEIR_MAX_OPERANDS];
  double lo[WEIR_MAX_OPERANDS],
      hi[WEIR_MAX_OPERANDS]; /* range of the random values of each input */
  union {
    long double align;
    unsigned char bytes[4096];
  } spec;
  bool exact; /* all engines equal the reference to the bit, float included */
} weir_op_case;

typedef struct weir_op_cases {
  const weir_op_desc *op;
  /* Case number `seed` into the empty `out`: small extents, every dtype the operator takes, extents
   * 0 and 1 included. */
  void (*draw)(uint64_t seed, weir_op_case *out);
} weir_op_cases;

/* The cases of all operators, sorted by name, NULL at the end: generated. */
extern const weir_op_cases *const weir_op_cases_table[];
/* Draws case number `seed` of the operator; fails the test, naming the operator, where it has no
 * cases. */
void weir_op_draw(const weir_op_desc *op, uint64_t seed, weir_op_case *out);

/* ---- What cases are drawn with ---- */

typedef struct weir_draw {
  uint64_t seed, n;
} weir_draw;

/* Uniform in [lo, hi]. */
int64_t weir_draw_int(weir_draw *w, int64_t lo, int64_t hi);
/* True once in n times. */
bool weir_draw_one_in(weir_draw *w, int64_t n);
/* Rank in [lo, hi]; extents small, 0, 1 and odd ones included, at most about 4000 elements. */
weir_array_desc weir_draw_array(weir_draw *w, weir_dtype dtype, int lo, int hi);
/* A dtype of the classes named: f floats, n all numbers, both without bf16 and f16, which are h; b
 * bool; c complex numbers ("nbhc": any). */
weir_dtype weir_draw_dtype(weir_draw *w, const char *classes);
/* A random monoid, and a dtype and accumulator that it takes. */
weir_monoid weir_draw_monoid(weir_draw *w, weir_dtype *dtype, int *accumulator);

/* Appends an input that is `d`, with values of [lo, hi]. */
void weir_case_input(weir_op_case *c, const weir_array_desc *d, double lo, double hi);
/* Copies a spec into the case. */
void weir_case_spec(weir_op_case *c, const void *spec, size_t size);
/* Appends the inputs of a reduction: values shaped as `x`, whose products stay small, now and then
 * a presence where the monoid reads one; and sets `exact`. */
void weir_draw_combined(weir_draw *w, weir_op_case *c, weir_monoid m, const weir_array_desc *x);
/* Appends square matrices, [batch..., n, n], of a float or complex dtype; extents of the batch up
 * to `max`. */
void weir_draw_matrices(weir_draw *w, weir_op_case *c, int64_t max);
#endif
