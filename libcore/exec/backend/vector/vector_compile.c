/* vector_compile.c - bodies to registers and instructions, and the layout of a scratch block. */
#include "exec/backend/vector/vector_priv.h"

#include <string.h>

#include "base/weir_alloc.h"
#include "device/weir_parallel.h"

#define STRIP_MIN 64
#define STRIP_MAX 1024

/* State of one compilation. */
typedef struct builder {
  vm_program *p;
  int32_t *reg;  /* register of each expression, -1: dead */
  int32_t *last; /* last instruction that reads a register; n_instrs: an output or state does */
  int32_t position;
} builder;

static int32_t add_reg(vm_program *p, vm_kind kind, weir_dtype dtype, int64_t which)
{
  p->regs[p->n_regs] = (vm_reg){.kind = kind, .dtype = dtype, .which = which};
  p->has_leaves = p->has_leaves || kind == VM_RAMP || kind == VM_REMAINDER || kind == VM_POSITION;
  return p->n_regs++;
}

static void mark_live(const weir_access *a, int32_t *reg)
{
  for (int32_t i = 0; i < a->body.n; i++) {
    reg[i] = -1;
  }
  for (int k = 0; k < a->n_values; k++) {
    reg[a->value[k]] = 0;
  }
  for (int s = 0; s < a->n_states; s++) {
    reg[a->state[s].next] = 0;
  }
  for (int32_t i = a->body.n - 1; i >= 0; i--) {
    const weir_expr *e = &a->body.exprs[i];
    const int32_t arg[3] = {e->a, e->b, e->c};
    for (int k = 0; reg[i] == 0 && k < weir_code_args(e->code); k++) {
      reg[arg[k]] = 0;
    }
  }
}

static int32_t leaf(builder *b, const weir_expr *e)
{
  vm_program *p = b->p;

  switch (e->code) {
  case WEIR_CODE_LOAD:
    if (p->load_reg[e->integer] < 0) {
      p->load_reg[e->integer] = add_reg(p, VM_LOADED, e->dtype, e->integer);
      p->used[e->integer] = true;
    }
    return p->load_reg[e->integer];
  case WEIR_CODE_CONST:
    return add_reg(p, VM_CONSTANT, e->dtype, (int64_t)(e - p->access.body.exprs));
  case WEIR_CODE_INDEX:
    return add_reg(p, VM_RAMP, e->dtype, e->integer);
  case WEIR_CODE_REMAINDER:
    return add_reg(p, VM_REMAINDER, e->dtype, e->integer);
  default:
    return p->state_reg[e->integer];
  }
}

static weir_status add_instr(builder *b, int32_t i)
{
  vm_program *p = b->p;
  const weir_expr *e = &p->access.body.exprs[i];
  const int args = weir_code_args(e->code);
  vm_instr x = {.a = args > 0 ? b->reg[e->a] : -1,
                .b = args > 1 ? b->reg[e->b] : -1,
                .c = args > 2 ? b->reg[e->c] : -1,
                .which = e->integer,
                .period = e->code == WEIR_CODE_RANDOM ? (int64_t)e->real : 0};

  if (e->code == WEIR_CODE_CAST && p->regs[x.a].dtype == e->dtype) {
    b->reg[i] = x.a;
    return WEIR_OK;
  }
  if (e->code == WEIR_CODE_RANDOM) {
    b->position = b->position < 0 ? add_reg(p, VM_POSITION, WEIR_I64, 0) : b->position;
    x.c = b->position;
  } else if (e->code == WEIR_CODE_CAST) {
    x.kernel = p->kernels->cast[e->dtype][p->regs[x.a].dtype];
  } else {
    const int32_t last = args > 2 ? x.c : args > 1 ? x.b : x.a;
    x.kernel = p->kernels->op[e->code][p->regs[last].dtype];
    if (x.kernel == NULL) {
      return weir_fail(WEIR_ERR_SHAPE, "expression %d: no %s of %s", i, weir_code_name(e->code),
                       weir_dtype_name(p->regs[last].dtype));
    }
  }
  x.step = vm_step_of(e->code, p->regs[args > 2 ? x.c : args > 1 ? x.b : x.a].dtype);
  x.dst = b->reg[i] = add_reg(p, VM_COMPUTED, e->dtype, 0);
  p->instrs[p->n_instrs++] = x;
  return WEIR_OK;
}

