/* rgf_reference_test.h - a block-tridiagonal matrix of a file, and its Green's functions. Tests
 * only.
 */
#ifndef QT_RGF_REFERENCE_TEST_H
#define QT_RGF_REFERENCE_TEST_H
#include "io/weir_netcdf.h"
#include "support/quantum_transport/rgf_test.h"

/* The file; skips the test where it cannot be read. */
static inline weir_netcdf *rgf_reference_open(void)
{
  weir_netcdf *nc = NULL;
  char path[512];

  if (!weir_netcdf_available()) {
    fprintf(stderr, "skipped: this build has no NetCDF\n");
    skip();
  }
  weir_check_shared(path, sizeof path, "quantum/reference/rgf_random.nc");
  assert_ok(weir_netcdf_open(path, &nc));
  return nc;
}

static inline void rgf_reference_numbers(weir_netcdf *nc, const char *name, void *out,
                                         int64_t count)
{
  int64_t start[WEIR_NETCDF_MAX_DIMS] = {0}, product = 1;
  weir_netcdf_shape shape;
  int var;

  assert_ok(weir_netcdf_find(nc, name, &var, &shape));
  assert_int_equal(shape.dtype, WEIR_F64);
  for (int d = 0; d < shape.n_dims; d++) {
    product *= shape.lengths[d];
  }
  assert_int_equal(product, 2 * count);
  assert_ok(weir_netcdf_read(nc, var, start, shape.lengths, out));
}

/* A matrix of the file as a bank: blocks NAME_diag, NAME_upper and, where there is one, NAME_lower;
 * else minus the adjoint of the upper ones. */
static inline void rgf_reference_read(weir_netcdf *nc, const qt_layout *l, const char *name,
                                      bool has_lower, weir_c128 *bank)
{
  enum { N = 5, ROWS = 6, BLOCK = ROWS * ROWS };
  weir_c128 diagonal[N * BLOCK], upper[N * BLOCK], lower[N * BLOCK];
  char full[40];

  (void)snprintf(full, sizeof full, "%s_diag", name);
  rgf_reference_numbers(nc, full, diagonal, N * BLOCK);
  (void)snprintf(full, sizeof full, "%s_upper", name);
  rgf_reference_numbers(nc, full, upper, (N - 1) * BLOCK);
  if (has_lower) {
    (void)snprintf(full, sizeof full, "%s_lower", name);
    rgf_reference_numbers(nc, full, lower, (N - 1) * BLOCK);
  }
  for (int64_t b = 0; b < N; b++) {
    weir_c128 *to = bank + l->offset[b];

    memcpy(to, diagonal + b * BLOCK, BLOCK * sizeof *to);
    for (int64_t i = 0; i < BLOCK && b + 1 < N; i++) {
      const weir_c128 x = upper[b * BLOCK + i % ROWS * ROWS + i / ROWS];

      to[BLOCK + i] = upper[b * BLOCK + i];
      to[2 * BLOCK + i] = has_lower ? lower[b * BLOCK + i] : (weir_c128){-x.re, x.im};
    }
  }
}
#endif
