/* subcells_test.c - contour integrals of cells that repeat a smaller one. */
#include "support/quantum_transport/lead_test.h"

static subject s;

/* The cell becomes `cells` of it. */
static void repeat_cell(int64_t cells)
{
  static weir_c128 kept[4][CAPACITY * CAPACITY];
  weir_c128 *const m[] = {s.h0, s.h1, s.s0, s.s1};
  const int64_t n = s.cell.n, wide = n * cells;

  assert_true(wide <= CAPACITY);
  for (int i = 0; i < 4; i++) {
    memcpy(kept[i], m[i], sizeof kept[i]);
    memset(m[i], 0, sizeof kept[i]);
  }
  for (int64_t e = 0; e < cells * n * n; e++) {
    const int64_t c = e / (n * n), i = e / n % n, j = e % n;
    const int64_t row = c * n + i, next = (c + 1) % cells * n + j;

    for (int x = 0; x < 4; x += 2) { /* matrix of the cell, and to the next one */
      const weir_c128 up = kept[x + 1][i * n + j];

      m[x][row * wide + c * n + j] = kept[x][i * n + j];
      if (c + 1 == cells) {
        m[x + 1][row * wide + next] = up;
      } else {
        m[x][row * wide + next] = up;
        m[x][next * wide + row] = (weir_c128){up.re, -up.im};
      }
    }
  }
  s.cell.n = wide;
}

/* Sigma lies in the end blocks alone, where it is that of a sub-cell. */
static void cells_that_repeat_sub_cells(void **state)
{
  static weir_c128 kept[QT_LEADS][CAPACITY * CAPACITY], wide_sigma[CAPACITY * CAPACITY];
  int with_modes = 0;

  for (uint64_t seed = 0; seed < 24; seed++) {
    const int64_t n = 1 + (int64_t)(seed % 4), cells = 2 + (int64_t)(seed % 5), wide = n * cells;
    const double energy = 0.1 * (double)(seed % 7) - 0.3;

    make_random(&s, n, seed % 3 == 0 ? (n + 1) / 2 : n, seed % 2, seed);
    assert_ok(solve(&s, QT_LEAD_MODES, energy, 0));
    const int64_t n_modes = s.got.n_modes;

    memcpy(kept, s.sigma, sizeof kept);
    repeat_cell(cells);
    for (int apart = 0; apart < 2; apart++) {
      s.opts.contour.max_cells = apart ? 16 : 1;
      assert_ok(solve(&s, QT_LEAD_CONTOUR, energy, 0));
      assert_int_equal(s.got.method, QT_LEAD_CONTOUR);
      assert_int_equal(s.got.n_modes, n_modes);
      for (int side = 0; side < QT_LEADS; side++) {
        const int64_t first = side == QT_LEFT ? 0 : wide - n;

        memset(wide_sigma, 0, sizeof wide_sigma);
        for (int64_t i = 0; i < n * n; i++) {
          wide_sigma[(first + i / n) * wide + first + i % n] = kept[side][i];
        }
        assert_true(distance(wide * wide, s.sigma[side], wide_sigma) <
                    1e-8 * size_of(n * n, kept[side]));
      }
    }
    with_modes += n_modes > 0;
  }
  assert_true(with_modes > 5);
}

/* A chain with hoppings to first, second and third neighbours, a cell of `n` sites; one site may be
 * another. */
static void make_long_range(int64_t n, double defect)
{
  static const double hopping[] = {0.2, -1, 0.4, -0.15};

  begin(&s, n);
  for (int64_t i = 0; i < n; i++) {
    for (int64_t offset = -3; offset <= 3; offset++) {
      const int64_t j = i + offset;
      const double t = hopping[offset < 0 ? -offset : offset];

      if (j >= 0) {
        *(j < n ? &s.h0[i * n + j].re : &s.h1[i * n + j - n].re) = t;
      }
    }
  }
  s.h0[n + 1].re += defect;
}

static void sub_cells_with_far_neighbours(void **state)
{
  static weir_c128 kept[QT_LEADS][CAPACITY * CAPACITY];

  for (int64_t n = 3; n <= 8; n++) {
    for (int d = 0; d < 2; d++) {
      for (double energy = -2.2; energy < 2; energy += 0.417) {
        make_long_range(n, d * 0.3);
        assert_ok(solve(&s, QT_LEAD_MODES, energy, 0));
        const int64_t n_modes = s.got.n_modes;

        memcpy(kept, s.sigma, sizeof kept);
        assert_ok(solve(&s, QT_LEAD_CONTOUR, energy, 0));
        assert_int_equal(s.got.method, QT_LEAD_CONTOUR);
        assert_int_equal(s.got.n_modes, n_modes);
        for (int side = 0; side < QT_LEADS; side++) {
          assert_true(distance(n * n, kept[side], s.sigma[side]) <
                      1e-8 * size_of(n * n, kept[side]));
        }
      }
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cells_that_repeat_sub_cells),
      cmocka_unit_test(sub_cells_with_far_neighbours),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
