/* samples.c - see samples.h. */
#include "data/samples.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_random.h"
#include "data/volume/volume_format.h"
#include "data/volume/voxels.h"

/* A mean below this share of the mean magnitude, as that of an overdensity, is no scale. */
static const double MIN_MEAN = 0.1;

enum { SYMMETRY = 0x73796d6d, SHIFT = 0x73686966 };

const char *const cf_scale_name[] = {"log1p", "mean", "raw", "log_density"};

const weir_opt cf_data_options[] = {
    WEIR_OPT_ENUM(
        cf_data_opts, scale, CF_SCALE_LOG, CF_SCALE_CHOICES,
        "what the network is given of a count n: log(1 + n) (MLPerf HPC), n over the mean m of its "
        "sample, n, or log((1 + n) / (1 + m))"),
    WEIR_OPT_ENUM(
        cf_data_opts, augment.symmetry, CF_SYMMETRY_NONE, CF_SYMMETRY_CHOICES,
        "a random symmetry of each training sample in every epoch: one of the 8 mirror "
        "images, or of the 48 of the octahedral group, in redshift space of the 16 that keep the "
        "line of sight (MLPerf HPC: open division); of a map 4 mirror images, or the 8 symmetries "
        "of the square",
        .alias = "augment.turn", .choice_aliases = "flips=mirror|all=octahedral"),
    WEIR_OPT_BOOL(cf_data_opts, augment.shift, false,
                  "training samples are moved by whole voxels, around the box: for whole periodic "
                  "boxes (MLPerf HPC: open division)"),
    WEIR_OPT_INT(cf_data_opts, cache_bytes, (int64_t)1 << 31, 0, 1e15, "B",
                 "samples that stay in memory once they are read, besides those of a training, "
                 "which load.memory keeps; the others are read each time",
                 .alias = "keep"),
    WEIR_OPT_TABLE(cf_data_opts, sizes, cf_sizes_options,
                   "cubes smaller than the samples in some steps of a training"),
    WEIR_OPT_TABLE(cf_data_opts, split, cf_split_options,
                   "training, validation and test universes"),
    WEIR_OPT_END,
};

/* Whether samples, cubes or maps, are known to be as wide as their periodic box. */
static bool are_whole(const cf_volume_info *info)
{
  const int64_t *const n = info->lengths;

  return info->box > 0 && n[1] == n[2] && (n[0] == 1 || n[0] == n[1]) &&
         fabs((double)n[1] * info->cell - info->box) <= 1e-6 * info->box;
}

weir_status cf_shift_check(const char *key, const cf_volume_info *info, int64_t samples,
                           int64_t universes)
{
  static const char *const how = "files.box states the side of samples that are as wide as their "
                                 "box";

  if (samples == universes || are_whole(info)) {
    return WEIR_OK;
  }
  return universes == 0
             ? weir_fail(WEIR_ERR_CONFIG,
                         "%s: only whole periodic boxes can be moved, and neither %lld samples of "
                         "unknown universes nor those of the training are known to be; %s",
                         key, (long long)samples, how)
             : weir_fail(WEIR_ERR_CONFIG,
                         "%s: only whole periodic boxes can be moved, and %lld samples are cut "
                         "from %lld universes; %s",
                         key, (long long)samples, (long long)universes, how);
}

weir_status cf_data_check(const cf_data_opts *o, const cf_volume_info *info, int64_t samples,
                          int64_t universes)
{
  return o->augment.shift ? cf_shift_check("data.augment.shift", info, samples, universes)
                          : WEIR_OK;
}

/* ---- Views ---- */

