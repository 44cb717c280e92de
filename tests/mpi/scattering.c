/* scattering.c - the self-energies of electrons and phonons over ranks, in ranges of atoms and
 * energies: each rank compares its own points with those of one rank, and with a file that another
 * program wrote; the bytes that MPI is given are those of the regions. The argument is how many
 * ranks were started. */
#include <string.h>

#include "all_ranks.h"
#include "base/weir_random.h"
#include "count_sends.h"
#include "model/ranks.h"
#include "support/quantum_transport/self_energy_reference.h"
#include "model/scattering/volume.h"
#include "pass/weir_pass.h"

enum { MOST_RANKS = 4, ATOMS = 8, WIDTH = 2, ORBITALS = 2 };

static weir_c128 element(uint32_t which, int64_t at)
{
  return (weir_c128){weir_random_uniform(5, which, 0, (uint64_t)at) - 0.5,
                     weir_random_uniform(5, which, 1, (uint64_t)at) - 0.5};
}

/* A ring of atoms and random functions. */
static void ring_init(int64_t n_k, int64_t n_energies, int64_t n_frequencies, qt_retarded kind,
                      sample *c)
{
  *c = (sample){.spec = {.n_k = n_k,
                         .n_energies = n_energies,
                         .n_frequencies = n_frequencies,
                         .step = 0.1,
                         .spin = 2,
                         .retarded = kind,
                         .phonons = true,
                         .threads = 1,
                         .fission = WEIR_FISSION_HOIST,
                         .window = true}};
  allocate(ATOMS, WIDTH, ORBITALS, 1, c);
  for (int32_t a = 0; a < ATOMS; a++) {
    c->list.atom[WIDTH * a] = (a + 1) % ATOMS;
    c->list.atom[WIDTH * a + 1] = (a + ATOMS - 1) % ATOMS;
    c->list.reverse[WIDTH * a] = WIDTH * ((a + 1) % ATOMS) + 1;
    c->list.reverse[WIDTH * a + 1] = WIDTH * ((a + ATOMS - 1) % ATOMS);
  }
  for (int64_t i = 0; i < ATOMS * WIDTH * ORBITALS * ORBITALS; i++) {
    c->list.gradient[i] = element(QT_SELF_ENERGY_ARRAYS, i);
  }
  size_up(c);
  for (int w = 0; w < QT_SIGMA; w++) {
    for (int64_t i = 0; i < weir_tensor_numel(&c->t[w]); i++) {
      data_of(c, (qt_self_energy_array)w)[i] = element((uint32_t)w, i);
    }
  }
}

/* ---- Points of this rank ---- */

/* Copies them from an array of all, or compares. */
static void own_points(const sample *c, const qt_self_energy_spec *s, qt_self_energy_array which,
                       bool compare, weir_tensor *own)
{
  const int dim = which == QT_SIGMA_RETARDED ? 0 : 1;
  const bool electrons = which == QT_GREEN || which == QT_SIGMA || which == QT_SIGMA_RETARDED;
  const qt_point_box b =
      qt_self_energy_points(s, electrons ? QT_POINTS_OF_ELECTRONS : QT_POINTS_OF_PHONONS);
  const weir_tensor *all = &c->t[which];
  const int64_t points = qt_point_box_count(&b), n_e = b.e[1] - b.e[0];
  const int64_t halves = dim == 0 ? 1 : 2;
  const int64_t n = points == 0 ? 0 : weir_tensor_numel(own) / halves / points;

  double most = 0;

  for (int64_t i = 0; i < weir_tensor_numel(all); i++) {
    most = fmax(most, weir_abs_c128(((const weir_c128 *)all->data)[i]));
  }
  for (int64_t i = 0; i < halves * points; i++) {
    const int64_t k = b.k[0] + i % points / n_e, e = b.e[0] + i % points % n_e;
    const int64_t at = (i / points * all->shape[dim] + k) * all->shape[dim + 1] + e;
    weir_c128 *here = (weir_c128 *)own->data + i * n;
    const weir_c128 *there = (const weir_c128 *)all->data + at * n;

    for (int64_t x = 0; x < n && compare; x++) {
      if (!(weir_abs_c128(weir_sub_c128(here[x], there[x])) <= 1e-12 * most)) {
        fail_msg("%s: element %lld of point (%lld, %lld)", qt_self_energy_names[which],
                 (long long)x, (long long)k, (long long)e);
      }
    }
    if (!compare) {
      memcpy(here, there, (size_t)n * sizeof *here);
    }
  }
}

