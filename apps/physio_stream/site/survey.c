/* survey.c - what a site looks at before it takes part: checks by record, statistics over all. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "eval/beats.h"
#include "io/weir_annotation.h"
#include "io/weir_record.h"
#include "site/site.h"

enum { BLOCK = 65536, RR_BINS = 40, LEVEL_BINS = 40 };
#define RR_WIDTH 0.05    /* s  */
#define LEVEL_WIDTH 0.25 /* mV, from -5 on */

/* What one record holds. */
typedef struct facts {
  double rate, low, high; /* Hz; extremes of what is present */
  int64_t count, absent, beats;
  bool millivolts, checksum, annotated;
  int64_t rr[RR_BINS], level[LEVEL_BINS];
} facts;

typedef struct buffers {
  float x[BLOCK];
  uint8_t present[BLOCK];
} buffers;

static int bin(double value, double from, double width, int bins)
{
  const double at = floor((value - from) / width);

  return at < 0 ? 0 : at >= bins ? bins - 1 : (int)at;
}

static void take_samples(const buffers *b, int64_t n, facts *f)
{
  for (int64_t i = 0; i < n; i++) {
    const double x = (double)b->x[i];

    if (!b->present[i]) {
      f->absent++;
      continue;
    }
    f->low = fmin(f->low, x);
    f->high = fmax(f->high, x);
    f->level[bin(x, -LEVEL_WIDTH * LEVEL_BINS / 2, LEVEL_WIDTH, LEVEL_BINS)]++;
  }
}

static weir_status survey_signal(const char *path, buffers *b, facts *f)
{
  weir_record *r = NULL;
  int sum = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_record_open(path, NULL, &r));
  const weir_signal_info *s = weir_record_signal(r, 0);

  *f = (facts){.rate = (double)s->fs_num / (double)s->fs_den,
               .low = INFINITY,
               .high = -INFINITY,
               .count = s->count,
               .millivolts = strcmp(s->units, "mV") == 0};
  WEIR_TRY_GOTO(weir_record_checksum(r, 0, &sum), done);
  f->checksum = s->has_checksum && ((sum - s->checksum) & 0xffff) == 0;
  for (int64_t t = 0; t < f->count; t += BLOCK) {
    const int64_t n = f->count - t < BLOCK ? f->count - t : BLOCK;

    WEIR_TRY_GOTO(weir_record_read(r, 0, t, n, b->x, b->present), done);
    take_samples(b, n, f);
  }
done:
  weir_record_close(&r);
  return status;
}

/* Annotations must exist and ascend; intervals between neighbouring beats are counted. */
static void survey_beats(const char *path, facts *f)
{
  weir_annotations a = {0};
  int64_t last = -1;

  if (weir_annotations_read(path, &a) != WEIR_OK) {
    weir_warn("site", "%s", weir_last_message());
    return;
  }
  const double rate = a.fs_num > 0 ? (double)a.fs_num / (double)a.fs_den : f->rate;

  f->annotated = true;
  for (int64_t i = 0; i < a.count; i++) {
    if (!weir_annotation_is_beat(a.items[i].code)) {
      continue;
    }
    f->annotated = f->annotated && a.items[i].time > last &&
                   (double)a.items[i].time < (double)f->count * rate / f->rate;
    f->beats++;
    if (last >= 0) {
      f->rr[bin((double)(a.items[i].time - last) / rate, 0, RR_WIDTH, RR_BINS)]++;
    }
    last = a.items[i].time;
  }
  weir_annotations_fini(&a);
}

static weir_status survey(const ps_dataset *d, int64_t i, const char *annotator, buffers *b,
                          facts *f)
{
  char path[PS_SITE_PATH], suffix[PS_SITE_NAME];

  WEIR_TRY(ps_dataset_path(d, i, "", path));
  WEIR_TRY(survey_signal(path, b, f));
  (void)snprintf(suffix, sizeof suffix, ".%s", annotator);
  WEIR_TRY(ps_dataset_path(d, i, suffix, path));
  survey_beats(path, f);
  return WEIR_OK;
}

const char *const ps_check_head[PS_CHECK_COLUMNS] = {"record", "rate",     "unit",       "range",
                                                     "absent", "checksum", "annotations"};

/* "ok", or what is wrong. */
static int64_t put_check(weir_table *cells, bool good, const char *format, double value)
{
  char text[64];

  (void)snprintf(text, sizeof text, format, value);
  weir_table_add(cells, "%s%s", good ? "ok " : "WRONG ", text);
  return !good;
}

static int64_t check_one(const ps_site_opts *o, const char *name, const facts *f, weir_table *c)
{
  const double peak = f->high >= f->low ? fmax(fabs(f->low), fabs(f->high)) : 0;
  const double absent = f->count > 0 ? (double)f->absent / (double)f->count : 1;
  int64_t wrong = 0;

  weir_table_add(c, "%s", name);
  wrong += put_check(c, f->rate >= o->min_rate, "%.6g Hz", f->rate);
  wrong += put_check(c, f->millivolts, f->millivolts ? "mV" : "not in mV", 0);
  wrong += put_check(c, peak > 0 && peak <= o->range, "%.4g", peak);
  wrong += put_check(c, absent <= o->max_missing, "%.2f %%", 100 * absent);
  wrong += put_check(c, f->checksum, f->checksum ? "" : "not that of the header", 0);
  wrong += put_check(c, f->annotated && f->beats > 0, "%.0f beats", (double)f->beats);
  return wrong > 0;
}

