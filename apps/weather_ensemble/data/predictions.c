/* predictions.c - see predictions.h. */
#include "data/predictions.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_sort.h"
#include "data/quantity.h"

struct wx_predictions {
  const wx_info *samples;
  const wx_archive_info *forecast;
  wx_archive_info facts;
  wx_archive_writer *writer;
  int64_t *start, *number; /* [initialisation times] seconds; number of the forecast's start */
  int64_t *member;
  double *lead, *period;
  wx_quantity *quantity; /* targets (and depths), then their spreads, then locations and scales by
                            turns; or events of targets */
  int64_t n_targets;
  wx_predictions_of of;
  int64_t *target_of, *event_of; /* [n_quantities]; of events */
  bool spread;
};

/* Different values, in order; returns how many. */
static int64_t sort_once(int64_t *v, int64_t n)
{
  int64_t m = 0;

  qsort(v, (size_t)n, sizeof *v, weir_compare_i64);
  for (int64_t i = 0; i < n; i++) {
    if (m == 0 || v[i] > v[m - 1]) {
      v[m++] = v[i];
    }
  }
  return m;
}

/* A depth of levels makes each target several quantities, one of leads does not. */
static int64_t quantities_of(const wx_info *f)
{
  return strcmp(f->axis[0].name, "level") == 0 ? f->depth : 1;
}

static const wx_quantity *target_of(const wx_predictions *p, int64_t i)
{
  const wx_info *f = p->samples;
  const int64_t each = quantities_of(f);

  return &p->forecast->quantity[f->target[i / each * f->depth + i % each]];
}

static bool is_of(const wx_event_row *e, const wx_quantity *q)
{
  return e->quantity[0] == 0 || strcmp(e->quantity, q->name) == 0;
}

/* What an event of something of this name is called. */
static weir_status event_text(const wx_event_row *e, const char *of, char text[WX_SHORT])
{
  const int wrote = e->name[0] != 0 ? snprintf(text, WX_SHORT, "%s_%s", of, e->name)
                                    : snprintf(text, WX_SHORT, "%s_%s_%.9g", of,
                                               e->above ? "above" : "below", e->value);

  return wrote < WX_SHORT && strpbrk(text, " /") == NULL
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "predict.events: '%s...' is no name of a variable: at most %d characters, "
                         "without spaces and slashes: give the event a name",
                         text, WX_SHORT - 1);
}

/* The probability of an event of a quantity, a variable of its own. */
static weir_status take_event(const wx_event_row *e, const wx_quantity *of, wx_quantity *q)
{
  *q = *of;
  WEIR_TRY(event_text(e, of->variable, q->variable));
  WEIR_TRY(event_text(e, of->name, q->name));
  (void)snprintf(q->units, sizeof q->units, "1");
  q->standard_name[0] = 0;
  q->param = 0;
  q->product = WX_PRODUCT_MEAN;
  return WEIR_OK;
}

/* Every event of every target that it is of. */
static weir_status take_events(wx_predictions *p)
{
  const int64_t max_fields = p->n_targets * p->of.n_events;

  WEIR_TRY(weir_alloc(max_fields, sizeof *p->quantity, (void **)&p->quantity));
  WEIR_TRY(weir_alloc(max_fields, sizeof *p->target_of, (void **)&p->target_of));
  WEIR_TRY(weir_alloc(max_fields, sizeof *p->event_of, (void **)&p->event_of));
  for (int64_t e = 0; e < p->of.n_events; e++) {
    const int64_t before = p->facts.n_quantities;

    for (int64_t i = 0; i < p->n_targets; i++) {
      if (is_of(&p->of.event[e], target_of(p, i))) {
        const int64_t n = p->facts.n_quantities++;

        WEIR_TRY(take_event(&p->of.event[e], target_of(p, i), &p->quantity[n]));
        p->target_of[n] = i;
        p->event_of[n] = e;
      }
    }
    if (p->facts.n_quantities == before) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "predict.events[%lld].quantity: '%s' is none of data.target", (long long)e,
                       p->of.event[e].quantity);
    }
  }
  return WEIR_OK;
}

static void take_parameters(wx_predictions *p)
{
  for (int64_t i = 0; i < p->n_targets; i++) {
    if (p->of.parameters[i / quantities_of(p->samples)]) {
      for (int k = 0; k < 2; k++) {
        const int64_t n = p->facts.n_quantities++;

        wx_quantity_parameter(target_of(p, i), k == 0 ? "_location" : "_scale", &p->quantity[n]);
        p->target_of[n] = i;
      }
    }
  }
}

