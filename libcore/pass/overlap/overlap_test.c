/* overlap_test.c - interiors and shells against all iterations, counted out. */
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "ops/conv/weir_conv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/pool/weir_pool.h"
#include "pass/partition/weir_spmd.h"
#include "pass/weir_pass.h"

enum { CASES = 300, RANKS = 4, LONGEST = 32 };

/* A convolution of one dimension sharded over ranks, and the arrays that were split. */
typedef struct problem {
  int64_t size, stride, lo, hi, extent, ranks, bounds[RANKS + 1];
  weir_graph *g;
  weir_value x, y, z; /* z: pooled, where there is a pool */
  weir_partition *p;
} problem;

static int64_t draw(uint64_t seed, uint32_t what, int64_t min, int64_t max)
{
  return min + (int64_t)(weir_random_bits(seed, what, 5, 0) % (uint64_t)(max - min + 1));
}

static void make(problem *s, uint64_t seed, bool pool)
{
  static const int64_t size[] = {1, 2, 3, 5};

  *s = (problem){.size = size[draw(seed, 0, 0, 3)],
                 .stride = draw(seed, 1, 1, 2),
                 .ranks = draw(seed, 2, 2, RANKS)};
  s->lo = draw(seed, 3, 0, 1) * (s->size - 1) / 2;
  s->hi = s->lo > 0 ? s->size - 1 - s->lo : 0;
  s->extent = draw(seed, 4, s->size * s->stride + 1, LONGEST);
  s->bounds[s->ranks] = s->extent;
  for (int q = 1; q < s->ranks; q++) { /* some ranks have less than a window, or nothing */
    const bool even = draw(seed, 5, 0, 1) == 0;

    s->bounds[q] =
        even ? s->extent * q / s->ranks : draw(seed, 10 + (uint32_t)q, s->bounds[q - 1], s->extent);
  }
  const weir_array_desc in = {WEIR_F64, 3, {1, s->extent, 1}, 0};
  const weir_array_desc w = {WEIR_F64, 3, {s->size, 1, 1}, 0};
  const weir_conv_spec spec = {.stride = {s->stride}, .pad_before = {s->lo}, .pad_after = {s->hi}};

  assert_ok(weir_graph_create(&s->g));
  s->x = weir_input(s->g, "x", &in);
  s->y = weir_conv(s->g, &spec, s->x, weir_input(s->g, "w", &w));
  if (pool) {
    s->z = weir_pool_max(s->g, &(weir_pool_spec){.kernel_size = {2}}, weir_tanh(s->g, s->y));
  }
  weir_output(s->g, "result", pool ? s->z : s->y);
  assert_ok(weir_graph_status(s->g));
  assert_ok(weir_partition_create(
      s->g, &(weir_grid){1, {(int)s->ranks}},
      &(weir_shard){weir_value_array(s->g, s->x), 1, 0, s->bounds, 0, 0, false}, 1, &s->p));
}

static void drop(problem *s)
{
  weir_partition_destroy(&s->p);
  weir_graph_destroy(&s->g);
}

/* Whether output o of the whole convolution reads elements of the rank alone. */
static bool reads_own(const problem *s, int rank, int64_t o)
{
  bool own = true;

  for (int64_t t = 0; t < s->size; t++) {
    const int64_t i = s->stride * o + t - s->lo;

    own = own && (i < 0 || i >= s->extent || (i >= s->bounds[rank] && i < s->bounds[rank + 1]));
  }
  return own;
}

static int32_t array_named(const weir_graph *g, const char *name)
{
  int32_t found = -1;

  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const weir_array *array = weir_graph_get_array(g, a);

    if ((array->output != NULL && strcmp(array->output, name) == 0) ||
        (array->name != NULL && strcmp(array->name, name) == 0)) {
      found = a;
    }
  }
  return found;
}

/* How often each element of the array's dimension 1 is written; and by nodes that read `own`. */
static int count_writes(const weir_graph *g, int32_t array, int32_t own, int *times, bool *ahead)
{
  int writers = 0;

  memset(times, 0, (LONGEST + 1) * sizeof *times);
  memset(ahead, 0, (LONGEST + 1) * sizeof *ahead);
  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    const weir_node *node = weir_graph_node(g, i);

    if (node->op == NULL || node->dead || node->out[0] != array) {
      continue;
    }
    const weir_box run = weir_iterations(&node->access);
    const weir_region r = weir_written(&node->access, 0, &run);
    const weir_box box = weir_region_hull(&r);

    writers++;
    for (int64_t o = box.lo[1]; o < box.hi[1] && !weir_box_empty(&box); o++) {
      times[o]++;
      ahead[o] = node->in[0] == own;
    }
  }
  return writers;
}

