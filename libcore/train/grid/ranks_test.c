/* ranks_test.c - how samples and volumes are shared by the ranks of a grid; what cannot be. The
 * runs themselves are in tests/mpi. */
#include "support/train/ranks_check.h"

#include <stdlib.h>

#include "load/weir_sampler.h"
#include "ops/elementwise/weir_elementwise.h"
#include "support/pass/spmd_check.h"
#include "train/array_names.h"
#include "train/grid/distribution.h"

/* A task, declared, and its inputs sharded on a grid. */
typedef struct sharded {
  volume v;
  weir_train_task task;
  weir_params *params;
  weir_store *store;
  train_ranks ranks;
  weir_status status;
} sharded;

typedef weir_status (*builder)(weir_net *net, const void *opts, const weir_value *in,
                               weir_value *loss);

static void shard_built(sharded *c, const int64_t size[3], int blocks, weir_grid grid,
                        const int64_t replicate_below[WEIR_ALONG_DIMS], builder build)
{
  c->v = (volume){.dtype = WEIR_F32, .blocks = blocks};
  memcpy(c->v.size, size, sizeof c->v.size);
  c->task = volume_task(&c->v, 8, 0);
  c->task.build = build;
  assert_ok(weir_params_create(WEIR_F32, &c->params));
  assert_ok(weir_store_create(&c->store));
  assert_ok(weir_train_prepare(&c->task, 1, c->params, c->store));
  const train_graph t = {
      .task = &c->task, .params = c->params, .store = c->store, .dtype = WEIR_DTYPE_COUNT};

  c->ranks = (train_ranks){.dist = {.grid = grid}};
  memcpy(c->ranks.replicate_below, replicate_below, sizeof c->ranks.replicate_below);
  c->status = train_shard_inputs(&c->ranks, &t, 2);
}

static void shard(sharded *c, const int64_t size[3], int blocks, weir_grid grid)
{
  shard_built(c, size, blocks, grid, (int64_t[WEIR_ALONG_DIMS]){0}, volume_build);
}

static void drop(sharded *c)
{
  train_ranks_close(&c->ranks);
  weir_params_destroy(&c->params);
  weir_store_destroy(&c->store);
}

static void cuts_fall_where_those_of_the_coarsest_map_do(void **state)
{
  static const struct {
    int64_t depth;
    int blocks, ranks;
    int64_t bounds[6];
  } wanted[] = {
      {16, 2, 2, {0, 8, 16}},
      {16, 2, 3, {0, 4, 10, 16}}, /* blocks of 4 would leave 4, 4, 8: of 2 then */
      {16, 3, 4, {0, 4, 8, 12, 16}},
      {24, 2, 2, {0, 12, 24}},
      {24, 3, 2, {0, 12, 24}}, /* blocks of 8: 8 and 16 */
      {24, 2, 3, {0, 8, 16, 24}},
      {20, 2, 2, {0, 8, 20}}, /* blocks of 4: 8 and 12 are within a quarter of 10 */
      {12, 2, 5, {0, 2, 4, 7, 9, 12}},
  };

  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    const int64_t size[3] = {wanted[i].depth, 8, 8};
    sharded c;

    shard(&c, size, wanted[i].blocks, (weir_grid){4, {1, wanted[i].ranks, 1, 1}});
    assert_ok(c.status);
    assert_non_null(c.ranks.bounds[0][0]);
    assert_null(c.ranks.bounds[0][1]);
    for (int q = 0; q <= wanted[i].ranks; q++) {
      assert_int_equal(c.ranks.bounds[0][0][q], wanted[i].bounds[q]);
    }
    drop(&c);
  }
}

