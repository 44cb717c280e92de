/* aecg_expat_test.c - annotated ECGs put together here: times, scales, gaps, annotations, and what
 * is refused with its line. */
#include <math.h>
#include "io/aecg/aecg_priv.h"
#include "io/weir_record_convert.h"
#include "support/io/io_test.h"

static char path[512];
static char file[1 << 16];

#define LEAD(code, origin, scale, unit, digits)                                \
  "<component><sequence><code code=\"" code                                    \
  "\"/><value xsi:type=\"SLIST_PQ\"><origin value=\"" origin "\" unit=\"" unit \
  "\"/><scale value=\"" scale "\" unit=\"" unit "\"/><digits>" digits          \
  "</digits></value></sequence></component>\n"
#define TIMES(kind, type, head, increment, unit)                                            \
  "<component><sequence><code code=\"TIME_" kind "\"/><value xsi:type=\"" type              \
  "\"><head value=\"" head "\" unit=\"s\"/><increment value=\"" increment "\" unit=\"" unit \
  "\"/></value></sequence></component>\n"
#define SET(parts) "<component><sequenceSet>\n" parts "</sequenceSet></component>\n"
#define NEXT_SERIES(begin)                                                     \
  "</series></component><component><series><effectiveTime><low value=\"" begin \
  "\"/></effectiveTime>"
#define ABSOLUTE(head) TIMES("ABSOLUTE", "GLIST_TS", head, "0.002", "s")

static void write_file(const char *series)
{
  (void)snprintf(file, sizeof file,
                 "<?xml version=\"1.0\"?>\n<AnnotatedECG xmlns=\"urn:hl7-org:v3\" "
                 "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\n<componentOf>"
                 "<subject><name>Doe</name></subject></componentOf><component><series>\n"
                 "<effectiveTime><low value=\"20040506070809\"/></effectiveTime>\n%s"
                 "</series></component></AnnotatedECG>\n",
                 series);
  write_text(path, file);
}

static weir_record *opened(void)
{
  weir_record *r = NULL;

  weir_log_set_level(WEIR_LOG_ERROR);
  assert_ok(weir_record_open(path, NULL, &r));
  weir_log_set_level(WEIR_LOG_INFO);
  return r;
}

/* Two leads in the first set, one in the second 20 ms later. */
static void sets_are_pieces_of_leads(void **state)
{
  static const int32_t want[] = {1, -2, 3, 0, 0, 0, 0, 0, 0, 0, 7, 8};
  int64_t us = 0;
  int32_t raw[12];
  float v[12];
  uint8_t p[12];

  write_file(
      SET(LEAD("MDC_ECG_LEAD_AVR", "10", "2.5", "uV", "1 -2\n\t3 ") ABSOLUTE("20040506070810.250")
              LEAD("MDC_ECG_LEAD_V1", "0", "-1", "uV", "5 6 7 8"))
          SET(ABSOLUTE("20040506070810.270") LEAD("MDC_ECG_LEAD_AVR", "10", "2.5", "uV", "7 8")));
  weir_record *r = opened();

  assert_int_equal(weir_record_signals(r), 2);
  assert_string_equal(weir_record_signal(r, 0)->name, "aVR");
  assert_string_equal(weir_record_signal(r, 1)->name, "V1");
  assert_string_equal(weir_record_signal(r, 0)->units, "uV");
  assert_int_equal(weir_record_signal(r, 0)->fs_num, 500);
  assert_int_equal(weir_record_signal(r, 0)->count, 12);
  assert_int_equal(weir_record_start(r, &us), 2);
  assert_int_equal(us, INT64_C(1083827290250000)); /* 2004-05-06 07:08:10.25 */
  assert_ok(weir_record_read_raw(r, 0, 0, 12, raw, p));
  assert_ok(weir_record_read(r, 0, 0, 12, v, NULL));
  for (int i = 0; i < 12; i++) {
    assert_int_equal(p[i], i < 3 || i >= 10);
    assert_int_equal(raw[i], want[i]);
    assert_near(v[i], p[i] ? 10 + 2.5 * want[i] : 0, 1e-6);
  }
  assert_run(r, 0, 1, 1, 3);
  assert_run(r, 0, 3, 10, 12);
  assert_run(r, 1, 4, 12, 12);
  const weir_signal_info *const s = weir_record_signal(r, 0);

  assert_near((1 - s->baseline) / s->gain, 12.5, 1e-12);
  weir_record_close(&r);
}

