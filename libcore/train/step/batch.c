/* batch.c - see batch.h. */
#include "train/step/batch.h"

#include "base/weir_alloc.h"
#include "train/grid/apart.h"
#include "train/grid/ranks.h"
#include "train/options.h"
#include "train/step/size.h"
#include "train/step/timeline.h"

static int64_t elements_of(const weir_train_input *x)
{
  int64_t n = 1;

  for (int d = 0; d < x->rank; d++) {
    n *= x->shape[d];
  }
  return n;
}

/* The most memory that a sample of any size takes of input k, in samples of the task's. */
static int64_t most_arrays(const weir_train_task *task, int k)
{
  const int64_t whole = elements_of(&task->input[k]);
  int64_t most = 1;

  for (int i = 0; task->size != NULL && i < task->n_sizes && whole > 0; i++) {
    const int64_t n = task->size[i].repeats * elements_of(&task->size[i].input[k]);
    const int64_t arrays = (n + whole - 1) / whole;

    most = arrays > most ? arrays : most;
  }
  return most;
}

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

    shape[0] = (r->cfg->batch + groups - 1) / groups * most_arrays(r->task, k);
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
  const weir_sampler o = weir_train_order(r->cfg, r->task->n_train);
  const int64_t left = weir_sampler_epoch(&o) - *r->state.position;
  const int64_t n =
      r->per_step * train_size_batches(train_size_of(r->task, r->cfg->seed, *r->state.step + 1));

  return left < n ? left : n;
}

train_numbers train_numbers_of(const train_run *r, int64_t batch)
{
  const int64_t step = *r->state.step + 1;
  const int64_t n = train_step_samples(r), first = batch * r->cfg->batch;
  const int64_t samples = n - first < r->cfg->batch ? n - first : r->cfg->batch;

  return (train_numbers){
      .draw = ((step - 1) * r->cfg->accumulate * train_most_batches(r->task) + batch) *
                  train_groups(r) +
              train_group(r),
      .step = step,
      .lr = train_rate(r, step),
      .weight = (double)samples / (double)n,
  };
}

weir_status train_fetch(train_run *r, weir_train_split split, int64_t n)
{
  weir_tensor view[TRAIN_INPUTS], *pointer[TRAIN_INPUTS];
  const weir_train_size *size = r->graph.size;
  weir_box box[TRAIN_INPUTS];
  weir_status status = WEIR_OK;
  int64_t lo, hi;

  train_own_samples(r, n, &lo, &hi);
  for (int k = 0; k < r->task->n_inputs; k++) {
    view[k] = train_first_samples(&r->input[k], size, k, hi - lo);
    pointer[k] = &view[k];
    box[k] = size != NULL ? train_whole(&size->input[k]) : r->ranks.box[k];
  }
  const train_moment begin = train_begin_activity(r);
  const bool ordered = split == WEIR_TRAIN_SAMPLES && r->chosen >= 0;
  const weir_train_batch want = {.split = split,
                                 .sample = r->sample + lo,
                                 .n = hi - lo,
                                 .box = box,
                                 .epoch = ordered ? *r->state.epoch : -1,
                                 .position = ordered ? r->chosen : -1,
                                 .repeats = train_repeats(size)};

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
