/* stage.c - see stage.h. */
#include "stage_priv.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "data/date.h"
#include "data/samples/samples_text.h"
#include "data/samples/trained.h"
#include "io/weir_netcdf.h"

enum { MODEL = 4, BEFORE, DATES, SENSES, DESCRIBED_MEMBERS = 2, PATH_SIZE = 4096 };
_Static_assert(SENSES + WX_SENSES == WX_NOTES, "notes end with the senses");
/* What weights say of themselves. Those before the dates have to be the same where they are used;
 * of their senses wx_samples_fit_text judges. */
static const char *const note_name[SENSES] = {
    "x_channels", "x_units", "y_channels", "y_units", "model", "bias_weights_sha256", "dates"};

static const char *name_of(int note)
{
  return note < SENSES ? note_name[note] : wx_sense_name[note - SENSES];
}

/* ---- The task ---- */

/* What is made of each channel that is not normal. */
static void add_distributions(const wx_stage *s, char *text)
{
  for (int64_t c = 0; c < s->network.n_y; c++) {
    const size_t n = strlen(text);
    char is[WX_NAME];

    if (s->output[c].family != WX_NORMAL) {
      wx_output_text(&s->output[c], is, sizeof is);
      (void)snprintf(text + n, WX_LIST - n, "; %s %s", s->facts.channel[WX_Y][c].name, is);
    }
  }
}

/* Options that change no shape change what weights mean: the digest of the graph has them, but for
 * the distributions. Weights correct any number of members. */
static weir_status describe_model(wx_stage *s)
{
  static const char *const base_name[] = {"difference", "spread", "climate"};
  weir_graph *g = NULL;
  weir_status status = WEIR_OK;
  char digest[65];

  WEIR_TRY(weir_graph_create(&g));
  WEIR_TRY_GOTO(wx_stage_append_members(s, 1, DESCRIBED_MEMBERS, g), done);
  WEIR_TRY_GOTO(weir_graph_digest(g, digest), done);
  (void)snprintf(s->text[MODEL], WX_LIST, "%s %s", base_name[s->standard.base], digest);
  add_distributions(s, s->text[MODEL]);
done:
  weir_graph_destroy(&g);
  return status;
}

static weir_status describe_dates(const wx_stage *s, char **text)
{
  const wx_times times = {s->facts.name, s->facts.n, s->facts.start, s->facts.time};
  const wx_split none = {.n = {0}};

  return wx_trained_dates(s->is.split != NULL ? s->is.split : &none, &times, text);
}

static void describe_extremes(const wx_extremes *x, char *text)
{
  char first[32], last[32];

  wx_date_text(x->first, first, sizeof first);
  wx_date_text(x->last, last, sizeof last);
  (void)snprintf(text, WX_LIST, "%s; climate of %lld starts, %s to %s", x->name, (long long)x->n,
                 first, last);
}

static weir_status take_notes(wx_stage *s)
{
  for (int k = 0; k < WX_NOTES; k++) {
    const wx_side side = k < 2 ? WX_X : WX_Y;
    void *memory = NULL;

    if (k == DATES) {
      WEIR_TRY(describe_dates(s, &s->text[k]));
    } else if (k >= SENSES) {
      WEIR_TRY(wx_samples_text(s->is.samples, (wx_sense)(k - SENSES), &s->text[k]));
    } else {
      WEIR_TRY(weir_alloc(WX_LIST, 1, &memory));
      s->text[k] = memory;
    }
    s->note[k] = (weir_note){name_of(k), s->text[k]};
    if (k < MODEL) {
      wx_channels_text(s->facts.channel[side], s->facts.n_channels[side], k % 2 == 1, s->text[k]);
    }
  }
  (void)snprintf(s->text[BEFORE], WX_LIST, "%s", s->is.before[0] != 0 ? s->is.before : "none");
  if (s->is.extremes != NULL) {
    void *memory = NULL;

    WEIR_TRY(weir_alloc(WX_LIST, 1, &memory));
    s->text[WX_NOTES] = memory;
    s->note[WX_NOTES] = (weir_note){"loss_weights", s->text[WX_NOTES]};
    describe_extremes(s->is.extremes, s->text[WX_NOTES]);
    s->task.n_notes = WX_NOTES + 1;
  }
  return describe_model(s);
}

