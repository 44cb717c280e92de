/* distributed.c - layers over a grid of ranks against one rank: forward, gradients and updated
 * weights. The argument is how many ranks were started. */
#include "support/graph/store_check.h"
#include "distributed_nets.h"

#include "ops/conv/pool_sparse_priv.h"
#include "ops/conv/weir_conv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/pool/weir_pool.h"
#include "ops/reduce/weir_reduce.h"
#include "pass/autodiff/weir_gradients.h"

static int ranks;

static double within(weir_dtype dtype)
{
  return dtype == WEIR_F64 ? 1e-12 : dtype == WEIR_F32 ? 1e-5 : 0;
}

static int64_t draw(uint64_t seed, uint32_t what, int64_t least, int64_t most)
{
  return least + (int64_t)(weir_random_bits(seed, what, 3, 0) % (uint64_t)(most - least + 1));
}

/* A grid of d dimensions, random where the ranks can be divided. */
static weir_grid draw_grid(uint64_t seed, int d)
{
  weir_grid g = {.dims = d};
  int left = ranks;

  for (int k = 0; k < d; k++) {
    g.extent[k] = 1;
  }
  for (int f = 2; left > 1; f++) {
    for (; left % f == 0; left /= f) {
      g.extent[draw(seed, 100 + (uint32_t)left, 0, d - 1)] *= f;
    }
  }
  return g;
}

static weir_value parameter(dist_case *c, const char *name, int rank, const int64_t *shape)
{
  assert_ok(weir_store_add(c->store, name, c->dtype, rank, shape));
  dist_fill(name, check_stored(c->store, name));
  return weir_stored(c->g, c->store, name);
}

/* y and what its weighted sum has as gradients by x and the parameters, which take a step. */
static void finish(dist_case *c, weir_value x, weir_value y, const weir_value *param, int n)
{
  weir_value wrt[8] = {x}, grad[8];
  char name[16];

  weir_output(c->g, "y", y);
  for (int k = 0; k < n; k++) {
    wrt[k + 1] = param[k];
  }
  const weir_value loss = weir_sum(c->g, weir_mul(c->g, y, y), -1);

  weir_output(c->g, "loss", loss);
  assert_ok(weir_gradients(c->g, loss, wrt, n + 1, grad));
  for (int k = 0; k <= n; k++) {
    (void)snprintf(name, sizeof name, "g%d", k);
    weir_output(c->g, name, grad[k]);
    if (k > 0) {
      weir_update(c->g, param[k - 1],
                  weir_sub(c->g, param[k - 1], weir_scale(c->g, grad[k], 0.125)));
    }
  }
}

static uint64_t seed_of(const dist_case *c)
{
  return (uint64_t)c->shrink;
}

/* Samples and up to three dimensions, each of 1 to 4 ranks, even or not. */
static weir_value build_input(dist_case *c, int d, const int64_t *extent, int64_t channels)
{
  const uint64_t seed = seed_of(c);
  weir_array_desc desc = {c->dtype, d + 2, {draw(seed, 1, 1, 5)}, 0};

  memcpy(desc.shape + 1, extent, (size_t)d * sizeof *extent);
  desc.shape[d + 1] = channels;
  const weir_value x = weir_input(c->g, "x", &desc);

  c->grid = draw_grid(seed, d + 1);
  for (int k = 0; k <= d; k++) {
    dist_cut(c, x, k, k, draw(seed, 2, 0, 1) == 0 ? 0 : seed);
  }
  return x;
}

static void build_conv(dist_case *c)
{
  static const int64_t sizes[] = {1, 2, 3, 5}, channels[] = {1, 3, 4, 33};
  const uint64_t seed = seed_of(c);
  const int d = (int)draw(seed, 4, 1, 3);
  weir_conv_spec s = {.groups = 1};
  int64_t extent[3], shape[5];

  for (int k = 0; k < d; k++) {
    const uint32_t here = 10 * (uint32_t)(k + 1);

    shape[k] = sizes[draw(seed, here, 0, 3)];
    s.stride[k] = draw(seed, here + 1, 1, 2);
    s.pad_before[k] = draw(seed, here + 2, 0, 1) * (shape[k] - 1) / 2;
    s.pad_after[k] = s.pad_before[k] > 0 ? shape[k] - 1 - s.pad_before[k] : 0;
    extent[k] = shape[k] + draw(seed, here + 3, 0, 9);
  }
  shape[d] = channels[draw(seed, 5, 0, 3)];
  shape[d + 1] = shape[d] < 33 ? draw(seed, 6, 1, 4) : 1; /* time */
  const weir_value x = build_input(c, d, extent, shape[d]);
  const weir_value w[] = {parameter(c, "w", d + 2, shape), parameter(c, "b", 1, shape + d + 1)};

  finish(c, x, weir_tanh(c->g, weir_add(c->g, weir_conv(c->g, &s, x, w[0]), w[1])), w, 2);
}

