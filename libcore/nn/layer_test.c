/* layer_test.c - dense and convolution layers against plain loops; gradients against differences.
 */
#include "nn/weir_layer.h"

#include "support/exec/gradient_check.h"
#include "ops/ops_cases.h"

static weir_value build_dense(weir_net *net, weir_value x, const void *spec)
{
  return weir_nn_dense(net, "d", spec, x);
}

static weir_value build_conv(weir_net *net, weir_value x, const void *spec)
{
  return weir_nn_conv(net, "c", spec, x);
}

static weir_value build_local(weir_net *net, weir_value x, const void *spec)
{
  return weir_nn_local(net, "c", spec, x);
}

/* Of the activations only those of one line; the others have a test of their own. */
static double act(const weir_activation *a, double x)
{
  return a->kind == WEIR_ACTIVATION_TANH                  ? tanh(x)
         : a->kind == WEIR_ACTIVATION_LEAKY_RELU && x < 0 ? a->slope * x
                                                          : x;
}

static void compare(const check_net *c, const double *wanted)
{
  const int64_t n = weir_tensor_numel(&c->y);

  assert_int_equal(
      weir_compare("layer", WEIR_F64, c->y.data, wanted, n, (weir_tolerance){1e-12, 1e-12}), 0);
}

static void forward_dense(const check_net *c)
{
  const weir_nn_dense_spec *s = c->spec;
  const int64_t in = c->in.shape[c->in.rank - 1], rows = weir_tensor_numel(&c->x) / in;
  const double *x = check_data(&c->x), *w = check_param(c, "d/weight");
  const double *b = s->no_bias ? NULL : check_param(c, "d/bias");
  double wanted[400];

  assert_true(rows * s->units <= 400);
  for (int64_t r = 0; r < rows; r++) {
    for (int64_t o = 0; o < s->units; o++) {
      double sum = b != NULL ? b[o] : 0;

      for (int64_t i = 0; i < in; i++) {
        sum += x[r * in + i] * w[i * s->units + o];
      }
      wanted[r * s->units + o] = act(&s->activation, sum);
    }
  }
  compare(c, wanted);
}

static weir_activation draw_activation(weir_draw *r)
{
  static const weir_activation all[] = {
      {WEIR_ACTIVATION_IDENTITY, 0}, {WEIR_ACTIVATION_TANH, 0}, {WEIR_ACTIVATION_LEAKY_RELU, 0.2}};

  return all[weir_draw_int(r, 0, 2)];
}

static void dense_on_random_shapes(void **state)
{
  for (uint64_t seed = 1; seed <= 9; seed++) {
    weir_draw r = {.seed = seed};
    const weir_nn_dense_spec s = {.units = weir_draw_int(&r, 1, 9),
                                  .no_bias = weir_draw_one_in(&r, 4),
                                  .activation = draw_activation(&r)};
    check_net c = {.build = build_dense, .spec = &s, .seed = seed, .train = true};

    c.in.rank = (int)weir_draw_int(&r, 1, 4);
    for (int d = 0; d < c.in.rank; d++) {
      c.in.shape[d] = weir_draw_int(&r, 1, d == c.in.rank - 1 ? 7 : 3);
    }
    check_open(&c);
    check_run(&c);
    assert_int_equal(c.y.rank, c.in.rank);
    forward_dense(&c);
    check_gradients(&c);
    check_close(&c);
  }
}

/* Extents, kernel sizes and the like of a convolution, as of three dimensions. */
typedef struct shape {
  int64_t n, in[3], out[3], tap[3], stride[3], dilation[3], lo[3], ci, co, groups;
} shape;

