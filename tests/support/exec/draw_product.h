/* draw_product.h - random sums of products as nodes, and what a plan makes of a graph with passes
 * and without. Tests only. */
#ifndef DRAW_PRODUCT_H
#define DRAW_PRODUCT_H
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "exec/weir_plan.h"
#include "ops/ops_cases.h"
#include "ops/weir_builder.h"

/* Passes that are switched on. */
typedef struct drawn_passes {
  weir_fission fission;
  bool window;
} drawn_passes;

static inline weir_plan *drawn_plan(const weir_graph *g, drawn_passes passes)
{
  weir_exec_cfg cfg;
  weir_plan *plan;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  cfg.fission = (int)passes.fission;
  cfg.window = passes.window;
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &plan));
  return plan;
}

/* Binds every input of the graph to random numbers (positive parts, so that sums do not cancel) and
 * runs; the result "y" is copied to `out`, [count]. */
static inline void run_on_random(const weir_graph *g, drawn_passes passes, weir_c128 *out,
                                 int64_t count)
{
  weir_binding bindings[WEIR_MAX_OPERANDS];
  weir_tensor t[WEIR_MAX_OPERANDS];
  weir_plan *plan = drawn_plan(g, passes);
  int64_t lo, hi;
  weir_view v;
  int n = 0;

  for (int32_t i = 0; i < weir_graph_arrays(g); i++) {
    const weir_array *a = weir_graph_get_array(g, i);

    if (a->kind != WEIR_ARRAY_INPUT) {
      continue;
    }
    assert_ok(weir_tensor_init(&t[n], a->desc.dtype, a->desc.rank, a->desc.shape));
    for (int64_t k = 0; k < weir_tensor_numel(&t[n]); k++) {
      const uint32_t which = (uint32_t)n;
      const weir_c128 x = {weir_random_uniform(7, which, 0, (uint64_t)k),
                           weir_random_uniform(7, which, 1, (uint64_t)k) - 0.5};

      if (weir_dtype_is_complex(a->desc.dtype)) {
        weir_dtype_store_complex(a->desc.dtype, t[n].data, k, x);
      } else {
        weir_dtype_store_real(a->desc.dtype, t[n].data, k, x.re);
      }
    }
    bindings[n] = (weir_binding){a->name, &t[n]};
    n++;
  }
  assert_ok(weir_plan_run(plan, bindings, n));
  assert_ok(weir_plan_result(plan, "y", &v, &lo, &hi));
  for (int64_t k = 0; k < count; k++) {
    out[k] = weir_dtype_is_complex(v.dtype)
                 ? weir_dtype_load_complex(v.dtype, v.data, k)
                 : (weir_c128){weir_dtype_load_real(v.dtype, v.data, k), 0};
  }
  for (int k = 0; k < n; k++) {
    weir_tensor_fini(&t[k]);
  }
  weir_plan_destroy(&plan);
}

static inline int64_t count_of(const weir_array_desc *d)
{
  int64_t n = 1;

  for (int k = 0; k < d->rank; k++) {
    n *= d->shape[k];
  }
  return n;
}

/* The result with the passes is that without them, to rounding. */
static inline bool same_numbers(const weir_graph *g, weir_value y, drawn_passes passes)
{
  const int64_t n = count_of(weir_value_desc(g, y));
  const double max =
      weir_dtype_size(weir_dtype_part(weir_value_desc(g, y)->dtype)) == 8 ? 1e-12 : 1e-5;
  void *one = NULL, *other = NULL;
  double worst = 0, size = 0;

  assert_ok(weir_alloc(n, sizeof(weir_c128), &one));
  assert_ok(weir_alloc(n, sizeof(weir_c128), &other));
  const weir_c128 *a = one, *b = other;

  run_on_random(g, (drawn_passes){WEIR_FISSION_OFF, false}, one, n);
  run_on_random(g, passes, other, n);
  for (int64_t k = 0; k < n; k++) {
    worst = fmax(worst, hypot(a[k].re - b[k].re, a[k].im - b[k].im));
    size = fmax(size, hypot(a[k].re, a[k].im));
  }
  weir_free(&one);
  weir_free(&other);
  return worst <= max * size;
}

enum { MAX_DIMS = 5, MAX_FACTORS = 4 };

/* An index of one or two dimensions, with any border; sets the extent that it needs or one that it
 * leaves. */
static inline void draw_index(weir_draw *w, const weir_access *a, weir_operand *o, int d)
{
  static const int64_t coefs[] = {1, 1, 1, -1, 2};
  const weir_box whole = weir_iterations(a);
  weir_index *x = &o->index[d];
  int64_t lo, hi;

  for (int n = (int)weir_draw_int(w, 1, 2); n > 0; n--) {
    x->coef[weir_draw_int(w, 0, a->n_dims - 1)] = coefs[weir_draw_int(w, 0, 4)];
  }
  weir_index_range(x, &whole, &lo, &hi);
  x->border = (weir_border)weir_draw_int(w, WEIR_BORDER_NEVER, WEIR_BORDER_REFLECT);
  x->div = weir_draw_int(w, 0, 9) == 0 ? 2 : 0;
  x->fill = 0.5;
  x->offset = x->border == WEIR_BORDER_NEVER ? -lo : weir_draw_int(w, -2, 2);
  o->extent[d] = x->border == WEIR_BORDER_NEVER ? hi - lo + 1 : weir_draw_int(w, 1, 4);
}

