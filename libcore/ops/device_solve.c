/* device_solve.c - see weir_device_solve.h. A block eliminates [a b] with partial pivoting (Golub
 * and Van Loan 2013, algorithm 3.4.1), in shared memory where it fits, else in the workspace. */
#include "ops/weir_device_solve.h"

#include <inttypes.h>
#include <string.h>

#include "ops/weir_batch.h"
#include "ops/weir_device_text.h"

enum { THREADS = 128, SHARED_BYTES = 40 << 10 };
/* Bytes of the workspace, at most. */
#define MAX_WORKSPACE ((int64_t)1 << 30)

/* Flop/s of one GPU, about: kernels are compared with one another alone. */
static const double rate = 1e12;

typedef struct systems {
  const weir_access *access; /* the graph's */
  const weir_device_kernel *kernel;
  weir_kernel_grid grid;
  int64_t bytes[WEIR_DEVICE_WORDS]; /* of the operands, then of the workspace */
  int n_operands;
} systems;

/* ---- Which systems. ---- */

/* Rows with b: a, b, and a row of marks. */
static int64_t elements_of(const weir_operand *x)
{
  const int64_t n = x->extent[x->rank - 2], k = x->extent[x->rank - 1];

  return (n + 1) * (n + k);
}

static int64_t count(const weir_access *a)
{
  const weir_box whole = weir_iterations(a);

  return weir_batch_count(a, &whole);
}

/* Bytes of the workspace, 0: shared memory has a system. */
static int64_t workspace_of(const weir_access *a)
{
  const weir_operand *x = &a->out[0];
  const int64_t one = elements_of(x) * (int64_t)weir_dtype_size(x->dtype);

  return one <= SHARED_BYTES ? 0 : one * count(a);
}

double weir_device_solve_match(const weir_graph *g, const weir_group *group, const weir_op_desc *op)
{
  const weir_node *node = weir_graph_node(g, group->nodes[group->n_nodes - 1]);
  const weir_access *a = &node->access;
  bool plain = group->n_nodes == 1 && node->op == op;

  for (int k = 0; plain && k < a->n_dims; k++) {
    plain = !a->dim[k].time && a->dim[k].lo == 0 && a->dim[k].hi > 0 &&
            a->dim[k].hi <= (a->dim[k].kind == WEIR_PARALLEL ? INT32_MAX : WEIR_DEVICE_SOLVE_ROWS);
  }
  if (!plain || count(a) > INT32_MAX || workspace_of(a) > MAX_WORKSPACE) {
    return -1;
  }
  return weir_batch_seconds(g, group, op, rate);
}

/* ---- The text. ---- */

static const char real_text[] = "typedef real num;\n"
                                "__device__ num number(real re) { return re; }\n"
                                "__device__ num none_of(real re) { return re; }\n"
                                "__device__ num conjugate(num a) { return a; }\n"
                                "__device__ real size_of(num a) { return a < 0 ? -a : a; }\n"
                                "__device__ int is_finite(num a) { return a - a == 0; }\n"
                                "__device__ num less(num a, num b, num c) { return a - b * c; }\n"
                                "__device__ num divide(num a, num b) { return a / b; }\n";

/* Quotients by Smith's method. */
static const char complex_text[] =
    "typedef struct num {\n  real re, im;\n} num;\n"
    "__device__ num pair(real re, real im)\n{\n"
    "  num z;\n\n  z.re = re;\n  z.im = im;\n  return z;\n}\n"
    "__device__ num number(real re) { return pair(re, 0); }\n"
    "__device__ num none_of(real re) { return pair(re, re); }\n"
    "__device__ num conjugate(num a) { return pair(a.re, -a.im); }\n"
    "__device__ real size_of(num a)\n{\n"
    "  return (a.re < 0 ? -a.re : a.re) + (a.im < 0 ? -a.im : a.im);\n}\n"
    "__device__ int is_finite(num a) { return a.re - a.re == 0 && a.im - a.im == 0; }\n"
    "__device__ num less(num a, num b, num c)\n{\n"
    "  return pair(a.re - (b.re * c.re - b.im * c.im), a.im - (b.re * c.im + b.im * c.re));\n}\n"
    "__device__ num divide(num a, num b)\n{\n"
    "  const int tall = (b.re < 0 ? -b.re : b.re) >= (b.im < 0 ? -b.im : b.im);\n"
    "  const real r = tall ? b.im / b.re : b.re / b.im;\n"
    "  const real d = tall ? b.re + b.im * r : b.re * r + b.im;\n\n"
    "  return tall ? pair((a.re + a.im * r) / d, (a.im - a.re * r) / d)\n"
    "              : pair((a.re * r + a.im) / d, (a.im * r - a.re) / d);\n}\n";

