/* native_priv.h - the native engine inside: how a loop is split into rows, emitted, compiled, kept
 * and run. */
#ifndef WEIR_NATIVE_PRIV_H
#define WEIR_NATIVE_PRIV_H
#include <stdatomic.h>
#include <stddef.h>
#include "exec/backend/native/native_row.h"
#include "exec/weir_engine.h"

/* Which dimension a row runs along, and what becomes of its iterations. */
typedef enum native_shape {
  NATIVE_MAP,   /* parallel: each writes its outputs                                */
  NATIVE_SCAN,  /* sequential: states go from one to the next                        */
  NATIVE_LANES, /* reduced: they go to 16 lanes                                      */
  NATIVE_STRIP  /* parallel, outputs of a reduction: each has partial results in all lanes */
} native_shape;

/* coef of the index of array dimension d: of iteration dimension k, or, k < 0, its offset. */
typedef struct native_term {
  int16_t d, k;
  int64_t coef;
} native_term;
enum { NATIVE_TERMS = 16 };

/* What each run looks up of an operand, side by side: the indices themselves are spread over many
 * lines of the cache. */
typedef struct native_known {
  bool data;         /* p and s, or q and t, serve it                                      */
  bool divides;      /* some index is divided, and not carried                             */
  int8_t size;       /* bytes of an element                                                */
  int8_t unit;       /* native_unit */
  int8_t n;          /* terms of the indices without division or carry, -1: too many to keep */
  uint16_t bordered; /* bit d: index d may leave the array                                 */
  native_term term[NATIVE_TERMS];
} native_known;

/* Decisions about one loop, made once: emitter and driver read them. */
typedef struct native_form {
  const weir_access *access;
  native_shape shape;
  int inner;                           /* dimension of a row, -1: rows of one iteration      */
  int outer[WEIR_MAX_DIMS], n_outer;   /* parallel dimensions around it                      */
  int around[WEIR_MAX_DIMS], n_around; /* reduced or sequential dimensions around it         */
  bool
      plain[WEIR_MAX_OPERANDS]; /* inputs without gather or division along the row: p and s serve */
  bool divided[WEIR_MAX_OPERANDS];     /* plain ones with a division along other dimensions  */
  unsigned carries[WEIR_MAX_OPERANDS]; /* native_carries of inputs */
  int second; /* dimension along which a kernel runs several rows of MAP and STRIP, -1: none */
  int exact;  /* length of short rows that a compiler may count on, 0: none                    */
  int fold[WEIR_MAX_OPERANDS]; /* array dimension of a divided input that divides along it, -1 */
  bool upsampled[WEIR_MAX_OPERANDS]; /* inputs constant over iterations of the row: p serves */
  bool has_upsampled;                /* there are such inputs                              */
  bool plain_out[WEIR_MAX_OUTPUTS];  /* likewise outputs, q and t                          */
  bool strides;                      /* a row may have steps other than 1 in dense arrays  */
  bool positions;                    /* the kernels look at i, point or views              */
  int components;                    /* of a partial result: 0..3                          */
  weir_dtype component[3];
  bool near;         /* positions are i32: where `small` is written */
  int lanes, levels; /* lanes in use; depth of the tree over blocks        */
  int64_t strip;     /* most outputs of one row of STRIP                   */
  int small;         /* reduced iterations that the kernel `small` unrolls, 0: there is none */
  bool nest;         /* there is the kernel `nest`                                           */
  unsigned asked;    /* dimensions, as bits, that its addresses and conditions depend on     */
  int line; /* parallel dimension around the row along which `nest` runs rows, -1: none        */
  native_known in[WEIR_MAX_OPERANDS], out[WEIR_MAX_OUTPUTS];
} native_form;

/* Bytes of partial results, or of upsampled inputs, that one run keeps on its stack. */
#define NATIVE_SCRATCH 32768
/* Maximum number of upsampled inputs of a loop, and the iterations for which they are expanded at a
 * time; from NATIVE_EVEN iterations of one element on they are not, since the kernel `even` takes
 * it. */
#define NATIVE_UPSAMPLED 8
#define NATIVE_UPSAMPLED_ROW (NATIVE_SCRATCH / NATIVE_UPSAMPLED / 8)
#define NATIVE_EVEN 256
/* Entries of all tables of one run of the kernel `nest`. */
#define NATIVE_TABLE_CAPACITY 2048
/* Rows up to this length, run several at a time, are compiled for their very length: what a vector
 * would leave over costs more than all the rest. */
#define NATIVE_EXACT 64

