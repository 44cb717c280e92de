/* conv_pool_sparse_test.c - gradients after maxima over windows: as the definition has them, number
 * by number, and as the loops make them. */
#include <math.h>
#include <string.h>

#include "base/weir_random.h"
#include "support/exec/kernel_check.h"
#include "ops/conv/pool_sparse_priv.h"
#include "ops/conv/weir_conv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/ops_cases.h"
#include "support/ops/ops_check.h"
#include "ops/pool/weir_pool.h"
#include "ops/reduce/weir_reduce.h"
#include "pass/autodiff/weir_gradients.h"
#include "pass/partition/weir_spmd.h"
#include "pass/weir_pass.h"

enum { X, W, T, READ, DX = READ, DW, ALL };

/* The gradients of sum(t max over windows of conv(x, w)). */
typedef struct test_case {
  weir_graph *g;
  weir_conv_spec conv;
  weir_pool_spec pool;
  weir_array_desc desc[ALL];
  weir_tensor of[ALL];
} test_case;

static const char *const names[ALL] = {"x", "w", "t", "dx", "dw"};

/* whole: numbers of which products and sums are exact, many of them equal. */
static void fill(weir_tensor *t, uint64_t seed, uint32_t purpose, bool whole)
{
  for (int64_t i = 0; i < weir_tensor_numel(t); i++) {
    const double v = 2 * weir_random_uniform(seed, purpose, 0, (uint64_t)i) - 1;

    ((float *)t->data)[i] = (float)(whole ? floor(3 * v) : v);
  }
}

static void make(test_case *t, uint64_t seed, bool whole)
{
  t->g = new_graph();
  const weir_value from[] = {weir_input(t->g, names[X], &t->desc[X]),
                             weir_input(t->g, names[W], &t->desc[W])};
  const weir_value y = weir_pool_max(t->g, &t->pool, weir_conv(t->g, &t->conv, from[0], from[1]));

  t->desc[T] = *weir_value_desc(t->g, y);
  t->desc[DX] = t->desc[X];
  t->desc[DW] = t->desc[W];
  weir_value loss = weir_mul(t->g, y, weir_input(t->g, names[T], &t->desc[T])), grads[2];

  for (int k = t->desc[T].rank - 1; k >= 0; k--) {
    loss = weir_sum(t->g, loss, k);
  }
  assert_ok(weir_gradients(t->g, loss, from, 2, grads));
  weir_output(t->g, names[DX], grads[0]);
  weir_output(t->g, names[DW], grads[1]);
  for (int k = 0; k < ALL; k++) {
    assert_ok(weir_tensor_init(&t->of[k], WEIR_F32, t->desc[k].rank, t->desc[k].shape));
    fill(&t->of[k], seed, (uint32_t)k, whole);
  }
}

static void end(test_case *t)
{
  for (int k = 0; k < ALL; k++) {
    weir_tensor_fini(&t->of[k]);
  }
  weir_graph_destroy(&t->g);
}

/* As run_kernel, into `made`. */
static int run(test_case *t, const char *kernel, int threads, weir_tensor made[ALL])
{
  return run_kernel(t->g, kernel, threads, names, t->of, READ, ALL, made);
}

/* Extents in three dimensions, those in front that there are not with one element. */
typedef struct space {
  int64_t x[3], kernel_size[3], lo[3], window[3], y[3], in, out;
} space;

static space space_of(const test_case *t)
{
  const int d = t->desc[X].rank - 2;
  space s = {{1, 1, 1}, {1, 1, 1}, {0}, {1, 1, 1}, {1, 1, 1}, 0, 0};

  for (int k = 0; k < d; k++) {
    s.x[3 - d + k] = t->desc[X].shape[k + 1];
    s.kernel_size[3 - d + k] = t->desc[W].shape[k];
    s.lo[3 - d + k] = t->conv.pad_before[k];
    s.window[3 - d + k] = t->pool.kernel_size[k];
    s.y[3 - d + k] = t->desc[T].shape[k + 1];
  }
  s.in = t->desc[X].shape[d + 1];
  s.out = t->desc[T].shape[d + 1];
  return s;
}

