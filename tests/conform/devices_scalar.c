/* devices_scalar.c - the scalar operations of graph/weir_scalar.h as code of each device: the bits
 * of the host, whatever compiled them. A NaN is compared as a NaN. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "devices.h"
#include "exec/backend/native/native_priv.h"
#include "graph/weir_scalar.h"

enum { N = 4096, MOST = 40 };

// clang-format off
#define UNARY(X, t)                                                                                \
  X(t, abs) X(t, neg) X(t, round) X(t, floor) X(t, ceil) X(t, sqrt) X(t, exp) X(t, log)            \
  X(t, tanh) X(t, erf) X(t, sin) X(t, cos)
#define BINARY(X, t)                                                                               \
  X(t, add) X(t, sub) X(t, mul) X(t, div) X(t, min) X(t, max) X(t, highest) X(t, lowest) X(t, sign)
// clang-format on
typedef float (*unary_f32)(float);
typedef float (*binary_f32)(float, float);
typedef double (*unary_f64)(double);
typedef double (*binary_f64)(double, double);
#define FUNCTION(t, name) weir_##name##_##t,
#define LINE1(t, name) "y[" #name "_ * n + i] = weir_" #name "_" #t "(a);\n"
#define LINE2(t, name) "y[" #name "_ * n + i] = weir_" #name "_" #t "(a, b);\n"
#define NUMBER(t, name) #name "_, "
#define BODY(t, T)                                                                             \
  "enum { " UNARY(NUMBER, t)                                                                   \
      BINARY(NUMBER, t) "fma_, near_, far_, bf16_, f16_ };\n"                                  \
                        "int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);\n"              \
                        "if (i < n) {\nconst " #T " a = x[i], b = x[n + i];\n" UNARY(LINE1, t) \
                            BINARY(LINE2, t) "y[fma_ * n + i] = weir_fma_" #t "(a, b, a);\n"   \
                                             "y[near_ * n + i] = weir_" #t                     \
                                             "_from_i32(weir_i32_from_" #t "(a));\n"           \
                                             "y[far_ * n + i] = weir_" #t                      \
                                             "_from_i64(weir_i64_from_" #t "(b));\n"           \
                                             "y[bf16_ * n + i] = weir_" #t                     \
                                             "_from_bf16(weir_bf16_from_" #t "(a));\n"         \
                                             "y[f16_ * n + i] = weir_" #t                      \
                                             "_from_f16(weir_f16_from_" #t "(a));\n}"

/* All operations on a and b, in the order of the kernel; how many there are. */
#define EXPECT(t, T)                                                \
  static int expect_##t(T a, T b, T *out)                           \
  {                                                                 \
    static const unary_##t unary[] = {UNARY(FUNCTION, t)};          \
    static const binary_##t binary[] = {BINARY(FUNCTION, t)};       \
    int k = 0;                                                      \
    for (size_t i = 0; i < sizeof unary / sizeof unary[0]; i++) {   \
      out[k++] = unary[i](a);                                       \
    }                                                               \
    for (size_t i = 0; i < sizeof binary / sizeof binary[0]; i++) { \
      out[k++] = binary[i](a, b);                                   \
    }                                                               \
    out[k++] = weir_fma_##t(a, b, a);                               \
    out[k++] = weir_##t##_from_i32(weir_i32_from_##t(a));           \
    out[k++] = weir_##t##_from_i64(weir_i64_from_##t(b));           \
    out[k++] = weir_##t##_from_bf16(weir_bf16_from_##t(a));         \
    out[k++] = weir_##t##_from_f16(weir_f16_from_##t(a));           \
    return k;                                                       \
  }
EXPECT(f32, float)
EXPECT(f64, double)

typedef struct kind {
  const char *name, *in, *out, *body;
  int64_t size;
} kind;
static const kind kinds[] = {
    {"scalar_f32", "const float *", "float *", BODY(f32, float), 4},
    {"scalar_f64", "const double *", "double *", BODY(f64, double), 8},
};

static weir_device_source source_of(const kind *k, const native_text *text,
                                    weir_device_param params[3])
{
  params[0] = (weir_device_param){k->in, "x", 8};
  params[1] = (weir_device_param){k->out, "y", 8};
  params[2] = (weir_device_param){"int", "n", 4};
  return (weir_device_source){
      .name = k->name, .params = params, .n_params = 3, .helpers = text->text, .body = k->body};
}

/* Any bits, numbers of usual size, and the edges. */
static double draw_number(uint64_t seed, uint64_t i, bool single)
{
  static const double edges[] = {0.0,      -0.0,      1.0,   -1.0,      0.5,  1.5,
                                 INFINITY, -INFINITY, NAN,   0x1p-149,  2e9,  -0x1p31,
                                 0x1p63,   -0x1p63,   88.72, -103.9721, 1e22, 0x1.fffffep127};
  const uint64_t bits = weir_random_bits(seed, 9, 0, i);

  if (i < 18 * 18) { /* with the other operand, every pair of edges */
    return edges[seed % 2 == 0 ? i % 18 : i / 18];
  }
  if (i % 2 == 0) {
    return (weir_random_uniform(seed, 10, 0, i) - 0.5) * (i % 4 == 0 ? 8 : 400);
  }
  return single ? (double)weir_float_f32((uint32_t)bits) : weir_float_f64(bits);
}

