/* experiment.c - see experiment.h. */
#include "experiment.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "data/simulation/universe_write.h"
#include "fine_tuning.h"

enum { NETWORK, TRAINED, VALIDATED, INITIAL_TRUTHS, PATH = 4096, ROOM = 1 << 24 /* voxels */ };
#define SAMPLES_ARRAY "samples" /* stored: the digest of the training data */

/* ---- Samples ---- */

/* Survey of samples. */
typedef struct look {
  cf_source *s;
  cf_truth truth;
  int64_t at, of; /* this rank looks at the whole maps of samples at, at + of, .. */
  int64_t planes; /* of a map that are read at once */
  uint8_t *plane; /* [planes, height, width] */
  char digest[CF_DIGEST + 1];
  bool physical; /* all labels lie within the ranges of their parameters */
} look;

/* Fewer labels lie anywhere by chance. */
enum { LABELS_TO_JUDGE = 16 };

/* Whether labels could be the parameters themselves: not in [-1, 1], where each has a range within.
 */
static bool could_be_physical(const cf_volume_info *info, const float *label)
{
  bool could = info->n_labels > 0;

  for (int64_t i = 0; i < info->n_labels; i++) {
    could = could && info->lo[i] < info->hi[i] && label[i] >= (float)info->lo[i] &&
            label[i] <= (float)info->hi[i];
  }
  return could;
}

static void warn_of_physical(const look *k, const cf_cfg *cfg)
{
  const cf_volume_info *const info = cf_source_info(k->s);
  const int64_t n = cf_source_count(k->s);

  if (k->physical && k->at == 0 && k->truth == CF_TRUTH_LABELS &&
      n * info->n_labels >= LABELS_TO_JUDGE && cfg->files.label_scale == CF_LABELS_UNIT) {
    weir_warn(
        "data",
        "labels of all %lld samples lie within the ranges of their parameters (%s: %g to %g): "
        "they are read as numbers in [-1, 1]; set files.label_scale=physical if they stand in "
        "the units of the parameters",
        (long long)n, info->label[0][0] ? info->label[0] : "label 1", info->lo[0], info->hi[0]);
  }
}

/* Extends the digest by the truth of a sample; labels[n_labels]. */
static weir_status add_truth(look *k, int64_t sample, float *labels)
{
  const cf_volume_info *const info = cf_source_info(k->s);
  const int64_t d = info->lengths[0] / 2;
  char text[2 * CF_DIGEST + 1];
  const bool classes = k->truth == CF_TRUTH_CLASSES;

  WEIR_TRY(classes ? cf_source_classes(k->s, sample, d, d + 1, k->plane)
                   : cf_source_labels(k->s, sample, labels));
  k->physical = k->physical && !classes && could_be_physical(info, labels);
  memcpy(text, k->digest, CF_DIGEST);
  weir_sha256(classes ? (const void *)k->plane : (const void *)labels,
              classes ? (size_t)(info->lengths[1] * info->lengths[2])
                      : (size_t)info->n_labels * sizeof(float),
              text + CF_DIGEST);
  weir_sha256(text, sizeof text - 1, k->digest);
  return WEIR_OK;
}

/* Every class of a sample is one that there is. */
static weir_status check_classes(const look *k, int64_t sample)
{
  const int64_t depth = cf_source_info(k->s)->lengths[0];

  if (k->truth != CF_TRUTH_CLASSES || sample % k->of != k->at) {
    return WEIR_OK;
  }
  for (int64_t d = 0; d < depth; d += k->planes) {
    const int64_t end = d + k->planes < depth ? d + k->planes : depth;

    WEIR_TRY(cf_source_classes(k->s, sample, d, end, k->plane));
  }
  weir_progress("classes", sample + 1, cf_source_count(k->s), "samples");
  return weir_stop_requested()
             ? weir_fail(WEIR_ERR_STOPPED, "stopped at the classes of sample %lld",
                         (long long)(sample + 1))
             : WEIR_OK;
}