/* Places of x and w that tap `tap` of element e of the convolution multiplies; false: outside. */
static bool offsets_of(const space *s, int64_t n, const int64_t e[3], int64_t tap, int64_t *x,
                       int64_t *w)
{
  const int64_t t[] = {tap / s->kernel_size[2] / s->kernel_size[1],
                       tap / s->kernel_size[2] % s->kernel_size[1], tap % s->kernel_size[2]};
  bool inside = true;

  *x = n;
  *w = tap * s->in * s->out;
  for (int d = 0; d < 3; d++) {
    const int64_t at = e[d] + t[d] - s->lo[d];

    inside = inside && at >= 0 && at < s->x[d];
    *x = *x * s->x[d] + at;
  }
  *x *= s->in;
  return inside;
}

static double convolve(const test_case *t, const space *s, int64_t n, const int64_t e[3], int64_t c)
{
  const float *x = t->of[X].data, *w = t->of[W].data;
  double sum = 0;
  int64_t from, by;

  for (int64_t tap = 0; tap < s->kernel_size[0] * s->kernel_size[1] * s->kernel_size[2]; tap++) {
    for (int64_t i = 0; offsets_of(s, n, e, tap, &from, &by) && i < s->in; i++) {
      sum += (double)x[from + i] * (double)w[by + i * s->out + c];
    }
  }
  return sum;
}

/* The element of window o that has the greatest number, the first of equal ones; false: all are
 * NaN. */
static bool pick(const test_case *t, const space *s, int64_t n, const int64_t o[3], int64_t c,
                 int64_t argmax[3])
{
  double best = 0;
  bool any = false;

  for (int64_t g = 0; g < s->window[0] * s->window[1] * s->window[2]; g++) {
    const int64_t e[] = {o[0] * s->window[0] + g / s->window[2] / s->window[1],
                         o[1] * s->window[1] + g / s->window[2] % s->window[1],
                         o[2] * s->window[2] + g % s->window[2]};
    const double z = convolve(t, s, n, e, c);

    if (any ? z > best : z == z) {
      any = true;
      best = z;
      memcpy(argmax, e, sizeof e);
    }
  }
  return any;
}

/* By the definition, into of[DX] and of[DW]. */
static void define(test_case *t)
{
  const space s = space_of(t);
  const float *x = t->of[X].data, *w = t->of[W].data, *by = t->of[T].data;
  float *dx = t->of[DX].data, *dw = t->of[DW].data;
  int64_t from, at, e[3];

  memset(dx, 0, (size_t)weir_tensor_numel(&t->of[DX]) * sizeof *dx);
  memset(dw, 0, (size_t)weir_tensor_numel(&t->of[DW]) * sizeof *dw);
  for (int64_t k = 0; k < weir_tensor_numel(&t->of[T]); k++) {
    const int64_t c = k % s.out, o = k / s.out, n = o / s.y[2] / s.y[1] / s.y[0];
    const int64_t window[] = {o / s.y[2] / s.y[1] % s.y[0], o / s.y[2] % s.y[1], o % s.y[2]};

    if (!pick(t, &s, n, window, c, e)) {
      continue;
    }
    for (int64_t tap = 0; tap < s.kernel_size[0] * s.kernel_size[1] * s.kernel_size[2]; tap++) {
      for (int64_t i = 0; offsets_of(&s, n, e, tap, &from, &at) && i < s.in; i++) {
        dx[from + i] += by[k] * w[at + i * s.out + c];
        dw[at + i * s.out + c] += by[k] * x[from + i];
      }
    }
  }
}

