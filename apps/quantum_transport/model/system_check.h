/* system_check.h - what an open system must be before it is computed. */
#ifndef QT_SYSTEM_CHECK_H
#define QT_SYSTEM_CHECK_H
#include "model/system.h"

/* Refuses what cannot be right: sizes that do not agree, elements outside the block tridiagonal, a
 * matrix that is not Hermitian (`tolerance` times its largest element), leads that are no
 * continuation of the end blocks' sizes, blocks without coupling to their neighbour, an overlap of
 * the device or of a lead alone, or one that is not positive definite (overlap.h).
 * Names the matrix, the blocks and the element. Fails: WEIR_ERR_DATA, WEIR_ERR_SHAPE,
 * WEIR_ERR_MEMORY. */
weir_status qt_system_check(const qt_system *s, double tolerance) WEIR_CHECKED;

#endif
