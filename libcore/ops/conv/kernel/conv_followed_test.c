/* conv_followed_test.c - loops that read what a kernel makes box by box give the bits that they
 * give after it, and the plan without kernels agrees: bias, activation, residual, maximum over
 * windows, whichever of them are results too. */
#include <math.h>
#include <string.h>

#include "base/weir_random.h"
#include "device/weir_parallel.h"
#include "exec/weir_plan.h"
#include "graph/weir_kernel.h"
#include "ops/conv/weir_conv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/ops_cases.h"
#include "support/ops/ops_check.h"
#include "ops/pool/weir_pool.h"
#include "ops/reduce/weir_reduce.h"
#include "pass/autodiff/weir_gradients.h"

enum { X, W, B, R, IN, SUM = IN, ACTED, SIGN, MAX, AT, ALL };

static const char *const names[ALL] = {"x", "w", "b", "r", "sum", "acted", "sign", "most", "at"};

typedef struct test_case {
  weir_graph *g;
  weir_array_desc desc[ALL];
  bool has[ALL];
  weir_tensor in[IN];
} test_case;

static weir_tensor tensor_of(const weir_array_desc *d)
{
  weir_tensor t;

  assert_ok(weir_tensor_init(&t, d->dtype, d->rank, d->shape));
  return t;
}

static void result(test_case *t, int k, weir_value v, bool wanted)
{
  t->has[k] = wanted && v.node >= 0;
  if (t->has[k]) {
    t->desc[k] = *weir_value_desc(t->g, v);
    weir_output(t->g, names[k], v);
  }
}

static weir_value source(test_case *t, int k, const weir_array_desc *d, uint64_t seed)
{
  t->desc[k] = *d;
  t->has[k] = true;
  t->in[k] = tensor_of(d);
  for (int64_t i = 0; i < weir_tensor_numel(&t->in[k]); i++) {
    ((float *)t->in[k].data)[i] =
        (float)(2 * weir_random_uniform(seed, (uint32_t)k, 0, (uint64_t)i) - 1);
  }
  return weir_input(t->g, names[k], d);
}

typedef struct shape {
  weir_array_desc x, w, b;
  weir_conv_spec conv;
  weir_pool_spec pool;
} shape;

/* large: several chunks of a library, too long for loops. Odd extents, extents of 1, strides,
 * dilation, borders, 1 to 70 channels. */
static shape draw(weir_draw *r, bool large)
{
  static const weir_border borders[] = {WEIR_BORDER_ZERO, WEIR_BORDER_ZERO, WEIR_BORDER_WRAP,
                                        WEIR_BORDER_REPLICATE, WEIR_BORDER_REFLECT};
  const int d = large ? 3 : (int)weir_draw_int(r, 1, 3);
  shape s = {.x = {.dtype = WEIR_F32, .rank = d + 2, .shape = {weir_draw_int(r, 1, 3)}},
             .w = {.dtype = WEIR_F32, .rank = d + 2},
             .b = {.dtype = WEIR_F32, .rank = 1},
             .pool.ceil = weir_draw_one_in(r, 4)};

  for (int k = 0; k < d; k++) {
    s.w.shape[k] = weir_draw_int(r, large ? 2 : 1, 3);
    s.x.shape[k + 1] = large                    ? weir_draw_int(r, 9, 16)
                       : weir_draw_one_in(r, 8) ? 1
                                                : weir_draw_int(r, 3, d == 3 ? 7 : 14);
    s.conv.stride[k] = weir_draw_one_in(r, 5) ? 2 : 1;
    s.conv.dilation[k] = weir_draw_one_in(r, large ? 5 : 20) ? 2 : 1;
    s.conv.pad_before[k] = weir_draw_int(r, 0, 2);
    s.conv.pad_after[k] = weir_draw_int(r, 0, 2);
    s.conv.border[k] = borders[weir_draw_int(r, 0, 4)];
    s.pool.kernel_size[k] = weir_draw_one_in(r, 5) ? weir_draw_int(r, 1, 3) : 2;
    s.pool.stride[k] = weir_draw_one_in(r, 8) ? weir_draw_int(r, 1, 3) : s.pool.kernel_size[k];
    s.pool.pad_before[k] = weir_draw_one_in(r, 8) && s.pool.kernel_size[k] > 1;
  }
  s.x.shape[d + 1] = s.w.shape[d] = weir_draw_int(r, 1, large ? 40 : 15);
  s.w.shape[d + 1] = s.b.shape[0] = weir_draw_int(r, large ? 30 : 1, 70);
  return s;
}

/* What conv.winograd and conv.tiles make box by box: kernel size 3, stride 1. */
static shape draw_unit(weir_draw *r)
{
  shape s = draw(r, true);

  for (int k = 0; k < 3; k++) {
    s.w.shape[k] = 3;
    s.conv.stride[k] = s.conv.dilation[k] = 1;
  }
  return s;
}

