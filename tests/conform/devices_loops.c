/* devices_loops.c - maps as the native engine writes them, one iteration a thread, on every device:
 * random cases of the operators whose loop is a map, with the bits of the vector engine. */
#include <string.h>
#include "base/weir_alloc.h"
#include "batch.h"
#include "devices.h"
#include "exec/backend/native/native_priv.h"

enum { CASES = 6, MOST_JOBS = 400, BLOCK = 64 };

#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...) TEXT_OF(__VA_ARGS__)
/* A loop and its arrays, as the device reads them. */
// clang-format off
#define JOB                                                                                        \
  typedef struct job {                                                                             \
    int64_t points, n_dims, n_out;                                                                 \
    int64_t lo[NATIVE_DIMS], extent[NATIVE_DIMS];                                                  \
    int64_t size[NATIVE_OUTPUTS];                                                                  \
    int64_t offset[NATIVE_OUTPUTS][NATIVE_RANK], div[NATIVE_OUTPUTS][NATIVE_RANK];                 \
    int64_t coef[NATIVE_OUTPUTS][NATIVE_RANK][NATIVE_DIMS];                                        \
    native_view in[NATIVE_OPERANDS], out[NATIVE_OUTPUTS];                                          \
  } job;
// clang-format on
JOB

    typedef struct loop {
  batch_case *k;
  native_form form;
  void *in[WEIR_MAX_OPERANDS], *out[WEIR_MAX_OUTPUTS]; /* on the device */
  void *in_host[WEIR_MAX_OPERANDS], *out_host[WEIR_MAX_OUTPUTS];
} loop;

typedef struct work {
  batch batches[256];
  int n_batches;
  loop loops[MOST_JOBS];
  int n;
  native_text helpers, body;
} work;

/* The native engine has complex loops rewritten before it sees them. */
static bool has_complex(const weir_access *a)
{
  bool has = false;

  for (int k = 0; k < a->n_in; k++) {
    has = has || weir_dtype_is_complex(a->in[k].dtype);
  }
  for (int k = 0; k < a->body.n; k++) {
    has = has || weir_dtype_is_complex(a->body.exprs[k].dtype);
  }
  return has;
}

static void add_loops(work *w, batch *b)
{
  for (int i = 0; i < b->n && w->n < MOST_JOBS; i++) {
    loop *l = &w->loops[w->n];

    *l = (loop){.k = &b->cases[i]};
    if (l->k->access->maker == WEIR_MADE_BY_BODY && !has_complex(l->k->access) &&
        native_form_of(l->k->access, &l->form) == WEIR_OK && l->form.shape == NATIVE_MAP) {
      w->n++;
    }
  }
}

/* Draws the cases, and writes one kernel that can run each of them. */
static void make_work(work *w)
{
  static const char setup[] =
      "const job *j = jobs + which;\n"
      "const int64_t t = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;\n"
      "if (t < j->points) {\n"
      "  native_row w;\n  int64_t left = t;\n"
      "  w.n = 1;\n  w.m = 1;\n  w.at = 0;\n  w.point = t;\n  w.point_step = 0;\n"
      "  w.in = j->in;\n  w.out = j->out;\n"
      "  for (int64_t k = j->n_dims - 1; k >= 0; k--) {\n"
      "    w.i[k] = j->lo[k] + left % j->extent[k];\n    left /= j->extent[k];\n  }\n"
      "  for (int64_t o = 0; o < j->n_out; o++) {\n    int64_t at = 0;\n"
      "    for (int64_t d = 0; d < j->out[o].rank; d++) {\n"
      "      int64_t index = j->offset[o][d];\n"
      "      for (int64_t k = 0; k < j->n_dims; k++) {\n"
      "        index += j->coef[o][d][k] * w.i[k];\n      }\n"
      "      at += native_div(index, j->div[o][d]) * j->out[o].stride[d];\n    }\n"
      "    w.q[o] = j->out[o].data + at * j->size[o];\n    w.t[o] = 0;\n  }\n"
      "  switch (which) {\n";

  for (int k = 0; weir_op_cases_table[k] != NULL; k++) {
    batch *b = &w->batches[w->n_batches++];

    assert_true(w->n_batches <= (int)(sizeof w->batches / sizeof w->batches[0]));
    assert_ok(batch_make(weir_op_cases_table[k]->op, 77, CASES, b));
    add_loops(w, b);
  }
  native_put_prelude(&w->helpers);
  native_put(&w->helpers, "%s\n", TEXT(JOB));
  native_put(&w->body, "%s", setup);
  for (int k = 0; k < w->n; k++) {
    native_put_kernel(&w->loops[k].form, k, &w->helpers);
    native_put(&w->body, "  case %d:\n    border_%d(&w);\n    break;\n", k, k);
  }
  native_put(&w->body, "  }\n}");
  assert_ok(w->helpers.status);
  assert_ok(w->body.status);
}

