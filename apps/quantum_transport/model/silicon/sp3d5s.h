/* sp3d5s.h - nearest-neighbour tight binding of silicon: s, p, d and excited s orbitals (Jancu,
 * Scholz, Beltram, Bassani, PRB 57, 6493 (1998)), two-centre integrals after Slater and Koster, PR
 * 94, 1498 (1954). Orbitals: s, x, y, z, xy, yz, zx, x2-y2, z2, s*; with spin-orbit coupling those
 * of spin up, then those of spin down. */
#ifndef QT_SP3D5S_H
#define QT_SP3D5S_H
#include "conf/weir_opt.h"
#include "model/silicon/crystal.h"

enum { QT_ORBITALS = 10 };

/* Name, value (eV) of Boykin, Klimeck, Oyafuso, PRB 69, 115201 (2004), exponents of its distance
 * scaling: as published, and corrected for shear. */
// clang-format off
#define QT_TWO_CENTRE(X)                                \
  X(ss_sigma,          -1.95933, 0.562469, 0.562469)    \
  X(sstar_sstar_sigma, -4.24135, 0.192369, 0.192369)    \
  X(s_sstar_sigma,     -1.52230, 0.132030, 0.132030)    \
  X(sp_sigma,           3.02562, 2.365484, 2.365484)    \
  X(sstar_p_sigma,      3.15565, 0.344918, 0.344918)    \
  X(sd_sigma,          -2.28485, 2.567199, 2.567199)    \
  X(sstar_d_sigma,     -0.80993, 1.086006, 1.086006)    \
  X(pp_sigma,           4.10364, 0.494354, 0.2)         \
  X(pp_pi,             -1.51801, 1.843851, 1.68)        \
  X(pd_sigma,          -1.35554, 2.236358, 0.2)         \
  X(pd_pi,              2.38479, 4.512500, 4.43)        \
  X(dd_sigma,          -1.68136, 4.668357, 0.1)         \
  X(dd_pi,              2.58880, 2.302375, 6.0)         \
  X(dd_delta,          -1.81400, 0.923911, 6.0)
// clang-format on

typedef enum qt_passivation { QT_SHIFT, QT_HYDROGEN, QT_NO_PASSIVATION } qt_passivation;
typedef struct qt_sp3d5s_opts {
  bool spin_orbit;
  int passivation; /* qt_passivation */
  double shift, bond;
  int exponents; /* 0: as published, 1: corrected for shear */
  struct {
    double s, p, d, sstar, spin_orbit;
  } energy;
  struct {
#define X(name, value, published, corrected) double name;
    QT_TWO_CENTRE(X)
#undef X
  } v;
  struct {
    double energy, ss_sigma, sp_sigma, s_sstar_sigma, sd_sigma, distance;
  } hydrogen;
} qt_sp3d5s_opts;
extern const weir_opt qt_sp3d5s_options[];

/* Computes <orbital of atom 1 | H | orbital of atom 2> (eV, row by row), r from 1 to 2 in Angstrom.
 */
void qt_sp3d5s_block(const qt_sp3d5s_opts *o, const double r[3],
                     double out[QT_ORBITALS * QT_ORBITALS]);
/* Its derivative along r_i, in eV/Angstrom. */
void qt_sp3d5s_gradient(const qt_sp3d5s_opts *o, const double r[3],
                        double out[3][QT_ORBITALS * QT_ORBITALS]);

/* Creates atoms, orbitals and matrix elements of the crystal's cell; its dangling bonds are
 * passivated: by a shift of the sp3 hybrid along them (Lee, Oyafuso, von Allmen, Klimeck, PRB 69,
 * 045316 (2004)), or by a hydrogen atom each, which follows its silicon atom. *out is the caller's
 * to finish, on failure too. Fails: WEIR_ERR_MEMORY. */
weir_status qt_sp3d5s_wire(const qt_crystal *c, const qt_sp3d5s_opts *o, qt_wire *out) WEIR_CHECKED;

#endif
