/* conv_make_dnnl.c - chunks become primitives; what that costs. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "ops/conv/conv_dnnl.h"

/* A chunk of so many operations takes 0.2 ms: a call takes 2 to 5 us. */
static const double chunk_flops = 2e7;
/* Outputs of a chunk: it reads all weights, and by weights writes a sum that is merged, which takes
 * as long as some 20 outputs. */
static const double chunk_points[] = {
    [CONV_FORWARD] = 256, [CONV_DATA] = 256, [CONV_WEIGHTS] = 1000};
static const int64_t max_chunks[] = {[CONV_FORWARD] = 64, [CONV_DATA] = 64, [CONV_WEIGHTS] = 16};
/* From so many on there are two chunks at least, whatever the outputs. */
static const double large_flops = 1e8;
/* Packed weights that one thread reorders at a time. */
static const int64_t block_bytes = 1 << 18;

/* dims of x, y: n, channels, extents; of w: [groups,] out, in, kernel. */
typedef struct dims {
  dnnl_dims_t x, y, w, stride, dilation, lo, hi;
  int rank, w_rank;
} dims;

static dnnl_data_type_t type_of(weir_dtype dtype)
{
  return dtype == WEIR_BF16 ? dnnl_bf16 : dnnl_f32;
}

static dims dims_of(const conv_form *f, const conv_chunk *s)
{
  const int grouped = f->groups > 1;
  dims d = {.rank = f->d + 2, .w_rank = f->d + 2 + grouped};

  d.x[0] = d.y[0] = s->n;
  d.x[1] = f->groups * f->in;
  d.y[1] = f->groups * f->out;
  d.w[0] = f->groups;
  d.w[grouped] = f->out;
  d.w[grouped + 1] = f->in;
  for (int k = 0; k < f->d; k++) {
    d.x[k + 2] = k == 0 ? s->x_rows : f->x_extent[k];
    d.y[k + 2] = k == 0 ? s->y_rows : f->y_extent[k];
    d.w[grouped + 2 + k] = f->kernel_size[k];
    d.stride[k] = f->stride[k];
    d.dilation[k] = f->dilation[k] - 1;
    d.lo[k] = k == 0 ? s->lo : f->lo[k];
    d.hi[k] = k == 0 ? s->hi : f->hi[k];
    d.hi[k] = d.hi[k] > 0 ? d.hi[k] : 0;
  }
  return d;
}

static dnnl_status_t describe(conv_kind kind, const dims *d, const dnnl_memory_desc_t *x,
                              const dnnl_memory_desc_t *y, const dnnl_memory_desc_t *w,
                              dnnl_convolution_desc_t *out)
{
  switch (kind) {
  case CONV_FORWARD:
    return dnnl_dilated_convolution_forward_desc_init(out, dnnl_forward_training,
                                                      dnnl_convolution_direct, x, w, NULL, y,
                                                      d->stride, d->dilation, d->lo, d->hi);
  case CONV_DATA:
    return dnnl_dilated_convolution_backward_data_desc_init(out, dnnl_convolution_direct, x, w, y,
                                                            d->stride, d->dilation, d->lo, d->hi);
  default:
    return dnnl_dilated_convolution_backward_weights_desc_init(
        out, dnnl_convolution_direct, x, w, NULL, y, d->stride, d->dilation, d->lo, d->hi);
  }
}

