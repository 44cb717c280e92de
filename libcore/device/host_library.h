/* host_library.h - calls of weir_library.h by loops of the host, with sums in double precision. */
#ifndef HOST_LIBRARY_H
#define HOST_LIBRARY_H
#include "device/weir_library.h"

/* Computes the whole result in host memory. Fails: WEIR_ERR_MEMORY. */
weir_status host_library_run(const weir_library_spec *spec,
                             void *const operand[WEIR_LIBRARY_OPERANDS]) WEIR_CHECKED;
/* Likewise, of transforms alone (host_transform.c). */
weir_status host_transform_run(const weir_library_transform *t, void *const operand[]) WEIR_CHECKED;
weir_c128 host_transform_element(const weir_library_transform *t, const void *const operand[],
                                 int64_t e, double *size);
/* Returns element e of the result, in memory order, and in *size the sum of the magnitudes of what
 * is added up. */
weir_c128 host_library_element(const weir_library_spec *spec,
                               const void *const operand[WEIR_LIBRARY_OPERANDS], int64_t e,
                               double *size);
#endif
