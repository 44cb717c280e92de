/* conv_library.c - convolutions and their gradients by a device's own library.
 *
 * Kernels bring operands to what the library takes, in the workspace, and its result back: weights
 * in the order [output channels, taps, input channels], borders that wrap, replicate or reflect
 * written out. cuDNN makes results in the dtype of the operands only: those in f32 of bf16 are made
 * from operands widened to f32, whose numbers tf32 has exactly. */
#include <string.h>

#include "base/weir_alloc.h"
#include "ops/conv/conv_chunks.h"
#include "ops/conv/library/copies.h"

/* Memory of a step: an array (its place in kernel.arrays), or the workspace (-1) from byte `at`. */
typedef struct place {
  int array;
  int64_t at, bytes;
} place;

/* A kernel that makes n elements of `to`. */
typedef struct step {
  const weir_device_kernel *kernel; /* NULL: the plan does not run */
  weir_kernel_grid grid;
  place from, to;
} step;

enum { STEPS = 6, X_ARRAY = 0, Y_ARRAY = 1, W_ARRAY = 2 };

typedef struct convolution {
  weir_library_call *call;
  const weir_kernel_maker *maker; /* while the kernel is made */
  step steps[STEPS];
  int n_before, n_steps;                /* before the call, and all */
  place operand[WEIR_LIBRARY_OPERANDS]; /* of the call */
  int64_t used;                         /* bytes of the workspace before the library's own */
} convolution;

static bool is_plain(const conv_form *f)
{
  bool plain = f->dtype == WEIR_F32 || f->dtype == WEIR_F64;

  for (int k = 0; k < f->d; k++) {
    plain = plain && f->lo[k] >= 0;
  }
  return plain;
}

static void spec_of_form(const conv_form *f, weir_library_spec *spec)
{
  static const int made[] = {[CONV_FORWARD] = 2, [CONV_DATA] = 0, [CONV_WEIGHTS] = 1};
  weir_library_convolution *c = &spec->convolution;

  memset(spec, 0, sizeof *spec);
  spec->kind = WEIR_LIBRARY_CONVOLUTION;
  c->made = made[f->kind];
  c->x = f->x_dtype;
  c->w = f->w_dtype;
  c->y = f->y_dtype;
  c->d = f->d;
  c->n = f->n;
  c->groups = f->groups;
  c->in = f->in;
  c->out = f->out;
  for (int k = 0; k < f->d; k++) {
    c->x_extent[k] = f->x_extent[k];
    c->y_extent[k] = f->y_extent[k];
    c->taps[k] = f->kernel_size[k];
    c->stride[k] = f->stride[k];
    c->dilation[k] = f->dilation[k];
    c->lo[k] = f->lo[k];
  }
}

static const weir_operand *operand_of(const weir_access *a, int number)
{
  return number == CONV_FORM_OUTPUT ? &a->out[0] : &a->in[number];
}

static int64_t elements_of(const weir_operand *o)
{
  int64_t n = 1;

  for (int d = 0; d < o->rank; d++) {
    n *= o->extent[d];
  }
  return n;
}

/* The call, without border rules (`inner`); the graph's operands are whole arrays. */
static bool spec_of(const weir_graph *g, const weir_group *group, conv_form *f, conv_form *inner,
                    weir_library_spec *spec)
{
  weir_library_spec outer;

  if (!conv_form_of_group(g, group, f) || !is_plain(f)) {
    return false;
  }
  (void)conv_pad_form(f, inner);
  const weir_access *a = &weir_graph_node(g, group->nodes[group->n_nodes - 1])->access;
  const int operand[] = {f->x, f->w, f->y};

  spec_of_form(f, &outer);
  spec_of_form(inner, spec);
  bool is = weir_library_is_call(spec);

  for (int k = 0; is && k < WEIR_LIBRARY_OPERANDS; k++) {
    is = elements_of(operand_of(a, operand[k])) == weir_library_elements(&outer, k);
  }
  return is;
}

/* Flop/s of one GPU, about: kernels are compared with one another alone. */
static const double rate = 1e13, rate_bf16 = 1e14;

static double match(const weir_graph *g, const weir_group *group)
{
  weir_library_spec spec;
  conv_form f, inner;

  if (!spec_of(g, group, &f, &inner, &spec)) {
    return -1;
  }
  const bool half = f.x_dtype == WEIR_BF16 || f.w_dtype == WEIR_BF16 || f.y_dtype == WEIR_BF16;

  return conv_form_flops(&f) / (half ? rate_bf16 : rate);
}