static weir_status take_quantities(wx_predictions *p)
{
  const bool members = p->of.members > 0 || p->of.n_quantiles > 0;

  p->n_targets = p->samples->n_channels[WX_Y] * quantities_of(p->samples);
  if (p->of.n_events > 0) {
    return take_events(p);
  }
  WEIR_TRY(weir_alloc(4 * p->n_targets, sizeof *p->quantity, (void **)&p->quantity));
  WEIR_TRY(weir_alloc(4 * p->n_targets, sizeof *p->target_of, (void **)&p->target_of));
  for (int64_t i = 0; i < p->n_targets; i++) {
    const wx_quantity *q = target_of(p, i);

    wx_quantity_derive(q, members ? WX_PRODUCT_MEMBER : WX_PRODUCT_MEAN, &p->quantity[i]);
    wx_quantity_derive(q, WX_PRODUCT_SPREAD, &p->quantity[p->n_targets + i]);
    p->target_of[i] = p->target_of[p->n_targets + i] = i;
  }
  p->facts.n_quantities = p->n_targets * (1 + p->spread);
  if (p->spread && p->of.parameters != NULL) {
    take_parameters(p);
  }
  if (p->of.sd) {
    memcpy(p->quantity, p->quantity + p->n_targets, (size_t)p->n_targets * sizeof *p->quantity);
  }
  return WEIR_OK;
}

static weir_status take_times(wx_predictions *p, const int64_t *sample, int64_t n)
{
  const wx_info *f = p->samples;
  int64_t *lead = NULL;

  WEIR_TRY(weir_alloc(n, sizeof *p->number, (void **)&p->number));
  WEIR_TRY(weir_alloc(n, sizeof *p->start, (void **)&p->start));
  WEIR_TRY(weir_alloc(f->n_leads, sizeof *p->lead, (void **)&p->lead));
  WEIR_TRY(weir_alloc(f->n_leads, sizeof *lead, (void **)&lead));
  for (int64_t i = 0; i < n; i++) {
    p->number[i] = f->of_start[sample[i]];
  }
  p->facts.n_init_times = sort_once(p->number, n);
  for (int64_t i = 0; i < p->facts.n_init_times; i++) {
    p->start[i] = p->forecast->start[p->number[i]];
  }
  memcpy(lead, f->lead, (size_t)f->n_leads * sizeof *lead);
  p->facts.n_leads = sort_once(lead, f->n_leads);
  for (int64_t l = 0; l < p->facts.n_leads; l++) {
    p->lead[l] = p->forecast->lead[lead[l]];
  }
  weir_free(&lead);
  return WEIR_OK;
}

/* What is corrected covers what the forecast covered. */
static weir_status take_periods(wx_predictions *p)
{
  const wx_info *s = p->samples;
  wx_archive_info *f = &p->facts;
  const int64_t each = quantities_of(s);

  WEIR_TRY(weir_alloc(f->n_quantities * f->n_leads, sizeof *p->period, (void **)&p->period));
  for (int64_t q = 0; q < f->n_quantities; q++) {
    const int64_t i = p->target_of[q], of = s->target[i / each * s->depth + i % each];

    for (int64_t l = 0; l < f->n_leads; l++) {
      p->period[q * f->n_leads + l] =
          wx_archive_period(p->forecast, of, wx_archive_find_lead(p->forecast, p->lead[l]));
    }
  }
  f->period = p->period;
  return WEIR_OK;
}

static weir_status create(wx_predictions *p, const char *path, const wx_archive *like,
                          const int64_t *sample, int64_t n)
{
  const wx_archive_out how = {.like = like,
                              .n_members = p->samples->members,
                              .corrected = true,
                              .quantile = p->of.n_quantiles > 0 ? p->of.quantile : NULL};
  wx_archive_info *f = &p->facts;

  f->name = path;
  f->grid = p->forecast->grid;
  f->notes = p->forecast->notes;
  WEIR_TRY(take_times(p, sample, n));
  WEIR_TRY(take_quantities(p));
  f->n_members = p->of.members > 0 ? p->of.members : p->of.n_quantiles > 0 ? p->of.n_quantiles : 1;
  WEIR_TRY(weir_alloc(f->n_members, sizeof *p->member, (void **)&p->member));
  for (int64_t k = 0; k < f->n_members; k++) {
    p->member[k] = p->of.members > 0 ? p->forecast->member[p->of.first + k] : k;
  }
  WEIR_TRY(take_periods(p));
  f->start = p->start;
  f->lead = p->lead;
  f->member = p->member;
  f->quantity = p->quantity;
  return wx_archive_create_as(path, f, &how, &p->writer);
}

