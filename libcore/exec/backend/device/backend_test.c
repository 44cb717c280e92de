/* backend_test.c - plans on the emulated device, and on a GPU where there is one: the bits of the
 * cpu, and what describe says of copies. What is planted under a plan: backend_plant_test.c. */
#include "support/exec/backend_check.h"
#include "support/exec/draw_run.h"
#include "support/exec/train_nets.h"
#include "ops/inverse/weir_inverse.h"

#ifndef DRAW_GRAPHS
#define DRAW_GRAPHS 4
#endif

/* Random graphs without time, under other fusions: as every operator by itself on the cpu. */
static void check_graphs(const char *device)
{
  for (uint64_t seed = 0; seed < DRAW_GRAPHS; seed++) {
    draw_graph d = draw_make(seed, false, false);
    draw_outcome expected, actual;
    draw_way way = {.tier = WEIR_TIER_VECTOR, .threads = 1, .kernel = "none"};

    assert_ok(draw_run(&d, &way, NULL, &expected));
    way.fusion = seed % 3 != 0;
    way.device = device;
    way.kernel = NULL;
    const weir_status status = draw_run(&d, &way, NULL, &actual);
    const int64_t at = status == WEIR_OK ? draw_difference(&actual, &expected, 0) : -1;

    if (at >= 0 || status != WEIR_OK) {
      print_error("graph %d on %s: element %lld\n", (int)seed, device, (long long)at);
      weir_graph_print(d.g, 64, stderr);
    }
    assert_ok(status);
    assert_true(at < 0);
    weir_free(&expected.values);
    weir_free(&actual.values);
    weir_graph_destroy(&d.g);
  }
}

static void graphs_give_the_bits_of_the_cpu(void **state)
{
  backend_each(check_graphs);
}

/* Every monoid over a dimension of [rows, n] and of its transpose, f32 and c128. */
static void put_reductions(weir_graph *g, int64_t n)
{
  static const weir_monoid monoids[] = {
      WEIR_COMBINE_SUM,     WEIR_COMBINE_PROD,    WEIR_COMBINE_MAX,   WEIR_COMBINE_ARGMAX,
      WEIR_COMBINE_MOMENTS, WEIR_COMBINE_SOFTMAX, WEIR_COMBINE_FIRST, WEIR_COMBINE_LAST};
  const weir_array_desc rows = {.dtype = WEIR_F32, .rank = 2, .shape = {3, n}};
  const weir_array_desc columns = {.dtype = WEIR_F32, .rank = 2, .shape = {n, 11}};
  const weir_value x[2] = {weir_input(g, "rows", &rows), weir_input(g, "columns", &columns)};
  char name[32];

  for (int side = 0; side < 2; side++) {
    for (size_t m = 0; m < sizeof monoids / sizeof *monoids; m++) {
      const weir_reduce_spec spec = {.combine = monoids[m], .n_dims = 1, .dim = {1 - side}};
      const bool present = monoids[m] == WEIR_COMBINE_MOMENTS || monoids[m] >= WEIR_COMBINE_FIRST;
      const weir_value y =
          present ? weir_reduce_present(g, &spec, x[side], weir_lt_scalar(g, x[side], 0.5))
                  : weir_reduce(g, &spec, x[side]);

      for (int o = 0; y.node >= 0 && o < weir_graph_node(g, y.node)->n_out; o++) {
        snprintf(name, sizeof name, "y%d_%d_%d", side, (int)m, o);
        weir_output(g, name, (weir_value){y.node, o});
      }
    }
  }
}

/* A single lane, all lanes, one reduction block and a bit, more of them than a thread block takes
 * at a time. */
static void check_reductions(const char *device)
{
  static const int64_t lengths[] = {1, 3, 16, 100, 4096, 4097, 20 * 4096 + 5};

  for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
    weir_graph *g = NULL;

    assert_ok(weir_graph_create(&g));
    put_reductions(g, lengths[k]);
    assert_ok(weir_graph_status(g));
    backend_bits cpu = backend_run(g, NULL, "cpu"), other = backend_run(g, NULL, device);

    assert_int_equal(cpu.host, 0);
    assert_int_equal(other.host, 0);
    backend_compare(&cpu, &other);
    weir_graph_destroy(&g);
  }
}

static void reductions_keep_their_order(void **state)
{
  backend_each(check_reductions);
}

/* A running sum and an inverse between maps, complex numbers, a gather at indices made before. */
static void put_calls(weir_graph *g)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 3, .shape = {5, 4, 4}};
  const weir_array_desc z = {.dtype = WEIR_C64, .rank = 2, .shape = {6, 7}};
  const weir_value x = weir_input(g, "x", &d), c = weir_input(g, "z", &z);
  const weir_value eye = weir_add_scalar(g, weir_scale(g, x, 0.5), 1);
  const weir_value sums = weir_cumsum_at(g, weir_square(g, x), 0, false, WEIR_WHERE);

  weir_output(g, "inverse", weir_scale(g, weir_inverse(g, eye), 2));
  weir_output(g, "sums", weir_sub(g, sums, x));
  weir_output(g, "product", weir_mul(g, c, weir_conj(g, c)));
  weir_output(g, "total", weir_sum(g, weir_mul(g, c, c), 1));
  weir_output(g, "same", x);
}

static void check_calls(const char *device)
{
  weir_graph *g = NULL;

  assert_ok(weir_graph_create(&g));
  put_calls(g);
  assert_ok(weir_graph_status(g));
  backend_bits cpu = backend_run(g, NULL, "cpu"), other = backend_run(g, NULL, device);

  assert_int_equal(other.host, 2);
  /* The inverse reads and writes 5 x 4 x 4 f32; the running sum reads an input, which the host has.
   */
  assert_int_equal(other.host_down, 80 * 4);
  assert_int_equal(other.host_up, 80 * 4);
  assert_int_equal(other.up, 80 * 4 + 42 * 8);
  assert_int_equal(other.down, 80 * 4 + 42 * 8 + 6 * 8);
  backend_compare(&cpu, &other);
  weir_graph_destroy(&g);
}

