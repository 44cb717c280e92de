/* qg_priv.h - tables of a model and memory of a workspace. */
#ifndef WX_QG_PRIV_H
#define WX_QG_PRIV_H
#include "data/simulation/qg.h"
#include "ops/fft/weir_fft_plan.h"

/* Spectra are [rows, columns] complex: row r is ky = r for r <= top_y, else r - rows; column c is
 * kx = c. */
struct wx_qg {
  wx_qg_params p;
  int64_t top_x, top_y, rows, columns;
  double *kx, *ky;                    /* [columns], [rows] */
  double *own, *other;                /* [rows, columns]: psi1 = own q1 + other q2, psi2 likewise */
  double *k2;                         /* [rows, columns] */
  double *topography;                 /* [rows, columns] complex */
  double *relaxed;                    /* [rows, 2]: psiR at kx = 0, complex */
  weir_fft_plan *to_real, *from_real; /* f64, [ny, nx / 2 + 1] <-> [ny, nx] */
};

struct wx_qg_workspace {
  double *half, *grid; /* [ny, nx / 2 + 1] complex, [ny, nx] */
  double *spectra;     /* [5, rows, columns] complex */
  double *extra;       /* [rows, columns] complex, and two fields */
  void *rate;          /* a state */
};

/* Computes a field [ny, nx] of a spectrum [rows, columns] complex, and back. */
void qg_to_grid(const wx_qg *m, wx_qg_workspace *r, const double *spectrum, double *grid);
void qg_from_grid(const wx_qg *m, wx_qg_workspace *r, const double *grid, double *spectrum);
/* Converts the spectrum of q of a layer of a state to f64, and back. */
void qg_widen(const wx_qg *m, const void *state, int64_t layer, double *q);
void qg_narrow(const wx_qg *m, const double *q, int64_t layer, void *state);
/* Computes spectra of psi [2, rows, columns] of a state. */
void qg_psi_spectra(const wx_qg *m, const void *state, double *psi);
#endif
