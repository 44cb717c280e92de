/* graph_test.c - building, ordering and copying graphs; what the builders refuse. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "support/graph/graph_toys.h"
#include "ops/pad/weir_pad.h"

static const weir_array_desc matrix = {.dtype = WEIR_F32, .rank = 2, .shape = {3, 4}};

/* x + y, then + x, with a label, a constant and an update. */
static weir_status build(weir_graph *g, const weir_store *store)
{
  const float ones[12] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  const weir_tensor t = weir_tensor_wrap((void *)ones, WEIR_F32, 2, matrix.shape);
  const weir_value x = weir_input(g, "x", &matrix);
  const weir_value s = weir_stored(g, store, "s");
  const weir_value y = weir_label(g, toy_add(g, x, weir_constant(g, &t), "here:1"), "first");
  const weir_value z = toy_add(g, y, s, "here:2");

  weir_update(g, s, z);
  weir_output(g, "z", z);
  return weir_graph_status(g);
}

static weir_store *some_store(void)
{
  weir_store *s;

  assert_ok(weir_store_create(&s));
  assert_ok(weir_store_add(s, "s", WEIR_F32, 2, matrix.shape));
  return s;
}

static void graph_keeps_what_was_built(void **state)
{
  weir_store *s = some_store();
  weir_graph *g, *copy;
  int32_t order[8], n = 0, nodes[4];

  assert_ok(weir_graph_create(&g));
  assert_ok(build(g, s));
  assert_ok(weir_graph_copy(g, &copy));
  weir_graph_destroy(&g);
  assert_int_equal(weir_graph_nodes(copy), 5);
  assert_ok(weir_graph_order(copy, order, &n));
  assert_int_equal(n, 2);
  assert_true(order[0] == 3 && order[1] == 4);
  const weir_node *first = weir_graph_node(copy, 3);
  assert_string_equal(first->label, "first");
  assert_int_equal(weir_graph_readers(copy, first->out[0], nodes, 4), 1);
  assert_int_equal(nodes[0], 4);
  assert_int_equal(weir_graph_writers(copy, first->out[0], nodes, 4), 1);
  assert_near(
      weir_dtype_load_real(WEIR_F32, weir_graph_get_array(copy, first->in[1])->constant.data, 11),
      1.0, 0);
  assert_int_equal(weir_graph_get_array(copy, weir_graph_node(copy, 1)->out[0])->update,
                   weir_graph_node(copy, 4)->out[0]);
  weir_graph_destroy(&copy);
  weir_store_destroy(&s);
}

static void every_failed_allocation_is_reported(void **state)
{
  weir_store *s = some_store();
  const int64_t before = weir_alloc_bytes();
  bool succeeded = false;

  for (int64_t k = 1; !succeeded; k++) {
    weir_graph *g = NULL, *copy = NULL;
    weir_alloc_fail_after(k);
    weir_status status = weir_graph_create(&g);
    if (status == WEIR_OK) {
      status = build(g, s);
    }
    if (status == WEIR_OK) {
      status = weir_graph_validate(g);
    }
    if (status == WEIR_OK) {
      status = weir_graph_copy(g, &copy);
    }
    succeeded = status == WEIR_OK;
    assert_true(succeeded || status == WEIR_ERR_MEMORY);
    weir_alloc_fail_after(0);
    weir_graph_destroy(&g);
    weir_graph_destroy(&copy);
    assert_int_equal(weir_alloc_bytes(), before);
    assert_true(succeeded || k < 200);
  }
  weir_store_destroy(&s);
}

static void builder_error_names_operator_and_location(void **state)
{
  const weir_array_desc vector = {.dtype = WEIR_F32, .rank = 1, .shape = {3}};
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  const weir_value bad =
      toy_add(g, weir_input(g, "x", &matrix), weir_input(g, "v", &vector), "model.c:12");
  assert_int_equal(bad.node, -1);
  const weir_value later = toy_add(g, bad, bad, "model.c:13");
  assert_int_equal(later.node, -1);
  assert_int_equal(weir_graph_status(g), WEIR_ERR_SHAPE);
  assert_string_equal(weir_last_message(),
                      "node 2, toy_sum (model.c:12): input 1 differs from input 0");
  assert_null(weir_value_desc(g, bad));
  weir_graph_destroy(&g);
}

static void names_are_unique_in_their_kind(void **state)
{
  weir_store *s = some_store();
  weir_graph *g;

  for (int what = 0; what < 4; what++) {
    assert_ok(weir_graph_create(&g));
    const weir_value x = weir_input(g, "x", &matrix);
    weir_output(g, "r", toy_add(g, x, x, "a"));
    assert_int_equal(weir_stored(g, s, "s").node, weir_stored(g, s, "s").node);
    assert_ok(weir_graph_status(g));
    if (what == 0) {
      (void)weir_input(g, "x", &matrix);
    } else if (what == 1) {
      weir_output(g, "r", toy_add(g, x, x, "b"));
    } else if (what == 2) {
      (void)weir_stored(g, s, "unknown");
    } else {
      weir_update(g, x, x);
    }
    assert_int_equal(weir_graph_status(g), what == 2 ? WEIR_ERR_CONFIG : WEIR_ERR_SHAPE);
    weir_graph_destroy(&g);
  }
  weir_store_destroy(&s);
}

