/* compressed_check.h - steps of replicas that are ranks on threads and exchange gradients by a
 * policy that leaves something out of each sum: what was given, returned and kept. Tests only. */
#ifndef WEIR_COMPRESSED_CHECK_H
#define WEIR_COMPRESSED_CHECK_H
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "comm/weir_inproc.h"
#include "optim/weir_exchange.h"

enum { COMPRESSED_RANKS = 8, COMPRESSED_COUNT = 512, COMPRESSED_STEPS = 400 };

/* A run. Numbers are f64 here, and of `dtype` in the exchange. */
typedef struct compressed {
  const weir_exchange_desc *policy;
  const void *opts;
  weir_dtype dtype;
  int ranks, steps;
  int64_t count;
  const weir_exchange_matrix *matrix; /* [n_matrices] */
  int64_t n_matrices;
  uint64_t seed;
  uint64_t turns;                  /* another order in which ranks run, of the same numbers */
  weir_inproc_script *script;      /* of turns, or NULL */
  int script_step;                 /* in which it begins, once a rank is there */
  const weir_inproc_fault *faults; /* [n_faults] of messages */
  int n_faults;
  double rate; /* w <- w - rate * returned, on every rank; unless */
  void (*update)(const struct compressed *r, int rank, int step, const double *returned, double *w);
  int resumed; /* after so many steps the policy is closed, and goes on from what it kept; 0: not */
  const double *start; /* [count] first weights; NULL: 0 */
  /* Fills the summand of a rank, [count], at weights w. */
  void (*gradient)(const struct compressed *r, int rank, int step, const double *w, double *out);
  /* What ranks report. */
  double given[COMPRESSED_RANKS][COMPRESSED_COUNT];    /* sum over steps */
  double returned[COMPRESSED_RANKS][COMPRESSED_COUNT]; /* likewise */
  double kept[COMPRESSED_RANKS][COMPRESSED_COUNT];     /* sum of all summands at the end */
  double weights[COMPRESSED_RANKS][COMPRESSED_COUNT];
  double last[COMPRESSED_RANKS][COMPRESSED_COUNT]; /* returned in the last step */
  int64_t unequal; /* steps in which a rank returned another gradient than rank 0 */
  weir_comm_count sent[COMPRESSED_RANKS][WEIR_COMM_USES]; /* in the steps */
} compressed;

static inline void compressed_load(weir_dtype dtype, const void *from, int64_t n, double *to)
{
  for (int64_t i = 0; i < n; i++) {
    to[i] = weir_dtype_load_real(dtype, from, i);
  }
}

/* Compares a step's result with that of rank 0, bit for bit. Collective. */
static inline weir_status compressed_compare(compressed *r, weir_comm *c, const void *buffer)
{
  const int64_t bytes = r->count * (int64_t)weir_dtype_size(r->dtype);
  void *all = NULL;
  int64_t total = 0;

  WEIR_TRY(weir_comm_gather(c, buffer, bytes, &all, &total));
  for (int q = 1; all != NULL && q < r->ranks; q++) {
    r->unequal += memcmp(all, (const char *)all + q * bytes, (size_t)bytes) != 0;
  }
  weir_free(&all);
  return WEIR_OK;
}

/* One rank's run. */
typedef struct compressed_rank {
  compressed *r;
  weir_comm *c;
  weir_exchange x;
  double buffer[COMPRESSED_COUNT]; /* of dtype */
} compressed_rank;

static inline weir_status compressed_open(compressed_rank *s, int64_t step)
{
  compressed *const r = s->r;
  const weir_grid grid = {.dims = 1, .extent = {r->ranks}};
  const int64_t first = r->count / 3;
  const weir_exchange_part parts[2] = {
      {s->buffer, r->dtype, first, 1},
      {(char *)s->buffer + (size_t)first * weir_dtype_size(r->dtype), r->dtype, r->count - first,
       1}};

  return weir_exchange_open(r->policy,
                            &(weir_exchange_args){.opts = r->opts,
                                                  .comm = s->c,
                                                  .grid = &grid,
                                                  .part = parts,
                                                  .n = 2,
                                                  .matrix = r->matrix,
                                                  .n_matrices = r->n_matrices,
                                                  .step = step},
                            &s->x);
}

/* Closes the policy, and opens it again with what it kept. */
static inline weir_status compressed_resume(compressed_rank *s, int64_t step)
{
  weir_exchange_kept kept[WEIR_EXCHANGE_KEPT_MAX], again[WEIR_EXCHANGE_KEPT_MAX];
  void *copy[WEIR_EXCHANGE_KEPT_MAX] = {NULL};
  const int n = s->r->policy->keep(s->x.state, kept);

  for (int i = 0; i < n; i++) {
    const int64_t bytes = kept[i].count * (int64_t)weir_dtype_size(kept[i].dtype);

    WEIR_TRY(weir_alloc(bytes, 1, &copy[i]));
    memcpy(copy[i], kept[i].data, (size_t)bytes);
  }
  weir_exchange_close(&s->x);
  WEIR_TRY(compressed_open(s, step));
  assert_int_equal(s->r->policy->keep(s->x.state, again), n);
  for (int i = 0; i < n; i++) {
    assert_string_equal(again[i].name, kept[i].name);
    assert_int_equal(again[i].count, kept[i].count);
    memcpy(again[i].data, copy[i], (size_t)kept[i].count * weir_dtype_size(kept[i].dtype));
    weir_free(&copy[i]);
  }
  return WEIR_OK;
}

