/* write_test.c - records written as EDF+ and BDF+ and read again: the same integers, presence,
 * values within a step, texts and dates; what the format cannot hold is refused. */
#include "support/io/convert_check.h"
#include "io/weir_record_writer.h"

static const weir_convert_edf edf = {16, false}, bdf = {24, false}, filled = {16, true};

static weir_record *opened(const char *path)
{
  weir_record *r = NULL;

  assert_ok(weir_record_open(path, NULL, &r));
  return r;
}

/* Two rates, 212 and 24 bits, samples of one signal and of both absent. */
static void make_record_at(const char *path, int frames, int start_kind, int64_t start_us)
{
  static const weir_record_channel channels[] = {
      {"ECG", "mV", 200, 1024, 212, 3},
      {"Flow of air, nasal", "l/min", -0.0 + 131.7, -3, 24, 1},
  };
  const weir_record_spec spec = {.fs_num = 50,
                                 .fs_den = 1,
                                 .n_channels = 2,
                                 .channels = channels,
                                 .start_kind = start_kind,
                                 .start_us = start_us};
  weir_record_writer *w = NULL;

  assert_ok(weir_record_writer_open(path, &spec, &w));
  for (int k = 0; k < frames; k++) {
    const bool none = k >= 100 && k < 330;
    const int32_t fast[3] = {none ? -2048 : 7 * k % 2000, none ? -2048 : -k % 900,
                             none || k == 40 ? -2048 : 3};
    const int32_t slow = none || (k > 400 && k < 420) ? -(1 << 23) : 11 * k - 4000;
    const int32_t *const rows[2] = {fast, &slow};

    assert_ok(weir_record_writer_append_raw(w, 1, rows));
  }
  assert_ok(weir_record_writer_commit(&w));
}

static void make_record(const char *path, int frames)
{
  make_record_at(path, frames, 2, INT64_C(4243862198500000)); /* 2104-06-25 */
}

/* Presence and stored integers of both; `b` may have more absent samples at its end. */
static void same_integers(weir_record *a, weir_record *b)
{
  enum { MOST = 4000 };
  static int32_t raw[2][MOST];
  static uint8_t there[2][MOST];

  for (int i = 0; i < weir_record_signals(a); i++) {
    const int64_t n = weir_record_signal(a, i)->count;

    assert_true(n <= MOST && weir_record_signal(b, i)->count >= n);
    assert_ok(weir_record_read_raw(a, i, 0, MOST, raw[0], there[0]));
    assert_ok(weir_record_read_raw(b, i, 0, MOST, raw[1], there[1]));
    assert_memory_equal(there[0], there[1], MOST);
    for (int k = 0; k < MOST; k++) {
      assert_true(!there[0][k] || raw[0][k] == raw[1][k]);
    }
  }
}

static void a_wfdb_record_keeps_integers_gaps_and_date(void **state)
{
  static const weir_convert_edf *const kinds[] = {&edf, &bdf, &filled};
  static const char *const names[] = {"a.edf", "a.bdf", "c.edf"};
  weir_convert_facts facts;
  int64_t us[2] = {0};
  char text[1024];

  make_record(in_dir("a"), 613);
  weir_record *a = opened(in_dir("a"));

  for (int k = 0; k < 3; k++) {
    assert_ok(weir_record_to_edf(a, NULL, NULL, kinds[k], in_dir(names[k]), &any, &facts));
    weir_record *b = opened(in_dir(names[k]));

    assert_int_equal(facts.rescaled + facts.clipped, 0);
    assert_int_equal(facts.samples, 4 * 613);
    assert_int_equal(facts.absent, 4 * 230 + 1 + 19);
    same_integers(a, b);
    assert_string_equal(weir_record_signal(b, 1)->name, "Flow of air, nas");
    assert_near(weir_record_signal(b, 0)->gain, 200, 1e-9);
    assert_near(weir_record_signal(b, 0)->baseline, 1024, 1e-6);
    assert_near(weir_record_signal(b, 1)->gain, 131.7, 1e-3);
    assert_int_equal(weir_record_start(b, &us[1]), weir_record_start(a, &us[0]));
    assert_int_equal(us[0], us[1]);
    weir_record_close(&b);
    FILE *const f = fopen(in_dir(names[k]), "rb");

    assert_non_null(f);
    assert_int_equal(fread(text, 1, sizeof text, f), sizeof text);
    assert_int_equal(fclose(f), 0);
    assert_memory_equal(text + 88, "Startdate 25-JUN-2104 X X X ", 28);
    assert_memory_equal(text + 168, "25.06.yy", 8);
    assert_memory_equal(text + 192, k == 1 ? "BDF+D " : k == 0 ? "EDF+D " : "EDF+C ", 6);
  }
  weir_record_close(&a);
}

