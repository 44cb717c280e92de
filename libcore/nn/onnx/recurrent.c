/* recurrent.c - LSTM, GRU and RNN of ONNX, a step of the window after the other. Formulas are those
 * of github.com/onnx/onnx 1.23, docs/Operators.md, whose gates are ordered i o f c and z r h. */
#include "nn/onnx/onnx_net.h"
#include <string.h>
#include "base/weir_alloc.h"
#include "nn/weir_activation.h"
#include "ops/concat/weir_concat.h"
#include "ops/contract/weir_contract.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reshape/weir_reshape.h"
#include "ops/slice/weir_slice.h"

enum { LSTM, GRU, RNN, KINDS };
enum { X, W, R, B, LENGTHS, FIRST_H, FIRST_C, PEEPHOLES };
static const char *const kind_name[KINDS] = {"LSTM", "GRU", "RNN"};
static const int64_t gates_of[KINDS] = {4, 3, 1};

typedef struct layer {
  int kind, activations; /* of a direction */
  const char *activation[3];
  int64_t gates, hidden, directions, steps, features, batch;
  bool backward; /* the only direction */
  bool by_batch; /* layout 1: the batch comes first */
  bool reset_after;
  weir_value x;                      /* [batch, steps, features] */
  const weir_onnx_tensor *w, *r, *b; /* NULL: not given */
  const weir_onnx_tensor *first[2];  /* initial h and c that are constant; NULL: not given */
  weir_value data[2];                /* initial h and c that are not: [batch, directions, hidden] */
} layer;

/* What a direction has at a step, and its constants. */
typedef struct cell {
  const layer *l;
  weir_value given; /* [batch, steps, gates hidden]: what comes from x, with the biases */
  weir_value r;     /* [gates hidden, hidden] */
  weir_value b_h;   /* GRU that resets after the product: bias of the product of h */
  weir_value h, c;  /* [batch, hidden] */
  int state[2];     /* numbers of the states that h and c are, -1: none */
} cell;

/* ---- What is asked for ---- */

static weir_status check_activations(const onnx_net *c, layer *l)
{
  static const char *const usual[KINDS][3] = {
      {"Sigmoid", "Tanh", "Tanh"}, {"Sigmoid", "Tanh"}, {"Tanh"}};
  const weir_onnx_attribute *const a = weir_onnx_find(c->m, c->node, "activations");

  l->activations = l->kind == LSTM ? 3 : l->kind == GRU ? 2 : 1;
  memcpy(l->activation, usual[l->kind], sizeof l->activation);
  if (a == NULL) {
    return WEIR_OK;
  }
  if (l->kind == RNN && a->n_texts > 0 && weir_onnx_is(a->texts[0], "Relu")) {
    l->activation[0] = "Relu";
  }
  bool known = a->n_texts == l->activations * l->directions;

  for (int k = 0; k < a->n_texts && known; k++) {
    known = weir_onnx_is(a->texts[k], l->activation[k % l->activations]);
  }
  return known ? WEIR_OK
               : onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                             "activations: only the usual ones (Sigmoid and Tanh; of RNN Tanh or "
                             "Relu) are supported");
}

static weir_status check_direction(const onnx_net *c, layer *l)
{
  const bool both = onnx_text_is(c, "direction", "forward", "bidirectional");

  l->backward = onnx_text_is(c, "direction", "forward", "reverse");
  l->directions = both ? 2 : 1;
  return both || l->backward || onnx_text_is(c, "direction", "forward", "forward")
             ? WEIR_OK
             : onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                           "direction: forward, reverse and bidirectional are supported");
}

/* Weights k of `rank` dimensions, the first the directions. */
static weir_status take_weights(const onnx_net *c, int64_t k, const int64_t *shape, int rank,
                                const weir_onnx_tensor **out)
{
  WEIR_TRY(onnx_weights(c, k, out));
  bool fits = (*out)->n_dims == rank;

  for (int d = 0; d < rank && fits; d++) {
    fits = (*out)->shape[d] == shape[d];
  }
  return fits ? WEIR_OK
              : onnx_refuse(c, WEIR_ERR_SHAPE,
                            "input %lld does not have the shape that the others and hidden_size "
                            "ask for",
                            (long long)k);
}

/* Initial state `which` (0: h, 1: c): constant and the same for every element of the batch, or data
 * that a state of the file is. */