static weir_status survey(look *k, const cf_cfg *cfg, cf_surveyed *out)
{
  const bool alike = cfg->data.split.samples_per_universe > 0 && cfg->files.per_file > 0;
  const int64_t labels = k->truth == CF_TRUTH_LABELS ? cf_source_info(k->s)->n_labels : 0;

  if (labels > 0) {
    WEIR_TRY(weir_alloc(cf_source_count(k->s) * labels, sizeof(float), (void **)&out->label));
  }
  weir_sha256("", 0, k->digest);
  for (int64_t i = 0; i < cf_source_count(k->s); i++) {
    out->universe[i] = -1;
    if (i > 0 && alike && out->universe[0] < 0) {
      k->digest[0] = 0;
      k->physical = false; /* they are not read */
      weir_free(&out->label);
      continue;
    }
    WEIR_TRY(cf_source_universe(k->s, i, &out->universe[i]));
    if (k->truth != CF_TRUTH_NONE) {
      WEIR_TRY(add_truth(k, i, labels > 0 ? out->label + i * labels : NULL));
    }
    WEIR_TRY(check_classes(k, i));
  }
  (void)snprintf(out->truth, sizeof out->truth, "%s", k->truth != CF_TRUTH_NONE ? k->digest : "");
  return WEIR_OK;
}

weir_status cf_survey(cf_source *s, const cf_cfg *cfg, cf_truth truth, const weir_comm *comm,
                      cf_surveyed *out)
{
  const int64_t *const l = cf_source_info(s)->lengths;
  const int64_t fit = ROOM / (l[1] * l[2]);
  look k = {.s = s,
            .truth = truth,
            .physical = true,
            .at = comm != NULL ? weir_comm_rank(comm) : 0,
            .of = comm != NULL ? weir_comm_size(comm) : 1,
            .planes = fit < 1      ? 1
                      : fit < l[0] ? fit
                                   : l[0]};
  weir_status status = WEIR_OK;

  *out = (cf_surveyed){.universe = NULL};
  WEIR_TRY_GOTO(weir_alloc(cf_source_count(s), sizeof *out->universe, (void **)&out->universe),
                done);
  WEIR_TRY_GOTO(weir_alloc(k.planes * l[1] * l[2], 1, (void **)&k.plane), done);
  WEIR_TRY_GOTO(survey(&k, cfg, out), done);
  warn_of_physical(&k, cfg);
done:
  weir_free(&k.plane);
  if (status != WEIR_OK) {
    cf_surveyed_fini(out);
  }
  return status;
}

void cf_surveyed_fini(cf_surveyed *s)
{
  weir_free(&s->universe);
  weir_free(&s->label);
}

static weir_status open_all(cf_experiment *e, const weir_comm *comm)
{
  const cf_source_spec spec = {.source = &e->input,
                               .files = &e->cfg->files,
                               .simulate = &e->cfg->simulate,
                               .seed = (uint64_t)e->cfg->seed};
  cf_surveyed has;

  if (e->input.input.count == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "source.input: names no samples; prepare writes some, then --set "
                     "source.input=[DIR], or synth:// makes them as they are needed");
  }
  WEIR_TRY(cf_source_open(&spec, &e->source));
  const cf_truth truth = cf_truth_of(&e->cfg->model, cf_source_info(e->source));

  WEIR_TRY(cf_samples_create(&e->cfg->data, e->source, truth, &e->samples));
  WEIR_TRY(cf_survey(e->source, e->cfg, truth, comm, &has));
  cf_split_opts split = e->cfg->data.split;

  split.quiet = !e->leads;
  weir_status status = cf_split_create(&split, has.universe, cf_source_count(e->source), &e->split);

  if (status == WEIR_OK && has.label != NULL) {
    status = cf_split_check_labels(&e->split, cf_source_info(e->source)->n_labels, has.label);
  }
  cf_surveyed_fini(&has);
  memcpy(e->truth, has.truth, sizeof e->truth);
  WEIR_TRY(status);
  const int64_t *const u = e->split.universes;

  WEIR_TRY(cf_adaptation_open(&e->cfg->adapt, &e->cfg->data, &spec, e->samples,
                              cf_source_info(e->source), &e->split, &e->adaptation));
  return cf_data_check(&e->cfg->data, cf_source_info(e->source), e->split.count,
                       u[CF_TRAIN] + u[CF_VALID] + u[CF_TEST]);
}