cf_view cf_view_symmetry(int g)
{
  static const int axes[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  cf_view v = {.axis = {axes[g / 8][0], axes[g / 8][1], axes[g / 8][2]}};

  for (int d = 0; d < 3; d++) {
    v.flip[d] = (g >> d & 1) != 0;
  }
  return v;
}

/* Whether a sample is a map, and its line of sight, if any, the axis across it. */
static bool is_map(const cf_volume_info *info)
{
  return info->lengths[0] == 1;
}

static bool is_seen_across(const cf_volume_info *info)
{
  return is_map(info) && (info->line_of_sight == 0 || info->line_of_sight == 'x');
}

int cf_symmetries(int symmetry, const cf_volume_info *info)
{
  const int mirror_images = is_map(info) ? 4 : 8; /* of each order of axes */

  switch (symmetry) {
  case CF_SYMMETRY_OCTAHEDRAL:
    return mirror_images * (is_seen_across(info)       ? 2
                            : is_map(info)             ? 1
                            : info->line_of_sight == 0 ? 6
                                                       : 2);
  case CF_SYMMETRY_MIRROR:
    return mirror_images;
  default:
    return 1;
  }
}

cf_view cf_symmetry_view(const cf_volume_info *info, int k)
{
  static const int swapped[3] = {1, 5, 2}; /* order of axes that swaps all but x, y, z */

  if (is_map(info)) { /* y and z are flipped, and swapped */
    return cf_view_symmetry(8 * swapped[0] * (k / 4) + 2 * (k % 4));
  }
  return cf_view_symmetry(
      info->line_of_sight != 0 && k >= 8 ? 8 * swapped[info->line_of_sight - 'x'] + k % 8 : k);
}

void cf_view_move(cf_view *v, const cf_volume_info *info, int64_t seed, int64_t epoch,
                  int64_t number)
{
  for (uint32_t d = 0; d < 3; d++) {
    v->shift[d] =
        (int64_t)(weir_random_bits((uint64_t)seed, SHIFT + d, (uint32_t)epoch, (uint64_t)number) %
                  (uint64_t)info->lengths[v->axis[d]]);
  }
}

cf_view cf_view_of(const cf_data_opts *o, const cf_volume_info *info, int64_t seed, int64_t epoch,
                   int64_t sample)
{
  const uint32_t when = (uint32_t)epoch;
  cf_view v = cf_symmetry_view(
      info, (int)(weir_random_bits((uint64_t)seed, SYMMETRY, when, (uint64_t)sample) %
                  (uint64_t)cf_symmetries(o->augment.symmetry, info)));

  if (o->augment.shift) {
    cf_view_move(&v, info, seed, epoch, sample);
  }
  return v;
}

/* Elements [from, to) of dimension d of a view: those at `start` and each `step` voxels further in
 * the sample, until they go around the box. */
typedef struct view_run {
  int64_t from, to, start, step;
} view_run;

static view_run run_of(const cf_view *v, const int64_t lengths[4], int d, int64_t i, int64_t end)
{
  const int64_t steps[3] = {lengths[1] * lengths[2], lengths[2], 1}, step = steps[v->axis[d]];
  const int64_t n = lengths[v->axis[d]], j = (i + v->shift[d]) % n;

  return (view_run){.from = i,
                    .to = end - i < n - j ? end : i + n - j,
                    .start = (v->flip[d] ? n - 1 - j : j) * step,
                    .step = v->flip[d] ? -step : step};
}

static inline __attribute__((always_inline)) void take_each(const char *in, int64_t step, int64_t n,
                                                            const size_t bytes, char *out)
{
  for (int64_t k = 0; k < n; k++) {
    memcpy(out + (size_t)k * bytes, in + k * step * (int64_t)bytes, bytes);
  }
}

/* Copies n voxels that lie `step` voxels apart: a copy of a known size is an instruction. */
static void take_run(const char *in, int64_t step, int64_t n, size_t bytes, char *out)
{
  if (step == 1) {
    memcpy(out, in, (size_t)n * bytes);
  } else if (bytes == sizeof(int16_t)) {
    take_each(in, step, n, sizeof(int16_t), out);
  } else if (bytes == sizeof(float)) {
    take_each(in, step, n, sizeof(float), out);
  } else {
    take_each(in, step, n, bytes, out);
  }
}

void cf_view_take(const cf_view *v, const int64_t lengths[4], const int64_t lo[3],
                  const int64_t hi[3], size_t bytes, const void *in, void *out)
{
  const char *const from = in;
  char *to = out;

  for (int64_t i = lo[0]; i < hi[0]; i++) {
    for (int64_t j = lo[1]; j < hi[1]; j++) {
      const int64_t at =
          run_of(v, lengths, 0, i, i + 1).start + run_of(v, lengths, 1, j, j + 1).start;

      for (int64_t k = lo[2]; k < hi[2];) {
        const view_run r = run_of(v, lengths, 2, k, hi[2]);

        take_run(from + (at + r.start) * (int64_t)bytes, r.step, r.to - k, bytes, to);
        to += (size_t)(r.to - k) * bytes;
        k = r.to;
      }
    }
  }
}

/* ---- Samples ---- */

/* A sample without view; its classes follow the voxels. */
typedef struct entry {
  float labels[CF_MAX_LABELS];
  char voxels[];
} entry;

struct cf_samples {
  const cf_data_opts *opts;
  cf_source *source;
  cf_volume_info info;
  weir_dtype dtype;
  cf_truth truth;
  int64_t d0, d1; /* planes of the depth that are read */
  int64_t bytes;  /* of them   */
  int64_t cells;  /* bytes of their classes */
  int64_t n_free; /* samples that may still be cached */
  entry **entry;  /* [count] or NULL each */
  entry *scratch;
  weir_load *load; /* NULL: no prefetch */
  cf_prefetch prefetch;
  char key[65]; /* of the source and of the samples of the training */
};

static weir_status alloc_entry(const cf_samples *s, entry **out)
{
  return weir_alloc((int64_t)sizeof **out + s->bytes + s->cells, 1, (void **)out);
}

static void *truth_of(const cf_samples *s, entry *k)
{
  return s->truth == CF_TRUTH_CLASSES ? (void *)(k->voxels + s->bytes) : k->labels;
}

void cf_samples_planes(cf_samples *s, int64_t d0, int64_t d1)
{
  s->d0 = d0;
  s->d1 = d1;
  s->bytes = (d1 - d0) * cf_volume_plane(&s->info) * (int64_t)weir_dtype_size(s->dtype);
  s->cells = s->truth == CF_TRUTH_CLASSES ? (d1 - d0) * s->info.lengths[1] * s->info.lengths[2] : 0;
  s->n_free = s->opts->cache_bytes / (s->bytes + s->cells + (int64_t)sizeof(entry));
}

weir_status cf_samples_create(const cf_data_opts *opts, cf_source *source, cf_truth truth,
                              cf_samples **out)
{
  const cf_volume_info *const info = cf_source_info(source);
  const int64_t *const n = info->lengths;
  cf_samples *s = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  if (truth == CF_TRUTH_LABELS ? info->n_labels == 0
                               : truth == CF_TRUTH_CLASSES && info->n_classes == 0) {
    char where[CF_MAX_LOCATION];

    cf_source_locate(source, 0, where, sizeof where);
    return weir_fail(WEIR_ERR_DATA,
                     "%s: the samples have no %s: there is nothing to learn, and nothing to "
                     "compare with%s",
                     where, truth == CF_TRUTH_LABELS ? "labels" : "classes of their voxels",
                     truth == CF_TRUTH_LABELS
                         ? "; files.labels names their variable or key, NumPy pairs have them in "
                           "NAME_label.npy"
                         : "; files.segmentation names their variable");
  }
  if (opts->augment.symmetry == CF_SYMMETRY_OCTAHEDRAL &&
      ((n[0] != n[1] && n[0] != 1) || n[1] != n[2])) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "data.augment.symmetry: octahedral symmetries are those of a cube, or of a "
                     "square map, and samples are %lld x %lld x "
                     "%lld: data.augment.symmetry=mirror has mirror images",
                     (long long)n[0], (long long)n[1], (long long)n[2]);
  }
  WEIR_TRY(weir_alloc(1, sizeof *s, (void **)&s));
  *s = (cf_samples){.opts = opts,
                    .source = source,
                    .info = *info,
                    .truth = truth,
                    .dtype = weir_dtype_is_real(info->dtype) ? WEIR_F32 : WEIR_I16};
  cf_samples_planes(s, 0, n[0]);
  WEIR_TRY_GOTO(weir_alloc(cf_source_count(source), sizeof *s->entry, (void **)&s->entry), done);
  WEIR_TRY_GOTO(alloc_entry(s, &s->scratch), done);
  *out = s;
  s = NULL;