static void build_pool(dist_case *c)
{
  const uint64_t seed = seed_of(c);
  const int d = (int)draw(seed, 4, 1, 3);
  weir_pool_spec s = {.exclude_pad = draw(seed, 7, 0, 1) == 1};
  int64_t extent[3];

  for (int k = 0; k < d; k++) {
    const uint32_t here = 10 * (uint32_t)(k + 1);

    s.kernel_size[k] = draw(seed, here, 1, 3);
    s.stride[k] = draw(seed, here + 1, 1, 2);
    s.pad_before[k] = draw(seed, here + 2, 0, s.kernel_size[k] - 1);
    s.pad_after[k] = draw(seed, here + 4, 0, s.kernel_size[k] - 1);
    extent[k] = s.kernel_size[k] + draw(seed, here + 3, 0, 9);
  }
  const weir_value x = build_input(c, d, extent, draw(seed, 5, 1, 4));

  finish(c, x, draw(seed, 8, 0, 1) == 0 ? weir_pool_max(c->g, &s, x) : weir_pool_mean(c->g, &s, x),
         NULL, 0);
}

/* Others for every number of ranks; tests/conform/distributed_layers.c has them all. The compiler,
 * which takes most of the time, is waited for in one case of each dtype. */
static void check(const char *name, void (*build)(dist_case *), int cases)
{
  weir_exec_cfg exec;

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = WEIR_TIER_VECTOR;
  assert_int_equal(weir_comm_size(dist_comm), ranks);
  for (int i = 0; i < cases; i++) {
    dist_case c = {.name = name, .build = build, .shrink = cases * ranks + i};

    c.dtype = i % 2 == 0 ? WEIR_F64 : WEIR_F32;
    c.exec = i < 2 ? NULL : &exec;
    c.within = within(c.dtype);
    dist_check(&c);
  }
}

/* Grids of the ranks there are: samples, then depth, height, width; and uneven ones. */
static const struct {
  int ranks, extent[4];
  uint64_t uneven;
} grids[] = {
    {1, {1, 1, 1, 1}, 0}, {2, {1, 2, 1, 1}, 0}, {2, {2, 1, 1, 1}, 0}, {2, {1, 1, 1, 2}, 5},
    {3, {1, 1, 1, 3}, 9}, {3, {3, 1, 1, 1}, 0}, {4, {1, 1, 2, 2}, 0}, {4, {1, 2, 2, 1}, 0},
    {4, {2, 2, 1, 1}, 0}, {4, {1, 4, 1, 1}, 3},
};

static void build_cosmo(dist_case *c)
{
  dist_build(c, dist_cosmo, 3, (int64_t[]){12, 8, 14}, (uint64_t)c->shrink);
}

/* One sample: the oracle computes each element by the definition, in seconds. */
static void build_verified(dist_case *c)
{
  dist_build(c, dist_cosmo, 1, (int64_t[]){12, 8, 14}, 0);
}

static void build_unet(dist_case *c)
{
  dist_build(c, dist_unet, 2, (int64_t[]){12, 8, 8}, (uint64_t)c->shrink);
}

/* From the second level on: whole on every rank; with the samples and the height sharded as they
 * were, or otherwise. */
static void gather_middle(dist_case *c, bool all)
{
  if (all) {
    c->cuts[c->n_cuts++] = (weir_shard){.array = weir_value_array(c->g, dist_middle), .dim = -1};
    return;
  }
  dist_cut(c, dist_middle, 0, 0, (uint64_t)c->shrink);
  dist_cut(c, dist_middle, 2, 2, (uint64_t)c->shrink);
}

static void build_gathered_cosmo(dist_case *c)
{
  build_cosmo(c);
  gather_middle(c, c->dtype == WEIR_F64);
}

static void build_gathered_unet(dist_case *c)
{
  build_unet(c);
  gather_middle(c, c->dtype == WEIR_F32);
}

/* Returns the number of cases; all but the first in f32 run on the vector engine, which waits for
 * no compiler. */
