/* beats.c - see beats.h. */
#include "eval/beats.h"
#include <math.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "io/weir_annotation.h"

weir_status ps_breaks_add(ps_breaks *b, double begin, double end)
{
  WEIR_TRY(weir_reserve(&b->v, &b->capacity, b->n + 1, sizeof *b->v));
  b->v[b->n++] = (ps_break){begin, end};
  return WEIR_OK;
}

/* Units of the clock for each unit of time of the file: 1 where they are the same, also in the
 * decimals that the file can state only. */
static double samples_per_unit(const weir_annotations *a, const ps_beats_clock *c)
{
  const bool stated = a->fs_num > 0;
  const double num = (double)(stated ? a->fs_num : c->base_num);
  const double den = (double)(stated ? a->fs_den : c->base_den);
  const double ratio = ((double)c->fs_num * den) / ((double)c->fs_den * num);

  return fabs(ratio - 1) < 1e-14 ? 1 : ratio;
}

/* What is read of a file so far. */
typedef struct reader {
  ps_beats beats;
  int64_t length;    /* of the record                             */
  int64_t flutter;   /* where the open stretch began, -1 for none */
  double unreadable; /* the same, NAN for none                    */
  double next_beat;  /* the first after that, NAN until it comes */
} reader;

/* An unreadable stretch that ends at `end`, or where nothing ends it, at the next beat. */
static weir_status end_unreadable(reader *r, double end)
{
  const double begin = r->unreadable, last = isnan(end) ? r->next_beat : end;

  r->unreadable = NAN;
  return isnan(begin) || isnan(last) ? WEIR_OK : ps_breaks_add(&r->beats.unreadable, begin, last);
}

static weir_status take_quality(reader *r, const weir_annotation *a, double position)
{
  if ((a->subtype & WEIR_ANN_UNREADABLE) != WEIR_ANN_UNREADABLE) {
    return end_unreadable(r, position);
  }
  WEIR_TRY(end_unreadable(r, NAN));
  r->unreadable = position;
  r->next_beat = NAN;
  return WEIR_OK;
}

static weir_status take(reader *r, const weir_annotation *a, double ratio)
{
  ps_beats *b = &r->beats;
  const double position = (double)a->time * ratio;
  const int64_t at = ratio == 1 ? a->time : (int64_t)floor(position + 0.5);

  if (weir_annotation_is_beat(a->code) && at > r->length) {
    b->beyond++;
  } else if (weir_annotation_is_beat(a->code)) {
    b->typed = b->typed || a->code != WEIR_ANN_NORMAL;
    b->normal[b->n] = a->code == WEIR_ANN_NORMAL;
    b->position[b->n] = position;
    b->times[b->n++] = at;
    r->next_beat = isnan(r->next_beat) ? position : r->next_beat;
  } else if (a->code == WEIR_ANN_NOISE) {
    WEIR_TRY(take_quality(r, a, position));
  } else if (a->code == WEIR_ANN_VFON && r->flutter < 0) {
    r->flutter = at;
  } else if (a->code == WEIR_ANN_VFOFF && r->flutter >= 0) {
    b->excluded[b->n_excluded++] = (ps_span){r->flutter, at};
    r->flutter = -1;
  }
  return WEIR_OK;
}

weir_status ps_beats_rate(const char *path, int64_t *fs_num, int64_t *fs_den)
{
  weir_annotations a = {0};

  WEIR_TRY(weir_annotations_read(path, &a));
  *fs_num = a.fs_num > 0 ? a.fs_num : 0;
  *fs_den = a.fs_num > 0 ? a.fs_den : 0;
  weir_annotations_fini(&a);
  return WEIR_OK;
}

weir_status ps_beats_read(const char *path, const ps_beats_clock *clock, int64_t length,
                          ps_beats *out)
{
  weir_annotations a = {0};
  reader r = {.length = length, .flutter = -1, .unreadable = NAN, .next_beat = NAN};
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_annotations_read(path, &a));
  WEIR_TRY_GOTO(weir_alloc(a.count, sizeof *r.beats.times, (void **)&r.beats.times), done);
  WEIR_TRY_GOTO(weir_alloc(a.count, sizeof *r.beats.position, (void **)&r.beats.position), done);
  WEIR_TRY_GOTO(weir_alloc(a.count, sizeof *r.beats.normal, (void **)&r.beats.normal), done);
  WEIR_TRY_GOTO(weir_alloc(a.count + 1, sizeof *r.beats.excluded, (void **)&r.beats.excluded),
                done);
  const double ratio = samples_per_unit(&a, clock);

  r.beats.stated = a.fs_num > 0;
  r.beats.rate = (double)clock->fs_num / (double)clock->fs_den / ratio;

  for (int64_t i = 0; i < a.count; i++) {
    WEIR_TRY_GOTO(take(&r, &a.items[i], ratio), done);
  }
  WEIR_TRY_GOTO(end_unreadable(&r, NAN), done);
  if (r.flutter >= 0 && length > r.flutter) {
    r.beats.excluded[r.beats.n_excluded++] = (ps_span){r.flutter, length};
  }
  *out = r.beats;
