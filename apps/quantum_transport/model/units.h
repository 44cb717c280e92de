/* units.h - units of quantum_transport: energy eV, length Angstrom, temperature K, mass amu,
 * current A, power W. Constants: CODATA 2018. */
#ifndef QT_UNITS_H
#define QT_UNITS_H
#include "base/weir_units.h"

#define QT_BOLTZMANN 8.617333262e-5   /* eV / K                                         */
#define QT_CONDUCTANCE 3.874045865e-5 /* e^2 / h in S: A per eV and spin                */
#define QT_VIBRATION 4.18015928e-3    /* hbar^2 / amu in eV Angstrom^2                  */
#define QT_NEWTON 0.0624150907        /* 1 N/m in eV / Angstrom^2                       */
#define QT_EPSILON_0 5.526349406e-3   /* vacuum permittivity in e / (V Angstrom)         */
#define QT_RYDBERG WEIR_RYDBERG       /* eV                                             */
#define QT_BOHR WEIR_BOHR             /* Angstrom                                       */

#endif
