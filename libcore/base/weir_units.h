/* weir_units.h - atomic units in the units of Weir. CODATA 2018. */
#ifndef WEIR_UNITS_H
#define WEIR_UNITS_H

#define WEIR_RYDBERG 13.605693122994 /* eV       */
#define WEIR_BOHR 0.529177210903     /* Angstrom */

#endif