weir_status cf_experiment_prepare(const cf_cfg *cfg, const char *folder)
{
  cf_universe_opts simulate = cfg->simulate;
  cf_universe_facts facts;
  cf_written done;

  if (cfg->source.input.count > 0) {
    return WEIR_OK;
  }
  simulate.ranks = 1; /* this one: the same universes */
  WEIR_TRY(cf_universe_check(&simulate, &facts));
  WEIR_TRY(weir_dir_create(folder));
  WEIR_TRY(cf_universe_check_folder(&simulate, &facts, (uint64_t)cfg->seed, folder));
  WEIR_TRY(cf_universe_write(&simulate, (uint64_t)cfg->seed, folder, NULL, &done));
  if (done.files > 0) {
    weir_info("samples",
              "source.input names no samples: %lld universes of the section simulate: %s",
              (long long)done.universes, folder);
  }
  return WEIR_OK;
}

weir_status cf_experiment_open(cf_cfg *cfg, const char *folder, const weir_comm *comm,
                               cf_experiment *out)
{
  *out = (cf_experiment){.cfg = cfg,
                         .input = cfg->source,
                         .folder = {folder},
                         .leads = comm == NULL || weir_comm_rank(comm) == 0,
                         .train = cfg->train};
  out->train.seed += cfg->seed;
  if (out->input.input.count == 0 && folder != NULL) {
    out->input.input = (weir_string_list){out->folder, 1};
  }
  const weir_status status = open_all(out, comm);

  if (status != WEIR_OK) {
    cf_experiment_close(out);
  }
  return status;
}

void cf_experiment_close(cf_experiment *e)
{
  cf_estimator_close(&e->estimator);
  weir_free(&e->whole);
  for (size_t k = 0; k < sizeof e->text / sizeof e->text[0]; k++) {
    weir_free(&e->text[k]);
  }
  cf_samples_destroy(&e->samples); /* may still prefetch, which uses the split */
  cf_adaptation_close(&e->adaptation);
  weir_comm_close(&e->peers.comm);
  cf_split_fini(&e->split);
  cf_source_close(&e->source);
}

void cf_experiment_tell(const cf_experiment *e)
{
  const cf_split *const s = &e->split;
  char text[512];

  cf_source_describe(e->source, text, sizeof text);
  weir_event("samples", WEIR_TEXT("of", text), WEIR_INT("train", s->n[CF_TRAIN]),
             WEIR_INT("valid", s->n[CF_VALID]), WEIR_INT("test", s->n[CF_TEST]),
             WEIR_INT("universes_train", s->universes[CF_TRAIN]),
             WEIR_INT("universes_valid", s->universes[CF_VALID]),
             WEIR_INT("universes_test", s->universes[CF_TEST]));
  cf_source_summary(e->source, text, sizeof text);
  weir_info("samples", "%s", text);
  weir_info("samples",
            "training: %lld samples from %lld universes; validation: %lld from %lld; test: %lld "
            "from %lld",
            (long long)s->n[CF_TRAIN], (long long)s->universes[CF_TRAIN], (long long)s->n[CF_VALID],
            (long long)s->universes[CF_VALID], (long long)s->n[CF_TEST],
            (long long)s->universes[CF_TEST]);
}

/* ---- As inputs ---- */

static void begin_epoch(void *context, int64_t epoch)
{
  cf_experiment *e = context;

  e->epoch = epoch;
}

