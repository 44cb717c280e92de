/* layers.h - principal layers of a device that comes as one matrix: those of its ends, and blocks
 * that couple to their neighbours only. */
#ifndef QT_LAYERS_H
#define QT_LAYERS_H
#include "model/system.h"

/* Which columns the rows of matrices couple to. Owns its arrays (qt_pattern_fini). */
typedef struct qt_pattern {
  int64_t n;
  int64_t *last;  /* [n] the last column that rows 0 .. r couple to   */
  int64_t *first; /* [n] the first column that rows r .. n - 1 couple to */
} qt_pattern;
/* Creates the pattern of h and s, of all images; elements of 0 do not couple. Fails:
 * WEIR_ERR_MEMORY. */
weir_status qt_pattern_create(const qt_bloch *h, const qt_bloch *s, int64_t n,
                              qt_pattern *out) WEIR_CHECKED;
void qt_pattern_fini(qt_pattern *p);

/* Finds the smallest end layer (QT_LEFT: of the first orbitals) that couples to its neighbour only
 * and is repeated there: the first two layers, and the couplings among the first three, differ by
 * no more than `tolerance` (of h in eV, of s). Fails: WEIR_ERR_DATA. */
weir_status qt_layer_find(const qt_pattern *p, const qt_bloch *h, const qt_bloch *s, int side,
                          double tolerance, int64_t *layer) WEIR_CHECKED;
/* Refuses an end layer that couples beyond its neighbour, or that has none. Fails: WEIR_ERR_CONFIG
 * naming the orbitals. */
weir_status qt_layer_check(const qt_pattern *p, int side, int64_t layer) WEIR_CHECKED;
/* Returns the largest difference between an end layer and its neighbour, in h (eV) or in s; with
 * `couplings` also between their couplings inwards, for which there must be a third layer. */
double qt_layer_difference(const qt_bloch *h, const qt_bloch *s, int64_t n, int side, int64_t layer,
                           bool couplings);
/* Divides orbitals into blocks between end layers of `left` and `right` orbitals, each as small as
 * its couplings allow. ends [n + 1]: orbitals before which a block may begin; NULL: all. The caller
 * frees *block
 * [*n_blocks + 1] with weir_free. Fails: WEIR_ERR_CONFIG (no space between the ends),
 * WEIR_ERR_MEMORY. */
weir_status qt_layers_divide(const qt_pattern *p, int64_t left, int64_t right, const bool *ends,
                             int64_t **block, int64_t *n_blocks) WEIR_CHECKED;
#endif
