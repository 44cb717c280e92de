/* oktopk_error.c - the error of a step of `oktopk`, see oktopk_priv.h. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "optim/exchange/oktopk/oktopk_priv.h"

static weir_status create_buffers(const exchange_sparse *x, oktopk_error *e)
{
  WEIR_TRY(exchange_buffer_alloc(&x->b, &e->gradient));
  return exchange_buffer_alloc(&x->b, &e->residual);
}

weir_status oktopk_error_open(const exchange_sparse *x, int64_t period, oktopk_error *out)
{
  weir_comm *const c = x->b.group;

  *out = (oktopk_error){.period = period};
  if (period == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_comm_agree(c, create_buffers(x, out)));
  WEIR_TRY(weir_allreduce_create(c, "error: gradient", x->b.sum, out->gradient, x->b.count,
                                 &out->sum_gradient));
  return weir_allreduce_create(c, "error: residual", x->b.sum, out->residual, x->b.count,
                               &out->sum_residual);
}

void oktopk_error_close(oktopk_error *e)
{
  weir_request_destroy(&e->sum_gradient);
  weir_request_destroy(&e->sum_residual);
  weir_free(&e->gradient);
  weir_free(&e->residual);
}

/* Whether a step with that many before it is measured. */
static bool is_due(const oktopk_error *e, int64_t before)
{
  return e->period > 0 && before % e->period == 0;
}

void oktopk_error_gradient(oktopk_error *e, const exchange_sparse *x)
{
  if (is_due(e, x->step)) {
    exchange_buffer_get(&x->b, e->gradient);
  }
}

void oktopk_error_residual(oktopk_error *e, const exchange_sparse *x)
{
  if (is_due(e, x->step - 1) && x->b.count > 0) {
    memcpy(e->residual, x->residual, (size_t)x->b.count * x->b.sum->size);
  }
}

/* L2 norm of what is left of the k largest elements of `all` after `result`. */
static weir_status distance(exchange_sparse *x, const void *all, const void *result, double *norm)
{
  const weir_dtype dtype = x->b.dtype;
  uint64_t key = 0;
  int64_t above = 0, equal = 0;
  double sum = 0;

  WEIR_TRY(exchange_kth(dtype, all, x->b.count, x->k, x->bins, NULL, &key));
  exchange_count(dtype, all, x->b.count, key, &above, &equal);
  int64_t ties = x->k - above;

  for (int64_t i = 0; i < x->b.count; i++) {
    const double value = weir_dtype_load_real(dtype, all, i);
    const uint64_t own = exchange_key(dtype, fabs(value));
    const bool selected = own > key || (own == key && ties-- > 0);
    const double d = (selected ? value : 0) - weir_dtype_load_real(dtype, result, i);

    sum += d * d;
  }
  *norm = sqrt(sum);
  return WEIR_OK;
}

weir_status oktopk_error_report(oktopk_error *e, exchange_sparse *x)
{
  double gradient = 0, error = 0;

  if (!is_due(e, x->step - 1)) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_request_run(e->sum_gradient));
  WEIR_TRY(weir_request_run(e->sum_residual));
  for (int64_t i = 0; i < x->b.count; i++) {
    const double g = weir_dtype_load_real(x->b.dtype, e->gradient, i);

    gradient += g * g;
  }
  exchange_buffer_get(&x->b, e->gradient);
  WEIR_TRY(distance(x, e->residual, e->gradient, &error));
  weir_event("exchange_error", WEIR_TEXT("policy", "oktopk"), WEIR_INT("step", x->step),
             WEIR_REAL("xi", error / sqrt(gradient)));
  return WEIR_OK;
}
