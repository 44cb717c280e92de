/* series_cases.h - random valid uses of operators on streams, for the tests that hold for every
 * operator: the file NAME_cases.c in an operator's folder defines weir_series_cases_NAME. Tests
 * only. */
#ifndef SERIES_CASES_H
#define SERIES_CASES_H
#include "stream/weir_series.h"

typedef struct weir_series_cases {
  const weir_series_op *op;
  /* Appends use number `seed` of the operator, on use->in[0], which has a slot a second. */
  weir_series (*draw)(const weir_series_use *use, uint64_t seed);
} weir_series_cases;

/* The cases of all operators, sorted by name, NULL at the end: generated. */
extern const weir_series_cases *const weir_series_cases_table[];
/* Appends use number `seed` of the operator; fails the test, naming the operator, where it has no
 * cases. */
weir_series weir_series_draw(const weir_series_op *op, const weir_series_use *use, uint64_t seed);
/* Appends the operator with these options; fails the test where it refuses them. */
weir_series_result weir_series_step(const weir_series_op *op, const weir_series_use *use,
                                    const void *opts);
#endif
