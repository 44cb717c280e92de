/* backend_kernel_test.c - groups that a device's library computes: random convolutions and matrix
 * products with their derivatives, Fourier transforms, against the loops of the cpu; and a library
 * that refuses. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/weir_random.h"
#include "device/device_priv.h"
#include "graph/weir_store_device.h"
#include "ops/contract/weir_contract.h"
#include "ops/conv/weir_conv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/fft/weir_fft.h"
#include "ops/reduce/weir_reduce.h"
#include "pass/autodiff/weir_gradients.h"
#include "support/exec/backend_check.h"

#include "support/ops/ops_check.h"

typedef struct drawn {
  uint64_t seed, n;
} drawn;

static int64_t draw_in(drawn *d, int64_t lo, int64_t hi)
{
  return lo + (int64_t)(weir_random_bits(d->seed, 0, 0, d->n++) % (uint64_t)(hi - lo + 1));
}

/* Results of the graph, and how many groups have a library's kernel. */
typedef struct outcome {
  weir_tensor tensor[BACKEND_MAX];
  int n, claimed, on_host;
} outcome;

static outcome run_graph(const weir_graph *g, weir_store *store, const char *device,
                         const char *kernel, weir_precision precision)
{
  weir_exec_cfg cfg = backend_config(device);
  weir_binding bindings[BACKEND_MAX];
  outcome out = {.n = 0};
  weir_plan *p = NULL;

  cfg.kernel = kernel;
  cfg.precision = (int)precision;
  assert_ok(weir_plan_create(g, store, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &p));
  out.n = backend_bind(g, out.tensor, bindings);
  for (int k = 0; k < 2; k++) { /* twice: a run leaves nothing behind */
    assert_ok(weir_plan_run(p, bindings, out.n));
  }
  for (int32_t i = 0; i < weir_plan_groups(p); i++) {
    out.claimed += strstr(weir_plan_group(p, i).kernel, ".library") != NULL;
    out.on_host += p->backend != NULL && !p->groups[i].on_device;
  }
  weir_plan_destroy(&p);
  return out;
}

static void free_outcome(outcome *o)
{
  for (int k = 0; k < o->n; k++) {
    weir_tensor_fini(&o->tensor[k]);
  }
}

/* As on the cpu, by its loops. Returns how many groups a library computes. */
static int check_graph(const weir_graph *g, const char *device, weir_precision precision,
                       double tolerance)
{
  outcome other = run_graph(g, NULL, device, "auto", precision);
  outcome cpu = run_graph(g, NULL, "cpu", "none", WEIR_PRECISION_F32);

  const int claimed = other.claimed;

  assert_int_equal(other.on_host, 0);
  for (int k = 0; k < cpu.n; k++) {
    const weir_tensor *t = &cpu.tensor[k];

    assert_int_equal(weir_compare(device, t->dtype, other.tensor[k].data, t->data,
                                  weir_tensor_numel(t), (weir_tolerance){tolerance, tolerance}),
                     0);
  }
  free_outcome(&other);
  free_outcome(&cpu);
  return claimed;
}

/* y, and the gradients of sum(y t) by both inputs; all smooth in between. */
static void put_gradients(weir_graph *g, weir_value a, weir_value b, weir_value y)
{
  weir_value grad[2], loss = weir_mul(g, y, weir_input(g, "t", weir_value_desc(g, y)));

  for (int k = weir_value_desc(g, y)->rank - 1; k >= 0; k--) {
    loss = weir_sum(g, loss, k);
  }
  assert_ok(weir_gradients(g, loss, (weir_value[]){a, b}, 2, grad));
  weir_output(g, "y", y);
  weir_output(g, "da", grad[0]);
  weir_output(g, "db", grad[1]);
}

static bool put_convolution(drawn *d, weir_graph *g, weir_dtype dtype)
{
  static const weir_border borders[] = {WEIR_BORDER_ZERO, WEIR_BORDER_WRAP, WEIR_BORDER_REPLICATE,
                                        WEIR_BORDER_REFLECT};
  const int n = (int)draw_in(d, 1, WEIR_CONV_DIMS), groups = (int)draw_in(d, 1, 2);
  weir_conv_spec spec = {.groups = groups};
  int64_t x[WEIR_CONV_DIMS + 2], w[WEIR_CONV_DIMS + 2];

  x[0] = draw_in(d, 1, 2);
  const int64_t least = groups;

  x[n + 1] = groups * draw_in(d, least, 4);
  w[n] = x[n + 1] / groups;
  w[n + 1] = groups * draw_in(d, least, 4);
  for (int k = 0; k < n; k++) {
    spec.stride[k] = draw_in(d, 1, 3);
    spec.dilation[k] = draw_in(d, 1, 2);
    spec.pad_before[k] = draw_in(d, 0, 2);
    spec.pad_after[k] = draw_in(d, 0, 2);
    spec.border[k] = borders[draw_in(d, 0, 3)];
    w[k] = draw_in(d, 1, 3);
    x[k + 1] = draw_in(d, spec.dilation[k] * (w[k] - 1) + 2, 9);
  }
  const weir_value in = given(g, "a", dtype, n + 2, x), weights = given(g, "b", dtype, n + 2, w);
  const weir_value y = weir_conv(g, &spec, in, weights);

  if (y.node >= 0) {
    put_gradients(g, in, weights, y);
  }
  return y.node >= 0;
}

