/* conv_dnnl.c - convolutions and their gradients as plans, against oneDNN's own primitives on two
 * threads. The primitives find their weights in the library's format and leave them there; a plan
 * brings them there and back in every run.
 *
 * conv_dnnl [THREADS]: on one thread it counts processor time. */
#include <dnnl.h>
#include <omp.h>
#include <string.h>
#include <time.h>

#include "base/weir_random.h"
#include "device/weir_parallel.h"
#include "exec/weir_plan.h"
#include "ops/conv/weir_conv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "pass/autodiff/weir_gradients.h"
#include "layers_dnnl.h"
#include "weir_bench.h"

enum { X, W, T, Y, GX, GW, TENSORS, THREADS = 2, RUNS = 7 };

static const char *const names[TENSORS] = {"x", "w", "t", "y", "gx", "gw"};

typedef struct layer {
  const char *name;
  int64_t extent[3], in, out;
  double goal;
} layer;

/* x, weights, y of a primitive, and the weights in the array's order. */
typedef struct reference {
  dnnl_engine_t engine;
  dnnl_stream_t stream;
  dnnl_primitive_t primitive;
  dnnl_memory_t x, w, y, plain;
  const int *names;
} reference;

typedef struct bench {
  const layer *l;
  int result, threads;
  weir_tensor tensor[TENSORS];
  weir_plan *plan;
  reference p;
} bench;

static void must(dnnl_status_t status)
{
  if (status != dnnl_success) {
    fprintf(stderr, "conv_dnnl: oneDNN fails with status %d\n", (int)status);
    exit(8);
  }
}

static void reorder(const reference *p, dnnl_memory_t from, dnnl_memory_t to)
{
  const dnnl_memory_desc_t *a, *b;
  dnnl_primitive_desc_t desc;
  dnnl_primitive_t primitive;
  const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};

  must(dnnl_memory_get_memory_desc(from, &a));
  must(dnnl_memory_get_memory_desc(to, &b));
  must(dnnl_reorder_primitive_desc_create(&desc, a, p->engine, b, p->engine, NULL));
  must(dnnl_primitive_create(&primitive, desc));
  must(dnnl_primitive_execute(primitive, p->stream, 2, args));
  must(dnnl_primitive_desc_destroy(desc));
  must(dnnl_primitive_destroy(primitive));
}

static void run_reference(void *context)
{
  const reference *p = &((const bench *)context)->p;
  const dnnl_exec_arg_t args[] = {{p->names[0], p->x}, {p->names[1], p->w}, {p->names[2], p->y}};

  must(dnnl_primitive_execute(p->primitive, p->stream, 3, args));
  must(dnnl_stream_wait(p->stream));
}

static void describe(int result, const dnnl_memory_desc_t *x, const dnnl_memory_desc_t *w,
                     const dnnl_memory_desc_t *y, dnnl_convolution_desc_t *out)
{
  static const dnnl_dims_t one = {1, 1, 1};

  if (result == Y) {
    must(dnnl_convolution_forward_desc_init(out, dnnl_forward_training, dnnl_convolution_direct, x,
                                            w, NULL, y, one, one, one));
  } else if (result == GX) {
    must(dnnl_convolution_backward_data_desc_init(out, dnnl_convolution_direct, x, w, y, one, one,
                                                  one));
  } else {
    must(dnnl_convolution_backward_weights_desc_init(out, dnnl_convolution_direct, x, w, NULL, y,
                                                     one, one, one));
  }
}

