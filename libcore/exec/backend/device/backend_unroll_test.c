/* backend_unroll_test.c - reductions of few iterations, whose threads have whole points: the bits
 * of the cpu for interpolations and their derivatives, sums, products and extremes;
 * and how often one loads an element. */
#include <time.h>

#include "ops/elementwise/weir_elementwise.h"
#include "ops/interpolate/weir_interpolate.h"
#include "ops/ops_cases.h"
#include "ops/reduce/weir_reduce.h"
#include "pass/autodiff/weir_gradients.h"
#include "support/exec/backend_check.h"

enum { GRAPHS = 10, TAPS = 3, NEIGHBOURS = 2, CHANNELS = 8 };

static weir_value put_input(weir_graph *g, const char *name, weir_dtype dtype, int rank,
                            const int64_t *shape)
{
  weir_array_desc d = {.dtype = dtype, .rank = rank};

  for (int k = 0; k < rank; k++) {
    d.shape[k] = shape[k];
  }
  return weir_input(g, name, &d);
}

/* x [2, n, taps, channels], interpolated to `length`, and the gradients of a sum of it. */
static void put_interpolation(weir_graph *g, weir_dtype dtype, const weir_interpolate_spec *s,
                              const int64_t *x, const int64_t *a)
{
  const weir_value in = put_input(g, "x", dtype, 4, x), table = put_input(g, "a", dtype, 3, a);
  const weir_value y = weir_interpolate(g, s, in, table);
  weir_value grad[2], loss = weir_mul(g, y, weir_input(g, "t", weir_value_desc(g, y)));

  for (int k = weir_value_desc(g, y)->rank - 1; k >= 0; k--) {
    loss = weir_sum(g, loss, k);
  }
  assert_ok(weir_gradients(g, loss, (weir_value[]){in, table}, 2, grad));
  weir_output(g, "y", y);
  weir_output(g, "dx", grad[0]);
  weir_output(g, "da", grad[1]);
}

/* All monoids of one component, along a dimension of few elements, present in part. */
static void put_sums(weir_graph *g, weir_dtype dtype, weir_draw *w)
{
  const int64_t shape[] = {weir_draw_int(w, 1, 5), weir_draw_int(w, 1, 16),
                           4 * weir_draw_int(w, 1, 3)};
  const weir_value v = put_input(g, "v", dtype, 3, shape);

  weir_output(g, "sum", weir_sum(g, v, 1));
  weir_output(g, "product", weir_prod(g, v, 1));
  weir_output(g, "most", weir_max_over(g, v, 1));
  weir_output(g, "least", weir_min_over(g, v, 1));
  weir_output(g, "across", weir_sum(g, v, 2));
}

static weir_graph *draw_graph(uint64_t seed)
{
  static const weir_dtype dtypes[] = {WEIR_F32, WEIR_F64};
  static const int64_t channels[] = {8, 1, 5, 4, 12};
  weir_draw w = {.seed = seed};
  const int64_t n = weir_draw_int(&w, 1, 7);
  const int64_t length = weir_draw_one_in(&w, 2) ? 2 * n : weir_draw_int(&w, 1, 12);
  const int64_t taps = weir_draw_int(&w, 1, 3), neighbours = weir_draw_int(&w, 1, 3);
  const int64_t x[] = {2, n, taps, channels[seed % 5]}, a[] = {length, taps, neighbours};
  const weir_interpolate_spec s = {.dim = 1,
                                   .taps = 2,
                                   .pad = weir_draw_int(&w, -1, 2),
                                   .before = weir_draw_int(&w, -1, 1),
                                   .border = weir_draw_one_in(&w, 2) ? WEIR_BORDER_WRAP
                                                                     : WEIR_BORDER_ZERO};
  weir_graph *g = NULL;

  assert_ok(weir_graph_create(&g));
  put_interpolation(g, dtypes[weir_draw_int(&w, 0, 1)], &s, x, a);
  put_sums(g, dtypes[weir_draw_int(&w, 0, 1)], &w);
  assert_ok(weir_graph_status(g));
  return g;
}

/* Kernels without the threads of a reduction block, and those with vectors. */
static void count(const weir_plan *p, int *unrolled, int *wide)
{
  for (int64_t k = 0; k < p->backend->n_kernels; k++) {
    const char *text = p->backend->kernels[k].text;
    const bool is = strstr(text, "reduction(addresses") != NULL && strstr(text, "int in0;") != NULL;

    *unrolled += is;
    *wide += is && strstr(text, "} vector_") != NULL;
  }
}

static void check_graphs(const char *device)
{
  const uint64_t first = (uint64_t)time(NULL);
  int unrolled = 0, wide = 0;

  print_message("seed %llu\n", (unsigned long long)first);
  for (uint64_t seed = first; seed < first + GRAPHS; seed++) {
    const weir_exec_cfg cfg = backend_config(device);
    weir_graph *g = draw_graph(seed);
    backend_bits cpu = backend_run(g, NULL, "cpu"), other = backend_run(g, NULL, device);
    weir_plan *p = NULL;

    assert_int_equal(other.host, 0);
    backend_compare(&cpu, &other);
    assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &p));
    count(p, &unrolled, &wide);
    weir_plan_destroy(&p);
    weir_graph_destroy(&g);
  }
  print_message("%s: %d kernels of whole points, %d with vectors\n", device, unrolled, wide);
  assert_true(unrolled > 4 * GRAPHS && wide > GRAPHS);
}

static void few_iterations_give_the_bits_of_the_cpu(void **state)
{
  backend_each(check_graphs);
}

/* A thread of one point loads an x and a coefficient for each product; those of several points,
 * with vectors of channels, less than half of it for each. */
static void elements_are_loaded_once_by_a_thread(void **state)
{
  const int64_t n = 64, x[] = {64, n, TAPS, CHANNELS}, a[] = {2 * n, TAPS, NEIGHBOURS};
  const weir_interpolate_spec s = {.dim = 1, .taps = 2, .pad = 1};
  weir_graph *g = NULL;
  native_form form;
  exec_layout layout;
  exec_places places;
  weir_value in, y;

  assert_ok(weir_graph_create(&g));
  in = put_input(g, "x", WEIR_F32, 4, x);
  y = weir_interpolate(g, &s, in, put_input(g, "a", WEIR_F32, 3, a));
  assert_ok(weir_graph_status(g));
  const weir_access *access = &weir_graph_node(g, y.node)->access;

  assert_ok(native_form_of(access, &form));
  assert_ok(exec_layout_of(&form, false, &layout));
  layout.dense = true;
  exec_layout_unroll(&form, 1, &layout);
  assert_true(layout.unrolled);
  exec_places_of(access, &layout, &places);
  const int64_t points = exec_mapping_repeats(&layout.parallel);
  const int64_t bytes = exec_unrolled_bytes(access, &layout, &places);

  print_message("%lld bytes for %lld points\n", (long long)bytes, (long long)points);
  assert_true(bytes * 2 < points * (2 * TAPS * NEIGHBOURS + 1) * (int64_t)sizeof(float));
  weir_graph_destroy(&g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(few_iterations_give_the_bits_of_the_cpu),
      cmocka_unit_test(elements_are_loaded_once_by_a_thread),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
