/* profile_grid.c - what groups take: steps on a grid with all its ranks at work, each
 * group's time with its digest. In the plan and not alone, so that caches and
 * the load of other ranks are those of a run. */
#include "place/profile_grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_sort.h"
#include "comm/weir_request.h"
#include "device/weir_parallel.h"
#include "train/weir_train_step.h"

enum { FEWEST = 5, MAX = 25 };
/* Seconds that are spent on one plan, beyond the fewest runs. */
static const double long_enough = 0.5;

/* ---- Times of all ranks ---- */

static weir_status allgather(weir_comm *comm, size_t size, void *data, const int64_t *counts)
{
  weir_request *request = NULL;

  WEIR_TRY(weir_allgather_create(comm, "group timings", size, data, counts, &request));
  WEIR_TRY(weir_request_run_once(&request));
  return WEIR_OK;
}

static int longest_first(const void *a, const void *b)
{
  const double x = ((const weir_group_time *)a)->seconds, y = ((const weir_group_time *)b)->seconds;

  return (x < y) - (x > y);
}

/* counts: [ranks] of rows, of which this rank has its own. */
static weir_status add_gathered(weir_comm *comm, const weir_profile *own, const int64_t *counts,
                                weir_profile *t)
{
  const int ranks = weir_comm_size(comm), rank = weir_comm_rank(comm);
  int64_t before = 0, total = 0;
  void *memory = NULL;
  weir_status status;

  for (int q = 0; q < ranks; q++) {
    before += q < rank ? counts[q] : 0;
    total += counts[q];
  }
  if (total == 0) {
    return WEIR_OK;
  }
  status = weir_alloc(total, sizeof *own->row, &memory);
  WEIR_TRY_GOTO(weir_comm_agree(comm, status), done);
  weir_group_time *row = memory;

  if (own->n > 0) {
    memcpy(row + before, own->row, (size_t)own->n * sizeof *row);
  }
  WEIR_TRY_GOTO(allgather(comm, sizeof *row, row, counts), done);
  qsort(row, (size_t)total, sizeof *row, longest_first);
  for (int64_t i = 0; i < total && status == WEIR_OK; i++) {
    status = weir_profile_add(t, row[i].key, row[i].seconds);
  }
  WEIR_TRY_GOTO(weir_comm_agree(comm, status), done);
done:
  weir_free(&memory);
  return status;
}

/* Adds what any rank has; of one key the longest time. Collective. */
static weir_status add_all(weir_comm *comm, const weir_profile *own, weir_profile *t)
{
  const int ranks = comm != NULL ? weir_comm_size(comm) : 1;
  void *memory = NULL;
  weir_status status;

  if (ranks == 1) {
    for (int64_t i = 0; i < own->n; i++) {
      WEIR_TRY(weir_profile_add(t, own->row[i].key, own->row[i].seconds));
    }
    return WEIR_OK;
  }
  status = weir_alloc(2 * (int64_t)ranks, sizeof(int64_t), &memory);
  WEIR_TRY_GOTO(weir_comm_agree(comm, status), done);
  int64_t *const counts = memory, *const one = counts + ranks;

  for (int q = 0; q < ranks; q++) {
    one[q] = 1;
  }
  counts[weir_comm_rank(comm)] = own->n;
  WEIR_TRY_GOTO(allgather(comm, sizeof *counts, counts, one), done);
  WEIR_TRY_GOTO(add_gathered(comm, own, counts, t), done);
done:
  weir_free(&memory);
  return status;
}

weir_status place_read_times(weir_comm *comm, const weir_plan_opts *exec, int ranks,
                             const char *path, weir_profile *t)
{
  const int threads = exec->threads > 0 ? exec->threads : weir_threads_get();
  weir_profile file = {.n = 0};
  weir_status status = WEIR_OK;

  (void)snprintf(t->setting, sizeof t->setting, "%d ranks of %d threads, tier %d, %s", ranks,
                 threads, exec->exec->tier, weir_cpu_get()->model);
  if (comm == NULL || weir_comm_rank(comm) == 0) {
    status = weir_profile_read(&file, path);
  }
  WEIR_TRY_GOTO(comm != NULL ? weir_comm_agree(comm, status) : status, done);
  WEIR_TRY_GOTO(add_all(comm, &file, t), done);
done:
  weir_profile_fini(&file);
  return status;
}

weir_status place_write_times(weir_comm *comm, const char *path, const weir_profile *t)
{
  const bool leads = comm == NULL || weir_comm_rank(comm) == 0;
  const weir_status status = leads ? weir_profile_write(t, path) : WEIR_OK;

  WEIR_TRY(comm != NULL ? weir_comm_agree(comm, status) : status);
  return WEIR_OK;
}

/* ---- Steps ---- */

/* Times of the groups of a plan, run by run. */
typedef struct laps {
  weir_plan *plan;
  int32_t groups;
  int64_t runs;
  double *total; /* [groups] of all runs so far */
  double *taken; /* [groups, MAX] of each run  */
} laps;