static void random_graphs_are_ordered_lowest_ready_first(void **state)
{
  enum { N = 30 };
  weir_value v[N];
  int32_t order[N + 1], n = 0;
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  v[0] = weir_input(g, "x", &matrix);
  for (int i = 1; i < N; i++) {
    v[i] = toy_add(g, v[i - 1], v[(i * 7) % (i + 1) / 2], "loop");
  }
  assert_ok(weir_graph_order(g, order, &n));
  assert_int_equal(n, N - 1);
  for (int i = 0; i < n; i++) {
    assert_int_equal(order[i], i + 1);
  }
  /* The first operator now reads the last value: a cycle. */
  weir_graph_node_mut(g, 1)->in[0] = weir_value_array(g, v[N - 1]);
  assert_int_equal(weir_graph_order(g, order, &n), WEIR_ERR_SHAPE);
  assert_non_null(strstr(weir_last_message(), "cycle"));
  weir_graph_destroy(&g);
}

/* x + c at a source location; its digest. */
static void digest_of(float c, const char *where, char hex[65])
{
  const float numbers[12] = {c};
  const weir_tensor t = weir_tensor_wrap((void *)numbers, WEIR_F32, 2, matrix.shape);
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  weir_output(g, "y", toy_add(g, weir_input(g, "x", &matrix), weir_constant(g, &t), where));
  assert_ok(weir_graph_digest(g, hex));
  weir_graph_destroy(&g);
}

static void a_digest_is_of_what_is_computed(void **state)
{
  char one[65], same[65], other[65];

  digest_of(1, "here:1", one);
  digest_of(1, "there:2", same);
  digest_of(nextafterf(1, 2), "here:1", other);
  assert_string_equal(one, same);
  assert_string_not_equal(one, other);
}

static void a_digest_is_of_every_bit_of_a_border(void **state)
{
  char hex[2][65];

  for (int k = 0; k < 2; k++) {
    const weir_pad_spec spec = {
        .before = {1}, .border = WEIR_BORDER_VALUE, .fill = k == 0 ? 1 : nextafter(1, 2)};
    weir_graph *g;

    assert_ok(weir_graph_create(&g));
    weir_output(g, "y", weir_pad(g, weir_input(g, "x", &matrix), &spec));
    assert_ok(weir_graph_digest(g, hex[k]));
    weir_graph_destroy(&g);
  }
  assert_string_not_equal(hex[0], hex[1]);
}

/* Additions in groups of their own; numbers and names of arrays do not count, what is read twice
 * and tiles do. */
static void a_group_is_known_wherever_it_stands(void **state)
{
  char hex[3][65];
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &matrix), z = weir_input(g, "z", &matrix);
  const weir_value y = toy_add(g, x, z, "here:1");
  const weir_value twice = toy_add(g, y, y, "here:2");
  const weir_value again = toy_add(g, twice, x, "here:3");

  for (int k = 0; k < 3; k++) {
    const int32_t node = k == 0 ? y.node : k == 1 ? twice.node : again.node;

    assert_ok(weir_graph_add_group(g, &node, 1));
    assert_ok(weir_group_digest(g, weir_graph_group(g, k), hex[k]));
  }
  assert_string_equal(hex[0], hex[2]);     /* of two arrays */
  assert_string_not_equal(hex[0], hex[1]); /* of one array twice */
  weir_graph_group_mut(g, 2)->tile[0] = 1;
  assert_ok(weir_group_digest(g, weir_graph_group(g, 2), hex[2]));
  assert_string_not_equal(hex[0], hex[2]);
  weir_graph_destroy(&g);
}

static void bytes_saturate_and_empty_arrays_have_none(void **state)
{
  weir_array_desc d = {.dtype = WEIR_C128, .rank = 3, .shape = {3, 5, 7}};
  weir_box b = {.rank = 2, .lo = {-1, 4}, .hi = {2, 9}};

  assert_true(weir_desc_bytes(&d) == (int64_t)3 * 5 * 7 * 16);
  d.shape[0] = d.shape[1] = (int64_t)1 << 40;
  assert_true(weir_desc_bytes(&d) == INT64_MAX);
  d.shape[2] = 0;
  assert_true(weir_desc_bytes(&d) == 0);
  assert_true(weir_box_bytes(&b, WEIR_F64) == (int64_t)3 * 5 * 8);
  b.hi[0] = INT64_MAX / 8;
  assert_true(weir_box_bytes(&b, WEIR_F64) == INT64_MAX);
  b.hi[1] = b.lo[1];
  assert_true(weir_box_bytes(&b, WEIR_F64) == 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(graph_keeps_what_was_built),
      cmocka_unit_test(a_digest_is_of_what_is_computed),
      cmocka_unit_test(a_digest_is_of_every_bit_of_a_border),
      cmocka_unit_test(a_group_is_known_wherever_it_stands),
      cmocka_unit_test(every_failed_allocation_is_reported),
      cmocka_unit_test(builder_error_names_operator_and_location),
      cmocka_unit_test(names_are_unique_in_their_kind),
      cmocka_unit_test(random_graphs_are_ordered_lowest_ready_first),
      cmocka_unit_test(bytes_saturate_and_empty_arrays_have_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
