/* vector_phase.c - which instructions of a scan really need the sample before: the strongly
 * connected components of the dependences (Tarjan, SIAM J. Comput. 1 (1972) 146). All others run
 * over whole strips. */
#include "exec/backend/vector/vector_priv.h"

#include <string.h>

#include "base/weir_alloc.h"

/* Tarjan's search over registers; edges lead to the registers it is computed from. */
typedef struct search {
  vm_program *p;
  int32_t *maker;             /* instruction that computes a register, -1 */
  int32_t *index, *low;       /* order of discovery from 1, 0: not yet    */
  int32_t *stack, *component; /* number of its component, 0: open   */
  int32_t *at;                /* next edge to follow                      */
  int32_t *path;              /* registers being searched                 */
  int32_t n_stack, next, n_components;
} search;

/* Register number k that r is computed from, -1: no more. */
static int32_t edge(const search *s, int32_t r, int32_t k)
{
  const vm_program *p = s->p;

  if (p->regs[r].kind == VM_STATE) {
    return k == 0 ? p->next[p->regs[r].which] : -1;
  }
  if (s->maker[r] < 0 || k > 2) {
    return -1;
  }
  const vm_instr *x = &p->instrs[s->maker[r]];
  return k == 0 ? x->a : k == 1 ? x->b : x->c;
}

static void close_component(search *s, int32_t r)
{
  int32_t member;

  s->n_components++;
  do {
    member = s->stack[--s->n_stack];
    s->component[member] = s->n_components;
  } while (member != r);
}

static void visit(search *s, int32_t root)
{
  int32_t depth = 0;

  s->path[depth] = root;
  while (depth >= 0) {
    const int32_t r = s->path[depth];

    if (s->index[r] == 0) {
      s->index[r] = s->low[r] = ++s->next;
      s->stack[s->n_stack++] = r;
    }
    const int32_t to = edge(s, r, s->at[r]);
    if (to >= 0) {
      s->at[r]++;
      if (s->index[to] == 0) {
        s->path[++depth] = to;
      } else if (s->component[to] == 0 && s->index[to] < s->low[r]) {
        s->low[r] = s->index[to];
      }
      continue;
    }
    if (s->low[r] == s->index[r]) {
      close_component(s, r);
    }
    depth--;
    if (depth >= 0 && s->low[r] < s->low[s->path[depth]]) {
      s->low[s->path[depth]] = s->low[r];
    }
  }
}

/* Instructions and states of component `number`, appended in order; a recurrent component is a
 * separate phase, the others join the strip phase before them. */
static void append_component(search *s, int32_t number, const vm_instr *old, int32_t n_old,
                             int32_t *n, int32_t *n_states)
{
  vm_program *p = s->p;
  vm_phase phase = {.first = *n, .first_state = *n_states};

  for (int32_t i = 0; i < n_old; i++) {
    if (s->component[old[i].dst] == number) {
      p->instrs[(*n)++] = old[i];
    }
  }
  for (int k = 0; k < p->access.n_states; k++) {
    if (s->component[p->state_reg[k]] == number) {
      p->state_order[(*n_states)++] = k;
    }
  }
  phase.n = *n - phase.first;
  phase.n_states = *n_states - phase.first_state;
  phase.recurrent = phase.n_states > 0;
  if (phase.n == 0 && !phase.recurrent) {
    return;
  }
  vm_phase *last = p->n_phases > 0 ? &p->phases[p->n_phases - 1] : NULL;
  if (!phase.recurrent && last != NULL && !last->recurrent) {
    last->n += phase.n;
  } else {
    p->phases[p->n_phases++] = phase;
  }
}

