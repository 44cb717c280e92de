/* claim_cblas_test.c - a product and both its derivatives are claimed, in f64 by OpenBLAS, in f32
 * by oneDNN where there is enough work and this build has it; what is no product is not. */
#include <string.h>

#include "base/weir_random.h"
#include "device/weir_parallel.h"
#include "exec/weir_plan.h"
#include "graph/weir_kernel.h"
#include "ops/contract/weir_contract.h"
#include "ops/elementwise/weir_elementwise.h"
#include "support/ops/ops_check.h"
#include "ops/reduce/weir_reduce.h"
#include "pass/autodiff/weir_gradients.h"

enum { MAX = 80000 };

/* A contraction, its weighted sum, and the derivatives of that. */
typedef struct subject {
  const char *labels;
  const char *kernel;
  weir_array_desc d[3]; /* a, b, result */
  double memory[6][MAX];
} subject;

static void fill(weir_dtype dtype, void *x, uint32_t purpose)
{
  for (int64_t i = 0; i < MAX; i++) {
    weir_dtype_store_real(dtype, x, i, weir_random_uniform(3, purpose, 0, (uint64_t)i) - 0.5);
  }
}

/* Runs with such kernels; results into memory[3 ..]. Returns how many groups the library claimed.
 */
static int run(subject *s, const char *kernel, int threads)
{
  const weir_dtype dtype = s->d[0].dtype;
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

    t[k] = weir_tensor_wrap(s->memory[k], dtype, d->rank, d->shape);
    assert_true(weir_tensor_numel(&t[k]) <= MAX);
    b[k] = (weir_binding){names[k], &t[k]};
  }
  for (uint32_t k = 0; k < 3; k++) {
    fill(dtype, s->memory[k], k);
  }
  assert_ok(weir_plan_run(p, b, 6));
  for (int32_t i = 0; i < weir_plan_groups(p); i++) {
    claimed += strcmp(weir_plan_group(p, i).kernel, s->kernel) == 0;
  }
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
  return claimed;
}

/* As many claims by this kernel; the results are those of the loops, and the same bits on two
 * threads. */
static void check_by(const char *kernel, const char *labels, weir_array_desc a, weir_array_desc b,
                     int claims)
{
  static subject library, two, loops;
  const double most = a.dtype == WEIR_F32 ? 1e-5 : 1e-12;

  library = two = loops = (subject){.labels = labels, .kernel = kernel, .d = {a, b}};
  assert_int_equal(run(&library, "auto", 1), claims);
  assert_int_equal(run(&two, "auto", 2), claims);
  assert_int_equal(run(&loops, "none", 1), 0);
  for (int k = 3; k < 6; k++) {
    assert_int_equal(weir_compare(labels, a.dtype, library.memory[k], loops.memory[k], MAX,
                                  (weir_tolerance){most, most}),
                     0);
    assert_memory_equal(library.memory[k], two.memory[k], sizeof two.memory[k]);
  }
}

static void check(const char *labels, weir_array_desc a, weir_array_desc b, int claims)
{
  check_by("contract.cblas", labels, a, b, claims);
}

#define ARRAY_OF(type, ...)                                           \
  (weir_array_desc)                                                   \
  {                                                                   \
    .dtype = type, .shape = {__VA_ARGS__},                            \
    .rank = (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)) \
  }
#define ARRAY(...) ARRAY_OF(WEIR_F64, __VA_ARGS__)
#define SINGLE(...) ARRAY_OF(WEIR_F32, __VA_ARGS__)

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
  check("mk,kn->mn", ARRAY(211, 310), ARRAY(310, 250), 3);
  check("mk,nk->mn", ARRAY(190, 251), ARRAY(310, 251), 3);
  check("km,kn->mn", ARRAY(230, 160), ARRAY(230, 270), 3);
  check("sqd,skd->sqk", ARRAY(2, 190, 170), ARRAY(2, 130, 170), 3);
}

/* Rows stored as columns, a stack, blocks of both, and what is left to OpenBLAS. */
static void single_precision_is_multiplied_by_onednn(void **state)
{
  const char *const name = "contract.dnnl";
  bool has = false;

  for (int i = 0; weir_kernel_table[i] != NULL; i++) {
    has = has || strcmp(weir_kernel_table[i]->name, name) == 0;
  }
  if (!has || !weir_cpu_get()->avx2) {
    print_message("skipped: no oneDNN in this build, or no AVX2 in this processor\n");
    skip();
  }
  check_by(name, "mk,kn->mn", SINGLE(211, 310), SINGLE(310, 250), 3);
  check_by(name, "mk,nk->mn", SINGLE(190, 251), SINGLE(310, 251), 3);
  check_by(name, "km,kn->mn", SINGLE(230, 160), SINGLE(230, 270), 3);
  check_by(name, "sqd,skd->sqk", SINGLE(2, 190, 170), SINGLE(2, 130, 170), 3);
  check_by(name, "stak,stkb->stab", SINGLE(2, 3, 79, 66), SINGLE(2, 3, 66, 71), 3);
  check_by(name, "mk,kn->mn", SINGLE(31, 17), SINGLE(17, 23), 0);
  check_by("contract.cblas", "mk,kn->mn", SINGLE(31, 17), SINGLE(17, 23), 3);
}

/* Labels side by side in every array are one. */
static void neighbouring_labels_are_one(void **state)
{
  check("abk,kn->abn", ARRAY(5, 6, 17), ARRAY(17, 23), 3);
  check("nabi,ivuo->nabvuo", ARRAY(2, 4, 5, 12), ARRAY(12, 3, 2, 7), 3);
  check("akl,nkl->an", ARRAY(31, 4, 5), ARRAY(23, 4, 5), 3);
  check("stak,stkb->stab", ARRAY(2, 3, 19, 16), ARRAY(2, 3, 16, 21), 3);
}

/* A label of one element may lie anywhere, unless the product has no other in its place. */
static void labels_of_one_element_count_as_none(void **state)
{
  check("nabi,ivuo->navbuo", ARRAY(2, 4, 5, 12), ARRAY(12, 1, 3, 7), 3);
  check("nabi,ivuo->navbuo", ARRAY(2, 4, 5, 12), ARRAY(12, 2, 3, 7), 0);
  check("avkb,bn->avkn", ARRAY(1, 90, 1, 17), ARRAY(17, 23), 3);
  check("mksq,skn->smqn", ARRAY(19, 16, 3, 1), ARRAY(3, 16, 21), 0);
  check("skm,knsq->smqn", ARRAY(3, 16, 19), ARRAY(16, 21, 3, 1), 0);
  check("mk,kn->mn", ARRAY(1, 90), ARRAY(90, 70), 3);
  check("mk,kn->mn", ARRAY(90, 70), ARRAY(70, 1), 3);
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
      cmocka_unit_test(single_precision_is_multiplied_by_onednn),
      cmocka_unit_test(neighbouring_labels_are_one),
      cmocka_unit_test(labels_of_one_element_count_as_none),
      cmocka_unit_test(others_are_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
