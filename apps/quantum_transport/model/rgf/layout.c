/* layout.c - see layout.h. */
#include "model/rgf/layout.h"

#include <string.h>

#include "base/weir_alloc.h"

void qt_layout_fini(qt_layout *l)
{
  weir_free(&l->block);
  weir_free(&l->offset);
  weir_free(&l->diagonal);
  *l = (qt_layout){.n_blocks = 0};
}

/* Adds what block b has to the sums, which fit 64 bits. */
static weir_status count_block(qt_layout *l, int64_t b)
{
  const int64_t n = qt_layout_rows(l, b);
  const int64_t next = b + 1 < l->n_blocks ? qt_layout_rows(l, b + 1) : 0;

  if (n > QT_LAYOUT_MAX_ROWS) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "layout: block %lld has %lld rows (orbitals), at most %d are possible: give "
                     "the device a smaller cross-section, or its leads thinner layers",
                     (long long)b, (long long)n, QT_LAYOUT_MAX_ROWS);
  }
  l->offset[b] = l->count;
  l->diagonal[b] = l->diagonal_count;
  l->max = n > l->max ? n : l->max;
  l->count += n * n + 2 * n * next;
  l->diagonal_count += n * n;
  return WEIR_OK;
}

weir_status qt_layout_create(int64_t n_blocks, const int64_t *block, qt_layout *out)
{
  weir_status status = WEIR_OK;

  *out = (qt_layout){.n_blocks = n_blocks};
  if (n_blocks < 1 || block[0] != 0) {
    return weir_fail(WEIR_ERR_SHAPE, "layout: %lld blocks from row %lld", (long long)n_blocks,
                     n_blocks < 1 ? 0LL : (long long)block[0]);
  }
  WEIR_TRY_GOTO(weir_alloc(n_blocks + 1, sizeof *out->block, (void **)&out->block), failed);
  WEIR_TRY_GOTO(weir_alloc(n_blocks, sizeof *out->offset, (void **)&out->offset), failed);
  WEIR_TRY_GOTO(weir_alloc(n_blocks, sizeof *out->diagonal, (void **)&out->diagonal), failed);
  memcpy(out->block, block, (size_t)(n_blocks + 1) * sizeof *block);
  out->n = block[n_blocks];
  for (int64_t b = 0; b < n_blocks; b++) {
    if (qt_layout_rows(out, b) < 1) {
      status = weir_fail(WEIR_ERR_SHAPE, "layout: block %lld has no rows", (long long)b);
      goto failed;
    }
    WEIR_TRY_GOTO(count_block(out, b), failed);
  }
  return WEIR_OK;
failed:
  qt_layout_fini(out);
  return status;
}