/* Where all maps are sharded with the coarsest one, pooling moves nothing and convolution does. */
static void pooling_needs_no_halo(void **state)
{
  const weir_grid grid = {4, {2, 2, 2, 1}};
  train_sharding sharding;
  weir_graph *g = NULL;
  weir_partition *p = NULL;
  weir_spmd_graph local;
  sharded c;
  int64_t bytes[2] = {0};

  shard(&c, (int64_t[]){16, 8, 8}, 2, grid);
  assert_ok(c.status);
  const train_graph t = {
      .task = &c.task, .params = c.params, .store = c.store, .dtype = WEIR_DTYPE_COUNT};

  assert_ok(train_build(&t, TRAIN_LOOK, 5, &g));
  assert_ok(train_sharding_of(&c.ranks, &c.task, g, 5, &sharding));
  assert_int_equal(sharding.dist.n_shards, 4); /* samples, depth, height; samples of the labels */
  assert_ok(weir_partition_create(g, &grid, sharding.shard, sharding.dist.n_shards, &p));
  for (int rank = 0; rank < weir_grid_size(&grid); rank++) {
    assert_ok(weir_spmd_lower(p, rank, &local));
    for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
      const weir_node *node = weir_graph_node(g, i);
      const char *op = node->op != NULL && !node->dead ? node->op->name : "";
      const bool pool = strstr(op, "pool") != NULL;

      for (int k = 0; (pool || strcmp(op, "conv") == 0) && k < node->n_in; k++) {
        const weir_comm_op *m = local_brings(local.g, i, k);

        bytes[pool] += m != NULL ? weir_comm_op_received(m, -1) : 0;
      }
    }
    weir_spmd_graph_fini(&local);
  }
  assert_true(bytes[false] > 0);
  assert_int_equal(bytes[true], 0);
  weir_partition_destroy(&p);
  train_sharding_close(&sharding);
  weir_graph_destroy(&g);
  drop(&c);
}

enum { SLAB_SAMPLES = 5, SLAB_UNITS = 6 };

/* Of the graph of a kind on 2 x 2 ranks, whose slices are viewed: bytes that a rank merges are
 * those of so many elements, units of its samples, loss and metric. Boxes are halos of
 * convolutions. */
static void check_merged(const sharded *c, train_kind kind, int64_t elements)
{
  const weir_grid grid = {4, {2, 2, 1, 1}};
  const train_graph t = {.task = &c->task,
                         .params = c->params,
                         .store = c->store,
                         .shards = &c->ranks.shards,
                         .dtype = WEIR_DTYPE_COUNT};
  train_sharding sharding;
  weir_graph *g = NULL;
  weir_partition *p = NULL;
  weir_spmd_graph local;

  assert_ok(train_build(&t, kind, SLAB_SAMPLES, &g));
  assert_ok(train_sharding_of(&c->ranks, &c->task, g, SLAB_SAMPLES, &sharding));
  assert_ok(weir_partition_create(g, &grid, sharding.shard, sharding.dist.n_shards, &p));
  for (int rank = 0; rank < weir_grid_size(&grid); rank++) {
    int64_t merged = 0, lo, hi;

    weir_sampler_share(SLAB_SAMPLES, rank / 2, 2, &lo, &hi);
    assert_ok(weir_spmd_lower(p, rank, &local));
    for (int32_t i = 0; i < local.n; i++) {
      const weir_comm_op *m = local.moves[i];

      merged += m->kind == WEIR_COMM_OP_ALLREDUCE ? m->bytes : 0;
      /* [samples, depth, height, width, channels] */
      assert_true(m->kind == WEIR_COMM_OP_ALLREDUCE || m->to.rank == 5);
    }
    weir_spmd_graph_fini(&local);
    assert_int_equal(merged, 4 * (elements + SLAB_UNITS * (hi - lo) + 2));
  }
  weir_partition_destroy(&p);
  train_sharding_close(&sharding);
  weir_graph_destroy(&g);
}

/* After the flattening reshape every rank has the rows of the dense layer that belong to its own
 * shard: nothing of weights or gradients moves but in sums, and in those of a micro-batch nothing
 * of gradients. */
static void the_dense_layer_after_a_volume_is_sharded(void **state)
{
  const weir_grid grid = {4, {2, 2, 1, 1}};
  sharded c;

  shard(&c, (int64_t[]){16, 8, 8}, 2, grid);
  assert_ok(c.status);
  const weir_param_row *row =
      weir_params_get(c.params, weir_params_find(c.params, "dense1/weight"));
  const train_shards *s = &c.ranks.shards;

  assert_int_equal(s->n, 3);
  assert_true(s->along[0] == 0 && s->along[2] == 0);
  assert_int_equal(s->along[1], WEIR_ALONG_DEPTH);
  assert_int_equal(s->slice[1].first, row->first);
  assert_int_equal(s->slice[1].count, row->count);
  assert_int_equal(s->slice[2].first + s->slice[2].count, weir_params_elements(c.params));
  assert_true(s->at[1][0] == 0 && s->at[1][1] == row->count / 2 && s->at[1][2] == row->count);
  const int64_t elements = weir_params_elements(c.params);

  assert_ok(weir_store_add(c.store, TRAIN_BANK, WEIR_F32, 1, &elements));
  assert_ok(train_shards_view(&c.ranks.shards, c.ranks.coords, c.store, c.params));
  check_merged(&c, TRAIN_LOOK, elements - row->count / 2);
  check_merged(&c, TRAIN_GRADIENT, 0);
  drop(&c);
}

