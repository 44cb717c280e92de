/* self_energy_reference_test.c - self-energies and powers of random Green's functions of three
 * momenta against a file that another program wrote. */
#include "io/weir_netcdf.h"
#include "model/scattering/self_energy_test.h"
#include "model/units.h"
#include "pass/weir_pass.h"

static void read_array(weir_netcdf *nc, const char *name, weir_dtype dtype, void *out)
{
  int64_t start[WEIR_NETCDF_MAX_DIMS] = {0};
  weir_netcdf_shape shape;
  int var;

  assert_ok(weir_netcdf_find(nc, name, &var, &shape));
  assert_int_equal(shape.dtype, dtype);
  assert_ok(weir_netcdf_read(nc, var, start, shape.lengths, out));
}

/* Lesser and greater one after the other. */
static void read_both(weir_netcdf *nc, const char *name, weir_c128 *out, int64_t half)
{
  char full[40];

  (void)snprintf(full, sizeof full, "%s_lesser", name);
  read_array(nc, full, WEIR_F64, out);
  (void)snprintf(full, sizeof full, "%s_greater", name);
  read_array(nc, full, WEIR_F64, out + half);
}

enum { N_PAIRS = 8, N_BLOCK = 3 * 3 * 3 };

static void read_lists(weir_netcdf *nc, sample *c)
{
  int32_t pair[N_PAIRS][2];
  double block[N_PAIRS][N_BLOCK];

  read_array(nc, "pairs", WEIR_I32, pair);
  read_array(nc, "gradH", WEIR_F64, block);
  for (int32_t p = 0; p < N_PAIRS; p++) { /* two of each atom */
    c->list.atom[p] = pair[p][1];
    assert_int_equal(pair[p][0], p / 2);
    for (int32_t r = 0; r < N_PAIRS; r++) {
      if (pair[r][0] == pair[p][1] && pair[r][1] == pair[p][0]) {
        c->list.reverse[p] = r;
      }
    }
    for (int i = 0; i < N_BLOCK; i++) {
      c->list.gradient[p * N_BLOCK + i].re = block[p][i];
    }
  }
}

/* Splits of the sums, with windows and without, of all atoms and of one at once. */
typedef struct way {
  int fission;
  bool window;
  double memory;
} way;

static const way ways[] = {
    {WEIR_FISSION_OFF, false, 0},         {WEIR_FISSION_PRODUCTS, true, 0},
    {WEIR_FISSION_HOIST, true, 0},        {WEIR_FISSION_HOIST, true, 1},
    {WEIR_FISSION_REASSOCIATE, false, 0}, {WEIR_FISSION_REASSOCIATE, true, 1}};

static void check_power(weir_netcdf *nc, const sample *c)
{
  double power[2], expected;

  check_conservation(c, power);
  for (int p = 0; p < 2; p++) {
    assert_ok(weir_netcdf_get_numbers(nc, WEIR_NETCDF_FILE, p == 0 ? "P_e" : "P_ph", &expected, 1));
    expected *= 2 * M_PI * QT_CONDUCTANCE; /* of eV^2 / hbar */
    assert_true(fabs(power[p] - expected) <= 1e-12 * fabs(expected));
  }
}

static void reference_file_is_reproduced(void **state)
{
  char path[512];
  weir_netcdf *nc = NULL;
  weir_c128 *sigma, *pi;
  sample c = {.spec = {.n_k = 3,
                       .n_energies = 24,
                       .n_frequencies = 5,
                       .step = 0.1,
                       .spin = 2,
                       .retarded = QT_RETARDED_HALF,
                       .phonons = true,
                       .threads = 1}};

  (void)state;
  if (!weir_netcdf_available()) {
    fprintf(stderr, "skipped: this build has no NetCDF\n");
    skip();
  }
  weir_check_shared(path, sizeof path, "quantum/reference/sse_random.nc");
  assert_ok(weir_netcdf_open(path, &nc));
  allocate(4, 2, 3, 3, &c);
  read_lists(nc, &c);
  size_up(&c);
  const int64_t half = weir_tensor_count(&c.t[QT_GREEN]) / 2, all = (int64_t)3 * 5 * 12 * 12;

  read_both(nc, "G", data_of(&c, QT_GREEN), half);
  read_both(nc, "D", c.d, all);
  take_blocks(&c);
  assert_ok(weir_alloc(2 * half, sizeof *sigma, (void **)&sigma));
  assert_ok(weir_alloc(2 * all, sizeof *pi, (void **)&pi));
  read_both(nc, "Sigma", sigma, half);
  read_both(nc, "Pi", pi, all);
  for (size_t y = 0; y < sizeof ways / sizeof *ways; y++) {
    c.spec.fission = ways[y].fission;
    c.spec.window = ways[y].window;
    c.spec.memory = ways[y].memory;
    run(&c);
    assert_close("Sigma", data_of(&c, QT_SIGMA), sigma, 2 * half);
    check_pi(&c, pi);
    check_power(nc, &c);
  }
  weir_free(&sigma);
  weir_free(&pi);
  weir_netcdf_close(&nc);
  sample_fini(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reference_file_is_reproduced),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
