/* transform_cuda.c - Fourier transforms by cuFFT.
 *
 * The library repeats a transform along one dimension: where the transformed ones lie between
 * others, it is called for each of the outer ones. */
#include "device/cuda/library.h"

#if __has_include(<cufft.h>)
#include <cufft.h>

#include "base/weir_alloc.h"

// clang-format off
#define FFT_FUNCTIONS(X)                                                                       \
  X(cufftCreate) X(cufftDestroy) X(cufftSetAutoAllocation) X(cufftMakePlanMany64)              \
  X(cufftSetStream) X(cufftSetWorkArea)                                                        \
  X(cufftExecC2C) X(cufftExecR2C) X(cufftExecC2R)                                              \
  X(cufftExecZ2Z) X(cufftExecD2Z) X(cufftExecZ2D)
// clang-format on

typedef struct cuda_transforms {
  void *library;
#define X(name) __typeof__(&name) name##_;
  FFT_FUNCTIONS(X)
#undef X
} cuda_transforms;

typedef struct planned {
  cufftHandle plan;
  bool made;
  int64_t runs;             /* of the plan */
  int64_t x_bytes, y_bytes; /* from one to the next */
} planned;

/* What the library lacks is made by others; all else fails. */
static weir_status status_of(cufftResult result)
{
  switch (result) {
  case CUFFT_NOT_SUPPORTED:
  case CUFFT_INVALID_TYPE:
  case CUFFT_INVALID_SIZE:
    return WEIR_ERR_UNSUPPORTED;
  case CUFFT_ALLOC_FAILED:
    return WEIR_ERR_MEMORY;
  default:
    return WEIR_ERR_EXTERNAL;
  }
}

/* Calls a function of the library: FFT_CALL(l, cufftCreate, ..). */
#define FFT_CALL(l, name, ...)                                                             \
  do {                                                                                     \
    const cufftResult fft_status_ = (l)->name##_(__VA_ARGS__);                             \
    if (fft_status_ != CUFFT_SUCCESS) {                                                    \
      return weir_fail(status_of(fft_status_), "device cuda: %s: cuFFT's error %d", #name, \
                       (int)fft_status_);                                                  \
    }                                                                                      \
  } while (0)

static weir_status find_functions(cuda_transforms *l)
{
#define X(name) WEIR_TRY(cuda_library_find(l->library, #name, &l->name##_, sizeof l->name##_));
  FFT_FUNCTIONS(X)
#undef X
  return WEIR_OK;
}

static weir_status open_transforms(cuda_state *s)
{
  static const char *const names[] = {"libcufft.so.12", "libcufft.so.11", NULL};
  weir_status status = WEIR_OK;
  void *memory = NULL;

  if (s->transforms != NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(1, sizeof(cuda_transforms), &memory));
  cuda_transforms *l = memory;

  WEIR_TRY_GOTO(cuda_library_open(names, &l->library), failed);
  WEIR_TRY_GOTO(find_functions(l), failed);
  s->transforms = l;
  return WEIR_OK;
failed:
  weir_free(&memory); /* the library stays open: records of failures name its text */
  return status;
}

void cuda_transform_close(cuda_state *s)
{
  weir_free(&s->transforms);
}

static cufftType type_of(const weir_library_transform *t)
{
  const bool wide = t->part == WEIR_F64;

  return t->kind == WEIR_LIBRARY_REAL      ? (wide ? CUFFT_D2Z : CUFFT_R2C)
         : t->kind == WEIR_LIBRARY_TO_REAL ? (wide ? CUFFT_Z2D : CUFFT_C2R)
                                           : (wide ? CUFFT_Z2Z : CUFFT_C2C);
}

/* Elements of an array of one of the outer indices; extent: along the transformed dimensions. */
static long long extents_of(const weir_library_transform *t, bool half, long long *extent)
{
  long long all = 1;

  for (int k = 0; k < t->rank; k++) {
    extent[k] = half && k == t->rank - 1 ? t->n[k] / 2 + 1 : t->n[k];
    all *= extent[k];
  }
  return all;
}

