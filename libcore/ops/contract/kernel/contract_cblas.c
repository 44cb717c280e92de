/* contract_cblas.c - plain matrix products (and stacks of them) of real and complex numbers, by
 * OpenBLAS. */
#include <cblas.h>

#include "ops/contract/blocks.h"

/* Of the f32 rate of a core, what a library reaches, about, of any dtype. */
static const double share_of_peak = 0.2;

static double match(const weir_graph *g, const weir_group *group)
{
  contract_matrices s;

  return contract_matrices_of(g, group, &s) && contract_matrices_work(&s) >= CONTRACT_MIN_WORK
             ? contract_blocks_seconds(&s, share_of_peak)
             : -1;
}

static weir_status prepare(const weir_graph *g, const weir_group *group, void **context)
{
  openblas_set_num_threads(1);
  return contract_blocks_prepare(g, group, context);
}

static CBLAS_TRANSPOSE turned(bool is, bool conj)
{
  return is ? (conj ? CblasConjTrans : CblasTrans) : conj ? CblasConjNoTrans : CblasNoTrans;
}

static void run(const weir_kernel_run *r)
{
  const contract_matrices *s = &((const contract_blocks *)r->context)->of;
  const contract_call x = contract_blocks_call(r);
  const CBLAS_TRANSPOSE ta = turned(x.a_turned, s->a_conj), tb = turned(x.b_turned, s->b_conj);

  if (s->dtype == WEIR_F32) {
    cblas_sgemm(CblasRowMajor, ta, tb, x.m, x.n, x.k, 1, x.a, x.lda, x.b, x.ldb, 0, x.c, x.ldc);
  } else if (s->dtype == WEIR_F64) {
    cblas_dgemm(CblasRowMajor, ta, tb, x.m, x.n, x.k, 1, x.a, x.lda, x.b, x.ldb, 0, x.c, x.ldc);
  } else if (s->dtype == WEIR_C64) {
    const weir_c64 one = {1, 0}, none = {0, 0};

    cblas_cgemm(CblasRowMajor, ta, tb, x.m, x.n, x.k, &one, x.a, x.lda, x.b, x.ldb, &none, x.c,
                x.ldc);
  } else {
    const weir_c128 one = {1, 0}, none = {0, 0};

    cblas_zgemm(CblasRowMajor, ta, tb, x.m, x.n, x.k, &one, x.a, x.lda, x.b, x.ldb, &none, x.c,
                x.ldc);
  }
}

const weir_kernel weir_kernel_contract_cblas = {
    .name = "contract.cblas",
    .device = "cpu",
    .match = match,
    .arrays = contract_blocks_arrays,
    .prepare = prepare,
    .release = contract_blocks_release,
    .pieces = contract_blocks_pieces,
    .run = run,
};
