/* device_library.c - calls of a device's libraries: checked, compared with plain sums, and run. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "device/device_priv.h"
#include "device/host_library.h"

int device_library_operands(const weir_library_spec *spec)
{
  return spec->kind == WEIR_LIBRARY_TRANSFORM ? 2 : WEIR_LIBRARY_OPERANDS;
}

int device_library_made(const weir_library_spec *spec)
{
  return spec->kind == WEIR_LIBRARY_CONVOLUTION ? spec->convolution.made
                                                : device_library_operands(spec) - 1;
}

/* Reads operand 0, and leaves other numbers there. */
static bool spoils(const weir_library_spec *spec)
{
  return spec->kind == WEIR_LIBRARY_TRANSFORM && spec->transform.kind == WEIR_LIBRARY_TO_REAL;
}

/* Whether x, or y, is the real side of a transform. */
static bool is_real(const weir_library_transform *t, int operand)
{
  return t->kind == (operand == 0 ? WEIR_LIBRARY_REAL : WEIR_LIBRARY_TO_REAL);
}

weir_dtype weir_library_dtype(const weir_library_spec *spec, int operand)
{
  const weir_library_convolution *c = &spec->convolution;
  const weir_library_transform *t = &spec->transform;

  if (spec->kind == WEIR_LIBRARY_TRANSFORM) {
    return is_real(t, operand) ? t->part : weir_dtype_complex(t->part);
  }
  return spec->kind == WEIR_LIBRARY_PRODUCT ? spec->product.dtype
         : operand == 0                     ? c->x
         : operand == 1                     ? c->w
                                            : c->y;
}

/* Up to the last element of a matrix; -1: too many. */
static int64_t elements_of(const weir_library_matrix *m, int64_t rows, int64_t columns,
                           int64_t stack)
{
  int64_t down, across, apart;

  if (!weir_mul_ok(rows - 1, m->down, &down) || !weir_mul_ok(columns - 1, m->across, &across) ||
      !weir_mul_ok(stack - 1, m->apart, &apart) || down > INT64_MAX / 4 || across > INT64_MAX / 4 ||
      apart > INT64_MAX / 4) {
    return -1;
  }
  return down + across + apart + 1;
}

static int64_t times(int64_t count, const int64_t *n, int d)
{
  for (int k = 0; k < d && count >= 0; k++) {
    count = weir_mul_ok(count, n[k], &count) ? count : -1;
  }
  return count;
}

/* Of the complex side of a real transform, half along the last dimension. */
static int64_t transformed(const weir_library_transform *t, int operand)
{
  const bool half = t->kind >= WEIR_LIBRARY_REAL && !is_real(t, operand);
  const int64_t last = t->n[t->rank - 1], ends[] = {half ? last / 2 + 1 : last, t->inner};

  return times(times(t->outer, t->n, t->rank - 1), ends, 2);
}

int64_t weir_library_elements(const weir_library_spec *spec, int operand)
{
  const weir_library_product *p = &spec->product;
  const weir_library_convolution *c = &spec->convolution;

  if (spec->kind == WEIR_LIBRARY_PRODUCT) {
    return operand == 0   ? elements_of(&p->a, p->m, p->k, p->stack)
           : operand == 1 ? elements_of(&p->b, p->k, p->n, p->stack)
                          : elements_of(&p->c, p->m, p->n, p->stack);
  }
  if (spec->kind == WEIR_LIBRARY_TRANSFORM) {
    return transformed(&spec->transform, operand);
  }
  const int64_t x[] = {c->groups, c->in}, w[] = {c->out, c->in}, y[] = {c->groups, c->out};

  return operand == 0   ? times(times(c->n, c->x_extent, c->d), x, 2)
         : operand == 1 ? times(times(c->groups, c->taps, c->d), w, 2)
                        : times(times(c->n, c->y_extent, c->d), y, 2);
}

static int64_t bytes_of(const weir_library_spec *spec, int operand)
{
  return weir_library_elements(spec, operand) *
         (int64_t)weir_dtype_size(weir_library_dtype(spec, operand));
}

/* ---- What a spec may be. ---- */

/* Its rows, or its columns, lie together and apart from one another. */
static bool is_matrix(const weir_library_matrix *m, int64_t rows, int64_t columns)
{
  return m->down > 0 && m->across > 0 && m->apart >= 0 &&
         ((m->across == 1 && (m->down >= columns || rows == 1)) ||
          (m->down == 1 && (m->across >= rows || columns == 1)));
}

