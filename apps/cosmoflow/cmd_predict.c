/* cmd_predict.c - predictions of trained weights: predictions.nc and predictions.csv; classes of
 * voxels are predicted by predict/maps.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "predict/predict.h"
#include "report/weir_report.h"
#include "commands.h"

typedef cf_predict work;

/* ---- What is read ---- */

/* Universes numbered by position are those of the training only in its own set, as a whole. */
static weir_status check_numbering(const work *w, const char *truth)
{
  const cf_weights *const t = &w->weights;
  const cf_split *const s = &w->split;
  const char *const trained = t->text[CF_NOTE_truth_digest];
  char there[96], here[96];

  if (s->samples_per_universe == t->samples_per_universe &&
      (s->samples_per_universe == 0 || s->count == t->count)) {
    const bool comparable = s->samples_per_universe > 0 || s->count == t->count;
    const bool other =
        comparable && truth[0] != 0 && trained[0] != 0 && strcmp(truth, trained) != 0;

    return !other ? WEIR_OK
                  : weir_fail(
                        WEIR_ERR_CONFIG,
                        "%s was trained on another set of %lld samples: their labels or "
                        "classes are others than these; which of these it has seen is not known: "
                        "predict.external_universes=true where it has seen none",
                        w->cfg->predict.weights, (long long)s->count);
  }
  (void)snprintf(there, sizeof there, "%s (samples_per_universe %lld, of %lld samples)",
                 t->samples_per_universe > 0 ? "position" : "the files",
                 (long long)t->samples_per_universe, (long long)t->count);
  (void)snprintf(here, sizeof here, "%s (samples_per_universe %lld, of %lld samples)",
                 s->samples_per_universe > 0 ? "position" : "the files",
                 (long long)s->samples_per_universe, (long long)s->count);
  return weir_fail(
      WEIR_ERR_CONFIG,
      "data.split.samples_per_universe: %s was trained on universes that are numbered by %s, and "
      "these are by %s: which of them it has seen is not known; take the set of the "
      "training as a whole, or predict.external_universes=true where it has seen none",
      w->cfg->predict.weights, there, here);
}

static bool segments(const work *w)
{
  return cf_model_net(&w->weights.model)->target == CF_SEGMENT;
}

/* Whether parameters are estimated that are not known: of no sample of the training. */
static bool is_unlabelled(const work *w)
{
  return !segments(w) && w->truth == CF_TRUTH_NONE;
}

/* Warns of samples of another simulation than those of the training, where both state theirs.
 * Returns whether their universes are others, whatever their numbers: those of another seed are. */
static bool is_other_simulation(const work *w)
{
  const char *const trained = w->weights.text[CF_NOTE_simulation], *const is = w->info.simulation;
  char differences[512];

  if (trained[0] == 0 || is[0] == 0 || strcmp(trained, is) == 0) {
    return false;
  }
  const bool other_seed = !cf_universe_text_same_seed(trained, is);

  if (w->others) {
    return other_seed;
  }
  cf_universe_text_compare(trained, is, differences, sizeof differences);
  weir_warn("predict", "%s: was trained on another simulation (%s): %s", w->cfg->predict.weights,
            differences,
            other_seed ? "all universes are external ones (predict.external_universes), of the "
                         "subset test"
                       : "universes are those of the training by their numbers, as the seeds are "
                         "equal; predict.external_universes=true where they are not");
  return other_seed;
}

/* What fine-tuned weights were trained on before has no unseen universe that is known. */
static weir_status check_earlier(const work *w, const char *truth)
{
  const char *const *const text = (const char *const *)w->weights.text;
  const bool earlier = truth[0] != 0 && strstr(text[CF_NOTE_initial_truths], truth) != NULL &&
                       strcmp(text[CF_NOTE_truth_digest], truth) != 0;

  return !earlier ? WEIR_OK
                  : weir_fail(WEIR_ERR_CONFIG,
                              "%s: was fine-tuned from weights that were trained on these samples: "
                              "predict those of its own training, or others",
                              w->cfg->predict.weights);
}

