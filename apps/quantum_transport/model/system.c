/* system.c - see system.h. */
#include "model/system.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"

void qt_bloch_fini(qt_bloch *m)
{
  for (int64_t i = 0; i < m->count; i++) {
    qt_sparse_fini(&m->matrix[i]);
  }
  weir_free(&m->image);
  weir_free(&m->matrix);
  m->count = 0;
}

void qt_system_fini(qt_system *s)
{
  for (int c = 0; c < QT_LEADS; c++) {
    qt_bloch_fini(&s->lead[c].cell);
    qt_bloch_fini(&s->lead[c].overlap);
    qt_bloch_fini(&s->lead[c].next);
    qt_bloch_fini(&s->lead[c].next_overlap);
  }
  qt_bloch_fini(&s->h);
  qt_bloch_fini(&s->s);
  weir_free(&s->block);
  weir_free(&s->atom);
  *s = (qt_system){.n = 0};
}

static double bloch_bytes(const qt_bloch *m)
{
  double sum = (double)m->count * (sizeof *m->image + sizeof *m->matrix);

  for (int64_t i = 0; i < m->count; i++) {
    sum += (double)(m->matrix[i].rows + 1) * sizeof(int64_t) +
           (double)qt_sparse_count(&m->matrix[i]) * (sizeof(int64_t) + sizeof(weir_c128));
  }
  return sum;
}

double qt_system_bytes(const qt_system *s)
{
  double sum = (double)(s->n_blocks + 1) * sizeof *s->block + (double)s->n_atoms * sizeof *s->atom;

  sum += bloch_bytes(&s->h) + bloch_bytes(&s->s);
  for (int c = 0; c < QT_LEADS; c++) {
    const qt_lead *l = &s->lead[c];

    sum += bloch_bytes(&l->cell) + bloch_bytes(&l->overlap) + bloch_bytes(&l->next) +
           bloch_bytes(&l->next_overlap);
  }
  return sum;
}

double qt_system_spin(const qt_system *s)
{
  return s->has_spin || s->one_spin ? 1 : 2;
}

weir_c128 qt_bloch_phase(const qt_bloch *m, int64_t i, const double k[2])
{
  const double angle = 2 * M_PI * (k[0] * (double)m->image[i][0] + k[1] * (double)m->image[i][1]);

  return angle == 0 ? (weir_c128){1, 0} : (weir_c128){cos(angle), sin(angle)};
}

/* factor times exp(2 pi i k . image). */
static weir_c128 phase(const qt_bloch *m, int64_t i, const double k[2], weir_c128 factor)
{
  const weir_c128 z = qt_bloch_phase(m, i, k);

  return (weir_c128){factor.re * z.re - factor.im * z.im, factor.re * z.im + factor.im * z.re};
}

void qt_system_add_block(const qt_system *s, const qt_bloch *m, const double k[2],
                         int64_t row_block, int64_t column_block, weir_c128 factor, weir_c128 *out)
{
  const int64_t row = s->block[row_block], column = s->block[column_block];

  for (int64_t i = 0; i < m->count; i++) {
    qt_sparse_add_block(&m->matrix[i], row, column, phase(m, i, k, factor),
                        s->block[row_block + 1] - row, s->block[column_block + 1] - column, out);
  }
}

void qt_system_inverse_block(const qt_system *s, const double k[2], weir_c128 z,
                             weir_c128 *const sigma[QT_LEADS], int64_t row, int64_t column,
                             weir_c128 *out)
{
  const int64_t rows = s->block[row + 1] - s->block[row];
  const int64_t columns = s->block[column + 1] - s->block[column];

  memset(out, 0, (size_t)(rows * columns) * sizeof *out);
  if (s->s.count > 0) {
    qt_system_add_block(s, &s->s, k, row, column, z, out);
  }
  for (int64_t i = 0; i < rows && s->s.count == 0 && row == column; i++) {
    out[i * (rows + 1)] = z;
  }
  qt_system_add_block(s, &s->h, k, row, column, (weir_c128){-1, 0}, out);
  for (int c = 0; c < QT_LEADS; c++) {
    const bool touches = row == column && row == (c == QT_LEFT ? 0 : s->n_blocks - 1);

    for (int64_t i = 0; i < rows * rows && touches; i++) {
      out[i].re -= sigma[c][i].re;
      out[i].im -= sigma[c][i].im;
    }
  }
}

void qt_bloch_add(const qt_bloch *m, const double k[2], weir_c128 factor, weir_c128 *out)
{
  for (int64_t i = 0; i < m->count; i++) {
    qt_sparse_add_block(&m->matrix[i], 0, 0, phase(m, i, k, factor), m->matrix[i].rows,
                        m->matrix[i].columns, out);
  }
}

int64_t qt_bloch_find(const qt_bloch *m, int64_t y, int64_t z)
{
  for (int64_t i = 0; i < m->count; i++) {
    if (m->image[i][0] == y && m->image[i][1] == z) {
      return i;
    }
  }
  return -1;
}
