/* ops_check.h - how the tests of operators build graphs and look at refusals. Tests only. */
#ifndef OPS_CHECK_H
#define OPS_CHECK_H
#include <string.h>

#include "base/weir_check.h"
#include "graph/weir_graph.h"

static inline weir_graph *new_graph(void)
{
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  return g;
}

/* An input of `rank` extents; -1 is time. */
static inline weir_value given(weir_graph *g, const char *name, weir_dtype dtype, int rank,
                               const int64_t *shape)
{
  weir_array_desc d = {.dtype = dtype, .rank = rank};

  for (int k = 0; k < rank; k++) {
    d.shape[k] = shape[k] < 0 ? WEIR_UNBOUNDED : shape[k];
    d.time = shape[k] < 0 ? k + 1 : d.time;
  }
  return weir_input(g, name, &d);
}
#define GIVEN(g, name, dtype, ...)                                                 \
  given(g, name, dtype, (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), \
        (int64_t[]){__VA_ARGS__})

/* The builder's value must be refused with a message that holds `text`; destroys the graph. */
static inline void assert_refused(weir_graph *g, weir_value v, const char *text)
{
  assert_int_equal(v.node, -1);
  assert_int_equal(weir_graph_status(g), WEIR_ERR_SHAPE);
  if (strstr(weir_last_message(), text) == NULL) {
    print_error("\"%s\" does not say \"%s\"\n", weir_last_message(), text);
    assert_true(0);
  }
  weir_graph_destroy(&g);
}

/* dtype, rank and extents of a value; -1 is time. */
static inline void assert_desc(const weir_graph *g, weir_value v, weir_dtype dtype, int rank,
                               const int64_t *shape)
{
  const weir_array_desc *d = weir_value_desc(g, v);

  assert_ok(weir_graph_status(g));
  assert_non_null(d);
  assert_int_equal(d->dtype, dtype);
  assert_int_equal(d->rank, rank);
  for (int k = 0; k < rank; k++) {
    assert_int_equal(d->shape[k], shape[k] < 0 ? WEIR_UNBOUNDED : shape[k]);
    assert_int_equal(d->time == k + 1, shape[k] < 0);
  }
}
#define assert_shape(g, v, dtype, ...)                                                \
  assert_desc(g, v, dtype, (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), \
              (int64_t[]){__VA_ARGS__})

static inline const weir_access *access_of(const weir_graph *g, weir_value v)
{
  return &weir_graph_node(g, v.node)->access;
}
#endif
