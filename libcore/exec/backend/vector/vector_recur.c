/* vector_recur.c - the phases of a scan that need the sample before: decoded instructions, one
 * sample after the other, or a separate loop for the second-order section. */
#include "exec/backend/vector/vector_priv.h"

#include <string.h>

#include "graph/weir_scalar.h"
#undef bool /* names below are built from dtypes */

// clang-format off
#define STEP_DTYPES(X) X(f32, float) X(f64, double) X(i32, int32_t) X(i64, int64_t)
/* X(code, dtype, type, result type, expression of a, b) */
#define STEP_BINARY(X, t, T)                                                                  \
  X(ADD, t, T, T, weir_add_##t(a, b)) X(SUB, t, T, T, weir_sub_##t(a, b))                     \
  X(MUL, t, T, T, weir_mul_##t(a, b)) X(MIN, t, T, T, weir_min_##t(a, b))                     \
  X(MAX, t, T, T, weir_max_##t(a, b)) X(EQ, t, T, uint8_t, a == b) X(NE, t, T, uint8_t, a != b) \
  X(LT, t, T, uint8_t, a < b) X(LE, t, T, uint8_t, a <= b)                                    \
  X(GT, t, T, uint8_t, a > b) X(GE, t, T, uint8_t, a >= b)
#define STEP_ALL(X)                                                        \
  STEP_BINARY(X, f32, float) STEP_BINARY(X, f64, double)                   \
  STEP_BINARY(X, i32, int32_t) STEP_BINARY(X, i64, int64_t)                \
  X(DIV, f32, float, float, a / b) X(DIV, f64, double, double, a / b)      \
  X(AND, bool, uint8_t, uint8_t, a & b) X(OR, bool, uint8_t, uint8_t, a | b)
// clang-format on

typedef enum step_op {
  STEP_KERNEL, /* a strip kernel on one element */
  STEP_RANDOM,
  STEP_NOT,
  STEP_SELECT1,
  STEP_SELECT2,
  STEP_SELECT4,
  STEP_SELECT8,
  STEP_MOVE1,
  STEP_MOVE2,
  STEP_MOVE4,
  STEP_MOVE8,
#define X(code, t, T, R, expression) STEP_##code##_##t,
  STEP_ALL(X)
#undef X
} step_op;

/* One decoded instruction; operands advance by as, bs, cs, ds bytes a sample (0: a cell). */
typedef struct step {
  const void *a, *b, *c;
  void *d;
  int32_t as, bs, cs, ds;
  int32_t op;
  uint32_t purpose;
  int64_t period;
  vm_kernel kernel;
} step;

int vm_step_of(weir_code code, weir_dtype dtype)
{
#define X(name, t, T, R, expression) {WEIR_CODE_##name, weir_dtype_##t, STEP_##name##_##t},
  enum {
    weir_dtype_f32 = WEIR_F32,
    weir_dtype_f64 = WEIR_F64,
    weir_dtype_i32 = WEIR_I32,
    weir_dtype_i64 = WEIR_I64,
    weir_dtype_bool = WEIR_BOOL
  };
  static const struct {
    int code, dtype, op;
  } table[] = {STEP_ALL(X)};
#undef X

  if (code == WEIR_CODE_SELECT) {
    return STEP_SELECT1 + vm_log2_size(dtype);
  }
  if (code == WEIR_CODE_NOT) {
    return STEP_NOT;
  }
  if (code == WEIR_CODE_RANDOM) {
    return STEP_RANDOM;
  }
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    if (table[i].code == (int)code && table[i].dtype == (int)dtype) {
      return table[i].op;
    }
  }
  return STEP_KERNEL;
}

size_t vm_recur_bytes(const vm_program *p)
{
  return p->access.n_states == 0
             ? 0
             : sizeof(step) * ((size_t)p->n_instrs + 3 * (size_t)p->access.n_states + 1);
}

uint64_t *vm_cell(const vm_frame *f, int k)
{
  return (uint64_t *)(void *)(f->block + f->p->shadow_at) + k;
}

/* Address and advance of a register as phase number `home` sees it. */
static void *address_of(const vm_frame *f, int32_t home, int32_t reg, int32_t *advance)
{
  const vm_program *p = f->p;
  const vm_reg *r = &p->regs[reg];

  *advance = (int32_t)weir_dtype_size(r->dtype);
  if (p->home[reg] == home && r->kind == VM_STATE) {
    *advance = 0;
    return vm_cell(f, (int)r->which);
  }
  if (p->home[reg] == home && p->internal[reg]) {
    *advance = 0;
  }
  return f->ptr[reg];
}

static void add_move(step **at, void *d, int32_t ds, const void *a, int32_t as, weir_dtype dtype)
{
  *(*at)++ = (step){.a = a, .as = as, .d = d, .ds = ds, .op = STEP_MOVE1 + vm_log2_size(dtype)};
}

/* The phase's instructions, then its states' next values. Returns how many steps there are. */
static int64_t decode(const vm_frame *f, const vm_phase *phase, step *steps)
{
  const vm_program *p = f->p;
  const int32_t home = (int32_t)(phase - p->phases);
  const int n_states = p->access.n_states;
  step *at = steps;
  int32_t advance;

  for (int32_t i = 0; i < phase->n_states; i++) { /* values that later phases read */
    const int k = p->state_order[phase->first_state + i];
    const int32_t r = p->state_reg[k];
    if (!p->internal[r]) {
      add_move(&at, f->ptr[r], (int32_t)weir_dtype_size(p->regs[r].dtype), vm_cell(f, k), 0,
               p->regs[r].dtype);
    }
  }
  for (int32_t i = 0; i < phase->n; i++) {
    const vm_instr *x = &p->instrs[phase->first + i];
    step s = {
        .op = x->step, .kernel = x->kernel, .purpose = (uint32_t)x->which, .period = x->period};
    s.a = x->a >= 0 ? address_of(f, home, x->a, &s.as) : NULL;
    s.b = x->b >= 0 ? address_of(f, home, x->b, &s.bs) : NULL;
    s.c = x->c >= 0 ? address_of(f, home, x->c, &s.cs) : NULL;
    s.d = address_of(f, home, x->dst, &s.ds);
    *at++ = s;
  }
  for (int pass = 0; pass < 2;
       pass++) { /* states that take other states' values: by a second cell */
    for (int32_t i = 0; i < phase->n_states; i++) {
      const int k = p->state_order[phase->first_state + i];
      const int32_t next = p->next[k];
      const int both = p->regs[next].kind == VM_STATE && p->home[next] == home;
      const void *from = address_of(f, home, next, &advance);
      if (pass == 0 && both) {
        add_move(&at, vm_cell(f, n_states + k), 0, from, 0, p->regs[next].dtype);
      } else if (pass == 1) {
        add_move(&at, vm_cell(f, k), 0, both ? vm_cell(f, n_states + k) : from, both ? 0 : advance,
                 p->regs[next].dtype);
      }
    }
  }
  return at - steps;
}

#define ARG(T, x) (*(const T *)(const void *)((const char *)s->x + j * s->x##s))
#define RESULT(T) (*(T *)(void *)((char *)s->d + j * s->ds))
#define NEXT        \
  if (++s == end) { \
    goto sample;    \
  }                 \
  goto *labels[s->op];

/* Samples [0, n); dropped ones change nothing. */
static void run_steps(const vm_frame *f, const step *steps, int64_t count, int64_t n)
{
  static const void *const labels[] = {&&kernel,   &&random,  &&not,     &&select1,
                                       &&select2,  &&select4, &&select8, &&move1,
                                       &&move2,    &&move4,   &&move8,
#define X(code, t, T, R, expression) &&code##_##t,
                                       STEP_ALL(X)
#undef X
  };
  const step *s = steps, *const end = steps + count;
  int64_t j = -1;

  if (count == 0) {
    return;
  }
sample:
  do {
    if (++j == n) {
      return;
    }
  } while (f->alive != NULL && f->alive[j] == 0);
  s = steps;
  goto *labels[s->op];

kernel:
  s->kernel(&RESULT(char), s->a == NULL ? NULL : &ARG(char, a), s->b == NULL ? NULL : &ARG(char, b),
            s->c == NULL ? NULL : &ARG(char, c), 1);
  NEXT random : RESULT(int64_t) = (int64_t)weir_random_bits(
                    (uint64_t)ARG(int64_t, a), s->purpose, (uint32_t)ARG(int64_t, b),
                    (uint64_t)(s->period > 0 ? ARG(int64_t, c) % s->period : ARG(int64_t, c)));
  NEXT not : RESULT(uint8_t) = !ARG(uint8_t, a);
  NEXT
#define SELECT(bits)                                                                          \
  RESULT(uint##bits##_t) = ARG(uint8_t, a) ? ARG(uint##bits##_t, b) : ARG(uint##bits##_t, c); \
  NEXT
#define MOVE(bits)                                 \
  RESULT(uint##bits##_t) = ARG(uint##bits##_t, a); \
  NEXT
      select1 : SELECT(8) select2 : SELECT(16) select4 : SELECT(32) select8 : SELECT(64) move1
      : MOVE(8) move2 : MOVE(16) move4 : MOVE(32) move8 : MOVE(64)
#define X(code, t, T, R, expression)      \
  code##_##t:                             \
  {                                       \
    const T a = ARG(T, a), b = ARG(T, b); \
    RESULT(R) = (R)(expression);          \
    NEXT                                  \
  }
                                                              STEP_ALL(X)
#undef X
}

/* The section with or without a choice to restart and to stand still. */
static inline void section_loop(const vm_frame *f, const vm_section *x, int64_t n, int anew, int go)
{
  const vm_program *prog = f->p;
  const double *p = f->ptr[x->p], *q = f->ptr[x->q], *r = f->ptr[x->r];
  const double a1 = *(const double *)f->ptr[x->a1], a2 = *(const double *)f->ptr[x->a2];
  const uint8_t *begins = anew ? f->ptr[x->anew] : NULL, *moves = go ? f->ptr[x->go] : NULL;
  const double *f1 = anew ? f->ptr[x->fresh1] : NULL, *f2 = anew ? f->ptr[x->fresh2] : NULL;
  uint64_t *cell1 = vm_cell(f, (int)prog->regs[x->s1].which);
  uint64_t *cell2 = vm_cell(f, (int)prog->regs[x->s2].which);
  double *y = f->ptr[x->y], s1 = weir_float_f64(*cell1), s2 = weir_float_f64(*cell2);

  for (int64_t j = 0; j < n; j++) {
    const double z1 = anew && begins[j] ? f1[j] : s1, z2 = anew && begins[j] ? f2[j] : s2;
    const double out = p[j] + z1;
    const double next1 = (q[j] - a1 * out) + z2, next2 = r[j] - a2 * out;

    s1 = !go || moves[j] ? next1 : s1;
    s2 = !go || moves[j] ? next2 : s2;
    y[j] = out;
  }
  *cell1 = weir_bits_f64(s1);
  *cell2 = weir_bits_f64(s2);
}

/* A phase of one state whose next value is a choice (hold, reset, count) is mostly no recurrence:
 * the samples before each sample are guessed, the phase runs over the strip, and where each next
 * value is, to the bit, the guess for the sample after, all of it is right by induction. The second
 * guess is what the first run gave. */
static int guess_phase(vm_frame *f, const vm_phase *phase, int64_t n)
{
  const vm_program *p = f->p;
  const int k = p->state_order[phase->first_state];
  const weir_dtype dtype = p->access.state[k].dtype;
  const size_t size = weir_dtype_size(dtype), rest = (size_t)(n - 1) * size;
  char *before = f->ptr[p->state_reg[k]];

  p->kernels->fill[vm_log2_size(dtype)](before, vm_cell(f, k), n);
  for (int64_t j = 1; j < n && dtype == WEIR_I32; j++) { /* a count continues */
    ((int32_t *)(void *)before)[j] = weir_add_i32(((int32_t *)(void *)before)[j - 1], 1);
  }
  for (int tries = 0; tries < 2; tries++) {
    vm_strip_run(f, phase->first, phase->n, n);
    const char *next = f->ptr[p->next[k]];
    if (memcmp(before + size, next, rest) == 0) {
      memcpy(vm_cell(f, k), next + rest, size);
      return 1;
    }
    memcpy(before + size, next, rest);
  }
  return 0;
}

void vm_recur(vm_frame *f, const vm_phase *phase, int64_t n)
{
  const vm_section *x = phase->section;
  step *steps = (void *)(f->block + f->p->steps_at);

  if (phase->guess && f->alive == NULL && guess_phase(f, phase, n)) {
    return;
  }
  if (x == NULL || f->alive != NULL) {
    run_steps(f, steps, decode(f, phase, steps), n);
  } else if (x->anew >= 0 && x->go >= 0) {
    section_loop(f, x, n, 1, 1);
  } else if (x->anew >= 0) {
    section_loop(f, x, n, 1, 0);
  } else if (x->go >= 0) {
    section_loop(f, x, n, 0, 1);
  } else {
    section_loop(f, x, n, 0, 0);
  }
}
