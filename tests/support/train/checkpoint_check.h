/* checkpoint_check.h - a store of parameters, and what a checkpoint has of it. Tests only. */
#ifndef CHECKPOINT_CHECK_H
#define CHECKPOINT_CHECK_H
#include "support/graph/store_check.h"
#include "train/weir_checkpoint.h"

#include "base/weir_check.h"
#include "base/weir_random.h"

static char dir[256];
static char path[512];

/* Three parameters in one bank, a bank of the optimiser, a statistic, and what a loop counts. */
static const weir_checkpoint_slice slices[] = {
    {"params", "enc/conv/weight", 3, {3, 4, 3}, 0},
    {"params", "enc/conv/bias", 1, {2}, 36},
    {"params", "head", 1, {12}, 38},
    {"optim.m", "optim.m/enc/conv/weight", 3, {3, 4, 3}, 0},
    {"optim.m", "optim.m/enc/conv/bias", 1, {2}, 36},
    {"optim.m", "optim.m/head", 1, {12}, 38},
};
static const char *const left[] = {"scratch"};
static const weir_note notes[] = {{"title", "a test"}, {"seed", "7"}};

static inline weir_checkpoint of(weir_store *s)
{
  return (weir_checkpoint){.store = s,
                           .slice = slices,
                           .n_slices = sizeof slices / sizeof slices[0],
                           .exclude = left,
                           .n_exclude = 1,
                           .note = notes,
                           .n_notes = 2};
}

/* wave: c128, or f64 with its components as a last dimension. */
static inline weir_status make_store_of(weir_dtype wave, weir_store **out)
{
  const int rank = weir_dtype_is_complex(wave) ? 2 : 3;
  weir_status status;
  weir_store *s = NULL;

  *out = NULL;
  WEIR_TRY(weir_store_create(&s));
  WEIR_TRY_GOTO(weir_store_add(s, "params", WEIR_F32, 1, (int64_t[]){50}), fail);
  WEIR_TRY_GOTO(weir_store_add(s, "enc/norm/mean", WEIR_F64, 2, (int64_t[]){2, 2}), fail);
  WEIR_TRY_GOTO(weir_store_add(s, "optim.m", WEIR_F32, 1, (int64_t[]){50}), fail);
  WEIR_TRY_GOTO(weir_store_add(s, "scratch", WEIR_F32, 1, (int64_t[]){9}), fail);
  WEIR_TRY_GOTO(weir_store_add(s, "train.step", WEIR_I64, 0, NULL), fail);
  WEIR_TRY_GOTO(weir_store_add(s, "flags", WEIR_BOOL, 1, (int64_t[]){5}), fail);
  WEIR_TRY_GOTO(weir_store_add(s, "nothing", WEIR_F32, 2, (int64_t[]){3, 0}), fail);
  WEIR_TRY_GOTO(weir_store_add(s, "wave", wave, rank, (int64_t[]){2, 3, 2}), fail);
  WEIR_TRY_GOTO(weir_store_add(s, "tone", WEIR_C64, 0, NULL), fail);
  WEIR_TRY_GOTO(weir_store_add(s, "silence", WEIR_C128, 1, (int64_t[]){0}), fail);
  *out = s;
  return WEIR_OK;
fail:
  weir_store_destroy(&s);
  return status;
}

static inline weir_status make_store(weir_store **out)
{
  return make_store_of(WEIR_C128, out);
}

static inline size_t bytes_of(const weir_tensor *t)
{
  return (size_t)weir_tensor_numel(t) * weir_dtype_size(t->dtype);
}

/* Any bits, NaN and -0 among them; bools 0 or 1. */
static inline void fill(weir_store *s, uint64_t seed)
{
  for (int64_t i = 0; i < weir_store_count(s); i++) {
    weir_tensor *t = check_stored(s, weir_store_name(s, i));
    uint8_t *byte = t->data;

    for (size_t k = 0; k < bytes_of(t); k++) {
      byte[k] = (uint8_t)weir_random_bits(seed, (uint32_t)i, 0, k);
      byte[k] &= t->dtype == WEIR_BOOL ? 1 : 255;
    }
  }
}
#endif
