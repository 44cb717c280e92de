/* lead.h - leads: what a perfect half-infinite wire does to the device at its end.
 *
 * With A0 = z S0 - H0 of a cell and A+ = z S1 - H1, A- = z S1^H - H1^H from cell to cell, the lead
 * at larger x (right) and that at smaller x (left) have the surface Green's functions and
 * self-energies
 *   g_R = (A0 - A+ g_R A-)^-1, Sigma_R = A+ g_R A-;  g_L = (A0 - A- g_L A+)^-1, Sigma_L = A- g_L A+
 * where z = E + i eta, for phonons (hbar omega)^2 + i eta. Matrices are dense, [n, n], row by row.
 */
#ifndef QT_LEAD_H
#define QT_LEAD_H
#include "conf/weir_opt.h"
#include "model/system.h"

typedef enum qt_lead_method {
  QT_LEAD_DECIMATION, /* Lopez Sancho et al., J. Phys. F 15, 851 (1985)                   */
  QT_LEAD_MODES,      /* Bloch modes of the wire, eta = 0: Rungger and Sanvito, Phys. Rev. B 78,
                         035407 (2008); form and stabilisation as in Groth et al., New J. Phys. 16,
                         063065 (2014) */
  QT_LEAD_CONTOUR,    /* those that contour integrals find: Beyn, Linear Algebra Appl. 436, 3839
                         (2012);    for leads Brueck et al., J. Chem. Phys. 147, 074116 (2017) */
  QT_LEAD_SLEPC,      /* those that SLEPc finds about the unit circle, by sparse matrices */
} qt_lead_method;

/* The section `lead` of the configuration. */
typedef struct qt_lead_opts {
  int method;          /* qt_lead_method                                                 */
  double eta;          /* eV: of electrons                                               */
  double eta_phonons;  /* eV^2                                                           */
  double eta_relative; /* of (hbar omega)^2                                              */
  double tolerance;    /* decimation ends when |A+|, |A-| are this much smaller          */
  double residual;     /* maximum |g - (A0 - A+ g A-)^-1| / |g| of what is accepted         */
  double unit_circle;  /* a mode with | |lambda| - 1 | below it propagates               */
  double mode_error;   /* maximum |T of the perfect lead - an integer| of what is accepted   */
  int64_t max_steps;   /* of decimation                                                  */
  struct {
    int64_t points;      /* of each circle                                              */
    double outer, inner; /* radii in lambda                                             */
    double residual;     /* maximum |T u| / (|T| |u|) of a mode                            */
    int64_t max_cells;   /* sub-cells of a cell                                         */
  } contour;
  struct {
    int64_t targets; /* on the unit circle of a sub-cell's lambda */
    double outer;    /* largest |lambda|, of which 1 / outer is the smallest */
  } slepc;
} qt_lead_opts;
extern const weir_opt qt_lead_options[];
/* Returns the broadening at an energy, both in the units of qt_lead_solve: eta of electrons; of
 * phonons the smaller of eta_phonons and eta_relative times the energy, which keeps acoustic
 * branches sharp. */
double qt_lead_eta(const qt_lead_opts *o, qt_particle particle, double energy);

/* Starts libraries, before any qt_lead_solve by a method that needs a library with options of its
 * own (petsc of the configuration); else nothing. Fails: WEIR_ERR_UNSUPPORTED where the build lacks
 * it; WEIR_ERR_CONFIG, WEIR_ERR_EXTERNAL. */
weir_status qt_lead_start(const qt_lead_opts *o, const weir_string_list *petsc) WEIR_CHECKED;

/* A lead at one wave vector; owns its matrices. s0 NULL: the identity, s1 NULL: 0. */
typedef struct qt_cell {
  int64_t n;
  weir_c128 *h0, *h1, *s0, *s1;
} qt_cell;
/* Creates a cell. Fails: WEIR_ERR_MEMORY; *out is then empty. */
weir_status qt_cell_create(const qt_lead *lead, const double k[2], qt_cell *out) WEIR_CHECKED;
void qt_cell_fini(qt_cell *c);
/* Returns whether both have the same bits. */
bool qt_cell_is_same(const qt_cell *a, const qt_cell *b);

/* What was found; sigma is the caller's: [n, n], or NULL where a side is not wanted. */
typedef struct qt_lead_result {
  weir_c128 *sigma[QT_LEADS];    /* of the lead that is left (right) of the device              */
  int64_t n_modes;               /* that propagate towards each side; by decimation the nearest
                                    integer to the transmission of the perfect wire             */
  weir_c128 *incoming[QT_LEADS]; /* the caller's, or NULL: [n, n], of which n_modes rows are set:
                                 J = (E S - H - Sigma) psi in the end cell of the device, psi
                                 the scattering state of a mode of unit flux that this lead
                                 sends; the sum of J J^H is Gamma                            */
  double residual;               /* the larger of the sides wanted                              */
  int method;                    /* that gave it: another one where the one chosen failed     */
  double flops;                  /* of all methods that were tried and of their tests, by formula,
                                    matrices taken as full, also where it fails; NaN: not known,
                                    where SLEPc was tried */
} qt_lead_result;

/* Computes Sigma at energy `energy` (eV; of phonons (hbar omega)^2 in eV^2), `eta` in the same
 * unit. Decimation whose residual is too large, as where an eigenvalue of the cell is the energy,
 * is repeated with a cell of twice the length, then left to the modes; modes that fail to
 * decimation, contours and SLEPc to both. Decimation has no incoming modes and is left out where
 * these are wanted. Fails: WEIR_ERR_NUMERIC (no method does: the energy is that of a band edge or
 * of a state that does not propagate), WEIR_ERR_MEMORY. */
weir_status qt_lead_solve(const qt_lead_opts *o, const qt_cell *c, double energy, double eta,
                          qt_lead_result *out) WEIR_CHECKED;
/* Flops of qt_lead_solve for one side or both where the chosen method succeeds and one step of the
 * fixed point is enough, and of each step of decimation, how many of which it takes is not known
 * before. Of modes A+ is taken to have the rank of its rows or columns that are not empty. fixed
 * NaN: not known, of contours, which look for sub-cells, and of SLEPc. */
typedef struct qt_lead_work {
  double fixed, step;
} qt_lead_work;
qt_lead_work qt_lead_flops(const qt_lead_opts *o, const qt_lead *lead, int sides);
/* Returns the bytes that it takes for a while in addition to the results where the chosen method
 * succeeds: of modes and contours at most. */
double qt_lead_bytes(const qt_lead_opts *o, const qt_lead *lead);
/* Computes gamma = i (sigma - sigma^H), [n, n]. */
void qt_lead_gamma(int64_t n, const weir_c128 *sigma, weir_c128 *gamma);

#endif
