/* autodiff_scan.c - scans derived from the last element to the first.
 *
 * The states before each element are saved by the scan itself, run again. A scan the other way
 * round then carries the states' adjoints: each element adds what its outputs and the states after
 * it tell of the states before it and of its inputs. */
#include <string.h>

#include "base/weir_alloc.h"
#include "pass/autodiff/autodiff_priv.h"
#include "pass/weir_body_dce.h"

/* The scan back, in the making. */
typedef struct back {
  derive_adjoint d;
  int32_t array[WEIR_MAX_OPERANDS]; /* of its inputs                              */
  int saved[WEIR_MAX_STATES];       /* operand that holds each state              */
  int lambda[WEIR_MAX_STATES];      /* state of `to` that is its adjoint, or -1   */
  int given[WEIR_MAX_OUTPUTS];      /* operand of each output's adjoint, or -1    */
  int to[WEIR_MAX_OPERANDS];        /* output of `to` that is what an input gets, or -1 */
} back;

/* An operand of the iterations' own extents. */
static weir_operand whole(const weir_access *a, weir_dtype dtype)
{
  weir_operand o = {.dtype = dtype, .rank = a->n_dims};

  for (int k = 0; k < a->n_dims; k++) {
    o.extent[k] = a->dim[k].hi;
    o.index[k].coef[k] = 1;
  }
  return o;
}

/* Appends an input that lies as `o`; *at: its number. */
static weir_status add_input(back *b, const weir_operand *o, int32_t array, int *at)
{
  weir_access *to = b->d.to;
  const int n = to->n_in;

  if (n == WEIR_MAX_OPERANDS) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "the derivative of a scan with %d states has more than "
                     "%d operands",
                     b->d.from->n_states, WEIR_MAX_OPERANDS);
  }
  WEIR_TRY(weir_access_resize(to, n + 1, 0, 0));
  to->in[n] = *o;
  b->array[n] = array;
  *at = n;
  return WEIR_OK;
}

/* Nodes that give the states before each element: array[k] of state k. */
static weir_status save_states(derive_walk *w, const derive_site *site, int32_t *array)
{
  const weir_access *from = site->access;
  weir_status status = WEIR_OK;

  for (int first = 0; first < from->n_states && status == WEIR_OK; first += WEIR_MAX_OUTPUTS) {
    const int left = from->n_states - first, n = left < WEIR_MAX_OUTPUTS ? left : WEIR_MAX_OUTPUTS;
    int32_t node = -1;
    weir_access a;

    WEIR_TRY(weir_access_copy(from, &a));
    status = weir_access_resize(&a, a.n_in, n, a.n_states);
    for (int k = 0; k < from->n_states; k++) {
      a.state[k].final = 0;
    }
    a.presence = 0;
    a.n_values = n;
    for (int k = 0; k < n && status == WEIR_OK; k++) {
      a.out[k] = whole(from, from->state[first + k].dtype);
      a.value[k] = weir_body_state(&a.body, first + k, from->state[first + k].dtype);
    }
    status = status == WEIR_OK ? weir_body_dce(&a) : status;
    status = status == WEIR_OK ? derive_add(w, &a, site->in, site->where, &node) : status;
    weir_access_fini(&a);
    for (int k = 0; k < n && status == WEIR_OK; k++) {
      array[first + k] = weir_value_array(w->g, (weir_value){node, k});
    }
  }
  return status;
}

/* Iterations the other way round; inputs, saved states, adjoints of outputs. */
static weir_status take_operands(back *b, const derive_site *site, const int32_t *saved)
{
  const weir_access *from = site->access;
  weir_access *to = b->d.to;
  int at;

  to->n_dims = from->n_dims;
  for (int k = 0; k < from->n_dims; k++) {
    to->dim[k] = from->dim[k];
    to->dim[k].kind = from->dim[k].kind == WEIR_FORWARD    ? WEIR_BACKWARD
                      : from->dim[k].kind == WEIR_BACKWARD ? WEIR_FORWARD
                                                           : from->dim[k].kind;
    b->d.dim[k] = (derive_form){.den = 1};
    b->d.dim[k].coef[k] = 1;
    b->d.left_by[k] = -1;
  }
  for (int k = 0; k < from->n_in && from->in[k].role == WEIR_ROLE_DATA; k++) {
    WEIR_TRY(add_input(b, &from->in[k], site->in[k], &at));
  }
  for (int k = 0; k < from->n_states; k++) {
    const weir_operand o = whole(from, from->state[k].dtype);

    WEIR_TRY(add_input(b, &o, saved[k], &b->saved[k]));
  }
  for (int o = 0; o < from->n_out; o++) {
    const bool given = (site->seeded >> o & 1) != 0 && weir_dtype_is_real(from->out[o].dtype);

    b->given[o] = -1;
    if (given) {
      WEIR_TRY(add_input(b, &from->out[o], site->adjoint[o], &b->given[o]));
    }
  }
  return WEIR_OK;
}

