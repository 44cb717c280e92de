/* product_cuda.c - matrix products by cuBLASLt.
 *
 * The library counts columns first, where Weir counts rows first: what it sees are the transposes,
 * c^T = b^T a^T. It conjugates transposed matrices only; others are refused. */
#include "device/cuda/library.h"

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>

#include "base/weir_alloc.h"

// clang-format off
#define LT_FUNCTIONS(X)                                                                        \
  X(cublasLtCreate) X(cublasLtDestroy) X(cublasLtGetStatusString)                              \
  X(cublasLtMatmulDescCreate) X(cublasLtMatmulDescDestroy) X(cublasLtMatmulDescSetAttribute)   \
  X(cublasLtMatrixLayoutCreate) X(cublasLtMatrixLayoutDestroy)                                 \
  X(cublasLtMatrixLayoutSetAttribute)                                                          \
  X(cublasLtMatmulPreferenceCreate) X(cublasLtMatmulPreferenceDestroy)                         \
  X(cublasLtMatmulPreferenceSetAttribute)                                                      \
  X(cublasLtMatmulAlgoGetHeuristic) X(cublasLtMatmul)
// clang-format on

typedef struct cuda_products {
  void *library;
  cublasLtHandle_t handle;
#define X(name) __typeof__(&name) name##_;
  LT_FUNCTIONS(X)
#undef X
} cuda_products;

typedef struct product {
  cublasLtMatmulDesc_t how;
  cublasLtMatrixLayout_t left, right, made; /* as the library sees them: b, a, c */
  cublasLtMatmulAlgo_t algorithm;
} product;

static weir_status lt_fail(const cuda_products *l, cublasStatus_t status, const char *what)
{
  return weir_fail(status == CUBLAS_STATUS_EXECUTION_FAILED ? WEIR_ERR_EXTERNAL
                                                            : WEIR_ERR_UNSUPPORTED,
                   "device cuda: %s: %s", what, l->cublasLtGetStatusString_(status));
}

/* Calls a function of the library: LT_CALL(l, cublasLtMatmul, ..). */
#define LT_CALL(l, name, ...)                                    \
  do {                                                           \
    const cublasStatus_t lt_status_ = (l)->name##_(__VA_ARGS__); \
    if (lt_status_ != CUBLAS_STATUS_SUCCESS) {                   \
      return lt_fail(l, lt_status_, #name);                      \
    }                                                            \
  } while (0)

static weir_status find_functions(cuda_products *l)
{
#define X(name) WEIR_TRY(cuda_library_find(l->library, #name, &l->name##_, sizeof l->name##_));
  LT_FUNCTIONS(X)
#undef X
  LT_CALL(l, cublasLtCreate, &l->handle);
  return WEIR_OK;
}

static weir_status open_products(cuda_state *s)
{
  static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", NULL};
  weir_status status = WEIR_OK;
  void *memory = NULL;

  if (s->products != NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(1, sizeof(cuda_products), &memory));
  cuda_products *l = memory;

  WEIR_TRY_GOTO(cuda_library_open(names, &l->library), failed);
  WEIR_TRY_GOTO(find_functions(l), failed);
  s->products = l;
  return WEIR_OK;
failed:
  weir_free(&memory); /* the library stays open: records of failures name its text */
  return status;
}

void cuda_product_close(cuda_state *s)
{
  if (s->products != NULL) {
    (void)s->products->cublasLtDestroy_(s->products->handle);
    weir_free(&s->products);
  }
}

static cudaDataType_t type_of(weir_dtype dtype)
{
  return dtype == WEIR_F32   ? CUDA_R_32F
         : dtype == WEIR_F64 ? CUDA_R_64F
         : dtype == WEIR_C64 ? CUDA_C_32F
                             : CUDA_C_64F;
}

static cublasComputeType_t compute_of(const weir_library_spec *spec)
{
  return weir_dtype_part(spec->product.dtype) == WEIR_F64 ? CUBLAS_COMPUTE_64F
         : spec->tf32                                     ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                          : CUBLAS_COMPUTE_32F;
}

/* How the library gets the transpose of a matrix that it sees transposed if rows lie together. */
static weir_status operation_of(const weir_library_matrix *m, int64_t rows, int64_t columns,
                                cublasOperation_t *out)
{
  const bool by_rows = m->across == 1 && (m->down != 1 || columns > 1 || rows == 1);

  *out = by_rows ? CUBLAS_OP_N : m->conjugated ? CUBLAS_OP_C : CUBLAS_OP_T;
  return by_rows && m->conjugated
             ? weir_fail(WEIR_ERR_UNSUPPORTED,
                         "device cuda: cuBLASLt conjugates transposed matrices only")
             : WEIR_OK;
}

/* rows and columns of the matrix, not of its transpose. */
static weir_status make_layout(const cuda_products *l, weir_dtype dtype,
                               const weir_library_matrix *m, int64_t rows, int64_t columns,
                               int64_t stack, bool by_rows, cublasLtMatrixLayout_t *out)
{
  const int64_t tall = by_rows ? columns : rows, wide = by_rows ? rows : columns;
  const int64_t step = by_rows ? m->down : m->across;
  const int32_t count = (int32_t)stack;

  LT_CALL(l, cublasLtMatrixLayoutCreate, out, type_of(dtype), (uint64_t)tall, (uint64_t)wide,
          step > tall ? step : tall);
  LT_CALL(l, cublasLtMatrixLayoutSetAttribute, *out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
          sizeof count);
  LT_CALL(l, cublasLtMatrixLayoutSetAttribute, *out, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
          &m->apart, sizeof m->apart);
  return WEIR_OK;
}

static weir_status describe(const cuda_products *l, const weir_library_spec *spec, product *made)
{
  const weir_library_product *p = &spec->product;
  cublasOperation_t left, right;

  WEIR_TRY(operation_of(&p->b, p->k, p->n, &left));
  WEIR_TRY(operation_of(&p->a, p->m, p->k, &right));
  LT_CALL(l, cublasLtMatmulDescCreate, &made->how, compute_of(spec), type_of(p->dtype));
  LT_CALL(l, cublasLtMatmulDescSetAttribute, made->how, CUBLASLT_MATMUL_DESC_TRANSA, &left,
          sizeof left);
  LT_CALL(l, cublasLtMatmulDescSetAttribute, made->how, CUBLASLT_MATMUL_DESC_TRANSB, &right,
          sizeof right);
  WEIR_TRY(make_layout(l, p->dtype, &p->b, p->k, p->n, p->stack, left == CUBLAS_OP_N, &made->left));
  WEIR_TRY(
      make_layout(l, p->dtype, &p->a, p->m, p->k, p->stack, right == CUBLAS_OP_N, &made->right));
  WEIR_TRY(make_layout(l, p->dtype, &p->c, p->m, p->n, p->stack, true, &made->made));
  return WEIR_OK;
}

/* The same order of sums in every run: parts of a sum are not added in the result's memory. */
static weir_status ask(const cuda_products *l, cublasLtMatmulPreference_t wish, product *p,
                       int64_t *workspace)
{
  static const cublasLtMatmulPreferenceAttributes_t aligned[] = {
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
  const uint64_t most = (uint64_t)CUDA_WORKSPACE;
  const uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, align = 16;
  cublasLtMatmulHeuristicResult_t result;
  int n = 0;

  LT_CALL(l, cublasLtMatmulPreferenceSetAttribute, wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
          &most, sizeof most);
  LT_CALL(l, cublasLtMatmulPreferenceSetAttribute, wish, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
          &schemes, sizeof schemes);
  for (int k = 0; k < 4; k++) {
    LT_CALL(l, cublasLtMatmulPreferenceSetAttribute, wish, aligned[k], &align, sizeof align);
  }
  LT_CALL(l, cublasLtMatmulAlgoGetHeuristic, l->handle, p->how, p->left, p->right, p->made, p->made,
          wish, 1, &result, &n);
  if (n == 0 || result.state != CUBLAS_STATUS_SUCCESS) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "device cuda: cuBLASLt has no algorithm for a product");
  }
  p->algorithm = result.algo;
  *workspace = (int64_t)result.workspaceSize;
  return WEIR_OK;
}

