/* draw_graph.h - random graphs out of the builders. Tests only.
 *
 * All values are f32 of about unit size, so that a `smooth` graph may be compared with the oracle,
 * which computes in double. Streams: inputs x and y at one rate, z at a quarter of it. */
#ifndef WEIR_DRAW_GRAPH_H
#define WEIR_DRAW_GRAPH_H
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "ops/broadcast/weir_broadcast.h"
#include "ops/concat/weir_concat.h"
#include "ops/contract/weir_contract.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/gather/weir_gather.h"
#include "ops/ops_cases.h"
#include "ops/pad/weir_pad.h"
#include "ops/random/weir_random_op.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/resample/weir_resample.h"
#include "ops/reshape/weir_reshape.h"
#include "ops/scan/weir_scan.h"
#include "ops/shift/weir_shift.h"
#include "ops/slice/weir_slice.h"
#include "ops/transpose/weir_transpose.h"
#include "ops/window/weir_window.h"

#define DRAW_POOL 64
#define DRAW_LARGEST 3000 /* elements of a value that operators may still enlarge */
#define DRAW_SLOTS 701    /* length of x and y */

/* A value, and its slots per slot of x. */
typedef struct drawn {
  weir_value v;
  int64_t up, down;
} drawn;

typedef struct draw_graph {
  weir_draw w;
  weir_graph *g;
  bool stream, smooth;
  drawn pool[DRAW_POOL];
  int n;
} draw_graph;

static inline const weir_array_desc *drawn_desc(const draw_graph *d, int i)
{
  return weir_value_desc(d->g, d->pool[i].v);
}

static inline int64_t drawn_count(const draw_graph *d, int i)
{
  const weir_array_desc *a = drawn_desc(d, i);
  int64_t n = 1;

  for (int k = 0; k < a->rank; k++) {
    n *= k == a->time - 1 ? 1 : a->shape[k];
  }
  return n;
}

static inline void draw_push(draw_graph *d, weir_value v, int64_t up, int64_t down)
{
  if (v.node >= 0 && d->n < DRAW_POOL) {
    d->pool[d->n++] = (drawn){v, up, down};
  }
}

static inline weir_value draw_constant(draw_graph *d, int rank, const int64_t *shape)
{
  weir_tensor t;

  assert_ok(weir_tensor_init(&t, WEIR_F32, rank, shape));
  for (int64_t i = 0; i < weir_tensor_numel(&t); i++) {
    ((float *)t.data)[i] = (float)weir_draw_int(&d->w, -100, 100) / 128;
  }
  const weir_value v = weir_constant(d->g, &t);

  weir_tensor_fini(&t);
  return v;
}

static inline weir_value draw_indices(draw_graph *d, int64_t n, int64_t range)
{
  int32_t data[40];

  for (int64_t i = 0; i < n; i++) {
    data[i] = (int32_t)weir_draw_int(&d->w, 0, range - 1);
  }
  const weir_tensor t = weir_tensor_wrap(data, WEIR_I32, 1, &n);

  return weir_constant(d->g, &t);
}

/* Another value of the same shape and rate, or `i`. */
static inline int draw_partner(draw_graph *d, int i)
{
  const weir_array_desc *a = drawn_desc(d, i);

  for (int tries = 0; tries < 12; tries++) {
    const int j = (int)weir_draw_int(&d->w, 0, d->n - 1);
    const weir_array_desc *b = drawn_desc(d, j);
    bool same = a->rank == b->rank && a->time == b->time && d->pool[i].up == d->pool[j].up &&
                d->pool[i].down == d->pool[j].down;

    for (int k = 0; k < a->rank && same; k++) {
      same = a->shape[k] == b->shape[k];
    }
    if (same) {
      return j;
    }
  }
  return i;
}