static weir_status take_state(const onnx_net *c, int which, layer *l)
{
  const int64_t shape[2][3] = {{l->directions, 1, l->hidden}, {1, l->directions, l->hidden}};
  const int64_t k = FIRST_H + which;
  const onnx_item *in = NULL;

  if (!onnx_has(c, k)) {
    return WEIR_OK;
  }
  WEIR_TRY(onnx_in(c, k, &in));
  if (in->constant != NULL) {
    return take_weights(c, k, shape[l->by_batch], 3, &l->first[which]);
  }
  const weir_array_desc *const d = onnx_desc(c, in->v);

  if (d == NULL || d->rank != 3 || in->batch != (l->by_batch ? 0 : 1) || in->last ||
      d->shape[0] != l->batch || d->shape[1] != l->directions || d->shape[2] != l->hidden) {
    return onnx_refuse(c, WEIR_ERR_SHAPE, "input %lld is not an initial state of the layer",
                       (long long)k);
  }
  l->data[which] = in->v;
  return WEIR_OK;
}

static weir_status take_data(const onnx_net *c, layer *l)
{
  const onnx_item *in = NULL;
  const weir_array_desc *d = NULL;

  WEIR_TRY(onnx_any(c, X, &in));
  d = onnx_desc(c, in->v);
  if (d == NULL || d->rank != 3 || in->batch != (l->by_batch ? 0 : 1)) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                       "its data must have 3 dimensions, of which the batch is number %d",
                       l->by_batch ? 0 : 1);
  }
  l->x = onnx_ordered(c, in->v, in->last, false);
  d = onnx_desc(c, l->x);
  if (d == NULL) {
    return onnx_status(c);
  }
  l->batch = d->shape[0];
  l->steps = d->shape[1];
  l->features = d->shape[2];
  return l->steps <= WEIR_ONNX_STEPS
             ? WEIR_OK
             : onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                           "%lld steps: at most %d are supported: let a convolution with strides "
                           "come before, or use shorter windows",
                           (long long)l->steps, WEIR_ONNX_STEPS);
}

static weir_status take_layer(const onnx_net *c, layer *l)
{
  while (!weir_onnx_is(c->node->op, kind_name[l->kind])) {
    l->kind++;
  }
  l->gates = gates_of[l->kind];
  l->hidden = onnx_int(c, "hidden_size", 0);
  l->by_batch = onnx_int(c, "layout", 0) != 0;
  l->reset_after = onnx_int(c, "linear_before_reset", 0) != 0;
  WEIR_TRY(check_direction(c, l));
  WEIR_TRY(check_activations(c, l));
  if (onnx_has(c, LENGTHS) || onnx_has(c, PEEPHOLES) || onnx_int(c, "input_forget", 0) != 0) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED, "%s is not supported",
                       onnx_has(c, LENGTHS)     ? "sequence_lens, sequences of different length,"
                       : onnx_has(c, PEEPHOLES) ? "P, weights of peepholes,"
                                                : "input_forget");
  }
  WEIR_TRY(take_data(c, l));
  if (l->hidden < 1 || l->hidden > INT32_MAX / 8) {
    return onnx_refuse(c, WEIR_ERR_SHAPE, "hidden_size %lld", (long long)l->hidden);
  }
  const int64_t rows = l->gates * l->hidden;

  WEIR_TRY(take_weights(c, W, (const int64_t[]){l->directions, rows, l->features}, 3, &l->w));
  WEIR_TRY(take_weights(c, R, (const int64_t[]){l->directions, rows, l->hidden}, 3, &l->r));
  if (onnx_has(c, B)) {
    WEIR_TRY(take_weights(c, B, (const int64_t[]){l->directions, 2 * rows}, 2, &l->b));
  }
  l->data[0] = l->data[1] = WEIR_NO_VALUE;
  WEIR_TRY(take_state(c, 0, l));
  return l->kind == LSTM ? take_state(c, 1, l) : WEIR_OK;
}

/* ---- Constants of a direction ---- */

/* Elements [from, from + rows cols) of t, as [rows, cols]; rows 0: zeros [1, cols]. */
static weir_status part(const onnx_net *c, const weir_onnx_tensor *t, int64_t from, int64_t rows,
                        int64_t cols, weir_value *out)
{
  float *all = NULL;
  weir_tensor own = {.owned = NULL};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_tensor_init(&own, WEIR_F32, 2, (const int64_t[]){rows, cols}), done);
  if (t != NULL) {
    WEIR_TRY_GOTO(weir_alloc(t->count, sizeof *all, (void **)&all), done);
    weir_onnx_floats(t, all);
    memcpy(own.data, all + from, (size_t)(rows * cols) * sizeof *all);
  }
  *out = weir_constant(c->g, &own);
  status = onnx_status(c);
done:
  weir_free(&all);
  weir_tensor_fini(&own);
  return status;
}

