/* resize_conv_test.c - a convolution of an interpolated field, whichever order its products have,
 * against plain loops that interpolate first. */
#include "nn/weir_resize.h"
#include "ops/contract/weir_contract.h"
#include "support/exec/gradient_check.h"

typedef struct both {
  weir_nn_resize_spec resize;
  weir_nn_conv_spec conv;
} both;

static weir_value build(weir_net *net, weir_value x, const void *spec)
{
  const both *s = spec;

  return weir_nn_resize_conv(net, "up", &s->resize, &s->conv, x);
}

/* Position o beyond n under a rule; -1: 0 is read. */
static int64_t inside(int64_t o, int64_t n, weir_border border)
{
  while (o < 0 || o >= n) {
    switch (border) {
    case WEIR_BORDER_WRAP:
      o += o < 0 ? n : -n;
      break;
    case WEIR_BORDER_REPLICATE:
      o = o < 0 ? 0 : n - 1;
      break;
    case WEIR_BORDER_REFLECT:
      o = n == 1 ? 0 : o < 0 ? -o : 2 * (n - 1) - o;
      break;
    default:
      return -1;
    }
  }
  return o;
}

/* x at position o of a dimension enlarged from n to size: two elements and the second's share. */
static double between(const both *s, int k, int64_t o, int64_t n, int64_t size, int64_t at[2])
{
  const bool wraps = s->resize.border[k] == WEIR_BORDER_WRAP;
  const double p = ((double)o + 0.5) * (double)n / (double)size - 0.5;

  if (s->resize.method == WEIR_NN_NEAREST || n == size) {
    at[0] = at[1] = (2 * o + 1) * n / (2 * size);
    return 0;
  }
  for (int i = 0; i < 2; i++) {
    const int64_t e = (int64_t)floor(p) + i;

    at[i] = inside(e, n, wraps ? WEIR_BORDER_WRAP : WEIR_BORDER_REPLICATE);
  }
  return p - floor(p);
}

/* Extents and kernel sizes as of three dimensions, and where the arrays are. */
typedef struct shape {
  int first; /* dimension of three that dimension 0 is */
  int64_t in[3], out[3], tap[3], ci, co;
  const double *x, *w, *bias;
} shape;

/* Channel i of sample n of the enlarged field. */
static double enlarged(const both *s, const shape *h, int64_t n, const int64_t *o, int64_t i)
{
  int64_t at[3][2] = {{0}};
  double share[3] = {0}, sum = 0;

  for (int k = h->first; k < 3; k++) {
    share[k] = between(s, k - h->first, o[k], h->in[k], h->out[k], at[k]);
  }
  for (int c = 0; c < 8; c++) {
    const int64_t z = at[0][c & 1], y = at[1][c >> 1 & 1], x = at[2][c >> 2];
    const double weight = (c & 1 ? share[0] : 1 - share[0]) * (c & 2 ? share[1] : 1 - share[1]) *
                          (c & 4 ? share[2] : 1 - share[2]);

    sum += weight * h->x[(((n * h->in[0] + z) * h->in[1] + y) * h->in[2] + x) * h->ci + i];
  }
  return sum;
}

static double wanted(const both *s, const shape *h, int64_t n, const int64_t *o, int64_t c)
{
  double sum = h->bias == NULL ? 0 : h->bias[c];

  for (int64_t t = 0; t < h->tap[0] * h->tap[1] * h->tap[2]; t++) {
    const int64_t tap[] = {t / h->tap[2] / h->tap[1], t / h->tap[2] % h->tap[1], t % h->tap[2]};
    int64_t at[3] = {0, 0, 0};
    bool read = true;

    for (int k = h->first; k < 3; k++) {
      at[k] =
          inside(o[k] + tap[k] - (h->tap[k] - 1) / 2, h->out[k], s->conv.conv.border[k - h->first]);
      read = read && at[k] >= 0;
    }
    for (int64_t i = 0; read && i < h->ci; i++) {
      sum += enlarged(s, h, n, at, i) * h->w[(t * h->ci + i) * h->co + c];
    }
  }
  return sum;
}

