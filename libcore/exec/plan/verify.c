/* verify.c - the oracle after every pass: the graph as it is then, run by the reference engine on
 * random data, must give what the graph as built gave. Streams run on chunks of a few slots, so
 * shapes are shrunk where it matters; a bounded graph over the limit is refused rather than passed
 * unseen. */
#include <math.h>
#include <string.h>
#include "plan_priv.h"
#include "base/weir_alloc.h"
#include "base/weir_random.h"

#define CHUNK 37
#define CHUNKS 4
#define ELEMENT_LIMIT ((int64_t)1 << 24)

/* Results of one run, one after the other; of real ones the imaginary part is 0. */
typedef struct outcome {
  weir_c128 *values;
  int64_t n, capacity;
} outcome;

static weir_status keep(outcome *o, weir_dtype dtype, const void *data, int64_t at)
{
  WEIR_TRY(weir_reserve(&o->values, &o->capacity, o->n + 1, sizeof *o->values));
  o->values[o->n++] = weir_dtype_load_complex(dtype, data, at);
  return WEIR_OK;
}

static void fill(weir_dtype dtype, void *data, int64_t n, uint32_t purpose, uint64_t from)
{
  for (int64_t i = 0; i < n; i++) {
    const double u = weir_random_uniform(1, purpose, 0, from + (uint64_t)i);

    if (weir_dtype_is_complex(dtype)) {
      const double v = weir_random_uniform(1, purpose, 1, from + (uint64_t)i);

      weir_dtype_store_complex(dtype, data, i, (weir_c128){2 * u - 1, 2 * v - 1});
      continue;
    }
    weir_dtype_store_real(dtype, data, i,
                          weir_dtype_is_real(dtype) ? 2 * u - 1 : (double)(u > 0.3));
  }
}

static weir_status keep_results(const weir_plan *p, outcome *o)
{
  for (int32_t a = 0; a < p->n_arrays; a++) {
    const weir_array *array = weir_graph_get_array(p->g, a);
    const exec_array *e = &p->arrays[a];
    weir_view v;
    int64_t lo = 0, hi = 0;

    if (array->output == NULL) {
      continue;
    }
    WEIR_TRY(weir_plan_result(p, array->output, &v, &lo, &hi));
    const int64_t slots = e->time >= 0 ? hi - lo : 1;

    for (int64_t row = 0; row < e->rows; row++) {
      for (int64_t t = 0; t < slots; t++) {
        const int64_t at =
            e->time >= 0 ? row * e->capacity + lo + t - v.origin[e->time] : row * slots + t;

        WEIR_TRY(keep(o, v.dtype, v.data, at));
      }
    }
  }
  return WEIR_OK;
}

static weir_status feed_random(weir_plan *p, void **data, int64_t chunk, outcome *o)
{
  weir_feed feeds[WEIR_MAX_OPERANDS * 4];
  int n = 0;

  for (int32_t a = 0; a < p->n_arrays; a++) {
    const weir_array *array = weir_graph_get_array(p->g, a);
    const exec_array *e = &p->arrays[a];

    if (array->kind == WEIR_ARRAY_INPUT && n < (int)(sizeof(feeds) / sizeof(*feeds))) {
      const weir_rate *r = &p->rates[a];
      const int64_t lo = e->time >= 0 ? weir_rate_slots(r, chunk * CHUNK, true) : 0;
      const int64_t hi = e->time >= 0 ? weir_rate_slots(r, (chunk + 1) * CHUNK, true) : 0;
      const int64_t count = e->rows * (e->time >= 0 ? hi - lo : 1);

      fill(e->view.dtype, data[a], count, (uint32_t)a, (uint64_t)(e->rows * lo));
      feeds[n++] = (weir_feed){.input = array->name, .data = data[a], .lo = lo, .hi = hi};
    }
  }
  WEIR_TRY(weir_plan_feed(p, feeds, n, chunk == CHUNKS - 1));
  return keep_results(p, o);
}

