/* netcdf.c - fuzz target: everything in a NetCDF or HDF5 file through weir_netcdf.h. The process
 * that reads may end; what comes back is a status, soon, and this process stays. */
#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_log.h"
#include "fuzz_folder.h"
#include "io/netcdf/reader_priv.h"
#include "weir_fuzz.h"

enum { LIMIT_MS = 100, MOST_BYTES = 1 << 20, MOST_S = 60 };

static int64_t reached;

int64_t weir_fuzz_reached(void)
{
  return reached;
}

/* Attributes of a variable or of the file, whatever they are. */
static void read_attributes(weir_netcdf *nc, int var)
{
  int n = 0;

  if (weir_netcdf_count_attributes(nc, var, &n) != WEIR_OK) {
    return;
  }
  for (int i = 0; i < n && i < 64; i++) {
    char name[300], *words = NULL;
    double numbers[64];
    int64_t count = 0;
    bool text = false;

    if (weir_netcdf_attribute(nc, var, i, name, sizeof name, &count, &text) != WEIR_OK) {
      continue;
    }
    if (text && weir_netcdf_get_text(nc, var, name, &words) == WEIR_OK) {
      weir_free(&words);
    } else if (!text && count <= 64) {
      (void)!weir_netcdf_get_numbers(nc, var, name, numbers, count);
    }
  }
}

static bool read_variable(weir_netcdf *nc, int var)
{
  static _Alignas(8) char data[MOST_BYTES];
  const int64_t zero[WEIR_NETCDF_MAX_DIMS] = {0};
  weir_netcdf_shape shape;
  int dims[WEIR_NETCDF_MAX_DIMS];
  bool held = false;
  int64_t bytes = 1;

  read_attributes(nc, var);
  if (weir_netcdf_look(nc, var, &shape, dims, &held) != WEIR_OK || !held) {
    return false;
  }
  for (int d = 0; d < shape.n_dims; d++) {
    if (!weir_mul_ok(bytes, shape.lengths[d], &bytes)) {
      return false;
    }
  }
  if (shape.text) {
    char *text = NULL;

    if (bytes == 0 || weir_netcdf_read_text(nc, var, zero, &text) != WEIR_OK) {
      return false;
    }
    weir_free(&text);
    return true;
  }
  return bytes <= MOST_BYTES / 8 && weir_netcdf_read(nc, var, zero, shape.lengths, data) == WEIR_OK;
}

/* All of a file or of a group, and of groups in it down to a depth. */
static bool read_all(weir_netcdf *nc, int depth)
{
  int n = 0;
  bool read = false;

  if (weir_netcdf_count(nc, &n) != WEIR_OK) {
    return false;
  }
  read_attributes(nc, WEIR_NETCDF_FILE);
  for (int v = 0; v < n && v < 16; v++) {
    read = read_variable(nc, v) || read;
  }
  if (depth == 0 || weir_netcdf_count_groups(nc, &n) != WEIR_OK) {
    return read;
  }
  for (int i = 0; i < n && i < 4; i++) {
    weir_netcdf *group = NULL;
    char name[300];

    if (weir_netcdf_group_name(nc, i, name, sizeof name) == WEIR_OK &&
        weir_netcdf_open_group(nc, name, &group) == WEIR_OK) {
      read = read_all(group, depth - 1) || read;
      weir_netcdf_close(&group);
    }
  }
  return read;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  const int64_t before = weir_alloc_bytes();
  const double begin = weir_clock();
  const char *const path = fuzz_folder_write(0, "x.nc", bytes, size);
  weir_netcdf *nc = NULL;
  bool read = false;

  weir_log_set_level(WEIR_LOG_ERROR);
  if (reached == 0) {
    weir_reader_reset(LIMIT_MS);
  }
  const weir_status status = weir_netcdf_open(path, &nc);

  if (status != WEIR_OK && status != WEIR_ERR_DATA) {
    weir_print_trace(stderr);
    abort();
  }
  if (status == WEIR_OK) {
    read = read_all(nc, 2);
  }
  reached += read;
  weir_netcdf_close(&nc);
  if (weir_alloc_bytes() != before || weir_clock() - begin > MOST_S) {
    abort();
  }
  return 0;
}
