/* flat_samples.c - fuzz target: samples as .cfbin, and, of any other bytes, as files of NoPFS: what
 * a header says is in the file, or refused. */
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "data/volume/volume.h"
#include "fuzz_folder.h"
#include "weir_fuzz.h"

enum { MOST = 1 << 20 };

static int64_t reached;

int64_t weir_fuzz_reached(void)
{
  return reached;
}

static void check(weir_status status)
{
  if (status != WEIR_OK && status != WEIR_ERR_DATA) {
    weir_print_trace(stderr);
    abort();
  }
}

static void read_sample(cf_volumes *v, int64_t size)
{
  static float voxels[MOST], labels[CF_MAX_LABELS];
  const cf_volume_info *const info = cf_volumes_info(v);
  int64_t n = 1, universe = 0;
  cf_facts facts;

  for (int d = 0; d < 4; d++) {
    n *= info->lengths[d];
  }
  if (n < 1 || n * (int64_t)weir_dtype_size(info->dtype) > size) {
    abort(); /* they were compared with the bytes of the file */
  }
  check(cf_volumes_labels(v, 0, labels));
  check(cf_volumes_facts(v, 0, &facts));
  check(cf_volumes_universe(v, 0, &universe));
  if (n <= MOST) {
    check(cf_volumes_read(v, 0, 0, info->lengths[0], WEIR_F32, voxels));
  }
  reached++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const int64_t before = weir_alloc_bytes();
  const bool own = size > 1 && data[0] == 0x89 && data[1] == 'C';
  const char *const path = fuzz_folder_write(0, own ? "x.cfbin" : "x.bin", data, size);
  const cf_volume_opts opts = {
      .volume = "", .labels = "", .axes = own ? "" : "czyx", .max_bytes = MOST};
  cf_volumes *v = NULL;

  weir_log_set_level(WEIR_LOG_ERROR);
  const weir_status status = cf_volumes_open(&path, 1, &opts, &v);

  check(status);
  if (status == WEIR_OK) {
    read_sample(v, (int64_t)size);
  }
  cf_volumes_close(&v);
  if (weir_alloc_bytes() != before) {
    abort();
  }
  return 0;
}
