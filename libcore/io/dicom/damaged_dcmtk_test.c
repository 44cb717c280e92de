/* damaged_dcmtk_test.c - DICOM files that are damaged, of another kind or hostile, and failing
 * allocations: refused without a leak. */
#include "io/dicom/dicom_priv.h"
#include "support/io/dicom_objects.h"

static void files_that_are_damaged_or_others_are_refused(void **state)
{
  const channel both[] = {lead_ii, lead_ii};

  one_group(WEIR_DICOM_EXPLICIT, &plain, both);
  file.size -= 20;
  assert_refused(WEIR_ERR_DATA, "(5400,1010) has 40 bytes, of which");
  one_group(WEIR_DICOM_EXPLICIT, &plain, both);
  file.size -= 8; /* the end of the sequence */
  assert_refused(WEIR_ERR_DATA, "a sequence without an end");
  one_group(WEIR_DICOM_EXPLICIT, &plain, both);
  file.bytes[128] = 'd';
  assert_refused(WEIR_ERR_DATA, "not a DICOM file");
  dicom_start(&file, WEIR_DICOM_EXPLICIT, "1.2.840.10008.5.1.4.1.1.2");
  assert_refused(WEIR_ERR_DATA, "not a waveform");
  start(WEIR_DICOM_EXPLICIT);
  assert_refused(WEIR_ERR_DATA, "no multiplex group");
  start(WEIR_DICOM_EXPLICIT);
  dicom_text(&file, 0x0008, 0x0070, "XX", "ab");
  assert_refused(WEIR_ERR_DATA, "an unknown type (VR)");
  start(WEIR_DICOM_EXPLICIT);
  for (int i = 0; i < 40; i++) {
    dicom_begin(&file, 0x0040, 0xb020);
    dicom_item(&file);
  }
  assert_refused(WEIR_ERR_DATA, "nested too deeply");
  one_group(WEIR_DICOM_EXPLICIT, &plain, both);
  memcpy(file.bytes + 140 + 18, "9", 1);
  assert_refused(WEIR_ERR_UNSUPPORTED, "transfer syntax '1.2.840.10008.1.2.9'");
  one_group(WEIR_DICOM_BIG_ENDIAN, &(const group){"ORIGINAL", "SL", "9", NULL, 1, 4, 32, 0, 0},
            both);
  assert_refused(WEIR_ERR_UNSUPPORTED, "32 bits in big endian");
}

/* Small files could take much time or memory. */
static void files_without_measure_are_refused(void **state)
{
  static char text[7001];
  static int32_t places[10000];

  for (int i = 0; i < 10000; i++) {
    places[i] = 1;
  }
  memset(text, 'x', sizeof text - 1);
  one_group(WEIR_DICOM_EXPLICIT, &plain, (const channel[]){lead_ii, lead_ii});
  dicom_begin(&file, 0x0040, 0xb020);
  add_note(text, NULL, "MULTIPOINT", 1, places, 10000, NULL);
  dicom_end(&file);
  assert_refused(WEIR_ERR_DATA, "annotations of more");
  start(WEIR_DICOM_EXPLICIT);
  for (int i = 0; i < 300; i++) {
    dicom_text(&file, 0x0011, 0x2000 - i, "LO", "");
  }
  assert_refused(WEIR_ERR_DATA, "too many elements after one of a higher tag");
}

/* Channels that state nothing. */
static void add_bare_group(int n)
{
  int32_t values[600] = {0};

  dicom_item(&file);
  dicom_int(&file, 0x003a, 0x0005, "US", n);
  dicom_int(&file, 0x003a, 0x0010, "UL", 1);
  dicom_text(&file, 0x003a, 0x001a, "DS", "500");
  dicom_begin(&file, 0x003a, 0x0200);
  for (int k = 0; k < n; k++) {
    dicom_item(&file);
    dicom_item_end(&file);
  }
  dicom_end(&file);
  dicom_int(&file, 0x5400, 0x1004, "US", 8);
  dicom_text(&file, 0x5400, 0x1006, "CS", "SB");
  dicom_ints(&file, 0x5400, 0x1010, "OB", 1, values, n);
  dicom_item_end(&file);
}

static void channels_of_all_groups_have_a_limit(void **state)
{
  for (int n = 424; n <= 426; n += 2) {
    start(WEIR_DICOM_EXPLICIT);
    dicom_begin(&file, 0x5400, 0x0100);
    add_bare_group(600);
    add_bare_group(n);
    dicom_end(&file);
    if (n == 424) {
      weir_record *r = opened();

      assert_int_equal(weir_record_signals(r), 1024);
      assert_string_equal(weir_record_signal(r, 1023)->name, "channel_424_2");
      weir_record_close(&r);
    } else {
      assert_refused(WEIR_ERR_DATA, "1026 channels: expected at most 1024");
    }
  }
}

/* An object deflated without compression (RFC 1951, 3.2.4), whole or without its last block. */
static void deflated_objects_have_an_end(void **state)
{
  static dicom_file plain_file;

  for (int is_last = 1; is_last >= 0; is_last--) {
    one_group(WEIR_DICOM_EXPLICIT, &plain, (const channel[]){lead_ii, lead_ii});
    plain_file = file;
    dicom_start(&file, WEIR_DICOM_DEFLATED, GENERAL_ECG);
    /* The data sets begin alike, after transfer syntaxes of 20 and 22 characters. */
    const int64_t from = 132 + 8 + 20, n = plain_file.size - from;

    file.size = 132 + 8 + 22;
    file.bytes[file.size++] = (uint8_t)is_last;
    dicom_put(&file, (uint32_t)n, 2, false);
    dicom_put(&file, (uint32_t)~n & 0xffff, 2, false);
    memcpy(file.bytes + file.size, plain_file.bytes + from, (size_t)n);
    file.size += n;
    if (is_last) {
      weir_record *r = opened();

      assert_int_equal(weir_record_signals(r), 2);
      weir_record_close(&r);
    } else {
      assert_refused(WEIR_ERR_DATA, "the deflated data set is damaged");
    }
  }
}

/* What opens, opens; whatever else is refused, without a leak. */
static void failing_allocations_are_reported(void **state)
{
  const channel both[] = {lead_ii, lead_ii};
  weir_record *r = NULL;

  one_group(WEIR_DICOM_EXPLICIT, &plain, both);
  dicom_write(&file, path);
  for (int64_t k = 1;; k++) {
    const int64_t before = weir_alloc_bytes();

    weir_alloc_fail_after(k);
    const weir_status status = weir_record_open(path, NULL, &r);

    weir_alloc_fail_after(0);
    if (status == WEIR_OK) {
      assert_true(k > 5);
      weir_record_close(&r);
      return;
    }
    assert_int_equal(status, WEIR_ERR_MEMORY);
    assert_int_equal(weir_alloc_bytes(), before);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(files_that_are_damaged_or_others_are_refused),
      cmocka_unit_test(files_without_measure_are_refused),
      cmocka_unit_test(channels_of_all_groups_have_a_limit),
      cmocka_unit_test(deflated_objects_have_an_end),
      cmocka_unit_test(failing_allocations_are_reported),
  };
  char dir[256];

  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/x.dcm", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
