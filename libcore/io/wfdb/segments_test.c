/* segments_test.c - records of several segments: made here, and damaged here. */
#include <sys/stat.h>
#include "support/io/io_test.h"

typedef struct folder {
  char dir[256], path[512];
} folder;

static void put_text(const folder *f, const char *name, const char *text)
{
  char path[600];

  snprintf(path, sizeof path, "%s/%s", f->dir, name);
  write_text(path, text);
}

/* n frames of `channels` bytes, value = start + frame, in format 80. */
static void put_data(const folder *f, const char *name, int64_t n, int channels, int start)
{
  char path[600];
  uint8_t bytes[4096];

  for (int64_t i = 0; i < n * channels; i++) {
    bytes[i] = (uint8_t)(128 + start + (int)(i / channels));
  }
  snprintf(path, sizeof path, "%s/%s", f->dir, name);
  weir_check_write(path, bytes, (size_t)(n * channels));
}

/* Variable layout: null 5, both signals 10, only B 7, null 3, only A 4 (another gain). */
static void make(folder *f)
{
  weir_check_mkdir(f->dir, sizeof f->dir);
  snprintf(f->path, sizeof f->path, "%s/m", f->dir);
  put_text(f, "m.hea", "m/6 2 100 29\nlay 0\n~ 5\ns1 10\ns2 7\n~ 3\ns3 4\n");
  put_text(f, "lay.hea", "lay 2 100 0\n~ 0 10/mV 8 0 0 0 0 A\n~ 0 1/NU 8 0 0 0 0 B\n");
  put_text(f, "s1.hea", "s1 2 100 10\ns1.dat 80 10/mV 8 0 0 0 0 B\ns1.dat 80 10/mV 8 0 0 0 0 A\n");
  put_text(f, "s2.hea", "s2 1 100 7\ns2.dat 80 1/NU 8 0 0 0 0 B\n");
  put_text(f, "s3.hea", "s3 1 100 4\ns3.dat 80 2/mV 8 0 0 0 0 A\n");
  put_data(f, "s1.dat", 10, 2, 1);
  put_data(f, "s2.dat", 7, 1, 50);
  put_data(f, "s3.dat", 4, 1, 90);
}

static weir_status open_quietly(const folder *f, const weir_record_opts *opts, weir_record **r)
{
  weir_log_set_level(WEIR_LOG_ERROR);
  const weir_status status = weir_record_open(f->path, opts, r);

  weir_log_set_level(WEIR_LOG_INFO);
  return status;
}

static void signals_come_and_go(void **state)
{
  folder f;
  weir_record *r = NULL;
  float a[29];
  float b[29];
  uint8_t pa[29];
  uint8_t pb[29];

  (void)state;
  make(&f);
  assert_ok(weir_record_open(f.path, NULL, &r));
  assert_ok(weir_record_read(r, 0, 0, 29, a, pa));
  assert_ok(weir_record_read(r, 1, 0, 29, b, pb));
  for (int i = 0; i < 29; i++) {
    assert_int_equal(pa[i], (i >= 5 && i < 15) || i >= 25);
    assert_int_equal(pb[i], i >= 5 && i < 22);
  }
  assert_near(a[5], 0.1, 1e-6);
  assert_near(a[25], 45, 1e-6);
  assert_near(b[15], 50, 1e-6);
  assert_run(r, 0, 0, 5, 15);
  assert_run(r, 0, 15, 25, 29);
  assert_run(r, 1, 7, 7, 22);
  assert_run(r, 1, 22, 29, 29);
  weir_record_close(&r);
  weir_check_rmdir(f.dir);
}

static void a_missing_file_is_a_gap(void **state)
{
  static const char *const gone[] = {"s1.hea", "s1.dat"};

  (void)state;
  for (int i = 0; i < 2; i++) {
    folder f;
    weir_record *r = NULL;
    char path[600];
    uint8_t p[29];
    float v[29];

    make(&f);
    snprintf(path, sizeof path, "%s/%s", f.dir, gone[i]);
    assert_int_equal(remove(path), 0);
    assert_ok(open_quietly(&f, NULL, &r));
    assert_int_equal(weir_record_missing_segments(r), 1);
    assert_int_equal(weir_record_signal(r, 0)->count, 29);
    assert_ok(weir_record_read(r, 0, 0, 29, v, p));
    for (int k = 0; k < 29; k++) {
      assert_int_equal(p[k], k >= 25);
    }
    weir_record_close(&r);
    weir_check_rmdir(f.dir);
  }
}