static inline weir_status compressed_step(compressed_rank *s, int step)
{
  compressed *const r = s->r;
  const int rank = weir_comm_rank(s->c);
  double g[COMPRESSED_COUNT], back[COMPRESSED_COUNT];
  weir_comm_count before[WEIR_COMM_USES];

  r->gradient(r, rank, step, r->weights[rank], g);
  for (int64_t i = 0; i < r->count; i++) {
    weir_dtype_store_real(r->dtype, s->buffer, i, g[i]);
  }
  compressed_load(r->dtype, s->buffer, r->count, g);
  for (int u = 0; u < WEIR_COMM_USES; u++) {
    before[u] = weir_comm_counted(s->c, (weir_comm_use)u);
  }
  WEIR_TRY(weir_exchange_run(&s->x));
  for (int u = 0; u < WEIR_COMM_USES; u++) {
    const weir_comm_count after = weir_comm_counted(s->c, (weir_comm_use)u);

    r->sent[rank][u].sent += after.sent - before[u].sent;
    r->sent[rank][u].sent_bytes += after.sent_bytes - before[u].sent_bytes;
  }
  compressed_load(r->dtype, s->buffer, r->count, back);
  for (int64_t i = 0; i < r->count; i++) {
    r->given[rank][i] += g[i];
    r->returned[rank][i] += back[i];
    r->weights[rank][i] -= r->update == NULL ? r->rate * back[i] : 0;
    r->last[rank][i] = back[i];
  }
  if (r->update != NULL) {
    r->update(r, rank, step, back, r->weights[rank]);
  }
  return compressed_compare(r, s->c, s->buffer);
}

static inline weir_status compressed_body(weir_comm *c, void *context)
{
  compressed *const r = context;
  const int rank = weir_comm_rank(c);
  compressed_rank s = {.r = r, .c = c};
  weir_exchange_kept kept[WEIR_EXCHANGE_KEPT_MAX];
  double part[COMPRESSED_COUNT];
  weir_comm_cfg cfg;
  weir_status status = WEIR_OK;

  weir_opts_default(weir_comm_opts, sizeof cfg, &cfg);
  cfg.stall = WEIR_STALL_IGNORE; /* seconds are simulated */
  weir_comm_configure(c, &cfg);
  WEIR_TRY(compressed_open(&s, 0));
  for (int64_t i = 0; r->start != NULL && i < r->count; i++) {
    r->weights[rank][i] = r->start[i];
  }
  for (int step = 0; step < r->steps; step++) {
    if (r->script != NULL && step == r->script_step) {
      r->script->begins = true;
    }
    if (r->resumed > 0 && step == r->resumed) {
      WEIR_TRY_GOTO(compressed_resume(&s, step), done);
    }
    WEIR_TRY_GOTO(compressed_step(&s, step), done);
  }
  const int n = r->policy->keep(s.x.state, kept);

  for (int k = 0; k < n; k++) {
    if (kept[k].kind == WEIR_KEPT_SUMMAND) {
      assert_int_equal(kept[k].count, r->count);
      compressed_load(kept[k].dtype, kept[k].data, r->count, part);
      for (int64_t i = 0; i < r->count; i++) {
        r->kept[rank][i] += part[i];
      }
    }
  }
done:
  weir_exchange_close(&s.x);
  return status;
}

static inline weir_status compressed_try(compressed *r)
{
  const weir_inproc run = {.ranks = r->ranks,
                           .seed = r->seed + r->turns,
                           .faults = r->faults,
                           .n_faults = r->n_faults,
                           .script = r->script};

  assert_true(r->ranks <= COMPRESSED_RANKS && r->count <= COMPRESSED_COUNT);
  return weir_inproc_run(&run, compressed_body, r);
}

static inline void compressed_run(compressed *r)
{
  assert_ok(compressed_try(r));
}

/* ---- Half of the squared distance from a target of each rank, in units from 1 to 10 ---- */

static inline double compressed_target(const compressed *r, int rank, int64_t i)
{
  return weir_random_normal(r->seed, 60, (uint32_t)rank, (uint64_t)i);
}

static inline void compressed_quadratic(const compressed *r, int rank, int step, const double *w,
                                        double *out)
{
  (void)step;
  for (int64_t i = 0; i < r->count; i++) {
    const double unit = 1 + 9 * weir_random_uniform(r->seed, 50, 0, (uint64_t)i);

    out[i] = unit * (w[i] - compressed_target(r, rank, i)) / r->ranks;
  }
}

/* Distance of rank 0 from the minimum of all; each rank alone has another one. */
static inline double compressed_distance(const compressed *r)
{
  double sum = 0;

  for (int64_t i = 0; i < r->count; i++) {
    double mean = 0;

    for (int q = 0; q < r->ranks; q++) {
      mean += compressed_target(r, q, i) / r->ranks;
    }
    sum += (r->weights[0][i] - mean) * (r->weights[0][i] - mean);
  }
  return sqrt(sum);
}

/* ---- What was given ---- */

static inline void compressed_random(const compressed *r, int rank, int step, const double *w,
                                     double *out)
{
  (void)w;
  for (int64_t i = 0; i < r->count; i++) {
    out[i] = weir_random_normal(r->seed, (uint32_t)rank, (uint32_t)step, (uint64_t)i);
  }
}

/* That what was given is what was returned and kept, within this share of the largest number, and
 * that ranks returned the same in every step. */
static inline void assert_conserved(const compressed *r, double within)
{
  double most = 0, worst = 0;

  for (int64_t i = 0; i < r->count; i++) {
    double given = 0, kept = 0;

    for (int q = 0; q < r->ranks; q++) {
      given += r->given[q][i];
      kept += r->kept[q][i];
    }
    most = fmax(most, fmax(fabs(given), fabs(kept)));
    worst = fmax(worst, fabs(given - r->returned[0][i] - kept));
  }
  assert_true(worst <= within * most);
  assert_int_equal(r->unequal, 0);
}

#endif
