/* checkpoint_test.c - every bit back; what is damaged, foreign or of another network is refused and
 * changes nothing. */
#include "train/weir_checkpoint.h"

#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "base/weir_random.h"
#include "support/io/io_test.h"
#include "io/weir_netcdf.h"
#include "support/train/checkpoint_check.h"
#include "support/graph/store_check.h"

/* Name of the first array that differs, NULL: none. */
static const char *differs(const weir_store *a, const weir_store *b, bool all)
{
  for (int64_t i = 0; i < weir_store_count(a); i++) {
    const char *name = weir_store_name(a, i);
    const weir_tensor *x = check_stored(a, name), *y = check_stored(b, name);

    if (bytes_of(x) > 0 && (all || strcmp(name, "scratch") != 0) &&
        memcmp(x->data, y->data, bytes_of(x)) != 0) {
      return name;
    }
  }
  return NULL;
}

typedef struct pair {
  weir_store *saved, *mine, *before; /* what the file holds; what is loaded into; its copy */
  weir_checkpoint c;
} pair;

/* Saves a store; `mine` and `before` are two of other contents. */
static pair open_pair(weir_checkpoint_format format)
{
  pair p;

  assert_ok(make_store(&p.saved));
  assert_ok(make_store(&p.mine));
  assert_ok(make_store(&p.before));
  fill(p.saved, 1);
  fill(p.mine, 2);
  fill(p.before, 2);
  const weir_checkpoint c = of(p.saved);

  assert_ok(weir_checkpoint_save(&c, format, path));
  p.c = of(p.mine);
  return p;
}

static void close_pair(pair *p)
{
  weir_store_destroy(&p->saved);
  weir_store_destroy(&p->mine);
  weir_store_destroy(&p->before);
}

/* Each test runs in every format that the build has. */
static void in_formats(void (*test)(weir_checkpoint_format))
{
  test(WEIR_CHECKPOINT_RAW);
  if (weir_netcdf_available()) {
    test(WEIR_CHECKPOINT_NETCDF);
  }
}

static void round_trip(weir_checkpoint_format format)
{
  pair p = open_pair(format);

  assert_ok(weir_checkpoint_load(&p.c, path, false));
  assert_null(differs(p.saved, p.mine, false));
  assert_memory_equal(check_stored(p.mine, "scratch")->data,
                      check_stored(p.before, "scratch")->data, 36);
  close_pair(&p);
}

static void every_bit_comes_back(void **state)
{
  in_formats(round_trip);
}

/* Names and shapes, and the notes: what ncdump shows. */
static void a_file_has_a_variable_per_parameter(void **state)
{
  weir_netcdf *nc = NULL;
  weir_netcdf_shape s;
  char *text = NULL;
  float w[36];
  double last[2];
  char name[32];
  int var = 0, dims[WEIR_NETCDF_MAX_DIMS];
  bool supported = false;

  NEEDS_NETCDF();
  pair p = open_pair(WEIR_CHECKPOINT_NETCDF);

  assert_ok(weir_netcdf_open(path, &nc));
  assert_ok(weir_netcdf_find(nc, "optim.m.enc.conv.weight", &var, &s));
  assert_ok(weir_netcdf_find(nc, "enc.conv.weight", &var, &s));
  assert_true(s.dtype == WEIR_F32 && s.n_dims == 3);
  assert_true(s.lengths[0] == 3 && s.lengths[1] == 4 && s.lengths[2] == 3);
  assert_ok(weir_netcdf_read(nc, var, (int64_t[]){0, 0, 0}, s.lengths, w));
  assert_memory_equal(w, check_stored(p.saved, "params")->data, sizeof w);
  assert_ok(
      weir_netcdf_find(nc, "wave", &var, &s)); /* components along `complex`, real ones first */
  assert_true(s.dtype == WEIR_F64 && s.n_dims == 3 && s.lengths[1] == 3 && s.lengths[2] == 2);
  assert_ok(weir_netcdf_look(nc, var, &s, dims, &supported));
  assert_ok(weir_netcdf_dim_name(nc, dims[2], name, sizeof name));
  assert_string_equal(name, "complex");
  assert_ok(weir_netcdf_read(nc, var, (int64_t[]){1, 2, 0}, (int64_t[]){1, 1, 2}, last));
  assert_memory_equal(last, (weir_c128 *)check_stored(p.saved, "wave")->data + 5, sizeof last);
  assert_ok(weir_netcdf_find(nc, "tone", &var, &s));
  assert_true(s.dtype == WEIR_F32 && s.n_dims == 1 && s.lengths[0] == 2);
  assert_ok(weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, "title", &text));
  assert_string_equal(text, "a test");
  weir_free(&text);
  weir_netcdf_close(&nc);
  close_pair(&p);
}

static void write_file(const char *bytes, int64_t n)
{
  FILE *f = fopen(path, "wb");

  assert_non_null(f);
  assert_int_equal(fwrite(bytes, 1, (size_t)n, f), n);
  assert_int_equal(fclose(f), 0);
}

