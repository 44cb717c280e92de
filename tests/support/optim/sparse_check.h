/* sparse_check.h - steps of a policy that exchanges selected elements of gradients, on ranks that
 * are threads, and what has to hold for each: the elements that ranks give, what all get back and
 * what they keep add up. Tests only. */
#ifndef WEIR_SPARSE_CHECK_H
#define WEIR_SPARSE_CHECK_H
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "comm/weir_inproc.h"
#include "optim/weir_exchange.h"

enum { SPARSE_RANKS = 8, SPARSE_STEPS = 400, SPARSE_SMALL = 61 };

typedef struct sparse_run {
  const weir_exchange_desc *policy;
  const void *opts;
  weir_dtype dtype;
  int ranks, steps, count;
  uint64_t seed;
  int reopens; /* the policy is closed before this step and resumed with what it kept; 0: never */
  double (*gradient)(const struct sparse_run *r, int rank, int step, int i);
  /* What ranks had, [steps, ranks, count]: NULL if not `stores`. */
  bool stores;
  double *given, *result, *residual;
  int selected[SPARSE_STEPS][SPARSE_RANKS]; /* at least as large as the threshold kept before */
  int applied[SPARSE_STEPS];                /* elements other than 0 of the result, on rank 0 */
  bool equal[SPARSE_STEPS];                 /* results of all ranks, to the bit; if it stores */
  weir_comm_count counted[SPARSE_RANKS][WEIR_COMM_USES]; /* in all steps */
} sparse_run;

static inline double sparse_load(weir_dtype dtype, const void *x, int64_t i)
{
  return dtype == WEIR_I64 ? (double)((const int64_t *)x)[i] : weir_dtype_load_real(dtype, x, i);
}

static inline void sparse_store(weir_dtype dtype, void *x, int64_t i, double value)
{
  if (dtype == WEIR_I64) {
    ((int64_t *)x)[i] = (int64_t)value;
  } else {
    weir_dtype_store_real(dtype, x, i, value);
  }
}

/* The kept array of that name, or NULL. */
static inline const weir_exchange_kept *sparse_kept(const weir_exchange_kept *kept, int n,
                                                    const char *name)
{
  for (int i = 0; i < n; i++) {
    if (strcmp(kept[i].name, name) == 0) {
      return &kept[i];
    }
  }
  return NULL;
}

static inline double *sparse_at(const sparse_run *r, double *all, int step, int rank)
{
  return all + ((int64_t)step * r->ranks + rank) * r->count;
}

static inline void sparse_count_selected(sparse_run *r, int rank, int step, const void *buffer,
                                         const weir_exchange_kept *kept, int n)
{
  const weir_exchange_kept *const threshold = sparse_kept(kept, n, "local_threshold");
  const weir_exchange_kept *const residual = sparse_kept(kept, n, "residual");

  for (int i = 0; i < r->count && threshold != NULL; i++) {
    const double x = sparse_load(r->dtype, residual->data, i) + sparse_load(r->dtype, buffer, i);

    r->selected[step][rank] += fabs(x) >= *(const double *)threshold->data;
  }
}

static inline weir_status sparse_step(sparse_run *r, weir_exchange *x, int rank, int step,
                                      void *buffer)
{
  weir_exchange_kept kept[WEIR_EXCHANGE_KEPT_MAX];
  const int n = x->policy->keep(x->state, kept);
  const weir_exchange_kept *const residual = sparse_kept(kept, n, "residual");

  for (int i = 0; i < r->count; i++) {
    sparse_store(r->dtype, buffer, i, r->gradient(r, rank, step, i));
    if (r->stores) {
      sparse_at(r, r->given, step, rank)[i] = sparse_load(r->dtype, buffer, i);
    }
  }
  sparse_count_selected(r, rank, step, buffer, kept, n);
  WEIR_TRY(weir_exchange_run(x));
  for (int i = 0; i < r->count; i++) {
    r->applied[step] += rank == 0 && sparse_load(r->dtype, buffer, i) != 0;
    if (r->stores) {
      sparse_at(r, r->result, step, rank)[i] = sparse_load(r->dtype, buffer, i);
      sparse_at(r, r->residual, step, rank)[i] = sparse_load(r->dtype, residual->data, i);
    }
  }
  return WEIR_OK;
}

