/* convert_test.c - records made or shared, through NetCDF, WFDB and text and back: the same
 * integers, presence, rates, events and checksums. */
#include "support/io/convert_check.h"
#include "support/io/edf_test.h"
#include "io/weir_netcdf.h"
#include "io/weir_record_convert.h"
#include "io/weir_record_writer.h"

static weir_status open_quietly(const char *path, weir_record **r)
{
  weir_log_set_level(WEIR_LOG_ERROR);
  const weir_status status = weir_record_open(path, NULL, r);

  weir_log_set_level(WEIR_LOG_INFO);
  return status;
}

static int sum_of(weir_record *r, int signal)
{
  int sum = 0;

  assert_ok(weir_record_checksum(r, signal, &sum));
  return sum;
}

/* `path` -> NetCDF -> WFDB: the checksums of the first header come back in the last. */
static void through_netcdf(const char *path)
{
  weir_record *first = NULL;
  weir_record *middle = NULL;
  weir_record *last = NULL;
  weir_convert_facts facts;
  int64_t us[2] = {0};

  assert_ok(open_quietly(path, &first));
  assert_ok(weir_record_to_netcdf(first, NULL, NULL, in_dir("a.nc"), &facts));
  assert_ok(weir_record_open(in_dir("a.nc"), NULL, &middle));
  same_samples(first, middle, true, 0);
  assert_ok(weir_record_to_wfdb(middle, NULL, NULL, in_dir("b"), &any, &facts));
  assert_int_equal(facts.clipped, 0);
  assert_ok(weir_record_open(in_dir("b"), NULL, &last));
  same_samples(middle, last, false, 0);
  assert_string_equal(weir_record_name(middle), weir_record_name(first));
  assert_int_equal(weir_record_start(last, &us[1]), weir_record_start(first, &us[0]));
  assert_int_equal(us[0], us[1]);
  for (int i = 0; i < weir_record_signals(first); i++) {
    const weir_signal_info *const s = weir_record_signal(first, i);

    assert_int_equal(sum_of(middle, i), weir_record_signal(middle, i)->checksum);
    assert_int_equal(sum_of(last, i), sum_of(middle, i));
    assert_int_equal(weir_record_signal(last, i)->checksum & 65535, sum_of(middle, i));
    if (s->skew == 0) {
      assert_int_equal(sum_of(last, i), s->checksum & 65535);
    }
    assert_near(weir_record_signal(last, i)->gain, s->gain, 0);
    assert_near(weir_record_signal(last, i)->baseline, s->baseline, 0);
    assert_string_equal(weir_record_signal(last, i)->units, s->units);
  }
  weir_record_close(&first);
  weir_record_close(&middle);
  weir_record_close(&last);
}

/* Every format, several rates, skew, byte offsets: MIT-BIH 100 comes back byte for byte. */
static void header_checksums_survive(void **state)
{
  static const char *const names[] = {"mitdb/100",
                                      "formats/binformats",
                                      "formats/310derive_3",
                                      "formats/311derive_4",
                                      "mimic/03700181",
                                      "mitdb/100skew",
                                      "formats/test01_00s_skewframe",
                                      "challenge2015/a103l"};

  NEEDS_NETCDF();
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char name[128];
    char path[4096];
    char *data[2] = {NULL};
    int64_t size[2] = {0};

    snprintf(name, sizeof name, "wfdb/%s", names[i]);
    weir_check_shared(path, sizeof path, "physio/%s", name);
    through_netcdf(path);
    if (i == 0) {
      strcat(path, ".dat");
      assert_ok(weir_file_read(path, 1 << 24, &data[0], &size[0]));
      assert_ok(weir_file_read(in_dir("b.dat"), 1 << 24, &data[1], &size[1]));
      assert_int_equal(size[0], size[1]);
      assert_memory_equal(data[0], data[1], (size_t)size[0]);
      weir_free(&data[0]);
      weir_free(&data[1]);
    }
  }
}

/* A gap between segments of different gains is kept as values. */
static void segments_with_their_own_gains(void **state)
{
  char path[4096];
  weir_record *r = NULL;
  weir_record *n = NULL;
  weir_convert_facts facts;

  NEEDS_NETCDF();
  weir_check_shared(path, sizeof path, "physio/wfdb/multiseg/s25047/s25047-2704-05-04-10-44");
  assert_ok(open_quietly(path, &r));
  assert_true(weir_record_signal(r, 0)->scale_varies);
  assert_ok(weir_record_to_netcdf(r, NULL, NULL, in_dir("s.nc"), &facts));
  assert_int_equal(facts.samples, 3 * 543240);
  assert_true(facts.absent > 25740 * 2 + 440000);
  assert_ok(weir_record_open(in_dir("s.nc"), NULL, &n));
  same_samples(r, n, false, 0);
  weir_record_close(&n);
  weir_record_close(&r);
}

