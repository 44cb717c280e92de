/* layout_solve.c - elimination of variables; Dechter, Bucket elimination, Artificial Intelligence
 * 113 (1999). */
#include "pass/layout/layout_solve.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_random.h"

#define STARTS 8 /* of the improvement, where elimination is too wide */

/* A variable that is gone: its best state for every combination of those it had to do with. */
typedef struct eliminated {
  int32_t var;
  int n;
  int32_t with[LAYOUT_MAX_VARIABLES];
  uint8_t *best;
} eliminated;

typedef struct elimination {
  layout_problem *p;
  int64_t max;
  eliminated *gone; /* [p->n] */
  int32_t n_gone;
  int64_t *width;   /* [p->n] combinations of the neighbours; -1: gone, 0: to be counted again */
  int64_t **around; /* [p->n] factors that hold a variable, n_around of them */
  int64_t *n_around, *capacity;
} elimination;

weir_status layout_factor_add(layout_problem *p, const int32_t *var, int n, double **cost)
{
  int64_t size = 1;
  void *memory = NULL;

  for (int i = 0; i < n; i++) {
    size *= p->size[var[i]];
  }
  WEIR_TRY(weir_reserve(&p->factors, &p->capacity, p->n_factors + 1, sizeof(*p->factors)));
  WEIR_TRY(weir_alloc(size, sizeof(double), &memory));
  layout_factor *f = &p->factors[p->n_factors++];

  *f = (layout_factor){.n = n, .cost = memory};
  memcpy(f->var, var, sizeof(*var) * (size_t)n);
  *cost = f->cost;
  return WEIR_OK;
}

void layout_problem_fini(layout_problem *p)
{
  for (int64_t i = 0; i < p->n_factors; i++) {
    weir_free(&p->factors[i].cost);
  }
  weir_free(&p->factors);
  p->n_factors = p->capacity = 0;
}

static double at(const layout_problem *p, const layout_factor *f, const int32_t *choice)
{
  int64_t index = 0;

  for (int i = 0; i < f->n; i++) {
    index = index * p->size[f->var[i]] + choice[f->var[i]];
  }
  return f->cost[index];
}

double layout_cost_of(const layout_problem *p, const int32_t *choice)
{
  double sum = 0;

  for (int64_t i = 0; i < p->n_factors; i++) {
    sum += p->factors[i].done ? 0 : at(p, &p->factors[i], choice);
  }
  return sum;
}

/* Notes factor k with its variables. */
static weir_status list_factor(elimination *e, int64_t k)
{
  const layout_factor *f = &e->p->factors[k];

  for (int i = 0; i < f->n; i++) {
    const int32_t v = f->var[i];

    WEIR_TRY(weir_reserve(&e->around[v], &e->capacity[v], e->n_around[v] + 1, sizeof(int64_t)));
    e->around[v][e->n_around[v]++] = k;
    e->width[v] = 0;
  }
  return WEIR_OK;
}

/* Those that share a factor with the variable, by number; their combinations, or more than `max`.
 */
static int64_t neighbours(const elimination *e, int32_t var, int32_t *with, int *n)
{
  int64_t size = 1;

  *n = 0;
  for (int64_t k = 0; k < e->n_around[var]; k++) {
    const layout_factor *f = &e->p->factors[e->around[var][k]];

    for (int i = 0; i < f->n && !f->done; i++) {
      bool known = f->var[i] == var;

      for (int j = 0; j < *n && !known; j++) {
        known = with[j] == f->var[i];
      }
      if (known) {
        continue;
      }
      size *= e->p->size[f->var[i]];
      if (size > e->max || *n == LAYOUT_MAX_VARIABLES) {
        return e->max + 1;
      }
      int j = (*n)++;

      for (; j > 0 && with[j - 1] > f->var[i]; j--) {
        with[j] = with[j - 1];
      }
      with[j] = f->var[i];
    }
  }
  return size;
}

/* The variable with the fewest combinations around it, the lowest number among equals; -1. */
static int32_t narrowest(const elimination *e)
{
  int32_t found = -1;

  for (int32_t v = 0; v < e->p->n; v++) {
    int32_t with[LAYOUT_MAX_VARIABLES];
    int n;

    if (e->width[v] == 0) {
      e->width[v] = neighbours(e, v, with, &n);
    }
    if (e->width[v] > 0 && e->width[v] <= e->max && (found < 0 || e->width[v] < e->width[found])) {
      found = v;
    }
  }
  return found;
}

static void unpack(const layout_problem *p, const int32_t *with, int n, int64_t index,
                   int32_t *choice)
{
  for (int i = n - 1; i >= 0; i--) {
    choice[with[i]] = (int32_t)(index % p->size[with[i]]);
    index /= p->size[with[i]];
  }
}

/* Sum of the factors that hold the variable and come before factor `end`. */
static double cost_around(const elimination *e, int32_t var, int64_t end, const int32_t *choice)
{
  double sum = 0;

  for (int64_t i = 0; i < e->n_around[var]; i++) {
    const int64_t k = e->around[var][i];

    sum += e->p->factors[k].done || k >= end ? 0 : at(e->p, &e->p->factors[k], choice);
  }
  return sum;
}

