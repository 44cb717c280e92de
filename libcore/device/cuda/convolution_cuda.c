/* convolution_cuda.c - convolutions by cuDNN's back end: a graph of one operation, and the first of
 * the engines that its heuristics propose which is deterministic and keeps the precision asked for.
 *
 * The library names dimensions [n, channels, extents..] and weights [out, in, taps..]; the strides
 * say that channels lie together. One spatial dimension is given to it as two. */
#include "device/cuda/library.h"

#if __has_include(<cudnn.h>)
#include <cudnn.h>
#endif

#if defined CUDNN_VERSION && CUDNN_VERSION >= 90800 /* plans without a GPU */
#include <string.h>

#include "base/weir_alloc.h"

// clang-format off
#define DNN_FUNCTIONS(X)                                                                     \
  X(cudnnCreate) X(cudnnDestroy) X(cudnnSetStream) X(cudnnGetErrorString)                    \
  X(cudnnGetLastErrorString)                                                                 \
  X(cudnnBackendCreateDescriptor) X(cudnnBackendDestroyDescriptor)                           \
  X(cudnnBackendSetAttribute) X(cudnnBackendGetAttribute) X(cudnnBackendFinalize)            \
  X(cudnnBackendExecute)
// clang-format on

typedef struct cuda_convolutions {
  void *library;
  cudnnHandle_t handle;                /* NULL: plans are made for a device that is not here: */
  cudnnBackendDescriptor_t properties; /* of it                                               */
#define X(name) __typeof__(&name) name##_;
  DNN_FUNCTIONS(X)
#undef X
} cuda_convolutions;

enum { MOST_CANDIDATES = 64, MOST_NOTES = 16, SPATIAL = WEIR_LIBRARY_DIMS, RANK = SPATIAL + 2 };
static const int64_t ids[WEIR_LIBRARY_OPERANDS] = {'x', 'w', 'y'};

/* Descriptors that a call keeps; the plan refers to the others. */
typedef struct convolution {
  cudnnBackendDescriptor_t operand[WEIR_LIBRARY_OPERANDS], how, operation, graph, heuristic;
  cudnnBackendDescriptor_t candidate[MOST_CANDIDATES], plan;
} convolution;

static weir_status dnn_fail(const cuda_convolutions *l, cudnnStatus_t status, const char *what)
{
  char text[400] = "";

  l->cudnnGetLastErrorString_(text, sizeof text);
  return weir_fail(status == CUDNN_STATUS_EXECUTION_FAILED ? WEIR_ERR_EXTERNAL
                                                           : WEIR_ERR_UNSUPPORTED,
                   "device cuda: %s: %s (%s)", what, l->cudnnGetErrorString_(status), text);
}

