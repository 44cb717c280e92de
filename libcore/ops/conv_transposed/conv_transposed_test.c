/* conv_transposed_test.c - the definition, every element of x added to the outputs it reaches;
 * extents and refusals. */
#include "ops/conv_transposed/weir_conv_transposed.h"

#include <math.h>
#include <stdlib.h>

#include "exec/weir_plan.h"
#include "ops/conv/conv_form.h"
#include "ops/elementwise/weir_elementwise.h"
#include "support/ops/ops_check.h"
#include "ops/reduce/weir_reduce.h"
#include "pass/autodiff/weir_gradients.h"

/* Two dimensions. */
typedef struct test_case {
  int64_t n, in[2], kernel_size[2], ci, co; /* channels of all groups */
  weir_conv_transposed_spec s;
  int64_t out[2];
} test_case;

/* out += x w over every element and tap that falls into it. */
static void scatter(const test_case *t, const double *x, const double *w, double *y)
{
  const int64_t groups = weir_or_one(t->s.groups), ci = t->ci / groups, co = t->co / groups;
  const int64_t sizes[] = {t->n,   t->in[0], t->in[1], t->kernel_size[0], t->kernel_size[1],
                           groups, ci,       co};
  int64_t i[8] = {0};

  for (int64_t k = 0, all = t->n * t->in[0] * t->in[1] * t->kernel_size[0] * t->kernel_size[1] *
                            groups * ci * co;
       k < all; k++) {
    int64_t rest = k, o[2];
    bool inside = true;

    for (int d = 7; d >= 0; d--) {
      i[d] = rest % sizes[d];
      rest /= sizes[d];
    }
    for (int d = 0; d < 2; d++) {
      o[d] = weir_or_one(t->s.stride[d]) * i[1 + d] + weir_or_one(t->s.dilation[d]) * i[3 + d] -
             t->s.pad_before[d];
      if (t->s.border[d] == WEIR_BORDER_WRAP) {
        o[d] = (o[d] % t->out[d] + t->out[d]) % t->out[d];
      }
      inside = inside && o[d] >= 0 && o[d] < t->out[d];
    }
    if (inside) {
      y[((i[0] * t->out[0] + o[0]) * t->out[1] + o[1]) * t->co + i[5] * co + i[7]] +=
          x[((i[0] * t->in[0] + i[1]) * t->in[1] + i[2]) * t->ci + i[5] * ci + i[6]] *
          w[((i[3] * t->kernel_size[1] + i[4]) * co + i[7]) * t->ci + i[5] * ci + i[6]];
    }
  }
}

static double *values(int64_t n, double step)
{
  double *x = calloc((size_t)n + 1, sizeof *x);

  assert_non_null(x);
  for (int64_t i = 0; i < n && step != 0; i++) {
    x[i] = sin((double)i * step);
  }
  return x;
}

static void check(const test_case *t)
{
  const int64_t groups = weir_or_one(t->s.groups);
  const int64_t xs[] = {t->n, t->in[0], t->in[1], t->ci};
  const int64_t ws[] = {t->kernel_size[0], t->kernel_size[1], t->co / groups, t->ci};
  const int64_t ys[] = {t->n, t->out[0], t->out[1], t->co};
  double *x = values(xs[0] * xs[1] * xs[2] * xs[3], 1.3);
  double *w = values(ws[0] * ws[1] * ws[2] * ws[3], 0.7);
  double *y = values(ys[0] * ys[1] * ys[2] * ys[3], 0),
         *made = values(ys[0] * ys[1] * ys[2] * ys[3], 0);
  weir_tensor tx = weir_tensor_wrap(x, WEIR_F64, 4, xs), tw = weir_tensor_wrap(w, WEIR_F64, 4, ws);
  weir_tensor ty = weir_tensor_wrap(made, WEIR_F64, 4, ys);
  weir_graph *g = new_graph();
  const weir_value v = weir_conv_transposed(g, &t->s, given(g, "x", WEIR_F64, 4, xs),
                                            given(g, "w", WEIR_F64, 4, ws));
  weir_exec_cfg cfg;
  weir_plan *p = NULL;

  assert_desc(g, v, WEIR_F64, 4, ys);
  weir_output(g, "y", v);
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &p));
  assert_ok(weir_plan_run(p, (weir_binding[]){{"x", &tx}, {"w", &tw}, {"y", &ty}}, 3));
  scatter(t, x, w, y);
  assert_int_equal(weir_compare("conv_transposed", WEIR_F64, made, y, ys[0] * ys[1] * ys[2] * ys[3],
                                weir_tolerance_of(WEIR_F64)),
                   0);
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
  free(x);
  free(w);
  free(y);
  free(made);
}

