/* maps.c - predicted classes of voxels: classes.nc and classes.csv, a batch of samples in
 * memory at a time. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "data/volume/class_maps.h"
#include "data/volume/volume_format.h"
#include "eval/confusion.h"
#include "predict/predict.h"
#include "report/weir_report.h"
#include "commands.h"

typedef enum predictor { NETWORK, MAJORITY, PERSISTENCE, PREDICTORS } predictor;
static const char *const predictor_name[PREDICTORS] = {"network", "majority", "persistence"};

typedef struct maps {
  cf_predict *p;
  int64_t classes, cells; /* voxels of a sample */
  int64_t n, done;        /* samples that are predicted */
  int64_t *row, batch;    /* [n] they, in batches of so many, whatever the ranks */
  weir_tensor predicted, probability, truth, before;
  bool known, seen;                       /* there is a truth; a class of the adjacent channel */
  int64_t *count[PREDICTORS][CF_SUBSETS]; /* [classes, classes] each */
  cf_class_maps *file;
} maps;

/* ---- Plans ---- */

static bool is_wanted(const cf_predict *p, int64_t sample)
{
  const int subset = p->cfg->predict.part;

  return subset == CF_PREDICT_ALL || p->split.subset[sample] == subset;
}

static void drop_plan(maps *m)
{
  weir_plan_destroy(&m->p->plan);
  weir_tensor_fini(&m->p->x);
  weir_tensor_fini(&m->predicted);
  weir_tensor_fini(&m->probability);
  weir_tensor_fini(&m->truth);
  weir_tensor_fini(&m->before);
}

static weir_status make_plan(maps *m, int64_t batch)
{
  cf_predict *const p = m->p;
  const weir_plan_opts exec = {.exec = &p->cfg->exec, .threads = p->cli->threads, .terse = true};
  const int64_t *const l = p->info.lengths;
  const int64_t shape[5] = {batch, l[0], l[1], l[2], l[3]};
  const int64_t wide[5] = {batch, l[0], l[1], l[2], m->classes};
  const bool probabilities = p->cfg->predict.probabilities;
  weir_graph *g = NULL;
  weir_status status = WEIR_OK;

  drop_plan(m);
  p->batch = batch;
  WEIR_TRY(weir_tensor_init(&p->x, p->estimator.is.dtype, 5, shape));
  WEIR_TRY(weir_tensor_init(&m->predicted, WEIR_U8, 4, shape));
  if (probabilities) {
    WEIR_TRY(weir_tensor_init(&m->probability, WEIR_F32, 5, wide));
  }
  if (m->known) {
    WEIR_TRY(weir_tensor_init(&m->truth, WEIR_U8, 4, shape));
  }
  if (m->seen) {
    WEIR_TRY(weir_tensor_init(&m->before, WEIR_U8, 4, shape));
  }
  WEIR_TRY(weir_graph_create(&g));
  WEIR_TRY_GOTO(cf_estimator_append_maps(&p->estimator, batch, probabilities, g), done);
  WEIR_TRY_GOTO(weir_plan_create(g, p->estimator.store, &exec, &p->plan), done);
done:
  weir_graph_destroy(&g);
  return status;
}

/* Chooses the batch: as configured, or as many samples as predict.memory allows. */
static weir_status choose_batch(maps *m)
{
  int64_t batch = m->p->cfg->predict.batch < m->n ? m->p->cfg->predict.batch : m->n;

  WEIR_TRY(make_plan(m, batch));
  while (batch > 1 && weir_plan_memory_bytes(m->p->plan) > m->p->cfg->predict.memory) {
    batch /= 2;
    WEIR_TRY(make_plan(m, batch));
  }
  weir_event("predict_plan", WEIR_INT("batch", batch),
             WEIR_INT("bytes", weir_plan_memory_bytes(m->p->plan)));
  return WEIR_OK;
}

/* ---- Samples ---- */

