/* ecg_xml.c - fuzz target: annotated ECGs of HL7, exports of MUSE and of Philips. What opens must
 * read the same in one piece and in two, and its runs must lie in the signal. */
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
  const weir_record_opts opts = {.derived_leads = 1};
  const int64_t before = weir_alloc_bytes();
  weir_record_events events;
  weir_record *r = NULL;
  int64_t found = 0;

  weir_log_set_level(WEIR_LOG_ERROR);
  const weir_status status = weir_record_open(fuzz_folder_write(0, "x.xml", data, size), &opts, &r);

  if (status == WEIR_OK) {
    found = fuzz_read_signals(r, (int64_t)(size % FUZZ_SLOTS));
    if (weir_record_events_read(r, &events) == WEIR_OK) {
      found += events.count;
      weir_record_events_fini(&events);
    }
  } else if ((status != WEIR_ERR_DATA && status != WEIR_ERR_UNSUPPORTED) || r) {
    abort();
  }
  reached += found > 0;
  weir_record_close(&r);
  if (weir_alloc_bytes() != before) {
    abort();
  }
  return 0;
}
