/* pool_sparse.c - which shapes, and both sums by stages (pool_sparse_priv.h). */
#include "ops/conv/pool_sparse_priv.h"
#include "ops/conv/pool_sparse_layout.h"

#include "device/weir_parallel.h"

const pool_sparse_kernels *pool_sparse_kernels_get(void)
{
#if defined(__x86_64__)
  const weir_cpu *cpu = weir_cpu_get();

  if (cpu->avx512) {
    return &weir_pool_sparse_avx512;
  }
  if (cpu->avx2 && cpu->fma) {
    return &weir_pool_sparse_avx2;
  }
#endif
  return NULL;
}

bool pool_sparse_takes(const pool_sparse_conv *s)
{
  bool takes = s->n > 0 && s->in > 0 && s->out > 0 && s->out < 1 << 16;
  int64_t positions = 1;

  for (int d = 0; d < 3; d++) {
    takes = takes && s->x[d] > 0 && s->y[d] > 0 && s->kernel_size[d] <= MAX_KERNEL &&
            s->window[d] <= MAX_WINDOW && s->lo[d] >= 0 &&
            (d < 2 || s->lo[d] < s->kernel_size[d] + s->window[d]);
    positions *= takes ? s->window[d] : 1;
  }
  return takes && positions > 1 && positions <= MAX_WINDOW;
}

int64_t pool_sparse_workspace(const pool_sparse_kernels *k, const pool_sparse_conv *s, bool data)
{
  const pool_sparse_layout l = pool_sparse_layout_of(k, s, data);

  return 4 * (data ? pool_sparse_data_workspace(s, &l) : pool_sparse_weights_workspace(s, &l));
}

int64_t pool_sparse_scratch(const pool_sparse_kernels *k, const pool_sparse_conv *s, bool data)
{
  const pool_sparse_layout l = pool_sparse_layout_of(k, s, data);

  return 4 * (data ? pool_sparse_data_scratch(s, &l) : pool_sparse_weights_scratch(&l));
}

int64_t pool_sparse_pieces(const pool_sparse_kernels *k, const pool_sparse_conv *s, bool data,
                           int stage)
{
  const pool_sparse_layout l = pool_sparse_layout_of(k, s, data);

  return (data ? pool_sparse_data_pieces : pool_sparse_weights_pieces)(s, &l, stage);
}

void pool_sparse_piece(const pool_sparse_sum *p, int stage, int64_t piece)
{
  const pool_sparse_layout l = pool_sparse_layout_of(p->k, p->s, p->data);

  (p->data ? pool_sparse_data_piece : pool_sparse_weights_piece)(p, &l, stage, piece);
}

void pool_sparse_rows(const pool_sparse_sum *p, const int64_t lo[3], const int64_t hi[3])
{
  const pool_sparse_layout l = pool_sparse_layout_of(p->k, p->s, p->data);

  pool_sparse_data_rows(p, &l, lo, hi);
}
