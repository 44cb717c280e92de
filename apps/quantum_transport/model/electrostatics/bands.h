/* bands.h - the bands of a lead, the perfect wire: what its electrons and holes are at a chemical
 * potential, and at which one they balance its doping. */
#ifndef QT_BANDS_H
#define QT_BANDS_H
#include "model/system.h"

typedef struct qt_bands_spec {
  int64_t points; /* wave vectors along x; odd: one more                  */
  double spin;    /* electrons of a state of the basis, qt_system_spin   */
  double mid_gap; /* eV: energies above are the conduction bands         */
} qt_bands_spec;

/* Energies of all wave vectors, the same weight each. All zero is empty; owns its array
 * (qt_bands_fini). */
typedef struct qt_bands {
  int64_t count, first;       /* energies; of them below mid_gap                    */
  double *energy;             /* [count] ascending, eV                              */
  double weight;              /* electrons of an energy per cell                    */
  double valence, conduction; /* edges; -infinity, infinity where there is no such band */
} qt_bands;

/* Bands at `points` wave vectors along x and the transverse ones given. Fails: WEIR_ERR_CONFIG
 * where mid_gap lies in a band, naming the gaps nearest to it; as qt_band_structure_create. */
weir_status qt_bands_create(const qt_lead *lead, int64_t n_k, const double (*k)[2],
                            const qt_bands_spec *spec, qt_bands *out) WEIR_CHECKED;
void qt_bands_fini(qt_bands *b);

/* Electrons less holes of a cell, kt = k_B T > 0 in eV; *slope: derivative by mu. */
double qt_bands_electrons(const qt_bands *b, double mu, double kt, double *slope);
/* The chemical potential at which that number is `electrons`, to 1e-9 eV. Fails: WEIR_ERR_CONFIG
 * where the bands do not hold so many. */
weir_status qt_bands_find_mu(const qt_bands *b, double electrons, double kt,
                             double *mu) WEIR_CHECKED;

#endif