/* As those of y, with a dimension of members before them. */
static void name_members(weir_train_input *in, int64_t members)
{
  for (int d = in->rank; d > 0; d--) {
    in->shape[d] = in->shape[d - 1];
    in->along[d] = in->along[d - 1];
  }
  in->name = WX_MEMBERS_NAME;
  in->shape[0] = members;
  in->along[0] = WEIR_ALONG_SAMPLES; /* not sharded */
  in->rank++;
}

static void name_inputs(wx_stage *s)
{
  const wx_info *f = &s->facts;

  for (int k = 0; k < WX_INPUTS; k++) {
    s->input[k] =
        (weir_train_input){.name = wx_input_name[k], .dtype = WEIR_F32, .rank = f->rank + 1};
    for (int d = 0; d < f->rank; d++) {
      s->input[k].shape[d] = f->axis[d].length;
      s->input[k].along[d] = (weir_along)(WEIR_ALONG_DIMS - f->rank + d);
    }
    s->input[k].shape[f->rank] = f->n_channels[k == WX_IN_X ? WX_X : WX_Y];
  }
  if (s->is.extremes != NULL) { /* another name is another loss to checkpoints */
    s->input[WX_IN_W].name = s->is.extremes->name;
  }
  for (int k = WX_IN_LOWER; k < WX_IN_MEMBERS && s->bounds[k - WX_IN_LOWER] != NULL; k++) {
    s->input[k].name = s->bounds[k - WX_IN_LOWER];
  }
  name_members(&s->input[WX_IN_MEMBERS], f->members);
}

/* Copies those that the network takes; returns how many. */
static int take_inputs(wx_stage *s)
{
  int input[WX_INPUTS];
  const int n = wx_network_inputs(&s->network, input);

  for (int i = 0; i < n; i++) {
    s->taken[i] = s->input[input[i]];
  }
  return n;
}

/* A name for an input of bounds that is another with other bounds. */
static weir_status name_bounds(wx_stage *s, int input)
{
  const int64_t n = s->facts.n_channels[WX_Y], size = (n + 1) * WX_SHORT;
  size_t used = 0;
  char *text = NULL;

  WEIR_TRY(weir_alloc(size, 1, (void **)&text));
  s->bounds[input - WX_IN_LOWER] = text;
  used = (size_t)snprintf(text, (size_t)size, "%s", wx_input_name[input]);
  for (int64_t c = 0; c < n; c++) {
    const double value = input == WX_IN_LOWER ? s->output[c].lower : wx_output_extra(&s->output[c]);

    used += (size_t)snprintf(text + used, (size_t)size - used, ",%.9g", value);
  }
  return WEIR_OK;
}

static weir_status take_outputs(wx_stage *s)
{
  const int64_t n = s->facts.n_channels[WX_Y];

  WEIR_TRY(weir_alloc(n, sizeof *s->output, (void **)&s->output));
  WEIR_TRY(wx_outputs_of(&s->model.distributions, s->facts.channel[WX_Y], n, s->output));
  if (wx_outputs_bounded(s->output, n)) {
    WEIR_TRY(name_bounds(s, WX_IN_LOWER));
  }
  return wx_outputs_extra(s->output, n) ? name_bounds(s, WX_IN_EXTRA) : WEIR_OK;
}

