/* channels_test.c - lists of channels there and back, and lists that are none. */
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "data/channels.h"

static void lists_come_back(void **state)
{
  static wx_channel channel[WX_CHANNELS], back[WX_CHANNELS];
  static char text[WX_LIST];

  for (int c = 0; c < WX_CHANNELS; c++) { /* the longest that there are */
    memset(channel[c].name, 'a' + c % 26, WX_NAME - 1);
    memset(channel[c].units, 'A' + c % 26, WX_NAME - 1);
  }
  for (int units = 0; units < 2; units++) {
    wx_channels_text(channel, WX_CHANNELS, units, text);
    assert_int_equal(wx_channels_parse(text, units, back), WX_CHANNELS);
  }
  assert_int_equal(memcmp(channel, back, sizeof back), 0);
  assert_int_equal(wx_channels_parse(" t ,z,  m2 s-2 ", true, back), 3);
  assert_string_equal(back[2].units, "m2 s-2");
}

static void what_is_no_list_is_refused(void **state)
{
  static wx_channel channel[WX_CHANNELS];
  char text[2 * WX_CHANNELS + 3];

  assert_int_equal(wx_channels_parse("", false, channel), -1);
  assert_int_equal(wx_channels_parse("t,", false, channel), -1);
  assert_int_equal(wx_channels_parse("t,,z", false, channel), -1);
  for (int i = 0; i <= WX_CHANNELS; i++) {
    memcpy(text + 2 * i, "t,", 2);
  }
  text[2 * WX_CHANNELS + 1] = 0;
  assert_int_equal(wx_channels_parse(text, false, channel), -1); /* one too many */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_come_back),
      cmocka_unit_test(what_is_no_list_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
