/* conv_kernels_dnnl_test.c - the kernels of oneDNN against the loops that they stand for, on one
 * thread and on two. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "conf/weir_opt.h"
#include "exec/weir_plan.h"
#include "ops/conv/weir_conv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/ops_cases.h"
#include "support/ops/ops_check.h"
#include "ops/reduce/weir_reduce.h"
#include "pass/autodiff/weir_gradients.h"

enum { X, W, T, Y, GX, GW, TENSORS };

static const char *const names[TENSORS] = {"x", "w", "t", "y", "gx", "gw"};
static const char *const kernels[] = {"conv_forward.dnnl", "conv_data.dnnl", "conv_weights.dnnl"};

/* One convolution, and what it and its gradients of sum(y t) are. */
typedef struct subject {
  bool half; /* operands are numbers of bf16, and products are made in it */
  weir_conv_spec spec;
  weir_array_desc desc[TENSORS];
  weir_tensor tensor[TENSORS];
  double *expected[TENSORS];
} subject;

static int64_t count_of(const weir_array_desc *d)
{
  int64_t n = 1;

  for (int k = 0; k < d->rank; k++) {
    n *= d->shape[k];
  }
  return n;
}

/* A graph of one result, Y, GX or GW; *out its value. NULL where the convolution is refused. */
static weir_graph *make_graph(const weir_array_desc *x, const weir_array_desc *w,
                              const weir_conv_spec *spec, int result, weir_array_desc *out)
{
  weir_graph *g = new_graph();
  const weir_value in = weir_input(g, "x", x), weights = weir_input(g, "w", w);
  const weir_value y = weir_conv(g, spec, in, weights);
  weir_value grad[2], loss;

  if (y.node < 0) {
    weir_graph_destroy(&g);
    return NULL;
  }
  *out = *weir_value_desc(g, y);
  loss = weir_mul(g, y, weir_input(g, "t", out));
  for (int k = x->rank - 1; k >= 0; k--) {
    loss = weir_sum(g, loss, k);
  }
  assert_ok(weir_gradients(g, loss, (weir_value[]){in, weights}, 2, grad));
  weir_output(g, names[result], result == Y ? y : grad[result - GX]);
  return g;
}

static void free_subject(subject *s)
{
  for (int k = 0; k < TENSORS; k++) {
    weir_tensor_fini(&s->tensor[k]);
    weir_free(&s->expected[k]);
  }
}

static bool make_subject_in(bool half, subject *s, const weir_array_desc *x,
                            const weir_array_desc *w, const weir_conv_spec *spec, uint64_t seed)
{
  weir_array_desc y;
  weir_graph *g = make_graph(x, w, spec, Y, &y);

  *s = (subject){.half = half, .spec = *spec};
  if (g == NULL) {
    return false;
  }
  weir_graph_destroy(&g);
  s->desc[X] = s->desc[GX] = *x;
  s->desc[W] = s->desc[GW] = *w;
  s->desc[Y] = s->desc[T] = y;
  for (int k = 0; k < TENSORS; k++) {
    void *memory = NULL;

    assert_ok(weir_tensor_init(&s->tensor[k], WEIR_F32, s->desc[k].rank, s->desc[k].shape));
    assert_ok(weir_alloc(count_of(&s->desc[k]), sizeof(double), &memory));
    s->expected[k] = memory;
    for (int64_t i = 0; i < count_of(&s->desc[k]) && k <= T; i++) {
      ((float *)s->tensor[k].data)[i] =
          (float)weir_dtype_rounded(half ? WEIR_BF16 : WEIR_F32,
                                    weir_random_uniform(seed, (uint32_t)k, 0, (uint64_t)i) - 0.5);
    }
  }
  return true;
}

static bool make_subject(subject *s, const weir_array_desc *x, const weir_array_desc *w,
                         const weir_conv_spec *spec, uint64_t seed)
{
  return make_subject_in(false, s, x, w, spec, seed);
}

/* Channels of one group at one position of x (element), y and w. */
static void multiply(subject *s, int64_t x, int64_t y, int64_t w, int64_t in, int64_t out,
                     int64_t width)
{
  const float *px = (const float *)s->tensor[X].data + x,
              *pt = (const float *)s->tensor[T].data + y;
  double *gx = s->expected[GX] + x, *py = s->expected[Y] + y;

  for (int64_t i = 0; i < in; i++) {
    const float *pw = (const float *)s->tensor[W].data + w + i * width;
    double *gw = s->expected[GW] + w + i * width, sum = 0;

    for (int64_t c = 0; c < out; c++) {
      py[c] += (double)px[i] * (double)pw[c];
      gw[c] += (double)px[i] * (double)pt[c];
      sum += (double)pw[c] * (double)pt[c];
    }
    gx[i] += sum;
  }
}

