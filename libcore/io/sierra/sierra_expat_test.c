/* sierra_expat_test.c - resting ECGs of Philips put together here: samples of
 * tests/support/physio_stream/ecg_exports.py, names, scales, times, and what is refused. */
#include "base/weir_log.h"
#include "io/sierra/sierra_priv.h"
#include "support/io/io_test.h"

/* Four samples of I, II, III, aVR, aVL, aVF and V1. */
#define SAMPLES                                                                                    \
  "CgAAAAEABwAAEAAAAQDDIQP/CgAAAAEA/f8AEAAAAgCFAQP/CAAAAAEAAAAAEAQEQBA/8AkAAAABAAIAABAEAAEPxA/8\n" \
  "CAAAAAEA//8AEAQEQhA/8AoAAAABAP//P8/wAABABAED/woAAAABAAAAABAAAGQZBAED/w=="
#define LABELS "leadlabels=\"I II III aVR aVL aVF V1 \" numberofleads=\"7\""
#define FORM                                                                                   \
  "dataencoding=\"Base64\" compression=\"XLI\" durationperchannel=\"8\" bitspersample=\"16\" " \
  "signalsigned=\"True\""

static char path[512];
static char file[1 << 13];

static void write_file(const char *version, const char *when, const char *signal,
                       const char *attributes, const char *text)
{
  (void)snprintf(
      file, sizeof file,
      "<?xml version=\"1.0\"?>\n<restingecgdata xmlns=\"http://www3.medical.philips.com\">\n"
      "<documentinfo><documenttype>PhilipsECG</documenttype><documentversion>%s</documentversion>"
      "</documentinfo>\n<dataacquisition %s><signalcharacteristics>%s</signalcharacteristics>"
      "</dataacquisition>\n<pacepulses><pacepulse starttime=\"4\"/><pacepulse "
      "starttime=\"Unknown\"/></pacepulses>\n<waveforms>\n<parsedwaveforms %s>%s</parsedwaveforms>"
      "</waveforms></restingecgdata>\n",
      version, when, signal, attributes, text);
  write_text(path, file);
}

#define WHEN "date=\"2024-02-29\" time=\"10:15:00.5\""
#define RATE "<samplingrate>500</samplingrate>"

static void attributes_of_samples_stand_for_those_of_the_acquisition(void **state)
{
  static const float want[7][4] = {{1, 3, -2, 7},       {2, 2, 5, -8},  {1, -1, 7, -15},
                                   {-1, -3, -1, 0},     {0, 2, -5, 11}, {2, 1, 6, -12},
                                   {100, 100, 100, 100}};
  static const char *const names[] = {"I", "II", "III", "aVR", "aVL", "aVF", "V1"};
  weir_record *r = NULL;
  weir_record_events e;
  int64_t us = 0;
  float v[4];

  write_file("1.04.01", WHEN, RATE "<resolution>1</resolution><signaloffset>9</signaloffset>",
             FORM " " LABELS " samplespersecond=\"500\" resolution=\"2.5\" signaloffset=\"2\"",
             SAMPLES);
  assert_ok(weir_record_open(path, NULL, &r));
  assert_int_equal(weir_record_signals(r), 7);
  assert_int_equal(weir_record_start(r, &us), 2);
  assert_int_equal(us, INT64_C(1709201700500000));
  for (int k = 0; k < 7; k++) {
    assert_string_equal(weir_record_signal(r, k)->name, names[k]);
    assert_string_equal(weir_record_signal(r, k)->units, "uV");
    assert_int_equal(weir_record_signal(r, k)->fs_num, 500);
    assert_ok(weir_record_read(r, k, 0, 4, v, NULL));
    for (int i = 0; i < 4; i++) {
      assert_near(v[i], 2.5 * ((double)want[k][i] - 2), 1e-6);
    }
  }
  assert_ok(weir_record_events_read(r, &e));
  assert_int_equal(e.count, 1);
  assert_int_equal(e.items[0].time, 4000000);
  assert_string_equal(e.items[0].text, "pace pulse");
  weir_record_events_fini(&e);
  weir_record_close(&r);
}

#define STANDARD                                                                         \
  RATE "<signalresolution>5</signalresolution><acquisitiontype>STD-12</acquisitiontype>" \
       "<numberchannelsallocated>6</numberchannelsallocated><signalsigned>True</signalsigned>"

static void leads_of_1_03_are_the_standard_ones(void **state)
{
  weir_record *r = NULL;
  int64_t us = 0;

  weir_log_set_level(WEIR_LOG_ERROR);
  write_file("1.03", "", STANDARD,
             "dataencoding=\"Base64\" compressmethod=\"XLI\" durationperchannel=\"8\" "
             "nbitspersample=\"16\"",
             SAMPLES);
  assert_ok(weir_record_open(path, NULL, &r));
  assert_int_equal(weir_record_signals(r), 6);
  assert_string_equal(weir_record_signal(r, 5)->name, "aVF");
  assert_int_equal(weir_record_start(r, &us), 0);
  weir_record_close(&r);
  weir_log_set_level(WEIR_LOG_INFO);
}

