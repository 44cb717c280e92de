/* blocks.c - see blocks.h. A library copies the rows of A and the columns of B that a block needs
 * into an order of its own, so that a block that is nearly square copies least. */
#include "ops/contract/blocks.h"

#include "base/weir_alloc.h"
#include "device/weir_parallel.h"

/* Multiplications of a block, about, and at least half of that: some hundredths of a millisecond.
 */
static const double block_work = 1 << 22;
/* Blocks of all matrices, about; rows and columns of a block are multiples, of complex ones of
 * more. */
enum { MAX_BLOCKS = 32, UNIT = 16, COMPLEX_UNIT = 64 };

static int64_t stack_of(const contract_matrices *s)
{
  return s->stack > 0 ? s->stack : 1;
}

double contract_blocks_seconds(const contract_matrices *s, double share_of_peak)
{
  return 2 * contract_matrices_work(s) * (double)stack_of(s) /
         (weir_cpu_get()->constants.flop_rate * share_of_peak);
}

static int64_t part_of(int64_t extent, int64_t parts, int64_t unit)
{
  return ((extent + parts - 1) / parts + unit - 1) / unit * unit;
}

/* Halves the longer side of a block until there are enough of them. */
static void divide(contract_blocks *b)
{
  const contract_matrices *s = &b->of;
  const int64_t unit = weir_dtype_is_complex(s->dtype) ? COMPLEX_UNIT : UNIT;
  const double all = contract_matrices_work(s) * (double)stack_of(s) / block_work;
  const int64_t wanted = all >= MAX_BLOCKS ? MAX_BLOCKS : (int64_t)all;
  int64_t down = 1, across = 1;

  b->rows = part_of(s->m, 1, unit);
  b->columns = part_of(s->n, 1, unit);
  while (down * across * stack_of(s) < wanted && (b->rows > unit || b->columns > unit)) {
    if (b->rows >= b->columns) {
      down *= 2;
    } else {
      across *= 2;
    }
    b->rows = part_of(s->m, down, unit);
    b->columns = part_of(s->n, across, unit);
  }
  b->down = (s->m + b->rows - 1) / b->rows;
  b->across = (s->n + b->columns - 1) / b->columns;
}

int contract_blocks_arrays(const weir_graph *g, const weir_group *group, int32_t *list, int n)
{
  const weir_node *node = weir_graph_node(g, group->nodes[group->n_nodes - 1]);

  WEIR_ASSERT(n >= 3);
  list[0] = node->in[0];
  list[1] = node->in[1];
  list[2] = node->out[0];
  return 3;
}

weir_status contract_blocks_prepare(const weir_graph *g, const weir_group *group, void **context)
{
  void *memory;

  *context = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(contract_blocks), &memory));
  if (!contract_matrices_of(g, group, &((contract_blocks *)memory)->of)) {
    weir_free(&memory);
    return weir_fail(WEIR_ERR_SHAPE, "contract: the group is not a matrix product");
  }
  divide(memory);
  *context = memory;
  return WEIR_OK;
}

void contract_blocks_release(void *context)
{
  weir_free(&context);
}

int64_t contract_blocks_pieces(const void *context, int stage)
{
  const contract_blocks *b = context;

  return stage == 0 ? b->down * b->across * stack_of(&b->of) : 0;
}

/* Leading dimension: stride of the other dimension, at least the row's length. */
static int leading(int64_t stride, int64_t row)
{
  return (int)(stride > row ? stride : row);
}

/* Element `index` of dimension d, and of the stack where there is one. */
static char *at(const weir_view *v, const contract_matrices *s, int stack, int64_t item, int d,
                int64_t index)
{
  const int64_t apart = s->stack > 0 ? item * v->stride[stack] : 0;

  return (char *)v->data + (apart + index * v->stride[d]) * (int64_t)weir_dtype_size(s->dtype);
}

static int64_t least(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

contract_call contract_blocks_call(const weir_kernel_run *r)
{
  const contract_blocks *p = r->context;
  const contract_matrices *s = &p->of;
  const weir_view *a = &r->views[s->a], *b = &r->views[1 - s->a], *c = &r->views[2];
  const bool a_plain = s->ak > s->am, b_plain = s->bn > s->bk;
  const int64_t item = r->piece / (p->down * p->across), block = r->piece % (p->down * p->across);
  const int64_t row = block / p->across * p->rows, column = block % p->across * p->columns;

  return (contract_call){
      .a = at(a, s, s->as, item, s->am, row),
      .b = at(b, s, s->bs, item, s->bn, column),
      .c = at(c, s, s->cs, item, s->cm, row) + column * (int64_t)weir_dtype_size(s->dtype),
      .m = (int)least(s->m - row, p->rows),
      .n = (int)least(s->n - column, p->columns),
      .k = (int)s->k,
      .lda = a_plain ? leading(a->stride[s->am], s->k) : leading(a->stride[s->ak], s->m),
      .ldb = b_plain ? leading(b->stride[s->bk], s->n) : leading(b->stride[s->bn], s->k),
      .ldc = leading(c->stride[s->cm], s->n),
      .a_turned = !a_plain,
      .b_turned = !b_plain};
}
