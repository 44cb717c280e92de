/* identities_test.c - what holds of the Green's functions of devices between their leads at every
 * wave vector and energy: with electrons, phonons, an overlap, magnetic flux, disorder. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "model/device.h"
#include "model/landauer.h"
#include "model/lead/lead.h"
#include "model/rgf/rgf.h"
#include "model/ribbon.h"
#include "model/silicon/silicon.h"
#include "support/quantum_transport/transmission_test.h"

/* A device at a point (k, E): A = E S - H - Sigma, and Gamma, by modes at eta = 0. */
typedef struct setup {
  const qt_system *s;
  double k[2], energy;
  qt_layout layout;
  weir_c128 *sigma[QT_LEADS], *gamma[QT_LEADS];
  double filled[QT_LEADS]; /* occupation of each lead for read_filled */
  bool transposed;         /* read_a gives the transposed matrix      */
  void *scratch;
} setup;

static void *numbers(int64_t count)
{
  void *out = NULL;

  assert_ok(weir_alloc(count, sizeof(weir_c128), &out));
  return out;
}

static void open_setup(const qt_system *s, const double k[2], double energy, int method, setup *p)
{
  qt_lead_opts o;

  *p = (setup){.s = s, .k = {k[0], k[1]}, .energy = energy};
  weir_opts_default(qt_lead_options, sizeof o, &o);
  o.method = method;
  const double eta = method == QT_LEAD_DECIMATION ? qt_lead_eta(&o, s->particle, energy) : 0;

  assert_ok(qt_layout_create(s->n_blocks, s->block, &p->layout));
  for (int c = 0; c < QT_LEADS; c++) {
    const int64_t count = s->lead[c].n * s->lead[c].n;
    qt_lead_result r = {.residual = 0};
    qt_cell cell;

    p->sigma[c] = numbers(count);
    p->gamma[c] = numbers(count);
    assert_ok(qt_cell_create(&s->lead[c], k, &cell));
    r.sigma[c] = p->sigma[c];
    assert_ok(qt_lead_solve(&o, &cell, energy, eta, &r));
    assert_int_equal(r.method, method);
    qt_lead_gamma(s->lead[c].n, p->sigma[c], p->gamma[c]);
    qt_cell_fini(&cell);
  }
  assert_ok(weir_alloc(qt_rgf_scratch(p->layout.max, true), 1, &p->scratch));
}

static void close_setup(setup *p)
{
  for (int c = 0; c < QT_LEADS; c++) {
    weir_free(&p->sigma[c]);
    weir_free(&p->gamma[c]);
  }
  weir_free(&p->scratch);
  qt_layout_fini(&p->layout);
}

/* out += factor m, of a block that the lead `c` touches. */
static void add_end(const setup *p, int c, int64_t row, int64_t column, const weir_c128 *m,
                    weir_c128 factor, weir_c128 *out)
{
  const int64_t n = p->s->lead[c].n;

  for (int64_t i = 0; i < n * n && row == column && row == (c ? p->s->n_blocks - 1 : 0); i++) {
    out[i].re += factor.re * m[i].re - factor.im * m[i].im;
    out[i].im += factor.re * m[i].im + factor.im * m[i].re;
  }
}

static void transpose(int64_t rows, int64_t columns, weir_c128 *m)
{
  weir_c128 *t = numbers(rows * columns);

  for (int64_t i = 0; i < rows * columns; i++) {
    t[i % columns * rows + i / columns] = m[i];
  }
  memcpy(m, t, (size_t)(rows * columns) * sizeof *m);
  weir_free(&t);
}

/* qt_blocks.read of A. */
static void read_a(const void *context, int64_t row, int64_t column, weir_c128 *out)
{
  const setup *p = context;
  const int64_t at[2] = {p->transposed ? column : row, p->transposed ? row : column};
  const int64_t rows = qt_layout_rows(&p->layout, at[0]),
                columns = qt_layout_rows(&p->layout, at[1]);

  memset(out, 0, (size_t)(rows * columns) * sizeof *out);
  for (int64_t i = 0; i < rows && row == column && p->s->s.count == 0; i++) {
    out[i * (rows + 1)].re = p->energy;
  }
  qt_system_add_block(p->s, &p->s->s, p->k, at[0], at[1], (weir_c128){p->energy, 0}, out);
  qt_system_add_block(p->s, &p->s->h, p->k, at[0], at[1], (weir_c128){-1, 0}, out);
  for (int c = 0; c < QT_LEADS; c++) {
    add_end(p, c, row, column, p->sigma[c], (weir_c128){-1, 0}, out);
  }
  if (p->transposed) {
    transpose(rows, columns, out);
  }
}

