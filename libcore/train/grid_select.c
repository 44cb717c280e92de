/* grid_select.c - see weir_grid_select.h: candidates, their cost, the choice. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "train/train_priv.h"
#include "train/weir_grid_select.h"

enum { NUMBERS = 12 + WEIR_ALONG_DIMS }; /* of a row that ranks tell one another */

/* Better replication thresholds have never saved half of a step. */
#define HOPELESS 2.0

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

/* ---- Their cost ---- */

static void add_cost(weir_cost *sum, const weir_cost *one, double times)
{
  sum->seconds += times * one->seconds;
  sum->compute_s += times * one->compute_s;
  sum->waited_s += times * one->waited_s;
  sum->flops += times * one->flops;
  sum->halo_bytes += (int64_t)times * one->halo_bytes;
  sum->sum_bytes += (int64_t)times * one->sum_bytes;
  sum->messages += (int64_t)times * one->messages;
  sum->arena = one->arena > sum->arena ? one->arena : sum->arena;
  sum->untimed += one->untimed;
  sum->slowest = one->seconds * times >= sum->seconds / 2 ? one->slowest : sum->slowest;
}

/* Context of a prediction. */
typedef struct selection {
  train_run *r;
  const weir_machine *machine;
  weir_pass_opts passes;
} selection;

weir_status train_shard_graph(const train_ranks *k, const train_graph *t, train_kind kind,
                              int64_t batch, const weir_pass_opts *passes, weir_graph **g,
                              weir_partition **p)
{
  train_graph of = *t;
  train_sharding sharding = {.shard = NULL};
  weir_status status;

  of.shards = k->shards.n > 0 ? &k->shards : NULL;
  WEIR_TRY(train_build(&of, kind, batch, g));
  WEIR_TRY(train_sharding_of(k, t->task, *g, batch, &sharding)); /* as for plans, before passes */
  WEIR_TRY_GOTO(weir_pass_run(*g, "simplify", passes), done);
  WEIR_TRY_GOTO(weir_pass_run(*g, "pool_sparsity", passes), done);
  status =
      weir_partition_create(*g, &sharding.dist.grid, sharding.shard, sharding.dist.n_shards, p);
done:
  train_sharding_close(&sharding);
  return status;
}

/* A run of the graph of that kind on the grid of k: of one rank, or of all (-1). */
static weir_status cost_of(const selection *s, const train_ranks *k, train_kind kind, int rank,
                           weir_cost *out)
{
  weir_graph *g = NULL;
  weir_partition *p = NULL;
  weir_status status;

  WEIR_TRY_GOTO(train_shard_graph(k, &s->r->graph, kind, s->r->cfg->batch, &s->passes, &g, &p),
                done);
  status = rank < 0 ? weir_cost_of_grid(p, s->machine, &s->passes, out)
                    : weir_cost_of_rank(p, rank, s->machine, &s->passes, out);
done:
  weir_partition_destroy(&p);
  weir_graph_destroy(&g);
  return status;
}

/* All graphs of an update. */
static weir_status cost_of_step(const selection *s, const train_ranks *k, int rank, weir_cost *sum)
{
  const bool slot = train_has_slot(s->r);
  weir_cost one;

  WEIR_TRY(cost_of(s, k, slot ? TRAIN_GRADIENT : TRAIN_STEP, rank, &one));
  add_cost(sum, &one, (double)s->r->cfg->accumulate);
  if (slot) {
    train_cost_of_exchange(k, s->r->params, s->machine, sum);
    WEIR_TRY(cost_of(s, k, TRAIN_APPLY, rank, &one));
    add_cost(sum, &one, 1);
  }
  return WEIR_OK;
}

