/* edf.c - fuzz target: EDF and BDF files. What opens must read the same in one piece and in two,
 * and its runs must lie in the signal; annotations are listed or refused. */
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "fuzz_folder.h"
#include "io/weir_record.h"
#include "weir_fuzz.h"

enum { SLOTS = 3000 };

static int64_t reached;

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
    abort(); /* what has opened can be read */
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

static int64_t read_signals(weir_record *r, int64_t cut)
{
  const int n = weir_record_signals(r) < 8 ? weir_record_signals(r) : 8;
  int64_t present = 0;

  for (int i = 0; i < n; i++) {
    const int64_t count = weir_record_signal(r, i)->count;
    int64_t lo = 0;
    int64_t hi = 0;

    for (int k = 0; k < 20 && hi < count; k++) {
      const int64_t from = hi;

      if (weir_record_next_run(r, i, from, &lo, &hi) != WEIR_OK || lo < from || hi < lo ||
          hi > count) {
        abort();
      }
      present += read_twice(r, i, lo - 1, cut);
    }
    present += read_twice(r, i, count - SLOTS, cut);
  }
  return present;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const int64_t before = weir_alloc_bytes();
  const weir_record_opts opts = {.allow_short = (int)(size & 1)};
  weir_record_events events;
  weir_record *r = NULL;
  int64_t found = 0;

  weir_log_set_level(WEIR_LOG_ERROR);
  const weir_status status = weir_record_open(fuzz_folder_write(0, "x.edf", data, size), &opts, &r);

  if (status == WEIR_OK) {
    found = read_signals(r, (int64_t)(size % SLOTS));
    if (weir_record_events_read(r, &events) == WEIR_OK) {
      found += events.count;
      weir_record_events_fini(&events);
    }
  } else if (status != WEIR_ERR_DATA || r) {
    abort();
  }
  reached += found > 0;
  weir_record_close(&r);
  if (weir_alloc_bytes() != before) {
    abort();
  }
  return 0;
}