/* The row of w after those of the system marks the columns of b that are not finite. */
static const char load_text[] =
    "  if (thread == 0) {\n    wrong = 0;\n  }\n"
    "  for (int e = thread; e < M; e += T) {\n    w[N * M + e] = number(0);\n  }\n"
    "  __syncthreads();\n"
    "  for (int e = thread; e < N * M; e += T) {\n"
    "    const int r = e / M, c = e % M;\n"
    "    const num z = c < N ? A(r, c) : B(r, c - N);\n\n"
    "    if (!is_finite(z) && c < N) {\n      wrong = 1;\n"
    "    } else if (!is_finite(z)) {\n      w[N * M + c] = number(1);\n    }\n"
    "    w[e] = z;\n  }\n"
    "  __syncthreads();\n";

/* Of equal pivots the first row's. A pivot of 0 leaves its column as it is. */
static const char eliminate_text[] =
    "  for (int s = 0; s < N; s++) {\n"
    "    real most = -1;\n    int row = s;\n\n"
    "    for (int r = s + thread; r < N; r += T) {\n"
    "      const real size = size_of(w[r * M + s]);\n\n"
    "      row = size > most ? r : row;\n      most = size > most ? size : most;\n    }\n"
    "    best[thread] = most;\n    best_row[thread] = row;\n"
    "    __syncthreads();\n"
    "    for (int t = 1; t < T && thread == 0; t++) {\n"
    "      if (best[t] > best[0] || (best[t] == best[0] && best_row[t] < best_row[0])) {\n"
    "        best[0] = best[t];\n        best_row[0] = best_row[t];\n      }\n    }\n"
    "    if (thread == 0 && best[0] == 0) {\n      wrong = 1;\n    }\n"
    "    __syncthreads();\n"
    "    const int q = best_row[0], regular = best[0] != 0;\n\n"
    "    for (int c = s + thread; c < M && q != s; c += T) {\n"
    "      const num z = w[s * M + c];\n\n"
    "      w[s * M + c] = w[q * M + c];\n      w[q * M + c] = z;\n    }\n"
    "    __syncthreads();\n"
    "    for (int r = s + 1 + thread; r < N && regular; r += T) {\n"
    "      w[r * M + s] = divide(w[r * M + s], w[s * M + s]);\n    }\n"
    "    __syncthreads();\n"
    "    const int columns = M - 1 - s;\n\n"
    "    for (int e = thread; e < (N - 1 - s) * columns && regular; e += T) {\n"
    "      const int r = s + 1 + e / columns, c = s + 1 + e % columns;\n\n"
    "      w[r * M + c] = less(w[r * M + c], w[r * M + s], w[s * M + c]);\n    }\n"
    "    __syncthreads();\n  }\n";

static const char substitute_text[] =
    "  for (int s = N - 1; s >= 0; s--) {\n"
    "    for (int c = N + thread; c < M; c += T) {\n"
    "      w[s * M + c] = divide(w[s * M + c], w[s * M + s]);\n    }\n"
    "    __syncthreads();\n"
    "    for (int e = thread; e < s * (M - N); e += T) {\n"
    "      const int r = e / (M - N), c = N + e % (M - N);\n\n"
    "      w[r * M + c] = less(w[r * M + c], w[r * M + s], w[s * M + c]);\n    }\n"
    "    __syncthreads();\n  }\n"
    "  real none = 0;\n\n  none = none / none;\n"
    "  for (int e = thread; e < N * (M - N); e += T) {\n"
    "    const int r = e / (M - N), c = N + e % (M - N);\n\n"
    "    x[e] = wrong || size_of(w[N * M + c]) > 0 ? none_of(none) : w[r * M + c];\n  }\n";

/* Where the matrices of system blockIdx.x begin. */
static void put_places(const weir_access *a, char *text)
{
  static const char *const names[] = {"a", "b", "x"};
  const int n_in = a->n_in;

  weir_device_text_put(text, "  long long left = blockIdx.x, a0 = 0, x0 = 0%s;\n",
                       n_in == 2 ? ", b0 = 0" : "");
  for (int j = a->n_dims - 1; j >= 0; j--) {
    if (a->dim[j].kind != WEIR_PARALLEL) {
      continue;
    }
    weir_device_text_put(text,
                         "  const long long at%d = left %% %" PRId64 ";\n  left /= %" PRId64 ";\n",
                         j, a->dim[j].hi, a->dim[j].hi);
    for (int k = 0; k <= n_in; k++) {
      const weir_operand *o = k < n_in ? &a->in[k] : &a->out[0];
      int64_t step = 0;

      for (int d = 0; d < o->rank - 2; d++) {
        step += o->index[d].coef[j] * weir_operand_stride(o, d);
      }
      weir_device_text_put(text, "  %s0 += at%d * %" PRId64 ";\n", names[k < n_in ? k : 2], j,
                           step);
    }
  }
  weir_device_text_put(text,
                       "  (void)left;\n  const num *const a = (const num *)p.word[0] + a0;\n");
  if (n_in == 2) {
    weir_device_text_put(text, "  const num *const b = (const num *)p.word[1] + b0;\n");
  }
  weir_device_text_put(text, "  num *const x = (num *)p.word[%d] + x0;\n", n_in);
}