/* rank: whose step it is, -1: that of the slowest of all. */
static weir_status predict(const selection *s, int rank, weir_grid_candidate *row)
{
  train_ranks k = {.dist = {.grid = row->grid}};

  if (weir_stop_requested()) {
    return weir_fail(WEIR_ERR_STOPPED, "stopped by signal %d during the comparison of grids",
                     weir_stop_signal());
  }
  memcpy(k.replicate_below, row->replicate_below, sizeof k.replicate_below);
  row->cost = (weir_cost){.seconds = 0};
  weir_status status = train_shard_inputs(&k, &s->r->graph, s->r->cfg->batch);

  if (status == WEIR_OK) {
    status = train_shards_view(&k, s->r->store, s->r->params);
  }
  if (status == WEIR_OK) {
    status = cost_of_step(s, &k, rank, &row->cost);
  }
  train_ranks_close(&k);
  if (status == WEIR_ERR_CONFIG || status == WEIR_ERR_UNSUPPORTED) { /* others may do */
    row->refused = true;
    weir_clear_failure();
    return WEIR_OK;
  }
  const int64_t memory = s->r->exec.exec->memory;

  row->fits = memory == 0 || row->cost.arena <= memory;
  return status;
}

/* ---- Its replication thresholds ---- */

/* Whether row a is better than row b of the same grid. */
static bool is_better(const weir_grid_candidate *a, const weir_grid_candidate *b)
{
  return a->refused != b->refused ? b->refused
         : a->fits != b->fits     ? a->fits
         : a->fits                ? a->cost.seconds < b->cost.seconds
                                  : a->cost.arena < b->cost.arena;
}

/* The number of coarsest levels that one attempt replicates, along each dimension. */
typedef struct chosen_levels {
  int n[WEIR_ALONG_DIMS];
} chosen_levels;

/* One level more along the dimensions of the set, where there are any: never that of the inputs. */
static bool go_up(const train_levels *levels, unsigned along, chosen_levels *e)
{
  bool moved = false;

  for (int d = WEIR_ALONG_DEPTH; d < WEIR_ALONG_DIMS; d++) {
    if ((along >> d & 1) != 0 && e->n[d] + 1 < levels->n[d]) {
      e->n[d]++;
      moved = true;
    }
  }
  return moved;
}

static weir_status try_thresholds(const selection *s, const train_levels *levels,
                                  const chosen_levels *e, int rank, weir_grid_candidate *row)
{
  for (int d = WEIR_ALONG_DEPTH; d < WEIR_ALONG_DIMS; d++) {
    row->replicate_below[d] = e->n[d] > 0 ? levels->extent[d][e->n[d] - 1] : 0;
  }
  row->tried++;
  return predict(s, rank, row);
}

/* The best of one level more along one dimension that has several ranks, and along all of them. */
static weir_status try_next(const selection *s, const train_levels *levels, int rank,
                            chosen_levels *e, weir_grid_candidate *row)
{
  const chosen_levels from = *e;
  weir_grid_candidate best = {.refused = true};
  unsigned all = 0;

  for (int d = WEIR_ALONG_DEPTH; d < WEIR_ALONG_DIMS; d++) {
    all |= row->grid.extent[d] > 1 ? 1U << d : 0;
  }
  for (unsigned along = 1; along <= all; along++) {
    const bool one = (along & (along - 1)) == 0;
    weir_grid_candidate next = *row;
    chosen_levels to = from;

    if ((along & ~all) == 0 && (one || along == all) && go_up(levels, along, &to)) {
      WEIR_TRY(try_thresholds(s, levels, &to, rank, &next));
      row->tried = next.tried;
      if (is_better(&next, &best)) {
        best = next;
        *e = to;
      }
    }
  }
  best.tried = row->tried;
  *row = best;
  return WEIR_OK;
}

/* From the coarsest maps on, as long as a step is not longer for it: beyond
 * the level where sharding ends, a level more costs more than the one before and saves
 * less, as maps grow from level to level. The rank that was slowest stands for all; what is best
 * for it is predicted for all, and stays where it is. */
