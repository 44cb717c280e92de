/* budget.c - the plan with the fewest predicted seconds among those found whose arena keeps within
 * exec.memory: with element-wise results or blocks recomputed, with micro-batches, or with
 * several of them. */
#include <math.h>
#include <string.h>
#include "plan_priv.h"
#include "base/weir_alloc.h"
#include "graph/kernel/weir_kernel_use.h"

enum { TRIES = 6 /* choices of blocks, each for less memory than the one before */ };

/* A way to make the plan, and what it takes. */
typedef struct way {
  int64_t microbatches;
  bool elementwise; /* results are recomputed */
  uint32_t again;
  int64_t bytes;  /* of the arena */
  double seconds; /* predicted    */
} way;

typedef struct budgeting {
  weir_plan *p;
  int64_t max;      /* micro-batches */
  bool elementwise; /* of what is attempted: results are recomputed */
  way made;         /* what p->g is  */
  way best;         /* that fits, microbatches 0: none did          */
  way least;        /* of least memory among those always looked at */
} budgeting;

static double flops_of(const weir_graph *g)
{
  double flops = 0;

  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    const weir_node *node = weir_graph_node(g, i);

    if (node->op != NULL && !node->dead) {
      const weir_box all = weir_iterations(&node->access);

      flops += weir_flops(&node->access, &all);
    }
  }
  return flops;
}

/* Predicted seconds of all groups; each: [groups] of every one, NULL: not asked for. */
static double seconds_of_all(const weir_plan *p, double *each)
{
  const weir_constants *c = p->constants;
  const double threads = p->backend == NULL ? (double)p->threads : 1;
  const weir_group_rates rates = {.bandwidth = fmin(threads * c->bandwidth, c->total_bandwidth),
                                  .flop_rate = threads * c->flop_rate,
                                  .kernels = threads,
                                  .overhead = c->group_overhead};
  double sum = 0;

  for (int32_t i = 0; i < weir_graph_groups(p->g); i++) {
    const double seconds = weir_group_seconds(p->g, weir_graph_group(p->g, i), &rates);

    sum += seconds;
    if (each != NULL) {
      each[i] = seconds;
    }
  }
  return sum;
}

/* The passes on a fresh copy of the graph, with so many micro-batches and these blocks. */
static weir_status attempt(budgeting *b, int64_t n, const weir_block_choice *choice)
{
  weir_plan *p = b->p;
  weir_schedule schedule;

  weir_graph_destroy(&p->g);
  weir_free(&p->dump);
  p->memory.microbatches = n;
  p->memory.elementwise = b->elementwise;
  p->memory.choice = *choice;
  WEIR_TRY(weir_graph_copy(p->built, &p->g));
  WEIR_TRY(exec_plan_passes(p));
  WEIR_TRY(weir_schedule_make(p->g, NULL, NULL, &schedule));
  b->made = (way){n, b->elementwise, choice->again, schedule.arena_bytes, seconds_of_all(p, NULL)};
  weir_schedule_fini(&schedule);
  if (b->made.bytes <= p->cfg.memory &&
      (b->best.microbatches == 0 || b->made.seconds < b->best.seconds)) {
    b->best = b->made;
  }
  return WEIR_OK;
}

/* Returns the next number of micro-batches to try, when one leaves `whole` and n leave `peak`: what
 * falls with their number is taken to fall in proportion. */
static int64_t next_count(const budgeting *b, double whole, int64_t n, int64_t peak)
{
  const double falls = (whole - (double)peak) * (double)n / (double)(n - 1);
  const double available = (double)b->p->cfg.memory - (whole - falls);
  const double guess = available > 0 ? falls / available : (double)b->max;
  const int64_t next = guess < (double)b->max ? (int64_t)guess : b->max;

  return next > n + 1 ? next : n + 1;
}

/* Micro-batches without blocks, as few as fit. whole: bytes of the arena of one. */
static weir_status divide(budgeting *b, int64_t whole)
{
  const weir_block_choice none = {.again = 0};

  for (int64_t n = 2; n <= b->max; n = next_count(b, (double)whole, n, b->made.bytes)) {
    WEIR_TRY(attempt(b, n, &none));
    if (b->made.bytes <= b->p->cfg.memory) {
      break;
    }
  }
  return WEIR_OK;
}

