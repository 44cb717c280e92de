/* write_dcmtk_test.c - ECGs written as DICOM come back with every bit: samples, missing ones,
 * scales, rates, times, annotations; and what these objects do not hold is refused. */
#include <math.h>
#include "io/weir_record_convert.h"
#include "support/io/dicom_objects.h"

static char out[520];
static const weir_convert_scale scale = {0, 0.01, 0.01};

static weir_record *written(weir_record *r, const weir_record_events *events)
{
  weir_convert_facts facts;
  weir_record *back = NULL;

  assert_ok(weir_record_to_dicom(r, events, "age: 60\ncaf\xc3\xa9 \xff", out, &scale, &facts));
  assert_int_equal(facts.n_files, 1);
  assert_int_equal(facts.rescaled, 0);
  assert_ok(weir_record_open(out, NULL, &back));
  return back;
}

static void assert_same(weir_record *a, weir_record *b)
{
  int64_t us[2] = {0, 0};
  int minutes[2] = {-1, -1};

  assert_int_equal(weir_record_signals(a), weir_record_signals(b));
  assert_int_equal(weir_record_start(a, &us[0]), weir_record_start(b, &us[1]));
  assert_int_equal(us[0], us[1]);
  assert_true(weir_record_utc_offset(a, &minutes[0]) && weir_record_utc_offset(b, &minutes[1]));
  assert_true(minutes[0] == 60 && minutes[1] == 60);
  for (int i = 0; i < weir_record_signals(a); i++) {
    const weir_signal_info *const s = weir_record_signal(a, i), *const t = weir_record_signal(b, i);
    int32_t raw[2][64];
    uint8_t present[2][64];

    assert_string_equal(s->name, t->name);
    assert_string_equal(s->units, t->units);
    assert_string_equal(s->prefilter, t->prefilter);
    assert_true(s->fs_num == t->fs_num && s->fs_den == t->fs_den && s->count == t->count);
    assert_near(s->gain, t->gain, 1e-14 * fabs(s->gain));
    assert_near(s->baseline, t->baseline, 1e-12 * fabs(s->baseline));
    assert_ok(weir_record_read_raw(a, i, 0, s->count, raw[0], present[0]));
    assert_ok(weir_record_read_raw(b, i, 0, s->count, raw[1], present[1]));
    assert_memory_equal(present[0], present[1], (size_t)s->count);
    for (int64_t k = 0; k < s->count; k++) {
      assert_true(!present[0][k] || raw[0][k] == raw[1][k]);
    }
  }
}

/* True where the written file has these bytes. */
static bool has(const char *bytes, size_t size)
{
  char *text = NULL;
  int64_t n = 0;
  bool found = false;

  assert_ok(weir_file_read(out, 1 << 20, &text, &n));
  for (int64_t i = 0; i + (int64_t)size <= n && !found; i++) {
    found = memcmp(text + i, bytes, size) == 0;
  }
  weir_free(&text);
  return found;
}

static const char *const twelve[] = {"2:1", "2:2", "2:61", "2:62", "2:63", "2:64",
                                     "2:3", "2:4", "2:5",  "2:6",  "2:7",  "2:8"};

/* 12 leads with the extremes of 16 bits, and a code of missing samples; the same without one lead
 * is a general ECG. */
static void twelve_leads_come_back(void **state)
{
  channel leads[12];
  group g = plain;

  g.channels = 12;
  g.first = -32768 + 60;
  g.padding = -32768 + 63;
  for (int i = 0; i < 12; i++) {
    leads[i] = lead_ii;
    leads[i].code = twelve[i];
    leads[i].sensitivity = i == 3 ? "-2.44140625" : "4.88";
    leads[i].baseline = i == 4 ? NULL : "10.5";
  }
  for (int n = 12; n >= 11; n--) {
    g.channels = n;
    one_group(WEIR_DICOM_EXPLICIT, &g, leads);
    weir_record *a = opened();
    weir_record *b = written(a, NULL);

    assert_same(a, b);
    assert_true(weir_record_signal(b, 0)->has_invalid);
    assert_true(
        has(n == 12 ? "1.2.840.10008.5.1.4.1.1.9.1.1" : "1.2.840.10008.5.1.4.1.1.9.1.2", 30));
    assert_true(has("ISO_IR 192", 10) && has("age: 60\ncaf\xc3\xa9  ", 15));
    weir_record_close(&a);
    weir_record_close(&b);
  }
}