/* Calls a function of the library: DNN_CALL(l, cudnnBackendFinalize, ..). */
#define DNN_CALL(l, name, ...)                                   \
  do {                                                           \
    const cudnnStatus_t dnn_status_ = (l)->name##_(__VA_ARGS__); \
    if (dnn_status_ != CUDNN_STATUS_SUCCESS) {                   \
      return dnn_fail(l, dnn_status_, #name);                    \
    }                                                            \
  } while (0)

static weir_status find_functions(cuda_convolutions *l)
{
#define X(name) WEIR_TRY(cuda_library_find(l->library, #name, &l->name##_, sizeof l->name##_));
  DNN_FUNCTIONS(X)
#undef X
  return WEIR_OK;
}

static weir_status find_library(cuda_convolutions *l)
{
  static const char *const names[] = {"libcudnn.so.9", NULL};

  WEIR_TRY(cuda_library_open(names, &l->library));
  WEIR_TRY(find_functions(l));
  return WEIR_OK;
}

static weir_status find_device(cuda_convolutions *l)
{
  DNN_CALL(l, cudnnCreate, &l->handle);
  return WEIR_OK;
}

static weir_status open_convolutions(cuda_state *s)
{
  weir_status status = WEIR_OK;
  void *memory = NULL;

  if (s->convolutions != NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(1, sizeof(cuda_convolutions), &memory));
  cuda_convolutions *l = memory;

  WEIR_TRY_GOTO(find_library(l), failed);
  WEIR_TRY_GOTO(find_device(l), failed);
  s->convolutions = l;
  return WEIR_OK;
failed:
  weir_free(&memory); /* the library stays open: records of failures name its text */
  return status;
}

void cuda_convolution_close(cuda_state *s)
{
  if (s->convolutions != NULL) {
    (void)s->convolutions->cudnnDestroy_(s->convolutions->handle);
    weir_free(&s->convolutions);
  }
}

/* ---- Descriptors. ---- */

static weir_status create(const cuda_convolutions *l, cudnnBackendDescriptorType_t type,
                          cudnnBackendDescriptor_t *out)
{
  DNN_CALL(l, cudnnBackendCreateDescriptor, type, out);
  return WEIR_OK;
}

static weir_status set(const cuda_convolutions *l, cudnnBackendDescriptor_t d,
                       cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                       int64_t n, const void *values)
{
  DNN_CALL(l, cudnnBackendSetAttribute, d, name, type, n, values);
  return WEIR_OK;
}

static weir_status set_one(const cuda_convolutions *l, cudnnBackendDescriptor_t d,
                           cudnnBackendAttributeName_t name, const cudnnBackendDescriptor_t *other)
{
  WEIR_TRY(set(l, d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, other));
  return WEIR_OK;
}

static weir_status finalize(const cuda_convolutions *l, cudnnBackendDescriptor_t d)
{
  DNN_CALL(l, cudnnBackendFinalize, d);
  return WEIR_OK;
}

static cudnnDataType_t type_of(weir_dtype dtype)
{
  return dtype == WEIR_F32    ? CUDNN_DATA_FLOAT
         : dtype == WEIR_BF16 ? CUDNN_DATA_BFLOAT16
                              : CUDNN_DATA_DOUBLE;
}

static int spatial_of(const weir_library_convolution *c)
{
  return c->d < 2 ? 2 : c->d;
}

/* One value per spatial dimension: `one` in front of a single one. */
static void spread(const weir_library_convolution *c, const int64_t *from, int64_t one, int64_t *to)
{
  const int d = spatial_of(c);

  for (int k = 0; k < d; k++) {
    to[k] = k < d - c->d ? one : from[k - (d - c->d)];
  }
}

static weir_status describe_operand(const cuda_convolutions *l, const weir_library_spec *spec,
                                    int operand, cudnnBackendDescriptor_t *out)
{
  const weir_library_convolution *c = &spec->convolution;
  const int rank = spatial_of(c) + 2;
  const cudnnDataType_t type = type_of(weir_library_dtype(spec, operand));
  const int64_t align = 16;
  int64_t extent[RANK], stride[RANK], step;

  extent[0] = operand == 1 ? c->groups * c->out : c->n;
  extent[1] = operand == 0 ? c->groups * c->in : operand == 1 ? c->in : c->groups * c->out;
  spread(c, operand == 0 ? c->x_extent : operand == 1 ? c->taps : c->y_extent, 1, extent + 2);
  stride[1] = 1;
  step = extent[1];
  for (int k = rank - 1; k >= 2; k--) {
    stride[k] = step;
    step *= extent[k];
  }
  stride[0] = step;
  WEIR_TRY(create(l, CUDNN_BACKEND_TENSOR_DESCRIPTOR, out));
  WEIR_TRY(set(l, *out, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type));
  WEIR_TRY(set(l, *out, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, rank, extent));
  WEIR_TRY(set(l, *out, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, rank, stride));
  WEIR_TRY(set(l, *out, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &ids[operand]));
  WEIR_TRY(set(l, *out, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &align));
  WEIR_TRY(finalize(l, *out));
  return WEIR_OK;
}

/* Elements that the last tap reads beyond the end of x. */
static void paddings_after(const weir_library_convolution *c, int64_t *after)
{
  for (int k = 0; k < c->d; k++) {
    const int64_t last = c->stride[k] * (c->y_extent[k] - 1) + c->dilation[k] * (c->taps[k] - 1);
    const int64_t beyond = last - c->lo[k] - (c->x_extent[k] - 1);

    after[k] = beyond > 0 ? beyond : 0;
  }
}

static weir_status describe_steps(const cuda_convolutions *l, const weir_library_convolution *c,
                                  cudnnBackendDescriptor_t *out)
{
  const cudnnDataType_t sums = c->x == WEIR_F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  const int64_t d = spatial_of(c);
  int64_t after[SPATIAL], all[SPATIAL];
  const struct {
    cudnnBackendAttributeName_t name;
    const int64_t *values;
    int64_t one;
  } steps[] = {{CUDNN_ATTR_CONVOLUTION_DILATIONS, c->dilation, 1},
               {CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, c->stride, 1},
               {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, c->lo, 0},
               {CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, after, 0}};

  paddings_after(c, after);
  WEIR_TRY(create(l, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, out));
  WEIR_TRY(set(l, *out, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &sums));
  WEIR_TRY(set(l, *out, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode));
  WEIR_TRY(set(l, *out, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &d));
  for (int k = 0; k < 4; k++) {
    spread(c, steps[k].values, steps[k].one, all);
    WEIR_TRY(set(l, *out, steps[k].name, CUDNN_TYPE_INT64, d, all));
  }
  WEIR_TRY(finalize(l, *out));
  return WEIR_OK;
}

/* The names of an operation's attributes, operands in the order x, w, y. */
typedef struct names {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t how, operand[WEIR_LIBRARY_OPERANDS], alpha, beta;
} names;

static const names names_of[WEIR_LIBRARY_OPERANDS] = {
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
     {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY},
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
     {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY},
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
     {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y},
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA}};

