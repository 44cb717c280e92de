/* electrostatics.h - options of the self-consistent potential: geometry of the dielectrics and
 * gates, doping, and how electrons and potential are iterated. */
#ifndef QT_ELECTROSTATICS_H
#define QT_ELECTROSTATICS_H
#include <stdbool.h>
#include "conf/weir_opt.h"

/* Whose levels fix the chemical potential of the left lead. */
typedef enum qt_fermi_level { QT_FERMI_DOPING, QT_FERMI_GIVEN } qt_fermi_level;
/* Surfaces of the oxide that a gate covers. */
typedef enum qt_sides {
  QT_SIDES_AROUND,
  QT_SIDES_Y,
  QT_SIDES_Z,
  QT_SIDES_Y_MAX,
  QT_SIDES_Y_MIN,
  QT_SIDES_Z_MAX,
  QT_SIDES_Z_MIN
} qt_sides;

/* A metal on the oxide between two positions along x, counted from the left end of the device. */
typedef struct qt_gate_opts {
  double from, to; /* Angstrom */
  int sides;       /* qt_sides */
  double voltage;  /* V, added to that of the sweep where `swept` */
  bool swept;
  double flat_band; /* V: gate voltage at which the metal lies at the zero of potential energy */
} qt_gate_opts;

/* Ionised dopants between two positions along x. */
typedef struct qt_doping_opts {
  double from, to;      /* Angstrom */
  double concentration; /* cm^-3 of the semiconductor's volume; acceptors negative */
} qt_doping_opts;

/* The section `electrostatics` of the configuration. */
typedef struct qt_electrostatics_opts {
  bool enabled;
  double mid_gap;  /* eV, in the gap of the leads at U = 0 */
  int fermi_level; /* qt_fermi_level */
  double spacing;  /* Angstrom, largest of the grid */
  struct {
    double permittivity, margin; /* 1; Angstrom beyond the atoms */
  } semiconductor;
  struct {
    double thickness, permittivity; /* Angstrom, 1 */
  } oxide;
  double vacuum;             /* Angstrom beyond the oxide */
  weir_struct_list gates;    /* of qt_gate_opts */
  weir_struct_list doping;   /* of qt_doping_opts */
  double tolerance;          /* eV, largest change of U */
  int64_t max_iterations;    /* for each bias point */
  double damping;            /* share of a new potential that is taken */
  int64_t history;           /* potentials that Anderson mixing remembers */
  int64_t contour_points;    /* of each segment of a contour */
  int64_t band_points;       /* wave vectors along x of the bands of a lead, at first */
  int64_t max_band_points;   /* at most */
  double fermi_tolerance;    /* eV: change of a lead's level at which there are enough */
  double integral_tolerance; /* of integrals over the bias window, relative */
  double broadening;         /* eV, of the charges that leads inject */
  int64_t poisson_ranks;     /* that share the Poisson equation, at most */
} qt_electrostatics_opts;
extern const weir_opt qt_electrostatics_options[];

/* The section `sweep`: bias points, all pairs; no list: one value, 0 V. */
typedef struct qt_sweep_opts {
  weir_real_list drain; /* V: mu_R = mu_L - e V */
  weir_real_list gate;  /* V, added to gates that are swept */
} qt_sweep_opts;
extern const weir_opt qt_sweep_options[];

#endif