done:
  cf_samples_destroy(&s);
  return status;
}

void cf_samples_destroy(cf_samples **s)
{
  if (*s == NULL) {
    return;
  }
  for (int64_t i = 0; (*s)->entry != NULL && i < cf_source_count((*s)->source); i++) {
    weir_free(&(*s)->entry[i]);
  }
  weir_load_close(&(*s)->load);
  weir_free(&(*s)->entry);
  weir_free(&(*s)->scratch);
  weir_free(s);
}

weir_dtype cf_samples_dtype(const cf_samples *s)
{
  return s->dtype;
}

const cf_volume_info *cf_samples_info(const cf_samples *s)
{
  return &s->info;
}

/* Checks that voxels match their quantity, and that preprocessing gives finite values. */
static weir_status check(const cf_samples *s, int64_t sample, const void *voxels)
{
  const int64_t plane = cf_volume_plane(&s->info), n = (s->d1 - s->d0) * plane;
  const cf_voxels all = {.dtype = s->dtype,
                         .data = voxels,
                         .n = n,
                         .first = s->d0 * plane,
                         .whole = s->d0 == 0 && s->d1 == s->info.lengths[0],
                         .raw = s->opts->scale == CF_SCALE_RAW};
  const bool takes_log = s->opts->scale == CF_SCALE_LOG || s->opts->scale == CF_SCALE_LOG_DENSITY;
  char where[CF_MAX_LOCATION];
  double sum = 0, size = 0;

  cf_source_locate(s->source, sample, where, sizeof where);
  WEIR_TRY(cf_voxels_check(&s->info, where, &all));

  for (int64_t i = 0; i < n; i++) {
    const double x = s->dtype == WEIR_I16 ? (double)((const int16_t *)voxels)[i]
                                          : (double)((const float *)voxels)[i];

    sum += x;
    size += fabs(x);
    if (takes_log && !(x > -1)) {
      return weir_fail(
          WEIR_ERR_DATA,
          "%s: voxel %lld is %g, of which there is no log(1 + x): these are no counts; "
          "data.scale=raw takes any number",
          where, (long long)(i + s->d0 * plane), x);
    }
  }
  if (s->opts->scale == CF_SCALE_MEAN && !(sum > MIN_MEAN * size)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: data.scale=mean divides voxels by their mean, which is %g where their "
                     "mean magnitude is %g: these are neither counts nor a density; "
                     "data.scale=raw takes any number",
                     where, sum / (double)n, size / (double)n);
  }
  return WEIR_OK;
}