static weir_status search(const selection *s, weir_grid_candidate *all)
{
  const int rank = all->cost.slowest;
  train_ranks k = {.dist = {.grid = all->grid}};
  weir_grid_candidate row = *all, *const best = &(weir_grid_candidate){.refused = true};
  train_levels levels;
  chosen_levels e = {.n = {0}};
  weir_status status = train_shard_inputs(&k, &s->r->graph, s->r->cfg->batch);

  if (status == WEIR_OK) {
    status = train_find_levels(&k, &s->r->graph, s->r->cfg->batch, &levels);
  }
  train_ranks_close(&k);
  WEIR_TRY(status);
  WEIR_TRY(predict(s, rank, &row));
  *best = row;
  for (bool continues = true; continues;) {
    weir_grid_candidate next = row;

    WEIR_TRY(try_next(s, &levels, rank, &e, &next));
    continues = !next.refused && !is_better(&row, &next);
    row = continues ? next : row;
    if (continues && is_better(&next, best)) {
      *best = next;
    }
    best->tried = next.tried;
  }
  all->tried = best->tried;
  if (memcmp(best->replicate_below, all->replicate_below, sizeof all->replicate_below) != 0) {
    WEIR_TRY(predict(s, -1, best));
    *all = is_better(best, all) ? *best : *all;
    all->tried = best->tried;
  }
  return WEIR_OK;
}

/* One rank in the middle, alone: its step is no longer than that of the slowest. */
static int middle(const weir_grid *g)
{
  int coords[WEIR_GRID_DIMS] = {0};

  for (int d = 0; d < g->dims; d++) {
    coords[d] = g->extent[d] / 2;
  }
  return weir_grid_rank(g, coords);
}

/* A grid with its best replication thresholds. Where one rank alone takes HOPELESS times as long as
 * the best step so far, it is left at that. */
static weir_status evaluate(const selection *s, double best_s, weir_grid_candidate *row)
{
  const train_levels none = {.n = {0}};
  int space = 1;

  WEIR_TRY(try_thresholds(s, &none, &(chosen_levels){.n = {0}}, middle(&row->grid), row));
  if (row->refused || (row->fits && row->cost.seconds > HOPELESS * best_s)) {
    return WEIR_OK;
  }
  WEIR_TRY(predict(s, -1, row));
  for (int d = WEIR_ALONG_DEPTH; d < WEIR_ALONG_DIMS; d++) {
    space *= row->grid.extent[d];
  }
  return row->refused || space == 1 ? WEIR_OK : search(s, row);
}

/* ---- Among ranks ---- */

static void to_numbers(const weir_grid_candidate *row, double x[NUMBERS])
{
  const weir_cost *c = &row->cost;
  const double all[NUMBERS] = {c->seconds,
                               c->compute_s,
                               c->waited_s,
                               c->flops,
                               (double)c->halo_bytes,
                               (double)c->sum_bytes,
                               (double)c->messages,
                               (double)c->arena,
                               (double)c->untimed,
                               row->refused,
                               row->fits,
                               (double)row->tried};

  memcpy(x, all, sizeof all);
  for (int d = 0; d < WEIR_ALONG_DIMS; d++) {
    x[NUMBERS - WEIR_ALONG_DIMS + d] = (double)row->replicate_below[d];
  }
}

static void from_numbers(const double x[NUMBERS], weir_grid_candidate *row)
{
  row->cost = (weir_cost){.seconds = x[0],
                          .compute_s = x[1],
                          .waited_s = x[2],
                          .flops = x[3],
                          .halo_bytes = (int64_t)x[4],
                          .sum_bytes = (int64_t)x[5],
                          .messages = (int64_t)x[6],
                          .arena = (int64_t)x[7],
                          .untimed = (int64_t)x[8]};
  row->refused = x[9] != 0;
  row->fits = x[10] != 0;
  row->tried = (int64_t)x[11];
  for (int d = 0; d < WEIR_ALONG_DIMS; d++) {
    row->replicate_below[d] = (int64_t)x[NUMBERS - WEIR_ALONG_DIMS + d];
  }
}