static int64_t or_one(int64_t v)
{
  return v > 0 ? v : 1;
}

/* One output o and one tap t of sample n. */
static void window(subject *s, int64_t n, const int64_t *o, const int64_t *t)
{
  const int d = s->desc[X].rank - 2;
  const int64_t groups = or_one(s->spec.groups), in = s->desc[W].shape[d];
  const int64_t width = s->desc[W].shape[d + 1], out = width / groups;
  int64_t x = n, y = n, w = 0;

  for (int k = 0; k < d; k++) {
    const weir_index border = {.border = s->spec.border[k]};
    const int64_t raw = or_one(s->spec.stride[k]) * o[k] + or_one(s->spec.dilation[k]) * t[k] -
                        s->spec.pad_before[k];
    bool inside;

    x = x * s->desc[X].shape[k + 1] +
        weir_index_border(&border, raw, s->desc[X].shape[k + 1], &inside);
    y = y * s->desc[Y].shape[k + 1] + o[k];
    w = w * s->desc[W].shape[k] + t[k];
    if (!inside) {
      return;
    }
  }
  for (int64_t g = 0; g < groups; g++) {
    multiply(s, (x * groups + g) * in, y * width + g * out, w * in * width + g * out, in, out,
             width);
  }
}

static void expect(subject *s)
{
  const int d = s->desc[X].rank - 2;
  int64_t points = s->desc[X].shape[0], o[3], t[3];

  for (int k = 0; k < d; k++) {
    points *= s->desc[Y].shape[k + 1] * s->desc[W].shape[k];
  }
  for (int k = Y; k < TENSORS; k++) {
    memset(s->expected[k], 0, (size_t)count_of(&s->desc[k]) * sizeof(double));
  }
  for (int64_t p = 0; p < points; p++) {
    int64_t rest = p;

    for (int k = d - 1; k >= 0; k--) {
      t[k] = rest % s->desc[W].shape[k];
      rest /= s->desc[W].shape[k];
    }
    for (int k = d - 1; k >= 0; k--) {
      o[k] = rest % s->desc[Y].shape[k + 1];
      rest /= s->desc[Y].shape[k + 1];
    }
    window(s, rest, o, t);
  }
}

/* Whether arrays of bf16 were made. */
static bool is_half(const weir_plan *plan)
{
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);

  weir_plan_print(plan, out);
  assert_int_equal(fclose(out), 0);
  const bool found = strstr(text, "bf16") != NULL;

  free(text); /* open_memstream's own */
  return found;
}

/* Runs the graph of a result with its kernel; false, and nothing has run, where it does not match.
 */
static bool run(subject *s, int result, int threads)
{
  weir_exec_cfg cfg;
  weir_plan *plan = NULL;
  weir_binding bind[4];
  weir_array_desc y;
  weir_graph *g = make_graph(&s->desc[X], &s->desc[W], &s->spec, result, &y);
  bool claimed = false;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.kernel = kernels[result - Y];
  cfg.tier = WEIR_TIER_VECTOR;
  cfg.precision = s->half;
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = threads}, &plan));
  for (int32_t i = 0; i < weir_plan_groups(plan); i++) {
    claimed = claimed || strcmp(weir_plan_group(plan, i).kernel, cfg.kernel) == 0;
  }
  claimed = claimed && (!s->half || is_half(plan));
  for (int k = X; k <= T; k++) {
    bind[k] = (weir_binding){names[k], &s->tensor[k]};
  }
  bind[3] = (weir_binding){names[result], &s->tensor[result]};
  for (int twice = 0; twice < 2 && claimed; twice++) { /* nothing stays from one run to the next */
    assert_ok(weir_plan_run(plan, bind, 4));
  }
  weir_plan_destroy(&plan);
  weir_graph_destroy(&g);
  return claimed;
}

static void compare(const subject *s, int result)
{
  const float *made = s->tensor[result].data;

  for (int64_t i = 0; i < count_of(&s->desc[result]); i++) {
    if (isnan(s->expected[result][i])) {
      assert_true(isnan(made[i]));
    } else if (isinf(s->expected[result][i])) {
      assert_true((double)made[i] == s->expected[result][i]);
    } else {
      assert_near(made[i], s->expected[result][i], 1e-4);
    }
  }
}

