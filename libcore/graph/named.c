/* named.c - the elements that gathered indices name, where the graph has the index array as a
 * constant. */
#include <string.h>

#include "base/weir_alloc.h"
#include "graph/graph_priv.h"

/* The constant whose values index `x` gathers, NULL: there is none, or it is not known, or outside
 * it there are values too. */
static const weir_array *source_of(const weir_graph *g, const weir_access *a, const int32_t *in,
                                   const weir_index *x)
{
  const weir_array *from = x->gather > 0 ? weir_graph_get_array(g, in[x->gather - 1]) : NULL;
  bool plain = from != NULL && from->kind == WEIR_ARRAY_CONSTANT && x->border <= WEIR_BORDER_VALUE;

  for (int d = 0; plain && d < from->desc.rank; d++) {
    const weir_border border = a->in[x->gather - 1].index[d].border;

    plain = border != WEIR_BORDER_ZERO && border != WEIR_BORDER_VALUE;
  }
  return plain ? from : NULL;
}

/* Marks what index x of an array of `extent` reaches in `box` with each value of the constant that
 * lies in the hull of `region`. */
static void mark(const weir_index *x, const weir_box *box, const weir_array *from,
                 const weir_region *region, int64_t extent, uint8_t *marks)
{
  const weir_box hull = weir_region_hull(region);
  const weir_view v = weir_view_of(&from->constant);
  weir_index one = *x;
  int64_t at[WEIR_MAX_RANK] = {0};

  memcpy(at, hull.lo, (size_t)hull.rank * sizeof *at);
  one.gather = 0;
  for (int64_t left = weir_box_volume(&hull); left > 0; left--) {
    int64_t min, max;

    one.offset = x->offset + weir_dtype_load_int(v.dtype, weir_view_at(&v, at), 0);
    weir_index_range(&one, box, &min, &max);
    for (int64_t i = min < 0 ? 0 : min; i <= max && i < extent; i++) {
      marks[i] = 1;
    }
    for (int d = hull.rank - 1; d >= 0 && ++at[d] == hull.hi[d]; d--) {
      at[d] = hull.lo[d];
    }
  }
}

/* Ascending intervals of what is marked, none next to another. */
static weir_status collect(const uint8_t *marks, int64_t extent, weir_named *out)
{
  int64_t capacity = 0;

  for (int64_t i = 0; i < extent; i++) {
    if (marks[i] && (i == 0 || !marks[i - 1])) {
      WEIR_TRY(weir_reserve(&out->interval, &capacity, out->n + 1, sizeof *out->interval));
      out->interval[out->n++] = (weir_interval){i, i};
    }
    if (marks[i]) {
      out->interval[out->n - 1].hi = i + 1;
    }
  }
  return WEIR_OK;
}

/* The first dimension of the operand whose indices are gathered from a constant, and that; -1. */
static int named_dim(const weir_graph *g, const weir_access *a, const int32_t *in, int operand,
                     const weir_array **from)
{
  const weir_operand *x = &a->in[operand];

  for (int d = weir_operand_first(x); d < x->rank; d++) {
    *from = source_of(g, a, in, &x->index[d]);
    if (*from != NULL) {
      return d;
    }
  }
  return -1;
}

weir_status weir_access_named(const weir_graph *g, const weir_access *a, const int32_t *in,
                              int operand, const weir_box *box, weir_named *out)
{
  const weir_operand *x = &a->in[operand];
  const weir_array *from = NULL;
  void *marks = NULL;

  *out = (weir_named){.dim = named_dim(g, a, in, operand, &from)};
  if (from == NULL || weir_box_empty(box) || x->extent[out->dim] == WEIR_UNBOUNDED) {
    out->dim = -1;
    return WEIR_OK;
  }
  const weir_index *at = &x->index[out->dim];
  const weir_region region = weir_needed(a, at->gather - 1, box);
  const int64_t extent = x->extent[out->dim];

  WEIR_TRY(weir_alloc(extent, 1, &marks));
  if (!weir_region_empty(&region)) {
    mark(at, box, from, &region, extent, marks);
  }
  const weir_status status = collect(marks, extent, out);

  weir_free(&marks);
  if (status != WEIR_OK) {
    weir_named_fini(out);
  }
  return status;
}

weir_status weir_node_named(const weir_graph *g, const weir_node *node, int operand,
                            const weir_box *box, weir_named *out)
{
  return weir_access_named(g, &node->access, node->in, operand, box, out);
}

/* The hull of the iterations that read one of the elements through some value of the list. */
weir_box weir_node_affected(const weir_graph *g, const weir_node *node, int operand,
                            const weir_box *elements)
{
  const weir_access *a = &node->access;
  const weir_array *from = NULL;
  const int dim = named_dim(g, a, node->in, operand, &from);
  const weir_box whole = weir_iterations(a);

  if (dim < 0 || weir_box_empty(&whole)) {
    return weir_affected(a, operand, elements);
  }
  const weir_operand *list = &a->in[a->in[operand].index[dim].gather - 1];
  const weir_view v = weir_view_of(&from->constant);
  weir_operand x = a->in[operand]; /* at one value of the list */
  weir_index *at = &x.index[dim];
  weir_box all = {.rank = list->rank}, one = all, box = whole;
  bool any = false;

  memcpy(all.hi, list->extent, (size_t)list->rank * sizeof *all.hi);
  memcpy(box.hi, box.lo, sizeof box.hi);
  at->gather = 0;
  for (int64_t left = weir_box_volume(&all); left > 0; left--) {
    int64_t min, max;

    at->offset = a->in[operand].index[dim].offset +
                 weir_dtype_load_int(v.dtype, weir_view_at(&v, one.lo), 0);
    weir_index_range(at, &whole, &min, &max);
    if (min < elements->hi[dim] && max >= elements->lo[dim]) {
      weir_box some = whole;

      weir_operand_invert(&x, elements, &some);
      for (int d = 0; d < one.rank; d++) {
        one.hi[d] = one.lo[d] + 1;
      }
      weir_operand_invert(list, &one, &some);
      if (!weir_box_empty(&some)) {
        weir_box_grow(&box, &some, &any);
      }
    }
    for (int d = one.rank - 1; d >= 0 && ++one.lo[d] == all.hi[d]; d--) {
      one.lo[d] = all.lo[d];
    }
  }
  weir_whole_dims(a, &box);
  return box;
}

void weir_named_fini(weir_named *n)
{
  weir_free(&n->interval);
  *n = (weir_named){.dim = -1};
}

bool weir_named_same(const weir_named *a, const weir_named *b)
{
  return a->dim == b->dim && a->n == b->n &&
         (a->n == 0 || memcmp(a->interval, b->interval, (size_t)a->n * sizeof *a->interval) == 0);
}
