/* wfdb_signal.c - fuzz target: WFDB records. Up to the first NUL the bytes are the header r.hea, up
 * to the second that of a segment, s.hea; the rest is the signal file d. What opens must read the
 * same in one piece and in two. */
#include <stdbool.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "fuzz_folder.h"
#include "io/weir_record.h"
#include "weir_fuzz.h"

enum { SLOTS = 3000 };

static int64_t reached;

/* A FLAC stream may be damaged between its ends, which only decoding shows. */
static bool may_fail(const weir_record *r, int signal)
{
  return weir_record_signal(r, signal)->format[0] == '5';
}

int64_t weir_fuzz_reached(void)
{
  return reached;
}

/* Slots [start, start + SLOTS) in one piece and in two; returns how many are present. */
static int64_t read_twice(weir_record *r, int signal, int64_t start, int64_t cut)
{
  static int32_t raw[2][SLOTS];
  static uint8_t there[2][SLOTS];
  static float values[SLOTS];
  int64_t present = 0;

  if (weir_record_read_raw(r, signal, start, SLOTS, raw[0], there[0]) != WEIR_OK ||
      weir_record_read_raw(r, signal, start, cut, raw[1], there[1]) != WEIR_OK ||
      weir_record_read_raw(r, signal, start + cut, SLOTS - cut, raw[1] + cut, there[1] + cut) !=
          WEIR_OK ||
      weir_record_read(r, signal, start, SLOTS, values, NULL) != WEIR_OK) {
    if (may_fail(r, signal)) {
      return 0;
    }
    abort(); /* what else has opened can be read */
  }
  if (memcmp(raw[0], raw[1], sizeof raw[0]) != 0 ||
      memcmp(there[0], there[1], sizeof there[0]) != 0) {
    abort();
  }
  for (int i = 0; i < SLOTS; i++) {
    present += there[0][i];
  }
  return present;
}

static void read_signals(weir_record *r, int64_t cut)
{
  const int n = weir_record_signals(r) < 8 ? weir_record_signals(r) : 8;
  int64_t present = 0;

  for (int i = 0; i < n; i++) {
    const int64_t count = weir_record_signal(r, i)->count;
    int64_t lo = 0;
    int64_t hi = 0;

    if (weir_record_next_run(r, i, 0, &lo, &hi) != WEIR_OK || lo < 0 || hi < lo || hi > count) {
      abort();
    }
    present += read_twice(r, i, lo - 1, cut);
    present += read_twice(r, i, count - SLOTS, cut);
    present += read_twice(r, i, 0, cut);
  }
  reached += present > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const uint8_t empty;
  const int64_t before = weir_alloc_bytes();
  const uint8_t *const end = data + size;
  const uint8_t *const first = size ? memchr(data, 0, size) : NULL;
  const uint8_t *const second = first ? memchr(first + 1, 0, (size_t)(end - first - 1)) : NULL;
  weir_record *r = NULL;

  if (!second) {
    return 0;
  }
  const size_t rest = (size_t)(end - second - 1);
  const weir_record_opts opts = {.allow_short = (int)(size & 1)};

  weir_log_set_level(WEIR_LOG_ERROR);
  const char *const path = fuzz_folder_write(0, "r.hea", data, (size_t)(first - data));

  fuzz_folder_write(1, "s.hea", first + 1, (size_t)(second - first - 1));
  fuzz_folder_write(2, "d", rest ? second + 1 : &empty, rest);
  const weir_status status = weir_record_open(path, &opts, &r);

  if (status == WEIR_OK) {
    read_signals(r, (int64_t)(size % SLOTS));
  } else if (status == WEIR_ERR_UNSUPPORTED && !r) {
    reached++; /* past the header: a format that this build lacks */
  } else if (status != WEIR_ERR_DATA || r) {
    abort();
  }
  weir_record_close(&r);
  if (weir_alloc_bytes() != before) {
    abort();
  }
  return 0;
}
