/* viewer.c - what a viewer shows; see viewer.h. */
#include "viewer/viewer.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_sort.h"

enum { MAX_MARKS = 1000000, PATH_SIZE = 4096, BLOCK = 16384 };

const weir_opt ps_viewer_options[] = {
    WEIR_OPT_REAL(ps_viewer_opts, size, 2, 0, 256, "MiB",
                  "maximum size of a signal in the page: if its samples do not fit, each point of "
                  "the drawing is the least and greatest of several samples; 0: no page"),
    WEIR_OPT_REAL(ps_viewer_opts, around, 4, 0, 60, "s",
                  "if samples do not fit, those before and after events (annotations other than "
                  "normal beats, alarms) are kept, up to half of the size more; 0: none"),
    WEIR_OPT_STRING_LIST(ps_viewer_opts, annotations, "",
                         "annotation files (RECORD.atr) to show and edit in the page too"),
    WEIR_OPT_END,
};

static int64_t bytes_of(const ps_viewer *v)
{
  return (int64_t)(v->opts->size * 1024 * 1024);
}

weir_status ps_viewer_create(const ps_viewer_opts *opts, ps_viewer **out)
{
  *out = NULL;
  if (opts->size > 0) {
    WEIR_TRY(weir_alloc(1, sizeof **out, (void **)out));
    (*out)->opts = opts;
  }
  return WEIR_OK;
}

static void drop_samples(ps_viewer_signal *s)
{
  for (int64_t k = 0; k < s->n_samples; k++) {
    weir_free(&s->samples[k].value);
  }
  weir_free(&s->samples);
  s->n_samples = 0;
}

void ps_viewer_destroy(ps_viewer **v)
{
  if (*v == NULL) {
    return;
  }
  for (int i = 0; i < (*v)->n_signals; i++) {
    ps_envelope_fini(&(*v)->signal[i].envelope);
    drop_samples(&(*v)->signal[i]);
  }
  for (int i = 0; i < (*v)->n_marks; i++) {
    ps_marks_fini(&(*v)->marks[i]);
  }
  weir_free(v);
}

weir_status ps_viewer_add_signal(ps_viewer *v, const char *name, const char *units, int64_t fs_num,
                                 int64_t fs_den, int64_t count)
{
  if (v == NULL || v->n_signals == PS_VIEWER_SIGNALS) {
    return WEIR_OK;
  }
  ps_viewer_signal *const s = &v->signal[v->n_signals];

  *s = (ps_viewer_signal){.fs_num = fs_num, .fs_den = fs_den};
  (void)snprintf(s->name, sizeof s->name, "%s", name);
  (void)snprintf(s->units, sizeof s->units, "%s", units);
  WEIR_TRY(ps_envelope_init(count, bytes_of(v), &s->envelope));
  v->n_signals++;
  return WEIR_OK;
}

bool ps_viewer_has(const ps_viewer *v, const char *name)
{
  for (int i = 0; i < v->n_signals; i++) {
    if (strcmp(v->signal[i].name, name) == 0) {
      return true;
    }
  }
  for (int i = v->n_files; i < v->n_marks; i++) {
    if (strcmp(v->marks[i].name, name) == 0) {
      return true;
    }
  }
  return false;
}

void ps_viewer_take(ps_viewer *v, int i, int64_t lo, int64_t hi, const float *x,
                    const uint8_t *present)
{
  if (v != NULL && i < v->n_signals) {
    ps_envelope_take(&v->signal[i].envelope, lo, hi, x, present);
  }
}

static weir_status read_runs(ps_viewer *v, int i, ps_input *in, float *x, uint8_t *present)
{
  const int64_t count = ps_input_get(in)->count;

  for (int64_t at = 0, lo = 0, hi = 0; at < count; at = hi) {
    WEIR_TRY(ps_input_next_run(in, at, &lo, &hi));
    for (int64_t t = lo; t < hi; t += BLOCK) {
      const int64_t n = hi - t < BLOCK ? hi - t : BLOCK;

      WEIR_TRY(ps_input_read(in, t, n, x, present));
      ps_viewer_take(v, i, t, t + n, x, present);
    }
    if (hi <= lo) {
      break;
    }
  }
  ps_viewer_end(v, i, count);
  return WEIR_OK;
}

