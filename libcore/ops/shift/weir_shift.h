/* weir_shift.h - out[.., t, ..] = in[.., t - by, ..]; elements
 * from outside follow a border rule. Shape, dtype and time are kept. by > 0 looks back, by < 0
 * ahead. */
#ifndef WEIR_SHIFT_H
#define WEIR_SHIFT_H
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_shift_spec {
  int dim;
  int64_t by;
  weir_border border; /* 0: zero. Time: zero, value or replicate */
  double fill;
} weir_shift_spec;

extern const weir_op_desc weir_op_shift;

/* Adds the operator, for the macros below; `where` is the caller's position. */
weir_value weir_shift_at(weir_graph *g, weir_value x, const weir_shift_spec *spec,
                         const char *where);
/* With a spec; and the short form, which shifts in zeros. */
#define weir_shift_with(g, x, spec) weir_shift_at(g, x, spec, WEIR_WHERE)
#define weir_shift(g, x, d, n) \
  weir_shift_at(g, x, &(weir_shift_spec){.dim = (d), .by = (n)}, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
