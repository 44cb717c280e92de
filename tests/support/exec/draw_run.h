/* draw_run.h - random graphs run on random data under a configuration. Tests only. */
#ifndef WEIR_DRAW_RUN_H
#define WEIR_DRAW_RUN_H
#include "support/exec/draw_graph.h"
#include "support/exec/kernel_dir.h"
#include "exec/weir_plan.h"

/* All results of one run, in the order of the arrays. */
typedef struct draw_outcome {
  float *values;
  int64_t n, capacity;
} draw_outcome;

static inline float draw_sample(uint32_t input, int64_t at)
{
  return (float)(2 * weir_random_uniform(5, input, 0, (uint64_t)at) - 1);
}

static inline void draw_keep(draw_outcome *o, float x)
{
  assert_ok(weir_reserve(&o->values, &o->capacity, o->n + 1, sizeof(float)));
  o->values[o->n++] = x;
}

static inline int64_t draw_desc_count(const weir_array_desc *d)
{
  int64_t n = 1;

  for (int k = 0; k < d->rank; k++) {
    n *= k == d->time - 1 ? 1 : d->shape[k];
  }
  return n;
}

static inline weir_status draw_run_whole(const weir_graph *g, weir_plan *p, draw_outcome *o)
{
  weir_binding bindings[DRAW_POOL * 2];
  weir_tensor tensors[DRAW_POOL * 2];
  weir_status status;
  int n = 0;

  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const weir_array *array = weir_graph_get_array(g, a);

    if (array->kind == WEIR_ARRAY_INPUT || array->output != NULL) {
      assert_ok(
          weir_tensor_init(&tensors[n], array->desc.dtype, array->desc.rank, array->desc.shape));
      for (int64_t i = 0; i < draw_desc_count(&array->desc) && array->kind == WEIR_ARRAY_INPUT;
           i++) {
        ((float *)tensors[n].data)[i] = draw_sample((uint32_t)a, i);
      }
      bindings[n] =
          (weir_binding){array->output != NULL ? array->output : array->name, &tensors[n]};
      n++;
    }
  }
  status = weir_plan_run(p, bindings, n);
  for (int i = 0; i < n; i++) {
    for (int64_t e = 0; e < weir_tensor_numel(&tensors[i]) && status == WEIR_OK; e++) {
      draw_keep(o, ((float *)tensors[i].data)[e]);
    }
    weir_tensor_fini(&tensors[i]);
  }
  return status;
}

/* Slots of an input up to slot t of x: z runs at a quarter of the rate. */
static inline int64_t draw_slot(const weir_array *a, int64_t t)
{
  return a->name[0] == 'z' ? (t + 3) / 4 : t;
}

static inline weir_status draw_feed(const weir_graph *g, weir_plan *p, int64_t lo, int64_t hi)
{
  weir_feed feeds[4];
  float data[4][3 * DRAW_SLOTS];
  int n = 0;

  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const weir_array *array = weir_graph_get_array(g, a);

    if (array->kind == WEIR_ARRAY_INPUT) {
      const int64_t from = draw_slot(array, lo), to = draw_slot(array, hi);
      const int64_t rows = draw_desc_count(&array->desc);

      for (int64_t i = 0; i < rows * (to - from); i++) {
        const int64_t row = i / (to - from), t = from + i % (to - from);

        data[n][i] = draw_sample((uint32_t)a, row * DRAW_SLOTS + t);
      }
      feeds[n] = (weir_feed){array->name, data[n], from, to};
      n++;
    }
  }
  return weir_plan_feed(p, feeds, n, hi == DRAW_SLOTS);
}