static shape shape_of(const check_net *c)
{
  const weir_nn_conv_spec *s = c->spec;
  const int dims = c->in.rank - 2;
  shape h = {.n = c->in.shape[0],
             .in = {1, 1, 1},
             .out = {1, 1, 1},
             .tap = {1, 1, 1},
             .stride = {1, 1, 1},
             .dilation = {1, 1, 1},
             .ci = c->in.shape[dims + 1],
             .co = s->filters,
             .groups = weir_or_one(s->conv.groups)};

  for (int k = 0; k < dims; k++) {
    h.in[k] = c->in.shape[k + 1];
    h.tap[k] = weir_or_one(s->kernel_size[k]);
    h.stride[k] = weir_or_one(s->conv.stride[k]);
    h.dilation[k] = weir_or_one(s->conv.dilation[k]);
    h.out[k] = c->y.shape[k + 1];
    h.lo[k] = s->padding == WEIR_NN_GIVEN ? s->conv.pad_before[k] : 0;
    if (s->padding == WEIR_NN_SAME) {
      const int64_t need =
          (h.out[k] - 1) * h.stride[k] + h.dilation[k] * (h.tap[k] - 1) + 1 - h.in[k];

      assert_int_equal(h.out[k], (h.in[k] + h.stride[k] - 1) / h.stride[k]);
      h.lo[k] = need > 0 ? need / 2 : 0;
    }
  }
  return h;
}

/* The sum over the kernel window and channels of one output. Borders other than zero are those of
 * one dimension: the first. */
static double convolved(const check_net *c, const shape *h, int64_t n, const int64_t *o, int64_t co)
{
  const weir_nn_conv_spec *s = c->spec;
  const double *x = check_data(&c->x), *w = check_param(c, "c/weight");
  const int64_t per = h->ci / h->groups, group = co * h->groups / h->co;
  const int64_t position =
      c->build == build_local ? (o[0] * h->out[1] + o[1]) * h->out[2] + o[2] : 0;
  double sum = s->no_bias ? 0 : check_param(c, "c/bias")[position * h->co + co];

  w += position * h->tap[0] * h->tap[1] * h->tap[2] * per * h->co;

  for (int64_t t = 0; t < h->tap[0] * h->tap[1] * h->tap[2]; t++) {
    const int64_t tap[] = {t / (h->tap[1] * h->tap[2]), t / h->tap[2] % h->tap[1], t % h->tap[2]};
    int64_t at = n;
    bool inside = true;

    for (int k = 0; k < 3; k++) {
      int64_t i = o[k] * h->stride[k] + tap[k] * h->dilation[k] - h->lo[k];

      if (k == 0 && s->conv.border[0] == WEIR_BORDER_WRAP) {
        i = (i % h->in[0] + h->in[0]) % h->in[0];
      } else if (k == 0 && s->conv.border[0] == WEIR_BORDER_REPLICATE) {
        i = i < 0 ? 0 : i >= h->in[0] ? h->in[0] - 1 : i;
      }
      inside = inside && i >= 0 && i < h->in[k];
      at = at * h->in[k] + i;
    }
    for (int64_t i = 0; inside && i < per; i++) {
      sum += x[at * h->ci + group * per + i] * w[(t * per + i) * h->co + co];
    }
  }
  return act(&s->activation, sum);
}

static void forward_conv(const check_net *c)
{
  const shape h = shape_of(c);
  static double wanted[20000];
  int64_t at = 0;

  assert_true(weir_tensor_numel(&c->y) <= 20000);
  for (int64_t n = 0; n < h.n; n++) {
    for (int64_t p = 0; p < h.out[0] * h.out[1] * h.out[2]; p++) {
      const int64_t o[] = {p / (h.out[1] * h.out[2]), p / h.out[2] % h.out[1], p % h.out[2]};

      for (int64_t co = 0; co < h.co; co++) {
        wanted[at++] = convolved(c, &h, n, o, co);
      }
    }
  }
  compare(c, wanted);
}

