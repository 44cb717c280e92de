/* state.c - see onnx_net.h: states that go from window to window, as inputs and outputs of the
 * graph. */
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "nn/onnx/onnx_net.h"

enum { MAX_ELEMENTS = 1 << 24 }; /* of a state that the file has as an input */

bool onnx_is_state(const weir_onnx_states *s, weir_onnx_text name, bool output)
{
  for (int64_t k = 0; s != NULL && k < s->n_named; k++) {
    if (weir_onnx_is(name, output ? s->out[k] : s->in[k])) {
      return true;
    }
  }
  return false;
}

void weir_onnx_states_fini(weir_onnx_states *s)
{
  weir_free(&s->initial);
  s->n = 0;
  s->numbers = 0;
}

weir_status onnx_state_begin(const onnx_net *c, const weir_array_desc *d, const weir_onnx_tensor *t,
                             weir_value *v, int *k)
{
  weir_onnx_states *const s = c->states;
  int64_t count = 1, all = 0;

  for (int i = 0; i < d->rank; i++) {
    if (!weir_mul_ok(count, d->shape[i], &count) || count > INT32_MAX) {
      return weir_fail(WEIR_ERR_SHAPE, "%s: a state has too many elements", c->where);
    }
  }
  all = s->numbers + count;
  if (s->n == WEIR_ONNX_STATES) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "%s: more than %d states", c->where, WEIR_ONNX_STATES);
  }
  float *grown = NULL;

  WEIR_TRY(weir_alloc(all, sizeof *grown, (void **)&grown));
  memset(grown, 0, (size_t)all * sizeof *grown);
  if (s->numbers > 0) {
    memcpy(grown, s->initial, (size_t)s->numbers * sizeof *grown);
  }
  if (t != NULL) {
    weir_onnx_floats(t, grown + s->numbers);
  }
  weir_free(&s->initial);
  s->initial = grown;
  *k = s->n++;
  weir_onnx_state *const one = &s->state[*k];

  *one = (weir_onnx_state){.rank = d->rank, .at = s->numbers, .count = count};
  memcpy(one->shape, d->shape, (size_t)d->rank * sizeof *d->shape);
  (void)snprintf(one->first, sizeof one->first, "first%d", *k);
  (void)snprintf(one->last, sizeof one->last, "last%d", *k);
  s->numbers = all;
  *v = weir_input(c->g, one->first, d);
  return weir_graph_status(c->g);
}

weir_status onnx_state_end(const onnx_net *c, int k, weir_value v)
{
  const weir_onnx_state *const one = &c->states->state[k];
  const weir_array_desc *const d = onnx_desc(c, v);

  if (d == NULL) {
    return weir_graph_status(c->g);
  }
  if (d->rank != one->rank ||
      memcmp(d->shape, one->shape, (size_t)d->rank * sizeof *d->shape) != 0) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "%s: what a window leaves as state %d is not of the shape that the next one "
                     "begins with",
                     c->where, k);
  }
  weir_output(c->g, one->last, v);
  return weir_graph_status(c->g);
}

/* ---- States that the file has as inputs and outputs ---- */

/* The state as the graph has it, its batch first; *batch: the dimension of the file. */
static weir_status describe(const onnx_net *c, const weir_onnx_value *in, weir_array_desc *d,
                            int *batch)
{
  int open = -1, n_open = 0;
  int64_t count = 1;

  for (int k = 0; k < in->n_dims; k++) {
    if (in->shape[k] < 0) {
      open = k;
      n_open++;
    } else if (!weir_mul_ok(count, in->shape[k], &count) || count > MAX_ELEMENTS) {
      count = 0;
    }
  }
  if (in->elements != 1 || !in->has_shape || in->n_dims < 2 || in->n_dims > WEIR_MAX_RANK ||
      n_open > 1 || count < 1) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "%s: state \"%.*s\" must be of floats, 1 to %d of them, and state its shape "
                     "but for the batch",
                     c->where, in->name.size, in->name.at, MAX_ELEMENTS);
  }
  *batch = n_open > 0 ? open : in->n_dims > 2 && in->shape[1] == 1 ? 1 : 0;
  *d = (weir_array_desc){.dtype = WEIR_F32, .rank = in->n_dims, .shape = {1}};
  for (int k = 0, at = 1; k < in->n_dims; k++) {
    if (k != *batch) {
      d->shape[at++] = in->shape[k];
    } else if (in->shape[k] > 1) {
      return weir_fail(WEIR_ERR_UNSUPPORTED,
                       "%s: state \"%.*s\" is of %lld windows: export the network with a batch of "
                       "1",
                       c->where, in->name.size, in->name.at, (long long)in->shape[k]);
    }
  }
  return WEIR_OK;
}

static weir_status begin_named(onnx_net *c, int64_t k)
{
  const weir_onnx *const m = c->m;
  weir_array_desc d;
  int64_t i = 0;
  int number = 0;
  weir_tensor zeros = {.owned = NULL};

  while (i < m->n_inputs && !weir_onnx_is(m->inputs[i].name, c->states->in[k])) {
    i++;
  }
  if (i == m->n_inputs) {
    return weir_fail(WEIR_ERR_CONFIG, "%s: the network has no input \"%s\"", c->where,
                     c->states->in[k]);
  }
  onnx_item item = {.name = m->inputs[i].name, .v = WEIR_NO_VALUE};

  WEIR_TRY(describe(c, &m->inputs[i], &d, &item.batch));
  if (c->states->carry) {
    WEIR_TRY(onnx_state_begin(c, &d, NULL, &item.v, &number));
    return onnx_add(c, &item);
  }
  WEIR_TRY(weir_tensor_init(&zeros, WEIR_F32, d.rank, d.shape));
  memset(zeros.data, 0, (size_t)weir_tensor_numel(&zeros) * sizeof(float));
  item.v = weir_constant(c->g, &zeros);
  weir_tensor_fini(&zeros);
  WEIR_TRY(weir_graph_status(c->g));
  return onnx_add(c, &item);
}

weir_status onnx_states_begin(onnx_net *c)
{
  for (int64_t k = 0; c->states != NULL && k < c->states->n_named; k++) {
    WEIR_TRY(begin_named(c, k));
  }
  return WEIR_OK;
}

/* Named states are the first ones, in their order. */
weir_status onnx_states_end(const onnx_net *c)
{
  for (int64_t k = 0; c->states != NULL && c->states->carry && k < c->states->n_named; k++) {
    int64_t i = c->n_items - 1;

    while (i >= 0 &&
           !(weir_onnx_is(c->items[i].name, c->states->out[k]) && c->items[i].constant == NULL)) {
      i--;
    }
    if (i < 0) {
      return weir_fail(WEIR_ERR_CONFIG, "%s: the network has no output \"%s\" that is computed",
                       c->where, c->states->out[k]);
    }
    WEIR_TRY(onnx_state_end(c, (int)k, onnx_ordered(c, c->items[i].v, c->items[i].last, false)));
  }
  return WEIR_OK;
}
