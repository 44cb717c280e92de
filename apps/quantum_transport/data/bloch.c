/* bloch.c - see bloch.h. */
#include "data/bloch.h"

#include <math.h>

#include "base/weir_alloc.h"

/* Index of an image in m, which grows by it; the matrices come later. */
static weir_status find_image(qt_bloch *m, int64_t *capacity, int64_t y, int64_t z, int64_t *index)
{
  *index = qt_bloch_find(m, y, z);
  if (*index >= 0) {
    return WEIR_OK;
  }
  *index = m->count;
  WEIR_TRY(weir_reserve(&m->image, capacity, m->count + 1, sizeof *m->image));
  m->image[m->count][0] = y;
  m->image[m->count++][1] = z;
  return WEIR_OK;
}

static void free_entries(qt_entries **entries, int64_t count)
{
  for (int64_t i = 0; i < count && *entries; i++) {
    qt_entries_fini(&(*entries)[i]);
  }
  weir_free(entries);
}

/* Gives m, whose images are known, the matrices of their elements. */
static weir_status make(int64_t n, qt_bloch *m, qt_entries *entries)
{
  const int64_t count = m->count;

  m->count = 0; /* until there are matrices */
  WEIR_TRY(weir_alloc(count, sizeof *m->matrix, (void **)&m->matrix));
  m->count = count;
  for (int64_t i = 0; i < count; i++) {
    WEIR_TRY(qt_sparse_create(n, n, &entries[i], &m->matrix[i]));
  }
  return WEIR_OK;
}

weir_status qt_bloch_of_images(const qt_images *in, int64_t step, qt_bloch *out)
{
  int64_t capacity = 0;
  qt_entries *entries = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(in->count, sizeof *entries, (void **)&entries), done);
  for (int64_t i = 0; i < in->count; i++) {
    const int64_t *const image = in->image[i];
    const weir_triplets *const t = &in->matrix[i];
    int64_t image_index = 0;

    if (image[in->vector[0]] != step) {
      continue;
    }
    WEIR_TRY_GOTO(
        find_image(out, &capacity, image[in->vector[1]], image[in->vector[2]], &image_index), done);
    for (int64_t e = 0; e < t->count; e++) {
      const weir_triplet *const x = &t->item[e];

      qt_entries_add(&entries[image_index], in->position ? in->position[x->row] : x->row,
                     in->position ? in->position[x->column] : x->column, x->value);
    }
  }
  WEIR_TRY_GOTO(make(in->n, out, entries), done);
done:
  free_entries(&entries, in->count);
  out->count = out->matrix ? out->count : 0;
  return status;
}

static void add_block(const qt_bloch_block_at *p, const qt_sparse *m, qt_entries *e)
{
  for (int64_t r = 0; r < m->rows; r++) {
    for (int64_t i = m->start[r]; i < m->start[r + 1]; i++) {
      const weir_c128 x = m->value[i];

      if (p->adjoint) {
        qt_entries_add(e, p->column + m->column[i], p->row + r, (weir_c128){x.re, -x.im});
      } else {
        qt_entries_add(e, p->row + r, p->column + m->column[i], x);
      }
    }
  }
}

weir_status qt_bloch_of_blocks(int64_t n, const qt_bloch_block_at *blocks, int n_blocks,
                               qt_bloch *out)
{
  int64_t capacity = 0, max_images = 0;
  qt_entries *entries = NULL;
  weir_status status = WEIR_OK;

  for (int p = 0; p < n_blocks; p++) {
    max_images += blocks[p].m->count;
  }
  WEIR_TRY_GOTO(weir_alloc(max_images, sizeof *entries, (void **)&entries), done);
  for (int p = 0; p < n_blocks; p++) {
    const qt_bloch *const m = blocks[p].m;
    const int64_t sign = blocks[p].adjoint ? -1 : 1;

    for (int64_t i = 0; i < m->count; i++) {
      int64_t image_index = 0;

      WEIR_TRY_GOTO(
          find_image(out, &capacity, sign * m->image[i][0], sign * m->image[i][1], &image_index),
          done);
      add_block(&blocks[p], &m->matrix[i], &entries[image_index]);
    }
  }
  WEIR_TRY_GOTO(make(n, out, entries), done);
done:
  free_entries(&entries, max_images);
  out->count = out->matrix ? out->count : 0;
  return status;
}

weir_status qt_bloch_block(const qt_bloch *m, int64_t row, int64_t column, int64_t n, qt_bloch *out)
{
  if (m->count == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(m->count, sizeof *out->image, (void **)&out->image));
  WEIR_TRY(weir_alloc(m->count, sizeof *out->matrix, (void **)&out->matrix));
  out->count = m->count;
  for (int64_t i = 0; i < m->count; i++) {
    out->image[i][0] = m->image[i][0];
    out->image[i][1] = m->image[i][1];
    WEIR_TRY(qt_sparse_block(&m->matrix[i], row, column, n, n, &out->matrix[i]));
  }
  return WEIR_OK;
}

double qt_bloch_difference(const qt_bloch *m, int64_t n, const int64_t row[2],
                           const int64_t column[2])
{
  double max = 0;

  for (int64_t i = 0; i < m->count; i++) {
    const qt_sparse *const a = &m->matrix[i];

    for (int side = 0; side < 2; side++) { /* elements of either block */
      const int64_t down = row[!side] - row[side], right = column[!side] - column[side];

      for (int64_t r = row[side]; r < row[side] + n; r++) {
        for (int64_t e = a->start[r]; e < a->start[r + 1]; e++) {
          const int64_t c = a->column[e];

          if (c >= column[side] && c < column[side] + n) {
            const weir_c128 x = a->value[e], y = qt_sparse_get(a, r + down, c + right);

            max = fmax(max, hypot(x.re - y.re, x.im - y.im));
          }
        }
      }
    }
  }
  return max;
}