static weir_status choose(const cuda_products *l, product *p, int64_t *workspace)
{
  cublasLtMatmulPreference_t wish = NULL;

  LT_CALL(l, cublasLtMatmulPreferenceCreate, &wish);
  const weir_status status = ask(l, wish, p, workspace);

  (void)l->cublasLtMatmulPreferenceDestroy_(wish);
  return status == WEIR_OK ? WEIR_OK : weir_trace_at(status, __FILE__, __LINE__, __func__);
}

weir_status cuda_product_create(weir_library_call *call)
{
  cuda_state *s = cuda_enter(call->device);
  weir_status status = WEIR_OK;

  WEIR_TRY(open_products(s));
  WEIR_TRY(weir_alloc(1, sizeof(product), &call->state));
  WEIR_TRY_GOTO(describe(s->products, &call->spec, call->state), failed);
  WEIR_TRY_GOTO(choose(s->products, call->state, &call->workspace_bytes), failed);
  return WEIR_OK;
failed:
  cuda_product_destroy(call);
  return status;
}

void cuda_product_destroy(weir_library_call *call)
{
  const cuda_state *s = call->device->state;
  const cuda_products *l = s->products;
  product *p = call->state;

  if (p != NULL) { /* the library takes NULL as nothing to destroy */
    (void)(p->how == NULL ? 0 : l->cublasLtMatmulDescDestroy_(p->how));
    (void)(p->left == NULL ? 0 : l->cublasLtMatrixLayoutDestroy_(p->left));
    (void)(p->right == NULL ? 0 : l->cublasLtMatrixLayoutDestroy_(p->right));
    (void)(p->made == NULL ? 0 : l->cublasLtMatrixLayoutDestroy_(p->made));
    weir_free(&call->state);
  }
}

weir_status cuda_product_run(const cuda_state *s, CUstream stream, const device_op *op)
{
  const cuda_products *l = s->products;
  const product *p = op->call->state;
  const double one[2] = {1, 0}, zero[2] = {0, 0};
  const float one_f[2] = {1, 0}, zero_f[2] = {0, 0};
  const bool wide = weir_dtype_part(op->call->spec.product.dtype) == WEIR_F64;

  LT_CALL(l, cublasLtMatmul, l->handle, p->how, wide ? (const void *)one : one_f, op->operand[1],
          p->left, op->operand[0], p->right, wide ? (const void *)zero : zero_f, op->operand[2],
          p->made, op->operand[2], p->made, &p->algorithm, op->workspace,
          (size_t)op->call->workspace_bytes, stream);
  return WEIR_OK;
}
#else
weir_status cuda_product_create(weir_library_call *call)
{
  (void)call;
  return weir_fail(WEIR_ERR_UNSUPPORTED, "device cuda: built without the headers of cuBLASLt");
}

void cuda_product_destroy(weir_library_call *call)
{
  (void)call;
}

weir_status cuda_product_run(const cuda_state *s, CUstream stream, const device_op *op)
{
  (void)s;
  (void)stream;
  (void)op;
  return WEIR_ERR_UNSUPPORTED;
}

void cuda_product_close(cuda_state *s)
{
  (void)s;
}
#endif