static weir_nn_conv_spec draw_conv(weir_draw *r, check_net *c)
{
  static const weir_border borders[] = {WEIR_BORDER_NEVER, WEIR_BORDER_WRAP, WEIR_BORDER_REPLICATE};
  const int64_t groups = weir_draw_one_in(r, 3) ? 2 : 1;
  weir_nn_conv_spec s = {.filters = groups * weir_draw_int(r, 1, 3),
                         .padding = (weir_nn_padding)weir_draw_int(r, 0, 2),
                         .no_bias = weir_draw_one_in(r, 4),
                         .activation = draw_activation(r),
                         .conv = {.groups = groups == 1 ? 0 : groups}};
  const int dims = (int)weir_draw_int(r, 1, 3);

  s.conv.border[0] = borders[weir_draw_int(r, 0, 2)];
  c->in.rank = dims + 2;
  c->in.shape[0] = weir_draw_int(r, 1, 2);
  c->in.shape[dims + 1] = groups * weir_draw_int(r, 1, 3);
  for (int k = 0; k < dims; k++) {
    s.kernel_size[k] = weir_draw_int(r, 0, 3);
    s.conv.stride[k] = weir_draw_int(r, 0, 2);
    s.conv.dilation[k] = weir_draw_int(r, 0, 2);
    if (s.padding == WEIR_NN_GIVEN) {
      s.conv.pad_before[k] = weir_draw_int(r, 0, 2);
      s.conv.pad_after[k] = weir_draw_int(r, 0, 2);
    }
    c->in.shape[k + 1] =
        s.padding == WEIR_NN_SAME && weir_draw_one_in(r, 4)
            ? 1
            : weir_or_one(s.conv.dilation[k]) * (weir_or_one(s.kernel_size[k]) - 1) +
                  weir_draw_int(r, 1, 5);
  }
  return s;
}

static void check_convolutions(check_build build)
{
  for (uint64_t seed = 1; seed <= 9; seed++) {
    weir_draw r = {.seed = seed};
    check_net c = {.build = build, .seed = seed, .train = true};
    const weir_nn_conv_spec s = draw_conv(&r, &c);

    c.spec = &s;
    check_open(&c);
    check_run(&c);
    forward_conv(&c);
    check_gradients(&c);
    check_close(&c);
  }
}

static void convolutions_on_random_shapes(void **state)
{
  check_convolutions(build_conv);
}

static void local_weights_on_random_shapes(void **state)
{
  check_convolutions(build_local);
}

/* A layer's graph must be refused with `text`. */
static void refuse(check_build build, const void *spec, int rank, const char *text)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = rank, .shape = {2, 6, 6, 4}};

  assert_int_not_equal(check_refused(build, spec, &d, text, "layer_test.c:"), WEIR_OK);
}

static void impossible_layers_are_refused(void **state)
{
  refuse(build_dense, &(weir_nn_dense_spec){.units = 0}, 2, "0 units");
  refuse(build_dense, &(weir_nn_dense_spec){.units = 3}, 0, "rank 0");
  refuse(build_conv, &(weir_nn_conv_spec){.filters = 0}, 4, "0 filters");
  refuse(build_conv, &(weir_nn_conv_spec){.filters = 3}, 2, "rank 2");
  refuse(build_conv, &(weir_nn_conv_spec){.filters = 3, .kernel_size = {-1}}, 4, "not negative");
  refuse(build_conv, &(weir_nn_conv_spec){.filters = 6, .conv = {.groups = 3}}, 4, "3 groups of 4");
  refuse(build_conv,
         &(weir_nn_conv_spec){.filters = 3, .kernel_size = {7, 1}, .padding = WEIR_NN_VALID}, 4,
         "increase the padding");
  refuse(build_local,
         &(weir_nn_conv_spec){.filters = 3, .kernel_size = {7, 1}, .padding = WEIR_NN_VALID}, 4,
         "increase the padding");
  refuse(build_local, &(weir_nn_conv_spec){.filters = 3, .conv = {.groups = 2}}, 4,
         "local: 2 groups of 4");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dense_on_random_shapes),
      cmocka_unit_test(convolutions_on_random_shapes),
      cmocka_unit_test(local_weights_on_random_shapes),
      cmocka_unit_test(impossible_layers_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
