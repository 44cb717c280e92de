/* lead_test.c - closed forms, methods against each other, energies where one of them fails. */
#include "support/quantum_transport/lead_test.h"

#include "base/weir_alloc.h"
#include "ops/linear/weir_linear.h"

enum { METHODS = QT_LEAD_CONTOUR + 1 };

static subject s;

/* solve with the modes that the leads send, which must make Gamma. */
static weir_status solve_incoming(int method, double energy)
{
  static weir_c128 gamma[CAPACITY * CAPACITY];
  const int64_t n = s.cell.n;

  s.opts.method = method;
  s.got = (qt_lead_result){.sigma = {s.sigma[QT_LEFT], s.sigma[QT_RIGHT]},
                           .incoming = {s.incoming[QT_LEFT], s.incoming[QT_RIGHT]}};
  WEIR_TRY(qt_lead_solve(&s.opts, &s.cell, energy, 0, &s.got));
  for (int side = 0; side < QT_LEADS; side++) {
    double size = 0;

    qt_lead_gamma(n, s.sigma[side], gamma);
    for (int64_t i = 0; i < n * n; i++) {
      size = fmax(size, hypot(s.sigma[side][i].re, s.sigma[side][i].im));
      for (int64_t m = 0; m < s.got.n_modes; m++) {
        const weir_c128 x = s.incoming[side][m * n + i / n], y = s.incoming[side][m * n + i % n];

        gamma[i].re -= x.re * y.re + x.im * y.im;
        gamma[i].im -= x.im * y.re - x.re * y.im;
      }
    }
    for (int64_t i = 0; i < n * n; i++) {
      assert_true(hypot(gamma[i].re, gamma[i].im) <= 1e-8 * size);
    }
  }
  return WEIR_OK;
}

static void make_chain(double e0, double t)
{
  begin(&s, 1);
  s.h0[0].re = e0;
  s.h1[0].re = t;
}

/* Sigma = t^2 g = (x -+ sqrt(x^2 - 4 t^2)) / 2, the branch that is retarded or decays. */
static weir_c128 chain_sigma(double x, double t)
{
  const double r = x * x - 4 * t * t;

  return r < 0 ? (weir_c128){x / 2, -sqrt(-r) / 2}
               : (weir_c128){x / 2 - copysign(sqrt(r), x) / 2, 0};
}

static void chains_have_their_closed_form(void **state)
{
  const double e0 = 0.3, hoppings[] = {-1, 0.7};

  for (int h = 0; h < 2; h++) {
    for (double x = -3.05; x < 3; x += 0.1) {
      const double t = hoppings[h];
      const weir_c128 expected = chain_sigma(x, t);
      const bool inside = fabs(x) < 2 * fabs(t);

      make_chain(e0, t);
      for (int method = 0; method < METHODS; method++) {
        const bool broadened = method == QT_LEAD_DECIMATION;

        assert_ok(solve(&s, method, e0 + x, broadened ? 1e-9 : 0));
        assert_int_equal(s.got.method, method);
        assert_int_equal(s.got.n_modes, inside);
        assert_true(s.got.residual < (broadened ? 1e-8 : 1e-13));
        for (int side = 0; side < QT_LEADS; side++) {
          assert_true(distance(1, s.sigma[side], &expected) < (broadened ? 2e-8 : 1e-13));
        }
      }
    }
  }
}

/* The cell has its eigenvalue there: decimation divides by eta. Modes take over, and where the
 * energy is broadened by more than leads are, a doubled cell. */
static void energy_of_the_cell_itself(void **state)
{
  const weir_c128 expected = {0, -1};

  for (double eta = 1e-5; eta > 1e-10; eta /= 10) {
    make_chain(0.25, -1);
    assert_ok(solve(&s, QT_LEAD_DECIMATION, 0.25, eta));
    assert_true(s.got.residual <= s.opts.residual);
    assert_true(s.got.method == (eta < 2e-8 ? QT_LEAD_MODES : s.got.method));
    assert_true(eta < 2e-6 || s.got.method == QT_LEAD_DECIMATION);
    assert_true(distance(1, s.sigma[QT_LEFT], &expected) < eta + 1e-7);
    assert_true(distance(1, s.sigma[QT_RIGHT], &expected) < eta + 1e-7);
  }
}

