/* load_test.c - what is handed over and in which order, how often it is read, and what happens when
 * it cannot be: for one thread and several, with every class and none. */
#include "support/load/load_check.h"

static char dir[256];

static const weir_sampler order23 = {
    .samples = 23, .batch = 4, .step = 4, .shuffle = true, .seed = 4};

/* Consumes visits [first, end) and compares them with the order. */
static void consume(weir_load *l, const check_source *s, const weir_access_stream *v, int64_t first,
                    int64_t end)
{
  for (int64_t k = first; k < end; k++) {
    weir_load_view view;

    assert_ok(weir_load_next(l, &view));
    assert_int_equal(view.visit, k);
    assert_int_equal(view.sample, weir_access_stream_sample(v, k));
    assert_sample(s, view.sample, view.field[0], view.field[1]);
    weir_load_release(l);
  }
}

static int max_reads_of(const check_source *s)
{
  int max_reads = 0;

  for (int i = 0; i < CHECK_SAMPLES; i++) {
    max_reads = s->reads[i] > max_reads ? s->reads[i] : max_reads;
  }
  return max_reads;
}

/* Every number of threads and slots, sources that are parallel and not, every class. */
static void samples_come_in_order_whatever_the_options(void **state)
{
  enum { EPOCHS = 6 };

  for (int i = 0; i < 3 * 3 * 2 * 4; i++) {
    const int threads = i % 3 * 2, slots = i / 3 % 3 * 3 + 1, kind = i / 18;
    weir_load_cfg cfg = check_cfg(slots, threads);
    const weir_access_stream v = weir_access_stream_of(&order23, i % 2, 2);
    const int64_t end = EPOCHS * v.each;
    check_source s;
    weir_load *l = NULL;

    check_source_init(&s, 1, 3, i / 9 % 2 == 1);
    cfg.memory.bytes = kind % 2 == 1 ? 5 * CHECK_BYTES + 17 : 0;
    cfg.memory.threads = i % 2;
    cfg.directory.bytes = kind / 2 == 1 ? 6 * CHECK_BYTES : 0;
    cfg.directory.path = dir;
    cfg.directory.threads = i / 2 % 2;
    assert_ok(weir_load_open(&cfg, &s.source, &v, end, &l));
    assert_ok(weir_load_start(l, 0));
    assert_int_equal(load_n_assigned(l, WEIR_LOAD_MEMORY), kind % 2 == 1 ? 5 : 0);
    assert_int_equal(load_n_assigned(l, WEIR_LOAD_DIRECTORY), kind / 2 == 1 ? 6 : 0);
    consume(l, &s, &v, 0, end);
    const weir_load_count c = weir_load_counted(l);

    assert_int_equal(c.visits, end);
    assert_int_equal(c.from[0] + c.from[1] + c.from[2], end);
    assert_int_equal(c.reads, c.from[WEIR_LOAD_SOURCE] + c.ahead);
    assert_true(s.source.parallel || s.max_concurrent == 1);
    assert_int_equal(c.damaged + c.lost + c.uncached, 0);
    weir_load_view view;

    assert_int_equal(weir_load_next(l, &view), WEIR_ERR_CONFIG);
    weir_load_close(&l);
    assert_false(weir_dir_has_entries(dir));
  }
}

/* Samples assigned to a tier are read once in the whole run, the others at each visit. */
static void what_is_kept_is_read_once(void **state)
{
  enum { EPOCHS = 5 };

  for (int i = 0; i < 8; i++) {
    weir_load_cfg cfg = check_cfg(4, 1 + i % 2);
    const weir_access_stream v = weir_access_stream_of(&order23, 0, 1);
    check_source s;
    weir_load *l = NULL;

    check_source_init(&s, 0, 4, i % 2 == 1);
    cfg.memory.bytes = 7 * CHECK_BYTES;
    cfg.memory.threads = i / 2 % 2;
    cfg.directory.bytes = 9 * CHECK_BYTES;
    cfg.directory.path = dir;
    cfg.directory.threads = i / 4;
    assert_ok(weir_load_open(&cfg, &s.source, &v, EPOCHS * v.each, &l));
    assert_ok(weir_load_start(l, 0));
    consume(l, &s, &v, 0, EPOCHS * v.each);
    int once = 0, always = 0;

    for (int k = 0; k < 23; k++) {
      once += s.reads[k] == 1;
      always += s.reads[k] == EPOCHS;
    }
    assert_int_equal(once, 16);
    assert_int_equal(always, 7);
    assert_int_equal(weir_load_counted(l).reads, 16 + 7 * EPOCHS);
    weir_load_close(&l);
  }
}

