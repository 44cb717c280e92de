/* elementwise_priv.h - the dtypes that elementwise functions take, for the operator and its random
 * cases. */
#ifndef ELEMENTWISE_PRIV_H
#define ELEMENTWISE_PRIV_H
#include "graph/weir_body.h"

/* Dtypes that a code takes, by letter: n real numbers, f floats, both without bf16 and f16, which
 * are h; b bool; c complex numbers. NULL: no elementwise operator. */
const char *elementwise_classes(weir_code code);

#endif
