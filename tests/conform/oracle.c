/* oracle.c - iterations in order, loads by the border rules, monoids, scans. */
#include "oracle.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"

#define MAX_EXPRS 1024

/* One iteration at hand. */
typedef struct machine {
  const oracle_run *run;
  const weir_access *a;
  int64_t at[WEIR_MAX_DIMS];
  int64_t gathered[WEIR_MAX_OPERANDS * 16];
  int64_t offset[WEIR_MAX_OPERANDS]; /* element of each input, -1: a fill */
  oracle_value loaded[WEIR_MAX_OPERANDS], state[WEIR_MAX_STATES], values[MAX_EXPRS];
} machine;

/* What a monoid has merged so far. */
typedef struct merged {
  int64_t count, position; /* elements taken; argmax: of the best */
  oracle_value first;      /* sum of integers, product, extremes, first, last */
  long double sum, square; /* of floats, and of squared floats */
  long double imaginary;   /* of complex numbers, whose real parts are in sum */
  double best, scale;
  bool nan;
} merged;

static int64_t flat_index(const weir_operand *o, const int64_t *index)
{
  int64_t at = 0;

  for (int d = 0; d < o->rank; d++) {
    at = at * o->extent[d] + index[d];
  }
  return at;
}

/* Where input k is read in this iteration; false when a border drops the iteration. */
static bool locate(machine *m, int k, double *fill)
{
  const weir_operand *o = &m->a->in[k];
  int64_t index[WEIR_MAX_RANK];
  bool in_array = true;

  *fill = 0;
  for (int d = 0; d < o->rank; d++) {
    const weir_index *x = &o->index[d];
    int64_t *g = &m->gathered[k * 16 + d];
    bool inside = true;

    *g = 0;
    if (x->gather > 0) {
      double other = 0;

      if (!locate(m, x->gather - 1, &other)) {
        return false;
      }
      const int64_t from = m->offset[x->gather - 1];

      *g = from < 0 ? (int64_t)other : oracle_load(&m->run->in[x->gather - 1], from).integer;
    }
    index[d] =
        weir_index_border(x, weir_index_raw(x, m->a->n_dims, m->at, *g), o->extent[d], &inside);
    if (!inside && x->border == WEIR_BORDER_ABSENT) {
      return false;
    }
    if (!inside && in_array) {
      *fill = x->border == WEIR_BORDER_VALUE ? x->fill : 0;
      in_array = false;
    }
  }
  m->offset[k] = in_array ? flat_index(o, index) : -1;
  return true;
}

/* Loads and marks all inputs; false when the iteration is dropped. */
static bool load(machine *m)
{
  const weir_access *a = m->a;
  double fill[WEIR_MAX_OPERANDS];

  for (int k = 0; k < a->n_in; k++) {
    if (a->in[k].role == WEIR_ROLE_DATA && !locate(m, k, &fill[k])) {
      return false;
    }
  }
  for (int k = 0; k < a->n_in; k++) {
    if (a->in[k].role != WEIR_ROLE_DATA) {
      continue;
    }
    const oracle_value x = oracle_number(fill[k], 0);

    m->loaded[k] = m->offset[k] < 0 ? oracle_cast(a->in[k].dtype, WEIR_F64, x)
                                    : oracle_load(&m->run->in[k], m->offset[k]);
    if (m->offset[k] >= 0 && m->run->in_marks[k] != NULL) {
      m->run->in_marks[k][m->offset[k]] = 1;
    }
  }
  return true;
}

static void compute(machine *m)
{
  const oracle_point p = {m->a, m->at, m->gathered, m->loaded, m->state};

  oracle_body(&p, m->values);
}

/* Element of output k that this iteration writes, marked. */
static int64_t target(const machine *m, int k)
{
  const weir_operand *o = &m->a->out[k];
  int64_t index[WEIR_MAX_RANK];

  for (int d = 0; d < o->rank; d++) {
    index[d] = weir_index_raw(&o->index[d], m->a->n_dims, m->at, 0);
  }
  const int64_t at = flat_index(o, index);

  if (m->run->out_marks[k] != NULL) {
    m->run->out_marks[k][at] = 1;
  }
  return at;
}