/* Threads of a class have the source to themselves where none reads ahead: they fill it before
 * anything is asked for. */
static void classes_are_filled_where_nothing_is_staged(void **state)
{
  for (int i = 0; i < 4; i++) {
    const bool folder = i % 2 == 1;
    weir_load_cfg cfg = check_cfg(4, 0);
    const weir_access_stream v = weir_access_stream_of(&order23, 0, 1);
    check_source s;
    weir_load *l = NULL;

    check_source_init(&s, 0, 4, i / 2 == 1);
    cfg.memory.bytes = folder ? 0 : 7 * CHECK_BYTES;
    cfg.memory.threads = 1;
    cfg.directory.bytes = folder ? 7 * CHECK_BYTES : 0;
    cfg.directory.path = dir;
    cfg.directory.threads = 1;
    assert_ok(weir_load_open(&cfg, &s.source, &v, 3 * v.each, &l));
    assert_ok(weir_load_start(l, 0));
    for (int wait = 0; wait < 10000 && weir_load_counted(l).ahead < 7; wait++) {
      check_sleep(1e-3);
    }
    assert_int_equal(weir_load_counted(l).ahead, 7);
    consume(l, &s, &v, 0, 3 * v.each);
    weir_load_close(&l);
  }
}

/* Without a class, or where no tier has the capacity for one sample, each visit is one call. */
static void no_class_and_small_ones_work(void **state)
{
  for (int i = 0; i < 2; i++) {
    weir_load_cfg cfg = check_cfg(2, 1);
    const weir_access_stream v = weir_access_stream_of(&order23, 0, 1);
    check_source s;
    weir_load *l = NULL;

    check_source_init(&s, 0, 4, false);
    cfg.memory.bytes = i * (CHECK_BYTES - 1);
    cfg.directory.bytes = i * (CHECK_BYTES - 1);
    cfg.directory.path = dir;
    assert_ok(weir_load_open(&cfg, &s.source, &v, 2 * v.each, &l));
    assert_ok(weir_load_start(l, 0));
    consume(l, &s, &v, 0, 2 * v.each);
    assert_int_equal(max_reads_of(&s), 2);
    weir_load_close(&l);
  }
}

/* More groups than a batch has samples, and fewer samples than a batch. */
static void groups_may_have_nothing(void **state)
{
  const weir_sampler o = {.samples = 3, .batch = 8, .step = 8, .shuffle = true, .seed = 1};
  int64_t visits = 0;

  for (int at = 0; at < 5; at++) {
    const weir_load_cfg cfg = check_cfg(3, 1);
    const weir_access_stream v = weir_access_stream_of(&o, at, 5);
    check_source s;
    weir_load *l = NULL;

    check_source_init(&s, 0, 4, false);
    assert_ok(weir_load_open(&cfg, &s.source, &v, 4 * v.each, &l));
    assert_ok(weir_load_start(l, 0));
    consume(l, &s, &v, 0, 4 * v.each);
    visits += weir_load_counted(l).visits;
    weir_load_close(&l);
  }
  assert_int_equal(visits, 4 * 3);
}

