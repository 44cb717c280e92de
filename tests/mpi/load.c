/* load.c - samples from the memory of other ranks: what is handed over is what one rank reads by
 * itself, what is read from the source is counted, from every batch on, and a failure of one rank
 * ends all. The argument is how many ranks were started. */
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "comm/weir_grid.h"
#include "support/load/load_check.h"
#include "all_ranks.h"

enum { MOST_RANKS = 4, EPOCHS = 4, EVEN = 24, LARGE = 64 };

/* One training of a rank. */
typedef struct training {
  weir_sampler order;
  int remote;        /* weir_load_remote */
  int64_t capacity;  /* samples of memory */
  int64_t threads;   /* of the staging buffer */
  int64_t epoch, at; /* batch from which it goes on */
  int64_t stop;      /* batches after which it ends early, 0: it does not */
  int64_t fail;      /* sample that cannot be read by the last rank, -1: none */
  weir_comm *peers;
  int64_t d0, d1; /* planes of this rank */
} training;

typedef struct outcome {
  int64_t reads[CHECK_SAMPLES];  /* of this rank; after sum_up, of all */
  int64_t from[WEIR_LOAD_TIERS]; /* likewise */
  int64_t sent;
} outcome;

static training usual(int64_t samples, int64_t batch)
{
  return (training){
      .order = {.samples = samples, .batch = batch, .step = batch, .shuffle = true, .seed = 6},
      .remote = WEIR_LOAD_AUTO,
      .capacity = LARGE,
      .threads = 1,
      .fail = -1,
      .peers = comm,
      .d1 = 4};
}

/* The visits of a batch, each asked for and compared. */
static weir_status visit(const training *t, const check_source *s, const weir_access_stream *v,
                         weir_load *l, const load_batch *b)
{
  int64_t sample[CHECK_SAMPLES], lo, hi;
  weir_load_view view;

  WEIR_TRY(weir_load_batch(l, b->epoch, b->at));
  weir_sampler_take(&t->order, b->epoch, b->at, b->n, sample);
  weir_sampler_share(b->n, v->at, v->of, &lo, &hi);
  for (int64_t i = 0; i < hi - lo; i++) {
    WEIR_TRY(weir_load_get(l, b->epoch, b->at, i, sample[lo + i], &view));
    assert_sample(s, sample[lo + i], view.field[0], view.field[1]);
  }
  return WEIR_OK;
}

/* Trains as train/ does: all ranks agree behind each batch. */
static weir_status run(const training *t, outcome *out)
{
  const int groups = weir_comm_size(t->peers);
  const weir_access_stream v = weir_access_stream_of(&t->order, weir_comm_rank(t->peers), groups);
  const weir_load_peers peers = {.comm = t->peers, .epoch = EPOCHS};
  const int64_t each = load_batches(&t->order), first = t->epoch * each + t->at / t->order.batch;
  weir_load_cfg cfg = check_cfg(3, t->threads);
  weir_status status = WEIR_OK;
  weir_load *l = NULL;
  check_source s;

  check_source_init(&s, t->d0, t->d1, t->threads % 2 == 0);
  s.source.peers = groups > 1 ? &peers : NULL;
  s.fail = rank == ranks - 1 ? (int)t->fail : -1;
  cfg.remote = t->remote;
  cfg.memory.bytes = t->capacity * CHECK_BYTES;
  WEIR_TRY(weir_load_open(&cfg, &s.source, &v, EPOCHS * v.each, &l));
  assert_int_equal(load_is_remote(l), groups > 1 && t->capacity > 0 && t->remote != WEIR_LOAD_OFF);
  for (int64_t k = first; k < EPOCHS * each && status == WEIR_OK; k++) {
    const load_batch b = load_batch_of(&t->order, k);

    status = weir_comm_agree(comm, visit(t, &s, &v, l, &b));
    if (k == first && status == WEIR_OK) { /* a step that is looked at again */
      status = weir_load_batch(l, b.epoch, b.at);
    }
    if (t->stop > 0 && k == first + t->stop) {
      break;
    }
  }
  const weir_load_count c = weir_load_counted(l);

  *out = (outcome){.sent = c.sent};
  memcpy(out->from, c.from, sizeof c.from);
  weir_load_close(&l);
  for (int i = 0; i < CHECK_SAMPLES; i++) {
    out->reads[i] = s.reads[i];
  }
  return status;
}

/* Of all ranks, on rank 0. */
static void sum_up(outcome *o)
{
  void *all = NULL;
  int64_t bytes = 0;

  assert_ok(weir_comm_gather(comm, o, sizeof *o, &all, &bytes));
  for (int r = 1; rank == 0 && r < ranks; r++) {
    const outcome *const other = (const outcome *)all + r;

    for (int i = 0; i < CHECK_SAMPLES; i++) {
      o->reads[i] += other->reads[i];
    }
    for (int p = 0; p < WEIR_LOAD_TIERS; p++) {
      o->from[p] += other->from[p];
    }
    o->sent += other->sent;
  }
  weir_free(&all);
}

