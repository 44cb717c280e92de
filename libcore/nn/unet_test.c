/* unet_test.c - parameter counts of published U-Nets, shapes in one to three dimensions, refusals.
 */
#include "nn/weir_unet.h"
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "exec/weir_plan.h"

/* An input of one batch, and what the network makes of it. */
typedef struct trial {
  weir_unet_opts opts;
  weir_array_desc in;
  int64_t outputs;
} trial;

static trial usual(int preset, weir_array_desc in, int64_t outputs)
{
  trial t = {.in = in, .outputs = outputs};

  weir_opts_default(weir_unet_options, sizeof t.opts, &t.opts);
  t.opts.preset = preset;
  return t;
}

/* Declares it and returns the elements of its parameters, or -1 and the status. */
static int64_t declare(const trial *t, weir_status *status)
{
  weir_params *params;
  weir_graph *g;
  weir_net net;

  assert_ok(weir_params_create(WEIR_F32, &params));
  assert_ok(weir_graph_create(&g));
  weir_net_init(&net, g, params, true);
  const weir_value y = weir_unet(&net, &t->opts, t->outputs, weir_input(g, "x", &t->in));

  *status = weir_graph_status(g);
  if (*status == WEIR_OK) {
    const weir_array_desc *out = weir_value_desc(g, y);

    assert_int_equal(out->rank, t->in.rank);
    assert_memory_equal(out->shape, t->in.shape, (size_t)(t->in.rank - 1) * sizeof(int64_t));
    assert_int_equal(out->shape[out->rank - 1], t->outputs);
    assert_int_equal(net.scope[0], 0);
  }
  const int64_t elements = *status == WEIR_OK ? weir_params_elements(params) : -1;

  weir_net_fini(&net);
  weir_graph_destroy(&g);
  weir_params_destroy(&params);
  return elements;
}

static int64_t elements_of(const trial *t)
{
  weir_status status;
  const int64_t n = declare(t, &status);

  assert_ok(status);
  return n;
}

/* The bias net of arXiv:2005.08748, UNETl: kernels of 3 x 3 x 3 (1 x 3 x 3 after an interpolation)
 * on fields of depth 1. Counted from its code: 0.29, 0.99, 4.68 and 19.4 million. */
static void bias_nets_have_their_counts(void **state)
{
  static const int64_t counts[] = {289703, 990823, 4679399, 19429351};

  for (int64_t l = 0; l < 4; l++) {
    trial t = usual(WEIR_UNET_PAPER, (weir_array_desc){WEIR_F32, 5, {1, 1, 16, 32, 14}, 0}, 7);

    t.opts.levels = l;
    t.opts.bottleneck_convs = l == 0 ? 4 : 0;
    t.opts.block.norm = WEIR_NORM_BATCH;
    t.opts.residual = true;
    t.opts.z.pool = t.opts.z.up = 1;
    assert_int_equal(elements_of(&t), counts[l]);
  }
}

/* U of arXiv:2007.12856 as LBANN has it: no biases, transposed convolutions of 2 x 2 x 2. */
static void the_3d_unet_of_lbann_has_its_count(void **state)
{
  trial t = usual(WEIR_UNET_PAPER, (weir_array_desc){WEIR_F32, 5, {1, 16, 16, 16, 1}, 0}, 3);

  t.opts.levels = 3;
  t.opts.upsampling = WEIR_UNET_UP_TRANSPOSED;
  t.opts.block.norm = WEIR_NORM_BATCH;
  t.opts.block.bias = false;
  assert_int_equal(elements_of(&t), 19070560);
}

/* The U-Net of ENS-10 (arXiv:2206.14786): 631,296 weights, and a shift and a scale or bias and
 * shift and scale for each filter. */
static void the_unet_of_ens10_has_its_count(void **state)
{
  const int64_t filters = 2 * 32 + 2 * 64 + 3 * 128 + 64 + 64 + 32 + 2 * 32;
  trial t = usual(WEIR_UNET_PAPER, (weir_array_desc){WEIR_F32, 4, {1, 16, 32, 14}, 0}, 2);

  t.opts.levels = 2;
  t.opts.bottleneck_convs = 4;
  t.opts.widen = WEIR_UNET_WIDEN_FIRST;
  t.opts.narrow = true;
  t.opts.up_conv = false;
  t.opts.block.norm = WEIR_NORM_BATCH;
  t.opts.head_kernel = 3;
  assert_int_equal(elements_of(&t), 631296 + 3 * filters + 2);
}

