/* exec_literal_reduce.h - the order of reductions of weir_engine.h, written down without any
 * thought of speed. Tests only. */
#ifndef WEIR_EXEC_LITERAL_REDUCE_H
#define WEIR_EXEC_LITERAL_REDUCE_H
#include "support/exec/exec_literal.h"

/* A partial result: one, two or three numbers of the accumulator's dtype, or a number and a
 * position.
 */
typedef struct literal_partial {
  literal x, y, z;
  int64_t at;
} literal_partial;

static inline literal_partial literal_neutral(weir_monoid m, weir_dtype t)
{
  literal_partial p = {.at = -1};

#define ONE(F, f)                                                                            \
  if (t == WEIR_##F) {                                                                       \
    p.x.f = m == WEIR_COMBINE_PROD  ? 1                                                      \
            : m == WEIR_COMBINE_MIN ? weir_greatest_##f()                                    \
            : m == WEIR_COMBINE_MAX || m == WEIR_COMBINE_ARGMAX || m == WEIR_COMBINE_SOFTMAX \
                ? weir_least_##f()                                                           \
                : 0;                                                                         \
  }
  LITERAL_ALL(ONE)
#undef ONE
  if (weir_dtype_is_complex(t)) {
    p.x.c128 = (weir_c128){0, 0};
  }
  return p;
}

/* Merges a and b by a monoid that chooses one of them. */
static inline literal_partial literal_choose(weir_monoid m, weir_dtype t, literal_partial a,
                                             literal_partial b)
{
#define ONE(F, f)                                           \
  if (t == WEIR_##F) {                                      \
    const weir_at_##f p = {a.x.f, a.at}, q = {b.x.f, b.at}; \
    weir_at_##f r = p;                                      \
    switch (m) {                                            \
    case WEIR_COMBINE_MAX:                                  \
      r.value = weir_highest_##f(p.value, q.value);         \
      break;                                                \
    case WEIR_COMBINE_MIN:                                  \
      r.value = weir_lowest_##f(p.value, q.value);          \
      break;                                                \
    case WEIR_COMBINE_ARGMAX:                               \
      r = weir_argmax_##f(p, q);                            \
      break;                                                \
    case WEIR_COMBINE_FIRST:                                \
      r = weir_first_##f(p, q);                             \
      break;                                                \
    case WEIR_COMBINE_LAST:                                 \
      r = weir_last_##f(p, q);                              \
      break;                                                \
    default:                                                \
      break;                                                \
    }                                                       \
    a.x.f = r.value;                                        \
    a.at = r.at;                                            \
  }
  LITERAL_ALL(ONE)
#undef ONE
  return a;
}