static void what_is_not_documented_is_refused_with_its_line(void **state)
{
#define GOOD RATE "<resolution>5</resolution>"
  static const struct {
    const char *version, *when, *signal, *attributes, *text, *reason;
  } cases[] = {
      {"2.0", WHEN, GOOD, FORM " " LABELS, SAMPLES, "x.xml:8: document 'PhilipsECG' of version"},
      {"1.04", "date=\"29.2.2024\"", GOOD, FORM " " LABELS, SAMPLES, "x.xml:4: date and time"},
      {"1.04", "date=\"2023-02-29\" time=\"10:00:00\"", GOOD, FORM " " LABELS, SAMPLES, "date and"},
      {"1.04", "date=\"2024-02-29\" time=\"10:00:00Z\"", GOOD, FORM " " LABELS, SAMPLES, "date"},
      {"1.04", WHEN, GOOD, LABELS, SAMPLES, "dataencoding is ''"},
      {"1.04", WHEN, GOOD, "dataencoding=\"Base64\" " LABELS, SAMPLES, "the compression is ''"},
      {"1.04", WHEN, GOOD, "dataencoding=\"Base64\" compression=\"XLI\" " LABELS, SAMPLES,
       "samples of '' bits"},
      {"1.04", WHEN, GOOD, FORM " compressflag=\"False\" " LABELS, SAMPLES,
       "compressflag is 'False'"},
      {"1.04", WHEN, GOOD, FORM, SAMPLES, "'' leads: expected 6"},
      {"1.04", WHEN, GOOD, FORM " numberofleads=\"6\" leadlabels=\"I II III aVR aVF aVL\"", SAMPLES,
       "begin with I II III aVR aVL aVF"},
      {"1.04", WHEN, GOOD, FORM " numberofleads=\"7\" leadlabels=\"I II III aVR aVL aVF I\"",
       SAMPLES, "each once"},
      {"1.04", WHEN, GOOD,
       FORM " " LABELS " resolution=\"5.0000000000000000000000000000000000000000000000\"", SAMPLES,
       "has 48 characters"},
      {"1.04", WHEN, GOOD, FORM " numberofleads=\"8\" leadlabels=\"I II III aVR aVL aVF V1\"",
       SAMPLES, "8 leads"},
      {"1.04", WHEN, RATE, FORM " " LABELS, SAMPLES, "the resolution is ''"},
      {"1.04", WHEN, "<resolution>5</resolution>", FORM " " LABELS, SAMPLES, "sampling rate is ''"},
      {"1.04", WHEN, GOOD "<signaloffset>x</signaloffset>", FORM " " LABELS, SAMPLES,
       "signaloffset is 'x'"},
      {"1.04", WHEN, "<samplingrate>1e6</samplingrate><resolution>5</resolution>",
       "dataencoding=\"Base64\" compression=\"XLI\" durationperchannel=\"2000000\" "
       "bitspersample=\"16\" signalsigned=\"True\" " LABELS,
       SAMPLES, "expected 2 to 1048576 samples"},
      {"1.04", WHEN, GOOD, FORM " " LABELS, "CgAA*", "is no base64"},
      {"1.04", WHEN, GOOD, FORM " " LABELS, "", "is no base64"},
      {"1.04", WHEN, GOOD, FORM " " LABELS, "CgAAAAEA", "lead I: it ends within the head"},
      {"1.04", WHEN, GOOD, FORM " " LABELS "/><x", "", "no parsedwaveforms"},
  };

  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    weir_record *r = NULL;
    const int64_t before = weir_alloc_bytes();

    if (k + 1 == sizeof cases / sizeof cases[0]) {
      write_text(path, "<restingecgdata/>");
    } else {
      write_file(cases[k].version, cases[k].when, cases[k].signal, cases[k].attributes,
                 cases[k].text);
    }
    assert_int_equal(weir_record_open(path, NULL, &r), WEIR_ERR_DATA);
    if (strstr(weir_last_message(), cases[k].reason) == NULL) {
      fail_msg("%d: %s", (int)k, weir_last_message());
    }
    assert_int_equal(weir_alloc_bytes(), before);
  }
}

static void failing_allocations_are_reported(void **state)
{
  const int64_t before = weir_alloc_bytes();
  weir_status status = WEIR_ERR_MEMORY;

  write_file("1.04", WHEN, GOOD, FORM " " LABELS, SAMPLES);
  for (int64_t k = 1; status != WEIR_OK; k++) {
    weir_record *r = NULL;

    weir_alloc_fail_after(k);
    status = weir_record_open(path, NULL, &r);
    weir_alloc_fail_after(0);
    assert_true(status == WEIR_OK || status == WEIR_ERR_MEMORY);
    weir_record_close(&r);
    assert_int_equal(weir_alloc_bytes(), before);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(attributes_of_samples_stand_for_those_of_the_acquisition),
      cmocka_unit_test(leads_of_1_03_are_the_standard_ones),
      cmocka_unit_test(what_is_not_documented_is_refused_with_its_line),
      cmocka_unit_test(failing_allocations_are_reported),
  };
  char dir[256];

  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/x.xml", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
