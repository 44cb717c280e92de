/* dicom_dcmtk_test.c - DICOM waveforms put together here, in every encoding: values, rates, times,
 * missing samples, annotations, and what is refused. */
#include "io/dicom/dicom_priv.h"
#include "support/io/dicom_objects.h"

/* value = sample * sensitivity * correction + baseline, PS3.3 C.10.9.1.4. */
static void values_are_those_of_the_formula_in_every_encoding(void **state)
{
  static const weir_dicom_syntax all[] = {WEIR_DICOM_IMPLICIT, WEIR_DICOM_EXPLICIT,
                                          WEIR_DICOM_BIG_ENDIAN};
  const channel both[] = {lead_ii, {"2:62", NULL, "-0.001", "1", NULL, "mV", "0"}};

  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
    int64_t us = 0;
    int32_t raw[10];
    float v[2][10];
    uint8_t p[10];

    one_group(all[k], &plain, both);
    weir_record *r = opened();

    assert_int_equal(weir_record_signals(r), 2);
    assert_string_equal(weir_record_name(r), "x");
    assert_string_equal(weir_record_signal(r, 0)->name, "II");
    assert_string_equal(weir_record_signal(r, 0)->units, "uV");
    assert_string_equal(weir_record_signal(r, 1)->name, "aVR");
    assert_string_equal(weir_record_signal(r, 1)->units, "mV");
    assert_string_equal(weir_record_signal(r, 0)->prefilter, "HP:0.05Hz LP:150Hz");
    assert_int_equal(weir_record_signal(r, 0)->fs_num, 500);
    assert_int_equal(weir_record_signal(r, 0)->count, 10);
    assert_int_equal(weir_record_start(r, &us), 2);
    assert_int_equal(us, INT64_C(1709201700250000)); /* 2024-02-29 10:15:00.25 */
    assert_ok(weir_record_read_raw(r, 0, 0, 10, raw, p));
    for (int i = 0; i < 2; i++) {
      assert_ok(weir_record_read(r, i, 0, 10, v[i], NULL));
    }
    for (int i = 0; i < 10; i++) {
      assert_int_equal(p[i], 1);
      assert_int_equal(raw[i], 2 * i - 5);
      assert_near(v[0][i], (2 * i - 5) * 2.5 * 1.01 + 10, 1e-5);
      assert_near(v[1][i], -(2 * i - 4) * 0.001, 1e-9);
    }
    assert_run(r, 0, 3, 3, 10);
    weir_record_close(&r);
  }
}

static void sample_types_and_padding(void **state)
{
  static const group groups[] = {
      {"ORIGINAL", "SB", "100", NULL, 1, 9, 8, -4, 2},
      {"ORIGINAL", "UB", "100", NULL, 1, 9, 8, 250 - 4, 250},
      {"ORIGINAL", "SS", "100", NULL, 1, 9, 16, -32768, -32768},
      {"ORIGINAL", "US", "100", NULL, 1, 9, 16, 65535 - 8, 65535},
      {"ORIGINAL", "SL", "100", NULL, 1, 9, 32, -70000, -69998},
  };

  for (size_t k = 0; k < sizeof groups / sizeof groups[0]; k++) {
    const group *const g = &groups[k];
    int32_t raw[9];
    uint8_t p[9];

    one_group(WEIR_DICOM_EXPLICIT, g, &lead_ii);
    weir_record *r = opened();

    assert_ok(weir_record_read_raw(r, 0, 0, 9, raw, p));
    assert_int_equal(weir_record_signal(r, 0)->bits, g->bits);
    assert_int_equal(weir_record_signal(r, 0)->has_invalid, 1);
    assert_int_equal(weir_record_signal(r, 0)->invalid, g->padding);
    for (int i = 0; i < 9; i++) {
      assert_int_equal(raw[i], g->first + i);
      assert_int_equal(p[i], raw[i] != g->padding);
    }
    weir_record_close(&r);
  }
}

