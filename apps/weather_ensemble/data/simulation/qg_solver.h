/* qg_solver.h - the steps of a model (qg.h): plans of graphs over a batch of states. */
#ifndef WX_QG_SOLVER_H
#define WX_QG_SOLVER_H
#include "data/simulation/qg.h"
#include "exec/weir_plan.h"

typedef struct wx_qg_solver_opts {
  const weir_exec_cfg *exec; /* NULL: defaults; borrowed until the end   */
  int threads;               /* 0: weir_threads_get()                    */
  int64_t batch;             /* maximum number of states of a run, 0: 1  */
  int64_t unroll;            /* steps of a run, 0: 1                     */
} wx_qg_solver_opts;

/* Plans of one model, each made when it is first needed. One thread at a time. */
typedef struct wx_qg_solver wx_qg_solver;

/* Creates a solver of a model, which is borrowed until the end. Fails: WEIR_ERR_MEMORY. */
weir_status wx_qg_solver_create(const wx_qg *m, const wx_qg_solver_opts *opts,
                                wx_qg_solver **out) WEIR_CHECKED;
void wx_qg_solver_destroy(wx_qg_solver **s);
/* Creates the plans that wx_qg_steps uses for n states. Fails: as weir_plan_create. */
weir_status wx_qg_solver_prepare(wx_qg_solver *s, int64_t n) WEIR_CHECKED;
/* Computes `steps` steps of dt of n states, in place. The bits of a state depend on the model and
 * the state alone. Fails: as weir_plan_create and weir_plan_run. */
weir_status wx_qg_steps(wx_qg_solver *s, void *const *states, int64_t n,
                        int64_t steps) WEIR_CHECKED;
/* Computes dq1/dt and dq2'/dt, viscosity included, as a state. Fails: as wx_qg_steps. */
weir_status wx_qg_tendency(wx_qg_solver *s, const void *state, void *out) WEIR_CHECKED;
#endif