weir_status wx_predictions_create(const char *path, const wx_info *samples,
                                  const wx_archive *forecast, const int64_t *sample, int64_t n,
                                  const wx_predictions_of *of, wx_predictions **out)
{
  void *memory = NULL;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(wx_predictions), &memory));
  wx_predictions *p = memory;

  p->samples = samples;
  p->forecast = wx_archive_get(forecast);
  p->of = *of;
  p->spread = of->spread && of->members == 0 && of->n_quantiles == 0 && of->n_events == 0;
  const weir_status status = create(p, path, forecast, sample, n);

  if (status != WEIR_OK) {
    wx_predictions_abandon(&p);
    return status;
  }
  *out = p;
  return WEIR_OK;
}

/* Finds the start, lead and quantity of a field of a sample. */
static void locate(const wx_predictions *p, int64_t sample, int64_t k, int64_t d, int64_t *start,
                   int64_t *lead, int64_t *quantity)
{
  const wx_info *f = p->samples;
  const int64_t each = quantities_of(f);
  const bool leads = f->depth > 1 && each == 1;
  const int64_t of_lead = leads ? f->lead[d] : f->of_lead[sample];

  *start = wx_archive_find_start(&p->facts, p->forecast->start[f->of_start[sample]]);
  *lead = wx_archive_find_lead(&p->facts, p->forecast->lead[of_lead]);
  *quantity = k * each + (each > 1 ? d : 0);
}

weir_status wx_predictions_write(wx_predictions *p, int64_t sample, int64_t k, int64_t d,
                                 const float *mean, const float *sigma)
{
  int64_t start, lead, q;

  locate(p, sample, k, d, &start, &lead, &q);
  WEIR_TRY(wx_archive_write(p->writer, start, lead, q, 0, 1, p->of.sd ? sigma : mean));
  return p->spread ? wx_archive_write(p->writer, start, lead, p->n_targets + q, 0, 1, sigma)
                   : WEIR_OK;
}

weir_status wx_predictions_write_parameters(wx_predictions *p, int64_t sample, int64_t k, int64_t d,
                                            const float *location, const float *scale)
{
  int64_t start, lead, q;

  locate(p, sample, k, d, &start, &lead, &q);
  for (int64_t n = 2 * p->n_targets; n < p->facts.n_quantities && p->spread; n += 2) {
    if (p->target_of[n] == q) {
      WEIR_TRY(wx_archive_write(p->writer, start, lead, n, 0, 1, location));
      return wx_archive_write(p->writer, start, lead, n + 1, 0, 1, scale);
    }
  }
  return WEIR_OK;
}

/* The quantity of event e of target i; -1: it is none of it. */
static int64_t find_event(const wx_predictions *p, int64_t i, int64_t e)
{
  for (int64_t n = 0; n < p->facts.n_quantities; n++) {
    if (p->target_of[n] == i && p->event_of[n] == e) {
      return n;
    }
  }
  return -1;
}

bool wx_predictions_has_event(const wx_predictions *p, int64_t k, int64_t d, int64_t e)
{
  const int64_t each = quantities_of(p->samples);

  return find_event(p, k * each + (each > 1 ? d : 0), e) >= 0;
}

weir_status wx_predictions_write_event(wx_predictions *p, int64_t sample, int64_t k, int64_t d,
                                       int64_t e, const float *values)
{
  int64_t start, lead, q;

  locate(p, sample, k, d, &start, &lead, &q);
  return wx_archive_write(p->writer, start, lead, find_event(p, q, e), 0, 1, values);
}

weir_status wx_predictions_write_members(wx_predictions *p, int64_t sample, int64_t k, int64_t d,
                                         const float *values)
{
  int64_t start, lead, q;

  locate(p, sample, k, d, &start, &lead, &q);
  return wx_archive_write(p->writer, start, lead, q, 0, p->facts.n_members, values);
}

static void dispose(wx_predictions **p)
{
  weir_free(&(*p)->start);
  weir_free(&(*p)->number);
  weir_free(&(*p)->member);
  weir_free(&(*p)->lead);
  weir_free(&(*p)->period);
  weir_free(&(*p)->quantity);
  weir_free(&(*p)->target_of);
  weir_free(&(*p)->event_of);
  weir_free(p);
}

weir_status wx_predictions_put_text(wx_predictions *p, const char *name, const char *text)
{
  return wx_archive_put_text(p->writer, name, text);
}

weir_status wx_predictions_finish(wx_predictions **p, weir_writer **file)
{
  const weir_status status = wx_archive_finish(&(*p)->writer, file);

  dispose(p);
  return status;
}

void wx_predictions_abandon(wx_predictions **p)
{
  if (*p != NULL) {
    wx_archive_abandon(&(*p)->writer);
    dispose(p);
  }
}