/* A row-major view of the weights' array. */
static weir_view view_of(const weir_operand *o)
{
  weir_view v = {.dtype = o->dtype, .rank = o->rank};

  for (int d = 0; d < o->rank; d++) {
    v.extent[d] = o->extent[d];
    v.stride[d] = weir_operand_stride(o, d);
  }
  return v;
}

static int64_t bytes_of(const weir_library_spec *spec, int operand)
{
  return weir_library_elements(spec, operand) *
         (int64_t)weir_dtype_size(weir_library_dtype(spec, operand));
}

static place take(convolution *c, int64_t bytes)
{
  const place p = {.array = -1, .at = c->used, .bytes = bytes};

  c->used += (bytes + WEIR_DEVICE_ALIGN - 1) / WEIR_DEVICE_ALIGN * WEIR_DEVICE_ALIGN;
  return p;
}

static weir_status add_step(convolution *c, const char *name, const char *text, int64_t n,
                            place from, place to)
{
  WEIR_ASSERT(c->n_steps < STEPS);
  step *s = &c->steps[c->n_steps++];

  *s = (step){.grid = weir_device_text_grid(n, CONV_COPY_THREADS, from.bytes + to.bytes),
              .from = from,
              .to = to};
  WEIR_TRY(weir_device_text_make(c->maker, name, NULL, text, &s->grid, &s->kernel));
  return WEIR_OK;
}

/* The call that is made instead of one of the graph's operands: a larger gradient by x in the
 * dtype of its sums; of f32, from numbers that bf16 has. Returns whether these are widened. */
static bool adapt(const conv_form *f, bool padded, weir_library_spec *spec)
{
  weir_library_convolution *v = &spec->convolution;
  weir_dtype *const dtype[] = {&v->x, &v->w, &v->y};

  v->x = padded && v->made == 0 ? f->dtype : v->x;
  bool widens = *dtype[v->made] == WEIR_F32;

  for (int k = 0; k < WEIR_LIBRARY_OPERANDS; k++) {
    widens = widens && (k == v->made || *dtype[k] == WEIR_BF16);
  }
  for (int k = 0; k < WEIR_LIBRARY_OPERANDS && widens; k++) {
    *dtype[k] = WEIR_F32;
  }
  spec->tf32 = spec->tf32 || widens;
  return widens;
}

/* Puts an operand into the workspace, with the kernel of that text unless the call makes it. */
static weir_status move(convolution *c, int operand, const char *name, const char *text, int64_t n,
                        weir_dtype dtype)
{
  const place to = take(c, n * (int64_t)weir_dtype_size(dtype));

  if (operand != weir_library_spec_of(c->call)->convolution.made) {
    WEIR_TRY(add_step(c, name, text, n, c->operand[operand], to));
  }
  c->operand[operand] = to;
  return WEIR_OK;
}

/* What the call's operands are, and the steps before it. */
static weir_status bring(const conv_form *f, const conv_form *inner, const conv_weight_strides *s,
                         bool widens, convolution *c)
{
  const weir_library_spec *spec = weir_library_spec_of(c->call);
  const int made = spec->convolution.made;
  const weir_dtype dtype[] = {made == 0 ? f->dtype : f->x_dtype, f->w_dtype, f->y_dtype};
  conv_form without;
  char text[WEIR_DEVICE_TEXT];

  if (!conv_copy_is_packed(f, s)) {
    conv_copy_weights(f, s, weir_library_elements(spec, 1), false, text);
    WEIR_TRY(move(c, 1, "pack", text, weir_library_elements(spec, 1), dtype[1]));
  }
  if (conv_pad_form(f, &without)) {
    conv_copy_padded(f, inner, text);
    WEIR_TRY(move(c, 0, "pad", text, weir_library_elements(spec, 0), dtype[0]));
  }
  for (int k = 0; k < WEIR_LIBRARY_OPERANDS && widens; k++) {
    if (k != made) {
      conv_copy_wider(weir_library_elements(spec, k), text);
      WEIR_TRY(move(c, k, "widen", text, weir_library_elements(spec, k), WEIR_F32));
    }
  }
  c->n_before = c->n_steps;
  return WEIR_OK;
}

