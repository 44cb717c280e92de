/* claim_cblas_test.c - a product and both its derivatives are claimed; what is no product is not.
 */
#include <string.h>

#include "base/weir_random.h"
#include "exec/weir_plan.h"
#include "ops/contract/weir_contract.h"
#include "ops/elementwise/weir_elementwise.h"
#include "support/ops/ops_check.h"
#include "ops/reduce/weir_reduce.h"
#include "pass/autodiff/weir_gradients.h"

enum { MAX = 40000 };

/* A contraction, its weighted sum, and the derivatives of that. */
typedef struct subject {
  const char *labels;
  weir_array_desc d[3]; /* a, b, result */
  double memory[6][MAX];
} subject;

static void fill(double *x, uint32_t purpose)
{
  for (uint64_t i = 0; i < MAX; i++) {
    x[i] = weir_random_uniform(3, purpose, 0, i) - 0.5;
  }
}

/* Runs with such kernels; results into memory[3 ..]. Returns how many groups the library claimed.
 */
static int run(subject *s, const char *kernel, int threads)
{
  static const char *const names[] = {"a", "b", "w", "y", "da", "db"};
  weir_graph *g = new_graph();
  weir_tensor t[6];
  weir_binding b[6];
  weir_exec_cfg cfg;
  weir_plan *p;
  weir_value in[2], grad[2];
  int claimed = 0;

  for (int k = 0; k < 2; k++) {
    in[k] = weir_input(g, names[k], &s->d[k]);
  }
  const weir_value y = weir_contract(g, s->labels, in[0], in[1]);

  s->d[2] = *weir_value_desc(g, y);
  const weir_value loss = weir_sum(g, weir_mul(g, y, weir_input(g, "w", &s->d[2])), -1);

  assert_ok(weir_gradients(g, loss, in, 2, grad));
  weir_output(g, "y", y);
  weir_output(g, "da", grad[0]);
  weir_output(g, "db", grad[1]);
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  cfg.kernel = kernel;
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = threads}, &p));
  for (int k = 0; k < 6; k++) {
    const weir_array_desc *d = &s->d[k < 3 ? k : k == 3 ? 2 : k - 4];

    t[k] = weir_tensor_wrap(s->memory[k], WEIR_F64, d->rank, d->shape);
    assert_true(weir_tensor_numel(&t[k]) <= MAX);
    b[k] = (weir_binding){names[k], &t[k]};
  }
  for (uint32_t k = 0; k < 3; k++) {
    fill(s->memory[k], k);
  }
  assert_ok(weir_plan_run(p, b, 6));
  for (int32_t i = 0; i < weir_plan_groups(p); i++) {
    claimed += strcmp(weir_plan_group(p, i).kernel, "contract.cblas") == 0;
  }
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
  return claimed;
}

/* As many claims; the results are those of the loops, and the same bits on two threads. */
static void check(const char *labels, weir_array_desc a, weir_array_desc b, int claims)
{
  static subject library, two, loops;

  library = two = loops = (subject){.labels = labels, .d = {a, b}};
  assert_int_equal(run(&library, "auto", 1), claims);
  assert_int_equal(run(&two, "auto", 2), claims);
  assert_int_equal(run(&loops, "none", 1), 0);
  for (int k = 3; k < 6; k++) {
    assert_int_equal(weir_compare(labels, WEIR_F64, library.memory[k], loops.memory[k], MAX,
                                  (weir_tolerance){1e-12, 1e-12}),
                     0);
    assert_memory_equal(library.memory[k], two.memory[k], sizeof two.memory[k]);
  }
}

#define ARRAY(...)                                                    \
  (weir_array_desc)                                                   \
  {                                                                   \
    .dtype = WEIR_F64, .shape = {__VA_ARGS__},                        \
    .rank = (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)) \
  }

static void a_product_and_its_derivatives_are_claimed(void **state)
{
  check("mk,kn->mn", ARRAY(31, 17), ARRAY(17, 23), 3);
  check("mk,nk->mn", ARRAY(31, 17), ARRAY(23, 17), 3);
  check("km,kn->mn", ARRAY(17, 31), ARRAY(17, 23), 3);
  check("sqd,skd->sqk", ARRAY(3, 19, 16), ARRAY(3, 21, 16), 3);
  check("sqk,skd->sqd", ARRAY(3, 19, 21), ARRAY(3, 21, 16), 3);
}

/* Matrices of several pieces, of rows and of columns. */
static void large_products_fall_into_pieces(void **state)
{
  check("mk,kn->mn", ARRAY(211, 170), ARRAY(170, 130), 3);
  check("mk,nk->mn", ARRAY(90, 211), ARRAY(170, 211), 3);
  check("km,kn->mn", ARRAY(230, 60), ARRAY(230, 170), 3);
  check("sqd,skd->sqk", ARRAY(2, 150, 60), ARRAY(2, 130, 60), 3);
}

/* Labels side by side in every array are one. */
static void neighbouring_labels_are_one(void **state)
{
  check("abk,kn->abn", ARRAY(5, 6, 17), ARRAY(17, 23), 3);
  check("nabi,ivuo->nabvuo", ARRAY(2, 4, 5, 12), ARRAY(12, 3, 2, 7), 3);
  check("akl,nkl->an", ARRAY(31, 4, 5), ARRAY(23, 4, 5), 3);
  check("stak,stkb->stab", ARRAY(2, 3, 19, 16), ARRAY(2, 3, 16, 21), 3);
}

/* Too little work, or a sum of another kind. */
static void others_are_not(void **state)
{
  check("mk,kn->mn", ARRAY(7, 5), ARRAY(5, 3), 0);
  check("akb,kn->abn", ARRAY(5, 17, 6), ARRAY(17, 23), 0);
  check("abk,kn->ban", ARRAY(5, 6, 17), ARRAY(17, 23), 0);
  check("akl,nlk->an", ARRAY(31, 4, 5), ARRAY(23, 5, 4), 0);
  check("mm,mn->mn", ARRAY(60, 60), ARRAY(60, 60), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_product_and_its_derivatives_are_claimed),
      cmocka_unit_test(large_products_fall_into_pieces),
      cmocka_unit_test(neighbouring_labels_are_one),
      cmocka_unit_test(others_are_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