static bool is_product(const weir_library_product *p)
{
  const weir_kind kind = weir_dtype_kind(p->dtype);
  int64_t elements;

  if (!weir_mul_ok(p->m, p->n, &elements) || !weir_mul_ok(elements, p->stack, &elements) ||
      elements_of(&p->c, p->m, p->n, p->stack) != elements) {
    return false;
  }
  return (kind == WEIR_KIND_REAL || kind == WEIR_KIND_COMPLEX) &&
         !weir_dtype_is_storage(p->dtype) && p->m > 0 && p->n > 0 && p->k > 0 && p->stack > 0 &&
         p->stack <= INT32_MAX && is_matrix(&p->a, p->m, p->k) && is_matrix(&p->b, p->k, p->n) &&
         is_matrix(&p->c, p->m, p->n) && p->c.across == 1 && !p->c.conjugated;
}

static bool is_convolution(const weir_library_convolution *c)
{
  const weir_dtype dtype[] = {c->x, c->w, c->y};
  int n_f64 = 0, n_f32 = 0;
  bool right = c->d >= 1 && c->d <= WEIR_LIBRARY_DIMS && c->made >= 0 &&
               c->made < WEIR_LIBRARY_OPERANDS && c->n > 0 && c->groups > 0 && c->in > 0 &&
               c->out > 0;

  for (int k = 0; k < WEIR_LIBRARY_OPERANDS; k++) {
    n_f64 += dtype[k] == WEIR_F64;
    n_f32 += dtype[k] == WEIR_F32 || dtype[k] == WEIR_BF16;
  }
  for (int k = 0; right && k < c->d; k++) {
    right = c->x_extent[k] > 0 && c->y_extent[k] > 0 && c->taps[k] > 0 && c->stride[k] > 0 &&
            c->dilation[k] > 0 && c->lo[k] >= 0;
  }
  return right && (n_f64 == WEIR_LIBRARY_OPERANDS || n_f32 == WEIR_LIBRARY_OPERANDS);
}

static bool is_transform(const weir_library_transform *t)
{
  bool right = t->kind >= WEIR_LIBRARY_FORWARD && t->kind <= WEIR_LIBRARY_TO_REAL &&
               (t->part == WEIR_F32 || t->part == WEIR_F64) && t->rank >= 1 &&
               t->rank <= WEIR_LIBRARY_DIMS && t->outer > 0 && t->inner > 0;

  for (int k = 0; right && k < t->rank; k++) {
    right = t->n[k] > 0 && t->n[k] <= INT32_MAX;
  }
  return right;
}

bool weir_library_is_call(const weir_library_spec *spec)
{
  bool right = spec->kind == WEIR_LIBRARY_PRODUCT       ? is_product(&spec->product)
               : spec->kind == WEIR_LIBRARY_CONVOLUTION ? is_convolution(&spec->convolution)
               : spec->kind == WEIR_LIBRARY_TRANSFORM   ? is_transform(&spec->transform)
                                                        : false;

  for (int k = 0; right && k < device_library_operands(spec); k++) {
    right = weir_library_elements(spec, k) > 0 && weir_library_elements(spec, k) < INT64_MAX / 16;
  }
  return right;
}

/* ---- Runs. ---- */

weir_status weir_library_run(weir_device_queue *queue, const weir_library_call *call,
                             void *const operand[WEIR_LIBRARY_OPERANDS], void *workspace)
{
  const int made = device_library_made(&call->spec), n = device_library_operands(&call->spec);
  weir_device_range ranges[WEIR_LIBRARY_OPERANDS + 1];
  device_op op = {.kind = DEVICE_LIBRARY, .call = call, .workspace = workspace};

  for (int k = 0; k < n; k++) {
    op.operand[k] = operand[k];
    ranges[k] = (weir_device_range){operand[k], bytes_of(&call->spec, k),
                                    k == made             ? WEIR_DEVICE_WRITE
                                    : spoils(&call->spec) ? WEIR_DEVICE_UPDATE
                                                          : WEIR_DEVICE_READ};
  }
  ranges[n] = (weir_device_range){workspace, call->workspace_bytes, WEIR_DEVICE_WRITE};
  WEIR_TRY(device_enqueue(queue, &op, "a library call", ranges, n + 1));
  return WEIR_OK;
}

void weir_library_destroy(weir_library_call **call)
{
  if (*call != NULL) {
    if ((*call)->device->ops->library_destroy != NULL) {
      (*call)->device->ops->library_destroy(*call);
    }
    weir_free(call);
  }
}

const weir_library_spec *weir_library_spec_of(const weir_library_call *call)
{
  return &call->spec;
}

int64_t weir_library_workspace(const weir_library_call *call)
{
  return call->workspace_bytes;
}

/* ---- The first call, compared. ---- */

enum { ALIGN = 16 }; /* of operands, bytes */

