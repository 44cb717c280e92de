/* block_test.c - residual blocks and attention against plain loops; gradients. */
#include "nn/weir_block.h"

#include "support/exec/gradient_check.h"
#include "ops/ops_cases.h"
#include "ops/slice/weir_slice.h"

static weir_value build_residual(weir_net *net, weir_value x, const void *spec)
{
  return weir_nn_residual(net, "r", spec, x);
}

enum { MAX = 600 };

/* A row of samples: [n, n_positions, channels]. */
typedef struct rows {
  int64_t n, n_positions, channels;
  double v[MAX];
} rows;

/* Convolution of one dimension, padding `same`, kernel_size 3 or fewer. */
static rows convolve(const check_net *c, const char *name, const rows *x, int64_t kernel_size,
                     int64_t stride, bool bias)
{
  char path[64];
  rows y = {.n = x->n, .n_positions = (x->n_positions + stride - 1) / stride};

  snprintf(path, sizeof path, "r/%s/weight", name);
  const weir_param_row *row = weir_params_get(c->params, weir_params_find(c->params, path));
  const double *w = check_param(c, path);
  const int64_t need = (y.n_positions - 1) * stride + kernel_size - x->n_positions,
                lo = need > 0 ? need / 2 : 0;

  y.channels = row->shape[2];
  assert_int_equal(row->shape[0], kernel_size);
  assert_true(y.n * y.n_positions * y.channels <= MAX);
  snprintf(path, sizeof path, "r/%s/bias", name);
  for (int64_t i = 0; i < y.n * y.n_positions * y.channels; i++) {
    const int64_t o = i % y.channels, p = i / y.channels % y.n_positions,
                  n = i / y.channels / y.n_positions;

    y.v[i] = bias ? check_param(c, path)[o] : 0;
    for (int64_t t = 0; t < kernel_size; t++) {
      const int64_t at = p * stride + t - lo;

      for (int64_t k = 0; at >= 0 && at < x->n_positions && k < x->channels; k++) {
        y.v[i] += x->v[(n * x->n_positions + at) * x->channels + k] *
                  w[(t * x->channels + k) * y.channels + o];
      }
    }
  }
  return y;
}

/* Layer normalisation of the channels. */
static rows normalise(const check_net *c, const char *name, const rows *x)
{
  const int64_t channels = x->channels;
  char path[64];
  rows y = *x;

  for (int64_t r = 0; r < x->n * x->n_positions; r++) {
    double mean = 0, variance = 0;

    for (int64_t k = 0; k < channels; k++) {
      mean += x->v[r * channels + k] / (double)channels;
    }
    for (int64_t k = 0; k < channels; k++) {
      variance += pow(x->v[r * channels + k] - mean, 2) / (double)channels;
    }
    for (int64_t k = 0; k < channels; k++) {
      snprintf(path, sizeof path, "r/%s/scale", name);
      const double scale = check_param(c, path)[k];

      snprintf(path, sizeof path, "r/%s/offset", name);
      y.v[r * channels + k] =
          (x->v[r * channels + k] - mean) / sqrt(variance + 0.5) * scale + check_param(c, path)[k];
    }
  }
  return y;
}

static rows activate(rows x)
{
  for (int64_t i = 0; i < x.n * x.n_positions * x.channels; i++) {
    x.v[i] = tanh(x.v[i]);
  }
  return x;
}

