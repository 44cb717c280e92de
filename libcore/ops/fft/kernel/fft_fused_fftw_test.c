/* fft_fused_fftw_test.c - maps between transforms of real planes, which run block by block with
 * them, give the bits that they give apart from them: random planes, batches, layouts and maps. */
#include <math.h>
#include <string.h>

#include "base/weir_random.h"
#include "exec/weir_plan.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/fft/weir_fft.h"
#include "ops/ops_cases.h"
#include "ops/slice/weir_slice.h"
#include "support/ops/ops_check.h"

enum { A, B, C, IN, MAP = IN, Y, ALL, RANK = 4, CASES = 160 };

static const char *const names[ALL] = {"a", "b", "c", "map", "y"};

/* What the transforms are between, and which of them there are. */
typedef struct test_case {
  weir_graph *g;
  bool has[ALL];
  weir_tensor data[ALL]; /* inputs, and the results of the operators apart from each other */
} test_case;

/* Planes of ny x nx points and wy x wx waves, in arrays whose other dimensions are a batch. */
typedef struct shape {
  weir_dtype dtype;
  int dim[2];
  int64_t points[2], waves[2], batch[RANK];
} shape;

static shape draw_shape(weir_draw *r)
{
  static const int dims[][2] = {{2, 3}, {2, 3}, {2, 3}, {0, 3}, {1, 2}};
  const int *const dim = dims[weir_draw_int(r, 0, 4)];
  shape s = {.dtype = weir_draw_one_in(r, 2) ? WEIR_F32 : WEIR_F64, .dim = {dim[0], dim[1]}};

  for (int k = 0; k < 2; k++) {
    s.points[k] = weir_draw_one_in(r, 10) ? 1 : weir_draw_int(r, 2, 40);
    const int64_t all = k == 1 ? s.points[k] / 2 + 1 : s.points[k];

    s.waves[k] = weir_draw_one_in(r, 3) ? all : weir_draw_int(r, 1, all);
  }
  for (int d = 0; d < RANK; d++) {
    s.batch[d] = weir_draw_int(r, 1, 4);
  }
  return s;
}

/* Of planes, or of their spectra; one: the first dimension of the batch has one element. */
static weir_array_desc desc_of(const shape *s, bool spectra, bool one)
{
  weir_array_desc d = {.dtype = spectra ? weir_dtype_complex(s->dtype) : s->dtype, .rank = RANK};
  bool first = one;

  for (int k = 0; k < RANK; k++) {
    const int plane = k == s->dim[0] ? 0 : k == s->dim[1] ? 1 : -1;

    d.shape[k] = plane < 0 ? s->batch[k] : spectra ? s->waves[plane] : s->points[plane];
    if (plane < 0 && first) {
      d.shape[k] = 1;
      first = false;
    }
  }
  return d;
}

static weir_value source(test_case *t, int k, const weir_array_desc *d, weir_draw *r)
{
  const int64_t spoilt = weir_draw_one_in(r, 12) ? weir_draw_int(r, 0, 3) : -1;

  assert_ok(weir_tensor_init(&t->data[k], d->dtype, d->rank, d->shape));
  for (int64_t i = 0; i < weir_tensor_numel(&t->data[k]) * weir_dtype_parts(d->dtype); i++) {
    const double x = 2 * weir_random_uniform(r->seed, (uint32_t)k, 0, (uint64_t)i) - 1;

    weir_dtype_store_real(weir_dtype_part(d->dtype), t->data[k].data, i, i == spoilt ? NAN : x);
  }
  t->has[k] = true;
  return weir_input(t->g, names[k], d);
}

static void result(test_case *t, int k, weir_value v)
{
  const weir_array_desc *d = weir_value_desc(t->g, v);

  t->has[k] = true;
  assert_ok(weir_tensor_init(&t->data[k], d->dtype, d->rank, d->shape));
  weir_output(t->g, names[k], v);
}

/* Planes: given, or transforms of spectra. */
static weir_value planes_of(test_case *t, const shape *s, int k, bool one, bool given, weir_draw *r)
{
  const weir_array_desc d = desc_of(s, !given, one);
  const weir_value x = source(t, k, &d, r);

  return given ? x
               : weir_fft(t->g, x,
                          (&(weir_fft_spec){.kind = WEIR_FFT_TO_REAL,
                                            .n_dims = 2,
                                            .dim = {s->dim[0], s->dim[1]},
                                            .extent = {s->points[0], s->points[1]},
                                            .scale = weir_draw_one_in(r, 3) ? 0.5 : 0}));
}

/* Rows times those after them (the last one is left out), which tiles cannot serve apart. */
static weir_value neighbours(test_case *t, const shape *s, weir_value v)
{
  return weir_mul(t->g, weir_slice(t->g, v, s->dim[0], 0, s->points[0] - 1, 1),
                  weir_slice(t->g, v, s->dim[0], 1, WEIR_SLICE_END, 1));
}