/* Two reals through complex numbers. */
static inline weir_value draw_complex(draw_graph *d, weir_value x, weir_value y)
{
  weir_graph *g = d->g;
  const bool wide = weir_draw_one_in(&d->w, 2);
  const weir_value a = wide ? weir_cast(g, WEIR_F64, x) : x,
                   b = wide ? weir_cast(g, WEIR_F64, y) : y;
  const weir_value z = weir_make(g, weir_tanh(g, a), weir_tanh(g, b));
  weir_value w = z, v;

  switch (weir_draw_int(&d->w, 0, 3)) {
  case 0:
    w = weir_mul(g, z, weir_conj(g, weir_add_scalar(g, z, 0.5)));
    break;
  case 1:
    w = weir_div(g, z, weir_add_scalar(g, z, 2));
    break;
  case 2:
    w = weir_exp(g, weir_scale(g, z, 0.5));
    break;
  default:
    w = weir_sub(g, weir_neg(g, z), weir_cast(g, wide ? WEIR_C128 : WEIR_C64, weir_imag(g, z)));
  }
  v = weir_draw_one_in(&d->w, 3)   ? weir_abs(g, w)
      : weir_draw_one_in(&d->w, 2) ? weir_imag(g, w)
                                   : weir_abs2(g, w);
  return wide ? weir_cast(g, WEIR_F32, v) : v;
}

static inline weir_value draw_pointwise(draw_graph *d, int i)
{
  weir_graph *g = d->g;
  const weir_value x = d->pool[i].v, y = d->pool[draw_partner(d, i)].v;

  switch (weir_draw_int(&d->w, 0, d->smooth ? 9 : 13)) {
  case 0:
    return weir_tanh(g, x);
  case 1:
    return weir_abs(g, x);
  case 2:
    return weir_scale(g, weir_add(g, x, y), 0.5);
  case 3:
    return weir_scale(g, weir_sub(g, x, y), 0.5);
  case 4:
    return weir_mul(g, weir_tanh(g, x), weir_tanh(g, y));
  case 5:
    return weir_max(g, x, y);
  case 6:
    return weir_cast(g, WEIR_F32, weir_sqrt(g, weir_abs(g, weir_cast(g, WEIR_F64, x))));
  case 7:
    return weir_sub_scalar(g, weir_mul(g, x, weir_scalar(g, WEIR_F32, 0.75)), 0.125);
  case 8:
    return weir_fma(g, weir_scale(g, x, 0.25), weir_tanh(g, y), weir_scale(g, y, 0.5));
  case 9:
    return draw_complex(d, x, y);
  case 10:
    return weir_select(g, weir_lt(g, x, y), weir_neg(g, x), weir_scale(g, y, 0.5));
  case 11:
    return weir_cast(g, WEIR_F32, weir_cast(g, WEIR_I32, weir_scale(g, x, 3)));
  case 12:
    return weir_sub(g, x, weir_floor(g, x));
  default:
    return weir_cast(g, WEIR_F32, weir_or(g, weir_gt(g, x, y), weir_isnan(g, x)));
  }
}

static inline int draw_dim(draw_graph *d, const weir_array_desc *a, bool time)
{
  for (int tries = 0; tries < 20 && a->rank > 0; tries++) {
    const int k = (int)weir_draw_int(&d->w, 0, a->rank - 1);

    if ((k == a->time - 1) == time) {
      return k;
    }
  }
  return -1;
}

static inline weir_border draw_border(draw_graph *d, bool time, int64_t extent)
{
  static const weir_border streams[] = {WEIR_BORDER_ZERO, WEIR_BORDER_VALUE, WEIR_BORDER_REPLICATE};

  return time          ? streams[weir_draw_int(&d->w, 0, 2)]
         : extent == 0 ? WEIR_BORDER_ZERO
                       : (weir_border)weir_draw_int(&d->w, WEIR_BORDER_ZERO, WEIR_BORDER_REFLECT);
}

static inline weir_value draw_shift(draw_graph *d, int i, int k)
{
  const weir_array_desc *a = drawn_desc(d, i);
  const bool time = k == a->time - 1;

  return weir_shift_with(d->g, d->pool[i].v,
                         &((weir_shift_spec){.dim = k,
                                             .by = weir_draw_int(&d->w, -6, 6),
                                             .border = draw_border(d, time, a->shape[k]),
                                             .fill = 0.25}));
}

