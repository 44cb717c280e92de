/* bands.h - the bands of a lead, the perfect wire: what its electrons and holes are at a chemical
 * potential, and at which one they balance its doping. */
#ifndef QT_BANDS_H
#define QT_BANDS_H
#include "model/system.h"

typedef struct qt_bands_spec {
  int64_t points;     /* wave vectors along x; odd: one more                          */
  double spin;        /* electrons of a state of the basis, qt_system_spin            */
  double mid_gap;     /* eV: energies above are the conduction bands                  */
  double tolerance;   /* eV, of qt_bands_find_mu: change of the level                  */
  int64_t max_points; /* of qt_bands_find_mu: wave vectors along x                   */
} qt_bands_spec;

/* Energies at a uniform mesh of wave vectors along x from -pi on, interpolated between them. All
 * zero is empty; owns its arrays (qt_bands_fini). */
typedef struct qt_bands {
  int64_t n_k, points, n;     /* transverse wave vectors, of the same weight; along x; bands */
  int64_t first;              /* bands below mid_gap                                         */
  double *energy;             /* [n_k, points, n] ascending at each wave vector, eV          */
  double *low, *high;         /* [n] bounds of each band                                     */
  double spin;                /* electrons of a state                                        */
  double valence, conduction; /* edges; -infinity, infinity where there is no such band      */
} qt_bands;

/* Computes bands at `points` wave vectors along x and the transverse ones given. Fails:
 * WEIR_ERR_CONFIG where mid_gap lies in a band, naming the gaps nearest to it; as
 * qt_band_structure_create. */
weir_status qt_bands_create(const qt_lead *lead, int64_t n_k, const double (*k)[2],
                            const qt_bands_spec *spec, qt_bands *out) WEIR_CHECKED;
void qt_bands_fini(qt_bands *b);

/* Returns the number of electrons less holes of a cell, kt = k_B T > 0 in eV; *slope: derivative by
 * mu. */
double qt_bands_electrons(const qt_bands *b, double mu, double kt, double *slope);
/* Finds the chemical potential at which that number is `electrons`; the middle, where the number is
 * the same over an interval. Wave vectors along x are doubled (of the same lead, k and spec) until
 * it is within spec->tolerance of that of every second wave vector: its error is smaller. Fails:
 * WEIR_ERR_CONFIG where the bands do not hold so many; WEIR_ERR_NUMERIC where that takes more than
 * spec->max_points. */
weir_status qt_bands_find_mu(const qt_lead *lead, const double (*k)[2], const qt_bands_spec *spec,
                             double electrons, double kt, qt_bands *b, double *mu) WEIR_CHECKED;

#endif