static weir_status assign_subsets(work *w)
{
  const char *const *text = (const char *const *)w->weights.text;
  int64_t *const per_universe = &w->cfg->data.split.samples_per_universe;
  const bool stated = w->cfg->predict.external_universes || is_unlabelled(w);
  const bool external = stated || is_other_simulation(w);
  const int64_t each = is_unlabelled(w) ? 1 : w->weights.samples_per_universe;
  cf_surveyed has;

  *per_universe = *per_universe > 0 ? *per_universe : each;
  WEIR_TRY(cf_survey(w->source, w->cfg, w->truth, NULL, &has));
  weir_status status = cf_split_of_lists(
      external ? "" : text[CF_NOTE_universes_train], external ? "" : text[CF_NOTE_universes_valid],
      *per_universe, has.universe, cf_source_count(w->source), &w->split);

  if (status == WEIR_OK && has.label != NULL) {
    status = cf_split_check_labels(&w->split, w->info.n_labels, has.label);
  }
  if (status == WEIR_OK) {
    status = check_earlier(w, has.truth);
  }
  cf_surveyed_fini(&has);
  WEIR_TRY(status);
  return external ? WEIR_OK : check_numbering(w, has.truth);
}

/* Determines what the samples are compared with, and properties that those of the training have. */
static void take_info(work *w)
{
  const cf_volume_info *const trained = &w->weights.info;
  cf_volume_info *const i = &w->info;

  *i = *cf_source_info(w->source);
  w->truth = !segments(w) ? (i->n_labels > 0 ? CF_TRUTH_LABELS : CF_TRUTH_NONE)
             : i->n_classes > 0 && trained->n_classes > 0 ? CF_TRUTH_CLASSES
                                                          : CF_TRUTH_NONE;
  i->n_classes = segments(w) ? trained->n_classes : 0; /* those of the training */
  if (is_unlabelled(w)) {
    i->n_labels = trained->n_labels;
    memcpy(i->label, trained->label, sizeof i->label);
    memcpy(i->lo, trained->lo, sizeof i->lo);
    memcpy(i->hi, trained->hi, sizeof i->hi);
  }
}

weir_status cf_predict_open(cf_predict *w)
{
  cf_cfg *const cfg = w->cfg;

  WEIR_TRY(cf_weights_read(cfg->predict.weights, &w->weights));
  WEIR_TRY(cf_predict_views_check(w));
  cfg->files.labels_optional = true; /* unknown parameters are estimated */
  if (w->weights.info.n_classes > 0) {
    cfg->files.classes = w->weights.info.n_classes;
  }
  if (cfg->files.voxels == CF_QUANTITY_AUTO && w->weights.info.quantity == CF_QUANTITY_ANY) {
    cfg->files.voxels = CF_QUANTITY_ANY; /* as was stated for the training */
  }
  WEIR_TRY(cf_open_input(cfg, &w->source));
  WEIR_TRY(cf_weights_fit(&w->weights, cfg->predict.weights, cf_source_info(w->source)));
  take_info(w);
  cfg->data.scale = w->weights.scale;
  cfg->data.cache_bytes = 0; /* each sample is read once */
  WEIR_TRY(cf_samples_create(&cfg->data, w->source, w->truth, &w->samples));
  WEIR_TRY(assign_subsets(w));
  WEIR_TRY(cf_predict_views_fit(w));
  const cf_estimator_spec spec = {.model = &w->weights.model,
                                  .scale = w->weights.scale,
                                  .info = &w->info,
                                  .dtype = cf_samples_dtype(w->samples)};

  WEIR_TRY(cf_estimator_open(&spec, 0, &w->estimator));
  return weir_train_weights(w->estimator.params, w->estimator.store, cfg->predict.weights);
}

void cf_predict_source(const cf_predict *p, char *text, size_t size)
{
  const int views = cf_predict_views(p);
  char described[CF_NOTE_LINE], mean[96] = "";

  cf_source_describe(p->source, described, sizeof described);
  if (views > 1) {
    (void)snprintf(mean, sizeof mean, "; means over %d symmetries of each sample%s", views,
                   p->cfg->predict.shift ? ", moved around the box" : "");
  }
  (void)snprintf(text, size, "%s; weights %s, trained on the training subset of %s%s", described,
                 p->cfg->predict.weights, p->weights.text[CF_NOTE_samples], mean);
}

weir_status cf_predict_origin(const cf_predict *p, weir_origin *out)
{
  char config[CF_PATH];

  WEIR_TRY(weir_path_join(p->cli->out, "resolved.yaml", config, sizeof config));
  WEIR_TRY(weir_origin_file(out, CF_ORIGIN_WEIGHTS, p->cfg->predict.weights));
  WEIR_TRY(weir_origin_file(out, CF_ORIGIN_CONFIG, config));
  return cf_source_origin(p->source, out);
}

/* ---- Rows ---- */

