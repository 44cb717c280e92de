/* qg_ensemble_priv.h - the state of a simulation. */
#ifndef WX_QG_ENSEMBLE_PRIV_H
#define WX_QG_ENSEMBLE_PRIV_H
#include "data/simulation/qg_ensemble.h"
#include "data/simulation/qg_fields.h"
#include "data/simulation/qg_surface.h"

/* Forecasts of some initialisation times. */
typedef struct qg_batch {
  int64_t first, n, capacity; /* initialisation times */
  char *states;               /* [capacity, n_leads, n_members] states */
} qg_batch;

enum { QG_MESSAGE = 1024 };

/* The first failure of a thread. */
typedef struct qg_failure {
  weir_status status;
  char message[QG_MESSAGE];
} qg_failure;

/* What 2t needs, where it is simulated: `quantity` is its number, -1: it is not. */
typedef struct qg_surfaces {
  int64_t quantity;
  wx_surface model, truth, stations; /* of the grid, of the grid, of n stations */
  double *lat, *lon;                 /* [cells] degrees */
  double *station_lat, *station_lon; /* [n] degrees */
  float *reduced;                    /* [cells] temperature reduced to sea level */
  wx_quantity only;                  /* 2t */
  wx_archive_info facts;             /* of observations */
} qg_surfaces;

struct wx_qg_ensemble {
  const wx_qg_opts *o;
  const weir_exec_cfg *exec;
  uint64_t seed;
  double perturbation;
  wx_qg *truth, *model; /* on the grid of the forecasts */
  wx_qg *fine;          /* what the truth is stepped with: truth itself, or a finer one */
  wx_qg_workspace *workspace, *fine_workspace;
  wx_qg_scale scale;
  double seconds;                     /* of a step */
  int threads;                        /* that compute forecasts and the truth      */
  int64_t batch;                      /* states that a solver steps at once        */
  wx_qg_solver *fine_solver;          /* of the truth                              */
  wx_qg_solver **solvers;             /* [threads] of the forecasts                */
  wx_qg_solver *fields, *true_fields; /* of model and truth, for fields            */
  qg_failure *failures;               /* [threads]                                 */
  int *kinds;                         /* [n_quantities]: numbers of qg_fields */
  wx_archive_info forecasts, true_facts;
  int64_t bytes; /* of a state */
  char *library; /* [library.states] states */
  char *current; /* the truth, fine, after `reached` steps (of forecasts) from the first start */
  int64_t reached;
  int64_t *mark;       /* [true_facts.n_init_times] ascending: steps of the times that are kept */
  int64_t known;       /* marks that were reached */
  char *kept;          /* [true_facts.n_init_times] states */
  int64_t *start_mark; /* [n_init_times] of the marks */
  qg_surfaces surfaces;
  qg_batch ready, next; /* what fields are taken of; what is being computed */
};

/* Computes the whole steps in a time. Fails: WEIR_ERR_CONFIG, naming the key. */
weir_status qg_steps_of(const wx_qg_ensemble *e, double seconds, const char *key,
                        int64_t *n) WEIR_CHECKED;
/* Fills forecasts, true_facts, kinds, mark and start_mark from the options. */
weir_status qg_list_facts(wx_qg_ensemble *e) WEIR_CHECKED;
/* Makes the surfaces, and the stations where there are any, once models and facts are there. Fails:
 * WEIR_ERR_CONFIG, as wx_surface_stations and for stations without 2t. */
weir_status qg_surfaces_make(wx_qg_ensemble *e) WEIR_CHECKED;
/* Checks what the options alone say of them. Fails: WEIR_ERR_CONFIG. */
weir_status qg_surfaces_check(const wx_qg_opts *o) WEIR_CHECKED;
void qg_surfaces_fini(wx_qg_ensemble *e);
/* Returns the state number i of an array of states. */
char *qg_state_at(const wx_qg_ensemble *e, char *states, int64_t i);
#endif
