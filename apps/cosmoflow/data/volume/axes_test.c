/* axes_test.c - dimensions by letters, by the array of classes, and by the usual rule. */
#include "data/volume/axes.h"
#include <string.h>
#include "base/weir_check.h"

static cf_axes_known known(const char *letters, const char *first, cf_extents volume,
                           const cf_extents *classes)
{
  return (cf_axes_known){"a.h5", letters, {first}, volume, classes};
}

static void assert_axes(const cf_axes_known *k, int sample, int channel, int cube)
{
  cf_axes a = {-9, -9, -9, false};

  assert_ok(cf_axes_find(k, &a));
  assert_int_equal(a.sample, sample);
  assert_int_equal(a.channel, channel);
  assert_int_equal(a.cube, cube);
}

static void without_classes_lengths_and_names_tell(void **state)
{
  const cf_axes_known cases[] = {
      known("", "", (cf_extents){3, {2, 2, 2}}, NULL),
      known("", "", (cf_extents){4, {3, 3, 3, 4}}, NULL),
      known("", "channel", (cf_extents){4, {4, 3, 3, 3}}, NULL),
      known("", "sample", (cf_extents){4, {4, 3, 3, 3}}, NULL),
      known("", "", (cf_extents){5, {2, 3, 3, 3, 4}}, NULL),
      known("", "", (cf_extents){5, {2, 4, 3, 3, 3}}, NULL),
  };
  static const int wanted[][3] = {{-1, -1, 0}, {-1, 3, 0}, {-1, 0, 1},
                                  {0, -1, 1},  {0, 4, 1},  {0, 1, 2}};

  for (int i = 0; i < 6; i++) {
    assert_axes(&cases[i], wanted[i][0], wanted[i][1], wanted[i][2]);
  }
}

/* Ten samples without a name look like ten channels, until their classes are ten, too. */
static void classes_tell_samples_from_channels(void **state)
{
  const cf_extents ten = {4, {10, 3, 3, 3}}, flat = {4, {10, 5, 6, 7}}, one = {3, {3, 3, 3}};
  const cf_extents single = {4, {5, 6, 7, 1}}, many = {5, {2, 5, 6, 7, 1}};
  const cf_extents bare = {4, {2, 5, 6, 7}}, first = {5, {2, 4, 5, 6, 7}};
  cf_axes_known k = known("", "", ten, &ten);

  assert_axes(&k, 0, -1, 1);
  k = known("", "", ten, &one);
  assert_axes(&k, -1, 0, 1);
  k = known("", "", flat, &flat);
  assert_axes(&k, 0, -1, 1);
  k = known("", "", single, &single);
  assert_axes(&k, -1, 3, 0);
  k = known("", "", many, &bare);
  assert_axes(&k, 0, 4, 1);
  k = known("", "", first, &bare);
  assert_axes(&k, 0, 1, 2);
}

static void letters_tell_all(void **state)
{
  const cf_extents four = {4, {4, 5, 6, 7}}, classes = {3, {5, 6, 7}};
  cf_axes_known k = known("czyx", "sample", four, NULL);

  assert_axes(&k, -1, 0, 1);
  k.letters = "nzyx";
  assert_axes(&k, 0, -1, 1);
  k.letters = "zyxc";
  assert_axes(&k, -1, 3, 0);
  k.letters = "czyx";
  k.classes = &classes;
  assert_axes(&k, -1, 0, 1);
}

static void assert_refused(const cf_axes_known *k, weir_status status, const char *message)
{
  cf_axes a;

  assert_int_equal(cf_axes_find(k, &a), status);
  assert_non_null(strstr(weir_last_message(), message));
  assert_non_null(strstr(weir_last_message(), "a.h5"));
}

static void samples_without_names_look_like_channels(void **state)
{
  cf_axes_known k = known("", "", (cf_extents){4, {10, 8, 8, 8}}, NULL);

  assert_refused(&k, WEIR_ERR_DATA, "have no names");
  assert_non_null(strstr(weir_last_message(), "set files.axes"));
  k.name[0] = "phony_dim_0";
  assert_refused(&k, WEIR_ERR_DATA, "have no names");
  k.letters = "nzyx";
  assert_axes(&k, 0, -1, 1);
}

/* Names that say that samples are not first, or first where no usual order has them, are believed.
 */