/* What conv.pool_sparse makes box by box: maxima over disjoint windows, x too long for a cache. */
static shape draw_pool_sparse(weir_draw *r)
{
  shape s = {.x = {.dtype = WEIR_F32, .rank = 4, .shape = {1}},
             .w = {.dtype = WEIR_F32, .rank = 4},
             .b = {.dtype = WEIR_F32, .rank = 1}};

  for (int k = 0; k < 2; k++) {
    s.w.shape[k] = 3;
    s.x.shape[k + 1] = weir_draw_int(r, 133, 145);
    s.conv.stride[k] = s.conv.dilation[k] = s.conv.pad_before[k] = s.conv.pad_after[k] = 1;
    s.pool.kernel_size[k] = s.pool.stride[k] = 2;
  }
  s.x.shape[3] = s.w.shape[2] = weir_draw_int(r, 15, 20);
  s.w.shape[3] = s.b.shape[0] = weir_draw_int(r, 6, 16);
  return s;
}

typedef enum way { FORWARD, BACKWARDS, FROM_MAXIMA } way;

/* Bias, leaky ReLU, sometimes a residual, and mostly a maximum after the convolution. */
static void follow(test_case *t, const shape *s, weir_draw *r, weir_value y, uint64_t seed)
{
  y = weir_add(t->g, y, source(t, B, &s->b, seed));
  result(t, SUM, y, weir_draw_one_in(r, 4));
  const weir_value below = weir_lt_scalar(t->g, y, 0);

  y = weir_select(t->g, below, weir_scale(t->g, y, 0.3), y);
  result(t, SIGN, below, weir_draw_one_in(r, 3));
  if (weir_draw_one_in(r, 3)) {
    const weir_array_desc like = *weir_value_desc(t->g, y);

    y = weir_add(t->g, y, source(t, R, &like, seed));
  }
  const weir_value max = weir_draw_one_in(r, 3) ? WEIR_NO_VALUE : weir_pool_max(t->g, &s->pool, y);

  result(t, ACTED, y, max.node < 0 || weir_draw_one_in(r, 4));
  result(t, MAX, max, true);
  result(t, AT, (weir_value){max.node, 1}, weir_draw_one_in(r, 2));
}

/* Forward; or the derivative by what an activation makes the convolution's x of, from its result or
 * from maxima of it. False where there is no output. */
static bool make(test_case *t, const shape *s, weir_draw *r, way go, uint64_t seed)
{
  *t = (test_case){.g = new_graph()};
  const weir_value x = source(t, X, &s->x, seed), w = source(t, W, &s->w, seed);
  const weir_value below = weir_lt_scalar(t->g, x, 0);
  const weir_value acted = weir_select(t->g, below, weir_scale(t->g, x, 0.3), x);
  weir_value y = weir_conv(t->g, &s->conv, go == FORWARD ? x : acted, w);

  if (y.node < 0) {
    return false;
  }
  if (go == FORWARD) {
    follow(t, s, r, y, seed);
  } else {
    y = go == FROM_MAXIMA ? weir_pool_max(t->g, &s->pool, y) : y;
    const weir_array_desc like = *weir_value_desc(t->g, y);
    const weir_value loss = weir_sum(t->g, weir_mul(t->g, y, source(t, R, &like, seed)), -1);
    weir_value grad;

    if (weir_gradients(t->g, loss, &x, 1, &grad) != WEIR_OK) {
      return false;
    }
    result(t, SUM, grad, true);
  }
  if (seed % 4 == 0) {
    ((float *)t->in[X].data)[(int64_t)(seed * 7919) % weir_tensor_numel(&t->in[X])] = NAN;
  }
  return weir_graph_status(t->g) == WEIR_OK;
}

static void end(test_case *t)
{
  weir_clear_failure();
  for (int k = 0; k < IN; k++) {
    weir_tensor_fini(&t->in[k]);
  }
  weir_graph_destroy(&t->g);
}

/* True when others joined the kernel in its group. */
static bool is_followed(const weir_plan *plan, const char *kernel)
{
  bool followed = false;

  for (int32_t i = 0; i < weir_plan_groups(plan); i++) {
    const weir_group_report r = weir_plan_group(plan, i);

    followed = followed || (strcmp(r.kernel, kernel) == 0 && strchr(r.members, ',') != NULL);
  }
  return followed;
}

/* Runs the graph, its results allocated here; false, and nothing has run, where `followed` is
 * wanted and nobody joined the kernel. */
static bool run(const test_case *t, const weir_exec_cfg *cfg, int threads, bool followed,
                weir_tensor made[ALL])
{
  weir_plan *plan;
  weir_binding bindings[ALL];
  int n = 0;

  assert_ok(
      weir_plan_create(t->g, NULL, &(weir_plan_opts){.exec = cfg, .threads = threads}, &plan));
  const bool wanted = !followed || is_followed(plan, cfg->kernel);

  for (int k = 0; k < ALL && wanted; k++) {
    if (t->has[k]) {
      made[k] = k < IN ? t->in[k] : tensor_of(&t->desc[k]);
      bindings[n++] = (weir_binding){names[k], &made[k]};
    }
  }
  for (int twice = 0; twice < 2 && wanted; twice++) {
    assert_ok(weir_plan_run(plan, bindings, n));
  }
  weir_plan_destroy(&plan);
  return wanted;
}

