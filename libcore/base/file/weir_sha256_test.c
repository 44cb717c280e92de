/* weir_sha256_test.c - the FIPS 180-4 examples, and pieces against the whole. */
#include <string.h>

#include "base/base_priv.h"
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"

static void examples_of_the_standard(void **state)
{
  static const struct {
    const char *text, *digest;
  } cases[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqr"
       "lmnopqrsmnopqrstnopqrstu",
       "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
  };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char hex[65];
    weir_sha256(cases[i].text, strlen(cases[i].text), hex);
    assert_string_equal(hex, cases[i].digest);
  }
}

static void a_million_a(void **state)
{
  const size_t n = 1000000;
  char *data, hex[65];

  assert_ok(weir_alloc((int64_t)n, 1, (void **)&data));
  memset(data, 'a', n);
  weir_sha256(data, n, hex);
  assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  weir_free(&data);
}

static void pieces_give_the_digest_of_the_whole(void **state)
{
  unsigned char data[300];

  for (uint64_t i = 0; i < sizeof data; i++) {
    data[i] = (unsigned char)weir_random_bits(5, 0, 0, i);
  }
  for (uint32_t trial = 0; trial < 300; trial++) {
    const size_t length = trial; /* each way to fill the last block */
    char whole[65], pieces[65];
    base_sha256 s;
    weir_sha256(data, length, whole);
    base_sha256_init(&s);
    for (size_t at = 0, i = 0; at < length; i++) {
      const size_t left = length - at;
      const size_t want = (size_t)(weir_random_bits(5, 1, trial, i) % 90);
      base_sha256_update(&s, data + at, want < left ? want : left);
      at += want < left ? want : left;
    }
    base_sha256_finish(&s, pieces);
    assert_string_equal(pieces, whole);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(examples_of_the_standard),
      cmocka_unit_test(a_million_a),
      cmocka_unit_test(pieces_give_the_digest_of_the_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