/* Closes the policy and opens it as a run that is resumed does. */
static inline weir_status sparse_reopen(weir_exchange *x, const weir_exchange_args *a)
{
  const weir_exchange_desc *const policy = x->policy;
  weir_exchange_kept kept[WEIR_EXCHANGE_KEPT_MAX];
  const int n = policy->keep(x->state, kept);
  void *copy[WEIR_EXCHANGE_KEPT_MAX] = {NULL};

  for (int i = 0; i < n; i++) {
    const size_t bytes = (size_t)kept[i].count * weir_dtype_size(kept[i].dtype);

    assert_ok(weir_alloc((int64_t)bytes, 1, &copy[i]));
    memcpy(copy[i], kept[i].data, bytes);
  }
  weir_exchange_close(x);
  WEIR_TRY(weir_exchange_open(policy, a, x));
  assert_int_equal(policy->keep(x->state, kept), n);
  for (int i = 0; i < n; i++) {
    memcpy(kept[i].data, copy[i], (size_t)kept[i].count * weir_dtype_size(kept[i].dtype));
    weir_free(&copy[i]);
  }
  return WEIR_OK;
}

static inline weir_status sparse_body(weir_comm *c, void *context)
{
  sparse_run *r = context;
  const int rank = weir_comm_rank(c);
  const size_t size = weir_dtype_size(r->dtype);
  const weir_grid grid = {.dims = 1, .extent = {r->ranks}};
  void *buffer = NULL;
  weir_exchange x = {.policy = NULL};
  weir_status status = weir_alloc(r->count, size, &buffer);
  const int first = r->count / 3; /* two parts */
  const weir_exchange_part parts[] = {
      {buffer, r->dtype, first, 1},
      {(char *)buffer + (size_t)first * size, r->dtype, r->count - first, 1}};
  weir_exchange_args args = {.opts = r->opts, .comm = c, .grid = &grid, .part = parts, .n = 2};

  WEIR_TRY_GOTO(weir_comm_agree(c, status), done);
  WEIR_TRY_GOTO(weir_exchange_open(r->policy, &args, &x), done);
  for (int u = 0; u < WEIR_COMM_USES; u++) {
    r->counted[rank][u] = weir_comm_counted(c, (weir_comm_use)u);
  }
  for (int step = 0; step < r->steps; step++) {
    args.step = step;
    if (step > 0 && step == r->reopens) {
      WEIR_TRY_GOTO(sparse_reopen(&x, &args), done);
    }
    WEIR_TRY_GOTO(sparse_step(r, &x, rank, step, buffer), done);
  }
  for (int u = 0; u < WEIR_COMM_USES; u++) {
    const weir_comm_count now = weir_comm_counted(c, (weir_comm_use)u);
    weir_comm_count *const was = &r->counted[rank][u];

    *was = (weir_comm_count){.sent = now.sent - was->sent,
                             .sent_bytes = now.sent_bytes - was->sent_bytes,
                             .received = now.received - was->received,
                             .received_bytes = now.received_bytes - was->received_bytes,
                             .sent_index_bytes = now.sent_index_bytes - was->sent_index_bytes,
                             .received_index_bytes =
                                 now.received_index_bytes - was->received_index_bytes};
  }
done:
  weir_exchange_close(&x);
  weir_free(&buffer);
  return status;
}

/* Runs the steps. Free what it stores with sparse_free. */
static inline void sparse_do(sparse_run *r)
{
  const weir_inproc run = {.ranks = r->ranks, .seed = r->seed};
  const int64_t n = r->stores ? (int64_t)r->steps * r->ranks * r->count : 0;

  assert_true(r->ranks <= SPARSE_RANKS && r->steps <= SPARSE_STEPS);
  assert_ok(weir_alloc(n, sizeof(double), (void **)&r->given));
  assert_ok(weir_alloc(n, sizeof(double), (void **)&r->result));
  assert_ok(weir_alloc(n, sizeof(double), (void **)&r->residual));
  assert_ok(weir_inproc_run(&run, sparse_body, r));
  for (int step = 0; step < r->steps && r->stores; step++) {
    r->equal[step] = true;
    for (int rank = 1; rank < r->ranks; rank++) {
      r->equal[step] = r->equal[step] &&
                       memcmp(sparse_at(r, r->result, step, rank), sparse_at(r, r->result, step, 0),
                              (size_t)r->count * sizeof(double)) == 0;
    }
  }
}

static inline void sparse_free(sparse_run *r)
{
  weir_free(&r->given);
  weir_free(&r->result);
  weir_free(&r->residual);
}

