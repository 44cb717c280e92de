/* contract_cblas.c - plain matrix products (and stacks of them) of real and complex numbers, by
 * OpenBLAS.
 *
 * The access alone is asked, so that the derivatives of a contraction are products too. A sum of
 * products of two operands is one when one label each is shared by A and C (m), B and C
 * (n), A and B (k), at most one stands in all three (the stack), and the last dimension of every
 * array is not the stack's. Pieces are panels of rows or columns
 * of C, fixed by the shape, each on one thread: its sums depend on shape alone. */
#include <cblas.h>

#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "graph/weir_kernel.h"
#include "ops/contract/product.h"
#include "ops/contract/weir_contract.h"

/* Dimension of each array that each label is, or -1. Row-major C: its last dimension is n. */
typedef struct shape {
  weir_dtype dtype;
  int64_t m, n, k, stack;
  int a; /* operand that is A; the other is B */
  int am, ak, as, bk, bn, bs, cm, cs, cn;
  bool a_conj, b_conj;
  bool by_rows;
  int64_t panel, panels; /* rows or columns of a piece; pieces of one matrix */
} shape;

/* Every index is one label that stays in the array: no diagonal, no shift, no border. */
static bool is_plain(const weir_access *a, const weir_operand *o)
{
  bool plain = true;
  int used = 0;

  for (int d = 0; d < o->rank && plain; d++) {
    const int k = weir_index_follows(&o->index[d], a->n_dims);

    plain = k >= 0 && (used >> k & 1) == 0 && a->dim[k].hi <= o->extent[d];
    used |= plain ? 1 << k : 0;
  }
  return plain;
}

/* Puts iteration dimension `label` where it belongs; false when the product has one already. */
static bool sort_label(const weir_access *a, int label, shape *s)
{
  const int in_a = weir_operand_follows(&a->in[s->a], a, label),
            in_b = weir_operand_follows(&a->in[1 - s->a], a, label);
  const int in_c = weir_operand_follows(&a->out[0], a, label);
  const int64_t extent = a->dim[label].hi;
  const bool first = in_a >= 0, second = in_b >= 0, third = in_c >= 0;
  int64_t *field = first && third    ? (second ? &s->stack : &s->m)
                   : second && third ? &s->n
                   : first && second ? &s->k
                                     : NULL;

  if (field == NULL || *field >= 0 || extent < 1 || extent > INT32_MAX || a->dim[label].time) {
    return false;
  }
  *field = extent;
  if (field == &s->stack) {
    s->as = in_a;
    s->bs = in_b;
    s->cs = in_c;
  } else if (field == &s->m) {
    s->am = in_a;
    s->cm = in_c;
  } else if (field == &s->n) {
    s->bn = in_b;
    s->cn = in_c;
  } else {
    s->ak = in_a;
    s->bk = in_b;
  }
  return true;
}

static bool shape_as(const weir_access *a, int first, shape *s)
{
  *s = (shape){.dtype = a->out[0].dtype, .m = -1, .n = -1, .k = -1, .stack = -1, .a = first};
  for (int k = 0; k < a->n_dims; k++) {
    if (!sort_label(a, k, s)) {
      return false;
    }
  }
  const bool stacked = s->stack >= 0;
  const int last = 1 + stacked; /* of three or two dimensions */

  return s->m > 0 && s->n > 0 && s->k > 0 && s->cn == last && (!stacked || s->as != last) &&
         (!stacked || s->bs != last);
}

/* Every dimension counts from 0; those that the output lacks are the summed ones. */
static bool is_whole(const weir_access *a)
{
  bool whole = true;

  for (int k = 0; k < a->n_dims; k++) {
    const bool kept = weir_operand_follows(&a->out[0], a, k) >= 0;

    whole = whole && a->dim[k].lo == 0 && a->dim[k].kind == (kept ? WEIR_PARALLEL : WEIR_REDUCED);
  }
  return whole;
}

/* The library counts the elements from one row to the next in 32 bits. */
static bool has_short_rows(const weir_operand *o)
{
  int64_t stride = 1;

  for (int d = o->rank - 1; d > 0; d--) {
    if (!weir_mul_ok(stride, o->extent[d], &stride) || stride > INT32_MAX) {
      return false;
    }
  }
  return true;
}

static bool find_shape(const weir_graph *g, const weir_group *group, shape *s)
{
  const weir_node *node = weir_graph_node(g, group->nodes[group->n_nodes - 1]);
  const weir_access *a = &node->access;
  const weir_dtype dtype = a->out[0].dtype;
  bool conj[2] = {false, false};
  bool right = group->n_nodes == 1 && contract_is_product(a, conj) && is_whole(a) &&
               !weir_dtype_is_whole(dtype);

  right = right && is_plain(a, &a->in[0]) && is_plain(a, &a->in[1]) && is_plain(a, &a->out[0]);
  right =
      right && has_short_rows(&a->in[0]) && has_short_rows(&a->in[1]) && has_short_rows(&a->out[0]);
  if (!right || !(shape_as(a, 0, s) || shape_as(a, 1, s))) {
    return false;
  }
  s->a_conj = conj[s->a];
  s->b_conj = conj[1 - s->a];
  return true;
}

/* Multiplications of real numbers in one matrix product. */
static double work_of(const shape *s)
{
  const double each = weir_dtype_is_complex(s->dtype) ? 4 : 1;

  return each * (double)s->m * (double)s->n * (double)s->k;
}

/* Below this many multiplications the call costs more than the loop. */
static const double min_work = 4096;
/* Of the f32 rate of a core, what a library reaches, about, of any dtype. */
static const double share_of_peak = 0.2;

