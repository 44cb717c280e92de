/* csv.c - fuzz target: sampled signals in text. The first byte chooses whether a rate is given;
 * what opens must read the same in one piece and in two. */
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "fuzz_folder.h"
#include "io/weir_record.h"
#include "weir_fuzz.h"

enum { SLOTS = 500 };

static int64_t reached;

int64_t weir_fuzz_reached(void)
{
  return reached;
}

static int64_t read_twice(weir_record *r, int signal, int64_t start, int64_t cut)
{
  static float values[2][SLOTS];
  static uint8_t there[2][SLOTS];
  int64_t present = 0;

  if (weir_record_read(r, signal, start, SLOTS, values[0], there[0]) != WEIR_OK ||
      weir_record_read(r, signal, start, cut, values[1], there[1]) != WEIR_OK ||
      weir_record_read(r, signal, start + cut, SLOTS - cut, values[1] + cut, there[1] + cut) !=
          WEIR_OK) {
    abort(); /* what has opened can be read */
  }
  if (memcmp(values[0], values[1], sizeof values[0]) != 0 ||
      memcmp(there[0], there[1], sizeof there[0]) != 0) {
    abort();
  }
  for (int i = 0; i < SLOTS; i++) {
    present += there[0][i];
  }
  return present;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const int64_t before = weir_alloc_bytes();
  weir_record *r = NULL;

  if (size == 0) {
    return 0;
  }
  const weir_record_opts opts = {.csv_fs = data[0] == 'r' ? 250 : 0};

  weir_log_set_level(WEIR_LOG_ERROR);
  const weir_status status =
      weir_record_open(fuzz_folder_write(0, "x.csv", data + 1, size - 1), &opts, &r);

  if (status != WEIR_OK && status != WEIR_ERR_DATA && status != WEIR_ERR_CONFIG) {
    abort();
  }
  int64_t present = 0;

  for (int i = 0; r && i < weir_record_signals(r) && i < 4; i++) {
    const int64_t count = weir_record_signal(r, i)->count;

    present += read_twice(r, i, count - SLOTS, (int64_t)(size % SLOTS));
    present += read_twice(r, i, -1, (int64_t)(size % SLOTS));
  }
  reached += present > 0;
  weir_record_close(&r);
  if (weir_alloc_bytes() != before) {
    abort();
  }
  return 0;
}
