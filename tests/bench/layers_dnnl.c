/* layers_dnnl.c - one convolution's three primitives (oneDNN 2), channels last. */
#include "layers_dnnl.h"
#include <dnnl.h>
#include <stdlib.h>
#include "weir_bench.h"

enum { RANK = LAYER_DIMS + 2, MEMORIES = 5 };

/* Engine and stream of a measurement. */
typedef struct target {
  dnnl_engine_t engine;
  dnnl_stream_t stream;
} target;

/* Descriptions of what a convolution reads and writes; weights `any`. */
typedef struct arrays {
  dnnl_memory_desc_t source, weights, bias, result;
  dnnl_dims_t stride, lo, hi;
} arrays;

typedef struct work {
  dnnl_primitive_t primitive;
  dnnl_stream_t stream;
  dnnl_exec_arg_t arg[MEMORIES];
  dnnl_memory_t memory[MEMORIES];
  int n;
} work;

static void must(dnnl_status_t status, const char *what)
{
  if (status != dnnl_success) {
    fprintf(stderr, "layers_dnnl: %s: status %d\n", what, (int)status);
    exit(8);
  }
}

static dnnl_memory_desc_t describe(int rank, const dnnl_dims_t dims, dnnl_format_tag_t tag)
{
  dnnl_memory_desc_t d;

  must(dnnl_memory_desc_init_by_tag(&d, rank, dims, dnnl_f32, tag), "layout");
  return d;
}

static arrays describe_all(const layer_conv *c)
{
  const dnnl_dims_t source = {c->batch, c->ci, c->in[0], c->in[1], c->in[2]};
  const dnnl_dims_t result = {c->batch, c->co, c->out[0], c->out[1], c->out[2]};
  const dnnl_dims_t weights = {c->co, c->ci, c->kernel_size[0], c->kernel_size[1],
                               c->kernel_size[2]};
  const dnnl_dims_t bias = {c->co};
  arrays a = {.source = describe(RANK, source, dnnl_ndhwc),
              .weights = describe(RANK, weights, dnnl_format_tag_any),
              .bias = describe(1, bias, dnnl_a),
              .result = describe(RANK, result, dnnl_ndhwc)};

  for (int d = 0; d < LAYER_DIMS; d++) {
    a.stride[d] = 1;
    a.lo[d] = c->lo[d];
    a.hi[d] = c->hi[d];
  }
  return a;
}

static dnnl_primitive_desc_t forward(const target *at, const arrays *a)
{
  dnnl_convolution_desc_t d;
  dnnl_primitive_desc_t made;

  must(dnnl_convolution_forward_desc_init(&d, dnnl_forward_training, dnnl_convolution_direct,
                                          &a->source, &a->weights, &a->bias, &a->result, a->stride,
                                          a->lo, a->hi),
       "forward");
  must(dnnl_primitive_desc_create(&made, &d, NULL, at->engine, NULL), "forward");
  return made;
}

static dnnl_primitive_desc_t backward_data(const target *at, const arrays *a,
                                           dnnl_primitive_desc_t hint)
{
  dnnl_convolution_desc_t d;
  dnnl_primitive_desc_t made;

  must(dnnl_convolution_backward_data_desc_init(&d, dnnl_convolution_direct, &a->source,
                                                &a->weights, &a->result, a->stride, a->lo, a->hi),
       "backward data");
  must(dnnl_primitive_desc_create(&made, &d, NULL, at->engine, hint), "backward data");
  return made;
}

static dnnl_primitive_desc_t backward_weights(const target *at, const arrays *a,
                                              dnnl_primitive_desc_t hint)
{
  dnnl_convolution_desc_t d;
  dnnl_primitive_desc_t made;

  must(dnnl_convolution_backward_weights_desc_init(&d, dnnl_convolution_direct, &a->source,
                                                   &a->weights, &a->bias, &a->result, a->stride,
                                                   a->lo, a->hi),
       "backward weights");
  must(dnnl_primitive_desc_create(&made, &d, NULL, at->engine, hint), "backward weights");
  return made;
}

