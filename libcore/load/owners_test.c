/* owners_test.c - who keeps what, against a walk through all visits of all groups: every sample
 * that comes again is with the first group that has capacity left when it visits it, and what is
 * read from the source follows. */
#include "support/load/load_check.h"

enum { MAX_GROUPS = 5, MAX_VISITS = 4096 };

/* A visit of any group. */
typedef struct one_visit {
  int64_t batch, group, sample;
} one_visit;

/* All visits of batches [first, end), batch by batch; a group's own order says which are its. */
static int64_t list_all(const weir_sampler *o, int64_t of, int64_t first, int64_t end,
                        one_visit *all)
{
  const int64_t each = load_batches(o);
  int64_t n = 0;

  for (int64_t t = first; t < end; t++) {
    for (int64_t g = 0; g < of; g++) {
      const weir_access_stream v = weir_access_stream_of(o, g, of);
      const int64_t next = t + 1 < (t / each + 1) * each ? t % each + 1 : each;
      const int64_t lo = weir_access_stream_from(&v, t / each, t % each * o->batch);
      const int64_t hi = weir_access_stream_from(&v, t / each, next * o->batch);

      for (int64_t k = lo; k < hi; k++) {
        assert_true(n < MAX_VISITS);
        all[n++] = (one_visit){t, g, weir_access_stream_sample(&v, k)};
      }
    }
  }
  return n;
}

static bool comes_again(const one_visit *all, int64_t n, int64_t i)
{
  for (int64_t k = i + 1; k < n; k++) {
    if (all[k].sample == all[i].sample) {
      return true;
    }
  }
  return false;
}

/* Calls of read of a sample; none once somebody has it. */
static int64_t reads_of(const load_owners *k, const one_visit *all, int64_t n, int64_t sample)
{
  int64_t reads = 0;

  for (int64_t i = 0; i < n; i++) {
    const one_visit *const x = &all[i];
    const bool later = k->by[sample] >= 0 && x->batch > k->since[sample];

    if (x->sample == sample && !load_comes(k, x->group, x->batch, sample)) {
      assert_true(!later || x->group == k->by[sample]);
      reads += !later;
    }
  }
  return reads;
}

static weir_sampler order_of(int i)
{
  return (weir_sampler){.samples = 20 + i % 7,
                        .batch = 3 + i % 6,
                        .step = (3 + i % 6) * (1 + i % 2),
                        .shuffle = i % 5 > 0,
                        .drop_last = i % 3 == 1,
                        .seed = (uint64_t)i};
}

static void a_sample_stays_where_it_is_met_first(void **state)
{
  static one_visit all[MAX_VISITS];

  for (int i = 0; i < 80; i++) {
    const weir_sampler o = order_of(i);
    const int64_t of = 1 + i % MAX_GROUPS, capacity = i % 4 == 0 ? 100 : i % 11;
    const int64_t first = i * 3 % 10, end = first + 4 * load_batches(&o) - i % 3;
    const int64_t n = list_all(&o, of, first, end, all);
    int64_t by[64], since[64], used[MAX_GROUPS] = {0}, kept = 0, reads = 0, none = 0;
    load_owners k;

    memset(by, -1, sizeof by);
    for (int64_t v = 0; v < n; v++) {
      const one_visit *const x = &all[v];

      if (by[x->sample] < 0 && used[x->group] < capacity && comes_again(all, n, v)) {
        by[x->sample] = x->group;
        since[x->sample] = x->batch;
        used[x->group]++;
      }
    }
    assert_ok(load_owners_make(&o, of, first, end, capacity, &k));
    for (int64_t s = 0; s < o.samples; s++) {
      assert_int_equal(k.by[s], by[s]);
      assert_true(by[s] < 0 || k.since[s] == since[s]);
      kept += by[s] >= 0;
      reads += reads_of(&k, all, n, s);
      none += reads_of(&k, all, n, s) == 0;
    }
    if (capacity == 100 && !o.drop_last) {
      assert_int_equal(reads, o.samples - none); /* each is read once */
    }
    assert_true(kept <= of * capacity);
    load_owners_fini(&k);
  }
}

/* In even groups with too little capacity, all caches are filled by the first visits, and each of
 * the others is read at every visit. */