static void edf_becomes_wfdb(void **state)
{
  weir_record *e = NULL;
  weir_record *w = NULL;
  weir_record_events events;
  weir_annotations a;
  weir_convert_facts facts;
  char path[512];

  snprintf(path, sizeof path, "%s", in_dir("e.edf"));
  make_edf_file(path);
  assert_ok(weir_record_open(path, NULL, &e));
  assert_ok(weir_record_events_read(e, &events));
  assert_int_equal(events.count, 2);
  assert_ok(weir_record_to_wfdb(e, &events, NULL, in_dir("w"), &any, &facts));
  assert_int_equal(facts.clipped, 0);
  assert_int_equal(facts.n_files, 3);
  assert_int_equal(facts.absent, 20);
  assert_ok(weir_record_open(in_dir("w"), NULL, &w));
  assert_int_equal(weir_record_signal(w, 0)->samples_per_frame, 3);
  assert_int_equal(weir_record_signal(w, 1)->samples_per_frame, 2);
  assert_true(weir_record_signal(w, 0)->gain > 0);
  assert_string_equal(weir_record_signal(w, 1)->units, "NU");
  same_samples(e, w, false, 100 / 4095.0 + 1e-5); /* baselines are integers: half a step */
  assert_ok(weir_annotations_read(in_dir("w.atr"), &a));
  assert_int_equal(a.count, 2);
  assert_int_equal(a.items[1].time, 2 * 4); /* frames of half a second */
  assert_int_equal(a.items[1].code, WEIR_ANN_NOTE);
  assert_string_equal(a.items[1].aux, "two");
  weir_annotations_fini(&a);
  weir_record_events_fini(&events);
  weir_record_close(&w);
  weir_record_close(&e);
}

static void text_becomes_wfdb_and_wfdb_text(void **state)
{
  weir_record *c = NULL;
  weir_record *w = NULL;
  weir_convert_facts facts;

  write_text(in_dir("t.csv"), "# sampling rate: 62.5\ntime,a (mV),b\n0,1.5,-2\n0.016,,3\n"
                              "0.064,-0.25,40000\n");
  assert_ok(weir_record_open(in_dir("t.csv"), NULL, &c));
  assert_ok(
      weir_record_to_wfdb(c, NULL, NULL, in_dir("tw"), &(weir_convert_scale){4, 1, 1}, &facts));
  assert_int_equal(facts.clipped, 1); /* 160000 steps */
  assert_int_equal(facts.absent, 5);
  assert_ok(weir_record_open(in_dir("tw"), NULL, &w));
  assert_int_equal(weir_record_signal(w, 0)->fs_num, 125);
  assert_int_equal(weir_record_signal(w, 0)->fs_den, 2);
  weir_record_close(&c);
  assert_ok(weir_record_to_csv(w, NULL, NULL, in_dir("tc"), &facts));
  assert_int_equal(facts.n_files, 1);
  assert_ok(weir_record_open(in_dir("tc.csv"), NULL, &c));
  assert_string_equal(weir_record_signal(c, 0)->units, "mV");
  same_samples(w, c, false, 0);
  weir_record_close(&c);
  weir_record_close(&w);
}

/* Of values below a step nothing would be left; integers lose nothing at any gain; the value stands
 * for the range of a constant; what is clipped has no say. */
static void steps_that_are_too_wide_are_refused(void **state)
{
  static const struct {
    const char *text;
    double gain;
    bool fits;
  } cases[] = {
      {"time,a (V)\n0,0.0012\n0.01,-0.0003\n0.02,0.0004\n", 1000, false},
      {"time,a (V)\n0,0.0012\n0.01,-0.0003\n0.02,0.00041\n", 100000, true},
      {"time,a (V)\n0,0.0012\n0.01,-0.0003\n0.02,9000\n", 1000, false},
      {"time,a (mV)\n0,1.2345\n0.01,-0.3456\n0.02,0.4007\n", 1000, true},
      {"time,a\n0,1\n0.01,0\n0.02,1\n", 1, true},
      {"time,a\n0,37.12345\n0.01,37.12345\n0.02,37.12345\n", 1000, true},
      {"time,a\n0,0.0004\n0.01,0.0004\n0.02,0.0004\n", 1000, false},
      {"time,a\n0,0\n0.01,0\n0.02,0\n", 1000, true},
      {"time,a (degC)\n0,37.1\n0.01,37.4\n0.02,37.3\n", 1, false},
  };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    weir_convert_scale scale = {cases[i].gain, 1, 0.01};
    weir_convert_facts facts;
    weir_record *c = NULL;

    write_text(in_dir("v.csv"), cases[i].text);
    assert_ok(weir_record_open(in_dir("v.csv"), NULL, &c));
    assert_int_equal(weir_record_to_wfdb(c, NULL, NULL, in_dir("v"), &scale, &facts),
                     cases[i].fits ? WEIR_OK : WEIR_ERR_CONFIG);
    assert_true((facts.coarse > 0) == !cases[i].fits);
    scale.max_rounded = 1;
    assert_ok(weir_record_to_wfdb(c, NULL, NULL, in_dir("v"), &scale, &facts));
    weir_record_close(&c);
  }
}

