/* features.c - see features.h. Samples are read one after the other, and processed by all threads.
 * */
#include "eval/features.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_signal.h"
#include "comm/weir_items.h"
#include "data/simulation/power.h"
#include "data/volume/volume_format.h"
#include "data/volume/voxels.h"
#include "device/weir_parallel.h"

const weir_opt cf_feature_options[] = {
    WEIR_OPT_ENUM(cf_feature_opts, scale, CF_FEATURES_OF_COUNTS, "counts|mean",
                  "P(k) and moments are of counts n, or of n over the mean of the sample, which "
                  "tells nothing of the number of particles (as data.scale mean for networks): for "
                  "sets that differ in it"),
    WEIR_OPT_REAL(cf_feature_opts, reach, 1.7321, 0.1, 1.7321, "Nyquist",
                  "largest waves of P(k): 1, that of Nyquist along an axis; 1.7321, the root of 3, "
                  "all that the mesh has"),
    WEIR_OPT_INT(cf_feature_opts, bins, 64, 0, 2048, "1",
                 "bins of log P(k) of each redshift, at most: neighbours are averaged; 0: all"),
    WEIR_OPT_INT(cf_feature_opts, moments, 4, 0, CF_MAX_MOMENTS, "1",
                 "moments of log(1 + counts) up to this order, for a second regression; 0: none"),
    WEIR_OPT_END,
};

/* Workspace of one sample. */
typedef struct slot {
  float *voxels; /* a sample as it is read */
  float *field;
  cf_power power;
  double *features;
  double lowest; /* voxel */
  cf_summary_slot summary;
  cf_summary_fault fault;
} slot;

typedef struct work {
  const cf_feature_opts *opts;
  const cf_volume_info *info;
  cf_mesh *mesh;
  cf_summaries summaries;
  const cf_features *out;
  int64_t waves, bins, each; /* fundamental bins; bins of a channel, and what one is made of */
  int64_t n_slots;
  slot *slots;
} work;

void cf_features_fini(cf_features *f)
{
  weir_free(&f->x);
}

/* ---- a sample ---- */

/* Mean, standard deviation and standardised moments of log(1 + n), in two passes. */
static void take_moments(const work *w, const slot *r, double *out)
{
  const int64_t n = w->info->lengths[1], lines = w->info->lengths[0] * n;
  const int64_t pitch = cf_mesh_pitch(w->mesh);
  const double cells = (double)(lines * n);
  double mean = 0, sum[CF_MAX_MOMENTS + 1] = {0};

  for (int64_t line = 0; line < lines; line++) {
    for (int64_t z = 0; z < n; z++) {
      mean += log1p((double)r->field[line * pitch + z]) / cells;
    }
  }
  for (int64_t line = 0; line < lines; line++) {
    for (int64_t z = 0; z < n; z++) {
      const double d = log1p((double)r->field[line * pitch + z]) - mean;
      double power = d;

      for (int64_t k = 2; k <= w->opts->moments; k++) {
        power *= d;
        sum[k] += power / cells;
      }
    }
  }
  const double sigma = sqrt(sum[2]);

  for (int64_t k = 1; k <= w->opts->moments; k++) {
    out[k - 1] = k == 1 ? mean : k == 2 ? sigma : sigma > 0 ? sum[k] / pow(sigma, (double)k) : 0;
  }
}

/* Waves without power have a floor below that of any particle. */
static void take_power(const work *w, slot *r, double *out)
{
  const double floor = 1e-20;

  cf_mesh_forward(w->mesh, r->field);
  cf_power_measure(&r->power, w->mesh, r->field, 1, 0);
  for (int64_t b = 0; b < w->bins; b++) {
    double sum = 0, waves = 0;

    for (int64_t k = b * w->each; k < (b + 1) * w->each && k < r->power.n_bins; k++) {
      sum += r->power.modes[k] * r->power.p[k];
      waves += r->power.modes[k];
    }
    out[b] = log10(fmax(sum / waves, floor));
  }
}

/* Computes the further summaries of channel c, until a channel has none. */
static void take_summaries(const work *w, slot *r, int64_t c)
{
  double *out[CF_SUMMARIES];

  for (int k = 0; k < CF_SUMMARIES; k++) {
    out[k] = r->features + w->out->begin[CF_FEATURE_SUMMARIES + k] + c * w->summaries.each[k];
  }
  if (w->opts->which != 0 && r->fault.why == NULL) {
    (void)cf_summaries_measure(&w->summaries, &r->summary, r->voxels, c, out, &r->fault);
  }
}

