/* plant.c - every error by one in an access, and what sees it. */
#include "plant.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"

/* Draws of inputs until results differ: a maximum or a choice may hide one element. */
enum { DRAWS = 16 };

/* One case and the access in which an error is planted. */
typedef struct garden {
  batch_case *k;
  plant_check check;
  plant_count *count;
  weir_access wrong;
  weir_tensor right_out[WEIR_MAX_OUTPUTS], wrong_out[WEIR_MAX_OUTPUTS];
} garden;

/* ---- What an error changes ---- */

static bool next_iteration(const weir_box *box, int64_t *at)
{
  for (int d = box->rank - 1; d >= 0; d--) {
    if (++at[d] < box->hi[d]) {
      return true;
    }
    at[d] = box->lo[d];
  }
  return false;
}

static bool touches_otherwise(const garden *g, const int64_t *at)
{
  const oracle_run right = {.access = g->k->access, .in = g->k->in};
  const oracle_run wrong = {.access = &g->wrong, .in = g->k->in};
  int64_t in[2][WEIR_MAX_OPERANDS], out[2][WEIR_MAX_OUTPUTS];
  const bool here = oracle_touched(&right, at, in[0], out[0]);
  const bool there = oracle_touched(&wrong, at, in[1], out[1]);

  return here != there || memcmp(out[0], out[1], (size_t)g->k->n_out * sizeof out[0][0]) != 0 ||
         (here && memcmp(in[0], in[1], (size_t)g->k->c.n_in * sizeof in[0][0]) != 0);
}

/* The first iteration, of all of them, that touches other elements, as a box; false: none does. */
static bool find_change(const garden *g, weir_box *point)
{
  const weir_box all = weir_iterations(g->k->access);
  int64_t at[WEIR_MAX_DIMS];

  if (weir_box_empty(&all)) {
    return false;
  }
  memcpy(at, all.lo, sizeof at);
  do {
    if (touches_otherwise(g, at)) {
      point->rank = all.rank;
      for (int d = 0; d < all.rank; d++) {
        point->lo[d] = at[d];
        point->hi[d] = at[d] + 1;
      }
      return true;
    }
  } while (next_iteration(&all, at));
  return false;
}

/* Of the inputs as they are. */
static bool results_differ(const garden *g)
{
  oracle_run run = {.access = g->k->access, .in = g->k->in, .out = (weir_tensor *)g->right_out};
  bool differ = false;

  run.box = weir_iterations(run.access);
  oracle_evaluate(&run);
  run.access = &g->wrong;
  run.out = (weir_tensor *)g->wrong_out;
  oracle_evaluate(&run);
  for (int o = 0; o < g->k->n_out; o++) {
    const weir_tensor *t = &g->right_out[o];
    const size_t bytes = (size_t)weir_tensor_numel(t) * weir_dtype_size(t->dtype);

    differ = differ || (bytes > 0 && memcmp(t->data, g->wrong_out[o].data, bytes) != 0);
  }
  return differ;
}

/* Where the same elements are read, results can differ by remainders of divisions alone. */
static bool has_remainders(const weir_access *a)
{
  bool found = false;

  for (int32_t i = 0; i < a->body.n; i++) {
    found = found || a->body.exprs[i].code == WEIR_CODE_REMAINDER;
  }
  return found;
}

static bool results_ever_differ(garden *g, bool elsewhere)
{
  const bool body = g->k->access->maker == WEIR_MADE_BY_BODY;
  const uint64_t draws = !body ? 0 : elsewhere ? DRAWS : has_remainders(g->k->access);

  for (uint64_t i = 0; i < draws; i++) {
    if (results_differ(g)) {
      return true;
    }
    batch_draw(g->k, g->k->seed * DRAWS + i);
  }
  return false;
}

/* ---- Planting ---- */

static void say_missed(const garden *g, int operand, int dim, const char *what, int by)
{
  fprintf(stderr, "FAIL %s seed %" PRIu64 " %s %d, dimension %d: %s wrong by %d is not seen\n",
          g->k->op->name, g->k->seed, operand < g->k->c.n_in ? "input" : "output",
          operand < g->k->c.n_in ? operand : operand - g->k->c.n_in, dim, what, by);
}

/* The access is wrong now in the place named. */
static void judge(garden *g, int operand, int dim, const char *what, int by)
{
  weir_box point;

  g->count->planted++;
  if (weir_access_check(&g->wrong) != WEIR_OK) {
    weir_clear_failure();
    g->count->refused++;
    return;
  }
  const bool elsewhere = find_change(g, &point);

  if (elsewhere && g->check(g->k, &g->wrong, &point) > 0) {
    g->count->claims++;
  } else if (results_ever_differ(g, elsewhere)) {
    g->count->values++;
  } else if (!elsewhere) {
    g->count->same++;
  } else {
    g->count->missed++;
    say_missed(g, operand, dim, what, by);
  }
}

static void plant_in_index(garden *g, int operand, int dim)
{
  weir_operand *o =
      operand < g->k->c.n_in ? &g->wrong.in[operand] : &g->wrong.out[operand - g->k->c.n_in];
  weir_index *x = &o->index[dim];
  const weir_index kept = *x;

  for (int by = -1; by <= 1; by += 2) {
    x->offset += by;
    judge(g, operand, dim, "the offset", by);
    *x = kept;
    if (kept.div > 1) {
      x->offset += by * kept.div;
      judge(g, operand, dim, "the index", by);
      *x = kept;
    }
    if (weir_index_divisor(x) + by > 0) {
      x->div = weir_index_divisor(x) + by;
      judge(g, operand, dim, "the divisor", by);
      *x = kept;
    }
    for (int k = 0; k < g->wrong.n_dims; k++) {
      x->coef[k] += by;
      judge(g, operand, dim, "a coefficient", by);
      *x = kept;
    }
  }
}

void plant_all(batch_case *k, plant_check check, plant_count *count)
{
  garden g = {.k = k, .check = check, .count = count};

  assert_ok(weir_access_copy(k->access, &g.wrong));
  for (int o = 0; o < k->n_out; o++) {
    const weir_tensor *t = &k->expected[o];

    assert_ok(weir_tensor_init(&g.right_out[o], t->dtype, t->rank, t->shape));
    assert_ok(weir_tensor_init(&g.wrong_out[o], t->dtype, t->rank, t->shape));
  }
  for (int i = 0; i < k->c.n_in + k->n_out; i++) {
    const weir_operand *o = i < k->c.n_in ? &g.wrong.in[i] : &g.wrong.out[i - k->c.n_in];

    for (int d = 0; d < o->rank && o->role == WEIR_ROLE_DATA; d++) {
      plant_in_index(&g, i, d);
    }
  }
  for (int o = 0; o < k->n_out; o++) {
    weir_tensor_fini(&g.right_out[o]);
    weir_tensor_fini(&g.wrong_out[o]);
  }
  weir_access_fini(&g.wrong);
}