/* The primitive of a chunk: the first one chooses the format of the weights. */
static bool make_desc(conv_dnnl *c, conv_shape *s)
{
  static const dnnl_format_tag_t tags[] = {dnnl_nwc, dnnl_nhwc, dnnl_ndhwc};
  const conv_form *f = &c->inner;
  const dims d = dims_of(f, &s->chunk);
  const dnnl_query_t which =
      f->kind == CONV_WEIGHTS ? dnnl_query_diff_weights_md : dnnl_query_weights_md;
  dnnl_memory_desc_t any;
  dnnl_convolution_desc_t op;
  const dnnl_data_type_t x = type_of(conv_dnnl_x(f, c->padded)), y = type_of(f->y_dtype);

  if (dnnl_memory_desc_init_by_tag(&s->x, d.rank, d.x, x, tags[f->d - 1]) != dnnl_success ||
      dnnl_memory_desc_init_by_tag(&s->y, d.rank, d.y, y, tags[f->d - 1]) != dnnl_success ||
      dnnl_memory_desc_init_by_tag(&any, d.w_rank, d.w, type_of(conv_dnnl_w(f)),
                                   dnnl_format_tag_any) != dnnl_success ||
      describe(f->kind, &d, &s->x, &s->y, c->n_shapes == 0 ? &any : &c->weights, &op) !=
          dnnl_success ||
      !conv_dnnl_choose(c, &op, &s->desc)) {
    return false;
  }
  s->scratch = *dnnl_primitive_desc_query_md(s->desc, dnnl_query_scratchpad_md, 0);
  const int64_t bytes = (int64_t)dnnl_memory_desc_get_size(&s->scratch);

  c->scratch_bytes = bytes > c->scratch_bytes ? bytes : c->scratch_bytes;
  c->weights = *dnnl_primitive_desc_query_md(s->desc, which, 0);
  return true;
}

static bool is_alike(const conv_chunk *a, const conv_chunk *b)
{
  return a->n == b->n && a->x_rows == b->x_rows && a->y_rows == b->y_rows && a->lo == b->lo &&
         a->hi == b->hi;
}

/* Number of the chunk's shape, made where it is new; -1: the library does not take it. */
static int shape_of(conv_dnnl *c, const conv_chunk *chunk)
{
  int i = 0;

  while (i < c->n_shapes && !is_alike(&c->shape[i].chunk, chunk)) {
    i++;
  }
  if (i < c->n_shapes) {
    return i;
  }
  if (i == CONV_MAX_SHAPES) {
    return -1;
  }
  conv_shape *s = &c->shape[i];

  *s = (conv_shape){.chunk = *chunk};
  const bool made = make_desc(c, s);

  c->n_shapes += made || s->desc != NULL; /* so that it is destroyed */
  return made ? i : -1;
}

static void destroy_shapes(conv_dnnl *c)
{
  for (int i = 0; i < c->n_shapes; i++) {
    dnnl_primitive_destroy(c->shape[i].primitive);
    dnnl_primitive_desc_destroy(c->shape[i].desc);
  }
  c->n_shapes = 0;
}

static int64_t wanted_chunks(const conv_form *f)
{
  const double flops = conv_form_flops(f), max = (double)max_chunks[f->kind];
  double points = (double)f->n;

  for (int k = 0; k < f->d; k++) {
    points *= (double)f->y_extent[k];
  }
  const double min = flops > large_flops ? 2 : 1;
  double n = fmin(fmin(flops / chunk_flops, points / chunk_points[f->kind] + 1), max);

  n = fmax(n, min);
  return (int64_t)n;
}

/* Shapes of all chunks; with fewer chunks where the library does not take some. */
static bool find_shapes(conv_dnnl *c)
{
  for (int64_t wanted = wanted_chunks(&c->inner); wanted > 0; wanted /= 2) {
    bool fits = true;

    c->chunking = conv_chunking_make(&c->inner, wanted);
    c->scratch_bytes = 0;
    for (int64_t i = 0; i < c->chunking.count && fits; i++) {
      conv_chunk chunk;

      fits = conv_chunking_chunk(&c->inner, &c->chunking, i, &chunk) && shape_of(c, &chunk) >= 0;
    }
    if (fits) {
      return true;
    }
    destroy_shapes(c);
  }
  return false;
}

static bool make_shapes(conv_dnnl *c)
{
  const conv_form *f = &c->inner;

  c->by_matrices = c->mends = false;
  if (find_shapes(c)) {
    return true;
  }
  /* Matrices of x have zeros where x has no element (conv_mend_dnnl.c). By data x is made, and has
   * none; forward, most positions would have to be summed again. */
  c->by_matrices = f->kind != CONV_FORWARD || !conv_dnnl_meets_padding(f);
  c->mends = f->kind == CONV_WEIGHTS && conv_dnnl_meets_padding(f);
  return c->by_matrices && find_shapes(c);
}

/* oneDNN makes primitives for as many threads as OpenMP would give it: one, in an item. */
typedef struct attempt {
  conv_dnnl *c;
  bool (*make)(conv_dnnl *);
  bool done;
} attempt;