static weir_status set_up(wx_stage *s)
{
  const wx_info *f = &s->facts;
  const bool of_spread = s->is.data->label == WX_LABEL_SPREAD;

  WEIR_TRY(wx_network_check(s->is.name, &s->model, of_spread));
  if (f->sites && f->cells > f->depth && s->model.net != WX_DENSE) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: %s are stations, and those beside each other are no neighbours to "
                     "convolve: set model.net to dense",
                     s->is.name, f->name);
  }
  if (s->model.net == WX_INCEPTION && s->model.inception.carry < 0 && f->carry < 0) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "%s.inception.carry: no input is the raw spread of the target: give the number of "
        "the channel to carry, or data.spread: true with the target among the inputs",
        s->is.name);
  }
  const bool each = s->model.head == WX_HEAD_MEMBERS;

  if (each && f->members == 1 && s->model.alpha > 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s.alpha: %s has one member, and the fair CRPS needs two: give more members "
                     "(data.members), or set model.alpha to 0",
                     s->is.name, f->name);
  }
  WEIR_TRY(take_outputs(s));
  name_inputs(s);
  s->network = (wx_network){.opts = &s->model,
                            .output = s->output,
                            .n_y = f->n_channels[WX_Y],
                            .n_trajectory = f->n_trajectory,
                            .carry = f->carry};
  s->task = (weir_train_task){.name = s->is.name,
                              .dtype = WEIR_F32,
                              .input = s->taken,
                              .n_inputs = take_inputs(s),
                              .n_train = s->is.split != NULL ? s->is.split->n[WX_TRAIN] : 0,
                              .n_valid = s->is.split != NULL ? s->is.split->n[WX_VALID] : 0,
                              .opts = &s->network,
                              .build = wx_network_build,
                              .metric = wx_metric,
                              .n_metrics = WX_METRICS,
                              .weight = WX_WEIGHT,
                              .fetch = wx_stage_fetch,
                              .context = s,
                              .note = s->note,
                              .n_notes = WX_NOTES};
  WEIR_TRY(weir_params_create(WEIR_F32, &s->params));
  WEIR_TRY(weir_store_create(&s->store));
  WEIR_TRY(weir_train_prepare(&s->task, s->is.train->seed, s->params, s->store));
  const wx_base base = of_spread                                       ? WX_BASE_ZERO
                       : each && s->model.coupling == WX_COUPLING_NONE ? WX_BASE_CLIMATE
                                                                       : WX_BASE_RAW;

  WEIR_TRY(wx_standard_open(s->is.standard, f, s->is.wraps, base, s->store, &s->standard));
  return take_notes(s);
}

weir_status wx_stage_open(const wx_stage_spec *spec, wx_stage *out)
{
  *out = (wx_stage){.is = *spec, .facts = *wx_samples_get(spec->samples), .model = *spec->model};
  const weir_status status = set_up(out);

  if (status != WEIR_OK) {
    wx_stage_close(out);
  }
  return status;
}

void wx_stage_close(wx_stage *s)
{
  weir_params_destroy(&s->params);
  weir_store_destroy(&s->store);
  for (int k = 0; k < WX_INPUTS; k++) {
    weir_free(&s->scratch[k]);
  }
  weir_free(&s->output);
  for (int k = 0; k < WX_BOUNDS; k++) {
    weir_free(&s->bounds[k]);
  }
  for (int k = 0; k < WX_NOTES + 1; k++) {
    weir_free(&s->text[k]);
  }
}

/* ---- Weights ---- */

enum { ARRAYS = 4, SAMPLES_SIZE = 64 };
#define SAMPLES_ARRAY "fine_tuning.samples" /* stored: their digest */

/* The arrays of the statistics, one after another. */
static void list_arrays(const wx_standard *s, double *at[ARRAYS], int64_t n[ARRAYS])
{
  const int64_t n_x = s->facts->n_channels[WX_X], n_y = s->facts->n_channels[WX_Y];

  at[0] = s->x_mean;
  at[1] = s->x_sd;
  at[2] = s->bias;
  at[3] = s->unit;
  n[0] = n[1] = n_x * s->n_positions;
  n[2] = n_y * s->facts->cells;
  n[3] = n_y;
}