/* Fails: WEIR_ERR_SHAPE (an access that has no order), WEIR_ERR_UNSUPPORTED. */
weir_status native_form_of(const weir_access *a, native_form *form) WEIR_CHECKED;
/* native_nest.c: sets nest and line; does array dimension d of input k need a table there? */
void native_nest_of(native_form *form);
bool native_is_tabled(const native_form *form, int k, int d);
/* Bit d: index d of x is what index d + 1 carries, as in a reshaped array: they are floor(L / e)
 * and L mod e of the same L, or of quotients of it. Where such dimensions are dense, the element is
 * L further on, and no index of theirs leaves the array. */
unsigned native_carries(const weir_operand *x);
/* Output operand of DATA value k. */
int native_output(const weir_access *a, int k);

/* Numbers from one element of a dense array to the next: two where they are complex. */
int64_t native_unit(const weir_operand *x);

/* Growing text; the first failure stays in `status` and stops the rest. */
typedef struct native_text {
  char *text;
  int64_t n, capacity;
  weir_status status;
} native_text;
void native_put(native_text *t, const char *format, ...) WEIR_PRINTF(2, 3);

/* native_emit.c: what stands in front of all kernels; the functions of kernel number k; neutral and
 * merge of its reduction, once for all of the same monoid (nothing where there is none); its entry
 * in the table of kernels. */
void native_put_prelude(native_text *t);
void native_put_kernel(const native_form *f, int32_t k, native_text *t);
void native_put_monoid(const native_form *f, native_text *t);
bool native_same_monoid(const native_form *a, const native_form *b);
void native_put_entry(const native_form *f, int32_t k, native_text *t);
/* What of an iteration is written: all, what is the same along the row, or the rest. Compilers may
 * not tell, since outputs could lie where inputs do. */
typedef enum native_subset { NATIVE_ALL, NATIVE_SAME, NATIVE_MOVING } native_subset;

/* Where a kernel without native_row, one of a device, finds an operand. Iterations are its
 * variables i0, i1, ..., positions are `point`. A word is an entry of its parameter p.word. */
typedef struct native_place {
  int at;                                                 /* word: address of element 0 */
  int stride_at[WEIR_MAX_RANK], extent_at[WEIR_MAX_RANK]; /* words, -1: these constants: */
  int64_t stride[WEIR_MAX_RANK], extent[WEIR_MAX_RANK];
  bool inside[WEIR_MAX_RANK]; /* the index never leaves the array: it needs no border rule */
  bool upward[WEIR_MAX_RANK]; /* what it divides is never negative                         */
  bool narrow;                /* all indices, and offsets of elements, fit 32 bits         */
  int level; /* number of loops inside the kernel that the operand is loaded or stored in   */
  bool pair; /* real parts, and the next operand the imaginary ones: one access has both    */
  int wide;  /* > 1: so many elements at a time, u<k>.e[x] or w<k>.e[x] in the loop over x  */
} native_place;

/* How an iteration is written; x: the row's counter. */
typedef struct native_writer {
  native_text *t;
  const native_form *form;
  bool border;
  bool rows; /* inside the loop over the m lines of native_row */
  bool nest; /* inside the loops of `nest`                     */
  native_subset subset;
  const native_place *in, *out; /* of the operands; NULL: native_row has them */
  int level, levels;            /* loads of this level, of levels 0.. */
} native_writer;
/* native_body.c: its expressions v0, v1, ... */
void native_put_body(const native_writer *w);
/* A constant of a dtype, the cast of `real` for float dtypes and of `integer` for the others. */
void native_put_constant(native_text *t, weir_dtype dtype, double real, int64_t integer);
/* Pointers and what does not change along the row; unit steps where `unit` holds, upsampled
 * inputs at one element where `even` does. */
void native_put_head(const native_writer *w);
const char *native_type(weir_dtype dtype);
/* Leaves the iteration where the sum is known to take 0, for all of the row alike. */
void native_put_skip(const native_writer *w);

/* native_index.c: loads of one iteration, l0, l1, ... */
void native_put_loads(const native_writer *w);
/* "vector_f32": struct of the elements of a dtype that a kernel takes at a time; "pair_f32": of a
 * real and an imaginary part. */
