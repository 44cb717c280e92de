/* rgf.h - recursive Green's functions of a block-tridiagonal matrix A = E S - H - Sigma^R: selected
 * blocks of G^R = A^-1 and of G^< = G^R Sigma^< G^A, Sigma^< of diagonal blocks and, for phonons,
 * off-diagonal blocks (Svizhenko et al., J. Appl. Phys. 91, 2343 (2002); with off-diagonal blocks
 * Ziogas et al., SC 19, doi 10.1145/3295500.3357156). Nothing is assumed of A: A_{m,n} is
 * not the adjoint of A_{n,m}, blocks may differ in size.
 *
 * With A[n,m], m = n + 1, from the left: g_n = (A[n,n] - A[n,n-1] y_{n-1})^-1, y_n = g_n A[n,m],
 * x_n = A[m,n] g_n; then from the right
 *   G[n,m] = -y_n G[m,m], G[m,n] = -G[m,m] x_n, G[n,n] = g_n - G[n,m] x_n.
 * Of G^<, with p_n = g_n Sigma^<[n,m], from the left
 *   g<_n = g_n (Sigma^<[n,n] + z_{n-1} A[n,n-1]^H - A[n,n-1] p_{n-1}) g_n^H, z_n = A[m,n] g<_n +
 * p_n^H, and from the right, v = G[m,m] z_n, G<[n,m] = v^H - y_n G<[m,m], G<[n,n] = g<_n - G<[n,m]
 * y_n^H + y_n v, G<[m,n] = -G<[n,m]^H. Diagonal blocks of G^< are made exactly anti-Hermitian. G^>
 * = G^< + G^R - G^A.
 *
 * The operator rgf is this for graphs, batches of (k, energy) in parallel. */
#ifndef QT_RGF_H
#define QT_RGF_H
#include <stdbool.h>
#include "model/rgf/layout.h"
#include "ops/weir_builder.h"

/* ---- One matrix ---- */

/* An array of qt_layout.count numbers, borrowed: number i lies at data[i * step]. */
typedef struct qt_bank {
  weir_c128 *data;
  int64_t step;
} qt_bank;

typedef struct qt_rgf_job {
  const qt_layout *layout;
  qt_blocks a;
  qt_blocks sigma;  /* Sigma^<; read NULL: G^R alone */
  bool tridiagonal; /* Sigma^< has blocks (n, n + 1), too; (n + 1, n) is minus their adjoint and not
                       read */
  qt_bank g, lesser, greater; /* results; greater.data NULL: not wanted */
  weir_c128
      *corner; /* [rows of the first block, of the last]: G^R between them; NULL: not wanted */
} qt_rgf_job;
/* Returns the bytes of scratch. */
int64_t qt_rgf_scratch(int64_t max_rows, bool lesser);
/* Runs the recursion; returns false where a block met in it is singular, so nearly that no digits
 * are left, or not finite: results are then NaN. */
bool qt_rgf_solve(const qt_rgf_job *job, void *scratch);
/* Computes the corner alone, without memory for the blocks between. */
bool qt_rgf_corner(const qt_layout *l, const qt_blocks *a, weir_c128 *corner, void *scratch);
/* Returns the flops of either, all blocks taken as full. */
double qt_rgf_flops(const qt_layout *l, bool lesser, bool tridiagonal);
double qt_rgf_corner_flops(const qt_layout *l);

/* Returns Tr[Gamma_L G Gamma_R G^H] of G [m, n], Gamma_L [m, m] and Gamma_R [n, n]; memory: [2 m
 * n]. */
double qt_rgf_trace(int64_t m, int64_t n, const weir_c128 *gamma_l, const weir_c128 *g,
                    const weir_c128 *gamma_r, weir_c128 *memory);

/* ---- Operator of graphs; arrays are c128, batch dimensions first, repeated by numpy's rule ----
 */

typedef struct qt_rgf_spec {
  const qt_layout *layout; /* outlives the graph */
  int32_t tridiagonal;     /* the second input has all blocks, not the diagonal ones alone */
  int32_t greater;         /* 1: the third result */
} qt_rgf_spec;
extern const weir_op_desc qt_op_rgf;
/* a [batch..., layout->count] and Sigma^< [batch..., layout->diagonal_count], or layout->count
 * where tridiagonal, or WEIR_NO_VALUE. Results, by number of the node's output: G^R, G^<, G^>, each
 * [batch..., layout->count]. */
weir_value qt_rgf_at(weir_graph *g, weir_value a, weir_value sigma, const qt_rgf_spec *spec,
                     const char *where);
#define qt_rgf(g, a, sigma, spec) qt_rgf_at(g, a, sigma, spec, WEIR_WHERE)

#endif