/* Every rank gets the rows of all: of each, one has more than zeros. */
static weir_status share_rows(weir_comm *comm, weir_grid_choice *p)
{
  weir_request *request = NULL;
  double *x = NULL;
  weir_status status = weir_alloc(p->n * NUMBERS, sizeof *x, (void **)&x);

  WEIR_TRY_GOTO(weir_comm_agree(comm, status), done);
  for (int64_t i = 0; i < p->n; i++) {
    to_numbers(&p->row[i], x + i * NUMBERS);
  }
  WEIR_TRY_GOTO(weir_allreduce_create(comm, "predictions",
                                      weir_reducer_of(WEIR_REDUCE_SUM, WEIR_F64), x, p->n * NUMBERS,
                                      &request),
                done);
  WEIR_TRY_GOTO(weir_request_run_once(&request), done);
  for (int64_t i = 0; i < p->n; i++) {
    from_numbers(x + i * NUMBERS, &p->row[i]);
  }
done:
  weir_free(&x);
  return status;
}

/* ---- The choice ---- */

static void print_grid(const weir_grid *g, char *text, size_t size)
{
  (void)snprintf(text, size, "%dx%dx%dx%d", g->extent[0], g->extent[1], g->extent[2], g->extent[3]);
}

static void print_thresholds(const int64_t replicate_below[WEIR_ALONG_DIMS], char *text,
                             size_t size)
{
  bool any = false;

  for (int d = WEIR_ALONG_DEPTH; d < WEIR_ALONG_DIMS; d++) {
    any = any || replicate_below[d] > 0;
  }
  (void)snprintf(text, size, any ? "%" PRId64 "x%" PRId64 "x%" PRId64 : "-", replicate_below[1],
                 replicate_below[2], replicate_below[3]);
}

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
  print_grid(&smallest->grid, text, sizeof text);
  return weir_fail(WEIR_ERR_MEMORY,
                   "grid: no grid of %d ranks keeps a step within exec.memory, %" PRId64
                   " bytes; %s needs the least memory, %" PRId64
                   " per rank: use more ranks, a smaller train.batch or more memory, or set the "
                   "grid, so that its plan may use micro-batches",
                   ranks, memory, text, smallest->cost.arena);
}

static weir_status predict_all(const selection *s, weir_comm *comm, weir_grid_choice *out)
{
  const int64_t size = comm != NULL ? weir_comm_size(comm) : 1;
  const int64_t own = comm != NULL ? weir_comm_rank(comm) : 0;

  for (int64_t i = 0; i < out->n; i++) {
    out->row[i] = (weir_grid_candidate){.grid = out->row[i].grid};
  }
  double best_s = INFINITY;

  for (int64_t i = own; i < out->n; i += size) {
    const weir_grid_candidate *row = &out->row[i];

    WEIR_TRY(evaluate(s, best_s, &out->row[i]));
    best_s = row->fits && row->cost.seconds < best_s ? row->cost.seconds : best_s;
    if (own == 0) {
      weir_progress("grids", i + 1, out->n, "compared");
    }
  }
  return WEIR_OK;
}

/* Predictions of one rank alone. */
static weir_status prepare(const weir_train_task *task, const weir_train_cfg *cfg,
                           const weir_plan_opts *exec, const weir_machine *machine, weir_comm *comm,
                           weir_grid_choice *out)
{
  weir_params *params = NULL;
  weir_store *store = NULL;
  weir_status status;

  WEIR_TRY_GOTO(weir_params_create(task->dtype, &params), done);
  WEIR_TRY_GOTO(weir_store_create(&store), done);
  WEIR_TRY_GOTO(weir_train_prepare(task, cfg->seed, params, store), done);
  train_run r = train_run_of(task, cfg, exec, params, store);
  const selection s = {.r = &r, .machine = machine, .passes = weir_exec_passes(exec->exec)};

  status = train_state_open(&r);
  if (status == WEIR_OK) {
    status = predict_all(&s, comm, out);
  }
  train_run_close(&r);
done:
  weir_params_destroy(&params);
  weir_store_destroy(&store);
  return status;
}