/* The next iteration in the dimensions of the kinds named; false after the last. */
static bool step(machine *m, bool parallel, bool reduced, bool sequential)
{
  const weir_box *b = &m->run->box;

  for (int k = m->a->n_dims - 1; k >= 0; k--) {
    const weir_dim_kind kind = m->a->dim[k].kind;
    const bool down = kind == WEIR_BACKWARD;

    if (kind == WEIR_PARALLEL ? !parallel : kind == WEIR_REDUCED ? !reduced : !sequential) {
      continue;
    }
    m->at[k] += down ? -1 : 1;
    if (down ? m->at[k] >= b->lo[k] : m->at[k] < b->hi[k]) {
      return true;
    }
    m->at[k] = down ? b->hi[k] - 1 : b->lo[k];
  }
  return false;
}

static void start(machine *m)
{
  for (int k = 0; k < m->a->n_dims; k++) {
    m->at[k] = m->a->dim[k].kind == WEIR_BACKWARD ? m->run->box.hi[k] - 1 : m->run->box.lo[k];
  }
}

/* Whether the box is empty in the parallel dimensions, or in the others. */
static bool empty(const machine *m, bool parallel)
{
  bool none = false;

  for (int k = 0; k < m->a->n_dims; k++) {
    none = none || ((m->a->dim[k].kind == WEIR_PARALLEL) == parallel &&
                    m->run->box.hi[k] <= m->run->box.lo[k]);
  }
  return none;
}

static int64_t reduced_position(const machine *m)
{
  int64_t at = 0;

  for (int k = 0; k < m->a->n_dims; k++) {
    if (m->a->dim[k].kind == WEIR_REDUCED) {
      at = at * (m->a->dim[k].hi - m->a->dim[k].lo) + m->at[k] - m->a->dim[k].lo;
    }
  }
  return at;
}

static bool better(const machine *m, weir_dtype dtype, oracle_value x, oracle_value best)
{
  const bool up = m->a->combine != WEIR_COMBINE_MIN;

  if (weir_dtype_is_real(dtype)) {
    return up ? x.real > best.real : x.real < best.real;
  }
  return up ? x.integer > best.integer : x.integer < best.integer;
}

/* Merges this iteration's values. */
static void take(const machine *m, merged *r)
{
  const weir_access *a = m->a;
  const weir_dtype dtype = a->body.exprs[a->value[0]].dtype;
  const oracle_value x = m->values[a->value[0]];
  const bool present = a->n_values < 2 || m->values[a->value[1]].integer != 0;
  const bool nan = weir_dtype_is_real(dtype) && isnan(x.real);

  if (!present) {
    return;
  }
  switch (a->combine) {
  case WEIR_COMBINE_PROD:
    r->sum = r->count == 0 ? x.real : r->sum * x.real;
    r->first.integer =
        (int64_t)((r->count == 0 ? 1 : (uint64_t)r->first.integer) * (uint64_t)x.integer);
    break;
  case WEIR_COMBINE_MAX:
  case WEIR_COMBINE_MIN:
    r->nan = r->nan || nan;
    r->first = r->count == 0 || better(m, dtype, x, r->first) ? x : r->first;
    break;
  case WEIR_COMBINE_ARGMAX:
    if (nan) {
      return;
    }
    if (r->count == 0 || better(m, dtype, x, r->first)) {
      r->first = x;
      r->position = reduced_position(m);
    }
    break;
  case WEIR_COMBINE_FIRST:
    r->first = r->count == 0 ? x : r->first;
    break;
  case WEIR_COMBINE_LAST:
    r->first = x;
    break;
  case WEIR_COMBINE_SOFTMAX: {
    const double top = r->count == 0 ? x.real : fmax(r->best, x.real);

    r->sum = (r->count == 0 ? 0 : r->sum * expl(r->best - top)) + expl(x.real - top);
    r->best = top;
    break;
  }
  default: /* SUM, MOMENTS */
    r->sum += x.real;
    r->square += (long double)x.real * x.real;
    r->scale += hypot(x.real, x.imaginary);
    r->imaginary += x.imaginary;
    r->first.integer = (int64_t)((uint64_t)r->first.integer + (uint64_t)x.integer);
  }
  r->count++;
}