static bool is_augmented(const cf_data_opts *o)
{
  return o->augment.symmetry != CF_SYMMETRY_NONE || o->augment.shift;
}

static weir_status refuse_samples(const char *of)
{
  return weir_fail(
      WEIR_ERR_CONFIG,
      "%s: was trained on other samples, with another split or other "
      "augmentation: take the source, data, adapt, simulate and seed of that run, or another "
      "--out",
      of);
}

/* Checks that the checkpoint from which the trainer resumes, which may be older than the latest, is
 * of these samples. */
static weir_status check_taken(cf_experiment *e)
{
  const weir_tensor *taken = NULL;

  WEIR_TRY(weir_store_read(e->estimator.store, SAMPLES_ARRAY, &taken));
  return memcmp(taken->data, e->digest, CF_DIGEST) == 0 ? WEIR_OK
                                                        : refuse_samples("the checkpoint");
}

/* Before the first sample. A rank reads the planes of its box alone where nothing else is ever
 * asked for. */
static weir_status begin(cf_experiment *e, const weir_box *box)
{
  if (e->begun) {
    return WEIR_OK;
  }
  WEIR_TRY(check_taken(e));
  if (!is_augmented(&e->cfg->data) && e->cfg->data.scale != CF_SCALE_MEAN && e->whole == NULL) {
    cf_samples_planes(e->samples, box->lo[0], box->hi[0]);
  }
  e->begun = true;
  return e->end == 0 && e->peers.comm == NULL
             ? WEIR_OK
             : cf_samples_prefetch(e->samples,
                                   &(cf_prefetch){.load = &e->cfg->load,
                                                  .visits = e->visits,
                                                  .end = e->end,
                                                  .readers = e->readers,
                                                  .peers = e->peers.comm != NULL ? &e->peers : NULL,
                                                  .of = e->split.sample[CF_TRAIN]});
}

/* Announces a batch on all ranks in the same order, for exchanging samples. */
static weir_status meet(void *context, const weir_train_batch *want)
{
  cf_experiment *const e = context;
  weir_status status = begin(e, &want->box[0]);

  if (!e->met && e->peers.comm != NULL) { /* from here on ranks wait for messages */
    status = weir_comm_agree(e->peers.comm, status);
  }
  e->met = true;
  WEIR_TRY(status);
  WEIR_TRY(cf_samples_batch(e->samples, want->epoch, want->position));
  return WEIR_OK;
}

