/* fission_test.c - what becomes of sums of products: the arrays, the numbers, and what must stay.
 */
#include <math.h>

#include "base/weir_clock.h"
#include "device/weir_parallel.h"
#include "support/exec/draw_product.h"
#include "ops/contract/weir_contract.h"
#include "support/pass/self_energy_node.h"
#include "pass/weir_pass.h"

extern const weir_pass weir_pass_fission;

enum { NK = 3, NE = 6, NQ = 2, NW = 3, ND = 2, NA = 5, NB = 3, NO = 2 };

static const int64_t extent[SELF_ENERGY_DIMS] = {NK, NE, NA, NO, NO, NQ, NW, NB, ND, ND, NO, NO};
static const int64_t longer[SELF_ENERGY_DIMS] = {2, 24, NA, 3, 3, 2, 6, NB, ND, ND, 3, 3};

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

static weir_graph *self_energy_of(const int64_t *extents, self_energy_order order,
                                  weir_value *sigma)
{
  int32_t neighbours[NA * NB];
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  for (int k = 0; k < NA * NB; k++) {
    neighbours[k] = (5 * (k / NB) + 3 * (k % NB) + 1) % NA;
  }
  const weir_tensor t = weir_tensor_wrap(neighbours, WEIR_I32, 2, (const int64_t[]){NA, NB});

  *sigma = self_energy_add(g, extents, order, weir_constant(g, &t), "y");
  return g;
}

static weir_graph *self_energy(weir_value *sigma)
{
  return self_energy_of(extent, SELF_ENERGY_PRODUCTS, sigma);
}

/* Elements of the largest temporary. */
static int64_t largest_temporary(const weir_graph *g)
{
  int64_t max = 0;

  for (int32_t i = 0; i < weir_graph_arrays(g); i++) {
    const weir_array *a = weir_graph_get_array(g, i);
    const int64_t n = count_of(&a->desc);

    if (a->kind == WEIR_ARRAY_TEMPORARY && a->output == NULL &&
        weir_graph_writers(g, i, NULL, 0) > 0) {
      max = n > max ? n : max;
    }
  }
  return max;
}