/* Divides the field by its mean; one of zeros remains. */
static void divide_by_mean(const work *w, slot *r)
{
  const int64_t n = w->info->lengths[1], lines = w->info->lengths[0] * n;
  const int64_t pitch = cf_mesh_pitch(w->mesh);
  double sum = 0;

  for (int64_t line = 0; line < lines; line++) {
    for (int64_t z = 0; z < n; z++) {
      sum += (double)r->field[line * pitch + z];
    }
  }
  const double scale = sum != 0 ? (double)(lines * n) / sum : 1;

  for (int64_t line = 0; line < lines; line++) {
    for (int64_t z = 0; z < n; z++) {
      r->field[line * pitch + z] = (float)(scale * (double)r->field[line * pitch + z]);
    }
  }
}

static void look(void *context, int64_t item, int thread)
{
  const work *const w = context;
  slot *const r = &w->slots[item];
  const int64_t channels = w->info->lengths[3];

  (void)thread;
  r->lowest = INFINITY;
  r->fault.why = NULL;
  for (int64_t c = 0; c < channels; c++) {
    r->lowest = fmin(r->lowest, cf_power_field(w->mesh, r->voxels, channels, c, r->field));
    if (w->opts->scale == CF_FEATURES_OF_DENSITY) {
      divide_by_mean(w, r);
    }
    if (w->opts->moments > 0) {
      take_moments(w, r, r->features + channels * w->bins + c * w->opts->moments);
    }
    take_summaries(w, r, c);
    take_power(w, r, r->features + c * w->bins);
  }
}

/* ---- all of them ---- */

static void close_work(work *w)
{
  for (int64_t k = 0; w->slots != NULL && k < w->n_slots; k++) {
    weir_free(&w->slots[k].voxels);
    weir_free(&w->slots[k].field);
    cf_power_fini(&w->slots[k].power);
    cf_summary_slot_fini(&w->summaries, &w->slots[k].summary);
  }
  weir_free(&w->slots);
  cf_summaries_fini(&w->summaries);
  cf_mesh_destroy(&w->mesh);
}

static weir_status open_work(work *w, int64_t samples)
{
  const int64_t n = w->info->lengths[1], elements = cf_volume_elements(w->info);
  const int64_t memory = weir_cpu_get()->constants.memory_bytes;
  const int64_t threads = weir_threads_get();
  int64_t each = elements * 4 + w->info->lengths[0] * n * (n + 4) * 4 + n * n * 4;

  WEIR_TRY(cf_power_mesh(w->info, &w->mesh));
  if (w->opts->which != 0) {
    WEIR_TRY(cf_summaries_init(w->opts->summaries, w->opts->which, w->info, &w->summaries));
    each += cf_summary_slot_bytes(&w->summaries);
  }
  const int64_t fit = memory > 0 ? memory / 2 / each : INT64_MAX; /* half: others have work */

  w->n_slots = threads < samples ? threads : samples;
  w->n_slots = w->n_slots > fit ? fit : w->n_slots;
  w->n_slots = w->n_slots < 1 ? 1 : w->n_slots;
  w->waves = cf_power_reach(w->mesh, w->opts->reach);
  w->each = w->opts->bins == 0 ? 1 : (w->waves + w->opts->bins - 1) / w->opts->bins;
  w->bins = (w->waves + w->each - 1) / w->each;
  WEIR_TRY(weir_alloc(w->n_slots, sizeof *w->slots, (void **)&w->slots));
  for (int64_t k = 0; k < w->n_slots; k++) {
    slot *const r = &w->slots[k];

    WEIR_TRY(weir_alloc(elements, sizeof *r->voxels, (void **)&r->voxels));
    WEIR_TRY(cf_mesh_field(w->mesh, &r->field));
    WEIR_TRY(cf_power_init(&r->power, w->mesh, 1, w->waves));
    if (w->opts->which != 0) {
      WEIR_TRY(cf_summary_slot_init(&w->summaries, &r->summary));
    }
  }
  return WEIR_OK;
}

/* Sets the columns of each kind of features. */
static void lay_out(const work *w, cf_features *f)
{
  const int64_t channels = w->info->lengths[3];

  f->begin[CF_FEATURE_MOMENTS] = channels * w->bins;
  f->begin[CF_FEATURE_SUMMARIES] = channels * (w->bins + w->opts->moments);
  for (int k = 0; k < CF_SUMMARIES; k++) {
    f->begin[CF_FEATURE_SUMMARIES + k + 1] =
        f->begin[CF_FEATURE_SUMMARIES + k] + channels * w->summaries.each[k];
  }
  f->n_power = f->begin[CF_FEATURE_MOMENTS];
  f->n_features = f->begin[CF_FEATURE_KINDS];
  f->periodic = w->summaries.periodic;
}

/* Checks that the voxels match their quantity. */
static weir_status check(const work *w, const cf_source *s, int64_t sample, const float *voxels)
{
  const cf_voxels all = {.dtype = WEIR_F32,
                         .data = voxels,
                         .n = cf_volume_elements(w->info),
                         .whole = true,
                         .raw = w->opts->moments == 0};
  char where[CF_MAX_LOCATION];

  cf_source_locate(s, sample, where, sizeof where);
  return cf_voxels_check(w->info, where, &all);
}