/* Registers of values (cast to the accumulator under a monoid), states and outputs. */
static void add_results(builder *b)
{
  vm_program *p = b->p;
  const weir_access *a = &p->access;

  for (int k = 0; k < a->n_values; k++) {
    p->value[k] = b->reg[a->value[k]];
  }
  if (a->combine != WEIR_COMBINE_NONE && p->regs[p->value[0]].dtype != a->accumulator) {
    const vm_instr cast = {.kernel = p->kernels->cast[a->accumulator][p->regs[p->value[0]].dtype],
                           .dst = add_reg(p, VM_COMPUTED, a->accumulator, 0),
                           .a = p->value[0],
                           .b = -1,
                           .c = -1};
    p->value[0] = cast.dst;
    p->instrs[p->n_instrs++] = cast;
  }
  for (int s = 0; s < a->n_states; s++) {
    p->next[s] = b->reg[a->state[s].next];
  }
  for (int k = 0; k < a->n_out; k++) {
    if (a->out[k].role == WEIR_ROLE_DATA) {
      p->output[p->n_data++] = k;
    }
  }
  for (int k = 0; k < a->n_in; k++) {
    for (int d = 0; d < a->in[k].rank && a->in[k].role == WEIR_ROLE_DATA; d++) {
      p->drops[k] = p->drops[k] || a->in[k].index[d].border == WEIR_BORDER_ABSENT;
    }
  }
}

static void find_last_reads(builder *b)
{
  const vm_program *p = b->p;

  for (int32_t r = 0; r < p->n_regs; r++) {
    b->last[r] = -1;
  }
  for (int32_t i = 0; i < p->n_instrs; i++) {
    const vm_instr *x = &p->instrs[i];
    const int32_t arg[3] = {x->a, x->b, x->c};
    for (int k = 0; k < 3; k++) {
      if (arg[k] >= 0) {
        b->last[arg[k]] = i;
      }
    }
    for (int32_t k = 0; x->chain != NULL && k < x->chain->n; k++) {
      if (x->chain->micro[k].reg >= 0) {
        b->last[x->chain->micro[k].reg] = i;
      }
    }
  }
  for (int k = 0; k < p->access.n_values; k++) {
    b->last[p->value[k]] = p->n_instrs;
  }
  for (int s = 0; s < p->access.n_states; s++) {
    b->last[p->next[s]] = p->n_instrs;
  }
}

/* A value may be computed in its output when no later instruction reads an operand, which may lie
 * in the same memory. */
static void find_direct(builder *b)
{
  vm_program *p = b->p;
  int32_t last_load = -1;

  for (int k = 0; k < p->access.n_in; k++) {
    if (p->used[k] && b->last[p->load_reg[k]] > last_load) {
      last_load = b->last[p->load_reg[k]];
    }
  }
  for (int32_t i = last_load < 0 ? 0 : last_load; i < p->n_instrs; i++) {
    for (int k = 0; k < p->n_data && p->access.combine == WEIR_COMBINE_NONE; k++) {
      p->direct[k] = p->direct[k] || p->instrs[i].dst == p->value[k];
    }
  }
  for (int k = 1; k < p->n_data && p->access.combine == WEIR_COMBINE_NONE; k++) {
    for (int j = 0; j < k; j++) {
      p->direct[k] = p->direct[k] && p->value[j] != p->value[k];
    }
  }
}

/* A computed register whose last reader comes before instruction i and whose strip has the size; it
 * gives the strip away. -1: none. */
static int32_t take_free_strip(builder *b, int32_t i, size_t size)
{
  enum { given_away = 1 };

  for (int32_t k = 0; k < i; k++) {
    const int32_t r = b->p->instrs[k].dst;
    vm_reg *old = &b->p->regs[r];
    if (old->which != given_away && b->last[r] < i && weir_dtype_size(old->dtype) == size) {
      old->which = given_away;
      return r;
    }
  }
  return -1;
}

