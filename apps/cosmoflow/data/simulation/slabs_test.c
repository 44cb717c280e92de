/* slabs_test.c - slabs cover the planes; transforms of a mesh that ranks share, and the plane after
 * a slab, are those of one rank; coefficients are those of FFTW's MPI library. */
#include <string.h>
#include "base/weir_random.h"
#include "comm/weir_inproc.h"
#include "support/cosmoflow/mesh_check.h"

static void slabs_cover_all_planes(void **state)
{
  for (int64_t n = 1; n <= 40; n++) {
    for (int ranks = 1; ranks <= 45; ranks++) {
      int64_t next = 0;

      for (int r = 0; r < ranks; r++) {
        const cf_range slab = cf_slab(n, ranks, r);

        assert_int_equal(slab.first, next);
        assert_in_range(slab.count, n / ranks, (n + ranks - 1) / ranks);
        next += slab.count;
        for (int64_t plane = slab.first; plane < next; plane++) {
          assert_int_equal(cf_slab_owner(n, ranks, plane), r);
        }
      }
      assert_int_equal(next, n);
    }
  }
}

/* A field of one rank, forth and back. */
typedef struct whole {
  int64_t n;
  const float *values, *coefficients, *again;
} whole;

/* Compares rows of numbers, without the padding. */
static void compare(const float *a, const float *b, int64_t floats)
{
  assert_memory_equal(a, b, (size_t)floats * sizeof *a);
}

static weir_status transform(weir_comm *comm, void *context)
{
  const whole *const w = context;
  const int64_t n = w->n;
  cf_mesh *m = NULL;
  float *f = NULL;

  assert_ok(cf_mesh_create_shared(n, comm, &m));
  assert_ok(cf_mesh_field(m, &f));
  const int64_t pitch = cf_mesh_pitch(m);
  const cf_range slab = cf_mesh_slab(m);

  memcpy(f, w->values + slab.first * n * pitch, (size_t)(slab.count * n * pitch) * sizeof *f);
  cf_mesh_forward(m, f);
  for (int64_t row = 0; row < n * slab.count; row++) {
    const int64_t x = row / slab.count, y = slab.first + row % slab.count;

    compare(f + row * pitch, w->coefficients + (x * n + y) * pitch, n / 2 * 2 + 2);
  }
  cf_mesh_backward(m, f);
  for (int64_t row = 0; row < slab.count * n; row++) {
    compare(f + row * pitch, w->again + (slab.first * n + row) * pitch, n);
  }
  if (cf_mesh_comm(m) != NULL) {
    const int64_t next = (slab.first + slab.count) % n;

    cf_mesh_next_plane(m, f);
    for (int64_t y = 0; y < n; y++) {
      compare(f + (slab.count * n + y) * pitch, w->again + (next * n + y) * pitch, n);
    }
  }
  weir_free(&f);
  cf_mesh_destroy(&m);
  return WEIR_OK;
}

static void transforms_do_not_depend_on_ranks(void **state)
{
  static const int64_t sides[] = {2, 7, 12, 18, 32};

  NEEDS_FFTW();
  for (size_t s = 0; s < sizeof sides / sizeof sides[0]; s++) {
    const int64_t n = sides[s];
    cf_mesh *m = NULL;
    float *f[3] = {NULL};

    assert_ok(cf_mesh_create(n, &m));
    const size_t bytes = (size_t)(n * n * cf_mesh_pitch(m)) * sizeof(float);

    for (int i = 0; i < 3; i++) {
      assert_ok(cf_mesh_field(m, &f[i]));
    }
    cf_noise(4, n, cf_mesh_pitch(m), 0, n, f[0]);
    memcpy(f[1], f[0], bytes);
    cf_mesh_forward(m, f[1]);
    memcpy(f[2], f[1], bytes);
    cf_mesh_backward(m, f[2]);
    whole w = {n, f[0], f[1], f[2]};

    for (int ranks = 1; ranks <= (n < 5 ? n : 5); ranks++) {
      assert_ok(weir_inproc_run(&(weir_inproc){.ranks = ranks, .seed = 1}, transform, &w));
    }
    for (int i = 0; i < 3; i++) {
      weir_free(&f[i]);
    }
    cf_mesh_destroy(&m);
  }
}

