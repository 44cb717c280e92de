/* normalize.c - LifeStream's Normalize (Jayarajan et al., ASPLOS 2021): a stream joined with the
 * mean and standard deviation of its windows. */
#include "stream/op/normalize/weir_stream_normalize.h"
#include "ops/elementwise/weir_elementwise.h"
#include "stream/op/aggregate/weir_stream_aggregate.h"

/* A number per window on the clock of the samples. */
static weir_value hold(weir_graph *g, weir_value v, int64_t window)
{
  const weir_series s = {
      .value = v, .present = v, .age = WEIR_NO_VALUE, .rate_num = 1, .rate_den = 1};

  return weir_series_hold(g, s, window).value;
}

/* 1 / std, 0 where std is 0. */
static weir_value inverse(weir_graph *g, weir_value var)
{
  const weir_value flat = weir_le_scalar(g, var, 0);
  const weir_value std = weir_sqrt(g, weir_select(g, flat, weir_scalar(g, WEIR_F64, 1), var));

  return weir_select(g, flat, weir_scalar(g, WEIR_F64, 0), weir_rdiv_scalar(g, 1, std));
}

/* The mean is subtracted as a sum of two numbers, so that nothing is lost where it is far from 0.
 */
static weir_value tumbling(weir_graph *g, weir_series s, int64_t window)
{
  const weir_moments_stream m = weir_stream_moments(g, s, window);
  const weir_value high = weir_cast(g, WEIR_F32, m.mean);
  const weir_value low = weir_cast(g, WEIR_F32, weir_sub(g, m.mean, weir_cast(g, WEIR_F64, high)));
  const weir_value scale = weir_cast(g, WEIR_F32, inverse(g, m.var));
  const weir_value d =
      weir_sub(g, weir_sub(g, s.value, hold(g, high, window)), hold(g, low, window));

  return weir_mul(g, d, hold(g, scale, window));
}

static weir_value trailing(const weir_series_use *use, weir_series s, int64_t window)
{
  weir_graph *g = use->graph;
  const weir_moments_stream m = weir_stream_trailing_moments(use, s, window);
  const weir_value d = weir_sub(g, weir_cast(g, WEIR_F64, s.value), m.mean);

  return weir_cast(g, WEIR_F32, weir_mul(g, d, inverse(g, m.var)));
}

weir_series weir_stream_normalize(const weir_series_use *use, weir_series s, int64_t window,
                                  bool causal)
{
  if (window < 1) {
    s.value = weir_graph_fail(
        use->graph, weir_fail(WEIR_ERR_SHAPE, "normalize: %lld slots", (long long)window));
    return s;
  }
  s.value = causal ? trailing(use, s, window) : tumbling(use->graph, s, window);
  weir_series_set_unit(&s, "1");
  return weir_series_mask(use->graph, s);
}

typedef struct normalize_opts {
  double window;
  bool causal;
} normalize_opts;

static const weir_opt options[] = {
    WEIR_OPT_REAL(normalize_opts, window, 60, 0, 1e9, "s",
                  "length of the windows that are normalised to mean 0 and standard deviation 1"),
    WEIR_OPT_BOOL(normalize_opts, causal, false,
                  "true: trailing window that ends with the sample (sliding z-score); false: "
                  "aligned window that contains it, which waits for later samples"),
    WEIR_OPT_END,
};

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const normalize_opts *o = use->opts;
  int64_t window = 0;

  if (o->causal) {
    WEIR_TRY(weir_series_slots(&use->in[0], "window", o->window, 1, &window));
  } else {
    WEIR_TRY(weir_series_hop(&use->in[0], "window", o->window, &window));
  }
  out->out[0] = weir_stream_normalize(use, use->in[0], window, o->causal);
  out->n = 1;
  WEIR_TRY(weir_graph_status(use->graph));
  return WEIR_OK;
}

const weir_series_op weir_series_op_normalize = {
    .name = "normalize",
    .cite = "Jayarajan et al., ASPLOS 2021",
    .help = "z-score per window, (x - mean) / std: unit 1, 0 where the window is constant",
    .opts = options,
    .opts_size = sizeof(normalize_opts),
    .min_in = 1,
    .max_in = 1,
    .build = build,
};