/* Places of the strips, in bytes per element; those of computed values are used again where there
 * is no state. Returns how much one element takes in all. */
static size_t assign_strips(builder *b)
{
  vm_program *p = b->p;
  size_t unit = 0;

  for (int32_t r = 0; r < p->n_regs; r++) {
    if (p->regs[r].kind != VM_COMPUTED || p->access.n_states > 0) {
      p->regs[r].offset = unit;
      unit += weir_dtype_size(p->regs[r].dtype);
    }
  }
  for (int32_t i = 0; i < p->n_instrs && p->access.n_states == 0; i++) {
    vm_reg *dst = &p->regs[p->instrs[i].dst];
    const size_t size = weir_dtype_size(dst->dtype);
    const int32_t found = take_free_strip(b, i, size);

    if (found >= 0) {
      dst->offset = p->regs[found].offset;
    } else {
      dst->offset = unit;
      unit += size;
    }
  }
  return unit;
}

/* Iterations that are reduced into one output; levels of the block tree. */
static int block_levels(const weir_access *a)
{
  int64_t count = 1;
  int levels = 2;

  for (int k = 0; k < a->n_dims; k++) {
    if (a->dim[k].kind == WEIR_REDUCED &&
        !weir_mul_ok(count, a->dim[k].hi - a->dim[k].lo, &count)) {
      count = INT64_MAX;
      break;
    }
  }
  for (int64_t blocks = count / WEIR_REDUCE_BLOCK; blocks > 0; blocks /= 2) {
    levels++;
  }
  return levels;
}

/* Places of everything in the scratch block; returns its size. */
static size_t lay_out(vm_program *p, size_t unit)
{
  size_t at = (sizeof(void *) * (size_t)(p->n_regs + 1) + 63) / 64 * 64;
  /* A quarter of L1 is left to memory that passes through. */
  const size_t budget = (size_t)weir_cpu_get()->constants.l1_bytes / 4 * 3;
  int64_t strip = unit > 0 ? (int64_t)(budget / unit) : STRIP_MAX;

  strip = strip / STRIP_MIN * STRIP_MIN;
  p->strip = strip < STRIP_MIN ? STRIP_MIN : strip > STRIP_MAX ? STRIP_MAX : strip;
  for (int32_t r = 0; r < p->n_regs; r++) {
    p->regs[r].offset = at + p->regs[r].offset * (size_t)p->strip;
  }
  at += unit * (size_t)p->strip;
  size_t *const wide[] = {&p->offsets_at[0], &p->offsets_at[1], &p->gathered_at, &p->temp_at};
  for (size_t k = 0; k < sizeof wide / sizeof wide[0]; k++) {
    *wide[k] = at;
    at += sizeof(int64_t) * (size_t)p->strip;
  }
  size_t *const narrow[] = {&p->mark_at[0], &p->mark_at[1], &p->alive_at};
  for (size_t k = 0; k < sizeof narrow / sizeof narrow[0]; k++) {
    *narrow[k] = at;
    at += (size_t)p->strip;
  }
  p->shadow_at = at;
  at += sizeof(int64_t) * (size_t)p->strip * (size_t)p->access.n_states;
  p->steps_at = at;
  at += (vm_recur_bytes(p) + 63) / 64 * 64;
  if (p->access.combine != WEIR_COMBINE_NONE) {
    p->levels = block_levels(&p->access);
    p->wide = p->strip < 128 ? p->strip : 128;
    p->acc_at = at;
    at += VM_FIELDS * VM_LANES * sizeof(int64_t) * (size_t)p->wide;
    p->stack_at = at;
    at += VM_FIELDS * (size_t)p->levels * sizeof(int64_t) * (size_t)p->wide;
  }
  return at;
}

