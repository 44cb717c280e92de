/* predict_samples.c - see predict_samples.h. */
#include "predict_samples.h"
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "baseline/dependence.h"
#include "comm/weir_items.h"
#include "device/weir_worker.h"

/* One is read, one computed, one written. */
enum { SLOTS = 3 };
/* What the networks see; both the same where the bias network has no samples of its own. */
enum { LAST, FIRST, STAGES };

struct work;
/* A sample on its way. */
typedef struct slot {
  const struct work *w;
  int64_t sample;
  float *x[STAGES];             /* [x channel, cells] */
  float *m[STAGES], *s[STAGES]; /* [y channel, cells] raw moments */
  float *mean, *sigma;          /* [y channel, cells] corrected */
  float *location, *scale;      /* the same; NULL: all distributions are normal */
  float *members;               /* [y channel, depth, member, plane]; NULL: not needed */
  double read_s, write_s;       /* of the last job; of its thread until it is waited for */
} slot;

typedef struct work {
  const wx_experiment *e;
  wx_predictor *net[STAGES];   /* [FIRST] NULL: one stage */
  wx_samples *samples[STAGES]; /* [FIRST] NULL: those of the last stage */
  wx_predict_files *files;
  const int64_t *sample;
  int64_t n, of_y;
  slot slot[SLOTS];
  weir_worker *reader, *writer;
  wx_predict_times *times;
} work;

static weir_status allocate(work *w)
{
  const wx_info *f = w->e->facts;
  const bool members = w->e->cfg->predict.members || w->net[LAST]->takes_members;
  int64_t of_members = 0;

  if (members && !weir_mul_ok(w->of_y, f->members, &of_members)) {
    return weir_fail(WEIR_ERR_MEMORY, "the members of a sample are too many");
  }
  for (int k = 0; k < SLOTS; k++) {
    slot *const s = &w->slot[k];

    s->w = w;
    for (int i = 0; i < STAGES && w->samples[i] != NULL; i++) {
      WEIR_TRY(weir_alloc(w->net[i]->of_x, sizeof *s->x[i], (void **)&s->x[i]));
      WEIR_TRY(weir_alloc(w->of_y, sizeof *s->m[i], (void **)&s->m[i]));
      WEIR_TRY(weir_alloc(w->of_y, sizeof *s->s[i], (void **)&s->s[i]));
    }
    WEIR_TRY(weir_alloc(w->of_y, sizeof *s->mean, (void **)&s->mean));
    WEIR_TRY(weir_alloc(w->of_y, sizeof *s->sigma, (void **)&s->sigma));
    if (w->net[LAST]->location != NULL) {
      WEIR_TRY(weir_alloc(w->of_y, sizeof *s->mean, (void **)&s->location));
      WEIR_TRY(weir_alloc(w->of_y, sizeof *s->mean, (void **)&s->scale));
    }
    WEIR_TRY(weir_alloc(of_members, sizeof *s->members, (void **)&s->members));
  }
  return WEIR_OK;
}

/* ---- Reading ---- */

static weir_status read_members(slot *s)
{
  const wx_experiment *e = s->w->e;
  const wx_info *f = e->facts;
  const int64_t each = f->members * (f->cells / f->depth);
  const bool leads = strcmp(f->axis[0].name, "lead") == 0;

  for (int64_t i = 0; i < f->n_channels[WX_Y] * f->depth; i++) {
    const int64_t lead = leads ? f->lead[i % f->depth] : f->of_lead[s->sample];

    WEIR_TRY(wx_archive_read(e->forecast, f->of_start[s->sample], lead, f->target[i], f->first,
                             f->members, s->members + i * each));
  }
  return WEIR_OK;
}

static weir_status read_slot(void *context)
{
  slot *const s = context;
  const double start = weir_clock();

  for (int i = 0; i < STAGES && s->w->samples[i] != NULL; i++) {
    wx_sample v;

    WEIR_TRY(wx_samples_read(s->w->samples[i], s->sample, &v));
    memcpy(s->x[i], v.x, (size_t)s->w->net[i]->of_x * sizeof *v.x);
    memcpy(s->m[i], v.m, (size_t)s->w->of_y * sizeof *v.m);
    memcpy(s->s[i], v.s, (size_t)s->w->of_y * sizeof *v.s);
  }
  if (s->members != NULL) {
    WEIR_TRY(read_members(s));
  }
  s->read_s = weir_clock() - start;
  return WEIR_OK;
}