static int check_nets(const char *name, void (*build)(dist_case *))
{
  weir_exec_cfg exec;
  int n = 0;

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = WEIR_TIER_VECTOR;
  for (size_t i = 0; i < sizeof grids / sizeof grids[0]; i++) {
    for (int half = 0; half < 2 && grids[i].ranks == ranks; half++) {
      dist_case c = {.name = name, .build = build, .shrink = (int)grids[i].uneven};

      c.dtype = half == 0 ? WEIR_F64 : WEIR_F32;
      c.within = within(c.dtype);
      c.exec = n == 1 ? NULL : &exec;
      c.grid.dims = 4;
      memcpy(c.grid.extent, grids[i].extent, sizeof grids[i].extent);
      dist_check(&c);
      n++;
    }
  }
  return n;
}

static void a_network_as_cosmoflow(void **state)
{
  assert_true(check_nets("cosmo", build_cosmo) > 0);
}

static void a_network_as_a_unet(void **state)
{
  assert_true(check_nets("unet", build_unet) > 0);
}

static void a_map_that_is_gathered(void **state)
{
  assert_true(check_nets("gathered cosmo", build_gathered_cosmo) > 0);
  assert_true(check_nets("gathered unet", build_gathered_unet) > 0);
}

/* The oracle runs after every pass, on all ranks together. */
static void passes_are_verified(void **state)
{
  weir_exec_cfg exec;
  dist_case c = {.name = "verified", .build = build_verified, .dtype = WEIR_F64, .within = 1e-12};

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.verify = 1;
  exec.tier = WEIR_TIER_VECTOR;
  c.exec = &exec;
  c.grid = (weir_grid){4, {1, ranks, 1, 1}};
  dist_check(&c);
  assert_int_equal(c.n_cuts, 5);
}

static void convolutions(void **state)
{
  check("conv", build_conv, 8);
}

static void pools(void **state)
{
  check("pool", build_pool, 8);
}

/* Enough channels for the kernel for max-pooling: gradients by data and by weights. */
static void build_argmax(dist_case *c)
{
  enum { IN = 16, OUT = 32 };
  const uint64_t seed = seed_of(c);
  const weir_conv_spec same = {.pad_before = {1, 1, 1}, .pad_after = {1, 1, 1}};
  const weir_pool_spec pairs = {.kernel_size = {2, 2, 2}};
  const int64_t extent[] = {draw(seed, 11, 6, 11), draw(seed, 12, 4, 7), draw(seed, 13, 4, 7)};
  const weir_value x = build_input(c, 3, extent, IN);
  const weir_value w[] = {parameter(c, "w", 5, (int64_t[]){3, 3, 3, IN, OUT}),
                          parameter(c, "b", 1, (int64_t[]){OUT})};
  const weir_value y = weir_add(c->g, weir_conv(c->g, &same, x, w[0]), w[1]);

  finish(c, x, weir_pool_max(c->g, &pairs, y), w, 2);
}

static void gradients_through_the_argmax_of_pools(void **state)
{
  for (int i = 0; i < 3; i++) {
    dist_case c = {.name = "argmax", .build = build_argmax, .shrink = i, .dtype = WEIR_F32};

    c.within = within(c.dtype);
    dist_check(&c);
  }
}

/* Where one rank skips the pass pool_sparsity, all do, and results are the same. */
static void ranks_that_would_not_use_pool_sparsity(void **state)
{
  weir_exec_cfg exec;
  dist_case c = {.name = "otherwise", .build = build_argmax, .dtype = WEIR_F32, .exec = &exec};

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.skip = weir_comm_rank(dist_comm) == ranks - 1 ? "pool_sparsity" : exec.skip;
  c.within = within(c.dtype);
  dist_check(&c);
}

/* After maxima over 2 x 2 x 2, a plane of them and one of their argmax move for each neighbour,
 * where the kernel is there that takes them. */