static void fill_constants(const vm_program *p)
{
  for (int32_t r = 0; r < p->n_regs; r++) {
    const vm_reg *reg = &p->regs[r];
    uint64_t value = 0;

    if (reg->kind != VM_CONSTANT) {
      continue;
    }
    const weir_expr *e = &p->access.body.exprs[reg->which];
    if (weir_dtype_is_real(reg->dtype)) {
      p->kernels->cast[reg->dtype][WEIR_F64](&value, &e->real, NULL, NULL, 1);
    } else {
      p->kernels->cast[reg->dtype][WEIR_I64](&value, &e->integer, NULL, NULL, 1);
    }
    for (int i = 0; i < p->pool.n; i++) {
      char *block = p->pool.memory + (size_t)i * p->pool.bytes;
      p->kernels->fill[vm_log2_size(reg->dtype)](block + reg->offset, &value, p->strip);
    }
  }
}

static const vm_kernels *choose_kernels(void)
{
#if defined(__x86_64__)
  const weir_cpu *cpu = weir_cpu_get();

  if (cpu->avx512) {
    return &vm_kernels_avx512;
  }
  if (cpu->avx2 && cpu->fma) {
    return &vm_kernels_avx2;
  }
#endif
  return &vm_kernels_base;
}

static weir_status build(builder *b)
{
  vm_program *p = b->p;
  const weir_access *a = &p->access;
  const int64_t max = (int64_t)a->body.n + a->n_states + 2; /* + states, position, cast */
  void *memory;

  WEIR_TRY(weir_alloc(max, sizeof *p->regs, &memory));
  p->regs = memory;
  WEIR_TRY(weir_alloc(max, sizeof *p->instrs, &memory));
  p->instrs = memory;
  WEIR_TRY(weir_alloc(max, sizeof *b->reg, &memory));
  b->reg = memory;
  WEIR_TRY(weir_alloc(max, sizeof *b->last, &memory));
  b->last = memory;
  mark_live(a, b->reg);
  for (int k = 0; k < WEIR_MAX_OPERANDS; k++) {
    p->load_reg[k] = -1;
  }
  for (int s = 0; s < a->n_states; s++) {
    p->state_reg[s] = add_reg(p, VM_STATE, a->state[s].dtype, s);
  }
  for (int32_t i = 0; i < a->body.n; i++) {
    const weir_expr *e = &a->body.exprs[i];
    if (b->reg[i] < 0) {
      continue;
    }
    if (weir_code_args(e->code) == 0) {
      b->reg[i] = leaf(b, e);
    } else {
      WEIR_TRY(add_instr(b, i));
    }
  }
  add_results(b);
  WEIR_TRY(vm_find_phases(p));
  WEIR_TRY(vm_fuse(p));
  find_last_reads(b);
  find_direct(b);
  return WEIR_OK;
}

weir_status vm_compile(const weir_access *a, int threads, vm_program **out)
{
  weir_status status = WEIR_OK;
  void *memory;

  *out = NULL;
  WEIR_TRY(exec_check(a));
  WEIR_TRY(weir_alloc(1, sizeof(vm_program), &memory));
  vm_program *p = memory;
  builder b = {.p = p, .position = -1};
  p->kernels = choose_kernels();
  WEIR_TRY_GOTO(weir_access_copy(a, &p->access), done);
  WEIR_TRY_GOTO(build(&b), done);
  const size_t bytes = lay_out(p, assign_strips(&b));
  WEIR_TRY_GOTO(exec_pool_init(&p->pool, threads, bytes), done);
  fill_constants(p);
  *out = p;
done:
  weir_free(&b.reg);
  weir_free(&b.last);
  if (status != WEIR_OK) {
    vm_program_free(p);
  }
  return status;
}

void vm_program_free(vm_program *p)
{
  if (p == NULL) {
    return;
  }
  for (int32_t i = 0; i < p->n_instrs; i++) {
    if (p->instrs[i].chain != NULL) {
      weir_free(&p->instrs[i].chain->micro);
      weir_free(&p->instrs[i].chain);
    }
  }
  for (int32_t i = 0; i < p->n_phases; i++) {
    weir_free(&p->phases[i].section);
  }
  weir_free(&p->phases);
  weir_free(&p->internal);
  weir_free(&p->home);
  weir_free(&p->regs);
  weir_free(&p->instrs);
  weir_access_fini(&p->access);
  exec_pool_fini(&p->pool);
  weir_free(&p);
}
