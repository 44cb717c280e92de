/* eval_strips.c - the signal around errors; see eval_page.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "eval/beats.h"
#include "page/eval_page.h"
#include "page/eval_scored.h"
#include "io/weir_record.h"

/* s on either side of an error. */
#define AROUND 2.0
/* Samples of a strip: what a rate of 100 kHz needs. */
enum { MAX_SAMPLES = 400000, SERIES = 4 };

/* A record whose errors are drawn. */
typedef struct source {
  const ps_scored *s;
  weir_record *record;
  const weir_signal_info *signal;
  int number; /* of the signal */
  ps_beats reference, test;
  double rate; /* of the annotations' clock */
} source;

/* One strip: the signal and what is marked in it, each as x and y. */
typedef struct strip {
  double lo, hi; /* s */
  int64_t n_marks[SERIES];
  double *x[SERIES], *y[SERIES]; /* signal, reference, test, errors; owned */
} strip;

/* How many strips each of n records gets of eval.strips: one after the other as long as it has
 * errors. share: [n]. */
static void share_strips(const ps_scored *s, int64_t n, int64_t strips, int64_t *share)
{
  bool more = true;

  for (int64_t i = 0; i < n; i++) {
    share[i] = 0;
  }
  while (more && strips > 0) {
    more = false;
    for (int64_t i = 0; i < n && strips > 0; i++) {
      if (share[i] < s[i].score.fn + s[i].score.fp) {
        share[i]++;
        strips--;
        more = true;
      }
    }
  }
}

static void close_source(source *f)
{
  weir_record_close(&f->record);
  ps_beats_fini(&f->reference);
  ps_beats_fini(&f->test);
}

static weir_status open_source(const ps_cfg *cfg, source *f)
{
  WEIR_TRY(weir_record_open(f->s->signal[0] != 0 ? f->s->signal : f->s->record, NULL, &f->record));
  WEIR_TRY(weir_record_find(f->record, cfg->input.signal, &f->number));
  f->signal = weir_record_signal(f->record, f->number);
  WEIR_TRY(ps_beats_read(f->s->files.reference, &f->s->clock, f->s->end, &f->reference));
  return ps_beats_read(f->s->files.test, &f->s->clock, f->s->end, &f->test);
}

static weir_status read_signal(const source *f, strip *p)
{
  const double fs = (double)f->signal->fs_num / (double)f->signal->fs_den;
  const int64_t lo = (int64_t)ceil(p->lo * fs), hi = (int64_t)floor(p->hi * fs) + 1;
  const int64_t n = hi - lo < MAX_SAMPLES ? hi - lo : MAX_SAMPLES;
  float *value = NULL;
  uint8_t *present = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(n, sizeof *p->x[0], (void **)&p->x[0]), done);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *p->y[0], (void **)&p->y[0]), done);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *value, (void **)&value), done);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *present, (void **)&present), done);
  WEIR_TRY_GOTO(weir_record_read(f->record, f->number, lo, n, value, present), done);
  for (int64_t i = 0; i < n; i++) {
    p->x[0][i] = (double)(lo + i) / fs;
    p->y[0][i] = present[i] ? (double)value[i] : NAN;
  }
  p->n_marks[0] = n;
done:
  weir_free(&value);
  weir_free(&present);
  return status;
}

/* Least and greatest value of the signal; 0 and 1 where it is absent. */
static void range_of(const strip *p, double *lo, double *hi)
{
  *lo = INFINITY;
  *hi = -INFINITY;
  for (int64_t i = 0; i < p->n_marks[0]; i++) {
    *lo = fmin(*lo, p->y[0][i]);
    *hi = fmax(*hi, p->y[0][i]);
  }
  if (!(*lo <= *hi)) {
    *lo = 0;
    *hi = 1;
  }
}

/* The beats of one side within the strip, all at one height. */
static weir_status mark_beats(const ps_beats *b, double rate, double height, strip *p, int series)
{
  int64_t capacity_x = 0, capacity_y = 0, n = 0;

  for (int64_t i = 0; i < b->n; i++) {
    const double at = (double)b->times[i] / rate;

    if (at < p->lo || at > p->hi) {
      continue;
    }
    WEIR_TRY(weir_reserve(&p->x[series], &capacity_x, n + 1, sizeof *p->x[series]));
    WEIR_TRY(weir_reserve(&p->y[series], &capacity_y, n + 1, sizeof *p->y[series]));
    p->x[series][n] = at;
    p->y[series][n++] = height;
  }
  p->n_marks[series] = n;
  return WEIR_OK;
}

/* Height of the trace at a time; the middle where it is absent. */
static double trace_at(const strip *p, double at, double middle)
{
  const int64_t n = p->n_marks[0];
  const double fs = n > 1 ? (double)(n - 1) / (p->x[0][n - 1] - p->x[0][0]) : 1;
  const int64_t i = n > 0 ? (int64_t)llround((at - p->x[0][0]) * fs) : -1;

  return i >= 0 && i < n && isfinite(p->y[0][i]) ? p->y[0][i] : middle;
}

