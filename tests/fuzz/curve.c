/* curve.c - fuzz target: a transmission of a file, text of two columns or NetCDF. What is accepted
 * is finite and its energies ascend. */
#include <math.h>
#include "base/weir_alloc.h"
#include "eval/curve.h"
#include "fuzz_folder.h"
#include "weir_fuzz.h"

static int64_t reached;

int64_t weir_fuzz_reached(void)
{
  return reached;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const int64_t before = weir_alloc_bytes();
  qt_curve c;
  const weir_status status = qt_curve_read(fuzz_folder_write(0, "x", data, size), &c);

  if (status != WEIR_OK && status != WEIR_ERR_DATA && status != WEIR_ERR_UNSUPPORTED) {
    abort();
  }
  reached += status == WEIR_OK;
  for (int64_t i = 0; i < c.n; i++) {
    if (!isfinite(c.energy[i]) || !isfinite(c.transmission[i]) ||
        (i > 0 && c.energy[i] <= c.energy[i - 1]) || !isfinite(qt_curve_at(&c, c.energy[i]))) {
      abort();
    }
  }
  qt_curve_fini(&c);
  if (weir_alloc_bytes() != before) {
    abort();
  }
  return 0;
}
