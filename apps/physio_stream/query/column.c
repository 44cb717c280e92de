/* column.c - see column.h. */
#include "query/column.h"
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_decimal.h"
#include "base/weir_file.h"
#include "io/weir_wire.h"

/* What stands before the values of a run. */
typedef struct run {
  int64_t slot, n;
} run;

double ps_column_time(const ps_column *c, int64_t slot)
{
  return (double)slot * (double)c->what->rate_den / (double)c->what->rate_num;
}

weir_status ps_column_init(const weir_query_column *what, double start, double seconds,
                           ps_column *out)
{
  const double rate = (double)what->rate_num / (double)what->rate_den;
  const bool trend = rate <= PS_COLUMN_TREND && seconds > 0 && !(start > 0);
  const double n = trend ? PS_COLUMN_STRIP : fmin(floor(seconds * rate), PS_COLUMN_STRIP);

  *out = (ps_column){.what = what, .min = INFINITY, .max = -INFINITY, .first = -1};
  out->whole = seconds > 0 && !(start > 0);
  out->strip.lo = start > 0 ? (int64_t)ceil(start * rate) : -1;
  out->strip.hi = out->strip.lo + (int64_t)n;
  WEIR_TRY(weir_alloc((int64_t)n, sizeof *out->strip.value, (void **)&out->strip.value));
  for (int64_t i = 0; i < (int64_t)n; i++) {
    out->strip.value[i] = NAN;
  }
  out->kept = tmpfile();
  if (out->kept == NULL) {
    weir_free(&out->strip.value);
    return weir_temporary_failed(what->name, errno);
  }
  return WEIR_OK;
}

void ps_column_fini(ps_column *c)
{
  if (c->kept != NULL) {
    (void)fclose(c->kept);
  }
  weir_free(&c->strip.value);
  *c = (ps_column){.what = NULL};
}

static void count_odd(ps_column_odd *odd, int64_t slot)
{
  odd->first = odd->n == 0 ? slot : odd->first;
  odd->n++;
}

static weir_status keep(ps_column *c, int64_t slot, int64_t n, const float *x)
{
  const run head = {slot, n};

  if (fwrite(&head, sizeof head, 1, c->kept) != 1 ||
      fwrite(x, sizeof *x, (size_t)n, c->kept) != (size_t)n) {
    return weir_temporary_failed(c->what->name, errno);
  }
  for (int64_t i = 0; i < n; i++) {
    const double value = (double)x[i];

    c->min = value < c->min ? value : c->min;
    c->max = value > c->max ? value : c->max;
    c->sum += value;
    if (isinf(value)) {
      count_odd(&c->infinite, slot + i);
    }
  }
  c->first = c->first < 0 ? slot : c->first;
  c->present += n;
  return WEIR_OK;
}

static void draw(ps_column *c, int64_t slot, int64_t n, const float *x)
{
  ps_column_strip *s = &c->strip;

  if (s->lo < 0) { /* it begins with the first sample that is there */
    s->hi += slot - s->lo;
    s->lo = slot;
  }
  for (int64_t t = slot > s->lo ? slot : s->lo; t < slot + n && t < s->hi; t++) {
    s->value[t - s->lo] = (double)x[t - slot];
  }
}

static weir_status print_failed(const ps_column *c)
{
  return weir_output_failed(c->what->name, errno);
}

weir_status ps_column_follow(ps_column *c, FILE *out)
{
  const weir_query_column *w = c->what;
  const bool unit = weir_wire_is_name(w->unit, (int64_t)strlen(w->unit));

  c->follow = out;
  if (fprintf(out, "#stream %s fs=%lld/%lld%s%s\n", w->name, (long long)w->rate_num,
              (long long)w->rate_den, unit ? " unit=" : "", unit ? w->unit : "") < 0 ||
      fflush(out) != 0) {
    return print_failed(c);
  }
  return WEIR_OK;
}

/* A line at a time: results of two stages arrive together. */
static weir_status print_run(const ps_column *c, int64_t slot, int64_t n, const float *x)
{
  for (int64_t i = 0; i < n; i++) {
    char value[WEIR_DECIMAL_FLOAT_SIZE];

    (void)weir_decimal_float(x[i], value);
    if (fprintf(c->follow, "%s,%.9f,%s\n", c->what->name, ps_column_time(c, slot + i), value) < 0) {
      return print_failed(c);
    }
  }
  return fflush(c->follow) != 0 ? print_failed(c) : WEIR_OK;
}