/* Puts one factor over its neighbours instead of all that hold the variable. choice: scratch. */
static weir_status eliminate(elimination *e, int32_t var, int32_t *choice)
{
  eliminated *out = &e->gone[e->n_gone];
  const int64_t size = neighbours(e, var, out->with, &out->n), before = e->p->n_factors;
  double *cost = NULL;
  void *memory = NULL;

  out->var = var;
  WEIR_TRY(weir_alloc(size, 1, &memory));
  out->best = memory;
  e->n_gone++;
  WEIR_TRY(layout_factor_add(e->p, out->with, out->n, &cost));
  for (int64_t index = 0; index < size; index++) {
    unpack(e->p, out->with, out->n, index, choice);
    for (int32_t s = 0; s < e->p->size[var]; s++) {
      choice[var] = s;
      const double sum = cost_around(e, var, before, choice);

      if (s == 0 || sum < cost[index]) {
        cost[index] = sum;
        out->best[index] = (uint8_t)s;
      }
    }
  }
  for (int64_t i = 0; i < e->n_around[var]; i++) {
    e->p->factors[e->around[var][i]].done = true;
  }
  e->width[var] = -1;
  return list_factor(e, before);
}

/* Changes one variable at a time as long as that helps. */
static void improve(const elimination *e, int32_t *choice)
{
  bool changed = true;

  while (changed) {
    changed = false;
    for (int32_t v = 0; v < e->p->n; v++) {
      const int32_t from = choice[v];
      int32_t best = from;
      double min = INFINITY, here = INFINITY;

      for (int32_t s = 0; s < e->p->size[v] && e->width[v] >= 0; s++) {
        choice[v] = s;
        const double sum = cost_around(e, v, e->p->n_factors, choice);

        here = s == from ? sum : here;
        if (sum < min) {
          min = sum;
          best = s;
        }
      }
      choice[v] = min < here ? best : from;
      changed = changed || choice[v] != from;
    }
  }
}

/* What is left when every table would be too large. */
static weir_status improve_rest(const elimination *e, int32_t *choice)
{
  void *memory = NULL;
  double best = INFINITY;

  WEIR_TRY(weir_alloc(e->p->n, sizeof(int32_t), &memory));
  int32_t *here = memory;

  for (int start = 0; start < STARTS; start++) {
    for (int32_t v = 0; v < e->p->n; v++) {
      const double u = weir_random_uniform(1, 0, (uint32_t)start, (uint64_t)v);

      here[v] = start == 0 ? choice[v] : start == 1 ? 0 : (int32_t)(u * (double)e->p->size[v]);
    }
    improve(e, here);
    const double cost = layout_cost_of(e->p, here);

    if (cost < best) {
      best = cost;
      memcpy(choice, here, sizeof(*here) * (size_t)e->p->n);
    }
  }
  weir_free(&memory);
  return WEIR_OK;
}

static weir_status run(elimination *e, int32_t *choice, int32_t *scratch, bool *exact)
{
  int32_t left = e->p->n;

  for (int32_t v = narrowest(e); v >= 0; v = narrowest(e)) {
    WEIR_TRY(eliminate(e, v, scratch));
    left--;
  }
  *exact = left == 0;
  if (left > 0) {
    WEIR_TRY(improve_rest(e, choice));
  }
  for (int32_t i = e->n_gone - 1; i >= 0; i--) {
    const eliminated *g = &e->gone[i];
    int64_t index = 0;

    for (int k = 0; k < g->n; k++) {
      index = index * e->p->size[g->with[k]] + choice[g->with[k]];
    }
    choice[g->var] = g->best[index];
  }
  return WEIR_OK;
}

static weir_status make_lists(elimination *e)
{
  void *memory = NULL;

  WEIR_TRY(weir_alloc(e->p->n, sizeof(eliminated), &memory));
  e->gone = memory;
  WEIR_TRY(weir_alloc((int64_t)e->p->n * 3, sizeof(int64_t), &memory));
  e->width = memory;
  e->n_around = e->width + e->p->n;
  e->capacity = e->n_around + e->p->n;
  WEIR_TRY(weir_alloc(e->p->n, sizeof(int64_t *), &memory));
  e->around = memory;
  for (int64_t k = 0; k < e->p->n_factors; k++) {
    WEIR_TRY(list_factor(e, k));
  }
  return WEIR_OK;
}

weir_status layout_solve(layout_problem *p, int64_t max, int32_t *choice, bool *exact)
{
  weir_status status = WEIR_OK;
  elimination e = {.p = p, .max = max};
  void *scratch = NULL;

  *exact = true;
  WEIR_TRY_GOTO(make_lists(&e), out);
  WEIR_TRY_GOTO(weir_alloc(p->n, sizeof(int32_t), &scratch), out);
  WEIR_TRY_GOTO(run(&e, choice, scratch, exact), out);
out:
  for (int32_t i = 0; i < e.n_gone; i++) {
    weir_free(&e.gone[i].best);
  }
  for (int32_t v = 0; v < p->n && e.around != NULL; v++) {
    weir_free(&e.around[v]);
  }
  weir_free(&e.around);
  weir_free(&e.gone);
  weir_free(&e.width);
  weir_free(&scratch);
  return status;
}
