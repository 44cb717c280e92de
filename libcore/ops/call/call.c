/* call.c - a C function with declared access: sequential over time, everything else whole. */
#include "ops/call/weir_call.h"

static bool has_time(const weir_array_desc *d, int n)
{
  bool found = false;

  for (int i = 0; i < n; i++) {
    found = found || d[i].time != 0;
  }
  return found;
}

static int outputs(const weir_op_args *args)
{
  return ((const weir_call_spec *)args->spec)->n_out;
}

static weir_status check_output(const weir_op_args *args, const weir_call_spec *s, int k)
{
  const weir_array_desc *d = &s->out[k];

  if (d->rank < 0 || d->rank > WEIR_MAX_RANK || (int)d->dtype < 0 || d->dtype >= WEIR_DTYPE_COUNT ||
      d->time < 0 || d->time > d->rank) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: output %d: rank %d, dtype %d, time %d", s->name, k,
                     d->rank, (int)d->dtype, d->time);
  }
  for (int i = 0; i < d->rank; i++) {
    if (d->shape[i] < 0 || (d->shape[i] == WEIR_UNBOUNDED) != (d->time == i + 1)) {
      return weir_fail(WEIR_ERR_SHAPE, "%s: output %d: extent %lld of dimension %d", s->name, k,
                       (long long)d->shape[i], i);
    }
  }
  if (d->time != 0 && !has_time(args->in, args->n_in)) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: output %d has time, but no input has", s->name, k);
  }
  return WEIR_OK;
}

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  const weir_call_spec *s = args->spec;

  if (s->name == NULL || s->function == NULL) {
    return weir_fail(WEIR_ERR_SHAPE, "call: a name and a function are required");
  }
  if (s->n_out < 1 || s->n_out > WEIR_MAX_OUTPUTS) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: %d outputs: 1 to %d are allowed", s->name, s->n_out,
                     WEIR_MAX_OUTPUTS);
  }
  for (int i = 0; i < args->n_in; i++) {
    if (s->behind[i] < -INT32_MAX || s->ahead[i] < -INT32_MAX || s->behind[i] > INT32_MAX ||
        s->ahead[i] > INT32_MAX || s->behind[i] + s->ahead[i] < 0) {
      return weir_fail(WEIR_ERR_SHAPE, "%s: input %d: reads %lld slots behind and %lld ahead",
                       s->name, i, (long long)s->behind[i], (long long)s->ahead[i]);
    }
    if (s->up[i] < 0 || s->down[i] < 0 || s->up[i] > INT32_MAX || s->down[i] > INT32_MAX) {
      return weir_fail(WEIR_ERR_SHAPE, "%s: input %d: %lld slots for every %lld of the call",
                       s->name, i, (long long)s->up[i], (long long)s->down[i]);
    }
  }
  if (s->presence < 0 || s->presence > args->n_in || s->settle < 0 ||
      (s->presence > 0 && args->in[s->presence - 1].dtype != WEIR_BOOL)) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: presence input %d is not a bool input of the %d", s->name,
                     s->presence, args->n_in);
  }
  for (int k = 0; k < s->n_out; k++) {
    WEIR_TRY(check_output(args, s, k));
    out[k] = s->out[k];
  }
  return WEIR_OK;
}

/* An iteration dimension of `extent` that operand `o` does not use yet: dimensions of one extent
 * are shared between operands, since only whole extents matter. */
static int whole_dim(weir_access *a, const weir_operand *o, int64_t extent)
{
  for (int k = 0; k < a->n_dims; k++) {
    bool used = a->dim[k].kind != WEIR_REDUCED || a->dim[k].hi != extent;

    for (int d = 0; d < o->rank; d++) {
      used = used || o->index[d].coef[k] != 0;
    }
    if (!used) {
      return k;
    }
  }
  return a->n_dims < WEIR_MAX_DIMS ? weir_map_dim(a, WEIR_REDUCED, extent) : -1;
}

static weir_status map_whole(weir_access *a, weir_operand *o, const weir_array_desc *d,
                             const char *name)
{
  weir_map_operand(o, d);
  for (int k = 0; k < d->rank; k++) {
    const int dim = d->time == k + 1 ? 0 : whole_dim(a, o, d->shape[k]);

    if (dim < 0) {
      return weir_fail(WEIR_ERR_SHAPE, "%s: its arrays have more than %d dimensions in all", name,
                       WEIR_MAX_DIMS);
    }
    o->index[k].coef[dim] = 1;
  }
  return WEIR_OK;
}

/* floor(up t / down) - behind + tap as one division. */
static weir_status map_time(weir_access *a, weir_operand *o, int dim, const weir_call_spec *s,
                            int i)
{
  weir_index *x = &o->index[dim];
  const int64_t window = s->behind[i] + s->ahead[i] + 1, down = s->down[i] > 0 ? s->down[i] : 1;
  const int64_t up = s->up[i] > 0 ? s->up[i] : 1;

  if (window == 1 && s->behind[i] == 0 && up == 1 && down == 1) {
    return WEIR_OK;
  }
  x->coef[0] = up;
  x->div = down;
  x->offset = -s->behind[i] * down;
  x->border =
      WEIR_BORDER_ZERO; /* each input is cut at its own ends; no slot of the call is dropped */
  if (window > 1) {
    const int tap = whole_dim(a, o, window);

    if (tap < 0) {
      return weir_fail(WEIR_ERR_SHAPE, "%s: its arrays have more than %d dimensions in all",
                       s->name, WEIR_MAX_DIMS);
    }
    x->coef[tap] = down;
  }
  return WEIR_OK;
}

static weir_status access(const weir_op_args *args, weir_access *a)
{
  const weir_call_spec *s = args->spec;

  a->maker = WEIR_MADE_BY_CALL;
  a->point_flops = s->flops;
  a->presence = s->presence;
  a->settle = s->settle;
  if (has_time(args->in, args->n_in)) {
    a->dim[weir_map_dim(a, WEIR_FORWARD, WEIR_UNBOUNDED)].time = true;
  }
  for (int i = 0; i < args->n_in; i++) {
    weir_operand *o = &a->in[i];
    const weir_array_desc *d = &args->in[i];

    WEIR_TRY(map_whole(a, o, d, s->name));
    if (d->time != 0) {
      WEIR_TRY(map_time(a, o, d->time - 1, s, i));
    }
  }
  for (int k = 0; k < args->n_out; k++) {
    WEIR_TRY(map_whole(a, &a->out[k], &args->out[k], s->name));
  }
  return WEIR_OK;
}

static weir_status run(const weir_op_run *run)
{
  const weir_call_spec *s = run->spec;

  WEIR_TRY(s->function(s->context, run));
  return WEIR_OK;
}

const weir_op_desc weir_op_call = {
    .name = "call",
    .cite = "",
    .spec_size = sizeof(weir_call_spec),
    .infer = infer,
    .access = access,
    .outputs = outputs,
    .run = run,
};

weir_value weir_call_at(weir_graph *g, const weir_call_spec *spec, const weir_value *in, int n_in,
                        const char *where)
{
  return weir_graph_add(g, &weir_op_call, spec, in, n_in, where);
}