static void name_labels(const work *w, cf_predictions *p)
{
  const cf_volume_info *const i = &w->weights.info;

  for (int64_t k = 0; k < p->n_labels; k++) {
    (void)snprintf(p->label[k], CF_MAX_NAME, "%s", i->label[k]);
    p->lo[k] = i->lo[k] < i->hi[k] ? i->lo[k] : -1;
    p->hi[k] = i->lo[k] < i->hi[k] ? i->hi[k] : 1;
  }
  p->box = w->info.box;
  p->cell = w->info.cell;
  cf_predict_source(w, p->source, sizeof p->source);
}

/* Label and cosmology of a sample. */
static weir_status take_truth(const work *w, int64_t i)
{
  cf_facts facts;

  for (int64_t k = 0; w->out->unlabelled && k < w->out->n_labels; k++) {
    w->out->truth[i * w->out->n_labels + k] = NAN;
  }
  if (!w->out->unlabelled) {
    WEIR_TRY(cf_source_labels(w->source, i, w->out->truth + i * w->out->n_labels));
  }
  WEIR_TRY(cf_source_facts(w->source, i, &facts));
  if (facts.has_cosmology) {
    memcpy(w->out->cosmology + i * CF_COSMOLOGY, facts.cosmology, sizeof facts.cosmology);
  }
  return WEIR_OK;
}

weir_status cf_predict_rows(cf_predict *w)
{
  const int64_t n = cf_source_count(w->source);
  const int subset = w->cfg->predict.part;

  if (subset != CF_PREDICT_ALL && w->split.n[subset] == 0) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "predict.part: none of these universes is of the subset %s, by the lists of %s",
        cf_subset_name[subset], w->cfg->predict.weights);
  }
  WEIR_TRY(cf_predictions_create(n, w->weights.info.n_labels, &w->out));
  WEIR_TRY(cf_predict_posteriors_create(w, n));
  name_labels(w, w->out);
  w->out->unlabelled = is_unlabelled(w);
  for (int64_t i = 0; i < n; i++) {
    w->out->universe[i] = w->split.universe[i];
    w->out->subset[i] = w->split.subset[i];
    w->out->known[i] = subset == CF_PREDICT_ALL || w->split.subset[i] == subset;
    WEIR_TRY(take_truth(w, i));
  }
  return WEIR_OK;
}

/* Outputs of the network for a sample. */
static int64_t outputs_of(const work *w)
{
  return cf_model_outputs(&w->weights.model, w->out->n_labels);
}

/* A plan for `batch` samples; another size takes another. */
static weir_status make_plan(work *w, int64_t batch)
{
  const weir_plan_opts exec = {.exec = &w->cfg->exec, .threads = w->cli->threads, .terse = true};
  const int64_t *const l = cf_source_info(w->source)->lengths;
  weir_graph *g = NULL;
  weir_status status = WEIR_OK;

  weir_plan_destroy(&w->plan);
  weir_tensor_fini(&w->x);
  weir_tensor_fini(&w->y);
  w->batch = batch;
  WEIR_TRY(weir_tensor_init(&w->x, w->estimator.is.dtype, 5,
                            (int64_t[]){batch, l[0], l[1], l[2], l[3]}));
  WEIR_TRY(weir_tensor_init(&w->y, WEIR_F32, 2, (int64_t[]){batch, outputs_of(w)}));
  WEIR_TRY(weir_graph_create(&g));
  WEIR_TRY_GOTO(cf_estimator_append(&w->estimator, batch, g), done);
  WEIR_TRY_GOTO(weir_plan_create(g, w->estimator.store, &exec, &w->plan), done);
done:
  weir_graph_destroy(&g);
  return status;
}

/* Samples to be predicted, in batches that do not depend on the ranks. */
typedef struct batches {
  work *w;
  int64_t *row, n; /* [n] samples */
  int64_t done;
} batches;

static int64_t length_of(const batches *b, int64_t i)
{
  const int64_t batch = b->w->cfg->predict.batch, left = b->n - i * batch;

  return left < batch ? left : batch;
}