static weir_status fetch(void *context, const weir_train_batch *want, weir_tensor *const *tensor)
{
  cf_experiment *e = context;
  const bool train = want->split == WEIR_TRAIN_SAMPLES,
             augmented = train && is_augmented(&e->cfg->data);
  const int64_t *const lengths = e->estimator.is.info->lengths;
  const int64_t *const of = e->split.sample[train ? CF_TRAIN : CF_VALID];
  const weir_box *const box = &want->box[0], *const truth = &want->box[1];
  const bool alone = e->estimator.task.n_inputs == 1;
  cf_wanted w = {.sample = 0};
  int64_t voxels = lengths[3], bytes = 0;

  WEIR_ASSERT(box->lo[3] == 0 && box->hi[3] == lengths[3]);
  for (int d = 0; d < 3; d++) {
    w.lo[d] = box->lo[d];
    w.hi[d] = box->hi[d];
    voxels *= box->hi[d] - box->lo[d];
  }
  if (!alone) {
    bytes = (int64_t)weir_dtype_size(tensor[1]->dtype);
    for (int d = 0; d < truth->rank; d++) { /* classes are sharded like voxels */
      WEIR_ASSERT(truth->rank == 1 || (truth->lo[d] == box->lo[d] && truth->hi[d] == box->hi[d]));
      bytes *= truth->hi[d] - truth->lo[d];
    }
  }
  WEIR_TRY(begin(e, box));
  for (int64_t i = 0; i < want->n; i++) {
    const cf_visit visit = {want->epoch, want->position, i, want->sample[i]};

    w.sample = of[want->sample[i]];
    w.visit = train && want->position >= 0 ? &visit : NULL;
    const cf_view view =
        cf_view_of(&e->cfg->data, e->estimator.is.info, e->train.seed, e->epoch, w.sample);
    char *const to = tensor[0]->data;

    w.view = augmented ? &view : NULL;
    if (e->whole != NULL) {
      const cf_cubes cubes = {.seed = e->train.seed, .epoch = e->epoch, .voxels = e->whole};

      WEIR_TRY(cf_sizes_read(&e->cfg->data, e->samples, &w, &cubes, i, want->repeats, tensor));
      continue;
    }
    WEIR_TRY(cf_samples_read(e->samples, &w,
                             to + (size_t)(i * voxels) * weir_dtype_size(tensor[0]->dtype),
                             alone ? NULL : (char *)tensor[1]->data + i * bytes));
    if (e->adaptation.source != NULL && train) { /* validation is of the training's simulation */
      WEIR_TRY(cf_adaptation_read(
          &e->adaptation, &e->cfg->data, e->train.seed, e->epoch, want->sample[i], w.lo, w.hi,
          (char *)tensor[2]->data + (size_t)(i * voxels) * weir_dtype_size(tensor[2]->dtype)));
    }
  }
  return WEIR_OK;
}

/* ---- The network ---- */

static void validated(void *context, int64_t step, const double *moments)
{
  cf_experiment *const e = context;

  if (e->leads) {
    cf_estimator_warn(e->estimator.is.info, step, moments, e->constant);
  }
}

/* Computes the digest of all that a training depends on besides network and updates, for the
 * checkpoint. */
static weir_status digest(cf_experiment *e)
{
  const cf_data_opts *const o = &e->cfg->data;
  char *text = NULL, hex[CF_DIGEST + 1] = "";
  weir_status status;
  size_t size = 0;
  FILE *const out = open_memstream(&text, &size);

  if (out == NULL) {
    return weir_fail(WEIR_ERR_MEMORY, "no memory for the digest of the samples");
  }
  for (int k = CF_NOTE_scale; k <= CF_NOTE_redshifts; k++) {
    (void)fprintf(out, "%s\n", e->line[k]);
  }
  if (cf_source_simulates(e->source)) { /* a copy of files has another key */
    cf_source_key(e->source, hex);
  }
  cf_sizes_write(&o->sizes, out);
  (void)fprintf(out, "%s\n%s\n%d %d\n%s\n%s\n%s\n%s\n", e->text[TRAINED], e->text[VALIDATED],
                o->augment.symmetry, o->augment.shift, e->line[CF_NOTE_samples],
                e->line[CF_NOTE_samples_per_universe], hex, e->truth);
  cf_adaptation_put(&e->cfg->adapt, &e->adaptation, out);
  status = fclose(out) == 0 ? WEIR_OK : weir_fail(WEIR_ERR_MEMORY, "no memory for a digest");
  if (status == WEIR_OK) {
    weir_sha256(text, size, hex);
    memcpy(e->digest, hex, CF_DIGEST);
  }
  free(text);
  return status;
}

/* What the weights that the training starts from were trained on. */
static weir_status take_initial(cf_experiment *e)
{
  const char *const path = e->train.initial_weights;
  const cf_fine_tuning own = {.network = e->text[NETWORK],
                              .scale = e->cfg->data.scale,
                              .info = cf_source_info(e->source),
                              .truth = e->truth,
                              .trained = e->text[TRAINED],
                              .validated = e->text[VALIDATED],
                              .leads = e->leads};

  return path[0] == 0 ? weir_strdup("", &e->text[INITIAL_TRUTHS])
                      : cf_fine_tuning_check(&own, path, e->line[CF_NOTE_initial_samples],
                                             &e->text[INITIAL_TRUTHS]);
}

