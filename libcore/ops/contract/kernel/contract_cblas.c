/* contract_cblas.c - plain matrix products (and stacks of them) of real and complex numbers, by
 * OpenBLAS.
 *
 * Pieces are panels of rows or columns of C, fixed by the shape, each on one thread: its sums
 * depend on shape alone. */
#include <cblas.h>

#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "graph/weir_kernel.h"
#include "ops/contract/matrices.h"

typedef struct panels {
  contract_matrices of;
  bool by_rows;
  int64_t rows, n; /* rows or columns of a piece; pieces of one matrix */
} panels;

/* Of the f32 rate of a core, what a library reaches, about, of any dtype. */
static const double share_of_peak = 0.2;

static double match(const weir_graph *g, const weir_group *group)
{
  contract_matrices s;

  if (!contract_matrices_of(g, group, &s)) {
    return -1;
  }
  const double work = contract_matrices_work(&s);

  return work < CONTRACT_MIN_WORK ? -1
                                  : 2 * work * (double)(s.stack > 0 ? s.stack : 1) /
                                        (weir_cpu_get()->constants.flop_rate * share_of_peak);
}

/* Multiplications of a piece, at least: about a tenth of a millisecond. */
static const double piece_work = 1 << 20;
/* Rows of a piece: of complex ones more, for the library repacks the other matrix for each. */
enum { MAX_PANELS = 32, PANEL_UNIT = 16, COMPLEX_UNIT = 64 };

/* Divides C into panels along its longer dimension. */
static void set_panels(panels *p)
{
  const contract_matrices *s = &p->of;
  const double work = contract_matrices_work(s);
  const int64_t extent = s->m >= s->n ? s->m : s->n;
  const int64_t wanted =
      work >= MAX_PANELS * piece_work ? MAX_PANELS : 1 + (int64_t)(work / piece_work);
  const int64_t even = (extent + wanted - 1) / wanted;

  p->by_rows = s->m >= s->n;
  const int64_t unit = weir_dtype_is_complex(s->dtype) ? COMPLEX_UNIT : PANEL_UNIT;
  p->rows = (even + unit - 1) / unit * unit;
  p->n = (extent + p->rows - 1) / p->rows;
}

static int64_t pieces(const void *context, int stage)
{
  const panels *p = context;

  return stage == 0 ? p->n * (p->of.stack > 0 ? p->of.stack : 1) : 0;
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
  WEIR_TRY(weir_alloc(1, sizeof(panels), &memory));
  if (!contract_matrices_of(g, group, &((panels *)memory)->of)) {
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
static void *at(const weir_view *v, const contract_matrices *s, int stack, int64_t item, int d,
                int64_t index)
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
  const panels *p = r->context;
  const contract_matrices *s = &p->of;
  const weir_view *a = &r->views[s->a], *b = &r->views[1 - s->a], *c = &r->views[2];
  const bool a_plain = s->ak > s->am, b_plain = s->bn > s->bk;
  const CBLAS_TRANSPOSE ta = turned(a_plain, s->a_conj), tb = turned(b_plain, s->b_conj);
  const int lda = a_plain ? leading(a->stride[s->am], s->k) : leading(a->stride[s->ak], s->m);
  const int ldb = b_plain ? leading(b->stride[s->bk], s->n) : leading(b->stride[s->bn], s->k);
  const int ldc = leading(c->stride[s->cm], s->n);
  const int64_t item = r->piece / p->n, from = r->piece % p->n * p->rows;
  const int64_t left = (p->by_rows ? s->m : s->n) - from, here = left < p->rows ? left : p->rows;
  const int m = (int)(p->by_rows ? here : s->m), n = (int)(p->by_rows ? s->n : here);
  const int k = (int)s->k;
  const void *pa = at(a, s, s->as, item, s->am, p->by_rows ? from : 0);
  const void *pb = at(b, s, s->bs, item, s->bn, p->by_rows ? 0 : from);
  void *pc = at(c, s, s->cs, item, p->by_rows ? s->cm : s->cn, from);

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
