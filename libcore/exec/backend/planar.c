/* planar.c - loops of complex numbers as loops of real ones. */
#include "exec/backend/planar.h"

#include <string.h>

#include "base/weir_alloc.h"

/* One loop for the inner engine. in, out: operand of the whole loop that each of its own is a part
 * of, and whether it is the imaginary one. */
typedef struct planar_loop {
  weir_loop loop;
  void *context;
  int in[WEIR_MAX_OPERANDS], out[WEIR_MAX_OUTPUTS];
  bool in_imag[WEIR_MAX_OPERANDS], out_imag[WEIR_MAX_OUTPUTS];
} planar_loop;

/* loop NULL: a loop of reals, as it stands. */
typedef struct planar {
  const weir_engine *inner;
  void *context;
  int n_loops;
  planar_loop *loop;
} planar;

static bool is_planar(const weir_access *a)
{
  bool yes = false;

  for (int k = 0; k < a->n_in; k++) {
    yes = yes || weir_dtype_is_complex(a->in[k].dtype);
  }
  for (int32_t i = 0; i < a->body.n; i++) {
    yes = yes || weir_dtype_is_complex(a->body.exprs[i].dtype);
  }
  return yes;
}

static weir_status refuse(const char *what, int max)
{
  return weir_fail(
      WEIR_ERR_UNSUPPORTED,
      "a loop of complex numbers has more than %d %s, counting real and imaginary parts", max,
      what);
}

/* Operand `from` or one of its parts; a fill is the real part, whose imaginary one is 0. */
static weir_operand part_of(const weir_operand *from, bool imag)
{
  weir_operand o = *from;

  o.dtype = weir_dtype_part(from->dtype);
  o.part = weir_dtype_is_complex(from->dtype) ? 1 + imag : 0;
  for (int d = 0; d < o.rank && imag; d++) {
    o.index[d].fill = 0;
  }
  return o;
}

/* Inputs in their order, complex ones twice: re[k], im[k] are the numbers of input k. */
static weir_status split_inputs(const weir_access *a, planar_loop *p, int *re, int *im)
{
  weir_access *to = &p->loop.access;

  for (int k = 0; k < a->n_in; k++) {
    const int parts = weir_dtype_parts(a->in[k].dtype);
    const int first = to->n_in;

    if (first + parts > WEIR_MAX_OPERANDS) {
      return refuse("inputs", WEIR_MAX_OPERANDS);
    }
    WEIR_TRY(weir_access_resize(to, first + parts, 0, 0));
    re[k] = first;
    im[k] = parts == 2 ? first + 1 : -1;
    for (int part = 0; part < parts; part++) {
      p->in[first + part] = k;
      p->in_imag[first + part] = part == 1;
      to->in[first + part] = part_of(&a->in[k], part == 1);
    }
  }
  for (int k = 0; k < to->n_in; k++) {
    for (int d = 0; d < to->in[k].rank; d++) {
      weir_index *x = &to->in[k].index[d];

      x->gather = x->gather > 0 ? re[x->gather - 1] + 1 : 0;
    }
  }
  to->presence = a->presence > 0 ? re[a->presence - 1] + 1 : 0;
  return WEIR_OK;
}

/* Cells hold the parts of a complex state as two states. The plan moves them to and from arrays. */
static weir_status split_states(const weir_access *a, planar_loop *p, int *first)
{
  weir_access *to = &p->loop.access;

  for (int k = 0; k < a->n_states; k++) {
    const int parts = weir_dtype_parts(a->state[k].dtype);

    first[k] = to->n_states;
    if (first[k] + parts > WEIR_MAX_STATES) {
      return refuse("states", WEIR_MAX_STATES);
    }
    WEIR_TRY(weir_access_resize(to, to->n_in, 0, first[k] + parts));
    for (int part = 0; part < parts; part++) {
      to->state[first[k] + part].dtype = weir_dtype_part(a->state[k].dtype);
    }
  }
  return WEIR_OK;
}

static bool is_complex_sum(const weir_access *a)
{
  return a->combine == WEIR_COMBINE_SUM && weir_dtype_is_complex(a->accumulator);
}

