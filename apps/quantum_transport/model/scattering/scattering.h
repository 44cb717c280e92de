/* scattering.h - options of electron-phonon scattering, the section `scattering` of the
 * configuration. */
#ifndef QT_SCATTERING_H
#define QT_SCATTERING_H
#include "conf/weir_opt.h"

typedef enum qt_scattering_method { QT_SCATTERING_NONE, QT_SCATTERING_BORN } qt_scattering_method;
/* How new self-energies are found from those before. */
typedef enum qt_born_method {
  QT_BORN_SIMPLE,   /* a share of the new one                                              */
  QT_BORN_ANDERSON, /* from several (Anderson, J. ACM 12, 547, 1965), where there is PETSc */
  QT_BORN_NGMRES    /* likewise, by nonlinear GMRES                                        */
} qt_born_method;
/* Phonons in equilibrium with the leads, or changed by the electrons, too. */
typedef enum qt_phonon_state { QT_PHONONS_COUPLED, QT_PHONONS_BATH } qt_phonon_state;

/* Where a potential is iterated, too: scattering to self-consistency in each, or once. */
typedef enum qt_scattering_order { QT_SCATTERING_IN_EACH, QT_SCATTERING_ONCE } qt_scattering_order;

/* Where ranks compute self-energies: in tiles of atoms and energies, or at the points of G, one
 * phonon frequency after another, as it was done before tiles. */
typedef enum qt_tiles_scheme { QT_SCHEME_TILES, QT_SCHEME_POINTS } qt_tiles_scheme;

typedef struct qt_scattering_opts {
  int kind;                 /* qt_scattering_method                                        */
  int retarded;             /* qt_retarded, of electrons                                   */
  int method;               /* qt_born_method                                              */
  int64_t history;          /* self-energies that PETSc's methods remember              */
  double mixing;            /* share of each new self-energy that is taken                 */
  double tolerance;         /* largest change of Sigma^<, relative to its largest element  */
  double current_tolerance; /* relative change of the current                              */
  double energy_tolerance;  /* of the balance of energy, relative; 0: any                  */
  int64_t max_iterations;
  int poisson;    /* qt_scattering_order                                         */
  int fission;    /* weir_fission, of the sums of self-energies                  */
  bool window;    /* sums over E +- hw as sliding windows                        */
  int precision;  /* weir_products: numbers that operands of these sums are      */
  bool normalise; /* by powers of two, into the range of those numbers          */
  double memory;  /* MiB: arrays between these sums, by atoms at once; 0: all    */
  struct {
    int64_t atoms; /* ranges of atoms of ranks; 0: with fewest bytes moved */
    int scheme;    /* qt_tiles_scheme                                      */
    int64_t ranks; /* for predictions of `describe`; 0: one             */
  } tiles;
  struct {
    int state;           /* qt_phonon_state                               */
    int64_t frequencies; /* hbar omega = n steps of energy, n from 1 on   */
    weir_one_of device;  /* the phonons of the device                     */
  } phonons;
  struct {
    double exponent; /* elements of H fall as this power of the distance */
  } gradient;
} qt_scattering_opts;
extern const weir_opt qt_scattering_options[];

#endif
