/* ranks_print.c - prints a step on a grid of ranks: samples, boxes, work and bytes of each. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "load/weir_sampler.h"
#include "pass/partition/weir_spmd.h"
#include "train/grid/apart.h"
#include "train/grid/distribution.h"

enum { ROWS = 16, TEXT = 160 };

/* The sharded step of a batch. */
typedef struct sharded_step {
  const weir_train_task *task;
  const weir_grid *grid;
  weir_graph *g;
  weir_partition *p;
  train_ranks ranks;
  int64_t batch;
} sharded_step;

/* What one rank has of a step. */
typedef struct load {
  double iterations; /* of all operators      */
  int64_t halo;      /* bytes that it receives */
  int64_t merged;    /* bytes that it gives to sums over ranks */
} load;

static weir_status load_of(const sharded_step *s, int rank, load *l)
{
  weir_spmd_graph local;

  *l = (load){.iterations = 0};
  WEIR_TRY(weir_spmd_lower(s->p, rank, &local));
  for (int32_t i = 0; i < local.n; i++) {
    const weir_comm_op *m = local.moves[i];

    l->merged += m->kind == WEIR_COMM_OP_ALLREDUCE ? m->bytes : 0;
    l->halo += weir_comm_op_received(m, -1);
  }
  weir_spmd_graph_fini(&local);
  for (int32_t i = 0; i < weir_graph_nodes(s->g); i++) {
    const weir_node *node = weir_graph_node(s->g, i);

    if (node->op != NULL && !node->dead) {
      const weir_box box = weir_partition_iterations(s->p, i, rank);

      l->iterations += (double)weir_box_volume(&box);
    }
  }
  return WEIR_OK;
}

static double all_iterations(const weir_graph *g)
{
  double sum = 0;

  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    const weir_node *node = weir_graph_node(g, i);

    if (node->op != NULL && !node->dead) {
      const weir_box box = weir_iterations(&node->access);

      sum += (double)weir_box_volume(&box);
    }
  }
  return sum;
}

static weir_status print_rank(const sharded_step *s, int rank, double whole, FILE *out)
{
  load l;
  int coords[WEIR_GRID_DIMS];
  int64_t lo, hi;
  char text[TEXT];
  size_t n = 0;

  WEIR_TRY(load_of(s, rank, &l));
  weir_grid_coords(s->grid, rank, coords);
  weir_sampler_share(s->batch, coords[WEIR_ALONG_SAMPLES], s->grid->extent[WEIR_ALONG_SAMPLES], &lo,
                     &hi);
  for (int i = 0; i < s->task->n_inputs; i++) {
    const weir_box box = train_box(&s->ranks, s->task, i, coords);

    n += n < sizeof text
             ? (size_t)snprintf(text + n, sizeof text - n, " %s [", s->task->input[i].name)
             : 0;
    for (int d = 0; d < box.rank && n < sizeof text; d++) {
      n += (size_t)snprintf(text + n, sizeof text - n, "%s%" PRId64 ":%" PRId64, d > 0 ? ", " : "",
                            box.lo[d], box.hi[d]);
    }
    n += n < sizeof text ? (size_t)snprintf(text + n, sizeof text - n, "]") : 0;
  }
  fprintf(out, "  rank %-4d samples %" PRId64 ":%" PRId64 "%s\n", rank, lo, hi, text);
  fprintf(out,
          "            %5.1f %% of the iterations, halos received %.4g MB, reductions %.4g MB\n",
          whole > 0 ? 100 * l.iterations / whole : 0, (double)l.halo / 1e6, (double)l.merged / 1e6);
  return WEIR_OK;
}

/* The graph of a step of the batch, and its partition. */
static weir_status shard_step(sharded_step *s, weir_store *store, const train_graph *t,
                              weir_optim_shard shard, const weir_exec_cfg *exec)
{
  const weir_pass_opts passes = weir_exec_passes(exec);

  s->ranks.dist.grid = *s->grid;
  memcpy(s->ranks.replicate_below, t->task->replicate_below, sizeof s->ranks.replicate_below);
  WEIR_TRY(train_optim_shards_open(&s->ranks.optim, shard, t->params, 0, weir_grid_size(s->grid)));
  s->ranks.optim.params_sharded = shard == WEIR_OPTIM_SHARD_PARAMETERS;
  WEIR_TRY(train_shard_inputs(&s->ranks, t, s->batch));
  WEIR_TRY(train_shards_view(&s->ranks.shards, s->ranks.coords, store, t->params));
  return train_shard_graph(&s->ranks, t, TRAIN_LOOK, s->batch, &passes, &s->g, &s->p);
}