/* Of a fine-tuning: the digest of its samples. */
static weir_status put_samples(wx_stage *s)
{
  weir_tensor *t = NULL;

  WEIR_TRY(weir_store_write(s->store, SAMPLES_ARRAY, &t));
  memcpy(t->data, s->samples, SAMPLES_SIZE);
  return WEIR_OK;
}

/* Whether the store has it, as a checkpoint left it there; it is then that of this run. */
static weir_status compare_samples(wx_stage *s, bool *same)
{
  const weir_tensor *t = NULL;

  *same = true;
  if (s->samples[0] == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_store_read(s->store, SAMPLES_ARRAY, &t));
  *same = memcmp(t->data, s->samples, SAMPLES_SIZE) == 0;
  return put_samples(s);
}

/* A checkpoint is of the samples whose statistics it has; a damaged one is the trainer's to judge.
 * Networks that train together have the same statistics. */
static weir_status check_same_samples(wx_stage *s, const char *dir)
{
  double *at[ARRAYS], *kept[ARRAYS] = {NULL};
  int64_t n[ARRAYS];
  char path[PATH_SIZE], first[PATH_SIZE];
  bool same = true;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_train_model_dir(s->is.train, dir, 0, first, sizeof first));
  WEIR_TRY(weir_checkpoint_newest_path(first, path, sizeof path));
  if (path[0] == 0) {
    return WEIR_OK;
  }
  list_arrays(&s->standard, at, n);
  for (int k = 0; k < ARRAYS; k++) {
    WEIR_TRY_GOTO(weir_alloc(n[k], sizeof *kept[k], (void **)&kept[k]), done);
    memcpy(kept[k], at[k], (size_t)n[k] * sizeof *kept[k]);
  }
  const weir_status read = weir_train_weights(s->params, s->store, path);

  if (read == WEIR_ERR_SHAPE || read == WEIR_ERR_MEMORY) {
    status = read;
    goto done;
  }
  WEIR_TRY_GOTO(compare_samples(s, &same), done);
  for (int k = 0; k < ARRAYS; k++) {
    same = same && memcmp(kept[k], at[k], (size_t)n[k] * sizeof *kept[k]) == 0;
  }
  if (!same) {
    status = weir_fail(WEIR_ERR_CONFIG,
                       "%s: is of other training samples than these: take the samples, data and "
                       "normalization of that run, or another --out",
                       path);
  }
done:
  for (int k = 0; k < ARRAYS; k++) {
    weir_free(&kept[k]);
  }
  return status;
}

static weir_status digest_weights(const wx_stage *s, const char *dir, char digest[65])
{
  char path[PATH_SIZE];
  int64_t bytes = 0;

  WEIR_TRY(weir_checkpoint_weights(dir, (weir_checkpoint_format)s->is.train->checkpoint.format,
                                   path, sizeof path));
  if (!weir_file_sha256(path, digest, &bytes)) {
    return weir_fail(WEIR_ERR_DATA, "%s: cannot be read again", path);
  }
  return WEIR_OK;
}

weir_status wx_stage_train(wx_stage *s, const char *dir, const weir_plan_opts *exec,
                           weir_train_result *result, char digest[65])
{
  weir_comm *const c = exec->dist != NULL ? exec->dist->comm : NULL;
  const bool leads = c == NULL || weir_comm_rank(c) == 0;
  weir_status status = leads ? check_same_samples(s, dir) : WEIR_OK;

  digest[0] = 0;
  WEIR_TRY(c != NULL ? weir_comm_agree(c, status) : status);
  WEIR_TRY(weir_train_run(&s->task, s->is.train, exec, s->params, s->store, dir, result));
  status = leads ? digest_weights(s, dir, digest) : WEIR_OK;
  return c != NULL ? weir_comm_agree(c, status) : status;
}

