/* resize_test.c - interpolation and transposed convolution against plain loops. */
#include "nn/weir_resize.h"

#include "support/exec/gradient_check.h"

static weir_value build_resize(weir_net *net, weir_value x, const void *spec)
{
  return weir_nn_resize(net->graph, spec, x);
}

static weir_value build_transposed(weir_net *net, weir_value x, const void *spec)
{
  return weir_nn_conv_transposed(net, "t", spec, x);
}

/* Position of the centre of cell o of `out` among cells of `in`, and its two neighbours. */
static void neighbours(int64_t o, int64_t in, int64_t out, int64_t *at, double *share)
{
  const double p = ((double)o + 0.5) * (double)in / (double)out - 0.5;
  const double low = floor(p);

  *share = p - low;
  at[0] = low < 0 ? 0 : (int64_t)low;
  at[1] = low + 1 > (double)(in - 1) ? in - 1 : (int64_t)low + 1;
}

/* [n, a, b, channels], both dimensions enlarged or shrunk. */
static void forward_resize(const check_net *c)
{
  const weir_nn_resize_spec *s = c->spec;
  const int64_t *in = c->in.shape, *out = c->y.shape, channels = in[3];
  const double *x = check_data(&c->x), *y = check_data(&c->y);

  for (int64_t i = 0; i < weir_tensor_numel(&c->y); i++) {
    const int64_t k = i % channels, b = i / channels % out[2], a = i / channels / out[2] % out[1];
    const int64_t n = i / channels / out[2] / out[1];
    int64_t ra[2], rb[2];
    double sa, sb, wanted = 0;

    neighbours(a, in[1], out[1], ra, &sa);
    neighbours(b, in[2], out[2], rb, &sb);
    if (s->method == WEIR_NN_NEAREST) {
      ra[0] = (2 * a + 1) * in[1] / (2 * out[1]);
      rb[0] = (2 * b + 1) * in[2] / (2 * out[2]);
      sa = sb = 0;
    }
    for (int j = 0; j < 4; j++) {
      const double weight = (j & 1 ? sa : 1 - sa) * (j & 2 ? sb : 1 - sb);

      wanted += weight * x[((n * in[1] + ra[j & 1]) * in[2] + rb[j >> 1]) * channels + k];
    }
    assert_near(y[i], wanted, 1e-13);
  }
}

static void check_resize(const weir_nn_resize_spec *s, const int64_t *shape)
{
  check_net c = {.build = build_resize, .spec = s, .seed = 8, .train = true};

  c.in.rank = 4;
  memcpy(c.in.shape, shape, 4 * sizeof *shape);
  check_open(&c);
  check_run(&c);
  forward_resize(&c);
  check_gradients(&c);
  check_close(&c);
}

static void resizing_interpolates_between_centres(void **state)
{
  for (int k = 0; k < 2; k++) {
    const weir_nn_resize_method m = (weir_nn_resize_method)k;

    check_resize(&(weir_nn_resize_spec){.method = m, .factor = {2, 2}}, (int64_t[]){2, 3, 5, 2});
    check_resize(&(weir_nn_resize_spec){.method = m, .factor = {3, 0}}, (int64_t[]){1, 1, 4, 3});
    check_resize(&(weir_nn_resize_spec){.method = m, .size = {7, 3}}, (int64_t[]){1, 4, 7, 1});
  }
}

/* y[stride i + dilation t - lo] += x[i] w[t], of three dimensions; what falls outside wraps or is
 * lost. */
static void forward_transposed(const check_net *c, const int64_t *lo)
{
  const weir_nn_conv_spec *s = c->spec;
  const int dims = c->in.rank - 2;
  const int64_t groups = s->conv.groups > 0 ? s->conv.groups : 1, ci = c->in.shape[dims + 1];
  const int64_t per = ci / groups, co = s->filters, rows = weir_tensor_numel(&c->x) / ci;
  const double *x = check_data(&c->x), *w = check_param(c, "t/weight");
  static double wanted[20000];
  const int64_t count = weir_tensor_numel(&c->y);
  int64_t window_size = 1;

  assert_true(count <= 20000);
  for (int64_t i = 0; i < count; i++) {
    wanted[i] = s->no_bias ? 0 : check_param(c, "t/bias")[i % co];
  }
  for (int k = 0; k < dims; k++) {
    window_size *= s->kernel_size[k];
  }
  for (int64_t rt = 0; rt < rows * window_size; rt++) {
    int64_t row = rt / window_size, tap = rt % window_size, at = 0, step = 1;
    bool inside = true;

    for (int k = dims - 1; k >= 0; k--) {
      const int64_t extent = c->y.shape[k + 1],
                    stride = s->conv.stride[k] > 0 ? s->conv.stride[k] : 1;
      int64_t o = row % c->in.shape[k + 1] * stride - lo[k] +
                  tap % s->kernel_size[k] * (s->conv.dilation[k] > 0 ? s->conv.dilation[k] : 1);

      o = s->conv.border[k] == WEIR_BORDER_WRAP ? (o % extent + extent) % extent : o;
      inside = inside && o >= 0 && o < extent;
      at += o * step;
      step *= extent;
      row /= c->in.shape[k + 1];
      tap /= s->kernel_size[k];
    }
    at += row * step;
    for (int64_t j = 0; inside && j < co * per; j++) {
      const int64_t o = j / per, i = j % per, group = o * groups / co;

      wanted[at * co + o] +=
          x[rt / window_size * ci + group * per + i] * w[(rt % window_size * per + i) * co + o];
    }
  }
  assert_int_equal(weir_compare("transposed", WEIR_F64, c->y.data, wanted, count,
                                (weir_tolerance){1e-12, 1e-12}),
                   0);
}