static void check_convolutions(const char *device)
{
  drawn d = {.seed = (uint64_t)time(NULL)};
  int made = 0, claimed = 0;

  print_message("seed %llu\n", (unsigned long long)d.seed);
  for (int k = 0; k < 24; k++) {
    weir_graph *g = new_graph();
    const weir_dtype dtype = k % 3 == 0 ? WEIR_F64 : WEIR_F32;
    const bool half = k % 3 == 1; /* rounded to 8 bits: an error is seen, not a rounding */

    if (put_convolution(&d, g, dtype)) {
      claimed += check_graph(g, device, half ? WEIR_PRECISION_BF16 : WEIR_PRECISION_F32,
                             half                ? 0.1
                             : dtype == WEIR_F64 ? 1e-12
                                                 : 1e-4);
      made++;
    }
    weir_graph_destroy(&g);
  }
  assert_true(made > 0 && 10 * claimed >= 8 * 3 * made); /* degenerate ones are generated */
}

static void convolutions_are_the_libraries(void **state)
{
  backend_each(check_convolutions);
}

static void check_products(const char *device)
{
  static const char *const labels[] = {"mk,kn->mn", "mk,nk->mn", "km,kn->mn", "smk,skn->smn",
                                       "msk,skn->msn"};
  static const weir_dtype dtypes[] = {WEIR_F32, WEIR_F64, WEIR_C64, WEIR_C128};
  drawn d = {.seed = (uint64_t)time(NULL)};

  for (int k = 0; k < 20; k++) {
    const char *l = labels[k % 5];
    const weir_dtype dtype = dtypes[k / 5];
    int64_t extent[128] = {['m'] = draw_in(&d, 16, 30), ['k'] = draw_in(&d, 16, 30)};
    int64_t shape[2][3];
    int at = 0, rank = (int)strcspn(l, ",");
    weir_graph *g = new_graph();

    extent['n'] = draw_in(&d, 16, 30);
    extent['s'] = draw_in(&d, 1, 4);
    for (const char *c = l; *c != '-'; c++) {
      if (*c != ',') {
        shape[at / rank][at % rank] = extent[(int)*c];
        at++;
      }
    }
    const weir_value a = given(g, "a", dtype, rank, shape[0]);
    const weir_value b = given(g, "b", dtype, rank, shape[1]);
    const weir_value y = weir_contract(g, l, a, b);

    if (weir_dtype_is_complex(dtype)) {
      weir_output(g, "y", y);
      assert_int_equal(
          check_graph(g, device, WEIR_PRECISION_F32, dtype == WEIR_C128 ? 1e-12 : 1e-4), 1);
    } else {
      put_gradients(g, a, b, y);
      assert_int_equal(check_graph(g, device, WEIR_PRECISION_F32, dtype == WEIR_F64 ? 1e-12 : 1e-4),
                       3);
    }
    weir_graph_destroy(&g);
  }
}

static void products_are_the_libraries(void **state)
{
  backend_each(check_products);
}

/* Transformed dimensions among others, sometimes of truncated spectra, sometimes scaled. */
static weir_value put_transform(drawn *d, weir_graph *g, weir_dtype part)
{
  weir_fft_spec s = {.kind = (int32_t)draw_in(d, WEIR_FFT_FORWARD, WEIR_FFT_TO_REAL),
                     .n_dims = (int32_t)draw_in(d, 1, 3),
                     .odd = (int32_t)draw_in(d, 0, 1),
                     .scale = draw_in(d, 0, 1) == 1 ? 0.3 : 0};
  const int before = (int)draw_in(d, 0, 2), rank = before + s.n_dims + (int)draw_in(d, 0, 1);
  const bool truncated = draw_in(d, 0, 1) == 1, back = s.kind % 2 == 1;
  int64_t shape[WEIR_MAX_RANK];

  for (int k = 0; k < rank; k++) {
    shape[k] = draw_in(d, 1, 3);
  }
  for (int k = 0; k < s.n_dims; k++) {
    const bool half = s.kind >= WEIR_FFT_REAL && k == s.n_dims - 1;
    const int64_t n = draw_in(d, 1, s.n_dims == 1 ? 40 : 9), waves = half ? n / 2 + 1 : n;
    const int64_t held = truncated ? draw_in(d, 1, waves) : waves;

    s.dim[k] = before + k;
    shape[before + k] = back ? held : n;
    s.extent[k] = back ? n : held;
  }
  return weir_fft(
      g, given(g, "x", s.kind == WEIR_FFT_REAL ? part : weir_dtype_complex(part), rank, shape), &s);
}

