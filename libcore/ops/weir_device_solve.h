/* weir_device_solve.h - solution of stacks of systems by a generated kernel, a thread block for
 * each system, on devices other than the CPU; for kernels of library operators with inputs a
 * [batch.., n, n] and, unless it is the identity, b [batch.., n, k], and output x [batch.., n, k].
 */
#ifndef WEIR_DEVICE_SOLVE_H
#define WEIR_DEVICE_SOLVE_H
#include "graph/weir_kernel.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Maximum number of rows: larger systems are the host's. */
enum { WEIR_DEVICE_SOLVE_ROWS = 256 };

/* The matrix that is meant. */
typedef struct weir_device_systems {
  bool transposed, conjugated;
} weir_device_systems;

/* Implement the functions of weir_kernel of these names. */
double weir_device_solve_match(const weir_graph *g, const weir_group *group,
                               const weir_op_desc *op);
weir_status weir_device_solve_open(const weir_graph *g, const weir_group *group,
                                   const weir_device_systems *how, const weir_kernel_maker *maker,
                                   void **context, int64_t *workspace) WEIR_CHECKED;
void weir_device_solve_release(void *context);
weir_status weir_device_solve_launch(const weir_kernel_launch *l) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
