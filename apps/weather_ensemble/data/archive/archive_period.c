/* archive_period.c - the time that the values of a quantity cover, kept for each lead:
 * precipitation of 0 to 24 h and of 0 to 48 h are two quantities, of which neither is a truth of
 * the other. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/archive/archive_cube.h"
#include "data/date.h"

enum { HOUR = 3600, UNSET = -2 /* other than WX_PERIOD_UNKNOWN */ };

static void text_of(double hours, char *text, size_t size)
{
  if (isnan(hours)) {
    (void)snprintf(text, size, "a time that is not stated");
  } else {
    (void)snprintf(text, size, "%.6g h", hours);
  }
}

static double hours_of(int64_t seconds)
{
  return seconds == WX_PERIOD_UNKNOWN ? NAN : (double)seconds / HOUR;
}

/* `at`: number of quantity and lead. */
static weir_status refuse_mixed(const wx_archive *a, bool truth, const wx_entry *one,
                                const wx_entry *other)
{
  const wx_field *const x = &one->u.field, *const y = &other->u.field;
  char covers[2][64], date[2][32];

  text_of(hours_of(x->period), covers[0], sizeof covers[0]);
  text_of(hours_of(y->period), covers[1], sizeof covers[1]);
  wx_date_text((double)x->start / 86400, date[0], sizeof date[0]);
  wx_date_text((double)y->start / 86400, date[1], sizeof date[1]);
  return weir_fail(WEIR_ERR_DATA,
                   "%s: %s of initialisation time %s, step %g h covers %s, that of initialisation "
                   "time %s, step %g h of %s "
                   "covers %s: leave one out, so that %s has one period",
                   a->files[one->file].path, a->quantity[x->quantity].name, date[0], x->lead,
                   covers[0], date[1], y->lead, a->files[other->file].path, covers[1],
                   truth ? "a truth" : "a lead");
}

weir_status wx_archive_take_periods(wx_archive *a, bool truth)
{
  wx_archive_info *const f = &a->facts;
  int64_t *first = NULL, n = 0;
  weir_status status = WEIR_OK;

  if (!weir_mul_ok(f->n_quantities, f->n_leads, &n)) {
    return weir_fail(WEIR_ERR_DATA, "%s: too many leads and variables", f->name);
  }
  WEIR_TRY(weir_alloc(n, sizeof *a->period, (void **)&a->period));
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *first, (void **)&first), done);
  for (int64_t k = 0; k < n; k++) {
    first[k] = UNSET;
  }
  for (int64_t i = 0; i < a->n_entries; i++) {
    const wx_field *const field = &a->entries[i].u.field;
    const int64_t lead = wx_archive_lead_number(f, truth ? 0 : field->lead);
    int64_t *const known = &first[field->quantity * f->n_leads + lead];

    if (*known == UNSET) {
      *known = i;
      a->period[known - first] = hours_of(field->period);
    } else if (a->entries[*known].u.field.period != field->period) {
      status = refuse_mixed(a, truth, &a->entries[*known], &a->entries[i]);
      goto done;
    }
  }
  f->period = a->period;
done:
  weir_free(&first);
  return status;
}

double wx_archive_period(const wx_archive_info *f, int64_t quantity, int64_t lead)
{
  return f->period != NULL ? f->period[quantity * f->n_leads + lead] : 0;
}

/* "the maximum of 1 h", "the value of an instant". */
static void describe(const wx_quantity *q, double hours, char *text, size_t size)
{
  char covers[64];

  text_of(hours, covers, sizeof covers);
  if (q->method[0] == 0) {
    (void)snprintf(text, size, "the value of an instant");
  } else if (strcmp(q->method, WX_METHOD_UNKNOWN) == 0) {
    (void)snprintf(text, size, "over %s without cell_methods that say what of them", covers);
  } else {
    (void)snprintf(text, size, "the %s of %s", q->method, covers);
  }
}

bool wx_archive_same_period(const wx_archive_info *forecast, int64_t quantity, int64_t lead,
                            const wx_archive_info *other, int64_t of, int64_t of_lead)
{
  const double one = wx_archive_period(forecast, quantity, lead);
  const double two = wx_archive_period(other, of, of_lead);

  return strcmp(forecast->quantity[quantity].method, other->quantity[of].method) == 0 &&
         fabs(one - two) < 1.0 / HOUR; /* false of NaN */
}

weir_status wx_archive_check_period(const wx_archive_info *forecast, int64_t quantity, int64_t lead,
                                    const wx_archive_info *other, int64_t of, int64_t of_lead)
{
  const wx_quantity *const q = &forecast->quantity[quantity], *const t = &other->quantity[of];
  const double one = wx_archive_period(forecast, quantity, lead);
  const double two = wx_archive_period(other, of, of_lead);
  char text[2][WX_LONG];

  if (wx_archive_same_period(forecast, quantity, lead, other, of, of_lead)) {
    return WEIR_OK;
  }
  describe(q, one, text[0], sizeof text[0]);
  describe(t, two, text[1], sizeof text[1]);
  return weir_fail(
      WEIR_ERR_DATA, "%s at lead %g h is %s in %s and %s in %s, which cannot be compared: %s",
      q->name, forecast->lead[lead], text[0], forecast->name, text[1], other->name,
      strcmp(q->method, t->method) == 0 && (isnan(one) || isnan(two))
          ? "give the file bounds of its times (GRIB: a step range), or leave the quantity out"
          : "choose leads whose period both have, make the same sums, means or extremes of one of "
            "them first, or leave the quantity out");
}