static void calls_of_the_host_are_copied_for(void **state)
{
  backend_each(check_calls);
}

/* Three steps of a small network: parameters in the store, as on the cpu. */
static void check_training(const char *device)
{
  backend_bits bits[2];

  for (int k = 0; k < 2; k++) {
    train_net t = {0};

    assert_ok(train_cosmo(&t, 2, 8, 3));
    bits[k] = backend_run_times(t.g, t.store, k == 0 ? "cpu" : device, 3);
    train_fini(&t);
  }
  backend_compare(&bits[0], &bits[1]);
}

static void training_gives_the_bits_of_the_cpu(void **state)
{
  backend_each(check_training);
}

static void an_unknown_device_is_refused(void **state)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 1, .shape = {10}};
  const weir_exec_cfg cfg = backend_config("nothing");
  weir_graph *g = NULL;
  weir_plan *p = NULL;

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &d);

  weir_output(g, "y", weir_square(g, x));
  assert_ok(weir_graph_status(g));
  assert_int_equal(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg}, &p), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "choose one of cpu, cuda, emulated"));
  weir_graph_destroy(&g);
}

/* Without a GPU, too, where the build has NVRTC. */
/* Chunks are subtrees: a power of two of what a thread block takes at a time; and not more than a
 * device needs. */
static void chunks_are_subtrees(void **state)
{
  const native_form form = {.shape = NATIVE_LANES, .components = 2};

  (void)state;
  for (uint64_t k = 0; k < 1000; k++) {
    exec_layout l = {.at_once = k % 2 == 0 ? 16 : 2, .chunks = 1};

    l.reduce_blocks =
        1 + (int64_t)(weir_random_bits(1, (uint32_t)k, 0, 0) >> (32 + k % 28)) % 100000;
    l.blocks = (int64_t)(weir_random_bits(1, (uint32_t)k, 0, 1) >> (52 + k % 12));
    l.chunk_blocks = l.reduce_blocks;
    const int64_t blocks = l.blocks;

    exec_layout_divide(&form, &l);
    assert_int_equal(l.blocks, blocks * l.chunks);
    assert_true(l.chunks >= 1 && (l.chunks - 1) * l.chunk_blocks < l.reduce_blocks &&
                l.chunks * l.chunk_blocks >= l.reduce_blocks);
    assert_int_equal(l.parts, l.chunks > 1 ? 2 : 0);
    if (l.chunks > 1) {
      const int64_t groups = l.chunk_blocks / l.at_once;

      assert_true(l.chunk_blocks % l.at_once == 0 && (groups & (groups - 1)) == 0);
      assert_true(l.blocks <= 1024);
    }
  }
}

static weir_status compile_reduction(const native_form *form, const exec_layout *layout,
                                     bool merges, weir_device_usage *usage)
{
  exec_places places;

  exec_places_of(form->access, layout, &places);
  const weir_device_param param = {"addresses", "p", places.n_words * (int64_t)sizeof(int64_t)};
  native_text helpers = {0}, body = {0};

  exec_emit(form, layout, &places, merges, &helpers, &body);
  const weir_device_source source = {.name = "reduction",
                                     .params = &param,
                                     .n_params = 1,
                                     .helpers = helpers.text,
                                     .body = body.text};
  const weir_status status = weir_device_compile("cuda", "sm_90", &source, usage);

  assert_int_equal(usage->spill_bytes, 0);
  weir_free(&helpers.text);
  weir_free(&body.text);
  return status;
}

static void reductions_compile_for_gpus_cuda(void **state)
{
  const weir_exec_cfg cfg = backend_config("cpu");
  weir_device_usage usage = {0};
  weir_status status = WEIR_OK;
  int divided = 0;
  weir_graph *g = NULL;
  weir_plan *p = NULL;

  assert_ok(weir_graph_create(&g));
  put_reductions(g, 20 * 4096 + 5);
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg, .sizes_only = true}, &p));
  for (int32_t i = 0; i < p->n_groups && status == WEIR_OK; i++) {
    const weir_access *a = &p->groups[i].loops[p->groups[i].n_loops - 1].loop->access;
    exec_layout layout;
    native_form form;

    assert_ok(native_form_of(a, &form));
    assert_ok(exec_layout_of(&form, false, &layout));
    layout.dense = true;
    exec_layout_divide(&form, &layout);
    divided += layout.chunks > 1;
    for (int merges = 0; merges <= (layout.chunks > 1) && status == WEIR_OK; merges++) {
      status = compile_reduction(&form, &layout, merges == 1, &usage);
    }
  }
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
  if (status != WEIR_OK && strstr(weir_last_message(), "is made by a build") != NULL) {
    print_message("this build has no NVRTC: %s\n", weir_last_message());
    skip();
  }
  assert_ok(status);
  assert_true(divided > 0);
  print_message("%d registers, %d bytes of stack, %d shared\n", usage.registers,
                (int)usage.stack_bytes, (int)usage.shared_bytes);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(graphs_give_the_bits_of_the_cpu),
      cmocka_unit_test(reductions_keep_their_order),
      cmocka_unit_test(calls_of_the_host_are_copied_for),
      cmocka_unit_test(training_gives_the_bits_of_the_cpu),
      cmocka_unit_test(an_unknown_device_is_refused),
      cmocka_unit_test(chunks_are_subtrees),
      cmocka_unit_test(reductions_compile_for_gpus_cuda),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