/* Blocks recomputed in n micro-batches whose arena without that takes `whole` bytes. The model is
 * corrected by what its choices turn out to take. */
static weir_status recompute(budgeting *b, int64_t n, int64_t whole)
{
  const weir_blocks *blocks = &b->p->memory.blocks;
  const int64_t budget = b->p->cfg.memory;
  int64_t target = blocks->peak - n * (whole - budget);

  for (int i = 0; i < TRIES && blocks->n > 0; i++) {
    weir_block_choice choice;
    const int64_t peak = weir_blocks_choose(blocks, target, &choice);

    if (peak > target) {
      return WEIR_OK;
    }
    WEIR_TRY(attempt(b, n, &choice));
    if (b->made.bytes <= budget) {
      return WEIR_OK;
    }
    const int64_t less = target - n * (b->made.bytes - budget) / 2;

    target = less < peak ? less : peak - 1;
  }
  return WEIR_OK;
}

/* What needs the least memory, found in the same way for every budget, so that the least is one
 * that is kept when it is asked for: 1, 2, 4, .. micro-batches, without blocks, with those of the
 * model's lowest peak, and with all. Ends at the first that fits. */
static weir_status find_least(budgeting *b)
{
  const weir_blocks *blocks = &b->p->memory.blocks;
  weir_block_choice choice[3] = {{.again = 0}};

  (void)weir_blocks_choose(blocks, -1, &choice[1]);
  choice[2] = weir_blocks_choice(blocks, ((uint32_t)1 << blocks->n) - 1);
  const int choices = blocks->n == 0 ? 1 : choice[1].again == choice[2].again ? 2 : 3;

  for (int64_t n = 1; n <= b->max; n = 2 * n <= b->max || n == b->max ? 2 * n : b->max) {
    for (int k = 0; k < choices; k++) {
      if (k > 0 && choice[k].again == 0) {
        continue;
      }
      WEIR_TRY(attempt(b, n, &choice[k]));
      if (b->best.microbatches > 0) {
        return WEIR_OK;
      }
      if (b->least.microbatches == 0 || b->made.bytes < b->least.bytes) {
        b->least = b->made;
      }
    }
  }
  return WEIR_OK;
}

static weir_status find_blocks(weir_plan *p)
{
  weir_status status = WEIR_OK;
  weir_schedule schedule = {.n_groups = 0};
  void *seconds = NULL;

  WEIR_TRY_GOTO(weir_schedule_make(p->g, NULL, NULL, &schedule), out);
  WEIR_TRY_GOTO(weir_alloc(weir_graph_groups(p->g), sizeof(double), &seconds), out);
  (void)seconds_of_all(p, seconds);
  WEIR_TRY_GOTO(weir_blocks_find(p->g, &schedule, seconds, &p->memory.blocks), out);
out:
  weir_free(&seconds);
  weir_schedule_fini(&schedule);
  return status;
}

static weir_status find_most(budgeting *b)
{
  exec_memory *m = &b->p->memory;
  weir_dim_split split;
  int32_t input;

  b->max = 1;
  WEIR_TRY(weir_microbatch_find(b->p->built, &input, &split, m->refused, sizeof m->refused));
  if (input >= 0) {
    b->max = split.extent;
    weir_dim_split_fini(&split);
  }
  return WEIR_OK;
}

static weir_status refuse(const budgeting *b)
{
  const exec_memory *m = &b->p->memory;

  return weir_fail(WEIR_ERR_CONFIG,
                   "exec.memory: the budget of %lld bytes is too small: the smallest arena that "
                   "was found is %lld bytes, with "
                   "%lld of at most %lld micro-batches, %s%d of %d blocks recomputed%s%s",
                   (long long)b->p->cfg.memory, (long long)b->least.bytes,
                   (long long)b->least.microbatches, (long long)b->max,
                   b->least.elementwise ? "element-wise results and " : "",
                   __builtin_popcount(b->least.again), m->blocks.n, b->max == 1 ? ": " : "",
                   b->max == 1 ? m->refused : "");
}

