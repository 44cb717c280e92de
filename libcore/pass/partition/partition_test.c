/* partition_test.c - halos, owners and merges of random convolutions and pools, forward and
 * backward, against indices that are counted out one by one. */
#include "support/pass/spmd_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_check.h"
#include "base/weir_random.h"
#include "ops/conv/weir_conv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/gather/weir_gather.h"
#include "support/ops/ops_check.h"
#include "ops/pool/weir_pool.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"
#include "pass/autodiff/weir_gradients.h"

enum { CASES = 150, MAX_CUTS = 5, CHANNELS = 2, SAMPLES = 4 };

/* One dimension: n elements in, m out, tap t of output o reads stride o + dilation t - lo. */
typedef struct line {
  int64_t n, m, kernel_size, stride, dilation, lo, hi, bounds[MAX_CUTS];
  int ranks;
} line;

typedef struct problem {
  bool pool;
  int dims;
  line at[3];
  weir_grid grid;
  weir_graph *g;
  weir_value x, y, grad[2];
  weir_partition *p;
  weir_spmd_graph *local; /* [ranks] */
} problem;

static int64_t draw(uint64_t seed, uint32_t what, int k, int64_t min, int64_t max)
{
  return min + (int64_t)(weir_random_bits(seed, what, (uint32_t)k, 0) % (uint64_t)(max - min + 1));
}

static int64_t reach(const line *l)
{
  return l->dilation * (l->kernel_size - 1) + 1;
}

static line draw_line(uint64_t seed, int k, bool pool)
{
  static const int64_t kernel_size[] = {1, 2, 3, 5};
  line l = {.kernel_size = kernel_size[draw(seed, 1, k, 0, 3)], .stride = draw(seed, 2, k, 1, 2)};

  l.dilation = pool ? 1 : draw(seed, 3, k, 1, 2);
  if (draw(seed, 4, k, 0, 1) == 1) { /* of the same size, an even window reaches further after */
    l.lo = (reach(&l) - 1) / 2;
    l.hi = reach(&l) - 1 - l.lo;
  }
  const int64_t min = reach(&l) - l.lo - l.hi;

  l.n = min + draw(seed, 5, k, 0, 9);
  l.m = (l.n + l.lo + l.hi - reach(&l)) / l.stride + 1;
  l.ranks = (int)draw(seed, 6, k, 1, 4);
  l.bounds[l.ranks] = l.n;
  for (int q = 1; q < l.ranks; q++) { /* ascending, equal ones leave a rank empty */
    l.bounds[q] = draw(seed, 7 + (uint32_t)q, k, l.bounds[q - 1], l.n);
  }
  return l;
}

static weir_value apply(problem *c, weir_value w)
{
  weir_conv_spec conv = {.groups = 1};
  weir_pool_spec pool = {.combine = WEIR_COMBINE_MAX};

  for (int k = 0; k < c->dims; k++) {
    const line *l = &c->at[k];

    conv.stride[k] = pool.stride[k] = l->stride;
    conv.dilation[k] = l->dilation;
    conv.pad_before[k] = pool.pad_before[k] = l->lo;
    conv.pad_after[k] = pool.pad_after[k] = l->hi;
    pool.kernel_size[k] = l->kernel_size;
  }
  return c->pool ? weir_pool_max(c->g, &pool, c->x) : weir_conv(c->g, &conv, c->x, w);
}

/* y of x [samples, .., channels], the gradient of its sum of squares by x and w, and their
 * partition with x sharded along every dimension. */