/* A moving or tumbling aggregate; strides change the rate. */
static inline void draw_window(draw_graph *d, int i, int k)
{
  static const weir_monoid monoids[] = {WEIR_COMBINE_SUM, WEIR_COMBINE_MAX, WEIR_COMBINE_MIN,
                                        WEIR_COMBINE_MOMENTS};
  const weir_array_desc *a = drawn_desc(d, i);
  const bool time = k == a->time - 1;
  weir_window_spec s = {.combine = monoids[weir_draw_int(&d->w, 0, 3)],
                        .dim = k,
                        .size = weir_draw_int(&d->w, 1, 9),
                        .stride = weir_draw_one_in(&d->w, 3) ? weir_draw_int(&d->w, 2, 4) : 1,
                        .dilation = weir_draw_one_in(&d->w, 3) ? -2 : 1,
                        .offset = weir_draw_int(&d->w, -8, 8),
                        .border = weir_draw_one_in(&d->w, 2) ? WEIR_BORDER_ABSENT
                                                             : draw_border(d, time, a->shape[k])};
  weir_value v = weir_window(d->g, &s, d->pool[i].v);

  v.output = s.combine == WEIR_COMBINE_MOMENTS ? (int32_t)weir_draw_int(&d->w, 1, 2) : 0;
  if (s.combine == WEIR_COMBINE_SUM && weir_draw_one_in(&d->w, 3)) {
    const weir_value z = weir_make(d->g, d->pool[i].v, weir_tanh(d->g, d->pool[i].v));
    const weir_value sum = weir_window(d->g, &s, z);

    v = weir_add(d->g, weir_real(d->g, sum), weir_imag(d->g, sum));
  }
  if (s.combine == WEIR_COMBINE_MAX || s.combine == WEIR_COMBINE_MIN) {
    v = weir_max_scalar(d->g, weir_min_scalar(d->g, v, 2), -2); /* no infinities of empty windows */
  } else {
    v = weir_scale(d->g, v, 0.2);
  }
  draw_push(d, v, d->pool[i].up, time ? d->pool[i].down * s.stride : d->pool[i].down);
}

static inline void draw_slice(draw_graph *d, int i, int k)
{
  const weir_array_desc *a = drawn_desc(d, i);
  const bool time = k == a->time - 1;
  const int64_t step = time || a->shape[k] < 1
                           ? weir_draw_int(&d->w, 1, 3)
                           : (int64_t[]){1, 2, -1, -3}[weir_draw_int(&d->w, 0, 3)];

  if (step < 0) {
    draw_push(d, weir_slice(d->g, d->pool[i].v, k, -1, WEIR_SLICE_END, step), d->pool[i].up,
              d->pool[i].down);
  } else {
    const int64_t from = time ? weir_draw_int(&d->w, 0, 5)
                              : weir_draw_int(&d->w, 0, a->shape[k] > 2 ? a->shape[k] / 2 : 0);

    draw_push(d, weir_slice(d->g, d->pool[i].v, k, from, WEIR_SLICE_END, step), d->pool[i].up,
              time ? d->pool[i].down * step : d->pool[i].down);
  }
}

static inline void draw_resample(draw_graph *d, int i, int k)
{
  const weir_array_desc *a = drawn_desc(d, i);
  const bool time = k == a->time - 1;
  const weir_resample_spec s = {.method = weir_draw_one_in(&d->w, 2) ? WEIR_RESAMPLE_HOLD
                                                                     : WEIR_RESAMPLE_LINEAR,
                                .dim = k,
                                .up = weir_draw_int(&d->w, 1, 3),
                                .down = weir_draw_int(&d->w, 1, 3)};

  if (drawn_count(d, i) * s.up > DRAW_LARGEST || (!time && a->shape[k] < 1)) {
    return;
  }
  draw_push(d, weir_resample(d->g, &s, d->pool[i].v), time ? d->pool[i].up * s.up : d->pool[i].up,
            time ? d->pool[i].down * s.down : d->pool[i].down);
}

static inline void draw_scan(draw_graph *d, int i, int k)
{
  const weir_array_desc *a = drawn_desc(d, i);
  const bool time = k == a->time - 1;
  const weir_sos_spec sos = {.dim = k,
                             .n = 1,
                             .section = {{0.2, 0.3, 0.1, 1, -0.5, 0.2}},
                             .backward = !time && weir_draw_one_in(&d->w, 2)};

  if (a->time != 0 && !time) {
    return; /* the states of such a scan have no end: refused */
  }
  if (weir_draw_one_in(&d->w, 2)) {
    draw_push(d, weir_sos(d->g, &sos, d->pool[i].v, WEIR_NO_VALUE), d->pool[i].up, d->pool[i].down);
  } else if (!time) {
    const weir_value sum =
        weir_cumsum_at(d->g, d->pool[i].v, k, weir_draw_one_in(&d->w, 2), WEIR_WHERE);

    draw_push(d, weir_tanh(d->g, weir_cast(d->g, WEIR_F32, sum)), d->pool[i].up, d->pool[i].down);
  }
}

