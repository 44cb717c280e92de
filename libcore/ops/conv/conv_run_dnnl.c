/* conv_run_dnnl.c - the steps of a run. What the library is given was checked when it was made: its
 * calls do not fail. */
#include "ops/conv/conv_dnnl.h"

/* Floats that one thread merges at a time: a row of each chunk stays in cache. */
enum { MERGE_BLOCK = 4096 };

int64_t conv_dnnl_workspace(const void *context)
{
  const conv_dnnl *c = context;
  const int64_t copies = c->form.kind == CONV_WEIGHTS ? c->chunking.count : 1;

  return c->padded_bytes + copies * c->weight_bytes;
}

int64_t conv_dnnl_scratch(const void *context)
{
  return ((const conv_dnnl *)context)->scratch_bytes;
}

static char *packed(const conv_dnnl *c, int64_t chunk)
{
  return c->workspace + c->padded_bytes +
         (c->form.kind == CONV_WEIGHTS ? chunk * c->weight_bytes : 0);
}

weir_status conv_dnnl_set_workspace(void *context, void *workspace)
{
  conv_dnnl *c = context;

  c->workspace = workspace;
  for (int64_t i = 0; i < c->chunking.count; i++) {
    if (dnnl_memory_create(&c->calls[i].w, &c->weights, c->engine, packed(c, i)) != dnnl_success) {
      return weir_fail(WEIR_ERR_EXTERNAL, "conv_dnnl: oneDNN rejects the workspace");
    }
  }
  for (int64_t i = 0; i < c->n_blocks; i++) {
    const conv_block *b = &c->blocks[i];
    dnnl_memory_t memory = c->form.kind == CONV_WEIGHTS ? b->source : b->target;

    if (dnnl_memory_set_data_handle(memory, packed(c, 0) + b->packed) != dnnl_success) {
      return weir_fail(WEIR_ERR_EXTERNAL, "conv_dnnl: oneDNN rejects the workspace");
    }
  }
  return WEIR_OK;
}

static void must(dnnl_status_t status)
{
  WEIR_ASSERT(status == dnnl_success);
}

int64_t conv_dnnl_rows(const conv_form *f)
{
  return f->n * f->x_extent[0];
}

void *conv_dnnl_inner_x(const conv_dnnl *c, const weir_view *x)
{
  return c->padded ? c->workspace : x->data;
}

void conv_dnnl_pad(const conv_dnnl *c, const void *x, int64_t piece)
{
  const int64_t rows = c->inner.x_extent[0];

  conv_pad_row(&c->form, &c->inner, x, piece / rows, piece % rows, c->workspace);
}

void conv_dnnl_fold(const conv_dnnl *c, void *x, int64_t piece, void *scratch)
{
  const conv_form *f = &c->form;
  const int64_t rows = f->x_extent[0], n = conv_row_size(f);
  const bool rounds = f->x_dtype == WEIR_BF16;
  float *sums = rounds ? scratch : (float *)x + piece * n;

  conv_fold_row(f, &c->inner, (const float *)(const void *)c->workspace, piece / rows, piece % rows,
                sums);
  for (int64_t i = 0; i < n && rounds; i++) {
    ((weir_bf16 *)x)[piece * n + i] = weir_bf16_from_f32(sums[i]);
  }
}

void conv_dnnl_reorder(const conv_dnnl *c, int64_t block, void *weights)
{
  const conv_block *b = &c->blocks[block];
  char *plain = (char *)weights + (c->w_strides.base + b->first * c->w_strides.out) *
                                      (int64_t)weir_dtype_size(c->form.w_dtype);
  const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, b->source}, {DNNL_ARG_TO, b->target}};

  must(dnnl_memory_set_data_handle(c->form.kind == CONV_WEIGHTS ? b->target : b->source, plain));
  must(dnnl_primitive_execute(b->primitive, b->stream, 2, args));
}

