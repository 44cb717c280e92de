/* recompute_blocks_test.c - blocks made again: the same bits, the exact choice, and budgets on
 * random graphs and on networks. */
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "support/exec/draw_run.h"
#include "support/exec/train_nets.h"
#include "support/graph/store_check.h"
#include "ops/random/weir_random_op.h"
#include "pass/recompute_blocks/weir_recompute_blocks.h"

enum { SIDE = 16, CHANNELS = 4, MODELS = 200, GRAPHS = 16 };

typedef struct trained {
  float *values; /* parameters after a step */
  int64_t n, arena, microbatches;
  bool elementwise;
  int blocks;
  weir_status status;
} trained;

static weir_exec_cfg config(int64_t memory)
{
  weir_exec_cfg cfg;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  cfg.memory = memory;
  return cfg;
}

/* x where a random number is small, else 0: dropout, whose numbers are drawn again with a block. */
static weir_value drop(weir_graph *g, weir_value x)
{
  const weir_array_desc *d = weir_value_desc(g, x);
  weir_random_spec s = {.dtype = WEIR_F32};

  for (int k = 0; d != NULL && k < d->rank; k++) {
    s.rank = d->rank;
    s.shape[k] = d->shape[k];
  }
  const weir_value seed = weir_scalar(g, WEIR_I64, 3), draw = weir_random(g, &s, seed, seed);
  const weir_value kept = weir_lt_scalar(g, draw, 0.9);

  return weir_select(g, kept, x, weir_scalar(g, WEIR_F32, 0));
}

/* Convolutions with batch normalisation, tanh and dropout, as many as a net has where recomputing
 * pays. */
static weir_status train_deep(train_net *t, int64_t batch)
{
  enum { LAYERS = 8 };
  WEIR_TRY(train_begin(t));
  weir_value x = train_input(t, batch, SIDE / 2, CHANNELS);

  for (int k = 0; k < LAYERS; k++) {
    x = train_conv(t, x, 3, 2 * CHANNELS);
    x = k % 2 == 0 ? train_relu(t, train_normalise(t, x)) : drop(t->g, weir_tanh(t->g, x));
  }
  train_finish(t, train_conv(t, x, 1, 1));
  WEIR_TRY(t->status);
  return weir_graph_status(t->g);
}

static trained train(bool cosmo, int64_t batch, int64_t memory)
{
  const weir_exec_cfg cfg = config(memory);
  trained t = {.n = 0};
  int64_t capacity = 0;
  train_net net;
  weir_plan *p;

  assert_ok(cosmo ? train_cosmo(&net, batch, SIDE, CHANNELS) : train_deep(&net, batch));
  t.status = weir_plan_create(net.g, net.store, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &p);
  if (t.status == WEIR_OK) {
    draw_outcome o = {NULL, 0, 0};

    t.arena = weir_plan_arena_bytes(p);
    t.microbatches = weir_plan_microbatches(p);
    t.elementwise = weir_plan_recomputes_elementwise(p);
    t.blocks = weir_plan_blocks_again(p);
    assert_ok(draw_run_whole(net.g, p, &o));
    weir_free(&o.values);
    for (int64_t i = 0; i < weir_store_count(net.store); i++) {
      const weir_tensor *w = check_stored(net.store, weir_store_name(net.store, i));

      assert_ok(weir_reserve(&t.values, &capacity, t.n + weir_tensor_numel(w), sizeof(float)));
      memcpy(t.values + t.n, w->data, (size_t)weir_tensor_numel(w) * sizeof(float));
      t.n += weir_tensor_numel(w);
    }
  }
  weir_plan_destroy(&p);
  train_fini(&net);
  return t;
}

/* The least arena that a refusal names. */
static int64_t least(bool cosmo, int64_t batch)
{
  const trained t = train(cosmo, batch, 64);
  const char *text = strstr(weir_last_message(), "the smallest arena that was found is ");

  assert_int_equal(t.status, WEIR_ERR_CONFIG);
  assert_non_null(text);
  const int64_t bytes = strtoll(text + strlen("the smallest arena that was found is "), NULL, 10);

  weir_clear_failure();
  return bytes;
}

/* Batch normalisation: nothing can be split, so what is made again alone keeps the budget, and
 * every bit is the same: element-wise results where they are enough. */