static void make_reference(bench *b)
{
  static const int argument[][3] = {
      {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
      {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST},
      {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST},
  };
  const layer *l = b->l;
  const int64_t *e = l->extent;
  const dnnl_dims_t x = {1, l->in, e[0], e[1], e[2]}, y = {1, l->out, e[0], e[1], e[2]};
  const dnnl_dims_t w = {l->out, l->in, 3, 3, 3};
  dnnl_memory_desc_t xd, yd, wd, plain;
  dnnl_convolution_desc_t op;
  dnnl_primitive_desc_t desc;
  reference *p = &b->p;

  p->names = argument[b->result - Y];
  must(dnnl_engine_create(&p->engine, dnnl_cpu, 0));
  must(dnnl_stream_create(&p->stream, p->engine, dnnl_stream_default_flags));
  must(dnnl_memory_desc_init_by_tag(&xd, 5, x, dnnl_f32, dnnl_ndhwc));
  must(dnnl_memory_desc_init_by_tag(&yd, 5, y, dnnl_f32, dnnl_ndhwc));
  must(dnnl_memory_desc_init_by_tag(&wd, 5, w, dnnl_f32, dnnl_format_tag_any));
  must(dnnl_memory_desc_init_by_tag(&plain, 5, w, dnnl_f32, dnnl_dhwio));
  describe(b->result, &xd, &wd, &yd, &op);
  must(dnnl_primitive_desc_create(&desc, &op, NULL, p->engine, NULL));
  wd = *dnnl_primitive_desc_query_md(
      desc, b->result == GW ? dnnl_query_diff_weights_md : dnnl_query_weights_md, 0);
  must(dnnl_primitive_create(&p->primitive, desc));
  must(dnnl_primitive_desc_destroy(desc));
  must(dnnl_memory_create(&p->x, &xd, p->engine,
                          b->result == GX ? DNNL_MEMORY_ALLOCATE : b->tensor[X].data));
  must(dnnl_memory_create(&p->y, &yd, p->engine,
                          b->result == Y ? DNNL_MEMORY_ALLOCATE : b->tensor[T].data));
  must(dnnl_memory_create(&p->w, &wd, p->engine, DNNL_MEMORY_ALLOCATE));
  must(dnnl_memory_create(&p->plain, &plain, p->engine,
                          b->result == GW ? DNNL_MEMORY_ALLOCATE : b->tensor[W].data));
  if (b->result != GW) {
    reorder(p, p->plain, p->w);
  }
}

static void free_reference(reference *p)
{
  dnnl_memory_destroy(p->x);
  dnnl_memory_destroy(p->y);
  dnnl_memory_destroy(p->w);
  dnnl_memory_destroy(p->plain);
  dnnl_primitive_destroy(p->primitive);
  dnnl_stream_destroy(p->stream);
  dnnl_engine_destroy(p->engine);
}

static void run_weir(void *context)
{
  bench *b = context;
  const int first = b->result == GX ? W : X, second = b->result == Y ? W : T;
  const weir_binding bind[] = {{names[first], &b->tensor[first]},
                               {names[second], &b->tensor[second]},
                               {names[b->result], &b->tensor[b->result]}};

  bench_must(weir_plan_run(b->plan, bind, 3));
}

/* The gradient's node alone, its inputs the weights or x, and t as the gradient of y. */
static weir_graph *take_node(const weir_graph *from, weir_value v, const weir_array_desc *d,
                             int32_t x, int32_t w)
{
  const weir_node *node = weir_graph_node(from, v.node);
  weir_graph *g = NULL;
  weir_value in[2];

  bench_must(weir_graph_create(&g));
  for (int k = 0; k < node->n_in; k++) {
    const int which = node->in[k] == x ? X : node->in[k] == w ? W : T;

    in[k] = weir_input(g, names[which], &d[which]);
  }
  const weir_value y = weir_graph_add_access(g, node->op, &node->access, in, 2, WEIR_WHERE);

  weir_graph_node_mut(g, y.node)->derivation = node->derivation; /* what kernels match */
  weir_output(g, node->in[0] == x || node->in[1] == x ? "gw" : "gx", y);
  return g;
}

static weir_graph *make_graph(const bench *b)
{
  const weir_conv_spec spec = {.pad_before = {1, 1, 1}, .pad_after = {1, 1, 1}};
  weir_array_desc d[TENSORS];
  weir_graph *g = NULL;
  weir_value grad[2];

  for (int k = 0; k < TENSORS; k++) {
    d[k] = (weir_array_desc){.dtype = WEIR_F32, .rank = b->tensor[k].rank};
    memcpy(d[k].shape, b->tensor[k].shape, sizeof d[k].shape);
  }
  bench_must(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &d[X]), w = weir_input(g, "w", &d[W]);
  const weir_value y = weir_conv(g, &spec, x, w);

  if (b->result == Y) {
    weir_output(g, "y", y);
    return g;
  }
  weir_value loss = weir_mul(g, y, weir_input(g, "t", &d[T]));

  for (int k = 4; k >= 0; k--) {
    loss = weir_sum(g, loss, k);
  }
  bench_must(weir_gradients(g, loss, (weir_value[]){x, w}, 2, grad));
  weir_graph *one =
      take_node(g, grad[b->result - GX], d, weir_value_array(g, x), weir_value_array(g, w));

  weir_graph_destroy(&g);
  return one;
}

static void make_weir(bench *b)
{
  weir_graph *g = make_graph(b);
  weir_exec_cfg cfg;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  bench_must(
      weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = b->threads}, &b->plan));
  weir_graph_destroy(&g);
}