/* A register of a recurrent phase is internal when nothing else reads it. */
static void find_internal(search *s)
{
  vm_program *p = s->p;

  for (int32_t r = 0; r < p->n_regs; r++) {
    p->home[r] = -1;
  }
  for (int32_t i = 0; i < p->n_phases; i++) {
    for (int32_t k = 0; p->phases[i].recurrent && k < p->phases[i].n; k++) {
      p->internal[p->instrs[p->phases[i].first + k].dst] = true;
      p->home[p->instrs[p->phases[i].first + k].dst] = i;
    }
    for (int32_t k = 0; k < p->phases[i].n_states; k++) {
      const int32_t r = p->state_reg[p->state_order[p->phases[i].first_state + k]];
      p->internal[r] = true;
      p->home[r] = i;
    }
  }
  for (int32_t i = 0; i < p->n_instrs; i++) {
    const vm_instr *x = &p->instrs[i];
    const int32_t arg[3] = {x->a, x->b, x->c};
    for (int k = 0; k < 3; k++) {
      if (arg[k] >= 0 && s->component[arg[k]] != s->component[x->dst]) {
        p->internal[arg[k]] = false;
      }
    }
  }
  for (int k = 0; k < p->access.n_values; k++) {
    p->internal[p->value[k]] = false;
  }
  for (int k = 0; k < p->access.n_states; k++) {
    if (s->component[p->next[k]] != s->component[p->state_reg[k]]) {
      p->internal[p->next[k]] = false;
    }
  }
}

static const vm_instr *made_by(const search *s, const vm_phase *phase, int32_t reg,
                               vm_kernel kernel)
{
  for (int32_t i = 0; i < phase->n; i++) {
    const vm_instr *x = &s->p->instrs[phase->first + i];
    if (x->dst == reg && x->kernel == kernel) {
      return x;
    }
  }
  return NULL;
}

/* Splits x = f(inner, outer), in either order, by which argument belongs to the phase's component.
 */
static bool split(const search *s, int32_t component, const vm_instr *x, int32_t *inner,
                  int32_t *outer)
{
  if (x == NULL) {
    return false;
  }
  const bool first = s->component[x->a] == component;
  *inner = first ? x->a : x->b;
  *outer = first ? x->b : x->a;
  return first != (s->component[x->b] == component);
}

/* state z = anew ? fresh : s, or s itself. */
static bool match_found(const search *s, const vm_phase *phase, int32_t z, int32_t *state,
                        int32_t *anew, int32_t *fresh)
{
  const vm_instr *x = made_by(s, phase, z, s->p->kernels->op[WEIR_CODE_SELECT][WEIR_F64]);

  *state = x != NULL ? x->c : z;
  *anew = x != NULL ? x->a : -1;
  *fresh = x != NULL ? x->b : -1;
  return s->p->regs[*state].kind == VM_STATE &&
         (x == NULL ||
          (s->component[x->a] != s->component[z] && s->component[x->b] != s->component[z]));
}

/* next = go ? moved : s, or moved itself. */
static int32_t match_left(const search *s, const vm_phase *phase, int32_t state, int32_t *go)
{
  const int32_t next = s->p->next[s->p->regs[state].which];
  const vm_instr *x = made_by(s, phase, next, s->p->kernels->op[WEIR_CODE_SELECT][WEIR_F64]);

  *go = x != NULL ? x->a : -1;
  return x == NULL ? next : x->c == state && s->component[x->a] != s->component[state] ? x->b : -1;
}

/* q - a y with q and a from outside. */
static bool match_feedback(const search *s, const vm_phase *phase, int32_t reg, int32_t *y,
                           int32_t *q, int32_t *a)
{
  const vm_kernels *k = s->p->kernels;
  const vm_instr *sub = made_by(s, phase, reg, k->op[WEIR_CODE_SUB][WEIR_F64]);

  if (sub == NULL || s->component[sub->a] == s->component[reg]) {
    return false;
  }
  *q = sub->a;
  return split(s, s->component[reg], made_by(s, phase, sub->b, k->op[WEIR_CODE_MUL][WEIR_F64]), y,
               a);
}