/* Two rates, an offset in time, a skew, a median beat, and a lead twice. */
static void groups_have_their_own_rates_and_begins(void **state)
{
  static const group groups[] = {
      {"ORIGINAL", "SS", "500", "0", 1, 20, 16, 0, 0},
      {"DERIVED", "SS", "1000", NULL, 1, 5, 16, 0, 0},
      {"ORIGINAL", "SS", "62.5", "32", 1, 4, 16, 0, 0},
      {"ORIGINAL", "SS", "500", "0", 1, 20, 16, 0, 0},
  };
  const channel skewed = {"2:3", NULL, "1", "1", NULL, "uV", "3"};
  const channel pressure = {"2:4", "ART", "0.5", "1", NULL, "mm[Hg]", NULL};
  uint8_t p[60];
  float v[60];

  start(WEIR_DICOM_EXPLICIT);
  dicom_begin(&file, 0x5400, 0x0100);
  add_group(&groups[0], &lead_ii);
  add_group(&groups[1], &lead_ii);
  add_group(&groups[2], &pressure);
  add_group(&groups[3], &lead_ii);
  add_group(&groups[3], &skewed);
  dicom_end(&file);
  weir_record *r = opened();

  assert_int_equal(weir_record_signals(r), 4);
  assert_string_equal(weir_record_signal(r, 1)->name, "ART");
  assert_string_equal(weir_record_signal(r, 1)->units, "mmHg");
  assert_string_equal(weir_record_signal(r, 2)->name, "II_4");
  assert_int_equal(weir_record_signal(r, 1)->fs_num, 125);
  assert_int_equal(weir_record_signal(r, 1)->fs_den, 2);
  assert_int_equal(weir_record_signal(r, 0)->count, 48); /* 32 ms and 4 samples of 16 ms */
  assert_int_equal(weir_record_signal(r, 1)->count, 6);
  assert_run(r, 0, 0, 0, 20);
  assert_run(r, 1, 0, 2, 6);
  assert_run(r, 3, 0, 3, 23);
  assert_ok(weir_record_read(r, 1, 0, 6, v, p));
  for (int i = 0; i < 6; i++) {
    assert_int_equal(p[i], i >= 2);
    assert_near(v[i], i >= 2 ? 0.5 * (i - 2) : 0, 1e-9);
  }
  weir_record_close(&r);
}

static void names_are_those_of_one_signal(void **state)
{
  static const char *const want[] = {"II", "II_1", "II_2", "II_3"};
  const channel named = {"2:1", "II_2", "1", "1", NULL, "uV", NULL};
  const group three = {"ORIGINAL", "SS", "500", NULL, 3, 4, 16, 0, 0};
  const group one = {"ORIGINAL", "SS", "500", NULL, 1, 4, 16, 0, 0};

  start(WEIR_DICOM_EXPLICIT);
  dicom_begin(&file, 0x5400, 0x0100);
  add_group(&three, (const channel[]){lead_ii, lead_ii, named});
  add_group(&one, &lead_ii);
  dicom_end(&file);
  weir_record *r = opened();

  assert_int_equal(weir_record_signals(r), 4);
  for (int i = 0; i < 4; i++) {
    assert_string_equal(weir_record_signal(r, i)->name, want[i]);
  }
  weir_record_close(&r);
}