static int64_t total(const int64_t *x, int n)
{
  int64_t sum = 0;

  for (int i = 0; i < n; i++) {
    sum += x[i];
  }
  return sum;
}

/* Ranks that visit a sample which another one visited first, summed over samples: where there is
 * capacity, it stays with each. */
static int64_t visitors_elsewhere(const weir_sampler *o)
{
  bool seen[CHECK_SAMPLES][MOST_RANKS] = {{false}};
  int64_t elsewhere = 0;
  int met[CHECK_SAMPLES];

  for (int64_t k = 0; k < EPOCHS * load_batches(o); k++) {
    const load_batch b = load_batch_of(o, k);
    int64_t sample[CHECK_SAMPLES], lo, hi;

    weir_sampler_take(o, b.epoch, b.at, b.n, sample);
    for (int g = 0; g < ranks; g++) {
      weir_sampler_share(b.n, g, ranks, &lo, &hi);
      for (int64_t i = lo; i < hi; i++) {
        met[sample[i]] = b.epoch == 0 ? g : met[sample[i]];
        elsewhere += met[sample[i]] != g && !seen[sample[i]][g];
        seen[sample[i]][g] = true;
      }
    }
  }
  return elsewhere;
}

/* Each sample is read once by all ranks together, whatever else; what is sent is what comes. */
static void a_sample_is_read_once_by_all(void **state)
{
  for (int i = 0; i < 6; i++) {
    training t = usual(i < 3 ? EVEN : 23, i % 3 == 0 ? 8 : i % 3 == 1 ? 4 : 5);
    outcome o;

    t.threads = i % 3;
    assert_ok(run(&t, &o));
    sum_up(&o);
    for (int s = 0; rank == 0 && s < t.order.samples; s++) {
      assert_int_equal(o.reads[s], 1);
    }
    if (rank == 0) {
      assert_int_equal(total(o.from, WEIR_LOAD_TIERS), EPOCHS * t.order.samples);
      assert_int_equal(o.from[WEIR_LOAD_REMOTE], o.sent);
      assert_int_equal(o.sent, visitors_elsewhere(&t.order));
    }
  }
}

/* Rooms that are too small are filled; the others are read at each visit. */
static void small_memories_add_up(void **state)
{
  training t = usual(EVEN, 8);
  outcome o;

  t.capacity = 3;
  assert_ok(run(&t, &o));
  sum_up(&o);
  if (rank == 0) {
    const int64_t kept = 3 * ranks;

    assert_int_equal(total(o.reads, CHECK_SAMPLES), kept + EPOCHS * (EVEN - kept));
    assert_int_equal(o.from[WEIR_LOAD_REMOTE] + o.from[WEIR_LOAD_MEMORY], (EPOCHS - 1) * kept);
  }
}

/* Room that is left is for samples of others: as many messages less as they are visited again. */
static void remaining_capacity_is_used(void **state)
{
  int64_t before = -1;

  for (int64_t capacity = EVEN / ranks; capacity <= EVEN; capacity += 3) {
    training t = usual(EVEN, 8);
    outcome o;

    t.capacity = capacity;
    assert_ok(run(&t, &o));
    sum_up(&o);
    if (rank == 0) {
      assert_int_equal(total(o.reads, CHECK_SAMPLES), EVEN);
      assert_int_equal(o.from[WEIR_LOAD_REMOTE], o.sent);
      assert_true(before < 0 || o.sent < before || o.sent == visitors_elsewhere(&t.order));
      before = o.sent;
    }
  }
  assert_true(rank > 0 || ranks == 1 ||
              before == visitors_elsewhere(&(weir_sampler){
                            .samples = EVEN, .batch = 8, .step = 8, .shuffle = true, .seed = 6}));
}

/* Where it is off, or memory has no capacity for a sample, every rank reads for itself. */
static void without_it_ranks_read_for_themselves(void **state)
{
  for (int i = 0; i < 2; i++) {
    training t = usual(EVEN, 8);
    outcome o;

    t.remote = i == 0 ? WEIR_LOAD_OFF : WEIR_LOAD_AUTO;
    t.capacity = i == 0 ? LARGE : 0;
    assert_ok(run(&t, &o));
    const weir_access_stream v = weir_access_stream_of(&t.order, rank, ranks);
    bool mine[CHECK_SAMPLES] = {false};
    int64_t different = 0;

    for (int64_t k = 0; k < EPOCHS * v.each; k++) {
      different += !mine[weir_access_stream_sample(&v, k)];
      mine[weir_access_stream_sample(&v, k)] = true;
    }
    if (i == 1) {
      different = EPOCHS * v.each;
    }
    /* what comes once only has no place, and is read once too */
    assert_int_equal(total(o.reads, CHECK_SAMPLES), different);
    assert_int_equal(o.from[WEIR_LOAD_REMOTE] + o.sent, 0);
  }
}

