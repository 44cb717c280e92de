/* sizes.c - see sizes.h. */
#include "data/sizes.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_random.h"

enum { CROP = 0x63726f70, DIMS = 3 };

const weir_opt cf_sizes_options[] = {
    WEIR_OPT_INT_LIST(cf_sizes_opts, sides, "", 1, 4096, "voxels",
                      "mixed sizes (arXiv:1908.08986): sides of the cubes that training steps see, "
                      "one drawn for each step; that of the samples is among them only where it is "
                      "named; empty: all steps see whole samples"),
    WEIR_OPT_REAL_LIST(cf_sizes_opts, shares, "", 0, 1e6, "1",
                       "share of the steps of each of these sides, relative to the others; empty: "
                       "the same for all"),
    WEIR_OPT_ENUM(cf_sizes_opts, kind, CF_SIZE_CROP, "crop|average",
                  "smaller cubes: sub-cubes of the samples (the same cells, less volume), or means "
                  "of their cells (the same volume, larger cells)"),
    WEIR_OPT_ENUM(cf_sizes_opts, scale, CF_SIZE_SCALE_CROPS, "crops|batch|rate",
                  "use of the time that smaller cubes save: crops: as many cubes of each sample as "
                  "have its volume; batch: as many more samples in a step; rate: shorter steps"),
    WEIR_OPT_REAL(cf_sizes_opts, rate_power, 0.5, 0, 2, "1",
                  "the learning rate of a step is multiplied by the volume that it sees, relative "
                  "to one of whole samples, to this power: 0.5 for adam, 1 for momentum; 0 "
                  "leaves the rate as it is"),
    WEIR_OPT_INT(cf_sizes_opts, calibrate, 16, 0, 1000000, "batches",
                 "batches of whole training samples by which the running statistics of batch "
                 "norms are measured anew before each validation; 0: those of all sizes are kept"),
    WEIR_OPT_END,
};

/* ---- Options ---- */

static weir_status check_side(const cf_sizes_opts *o, int64_t side, int64_t whole)
{
  if (side > whole) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "data.sizes.sides: %lld: samples have %lld voxels a side: name smaller ones",
                     (long long)side, (long long)whole);
  }
  return o->kind == CF_SIZE_CROP || whole % side == 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "data.sizes.sides: %lld does not divide the %lld voxels a side of the "
                         "samples, so that means would be of different numbers of cells: name a "
                         "divisor, or data.sizes.kind=crop",
                         (long long)side, (long long)whole);
}

static weir_status check_shares(const cf_sizes_opts *o)
{
  double sum = 0;

  for (int64_t i = 0; i < o->shares.count; i++) {
    sum += o->shares.items[i];
  }
  if (o->shares.count > 0 && (o->shares.count != o->sides.count || !(sum > 0))) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "data.sizes.shares: %lld shares for %lld sides: one for each, not all 0, or "
                     "none",
                     (long long)o->shares.count, (long long)o->sides.count);
  }
  return WEIR_OK;
}

weir_status cf_sizes_check(const cf_data_opts *o, const cf_volume_info *info, bool segments)
{
  const int64_t *const n = info->lengths;
  const cf_sizes_opts *const s = &o->sizes;

  if (!cf_sizes_mixed(s)) {
    return WEIR_OK;
  }
  if (segments) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "data.sizes.sides: mixed sizes are for networks that estimate parameters, and "
                     "this one makes classes of voxels: leave data.sizes out");
  }
  if (n[0] != n[1] || n[1] != n[2]) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "data.sizes.sides: samples of %lld x %lld x %lld voxels are no cubes",
                     (long long)n[0], (long long)n[1], (long long)n[2]);
  }
  if (s->sides.count > WEIR_TRAIN_SIZES) {
    return weir_fail(WEIR_ERR_CONFIG, "data.sizes.sides: %lld sides, at most %d",
                     (long long)s->sides.count, WEIR_TRAIN_SIZES);
  }
  for (int64_t i = 0; i < s->sides.count; i++) {
    WEIR_TRY(check_side(s, s->sides.items[i], n[0]));
  }
  if (s->kind == CF_SIZE_AVERAGE && s->scale == CF_SIZE_SCALE_CROPS) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "data.sizes.scale: crops: means have the whole volume of a sample, of which "
                     "there are no more: data.sizes.scale=batch or rate");
  }
  return check_shares(s);
}

weir_train_size cf_sizes_of(const cf_sizes_opts *o, int64_t i, int64_t whole)
{
  const int64_t side = o->sides.items[i];
  const double part = (double)(side * side * side) / (double)(whole * whole * whole);
  const int64_t more = (int64_t)floor(1 / part + 1e-9);
  weir_train_size s = {.side = side,
                       .share = o->shares.count > 0 ? o->shares.items[i] : 1,
                       .batches = o->scale == CF_SIZE_SCALE_BATCH ? more : 1,
                       .repeats = o->scale == CF_SIZE_SCALE_CROPS ? more : 1};
  const double volume = (double)(s.batches * s.repeats) * (o->kind == CF_SIZE_CROP ? part : 1);

  s.lr = pow(volume, o->rate_power);
  return s;
}

