/* exchange_sparse.c - see exchange_sparse.h. */
#include "optim/exchange_sparse.h"

#include <string.h>

#include "base/weir_alloc.h"

const weir_opt exchange_sparse_options[] = {
    EXCHANGE_SPARSE_ROWS(struct exchange_sparse_opts),
    WEIR_OPT_END,
};

static weir_status create_buffers(const char *policy, exchange_sparse *x)
{
  if (x->b.count > UINT32_MAX) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "%s: %lld elements: indices have 32 bits", policy,
                     (long long)x->b.count);
  }
  WEIR_TRY(exchange_buffer_alloc(&x->b, &x->residual));
  WEIR_TRY(weir_alloc(x->capacity, x->b.sum->size, &x->own.value));
  return weir_alloc(x->capacity, sizeof *x->own.index, (void **)&x->own.index);
}

weir_status exchange_sparse_open(const weir_exchange_args *a, const char *policy,
                                 const struct exchange_sparse_opts *opts, double factor,
                                 exchange_sparse *out)
{
  exchange_sparse *const x = out;

  *x = (exchange_sparse){.step = a->step, .dense_steps = opts->dense_steps};
  WEIR_TRY(exchange_buffer_open(a, policy, &x->b));
  const double n = (double)x->b.count, k = opts->density * n + 0.5;

  x->k = k < 1 && n > 0 ? 1 : (int64_t)(k < n ? k : n);
  x->capacity = (int64_t)(factor * (double)x->k < n ? factor * (double)x->k : n);
  WEIR_TRY(weir_comm_agree(a->comm, create_buffers(policy, x)));
  return x->step >= x->dense_steps
             ? WEIR_OK
             : weir_comm_agree(a->comm, weir_allreduce_create(x->b.group, "gradient", x->b.sum,
                                                              x->residual, x->b.count, &x->dense));
}

void exchange_sparse_close(exchange_sparse *x)
{
  weir_request_destroy(&x->dense);
  weir_free(&x->residual);
  weir_free(&x->own.value);
  weir_free(&x->own.index);
  exchange_buffer_close(&x->b);
}

weir_status exchange_sparse_begin(exchange_sparse *x, bool *done)
{
  *done = x->step++ < x->dense_steps;
  exchange_buffer_add(&x->b, x->residual);
  if (*done) {
    WEIR_TRY(weir_request_run(x->dense));
    exchange_buffer_put(&x->b, x->residual);
    memset(x->residual, 0, (size_t)x->b.count * x->b.sum->size);
  }
  return WEIR_OK;
}

uint64_t exchange_sparse_top(exchange_sparse *x)
{
  uint64_t key = 0;
  int64_t above = 0, equal = 0;

  WEIR_ASSERT(exchange_kth(x->b.dtype, x->residual, x->b.count, x->k, x->bins, NULL, &key) ==
              WEIR_OK); /* it asks no other rank */
  exchange_count(x->b.dtype, x->residual, x->b.count, key, &above, &equal);
  exchange_select(x->b.dtype, x->residual, x->b.count, 0, key, x->k - above, &x->own);
  return key;
}

bool exchange_sparse_above(exchange_sparse *x, uint64_t key, int64_t min)
{
  const bool fits = exchange_select_from(x->b.dtype, x->residual, x->b.count, key > 0 ? key : 1,
                                         x->capacity, &x->own) &&
                    x->own.count >= min;

  x->own.count = fits ? x->own.count : 0;
  return fits;
}

void exchange_sparse_clear(exchange_sparse *x)
{
  const size_t size = x->b.sum->size;

  for (int64_t i = 0; i < x->own.count; i++) {
    memset((char *)x->residual + x->own.index[i] * size, 0, size);
  }
}

int exchange_sparse_keep(const exchange_sparse *x, weir_exchange_kept *kept)
{
  *kept = (weir_exchange_kept){.name = "residual",
                               .data = x->residual,
                               .dtype = x->b.dtype,
                               .count = x->b.count,
                               .kind = WEIR_KEPT_SUMMAND};
  return 1;
}

int64_t exchange_list_bytes(const exchange_sparse *x, int64_t n)
{
  return n * (int64_t)(x->b.sum->size + sizeof(uint32_t));
}

exchange_list exchange_list_view(const exchange_sparse *x, void *bytes, int64_t n)
{
  void *const index = (char *)bytes + (size_t)n * x->b.sum->size;

  return (exchange_list){.value = bytes, .index = index, .count = n};
}

void exchange_list_pack(const exchange_sparse *x, const exchange_list *list, int64_t at, int64_t n,
                        void *bytes)
{
  const size_t size = x->b.sum->size;
  const exchange_list to = exchange_list_view(x, bytes, n);

  if (n > 0) {
    memcpy(to.value, (const char *)list->value + (size_t)at * size, (size_t)n * size);
    memcpy(to.index, list->index + at, (size_t)n * sizeof *to.index);
  }
}