static void bytes_of_maxima(void **state)
{
  enum { D = 24, H = 8, W = 16, IN = 16, OUT = 32, PLANE = H / 2 * (W / 2) * OUT };
  const weir_array_desc in = {WEIR_F32, 5, {1, D, H, W, IN}, 0};
  const weir_conv_spec same = {.pad_before = {1, 1, 1}, .pad_after = {1, 1, 1}};
  const weir_pool_spec pairs = {.kernel_size = {2, 2, 2}};
  dist_case c = {.dtype = WEIR_F32, .grid = {1, {ranks}}};
  const int rank = weir_comm_rank(dist_comm), sides = (rank > 0) + (rank < ranks - 1);
  int64_t bytes = 0, planes = 0;
  int n_sparse = 0;
  weir_plan *p;

  assert_ok(weir_graph_create(&c.g));
  assert_ok(weir_store_create(&c.store));
  const weir_value x = weir_input(c.g, "x", &in);
  const weir_value w = parameter(&c, "w", 5, (int64_t[]){3, 3, 3, IN, OUT});

  dist_cut(&c, x, 1, 0, 0);
  finish(&c, x, weir_pool_max(c.g, &pairs, weir_conv(c.g, &same, x, w)), &w, 1);
  const weir_dist dist = {dist_comm, c.grid, c.cuts, c.n_cuts};

  assert_ok(weir_plan_create(c.g, c.store, &(weir_plan_opts){.dist = &dist}, &p));
  for (int32_t i = 0; i < weir_plan_groups(p); i++) {
    n_sparse += strcmp(weir_plan_group(p, i).kernel, "conv.pool_sparse") == 0;
  }
  for (int32_t m = 0; m < weir_plan_moves(p); m++) {
    const weir_comm_op_report r = weir_plan_move(p, m);

    planes += !r.merge && strcmp(r.name, "x") == 0 ? r.bytes : 0;
    bytes += r.merge ? 0 : r.bytes;
  }
  assert_int_equal(planes, sides * H * W * IN * 4);
  assert_int_equal(n_sparse, pool_sparse_kernels_get() != NULL ? 2 : 0);
  assert_int_equal(bytes - planes, sides * (n_sparse == 0 ? H * W * OUT * 4 : PLANE * (4 + 1)));
  weir_plan_destroy(&p);
  weir_graph_destroy(&c.g);
  weir_store_destroy(&c.store);
}

/* Halos of a convolution of 3 sizes and its gradient by slabs of depth: one plane of x and one of
 * the gradient of y for each neighbour, and x once for both passes. */
static void bytes_of_slabs(void **state)
{
  enum { N = 2, D = 12, H = 5, W = 4, IN = 3, OUT = 2 };
  const weir_array_desc in = {WEIR_F32, 5, {N, D, H, W, IN}, 0};
  const weir_conv_spec same = {.pad_before = {1, 1, 1}, .pad_after = {1, 1, 1}};
  dist_case c = {.dtype = WEIR_F32, .grid = {1, {ranks}}};
  const int rank = weir_comm_rank(dist_comm), sides = (rank > 0) + (rank < ranks - 1);
  int64_t x_bytes = 0, y_bytes = 0;
  char *text = NULL;
  size_t size = 0;
  weir_plan *p;

  assert_ok(weir_graph_create(&c.g));
  assert_ok(weir_store_create(&c.store));
  const weir_value x = weir_input(c.g, "x", &in);
  const weir_value w = parameter(&c, "w", 5, (int64_t[]){3, 3, 3, IN, OUT});

  dist_cut(&c, x, 1, 0, 0);
  finish(&c, x, weir_label(c.g, weir_conv(c.g, &same, x, w), "y"), &w, 1);
  const weir_dist dist = {dist_comm, c.grid, c.cuts, c.n_cuts};

  assert_ok(weir_plan_create(c.g, c.store, &(weir_plan_opts){.dist = &dist}, &p));
  for (int32_t m = 0; m < weir_plan_moves(p); m++) {
    const weir_comm_op_report r = weir_plan_move(p, m);

    x_bytes += !r.merge && strcmp(r.name, "x") == 0 ? r.bytes : 0;
    y_bytes += !r.merge && strcmp(r.name, "x") != 0 ? r.bytes : 0;
  }
  assert_int_equal(x_bytes, sides * N * H * W * IN * 4);
  assert_int_equal(y_bytes, sides * N * H * W * OUT * 4);
  FILE *out = open_memstream(&text, &size);

  assert_non_null(out);
  weir_plan_print(p, out);
  assert_int_equal(fclose(out), 0);
  assert_true(ranks == 1 || strstr(text, "exchange x") != NULL);
  free(text);
  weir_plan_destroy(&p);
  weir_graph_destroy(&c.g);
  weir_store_destroy(&c.store);
}

/* What is reduced along a dimension that ranks have shards of, and read in boxes by the same ranks:
 * with copies and cuts of other dimensions, even or not. */
static void build_shards(dist_case *c)
{
  const uint64_t seed = seed_of(c);
  const weir_array_desc in = {c->dtype, 3, {draw(seed, 1, 3, 9), draw(seed, 2, 1, 9), 5}, 0};
  const weir_value x = weir_input(c->g, "x", &in);
  const weir_value reduced = seed % 4 == 0   ? weir_sum(c->g, x, 0)
                             : seed % 4 == 1 ? weir_prod(c->g, x, 0)
                             : seed % 4 == 2 ? weir_max_over(c->g, x, 0)
                                             : weir_min_over(c->g, x, 0);
  const weir_value y = weir_scale(c->g, reduced, 2);

  weir_output(c->g, "y", y);
  c->grid = draw_grid(seed, 2);
  dist_cut(c, x, 0, 0, draw(seed, 3, 0, 1) == 0 ? 0 : seed);
  if (draw(seed, 4, 0, 1) == 0) {
    dist_cut(c, x, 2, 1, 0);
  }
  dist_cut(c, y, 0, 0, draw(seed, 5, 0, 1) == 0 ? 0 : seed + 1);
  assert_int_equal(weir_value_desc(c->g, y)->rank, 2);
}

