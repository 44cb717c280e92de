/* weir_pad.h - padding of an array before and after, by a border rule. Time is not padded: use
 * shift. */
#ifndef WEIR_PAD_H
#define WEIR_PAD_H
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_pad_spec {
  int64_t before[WEIR_MAX_RANK], after[WEIR_MAX_RANK];
  weir_border border; /* 0: zero; value, wrap, replicate, reflect */
  double fill;        /* of value */
} weir_pad_spec;

extern const weir_op_desc weir_op_pad;

/* Adds the operator, for the macros below; `where` is the caller's position. */
weir_value weir_pad_at(weir_graph *g, weir_value x, const weir_pad_spec *spec, const char *where);
#define weir_pad(g, x, spec) weir_pad_at(g, x, spec, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
