/* muse_expat_test.c - exports of MUSE put together here: samples, scales, times, leads that follow
 * from I and II, and what is refused. */
#include "base/weir_log.h"
#include "io/muse/muse_priv.h"
#include "support/io/io_test.h"

static char path[512];
static char file[1 << 13];

/* Samples 1, -2 and 258, and 4, 4 and -3, low byte first. */
#define ONE "AQD+/wIB"
#define TWO "BAAEAP3/"
#define DATA(id, scale, units, more, samples)                                                \
  "<LeadData><LeadSampleCountTotal>3</LeadSampleCountTotal><LeadAmplitudeUnitsPerBit>" scale \
  "</LeadAmplitudeUnitsPerBit><LeadAmplitudeUnits>" units "</LeadAmplitudeUnits><LeadID>" id \
  "</LeadID><LeadSampleSize>2</LeadSampleSize>" more "<WaveFormData>\n " samples             \
  "\n</WaveFormData></LeadData>\n"
#define LEAD(id, samples) DATA(id, "4.88", "MICROVOLTS", "", samples)
#define WAVEFORM(kind, n, base, exponent, leads)                                 \
  "<Waveform><WaveformType>" kind "</WaveformType><NumberofLeads>" n             \
  "</NumberofLeads><SampleType>CONTINUOUS_SAMPLES</SampleType><SampleBase>" base \
  "</SampleBase><SampleExponent>" exponent "</SampleExponent>\n" leads "</Waveform>\n"
#define RHYTHM(n, leads) WAVEFORM("Rhythm", n, "500", "0", leads)

static void write_file(const char *date, const char *body)
{
  (void)snprintf(file, sizeof file,
                 "<?xml version=\"1.0\"?>\n<!DOCTYPE RestingECG SYSTEM \"restecg.dtd\">\n"
                 "<RestingECG>\n<TestDemographics>%s</TestDemographics>\n%s</RestingECG>\n",
                 date, body);
  write_text(path, file);
}

#define DATE \
  "<AcquisitionTime>10:15:30</AcquisitionTime><AcquisitionDate>02-29-2024</AcquisitionDate>"

static void the_rhythm_is_read_and_median_beats_are_not(void **state)
{
  static const int32_t want[] = {1, -2, 258};
  weir_record *r = NULL;
  weir_record_events e;
  int64_t us = 0;
  int32_t raw[3];
  float v[3];

  weir_log_set_level(WEIR_LOG_ERROR);
  write_file(DATE, "<QRSTimesTypes><QRS><Number>1</Number><Type>1</Type><Time>614</Time></QRS>"
                   "</QRSTimesTypes>" WAVEFORM("Median", "1", "250", "0", LEAD("I", TWO)) WAVEFORM(
                       "Rhythm", "2", "5", "2",
                       DATA("AVR", "2.5", "MICROVOLTS", "<LeadDataCRC32>3884873067</LeadDataCRC32>",
                            ONE) DATA("V1", "0.5", "MILLIVOLTS", "", TWO)));
  assert_ok(weir_record_open(path, NULL, &r));
  weir_log_set_level(WEIR_LOG_INFO);
  assert_int_equal(weir_record_signals(r), 2);
  assert_string_equal(weir_record_signal(r, 0)->name, "aVR");
  assert_string_equal(weir_record_signal(r, 1)->units, "mV");
  assert_int_equal(weir_record_signal(r, 0)->fs_num, 500);
  assert_int_equal(weir_record_start(r, &us), 2);
  assert_int_equal(us, INT64_C(1709201730000000));
  assert_ok(weir_record_read_raw(r, 0, 0, 3, raw, NULL));
  assert_ok(weir_record_read(r, 0, 0, 3, v, NULL));
  for (int i = 0; i < 3; i++) {
    assert_int_equal(raw[i], want[i]);
    assert_near(v[i], 2.5 * want[i], 1e-6);
  }
  assert_ok(weir_record_events_read(r, &e));
  assert_int_equal(e.count, 1);
  assert_int_equal(e.items[0].time, 614000000);
  assert_string_equal(e.items[0].text, "QRS type 1");
  weir_record_events_fini(&e);
  weir_record_close(&r);
}

