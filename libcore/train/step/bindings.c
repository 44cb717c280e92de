/* bindings.c - see bindings.h. */
#include "train/step/bindings.h"

#include <string.h>

weir_tensor train_first_samples(const weir_tensor *t, const weir_train_size *size, int k, int64_t n)
{
  int64_t shape[WEIR_MAX_RANK] = {0};

  memcpy(shape, t->shape, (size_t)t->rank * sizeof *shape);
  if (size != NULL) {
    memcpy(shape + 1, size->input[k].shape, (size_t)size->input[k].rank * sizeof *shape);
  }
  shape[0] = n * train_repeats(size);
  return weir_tensor_wrap(t->data, t->dtype, t->rank, shape);
}

int train_bind(const weir_train_task *task, const weir_train_size *size, const weir_tensor *input,
               int64_t seed, train_kind kind, int64_t n, const train_numbers *x, train_bindings *b)
{
  const struct {
    const char *name;
    weir_dtype dtype;
    void *at;
    bool used;
  } numbers[] = {
      {"seed", WEIR_I64, &b->seed, kind != TRAIN_APPLY},
      {"draw", WEIR_I64, &b->draw, kind != TRAIN_APPLY},
      {"step", WEIR_I64, &b->step, kind == TRAIN_STEP || kind == TRAIN_APPLY},
      {"lr", WEIR_F64, &b->lr, kind == TRAIN_STEP || kind == TRAIN_APPLY},
      {"weight", WEIR_F64, &b->weight,
       kind == (task->weight == NULL ? TRAIN_GRADIENT : TRAIN_APPLY)},
      {"momentum", WEIR_F64, &b->momentum, kind == TRAIN_CALIBRATE},
  };
  int count = 0;

  b->seed = seed;
  b->draw = x->draw;
  b->step = x->step;
  b->lr = x->lr;
  b->weight = x->weight;
  b->momentum = x->momentum;
  for (int k = 0; k < task->n_inputs && kind != TRAIN_APPLY; k++) {
    b->tensor[count] = train_first_samples(&input[k], size, k, n);
    b->binding[count] = (weir_binding){task->input[k].name, &b->tensor[count]};
    count++;
  }
  for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
    if (numbers[k].used) {
      b->tensor[count] = weir_tensor_wrap(numbers[k].at, numbers[k].dtype, 0, NULL);
      b->binding[count] = (weir_binding){numbers[k].name, &b->tensor[count]};
      count++;
    }
  }
  return count;
}

weir_status train_number(const weir_plan *plan, const char *name, double *x)
{
  weir_view v;
  int64_t lo = 0, hi = 0;

  WEIR_TRY(weir_plan_result(plan, name, &v, &lo, &hi));
  if (v.rank != 0) {
    return weir_fail(WEIR_ERR_SHAPE, "train: '%s' must be a scalar but has %d dimensions", name,
                     v.rank);
  }
  *x = weir_dtype_load_real(v.dtype, v.data, 0);
  return WEIR_OK;
}