static void attempt_item(void *context, int64_t item, int thread)
{
  attempt *a = context;

  (void)item;
  (void)thread;
  a->done = a->make(a->c);
}

static bool alone(conv_dnnl *c, bool (*make)(conv_dnnl *))
{
  attempt a = {.c = c, .make = make};

  weir_parallel(1, 1, attempt_item, &a);
  return a.done;
}

/* The weights, or some of their output channels, as the array has them. */
static bool plain_desc(const conv_dnnl *c, const dims *d, dnnl_memory_desc_t *out)
{
  const conv_form *f = &c->form;
  const int grouped = f->groups > 1;
  dnnl_dims_t strides = {0};

  strides[0] = c->w_strides.group;
  strides[grouped] = c->w_strides.out;
  strides[grouped + 1] = c->w_strides.in;
  for (int k = 0; k < f->d; k++) {
    strides[grouped + 2 + k] = c->w_strides.tap[k];
  }
  for (int k = 0; k < d->w_rank; k++) {
    strides[k] = strides[k] > 0 ? strides[k] : 1;
  }
  return dnnl_memory_desc_init_by_strides(out, d->w_rank, d->w, type_of(f->w_dtype), strides) ==
         dnnl_success;
}

/* Weights are apart where they differ: what the library reads and writes by strides. */
static bool has_strides(const conv_dnnl *c)
{
  const conv_form *f = &c->form;
  const conv_weight_strides *p = &c->w_strides;
  const conv_chunk none = {.n = 1};
  const dims d = dims_of(f, &none);
  dnnl_memory_desc_t plain;
  bool right =
      (p->group > 0 || f->groups == 1) && (p->in > 0 || f->in == 1) && (p->out > 0 || f->out == 1);

  for (int k = 0; k < f->d; k++) {
    right = right && (p->tap[k] > 0 || f->kernel_size[k] == 1);
  }
  return right && plain_desc(c, &d, &plain); /* false: they lie one on another */
}

/* f32 alone, or both operands bf16 where the machine multiplies them: the library would emulate. */
static bool has_types(const conv_form *f)
{
  const weir_dtype made = f->kind == CONV_FORWARD ? f->y_dtype
                          : f->kind == CONV_DATA  ? f->x_dtype
                                                  : f->w_dtype;
  const int halves = (f->x_dtype == WEIR_BF16) + (f->y_dtype == WEIR_BF16) +
                     (f->w_dtype == WEIR_BF16) - (made == WEIR_BF16);

  return f->dtype == WEIR_F32 &&
         (conv_form_is(f, WEIR_F32) ||
          (halves == 2 && dnnl_get_effective_cpu_isa() >= dnnl_cpu_isa_avx512_core_bf16));
}

static bool read_form(const weir_graph *g, const weir_group *group, conv_dnnl *c)
{
  int32_t arrays[3];
  bool right = conv_form_of_group(g, group, &c->form) && has_types(&c->form);

  /* Chunks leave out rows of x that are not read; along the other dimensions all are. */
  for (int k = c->form.kind == CONV_FORWARD; k < c->form.d && right; k++) {
    right = c->form.lo[k] >= 0;
  }
  if (!right) {
    return false;
  }
  (void)conv_form_arrays(g, group, arrays, 3);
  const weir_array_desc *d = &weir_graph_get_array(g, arrays[2])->desc;
  weir_view w = {.rank = d->rank};
  int64_t stride = 1;

  for (int k = d->rank - 1; k >= 0; k--) {
    w.stride[k] = stride;
    stride *= d->shape[k];
  }
  c->w_strides = conv_form_weights(&c->form, &w);
  c->padded = conv_pad_form(&c->form, &c->inner);
  return has_strides(c);
}

/* What is left of the share below where x or y has fewer than 16 channels, by plans of 3, 4, 5 and
 * 14 to 16 and 32 channels and back, compared with the kernel conv.few_channels on a loaded
 * machine; forward of 4 and 5 channels on an idle one (Zen 4, AVX-512). */
