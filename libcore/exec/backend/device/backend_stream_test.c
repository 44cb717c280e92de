/* backend_stream_test.c - plans with time on the emulated device, and on a GPU where there is one:
 * the bits of the cpu, whatever the chunks, over gaps, after a rewind. */
#include <stdlib.h>

#include "ops/elementwise/weir_elementwise.h"
#include "support/exec/backend_stream.h"

#ifndef DRAW_GRAPHS
#define DRAW_GRAPHS 4
#endif

/* Compared with every operator run alone on the cpu, in one chunk. */
static void check_graphs(const char *device)
{
  for (uint64_t seed = 0; seed < DRAW_GRAPHS; seed++) {
    draw_graph d = draw_make(seed, true, false);
    draw_outcome expected, actual;
    draw_way way = {.tier = WEIR_TIER_VECTOR, .threads = 1, .kernel = "none", .chunk = DRAW_SLOTS};

    assert_ok(draw_run(&d, &way, NULL, &expected));
    way.fusion = seed % 3 != 0;
    way.device = device;
    way.kernel = NULL;
    way.chunk = (int64_t[]){100, 37, 250, DRAW_SLOTS}[seed % 4];
    const weir_status status = draw_run(&d, &way, NULL, &actual);
    const int64_t at = status == WEIR_OK ? draw_difference(&actual, &expected, 0) : -1;

    if (at >= 0 || status != WEIR_OK) {
      print_error("stream %d on %s, chunks of %d: element %lld\n", (int)seed, device,
                  (int)way.chunk, (long long)at);
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

static const weir_array_desc line = {
    .dtype = WEIR_F32, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1};

/* Maps and sums that look back and ahead, of rows too, around a filter that is a call of the host;
 * every third slot; complex numbers. */
static weir_graph *make_graph(void)
{
  const weir_array_desc rows = {
      .dtype = WEIR_F32, .rank = 2, .shape = {3, WEIR_UNBOUNDED}, .time = 2};
  const weir_sos_spec sos = {.dim = 0, .n = 1, .section = {{0.2, 0.3, 0.1, 1, -0.5, 0.2}}};
  const weir_window_spec third = {.combine = WEIR_COMBINE_MAX, .size = 3, .stride = 3};
  weir_graph *g = NULL;

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &line), y = weir_input(g, "y", &rows);
  const weir_value even = weir_moving_sum(g, weir_square(g, x), 0, 5);
  const weir_value smooth = weir_sos(g, &sos, even, WEIR_NO_VALUE);
  const weir_value late = weir_add(g, weir_shift(g, smooth, 0, 3), weir_shift(g, x, 0, -2));
  const weir_value z = weir_make(g, late, x);

  weir_output(g, "even", even);
  weir_output(g, "late", late);
  weir_output(g, "third", weir_scale(g, weir_window(g, &third, x), 2));
  weir_output(g, "total", weir_sum(g, weir_mul(g, y, x), 0));
  weir_output(g, "rows", weir_sub(g, weir_shift(g, y, 1, 4), y));
  weir_output(g, "abs", weir_abs2(g, weir_mul(g, z, weir_conj(g, z))));
  assert_ok(weir_graph_status(g));
  return g;
}

static const stream_chunk chunks[] = {{0, 40},    {40, 47},   {47, 47},   {47, 87},   {87, 127},
                                      {127, 167}, {167, 207}, {207, 240}, {600, 640}, {640, 641},
                                      {641, 681}, {900, 940}, {940, 980}, {980, 985}};
enum { CHUNKS = sizeof chunks / sizeof *chunks };

static void compare(draw_outcome *expected, draw_outcome *actual)
{
  const int64_t at = draw_difference(actual, expected, 0);

  if (at >= 0) {
    print_error("element %lld of %lld and %lld\n", (long long)at, (long long)actual->n,
                (long long)expected->n);
  }
  assert_true(at < 0 && actual->n > 0);
  weir_free(&actual->values);
}

/* Twice, since a rewound plan begins anew. */
static void check_gaps(const char *device)
{
  weir_graph *g = make_graph();
  draw_outcome expected = {NULL, 0, 0}, actual = {NULL, 0, 0};
  weir_plan *cpu = stream_plan(g, "cpu"), *p = stream_plan(g, device);

  assert_ok(stream_run(g, cpu, chunks, CHUNKS, &expected));
  assert_ok(stream_run(g, p, chunks, CHUNKS, &actual));
  compare(&expected, &actual);
  weir_plan_rewind(p);
  actual = (draw_outcome){NULL, 0, 0};
  assert_ok(stream_run(g, p, chunks, CHUNKS, &actual));
  compare(&expected, &actual);
  weir_free(&expected.values);
  weir_plan_destroy(&cpu);
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
}

static void gaps_and_rewinds_give_the_bits_of_the_cpu(void **state)
{
  backend_each(check_gaps);
}

/* Slots that lie in the caller's memory. */
static void check_bound(const char *device)
{
  weir_graph *g = NULL;
  float data[1000];
  draw_outcome o[2] = {{NULL, 0, 0}, {NULL, 0, 0}};

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &line);

  weir_output(g, "y", weir_moving_sum(g, weir_square(g, x), 0, 7));
  for (int k = 0; k < 1000; k++) {
    data[k] = draw_sample(0, k);
  }
  for (int k = 0; k < 2; k++) {
    weir_plan *p = stream_plan(g, k == 0 ? "cpu" : device);

    assert_ok(weir_plan_bind(p, "x", data));
    for (int c = 0; c < CHUNKS; c++) {
      const weir_feed feed = {"x", NULL, chunks[c].lo, chunks[c].hi};

      assert_ok(weir_plan_feed(p, &feed, 1, c == CHUNKS - 1));
      stream_keep(g, p, &o[k]);
    }
    weir_plan_destroy(&p);
  }
  compare(&o[0], &o[1]);
  weir_free(&o[0].values);
  weir_graph_destroy(&g);
}

static void slots_of_the_caller_are_copied(void **state)
{
  backend_each(check_bound);
}

/* What a chunk of 40 slots copies: only they. */
static void check_counts(const char *device)
{
  weir_graph *g = make_graph();
  weir_plan *p = stream_plan(g, device);
  const exec_copied *n = &p->backend->counted;
  char *text = NULL;
  size_t size = 0;
  int host = 0;

  for (int32_t i = 0; i < p->n_groups; i++) {
    host += !p->groups[i].on_device;
  }
  assert_int_equal(host, 1);
  assert_int_equal(n->host_down, 40 * 4);                   /* even          */
  assert_int_equal(n->host_up, 40 * 4);                     /* smooth        */
  assert_int_equal(n->up, 4 * 40 * 4);                      /* x, y          */
  assert_int_equal(n->down, (40 + 13 + 40 + 120 + 40) * 4); /* without even  */
  FILE *out = open_memstream(&text, &size);

  assert_non_null(out);
  weir_plan_print(p, out);
  fclose(out);
  assert_non_null(strstr(text, "copied per chunk: 640 bytes to the device for launches"));
  free(text);
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
}

static void chunks_copy_their_own_slots(void **state)
{
  backend_each(check_counts);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gaps_and_rewinds_give_the_bits_of_the_cpu),
      cmocka_unit_test(slots_of_the_caller_are_copied),
      cmocka_unit_test(chunks_copy_their_own_slots),
      cmocka_unit_test(graphs_give_the_bits_of_the_cpu),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
