/* reference.c - the reference engine, the oracle: every structured loop, element by element, as the
 * definitions of graph/weir_access.h read. Slow on purpose and free of cleverness. */
#include "exec/backend/reference/reference_priv.h"

#include "base/weir_alloc.h"

typedef struct context {
  weir_access access;
  exec_pool pool; /* blocks of body.n values */
} context;

/* What one run needs at hand. */
typedef struct running {
  const weir_access *a;
  const weir_loop_run *run;
  exec_scalar *values;
  exec_scalar loaded[WEIR_MAX_OPERANDS], state[WEIR_MAX_STATES];
  int64_t iteration[WEIR_MAX_DIMS];
} running;

static void release(void *opaque)
{
  context *c = opaque;

  if (c != NULL) {
    weir_access_fini(&c->access);
    exec_pool_fini(&c->pool);
    weir_free(&c);
  }
}

static weir_status prepare_one(const weir_loop *loop, const weir_engine_opts *opts, void **out)
{
  weir_status status = WEIR_OK;
  void *memory;

  *out = NULL;
  WEIR_TRY(exec_check(&loop->access));
  WEIR_TRY(weir_alloc(1, sizeof(context), &memory));
  context *c = memory;
  WEIR_TRY_GOTO(weir_access_copy(&loop->access, &c->access), done);
  WEIR_TRY_GOTO(
      exec_pool_init(&c->pool, opts->threads, sizeof(exec_scalar) * (size_t)(c->access.body.n + 1)),
      done);
  *out = c;
done:
  if (status != WEIR_OK) {
    release(c);
  }
  return status;
}

static weir_status prepare(const weir_loop *const *loops, int32_t n, const weir_engine_opts *opts,
                           void **contexts)
{
  WEIR_TRY(exec_prepare_each(loops, n, opts, prepare_one, release, contexts));
  return WEIR_OK;
}

static exec_scalar load(weir_dtype dtype, const void *at)
{
  exec_scalar x = {.z = {0, 0}};

  if (weir_dtype_is_complex(dtype)) {
    x.z = weir_dtype_load_complex(dtype, at, 0);
  } else if (weir_dtype_is_real(dtype)) {
    x.real = weir_dtype_load_real(dtype, at, 0);
  } else {
    x.integer = weir_dtype_load_int(dtype, at, 0);
  }
  return x;
}

static void store(weir_dtype to, void *at, weir_dtype from, exec_scalar x)
{
  const exec_scalar y = reference_cast(to, from, x);

  if (weir_dtype_is_complex(to)) {
    weir_dtype_store_complex(to, at, 0, y.z);
  } else if (weir_dtype_is_real(to)) {
    weir_dtype_store_real(to, at, 0, y.real);
  } else {
    weir_dtype_store_int(to, at, 0, y.integer);
  }
}

/* Loads every operand of the iteration and computes the body; false when the iteration is dropped.
 */
static bool evaluate(running *r)
{
  const weir_access *a = r->a;
  const reference_point point = {a, r->run->in, r->iteration, r->loaded, r->state};

  for (int k = 0; k < a->n_in; k++) {
    const weir_view *view = &r->run->in[k];
    int64_t index[WEIR_MAX_RANK];
    double fill;

    if (a->in[k].role != WEIR_ROLE_DATA) {
      continue;
    }
    switch (exec_locate(a, &a->in[k], view->extent, r->run->in, r->iteration, index, &fill)) {
    case EXEC_IN_BOUNDS:
      r->loaded[k] = load(view->dtype, weir_view_at(view, index));
      break;
    case EXEC_FILL: {
      const exec_scalar x = {.real = fill};
      r->loaded[k] = reference_cast(a->in[k].dtype, WEIR_F64, x);
      break;
    }
    case EXEC_DROPPED:
      return false;
    }
  }
  reference_body(&point, r->values);
  return true;
}

/* Stores value k of the iteration into DATA output number k. */
static void put(const running *r, int k, weir_dtype from, exec_scalar x)
{
  const weir_access *a = r->a;
  int64_t index[WEIR_MAX_RANK];
  int output = 0;

  for (int seen = 0; a->out[output].role != WEIR_ROLE_DATA || seen++ != k; output++) {
  }
  const weir_operand *o = &a->out[output];
  for (int d = 0; d < o->rank; d++) {
    index[d] = weir_index_raw(&o->index[d], a->n_dims, r->iteration, 0);
  }
  const weir_view *view = &r->run->out[output];
  store(view->dtype, weir_view_at(view, index), from, x);
}

