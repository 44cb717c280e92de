/* class_maps.c - fuzz target: classes of voxels that a network wrote (classes.nc). */
#include "data/volume/class_maps.h"
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "fuzz_folder.h"
#include "io/netcdf/reader_priv.h"
#include "weir_fuzz.h"

enum { LIMIT_MS = 100, MOST = 1 << 16 };

static int64_t reached;

int64_t weir_fuzz_reached(void)
{
  return reached;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static uint8_t plane[MOST];
  const int64_t before = weir_alloc_bytes();
  const char *const path = fuzz_folder_write(0, "classes.nc", data, size);
  cf_read_maps m = {0};

  weir_log_set_level(WEIR_LOG_ERROR);
  if (reached == 0) {
    weir_reader_reset(LIMIT_MS);
  }
  const weir_status status = cf_class_maps_are(path) ? cf_class_maps_open(path, &m) : WEIR_ERR_DATA;

  if (status == WEIR_OK) {
    bool read = m.lengths[1] * m.lengths[2] <= MOST;

    for (int64_t i = 0; read && i < m.n && i < 8; i++) {
      read = cf_class_maps_read(&m, i, 0, 1, plane) == WEIR_OK;
    }
    reached += read;
    cf_class_maps_close(&m);
  } else if (status != WEIR_ERR_DATA && status != WEIR_ERR_EXTERNAL) {
    weir_print_trace(stderr);
    abort();
  }
  if (weir_alloc_bytes() != before) {
    abort();
  }
  return 0;
}
