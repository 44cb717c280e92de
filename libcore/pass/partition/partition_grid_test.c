/* partition_grid_test.c - dimensions over several of the grid, and several over one: who owns which
 * piece, counted out; what cannot be. */
#include "pass/partition/weir_partition.h"

#include <string.h>

#include "base/weir_check.h"
#include "base/weir_random.h"
#include "ops/elementwise/weir_elementwise.h"
#include "support/ops/ops_check.h"
#include "ops/reduce/weir_reduce.h"

enum { NK = 5, NE = 7, MAX = 12, MAX_CUTS = 4 };

static int64_t draw(uint64_t seed, uint32_t what, int64_t min, int64_t max)
{
  return min + (int64_t)(weir_random_bits(seed, what, 0, 0) % (uint64_t)(max - min + 1));
}

/* x[k, e] and y = x + x, z = the sum over e. */
typedef struct scene {
  weir_graph *g;
  weir_value x, y, z;
  weir_grid grid;
  weir_shard shard[MAX_CUTS];
  int64_t bounds[MAX_CUTS][MAX + 1];
  int n;
} scene;

static scene make(void)
{
  scene s = {.g = new_graph()};

  s.x = weir_input(s.g, "x", &(weir_array_desc){WEIR_F64, 2, {NK, NE}, 0});
  s.y = weir_add(s.g, s.x, s.x);
  s.z = weir_sum(s.g, s.x, 1);
  weir_output(s.g, "y", s.y);
  weir_output(s.g, "z", s.z);
  return s;
}

/* Dimension dim of x in n pieces, as even as can be. */
static void shard(scene *s, int dim, int along, unsigned also, int pieces, int n)
{
  int64_t *at = s->bounds[s->n];

  for (int q = 0; q <= n; q++) {
    at[q] = (dim == 0 ? NK : NE) * (int64_t)q / n;
  }
  s->shard[s->n++] =
      (weir_shard){weir_value_array(s->g, s->x), dim, along, at, also, pieces, false};
}

static weir_status create(const scene *s, weir_partition **p)
{
  return weir_partition_create(s->g, &s->grid, s->shard, s->n, p);
}

/* Number of the position of a rank along the dimensions of the grid in `dims`: as ranks are
 * counted.
 */
static int position_along(const weir_grid *grid, int rank, unsigned dims)
{
  int coords[WEIR_GRID_DIMS], q = 0;

  weir_grid_coords(grid, rank, coords);
  for (int d = 0; d < grid->dims; d++) {
    q = (dims >> d & 1) != 0 ? q * grid->extent[d] + coords[d] : q;
  }
  return q;
}

static void check_box(const weir_partition *p, weir_value v, const weir_graph *g, int rank,
                      const int64_t *of_k, const int64_t *of_e)
{
  const weir_box box = weir_partition_owned(p, weir_value_array(g, v), rank);

  assert_true(box.lo[0] == of_k[0] && box.hi[0] == of_k[1]);
  assert_true(of_e == NULL || (box.lo[1] == of_e[0] && box.hi[1] == of_e[1]));
}