static void what_is_not_stated_stays_unknown(void **state)
{
  static const struct {
    channel c;
    const char *unit;
    double gain;
  } cases[] = {
      {{"2:1", NULL, NULL, NULL, "5", NULL, NULL}, "NU", 1}, /* arbitrary units */
      {{"2:1", NULL, "2", "1", NULL, NULL, NULL}, "NU", 0.5},
      {{"2:1", NULL, "2", NULL, NULL, "uV", NULL}, "NU", 0.5},
      {{"2:1", NULL, "2", "1", NULL, "{arb}", NULL}, "NU", 0.5},
      {{"2:1", NULL, "2", "1", NULL, "mV", NULL}, "mV", 0.5},
  };
  const group one = {"ORIGINAL", "SS", "500", NULL, 1, 10, 16, 0, 0};

  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    one_group(WEIR_DICOM_EXPLICIT, &one, &cases[k].c);
    weir_record *r = opened();

    assert_string_equal(weir_record_signal(r, 0)->units, cases[k].unit);
    assert_near(weir_record_signal(r, 0)->gain, cases[k].gain, 0);
    assert_near(weir_record_signal(r, 0)->baseline, 0, 0);
    weir_record_close(&r);
  }
}

static void annotations_are_events(void **state)
{
  static const int32_t places[] = {1, 6, 4, 9};
  static const struct {
    const char *text;
    double time, duration; /* s */
  } want[] = {{"QRS", 0.1, -1e-9},
              {"QRS", 0.11, -1e-9},
              {"P wave", 0.1, 0.01},
              {"noise", 0.106, 0.010},
              {"K\xc3\xb6rper", 0.35, 0.5}};
  const group late = {"ORIGINAL", "SS", "500", "100", 1, 10, 16, 0, 0};
  weir_record_events e = {0};

  start(WEIR_DICOM_EXPLICIT);
  dicom_begin(&file, 0x0040, 0xb020);
  add_note("ECG NORMAL", NULL, NULL, 1, NULL, 0, NULL); /* no time: left out */
  add_note(NULL, "QRS", "MULTIPOINT", 2, places, 2, NULL);
  add_note(NULL, "P wave", "SEGMENT", 2, places, 2, NULL);
  add_note("noise", NULL, "MULTISEGMENT", 2, places + 2, 2, NULL);
  add_note("K\xf6rper", NULL, "SEGMENT", 2, NULL, 0, "0.25\\0.75");
  add_note("x", NULL, "POINT", 3, places, 1, NULL); /* no such group: left out */
  dicom_end(&file);
  dicom_begin(&file, 0x5400, 0x0100);
  add_group(&plain, (const channel[]){lead_ii, lead_ii});
  add_group(&late, &lead_ii);
  dicom_end(&file);
  weir_record *r = opened();

  assert_ok(weir_record_events_read(r, &e));
  assert_int_equal(e.count, 5);
  for (int k = 0; k < 5; k++) {
    assert_string_equal(e.items[k].text, want[k].text);
    assert_near((double)e.items[k].time, want[k].time * 1e9, 1);
    assert_near((double)e.items[k].duration, want[k].duration * 1e9, 1);
  }
  weir_record_events_fini(&e);
  weir_record_close(&r);
}