static weir_status read_one(cf_samples *s, int64_t sample, void *voxels, void *truth)
{
  WEIR_TRY(cf_source_read(s->source, sample, s->d0, s->d1, s->dtype, voxels));
  WEIR_TRY(check(s, sample, voxels));
  switch (s->truth) {
  case CF_TRUTH_LABELS:
    return cf_source_labels(s->source, sample, truth);
  case CF_TRUTH_CLASSES:
    return cf_source_classes(s->source, sample, s->d0, s->d1, truth);
  default:
    return WEIR_OK;
  }
}

/* ---- Reading ahead ---- */

/* Numbers of the training's samples come first, then all samples of the source. */
static weir_status read_ahead(void *context, int64_t number, const weir_load_field *field,
                              void *const *out)
{
  cf_samples *const s = context;
  const int64_t n = s->prefetch.visits.order.samples;

  (void)field;
  return read_one(s, number < n ? s->prefetch.of[number] : number - n, out[0],
                  s->truth == CF_TRUTH_NONE ? NULL : out[1]);
}

weir_status cf_samples_prefetch(cf_samples *s, const cf_prefetch *f)
{
  const weir_box box = {.rank = 4,
                        .lo = {s->d0},
                        .hi = {s->d1, s->info.lengths[1], s->info.lengths[2], s->info.lengths[3]}};
  weir_load_field parts[2] = {{s->dtype, box}, {WEIR_F32, {.rank = 1, .hi = {s->info.n_labels}}}};
  char text[2 * sizeof s->key + 16];

  if (s->truth == CF_TRUTH_CLASSES) {
    parts[1] = (weir_load_field){WEIR_U8, box};
    parts[1].box.rank = 3;
  }
  WEIR_ASSERT(s->load == NULL);
  s->prefetch = *f;
  cf_source_key(s->source, text);
  weir_sha256(f->of, (size_t)f->visits.order.samples * sizeof *f->of, text + strlen(text));
  (void)strcat(text, cf_scale_name[s->opts->scale]); /* what check looks for, which others do not */
  (void)strcat(text, cf_quantity_name[s->info.quantity]);
  weir_sha256(text, strlen(text), s->key);
  return weir_load_open(f->load,
                        &(weir_load_source){.field = parts,
                                            .n_fields = s->truth == CF_TRUTH_NONE ? 1 : 2,
                                            .read = read_ahead,
                                            .context = s,
                                            .key = s->key,
                                            .readers = f->readers,
                                            .peers = f->peers},
                        &f->visits, f->end, &s->load);
}