/* An adjoint for every state of floats; it begins with that of the final state. */
static weir_status make_states(back *b, const weir_access *from)
{
  weir_access *to = b->d.to;
  int n = 0;

  WEIR_TRY(weir_access_resize(to, to->n_in, 0, from->n_states));
  for (int k = 0; k < from->n_states; k++) {
    const weir_state *s = &from->state[k];
    const int given = s->final > 0 ? b->given[s->final - 1] : -1;

    b->lambda[k] = -1;
    if (weir_dtype_is_real(s->dtype)) {
      b->lambda[k] = n;
      to->state[n++] =
          (weir_state){.dtype = s->dtype, .init = given + 1, .slot = s->slot, .next = -1};
    }
  }
  to->n_states = n;
  return WEIR_OK;
}

static void add_seed(back *b, int32_t *seed, int32_t e, int32_t g)
{
  weir_body *body = &b->d.to->body;
  const weir_dtype dtype = b->d.from->body.exprs[e].dtype;

  g = body->exprs[g].dtype == dtype ? g : weir_body_cast(body, dtype, g);
  seed[e] = seed[e] < 0 ? g : weir_body_binary(body, WEIR_CODE_ADD, seed[e], g);
}

static void seed_all(back *b, const weir_access *from, int32_t *seed)
{
  weir_body *body = &b->d.to->body;
  int value = 0;

  for (int o = 0; o < from->n_out; o++) {
    if (from->out[o].role != WEIR_ROLE_DATA) {
      continue;
    }
    if (b->given[o] >= 0) {
      add_seed(b, seed, from->value[value], weir_body_load(body, b->given[o], from->out[o].dtype));
    }
    value++;
  }
  for (int k = 0; k < from->n_states; k++) {
    if (b->lambda[k] >= 0) {
      add_seed(b, seed, from->state[k].next,
               weir_body_state(body, b->lambda[k], from->state[k].dtype));
    }
  }
}

/* Sum of the adjoints of all leaves of that code and number, 0 where there are none. */
static int32_t total(back *b, const int32_t *seed, weir_code code, int64_t number, weir_dtype dtype)
{
  const weir_body *from = &b->d.from->body;
  weir_body *body = &b->d.to->body;
  int32_t sum = -1;

  for (int32_t i = 0; i < from->n; i++) {
    if (from->exprs[i].code == code && from->exprs[i].integer == number && seed[i] >= 0) {
      sum = sum < 0 ? seed[i] : weir_body_binary(body, WEIR_CODE_ADD, sum, seed[i]);
    }
  }
  return sum < 0 ? weir_body_real(body, dtype, 0) : sum;
}

/* Appends an output that lies as `o`. */
static weir_status add_output(weir_access *to, weir_operand o)
{
  if (to->n_out == WEIR_MAX_OUTPUTS) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "the derivative has more than %d outputs",
                     WEIR_MAX_OUTPUTS);
  }
  WEIR_TRY(weir_access_resize(to, to->n_in, to->n_out + 1, to->n_states));
  to->out[to->n_out - 1] = o;
  return WEIR_OK;
}

/* What inputs get, element by element, and initial states at the end. */
static weir_status make_outputs(back *b, const derive_walk *w, const derive_site *site,
                                const int32_t *seed)
{
  const weir_access *from = site->access;
  weir_access *to = b->d.to;

  for (int k = 0; k < from->n_in; k++) {
    const weir_operand *x = &from->in[k];

    b->to[k] = -1;
    if (!w->wanted[site->in[k]] || !weir_dtype_is_real(x->dtype)) {
      continue;
    }
    b->to[k] = to->n_out;
    WEIR_TRY(add_output(to, x->role == WEIR_ROLE_DATA ? whole(from, x->dtype) : *x));
    if (x->role == WEIR_ROLE_DATA) {
      to->value[to->n_values++] = total(b, seed, WEIR_CODE_LOAD, k, x->dtype);
    }
  }
  if (to->n_values == 0) { /* a scan has to make something */
    WEIR_TRY(add_output(to, whole(from, WEIR_F32)));
    to->value[to->n_values++] = weir_body_real(&to->body, WEIR_F32, 0);
  }
  for (int k = 0; k < from->n_states; k++) {
    const int init = from->state[k].init;

    if (b->lambda[k] >= 0) {
      weir_state *s = &to->state[b->lambda[k]];

      s->next = total(b, seed, WEIR_CODE_STATE, k, s->dtype);
      s->final = init > 0 ? b->to[init - 1] + 1 : 0;
    }
  }
  return to->body.failed ? weir_fail(WEIR_ERR_MEMORY, "out of memory for a derivative") : WEIR_OK;
}