/* The same of Sigma^< = i sum over leads of f Gamma; f - 1 instead of f gives Sigma^>. */
static void read_filled(const void *context, int64_t row, int64_t column, weir_c128 *out)
{
  const setup *p = context;

  memset(out, 0,
         (size_t)(qt_layout_rows(&p->layout, row) * qt_layout_rows(&p->layout, column)) *
             sizeof *out);
  for (int c = 0; c < QT_LEADS; c++) {
    add_end(p, c, row, column, p->gamma[c], (weir_c128){0, p->filled[c]}, out);
  }
}

/* G^R, G^< and G^> of leads that are filled so far. */
static void solve(setup *p, double left, double right, weir_c128 *g, weir_c128 *lesser,
                  weir_c128 *greater, weir_c128 *corner)
{
  const qt_rgf_job job = {.layout = &p->layout,
                          .a = {read_a, p},
                          .sigma = {read_filled, p},
                          .g = {g, 1},
                          .lesser = {lesser, 1},
                          .greater = {greater, 1},
                          .corner = corner};

  p->filled[QT_LEFT] = left;
  p->filled[QT_RIGHT] = right;
  assert_true(qt_rgf_solve(&job, p->scratch));
}

/* Largest |x - y + z (G^R - G^A)| of all blocks, of the largest |x|. */
static double mismatch(const qt_layout *l, const weir_c128 *x, const weir_c128 *y, double z,
                       const weir_c128 *g)
{
  double max = 0, worst = 0;

  for (int64_t item = 0; item < 3 * l->n_blocks; item++) {
    const int64_t row = item / 3, column = row + item % 3 - 1;

    if (column < 0 || column >= l->n_blocks) {
      continue;
    }
    const int64_t rows = qt_layout_rows(l, row), columns = qt_layout_rows(l, column);
    const int64_t here = qt_layout_at(l, row, column), back = qt_layout_at(l, column, row);

    for (int64_t i = 0; i < rows * columns; i++) {
      const weir_c128 a = g[here + i], b = g[back + i % columns * rows + i / columns];
      const weir_c128 v = x[here + i], w = y != NULL ? y[here + i] : (weir_c128){0, 0};

      const double d = hypot(v.re - w.re + z * (a.re - b.re), v.im - w.im + z * (a.im + b.im));

      worst = d >= worst || isnan(d) ? d : worst;
      max = fmax(max, hypot(v.re, v.im));
    }
  }
  return isnan(worst) || max == 0 ? INFINITY : worst / max;
}

/* G^> - G^< = G^R - G^A of leads filled to different degrees, with both from their own Sigma;
 * A = i (G^R - G^A) = G^R (Gamma_L + Gamma_R) G^A; T_LR = T_RL. */