/* A reduction, and half the time what is left when it is taken off again, as in softmax. */
static inline void draw_reduce(draw_graph *d, int i, int k)
{
  const weir_array_desc *a = drawn_desc(d, i);
  weir_reduce_spec s = {.combine = weir_draw_one_in(&d->w, 2) ? WEIR_COMBINE_SUM : WEIR_COMBINE_MAX,
                        .n_dims = 1,
                        .dim = {k},
                        .keep = weir_draw_one_in(&d->w, 2)};
  const double scale = a->shape[k] > 0 ? 1 / (double)a->shape[k] : 1;
  weir_value v;

  if (!d->smooth && !s.keep && weir_draw_one_in(&d->w, 4)) {
    v = weir_argmax(d->g, d->pool[i].v, k);
    const weir_value position = {v.node, 1};

    draw_push(d, weir_scale(d->g, weir_cast(d->g, WEIR_F32, position), scale), d->pool[i].up,
              d->pool[i].down);
    return;
  }
  v = weir_reduce(d->g, &s, d->pool[i].v);
  v = s.combine == WEIR_COMBINE_SUM ? weir_scale(d->g, v, scale)
                                    : weir_max_scalar(d->g, weir_min_scalar(d->g, v, 2), -2);
  draw_push(d, v, d->pool[i].up, d->pool[i].down);
  if (s.keep) {
    draw_push(d, weir_scale(d->g, weir_sub(d->g, d->pool[i].v, v), 0.5), d->pool[i].up,
              d->pool[i].down);
  }
}

static inline void draw_layout(draw_graph *d, int i, int k)
{
  const weir_array_desc a = *drawn_desc(d, i);
  const drawn x = d->pool[i];

  switch (weir_draw_int(&d->w, 0, 4)) {
  case 0:
    if (a.rank > 1 && a.time == 0) {
      weir_transpose_spec t = {{0}};
      const int by = (int)weir_draw_int(&d->w, 1, a.rank - 1);

      for (int n = 0; n < a.rank; n++) {
        t.order[n] = (n + by) % a.rank;
      }
      draw_push(d, weir_transpose(d->g, x.v, &t), x.up, x.down);
    }
    break;
  case 1: {
    const weir_value inputs[2] = {x.v, d->pool[draw_partner(d, i)].v};

    if (drawn_count(d, i) < DRAW_LARGEST) {
      draw_push(d, weir_concat(d->g, inputs, 2, k), x.up, x.down);
    }
    break;
  }
  case 2: {
    weir_pad_spec p = {.border = draw_border(d, false, a.shape[k]), .fill = -0.5};

    p.before[k] = weir_draw_int(&d->w, 0, 3);
    p.after[k] = weir_draw_int(&d->w, 0, 3);
    if (drawn_count(d, i) < DRAW_LARGEST) {
      draw_push(d, weir_pad(d->g, x.v, &p), x.up, x.down);
    }
    break;
  }
  case 3:
    if (a.shape[k] > 0 && drawn_count(d, i) < DRAW_LARGEST) {
      const weir_gather_spec s = {.dim = k};
      const int64_t n = weir_draw_int(&d->w, 1, a.shape[k] + 2 < 40 ? a.shape[k] + 2 : 40);

      draw_push(d, weir_gather(d->g, x.v, draw_indices(d, n, a.shape[k]), &s), x.up, x.down);
    }
    break;
  default:
    if (a.time == 0 && a.rank > 1) {
      const weir_reshape_spec s = {.rank = 1, .shape = {-1}};

      draw_push(d, weir_reshape(d->g, x.v, &s), x.up, x.down);
    }
  }
}