/* Iterations that sum, in all of the graph. */
static int64_t count_sums(const weir_graph *g)
{
  int64_t n = 0;

  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    const weir_node *node = weir_graph_node(g, i);

    if (node->op != NULL && !node->dead && node->access.combine == WEIR_COMBINE_SUM) {
      const weir_box run = weir_iterations(&node->access);

      n += weir_box_volume(&run);
    }
  }
  return n;
}

static weir_spmd_graph ahead_of(const problem *s, int rank, int64_t *sums)
{
  weir_spmd_graph l;

  assert_ok(weir_spmd_lower(s->p, rank, &l));
  *sums = count_sums(l.g);
  assert_ok(weir_pass_run(l.g, "overlap", &(weir_pass_opts){.overlap = WEIR_OVERLAP_ON}));
  assert_ok(weir_graph_validate(l.g)); /* what has several writers is disjoint and covered */
  return l;
}

static void interiors_are_what_reads_own_elements(void **state)
{
  int split = 0;

  for (uint64_t seed = 1; seed <= CASES; seed++) {
    problem s;

    make(&s, seed, false);
    for (int rank = 0; rank < s.ranks; rank++) {
      int times[LONGEST + 1];
      bool ahead[LONGEST + 1];
      int64_t sums;
      weir_spmd_graph l = ahead_of(&s, rank, &sums);
      const weir_box owned = weir_partition_owned(s.p, weir_value_array(s.g, s.y), rank);
      const int writers =
          count_writes(l.g, array_named(l.g, "result"), array_named(l.g, "x"), times, ahead);

      for (int64_t o = owned.lo[1]; o < owned.hi[1]; o++) {
        assert_int_equal(times[o - owned.lo[1]], 1);
        if (writers > 1) {
          assert_int_equal(ahead[o - owned.lo[1]], reads_own(&s, rank, o));
        }
      }
      /* Not run in pieces: no iteration reads own elements alone, or nothing comes to this rank. */
      for (int64_t o = owned.lo[1]; o < owned.hi[1] && l.n > 0 && writers == 1; o++) {
        const weir_comm_op *m = l.moves[0];

        assert_true(!reads_own(&s, rank, o) ||
                    (m->from.lo[1] <= m->to.lo[1] && m->to.hi[1] <= m->from.hi[1]));
      }
      assert_int_equal(count_sums(l.g), sums);
      split += writers > 1;
      weir_spmd_graph_fini(&l);
    }
    drop(&s);
  }
  assert_true(split > CASES / 4);
}

/* The split lies between windows of the pool: nothing is convolved twice, and the pool continues in
 * pieces.
 */
static void pools_continue_in_pieces(void **state)
{
  int split = 0;

  for (uint64_t seed = 1; seed <= CASES; seed++) {
    problem s;

    make(&s, seed, true);
    for (int rank = 0; rank < s.ranks; rank++) {
      int times[LONGEST + 1];
      bool ahead[LONGEST + 1];
      int64_t sums;
      weir_spmd_graph l = ahead_of(&s, rank, &sums);
      const weir_box owned = weir_partition_owned(s.p, weir_value_array(s.g, s.z), rank);

      split += count_writes(l.g, array_named(l.g, "result"), -1, times, ahead) > 1;
      for (int64_t o = owned.lo[1]; o < owned.hi[1]; o++) {
        assert_int_equal(times[o - owned.lo[1]], 1);
      }
      assert_int_equal(count_sums(l.g), sums);
      weir_spmd_graph_fini(&l);
    }
    drop(&s);
  }
  assert_true(split > CASES / 8);
}

static void off_changes_nothing(void **state)
{
  problem s;
  weir_spmd_graph l;

  make(&s, 3, true);
  assert_ok(weir_spmd_lower(s.p, 0, &l));
  const int32_t nodes = weir_graph_nodes(l.g);

  assert_ok(weir_pass_run(l.g, "overlap", &(weir_pass_opts){.overlap = WEIR_OVERLAP_OFF}));
  assert_int_equal(weir_graph_nodes(l.g), nodes);
  weir_spmd_graph_fini(&l);
  drop(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(interiors_are_what_reads_own_elements),
      cmocka_unit_test(pools_continue_in_pieces),
      cmocka_unit_test(off_changes_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
