/* batch.c - see batch.h. */
#include "train/step/batch.h"

#include "base/weir_alloc.h"
#include "train/grid/apart.h"
#include "train/grid/ranks.h"
#include "train/options.h"
#include "train/step/timeline.h"

weir_status train_alloc_batch(train_run *r)
{
  int64_t shape[WEIR_MAX_RANK];
  const weir_grid *grid = &r->ranks.grid;
  const int64_t groups = grid->dims > 0 ? grid->extent[WEIR_ALONG_SAMPLES] : 1;
  void *memory = NULL;

  WEIR_TRY(weir_alloc(r->cfg->batch, sizeof *r->sample, &memory));
  r->sample = memory;
  for (int k = 0; k < r->task->n_inputs; k++) {
    const weir_box *box = &r->ranks.box[k];

    shape[0] = (r->cfg->batch + groups - 1) / groups;
    for (int d = 0; d < box->rank; d++) {
      shape[1 + d] = box->hi[d] - box->lo[d];
    }
    WEIR_TRY(weir_tensor_init(&r->input[k], r->task->input[k].dtype, 1 + box->rank, shape));
  }
  return WEIR_OK;
}

void train_choose(train_run *r, int64_t at, int64_t n)
{
  const weir_sampler o = weir_train_order(r->cfg, r->task->n_train);

  weir_sampler_take(&o, *r->state.epoch, at, n, r->sample);
  r->chosen = at;
}

int64_t train_step_samples(const train_run *r)
{
  const int64_t left = r->task->n_train - *r->state.position;

  return left < r->per_step ? left : r->per_step;
}

train_numbers train_numbers_of(const train_run *r, int64_t batch)
{
  const int64_t step = *r->state.step + 1;
  const int64_t n = train_step_samples(r), first = batch * r->cfg->batch;
  const int64_t samples = n - first < r->cfg->batch ? n - first : r->cfg->batch;

  return (train_numbers){
      .draw = ((step - 1) * r->cfg->accumulate + batch) * train_groups(r) + train_group(r),
      .step = step,
      .lr = train_rate(r, step),
      .weight = (double)samples / (double)n,
  };
}

weir_status train_fetch(train_run *r, weir_train_split split, int64_t n)
{
  weir_tensor view[TRAIN_INPUTS], *pointer[TRAIN_INPUTS];
  weir_status status = WEIR_OK;
  int64_t lo, hi;

  train_own_samples(r, n, &lo, &hi);
  for (int k = 0; k < r->task->n_inputs; k++) {
    view[k] = train_first_samples(&r->input[k], hi - lo);
    pointer[k] = &view[k];
  }
  const train_moment begin = train_begin_activity(r);
  const bool ordered = split == WEIR_TRAIN_SAMPLES;
  const weir_train_batch want = {split,
                                 r->sample + lo,
                                 hi - lo,
                                 r->ranks.box,
                                 ordered ? *r->state.epoch : -1,
                                 ordered ? r->chosen : -1};

  if (ordered && r->task->batch != NULL) {
    status = r->task->batch(r->task->context, &want);
  }
  if (status == WEIR_OK && lo < hi) {
    status = r->task->fetch(r->task->context, &want, pointer);
  }
  train_end_activity(r, TRAIN_LOADS, begin);
  if (r->ranks.dist.comm == NULL) {
    return status;
  }
  const train_moment loaded = train_begin_activity(r);

  status = weir_comm_agree(r->ranks.dist.comm, status);
  train_end_activity(r, TRAIN_MEETS, loaded);
  return status;
}