static void build(problem *c)
{
  weir_array_desc x = {WEIR_F64, c->dims + 2, {SAMPLES}, 0}, w = {WEIR_F64, c->dims + 2, {0}, 0};
  weir_shard shards[3];

  c->g = new_graph();
  c->grid.dims = c->dims;
  for (int k = 0; k < c->dims; k++) {
    c->grid.extent[k] = c->at[k].ranks;
    x.shape[k + 1] = c->at[k].n;
    w.shape[k] = c->at[k].kernel_size;
  }
  x.shape[c->dims + 1] = w.shape[c->dims] = w.shape[c->dims + 1] = CHANNELS;
  c->x = weir_input(c->g, "x", &x);
  const weir_value filter = weir_input(c->g, "w", &w);
  const weir_value wrt[] = {c->x, filter};

  c->y = apply(c, filter);
  assert_ok(weir_gradients(c->g, weir_sum(c->g, weir_square(c->g, c->y), -1), wrt, c->pool ? 1 : 2,
                           c->grad));
  for (int k = 0; k < c->dims; k++) {
    shards[k] = (weir_shard){weir_value_array(c->g, c->x), k + 1, k, c->at[k].bounds, 0, 0, false};
  }
  assert_ok(weir_partition_create(c->g, &c->grid, shards, c->dims, &c->p));
  c->local = calloc((size_t)weir_grid_size(&c->grid), sizeof *c->local);
  assert_non_null(c->local);
  for (int rank = 0; rank < weir_grid_size(&c->grid); rank++) {
    assert_ok(weir_spmd_lower(c->p, rank, &c->local[rank]));
  }
}

static problem make(uint64_t seed, bool pool)
{
  problem c = {.pool = pool, .dims = (int)draw(seed, 20, 0, 1, 3)};

  for (int k = 0; k < c.dims; k++) {
    c.at[k] = draw_line(seed, k, pool);
  }
  build(&c);
  return c;
}

static void drop(problem *c)
{
  for (int rank = 0; rank < weir_grid_size(&c->grid); rank++) {
    weir_spmd_graph_fini(&c->local[rank]);
  }
  free(c->local);
  weir_partition_destroy(&c->p);
  weir_graph_destroy(&c->g);
}

/* Interval of [0, extent) that a rank needs, per sharded dimension. */
typedef struct wanted {
  weir_interval at[3];
} wanted;

/* What comes from a rank, NULL: nothing; at most one box. */
static const weir_box *box_from(const weir_comm_op *m, int from)
{
  const weir_box *found = NULL;

  for (int64_t i = 0; m != NULL && i < m->n_messages; i++) {
    if (m->messages[i].receive && m->messages[i].peer == from) {
      assert_null(found);
      found = &m->messages[i].box;
    }
  }
  return found;
}

/* Every element that a rank needs and does not own comes from its owner, once, and nothing else. */
static void check_halo(const problem *c, int32_t node, int operand, int to, const wanted *need)
{
  const int32_t array = weir_graph_node(c->g, node)->in[operand];
  const weir_array_desc *desc = &weir_graph_get_array(c->g, array)->desc;
  const weir_comm_op *m = local_brings(c->local[to].g, node, operand);
  weir_box box = {.rank = desc->rank};
  int64_t volume = 1, received = 0;

  memcpy(box.hi, desc->shape, sizeof desc->shape);
  for (int k = 0; k < c->dims; k++) {
    box.lo[k + 1] = need->at[k].lo;
    box.hi[k + 1] = need->at[k].hi;
  }
  const weir_box own = weir_partition_owned(c->p, array, to),
                 at_home = weir_box_intersect(&box, &own);

  volume = weir_box_volume(&box) - weir_box_volume(&at_home);
  for (int from = 0; from < weir_grid_size(&c->grid); from++) {
    const weir_box theirs = weir_partition_owned(c->p, array, from);
    const weir_box wants = weir_box_intersect(&box, &theirs);
    const weir_box *comes = box_from(m, from);

    if (from == to || weir_box_empty(&wants)) {
      assert_null(comes);
      continue;
    }
    assert_non_null(comes);
    assert_memory_equal(comes->lo, wants.lo, (size_t)box.rank * sizeof *box.lo);
    assert_memory_equal(comes->hi, wants.hi, (size_t)box.rank * sizeof *box.hi);
    received += weir_box_volume(comes);
  }
  assert_int_equal(received, volume);
}