static void energies_over_several_dimensions_of_the_grid(void **state)
{
  for (uint64_t seed = 0; seed < 200; seed++) {
    const int64_t whole[] = {0, NK};
    scene s = make();
    weir_partition *p;
    unsigned also = 0;
    int positions;

    s.grid = (weir_grid){(int)draw(seed, 0, 1, 3), {0}};
    const int along = (int)draw(seed, 1, 0, s.grid.dims - 1);

    for (int d = 0; d < s.grid.dims; d++) {
      s.grid.extent[d] = (int)draw(seed, 2 + (uint32_t)d, 1, s.grid.dims == 1 ? 12 : 2);
      also |= draw(seed, 5 + (uint32_t)d, 0, 1) != 0 ? 1u << d : 0;
    }
    const unsigned dims = also | 1u << along;

    positions = position_along(&s.grid, weir_grid_size(&s.grid) - 1, dims) + 1;
    shard(&s, 1, along, also, 0, positions);
    assert_ok(create(&s, &p));
    for (int rank = 0; rank < weir_grid_size(&s.grid); rank++) {
      const int64_t *mine = &s.bounds[0][position_along(&s.grid, rank, dims)];
      const weir_box run = weir_partition_iterations(p, s.z.node, rank);

      check_box(p, s.x, s.g, rank, whole, mine);
      check_box(p, s.y, s.g, rank, whole, mine);
      check_box(p, s.z, s.g, rank, whole, NULL);
      assert_true(weir_box_volume(&run) == NK * (mine[1] - mine[0]));
    }
    for (int d = 0; d < s.grid.dims; d++) { /* sums are partial over just these */
      const bool partial = (dims >> d & 1) != 0 && s.grid.extent[d] > 1;

      assert_int_equal(weir_partition_partial(p, s.z.node) >> d & 1, partial);
    }
    weir_partition_destroy(&p);
    weir_graph_destroy(&s.g);
  }
}

/* Over all ranks of any grid, whose number n has the two factors. */
static void pairs_of_momentum_and_energy_in_order(void **state)
{
  static const weir_grid grids[] = {{1, {4}},    {1, {6}},    {1, {12}},     {2, {2, 2}},
                                    {2, {2, 3}}, {2, {3, 4}}, {3, {2, 2, 3}}};

  for (size_t i = 0; i < sizeof grids / sizeof grids[0]; i++) {
    const int n = weir_grid_size(&grids[i]);
    int good = 0;

    for (int momenta = 1; momenta <= n; momenta++) {
      scene s = make();
      weir_partition *p;

      s.grid = grids[i];
      for (int dim = 0; dim < 2 && n % momenta == 0; dim++) {
        shard(&s, dim, 0, (1u << grids[i].dims) - 1, dim == 0 ? momenta : n / momenta,
              dim == 0 ? momenta : n / momenta);
      }
      const weir_status status = s.n > 0 ? create(&s, &p) : WEIR_ERR_UNSUPPORTED;

      if (status == WEIR_OK) {
        assert_int_equal(weir_grid_size(weir_partition_grid(p)), n);
        for (int rank = 0; rank < n; rank++) {
          const int energies = n / momenta;

          check_box(p, s.x, s.g, rank, &s.bounds[0][rank / energies],
                    &s.bounds[1][rank % energies]);
          check_box(p, s.y, s.g, rank, &s.bounds[0][rank / energies],
                    &s.bounds[1][rank % energies]);
          check_box(p, s.z, s.g, rank, &s.bounds[0][rank / energies], NULL);
        }
        good++;
        weir_partition_destroy(&p);
      } else {
        assert_int_equal(status, WEIR_ERR_UNSUPPORTED);
      }
      weir_graph_destroy(&s.g);
    }
    /* Divisors of n that go with the extents: 1 2 4; 1 2 3 6; 1 2 3 4 6 12; 1 2 4; 1 2 6;
     * 1 3 6 12; 1 2 4 12. */
    assert_int_equal(good, ((const int[]){3, 4, 6, 3, 3, 4, 4})[i]);
  }
}

/* What one array has in the order of pairs, another has by one dimension in the same order. */
static void arrays_share_ranks_in_ways_of_their_own(void **state)
{
  const int64_t of_y[] = {0, 2, 3, 6, 7};
  scene s = make();
  weir_partition *p;

  s.grid = (weir_grid){1, {4}};
  shard(&s, 0, 0, 0, 2, 2);
  shard(&s, 1, 0, 0, 2, 2);
  s.shard[s.n++] = (weir_shard){weir_value_array(s.g, s.y), 1, 0, of_y, 0, 0, false};
  assert_ok(create(&s, &p));
  for (int rank = 0; rank < 4; rank++) {
    check_box(p, s.x, s.g, rank, &s.bounds[0][rank / 2], &s.bounds[1][rank % 2]);
    check_box(p, s.y, s.g, rank, (const int64_t[]){0, NK}, &of_y[rank]);
  }
  weir_partition_destroy(&p);
  weir_graph_destroy(&s.g);
}