static void relative_times_count_from_the_series(void **state)
{
  int64_t us = 0;

  write_file(SET(TIMES("RELATIVE", "GLIST_PQ", "1.5", "2", "ms") LEAD(
      "MDC_ECG_LEAD_II", "0", "0.005", "mV", "1 2 3")) NEXT_SERIES("20040506070809")
                 SET(TIMES("RELATIVE", "GLIST_PQ", "1.5", "2", "ms")
                         LEAD("MDC_ECG_LEAD_V1", "0", "0.005", "mV", "1 2 3")));
  weir_record *r = opened();

  assert_int_equal(weir_record_start(r, &us), 2);
  assert_int_equal(us, INT64_C(1083827290500000));
  assert_int_equal(weir_record_signals(r), 2);
  assert_int_equal(weir_record_signal(r, 0)->fs_num, 500);
  weir_record_close(&r);
}

static void annotations_are_events_and_derived_series_are_not_read(void **state)
{
  weir_record_events e;

  write_file(SET(ABSOLUTE("20040506070810") LEAD(
      "MDC_ECG_LEAD_I", "0", "5", "uV",
      "1 2 3")) "<subjectOf><annotationSet><component><annotation><code "
                "code=\"MDC_ECG_WAVC\"/><value "
                "xsi:type=\"CE\" "
                "code=\"MDC_ECG_WAVC_PWAVE\"/><support><supportingROI><component><boundary>"
                "<code code=\"TIME_ABSOLUTE\"/><value xsi:type=\"IVL_TS\"><low "
                "value=\"20040506070810.002\"/>"
                "<high "
                "value=\"20040506070810.1\"/></value></boundary></component></supportingROI></"
                "support>"
                "</annotation></component><component><annotation><code "
                "code=\"MDC_ECG_HEART_RATE\"/><value "
                "xsi:type=\"PQ\" value=\"60\" "
                "unit=\"bpm\"/></annotation></component></annotationSet>"
                "</subjectOf><derivation><derivedSeries>" SET(ABSOLUTE("20040506070810") LEAD(
                    "MDC_ECG_LEAD_I", "0", "5", "uV", "9 9")) "</derivedSeries></derivation>");
  weir_record *r = opened();

  assert_int_equal(weir_record_signal(r, 0)->count, 3);
  assert_ok(weir_record_events_read(r, &e));
  assert_int_equal(e.count, 1);
  assert_int_equal(e.items[0].time, 2000000);
  assert_int_equal(e.items[0].duration, 98000000);
  assert_string_equal(e.items[0].text, "MDC_ECG_WAVC MDC_ECG_WAVC_PWAVE");
  weir_record_events_fini(&e);
  weir_record_close(&r);
}

#define NOTE(code, boundaries, inner)                                                   \
  "<component><annotation><code code=\"" code "\"/><support><supportingROI>" boundaries \
  "</supportingROI></support>" inner "</annotation></component>"
#define REGION(low)                                                             \
  "<component><boundary><code code=\"TIME_ABSOLUTE\"/><value><low value=\"" low \
  "\"/></value></boundary></component>"
#define ON_LEAD "<component><boundary><code code=\"MDC_ECG_LEAD_I\"/></boundary></component>"

/* A beat and two waves in it, one of them of a lead, which the file states before and after. */
static void annotations_in_others_and_of_leads_keep_their_times(void **state)
{
  static const char *const texts[] = {"BEAT", "P", "T"};
  weir_record_events e;

  write_file(SET(ABSOLUTE("20040506070810") LEAD(
      "MDC_ECG_LEAD_I", "0", "5", "uV",
      "1 2 3")) "<subjectOf><annotationSet>" NOTE("BEAT", REGION("20040506070811"),
                                                  NOTE("P",
                                                       ON_LEAD REGION("20040506070812") ON_LEAD, "")
                                                      NOTE("T", REGION("20040506070813"),
                                                           "")) "</annotationSet></subjectOf>");
  weir_record *r = opened();

  assert_ok(weir_record_events_read(r, &e));
  assert_int_equal(e.count, 3);
  for (int k = 0; k < 3; k++) {
    assert_string_equal(e.items[k].text, texts[k]);
    assert_int_equal(e.items[k].time, (k + 1) * INT64_C(1000000000));
  }
  weir_record_events_fini(&e);
  weir_record_close(&r);
}