static weir_status mark_errors(const source *f, strip *p, double middle)
{
  const int64_t n_errors = f->s->score.fn + f->s->score.fp;
  const int k = SERIES - 1;
  int64_t capacity_x = 0, capacity_y = 0, n = 0;

  for (int64_t i = 0; i < n_errors; i++) {
    const double at = (double)f->s->errors[i].time / f->rate;

    if (at >= p->lo && at <= p->hi) {
      WEIR_TRY(weir_reserve(&p->x[k], &capacity_x, n + 1, sizeof *p->x[k]));
      WEIR_TRY(weir_reserve(&p->y[k], &capacity_y, n + 1, sizeof *p->y[k]));
      p->x[k][n] = at;
      p->y[k][n++] = trace_at(p, at, middle);
    }
  }
  p->n_marks[k] = n;
  return WEIR_OK;
}

static weir_status draw(weir_report *r, const source *f, const strip *p, const char *title,
                        const char *name)
{
  static const char *const names[SERIES] = {"signal", "reference beats (above)",
                                            "test beats (below)", "missed or false"};
  weir_figure_series series[SERIES];
  char label[256];

  for (int k = 0; k < SERIES; k++) {
    series[k] = (weir_figure_series){.kind = k == 0 ? WEIR_FIGURE_LINE : WEIR_FIGURE_POINTS,
                                     .name = names[k],
                                     .n = p->n_marks[k],
                                     .x = p->x[k],
                                     .y = p->y[k]};
  }
  (void)snprintf(label, sizeof label, "%s (%s)", f->signal->name, f->signal->units);
  const weir_figure figure = {.title = title,
                              .x_label = "time (s)",
                              .y_label = label,
                              .series = series,
                              .n_series = SERIES,
                              .ecg_paper = strcmp(f->signal->units, "mV") == 0};

  return weir_report_figure(r, name, &figure);
}

static weir_status add_strip(weir_report *r, const source *f, const ps_score_error *e,
                             const char *name)
{
  const double at = (double)e->time / f->rate;
  strip p = {.lo = fmax(0, at - AROUND), .hi = at + AROUND};
  double lo = 0, hi = 0;
  char title[256], text[32];
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(read_signal(f, &p), done);
  range_of(&p, &lo, &hi);
  const double padding = fmax(0.1 * (hi - lo), 1e-3 * fmax(fabs(hi), 1e-3));

  WEIR_TRY_GOTO(mark_beats(&f->reference, f->rate, hi + padding, &p, 1), done);
  WEIR_TRY_GOTO(mark_beats(&f->test, f->rate, lo - padding, &p, 2), done);
  WEIR_TRY_GOTO(mark_errors(f, &p, (lo + hi) / 2), done);
  (void)snprintf(title, sizeof title, "%s: %s beat at %s", ps_base_name(f->s->record),
                 e->missed ? "missed" : "false", ps_time_text(at, text));
  WEIR_TRY_GOTO(draw(r, f, &p, title, name), done);
done:
  for (int k = 0; k < SERIES; k++) {
    weir_free(&p.x[k]);
    weir_free(&p.y[k]);
  }
  return status;
}

/* Up to `share` strips of record number `index`. */
static weir_status add_record(weir_report *r, const source *f, int64_t index, int64_t share)
{
  const int64_t n = f->s->score.fn + f->s->score.fp;
  double last = -INFINITY;
  int64_t drawn = 0;

  for (int64_t i = 0; i < n && drawn < share; i++) {
    const double at = (double)f->s->errors[i].time / f->rate;
    char name[64];

    if (at - last <= AROUND) {
      continue;
    }
    last = at;
    drawn++;
    (void)snprintf(name, sizeof name, "error_%lld_%lld", (long long)index + 1, (long long)drawn);
    WEIR_TRY(add_strip(r, f, &f->s->errors[i], name));
  }
  return WEIR_OK;
}

static weir_status open_and_add(weir_report *r, const ps_cfg *cfg, const ps_scored *s,
                                int64_t index, int64_t share)
{
  source f = {.s = s, .rate = (double)s->clock.fs_num / (double)s->clock.fs_den};
  weir_status status = open_source(cfg, &f);

  if (status == WEIR_OK) {
    status = add_record(r, &f, index, share);
  } else if (status != WEIR_ERR_MEMORY) {
    status = weir_report_text(r, "%s: no strip, as its signal cannot be read: %s",
                              ps_base_name(s->record), weir_last_message());
    weir_clear_failure();
  }
  close_source(&f);
  return status;
}

weir_status ps_eval_strips(weir_report *r, const ps_cfg *cfg, const ps_scored *s, int64_t n)
{
  int64_t *share = NULL, errors = 0;
  weir_status status = WEIR_OK;

  for (int64_t i = 0; i < n; i++) {
    errors += s[i].score.fn + s[i].score.fp;
  }
  if (errors == 0 || cfg->eval.strips == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(n, sizeof *share, (void **)&share));
  share_strips(s, n, cfg->eval.strips, share);
  WEIR_TRY_GOTO(weir_report_heading(r, "Errors"), done);
  WEIR_TRY_GOTO(weir_report_text(r,
                                 "%lld beats are missed or false; errors.csv lists all. Up to "
                                 "%lld strips of %g s before and after, the first ones of each "
                                 "record in turn; errors closer together share a strip. 25 mm "
                                 "are 1 s and 10 mm are 1 mV where the signal is in mV.",
                                 (long long)errors, (long long)cfg->eval.strips, AROUND),
                done);
  for (int64_t i = 0; i < n; i++) {
    if (share[i] > 0) {
      WEIR_TRY_GOTO(open_and_add(r, cfg, &s[i], i, share[i]), done);
    }
  }
done:
  weir_free(&share);
  return status;
}
