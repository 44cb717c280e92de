/* open_points.h - Green's functions with scattering at all points (wave vector, energy) of an open
 * system, whose leads are solved once:
 *   G^R = (E S - H - Sigma_B - Sigma_s^R)^-1, G^< = G^R (Sigma_B^< + Sigma_s^<) G^A,
 *   G^> = G^< + G^R - G^A, Sigma_B,c^< = i l_c Gamma_c, Sigma_B,c^> = i (l_c - 1) Gamma_c,
 * of electrons l = f (Fermi), of phonons l = -N (Bose), E = (hbar omega)^2 and S = 1. */
#ifndef QT_OPEN_POINTS_H
#define QT_OPEN_POINTS_H
#include "model/execution.h"
#include "model/landauer.h"
#include "model/lead/lead.h"
#include "model/rgf/rgf.h"

typedef enum qt_scattering_kind { QT_SCATTERING_RETARDED, QT_SCATTERING_LESSER } qt_scattering_kind;

/* Where the self-energy of scattering comes from. */
typedef struct qt_scattering_source {
  /* Adds factor times block (row, column) at a point to out [rows, columns]; of lesser functions
   * only column row and, where tridiagonal, row + 1 are read. NULL: there is no scattering. */
  void (*add)(const void *context, int64_t point, qt_scattering_kind kind, int64_t row,
              int64_t column, double factor, weir_c128 *out);
  const void *context;
  bool tridiagonal;
} qt_scattering_source;

/* Owns its arrays (qt_open_points_fini). Point p is wave vector p / n_energies, energy p %
 * n_energies. */
typedef struct qt_open_points {
  const qt_system *system;
  qt_layout layout; /* of its blocks */
  int64_t n_k, n_energies;
  double (*k)[2];             /* [n_k]                                                  */
  double *energy;             /* [n_energies] eV; of phonons hbar omega > 0             */
  double *filling[QT_LEADS];  /* [n_energies] l above                                   */
  weir_c128 *sigma[QT_LEADS]; /* [n_k, n_energies, n, n] of the end blocks              */
  int64_t n_shifted;          /* points whose leads were solved at a shifted energy     */
  int threads;
  const qt_exec_opts *exec; /* of plans; borrowed, NULL: on the cpu */
} qt_open_points;

typedef struct qt_open_points_spec {
  const qt_system *system;
  const qt_lead_opts *lead;
  int64_t n_k, n_energies;
  const double (*k)[2];
  const double *energy;
  const qt_reservoir *reservoir; /* [QT_LEADS]                                              */
  double shift;                  /* eV, where a lead cannot be solved; 0: that is a failure */
  int threads;                   /* 0: all                                                  */
  const qt_exec_opts *exec;      /* of plans; NULL: on the cpu                              */
} qt_open_points_spec;
/* Solves the leads of all points. Fails: WEIR_ERR_NUMERIC, naming wave vector and energy,
 * WEIR_ERR_MEMORY, WEIR_ERR_SHAPE; *out is then empty. */
weir_status qt_open_points_create(const qt_open_points_spec *s, qt_open_points *out) WEIR_CHECKED;
void qt_open_points_fini(qt_open_points *o);
/* Estimates bytes of the leads of so many points, and of those that are computed at once. threads
 * 0: all. Fails: WEIR_ERR_MEMORY. */
weir_status qt_open_points_bytes(const qt_system *s, int64_t points, int threads, bool tridiagonal,
                                 double *out) WEIR_CHECKED;

/* What a point gives; borrowed by `take` for its time. */
typedef struct qt_open_point {
  int64_t point;
  int thread;                            /* that computes it, below qt_open_points.threads */
  const weir_c128 *g, *lesser, *greater; /* [layout.count] as layout.h says */
  double flow[QT_LEADS];  /* Tr[Sigma_c^< G^> - Sigma_c^> G^<] of each lead: what enters from it */
  double gross[QT_LEADS]; /* the larger of the two, without sign                               */
} qt_open_point;

/* Computes all points, on threads, which call take(context, point) once for each, in any order.
 * Fails: WEIR_ERR_NUMERIC naming the first point whose Green's function is singular,
 * WEIR_ERR_MEMORY. */
weir_status qt_open_points_solve(const qt_open_points *o, const qt_scattering_source *scattering,
                                 void (*take)(void *context, const qt_open_point *point),
                                 void *context) WEIR_CHECKED;

/* Computes currents [n_blocks - 1] from a block to the next one by the coupling between them,
 *   Tr[K_nm G^<_mn - G^<_nm K_mn], K = H - E S,
 * positive to the right; scratch [2, layout.max, layout.max]. */
void qt_open_points_cuts(const qt_open_points *o, const qt_open_point *p, weir_c128 *scratch,
                         double *current);

#endif