static double check_point(const qt_system *s, const double k[2], double energy)
{
  setup p;

  open_setup(s, k, energy, QT_LEAD_MODES, &p);
  const int64_t n = s->lead[QT_LEFT].n, m = s->lead[QT_RIGHT].n, count = p.layout.count;
  weir_c128 *g = numbers(count), *lesser = numbers(count), *greater = numbers(count);
  weir_c128 *own = numbers(count), *unused = numbers(count), *corner = numbers(n * m);
  weir_c128 *memory = numbers(2 * n * m);

  solve(&p, 0.8 - 1, 0.3 - 1, g, own, unused, corner); /* G^> as it is */
  solve(&p, 0.8, 0.3, g, lesser, greater, corner);
  assert_true(mismatch(&p.layout, own, lesser, -1, g) < 1e-12);
  assert_true(mismatch(&p.layout, greater, own, 0, g) < 1e-12);
  solve(&p, 1, 1, g, lesser, greater, corner);
  assert_true(mismatch(&p.layout, lesser, NULL, 1, g) < 1e-10); /* i A = G^A - G^R */
  const double t = qt_rgf_trace(n, m, p.gamma[QT_LEFT], corner, p.gamma[QT_RIGHT], memory);

  p.transposed = true; /* the corner of its inverse is G[last, first], transposed */
  const qt_blocks turned = {read_a, &p};

  assert_true(qt_rgf_corner(&p.layout, &turned, corner, p.scratch));
  transpose(n, n, p.gamma[QT_LEFT]);
  transpose(m, m, p.gamma[QT_RIGHT]);
  assert_near(qt_rgf_trace(n, m, p.gamma[QT_LEFT], corner, p.gamma[QT_RIGHT], memory), t, 1e-12);
  weir_free(&g);
  weir_free(&lesser);
  weir_free(&greater);
  weir_free(&own);
  weir_free(&unused);
  weir_free(&corner);
  weir_free(&memory);
  close_setup(&p);
  return t;
}

static void check_system(const qt_system *s, int64_t n, const double *energy)
{
  static const double wave_vectors[3][2] = {{0, 0}, {0.13, 0.29}, {-0.13, -0.29}};
  const bool has_k = s->periodic[1] || s->periodic[2] || s->h.count > 1;
  double moved = 0;

  for (int64_t i = 0; i < n; i++) {
    for (int k = 0; k < (has_k ? 3 : 1); k++) {
      moved = fmax(moved, check_point(s, wave_vectors[k], energy[i]));
    }
  }
  assert_true(moved > 0.01);
}

static void build(const char *kind, const void *opts, qt_system *s)
{
  *s = (qt_system){.n = 0};
  assert_ok(qt_device_find(kind)->build(opts, 5, s));
}

static void identities_hold_at_every_point(void **state)
{
  static const double energy[] = {-2.23, -0.61, 0.47, 1.71};
  static const char *const kinds[] = {"square", "agnr", "zgnr"};
  const ribbon ribbons[] = {
      {.width = 3, .length = 6, .hopping = -1, .disorder = 1, .lead_onsite = {0, 0.4}},
      {.width = 3, .length = 6, .hopping = -1, .disorder = 1, .periodic = -0.7, .merge = 2},
      {.width = 2, .length = 7, .hopping = -1, .disorder = 0.5, .overlap = 0.1},
      {.width = 2, .length = 6, .onsite = 3, .hopping = -1, .particle = QT_PHONONS},
  };
  qt_system s;

  for (size_t i = 0; i < sizeof ribbons / sizeof *ribbons; i++) {
    ribbon_create(&ribbons[i], &s);
    check_system(&s, 4,
                 ribbons[i].particle == QT_PHONONS ? (double[]){1.1, 2.3, 3.9, 4.7} : energy);
    qt_system_fini(&s);
  }
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    qt_ribbon_opts o;

    weir_opts_default(qt_device_find(kinds[i])->opts, sizeof o, &o);
    o.width = 4;
    o.length = 5;
    o.hopping = -1;
    o.flux = 0.07;
    o.disorder = 0.6;
    o.drop = -0.2;
    build(kinds[i], &o, &s);
    check_system(&s, 4, energy);
    qt_system_fini(&s);
  }
}

static void identities_hold_of_silicon(void **state)
{
  static const double energy[] = {-1.7, 3.1}, square[] = {0.0004, 0.0016};
  qt_silicon_opts o;
  qt_system s;

  for (int particle = 0; particle < 2; particle++) {
    weir_opts_default(qt_device_find("silicon_fin")->opts, sizeof o, &o);
    o.length = 3;
    o.height = 1;
    o.particle = particle;
    build("silicon_fin", &o, &s);
    check_system(&s, 2, particle == QT_PHONONS ? square : energy);
    qt_system_fini(&s);
  }
}

/* A chain with overlap s of neighbours: the integral of A[a,a] / 2 pi over the band is S^-1[a,a] of
 * the infinite chain, 1 / sqrt(1 - 4 s^2); s = 0: 1. */
