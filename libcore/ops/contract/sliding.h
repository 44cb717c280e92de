/* sliding.h - sums of products whose one factor is read at a sliding position (sliding_priv.h):
 * which sums they are, and a run of a piece. */
#ifndef SLIDING_H
#define SLIDING_H
#include "ops/contract/packed.h"
#include "ops/contract/sliding_priv.h"

typedef struct sliding_form {
  packed_form product;       /* without rows; its tiles are not used         */
  int kept, summed;          /* labels of x and y                            */
  int64_t n_outputs, n_taps; /* their extents                                */
  int64_t slope;
  packed_labels columns, depth; /* the others that C and B have                 */
  int64_t merged;               /* pairs of A for each tap: extents of labels q */
  packed_labels merging;        /* depth, then q                                */
  const sliding_kernels *kernels;
  /* Outputs along x of a piece, of its window; strips of it; pieces along both. */
  int64_t tile, positions, strips, tiles, chunks;
} sliding_form;

/* True when the access is such a sum, of c64 or c128, each position serves several outputs, and
 * this processor has the vector code. */
bool sliding_form_of(const weir_access *a, sliding_form *form);
/* Multiplications of complex numbers in all, and elements that are brought to planar form. */
double sliding_work(const sliding_form *form);
double sliding_moves(const sliding_form *form);

int64_t sliding_pieces(const sliding_form *form);
int64_t sliding_scratch(const sliding_form *form); /* bytes */
/* views: as of packed_run. */
void sliding_run(const sliding_form *form, const weir_view *views, int64_t piece, void *scratch);

#endif
