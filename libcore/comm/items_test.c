/* items_test.c - items of ranks: each is made once, on one rank, and taken by rank 0 in order; any
 * failure is that of all ranks, at the first item that fails. */
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_signal.h"
#include "comm/weir_inproc.h"
#include "comm/weir_items.h"

enum { MOST_ITEMS = 11, MOST_RANKS = 4 };

/* One run; ranks that are threads write elements of their own. */
typedef struct trial {
  int64_t n;
  int64_t fails_at, refused_at, stops_at; /* items; -1: none */
  int made[MOST_ITEMS];
  int64_t taken[MOST_ITEMS], n_taken;
  int64_t without_memory; /* allocation that fails on the last rank; 0: none */
  weir_status status[MOST_RANKS];
  char message[MOST_RANKS][256];
} trial;

static weir_status make(void *context, int64_t i, weir_bytes *out)
{
  trial *const t = context;

  t->made[i]++;
  if (i == t->fails_at || i == t->fails_at + 1) {
    return weir_fail(i == t->fails_at ? WEIR_ERR_CONFIG : WEIR_ERR_NUMERIC, "item %lld is bad",
                     (long long)i);
  }
  if (i == t->stops_at) {
    weir_stop_request(15);
  }
  for (int64_t k = 0; k < i; k++) { /* item 0 is empty */
    const int64_t value = 100 * i + k;

    WEIR_TRY(weir_bytes_put(out, &value, sizeof value));
  }
  return WEIR_OK;
}

static weir_status take(void *context, int64_t i, const char *data, int64_t n)
{
  trial *const t = context;
  const char *at = data;
  int64_t value = 0;

  if (i == t->refused_at) {
    return weir_fail(WEIR_ERR_DATA, "item %lld is refused", (long long)i);
  }
  for (int64_t k = 0; k < i; k++) {
    WEIR_TRY(weir_bytes_get(&at, data + n, &value, sizeof value));
    assert_int_equal(value, 100 * i + k);
  }
  assert_int_equal(at - data, n);
  assert_int_equal(weir_bytes_get(&at, data + n, &value, 1), WEIR_ERR_SHAPE);
  weir_clear_failure();
  t->taken[t->n_taken++] = i;
  return WEIR_OK;
}

static weir_status on_rank(weir_comm *c, void *context)
{
  trial *const t = context;
  const int rank = c != NULL ? weir_comm_rank(c) : 0;
  const weir_items w = {
      .comm = c, .what = "trial", .unit = "items", .n = t->n, .make = make, .take = take};

  if (c != NULL && rank == weir_comm_size(c) - 1) {
    weir_alloc_fail_after(t->without_memory);
  }
  t->status[rank] = weir_items_run(&w, t);
  weir_alloc_fail_after(0);
  if (t->status[rank] != WEIR_OK) {
    (void)snprintf(t->message[rank], sizeof t->message[rank], "%s", weir_last_message());
    assert_true(c == NULL || weir_comm_size(c) == 1 || weir_comm_agreed(c) != WEIR_OK);
  }
  weir_clear_failure();
  return WEIR_OK;
}

static void run(int ranks, trial *t)
{
  const weir_inproc spec = {.ranks = ranks, .seed = 3};

  assert_ok(ranks == 0 ? on_rank(NULL, t) : weir_inproc_run(&spec, on_rank, t));
}

static trial whole(int64_t n)
{
  return (trial){.n = n, .fails_at = -2, .refused_at = -1, .stops_at = -1};
}

static void each_item_is_made_once_and_taken_in_order(void **state)
{
  (void)state;
  for (int ranks = 0; ranks <= MOST_RANKS; ranks++) {
    for (int64_t n = 0; n <= MOST_ITEMS; n++) {
      trial t = whole(n);

      run(ranks, &t);
      assert_int_equal(t.n_taken, n);
      for (int64_t i = 0; i < n; i++) {
        assert_int_equal(t.made[i], 1);
        assert_int_equal(t.taken[i], i);
      }
      for (int r = 0; r < ranks; r++) {
        assert_int_equal(t.status[r], WEIR_OK);
      }
    }
  }
}

/* Whatever the number of ranks: the same items are taken, and rank 0 has the same message. */
static void the_first_failure_is_that_of_all_ranks(void **state)
{
  (void)state;
  for (int ranks = 1; ranks <= MOST_RANKS; ranks++) {
    for (int64_t at = 0; at < MOST_ITEMS - 1; at++) {
      trial bad = whole(MOST_ITEMS), refused = whole(MOST_ITEMS);
      char text[64];

      bad.fails_at = refused.refused_at = at;
      run(ranks, &bad);
      run(ranks, &refused);
      assert_int_equal(bad.n_taken, at);
      assert_int_equal(refused.n_taken, at);
      for (int r = 0; r < ranks; r++) {
        assert_int_equal(bad.status[r], WEIR_ERR_CONFIG);
        (void)snprintf(text, sizeof text, "item %lld is bad", (long long)at);
        assert_non_null(strstr(bad.message[r], text));
        assert_int_equal(refused.status[r], WEIR_ERR_DATA);
        assert_non_null(strstr(refused.message[r], "is refused"));
      }
      assert_string_equal(bad.message[0], text);
    }
  }
}

static void a_stop_ends_all_ranks_after_the_round(void **state)
{
  (void)state;
  for (int ranks = 1; ranks <= MOST_RANKS; ranks++) {
    trial t = whole(MOST_ITEMS);

    t.stops_at = 4;
    run(ranks, &t);
    weir_stop_request(0);
    assert_int_equal(t.n_taken, (4 / ranks + 1) * ranks);
    for (int r = 0; r < ranks; r++) {
      assert_int_equal(t.status[r], WEIR_ERR_STOPPED);
      assert_non_null(strstr(t.message[r], "trial: stopped by signal 15 after"));
    }
  }
}

/* The k-th allocation of the last rank fails, for all k. */
static void missing_memory_is_that_of_all_ranks(void **state)
{
  (void)state;
  for (int ranks = 1; ranks <= MOST_RANKS; ranks++) {
    int64_t failures = 0;

    for (int64_t k = 1; k < 1000; k++, failures++) {
      trial t = whole(5);

      t.without_memory = k;
      run(ranks, &t);
      for (int r = 0; r < ranks; r++) {
        assert_int_equal(t.status[r], t.status[0]);
      }
      if (t.status[0] == WEIR_OK) {
        assert_int_equal(t.n_taken, 5);
        break;
      }
      assert_int_equal(t.status[0], WEIR_ERR_MEMORY);
    }
    assert_true(failures >= 1 && failures < 999);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_item_is_made_once_and_taken_in_order),
      cmocka_unit_test(the_first_failure_is_that_of_all_ranks),
      cmocka_unit_test(a_stop_ends_all_ranks_after_the_round),
      cmocka_unit_test(missing_memory_is_that_of_all_ranks),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
