/* packed.h - complex products by packed panels: which sums they are, and a run of a piece. */
#ifndef PACKED_H
#define PACKED_H
#include "graph/weir_graph.h"
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

/* An index of an operand that is gathered: to dimension `dim` (-1: none) is added what array `view`
 * of a run has where the map says. */
typedef struct packed_gather {
  int dim, view;
  packed_map map;
} packed_gather;

typedef struct packed_form {
  int operand[2]; /* of the access, those that are multiplied */
  int index[2];   /* and those that they are gathered from, -1: none */
  packed_gather gather[2];
  int n_labels;
  int64_t extent[WEIR_MAX_DIMS]; /* of each label */
  packed_map map[3];             /* of the operands and the result */
  int64_t size;                  /* bytes of an element */
  const packed_kernels *kernels;
  int a;        /* operand that is A; the other is B */
  bool conj[2]; /* the conjugate of the operand is multiplied */
  bool conj_b, conj_c;
  packed_labels stack, rows, columns, depth;
  /* Rows and columns of a tile of C, tiles along both, matrices of a piece, pieces along them. */
  int64_t tile_rows, tile_columns, down, across, items, chunks;
} packed_form;

/* An array as the product sees it: its first element, and elements from one to the next of every
 * label. */
typedef struct packed_array {
  char *data;
  int64_t step[WEIR_MAX_DIMS];
} packed_array;

/* What the indices of one side are gathered from; `stride`: elements of the side for each that an
 * index is greater, 0: it gathers nothing. */
typedef struct packed_source {
  packed_array index;
  weir_dtype dtype;
  int64_t stride;
} packed_source;

static inline int64_t packed_min(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static inline int64_t packed_ceil_div(int64_t a, int64_t b)
{
  return (a + b - 1) / b;
}

packed_array packed_array_of(const packed_form *f, const packed_map *m, const weir_view *v);
packed_source packed_source_of(const packed_form *f, int operand, const weir_view *views);
/* Where the indices [from, from + n) of these labels lie in x; true when one after the other. */
bool packed_locate(const packed_form *f, const packed_labels *l, const packed_array *x,
                   int64_t from, int64_t n, int64_t *to);

/* True when the access is such a sum, of c64 or c128, and this processor has the vector code. Of
 * each operand one index may be gathered, by labels that are no rows or columns of C. */
bool packed_form_of(const weir_access *a, packed_form *form);
/* The same with operand a as A; false: rows or columns are gathered then. */
bool packed_form_turn(packed_form *form, int a);
bool packed_map_uses(const packed_map *m, int label);
/* True when the label is one of operand k or of the indices that it is gathered by. */
bool packed_uses(const packed_form *form, int k, int label);
/* Multiplications of complex numbers in all, those that are lost in registers not full included;
 * elements of B that are packed, as often as they are. */
double packed_work(const packed_form *form);
double packed_moves(const packed_form *form);

int64_t packed_pieces(const packed_form *form);
int64_t packed_scratch(const packed_form *form); /* bytes */
/* Fills the arrays of views: what operand[i] of the form and, where it is gathered, index[i] are of
 * the node; capacity of list: n, at least 5. Returns how many they are. */
int packed_arrays(const packed_form *form, const weir_node *node, int32_t *list, int n);
/* views: the operands, the result, then what operands are gathered from, if any. */
void packed_run(const packed_form *form, const weir_view *views, int64_t piece, void *scratch);

#endif