/* The notes of a file of weights; senses that weights of older versions do not have stay NULL. */
static weir_status read_notes(const char *path, char *text[WX_NOTES])
{
  weir_netcdf *nc = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_netcdf_open(path, &nc));
  for (int k = 0; k < WX_NOTES && status == WEIR_OK; k++) {
    if (weir_netcdf_has(nc, WEIR_NETCDF_FILE, name_of(k))) {
      status = weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, name_of(k), &text[k]);
    } else if (k < SENSES) {
      status = weir_fail(WEIR_ERR_DATA,
                         "%s: no weights of weather_ensemble: there is no text attribute %s", path,
                         name_of(k));
    }
  }
  weir_netcdf_close(&nc);
  return status;
}

weir_status wx_stage_trained(const char *path, char **dates)
{
  char *text[WX_NOTES] = {NULL};
  const weir_status status = read_notes(path, text);

  *dates = NULL;
  for (int k = 0; k < WX_NOTES; k++) {
    if (k == DATES && status == WEIR_OK) {
      *dates = text[k];
    } else {
      weir_free(&text[k]);
    }
  }
  return status;
}

/* Note k is another than `text`, that of the weights. */
static weir_status refuse_note(const wx_stage *s, const char *path, int k, const char *text)
{
  const wx_side side = k < 2 ? WX_X : WX_Y;

  for (int64_t c = 0; k < MODEL && k % 2 == 1 && c < s->facts.n_channels[side]; c++) {
    const wx_channel *const is = &s->facts.channel[side][c];

    if (is->unstated) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "%s: its %s are \"%s\", and %s states no units of %s: set its attribute "
                       "'units'",
                       path, note_name[k], text, s->facts.name, is->name);
    }
  }
  return weir_fail(WEIR_ERR_CONFIG, "%s: its %s are \"%s\", and here they are \"%s\"", path,
                   note_name[k], text, s->text[k]);
}

static weir_status compare_notes(const wx_stage *s, const char *path, char *const text[WX_NOTES])
{
  for (int k = 0; k < DATES; k++) {
    if (strcmp(text[k], s->text[k]) == 0) {
      continue;
    }
    if (k == MODEL) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "%s: its weights are of another network than the configuration describes: "
                       "give that of its run with --config RUN/resolved.yaml",
                       path);
    }
    return refuse_note(s, path, k, text[k]);
  }
  return wx_samples_fit_text(s->is.samples, path, (const char *const *)(text + SENSES));
}

weir_status wx_stage_load(wx_stage *s, const char *path)
{
  char *text[WX_NOTES] = {NULL};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(read_notes(path, text), done);
  WEIR_TRY_GOTO(compare_notes(s, path, text), done);
  WEIR_TRY_GOTO(weir_train_weights(s->params, s->store, path), done);
done:
  for (int k = 0; k < WX_NOTES; k++) {
    weir_free(&text[k]);
  }
  return status;
}

/* ---- Fine-tuning ---- */

/* Samples of the validation that the file has seen say less of what is not. */
static weir_status warn_of_seen(const wx_stage *s, const char *path, const char *dates)
{
  const wx_split *const split = s->is.split;
  const wx_times times = {s->facts.name, s->facts.n, s->facts.start, s->facts.time};
  int *subset = NULL;
  int64_t seen = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(times.n, sizeof *subset, (void **)&subset));
  WEIR_TRY_GOTO(wx_trained_subsets(split, &times, dates, subset), done);
  for (int64_t i = 0; i < split->n[WX_VALID]; i++) {
    seen += subset[split->sample[WX_VALID][i]] == WX_TRAIN;
  }
  if (seen > 0 && s->is.leads) {
    weir_warn("run",
              "%lld of %lld validation samples share times with samples that %s was trained on: "
              "the validation loss is biased low; split as that training did (data.split)",
              (long long)seen, (long long)split->n[WX_VALID], path);
    weir_event("seen_before", WEIR_TEXT("weights", path), WEIR_INT("valid", seen));
  }
done:
  weir_free(&subset);
  return status;
}

