/* fuzz_record.h - what holds for every record that opens, whatever its format: a signal reads the
 * same in one piece and in two. */
#ifndef WEIR_FUZZ_RECORD_H
#define WEIR_FUZZ_RECORD_H
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "io/weir_record.h"

enum { FUZZ_SLOTS = 3000 };

typedef struct fuzz_piece {
  float values[FUZZ_SLOTS];
  int32_t raw[FUZZ_SLOTS];
  uint8_t present[FUZZ_SLOTS], raw_present[FUZZ_SLOTS];
} fuzz_piece;

/* Slots [start + lo, start + hi) of the signal, into their places. */
static weir_status fuzz_read(weir_record *r, int signal, int64_t start, int64_t lo, int64_t hi,
                             fuzz_piece *p)
{
  WEIR_TRY(weir_record_read(r, signal, start + lo, hi - lo, p->values + lo, p->present + lo));
  if (strcmp(weir_record_signal(r, signal)->format, "csv") == 0) {
    return WEIR_OK; /* text has no codes */
  }
  WEIR_TRY(weir_record_read_raw(r, signal, start + lo, hi - lo, p->raw + lo, p->raw_present + lo));
  if (memcmp(p->present + lo, p->raw_present + lo, (size_t)(hi - lo)) != 0) {
    abort();
  }
  return WEIR_OK;
}

/* FUZZ_SLOTS slots from `start` on in one piece and in two, [.., cut) and [cut, ..); returns how
 * many are present. may_fail: what has opened may yet refuse to be read, and gives 0 then. */
static int64_t fuzz_read_twice(weir_record *r, int signal, int64_t start, int64_t cut,
                               bool may_fail)
{
  static fuzz_piece whole, two;
  int64_t present = 0;

  if (fuzz_read(r, signal, start, 0, FUZZ_SLOTS, &whole) != WEIR_OK ||
      fuzz_read(r, signal, start, 0, cut, &two) != WEIR_OK ||
      fuzz_read(r, signal, start, cut, FUZZ_SLOTS, &two) != WEIR_OK) {
    if (may_fail) {
      return 0;
    }
    abort();
  }
  if (memcmp(&whole, &two, sizeof whole) != 0) {
    abort();
  }
  for (int i = 0; i < FUZZ_SLOTS; i++) {
    present += whole.present[i];
  }
  return present;
}

/* Up to 4 signals, 8 runs of each, from one slot before a run on; its runs have to lie in the
 * signal. Returns how many slots are present. */
static inline int64_t fuzz_read_signals(weir_record *r, int64_t cut)
{
  const int n = weir_record_signals(r) < 4 ? weir_record_signals(r) : 4;
  int64_t present = 0;

  for (int i = 0; i < n; i++) {
    const int64_t count = weir_record_signal(r, i)->count;
    int64_t lo = 0;
    int64_t hi = 0;

    for (int k = 0; k < 8 && hi < count; k++) {
      const int64_t from = hi;

      if (weir_record_next_run(r, i, from, &lo, &hi) != WEIR_OK || lo < from || hi < lo ||
          hi > count) {
        abort();
      }
      present += fuzz_read_twice(r, i, lo - 1, cut, false);
    }
  }
  return present;
}
#endif