static void what_is_not_understood_is_refused_with_its_line(void **state)
{
#define I(digits) LEAD("MDC_ECG_LEAD_I", "0", "5", "uV", digits)
#define T ABSOLUTE("20040506070810")
#define R TIMES("RELATIVE", "GLIST_PQ", "0", "2", "ms")
  static const struct {
    const char *series, *reason;
  } cases[] = {
      {"", "no sequence set with a lead"},
      {SET(I("1 2")), "x.xml:7: a sequence set has no sequence of times"},
      {SET(T I("1 x2")), "x.xml:7: 'x2' among the digits of MDC_ECG_LEAD_I"},
      {SET(T I("1 3000000000")), "no integer of 32 bits"},
      {SET(T I(" ")), "MDC_ECG_LEAD_I has no digits"},
      {SET(T LEAD("A", "0", "0", "uV", "1")), "a scale that is not 0"},
      {SET(T LEAD("A", "0", "", "uV", "1")), "a scale that is not 0"},
      {SET(T LEAD("A", "0", "1", "", "1")), "expected one unit"},
      {SET(T T I("1")), "expected one TIME_ABSOLUTE"},
      {SET(TIMES("ABSOLUTE", "GLIST_TS", "2004", "0.002", "s") I("1")), "the first time is '2004'"},
      {SET(TIMES("ABSOLUTE", "GLIST_TS", "20040506070810", "0", "s") I("1")), "increment is '0' s"},
      {SET(TIMES("ABSOLUTE", "GLIST_TS", "20040506070810", "1", "min") I("1")),
       "a number in s, ms or us"},
      {SET(T I("1")) SET(TIMES("ABSOLUTE", "GLIST_TS", "20040506070820", "0.004", "s") I("1")),
       "another than in earlier sequence sets"},
      {SET(T I("1 2")) SET(T I("1 2")), "before the previous one ends"},
      {SET(T I("1")) SET(ABSOLUTE("20040506070820") LEAD("MDC_ECG_LEAD_I", "0", "1", "uV", "1")),
       "another origin, scale or unit"},
      {SET(T
           "<component><sequence><code code=\"A\"/><value xsi:type=\"SLIST_PQ\"><digits>1</digits>"
           "<gain/></value></sequence></component>"),
       "element gain in the value of a sequence"},
      {SET(T "<component><sequence><code code=\"A\"/><value xsi:type=\"GLIST_PQ\"/></sequence>"
             "</component>"),
       "only SLIST_PQ is read"},
      {SET(ABSOLUTE("18991231235959") I("1")), "of the years 1900 to 2189"},
      {SET(R I("1")) NEXT_SERIES("20040506070909")
           SET(R LEAD("MDC_ECG_LEAD_V1", "0", "5", "uV", "1")),
       "begin at '20040506070809' and '20040506070909'"},
      {SET(R I("1")) NEXT_SERIES("") SET(R LEAD("MDC_ECG_LEAD_V1", "0", "5", "uV", "1")),
       "expected one effectiveTime"},
      {"<series", "x.xml:5: not well-formed"},
  };

  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    weir_record *r = NULL;
    const int64_t before = weir_alloc_bytes();

    write_file(cases[k].series);
    assert_int_equal(weir_record_open(path, NULL, &r), WEIR_ERR_DATA);
    if (strstr(weir_last_message(), cases[k].reason) == NULL) {
      fail_msg("%s", weir_last_message());
    }
    assert_null(r);
    assert_int_equal(weir_alloc_bytes(), before);
  }
}

static void other_xml_and_entities_are_refused(void **state)
{
  weir_record *r = NULL;

  write_text(path, "<html><body/></html>\n");
  assert_int_equal(weir_record_open(path, NULL, &r), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "the root element is html"));
  write_text(path, "<!DOCTYPE AnnotatedECG [<!ENTITY a \"1 1 1\">]><AnnotatedECG "
                   "xmlns=\"urn:hl7-org:v3\">&a;</AnnotatedECG>");
  assert_int_equal(weir_record_open(path, NULL, &r), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "a document type is declared"));
}