/* Large elements are denser at low indices, by exp(-8 i / n), and half of them in common. */
static inline double sparse_skewed(const sparse_run *r, int rank, int step, int i)
{
  const double density = exp(-8.0 * i / r->count);
  const double u = weir_random_uniform(r->seed, 1, (uint32_t)step, (uint64_t)i);
  const double v = weir_random_uniform(r->seed, 2, (uint32_t)(rank + 1000 * step), (uint64_t)i);
  const double noise = weir_random_uniform(r->seed, 3, (uint32_t)(rank + 1000 * step), (uint64_t)i);

  return (noise - 0.5) * (u < 0.2 * density || v < 0.2 * density ? 1 : 1e-3);
}

/* ---- What holds, of whole numbers ---- */

/* What the ranks have given so far is what they got back and what they keep. */
static inline bool sparse_is_conserved(const sparse_run *r)
{
  for (int i = 0; i < r->count; i++) {
    double given = 0, returned = 0;

    for (int step = 0; step < r->steps; step++) {
      double kept = 0;

      returned += sparse_at(r, r->result, step, 0)[i];
      for (int rank = 0; rank < r->ranks; rank++) {
        given += sparse_at(r, r->given, step, rank)[i];
        kept += sparse_at(r, r->residual, step, rank)[i];
      }
      if (given != returned + kept) {
        return false;
      }
    }
  }
  return true;
}

/* Elements of the residual with the gradient of a rank, before a step. */
static inline double sparse_before(const sparse_run *r, int step, int rank, int i)
{
  return sparse_at(r, r->given, step, rank)[i] +
         (step > 0 ? sparse_at(r, r->residual, step - 1, rank)[i] : 0);
}

/* Every rank keeps an element as it was, or has given it: the result is the sum of those given. */
static inline bool sparse_keeps_what_is_not_applied(const sparse_run *r)
{
  for (int step = 0; step < r->steps; step++) {
    for (int i = 0; i < r->count; i++) {
      double applied = 0;

      for (int rank = 0; rank < r->ranks; rank++) {
        const double had = sparse_before(r, step, rank, i);
        const double keeps = sparse_at(r, r->residual, step, rank)[i];

        applied += had - keeps;
        if (keeps != had && keeps != 0) {
          return false;
        }
      }
      if (applied != sparse_at(r, r->result, step, 0)[i]) {
        return false;
      }
    }
  }
  return true;
}

/* Sets all but the k largest elements to 0; of equal ones the first are kept. */
static inline void sparse_top(double *x, int n, int k)
{
  bool kept[SPARSE_SMALL];

  for (int i = 0; i < n; i++) {
    int before = 0;

    for (int j = 0; j < n; j++) {
      before += fabs(x[j]) > fabs(x[i]) || (fabs(x[j]) == fabs(x[i]) && j < i);
    }
    kept[i] = before < k;
  }
  for (int i = 0; i < n; i++) {
    x[i] = kept[i] ? x[i] : 0;
  }
}

/* Elements of the sum over the ranks of the k largest ones of each, made by this one alone. */
static inline void sparse_sum_of_top(const sparse_run *r, int step, int k, double *sum)
{
  double own[SPARSE_SMALL];

  memset(sum, 0, (size_t)r->count * sizeof *sum);
  for (int rank = 0; rank < r->ranks; rank++) {
    for (int i = 0; i < r->count; i++) {
      own[i] = sparse_before(r, step, rank, i);
    }
    sparse_top(own, r->count, k);
    for (int i = 0; i < r->count; i++) {
      sum[i] += own[i];
    }
  }
}

/* ---- Tests of every such policy ---- */

/* Whole numbers up to 10^6, most of them small, so that some are equal; of every third step few
 * elements are not 0. */
static inline double sparse_whole(const sparse_run *r, int rank, int step, int i)
{
  const double u =
      2 * weir_random_uniform(r->seed, 1, (uint32_t)(rank + 100 * step), (uint64_t)i) - 1;
  const double v = weir_random_uniform(r->seed, 2, (uint32_t)(rank + 100 * step), (uint64_t)i);

  return step % 3 == 2 && v > 0.05 ? 0 : trunc(100 * u * u * u * (v < 0.1 ? 1e4 : 1));
}

static inline double sparse_nan(const sparse_run *r, int rank, int step, int i)
{
  return rank == r->ranks - 1 && step == 1 && i == 7 ? NAN : sparse_whole(r, rank, step, i);
}