static double few_share(const conv_form *f)
{
  const bool in = f->in < 16, out = f->out < 16;

  switch (f->kind) {
  case CONV_FORWARD:
    return (in ? 0.62 : 1) * (out ? 0.8 : 1);
  case CONV_DATA:
    return (in ? 0.55 : 1) * (out ? 0.65 : 1);
  default:
    return (in ? 0.53 : 1) * (out ? 0.8 : 1);
  }
}

/* Speed in bf16 against f32. By pairs: 32->32 and 64->64 on 8x96x192 by 1.9 to 2.1 (data_centric.md
 * III.2). By tiles (AMX), of the same 140 GF/s: 430, 780 and 1060 with 32, 64 and 128 channels, the
 * fewer of those read and made, by weights 350, 450 and 360 (bench/conv_winograd). */
static double speed_of_half(const conv_form *f)
{
  const double few = (double)(f->in < f->out ? f->in : f->out);

  if (!weir_cpu_get()->amx) {
    return 1.9;
  }
  return (f->kind == CONV_WEIGHTS ? 9 : 12) * few / (few + 96);
}

/* Share of the peak: a kernel computes 16 channels of its result at a time; single threads on Zen 4
 * (AVX-512), k = 3, oneDNN 2.6.3, GF/s of 140 (1.4 of the built-in rate): forward 32->1 9, 32->4
 * 36, 32->7 63, 32->16 143, 1->32 107, 2->32 124, 35->70 119; by data of 1->32 9, 4->32 36, 7->16
 * 63, 16->16 145; by weights as forward. */
static double seconds_of(const conv_dnnl *c)
{
  const conv_form *f = &c->form;
  const double lanes = (double)(f->kind == CONV_DATA ? f->in : f->out);
  const double depth = (double)(f->kind == CONV_DATA ? f->out : f->in) *
                       (double)(f->kernel_size[0] * f->kernel_size[1] * f->kernel_size[2]);
  const double share =
      lanes / (16 * (double)((int64_t)(lanes + 15) / 16)) * depth / (depth + 8) * few_share(f);
  const weir_constants *m = &weir_cpu_get()->constants;
  const double peak = m->flop_rate * (c->by_matrices ? 0.4 : 1.4) *
                      (conv_form_is(f, WEIR_F32) ? 1 : speed_of_half(f));
  const double bandwidth = 0.5 * m->bandwidth, call = 1.5 * m->group_overhead;
  const double weights = depth * lanes * (double)f->groups * 4;
  const double moved = weights * 2 * (f->kind == CONV_WEIGHTS ? (double)c->chunking.count : 1) +
                       (c->padded ? 2.0 * 4 * (double)c->inner.n * (double)c->inner.x_extent[0] *
                                        (double)conv_row_size(&c->inner)
                                  : 0);

  return conv_form_flops(f) / (peak * share) + moved / bandwidth + call * (double)c->chunking.count;
}

/* Below this many operations the calls cost more than a loop. */
static const double min_flops = 1 << 15;

/* Whether an element of the largest array is used more than once. A factor a channel, and the sums
 * of products that its gradient is, have the form of a convolution, but are loops: to put their
 * weights into blocks took 2 GiB. */
static bool uses_again(const conv_form *f)
{
  double x = (double)f->n, y = x, w = (double)f->groups * (double)f->in * (double)f->out;

  for (int d = 0; d < CONV_FORM_DIMS; d++) {
    x *= (double)f->x_extent[d];
    y *= (double)f->y_extent[d];
    w *= (double)f->kernel_size[d];
  }
  x *= (double)f->groups * (double)f->in;
  y *= (double)f->groups * (double)f->out;
  return conv_form_flops(f) > 2 * fmax(x, fmax(y, w));
}

/* Reads the form and tries the shapes of its chunks; c->engine is NULL where it is none. */
static bool try_shapes(const weir_graph *g, const weir_group *group, conv_kind kind, conv_dnnl *c)
{
  *c = (conv_dnnl){.n_shapes = 0};
  return read_form(g, group, c) && c->form.kind == kind && uses_again(&c->form) &&
         conv_form_flops(&c->form) >= min_flops &&
         dnnl_engine_create(&c->engine, dnnl_cpu, 0) == dnnl_success && alone(c, make_shapes);
}