/* -inf or the least value of the accumulator; negated for min. */
static oracle_value neutral_extreme(const machine *m)
{
  const double end = m->a->combine == WEIR_COMBINE_MIN ? INFINITY : -INFINITY;

  return oracle_cast(m->a->accumulator, WEIR_F64, oracle_number(end, 0));
}

static oracle_value total(const machine *m, const merged *r)
{
  oracle_value v = r->first;

  v.real = (double)r->sum;
  v.imaginary = (double)r->imaginary;
  if (r->count == 0 && m->a->combine == WEIR_COMBINE_PROD) {
    v = oracle_number(1, 1);
  }
  return v;
}

/* Output k of a monoid, in the accumulator's dtype or i64. */
static oracle_value result(const machine *m, const merged *r, int k, bool *wide)
{
  *wide = false;
  switch (m->a->combine) {
  case WEIR_COMBINE_MAX:
  case WEIR_COMBINE_MIN:
    return r->nan ? oracle_number(NAN, 0) : r->count == 0 ? neutral_extreme(m) : r->first;
  case WEIR_COMBINE_ARGMAX:
    *wide = k == 1;
    return k == 1          ? oracle_number(0, r->count == 0 ? -1 : r->position)
           : r->count == 0 ? neutral_extreme(m)
                           : r->first;
  case WEIR_COMBINE_FIRST:
  case WEIR_COMBINE_LAST:
    *wide = k == 1;
    return k == 1 ? oracle_number(0, r->count > 0) : r->first;
  case WEIR_COMBINE_SOFTMAX:
    return oracle_number(k == 1 ? (double)r->sum : r->count == 0 ? -INFINITY : r->best, 0);
  case WEIR_COMBINE_MOMENTS: {
    const long double n = (long double)r->count;
    const long double mean = r->count == 0 ? 0 : r->sum / n;

    return oracle_number(k == 0   ? (double)n
                         : k == 1 ? (double)mean
                                  : (double)(r->square - n * mean * mean),
                         0);
  }
  default:
    return total(m, r);
  }
}

static double scale_of(const machine *m, const merged *r, int k)
{
  if (m->a->combine == WEIR_COMBINE_MOMENTS) {
    return k == 2 ? (double)r->square : k == 1 && r->count > 0 ? r->scale / (double)r->count : 0;
  }
  return r->scale;
}

static void reduce(machine *m)
{
  const bool nothing = empty(m, false);

  do {
    merged r = {.count = 0};
    int k = 0;

    do {
      if (!nothing && load(m)) {
        compute(m);
        take(m, &r);
      }
    } while (!nothing && step(m, false, true, false));
    for (int o = 0; o < m->a->n_out; o++) {
      if (m->a->out[o].role == WEIR_ROLE_DATA) {
        bool wide;
        const oracle_value v = result(m, &r, k, &wide);
        const int64_t at = target(m, o);

        oracle_store(&m->run->out[o], at, wide ? WEIR_I64 : m->a->accumulator, v);
        if (m->run->scale[o] != NULL) {
          m->run->scale[o][at] = scale_of(m, &r, k);
        }
        k++;
      }
    }
  } while (step(m, true, false, false));
}

/* Position of this point among the parallel dimensions of the whole box. */
static int64_t point_of(const machine *m)
{
  int64_t at = 0;

  for (int k = 0; k < m->a->n_dims; k++) {
    if (m->a->dim[k].kind == WEIR_PARALLEL) {
      at = at * (m->a->dim[k].hi - m->a->dim[k].lo) + m->at[k] - m->a->dim[k].lo;
    }
  }
  return at;
}

static int64_t points_of(const weir_operand *o)
{
  int64_t n = 1;

  for (int d = 1; d < o->rank; d++) {
    n *= o->extent[d];
  }
  return n;
}

static void enter(machine *m)
{
  for (int s = 0; s < m->a->n_states; s++) {
    const weir_state *x = &m->a->state[s];
    const int k = x->init - 1;

    if (k >= 0) {
      const int64_t at = x->slot * points_of(&m->a->in[k]) + point_of(m);

      m->state[s] = oracle_load(&m->run->in[k], at);
      if (m->run->in_marks[k] != NULL) {
        m->run->in_marks[k][at] = 1;
      }
    } else {
      m->state[s] = oracle_cast(x->dtype, WEIR_F64, oracle_number(x->initial, 0));
    }
  }
}

