/* contract_dnnl.c - plain matrix products (and stacks of them) in f32, by oneDNN, which is 1.2 to
 * 1.9 times as fast as OpenBLAS there (docs/decisions/0064-products-by-onednn.md). */
#include <dnnl.h>

#include "device/weir_parallel.h"
#include "ops/contract/blocks.h"

/* Of the f32 rate of a core: that of contract.cblas, times the least gain. */
static const double share_of_peak = 0.2 * 1.2;
/* Below this many multiplications in one matrix OpenBLAS is faster, which copies nothing then. */
static const double min_work = 1 << 17;

static double match(const weir_graph *g, const weir_group *group)
{
  contract_matrices s;

  /* oneDNN writes code for x86 alone and loops elsewhere; measured with AVX2 and more. */
  return weir_cpu_get()->avx2 && contract_matrices_of(g, group, &s) && s.dtype == WEIR_F32 &&
                 contract_matrices_work(&s) >= min_work
             ? contract_blocks_seconds(&s, share_of_peak)
             : -1;
}

/* Its arguments cannot be wrong: sizes and rows are those of arrays that the plan has checked. It
 * fails where there is no memory for its copies alone, which a kernel cannot report. */
static void run(const weir_kernel_run *r)
{
  const contract_call x = contract_blocks_call(r);
  const dnnl_status_t status = dnnl_sgemm(x.a_turned ? 'T' : 'N', x.b_turned ? 'T' : 'N', x.m, x.n,
                                          x.k, 1, x.a, x.lda, x.b, x.ldb, 0, x.c, x.ldc);

  WEIR_ASSERT(status == dnnl_success);
}

const weir_kernel weir_kernel_contract_dnnl = {
    .name = "contract.dnnl",
    .device = "cpu",
    .match = match,
    .arrays = contract_blocks_arrays,
    .prepare = contract_blocks_prepare,
    .release = contract_blocks_release,
    .pieces = contract_blocks_pieces,
    .run = run,
};