static void damage_is_refused(void **state)
{
  static const struct {
    const char *file, *text, *says;
  } cases[] = {
      {"m.hea", "m/6 2 100 30\nlay 0\n~ 5\ns1 10\ns2 7\n~ 3\ns3 4\n", "30 frames declared"},
      {"m.hea", "m/6 3 100 29\nlay 0\n~ 5\ns1 10\ns2 7\n~ 3\ns3 4\n", "3 signals declared"},
      {"m.hea", "m/7 2 100 29\nlay 0\n~ 5\ns1 10\ns2 7\n~ 3\ns3 4\n", "7 segments declared"},
      {"m.hea", "m/2 2 100 29\ngone 0\ns1 29\n", "its layout header gone.hea is missing"},
      {"m.hea", "m/2 2 100 29\n~ 9\ngone 20\n", "none of its 2 segments exists"},
      {"m.hea", "m/2 2 100 12\nlay 0\ns1 12\n", "declares 12 frames, it has 10"},
      {"m.hea", "m/2 1 100 17\ns2 7\ns1 10\n", "2 signals where record m has 1"},
      {"s2.hea", "s2/1 1 100 7\ns1 7\n", "a segment must not itself have segments"},
      {"s2.hea", "s2 1 99 7\ns2.dat 80 1/NU 8 0 0 0 0 B\n", "its sampling rate differs"},
      {"s2.hea", "s2 1 100 7\ns2.dat 80x2 1/NU 8 0 0 0 0 B\n", "7 frames declared"},
      {"s3.hea", "s3 1 100 2\ns2.dat 80x2 1/NU 8 0 0 0 0 B\n", "has 2 samples a frame, not 1"},
      {"s2.hea", "s2 1 100 7\nx.dat 99 1/NU 8 0 0 0 0 B\n", "sample format 99 is not supported"},
      {"s2.dat", "short", "7 frames declared"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    folder f;
    weir_record *r = NULL;

    make(&f);
    if (strcmp(cases[i].file, "s3.hea") == 0) { /* long enough, so that spf is what is wrong */
      put_data(&f, "s2.dat", 14, 1, 0);
      put_text(&f, "m.hea", "m/6 2 100 27\nlay 0\n~ 5\ns1 10\ns2 7\n~ 3\ns3 2\n");
    }
    put_text(&f, cases[i].file, cases[i].text);
    const weir_status status = open_quietly(&f, NULL, &r);

    if (status != WEIR_ERR_DATA || !strstr(weir_last_message(), cases[i].says)) {
      fail_msg("case %zu: status %d, '%s' lacks '%s'", i, status, weir_last_message(),
               cases[i].says);
    }
    assert_null(r);
    weir_check_rmdir(f.dir);
  }
}

static void a_short_segment_can_be_allowed(void **state)
{
  folder f;
  weir_record *r = NULL;
  uint8_t p[29];
  float v[29];

  (void)state;
  make(&f);
  put_data(&f, "s1.dat", 4, 2, 1);
  assert_ok(open_quietly(&f, &(weir_record_opts){.allow_short = 1}, &r));
  assert_ok(weir_record_read(r, 1, 0, 29, v, p));
  for (int k = 0; k < 29; k++) {
    assert_int_equal(p[k], (k >= 5 && k < 9) || (k >= 15 && k < 22));
  }
  weir_record_close(&r);
  weir_check_rmdir(f.dir);
}

/* A pipe instead of a file is refused, not waited for. */
static void a_pipe_is_refused(void **state)
{
  static const char *const names[] = {"m.hea", "s1.hea", "s1.dat"};

  (void)state;
  for (int i = 0; i < 3; i++) {
    folder f;
    weir_record *r = NULL;
    char path[600];

    make(&f);
    snprintf(path, sizeof path, "%s/%s", f.dir, names[i]);
    assert_int_equal(remove(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(open_quietly(&f, NULL, &r), WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), "not a regular file"));
    weir_check_rmdir(f.dir);
  }
}

static void failing_allocations_are_reported(void **state)
{
  folder f;
  weir_record *r = NULL;
  weir_status status = WEIR_ERR_MEMORY;
  const int64_t before = weir_alloc_bytes();

  (void)state;
  make(&f);
  for (int64_t k = 1; status != WEIR_OK; k++) {
    weir_alloc_fail_after(k);
    status = weir_record_open(f.path, NULL, &r);
    weir_alloc_fail_after(0);
    assert_true(status == WEIR_OK || status == WEIR_ERR_MEMORY);
    assert_true(status == WEIR_OK || weir_alloc_bytes() == before);
  }
  weir_record_close(&r);
  assert_int_equal(weir_alloc_bytes(), before);
  weir_check_rmdir(f.dir);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(signals_come_and_go), cmocka_unit_test(a_missing_file_is_a_gap),
      cmocka_unit_test(damage_is_refused),   cmocka_unit_test(a_short_segment_can_be_allowed),
      cmocka_unit_test(a_pipe_is_refused),   cmocka_unit_test(failing_allocations_are_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