/* Outputs of line k that belong to rank q there: those whose window's middle element it owns, edges
 * to the outer ranks; counted out. */
static weir_interval owned_outputs(const line *l, int q)
{
  weir_interval found = {0, 0};
  bool any = false;
  int64_t first = 0;

  for (int64_t o = 0; o < l->m; o++) {
    const int64_t min = l->stride * o - l->lo, sum = 2 * min + reach(l) - 1;
    const int64_t middle = sum >= 0 ? sum / 2 : (sum - 1) / 2;
    int owner = 0;

    while (owner + 1 < l->ranks && middle >= l->bounds[owner + 1]) {
      owner++;
    }
    first += owner < q;
    if (owner == q) {
      found.lo = any ? found.lo : o;
      found.hi = o + 1;
      any = true;
    }
  }
  return any ? found : (weir_interval){first, first};
}

/* Elements of the input that outputs [out.lo, out.hi) read: the closed form, which holds what is
 * counted out, and is no more than that where windows leave no holes. */
static weir_interval read_by(const line *l, weir_interval out)
{
  weir_interval counted = {l->n, 0};
  const int64_t low = l->stride * out.lo - l->lo,
                high = l->stride * (out.hi - 1) - l->lo + reach(l);
  const weir_interval closed = {low > 0 ? low : 0, high < l->n ? high : l->n};

  for (int64_t o = out.lo; o < out.hi; o++) {
    for (int64_t t = 0; t < l->kernel_size; t++) {
      const int64_t i = l->stride * o + l->dilation * t - l->lo;

      if (i >= 0 && i < l->n) {
        counted.lo = i < counted.lo ? i : counted.lo;
        counted.hi = i >= counted.hi ? i + 1 : counted.hi;
      }
    }
  }
  assert_true(counted.lo >= closed.lo && counted.hi <= closed.hi);
  if (l->dilation == 1 && l->stride <= l->kernel_size) {
    assert_true(counted.lo == closed.lo && counted.hi == closed.hi);
  }
  return closed;
}

/* Outputs whose windows hold one of the inputs [in.lo, in.hi), counted out. */
static weir_interval readers_of(const line *l, weir_interval in)
{
  weir_interval found = {l->m, 0};

  for (int64_t o = 0; o < l->m; o++) {
    for (int64_t t = 0; t < l->kernel_size; t++) {
      const int64_t i = l->stride * o + l->dilation * t - l->lo;

      if (i >= in.lo && i < in.hi) {
        found.lo = o < found.lo ? o : found.lo;
        found.hi = o + 1;
      }
    }
  }
  return found;
}

/* True when output o reads nothing but inputs [in.lo, in.hi). */
static bool stays_within(const line *l, int64_t o, weir_interval in)
{
  for (int64_t t = 0; t < l->kernel_size; t++) {
    const int64_t i = l->stride * o + l->dilation * t - l->lo;

    if (i >= 0 && i < l->n && (i < in.lo || i >= in.hi)) {
      return false;
    }
  }
  return true;
}

