/* bonds.c - see bonds.h. */
#include "model/bonds.h"

#include <string.h>

static void add_pattern(const qt_bloch *m, qt_entries *e)
{
  for (int64_t image = 0; image < m->count; image++) {
    const qt_sparse *x = &m->matrix[image];

    for (int64_t i = 0; i < x->rows; i++) {
      for (int64_t at = x->start[i]; at < x->start[i + 1]; at++) {
        if (x->column[at] > i && (x->value[at].re != 0 || x->value[at].im != 0)) {
          qt_entries_add(e, i, x->column[at], (weir_c128){1, 0});
        }
      }
    }
  }
}

weir_status qt_bonds_create(const qt_system *s, qt_sparse *out)
{
  qt_entries e = {.count = 0};

  add_pattern(&s->h, &e); /* the mirror of (j, i) of an image is (i, j) of the opposite one */
  add_pattern(&s->s, &e);
  const weir_status status = qt_sparse_create(s->n, s->n, &e, out);

  qt_entries_fini(&e);
  return status;
}

/* J of both leads along one bond, K[i,j] = x. */
static void compute(weir_c128 x, weir_c128 lesser, weir_c128 g, weir_c128 mirror, double out[2])
{
  const weir_c128 left = {lesser.im, -lesser.re};                /* -i G^<          */
  const weir_c128 all = {-(g.im + mirror.im), g.re - mirror.re}; /* i (G - G^H)     */
  const weir_c128 right = {all.re - left.re, all.im - left.im};

  out[QT_LEFT] = 2 * (x.re * left.im - x.im * left.re);
  out[QT_RIGHT] = 2 * (x.re * right.im - x.im * right.re);
}

/* Those from block `row` to block `column`. */
static void compute_block(const qt_bonds_job *job, int64_t row, int64_t column,
                          double *const current[QT_LEADS])
{
  const qt_layout *l = job->layout;
  const qt_sparse *b = job->bonds;
  const int64_t rows = qt_layout_rows(l, row), columns = qt_layout_rows(l, column);
  const int64_t here = qt_layout_at(l, row, column) - job->first_element;
  const int64_t back = qt_layout_at(l, column, row) - job->first_element;
  const int64_t first = l->block[column], end = l->block[column + 1];

  memset(job->scratch, 0, (size_t)(rows * columns) * sizeof *job->scratch);
  qt_system_add_block(job->s, &job->s->h, job->k, row, column, (weir_c128){1, 0}, job->scratch);
  qt_system_add_block(job->s, &job->s->s, job->k, row, column, (weir_c128){-job->energy, 0},
                      job->scratch);
  for (int64_t i = 0; i < rows; i++) {
    const int64_t orbital = l->block[row] + i;

    for (int64_t at = b->start[orbital]; at < b->start[orbital + 1]; at++) {
      const int64_t j = b->column[at] - first;
      double both[QT_LEADS];

      if (b->column[at] >= first && b->column[at] < end) {
        compute(job->scratch[i * columns + j], job->lesser[here + i * columns + j],
                job->g[here + i * columns + j], job->g[back + j * rows + i], both);
        current[QT_LEFT][at] = both[QT_LEFT];
        current[QT_RIGHT][at] = both[QT_RIGHT];
      }
    }
  }
}

void qt_bonds_currents(const qt_bonds_job *job, double *const current[QT_LEADS])
{
  for (int64_t b = job->first_block; b < job->first_block + job->n_blocks; b++) {
    compute_block(job, b, b, current);
    if (b + 1 < job->layout->n_blocks) {
      compute_block(job, b, b + 1, current);
    }
  }
}
