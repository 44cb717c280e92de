/* vector_priv.h - the vector interpreter: programs over strips of elements that stay in L1.
 *
 * prepare (vector_compile.c) turns a body into registers and instructions; run takes a scratch
 * block in which every register is a strip of `strip` elements, walks the box row by row along one
 * dimension (vector_rows.c), fetches operands (vector_load.c), and hands the results to outputs,
 * monoids (vector_reduce.c) or states (vector_scan.c). */
#ifndef WEIR_VECTOR_PRIV_H
#define WEIR_VECTOR_PRIV_H
#include "exec/exec_priv.h"

#define VM_LANES WEIR_LANES
#define VM_FIELDS 3 /* most arrays that a partial result of a monoid has */

/* dst[i] = f(a[i], b[i], c[i]) for n elements; dst may be one of the arguments. */
typedef void (*vm_kernel)(void *dst, const void *a, const void *b, const void *c, int64_t n);
/* Monoids: partial results are arrays of `n` lanes or points, one per field. */
typedef void (*vm_neutral)(void *const *acc, int64_t n);
typedef void (*vm_merge)(void *const *a, void *const *b, int64_t n);
/* Takes `blocks` rows of n values: acc[i] takes x[b n + i], at position at + (b n + i) at_step.
 * keep (same layout, NULL: all) says which exist. */
typedef struct vm_taken {
  const void *x;
  const uint8_t *keep;
  int64_t at, at_step, n, blocks;
} vm_taken;
typedef void (*vm_take)(void *const *acc, const vm_taken *t);

typedef struct vm_monoid {
  vm_neutral neutral;
  vm_take take;
  vm_merge merge;
} vm_monoid;

/* A chain of operations on one accumulator that lives in vector registers. */
typedef struct vm_micro {
  int32_t op;  /* vm_micro_op                            */
  int32_t reg; /* second argument, for those that take one */
  double c, d; /* constants                              */
} vm_micro;
typedef struct vm_chain {
  int32_t n, first; /* operations; register that fills the accumulator */
  vm_micro *micro;
} vm_chain;
typedef void (*vm_chain_run)(const vm_chain *chain, void *dst, void *const *ptr, int64_t n);

// clang-format off
/* C: with constant c; V: with a register v. R: arguments exchanged. LEAKY: a cmp c ? a d : a;
 * KEEPY: a cmp c ? a : a d. PICK(condition, yes, no) selects. */
#define VM_MICRO_LIST(X)                                                              \
  X(ADDC, a + c) X(SUBC, a - c) X(RSUBC, c - a) X(MULC, a * c)                        \
  X(DIVC, a / c) X(RDIVC, c / a)                                                      \
  X(ADDV, a + v) X(SUBV, a - v) X(RSUBV, v - a) X(MULV, a * v)                        \
  X(DIVV, a / v) X(RDIVV, v / a)                                                      \
  X(MINC, PICK(a < c, a, c)) X(RMINC, PICK(c < a, c, a))                              \
  X(MAXC, PICK(a > c, a, c)) X(RMAXC, PICK(c > a, c, a))                              \
  X(MINV, PICK(a < v, a, v)) X(RMINV, PICK(v < a, v, a))                              \
  X(MAXV, PICK(a > v, a, v)) X(RMAXV, PICK(v > a, v, a))                              \
  X(SQUARE, a * a) X(TWICE, a + a) X(NEG, -a) X(ABS, MAGNITUDE(a))                    \
  X(LEAKYLT, PICK(a < c, a * d, a)) X(LEAKYLE, PICK(a <= c, a * d, a))                \
  X(LEAKYGT, PICK(a > c, a * d, a)) X(LEAKYGE, PICK(a >= c, a * d, a))                \
  X(KEEPYLT, PICK(a < c, a, a * d)) X(KEEPYLE, PICK(a <= c, a, a * d))                \
  X(KEEPYGT, PICK(a > c, a, a * d)) X(KEEPYGE, PICK(a >= c, a, a * d))
// clang-format on

typedef enum vm_micro_op {
#define X(name, expression) VM_##name,
  VM_MICRO_LIST(X)
#undef X
      VM_MICRO_COUNT
} vm_micro_op;

/* All kernels of one instruction set; the same source compiled several times. */
typedef struct vm_kernels {
  vm_kernel op[WEIR_CODE_COUNT][WEIR_DTYPE_COUNT];    /* by the dtype of the last argument */
  vm_kernel cast[WEIR_DTYPE_COUNT][WEIR_DTYPE_COUNT]; /* [to][from] */
  vm_monoid monoid[WEIR_COMBINE_LAST + 1][WEIR_DTYPE_COUNT];
  vm_chain_run chain[2]; /* f32, f64 */
  /* Strips from and to memory, by log2 of the element size; step in bytes. */
  void (*gather[4])(void *dst, const char *src, int64_t step, int64_t n);
  void (*scatter[4])(char *dst, int64_t step, const void *src, int64_t n);
  void (*fill[4])(void *dst, const void *value, int64_t n);
  void (*ramp)(int64_t *dst, int64_t first, int64_t step, int64_t n);
  void (*random)(int64_t *dst, const int64_t *seed, const int64_t *step, const int64_t *position,
                 uint32_t purpose, int64_t period, int64_t n);
} vm_kernels;

