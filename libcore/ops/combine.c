/* combine.c - what each monoid of weir_access.h takes and gives. */
#include "ops/weir_combine.h"

static const struct row {
  const char *name;
  int outputs;
  bool presence, floats; /* floats only */
  bool flags;            /* takes bool  */
} rows[] = {
    [WEIR_COMBINE_NONE] = {"none", 1, false, false, false},
    [WEIR_COMBINE_SUM] = {"sum", 1, false, false, true},
    [WEIR_COMBINE_PROD] = {"prod", 1, false, false, false},
    [WEIR_COMBINE_MAX] = {"max", 1, false, false, false},
    [WEIR_COMBINE_MIN] = {"min", 1, false, false, false},
    [WEIR_COMBINE_ARGMAX] = {"argmax", 2, false, false, false},
    [WEIR_COMBINE_MOMENTS] = {"moments", 3, true, true, false},
    [WEIR_COMBINE_SOFTMAX] = {"softmax", 2, false, true, false},
    [WEIR_COMBINE_FIRST] = {"first", 2, true, false, true},
    [WEIR_COMBINE_LAST] = {"last", 2, true, false, true},
};

static const int n_rows = (int)(sizeof rows / sizeof rows[0]);

static const struct row *row_of(weir_monoid m)
{
  return (int)m < 0 || (int)m >= n_rows ? &rows[WEIR_COMBINE_NONE] : &rows[m];
}

int weir_combine_outputs(weir_monoid m)
{
  return row_of(m)->outputs;
}

bool weir_combine_has_presence(weir_monoid m)
{
  return row_of(m)->presence;
}

const char *weir_combine_name(weir_monoid m)
{
  return row_of(m)->name;
}

weir_status weir_combine_accumulator(const char *op, weir_monoid m, weir_dtype dtype,
                                     int accumulator, weir_dtype *out)
{
  const struct row *r = row_of(m);
  weir_dtype in = dtype;

  if (r == &rows[WEIR_COMBINE_NONE]) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: monoid %d is not a reduction", op, (int)m);
  }
  if (accumulator < 0 || accumulator > WEIR_DTYPE_COUNT) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: accumulator %d is not a dtype", op, accumulator);
  }
  if (accumulator != 0) {
    in = (weir_dtype)(accumulator - 1);
  } else if ((m == WEIR_COMBINE_SUM || m == WEIR_COMBINE_PROD) && weir_dtype_is_whole(dtype)) {
    in = WEIR_I64;
  } else {
    in = weir_dtype_compute_type(dtype);
  }
  if ((r->floats && !weir_dtype_is_real(in)) || (dtype == WEIR_BOOL && !r->flags) ||
      (in == WEIR_BOOL && !r->presence) || weir_dtype_is_storage(in) ||
      weir_dtype_is_complex(in) != weir_dtype_is_complex(dtype) ||
      (weir_dtype_is_complex(in) && m != WEIR_COMBINE_SUM)) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: %s of %s in %s is not defined", op, r->name,
                     weir_dtype_name(dtype), weir_dtype_name(in));
  }
  *out = in;
  return WEIR_OK;
}

weir_dtype weir_combine_dtype(weir_monoid m, weir_dtype accumulator, int k)
{
  if (k == 1 && m == WEIR_COMBINE_ARGMAX) {
    return WEIR_I64;
  }
  if (k == 1 && (m == WEIR_COMBINE_FIRST || m == WEIR_COMBINE_LAST)) {
    return WEIR_BOOL;
  }
  return accumulator;
}

void weir_combine_values(weir_access *a, const weir_op_args *args, weir_monoid m)
{
  const weir_dtype dtype = args->in[0].dtype, accumulator = args->out[0].dtype;
  const int32_t x = weir_body_load(&a->body, 0, dtype);
  const int32_t present = args->n_in == 2 ? weir_body_load(&a->body, 1, WEIR_BOOL) : -1;

  a->combine = m;
  a->accumulator = accumulator;
  a->n_values = 1;
  a->value[0] = dtype == accumulator ? x : weir_body_cast(&a->body, accumulator, x);
  if (weir_combine_has_presence(m)) {
    a->n_values = 2;
    a->value[1] = present >= 0 ? present : weir_body_int(&a->body, WEIR_BOOL, 1);
  }
}

weir_status weir_combine_inputs(const char *op, const weir_op_args *args, weir_monoid m)
{
  weir_array_desc whole;

  WEIR_TRY(weir_need_count(op, args, 1, weir_combine_has_presence(m) ? 2 : 1));
  if (args->n_in == 1) {
    return WEIR_OK;
  }
  if (args->in[1].dtype != WEIR_BOOL) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: the presence is %s: it must be bool", op,
                     weir_dtype_name(args->in[1].dtype));
  }
  WEIR_TRY(weir_common_shape(op, args->in, 2, &whole));
  bool same = whole.rank == args->in[0].rank;

  for (int d = 0; d < whole.rank && same; d++) {
    same = whole.shape[d] == args->in[0].shape[d];
  }
  if (!same) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: the presence does not broadcast to the values", op);
  }
  return WEIR_OK;
}
