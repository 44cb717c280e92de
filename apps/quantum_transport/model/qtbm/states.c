/* states.c - see states.h. */
#include "model/qtbm/states.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "ops/linear/weir_linear.h"
#include "ops/weir_dense.h"

/* State number `state` of those of a lead. */
static const weir_c128 *state_of(const qtbm_states *s, int side, int64_t state)
{
  return s->psi + (state + (side == QT_RIGHT ? s->count[QT_LEFT] : 0)) * s->matrix->a.rows;
}

void qtbm_states_amplitudes(const qtbm_states *s, weir_c128 *out)
{
  const qtbm_matrix *m = s->matrix;
  const int64_t cell = m->system->lead[QT_RIGHT].n, columns = s->count[QT_LEFT];

  for (int64_t i = 0; i < s->n_right * columns; i++) {
    const weir_c128 *wave = s->incoming + i / columns * cell;
    const weir_c128 *psi = state_of(s, QT_LEFT, i % columns) + m->first[QT_RIGHT];
    weir_c128 sum = {0, 0};

    for (int64_t p = 0; p < m->n_ports[QT_RIGHT]; p++) {
      const weir_c128 x = wave[m->port[QT_RIGHT][p]], y = psi[m->port[QT_RIGHT][p]];

      sum.re += x.re * y.re + x.im * y.im;
      sum.im += x.re * y.im - x.im * y.re;
    }
    out[i / columns * s->all + s->first + i % columns] = sum;
  }
}

void qtbm_states_add_density(const qtbm_states *s, int side, double factor, weir_c128 *memory,
                             double *out)
{
  for (int64_t k = 0; k < s->count[side]; k++) {
    const weir_c128 *psi = state_of(s, side, k);

    qtbm_matrix_overlap(s->matrix, psi, memory);
    for (int64_t i = 0; i < s->matrix->a.rows; i++) {
      out[i] += factor * (psi[i].re * memory[i].re + psi[i].im * memory[i].im);
    }
  }
}

void qtbm_states_add_currents(const qtbm_states *s, int side, const qt_sparse *bonds, double *out)
{
  const qtbm_matrix *m = s->matrix;

  for (int64_t i = 0; i < bonds->rows; i++) {
    int64_t next = m->a.start[i]; /* both columns ascend */

    for (int64_t at = bonds->start[i]; at < bonds->start[i + 1]; at++) {
      const int64_t j = bonds->column[at];
      weir_c128 a = {0, 0};

      while (m->a.column[next] < j) {
        next++;
      }
      const weir_c128 h = m->h[next], overlap = m->s != NULL ? m->s[next] : (weir_c128){0, 0};
      const weir_c128 k = {h.re - s->energy * overlap.re, h.im - s->energy * overlap.im};

      for (int64_t n = 0; n < s->count[side]; n++) {
        const weir_c128 x = state_of(s, side, n)[i], y = state_of(s, side, n)[j];

        a.re += x.re * y.re + x.im * y.im;
        a.im += x.im * y.re - x.re * y.im;
      }
      out[at] += 2 * (k.re * a.im - k.im * a.re);
    }
  }
}

weir_status qtbm_states_channels(int64_t rows, int64_t columns, const weir_c128 *t, double *out)
{
  const bool wide = columns > rows;
  const int64_t n = wide ? rows : columns;
  const weir_linear_factor plain = {t, columns, false}, turned = {t, columns, true};
  weir_c128 *product = NULL, *vector = NULL;
  weir_status status = WEIR_OK;

  if (n == 0) {
    return WEIR_OK;
  }
  WEIR_TRY_GOTO(weir_alloc(n * n, sizeof *product, (void **)&product), done);
  WEIR_TRY_GOTO(weir_alloc(n * n, sizeof *vector, (void **)&vector), done);
  weir_linear_multiply(n, n, wide ? columns : rows, 1, wide ? plain : turned, wide ? turned : plain,
                       0, product, n);
  weir_dense_hermitian(product, n, out, vector);
  for (int64_t i = 0; i < n / 2; i++) {
    const double x = out[i];

    out[i] = out[n - 1 - i];
    out[n - 1 - i] = x;
  }
done:
  weir_free(&product);
  weir_free(&vector);
  return status;
}
