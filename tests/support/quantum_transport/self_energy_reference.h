/* self_energy_reference.h - random Green's functions of three momenta and their self-energies, of a
 * file that another program wrote. Tests only. */
#ifndef QT_SELF_ENERGY_REFERENCE_H
#define QT_SELF_ENERGY_REFERENCE_H
#include "io/weir_netcdf.h"
#include "support/quantum_transport/self_energy_test.h"
#include "model/units.h"

static inline void read_array(weir_netcdf *nc, const char *name, weir_dtype dtype, void *out)
{
  int64_t start[WEIR_NETCDF_MAX_DIMS] = {0};
  weir_netcdf_shape shape;
  int var;

  assert_ok(weir_netcdf_find(nc, name, &var, &shape));
  assert_int_equal(shape.dtype, dtype);
  assert_ok(weir_netcdf_read(nc, var, start, shape.lengths, out));
}

/* Lesser and greater one after the other. */
static inline void read_both(weir_netcdf *nc, const char *name, weir_c128 *out, int64_t half)
{
  char full[40];

  (void)snprintf(full, sizeof full, "%s_lesser", name);
  read_array(nc, full, WEIR_F64, out);
  (void)snprintf(full, sizeof full, "%s_greater", name);
  read_array(nc, full, WEIR_F64, out + half);
}

enum { N_PAIRS = 8, N_BLOCK = 3 * 3 * 3 };

static inline void read_lists(weir_netcdf *nc, sample *c)
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

typedef struct reference {
  sample c;              /* with G and D                       */
  weir_c128 *sigma, *pi; /* as G; as sample.d                  */
  int64_t half, all;     /* elements of lesser functions alone */
  double power[2];       /* W, that electrons and phonons gain */
} reference;

static inline void reference_init(reference *r)
{
  static const char *const powers[2] = {"P_e", "P_ph"};
  sample *c = &r->c;
  char path[512];
  weir_netcdf *nc = NULL;

  *r = (reference){.c = {.spec = {.n_k = 3,
                                  .n_energies = 24,
                                  .n_frequencies = 5,
                                  .step = 0.1,
                                  .spin = 2,
                                  .retarded = QT_RETARDED_HALF,
                                  .phonons = true,
                                  .threads = 1}}};
  weir_check_shared(path, sizeof path, "quantum/reference/sse_random.nc");
  assert_ok(weir_netcdf_open(path, &nc));
  allocate(4, 2, 3, 3, c);
  read_lists(nc, c);
  size_up(c);
  r->half = weir_tensor_numel(&c->t[QT_GREEN]) / 2;
  r->all = (int64_t)3 * 5 * 12 * 12;
  read_both(nc, "G", data_of(c, QT_GREEN), r->half);
  read_both(nc, "D", c->d, r->all);
  take_blocks(c);
  assert_ok(weir_alloc(2 * r->half, sizeof *r->sigma, (void **)&r->sigma));
  assert_ok(weir_alloc(2 * r->all, sizeof *r->pi, (void **)&r->pi));
  read_both(nc, "Sigma", r->sigma, r->half);
  read_both(nc, "Pi", r->pi, r->all);
  for (int p = 0; p < 2; p++) {
    assert_ok(weir_netcdf_get_numbers(nc, WEIR_NETCDF_FILE, powers[p], &r->power[p], 1));
    r->power[p] *= 2 * M_PI * QT_CONDUCTANCE; /* of eV^2 / hbar */
  }
  weir_netcdf_close(&nc);
}

static inline void reference_fini(reference *r)
{
  sample_fini(&r->c);
  weir_free(&r->sigma);
  weir_free(&r->pi);
}

#endif
