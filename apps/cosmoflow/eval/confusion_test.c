/* confusion_test.c - scores of a table of six voxels by hand, of a constant, of no voxel. */
#include "eval/confusion.h"
#include <math.h>
#include "base/weir_check.h"

static void scores_are_those_of_a_table(void **state)
{
  const uint8_t truth[] = {0, 0, 1, 1, 0, 0}, predicted[] = {0, 1, 1, 0, 0, 0};
  int64_t count[9] = {0}, constant[9];

  cf_confusion_add(3, truth, predicted, 2, count);
  cf_confusion_add(3, truth + 2, predicted + 2, 4, count);
  assert_int_equal(cf_confusion_voxels(3, count), 6);
  assert_near(cf_confusion_accuracy(3, count), 4.0 / 6, 1e-15);
  assert_near(cf_confusion_iou(3, count, 0), 3.0 / 5, 1e-15);
  assert_near(cf_confusion_iou(3, count, 1), 1.0 / 3, 1e-15);
  assert_true(isnan(cf_confusion_iou(3, count, 2)));
  assert_near(cf_confusion_iou(3, count, -1), (3.0 / 5 + 1.0 / 3) / 2, 1e-15);
  assert_int_equal(cf_confusion_majority(3, count), 0);
  cf_confusion_constant(3, count, 0, constant);
  assert_int_equal(cf_confusion_voxels(3, constant), 6);
  assert_near(cf_confusion_accuracy(3, constant), 4.0 / 6, 1e-15);
  assert_near(cf_confusion_iou(3, constant, 0), 4.0 / 6, 1e-15);
  assert_true(cf_confusion_iou(3, constant, 1) == 0);
}

static void of_no_voxel_nothing_is_known(void **state)
{
  const int64_t count[4] = {0};

  assert_true(isnan(cf_confusion_accuracy(2, count)));
  assert_true(isnan(cf_confusion_iou(2, count, -1)));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scores_are_those_of_a_table),
      cmocka_unit_test(of_no_voxel_nothing_is_known),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
