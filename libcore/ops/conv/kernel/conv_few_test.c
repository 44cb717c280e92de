/* conv_few_test.c - the kernel claims what it can do, and computes it as the loops do. */
#include "base/weir_random.h"
#include "support/exec/kernel_check.h"
#include "ops/conv/few_priv.h"
#include "ops/conv/weir_conv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/ops_cases.h"
#include "support/ops/ops_check.h"
#include "ops/reduce/weir_reduce.h"
#include "pass/autodiff/weir_gradients.h"

enum { X, W, T, READ, Y = READ, DX, DW, ALL };

/* A convolution, and its gradients with weights t on the outputs. */
typedef struct test_case {
  weir_graph *g;
  weir_tensor of[ALL];
} test_case;

static const char *const names[ALL] = {"x", "w", "t", "y", "dx", "dw"};

static test_case make(const weir_conv_spec *spec, const weir_array_desc *x,
                      const weir_array_desc *w, uint64_t seed)
{
  test_case t = {.g = new_graph()};
  const weir_value from[] = {weir_input(t.g, names[X], x), weir_input(t.g, names[W], w)};
  const weir_value y = weir_conv(t.g, spec, from[0], from[1]);
  const weir_array_desc out = *weir_value_desc(t.g, y), *all[] = {x, w, &out, &out, x, w};
  weir_value loss = weir_mul(t.g, y, weir_input(t.g, names[T], &out)), grads[2];

  for (int k = out.rank - 1; k >= 0; k--) {
    loss = weir_sum(t.g, loss, k);
  }
  assert_ok(weir_gradients(t.g, loss, from, 2, grads));
  weir_output(t.g, names[Y], y);
  weir_output(t.g, names[DX], grads[0]);
  weir_output(t.g, names[DW], grads[1]);
  for (int k = 0; k < ALL; k++) {
    assert_ok(weir_tensor_init(&t.of[k], WEIR_F32, all[k]->rank, all[k]->shape));
    for (int64_t i = 0; k < READ && i < weir_tensor_numel(&t.of[k]); i++) {
      ((float *)t.of[k].data)[i] =
          (float)(2 * weir_random_uniform(seed, (uint32_t)k, 0, (uint64_t)i) - 1);
    }
  }
  return t;
}

static void end(test_case *t)
{
  for (int k = 0; k < ALL; k++) {
    weir_tensor_fini(&t->of[k]);
  }
  weir_graph_destroy(&t->g);
}

/* As run_kernel, into `made`. */
static int run(test_case *t, const char *kernel, int threads, weir_tensor made[ALL])
{
  return run_kernel(t->g, kernel, threads, names, t->of, READ, ALL, made);
}

/* With the kernel as without it, and the same bits on two threads; returns the groups it has. */
static int agree_in(test_case *t)
{
  weir_tensor plain[ALL], one[ALL], two[ALL];

  assert_int_equal(run(t, "none", 1, plain), 0);
  const int claimed = run(t, "conv.few_channels", 1, one);

  assert_int_equal(run(t, "conv.few_channels", 2, two), claimed);
  for (int k = READ; k < ALL; k++) {
    const int64_t count = weir_tensor_numel(&plain[k]);

    assert_int_equal(weir_compare(names[k], WEIR_F32, one[k].data, plain[k].data, count,
                                  (weir_tolerance){5e-5, 1e-4}),
                     0);
    assert_memory_equal(one[k].data, two[k].data, (size_t)count * sizeof(float));
    weir_tensor_fini(&plain[k]);
    weir_tensor_fini(&one[k]);
    weir_tensor_fini(&two[k]);
  }
  return claimed;
}

static int agree(const weir_conv_spec *spec, const weir_array_desc *x, const weir_array_desc *w,
                 uint64_t seed)
{
  test_case t = make(spec, x, w, seed);
  const int claimed = agree_in(&t);

  end(&t);
  return claimed;
}

static void needs_vectors(void)
{
  if (few_kernels_get() == NULL) {
    print_message("skipped: this processor has no vector code for few channels\n");
    skip();
  }
}

static void random_convolutions_agree(void **state)
{
  static const weir_border borders[] = {WEIR_BORDER_WRAP, WEIR_BORDER_REPLICATE,
                                        WEIR_BORDER_REFLECT};
  int claimed = 0;

  needs_vectors();
  for (uint64_t seed = 0; seed < 14; seed++) {
    weir_draw r = {.seed = seed};
    const int d = (int)weir_draw_int(&r, 1, 3);
    const bool turned = weir_draw_one_in(&r, 2);
    const int64_t few = weir_draw_int(&r, 1, 15), many = weir_draw_int(&r, few, 70);
    weir_array_desc x = {.dtype = WEIR_F32, .rank = d + 2, .shape = {weir_draw_int(&r, 1, 2)}};
    weir_array_desc w = {.dtype = WEIR_F32, .rank = d + 2};
    weir_conv_spec s = {.groups = 0};

    for (int k = 0; k < d; k++) {
      w.shape[k] = weir_draw_int(&r, 1, 4);
      s.border[k] = weir_draw_one_in(&r, 3) ? borders[weir_draw_int(&r, 0, 2)] : 0;
      s.stride[k] = weir_draw_one_in(&r, 4) ? 2 : 1;
      s.pad_before[k] = weir_draw_int(&r, 0, 2);
      s.pad_after[k] = weir_draw_int(&r, 0, 2);
      x.shape[k + 1] = w.shape[k] + weir_draw_int(&r, 0, k == d - 1 ? 20 : 4);
    }
    x.shape[d + 1] = w.shape[d] = turned ? many : few;
    w.shape[d + 1] = turned ? few : many;
    claimed += agree(&s, &x, &w, seed);
  }
  print_message("%d of 42 sums by the kernel\n", claimed);
  assert_true(claimed > 24);
}

