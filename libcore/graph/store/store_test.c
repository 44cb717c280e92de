/* store_test.c - named arrays, their file, and files that lie. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/graph/store_check.h"
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "base/weir_random.h"
#include "graph/weir_store.h"

static weir_store *sample(bool filled)
{
  weir_store *s;

  assert_ok(weir_store_create(&s));
  assert_ok(weir_store_add(s, "weights", WEIR_F32, 2, (int64_t[]){3, 2}));
  assert_ok(weir_store_add(s, "none", WEIR_F64, 1, (int64_t[]){0}));
  assert_ok(weir_store_add(s, "step", WEIR_I64, 0, NULL));
  if (filled) {
    for (int64_t i = 0; i < 6; i++) {
      weir_dtype_store_real(WEIR_F32, check_stored(s, "weights")->data, i, (double)i + 0.5);
    }
    weir_dtype_store_int(WEIR_I64, check_stored(s, "step")->data, 0, 41);
  }
  return s;
}

static bool is_zero(const weir_store *s)
{
  const float nothing[6] = {0};

  return memcmp(check_stored(s, "weights")->data, nothing, sizeof nothing) == 0 &&
         weir_dtype_load_int(WEIR_I64, check_stored(s, "step")->data, 0) == 0;
}

static void names_are_unique_and_shapes_checked(void **state)
{
  weir_store *s = sample(false);

  assert_int_equal(weir_store_add(s, "step", WEIR_F32, 0, NULL), WEIR_ERR_CONFIG);
  assert_int_equal(weir_store_add(s, "", WEIR_F32, 0, NULL), WEIR_ERR_CONFIG);
  assert_int_equal(weir_store_add(s, "half", WEIR_BF16, 0, NULL), WEIR_ERR_UNSUPPORTED);
  assert_int_equal(weir_store_add(s, "half", WEIR_F16, 0, NULL), WEIR_ERR_UNSUPPORTED);
  assert_int_equal(weir_store_add(s, "bad", WEIR_F32, 1, (int64_t[]){-1}), WEIR_ERR_SHAPE);
  assert_int_equal(weir_store_count(s), 3);
  assert_string_equal(weir_store_name(s, 2), "step");
  assert_null(weir_store_find(s, "bad"));
  weir_tensor *kept = check_stored(s, "weights");
  for (int i = 0; i < 40; i++) {
    char name[16];
    snprintf(name, sizeof name, "n%d", i);
    assert_ok(weir_store_add(s, name, WEIR_U8, 0, NULL));
  }
  assert_ptr_equal(kept, check_stored(s, "weights"));
  weir_store_destroy(&s);
  assert_null(s);
}

/* What is in the store is the caller's memory; the name and the shape are the store's own. */
static void a_view_is_memory_of_the_caller(void **state)
{
  double memory[6] = {1, 2, 3, 4, 5, 6};
  weir_tensor all = weir_tensor_wrap(memory, WEIR_F64, 2, (int64_t[]){3, 2}), column;
  weir_store *s = sample(false);

  assert_ok(weir_store_add_view(s, "view", &all));
  all.shape[0] = 0;
  assert_ptr_equal(check_stored(s, "view")->data, memory);
  assert_int_equal(check_stored(s, "view")->shape[0], 3);
  all.shape[0] = 3;
  assert_ok(weir_tensor_slice(&all, 1, 0, 1, 1, &column));
  assert_int_equal(weir_store_add_view(s, "column", &column), WEIR_ERR_SHAPE);
  assert_int_equal(weir_store_add_view(s, "step", &all), WEIR_ERR_CONFIG);
  assert_int_equal(weir_store_count(s), 4);
  weir_store_destroy(&s);
  assert_true(memory[5] == 6);
}

static void file_gives_back_what_was_saved(void **state)
{
  char dir[64], path[96];
  weir_store *from = sample(true), *to = sample(false);

  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/store", dir);
  assert_ok(weir_store_save(from, path));
  assert_ok(weir_store_load(to, path));
  assert_memory_equal(check_stored(to, "weights")->data, check_stored(from, "weights")->data, 24);
  assert_int_equal(weir_dtype_load_int(WEIR_I64, check_stored(to, "step")->data, 0), 41);
  assert_ok(weir_store_add(to, "more", WEIR_F32, 0, NULL));
  assert_int_equal(weir_store_load(to, path), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "there is no array 'more'"));
  weir_store_destroy(&to);
  assert_ok(weir_store_create(&to));
  assert_ok(weir_store_add(to, "weights", WEIR_F32, 2, (int64_t[]){2, 3}));
  assert_int_equal(weir_store_load(to, path), WEIR_ERR_SHAPE);
  assert_int_equal(weir_store_load(to, dir), WEIR_ERR_DATA);
  weir_store_destroy(&to);
  weir_store_destroy(&from);
  weir_check_rmdir(dir);
}