static double residual_of(int side, double energy)
{
  static weir_c128 a[CAPACITY * CAPACITY], up[CAPACITY * CAPACITY], down[CAPACITY * CAPACITY],
      g[CAPACITY * CAPACITY];
  static weir_c128 t[CAPACITY * CAPACITY], next[CAPACITY * CAPACITY];
  static char work[1 << 18];
  const int64_t n = s.cell.n, count = n * n;
  const weir_linear_factor first = {side == QT_RIGHT ? up : down, n, false};
  const weir_linear_factor second = {side == QT_RIGHT ? down : up, n, false};

  memset(g, 0, sizeof g);
  for (int64_t i = 0; i < count; i++) {
    const int64_t row = i / n, column = i % n, turned = column * n + row;
    const weir_c128 s0 = s.cell.s0 != NULL ? s.s0[i] : (weir_c128){row == column, 0};
    const weir_c128 s1 = s.cell.s1 != NULL ? s.s1[i] : (weir_c128){0, 0};
    const weir_c128 s2 = s.cell.s1 != NULL ? s.s1[turned] : (weir_c128){0, 0};

    a[i] = (weir_c128){energy * s0.re - s.h0[i].re - s.sigma[side][i].re,
                       energy * s0.im - s.h0[i].im - s.sigma[side][i].im};
    up[i] = (weir_c128){energy * s1.re - s.h1[i].re, energy * s1.im - s.h1[i].im};
    down[i] = (weir_c128){energy * s2.re - s.h1[turned].re, -energy * s2.im + s.h1[turned].im};
    g[i].re = row == column;
  }
  assert_true(weir_linear_solve_work(n, n) <= (int64_t)sizeof work);
  assert_true(weir_linear_solve(n, n, a, g, work));
  weir_linear_multiply(n, n, n, 1, first, (weir_linear_factor){g, n, false}, 0, t, n);
  weir_linear_multiply(n, n, n, 1, (weir_linear_factor){t, n, false}, second, 0, next, n);
  return distance(count, next, s.sigma[side]) / size_of(count, next);
}

/* Methods agree, modes are a fixed point, Gamma has no negative part, of leads with couplings of
 * full and of lower rank, with overlap and without. */
static void methods_agree_on_random_wires(void **state)
{
  static weir_c128 kept[QT_LEADS][CAPACITY * CAPACITY], gamma[CAPACITY * CAPACITY];
  int with_modes = 0, without = 0;

  for (uint64_t seed = 0; seed < 60; seed++) {
    const int64_t n = 1 + (int64_t)(seed % 9), rank = seed % 3 == 0 ? n : (n + 1) / 2;

    make_random(&s, n, rank, seed % 2, seed);
    for (double energy = -2.513; energy < 2.6; energy += 0.731) {
      assert_ok(solve(&s, QT_LEAD_MODES, energy, 0));
      const int64_t n_modes = s.got.n_modes;

      assert_int_equal(s.got.method, QT_LEAD_MODES);
      assert_true(s.got.residual < 1e-10);
      for (int side = 0; side < QT_LEADS; side++) {
        double trace = 0;

        assert_true(residual_of(side, energy) < 1e-10);
        memcpy(kept[side], s.sigma[side], sizeof kept[side]);
        qt_lead_gamma(n, s.sigma[side], gamma);
        for (int64_t i = 0; i < n; i++) {
          assert_true(gamma[i * n + i].re > -1e-12 * size_of(n * n, s.sigma[side]));
          trace += gamma[i * n + i].re;
        }
        assert_true(n_modes > 0 ? trace > 1e-6 : trace < 1e-10);
      }
      with_modes += n_modes > 0;
      without += n_modes == 0;
      assert_ok(solve(&s, QT_LEAD_CONTOUR, energy, 0));
      assert_int_equal(s.got.n_modes, n_modes);
      assert_int_equal(s.got.method, QT_LEAD_CONTOUR);
      for (int side = 0; side < QT_LEADS; side++) {
        assert_true(distance(n * n, kept[side], s.sigma[side]) < 1e-8 * size_of(n * n, kept[side]));
      }
      for (int method = QT_LEAD_MODES; method < METHODS; method++) {
        assert_ok(solve_incoming(method, energy));
        assert_int_equal(s.got.method, method);
        assert_int_equal(s.got.n_modes, n_modes);
      }
      assert_ok(solve(&s, QT_LEAD_DECIMATION, energy, 1e-9));
      assert_int_equal(s.got.n_modes, n_modes);
      for (int side = 0; side < QT_LEADS; side++) {
        assert_true(distance(n * n, kept[side], s.sigma[side]) < 1e-6 * size_of(n * n, kept[side]));
      }
    }
  }
  assert_true(with_modes > 50 && without > 50);
}

/* Armchair graphene, `lines` dimer lines, 2 sites of each in a cell, hopping -1. Every second line
 * couples to the next cell. */