static void even_groups_fill_their_caches(void **state)
{
  const weir_sampler o = {.samples = 48, .batch = 8, .step = 8, .shuffle = true, .seed = 3};
  static one_visit all[MAX_VISITS];
  const int64_t n = list_all(&o, 4, 0, 5 * 6, all);
  int64_t reads = 0, kept[4] = {0};
  load_owners k;

  assert_ok(load_owners_make(&o, 4, 0, 5 * 6, 7, &k));
  for (int64_t s = 0; s < o.samples; s++) {
    reads += reads_of(&k, all, n, s);
    if (k.by[s] >= 0) {
      kept[k.by[s]]++;
      assert_true(k.since[s] < 6);
    }
  }
  for (int g = 0; g < 4; g++) {
    assert_int_equal(kept[g], 7);
  }
  assert_int_equal(reads, 4 * 7 + 5 * (48 - 4 * 7));
  load_owners_fini(&k);
}

/* The plan of a group: its memory is what it keeps, in the order of first use; the directory is for
 * what nobody keeps. */
static void tiers_follow_owners(void **state)
{
  const weir_sampler o = {.samples = 40, .batch = 6, .step = 6, .shuffle = true, .seed = 9};
  const int64_t capacity[LOAD_CLASSES] = {6, 9};

  for (int64_t g = 0; g < 3; g++) {
    const weir_access_stream v = weir_access_stream_of(&o, g, 3);
    int64_t mine = 0;
    load_owners k;
    load_plan p;

    assert_ok(load_owners_make(&o, 3, 0, 5 * load_batches(&o), capacity[0], &k));
    assert_ok(load_plan_make(&v, 0, 5 * v.each, capacity, &k, &p));
    for (int64_t s = 0; s < o.samples; s++) {
      mine += k.by[s] == g;
      assert_true((p.where[s] == WEIR_LOAD_MEMORY) == (k.by[s] == g));
      assert_true(p.where[s] != WEIR_LOAD_DIRECTORY || k.by[s] < 0);
    }
    assert_int_equal(p.n[WEIR_LOAD_MEMORY], mine);
    assert_int_equal(mine, 6);
    for (int64_t i = 1; i < mine; i++) {
      assert_true(k.since[p.order[0][i]] >= k.since[p.order[0][i - 1]]);
    }
    load_plan_fini(&p);
    load_owners_fini(&k);
  }
}

/* The rest of a memory: samples of others by how often they come, each sent once. */
static void what_comes_most_often_stays(void **state)
{
  const weir_sampler o = {.samples = 30, .batch = 6, .step = 6, .shuffle = true, .seed = 2};
  const int64_t end = 6 * load_batches(&o);

  for (int64_t capacity = 8; capacity < 30; capacity += 7) {
    const weir_access_stream v = weir_access_stream_of(&o, 1, 3);
    int64_t times[64] = {0}, mine = 0, again = 0;
    load_copies c = {.n = 0};
    load_owners k;

    assert_ok(load_owners_make(&o, 3, 0, end, capacity, &k));
    assert_ok(load_copies_choose(&v, 0, &k, 6 * v.each, capacity, &c));
    for (int64_t n = 0; n < 6 * v.each; n++) {
      const int64_t s = weir_access_stream_sample(&v, n);

      times[s] += load_comes(&k, 1, n / (6 * v.each / end), s); /* batches are whole */
    }
    for (int64_t s = 0; s < o.samples; s++) {
      mine += k.by[s] == 1;
      again += times[s] > 1;
      for (int64_t other = 0; other < o.samples; other++) {
        assert_true(c.index[s] < 0 || c.index[other] >= 0 || times[s] >= times[other]);
      }
      for (int visit = 0; visit < 3; visit++) {
        assert_int_equal(load_copies_send(&c, 1, s), c.index[s] < 0 || visit == 0);
      }
    }
    assert_int_equal(c.n, again < capacity - mine ? again : capacity - mine);
    load_copies_fini(&c);
    load_owners_fini(&k);
  }
}

static weir_status make(void *context)
{
  const weir_access_stream v = weir_access_stream_of(context, 0, 3);
  load_copies c = {.n = 0};
  load_owners k;

  WEIR_TRY(load_owners_make(context, 3, 0, 20, 9, &k));
  const weir_status status = load_copies_choose(&v, 0, &k, 4 * v.each, 9, &c);

  load_copies_fini(&c);
  load_owners_fini(&k);
  return status;
}

static void every_allocation_may_fail(void **state)
{
  weir_sampler o = {.samples = 20, .batch = 4, .step = 4, .shuffle = true};

  assert_int_equal(weir_check_faults(make, &o), 9);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sample_stays_where_it_is_met_first),
      cmocka_unit_test(even_groups_fill_their_caches),
      cmocka_unit_test(tiers_follow_owners),
      cmocka_unit_test(what_comes_most_often_stays),
      cmocka_unit_test(every_allocation_may_fail),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