static int64_t length_of(const maps *m, int64_t i)
{
  const int64_t left = m->n - i * m->batch;

  return left < m->batch ? left : m->batch;
}

/* Adds what sample k of the batch counts to the confusion of its subset. */
static void count_sample(maps *m, int64_t sample, int64_t k)
{
  const int subset = m->p->split.subset[sample];
  const uint8_t *const predicted = (const uint8_t *)m->predicted.data + k * m->cells;
  const uint8_t *const truth = (const uint8_t *)m->truth.data + k * m->cells;

  cf_confusion_add(m->classes, truth, predicted, m->cells, m->count[NETWORK][subset]);
  if (m->seen) {
    cf_confusion_add(m->classes, truth, (const uint8_t *)m->before.data + k * m->cells, m->cells,
                     m->count[PERSISTENCE][subset]);
  }
}

static weir_status run_batch(maps *m, const int64_t *row, int64_t n)
{
  cf_predict *const p = m->p;
  const int64_t *const l = p->info.lengths;
  weir_binding binding[5];
  int bound = 0;

  if (n != p->batch) {
    WEIR_TRY(make_plan(m, n));
  }
  const size_t bytes =
      (size_t)cf_volume_elements(&p->info) * weir_dtype_size(p->estimator.is.dtype);

  for (int64_t i = 0; i < n; i++) {
    const cf_wanted all = {.sample = row[i], .hi = {l[0], l[1], l[2]}};
    char *const truth = p->truth == CF_TRUTH_CLASSES ? (char *)m->truth.data + i * m->cells : NULL;

    WEIR_TRY(cf_samples_read(p->samples, &all, (char *)p->x.data + (size_t)i * bytes, truth));
  }
  binding[bound++] = (weir_binding){"x", &p->x};
  binding[bound++] = (weir_binding){"classes", &m->predicted};
  if (p->cfg->predict.probabilities) {
    binding[bound++] = (weir_binding){"probability", &m->probability};
  }
  if (m->seen) { /* the graph makes both of the matter */
    binding[bound++] = (weir_binding){"truth", &m->truth};
    binding[bound++] = (weir_binding){"before", &m->before};
  }
  return weir_plan_run(p->plan, binding, bound);
}

static weir_status predict_batch(void *context, int64_t i, weir_bytes *out)
{
  maps *const m = context;
  const int64_t n = length_of(m, i), *const row = m->row + i * m->batch;

  WEIR_TRY(run_batch(m, row, n));
  for (int64_t k = 0; k < n && m->known; k++) {
    count_sample(m, row[k], k);
  }
  WEIR_TRY(weir_bytes_put(out, m->predicted.data, n * m->cells));
  return m->probability.data == NULL
             ? WEIR_OK
             : weir_bytes_put(out, m->probability.data,
                              n * m->cells * m->classes * (int64_t)sizeof(float));
}

/* The file holds samples in their order. */
static weir_status take_batch(void *context, int64_t i, const char *data, int64_t size)
{
  maps *const m = context;
  const cf_predict *const p = m->p;
  const int64_t n = length_of(m, i);
  const uint8_t *const classes = (const uint8_t *)data;
  float *probability = NULL;
  const char *at = data + n * m->cells;
  weir_status status = WEIR_OK;

  if (p->cfg->predict.probabilities) { /* aligned */
    const int64_t count = n * m->cells * m->classes;

    WEIR_TRY(weir_alloc(count, sizeof *probability, (void **)&probability));
    WEIR_TRY_GOTO(
        weir_bytes_get(&at, data + size, probability, count * (int64_t)sizeof *probability), done);
  }
  for (int64_t k = 0; k < n; k++) {
    const int64_t sample = m->row[i * m->batch + k];
    const cf_class_map row = {
        .sample = sample,
        .universe = p->split.universe[sample],
        .subset = (cf_subset)p->split.subset[sample],
        .classes = classes + k * m->cells,
        .probability = probability != NULL ? probability + k * m->cells * m->classes : NULL};

    WEIR_TRY_GOTO(cf_class_maps_add(m->file, &row), done);
  }
  m->done += n;
  weir_progress("predict", m->done, m->n, "samples");
done:
  weir_free(&probability);
  return status;
}