static void make_armchair(int64_t lines)
{
  begin(&s, 2 * lines);
  for (int64_t i = 0; i < lines; i++) {
    const int64_t a = 2 * i, b = a + 1, n = s.cell.n;

    if (i % 2 == 0) { /* the bond along the ribbon is within the cell */
      s.h0[a * n + b].re = s.h0[b * n + a].re = -1;
    } else { /* and of odd lines between cells */
      s.h1[b * n + a].re = -1;
    }
    if (i + 1 < lines) {
      const int64_t c = a + 2, d = a + 3;

      s.h0[a * n + c].re = s.h0[c * n + a].re = -1;
      s.h0[b * n + d].re = s.h0[d * n + b].re = -1;
    }
  }
}

/* Channel r is open where |E| lies between sqrt(1 + 4 c^2) and |1 + 2 c|, c = cos(r pi / (N + 1)).
 */
static int64_t armchair_channels(int64_t lines, double energy)
{
  int64_t open = 0;

  for (int64_t r = 1; r <= lines; r++) {
    const double c = cos((double)r * M_PI / (double)(lines + 1));
    const double one = sqrt(1 + 4 * c * c), other = fabs(1 + 2 * c);

    open += fabs(energy) > fmin(one, other) && fabs(energy) < fmax(one, other);
  }
  return open;
}

static void armchair_cells_have_singular_couplings(void **state)
{
  for (int64_t lines = 2; lines <= 10; lines++) {
    for (double energy = -3.21; energy < 3.3; energy += 0.37) {
      for (int method = 0; method < METHODS; method++) {
        make_armchair(lines);
        assert_ok(solve(&s, method, energy, 1e-9));
        assert_int_equal(s.got.method, method);
        assert_int_equal(s.got.n_modes, armchair_channels(lines, energy));
        assert_true(s.got.residual < 1e-8);
      }
    }
  }
}

/* Chains side by side: each lambda belongs to several modes. */
static void check_degenerate_modes(int method)
{
  const weir_c128 expected = chain_sigma(0.4, 1);

  begin(&s, 6);
  for (int64_t i = 0; i < 6; i++) {
    s.h1[i * 6 + i].re = i < 3 ? 1 : -1;
  }
  assert_ok(solve_incoming(method, 0.4));
  assert_ok(solve(&s, method, 0.4, 0));
  assert_int_equal(s.got.n_modes, 6);
  assert_int_equal(s.got.method, method);
  for (int64_t i = 0; i < 36; i++) {
    const weir_c128 z = i % 7 == 0 ? expected : (weir_c128){0, 0};

    assert_true(distance(1, &s.sigma[QT_LEFT][i], &z) < 1e-12);
    assert_true(distance(1, &s.sigma[QT_RIGHT][i], &z) < 1e-12);
  }
  /* 0.5 + 2 cos k and -0.5 - 2 cos k are 0 at the same k, with opposite velocities. */
  begin(&s, 2);
  s.h0[0].re = 0.5;
  s.h0[3].re = -0.5;
  s.h1[0].re = 1;
  s.h1[3].re = -1;
  assert_ok(solve_incoming(method, 0));
  assert_ok(solve(&s, method, 0, 0));
  assert_int_equal(s.got.n_modes, 2);
  for (int i = 0; i < 2; i++) {
    const weir_c128 z = chain_sigma(i == 0 ? -0.5 : 0.5, 1);

    assert_true(distance(1, &s.sigma[QT_RIGHT][3 * i], &z) < 1e-12);
  }
  /* The same in other orbitals, the second of which overlaps with the first. */
  const double basis[2][2] = {{cos(0.4), 0.3}, {sin(0.4), 1.1}};
  static weir_c128 kept[4];

  memcpy(kept, s.sigma[QT_RIGHT], sizeof kept);
  for (int i = 0; i < 4; i++) {
    const int a = i / 2, b = i % 2;

    s.h0[i].re = 0.5 * (basis[0][a] * basis[0][b] - basis[1][a] * basis[1][b]);
    s.h1[i].re = basis[0][a] * basis[0][b] - basis[1][a] * basis[1][b];
    s.s0[i].re = basis[0][a] * basis[0][b] + basis[1][a] * basis[1][b];
  }
  s.cell.s0 = s.s0;
  assert_ok(solve(&s, method, 0, 0));
  for (int i = 0; i < 4; i++) {
    const double x = basis[0][i / 2] * basis[0][i % 2], y = basis[1][i / 2] * basis[1][i % 2];
    const weir_c128 z = {kept[0].re * x + kept[3].re * y, kept[0].im * x + kept[3].im * y};

    assert_true(distance(1, &s.sigma[QT_RIGHT][i], &z) < 1e-12);
  }
}

static void degenerate_modes_are_told_apart(void **state)
{
  check_degenerate_modes(QT_LEAD_MODES);
  check_degenerate_modes(QT_LEAD_CONTOUR);
}

/* Decimation knows no modes, so modes are taken. */
static void decimation_sends_no_waves(void **state)
{
  make_chain(0.3, -1);
  assert_ok(solve_incoming(QT_LEAD_DECIMATION, 0.7));
  assert_int_equal(s.got.method, QT_LEAD_MODES);
}