/* As written, G dH depends on (k, E, w, a, b, i), E - w in place of both when hoisted. */
static void a_self_energy_is_split_as_the_papers_do(void **state)
{
  static const int64_t max[] = {0, NK * NE * NW * NA * NB * ND * NO * NO,
                                NK * NE * NA * NB * ND * NO * NO};
  double flops = INFINITY;

  for (int mode = WEIR_FISSION_PRODUCTS; mode <= WEIR_FISSION_REASSOCIATE; mode++) {
    weir_value sigma;
    weir_graph *g = self_energy(&sigma);
    const double before = flops_of(g);

    assert_true(split(g, (weir_fission)mode) >= 3);
    if (mode < WEIR_FISSION_REASSOCIATE) {
      assert_int_equal(largest_temporary(g), max[mode]);
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

/* Kinds of the dimensions of operand k of the node, outermost first: K of the result, S summed. */
static void kinds_of(const weir_node *node, int k, char *text)
{
  const weir_operand *o = &node->access.in[k];
  int d = 0;

  for (; d < o->rank; d++) {
    text[d] = 'S';
    for (int i = 0; i < node->access.n_dims; i++) {
      const bool kept = node->access.dim[i].kind == WEIR_PARALLEL;

      text[d] = o->index[d].coef[i] != 0 && kept ? 'K' : text[d];
    }
  }
  text[d] = 0;
}

/* nabla H G nabla H has the columns of Sigma, over which its readers walk, and so has nabla H D,
 * but not nabla H G, of which they sum rows. */
static void rows_of_the_result_lie_innermost(void **state)
{
  static const char *const expected[][2] = {
      [SELF_ENERGY_PRODUCTS] = {"KKKKSSS", "SSSSSKK"},
      [SELF_ENERGY_CONVOLUTION] = {"SSSKKKKK", "SSKSSS"},
  };

  for (int order = SELF_ENERGY_PRODUCTS; order <= SELF_ENERGY_CONVOLUTION; order++) {
    weir_value sigma;
    weir_graph *g = self_energy_of(longer, (self_energy_order)order, &sigma);
    int32_t writer;

    (void)split(g, WEIR_FISSION_HOIST);
    assert_int_equal(weir_graph_writers(g, weir_graph_node(g, sigma.node)->out[0], &writer, 1), 1);
    for (int k = 0; k < 2; k++) {
      char kinds[WEIR_MAX_RANK + 1];

      kinds_of(weir_graph_node(g, writer), k, kinds);
      assert_string_equal(kinds, expected[order][k]);
    }
    weir_graph_destroy(&g);
  }
}

/* D last: what is multiplied by it is read at E - w, which a kernel of its own sums. */
static void a_convolution_form_slides_over_energies(void **state)
{
  const drawn_passes passes = {WEIR_FISSION_HOIST, true};
  weir_value sigma;
  weir_graph *g = self_energy_of(longer, SELF_ENERGY_CONVOLUTION, &sigma);
  weir_plan *plan = drawn_plan(g, passes);
  bool slides = false;

  for (int32_t k = 0; k < weir_plan_groups(plan); k++) {
    slides = slides || strcmp(weir_plan_group(plan, k).kernel, "contract.sliding") == 0;
  }
  assert_int_equal(slides, weir_cpu_get()->avx2 && weir_cpu_get()->fma);
  weir_plan_destroy(&plan);
  assert_true(same_numbers(g, sigma, passes));
  weir_graph_destroy(&g);
}

/* y[k, e] = sum over q, w, r of g[k - q, e - w, r] h[r] d[q, w]: the momenta wrap. */
static weir_value add_scattering(weir_graph *g, int64_t nk, int64_t nq)
{
  enum { K, E, Q, W, R };
  static const weir_op_desc op = {.name = "scattering"};
  const weir_array_desc shapes[] = {{.dtype = WEIR_C128, .rank = 3, .shape = {nk, NE, NO}},
                                    {.dtype = WEIR_C128, .rank = 1, .shape = {NO}},
                                    {.dtype = WEIR_C128, .rank = 2, .shape = {nq, NW}}};
  const int dims[3][3] = {{K, E, R}, {R}, {Q, W}};
  weir_value in[3];
  weir_access a;
  int32_t x[3];

  weir_access_init(&a);
  for (int k = 0; k < 5; k++) {
    (void)weir_map_dim(&a, k < Q ? WEIR_PARALLEL : WEIR_REDUCED,
                       (const int64_t[]){nk, NE, nq, NW, NO}[k]);
  }
  assert_ok(weir_access_resize(&a, 3, 1, 0));
  for (int i = 0; i < 3; i++) {
    in[i] = weir_input(g, (const char *[]){"g", "h", "d"}[i], &shapes[i]);
    weir_map_operand(&a.in[i], &shapes[i]);
    for (int d = 0; d < shapes[i].rank; d++) {
      a.in[i].index[d].coef[dims[i][d]] = 1;
    }
    x[i] = weir_body_load(&a.body, i, WEIR_C128);
  }
  a.in[0].index[0].coef[Q] = a.in[0].index[1].coef[W] = -1;
  a.in[0].index[0].border = WEIR_BORDER_WRAP;
  a.in[0].index[1].border = WEIR_BORDER_ABSENT;
  weir_map_operand(&a.out[0], &(weir_array_desc){.dtype = WEIR_C128, .rank = 2, .shape = {nk, NE}});
  a.out[0].index[0].coef[K] = a.out[0].index[1].coef[E] = 1;
  a.n_values = 1;
  a.value[0] = weir_body_binary(&a.body, WEIR_CODE_MUL,
                                weir_body_binary(&a.body, WEIR_CODE_MUL, x[0], x[1]), x[2]);
  a.combine = WEIR_COMBINE_SUM;
  a.accumulator = WEIR_C128;
  const weir_value y = weir_graph_add_access(g, &op, &a, in, 3, WEIR_WHERE);

  weir_access_fini(&a);
  weir_output(g, "y", y);
  return y;
}

/* g h is made once for every k - q and E - w, also where there are fewer q than k. */
static void what_wraps_is_made_once(void **state)
{
  for (int64_t nq = 1; nq <= 4; nq++) {
    weir_graph *g;

    assert_ok(weir_graph_create(&g));
    const weir_value y = add_scattering(g, 4, nq);

    for (int mode = WEIR_FISSION_HOIST; mode <= WEIR_FISSION_REASSOCIATE; mode++) {
      assert_true(same_numbers(g, y, (drawn_passes){(weir_fission)mode, false}));
      assert_true(same_numbers(g, y, (drawn_passes){(weir_fission)mode, true}));
    }
    assert_int_equal(split(g, WEIR_FISSION_HOIST), 2);
    assert_int_equal(largest_temporary(g), 4 * NE);
    weir_graph_destroy(&g);
  }
}

/* An iteration that a border drops stays dropped, whatever the other factors are there. */
static void infinite_factors_of_dropped_iterations_do_not_count(void **state)
{
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  (void)add_scattering(g, 2, 2);
  for (int mode = WEIR_FISSION_OFF; mode <= WEIR_FISSION_REASSOCIATE; mode++) {
    weir_plan *plan = drawn_plan(g, (drawn_passes){(weir_fission)mode, false});
    weir_c128 green[2 * NE * NO], h[NO], d[2 * NW], y[2 * NE];
    weir_tensor t[] = {weir_tensor_wrap(green, WEIR_C128, 3, (int64_t[]){2, NE, NO}),
                       weir_tensor_wrap(h, WEIR_C128, 1, (int64_t[]){NO}),
                       weir_tensor_wrap(d, WEIR_C128, 2, (int64_t[]){2, NW}),
                       weir_tensor_wrap(y, WEIR_C128, 2, (int64_t[]){2, NE})};

    for (int i = 0; i < 4; i++) {
      for (int64_t k = 0; k < weir_tensor_numel(&t[i]); k++) {
        ((weir_c128 *)t[i].data)[k] = (weir_c128){1, 0};
      }
    }
    d[NW - 1].re = INFINITY; /* of the greatest loss of energy */
    assert_ok(weir_plan_run(
        plan, (weir_binding[]){{"g", &t[0]}, {"h", &t[1]}, {"d", &t[2]}, {"y", &t[3]}}, 4));
    for (int e = 0; e < NE; e++) {
      assert_int_equal(isfinite(y[e].re), e < NW - 1);
    }
    weir_plan_destroy(&plan);
  }
  weir_graph_destroy(&g);
}

/* y[e] = sum over w, r of g[e - w, r] h[r] d[w] - g[e + w, r] h[r] d[w]: both branches of a loss of
 * energy, 0 outside g (absent: every iteration with one outside is dropped, so they stay together).
 */
static void branches_come_apart(void **state)
{
  static const weir_op_desc op = {.name = "branches"};
  const weir_array_desc shapes[] = {{.dtype = WEIR_C128, .rank = 2, .shape = {NE, NO}},
                                    {.dtype = WEIR_C128, .rank = 1, .shape = {NO}},
                                    {.dtype = WEIR_C128, .rank = 1, .shape = {NW}}};

  for (int absent = 0; absent < 2; absent++) {
    weir_value in[4];
    weir_access a;
    weir_graph *g;
    int32_t x[4];

    assert_ok(weir_graph_create(&g));
    weir_access_init(&a);
    (void)weir_map_dim(&a, WEIR_PARALLEL, NE);
    (void)weir_map_dim(&a, WEIR_REDUCED, NW);
    (void)weir_map_dim(&a, WEIR_REDUCED, NO);
    assert_ok(weir_access_resize(&a, 4, 1, 0));
    for (int i = 0; i < 4; i++) {
      const int of = i < 2 ? 0 : i - 1; /* g is read twice */

      in[i] = i == 1 ? in[0] : weir_input(g, (const char *[]){"g", "h", "d"}[of], &shapes[of]);
      weir_map_operand(&a.in[i], &shapes[of]);
      x[i] = weir_body_load(&a.body, i, WEIR_C128);
    }
    for (int i = 0; i < 2; i++) {
      a.in[i].index[0].coef[0] = a.in[i].index[1].coef[2] = 1;
      a.in[i].index[0].coef[1] = i == 0 ? -1 : 1;
      a.in[i].index[0].border = absent ? WEIR_BORDER_ABSENT : WEIR_BORDER_ZERO;
      x[i] = weir_body_binary(&a.body, WEIR_CODE_MUL, x[i], x[2]);
      x[i] = weir_body_binary(&a.body, WEIR_CODE_MUL, x[i], x[3]);
    }
    a.in[2].index[0].coef[2] = a.in[3].index[0].coef[1] = 1;
    weir_map_operand(&a.out[0], &(weir_array_desc){.dtype = WEIR_C128, .rank = 1, .shape = {NE}});
    a.out[0].index[0].coef[0] = 1;
    a.n_values = 1;
    a.value[0] = weir_body_binary(&a.body, WEIR_CODE_SUB, x[0], x[1]);
    a.combine = WEIR_COMBINE_SUM;
    a.accumulator = WEIR_C128;
    const weir_value y = weir_graph_add_access(g, &op, &a, in, 4, WEIR_WHERE);

    weir_access_fini(&a);
    weir_output(g, "y", y);
    assert_true(same_numbers(g, y, (drawn_passes){WEIR_FISSION_HOIST, true}));
    assert_int_equal(split(g, WEIR_FISSION_HOIST), absent ? 1 : 5);
    weir_graph_destroy(&g);
  }
}

/* Two factors are a product already; of three of the same labels nothing is made less often; whole
 * numbers stay as they are. */
static void what_gains_nothing_stays(void **state)
{
  static const struct {
    const char *labels;
    int operands;
    weir_dtype dtype;
    int left;
  } cases[] = {{"ik,kj->ij", 2, WEIR_F64, 1},    {"ij,ij,ij->i", 3, WEIR_F64, 1},
               {"ij,jk,kl->il", 3, WEIR_F64, 2}, {"ij,jk,kl->il", 3, WEIR_F32, 2},
               {"ij,jk,kl->il", 3, WEIR_C64, 2}, {"ij,jk,kl->il", 3, WEIR_I64, 1}};

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    for (int mode = WEIR_FISSION_OFF; mode <= WEIR_FISSION_REASSOCIATE; mode++) {
      const weir_array_desc d = {.dtype = cases[i].dtype, .rank = 2, .shape = {9, 9}};
      weir_contract_spec spec = {.accumulator = 0};
      weir_value in[3];
      weir_graph *g;

      assert_ok(weir_graph_create(&g));
      for (int k = 0; k < cases[i].operands; k++) {
        in[k] = weir_input(g, (const char *[]){"a", "b", "c"}[k], &d);
      }
      (void)snprintf(spec.labels, sizeof spec.labels, "%s", cases[i].labels);
      const weir_value y = weir_contract_n(g, &spec, in, cases[i].operands);

      weir_output(g, "y", y);
      if (cases[i].left > 1) {
        assert_true(same_numbers(g, y, (drawn_passes){(weir_fission)mode, false}));
      }
      assert_int_equal(split(g, (weir_fission)mode), mode == WEIR_FISSION_OFF ? 1 : cases[i].left);
      weir_graph_destroy(&g);
    }
  }
}

static void random_products_keep_their_sums(void **state)
{
  const uint64_t fresh = (uint64_t)(weir_clock() * 1e9);
  int changed = 0;

  /* As many as it takes for enough of them to be split. */
  for (uint64_t seed = 0; seed < 300 || changed <= 100; seed++) {
    weir_draw w = {seed < 150 ? seed : fresh + seed, 0};
    weir_graph *g, *partials;
    weir_value y;

    assert_true(seed < 10000);
    assert_ok(weir_graph_create(&g));
    if (add_random(&w, g, &y)) {
      weir_output(g, "y", y);
      assert_ok(weir_graph_status(g));
      for (int mode = WEIR_FISSION_PRODUCTS; mode <= WEIR_FISSION_REASSOCIATE; mode++) {
        assert_ok(weir_graph_copy(g, &partials));
        const double before = flops_of(partials);
        const bool split_up = split(partials, (weir_fission)mode) > 1;

        assert_true(flops_of(partials) <= before);

        if (split_up && !same_numbers(g, y, (drawn_passes){(weir_fission)mode, false})) {
          print_message("seed %llu, mode %d\n", (unsigned long long)w.seed, mode);
          fail();
        }
        changed += split_up;
        weir_graph_destroy(&partials);
      }
    }
    weir_graph_destroy(&g);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_self_energy_is_split_as_the_papers_do),
      cmocka_unit_test(rows_of_the_result_lie_innermost),
      cmocka_unit_test(a_convolution_form_slides_over_energies),
      cmocka_unit_test(what_wraps_is_made_once),
      cmocka_unit_test(infinite_factors_of_dropped_iterations_do_not_count),
      cmocka_unit_test(branches_come_apart),
      cmocka_unit_test(what_gains_nothing_stays),
      cmocka_unit_test(random_products_keep_their_sums),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