done:
  weir_annotations_fini(&a);
  if (status != WEIR_OK) {
    ps_beats_fini(&r.beats);
  }
  return status;
}

void ps_beats_trim(ps_beats *b, double first, double end)
{
  int64_t n = 0;

  WEIR_ASSERT(b->match == NULL);
  for (int64_t i = 0; i < b->n; i++) {
    if (b->position[i] >= first && b->position[i] < end) {
      b->times[n] = b->times[i];
      b->position[n] = b->position[i];
      b->normal[n++] = b->normal[i];
    }
  }
  b->n = n;
}

void ps_warn_of_beyond(const char *path, const ps_beats *beats)
{
  if (beats->beyond > 0) {
    weir_warn("eval",
              "%s: %lld of %lld beats are after the end of the record and left out: are they of "
              "this record, and do its times count 1/%.9g s, %s?",
              path, (long long)beats->beyond, (long long)(beats->n + beats->beyond), beats->rate,
              beats->stated ? "as the file states"
                            : "which the file does not state (else set eval.fs)");
  }
}

weir_status ps_beats_match(ps_beats *beats, const ps_beats *reference, double window)
{
  int64_t j = 0;

  if (beats->typed || !reference->typed) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(beats->n, sizeof *beats->match, (void **)&beats->match));
  for (int64_t i = 0; i < beats->n; i++) {
    const double at = beats->position[i];

    while (j + 1 < reference->n &&
           fabs(reference->position[j + 1] - at) <= fabs(reference->position[j] - at)) {
      j++;
    }
    const double off = reference->n > 0 ? fabs(reference->position[j] - at) : INFINITY;
    const bool taken = i > 0 && beats->match[i - 1] == j;
    const bool nearer = !taken || off < fabs(reference->position[j] - beats->position[i - 1]);

    beats->match[i] = off <= window && nearer ? j : -1;
    if (taken && nearer && off <= window) {
      beats->match[i - 1] = -1;
    }
    beats->normal[i] = beats->match[i] >= 0 && reference->normal[j];
  }
  return WEIR_OK;
}

/* Whether an excluded stretch lies between two beats; `from` is the first that may. */
static bool is_apart(const ps_beats *b, int64_t first, int64_t second, int64_t *from)
{
  while (*from < b->n_excluded && b->excluded[*from].end <= first) {
    (*from)++;
  }
  return *from < b->n_excluded && b->excluded[*from].begin < second;
}

/* The same of breaks. */
static bool is_broken(const ps_breaks *b, double first, double second, int64_t *from)
{
  while (b != NULL && *from < b->n && b->v[*from].end <= first) {
    (*from)++;
  }
  return b != NULL && *from < b->n && b->v[*from].begin < second;
}

static bool counts(const ps_beats *b, int64_t i)
{
  return b->normal[i - 1] && b->normal[i] &&
         (b->match == NULL || (b->match[i - 1] >= 0 && b->match[i] == b->match[i - 1] + 1));
}

int64_t ps_beats_intervals(const ps_beats *beats, const ps_breaks *breaks, ps_interval *out)
{
  int64_t n = 0, flutter = 0, unreadable = 0, broken = 0;
  bool joined = false;

  for (int64_t i = 1; i < beats->n; i++) {
    const double first = beats->position[i - 1], second = beats->position[i];
    bool apart = is_apart(beats, beats->times[i - 1], beats->times[i], &flutter);

    apart = is_broken(&beats->unreadable, first, second, &unreadable) || apart;
    apart = is_broken(breaks, first, second, &broken) || apart;
    if (second <= first || apart) {
      joined = false;
      continue;
    }
    out[n++] = (ps_interval){
        .end = second, .length = second - first, .counts = counts(beats, i), .joined = joined};
    joined = true;
  }
  return n;
}

void ps_beats_fini(ps_beats *beats)
{
  weir_free(&beats->normal);
  weir_free(&beats->match);
  weir_free(&beats->times);
  weir_free(&beats->position);
  weir_free(&beats->unreadable.v);
  weir_free(&beats->excluded);
  *beats = (ps_beats){0};
}
