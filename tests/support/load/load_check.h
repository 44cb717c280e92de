/* load_check.h - a source for the tests of loaders: samples whose bits tell which they are, calls
 * that are counted, failures, delays. */
#ifndef LOAD_CHECK_H
#define LOAD_CHECK_H
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/weir_check.h"
#include "base/weir_file.h"
#include "base/weir_random.h"
#include "load/load_priv.h"

enum { CHECK_SAMPLES = 64, CHECK_LABELS = 3 };

typedef struct check_source {
  weir_load_field field[2]; /* i16 voxels of a shard, f32 labels */
  weir_load_source source;
  atomic_int reads[CHECK_SAMPLES], now, max_concurrent; /* calls by sample; at once */
  atomic_int fail;                                      /* sample that fails, -1: none */
  double delay;                                         /* seconds of a call */
} check_source;

static inline int16_t check_voxel(int64_t sample, int64_t plane, int64_t i)
{
  return (int16_t)weir_random_bits(5, 1, (uint32_t)sample, (uint64_t)(plane * 100 + i));
}

static inline void check_sleep(double seconds)
{
  const struct timespec t = {.tv_nsec = (long)(seconds * 1e9)};

  (void)nanosleep(&t, NULL);
}

static inline weir_status check_read(void *context, int64_t sample, const weir_load_field *field,
                                     void *const *out)
{
  check_source *const s = context;
  const weir_box *const b = &field[0].box;
  const int now = atomic_fetch_add(&s->now, 1) + 1;
  int max_concurrent = atomic_load(&s->max_concurrent);

  while (now > max_concurrent &&
         !atomic_compare_exchange_weak(&s->max_concurrent, &max_concurrent, now)) {
  }
  atomic_fetch_add(&s->reads[sample], 1);
  if (s->delay > 0) {
    check_sleep(s->delay);
  }
  for (int64_t d = b->lo[0], k = 0; d < b->hi[0]; d++) {
    for (int64_t i = b->lo[1]; i < b->hi[1]; i++, k++) {
      ((int16_t *)out[0])[k] = check_voxel(sample, d, i);
    }
  }
  for (int64_t i = 0; i < CHECK_LABELS; i++) {
    ((float *)out[1])[i] = (float)(sample * 10 + i);
  }
  atomic_fetch_sub(&s->now, 1);
  return atomic_load(&s->fail) == sample
             ? weir_fail(WEIR_ERR_DATA, "cubes.nc: sample %lld: is damaged", (long long)sample)
             : WEIR_OK;
}

/* Planes [d0, d1) of [4, 7] voxels. */
static inline void check_source_init(check_source *s, int64_t d0, int64_t d1, bool parallel)
{
  *s = (check_source){.field = {{WEIR_I16, {.rank = 2, .lo = {d0, 0}, .hi = {d1, 7}}},
                                {WEIR_F32, {.rank = 1, .hi = {CHECK_LABELS}}}},
                      .fail = -1};
  s->source = (weir_load_source){.field = s->field,
                                 .n_fields = 2,
                                 .read = check_read,
                                 .context = s,
                                 .parallel = parallel,
                                 .key = "check"};
}

static inline void assert_sample(const check_source *s, int64_t sample, const void *voxels,
                                 const void *labels)
{
  const weir_box *const b = &s->field[0].box;

  for (int64_t d = b->lo[0], k = 0; d < b->hi[0]; d++) {
    for (int64_t i = 0; i < 7; i++, k++) {
      assert_int_equal(((const int16_t *)voxels)[k], check_voxel(sample, d, i));
    }
  }
  for (int64_t i = 0; i < CHECK_LABELS; i++) {
    assert_true(((const float *)labels)[i] == (float)(sample * 10 + i));
  }
}

/* Bytes that a sample takes in a loader: 4 x 7 voxels and the labels, on cache lines each. */
enum { CHECK_BYTES = 64 + 64 };

/* As the options have it when nothing is given, with a small staging buffer and no memory. */
static inline weir_load_cfg check_cfg(int64_t slots, int64_t threads)
{
  weir_load_cfg cfg;

  weir_opts_default(weir_load_opts, sizeof cfg, &cfg);
  cfg.staging.bytes = slots * CHECK_BYTES;
  cfg.staging.threads = threads;
  cfg.memory.bytes = 0;
  return cfg;
}
#endif