/* Greatest difference from what the reference has made, as a share of the greatest element. */
static double difference(bench *b)
{
  const weir_tensor *made = &b->tensor[b->result];
  dnnl_memory_t theirs = b->result == Y ? b->p.y : b->result == GX ? b->p.x : b->p.plain;
  void *data = NULL;
  double most = 0, scale = 0;

  if (b->result == GW) {
    reorder(&b->p, b->p.w, b->p.plain);
  }
  must(dnnl_memory_get_data_handle(theirs, &data));
  for (int64_t i = 0; i < weir_tensor_numel(made); i++) {
    most = fmax(most, fabs((double)((float *)made->data)[i] - (double)((float *)data)[i]));
    scale = fmax(scale, fabs((double)((float *)data)[i]));
  }
  return most / scale;
}

/* Seconds of this thread on the processor: what a busy machine does not change. */
static double cpu_clock(void)
{
  struct timespec t;

  return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0
             ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec
             : 0;
}

static void best_cpu(bench *b, double seconds[2])
{
  seconds[0] = seconds[1] = INFINITY;
  for (int i = 0; i < RUNS; i++) {
    const double start = cpu_clock();
    run_reference(b);
    const double middle = cpu_clock();
    run_weir(b);
    seconds[0] = fmin(seconds[0], middle - start);
    seconds[1] = fmin(seconds[1], cpu_clock() - middle);
  }
}

static void measure(bench *b)
{
  static const char *const what[] = {"forward", "by data", "by weights"};
  char work[96];
  double seconds[2];

  make_reference(b);
  make_weir(b);
  run_reference(b);
  run_weir(b);
  const double off = difference(b);

  if (!(off < 1e-4)) {
    fprintf(stderr, "conv_dnnl: %s %s: results differ by %g\n", b->l->name, what[b->result - Y],
            off);
    exit(1);
  }
  if (b->threads > 1) {
    bench_best_pair(RUNS, run_reference, b, run_weir, b, seconds);
  } else {
    best_cpu(b, seconds);
  }
  (void)snprintf(work, sizeof work, "conv %s %s", b->l->name, what[b->result - Y]);
  bench_row_of(work, "oneDNN primitive", layer_dnnl_version(), seconds[0] * 1e3, seconds[1] * 1e3,
               "ms", 0, b->l->goal);
  weir_plan_destroy(&b->plan);
  free_reference(&b->p);
}

static void fill(bench *b)
{
  const layer *l = b->l;
  const int64_t *e = l->extent;
  const int64_t x[] = {1, e[0], e[1], e[2], l->in}, y[] = {1, e[0], e[1], e[2], l->out};
  const int64_t w[] = {3, 3, 3, l->in, l->out};
  const int64_t *const shape[TENSORS] = {x, w, y, y, x, w};

  for (int k = 0; k < TENSORS; k++) {
    bench_must(weir_tensor_init(&b->tensor[k], WEIR_F32, 5, shape[k]));
    for (int64_t i = 0; i < weir_tensor_numel(&b->tensor[k]); i++) {
      ((float *)b->tensor[k].data)[i] =
          (float)((uint64_t)i * 2654435761u % 65536) * 0x1p-16f - 0.5f;
    }
  }
}

int main(int argc, char **argv)
{
  static const layer layers[] = {
      {"U 32->32 8x64x128", {8, 64, 128}, 32, 32, 0.9},
      {"C 32->64 64^3", {64, 64, 64}, 32, 64, 0.9},
      {"C 256->512 8^3",
       {8, 8, 8},
       256,
       512,
       0}, /* of 12 ms one is the packing of 14 MB of weights */
  };

  const int threads = argc > 1 ? atoi(argv[1]) : THREADS;

  omp_set_num_threads(threads);
  weir_threads_set(threads);
  for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
    bench b = {.l = &layers[i], .threads = threads};

    fill(&b);
    for (b.result = Y; b.result <= GW; b.result++) {
      measure(&b);
    }
    for (int k = 0; k < TENSORS; k++) {
      weir_tensor_fini(&b.tensor[k]);
    }
  }
  return 0;
}
