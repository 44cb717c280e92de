/* vector_fuse.c - chains: instructions that only hand one value to the next become one, whose value
 * stays in vector registers (vector_chain.h). */
#include "exec/backend/vector/vector_priv.h"

#include "base/weir_alloc.h"

typedef struct fuser {
  vm_program *p;
  bool *gone;         /* instructions that a chain took in */
  int32_t first, end; /* range under work */
  vm_micro *micro;    /* of the chain under work */
  int32_t n;
} fuser;

static bool is_kernel(const fuser *f, const vm_instr *x, weir_code code)
{
  const vm_reg *r = &f->p->regs[x->b >= 0 ? x->b : x->a];

  return x->kernel != NULL && x->kernel == f->p->kernels->op[code][r->dtype];
}

static bool is_constant(const fuser *f, int32_t reg, double *value)
{
  const vm_reg *r = &f->p->regs[reg];

  if (r->kind != VM_CONSTANT) {
    return false;
  }
  *value = f->p->access.body.exprs[r->which].real;
  return true;
}

/* Who reads a register: instructions of the range into reader[3]; more, or a reader outside: 4. */
static int readers(const fuser *f, int32_t reg, int32_t *reader)
{
  const vm_program *p = f->p;
  int n = 0;

  for (int k = 0; k < p->access.n_values; k++) {
    n = p->value[k] == reg ? 4 : n;
  }
  for (int s = 0; s < p->access.n_states; s++) {
    n = p->next[s] == reg ? 4 : n;
  }
  for (int32_t i = 0; i < p->n_instrs && n < 4; i++) {
    const vm_instr *x = &p->instrs[i];
    const bool reads = x->a == reg || x->b == reg || x->c == reg;
    bool hidden = false;
    for (int32_t k = 0; x->chain != NULL && k < x->chain->n; k++) {
      hidden = hidden || x->chain->micro[k].reg == reg;
    }
    if (hidden || (reads && (i < f->first || i >= f->end || f->gone[i] || n == 3))) {
      n = 4;
    } else if (reads) {
      reader[n++] = i;
    }
  }
  return n;
}

/* The instruction as one operation on the accumulator `acc`. */
static bool as_micro(const fuser *f, const vm_instr *x, int32_t acc, vm_micro *m)
{
  static const struct {
    weir_code code;
    int with_c, reversed_c, with_v, reversed_v;
  } binary[] = {
      {WEIR_CODE_ADD, VM_ADDC, VM_ADDC, VM_ADDV, VM_ADDV},
      {WEIR_CODE_SUB, VM_SUBC, VM_RSUBC, VM_SUBV, VM_RSUBV},
      {WEIR_CODE_MUL, VM_MULC, VM_MULC, VM_MULV, VM_MULV},
      {WEIR_CODE_DIV, VM_DIVC, VM_RDIVC, VM_DIVV, VM_RDIVV},
      {WEIR_CODE_MIN, VM_MINC, VM_RMINC, VM_MINV, VM_RMINV},
      {WEIR_CODE_MAX, VM_MAXC, VM_RMAXC, VM_MAXV, VM_RMAXV},
  };

  *m = (vm_micro){.reg = -1};
  if (x->b < 0) {
    m->op = is_kernel(f, x, WEIR_CODE_NEG) ? VM_NEG : VM_ABS;
    return is_kernel(f, x, WEIR_CODE_NEG) || is_kernel(f, x, WEIR_CODE_ABS);
  }
  if (x->c >= 0) {
    return false;
  }
  for (size_t k = 0; k < sizeof binary / sizeof binary[0]; k++) {
    if (!is_kernel(f, x, binary[k].code)) {
      continue;
    }
    const bool reversed = x->b == acc;
    const int32_t other = reversed ? x->a : x->b;
    if (x->a == x->b) {
      m->op = binary[k].code == WEIR_CODE_MUL ? VM_SQUARE : VM_TWICE;
      return binary[k].code == WEIR_CODE_MUL || binary[k].code == WEIR_CODE_ADD;
    }
    if (is_constant(f, other, &m->c)) {
      m->op = reversed ? binary[k].reversed_c : binary[k].with_c;
    } else {
      m->op = reversed ? binary[k].reversed_v : binary[k].with_v;
      m->reg = other;
    }
    return true;
  }
  return false;
}

/* select(acc cmp c, ...) with acc d on one side and acc on the other; reader: the three
 * instructions. */