weir_status cf_samples_batch(cf_samples *s, int64_t epoch, int64_t position)
{
  return s->load != NULL ? weir_load_batch(s->load, epoch, position) : WEIR_OK;
}

/* ---- A sample ---- */

/* Gets a sample outside the order: from the cache, or read. */
static weir_status get_entry(cf_samples *s, int64_t sample, entry **out)
{
  const bool cache = s->n_free > 0;
  entry *to = s->scratch;

  if (s->entry[sample] != NULL) {
    *out = s->entry[sample];
    return WEIR_OK;
  }
  if (cache) {
    WEIR_TRY(alloc_entry(s, &to));
    s->entry[sample] = to;
  }
  const weir_status status =
      s->load != NULL ? weir_load_uncached(s->load, s->prefetch.visits.order.samples + sample,
                                           (void *const[]){to->voxels, truth_of(s, to)})
                      : read_one(s, sample, to->voxels, truth_of(s, to));

  if (cache && status == WEIR_OK) {
    s->n_free--;
  } else if (cache) {
    weir_free(&s->entry[sample]);
  }
  *out = to;
  return status;
}

/* Gets the sample without view; borrowed until the next call. */
static weir_status get(cf_samples *s, const cf_wanted *want, const void **voxels,
                       const void **truth)
{
  const cf_visit *const p = want->visit;
  entry *own = NULL;
  weir_load_view view;

  if (s->load != NULL && p != NULL) {
    WEIR_TRY(weir_load_get(s->load, p->epoch, p->position, p->i, p->number, &view));
    *voxels = view.field[0];
    *truth = s->truth == CF_TRUTH_NONE ? NULL : view.field[1];
    return WEIR_OK;
  }
  WEIR_TRY(get_entry(s, want->sample, &own));
  *voxels = own->voxels;
  *truth = truth_of(s, own);
  return WEIR_OK;
}

weir_status cf_samples_read(cf_samples *s, const cf_wanted *want, void *voxels, void *truth)
{
  const cf_view whole = cf_view_symmetry(0), *const view = want->view != NULL ? want->view : &whole;
  const size_t voxel = (size_t)s->info.lengths[3] * weir_dtype_size(s->dtype);
  const int64_t lengths[4] = {s->d1 - s->d0, s->info.lengths[1], s->info.lengths[2],
                              s->info.lengths[3]};
  const int64_t lo[3] = {want->lo[0] - s->d0, want->lo[1], want->lo[2]};
  const int64_t hi[3] = {want->hi[0] - s->d0, want->hi[1], want->hi[2]};
  const void *own = NULL, *own_truth = NULL;

  WEIR_ASSERT(lo[0] >= 0 && hi[0] <= lengths[0] && (want->view == NULL || s->d0 == 0));
  WEIR_TRY(get(s, want, &own, &own_truth));
  if (want->whole != NULL) {
    *want->whole = own;
  }
  cf_view_take(view, lengths, lo, hi, voxel, own, voxels);
  if (s->truth == CF_TRUTH_CLASSES) {
    cf_view_take(view, lengths, lo, hi, 1, own_truth, truth);
  } else if (s->truth == CF_TRUTH_LABELS) {
    memcpy(truth, own_truth, (size_t)s->info.n_labels * sizeof(float));
  }
  return WEIR_OK;
}