/* Members of a spatial group have shards that make up the sample. */
static void slabs_are_parts_of_the_whole(void **state)
{
  const weir_access_stream v = weir_access_stream_of(&order23, 0, 1);
  const weir_load_cfg cfg = check_cfg(4, 1);
  weir_load *l[3] = {NULL};
  check_source s[3];

  for (int i = 0; i < 3; i++) {
    check_source_init(&s[i], i == 2 ? 0 : 2 * i, i == 2 ? 4 : 2 * i + 2, false);
    assert_ok(weir_load_open(&cfg, &s[i].source, &v, v.each, &l[i]));
    assert_ok(weir_load_start(l[i], 0));
  }
  for (int64_t k = 0; k < v.each; k++) {
    weir_load_view view[3];

    for (int i = 0; i < 3; i++) {
      assert_ok(weir_load_next(l[i], &view[i]));
    }
    assert_memory_equal(view[0].field[0], view[2].field[0], 28);
    assert_memory_equal(view[1].field[0], (const char *)view[2].field[0] + 28, 28);
    for (int i = 0; i < 3; i++) {
      weir_load_release(l[i]);
    }
  }
  for (int i = 0; i < 3; i++) {
    weir_load_close(&l[i]);
  }
}

/* Batches as training asks for them: from any position on, steps that are looked at again, samples
 * of validation in between. */
static void batches_are_had_from_any_position_on(void **state)
{
  enum { EPOCHS = 3 };

  for (int64_t start = 0; start < 24; start += 4) {
    const weir_access_stream v = weir_access_stream_of(&order23, 1, 2);
    weir_load_cfg cfg = check_cfg(1 + start % 3, 2);
    int16_t voxels[28];
    float labels[CHECK_LABELS];
    void *const valid[2] = {voxels, labels};
    weir_load_view view;
    check_source s;
    weir_load *l = NULL;
    int64_t uncached = 0;

    check_source_init(&s, 0, 4, true);
    cfg.memory.bytes = 4 * CHECK_BYTES;
    assert_ok(weir_load_open(&cfg, &s.source, &v, EPOCHS * v.each, &l));
    for (int64_t e = 1; e < EPOCHS; e++) {
      for (int64_t p = e == 1 ? start : 0; p < 23; p += 4) {
        int64_t sample[4], lo, hi, n = 23 - p < 4 ? 23 - p : 4;

        weir_sampler_take(&order23, e, p, n, sample);
        weir_sampler_share(n, 1, 2, &lo, &hi);
        for (int again = 0; again < (p % 8 == 0 ? 2 : 1); again++) {
          for (int64_t i = 0; i < hi - lo; i++, uncached += again) {
            assert_ok(weir_load_get(l, e, p, i, sample[lo + i], &view));
            assert_sample(&s, sample[lo + i], view.field[0], view.field[1]);
          }
        }
        assert_ok(weir_load_uncached(l, 50, valid));
        assert_sample(&s, 50, voxels, labels);
        uncached++;
      }
    }
    const weir_load_count c = weir_load_counted(l);

    assert_int_equal(c.uncached, uncached);
    assert_int_equal(c.visits, EPOCHS * v.each - weir_access_stream_from(&v, 1, start));
    weir_load_close(&l);
  }
}

static void another_order_is_told(void **state)
{
  const weir_access_stream v = weir_access_stream_of(&order23, 0, 1);
  const weir_load_cfg cfg = check_cfg(3, 1);
  const int64_t sample = (weir_access_stream_sample(&v, 0) + 1) % 23;
  weir_load_view view;
  check_source s;
  weir_load *l = NULL;

  check_source_init(&s, 0, 4, true);
  assert_ok(weir_load_open(&cfg, &s.source, &v, v.each, &l));
  assert_int_equal(weir_load_get(l, 0, 0, 0, sample, &view), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "the training uses another sample order"));
  weir_load_close(&l);
}

/* The failure comes when its sample is due, with its text, as often as it is asked for; what comes
 * before is whole. */
