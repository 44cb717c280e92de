/* partition_fetch_test.c - weights that ranks keep in shards and fetch where they are read. */
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "ops/contract/weir_contract.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"
#include "ops/slice/weir_slice.h"
#include "pass/autodiff/weir_gradients.h"
#include "pass/partition/weir_spmd.h"
#include "support/ops/ops_check.h"

enum { SAMPLES = 6, UNITS = 5, WEIGHTS = UNITS * UNITS, LAYERS = 3, MAX_RANKS = 4 };

/* Products with matrices out of one flat bank, one after the other, and the gradients by these. */
typedef struct layers {
  weir_graph *g;
  weir_store *store;
  weir_value x, bank, w[LAYERS], grad[LAYERS];
  int64_t share[MAX_RANKS + 1], at[MAX_RANKS + 1];
  weir_shard shards[2];
  weir_grid grid;
} layers;

static void new_layers(layers *s, uint64_t seed, int ranks)
{
  const int64_t all = LAYERS * WEIGHTS;

  *s = (layers){.g = new_graph(), .grid = {1, {ranks}}};
  assert_ok(weir_store_create(&s->store));
  assert_ok(weir_store_add(s->store, "bank", WEIR_F64, 1, &all));
  s->x = GIVEN(s->g, "x", WEIR_F64, SAMPLES, UNITS);
  s->bank = weir_stored(s->g, s->store, "bank");
  weir_value y = s->x;

  for (int i = 0; i < LAYERS; i++) {
    const weir_value row =
        weir_slice(s->g, s->bank, 0, (int64_t)i * WEIGHTS, (int64_t)(i + 1) * WEIGHTS, 1);

    s->w[i] = weir_reshape(s->g, row, &((weir_reshape_spec){.rank = 2, .shape = {UNITS, UNITS}}));
    y = weir_contract2_at(s->g, "mk,kn->mn", y, s->w[i], WEIR_WHERE);
  }
  const weir_value loss = weir_sum(s->g, weir_square(s->g, y), -1);

  assert_ok(weir_gradients(s->g, loss, s->w, LAYERS, s->grad));
  for (int i = 0; i < LAYERS; i++) {
    static const char *const names[] = {"g0", "g1", "g2"};

    weir_output(s->g, names[i], s->grad[i]);
  }
  assert_ok(weir_graph_status(s->g));
  for (int q = 1; q < ranks; q++) { /* shards cut rows anywhere, and may be empty */
    const double u = weir_random_uniform(seed, 1, 0, (uint64_t)q);

    s->at[q] = s->at[q - 1] + (int64_t)(u * (double)(all - s->at[q - 1] + 1));
    s->share[q] = SAMPLES * q / ranks;
  }
  s->at[ranks] = all;
  s->share[ranks] = SAMPLES;
  s->shards[0] = (weir_shard){.array = weir_value_array(s->g, s->x), .bounds = s->share};
  s->shards[1] =
      (weir_shard){.array = weir_value_array(s->g, s->bank), .bounds = s->at, .fetched = true};
}

static void end(layers *s)
{
  weir_graph_destroy(&s->g);
  weir_store_destroy(&s->store);
}

/* Moves of the bank on a rank: their number; what each brings are the elements of one row; each is
 * asked for once the one before has come. */
static int count_fetches(const layers *s, const weir_partition *p, int rank, int of_row[LAYERS])
{
  const int32_t bank = weir_value_array(s->g, s->bank);
  weir_spmd_graph l;
  int n = 0;
  bool coming = false;

  assert_ok(weir_spmd_lower(p, rank, &l));
  for (int32_t i = 0; i < l.n; i++) {
    const weir_comm_op *m = l.moves[i];

    if (m->array == bank) {
      assert_int_equal(m->kind, WEIR_COMM_OP_EXCHANGE);
      assert_int_equal(m->to.lo[0] % WEIGHTS, 0);
      assert_int_equal(m->to.hi[0] - m->to.lo[0], WEIGHTS);
      of_row[m->to.lo[0] / WEIGHTS]++;
      n++;
    }
  }
  for (int32_t i = 0; i < weir_graph_nodes(l.g); i++) {
    const weir_comm_op *begun = weir_spmd_graph_starts(l.g, i),
                       *come = weir_spmd_graph_finishes(l.g, i);

    if (begun != NULL && begun->array == bank) {
      assert_false(coming);
      coming = true;
    }
    if (come != NULL && come->array == bank) {
      assert_true(coming);
      coming = false;
    }
  }
  weir_spmd_graph_fini(&l);
  return n;
}

