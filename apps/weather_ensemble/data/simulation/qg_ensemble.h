/* qg_ensemble.h - the built-in simulation: a truth, analyses of it, and ensembles of forecasts by a
 * model that is not quite the one of the truth (docs/science/weather_simulation.md).
 *
 * Every forecast is a function of options, seed, start and member: any forecast may be computed
 * again, in any order and on any number of threads, and has the same bits. */
#ifndef WX_QG_ENSEMBLE_H
#define WX_QG_ENSEMBLE_H
#include "conf/weir_opt.h"
#include "data/archive/archive.h"
#include "data/simulation/qg_solver.h"
#include "data/simulation/qg_surface.h"

/* What the forecasts' model has of its own. */
typedef struct wx_qg_imperfect {
  int preset; /* wx_qg_preset */
  double tau_f, mountain, jet, nu, perturbation;
} wx_qg_imperfect;
typedef enum wx_qg_preset { WX_QG_REAL, WX_QG_HARD, WX_QG_PERFECT, WX_QG_CUSTOM } wx_qg_preset;

typedef struct wx_qg_opts {
  int precision; /* 0: f32, 1: f64 */
  int64_t batch, unroll;
  int64_t lon, lat, refine, init_times, members;
  double lx, ly, step, coupling, beta, tau_d, tau_f, jet, width, mountain, nu;
  struct {
    double length, wind, coriolis; /* km, m/s, 1/s */
  } scale;
  wx_qg_imperfect forecast;
  double analysis, spin_up; /* 1, d */
  struct {
    int64_t states;
    double every; /* d */
  } library;
  const char *begin;
  double every; /* h */
  weir_real_list leads;
  weir_string_list quantities;
  wx_surface_opts surface;
} wx_qg_opts;
extern const weir_opt wx_qg_options[];

typedef struct wx_qg_ensemble wx_qg_ensemble;

/* Checks the options alone. Fails: WEIR_ERR_CONFIG as wx_qg_ensemble_create. */
weir_status wx_qg_ensemble_check(const wx_qg_opts *opts) WEIR_CHECKED;
/* Spins the truth up and keeps the library of states. Fails: WEIR_ERR_CONFIG (leads, times or
 * quantities that cannot be), WEIR_ERR_UNSUPPORTED (no FFTW), WEIR_ERR_MEMORY, WEIR_ERR_NUMERIC
 * (the step is too long), WEIR_ERR_STOPPED, and as weir_plan_create. opts and its lists are
 * borrowed until the end, as is exec, how steps are computed (NULL: defaults). */
weir_status wx_qg_ensemble_create(const wx_qg_opts *opts, const weir_exec_cfg *exec, uint64_t seed,
                                  wx_qg_ensemble **out) WEIR_CHECKED;
void wx_qg_ensemble_destroy(wx_qg_ensemble **e);
/* Return the metadata of the archives of forecasts and of the truth. The truth has every start and
 * every time of validity, as a start with the lead 0. */
const wx_archive_info *wx_qg_ensemble_forecasts(const wx_qg_ensemble *e);
const wx_archive_info *wx_qg_ensemble_truth(const wx_qg_ensemble *e);

/* Computes the forecasts of initialisation times [start, start + n), which replace those computed
 * before, and the truth up to their end (what was computed of it stays), while meanwhile(context),
 * NULL: nothing, runs on one of the threads, and takes fields of what was computed before. Fails:
 * WEIR_ERR_NUMERIC, WEIR_ERR_MEMORY, WEIR_ERR_STOPPED, and as weir_plan_run. */
weir_status wx_qg_ensemble_compute(wx_qg_ensemble *e, int64_t start, int64_t n,
                                   void (*meanwhile)(void *context), void *context) WEIR_CHECKED;
/* Computes the rest of the truth. Fails: as wx_qg_ensemble_compute. */
weir_status wx_qg_ensemble_finish_truth(wx_qg_ensemble *e) WEIR_CHECKED;
/* Computes a field [lat, lon], rows from north to south, of a start that is computed; of start
 * `time` of the truth, which has to be before wx_qg_ensemble_known. One thread at a time. Fail: as
 * wx_qg_tendency. */
weir_status wx_qg_ensemble_field(wx_qg_ensemble *e, int64_t start, int64_t lead, int64_t quantity,
                                 int64_t member, float *out) WEIR_CHECKED;
weir_status wx_qg_ensemble_true_field(wx_qg_ensemble *e, int64_t time, int64_t quantity,
                                      float *out) WEIR_CHECKED;
/* Return the metadata of observations of 2t at stations, at the times of the truth, NULL: there are
 * no stations; and compute those [n_stations] of a time of the truth that is computed. */
const wx_archive_info *wx_qg_ensemble_stations(const wx_qg_ensemble *e);
weir_status wx_qg_ensemble_observe(wx_qg_ensemble *e, int64_t time, float *out) WEIR_CHECKED;
/* Returns the surface of the model that forecasts, on the grid; NULL: 2t is not simulated. */
const wx_surface *wx_qg_ensemble_surface(const wx_qg_ensemble *e);
/* Times of the truth that are computed; not to be asked during a computation. */
int64_t wx_qg_ensemble_known(const wx_qg_ensemble *e);
/* Returns the number of initialisation times that keeps all threads busy. */
int64_t wx_qg_ensemble_batch(const wx_qg_ensemble *e);
#endif
