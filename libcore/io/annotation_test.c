/* annotation_test.c - real files, a round trip over random annotations, and hostile bytes. */
#include "io/io_priv.h"
#include "support/io/io_test.h"

static int64_t beats_of(const weir_annotations *a, int64_t from)
{
  int64_t n = 0;

  for (int64_t i = 0; i < a->count; i++) {
    n += weir_annotation_is_beat(a->items[i].code) && a->items[i].time >= from;
  }
  return n;
}

/* Acceptance A1: counts of the reference annotations, whole and from five minutes on. */
static void beats_of_mitdb_are_counted(void **state)
{
  static const struct {
    const char *name;
    int64_t beats, scored;
  } cases[] = {{"100", 2273, 1902}, {"119", 1987, 1661}, {"208", 2955, 2437}};
  char path[4096];

  (void)state;
  for (int i = 0; i < 3; i++) {
    weir_annotations a;
    char name[64];

    snprintf(name, sizeof name, "wfdb/mitdb/%s.atr", cases[i].name);
    weir_check_shared(path, sizeof path, "physio/%s", name);
    assert_ok(weir_annotations_read(path, &a));
    assert_int_equal(beats_of(&a, 0), cases[i].beats);
    assert_int_equal(beats_of(&a, 300 * 360), cases[i].scored);
    assert_int_equal(a.fs_num, 0);
    assert_int_equal(a.items[0].code, WEIR_ANN_RHYTHM);
    assert_string_equal(a.items[0].aux, "(N");
    assert_int_equal(a.items[0].zeros, 1);
    weir_annotations_fini(&a);
  }
}

/* Acceptance A6: times beyond 32 bits. */
static void huge_times_are_read(void **state)
{
  char path[4096];
  weir_annotations a;

  (void)state;
  weir_check_shared(path, sizeof path, "physio/wfdb/annotations/huge.qrs");
  assert_ok(weir_annotations_read(path, &a));
  assert_int_equal(a.count, 1);
  assert_int_equal(a.items[0].time, INT64_C(10000000000));
  assert_int_equal(a.items[0].code, WEIR_ANN_NORMAL);
  weir_annotations_fini(&a);
}

static void notes_about_the_file_are_obeyed(void **state)
{
  char path[4096];
  weir_annotations a;

  (void)state;
  weir_check_shared(path, sizeof path, "physio/wfdb/mimic/03700181.gqrsh");
  assert_ok(weir_annotations_read(path, &a));
  assert_int_equal(a.fs_num, 500);
  assert_int_equal(a.fs_den, 1);
  assert_int_equal(a.count, 1151); /* 1150 beats and the note of the command */
  assert_int_equal(a.items[a.count - 1].time, 299898);
  weir_annotations_fini(&a);

  weir_check_shared(path, sizeof path, "physio/wfdb/annotations/1003.atr");
  assert_ok(weir_annotations_read(path, &a));
  assert_int_equal(a.n_types, 6);
  assert_int_equal(a.types[0].code, 15);
  assert_string_equal(a.types[0].mnemonic, "c");
  assert_string_equal(a.types[0].text, "calibration pulse");
  assert_int_equal(a.count, 957);
  assert_int_equal(a.items[0].time, 73);
  weir_annotations_fini(&a);

  weir_check_shared(path, sizeof path, "physio/wfdb/annotations/12726.anI");
  assert_ok(weir_annotations_read(path, &a));
  assert_int_equal(a.count, 22);
  assert_string_equal(a.items[0].aux, "Initiate slow tilt up");
  weir_annotations_fini(&a);
}

enum { N_ITEMS = 300 };

static void random_items(uint64_t seed, weir_annotation *items, char (*texts)[256])
{
  int64_t time = 0;

  for (int i = 0; i < N_ITEMS; i++) {
    const uint64_t k = (uint64_t)i * 16;
    const int64_t reach = INT64_C(1) << random_in(seed, k, 0, 40);
    const int64_t length = random_in(seed, k + 1, 0, 255);
    weir_annotation *const a = &items[i];

    time += random_in(seed, k + 2, i % 5 ? 0 : -reach, reach);
    a->time = time;
    a->code = (int)random_in(seed, k + 3, 1, 49);
    a->subtype = (int)random_in(seed, k + 4, -128, 127) * (i % 3 == 0);
    a->channel = (int)random_in(seed, k + 5, 0, 255) * (i % 7 == 0);
    a->number = (int)random_in(seed, k + 6, -128, 127) * (i % 4 == 0);
    a->aux = NULL;
    a->zeros = 0;
    if (i % 2) {
      for (int64_t c = 0; c < length; c++) {
        texts[i][c] = (char)random_in(seed, k + 7 + (uint64_t)c * 100003, 32, 126);
      }
      texts[i][length] = 0;
      a->aux = texts[i];
      a->zeros = (int)random_in(seed, k + 8, 0, length < 250 && i % 4 == 1 ? 5 : 0);
    }
  }
}

static void same_annotation(const weir_annotation *a, const weir_annotation *b)
{
  assert_int_equal(a->time, b->time);
  assert_int_equal(a->code, b->code);
  assert_int_equal(a->subtype, b->subtype);
  assert_int_equal(a->channel, b->channel);
  assert_int_equal(a->number, b->number);
  assert_int_equal(a->aux == NULL, b->aux == NULL);
  if (a->aux) {
    assert_string_equal(a->aux, b->aux);
    assert_int_equal(a->zeros, b->zeros);
  }
}

