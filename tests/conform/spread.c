/* spread.c [OPERATOR] - every operator of the registry, and what derives from it, on virtual ranks:
 * random cases with random cuts of their inputs and now and then of what they make, over random
 * grids, against the same graph whole. A new folder is tested without an edit here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_check.h"
#include "base/weir_random.h"
#include "ops/call/weir_call.h"
#include "ops/elementwise/weir_elementwise.h"
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
      bool good = array->desc.rank > 0 && array->kind != WEIR_ARRAY_CONSTANT;
      const int d = good ? (int)draw(key + 2, 0, array->desc.rank - 1) : 0;
      int64_t *bounds = c->bounds[c->n];

      const bool whole = inner && draw(key + 10, 0, 1) == 0;

      for (int i = 0; i < c->n; i++) {
        good = good && (c->cut[i].array != a || (!whole && c->cut[i].dim >= 0 &&
                                                 c->cut[i].dim != d && c->cut[i].along != along));
      }
      if (!good) {
        continue;
      }
      if (whole) {
        c->cut[c->n++] = (weir_cut){.array = a, .dim = -1};
        continue;
      }
      bounds[0] = 0;
      bounds[c->grid.extent[along]] = array->desc.shape[d];
      for (int q = 1; q < c->grid.extent[along]; q++) {
        bounds[q] = draw(key + 3 + (uint32_t)q, bounds[q - 1], array->desc.shape[d]);
      }
      c->cut[c->n++] = (weir_cut){a, d, along, bounds};
    }
  }
}

/* The graph on all ranks of a random grid against the graph whole. */
static void check_spread(const problem *p, row *r)
{
  virtual_cuts c = {.grid = {(int)draw(1, 1, 3), {1, 1, 1}}};
  virtual_result result;

  for (int d = 0; d < c.grid.dims; d++) {
    c.grid.extent[d] = (int)draw(2 + (uint32_t)d, 1, c.grid.dims == 3 ? 2 : 3);
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
  weir_op_case c = {.n_in = 0};
  char name[16];

  problem_init(p, seed);
  assert_ok(op->sample(seed, &c));
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
      check_spread(&p, &r);
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
    if (weir_op_table[i]->sample != NULL &&
        (only == NULL || strcmp(only, weir_op_table[i]->name) == 0)) {
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
