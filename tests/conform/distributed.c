/* distributed.c [OPERATOR] - every operator of the registry, and what derives from it, on virtual
 * ranks: random cases with random cuts of their inputs and now and then of what they make, over
 * random grids, against the same graph whole. A new folder is tested without an edit here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_check.h"
#include "base/weir_random.h"
#include "ops/call/weir_call.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/ops_cases.h"
#include "virtual.h"

enum { CASES = 40 };

/* What was done to one operator. */
typedef struct row {
  int cases, refused, moves, parts;
  int64_t wrong;
} row;

static const char *only;
static uint64_t seed;

static int64_t draw(uint32_t what, int64_t least, int64_t most)
{
  return least + (int64_t)(weir_random_bits(seed, 900 + what, 0, 0) % (uint64_t)(most - least + 1));
}

/* Dimensions of the grid that the array is cut along already; all: it is whole. */
static unsigned taken(const virtual_cuts *c, int32_t array)
{
  unsigned dims = 0;

  for (int i = 0; i < c->n; i++) {
    const unsigned some =
        c->cut[i].dim < 0 ? ~0u : c->cut[i].also | 1u << (unsigned)c->cut[i].along;

    dims |= c->cut[i].array == array ? some : 0;
  }
  return dims;
}

static bool is_cut(const virtual_cuts *c, int32_t array, int dim)
{
  bool yes = false;

  for (int i = 0; i < c->n; i++) {
    yes = yes || (c->cut[i].array == array && c->cut[i].dim == dim);
  }
  return yes;
}

/* Bounds of a cut into n pieces. */
static void add_cut(virtual_cuts *c, uint32_t key, const weir_shard *cut, int64_t extent, int n)
{
  int64_t *bounds = c->bounds[c->n];

  bounds[0] = 0;
  bounds[n] = extent;
  for (int q = 1; q < n; q++) {
    bounds[q] = draw(key + (uint32_t)q, bounds[q - 1], extent);
  }
  c->cut[c->n] = *cut;
  c->cut[c->n++].bounds = bounds;
}

/* A dimension of the array over one dimension of the grid or several, or two that share these. */
static void draw_cut(virtual_cuts *c, uint32_t key, int32_t array, const weir_array_desc *desc,
                     int along, bool source)
{
  const unsigned before = taken(c, array);
  weir_shard cut = {.array = array, .dim = (int)draw(key + 2, 0, desc->rank - 1), .along = along};
  int places = c->grid.extent[along], first;

  cut.fetched = source && draw(key + 230, 0, 2) == 0;
  for (int k = along + 1; k < c->grid.dims; k++) {
    if ((before >> k & 1) == 0 && draw(key + 200 + (uint32_t)k, 0, 2) == 0) {
      cut.also |= 1u << k;
      places *= c->grid.extent[k];
    }
  }
  const int other = (cut.dim + 1) % desc->rank;

  if (is_cut(c, array, cut.dim)) {
    return;
  }
  if (places == 1 || c->n + 2 > VIRTUAL_CUTS || is_cut(c, array, other) || other == cut.dim ||
      draw(key + 210, 0, 2) > 0) {
    add_cut(c, key + 3, &cut, desc->shape[cut.dim], places);
    return;
  }
  first = (int)draw(key + 211, 1, places);
  while (places % first != 0) {
    first--;
  }
  cut.pieces = first;
  add_cut(c, key + 3, &cut, desc->shape[cut.dim], first);
  cut.dim = other;
  cut.pieces = places / first;
  add_cut(c, key + 220, &cut, desc->shape[other], cut.pieces);
}

/* Cuts of inputs, and now and then of another array; or it is whole. */
static void draw_cuts(const problem *p, virtual_cuts *c)
{
  for (int along = 0; along < c->grid.dims; along++) {
    for (int turn = 0; turn < 2 && c->n < VIRTUAL_CUTS; turn++) {
      const uint32_t key = (uint32_t)(40 + 20 * along + 7 * turn);
      const bool inner = draw(key, 0, 3) == 0;
      const int32_t a = inner ? (int32_t)draw(key + 1, 0, weir_graph_arrays(p->g) - 1)
                              : weir_value_array(p->g, p->in[draw(key + 1, 0, p->n - 1)]);
      const weir_array *array = weir_graph_get_array(p->g, a);
      const bool whole = inner && draw(key + 10, 0, 1) == 0;

      if (array->desc.rank == 0 || array->kind == WEIR_ARRAY_CONSTANT ||
          (taken(c, a) & (whole ? ~0u : 1u << along)) != 0) {
        continue;
      }
      if (whole) {
        c->cut[c->n++] = (weir_shard){.array = a, .dim = -1};
      } else {
        draw_cut(c, key, a, &array->desc, along, array->kind != WEIR_ARRAY_TEMPORARY);
      }
    }
  }
}