static void write_anew(const char *path, const char *bytes, int64_t n)
{
  remove(path); /* some file systems sync a file that is truncated */
  weir_check_write(path, bytes, (size_t)n);
}

static void every_truncation_and_flip_is_refused(void **state)
{
  char dir[64], path[96], *bytes;
  int64_t n;
  weir_store *s = sample(true), *to = sample(false);

  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/store", dir);
  assert_ok(weir_store_save(s, path));
  assert_ok(weir_file_read(path, 1 << 20, &bytes, &n));
  for (int64_t i = 0; i < n; i++) {
    write_anew(path, bytes, i);
    assert_int_equal(weir_store_load(to, path), WEIR_ERR_DATA);
    const int bit = (int)(weir_random_bits((uint64_t)time(NULL), 0, 0, (uint64_t)i) % 8);
    bytes[i] = (char)(bytes[i] ^ (1 << bit));
    write_anew(path, bytes, n);
    assert_int_equal(weir_store_load(to, path), WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), path));
    bytes[i] = (char)(bytes[i] ^ (1 << bit));
    assert_true(is_zero(to));
  }
  write_anew(path, bytes, n + 1); /* weir_file_read ends in a 0: one byte too many */
  assert_int_equal(weir_store_load(to, path), WEIR_ERR_DATA);
  weir_free(&bytes);
  weir_store_destroy(&s);
  weir_store_destroy(&to);
  weir_check_rmdir(dir);
}

/* Overwrites a number of the header, makes the digest right again and loads. */
static weir_status load_with(const char *path, int64_t at, int64_t value)
{
  char *bytes, hex[65];
  int64_t n, header;
  weir_store *to = sample(false);

  assert_ok(weir_file_read(path, 1 << 20, &bytes, &n));
  memcpy(&header, bytes + 16, sizeof header);
  memcpy(bytes + at, &value, sizeof value);
  weir_sha256(bytes, (size_t)(24 + header), hex);
  memcpy(bytes + 24 + header, hex, 64);
  char lying[128];
  snprintf(lying, sizeof lying, "%s.lying", path);
  write_anew(lying, bytes, n);
  const int64_t before = weir_alloc_bytes();
  const weir_status status = weir_store_load(to, lying);
  assert_int_equal(weir_alloc_bytes(), before);
  assert_true(is_zero(to));
  weir_free(&bytes);
  weir_store_destroy(&to);
  return status;
}

static void lying_headers_with_right_digests_are_refused(void **state)
{
  enum { COUNT_AT = 24, NAME_AT = 32, RANK_AT = 40 + 7 + 8, SHAPE_AT = RANK_AT + 8 };
  static const int64_t values[] = {-1, 1 << 20, INT64_MAX, INT64_MIN, INT64_C(1) << 61};
  char dir[64], path[96];
  weir_store *s = sample(true);

  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/store", dir);
  assert_ok(weir_store_save(s, path));
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    assert_int_equal(load_with(path, COUNT_AT, values[i]), WEIR_ERR_DATA);
    assert_int_equal(load_with(path, NAME_AT, values[i]), WEIR_ERR_DATA);
    assert_int_equal(load_with(path, RANK_AT, values[i]), WEIR_ERR_DATA);
    assert_int_not_equal(load_with(path, SHAPE_AT, values[i]), WEIR_OK);
  }
  assert_int_equal(load_with(path, COUNT_AT, 2), WEIR_ERR_DATA);
  weir_store_destroy(&s);
  weir_check_rmdir(dir);
}

static void every_failed_allocation_is_reported(void **state)
{
  char dir[64], path[96];
  weir_status status = WEIR_ERR_MEMORY;
  const int64_t before = weir_alloc_bytes();

  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/store", dir);
  for (int64_t k = 1; status != WEIR_OK; k++) {
    weir_store *s = NULL;
    weir_alloc_fail_after(k);
    status = weir_store_create(&s);
    if (status == WEIR_OK) {
      status = weir_store_add(s, "x", WEIR_F32, 1, (int64_t[]){5});
    }
    if (status == WEIR_OK) {
      status = weir_store_save(s, path);
      assert_int_equal(weir_file_exists(path), status == WEIR_OK);
    }
    if (status == WEIR_OK) {
      status = weir_store_load(s, path);
      remove(path);
    }
    weir_alloc_fail_after(0);
    weir_store_destroy(&s);
    assert_int_equal(weir_alloc_bytes(), before);
    assert_true(status == WEIR_OK || k < 60);
  }
  weir_check_rmdir(dir);
}

static double value_of(const weir_store *s)
{
  const weir_tensor *t = NULL;

  assert_ok(weir_store_read(s, "weights", &t));
  return weir_dtype_load_real(t->dtype, t->data, 5);
}

static void set_value(weir_store *s, double x)
{
  weir_tensor *t = NULL;

  assert_ok(weir_store_write(s, "weights", &t));
  weir_dtype_store_real(t->dtype, t->data, 5, x);
}

