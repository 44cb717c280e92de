/* contract_bf16.c - products of two matrices of bf16, or of stacks of them, summed in f32, by the
 * vector code of this processor (winograd_priv.h).
 *
 * Where A is [m, k], its rows are multiplied where they lie by B, whose rows are put into pairs
 * once a run. Where A is [k, m] and B [k, n], as in a derivative by a matrix that many rows are
 * multiplied with, both are put into pairs block by block; chunks of k are summed apart and then
 * merged, and a piece is one of them for some columns of A, for which B is put into pairs again.
 * Chunks follow from the shape. */
#include <string.h>

#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "graph/weir_kernel.h"
#include "ops/contract/matrices.h"
#include "ops/conv/winograd/winograd_priv.h"

/* Rows of C of a piece; rows of pairs that a piece makes; k of a block, even, and of a chunk. */
enum { ROWS = 96, PAIRS = 8, DEPTH = 128, CHUNK = 1024, MAX_CHUNKS = 16 };

typedef struct products {
  contract_matrices of;
  const winograd_kernels *k;
  int64_t stack; /* matrices, 1 where there is no stack */
  bool deep;     /* A is [k, m] */
  bool half;     /* C is bf16   */
} products;

static bool find(const weir_graph *g, const weir_group *group, products *p)
{
  const contract_matrices *s = &p->of;

  p->k = winograd_kernels_get(WEIR_BF16);
  if (p->k == NULL || !contract_matrices_of_bf16(g, group, &p->of)) {
    return false;
  }
  const weir_node *node = weir_graph_node(g, group->nodes[group->n_nodes - 1]);
  const weir_access *a = &node->access;

  p->stack = s->stack > 0 ? s->stack : 1;
  p->deep = s->am > s->ak;
  p->half = a->out[0].dtype == WEIR_BF16;
  return s->n % p->k->lanes == 0 &&
         (p->deep
              ? s->am == a->in[s->a].rank - 1 && s->bn == a->in[1 - s->a].rank - 1
              : s->ak == a->in[s->a].rank - 1 && s->k % 2 == 0 &&
                    weir_graph_get_array(g, node->in[s->a])->desc.shape[a->in[s->a].rank - 1] % 2 ==
                        0);
}

static int64_t chunks_of(const products *p)
{
  const int64_t n = p->of.k / CHUNK;

  return n < 1 ? 1 : winograd_min(n, MAX_CHUNKS);
}

static int64_t parts_of(const products *p)
{
  return (p->of.m + ROWS - 1) / ROWS;
}

/* First row of C of part `i`: of so many rows each, but for whole vectors. */
static int64_t part_begin(const products *p, int64_t i)
{
  return i == parts_of(p) ? p->of.m : p->of.m * i / parts_of(p) / 16 * 16;
}

/* Words of one matrix in the workspace: pairs of B, or the sums of chunks. */
static int64_t words_of(const products *p)
{
  return p->of.n * (p->deep ? chunks_of(p) * p->of.m : winograd_words(p->k, p->of.k));
}

static int64_t workspace(const void *context)
{
  const products *p = context;

  return 4 * words_of(p) * p->stack;
}

/* Of the f32 rate of a core, as contract.cblas, of which products take half the time. */
static const double share_of_peak = 0.2 * 1.9;

/* Sums of all chunks may take no more. */
static const int64_t max_workspace = 64 << 20;

static double match(const weir_graph *g, const weir_group *group)
{
  products p;

  if (!find(g, group, &p)) {
    return -1;
  }
  const double work = contract_matrices_work(&p.of);

  return work < CONTRACT_MIN_WORK || (p.deep && workspace(&p) > max_workspace)
             ? -1
             : 2 * work * (double)p.stack / (weir_cpu_get()->constants.flop_rate * share_of_peak);
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
  WEIR_TRY(weir_alloc(1, sizeof(products), &memory));
  if (!find(g, group, memory)) {
    weir_free(&memory);
    return weir_fail(WEIR_ERR_SHAPE, "contract_bf16: the group is not a matrix product of bf16");
  }
  *context = memory;
  return WEIR_OK;
}

static void release(void *context)
{
  weir_free(&context);
}

/* Pieces of one matrix. */
static int64_t pieces_of(const products *p, int stage)
{
  const int64_t words = winograd_words(p->k, p->of.k);

  return stage == 0   ? (p->deep ? chunks_of(p) * parts_of(p) : (words + PAIRS - 1) / PAIRS)
         : stage == 1 ? (p->deep ? p->of.m : parts_of(p))
                      : 0;
}

static int64_t pieces(const void *context, int stage)
{
  const products *p = context;

  return p->stack * pieces_of(p, stage);
}

/* A piece of one matrix: where it and its part of the workspace begin, and which piece it is. */
typedef struct place {
  const weir_bf16 *a, *b;
  char *c;
  void *workspace, *scratch;
  const weir_view *view; /* of all matrices; only strides are read */
  int64_t piece;
} place;

/* Elements from the first matrix of a view to number `at` of the stack. */
static int64_t skipped(const products *p, const weir_view *v, int dim, int64_t at)
{
  return p->of.stack > 0 ? at * v->stride[dim] : 0;
}

static place place_of(const products *p, const weir_kernel_run *r)
{
  const contract_matrices *s = &p->of;
  const weir_view *a = &r->views[s->a], *b = &r->views[1 - s->a], *c = &r->views[2];
  const int64_t each = pieces_of(p, r->stage), at = r->piece / each;

  return (place){
      .a = (const weir_bf16 *)a->data + skipped(p, a, s->as, at),
      .b = (const weir_bf16 *)b->data + skipped(p, b, s->bs, at),
      .c = (char *)c->data + skipped(p, c, s->cs, at) * (p->half ? 2 : 4),
      .workspace = (winograd_word *)r->workspace + at * words_of(p),
      .scratch = r->scratch,
      .view = r->views,
      .piece = r->piece % each,
  };
}