static void check_transforms(const char *device)
{
  drawn d = {.seed = (uint64_t)time(NULL)};

  print_message("seed %llu\n", (unsigned long long)d.seed);
  for (int k = 0; k < 60; k++) {
    const weir_dtype part = k % 2 == 0 ? WEIR_F32 : WEIR_F64;
    weir_graph *g = new_graph();

    weir_output(g, "y", put_transform(&d, g, part));
    assert_int_equal(check_graph(g, device, WEIR_PRECISION_F32, part == WEIR_F64 ? 1e-12 : 1e-4),
                     1);
    weir_graph_destroy(&g);
  }
}

static void transforms_are_the_libraries(void **state)
{
  backend_each(check_transforms);
}

/* What the library does not take is a call of the host: dimensions apart, nothing at all. */
static void check_other_transforms(const char *device)
{
  const weir_fft_spec apart = {.n_dims = 2, .dim = {0, 2}}, plain = {.n_dims = 1, .dim = {1}};
  const int64_t shapes[][3] = {{3, 2, 4}, {0, 5, 2}};

  for (int k = 0; k < 2; k++) {
    weir_graph *g = new_graph();

    weir_output(g, "y",
                weir_fft(g, given(g, "x", WEIR_C64, 3, shapes[k]), k == 0 ? &apart : &plain));
    outcome other = run_graph(g, NULL, device, "auto", WEIR_PRECISION_F32);

    assert_int_equal(other.claimed, 0);
    assert_int_equal(other.on_host, 1);
    free_outcome(&other);
    weir_graph_destroy(&g);
  }
}

static void other_transforms_are_calls_of_the_host(void **state)
{
  backend_each(check_other_transforms);
}

static weir_status refuse(weir_library_call *call)
{
  (void)call;
  return weir_fail(WEIR_ERR_UNSUPPORTED, "no such library");
}

/* On a device whose library refuses every call; groups that are calls of the host have the kernels
 * that they have on the cpu, others are generated: the bits of such a plan there. */
static void check_refused(weir_graph *g, const char *device, int on_host)
{
  const weir_store_device *shared = NULL;
  weir_store *store = NULL;

  assert_ok(weir_store_create(&store));
  assert_ok(weir_store_device_use(store, device, &shared));
  const weir_device_ops *ops = shared->device->ops;
  weir_device_ops without = *ops;

  without.library_create = refuse;
  shared->device->ops = &without;
  outcome generated = run_graph(g, store, device, "auto", WEIR_PRECISION_F32);
  outcome cpu = run_graph(g, NULL, "cpu", on_host > 0 ? "auto" : "none", WEIR_PRECISION_F32);

  shared->device->ops = ops;
  assert_int_equal(generated.claimed, 0);
  assert_int_equal(generated.on_host, on_host);
  for (int k = 0; k < cpu.n; k++) {
    const weir_tensor *t = &cpu.tensor[k];

    assert_memory_equal(generated.tensor[k].data, t->data,
                        (size_t)weir_tensor_numel(t) * weir_dtype_size(t->dtype));
  }
  free_outcome(&generated);
  free_outcome(&cpu);
  weir_store_device_release(store);
  weir_store_destroy(&store);
  weir_graph_destroy(&g);
}

static void check_refusal(const char *device)
{
  drawn d = {.seed = 5};
  weir_graph *g = new_graph();

  while (!put_convolution(&d, g, WEIR_F32)) {
    weir_graph_destroy(&g);
    g = new_graph();
  }
  check_refused(g, device, 0);
  g = new_graph();
  weir_output(g, "y", put_transform(&d, g, WEIR_F32));
  check_refused(g, device, 1);
}

static void what_a_library_refuses_is_generated_or_the_hosts(void **state)
{
  backend_each(check_refusal);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(convolutions_are_the_libraries),
      cmocka_unit_test(products_are_the_libraries),
      cmocka_unit_test(transforms_are_the_libraries),
      cmocka_unit_test(other_transforms_are_calls_of_the_host),
      cmocka_unit_test(what_a_library_refuses_is_generated_or_the_hosts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