/* What optim.shard leaves of the arrays of the update on the rank with the most. */
static weir_status print_optim_shards(const train_graph *t, const weir_optim_cfg *cfg, int ranks,
                                      FILE *out)
{
  const double size = (double)weir_dtype_size(weir_params_dtype(t->params));
  const int64_t n = weir_params_elements(t->params), share = n / ranks + (n % ranks > 0);
  const weir_rule_desc *rule = NULL;

  WEIR_TRY(weir_optim_rule(cfg, &rule));
  const int states = rule->n_state + (cfg->average.decay > 0);
  const bool gradients = cfg->shard >= WEIR_OPTIM_SHARD_GRADIENTS;

  if (cfg->shard != WEIR_OPTIM_SHARD_NONE) {
    fprintf(out,
            "  state of the optimiser %.4g MB of %.4g MB a rank, gradient %.4g MB, parameters %.4g "
            "MB (optim.shard)\n",
            states * size * (double)share / 1e6, states * size * (double)n / 1e6,
            size * (double)(gradients ? share : n) / 1e6,
            size * (double)(cfg->shard == WEIR_OPTIM_SHARD_PARAMETERS ? share : n) / 1e6);
  }
  return WEIR_OK;
}

static weir_status print(weir_store *store, const train_graph *t, const weir_train_cfg *cfg,
                         const weir_exec_cfg *exec, const weir_grid *grid, FILE *out)
{
  const int ranks = weir_grid_size(grid);
  sharded_step s = {.task = t->task, .grid = grid, .batch = cfg->batch};
  weir_status status;

  WEIR_TRY_GOTO(shard_step(&s, store, t, (weir_optim_shard)cfg->optim.shard, exec), done);
  const double whole = all_iterations(s.g);

  fprintf(out,
          "grid %d x %d x %d x %d (samples, depth, height, width), %d ranks: loss and gradient of "
          "%" PRId64 " samples\n",
          grid->extent[0], grid->extent[1], grid->extent[2], grid->extent[3], ranks, s.batch);
  for (int d = WEIR_ALONG_DEPTH; d < WEIR_ALONG_DIMS; d++) {
    if (s.ranks.replicate_below[d] > 0 && grid->extent[d] > 1) {
      fprintf(out, "  maps with no more than %" PRId64 " elements along the %s are replicated\n",
              s.ranks.replicate_below[d], weir_along_names[d]);
    }
  }
  WEIR_TRY_GOTO(print_optim_shards(t, &cfg->optim, ranks, out), done);
  for (int rank = 0; rank < ranks && rank < ROWS; rank++) {
    WEIR_TRY_GOTO(print_rank(&s, rank, whole, out), done);
  }
  if (ranks > ROWS) {
    fprintf(out, "  and %d more\n", ranks - ROWS);
  }
done:
  weir_partition_destroy(&s.p);
  weir_graph_destroy(&s.g);
  train_ranks_close(&s.ranks);
  return status;
}

/* Ranks that train apart: the samples of each. */
static weir_status print_apart(const weir_train_cfg *cfg, const weir_grid *grid, FILE *out)
{
  const int ranks = weir_grid_size(grid);

  WEIR_TRY(train_check_apart(cfg, grid));
  fprintf(out,
          "%d ranks that train apart (optim.exchange %s), each on its share of %" PRId64
          " samples\n",
          ranks, cfg->optim.exchange.name, cfg->batch);
  for (int rank = 0; rank < ranks && rank < ROWS; rank++) {
    int64_t lo, hi;

    weir_sampler_share(cfg->batch, rank, ranks, &lo, &hi);
    fprintf(out, "  rank %-4d samples %" PRId64 ":%" PRId64 "\n", rank, lo, hi);
  }
  if (ranks > ROWS) {
    fprintf(out, "  and %d more\n", ranks - ROWS);
  }
  return WEIR_OK;
}

weir_status weir_train_describe_grid(const weir_train_task *task, const weir_train_cfg *cfg,
                                     const weir_plan_opts *exec, const weir_grid *grid, FILE *out)
{
  weir_params *params = NULL;
  weir_store *store = NULL;
  weir_status status;

  if (train_apart(cfg)) {
    return print_apart(cfg, grid, out);
  }
  WEIR_TRY_GOTO(weir_params_create(task->dtype, &params), done);
  WEIR_TRY_GOTO(weir_store_create(&store), done);
  WEIR_TRY_GOTO(weir_train_prepare(task, cfg->seed, params, store), done);
  const train_graph t = {.task = task, .params = params, .store = store, .dtype = WEIR_DTYPE_COUNT};

  WEIR_TRY_GOTO(print(store, &t, cfg, exec->exec, grid, out), done);
done:
  weir_params_destroy(&params);
  weir_store_destroy(&store);
  return status;
}