static void leave(machine *m)
{
  for (int s = 0; s < m->a->n_states; s++) {
    const weir_state *x = &m->a->state[s];
    const int k = x->final - 1;

    if (k >= 0) {
      const int64_t at = x->slot * points_of(&m->a->out[k]) + point_of(m);

      oracle_store(&m->run->out[k], at, x->dtype, m->state[s]);
      if (m->run->out_marks[k] != NULL) {
        m->run->out_marks[k][at] = 1;
      }
    }
  }
}

static void emit(machine *m, bool here)
{
  int k = 0;

  for (int o = 0; o < m->a->n_out; o++) {
    if (m->a->out[o].role == WEIR_ROLE_DATA) {
      const int32_t v = m->a->value[k++];
      const weir_dtype from = m->a->body.exprs[v].dtype;
      const oracle_value zero = oracle_number(0, 0);

      oracle_store(&m->run->out[o], target(m, o), from, here ? m->values[v] : zero);
    }
  }
}

/* Scans and plain maps: the sequential iterations of each point. */
static void scan(machine *m)
{
  const bool nothing = empty(m, false);

  do {
    enter(m);
    while (!nothing) {
      const bool here = load(m);

      if (here) {
        compute(m);
        for (int s = 0; s < m->a->n_states; s++) {
          m->state[s] = m->values[m->a->state[s].next];
        }
      }
      emit(m, here);
      if (!step(m, false, false, true)) {
        break;
      }
    }
    leave(m);
  } while (step(m, true, false, false));
}

void oracle_evaluate(const oracle_run *run)
{
  static machine m;

  m.run = run;
  m.a = run->access;
  WEIR_ASSERT(m.a->body.n <= MAX_EXPRS && m.a->maker == WEIR_MADE_BY_BODY);
  if (empty(&m, true)) {
    return;
  }
  start(&m);
  if (m.a->combine != WEIR_COMBINE_NONE) {
    reduce(&m);
  } else {
    scan(&m);
  }
}

void oracle_mark(const oracle_run *run)
{
  static machine m;

  m.run = run;
  m.a = run->access;
  if (weir_box_empty(&run->box)) {
    return;
  }
  start(&m);
  do {
    (void)load(&m);
    for (int o = 0; o < m.a->n_out; o++) { /* a dropped iteration writes, too: 0 or the neutral */
      if (m.a->out[o].role == WEIR_ROLE_DATA) {
        target(&m, o);
      }
    }
  } while (step(&m, true, true, true));
}

bool oracle_touched(const oracle_run *run, const int64_t *iteration, int64_t *in, int64_t *out)
{
  static machine m;
  bool here = true;

  m.run = run;
  m.a = run->access;
  memcpy(m.at, iteration, (size_t)m.a->n_dims * sizeof *iteration);
  for (int o = 0; o < m.a->n_out; o++) {
    out[o] = m.a->out[o].role == WEIR_ROLE_DATA ? target(&m, o) : -1;
  }
  for (int k = 0; k < m.a->n_in && here; k++) {
    double fill = 0;

    in[k] = -1;
    if (m.a->in[k].role == WEIR_ROLE_DATA) {
      here = locate(&m, k, &fill);
      in[k] = m.offset[k];
    }
  }
  return here;
}

weir_status oracle_call(const weir_node *node, const weir_view *in, const weir_view *out)
{
  const weir_op_desc *op = node->op;
  weir_op_run run = {.spec = node->spec,
                     .access = &node->access,
                     .box = weir_iterations(&node->access),
                     .n_in = node->n_in,
                     .n_out = node->n_out,
                     .in = in,
                     .out = out,
                     .last = true};

  if (op->scratch != NULL) {
    WEIR_TRY(weir_alloc(op->scratch(node->spec, &node->access), 1, &run.scratch));
  }
  const weir_status status = op->run(&run);

  weir_free(&run.scratch);
  return status;
}