/* Counts of all ranks: whole numbers, whose sum has no order. */
static weir_status sum_counts(maps *m)
{
  const int64_t each = m->classes * m->classes;
  weir_bytes own = {.data = NULL};
  void *all = NULL;
  int64_t total = 0;
  weir_status status = WEIR_OK;

  if (m->p->comm == NULL || weir_comm_size(m->p->comm) == 1) {
    return WEIR_OK;
  }
  for (int i = 0; i < PREDICTORS * CF_SUBSETS && status == WEIR_OK; i++) {
    status = weir_bytes_put(&own, m->count[i / CF_SUBSETS][i % CF_SUBSETS],
                            each * (int64_t)sizeof(int64_t));
  }
  WEIR_TRY_GOTO(weir_comm_agree(m->p->comm, status), done);
  WEIR_TRY_GOTO(weir_comm_gather(m->p->comm, own.data, own.count, &all, &total), done);
  for (int64_t k = own.count; k < total; k += (int64_t)sizeof(int64_t)) { /* of other ranks */
    const int64_t at = k % own.count / (int64_t)sizeof(int64_t), i = at / each;
    int64_t more = 0;

    memcpy(&more, (const char *)all + k, sizeof more);
    m->count[i / CF_SUBSETS][i % CF_SUBSETS][at % each] += more;
  }
done:
  weir_free(&own.data);
  weir_free(&all);
  return status;
}

static weir_status predict_all(maps *m)
{
  m->batch = m->p->batch;
  WEIR_TRY(weir_alloc(m->n, sizeof *m->row, (void **)&m->row));
  for (int64_t i = 0, n = 0; i < m->p->split.count; i++) {
    if (is_wanted(m->p, i)) {
      m->row[n++] = i;
    }
  }
  WEIR_TRY(weir_items_run(&(weir_items){.comm = m->p->comm,
                                        .what = "predict",
                                        .unit = "batches",
                                        .n = (m->n + m->batch - 1) / m->batch,
                                        .make = predict_batch,
                                        .take = take_batch},
                          m));
  return sum_counts(m);
}

/* ---- Scores ---- */

static void tell_scores(const maps *m, int subset)
{
  const int64_t n = m->classes, *const count = m->count[NETWORK][subset];
  const int64_t *const constant = m->count[MAJORITY][subset];

  weir_event("predicted", WEIR_TEXT("part", cf_subset_name[subset]),
             WEIR_INT("samples", cf_confusion_voxels(n, count) / m->cells),
             WEIR_REAL("accuracy", cf_confusion_accuracy(n, count)),
             WEIR_REAL("mean_iou", cf_confusion_iou(n, count, -1)),
             WEIR_REAL("accuracy_majority", cf_confusion_accuracy(n, constant)),
             WEIR_REAL("mean_iou_majority", cf_confusion_iou(n, constant, -1)));
  weir_info("predict",
            "%s: %lld samples, accuracy %.4f, mean IoU %.4f; of class %lld "
            "everywhere: %.4f, %.4f",
            cf_subset_name[subset], (long long)(cf_confusion_voxels(n, count) / m->cells),
            cf_confusion_accuracy(n, count), cf_confusion_iou(n, count, -1),
            (long long)cf_confusion_majority(n, count), cf_confusion_accuracy(n, constant),
            cf_confusion_iou(n, constant, -1));
}

