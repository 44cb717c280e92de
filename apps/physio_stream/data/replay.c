/* replay.c - see replay.h. Samples wait in a heap, ordered by when they are sent; it holds those of
 * a second and of the longest delay. */
#include "data/replay.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_decimal.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "base/weir_signal.h"

#define NS INT64_C(1000000000)

enum { BUFFER = 65536, MAX_SIGNALS = 64, LINE = 256 };

/* Purpose numbers of this file's random streams; the step is the signal. */
enum {
  PURPOSE_DELAY = 0x50530030,
  PURPOSE_DROP,
  PURPOSE_DUPLICATE,
  PURPOSE_DUPLICATE_DELAY,
  PURPOSE_LATE,
  PURPOSE_LATE_DELAY,
  PURPOSE_JITTER
};

const weir_opt ps_replay_options[] = {
    WEIR_OPT_STRING(ps_replay_opts, to, "-",
                    "where lines go: - the standard output, tcp:[HOST:]PORT, unix:PATH"),
    WEIR_OPT_REAL(ps_replay_opts, connect_timeout, 10, 0, 1e6, "s",
                  "maximum time to wait until the reader accepts the connection",
                  .alias = "patience"),
    WEIR_OPT_REAL(ps_replay_opts, speed, 1, 0, 1e6, "1",
                  "times real time; 0: as fast as the reader takes it"),
    WEIR_OPT_REAL(ps_replay_opts, shuffle, 0, 0, 3600, "s",
                  "longest delay of a sample: samples overtake each other, by less than this"),
    WEIR_OPT_REAL(ps_replay_opts, drop, 0, 0, 1, "1", "share of the samples that is not sent"),
    WEIR_OPT_REAL(ps_replay_opts, duplicates, 0, 0, 1, "1",
                  "share of the samples that is sent twice"),
    WEIR_OPT_REAL(ps_replay_opts, late, 0, 0, 1, "1", "share of the samples that is sent too late"),
    WEIR_OPT_REAL(ps_replay_opts, late_by, 10, 0, 3600, "s",
                  "by how much more those are late, and up to twice that"),
    WEIR_OPT_REAL(ps_replay_opts, jitter, 0, 0, 3600, "s",
                  "maximum deviation of a sample's time, either way"),
    WEIR_OPT_BOOL(ps_replay_opts, remote, false,
                  "send to other machines than this one too; nothing is encrypted"),
    WEIR_OPT_END,
};

typedef struct item {
  int64_t send;  /* ns from the start */
  int64_t order; /* of two that are sent at once, the one made first goes first */
  int64_t slot;
  float value;
  int signal;
} item;

typedef struct replay {
  const ps_replay_opts *opts;
  uint64_t seed;
  weir_record *record;
  weir_wire *to;
  ps_replay_counts *counts;
  int signal[MAX_SIGNALS], n_signals;
  int64_t next[MAX_SIGNALS]; /* slot */
  char name[MAX_SIGNALS][WEIR_WIRE_TEXT];
  float *value;
  uint8_t *present;
  int64_t block; /* slots of a second, at most */
  item *heap;
  int64_t n, capacity, made;
  char *text;
  int64_t used;
  double began;
} replay;

static bool is_before(const item *a, const item *b)
{
  return a->send < b->send || (a->send == b->send && a->order < b->order);
}

static weir_status push(replay *r, item x)
{
  WEIR_TRY(weir_reserve(&r->heap, &r->capacity, r->n + 1, sizeof *r->heap));
  int64_t k = r->n++;

  x.order = r->made++;
  while (k > 0 && is_before(&x, &r->heap[(k - 1) / 2])) {
    r->heap[k] = r->heap[(k - 1) / 2];
    k = (k - 1) / 2;
  }
  r->heap[k] = x;
  return WEIR_OK;
}

static item pop(replay *r)
{
  const item top = r->heap[0], last = r->heap[--r->n];
  int64_t k = 0;

  for (int64_t child = 1; child < r->n; child = 2 * k + 1) {
    child += child + 1 < r->n && is_before(&r->heap[child + 1], &r->heap[child]);
    if (!is_before(&r->heap[child], &last)) {
      break;
    }
    r->heap[k] = r->heap[child];
    k = child;
  }
  if (r->n > 0) {
    r->heap[k] = last;
  }
  return top;
}

static weir_status flush(replay *r)
{
  WEIR_TRY(weir_wire_send(r->to, r->text, r->used));
  r->used = 0;
  return WEIR_OK;
}

static weir_status put(replay *r, const char *line)
{
  const int64_t n = (int64_t)strlen(line);

  if (r->used + n > BUFFER) {
    WEIR_TRY(flush(r));
  }
  memcpy(r->text + r->used, line, (size_t)n);
  r->used += n;
  return WEIR_OK;
}

