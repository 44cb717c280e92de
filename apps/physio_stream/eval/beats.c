/* beats.c - see beats.h. */
#include "eval/beats.h"
#include <math.h>
#include "base/weir_alloc.h"
#include "io/weir_annotation.h"

/* Time of an annotation in samples: time * (samples per second) / (units per second). */
static int64_t to_samples(const weir_annotations *a, int64_t time, int64_t fs_num, int64_t fs_den)
{
  if (a->fs_num <= 0 || (a->fs_num * fs_den == fs_num * a->fs_den)) {
    return time;
  }
  const double ratio = ((double)fs_num * (double)a->fs_den) / ((double)fs_den * (double)a->fs_num);

  return (int64_t)floor((double)time * ratio + 0.5);
}

weir_status ps_beats_read(const char *path, int64_t fs_num, int64_t fs_den, int64_t length,
                          ps_beats *out)
{
  weir_annotations a = {0};
  ps_beats beats = {0};
  int64_t flutter = -1; /* where the open stretch began */
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_annotations_read(path, &a));
  WEIR_TRY_GOTO(weir_alloc(a.count, sizeof *beats.times, (void **)&beats.times), done);
  WEIR_TRY_GOTO(weir_alloc(a.count, sizeof *beats.normal, (void **)&beats.normal), done);
  WEIR_TRY_GOTO(weir_alloc(a.count + 1, sizeof *beats.excluded, (void **)&beats.excluded), done);
  for (int64_t i = 0; i < a.count; i++) {
    const int64_t at = to_samples(&a, a.items[i].time, fs_num, fs_den);

    if (weir_annotation_is_beat(a.items[i].code)) {
      beats.normal[beats.n] = a.items[i].code == WEIR_ANN_NORMAL;
      beats.times[beats.n++] = at;
    } else if (a.items[i].code == WEIR_ANN_VFON && flutter < 0) {
      flutter = at;
    } else if (a.items[i].code == WEIR_ANN_VFOFF && flutter >= 0) {
      beats.excluded[beats.n_excluded++] = (ps_span){flutter, at};
      flutter = -1;
    }
  }
  if (flutter >= 0 && length > flutter) {
    beats.excluded[beats.n_excluded++] = (ps_span){flutter, length};
  }
  *out = beats;
done:
  weir_annotations_fini(&a);
  if (status != WEIR_OK) {
    ps_beats_fini(&beats);
  }
  return status;
}

/* Whether an excluded stretch lies between two beats; `from` is the first that may. */
static bool is_apart(const ps_beats *b, int64_t first, int64_t second, int64_t *from)
{
  while (*from < b->n_excluded && b->excluded[*from].end <= first) {
    (*from)++;
  }
  return *from < b->n_excluded && b->excluded[*from].begin < second;
}

int64_t ps_beats_intervals(const ps_beats *beats, ps_interval *out)
{
  int64_t n = 0, from = 0;
  bool joined = false;

  for (int64_t i = 1; i < beats->n; i++) {
    const int64_t first = beats->times[i - 1], second = beats->times[i];

    if (second <= first || is_apart(beats, first, second, &from)) {
      joined = false;
      continue;
    }
    out[n++] =
        (ps_interval){.end = (double)second,
                      .length = (double)(second - first),
                      .counts = beats->normal == NULL || (beats->normal[i - 1] && beats->normal[i]),
                      .joined = joined};
    joined = true;
  }
  return n;
}

void ps_beats_fini(ps_beats *beats)
{
  weir_free(&beats->normal);
  weir_free(&beats->times);
  weir_free(&beats->excluded);
  *beats = (ps_beats){0};
}