/* Outputs in their order, complex ones twice, and their values; of a sum the part `imag`. */
static weir_status split_outputs(const weir_access *a, planar_loop *p, bool imag,
                                 const int32_t *real_of, const int32_t *imag_of)
{
  weir_access *to = &p->loop.access;

  for (int k = 0; k < a->n_out; k++) {
    const bool pair = weir_dtype_is_complex(a->out[k].dtype) && a->out[k].role == WEIR_ROLE_DATA &&
                      !is_complex_sum(a);
    const int first = to->n_out;

    if (first + 1 + pair > WEIR_MAX_OUTPUTS) {
      return refuse("outputs", WEIR_MAX_OUTPUTS);
    }
    WEIR_TRY(weir_access_resize(to, to->n_in, first + 1 + pair, to->n_states));
    for (int part = 0; part < 1 + pair; part++) {
      p->out[first + part] = k;
      p->out_imag[first + part] = pair ? part == 1 : imag;
      to->out[first + part] = part_of(&a->out[k], part == 1);
    }
  }
  for (int k = 0; k < a->n_values; k++) {
    const int32_t v = a->value[k];

    to->value[to->n_values++] = imag ? imag_of[v] : real_of[v];
    if (imag_of[v] >= 0 && !is_complex_sum(a)) {
      to->value[to->n_values++] = imag_of[v];
    }
  }
  return WEIR_OK;
}

/* numbers: scratch for 2 body.n. */
static weir_status split(const weir_loop *from, planar_loop *p, bool imag, int32_t *numbers)
{
  const weir_access *a = &from->access;
  weir_access *to = &p->loop.access;
  int re[WEIR_MAX_OPERANDS], im[WEIR_MAX_OPERANDS], first[WEIR_MAX_STATES];
  int32_t *const real_of = numbers, *const imag_of = numbers + a->body.n;

  weir_access_init(to);
  to->n_dims = a->n_dims;
  memcpy(to->dim, a->dim, sizeof a->dim);
  to->combine = a->combine;
  to->accumulator = weir_dtype_part(a->accumulator);
  to->settle = a->settle;
  WEIR_TRY(split_inputs(a, p, re, im));
  WEIR_TRY(split_states(a, p, first));
  planar_body(&a->body, re, im, first, &to->body, real_of, imag_of);
  if (to->body.failed != WEIR_OK) {
    return weir_fail(to->body.failed, "real and imaginary parts of expressions");
  }
  for (int k = 0; k < a->n_states; k++) {
    const int32_t next = a->state[k].next;

    to->state[first[k]].next = real_of[next];
    if (imag_of[next] >= 0) {
      to->state[first[k] + 1].next = imag_of[next];
    }
  }
  return split_outputs(a, p, imag, real_of, imag_of);
}

static void destroy(planar *c)
{
  for (int i = 0; i < c->n_loops; i++) {
    weir_access_fini(&c->loop[i].loop.access);
  }
  weir_free(&c->loop);
  weir_free(&c);
}

static weir_status make(const weir_engine *inner, const weir_loop *loop, void **out)
{
  weir_status status = WEIR_OK;
  void *memory = NULL, *numbers = NULL;

  WEIR_TRY(weir_alloc(1, sizeof(planar), &memory));
  planar *c = memory;
  c->inner = inner;
  if (is_planar(&loop->access)) {
    const int parts = is_complex_sum(&loop->access) ? 2 : 1;

    WEIR_TRY_GOTO(weir_alloc(parts, sizeof *c->loop, &memory), failed);
    c->loop = memory;
    WEIR_TRY_GOTO(weir_alloc(2 * (int64_t)loop->access.body.n, sizeof(int32_t), &numbers), failed);
    while (c->n_loops < parts) {
      planar_loop *p = &c->loop[c->n_loops++];

      WEIR_TRY_GOTO(split(loop, p, p > c->loop, numbers), failed);
    }
  }
  weir_free(&numbers);
  *out = c;
  return WEIR_OK;
failed:
  weir_free(&numbers);
  destroy(c);
  return status;
}

