/* reference_priv.h - the oracle's view of one iteration. */
#ifndef WEIR_REFERENCE_PRIV_H
#define WEIR_REFERENCE_PRIV_H
#include "exec/exec_priv.h"

typedef struct reference_point {
  const weir_access *access;
  const weir_view *in;
  const int64_t *iteration;
  const exec_scalar *loaded; /* per operand */
  const exec_scalar *state;  /* per state   */
} reference_point;

/* Values of all expressions into v[body.n]. */
void reference_body(const reference_point *p, exec_scalar *v);
/* Cast between any two dtypes. */
exec_scalar reference_cast(weir_dtype to, weir_dtype from, exec_scalar x);

/* Partial result of a monoid, plainly accumulated in long double. */
typedef struct reference_partial {
  long double x, y, z; /* complex: x + i y */
  int64_t integer, at, count;
} reference_partial;

void reference_neutral(const weir_access *a, reference_partial *p);
/* Takes the values of one iteration at row-major position `at`. */
void reference_take(const weir_access *a, reference_partial *p, const exec_scalar *v, int64_t at);
/* Value `k` of the result and its dtype. */
exec_scalar reference_result(const weir_access *a, const reference_partial *p, int k,
                             weir_dtype *dtype);
#endif
