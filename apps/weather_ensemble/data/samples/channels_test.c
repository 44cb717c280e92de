/* channels_test.c - lists of channels as text. */
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "data/samples/channels.h"

static void lists_have_commas_between(void **state)
{
  static wx_channel channel[WX_CHANNELS];
  static char text[WX_LIST];

  for (int c = 0; c < WX_CHANNELS; c++) { /* the longest that there are */
    memset(channel[c].name, 'a' + c % 26, WX_NAME - 1);
    memset(channel[c].units, 'A' + c % 26, WX_NAME - 1);
  }
  for (int units = 0; units < 2; units++) {
    const size_t each = WX_NAME - 1 + 2;

    wx_channels_text(channel, WX_CHANNELS, units, text);
    assert_int_equal(strlen(text), WX_CHANNELS * each - 2);
    for (int c = 0; c < WX_CHANNELS; c++) {
      const char *const one = units ? channel[c].units : channel[c].name;

      assert_memory_equal(text + (size_t)c * each, one, WX_NAME - 1);
      assert_true(c == WX_CHANNELS - 1 || memcmp(text + (size_t)(c + 1) * each - 2, ", ", 2) == 0);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_have_commas_between),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