/* All rows forwards; backwards the second and third again, whose layers pass a gradient on. Without
 * copies for derivatives each once. */
static void rows_are_fetched_where_they_are_read(void **state)
{
  for (uint64_t seed = 0; seed < 60; seed++) {
    const int ranks = 2 + (int)(seed % (MAX_RANKS - 1));
    const bool again = seed % 4 != 0;
    weir_partition *p = NULL;
    layers s;

    new_layers(&s, seed, ranks);
    if (again) {
      assert_ok(weir_partition_fetch_again(s.g, s.shards, 2));
    }
    assert_ok(weir_partition_create(s.g, &s.grid, s.shards, 2, &p));
    for (int rank = 0; rank < ranks; rank++) {
      int of_row[LAYERS] = {0};
      const weir_box run = weir_partition_iterations(p, s.w[1].node, rank);

      assert_int_equal(weir_box_volume(&run), WEIGHTS); /* whole, not where its elements are */
      assert_int_equal(count_fetches(&s, p, rank, of_row), again ? 2 * LAYERS - 1 : LAYERS);
      for (int i = 0; i < LAYERS; i++) {
        assert_int_equal(of_row[i], again && i > 0 ? 2 : 1);
      }
    }
    weir_partition_destroy(&p);
    end(&s);
  }
}

static void only_sources_are_fetched(void **state)
{
  weir_partition *p = NULL;
  layers s;

  new_layers(&s, 1, 2);
  s.shards[1] = (weir_shard){.array = weir_value_array(s.g, s.w[0]), .dim = -1, .fetched = true};
  assert_int_equal(weir_partition_create(s.g, &s.grid, s.shards, 2, &p), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "a node makes it"));
  end(&s);
}

static void every_failed_allocation_is_reported(void **state)
{
  weir_status status = WEIR_ERR_MEMORY;

  for (int64_t k = 1; status != WEIR_OK; k++) {
    const int64_t before = weir_alloc_bytes();
    layers s;

    new_layers(&s, 3, 3);
    weir_alloc_fail_after(k);
    status = weir_partition_fetch_again(s.g, s.shards, 2);
    weir_alloc_fail_after(0);
    assert_true(status == WEIR_OK || status == WEIR_ERR_MEMORY);
    end(&s);
    assert_int_equal(weir_alloc_bytes(), before);
  }
}

/* The gradient of a gradient's length: what it reads are copies already, or are copied once more.
 */
static void derivatives_of_derivatives_are_cloned_once_each(void **state)
{
  weir_value second;
  layers s;

  new_layers(&s, 5, 2);
  const weir_value length = weir_sum(s.g, weir_square(s.g, s.grad[1]), -1);

  assert_ok(weir_gradients(s.g, length, &s.w[0], 1, &second));
  weir_output(s.g, "second", second);
  assert_ok(weir_partition_fetch_again(s.g, s.shards, 2));
  assert_ok(weir_graph_validate(s.g));
  const int32_t nodes = weir_graph_nodes(s.g);

  assert_ok(weir_partition_fetch_again(s.g, s.shards, 2)); /* nothing is left to copy */
  assert_int_equal(weir_graph_nodes(s.g), nodes);
  end(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_fetched_where_they_are_read),
      cmocka_unit_test(only_sources_are_fetched),
      cmocka_unit_test(every_failed_allocation_is_reported),
      cmocka_unit_test(derivatives_of_derivatives_are_cloned_once_each),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
