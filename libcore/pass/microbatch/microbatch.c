/* microbatch.c - a step in micro-batches, each finished before the next begins, so that only
 * one micro-batch's activations live at a time.
 *
 * Nodes for which the samples' dimension is parallel are repeated per micro-batch; those that
 * reduce over it leave partial results, merged in the order of the micro-batches by their monoid;
 * the others run once.
 */
#include "pass/microbatch/microbatch_priv.h"

#include <string.h>
#include "base/weir_alloc.h"
#include "pass/weir_pass.h"

static bool has_time(const weir_graph *g)
{
  bool time = false;

  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    time = time || weir_graph_get_array(g, a)->desc.time > 0;
  }
  return time;
}

/* Why the dimension is refused. */
static void tell(const weir_graph *g, const weir_dim_split *s, int32_t input, int dim, char *text,
                 size_t size)
{
  const weir_node *node = weir_graph_node(g, s->blocker);

  (void)snprintf(text, size,
                 "dimension %d of '%s' cannot be split: node %d '%s' (%s) needs all of it before "
                 "the next nodes can run",
                 dim, weir_graph_get_array(g, input)->name, s->blocker,
                 node->label != NULL ? node->label : node->op->name,
                 node->where != NULL ? node->where : "location unknown");
}

/* Candidates: the best that nothing blocks, and the bytes of the best that something does. */
typedef struct choosing {
  const weir_graph *g;
  int32_t *input;
  weir_dim_split *split;
  double bytes, blocked;
  char *text; /* why that one is refused */
  size_t size;
} choosing;

static weir_status try_dim(choosing *c, int32_t array, int dim)
{
  weir_dim_split s;

  WEIR_TRY(weir_dim_split_find(c->g, array, dim, &s));
  const double bytes = weir_dim_split_bytes(c->g, &s);

  if (s.blocker < 0 && bytes > c->bytes) {
    const weir_dim_split before = *c->split;

    *c->split = s;
    *c->input = array;
    c->bytes = bytes;
    s = before;
  } else if (s.blocker >= 0 && bytes > c->blocked) {
    c->blocked = bytes;
    tell(c->g, &s, array, dim, c->text, c->size);
  }
  weir_dim_split_fini(&s);
  return WEIR_OK;
}

weir_status weir_microbatch_find(const weir_graph *g, int32_t *input, weir_dim_split *split,
                                 char *text, size_t size)
{
  weir_status status = WEIR_OK;
  choosing c = {.g = g, .input = input, .split = split, .text = text, .size = size};

  *input = -1;
  *split = (weir_dim_split){.blocker = -1};
  (void)snprintf(text, size, "no input shares a dimension with the other arrays");
  for (int32_t a = 0; a < weir_graph_arrays(g) && !has_time(g) && status == WEIR_OK; a++) {
    const weir_array *array = weir_graph_get_array(g, a);

    for (int d = 0; d < array->desc.rank && array->kind == WEIR_ARRAY_INPUT && status == WEIR_OK;
         d++) {
      status = array->desc.shape[d] < 2 ? WEIR_OK : try_dim(&c, a, d);
    }
  }
  if (status != WEIR_OK || c.bytes < WEIR_DIM_SPLIT_MIN_SHARE * c.blocked) {
    weir_dim_split_fini(split);
    *input = -1;
  }
  return status;
}

static weir_status repeat(weir_graph *g, const weir_dim_split *s, int64_t n_batches)
{
  weir_status status = WEIR_OK;
  void *now = NULL, *merged = NULL, *order = NULL;
  int32_t n = 0;

  WEIR_TRY_GOTO(weir_alloc(s->n_nodes, sizeof(int32_t), &order), out);
  WEIR_TRY_GOTO(weir_graph_order(g, order, &n), out);
  WEIR_TRY_GOTO(weir_alloc(s->n_arrays, sizeof(int32_t), &now), out);
  WEIR_TRY_GOTO(weir_alloc(s->n_arrays, sizeof(int32_t), &merged), out);
  for (int64_t p = 0; p < n_batches; p++) {
    const microbatch_range batch = {.lo = s->extent * p / n_batches,
                                    .hi = s->extent * (p + 1) / n_batches,
                                    .number = (int32_t)p + 1,
                                    .last = (int32_t)n_batches};

    memset(now, -1, (size_t)s->n_arrays * sizeof(int32_t));
    WEIR_TRY_GOTO(microbatch_build(g, s, &batch, order, n, now, merged), out);
  }
  for (int32_t i = 0; i < s->n_nodes; i++) {
    weir_graph_node_mut(g, i)->dead = weir_graph_node(g, i)->dead || s->node[i] >= 0;
  }
out:
  weir_free(&now);
  weir_free(&merged);
  weir_free(&order);
  return status;
}

static weir_status run(weir_graph *g, const weir_pass_opts *opts)
{
  char text[WEIR_MICROBATCH_TEXT];
  weir_dim_split s;
  int32_t input;

  if (opts->microbatches < 2) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_microbatch_find(g, &input, &s, text, sizeof text));
  if (input < 0) {
    return WEIR_OK;
  }
  const weir_status status =
      repeat(g, &s, opts->microbatches < s.extent ? opts->microbatches : s.extent);

  weir_dim_split_fini(&s);
  return status;
}

const weir_pass weir_pass_microbatch = {
    .name = "microbatch",
    .cite = "Huang et al., GPipe, NeurIPS 2019 (arXiv:1811.06965), section 2.2",
    .order = 12,
    .run = run,
};