/* From the call's result to the graph's. */
static weir_status give(const conv_form *f, const conv_form *inner, const conv_weight_strides *s,
                        place result, convolution *c)
{
  const int made = weir_library_spec_of(c->call)->convolution.made;
  const int64_t size = (int64_t)weir_dtype_size(made == 0 ? f->x_dtype : f->w_dtype);
  const int64_t n = result.bytes / size;
  char text[WEIR_DEVICE_TEXT];

  if (c->operand[made].array >= 0) {
    return WEIR_OK;
  }
  if (made == 1) {
    conv_copy_weights(f, s, n, true, text);
  } else {
    conv_copy_folded(f, inner, text);
  }
  WEIR_TRY(add_step(c, made == 1 ? "unpack" : "fold", text, n, c->operand[made], result));
  return WEIR_OK;
}

static void release(void *context)
{
  convolution *c = context;

  if (c != NULL) {
    weir_library_destroy(&c->call);
    weir_free(&c);
  }
}

static weir_status make(const conv_form *f, const conv_form *inner, const weir_view *w,
                        weir_library_spec *spec, convolution *c)
{
  const conv_weight_strides strides = conv_form_weights(f, w);
  const place result = c->operand[spec->convolution.made];
  conv_form without;
  const bool widens = adapt(f, conv_pad_form(f, &without), spec);

  WEIR_TRY(weir_library_create(c->maker->device, spec, c->maker->runs, &c->call));
  WEIR_TRY(bring(f, inner, &strides, widens, c));
  WEIR_TRY(give(f, inner, &strides, result, c));
  return WEIR_OK;
}

static weir_status open_call(const weir_graph *g, const weir_group *group,
                             const weir_kernel_maker *maker, void **context, int64_t *workspace)
{
  weir_library_spec spec, outer;
  void *memory = NULL;
  conv_form f, inner;
  const bool is = spec_of(g, group, &f, &inner, &spec);

  WEIR_ASSERT(is);
  const weir_access *a = &weir_graph_node(g, group->nodes[group->n_nodes - 1])->access;
  const weir_view view = view_of(operand_of(a, f.w));

  spec.tf32 = maker->tf32;
  spec_of_form(&f, &outer);
  WEIR_TRY(weir_alloc(1, sizeof(convolution), &memory));
  convolution *c = memory;

  *c = (convolution){.maker = maker,
                     .operand = {{X_ARRAY, 0, bytes_of(&outer, 0)},
                                 {W_ARRAY, 0, bytes_of(&outer, 1)},
                                 {Y_ARRAY, 0, bytes_of(&outer, 2)}}};
  const weir_status status = make(&f, &inner, &view, &spec, c);

  if (status != WEIR_OK) {
    release(c);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  c->maker = NULL;
  *workspace = c->used + weir_library_workspace(c->call);
  *context = c;
  return WEIR_OK;
}

static void *address_of(const weir_kernel_launch *l, place p)
{
  return p.array >= 0 ? l->views[p.array].data : (char *)l->workspace + p.at;
}

static weir_status run_step(const weir_kernel_launch *l, const step *s)
{
  const weir_device_range ranges[] = {{address_of(l, s->from), s->from.bytes, WEIR_DEVICE_READ},
                                      {address_of(l, s->to), s->to.bytes, WEIR_DEVICE_WRITE}};

  WEIR_TRY(weir_device_text_launch(l->queue, s->kernel, &s->grid, ranges, 2));
  return WEIR_OK;
}

static weir_status launch(const weir_kernel_launch *l)
{
  const convolution *c = l->context;
  void *operand[WEIR_LIBRARY_OPERANDS];

  for (int k = 0; k < WEIR_LIBRARY_OPERANDS; k++) {
    operand[k] = address_of(l, c->operand[k]);
  }
  for (int k = 0; k < c->n_before; k++) {
    WEIR_TRY(run_step(l, &c->steps[k]));
  }
  WEIR_TRY(weir_library_run(l->queue, c->call, operand, (char *)l->workspace + c->used));
  for (int k = c->n_before; k < c->n_steps; k++) {
    WEIR_TRY(run_step(l, &c->steps[k]));
  }
  return WEIR_OK;
}

static const weir_library_call *call_of(const void *context)
{
  return ((const convolution *)context)->call;
}

const weir_kernel weir_kernel_conv_library = {
    .name = "conv.library",
    .device = WEIR_KERNEL_DEVICE,
    .match = match,
    .arrays = conv_form_arrays,
    .open = open_call,
    .release = release,
    .launch = launch,
    .call = call_of,
};