/* Extents by PyTorch's rule: (s - 1) stride - 2 padding + dilation (k - 1) + output_padding + 1. */
static void every_element_contributes_to_the_whole_kernel(void **state)
{
  check(&(test_case){.n = 2, .in = {3, 4}, .kernel_size = {3, 2}, .ci = 3, .co = 2, .out = {5, 5}});
  check(&(test_case){
      .n = 1,
      .in = {4, 3},
      .kernel_size = {3, 4},
      .ci = 2,
      .co = 3,
      .s = {.stride = {2, 3}, .pad_before = {1, 0}, .pad_after = {1, 2}, .output_padding = {1, 2}},
      .out = {8, 10}});
  check(&(test_case){.n = 1,
                     .in = {3, 5},
                     .kernel_size = {2, 3},
                     .ci = 4,
                     .co = 6,
                     .s = {.stride = {3, 1}, .dilation = {2, 3}, .pad_before = {2, 1}, .groups = 2},
                     .out = {7, 10}});
  check(&(test_case){.n = 1,
                     .in = {3, 4},
                     .kernel_size = {2, 4},
                     .ci = 1,
                     .co = 1,
                     .s = {.stride = {2, 2},
                           .pad_before = {0, 1},
                           .pad_after = {0, 1},
                           .border = {WEIR_BORDER_ZERO, WEIR_BORDER_WRAP}},
                     .out = {6, 8}});
}

static void assert_kind(const weir_graph *g, weir_value v, conv_kind kind)
{
  const weir_node *node = weir_graph_node(g, v.node);
  const weir_derivation derivation = weir_node_derivation(node);
  conv_form f;

  assert_true(conv_form_of(&node->access, &derivation, &f));
  assert_int_equal(f.kind, kind);
  assert_true(f.stride[0] == 2 && f.kernel_size[1] == 2 && f.groups == 1 && f.in == 3 &&
              f.out == 8);
}

/* So that library code of convolutions takes it, and both its gradients. */
static void kernels_read_it_as_a_convolution(void **state)
{
  const weir_conv_transposed_spec s = {
      .stride = {2, 1}, .pad_before = {1, 0}, .pad_after = {0, 1}, .output_padding = {1, 0}};
  weir_graph *g = new_graph();
  const weir_value in[] = {GIVEN(g, "x", WEIR_F32, 2, 5, 6, 8),
                           GIVEN(g, "w", WEIR_F32, 3, 2, 3, 8)};
  const weir_value y = weir_conv_transposed(g, &s, in[0], in[1]);
  weir_value grad[2];

  assert_kind(g, y, CONV_DATA);
  assert_ok(weir_gradients(g, weir_sum(g, weir_square(g, y), -1), in, 2, grad));
  assert_kind(g, grad[0], CONV_FORWARD);
  assert_kind(g, grad[1], CONV_WEIGHTS);
  weir_graph_destroy(&g);
}

static void refuse(const weir_conv_transposed_spec *s, int64_t ci, const char *text)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F32, 1, 5, 4), w = GIVEN(g, "w", WEIR_F32, 3, 6, ci);

  assert_refused(g, weir_conv_transposed(g, s, x, w), text);
}

static void impossible_ones_are_refused(void **state)
{
  refuse(&(weir_conv_transposed_spec){.groups = 3}, 4, "4 channels in, 3 groups");
  refuse(&(weir_conv_transposed_spec){.groups = 0}, 3, "w has 3 channels");
  refuse(&(weir_conv_transposed_spec){.output_padding = {1}}, 4, "output padding 1");
  refuse(&(weir_conv_transposed_spec){.pad_before = {7}}, 4, "extent 5 becomes 0");
  refuse(&(weir_conv_transposed_spec){.border = {WEIR_BORDER_WRAP}}, 4,
         "the stride times the extent");
  refuse(&(weir_conv_transposed_spec){.border = {WEIR_BORDER_REFLECT}}, 4,
         "crop) or wrap, not rule");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_element_contributes_to_the_whole_kernel),
      cmocka_unit_test(kernels_read_it_as_a_convolution),
      cmocka_unit_test(impossible_ones_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
