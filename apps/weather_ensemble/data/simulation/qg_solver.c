/* qg_solver.c - see qg_solver.h. */
#include "data/simulation/qg_solver.h"
#include <string.h>
#include "base/weir_alloc.h"
#include "data/simulation/qg_graph.h"

/* Plans over a store with the array "state" of n states. */
typedef struct plans {
  int64_t n; /* 0: there are none */
  weir_store *store;
  weir_plan *many, *one; /* of `unroll` steps and of one; one NULL: they are the same */
} plans;

struct wx_qg_solver {
  const wx_qg *m;
  wx_qg_solver_opts o;
  plans whole, rest; /* of a batch, and of fewer states */
  plans rate;        /* many: the rate of change */
};

weir_status wx_qg_solver_create(const wx_qg *m, const wx_qg_solver_opts *opts, wx_qg_solver **out)
{
  void *memory = NULL;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(wx_qg_solver), &memory));
  *out = memory;
  **out = (wx_qg_solver){.m = m, .o = *opts};
  (*out)->o.batch = opts->batch > 0 ? opts->batch : 1;
  (*out)->o.unroll = opts->unroll > 0 ? opts->unroll : 1;
  return WEIR_OK;
}

static void destroy_plans(plans *p)
{
  weir_plan_destroy(&p->many);
  weir_plan_destroy(&p->one);
  weir_store_destroy(&p->store);
  *p = (plans){.n = 0};
}

void wx_qg_solver_destroy(wx_qg_solver **s)
{
  if (*s == NULL) {
    return;
  }
  destroy_plans(&(*s)->whole);
  destroy_plans(&(*s)->rest);
  destroy_plans(&(*s)->rate);
  weir_free(s);
}

/* A plan of `steps` steps; 0: of the rate of change. */
static weir_status make_plan(const wx_qg_solver *s, weir_store *store, int64_t steps,
                             weir_plan **out)
{
  const weir_plan_opts opts = {.exec = s->o.exec, .threads = s->o.threads, .terse = true};
  weir_graph *g = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_graph_create(&g));
  if (steps > 0) {
    qg_graph_steps(g, s->m, store, steps);
  } else {
    qg_graph_rate(g, s->m, store);
  }
  WEIR_TRY_GOTO(weir_plan_create(g, store, &opts, out), done);
done:
  weir_graph_destroy(&g);
  return status;
}

/* Plans of n states, in place of those of another number. */
static weir_status make_plans(const wx_qg_solver *s, int64_t n, int64_t steps, plans *p)
{
  const int64_t shape[] = {n, 1, WX_QG_LAYERS, s->m->rows, s->m->columns};
  weir_status status = WEIR_OK;

  if (p->n == n) {
    return WEIR_OK;
  }
  destroy_plans(p);
  WEIR_TRY_GOTO(weir_store_create(&p->store), failed);
  WEIR_TRY_GOTO(weir_store_add(p->store, "state", weir_dtype_complex(s->m->p.dtype), 5, shape),
                failed);
  WEIR_TRY_GOTO(make_plan(s, p->store, steps, &p->many), failed);
  if (steps > 1) {
    WEIR_TRY_GOTO(make_plan(s, p->store, 1, &p->one), failed);
  }
  p->n = n;
  return WEIR_OK;
failed:
  destroy_plans(p);
  return status;
}

static plans *plans_of(wx_qg_solver *s, int64_t n)
{
  return n == s->o.batch ? &s->whole : &s->rest;
}

weir_status wx_qg_solver_prepare(wx_qg_solver *s, int64_t n)
{
  const int64_t rest = n % s->o.batch;

  if (n >= s->o.batch) {
    WEIR_TRY(make_plans(s, s->o.batch, s->o.unroll, &s->whole));
  }
  return rest > 0 ? make_plans(s, rest, s->o.unroll, &s->rest) : WEIR_OK;
}

/* At most a batch of states. */
static weir_status step_batch(const wx_qg_solver *s, const plans *p, void *const *states,
                              int64_t steps)
{
  const size_t bytes = (size_t)wx_qg_state_bytes(s->m);
  const weir_tensor *after = NULL;
  weir_tensor *before = NULL;

  WEIR_TRY(weir_store_write(p->store, "state", &before));
  for (int64_t i = 0; i < p->n; i++) {
    memcpy((char *)before->data + (size_t)i * bytes, states[i], bytes);
  }
  for (int64_t done = 0; done < steps;) {
    const bool many = p->one == NULL || steps - done >= s->o.unroll;

    WEIR_TRY(weir_plan_run(many ? p->many : p->one, NULL, 0));
    done += many ? s->o.unroll : 1;
  }
  WEIR_TRY(weir_store_read(p->store, "state", &after));
  for (int64_t i = 0; i < p->n; i++) {
    memcpy(states[i], (const char *)after->data + (size_t)i * bytes, bytes);
  }
  return WEIR_OK;
}

weir_status wx_qg_steps(wx_qg_solver *s, void *const *states, int64_t n, int64_t steps)
{
  WEIR_TRY(wx_qg_solver_prepare(s, n));
  for (int64_t i = 0; i < n && steps > 0; i += s->o.batch) {
    const int64_t now = n - i < s->o.batch ? n - i : s->o.batch;

    WEIR_TRY(step_batch(s, plans_of(s, now), states + i, steps));
  }
  return WEIR_OK;
}

weir_status wx_qg_tendency(wx_qg_solver *s, const void *state, void *out)
{
  const size_t bytes = (size_t)wx_qg_state_bytes(s->m);
  weir_tensor *q = NULL;
  weir_view rate;
  int64_t lo = 0, hi = 0;

  WEIR_TRY(make_plans(s, 1, 0, &s->rate));
  WEIR_TRY(weir_store_write(s->rate.store, "state", &q));
  memcpy(q->data, state, bytes);
  WEIR_TRY(weir_plan_run(s->rate.many, NULL, 0));
  WEIR_TRY(weir_plan_result(s->rate.many, "rate", &rate, &lo, &hi));
  memcpy(out, rate.data, bytes);
  return WEIR_OK;
}
