/* layout.c - length and places of the data records of a file to be written. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_integer.h"
#include "io/edf/write_priv.h"
#include "io/io_priv.h"

enum {
  MAX_RANGES = 1 << 22,
  RECORD_BYTES = 61440, /* of EDF's specification: at most */
  FEW_RUNS = 4096,      /* so many are placed for each length that is tried */
  MAX_LENGTHS = 20000,
};
static const double shortest_s = 0.1, longest_s = 10;

weir_status weir_edf_range_add(weir_edf_ranges *list, int signal, int64_t lo, int64_t hi)
{
  if (list->count == MAX_RANGES) {
    return weir_fail(WEIR_ERR_DATA, "more than %d gaps", MAX_RANGES);
  }
  WEIR_TRY(weir_reserve(&list->items, &list->capacity, list->count + 1, sizeof *list->items));
  list->items[list->count++] = (weir_edf_range){.lo = lo, .hi = hi, .signal = signal};
  return WEIR_OK;
}

/* num/den s as decimal text of at most 8 characters, exactly; false where there is none. */
static bool exact_text(int64_t num, int64_t den, char text[WEIR_EDF_NUMBER])
{
  int64_t unit = 1;

  for (int digits = 0; digits <= 6; digits++, unit *= 10) {
    const __int128 scaled = (__int128)num * unit;
    const __int128 whole = scaled / den;

    if (scaled % den == 0 && whole > 0 && whole < 100000000) {
      char full[32];
      const int64_t value = (int64_t)whole;
      const int n = digits == 0
                        ? snprintf(full, sizeof full, "%lld", (long long)value)
                        : snprintf(full, sizeof full, "%lld.%0*lld", (long long)(value / unit),
                                   digits, (long long)(value % unit));

      if (n < WEIR_EDF_NUMBER) {
        memcpy(text, full, (size_t)n + 1);
        return true;
      }
    }
  }
  return false;
}

/* Places records of m frames; returns how many. With `out`, their runs are added to it. */
static weir_status place(const weir_edf_ranges *present, int64_t frames, int64_t m,
                         weir_edf_ranges *out, int64_t *records)
{
  int64_t at = 0, k = 0;

  *records = 0;
  while (at < frames) {
    weir_edf_range *const last = out && out->count > 0 ? &out->items[out->count - 1] : NULL;
    const bool inside = k < present->count && present->items[k].lo <= at;
    const int64_t n = inside ? (present->items[k].hi - at + m - 1) / m : 1; /* adjacent ones */

    if (last && last->hi == at) {
      last->hi = at + n * m;
    } else if (out) {
      WEIR_TRY(weir_edf_range_add(out, 0, at, at + n * m));
    }
    *records += n;
    at += n * m;
    while (k < present->count && present->items[k].hi <= at) {
      k++;
    }
    if (k == present->count) { /* absent to the end: its last frame, so that the length is known */
      at = at < frames && frames - m > at ? frames - m : at;
    } else if (present->items[k].lo > at) {
      at = present->items[k].lo;
    }
  }
  return WEIR_OK;
}

/* Frames of a record that come nearest to 1 s, those first that leave no record partly empty;
 * 0: none. `step` frames last a decimal fraction. */
static weir_status choose_frames(const weir_edf_ranges *present, int64_t frame_bytes, int64_t step,
                                 const weir_edf_layout *l, int64_t *best)
{
  int64_t used = 0;
  double least = INFINITY;
  char text[WEIR_EDF_NUMBER];

  for (int64_t k = 0; k < present->count; k++) {
    used += present->items[k].hi - present->items[k].lo;
  }
  *best = 0;
  for (int64_t j = 1; j <= MAX_LENGTHS; j++) {
    int64_t m = 0, duration = 0, bytes = 0, records = 0;

    if (!weir_mul_ok(j, step, &m) || !weir_mul_ok(m, l->den, &duration) ||
        !weir_mul_ok(m, frame_bytes, &bytes)) {
      break;
    }
    const double seconds = (double)duration / (double)l->num;

    if (*best > 0 && (seconds > longest_s || bytes > RECORD_BYTES)) {
      break;
    }
    if ((seconds < shortest_s && bytes <= RECORD_BYTES) || !exact_text(duration, l->num, text)) {
      continue;
    }
    double cost = fabs(log(seconds));

    if (present->count <= FEW_RUNS) {
      WEIR_TRY(place(present, l->frames, m, NULL, &records));
      cost += records * m > used ? 1e3 : 0;
    }
    if (cost < least) {
      least = cost;
      *best = m;
    }
  }
  return WEIR_OK;
}

weir_status weir_edf_layout_choose(const char *name, const weir_edf_ranges *present,
                                   int64_t frame_bytes, weir_edf_layout *out)
{
  int64_t step = out->num;

  while (step % 2 == 0) {
    step /= 2;
  }
  while (step % 5 == 0) {
    step /= 5;
  }
  WEIR_TRY(choose_frames(present, frame_bytes, step, out, &out->record_frames));
  if (out->record_frames == 0) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "record %s: with %lld/%lld frames per second no data record of EDF lasts a "
                     "decimal number of seconds of 8 characters: resample it, or write another "
                     "format",
                     name, (long long)out->num, (long long)out->den);
  }
  (void)exact_text(out->record_frames * out->den, out->num, out->duration);
  return place(present, out->frames, out->record_frames, &out->runs, &out->records);
}