static void draw(uint64_t seed, test_case *t)
{
  weir_draw r = {.seed = seed};
  const int d = (int)weir_draw_int(&r, 1, 3);

  *t = (test_case){.g = NULL};
  t->desc[X] = (weir_array_desc){.dtype = WEIR_F32, .rank = d + 2};
  t->desc[W] = t->desc[X];
  t->desc[X].shape[0] = weir_draw_int(&r, 1, 2);
  for (int k = 0; k < d; k++) {
    const int64_t kernel_size = weir_draw_int(&r, 1, 4);

    t->desc[W].shape[k] = kernel_size;
    t->conv.pad_before[k] = weir_draw_int(&r, 0, kernel_size - 1);
    t->conv.pad_after[k] = weir_draw_int(&r, 0, kernel_size - 1);
    const int64_t window = weir_draw_int(&r, 2, d < 3 ? 3 : 2);

    /* More windows than a window has elements: else the adjoint counts along windows, which the
     * kernel does not read. */
    t->pool.kernel_size[k] = window;
    t->desc[X].shape[k + 1] = kernel_size - 1 + window * (window + 1) +
                              weir_draw_int(&r, 0, k == d - 1 ? 20 : 3) - t->conv.pad_before[k];
  }
  t->desc[X].shape[d + 1] = t->desc[W].shape[d] = weir_draw_int(&r, 1, d < 3 ? 70 : 20);
  t->desc[W].shape[d + 1] = weir_draw_int(&r, 1, d < 3 ? 70 : 20);
}

static void needs_vectors(void)
{
  if (pool_sparse_kernels_get() == NULL) {
    print_message(
        "skipped: this processor has no vector code for sparse gradients of max-pooling\n");
    skip();
  }
}

static void same(const test_case *t, const weir_tensor *made, double tolerance)
{
  for (int k = READ; k < ALL; k++) {
    assert_int_equal(weir_compare(names[k], WEIR_F32, made[k].data, t->of[k].data,
                                  weir_tensor_numel(&t->of[k]),
                                  (weir_tolerance){tolerance, tolerance}),
                     0);
  }
}

static void let_go(weir_tensor *made)
{
  for (int k = READ; k < ALL; k++) {
    weir_tensor_fini(&made[k]);
  }
}

/* Whole numbers, so that sums are exact and every maximum the same: no difference at all. Then with
 * NaN in x: what meets it is the argmax of no window, and no product is made of it. */
static void whole_numbers_as_defined(void **state)
{
  int claimed = 0;

  needs_vectors();
  for (uint64_t seed = 0; seed < 24; seed++) {
    weir_tensor made[ALL];
    test_case t;

    draw(seed, &t);
    make(&t, seed, true);
    define(&t);
    const int here = run(&t, "conv.pool_sparse", 1 + (int)(seed % 2), made);

    same(&t, made, 0);
    let_go(made);
    if (here == 2) {
      ((float *)t.of[X].data)[weir_tensor_numel(&t.of[X]) / 2] = NAN;
      define(&t);
      assert_int_equal(run(&t, "conv.pool_sparse", 2, made), 2);
      same(&t, made, 0);
      let_go(made);
    }
    claimed += here;
    end(&t);
  }
  assert_true(claimed >= 40); /* of 48 */
}

/* All elements of a window equal: the argmax is the first one. */
static void of_equal_ones_the_first(void **state)
{
  weir_tensor made[ALL];
  test_case t;

  needs_vectors();
  draw(0, &t);
  make(&t, 0, true);
  memset(t.of[X].data, 0, (size_t)weir_tensor_numel(&t.of[X]) * sizeof(float));
  define(&t);
  assert_int_equal(run(&t, "conv.pool_sparse", 2, made), 2);
  same(&t, made, 0);
  let_go(made);
  end(&t);
}