static weir_status judge(const work *w, const slot *r, const cf_source *s, int64_t sample)
{
  char where[CF_MAX_LOCATION];

  if (r->fault.why == NULL && (w->opts->moments == 0 || r->lowest > -1)) {
    return WEIR_OK;
  }
  cf_source_locate(s, sample, where, sizeof where);
  if (r->fault.why != NULL) {
    return cf_summary_refuse(&r->fault, where);
  }
  return weir_fail(WEIR_ERR_DATA,
                   "%s: has a voxel of %g, and log(1 + n) is of counts: without moments "
                   "(moments: 0) its power spectrum alone is used",
                   where, r->lowest);
}

/* One sample alone is shared by all threads. */
static void look_at(work *w, int64_t n)
{
  if (w->n_slots == 1) {
    look(w, 0, 0);
  } else {
    weir_parallel(n, 0, look, w);
  }
}

/* What is computed of a list of samples. */
typedef struct listed {
  work *w;
  cf_source *s;
  const int64_t *sample;
  int64_t n, each; /* samples; of an item */
  cf_feature_visit visit;
  void *context;
  cf_features *out;
} listed;

/* Samples first .. first + count - 1, each in a slot. */
static weir_status make_some(const listed *l, int64_t first, int64_t count)
{
  work *const w = l->w;

  for (int64_t k = 0; k < count; k++) {
    const int64_t at = l->sample[first + k];

    if (l->visit != NULL) {
      WEIR_TRY(l->visit(l->context, first + k));
    }
    WEIR_TRY(cf_source_read(l->s, at, 0, w->info->lengths[0], WEIR_F32, w->slots[k].voxels));
    WEIR_TRY(check(w, l->s, at, w->slots[k].voxels));
    w->slots[k].features = l->out->x + (first + k) * l->out->n_features;
  }
  look_at(w, count);
  for (int64_t k = 0; k < count; k++) {
    WEIR_TRY(judge(w, &w->slots[k], l->s, l->sample[first + k]));
  }
  return WEIR_OK;
}

static int64_t end_of(const listed *l, int64_t i)
{
  return (i + 1) * l->each < l->n ? (i + 1) * l->each : l->n;
}

static weir_status make_item(void *context, int64_t i, weir_bytes *out)
{
  const listed *const l = context;
  const int64_t begin = i * l->each, end = end_of(l, i), slots = l->w->n_slots;

  for (int64_t first = begin; first < end; first += slots) {
    WEIR_TRY(make_some(l, first, end - first < slots ? end - first : slots));
    if (weir_stop_requested() && first + slots < end) {
      return weir_fail(WEIR_ERR_STOPPED, "stopped after %lld of %lld samples",
                       (long long)(first + slots), (long long)l->n);
    }
  }
  return weir_bytes_put(out, l->out->x + begin * l->out->n_features,
                        (end - begin) * l->out->n_features * (int64_t)sizeof *l->out->x);
}

static weir_status take_item(void *context, int64_t i, const char *data, int64_t n)
{
  const listed *const l = context;
  const int64_t begin = i * l->each, count = end_of(l, i) - begin;

  return weir_bytes_get(&data, data + n, l->out->x + begin * l->out->n_features,
                        count * l->out->n_features * (int64_t)sizeof *l->out->x);
}

/* Samples of an item: some for every thread, and items for every rank. */
static int64_t samples_of_item(int64_t n, const weir_comm *comm)
{
  const int64_t most = 64, ranks = comm != NULL ? weir_comm_size(comm) : 1;
  const int64_t each = (n + ranks - 1) / ranks;

  return each < 1 ? 1 : each < most ? each : most;
}

weir_status cf_features_make(const cf_feature_opts *opts, const cf_feature_samples *of,
                             cf_features *out)
{
  work w = {.opts = opts, .info = cf_source_info(of->source), .out = out};
  listed l = {.w = &w,
              .s = of->source,
              .sample = of->sample,
              .n = of->n,
              .each = samples_of_item(of->n, of->comm),
              .visit = of->visit,
              .context = of->context,
              .out = out};
  weir_status status = WEIR_OK;

  *out = (cf_features){0};
  WEIR_TRY(cf_power_check(w.info));
  WEIR_TRY_GOTO(open_work(&w, of->n), done);
  lay_out(&w, out);
  WEIR_TRY_GOTO(weir_alloc(of->n * out->n_features, sizeof *out->x, (void **)&out->x), done);
  WEIR_TRY_GOTO(weir_items_run(&(weir_items){.comm = of->comm,
                                             .what = "eval",
                                             .unit = "groups of samples",
                                             .n = (of->n + l.each - 1) / l.each,
                                             .make = make_item,
                                             .take = take_item},
                               &l),
                done);
done:
  close_work(&w);
  if (status != WEIR_OK) {
    cf_features_fini(out);
  }
  return status;
}
