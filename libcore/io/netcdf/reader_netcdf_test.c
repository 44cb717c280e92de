/* reader_netcdf_test.c - the process that reads: values in pieces, and what becomes of a program
 * when a file is damaged, the reader ends, or a file says more than it can hold. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/weir_file.h"
#include "base/weir_random.h"
#include "support/io/io_test.h"
#include "io/netcdf/client_priv.h"

enum { ROWS = 5, COLUMNS = 700001 };
static char dir[256], path[300];

static int32_t value_at(int64_t row, int64_t column)
{
  return (int32_t)(row * 1000003 + column * 7);
}

/* 14 MB: contiguous, and in chunks whose edges are none of the box's. */
static void write_large(const char *to)
{
  static int32_t x[COLUMNS];
  weir_netcdf *nc = NULL;
  int dims[2], var[3];

  assert_ok(weir_netcdf_create(to, &nc));
  assert_ok(weir_netcdf_dim(nc, "row", ROWS, &dims[0]));
  assert_ok(weir_netcdf_dim(nc, "column", COLUMNS, &dims[1]));
  assert_ok(weir_netcdf_var(nc, "plain", WEIR_I32, 2, dims, &var[0]));
  assert_ok(weir_netcdf_var(nc, "rows", WEIR_I32, 2, dims, &var[1]));
  assert_ok(weir_netcdf_var(nc, "blocks", WEIR_I32, 2, dims, &var[2]));
  assert_ok(weir_netcdf_chunk(nc, var[1], (int64_t[]){1, 100000}, 1));
  assert_ok(weir_netcdf_chunk(nc, var[2], (int64_t[]){2, 300000}, 0));
  for (int64_t i = 0; i < ROWS; i++) {
    for (int64_t j = 0; j < COLUMNS; j++) {
      x[j] = value_at(i, j);
    }
    for (int v = 0; v < 3; v++) {
      assert_ok(weir_netcdf_write(nc, var[v], (int64_t[]){i, 0}, (int64_t[]){1, COLUMNS}, x));
    }
  }
  assert_ok(weir_netcdf_commit(&nc));
}

static void check_box(weir_netcdf *nc, const char *name, const int64_t *start, const int64_t *count)
{
  weir_netcdf_shape shape;
  void *memory = NULL;
  int var = 0;
  int64_t bad = 0;

  assert_ok(weir_netcdf_find(nc, name, &var, &shape));
  assert_ok(weir_alloc(count[0] * count[1] + 1, sizeof(int32_t), &memory));
  int32_t *x = memory;

  x[count[0] * count[1]] = 77;
  assert_ok(weir_netcdf_read(nc, var, start, count, x));
  for (int64_t i = 0; i < count[0]; i++) {
    for (int64_t j = 0; j < count[1]; j++) {
      bad += x[i * count[1] + j] != value_at(start[0] + i, start[1] + j);
    }
  }
  assert_int_equal(bad, 0);
  assert_int_equal(x[count[0] * count[1]], 77);
  weir_free(&memory);
}

static void large_boxes_come_back_in_pieces(void **state)
{
  static const char *const names[] = {"plain", "rows", "blocks"};
  static const int64_t box[][4] = {{0, 0, ROWS, COLUMNS},  {1, 3, 3, COLUMNS - 5},
                                   {0, 99999, ROWS, 2},    {4, 0, 1, COLUMNS},
                                   {2, COLUMNS - 1, 2, 1}, {0, 0, 0, COLUMNS},
                                   {1, 299999, 4, 300002}, {3, 17, 1, 262144 + 1}};
  weir_netcdf *nc = NULL;

  write_large(path);
  assert_ok(weir_netcdf_open(path, &nc));
  for (size_t v = 0; v < 3; v++) {
    for (size_t i = 0; i < sizeof box / sizeof box[0]; i++) {
      check_box(nc, names[v], box[i], box[i] + 2);
    }
  }
  int32_t two[2];

  assert_int_equal(weir_netcdf_read(nc, 0, (int64_t[]){4, COLUMNS - 1}, (int64_t[]){1, 2}, two),
                   WEIR_ERR_EXTERNAL);
  assert_int_equal(weir_netcdf_read(nc, 9, NULL, NULL, two), WEIR_ERR_EXTERNAL);
  check_box(nc, "rows", box[1], box[1] + 2);
  weir_netcdf_close(&nc);
}

/* Whatever ends a reader, open files are read on. */
static void a_reader_that_ended_is_replaced(void **state)
{
  static const int faults[] = {SIGSEGV, SIGKILL, SIGABRT};
  const int64_t box[] = {1, 3, 3, COLUMNS - 5};
  char other[320];
  weir_netcdf *nc[2] = {NULL, NULL};

  snprintf(other, sizeof other, "%s/other.nc", dir);
  write_large(path);
  write_large(other);
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    assert_ok(weir_netcdf_open(path, &nc[0]));
    assert_ok(weir_netcdf_open(other, &nc[1]));
    const pid_t first = weir_reader_pid();

    assert_true(first > 0);
    assert_int_equal(kill(first, faults[i]), 0);
    check_box(nc[0], "plain", box, box + 2);
    check_box(nc[1], "blocks", box, box + 2);
    assert_true(weir_reader_pid() > 0 && weir_reader_pid() != first);
    assert_int_equal(waitpid(first, NULL, WNOHANG), -1); /* none is left as a zombie */
    weir_netcdf_close(&nc[0]);
    weir_netcdf_close(&nc[1]);
  }
  assert_ok(weir_netcdf_open(path, &nc[0]));
  assert_int_equal(kill(weir_reader_pid(), SIGKILL), 0);
  assert_int_equal(remove(path), 0);
  write_text(path, "another file");
  int32_t x = 0;

  assert_int_equal(weir_netcdf_read(nc[0], 0, (int64_t[]){0, 0}, (int64_t[]){1, 1}, &x),
                   WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "changed while it was read"));
  weir_netcdf_close(&nc[0]);
}

