/* native.c - the native engine: loops as C, compiled by the system's compiler once and kept. */
#include "exec/backend/native/native_priv.h"

#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "exec/backend/planar.h"

_Static_assert(NATIVE_RANK == WEIR_MAX_RANK && NATIVE_DIMS == WEIR_MAX_DIMS &&
                   NATIVE_OPERANDS == WEIR_MAX_OPERANDS && NATIVE_OUTPUTS == WEIR_MAX_OUTPUTS &&
                   WEIR_LANES == 16,
               "native_row.h follows the limits of the core");
_Static_assert(sizeof(native_view) == sizeof(weir_view) &&
                   offsetof(native_view, data) == offsetof(weir_view, data) &&
                   offsetof(native_view, origin) == offsetof(weir_view, origin) &&
                   offsetof(native_view, stride) == offsetof(weir_view, stride) &&
                   offsetof(native_view, extent) == offsetof(weir_view, extent),
               "native_view follows weir_view");

typedef struct context {
  weir_access access; /* a copy: contexts outlive the loops they were made from */
  native_form form;
  native_object *object;
  const native_kernels *kernels;
} context;

static void release(void *opaque)
{
  context *c = opaque;

  if (c != NULL) {
    weir_access_fini(&c->access);
    native_object_release(c->object);
    weir_free(&c);
  }
}

static weir_status prepare_one(const weir_loop *loop, const weir_engine_opts *opts, void **out)
{
  weir_status status;
  void *memory;

  (void)opts;
  WEIR_TRY(weir_alloc(1, sizeof(context), &memory));
  context *c = memory;
  WEIR_TRY_GOTO(weir_access_copy(&loop->access, &c->access), failed);
  WEIR_TRY_GOTO(native_form_of(&c->access, &c->form), failed);
  *out = c;
  return WEIR_OK;
failed:
  release(c);
  return status;
}

/* A loop's kernel, for sorting. */
typedef struct need {
  native_kernel kernel;
  context *c;
} need;

static int by_key(const void *a, const void *b)
{
  return strcmp(((const need *)a)->kernel.key, ((const need *)b)->kernel.key);
}

/* Hands every context the code of its kernel; loops that have the same kernel share it. */
static weir_status share_code(const native_maker *m, const weir_engine_opts *opts, need *needs,
                              int32_t n, native_kernel *kernels)
{
  int32_t distinct = 0;

  qsort(needs, (size_t)n, sizeof *needs, by_key);
  for (int32_t k = 0; k < n; k++) {
    if (distinct == 0 || strcmp(kernels[distinct - 1].key, needs[k].kernel.key) != 0) {
      kernels[distinct++] = needs[k].kernel;
    }
  }
  WEIR_TRY(native_kernels_get(m, opts, kernels, distinct));
  for (int32_t k = 0, at = 0; k < n; k++) {
    at += strcmp(kernels[at].key, needs[k].kernel.key) != 0;
    needs[k].c->object = kernels[at].object;
    needs[k].c->kernels = kernels[at].code;
    atomic_fetch_add(&kernels[at].object->users, 1);
  }
  for (int32_t k = 0; k < distinct; k++) {
    native_object_release(kernels[k].object);
  }
  return WEIR_OK;
}

static weir_status compile(int32_t n, const weir_engine_opts *opts, void *const *contexts)
{
  native_text text = {0};
  native_maker maker;
  need *needs = NULL;
  native_kernel *kernels = NULL;
  weir_status status;
  void *memory;

  WEIR_TRY(weir_alloc(n, sizeof *needs, &memory));
  needs = memory;
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *kernels, &memory), done);
  kernels = memory;
  WEIR_TRY_GOTO(native_maker_init(&maker, opts->compiler, &text), done);
  for (int32_t k = 0; k < n; k++) {
    needs[k].c = contexts[k];
    WEIR_TRY_GOTO(native_kernel_of(&maker, &needs[k].c->form, &text, &needs[k].kernel), done);
  }
  WEIR_TRY_GOTO(share_code(&maker, opts, needs, n, kernels), done);
done:
  weir_free(&needs);
  weir_free(&kernels);
  weir_free(&text.text);
  return status;
}

static weir_status prepare(const weir_loop *const *loops, int32_t n, const weir_engine_opts *opts,
                           void **contexts)
{
  WEIR_TRY(exec_prepare_each(loops, n, opts, prepare_one, release, contexts));
  const weir_status status = n > 0 ? compile(n, opts, contexts) : WEIR_OK;

  for (int32_t k = 0; k < n && status != WEIR_OK; k++) {
    release(contexts[k]);
    contexts[k] = NULL;
  }
  WEIR_TRY(status);
  return WEIR_OK;
}

static void run(void *opaque, const weir_loop_run *what)
{
  const context *c = opaque;

  native_run(&c->form, c->kernels, what);
}

/* Of loops of real numbers. */
static const weir_engine real = {.prepare = prepare, .run = run, .release = release};

static weir_status prepare_any(const weir_loop *const *loops, int32_t n,
                               const weir_engine_opts *opts, void **contexts)
{
  return planar_prepare(&real, loops, n, opts, contexts);
}

const weir_engine weir_engine_native = {.name = "native",
                                        .tier = WEIR_TIER_NATIVE,
                                        .prepare = prepare_any,
                                        .run = planar_run,
                                        .release = planar_release};