/* Memory of a check: operands on the device and in staging, then the workspace. */
typedef struct checked {
  weir_device_arena *memory, *staging;
  void *on_device[WEIR_LIBRARY_OPERANDS + 1], *on_host[WEIR_LIBRARY_OPERANDS];
  weir_device_queue *queue;
} checked;

static void checked_free(checked *c)
{
  weir_device_queue_destroy(&c->queue);
  weir_device_arena_destroy(&c->memory);
  weir_device_arena_destroy(&c->staging);
}

static weir_status checked_make(weir_library_call *call, checked *c)
{
  int64_t bytes[WEIR_LIBRARY_OPERANDS + 1] = {0};

  for (int k = 0; k < device_library_operands(&call->spec); k++) {
    bytes[k] = bytes_of(&call->spec, k) + ALIGN;
  }
  bytes[WEIR_LIBRARY_OPERANDS] = call->workspace_bytes;
  WEIR_TRY(weir_device_arena_create(call->device, WEIR_SPACE_DEVICE, WEIR_LIBRARY_OPERANDS + 1,
                                    bytes, c->on_device, &c->memory));
  WEIR_TRY(weir_device_arena_create(call->device, WEIR_SPACE_STAGING, WEIR_LIBRARY_OPERANDS, bytes,
                                    c->on_host, &c->staging));
  for (int k = 0; k < device_library_operands(&call->spec);
       k++) { /* no better aligned than the call may be */
    c->on_device[k] = (char *)c->on_device[k] + ALIGN;
  }
  WEIR_TRY(weir_device_queue_create(call->device, &c->queue));
  return WEIR_OK;
}

/* Numbers in [-1, 1) that tf32 has to round. */
static void fill(weir_dtype dtype, void *data, int64_t n, uint64_t seed)
{
  const int parts = weir_dtype_parts(dtype);
  const weir_dtype part = weir_dtype_part(dtype);

  for (int64_t i = 0; i < n * parts; i++) {
    const uint64_t bits = weir_random_bits(seed, 0, 0, (uint64_t)i) >> 11;

    weir_dtype_store_real(part, data, i, (double)bits * 0x1p-52 - 1);
  }
}

/* Half a unit in the last place of numbers near 1. */
static double rounding_of(weir_dtype dtype)
{
  const weir_dtype part = weir_dtype_part(dtype);

  return part == WEIR_F64 ? DBL_EPSILON / 2 : part == WEIR_BF16 ? 0x1p-8 : FLT_EPSILON / 2.0;
}

/* Largest error of an element, given the sum of the magnitudes of what it adds up. Sums of n
 * products in any order are within (n + 1) roundings of that sum; a random walk of roundings is
 * within a few times sqrt(n), which is what libraries reach. */
static double bound_of(const weir_library_spec *spec, double size, double value)
{
  const weir_dtype made = weir_library_dtype(spec, device_library_made(spec));
  const weir_dtype sum = weir_dtype_compute_type(made);
  const double factors = spec->tf32 && weir_dtype_part(sum) == WEIR_F32 ? 0x1p-10 : 0;
  const double slack = 32;

  return size * (slack * rounding_of(sum) + factors) + fabs(value) * rounding_of(made);
}

enum { SAMPLES = 256, WHOLE = 4096, LEAST = 4 };
/* Products that a check adds up on the host: about a second. */
static const double most_products = 1 << 25;

/* Products in one element of the result, at most. */
static double products_of(const weir_library_spec *spec)
{
  const weir_library_convolution *c = &spec->convolution;
  double taps = 1, pixels = (double)c->n;

  if (spec->kind == WEIR_LIBRARY_PRODUCT) {
    return (double)spec->product.k;
  }
  if (spec->kind == WEIR_LIBRARY_TRANSFORM) {
    return (double)(weir_library_elements(spec, 0) / spec->transform.outer / spec->transform.inner);
  }
  for (int k = 0; k < c->d; k++) {
    taps *= (double)c->taps[k];
    pixels *= (double)c->y_extent[k];
  }
  return c->made == 1 ? pixels : taps * (double)(c->made == 0 ? c->out : c->in);
}

/* Elements that are compared, of n. */
static int64_t samples_of(const weir_library_spec *spec, int64_t n)
{
  const int64_t wanted = n <= WHOLE ? n : SAMPLES;
  const double most = most_products / products_of(spec);

  return most >= (double)wanted ? wanted : most > LEAST ? (int64_t)most : n < LEAST ? n : LEAST;
}