extern const vm_kernels vm_kernels_base;
#if defined(__x86_64__)
extern const vm_kernels vm_kernels_avx2, vm_kernels_avx512;
#endif

typedef enum vm_kind {
  VM_COMPUTED,
  VM_CONSTANT,  /* strip filled at prepare                       */
  VM_LOADED,    /* which: operand                                */
  VM_RAMP,      /* which: dimension                              */
  VM_REMAINDER, /* which: operand * 16 + array dimension         */
  VM_POSITION,  /* row-major position among the parallel points  */
  VM_STATE      /* which: state                                  */
} vm_kind;

typedef struct vm_reg {
  vm_kind kind;
  weir_dtype dtype;
  int64_t which;
  size_t offset; /* of its strip in the block */
} vm_reg;

/* kernel, or chain, or (neither) random bits of purpose `which`. Registers; -1: none. */
typedef struct vm_instr {
  vm_kernel kernel;
  vm_chain *chain;
  int64_t which, period;
  int32_t dst, a, b, c;
  int step; /* how vector_recur.c does it for one sample */
} vm_instr;

/* Instructions of a scan that run together: over whole strips, or sample by sample with states. The
 * phases are the strongly connected components of the dependences, a state depending on its next
 * value.
 */
typedef struct vm_phase {
  bool recurrent;
  int32_t first, n;              /* instructions                                          */
  int32_t first_state, n_states; /* recurrent: its states, in program.state_order  */
  struct vm_section *section;    /* it is a second-order section, or NULL          */
  bool guess;                    /* one state, its next value a choice: see vm_recur */
} vm_phase;

/* Second-order section, transposed direct form 2, in f64, as registers: y = p + z1; s1 = (q - a1 y)
 * + z2; s2 = r - a2 y, where z = anew ? fresh : s and the states move where `go` says (-1: always).
 */
typedef struct vm_section {
  int32_t y, p, q, r, a1, a2, s1, s2;
  int32_t anew, fresh1, fresh2, go;
} vm_section;

typedef struct vm_program {
  weir_access access;
  const vm_kernels *kernels;
  int64_t strip;
  int32_t n_regs, n_instrs, n_phases;
  vm_reg *regs;
  vm_instr *instrs;
  int32_t value[WEIR_MAX_OUTPUTS]; /* registers; cast to the accumulator with a monoid    */
  int output[WEIR_MAX_OUTPUTS];    /* output operand of DATA output k                     */
  int n_data;
  bool direct[WEIR_MAX_OUTPUTS]; /* value k may be computed in the output's own memory  */
  int32_t next[WEIR_MAX_STATES]; /* registers                                           */
  bool used[WEIR_MAX_OPERANDS];  /* loaded by the body                                  */
  bool drops[WEIR_MAX_OPERANDS]; /* has an ABSENT border                                */
  int32_t load_reg[WEIR_MAX_OPERANDS];
  int32_t state_reg[WEIR_MAX_STATES];
  bool has_leaves; /* RAMP, REMAINDER or POSITION                          */
  size_t offsets_at[2], mark_at[2], gathered_at, alive_at, temp_at; /* strips in the block; [1]: of
                                                                      an index operand */
  size_t shadow_at;        /* next values of states that are states themselves     */
  size_t acc_at, stack_at; /* monoid: lanes, block stack, `wide` points each       */
  int64_t wide;            /* points that a strip of a reduction has at most      */
  int levels;
  vm_phase *phases; /* scans */
  int32_t state_order[WEIR_MAX_STATES];
  bool *internal;  /* registers that only their own recurrent phase reads */
  int32_t *home;   /* recurrent phase of a register, -1                   */
  size_t steps_at; /* decoded instructions of a phase in the block        */
  exec_pool pool;
} vm_program;

/* One operand along the current row: element of index i of the row's dimension lies at address at +
 * i step for i of [lo, hi); elsewhere, or everywhere (lo == hi), it is found by vm_offsets. */
typedef struct vm_row {
  int64_t at, step, lo, hi;
  bool linear; /* no gather, and no division along the row */
} vm_row;

#define VM_SIDES \
  (WEIR_MAX_OPERANDS + WEIR_MAX_OUTPUTS) /* inputs, then outputs at MAX_OPERANDS + k */

