/* wfdb_signal.c - fuzz target: WFDB records. Up to the first NUL the bytes are the header r.hea, up
 * to the second that of a segment, s.hea; the rest is the signal file d. What opens must read the
 * same in one piece and in two. */
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "fuzz_folder.h"
#include "fuzz_record.h"
#include "weir_fuzz.h"

static int64_t reached;

int64_t weir_fuzz_reached(void)
{
  return reached;
}

/* A FLAC stream may be damaged between its ends, which only decoding shows. */
static void read_signals(weir_record *r, int64_t cut)
{
  const int n = weir_record_signals(r) < 8 ? weir_record_signals(r) : 8;
  int64_t present = 0;

  for (int i = 0; i < n; i++) {
    const int64_t count = weir_record_signal(r, i)->count;
    const bool flac = weir_record_signal(r, i)->format[0] == '5';
    int64_t lo = 0;
    int64_t hi = 0;

    if (weir_record_next_run(r, i, 0, &lo, &hi) != WEIR_OK || lo < 0 || hi < lo || hi > count) {
      abort();
    }
    present += fuzz_read_twice(r, i, lo - 1, cut, flac);
    present += fuzz_read_twice(r, i, count - FUZZ_SLOTS, cut, flac);
    present += fuzz_read_twice(r, i, 0, cut, flac);
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
    read_signals(r, (int64_t)(size % FUZZ_SLOTS));
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