/* Every kernel by itself, on one thread and on two; claimed[k]: whether kernel k matched. */
static void check(subject *s, bool claimed[3])
{
  expect(s);
  for (int result = Y; result < TENSORS; result++) {
    const size_t bytes = (size_t)count_of(&s->desc[result]) * sizeof(float);
    void *one = NULL;

    claimed[result - Y] = run(s, result, 1);
    if (!claimed[result - Y]) {
      continue;
    }
    compare(s, result);
    assert_ok(weir_alloc((int64_t)bytes, 1, &one));
    memcpy(one, s->tensor[result].data, bytes);
    (void)run(s, result, 2);
    assert_memory_equal(one, s->tensor[result].data, bytes);
    weir_free(&one);
  }
}

/* Odd extents, extents of 1, strides, dilation, groups, uneven padding, 1 to 70 channels. */
static bool draw(uint64_t seed, weir_array_desc *x, weir_array_desc *w, weir_conv_spec *spec)
{
  static const weir_border borders[] = {WEIR_BORDER_ZERO, WEIR_BORDER_ZERO, WEIR_BORDER_WRAP,
                                        WEIR_BORDER_REPLICATE, WEIR_BORDER_REFLECT};
  weir_draw r = {.seed = seed};
  const int d = (int)weir_draw_int(&r, 1, 3);
  const int64_t longest = d == 1 ? 200 : d == 2 ? 24 : 9;
  double flops = 2;

  *x = *w = (weir_array_desc){.dtype = WEIR_F32, .rank = d + 2};
  *spec = (weir_conv_spec){.groups = weir_draw_one_in(&r, 4) ? weir_draw_int(&r, 2, 4) : 1};
  x->shape[0] = weir_draw_int(&r, 1, 3);
  for (int k = 0; k < d; k++) {
    x->shape[k + 1] = weir_draw_one_in(&r, 6) ? 1 : weir_draw_int(&r, 1, longest);
    w->shape[k] = weir_draw_int(&r, 1, 4);
    spec->stride[k] = weir_draw_one_in(&r, 3) ? weir_draw_int(&r, 2, 3) : 1;
    spec->dilation[k] = weir_draw_one_in(&r, 4) ? 2 : 1;
    spec->pad_before[k] = weir_draw_int(&r, 0, 3);
    spec->pad_after[k] = weir_draw_int(&r, 0, 3);
    spec->border[k] = borders[weir_draw_int(&r, 0, 4)];
    flops *= (double)x->shape[k + 1] * (double)w->shape[k] / (double)spec->stride[k];
  }
  w->shape[d] = weir_draw_int(&r, 1, spec->groups > 1 ? 20 : 70);
  w->shape[d + 1] = weir_draw_int(&r, 1, spec->groups > 1 ? 20 : 70) * spec->groups;
  x->shape[d + 1] = w->shape[d] * spec->groups;
  flops *= (double)x->shape[0] * (double)w->shape[d] * (double)w->shape[d + 1];
  return flops > 1e5 && flops < 1e7;
}

/* In every other case one number is none, of x or of the weights. */
static void spoil(subject *s, uint64_t seed)
{
  const int k = seed % 4 == 0 ? X : W;

  if (seed % 2 == 0) {
    ((float *)s->tensor[k].data)[(int64_t)(seed * 7919) % count_of(&s->desc[k])] = NAN;
  }
}

static void kernels_agree_with_loops(void **state)
{
  int total[3] = {0};
  int cases = 0;

  for (uint64_t seed = 1; cases < 24; seed++) {
    weir_array_desc x, w;
    weir_conv_spec spec;
    subject s;
    bool claimed[3];

    if (!draw(seed, &x, &w, &spec) || !make_subject(&s, &x, &w, &spec, seed)) {
      continue;
    }
    spoil(&s, seed);
    check(&s, claimed);
    for (int k = 0; k < 3; k++) {
      total[k] += claimed[k];
    }
    cases++;
    free_subject(&s);
  }
  print_message("claimed of %d: %d forward, %d by data, %d by weights\n", cases, total[0], total[1],
                total[2]);
  /* Forward the library has fewer shapes where vectors are short; others are left to the loops. */
  assert_true(total[0] >= 8 && total[1] >= 4 && total[2] >= 20);
}

/* Products of numbers of bf16 are exact in f32: what is left is the order of sums. Where the
 * library would emulate them, no kernel matches. */
