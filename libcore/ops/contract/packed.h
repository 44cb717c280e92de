/* packed.h - complex products by packed panels: which sums they are, and a run of a piece. */
#ifndef PACKED_H
#define PACKED_H
#include "graph/weir_access.h"
#include "graph/weir_view.h"
#include "ops/contract/packed_priv.h"

/* Labels that stand together for one index of the product, the fastest last. */
typedef struct packed_labels {
  int n, label[WEIR_MAX_DIMS];
  int64_t count; /* product of their extents */
} packed_labels;

/* Index d of an array is first[d] + sum over labels of coef[d][label] * number of the label. */
typedef struct packed_map {
  int rank;
  int64_t first[WEIR_MAX_RANK], coef[WEIR_MAX_RANK][WEIR_MAX_DIMS];
} packed_map;

typedef struct packed_form {
  int n_labels;
  int64_t extent[WEIR_MAX_DIMS]; /* of each label */
  packed_map map[3];             /* of the operands and the result */
  int64_t size;                  /* bytes of an element */
  const packed_kernels *kernels;
  int a; /* operand that is A; the other is B */
  bool conj_b, conj_c;
  packed_labels stack, rows, columns, depth;
  /* Rows and columns of a tile of C, tiles along both, matrices of a piece, pieces along them. */
  int64_t tile_rows, tile_columns, down, across, items, chunks;
} packed_form;

/* True when the access is such a sum, of c64 or c128, and this processor has the vector code. */
bool packed_form_of(const weir_access *a, packed_form *form);
/* Multiplications of complex numbers in all, those that are lost in registers not full included. */
double packed_work(const packed_form *form);

int64_t packed_pieces(const packed_form *form);
int64_t packed_scratch(const packed_form *form); /* bytes */
/* views: the operands, then the result. */
void packed_run(const packed_form *form, const weir_view *views, int64_t piece, void *scratch);

#endif
