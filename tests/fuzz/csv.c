/* csv.c - fuzz target: sampled signals in text. The first byte chooses whether a rate is given;
 * what opens must read the same in one piece and in two. */
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
    const int64_t cut = (int64_t)(size % FUZZ_SLOTS);

    present += fuzz_read_twice(r, i, count - FUZZ_SLOTS, cut, false);
    present += fuzz_read_twice(r, i, -1, cut, false);
  }
  reached += present > 0;
  weir_record_close(&r);
  if (weir_alloc_bytes() != before) {
    abort();
  }
  return 0;
}