static weir_status take_notes(cf_experiment *e, const weir_config *config,
                              const char *note[CF_NOTES])
{
  char described[CF_NOTE_LINE];
  const cf_volume_info *const info = cf_source_info(e->source);

  WEIR_TRY(cf_note_model(config, &e->text[NETWORK]));
  WEIR_TRY(cf_split_text(&e->split, CF_TRAIN, &e->text[TRAINED]));
  WEIR_TRY(cf_split_text(&e->split, CF_VALID, &e->text[VALIDATED]));
  WEIR_TRY(take_initial(e));
  cf_note_info(info, e->line);
  cf_source_describe(e->source, described, sizeof described);
  (void)snprintf(e->line[CF_NOTE_scale], CF_NOTE_LINE, "%s", cf_scale_name[e->cfg->data.scale]);
  (void)snprintf(e->line[CF_NOTE_samples_per_universe], CF_NOTE_LINE, "%lld",
                 (long long)e->split.samples_per_universe);
  (void)snprintf(e->line[CF_NOTE_sample_count], CF_NOTE_LINE, "%lld", (long long)e->split.count);
  (void)snprintf(e->line[CF_NOTE_samples], CF_NOTE_LINE, "%s", described);
  (void)snprintf(e->line[CF_NOTE_truth_digest], CF_NOTE_LINE, "%s", e->truth);
  (void)snprintf(e->line[CF_NOTE_voxels], CF_NOTE_LINE, "%s", cf_quantity_name[info->quantity]);
  (void)snprintf(e->line[CF_NOTE_simulation], CF_NOTE_LINE, "%s", info->simulation);
  const double scale[] = {info->box, info->cell, info->unit}; /* in the order of their notes */
  for (int k = 0; k < 3; k++) {
    if (scale[k] > 0) {
      (void)snprintf(e->line[CF_NOTE_box_size_mpc_h + k], CF_NOTE_LINE, "%.17g", scale[k]);
    }
  }
  for (int k = 0; k < CF_NOTES; k++) {
    note[k] = e->line[k];
  }
  note[CF_NOTE_network] = e->text[NETWORK];
  note[CF_NOTE_universes_train] = e->text[TRAINED];
  note[CF_NOTE_universes_valid] = e->text[VALIDATED];
  note[CF_NOTE_initial_truths] = e->text[INITIAL_TRUTHS];
  return WEIR_OK;
}

weir_status cf_experiment_network(cf_experiment *e, const weir_config *config)
{
  cf_estimator_spec spec = {.model = &e->cfg->model,
                            .scale = e->cfg->data.scale,
                            .info = cf_source_info(e->source),
                            .dtype = cf_sizes_dtype(&e->cfg->data, cf_samples_dtype(e->samples)),
                            .adapt = e->adaptation.source != NULL ? &e->cfg->adapt : NULL,
                            .sizes = &e->cfg->data.sizes,
                            .scaled = cf_sizes_scaled(&e->cfg->data)};
  weir_train_task *const task = &e->estimator.task;

  WEIR_TRY(
      cf_sizes_check(&e->cfg->data, spec.info, cf_model_net(spec.model)->target == CF_SEGMENT));
  WEIR_TRY(cf_sizes_alloc(&e->cfg->data, spec.info, &e->whole));
  WEIR_TRY(take_notes(e, config, spec.note));
  WEIR_TRY(cf_estimator_open(&spec, e->train.seed, &e->estimator));
  weir_grid_replicate_below(&e->cfg->grid, task->replicate_below);
  task->n_train = e->split.n[CF_TRAIN];
  task->n_valid = e->split.n[CF_VALID];
  task->batch = meet;
  task->fetch = fetch;
  task->epoch = begin_epoch;
  task->context = e;
  task->validated = validated;
  weir_tensor *stored = NULL;

  WEIR_TRY(digest(e));
  WEIR_TRY(weir_store_add(e->estimator.store, SAMPLES_ARRAY, WEIR_U8, 1, (int64_t[]){CF_DIGEST}));
  if (e->train.initial_weights[0] != 0) {
    WEIR_TRY(weir_train_weights(e->estimator.params, e->estimator.store, e->train.initial_weights));
  }
  WEIR_TRY(weir_store_write(e->estimator.store, SAMPLES_ARRAY, &stored));
  memcpy(stored->data, e->digest, CF_DIGEST);
  return WEIR_OK;
}