/* Signals of two rates, one of which begins later; without a start the year 1900 stands. */
static void rates_are_groups(void **state)
{
  group slow = plain;

  slow.frequency = "250";
  slow.offset = "8";
  slow.samples = 4;
  start(WEIR_DICOM_EXPLICIT);
  dicom_begin(&file, 0x5400, 0x0100);
  add_group(&plain, (const channel[]){lead_ii, {"2:3", "MLII", "0.005", "1", "0", "mV", "0"}});
  add_group(&slow, (const channel[]){{"2:61", NULL, "1e-05", "1", NULL, "V", "0"}, lead_ii});
  dicom_end(&file);
  weir_record *a = opened();
  weir_record *b = written(a, NULL);

  assert_same(a, b);
  assert_int_equal(weir_record_signal(b, 2)->fs_num, 250);
  weir_record_close(&a);
  weir_record_close(&b);
  one_group(WEIR_DICOM_EXPLICIT, &plain, (const channel[]){lead_ii, lead_ii});
  memcpy(memmem(file.bytes, (size_t)file.size, "20240229101500.25+0100", 22),
         "2024                  ", 22);
  a = opened();
  b = written(a, NULL);
  assert_int_equal(weir_record_start(b, &(int64_t){0}), 0);
  assert_false(weir_record_utc_offset(b, &(int){0}));
  weir_record_close(&a);
  weir_record_close(&b);
}

/* A pressure and a lead: a haemodynamic waveform. */
static void pressures_come_back(void **state)
{
  group g = plain;

  g.frequency = "125";
  one_group(WEIR_DICOM_EXPLICIT, &g,
            (const channel[]){lead_ii, {"2:2", "abp", "0.05", "1", "-40", "mm[Hg]", "0"}});
  weir_record *a = opened();
  weir_record *b = written(a, NULL);

  assert_same(a, b);
  assert_string_equal(weir_record_signal(b, 1)->units, "mmHg");
  assert_true(has("1.2.840.10008.5.1.4.1.1.9.2.1", 29) && has("128446002", 9) && has("HD", 2) &&
              has("NO TRIGGER", 10));
  weir_record_close(&a);
  weir_record_close(&b);
}

/* Beats with codes of the standard and of our own, with and without text, on samples and between
 * them, before the first sample, with a duration. */
static void annotations_come_back(void **state)
{
  static const struct {
    weir_record_event event;
    const char *text;
  } notes[] = {
      {{.time = 0, .duration = -1, .code = WEIR_ANN_NORMAL}, ""},
      {{.time = 2000000, .duration = -1, .code = WEIR_ANN_PVC}, "multiform \xc3\xa4"},
      {{.time = 2000000, .duration = -1, .code = WEIR_ANN_PACE}, ""},
      {{.time = 2000000, .duration = -1, .code = WEIR_RECORD_NOTE}, "a\\b"},
      {{.time = 3000001, .duration = -1, .code = WEIR_ANN_RHYTHM}, "(AFIB"},
      {{.time = -7, .duration = -1, .code = WEIR_ANN_NOISE}, ""},
      {{.time = 4000000, .duration = 6000000, .code = WEIR_RECORD_NOTE}, "noise"},
      {{.time = 4000000, .duration = 86400123456789, .code = WEIR_ANN_BBB}, "long"},
      {{.time = 18000000, .duration = -1, .code = 42}, ""},
  };
  const int n = sizeof notes / sizeof notes[0];
  weir_record_events e = {0}, back = {0};

  for (int k = 0; k < n; k++) {
    assert_ok(
        weir_record_events_add(&e, &notes[k].event, notes[k].text, (int64_t)strlen(notes[k].text)));
  }
  one_group(WEIR_DICOM_EXPLICIT, &plain, (const channel[]){lead_ii, lead_ii});
  weir_record *a = opened();
  weir_record *b = written(a, &e);

  assert_ok(weir_record_events_read(b, &back));
  assert_int_equal(back.count, n);
  for (int k = 0; k < n; k++) {
    assert_int_equal(back.items[k].time, notes[k].event.time);
    assert_int_equal(back.items[k].duration, notes[k].event.duration);
    assert_int_equal(back.items[k].code, notes[k].event.code);
    assert_string_equal(back.items[k].text, notes[k].text);
  }
  assert_true(has("10:8208", 7) && has("99WFDB", 6) && has("10:8336", 7));
  weir_record_events_fini(&e);
  weir_record_events_fini(&back);
  weir_record_close(&a);
  weir_record_close(&b);
}

