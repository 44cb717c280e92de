/* ribbon.h - tight-binding ribbons: one orbital a site, nearest neighbours, disorder and flux. */
#ifndef QT_RIBBON_H
#define QT_RIBBON_H
#include "conf/weir_opt.h"
#include "model/system.h"

typedef struct qt_barrier {
  int64_t first, last;
  double height;
} qt_barrier;
extern const weir_opt qt_barrier_options[];

typedef struct qt_ribbon_opts {
  int64_t width, length;
  double onsite, hopping, bond, drop, disorder, flux;
  weir_struct_list barriers; /* qt_barrier */
} qt_ribbon_opts;

/* Rows of an option table of qt_ribbon_opts. */
#define QT_RIBBON_OPTIONS(rows, t, distance, plaquette)                                        \
  WEIR_OPT_INT(qt_ribbon_opts, width, 5, 1, 1e5, "1", rows),                                   \
      WEIR_OPT_INT(qt_ribbon_opts, length, 20, 1, 1e6, "1", "cells between the leads"),        \
      WEIR_OPT_REAL(qt_ribbon_opts, onsite, 0, -1e3, 1e3, "eV", "energy of a site"),           \
      WEIR_OPT_REAL(qt_ribbon_opts, hopping, t, -1e3, 1e3, "eV",                               \
                    "hopping between neighbours, not 0"),                                      \
      WEIR_OPT_REAL(qt_ribbon_opts, bond, distance, 1e-3, 1e3, "Angstrom",                     \
                    "distance of neighbours"),                                                 \
      WEIR_OPT_REAL(qt_ribbon_opts, drop, 0, -1e3, 1e3, "eV",                                  \
                    "energy of the right lead relative to the left one; linear in between"),   \
      WEIR_OPT_REAL(qt_ribbon_opts, disorder, 0, 0, 1e3, "eV",                                 \
                    "width of uniform random energies of the device's sites (Anderson 1958)"), \
      WEIR_OPT_REAL(qt_ribbon_opts, flux, 0, -1e3, 1e3, "h/e",                                 \
                    "magnetic flux through a " plaquette ", in the leads too"),                \
      WEIR_OPT_LIST(qt_ribbon_opts, barriers, qt_barrier, qt_barrier_options, 1000,            \
                    "potential steps over some cells; overlapping ones add up")

/* Sites of a cell by number, rows of constant number of sites in the order of y: neighbours are at
 * most 3 numbers apart. Lengths in units of the distance of neighbours, x in [0, period). */
typedef struct qt_ribbon_lattice {
  const char *device; /* name, for messages                  */
  int64_t sites;      /* of a cell in a row                  */
  double period;      /* of a cell along x                   */
  double area;        /* of a plaquette                      */
  const char *symbol; /* chemical symbol, "X" of a model     */
  double mass;        /* amu, 0 of a model                   */
  void (*locate)(int64_t site, double position[2]);
} qt_ribbon_lattice;

/* Creates a ribbon. The hopping from site 2 to site 1 is t exp(2 pi i flux / area int_1^2 A dl), A
 * = (-y, 0) (Peierls 1933): the same in each cell. seed: of the disorder. *out as in qt_device. */
weir_status qt_ribbon_create(const qt_ribbon_lattice *lattice, const qt_ribbon_opts *o,
                             uint64_t seed, qt_system *out) WEIR_CHECKED;

#endif