/* An input that several elements read gets the sum of what they say: by the adjoint of reading it.
 */
static weir_status hand_on(derive_walk *w, const derive_site *site, int k, int32_t adjoint)
{
  const weir_access *from = site->access;
  weir_access read;
  derive_site reader = {.access = &read, .where = site->where, .seeded = 1};

  weir_access_init(&read);
  WEIR_TRY(weir_access_resize(&read, 1, 1, 0));
  read.n_dims = from->n_dims;
  memcpy(read.dim, from->dim, sizeof read.dim);
  for (int j = 0; j < read.n_dims; j++) {
    read.dim[j].kind = WEIR_PARALLEL;
  }
  read.n_values = 1;
  read.in[0] = from->in[k];
  read.out[0] = whole(from, from->in[k].dtype);
  read.value[0] = weir_body_load(&read.body, 0, from->in[k].dtype);
  reader.in[0] = site->in[k];
  reader.made[0] = reader.adjoint[0] = adjoint;
  const weir_status status = derive_input(w, &reader, 0);

  weir_access_fini(&read);
  return status;
}

static weir_status add_back(derive_walk *w, const derive_site *site, back *b)
{
  const weir_access *from = site->access;
  int32_t node = -1;

  WEIR_TRY(weir_body_dce(b->d.to));
  WEIR_TRY(derive_add(w, b->d.to, b->array, site->where, &node));
  for (int k = 0; k < from->n_in; k++) {
    const weir_value v = {node, b->to[k]};

    if (b->to[k] < 0) {
      continue;
    }
    if (from->in[k].role != WEIR_ROLE_DATA || weir_operand_is_identity(&from->in[k], from)) {
      derive_contribute(w, site->in[k], v);
    } else {
      WEIR_TRY(hand_on(w, site, k, weir_value_array(w->g, v)));
    }
  }
  return WEIR_OK;
}

static weir_status check(const weir_access *from)
{
  bool plain = true;

  for (int k = 0; k < from->n_dims; k++) {
    plain = plain && from->dim[k].lo == 0 && !from->dim[k].time;
  }
  for (int k = 1; k < from->n_in; k++) {
    plain = plain && (from->in[k].role != WEIR_ROLE_DATA || from->in[k - 1].role == WEIR_ROLE_DATA);
  }
  return plain ? WEIR_OK
               : weir_fail(WEIR_ERR_UNSUPPORTED, "derivatives are not defined for scans along time "
                                                 "or from an element other than the first");
}

weir_status derive_scan(derive_walk *w, const derive_site *site)
{
  const weir_access *from = site->access;
  weir_status status = WEIR_OK;
  weir_access to;
  back b = {.d = {.from = from, .operand = -1, .to = &to, .condition = -1}};
  int32_t saved[WEIR_MAX_STATES];
  void *expr = NULL, *seed = NULL;

  WEIR_TRY(check(from));
  weir_access_init(&to);
  b.d.saved = b.saved;
  WEIR_TRY_GOTO(weir_alloc(from->body.n + 1, sizeof(int32_t), &expr), out);
  WEIR_TRY_GOTO(weir_alloc(from->body.n + 1, sizeof(int32_t), &seed), out);
  memset(seed, -1, (size_t)from->body.n * sizeof(int32_t));
  WEIR_TRY_GOTO(save_states(w, site, saved), out);
  WEIR_TRY_GOTO(take_operands(&b, site, saved), out);
  WEIR_TRY_GOTO(make_states(&b, from), out);
  WEIR_TRY_GOTO(derive_forward(&b.d, expr), out);
  seed_all(&b, from, seed);
  (void)derive_backward(&b.d, expr, seed);
  WEIR_TRY_GOTO(make_outputs(&b, w, site, seed), out);
  WEIR_TRY_GOTO(add_back(w, site, &b), out);
out:
  weir_access_fini(&to);
  weir_free(&expr);
  weir_free(&seed);
  return status;
}