static void refused_untouched(pair *p, const char *what)
{
  const weir_status status = weir_checkpoint_load(&p->c, path, false);

  if (status != WEIR_ERR_DATA) {
    fail_msg("%s gives %d: %s", what, (int)status, weir_last_message());
  }
  assert_non_null(strstr(weir_last_message(), path));
  assert_null(differs(p->mine, p->before, true));
}

static void truncation(weir_checkpoint_format format)
{
  pair p = open_pair(format);
  char *bytes = NULL;
  int64_t n = 0;

  assert_ok(weir_file_read(path, 1 << 20, &bytes, &n));
  for (int64_t keep = 0; keep < n; keep += 1 + n / 97) {
    write_file(bytes, keep);
    refused_untouched(&p, "a truncated file");
  }
  weir_free(&bytes);
  close_pair(&p);
}

static void truncated_files_are_refused(void **state)
{
  in_formats(truncation);
}

/* A flip in what no reader looks at leaves every bit of the store as it was saved. */
static void flips(weir_checkpoint_format format)
{
  pair p = open_pair(format);
  char *bytes = NULL;
  int64_t n = 0;
  int refused = 0;

  assert_ok(weir_file_read(path, 1 << 20, &bytes, &n));
  for (uint64_t i = 0; i < 400; i++) {
    const uint64_t bit = weir_random_bits(9, 9, 0, i) % (8 * (uint64_t)n);

    bytes[bit / 8] = (char)(bytes[bit / 8] ^ (1 << bit % 8));
    write_file(bytes, n);
    bytes[bit / 8] = (char)(bytes[bit / 8] ^ (1 << bit % 8));
    if (weir_checkpoint_load(&p.c, path, false) == WEIR_OK) {
      assert_int_equal(format, WEIR_CHECKPOINT_NETCDF);
      assert_null(differs(p.saved, p.mine, false));
      fill(p.mine, 2);
    } else {
      refused_untouched(&p, "a flipped bit");
      refused++;
    }
  }
  assert_true(refused > (format == WEIR_CHECKPOINT_RAW ? 399 : 10));
  weir_free(&bytes);
  close_pair(&p);
}

static void flipped_bits_never_get_in(void **state)
{
  in_formats(flips);
}

/* Every byte of the elements of one variable, found by what they are. */
static void damage_to_elements_names_the_variable(void **state)
{
  char *bytes = NULL;
  int64_t n = 0, at = 0;

  NEEDS_NETCDF();
  pair p = open_pair(WEIR_CHECKPOINT_NETCDF);
  const char *head = (const char *)check_stored(p.saved, "params")->data + 4 * 38;

  assert_ok(weir_file_read(path, 1 << 20, &bytes, &n));
  while (at + 48 <= n && memcmp(bytes + at, head, 48) != 0) {
    at++;
  }
  assert_true(at + 48 <= n);
  for (int64_t k = 0; k < 48; k++) {
    bytes[at + k] = (char)(bytes[at + k] ^ 4);
    write_file(bytes, n);
    bytes[at + k] = (char)(bytes[at + k] ^ 4);
    refused_untouched(&p, "damaged elements");
    assert_non_null(strstr(weir_last_message(), "the digest of 'head' is wrong"));
  }
  weir_free(&bytes);
  close_pair(&p);
}

static void other_files_are_refused(void **state)
{
  pair p = open_pair(WEIR_CHECKPOINT_RAW);

  assert_ok(weir_store_save(p.saved, path)); /* a dump, but of no training */
  refused_untouched(&p, "another dump");
  write_file("time,value\n1,2\n", 15);
  refused_untouched(&p, "a table");
  remove(path);
  refused_untouched(&p, "no file");
  if (weir_netcdf_available()) {
    weir_netcdf *nc = NULL;

    assert_ok(weir_netcdf_create(path, &nc));
    assert_ok(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "title", "winds"));
    assert_ok(weir_netcdf_commit(&nc));
    refused_untouched(&p, "another NetCDF file");
    assert_non_null(strstr(weir_last_message(), "a NetCDF file, but not a checkpoint"));
  }
  close_pair(&p);
}

static void refuse_network(const weir_checkpoint *c, const char *message)
{
  assert_int_equal(weir_checkpoint_load(c, path, false), WEIR_ERR_SHAPE);
  assert_non_null(strstr(weir_last_message(), "another network or training"));
  if (message != NULL && strstr(weir_last_message(), message) == NULL) {
    fail_msg("'%s' is not in '%s'", message, weir_last_message());
  }
}