static weir_status describe_operation(const cuda_convolutions *l, const weir_library_spec *spec,
                                      convolution *v)
{
  const names *n = &names_of[spec->convolution.made];
  const double one = 1, zero = 0;
  const float one_f = 1, zero_f = 0;
  const bool wide = spec->convolution.x == WEIR_F64;
  const cudnnBackendAttributeType_t type = wide ? CUDNN_TYPE_DOUBLE : CUDNN_TYPE_FLOAT;

  for (int k = 0; k < WEIR_LIBRARY_OPERANDS; k++) {
    WEIR_TRY(describe_operand(l, spec, k, &v->operand[k]));
  }
  WEIR_TRY(describe_steps(l, &spec->convolution, &v->how));
  WEIR_TRY(create(l, n->type, &v->operation));
  WEIR_TRY(set_one(l, v->operation, n->how, &v->how));
  for (int k = 0; k < WEIR_LIBRARY_OPERANDS; k++) {
    WEIR_TRY(set_one(l, v->operation, n->operand[k], &v->operand[k]));
  }
  WEIR_TRY(set(l, v->operation, n->alpha, type, 1, wide ? (const void *)&one : &one_f));
  WEIR_TRY(set(l, v->operation, n->beta, type, 1, wide ? (const void *)&zero : &zero_f));
  WEIR_TRY(finalize(l, v->operation));
  WEIR_TRY(create(l, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, &v->graph));
  WEIR_TRY(set_one(l, v->graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, &v->operation));
  if (l->handle != NULL) {
    WEIR_TRY(set(l, v->graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &l->handle));
  }
  WEIR_TRY(finalize(l, v->graph));
  return WEIR_OK;
}

/* ---- Engines. ---- */

/* Tensor cores round f32 factors to tf32. */
static bool may_use_tensor_cores(const weir_library_spec *spec)
{
  bool may = true;

  for (int k = 0; k < WEIR_LIBRARY_OPERANDS; k++) {
    may = may &&
          (spec->tf32 || k == spec->convolution.made || weir_library_dtype(spec, k) != WEIR_F32);
  }
  return may;
}

