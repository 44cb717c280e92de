/* snapshot.c - fuzz target: a snapshot of particles (HDF5), and tables of parameters of simulations
 * (any other bytes): what is accepted has positions in its box and finite labels. */
#include "data/snapshot/snapshot.h"
#include <math.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "data/volume/parameters.h"
#include "fuzz_folder.h"
#include "io/netcdf/reader_priv.h"
#include "weir_fuzz.h"

enum { LIMIT_MS = 100 };

static int64_t reached;

int64_t weir_fuzz_reached(void)
{
  return reached;
}

static weir_status see(void *context, int64_t n, const double *position, const double *mass)
{
  const cf_snapshot_info *const info = context;

  for (int64_t i = 0; i < 3 * n; i++) {
    if (!(position[i] >= 0 && position[i] < info->box) || !(mass[i / 3] >= 0)) {
      abort();
    }
  }
  return WEIR_OK;
}

static void check(weir_status status)
{
  if (status != WEIR_OK && status != WEIR_ERR_DATA && status != WEIR_ERR_CONFIG &&
      status != WEIR_ERR_EXTERNAL) {
    weir_print_trace(stderr);
    abort();
  }
}

static void read_snapshot(const char *path)
{
  const cf_snapshot_opts opts = {.length_unit = CF_LENGTH_AUTO};
  cf_snapshot *s = NULL;
  weir_status status = cf_snapshot_open(path, &opts, &s);

  check(status);
  for (int t = 0; status == WEIR_OK && t < 2; t++) {
    cf_snapshot_info info = *cf_snapshot_get(s);

    status = cf_snapshot_read(s, t, see, &info);
    check(status);
    reached += status == WEIR_OK;
  }
  cf_snapshot_close(&s);
}

static void read_table(const char *path)
{
  const cf_parameters_opts opts = {.table = path};
  cf_facts facts = {.has_physical = false};
  float labels[CF_MAX_LABELS];
  cf_volume_info info = {.n_labels = 0};
  cf_parameters *p = NULL;
  int64_t row = 0;
  const weir_status status = cf_parameters_read(&opts, "paint", &p);

  check(status);
  if (status == WEIR_OK) {
    cf_parameters_info(p, &info);
    cf_parameters_get(p, cf_parameters_count(p) - 1, labels, &facts);
    for (int64_t k = 0; k < info.n_labels; k++) {
      if (!(labels[k] >= -1 && labels[k] <= 1)) {
        abort();
      }
    }
    (void)!cf_parameters_find(p, "a/LH_0/0/b.hdf5", &row);
    reached++;
  }
  cf_parameters_destroy(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const int64_t before = weir_alloc_bytes();
  const char *const path = fuzz_folder_write(0, "snapshot.hdf5", data, size);

  weir_log_set_level(WEIR_LOG_ERROR);
  if (reached == 0) {
    weir_reader_reset(LIMIT_MS);
  }
  if (size >= 4 && memcmp(data, "\x89HDF", 4) == 0) {
    read_snapshot(path);
  } else {
    read_table(path);
  }
  if (weir_alloc_bytes() != before) {
    abort();
  }
  return 0;
}