static weir_status predict_batch(void *context, int64_t i, weir_bytes *out)
{
  const batches *const b = context;
  work *const w = b->w;
  const int64_t n = length_of(b, i), *const row = b->row + i * w->cfg->predict.batch;
  const int64_t *const l = cf_source_info(w->source)->lengths;
  float own[CF_MAX_LABELS];
  double *sum = NULL;
  char *from = NULL;
  weir_status status = WEIR_OK;

  if (n != w->batch) {
    WEIR_TRY(make_plan(w, n));
  }
  const size_t bytes =
      (size_t)(weir_tensor_numel(&w->x) / n) * weir_dtype_size(w->estimator.is.dtype);

  WEIR_TRY_GOTO(weir_alloc(n, bytes, (void **)&from), done);
  WEIR_TRY_GOTO(weir_alloc(weir_tensor_numel(&w->y), sizeof *sum, (void **)&sum), done);
  for (int64_t k = 0; k < n; k++) {
    const cf_wanted all = {.sample = row[k], .hi = {l[0], l[1], l[2]}};

    WEIR_TRY_GOTO(cf_samples_read(w->samples, &all, from + (size_t)k * bytes, own), done);
  }
  WEIR_TRY_GOTO(cf_predict_run_views(w, from, bytes, sum), done);
  status = weir_bytes_put(out, w->y.data, n * outputs_of(w) * (int64_t)sizeof(float));
done:
  weir_free(&sum);
  weir_free(&from);
  return status;
}

/* Stores the outputs of a sample as its estimates: as they are, or its posterior and the mean. */
static void take_row(work *w, int64_t row, const float *made)
{
  const int64_t labels = w->out->n_labels;
  float *const to = w->out->predicted + row * labels;
  cf_posteriors *const p = w->out->posterior;
  double mean[CF_MAX_LABELS];

  if (p == NULL) {
    memcpy(to, made, (size_t)labels * sizeof *to);
    return;
  }
  cf_predict_posterior(p, row, made);
  cf_posterior_mean(p, row, mean);
  for (int64_t k = 0; k < labels; k++) {
    to[k] = (float)mean[k];
  }
}

static weir_status take_batch(void *context, int64_t i, const char *data, int64_t size)
{
  batches *const b = context;
  const int64_t outputs = outputs_of(b->w), n = length_of(b, i);
  const char *at = data;
  float *made = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(outputs, sizeof *made, (void **)&made));
  for (int64_t k = 0; k < n; k++) {
    WEIR_TRY_GOTO(weir_bytes_get(&at, data + size, made, outputs * (int64_t)sizeof *made), done);
    take_row(b->w, b->row[i * b->w->cfg->predict.batch + k], made);
  }
  b->done += n;
  weir_progress("predict", b->done, b->n, "samples");
done:
  weir_free(&made);
  return status;
}

weir_status cf_predict_all(cf_predict *w, int64_t *done)
{
  const int64_t batch = w->cfg->predict.batch;
  batches b = {.w = w};

  WEIR_TRY(weir_alloc(w->out->n, sizeof *b.row, (void **)&b.row));
  for (int64_t i = 0; i < w->out->n; i++) {
    if (w->out->known[i]) {
      b.row[b.n++] = i;
    }
  }
  const weir_status status = weir_items_run(&(weir_items){.comm = w->comm,
                                                          .what = "predict",
                                                          .unit = "batches",
                                                          .n = (b.n + batch - 1) / batch,
                                                          .make = predict_batch,
                                                          .take = take_batch},
                                            &b);

  weir_free(&b.row);
  *done = b.done;
  return status;
}

/* ---- What is written ---- */

/* Adds parameters of a sample in their own units, or normalised where the ranges are not known: the
 * true one, if known, and the predicted one. */
static void add_parameters(const cf_predictions *p, int64_t i, weir_table *c)
{
  for (int64_t k = 0; k < p->n_labels; k++) {
    const int64_t at = i * p->n_labels + k;

    if (!p->unlabelled) {
      weir_table_add(c, "%.7g", cf_predictions_physical(p, k, (double)p->truth[at]));
    }
    weir_table_add(c, "%.7g", cf_predictions_physical(p, k, (double)p->predicted[at]));
  }
}

/* Writes a row a sample that was predicted. */
static weir_status write_csv(const work *w)
{
  const cf_predictions *const p = w->out;
  char name[2 * CF_MAX_LABELS][CF_MAX_NAME + 32];
  const char *head[3 + 2 * CF_MAX_LABELS] = {"sample", "universe", "part"};
  int columns = 3;
  weir_table c = {0};

  for (int64_t k = 0; k < p->n_labels; k++) {
    const char *const scale = cf_predictions_ranged(p, k) ? "" : "_normalised";

    (void)snprintf(name[2 * k], sizeof name[0], "%s%s", p->label[k], scale);
    (void)snprintf(name[2 * k + 1], sizeof name[0], "%s%s_predicted", p->label[k], scale);
    if (!p->unlabelled) {
      head[columns++] = name[2 * k];
    }
    head[columns++] = name[2 * k + 1];
  }
  for (int64_t i = 0; i < p->n; i++) {
    if (p->known[i]) {
      weir_table_add(&c, "%lld", (long long)p->sample[i]);
      weir_table_add(&c, "%lld", (long long)p->universe[i]);
      weir_table_add(&c, "%s", cf_subset_name[p->subset[i]]);
      add_parameters(p, i, &c);
    }
  }
  const weir_status status =
      weir_table_write_csv(&c, w->cli->out, "predictions.csv", columns, head);

  weir_table_fini(&c);
  return status;
}

