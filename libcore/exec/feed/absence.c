/* absence.c - what has nothing to say while some streams are absent: zeros carried from the inputs
 * to the results through every body. A result may also be another number, NaN as a rule. */
#include <string.h>
#include "exec/feed/feed_priv.h"
#include "base/weir_alloc.h"

/* A value that is the same for all iterations, as far as that is known. */
typedef struct known {
  bool yes;
  double value;
} known;

static known number(double value)
{
  return (known){true, value};
}

static known compare(weir_code code, double a, double b)
{
  switch (code) {
  case WEIR_CODE_EQ:
    return number(a == b);
  case WEIR_CODE_NE:
    return number(a != b);
  case WEIR_CODE_LT:
    return number(a < b);
  case WEIR_CODE_LE:
    return number(a <= b);
  case WEIR_CODE_GT:
    return number(a > b);
  case WEIR_CODE_GE:
    return number(a >= b);
  case WEIR_CODE_OR:
    return number(a != 0 || b != 0);
  default:
    return (known){.yes = false};
  }
}

static known of_expression(const weir_expr *e, const known *before, const bool *zero_input)
{
  const known none = {.yes = false};
  const known a = e->a >= 0 ? before[e->a] : none, b = e->b >= 0 ? before[e->b] : none;

  switch (e->code) {
  case WEIR_CODE_LOAD:
    return zero_input[e->integer] ? number(0) : none;
  case WEIR_CODE_CONST:
    return number(weir_dtype_is_real(e->dtype) ? e->real : (double)e->integer);
  case WEIR_CODE_CAST:
    return a.yes && a.value == 0 ? a : none; /* others may be rounded */
  case WEIR_CODE_NOT:
    return a.yes ? number(a.value == 0) : none;
  case WEIR_CODE_AND:
    return (a.yes && a.value == 0) || (b.yes && b.value == 0) ? number(0) : none;
  case WEIR_CODE_SELECT:
    return !a.yes ? none : before[a.value != 0 ? e->b : e->c];
  default:
    return a.yes && b.yes ? compare(e->code, a.value, b.value) : none;
  }
}

/* An operand that reads 0 wherever it reads: borders included. */
static bool reads_zero(const weir_operand *o, bool zero)
{
  for (int d = 0; d < o->rank; d++) {
    zero = zero && (o->index[d].border != WEIR_BORDER_VALUE || o->index[d].fill == 0);
  }
  return zero;
}

static weir_absence makes(const weir_loop *loop, const weir_absence *idle, int value)
{
  const weir_access *a = &loop->access;
  bool zero_input[WEIR_MAX_OPERANDS];
  void *memory = NULL;

  if (weir_alloc(a->body.n + 1, sizeof(known), &memory) != WEIR_OK) {
    weir_clear_failure();
    return WEIR_IDLE_NOT;
  }
  known *k = memory;

  for (int i = 0; i < a->n_in; i++) {
    zero_input[i] = reads_zero(&a->in[i], idle[loop->in[i]] == WEIR_IDLE_ZERO);
  }
  for (int32_t i = 0; i < a->body.n; i++) {
    k[i] = of_expression(&a->body.exprs[i], k, zero_input);
  }
  const known made = k[a->value[value]];

  weir_free(&memory);
  if (!made.yes || (a->combine != WEIR_COMBINE_NONE && a->combine != WEIR_COMBINE_SUM)) {
    return WEIR_IDLE_NOT;
  }
  if (made.value == 0) {
    return WEIR_IDLE_ZERO;
  }
  return a->combine == WEIR_COMBINE_NONE ? WEIR_IDLE_FIXED : WEIR_IDLE_NOT;
}

static bool has_state(const weir_plan *p, const weir_loop *loop)
{
  bool state = loop->access.n_states > 0;

  for (int i = 0; i < loop->access.n_in; i++) {
    const weir_array *array = weir_graph_get_array(p->g, loop->in[i]);

    state = state || array->kind == WEIR_ARRAY_STORED;
  }
  for (int o = 0; o < loop->access.n_out; o++) {
    state = state || p->arrays[loop->out[o]].time < 0;
  }
  return state;
}

/* What the loop makes of zeros; false: it would remember what the others do meanwhile. */
static bool through_loop(const weir_plan *p, const weir_loop *loop, weir_absence *idle)
{
  const weir_access *a = &loop->access;
  const bool asks = a->n_states > 0 || a->maker != WEIR_MADE_BY_BODY;
  const bool absent = asks && a->presence > 0 && idle[loop->in[a->presence - 1]] == WEIR_IDLE_ZERO;

  for (int o = 0, value = 0; o < a->n_out; o++) {
    const bool data = a->out[o].role == WEIR_ROLE_DATA;
    const weir_absence asked = absent ? WEIR_IDLE_ZERO : WEIR_IDLE_NOT;

    idle[loop->out[o]] = !data ? WEIR_IDLE_NOT : asks ? asked : makes(loop, idle, value);
    value += data;
  }
  return absent || !has_state(p, loop);
}

static void mark_inputs(const weir_plan *p, const char *const *absent, int n, weir_absence *idle)
{
  for (int i = 0; i < n; i++) {
    const int32_t a = exec_find_input(p, absent[i]);

    if (a >= 0) {
      idle[a] = WEIR_IDLE_ZERO;
    }
  }
}

bool weir_plan_absence(const weir_plan *p, const char *const *absent, int n,
                       const char *const *results, int n_results, weir_absence *idle)
{
  weir_absence of[EXEC_MAX_ARRAYS] = {WEIR_IDLE_NOT};
  bool rests = p->n_arrays <= EXEC_MAX_ARRAYS;

  memset(idle, 0, (size_t)n_results * sizeof *idle);
  if (!rests) {
    return false;
  }
  mark_inputs(p, absent, n, of);
  for (int32_t i = 0; i < p->n_groups; i++) {
    for (int32_t k = 0; k < p->groups[i].n_loops; k++) {
      rests = through_loop(p, p->groups[i].loops[k].loop, of) && rests;
    }
  }
  for (int i = 0; i < n_results; i++) {
    const int32_t a = exec_find_result(p, results[i]);

    if (a >= 0) {
      idle[i] = of[a] == WEIR_IDLE_NOT && p->arrays[a].time < 0 ? WEIR_IDLE_FIXED : of[a];
    }
  }
  return rests;
}