/* Coefficients of golden_density, as f32, on 10^3 points by fftw_mpi_plan_dft_r2c_3d of FFTW 3.3.10
 * in double precision with FFTW_MPI_TRANSPOSED_OUT (whose slabs, of y, are ours), over n^3: the
 * same on 2 and on 3 ranks. */
enum { GOLDEN = 10 };
static const struct {
  int64_t x, y, z;
  double re, im;
} fftw_mpi[] = {
    {0, 0, 0, 0.997583338499069, 0},
    {1, 0, 0, 0.00044828879266213, -0.00246609879428327},
    {0, 1, 0, 0.000792627485889488, -0.00949790463193897},
    {0, 0, 1, 0.00284058683984782, 0.00176489373469598},
    {2, 3, 4, 0.00661803450843368, 0.00878402223302297},
    {9, 1, 2, 0.00438196630492523, 0.00833499493158052},
    {5, 5, 5, -0.00199999988079071, 0},
    {4, 6, 1, -0.00370820406641379, 0.00733093726362287},
    {7, 8, 3, -0.00938196582271352, -0.00290616989865398},
    {3, 9, 5, -0.00759016940525478, -0.00842075208817927},
    {8, 2, 0, 0.00334552188512211, 0.00148584305132364},
    {6, 4, 2, -0.00785410108190266, 0.00352671127362322},
};

static weir_status compare_with_fftw_mpi(weir_comm *comm, void *context)
{
  const double *const rho = context;
  cf_mesh *m = NULL;
  float *f = NULL;

  assert_ok(cf_mesh_create_shared(GOLDEN, comm, &m));
  assert_ok(cf_mesh_field(m, &f));
  const int64_t pitch = cf_mesh_pitch(m);
  const cf_range slab = cf_mesh_slab(m);

  for (int64_t row = 0; row < slab.count * GOLDEN; row++) {
    for (int64_t z = 0; z < GOLDEN; z++) {
      f[row * pitch + z] = (float)rho[(slab.first * GOLDEN + row) * GOLDEN + z];
    }
  }
  cf_mesh_forward(m, f);
  for (size_t i = 0; i < sizeof fftw_mpi / sizeof fftw_mpi[0]; i++) {
    const int64_t y = fftw_mpi[i].y - slab.first;

    if (y >= 0 && y < slab.count) {
      const float *const c = f + (fftw_mpi[i].x * slab.count + y) * pitch + 2 * fftw_mpi[i].z;
      const double near = i == 0 ? 3e-7 : 2e-8; /* the mean is a hundred times the others */

      assert_true(fabs((double)c[0] - fftw_mpi[i].re) < near);
      assert_true(fabs((double)c[1] - fftw_mpi[i].im) < near);
    }
  }
  weir_free(&f);
  cf_mesh_destroy(&m);
  return WEIR_OK;
}

static void coefficients_are_those_of_fftw_mpi(void **state)
{
  double rho[GOLDEN * GOLDEN * GOLDEN];

  NEEDS_FFTW();
  golden_density(GOLDEN, rho);
  for (int ranks = 1; ranks <= 3; ranks++) {
    assert_ok(
        weir_inproc_run(&(weir_inproc){.ranks = ranks, .seed = 1}, compare_with_fftw_mpi, rho));
  }
}

static weir_status refuse(weir_comm *comm, void *context)
{
  cf_mesh *m = NULL;

  (void)context;
  assert_int_equal(cf_mesh_create_shared(2, comm, &m), WEIR_ERR_CONFIG);
  assert_null(m);
  assert_non_null(strstr(weir_last_message(), "3 ranks cannot share 2 planes"));
  return WEIR_OK;
}

static void more_ranks_than_planes_are_refused(void **state)
{
  NEEDS_FFTW();
  assert_ok(weir_inproc_run(&(weir_inproc){.ranks = 3, .seed = 1}, refuse, NULL));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slabs_cover_all_planes),
      cmocka_unit_test(transforms_do_not_depend_on_ranks),
      cmocka_unit_test(coefficients_are_those_of_fftw_mpi),
      cmocka_unit_test(more_ranks_than_planes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