/* The plan that fits with the fewest predicted seconds, as far as it is looked for: micro-batches
 * alone; element-wise results recomputed, where that takes less memory, alone, with micro-batches,
 * with blocks, and with both. */
static weir_status keep(budgeting *b)
{
  weir_plan *p = b->p;
  const weir_block_choice none = {.again = 0};
  int64_t whole = p->memory.whole_bytes;

  WEIR_TRY(find_most(b));
  WEIR_TRY(divide(b, whole));
  b->elementwise = true;
  WEIR_TRY(attempt(b, 1, &none));
  if (b->made.bytes >= whole) {
    b->elementwise = false;
    WEIR_TRY(attempt(b, 1, &none));
  }
  whole = b->made.bytes;
  WEIR_TRY(find_blocks(p));
  if (whole > p->cfg.memory) {
    WEIR_TRY(recompute(b, 1, whole));
    if (b->elementwise) {
      WEIR_TRY(divide(b, whole));
    }
  }
  for (int64_t n = 2; n <= b->max && b->best.microbatches == 0; n *= 2) {
    WEIR_TRY(attempt(b, n, &none));
    WEIR_TRY(recompute(b, n, b->made.bytes));
  }
  if (b->best.microbatches == 0) {
    WEIR_TRY(find_least(b));
  }
  if (b->best.microbatches == 0) {
    return refuse(b);
  }
  if (b->best.microbatches != b->made.microbatches || b->best.again != b->made.again ||
      b->best.elementwise != b->made.elementwise) {
    const weir_block_choice choice = weir_blocks_choice(&p->memory.blocks, b->best.again);

    b->elementwise = b->best.elementwise;
    WEIR_TRY(attempt(b, b->best.microbatches, &choice));
  }
  return WEIR_OK;
}

weir_status exec_budget_keep(weir_plan *p)
{
  const weir_block_choice none = {.again = 0};
  budgeting b = {.p = p};
  bool time = false;

  for (int32_t a = 0; a < weir_graph_arrays(p->built); a++) {
    time = time || weir_graph_get_array(p->built, a)->desc.time > 0;
  }
  if (time || p->cfg.memory == 0) {
    p->memory.microbatches = 1;
    WEIR_TRY(weir_graph_copy(p->built, &p->g));
    WEIR_TRY(exec_plan_passes(p));
    return WEIR_OK;
  }
  WEIR_TRY(attempt(&b, 1, &none));
  p->memory.whole_bytes = b.made.bytes;
  p->memory.whole_seconds = p->memory.seconds = b.made.seconds;
  p->memory.whole_flops = p->memory.flops = flops_of(p->g);
  if (b.made.bytes > p->cfg.memory) {
    WEIR_TRY(keep(&b));
    p->memory.seconds = b.made.seconds;
    p->memory.flops = flops_of(p->g);
    p->memory.refused[0] = 0;
  }
  return WEIR_OK;
}

weir_status exec_budget_check(const weir_plan *p)
{
  return p->cfg.memory == 0 || p->schedule.arena_bytes <= p->cfg.memory
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "exec.memory: the budget of %lld bytes is too small: the arena needs %lld",
                         (long long)p->cfg.memory, (long long)p->schedule.arena_bytes);
}

void exec_budget_print(const weir_plan *p, FILE *out)
{
  const exec_memory *m = &p->memory;

  if (p->cfg.memory == 0) {
    return;
  }
  fprintf(out, "memory budget of the arena: %lld bytes; without a budget: %lld bytes\n",
          (long long)p->cfg.memory, (long long)m->whole_bytes);
  if (m->microbatches > 1 || m->choice.again != 0 || m->elementwise) {
    fprintf(out,
            "micro-batches: %lld; recomputed: %s%d of %d blocks; additional flops: %.3g of "
            "%.3g; predicted time: %.3g times that without a budget\n",
            (long long)m->microbatches, m->elementwise ? "element-wise results, " : "",
            __builtin_popcount(m->choice.again), m->blocks.n, m->flops - m->whole_flops,
            m->whole_flops, m->seconds / m->whole_seconds);
  }
}