void cf_sizes_write(const cf_sizes_opts *o, FILE *out)
{
  for (int64_t i = 0; i < o->sides.count; i++) {
    (void)fprintf(out, "%lld %.17g\n", (long long)o->sides.items[i],
                  o->shares.count > 0 ? o->shares.items[i] : 1);
  }
  if (cf_sizes_mixed(o)) {
    (void)fprintf(out, "%d %d %.17g %lld\n", o->kind, o->scale, o->rate_power,
                  (long long)o->calibrate);
  }
}

void cf_sizes_tell(const weir_train_task *task)
{
  double sum = 0;

  for (int i = 0; i < task->n_sizes; i++) {
    sum += task->size[i].share;
  }
  for (int i = 0; i < task->n_sizes; i++) {
    const weir_train_size *const s = &task->size[i];

    weir_info("train",
              "cubes of %lld^3: %.3g %% of the steps, %lld of each sample, samples times %lld, "
              "learning rate times %.3g",
              (long long)s->side, 100 * s->share / sum, (long long)s->repeats,
              (long long)s->batches, s->lr);
  }
}

/* ---- Cubes ---- */

void cf_sizes_corner(const cf_cubes *s, const weir_train_size *size, int64_t repeat, int64_t lo[3])
{
  const int64_t n = s->whole / size->side;
  const bool fill = s->whole % size->side == 0 && size->repeats == n * n * n;
  const int64_t tile[DIMS] = {repeat / (n * n), repeat / n % n, repeat % n};

  for (int d = 0; d < DIMS; d++) {
    const uint64_t number = (uint64_t)s->sample << 32 | (uint64_t)(repeat * DIMS + d);

    lo[d] = fill ? tile[d] * size->side
                 : (int64_t)(weir_random_bits((uint64_t)s->seed, CROP, (uint32_t)s->epoch, number) %
                             (uint64_t)(s->whole - size->side + 1));
  }
}

static double voxel_at(weir_dtype dtype, const void *in, int64_t i)
{
  return dtype == WEIR_I16 ? (double)((const int16_t *)in)[i] : (double)((const float *)in)[i];
}

/* Sum over the cell of factor^3 voxels from number `at` of the sample on. */
static double sum_of(const cf_cubes *s, int64_t factor, int64_t at)
{
  double sum = 0;

  for (int64_t i = 0; i < factor; i++) {
    for (int64_t j = 0; j < factor; j++) {
      for (int64_t k = 0; k < factor; k++) {
        sum +=
            voxel_at(s->dtype, s->voxels, at + ((i * s->whole + j) * s->whole + k) * s->channels);
      }
    }
  }
  return sum;
}

/* The voxel x of a sample with that mean, where cf_sizes_scaled; otherwise x. */
static double scaled(const cf_data_opts *o, double x, double mean)
{
  if (!cf_sizes_scaled(o)) {
    return x;
  }
  return o->scale == CF_SCALE_MEAN ? x / mean : log1p(x) - log1p(mean);
}

/* n voxels from number `at` of the sample on, each a cell. */
static void take_voxels(const cf_data_opts *o, const cf_cubes *s, int64_t at, int64_t n,
                        double mean, float *out)
{
  if (s->dtype == WEIR_I16 && o->scale == CF_SCALE_MEAN && cf_sizes_scaled(o)) {
    const int16_t *const in = (const int16_t *)s->voxels + at;

    for (int64_t i = 0; i < n; i++) { /* as below, without a branch: a vector at a time */
      out[i] = (float)(in[i] / mean);
    }
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    out[i] = (float)scaled(o, voxel_at(s->dtype, s->voxels, at + i), mean);
  }
}

/* Cells of factor^3 voxels from the corner lo on: [side, side, side, channels]. */
static void take_cells(const cf_data_opts *o, const cf_cubes *s, const int64_t lo[3], int64_t side,
                       int64_t factor, double mean, float *out)
{
  const double voxels = (double)(factor * factor * factor);

  for (int64_t i = 0; i < side; i++) {
    for (int64_t j = 0; j < side; j++, out += side * s->channels) {
      const int64_t row = (lo[0] + i * factor) * s->whole + lo[1] + j * factor;
      const int64_t at = (row * s->whole + lo[2]) * s->channels;

      if (factor == 1) {
        take_voxels(o, s, at, side * s->channels, mean, out);
        continue;
      }
      for (int64_t k = 0; k < side * s->channels; k++) {
        const int64_t cell = at + k / s->channels * factor * s->channels + k % s->channels;

        out[k] = (float)scaled(o, sum_of(s, factor, cell) / voxels, mean);
      }
    }
  }
}