/* One file for each of two rates, gaps as empty fields, events in quotes. */
static void several_rates_become_several_texts(void **state)
{
  weir_record *e = NULL;
  weir_record *c = NULL;
  weir_record_events events;
  weir_convert_facts facts;
  float v[2][30];
  uint8_t p[2][30];
  char *text = NULL;
  int64_t size = 0;

  make_edf_file(in_dir("e.edf"));
  assert_ok(weir_record_open(in_dir("e.edf"), NULL, &e));
  assert_ok(weir_record_events_read(e, &events));
  assert_ok(weir_record_to_csv(e, &events, NULL, in_dir("m"), &facts));
  assert_int_equal(facts.n_files, 3);
  assert_ok(weir_record_open(in_dir("m_0.csv"), NULL, &c));
  assert_int_equal(weir_record_signal(c, 0)->fs_num, 6);
  assert_ok(weir_record_read(e, 0, 0, 30, v[0], p[0]));
  assert_ok(weir_record_read(c, 0, 0, 30, v[1], p[1]));
  assert_memory_equal(p[0], p[1], 30);
  for (int i = 0; i < 30; i++) {
    assert_near(v[0][i], v[1][i], 1e-7);
  }
  assert_ok(weir_file_read(in_dir("m_events.csv"), 1000, &text, &size));
  assert_string_equal(text,
                      "time_s,duration_s,code,text\n0,,\"\"\"\",\"one\"\n4,,\"\"\"\",\"two\"\n");
  weir_free(&text);
  weir_record_events_fini(&events);
  weir_record_close(&c);
  weir_record_close(&e);
}

static void what_cannot_be_written_is_refused(void **state)
{
  static const made_signal odd[] = {{"A", "V", "0", "1", "0", "9", 1009},
                                    {"B", "V", "0", "1", "0", "9", 1013}};
  static const made_signal none[] = {{"EDF Annotations", "", "", "", "", "", 8}};
  const made_file rates = {"", "1", "1", odd, 2, 1, NULL};
  static const char *const stamps[] = {"+0\024\024"};
  const made_file notes = {"EDF+C", "1", "0", none, 1, 1, stamps};
  static char bytes[MADE_BYTES];
  weir_convert_facts facts;
  weir_record *r = NULL;

  weir_check_write(in_dir("o.edf"), bytes, make_edf(&rates, false, bytes));
  assert_ok(weir_record_open(in_dir("o.edf"), NULL, &r));
  assert_ok(weir_record_to_wfdb(r, NULL, NULL, in_dir("o"), &any,
                                &facts)); /* frames of a second: 1013 fit */
  weir_record_close(&r);
  weir_check_write(in_dir("n.edf"), bytes, make_edf(&notes, false, bytes));
  assert_ok(weir_record_open(in_dir("n.edf"), NULL, &r));
  assert_int_equal(weir_record_to_wfdb(r, NULL, NULL, in_dir("n"), &any, &facts),
                   WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(), "has no signals"));
  if (!weir_netcdf_available()) {
    assert_int_equal(weir_record_to_netcdf(r, NULL, NULL, in_dir("n.nc"), &facts),
                     WEIR_ERR_UNSUPPORTED);
    assert_non_null(strstr(weir_last_message(), "no NetCDF"));
    write_text(in_dir("x.nc"), "x");
    weir_record_close(&r);
    assert_int_equal(weir_record_open(in_dir("x.nc"), NULL, &r), WEIR_ERR_UNSUPPORTED);
  }
  weir_record_close(&r);
}

static weir_status every_way(void *context)
{
  weir_record *r = NULL;
  weir_record_events e = {0};
  weir_convert_facts facts;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_record_open(context, NULL, &r));
  WEIR_TRY_GOTO(weir_record_events_read(r, &e), done);
  WEIR_TRY_GOTO(weir_record_to_wfdb(r, &e, NULL, in_dir("f"), &any, &facts), done);
  WEIR_TRY_GOTO(weir_record_to_csv(r, &e, NULL, in_dir("f"), &facts), done);
  if (weir_netcdf_available()) {
    WEIR_TRY_GOTO(weir_record_to_netcdf(r, &e, NULL, in_dir("f.nc"), &facts), done);
    weir_record_events_fini(&e);
    weir_record_close(&r);
    WEIR_TRY_GOTO(weir_record_open(in_dir("f.nc"), NULL, &r), done);
    WEIR_TRY_GOTO(weir_record_events_read(r, &e), done);
  }
done:
  weir_record_events_fini(&e);
  weir_record_close(&r);
  return status;
}

static void failing_allocations_are_reported(void **state)
{
  char path[512];

  snprintf(path, sizeof path, "%s", in_dir("e.edf"));
  make_edf_file(path);
  assert_true(weir_check_faults(every_way, path) > 20);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(header_checksums_survive),
      cmocka_unit_test(segments_with_their_own_gains),
      cmocka_unit_test(edf_becomes_wfdb),
      cmocka_unit_test(text_becomes_wfdb_and_wfdb_text),
      cmocka_unit_test(steps_that_are_too_wide_are_refused),
      cmocka_unit_test(several_rates_become_several_texts),
      cmocka_unit_test(what_cannot_be_written_is_refused),
      cmocka_unit_test(failing_allocations_are_reported),
  };

  weir_check_mkdir(dir, sizeof dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
