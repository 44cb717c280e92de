/* gradient.h - nabla H: how H changes with the vector from one atom to another, which couples
 * electrons to vibrations. For each ordered pair of atoms (a, l) that H couples
 *   nabla_i H_al = d H_al / d(R_l - R_a)_i    [n_a, n_l], eV / Angstrom, i = x, y, z.
 * H_al depends on that vector alone, so that nabla H_la = -(nabla H_al)^H and a shift of both
 * changes nothing; derivatives of an atom's own block, and of elements between an atom and its own
 * image, are not known of it and left out. */
#ifndef QT_GRADIENT_H
#define QT_GRADIENT_H
#include "model/system.h"

typedef struct qt_gradient_pair {
  int64_t from, to;    /* a, l                                             */
  int64_t image[2];    /* of l, along y and z                              */
  double vector[3];    /* from a to l, Angstrom                            */
  int64_t first;       /* of its blocks in qt_gradient.value, [3, n_a, n_l] */
  bool is_known[3][2]; /* of each direction: with l moved, with a moved    */
} qt_gradient_pair;

/* Owns its arrays (qt_gradient_fini); all zero is empty. */
typedef struct qt_gradient {
  int64_t n_pairs, count;
  qt_gradient_pair *pair; /* [n_pairs] by from, to, image */
  weir_c128 *value;       /* [count]                      */
} qt_gradient;
void qt_gradient_fini(qt_gradient *g);

/* Lists the pairs that are coupled and further apart than `closest` (Angstrom; nearer ones are
 * parts of one atom), nothing known of them. Fails: WEIR_ERR_DATA (positions that are made up),
 * WEIR_ERR_MEMORY; *out is then empty. */
weir_status qt_gradient_create(const qt_system *s, double closest, qt_gradient *out) WEIR_CHECKED;

/* Fills elements that go as |R_l - R_a|^-exponent along their direction:
 * nabla_i H_al = -exponent H_al (R_l - R_a)_i / |R_l - R_a|^2. */
void qt_gradient_scale(const qt_system *s, double exponent, qt_gradient *g);
/* Fills elements between atoms that are displaced alike from one system to the other (one atom, or
 * all its copies in a device of repeated cells) and those that are not, along one axis: the
 * difference of H by the distance, a central one where each system lies on either side of the
 * device. Where both atoms of a pair have been displaced their mean is kept, and *mismatch is
 * raised to the largest difference from it (eV / Angstrom): half of what a shift of both changes.
 * Fails: WEIR_ERR_DATA (displaced in several ways, or not at all; images that are missing),
 * WEIR_ERR_SHAPE (atoms or orbitals that are not those of the device), WEIR_ERR_MEMORY. */
weir_status qt_gradient_difference(const qt_system *plus, const qt_system *minus, qt_gradient *g,
                                   double *mismatch) WEIR_CHECKED;
/* Checks completeness. Fails: WEIR_ERR_DATA naming the first pair of which a direction is not
 * known. */
weir_status qt_gradient_complete(const qt_gradient *g) WEIR_CHECKED;

#endif