static weir_status compare(const weir_library_call *call, const checked *c)
{
  static const char *const names[] = {"matrix product", "convolution", "Fourier transform"};
  const weir_library_spec *spec = &call->spec;
  const int made = device_library_made(spec);
  const int64_t n = weir_library_elements(spec, made), samples = samples_of(spec, n);
  const void *operand[] = {c->on_host[0], c->on_host[1], c->on_host[2]};

  for (int64_t i = 0; i < samples; i++) {
    const int64_t e =
        samples == n ? i : (int64_t)(weir_random_bits(1, 0, 0, (uint64_t)i) % (uint64_t)n);
    double size = 0;
    const weir_c128 right = host_library_element(spec, operand, e, &size);
    const weir_c128 got = weir_dtype_load_complex(weir_library_dtype(spec, made), operand[made], e);
    const double error = hypot(got.re - right.re, got.im - right.im);

    if (!(error <= bound_of(spec, size, hypot(right.re, right.im)))) {
      return weir_fail(WEIR_ERR_UNSUPPORTED,
                       "device %s: a library computes element %" PRId64
                       " of a %s as %g, where it is %g: the group runs without it",
                       call->device->row->name, e, names[spec->kind], got.re, right.re);
    }
  }
  return WEIR_OK;
}

weir_status device_library_check(weir_library_call *call)
{
  const int made = device_library_made(&call->spec);
  weir_status status = WEIR_OK;
  checked c = {0};

  WEIR_TRY_GOTO(checked_make(call, &c), done);
  for (int k = 0; k < device_library_operands(&call->spec); k++) {
    fill(weir_library_dtype(&call->spec, k), c.on_host[k], weir_library_elements(&call->spec, k),
         (uint64_t)k + 1);
    WEIR_TRY_GOTO(weir_device_copy(c.queue, c.on_device[k], c.on_host[k], bytes_of(&call->spec, k)),
                  done);
  }
  WEIR_TRY_GOTO(weir_library_run(c.queue, call, c.on_device, c.on_device[WEIR_LIBRARY_OPERANDS]),
                done);
  WEIR_TRY_GOTO(
      weir_device_copy(c.queue, c.on_host[made], c.on_device[made], bytes_of(&call->spec, made)),
      done);
  WEIR_TRY_GOTO(weir_device_queue_sync(c.queue), done);
  WEIR_TRY_GOTO(compare(call, &c), done);
done:
  checked_free(&c);
  return status;
}

/* Whether the device has passed this call before; notes it if not. */
static weir_status pass_once(weir_device *d, weir_library_call *call)
{
  for (int64_t i = 0; i < d->n_passed; i++) {
    if (memcmp(&d->passed[i], &call->spec, sizeof call->spec) == 0) {
      return WEIR_OK;
    }
  }
  WEIR_TRY(device_library_check(call));
  WEIR_TRY(weir_reserve(&d->passed, &d->passed_capacity, d->n_passed + 1, sizeof *d->passed));
  memcpy(&d->passed[d->n_passed++], &call->spec, sizeof call->spec);
  return WEIR_OK;
}

weir_status weir_library_create(weir_device *device, const weir_library_spec *spec, bool compare,
                                weir_library_call **out)
{
  weir_status status = WEIR_OK;
  void *memory = NULL;

  *out = NULL;
  if (!weir_library_is_call(spec)) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "device library: a call with sizes, steps or dtypes that are none");
  }
  if (device->ops->library_create == NULL) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "device %s: no libraries", device->row->name);
  }
  WEIR_TRY(weir_alloc(1, sizeof(weir_library_call), &memory));
  weir_library_call *call = memory;

  call->device = device;
  memcpy(&call->spec, spec, sizeof *spec);
  WEIR_TRY_GOTO(device->ops->library_create(call), failed);
  status = compare ? pass_once(device, call) : WEIR_OK;
  if (status == WEIR_ERR_EXTERNAL) { /* a call that fails is one that the library lacks */
    char why[256];

    (void)snprintf(why, sizeof why, "%s", weir_last_message());
    status = weir_fail(WEIR_ERR_UNSUPPORTED, "%s", why);
  }
  if (status != WEIR_OK) {
    weir_library_destroy(&call);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  *out = call;
  return WEIR_OK;
failed:
  weir_free(&call);
  return status;
}

weir_status weir_library_plan(const char *name, const char *properties,
                              const weir_library_spec *spec, int64_t *workspace)
{
  const weir_device_row *row = NULL;

  *workspace = 0;
  WEIR_TRY(device_find_row(name, &row));
  if (!weir_library_is_call(spec)) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "device library: a call with sizes, steps or dtypes that are none");
  }
  if (row->plan == NULL) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "device %s: libraries tell only where they run", name);
  }
  WEIR_TRY(row->plan(properties, spec, workspace));
  return WEIR_OK;
}