/* Against loops over all elements, with NaN among the gradients; the same bits on two threads. */
static void numbers_as_loops_make_them(void **state)
{
  int sums = 0;

  needs_vectors();
  for (uint64_t seed = 100; seed < 112; seed++) {
    weir_tensor plain[ALL], one[ALL], two[ALL];
    test_case t;

    draw(seed, &t);
    make(&t, seed, false);
    if (seed % 3 == 0) {
      ((float *)t.of[T].data)[weir_tensor_numel(&t.of[T]) / 3] = NAN;
    }
    assert_int_equal(run(&t, "none", 1, plain), 0);
    const int claimed = run(&t, "conv.pool_sparse", 1, one);

    sums += claimed;
    assert_int_equal(run(&t, "conv.pool_sparse", 2, two), claimed);
    for (int k = READ; k < ALL; k++) {
      const int64_t count = weir_tensor_numel(&plain[k]);

      assert_int_equal(weir_compare(names[k], WEIR_F32, one[k].data, plain[k].data, count,
                                    (weir_tolerance){2e-5, 5e-5}),
                       0);
      assert_memory_equal(one[k].data, two[k].data, (size_t)count * sizeof(float));
    }
    let_go(plain);
    let_go(one);
    let_go(two);
    end(&t);
  }
  assert_true(sums >= 20); /* of 24 */
}

/* Strides, groups and borders that wrap are left to the loops. */
static void others_are_left(void **state)
{
  const weir_conv_spec refused[] = {{.stride = {2}},
                                    {.dilation = {2}},
                                    {.groups = 2},
                                    {.border = {WEIR_BORDER_WRAP}, .pad_before = {1}}};

  needs_vectors();
  for (int i = 0; i < 4; i++) {
    const int64_t in = refused[i].groups == 2 ? 2 : 4;
    test_case t = {
        .conv = refused[i],
        .pool = {.kernel_size = {2}},
        .desc = {{.dtype = WEIR_F32, .rank = 3, .shape = {1, 40, 4}},
                 {.dtype = WEIR_F32, .rank = 3, .shape = {3, in, 16}}},
    };
    weir_tensor made[ALL];

    make(&t, 1, false);
    assert_int_equal(run(&t, "conv.pool_sparse", 1, made), 0);
    let_go(made);
    end(&t);
  }
}

/* The gradient of the maximum, and the operand that says where it was. */
static weir_node *maximum_of(const test_case *t, int *argmax)
{
  for (int32_t i = 0; i < weir_graph_nodes(t->g); i++) {
    weir_node *node = weir_graph_node_mut(t->g, i);

    for (int k = 0; k < node->n_in && node->derivation.of == &weir_op_pool; k++) {
      if (node->derivation.in[k] == WEIR_DERIVED_ARGMAX) {
        *argmax = k;
        return node;
      }
    }
  }
  return NULL;
}

static void claims(test_case *t, int expected)
{
  weir_tensor made[ALL];

  define(t);
  assert_int_equal(run(t, "conv.pool_sparse", 2, made), expected);
  same(t, made, 0);
  let_go(made);
}

/* Sides, terms and factors in another order, and a factor of 1: the same argmax. */
static void equivalent_argmax_are_recognised(void **state)
{
  test_case t;
  int argmax = 0;

  needs_vectors();
  draw(0, &t);
  make(&t, 0, true);
  weir_access *const a = &maximum_of(&t, &argmax)->access;

  for (int32_t e = 0; e < a->body.n; e++) {
    weir_expr *x = &a->body.exprs[e];
    const int32_t first = x->a;

    if (x->code == WEIR_CODE_ADD || x->code == WEIR_CODE_MUL || x->code == WEIR_CODE_EQ) {
      x->a = x->b;
      x->b = first;
    }
  }
  a->value[0] =
      weir_body_binary(&a->body, WEIR_CODE_MUL, a->value[0], weir_body_real(&a->body, WEIR_F32, 1));
  claims(&t, 2);
  end(&t);
}

/* Gradients of maxima that say of themselves what is not so, or say it of other positions, are made
 * and summed as they stand. */