/* All three sums of both kinds of ends, and a row longer than any tile. */
static void ends_of_networks_are_claimed(void **state)
{
  const weir_conv_spec s = {.pad_before = {1, 1, 1}, .pad_after = {1, 1, 1}};
  const int64_t channels[][2] = {{4, 32}, {5, 16}, {16, 5}, {16, 1}, {32, 3}, {1, 16}};

  needs_vectors();
  for (int i = 0; i < 6; i++) {
    const weir_array_desc x = {
        .dtype = WEIR_F32, .rank = 5, .shape = {1, 3, 5, 40, channels[i][0]}};
    const weir_array_desc w = {
        .dtype = WEIR_F32, .rank = 5, .shape = {3, 3, 3, channels[i][0], channels[i][1]}};

    assert_int_equal(agree(&s, &x, &w, 1), 3);
  }
}

/* What the kernel cannot do is left to others. */
static void others_are_left(void **state)
{
  const weir_conv_spec refused[] = {{.dilation = {2}}, {.groups = 2}};
  const weir_array_desc x = {.dtype = WEIR_F32, .rank = 3, .shape = {1, 90, 4}};
  const weir_array_desc w = {.dtype = WEIR_F32, .rank = 3, .shape = {3, 4, 16}};
  const weir_conv_spec wraps = {.pad_before = {1}, .pad_after = {1}, .border = {WEIR_BORDER_WRAP}};
  const weir_array_desc half = {.dtype = WEIR_F32, .rank = 3, .shape = {3, 2, 16}};
  const weir_array_desc wide = {.dtype = WEIR_F32, .rank = 3, .shape = {1, 90, 16}};
  const weir_array_desc deep = {.dtype = WEIR_F32, .rank = 3, .shape = {3, 16, 16}};

  const weir_array_desc far = {.dtype = WEIR_F32, .rank = 3, .shape = {1, (1 << 13) + 5, 1}};
  const weir_array_desc once = {.dtype = WEIR_F32, .rank = 3, .shape = {5, 1, 1 << 11}};

  needs_vectors();
  /* All but the gradient by x, which would have as many stages as the stride is long. */
  assert_true(agree(&(weir_conv_spec){.stride = {1 << 13}}, &far, &once, 1) <= 2);
  assert_int_equal(agree(&(weir_conv_spec){.pad_before = {1}}, &x, &w, 1), 3);
  assert_int_equal(agree(&wraps, &x, &w, 1), 3);
  assert_int_equal(agree(&refused[0], &x, &w, 1), 0);
  assert_int_equal(agree(&refused[1], &x, &half, 1), 0);
  assert_int_equal(agree(&(weir_conv_spec){.groups = 0}, &wide, &deep, 1), 0);
}

static test_case with_gradients(void)
{
  const weir_conv_spec s = {.stride = {2}, .pad_before = {1}, .pad_after = {1}};
  const weir_array_desc x = {.dtype = WEIR_F32, .rank = 3, .shape = {1, 90, 4}};
  const weir_array_desc w = {.dtype = WEIR_F32, .rank = 3, .shape = {3, 4, 16}};

  return make(&s, &x, &w, 1);
}

/* A node that says that it is another gradient than it is runs as loops, with the right numbers. */
static void a_wrong_derivation_is_not_claimed(void **state)
{
  test_case t = with_gradients();

  needs_vectors();
  for (int32_t i = 0; i < weir_graph_nodes(t.g); i++) {
    weir_derivation *derivation = &weir_graph_node_mut(t.g, i)->derivation;

    if (derivation->of == &weir_op_conv) {
      for (int k = 0; k < 2; k++) {
        derivation->in[k] =
            derivation->in[k] == 1 - derivation->made ? derivation->made : derivation->in[k];
      }
      derivation->made = 1 - derivation->made; /* x and w are exchanged */
    }
  }
  assert_int_equal(agree_in(&t), 1); /* the convolution itself */
  end(&t);
}

/* Factors and sides in another order, and a factor of 1. */
static void an_equivalent_body_keeps_the_kernel(void **state)
{
  test_case t = with_gradients();

  needs_vectors();
  for (int32_t i = 0; i < weir_graph_nodes(t.g); i++) {
    weir_access *a = &weir_graph_node_mut(t.g, i)->access;

    for (int32_t e = 0; e < a->body.n && a->combine == WEIR_COMBINE_SUM; e++) {
      weir_expr *x = &a->body.exprs[e];
      const int32_t first = x->a;

      if (x->code == WEIR_CODE_MUL || x->code == WEIR_CODE_EQ) {
        x->a = x->b;
        x->b = first;
      }
    }
    if (a->combine == WEIR_COMBINE_SUM) {
      const weir_dtype dtype = a->body.exprs[a->value[0]].dtype;

      a->value[0] = weir_body_binary(&a->body, WEIR_CODE_MUL, weir_body_real(&a->body, dtype, 1),
                                     a->value[0]);
    }
  }
  assert_int_equal(agree_in(&t), 3);
  end(&t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_convolutions_agree),
      cmocka_unit_test(ends_of_networks_are_claimed),
      cmocka_unit_test(others_are_left),
      cmocka_unit_test(a_wrong_derivation_is_not_claimed),
      cmocka_unit_test(an_equivalent_body_keeps_the_kernel),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