/* Memory of oneDNN's own for one argument, ones all over. */
static void give(work *w, const target *at, dnnl_primitive_desc_t pd, dnnl_query_t what, int index,
                 int arg)
{
  const dnnl_memory_desc_t *d = dnnl_primitive_desc_query_md(pd, what, index);
  const size_t n = dnnl_memory_desc_get_size(d) / sizeof(float);
  void *data;

  must(dnnl_memory_create(&w->memory[w->n], d, at->engine, DNNL_MEMORY_ALLOCATE), "memory");
  must(dnnl_memory_get_data_handle(w->memory[w->n], &data), "memory");
  for (size_t i = 0; i < n; i++) {
    ((float *)data)[i] = 1;
  }
  w->arg[w->n] = (dnnl_exec_arg_t){arg, w->memory[w->n]};
  w->n++;
}

static void execute(void *context)
{
  work *w = context;

  must(dnnl_primitive_execute(w->primitive, w->stream, w->n, w->arg), "a run");
  must(dnnl_stream_wait(w->stream), "a run");
}

/* Best seconds of the primitive, which is destroyed with its memory. */
static double seconds_of(work *w, const target *at, dnnl_primitive_desc_t pd, int runs)
{
  must(dnnl_primitive_create(&w->primitive, pd), "a primitive");
  w->stream = at->stream;
  const double seconds = bench_best(runs, execute, w);

  (void)dnnl_primitive_destroy(w->primitive);
  for (int i = 0; i < w->n; i++) {
    (void)dnnl_memory_destroy(w->memory[i]);
  }
  return seconds;
}

double layer_dnnl_seconds(const layer_conv *c, int runs)
{
  const arrays a = describe_all(c);
  target at;

  must(dnnl_engine_create(&at.engine, dnnl_cpu, 0), "engine");
  must(dnnl_stream_create(&at.stream, at.engine, dnnl_stream_default_flags), "stream");
  const dnnl_primitive_desc_t f = forward(&at, &a), w = backward_weights(&at, &a, f);
  work forth = {.n = 0}, by_weights = {.n = 0}, by_data = {.n = 0};

  give(&forth, &at, f, dnnl_query_src_md, 0, DNNL_ARG_SRC);
  give(&forth, &at, f, dnnl_query_weights_md, 0, DNNL_ARG_WEIGHTS);
  give(&forth, &at, f, dnnl_query_weights_md, 1, DNNL_ARG_BIAS);
  give(&forth, &at, f, dnnl_query_dst_md, 0, DNNL_ARG_DST);
  double sum = seconds_of(&forth, &at, f, runs);

  give(&by_weights, &at, w, dnnl_query_src_md, 0, DNNL_ARG_SRC);
  give(&by_weights, &at, w, dnnl_query_diff_dst_md, 0, DNNL_ARG_DIFF_DST);
  give(&by_weights, &at, w, dnnl_query_diff_weights_md, 0, DNNL_ARG_DIFF_WEIGHTS);
  give(&by_weights, &at, w, dnnl_query_diff_weights_md, 1, DNNL_ARG_DIFF_BIAS);
  sum += seconds_of(&by_weights, &at, w, runs);
  if (!c->first) {
    const dnnl_primitive_desc_t d = backward_data(&at, &a, f);

    give(&by_data, &at, d, dnnl_query_diff_dst_md, 0, DNNL_ARG_DIFF_DST);
    give(&by_data, &at, d, dnnl_query_weights_md, 0, DNNL_ARG_WEIGHTS);
    give(&by_data, &at, d, dnnl_query_diff_src_md, 0, DNNL_ARG_DIFF_SRC);
    sum += seconds_of(&by_data, &at, d, runs);
    (void)dnnl_primitive_desc_destroy(d);
  }
  (void)dnnl_primitive_desc_destroy(w);
  (void)dnnl_primitive_desc_destroy(f);
  (void)dnnl_stream_destroy(at.stream);
  (void)dnnl_engine_destroy(at.engine);
  return sum;
}

#define TEXT_OF(x) #x
#define VERSION(a, b, c) TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)

const char *layer_dnnl_version(void)
{
  return VERSION(DNNL_VERSION_MAJOR, DNNL_VERSION_MINOR, DNNL_VERSION_PATCH);
}