static void names_against_the_usual_order_are_refused(void **state)
{
  static const struct {
    cf_extents volume;
    int at;
    const char *name;
  } cases[] = {
      {{4, {8, 8, 8, 10}}, 3, "sim"},        {{4, {4, 8, 8, 8}}, 1, "sample"},
      {{5, {8, 8, 8, 4, 10}}, 4, "n"},       {{5, {8, 8, 8, 4, 10}}, 0, "x"},
      {{5, {4, 8, 8, 8, 10}}, 0, "channel"}, {{3, {10, 8, 8}}, 0, "sample"},
      {{3, {4, 8, 8}}, 0, "redshift"},
  };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    cf_axes_known k = known("", "", cases[i].volume, NULL);

    k.name[cases[i].at] = cases[i].name;
    assert_refused(&k, WEIR_ERR_DATA, cases[i].name);
    k.classes = &cases[i].volume; /* nor do classes change what names say */
    assert_refused(&k, WEIR_ERR_DATA, cases[i].name);
  }
}

/* Of cubes of 8: what the first and the last dimension are called decides before lengths do. */
static void names_of_dimensions_tell_samples_from_channels(void **state)
{
  static const char *const samples[] = {"sim", "n", "realization", "Universe", "sample"};
  static const char *const channels[] = {"channel", "C", "redshift"};
  static const char *const nothing[] = {"foo", "dim_0", "id"};
  const cf_extents ten = {4, {10, 8, 8, 8}}, eight = {4, {8, 8, 8, 8}}, last = {4, {8, 8, 8, 10}};
  cf_axes_known k;

  for (int i = 0; i < 5; i++) {
    k = known("", samples[i], i % 2 ? ten : eight, NULL);
    assert_axes(&k, 0, -1, 1);
  }
  for (int i = 0; i < 3; i++) {
    k = known("", channels[i], i % 2 ? ten : eight, NULL);
    assert_axes(&k, -1, 0, 1);
    k.name[0] = "foo";
    k.name[3] = channels[i];
    assert_axes(&k, -1, 3, 0);
  }
  for (int i = 0; i < 3; i++) {
    k = known("", nothing[i], i % 2 ? ten : eight, NULL);
    assert_refused(&k, WEIR_ERR_DATA, nothing[i]);
    assert_non_null(strstr(weir_last_message(), "set files.axes"));
    k.letters = "nzyx";
    assert_axes(&k, 0, -1, 1);
    k = known("", nothing[i], last, NULL); /* the cube begins with it */
    assert_axes(&k, -1, 3, 0);
    k.name[3] = "x";
    assert_refused(&k, WEIR_ERR_DATA, nothing[i]);
    k = known("", nothing[i], ten, &ten); /* the classes tell */
    assert_axes(&k, 0, -1, 1);
  }
  k = known("", "z", ten, NULL);
  assert_axes(&k, -1, 3, 0);
}

/* Two samples of 16 x 8 x 8 with 8 channels look as if the channels came first. */
static void names_of_five_dimensions_tell_the_channels(void **state)
{
  const cf_extents five = {5, {2, 16, 8, 8, 8}};
  cf_axes_known k = known("", "foo", five, NULL);

  assert_axes(&k, 0, 1, 2);
  k.name[1] = "x";
  assert_axes(&k, 0, 4, 1);
  k.name[1] = "foo";
  k.name[4] = "channel";
  assert_axes(&k, 0, 4, 1);
  k.name[1] = "redshift";
  k.name[4] = "x";
  assert_axes(&k, 0, 1, 2);
  k.name[0] = "channel";
  assert_refused(&k, WEIR_ERR_DATA, "channel");
}

static void what_does_not_fit_is_refused(void **state)
{
  const cf_extents volume = {4, {4, 5, 6, 7}}, other = {3, {5, 6, 8}}, ones = {4, {1, 5, 6, 7}};
  const char *const letters[] = {"zyx", "zyxcn", "xyzc", "zyxz", "zycx", "zyxq"};
  cf_axes_known k = known("", "", volume, &other);

  assert_refused(&k, WEIR_ERR_DATA, "the classes of the voxels are 5 x 6 x 8, and the voxels 4 x");
  k.letters = "nzyx";
  k.classes = &ones;
  assert_refused(&k, WEIR_ERR_DATA, "not one of each");
  for (int i = 0; i < 6; i++) {
    k = known(letters[i], "", volume, NULL);
    assert_refused(&k, WEIR_ERR_CONFIG, "is not a letter for each of the 4 dimensions");
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_classes_lengths_and_names_tell),
      cmocka_unit_test(classes_tell_samples_from_channels),
      cmocka_unit_test(letters_tell_all),
      cmocka_unit_test(samples_without_names_look_like_channels),
      cmocka_unit_test(names_against_the_usual_order_are_refused),
      cmocka_unit_test(names_of_dimensions_tell_samples_from_channels),
      cmocka_unit_test(names_of_five_dimensions_tell_the_channels),
      cmocka_unit_test(what_does_not_fit_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
