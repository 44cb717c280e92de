/* native_priv.h - tier 2 inside: how a loop is cut into rows, emitted, compiled, kept and run. */
#ifndef WEIR_NATIVE_PRIV_H
#define WEIR_NATIVE_PRIV_H
#include <stdatomic.h>
#include <stddef.h>
#include "exec/native_row.h"
#include "exec/weir_engine.h"

/* Which dimension a row runs along, and what becomes of its iterations. */
typedef enum native_shape {
  NATIVE_MAP,   /* parallel: each writes its outputs                                */
  NATIVE_SCAN,  /* sequential: states go from one to the next                        */
  NATIVE_LANES, /* reduced: they go to 16 lanes                                      */
  NATIVE_STRIP  /* parallel, outputs of a reduction: each has partial results in all lanes */
} native_shape;

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
  int fold[WEIR_MAX_OPERANDS];  /* array dimension of a divided input that divides along it, -1 */
  bool held[WEIR_MAX_OPERANDS]; /* inputs that are held along the row: p serves       */
  bool holds;                   /* there are such inputs                              */
  bool plain_out[WEIR_MAX_OUTPUTS]; /* likewise outputs, q and t                          */
  bool strides;                     /* a row may have steps other than 1 in dense arrays  */
  bool positions;                   /* the kernels look at i, point or views              */
  int components;                   /* of a partial result: 0..3                          */
  weir_dtype component[3];
  bool near;         /* positions are i32: where `small` is written */
  int lanes, levels; /* lanes in use; depth of the tree over slabs         */
  int64_t strip;     /* most outputs of one row of STRIP                   */
  int small;         /* reduced iterations that the kernel `small` unrolls, 0: there is none */
  bool nest;         /* there is the kernel `nest`                                           */
  unsigned asked;    /* dimensions, as bits, that its places and conditions depend on        */
  int line; /* parallel dimension around the row along which `nest` runs rows, -1: none        */
} native_form;

/* Bytes of partial results, or of inputs that are held, that one run keeps on its stack. */
#define NATIVE_SCRATCH 32768
/* Most held inputs of a loop, and the iterations for which they are spread out at a time; from
 * NATIVE_EVEN iterations of one element on they are not, since the kernel `even` takes it. */
#define NATIVE_HELD 8
#define NATIVE_HELD_ROW (NATIVE_SCRATCH / NATIVE_HELD / 8)
#define NATIVE_EVEN 256
/* Entries of all tables of one run of the kernel `nest`. */
#define NATIVE_TABLE_ROOM 2048
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

/* Growing text; the first failure stays in `status` and stops the rest. */
typedef struct native_text {
  char *text;
  int64_t n, capacity;
  weir_status status;
} native_text;
void native_put(native_text *t, const char *format, ...) WEIR_PRINTF(2, 3);

/* The C of all loops: WEIR_ERR_MEMORY alone. Caller frees t->text. */
weir_status native_emit(const native_form *forms, int32_t n, native_text *t) WEIR_CHECKED;
/* What of an iteration is written: all, what is the same along the row, or the rest. Compilers may
 * not tell, since outputs could lie where inputs do. */
typedef enum native_part { NATIVE_ALL, NATIVE_SAME, NATIVE_MOVING } native_part;

/* native_body.c: loads of one iteration (x: the row's counter), then its expressions v0, v1, ... */
typedef struct native_writer {
  native_text *t;
  const native_form *form;
  bool border;
  bool rows; /* inside the loop over the m lines of native_row */
  bool nest; /* inside the loops of `nest`                     */
  native_part part;
} native_writer;
void native_put_loads(const native_writer *w);
void native_put_body(const native_writer *w);
/* Pointers and what does not change along the row; unit steps where `unit` holds, held
 * inputs at one element where `even` does. */
void native_put_head(const native_writer *w);
/* "q0[x * t0]" and the like: where output operand k of the iteration lies. */
void native_put_place(const native_writer *w, int k);
const char *native_type(weir_dtype dtype);
/* What an index divides. */
void native_put_numerator(const native_writer *w, const weir_index *x);
/* Leaves the iteration where the sum is known to take 0, for all of the row alike. */
void native_put_skip(const native_writer *w);

/* native_emit.c: an iteration goes into partial result j, made of the one in arrays <from>0..; `at`
 * is its reduced position. */
void native_put_step(const native_writer *w, const char *from, const char *j, const char *at);
/* a[left] = merge(a[left], from[right]). */
void native_put_merge(const native_form *f, native_text *t, const char *left, const char *from,
                      const char *right);
/* Outputs of the iteration x from partial result `j`. */
void native_put_results(const native_writer *w, const char *j);
/* native_nest.c */
void native_put_nest(const native_form *f, int32_t k, native_text *t);

/* A loaded object, shared by the loops in it. */
typedef struct native_object {
  void *handle;
  int fd; /* open as long as the handle: glibc knows objects by name, /proc/self/fd/N */
  atomic_int users;
  const native_kernels *kernels;
} native_object;
/* Compiled code of `source` (which is signed at its end), from the cache or new. Fails:
 * WEIR_ERR_UNSUPPORTED (no compiler, it failed, the object cannot be loaded), WEIR_ERR_MEMORY. */
weir_status native_object_get(native_text *source, int32_t n, const weir_engine_opts *opts,
                              native_object **out) WEIR_CHECKED;
void native_object_release(native_object *object);

/* native_compile.c: absolute path of the command, and text that changes when the program does. */
weir_status native_compiler_find(const char *command, char path[4096],
                                 char identity[256]) WEIR_CHECKED;
/* Its flags. */
const char *const *native_compiler_flags(int *n);
/* Compiles source into a new private folder (mode 0700); object receives the path of the result
 * and folder that of the folder, which the caller removes with native_folder_remove in any case
 * where folder[0] != 0. Fails: WEIR_ERR_UNSUPPORTED with the first lines of the compiler. */
weir_status native_compile(const char *compiler, const native_text *source, char folder[4096],
                           char object[4096]) WEIR_CHECKED;
/* All n bytes, or false with errno. */
bool native_write(int fd, const char *bytes, int64_t n);
void native_folder_remove(const char *folder);
/* Kind of processor and its instruction sets. */
void native_cpu_identity(char *text, size_t size);

/* native_run.c */
void native_run(const native_form *form, const native_kernels *kernels, const weir_loop_run *run);

#endif