/* Checks that a checkpoint has the digest of these samples, before the folder is changed; a damaged
 * one is left to the trainer, and its replacement is checked in check_taken. */
static weir_status check_same_samples(cf_experiment *e, const char *dir)
{
  cf_estimator *const n = &e->estimator;
  weir_tensor *stored = NULL;
  char path[PATH], first[PATH];

  WEIR_TRY(weir_train_model_dir(&e->train, dir, 0, first, sizeof first));
  WEIR_TRY(weir_checkpoint_newest_path(first, path, sizeof path));
  if (path[0] == 0) {
    return WEIR_OK;
  }
  const weir_status read = weir_train_weights(n->params, n->store, path);

  WEIR_TRY(weir_store_write(n->store, SAMPLES_ARRAY, &stored));
  const bool same = memcmp(stored->data, e->digest, CF_DIGEST) == 0;

  memcpy(stored->data, e->digest, CF_DIGEST);
  if (read == WEIR_ERR_SHAPE || read == WEIR_ERR_MEMORY) {
    return weir_trace_at(read, __FILE__, __LINE__, __func__);
  }
  return same ? WEIR_OK : refuse_samples(path);
}

/* Computes the access stream of this rank, and the ranks with the same box of other samples, which
 * depend on the groups of the grid. Collective. */
static weir_status plan_visits(cf_experiment *e, const weir_dist *dist)
{
  const weir_sampler o = weir_train_order(&e->train, e->split.n[CF_TRAIN]);
  int coords[WEIR_GRID_DIMS] = {0}, groups = 1;

  if (weir_sampler_epoch(&o) == 0) { /* the trainer refuses it */
    return WEIR_OK;
  }
  weir_train_last(&e->estimator.task, &e->train, e->split.n[CF_TRAIN], &e->peers.epoch,
                  &e->peers.position);
  if (dist != NULL && dist->comm != NULL && dist->grid.dims > 0) {
    weir_grid_coords(&dist->grid, weir_comm_rank(dist->comm), coords);
    groups = dist->grid.extent[WEIR_ALONG_SAMPLES];
    e->readers = weir_comm_size(dist->comm);
  }
  if (groups > 1 && e->cfg->load.remote != WEIR_LOAD_OFF) {
    WEIR_TRY(weir_grid_sub(&dist->grid, dist->comm, 1U << WEIR_ALONG_SAMPLES, &e->peers.comm));
  }
  e->visits = weir_access_stream_of(&o, coords[WEIR_ALONG_SAMPLES], groups);
  e->end = weir_access_stream_from(&e->visits, e->peers.epoch, e->peers.position);
  return WEIR_OK;
}

weir_status cf_experiment_train(cf_experiment *e, const char *dir, const weir_plan_opts *exec,
                                weir_train_result *result)
{
  cf_estimator *const n = &e->estimator;
  weir_comm *const c = exec->dist->comm;

  if (e->leads) {
    cf_sizes_tell(&n->task);
  }
  WEIR_TRY(plan_visits(e, exec->dist));
  WEIR_TRY(weir_comm_agree(c, weir_comm_rank(c) == 0 ? check_same_samples(e, dir) : WEIR_OK));
  WEIR_TRY(weir_train_run(&n->task, &e->train, exec, n->params, n->store, dir, result));
  return check_taken(e); /* where nothing was left to do, no sample was asked for */
}