static void end_shapes(conv_dnnl *c)
{
  destroy_shapes(c);
  if (c->engine != NULL) {
    dnnl_engine_destroy(c->engine);
  }
}

bool conv_dnnl_blocks(const weir_graph *g, const weir_group *group, weir_kernel_blocks *blocks)
{
  conv_dnnl c;
  bool any = false;

  for (conv_kind kind = CONV_FORWARD; kind <= CONV_DATA && !any; kind++) {
    /* What lies beyond the ends is added up last: nothing is whole before. */
    any = try_shapes(g, group, kind, &c) && !(c.padded && kind == CONV_DATA);
    *blocks = (weir_kernel_blocks){.stage = 1, .block_size = {c.chunking.samples, c.chunking.rows}};
    blocks->block_size[1] = c.chunking.n_rows > 1 ? c.chunking.rows : 0;
    end_shapes(&c);
  }
  return any;
}

double conv_dnnl_match(const weir_graph *g, const weir_group *group, conv_kind kind)
{
  conv_dnnl c;
  const double seconds = try_shapes(g, group, kind, &c) ? seconds_of(&c) : -1;

  end_shapes(&c);
  return seconds;
}

static bool make_block(conv_dnnl *c, conv_block *b, int64_t n)
{
  const conv_chunk none = {.n = 1};
  const int grouped = c->form.groups > 1;
  dims d = dims_of(&c->form, &none);
  dnnl_dims_t at = {0};
  dnnl_memory_desc_t plain, packed;
  dnnl_primitive_desc_t desc = NULL;

  d.w[grouped] = n;
  at[grouped] = b->first;
  if (!plain_desc(c, &d, &plain) ||
      dnnl_memory_desc_init_submemory(&packed, &c->weights, d.w, at) != dnnl_success) {
    return false;
  }
  b->packed = packed.offset0 * (int64_t)weir_dtype_size(conv_dnnl_w(&c->form));
  packed.offset0 = 0;
  b->from = c->form.kind == CONV_WEIGHTS ? packed : plain;
  b->to = c->form.kind == CONV_WEIGHTS ? plain : packed;
  if (dnnl_reorder_primitive_desc_create(&desc, &b->from, c->engine, &b->to, c->engine, NULL) !=
      dnnl_success) {
    return false;
  }
  const bool made = dnnl_primitive_create(&b->primitive, desc) == dnnl_success;

  dnnl_primitive_desc_destroy(desc);
  return made &&
         dnnl_stream_create(&b->stream, c->engine, dnnl_stream_default_flags) == dnnl_success &&
         dnnl_memory_create(&b->source, &b->from, c->engine, DNNL_MEMORY_NONE) == dnnl_success &&
         dnnl_memory_create(&b->target, &b->to, c->engine, DNNL_MEMORY_NONE) == dnnl_success;
}

/* Output channels of one block: what the format keeps together, several times; all of them where
 * other dimensions lie further apart. */
static int64_t block_channels(const conv_dnnl *c)
{
  const dnnl_blocking_desc_t *l = &c->weights.format_desc.blocking;
  int64_t together = 1;

  if (c->form.groups > 1 || c->weights.format_kind != dnnl_blocked) {
    return c->form.out;
  }
  for (int k = 1; k < c->weights.ndims; k++) {
    if (l->strides[k] > l->strides[0] && c->weights.padded_dims[k] > 1) {
      return c->form.out;
    }
  }
  for (int k = 0; k < l->inner_nblks; k++) {
    together *= l->inner_idxs[k] == 0 ? l->inner_blks[k] : 1;
  }
  const int64_t bytes = c->weight_bytes / c->weights.padded_dims[0] * together;

  return bytes > 0 && bytes < block_bytes ? together * (block_bytes / bytes) : together;
}

static bool make_blocks(conv_dnnl *c)
{
  const int64_t channels = block_channels(c);

  for (int64_t i = 0; i < c->n_blocks; i++) {
    const int64_t left = c->form.out - i * channels;

    c->blocks[i].first = i * channels;
    if (!make_block(c, &c->blocks[i], left < channels ? left : channels)) {
      return false;
    }
  }
  return true;
}

