/* scan.c - states, maps and state arrays of a recurrence whose body a define function writes. */
#include "ops/scan/scan_priv.h"

#include <string.h>

/* Define functions do not see failures while they write. */
static int32_t fail(weir_scan *s, weir_status status)
{
  weir_status *failed = &s->access->body.failed;

  *failed = *failed == WEIR_OK ? status : *failed;
  return -1;
}

int32_t weir_scan_load(weir_scan *s, int input)
{
  if (input < 0 || input >= s->n_data) {
    return fail(s, WEIR_ERR_SHAPE);
  }
  return weir_body_load(&s->access->body, input, s->args->in[input].dtype);
}

int weir_scan_state(weir_scan *s, weir_dtype dtype, double initial)
{
  weir_access *a = s->access;
  const int n = a->n_states;
  const weir_status status =
      n < WEIR_MAX_STATES ? weir_access_resize(a, a->n_in, a->n_out, n + 1) : WEIR_ERR_SHAPE;

  if (status != WEIR_OK) {
    return fail(s, status);
  }
  a->state[n] = (weir_state){.dtype = dtype, .initial = initial, .next = -1};
  return n;
}

int32_t weir_scan_read(weir_scan *s, int state)
{
  return state >= 0 && state < s->access->n_states
             ? weir_body_state(&s->access->body, state, s->access->state[state].dtype)
             : fail(s, WEIR_ERR_SHAPE);
}

void weir_scan_next(weir_scan *s, int state, int32_t expression)
{
  if (state >= 0 && state < s->access->n_states) {
    s->access->state[state].next = expression;
  } else {
    (void)fail(s, WEIR_ERR_SHAPE);
  }
}

void weir_scan_emit(weir_scan *s, int32_t expression)
{
  weir_access *a = s->access;

  if (a->n_values >= WEIR_MAX_OUTPUTS) {
    (void)fail(s, WEIR_ERR_SHAPE);
    return;
  }
  a->value[a->n_values++] = expression;
}

void weir_scan_skips(weir_scan *s, int input, int64_t settle)
{
  s->access->presence = input + 1;
  s->access->settle = settle;
}

/* Writes body, states and values of `a`, and checks them. */
static weir_status define(const weir_op_args *args, weir_access *a)
{
  const weir_scan_spec *spec = args->spec;
  weir_scan s = {.args = args, .access = a, .parameter = spec->parameter, .n_data = spec->n_data};

  WEIR_TRY(spec->define(&s));
  if (a->body.failed != WEIR_OK) {
    return weir_fail(a->body.failed, "%s: its body is invalid: %s", spec->name,
                     a->body.failed == WEIR_ERR_MEMORY ? "no memory"
                                                       : "an invalid argument, or too many states");
  }
  if (a->n_values < 1) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: nothing is emitted", spec->name);
  }
  for (int i = 0; i < a->n_states; i++) {
    const int32_t next = a->state[i].next;

    if (next < 0 || next >= a->body.n || a->body.exprs[next].dtype != a->state[i].dtype) {
      return weir_fail(WEIR_ERR_SHAPE, "%s: state %d has no next value of its dtype", spec->name,
                       i);
    }
  }
  for (int i = 0; i < a->n_values; i++) {
    if (a->value[i] < 0 || a->value[i] >= a->body.n) {
      return weir_fail(WEIR_ERR_SHAPE, "%s: output %d is not an expression", spec->name, i);
    }
  }
  return WEIR_OK;
}

/* Dtypes of the states in order of first declaration, how many states each has, and each state's
 * index. Returns the number of dtypes. */
static int state_arrays(weir_access *a, weir_dtype *dtype, int64_t *count, int *array)
{
  int n = 0;

  for (int i = 0; i < a->n_states; i++) {
    int k = 0;

    while (k < n && dtype[k] != a->state[i].dtype) {
      k++;
    }
    if (k == n) {
      dtype[n] = a->state[i].dtype;
      count[n++] = 0;
    }
    array[i] = k;
    a->state[i].slot = (int)count[k]++;
  }
  return n;
}

/* Array of `count` states of one dtype over the dimensions other than `dim`. */
static weir_array_desc state_desc(const weir_array_desc *whole, int dim, weir_dtype dtype,
                                  int64_t count)
{
  weir_array_desc d = {.dtype = dtype, .rank = 1};

  d.shape[0] = count;
  for (int k = 0; k < whole->rank; k++) {
    if (k != dim) {
      d.shape[d.rank++] = whole->shape[k];
      d.time = whole->time == k + 1 ? d.rank : d.time;
    }
  }
  return d;
}

static weir_status check_states(const weir_op_args *args, weir_access *a,
                                const weir_array_desc *whole)
{
  const weir_scan_spec *s = args->spec;
  weir_dtype dtype[WEIR_DTYPE_COUNT];
  int64_t count[WEIR_DTYPE_COUNT];
  int array[WEIR_MAX_STATES];
  const int n = state_arrays(a, dtype, count, array);

  if (args->n_in != s->n_data + (s->take_state ? n : 0)) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: takes %d inputs and %d state arrays, not %d in all",
                     s->name, s->n_data, s->take_state ? n : 0, args->n_in);
  }
  for (int k = 0; s->take_state && k < n; k++) {
    const weir_array_desc want = state_desc(whole, s->dim, dtype[k], count[k]);
    const weir_array_desc *d = &args->in[s->n_data + k];

    if (d->dtype != want.dtype || d->rank != want.rank ||
        memcmp(d->shape, want.shape, (size_t)d->rank * sizeof d->shape[0]) != 0) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "%s: initial states %d are not %s [%lld, other dimensions...]", s->name, k,
                       weir_dtype_name(want.dtype), (long long)count[k]);
    }
  }
  return WEIR_OK;
}

