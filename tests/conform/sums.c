/* sums.c [SEED] - the gradient of a small network, added to a bank that stays a sum over virtual
 * ranks: summands of all ranks against the bank of one, on random grids of samples and of space,
 * with normalisation over the batch, with a penalty and with weights that the samples have. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_check.h"
#include "base/weir_random.h"
#include "ops/concat/weir_concat.h"
#include "ops/conv/weir_conv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"
#include "virtual.h"

enum { CASES = 60, SAMPLES = 5, SPACE = 7, CHANNELS = 2, FILTERS = 3, KERNEL = 3, FLAGS = 3 };

static uint64_t seed = 1;

static int64_t draw(uint32_t what, int64_t least, int64_t most)
{
  return least + (int64_t)(weir_random_bits(seed, what, 6, 0) % (uint64_t)(most - least + 1));
}

/* The parts of a case that are there or not. */
typedef struct network {
  bool normalises, penalty, weighs;
} network;

/* What is derived by, and its flat gradient, goes into the bank. */
static int parameter(problem *p, int rank, const int64_t *shape)
{
  weir_array_desc d = {WEIR_F64, rank, {0}, 0};

  memcpy(d.shape, shape, (size_t)rank * sizeof *shape);
  const int k = problem_input(p, &d, -1, 1, false);

  p->moves[k] = true;
  return k;
}

/* y - its mean over samples and space, of each filter, by the root of its mean square. */
static weir_value normalise(weir_graph *g, weir_value y)
{
  const double n = SAMPLES * SPACE;
  const weir_value mean = weir_scale(g, weir_sum(g, weir_sum(g, y, 0), 0), 1 / n);
  const weir_value centred = weir_sub(g, y, mean);
  const weir_value square =
      weir_scale(g, weir_sum(g, weir_sum(g, weir_square(g, centred), 0), 0), 1 / n);

  return weir_div(g, centred, weir_sqrt(g, weir_add_scalar(g, square, 0.1)));
}

/* The loss; *weight: of its gradient in the bank. */
static weir_value build(problem *p, const network *net, const int *theta, weir_value x,
                        weir_value target, weir_value *weight)
{
  weir_graph *g = p->g;
  const weir_conv_spec spec = {.groups = 1, .pad_before = {1}, .pad_after = {1}};
  weir_value y = weir_conv(g, &spec, x, p->in[theta[0]]);

  y = net->normalises ? normalise(g, y) : y;
  y = weir_tanh(g, weir_mul(g, y, p->in[theta[1]]));
  const weir_value off = weir_square(g, weir_sub(g, y, target));
  weir_value loss = weir_sum(g, off, -1);

  if (net->weighs) { /* a mean with weights, which add up to what the batch counts */
    const weir_value w = weir_square(g, target);

    *weight = weir_sum(g, w, -1);
    loss = weir_div(g, weir_sum(g, weir_mul(g, off, w), -1), *weight);
  } else {
    *weight = weir_scalar(g, WEIR_F64, 0.25);
  }
  return net->penalty
             ? weir_add(g, loss, weir_scale(g, weir_sum(g, weir_square(g, p->in[theta[1]]), -1), 2))
             : loss;
}

/* bank += weight (gradients side by side) */
static weir_value fill_bank(problem *p, const int *theta, weir_store *store, weir_value weight)
{
  const int64_t count = KERNEL * CHANNELS * FILTERS + FILTERS;
  weir_value flat[2];

  assert_ok(weir_store_add(store, "bank", WEIR_F64, 1, &count));
  const weir_value bank = weir_stored(p->g, store, "bank");

  for (int i = 0; i < 2; i++) {
    flat[i] =
        weir_reshape(p->g, p->grad[theta[i]], &((weir_reshape_spec){.rank = 1, .shape = {-1}}));
  }
  weir_update(p->g, bank,
              weir_add(p->g, bank, weir_mul(p->g, weir_concat(p->g, flat, 2, 0), weight)));
  assert_ok(weir_tensor_init(&p->from[p->n], WEIR_F64, 1, &count));
  for (int64_t i = 0; i < count; i++) {
    ((double *)p->from[p->n].data)[i] = (double)i / 7;
  }
  p->in[p->n++] = bank;
  return bank;
}