static void increments_are_rates(void **state)
{
  static const struct {
    const char *value, *unit;
    int64_t num, den;
  } cases[] = {{"0.002", "s", 500, 1},      {"4", "ms", 250, 1},
               {"0.00277778", "s", 360, 1}, {"0.0078", "s", 5000, 39},
               {"1000", "us", 1000, 1},     {"0.003906", "s", 500000, 1953},
               {"2.5e-3", "s", 400, 1},     {"0.00390625", "s", 256, 1}};
  int64_t num = 0, den = 0;

  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    assert_true(weir_aecg_rate(cases[k].value, cases[k].unit, &num, &den));
    assert_int_equal(num, cases[k].num);
    assert_int_equal(den, cases[k].den);
  }
  assert_false(weir_aecg_rate("-1", "s", &num, &den));
  assert_false(weir_aecg_rate("x", "s", &num, &den));
  assert_false(weir_aecg_rate("1", "", &num, &den));
}

/* Two records are the same, up to their names. */
static void assert_same(weir_record *a, weir_record *b)
{
  int64_t at[2] = {0, 0};
  int32_t raw[2][16];
  uint8_t present[2][16];
  weir_record_events e[2];

  assert_int_equal(weir_record_start(a, &at[0]), weir_record_start(b, &at[1]));
  assert_int_equal(at[0], at[1]);
  assert_int_equal(weir_record_signals(a), weir_record_signals(b));
  for (int i = 0; i < weir_record_signals(a); i++) {
    const weir_signal_info *const s = weir_record_signal(a, i);
    const weir_signal_info *const t = weir_record_signal(b, i);

    assert_string_equal(s->name, t->name);
    assert_string_equal(s->units, t->units);
    assert_int_equal(s->count, t->count);
    assert_int_equal(s->fs_num, t->fs_num);
    assert_int_equal(s->fs_den, t->fs_den);
    assert_near(s->gain, t->gain, 0);
    assert_near(s->baseline, t->baseline, 1e-12);
    assert_ok(weir_record_read_raw(a, i, 0, s->count, raw[0], present[0]));
    assert_ok(weir_record_read_raw(b, i, 0, s->count, raw[1], present[1]));
    assert_memory_equal(raw[0], raw[1], 4 * (size_t)s->count);
    assert_memory_equal(present[0], present[1], (size_t)s->count);
  }
  assert_ok(weir_record_events_read(a, &e[0]));
  assert_ok(weir_record_events_read(b, &e[1]));
  assert_int_equal(e[0].count, e[1].count);
  for (int64_t k = 0; k < e[0].count; k++) {
    assert_int_equal(e[0].items[k].time, e[1].items[k].time);
    assert_int_equal(e[0].items[k].duration, e[1].items[k].duration);
    assert_int_equal(e[0].items[k].code, e[1].items[k].code);
    assert_string_equal(e[0].items[k].text, e[1].items[k].text);
  }
  weir_record_events_fini(&e[0]);
  weir_record_events_fini(&e[1]);
}

