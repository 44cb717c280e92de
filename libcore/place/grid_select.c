/* grid_select.c - see weir_grid_select.h: candidates, those that are timed, the choice. */
#include "place/weir_grid_select.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "place/grid_print.h"
#include "place/grid_search.h"
#include "place/grid_share.h"
#include "place/profile_grid.h"

/* ---- Candidates ---- */

/* Maximum number of ranks along each dimension: samples of a batch, elements of the inputs along
 * it. */
static void find_limits(const weir_train_task *task, int64_t batch,
                        int64_t max_extent[WEIR_ALONG_DIMS])
{
  for (int d = 0; d < WEIR_ALONG_DIMS; d++) {
    max_extent[d] = d == WEIR_ALONG_SAMPLES ? batch : 0;
  }
  for (int i = 0; i < task->n_inputs; i++) {
    for (int d = 0; d < task->input[i].rank; d++) {
      const int along = (int)task->input[i].along[d];
      const int64_t extent = task->input[i].shape[d];

      if (along > WEIR_ALONG_SAMPLES && along < WEIR_ALONG_DIMS &&
          (max_extent[along] == 0 || extent < max_extent[along])) {
        max_extent[along] = extent;
      }
    }
  }
  for (int d = 0; d < WEIR_ALONG_DIMS; d++) {
    max_extent[d] = max_extent[d] > 0 ? max_extent[d] : 1;
  }
}

/* Appends all grids of `ranks` ranks over the dimensions from d on, in descending number of ranks
 * along the first of them. */
static weir_status list_grids(const int64_t max_extent[WEIR_ALONG_DIMS], weir_grid *grid, int d,
                              int ranks, int64_t *capacity, weir_grid_choice *out)
{
  if (d == WEIR_ALONG_DIMS) {
    if (ranks == 1) {
      WEIR_TRY(weir_reserve(&out->row, capacity, out->n + 1, sizeof *out->row));
      out->row[out->n++] = (weir_grid_candidate){.grid = *grid};
    }
    return WEIR_OK;
  }
  for (int k = ranks; k >= 1; k--) {
    if (ranks % k == 0 && k <= max_extent[d]) {
      grid->extent[d] = k;
      WEIR_TRY(list_grids(max_extent, grid, d + 1, ranks / k, capacity, out));
    }
  }
  return WEIR_OK;
}

/* ---- Predictions ---- */

static weir_status predict_all(const place_model *m, weir_comm *comm, weir_grid_choice *out)
{
  const int64_t size = comm != NULL ? weir_comm_size(comm) : 1;
  const int64_t own = comm != NULL ? weir_comm_rank(comm) : 0;

  for (int64_t i = 0; i < out->n; i++) {
    out->row[i] = (weir_grid_candidate){.grid = out->row[i].grid};
  }
  double best_s = INFINITY;

  for (int64_t i = own; i < out->n; i += size) {
    const weir_grid_candidate *row = &out->row[i];

    WEIR_TRY(place_evaluate(m, best_s, &out->row[i]));
    best_s = row->fits && row->cost.seconds < best_s ? row->cost.seconds : best_s;
    if (own == 0) {
      weir_progress("grids", i + 1, out->n, "compared");
    }
  }
  return WEIR_OK;
}

/* Predictions of this rank: every size-th row. */
static weir_status predict_own(const weir_train_task *task, const weir_train_cfg *cfg,
                               const weir_plan_opts *exec, const weir_machine *machine,
                               weir_comm *comm, weir_grid_choice *out)
{
  const weir_plan_opts alone = {.exec = exec->exec, .threads = exec->threads};
  place_model m = {
      .machine = machine, .passes = weir_exec_passes(exec->exec), .memory = exec->exec->memory};
  weir_train_step *step = NULL;

  WEIR_TRY(weir_train_step_create(task, cfg, &alone, &step));
  m.step = step;
  const weir_status status = predict_all(&m, comm, out);

  weir_train_step_destroy(&step);
  return status;
}

/* Predictions of all rows on all ranks. Collective. */
static weir_status predict_together(const weir_train_task *task, const weir_train_cfg *cfg,
                                    const weir_plan_opts *exec, const weir_machine *machine,
                                    weir_comm *comm, weir_grid_choice *out)
{
  const weir_status status = predict_own(task, cfg, exec, machine, comm, out);

  if (comm != NULL && weir_comm_size(comm) > 1) {
    WEIR_TRY(weir_comm_agree(comm, status));
    WEIR_TRY(place_share_rows(comm, out));
  }
  WEIR_TRY(status);
  return WEIR_OK;
}

/* ---- Measured times ---- */

/* Fails where a signal has come. */
static weir_status go_on(weir_comm *comm)
{
  weir_status status = WEIR_OK;

  if (weir_stop_requested()) {
    status = weir_fail(
        WEIR_ERR_STOPPED,
        "stopped by signal %d during the timing of grids; the timings so far are in the profile",
        weir_stop_signal());
  }
  return comm != NULL ? weir_comm_agree(comm, status) : status;
}

/* Steps on the grids that fit and have groups which the table lacks; what is known is kept before
 * each. Collective. */
