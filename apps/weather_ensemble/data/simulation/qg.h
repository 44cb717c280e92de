/* qg.h - two-layer quasi-geostrophic turbulence over topography, relaxed to a baroclinic jet;
 * doubly periodic (docs/science/weather_simulation.md). Non-dimensional, upper layer 1,
 * lower 2:
 *
 *   q1 = lap psi1 - F (psi1 - psi2),   q2 = lap psi2 + F (psi1 - psi2) + h(x, y)
 *   dq1/dt + J(psi1, q1) + U1 dq1/dx + (beta + F (U1 - U2)) dpsi1/dx
 *       =  (psi1 - psi2 - psiR) / tau_d - nu lap^4 q1
 *   dq2/dt + J(psi2, q2) + U2 dq2'/dx + (beta - F (U1 - U2)) dpsi2/dx
 *       = -(psi1 - psi2 - psiR) / tau_d - lap psi2 / tau_f - nu lap^4 q2',   q2' = q2 - h
 *
 * Fourier in x and y, truncated at two thirds; fourth-order Runge-Kutta with the viscosity as
 * integrating factor. A state is the spectrum of q1 and q2': a block of memory that is copied as it
 * is. */
#ifndef WX_QG_H
#define WX_QG_H
#include <stddef.h>
#include <stdint.h>
#include "base/weir_dtype.h"

enum { WX_QG_LAYERS = 2 };

typedef struct wx_qg_params {
  weir_dtype dtype;      /* WEIR_F32 or WEIR_F64: what steps are computed in     */
  int64_t nx, ny;        /* points, even, at least 8                             */
  double lx, ly;         /* of the domain                                        */
  double coupling, beta; /* F, beta                                              */
  double u[WX_QG_LAYERS];
  double tau_d, tau_f; /* INFINITY: no relaxation, no drag                     */
  double jet, width;   /* -dpsiR/dy = jet sech^2((y - ly / 2) / width) - mean  */
  double mountain;     /* h0, the height of the higher mountain                */
  double nu, dt;
} wx_qg_params;

/* A model: tables and plans. Const once made, for any number of threads with a workspace each. */
typedef struct wx_qg wx_qg;
/* Memory for conversions between states and fields, of any model with the same grid and dtype. */
typedef struct wx_qg_workspace wx_qg_workspace;

/* Returns the mean of the jet, which is U1 where U2 = 0. */
double wx_qg_mean_wind(const wx_qg_params *p);
/* Returns the topography h of the lower layer, not less its mean, at x from the first column and y
 * from the jet's axis. */
double wx_qg_mountains(const wx_qg_params *p, double x, double y);
/* Checks the parameters. Fails: WEIR_ERR_CONFIG (a grid or lengths that cannot be). */
weir_status wx_qg_check(const wx_qg_params *p) WEIR_CHECKED;
/* Creates a model. Fails: WEIR_ERR_CONFIG (a grid that cannot be), WEIR_ERR_MEMORY,
 * WEIR_ERR_UNSUPPORTED (no FFTW).
 */
weir_status wx_qg_create(const wx_qg_params *p, wx_qg **out) WEIR_CHECKED;
void wx_qg_destroy(wx_qg **m);
const wx_qg_params *wx_qg_get(const wx_qg *m);
weir_status wx_qg_workspace_create(const wx_qg *m, wx_qg_workspace **out) WEIR_CHECKED;
void wx_qg_workspace_destroy(wx_qg_workspace **r);

/* Returns the bytes of a state. Its memory has to be 64-byte aligned, as weir_alloc gives it. */
int64_t wx_qg_state_bytes(const wx_qg *m);
/* Adds to a state: to += scale (a - b). */
void wx_qg_add(const wx_qg *m, void *to, double scale, const void *a, const void *b);

/* Copies the waves that both grids have, of models with one dtype and domain; the others of `out`
 * are 0.
 */
void wx_qg_project(const wx_qg *from, const void *state, const wx_qg *to, void *out);

/* Sets the state of the streamfunctions psi [2, ny, nx] (row j at y = j ly / ny), their means and
 * what is beyond the truncation left out; and back. */
void wx_qg_set_psi(const wx_qg *m, wx_qg_workspace *r, const double *psi, void *state);
void wx_qg_psi(const wx_qg *m, wx_qg_workspace *r, const void *state, double *psi);
/* Computes q1 and q2' [2, ny, nx]. */
void wx_qg_q(const wx_qg *m, wx_qg_workspace *r, const void *state, double *q);
/* Computes means over the domain: sum over layers of (grad psi)^2 / 2, plus F (psi1 - psi2)^2 / 2;
 * and of q'^2 / 2. Both are conserved without forcing, friction, topography and winds. */
void wx_qg_invariants(const wx_qg *m, wx_qg_workspace *r, const void *state, double *energy,
                      double *enstrophy);
#endif