static inline literal_partial literal_merge(weir_monoid m, weir_dtype t, literal_partial a,
                                            literal_partial b)
{
#define NUMBER(F, f)                             \
  if (t == WEIR_##F && m == WEIR_COMBINE_SUM) {  \
    a.x.f = weir_add_##f(a.x.f, b.x.f);          \
    return a;                                    \
  }                                              \
  if (t == WEIR_##F && m == WEIR_COMBINE_PROD) { \
    a.x.f = weir_mul_##f(a.x.f, b.x.f);          \
    return a;                                    \
  }
#define REAL(F, f)                                                                              \
  if (t == WEIR_##F && m == WEIR_COMBINE_MOMENTS) {                                             \
    const weir_moments_##f r = weir_moments_merge_##f((weir_moments_##f){a.x.f, a.y.f, a.z.f},  \
                                                      (weir_moments_##f){b.x.f, b.y.f, b.z.f}); \
    a.x.f = r.n;                                                                                \
    a.y.f = r.mean;                                                                             \
    a.z.f = r.m2;                                                                               \
    return a;                                                                                   \
  }                                                                                             \
  if (t == WEIR_##F && m == WEIR_COMBINE_SOFTMAX) {                                             \
    const weir_softmax_##f r = weir_softmax_merge_##f((weir_softmax_##f){a.x.f, a.y.f},         \
                                                      (weir_softmax_##f){b.x.f, b.y.f});        \
    a.x.f = r.max;                                                                              \
    a.y.f = r.sum;                                                                              \
    return a;                                                                                   \
  }
  REAL(F32, f32)
  REAL(F64, f64)
  LITERAL_NUMBERS(NUMBER)
  NUMBER(C64, c64)
  NUMBER(C128, c128)
#undef NUMBER
#undef REAL
  return literal_choose(m, t, a, b);
}

/* The partial result with one more element, the value x of iteration r. */
static inline literal_partial literal_take(weir_monoid m, weir_dtype t, literal_partial a,
                                           literal x, int64_t r)
{
  literal_partial element = {.x = x, .at = r};

#define REAL(F, f)                                                           \
  if (t == WEIR_##F && m == WEIR_COMBINE_MOMENTS) {                          \
    const weir_moments_##f n =                                               \
        weir_moments_step_##f((weir_moments_##f){a.x.f, a.y.f, a.z.f}, x.f); \
    a.x.f = n.n;                                                             \
    a.y.f = n.mean;                                                          \
    a.z.f = n.m2;                                                            \
    return a;                                                                \
  }                                                                          \
  if (t == WEIR_##F && m == WEIR_COMBINE_SOFTMAX) {                          \
    element.y.f = 1;                                                         \
  }
  REAL(F32, f32)
  REAL(F64, f64)
#undef REAL
  return literal_merge(m, t, a, element);
}

/* All reduced iterations of one output: lanes in blocks, lanes merged, blocks merged level by
 * level.
 */
static inline literal_partial literal_reduce(literal_run *r)
{
  const weir_access *a = r->a;
  const weir_monoid m = a->combine;
  const weir_dtype t = a->accumulator;
  int64_t total = 1, at = 0;

  for (int k = 0; k < a->n_dims; k++) {
    total *= a->dim[k].kind == WEIR_REDUCED ? a->dim[k].hi - a->dim[k].lo : 1;
  }
  int64_t blocks = (total + WEIR_REDUCE_BLOCK - 1) / WEIR_REDUCE_BLOCK;
  if (blocks == 0) {
    return literal_neutral(m, t);
  }
  literal_partial *partial = calloc((size_t)blocks, sizeof *partial);
  for (int64_t block = 0; block < blocks; block++) {
    literal_partial lane[WEIR_LANES];
    for (int l = 0; l < WEIR_LANES; l++) {
      lane[l] = literal_neutral(m, t);
    }
    for (int i = 0; i < WEIR_REDUCE_BLOCK && at < total; i++, at++) {
      const int here = literal_iteration(r);
      if (here && (a->n_values < 2 || r->v[a->value[1]].bool)) {
        const literal x = literal_cast(t, a->body.exprs[a->value[0]].dtype, r->v[a->value[0]]);
        lane[at % WEIR_LANES] = literal_take(m, t, lane[at % WEIR_LANES], x, at);
      }
      exec_next(a, &r->run->box, exec_mask(a, WEIR_REDUCED), r->iteration);
    }
    for (int half = WEIR_LANES / 2; half > 0; half /= 2) {
      for (int l = 0; l < half; l++) {
        lane[l] = literal_merge(m, t, lane[l], lane[l + half]);
      }
    }
    partial[block] = lane[0];
  }
  while (blocks > 1) {
    for (int64_t i = 0; i < blocks / 2; i++) {
      partial[i] = literal_merge(m, t, partial[2 * i], partial[2 * i + 1]);
    }
    if (blocks % 2) {
      partial[blocks / 2] = partial[blocks - 1];
    }
    blocks = (blocks + 1) / 2;
  }
  const literal_partial result = partial[0];
  free(partial);
  return result;
}

static inline void literal_reduction(literal_run *r)
{
  const weir_access *a = r->a;
  const literal_partial p = literal_reduce(r);
  const weir_monoid m = a->combine;
  literal position = {.c128 = {0, 0}};

  literal_put(r, 0, a->accumulator, p.x);
  if (m == WEIR_COMBINE_ARGMAX) {
    position.i64 = p.at;
    literal_put(r, 1, WEIR_I64, position);
  } else if (m == WEIR_COMBINE_FIRST || m == WEIR_COMBINE_LAST) {
    position.bool = p.at >= 0;
    literal_put(r, 1, WEIR_BOOL, position);
  } else if (m == WEIR_COMBINE_MOMENTS || m == WEIR_COMBINE_SOFTMAX) {
    literal_put(r, 1, a->accumulator, p.y);
    if (m == WEIR_COMBINE_MOMENTS) {
      literal_put(r, 2, a->accumulator, p.z);
    }
  }
}

/* State `s` of a point: its parts lie in one cell each. */
static inline literal literal_cells_get(const weir_access *a, int s, const weir_state_table *cells,
                                        int64_t point)
{
  const size_t size = weir_dtype_size(weir_dtype_part(a->state[s].dtype));
  literal x = {.c128 = {0, 0}};

  for (int k = 0; k < weir_table_before(a, s + 1) - weir_table_before(a, s); k++) {
    memcpy((char *)&x + (size_t)k * size,
           &cells->cells[(weir_table_before(a, s) + k) * cells->points + point], size);
  }
  return x;
}

static inline void literal_cells_put(const weir_access *a, int s, const weir_state_table *cells,
                                     int64_t point, literal x)
{
  const size_t size = weir_dtype_size(weir_dtype_part(a->state[s].dtype));

  for (int k = 0; k < weir_table_before(a, s + 1) - weir_table_before(a, s); k++) {
    memcpy(&cells->cells[(weir_table_before(a, s) + k) * cells->points + point],
           (char *)&x + (size_t)k * size, size);
  }
}

static inline void literal_scan(literal_run *r)
{
  const weir_access *a = r->a;
  const weir_state_table *cells = r->run->state;
  const int64_t point = exec_position(a, WEIR_PARALLEL, r->iteration);
  literal next[WEIR_MAX_STATES];

  for (int s = 0; s < a->n_states; s++) {
    r->state[s] = literal_cells_get(a, s, cells, point);
  }
  do {
    const int here = literal_iteration(r);
    const literal zero = {.c128 = {0, 0}};
    for (int k = 0; k < a->n_values; k++) {
      literal_put(r, k, a->body.exprs[a->value[k]].dtype, here ? r->v[a->value[k]] : zero);
    }
    for (int s = 0; here && s < a->n_states; s++) {
      next[s] = r->v[a->state[s].next];
    }
    if (here) {
      memcpy(r->state, next, sizeof next[0] * (size_t)a->n_states);
    }
  } while (exec_next(a, &r->run->box, exec_mask(a, WEIR_FORWARD), r->iteration));
  for (int s = 0; s < a->n_states; s++) {
    literal_cells_put(a, s, cells, point, r->state[s]);
  }
}

/* The whole run. */
static inline void literal_loop(const weir_access *a, const weir_loop_run *run)
{
  literal_run r = {.a = a, .run = run};

  for (int k = 0; k < a->n_dims; k++) {
    if (a->dim[k].kind != WEIR_REDUCED && run->box.lo[k] >= run->box.hi[k]) {
      return;
    }
  }
  r.v = calloc((size_t)a->body.n + 1, sizeof *r.v);
  exec_first(a, &run->box, r.iteration);
  do {
    if (a->combine != WEIR_COMBINE_NONE) {
      literal_reduction(&r);
    } else {
      literal_scan(&r);
    }
  } while (exec_next(a, &run->box, exec_mask(a, WEIR_PARALLEL), r.iteration));
  free(r.v);
}
#endif
