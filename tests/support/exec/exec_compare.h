/* exec_compare.h - what the tests of engines share: second outputs for a case, split runs, and
 * comparison to the bit. Tests only. */
#ifndef WEIR_EXEC_COMPARE_H
#define WEIR_EXEC_COMPARE_H
#include "base/weir_check.h"
#include "base/weir_clock.h"
#include "support/exec/exec_cases.h"

static inline uint64_t fresh_seed(void)
{
  return (uint64_t)(weir_clock() * 1e9);
}

/* A second set of outputs and states for the same case. */
typedef struct copy {
  weir_view out[WEIR_MAX_OUTPUTS];
  char *memory[WEIR_MAX_OUTPUTS];
  uint64_t *cells;
} copy;

static inline copy copy_make(const exec_case *c)
{
  copy k = {.cells = NULL};

  for (int o = 0; o < c->loop.access.n_out; o++) {
    k.memory[o] = malloc(c->out_bytes[o]);
    memcpy(k.memory[o], c->out_memory[o], c->out_bytes[o]);
    k.out[o] = c->out[o];
    k.out[o].data = k.memory[o] + ((char *)c->out[o].data - c->out_memory[o]);
  }
  const weir_access *a = &c->loop.access;
  const size_t n = (size_t)(c->points * weir_table_before(a, a->n_states)) + 1;
  k.cells = calloc(n, sizeof *k.cells);
  if (c->cells != NULL) {
    memcpy(k.cells, c->cells, n * sizeof *k.cells);
  }
  return k;
}

static inline void copy_free(copy *k)
{
  for (int o = 0; o < WEIR_MAX_OUTPUTS; o++) {
    free(k->memory[o]);
  }
  free(k->cells);
}

static inline int same_scalar(weir_dtype t, const void *a, const void *b)
{
  const weir_dtype part = weir_dtype_part(t);

  if (part != t) {
    const size_t size = weir_dtype_size(part);

    return same_scalar(part, a, b) &&
           same_scalar(part, (const char *)a + size, (const char *)b + size);
  }
  const literal x = literal_load(t, a), y = literal_load(t, b);

  return (t == WEIR_F32 && x.f32 != x.f32 && y.f32 != y.f32) ||
         (t == WEIR_F64 && x.f64 != x.f64 && y.f64 != y.f64) ||
         (t == WEIR_BF16 && isnan(weir_f32_from_bf16(x.bf16)) &&
          isnan(weir_f32_from_bf16(y.bf16))) ||
         (t == WEIR_F16 && isnan(weir_f32_from_f16(x.f16)) && isnan(weir_f32_from_f16(y.f16))) ||
         x.bits == y.bits;
}

/* Prints to `out` what differs first. */
static inline int same_results(FILE *out, const exec_case *c, const copy *k, const char *what)
{
  const weir_access *a = &c->loop.access;

  for (int o = 0; o < a->n_out; o++) {
    const size_t size = weir_dtype_size(a->out[o].dtype);
    for (size_t at = 0; at + size <= c->out_bytes[o]; at += size) {
      if (!same_scalar(a->out[o].dtype, c->out_memory[o] + at, k->memory[o] + at)) {
        const weir_dtype dtype = a->out[o].dtype;
        char got[72], wanted[72];

        fprintf(out, "%s: mode %d, seed %llu, output %d (%s), element %zu: %s, expected %s\n", what,
                (int)c->mode, (unsigned long long)c->seed, o, weir_dtype_name(dtype), at / size,
                weir_element_text(dtype, k->memory[o] + at, 0, got),
                weir_element_text(dtype, c->out_memory[o] + at, 0, wanted));
        return 0;
      }
    }
  }
  for (int s = 0; s < a->n_states; s++) {
    for (int64_t p = 0; p < c->points; p++) {
      const weir_state_table one = {c->cells, c->points}, two = {k->cells, c->points};
      const literal x = literal_cells_get(a, s, &one, p), y = literal_cells_get(a, s, &two, p);

      if (!same_scalar(a->state[s].dtype, &x, &y)) {
        fprintf(out, "%s: seed %llu, state %d of point %lld differs\n", what,
                (unsigned long long)c->seed, s, (long long)p);
        return 0;
      }
    }
  }
  return 1;
}

/* Runs box by box: a random split of a parallel or sequential dimension, both halves split again.
 */
static inline void run_split(exec_case *c, const weir_engine *engine, void *context, weir_box box,
                             const copy *k, int depth)
{
  const weir_access *a = &c->loop.access;
  weir_state_table cells = {k->cells, c->points};
  const int d = a->n_dims > 0 ? (int)draw(c, 0, a->n_dims - 1) : 0;

  if (depth == 0 || a->n_dims == 0 || a->dim[d].kind == WEIR_REDUCED || box.hi[d] - box.lo[d] < 2) {
    const weir_loop_run run = {box, c->in, k->out, &cells, 0};
    engine->run(context, &run);
    return;
  }
  const int64_t split = draw(c, box.lo[d] + 1, box.hi[d] - 1);
  weir_box low = box, high = box;
  low.hi[d] = high.lo[d] = split;
  const int swap =
      a->dim[d].kind == WEIR_BACKWARD || (a->dim[d].kind == WEIR_PARALLEL && draw(c, 0, 1));
  run_split(c, engine, context, swap ? high : low, k, depth - 1);
  run_split(c, engine, context, swap ? low : high, k, depth - 1);
}

static inline int sequential_dims(const weir_access *a)
{
  int n = 0;

  for (int k = 0; k < a->n_dims; k++) {
    n += a->dim[k].kind >= WEIR_FORWARD;
  }
  return n;
}

#endif