/* Extents by the formula, padding; then values and gradients. */
static void check_transposed(const weir_nn_conv_spec *s, int rank, const int64_t *shape)
{
  check_net c = {.build = build_transposed, .spec = s, .seed = 3, .train = true};
  int64_t lo[3] = {0, 0, 0};

  c.in.rank = rank;
  memcpy(c.in.shape, shape, (size_t)rank * sizeof *shape);
  check_open(&c);
  check_run(&c);
  for (int k = 0; k < rank - 2; k++) {
    const int64_t stride = s->conv.stride[k] > 0 ? s->conv.stride[k] : 1;
    const int64_t reach =
        (s->conv.dilation[k] > 0 ? s->conv.dilation[k] : 1) * (s->kernel_size[k] - 1) + 1;
    const int64_t whole = stride * (shape[k + 1] - 1) + reach;

    lo[k] = s->padding == WEIR_NN_GIVEN                    ? s->conv.pad_before[k]
            : s->padding == WEIR_NN_SAME && reach > stride ? (reach - stride) / 2
                                                           : 0;
    assert_int_equal(c.y.shape[k + 1], s->padding == WEIR_NN_SAME ? stride * shape[k + 1]
                                       : s->padding == WEIR_NN_VALID
                                           ? whole
                                           : whole - lo[k] - s->conv.pad_after[k]);
  }
  forward_transposed(&c, lo);
  check_gradients(&c);
  check_close(&c);
}

static void transposed_convolutions_scatter_their_taps(void **state)
{
  const int64_t flat[] = {2, 5, 3}, plane[] = {1, 3, 4, 4}, space[] = {2, 2, 1, 3, 2};

  check_transposed(&(weir_nn_conv_spec){.filters = 2, .kernel_size = {2}, .conv = {.stride = {2}}},
                   3, flat);
  check_transposed(&(weir_nn_conv_spec){.filters = 3,
                                        .kernel_size = {2, 3},
                                        .conv = {.stride = {2, 3}},
                                        .padding = WEIR_NN_VALID},
                   4, plane);
  check_transposed(
      &(weir_nn_conv_spec){.filters = 3, .kernel_size = {2, 2, 2}, .conv = {.stride = {2, 2, 2}}},
      5, space);
  check_transposed(&(weir_nn_conv_spec){.filters = 4,
                                        .kernel_size = {3, 4},
                                        .conv = {.stride = {2, 2}, .groups = 2},
                                        .no_bias = true},
                   4, plane);
  check_transposed(&(weir_nn_conv_spec){.filters = 2,
                                        .kernel_size = {3, 2, 1},
                                        .conv = {.stride = {2, 1, 3}, .dilation = {1, 2, 1}},
                                        .padding = WEIR_NN_VALID},
                   5, space);
  check_transposed(
      &(weir_nn_conv_spec){.filters = 2,
                           .kernel_size = {3, 3},
                           .conv = {.stride = {2, 3}, .pad_before = {1, 3}, .pad_after = {2, 0}},
                           .padding = WEIR_NN_GIVEN},
      4, plane);
  check_transposed(&(weir_nn_conv_spec){.filters = 2,
                                        .kernel_size = {3, 4},
                                        .conv = {.stride = {2, 2},
                                                 .border = {WEIR_BORDER_ZERO, WEIR_BORDER_WRAP}}},
                   4, plane);
  check_transposed(
      &(weir_nn_conv_spec){
          .filters = 1, .kernel_size = {1}, .conv = {.stride = {3}}, .padding = WEIR_NN_SAME},
      3, flat);
}

static void refuse(check_build build, const void *spec, int rank, const char *text)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = rank, .shape = {2, 3, 3, 4}};

  assert_int_equal(check_refused(build, spec, &d, text, NULL), WEIR_ERR_SHAPE);
}

static void impossible_sizes_are_refused(void **state)
{
  refuse(build_resize, &(weir_nn_resize_spec){.factor = {-1}}, 4, "factor -1");
  refuse(build_resize, &(weir_nn_resize_spec){.size = {-4}}, 4, "size -4");
  refuse(build_resize, &(weir_nn_resize_spec){.factor = {2}}, 2, "resize (");
  refuse(build_transposed,
         &(weir_nn_conv_spec){.filters = 2,
                              .kernel_size = {1, 1},
                              .padding = WEIR_NN_GIVEN,
                              .conv = {.pad_before = {3}}},
         4, "the output is empty");
  refuse(build_transposed,
         &(weir_nn_conv_spec){
             .filters = 2, .kernel_size = {3, 3}, .conv = {.border = {WEIR_BORDER_REPLICATE}}},
         4, "must be zero or");
  refuse(build_transposed, &(weir_nn_conv_spec){.filters = 0}, 4, "transposed: 0 filters");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(resizing_interpolates_between_centres),
      cmocka_unit_test(transposed_convolutions_scatter_their_taps),
      cmocka_unit_test(impossible_sizes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