static void groups_that_are_not_understood_are_refused(void **state)
{
  static const struct {
    group g;
    channel c;
    weir_status status;
    const char *reason;
  } cases[] = {
      {{"ORIGINAL", "MB", "500", NULL, 1, 4, 8, 0, 0},
       {.code = "2:1"},
       WEIR_ERR_UNSUPPORTED,
       "mu-law"},
      {{"ORIGINAL", "AB", "500", NULL, 1, 4, 8, 0, 0},
       {.code = "2:1"},
       WEIR_ERR_UNSUPPORTED,
       "A-law"},
      {{"ORIGINAL", "UL", "500", NULL, 1, 4, 32, 0, 0},
       {.code = "2:1"},
       WEIR_ERR_UNSUPPORTED,
       "type 'UL'"},
      {{"ORIGINAL", "SS", "500", NULL, 1, 4, 8, 0, 0},
       {.code = "2:1"},
       WEIR_ERR_UNSUPPORTED,
       "in 8 bits"},
      {{"ORIGINAL", "SS", "0", NULL, 1, 4, 16, 0, 0},
       {.code = "2:1"},
       WEIR_ERR_DATA,
       "frequency is '0'"},
      {{"ORIGINAL", "SS", "x", NULL, 1, 4, 16, 0, 0},
       {.code = "2:1"},
       WEIR_ERR_DATA,
       "frequency is 'x'"},
      {{"ORIGINAL", "SS", "500", "x", 1, 4, 16, 0, 0},
       {.code = "2:1"},
       WEIR_ERR_DATA,
       "offset is 'x'"},
      {{"ORIGINAL", "SS", "500", NULL, 0, 4, 16, 0, 0},
       {.code = "2:1"},
       WEIR_ERR_DATA,
       "0 channels"},
      {{"ORIGINAL", "SS", "500", NULL, 1, 0, 16, 0, 0},
       {.code = "2:1"},
       WEIR_ERR_DATA,
       "of 0 samples"},
      {{"DERIVED", "SS", "500", NULL, 1, 4, 16, 0, 0},
       {.code = "2:1"},
       WEIR_ERR_DATA,
       "no multiplex group"},
      {{"ORIGINAL", "SS", "500", NULL, 1, 4, 16, 0, 0},
       {"2:1", NULL, "0", "1", NULL, "uV", NULL},
       WEIR_ERR_DATA,
       "channel I: sensitivity '0'"},
      {{"ORIGINAL", "SS", "500", NULL, 1, 4, 16, 0, 0},
       {"2:1", NULL, "1", "y", NULL, "uV", NULL},
       WEIR_ERR_DATA,
       "correction factor 'y'"},
      {{"ORIGINAL", "SS", "500", NULL, 1, 4, 16, 0, 0},
       {"2:1", NULL, "1", "1", NULL, "uV", "1e99"},
       WEIR_ERR_DATA,
       "skew '1e99'"},
  };

  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    one_group(WEIR_DICOM_EXPLICIT, &cases[k].g, &cases[k].c);
    assert_refused(cases[k].status, cases[k].reason);
  }
}

/* Sample positions are those of the channel, which begins 3 samples later than its group. */
static void positions_count_from_the_begin_of_their_channel(void **state)
{
  static const int32_t places[] = {1, 6};
  static const double times[] = {0.006, 0.016, 0, 0.25}; /* s */
  const channel late = {"2:3", NULL, "1", "1", NULL, "uV", "3"};
  weir_record_events e = {0};

  one_group(WEIR_DICOM_EXPLICIT, &plain, (const channel[]){lead_ii, late});
  dicom_begin(&file, 0x0040, 0xb020);
  add_note_to(2, "QRS", NULL, "MULTIPOINT", 1, places, 2, NULL);
  add_note_to(1, "QRS", NULL, "POINT", 1, places, 1, NULL);
  add_note_to(2, "QRS", NULL, "POINT", 1, NULL, 0, "0.25");
  add_note_to(3, "x", NULL, "POINT", 1, places, 1, NULL); /* no such channel: left out */
  dicom_end(&file);
  weir_record *r = opened();

  assert_ok(weir_record_events_read(r, &e));
  assert_int_equal(e.count, 4);
  for (int k = 0; k < 4; k++) {
    assert_near((double)e.items[k].time, times[k] * 1e9, 1);
  }
  weir_record_events_fini(&e);
  weir_record_close(&r);
}

static void many_time_offsets_are_read(void **state)
{
  static char offsets[10001];
  weir_record_events e = {0};

  for (int i = 0; i < 10000; i += 2) {
    memcpy(offsets + i, "1\\", 2);
  }
  offsets[9999] = ' ';
  for (int k = 0; k < 2; k++) {
    one_group(WEIR_DICOM_EXPLICIT, &plain, (const channel[]){lead_ii, lead_ii});
    dicom_begin(&file, 0x0040, 0xb020);
    add_note("beat", NULL, "MULTIPOINT", 1, NULL, 0, offsets);
    dicom_end(&file);
    if (k == 0) {
      weir_record *r = opened();

      assert_ok(weir_record_events_read(r, &e));
      assert_int_equal(e.count, 5000);
      weir_record_events_fini(&e);
      weir_record_close(&r);
      offsets[5000] = 'x';
    } else {
      assert_refused(WEIR_ERR_DATA, "annotation 'beat': its time offsets are not numbers");
    }
  }
}