/* The emulated device of every rank: what moves goes through the host's side. */
static void on_a_device(void **state)
{
  weir_exec_cfg exec;

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = WEIR_TIER_VECTOR;
  exec.device = "emulated";
  for (int i = 0; i < 3; i++) {
    dist_case c = {.name = "on a device", .shrink = i, .dtype = WEIR_F32, .exec = &exec};

    c.build = i < 2 ? build_conv : build_shards;
    c.within = within(c.dtype);
    dist_check(&c);
  }
}

static void reductions_that_are_read_in_shards(void **state)
{
  check("shards", build_shards, 8);
}

/* Each rank sends the others their rows of its shard, and no more. */
static void bytes_of_shards(void **state)
{
  enum { SUMMED = 12, ROWS = 24, COLUMNS = 2 };
  dist_case c = {.dtype = WEIR_F64, .grid = {1, {ranks}}};
  weir_plan *p;

  assert_ok(weir_graph_create(&c.g));
  const weir_value x =
      weir_input(c.g, "x", &(weir_array_desc){WEIR_F64, 3, {SUMMED, ROWS, COLUMNS}, 0});
  const weir_value y = weir_scale(c.g, weir_sum(c.g, x, 0), 2);

  weir_output(c.g, "y", y);
  dist_cut(&c, x, 0, 0, 0);
  dist_cut(&c, y, 0, 0, 0);
  const weir_dist dist = {dist_comm, c.grid, c.cuts, c.n_cuts};

  assert_ok(weir_plan_create(c.g, NULL, &(weir_plan_opts){.dist = &dist}, &p));
  assert_int_equal(weir_plan_moves(p), ranks > 1);
  for (int32_t m = 0; m < weir_plan_moves(p); m++) {
    const weir_comm_op_report r = weir_plan_move(p, m);

    assert_false(r.merge);
    assert_int_equal(r.bytes, (ROWS - ROWS / ranks) * COLUMNS * (int64_t)sizeof(double));
  }
  weir_plan_destroy(&p);
  weir_graph_destroy(&c.g);
}

/* What cannot be is refused on every rank, with the reason, and the ranks continue together. */
static void refusals(void **state)
{
  const weir_array_desc in = {WEIR_F64, 2, {6, 4}, 0};
  const int64_t bounds[] = {0, 6, 6, 6, 6, 6};
  weir_graph *g;
  weir_plan *p;

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &in);
  const weir_shard cut = {weir_value_array(g, x), 0, 0, bounds, 0, 0, false};
  weir_dist dist = {dist_comm, {1, {ranks + 1}}, &cut, 1};

  weir_output(g, "y", weir_neg(g, x));
  assert_int_equal(weir_plan_create(g, NULL, &(weir_plan_opts){.dist = &dist}, &p),
                   WEIR_ERR_CONFIG);
  assert_null(p);
  dist.grid.extent[0] = ranks;
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.dist = &dist}, &p));
  assert_int_equal(weir_plan_owned(p, "y").hi[1], 4);
  assert_int_equal(weir_plan_owned(p, "z").rank, -1);
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
  weir_clear_failure();
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(convolutions),
      cmocka_unit_test(on_a_device),
      cmocka_unit_test(pools),
      cmocka_unit_test(bytes_of_slabs),
      cmocka_unit_test(reductions_that_are_read_in_shards),
      cmocka_unit_test(bytes_of_shards),
      cmocka_unit_test(refusals),
      cmocka_unit_test(gradients_through_the_argmax_of_pools),
      cmocka_unit_test(ranks_that_would_not_use_pool_sparsity),
      cmocka_unit_test(bytes_of_maxima),
      cmocka_unit_test(a_network_as_cosmoflow),
      cmocka_unit_test(a_network_as_a_unet),
      cmocka_unit_test(a_map_that_is_gathered),
      cmocka_unit_test(passes_are_verified),
  };

  ranks = argc > 1 ? atoi(argv[1]) : 1;
  if (weir_comm_open(&dist_comm) != WEIR_OK) {
    weir_print_trace(stderr);
    return 1;
  }
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_comm_close(&dist_comm);
  return failed;
}