/* Rows of the flattened map follow the depth: where it is sharded along others, it is all-gathered
 * along those. */
static void shards_follow_the_depth_alone(void **state)
{
  sharded c;

  shard(&c, (int64_t[]){16, 8, 8}, 2, (weir_grid){4, {1, 2, 2, 1}});
  assert_ok(c.status);
  assert_int_equal(c.ranks.shards.n, 3);
  assert_int_equal(c.ranks.shards.along[1], WEIR_ALONG_DEPTH);
  drop(&c);
  shard(&c, (int64_t[]){16, 8, 8}, 2, (weir_grid){4, {1, 1, 2, 1}});
  assert_ok(c.status);
  assert_int_equal(c.ranks.shards.n, 0);
  drop(&c);
}

enum { HEADS = TRAIN_MAX_SHARDED + 3 };

/* The sum of dense layers without biases, all of the volume: their weights lie in a row. */
static weir_status build_heads(weir_net *net, const void *opts, const weir_value *in,
                               weir_value *loss)
{
  weir_graph *g = net->graph;
  const int64_t n = weir_value_desc(g, in[0])->shape[0];
  const weir_value x = weir_reshape(g, in[0], &((weir_reshape_spec){.rank = 2, .shape = {n, -1}}));
  weir_value sum = WEIR_NO_VALUE;
  char name[32];

  for (int i = 0; i < HEADS; i++) {
    (void)snprintf(name, sizeof name, "head%d", i);
    const weir_value y = weir_nn_dense(
        net, name, (&(weir_nn_dense_spec){.units = VOLUME_OUTPUTS, .no_bias = true}), x);

    sum = i == 0 ? y : weir_add(g, sum, y);
  }
  *loss = weir_loss_mse(g, sum, in[1], WEIR_NO_VALUE);
  weir_output(g, "mae", weir_loss_mae(g, sum, in[1], WEIR_NO_VALUE));
  return weir_graph_status(g);
}

/* No more sharded rows than TRAIN_MAX_SHARDED; the other rows are replicated, in one slice. */
static void of_many_layers_some_are_sharded(void **state)
{
  sharded c;

  shard_built(&c, (int64_t[]){16, 8, 8}, 0, (weir_grid){4, {1, 2, 1, 1}},
              (int64_t[WEIR_ALONG_DIMS]){0}, build_heads);
  assert_ok(c.status);
  const train_shards *s = &c.ranks.shards;

  assert_int_equal(s->n_sharded, TRAIN_MAX_SHARDED);
  assert_int_equal(s->n, TRAIN_MAX_SHARDED + 1);
  for (int k = 0; k < s->n; k++) {
    assert_int_equal(s->along[k], k < TRAIN_MAX_SHARDED ? WEIR_ALONG_DEPTH : 0);
  }
  assert_int_equal(s->slice[TRAIN_MAX_SHARDED].count,
                   (HEADS - TRAIN_MAX_SHARDED) * (weir_params_elements(c.params) / HEADS));
  drop(&c);
}

/* Slices of the flat buffer are sharded, not arrays with similar names. */
static void arrays_of_others_are_not_cut(void **state)
{
  train_sharding sharding = {.shard = NULL};
  weir_graph *g = NULL;
  sharded c;

  shard(&c, (int64_t[]){16, 8, 8}, 2, (weir_grid){4, {1, 2, 1, 1}});
  assert_ok(c.status);
  assert_ok(weir_store_add(c.store, "other.1", WEIR_F32, 1, (int64_t[]){4}));
  assert_ok(train_shards_view(&c.ranks.shards, c.ranks.coords, c.store, c.params));
  assert_ok(weir_graph_create(&g));
  (void)weir_stored(g, c.ranks.shards.whole, "other.1");
  (void)weir_stored(g, c.ranks.shards.whole, WEIR_PARAMS_FLAT ".0");
  const weir_value slice = weir_stored(g, c.ranks.shards.whole, WEIR_PARAMS_FLAT ".1");

  assert_ok(weir_graph_status(g));
  assert_ok(train_shard_slices(&c.ranks.shards, g, &sharding));
  assert_int_equal(sharding.dist.n_shards, 1);
  assert_int_equal(sharding.shard[0].array, weir_value_array(g, slice));
  train_sharding_close(&sharding);
  weir_graph_destroy(&g);
  drop(&c);
}