static void refused(const group *g, const channel *c, const char *reason)
{
  weir_convert_facts facts;

  one_group(WEIR_DICOM_EXPLICIT, g, c);
  weir_record *r = opened();

  remove(out);
  assert_int_equal(weir_record_to_dicom(r, NULL, NULL, out, &scale, &facts), WEIR_ERR_UNSUPPORTED);
  if (strstr(weir_last_message(), reason) == NULL) {
    fail_msg("%s", weir_last_message());
  }
  assert_false(weir_file_exists(out));
  weir_record_close(&r);
}

static void what_the_objects_do_not_hold_is_refused(void **state)
{
  const channel pressure = {"2:2", "ICP", "1", "1", "0", "mm[Hg]", "0"};
  const channel gas = {"2:2", "CO2", "1", "1", "0", "%", "0"};
  const channel other = {"2:2", "EEG Fpz-Cz", "1", "1", "0", "uV", "0"};
  const channel control = {"2:2", "ECG \x7f", "1", "1", "0", "uV", "0"};
  const channel longer = {"2:2", "ECG a long channel", "1", "1", "0", "uV", "0"};
  group g = plain;

  refused(&g, (const channel[]){lead_ii, pressure}, "the name of no pressure");
  refused(&g, (const channel[]){lead_ii, gas}, "is in '%'");
  refused(&g, (const channel[]){lead_ii, other}, "the name of no lead");
  refused(&g, (const channel[]){lead_ii, longer}, "1 to 16 characters");
  refused(&g, (const channel[]){lead_ii, control}, "1 to 16 characters");
  g.frequency = "25";
  refused(&g, (const channel[]){lead_ii, lead_ii}, "2 signals of 1 rates from 25 to 25 Hz");
  g.frequency = "333.33333";
  one_group(WEIR_DICOM_EXPLICIT, &g, (const channel[]){lead_ii, lead_ii});
  weir_record *r = opened();
  weir_record *b = written(r, NULL);

  assert_same(r, b);
  weir_record_close(&r);
  weir_record_close(&b);
}

/* Integers of 32 bits that do not fit 16 are scaled anew; equal contents have equal UIDs. */
static void wide_integers_are_scaled_anew(void **state)
{
  group g = plain;
  weir_convert_facts facts;
  weir_record *b = NULL;
  float v[2][10];

  g.type = "SL";
  g.bits = 32;
  g.first = 1000000;
  one_group(WEIR_DICOM_EXPLICIT, &g, (const channel[]){lead_ii, lead_ii});
  weir_record *a = opened();

  assert_ok(weir_record_to_dicom(a, NULL, NULL, out, &(weir_convert_scale){0, 0, 1e9}, &facts));
  assert_int_equal(facts.rescaled, 2);
  assert_ok(weir_record_open(out, NULL, &b));
  assert_ok(weir_record_read(a, 0, 0, 10, v[0], NULL));
  assert_ok(weir_record_read(b, 0, 0, 10, v[1], NULL));
  for (int k = 0; k < 10; k++) {
    assert_near((double)v[0][k], (double)v[1][k], 0.51 / weir_record_signal(b, 0)->gain);
  }
  weir_record_close(&b);
  assert_int_equal(weir_record_to_dicom(a, NULL, NULL, out, &scale, &facts), WEIR_ERR_CONFIG);
  assert_true(facts.coarse > 0.01);
  weir_record_close(&a);
}