/* The graph on all ranks of a random grid against the graph whole. */
static void check_distributed(const problem *p, row *r)
{
  static const int64_t most[] = {1, 6, 3, 2}; /* ranks along each dimension of a grid of so many */
  virtual_cuts c = {.grid = {(int)draw(1, 1, 3), {1, 1, 1}}};
  virtual_result result;

  for (int d = 0; d < c.grid.dims; d++) {
    c.grid.extent[d] = (int)draw(2 + (uint32_t)d, 1, most[c.grid.dims]);
  }
  draw_cuts(p, &c);
  const weir_status status = virtual_run(p, &c, false, &result);

  if (status != WEIR_OK) {
    if (status != WEIR_ERR_UNSUPPORTED) {
      weir_print_trace(stderr);
    }
    assert_int_equal(status, WEIR_ERR_UNSUPPORTED);
    weir_clear_failure();
    r->refused++;
    return;
  }
  r->cases++;
  r->moves += result.moves;
  r->parts += result.parts;
  r->wrong += result.wrong;
}

/* The operator's outputs and, of double inputs, its gradient, as results. False: not for bounded
 * graphs, or derived by nothing. */
static bool make(problem *p, const weir_op_desc *op, bool derive)
{
  static weir_op_case c;
  char name[16];

  problem_init(p, seed);
  weir_op_draw(op, seed, &c);
  for (int k = 0; k < c.n_in; k++) {
    weir_array_desc d = c.in[k];
    const bool real = weir_dtype_is_real(d.dtype);

    if (d.time > 0) {
      return false;
    }
    d.dtype = real && derive && op->run == NULL ? WEIR_F64 : d.dtype;
    p->moves[problem_input(p, &d, c.lo[k], c.hi[k], false)] = real;
  }
  const weir_value y = weir_graph_add(p->g, op, c.spec.bytes, p->in, c.n_in, WEIR_WHERE);

  if (y.node < 0 || p->n == 0) {
    return false;
  }
  for (int o = 0; o < weir_graph_node(p->g, y.node)->n_out; o++) {
    const weir_value v = {y.node, o};

    (void)snprintf(name, sizeof name, "y%d", o);
    weir_output(p->g, name, v);
    if (derive && weir_value_desc(p->g, v)->dtype == WEIR_F64) {
      (void)problem_weigh(p, v);
    }
  }
  if (derive && (p->loss.node < 0 || problem_derive(p) != WEIR_OK)) {
    weir_clear_failure();
    return false;
  }
  for (int k = 0; k < p->n && derive; k++) {
    if (p->moves[k]) {
      (void)snprintf(name, sizeof name, "g%d", k);
      weir_output(p->g, name, weir_scale(p->g, p->grad[k], 1));
    }
  }
  return weir_graph_status(p->g) == WEIR_OK;
}

static row check_operator(const weir_op_desc *op)
{
  row r = {.cases = 0};

  for (int i = 0; i < CASES && r.wrong == 0; i++) {
    problem p;

    seed = (uint64_t)i + 1;
    if (make(&p, op, i % 2 == 1)) {
      check_distributed(&p, &r);
    }
    if (r.wrong > 0) {
      fprintf(stderr, "FAIL %s, seed %llu\n", op->name, (unsigned long long)seed);
    }
    problem_fini(&p);
  }
  return r;
}

static void every_operator_on_virtual_ranks(void **state)
{
  int64_t wrong = 0, parts = 0;

  print_message("%-18s %6s %8s %6s %6s\n", "operator", "cases", "refused", "moves", "parts");
  for (int i = 0; weir_op_table[i] != NULL; i++) {
    if (only == NULL || strcmp(only, weir_op_table[i]->name) == 0) {
      const row r = check_operator(weir_op_table[i]);

      print_message("%-18s %6d %8d %6d %6d\n", weir_op_table[i]->name, r.cases, r.refused, r.moves,
                    r.parts);
      parts += r.parts;
      wrong += r.wrong;
      assert_true(r.cases > r.refused || weir_op_table[i] == &weir_op_call);
    }
  }
  assert_int_equal(wrong, 0);
  assert_true(only != NULL || parts > 0);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_operator_on_virtual_ranks),
  };

  only = argc > 1 ? argv[1] : NULL;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