/* What a rank of the graph receives in boxes, and gives to sums over the dimensions `over` of the
 * grid. */
static void count_bytes(const weir_partition *p, int rank, unsigned over, int64_t *received,
                        int64_t *summed)
{
  weir_spmd_graph local;

  *received = *summed = 0;
  assert_ok(weir_spmd_lower(p, rank, &local));
  for (int32_t i = 0; i < local.n; i++) {
    const weir_comm_op *m = local.moves[i];

    *summed += m->kind == WEIR_COMM_OP_ALLREDUCE && (m->dims & over) != 0 ? m->bytes : 0;
    *received += m->kind == WEIR_COMM_OP_EXCHANGE ? weir_comm_op_received(m, -1) : 0;
  }
  weir_spmd_graph_fini(&local);
}

/* The map of 8 planes after the first block is gathered: of the layers after it every rank has
 * all, gradients included, and only those of the first block are summed over the depth. */
static void behind_a_gathered_map_nothing_moves(void **state)
{
  enum { SAMPLES = 6, FIRST = 27 * VOLUME_CHANNELS * 3 + 3 };
  static const struct {
    weir_grid grid;
    int64_t replicate_below[WEIR_ALONG_DIMS];
    int64_t planes, rest; /* of the first convolution, and of the map; elements of one sample */
  } wanted[] = {
      {{4, {1, 2, 1, 1}}, {0, 8, 0, 0}, 8 * 8 * VOLUME_CHANNELS, 4 * 4 * 4 * 3},
      {{4, {3, 2, 1, 1}}, {0, 15, 0, 0}, 8 * 8 * VOLUME_CHANNELS, 4 * 4 * 4 * 3},
      {{4, {1, 4, 1, 1}}, {0, 8, 0, 0}, 8 * 8 * VOLUME_CHANNELS, 6 * 4 * 4 * 3},
      {{4, {1, 1, 2, 1}}, {0, 0, 4, 0}, 16 * 8 * VOLUME_CHANNELS, 8 * 2 * 4 * 3},
  };

  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    const int64_t samples = SAMPLES / wanted[i].grid.extent[0];
    int64_t received, summed;
    weir_graph *g = NULL;
    weir_partition *p = NULL;
    train_sharding sharding;
    sharded c;

    shard_built(&c, (int64_t[]){16, 8, 8}, 3, wanted[i].grid, wanted[i].replicate_below,
                volume_build);
    assert_ok(c.status);
    assert_int_equal(c.ranks.shards.n, 0);
    const train_graph t = {
        .task = &c.task, .params = c.params, .store = c.store, .dtype = WEIR_DTYPE_COUNT};

    assert_ok(train_build(&t, TRAIN_LOOK, SAMPLES, &g));
    assert_ok(train_sharding_of(&c.ranks, &c.task, g, SAMPLES, &sharding));
    assert_ok(
        weir_partition_create(g, &wanted[i].grid, sharding.shard, sharding.dist.n_shards, &p));
    count_bytes(p, 0, 1U << WEIR_ALONG_DEPTH | 1U << WEIR_ALONG_HEIGHT, &received, &summed);
    assert_int_equal(received, 4 * samples * (wanted[i].planes + wanted[i].rest));
    assert_int_equal(summed, 4 * FIRST);
    weir_partition_destroy(&p);
    train_sharding_close(&sharding);
    weir_graph_destroy(&g);
    drop(&c);
  }
}

/* Boxes of all ranks are disjoint and cover the volume; labels are whole everywhere. */
static void boxes_cover_the_samples(void **state)
{
  const weir_grid grid = {4, {1, 3, 2, 2}};
  int64_t volume_of_all = 0;
  sharded c;

  shard(&c, (int64_t[]){17, 10, 8}, 2, grid);
  assert_ok(c.status);
  for (int rank = 0; rank < weir_grid_size(&grid); rank++) {
    int coords[WEIR_GRID_DIMS];

    weir_grid_coords(&grid, rank, coords);
    const weir_box x = train_box(&c.ranks, &c.task, 0, coords);
    const weir_box y = train_box(&c.ranks, &c.task, 1, coords);

    volume_of_all += weir_box_volume(&x);
    assert_int_equal(x.hi[3] - x.lo[3], VOLUME_CHANNELS);
    assert_int_equal(weir_box_volume(&y), VOLUME_OUTPUTS);
  }
  assert_int_equal(volume_of_all, 17 * 10 * 8 * VOLUME_CHANNELS);
  drop(&c);
}

