/* conv_library.c - convolutions and their gradients by a device's own library.
 *
 * The library has the weights as [output channels, taps, input channels]; where the graph's array
 * has another order, a kernel copies them to or from the workspace. cuDNN makes gradients by
 * weights in the dtype of x and y only: those of bf16 in f32 are made from x and y widened to f32,
 * whose numbers tf32 has exactly. */
#include <inttypes.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "ops/conv/conv_form.h"
#include "ops/weir_device_text.h"

enum { THREADS = 256 };

typedef struct convolution {
  weir_library_call *call;
  const weir_device_kernel *pack;     /* NULL: the orders are the same, or the plan does not run */
  const weir_device_kernel *widen[2]; /* of x and of y; NULL: they are as the call has them */
  int made;
  bool packs, widens;
  int64_t weights, weight_bytes;
  int64_t wide[2];        /* elements of x and y that are widened */
  int64_t wide_at[2], at; /* bytes into the workspace after the weights: x, y, the library's own */
} convolution;

static bool is_plain(const conv_form *f)
{
  bool plain = f->dtype == WEIR_F32 || f->dtype == WEIR_F64;

  for (int k = 0; k < f->d; k++) {
    plain = plain && !f->mirrored[k] && f->lo[k] >= 0 &&
            (f->border[k] == WEIR_BORDER_ABSENT || (f->lo[k] <= 0 && f->hi[k] <= 0));
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

/* The call, whose operands are whole arrays. */
static bool spec_of(const weir_graph *g, const weir_group *group, conv_form *f,
                    weir_library_spec *spec)
{
  if (!conv_form_of_group(g, group, f) || !is_plain(f)) {
    return false;
  }
  const weir_access *a = &weir_graph_node(g, group->nodes[group->n_nodes - 1])->access;
  const int operand[] = {f->x, f->w, f->y};

  spec_of_form(f, spec);
  bool is = weir_library_is_call(spec);

  for (int k = 0; is && k < WEIR_LIBRARY_OPERANDS; k++) {
    is = elements_of(operand_of(a, operand[k])) == weir_library_elements(spec, k);
  }
  return is;
}

/* Flop/s of one GPU, about: kernels are compared with one another alone. */
static const double rate = 1e13, rate_bf16 = 1e14;

static double match(const weir_graph *g, const weir_group *group)
{
  weir_library_spec spec;
  conv_form f;

  if (!spec_of(g, group, &f, &spec)) {
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

static const char *bits_of(weir_dtype dtype)
{
  const size_t bytes = weir_dtype_size(dtype);

  return bytes == 2 ? "unsigned short" : bytes == 4 ? "unsigned int" : "unsigned long long";
}

/* Element e of [groups, out, taps, in] and its place in the array, copied one way or the other. */
static void pack_text(const conv_form *f, const conv_weight_strides *s, int64_t n, bool unpacks,
                      char *text)
{
  const char *type = bits_of(f->w_dtype);

  text[0] = '\0';
  weir_device_text_put(text,
                       "  const long long e = (long long)blockIdx.x * %d + threadIdx.x;\n"
                       "  long long left = e, place = %" PRId64 ";\n"
                       "  if (e < %" PRId64 ") {\n",
                       THREADS, s->base, n);
  weir_device_text_put(
      text, "    place += left %% %" PRId64 " * %" PRId64 ";\n    left /= %" PRId64 ";\n", f->in,
      s->in, f->in);
  for (int k = f->d - 1; k >= 0; k--) {
    weir_device_text_put(
        text, "    place += left %% %" PRId64 " * %" PRId64 ";\n    left /= %" PRId64 ";\n",
        f->kernel_size[k], s->tap[k], f->kernel_size[k]);
  }
  weir_device_text_put(
      text, "    place += left %% %" PRId64 " * %" PRId64 " + left / %" PRId64 " * %" PRId64 ";\n",
      f->out, s->out, f->out, s->group);
  weir_device_text_put(text, "    ((%s *)p.word[1])[%s] = ((const %s *)p.word[0])[%s];\n  }\n",
                       type, unpacks ? "place" : "e", type, unpacks ? "e" : "place");
}

/* Whether the array has the library's order. */
static bool is_packed(const conv_form *f, const conv_weight_strides *s)
{
  int64_t step = f->in;
  bool is = s->base == 0 && (s->in == 1 || f->in == 1);

  for (int k = f->d - 1; k >= 0; k--) {
    is = is && (s->tap[k] == step || f->kernel_size[k] == 1);
    step *= f->kernel_size[k];
  }
  is = is && (s->out == step || f->out == 1);
  return is && (s->group == step * f->out || f->groups == 1);
}

static int64_t round_up(int64_t bytes)
{
  return (bytes + WEIR_DEVICE_ALIGN - 1) / WEIR_DEVICE_ALIGN * WEIR_DEVICE_ALIGN;
}

/* Of a kernel that copies the weights. */
static weir_kernel_grid pack_grid(const convolution *c)
{
  return weir_device_text_grid(c->weights, THREADS, 2 * c->weight_bytes);
}

static weir_status make_pack(const conv_form *f, const conv_weight_strides *s, bool unpacks,
                             const weir_kernel_maker *maker, convolution *c)
{
  const weir_kernel_grid grid = pack_grid(c);
  char text[WEIR_DEVICE_TEXT];

  pack_text(f, s, c->weights, unpacks, text);
  WEIR_TRY(weir_device_text_make(maker, unpacks ? "unpack" : "pack", NULL, text, &grid, &c->pack));
  return WEIR_OK;
}

/* Of a kernel that widens n numbers. */
static weir_kernel_grid widen_grid(int64_t n)
{
  return weir_device_text_grid(n, THREADS, n * (int64_t)(sizeof(weir_bf16) + sizeof(float)));
}

static weir_status make_widen(int64_t n, const weir_kernel_maker *maker,
                              const weir_device_kernel **out)
{
  const weir_kernel_grid grid = widen_grid(n);
  char text[WEIR_DEVICE_TEXT] = "";

  weir_device_text_put(
      text,
      "  const long long e = (long long)blockIdx.x * %d + threadIdx.x;\n  if (e < %" PRId64
      ") {\n    ((unsigned int *)p.word[1])[e] = "
      "(unsigned int)((const unsigned short *)p.word[0])[e] << 16;\n  }\n",
      THREADS, n);
  WEIR_TRY(weir_device_text_make(maker, "widen", NULL, text, &grid, out));
  return WEIR_OK;
}

/* The call that is made: of f32, from numbers that bf16 has. */
static bool widen(weir_library_spec *spec)
{
  weir_library_convolution *c = &spec->convolution;
  const bool widens = c->made == 1 && c->w == WEIR_F32 && c->x == WEIR_BF16 && c->y == WEIR_BF16;

  if (widens) {
    c->x = c->y = WEIR_F32;
    spec->tf32 = true;
  }
  return widens;
}

static void release(void *context)
{
  convolution *c = context;

  if (c != NULL) {
    weir_library_destroy(&c->call);
    weir_free(&c);
  }
}

/* Places in the workspace. */
static void lay_out(const weir_library_spec *spec, convolution *c)
{
  c->at = c->packs ? round_up(c->weight_bytes) : 0;
  for (int k = 0; k < 2 && c->widens; k++) {
    c->wide[k] = weir_library_elements(spec, 2 * k);
    c->wide_at[k] = c->at;
    c->at += round_up(c->wide[k] * (int64_t)sizeof(float));
  }
}

static weir_status open_call(const weir_graph *g, const weir_group *group,
                             const weir_kernel_maker *maker, void **context, int64_t *workspace)
{
  weir_status status = WEIR_OK;
  weir_library_spec spec;
  void *memory = NULL;
  conv_form f;
  const bool is = spec_of(g, group, &f, &spec);

  WEIR_ASSERT(is);
  const weir_access *a = &weir_graph_node(g, group->nodes[group->n_nodes - 1])->access;
  const weir_view view = view_of(operand_of(a, f.w));
  const conv_weight_strides strides = conv_form_weights(&f, &view);

  spec.tf32 = maker->tf32;
  WEIR_TRY(weir_alloc(1, sizeof(convolution), &memory));
  convolution *c = memory;

  c->made = spec.convolution.made;
  c->packs = !is_packed(&f, &strides);
  c->widens = widen(&spec);
  c->weights = weir_library_elements(&spec, 1);
  c->weight_bytes = c->weights * (int64_t)weir_dtype_size(f.w_dtype);
  WEIR_TRY_GOTO(weir_library_create(maker->device, &spec, maker->runs, &c->call), failed);
  lay_out(&spec, c);
  if (c->packs) {
    WEIR_TRY_GOTO(make_pack(&f, &strides, c->made == 1, maker, c), failed);
  }
  for (int k = 0; k < 2 && c->widens; k++) {
    WEIR_TRY_GOTO(make_widen(c->wide[k], maker, &c->widen[k]), failed);
  }
  *workspace = c->at + weir_library_workspace(c->call);
  *context = c;
  return WEIR_OK;
failed:
  release(c);
  return status;
}

static weir_status copy_weights(const weir_kernel_launch *l, const convolution *c, const void *from,
                                const void *to)
{
  const weir_kernel_grid grid = pack_grid(c);
  const weir_device_range ranges[] = {{from, c->weight_bytes, WEIR_DEVICE_READ},
                                      {to, c->weight_bytes, WEIR_DEVICE_WRITE}};

  WEIR_TRY(weir_device_text_launch(l->queue, c->pack, &grid, ranges, 2));
  return WEIR_OK;
}

static weir_status widen_numbers(const weir_kernel_launch *l, const convolution *c, int k,
                                 const void *to)
{
  const int64_t n = c->wide[k];
  const weir_kernel_grid grid = widen_grid(n);
  const weir_device_range ranges[] = {
      {l->views[k].data, n * (int64_t)sizeof(weir_bf16), WEIR_DEVICE_READ},
      {to, n * (int64_t)sizeof(float), WEIR_DEVICE_WRITE}};

  WEIR_TRY(weir_device_text_launch(l->queue, c->widen[k], &grid, ranges, 2));
  return WEIR_OK;
}

/* Views: x, y, w. */
static weir_status launch(const weir_kernel_launch *l)
{
  const convolution *c = l->context;
  char *const space = l->workspace;
  void *const packed = c->packs ? space : l->views[2].data;
  void *operand[] = {l->views[0].data, packed, l->views[1].data};

  if (c->packs && c->made != 1) {
    WEIR_TRY(copy_weights(l, c, l->views[2].data, packed));
  }
  for (int k = 0; k < 2 && c->widens; k++) {
    operand[2 * k] = space + c->wide_at[k];
    WEIR_TRY(widen_numbers(l, c, k, operand[2 * k]));
  }
  WEIR_TRY(weir_library_run(l->queue, c->call, operand, space + c->at));
  if (c->packs && c->made == 1) {
    WEIR_TRY(copy_weights(l, c, packed, l->views[2].data));
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