/* Runs the tiles; results of all ranks, those of the sample, are compared. Returns bytes sent. */
static int64_t run_tiles(const sample *c, const qt_tiles *t, double power[2])
{
  qt_self_energy_spec s = c->spec;
  weir_tensor own[QT_SELF_ENERGY_ARRAYS];
  double of_atom[2][16];
  qt_self_energy e;

  s.tiles = t;
  for (int i = 0; i < QT_SELF_ENERGY_ARRAYS; i++) {
    const weir_array_desc d = qt_self_energy_own_desc(&s, (qt_self_energy_array)i);

    assert_ok(weir_tensor_init(&own[i], WEIR_C128, d.rank, d.shape));
    if (i < QT_SIGMA) {
      own_points(c, &s, (qt_self_energy_array)i, false, &own[i]);
    }
  }
  assert_ok(qt_self_energy_create(&s, &e));
  const int64_t before = sends_so_far().bytes;

  assert_ok(qt_self_energy_run(&e, own));
  const int64_t sent = sends_so_far().bytes - before;

  for (int i = QT_SIGMA; i < QT_SELF_ENERGY_ARRAYS; i++) {
    own_points(c, &s, (qt_self_energy_array)i, true, &own[i]);
  }
  qt_power_of_electrons(&s, c->energy, 0, own[QT_GREEN].data, own[QT_SIGMA].data, of_atom[0]);
  qt_power_of_phonons(&s, own[QT_PHONON_SELF].data, own[QT_PHONON_PAIR].data, own[QT_PI_SELF].data,
                      own[QT_PI_PAIR].data, of_atom[1]);
  for (int p = 0; p < 2; p++) {
    power[p] = 0;
    for (int64_t a = 0; a < c->list.n_atoms; a++) {
      power[p] += of_atom[p][a];
    }
  }
  assert_ok(qt_ranks_sum(comm, "power", power, 2));
  for (int i = 0; i < QT_SELF_ENERGY_ARRAYS; i++) {
    weir_tensor_fini(&own[i]);
  }
  qt_self_energy_fini(&e);
  return sent;
}

static double of_all(double x)
{
  assert_ok(qt_ranks_sum(comm, "sum", &x, 1));
  return x;
}

/* That the ranks have what the sample says, and send what the regions say. */
static void check_tiles(const sample *c, int atoms, bool by_frequency)
{
  const qt_self_energy_spec *s = &c->spec;
  qt_tiles t = qt_tiles_of(ranks, atoms, s->n_k, s->n_energies, s->n_frequencies);
  double power[2];
  qt_volume v;

  t.comm = comm;
  t.by_frequency = by_frequency;
  const double sent = of_all((double)run_tiles(c, &t, power));

  assert_ok(qt_volume_of_tiles(s, &t, &v));
  assert_true(sent == qt_volume_total(&v));
  if (rank == 0) {
    print_message("%d ranks, %d x %d tiles%s, %lld momenta: %.0f bytes\n", ranks, atoms, t.energies,
                  by_frequency ? ", points" : "", (long long)s->n_k, sent);
  }
}

/* Every shape of tiles, and points one frequency after another: of one momentum, with Hilbert
 * transforms; of three; and of fewer energies and frequencies than ranks. */
static void ranks_have_what_one_has(void **state)
{
  static const struct {
    int64_t n_k, n_energies, n_frequencies;
    qt_retarded kind;
  } cases[] = {
      {1, 9, 4, QT_RETARDED_FULL}, {3, 9, 4, QT_RETARDED_HALF}, {1, 3, 1, QT_RETARDED_HALF}};

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    sample c;

    ring_init(cases[i].n_k, cases[i].n_energies, cases[i].n_frequencies, cases[i].kind, &c);
    run(&c);
    for (int atoms = 1; atoms <= ranks; atoms++) {
      if (ranks % atoms == 0) {
        check_tiles(&c, atoms, false);
      }
    }
    check_tiles(&c, 1, true);
    sample_fini(&c);
  }
}

/* One atom at a time, each with its exchanges. */
static void ranges_have_what_one_rank_has(void **state)
{
  sample c;

  (void)state;
  ring_init(3, 9, 4, QT_RETARDED_FULL, &c);
  run(&c);
  c.spec.memory = 1;
  check_tiles(&c, 1, false);
  sample_fini(&c);
}

static void reference_file_is_reproduced(void **state)
{
  reference r;

  (void)state;
  if (!weir_netcdf_available()) {
    fprintf(stderr, "skipped: this build has no NetCDF\n");
    skip();
  }
  reference_init(&r);
  r.c.spec.fission = WEIR_FISSION_HOIST;
  r.c.spec.window = true;
  run(&r.c); /* for the retarded one, C and t */
  memcpy(data_of(&r.c, QT_SIGMA), r.sigma, (size_t)(2 * r.half) * sizeof *r.sigma);
  for (int atoms = 1; atoms <= ranks; atoms++) {
    qt_tiles t = qt_tiles_of(ranks, atoms, 3, 24, 5);
    double power[2];

    if (ranks % atoms == 0) {
      t.comm = comm;
      (void)run_tiles(&r.c, &t, power);
      for (int p = 0; p < 2; p++) {
        assert_true(fabs(power[p] - r.power[p]) <= 1e-12 * fabs(r.power[p]));
      }
    }
  }
  check_pi(&r.c, r.pi); /* which ranks were compared with */
  reference_fini(&r);
}

int main(int argc, char **argv)
{
  const weir_comm_cfg usual = {.max_message_bytes = 1 << 20, .tree_max_bytes = 256, .timeout = 60};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranks_have_what_one_has),
      cmocka_unit_test(ranges_have_what_one_rank_has),
      cmocka_unit_test(reference_file_is_reproduced),
  };

  open_all_ranks(argc, argv, MOST_RANKS, &usual);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_comm_close(&comm);
  return failed;
}
