/* distributed_layers.c [SEED] - layers on virtual ranks against the same layers whole: convolutions
 * with a bias of every size of window, stride, padding and channels over grids of 1 to 8 ranks, in
 * whole numbers, of which sums have no rounding; and maps that are joined with those of an earlier
 * layer, which lie on another grid. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_check.h"
#include "base/weir_random.h"
#include "ops/concat/weir_concat.h"
#include "ops/conv/weir_conv.h"
#include "ops/conv_transposed/weir_conv_transposed.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/pool/weir_pool.h"
#include "virtual.h"

enum { DIMS = 3 };

static uint64_t seed = 1;

static int64_t draw(uint32_t what, int64_t least, int64_t most)
{
  return least + (int64_t)(weir_random_bits(seed, what, 5, 0) % (uint64_t)(most - least + 1));
}

/* Ranks along samples, depth, height and width. */
static const int grids[][DIMS + 1] = {
    {1, 1, 1, 1}, {1, 2, 1, 1}, {1, 4, 1, 1}, {1, 8, 1, 1}, {1, 1, 2, 1}, {1, 1, 4, 1},
    {1, 1, 8, 1}, {1, 1, 1, 2}, {1, 1, 1, 3}, {1, 1, 1, 8}, {1, 2, 2, 1}, {1, 1, 2, 2},
    {1, 4, 2, 1}, {1, 2, 2, 2}, {2, 1, 1, 1}, {2, 2, 1, 1}, {2, 2, 1, 2},
};
enum { GRIDS = sizeof grids / sizeof grids[0] };

/* Cuts dimension `dim` of v: into parts that differ by one element at most, or at random, where
 * some are empty. */
static void cut(virtual_cuts *c, const weir_graph *g, weir_value v, int dim, int along)
{
  const int64_t extent = weir_value_desc(g, v)->shape[dim];
  const int n = c->grid.extent[along];
  const bool even = draw(60 + (uint32_t)c->n, 0, 1) == 0;
  int64_t *at = c->bounds[c->n];

  assert_true(c->n < VIRTUAL_CUTS && n < VIRTUAL_BOUNDS);
  for (int q = 0; q <= n; q++) {
    at[q] = even || q == 0 || q == n ? extent * q / n
                                     : draw(70 + (uint32_t)(10 * c->n + q), at[q - 1], extent);
  }
  c->cut[c->n++] = (weir_shard){weir_value_array(g, v), dim, along, at, 0, 0, false};
}

static virtual_cuts on_grid(const int *extent)
{
  virtual_cuts c = {.grid = {DIMS + 1, {extent[0], extent[1], extent[2], extent[3]}}};

  return c;
}

static weir_value input(problem *p, weir_dtype dtype, int rank, const int64_t *shape)
{
  weir_array_desc d = {dtype, rank, {0}, 0};

  memcpy(d.shape, shape, (size_t)rank * sizeof *shape);
  const int k = problem_input(p, &d, -2.5, 2.5, false);

  p->moves[k] = true;
  return p->in[k];
}

/* y and the derivatives of its sum with weights by every input. */
static void finish(problem *p, weir_value y)
{
  char name[16];

  weir_output(p->g, "y", y);
  (void)problem_weigh(p, y);
  assert_ok(problem_derive(p));
  for (int k = 0; k < p->n; k++) {
    if (p->moves[k]) {
      (void)snprintf(name, sizeof name, "d%d", k);
      weir_output(p->g, name, weir_scale(p->g, p->grad[k], 1));
    }
  }
  assert_ok(weir_graph_status(p->g));
}

/* Whole numbers in [-2, 2]: weights of the sum, too. */
static void make_whole(problem *p)
{
  for (int k = 0; k < p->n; k++) {
    weir_tensor *t = &p->from[k];

    for (int64_t i = 0; i < weir_tensor_numel(t); i++) {
      weir_dtype_store_real(t->dtype, t->data, i, rint(weir_dtype_load_real(t->dtype, t->data, i)));
    }
  }
}

static int run(const problem *p, const virtual_cuts *c, bool exact, const char *what)
{
  virtual_result r;

  assert_ok(virtual_run(p, c, exact, &r));
  if (r.wrong > 0) {
    print_error("%s, seed %llu, grid %d x %d x %d x %d\n", what, (unsigned long long)seed,
                c->grid.extent[0], c->grid.extent[1], c->grid.extent[2], c->grid.extent[3]);
  }
  assert_int_equal(r.wrong, 0);
  return r.moves;
}