static double match(const weir_graph *g, const weir_group *group)
{
  shape s;

  if (!find_shape(g, group, &s)) {
    return -1;
  }
  const double work = work_of(&s);

  return work < min_work ? -1
                         : 2 * work * (double)(s.stack > 0 ? s.stack : 1) /
                               (weir_cpu_get()->constants.flop_rate * share_of_peak);
}

/* Multiplications of a piece, at least: about a tenth of a millisecond. */
static const double piece_work = 1 << 20;
/* Rows of a piece: of complex ones more, for the library repacks the other matrix for each. */
enum { MAX_PANELS = 32, PANEL_UNIT = 16, COMPLEX_UNIT = 64 };

/* Divides C into panels along its longer dimension. */
static void set_panels(shape *s)
{
  const double work = work_of(s);
  const int64_t extent = s->m >= s->n ? s->m : s->n;
  const int64_t wanted =
      work >= MAX_PANELS * piece_work ? MAX_PANELS : 1 + (int64_t)(work / piece_work);
  const int64_t even = (extent + wanted - 1) / wanted;

  s->by_rows = s->m >= s->n;
  const int64_t unit = weir_dtype_is_complex(s->dtype) ? COMPLEX_UNIT : PANEL_UNIT;
  s->panel = (even + unit - 1) / unit * unit;
  s->panels = (extent + s->panel - 1) / s->panel;
}

static int64_t pieces(const void *context, int stage)
{
  const shape *s = context;

  return stage == 0 ? s->panels * (s->stack > 0 ? s->stack : 1) : 0;
}

static int arrays(const weir_graph *g, const weir_group *group, int32_t *list, int n)
{
  const weir_node *node = weir_graph_node(g, group->nodes[group->n_nodes - 1]);

  WEIR_ASSERT(n >= 3);
  list[0] = node->in[0];
  list[1] = node->in[1];
  list[2] = node->out[0];
  return 3;
}

static weir_status prepare(const weir_graph *g, const weir_group *group, void **context)
{
  void *memory;

  *context = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(shape), &memory));
  if (!find_shape(g, group, memory)) {
    weir_free(&memory);
    return weir_fail(WEIR_ERR_SHAPE, "contract_cblas: the group is not a matrix product");
  }
  set_panels(memory);
  openblas_set_num_threads(1);
  *context = memory;
  return WEIR_OK;
}

static void release(void *context)
{
  weir_free(&context);
}

/* Leading dimension: stride of the other dimension, at least the row's length. */
static int leading(int64_t stride, int64_t row)
{
  return (int)(stride > row ? stride : row);
}

/* Element `index` of dimension d, and of the stack where there is one. */
static void *at(const weir_view *v, const shape *s, int stack, int64_t item, int d, int64_t index)
{
  const int64_t apart = s->stack > 0 ? item * v->stride[stack] : 0;

  return (char *)v->data + (apart + index * v->stride[d]) * (int64_t)weir_dtype_size(s->dtype);
}

static CBLAS_TRANSPOSE turned(bool plain, bool conj)
{
  return plain ? (conj ? CblasConjNoTrans : CblasNoTrans) : conj ? CblasConjTrans : CblasTrans;
}

static void run(const weir_kernel_run *r)
{
  const shape *s = r->context;
  const weir_view *a = &r->views[s->a], *b = &r->views[1 - s->a], *c = &r->views[2];
  const bool a_plain = s->ak > s->am, b_plain = s->bn > s->bk;
  const CBLAS_TRANSPOSE ta = turned(a_plain, s->a_conj), tb = turned(b_plain, s->b_conj);
  const int lda = a_plain ? leading(a->stride[s->am], s->k) : leading(a->stride[s->ak], s->m);
  const int ldb = b_plain ? leading(b->stride[s->bk], s->n) : leading(b->stride[s->bn], s->k);
  const int ldc = leading(c->stride[s->cm], s->n);
  const int64_t item = r->piece / s->panels, from = r->piece % s->panels * s->panel;
  const int64_t left = (s->by_rows ? s->m : s->n) - from, here = left < s->panel ? left : s->panel;
  const int m = (int)(s->by_rows ? here : s->m), n = (int)(s->by_rows ? s->n : here);
  const int k = (int)s->k;
  const void *pa = at(a, s, s->as, item, s->am, s->by_rows ? from : 0);
  const void *pb = at(b, s, s->bs, item, s->bn, s->by_rows ? 0 : from);
  void *pc = at(c, s, s->cs, item, s->by_rows ? s->cm : s->cn, from);

  if (s->dtype == WEIR_F32) {
    cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1, pa, lda, pb, ldb, 0, pc, ldc);
  } else if (s->dtype == WEIR_F64) {
    cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1, pa, lda, pb, ldb, 0, pc, ldc);
  } else if (s->dtype == WEIR_C64) {
    const weir_c64 one = {1, 0}, none = {0, 0};

    cblas_cgemm(CblasRowMajor, ta, tb, m, n, k, &one, pa, lda, pb, ldb, &none, pc, ldc);
  } else {
    const weir_c128 one = {1, 0}, none = {0, 0};

    cblas_zgemm(CblasRowMajor, ta, tb, m, n, k, &one, pa, lda, pb, ldb, &none, pc, ldc);
  }
}

const weir_kernel weir_kernel_contract_cblas = {
    .name = "contract.cblas",
    .device = "cpu",
    .match = match,
    .arrays = arrays,
    .prepare = prepare,
    .release = release,
    .pieces = pieces,
    .run = run,
};