static void check_forward(const problem *c, int rank)
{
  const weir_box own = weir_partition_owned(c->p, weir_value_array(c->g, c->y), rank);
  const weir_box all = weir_partition_iterations(c->p, c->y.node, rank);
  const weir_box inside = weir_partition_interior(c->p, c->y.node, rank);
  wanted need = {{{0, 0}}};
  bool none = false;
  int coords[WEIR_GRID_DIMS];

  weir_grid_coords(&c->grid, rank, coords);
  for (int k = 0; k < c->dims; k++) {
    const weir_interval out = owned_outputs(&c->at[k], coords[k]);

    assert_int_equal(own.lo[k + 1], out.lo);
    assert_int_equal(own.hi[k + 1], out.hi);
    none = none || out.lo == out.hi;
  }
  for (int k = 0; k < c->dims && !none; k++) {
    need.at[k] = read_by(&c->at[k], owned_outputs(&c->at[k], coords[k]));
  }
  assert_int_equal(weir_box_empty(&all), none);
  check_halo(c, c->y.node, 0, rank, &need);
  for (int k = 0; k < c->dims; k++) { /* outputs are inside where they read what is owned alone */
    const line *l = &c->at[k];
    int64_t count = 0;

    const weir_interval home = {l->bounds[coords[k]], l->bounds[coords[k] + 1]};

    for (int64_t o = all.lo[k + 1]; o < all.hi[k + 1]; o++) {
      count += stays_within(l, o, home);
    }
    if (!weir_box_empty(&inside)) {
      assert_true(inside.hi[k + 1] - inside.lo[k + 1] <= count);
      if (l->dilation == 1 && l->stride <= l->kernel_size) {
        assert_int_equal(inside.hi[k + 1] - inside.lo[k + 1], count);
      }
    } else if (!none && c->dims == 1 && l->dilation == 1 && l->stride <= l->kernel_size) {
      assert_int_equal(count, 0);
    }
  }
}

/* The operand of the node that lies as y does, and is not y itself. */
static int adjoint_operand(const problem *c, int32_t node)
{
  const weir_node *n = weir_graph_node(c->g, node);
  const weir_array_desc *y = weir_value_desc(c->g, c->y);

  for (int k = 0; k < n->n_in; k++) {
    const weir_array_desc *d = &weir_graph_get_array(c->g, n->in[k])->desc;

    if (n->in[k] != weir_value_array(c->g, c->y) && d->rank == y->rank && d->dtype == y->dtype &&
        memcmp(d->shape, y->shape, sizeof(int64_t) * (size_t)y->rank) == 0 &&
        n->in[k] != weir_value_array(c->g, c->x)) {
      return k;
    }
  }
  return -1;
}

/* What the gradient by x needs of that by y. Where windows of a stride overlap, its access sums
 * over all outputs and asks in its body which of them count: then each rank sums over its own, and
 * the gradient is partial and whole. With strides the access asks for at most so many outputs more
 * on each side than are read: an interval that begins between two windows. */
static void check_data(const problem *c, int rank)
{
  const int32_t node = c->grad[0].node;
  const int k_y = adjoint_operand(c, node);
  const unsigned partial = weir_partition_partial(c->p, node);
  const weir_box own = weir_partition_owned(c->p, weir_value_array(c->g, c->grad[0]), rank);
  const weir_box box = weir_partition_iterations(c->p, node, rank);
  wanted have = {{{0, 0}}};

  assert_true(k_y >= 0);
  const int32_t dy = weir_graph_node(c->g, node)->in[k_y];
  const weir_box mine = weir_partition_owned(c->p, dy, rank);
  const weir_region region = weir_needed(&weir_graph_node(c->g, node)->access, k_y, &box);
  const weir_box need = weir_region_hull(&region);

  for (int k = 0; k < c->dims; k++) {
    const line *l = &c->at[k];
    const weir_interval exact = readers_of(l, (weir_interval){own.lo[k + 1], own.hi[k + 1]});

    have.at[k] = (weir_interval){need.lo[k + 1], need.hi[k + 1]};
    if (weir_box_empty(&own)) {
      assert_true(weir_box_empty(&box));
    } else if ((partial >> k & 1) != 0) {
      assert_true((l->stride > 1 || l->m <= l->kernel_size) && own.lo[k + 1] == 0 &&
                  own.hi[k + 1] == l->n);
      assert_true(weir_region_empty(&region) ||
                  (need.lo[k + 1] == mine.lo[k + 1] && need.hi[k + 1] == mine.hi[k + 1]));
    } else if (exact.lo < exact.hi && !weir_region_empty(&region)) {
      assert_true(need.lo[k + 1] <= exact.lo && need.hi[k + 1] >= exact.hi);
      assert_true(l->ranks == 1 || exact.lo - need.lo[k + 1] <= l->stride + l->dilation - 2);
      assert_true(l->ranks == 1 || need.hi[k + 1] - exact.hi <= l->stride + l->dilation - 2);
    }
  }
  check_halo(c, node, k_y, rank, &have);
}