/* A run goes on from any batch: what is left is read once. */
static void a_run_goes_on_from_any_batch(void **state)
{
  training t = usual(23, 5);
  const int64_t each = load_batches(&t.order);

  for (int64_t k = 0; k < EPOCHS * each; k += 3) {
    const load_batch from = load_batch_of(&t.order, k);
    bool left[CHECK_SAMPLES] = {false};
    outcome o;

    t.epoch = from.epoch;
    t.at = from.at;
    t.threads = k % 2;
    assert_ok(run(&t, &o));
    sum_up(&o);
    for (int64_t n = k; n < EPOCHS * each; n++) {
      const load_batch b = load_batch_of(&t.order, n);
      int64_t sample[CHECK_SAMPLES];

      weir_sampler_take(&t.order, b.epoch, b.at, b.n, sample);
      for (int64_t i = 0; i < b.n; i++) {
        left[sample[i]] = true;
      }
    }
    for (int s = 0; rank == 0 && s < CHECK_SAMPLES; s++) {
      assert_int_equal(o.reads[s], left[s]);
    }
  }
}

/* Messages for a batch that is not computed any more come to an end. */
static void a_run_may_stop_after_any_batch(void **state)
{
  for (int64_t stop = 1; stop < 12; stop += 3) {
    training t = usual(23, 5);
    outcome o;

    t.stop = stop;
    assert_ok(run(&t, &o));
  }
}

/* More ranks than a batch has samples, epochs that are smaller than a batch, a sample an epoch. */
static void ranks_may_have_nothing(void **state)
{
  const int64_t shape[][2] = {{7, 2}, {9, 4}, {3, 8}, {1, 1}, {5, 1}, {2, 64}};

  for (size_t i = 0; i < sizeof shape / sizeof shape[0]; i++) {
    for (int threads = 0; threads < 2; threads++) {
      training t = usual(shape[i][0], shape[i][1]);
      outcome o;

      t.threads = threads;
      assert_ok(run(&t, &o));
      sum_up(&o);
      for (int s = 0; rank == 0 && s < t.order.samples; s++) {
        assert_int_equal(o.reads[s], 1);
      }
    }
  }
}

/* The failure of a rank is that of all, with its message, and none waits. */
static void a_failure_of_one_rank_ends_all(void **state)
{
  for (int i = 0; i < 4; i++) {
    training t = usual(i < 2 ? EVEN : 2, i < 2 ? 8 : 8);
    const weir_access_stream v = weir_access_stream_of(&t.order, ranks - 1, ranks);
    outcome o;

    if (v.each == 0) {
      continue;
    }
    t.threads = i % 2;
    t.fail = weir_access_stream_sample(&v, i < 2 ? 4 % v.each : 0);
    assert_int_equal(run(&t, &o), WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), "cubes.nc: sample "));
  }
}

/* Ranks with slabs of a sample exchange with those that have the same slab. */
static void slabs_stay_slabs(void **state)
{
  const weir_grid grid = {.dims = 2, .extent = {2, ranks / 2}};
  weir_comm *peers = NULL;
  outcome o;

  if (ranks % 2 != 0) {
    return;
  }
  assert_ok(weir_grid_sub(&grid, comm, 1, &peers));
  training t = usual(EVEN, 8);

  t.peers = peers;
  t.d0 = rank % (ranks / 2) * 2;
  t.d1 = ranks == 2 ? 4 : t.d0 + 2;
  assert_ok(run(&t, &o));
  sum_up(&o);
  for (int s = 0; rank == 0 && s < EVEN; s++) {
    assert_int_equal(o.reads[s], ranks / 2); /* once by those of each slab */
  }
  weir_comm_close(&peers);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sample_is_read_once_by_all),
      cmocka_unit_test(small_memories_add_up),
      cmocka_unit_test(remaining_capacity_is_used),
      cmocka_unit_test(without_it_ranks_read_for_themselves),
      cmocka_unit_test(a_run_goes_on_from_any_batch),
      cmocka_unit_test(a_run_may_stop_after_any_batch),
      cmocka_unit_test(ranks_may_have_nothing),
      cmocka_unit_test(a_failure_of_one_rank_ends_all),
      cmocka_unit_test(slabs_stay_slabs),
  };

  open_all_ranks(
      argc, argv, MOST_RANKS,
      &(weir_comm_cfg){.max_message_bytes = 1 << 20, .tree_max_bytes = 256, .timeout = 30});
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_comm_close(&comm);
  return failed;
}