static void free_work(work *w)
{
  for (int k = 0; k < w->n_batches; k++) {
    batch_fini(&w->batches[k]);
  }
  weir_free(&w->helpers.text);
  weir_free(&w->body.text);
}

static native_view view_on(const weir_tensor *t, void *device)
{
  const weir_view host = weir_view_of(t);
  native_view v;

  memcpy(&v, &host, sizeof v);
  v.data = device;
  return v;
}

static job job_of(const loop *l)
{
  const weir_access *a = l->k->access;
  job j = {.points = 1, .n_dims = a->n_dims, .n_out = a->n_out};

  for (int k = 0; k < a->n_dims; k++) {
    j.lo[k] = a->dim[k].lo;
    j.extent[k] = a->dim[k].hi - a->dim[k].lo;
    j.points *= j.extent[k];
  }
  for (int k = 0; k < a->n_in; k++) {
    j.in[k] = view_on(&l->k->in[k], l->in[k]);
  }
  for (int o = 0; o < a->n_out; o++) {
    j.out[o] = view_on(&l->k->expected[o], l->out[o]);
    j.size[o] = (int64_t)weir_dtype_size(a->out[o].dtype);
    for (int d = 0; d < a->out[o].rank; d++) {
      const weir_index *x = &a->out[o].index[d];
      j.offset[o][d] = x->offset;
      j.div[o][d] = x->div > 1 ? x->div : 1;
      for (int k = 0; k < a->n_dims; k++) {
        j.coef[o][d][k] = x->coef[k];
      }
    }
  }
  return j;
}

/* Arrays of all loops, in one arena of a space; `host`: which of the two places they are kept in.
 */
static void place_arrays(work *w, weir_device *device, weir_device_space space, bool host,
                         weir_device_arena **arena)
{
  int64_t bytes[MOST_JOBS * 4] = {0};
  void **to[MOST_JOBS * 4], *address[MOST_JOBS * 4];
  int n = 0;

  for (int i = 0; i < w->n; i++) {
    loop *l = &w->loops[i];
    for (int k = 0; k < l->k->access->n_in + l->k->access->n_out; k++) {
      const int o = k - l->k->access->n_in;
      assert_true(n < MOST_JOBS * 4);
      bytes[n] = (int64_t)weir_tensor_bytes(o < 0 ? &l->k->in[k] : &l->k->expected[o]);
      to[n++] = o < 0 ? (host ? &l->in_host[k] : &l->in[k]) : host ? &l->out_host[o] : &l->out[o];
    }
  }
  assert_ok(weir_device_arena_create(device, space, n, bytes, address, arena));
  for (int k = 0; k < n; k++) {
    *to[k] = address[k];
  }
}

static void launch(work *w, weir_device_queue *queue, const weir_device_kernel *kernel, job *jobs,
                   int which, int64_t points)
{
  loop *l = &w->loops[which];
  const weir_access *a = l->k->access;
  weir_device_range ranges[WEIR_MAX_OPERANDS + WEIR_MAX_OUTPUTS + 1];
  const void *const args[] = {&jobs, &which};
  int n = 0;

  ranges[n++] = (weir_device_range){jobs + which, sizeof *jobs, WEIR_DEVICE_READ};
  for (int k = 0; k < a->n_in; k++) {
    ranges[n++] =
        (weir_device_range){l->in[k], (int64_t)weir_tensor_bytes(&l->k->in[k]), WEIR_DEVICE_READ};
  }
  for (int o = 0; o < a->n_out; o++) {
    ranges[n++] = (weir_device_range){l->out[o], (int64_t)weir_tensor_bytes(&l->k->expected[o]),
                                      WEIR_DEVICE_WRITE};
  }
  assert_ok(weir_device_launch(
      queue, &(weir_device_launch_spec){.kernel = kernel,
                                        .grid = {(int)((points + BLOCK - 1) / BLOCK), 1, 1},
                                        .block = {BLOCK, 1, 1},
                                        .args = args,
                                        .ranges = ranges,
                                        .n_ranges = n}));
}

/* What the vector engine makes of the loop as it is, without the passes of a plan. */
static void run_vector(const batch_case *k)
{
  const weir_loop whole = {.access = *k->access};
  const weir_loop *const loops[] = {&whole};
  weir_view in[WEIR_MAX_OPERANDS], out[WEIR_MAX_OUTPUTS];
  void *context = NULL;

  for (int i = 0; i < k->access->n_in; i++) {
    in[i] = weir_view_of(&k->in[i]);
  }
  for (int o = 0; o < k->access->n_out; o++) {
    out[o] = weir_view_of(&k->got[WEIR_TIER_VECTOR][o]);
  }
  assert_ok(weir_engine_vector.prepare(loops, 1, &(weir_engine_opts){.threads = 1}, &context));
  weir_engine_vector.run(context,
                         &(weir_loop_run){.box = weir_iterations(k->access), .in = in, .out = out});
  weir_engine_vector.release(context);
}

