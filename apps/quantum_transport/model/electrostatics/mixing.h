/* mixing.h - fixed points u = g(u) by Anderson's method (J. ACM 12, 547, 1965). */
#ifndef QT_MIXING_H
#define QT_MIXING_H
#include <stdint.h>
#include "base/weir_status.h"

enum { QT_MIXING_MAX = 20 };

/* Owns its arrays (qt_mixing_fini). */
typedef struct qt_mixing {
  int64_t n, depth, count; /* numbers of u, pairs remembered at most and now */
  double damping;          /* share of g(u) - u that is taken               */
  double *u, *residual;    /* [depth + 1, n] the last first                 */
} qt_mixing;
/* Creates a mixing; depth 0: damping alone. Fails: WEIR_ERR_MEMORY. */
weir_status qt_mixing_create(int64_t n, int64_t depth, double damping, qt_mixing *out) WEIR_CHECKED;
void qt_mixing_fini(qt_mixing *m);
/* Replaces u [n] by the next u; g [n] is g(u). */
void qt_mixing_next(qt_mixing *m, const double *g, double *u);

#endif