/* What the cut dimensions are long enough for: a remainder, and windows over several ranks. */
static void check_convolution(int64_t taps, int64_t stride, bool same, int64_t channels, int number)
{
  const int *grid = grids[number % GRIDS];
  const int64_t filters = channels < 33 ? draw(1, 1, 2) : 1; /* time */
  const weir_dtype dtype = draw(2, 0, 1) == 0 ? WEIR_F32 : WEIR_F64;
  weir_conv_spec s = {.groups = 1};
  int64_t x_shape[DIMS + 2] = {grid[0] + draw(3, 0, grid[0] - 1)}, w_shape[DIMS + 2];
  virtual_cuts c = on_grid(grid);
  problem p;

  for (int k = 0; k < DIMS; k++) {
    s.stride[k] = stride;
    s.pad_before[k] = same ? (taps - 1) / 2 : 0;
    s.pad_after[k] = same ? taps - 1 - s.pad_before[k] : 0;
    w_shape[k] = taps;
    x_shape[k + 1] = same ? draw(10 + (uint32_t)k, 1, 2) : taps + draw(10 + (uint32_t)k, 0, 1);
    x_shape[k + 1] += grid[k + 1] > 1 ? draw(20 + (uint32_t)k, 2, 6) : 0;
  }
  x_shape[DIMS + 1] = w_shape[DIMS] = channels;
  w_shape[DIMS + 1] = filters;
  problem_init(&p, seed);
  const weir_value x = input(&p, dtype, DIMS + 2, x_shape), w = input(&p, dtype, DIMS + 2, w_shape);
  const weir_value b = input(&p, dtype, 1, &filters);

  finish(&p, weir_add(p.g, weir_conv(p.g, &s, x, w), b));
  for (int k = 0; k <= DIMS; k++) {
    cut(&c, p.g, x, k, k);
  }
  make_whole(&p);
  (void)run(&p, &c, true, "convolution");
  problem_fini(&p);
}

static void convolutions_to_the_bit(void **state)
{
  static const int64_t channels[] = {1, 4, 33}, taps[] = {1, 2, 3, 5};
  int n = 0;

  for (int i = 0; i < 4 * 3 * 2 * 2; i++, n++, seed++) {
    check_convolution(taps[i % 4], 1 + i / 4 % 2, i / 8 % 2 == 0, channels[i / 16], n);
  }
}

/* A convolution, halved, another, doubled, joined with the first, a last: a U-Net of two levels. */
static weir_value build_unet(problem *p, const int64_t *shape, weir_value map[3])
{
  const weir_conv_spec same = {.pad_before = {1, 1, 1}, .pad_after = {1, 1, 1}};
  const weir_pool_spec half = {.kernel_size = {2, 2, 2}};
  const weir_conv_transposed_spec twice = {.stride = {2, 2, 2}};
  weir_graph *g = p->g;
  const weir_value x = input(p, WEIR_F64, 5, shape);
  const weir_value w1 = input(p, WEIR_F64, 5, (int64_t[]){3, 3, 3, shape[4], 2});
  const weir_value w2 = input(p, WEIR_F64, 5, (int64_t[]){3, 3, 3, 2, 3});
  const weir_value up = input(p, WEIR_F64, 5, (int64_t[]){2, 2, 2, 2, 3});
  const weir_value w3 = input(p, WEIR_F64, 5, (int64_t[]){3, 3, 3, 4, 1});

  map[0] = weir_tanh(g, weir_conv(g, &same, x, w1));
  map[1] = weir_tanh(g, weir_conv(g, &same, weir_pool_mean(g, &half, map[0]), w2));
  const weir_value join[] = {weir_conv_transposed(g, &twice, map[1], up), map[0]};

  map[2] = weir_concat(g, join, 2, 4);
  return weir_conv(g, &same, map[2], w3);
}

/* The first level is cut as x is, the second along other dimensions, what joins them along others
 * yet or as it comes out; and the whole network against differences. */
static void check_unet(const int *grid, int turn)
{
  const int64_t shape[] = {grid[0], 6, 4 + 2 * draw(1, 0, 1), 4, 1};
  virtual_cuts c = on_grid(grid);
  problem_count count = {0};
  weir_value map[3];
  problem p;

  problem_init(&p, seed);
  const weir_value y = build_unet(&p, shape, map);

  finish(&p, y);
  cut(&c, p.g, p.in[0], 0, 0);
  for (int k = 1; k <= DIMS; k++) {
    cut(&c, p.g, p.in[0], k, k);
    if (grid[k] > 1) {
      cut(&c, p.g, map[1], k % DIMS + 1, k);
      if (turn % 2 == 1) {
        cut(&c, p.g, map[2], (k + 1) % DIMS + 1, k);
      }
    }
  }
  assert_true(run(&p, &c, false, "a U-Net") > 0);
  if (turn == 0) { /* once: the network is the same */
    problem_plan(&p, WEIR_TIER_VECTOR);
    assert_int_equal(problem_check(&p, 3, "a U-Net", &count), 0);
    assert_true(count.probes >= 15);
  }
  problem_fini(&p);
}

static void joined_maps_of_other_grids(void **state)
{
  static const int ranks[][DIMS + 1] = {{1, 2, 1, 1}, {1, 1, 2, 2}, {2, 2, 1, 1}, {1, 1, 1, 3}};

  for (int i = 0; i < 4; i++, seed++) {
    check_unet(ranks[i], i);
  }
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(convolutions_to_the_bit),
      cmocka_unit_test(joined_maps_of_other_grids),
  };

  seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  print_message("from seed %llu on\n", (unsigned long long)seed);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