static void run_loops(work *w, weir_device_queue *queue, const weir_device_kernel *kernel,
                      job *jobs_host, job *jobs)
{
  for (int i = 0; i < w->n; i++) {
    const loop *l = &w->loops[i];

    jobs_host[i] = job_of(l);
    for (int k = 0; k < l->k->access->n_in; k++) {
      const int64_t bytes = (int64_t)weir_tensor_bytes(&l->k->in[k]);
      if (bytes > 0) {
        memcpy(l->in_host[k], l->k->in[k].data, (size_t)bytes);
      }
      assert_ok(weir_device_copy(queue, l->in[k], l->in_host[k], bytes));
    }
  }
  int64_t points[MOST_JOBS];
  for (int i = 0; i < w->n; i++) {
    points[i] = jobs_host[i].points;
  }
  assert_ok(weir_device_copy(queue, jobs, jobs_host, w->n * (int64_t)sizeof *jobs));
  for (int i = 0; i < w->n; i++) {
    if (points[i] > 0) {
      launch(w, queue, kernel, jobs, i, points[i]);
      for (int o = 0; o < w->loops[i].k->access->n_out; o++) {
        assert_ok(weir_device_copy(queue, w->loops[i].out_host[o], w->loops[i].out[o],
                                   (int64_t)weir_tensor_bytes(&w->loops[i].k->expected[o])));
      }
    }
  }
  assert_ok(weir_device_queue_sync(queue));
  for (int i = 0; i < w->n; i++) {
    batch_case *k = w->loops[i].k;
    for (int o = 0; o < k->access->n_out && points[i] > 0; o++) {
      const weir_tensor *t = &k->got[WEIR_TIER_NATIVE][o];
      if (weir_tensor_bytes(t) > 0) {
        memcpy(t->data, w->loops[i].out_host[o], weir_tensor_bytes(t));
      }
    }
    run_vector(k);
    assert_int_equal(batch_differ(k, WEIR_TIER_VECTOR, WEIR_TIER_NATIVE), 0);
  }
}

/* How many of the operators have a map here; loops of one stand together. */
static int operators(const work *w)
{
  int n = 0;

  for (int i = 0; i < w->n; i++) {
    n += i == 0 || w->loops[i].k->op != w->loops[i - 1].k->op;
  }
  return n;
}

static weir_device_source source_of(const work *w)
{
  static const weir_device_param params[] = {{"const job *", "jobs", 8}, {"int", "which", 4}};

  return (weir_device_source){.name = "loops",
                              .params = params,
                              .n_params = 2,
                              .helpers = w->helpers.text,
                              .body = w->body.text};
}

static void check_loops(weir_device *device, uint64_t seed)
{
  static work w;
  weir_device_arena *arenas[4];
  weir_device_queue *queue = NULL;
  weir_device_kernel *kernel = NULL;

  if (seed > 0) {
    return; /* the cases are those of the table */
  }
  memset(&w, 0, sizeof w);
  make_work(&w);
  print_message("%s: %d maps of %d operators\n", weir_device_name(device), w.n, operators(&w));
  assert_true(w.n > 40);
  const weir_device_source source = source_of(&w);
  assert_ok(weir_device_kernel_create(device, &source, &kernel));
  assert_ok(weir_device_queue_create(device, &queue));
  place_arrays(&w, device, WEIR_SPACE_DEVICE, false, &arenas[0]);
  place_arrays(&w, device, WEIR_SPACE_STAGING, true, &arenas[1]);
  const int64_t bytes = w.n * (int64_t)sizeof(job);
  job *jobs = devices_array(device, WEIR_SPACE_DEVICE, bytes, &arenas[2]);
  job *jobs_host = devices_array(device, WEIR_SPACE_STAGING, bytes, &arenas[3]);
  run_loops(&w, queue, kernel, jobs_host, jobs);
  weir_device_queue_destroy(&queue);
  weir_device_kernel_destroy(&kernel);
  for (int k = 0; k < 4; k++) {
    weir_device_arena_destroy(&arenas[k]);
  }
  free_work(&w);
}

static void maps_give_the_bits_of_the_vector_engine(void **state)
{
  devices_each(check_loops);
}

/* Without a GPU, too, where the build has NVRTC. */
static void maps_compile_for_gpus_cuda(void **state)
{
  static work w;
  weir_device_usage usage;

  memset(&w, 0, sizeof w);
  make_work(&w);
  const weir_device_source source = source_of(&w);
  const weir_status status = weir_device_compile("cuda", "sm_90", &source, &usage);
  free_work(&w);
  if (status != WEIR_OK && strstr(weir_last_message(), "is made by a build") != NULL) {
    print_message("this build has no NVRTC: %s\n", weir_last_message());
    skip();
  }
  assert_ok(status);
  print_message("%d registers, %d bytes of stack\n", usage.registers, (int)usage.stack_bytes);
  assert_int_equal(usage.spill_bytes, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(maps_give_the_bits_of_the_vector_engine),
                                     cmocka_unit_test(maps_compile_for_gpus_cuda)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
