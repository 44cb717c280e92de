/* dependence.c - see dependence.h. */
#include "baseline/dependence.h"
#include <math.h>
#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "eval/score/normal.h"

const weir_opt wx_dependence_options[] = {
    WEIR_OPT_ENUM(wx_dependence_opts, kind, WX_DEPENDENCE_ECC, WX_DEPENDENCE_CHOICES,
                  "members of a corrected distribution: its quantiles in the order of the raw "
                  "members, or each raw member moved and stretched"),
    WEIR_OPT_ENUM(wx_dependence_opts, levels, WX_DEPENDENCE_EQUIDISTANT,
                  WX_DEPENDENCE_LEVELS_CHOICES,
                  "kind ecc: probabilities of the quantiles: equidistant, i / (M + 1), or hazen, "
                  "(i - 1/2) / M",
                  .choice_aliases = "even=equidistant|middle=hazen"),
    WEIR_OPT_END,
};

enum { PURPOSE = 0x65636371 /* of random numbers: ECC-Q */ };

typedef struct scratch {
  double *quantile; /* [members, members]: of n members in row n - 1 */
  int64_t *order;   /* [members] at random                          */
  int64_t *sorted;  /* [members] */
} scratch;

static void draw_order(int64_t members, uint64_t seed, uint32_t start, int64_t *order)
{
  for (int64_t m = 0; m < members; m++) {
    order[m] = m;
  }
  for (int64_t m = members - 1; m > 0; m--) { /* Fisher and Yates */
    const double u = weir_random_uniform(seed, PURPOSE, start, (uint64_t)m);
    const int64_t other = (int64_t)(u * (double)(m + 1)), kept = order[m];

    order[m] = order[other];
    order[other] = kept;
  }
}

/* Probabilities, of normal distributions quantiles in standard deviations. */
static void take_quantiles(int levels, bool normal, int64_t members, double *quantile)
{
  for (int64_t n = 1; n <= members; n++) {
    for (int64_t i = 0; i < n; i++) {
      const double p = levels == WX_DEPENDENCE_EQUIDISTANT ? (double)(i + 1) / (double)(n + 1)
                                                           : ((double)i + 0.5) / (double)n;

      quantile[(n - 1) * members + i] = normal ? wx_normal_quantile(p) : p;
    }
  }
}

/* Members of a point that are there, ascending; equal ones as they stand in the random order. */
static int64_t sort(const scratch *r, const float *raw, int64_t members, int64_t stride)
{
  int64_t n = 0;

  for (int64_t k = 0; k < members; k++) {
    const int64_t m = r->order[k];
    int64_t j = n;

    if (!isfinite(raw[m * stride])) {
      continue;
    }
    for (; j > 0 && raw[r->sorted[j - 1] * stride] > raw[m * stride]; j--) {
      r->sorted[j] = r->sorted[j - 1];
    }
    r->sorted[j] = m;
    n++;
  }
  return n;
}

static void couple_ranks(const scratch *r, const wx_dependence_start *s, int64_t i, float *out)
{
  const int64_t members = s->members, n = s->n, count = sort(r, s->raw + i, members, n);
  const double *const quantile = r->quantile + (count > 0 ? count - 1 : 0) * members;

  for (int64_t m = 0; m < members; m++) {
    out[m * n + i] = isfinite(s->raw[m * n + i]) ? s->raw[m * n + i] : NAN;
  }
  const wx_distribution d = {s->family, (double)s->mu[i], (double)s->sigma[i],
                             s->lower,  s->shift,         s->width};

  for (int64_t k = 0; k < count; k++) {
    out[r->sorted[k] * n + i] =
        (float)(s->family == WX_NORMAL ? d.location + d.scale * quantile[k]
                                       : wx_distribution_quantile(&d, quantile[k]));
  }
}

static void move_members(const wx_dependence_start *s, int64_t i, float *out)
{
  const int64_t members = s->members, n = s->n;
  double sum = 0, squares = 0, count = 0;

  for (int64_t m = 0; m < members; m++) {
    const double x = (double)s->raw[m * n + i];

    sum += isfinite(x) ? x : 0;
    count += isfinite(x);
  }
  const double mean = sum / count;

  for (int64_t m = 0; m < members; m++) {
    const double d = (double)s->raw[m * n + i] - mean;

    squares += isfinite(d) ? d * d : 0;
  }
  const double factor = squares > 0 ? (double)s->sigma[i] / sqrt(squares / (count - 1)) : 0;

  for (int64_t m = 0; m < members; m++) {
    const double d = (double)s->raw[m * n + i] - mean;

    out[m * n + i] = isfinite(d) ? (float)((double)s->mu[i] + factor * d) : NAN;
  }
}

weir_status wx_dependence(const wx_dependence_opts *opts, const wx_dependence_start *s, float *out)
{
  const int64_t members = s->members;
  scratch r = {.quantile = NULL};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(members * members, sizeof(double), (void **)&r.quantile), done);
  WEIR_TRY_GOTO(weir_alloc(members, sizeof(int64_t), (void **)&r.order), done);
  WEIR_TRY_GOTO(weir_alloc(members, sizeof(int64_t), (void **)&r.sorted), done);
  draw_order(members, s->seed, s->start, r.order);
  take_quantiles(opts->levels, s->family == WX_NORMAL, members, r.quantile);
  for (int64_t i = 0; i < s->n; i++) {
    if (opts->kind == WX_DEPENDENCE_ECC) {
      couple_ranks(&r, s, i, out);
    } else {
      move_members(s, i, out);
    }
  }
done:
  weir_free(&r.quantile);
  weir_free(&r.order);
  weir_free(&r.sorted);
  return status;
}