static void what_is_written_is_read_back(void **state)
{
  static weir_annotation items[N_ITEMS];
  static char texts[N_ITEMS][256];
  weir_annotation_type types[] = {{42, "c", "calibration pulse"}, {43, "w", "wedge"}};
  char dir[256];
  char path[512];

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/r.qrs", dir);
  for (uint64_t seed = 1; seed <= 8; seed++) {
    const weir_annotations out = {.fs_num = seed % 2 ? 12495 : 0,
                                  .fs_den = 200,
                                  .count = N_ITEMS,
                                  .items = items,
                                  .n_types = seed % 3 ? 2 : 0,
                                  .types = types};
    weir_annotations in;

    random_items(seed, items, texts);
    assert_ok(weir_annotations_write(path, &out));
    assert_ok(weir_annotations_read(path, &in));
    assert_int_equal(in.count, N_ITEMS);
    for (int i = 0; i < N_ITEMS; i++) {
      same_annotation(&in.items[i], &items[i]);
    }
    assert_int_equal(in.fs_num, seed % 2 ? 2499 : 0);
    assert_int_equal(in.fs_den, seed % 2 ? 40 : 0);
    assert_int_equal(in.n_types, out.n_types);
    if (in.n_types) {
      assert_string_equal(in.types[1].mnemonic, "w");
      assert_string_equal(in.types[0].text, "calibration pulse");
    }
    weir_annotations_fini(&in);
  }
  weir_check_rmdir(dir);
}

/* Every truncation is refused; every flipped bit gives annotations or a refusal. */
static void damaged_files_are_refused(void **state)
{
  static weir_annotation items[N_ITEMS];
  static char texts[N_ITEMS][256];
  char dir[256];
  char path[512];
  char *data = NULL;
  int64_t size = 0;
  weir_annotations a;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/r.qrs", dir);
  random_items(5, items, texts);
  assert_ok(weir_annotations_write(
      path, &(weir_annotations){.fs_num = 250, .fs_den = 1, .count = 40, .items = items}));
  assert_ok(weir_file_read(path, 1 << 20, &data, &size));
  for (int64_t n_bytes = 0; n_bytes < size; n_bytes++) {
    assert_int_equal(weir_annotations_parse(data, n_bytes, "cut", &a), WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), "cut: byte "));
  }
  for (uint64_t k = 0; k < 4000; k++) {
    const int64_t bit = random_in(9, k, 0, size * 8 - 1);

    data[bit / 8] = (char)(data[bit / 8] ^ (1 << (bit % 8)));
    const weir_status status = weir_annotations_parse(data, size, "flip", &a);

    assert_true(status == WEIR_OK || status == WEIR_ERR_DATA);
    weir_annotations_fini(&a);
    if (k % 3) { /* let some damage pile up */
      data[bit / 8] = (char)(data[bit / 8] ^ (1 << (bit % 8)));
    }
  }
  weir_free(&data);
  weir_check_rmdir(dir);
}

static void bad_annotations_leave_no_file(void **state)
{
  char dir[256];
  char path[512];
  char text[300];
  weir_annotation bad[] = {
      {.code = 0},
      {.code = 50},
      {.code = 1, .subtype = 128},
      {.code = 1, .channel = -1},
      {.code = 1, .aux = text},
      {.code = 1, .aux = text + 45, .zeros = 2}, /* 254 and 2 */
      {.code = 1, .aux = "", .zeros = 256},
      {.time = INT64_MIN, .code = 1},
  };

  (void)state;
  memset(text, 'x', sizeof text);
  text[sizeof text - 1] = 0;
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/r.qrs", dir);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    weir_annotation two[2] = {{.time = 10, .code = 1}, bad[i]};

    assert_int_equal(weir_annotations_write(path, &(weir_annotations){.count = 2, .items = two}),
                     WEIR_ERR_SHAPE);
    assert_false(weir_dir_has_entries(dir));
  }
  assert_int_equal(weir_annotations_read(path, &(weir_annotations){0}), WEIR_ERR_DATA);
  weir_check_rmdir(dir);
}

static void a_failing_allocation_is_reported(void **state)
{
  static weir_annotation items[N_ITEMS];
  static char texts[N_ITEMS][256];
  char dir[256];
  char path[512];
  weir_annotations a;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/r.qrs", dir);
  random_items(6, items, texts);
  assert_ok(weir_annotations_write(path, &(weir_annotations){.count = N_ITEMS, .items = items}));
  const int64_t before = weir_alloc_bytes();
  weir_status status = WEIR_ERR_MEMORY;

  for (int64_t k = 1; status != WEIR_OK; k++) {
    weir_alloc_fail_after(k);
    status = weir_annotations_read(path, &a);
    weir_alloc_fail_after(0);
    assert_true(status == WEIR_OK || status == WEIR_ERR_MEMORY);
    assert_true(status == WEIR_OK || weir_alloc_bytes() == before);
  }
  weir_annotations_fini(&a);
  assert_int_equal(weir_alloc_bytes(), before);
  weir_check_rmdir(dir);
}

static void codes_are_looked_up(void **state)
{
  (void)state;
  int beats = 0;

  for (int code = 0; code < 64; code++) {
    beats += weir_annotation_is_beat(code);
  }
  assert_int_equal(beats, 19);
  assert_string_equal(weir_annotation_mnemonic(WEIR_ANN_RHYTHM), "+");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(beats_of_mitdb_are_counted),
      cmocka_unit_test(huge_times_are_read),
      cmocka_unit_test(notes_about_the_file_are_obeyed),
      cmocka_unit_test(what_is_written_is_read_back),
      cmocka_unit_test(damaged_files_are_refused),
      cmocka_unit_test(bad_annotations_leave_no_file),
      cmocka_unit_test(a_failing_allocation_is_reported),
      cmocka_unit_test(codes_are_looked_up),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
