/* pool.c - out[n, o, c] = combine over t of in[n, stride o + t - lo, c]. */
#include "ops/pool/weir_pool.h"
#include "ops/elementwise/weir_elementwise.h"

static const int64_t max = INT64_C(1) << 31;

static int64_t stride_of(const weir_pool_spec *s, int k)
{
  return s->stride[k] == 0 ? s->kernel_size[k] : s->stride[k];
}

static int outputs(const weir_op_args *args)
{
  const weir_pool_spec *s = args->spec;

  return weir_combine_outputs(s->combine);
}

/* Number of windows along a dimension of n elements. */
static int64_t windows_of(const weir_pool_spec *s, int64_t n, int k)
{
  const int64_t stride = stride_of(s, k),
                reach = n + s->pad_before[k] + s->pad_after[k] - s->kernel_size[k];
  const int64_t more = s->ceil && reach % stride > 0 ? 1 : 0;

  return reach / stride + 1 + ((reach / stride + 1) * stride < n + s->pad_before[k] ? more : 0);
}

static weir_status check_dim(const weir_pool_spec *s, int64_t n, int k)
{
  const int64_t size = s->kernel_size[k], stride = stride_of(s, k);

  if (size < 1 || size > max || stride < 1 || stride > max || s->pad_before[k] < 0 ||
      s->pad_before[k] >= size || s->pad_after[k] < 0 || s->pad_after[k] >= size ||
      n + s->pad_before[k] + s->pad_after[k] < size) {
    return weir_fail(
        WEIR_ERR_SHAPE,
        "pool: dimension %d: window %lld, stride %lld, padding %lld and %lld, extent %lld: padding "
        "must be less than the window, and the window at most the padded extent",
        k, (long long)size, (long long)stride, (long long)s->pad_before[k],
        (long long)s->pad_after[k], (long long)n);
  }
  return WEIR_OK;
}

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  const weir_pool_spec *s = args->spec;
  weir_dtype accumulator = WEIR_F32;

  WEIR_TRY(weir_need_count("pool", args, 1, 1));
  const weir_array_desc *x = &args->in[0];
  const int d = x->rank - 2;

  if (d < 1 || d > WEIR_POOL_DIMS || x->time > 0) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "pool: rank %d: x must be [n, 1 to %d dimensions, channels], without time",
                     x->rank, WEIR_POOL_DIMS);
  }
  if (weir_combine_has_presence(s->combine)) {
    return weir_fail(WEIR_ERR_SHAPE, "pool: %s is not supported here: use window",
                     weir_combine_name(s->combine));
  }
  WEIR_TRY(weir_combine_accumulator("pool", s->combine, x->dtype, s->accumulator, &accumulator));
  for (int k = 0; k < d; k++) {
    WEIR_TRY(check_dim(s, x->shape[k + 1], k));
  }
  for (int o = 0; o < weir_combine_outputs(s->combine); o++) {
    out[o] = *x;
    out[o].dtype = weir_combine_dtype(s->combine, accumulator, o);
    for (int k = 0; k < d; k++) {
      out[o].shape[k + 1] = windows_of(s, x->shape[k + 1], k);
    }
  }
  return WEIR_OK;
}

static weir_status access(const weir_op_args *args, weir_access *a)
{
  const weir_pool_spec *s = args->spec;
  const weir_array_desc *x = &args->in[0];

  weir_map_dims(a, &args->out[0]);
  weir_map_identity(&a->in[0], x);
  for (int k = 0; k < x->rank - 2; k++) {
    weir_index *i = &a->in[0].index[k + 1];

    i->coef[k + 1] = stride_of(s, k);
    i->coef[weir_map_dim(a, WEIR_REDUCED, s->kernel_size[k])] = 1;
    i->offset = -s->pad_before[k];
    const int64_t last =
        stride_of(s, k) * (args->out[0].shape[k + 1] - 1) + s->kernel_size[k] - s->pad_before[k];

    i->border =
        s->pad_before[k] == 0 && last <= x->shape[k + 1] ? WEIR_BORDER_NEVER : WEIR_BORDER_ABSENT;
  }
  for (int o = 0; o < args->n_out; o++) {
    weir_map_identity(&a->out[o], &args->out[o]);
  }
  weir_combine_values(a, args, s->combine);
  return WEIR_OK;
}