static double mean_of(weir_dtype dtype, const void *voxels, int64_t n)
{
  double sum = 0;
  int64_t counts = 0;

  for (int64_t i = 0; i < n && dtype == WEIR_I16; i++) {
    counts += ((const int16_t *)voxels)[i]; /* exact in any order */
  }
  for (int64_t i = 0; i < n && dtype != WEIR_I16; i++) {
    sum += voxel_at(dtype, voxels, i);
  }
  return (dtype == WEIR_I16 ? (double)counts : sum) / (double)n;
}

void cf_sizes_make(const cf_data_opts *o, const cf_cubes *s, const weir_train_size *size, void *out)
{
  const bool averages = o->sizes.kind == CF_SIZE_AVERAGE;
  const int64_t n = s->whole * s->whole * s->whole * s->channels;
  const double mean = !cf_sizes_scaled(o) ? 1
                      : s->mean != NULL   ? *s->mean
                                          : mean_of(s->dtype, s->voxels, n);
  const int64_t factor = averages ? s->whole / size->side : 1, side = size->side;
  const weir_dtype dtype = cf_sizes_dtype(o, s->dtype);
  const size_t voxel = (size_t)s->channels * weir_dtype_size(dtype);
  const int64_t lengths[4] = {s->whole, s->whole, s->whole, s->channels};
  const cf_view all = cf_view_symmetry(0);
  char *to = out;

  for (int64_t k = 0; k < size->repeats; k++, to += (size_t)(side * side * side) * voxel) {
    int64_t lo[DIMS] = {0}, hi[DIMS];

    if (!averages) {
      cf_sizes_corner(s, size, k, lo);
    }
    for (int d = 0; d < DIMS; d++) {
      hi[d] = lo[d] + side;
    }
    if (!cf_sizes_scaled(o) && factor == 1) {
      cf_view_take(&all, lengths, lo, hi, voxel, s->voxels, to);
    } else {
      take_cells(o, s, lo, side, factor, mean, (float *)(void *)to);
    }
  }
}

weir_status cf_sizes_alloc(const cf_data_opts *o, const cf_volume_info *info, void **voxels)
{
  const int64_t *const n = info->lengths;

  *voxels = NULL;
  return cf_sizes_mixed(&o->sizes) ? weir_alloc(n[0] * n[1] * n[2] * n[3], sizeof(float), voxels)
                                   : WEIR_OK;
}

weir_status cf_sizes_read(const cf_data_opts *o, cf_samples *samples, const cf_wanted *part,
                          const cf_cubes *cubes, int64_t i, int64_t repeats,
                          weir_tensor *const xy[2])
{
  const cf_volume_info *const info = cf_samples_info(samples);
  const weir_train_size size = {.side = part->hi[0], .repeats = repeats};
  const int64_t cube = size.side * size.side * size.side * info->lengths[3];
  const size_t voxels = (size_t)(repeats * cube) * weir_dtype_size(xy[0]->dtype);
  const size_t labels = (size_t)info->n_labels * sizeof(float);
  char *const label = (char *)xy[1]->data + (size_t)(i * repeats) * labels;
  const bool part_alone = o->sizes.kind == CF_SIZE_CROP && repeats == 1;
  cf_wanted wanted = *part;
  cf_cubes s = *cubes;
  const void *all = NULL;
  double mean = 0;

  memset(wanted.lo, 0, sizeof wanted.lo);
  memcpy(wanted.hi, info->lengths, sizeof wanted.hi);
  wanted.whole = &all;
  s.sample = part->sample;
  s.whole = info->lengths[0];
  s.channels = info->lengths[3];
  s.dtype = cf_samples_dtype(samples);
  if (part_alone) { /* what is read is the cube: a copy of the rest would be for nothing */
    cf_sizes_corner(&s, &size, 0, wanted.lo);
    for (int d = 0; d < DIMS; d++) {
      wanted.hi[d] = wanted.lo[d] + size.side;
    }
  }
  WEIR_TRY(cf_samples_read(samples, &wanted, s.voxels, label));
  if (part_alone && cf_sizes_scaled(o)) {
    mean = mean_of(s.dtype, all, s.whole * s.whole * s.whole * s.channels);
    s.mean = &mean;
  }
  s.whole = part_alone ? size.side : s.whole;
  for (int64_t k = 1; k < repeats; k++) {
    memcpy(label + (size_t)k * labels, label, labels);
  }
  cf_sizes_make(o, &s, &size, (char *)xy[0]->data + (size_t)i * voxels);
  return WEIR_OK;
}
