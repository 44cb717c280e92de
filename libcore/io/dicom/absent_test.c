/* absent_test.c - without DCMTK an object is refused by what has to be installed; with it, one
 * without a waveform is. What is no DICOM file is told in every build. */
#include "base/weir_provenance.h"
#include "support/io/dicom_make.h"
#include "support/io/io_test.h"

static char path[512];

static void refused(const char *said)
{
  weir_record *r = NULL;

  assert_true(weir_record_open(path, NULL, &r) != WEIR_OK);
  assert_null(r);
  if (strstr(weir_last_message(), said) == NULL) {
    fail_msg("%s", weir_last_message());
  }
}

static void objects_are_refused_by_name(void **state)
{
  static dicom_file file;
  const bool has_dcmtk = strstr(weir_build_text(), "dcmtk: DCMTK") != NULL;

  dicom_start(&file, WEIR_DICOM_EXPLICIT, "1.2.840.10008.5.1.4.1.1.9.1.2");
  dicom_write(&file, path);
  refused(has_dcmtk ? "no multiplex group" : "install libdcmtk-dev");
  file.size -= 3;
  dicom_write(&file, path);
  refused("the file is damaged");
  write_text(path, "words");
  refused("not a DICOM file");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(objects_are_refused_by_name)};
  char dir[256];

  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/x.dcm", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