static void budgets_without_micro_batches_keep_every_bit(void **state)
{
  trained whole = train(false, 2, 0);
  const int64_t min = least(false, 2);

  assert_true(3 * min < 2 * whole.arena);
  for (int k = 0; k < 4; k++) {
    const int64_t budget = min + (whole.arena - 1 - min) * k / 3;
    trained t = train(false, 2, budget);

    assert_ok(t.status);
    assert_int_equal(t.microbatches, 1);
    assert_true(t.arena <= budget);
    assert_true(k < 3 || (t.elementwise && t.blocks == 0));
    assert_int_equal(t.n, whole.n);
    assert_memory_equal(t.values, whole.values, (size_t)t.n * sizeof(float));
    weir_free(&t.values);
  }
  assert_int_equal(train(false, 2, min - 1).status, WEIR_ERR_CONFIG);
  weir_clear_failure();
  weir_free(&whole.values);
}

/* Both ways at once: to rounding. */
static void the_least_budget_of_a_batch_can_be_kept(void **state)
{
  trained whole = train(true, 4, 0);
  const int64_t min = least(true, 4);
  trained t = train(true, 4, min);

  assert_ok(t.status);
  assert_true(t.arena <= min && 2 * min < whole.arena);
  assert_int_equal(weir_compare("least budget, none", WEIR_F32, t.values, whole.values, t.n,
                                (weir_tolerance){1e-6, 1e-6}),
                   0);
  weir_free(&t.values);
  weir_free(&whole.values);
}

/* A loss of the mean square of random maths, and its gradient by the inputs. */
static void learn(draw_graph *d)
{
  weir_value inputs[DRAW_POOL], grads[DRAW_POOL], sum = WEIR_NO_VALUE;
  char name[16];
  int n = 0;

  for (int32_t i = 0; i < weir_graph_nodes(d->g); i++) {
    const weir_node *node = weir_graph_node(d->g, i);

    if (node->op == NULL && weir_graph_get_array(d->g, node->out[0])->kind == WEIR_ARRAY_INPUT &&
        n < DRAW_POOL) {
      inputs[n++] = (weir_value){i, 0};
    }
  }
  const int32_t arrays = weir_graph_arrays(d->g);

  for (int32_t a = 0; a < arrays; a++) {
    const weir_array *x = weir_graph_get_array(d->g, a);

    if (x->output != NULL && x->desc.dtype == WEIR_F32) {
      const weir_value y = weir_tanh(d->g, weir_array_value(d->g, a));
      const weir_value here = weir_sum(d->g, weir_square(d->g, y), -1);

      sum = sum.node < 0 ? here : weir_add(d->g, sum, here);
    }
  }
  if (weir_gradients(d->g, sum, inputs, n, grads) != WEIR_OK) {
    return;
  }
  for (int k = 0; k < n; k++) {
    (void)snprintf(name, sizeof name, "grad%d", k);
    weir_output(d->g, name, grads[k]);
  }
}

static draw_outcome outcome_of(const weir_graph *g, int64_t memory, int64_t *arena)
{
  const weir_exec_cfg cfg = config(memory);
  draw_outcome o = {NULL, 0, 0};
  weir_plan *p;

  *arena = -1;
  if (weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &p) == WEIR_OK) {
    *arena = weir_plan_arena_bytes(p);
    assert_ok(draw_run_whole(g, p, &o));
  }
  weir_plan_destroy(&p);
  return o;
}

/* Any budget from the least on is kept, and changes rounding at most. */
static void random_graphs_keep_any_budget(void **state)
{
  int64_t tight = 0;

  for (uint64_t seed = 0; seed < GRAPHS; seed++) {
    draw_graph d = draw_make(seed, false, true);
    int64_t whole, arena;

    learn(&d);
    if (weir_graph_status(d.g) != WEIR_OK) { /* an operator without a derivative */
      weir_clear_failure();
      weir_graph_destroy(&d.g);
      continue;
    }
    draw_outcome expected = outcome_of(d.g, 0, &whole), none = outcome_of(d.g, 1, &arena);
    const char *text = strstr(weir_last_message(), "the smallest arena that was found is ");
    const int64_t min =
        arena < 0 && text != NULL
            ? strtoll(text + strlen("the smallest arena that was found is "), NULL, 10)
            : 0;

    assert_true(arena < 0 || whole <= 64);
    weir_clear_failure();
    for (int k = 0; k < 3 && arena < 0; k++) {
      const int64_t budget = min + (whole - min) * k / 2;
      draw_outcome actual = outcome_of(d.g, budget, &arena);

      assert_in_range(arena, 0, budget);
      assert_true(draw_difference(&actual, &expected, 1e-3) < 0);
      weir_free(&actual.values);
      arena = -1;
    }
    tight += min < whole;
    weir_free(&none.values);
    weir_free(&expected.values);
    weir_graph_destroy(&d.g);
  }
  assert_true(tight > 0);
}