/* ---- The network ---- */

static weir_status compute(work *w, slot *s)
{
  wx_predictor *const first = w->net[FIRST], *const last = w->net[LAST];
  const int own = w->samples[FIRST] != NULL ? FIRST : LAST;
  const size_t bytes = (size_t)w->of_y * sizeof *s->mean;

  wx_predictor_put(
      last, 0, &(wx_sample){.x = s->x[LAST], .m = s->m[LAST], .s = s->s[LAST], .e = s->members});
  if (first != NULL) {
    wx_predictor_put(first, 0, &(wx_sample){.x = s->x[own], .m = s->m[own], .s = s->s[own]});
    WEIR_TRY(wx_predictor_run(first));
    memcpy(last->m, first->mean, bytes);
  }
  WEIR_TRY(wx_predictor_run(last));
  /* A network of the spread says nothing of the mean. */
  memcpy(s->mean, w->e->cfg->data.label == WX_LABEL_SPREAD ? s->m[LAST] : last->mean, bytes);
  if (last->sigma != NULL) {
    memcpy(s->sigma, last->sigma, bytes);
  }
  if (last->location != NULL) {
    memcpy(s->location, last->location, bytes);
    memcpy(s->scale, last->scale, bytes);
  }
  if (last->members != NULL) {
    memcpy(s->members, last->members, bytes * (size_t)w->e->facts->members);
  }
  return WEIR_OK;
}

/* ---- Writing ---- */

/* Members keep their ranks: each is moved by the mean and its distance from the
 * raw mean stretched by the ratio of standard deviations. */
static void stretch_members(slot *s, int64_t k)
{
  const wx_info *f = s->w->e->facts;
  const int64_t plane = f->cells / f->depth, n = f->members;
  const bool stretches = s->w->net[LAST]->sigma != NULL;
  const float *const raw = s->m[LAST], *const spread = s->s[LAST];

  for (int64_t at = k * f->cells; at < (k + 1) * f->cells; at++) {
    const float ratio = stretches && spread[at] > 0 ? s->sigma[at] / spread[at] : 1;
    float *const member = s->members + at / plane * n * plane + at % plane;

    for (int64_t m = 0; m < n; m++) {
      member[m * plane] = s->mean[at] + ratio * (member[m * plane] - raw[at]);
    }
  }
}

/* Of a distribution that is not normal its quantiles, in the order of the raw members. */
static weir_status couple_members(slot *s, int64_t k)
{
  const wx_experiment *const e = s->w->e;
  const wx_output *const is = &s->w->net[LAST]->stage->output[k];
  const int64_t plane = e->facts->cells / e->facts->depth, n = e->facts->members;
  const int64_t start = wx_archive_get(e->forecast)->start[e->facts->of_start[s->sample]];
  wx_dependence_opts how;

  weir_opts_default(wx_dependence_options, sizeof how, &how);
  for (int64_t d = 0; d < e->facts->depth; d++) {
    const int64_t at = k * e->facts->cells + d * plane;
    const wx_dependence_start of = {.members = n,
                                    .n = plane,
                                    .raw = s->members + at * n,
                                    .mu = s->location + at,
                                    .sigma = s->scale + at,
                                    .family = is->family,
                                    .lower = is->lower,
                                    .shift = is->shift,
                                    .width = is->width,
                                    .seed = (uint64_t)e->cfg->seed,
                                    .start = (uint32_t)(start / 3600)};

    WEIR_TRY(wx_dependence(&how, &of, s->members + at * n));
  }
  return WEIR_OK;
}