/* Writes a row a score, of the predicted subsets. */
static weir_status write_scores(maps *m)
{
  static const char *const head[CF_CONFUSION_COLUMNS] = {"part",  "model", "score",
                                                         "class", "value", "voxels"};
  weir_table c = {0};

  for (int subset = 0; subset < CF_SUBSETS; subset++) {
    const int64_t *const count = m->count[NETWORK][subset];

    if (cf_confusion_voxels(m->classes, count) == 0) {
      continue;
    }
    cf_confusion_constant(m->classes, count, cf_confusion_majority(m->classes, count),
                          m->count[MAJORITY][subset]);
    for (int by = 0; by < (m->seen ? PREDICTORS : PERSISTENCE); by++) {
      cf_confusion_cells(m->classes, m->count[by][subset], cf_subset_name[subset],
                         predictor_name[by], &c);
    }
    tell_scores(m, subset);
  }
  const weir_status status =
      weir_table_write_csv(&c, m->p->cli->out, "classes.csv", CF_CONFUSION_COLUMNS, head);

  weir_table_fini(&c);
  return status;
}

/* ---- All of it ---- */

static weir_status set_up(maps *m)
{
  const cf_predict *const p = m->p;

  m->classes = cf_estimator_classes(&p->estimator.is);
  m->cells = cf_volume_cells(&p->info);
  m->seen = p->info.n_classes == 0;
  m->known = m->seen || p->truth == CF_TRUTH_CLASSES;
  for (int64_t i = 0; i < p->split.count; i++) {
    m->n += is_wanted(p, i);
  }
  if (m->n == 0) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "predict.part: none of these universes is of the subset %s, by the lists of %s",
        cf_subset_name[p->cfg->predict.part], p->cfg->predict.weights);
  }
  for (int i = 0; i < PREDICTORS * CF_SUBSETS; i++) {
    WEIR_TRY(weir_alloc(m->classes * m->classes, sizeof(int64_t),
                        (void **)&m->count[i / CF_SUBSETS][i % CF_SUBSETS]));
  }
  return choose_batch(m);
}

static weir_status create_file(maps *m, const char *source)
{
  const cf_predict *const p = m->p;
  char path[CF_PATH];
  weir_origin origin = {.n = 0};
  const cf_class_maps_spec spec = {
      .n = m->n,
      .lengths = {p->info.lengths[0], p->info.lengths[1], p->info.lengths[2]},
      .classes = m->classes,
      .probabilities = p->cfg->predict.probabilities,
      .source = source,
      .origin = &origin};

  WEIR_TRY(weir_path_join(p->cli->out, "classes.nc", path, sizeof path));
  weir_status status = cf_predict_origin(p, &origin);

  status = status == WEIR_OK ? cf_class_maps_create(path, &spec, &m->file) : status;
  weir_origin_fini(&origin);
  return status;
}

static weir_status write_all(maps *m)
{
  const cf_predict *const p = m->p;
  const double began = weir_clock();
  char source[CF_MAX_SOURCE];

  cf_predict_source(p, source, sizeof source);
  WEIR_TRY(p->leads ? create_file(m, source) : WEIR_OK);
  WEIR_TRY(predict_all(m));
  if (!p->leads) {
    return WEIR_OK;
  }
  WEIR_TRY(cf_class_maps_commit(&m->file));
  WEIR_TRY(cf_write_provenance(p->job, true, "weights", source));
  if (m->known) {
    WEIR_TRY(write_scores(m));
  } else {
    weir_info("predict", "the samples have no classes of their own (segmentation): nothing is "
                         "scored");
  }
  weir_event("predict_end", WEIR_INT("samples", m->done),
             WEIR_REAL("seconds", weir_clock() - began));
  return WEIR_OK;
}

weir_status cf_predict_maps(cf_predict *p, weir_status (*accept)(void *context), void *context)
{
  maps m = {.p = p};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(set_up(&m), done);
  WEIR_TRY_GOTO(accept(context), done);
  WEIR_TRY_GOTO(write_all(&m), done);
done:
  cf_class_maps_destroy(&m.file);
  weir_free(&m.row);
  drop_plan(&m);
  for (int i = 0; i < PREDICTORS * CF_SUBSETS; i++) {
    weir_free(&m.count[i / CF_SUBSETS][i % CF_SUBSETS]);
  }
  return status;
}