static void failures_reach_the_consumer_in_turn(void **state)
{
  for (int i = 0; i < 12; i++) {
    weir_load_cfg cfg = check_cfg(5, i % 3);
    const weir_access_stream v = weir_access_stream_of(&order23, 0, 1);
    check_source s;
    weir_load *l = NULL;
    weir_load_view view;

    check_source_init(&s, 0, 4, i % 2 == 0);
    cfg.memory.bytes = i / 3 % 2 * 100 * CHECK_BYTES;
    cfg.directory.bytes = i / 6 * 100 * CHECK_BYTES;
    cfg.directory.path = dir;
    cfg.memory.threads = cfg.directory.threads = i % 2;
    s.fail = (int)weir_access_stream_sample(&v, 7);
    assert_ok(weir_load_open(&cfg, &s.source, &v, 3 * v.each, &l));
    assert_ok(weir_load_start(l, 0));
    consume(l, &s, &v, 0, 7);
    for (int again = 0; again < 2; again++) {
      assert_int_equal(weir_load_next(l, &view), WEIR_ERR_DATA);
      assert_non_null(strstr(weir_last_message(), "cubes.nc: sample "));
    }
    weir_load_close(&l);
  }
}

/* Lent samples keep their bits while others are read. */
static void lent_samples_stay(void **state)
{
  weir_load_cfg cfg = check_cfg(4, 2);
  const weir_access_stream v = weir_access_stream_of(&order23, 0, 1);
  check_source s;
  weir_load *l = NULL;
  weir_load_view view[5];

  check_source_init(&s, 0, 4, true);
  cfg.memory.bytes = 6 * CHECK_BYTES;
  assert_ok(weir_load_open(&cfg, &s.source, &v, 2 * v.each, &l));
  assert_ok(weir_load_start(l, 0));
  for (int64_t k = 0; k < 2 * v.each - 4; k += 4) {
    for (int i = 0; i < 4; i++) {
      assert_ok(weir_load_next(l, &view[i]));
    }
    assert_int_equal(weir_load_next(l, &view[4]), WEIR_ERR_CONFIG);
    assert_non_null(strstr(weir_last_message(), "load.staging.bytes hold 4 samples"));
    for (int i = 0; i < 4; i++) {
      assert_sample(&s, weir_access_stream_sample(&v, k + i), view[i].field[0], view[i].field[1]);
      weir_load_release(l);
    }
  }
  weir_load_close(&l);
}

/* A class that its table calls slower than the source is not used. */
static void slow_classes_are_left_out(void **state)
{
  double slow[] = {1, 80, 4, 160}, fast[] = {1, 110, 8, 1600}, wrong[] = {2, 100, 1, 50};
  weir_load_cfg cfg = check_cfg(4, 2);
  const weir_access_stream v = weir_access_stream_of(&order23, 0, 1);
  check_source s;
  weir_load *l = NULL;

  assert_near(load_speed(&(weir_real_list){slow, 4}, 2), 80 + 80.0 / 3, 1e-12);
  assert_near(load_speed(&(weir_real_list){slow, 4}, 0.5), 40, 1e-12);
  assert_near(load_speed(&(weir_real_list){slow, 4}, 9), 160, 1e-12);
  check_source_init(&s, 0, 4, true);
  cfg.memory.bytes = 100 * CHECK_BYTES;
  for (int i = 0; i < 2; i++) {
    cfg.memory.speed = (weir_real_list){i == 0 ? slow : fast, 4}; /* 107 or 323 MB/s of 2 threads */
    cfg.source.speed = (weir_real_list){fast, 4};                 /* 110 to the one rank */
    assert_ok(weir_load_open(&cfg, &s.source, &v, 2 * v.each, &l));
    assert_ok(weir_load_start(l, 0));
    assert_int_equal(load_n_assigned(l, WEIR_LOAD_MEMORY), i == 0 ? 0 : 23);
    weir_load_close(&l);
  }
  cfg.memory.speed = (weir_real_list){wrong, 4};
  assert_int_equal(weir_load_open(&cfg, &s.source, &v, 1, &l), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "load.memory.speed is not a list of pairs"));
}