static void make(test_case *t, weir_draw *r)
{
  shape s = draw_shape(r);
  const bool given = weir_draw_one_in(r, 5), back = given || !weir_draw_one_in(r, 5);
  weir_value v;

  *t = (test_case){.g = new_graph()};
  v = planes_of(t, &s, A, false, given, r);
  if (weir_draw_one_in(r, 2)) {
    v = weir_mul(t->g, v, planes_of(t, &s, B, weir_draw_one_in(r, 2), given, r));
  }
  if (weir_draw_one_in(r, 2)) {
    v = weir_add(t->g, v, planes_of(t, &s, C, weir_draw_one_in(r, 2), true, r));
  }
  v = weir_draw_one_in(r, 2) ? weir_mul(t->g, v, v) : weir_scale(t->g, v, 3);
  if (s.points[0] > 1 && weir_draw_one_in(r, 8)) {
    v = neighbours(t, &s, v);
    s.points[0]--;
    s.waves[0] = s.waves[0] < s.points[0] ? s.waves[0] : s.points[0];
  }
  if (!back || weir_draw_one_in(r, 4)) {
    result(t, MAP, v);
  }
  if (back) {
    result(t, Y,
           weir_fft(t->g, v,
                    (&(weir_fft_spec){.kind = WEIR_FFT_REAL,
                                      .n_dims = 2,
                                      .dim = {s.dim[0], s.dim[1]},
                                      .extent = {s.waves[0], s.waves[1]},
                                      .scale = weir_draw_one_in(r, 2) ? 0.25 : 0})));
  }
  assert_ok(weir_graph_status(t->g));
}

/* Runs twice; results into `out`. Returns the most kernels' members of one group with others. */
static int run(const test_case *t, const weir_exec_cfg *cfg, int threads, weir_tensor *out)
{
  weir_binding bindings[ALL];
  weir_plan *plan = NULL;
  int n = 0, most = 0;

  for (int k = 0; k < ALL; k++) {
    if (t->has[k]) {
      bindings[n++] = (weir_binding){names[k], k < IN ? (weir_tensor *)&t->data[k] : &out[k]};
    }
  }
  assert_ok(
      weir_plan_create(t->g, NULL, &(weir_plan_opts){.exec = cfg, .threads = threads}, &plan));
  for (int twice = 0; twice < 2; twice++) {
    assert_ok(weir_plan_run(plan, bindings, n));
  }
  for (int32_t i = 0; i < weir_plan_groups(plan); i++) {
    const weir_group_report r = weir_plan_group(plan, i);

    if (strcmp(r.kernel, "fft.planes") == 0 && strchr(r.members, ',') != NULL) {
      const int begins = strncmp(r.members, "fft", 3) == 0;
      const int ends = strcmp(r.members + strlen(r.members) - 3, "fft") == 0;

      most = begins + ends > most ? begins + ends : most;
    }
  }
  weir_plan_destroy(&plan);
  return most;
}

/* The results in groups have the bits of those apart. Returns as `run`. */
static int agree(test_case *t, weir_draw *r)
{
  weir_tensor out[ALL] = {{.rank = 0}};
  weir_exec_cfg cfg;
  int fused = 0;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  cfg.fusion = false;
  assert_int_equal(run(t, &cfg, 1, t->data), 0);
  for (int k = IN; k < ALL; k++) {
    if (t->has[k]) {
      assert_ok(weir_tensor_init(&out[k], t->data[k].dtype, RANK, t->data[k].shape));
    }
  }
  cfg.fusion = true;
  for (int way = 0; way < 3; way++) {
    cfg.cache_bytes = way == 1 ? weir_draw_int(r, 1, 1 << 15) : 0;
    cfg.verify = way == 2 && weir_draw_one_in(r, 4);
    fused = run(t, &cfg, 1 + way, out);
    for (int k = IN; k < ALL; k++) {
      if (t->has[k]) {
        assert_memory_equal(out[k].data, t->data[k].data, weir_tensor_bytes(&out[k]));
      }
    }
  }
  for (int k = 0; k < ALL; k++) {
    weir_tensor_fini(&out[k]);
  }
  return fused;
}

static void maps_between_transforms_have_the_bits_of_maps_apart(void **state)
{
  int total[3] = {0};

  for (uint64_t seed = 1; seed <= CASES; seed++) {
    weir_draw r = {.seed = seed};
    test_case t;

    make(&t, &r);
    total[agree(&t, &r)]++;
    for (int k = 0; k < ALL; k++) {
      weir_tensor_fini(&t.data[k]);
    }
    weir_graph_destroy(&t.g);
  }
  print_message("of %d: %d with one transform in the group of the map, %d with both\n", CASES,
                total[1], total[2]);
  assert_true(total[1] > CASES / 8 && total[2] > CASES / 4);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(maps_between_transforms_have_the_bits_of_maps_apart),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