static weir_status check_spec(const weir_op_args *args, weir_array_desc *whole)
{
  const weir_scan_spec *s = args->spec;

  if (s->name == NULL || s->define == NULL) {
    return weir_fail(WEIR_ERR_SHAPE, "scan: a name and a define function are required");
  }
  if (s->n_data < 1 || s->n_data > args->n_in) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: %d data inputs, but only %d inputs", s->name, s->n_data,
                     args->n_in);
  }
  WEIR_TRY(weir_common_shape(s->name, args->in, s->n_data, whole));
  WEIR_TRY(weir_need_dim(s->name, whole, s->dim));
  if (s->backward) {
    WEIR_TRY(weir_need_bounded(s->name, whole, s->dim, "a backward scan starts at the end"));
  }
  return WEIR_OK;
}

static int outputs(const weir_op_args *args)
{
  const weir_scan_spec *s = args->spec;
  weir_dtype dtype[WEIR_DTYPE_COUNT];
  int64_t count[WEIR_DTYPE_COUNT];
  int array[WEIR_MAX_STATES];
  weir_access a;
  int n = 0; /* what is wrong is reported by infer */

  weir_access_init(&a);
  if (s->define != NULL && s->n_data >= 1 && s->n_data <= args->n_in &&
      define(args, &a) == WEIR_OK) {
    n = a.n_values + (s->give_state ? state_arrays(&a, dtype, count, array) : 0);
  }
  weir_access_fini(&a);
  return n;
}

static weir_status infer_from(const weir_op_args *args, weir_access *a, weir_array_desc *out)
{
  const weir_scan_spec *s = args->spec;
  weir_array_desc whole = {.rank = 0};
  weir_dtype dtype[WEIR_DTYPE_COUNT];
  int64_t count[WEIR_DTYPE_COUNT];
  int array[WEIR_MAX_STATES];

  WEIR_TRY(check_spec(args, &whole));
  WEIR_TRY(define(args, a));
  WEIR_TRY(check_states(args, a, &whole));
  const int n = s->give_state ? state_arrays(a, dtype, count, array) : 0;

  if (a->n_values + n > WEIR_MAX_OUTPUTS) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: %d outputs, at most %d are possible", s->name,
                     a->n_values + n, WEIR_MAX_OUTPUTS);
  }
  if (a->n_values + n != args->n_out) { /* `outputs` had no memory and could not tell */
    return weir_fail(WEIR_ERR_MEMORY, "%s: no memory to count its outputs", s->name);
  }
  for (int k = 0; k < a->n_values; k++) {
    out[k] = whole;
    out[k].dtype = a->body.exprs[a->value[k]].dtype;
  }
  for (int k = 0; k < n; k++) {
    out[a->n_values + k] = state_desc(&whole, s->dim, dtype[k], count[k]);
  }
  return WEIR_OK;
}

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  weir_access a;

  weir_access_init(&a);
  const weir_status status = infer_from(args, &a, out);

  weir_access_fini(&a);
  if (status != WEIR_OK) {
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  return WEIR_OK;
}

/* A state array: the slot, then the parallel dimensions. */
static void map_states(weir_operand *o, const weir_array_desc *d, int dim)
{
  weir_map_operand(o, d);
  o->role = WEIR_ROLE_STATE;
  for (int k = 1; k < d->rank; k++) {
    o->index[k].coef[k - 1 < dim ? k - 1 : k] = 1;
  }
}

static weir_status access(const weir_op_args *args, weir_access *a)
{
  const weir_scan_spec *s = args->spec;
  weir_dtype dtype[WEIR_DTYPE_COUNT];
  int64_t count[WEIR_DTYPE_COUNT];
  int array[WEIR_MAX_STATES];
  const weir_array_desc *whole = &args->out[0];

  WEIR_TRY(define(args, a));
  weir_map_dims(a, whole);
  a->dim[s->dim].kind = s->backward ? WEIR_BACKWARD : WEIR_FORWARD;
  for (int i = 0; i < s->n_data; i++) {
    weir_map_broadcast(&a->in[i], &args->in[i], whole);
  }
  for (int k = 0; k < a->n_values; k++) {
    weir_map_identity(&a->out[k], &args->out[k]);
  }
  const int n = state_arrays(a, dtype, count, array);

  for (int k = 0; k < n; k++) {
    if (s->take_state) {
      map_states(&a->in[s->n_data + k], &args->in[s->n_data + k], s->dim);
    }
    if (s->give_state) {
      map_states(&a->out[a->n_values + k], &args->out[a->n_values + k], s->dim);
    }
  }
  for (int i = 0; i < a->n_states; i++) {
    a->state[i].init = s->take_state ? 1 + s->n_data + array[i] : 0;
    a->state[i].final = s->give_state ? 1 + a->n_values + array[i] : 0;
  }
  return WEIR_OK;
}

const weir_op_desc weir_op_scan = {
    .name = "scan",
    .cite = "",
    .spec_size = sizeof(weir_scan_spec),
    .infer = infer,
    .access = access,
    .outputs = outputs,
};

weir_value weir_scan_at(weir_graph *g, const weir_scan_spec *spec, const weir_value *in, int n_in,
                        const char *where)
{
  return weir_graph_add(g, &weir_op_scan, spec, in, n_in, where);
}