/* x, y: where the chunk begins; weights: as the array has them, not read for the weights. */
static void run_chunk(const conv_dnnl *c, int64_t chunk, void *x, void *y, const void *weights,
                      void *scratch)
{
  static const int names[][3] = {
      [CONV_FORWARD] = {DNNL_ARG_SRC, DNNL_ARG_DST, DNNL_ARG_WEIGHTS},
      [CONV_DATA] = {DNNL_ARG_DIFF_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS},
      [CONV_WEIGHTS] = {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS},
  };
  const conv_form *f = &c->inner;
  const conv_call *call = &c->calls[chunk];
  const int *name = names[f->kind];
  const dnnl_exec_arg_t args[] = {{name[0], call->x},
                                  {name[1], call->y},
                                  {name[2], call->w},
                                  {DNNL_ARG_SCRATCHPAD, call->scratch}};

  must(dnnl_memory_set_data_handle(call->x, x));
  must(dnnl_memory_set_data_handle(call->y, y));
  must(dnnl_memory_set_data_handle(call->scratch, scratch));
  must(dnnl_primitive_execute(c->shape[call->shape].primitive, call->stream, 4, args));
  if (c->mends && f->kind != CONV_WEIGHTS) {
    conv_dnnl_mend_chunk(c, &call->chunk, x, y, weights);
  }
}

/* Bytes of a row, of inner's x and of y. */
static int64_t x_row_bytes(const conv_dnnl *c)
{
  return conv_row_size(&c->inner) * (int64_t)weir_dtype_size(conv_dnnl_x(&c->inner, c->padded));
}

static int64_t y_row_bytes(const conv_form *f)
{
  return f->y_extent[1] * f->y_extent[2] * f->groups * f->out *
         (int64_t)weir_dtype_size(f->y_dtype);
}

/* Rows of x and y before those of the chunk. */
static int64_t x_rows(const conv_dnnl *c, const conv_chunk *s)
{
  return s->first * c->inner.x_extent[0] + s->x_first;
}

static int64_t y_rows(const conv_dnnl *c, const conv_chunk *s)
{
  return s->first * c->inner.y_extent[0] + s->y_first;
}

static void run_chunk_of(const conv_dnnl *c, int64_t chunk, void *x, void *y, const void *weights,
                         void *scratch)
{
  const conv_chunk *s = &c->calls[chunk].chunk;

  run_chunk(c, chunk, (char *)x + x_rows(c, s) * x_row_bytes(c),
            (char *)y + y_rows(c, s) * y_row_bytes(&c->inner), weights, scratch);
}

void conv_dnnl_chunk(const conv_dnnl *c, int64_t chunk, void *x, void *y, void *scratch)
{
  run_chunk_of(c, chunk, x, y, NULL, scratch);
}

void conv_dnnl_chunks(const conv_dnnl *c, const weir_kernel_run *r)
{
  const conv_chunking *chunking = &c->chunking;
  const bool by_data = c->inner.kind == CONV_DATA;
  const weir_view *made = &r->views[by_data ? 0 : 1];
  char *x = conv_dnnl_inner_x(c, &r->views[0]), *y = r->views[1].data;
  const void *weights = r->views[2].data;

  if (r->piece >= 0) {
    run_chunk_of(c, r->piece, x, y, weights, r->scratch);
    return;
  }
  for (int64_t n = r->block.lo[0]; n < r->block.hi[0]; n += chunking->samples) {
    for (int64_t row = r->block.lo[1]; row < r->block.hi[1]; row += chunking->rows) {
      const int64_t chunk = n / chunking->samples * chunking->n_rows + row / chunking->rows;
      const conv_chunk *s = &c->calls[chunk].chunk;
      const int64_t at[WEIR_MAX_RANK] = {n, row};

      WEIR_ASSERT(n % chunking->samples == 0 && row % chunking->rows == 0);
      run_chunk(c, chunk, by_data ? weir_view_at(made, at) : x + x_rows(c, s) * x_row_bytes(c),
                by_data ? y + y_rows(c, s) * y_row_bytes(&c->inner) : weir_view_at(made, at),
                weights, r->scratch);
    }
  }
}

int64_t conv_dnnl_merge_blocks(const conv_dnnl *c)
{
  const int64_t floats = c->weight_bytes / (int64_t)sizeof(float);

  return c->chunking.count > 1 ? (floats - 1) / MERGE_BLOCK + 1 : 0;
}

void conv_dnnl_merge(const conv_dnnl *c, int64_t block)
{
  const int64_t floats = c->weight_bytes / (int64_t)sizeof(float), from = block * MERGE_BLOCK;
  const int64_t end = from + MERGE_BLOCK < floats ? from + MERGE_BLOCK : floats;

  for (int64_t step = 1; step < c->chunking.count; step *= 2) {
    for (int64_t i = 0; i + step < c->chunking.count; i += 2 * step) {
      float *to = (float *)(void *)packed(c, i);
      const float *other = (const float *)(const void *)packed(c, i + step);

      for (int64_t k = from; k < end; k++) {
        to[k] += other[k];
      }
    }
  }
}
