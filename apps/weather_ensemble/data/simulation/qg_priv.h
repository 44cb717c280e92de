/* qg_priv.h - tables of a model, memory of a workspace, and the code compiled once per dtype. */
#ifndef WX_QG_PRIV_H
#define WX_QG_PRIV_H
#include "data/simulation/qg.h"
#include "ops/fft/weir_fft_plan.h"

/* Fields that go to the grid and come back: per layer i u / i, i v / i and q; u q and v q. */
enum { QG_TO_GRID = 6, QG_FROM_GRID = 4, QG_PAIRS_TO = 3, QG_PAIRS_FROM = 2 };

typedef struct qg_kernels qg_kernels;

/* Spectra are [rows, pitch] complex: row r is ky = r for r <= top_y, else r - rows; column c is
 * kx = c for c <= top_x, and nothing beyond. Tables hold each number twice, once for each half of a
 * complex number, in the dtype of the model. */
struct wx_qg {
  wx_qg_params p;
  int64_t top_x, top_y, rows, pitch;
  int64_t block; /* rows of the grid that are transformed along x at once */
  const qg_kernels *kernels;
  double *kx, *ky;     /* [pitch], [rows] */
  double *own, *other; /* [rows, pitch]: psi1 = own q1 + other q2, psi2 likewise */
  double *k2;          /* [rows, pitch] */
  double *topography;  /* [rows, pitch] complex */
  double *relaxed;     /* [rows]: imaginary and real part of psiR at kx = 0, [rows, 2] */
  void *t_kx, *t_own, *t_other, *t_drag, *t_decay, *t_topography, *t_relaxed;
  weir_fft_plan *y_back, *y_forward, *x_back, *x_forward; /* of the dtype, complex */
  weir_fft_plan *to_real, *from_real;                     /* f64, [ny, nx / 2 + 1] <-> [ny, nx] */
};

struct wx_qg_workspace {
  void *in, *mixed;         /* [ny, QG_TO_GRID, pitch] complex: of (ky, kx), of (y, kx) */
  void *flux, *out;         /* [ny, QG_FROM_GRID, pitch] complex: of (y, kx), of (ky, kx) */
  void *line_in, *line;     /* [block, QG_PAIRS_TO, nx] complex: of kx, of x */
  void *product, *line_out; /* [block, QG_PAIRS_FROM, nx] complex: of x, of kx */
  void *stage, *sum;        /* states within a step */
  void *row[4];             /* [pitch] complex each */
  double *half, *grid;      /* [ny, nx / 2 + 1] complex, [ny, nx] */
  double *spectra;          /* [5, rows, pitch] complex */
  double *extra;            /* [rows, pitch] complex, and two fields */
};

struct qg_kernels {
  void (*steps)(const wx_qg *m, wx_qg_workspace *r, void *state, int64_t n);
  void (*tendency)(const wx_qg *m, wx_qg_workspace *r, const void *state, void *out);
  void (*add)(const wx_qg *m, void *to, double scale, const void *a, const void *b);
  /* A state as f64 and back. */
  void (*widen)(const wx_qg *m, const void *state, int64_t layer, double *q);
  void (*narrow)(const wx_qg *m, const double *q, int64_t layer, void *state);
  /* Tables from those of f64. */
  void (*tables)(wx_qg *m);
};
extern const qg_kernels qg_kernels_f32, qg_kernels_f64;

/* Computes a field [ny, nx] of a spectrum [rows, pitch] complex, and back. */
void qg_to_grid(const wx_qg *m, wx_qg_workspace *r, const double *spectrum, double *grid);
void qg_from_grid(const wx_qg *m, wx_qg_workspace *r, const double *grid, double *spectrum);
/* Computes spectra of psi [2, rows, pitch] of a state. */
void qg_psi_spectra(const wx_qg *m, const void *state, double *psi);
#endif