static weir_status make_plan(const cuda_transforms *l, const weir_library_transform *t, planned *p,
                             int64_t *workspace)
{
  long long n[WEIR_LIBRARY_DIMS], x[WEIR_LIBRARY_DIMS], y[WEIR_LIBRARY_DIMS];
  const bool between = t->inner > 1;
  const long long x_all = extents_of(t, t->kind == WEIR_LIBRARY_TO_REAL, x);
  const long long y_all = extents_of(t, t->kind == WEIR_LIBRARY_REAL, y);
  const int64_t real = (int64_t)weir_dtype_size(t->part), pair = 2 * real;
  size_t bytes = 0;

  (void)extents_of(t, false, n);
  p->runs = between ? t->outer : 1;
  p->x_bytes = x_all * t->inner * (t->kind == WEIR_LIBRARY_REAL ? real : pair);
  p->y_bytes = y_all * t->inner * (t->kind == WEIR_LIBRARY_TO_REAL ? real : pair);
  if (p->runs > 1 && (p->x_bytes % pair != 0 || p->y_bytes % pair != 0)) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "device cuda: cuFFT needs real arrays that begin at multiples of two numbers");
  }
  FFT_CALL(l, cufftCreate, &p->plan);
  p->made = true;
  FFT_CALL(l, cufftSetAutoAllocation, p->plan, 0);
  FFT_CALL(l, cufftMakePlanMany64, p->plan, t->rank, n, x, t->inner, between ? 1 : x_all, y,
           t->inner, between ? 1 : y_all, type_of(t), between ? t->inner : t->outer, &bytes);
  *workspace = (int64_t)bytes;
  return WEIR_OK;
}

weir_status cuda_transform_create(weir_library_call *call)
{
  cuda_state *s = cuda_enter(call->device);

  WEIR_TRY(open_transforms(s));
  WEIR_TRY(weir_alloc(1, sizeof(planned), &call->state));
  const weir_status status =
      make_plan(s->transforms, &call->spec.transform, call->state, &call->workspace_bytes);

  if (status != WEIR_OK) {
    cuda_transform_destroy(call);
  }
  WEIR_TRY(status);
  return WEIR_OK;
}

void cuda_transform_destroy(weir_library_call *call)
{
  const cuda_state *s = call->device->state;
  planned *p = call->state;

  if (p != NULL) {
    (void)(p->made ? s->transforms->cufftDestroy_(p->plan) : 0);
    weir_free(&call->state);
  }
}

static weir_status run_once(const cuda_transforms *l, const weir_library_transform *t,
                            cufftHandle plan, void *x, void *y)
{
  const int way = t->kind == WEIR_LIBRARY_BACKWARD ? CUFFT_INVERSE : CUFFT_FORWARD;

  switch (type_of(t)) {
  case CUFFT_R2C:
    FFT_CALL(l, cufftExecR2C, plan, x, y);
    break;
  case CUFFT_C2R:
    FFT_CALL(l, cufftExecC2R, plan, x, y);
    break;
  case CUFFT_D2Z:
    FFT_CALL(l, cufftExecD2Z, plan, x, y);
    break;
  case CUFFT_Z2D:
    FFT_CALL(l, cufftExecZ2D, plan, x, y);
    break;
  case CUFFT_C2C:
    FFT_CALL(l, cufftExecC2C, plan, x, y, way);
    break;
  default:
    FFT_CALL(l, cufftExecZ2Z, plan, x, y, way);
    break;
  }
  return WEIR_OK;
}

weir_status cuda_transform_run(const cuda_state *s, CUstream stream, const device_op *op)
{
  const cuda_transforms *l = s->transforms;
  const planned *p = op->call->state;

  FFT_CALL(l, cufftSetStream, p->plan, stream);
  FFT_CALL(l, cufftSetWorkArea, p->plan, op->workspace);
  for (int64_t k = 0; k < p->runs; k++) {
    WEIR_TRY(run_once(l, &op->call->spec.transform, p->plan,
                      (char *)op->operand[0] + k * p->x_bytes,
                      (char *)op->operand[1] + k * p->y_bytes));
  }
  return WEIR_OK;
}
#else
weir_status cuda_transform_create(weir_library_call *call)
{
  (void)call;
  return weir_fail(WEIR_ERR_UNSUPPORTED, "device cuda: built without the headers of cuFFT");
}

void cuda_transform_destroy(weir_library_call *call)
{
  (void)call;
}

weir_status cuda_transform_run(const cuda_state *s, CUstream stream, const device_op *op)
{
  (void)s;
  (void)stream;
  (void)op;
  return WEIR_ERR_UNSUPPORTED;
}

void cuda_transform_close(cuda_state *s)
{
  (void)s;
}
#endif