/* State `which` of direction d before the first step. */
static weir_status begin_state(const onnx_net *c, const layer *l, int64_t d, int which, cell *s,
                               weir_value *v)
{
  const int64_t n = l->hidden;
  const weir_array_desc one = {.dtype = WEIR_F32, .rank = 2, .shape = {1, n}};
  const weir_reshape_spec flat = {.rank = 2, .shape = {l->batch, n}};

  s->state[which] = -1;
  if (c->states != NULL && c->states->carry && (l->directions > 1 || l->backward)) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                       "a layer that reads a window backward has no state to carry to the next: "
                       "only direction forward has");
  }
  if (l->data[which].node >= 0) {
    *v = weir_reshape(c->g, weir_slice(c->g, l->data[which], 1, d, d + 1, 1), &flat);
    return onnx_status(c);
  }
  if (c->states == NULL || !c->states->carry) {
    return part(c, l->first[which], d * n, 1, n, v);
  }
  WEIR_TRY(onnx_state_begin(c, &one, l->first[which], v, &s->state[which]));
  return onnx_status(c);
}

/* The constants of direction d, and what every step is given of x. */
static weir_status begin(const onnx_net *c, const layer *l, int64_t d, cell *s)
{
  const int64_t n = l->hidden, rows = l->gates * n;
  weir_value w = WEIR_NO_VALUE, bias = WEIR_NO_VALUE, of_h = WEIR_NO_VALUE;

  *s = (cell){.l = l, .b_h = WEIR_NO_VALUE, .c = WEIR_NO_VALUE, .state = {-1, -1}};
  WEIR_TRY(part(c, l->w, d * rows * l->features, rows, l->features, &w));
  WEIR_TRY(part(c, l->r, d * rows * n, rows, n, &s->r));
  WEIR_TRY(begin_state(c, l, d, 0, s, &s->h));
  if (l->kind == LSTM) {
    WEIR_TRY(begin_state(c, l, d, 1, s, &s->c));
  }
  s->given = weir_contract(c->g, "nti,gi->ntg", l->x, w);
  if (l->b == NULL) {
    return onnx_status(c);
  }
  WEIR_TRY(part(c, l->b, d * 2 * rows, 1, rows, &bias));
  WEIR_TRY(part(c, l->b, d * 2 * rows + rows, 1, rows, &of_h));
  if (l->kind == GRU && l->reset_after) { /* that of h stays with the product */
    s->b_h = weir_slice(c->g, of_h, 1, 2 * n, 3 * n, 1);
    const weir_value parts[] = {weir_slice(c->g, of_h, 1, 0, 2 * n, 1),
                                weir_scale(c->g, s->b_h, 0)};

    of_h = weir_concat(c->g, parts, 2, 1);
  }
  s->given = weir_add(c->g, s->given, weir_add(c->g, bias, of_h));
  return onnx_status(c);
}

/* ---- A step ---- */

static weir_value activate(const onnx_net *c, const char *name, weir_value x)
{
  const weir_activation a = {.kind = strcmp(name, "Sigmoid") == 0 ? WEIR_ACTIVATION_SIGMOID
                                     : strcmp(name, "Tanh") == 0  ? WEIR_ACTIVATION_TANH
                                                                  : WEIR_ACTIVATION_RELU};

  return weir_activate(c->g, &a, x);
}

/* Gates [lo, hi) of a value of all. */
static weir_value gate(const onnx_net *c, const cell *s, weir_value v, int lo, int hi)
{
  return weir_slice(c->g, v, 1, lo * s->l->hidden, hi * s->l->hidden, 1);
}

static weir_value product(const onnx_net *c, weir_value h, weir_value r)
{
  return weir_contract(c->g, "nh,gh->ng", h, r);
}

/* C = f C + i g(c), H = o h(C). */
static void step_lstm(const onnx_net *c, cell *s, weir_value given)
{
  weir_graph *const g = c->g;
  const weir_value all = weir_add(g, given, product(c, s->h, s->r));
  const weir_value opened = activate(c, s->l->activation[0], gate(c, s, all, 0, 3));
  const weir_value fresh = activate(c, s->l->activation[1], gate(c, s, all, 3, 4));

  s->c = weir_add(g, weir_mul(g, gate(c, s, opened, 2, 3), s->c),
                  weir_mul(g, gate(c, s, opened, 0, 1), fresh));
  s->h = weir_mul(g, gate(c, s, opened, 1, 2), activate(c, s->l->activation[2], s->c));
}