static void spectral_functions_sum_to_the_inverse_overlap(void **state)
{
  enum { POINTS = 200, LENGTH = 5, SITE = 2 };

  for (int i = 0; i < 3; i++) {
    const double overlap = 0.12 * i;
    const ribbon r = {.width = 1, .length = LENGTH, .hopping = -1, .overlap = overlap};
    weir_c128 g[3 * LENGTH], lesser[3 * LENGTH], greater[3 * LENGTH], corner;
    double sum = 0;
    qt_system s;

    ribbon_create(&r, &s);
    for (int j = 0; j < POINTS; j++) { /* E = -2 cos k / (1 + 2 s cos k) */
      const double k = M_PI * (j + 0.5) / POINTS, norm = 1 + 2 * overlap * cos(k);
      const double slope = 2 * sin(k) / (norm * norm);
      setup p;

      open_setup(&s, (const double[2]){0, 0}, -2 * cos(k) / norm, QT_LEAD_MODES, &p);
      solve(&p, 1, 1, g, lesser, greater, &corner);
      sum -= M_PI / POINTS * slope * g[qt_layout_at(&p.layout, SITE, SITE)].im / M_PI;
      close_setup(&p);
    }
    assert_near(sum, 1 / sqrt(1 - 4 * overlap * overlap), 1e-3);
    qt_system_fini(&s);
  }
}

/* With both leads equally full no bond carries a current where H is real, nor at k and -k
 * together. */
static void bonds_carry_nothing_in_equilibrium(void **state)
{
  static const double energy[] = {-1.61, -0.37, 0.83}, k[][2] = {{0, 0}, {0, 0.17}, {0, -0.17}};
  const ribbon ribbons[] = {
      {.width = 4, .length = 8, .hopping = -1, .disorder = 1.5},
      {.width = 4, .length = 8, .hopping = -1, .disorder = 1.5, .periodic = -1},
      {.width = 2, .length = 7, .hopping = -1, .disorder = 0.5, .overlap = 0.1},
  };

  for (size_t i = 0; i < sizeof ribbons / sizeof *ribbons; i++) {
    qt_transport_spec spec = ribbon_spec(QT_LEAD_MODES, 3, energy);
    const bool has_k = ribbons[i].periodic != 0;
    qt_transport out;

    spec.n_k = has_k ? 3 : 1;
    spec.k = k;
    spec.bond_currents = true;
    assert_ok(ribbon_transport(&ribbons[i], &spec, &out));
    const int64_t count = 3 * qt_sparse_count(&out.bonds); /* of a wave vector */
    double max = 0, rest = 0;

    for (int64_t j = 0; j < count; j++) {
      const double *left = out.bond_current[QT_LEFT], *right = out.bond_current[QT_RIGHT];
      const int64_t plus = has_k ? count + j : j, minus = has_k ? 2 * count + j : j;

      max = fmax(max, fabs(left[j]));
      rest = fmax(rest, fabs(left[j] + right[j]));
      rest = fmax(rest, fabs(left[plus] + right[plus] + left[minus] + right[minus]));
    }
    assert_true(max > 0.05 && rest < 1e-8 * max);
    qt_transport_fini(&out);
  }
}

/* h += by s, whose elements are all among those of h; s empty: the identity. */
static void shift_energies(qt_bloch *h, const qt_bloch *s, double by)
{
  qt_sparse *m = &h->matrix[0];

  for (int64_t i = 0; i < m->rows; i++) {
    for (int64_t at = m->start[i]; at < m->start[i + 1]; at++) {
      const weir_c128 x = s->count > 0 ? qt_sparse_get(&s->matrix[0], i, m->column[at])
                                       : (weir_c128){i == m->column[at], 0};

      m->value[at].re += by * x.re;
      m->value[at].im += by * x.im;
    }
  }
}

/* Largest difference, relative to the largest number or 1. */
static double apart(int64_t n, const double *a, const double *b)
{
  double max = 1, worst = 0;

  for (int64_t i = 0; i < n; i++) {
    max = fmax(max, fabs(a[i]));
    worst = isnan(a[i] - b[i]) ? INFINITY : fmax(worst, fabs(a[i] - b[i]));
  }
  return worst / max;
}