/* The phase as a second-order section. */
static bool match_section(const search *s, const vm_phase *phase, vm_section *x)
{
  const vm_program *p = s->p;
  const vm_kernels *k = p->kernels;

  for (int swap = 0; swap < 2; swap++) {
    const int32_t s1 = p->state_reg[p->state_order[phase->first_state + swap]];
    const int32_t s2 = p->state_reg[p->state_order[phase->first_state + 1 - swap]];
    const int32_t component = s->component[s1];
    int32_t go1, go2, anew1, anew2, found, y1, y2, z1, feedback, other;
    const int32_t moved1 = match_left(s, phase, s1, &go1), moved2 = match_left(s, phase, s2, &go2);
    const vm_instr *add = made_by(s, phase, moved1, k->op[WEIR_CODE_ADD][WEIR_F64]);

    if (add == NULL || moved2 < 0 || !match_feedback(s, phase, moved2, &y2, &x->r, &x->a2)) {
      continue;
    }
    const bool first = match_feedback(s, phase, add->a, &y1, &x->q, &x->a1);
    feedback = first ? add->a : add->b;
    other = first ? add->b : add->a;
    if (!match_feedback(s, phase, feedback, &y1, &x->q, &x->a1) ||
        !match_found(s, phase, other, &found, &anew2, &x->fresh2) || found != s2 ||
        !split(s, component, made_by(s, phase, y1, k->op[WEIR_CODE_ADD][WEIR_F64]), &z1, &x->p) ||
        !match_found(s, phase, z1, &found, &anew1, &x->fresh1) || found != s1) {
      continue;
    }
    x->y = y1;
    x->s1 = s1;
    x->s2 = s2;
    x->anew = anew1;
    x->go = go1;
    /* y, two products, two differences, one sum; and one select for each choice */
    const int32_t n = 6 + 2 * (anew1 >= 0) + 2 * (go1 >= 0);
    return p->regs[x->a1].kind == VM_CONSTANT && p->regs[x->a2].kind == VM_CONSTANT && y1 == y2 &&
           anew1 == anew2 && go1 == go2 && phase->n == n;
  }
  return false;
}

static weir_status find_sections(search *s)
{
  vm_program *p = s->p;

  for (int32_t i = 0; i < p->n_phases; i++) {
    vm_phase *phase = &p->phases[i];
    vm_section x;
    bool seen = false; /* something but y is read outside */
    void *memory;

    if (phase->n_states != 2 || phase->n == 0 || !match_section(s, phase, &x)) {
      continue;
    }
    for (int32_t k = 0; k < phase->n; k++) {
      const int32_t r = p->instrs[phase->first + k].dst;
      seen = seen || (r != x.y && !p->internal[r]);
    }
    seen = seen || !p->internal[x.s1] || !p->internal[x.s2];
    if (!seen) {
      WEIR_TRY(weir_alloc(1, sizeof x, &memory));
      phase->section = memory;
      *phase->section = x;
    }
  }
  return WEIR_OK;
}

/* Phases of one state whose next value is selected. */
static void find_guesses(search *s)
{
  const vm_program *p = s->p;

  for (int32_t i = 0; i < p->n_phases; i++) {
    vm_phase *phase = &p->phases[i];
    if (phase->n_states == 1) {
      const int k = p->state_order[phase->first_state];
      phase->guess = made_by(s, phase, p->next[k],
                             p->kernels->op[WEIR_CODE_SELECT][p->access.state[k].dtype]) != NULL;
    }
  }
}

static weir_status order_phases(search *s)
{
  vm_program *p = s->p;
  void *memory;
  int32_t n = 0, n_states = 0;

  for (int32_t r = 0; r < p->n_regs; r++) {
    if (s->index[r] == 0) {
      visit(s, r);
    }
  }
  WEIR_TRY(weir_alloc((int64_t)p->n_instrs + 1, sizeof *p->instrs, &memory));
  memcpy(memory, p->instrs, sizeof *p->instrs * (size_t)p->n_instrs);
  for (int32_t number = 1; number <= s->n_components; number++) {
    append_component(s, number, memory, p->n_instrs, &n, &n_states);
  }
  weir_free(&memory);
  find_internal(s);
  find_guesses(s);
  return find_sections(s);
}

weir_status vm_find_phases(vm_program *p)
{
  weir_status status = WEIR_OK;
  const int64_t n = p->n_regs;
  search s = {.p = p};
  void *memory = NULL;

  if (p->access.n_states == 0) {
    return WEIR_OK;
  }
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *p->internal, (void **)&p->internal), done);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *p->home, (void **)&p->home), done);
  WEIR_TRY_GOTO(weir_alloc(n + 1, sizeof *p->phases, (void **)&p->phases), done);
  WEIR_TRY_GOTO(weir_alloc(7 * n, sizeof(int32_t), &memory), done);
  s.maker = memory;
  s.index = s.maker + n;
  s.low = s.index + n;
  s.stack = s.low + n;
  s.component = s.stack + n;
  s.at = s.component + n;
  s.path = s.at + n;
  for (int32_t r = 0; r < p->n_regs; r++) {
    s.maker[r] = -1;
  }
  for (int32_t i = 0; i < p->n_instrs; i++) {
    s.maker[p->instrs[i].dst] = i;
  }
  status = order_phases(&s);
done:
  weir_free(&memory);
  return status;
}