static weir_status run_random(weir_plan *p, void **data, outcome *o)
{
  if (p->streaming) {
    for (int64_t chunk = 0; chunk < CHUNKS; chunk++) {
      WEIR_TRY(feed_random(p, data, chunk, o));
    }
    return WEIR_OK;
  }
  for (int32_t a = 0; a < p->n_arrays; a++) {
    if (weir_graph_get_array(p->g, a)->kind == WEIR_ARRAY_INPUT) {
      fill(p->arrays[a].view.dtype, data[a], p->arrays[a].rows, (uint32_t)a, 0);
      p->arrays[a].view.data = data[a];
      p->arrays[a].bound = true;
    }
  }
  WEIR_TRY(weir_plan_run(p, NULL, 0));
  return keep_results(p, o);
}

/* A copy of the stored arrays, so that verification leaves the caller's untouched. */
static weir_status copy_store(const weir_store *from, weir_store *to)
{
  for (int64_t i = 0; i < weir_store_count(from); i++) {
    const char *name = weir_store_name(from, i);
    const weir_tensor *t = NULL;
    weir_tensor *copy = NULL;

    WEIR_TRY(weir_store_read(from, name, &t));
    WEIR_TRY(weir_store_add(to, name, t->dtype, t->rank, t->shape));
    WEIR_TRY(weir_store_write(to, name, &copy));
    WEIR_TRY(weir_tensor_copy(t, copy));
  }
  return WEIR_OK;
}

/* Library operators, which their reference computes whole, are then members of groups without
 * tiles. */
static void forget_kernels(const weir_graph *g, weir_group *group)
{
  for (int i = 0; i < group->n_claims && group->n_nodes > 1; i++) {
    if (weir_graph_node(g, group->claims[i].node)->access.maker == WEIR_MADE_BY_LIBRARY) {
      memset(group->tile, 0, sizeof group->tile);
    }
  }
  group->n_claims = 0;
}

static weir_status make_oracle(const weir_plan *p, const weir_graph *g, weir_store *store,
                               weir_plan **out)
{
  weir_status status = WEIR_OK;
  weir_plan *v = NULL;
  weir_chunk_bound bounds[WEIR_MAX_OPERANDS * 4];
  weir_plan_opts opts = {.bounds = bounds};
  void *memory = NULL;

  WEIR_TRY(weir_alloc(1, sizeof(*v), &memory));
  v = memory;
  v->cfg = p->cfg;
  v->cfg.tier = WEIR_TIER_REFERENCE;
  v->cfg.verify = 0;
  v->cfg.explain = false;
  v->cfg.memory = 0; /* of the plan, not of the oracle */
  v->threads = 1;
  v->constants = p->constants;
  v->store = store;
  WEIR_TRY_GOTO(weir_graph_copy(g, &v->g), fail);
  if (weir_graph_groups(v->g) == 0) {
    int32_t n = 0;

    WEIR_TRY_GOTO(weir_alloc(weir_graph_nodes(v->g), sizeof(int32_t), &memory), fail);
    status = weir_graph_order(v->g, memory, &n);
    for (int32_t i = 0; i < n && status == WEIR_OK; i++) {
      status = weir_graph_add_group(v->g, (const int32_t *)memory + i, 1);
    }
    weir_free(&memory);
    WEIR_TRY_GOTO(status, fail);
  }
  for (int32_t a = 0; a < weir_graph_arrays(v->g); a++) {
    const weir_array *array = weir_graph_get_array(v->g, a);

    if (array->kind == WEIR_ARRAY_INPUT && array->desc.time > 0 &&
        opts.n_bounds < (int)(sizeof(bounds) / sizeof(*bounds))) {
      bounds[opts.n_bounds++] = (weir_chunk_bound){.input = array->name, .slots = CHUNK};
    }
  }
  for (int32_t i = 0; i < weir_graph_groups(v->g); i++) {
    forget_kernels(v->g, weir_graph_group_mut(v->g, i));
  }
  WEIR_TRY_GOTO(exec_plan_finish(v, &opts), fail);
  *out = v;
  return WEIR_OK;
fail:
  weir_plan_destroy(&v);
  return status;
}