static bool as_leaky(fuser *f, const int32_t *reader, int32_t acc, vm_micro *m)
{
  static const struct {
    weir_code code;
    int op, reversed, keep, keep_reversed;
  } compare[] = {
      {WEIR_CODE_LT, VM_LEAKYLT, VM_LEAKYGT, VM_KEEPYLT, VM_KEEPYGT},
      {WEIR_CODE_LE, VM_LEAKYLE, VM_LEAKYGE, VM_KEEPYLE, VM_KEEPYGE},
      {WEIR_CODE_GT, VM_LEAKYGT, VM_LEAKYLT, VM_KEEPYGT, VM_KEEPYLT},
      {WEIR_CODE_GE, VM_LEAKYGE, VM_LEAKYLE, VM_KEEPYGE, VM_KEEPYLE},
  };
  const vm_program *p = f->p;
  const vm_instr *select = &p->instrs[reader[2]];
  int32_t other[3];

  *m = (vm_micro){.reg = -1};
  if (select->kernel != p->kernels->op[WEIR_CODE_SELECT][p->regs[acc].dtype]) {
    return false;
  }
  for (int k = 0; k < 2; k++) {
    const vm_instr *test = &p->instrs[reader[k]], *scale = &p->instrs[reader[1 - k]];
    const bool keep = select->b == acc;
    if (select->a != test->dst || (keep ? select->c : select->b) != scale->dst ||
        (!keep && select->c != acc) || !is_kernel(f, scale, WEIR_CODE_MUL) ||
        !is_constant(f, scale->a == acc ? scale->b : scale->a, &m->d) ||
        readers(f, test->dst, other) != 1 || readers(f, scale->dst, other) != 1) {
      continue;
    }
    const bool reversed = test->b == acc;
    for (size_t q = 0; q < sizeof compare / sizeof compare[0]; q++) {
      if (is_kernel(f, test, compare[q].code) &&
          is_constant(f, reversed ? test->a : test->b, &m->c)) {
        m->op = keep ? (reversed ? compare[q].keep_reversed : compare[q].keep)
                     : (reversed ? compare[q].reversed : compare[q].op);
        return true;
      }
    }
  }
  return false;
}

/* Extends the chain whose accumulator is `acc`; returns the next accumulator, -1 at the end. last:
 * the instruction that gives it. */
static int32_t extend(fuser *f, int32_t acc, int32_t *last)
{
  const vm_program *p = f->p;
  int32_t reader[3];
  const int n = readers(f, acc, reader);
  const int32_t end = n >= 1 && n <= 3 ? reader[n - 1] : -1;
  vm_micro m;

  if (end < 0 || p->regs[p->instrs[end].dst].dtype != p->regs[acc].dtype) {
    return -1;
  }
  if ((n == 1 && as_micro(f, &p->instrs[end], acc, &m)) ||
      (n == 3 && as_leaky(f, reader, acc, &m))) {
    for (int k = 0; k < n; k++) {
      f->gone[reader[k]] = true;
    }
    f->micro[f->n++] = m;
    *last = end;
    return p->instrs[end].dst;
  }
  return -1;
}

/* Tries a chain that begins with instruction i; it replaces its last instruction. */
static weir_status fuse_from(fuser *f, int32_t i)
{
  vm_program *p = f->p;
  const vm_instr *x = &p->instrs[i];
  const int32_t first = x->a;
  int32_t last = i;
  double c;
  void *memory;

  f->n = 0;
  if (f->gone[i] || x->kernel == NULL || x->b == -1 || !weir_dtype_is_real(p->regs[x->dst].dtype) ||
      p->regs[x->dst].dtype != p->regs[x->a].dtype) {
    return WEIR_OK;
  }
  const int32_t acc = is_constant(f, first, &c) ? x->b : first;
  if (is_constant(f, acc, &c) || !as_micro(f, x, acc, &f->micro[0])) {
    return WEIR_OK;
  }
  f->n = 1;
  for (int32_t at = x->dst; at >= 0;) {
    at = extend(f, at, &last);
  }
  if (f->n < 2) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(1, sizeof(vm_chain), &memory));
  vm_chain *chain = memory;
  const weir_status status = weir_alloc(f->n, sizeof(vm_micro), &memory);
  if (status != WEIR_OK) {
    weir_free(&chain);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  *chain = (vm_chain){.n = f->n, .first = acc, .micro = memory};
  for (int32_t k = 0; k < f->n; k++) {
    chain->micro[k] = f->micro[k];
  }
  const int32_t dst = p->instrs[last].dst;
  f->gone[i] = true;
  f->gone[last] = false;
  p->instrs[last] = (vm_instr){.chain = chain, .dst = dst, .a = acc, .b = -1, .c = -1};
  return WEIR_OK;
}

/* Closes the gaps; `end` of each range follows. */
static void compact(fuser *f)
{
  vm_program *p = f->p;
  int32_t n = 0, i = 0;

  for (int32_t k = 0; k < (p->n_phases > 0 ? p->n_phases : 1); k++) {
    vm_phase *phase = p->n_phases > 0 ? &p->phases[k] : NULL;
    const int32_t end = phase != NULL ? phase->first + phase->n : p->n_instrs, first = n;
    for (; i < end; i++) {
      if (!f->gone[i]) {
        p->instrs[n++] = p->instrs[i];
      }
    }
    if (phase != NULL) {
      phase->first = first;
      phase->n = n - first;
    }
  }
  p->n_instrs = n;
}

weir_status vm_fuse(vm_program *p)
{
  weir_status status = WEIR_OK;
  fuser f = {.p = p, .end = p->n_instrs};

  WEIR_TRY_GOTO(weir_alloc((int64_t)p->n_instrs + 1, sizeof *f.gone, (void **)&f.gone), done);
  WEIR_TRY_GOTO(weir_alloc((int64_t)p->n_instrs + 1, sizeof *f.micro, (void **)&f.micro), done);
  for (int32_t k = 0; k < (p->n_phases > 0 ? p->n_phases : 1); k++) {
    if (p->n_phases > 0) {
      f.first = p->phases[k].first;
      f.end = p->phases[k].first + p->phases[k].n;
    }
    for (int32_t i = f.first; i < f.end && (p->n_phases == 0 || !p->phases[k].recurrent); i++) {
      WEIR_TRY_GOTO(fuse_from(&f, i), done);
    }
  }
  compact(&f);
done:
  weir_free(&f.gone);
  weir_free(&f.micro);
  return status;
}