/* A private sequence of type UN, whose items have implicit types (PS3.5, 6.2.2). */
static void sequences_of_unknown_type_are_passed_over(void **state)
{
  start(WEIR_DICOM_EXPLICIT);
  dicom_head(&file, 0x0011, 0x1001, "UN", -1);
  dicom_item(&file);
  file.syntax = WEIR_DICOM_IMPLICIT;
  dicom_text(&file, 0x0008, 0x0104, "LO", "private");
  file.syntax = WEIR_DICOM_EXPLICIT;
  dicom_item_end(&file);
  dicom_end(&file);
  dicom_begin(&file, 0x5400, 0x0100);
  add_group(&plain, (const channel[]){lead_ii, lead_ii});
  dicom_end(&file);
  weir_record *r = opened();

  assert_int_equal(weir_record_signals(r), 2);
  weir_record_close(&r);
}

/* Timezone Offset From UTC is that of a time that states none. */
static void offsets_from_utc_are_kept(void **state)
{
  static const struct {
    const char *time, *zone;
    int minutes; /* 1: unknown */
  } cases[] = {{"20240229101500-0930", "+0100", -570},
               {"20240229101500", "+0545", 345},
               {"20240229101500", NULL, 1},
               {"20240229101500", "UTC", 1},
               {"2024", "+0100", 1}};

  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    int minutes = 0;

    dicom_start(&file, WEIR_DICOM_EXPLICIT, GENERAL_ECG);
    dicom_text(&file, 0x0008, 0x002a, "DT", cases[k].time);
    text_unless_null(0x0008, 0x0201, "SH", cases[k].zone);
    dicom_begin(&file, 0x5400, 0x0100);
    add_group(&plain, (const channel[]){lead_ii, lead_ii});
    dicom_end(&file);
    weir_record *r = opened();

    assert_int_equal(weir_record_utc_offset(r, &minutes), cases[k].minutes != 1);
    assert_int_equal(minutes, cases[k].minutes != 1 ? cases[k].minutes : 0);
    weir_record_close(&r);
  }
}

static void files_without_a_suffix_are_told_by_their_first_bytes(void **state)
{
  static const char *const names[] = {"IM_0001", "1.2.840.113619.2.1"};
  const channel both[] = {lead_ii, lead_ii};
  char bare[600];
  weir_record *r = NULL;

  for (int k = 0; k < 2; k++) {
    (void)snprintf(bare, sizeof bare, "%.*s%s", (int)strlen(path) - 5, path, names[k]);
    one_group(WEIR_DICOM_EXPLICIT, &plain, both);
    dicom_write(&file, bare);
    assert_ok(weir_record_open(bare, NULL, &r));
    assert_int_equal(weir_record_signals(r), 2);
    assert_string_equal(weir_record_name(r), names[k]);
    weir_record_close(&r);
    remove(bare);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_those_of_the_formula_in_every_encoding),
      cmocka_unit_test(sample_types_and_padding),
      cmocka_unit_test(groups_have_their_own_rates_and_begins),
      cmocka_unit_test(names_are_those_of_one_signal),
      cmocka_unit_test(what_is_not_stated_stays_unknown),
      cmocka_unit_test(annotations_are_events),
      cmocka_unit_test(groups_that_are_not_understood_are_refused),
      cmocka_unit_test(positions_count_from_the_begin_of_their_channel),
      cmocka_unit_test(many_time_offsets_are_read),
      cmocka_unit_test(sequences_of_unknown_type_are_passed_over),
      cmocka_unit_test(offsets_from_utc_are_kept),
      cmocka_unit_test(files_without_a_suffix_are_told_by_their_first_bytes),
  };
  char dir[256];

  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/x.dcm", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