static double draw(const replay *r, uint32_t purpose, int signal, int64_t slot)
{
  return weir_random_uniform(r->seed, purpose, (uint32_t)signal, (uint64_t)slot);
}

static int64_t time_of(const weir_signal_info *s, int64_t slot)
{
  return (int64_t)((__int128)slot * s->fs_den * NS / s->fs_num);
}

/* Sleeps until a sample is due, with what is before it sent. */
static weir_status wait_until(replay *r, int64_t send)
{
  const double due = r->opts->speed > 0 ? (double)send / (double)NS / r->opts->speed : 0;

  while (due > weir_clock() - r->began) {
    const double left = due - (weir_clock() - r->began);
    const struct timespec nap = {.tv_nsec = (long)(fmin(fmax(left, 0), 0.1) * 1e9)};

    if (r->used > 0) {
      WEIR_TRY(flush(r));
    }
    if (weir_stop_requested()) {
      break;
    }
    (void)nanosleep(&nap, NULL);
  }
  if (weir_stop_requested()) {
    return weir_fail(WEIR_ERR_STOPPED, "replay: stopped by signal %d", weir_stop_signal());
  }
  return WEIR_OK;
}

static weir_status send_item(replay *r, const item *x)
{
  const weir_signal_info *s = weir_record_signal(r->record, r->signal[x->signal]);
  const double off =
      r->opts->jitter * (2 * draw(r, PURPOSE_JITTER, x->signal, x->slot) - 1) * (double)NS;
  char line[LINE], time[64], value[WEIR_DECIMAL_FLOAT_SIZE];

  WEIR_TRY(wait_until(r, x->send));
  weir_wire_print_time(time_of(s, x->slot) + (int64_t)off, time, sizeof time);
  (void)weir_decimal_float(x->value, value);
  (void)snprintf(line, sizeof line, "%s,%s,%s\n", r->name[x->signal], time, value);
  r->counts->sent++;
  return put(r, line);
}

/* The ways of one sample: not at all, once, twice, too late. */
static weir_status push_sample(replay *r, int k, int64_t slot, float value)
{
  const weir_signal_info *s = weir_record_signal(r->record, r->signal[k]);
  const ps_replay_opts *o = r->opts;
  const bool late = draw(r, PURPOSE_LATE, k, slot) < o->late;
  double delay = o->shuffle * draw(r, PURPOSE_DELAY, k, slot);

  if (draw(r, PURPOSE_DROP, k, slot) < o->drop) {
    r->counts->dropped++;
    return WEIR_OK;
  }
  if (late) {
    delay += o->late_by * (1 + draw(r, PURPOSE_LATE_DELAY, k, slot));
    r->counts->late++;
  }
  item x = {.send = time_of(s, slot) + (int64_t)(delay * (double)NS),
            .slot = slot,
            .value = value,
            .signal = k};

  WEIR_TRY(push(r, x));
  if (draw(r, PURPOSE_DUPLICATE, k, slot) < o->duplicates) {
    delay = o->shuffle * draw(r, PURPOSE_DUPLICATE_DELAY, k, slot);
    x.send = time_of(s, slot) + (int64_t)(delay * (double)NS);
    r->counts->duplicates++;
    return push(r, x);
  }
  return WEIR_OK;
}

/* Puts the samples of signal k before `until` ns into the heap. */
static weir_status push_block(replay *r, int k, int64_t until)
{
  const weir_signal_info *s = weir_record_signal(r->record, r->signal[k]);
  int64_t hi = r->next[k];

  while (hi < s->count && hi - r->next[k] < r->block && time_of(s, hi) < until) {
    hi++;
  }
  const int64_t lo = r->next[k];

  WEIR_TRY(weir_record_read(r->record, r->signal[k], lo, hi - lo, r->value, r->present));
  for (int64_t t = lo; t < hi; t++) {
    if (r->present[t - lo]) {
      WEIR_TRY(push_sample(r, k, t, r->value[t - lo]));
    } else {
      r->counts->absent++;
    }
  }
  r->next[k] = hi;
  return WEIR_OK;
}

/* Where the record ends, ns. */
static int64_t end_of(const replay *r)
{
  int64_t end = 0;

  for (int k = 0; k < r->n_signals; k++) {
    const weir_signal_info *s = weir_record_signal(r->record, r->signal[k]);
    const int64_t here = time_of(s, s->count);

    end = here > end ? here : end;
  }
  return end;
}