/* Emits the mean absolute error of a subset, in units of [-1, 1]. */
static void tell_error(const cf_predictions *p, int subset)
{
  double sum = 0;
  int64_t n = 0;

  for (int64_t i = 0; i < p->n; i++) {
    for (int64_t k = 0; k < p->n_labels && p->known[i] && p->subset[i] == subset; k++, n++) {
      sum +=
          fabs((double)p->predicted[i * p->n_labels + k] - (double)p->truth[i * p->n_labels + k]);
    }
  }
  if (n > 0) {
    weir_event("predicted", WEIR_TEXT("part", cf_subset_name[subset]),
               WEIR_INT("samples", n / p->n_labels), WEIR_REAL("mae", sum / (double)n));
    weir_info("predict", "%s: %lld samples, mean absolute error %.4f of labels in [-1, 1]",
              cf_subset_name[subset], (long long)(n / p->n_labels), sum / (double)n);
  }
}

static void tell_normalised(const cf_predictions *p)
{
  char names[CF_MAX_LABELS * (CF_MAX_NAME + 2)];

  cf_predictions_normalised(p, names, sizeof names);
  if (names[0] != 0) {
    weir_warn(
        "predict",
        "%s: normalised to [-1, 1], ranges unknown: neither files nor weights say what -1 and "
        "1 are; files.range in the training states it",
        names);
  }
}

static weir_status write_files(work *w)
{
  char path[CF_PATH];

  WEIR_TRY(cf_predict_origin(w, &w->out->origin));
  WEIR_TRY(weir_path_join(w->cli->out, "predictions.nc", path, sizeof path));
  WEIR_TRY(cf_predictions_write(w->out, path));
  WEIR_TRY(write_csv(w));
  return cf_write_provenance(w->job, true, "weights", w->out->source);
}

static weir_status write_all(work *w)
{
  const double began = weir_clock();
  int64_t done = 0;

  tell_normalised(w->out);
  WEIR_TRY(cf_predict_all(w, &done));
  if (!w->leads) {
    return WEIR_OK;
  }
  WEIR_TRY(write_files(w));
  for (int p = 0; p < CF_SUBSETS && !w->out->unlabelled; p++) {
    tell_error(w->out, p);
  }
  if (w->out->unlabelled) {
    weir_info("predict", "%lld samples without labels: predicted, and compared with nothing",
              (long long)done);
  }
  weir_event("predict_end", WEIR_INT("samples", done), WEIR_REAL("seconds", weir_clock() - began));
  return WEIR_OK;
}

void cf_predict_close(cf_predict *w)
{
  weir_plan_destroy(&w->plan);
  weir_tensor_fini(&w->x);
  weir_tensor_fini(&w->y);
  cf_predictions_destroy(&w->out);
  cf_estimator_close(&w->estimator);
  cf_split_fini(&w->split);
  cf_samples_destroy(&w->samples);
  cf_source_close(&w->source);
  cf_weights_fini(&w->weights);
}

static weir_status accept(void *dir)
{
  return weir_run_dir_commit(dir);
}

/* Input and weights are read before anything of an earlier prediction is removed. */
static weir_status predict(weir_job *j)
{
  work w = {.job = j, .cli = j->cli, .comm = j->comm, .leads = weir_job_leads(j), .cfg = j->cfg};
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_job_begin(j, "predict", false));
  WEIR_TRY_GOTO(cf_predict_open(&w), done);
  if (segments(&w)) {
    WEIR_TRY_GOTO(cf_predict_maps(&w, accept, &j->dir), done);
    goto done;
  }
  WEIR_TRY_GOTO(cf_predict_rows(&w), done);
  WEIR_TRY_GOTO(cf_predict_posteriors_check(&w), done);
  WEIR_TRY_GOTO(weir_run_dir_commit(&j->dir), done);
  WEIR_TRY_GOTO(write_all(&w), done);
done:
  cf_predict_close(&w);
  return status;
}

weir_status cf_cmd_predict(const weir_cli *cli)
{
  return weir_job_run_shared(cli, &cf_program, predict);
}