static void products_of_bf16_agree_with_loops(void **state)
{
  const bool multiplies =
      __builtin_cpu_supports("avx512bf16") && weir_env("DNNL_MAX_CPU_ISA") == NULL;
  int total[3] = {0};
  int cases = 0;

  for (uint64_t seed = 1001; cases < 24; seed++) {
    weir_array_desc x, w;
    weir_conv_spec spec;
    subject s;
    bool claimed[3];

    if (!draw(seed, &x, &w, &spec) || !make_subject_in(true, &s, &x, &w, &spec, seed)) {
      continue;
    }
    spoil(&s, seed);
    check(&s, claimed);
    for (int k = 0; k < 3; k++) {
      total[k] += claimed[k];
    }
    cases++;
    free_subject(&s);
  }
  print_message("claimed of %d: %d forward, %d by data, %d by weights\n", cases, total[0], total[1],
                total[2]);
  assert_true(multiplies ? total[0] >= 12 && total[1] >= 4 && total[2] >= 12
                         : total[0] + total[1] + total[2] == 0);
}

typedef struct large {
  int64_t n, x[3], kernel_size[3], in, out;
  weir_conv_spec spec;
} large;

static void make_large_in(bool half, subject *s, const large *l, uint64_t seed)
{
  const int64_t groups = l->spec.groups > 1 ? l->spec.groups : 1;
  const weir_array_desc x = {WEIR_F32, 5, {l->n, l->x[0], l->x[1], l->x[2], l->in}, .time = 0};
  const weir_array_desc w = {
      WEIR_F32,
      5,
      {l->kernel_size[0], l->kernel_size[1], l->kernel_size[2], l->in / groups, l->out},
      .time = 0};

  assert_true(make_subject_in(half, s, &x, &w, &l->spec, seed));
}

static void make_large(subject *s, const large *l, uint64_t seed)
{
  make_large_in(false, s, l, seed);
}

/* Many chunks, so that rows at their edges, sums of chunks and blocks of weights count. */
static void slabs_fit_together(void **state)
{
  static const large rows[] = {
      {1, {24, 11, 13}, {3, 3, 3}, 16, 33, {.pad_before = {1, 1, 1}, .pad_after = {1, 1, 1}}},
      {1,
       {41, 40, 21},
       {3, 2, 2},
       5,
       40,
       {.stride = {2, 1, 2}, .pad_before = {2, 0, 1}, .pad_after = {1, 1, 2}}},
      {1,
       {30, 21, 16},
       {2, 3, 1},
       24,
       20,
       {.dilation = {3, 2, 1}, .pad_before = {1, 2, 0}, .pad_after = {2}}},
      {1, {33, 14, 20}, {4, 1, 1}, 40, 24, {.stride = {3}, .pad_before = {3}, .pad_after = {3}}},
      {1,
       {22, 14, 20},
       {3, 3, 3},
       8,
       16,
       {.pad_before = {1, 1, 1}, .pad_after = {1, 1, 1}, .border = {4, 5, 6}}},
      {3,
       {9, 15, 14},
       {3, 3, 1},
       16,
       32,
       {.pad_before = {1, 1}, .pad_after = {1, 1}, .border = {0, 4}}},
      {1,
       {29, 18, 24},
       {3, 1, 3},
       12,
       36,
       {.pad_before = {2, 0, 2}, .pad_after = {0, 0, 1}, .groups = 2}},
      {3, {12, 12, 8}, {1, 1, 1}, 70, 66, {.stride = {1, 2, 1}}},
  };

  int forward = 0;

  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const large *l = &rows[i];
    bool claimed[3];
    subject s;

    make_large(&s, l, i);
    check(&s, claimed);
    forward += claimed[0];
    assert_true(claimed[1] && claimed[2]);
    free_subject(&s);
  }
  assert_true(forward >= 2); /* all where vectors are long */
}

/* Every border rule, alone and with others: even and odd extents, strides, a kernel size of 1, and
 * one element that all windows repeat. The gradient by x is the library's in all of them. */
static void gradients_by_data_have_all_borders(void **state)
{
  static const weir_border borders[] = {WEIR_BORDER_ZERO, WEIR_BORDER_WRAP, WEIR_BORDER_REPLICATE,
                                        WEIR_BORDER_REFLECT};

  for (int i = 0; i < 16; i++) {
    large l = {1 + i % 2,
               {4 + i % 3, i == 9 || i == 14 ? 1 : 7 + i % 2, 8},
               {i % 7 == 6 ? 1 : 3, 3, 3},
               12,
               16,
               {.stride = {1, 1 + i % 3 / 2, 1 + i % 4 / 3},
                .pad_before = {1, 1, 1 + i % 2},
                .pad_after = {1, 1, 1},
                .border = {borders[i / 8 * (i % 3)], borders[i % 4], borders[i / 4]}}};
    bool claimed[3];
    subject s;

    make_large(&s, &l, (uint64_t)i);
    spoil(&s, (uint64_t)i);
    check(&s, claimed);
    if (!claimed[1]) {
      print_error("case %d is left to the loops\n", i);
    }
    assert_true(claimed[1]);
    free_subject(&s);
  }
}