static weir_status try_untimed(const weir_train_task *task, const weir_train_cfg *cfg,
                               const weir_plan_opts *exec, weir_comm *comm,
                               const weir_grid_choice *p, const char *table, weir_profile *times)
{
  weir_train_task ended = *task;
  char text[64];

  for (int64_t i = 0; i < p->n; i++) {
    memcpy(ended.replicate_below, p->row[i].replicate_below, sizeof ended.replicate_below);
    if (p->row[i].fits && p->row[i].cost.untimed > 0) {
      WEIR_TRY(place_write_times(comm, table, times));
      WEIR_TRY(go_on(comm));
      place_print_grid(&p->row[i].grid, text, sizeof text);
      weir_info("grid", "timing steps on grid %s", text);
      WEIR_TRY(place_profile_grid(&ended, cfg, exec, comm, &p->row[i].grid, times));
    }
  }
  return WEIR_OK;
}

/* What the table lacks of grids that the ranks of comm can be is measured, and all are predicted
 * with it. Collective. */
static weir_status predict_timed(const weir_train_task *task, const weir_train_cfg *cfg,
                                 const weir_plan_opts *exec, const weir_machine *machine,
                                 weir_comm *comm, int ranks, weir_grid_choice *out)
{
  const bool here = ranks == (comm != NULL ? weir_comm_size(comm) : 1);
  weir_machine m = *machine;
  weir_profile times = {.n = 0};
  weir_status status;

  m.times = &times;
  WEIR_TRY_GOTO(place_read_times(comm, exec, ranks, m.profile, &times), done);
  WEIR_TRY_GOTO(predict_together(task, cfg, exec, &m, comm, out), done);
  const int64_t before = times.n;

  for (int64_t known = -1; here && known < times.n;) { /* known times may change the thresholds */
    known = times.n;
    WEIR_TRY_GOTO(try_untimed(task, cfg, exec, comm, out, m.profile, &times), done);
    if (times.n > known) {
      WEIR_TRY_GOTO(predict_together(task, cfg, exec, &m, comm, out), done);
    }
  }
  if (times.n > before) {
    WEIR_TRY_GOTO(place_write_times(comm, m.profile, &times), done);
  }
done:
  weir_profile_fini(&times);
  return status;
}

/* ---- The choice ---- */

static weir_status choose(weir_grid_choice *p, int ranks, int64_t memory)
{
  const weir_grid_candidate *smallest = NULL;
  char text[64];

  p->best = -1;
  for (int64_t i = 0; i < p->n; i++) {
    const weir_grid_candidate *row = &p->row[i];

    if (row->fits && (p->best < 0 || row->cost.seconds < p->row[p->best].cost.seconds)) {
      p->best = i;
    }
    if (!row->refused && (smallest == NULL || row->cost.arena < smallest->cost.arena)) {
      smallest = row;
    }
  }
  if (p->best >= 0) {
    return WEIR_OK;
  }
  if (smallest == NULL) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "grid: %d ranks cannot share this batch: they exceed the samples times the "
                     "splits of a sample, or the network cannot be sharded: use fewer ranks",
                     ranks);
  }
  place_print_grid(&smallest->grid, text, sizeof text);
  return weir_fail(WEIR_ERR_MEMORY,
                   "grid: no grid of %d ranks keeps a step within exec.memory, %" PRId64
                   " bytes; %s needs the least memory, %" PRId64
                   " per rank: use more ranks, a smaller train.batch or more memory, or set the "
                   "grid, so that its plan may use micro-batches",
                   ranks, memory, text, smallest->cost.arena);
}

/* Ranks that train apart have whole samples: one grid, of which nothing is timed. */
static weir_status limit_replicas(const weir_train_cfg *cfg, int64_t max_extent[WEIR_ALONG_DIMS],
                                  bool *apart)
{
  const weir_exchange_desc *policy = NULL;

  WEIR_TRY(weir_optim_exchange(&cfg->optim, &policy));
  *apart = policy->invariant != WEIR_REPLICAS_EQUAL;
  for (int d = WEIR_ALONG_DEPTH; d < WEIR_ALONG_DIMS && *apart; d++) {
    max_extent[d] = 1;
  }
  return WEIR_OK;
}

weir_status weir_grid_select(const weir_train_task *task, const weir_train_cfg *cfg,
                             const weir_plan_opts *exec, const weir_machine *machine,
                             weir_comm *comm, int ranks, weir_grid_choice *out)
{
  weir_grid grid = {.dims = WEIR_ALONG_DIMS};
  int64_t max_extent[WEIR_ALONG_DIMS], capacity = 0;
  bool apart = false;
  weir_status status;

  *out = (weir_grid_choice){.n = 0};
  find_limits(task, cfg->batch, max_extent);
  WEIR_TRY_GOTO(limit_replicas(cfg, max_extent, &apart), failed);
  WEIR_TRY_GOTO(list_grids(max_extent, &grid, 0, ranks, &capacity, out), failed);
  if (machine->profile != NULL && machine->profile[0] != 0 && !apart) {
    WEIR_TRY_GOTO(predict_timed(task, cfg, exec, machine, comm, ranks, out), failed);
  } else {
    WEIR_TRY_GOTO(predict_together(task, cfg, exec, machine, comm, out), failed);
  }
  WEIR_TRY_GOTO(choose(out, ranks, exec->exec->memory), failed);
  return WEIR_OK;
failed:
  weir_grid_choice_fini(out);
  return status;
}

void weir_grid_choice_fini(weir_grid_choice *p)
{
  weir_free(&p->row);
  p->n = 0;
}
