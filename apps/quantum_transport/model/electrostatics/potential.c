/* potential.c - see potential.h. */
#include "model/electrostatics/potential.h"

#include <string.h>

#include "base/weir_alloc.h"

/* Stored elements of m, each times factor; with u also times (u_row + u_column) / 2. */
static void add_matrix(const qt_sparse *m, const double *u, qt_entries *out)
{
  for (int64_t i = 0; i < m->rows; i++) {
    for (int64_t at = m->start[i]; at < m->start[i + 1]; at++) {
      const double factor = u != NULL ? (u[i] + u[m->column[at]]) / 2 : 1;

      qt_entries_add(out, i, m->column[at],
                     (weir_c128){factor * m->value[at].re, factor * m->value[at].im});
    }
  }
}

/* A copy of h, plus what u [n] adds through the overlap s, of an orthonormal basis on the diagonal
 * (where `diagonal`: of cells, not between them). u NULL: a copy. */
static weir_status shift(const qt_bloch *h, const qt_bloch *s, bool diagonal, const double *u,
                         qt_bloch *out)
{
  if (h->count == 0) {
    return WEIR_OK;
  }
  for (int64_t k = 0; k < s->count && u != NULL; k++) {
    if (qt_bloch_find(h, s->image[k][0], s->image[k][1]) < 0) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "the overlap couples image (%lld, %lld), which the Hamiltonian does not",
                       (long long)s->image[k][0], (long long)s->image[k][1]);
    }
  }
  WEIR_TRY(weir_alloc(h->count, sizeof *out->image, (void **)&out->image));
  WEIR_TRY(weir_alloc(h->count, sizeof *out->matrix, (void **)&out->matrix));
  memcpy(out->image, h->image, (size_t)h->count * sizeof *h->image);
  out->count = h->count;
  for (int64_t k = 0; k < h->count; k++) {
    const int64_t of_s = qt_bloch_find(s, h->image[k][0], h->image[k][1]);
    qt_entries entries = {.count = 0};

    add_matrix(&h->matrix[k], NULL, &entries);
    if (of_s >= 0 && u != NULL) {
      add_matrix(&s->matrix[of_s], u, &entries);
    }
    for (int64_t i = 0; i < h->matrix[k].rows && u != NULL && s->count == 0 && diagonal &&
                        qt_bloch_find(h, 0, 0) == k;
         i++) {
      qt_entries_add(&entries, i, i, (weir_c128){u[i], 0});
    }
    const weir_status status =
        qt_sparse_create(h->matrix[k].rows, h->matrix[k].columns, &entries, &out->matrix[k]);

    qt_entries_fini(&entries);
    WEIR_TRY(status);
  }
  return WEIR_OK;
}

static weir_status copy(const void *from, int64_t count, size_t size, void *to)
{
  void **memory = to;

  WEIR_TRY(weir_alloc(count, size, memory));
  memcpy(*memory, from, (size_t)count * size);
  return WEIR_OK;
}

static weir_status shift_lead(const qt_lead *lead, const double *u, qt_lead *out)
{
  const qt_bloch none = {.count = 0};

  out->n = lead->n;
  out->length = lead->length;
  WEIR_TRY(shift(&lead->cell, &lead->overlap, true, u, &out->cell));
  WEIR_TRY(shift(&lead->next, &lead->next_overlap, false, lead->next_overlap.count > 0 ? u : NULL,
                 &out->next));
  WEIR_TRY(shift(&lead->overlap, &none, false, NULL, &out->overlap));
  return shift(&lead->next_overlap, &none, false, NULL, &out->next_overlap);
}

weir_status qt_system_shift(const qt_system *s, const double *u, qt_system *out)
{
  const qt_bloch none = {.count = 0};
  double *of_orbital = NULL;
  weir_status status = WEIR_OK;

  *out = *s;
  out->block = NULL;
  out->atom = NULL;
  out->h = out->s = none;
  memset(out->lead, 0, sizeof out->lead);
  WEIR_TRY(copy(s->block, s->n_blocks + 1, sizeof *s->block, &out->block));
  WEIR_TRY(copy(s->atom, s->n_atoms, sizeof *s->atom, &out->atom));
  WEIR_TRY(weir_alloc(s->n, sizeof *of_orbital, (void **)&of_orbital));
  for (int64_t a = 0; a < s->n_atoms; a++) {
    for (int64_t i = 0; i < s->atom[a].n_orbitals; i++) {
      of_orbital[s->atom[a].first + i] = u[a];
    }
  }
  WEIR_TRY_GOTO(shift(&s->h, &s->s, true, of_orbital, &out->h), done);
  WEIR_TRY_GOTO(shift(&s->s, &none, false, NULL, &out->s), done);
  WEIR_TRY_GOTO(shift_lead(&s->lead[QT_LEFT], of_orbital, &out->lead[QT_LEFT]), done);
  WEIR_TRY_GOTO(
      shift_lead(&s->lead[QT_RIGHT], of_orbital + s->n - s->lead[QT_RIGHT].n, &out->lead[QT_RIGHT]),
      done);
done:
  weir_free(&of_orbital);
  return status;
}
