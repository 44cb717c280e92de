/* named_test.c - what gathered indices name, against walking over all iterations. */
#include <stdlib.h>
#include <string.h>

#include "base/weir_check.h"
#include "base/weir_random.h"
#include "graph/weir_graph.h"

enum { LIST = 9, EXTENT = 23 };

static int64_t draw(uint64_t seed, uint32_t what, int64_t lo, int64_t hi)
{
  return lo + (int64_t)(weir_random_bits(seed, what, 5, 0) % (uint64_t)(hi - lo + 1));
}

/* out[i, j] = in[floor((list[i] + c j + offset) / div)], of indices as the seed says. */
typedef struct subject {
  weir_graph *g;
  const weir_node *node;
  int32_t list[LIST];
} subject;

static void make(subject *s, uint64_t seed, bool constant)
{
  static const weir_op_desc op = {.name = "pick"};
  const weir_border borders[] = {WEIR_BORDER_ABSENT, WEIR_BORDER_ZERO, WEIR_BORDER_VALUE};
  const weir_array_desc list = {.dtype = WEIR_I32, .rank = 1, .shape = {LIST}};
  const weir_array_desc x = {.dtype = WEIR_F64, .rank = 1, .shape = {EXTENT}};
  weir_access a;

  for (uint32_t i = 0; i < LIST; i++) {
    s->list[i] = (int32_t)draw(seed, i, 0, EXTENT - 1);
  }
  const weir_tensor t = weir_tensor_wrap(s->list, WEIR_I32, 1, list.shape);

  assert_ok(weir_graph_create(&s->g));
  const weir_value in[] = {weir_input(s->g, "x", &x),
                           constant ? weir_constant(s->g, &t) : weir_input(s->g, "list", &list)};

  weir_access_init(&a);
  assert_ok(weir_access_resize(&a, 2, 1, 0));
  a.n_dims = 2;
  a.n_values = 1;
  a.dim[0] = (weir_dim){.kind = WEIR_PARALLEL, .hi = LIST};
  a.dim[1] = (weir_dim){.kind = WEIR_PARALLEL, .hi = 3};
  a.in[0] = (weir_operand){.dtype = WEIR_F64, .rank = 1, .extent = {EXTENT}};
  a.in[0].index[0] = (weir_index){.coef = {0, draw(seed, 20, -2, 2)},
                                  .offset = draw(seed, 21, -3, 3),
                                  .div = draw(seed, 22, 1, 3),
                                  .border = borders[draw(seed, 23, 0, 2)],
                                  .gather = 2,
                                  .gather_hi = EXTENT};
  a.in[1] = (weir_operand){.dtype = WEIR_I32, .rank = 1, .extent = {LIST}};
  a.in[1].index[0].coef[0] = 1;
  a.out[0] = (weir_operand){.dtype = WEIR_F64, .rank = 2, .extent = {LIST, 3}};
  a.out[0].index[0].coef[0] = a.out[0].index[1].coef[1] = 1;
  a.value[0] = weir_body_load(&a.body, 0, WEIR_F64);
  const weir_value v = weir_graph_add_access(s->g, &op, &a, in, 2, NULL);

  weir_access_fini(&a);
  assert_ok(weir_graph_status(s->g));
  s->node = weir_graph_node(s->g, v.node);
}

/* Elements that the iterations of the box read. */
static void walk(const subject *s, const weir_box *box, bool *read)
{
  const weir_index *x = &s->node->access.in[0].index[0];

  memset(read, 0, EXTENT * sizeof *read);
  for (int64_t i = box->lo[0]; i < box->hi[0]; i++) {
    for (int64_t j = box->lo[1]; j < box->hi[1]; j++) {
      bool inside;
      const int64_t raw = weir_index_raw(x, 2, (const int64_t[]){i, j}, s->list[i]);
      const int64_t at = weir_index_border(x, raw, EXTENT, &inside);

      if (inside) {
        read[at] = true;
      }
    }
  }
}

/* All that is read is named; where each value of the list names one interval, nothing else is. */
static void check(const subject *s, const weir_box *box)
{
  bool read[EXTENT], named[EXTENT] = {false};
  const weir_index *x = &s->node->access.in[0].index[0];
  const bool dense = labs((long)x->coef[1]) <= weir_index_divisor(x);
  weir_named n;

  walk(s, box, read);
  assert_ok(weir_node_named(s->g, s->node, 0, box, &n));
  if (weir_box_empty(box)) {
    assert_int_equal(n.dim, -1);
    weir_named_fini(&n);
    return;
  }
  assert_int_equal(n.dim, 0);
  for (int64_t k = 0; k < n.n; k++) {
    assert_true(n.interval[k].lo < n.interval[k].hi && n.interval[k].lo >= 0 &&
                n.interval[k].hi <= EXTENT);
    assert_true(k == 0 || n.interval[k].lo > n.interval[k - 1].hi);
    for (int64_t i = n.interval[k].lo; i < n.interval[k].hi; i++) {
      named[i] = true;
    }
  }
  for (int i = 0; i < EXTENT; i++) {
    assert_true(named[i] || !read[i]);
    assert_true(!dense || named[i] == read[i]);
  }
  weir_named_fini(&n);
}

static void lists_name_what_is_read(void **state)
{
  for (uint64_t seed = 0; seed < 300; seed++) {
    subject s;

    make(&s, seed, true);
    for (uint32_t k = 0; k < 4; k++) {
      weir_box box = weir_iterations(&s.node->access);

      box.lo[0] = draw(seed, 30 + k, 0, LIST - 1);
      box.hi[0] = draw(seed, 40 + k, box.lo[0], LIST);
      box.lo[1] = draw(seed, 50 + k, 0, 2);
      check(&s, &box);
    }
    weir_graph_destroy(&s.g);
  }
}

