/* wire.c - see wire.h. */
#include "model/wire.h"

#include <string.h>

#include "base/weir_alloc.h"

void qt_elements_add(qt_elements *e, int64_t row, int64_t column, const int64_t offset[3],
                     weir_c128 value)
{
  if (e->status == WEIR_OK) {
    e->status = weir_reserve(&e->item, &e->capacity, e->count + 1, sizeof *e->item);
  }
  if (e->status == WEIR_OK) {
    e->item[e->count++] = (qt_element){row, column, {offset[0], offset[1], offset[2]}, value};
  }
}

void qt_wire_fini(qt_wire *w)
{
  weir_free(&w->elements.item);
  weir_free(&w->atom);
  *w = (qt_wire){.n = 0};
}

static weir_status check(const qt_wire *w)
{
  for (int64_t i = 0; i < w->elements.count; i++) {
    const qt_element *e = &w->elements.item[i];

    if (e->row < 0 || e->row >= w->n || e->column < 0 || e->column >= w->n || e->offset[0] < -1 ||
        e->offset[0] > 1) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "element (%lld, %lld) at %lld cells along x: cells of %lld orbitals must "
                       "couple to their neighbours only",
                       (long long)e->row, (long long)e->column, (long long)e->offset[0],
                       (long long)w->n);
    }
  }
  return WEIR_OK;
}

/* The distinct offsets along y and z, (0, 0) first; *image is the caller's, on failure too. */
static weir_status list_images(const qt_elements *elements, int64_t (**image)[2], int64_t *count)
{
  int64_t capacity = 0;

  WEIR_TRY(weir_reserve(image, &capacity, 1, sizeof **image));
  *count = 1;
  for (int64_t i = 0; i < elements->count; i++) {
    const int64_t *offset = elements->item[i].offset;
    int64_t k = 0;

    while (k < *count && ((*image)[k][0] != offset[1] || (*image)[k][1] != offset[2])) {
      k++;
    }
    if (k == *count) {
      WEIR_TRY(weir_reserve(image, &capacity, *count + 1, sizeof **image));
      (*image)[k][0] = offset[1];
      (*image)[k][1] = offset[2];
      ++*count;
    }
  }
  return WEIR_OK;
}

/* The elements of one image among n_cells cells, or, with `next`, from a cell to the one at larger
 * x. onsite: of each orbital or NULL; shift: of all. */
static weir_status fill(const qt_wire *w, const int64_t image[2], int64_t n_cells, bool next,
                        const double *onsite, double shift, qt_sparse *out)
{
  const int64_t n = n_cells * w->n;
  qt_entries entries = {.count = 0};
  weir_status status = WEIR_OK;

  for (int64_t c = 0; c < n_cells; c++) {
    for (int64_t i = 0; i < w->elements.count; i++) {
      const qt_element *e = &w->elements.item[i];
      const int64_t to = c + e->offset[0] - next;

      if (e->offset[1] == image[0] && e->offset[2] == image[1] && to >= 0 && to < n_cells) {
        qt_entries_add(&entries, c * w->n + e->row, to * w->n + e->column, e->value);
      }
    }
  }
  for (int64_t i = 0; i < n && !next && image[0] == 0 && image[1] == 0; i++) {
    const double value = shift + (onsite == NULL ? 0 : onsite[i]);

    if (value != 0) {
      qt_entries_add(&entries, i, i, (weir_c128){value, 0});
    }
  }
  status = qt_sparse_create(n, n, &entries, out);
  qt_entries_fini(&entries);
  return status;
}

static weir_status fill_images(const qt_wire *w, int64_t (*image)[2], int64_t count,
                               int64_t n_cells, bool next, const double *onsite, double shift,
                               qt_bloch *out)
{
  WEIR_TRY(weir_alloc(count, sizeof *out->image, (void **)&out->image));
  WEIR_TRY(weir_alloc(count, sizeof *out->matrix, (void **)&out->matrix));
  memcpy(out->image, image, (size_t)count * sizeof *image);
  out->count = count;
  for (int64_t k = 0; k < count; k++) {
    WEIR_TRY(fill(w, image[k], n_cells, next, onsite, shift, &out->matrix[k]));
  }
  return WEIR_OK;
}

static weir_status repeat_atoms(const qt_wire *w, int64_t n_cells, qt_system *out)
{
  WEIR_TRY(weir_alloc(out->n_blocks + 1, sizeof *out->block, (void **)&out->block));
  WEIR_TRY(weir_alloc(out->n_atoms, sizeof *out->atom, (void **)&out->atom));
  for (int64_t c = 0; c < n_cells; c++) {
    out->block[c + 1] = (c + 1) * w->n;
    for (int64_t a = 0; a < w->n_atoms; a++) {
      qt_atom *atom = &out->atom[c * w->n_atoms + a];

      *atom = w->atom[a];
      atom->first += c * w->n;
      for (int i = 0; i < 3; i++) {
        atom->position[i] += (double)c * w->cell[0][i];
      }
    }
  }
  memcpy(out->cell, w->cell, sizeof out->cell);
  for (int i = 0; i < 3; i++) {
    out->cell[0][i] *= (double)n_cells;
    out->periodic[i] = i > 0 && w->periodic[i];
  }
  return WEIR_OK;
}

weir_status qt_wire_create(const qt_wire *w, int64_t n_cells, const double *onsite,
                           const double lead_onsite[QT_LEADS], qt_system *out)
{
  int64_t(*image)[2] = NULL;
  int64_t count = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY(w->elements.status);
  WEIR_TRY(check(w));
  out->particle = w->particle;
  out->n_blocks = n_cells;
  if (!weir_mul_ok(n_cells, w->n, &out->n) || !weir_mul_ok(n_cells, w->n_atoms, &out->n_atoms)) {
    return weir_fail(WEIR_ERR_CONFIG, "a device of %lld cells of %lld orbitals is too long",
                     (long long)n_cells, (long long)w->n);
  }
  WEIR_TRY(repeat_atoms(w, n_cells, out));
  WEIR_TRY_GOTO(list_images(&w->elements, &image, &count), done);
  WEIR_TRY_GOTO(fill_images(w, image, count, n_cells, false, onsite, 0, &out->h), done);
  for (int c = 0; c < QT_LEADS; c++) {
    qt_lead *lead = &out->lead[c];

    lead->n = w->n;
    lead->length = w->cell[0][0];
    WEIR_TRY_GOTO(fill_images(w, image, count, 1, false, NULL, lead_onsite[c], &lead->cell), done);
    WEIR_TRY_GOTO(fill_images(w, image, count, 1, true, NULL, 0, &lead->next), done);
  }
done:
  weir_free(&image);
  return status;
}