/* A time of day without a date, and an unknown start, which is not midnight. */
static void an_unknown_start_stays_unknown(void **state)
{
  static const char *const names[] = {"u0", "u1", "u2"};
  static const int64_t seconds[] = {0, 1, 86399};

  for (int k = 0; k < 3; k++) {
    weir_convert_facts facts;
    int64_t us = 0;
    char path[8];

    make_record_at(in_dir(names[k]), 50, k > 0, seconds[k] * 1000000);
    weir_record *a = opened(in_dir(names[k]));

    (void)snprintf(path, sizeof path, "%s.edf", names[k]);
    assert_ok(weir_record_to_edf(a, NULL, NULL, &edf, in_dir(path), &any, &facts));
    weir_record *b = opened(in_dir(path));

    assert_int_equal(weir_record_start(b, &us), k > 0);
    assert_true(k == 0 || us == seconds[k] * 1000000);
    weir_record_close(&a);
    weir_record_close(&b);
  }
}

/* An inverted scale, and a gap of whole records. */
static void edf_stays_the_same(void **state)
{
  weir_record_events events, again;
  weir_convert_facts facts;

  make_edf_file(in_dir("e.edf"));
  weir_record *a = opened(in_dir("e.edf"));

  assert_ok(weir_record_events_read(a, &events));
  for (int k = 0; k < 2; k++) {
    const char *const path = in_dir(k == 0 ? "f.edf" : "f.bdf");

    assert_ok(weir_record_to_edf(a, &events, "age 60\n\nsmoker", k == 0 ? &edf : &bdf, path, &any,
                                 &facts));
    weir_record *b = opened(path);

    same_samples(a, b, true, 1e-5);
    assert_int_equal(weir_record_signal(a, 0)->count, weir_record_signal(b, 0)->count);
    assert_near(weir_record_signal(b, 0)->gain, weir_record_signal(a, 0)->gain, 1e-9);
    assert_ok(weir_record_events_read(b, &again));
    assert_int_equal(again.count, events.count + 2);
    assert_string_equal(again.items[0].text, "# age 60");
    assert_string_equal(again.items[1].text, "# smoker");
    for (int i = 0; i < events.count; i++) {
      assert_string_equal(again.items[i + 2].text, events.items[i].text);
      assert_int_equal(again.items[i + 2].time, events.items[i].time);
      assert_int_equal(again.items[i + 2].duration, events.items[i].duration);
    }
    weir_record_events_fini(&again);
    weir_record_close(&b);
  }
  weir_record_events_fini(&events);
  weir_record_close(&a);
}

/* Values as text, far from 0 and of many sizes: nothing is clipped, and half a step lost. */
static void values_use_the_range(void **state)
{
  static const double sizes[] = {1, 1e-6, 3.7e5, 1e12, 1e-3};
  static const weir_convert_scale chosen = {0, 0, 1e-3};
  weir_convert_facts facts;
  char line[128];

  for (int k = 0; k < 5; k++) {
    char *const all = malloc(1 << 16);

    strcpy(all, "time (s),X (mV)\n");
    for (int i = 0; i < 500; i++) {
      snprintf(line, sizeof line, "%.3f,%.7e\n", i / 125.0,
               sizes[k] * (sin(0.37 * i) + (k == 4 ? 5 : 0.2)));
      strcat(all, line);
    }
    write_text(in_dir("v.csv"), all);
    free(all);
    weir_record *a = opened(in_dir("v.csv"));

    for (int bits = 16; bits <= 24; bits += 8) {
      const char *const path = in_dir(bits == 16 ? "v.edf" : "v.bdf");
      const double steps = bits == 16 ? 65534 : 16777214;

      assert_ok(weir_record_to_edf(a, NULL, NULL, bits == 16 ? &edf : &bdf, path, &chosen, &facts));
      assert_int_equal(facts.clipped, 0);
      weir_record *b = opened(path);

      same_samples(a, b, false, sizes[k] * (1.05 / steps + (k == 4 ? 9e-7 : 3e-7)));
      weir_record_close(&b);
    }
    weir_record_close(&a);
  }
}

/* Integers from -400000 to 398400, 1596.8 uV, with a gap. */
static void make_long_integers(const char *path)
{
  const weir_record_channel channel = {"X", "uV", 500, 1000, 24, 1};
  const weir_record_spec spec = {.fs_num = 100, .fs_den = 1, .n_channels = 1, .channels = &channel};
  weir_record_writer *w = NULL;

  assert_ok(weir_record_writer_open(path, &spec, &w));
  for (int k = 0; k < 500; k++) {
    const int32_t raw = k >= 200 && k < 250 ? -(1 << 23) : 1600 * k - 400000;
    const int32_t *const rows[1] = {&raw};

    assert_ok(weir_record_writer_append_raw(w, 1, rows));
  }
  assert_ok(weir_record_writer_commit(&w));
}