/* The hull of the iterations that read elements [lo, hi). */
static weir_box walk_back(const subject *s, int64_t lo, int64_t hi)
{
  const weir_box whole = weir_iterations(&s->node->access);
  weir_box hull = {.rank = 2};
  bool any = false;

  for (int64_t i = 0; i < whole.hi[0]; i++) {
    for (int64_t j = 0; j < whole.hi[1]; j++) {
      const weir_box one = {2, {i, j}, {i + 1, j + 1}};
      bool read[EXTENT], met = false;

      walk(s, &one, read);
      for (int64_t e = lo; e < hi; e++) {
        met = met || read[e];
      }
      if (met) {
        weir_box_grow(&hull, &one, &any);
      }
    }
  }
  return hull;
}

static void lists_tell_who_reads_an_element(void **state)
{
  int64_t fewer = 0;

  for (uint64_t seed = 0; seed < 300; seed++) {
    subject s;

    make(&s, seed, true);
    for (uint32_t k = 0; k < 4; k++) {
      weir_box elements = {.rank = 1, .lo = {draw(seed, 60 + k, 0, EXTENT - 1)}};

      elements.hi[0] = draw(seed, 70 + k, elements.lo[0], EXTENT);
      const weir_box got = weir_node_affected(s.g, s.node, 0, &elements);
      const weir_box hull = walk_back(&s, elements.lo[0], elements.hi[0]);
      const weir_box bound = weir_affected(&s.node->access, 0, &elements);

      assert_true(weir_box_empty(&got) == weir_box_empty(&hull));
      assert_true(weir_box_empty(&hull) || memcmp(&got, &hull, sizeof got) == 0);
      assert_true(weir_box_within(&got, &bound) || weir_box_empty(&got));
      fewer += weir_box_volume(&got) < weir_box_volume(&bound);
    }
    weir_graph_destroy(&s.g);
  }
  assert_true(fewer > 400);
}

/* A node moves the elements that are read, the list and what it writes, and no more. */
static void bytes_are_those_of_named_elements(void **state)
{
  for (uint64_t seed = 0; seed < 300; seed++) {
    bool read[EXTENT];
    subject s;
    int n = 0;

    make(&s, seed, true);
    const weir_index *x = &s.node->access.in[0].index[0];
    const bool dense = labs((long)x->coef[1]) <= weir_index_divisor(x);
    const weir_box whole = weir_iterations(&s.node->access);
    const weir_value v = weir_array_value(s.g, s.node->out[0]);
    const weir_traffic t = weir_node_traffic(s.g, v.node, 1, NULL);

    walk(&s, &whole, read);
    for (int i = 0; i < EXTENT; i++) {
      n += read[i];
    }
    const int64_t min = n * (int64_t)sizeof(double) + LIST * (int64_t)sizeof(int32_t);

    assert_true(dense ? t.read_bytes == min : t.read_bytes >= min);
    assert_int_equal(t.write_bytes, LIST * 3 * sizeof(double));
    weir_graph_destroy(&s.g);
  }
}

static void what_is_not_known_names_nothing(void **state)
{
  subject s;
  weir_named n;

  make(&s, 1, false);
  const weir_box whole = weir_iterations(&s.node->access);

  assert_ok(weir_node_named(s.g, s.node, 0, &whole, &n));
  assert_int_equal(n.dim, -1);
  assert_ok(weir_node_named(s.g, s.node, 1, &whole, &n));
  assert_int_equal(n.dim, -1);
  const weir_box elements = {.rank = 1, .lo = {3}, .hi = {5}};
  const weir_box got = weir_node_affected(s.g, s.node, 0, &elements);
  const weir_box bound = weir_affected(&s.node->access, 0, &elements);

  assert_memory_equal(&got, &bound, sizeof got);
  weir_graph_destroy(&s.g);
}

/* Iterations beyond the list gather 0, which it may not hold. */
static void values_beyond_a_list_are_not_named(void **state)
{
  subject s;
  weir_named n;

  make(&s, 3, true);
  const weir_box whole = weir_iterations(&s.node->access);
  weir_node *node = weir_graph_node_mut(s.g, weir_array_value(s.g, s.node->out[0]).node);

  node->access.in[1].index[0].border = WEIR_BORDER_ZERO;
  assert_ok(weir_node_named(s.g, s.node, 0, &whole, &n));
  assert_int_equal(n.dim, -1);
  weir_graph_destroy(&s.g);
}

static weir_status name_once(void *context)
{
  const subject *s = context;
  const weir_box whole = weir_iterations(&s->node->access);
  weir_named n;

  WEIR_TRY(weir_node_named(s->g, s->node, 0, &whole, &n));
  weir_named_fini(&n);
  return WEIR_OK;
}

static void missing_memory_leaves_nothing(void **state)
{
  subject s;

  make(&s, 2, true);
  assert_true(weir_check_faults(name_once, &s) > 1);
  weir_graph_destroy(&s.g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_name_what_is_read),
      cmocka_unit_test(lists_tell_who_reads_an_element),
      cmocka_unit_test(bytes_are_those_of_named_elements),
      cmocka_unit_test(what_is_not_known_names_nothing),
      cmocka_unit_test(values_beyond_a_list_are_not_named),
      cmocka_unit_test(missing_memory_leaves_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
