/* oracle_edflib_test.c - real files as EDFlib reads them: every sample and every annotation. */
#include <edflib.h>
#include "support/io/io_test.h"

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

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(as_edflib_reads_them)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