typedef struct vm_frame {
  const vm_program *p;
  const weir_loop_run *run;
  char *block;
  void **ptr;                              /* current strip of each register               */
  int vec;                                 /* dimension of the rows; n_dims: none, one element */
  int64_t direction;                       /* +1, or -1 in a BACKWARD row                  */
  int64_t iteration[WEIR_MAX_DIMS];        /* of the row; that of vec does not count       */
  int64_t row_lo, row_hi;                  /* of vec                                       */
  int64_t stride[VM_SIDES][WEIR_MAX_DIMS]; /* bytes per iteration                     */
  int64_t base[VM_SIDES];                  /* address of iteration 0 of every dimension    */
  bool gathers[VM_SIDES];                  /* else the address is linear along most rows   */
  unsigned divided[VM_SIDES]; /* array dimensions with a division: not in stride, base */
  bool interior[VM_SIDES];    /* no gather, and inside in the whole box       */
  bool all_interior;
  bool nothing; /* a reduced dimension is empty: nothing is read  */
  vm_row row[VM_SIDES];
  uint8_t *alive; /* of the current strip, NULL: all              */
} vm_frame;

/* vector_compile.c */
weir_status vm_compile(const weir_access *a, int threads, vm_program **out) WEIR_CHECKED;
void vm_program_free(vm_program *p);

/* vector_rows.c */
/* Address forms of all operands over f->box. */
void vm_frame_setup(vm_frame *f);
/* Chooses the dimension of the rows among those in mask. */
int vm_choose_vec(const vm_frame *f, uint32_t mask);
/* Nanoseconds per element that rows along dimension k cost about. */
double vm_row_cost(const vm_frame *f, int k);
/* Position among the parallel points of element 0 of the row's dimension, and per element of it. */
void vm_row_position(const vm_frame *f, int64_t *first, int64_t *step);
/* Prepares the row through f->iteration along f->vec, [lo, hi). */
void vm_row_begin(vm_frame *f, int64_t lo, int64_t hi);
/* End of the strip that begins at i, so that every linear operand is inside in all of it or in
 * none.
 */
int64_t vm_strip_end(const vm_frame *f, int64_t i);
/* Leaves for n elements from i on, then f->alive. False: every element is dropped. */
bool vm_strip_load(vm_frame *f, int64_t i, int64_t n);
void vm_strip_run(vm_frame *f, int32_t first, int32_t count, int64_t n);
/* Stores n elements of `source` (dtype of the output) into DATA output k from i on. */
void vm_strip_store(vm_frame *f, int k, const void *source, int64_t i, int64_t n);
/* Address of element i of DATA output k when it may be written in place there, or NULL. */
void *vm_direct(const vm_frame *f, int k, int64_t i, int64_t n);

/* vector_load.c */
/* Byte offsets (from the view's data) of n elements from i on into the strip `offsets`, and marks:
 * 1
 * + the first dimension that leaves the array, 0: inside. alive (or NULL): cleared where the
 * iteration is dropped. */
void vm_offsets(vm_frame *f, const weir_operand *x, const weir_view *view, int64_t i, int64_t n,
                uint8_t *alive);
/* Elements of operand k into its strip, wherever they lie. */
void vm_load_any(vm_frame *f, int k, int64_t i, int64_t n);
/* Numerators modulo div: the leaf REMAINDER. */
void vm_load_remainder(vm_frame *f, int64_t which, int64_t *dst, int64_t i, int64_t n);
/* n elements of `source` to output operand k, wherever they lie. */
void vm_store_any(vm_frame *f, int k, const void *source, int64_t i, int64_t n);

void vm_reduce(vm_frame *f);
void vm_scan(vm_frame *f);

/* vector_phase.c: orders the instructions of a scan by phases. */
weir_status vm_find_phases(vm_program *p) WEIR_CHECKED;

/* vector_fuse.c: joins instructions to chains. */
weir_status vm_fuse(vm_program *p) WEIR_CHECKED;

/* vector_recur.c: one recurrent phase over n samples. */
void vm_recur(vm_frame *f, const vm_phase *phase, int64_t n);
/* Its operation for a code whose last argument has this dtype. */
int vm_step_of(weir_code code, weir_dtype dtype);
/* Where state k lies between samples, along its own row. */
uint64_t *vm_cell(const vm_frame *f, int k);
/* Bytes of scratch that vm_recur needs. */
size_t vm_recur_bytes(const vm_program *p);

/* Coefficient of the row's dimension. */
static inline int64_t vm_coef(const vm_frame *f, const weir_index *x)
{
  return f->vec < f->p->access.n_dims ? x->coef[f->vec] : 0;
}

static inline int vm_log2_size(weir_dtype dtype)
{
  const size_t size = weir_dtype_size(dtype);

  return size == 8 ? 3 : size == 4 ? 2 : size == 2 ? 1 : 0;
}
#endif
