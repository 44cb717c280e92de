/* halo_test.c - communication of the benchmark's network on samples sharded along depth: the halo
 * volumes of arXiv:1903.06681's scheme for it, in KiB a side, found by the accesses of the network
 * and of its gradient. */
#include <string.h>
#include "base/weir_check.h"
#include "model/nets.h"
#include "nn/weir_loss.h"
#include "pass/autodiff/weir_gradients.h"
#include "pass/partition/weir_spmd.h"

enum { RANKS = 4, PARAMS = 16, BLOCKS = 5, KIB = 1024, SIDE = 128, CHANNELS = 4, OUTPUTS = 4 };

typedef struct step {
  weir_graph *g;
  weir_params *params;
  weir_store *store;
  weir_value x, grads[PARAMS];
} step;

/* Loss and gradient of one sample. */
static step make(const cf_mlperf_opts *cfg)
{
  const weir_array_desc x = {WEIR_F32, 5, {1, SIDE, SIDE, SIDE, CHANNELS}, 0};
  const weir_array_desc y = {WEIR_F32, 2, {1, OUTPUTS}, 0};
  weir_value wrt[PARAMS];
  weir_graph *thrown = NULL;
  weir_net net;
  step s;

  assert_ok(weir_params_create(WEIR_F32, &s.params));
  assert_ok(weir_store_create(&s.store));
  assert_ok(weir_graph_create(&thrown));
  weir_net_init(&net, thrown, s.params, true);
  (void)cf_mlperf(&net, cfg, OUTPUTS, weir_input(thrown, "x", &x));
  weir_net_fini(&net);
  weir_graph_destroy(&thrown);
  assert_ok(weir_params_seal(s.params, s.store));
  assert_ok(weir_graph_create(&s.g));
  weir_net_init(&net, s.g, s.params, true);
  s.x = weir_input(s.g, "x", &x);
  const weir_value loss = weir_loss_mse(s.g, cf_mlperf(&net, cfg, OUTPUTS, s.x),
                                        weir_input(s.g, "y", &y), WEIR_NO_VALUE);

  assert_int_equal(weir_params_count(s.params), PARAMS);
  for (int i = 0; i < PARAMS; i++) {
    wrt[i] = weir_net_param_value(&net, i);
  }
  assert_ok(weir_gradients(s.g, loss, wrt, PARAMS, s.grads));
  weir_net_fini(&net);
  return s;
}

static void drop(step *s)
{
  weir_params_destroy(&s->params);
  weir_graph_destroy(&s->g);
  weir_store_destroy(&s->store);
}

static weir_partition *cut_in_slabs(const step *s)
{
  const int64_t bounds[RANKS + 1] = {0, 32, 64, 96, 128};
  const weir_grid grid = {2, {1, RANKS}};
  const weir_shard shard = {weir_value_array(s->g, s->x), 1, 1, bounds, 0, 0, false};
  weir_partition *p;

  assert_ok(weir_partition_create(s->g, &grid, &shard, 1, &p));
  return p;
}

/* Exchanges of what lies over the volume: forward 256, 512, .. KiB a side, backward the gradients
 * by the results of conv5 to conv2; that of conv1 has no reader but the weights. */
static void halos_of_the_benchmark(void **state)
{
  static const int64_t wanted[] = {256, 512, 256, 128, 64, 128, 256, 512, 1024};
  enum { HALOS = sizeof wanted / sizeof wanted[0] };
  weir_spmd_graph local[RANKS];
  cf_mlperf_opts cfg;
  int found = 0;
  int64_t total = 0;

  weir_opts_default(cf_mlperf_options, sizeof cfg, &cfg);
  step s = make(&cfg);
  weir_partition *p = cut_in_slabs(&s);

  for (int rank = 0; rank < RANKS; rank++) {
    assert_ok(weir_spmd_lower(p, rank, &local[rank]));
  }
  for (int32_t i = 0; i < local[1].n; i++) {
    const weir_comm_op *m = local[1].moves[i];

    if (m->kind == WEIR_COMM_OP_EXCHANGE && m->from.hi[1] - m->from.lo[1] > 1) {
      const int64_t below = weir_comm_op_received(m, 0);

      assert_true(found < HALOS);
      assert_int_equal(below, wanted[found] * KIB);
      assert_int_equal(weir_comm_op_received(m, 2), below);
      assert_int_equal(weir_comm_op_received(m, -1), 2 * below);
      assert_int_equal(weir_comm_op_received(local[0].moves[i], 1),
                       below); /* outer ranks: one side */
      assert_int_equal(weir_comm_op_received(local[0].moves[i], -1), below);
      total += 2 * below;
      found++;
    }
  }
  assert_int_equal(found, HALOS);
  assert_int_equal(total, 6272 * KIB); /* 6.1 MiB a step of an inner rank */
  for (int rank = 0; rank < RANKS; rank++) {
    weir_spmd_graph_fini(&local[rank]);
  }
  weir_partition_destroy(&p);
  drop(&s);
}

/* Weights of convolutions are replicated on every rank, so that their gradients are partial over
 * all; those of dense layers are not: their inputs are replicated. */
static void gradients_that_have_to_be_merged(void **state)
{
  cf_mlperf_opts cfg;
  int64_t merged = 0, elements = 0;

  weir_opts_default(cf_mlperf_options, sizeof cfg, &cfg);
  step s = make(&cfg);
  weir_partition *p = cut_in_slabs(&s);

  for (int i = 0; i < PARAMS; i++) {
    const weir_param_row *row = weir_params_get(s.params, i);
    int32_t node = s.grads[i].node;

    while (weir_partition_partial(p, node) == 0 && i < 2 * BLOCKS) { /* through reshapes */
      node = weir_array_value(s.g, weir_graph_node(s.g, node)->in[0]).node;
      assert_non_null(weir_graph_node(s.g, node)->op);
    }
    assert_int_equal(weir_partition_partial(p, node), i < 2 * BLOCKS ? 2 : 0);
    merged += weir_partition_partial_bytes(p, node, 1);
    elements += i < 2 * BLOCKS ? row->count : 0;
  }
  assert_int_equal(merged, elements * (int64_t)sizeof(float));
  weir_partition_destroy(&p);
  drop(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(halos_of_the_benchmark),
      cmocka_unit_test(gradients_that_have_to_be_merged),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
