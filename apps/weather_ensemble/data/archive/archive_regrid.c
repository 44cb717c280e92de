/* archive_regrid.c - an archive whose fields are brought to another grid as they are read. */
#include "base/weir_alloc.h"
#include "data/archive/archive.h"
#include "data/archive/archive_cube.h"

weir_status wx_archive_regrid(wx_archive *a, const wx_grid *to, double missing, wx_weights *weights)
{
  WEIR_ASSERT(a->weights == NULL && weights->n_from == wx_grid_cells(&a->facts.grid) &&
              weights->n_to == wx_grid_cells(to) && weights->row == weights->n_to);
  WEIR_TRY(weir_alloc(1, sizeof *a->weights, (void **)&a->weights));
  *a->weights = *weights;
  *weights = (wx_weights){.n = 0};
  a->missing = missing;
  weir_free(&a->lat);
  weir_free(&a->lon);
  weir_free(&a->height);
  weir_free(&a->mapping);
  weir_free(&a->weight);
  return wx_archive_take_grid(a, to);
}

weir_status wx_archive_regrid_fields(wx_archive *a, int64_t n, float **source)
{
  WEIR_TRY(
      weir_reserve(&a->source, &a->source_capacity, n * a->weights->n_from, sizeof *a->source));
  *source = a->source;
  return WEIR_OK;
}

weir_status wx_archive_offset(wx_archive *a, int64_t quantity, const float *offset)
{
  const int64_t cells = wx_grid_cells(&a->facts.grid);

  WEIR_ASSERT(a->weights != NULL && quantity >= 0 && quantity < a->facts.n_quantities);
  if (a->offset == NULL) {
    WEIR_TRY(weir_alloc(a->facts.n_quantities, sizeof *a->has_offset, (void **)&a->has_offset));
    WEIR_TRY(wx_archive_copy(&a->offset, offset, cells, sizeof *a->offset));
  }
  a->has_offset[quantity] = true;
  return WEIR_OK;
}

void wx_archive_regrid_apply(const wx_archive *a, int64_t quantity, int64_t n, float *out)
{
  const wx_weights *const w = a->weights;
  const bool offset = a->offset != NULL && a->has_offset[quantity];

  for (int64_t k = 0; k < n; k++) {
    wx_weights_apply(w, a->missing, a->source + k * w->n_from, out + k * w->n_to);
    for (int64_t i = 0; i < w->n_to && offset; i++) {
      out[k * w->n_to + i] += a->offset[i];
    }
  }
}

void wx_archive_regrid_fini(wx_archive *a)
{
  if (a->weights != NULL) {
    wx_weights_fini(a->weights);
  }
  weir_free(&a->weights);
  weir_free(&a->source);
  weir_free(&a->offset);
  weir_free(&a->has_offset);
}
