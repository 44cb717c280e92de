/* size.c - see size.h. */
#include "train/step/size.h"

#include <inttypes.h>
#include <math.h>

#include "base/weir_random.h"
#include "train/grid/apart.h"

enum { SIZE = 0x73697a65 }; /* purpose of the random numbers: "size" */

static double sum_of_shares(const weir_train_task *t)
{
  double sum = 0;

  for (int i = 0; i < t->n_sizes; i++) {
    sum += t->size[i].share;
  }
  return sum;
}

weir_status train_check_sizes(const train_run *r)
{
  const weir_train_task *t = r->task;

  if (t->size == NULL) {
    return WEIR_OK;
  }
  bool good = t->n_sizes > 0 && t->n_sizes <= WEIR_TRAIN_SIZES;

  for (int i = 0; good && i < t->n_sizes; i++) {
    const weir_train_size *s = &t->size[i];

    good = s->share >= 0 && isfinite(s->share) && s->batches > 0 && s->repeats > 0 && s->lr > 0;
  }
  if (!good || !(sum_of_shares(t) > 0)) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "train: 1 to %d sizes of samples, with shares of the steps that are not all 0, "
        "and numbers of batches, repeats and rates above 0",
        WEIR_TRAIN_SIZES);
  }
  return r->cfg->models.seeds.count < 2
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG, "train: several networks (models.seeds) do not take "
                                          "samples of several sizes: train one at a time");
}

weir_status train_check_sizes_grid(const train_run *r)
{
  const weir_grid *grid = &r->ranks.grid;

  if (r->task->size == NULL) {
    return WEIR_OK;
  }
  for (int d = WEIR_ALONG_DEPTH; d < grid->dims; d++) {
    if (grid->extent[d] > 1) {
      return weir_fail(WEIR_ERR_UNSUPPORTED,
                       "train: samples of several sizes are shared by ranks along the samples "
                       "alone (--grid %d), and this grid has %d ranks along the %s",
                       weir_grid_size(grid), grid->extent[d], weir_along_names[d]);
    }
  }
  return !train_apart(r->cfg)
             ? WEIR_OK
             : weir_fail(WEIR_ERR_UNSUPPORTED,
                         "train: samples of several sizes do not go with ranks that train apart "
                         "(optim.exchange): use allreduce");
}

const weir_train_size *train_size_of(const weir_train_task *task, int64_t seed, int64_t step)
{
  if (task->size == NULL) {
    return NULL;
  }
  double left = weir_random_uniform((uint64_t)seed, SIZE, 0, (uint64_t)step) * sum_of_shares(task);
  const weir_train_size *chosen = NULL;

  for (int i = 0; i < task->n_sizes && left >= 0; i++) {
    if (task->size[i].share > 0) { /* the last of these, should rounding leave a rest */
      chosen = &task->size[i];
      left -= chosen->share;
    }
  }
  return chosen;
}

int64_t train_size_batches(const weir_train_size *size)
{
  return size != NULL ? size->batches : 1;
}

int64_t train_most_batches(const weir_train_task *task)
{
  int64_t most = 1;

  for (int i = 0; task->size != NULL && i < task->n_sizes; i++) {
    most = task->size[i].batches > most ? task->size[i].batches : most;
  }
  return most;
}

int64_t train_epoch_steps(const weir_train_task *task, int64_t seed, int64_t samples,
                          int64_t per_step, int64_t first)
{
  int64_t steps = 0;

  if (train_most_batches(task) == 1) {
    return samples / per_step + (samples % per_step > 0);
  }
  while (samples > 0) {
    samples -= per_step * train_size_batches(train_size_of(task, seed, first + ++steps));
  }
  return steps;
}

void weir_train_last(const weir_train_task *task, const weir_train_cfg *cfg, int64_t n_train,
                     int64_t *epoch, int64_t *position)
{
  const weir_sampler o = weir_train_order(cfg, n_train);
  const int64_t samples = weir_sampler_epoch(&o);
  int64_t done = 0;

  *epoch = cfg->epochs;
  *position = 0;
  if (cfg->steps == 0 || samples == 0) {
    return;
  }
  if (train_most_batches(task) == 1) {
    const int64_t each = samples / o.step + (samples % o.step > 0);

    *epoch = cfg->steps / each;
    *position = cfg->steps % each * o.step;
    return;
  }
  for (*epoch = 0; done < cfg->steps; done++) {
    *position += o.step * train_size_batches(train_size_of(task, cfg->seed, done + 1));
    if (*position >= samples) {
      *epoch += 1;
      *position = 0;
    }
  }
}