static void equal_contents_are_equal_files(void **state)
{
  char first[65], second[65];
  int64_t bytes = 0;

  for (int k = 0; k < 3; k++) {
    group g = plain;

    g.first += k == 2;
    one_group(WEIR_DICOM_EXPLICIT, &g, (const channel[]){lead_ii, lead_ii});
    weir_record *a = opened();
    weir_record *b = written(a, NULL);

    assert_true(has("2.25.", 5) && weir_file_sha256(out, k == 0 ? first : second, &bytes));
    assert_true(k == 0 || (strcmp(first, second) == 0) == (k == 1));
    weir_record_close(&a);
    weir_record_close(&b);
  }
}

/* Filters, and texts at any place, tell instances apart. */
static void other_contents_are_other_instances(void **state)
{
  enum { LENGTH = 600, UID = 44, CASES = 4 };
  const weir_record_event note = {.duration = -1, .code = WEIR_RECORD_NOTE};
  char text[LENGTH + 1] = "", uid[CASES][UID];

  memset(text, 'x', LENGTH);
  for (int k = 0; k < CASES; k++) {
    weir_convert_facts facts;
    weir_record_events e = {0};
    char *bytes = NULL;
    int64_t n = 0;

    one_group(WEIR_DICOM_EXPLICIT, &plain, (const channel[]){lead_ii, lead_ii});
    memcpy(memmem(file.bytes, (size_t)file.size, "150 ", 4), k == 1 ? "100 " : "150 ", 4);
    weir_record *a = opened();

    text[LENGTH - 1] = k == 2 ? 'y' : 'x';
    assert_ok(weir_record_events_add(&e, &note, text, LENGTH));
    text[LENGTH - 1] = k == 3 ? 'y' : 'x';
    assert_ok(weir_record_to_dicom(a, &e, text, out, &scale, &facts));
    assert_ok(weir_file_read(out, 1 << 20, &bytes, &n));
    memcpy(uid[k], memmem(bytes, (size_t)n, "2.25.", 5), UID); /* that of the instance is first */
    for (int other = 0; other < k; other++) {
      assert_memory_not_equal(uid[other], uid[k], UID);
    }
    weir_free(&bytes);
    weir_record_events_fini(&e);
    weir_record_close(&a);
  }
}

static void failing_allocations_are_reported(void **state)
{
  weir_status status = WEIR_ERR_MEMORY;
  weir_convert_facts facts;

  one_group(WEIR_DICOM_EXPLICIT, &plain, (const channel[]){lead_ii, lead_ii});
  weir_record *a = opened();
  const int64_t before = weir_alloc_bytes();

  for (int64_t k = 1; status != WEIR_OK; k++) {
    weir_alloc_fail_after(k);
    status = weir_record_to_dicom(a, NULL, "x", out, &scale, &facts);
    weir_alloc_fail_after(0);
    assert_true(status == WEIR_OK || status == WEIR_ERR_MEMORY);
    assert_int_equal(weir_alloc_bytes(), before);
  }
  weir_record_close(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(twelve_leads_come_back),
      cmocka_unit_test(rates_are_groups),
      cmocka_unit_test(pressures_come_back),
      cmocka_unit_test(annotations_come_back),
      cmocka_unit_test(what_the_objects_do_not_hold_is_refused),
      cmocka_unit_test(wide_integers_are_scaled_anew),
      cmocka_unit_test(equal_contents_are_equal_files),
      cmocka_unit_test(other_contents_are_other_instances),
      cmocka_unit_test(failing_allocations_are_reported),
  };
  char dir[256];

  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/x.dcm", dir);
  (void)snprintf(out, sizeof out, "%s/out.dcm", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