static inline sparse_run sparse_small(const weir_exchange_desc *policy, const void *opts,
                                      weir_dtype dtype, int ranks)
{
  return (sparse_run){.policy = policy,
                      .opts = opts,
                      .dtype = dtype,
                      .ranks = ranks,
                      .steps = 24,
                      .count = SPARSE_SMALL - ranks,
                      .seed = (uint64_t)ranks,
                      .gradient = sparse_whole,
                      .stores = true};
}

static inline void assert_sparse_equal_replicas(const sparse_run *r)
{
  for (int step = 0; step < r->steps; step++) {
    assert_true(r->equal[step]);
  }
}

/* No gradient is lost or counted twice, of any dtype and number of ranks; and the check finds what
 * is. */
static inline void assert_sparse_conserved(const weir_exchange_desc *policy, const void *opts)
{
  static const weir_dtype dtypes[] = {WEIR_I64, WEIR_F64, WEIR_F32};
  static sparse_run r;

  for (int ranks = 1; ranks <= SPARSE_RANKS; ranks++) {
    r = sparse_small(policy, opts, dtypes[ranks % 3], ranks);
    sparse_do(&r);
    assert_sparse_equal_replicas(&r);
    assert_true(sparse_is_conserved(&r));
    int kept = 0;

    for (int i = 0; i < r.count; i++) { /* something is left over, else there is nothing to lose */
      double *const one = &sparse_at(&r, r.residual, r.steps - 2, 0)[i];
      const double was = *one;

      if (was != 0) {
        kept++;
        *one = 0; /* a residual that is dropped */
        assert_false(sparse_is_conserved(&r));
        *one = sparse_at(&r, r.given, r.steps - 2, 0)[i]; /* overwritten, not added to */
        assert_true(*one == was || !sparse_is_conserved(&r));
        *one = was;
      }
    }
    assert_true(kept > 0);
    sparse_free(&r);
  }
}

/* Where all elements are given, the result is the sum and nothing of it is kept; `full`: options
 * with a density of 1, or dense steps alone. */
static inline void assert_sparse_dense(const weir_exchange_desc *policy, const void *full)
{
  static sparse_run r;

  for (int ranks = 1; ranks <= SPARSE_RANKS; ranks++) {
    r = sparse_small(policy, full, WEIR_I64, ranks);
    sparse_do(&r);
    assert_sparse_equal_replicas(&r);
    for (int step = 0; step < r.steps; step++) {
      for (int i = 0; i < r.count; i++) {
        double sum = 0, kept = 0;

        for (int rank = 0; rank < ranks; rank++) {
          sum += sparse_at(&r, r.given, step, rank)[i];
          kept += sparse_at(&r, r.residual, step, rank)[i];
        }
        assert_true(sparse_at(&r, r.result, step, 0)[i] == sum);
        assert_true(kept == 0); /* a rank may keep what others cancel */
      }
    }
    sparse_free(&r);
  }
}

/* A run that is resumed with what the policy keeps is one that was not stopped, to the bit. */
static inline void assert_sparse_resumed(const weir_exchange_desc *policy, const void *opts)
{
  static sparse_run whole, halves;

  for (int ranks = 1; ranks <= SPARSE_RANKS; ranks += 2) {
    whole = sparse_small(policy, opts, WEIR_F32, ranks);
    halves = whole;
    halves.reopens = 11;
    sparse_do(&whole);
    sparse_do(&halves);
    const size_t bytes = (size_t)(whole.steps * ranks * whole.count) * sizeof(double);

    assert_memory_equal(halves.result, whole.result, bytes);
    assert_memory_equal(halves.residual, whole.residual, bytes);
    sparse_free(&whole);
    sparse_free(&halves);
  }
}

/* A NaN is larger than any number: it is in the result of its step, where the training finds it. */
static inline void assert_sparse_nan(const weir_exchange_desc *policy, const void *opts)
{
  static sparse_run r;

  for (int ranks = 1; ranks <= SPARSE_RANKS; ranks += 3) {
    r = sparse_small(policy, opts, WEIR_F32, ranks);
    r.gradient = sparse_nan;
    r.steps = 2;
    sparse_do(&r);
    for (int rank = 0; rank < ranks; rank++) {
      assert_true(isnan(sparse_at(&r, r.result, 1, rank)[7]));
      assert_true(!isnan(sparse_at(&r, r.result, 0, rank)[7]));
    }
    sparse_free(&r);
  }
}

#endif