/* A row: grid, up to two shardings of x (dim, along, also, pieces), status and part of the reason.
 */
typedef struct refusal {
  weir_grid grid;
  int n, of[2][4];
  weir_status status;
  const char *why;
} refusal;

static void what_cannot_be_is_refused_by_name(void **state)
{
  static const refusal rows[] = {
      {{1, {4}}, 2, {{0, 0, 0, 0}, {1, 0, 0, 0}}, WEIR_ERR_CONFIG, "or another of its dimensions"},
      {{1, {4}}, 2, {{0, 0, 0, 2}, {1, 0, 0, 0}}, WEIR_ERR_CONFIG, "needs its number of pieces"},
      {{1, {4}}, 2, {{0, 0, 0, 2}, {1, 0, 0, 3}}, WEIR_ERR_CONFIG, "share 4 ranks"},
      {{1, {4}}, 1, {{0, 0, 0, 2}}, WEIR_ERR_CONFIG, "share 4 ranks"},
      {{1, {4}}, 1, {{0, 0, 0, -4}}, WEIR_ERR_CONFIG, "cannot be sharded"},
      {{1, {4}}, 1, {{0, 0, 2, 0}}, WEIR_ERR_CONFIG, "those of mask 0x2) of a grid of 1"},
      {{2, {2, 2}}, 2, {{0, 0, 0, 0}, {1, 1, 1, 0}}, WEIR_ERR_CONFIG, "or another of its"},
      {{2, {2, 3}}, 2, {{0, 0, 2, 3}, {1, 0, 2, 2}}, WEIR_ERR_UNSUPPORTED, "common factors"},
  };

  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const refusal *r = &rows[i];
    scene s = make();
    weir_partition *p;

    s.grid = r->grid;
    for (int k = 0; k < r->n; k++) {
      const int *of = r->of[k];

      shard(&s, of[0], of[1], (unsigned)of[2], of[3], of[3] > 0 ? of[3] : 4);
    }
    assert_int_equal(create(&s, &p), r->status);
    assert_non_null(strstr(weir_last_message(), r->why));
    assert_null(p);
    weir_graph_destroy(&s.g);
  }
}

/* Two arrays whose pieces split 6 ranks into 2 x 3 and 3 x 2. */
static void pieces_that_do_not_go_together_are_refused(void **state)
{
  const int64_t halves[] = {0, 2, NK}, thirds[] = {0, 2, 4, NE};
  const int64_t third[] = {0, 2, 4, NK}, half[] = {0, 2, NE};
  scene s = make();
  const int32_t x = weir_value_array(s.g, s.x), y = weir_value_array(s.g, s.y);
  const weir_shard shards[] = {{x, 0, 0, halves, 0, 2, false},
                               {x, 1, 0, thirds, 0, 3, false},
                               {y, 0, 0, third, 0, 3, false},
                               {y, 1, 0, half, 0, 2, false}};
  weir_partition *p;

  assert_int_equal(weir_partition_create(s.g, &(weir_grid){1, {6}}, shards, 4, &p),
                   WEIR_ERR_UNSUPPORTED);
  assert_non_null(
      strstr(weir_last_message(), "array 1 and those of other shardings do not split the 6"));
  assert_ok(weir_partition_create(s.g, &(weir_grid){1, {6}}, shards, 2, &p));
  weir_partition_destroy(&p);
  weir_graph_destroy(&s.g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(energies_over_several_dimensions_of_the_grid),
      cmocka_unit_test(pairs_of_momentum_and_energy_in_order),
      cmocka_unit_test(arrays_share_ranks_in_ways_of_their_own),
      cmocka_unit_test(what_cannot_be_is_refused_by_name),
      cmocka_unit_test(pieces_that_do_not_go_together_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