/* arXiv:2005.08748: 7 weights and a bias for every position, and a gain. */
static void a_local_layer_has_weights_for_every_place(void **state)
{
  trial t = usual(WEIR_UNET_PAPER, (weir_array_desc){WEIR_F32, 4, {1, 16, 32, 14}, 0}, 7);
  const int64_t without = elements_of(&t);

  t.outputs = 1;
  t.opts.locally_connected = 7;
  t.opts.residual = true;
  assert_int_equal(elements_of(&t), without + (7 + 1) * 16 * 32 + 1);
}

static void every_option_makes_a_network_of_the_input_s_size(void **state)
{
  static const int64_t extents[] = {4, 13, 8};
  int made = 0;

  for (int i = 0; i < 3 * 2 * 5 * 2 * 2 * 2; i++) {
    const int dims = 1 + i % 3;
    trial t = usual(WEIR_UNET_TINY, (weir_array_desc){.dtype = WEIR_F32, .rank = dims + 2}, 3);

    t.in.shape[0] = 2;
    t.in.shape[dims + 1] = 5;
    for (int d = 0; d < dims; d++) {
      t.in.shape[1 + d] = extents[3 - dims + d];
    }
    t.opts.levels = 2;
    t.opts.skip = i / 3 % 2;
    t.opts.block.norm = i / 6 % 5;
    t.opts.widen = i / 30 % 2;
    t.opts.narrow = i / 60 % 2;
    t.opts.upsampling = i / 120 % 2;
    t.opts.residual = i % 2;
    t.opts.convs = 1 + i % 3;
    made += elements_of(&t) > 0;
  }
  assert_int_equal(made, 240);
}

/* A forecast of two fields, and the network's correction of it, before any training. */
static void correct(const trial *t, const float *x, float *y)
{
  weir_tensor in = weir_tensor_wrap((void *)(uintptr_t)x, WEIR_F32, t->in.rank, t->in.shape);
  weir_array_desc made = t->in;
  weir_params *params;
  weir_store *store;
  weir_graph *g[2];
  weir_plan *plan;

  made.shape[made.rank - 1] = t->outputs;
  weir_tensor out = weir_tensor_wrap(y, WEIR_F32, made.rank, made.shape);

  assert_ok(weir_params_create(WEIR_F32, &params));
  assert_ok(weir_store_create(&store));
  for (int k = 0; k < 2; k++) { /* declares; predicts */
    weir_net net;

    assert_ok(weir_graph_create(&g[k]));
    weir_net_init(&net, g[k], params, false);
    weir_output(g[k], "y", weir_unet(&net, &t->opts, t->outputs, weir_input(g[k], "x", &t->in)));
    assert_ok(weir_graph_status(g[k]));
    weir_net_fini(&net);
    if (k == 0) {
      assert_ok(weir_params_seal(params, store));
      assert_ok(weir_params_init(params, store, 5));
    }
  }
  assert_ok(weir_plan_create(g[1], store, NULL, &plan));
  assert_ok(weir_plan_run(plan, (weir_binding[]){{"x", &in}, {"y", &out}}, 2));
  weir_plan_destroy(&plan);
  weir_graph_destroy(&g[0]);
  weir_graph_destroy(&g[1]);
  weir_params_destroy(&params);
  weir_store_destroy(&store);
}

/* The local layer begins as 0, so that the residual is all there is; without it, something is
 * added. */
static void a_correction_begins_as_none(void **state)
{
  enum { Y = 6, X = 8, IN = 5, OUT = 2 };
  float x[Y * X * IN], y[Y * X * OUT];
  trial t = usual(WEIR_UNET_TINY, (weir_array_desc){WEIR_F32, 4, {1, Y, X, IN}, 0}, OUT);
  int differ = 0;

  for (int i = 0; i < Y * X * IN; i++) {
    x[i] = (float)weir_random_uniform(1, 2, 0, (uint64_t)i);
  }
  t.opts.residual = true;
  t.opts.border = (weir_nn_borders){0, 2, 1};
  for (t.opts.locally_connected = 0; t.opts.locally_connected < 2; t.opts.locally_connected++) {
    correct(&t, x, y);
    for (int i = 0; i < Y * X * OUT; i++) {
      const float forecast = x[i / OUT * IN + IN - OUT + i % OUT];

      differ += t.opts.locally_connected == 0 && y[i] != forecast;
      assert_true(t.opts.locally_connected == 0 || y[i] == forecast);
    }
  }
  assert_true(differ > Y * X * OUT / 2);
}

enum { LEVEL_Z = 5, LEVEL_Y = 6, LEVEL_X = 8, LEVEL_IN = 3, LEVEL_OUT = 2 };

static trial of_levels(int form, int64_t levels)
{
  const weir_array_desc in = {WEIR_F32, 5, {1, LEVEL_Z, LEVEL_Y, LEVEL_X, LEVEL_IN}, 0};
  trial t = usual(WEIR_UNET_TINY, in, LEVEL_OUT);

  t.opts.form = form;
  t.opts.levels = levels;
  t.opts.z.pool = 1;
  return t;
}

