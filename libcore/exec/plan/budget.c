/* budget.c - the cheapest plan whose arena keeps within exec.memory: as few micro-batches as do. */
#include "plan_priv.h"
#include "base/weir_alloc.h"

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

/* Bytes of the arena of a graph without time. */
static weir_status arena_of(const weir_graph *g, int64_t *arena)
{
  weir_schedule schedule;

  WEIR_TRY(weir_schedule_make(g, NULL, NULL, &schedule));
  *arena = schedule.arena_bytes;
  weir_schedule_fini(&schedule);
  return WEIR_OK;
}

/* The passes on a fresh copy of the graph, with so many micro-batches. */
static weir_status attempt(weir_plan *p, int64_t n)
{
  weir_graph_destroy(&p->g);
  weir_free(&p->dump);
  p->memory.microbatches = n;
  WEIR_TRY(weir_graph_copy(p->built, &p->g));
  return exec_plan_passes(p);
}

/* Returns the next number of micro-batches to try, when n of them leave `peak`: what falls with
 * their number is taken to fall in proportion. */
static int64_t next_count(const weir_plan *p, int64_t n, int64_t peak, int64_t max)
{
  const double whole = (double)p->memory.whole_bytes;
  const double falls = (whole - (double)peak) * (double)n / (double)(n - 1);
  const double available = (double)p->cfg.memory - (whole - falls);
  const double guess = available > 0 ? falls / available : (double)max;
  const int64_t next = guess < (double)max ? (int64_t)guess : max;

  return next > n + 1 ? next : n + 1;
}

static weir_status divide(weir_plan *p)
{
  int64_t peak = p->memory.whole_bytes, min = peak, best = 1, max = 1;
  weir_dim_split split;
  int32_t input;

  WEIR_TRY(
      weir_microbatch_find(p->built, &input, &split, p->memory.refused, sizeof p->memory.refused));
  if (input >= 0) {
    max = split.extent;
    weir_dim_split_fini(&split);
  }
  for (int64_t n = 2; n <= max; n = next_count(p, n, peak, max)) {
    WEIR_TRY(attempt(p, n));
    WEIR_TRY(arena_of(p->g, &peak));
    if (peak <= p->cfg.memory) {
      p->memory.refused[0] = 0;
      return WEIR_OK;
    }
    best = peak < min ? n : best;
    min = peak < min ? peak : min;
  }
  return weir_fail(WEIR_ERR_CONFIG,
                   "exec.memory: the budget of %lld bytes is too small: the smallest arena is %lld "
                   "bytes, with %lld of at most %lld micro-batches%s%s",
                   (long long)p->cfg.memory, (long long)min, (long long)best, (long long)max,
                   max == 1 ? ": " : "", max == 1 ? p->memory.refused : "");
}

weir_status exec_budget_keep(weir_plan *p)
{
  bool time = false;

  WEIR_TRY(attempt(p, 1));
  for (int32_t a = 0; a < weir_graph_arrays(p->g); a++) {
    time = time || weir_graph_get_array(p->g, a)->desc.time > 0;
  }
  if (time || p->cfg.memory == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(arena_of(p->g, &p->memory.whole_bytes));
  p->memory.whole_flops = p->memory.flops = flops_of(p->g);
  if (p->memory.whole_bytes > p->cfg.memory) {
    WEIR_TRY(divide(p));
    p->memory.flops = flops_of(p->g);
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
  if (m->microbatches > 1) {
    fprintf(out, "micro-batches: %lld; additional flops relative to one batch: %.3g of %.3g\n",
            (long long)m->microbatches, m->flops - m->whole_flops, m->whole_flops);
  }
}
