/* array_test.c - arrays there and back, NumPy's own headers, headers that lie. */
#include "support/io/io_test.h"
#include "io/weir_npy.h"

static char dir[256], path[512];

static const weir_npy_shape shapes[] = {
    {WEIR_F32, 0, {0}},
    {WEIR_I16, 1, {1}},
    {WEIR_I16, 4, {3, 5, 2, 4}},
    {WEIR_F64, 2, {7, 0}},
    {WEIR_U8, 3, {2, 3, 5}},
    {WEIR_I64, 2, {2, 9}},
    {WEIR_F32, 8, {1, 2, 1, 3, 1, 2, 1, 2}},
};

static void arrays_come_back(void **state)
{
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    const weir_npy_shape *const s = &shapes[i];
    uint8_t data[1024], back[1024];
    int64_t count = 1;
    weir_npy *n = NULL;

    for (int d = 0; d < s->n_dims; d++) {
      count *= s->lengths[d];
    }
    const size_t bytes = (size_t)count * weir_dtype_size(s->dtype);

    for (size_t k = 0; k < bytes; k++) {
      data[k] = (uint8_t)weir_random_bits(i, 3, 0, k);
    }
    assert_ok(weir_npy_write(path, s, data));
    assert_ok(weir_npy_open(path, &n));
    assert_int_equal(weir_npy_get(n)->dtype, s->dtype);
    assert_int_equal(weir_npy_get(n)->n_dims, s->n_dims);
    for (int d = 0; d < s->n_dims; d++) {
      assert_int_equal(weir_npy_get(n)->lengths[d], s->lengths[d]);
    }
    for (int64_t split = 0; split <= count; split += 1 + count / 3) {
      assert_ok(weir_npy_read(n, 0, split, back));
      assert_ok(
          weir_npy_read(n, split, count - split, back + (size_t)split * weir_dtype_size(s->dtype)));
      assert_memory_equal(back, data, bytes);
    }
    assert_int_equal(weir_npy_read(n, 1, count, back), WEIR_ERR_SHAPE);
    weir_npy_close(&n);
  }
}

/* A file of a header as it would stand in one, and some bytes. */
static void put(int version, const char *dict, const void *data, size_t size)
{
  uint8_t bytes[512] = "\x93NUMPY";
  const size_t n = strlen(dict), head = version > 1 ? 12 : 10;

  bytes[6] = (uint8_t)version;
  bytes[8] = (uint8_t)n;
  memcpy(bytes + head, dict, n);
  memcpy(bytes + head + n, data, size);
  weir_check_write(path, bytes, head + n + size);
}

static void either_byte_order_is_read(void **state)
{
  const uint8_t data[] = {1, 2, 3, 4};
  weir_npy *n = NULL;
  int16_t back[2];

  put(1, "{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }\n", data, 4);
  assert_ok(weir_npy_open(path, &n));
  assert_ok(weir_npy_read(n, 0, 2, back));
  assert_true(back[0] == 0x0102 && back[1] == 0x0304);
  weir_npy_close(&n);
  put(2, "{\"shape\": (1, 2), \"fortran_order\": False, \"descr\": \"<i2\"}", data, 4);
  assert_ok(weir_npy_open(path, &n));
  assert_ok(weir_npy_read(n, 0, 2, back));
  assert_true(back[0] == 0x0201 && back[1] == 0x0403);
  weir_npy_close(&n);
}

static void assert_refused(const char *dict, const char *said)
{
  weir_npy *n = NULL;

  put(1, dict, "abcd", 4);
  assert_int_equal(weir_npy_open(path, &n), WEIR_ERR_DATA);
  assert_null(n);
  assert_non_null(strstr(weir_last_message(), said));
  assert_non_null(strstr(weir_last_message(), path));
}

static void what_is_not_read_is_named(void **state)
{
  assert_refused("{'descr': '<i2', 'fortran_order': False, 'shape': (3,)}", "claims 3 elements of");
  assert_refused("{'descr': '<i2', 'fortran_order': False, 'shape': (9223372036854775807, 3)}",
                 "no shape");
  assert_refused("{'descr': '<i8', 'fortran_order': False, 'shape': (2305843009213693952,)}",
                 "claims 2305843009213693952 elements");
  assert_refused("{'descr': '<i2', 'fortran_order': False, 'shape': (-1,)}", "no shape");
  assert_refused("{'descr': '<i2', 'fortran_order': False, 'shape': (1", "no shape");
  assert_refused("{'descr': '<i2', 'fortran_order': False}", "no shape");
  assert_refused("{'descr': '<i2', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}",
                 "at most 8 dimensions");
  assert_refused("{'descr': '<c8', 'fortran_order': False, 'shape': ()}",
                 "type in the header is not supported");
  assert_refused("{'descr': [('a', '<i2')], 'fortran_order': False, 'shape': ()}",
                 "type in the header");
  assert_refused("{'descr': '<i2', 'fortran_order': True, 'shape': (1, 2)}", "Fortran order");
  assert_refused("{'descr': '<i2', 'shape': (1, 2)}", "does not state the order");
}

static void every_cut_is_refused(void **state)
{
  char *bytes = NULL;
  int64_t size = 0;
  weir_npy *n = NULL;

  assert_ok(weir_npy_write(path, &shapes[1], "ab"));
  assert_ok(weir_file_read(path, 1 << 20, &bytes, &size));
  assert_int_equal(size % 64, 2);
  for (int64_t k = 0; k < size; k++) {
    weir_check_write(path, bytes, (size_t)k);
    assert_int_equal(weir_npy_open(path, &n), WEIR_ERR_DATA);
  }
  weir_free(&bytes);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arrays_come_back), cmocka_unit_test(either_byte_order_is_read),
      cmocka_unit_test(what_is_not_read_is_named), cmocka_unit_test(every_cut_is_refused)};

  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/a.npy", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