/* Integers of 24 bits do not fit 16: they are scaled anew. */
static void long_integers_are_scaled_anew(void **state)
{
  static const weir_convert_scale chosen = {0, 0, 1e-3};
  weir_convert_facts facts;

  make_long_integers(in_dir("l"));
  weir_record *a = opened(in_dir("l"));

  assert_ok(weir_record_to_edf(a, NULL, NULL, &edf, in_dir("l.edf"), &chosen, &facts));
  assert_int_equal(facts.rescaled, 1);
  assert_int_equal(facts.clipped, 0);
  weir_record *b = opened(in_dir("l.edf"));

  same_samples(a, b, false, 0.52 * 1596.8 / 65534 + 1e-4);
  weir_record_close(&b);
  weir_record_close(&a);
}

static void a_stated_gain_clips_as_far_as_allowed(void **state)
{
  weir_convert_facts facts;
  const weir_convert_scale none = {10000, 0.01, 1}, coarse = {1, 1, 0.01}, fine = {0, 1, 0.01};

  write_text(in_dir("g.csv"), "time (s),X (mV)\n0,1\n0.1,2\n0.2,100\n0.3,-1\n0.4,0.5\n");
  weir_record *a = opened(in_dir("g.csv"));

  assert_int_equal(weir_record_to_edf(a, NULL, NULL, &edf, in_dir("g.edf"), &none, &facts),
                   WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "1 of 5 samples lie beyond the range"));
  assert_false(weir_file_exists(in_dir("g.edf")));
  assert_int_equal(weir_record_to_edf(a, NULL, NULL, &bdf, in_dir("g.bdf"), &coarse, &facts),
                   WEIR_OK);
  weir_record_close(&a);
  write_text(in_dir("h.csv"), "time (s),X (V)\n0,0.001\n0.1,0.002\n");
  weir_record *b = opened(in_dir("h.csv"));

  assert_int_equal(weir_record_to_edf(b, NULL, NULL, &edf, in_dir("h.edf"), &coarse, &facts),
                   WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "signal X: steps of 1 V would change its values"));
  assert_true(facts.coarse > 0.01);
  write_text(in_dir("i.csv"), "time (s),X (V)\n0,1e9\n0.1,1.00000006e9\n"); /* 8 characters */
  weir_record *c = opened(in_dir("i.csv"));

  assert_int_equal(weir_record_to_edf(c, NULL, NULL, &edf, in_dir("i.edf"), &fine, &facts),
                   WEIR_ERR_CONFIG);
  weir_record_close(&c);
  weir_record_close(&b);
}

static void what_the_header_cannot_hold_is_refused(void **state)
{
  static const struct {
    const char *text, *reason;
  } cases[] = {
      {"time (s),X (milliliters)\n0,1\n0.1,2\n", "longer than the 8 characters"},
      {"time (s),ABCDEFGHIJKLMNOPQ,ABCDEFGHIJKLMNOPR\n0,1,2\n0.1,2,3\n", "first 16 characters"},
      {"time (s),EDF Annotations\n0,1\n0.1,2\n", "can be named 'EDF Annotations'"},
  };
  weir_convert_facts facts;

  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    write_text(in_dir("r.csv"), cases[k].text);
    weir_record *a = opened(in_dir("r.csv"));

    assert_int_equal(weir_record_to_edf(a, NULL, NULL, &edf, in_dir("r.edf"), &any, &facts),
                     WEIR_ERR_UNSUPPORTED);
    assert_non_null(strstr(weir_last_message(), cases[k].reason));
    weir_record_close(&a);
  }
}

/* Every allocation fails once: no file, no leak. */
static void failures_leave_nothing(void **state)
{
  weir_convert_facts facts;
  const int64_t before = weir_alloc_bytes();
  weir_status status = WEIR_ERR_MEMORY;

  make_edf_file(in_dir("e.edf"));
  weir_record *a = opened(in_dir("e.edf"));
  const int64_t open_bytes = weir_alloc_bytes();

  for (int64_t k = 1; status != WEIR_OK; k++) {
    weir_alloc_fail_after(k);
    status = weir_record_to_edf(a, NULL, "x", &edf, in_dir("m.edf"), &any, &facts);
    weir_alloc_fail_after(0);
    assert_true(status == WEIR_OK || !weir_file_exists(in_dir("m.edf")));
    assert_int_equal(weir_alloc_bytes(), open_bytes);
  }
  weir_record_close(&a);
  assert_int_equal(weir_alloc_bytes(), before);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_wfdb_record_keeps_integers_gaps_and_date),
      cmocka_unit_test(an_unknown_start_stays_unknown),
      cmocka_unit_test(edf_stays_the_same),
      cmocka_unit_test(values_use_the_range),
      cmocka_unit_test(long_integers_are_scaled_anew),
      cmocka_unit_test(a_stated_gain_clips_as_far_as_allowed),
      cmocka_unit_test(what_the_header_cannot_hold_is_refused),
      cmocka_unit_test(failures_leave_nothing),
  };

  weir_check_mkdir(dir, sizeof dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
