/* wannier_priv.h - lattice vectors in order, with a matrix each. */
#ifndef WEIR_WANNIER_PRIV_H
#define WEIR_WANNIER_PRIV_H
#include "io/io_numbers.h"
#include "io/weir_wannier.h"

enum {
  WEIR_WANNIER_FUNCTIONS = 100000, /* maximum of a cell */
  WEIR_WANNIER_REACH = 10000,      /* maximum cells of a lattice vector along a direction */
};

/* Lattice vectors as they come, found by value. All zero is empty. */
typedef struct weir_wannier_vectors {
  int64_t count, capacity, order_capacity;
  int64_t (*r)[3];
  int64_t *order; /* [count] indices of `r`, ascending by vector */
} weir_wannier_vectors;
void weir_wannier_vectors_fini(weir_wannier_vectors *v);
/* Place in order: *found says whether the vector is there. */
int64_t weir_wannier_vectors_find(const weir_wannier_vectors *v, const int64_t r[3], bool *found);
/* Adds a vector that is not there, at position `at` of the order. Fails: WEIR_ERR_MEMORY. */
weir_status weir_wannier_vectors_add(weir_wannier_vectors *v, const int64_t r[3],
                                     int64_t at) WEIR_CHECKED;
/* Puts vectors and matrices, `h` [count, n, n] as the vectors came, into *w in ascending order and
 * refuses a vector without its negative. Takes nothing over. Fails: WEIR_ERR_DATA naming `path`,
 * WEIR_ERR_MEMORY. */
weir_status weir_wannier_take(const weir_wannier_vectors *v, const weir_c128 *h, const char *path,
                              weir_wannier *w) WEIR_CHECKED;
/* Three integers of a lattice vector. */
weir_status weir_wannier_read_vector(weir_io_numbers *n, int64_t r[3]) WEIR_CHECKED;
/* One function of the cell as its index, from 0. */
weir_status weir_wannier_read_function(weir_io_numbers *n, const weir_wannier *w,
                                       int64_t *out) WEIR_CHECKED;
#endif