/* Two convolutions with 4 and 8 filters and a head, with kernels of 3 in every dimension. */
static void forms_have_their_counts(void **state)
{
  enum { NORMS = 2 * 4 + 2 * 8, HEAD = 8 * LEVEL_OUT + LEVEL_OUT };
  enum {
    FULL = 27 * LEVEL_IN * 4 + 4 + 27 * 4 * 8 + 8,
    FLAT = 9 * LEVEL_IN * 4 + 4 + 9 * 4 * 8 + 8
  };
  static const int64_t counts[] = {FULL, FLAT + 3 * 4 * 4 + 4 + 3 * 8 * 8 + 8,
                                   FLAT + 2 * LEVEL_Z * (4 + 8)};

  for (int form = WEIR_UNET_FULL; form <= WEIR_UNET_AFFINE; form++) {
    const trial t = of_levels(form, 0);

    assert_int_equal(elements_of(&t), counts[form] + NORMS + HEAD);
  }
}

/* A change at the first z: where the output changes. Affine networks see each z by itself, the
 * others its neighbours too. */
static void forms_reach_as_far_as_they_should(void **state)
{
  enum {
    PLANE = LEVEL_Y * LEVEL_X,
    X = LEVEL_Z * PLANE * LEVEL_IN,
    Y = LEVEL_Z * PLANE * LEVEL_OUT
  };
  static float x[X], y[2][Y];

  for (int form = WEIR_UNET_FULL; form <= WEIR_UNET_AFFINE; form++) {
    trial t = of_levels(form, 1);
    int changed[LEVEL_Z] = {0};

    t.opts.block.norm = WEIR_NORM_NONE;
    for (int k = 0; k < 2; k++) {
      for (int i = 0; i < X; i++) {
        x[i] = (float)weir_random_normal(1, 2, i < PLANE * LEVEL_IN ? (uint32_t)k : 0, (uint64_t)i);
      }
      correct(&t, x, y[k]);
    }
    for (int i = 0; i < Y; i++) {
      changed[i / (PLANE * LEVEL_OUT)] += y[0][i] != y[1][i];
    }
    assert_true(changed[0] > PLANE);
    for (int z = 1; z < LEVEL_Z; z++) {
      assert_true((changed[z] > 0) == (form != WEIR_UNET_AFFINE));
    }
  }
}

static void refused(trial *t, const char *text)
{
  weir_status status;

  assert_int_equal(declare(t, &status), -1);
  assert_int_equal(status, WEIR_ERR_SHAPE);
  assert_non_null(strstr(weir_last_message(), text));
}

static void wrong_inputs_are_refused(void **state)
{
  trial flat = usual(WEIR_UNET_TINY, (weir_array_desc){WEIR_F32, 2, {4, 5}, 0}, 2);
  trial odd = usual(WEIR_UNET_TINY, (weir_array_desc){WEIR_F32, 3, {1, 9, 2}, 0}, 2);
  trial few = usual(WEIR_UNET_TINY, (weir_array_desc){WEIR_F32, 3, {1, 8, 2}, 0}, 3);
  trial small = usual(WEIR_UNET_TINY, (weir_array_desc){WEIR_F32, 3, {1, 2, 2}, 0}, 3);

  refused(&flat, "1 to 3 dimensions");
  odd.opts.upsampling = WEIR_UNET_UP_TRANSPOSED;
  refused(&odd, "transposed");
  few.opts.residual = true;
  refused(&few, "residual");
  small.opts.levels = 2;
  refused(&small, "pool");
  trial plane = usual(WEIR_UNET_TINY, (weir_array_desc){WEIR_F32, 4, {1, 8, 8, 2}, 0}, 2);

  plane.opts.form = WEIR_UNET_AFFINE;
  refused(&plane, "three spatial dimensions");
}

static void options_are_complete(void **state)
{
  assert_int_equal(weir_opts_incomplete(weir_unet_options), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bias_nets_have_their_counts),
      cmocka_unit_test(the_3d_unet_of_lbann_has_its_count),
      cmocka_unit_test(the_unet_of_ens10_has_its_count),
      cmocka_unit_test(a_local_layer_has_weights_for_every_place),
      cmocka_unit_test(every_option_makes_a_network_of_the_input_s_size),
      cmocka_unit_test(a_correction_begins_as_none),
      cmocka_unit_test(forms_have_their_counts),
      cmocka_unit_test(forms_reach_as_far_as_they_should),
      cmocka_unit_test(wrong_inputs_are_refused),
      cmocka_unit_test(options_are_complete),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