static weir_status run_oracle(weir_plan *v, outcome *o)
{
  weir_status status = WEIR_OK;
  void *memory = NULL;
  void **data = NULL;

  WEIR_TRY(weir_alloc(v->n_arrays, sizeof(void *), &memory));
  data = memory;
  for (int32_t a = 0; a < v->n_arrays; a++) {
    if (weir_graph_get_array(v->g, a)->kind == WEIR_ARRAY_INPUT) {
      const int64_t count = v->arrays[a].rows * (v->arrays[a].time >= 0 ? v->bounds[a] : 1);

      if (count > ELEMENT_LIMIT) {
        status = weir_fail(WEIR_ERR_UNSUPPORTED,
                           "verify: input '%s' has %lld elements: exec.verify allows at most %lld",
                           weir_graph_get_array(v->g, a)->name, (long long)count,
                           (long long)ELEMENT_LIMIT);
        goto out;
      }
      WEIR_TRY_GOTO(weir_alloc(count, weir_dtype_size(v->arrays[a].view.dtype), &data[a]), out);
    }
  }
  WEIR_TRY_GOTO(run_random(v, data, o), out);
out:
  for (int32_t a = 0; a < v->n_arrays; a++) {
    weir_free(&data[a]);
  }
  weir_free(&data);
  return status;
}

static weir_status outcome_of(const weir_plan *p, const weir_graph *g, outcome *o)
{
  weir_status status = WEIR_OK;
  weir_store *store = NULL;
  weir_plan *v = NULL;

  WEIR_TRY(weir_store_create(&store));
  if (p->store != NULL) {
    WEIR_TRY_GOTO(copy_store(p->store, store), out);
  }
  WEIR_TRY_GOTO(make_oracle(p, g, store, &v), out);
  WEIR_TRY_GOTO(run_oracle(v, o), out);
out:
  weir_plan_destroy(&v);
  weir_store_destroy(&store);
  return status;
}

static bool has_half(const weir_plan *p, const weir_graph *g)
{
  if (p->cfg.products != WEIR_PRODUCTS_F64) {
    return true;
  }
  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    if (weir_dtype_is_storage(weir_graph_get_array(g, a)->desc.dtype)) {
      return true;
    }
  }
  return false;
}

/* The oracle computes in double: what remains is the rounding of what is stored, and in bf16 what
 * lies between two of its numbers may go to either. */
static double allowed(const weir_plan *p, const weir_pass *pass, const weir_graph *g)
{
  return !has_half(p, g) ? 1e-5 : pass->rounding > 0 ? pass->rounding : 0x1p-7;
}

/* From here on results are compared with those of this graph. */
static weir_status begin_anew(weir_plan *p, const weir_graph *g)
{
  weir_graph_destroy(&p->rounded);
  return weir_graph_copy(g, &p->rounded);
}

/* Within `max` of max(1, |a|); a number is NaN where a part of it is. */
static bool agrees(weir_c128 a, weir_c128 b, double max)
{
  const bool a_nan = isnan(a.re) || isnan(a.im), b_nan = isnan(b.re) || isnan(b.im);
  const double size = hypot(a.re, a.im), gap = hypot(a.re - b.re, a.im - b.im);

  return (a.re == b.re && a.im == b.im) || (a_nan && b_nan) || gap < max * (size > 1 ? size : 1);
}

weir_status exec_verify(weir_plan *p, const weir_pass *pass, const weir_graph *g)
{
  const double max = allowed(p, pass, g);
  weir_status status = WEIR_OK;
  outcome before = {0}, after = {0};

  WEIR_TRY_GOTO(outcome_of(p, p->rounded != NULL ? p->rounded : p->built, &before), out);
  WEIR_TRY_GOTO(outcome_of(p, g, &after), out);
  if (before.n != after.n) {
    status =
        weir_fail(WEIR_ERR_NUMERIC, "verify: pass %s changed the number of results", pass->name);
    goto out;
  }
  for (int64_t i = 0; i < before.n; i++) {
    const weir_c128 a = before.values[i], b = after.values[i];

    if (!agrees(a, b, max)) {
      status = weir_fail(WEIR_ERR_NUMERIC,
                         "verify: pass %s changed result element %lld from %g + %g i to %g + %g i",
                         pass->name, (long long)i, a.re, a.im, b.re, b.im);
      goto out;
    }
  }
  status = pass->rounding > 0 && has_half(p, g) ? begin_anew(p, g) : WEIR_OK;
out:
  weir_free(&before.values);
  weir_free(&after.values);
  return status;
}