static void take(laps *l)
{
  for (int32_t i = 0; i < l->groups; i++) {
    const weir_group_report r = weir_plan_group(l->plan, i);
    const double total = (r.measured_s - r.waited_s) * (double)r.calls;

    l->taken[i * MAX + l->runs] = total - l->total[i];
    l->total[i] = total;
  }
}

/* The median of each group's runs; of groups that are alike their mean. */
static weir_status add_groups(laps *l, weir_profile *t)
{
  double *const median = l->total;

  for (int32_t i = 0; i < l->groups; i++) {
    qsort(l->taken + i * MAX, (size_t)l->runs, sizeof *l->taken, weir_compare_f64);
    median[i] = l->taken[i * MAX + l->runs / 2];
  }
  for (int32_t i = 0; i < l->groups; i++) {
    const char *digest = weir_plan_group(l->plan, i).digest;
    double sum = 0, alike = 0;

    for (int32_t k = 0; k < l->groups && digest[0] != 0; k++) {
      const bool same = strcmp(weir_plan_group(l->plan, k).digest, digest) == 0;

      sum += same ? median[k] : 0;
      alike += same;
    }
    if (alike > 0) {
      WEIR_TRY(weir_profile_add(t, weir_profile_key(t, digest), sum / alike));
    }
  }
  return WEIR_OK;
}

/* The longest of all ranks. */
static weir_status find_slowest(weir_comm *comm, double *seconds)
{
  weir_request *request = NULL;

  if (comm == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_allreduce_create(comm, "seconds of a plan",
                                 weir_reducer_of(WEIR_REDUCE_MAX, WEIR_F64), seconds, 1, &request));
  WEIR_TRY(weir_request_run_once(&request));
  return WEIR_OK;
}

static weir_status run_laps(weir_train_step *s, int i, weir_comm *comm, laps *l)
{
  int64_t runs = FEWEST;

  for (int64_t k = -2; k < runs; k++) { /* the first touches memory */
    double seconds = 0;

    WEIR_TRY(weir_train_step_run(s, i, &seconds));
    l->runs = k > 0 ? k : 0;
    take(l);
    if (k == -1) {
      WEIR_TRY(find_slowest(comm, &seconds));
      const double fit = long_enough / seconds;

      runs = fit > MAX ? MAX : fit > FEWEST ? (int64_t)fit : FEWEST;
    }
  }
  l->runs = runs;
  return WEIR_OK;
}

static weir_status agree(weir_comm *comm, weir_status status)
{
  return comm != NULL ? weir_comm_agree(comm, status) : status;
}

/* Plan number i of the step. */
static weir_status time_plan(weir_train_step *s, int i, weir_plan *plan, weir_comm *comm,
                             weir_profile *t)
{
  laps l = {.plan = plan, .groups = weir_plan_groups(plan)};
  weir_profile own = {.n = 0};
  weir_status status;

  memcpy(own.setting, t->setting, sizeof own.setting);
  status = weir_alloc(l.groups, sizeof *l.total, (void **)&l.total);
  status = status == WEIR_OK
               ? weir_alloc((int64_t)l.groups * MAX, sizeof *l.taken, (void **)&l.taken)
               : status;
  WEIR_TRY_GOTO(agree(comm, status), done);
  WEIR_TRY_GOTO(run_laps(s, i, comm, &l), done);
  WEIR_TRY_GOTO(agree(comm, add_groups(&l, &own)), done);
  WEIR_TRY_GOTO(add_all(comm, &own, t), done);
done:
  weir_profile_fini(&own);
  weir_free(&l.total);
  weir_free(&l.taken);
  return status;
}

static weir_status time_step(weir_train_step *s, weir_comm *comm, weir_profile *t)
{
  weir_plan *plan = NULL;

  WEIR_TRY(weir_train_step_plan(s, 0, &plan));
  for (int i = 0; plan != NULL;) {
    WEIR_TRY(time_plan(s, i, plan, comm, t));
    WEIR_TRY(weir_train_step_plan(s, ++i, &plan));
  }
  return WEIR_OK;
}

weir_status place_profile_grid(const weir_train_task *task, const weir_train_cfg *cfg,
                               const weir_plan_opts *exec, weir_comm *comm, const weir_grid *grid,
                               weir_profile *t)
{
  weir_comm *const ranks = comm != NULL && weir_comm_size(comm) > 1 ? comm : NULL;
  const weir_dist on = {.comm = ranks, .grid = *grid};
  weir_exec_cfg timed = *exec->exec;
  const weir_plan_opts opts = {.exec = &timed,
                               .threads = exec->threads,
                               .terse = true,
                               .unreported = true,
                               .dist = ranks != NULL ? &on : NULL};
  weir_train_step *step = NULL;

  timed.explain = true;
  timed.predict = "";
  timed.memory = 0;
  timed.verify = 0;
  WEIR_TRY(weir_train_step_create(task, cfg, &opts, &step));
  const weir_status status = time_step(step, ranks, t);

  weir_train_step_destroy(&step);
  return status;
}