/* Members that are asked for, of a network that makes none itself. */
static weir_status move_members(slot *s)
{
  const wx_output *const output = s->w->net[LAST]->stage->output;

  if (s->w->net[LAST]->members != NULL || !s->w->e->cfg->predict.members) {
    return WEIR_OK;
  }

  for (int64_t k = 0; k < s->w->e->facts->n_channels[WX_Y]; k++) {
    if (output[k].family == WX_NORMAL) {
      stretch_members(s, k);
    } else {
      WEIR_TRY(couple_members(s, k));
    }
  }
  return WEIR_OK;
}

/* Members that the network made; what is written of mean and standard deviation are theirs. */
static weir_status write_members(const slot *s)
{
  const wx_info *const f = s->w->e->facts;
  const int64_t each = f->members * (f->cells / f->depth);

  for (int64_t i = 0; i < f->n_channels[WX_Y] * f->depth; i++) {
    const wx_given given = {.members = f->members, .member = s->members + i * each};

    WEIR_TRY(wx_predict_files_give(s->w->files, s->sample, i / f->depth, i % f->depth, &given));
  }
  return WEIR_OK;
}

static weir_status write_values(const slot *s)
{
  if (s->w->net[LAST]->members != NULL) {
    return write_members(s);
  }
  const wx_predict_values v = {.mean = s->mean,
                               .sigma = s->w->net[LAST]->sigma != NULL ? s->sigma : NULL,
                               .location = s->location,
                               .scale = s->scale,
                               .members = s->w->e->cfg->predict.members ? s->members : NULL};

  return wx_predict_files_write(s->w->files, s->sample, &v);
}

static weir_status write_slot(void *context)
{
  slot *const s = context;
  const double start = weir_clock();

  WEIR_TRY(move_members(s));
  WEIR_TRY(write_values(s));
  s->write_s = weir_clock() - start;
  return WEIR_OK;
}

/* ---- One after another ---- */

static void start_reading(work *w, int64_t i)
{
  slot *const s = &w->slot[i % SLOTS];

  s->sample = w->sample[i];
  weir_worker_start(w->reader, read_slot, s);
}

/* Reading of i is under way. When it is over, that of i + 1 begins in the slot that i - 2 left: its
 * writing was waited for before that of i - 1 began. */
static weir_status step(work *w, int64_t i)
{
  wx_predict_times *const t = w->times;
  slot *const s = &w->slot[i % SLOTS];
  double before = weir_clock();

  WEIR_TRY(weir_worker_wait(w->reader));
  t->read += s->read_s;
  if (i + 1 < w->n) {
    start_reading(w, i + 1);
  }
  double now = weir_clock();

  t->read_waited += now - before;
  before = now;
  WEIR_TRY(compute(w, s));
  now = weir_clock();
  t->network += now - before;
  before = now;
  WEIR_TRY(weir_worker_wait(w->writer));
  t->write += i > 0 ? w->slot[(i - 1) % SLOTS].write_s : 0;
  weir_worker_start(w->writer, write_slot, s);
  t->write_waited += weir_clock() - before;
  return WEIR_OK;
}

static weir_status finish(work *w)
{
  wx_predict_times *const t = w->times;
  const double before = weir_clock();

  WEIR_TRY(weir_worker_wait(w->writer));
  t->write += w->slot[(w->n - 1) % SLOTS].write_s;
  const double written = weir_clock();

  WEIR_TRY(wx_predict_files_commit(w->files));
  const double now = weir_clock();

  t->write += now - written;
  t->write_waited += now - before;
  return WEIR_OK;
}

static weir_status run_alone(work *w)
{
  const double start = weir_clock();

  if (w->n > 0) {
    start_reading(w, 0);
    w->times->read_waited += weir_clock() - start;
  }
  for (int64_t i = 0; i < w->n; i++) {
    if (weir_stop_requested()) {
      return weir_fail(WEIR_ERR_STOPPED, "predict: stopped at sample %lld of %lld", (long long)i,
                       (long long)w->n);
    }
    WEIR_TRY(step(w, i));
    weir_progress("predict", i + 1, w->n, "samples");
  }
  WEIR_TRY(finish(w));
  w->times->total = weir_clock() - start;
  return WEIR_OK;
}

/* ---- Shared by ranks ---- */