static bool same(const kind *k, const char *a, const char *b)
{
  float f, g;
  double d, e;

  if (k->size == 4) {
    memcpy(&f, a, 4);
    memcpy(&g, b, 4);
    return memcmp(a, b, 4) == 0 || (isnan(f) && isnan(g));
  }
  memcpy(&d, a, 8);
  memcpy(&e, b, 8);
  return memcmp(a, b, 8) == 0 || (isnan(d) && isnan(e));
}

/* Compares all results; names the first that differs. */
static void check_results(const weir_device *device, const kind *k, const char *in, const char *out)
{
  for (int64_t i = 0; i < N; i++) {
    float f[2], single[MOST];
    double d[2], real[MOST];
    int n = 0;

    if (k->size == 4) {
      memcpy(&f[0], in + 4 * i, 4);
      memcpy(&f[1], in + 4 * (N + i), 4);
      n = expect_f32(f[0], f[1], single);
    } else {
      memcpy(&d[0], in + 8 * i, 8);
      memcpy(&d[1], in + 8 * (N + i), 8);
      n = expect_f64(d[0], d[1], real);
    }
    for (int j = 0; j < n; j++) {
      const char *expected = k->size == 4 ? (const char *)&single[j] : (const char *)&real[j];
      const char *got = out + k->size * (j * N + i);

      if (!same(k, got, expected)) {
        print_error("%s, %s: operation %d of element %d differs from the host's\n",
                    weir_device_name(device), k->name, j, (int)i);
      }
      assert_true(same(k, got, expected));
    }
  }
}

static void run_kind(weir_device *device, const kind *k, uint64_t seed)
{
  float one[MOST];
  weir_device_arena *arenas[4];
  weir_device_queue *queue = NULL;
  weir_device_kernel *kernel = NULL;
  weir_device_param params[3];
  native_text text = {.status = WEIR_OK};
  const int n = N, operations = expect_f32(1, 1, one);
  const int64_t in_bytes = 2 * N * k->size, out_bytes = operations * N * k->size;
  char *in = devices_array(device, WEIR_SPACE_STAGING, in_bytes, &arenas[0]);
  char *out = devices_array(device, WEIR_SPACE_STAGING, out_bytes, &arenas[1]);
  char *x = devices_array(device, WEIR_SPACE_DEVICE, in_bytes, &arenas[2]);
  char *y = devices_array(device, WEIR_SPACE_DEVICE, out_bytes, &arenas[3]);

  native_put_prelude(&text);
  assert_ok(text.status);
  const weir_device_source source = source_of(k, &text, params);
  for (uint64_t i = 0; i < 2 * N; i++) {
    const double number = draw_number(2 * seed + i / N, i % N, k->size == 4);
    const float single = (float)number;
    memcpy(in + (int64_t)i * k->size, k->size == 4 ? (const void *)&single : &number,
           (size_t)k->size);
  }
  assert_ok(weir_device_queue_create(device, &queue));
  assert_ok(weir_device_kernel_create(device, &source, &kernel));
  assert_ok(weir_device_copy(queue, x, in, in_bytes));
  const void *const args[] = {&x, &y, &n};
  const weir_device_range ranges[] = {{x, in_bytes, WEIR_DEVICE_READ},
                                      {y, out_bytes, WEIR_DEVICE_WRITE}};
  assert_ok(weir_device_launch(queue, &(weir_device_launch_spec){.kernel = kernel,
                                                                 .grid = {N / 128, 1, 1},
                                                                 .block = {128, 1, 1},
                                                                 .args = args,
                                                                 .ranges = ranges,
                                                                 .n_ranges = 2}));
  assert_ok(weir_device_copy(queue, out, y, out_bytes));
  assert_ok(weir_device_queue_sync(queue));
  check_results(device, k, in, out);
  weir_device_kernel_destroy(&kernel);
  weir_device_queue_destroy(&queue);
  for (int i = 0; i < 4; i++) {
    weir_device_arena_destroy(&arenas[i]);
  }
  weir_free(&text.text);
}

static void check_scalars(weir_device *device, uint64_t seed)
{
  if (seed == 0) { /* a device compiles long for each */
    run_kind(device, &kinds[0], seed);
    run_kind(device, &kinds[1], seed);
  }
}

void devices_scalar_operations(void **state)
{
  devices_each(check_scalars);
}

void devices_scalars_compile_for_gpus_cuda(void **state)
{
  const char *const architectures[] = {"sm_80", "sm_90", "sm_100"};
  weir_device_param params[3];
  weir_device_usage usage;
  native_text text = {.status = WEIR_OK};

  native_put_prelude(&text);
  assert_ok(text.status);
  for (int k = 0; k < 6; k++) {
    const weir_device_source source = source_of(&kinds[k / 3], &text, params);
    const weir_status status = weir_device_compile("cuda", architectures[k % 3], &source, &usage);

    if (status != WEIR_OK && strstr(weir_last_message(), "is made by a build") != NULL) {
      weir_free(&text.text);
      print_message("this build has no NVRTC: %s\n", weir_last_message());
      skip();
    }
    assert_ok(status);
    assert_int_equal(usage.spill_bytes, 0);
  }
  weir_free(&text.text);
}