/* Predictions of all rows on all ranks. Collective. */
static weir_status predict_together(const weir_train_task *task, const weir_train_cfg *cfg,
                                    const weir_plan_opts *exec, const weir_machine *machine,
                                    weir_comm *comm, weir_grid_choice *out)
{
  const weir_status status = prepare(task, cfg, exec, machine, comm, out);

  if (comm != NULL && weir_comm_size(comm) > 1) {
    WEIR_TRY(weir_comm_agree(comm, status));
    WEIR_TRY(share_rows(comm, out));
  }
  WEIR_TRY(status);
  return WEIR_OK;
}

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
      WEIR_TRY(train_write_times(comm, table, times));
      WEIR_TRY(go_on(comm));
      print_grid(&p->row[i].grid, text, sizeof text);
      weir_info("grid", "timing steps on grid %s", text);
      WEIR_TRY(train_profile_grid(&ended, cfg, exec, comm, &p->row[i].grid, times));
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
  WEIR_TRY_GOTO(train_read_times(comm, exec, ranks, m.profile, &times), done);
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
    WEIR_TRY_GOTO(train_write_times(comm, m.profile, &times), done);
  }
done:
  weir_profile_fini(&times);
  return status;
}

weir_status weir_train_select_grid(const weir_train_task *task, const weir_train_cfg *cfg,
                                   const weir_plan_opts *exec, const weir_machine *machine,
                                   weir_comm *comm, int ranks, weir_grid_choice *out)
{
  weir_grid grid = {.dims = WEIR_ALONG_DIMS};
  int64_t max_extent[WEIR_ALONG_DIMS], capacity = 0;
  weir_status status;

  *out = (weir_grid_choice){.n = 0};
  find_limits(task, cfg->batch, max_extent);
  WEIR_TRY_GOTO(list_grids(max_extent, &grid, 0, ranks, &capacity, out), failed);
  if (machine->profile != NULL && machine->profile[0] != 0) {
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

/* ---- For people ---- */

/* Whether row a stands before row b. */
static bool is_before(const weir_grid_choice *p, int64_t a, int64_t b)
{
  const weir_grid_candidate *x = &p->row[a], *y = &p->row[b];

  if (x->refused != y->refused || x->fits != y->fits) {
    return x->refused == y->refused ? x->fits : y->refused;
  }
  return x->cost.seconds < y->cost.seconds || (!(y->cost.seconds < x->cost.seconds) && a < b);
}

static void print_row(const weir_grid_choice *p, int64_t i, FILE *out)
{
  const weir_grid_candidate *row = &p->row[i];
  const weir_cost *c = &row->cost;
  char text[64], thresholds[64];

  print_grid(&row->grid, text, sizeof text);
  print_thresholds(row->replicate_below, thresholds, sizeof thresholds);
  if (row->refused) {
    (void)fprintf(out, "%-16s not shardable\n", text);
    return;
  }
  (void)fprintf(out, "%-16s %-12s %12.4g %12.4g %12.4g %12.4g %12.4g %9" PRId64 " %12.4g%s\n", text,
                thresholds, c->seconds, c->compute_s, c->waited_s, (double)c->halo_bytes / 1e6,
                (double)c->sum_bytes / 1e6, c->messages, (double)c->arena / 1e6,
                i == p->best ? "  chosen"
                : row->fits  ? ""
                             : "  exceeds exec.memory");
}

void weir_grid_choice_print(const weir_grid_choice *p, FILE *out)
{
  (void)fprintf(out, "%-16s %-12s %12s %12s %12s %12s %12s %9s %12s\n", "grid", "gathered",
                "time s", "compute s", "wait s", "halo MB", "reduce MB", "messages", "memory MB");
  /* Few rows: selects the one with `position` others before it. */
  for (int64_t position = 0; position < p->n; position++) {
    for (int64_t i = 0; i < p->n; i++) {
      int64_t before = 0;

      for (int64_t k = 0; k < p->n; k++) {
        before += k != i && is_before(p, k, i);
      }
      if (before == position) {
        print_row(p, i, out);
      }
    }
  }
}