/* A random chain of blocks with a skip. */
typedef struct model {
  weir_blocks b;
  int64_t live[2 * WEIR_MAX_BLOCKS], change[2 * WEIR_MAX_BLOCKS + 1];
  weir_block_array kept[WEIR_MAX_BLOCKS];
} model;

static void draw_model(weir_draw *w, model *m)
{
  const int n = (int)weir_draw_int(w, 1, 10);

  *m = (model){.b = {.n = n, .n_groups = 2 * n, .n_kept = n}};
  m->b.live = m->live;
  m->b.change = m->change;
  m->b.kept = m->kept;
  for (int k = 0; k < n; k++) {
    m->kept[k] =
        (weir_block_array){k, weir_draw_int(w, 1, 100), k + 1 < n ? k + 1 : k, 2 * n - 1 - k};
    m->b.reads[k] = k > 0 ? 1U << (k - 1) : 0;
    m->b.within[k] = weir_draw_int(w, 0, 20);
    m->b.seconds[k] = (double)weir_draw_int(w, 1, 50);
  }
  for (int t = 0; t < 2 * n; t++) {
    for (int k = 0; k < n; k++) {
      m->live[t] += t >= k && t <= 2 * n - 1 - k ? m->kept[k].bytes : 0;
    }
    m->b.peak = m->live[t] > m->b.peak ? m->live[t] : m->b.peak;
  }
}

/* Seconds of the blocks of a choice. */
static double time_of(const model *m, uint32_t again)
{
  double sum = 0;

  for (int k = 0; k < m->b.n; k++) {
    sum += (again >> k & 1) != 0 ? m->b.seconds[k] : 0;
  }
  return sum;
}

/* Most that lives, block by block and step by step. */
static int64_t peak_by_steps(const model *m, uint32_t again)
{
  const int n = m->b.n;
  int64_t peak = 0;

  for (int t = 0; t < 2 * n; t++) {
    int64_t live = 0;

    for (int k = 0; k < n; k++) {
      int top = k; /* the last block of the row of chosen ones that begins with k */

      while (top + 1 < n && (again >> (top + 1) & 1) != 0) {
        top++;
      }
      const bool chosen = (again >> k & 1) != 0;
      const int back = 2 * n - 1 - (chosen ? top : k);
      const bool alive = t >= k && t <= 2 * n - 1 - k;

      live += alive && (!chosen || t <= m->kept[k].last || t >= back) ? m->kept[k].bytes : 0;
      live += chosen && t == back ? m->b.within[k] : 0;
    }
    peak = live > peak ? live : peak;
  }
  return peak;
}

static void the_choice_is_the_best_of_all(void **state)
{
  weir_draw w = {.seed = 7};

  for (int i = 0; i < MODELS; i++) {
    model m;
    weir_block_choice choice;
    double best = -1;
    int64_t min = INT64_MAX;

    draw_model(&w, &m);
    const int64_t bytes = weir_draw_int(&w, 1, m.b.peak);

    for (uint32_t again = 0; again < 1U << m.b.n; again++) {
      const int64_t peak = peak_by_steps(&m, again);
      const double seconds = time_of(&m, again);

      assert_int_equal(weir_blocks_peak(&m.b, again), peak);
      min = peak < min ? peak : min;
      best = peak <= bytes && (best < 0 || seconds < best) ? seconds : best;
    }
    const int64_t peak = weir_blocks_choose(&m.b, bytes, &choice);

    assert_int_equal(weir_blocks_peak(&m.b, choice.again), peak);
    assert_true(best < 0 ? peak == min : peak <= bytes && time_of(&m, choice.again) == best);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_choice_is_the_best_of_all),
      cmocka_unit_test(budgets_without_micro_batches_keep_every_bit),
      cmocka_unit_test(the_least_budget_of_a_batch_can_be_kept),
      cmocka_unit_test(random_graphs_keep_any_budget),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