/* NaN spreads as far as its products do: a weight of a corner to the outputs that
 * meet it, a gradient of a corner to the kernel elements that meet elements there, those in the
 * padding left out. */
static void no_number_spreads_as_products_do(void **state)
{
  static const large rows[] = {
      {1, {12, 11, 4}, {3, 3, 1}, 16, 20, {.pad_before = {1, 1}, .pad_after = {1, 1}}},
      {1,
       {12, 11, 4},
       {3, 3, 3},
       24,
       36,
       {.pad_before = {1, 1, 1}, .pad_after = {1, 1, 1}, .groups = 2}},
      {2, {9, 8, 7}, {3, 3, 3}, 17, 35, {.pad_before = {1, 1, 1}, .pad_after = {1, 1, 1}}},
      {1,
       {9, 8, 7},
       {3, 3, 3},
       24,
       20,
       {{0}, {2, 2, 2}, .pad_before = {2, 2, 2}, .pad_after = {2, 2, 2}}},
      {1, {9, 8, 7}, {3, 2, 1}, 9, 17, {.pad_before = {1, 3, 1}, .pad_after = {1, 2, 1}}},
  };

  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    subject s;
    bool claimed[3];

    make_large(&s, &rows[i], i);
    ((float *)s.tensor[W].data)[17] = NAN;
    check(&s, claimed);
    assert_true(i > 0 || (claimed[1] && claimed[2]));
    ((float *)s.tensor[W].data)[17] = 0.5f;
    ((float *)s.tensor[T].data)[3] = INFINITY;
    check(&s, claimed);
    ((float *)s.tensor[T].data)[0] = NAN;
    check(&s, claimed);
    free_subject(&s);
  }
}

/* What fills pairs and tiles of bf16, and what lies in the padding, takes part in no sum; strides
 * and dilations that the library gets wrong are not given to it (conv_choose_dnnl.c). */
static void no_number_of_bf16_spreads_as_products_do(void **state)
{
  static const large rows[] = {
      {1, {12, 11, 4}, {3, 3, 1}, 16, 20, {.pad_before = {1, 1}, .pad_after = {1, 1}}},
      {2, {9, 8, 7}, {3, 3, 3}, 17, 35, {.pad_before = {1, 1, 1}, .pad_after = {1, 1, 1}}},
      {2, {5, 2, 5}, {2, 1, 2}, 3, 3, {.pad_before = {0, 0, 3}, .pad_after = {0, 0, 3}}},
      {2, {6, 3, 4}, {3, 3, 3}, 1, 3, {.pad_before = {1, 1, 3}, .pad_after = {1, 1, 3}}},
      {2,
       {3, 6, 6},
       {2, 3, 3},
       3,
       3,
       {.dilation = {1, 2, 2}, .pad_before = {2, 2, 3}, .pad_after = {3, 0, 3}}},
      {3, {2, 8, 5}, {2, 3, 2}, 2, 36, {{2}, {1, 2}, .pad_before = {1, 1}, .pad_after = {2, 2, 3}}},
      {1, {4, 7, 9}, {3, 2, 1}, 3, 45, {{1, 2}, .pad_before = {0, 1, 3}, .pad_after = {0, 2, 3}}},
  };

  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    bool claimed[3];
    subject s;

    make_large_in(true, &s, &rows[i], i);
    check(&s, claimed);
    for (int k = X; k <= T; k++) {
      float *one = (float *)s.tensor[k].data + (k == X ? rows[i].in : 0), before = *one;

      *one = NAN;
      check(&s, claimed);
      *one = INFINITY;
      check(&s, claimed);
      *one = before;
    }
    free_subject(&s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels_agree_with_loops),
      cmocka_unit_test(products_of_bf16_agree_with_loops),
      cmocka_unit_test(slabs_fit_together),
      cmocka_unit_test(gradients_by_data_have_all_borders),
      cmocka_unit_test(no_number_spreads_as_products_do),
      cmocka_unit_test(no_number_of_bf16_spreads_as_products_do),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