static void forward_residual(const check_net *c)
{
  const weir_nn_residual_spec *s = c->spec;
  const int64_t stride = s->conv.conv.stride[0] > 0 ? s->conv.conv.stride[0] : 1;
  const int64_t kernel_size = s->conv.kernel_size[0];
  rows x = {.n = c->in.shape[0], .n_positions = c->in.shape[1], .channels = c->in.shape[2]}, y, way;

  memcpy(x.v, c->x.data, (size_t)weir_tensor_numel(&c->x) * sizeof(double));
  if (s->pre_activated) {
    y = normalise(c, "norm1", &x);
    y = activate(y);
    y = convolve(c, "conv1", &y, kernel_size, stride, true);
    y = normalise(c, "norm2", &y);
    y = activate(y);
    y = convolve(c, "conv2", &y, kernel_size, 1, true);
  } else {
    y = convolve(c, "conv1", &x, kernel_size, stride, true);
    y = normalise(c, "norm1", &y);
    y = activate(y);
    y = convolve(c, "conv2", &y, kernel_size, 1, true);
    y = normalise(c, "norm2", &y);
  }
  way = stride == 1 && x.channels == y.channels ? x : convolve(c, "shortcut", &x, 1, stride, false);
  const int64_t n = y.n * y.n_positions * y.channels;

  assert_int_equal(n, weir_tensor_numel(&c->y));
  for (int64_t i = 0; i < n; i++) {
    y.v[i] += way.v[i];
  }
  y = s->pre_activated ? y : activate(y);
  assert_int_equal(
      weir_compare("residual", WEIR_F64, c->y.data, y.v, n, (weir_tolerance){1e-11, 1e-11}), 0);
}

static void residual_blocks_on_random_shapes(void **state)
{
  for (uint64_t seed = 1; seed <= 12; seed++) {
    weir_draw r = {.seed = seed};
    const weir_nn_residual_spec s = {
        .conv = {.filters = weir_draw_int(&r, 1, 4),
                 .kernel_size = {weir_draw_int(&r, 1, 3)},
                 .conv = {.stride = {weir_draw_int(&r, 0, 2)}},
                 .activation = {.kind = WEIR_ACTIVATION_TANH}},
        .norm = {.kind = WEIR_NORM_LAYER, .epsilon = 0.5},
        .pre_activated = seed % 2 == 0,
    };
    check_net c = {.build = build_residual, .spec = &s, .seed = seed, .train = true};

    c.in = (weir_array_desc){
        .rank = 3,
        .shape = {weir_draw_int(&r, 1, 2), weir_draw_int(&r, 1, 7), weir_draw_int(&r, 1, 4)}};
    check_open(&c);
    check_run(&c);
    forward_residual(&c);
    check_gradients(&c);
    check_close(&c);
  }
}

/* ---- Attention ---- */

/* The context is x, or a slice of x: the first `seen` n_positions of all but its last channel. */
typedef struct looking {
  weir_nn_attention_spec spec;
  int64_t seen; /* 0: x itself */
} looking;

static weir_value build_attention(weir_net *net, weir_value x, const void *spec)
{
  const looking *l = spec;
  weir_value context = WEIR_NO_VALUE;

  if (l->seen > 0) {
    context = weir_slice(net->graph, weir_slice(net->graph, x, 1, 0, l->seen, 1), 2, 0, -1, 1);
  }
  return weir_nn_attention(net, "a", &l->spec, x, context);
}

/* Element o of a dense layer of the row at x. */
static double dense(const check_net *c, const char *name, const double *x, int64_t in, int64_t out,
                    int64_t o)
{
  char path[64];

  snprintf(path, sizeof path, "a/%s/bias", name);
  double sum = check_param(c, path)[o];

  snprintf(path, sizeof path, "a/%s/weight", name);
  for (int64_t i = 0; i < in; i++) {
    sum += x[i] * check_param(c, path)[i * out + o];
  }
  return sum;
}

/* Element o of the queries (0), keys (1) or values (2), which are one layer where the context is x
 * itself. */
static double project(const check_net *c, const looking *l, int which, const double *x, int64_t o)
{
  static const char *const name[] = {"query", "key", "value"};
  const int64_t in = c->in.shape[2], all = l->spec.channels;

  return l->seen > 0 ? dense(c, name[which], x, which > 0 ? in - 1 : in, all, o)
                     : dense(c, "qkv", x, in, 3 * all, which * all + o);
}

