/* wfdb_header.c - fuzz target: the text of WFDB headers. What is accepted obeys the limits. */
#include <stdlib.h>
#include "base/weir_alloc.h"
#include "io/wfdb/wfdb_priv.h"
#include "weir_fuzz.h"

static int64_t reached;

int64_t weir_fuzz_reached(void)
{
  return reached;
}

static int is_sound(const weir_wfdb_header *h)
{
  if (!h->name || h->fs_num <= 0 || h->fs_den <= 0 || h->frames < 0 ||
      h->frames > WEIR_WFDB_MAX_FRAMES || h->n_signals > WEIR_WFDB_MAX_SIGNALS ||
      h->n_segments > WEIR_WFDB_MAX_SEGMENTS ||
      (h->n_segments == 0 && h->n_listed != h->n_signals)) {
    return 0;
  }
  for (int64_t i = 0; i < h->n_listed; i++) {
    const weir_wfdb_signal *const s = &h->signals[i];

    if (!s->name || !s->units || !s->codec || s->spf < 1 || s->spf > WEIR_WFDB_MAX_SPF ||
        !(s->gain > 0) || s->skew < 0 || s->offset < 0 || (s->file && s->file[0] == '/')) {
      return 0;
    }
  }
  return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const int64_t before = weir_alloc_bytes();
  weir_wfdb_header h;
  const weir_status status =
      weir_wfdb_header_parse((const char *)data, (int64_t)size, "fuzz.hea", false, &h);

  if (status == WEIR_OK) {
    reached++;
    if (!is_sound(&h)) {
      abort();
    }
    weir_wfdb_header_fini(&h);
  } else if (status != WEIR_ERR_DATA && status != WEIR_ERR_UNSUPPORTED) {
    abort();
  }
  if (weir_alloc_bytes() != before) {
    abort();
  }
  return 0;
}
