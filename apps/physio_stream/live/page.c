/* page.c - see page.h. */
#include "live/page.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_lock.h"
#include "base/weir_log.h"
#include "live/server.h"
#include "query/column.h"
#include "viewer/envelope.h"
#include "viewer/marks.h"

/* s between two documents */
#define PUBLISH 0.5

extern const char *const ps_live_text[]; /* of live.html and its scripts, made by the build */

const weir_opt ps_live_page_options[] = {
    WEIR_OPT_STRING(ps_live_page_opts, listen, "",
                    "tcp:[HOST:]PORT: live input is shown at http://HOST:PORT (default 127.0.0.1; "
                    "PORT 0: a free one, which is printed); empty: no page"),
    WEIR_OPT_BOOL(ps_live_page_opts, remote, false,
                  "HOST may be another address than 127.x, so that other machines can read the "
                  "page: there is neither encryption nor authentication"),
    WEIR_OPT_REAL(ps_live_page_opts, window, 60, 1, 600, "s",
                  "time that the page shows; of a signal, 65536 samples at most"),
    WEIR_OPT_END,
};

/* The last slots of a signal: slot t in x[t % n]. */
typedef struct recent {
  char name[256], units[64];
  int64_t fs_num, fs_den;
  bool result;             /* of a query */
  int64_t n, end, present; /* present: values since the begin of the run */
  float *x;                /* NaN where absent; owned */
} recent;

struct ps_live_page {
  const ps_live_page_opts *opts;
  const ps_input_info *info;
  ps_server *server;
  char *text;     /* of the page; owned */
  weir_lock lock; /* of what follows */
  int n_signals;
  recent signal[PS_LIVE_PAGE_SIGNALS];
  int64_t beat[PS_LIVE_PAGE_MARKS], n_beats; /* beat k in beat[k % PS_LIVE_PAGE_MARKS] */
  double published;
};

static weir_status join_text(char **out, size_t *size)
{
  *size = 0;
  for (const char *const *line = ps_live_text; *line != NULL; line++) {
    *size += strlen(*line);
  }
  WEIR_TRY(weir_alloc((int64_t)*size + 1, 1, (void **)out));
  size_t used = 0;
  for (const char *const *line = ps_live_text; *line != NULL; line++) {
    memcpy(*out + used, *line, strlen(*line));
    used += strlen(*line);
  }
  return WEIR_OK;
}

weir_status ps_live_page_open(const ps_live_page_opts *opts, const ps_input_info *info,
                              ps_live_page **out)
{
  ps_live_page *p = NULL;
  size_t size = 0;
  weir_status status = WEIR_OK;

  *out = NULL;
  if (opts->listen[0] == 0 || info->live == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(1, sizeof *p, (void **)&p));
  p->opts = opts;
  p->info = info;
  p->lock = (weir_lock)WEIR_LOCK_INIT;
  p->published = -1e9;
  WEIR_TRY_GOTO(join_text(&p->text, &size), fail);
  WEIR_TRY_GOTO(ps_server_open(opts->listen, opts->remote, p->text, size, &p->server), fail);
  const int port = ps_server_port(p->server);

  weir_event("page_listen", WEIR_TEXT("address", opts->listen), WEIR_INT("port", port));
  weir_info("live", "the signals are shown at %s, port %d", opts->listen, port);
  *out = p;
  return WEIR_OK;
fail:
  ps_live_page_close(&p);
  return status;
}

weir_status ps_live_page_add(ps_live_page *p, const char *name, const char *units, int64_t fs_num,
                             int64_t fs_den, bool result, int *number)
{
  *number = PS_LIVE_PAGE_SIGNALS;
  if (p == NULL || p->n_signals == PS_LIVE_PAGE_SIGNALS) {
    return WEIR_OK;
  }
  recent *const s = &p->signal[p->n_signals];
  const double slots = ceil(p->opts->window * (double)fs_num / (double)fs_den) + 1;

  *s = (recent){.fs_num = fs_num, .fs_den = fs_den, .result = result};
  s->n = slots < PS_LIVE_PAGE_SAMPLES ? (int64_t)slots : PS_LIVE_PAGE_SAMPLES;
  (void)snprintf(s->name, sizeof s->name, "%s", name);
  (void)snprintf(s->units, sizeof s->units, "%s", units);
  WEIR_TRY(weir_alloc(s->n, sizeof *s->x, (void **)&s->x));
  *number = p->n_signals++;
  return WEIR_OK;
}

static void put_slot(recent *s, int64_t slot, float value)
{
  s->x[slot % s->n] = value;
}

static void keep(recent *s, int64_t lo, int64_t hi, const float *x, const uint8_t *present)
{
  const int64_t first = hi - s->n > lo ? hi - s->n : lo;

  for (int64_t t = first - s->n > s->end ? first - s->n : s->end; t < first; t++) {
    put_slot(s, t, NAN); /* chunks that were skipped */
  }
  for (int64_t t = first; t < hi; t++) {
    put_slot(s, t, present == NULL || present[t - lo] != 0 ? x[t - lo] : NAN);
    s->present += isfinite(s->x[t % s->n]) != 0;
  }
  s->end = hi > s->end ? hi : s->end;
}

static double rate_of(const recent *s)
{
  return (double)s->fs_num / (double)s->fs_den;
}