weir_status ps_viewer_read(ps_viewer *v, int i, ps_input *in)
{
  float *x = NULL;
  uint8_t *present = NULL;
  weir_status status = WEIR_OK;

  if (v == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY_GOTO(weir_alloc(BLOCK, sizeof *x, (void **)&x), done);
  WEIR_TRY_GOTO(weir_alloc(BLOCK, 1, (void **)&present), done);
  WEIR_TRY_GOTO(read_runs(v, i, in, x, present), done);
done:
  weir_free(&x);
  weir_free(&present);
  return status;
}

void ps_viewer_end(ps_viewer *v, int i, int64_t slots)
{
  if (v != NULL && i < v->n_signals) {
    ps_envelope_end(&v->signal[i].envelope, slots);
  }
}

bool ps_viewer_takes_marks(const ps_viewer *v, const char *name, int64_t n)
{
  if (v == NULL) {
    return false;
  }
  if (v->n_marks == PS_VIEWER_MARKS || n > MAX_MARKS) {
    weir_warn(
        "viewer",
        "%s: %lld marks are left out of viewer.html, which takes up to %d from each of %d files",
        name, (long long)n, MAX_MARKS, PS_VIEWER_MARKS);
    return false;
  }
  return true;
}

void ps_viewer_add_marks(ps_viewer *v, ps_marks *m)
{
  if (ps_viewer_takes_marks(v, m->name, m->a.count)) {
    v->marks[v->n_marks++] = *m;
    *m = (ps_marks){.fs_num = 0};
  } else {
    ps_marks_fini(m);
  }
}

weir_status ps_viewer_add_files(ps_viewer *v, const ps_input_opts *input)
{
  weir_record_clock clock = {.fs_num = 1, .fs_den = 1};
  char path[PATH_SIZE];
  ps_marks m;

  if (v == NULL || v->opts->annotations.count == 0) {
    return WEIR_OK;
  }
  if (v->n_signals > 0) {
    clock.fs_num = v->signal[0].fs_num;
    clock.fs_den = v->signal[0].fs_den;
  }
  if (input->record[0] != 0) {
    WEIR_TRY(ps_input_path(input, input->record, path, sizeof path));
    WEIR_TRY(weir_record_read_clock(path, &clock));
  }
  for (int64_t i = 0; i < v->opts->annotations.count; i++) {
    WEIR_TRY(ps_marks_read(v->opts->annotations.items[i], clock.fs_num, clock.fs_den, &m));
    ps_viewer_add_marks(v, &m);
  }
  v->n_files = v->n_marks;
  return WEIR_OK;
}

/* ---- Samples around events ---- */

static bool is_event(const weir_annotation *a)
{
  return a->code != WEIR_ANN_NORMAL;
}

static int64_t count_events(const ps_marks *m)
{
  int64_t n = 0;

  for (int64_t k = 0; k < m->a.count; k++) {
    n += is_event(&m->a.items[k]);
  }
  return n;
}

/* Writes the times of every `every`-th event, s, to times[count_events]; returns their number. */
static int64_t list_times(const ps_marks *m, int64_t every, double *times)
{
  int64_t event = 0, n = 0;

  for (int64_t k = 0; k < m->a.count; k++) {
    if (is_event(&m->a.items[k]) && event++ % every == 0) {
      times[n++] = (double)m->a.items[k].time * (double)m->fs_den / (double)m->fs_num;
    }
  }
  return n;
}

/* Spans of slots around the times; those that meet are one. spans may be NULL. Returns their
 * number, and in *slots that of their slots. */
static int64_t spans_of(const ps_viewer *v, const ps_viewer_signal *s, const double *times,
                        int64_t n, ps_viewer_samples *spans, int64_t *slots)
{
  const double rate = (double)s->fs_num / (double)s->fs_den, most = (double)s->envelope.slots;
  int64_t count = 0, end = 0;

  *slots = 0;
  for (int64_t i = 0; i < n; i++) {
    const int64_t lo = (int64_t)fmin(most, fmax(0, floor((times[i] - v->opts->around) * rate)));
    const int64_t hi = (int64_t)fmin(most, fmax(0, ceil((times[i] + v->opts->around) * rate)));

    if (hi <= lo) {
      continue;
    }
    if (count == 0 || lo > end) {
      end = lo;
      count++;
      if (spans != NULL) {
        spans[count - 1].slot = lo;
      }
    }
    *slots += hi - end;
    end = hi;
    if (spans != NULL) {
      spans[count - 1].n = end - spans[count - 1].slot;
    }
  }
  return count;
}

static weir_status read_span(ps_input *in, ps_viewer_samples *span)
{
  uint8_t *present = NULL;

  WEIR_TRY(weir_alloc(span->n, 1, (void **)&present));
  weir_status status = weir_alloc(span->n, sizeof *span->value, (void **)&span->value);

  if (status == WEIR_OK) {
    status = ps_input_read(in, span->slot, span->n, span->value, present);
  }
  for (int64_t k = 0; status == WEIR_OK && k < span->n; k++) {
    span->value[k] = present[k] != 0 ? span->value[k] : NAN;
  }
  weir_free(&present);
  return status;
}

/* Numbers of the marks, those with fewest events first. */
static void order_marks(const ps_viewer *v, int *order)
{
  int64_t events[PS_VIEWER_MARKS];

  for (int i = 0; i < v->n_marks; i++) {
    int at = i;

    events[i] = count_events(&v->marks[i]);
    for (; at > 0 && events[order[at - 1]] > events[i]; at--) {
      order[at] = order[at - 1];
    }
    order[at] = i;
  }
}

/* Chooses events that there is room for: of the files with fewest all, of the first that has too
 * many every second, fourth.. one, of those after it none. Writes their times in order to times[all
 * events]; returns their number. */
static int64_t choose_events(const ps_viewer *v, const ps_viewer_signal *s, double *times)
{
  const int64_t budget = bytes_of(v) * 3 / 16;
  int order[PS_VIEWER_MARKS];
  int64_t every = 1, n = 0;

  order_marks(v, order);
  for (int last = 0; last < v->n_marks && every == 1; last++) {
    const int64_t most = count_events(&v->marks[order[last]]);
    int64_t slots = INT64_MAX;

    for (; slots > budget; every *= slots > budget ? 2 : 1) {
      n = 0;
      for (int i = 0; i <= last; i++) {
        const bool thin = i == last;

        if (!thin || every <= most) {
          n += list_times(&v->marks[order[i]], thin ? every : 1, times + n);
        }
      }
      if (n > 0) {
        qsort(times, (size_t)n, sizeof *times, weir_compare_f64);
      }
      (void)spans_of(v, s, times, n, NULL, &slots);
    }
  }
  return n;
}

static weir_status read_spans(ps_viewer *v, ps_viewer_signal *s, const double *times, ps_input *in)
{
  int64_t slots = 0;
  const int64_t count = spans_of(v, s, times, s->shown, NULL, &slots);

  WEIR_TRY(weir_alloc(count, sizeof *s->samples, (void **)&s->samples));
  s->n_samples = spans_of(v, s, times, s->shown, s->samples, &slots);
  for (int64_t k = 0; k < s->n_samples; k++) {
    WEIR_TRY(read_span(in, &s->samples[k]));
  }
  return WEIR_OK;
}

weir_status ps_viewer_read_samples(ps_viewer *v, int i, ps_input *in)
{
  double *times = NULL;
  weir_status status = WEIR_OK;

  if (v == NULL || i >= v->n_signals || v->signal[i].envelope.bin == 1 || v->opts->around <= 0) {
    return WEIR_OK;
  }
  v->events = 0;
  for (int k = 0; k < v->n_marks; k++) {
    v->events += count_events(&v->marks[k]);
  }
  WEIR_TRY(weir_alloc(v->events, sizeof *times, (void **)&times));
  v->signal[i].shown = choose_events(v, &v->signal[i], times);
  WEIR_TRY_GOTO(read_spans(v, &v->signal[i], times, in), done);
done:
  weir_free(&times);
  return status;
}
