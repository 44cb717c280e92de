/* oracle_edflib_test.c - real files, and files written here, as EDFlib reads them: every sample and
 * every annotation. */
#include <edflib.h>
#include "support/io/convert_check.h"

static void compare_signal(weir_record *r, int handle, int signal, const struct edf_param_struct *s)
{
  enum { PIECE = 997 };
  double want[PIECE];
  int digital[PIECE];
  float v[PIECE];
  int32_t raw[PIECE];
  const int64_t count = weir_record_signal(r, signal)->count;

  assert_int_equal(count, s->smp_in_file);
  assert_int_equal(edfseek(handle, signal, 0, EDFSEEK_SET), 0);
  for (int64_t at = 0; at < count; at += PIECE) {
    const int n = (int)(count - at < PIECE ? count - at : PIECE);

    assert_int_equal(edfseek(handle, signal, at, EDFSEEK_SET), at);
    assert_int_equal(edfread_physical_samples(handle, signal, n, want), n);
    assert_int_equal(edfseek(handle, signal, at, EDFSEEK_SET), at);
    assert_int_equal(edfread_digital_samples(handle, signal, n, digital), n);
    assert_ok(weir_record_read(r, signal, at, n, v, NULL));
    assert_ok(weir_record_read_raw(r, signal, at, n, raw, NULL));
    for (int i = 0; i < n; i++) {
      assert_int_equal(raw[i], digital[i]);
      assert_near(v[i], want[i], 1.2e-7 * 8711);
    }
  }
}

/* EDFlib keeps 512 bytes of a text and times in units of 100 ns after the header's start. */
static void compare_events(weir_record *r, int handle, const struct edf_hdr_struct *h)
{
  weir_record_events e;

  assert_ok(weir_record_events_read(r, &e));
  assert_int_equal(e.count, h->annotations_in_file);
  for (int i = 0; i < e.count; i++) {
    struct edf_annotation_struct a;

    assert_int_equal(edf_get_annotation(handle, i, &a), 0);
    assert_int_equal(e.items[i].time / 100, a.onset);
    assert_int_equal(e.items[i].duration < 0 ? -1 : e.items[i].duration / 100,
                     a.duration_l < 0 ? -1 : a.duration_l);
    assert_string_equal(e.items[i].text, a.annotation);
  }
  weir_record_events_fini(&e);
}

static void as_edflib_reads_them(void **state)
{
  static const char *const names[] = {"edf/test_edfann.edf", "edf/test_subsecond.edf",
                                      "edf/test_generator_datarec_2.bdf"};

  for (int i = 0; i < 3; i++) {
    char path[4096];
    struct edf_hdr_struct h;
    weir_record *r = NULL;

    weir_check_shared(path, sizeof path, "physio/%s", names[i]);
    assert_ok(weir_record_open(path, NULL, &r));
    if (edfopen_file_readonly(path, &h, EDFLIB_READ_ALL_ANNOTATIONS) != 0) {
      printf("EDFlib does not read %s: error %d\n", names[i], h.filetype);
      weir_record_close(&r);
      continue;
    }
    assert_int_equal(weir_record_signals(r), h.edfsignals);
    for (int s = 0; s < h.edfsignals; s++) {
      compare_signal(r, h.handle, s, &h.signalparam[s]);
    }
    compare_events(r, h.handle, &h);
    assert_int_equal(edfclose_file(h.handle), 0);
    weir_record_close(&r);
  }
}

/* 10.3 s of two rates, a text in each second and one of 200 letters: EDF+C and BDF+C. */
static void as_edflib_reads_what_is_written(void **state)
{
  static const char long_text[] = "12345678901234567890123456789012345678901234567890"
                                  "12345678901234567890123456789012345678901234567890"
                                  "12345678901234567890123456789012345678901234567890";
  weir_record_events events = {0};
  weir_convert_facts facts;
  char *const text = malloc(1 << 16);
  char line[64];
  weir_record *r = NULL;

  strcpy(text, "time (s),ECG (mV),Flow (l/min)\n");
  for (int i = 0; i < 1030; i++) {
    snprintf(line, sizeof line, "%.2f,%.6f,%.3f\n", 0.01 * i, sin(0.21 * i), 40 + 30 * cos(i));
    strcat(text, line);
  }
  write_text(in_dir("w.csv"), text);
  free(text);
  for (int i = 0; i < 12; i++) {
    const weir_record_event e = {
        .time = INT64_C(900000000) * i, .duration = i % 2 ? -1 : 1500000, .code = WEIR_RECORD_NOTE};

    assert_ok(weir_record_events_add(&events, &e, i == 3 ? long_text : "beep",
                                     i == 3 ? (int64_t)strlen(long_text) : 4));
  }
  assert_ok(weir_record_open(in_dir("w.csv"), NULL, &r));
  for (int k = 0; k < 2; k++) {
    const weir_convert_edf kind = {k == 0 ? 16 : 24, true};
    const char *const path = in_dir(k == 0 ? "w.edf" : "w.bdf");
    struct edf_hdr_struct h;
    weir_record *own = NULL;

    assert_ok(weir_record_to_edf(r, &events, NULL, &kind, path, &any, &facts));
    assert_ok(weir_record_open(path, NULL, &own));
    assert_int_equal(edfopen_file_readonly(path, &h, EDFLIB_READ_ALL_ANNOTATIONS), 0);
    assert_int_equal(h.edfsignals, 2);
    for (int s = 0; s < 2; s++) {
      compare_signal(own, h.handle, s, &h.signalparam[s]);
    }
    assert_int_equal(h.annotations_in_file, events.count);
    compare_events(own, h.handle, &h);
    assert_int_equal(edfclose_file(h.handle), 0);
    weir_record_close(&own);
  }
  weir_record_events_fini(&events);
  weir_record_close(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_edflib_reads_them),
      cmocka_unit_test(as_edflib_reads_what_is_written),
  };

  weir_check_mkdir(dir, sizeof dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