static inline void draw_product(draw_graph *d, int i)
{
  const weir_array_desc *a = drawn_desc(d, i);

  if (a->rank == 2 && a->time == 0 && a->shape[0] > 0 && a->shape[1] > 0) {
    const weir_value w = draw_constant(d, 2, (int64_t[]){a->shape[1], 5});

    draw_push(d,
              weir_scale(d->g, weir_contract(d->g, "ij,jk->ik", d->pool[i].v, w),
                         1 / (double)a->shape[1]),
              1, 1);
  } else if (a->rank == 2 && a->time == 2) {
    const weir_value w = draw_constant(d, 2, (int64_t[]){3, a->shape[0]});

    draw_push(d, weir_scale(d->g, weir_contract(d->g, "cj,jt->ct", w, d->pool[i].v), 0.25),
              d->pool[i].up, d->pool[i].down);
  }
}

static inline void draw_node(draw_graph *d)
{
  const int i =
      (int)weir_draw_int(&d->w, weir_draw_one_in(&d->w, 2) && d->n > 4 ? d->n - 4 : 0, d->n - 1);
  const weir_array_desc *a = drawn_desc(d, i);
  const int space = draw_dim(d, a, false), time = draw_dim(d, a, true);
  const int k = time >= 0 && (space < 0 || !weir_draw_one_in(&d->w, 3)) ? time : space;
  const int64_t kind = weir_draw_int(&d->w, 0, 17);

  if (kind < 6 || k < 0) {
    draw_push(d, draw_pointwise(d, i), d->pool[i].up, d->pool[i].down);
  } else if (kind < 9) {
    draw_push(d, draw_shift(d, i, k), d->pool[i].up, d->pool[i].down);
  } else if (kind < 11) {
    draw_window(d, i, k);
  } else if (kind == 11) {
    draw_slice(d, i, k);
  } else if (kind == 12) {
    draw_resample(d, i, k);
  } else if (kind == 13) {
    draw_scan(d, i, k);
  } else if (kind == 14 && space >= 0) {
    draw_reduce(d, i, space);
  } else if (kind < 17 && space >= 0) {
    draw_layout(d, i, space);
  } else {
    draw_product(d, i);
  }
}

static inline void draw_inputs(draw_graph *d)
{
  const weir_array_desc line = {.dtype = WEIR_F32, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1};
  weir_array_desc more = {.dtype = WEIR_F32,
                          .rank = 2,
                          .shape = {weir_draw_int(&d->w, 1, 3), WEIR_UNBOUNDED},
                          .time = 2};

  if (d->stream) {
    draw_push(d, weir_input(d->g, "x", &line), 1, 1);
    draw_push(d, weir_input(d->g, "y", &more), 1, 1);
    if (weir_draw_one_in(&d->w, 3)) {
      draw_push(d, weir_input(d->g, "z", &line), 1, 4);
    }
    return;
  }
  const weir_array_desc a = weir_draw_array(&d->w, WEIR_F32, 1, 3);
  const weir_array_desc b = weir_draw_array(&d->w, WEIR_F32, 1, 2);

  draw_push(d, weir_input(d->g, "x", &a), 1, 1);
  draw_push(d, weir_input(d->g, "y", &a), 1, 1);
  draw_push(d, weir_input(d->g, "z", &b), 1, 1);
}

/* Results: values without readers, and some that are read as well. */
static inline void draw_results(draw_graph *d)
{
  char name[16];

  for (int i = 0; i < d->n; i++) {
    const int32_t array = weir_value_array(d->g, d->pool[i].v);
    int32_t reader;

    if (weir_graph_get_array(d->g, array)->output == NULL &&
        weir_graph_get_array(d->g, array)->kind == WEIR_ARRAY_TEMPORARY &&
        (weir_graph_readers(d->g, array, &reader, 1) == 0 || weir_draw_one_in(&d->w, 6))) {
      snprintf(name, sizeof(name), "r%d", i);
      weir_output(d->g, name, d->pool[i].v);
    }
  }
}

/* A random graph of about `nodes` operators. */
static inline draw_graph draw_make(uint64_t seed, bool stream, bool smooth)
{
  draw_graph d = {.w = {.seed = seed}, .stream = stream, .smooth = smooth};

  assert_ok(weir_graph_create(&d.g));
  draw_inputs(&d);
  const int64_t nodes = weir_draw_int(&d.w, 3, 24);

  for (int64_t i = 0; i < nodes && weir_graph_status(d.g) == WEIR_OK; i++) {
    draw_node(&d);
  }
  draw_results(&d);
  assert_ok(weir_graph_status(d.g));
  assert_ok(weir_graph_validate(d.g));
  return d;
}
#endif
