/* oracle.h - an access executed as its definition reads: element by element, floats in double, sums
 * in long double, and a mark on every element touched. Shares nothing with the engines but the
 * index functions of weir_access.h. */
#ifndef WEIR_CONFORM_ORACLE_H
#define WEIR_CONFORM_ORACLE_H
#include "graph/weir_graph.h"
#include "tensor/weir_tensor.h"

typedef struct oracle_value {
  double real;      /* float dtypes, and of complex ones the real part */
  int64_t integer;  /* the others, bool 0, 1                           */
  double imaginary; /* complex dtypes                                  */
} oracle_value;

/* A real number and an integer, where one of them is meant. */
static inline oracle_value oracle_number(double real, int64_t integer)
{
  return (oracle_value){.real = real, .integer = integer};
}

/* Contiguous tensors in operand order. Marks: one byte an element, or NULL. scale: per element of
 * output k the sum of what was added up, for comparisons of sums that cancel; or NULL. */
typedef struct oracle_run {
  const weir_access *access;
  weir_box box; /* sequential and reduced dimensions whole */
  const weir_tensor *in;
  weir_tensor *out;
  uint8_t *in_marks[WEIR_MAX_OPERANDS], *out_marks[WEIR_MAX_OUTPUTS];
  double *scale[WEIR_MAX_OUTPUTS];
} oracle_run;

void oracle_evaluate(const oracle_run *run);
/* Marks alone, for any sub-box: every element of every input that surviving iterations read, and of
 * every output that iterations write. */
void oracle_mark(const oracle_run *run);

/* Runs a library or call operator over the whole of its node's iterations, its scratch allocated
 * for the time being. Fails: WEIR_ERR_MEMORY, or as the call. */
weir_status oracle_call(const weir_node *node, const weir_view *in,
                        const weir_view *out) WEIR_CHECKED;

/* Elements that one iteration touches, -1: none (the load gives its fill); false where a border
 * drops the iteration, which then reads nothing. Operands that are no data are left out. */
bool oracle_touched(const oracle_run *run, const int64_t *iteration, int64_t *in, int64_t *out);

/* ---- oracle_value.c ---- */

/* One iteration as expressions see it. */
typedef struct oracle_point {
  const weir_access *access;
  const int64_t *iteration;
  const int64_t *gathered; /* [inputs * 16 + dimension] */
  const oracle_value *loaded, *state;
} oracle_point;

/* Values of all expressions of the body. */
void oracle_body(const oracle_point *p, oracle_value *values);
oracle_value oracle_load(const weir_tensor *t, int64_t at);
void oracle_store(weir_tensor *t, int64_t at, weir_dtype from, oracle_value v);
oracle_value oracle_cast(weir_dtype to, weir_dtype from, oracle_value v);

#endif