static void what_cannot_be_cut_is_refused(void **state)
{
  sharded c = {.status = WEIR_OK};
  train_graph t = {.task = &c.task};
  const struct {
    weir_along along[3];
    const char *message;
  } bad[] = {
      {{WEIR_ALONG_DEPTH, WEIR_ALONG_DEPTH, WEIR_ALONG_WIDTH}, "dimension 1 of the input 'x'"},
      {{WEIR_ALONG_DIMS, WEIR_ALONG_HEIGHT, WEIR_ALONG_WIDTH}, "dimension 0 of the input 'x'"},
      {{WEIR_ALONG_SAMPLES, WEIR_ALONG_HEIGHT, WEIR_ALONG_WIDTH},
       "has 2 ranks along the depth, and no input of 'volume' has one"},
  };

  c.v = (volume){.dtype = WEIR_F32, .size = {8, 8, 8}, .blocks = 1};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    c.task = volume_task(&c.v, 8, 0);
    memcpy(c.v.input[0].along, bad[i].along, sizeof bad[i].along);
    c.ranks = (train_ranks){.dist = {.grid = {4, {1, 2, 1, 1}}}};
    assert_int_equal(train_shard_inputs(&c.ranks, &t, 2), WEIR_ERR_CONFIG);
    assert_non_null(strstr(weir_last_message(), bad[i].message));
    train_ranks_close(&c.ranks);
  }
}

/* Samples and boxes of every rank; shares of the work that add up to one and a little. */
static void a_grid_is_described(void **state)
{
  volume v = {.dtype = WEIR_F32, .size = {16, 8, 8}, .blocks = 2};
  const weir_train_task task = volume_task(&v, 8, 0);
  const weir_train_cfg cfg = {.batch = 3, .seed = 1};
  weir_exec_cfg section;
  const weir_plan_opts exec = {.exec = &section};
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);

  assert_non_null(out);
  weir_opts_default(weir_exec_opts, sizeof section, &section);
  assert_ok(weir_train_describe_grid(&task, &cfg, &exec, &(weir_grid){4, {2, 2, 1, 1}}, out));
  assert_int_equal(fclose(out), 0);
  assert_non_null(strstr(text, "grid 2 x 2 x 1 x 1"));
  assert_non_null(strstr(text, "rank 1    samples 0:1 x [8:16, 0:8, 0:8, 0:2] y [0:2]"));
  assert_non_null(strstr(text, "rank 2    samples 1:3 x [0:8, 0:8, 0:8, 0:2] y [0:2]"));
  double sum = 0;

  for (const char *at = text; (at = strstr(at, " % of the iterations")) != NULL; at++) {
    const char *begin = at;

    while (begin > text && strchr("0123456789.", begin[-1]) != NULL) {
      begin--;
    }
    sum += strtod(begin, NULL);
  }
  assert_true(sum > 99 && sum < 115); /* dense layers are computed by all of a spatial group */
  assert_null(strstr(text, "halos received 0 MB"));
  free(text);
  assert_int_equal(
      weir_train_describe_grid(&task, &cfg, &exec, &(weir_grid){5, {2, 2, 1, 1, 1}}, stdout),
      WEIR_ERR_CONFIG);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cuts_fall_where_those_of_the_coarsest_map_do),
      cmocka_unit_test(pooling_needs_no_halo),
      cmocka_unit_test(the_dense_layer_after_a_volume_is_sharded),
      cmocka_unit_test(shards_follow_the_depth_alone),
      cmocka_unit_test(of_many_layers_some_are_sharded),
      cmocka_unit_test(arrays_of_others_are_not_cut),
      cmocka_unit_test(behind_a_gathered_map_nothing_moves),
      cmocka_unit_test(boxes_cover_the_samples),
      cmocka_unit_test(what_cannot_be_cut_is_refused),
      cmocka_unit_test(a_grid_is_described),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
