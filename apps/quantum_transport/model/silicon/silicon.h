/* silicon.h - silicon wires and slabs along [100] as open systems. */
#ifndef QT_SILICON_H
#define QT_SILICON_H
#include "conf/weir_opt.h"
#include "model/gradient.h"
#include "model/silicon/force_field.h"
#include "model/silicon/sp3d5s.h"
#include "model/system.h"

typedef struct qt_silicon_opts {
  int particle; /* qt_particle */
  int64_t length, height, width;
  double lattice;
  struct {
    double x, y, z;
  } strain;
  qt_sp3d5s_opts electrons;
  qt_force_opts phonons;
} qt_silicon_opts;

/* Rows of an option table of qt_silicon_opts. */
#define QT_SILICON_OPTIONS                                                                    \
  WEIR_OPT_ENUM(qt_silicon_opts, particle, QT_ELECTRONS, "electrons|phonons",                 \
                "what is transported; the atoms are the same"),                               \
      WEIR_OPT_INT(qt_silicon_opts, length, 8, 1, 1e5, "1", "cubic cells between the leads"), \
      WEIR_OPT_INT(qt_silicon_opts, height, 2, 1, 100, "1",                                   \
                   "cubic cells along y, where it is cut"),                                   \
      WEIR_OPT_REAL(qt_silicon_opts, lattice, 5.431, 4, 7, "Angstrom", "lattice constant"),   \
      WEIR_OPT_REAL(qt_silicon_opts, strain.x, 0, -0.1, 0.1, "1",                             \
                    "strain along x; on-site energies and force constants do not change"),    \
      WEIR_OPT_REAL(qt_silicon_opts, strain.y, 0, -0.1, 0.1, "1", "strain along y"),          \
      WEIR_OPT_REAL(qt_silicon_opts, strain.z, 0, -0.1, 0.1, "1", "strain along z"),          \
      WEIR_OPT_TABLE(qt_silicon_opts, electrons, qt_sp3d5s_options, "sp3d5s* tight binding"), \
      WEIR_OPT_TABLE(qt_silicon_opts, phonons, qt_force_options, "valence force field")

/* Creates the system. is_periodic: along z, one cubic cell; else the width of the options, and cut.
 * *out as in qt_device. */
weir_status qt_silicon_create(const qt_silicon_opts *o, bool is_periodic,
                              qt_system *out) WEIR_CHECKED;
/* Returns the orbitals or coordinates of a block of it, without those of hydrogen, or a few less:
 * atoms at edges with a single bond are removed. */
int64_t qt_silicon_rows(const qt_silicon_opts *o, bool is_periodic);
/* Computes nabla H of electrons in that system, of the two-centre integrals; 0 between silicon and
 * hydrogen, which follows its silicon atom. Fails: WEIR_ERR_MEMORY; *out is then empty. */
weir_status qt_silicon_gradient(const qt_silicon_opts *o, const qt_system *s,
                                qt_gradient *out) WEIR_CHECKED;

#endif
