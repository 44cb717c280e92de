/* fission_test.c - what becomes of sums of products: the arrays, the numbers, and what must stay.
 */
#include <math.h>

#include "base/weir_clock.h"
#include "pass/fission/draw_product.h"
#include "pass/fission/self_energy_node.h"
#include "pass/weir_pass.h"

extern const weir_pass weir_pass_fission;

enum { NK = 3, NE = 6, NQ = 2, NW = 3, ND = 2, NA = 5, NB = 3, NO = 2 };

static const int64_t extent[SELF_ENERGY_DIMS] = {NK, NE, NA, NO, NO, NQ, NW, NB, ND, ND, NO, NO};

/* Runs the pass alone; returns the number of operators left. */
static int split(weir_graph *g, weir_fission mode)
{
  const weir_pass_opts opts = {.fission = mode};
  int n = 0;

  assert_ok(weir_graph_status(g));
  assert_ok(weir_pass_fission.run(g, &opts));
  assert_ok(weir_graph_validate(g));
  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    n += weir_graph_node(g, i)->op != NULL && !weir_graph_node(g, i)->dead;
  }
  return n;
}

static double flops_of(const weir_graph *g)
{
  double flops = 0;

  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    flops += weir_node_traffic(g, i, 1, NULL).flops;
  }
  return flops;
}

static weir_graph *self_energy(weir_value *sigma)
{
  int32_t neighbours[NA * NB];
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  for (int k = 0; k < NA * NB; k++) {
    neighbours[k] = (5 * (k / NB) + 3 * (k % NB) + 1) % NA;
  }
  const weir_tensor t = weir_tensor_wrap(neighbours, WEIR_I32, 2, (const int64_t[]){NA, NB});

  *sigma = self_energy_add(g, extent, weir_constant(g, &t), "y");
  return g;
}

/* Elements of the largest temporary. */
static int64_t largest_temporary(const weir_graph *g)
{
  int64_t most = 0;

  for (int32_t i = 0; i < weir_graph_arrays(g); i++) {
    const weir_array *a = weir_graph_get_array(g, i);
    const int64_t n = count_of(&a->desc);

    if (a->kind == WEIR_ARRAY_TEMPORARY && a->output == NULL &&
        weir_graph_writers(g, i, NULL, 0) > 0) {
      most = n > most ? n : most;
    }
  }
  return most;
}

/* As written, G dH depends on (k, E, w, a, b, i), E - w in place of both when hoisted. */
static void a_self_energy_is_split_as_the_papers_do(void **state)
{
  static const int64_t most[] = {0, NK * NE * NW * NA * NB * ND * NO * NO,
                                 NK * NE * NA * NB * ND * NO * NO};
  double flops = INFINITY;

  for (int mode = WEIR_FISSION_PRODUCTS; mode <= WEIR_FISSION_REASSOCIATE; mode++) {
    weir_value sigma;
    weir_graph *g = self_energy(&sigma);
    const double before = flops_of(g);

    assert_true(split(g, (weir_fission)mode) >= 3);
    if (mode < WEIR_FISSION_REASSOCIATE) {
      assert_int_equal(largest_temporary(g), most[mode]);
    }
    const double after = flops_of(g);

    assert_true(after < before && after < flops);
    flops = after;
    weir_graph_destroy(&g);
    g = self_energy(&sigma);
    assert_true(same_numbers(g, sigma, (drawn_passes){(weir_fission)mode, false}));
    weir_graph_destroy(&g);
  }
}

static void random_products_keep_their_sums(void **state)
{
  const uint64_t fresh = (uint64_t)(weir_clock() * 1e9);
  int changed = 0;

  for (uint64_t seed = 0; seed < 300; seed++) {
    weir_draw w = {seed < 150 ? seed : fresh + seed, 0};
    weir_graph *g, *parts;
    weir_value y;

    assert_ok(weir_graph_create(&g));
    if (add_random(&w, g, &y)) {
      weir_output(g, "y", y);
      assert_ok(weir_graph_status(g));
      for (int mode = WEIR_FISSION_PRODUCTS; mode <= WEIR_FISSION_REASSOCIATE; mode++) {
        assert_ok(weir_graph_copy(g, &parts));
        const bool split_up = split(parts, (weir_fission)mode) > 1;

        if (split_up && !same_numbers(g, y, (drawn_passes){(weir_fission)mode, false})) {
          print_message("seed %llu, mode %d\n", (unsigned long long)w.seed, mode);
          fail();
        }
        changed += split_up;
        weir_graph_destroy(&parts);
      }
    }
    weir_graph_destroy(&g);
  }
  print_message("%d of 900 were split\n", changed);
  assert_true(changed > 100);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_self_energy_is_split_as_the_papers_do),
      cmocka_unit_test(random_products_keep_their_sums),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
