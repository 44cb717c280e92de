/* reshape.c - in_k = wrap(floor(L / product of later extents)), L the row-major position.
 *
 * Dimensions are first matched in runs of equal volume from the left, so that L is the position
 * within a run only: what stays as it is keeps the identity map, and so does time. */
#include <string.h>
#include "ops/reshape/weir_reshape.h"

#include "base/weir_alloc.h"

/* Input dimensions [in, in_end) hold the elements of output dimensions [out, out_end). */
typedef struct run {
  int in, in_end, out, out_end;
} run;

/* Volume of the dimensions that are not time. */
static weir_status volume_of(int rank, const int64_t *shape, int64_t *volume)
{
  *volume = 1;
  for (int d = 0; d < rank; d++) {
    if (shape[d] < WEIR_UNBOUNDED && !weir_mul_ok(*volume, shape[d], volume)) {
      return weir_fail(WEIR_ERR_SHAPE, "reshape: the extents up to dimension %d overflow", d);
    }
  }
  return WEIR_OK;
}

/* Multiplies the next extent into *volume. Fails when there is none. */
static weir_status take(const weir_array_desc *d, int *end, int64_t *volume)
{
  if (*end >= d->rank || !weir_mul_ok(*volume, d->shape[*end], volume)) {
    return weir_fail(WEIR_ERR_SHAPE, "reshape: time must stay a separate dimension, with the same "
                                     "number of elements before and after it");
  }
  ++*end;
  return WEIR_OK;
}

/* The run after *r; *more is false at the end. Dimensions of extent 1 belong to none: their index
 * is 0. Only for arrays with elements. */
static weir_status next_run(const weir_array_desc *x, const weir_array_desc *y, run *r, bool *more)
{
  int64_t a = 1, b = 1;

  while (r->in_end < x->rank && x->shape[r->in_end] == 1) {
    r->in_end++;
  }
  while (r->out_end < y->rank && y->shape[r->out_end] == 1) {
    r->out_end++;
  }
  r->in = r->in_end;
  r->out = r->out_end;
  *more = r->in < x->rank || r->out < y->rank;
  if (!*more) {
    return WEIR_OK;
  }
  do {
    WEIR_TRY(a <= b ? take(x, &r->in_end, &a) : take(y, &r->out_end, &b));
  } while (a != b);
  for (int d = r->in; d < r->in_end; d++) {
    if (x->time == d + 1 && (r->in_end - r->in > 1 || r->out_end - r->out > 1)) {
      return weir_fail(WEIR_ERR_SHAPE, "reshape: time must stay a separate dimension");
    }
  }
  return WEIR_OK;
}

/* The shape asked for, with -1 and time filled in. */
static weir_status resolve(const weir_reshape_spec *s, const weir_array_desc *x,
                           weir_array_desc *out)
{
  weir_array_desc y = {.dtype = x->dtype, .rank = s->rank};
  int64_t have = 0, want = 0;
  int open = -1;

  if (s->rank < 0 || s->rank > WEIR_MAX_RANK) {
    return weir_fail(WEIR_ERR_SHAPE, "reshape: to rank %d", s->rank);
  }
  for (int d = 0; d < s->rank; d++) {
    y.shape[d] = s->shape[d];
    if (s->shape[d] == -1 && open < 0) {
      open = d;
      y.shape[d] = 1;
    } else if (s->shape[d] == WEIR_UNBOUNDED && y.time == 0) {
      y.time = d + 1;
    } else if (s->shape[d] < 0 || s->shape[d] >= WEIR_UNBOUNDED) {
      return weir_fail(WEIR_ERR_SHAPE, "reshape: extent %lld of dimension %d",
                       (long long)s->shape[d], d);
    }
  }
  WEIR_TRY(volume_of(x->rank, x->shape, &have));
  WEIR_TRY(volume_of(y.rank, y.shape, &want));
  if (open >= 0 && want > 0 && have % want == 0) {
    y.shape[open] = have / want;
    want = have;
  }
  if (have != want || (x->time != 0) != (y.time != 0)) {
    return weir_fail(WEIR_ERR_SHAPE, "reshape: %lld elements%s cannot be reshaped to %lld%s",
                     (long long)have, x->time ? " per slot" : "", (long long)want,
                     y.time ? " per slot" : "");
  }
  *out = y;
  return WEIR_OK;
}

static bool is_empty(const weir_array_desc *d)
{
  bool empty = false;

  for (int k = 0; k < d->rank; k++) {
    empty = empty || d->shape[k] == 0;
  }
  return empty;
}

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  run r = {0, 0, 0, 0};
  weir_array_desc y;
  bool more = true;

  WEIR_TRY(weir_need_count("reshape", args, 1, 1));
  WEIR_TRY(resolve(args->spec, &args->in[0], &y));
  while (more && !is_empty(&y)) {
    WEIR_TRY(next_run(&args->in[0], &y, &r, &more));
  }
  *out = y;
  return WEIR_OK;
}

static void map_run(const weir_array_desc *x, const weir_array_desc *y, const run *r,
                    weir_operand *o)
{
  int64_t below = 1; /* product of the run's input extents after k */

  for (int k = r->in_end - 1; k >= r->in; k--) {
    weir_index *i = &o->index[k];
    int64_t step = 1;

    for (int j = r->out_end - 1; j >= r->out; j--) {
      i->coef[j] = step;
      step *= y->shape[j];
    }
    i->div = below;
    i->border = k == r->in ? WEIR_BORDER_NEVER : WEIR_BORDER_WRAP;
    below *= x->shape[k];
  }
}

static weir_status access(const weir_op_args *args, weir_access *a)
{
  const weir_array_desc *x = &args->in[0], *y = &args->out[0];
  run r = {0, 0, 0, 0};
  bool more = true;

  weir_map_copy(args, a);
  while (more && !is_empty(y)) {
    WEIR_TRY(next_run(x, y, &r, &more));
    if (more && r.in_end - r.in == 1 && r.out_end - r.out == 1) {
      a->in[0].index[r.in].coef[r.out] = 1;
    } else if (more) {
      map_run(x, y, &r, &a->in[0]);
    }
  }
  return WEIR_OK;
}

static void derive(weir_graph *g, int32_t node, const weir_value *dout, weir_value *din)
{
  const weir_node *n = weir_graph_node(g, node);
  const weir_array_desc *x = &weir_graph_get_array(g, n->in[0])->desc;
  weir_reshape_spec spec = {.rank = x->rank};

  memcpy(spec.shape, x->shape, sizeof spec.shape);
  din[0] = weir_reshape_at(g, dout[0], &spec, n->where);
}

const weir_op_desc weir_op_reshape = {
    .name = "reshape",
    .cite = "",
    .spec_size = sizeof(weir_reshape_spec),
    .n_out = 1,
    .infer = infer,
    .access = access,
    .derive = derive,
};

weir_value weir_reshape_at(weir_graph *g, weir_value x, const weir_reshape_spec *spec,
                           const char *where)
{
  return weir_graph_add(g, &weir_op_reshape, spec, &x, 1, where);
}