/* H = (1 - z) h + z H, where h has r (H R' + b) or (r H) R' in it. */
static void step_gru(const onnx_net *c, cell *s, weir_value given)
{
  weir_graph *const g = c->g;
  const int64_t n = s->l->hidden;
  const weir_value by_h =
      product(c, s->h, s->l->reset_after ? s->r : weir_slice(g, s->r, 0, 0, 2 * n, 1));
  const weir_value opened = activate(c, s->l->activation[0],
                                     weir_add(g, gate(c, s, given, 0, 2), gate(c, s, by_h, 0, 2)));
  const weir_value z = gate(c, s, opened, 0, 1), r = gate(c, s, opened, 1, 2);
  weir_value inner;

  if (s->l->reset_after) {
    const weir_value own = gate(c, s, by_h, 2, 3);

    inner = weir_mul(g, r, s->b_h.node < 0 ? own : weir_add(g, own, s->b_h));
  } else {
    inner = product(c, weir_mul(g, r, s->h), weir_slice(g, s->r, 0, 2 * n, 3 * n, 1));
  }
  const weir_value fresh =
      activate(c, s->l->activation[1], weir_add(g, gate(c, s, given, 2, 3), inner));

  s->h = weir_add(g, fresh, weir_mul(g, z, weir_sub(g, s->h, fresh)));
}

static void step(const onnx_net *c, cell *s, int64_t t)
{
  const weir_reshape_spec flat = {.rank = 2, .shape = {s->l->batch, s->l->gates * s->l->hidden}};
  const weir_value given = weir_reshape(c->g, weir_slice(c->g, s->given, 1, t, t + 1, 1), &flat);

  if (s->l->kind == LSTM) {
    step_lstm(c, s, given);
  } else if (s->l->kind == GRU) {
    step_gru(c, s, given);
  } else {
    s->h = activate(c, s->l->activation[0], weir_add(c->g, given, product(c, s->h, s->r)));
  }
}

/* ---- All steps ---- */

/* Direction d: y [batch, steps, 1, hidden], the last h and c [batch, 1, hidden]. */
static weir_status run(const onnx_net *c, const layer *l, int64_t d, weir_value *y,
                       weir_value last[2])
{
  const weir_reshape_spec row = {.rank = 4, .shape = {l->batch, 1, 1, l->hidden}},
                          state = {.rank = 3, .shape = {l->batch, 1, l->hidden}};
  const bool backward = l->backward || d == 1;
  weir_value *of_step = NULL;
  cell s;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(l->steps, sizeof *of_step, (void **)&of_step));
  WEIR_TRY_GOTO(begin(c, l, d, &s), done);
  for (int64_t k = 0; k < l->steps; k++) {
    const int64_t t = backward ? l->steps - 1 - k : k;

    step(c, &s, t);
    of_step[t] = weir_reshape(c->g, s.h, &row);
    WEIR_TRY_GOTO(onnx_status(c), done);
  }
  *y = weir_concat(c->g, of_step, (int)l->steps, 1);
  last[0] = weir_reshape(c->g, s.h, &state);
  last[1] = l->kind == LSTM ? weir_reshape(c->g, s.c, &state) : WEIR_NO_VALUE;
  for (int k = 0; k < 2; k++) {
    if (s.state[k] >= 0) {
      WEIR_TRY_GOTO(onnx_state_end(c, s.state[k], k == 0 ? s.h : s.c), done);
    }
  }
  status = onnx_status(c);
done:
  weir_free(&of_step);
  return status;
}

/* Outputs Y [steps, directions, batch, hidden], Y_h and Y_c [directions, batch, hidden]; of layout
 * 1, the batch comes first in all. */
weir_status onnx_recurrent(onnx_net *c, onnx_item *out)
{
  layer l = {.kind = 0};
  weir_value y[2], last[2][2];

  WEIR_TRY(take_layer(c, &l));
  c->steps += l.directions * l.steps;
  if (c->steps > WEIR_ONNX_STEPS_ALL) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                       "%lld steps of all recurrent layers and directions so far: at most %d are "
                       "supported: use fewer layers or shorter windows",
                       (long long)c->steps, WEIR_ONNX_STEPS_ALL);
  }
  for (int64_t d = 0; d < l.directions; d++) {
    WEIR_TRY(run(c, &l, d, &y[d], last[d]));
  }
  out->v = weir_concat(c->g, y, (int)l.directions, 2);
  out->batch = l.by_batch ? 0 : 2;
  for (int64_t k = 1; k < c->node->n_out && k <= (l.kind == LSTM ? 2 : 1); k++) {
    weir_value of[2];

    for (int64_t d = 0; d < l.directions; d++) {
      of[d] = last[d][k - 1];
    }
    WEIR_TRY(onnx_add(c, &(onnx_item){.name = c->m->names[c->node->first_name + c->node->n_in + k],
                                      .v = weir_concat(c->g, of, (int)l.directions, 1),
                                      .batch = l.by_batch ? 0 : 1}));
  }
  return onnx_status(c);
}