/* Spectra of H and E, and of H + S c and E + c, by modes and by contour integrals; currents at
 * chemical potentials that are shifted, too. */
static void check_shift(qt_system *s, const double k[2], int64_t n, const double *energy)
{
  const double by = 0.3;
  double shifted[8];

  assert_true(n <= 8);
  for (int64_t i = 0; i < n; i++) {
    shifted[i] = energy[i] + by;
  }
  for (int method = QT_LEAD_MODES; method <= QT_LEAD_CONTOUR; method++) {
    qt_transport out[2];
    double current[2], energies[2];

    for (int i = 0; i < 2; i++) {
      qt_transport_spec spec = ribbon_spec(method, n, i == 0 ? energy : shifted);
      const double mu = i == 0 ? energy[1] : shifted[1];
      const qt_reservoir lead[] = {{mu + 0.3, 400}, {mu - 0.2, 250}};

      spec.k = (const double(*)[2])k;
      spec.lead_dos = spec.bond_currents = true;
      assert_ok(qt_transport_create(s, &spec, &out[i]));
      current[i] = qt_electron_current(n, spec.energy, out[i].transmission, lead, 2);
      energies[i] = qt_electron_energy_current(n, spec.energy, out[i].transmission, lead, 2);
      shift_energies(&s->h, &s->s, i == 0 ? by : -by);
      for (int c = 0; c < QT_LEADS; c++) {
        shift_energies(&s->lead[c].cell, &s->lead[c].overlap, i == 0 ? by : -by);
        if (s->lead[c].next_overlap.count > 0) {
          shift_energies(&s->lead[c].next, &s->lead[c].next_overlap, i == 0 ? by : -by);
        }
      }
    }
    const int64_t bonds = n * qt_sparse_count(&out[0].bonds);

    assert_true(apart(n, out[0].transmission, out[1].transmission) < 1e-12);
    for (int c = 0; c < QT_LEADS; c++) {
      assert_true(apart(n * s->n, out[0].lead_dos[c], out[1].lead_dos[c]) < 1e-12);
      assert_true(apart(bonds, out[0].bond_current[c], out[1].bond_current[c]) < 1e-11);
    }
    assert_true(fabs(current[1] / current[0] - 1) < 1e-12 && current[0] > 0);
    assert_true(fabs(energies[1] - energies[0] - by * current[0]) < 1e-12 * by * current[0]);
    qt_transport_fini(&out[0]);
    qt_transport_fini(&out[1]);
  }
}

static void a_shift_of_all_energies_changes_nothing(void **state)
{
  static const double k[2] = {0, 0.17}, energy[] = {-1.57, -0.61, 0.47, 1.71};
  static const double silicon[] = {-3.6, -2.4, 5.6, 9.6};
  const ribbon ribbons[] = {
      {.width = 3, .length = 6, .hopping = -1, .disorder = 1, .lead_onsite = {0, 0.4}},
      {.width = 3, .length = 6, .hopping = -1, .disorder = 1, .periodic = -0.7, .merge = 2},
      {.width = 2, .length = 7, .onsite = 0.1, .hopping = -1, .disorder = 0.5, .overlap = 0.1},
  };
  const qt_device *d = qt_device_find("silicon_wire");
  qt_silicon_opts o;
  qt_system s;

  for (size_t i = 0; i < sizeof ribbons / sizeof *ribbons; i++) {
    ribbon_create(&ribbons[i], &s);
    check_shift(&s, k, 4, energy);
    qt_system_fini(&s);
  }
  weir_opts_default(d->opts, sizeof o, &o);
  o.length = 3;
  o.height = o.width = 1;
  build("silicon_wire", &o, &s);
  check_shift(&s, (const double[2]){0, 0}, 4, silicon);
  qt_system_fini(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(identities_hold_at_every_point),
      cmocka_unit_test(identities_hold_of_silicon),
      cmocka_unit_test(spectral_functions_sum_to_the_inverse_overlap),
      cmocka_unit_test(bonds_carry_nothing_in_equilibrium),
      cmocka_unit_test(a_shift_of_all_energies_changes_nothing),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