/* What position q of sample n takes from the values, head by head. */
static void attend(const check_net *c, const looking *l, int64_t n, int64_t q, double *out)
{
  const int64_t n_positions = c->in.shape[1], in = c->in.shape[2];
  const int64_t all = l->spec.channels, each = all / l->spec.heads;
  const int64_t seen = l->seen > 0 ? l->seen : n_positions;
  const double *x = check_data(&c->x) + n * n_positions * in;

  for (int64_t h = 0; h < l->spec.heads; h++) {
    double weight[16], total = 0;

    for (int64_t k = 0; k < seen; k++) {
      double dot = 0;

      for (int64_t e = h * each; e < (h + 1) * each; e++) {
        dot += project(c, l, 0, x + q * in, e) * project(c, l, 1, x + k * in, e);
      }
      weight[k] = l->spec.causal && k > q ? 0 : exp(dot / sqrt((double)each));
      total += weight[k];
    }
    for (int64_t e = h * each; e < (h + 1) * each; e++) {
      out[e] = 0;
      for (int64_t k = 0; k < seen; k++) {
        out[e] += weight[k] / total * project(c, l, 2, x + k * in, e);
      }
    }
  }
}

static void forward_attention(const check_net *c)
{
  const looking *l = c->spec;
  const int64_t all = l->spec.channels, units = l->spec.units > 0 ? l->spec.units : c->in.shape[2];

  assert_int_equal(c->y.shape[2], units);
  for (int64_t r = 0; r < c->in.shape[0] * c->in.shape[1]; r++) {
    double taken[32];

    attend(c, l, r / c->in.shape[1], r % c->in.shape[1], taken);
    for (int64_t o = 0; o < units; o++) {
      assert_near(check_data(&c->y)[r * units + o], dense(c, "out", taken, all, units, o), 1e-11);
    }
  }
}

static void attention_on_random_shapes(void **state)
{
  for (uint64_t seed = 1; seed <= 10; seed++) {
    weir_draw r = {.seed = seed};
    const int64_t n_positions = weir_draw_int(&r, 1, 5), heads = weir_draw_int(&r, 1, 3);
    const bool causal = weir_draw_one_in(&r, 2);
    const looking l = {
        .spec = {.heads = heads,
                 .channels = heads * weir_draw_int(&r, 1, 3),
                 .units = weir_draw_int(&r, 0, 3),
                 .causal = causal},
        .seen = weir_draw_one_in(&r, 2) ? weir_draw_int(&r, 1, n_positions) : 0,
    };
    check_net c = {.build = build_attention, .spec = &l, .seed = seed, .train = true};

    c.in = (weir_array_desc){
        .rank = 3, .shape = {weir_draw_int(&r, 1, 2), n_positions, weir_draw_int(&r, 2, 5)}};
    check_open(&c);
    check_run(&c);
    forward_attention(&c);
    check_gradients(&c);
    check_close(&c);
  }
}

/* Scores of several hundred, of which exp alone would overflow. */
static void large_scores_do_not_overflow(void **state)
{
  const looking l = {.spec = {.heads = 1, .channels = 2}};
  check_net c = {.build = build_attention, .spec = &l, .seed = 2, .train = true};

  c.in = (weir_array_desc){.rank = 3, .shape = {1, 4, 3}};
  check_open(&c);
  for (int i = 0; i < 12; i++) {
    check_data(&c.x)[i] *= 300;
  }
  check_run(&c);
  for (int i = 0; i < 12; i++) {
    assert_true(isfinite(check_data(&c.y)[i]) && isfinite(check_data(&c.dx)[i]));
  }
  check_close(&c);
}

static void refuse(check_build build, const void *spec, int rank, const char *text)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = rank, .shape = {2, 5, 4, 4}};

  assert_int_equal(check_refused(build, spec, &d, text, NULL), WEIR_ERR_SHAPE);
}

static void impossible_blocks_are_refused(void **state)
{
  const weir_nn_residual_spec shrinking = {
      .conv = {.filters = 4, .kernel_size = {3}, .padding = WEIR_NN_VALID}};

  refuse(build_residual, &shrinking, 3, "use padding `same`");
  refuse(build_residual, &(weir_nn_residual_spec){.conv = {.filters = 0}}, 3, "0 filters");
  refuse(build_attention, &(looking){.spec = {.heads = 3}}, 3, "3 heads do not divide 4 channels");
  refuse(build_attention, &(looking){.spec = {.heads = 1}}, 4, "ranks 4 and 4");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(residual_blocks_on_random_shapes),
      cmocka_unit_test(attention_on_random_shapes),
      cmocka_unit_test(large_scores_do_not_overflow),
      cmocka_unit_test(impossible_blocks_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