/* A name as the protocol has it: other characters become '_'. */
static void make_name(const char *from, const char *otherwise, char to[WEIR_WIRE_TEXT])
{
  (void)snprintf(to, WEIR_WIRE_TEXT, "%s", from != NULL && from[0] != 0 ? from : otherwise);
  for (char *c = to; *c != 0; c++) {
    *c = weir_wire_is_name(c, 1) ? *c : '_';
  }
}

/* The same of a unit, whose micro sign is written u; NU where none is stated. */
static void make_unit(const char *from, char to[WEIR_WIRE_TEXT])
{
  const char *const at = from == NULL ? "" : from;
  const bool micro = strncmp(at, "\xC2\xB5", 2) == 0 || strncmp(at, "\xCE\xBC", 2) == 0;
  char text[WEIR_WIRE_TEXT];

  (void)snprintf(text, sizeof text, "%s%s", micro ? "u" : "", micro ? at + 2 : at);
  make_name(text, "NU", to);
}

static void name_signals(replay *r)
{
  for (int k = 0; k < r->n_signals; k++) {
    make_name(weir_record_signal(r->record, r->signal[k])->name, "signal", r->name[k]);
    for (int i = 0; i < k; i++) {
      if (strcmp(r->name[i], r->name[k]) == 0) {
        char once[WEIR_WIRE_TEXT];

        (void)snprintf(once, sizeof once, "%.50s_%d", r->name[k], k);
        memcpy(r->name[k], once, sizeof once);
      }
    }
  }
}

static weir_status put_head(replay *r)
{
  char line[LINE], unit[WEIR_WIRE_TEXT];
  int64_t us = 0;
  const int kind = weir_record_start(r->record, &us);

  weir_wire_print_hello(weir_record_name(r->record), kind, us, line, sizeof line);
  WEIR_TRY(put(r, line));
  for (int k = 0; k < r->n_signals; k++) {
    const weir_signal_info *s = weir_record_signal(r->record, r->signal[k]);

    make_unit(s->units, unit);
    (void)snprintf(line, sizeof line, "#stream %s fs=%lld/%lld unit=%s\n", r->name[k],
                   (long long)s->fs_num, (long long)s->fs_den, unit);
    WEIR_TRY(put(r, line));
  }
  return WEIR_OK;
}

static weir_status prepare(replay *r)
{
  for (int k = 0; k < r->n_signals; k++) {
    const weir_signal_info *s = weir_record_signal(r->record, r->signal[k]);
    const int64_t slots = s->fs_num / s->fs_den + 2;

    r->block = slots > r->block ? slots : r->block;
  }
  WEIR_TRY(weir_alloc(r->block, sizeof *r->value, (void **)&r->value));
  WEIR_TRY(weir_alloc(r->block, sizeof *r->present, (void **)&r->present));
  WEIR_TRY(weir_alloc(BUFFER, 1, (void **)&r->text));
  name_signals(r);
  return WEIR_OK;
}

static weir_status send_all(replay *r)
{
  const int64_t end = end_of(r);
  char line[LINE];

  WEIR_TRY(prepare(r));
  WEIR_TRY(put_head(r));
  r->began = weir_clock();
  for (int64_t from = 0; from < end || r->n > 0; from += NS) {
    for (int k = 0; k < r->n_signals && from < end; k++) {
      WEIR_TRY(push_block(r, k, from + NS));
    }
    while (r->n > 0 && r->heap[0].send < from + NS) {
      const item x = pop(r);

      WEIR_TRY(send_item(r, &x));
    }
    weir_progress("replay", from < end ? from / NS : end / NS, end / NS + 1, "s");
  }
  weir_wire_print_end(end, line, sizeof line);
  WEIR_TRY(put(r, line));
  return flush(r);
}

weir_status ps_replay_send(const ps_replay_opts *opts, uint64_t seed, weir_record *record,
                           int signal, weir_wire *to, ps_replay_counts *counts)
{
  const int n = signal >= 0 ? 1 : weir_record_signals(record);
  replay *r = NULL;

  *counts = (ps_replay_counts){0};
  if (n > MAX_SIGNALS) {
    return weir_fail(WEIR_ERR_CONFIG, "replay: %d signals, at most %d: say which by input.signal",
                     n, MAX_SIGNALS);
  }
  WEIR_TRY(weir_alloc(1, sizeof *r, (void **)&r));
  *r = (replay){.opts = opts, .seed = seed, .record = record, .to = to, .counts = counts};
  r->n_signals = n;
  for (int k = 0; k < n; k++) {
    r->signal[k] = signal >= 0 ? signal : k;
  }
  const weir_status status = send_all(r);

  weir_free(&r->value);
  weir_free(&r->present);
  weir_free(&r->heap);
  weir_free(&r->text);
  weir_free(&r);
  return status;
}
