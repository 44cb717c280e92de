/* rgf_priv.h - one step of the recursion over the blocks of a block-tridiagonal matrix, in either
 * direction: what the recursion over a device (rgf.c) and over its slabs (slabs.h) share. In the
 * formulas of rgf.h, n is the block of the step and m the one after it, n + 1 or n - 1; NO_BLOCK
 * after the last. */
#ifndef QT_RGF_PRIV_H
#define QT_RGF_PRIV_H
#include "model/rgf/coupling.h"
#include "model/rgf/rgf.h"
#include "ops/linear/weir_linear.h"

enum { NO_BLOCK = -1 };

/* Memory of a recursion: each as large as the largest block, stack twice that. */
typedef struct qt_rgf_space {
  weir_c128 *stack, *factors;          /* right sides and matrix of an elimination      */
  weir_c128 *y, *x, *carry;            /* carry: what the next diagonal block loses     */
  weir_c128 *g, *upper, *lower, *last; /* blocks of G^R on the way back; last: G[m,m]   */
  weir_c128 *row;                      /* the product that becomes the corner           */
  qt_coupling up, down;                /* A[n,m], A[m,n]                                */
  weir_c128 *lost, *s, *t, *gl, *z, *p, *v, *l_upper, *l_last; /* of G^<; lost: as carry */
  void *work;
  weir_linear_factor from_g, from_y; /* g_n and y_n after an elimination */
  bool has_carry;                    /* carry and lost are those of a block before */
  int64_t first;                     /* element of the layout that the banks begin with */
  int64_t outside; /* a block whose diagonal block is not in the banks but, of G^R and G^<, in: */
  weir_c128 *outside_g, *outside_lesser; /* NULL: not wanted */
} qt_rgf_space;

/* Lays memory of qt_rgf_scratch(max, lesser) bytes out; no carry, no block outside. */
void qt_rgf_lay_out(int64_t max, bool lesser, void *scratch, qt_rgf_space *s);

static inline weir_linear_factor qt_factor(const weir_c128 *data, int64_t stride)
{
  return (weir_linear_factor){data, stride, false};
}

static inline weir_linear_factor qt_adjoint(const weir_c128 *data, int64_t stride)
{
  return (weir_linear_factor){data, stride, true};
}

/* Returns the rows of a block, 0 of NO_BLOCK. */
static inline int64_t qt_rows_of(const qt_layout *l, int64_t block)
{
  return block >= 0 && block < l->n_blocks ? qt_layout_rows(l, block) : 0;
}

/* Returns the largest real or imaginary part of y [rows, columns]. */
double qt_rgf_largest(int64_t rows, int64_t columns, weir_linear_factor y);
/* Loads s->factors = A[n,n] less the carry; with lesser s->s = Sigma^<[n,n] plus lost. */
void qt_rgf_load(const qt_rgf_job *job, int64_t n, qt_rgf_space *s);
/* Eliminates block n, whose diagonal block s->factors has: y_n, carry, and from_g. That is g_n
 * where right is NULL: if wants_g, and always of the last block; else g_n right, right [n,
 * columns]. Reads A[n,m] and A[m,n]. False where it cannot. */
bool qt_rgf_eliminate(const qt_rgf_job *job, int64_t n, int64_t m, bool wants_g,
                      const weir_c128 *right, int64_t columns, qt_rgf_space *s);
/* Computes, after an elimination with s->s, g<_n in gl, z_n, lost and, where Sigma^< is
 * tridiagonal, p_n. */
void qt_rgf_eliminate_lesser(const qt_rgf_job *job, int64_t n, int64_t m, qt_rgf_space *s);
/* Runs both, with results where go_back reads them; s->x is x_n then. Returns false as above. */
bool qt_rgf_forward(const qt_rgf_job *job, int64_t n, int64_t m, qt_rgf_space *s);
/* Writes G[m,m], in last, and G^<[m,m], in l_last, to the banks. */
void qt_rgf_store_last(const qt_rgf_job *job, int64_t m, qt_rgf_space *s);
/* Computes G[n,m], G[m,n] and G[n,n] from G[m,m], in last, in place of y_n, x_n and g_n, and of G^<
 * likewise; last is G[n,n] then, where that is wanted. */
void qt_rgf_go_back(const qt_rgf_job *job, int64_t n, int64_t m, qt_rgf_space *s);
/* Extends s->row: (-y_0) (-y_1) ... as far as block n, first [rows of block 0] rows; with the last
 * block's g the corner. */
void qt_rgf_extend_row(const qt_layout *l, int64_t n, int64_t m, int64_t first, qt_rgf_space *s,
                       weir_c128 *corner);
/* Extends s->row: ... (-x_1) (-x_0), likewise, of columns columns; starts: x_n is the first factor.
 */
void qt_rgf_extend_column(const qt_layout *l, int64_t n, int64_t m, bool starts, int64_t columns,
                          qt_rgf_space *s);
/* Replaces m by (m - m^H) / 2. */
void qt_make_antihermitian(int64_t n, weir_c128 *m);
/* Adds: to [rows, columns] += from^H, from [columns, rows]. */
void qt_add_adjoint(int64_t rows, int64_t columns, const weir_c128 *from, weir_c128 *to);
/* Reads Sigma^<[row, column]: of blocks below the diagonal minus the adjoint of the one above, by
 * way of memory. */
void qt_sigma_read(const qt_rgf_job *job, int64_t row, int64_t column, weir_c128 *memory,
                   weir_c128 *out);

#endif