static int data_outputs(const weir_access *a)
{
  int n = 0;

  for (int k = 0; k < a->n_out; k++) {
    n += a->out[k].role == WEIR_ROLE_DATA;
  }
  return n;
}

/* State `s` of a point out of its cells, or into them. */
static void move_state(running *r, int s, int64_t point, bool load_it)
{
  const weir_dtype dtype = r->a->state[s].dtype, part = weir_dtype_part(dtype);
  const weir_state_table *cells = r->run->state;
  uint64_t *first = &cells->cells[weir_table_before(r->a, s) * cells->points + point];
  exec_scalar *x = &r->state[s];

  if (!weir_dtype_is_complex(dtype)) {
    if (load_it) {
      *x = load(dtype, first);
    } else {
      store(dtype, first, dtype, *x);
    }
    return;
  }
  uint64_t *second = first + cells->points;
  if (load_it) {
    x->z = (weir_c128){weir_dtype_load_real(part, first, 0), weir_dtype_load_real(part, second, 0)};
  } else {
    weir_dtype_store_real(part, first, 0, x->z.re);
    weir_dtype_store_real(part, second, 0, x->z.im);
  }
}

/* One point without a monoid: all of its sequential iterations. */
static void run_scan(running *r)
{
  const weir_access *a = r->a;
  const int64_t point = exec_position(a, WEIR_PARALLEL, r->iteration);

  for (int s = 0; s < a->n_states; s++) {
    move_state(r, s, point, true);
  }
  do {
    const bool here = evaluate(r);
    const exec_scalar zero = {.z = {0, 0}};
    for (int k = 0; k < a->n_values; k++) {
      const weir_dtype from = a->body.exprs[a->value[k]].dtype;
      put(r, k, here ? from : WEIR_I64, here ? r->values[a->value[k]] : zero);
    }
    for (int s = 0; here && s < a->n_states; s++) {
      r->state[s] =
          reference_cast(a->state[s].dtype, a->state[s].dtype, r->values[a->state[s].next]);
    }
  } while (exec_next(a, &r->run->box, exec_mask(a, WEIR_FORWARD), r->iteration));
  for (int s = 0; s < a->n_states; s++) {
    move_state(r, s, point, false);
  }
}

static void run_reduction(running *r)
{
  const weir_access *a = r->a;
  bool empty = false;
  reference_partial partial;

  for (int k = 0; k < a->n_dims; k++) {
    empty = empty || (a->dim[k].kind == WEIR_REDUCED && r->run->box.lo[k] >= r->run->box.hi[k]);
  }
  reference_neutral(a, &partial);
  if (!empty) {
    do {
      if (evaluate(r)) {
        reference_take(a, &partial, r->values, exec_position(a, WEIR_REDUCED, r->iteration));
      }
    } while (exec_next(a, &r->run->box, exec_mask(a, WEIR_REDUCED), r->iteration));
  }
  for (int k = 0; k < data_outputs(a); k++) {
    weir_dtype from;
    const exec_scalar x = reference_result(a, &partial, k, &from);
    put(r, k, from, x);
  }
}

static void run(void *opaque, const weir_loop_run *what)
{
  context *c = opaque;
  const weir_access *a = &c->access;
  running r = {.a = a, .run = what};

  if (!exec_has_points(a, &what->box)) {
    return;
  }
  r.values = exec_pool_take(&c->pool);
  exec_first(a, &what->box, r.iteration);
  do {
    if (a->combine != WEIR_COMBINE_NONE) {
      run_reduction(&r);
    } else {
      run_scan(&r);
    }
  } while (exec_next(a, &what->box, exec_mask(a, WEIR_PARALLEL), r.iteration));
  exec_pool_give(&c->pool, r.values);
}

const weir_engine weir_engine_reference = {.name = "reference",
                                           .tier = WEIR_TIER_REFERENCE,
                                           .prepare = prepare,
                                           .run = run,
                                           .release = release};