/* Time from which all signals have their slots; *end: of the newest slot. */
static double begin_of(const ps_live_page *p, double *end)
{
  double begin = 0;

  *end = 0;
  for (int i = 0; i < p->n_signals; i++) {
    *end = fmax(*end, (double)p->signal[i].end / rate_of(&p->signal[i]));
  }
  begin = fmax(0, *end - p->opts->window);
  for (int i = 0; i < p->n_signals; i++) {
    begin = fmax(begin, (double)(p->signal[i].end - p->signal[i].n) / rate_of(&p->signal[i]));
  }
  return begin;
}

/* The first slot at or after a time. */
static int64_t slot_at(const recent *s, double time)
{
  const int64_t slot = (int64_t)ceil(time * rate_of(s) - 1e-6), oldest = s->end - s->n;

  return slot > oldest ? slot : oldest;
}

/* As the page of a recording has its signals, with slots from `begin` on: "first" is the number of
 * the first one in the run. */
static weir_status put_signal(const recent *s, double begin, FILE *out)
{
  const int64_t first = slot_at(s, begin), n = s->end > first ? s->end - first : 0;
  const bool sparse = s->result && ps_column_is_events(rate_of(s), s->present, s->end);
  ps_envelope e;

  WEIR_TRY(ps_envelope_init(n, 4 * n + 64, &e));
  for (int64_t t = first; t < first + n; t++) {
    const uint8_t one = 1;

    ps_envelope_take(&e, t - first, t - first + 1, &s->x[t % s->n], &one);
  }
  ps_envelope_end(&e, n);
  fputs("{\"name\":", out);
  ps_marks_put_text(s->name, out);
  fputs(",\"unit\":", out);
  ps_marks_put_text(s->units, out);
  fprintf(out, ",\"fs\":[%lld,%lld],\"first\":%lld,\"sparse\":%s,", (long long)s->fs_num,
          (long long)s->fs_den, (long long)first, sparse ? "true" : "false");
  ps_envelope_put(&e, out);
  fputs(",\"samples\":[]}", out);
  ps_envelope_fini(&e);
  return WEIR_OK;
}

static weir_status put_beats(const ps_live_page *p, double begin, FILE *out)
{
  const int64_t kept = p->n_beats < PS_LIVE_PAGE_MARKS ? p->n_beats : PS_LIVE_PAGE_MARKS;
  const recent *const s = &p->signal[0];
  const int64_t first = slot_at(s, begin);
  ps_marks m;
  weir_status status = WEIR_OK;

  ps_marks_begin("beats", s->fs_num, s->fs_den, &m);
  for (int64_t k = p->n_beats - kept; k < p->n_beats; k++) {
    const int64_t slot = p->beat[k % PS_LIVE_PAGE_MARKS];

    if (slot >= first) {
      WEIR_TRY_GOTO(ps_marks_add(&m, slot, WEIR_ANN_NORMAL, ""), done);
    }
  }
  ps_marks_end(&m);
  ps_marks_put(&m, out);
done:
  ps_marks_fini(&m);
  return status;
}

static weir_status put_document(const ps_live_page *p, FILE *out)
{
  double end = 0;
  const double begin = begin_of(p, &end);

  fputs("{\"record\":", out);
  ps_marks_put_text(p->info->name, out);
  fprintf(out, ",\"start\":{\"kind\":%d,\"us\":%lld},\"begin\":%.6f,\"end\":%.6f,",
          p->info->start_kind, (long long)p->info->start_us, begin, end);
  ps_marks_put_codes(out);
  fputs(",\"signals\":[", out);
  for (int i = 0; i < p->n_signals; i++) {
    fputs(i > 0 ? "," : "", out);
    WEIR_TRY(put_signal(&p->signal[i], begin, out));
  }
  fputs("],\"marks\":[", out);
  if (p->n_beats > 0) {
    WEIR_TRY(put_beats(p, begin, out));
  }
  fputs("]}", out);
  return WEIR_OK;
}

static weir_status publish(ps_live_page *p)
{
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);

  if (out == NULL) {
    return weir_fail(WEIR_ERR_MEMORY, "live page: out of memory for its data");
  }
  weir_status status = put_document(p, out);

  if (fclose(out) != 0 && status == WEIR_OK) {
    status = weir_fail(WEIR_ERR_MEMORY, "live page: out of memory for its data");
  }
  if (status == WEIR_OK) {
    status = ps_server_publish(p->server, text, size);
  }
  free(text);
  return status;
}

weir_status ps_live_page_take(ps_live_page *p, int number, int64_t lo, int64_t hi, const float *x,
                              const uint8_t *present)
{
  weir_status status = WEIR_OK;

  if (p == NULL || number >= p->n_signals || hi <= lo) {
    return WEIR_OK;
  }
  weir_lock_take(&p->lock);
  keep(&p->signal[number], lo, hi, x, present);
  const double now = weir_clock();
  if (now - p->published >= PUBLISH && ps_server_is_asked(p->server)) {
    p->published = now;
    status = publish(p);
  }
  weir_lock_give(&p->lock);
  return status;
}

void ps_live_page_beat(ps_live_page *p, int64_t slot)
{
  if (p != NULL) {
    weir_lock_take(&p->lock);
    p->beat[p->n_beats++ % PS_LIVE_PAGE_MARKS] = slot;
    weir_lock_give(&p->lock);
  }
}

void ps_live_page_close(ps_live_page **p)
{
  if (*p == NULL) {
    return;
  }
  ps_server_close(&(*p)->server);
  for (int i = 0; i < (*p)->n_signals; i++) {
    weir_free(&(*p)->signal[i].x);
  }
  weir_free(&(*p)->text);
  weir_free(p);
}