static void copies_are_kept_and_restored(void **state)
{
  weir_store *s = sample(true);
  const weir_tensor *shape = weir_store_find(s, "weights");

  assert_ok(weir_store_add(s, "other", shape->dtype, shape->rank, shape->shape));
  assert_int_equal(weir_store_restore(s, "weights"), WEIR_ERR_CONFIG);
  set_value(s, 7);
  assert_ok(weir_store_keep(s, "weights"));
  set_value(s, 8);
  assert_ok(weir_store_copy(s, "other", "weights"));
  assert_ok(weir_store_restore(s, "weights"));
  assert_near(value_of(s), 7, 0);
  assert_ok(weir_store_copy(s, "weights", "other"));
  assert_near(value_of(s), 8, 0);
  assert_ok(weir_store_keep(s, "weights"));
  assert_ok(weir_store_clear(s, "weights"));
  assert_near(value_of(s), 0, 0);
  assert_ok(weir_store_restore(s, "weights"));
  assert_near(value_of(s), 8, 0);
  assert_int_equal(weir_store_copy(s, "step", "weights"), WEIR_ERR_SHAPE);
  assert_int_equal(weir_store_count(s), 4); /* what is kept has no name */
  weir_store_destroy(&s);
}

static void arrays_that_are_not_there_are_refused(void **state)
{
  weir_store *s = sample(true);
  const weir_tensor *read = NULL;
  weir_tensor *t = NULL;

  assert_null(weir_store_find(s, "bad"));
  assert_null(weir_store_find(s, "weights")->data);
  assert_int_equal(weir_store_read(s, "bad", &read), WEIR_ERR_CONFIG);
  assert_int_equal(weir_store_write(s, "bad", &t), WEIR_ERR_CONFIG);
  assert_int_equal(weir_store_pin(s, "bad", &t), WEIR_ERR_CONFIG);
  assert_int_equal(weir_store_clear(s, "bad"), WEIR_ERR_CONFIG);
  assert_int_equal(weir_store_keep(s, "bad"), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "no array 'bad'"));
  weir_store_destroy(&s);
}

/* New element i is element first + i of before, 0 outside; what was kept is dropped. */
static void arrays_get_other_bounds(void **state)
{
  static const struct {
    int64_t first, count;
  } to[] = {{0, 7}, {2, 3}, {-2, 12}, {5, 6}, {-3, 3}, {7, 4}, {3, 0}, {-1, 1}};
  const int64_t seven = 7, square[] = {2, 2};

  for (size_t k = 0; k < sizeof to / sizeof to[0]; k++) {
    weir_store *s = NULL;
    weir_tensor *t = NULL;

    assert_ok(weir_store_create(&s));
    assert_ok(weir_store_add(s, "x", WEIR_F32, 1, &seven));
    assert_ok(weir_store_write(s, "x", &t));
    for (int i = 0; i < 7; i++) {
      ((float *)t->data)[i] = (float)(i + 1);
    }
    assert_ok(weir_store_keep(s, "x"));
    assert_ok(weir_store_resize(s, "x", to[k].first, to[k].count));
    assert_ok(weir_store_write(s, "x", &t));
    assert_int_equal(weir_tensor_numel(t), to[k].count);
    assert_int_equal(weir_store_bytes(s), to[k].count * (int64_t)sizeof(float));
    for (int64_t i = 0; i < to[k].count; i++) {
      const int64_t from = to[k].first + i;
      const float want = from >= 0 && from < 7 ? (float)(from + 1) : 0;

      assert_true(((float *)t->data)[i] == want);
    }
    assert_int_equal(weir_store_restore(s, "x"), WEIR_ERR_CONFIG);
    assert_ok(weir_store_add(s, "matrix", WEIR_F32, 2, square));
    assert_int_equal(weir_store_resize(s, "matrix", 0, 1), WEIR_ERR_SHAPE);
    const weir_tensor view = weir_tensor_wrap((float[]){1, 2}, WEIR_F32, 1, (int64_t[]){2});

    assert_ok(weir_store_add_view(s, "view", &view));
    assert_int_equal(weir_store_resize(s, "view", 0, 1), WEIR_ERR_CONFIG);
    assert_int_equal(weir_store_resize(s, "none", 0, 1), WEIR_ERR_CONFIG);
    weir_store_destroy(&s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_are_unique_and_shapes_checked),
      cmocka_unit_test(a_view_is_memory_of_the_caller),
      cmocka_unit_test(file_gives_back_what_was_saved),
      cmocka_unit_test(every_truncation_and_flip_is_refused),
      cmocka_unit_test(lying_headers_with_right_digests_are_refused),
      cmocka_unit_test(copies_are_kept_and_restored),
      cmocka_unit_test(arrays_that_are_not_there_are_refused),
      cmocka_unit_test(every_failed_allocation_is_reported),
      cmocka_unit_test(arrays_get_other_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
