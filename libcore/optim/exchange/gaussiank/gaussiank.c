/* gaussiank.c - sparse sum of the elements above a threshold that a normal distribution fitted to
 * them gives (Shi et al., "Understanding top-k sparsification in distributed deep learning", 2019,
 * arXiv:1911.08772, algorithm 1): no selection by rank, but the number of elements is only about k.
 * Gradients have heavier centres and tails than that distribution, more so as training goes on, so
 * that it selects too few; the threshold is then lowered step by step. With error feedback. */
#include <math.h>

#include "base/weir_alloc.h"
#include "optim/exchange_lists.h"
#include "optim/exchange/gaussiank/gaussiank_priv.h"

static const weir_opt options[] = {
    EXCHANGE_SPARSE_ROWS(struct gaussiank_opts),
    EXCHANGE_RESELECT_ROW(struct gaussiank_opts),
    WEIR_OPT_REAL(struct gaussiank_opts, scale, 1.012, 1.0001, 10, "1",
                  "factor that lowers the threshold where it selects fewer than 3 k / 4 elements"),
    WEIR_OPT_INT(struct gaussiank_opts, max_scalings, 20, 0, 1000, "1",
                 "how often it is lowered in a step at most; each takes a pass over the gradient"),
    WEIR_OPT_END,
};

typedef struct gaussiank {
  exchange_sparse x;
  struct gaussiank_opts opts;
  double
      quantile; /* of the magnitudes of a standard normal variable, above which is k / n of them */
  exchange_numbers counts;
  exchange_gather all;
} gaussiank;

static void close_gaussiank(void **state)
{
  gaussiank *t = *state;

  if (t != NULL) {
    exchange_numbers_close(&t->counts);
    exchange_gather_close(&t->all);
    exchange_sparse_close(&t->x);
  }
  weir_free(state);
}

/* t with P(|x| > t) = density for normal x of this mean and deviation, by bisection to the last
 * bit.
 */
static double threshold_of(double density, double mean, double deviation)
{
  const double unit = deviation * sqrt(2);
  double lo = 0, hi = fabs(mean) + 40 * deviation;

  for (double t = hi / 2; lo < t && t < hi; t = lo + (hi - lo) / 2) {
    *(erfc((t - mean) / unit) + erfc((t + mean) / unit) > 2 * density ? &lo : &hi) = t;
  }
  return lo;
}

static weir_status open_gaussiank(const weir_exchange_args *a, void **state)
{
  gaussiank *t = NULL;
  weir_status status = weir_alloc(1, sizeof *t, (void **)&t);

  *state = NULL;
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, status), failed);
  t->opts = *(const struct gaussiank_opts *)a->opts;
  const struct exchange_sparse_opts opts = {t->opts.density, t->opts.dense_steps};

  WEIR_TRY_GOTO(exchange_sparse_open(a, "gaussiank", &opts, t->opts.reselect_factor, &t->x),
                failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, exchange_numbers_open(t->x.b.group, 1, &t->counts)),
                failed);
  WEIR_TRY_GOTO(weir_comm_agree(a->comm, exchange_gather_open(t->x.b.group, &t->all)), failed);
  *state = t;
  return WEIR_OK;
failed:
  close_gaussiank((void **)&t);
  return status;
}

static void select_elements(gaussiank *t)
{
  exchange_sparse *const x = &t->x;
  double mean = 0, deviation = 0;

  exchange_moments(x->b.dtype, x->residual, x->b.count, &mean, &deviation);
  double threshold = threshold_of(t->opts.density, mean, deviation);
  const int64_t least = (int64_t)ceil((double)x->k / t->opts.reselect_factor);
  int64_t above = 0, equal = 0;

  for (int64_t i = 0; i < t->opts.max_scalings; i++) {
    exchange_count(x->b.dtype, x->residual, x->b.count, exchange_key(x->b.dtype, threshold), &above,
                   &equal);
    if (4 * (above + equal) >= 3 * x->k) {
      break;
    }
    threshold /= t->opts.scale;
  }
  if (!exchange_sparse_above(x, exchange_key(x->b.dtype, threshold), least)) {
    (void)exchange_sparse_top(x);
  }
}

static weir_status run(void *state)
{
  gaussiank *t = state;
  exchange_sparse *const x = &t->x;
  weir_comm *const c = x->b.group;
  const int ranks = weir_comm_size(c), rank = weir_comm_rank(c);
  bool done = false;

  WEIR_TRY(exchange_sparse_begin(x, &done));
  if (done) {
    return WEIR_OK;
  }
  select_elements(t);
  t->counts.n[rank] = x->own.count;
  WEIR_TRY(weir_request_run(t->counts.request));
  for (int r = 0; r < ranks; r++) {
    exchange_gather_expect(x, &t->all, r, t->counts.n[r]);
  }
  WEIR_TRY(exchange_gather_place(c, &t->all));
  exchange_list_pack(x, &x->own, 0, x->own.count, t->all.data + t->all.at[rank]);
  WEIR_TRY(weir_request_run(t->all.request));
  exchange_gather_sum(x, &t->all);
  exchange_sparse_clear(x);
  return WEIR_OK;
}

static int keep(void *state, weir_exchange_kept kept[WEIR_EXCHANGE_KEPT_MAX])
{
  return exchange_sparse_keep(&((gaussiank *)state)->x, kept);
}

const weir_exchange_desc weir_exchange_gaussiank = {
    .name = "gaussiank",
    .cite = "Shi et al. 2019b",
    .help = "as topka, with a threshold from a normal distribution in place of the exact one",
    .opts = options,
    .opts_size = sizeof(struct gaussiank_opts),
    .what = WEIR_EXCHANGE_GRADIENTS,
    .invariant = WEIR_REPLICAS_EQUAL,
    .open = open_gaussiank,
    .run = run,
    .keep = keep,
    .close = close_gaussiank,
};