static void limb_leads_follow_from_two_without_rounding(void **state)
{
  static const struct {
    const char *name;
    double x[3];
  } want[] = {{"I", {1, -2, 258}},         {"II", {4, 4, -3}},       {"III", {3, 6, -261}},
              {"aVR", {-2.5, -1, -127.5}}, {"aVL", {-1, -4, 259.5}}, {"aVF", {3.5, 5, -132}}};
  const weir_record_opts opts = {.derived_leads = 1};
  weir_record *r = NULL;
  float v[3];

  write_file("", RHYTHM("2", LEAD("I", ONE) LEAD("II", TWO)));
  assert_ok(weir_record_open(path, &opts, &r));
  assert_int_equal(weir_record_signals(r), 6);
  for (int k = 0; k < 6; k++) {
    assert_string_equal(weir_record_signal(r, k)->name, want[k].name);
    assert_int_equal(weir_record_signal(r, k)->transducer != NULL, k >= 2);
    assert_ok(weir_record_read(r, k, 0, 3, v, NULL));
    for (int i = 0; i < 3; i++) {
      assert_near(v[i], 4.88 * want[k].x[i], 1e-4);
    }
  }
  weir_record_close(&r);
}

/* Leads that are there stay as they are, and without I and II of one scale none is computed. */
static void leads_are_computed_only_from_two_that_agree(void **state)
{
  const weir_record_opts opts = {.derived_leads = 1};
  weir_record *r = NULL;

  write_file("", RHYTHM("3", LEAD("I", ONE) LEAD("II", TWO) LEAD("III", TWO)));
  assert_ok(weir_record_open(path, &opts, &r));
  assert_int_equal(weir_record_signals(r), 6);
  assert_null(weir_record_signal(r, 2)->transducer);
  weir_record_close(&r);
  weir_log_set_level(WEIR_LOG_ERROR);
  write_file("", RHYTHM("2", LEAD("I", ONE) DATA("II", "5", "MICROVOLTS", "", TWO)));
  assert_ok(weir_record_open(path, &opts, &r));
  assert_int_equal(weir_record_signals(r), 2);
  weir_record_close(&r);
  weir_log_set_level(WEIR_LOG_INFO);
}

static void checksums_are_those_of_ieee_802_3(void **state)
{
  assert_int_equal(weir_muse_crc32((const uint8_t *)"123456789", 9), 0xcbf43926);
}

