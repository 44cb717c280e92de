/* contract_bf16.c - products of two matrices of bf16, summed in f32, by the vector code of this
 * processor (winograd_priv.h).
 *
 * Where A is [m, k], its rows are multiplied where they lie by B, whose rows are put into pairs
 * once a run. Where A is [k, m] and B [k, n], as in a derivative by a matrix that many rows are
 * multiplied with, both are put into pairs block by block; chunks of k are summed apart and then
 * merged. Chunks follow from the shape. */
#include <string.h>

#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "graph/weir_kernel.h"
#include "ops/contract/matrices.h"
#include "ops/conv/winograd/winograd_priv.h"

/* Rows of A of a piece; rows of pairs that a piece makes; k of a block, even, and of a chunk. */
enum { ROWS = 96, PAIRS = 8, DEPTH = 128, CHUNK = 1024, MAX_CHUNKS = 16 };

typedef struct products {
  contract_matrices of;
  const winograd_kernels *k;
  bool deep; /* A is [k, m] */
  bool half; /* C is bf16   */
} products;

static bool find(const weir_graph *g, const weir_group *group, products *p)
{
  const contract_matrices *s = &p->of;

  p->k = winograd_kernels_get(WEIR_BF16);
  if (p->k == NULL || !contract_matrices_of_bf16(g, group, &p->of) || s->stack >= 0) {
    return false;
  }
  const weir_node *node = weir_graph_node(g, group->nodes[group->n_nodes - 1]);
  const weir_access *a = &node->access;

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

/* Pairs of B, or the sums of chunks. */
static int64_t workspace(const void *context)
{
  const products *p = context;

  return 4 * p->of.n * (p->deep ? chunks_of(p) * p->of.m : winograd_words(p->k, p->of.k));
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
             : 2 * work / (weir_cpu_get()->constants.flop_rate * share_of_peak);
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

static int64_t pieces(const void *context, int stage)
{
  const products *p = context;
  const int64_t m = p->of.m, words = winograd_words(p->k, p->of.k);

  return stage == 0   ? (p->deep ? chunks_of(p) : (words + PAIRS - 1) / PAIRS)
         : stage == 1 ? (p->deep ? m : (m + ROWS - 1) / ROWS)
                      : 0;
}

/* Pairs of a block, or rows of C in f32. */
static int64_t scratch(const void *context)
{
  const products *p = context;

  return 4 * (p->deep ? DEPTH / 2 * (winograd_up(p->of.m, 16) + p->of.n) : ROWS * p->of.n);
}

/* Words of a row of k and the next, which is 0 where it is NULL. */
static void interleave(const weir_bf16 *first, const weir_bf16 *second, int64_t n,
                       winograd_word *to)
{
  for (int64_t i = 0; i < n && second == NULL; i++) {
    to[i] = first[i];
  }
  for (int64_t i = 0; i < n && second != NULL; i++) {
    to[i] = first[i] | (winograd_word)second[i] << 16;
  }
}

/* Some rows of pairs of B. */
static void pack(const products *p, const weir_kernel_run *r)
{
  const contract_matrices *s = &p->of;
  const weir_view *b = &r->views[1 - s->a];
  const weir_bf16 *from = b->data;
  const int64_t words = winograd_words(p->k, s->k), row = b->stride[s->bk];
  const int64_t column = b->stride[s->bn];

  for (int64_t w = r->piece * PAIRS; w < winograd_min((r->piece + 1) * PAIRS, words); w++) {
    winograd_word *to = (winograd_word *)r->workspace + w * s->n;

    for (int64_t j = 0; j < s->n; j++) {
      to[j] = from[2 * w * row + j * column] | (winograd_word)from[(2 * w + 1) * row + j * column]
                                                   << 16;
    }
  }
}

/* A row of C. */
static void store(const products *p, const float *from, const weir_view *c, int64_t row)
{
  const int64_t at = row * c->stride[p->of.cm];

  if (!p->half) {
    memcpy((float *)c->data + at, from, (size_t)p->of.n * sizeof *from);
    return;
  }
  for (int64_t j = 0; j < p->of.n; j++) {
    ((weir_bf16 *)c->data)[at + j] = weir_bf16_from_f32(from[j]);
  }
}

static void multiply_rows(const products *p, const weir_kernel_run *r)
{
  const contract_matrices *s = &p->of;
  const weir_view *a = &r->views[s->a], *c = &r->views[2];
  const int64_t first = r->piece * ROWS, rows = winograd_min(ROWS, s->m - first);
  const int64_t step = a->stride[s->am];
  float *to = p->half ? r->scratch : (float *)c->data + first * c->stride[s->cm];

  p->k->product(&(winograd_product){
      .a = (const winograd_word *)(const void *)((const weir_bf16 *)a->data + first * step),
      .b = r->workspace,
      .c = to,
      .rows = rows,
      .k = s->k / 2,
      .vectors = s->n / p->k->lanes,
      .a_row = step / 2,
      .a_k = 1,
      .b_k = s->n,
      .b_panel = 2 * p->k->lanes,
      .c_row = p->half ? s->n : c->stride[s->cm]});
  for (int64_t i = 0; i < rows && p->half; i++) {
    store(p, to + i * s->n, c, first + i);
  }
}

/* The sum over one chunk of k. */
static void sum_chunk(const products *p, const weir_kernel_run *r)
{
  const contract_matrices *s = &p->of;
  const weir_view *a = &r->views[s->a], *b = &r->views[1 - s->a];
  const int64_t begin = s->k * r->piece / chunks_of(p), end = s->k * (r->piece + 1) / chunks_of(p);
  const int64_t a_words = winograd_up(s->m, 16), a_step = a->stride[s->ak],
                b_step = b->stride[s->bk];
  winograd_word *pa = r->scratch, *pb = pa + DEPTH / 2 * a_words;

  for (int64_t from = begin; from < end; from += DEPTH) {
    const int64_t depth = winograd_min(DEPTH, end - from);

    for (int64_t k = 0; k < depth; k += 2) {
      const weir_bf16 *x = (const weir_bf16 *)a->data + (from + k) * a_step;
      const weir_bf16 *y = (const weir_bf16 *)b->data + (from + k) * b_step;
      const bool both = k + 1 < depth;

      interleave(x, both ? x + a_step : NULL, s->m, pa + k / 2 * a_words);
      interleave(y, both ? y + b_step : NULL, s->n, pb + k / 2 * s->n);
    }
    p->k->product(&(winograd_product){.a = pa,
                                      .b = pb,
                                      .c = (float *)r->workspace + r->piece * s->m * s->n,
                                      .rows = s->m,
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
static void merge(const products *p, const weir_kernel_run *r)
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
  store(p, sums, &r->views[2], r->piece);
}

static void run(const weir_kernel_run *r)
{
  const products *p = r->context;

  if (p->deep) {
    (r->stage == 0 ? sum_chunk : merge)(p, r);
  } else {
    (r->stage == 0 ? pack : multiply_rows)(p, r);
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