static void cut(virtual_cuts *c, const weir_graph *g, weir_value v, int dim, int along)
{
  const int64_t extent = weir_value_desc(g, v)->shape[dim];
  const int n = c->grid.extent[along];
  int64_t *at = c->bounds[c->n];

  at[0] = 0;
  at[n] = extent;
  for (int q = 1; q < n; q++) { /* some are empty */
    at[q] = draw(20 + (uint32_t)(10 * along + q), at[q - 1], extent);
  }
  c->cut[c->n++] = (weir_shard){weir_value_array(g, v), dim, along, at, 0, 0, false};
}

/* The case on its grid, with merges and without those of the gradient. */
static void check_case(const network *net, int *without, int *with)
{
  virtual_cuts c = {.grid = {2, {(int)draw(1, 1, 3), (int)draw(2, 1, 3)}}};
  virtual_result r[2];
  weir_store *store = NULL;
  weir_value weight;
  problem p;

  problem_init(&p, seed);
  assert_ok(weir_store_create(&store));
  const weir_value x = p.in[problem_input(
      &p, &(weir_array_desc){WEIR_F64, 3, {SAMPLES, SPACE, CHANNELS}, 0}, -1, 1, false)];
  const weir_value target = p.in[problem_input(
      &p, &(weir_array_desc){WEIR_F64, 3, {SAMPLES, SPACE, FILTERS}, 0}, -1, 1, false)];
  const int theta[] = {parameter(&p, 3, (int64_t[]){KERNEL, CHANNELS, FILTERS}),
                       parameter(&p, 1, (int64_t[]){FILTERS})};

  p.loss = build(&p, net, theta, x, target, &weight);
  weir_output(p.g, "loss", p.loss);
  assert_ok(problem_derive(&p));
  const weir_value bank = fill_bank(&p, theta, store, weight);

  assert_ok(weir_graph_status(p.g));
  for (int along = 0; along < 2; along++) {
    cut(&c, p.g, x, along, along);
    cut(&c, p.g, target, along, along);
  }
  for (int k = 0; k < 2; k++) {
    assert_ok(virtual_run(&p, &c, false, &r[k]));
    if (r[k].wrong > 0) {
      fail_msg("seed %llu, grid %d x %d, %d %d %d: %d ranks are wrong", (unsigned long long)seed,
               c.grid.extent[0], c.grid.extent[1], net->normalises, net->penalty, net->weighs,
               r[k].wrong);
    }
    c.cut[c.n++] = (weir_shard){weir_value_array(p.g, bank), WEIR_SHARD_SUM, 0, NULL, 2, 0, false};
  }
  *without += r[1].merges;
  *with += r[0].merges;
  problem_fini(&p);
  weir_store_destroy(&store);
}

static void summands_add_up_to_the_gradient(void **state)
{
  int merges[1 << FLAGS][2] = {{0}};

  for (int i = 0; i < CASES; i++, seed++) {
    const int flags = i % (1 << FLAGS);

    check_case(&(network){flags & 1, flags >> 1 & 1, flags >> 2 & 1}, &merges[flags][0],
               &merges[flags][1]);
  }
  for (int flags = 0; flags < 1 << FLAGS; flags++) {
    print_message("normalisation %d, penalty %d, weights %d: %d merges, %d without sums\n",
                  flags & 1, flags >> 1 & 1, flags >> 2 & 1, merges[flags][0], merges[flags][1]);
    assert_true(merges[flags][0] < merges[flags][1]);
  }
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(summands_add_up_to_the_gradient)};

  seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  print_message("from seed %llu on\n", (unsigned long long)seed);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