/* These weights will have been trained on the samples of the file, too. */
static weir_status add_dates(wx_stage *s, const char *earlier)
{
  const char *const own = s->text[DATES];
  const size_t size = strlen(own) + strlen(earlier) + 3;
  void *memory = NULL;

  if (strcmp(own, earlier) == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc((int64_t)size, 1, &memory));
  (void)snprintf(memory, size, "%s%s%s", own, own[0] != 0 && earlier[0] != 0 ? "; " : "", earlier);
  weir_free(&s->text[DATES]);
  s->text[DATES] = memory;
  s->note[DATES].text = memory;
  return WEIR_OK;
}

/* What checkpoints tell these training samples by, whose statistics are not used: the digest of
 * statistics and dates. */
static void digest_samples(wx_stage *s)
{
  double *at[ARRAYS];
  int64_t n[ARRAYS];
  char all[ARRAYS + 1][65];

  list_arrays(&s->standard, at, n);
  for (int k = 0; k < ARRAYS; k++) {
    weir_sha256(at[k], (size_t)n[k] * sizeof *at[k], all[k]);
  }
  weir_sha256(s->text[DATES], strlen(s->text[DATES]), all[ARRAYS]);
  weir_sha256(all, sizeof all, s->samples);
}

static weir_status start_from(wx_stage *s, const char *path)
{
  char *dates = NULL;
  weir_status status = WEIR_OK;

  digest_samples(s);
  WEIR_TRY(wx_stage_load(s, path));
  WEIR_TRY(weir_store_add(s->store, SAMPLES_ARRAY, WEIR_U8, 1, (int64_t[]){SAMPLES_SIZE}));
  WEIR_TRY(put_samples(s));
  WEIR_TRY(wx_stage_trained(path, &dates));
  WEIR_TRY_GOTO(warn_of_seen(s, path, dates), done);
  WEIR_TRY_GOTO(add_dates(s, dates), done);
  weir_info("run", "%s: fine-tuning, from the weights of %s", s->is.name, path);
done:
  weir_free(&dates);
  return status;
}

/* A distribution with a bound says that no truth is beyond it. */
static weir_status check_bounds(const wx_stage *s, const wx_sample *v)
{
  const int64_t cells = s->facts.cells;

  for (int64_t c = 0; c < s->network.n_y; c++) {
    const wx_output *const is = &s->output[c];
    const wx_channel *const channel = &s->facts.channel[WX_Y][c];
    const double upper = is->width > 0 ? is->lower + is->width : INFINITY;

    for (int64_t i = 0; i < cells && wx_family_is_bounded(is->family); i++) {
      const double y = (double)v->y[c * cells + i];

      if (y < is->lower || y > upper) {
        const bool below = y < is->lower;

        return weir_fail(WEIR_ERR_DATA,
                         "model.distributions: a truth of %s is %g, %s the bound %s = %g: take a "
                         "bound that no value is %s, in units of the quantity (%s), or %s",
                         channel->name, y, below ? "below" : "above", below ? "lower" : "upper",
                         below ? is->lower : upper, below ? "below" : "above", channel->units,
                         below ? "the family normal or logistic" : "none");
      }
    }
  }
  return WEIR_OK;
}

weir_status wx_stage_fit(wx_stage *s)
{
  const wx_split *split = s->is.split;
  wx_sample v;

  WEIR_TRY(wx_standard_fit(&s->standard, s->is.samples, split->sample[WX_TRAIN], split->n[WX_TRAIN],
                           s->is.mean));
  for (int64_t i = 0; i < split->n[WX_TRAIN] && s->bounds[0] != NULL; i++) {
    WEIR_TRY(wx_samples_read(s->is.samples, split->sample[WX_TRAIN][i], &v));
    WEIR_TRY(check_bounds(s, &v));
  }
  for (int64_t i = 0; i < split->n[WX_VALID]; i++) {
    WEIR_TRY(wx_samples_read(s->is.samples, split->sample[WX_VALID][i], &v));
    WEIR_TRY(check_bounds(s, &v));
  }
  return s->is.train->initial_weights[0] != 0 ? start_from(s, s->is.train->initial_weights)
                                              : WEIR_OK;
}