void native_put_vector(native_text *t, weir_dtype dtype);
void native_put_pair(native_text *t, weir_dtype dtype);
/* "q0[x * t0]" and the like: where output operand k of the iteration lies. */
void native_put_address(const native_writer *w, int k);
/* Iteration of dimension k, by name; whether it goes downwards. */
void native_put_iteration(const native_writer *w, int k);
bool native_is_scan_down(const native_form *f, int k);
/* What an index divides; quotient or remainder ("div", "mod") of index d of x, whose place is p. */
void native_put_numerator(const native_writer *w, const weir_index *x);
void native_put_divided(const native_writer *w, const native_place *p, const weir_operand *x, int d,
                        const char *what);
/* The place of input k, NULL where native_row has it. */
const native_place *native_place_in(const native_writer *w, int k);
/* True when input k is at one element along the row. */
bool native_stands_still(const native_form *f, int k);
/* True when this subset is not the one that is written. */
bool native_is_other_subset(const native_writer *w, bool same);

/* native_emit.c: an iteration goes into partial result j, made of the one in arrays <from>0..; `at`
 * is its reduced position. */
void native_put_step(const native_writer *w, const char *from, const char *j, const char *at);
/* a<c>[j] = neutral element. */
void native_put_neutral(const native_form *f, native_text *t, const char *j);
/* a[left] = merge(a[left], from[right]). */
void native_put_merge(const native_form *f, native_text *t, const char *left, const char *from,
                      const char *right);
/* Outputs of the iteration x from partial result `j`. */
void native_put_results(const native_writer *w, const char *j);
/* native_nest.c */
void native_put_nest(const native_form *f, int32_t k, native_text *t);

/* A loaded object, shared by the loops whose kernels are in it. */
typedef struct native_object {
  void *handle;
  int fd; /* open as long as the handle: glibc knows objects by name, /proc/self/fd/N */
  atomic_int users;
  int n;
  const native_kernels *kernels;
  const char (*keys)[65]; /* of its kernels */
} native_object;

/* A kernel that loops need, once for all loops that have the same. */
typedef struct native_kernel {
  const native_form *form;
  int64_t size;          /* bytes of its C                                                       */
  char key[65];          /* digest of all that its machine code depends on                       */
  native_object *object; /* where it is: one user; NULL until it is found or compiled            */
  const native_kernels *code;
} native_kernel;

/* native_object.c: the compiler and all that code depends on in addition to its own text; `text` is
 * a buffer for texts. Fails: WEIR_ERR_UNSUPPORTED (no compiler), WEIR_ERR_MEMORY. */
typedef struct native_maker {
  char compiler[4096];
  char base[65];
} native_maker;
weir_status native_maker_init(native_maker *m, const char *compiler,
                              native_text *text) WEIR_CHECKED;
/* Key and size of what a loop needs. */
weir_status native_kernel_of(const native_maker *m, const native_form *f, native_text *text,
                             native_kernel *kernel) WEIR_CHECKED;
/* Finds the code of n different kernels in objects of the cache, compiles the rest, opts->threads
 * pieces at a time, and keeps it. Fails, with no object referenced: WEIR_ERR_UNSUPPORTED (the
 * compiler failed, an object cannot be loaded), WEIR_ERR_MEMORY. */
weir_status native_kernels_get(const native_maker *m, const weir_engine_opts *opts,
                               native_kernel *kernels, int32_t n) WEIR_CHECKED;
void native_object_release(native_object *object);

/* native_cache.c: name of the object of weir_objects_open's folder that is said to hold a kernel.
 */
bool native_cache_find(int folder, const char *key, char name[65]);
/* Bytes of what was compiled into `fd`, which are kept under this name, and that n kernels are
 * there. Fails: WEIR_ERR_UNSUPPORTED, WEIR_ERR_MEMORY; not where it cannot be kept. */
weir_status native_cache_keep(int folder, int fd, const char *name,
                              const native_kernel *const *upsampled, int n,
                              int64_t *bytes) WEIR_CHECKED;
/* Ranks of one machine need the same kernels at the same time: one compiles, the others wait until
 * no other thread or process has the turn of this key. Returns whether that took a wait, after
 * which the kernels may be there. *turn: for native_cache_turn_end; -1 where there is no lock to be
 * had. */
bool native_cache_turn(int folder, const char *key, int *turn);
void native_cache_turn_end(int *turn);

/* native_compile.c: flags of the compiler, of which the first *n_tuning are gcc's. */
const char *const *native_compiler_flags(int *n, int *n_tuning);
/* Kind of processor and its instruction sets. */
void native_cpu_identity(char *text, size_t size);
#define NATIVE_PIECES 64 /* most compilers at one time */

/* native_run.c */
void native_run(const native_form *form, const native_kernels *kernels, const weir_loop_run *run);

#endif