weir_status ps_site_check(const ps_site_opts *opts, weir_table *cells, int64_t *failed)
{
  ps_dataset d = {0};
  buffers *b = NULL;
  facts f;
  weir_status status = WEIR_OK;

  *failed = 0;
  WEIR_TRY(ps_dataset_open(opts->dataset, &d));
  WEIR_TRY_GOTO(weir_alloc(1, sizeof *b, (void **)&b), done);
  for (int64_t i = 0; i < d.n; i++) {
    WEIR_TRY_GOTO(survey(&d, i, opts->annotator, b, &f), done);
    *failed += check_one(opts, d.names[i], &f, cells);
    weir_progress("site check", i + 1, d.n, "records");
  }
  status = cells->status;
done:
  weir_free(&b);
  ps_dataset_fini(&d);
  return status;
}

const char *const ps_stats_head[PS_STATS_COLUMNS] = {"quantity", "bin", "value"};

/* Sums over records, and how many records contributed to each. */
typedef struct totals {
  int64_t records, rr[RR_BINS], level[LEVEL_BINS], rr_records[RR_BINS], level_records[LEVEL_BINS];
  double hours, absent;
  int64_t beats;
} totals;

static void add_facts(const facts *f, totals *t)
{
  t->records++;
  t->hours += f->rate > 0 ? (double)f->count / f->rate / 3600 : 0;
  t->absent += f->rate > 0 ? (double)f->absent / f->rate / 3600 : 0;
  t->beats += f->beats;
  for (int k = 0; k < RR_BINS; k++) {
    t->rr[k] += f->rr[k];
    t->rr_records[k] += f->rr[k] > 0;
  }
  for (int k = 0; k < LEVEL_BINS; k++) {
    t->level[k] += f->level[k];
    t->level_records[k] += f->level[k] > 0;
  }
}

static void put(weir_table *c, const char *quantity, const char *where, double value,
                bool suppressed)
{
  weir_table_add(c, "%s", quantity);
  weir_table_add(c, "%s", where);
  if (suppressed) {
    weir_table_add(c, "suppressed");
  } else {
    weir_table_add(c, "%.10g", value);
  }
}

/* Complementary suppression: the bin to suppress with the only one that fewer records contribute
 * to, -1: none. The rest of the histogram and its total would tell that one. */
static int complementary(const int64_t *records, int bins, int64_t min_cell)
{
  int few = 0, smallest = -1;

  for (int k = 0; k < bins; k++) {
    few += records[k] < min_cell;
    if (records[k] >= min_cell && (smallest < 0 || records[k] < records[smallest])) {
      smallest = k;
    }
  }
  return few == 1 ? smallest : -1;
}

/* Every bin, so that those which are suppressed do not tell extremes. */
static void put_bins(weir_table *c, const char *quantity, const int64_t *values,
                     const int64_t *records, int bins, double from, double width, int64_t min_cell)
{
  const int also = complementary(records, bins, min_cell);
  char where[64];

  for (int k = 0; k < bins; k++) {
    (void)snprintf(where, sizeof where, "%.4g to %.4g", from + width * k, from + width * (k + 1));
    put(c, quantity, where, (double)values[k], records[k] < min_cell || k == also);
  }
}

weir_status ps_site_stats(const ps_site_opts *opts, weir_table *cells)
{
  const int64_t min_cell = opts->min_cell;
  ps_dataset d = {0};
  buffers *b = NULL;
  facts f;
  totals t = {0};
  weir_status status = WEIR_OK;

  WEIR_TRY(ps_dataset_open(opts->dataset, &d));
  WEIR_TRY_GOTO(weir_alloc(1, sizeof *b, (void **)&b), done);
  for (int64_t i = 0; i < d.n; i++) {
    WEIR_TRY_GOTO(survey(&d, i, opts->annotator, b, &f), done);
    add_facts(&f, &t);
    weir_progress("site stats", i + 1, d.n, "records");
  }
  const bool few = t.records < min_cell;

  put(cells, "records", "", (double)t.records, few);
  put(cells, "signal (h)", "", t.hours, few);
  put(cells, "absent (h)", "", t.absent, few);
  put(cells, "beats", "", (double)t.beats, few);
  put_bins(cells, "RR intervals (s)", t.rr, t.rr_records, RR_BINS, 0, RR_WIDTH, min_cell);
  put_bins(cells, "samples (mV)", t.level, t.level_records, LEVEL_BINS,
           -LEVEL_WIDTH * LEVEL_BINS / 2, LEVEL_WIDTH, min_cell);
  status = cells->status;
done:
  weir_free(&b);
  ps_dataset_fini(&d);
  return status;
}