const weir_op_desc weir_op_pool = {
    .name = "pool",
    .cite = "",
    .spec_size = sizeof(weir_pool_spec),
    .infer = infer,
    .access = access,
    .outputs = outputs,
};

weir_value weir_pool_at(weir_graph *g, const weir_pool_spec *spec, weir_value x, const char *where)
{
  return weir_graph_add(g, &weir_op_pool, spec, &x, 1, where);
}

weir_value weir_pool_max_at(weir_graph *g, const weir_pool_spec *spec, weir_value x,
                            const char *where)
{
  weir_pool_spec s = *spec;

  s.combine = WEIR_COMBINE_ARGMAX;
  return weir_pool_at(g, &s, x, where);
}

/* Elements that window o of dimension k divides by. */
static double elements_of(const weir_pool_spec *s, int64_t n, int64_t o, int k)
{
  const int64_t from = stride_of(s, k) * o - s->pad_before[k], to = from + s->kernel_size[k];
  const int64_t lo = s->exclude_pad ? 0 : -s->pad_before[k],
                hi = s->exclude_pad ? n : n + s->pad_after[k];

  return (double)((to < hi ? to : hi) - (from > lo ? from : lo));
}

/* Whether every window of dimension k divides by the kernel size. */
static bool is_whole(const weir_pool_spec *s, int64_t n, int64_t windows, int k)
{
  bool whole = true;

  for (int64_t o = 0; o < windows; o++) {
    whole = whole && elements_of(s, n, o, k) == (double)s->kernel_size[k];
  }
  return whole;
}

/* x over the numbers of elements of each window along dimension k. */
static weir_value divide(weir_graph *g, const weir_pool_spec *s, weir_value x, int64_t n, int k,
                         const char *where)
{
  const weir_array_desc d = *weir_value_desc(g, x);
  const int64_t shape[WEIR_MAX_RANK] = {d.shape[k + 1], 1, 1, 1};
  weir_tensor t;
  const weir_status status = weir_tensor_init(&t, d.dtype, d.rank - 1 - k, shape);

  if (status != WEIR_OK) {
    return weir_graph_fail(g, status);
  }
  for (int64_t o = 0; o < shape[0]; o++) {
    weir_dtype_store_real(d.dtype, t.data, o, 1 / elements_of(s, n, o, k));
  }
  const weir_value v = weir_binary_at(g, WEIR_CODE_MUL, x, weir_constant(g, &t), where);

  weir_tensor_fini(&t);
  return v;
}

weir_value weir_pool_mean_at(weir_graph *g, const weir_pool_spec *spec, weir_value x,
                             const char *where)
{
  weir_pool_spec s = *spec;
  double volume = 1;

  s.combine = WEIR_COMBINE_SUM;
  weir_value v = weir_pool_at(g, &s, x, where);

  if (v.node < 0) {
    return v;
  }
  const weir_array_desc d = *weir_value_desc(g, x);

  if (!weir_dtype_is_real(weir_value_desc(g, v)->dtype)) {
    return weir_graph_fail(g, weir_fail(WEIR_ERR_SHAPE,
                                        "pool: %s: the mean of %s is not a float: cast it first",
                                        where, weir_dtype_name(d.dtype)));
  }
  for (int k = 0; k < d.rank - 2 && v.node >= 0; k++) {
    if (is_whole(&s, d.shape[k + 1], weir_value_desc(g, v)->shape[k + 1], k)) {
      volume *= (double)s.kernel_size[k];
    } else {
      v = divide(g, &s, v, d.shape[k + 1], k, where);
    }
  }
  return weir_right_at(g, WEIR_CODE_MUL, v, 1 / volume, where);
}