static void what_cannot_be_is_refused(void **state)
{
  weir_load_cfg cfg = check_cfg(1, 1);
  const weir_access_stream v = weir_access_stream_of(&order23, 0, 1);
  check_source s;
  weir_load *l = NULL;

  check_source_init(&s, 0, 4, true);
  cfg.staging.bytes = CHECK_BYTES - 1;
  assert_int_equal(weir_load_open(&cfg, &s.source, &v, 1, &l), WEIR_ERR_CONFIG);
  assert_non_null(
      strstr(weir_last_message(), "load.staging.bytes, 127, is smaller than a sample (128"));
  cfg = check_cfg(1, 1);
  cfg.remote = WEIR_LOAD_ON;
  assert_int_equal(weir_load_open(&cfg, &s.source, &v, 1, &l), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "load.remote"));
  cfg = check_cfg(1, 1);
  cfg.directory.bytes = 1;
  assert_int_equal(weir_load_open(&cfg, &s.source, &v, 1, &l), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "load.directory.path is empty"));
  cfg.directory.path = "/dev/null/there";
  cfg.directory.bytes = 1000;
  assert_int_equal(weir_load_open(&cfg, &s.source, &v, 1, &l), WEIR_ERR_DATA);
  assert_null(l);
}

/* Samples of a slow source that were read before they were asked for are not waited for. */
static void what_was_read_ahead_is_there(void **state)
{
  const weir_sampler o = {.samples = 20, .batch = 1, .step = 1, .shuffle = true, .seed = 8};
  const weir_load_cfg cfg = check_cfg(8, 1);
  const weir_access_stream v = weir_access_stream_of(&o, 0, 1);
  check_source s;
  weir_load *l = NULL;
  weir_load_view view;

  check_source_init(&s, 0, 4, false);
  s.delay = 0.002;
  assert_ok(weir_load_open(&cfg, &s.source, &v, 20, &l));
  assert_ok(weir_load_start(l, 0));
  for (int k = 0; k < 10000 && weir_load_counted(l).reads < 8; k++) {
    check_sleep(0.001);
  }
  assert_int_equal(weir_load_counted(l).reads, 8); /* and no more: the buffer is full */
  for (int k = 0; k < 7; k++) {
    assert_ok(weir_load_next(l, &view));
    weir_load_release(l);
  }
  assert_int_equal(weir_load_counted(l).waits, 0);
  weir_load_close(&l); /* while others are read */
}

typedef struct faults {
  check_source s;
  weir_load_cfg cfg;
  weir_access_stream v;
} faults;

static weir_status one_epoch(void *context)
{
  faults *const f = context;
  weir_load *l = NULL;
  weir_load_view view;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_load_open(&f->cfg, &f->s.source, &f->v, 2 * f->v.each, &l));
  WEIR_TRY_GOTO(weir_load_start(l, 0), done);
  WEIR_TRY_GOTO(weir_load_next(l, &view), done);
done:
  weir_load_close(&l);
  return status;
}

static void every_allocation_may_fail(void **state)
{
  const weir_sampler o = {.samples = 5, .batch = 1, .step = 1};
  faults f = {.cfg = check_cfg(3, 2), .v = weir_access_stream_of(&o, 0, 1)};

  check_source_init(&f.s, 0, 4, true);
  f.cfg.memory.bytes = 100 * CHECK_BYTES;
  f.cfg.memory.threads = 1;
  assert_true(weir_check_faults(one_epoch, &f) > 9);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(samples_come_in_order_whatever_the_options),
      cmocka_unit_test(what_is_kept_is_read_once),
      cmocka_unit_test(classes_are_filled_where_nothing_is_staged),
      cmocka_unit_test(no_class_and_small_ones_work),
      cmocka_unit_test(groups_may_have_nothing),
      cmocka_unit_test(slabs_are_parts_of_the_whole),
      cmocka_unit_test(batches_are_had_from_any_position_on),
      cmocka_unit_test(another_order_is_told),
      cmocka_unit_test(failures_reach_the_consumer_in_turn),
      cmocka_unit_test(lent_samples_stay),
      cmocka_unit_test(slow_classes_are_left_out),
      cmocka_unit_test(what_cannot_be_is_refused),
      cmocka_unit_test(what_was_read_ahead_is_there),
      cmocka_unit_test(every_allocation_may_fail),
  };

  weir_check_mkdir(dir, sizeof dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