/* Few modes lie between narrow circles: the fixed point makes up for the others, or another method
 * takes over. */
static void waves_beyond_the_circles(void **state)
{
  static weir_c128 kept[QT_LEADS][CAPACITY * CAPACITY];
  int by_contour = 0;

  for (uint64_t seed = 0; seed < 40; seed++) {
    const int64_t n = 2 + (int64_t)(seed % 8);

    make_random(&s, n, n, seed % 2, seed);
    s.opts.contour.outer = 1.8;
    s.opts.contour.inner = 1 / 1.8;
    s.opts.contour.points = seed % 4 == 0 ? 4 : 24;
    assert_ok(solve(&s, QT_LEAD_MODES, 0.3, 0));
    const int64_t n_modes = s.got.n_modes;

    memcpy(kept, s.sigma, sizeof kept);
    assert_ok(solve(&s, QT_LEAD_CONTOUR, 0.3, 0));
    assert_int_equal(s.got.n_modes, n_modes);
    by_contour += s.got.method == QT_LEAD_CONTOUR;
    for (int side = 0; side < QT_LEADS; side++) {
      assert_true(distance(n * n, kept[side], s.sigma[side]) < 1e-7 * size_of(n * n, kept[side]));
    }
    assert_ok(solve_incoming(QT_LEAD_CONTOUR, 0.3));
    assert_int_equal(s.got.n_modes, n_modes);
  }
  assert_true(by_contour >= 30);
}

static void states_that_do_not_move_are_refused(void **state)
{
  begin(&s, 2); /* site 1 is not coupled at all, and its energy is asked for */
  s.h1[0].re = -1;
  s.h0[3].re = 0.5;
  assert_int_equal(solve(&s, QT_LEAD_CONTOUR, 0.5, 0), WEIR_ERR_NUMERIC);
  assert_int_equal(solve(&s, QT_LEAD_MODES, 0.5, 0), WEIR_ERR_NUMERIC);
  assert_non_null(strstr(weir_last_message(), "at 0.5 + 0 i"));
  s.h0[0].re = NAN;
  assert_int_equal(solve(&s, QT_LEAD_DECIMATION, 0.3, 1e-6), WEIR_ERR_NUMERIC);
  assert_int_equal(solve(&s, QT_LEAD_CONTOUR, 0.3, 1e-6), WEIR_ERR_NUMERIC);
}

static weir_status solve_all(void *context)
{
  (void)context;
  make_random(&s, 5, 3, true, 3);
  WEIR_TRY(solve(&s, QT_LEAD_MODES, 0.2, 0));
  begin(&s, 2); /* two modes of each lambda */
  s.h1[0].re = s.h1[3].re = -1;
  WEIR_TRY(solve(&s, QT_LEAD_MODES, 0.2, 0));
  WEIR_TRY(solve(&s, QT_LEAD_CONTOUR, 0.2, 0));
  make_chain(0.25, -1);
  WEIR_TRY(solve(&s, QT_LEAD_DECIMATION, 0.25, 1e-9)); /* doubles the cell */
  return solve_incoming(QT_LEAD_CONTOUR, 0.25);
}

static weir_status make_cell(void *context)
{
  const double k[2] = {0.1, 0.2};
  qt_cell c;

  WEIR_TRY(qt_cell_create(context, k, &c));
  qt_cell_fini(&c);
  return WEIR_OK;
}

static void missing_memory_is_reported(void **state)
{
  int64_t image[1][2] = {{0, 0}};
  qt_entries e = {.count = 0};
  qt_sparse m;

  qt_entries_add(&e, 0, 0, (weir_c128){1, 0});
  assert_ok(qt_sparse_create(1, 1, &e, &m));
  const qt_bloch one = {.count = 1, .image = image, .matrix = &m};
  qt_lead lead = {.n = 1, .cell = one, .next = one, .overlap = one, .next_overlap = one};

  assert_true(weir_check_faults(make_cell, &lead) == 4);
  assert_true(weir_check_faults(solve_all, NULL) > 40);
  qt_sparse_fini(&m);
  qt_entries_fini(&e);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chains_have_their_closed_form),
      cmocka_unit_test(energy_of_the_cell_itself),
      cmocka_unit_test(methods_agree_on_random_wires),
      cmocka_unit_test(armchair_cells_have_singular_couplings),
      cmocka_unit_test(degenerate_modes_are_told_apart),
      cmocka_unit_test(decimation_sends_no_waves),
      cmocka_unit_test(waves_beyond_the_circles),
      cmocka_unit_test(states_that_do_not_move_are_refused),
      cmocka_unit_test(missing_memory_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
