/* checkpoint.c - fuzz target: checkpoints, NetCDF and raw. A file fills the store whole, or leaves
 * it as it was. */
#include "support/graph/store_check.h"
#include "train/weir_checkpoint.h"
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "fuzz_folder.h"
#include "io/netcdf/reader_priv.h"
#include "weir_fuzz.h"

enum { LIMIT_MS = 100, N = 12 };

static int64_t reached;

int64_t weir_fuzz_reached(void)
{
  return reached;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const int64_t before = weir_alloc_bytes();
  weir_store *s = NULL;

  weir_log_set_level(WEIR_LOG_ERROR);
  if (reached == 0) {
    weir_reader_reset(LIMIT_MS);
  }
  if (weir_store_create(&s) != WEIR_OK ||
      weir_store_add(s, "params", WEIR_F32, 1, (int64_t[]){N}) != WEIR_OK ||
      weir_store_add(s, "train.step", WEIR_I64, 0, NULL) != WEIR_OK) {
    abort();
  }
  float *const x = check_stored(s, "params")->data;
  const weir_checkpoint c = {.store = s};

  for (int i = 0; i < N; i++) {
    x[i] = -1;
  }
  const weir_status status =
      weir_checkpoint_load(&c, fuzz_folder_write(0, "x.checkpoint", data, size), false);

  for (int i = 0; i < N; i++) {
    if (x[i] != (status == WEIR_OK ? (float)i : -1)) {
      abort(); /* values have a digest */
    }
  }
  if (status != WEIR_OK && status != WEIR_ERR_DATA && status != WEIR_ERR_SHAPE &&
      status != WEIR_ERR_UNSUPPORTED) {
    weir_print_trace(stderr);
    abort();
  }
  reached += status == WEIR_OK;
  weir_store_destroy(&s);
  if (weir_alloc_bytes() != before) {
    abort();
  }
  return 0;
}