static void compare(const check_net *c)
{
  const both *s = c->spec;
  const int dims = c->in.rank - 2;
  shape h = {.first = 3 - dims,
             .in = {1, 1, 1},
             .out = {1, 1, 1},
             .tap = {1, 1, 1},
             .ci = c->in.shape[dims + 1],
             .co = s->conv.filters,
             .x = check_data(&c->x),
             .w = check_param(c, "up/weight"),
             .bias = s->conv.no_bias ? NULL : check_param(c, "up/bias")};
  const double *y = check_data(&c->y);

  for (int k = 0; k < dims; k++) {
    h.in[h.first + k] = c->in.shape[k + 1];
    h.out[h.first + k] = c->y.shape[k + 1];
    h.tap[h.first + k] = weir_or_one(s->conv.kernel_size[k]);
  }
  for (int64_t i = 0; i < weir_tensor_numel(&c->y); i++) {
    const int64_t p = i / h.co,
                  o[] = {p / h.out[2] / h.out[1] % h.out[0], p / h.out[2] % h.out[1], p % h.out[2]};

    assert_near(y[i], wanted(s, &h, p / h.out[2] / h.out[1] / h.out[0], o, i % h.co), 1e-11);
  }
}

/* Whether its products are made at the positions of x. */
static bool is_early(const check_net *c)
{
  for (int32_t i = 0; i < weir_graph_nodes(c->graph); i++) {
    if (weir_graph_node(c->graph, i)->op == &weir_op_contract) {
      return true;
    }
  }
  return false;
}

static bool check(const both *s, int rank, const int64_t *extents)
{
  check_net c = {.build = build, .spec = s, .seed = 5, .train = true};

  c.in.rank = rank;
  memcpy(c.in.shape, extents, (size_t)rank * sizeof *extents);
  check_open(&c);
  check_run(&c);
  compare(&c);
  check_gradients(&c);
  const bool early = is_early(&c);

  check_close(&c);
  return early;
}

static void every_border_gives_the_sums_of_an_enlarged_field(void **state)
{
  static const weir_border borders[] = {WEIR_BORDER_NEVER, WEIR_BORDER_ZERO, WEIR_BORDER_WRAP,
                                        WEIR_BORDER_REPLICATE, WEIR_BORDER_REFLECT};

  for (int i = 0; i < 5; i++) {
    for (int k = 0; k < 2; k++) {
      const weir_border ends = borders[i] == WEIR_BORDER_WRAP ? WEIR_BORDER_WRAP : 0;
      const both plane = {{.method = (weir_nn_resize_method)k, .factor = {2, 2}, .border = {ends}},
                          {.filters = 2, .kernel_size = {3, 3}, .conv = {.border = {borders[i]}}}};
      const both line = {
          {.method = (weir_nn_resize_method)k, .size = {7}, .border = {ends}},
          {.filters = 3, .kernel_size = {5}, .no_bias = true, .conv = {.border = {borders[i]}}}};

      assert_true(check(&plane, 4, (int64_t[]){2, 3, 4, 24}));
      assert_true(check(&line, 3, (int64_t[]){1, 3, 60}));
    }
  }
}

static void dimensions_of_any_number_and_kernel_size(void **state)
{
  const both space = {{.method = WEIR_NN_LINEAR, .factor = {2, 1, 2}},
                      {.filters = 1, .kernel_size = {2, 1, 3}}};
  const both single = {
      {.method = WEIR_NN_LINEAR, .factor = {3, 3}},
      {.filters = 2, .kernel_size = {3, 4}, .conv = {.border = {0, WEIR_BORDER_REPLICATE}}}};
  const both odd = {
      {.method = WEIR_NN_LINEAR, .size = {5, 7}},
      {.filters = 2, .kernel_size = {3, 3}, .conv = {.border = {WEIR_BORDER_REFLECT, 0}}}};

  assert_true(check(&space, 5, (int64_t[]){1, 2, 3, 2, 40}));
  assert_true(check(&single, 4, (int64_t[]){1, 1, 2, 12}));
  assert_true(check(&odd, 4, (int64_t[]){1, 3, 3, 40}));
}

/* Where nothing is saved, or an order is not known, the field is enlarged first. */
static void other_layers_enlarge_first(void **state)
{
  const both few = {{.method = WEIR_NN_LINEAR, .factor = {2, 2}},
                    {.filters = 2, .kernel_size = {3, 3}}};
  const both smaller = {{.method = WEIR_NN_LINEAR, .size = {2, 8}},
                        {.filters = 1, .kernel_size = {3, 3}}};
  const both seam = {{.method = WEIR_NN_LINEAR, .factor = {2}},
                     {.filters = 2, .kernel_size = {3}, .conv = {.border = {WEIR_BORDER_WRAP}}}};

  assert_false(check(&few, 4, (int64_t[]){1, 3, 2, 2}));
  assert_false(check(&smaller, 4, (int64_t[]){1, 4, 3, 24}));
  assert_false(check(&seam, 3, (int64_t[]){1, 4, 60}));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_border_gives_the_sums_of_an_enlarged_field),
      cmocka_unit_test(dimensions_of_any_number_and_kernel_size),
      cmocka_unit_test(other_layers_enlarge_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
