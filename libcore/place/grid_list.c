/* grid_list.c - see weir_grid_list.h and grid_list.h. */
#include "place/grid_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "place/grid_cost.h"
#include "place/grid_print.h"

enum { MAX_RANKS = 1000000 };

weir_status place_parse_grid(const char *key, const char *text, weir_grid *out)
{
  weir_grid grid = {.dims = WEIR_ALONG_DIMS, .extent = {1, 1, 1, 1}};
  const char *at = text;
  int64_t ranks = 1;

  for (int d = 0; d < WEIR_ALONG_DIMS; d++) {
    char *end = NULL;

    errno = 0;
    const long n = *at >= '0' && *at <= '9' ? strtol(at, &end, 10) : 0;

    if (n < 1 || n > MAX_RANKS || errno != 0 || (ranks *= n) > MAX_RANKS) {
      break;
    }
    grid.extent[d] = (int)n;
    if (*end == 0) {
      *out = grid;
      return WEIR_OK;
    }
    if (*end != 'x') {
      break;
    }
    at = end + 1;
  }
  return weir_fail(WEIR_ERR_CONFIG,
                   "%s: '%s' is no grid of 1 to %d ranks: give their numbers along samples, depth, "
                   "height and width, such as 16x4x2",
                   key, text, MAX_RANKS);
}

/* The rank in the middle has as many samples as any other. */
static weir_status check_batch(const char *key, const char *text, int64_t batch,
                               const weir_grid *grid)
{
  const int ranks = grid->extent[WEIR_ALONG_SAMPLES];

  return batch % ranks == 0
             ? WEIR_OK
             : weir_fail(
                   WEIR_ERR_CONFIG,
                   "%s: '%s': train.batch, %lld, is no multiple of its %d ranks along samples", key,
                   text, (long long)batch, ranks);
}

static weir_status predict_rows(const place_model *m, const weir_train_task *task,
                                weir_grid_choice *out)
{
  for (int64_t i = 0; i < out->n; i++) {
    memcpy(out->row[i].replicate_below, task->replicate_below, sizeof task->replicate_below);
    WEIR_TRY(place_predict(m, place_middle(&out->row[i].grid), &out->row[i]));
    weir_progress("grids", i + 1, out->n, "predicted");
  }
  return WEIR_OK;
}

weir_status weir_grid_list_predict(const char *key, const weir_string_list *grids,
                                   const weir_train_task *task, const weir_train_cfg *cfg,
                                   const weir_plan_opts *exec, const weir_machine *machine,
                                   weir_grid_choice *out)
{
  place_model m = {
      .machine = machine, .passes = weir_exec_passes(exec->exec), .memory = exec->exec->memory};
  weir_train_step *step = NULL;
  weir_status status;

  *out = (weir_grid_choice){.n = 0, .best = -1};
  WEIR_TRY(weir_alloc(grids->count, sizeof *out->row, (void **)&out->row));
  for (int64_t i = 0; i < grids->count; i++) {
    weir_grid *const grid = &out->row[out->n++].grid;

    WEIR_TRY_GOTO(place_parse_grid(key, grids->items[i], grid), failed);
    WEIR_TRY_GOTO(check_batch(key, grids->items[i], cfg->batch, grid), failed);
  }
  WEIR_TRY_GOTO(weir_train_step_create(task, cfg, exec, &step), failed);
  m.step = step;
  WEIR_TRY_GOTO(predict_rows(&m, task, out), failed);
  weir_train_step_destroy(&step);
  return WEIR_OK;
failed:
  weir_train_step_destroy(&step);
  weir_grid_choice_fini(out);
  return status;
}

weir_status place_update_bytes(const weir_optim_cfg *cfg, int64_t elements, int ranks,
                               int64_t *bytes)
{
  const int64_t share = (elements + ranks - 1) / ranks;
  const weir_rule_desc *rule = NULL;

  WEIR_TRY(weir_optim_rule(cfg, &rule));
  const int64_t states = rule->n_state + (cfg->average.decay > 0);
  const int64_t state = cfg->shard >= WEIR_OPTIM_SHARD_STATE ? share : elements;
  const int64_t gradient = cfg->shard >= WEIR_OPTIM_SHARD_GRADIENTS ? share : elements;
  const int64_t params = cfg->shard >= WEIR_OPTIM_SHARD_PARAMETERS ? share : elements;

  *bytes = (states * state + gradient + params) * (int64_t)sizeof(float);
  return WEIR_OK;
}

/* Whether no grid of as many ranks is faster, or as fast and listed before. */
static bool is_fastest(const weir_grid_choice *p, int64_t i)
{
  const weir_grid_candidate *const row = &p->row[i];

  for (int64_t k = 0; k < p->n; k++) {
    const weir_grid_candidate *const other = &p->row[k];

    if (k != i && weir_grid_size(&other->grid) == weir_grid_size(&row->grid) &&
        (place_is_better(other, row) || (k < i && !place_is_better(row, other)))) {
      return false;
    }
  }
  return row->fits && !row->refused;
}

weir_status weir_grid_list_print(const weir_grid_choice *p, const weir_train_cfg *cfg,
                                 int64_t elements, FILE *out)
{
  const double samples = (double)(cfg->batch * cfg->accumulate);

  (void)fprintf(out, "%6s %-16s %10s %10s %10s %10s %10s %10s %10s %10s\n", "ranks", "grid",
                "time s", "samples/s", "compute s", "wait s", "halo MB", "reduce MB", "arena MB",
                "update MB");
  for (int64_t i = 0; i < p->n; i++) {
    const weir_grid_candidate *const row = &p->row[i];
    const weir_cost *const c = &row->cost;
    const int ranks = weir_grid_size(&row->grid);
    int64_t update = 0;
    char text[64];

    place_print_grid(&row->grid, text, sizeof text);
    if (row->refused) {
      (void)fprintf(out, "%6d %-16s not shardable\n", ranks, text);
      continue;
    }
    WEIR_TRY(place_update_bytes(&cfg->optim, elements, ranks, &update));
    (void)fprintf(out, "%6d %-16s %10.4g %10.4g %10.4g %10.4g %10.4g %10.4g %10.4g %10.4g%s\n",
                  ranks, text, c->seconds, samples / c->seconds, c->compute_s, c->waited_s,
                  (double)c->halo_bytes / 1e6, (double)c->sum_bytes / 1e6, (double)c->arena / 1e6,
                  (double)update / 1e6,
                  !row->fits         ? "  exceeds exec.memory"
                  : is_fastest(p, i) ? "  fastest"
                                     : "");
  }
  return WEIR_OK;
}