static void what_is_not_understood_is_refused_with_its_line(void **state)
{
#define WITH(more) RHYTHM("1", DATA("I", "1", "MICROVOLTS", more, ONE))
#define TENS "0000000000"
  static const struct {
    const char *date, *body, *reason;
  } cases[] = {
      {"", "", "no Waveform of type Rhythm"},
      {"<AcquisitionDate>2024-02-29</AcquisitionDate>", "", "x.xml:4: AcquisitionDate and"},
      {"<AcquisitionDate>29-02-2024</AcquisitionDate><AcquisitionTime>10:15:30</AcquisitionTime>",
       "", "expected MM-DD-YYYY"},
      {"", WAVEFORM("Loop", "1", "500", "0", LEAD("I", ONE)), "WaveformType 'Loop'"},
      {"", RHYTHM("1", LEAD("I", ONE)) RHYTHM("1", LEAD("V1", ONE)), "or Rhythm once"},
      {"", RHYTHM("2", LEAD("I", ONE)), "NumberofLeads is 2, and the waveform has 1"},
      {"", RHYTHM("2", LEAD("I", ONE) LEAD("I", ONE)), "lead I stands twice"},
      {"", WAVEFORM("Rhythm", "1", "0", "0", LEAD("I", ONE)), "SampleBase '0'"},
      {"", WAVEFORM("Rhythm", "1", "500", "9", LEAD("I", ONE)), "SampleExponent '9'"},
      {"", RHYTHM("1", DATA("I", "0", "MICROVOLTS", "", ONE)), "LeadAmplitudeUnitsPerBit '0'"},
      {"", RHYTHM("1", DATA("I", "1", "AMPERES", "", ONE)), "LeadAmplitudeUnits 'AMPERES'"},
      {"", RHYTHM("1", LEAD("I", "AQD+/w==")), "has 2 samples, and LeadSampleCountTotal is 3"},
      {"", RHYTHM("1", LEAD("I", "AQD+/wI=")), "x.xml:8: WaveFormData is no base64"},
      {"", RHYTHM("1", LEAD("I", "AQD+_wIB")), "is no base64"},
      {"", RHYTHM("1", LEAD("I", "AQ=+/wIB")), "is no base64"},
      {"", RHYTHM("1", LEAD("I", "AQD+/wIB========")), "is no base64"},
      {"", WITH("<LeadSampleSize>4</LeadSampleSize>"), "LeadSampleSize is '4'"},
      {"", WITH("<LeadSampleSize>4</LeadSampleSize><LeadTimeOffset>1</LeadTimeOffset>"),
       "LeadSampleSize is '4'"},
      {"", WITH("<LeadByteCountTotal>5</LeadByteCountTotal>"), "6 bytes, and LeadByteCountTotal"},
      {"", WITH("<LeadDataCRC32>" TENS TENS TENS TENS TENS "</LeadDataCRC32>"),
       "'00000000000000000000...' has 50 characters: expected up to 47"},
      {"", WITH("<LeadDataCRC32>7</LeadDataCRC32>"), "CRC-32 3884873067, and LeadDataCRC32 is 7"},
      {"", WITH("<LeadTimeOffset>1</LeadTimeOffset>"), "LeadTimeOffset is '1': only 0"},
      {"", WITH("<LeadOffsetFirstSample>1</LeadOffsetFirstSample>"), "LeadOffsetFirstSample is"},
      {"", WITH("<FirstSampleBaseline>9</FirstSampleBaseline>"), "FirstSampleBaseline is '9'"},
      {"", "<QRSTimesTypes><QRS><Type>0</Type><Time>x</Time></QRS></QRSTimesTypes>",
       "Time of a QRS 'x'"},
  };

  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    weir_record *r = NULL;
    const int64_t before = weir_alloc_bytes();

    write_file(cases[k].date, cases[k].body);
    assert_int_equal(weir_record_open(path, NULL, &r), WEIR_ERR_DATA);
    if (strstr(weir_last_message(), cases[k].reason) == NULL) {
      fail_msg("%d: %s", (int)k, weir_last_message());
    }
    assert_int_equal(weir_alloc_bytes(), before);
  }
  write_text(path, "<!DOCTYPE RestingECG [<!ENTITY a \"1\">]><RestingECG>&a;</RestingECG>");
  weir_record *r = NULL;

  assert_int_equal(weir_record_open(path, NULL, &r), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "a document type is declared"));
}

static void failing_allocations_are_reported(void **state)
{
  const weir_record_opts opts = {.derived_leads = 1};
  const int64_t before = weir_alloc_bytes();
  weir_status status = WEIR_ERR_MEMORY;

  write_file(DATE, RHYTHM("2", LEAD("I", ONE) LEAD("II", TWO)));
  for (int64_t k = 1; status != WEIR_OK; k++) {
    weir_record *r = NULL;

    weir_alloc_fail_after(k);
    status = weir_record_open(path, &opts, &r);
    weir_alloc_fail_after(0);
    assert_true(status == WEIR_OK || status == WEIR_ERR_MEMORY);
    weir_record_close(&r);
    assert_int_equal(weir_alloc_bytes(), before);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_rhythm_is_read_and_median_beats_are_not),
      cmocka_unit_test(limb_leads_follow_from_two_without_rounding),
      cmocka_unit_test(leads_are_computed_only_from_two_that_agree),
      cmocka_unit_test(checksums_are_those_of_ieee_802_3),
      cmocka_unit_test(what_is_not_understood_is_refused_with_its_line),
      cmocka_unit_test(failing_allocations_are_reported),
  };
  char dir[256];

  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/x.xml", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