weir_status ps_column_take(void *context, const weir_view *view, int64_t lo, int64_t hi, bool last)
{
  ps_column *c = context;

  (void)last;
  if (hi <= lo) {
    return WEIR_OK;
  }
  const float *x = weir_view_at(view, &lo);

  for (int64_t t = lo, end = lo; t < hi; t = end + 1) {
    for (; t < hi && isnan(x[t - lo]); t++) {
    }
    for (end = t; end < hi && !isnan(x[end - lo]); end++) {
    }
    if (end > t) {
      WEIR_TRY(keep(c, t, end - t, x + (t - lo)));
      draw(c, t, end - t, x + (t - lo));
      if (c->follow != NULL) {
        WEIR_TRY(print_run(c, t, end - t, x + (t - lo)));
      }
    }
  }
  c->slots = hi;
  return WEIR_OK;
}

weir_status ps_column_take_undefined(void *context, const weir_view *view, int64_t lo, int64_t hi,
                                     bool last)
{
  ps_column *c = context;

  (void)last;
  for (int64_t t = lo; t < hi; t++) {
    if (*(const uint8_t *)weir_view_at(view, &t) != 0) {
      count_odd(&c->undefined, t);
    }
  }
  return WEIR_OK;
}

static weir_status lost(const ps_column *c)
{
  return weir_fail(WEIR_ERR_DATA, "%s: the temporary file ends early", c->what->name);
}

/* The next values of the run at hand, or of the next run. */
static weir_status refill(ps_column_reader *r)
{
  const ps_column *c = r->column;
  run head;

  if (r->left == 0) {
    if (fread(&head, sizeof head, 1, c->kept) != 1) {
      r->slot = INT64_MAX;
      return feof(c->kept) ? WEIR_OK : lost(c);
    }
    r->slot = head.slot;
    r->left = head.n;
  }
  r->n = (int)(r->left < PS_COLUMN_BLOCK ? r->left : PS_COLUMN_BLOCK);
  r->left -= r->n;
  r->at = 0;
  if (fread(r->block, sizeof *r->block, (size_t)r->n, c->kept) != (size_t)r->n) {
    return lost(c);
  }
  r->value = r->block[0];
  return WEIR_OK;
}

weir_status ps_column_open(const ps_column *c, ps_column_reader *r)
{
  r->column = c;
  r->n = r->at = 0;
  r->left = 0;
  if (fflush(c->kept) != 0 || fseek(c->kept, 0, SEEK_SET) != 0) {
    return weir_temporary_failed(c->what->name, errno);
  }
  return refill(r);
}

weir_status ps_column_next(ps_column_reader *r)
{
  r->slot++;
  r->at++;
  if (r->at == r->n) {
    return refill(r);
  }
  r->value = r->block[r->at];
  return WEIR_OK;
}

/* ---- What is drawn ---- */

bool ps_column_is_events(double rate, int64_t present, int64_t slots)
{
  return 4 * present < slots && (double)present * rate <= PS_COLUMN_EVENTS * (double)slots;
}

static bool are_events(const ps_column *c)
{
  const double rate = (double)c->what->rate_num / (double)c->what->rate_den;

  return c->whole && rate > PS_COLUMN_TREND && ps_column_is_events(rate, c->present, c->slots);
}

/* Values that are present, from the first one on. */
static weir_status draw_events(const ps_column *c, ps_column_drawn *out)
{
  ps_column_reader reader;
  int64_t n = 0;

  WEIR_TRY(ps_column_open(c, &reader));
  for (; n < out->n && reader.slot != INT64_MAX; n++) {
    out->time[n] = ps_column_time(c, reader.slot);
    out->value[n] = (double)reader.value;
    WEIR_TRY(ps_column_next(&reader));
  }
  out->n = n;
  return WEIR_OK;
}

weir_status ps_column_draw(const ps_column *c, ps_column_drawn *out)
{
  const ps_column_strip *const s = &c->strip;
  const int64_t end = s->hi < c->slots ? s->hi : c->slots;
  const bool events = are_events(c);
  weir_status status = WEIR_OK;

  *out = (ps_column_drawn){.points = 4 * c->present < c->slots};
  if (events) {
    out->n = c->present < PS_COLUMN_STRIP ? c->present : PS_COLUMN_STRIP;
  } else if (s->lo >= 0 && end > s->lo) {
    out->n = end - s->lo;
  }
  WEIR_TRY(weir_alloc(out->n, sizeof *out->time, (void **)&out->time));
  WEIR_TRY_GOTO(weir_alloc(out->n, sizeof *out->value, (void **)&out->value), done);
  if (events) {
    WEIR_TRY_GOTO(draw_events(c, out), done);
  }
  for (int64_t i = 0; !events && i < out->n; i++) {
    out->time[i] = ps_column_time(c, s->lo + i);
    out->value[i] = s->value[i];
  }
done:
  if (status != WEIR_OK) {
    ps_column_drawn_fini(out);
  }
  return status;
}

void ps_column_drawn_fini(ps_column_drawn *d)
{
  weir_free(&d->time);
  weir_free(&d->value);
  d->n = 0;
}