static weir_status make_sample(void *context, int64_t i, weir_bytes *out)
{
  work *const w = context;
  slot *const s = &w->slot[0];
  const int64_t bytes = w->of_y * (int64_t)sizeof *s->mean;

  s->sample = w->sample[i];
  WEIR_TRY(read_slot(s));
  const double before = weir_clock();

  WEIR_TRY(compute(w, s));
  w->times->read += s->read_s;
  w->times->network += weir_clock() - before;
  WEIR_TRY(weir_bytes_put(out, s->mean, bytes));
  WEIR_TRY(weir_bytes_put(out, s->sigma, bytes));
  if (s->location != NULL) {
    WEIR_TRY(weir_bytes_put(out, s->location, bytes));
    WEIR_TRY(weir_bytes_put(out, s->scale, bytes));
  }
  if (!w->e->cfg->predict.members) {
    return WEIR_OK;
  }
  WEIR_TRY(move_members(s));
  return weir_bytes_put(out, s->members, bytes * w->e->facts->members);
}

static weir_status take_sample(void *context, int64_t i, const char *data, int64_t n)
{
  work *const w = context;
  slot *const s = &w->slot[1];
  const int64_t bytes = w->of_y * (int64_t)sizeof *s->mean;
  const double start = weir_clock();
  const char *at = data;

  WEIR_TRY(weir_bytes_get(&at, data + n, s->mean, bytes));
  WEIR_TRY(weir_bytes_get(&at, data + n, s->sigma, bytes));
  if (s->location != NULL) {
    WEIR_TRY(weir_bytes_get(&at, data + n, s->location, bytes));
    WEIR_TRY(weir_bytes_get(&at, data + n, s->scale, bytes));
  }
  if (w->e->cfg->predict.members) {
    WEIR_TRY(weir_bytes_get(&at, data + n, s->members, bytes * w->e->facts->members));
  }
  s->sample = w->sample[i];
  WEIR_TRY(write_values(s));
  w->times->write += weir_clock() - start;
  weir_progress("predict", i + 1, w->n, "samples");
  return WEIR_OK;
}

static weir_status run_shared(work *w, weir_comm *comm)
{
  const double start = weir_clock();

  WEIR_TRY(weir_items_run(&(weir_items){.comm = comm,
                                        .what = "predict",
                                        .unit = "samples",
                                        .n = w->n,
                                        .make = make_sample,
                                        .take = take_sample},
                          w));
  if (weir_comm_rank(comm) == 0) {
    WEIR_TRY(wx_predict_files_commit(w->files));
  }
  w->times->total = weir_clock() - start;
  return WEIR_OK;
}

weir_status wx_predict_samples(const wx_experiment *e, wx_predictor *first, wx_predictor *last,
                               wx_predict_files *files, const wx_predict_what *what,
                               wx_predict_times *out)
{
  const bool shared = what->comm != NULL && weir_comm_size(what->comm) > 1;
  work w = {.e = e,
            .net = {[LAST] = last, [FIRST] = first},
            .samples = {[LAST] = e->samples, [FIRST] = first != NULL ? e->bias_samples : NULL},
            .files = files,
            .sample = what->sample,
            .n = what->n,
            .of_y = last->of_y,
            .times = out};
  weir_status status = WEIR_OK;

  *out = (wx_predict_times){.total = 0};
  WEIR_TRY_GOTO(allocate(&w), done);
  WEIR_TRY_GOTO(weir_worker_create(what->overlap, &w.reader), done);
  WEIR_TRY_GOTO(weir_worker_create(what->overlap, &w.writer), done);
  WEIR_TRY_GOTO(shared ? run_shared(&w, what->comm) : run_alone(&w), done);
done:
  weir_worker_destroy(&w.reader); /* before what they use */
  weir_worker_destroy(&w.writer);
  for (int k = 0; k < SLOTS; k++) {
    slot *const s = &w.slot[k];
    float **const all[] = {&s->x[0], &s->x[1],  &s->m[0],     &s->m[1],  &s->s[0],   &s->s[1],
                           &s->mean, &s->sigma, &s->location, &s->scale, &s->members};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
      weir_free(all[i]);
    }
  }
  return status;
}