/* Leads with gaps of their own, absolute times and relative ones; and failing allocations. */
static void what_is_written_reads_the_same(void **state)
{
  static const char *const files[] = {
      SET(LEAD("MDC_ECG_LEAD_AVR", "10", "2.5", "uV", "1 -2 3") ABSOLUTE("20040506070810.250")
              LEAD("MDC_ECG_LEAD_V1", "0", "-1", "mV", "5 6 7 8"))
          SET(ABSOLUTE("20040506070810.270") LEAD(
              "MDC_ECG_LEAD_AVR", "10", "2.5", "uV",
              "7 8 2147483647")) "<subjectOf>"
                                 "<annotationSet><component><annotation><code code=\"A\"/><value "
                                 "code=\"V\" "
                                 "codeSystemName=\"WFDB\"><originalText>a &lt; "
                                 "b</originalText></value><support>"
                                 "<supportingROI>" REGION(
                                     "20040506070810.252") "</supportingROI></support></annotation>"
                                                           "</component></annotationSet></"
                                                           "subjectOf>",
      SET(TIMES("RELATIVE", "GLIST_PQ", "0", "4", "ms")
              LEAD("Lead &#228; &amp; b", "0", "5", "uV", "1 2 3")),
  };
  const weir_convert_scale scale = {0, 0.01, 0.01};
  weir_convert_facts facts;
  char out[520];

  (void)snprintf(out, sizeof out, "%.*s.out.xml", (int)strlen(path) - 4, path);
  for (int k = 0; k < 2; k++) {
    weir_record_events e;
    weir_record *b = NULL;

    write_file(files[k]);
    weir_record *a = opened();

    assert_ok(weir_record_events_read(a, &e));
    assert_int_equal(e.count, k == 0);
    assert_int_equal(k == 0 ? e.items[0].code : WEIR_ANN_PVC, WEIR_ANN_PVC);
    weir_status status = WEIR_ERR_MEMORY;

    for (int64_t n = 1; status != WEIR_OK; n++) {
      weir_alloc_fail_after(n);
      status = weir_record_to_aecg(a, &e, "of <a>", out, &scale, &facts);
      weir_alloc_fail_after(0);
      assert_true(status == WEIR_OK || status == WEIR_ERR_MEMORY);
    }
    assert_int_equal(facts.samples, k == 0 ? 26 : 3);
    assert_int_equal(facts.absent, k == 0 ? 16 : 0);
    assert_ok(weir_record_open(out, NULL, &b));
    if (k == 0) {
      assert_same(a, b);
    } else {
      assert_string_equal(weir_record_signal(b, 0)->name, "Lead \xc3\xa4 & b");
    }
    weir_record_events_fini(&e);
    weir_record_close(&a);
    weir_record_close(&b);
  }
}

/* A code of WFDB without a mnemonic, and bytes that are no character of UTF-8 or XML: a surrogate,
 * a form too long, one beyond U+10FFFF, U+FFFE and a control character. */
static void codes_and_texts_of_any_bytes_are_written(void **state)
{
  static const char text[] = "a\xed\xa0\x80"
                             "b\xc0\x80\xf4\x90\x80\x80\xef\xbf\xbe\x01\xf0\x9f\x92\x93";
  const weir_record_event event = {.time = 2000000, .duration = -1, .code = 42};
  const weir_convert_scale scale = {0, 0.01, 0.01};
  weir_convert_facts facts;
  weir_record_events e = {0};
  weir_record *r = NULL;
  char out[520];

  (void)snprintf(out, sizeof out, "%.*s.out.xml", (int)strlen(path) - 4, path);
  write_file(SET(T I("1 2 3")));
  assert_ok(weir_record_open(path, NULL, &r));
  assert_ok(weir_record_events_add(&e, &event, text, sizeof text - 1));
  assert_ok(weir_record_to_aecg(r, &e, text, out, &scale, &facts));
  weir_record_events_fini(&e);
  weir_record_close(&r);
  assert_ok(weir_record_open(out, NULL, &r));
  assert_ok(weir_record_events_read(r, &e));
  assert_int_equal(e.count, 1);
  assert_int_equal(e.items[0].code, 42);
  assert_int_equal(e.items[0].time, 2000000);
  assert_string_equal(e.items[0].text, "a   b          \xf0\x9f\x92\x93");
  weir_record_events_fini(&e);
  weir_record_close(&r);
}

static void failing_allocations_are_reported(void **state)
{
  const int64_t before = weir_alloc_bytes();
  weir_status status = WEIR_ERR_MEMORY;

  write_file(SET(T I("1 2 3")) SET(ABSOLUTE("20040506070811") I("4")));
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
      cmocka_unit_test(sets_are_pieces_of_leads),
      cmocka_unit_test(relative_times_count_from_the_series),
      cmocka_unit_test(annotations_are_events_and_derived_series_are_not_read),
      cmocka_unit_test(annotations_in_others_and_of_leads_keep_their_times),
      cmocka_unit_test(what_is_not_understood_is_refused_with_its_line),
      cmocka_unit_test(other_xml_and_entities_are_refused),
      cmocka_unit_test(increments_are_rates),
      cmocka_unit_test(what_is_written_reads_the_same),
      cmocka_unit_test(codes_and_texts_of_any_bytes_are_written),
      cmocka_unit_test(failing_allocations_are_reported),
  };
  char dir[256];

  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/x.xml", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