/* Whether its results are sums of the products, the same in every run. */
static bool is_exact(const weir_library_spec *spec, const cudnnBackendNumericalNote_t *notes,
                     int64_t n)
{
  const bool cores = may_use_tensor_cores(spec);
  bool exact = true;

  for (int64_t k = 0; k < n; k++) {
    exact = exact && notes[k] != CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC &&
            notes[k] != CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION &&
            notes[k] != CUDNN_NUMERICAL_NOTE_FFT && notes[k] != CUDNN_NUMERICAL_NOTE_WINOGRAD &&
            notes[k] != CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS && /* also to f16 */
            (cores || notes[k] != CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
  }
  return exact;
}

static weir_status read_notes(const cuda_convolutions *l, cudnnBackendDescriptor_t candidate,
                              cudnnBackendDescriptor_t engine, cudnnBackendNumericalNote_t *notes,
                              int64_t *n)
{
  int64_t one = 0;

  DNN_CALL(l, cudnnBackendGetAttribute, candidate, CUDNN_ATTR_ENGINECFG_ENGINE,
           CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &one, &engine);
  DNN_CALL(l, cudnnBackendGetAttribute, engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
           CUDNN_TYPE_NUMERICAL_NOTE, MOST_NOTES, n, notes);
  return WEIR_OK;
}

static weir_status make_plan(const cuda_convolutions *l, cudnnBackendDescriptor_t candidate,
                             convolution *v, int64_t *workspace)
{
  int64_t one = 0;

  WEIR_TRY(create(l, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &v->plan));
  WEIR_TRY(l->handle != NULL
               ? set(l, v->plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &l->handle)
               : set_one(l, v->plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, &l->properties));
  WEIR_TRY(set_one(l, v->plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, &candidate));
  WEIR_TRY(finalize(l, v->plan));
  DNN_CALL(l, cudnnBackendGetAttribute, v->plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
           CUDNN_TYPE_INT64, 1, &one, workspace);
  return *workspace <= CUDA_WORKSPACE
             ? WEIR_OK
             : weir_fail(WEIR_ERR_UNSUPPORTED, "device cuda: an engine wants a workspace of %lld",
                         (long long)*workspace);
}

/* A plan of the candidate, if it keeps the precision. */
static weir_status try_candidate(const cuda_convolutions *l, cudnnBackendDescriptor_t candidate,
                                 const weir_library_spec *spec, convolution *v, int64_t *workspace)
{
  cudnnBackendNumericalNote_t notes[MOST_NOTES];
  cudnnBackendDescriptor_t engine = NULL;
  int64_t n = 0;

  WEIR_TRY(create(l, CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine));
  weir_status status = read_notes(l, candidate, engine, notes, &n);

  (void)l->cudnnBackendDestroyDescriptor_(engine);
  if (status == WEIR_OK && !is_exact(spec, notes, n < MOST_NOTES ? n : MOST_NOTES)) {
    status = weir_fail(WEIR_ERR_UNSUPPORTED, "device cuda: no engine with sums of all products");
  }
  if (status == WEIR_OK) {
    status = make_plan(l, candidate, v, workspace);
  }
  if (status != WEIR_OK && v->plan != NULL) {
    (void)l->cudnnBackendDestroyDescriptor_(v->plan);
    v->plan = NULL;
  }
  return status == WEIR_OK ? WEIR_OK : weir_trace_at(status, __FILE__, __LINE__, __func__);
}

static weir_status ask(const cuda_convolutions *l, cudnnBackendHeurMode_t mode, convolution *v,
                       int64_t *n)
{
  WEIR_TRY(create(l, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, &v->heuristic));
  WEIR_TRY(set_one(l, v->heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, &v->graph));
  WEIR_TRY(set(l, v->heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode));
  if (l->handle == NULL) {
    WEIR_TRY(set_one(l, v->heuristic, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, &l->properties));
  }
  WEIR_TRY(finalize(l, v->heuristic));
  for (int k = 0; k < MOST_CANDIDATES; k++) {
    if (v->candidate[k] == NULL) {
      WEIR_TRY(create(l, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &v->candidate[k]));
    }
  }
  DNN_CALL(l, cudnnBackendGetAttribute, v->heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS,
           CUDNN_TYPE_BACKEND_DESCRIPTOR, MOST_CANDIDATES, n, v->candidate);
  return WEIR_OK;
}

/* The first plan that can be made: of what the heuristic proposes, then of what always works. */
static weir_status choose(const cuda_convolutions *l, const weir_library_spec *spec, convolution *v,
                          int64_t *workspace)
{
  static const cudnnBackendHeurMode_t modes[] = {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK};
  weir_status status =
      weir_fail(WEIR_ERR_UNSUPPORTED, "device cuda: cuDNN proposes no engine for a convolution");

  for (int m = 0; m < 2 && v->plan == NULL; m++) {
    int64_t n = 0;

    if (v->heuristic != NULL) {
      (void)l->cudnnBackendDestroyDescriptor_(v->heuristic);
      v->heuristic = NULL;
    }
    status = ask(l, modes[m], v, &n);
    for (int64_t k = 0; k < n && k < MOST_CANDIDATES && v->plan == NULL; k++) {
      status = try_candidate(l, v->candidate[k], spec, v, workspace);
    }
  }
  if (v->plan == NULL) {
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  weir_clear_failure();
  return WEIR_OK;
}

weir_status cuda_convolution_create(weir_library_call *call)
{
  cuda_state *s = cuda_enter(call->device);
  weir_status status = WEIR_OK;

  WEIR_TRY(open_convolutions(s));
  WEIR_TRY(weir_alloc(1, sizeof(convolution), &call->state));
  WEIR_TRY_GOTO(describe_operation(s->convolutions, &call->spec, call->state), failed);
  WEIR_TRY_GOTO(choose(s->convolutions, &call->spec, call->state, &call->workspace_bytes), failed);
  return WEIR_OK;
failed:
  cuda_convolution_destroy(call);
  return status;
}

static void destroy_all(const cuda_convolutions *l, cudnnBackendDescriptor_t *d, int n)
{
  for (int k = 0; k < n; k++) {
    if (d[k] != NULL) {
      (void)l->cudnnBackendDestroyDescriptor_(d[k]);
    }
  }
}

static void release(const cuda_convolutions *l, convolution *v)
{
  destroy_all(l, &v->plan, 1);
  destroy_all(l, v->candidate, MOST_CANDIDATES);
  destroy_all(l, &v->heuristic, 1);
  destroy_all(l, &v->graph, 1);
  destroy_all(l, &v->operation, 1);
  destroy_all(l, &v->how, 1);
  destroy_all(l, v->operand, WEIR_LIBRARY_OPERANDS);
}

void cuda_convolution_destroy(weir_library_call *call)
{
  const cuda_state *s = call->device->state;

  if (call->state != NULL) {
    release(s->convolutions, call->state);
    weir_free(&call->state);
  }
}

static weir_status read_properties(cuda_convolutions *l, const char *properties)
{
  WEIR_TRY(create(l, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &l->properties));
  WEIR_TRY(set(l, l->properties, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
               (int64_t)strlen(properties), properties));
  WEIR_TRY(finalize(l, l->properties));
  return WEIR_OK;
}

weir_status cuda_convolution_plan(const char *properties, const weir_library_spec *spec,
                                  int64_t *workspace)
{
  weir_status status = WEIR_OK;
  cuda_convolutions l = {0};
  convolution v = {0};

  WEIR_TRY(find_library(&l));
  WEIR_TRY_GOTO(read_properties(&l, properties), done);
  WEIR_TRY_GOTO(describe_operation(&l, spec, &v), done);
  WEIR_TRY_GOTO(choose(&l, spec, &v, workspace), done);
done:
  release(&l, &v);
  destroy_all(&l, &l.properties, 1);
  return status;
}

static weir_status execute(const cuda_convolutions *l, CUstream stream, const device_op *op,
                           cudnnBackendDescriptor_t pack)
{
  const convolution *v = op->call->state;

  WEIR_TRY(set(l, pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, WEIR_LIBRARY_OPERANDS,
               ids));
  WEIR_TRY(set(l, pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
               WEIR_LIBRARY_OPERANDS, op->operand));
  WEIR_TRY(set(l, pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &op->workspace));
  WEIR_TRY(finalize(l, pack));
  DNN_CALL(l, cudnnSetStream, l->handle, stream);
  DNN_CALL(l, cudnnBackendExecute, l->handle, v->plan, pack);
  return WEIR_OK;
}

weir_status cuda_convolution_run(const cuda_state *s, CUstream stream, const device_op *op)
{
  const cuda_convolutions *l = s->convolutions;
  cudnnBackendDescriptor_t pack = NULL;

  WEIR_TRY(create(l, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack));
  const weir_status status = execute(l, stream, op, pack);

  (void)l->cudnnBackendDestroyDescriptor_(pack);
  return status == WEIR_OK ? WEIR_OK : weir_trace_at(status, __FILE__, __LINE__, __func__);
}
#else
weir_status cuda_convolution_create(weir_library_call *call)
{
  (void)call;
  return weir_fail(WEIR_ERR_UNSUPPORTED, "device cuda: built without the headers of cuDNN 9.8");
}

void cuda_convolution_destroy(weir_library_call *call)
{
  (void)call;
}

weir_status cuda_convolution_plan(const char *properties, const weir_library_spec *spec,
                                  int64_t *workspace)
{
  (void)properties;
  (void)spec;
  (void)workspace;
  return weir_fail(WEIR_ERR_UNSUPPORTED, "device cuda: built without the headers of cuDNN 9.8");
}

weir_status cuda_convolution_run(const cuda_state *s, CUstream stream, const device_op *op)
{
  (void)s;
  (void)stream;
  (void)op;
  return WEIR_ERR_UNSUPPORTED;
}

void cuda_convolution_close(cuda_state *s)
{
  (void)s;
}
#endif