/* The elements of x that the result has needed serve again; of dy each rank has its own. */
static void check_weights(const problem *c)
{
  const int32_t node = c->grad[1].node;
  const weir_node *n = weir_graph_node(c->g, node);
  unsigned shard = 0;

  for (int k = 0; k < c->dims; k++) {
    shard |= c->at[k].ranks > 1 ? 1u << k : 0;
  }
  assert_int_equal(weir_partition_partial(c->p, node), shard);
  for (int in = 0; in < n->n_in; in++) {
    const bool is_x = n->in[in] == weir_value_array(c->g, c->x);

    for (int rank = 0; rank < weir_grid_size(&c->grid); rank++) {
      const weir_graph *g = c->local[rank].g;

      assert_ptr_equal(local_brings(g, node, in), is_x ? local_brings(g, c->y.node, 0) : NULL);
    }
  }
}

static void check_case(uint64_t seed, bool pool)
{
  problem c = make(seed, pool);

  for (int rank = 0; rank < weir_grid_size(&c.grid); rank++) {
    check_forward(&c, rank);
    check_data(&c, rank);
  }
  if (!pool) {
    check_weights(&c);
  }
  drop(&c);
}

static void convolutions_as_counted_out(void **state)
{
  for (uint64_t seed = 0; seed < CASES; seed++) {
    check_case(seed, false);
  }
}

static void pools_as_counted_out(void **state)
{
  for (uint64_t seed = 0; seed < CASES; seed++) {
    check_case(1000 + seed, true);
  }
}

static weir_status allocate(void *context)
{
  const problem *c = context;
  const weir_shard shard = {weir_value_array(c->g, c->x), 1, 0, c->at[0].bounds, 0, 0, false};
  weir_partition *p = NULL;
  weir_spmd_graph local = {.g = NULL};
  weir_status status = weir_partition_create(c->g, &c->grid, &shard, 1, &p);

  if (status == WEIR_OK) {
    status = weir_spmd_lower(p, 0, &local);
  }
  weir_spmd_graph_fini(&local);
  weir_partition_destroy(&p);
  return status;
}

static void wrong_shardings_and_no_memory(void **state)
{
  problem c = make(3, false);
  const int32_t x = weir_value_array(c.g, c.x), y = weir_value_array(c.g, c.y);
  const int64_t n = c.at[0].n, short_of[] = {0, n - 1}, falling[] = {0, n + 1, n}, good[] = {0, n};
  const weir_grid one = {1, {1}}, two = {1, {2}};
  const struct {
    const weir_grid *grid;
    weir_shard shard[2];
    int n;
  } rows[] = {
      {&one, {{x, 1, 0, short_of, 0, 0, false}}, 1},
      {&two, {{x, 1, 0, falling, 0, 0, false}}, 1},
      {&one, {{x, 1, 1, good, 0, 0, false}}, 1},
      {&one, {{x, 9, 0, good, 0, 0, false}}, 1},
      {&one, {{-1, 1, 0, good, 0, 0, false}}, 1},
      {&one, {{x, 1, 0, good, 0, 0, false}, {x, 1, 0, good, 0, 0, false}}, 2},
      {&(weir_grid){1, {0}}, {{x, 1, 0, good, 0, 0, false}}, 0},
      {&(weir_grid){2, {1 << 20, 1 << 20}}, {{x, 1, 0, good, 0, 0, false}}, 0},
      {&(weir_grid){WEIR_GRID_DIMS + 1, {1}}, {{x, 1, 0, good, 0, 0, false}}, 0},
  };
  weir_partition *p;

  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    assert_int_equal(weir_partition_create(c.g, rows[i].grid, rows[i].shard, rows[i].n, &p),
                     WEIR_ERR_CONFIG);
    assert_null(p);
  }
  assert_true(weir_check_faults(allocate, &c) > 5);
  /* Kept whole, the result asks every rank for all of x. */
  const weir_shard whole[] = {{x, 1, 0, c.at[0].bounds, 0, 0, false}, {.array = y, .dim = -1}};
  const weir_box none = {.rank = 0};

  assert_ok(weir_partition_create(c.g, &(weir_grid){1, {c.at[0].ranks}}, whole, 2, &p));
  for (int rank = 0; rank < c.at[0].ranks; rank++) {
    const weir_box box = weir_partition_owned(p, y, rank);

    assert_true(box.rank > none.rank && box.lo[1] == 0 && box.hi[1] == c.at[0].m);
  }
  weir_partition_destroy(&p);
  drop(&c);
}