/* Results of streams, each kept by its slots: capacity for a rate of up to 9 times that of x. */
static inline weir_status draw_run_stream(const weir_graph *g, weir_plan *p, int64_t max,
                                          uint64_t seed, draw_outcome *o)
{
  weir_draw w = {.seed = seed};
  draw_outcome results[DRAW_POOL * 4] = {{NULL, 0, 0}};
  int64_t front[DRAW_POOL * 4] = {0};
  weir_status status = WEIR_OK;

  assert_true(weir_graph_arrays(g) <= DRAW_POOL * 4);
  for (int64_t t = 0; t < DRAW_SLOTS && status == WEIR_OK;) {
    int64_t n = weir_draw_int(&w, max > 3 && max < DRAW_SLOTS ? 1 : max, max);

    n = t + n < DRAW_SLOTS ? n : DRAW_SLOTS - t;
    status = draw_feed(g, p, t, t + n);
    t += n;
    for (int32_t a = 0; a < weir_graph_arrays(g) && status == WEIR_OK; a++) {
      const weir_array *array = weir_graph_get_array(g, a);
      int64_t lo, hi, index[WEIR_MAX_RANK] = {0};
      weir_view v;

      if (array->output == NULL || (array->desc.time == 0 && t < DRAW_SLOTS)) {
        continue;
      }
      assert_ok(weir_plan_result(p, array->output, &v, &lo, &hi));
      assert_true(array->desc.time == 0 || lo == front[a]);
      front[a] = hi;
      for (int64_t s = lo; s < hi; s++) { /* slot by slot, so that chunk limits do not show */
        const int64_t rows = draw_desc_count(&array->desc);

        for (int64_t r = 0; r < rows; r++) {
          int64_t left = r;

          for (int d = array->desc.rank - 1; d >= 0; d--) {
            index[d] = d == array->desc.time - 1 ? s : left % array->desc.shape[d];
            left = d == array->desc.time - 1 ? left : left / array->desc.shape[d];
          }
          draw_keep(&results[a], *(const float *)weir_view_at(&v, index));
        }
      }
    }
  }
  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    for (int64_t i = 0; i < results[a].n; i++) {
      draw_keep(o, results[a].values[i]);
    }
    draw_keep(o, (float)results[a].n);
    weir_free(&results[a].values);
  }
  return status;
}

/* How a graph is run. */
typedef struct draw_way {
  weir_tier tier;
  bool fusion;
  int threads;
  int64_t cache_bytes, chunk;
  int verify;
  const char *kernel;       /* exec.kernel, NULL: auto   */
  const char *skip;         /* exec.skip, NULL: nothing  */
  int64_t min_layout_bytes; /* exec.min_layout_bytes, 0: default */
  const char *device;       /* exec.device, NULL: cpu    */
} draw_way;

/* Plans and runs; *groups, if not NULL, receives the number of groups. */
static inline weir_status draw_run(const draw_graph *d, const draw_way *way, int32_t *groups,
                                   draw_outcome *o)
{
  weir_exec_cfg cfg;
  weir_chunk_bound bounds[] = {{"x", way->chunk}, {"y", way->chunk}, {"z", (way->chunk + 3) / 4}};
  weir_plan *p = NULL;
  weir_status status = WEIR_OK;

  weir_opts_default(weir_exec_opts, sizeof(cfg), &cfg);
  cfg.tier = (int)way->tier;
  cfg.fusion = way->fusion;
  cfg.cache_bytes = way->cache_bytes;
  cfg.verify = way->verify;
  cfg.skip = way->skip != NULL ? way->skip : cfg.skip;
  cfg.min_layout_bytes = way->min_layout_bytes > 0 ? way->min_layout_bytes : cfg.min_layout_bytes;
  cfg.kernel = way->kernel != NULL ? way->kernel : cfg.kernel;
  cfg.device = way->device != NULL ? way->device : cfg.device;
  cfg.device_blocks = 1; /* threads of small maps, too, take several elements */
  cfg.kernel_dir = draw_kernel_dir();
  *o = (draw_outcome){NULL, 0, 0};
  WEIR_TRY_GOTO(weir_plan_create(d->g, NULL,
                                 &(weir_plan_opts){.exec = &cfg,
                                                   .threads = way->threads,
                                                   .bounds = bounds,
                                                   .n_bounds = d->stream ? 3 : 0},
                                 &p),
                out);
  if (groups != NULL) {
    *groups = weir_plan_groups(p);
  }
  WEIR_TRY_GOTO(d->stream ? draw_run_stream(d->g, p, way->chunk, d->w.seed, o)
                          : draw_run_whole(d->g, p, o),
                out);
out:
  weir_plan_destroy(&p);
  return status;
}

/* Number of the first result element that differs, -1 for none: bit by bit (any NaN equals any), or
 * within a tolerance. */
static inline int64_t draw_difference(const draw_outcome *a, const draw_outcome *b,
                                      double tolerance)
{
  if (a->n != b->n) {
    return 0;
  }
  for (int64_t i = 0; i < a->n; i++) {
    const float x = a->values[i], y = b->values[i];
    const bool same = memcmp(&x, &y, sizeof(x)) == 0 || (isnan(x) && isnan(y)) ||
                      (tolerance > 0 && fabs((double)x - (double)y) <= tolerance);

    if (!same) {
      return i;
    }
  }
  return -1;
}
#endif