static void put_helpers(const weir_access *a, const weir_device_systems *how, char *text)
{
  const weir_operand *x = &a->out[0];
  const bool complex = weir_dtype_is_complex(x->dtype);
  const int64_t n = x->extent[x->rank - 2], k = x->extent[x->rank - 1];

  text[0] = '\0';
  weir_device_text_put(text, "typedef %s real;\n",
                       weir_dtype_part(x->dtype) == WEIR_F32 ? "float" : "double");
  weir_device_text_put(text, "%s", complex ? complex_text : real_text);
  weir_device_text_put(text, "#define N %d\n#define M %d\n#define T %d\n", (int)n, (int)(n + k),
                       THREADS);
  weir_device_text_put(text, "#define A(r, c) %s(a[%s])\n", how->conjugated ? "conjugate" : "",
                       how->transposed ? "(c) * N + (r)" : "(r) * N + (c)");
  weir_device_text_put(text, "#define B(r, c) %s\n",
                       a->n_in == 2 ? "b[(r) * (M - N) + (c)]" : "number((r) == (c))");
}

static void put_body(const weir_access *a, char *text)
{
  text[0] = '\0';
  weir_device_text_put(text, "  __shared__ int wrong, best_row[T];\n  __shared__ real best[T];\n");
  if (workspace_of(a) == 0) {
    weir_device_text_put(text, "  __shared__ num w[(N + 1) * M];\n");
  } else {
    weir_device_text_put(text,
                         "  num *const w = (num *)p.word[%d] + (long long)blockIdx.x * ((N + 1) * "
                         "M);\n",
                         a->n_in + 1);
  }
  weir_device_text_put(text, "  const int thread = threadIdx.x;\n");
  put_places(a, text);
  weir_device_text_put(text, "%s%s%s", load_text, eliminate_text, substitute_text);
}

/* ---- The kernel. ---- */

static int64_t bytes_of(const weir_operand *o)
{
  int64_t n = (int64_t)weir_dtype_size(o->dtype);

  for (int d = 0; d < o->rank; d++) {
    n *= o->extent[d];
  }
  return n;
}

weir_status weir_device_solve_open(const weir_graph *g, const weir_group *group,
                                   const weir_device_systems *how, const weir_kernel_maker *maker,
                                   void **context, int64_t *workspace)
{
  const weir_access *a = &weir_graph_node(g, group->nodes[group->n_nodes - 1])->access;
  char helpers[WEIR_DEVICE_TEXT], body[WEIR_DEVICE_TEXT];
  const int64_t n = count(a), each = elements_of(&a->out[0]);
  void *memory = NULL;

  WEIR_TRY(weir_alloc(1, sizeof(systems), &memory));
  systems *s = memory;

  s->n_operands = a->n_in + 1;
  for (int k = 0; k < s->n_operands; k++) {
    s->bytes[k] = bytes_of(k < a->n_in ? &a->in[k] : &a->out[0]);
  }
  s->bytes[s->n_operands] = *workspace = workspace_of(a);
  s->grid = (weir_kernel_grid){.blocks = n,
                               .threads = THREADS,
                               .bytes = n * each * (int64_t)weir_dtype_size(a->out[0].dtype) +
                                        s->bytes[a->n_in]};
  put_helpers(a, how, helpers);
  put_body(a, body);
  const weir_status status =
      weir_device_text_make(maker, "systems", helpers, body, &s->grid, &s->kernel);

  if (status != WEIR_OK) {
    weir_free(&memory);
  }
  WEIR_TRY(status);
  *context = s;
  return WEIR_OK;
}

void weir_device_solve_release(void *context)
{
  weir_free(&context);
}

weir_status weir_device_solve_launch(const weir_kernel_launch *l)
{
  const systems *s = l->context;
  const int n = s->n_operands;
  weir_device_range ranges[WEIR_DEVICE_WORDS];

  for (int k = 0; k < n; k++) {
    ranges[k] = (weir_device_range){l->views[k].data, s->bytes[k],
                                    k < n - 1 ? WEIR_DEVICE_READ : WEIR_DEVICE_WRITE};
  }
  ranges[n] = (weir_device_range){l->workspace, s->bytes[n], WEIR_DEVICE_WRITE};
  WEIR_TRY(weir_device_text_launch(l->queue, s->kernel, &s->grid, ranges, n + (s->bytes[n] > 0)));
  return WEIR_OK;
}