static bool make_calls(conv_dnnl *c)
{
  for (int i = 0; i < c->n_shapes; i++) {
    if (dnnl_primitive_create(&c->shape[i].primitive, c->shape[i].desc) != dnnl_success) {
      return false;
    }
  }
  for (int64_t i = 0; i < c->chunking.count; i++) {
    conv_call *call = &c->calls[i];

    if (!conv_chunking_chunk(&c->inner, &c->chunking, i, &call->chunk)) {
      return false;
    }
    call->shape = shape_of(c, &call->chunk);
    const conv_shape *s = &c->shape[call->shape];

    if (dnnl_stream_create(&call->stream, c->engine, dnnl_stream_default_flags) != dnnl_success ||
        dnnl_memory_create(&call->x, &s->x, c->engine, DNNL_MEMORY_NONE) != dnnl_success ||
        dnnl_memory_create(&call->y, &s->y, c->engine, DNNL_MEMORY_NONE) != dnnl_success ||
        dnnl_memory_create(&call->scratch, &s->scratch, c->engine, DNNL_MEMORY_NONE) !=
            dnnl_success) {
      return false;
    }
  }
  return make_blocks(c);
}

static weir_status make(const weir_graph *g, const weir_group *group, conv_dnnl *c)
{
  void *memory = NULL;

  if (!read_form(g, group, c)) {
    return weir_fail(WEIR_ERR_SHAPE, "conv_dnnl: the group is not a convolution of f32 or bf16");
  }
  if (dnnl_engine_create(&c->engine, dnnl_cpu, 0) != dnnl_success || !alone(c, make_shapes)) {
    return weir_fail(WEIR_ERR_EXTERNAL, "conv_dnnl: oneDNN has no such primitive");
  }
  if (c->padded && c->scratch_bytes < conv_row_size(&c->form) * 4) { /* conv_dnnl_fold */
    c->scratch_bytes = conv_row_size(&c->form) * 4;
  }
  c->weight_bytes = ((int64_t)dnnl_memory_desc_get_size(&c->weights) + 63) & ~(int64_t)63;
  c->padded_bytes = c->padded ? c->inner.n * c->inner.x_extent[0] * conv_row_size(&c->inner) *
                                    (int64_t)weir_dtype_size(conv_dnnl_x(&c->form, true))
                              : 0;
  c->padded_bytes = (c->padded_bytes + 63) & ~(int64_t)63;
  WEIR_TRY(weir_alloc(c->chunking.count, sizeof(conv_call), &memory));
  c->calls = memory;
  c->n_blocks = (c->form.out - 1) / block_channels(c) + 1;
  WEIR_TRY(weir_alloc(c->n_blocks, sizeof(conv_block), &memory));
  c->blocks = memory;
  return alone(c, make_calls)
             ? WEIR_OK
             : weir_fail(WEIR_ERR_EXTERNAL, "conv_dnnl: oneDNN cannot create its primitives");
}

weir_status conv_dnnl_prepare(const weir_graph *g, const weir_group *group, void **context)
{
  void *memory = NULL;

  *context = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(conv_dnnl), &memory));
  const weir_status status = make(g, group, memory);

  if (status != WEIR_OK) {
    conv_dnnl_release(memory);
    return status;
  }
  *context = memory;
  return WEIR_OK;
}

void conv_dnnl_release(void *context)
{
  conv_dnnl *c = context;

  for (int64_t i = 0; i < c->chunking.count && c->calls != NULL; i++) {
    dnnl_memory_destroy(c->calls[i].x);
    dnnl_memory_destroy(c->calls[i].y);
    dnnl_memory_destroy(c->calls[i].w);
    dnnl_memory_destroy(c->calls[i].scratch);
    dnnl_stream_destroy(c->calls[i].stream);
  }
  for (int64_t i = 0; i < c->n_blocks && c->blocks != NULL; i++) {
    dnnl_memory_destroy(c->blocks[i].source);
    dnnl_memory_destroy(c->blocks[i].target);
    dnnl_primitive_destroy(c->blocks[i].primitive);
    dnnl_stream_destroy(c->blocks[i].stream);
  }
  destroy_shapes(c);
  dnnl_engine_destroy(c->engine);
  weir_free(&c->calls);
  weir_free(&c->blocks);
  weir_free(&context);
}