static void compare(const test_case *t, const weir_tensor *a, const weir_tensor *b, bool bits)
{
  for (int k = IN; k < ALL; k++) {
    const int64_t n = t->has[k] ? weir_tensor_numel(&a[k]) : 0;

    if (n == 0) {
      continue;
    }
    if (bits) {
      assert_memory_equal(a[k].data, b[k].data, (size_t)n * weir_dtype_size(a[k].dtype));
    } else if (t->desc[k].dtype == WEIR_F32) { /* signs and argmax follow from rounding */
      assert_int_equal(
          weir_compare(names[k], WEIR_F32, a[k].data, b[k].data, n, (weir_tolerance){1e-4, 2e-4}),
          0);
    }
  }
}

static void release(const test_case *t, weir_tensor *made)
{
  for (int k = IN; k < ALL; k++) {
    if (t->has[k]) {
      weir_tensor_fini(&made[k]);
    }
  }
}

/* False where nobody joined the kernel. half: products are made in bf16; plainly: compared with
 * plans without kernels too. */
static bool agree(const test_case *t, const char *kernel, bool half, bool plainly)
{
  weir_tensor plain[ALL], apart[ALL], one[ALL], two[ALL];
  weir_exec_cfg cfg;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.kernel = kernel;
  cfg.precision = half;
  cfg.tier = WEIR_TIER_VECTOR;
  if (!run(t, &cfg, 1, true, one)) {
    return false;
  }
  cfg.fusion = false;
  assert_true(run(t, &cfg, 1, false, apart));
  compare(t, one, apart, true);
  cfg.fusion = true;
  cfg.cache_bytes = 4096;
  assert_true(run(t, &cfg, 2, true, two));
  compare(t, one, two, true);
  if (plainly) {
    cfg.kernel = "none";
    assert_true(run(t, &cfg, 1, false, plain));
    compare(t, one, plain, false);
    release(t, plain);
  }
  release(t, one);
  release(t, apart);
  release(t, two);
  return true;
}

static void followers_keep_every_bit(void **state)
{
  for (int i = 0; weir_kernel_table[i] != NULL; i++) {
    const char *kernel = weir_kernel_table[i]->name;
    const bool large = strstr(kernel, "dnnl") != NULL, data = strstr(kernel, "data") != NULL;
    const bool sparse = strstr(kernel, "pool_sparse") != NULL;
    const bool tiles = strstr(kernel, "tiles") != NULL;
    const bool unit = strstr(kernel, "winograd") != NULL || tiles;
    int joined = 0, cases = 0;

    if (weir_kernel_table[i]->blocks == NULL || strncmp(kernel, "conv", 4) != 0) {
      continue;
    }
    if (tiles && !weir_cpu_get()->amx) {
      print_message("%s: left out: this processor has no products of tiles\n", kernel);
      continue;
    }
    for (uint64_t seed = 1; seed <= 24 && joined < (sparse ? 3 : 6); seed++) {
      weir_draw r = {.seed = seed};
      shape s = sparse ? draw_pool_sparse(&r) : unit ? draw_unit(&r) : draw(&r, large);
      const way go = sparse ? FROM_MAXIMA : data || (!large && seed % 5 == 0) ? BACKWARDS : FORWARD;
      test_case t;

      if (data) { /* what is repeated at an edge has a gradient of several nodes, some of them loops
                   */
        memset(s.conv.border, 0, sizeof s.conv.border);
      }

      if (make(&t, &s, &r, go, seed)) {
        joined += agree(&t, kernel, tiles, !large && !sparse && !unit);
        cases++;
      }
      end(&t);
    }
    print_message("%s: followed in %d of %d\n", kernel, joined, cases);
    assert_true(joined >= 3);
  }
}

/* The oracle agrees with every pass, also where a kernel's group has several members. */
static void passes_are_verified(void **state)
{
  for (uint64_t seed = 100; seed < 104; seed++) {
    weir_draw r = {.seed = seed};
    const shape s = draw(&r, false);
    weir_exec_cfg cfg;
    weir_tensor made[ALL];
    test_case t;

    weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
    cfg.verify = 1;
    cfg.tier = WEIR_TIER_VECTOR;
    if (make(&t, &s, &r, seed % 2 == 0 ? BACKWARDS : FORWARD, seed) &&
        weir_tensor_numel(&t.in[X]) < 1024) {
      assert_true(run(&t, &cfg, 1, false, made));
      release(&t, made);
    }
    end(&t);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(followers_keep_every_bit),
      cmocka_unit_test(passes_are_verified),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