/* A request that takes too long is not made twice. */
static void a_reader_that_goes_round_in_circles_ends(void **state)
{
  const int64_t one[] = {1, 1}, zero[] = {0, 0};
  weir_netcdf *nc = NULL;
  int32_t x = 0;

  write_large(path);
  weir_reader_reset(0);
  assert_ok(weir_netcdf_open(path, &nc));
  assert_int_equal(kill(weir_reader_pid(), SIGPROF), 0);
  for (int i = 0; i < 2; i++) { /* and it is not asked again */
    assert_int_equal(weir_netcdf_read(nc, 0, zero, one, &x), WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), "took more than 30 s of CPU time"));
    assert_non_null(strstr(weir_last_message(), path));
  }
  weir_netcdf_close(&nc);
  assert_ok(weir_netcdf_open(path, &nc));
  assert_ok(weir_netcdf_read(nc, 0, zero, one, &x));
  weir_netcdf_close(&nc);
}

/* What HDF5 keeps texts in; without a reader of its own a program ends in H5HG_read. */
static void damaged_texts_end_no_program(void **state)
{
  static const char *const words[] = {"one", "two and more", "three"};
  char *file = NULL;
  int64_t size = 0;
  int dim = 0, var = 0, refused = 0, crashed = 0, late = 0;
  weir_netcdf *nc = NULL;

  assert_ok(weir_netcdf_create(path, &nc));
  assert_ok(weir_netcdf_dim(nc, "event", 3, &dim));
  assert_ok(weir_netcdf_text_var(nc, "note", 1, &dim, &var));
  assert_ok(weir_netcdf_write_texts(nc, var, (int64_t[]){0}, (int64_t[]){3}, words));
  assert_ok(weir_netcdf_commit(&nc));
  assert_ok(weir_file_read(path, 1 << 20, &file, &size));
  const char *const heap = memmem(file, (size_t)size, "GCOL", 4);

  assert_non_null(heap);
  weir_reader_reset(200);
  for (int64_t i = 0; i < 200; i++) {
    char *const byte = file + (heap - file) + i % 100;
    const char kept = *byte;
    char *text = NULL;

    *byte = (char)(kept ^ (i < 100 ? 1 << i % 8 : 0xff));
    weir_check_write(path, file, (size_t)size);
    weir_status status = weir_netcdf_open(path, &nc);

    for (int64_t k = 0; status == WEIR_OK && k < 3; k++) {
      status = weir_netcdf_read_text(nc, 0, &k, &text);
      weir_free(&text);
    }
    if (status != WEIR_OK) {
      assert_int_equal(status, WEIR_ERR_DATA);
      assert_non_null(strstr(weir_last_message(), path));
      assert_non_null(strstr(weir_last_message(), "copy or create it again"));
      crashed += strstr(weir_last_message(), "the HDF5 library failed (") != NULL;
      late += strstr(weir_last_message(), "took more than 0.2 s") != NULL;
      refused++;
    }
    weir_netcdf_close(&nc);
    *byte = kept;
  }
  weir_reader_reset(0);
  printf("%d of 200 damaged files are refused, %d of them ended a reader, %d took too long\n",
         refused, crashed, late);
  assert_true(refused > 0);
  weir_free(&file);
}

static void sizes_beyond_a_file_are_refused(void **state)
{
  const size_t chunk = (size_t)3 << 30;
  weir_netcdf *nc = NULL;
  weir_netcdf_shape shape;
  int dim[2], var = 0;

  assert_ok(weir_netcdf_create(path, &nc));
  assert_ok(weir_netcdf_dim(nc, "x", INT64_C(1) << 40, &dim[0]));
  assert_ok(weir_netcdf_var(nc, "huge", WEIR_F32, 1, dim, &var));
  assert_ok(weir_netcdf_chunk(nc, var, (int64_t[]){1000}, 1));
  assert_ok(weir_netcdf_commit(&nc));
  assert_ok(weir_netcdf_open(path, &nc));
  assert_int_equal(weir_netcdf_find(nc, "huge", &var, &shape), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "variable huge has 1099511627776 values or more"));
  weir_netcdf_close(&nc);

  assert_ok(weir_netcdf_create(path, &nc));
  assert_ok(weir_netcdf_dim(nc, "x", INT64_C(1) << 32, &dim[0]));
  assert_ok(weir_netcdf_var(nc, "one", WEIR_U8, 1, dim, &var));
  assert_int_equal(nc_def_var_chunking(nc->id, var, NC_CHUNKED, &chunk), NC_NOERR);
  assert_int_equal(nc_def_var_deflate(nc->id, var, 0, 1, 1), NC_NOERR);
  assert_ok(weir_netcdf_commit(&nc));
  assert_int_equal(weir_netcdf_open(path, &nc), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "has chunks of 3221225472 bytes"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(large_boxes_come_back_in_pieces),
      cmocka_unit_test(a_reader_that_ended_is_replaced),
      cmocka_unit_test(a_reader_that_goes_round_in_circles_ends),
      cmocka_unit_test(damaged_texts_end_no_program),
      cmocka_unit_test(sizes_beyond_a_file_are_refused),
  };

  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/x.nc", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