/* The loops of the inner engine, and where their contexts belong. */
static int32_t collect(const weir_loop *const *loops, int32_t n, void **contexts,
                       const weir_loop **inner, void ***where)
{
  int32_t total = 0;

  for (int32_t k = 0; k < n; k++) {
    planar *c = contexts[k];

    for (int i = 0; i < (c->loop == NULL ? 1 : c->n_loops); i++, total++) {
      if (inner != NULL) {
        inner[total] = c->loop == NULL ? loops[k] : &c->loop[i].loop;
        where[total] = c->loop == NULL ? &c->context : &c->loop[i].context;
      }
    }
  }
  return total;
}

static weir_status prepare_inner(const weir_engine *inner, const weir_loop *const *loops, int32_t n,
                                 const weir_engine_opts *opts, void **contexts)
{
  const int32_t total = collect(loops, n, contexts, NULL, NULL);
  weir_status status = WEIR_OK;
  void *all = NULL, *where = NULL, *made = NULL;

  WEIR_TRY_GOTO(weir_alloc(total, sizeof(weir_loop *), &all), done);
  WEIR_TRY_GOTO(weir_alloc(total, sizeof(void **), &where), done);
  WEIR_TRY_GOTO(weir_alloc(total, sizeof(void *), &made), done);
  (void)collect(loops, n, contexts, all, where);
  WEIR_TRY_GOTO(inner->prepare(all, total, opts, made), done);
  for (int32_t k = 0; k < total; k++) {
    *((void ***)where)[k] = ((void **)made)[k];
  }
done:
  weir_free(&all);
  weir_free(&where);
  weir_free(&made);
  return status;
}

weir_status planar_prepare(const weir_engine *inner, const weir_loop *const *loops, int32_t n,
                           const weir_engine_opts *opts, void **contexts)
{
  weir_status status = WEIR_OK;
  int32_t done = 0;

  for (; done < n; done++) {
    WEIR_TRY_GOTO(make(inner, loops[done], &contexts[done]), failed);
  }
  WEIR_TRY_GOTO(prepare_inner(inner, loops, n, opts, contexts), failed);
  return WEIR_OK;
failed:
  for (int32_t k = 0; k < n; k++) {
    if (k < done) {
      destroy(contexts[k]);
    }
    contexts[k] = NULL;
  }
  return status;
}

void planar_release(void *context)
{
  planar *c = context;

  if (c == NULL) {
    return;
  }
  if (c->loop == NULL) {
    c->inner->release(c->context);
  }
  for (int i = 0; i < c->n_loops; i++) {
    c->inner->release(c->loop[i].context);
  }
  destroy(c);
}

/* The view of an operand of the whole loop, or of the parts of its elements. */
static weir_view view_part(const weir_view *whole, bool imag)
{
  weir_view v = *whole;

  if (!weir_dtype_is_complex(whole->dtype)) {
    return v;
  }
  v.dtype = weir_dtype_part(whole->dtype);
  v.data = (char *)whole->data + (imag ? weir_dtype_size(v.dtype) : 0);
  for (int d = 0; d < v.rank; d++) {
    v.stride[d] *= 2;
  }
  return v;
}

void planar_run(void *context, const weir_loop_run *run)
{
  const planar *c = context;

  if (c->loop == NULL) {
    c->inner->run(c->context, run);
    return;
  }
  for (int i = 0; i < c->n_loops; i++) {
    const planar_loop *p = &c->loop[i];
    weir_view in[WEIR_MAX_OPERANDS], out[WEIR_MAX_OUTPUTS];
    const weir_loop_run inner_run = {.box = run->box, .in = in, .out = out, .state = run->state};

    for (int k = 0; k < p->loop.access.n_in; k++) {
      in[k] = view_part(&run->in[p->in[k]], p->in_imag[k]);
    }
    for (int k = 0; k < p->loop.access.n_out; k++) {
      out[k] = view_part(&run->out[p->out[k]], p->out_imag[k]);
    }
    c->inner->run(p->context, &inner_run);
  }
}