/* The local graph has the rank's own boxes; what cannot be sharded is refused by name. */
static void the_local_graph_and_refusals(void **state)
{
  problem c = make(8, false);
  const int32_t x = weir_value_array(c.g, c.x);
  weir_partition *p;
  weir_spmd_graph local;

  for (int rank = 0; rank < weir_grid_size(&c.grid); rank++) {
    const weir_box own = weir_partition_owned(c.p, x, rank);

    assert_ok(weir_spmd_lower(c.p, rank, &local));
    for (int d = 0; d < own.rank; d++) {
      assert_int_equal(weir_graph_get_array(local.g, x)->desc.shape[d], own.hi[d] - own.lo[d]);
    }
    assert_ok(weir_graph_validate(local.g));
    weir_spmd_graph_fini(&local);
  }
  drop(&c);
  weir_graph *g = new_graph();
  const weir_tensor two = weir_tensor_wrap((double[]){1, 2}, WEIR_F64, 1, (int64_t[]){2});
  const weir_value fixed = weir_constant(g, &two);
  const int64_t bounds[] = {0, 1, 2};
  const weir_shard shard = {weir_value_array(g, fixed), 0, 0, bounds, 0, 0, false};

  weir_output(g, "y", weir_neg(g, fixed));
  assert_ok(weir_partition_create(g, &(weir_grid){1, {2}}, &shard, 1, &p));
  assert_int_equal(weir_spmd_lower(p, 0, &local), WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(), "'constant' is a constant"));
  assert_null(local.g);
  weir_partition_destroy(&p);
  weir_graph_destroy(&g);
}

/* A kernel of 3 over 8 elements, rank 1 owns the last 3: one plane of 4 samples, 2 channels and 8
 * bytes comes from below, forward and backward; 3 x 2 x 2 sums by weights are partial. */
static void the_report_tells_boxes_and_bytes(void **state)
{
  static const char *const lines[] = {
      "rank 1 of 2\n",
      "conv: iterations [0:4, 5:8, 0:1, 0:2, 0:3, 0:2], interior [0:4, 6:8, 0:1, 0:2, 0:3, 0:2]\n",
      "  exchange of x: [0:4, 4:5, 0:2] of rank 0, 64 bytes\n",
      "  exchange of elementwise: [0:4, 4:5, 0:2] of rank 0, 64 bytes\n",
      "  reduction of conv': partial over dimensions 0x1 of the grid, 96 bytes\n",
  };
  problem c = {.dims = 1, .at = {{8, 8, 3, 1, 1, 1, 1, {0, 5, 8}, 2}}};
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);

  assert_non_null(out);
  build(&c);
  weir_spmd_graph_print(&c.local[1], out);
  assert_int_equal(fclose(out), 0);
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    if (strstr(text, lines[i]) == NULL) {
      print_error("%s lacks %s", text, lines[i]);
      assert_true(0);
    }
  }
  free(text);
  drop(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(convolutions_as_counted_out),
      cmocka_unit_test(pools_as_counted_out),
      cmocka_unit_test(wrong_shardings_and_no_memory),
      cmocka_unit_test(the_local_graph_and_refusals),
      cmocka_unit_test(the_report_tells_boxes_and_bytes),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