static void wrong_derivations_are_not_recognised(void **state)
{
  needs_vectors();
  for (int i = 0; i < 3; i++) {
    test_case t;
    int argmax = 0;

    draw(0, &t);
    make(&t, 0, true);
    weir_node *const node = maximum_of(&t, &argmax);

    if (i == 0) {
      node->derivation.of = NULL;
    } else {
      node->derivation.in[argmax] = i == 1 ? WEIR_DERIVED_OTHER : node->derivation.in[1 - argmax];
      node->derivation.in[1 - argmax] = WEIR_DERIVED_ARGMAX;
    }
    claims(&t, 0);
    end(&t);
  }
}

static int32_t array_of(const weir_graph *g, const char *name)
{
  int32_t found = -1;

  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const weir_array *array = weir_graph_get_array(g, a);

    found = array->name != NULL && strcmp(array->name, name) == 0 ? a : found;
  }
  return found;
}

/* Groups of the kernel in what one rank of two runs of t, x sharded before that element and t
 * before that window. sparse: by pool_sparsity before it was sharded, as plans over ranks do. */
static int claimed_by(test_case *t, int rank, const int64_t of_x[3], const int64_t of_t[3],
                      bool sparse)
{
  const weir_grid grid = {.dims = 1, .extent = {2}};
  /* That one alone: which is the fastest depends on the processor. */
  const weir_pass_opts opts = {.kernel = "conv.pool_sparse", .kernels = weir_kernel_table};
  const weir_shard shards[] = {{array_of(t->g, names[X]), 1, 0, of_x, 0, 0, false},
                               {array_of(t->g, names[T]), 1, 0, of_t, 0, 0, false}};
  weir_partition *p;
  weir_spmd_graph local;
  int claimed = 0;

  assert_ok(weir_pass_run(t->g, "simplify", &opts));
  if (sparse) {
    assert_ok(weir_pass_run(t->g, "pool_sparsity", &opts));
  }
  assert_ok(weir_partition_create(t->g, &grid, shards, 2, &p));
  assert_ok(weir_spmd_lower(p, rank, &local));
  assert_ok(weir_passes_run(local.g, &opts, NULL, NULL));
  for (int32_t i = 0; i < weir_graph_groups(local.g); i++) {
    char kernels[64];

    claimed += strcmp(weir_group_kernels(weir_graph_group(local.g, i), kernels, sizeof kernels),
                      "conv.pool_sparse") == 0;
  }
  weir_spmd_graph_fini(&local);
  weir_partition_destroy(&p);
  return claimed;
}

/* Cut in two where a window begins, each rank has the gradient by weights from what it has itself;
 * where maxima and argmax move, also that by data, and both where a window is split. */
static void ranks_pick_as_well(void **state)
{
  const int64_t of_x[][3] = {{0, 8, 16}, {0, 8, 16}, {0, 7, 16}}, of_t[] = {0, 4, 8};

  needs_vectors();
  for (int i = 0; i < 6; i++) {
    test_case t = {
        .conv = {.pad_before = {1, 1}, .pad_after = {1, 1}},
        .pool = {.kernel_size = {2, 2}},
        .desc = {{.dtype = WEIR_F32, .rank = 4, .shape = {1, 16, 12, 32}},
                 {.dtype = WEIR_F32, .rank = 4, .shape = {3, 3, 32, 64}}},
    };

    make(&t, 1, false);
    assert_int_equal(claimed_by(&t, i % 2, of_x[i / 2], of_t, i >= 2), i < 2 ? 1 : 2);
    end(&t);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole_numbers_as_defined),
      cmocka_unit_test(of_equal_ones_the_first),
      cmocka_unit_test(numbers_as_loops_make_them),
      cmocka_unit_test(others_are_left),
      cmocka_unit_test(ranks_pick_as_well),
      cmocka_unit_test(equivalent_argmax_are_recognised),
      cmocka_unit_test(wrong_derivations_are_not_recognised),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