/* The same number of elements, divided or named otherwise; an array more, an array less. */
static void other_network(weir_checkpoint_format format)
{
  const bool nc = format == WEIR_CHECKPOINT_NETCDF;
  weir_checkpoint_slice other[6];
  pair p = open_pair(format);

  p.c.slice = other;
  memcpy(other, slices, sizeof slices);
  other[0].shape[0] = 4;
  other[0].shape[1] = 3;
  refuse_network(&p.c, nc ? "'enc.conv.weight' is f32 [3, 4, 3] there, f32 [4, 3, 3] here" : NULL);
  memcpy(other, slices, sizeof slices);
  other[2].name = "tail";
  refuse_network(&p.c, nc ? "it has no 'tail'" : NULL);
  p.c.slice = slices;
  p.c.exclude = (const char *const[]){"scratch", "flags"};
  p.c.n_exclude = 2;
  refuse_network(&p.c, nc ? "it has 'flags'" : NULL);
  p.c.n_exclude = 0;
  refuse_network(&p.c, nc ? "it has no 'scratch'" : NULL);
  p.c = of(NULL);
  assert_ok(make_store_of(WEIR_F64, &p.c.store));
  refuse_network(&p.c, nc ? "'wave' is complex in one of the two" : NULL);
  weir_store_destroy(&p.c.store);
  assert_null(differs(p.mine, p.before, true));
  close_pair(&p);
}

static void other_networks_are_refused(void **state)
{
  in_formats(other_network);
}

/* What prediction does: the network alone, from the checkpoint of its training. */
static void network_alone(weir_checkpoint_format format)
{
  pair p = open_pair(format);
  weir_store *s = NULL;

  assert_ok(weir_store_create(&s));
  assert_ok(weir_store_add(s, "params", WEIR_F32, 1, (int64_t[]){50}));
  assert_ok(weir_store_add(s, "enc/norm/mean", WEIR_F64, 2, (int64_t[]){2, 2}));
  const weir_checkpoint c = {.store = s, .slice = slices, .n_slices = 3};

  refuse_network(&c, NULL);
  assert_ok(weir_checkpoint_load(&c, path, true));
  assert_null(differs(s, p.saved, true));
  weir_store_destroy(&s);
  close_pair(&p);
}

static void a_network_is_read_from_its_training(void **state)
{
  in_formats(network_alone);
}

static void parts_must_cover(void **state)
{
  weir_checkpoint_slice gap[6];
  pair p = open_pair(WEIR_CHECKPOINT_RAW);

  p.c.slice = gap;
  memcpy(gap, slices, sizeof slices);
  gap[1].first = 37;
  assert_int_equal(weir_checkpoint_save(&p.c, WEIR_CHECKPOINT_RAW, path), WEIR_ERR_SHAPE);
  assert_non_null(strstr(weir_last_message(), "'enc/conv/bias' does not follow"));
  memcpy(gap, slices, sizeof slices);
  gap[2].shape[0] = 11;
  assert_int_equal(weir_checkpoint_save(&p.c, WEIR_CHECKPOINT_RAW, path), WEIR_ERR_SHAPE);
  assert_non_null(strstr(weir_last_message(), "cover 49 elements of 'params'"));
  p.c.slice = slices;
  assert_int_equal(weir_checkpoint_save(&p.c, WEIR_CHECKPOINT_RAW, "/nowhere/at/all"),
                   WEIR_ERR_DATA);
  assert_ok(weir_checkpoint_load(&p.c, path, false)); /* the one that was there */
  close_pair(&p);
}

static weir_checkpoint_format fault_format;

static weir_status save_again(void *context)
{
  const weir_checkpoint c = of(((pair *)context)->saved);

  return weir_checkpoint_save(&c, fault_format, path);
}

static weir_status load_again(void *context)
{
  return weir_checkpoint_load(&((pair *)context)->c, path, false);
}

static void faults(weir_checkpoint_format format)
{
  pair p = open_pair(format);

  fault_format = format;
  assert_true(weir_check_faults(load_again, &p) > 20);
  assert_null(differs(p.saved, p.mine, false));
  assert_true(weir_check_faults(save_again, &p) > 4);
  assert_ok(weir_checkpoint_load(&p.c, path, false));
  close_pair(&p);
}

static void no_memory_is_told(void **state)
{
  in_formats(faults);
}

/* "a/b" is "a.b" in a file. */
static void names_that_a_file_cannot_tell_apart_are_refused(void **state)
{
  weir_store *s;

  assert_ok(weir_store_create(&s));
  assert_ok(weir_store_add(s, "a/b", WEIR_F32, 0, NULL));
  assert_ok(weir_store_add(s, "a.b", WEIR_F32, 0, NULL));
  assert_int_equal(
      weir_checkpoint_save(&(weir_checkpoint){.store = s}, WEIR_CHECKPOINT_RAW, "twice.weir"),
      WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "'a.b'"));
  assert_false(weir_file_exists("twice.weir"));
  weir_store_destroy(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_that_a_file_cannot_tell_apart_are_refused),
      cmocka_unit_test(every_bit_comes_back),
      cmocka_unit_test(a_file_has_a_variable_per_parameter),
      cmocka_unit_test(truncated_files_are_refused),
      cmocka_unit_test(flipped_bits_never_get_in),
      cmocka_unit_test(damage_to_elements_names_the_variable),
      cmocka_unit_test(other_files_are_refused),
      cmocka_unit_test(other_networks_are_refused),
      cmocka_unit_test(a_network_is_read_from_its_training),
      cmocka_unit_test(parts_must_cover),
      cmocka_unit_test(no_memory_is_told),
  };

  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/one", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