/* The operand of a factor; now and then a dimension of it is gathered. */
static inline int draw_operand(weir_draw *w, weir_access *a, weir_dtype dtype)
{
  const int k = a->n_in, rank = (int)weir_draw_int(w, 0, 3);

  assert_ok(weir_access_resize(a, k + 1, 1, 0));
  a->in[k] = (weir_operand){.dtype = dtype, .rank = rank};
  for (int d = 0; d < rank; d++) {
    draw_index(w, a, &a->in[k], d);
  }
  if (rank > 0 && weir_draw_int(w, 0, 5) == 0) {
    assert_ok(weir_access_resize(a, k + 2, 1, 0));
    a->in[k + 1] = (weir_operand){.dtype = WEIR_I32, .rank = 1};
    a->in[k + 1].index[0].coef[0] = 1;
    a->in[k + 1].extent[0] = a->dim[0].hi;
    a->in[k].index[0] = (weir_index){.gather = k + 2, .gather_hi = 3};
    a->in[k].extent[0] = 3;
  }
  return k;
}

static inline int32_t draw_factor(weir_draw *w, weir_access *a, weir_dtype dtype)
{
  weir_body *b = &a->body;
  const int32_t x = weir_body_load(b, draw_operand(w, a, dtype), dtype);

  switch (weir_draw_int(w, 0, 5)) {
  case 0:
    return weir_body_unary(b, WEIR_CODE_NEG, x);
  case 1: {
    const int32_t y = weir_body_load(b, draw_operand(w, a, dtype), dtype);

    return weir_body_binary(b, WEIR_CODE_ADD, x, y);
  }
  case 2: {
    const int32_t i = weir_body_index(b, (int)weir_draw_int(w, 0, a->n_dims - 1));

    return weir_body_binary(b, WEIR_CODE_ADD, x, weir_body_cast(b, dtype, i));
  }
  default:
    return x;
  }
}

static inline int32_t draw_product(weir_draw *w, weir_access *a, weir_dtype dtype, int64_t n)
{
  if (n == 1) {
    return draw_factor(w, a, dtype);
  }
  const int64_t left = weir_draw_int(w, 1, n - 1);
  const int32_t x = draw_product(w, a, dtype, left);

  return weir_body_binary(&a->body, WEIR_CODE_MUL, x, draw_product(w, a, dtype, n - left));
}

static inline void draw_access(weir_draw *w, weir_access *a)
{
  const weir_dtype dtype = weir_draw_int(w, 0, 1) == 0 ? WEIR_F64 : WEIR_C128;
  const int n = (int)weir_draw_int(w, 2, MAX_DIMS);
  weir_array_desc out = {.dtype = dtype};

  weir_access_init(a);
  for (int k = 0; k < n; k++) {
    const bool kept = k < n - 1 && weir_draw_int(w, 0, 1) == 0;

    (void)weir_map_dim(a, kept ? WEIR_PARALLEL : WEIR_REDUCED, weir_draw_int(w, 1, 5));
    out.shape[out.rank] = a->dim[k].hi;
    out.rank += kept;
  }
  assert_ok(weir_access_resize(a, 0, 1, 0));
  a->n_values = 1;
  a->value[0] = draw_product(w, a, dtype, weir_draw_int(w, 2, MAX_FACTORS));
  if (weir_draw_one_in(w, 3)) {
    const int32_t more = draw_product(w, a, dtype, weir_draw_int(w, 2, MAX_FACTORS - 1));

    a->value[0] = weir_body_binary(&a->body, WEIR_CODE_ADD, a->value[0], more);
  }
  weir_map_operand(&a->out[0], &out);
  for (int k = 0, d = 0; k < n; k++) {
    if (a->dim[k].kind == WEIR_PARALLEL) {
      a->out[0].index[d++].coef[k] = 1;
    }
  }
  a->combine = WEIR_COMBINE_SUM;
  a->accumulator = dtype;
}

/* Inputs for every operand; indices are constants. False: too many operands for a node. */
static inline bool add_random(weir_draw *w, weir_graph *g, weir_value *y)
{
  static const weir_op_desc op = {.name = "product"};
  weir_value in[WEIR_MAX_OPERANDS];
  weir_access a;

  draw_access(w, &a);
  for (int k = 0; k < a.n_in; k++) {
    char name[16];

    if (a.in[k].dtype == WEIR_I32) {
      int32_t index[8];

      for (int i = 0; i < 8; i++) {
        index[i] = (int32_t)weir_draw_int(w, 0, 2);
      }
      const weir_tensor t = weir_tensor_wrap(index, WEIR_I32, 1, a.in[k].extent);

      in[k] = weir_constant(g, &t);
    } else {
      weir_array_desc d = {.dtype = a.in[k].dtype, .rank = a.in[k].rank};

      memcpy(d.shape, a.in[k].extent, sizeof d.shape);
      (void)snprintf(name, sizeof name, "x%d", k);
      in[k] = weir_input(g, name, &d);
    }
  }
  const bool fits = weir_access_check(&a) == WEIR_OK;

  *y = fits ? weir_graph_add_access(g, &op, &a, in, a.n_in, WEIR_WHERE) : WEIR_NO_VALUE;
  weir_access_fini(&a);
  weir_clear_failure();
  return fits;
}

#endif