/* Pairs of a block, or rows of C in f32. */
static int64_t scratch(const void *context)
{
  const products *p = context;

  return 4 * (p->deep ? DEPTH / 2 * (ROWS + 16 + p->of.n) : (ROWS + 16) * p->of.n);
}

/* Some rows of pairs of B. */
static void pack(const products *p, const place *r)
{
  const contract_matrices *s = &p->of;
  const weir_view *b = &r->view[1 - s->a];
  const int64_t words = winograd_words(p->k, s->k), row = b->stride[s->bk];
  const int64_t column = b->stride[s->bn];

  for (int64_t w = r->piece * PAIRS; w < winograd_min((r->piece + 1) * PAIRS, words); w++) {
    winograd_word *to = (winograd_word *)r->workspace + w * s->n;
    const weir_bf16 *from = r->b + 2 * w * row;

    if (column == 1) {
      p->k->pair(from, from + row, s->n, to);
      continue;
    }
    for (int64_t j = 0; j < s->n; j++) {
      to[j] = from[j * column] | (winograd_word)from[row + j * column] << 16;
    }
  }
}

/* A row of C. */
static void store(const products *p, const float *from, const place *r, int64_t row)
{
  const int64_t at = row * r->view[2].stride[p->of.cm];

  if (!p->half) {
    memcpy((float *)(void *)r->c + at, from, (size_t)p->of.n * sizeof *from);
    return;
  }
  p->k->round(from, p->of.n, (weir_bf16 *)(void *)r->c + at);
}

static void multiply_rows(const products *p, const place *r)
{
  const contract_matrices *s = &p->of;
  const int64_t first = part_begin(p, r->piece), rows = part_begin(p, r->piece + 1) - first;
  const int64_t step = r->view[s->a].stride[s->am], c_row = r->view[2].stride[s->cm];
  float *to = p->half ? r->scratch : (float *)(void *)r->c + first * c_row;

  p->k->product(&(winograd_product){.a = (const winograd_word *)(const void *)(r->a + first * step),
                                    .b = r->workspace,
                                    .c = to,
                                    .rows = rows,
                                    .k = s->k / 2,
                                    .vectors = s->n / p->k->lanes,
                                    .a_row = step / 2,
                                    .a_k = 1,
                                    .b_k = s->n,
                                    .b_panel = 2 * p->k->lanes,
                                    .c_row = p->half ? s->n : c_row});
  for (int64_t i = 0; i < rows && p->half; i++) {
    store(p, to + i * s->n, r, first + i);
  }
}

/* The sum over one chunk of k, for a part of the rows of C. */
static void sum_chunk(const products *p, const place *r)
{
  const contract_matrices *s = &p->of;
  const int64_t parts = parts_of(p), part = r->piece % parts, chunk = r->piece / parts;
  const int64_t begin = s->k * chunk / chunks_of(p), end = s->k * (chunk + 1) / chunks_of(p);
  const int64_t first = part_begin(p, part), rows = part_begin(p, part + 1) - first;
  const int64_t a_words = winograd_up(rows, 16), a_step = r->view[s->a].stride[s->ak],
                b_step = r->view[1 - s->a].stride[s->bk];
  winograd_word *pa = r->scratch, *pb = pa + DEPTH / 2 * a_words;

  for (int64_t from = begin; from < end; from += DEPTH) {
    const int64_t depth = winograd_min(DEPTH, end - from);

    for (int64_t k = 0; k < depth; k += 2) {
      const weir_bf16 *x = r->a + (from + k) * a_step + first, *y = r->b + (from + k) * b_step;
      const bool both = k + 1 < depth;

      p->k->pair(x, both ? x + a_step : NULL, rows, pa + k / 2 * a_words);
      p->k->pair(y, both ? y + b_step : NULL, s->n, pb + k / 2 * s->n);
    }
    p->k->product(&(winograd_product){.a = pa,
                                      .b = pb,
                                      .c = (float *)r->workspace + (chunk * s->m + first) * s->n,
                                      .rows = rows,
                                      .k = winograd_words(p->k, depth),
                                      .vectors = s->n / p->k->lanes,
                                      .a_row = 1,
                                      .a_k = a_words,
                                      .b_k = s->n,
                                      .b_panel = 2 * p->k->lanes,
                                      .c_row = s->n,
                                      .adds = from > begin});
  }
}

/* Adds the sums of chunks, in pairs, then pairs of pairs: a row of C. */
static void merge(const products *p, const place *r)
{
  const int64_t n = p->of.n, chunks = chunks_of(p), count = p->of.m * n;
  float *sums = (float *)r->workspace + r->piece * n;

  for (int64_t width = 1; width < chunks; width *= 2) {
    for (int64_t i = 0; i + width < chunks; i += 2 * width) {
      for (int64_t j = 0; j < n; j++) {
        sums[i * count + j] += sums[(i + width) * count + j];
      }
    }
  }
  store(p, sums, r, r->piece);
}

static void run(const weir_kernel_run *r)
{
  const products *p = r->context;
  const place at = place_of(p, r);

  if (p->deep) {
    (r->stage == 0 ? sum_chunk : merge)(p, &at);
  } else {
    (r->stage == 0 ? pack : multiply_rows)(p, &at);
  }
}

const weir_kernel weir_kernel_contract_bf16 = {
    .name = "contract.bf16",
    .device = "cpu",
    .match = match,
    .arrays = arrays,
    .prepare = prepare,
    .release = release,
    .pieces = pieces,
    .workspace = workspace,
    .scratch = scratch,
    .run = run,
};
